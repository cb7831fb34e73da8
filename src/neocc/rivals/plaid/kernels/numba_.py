"""Compiled twin of `neocc.rivals.plaid.kernels.numpy_`: same arguments, same draws."""

from __future__ import annotations

import math

import numpy as np

from neocc._typing import BoolArray, FloatArray, IntArray
from neocc.kernels.loops import compiled

_ALL_OBSERVED = np.empty((0, 0))


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
    """Draw the memberships of items in `order`; see the reference."""
    _visit_items(
        residual,
        _ALL_OBSERVED if observed is None else observed,
        members,
        sizes,
        other_starts,
        other_items,
        theta,
        tau0,
        order,
        thresholds,
        np.empty(residual.shape[1]),
        np.empty(residual.shape[1]),
    )


@compiled
def _visit_items(
    residual: FloatArray,
    observed: FloatArray,
    members: BoolArray,
    sizes: IntArray,
    other_starts: IntArray,
    other_items: IntArray,
    theta: FloatArray,
    tau0: float,
    order: IntArray,
    thresholds: FloatArray,
    line: FloatArray,
    seen: FloatArray,
) -> None:
    n_items, n_others = residual.shape
    seen[:] = 1.0
    for visit in range(order.size):
        item = order[visit]
        # Rows of a transposed residual are far apart in memory: read them once for all k.
        for j in range(n_others):
            line[j] = residual[item, j]
            if observed.size:
                seen[j] = observed[item, j]
        for k in range(theta.size):
            was = members[k, item]
            m = sizes[k] - (1 if was else 0)
            if m == 0:
                continue
            effect = theta[k]
            others = other_items[other_starts[k] : other_starts[k + 1]]
            total, n_seen = _sum_over(line, seen, others)
            if was:
                total += effect * n_seen
            odds = math.log(m / (n_items - m)) + tau0 * effect * (total - effect * n_seen / 2)
            now = odds > thresholds[visit, k]
            if now != was:
                members[k, item] = now
                sizes[k] += 1 if now else -1
                change = -effect if now else effect
                for j in others:
                    line[j] += change * seen[j]
        for j in range(n_others):
            residual[item, j] = line[j]


@compiled
def _sum_over(line: FloatArray, seen: FloatArray, others: IntArray) -> tuple[float, float]:
    total = n_seen = 0.0
    for j in others:
        total += line[j]
        n_seen += seen[j]
    return total, n_seen
