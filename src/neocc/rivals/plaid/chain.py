"""The chain of the plaid sampler: its start, its sweeps, and what its last sample is made into."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from neocc.estimators._progress import Progress, logger
from neocc.rivals.plaid.births import birth_or_death
from neocc.rivals.plaid.cleaning import clean_up
from neocc.rivals.plaid.conditionals import (
    draw_levels,
    draw_memberships,
    draw_parameters,
    set_levels,
)
from neocc.rivals.plaid.data import Units
from neocc.rivals.plaid.kernels import PlaidKernels
from neocc.rivals.plaid.model import Prior
from neocc.rivals.plaid.splits import split_or_merge
from neocc.rivals.plaid.start import best_start, empty_start
from neocc.rivals.plaid.state import Field, State
from neocc.rivals.plaid.trace import Trace, support

# Sub-matrices that other samples match worse than this, on average, are taken for chance.
_LEAST_SUPPORT = 0.5


def sweep(
    state: State, prior: Prior, kernels: PlaidKernels, n_moves: int, rng: np.random.Generator
) -> None:
    """Draw every part of the state given the rest; each step leaves the posterior invariant."""
    draw_memberships(state, kernels, rng)
    for _ in range(n_moves):
        # Which kind is tried is left to chance, never to the state: mixtures of moves that leave
        # the posterior alone leave it alone.
        birth_or_death(state, prior, "block", rng)
        birth_or_death(state, prior, "row" if rng.random() < 0.5 else "column", rng)
        split_or_merge(state, prior, "area" if rng.random() < 0.5 else "equal", rng)
    draw_levels(state, rng)
    draw_parameters(state, prior, rng)


def sweeps(
    estimator: Any,
    data: Field,
    units: Units,
    kernels: PlaidKernels,
    trace: Trace,
    progress: Progress,
    rng: np.random.Generator,
) -> Iterator[None]:
    """Make the sweeps that the estimator's parameters ask for, one at a time, into the trace."""
    prior = _prior(estimator, units)
    if estimator.init == "empty":
        state = empty_start(data, prior)
    else:
        report = partial(_log_search, estimator)
        state = best_start(data, prior, kernels, estimator.n_init, rng, report)
    _log(estimator, 0, state, units)
    for number in range(estimator.n_sweeps):
        progress.begin()
        sweep(state, prior, kernels, estimator.n_moves, rng)
        after = number - estimator.burn_in
        trace.record(state, keep=after >= 0 and after % estimator.thin == 0)
        _log(estimator, number + 1, state, units)
        yield None


def take_chance_out(state: State, kernels: PlaidKernels, trace: Trace) -> None:
    """Climb from the last sample to a mode, and drop what other samples lack."""
    clean_up(state, kernels)
    if trace.rows:
        agreed = support((trace.rows, trace.columns), state.sets)
        for k in np.flatnonzero(agreed < _LEAST_SUPPORT)[::-1]:
            state.remove(int(k))
        set_levels(state)


def _prior(estimator: Any, units: Units) -> Prior:
    """Read what is given of the parameters, in the units of the chain."""
    given = units.parameters_from_data(
        {
            "gamma1": estimator.row_concentration,
            "gamma2": estimator.column_concentration,
            "tau0": estimator.noise_precision,
            "mu_theta": estimator.effect_mean,
            "tau_theta": estimator.effect_precision,
            "mu_phi": estimator.background_mean,
            "tau_phi": estimator.background_precision,
        }
    )
    most = np.inf if estimator.max_submatrices is None else estimator.max_submatrices
    return Prior(given=given, max_submatrices=most)


def _log_search(estimator: Any, number: int, state: State) -> None:
    """Log what a search for a start has found."""
    if estimator.verbose:
        logger.info("search %d/%d: %d sub-matrices", number, estimator.n_init, state.K)


def _log(estimator: Any, number: int, state: State, units: Units) -> None:
    """Log the state after a number of sweeps; 0 is the start."""
    n_sweeps = estimator.n_sweeps
    every = max(1, n_sweeps // 10) if estimator.verbose == 1 else 1
    if estimator.verbose and (number % every == 0 or number == n_sweeps):
        logger.info(
            "sweep %d/%d: %d sub-matrices, log-likelihood %.6g",
            number,
            n_sweeps,
            state.K,
            state.log_likelihood - units.log_density(state.data.n_observed),
        )
