"""Feasible numbers of memberships: 0 <= f <= k, e'f = T and e'min(f, 1) >= N1."""

from __future__ import annotations

import numpy as np

from neocc._typing import FloatArray
from neocc.core.problem import Counts

_ROUNDING = 1e-13
_MOST_STEPS = 200


def nearest_feasible(t: FloatArray, weights: FloatArray, counts: Counts) -> FloatArray:
    """Return the feasible f of smallest sum_i weights_i (f_i - t_i)^2.

    Without the last condition it is `t` plus a common shift over the weights, clipped. Where that
    covers too few items, the parts of f below and above 1 are shifted separately: by the
    Karush-Kuhn-Tucker conditions the one then sums to N1 and the other to the rest.
    """
    pace = 1.0 / weights
    k, T, n = counts.n_clusters, counts.n_memberships, counts.n_items
    if counts.n_covered < n:
        f = clipped_to_total(t, pace, 0.0, k, T)
        if np.minimum(f, 1.0).sum() >= counts.n_covered:
            return f
    above = clipped_to_total(t, pace, 1.0, k, T - counts.n_covered + n)
    if counts.n_covered == n:
        return above
    below = clipped_to_total(t, pace, 0.0, 1.0, counts.n_covered)
    return below + (above - 1.0)


def clipped_to_total(
    t: FloatArray, pace: FloatArray, low: float, high: float, total: float
) -> FloatArray:
    """Return `t` plus a multiple of `pace`, clipped to [low, high] and then of sum `total`.

    The sum is a rising, piecewise linear function of the multiple: Newton's method ends on the
    right piece, and halving the bracket takes over where it would leave it.
    """
    enough = _ROUNDING * (total + float(np.abs(t).sum()))
    under, over = float(((low - t) / pace).min()), float(((high - t) / pace).max())
    shift = min(max((total - float(t.sum())) / float(pace.sum()), under), over)
    f = np.clip(t + shift * pace, low, high)
    for _ in range(_MOST_STEPS):
        excess = float(f.sum()) - total
        if abs(excess) <= enough:
            break
        if excess > 0:
            over = shift
        else:
            under = shift
        slope = float(pace[(f > low) & (f < high)].sum())
        step = shift - excess / slope if slope else under
        shift = step if under < step < over else 0.5 * (under + over)
        f = np.clip(t + shift * pace, low, high)
    return f
