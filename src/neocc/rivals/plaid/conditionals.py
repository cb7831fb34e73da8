"""Exact draws from full conditionals: memberships, effects with background, parameters."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from neocc._typing import FloatArray, IntArray
from neocc.rivals.plaid.kernels import PlaidKernels
from neocc.rivals.plaid.model import Prior, cholesky, harmonic, normal_from_noise
from neocc.rivals.plaid.state import State


def draw_memberships(state: State, kernels: PlaidKernels, rng: np.random.Generator) -> None:
    """Visit all rows, then all columns, each side in random order."""
    for turned in (False, True):
        n_items = state.data.shape[turned]
        thresholds = rng.logistic(size=(n_items, state.K))
        _visit(state, turned, kernels, rng.permutation(n_items), thresholds)


def set_memberships(state: State, kernels: PlaidKernels) -> None:
    """Visit all rows, then all columns, and set each membership to its more probable value."""
    for turned in (False, True):
        n_items = state.data.shape[turned]
        _visit(state, turned, kernels, np.arange(n_items), np.zeros((n_items, state.K)))


def _visit(
    state: State, turned: bool, kernels: PlaidKernels, order: IntArray, thresholds: FloatArray
) -> None:
    field, members, others = state.residual, state.rows, state.columns
    if turned:
        field, members, others = field.T, others, members
    kernels.visit_items(
        field.values,
        field.observed,
        members,
        members.sum(axis=1),
        np.concatenate([[0], np.cumsum(others.sum(axis=1))]),
        np.nonzero(others)[1],
        state.theta,
        state.parameters.tau0,
        order,
        thresholds,
    )


def draw_levels(state: State, rng: np.random.Generator) -> None:
    """Draw all effects and the background from their joint normal distribution."""
    _put_levels(state, rng.standard_normal(state.K + 1))


def set_levels(state: State) -> None:
    """Set all effects and the background to their conditional means."""
    _put_levels(state, np.zeros(state.K + 1))


def _put_levels(state: State, noise: FloatArray) -> None:
    """Set the levels to their mean plus `noise` in units of their standard deviations.

    The background is an effect of a sub-matrix of all entries, with a prior of its own.
    """
    data, parameters = state.data, state.parameters
    everything = (np.ones((1, n), dtype=bool) for n in data.shape)
    rows, columns = (
        np.concatenate([members, every])
        for members, every in zip((state.rows, state.columns), everything, strict=True)
    )
    tau = np.append(np.full(state.K, parameters.tau_theta), parameters.tau_phi)
    mu = np.append(np.full(state.K, parameters.mu_theta), parameters.mu_phi)
    shared, sums = data.moments((rows, columns))
    P = parameters.tau0 * shared + np.diag(tau)
    b = parameters.tau0 * sums + tau * mu
    levels = normal_from_noise(cholesky(P), b, noise)
    state.theta, state.phi = levels[:-1], float(levels[-1])
    state.refresh()


def draw_parameters(state: State, prior: Prior, rng: np.random.Generator) -> None:
    """Draw each parameter without a given value from its conjugate conditional."""
    n_rows, n_columns = state.data.shape
    old, K = state.parameters, state.K
    mu_theta = _draw_mean(state.theta, old.tau_theta, prior, rng)
    mu_phi = _draw_mean(np.array([state.phi]), old.tau_phi, prior, rng)
    mu_theta, mu_phi = prior.given.get("mu_theta", mu_theta), prior.given.get("mu_phi", mu_phi)
    spread = float(((state.theta - mu_theta) ** 2).sum())
    drawn = {
        "gamma1": _draw_gamma(prior.gamma, K, harmonic(n_rows), rng),
        "gamma2": _draw_gamma(prior.gamma, K, harmonic(n_columns), rng),
        "tau0": _draw_gamma(prior.tau, state.data.n_observed / 2, state.residual.squares / 2, rng),
        "mu_theta": mu_theta,
        "tau_theta": _draw_gamma(prior.tau, K / 2, spread / 2, rng),
        "mu_phi": mu_phi,
        "tau_phi": _draw_gamma(prior.tau, 0.5, (state.phi - mu_phi) ** 2 / 2, rng),
    }
    state.parameters = replace(old, **{**drawn, **prior.given})


def _draw_gamma(
    prior: tuple[float, float], shape: float, rate: float, rng: np.random.Generator
) -> float:
    """Draw from Gamma(prior shape + shape, prior rate + rate)."""
    return float(rng.gamma(prior[0] + shape) / (prior[1] + rate))


def _draw_mean(values: FloatArray, tau: float, prior: Prior, rng: np.random.Generator) -> float:
    """Draw the mean of normal values of precision `tau`."""
    precision = prior.mu_precision + tau * len(values)
    return float(rng.normal(tau * values.sum() / precision, precision**-0.5))
