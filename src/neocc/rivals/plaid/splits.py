"""Splitting one sub-matrix into two and merging two into one, by a Metropolis-Hastings test.

Two anchors are drawn independently, with probabilities w proportional to their numbers of entries
or, as a move of its own, equal ones, which small sub-matrices need. Different ones are proposed to
merge: union of the rows, union of the columns. An anchor drawn twice is proposed to split: each of
its rows goes to part 1, to part 2 or to both, and so does each of its columns, so that any two
sub-matrices are a split of their union and every merge can be undone.

Memberships of the parts are drawn from a **launch**: two rows (or columns) attract those that
resemble them, and a few scans draw effects, rows and columns given each other. It depends only on
the union and on the residual without both parts, is drawn alike for splits and merges, and
cancels. From it the rows are drawn, then the columns given the rows: p(parts | launch) is a
product. Effects are integrated out of the test and drawn from their exact conditional afterwards.

With ' for the state with the two parts, the ratio of a split of k into parts 1 and 2 is, by
equation (1) of `model`,

    gamma1 gamma2 q_N1(a_1) q_N1(a_2) q_N2(b_1) q_N2(b_2)   evidence(1, 2)         w'_1 w'_2
    ----------------------------------------------------- * -------------- * -----------------------
                 (K + 1) q_N1(a_k) q_N2(b_k)                  evidence(k)    w_k^2 p(parts | launch)

and that of a merge its inverse. (Parts are numbered as the anchors of the merge are.)
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from neocc._typing import BoolArray, FloatArray
from neocc.rivals.plaid.births import accepted, add_drawn
from neocc.rivals.plaid.model import (
    Moments,
    Parameters,
    Prior,
    draw_effects,
    log_evidence,
    log_set_weights,
)
from neocc.rivals.plaid.state import Field, Sets, State, areas, stacked, united

Weighting = Literal["area", "equal"]

# Rows have been separated before the first scan.
N_SCANS = 2
# What a row of the union may belong to: part 1, part 2, both.
_CHOICES = np.array([[True, False], [False, True], [True, True]])


def split_or_merge(
    state: State, prior: Prior, weighting: Weighting, rng: np.random.Generator
) -> bool:
    """Attempt a split or a merge; True if the state has changed."""
    if state.K == 0:
        return False
    weights = _weights(state.sets, weighting)
    first, second = rng.choice(state.K, size=2, p=weights / weights.sum())
    if first == second:
        return prior.max_submatrices > state.K and _split(state, int(first), weighting, rng)
    return _merge(state, [int(first), int(second)], weighting, rng)


def _split(state: State, k: int, weighting: Weighting, rng: np.random.Generator) -> bool:
    union, theta = state.remove(k)
    parts, log_p = propose(state.residual, union, state.parameters, rng)
    if all(members.any(axis=1).all() for members in parts) and accepted(
        log_split_ratio(state, union, parts, weighting, log_p), rng
    ):
        add_drawn(state, parts, rng)
        return True
    state.add(union, theta)
    return False


def _merge(state: State, chosen: list[int], weighting: Weighting, rng: np.random.Generator) -> bool:
    parts, effects = (state.rows[chosen], state.columns[chosen]), state.theta[chosen]
    for k in sorted(chosen, reverse=True):
        state.remove(k)
    union = united(parts)
    _, log_p = propose(state.residual, union, state.parameters, rng, given=parts)
    if accepted(-log_split_ratio(state, union, parts, weighting, log_p), rng):
        add_drawn(state, stacked(union), rng)
        return True
    for A, B, theta in zip(*parts, effects, strict=True):
        state.add((A, B), float(theta))
    return False


def _weights(sets: Sets, weighting: Weighting) -> FloatArray:
    """Weights of sub-matrices as anchors, not normalised."""
    return np.ones(len(sets[0])) if weighting == "equal" else areas(sets)


def log_split_ratio(
    state: State, union: Sets, parts: Sets, weighting: Weighting, log_p: float
) -> float:
    """Log acceptance ratio of splitting `union` into `parts`; the state holds neither."""
    others = _weights(state.sets, weighting).sum()
    whole, pair = _weights(stacked(union), weighting), _weights(parts, weighting)
    log_forward = 2 * float(np.log(whole[0] / (others + whole[0]))) + log_p
    log_reverse = float(np.log(pair / (others + pair.sum())).sum())
    gain = log_split_gain(
        state.data.shape,
        state.K,
        (union, state.residual.moments(stacked(union))),
        (parts, state.residual.moments(parts)),
        state.parameters,
    )
    return gain + log_reverse - log_forward


def log_split_gain(
    shape: tuple[int, int],
    n_others: int,
    union: tuple[Sets, Moments],
    parts: tuple[Sets, Moments],
    parameters: Parameters,
) -> float:
    """Log of how much denser the posterior is with two parts than with their union.

    Effects are integrated out; `n_others` is the number of sub-matrices next to them.
    """
    gain = math.log(parameters.gamma1) + math.log(parameters.gamma2) - math.log(n_others + 2)
    for n_items, whole, both in zip(shape, union[0], parts[0], strict=True):
        gain += float(log_set_weights(n_items, both.sum(axis=1)).sum())
        gain -= float(log_set_weights(n_items, whole.sum()))
    return gain + log_evidence(parts[1], parameters) - log_evidence(union[1], parameters)


def propose(
    field: Field,
    union: Sets,
    parameters: Parameters,
    rng: np.random.Generator,
    given: Sets | None = None,
) -> tuple[Sets, float]:
    """Draw a launch and, from it, two parts of a union; return them with log p(parts | launch).

    With `given` parts, draw the launch only and return the probability of those.
    """
    block, tau0 = field.block(union), parameters.tau0
    U, V = _attract(block, rng)
    for _ in range(N_SCANS):
        theta = draw_effects(block.moments((U, V)), parameters, rng)
        U, _ = _assign(block, V, theta, tau0, rng)
        V, _ = _assign(block.T, U, theta, tau0, rng)
    theta = draw_effects(block.moments((U, V)), parameters, rng)
    rows, columns = (None, None)
    if given is not None:
        rows, columns = (members[:, within] for members, within in zip(given, union, strict=True))
    U, log_p_rows = _assign(block, V, theta, tau0, rng, rows)
    V, log_p_columns = _assign(block.T, U, theta, tau0, rng, columns)
    return (_spread(U, union[0]), _spread(V, union[1])), log_p_rows + log_p_columns


def _attract(block: Field, rng: np.random.Generator) -> Sets:
    """Give each row to the more similar of two random ones; or each column, as often."""
    turned = bool(rng.random() < 0.5)
    R = block.values.T if turned else block.values
    seeds = rng.choice(len(R), size=2, replace=len(R) < 2)
    one, two = R[seeds[0]], R[seeds[1]]
    first = R @ (one - two) > (one @ one - two @ two) / 2
    U, V = np.array([first, ~first]), np.ones((2, R.shape[1]), dtype=bool)
    return (V, U) if turned else (U, V)


def _assign(
    block: Field,
    V: BoolArray,
    theta: FloatArray,
    tau0: float,
    rng: np.random.Generator,
    given: BoolArray | None = None,
) -> tuple[BoolArray, float]:
    """Draw the parts of each row given those of the columns (or take `given` ones).

    Return memberships of shape (2, n_rows) and the log of their probability.
    """
    gains = np.empty((3, block.shape[0]))
    for gain, choice in zip(gains, _CHOICES, strict=True):
        y = (theta * choice) @ V
        gain[:] = tau0 * (block.sums(y) - block.counts(y**2) / 2)
    log_p = gains - np.logaddexp.reduce(gains, axis=0)
    if given is None:
        choices = (log_p + rng.gumbel(size=gains.shape)).argmax(axis=0)
        given = _CHOICES[choices].T
    else:
        choices = given[0] + 2 * given[1] - 1
    return given, float(log_p[choices, np.arange(len(choices))].sum())


def _spread(members: BoolArray, within: BoolArray) -> BoolArray:
    """Memberships of some items as memberships of all."""
    spread = np.zeros((len(members), len(within)), dtype=bool)
    spread[:, within] = members
    return spread
