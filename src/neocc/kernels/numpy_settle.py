"""Clusters of a small table whose rows and columns have weights, improved by exact moves.

`table` has sums of cells, whose numbers of items are the weights. With "mean", clusters of the
columns given, a row is the vector of its sums over these, divided by the roots of their weights;
`residual`, what is left of the row without its mean over each of them, over roots of weights of
columns. Rows are clustered by their distances as in k-means then: moving one between clusters has a
gain that is known exactly (Hartigan, 1975), and that k-means does not see if it is small.
"""

from __future__ import annotations

import numpy as np

from neocc._typing import FloatArray, IntArray, LabelArray

__all__ = ["TIMES", "compared", "move_cells"]

TIMES = 2
"""How often the items of a side are looked at, in order, before those of the other are."""


def compared(
    table: FloatArray,
    weights: tuple[FloatArray, FloatArray],
    labels: LabelArray,
    k: int,
    residual: bool,
) -> tuple[FloatArray, float]:
    """Return what columns are compared by, given clusters of rows; of residuals also their squares.

    Weights are those of rows and of columns.
    """
    of_rows, of_columns = weights
    inside = (labels == np.arange(k)[:, None]).astype(np.float64)
    total, sums = inside @ of_rows, inside @ table
    if not residual:
        return (sums / np.sqrt(np.where(total > 0.0, total, np.inf))[:, None]).T, 0.0
    means = (sums / np.where(total > 0.0, total, np.inf)[:, None])[labels]
    points = ((table - of_rows[:, None] * means) / np.sqrt(of_rows)[:, None]).T
    return points, float((np.square(points).sum(axis=1) / of_columns).sum())


def move_cells(
    points: FloatArray, weights: FloatArray, labels: LabelArray, k: int, least: float
) -> tuple[float, int]:
    """Move items one after the other, each to where that gains most.

    Returns the sum of squares that the clusters explain, and the number of moves.
    """
    n, own = len(points), np.square(points).sum(axis=1)
    inside = (labels == np.arange(k)[:, None]).astype(np.float64)
    centres, total, numbers = inside @ points, inside @ weights, inside.sum(axis=1)
    norms = np.square(centres).sum(axis=1)
    n_moved = 0
    for _ in range(TIMES):
        before, p = n_moved, 0
        while p < n:
            some = points[p:], own[p:], weights[p:], labels[p:]
            item, target = _next_move(*some, centres, total, norms, numbers, least)
            if item < 0:
                break
            p += item
            a, w = labels[p], weights[p]
            centres[a] -= points[p]
            centres[target] += points[p]
            total[a], total[target] = total[a] - w, total[target] + w
            numbers[a], numbers[target] = numbers[a] - 1.0, numbers[target] + 1.0
            norms[[a, target]] = np.square(centres[[a, target]]).sum(axis=1)
            labels[p], p, n_moved = target, p + 1, n_moved + 1
        if n_moved == before:
            break
    return float((norms / np.where(total > 0.0, total, np.inf)).sum()), n_moved


def _next_move(
    points: FloatArray,
    own: FloatArray,
    weights: FloatArray,
    labels: LabelArray,
    centres: FloatArray,
    total: FloatArray,
    norms: FloatArray,
    numbers: FloatArray,
    least: float,
) -> tuple[int, int]:
    """Return the first item whose best move gains more than `least`, and where to; -1 if none."""
    at: IntArray = np.arange(len(points))
    means, dots = norms / np.where(total > 0.0, total, np.inf), points @ centres.T
    gains = (norms + 2.0 * dots + own[:, None]) / (total + weights[:, None]) - means
    gains[at, labels] = -np.inf
    targets = gains.argmax(axis=1)
    left = np.where(numbers[labels] > 1.0, total[labels] - weights, np.inf)
    saved = (norms[labels] - 2.0 * dots[at, labels] + own) / left - means[labels]
    moves = (gains[at, targets] + saved > least) & (numbers[labels] > 1.0)
    item = int(moves.argmax())
    return (item, int(targets[item])) if moves[item] else (-1, 0)
