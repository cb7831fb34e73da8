"""Reference for the Gibbs visits of the plaid sampler: NumPy, nothing to compile.

Letters: theta_k is the effect of sub-matrix k, tau0 the precision of the noise, N the number of
items of the visited side (rows, or columns of a transposed residual).
"""

from __future__ import annotations

import math

import numpy as np

from neocc._typing import BoolArray, FloatArray, IntArray


def visit_items(
    residual: FloatArray,
    observed: FloatArray | None,
    members: BoolArray,
    sizes: IntArray,
    other_starts: IntArray,
    other_items: IntArray,
    theta: FloatArray,
    tau0: float,
    order: IntArray,
    thresholds: FloatArray,
) -> None:
    """Draw the memberships of items in `order`, each sub-matrix in turn, from their conditionals.

    The log odds of item i in sub-matrix k, held by m > 0 other items, are

        log( m / (N - m) ) + tau0 theta_k sum_j ( r_ij - theta_k / 2 )

    over the observed entries j of the other side's members, r without k. An item that is the only
    member stays: sub-matrices end by a move of their own.

    Parameters
    ----------
    residual : array of shape (N, M)
        Data minus the model; 0 where nothing was observed. IN and OUT.
    observed : array of shape (N, M), or None
        1 where an entry was observed, else 0; None where all were.
    members : array of shape (K, N)
        Memberships. IN and OUT.
    sizes : array of shape (K,)
        Numbers of members. IN and OUT.
    other_starts, other_items : arrays of shape (K + 1,) and (n_memberships,)
        Members of the other side; those of k begin at `other_starts[k]`, up to the next start.
    theta : array of shape (K,)
        Effects.
    tau0 : float
        Precision of the noise.
    order : array of shape (n_visits,)
        Items to visit.
    thresholds : array of shape (n_visits, K)
        Draws from the standard logistic distribution: a membership is set if its log odds exceed
        its threshold.
    """
    n_items = residual.shape[0]
    for visit, item in enumerate(order):
        line = residual[item]
        for k in range(len(theta)):
            was = bool(members[k, item])
            m = int(sizes[k]) - was
            if m == 0:
                continue
            others = other_items[other_starts[k] : other_starts[k + 1]]
            seen = np.ones(len(others)) if observed is None else observed[item, others]
            n_seen = float(seen.sum())
            effect = float(theta[k])
            total = float(line[others].sum()) + was * effect * n_seen
            odds = math.log(m / (n_items - m)) + tau0 * effect * (total - effect * n_seen / 2)
            now = bool(odds > thresholds[visit, k])
            if now != was:
                members[k, item] = now
                sizes[k] += now - was
                line[others] += (was - now) * effect * seen
