"""From a sample to the nearby mode: what is left when chance is taken out of the last sample.

A sample of the posterior holds sub-matrices of a few entries that come and go: each place for them
is unlikely, but there are many places. The mode has none of them.
"""

from __future__ import annotations

import numpy as np

from neocc._typing import FloatArray
from neocc.rivals.plaid.births import log_gain
from neocc.rivals.plaid.conditionals import set_levels, set_memberships
from neocc.rivals.plaid.kernels import PlaidKernels
from neocc.rivals.plaid.model import Moments
from neocc.rivals.plaid.splits import log_split_gain
from neocc.rivals.plaid.state import Sets, State, areas, stacked, united

MAX_ROUNDS = 20
# A union with more entries than this many times those of its parts is no candidate for joining.
_LOOSE = 1.2


def clean_up(state: State, kernels: PlaidKernels) -> None:
    """Climb to a mode of the posterior density, effects integrated out; parameters stay.

    Every membership is set to its more probable value, every level to its conditional mean, and
    sub-matrices are taken away where that raises the density, until nothing changes. Then pairs are
    joined where that raises it, and the climb starts over.
    """
    iterate_conditional_modes(state, kernels, MAX_ROUNDS)
    while _join_two(state):
        iterate_conditional_modes(state, kernels, MAX_ROUNDS)


def iterate_conditional_modes(state: State, kernels: PlaidKernels, max_rounds: int) -> None:
    """Climb without joining pairs, and no farther than some rounds."""
    for _ in range(max_rounds):
        before = state.sample
        set_levels(state)
        set_memberships(state, kernels)
        set_levels(state)
        while _remove_one(state):
            set_levels(state)
        if _same((before.rows, before.columns), state.sets):
            return


def _same(before: Sets, after: Sets) -> bool:
    return all(np.array_equal(b, a) for b, a in zip(before, after, strict=True))


def _remove_one(state: State) -> bool:
    """Take away the sub-matrix that the posterior most prefers to be without, if there is one."""
    counts, sums = state.residual.totals(state.sets)
    gains = np.empty(state.K)
    for k in range(state.K):
        moments = counts[[[k]]], sums[[k]] + state.theta[k] * counts[k]
        sets = state.rows[k], state.columns[k]
        gains[k] = log_gain(state.data.shape, state.K - 1, sets, moments, state.parameters)
    if not (gains < 0).any():
        return False
    state.remove(int(gains.argmin()))
    return True


def _join_two(state: State) -> bool:
    """Join the pair of sub-matrices whose union raises the posterior most, if there is one."""
    moments = state.residual.moments(state.sets)
    candidates = np.argwhere(np.triu(_union_areas(state.sets) <= _loose_areas(state.sets), k=1))
    gains = np.array([_join_gain(state, moments, list(pair)) for pair in candidates])
    if not (gains > 0).any():
        return False
    pair = candidates[gains.argmax()]
    union = united((state.rows[pair], state.columns[pair]))
    for k in sorted(pair, reverse=True):
        state.remove(k)
    state.add(union, 0.0)
    return True


def _union_areas(sets: Sets) -> FloatArray:
    """Return the number of entries of the union of each pair."""
    sizes = []
    for members in sets:
        Z = members.astype(float)
        n = Z.sum(axis=1)
        sizes.append(n[:, None] + n - Z @ Z.T)
    union: FloatArray = sizes[0] * sizes[1]
    return union


def _loose_areas(sets: Sets) -> FloatArray:
    """Largest number of entries a union may have, for each pair."""
    n_entries = areas(sets)
    return _LOOSE * (n_entries[:, None] + n_entries)


def _join_gain(state: State, moments: Moments, pair: list[int]) -> float:
    """Log of how much denser the posterior is with the union of two than with the two."""
    parts = state.rows[pair], state.columns[pair]
    union = united(parts)
    # From the residual with the pair to the one without it.
    theta, shared = state.theta[pair], moments[0][np.ix_(pair, pair)]
    count, total = state.residual.moments(stacked(union))
    whole = count, total + theta @ np.diagonal(shared)
    both = shared, moments[1][pair] + shared @ theta
    return -log_split_gain(
        state.data.shape, state.K - 2, (union, whole), (parts, both), state.parameters
    )
