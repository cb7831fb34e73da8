"""The sampler against the model it claims to sample: a joint test in the manner of Geweke (2004).

Draw parameters, sub-matrices and data from the model. Then, again and again, let the sampler make
a sweep given the data and draw new data given the sample. If every step of the sampler leaves its
posterior alone, each of these states has the distribution of the first; if not, they drift away.
Many short independent runs are made instead of one long one, so that the first and the last state
of each give differences that are independent, with mean 0: no correlation has to be estimated.

J. Geweke, "Getting It Right: Joint Distribution Tests of Posterior Simulators", Journal of the
American Statistical Association 99, 2004.
"""

from __future__ import annotations

from dataclasses import astuple, fields

import numpy as np

from benchmarks.plaid.simulate import draw_data, draw_state
from neocc._typing import FloatArray
from neocc.rivals.plaid.chain import sweep
from neocc.rivals.plaid.kernels import PlaidKernels
from neocc.rivals.plaid.model import Parameters, Prior
from neocc.rivals.plaid.state import State, areas

NAMES = (
    "K",
    "K squared",
    "row memberships",
    "column memberships",
    "single rows",
    "single columns",
    "largest area",
    "shared entries",
    "mean effect",
    "effects squared",
    "phi",
    "mean of data",
    "data squared",
    "log-likelihood",
    *(each.name for each in fields(Parameters)),
    "effects times gamma1",
    "K times gamma2",
    "residual times tau0",
)


def describe(state: State) -> FloatArray:
    """Return numbers that between them depend on every part of a state, tails drawn in."""
    n_rows, n_columns = state.rows.sum(axis=1), state.columns.sum(axis=1)
    theta = np.arctan(state.theta)
    shared = state.data.moments(state.sets)[0]
    parameters = [
        np.arctan(value) if name.startswith("mu") else np.log(value)
        for name, value in zip(NAMES[14:21], astuple(state.parameters), strict=True)
    ]
    gamma1, gamma2, tau0 = parameters[:3]
    return np.array(
        [
            state.K,
            state.K**2,
            n_rows.sum(),
            n_columns.sum(),
            (n_rows == 1).sum(),
            (n_columns == 1).sum(),
            areas(state.sets).max(initial=0),
            np.triu(shared, k=1).sum(),
            theta.sum(),
            (theta**2).sum(),
            np.arctan(state.phi),
            np.arctan(state.data.values).mean(),
            (np.arctan(state.data.values) ** 2).mean(),
            np.arctan(state.log_likelihood / 10),
            *parameters,
            (theta * gamma1).sum(),
            state.K * gamma2,
            np.log1p(state.residual.squares) * tau0,
        ]
    )


def joint_test(
    prior: Prior,
    shape: tuple[int, int],
    kernels: PlaidKernels,
    n_runs: int,
    n_rounds: int,
    rng: np.random.Generator,
    observed: FloatArray | None = None,
) -> FloatArray:
    """Return, for each of `NAMES`, the mean change from first to last state in standard errors.

    For a sampler that leaves its posterior alone they are close to standard normal.
    """
    changes = np.empty((n_runs, len(NAMES)))
    for change in changes:
        state = draw_state(prior, shape, rng, observed)
        first = describe(state)
        for _ in range(n_rounds):
            sweep(state, prior, kernels, 1, rng)
            draw_data(state, rng)
        change[:] = describe(state) - first
    error = changes.std(axis=0, ddof=1) / np.sqrt(n_runs)
    # What never changes, as numbers of sub-matrices without moves, has not drifted.
    z: FloatArray = np.zeros_like(error)
    np.divide(changes.mean(axis=0), error, out=z, where=error > 0)
    return z
