"""What held-out cells show for every number of clusters of a side."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from sklearn.metrics import adjusted_rand_score

from neocc._typing import FloatArray, IntArray
from neocc.core.objectives import Objective, Side
from neocc.core.problem import Problem

__all__ = ["SIDES", "Curve", "holds_out_cells", "stability_of", "with_clusters"]

SIDES: tuple[Side, Side] = ("rows", "columns")


@dataclass(frozen=True)
class Curve:
    """What one side shows for every number of clusters, from 1 on.

    Attributes
    ----------
    errors : array of shape (n_numbers, n_items)
        Error of the cells of each item while they were held out.
    stability : array of shape (n_numbers,)
        Mean adjusted Rand index of the clusters that different parts give to all items.
    """

    errors: FloatArray
    stability: FloatArray


def holds_out_cells(objective: Objective) -> bool:
    """Return whether cells are held out, all over the data: counts and observed ones can be."""
    return objective.of_counts or objective.needs_counts


def with_clusters(problem: Problem, side: Side, n_clusters: int) -> Problem:
    """Return a problem with another number of clusters on one side, if it has that many items."""
    counts = problem.counts(side)
    return problem.with_counts(side, replace(counts, n_clusters=n_clusters))


def stability_of(labels: IntArray) -> FloatArray:
    """Compare clusters of all items when different ones of their side were held out."""

    def agreement(each: IntArray) -> float:
        pairs = [pair for runs in each.swapaxes(0, 1) for pair in combinations(runs, 2)]
        return float(np.mean([adjusted_rand_score(*pair) for pair in pairs]))

    return np.array([agreement(each) for each in labels])
