"""Where the chain starts: without sub-matrices, or with those that a greedy search finds.

A start is not a draw: the chain forgets it. A good one avoids the fragments into which the chain
would first split a large sub-matrix, and which it would take long to join.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from neocc.rivals.plaid.births import draw_anchor, log_gain, propose
from neocc.rivals.plaid.cleaning import clean_up, iterate_conditional_modes
from neocc.rivals.plaid.kernels import PlaidKernels
from neocc.rivals.plaid.model import Parameters, Prior, log_evidence, log_set_weights
from neocc.rivals.plaid.state import Field, Sample, Sets, State, stacked

# Candidates that compete for being added next. Many find the best one, few find another: where the
# best one misleads, only variety helps, and starts cost little.
N_CANDIDATES = (25, 5, 2, 1)
# Candidates in a row without a good one after which the search ends.
PATIENCE = 100


def empty_start(data: Field, prior: Prior) -> State:
    """No sub-matrices: all of the data but their mean is noise."""
    phi = float(data.values.sum()) / max(1, data.n_observed)
    parameters = Parameters(1.0, 1.0, 1.0, 0.0, 1.0, 0.0, 1.0)
    rows, columns = (np.zeros((0, n), dtype=bool) for n in data.shape)
    sample = Sample(rows, columns, np.zeros(0), phi, replace(parameters, **prior.given))
    state = State(data, sample)
    _fit_noise(state, prior)
    return state


def best_start(
    data: Field,
    prior: Prior,
    kernels: PlaidKernels,
    n_starts: int,
    rng: np.random.Generator,
    report: Callable[[int, State], None] | None = None,
) -> State:
    """Search several times and return the start of highest posterior density.

    `report` is called with the number of each search, from 1, and what it found.
    """

    def searches() -> Iterator[State]:
        for number, child in enumerate(rng.spawn(n_starts)):
            n_candidates = N_CANDIDATES[number % len(N_CANDIDATES)]
            found = greedy_start(data, prior, kernels, n_candidates, child)
            if report is not None:
                report(number + 1, found)
            yield found

    return max(searches(), key=lambda state: log_density(state, prior))


def greedy_start(
    data: Field, prior: Prior, kernels: PlaidKernels, n_candidates: int, rng: np.random.Generator
) -> State:
    """Add the best of some candidates as long as that raises the posterior density."""
    state = empty_start(data, prior)
    n_failures = 0
    while n_failures < PATIENCE and prior.max_submatrices > state.K:
        K = state.K
        sets = _best_candidate(state, n_candidates, rng)
        if sets is not None:
            state.add(sets, 0.0)
            iterate_conditional_modes(state, kernels, max_rounds=2)
            _fit_noise(state, prior)
        n_failures = 0 if state.K > K else n_failures + n_candidates
    clean_up(state, kernels)
    _fit_noise(state, prior)
    return state


def _best_candidate(state: State, n_candidates: int, rng: np.random.Generator) -> Sets | None:
    """Return the best of some proposed sub-matrices, if it raises the posterior density."""
    best_gain, best = 0.0, None
    for _ in range(n_candidates):
        anchor = draw_anchor(state.residual, rng)
        sets, _ = propose(state.residual, "block", anchor, state.parameters, rng)
        moments = state.residual.moments(stacked(sets))
        gain = log_gain(state.data.shape, state.K, sets, moments, state.parameters)
        if gain > best_gain:
            best_gain, best = gain, sets
    return best


def log_density(state: State, prior: Prior) -> float:
    """Log posterior density of sets, background and noise, effects integrated out.

    Up to a constant, at the values of the other parameters.
    """
    parameters, data = state.parameters, state.data
    none = replace(state.sample, rows=state.rows[:0], columns=state.columns[:0], theta=np.zeros(0))
    bare = State(data, none)
    shape, rate = prior.tau
    density = bare.log_likelihood + (shape - 1) * math.log(parameters.tau0) - rate * parameters.tau0
    density += state.K * math.log(parameters.gamma1 * parameters.gamma2) - math.lgamma(state.K + 1)
    for n_items, members in zip(data.shape, state.sets, strict=True):
        density += float(log_set_weights(n_items, members.sum(axis=1)).sum())
    return density + log_evidence(bare.residual.moments(state.sets), parameters)


def _fit_noise(state: State, prior: Prior) -> None:
    """Set the precision of the noise to its conditional mean."""
    if "tau0" not in prior.given:
        shape, rate = prior.tau
        tau0 = (shape + state.data.n_observed / 2) / (rate + state.residual.squares / 2)
        state.parameters = replace(state.parameters, tau0=tau0)
