"""Births and deaths of sub-matrices by Metropolis-Hastings tests with proposals that see the data.

A birth proposes a set A of rows and a set B of columns; the effect is integrated out of the test
and drawn from its exact conditional afterwards. A death proposes to remove one sub-matrix. Each is
the reverse of the other:

* an **anchor**, one entry (i, j) of the new sub-matrix, is drawn with a probability p_ij that is
  half the same for all entries and half proportional to r_ij^2, r the residual without the new
  sub-matrix; a death draws it uniformly from the a b entries of the sub-matrix it would remove;
* a **launch**, a guess at theta, A and B, is drawn from the anchor and the same residual. Births
  and deaths draw it from the same distribution, so that it cancels (like the launch states of Jain
  and Neal, 2004);
* from the launch, A is drawn by independent coins given B and theta, then B given the new A: their
  probability p(A, B | launch) is a product. The row and the column of the anchor are always
  members.

With n_d the number of sub-matrices that a death could choose from after the birth, the ratio of a
birth is, by equation (1) of `model`,

    gamma1 gamma2 q_N1(a) q_N2(b)                           1 / (n_d a b)
    ----------------------------- * evidence(A, B) * -------------------------
                K + 1                                 p_ij p(A, B | launch)

and that of a death its inverse; a fair coin chooses between them. There are three kinds, each
reversible by itself: `block` (n_d = K + 1), and `row` and `column`, which fix A to the anchor's
row (B to its column) and remove only sub-matrices of one row (column): the new dishes of a
buffet's visitor.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from neocc._typing import BoolArray, FloatArray, IntArray
from neocc.rivals.plaid.model import (
    Moments,
    Parameters,
    Prior,
    draw_effects,
    log_evidence,
    log_set_weights,
)
from neocc.rivals.plaid.state import Field, Sets, State, stacked

Kind = Literal["block", "row", "column"]
Place = tuple[int, int]

# Enough for a guess to converge to the sub-matrix around its anchor, where there is one.
N_SCANS = 3


def birth_or_death(state: State, prior: Prior, kind: Kind, rng: np.random.Generator) -> bool:
    """Attempt a birth or, as often, a death; True if the state has changed."""
    if rng.random() < 0.5:
        return prior.max_submatrices > state.K and _birth(state, kind, rng)
    return _death(state, kind, rng)


def _birth(state: State, kind: Kind, rng: np.random.Generator) -> bool:
    anchor = draw_anchor(state.residual, rng)
    sets, log_p = propose(state.residual, kind, anchor, state.parameters, rng)
    n_removable = len(_removable(state, kind)) + 1
    if not accepted(log_birth_ratio(state, sets, anchor, log_p, n_removable), rng):
        return False
    add_drawn(state, stacked(sets), rng)
    return True


def _death(state: State, kind: Kind, rng: np.random.Generator) -> bool:
    removable = _removable(state, kind)
    if not len(removable):
        return False
    sets, theta = state.remove(int(rng.choice(removable)))
    row, column = (int(rng.choice(np.flatnonzero(members))) for members in sets)
    _, log_p = propose(state.residual, kind, (row, column), state.parameters, rng, given=sets)
    if accepted(-log_birth_ratio(state, sets, (row, column), log_p, len(removable)), rng):
        return True
    state.add(sets, theta)
    return False


def accepted(log_ratio: float, rng: np.random.Generator) -> bool:
    """Metropolis test."""
    return bool(math.log1p(-rng.random()) < log_ratio)


def add_drawn(state: State, sets: Sets, rng: np.random.Generator) -> None:
    """Add sub-matrices with effects drawn together from their conditional."""
    theta = draw_effects(state.residual.moments(sets), state.parameters, rng)
    for A, B, effect in zip(*sets, theta, strict=True):
        state.add((A, B), float(effect))


def _removable(state: State, kind: Kind) -> IntArray:
    """Sub-matrices that a death of this kind may choose."""
    if kind == "block":
        return np.arange(state.K)
    members = state.rows if kind == "row" else state.columns
    return np.flatnonzero(members.sum(axis=1) == 1)


def log_birth_ratio(
    state: State, sets: Sets, anchor: Place, log_p: float, n_removable: int
) -> float:
    """Log acceptance ratio of adding `sets` to a state; `n_removable` counts them in."""
    area = int(sets[0].sum()) * int(sets[1].sum())
    log_reverse = -math.log(n_removable * area)
    log_forward = log_anchor(state.residual, anchor) + log_p
    moments = state.residual.moments(stacked(sets))
    gain = log_gain(state.data.shape, state.K, sets, moments, state.parameters)
    return gain + log_reverse - log_forward


def log_gain(
    shape: Place, n_others: int, sets: Sets, moments: Moments, parameters: Parameters
) -> float:
    """Log of how much denser the posterior is with a sub-matrix, its effect integrated out.

    `n_others` is the number of sub-matrices next to it.
    """
    log_prior = math.log(parameters.gamma1) + math.log(parameters.gamma2) - math.log(n_others + 1)
    for n_items, members in zip(shape, sets, strict=True):
        log_prior += float(log_set_weights(n_items, members.sum()))
    return log_prior + log_evidence(moments, parameters)


def draw_anchor(field: Field, rng: np.random.Generator) -> Place:
    """Draw an entry: any, or, as often, one that stands out."""
    n_rows, n_columns = field.shape
    if rng.random() < 0.5 or not field.squares > 0:
        return int(rng.integers(n_rows)), int(rng.integers(n_columns))
    row = _draw_share(np.einsum("ij,ij->i", field.values, field.values), rng)
    return row, _draw_share(field.values[row] ** 2, rng)


def _draw_share(shares: FloatArray, rng: np.random.Generator) -> int:
    sums = np.cumsum(shares)
    return int(np.searchsorted(sums, rng.random() * sums[-1], side="right"))


def log_anchor(field: Field, anchor: Place) -> float:
    """Log of the probability that `draw_anchor` draws an entry."""
    total, flat = field.squares, 1 / field.values.size
    share = float(field.values[anchor]) ** 2 / total if total > 0 else flat
    return math.log((flat + share) / 2)


def propose(
    field: Field,
    kind: Kind,
    anchor: Place,
    parameters: Parameters,
    rng: np.random.Generator,
    given: Sets | None = None,
) -> tuple[Sets, float]:
    """Draw a launch and, from it, sets around the anchor; return them with log p(A, B | launch).

    With `given` sets, draw the launch only and return the probability of those.
    """
    if kind == "column":
        turned = None if given is None else (given[1], given[0])
        (B, A), log_p = propose(field.T, "row", anchor[::-1], parameters, rng, turned)
        return (A, B), log_p
    rows, columns = (None, None) if given is None else given
    guess = _Guess(field, anchor, parameters, rng)
    log_p_rows = 0.0
    if kind == "block":
        for _ in range(N_SCANS):
            guess.scan(rng)
        guess.A, log_p_rows = _coins(guess.row_odds(), anchor[0], rng, rows)
    B, log_p_columns = _coins(guess.column_odds(), anchor[1], rng, columns)
    return (guess.A, B), log_p_rows + log_p_columns


class _Guess:
    """A sub-matrix around an anchor that is improved by looking at the residual."""

    def __init__(
        self, field: Field, anchor: Place, parameters: Parameters, rng: np.random.Generator
    ) -> None:
        self.field, self.anchor, self.parameters = field, anchor, parameters
        self.A, self.B = (np.arange(n) == at for n, at in zip(field.shape, anchor, strict=True))
        # Any size may be right: spread them evenly over orders of magnitude, as the prior does.
        self.row_logit, self.column_logit = (
            _logit(n ** rng.random(), n + 1.0) for n in field.shape
        )
        count = 1.0 if field.observed is None else float(field.observed[anchor])
        self._draw_theta(count, float(field.values[anchor]), rng)

    def scan(self, rng: np.random.Generator) -> None:
        """Draw columns and rows given each other, and the effect after each."""
        n_rows, n_columns = self.field.shape
        odds, counts, sums = self._look(self.field.T, self.A, self.column_logit)
        self.B, _ = _coins(odds, self.anchor[1], rng)
        self._draw_theta(counts[self.B].sum(), sums[self.B].sum(), rng)
        odds, counts, sums = self._look(self.field, self.B, self.row_logit)
        self.A, _ = _coins(odds, self.anchor[0], rng)
        self._draw_theta(counts[self.A].sum(), sums[self.A].sum(), rng)
        self.row_logit = _logit(self.A.sum() + 0.5, n_rows + 1.0)
        self.column_logit = _logit(self.B.sum() + 0.5, n_columns + 1.0)

    def row_odds(self) -> FloatArray:
        """Log odds of each row, given columns and effect."""
        return self._look(self.field, self.B, self.row_logit)[0]

    def column_odds(self) -> FloatArray:
        """Log odds of each column, given rows and effect."""
        return self._look(self.field.T, self.A, self.column_logit)[0]

    def _look(
        self, field: Field, others: BoolArray, logit: float
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Log odds of each item; numbers and sums of its entries where it meets the others."""
        y = others.astype(float)
        counts, sums = field.counts(y), field.sums(y)
        gain = self.parameters.tau0 * self.theta * (sums - self.theta / 2 * counts)
        return logit + gain, counts, sums

    def _draw_theta(self, count: float, total: float, rng: np.random.Generator) -> None:
        moments = np.array([[count]]), np.array([total])
        self.theta = float(draw_effects(moments, self.parameters, rng)[0])


def _logit(part: float, whole: float) -> float:
    return math.log(part / (whole - part))


def _coins(
    odds: FloatArray, certain: int, rng: np.random.Generator, given: BoolArray | None = None
) -> tuple[BoolArray, float]:
    """Draw independent memberships (or take `given` ones), and the log of their probability."""
    members = rng.logistic(size=len(odds)) < odds if given is None else given
    members[certain] = True
    against = np.where(members, -odds, odds)
    against[certain] = -np.inf
    return members, -float(np.logaddexp(0.0, against).sum())
