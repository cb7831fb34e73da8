"""Compiled loops that settle the clusters of a small table; see `neocc.kernels.numpy_settle`."""

from __future__ import annotations

import numpy as np

from neocc._typing import FloatArray, LabelArray
from neocc.kernels.loops import compiled
from neocc.kernels.numpy_settle import TIMES

__all__ = ["compared", "move_cells"]


@compiled
def compared(
    table: FloatArray,
    both_weights: tuple[FloatArray, FloatArray],
    labels: LabelArray,
    k: int,
    residual: bool,
) -> tuple[FloatArray, float]:
    """Return what columns are compared by; see `neocc.kernels.numpy_settle.compared`."""
    weights, other_weights = both_weights
    n, m = table.shape
    total, sums, lost = np.zeros(k), np.zeros((k, m)), 0.0
    for p in range(n):
        line, of_row = sums[labels[p]], table[p]
        total[labels[p]] += weights[p]
        for j in range(m):
            line[j] += of_row[j]
    points = np.empty((m, n if residual else k))
    if residual:
        for p in range(n):
            q, scale = labels[p], 1.0 / np.sqrt(weights[p])
            for j in range(m):
                x = (table[p, j] - weights[p] / total[q] * sums[q, j]) * scale
                points[j, p] = x
                lost += x * x / other_weights[j]
    else:
        for q in range(k):
            scale = 1.0 / np.sqrt(total[q]) if total[q] > 0.0 else 0.0
            for j in range(m):
                points[j, q] = sums[q, j] * scale
    return points, lost


@compiled
def move_cells(
    points: FloatArray, weights: FloatArray, labels: LabelArray, k: int, least: float
) -> tuple[float, int]:
    """Move items to where that gains most; see `neocc.kernels.numpy_settle.move_cells`."""
    n, l = points.shape  # noqa: E741
    # A column for each cluster: loops over clusters are vector instructions.
    centres, total, numbers = np.zeros((l, k)), np.zeros(k), np.zeros(k)
    norms, means, gains, own = np.zeros(k), np.zeros(k), np.zeros(k), np.zeros(n)
    for p in range(n):
        total[labels[p]] += weights[p]
        numbers[labels[p]] += 1.0
        for j in range(l):
            centres[j, labels[p]] += points[p, j]
            own[p] += points[p, j] * points[p, j]
    for j in range(l):
        for q in range(k):
            norms[q] += centres[j, q] * centres[j, q]
    for q in range(k):
        means[q] = norms[q] / total[q] if total[q] > 0.0 else 0.0
    n_moved = 0
    for _ in range(TIMES):
        before = n_moved
        for p in range(n):
            a, w, norm = labels[p], weights[p], own[p]
            if numbers[a] < 2.0:
                continue
            gains[:] = 0.0
            for j in range(l):
                x, line = points[p, j], centres[j]
                for q in range(k):
                    gains[q] += line[q] * x
            left = norms[a] - 2.0 * gains[a] + norm
            for q in range(k):
                gains[q] = (norms[q] + 2.0 * gains[q] + norm) / (total[q] + w) - means[q]
            gains[a] = -np.inf
            best, target = -np.inf, a
            for q in range(k):
                if gains[q] > best:
                    best, target = gains[q], q
            if best + left / (total[a] - w) - means[a] <= least:
                continue
            for j in range(l):
                centres[j, a] -= points[p, j]
                centres[j, target] += points[p, j]
            means[a], means[target] = left / (total[a] - w), best + means[target]
            total[a] -= w
            total[target] += w
            norms[a], norms[target] = left, means[target] * total[target]
            numbers[a] -= 1.0
            numbers[target] += 1.0
            labels[p] = target
            n_moved += 1
        if n_moved == before:
            break
    return means.sum(), n_moved
