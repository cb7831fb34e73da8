"""What held-out cells show for every number of clusters of a side."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import TypeAlias

import numpy as np

from neocc._typing import FloatArray, IntArray
from neocc.core.engine import Engine
from neocc.core.objectives import Objective, Side
from neocc.core.problem import Problem
from neocc.core.steps import half_step, make_features, make_terms
from neocc.kernels import Features, Memberships, Terms, numpy_
from neocc.selection._grid import merge

__all__ = ["SHORT_TOL", "SIDES", "Curve", "fewer_columns", "holds_out_cells", "stability_of"]
__all__ += ["turned", "with_clusters"]

SIDES: tuple[Side, Side] = ("rows", "columns")
SHORT_TOL = 1e-3
"""Runs that only have to show how many clusters there are end early."""

_Both: TypeAlias = tuple[Memberships, Memberships]


@dataclass(frozen=True)
class Curve:
    """What one side shows for every number of clusters, from 1 on.

    Attributes
    ----------
    errors : array of shape (n_numbers, n_items)
        Error of the cells of each item while they were held out.
    stability : array of shape (n_numbers,)
        Mean adjusted Rand index of the clusters that different parts give to all items.
    of_halves : bool
        Whether these parts have different items of the side. Where cells are held out all have
        their items, and disagree as far as single items are noisy: that tells nothing of numbers.
    is_told : bool
        Whether cells can tell clearly: two or three lines that add up to a constant cannot.
    """

    errors: FloatArray
    stability: FloatArray
    of_halves: bool = True
    is_told: bool = True


def holds_out_cells(objective: Objective) -> bool:
    """Return whether cells are held out, all over the data: counts and observed ones can be."""
    return objective.of_counts or objective.needs_counts


def with_clusters(problem: Problem, side: Side, n_clusters: int) -> Problem:
    """Return a problem with another number of clusters on one side, if it has that many items."""
    counts = problem.counts(side)
    return problem.with_counts(side, replace(counts, n_clusters=n_clusters))


def turned(problem: Problem) -> Problem:
    """Return the problem of the transposed matrix."""
    return replace(problem, rows=problem.columns, columns=problem.rows)


def fewer_columns(
    engine: Engine,
    problem: Problem,
    pair: _Both,
    features_of: Callable[[_Both], Features] | None = None,
) -> Iterator[tuple[Problem, _Both]]:
    """Yield problems with fewer and fewer column clusters, and pairs that solve them.

    The two most similar clusters are merged, and columns assigned until the objective stands. Row
    clusters stay as they are, and with them the features of columns: unless the objective needs
    products, the data are read once. The features may be those of some of an engine's columns.
    """
    features_of = features_of or partial(make_features, engine, problem)
    U, V = pair
    features = features_of((U, V))
    for k in range(V.n_clusters, 0, -1):
        each = with_clusters(problem, "columns", k)
        if k < V.n_clusters:
            terms = make_terms(each, "columns", features, (U, V))
            V = each.weighted("columns", merge(V, _between(V, features, terms)))
        previous = np.inf
        for _ in range(each.max_iter):
            if each.needs_products:
                features = features_of((U, V))
            step = half_step(engine, each, "columns", features, (U, V))
            if previous - step.objective <= each.tol * abs(step.objective):
                break
            before, previous, V = V, step.objective, step.members
            if not each.needs_products and np.array_equal(V.first, before.first):
                # Nobody moved: the next step would find the same objective.
                break
        yield each, (U, V)


def _between(members: Memberships, features: Features, terms: Terms) -> FloatArray:
    """Return the mean distance of the members of every cluster from every cluster.

    Distances are linear in features, but for what an item has in common with all clusters: those
    of mean features are mean distances, up to what is common to a line.
    """

    def means(table: FloatArray | None) -> FloatArray | None:
        return None if table is None else members.inverse_sizes[:, None] * (weights @ table)

    weights = members.indicator.T
    squares = members.sums_of(features.squares) * members.inverse_sizes
    tables = (means(each) for each in (features.products, features.counts))
    return numpy_.distances(Features(means(features.sums), squares, *tables), terms)


def stability_of(labels: IntArray) -> FloatArray:
    """Compare clusters of all items when different ones of their side were held out."""

    def agreement(each: IntArray) -> float:
        pairs = [pair for runs in each.swapaxes(0, 1) for pair in combinations(runs, 2)]
        return float(np.mean([adjusted_rand(*pair) for pair in pairs]))

    return np.array([agreement(each) for each in labels])


def adjusted_rand(one: IntArray, other: IntArray) -> float:
    """Return the adjusted Rand index of two labellings; -1 is a label too."""
    one, other, n = one + 1, other + 1, len(one)
    width = int(other.max()) + 1
    both = np.bincount(one * width + other)
    together, first, second = (
        float(np.square(sizes.astype(np.float64)).sum() - n)
        for sizes in (both, np.bincount(one), np.bincount(other))
    )
    expected = first * second / (n * (n - 1.0)) if n > 1 else 0.0
    most = 0.5 * (first + second)
    return (together - expected) / (most - expected) if most > expected else 1.0
