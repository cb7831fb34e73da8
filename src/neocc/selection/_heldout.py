"""Held-out blocks: how well clusters of some rows and columns predict cells of the others.

Bi-cross-validation (Owen and Perry, "Bi-cross-validation of the SVD and the nonnegative matrix
factorization", 2009): rows and columns are cut into halves. Clusters are found in one quarter of
the matrix; the other rows join them by their cells in its columns, the other columns by their cells
in its rows, and the opposite quarter, which nobody has seen, is predicted. For "mean" a column in
cluster j is predicted to have

    x_pt = M_ij + w_j (A_pj - M_ij)

in row p of cluster i, with A_pj the mean of the row over known columns of the cluster, M the block
means, and w the weight that noise leaves to single rows (empirical Bayes): with few rows these
speak for themselves, with thousands their blocks do. Rows likewise. For "residue" it is the
additive model of a block, x_pt = A_pj + C_it - M_ij, with C_it the mean of the column over known
rows. Errors are sums over features, as distances are: no table of predictions is made.

Every quarter is clustered once, with many clusters on both sides; quarters off the diagonal start
from the clusters of those that share their rows, and their columns. Clusters of one side are then
merged one by one, while the other side keeps its many (`neocc.selection._curves.fewer_columns`):
how many clusters rows have does not depend on how many columns should have. A side is seen as the
columns of a matrix: rows are those of the transposed one.

Where lines of the other side add up to a constant (`neocc.selection._tied`), so do the cells of an
item, clusters or not: errors in the sum of those that are held out do not count.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import TypeAlias

import numpy as np

from neocc._typing import FloatArray, IntArray
from neocc.core.engine import Engine
from neocc.core.objectives import Objective
from neocc.core.problem import Problem
from neocc.core.search import Init, run_starts
from neocc.core.steps import join, make_features, make_terms
from neocc.engines import Matrix
from neocc.kernels import Features, Memberships
from neocc.selection._curves import (
    SHORT_TOL,
    SIDES,
    Curve,
    fewer_columns,
    stability_of,
    turned,
    with_clusters,
)
from neocc.selection._data import Open
from neocc.selection._tied import Ties, of_their_sum

__all__ = ["Blocks", "Both", "Folds", "Part", "View"]

Both: TypeAlias = tuple[Memberships, Memberships]

_ROUNDING = 1e-12
# Tables of few cells are cut into thirds: half of their rows and columns are too few to learn from.
_FEW_CELLS, _PARTS, _PARTS_OF_FEW = 1000, 2, 3


@dataclass(frozen=True)
class Folds:
    """A random cut of the rows into parts, and one of the columns."""

    rows: tuple[IntArray, ...]
    columns: tuple[IntArray, ...]

    @classmethod
    def draw(cls, shape: tuple[int, int], rng: np.random.Generator, n_parts: int = 2) -> Folds:
        """Cut rows and columns at random."""
        cuts = (np.array_split(rng.permutation(n), n_parts) for n in shape)
        rows, columns = (tuple(np.sort(part) for part in cut) for cut in cuts)
        return cls(rows, columns)

    def part(self, matrix: Matrix, i: int, j: int) -> Part:
        """Hold out part i of the rows and part j of the columns."""
        n, m = matrix.shape
        held = self.rows[i], self.columns[j]
        known = np.delete(np.arange(n), held[0]), np.delete(np.arange(m), held[1])
        return Part(matrix, known, held)

    def learnt(
        self, matrix: Matrix, open_: Open, problem: Problem, rng: np.random.Generator, n_init: int
    ) -> dict[tuple[int, int], tuple[Part, Both]]:
        """Return all parts, and the clusters of what is known in each.

        Those on the diagonal are found from several starts, as are all of small tables; other
        quarters start from the clusters of the same rows, and of the same columns, which were found
        without what is held out.
        """
        found: dict[tuple[int, int], tuple[Part, Both]] = {}
        grid = np.ndindex(len(self.rows), len(self.columns))
        for i, j in sorted(grid, key=lambda at: at[0] != at[1]):
            part = self.part(matrix, i, j)
            init: Init = "neo-kmeans"
            rngs = rng.spawn(n_init)
            if i != j and len(self.rows) == _PARTS:
                init, rngs = (found[i, i][1][0], found[j, j][1][1]), rngs[:1]
            found[i, j] = part, part.learnt(open_, problem, init, rngs)
        return found


@dataclass(frozen=True)
class Part:
    """Rows and columns that are known, and those that are held out."""

    matrix: Matrix
    known: tuple[IntArray, IntArray]
    held: tuple[IntArray, IntArray]

    def learnt(
        self, open_: Open, problem: Problem, init: Init, rngs: list[np.random.Generator]
    ) -> Both:
        """Return the clusters of known rows and columns: the best of a few short runs."""
        rows, columns = self.known
        engine = open_(self.matrix.take(rows).take_columns(columns))
        short = replace(_sized(problem, engine.shape), tol=SHORT_TOL)
        runs = run_starts(engine, short, init, rngs)
        U, V = min(runs, key=lambda run: run.objective).pair
        assert U is not None and V is not None
        return U, V

    def views(self, open_: Open, problem: Problem, centred: Matrix, ties: Ties) -> list[View]:
        """Return what rows and what columns show, on the data centred for a problem."""
        w = ties.columns[self.held[1]], ties.rows[self.held[0]]
        old, new = (centred.take(rows) for rows in (self.known[0], self.held[0]))
        fresh, unseen = (new.take_columns(columns) for columns in (self.known[1], self.held[1]))
        wide, late = centred.take_columns(self.known[1]), old.take_columns(self.held[1])
        first, second, third = (open_(each.transposed()) for each in (wide, late, unseen))
        rows = View(turned(problem), first, second, third, self.known[0], self.held[0], w[0])
        first, second, third = (open_(each) for each in (old, fresh, unseen))
        return [rows, View(problem, first, second, third, self.known[1], self.held[1], w[1])]


@dataclass
class View:
    """A cut seen from one side, whose items are columns here.

    Known rows of all columns are `wide`, new rows of known columns `fresh`, and what is left
    `unseen`. New rows have the weights of `Ties`.
    """

    problem: Problem
    wide: Engine
    fresh: Engine
    unseen: Engine
    known: IntArray
    held: IntArray
    tied: FloatArray
    # Features of known and of new columns, and the clusters that they depend on, if any.
    _features: tuple[Features, Features] | None = None
    _last: Memberships | None = None

    @cached_property
    def _squares(self) -> tuple[FloatArray, FloatArray]:
        """Squared norms of unseen columns, and of new rows."""
        return self.unseen.column_squares(), self.fresh.row_squares()

    def path(self, pair: Both) -> Iterator[tuple[Problem, Both, Memberships]]:
        """Yield problems of fewer and fewer clusters, their pairs, and where new columns join."""
        problem = _sized(self.problem, (self.wide.shape[0], len(self.known)))
        for each, found in fewer_columns(self.wide, problem, pair, self.known_features):
            yield each, found, self.joined(each, found)

    def known_features(self, pair: Both) -> Features:
        """Return the features of known columns; those of all are kept until they change."""
        U, V = pair
        if self._features is None or (self.problem.needs_products and V is not self._last):
            self._last = V
            # New columns are in no cluster yet.
            labels = np.full(self.wide.shape[1], -1, dtype=np.int32)
            labels[self.known] = V.first
            more = self.known[V.extra_items]
            wide = Memberships(labels, more, V.extra_clusters, V.n_clusters)
            both = (U, self.problem.overlap_model.weighted(wide))
            features = make_features(self.wide, self.problem, both)
            self._features = _taken(features, self.known), _taken(features, self.held)
        return self._features[0]

    def joined(self, problem: Problem, pair: Both) -> Memberships:
        """Return the memberships of new columns in the clusters found.

        As in a fit no cluster stays empty: new items pay for clusters that they do not need.
        """
        terms = make_terms(problem, "columns", self.known_features(pair), pair)
        assert self._features is not None
        joining = with_clusters(self._joining, "columns", pair[1].n_clusters)
        return join(self.wide, joining, "columns", terms, None, pair[0], self._features[1]).members

    @cached_property
    def _joining(self) -> Problem:
        """The problem of new rows and columns."""
        return _sized(self.problem, self.unseen.shape)

    def errors(
        self, objective: Objective, pair: Both, rows: Memberships, columns: Memberships
    ) -> FloatArray:
        """Return the sum of squared errors of the unseen cells of each column."""
        P, Q = self.factors(objective, pair, rows, columns)
        squares = self._squares[0]
        own = Q @ (P.T @ P) - 2.0 * self.unseen.multiply_transposed(P)
        errors: FloatArray = squares + np.einsum("ti,ti->t", Q, own)
        errors -= of_their_sum(self.unseen, P, Q, self.tied)
        # Cells that are predicted exactly, but for rounding, have no error.
        return np.where(errors <= _ROUNDING * squares, 0.0, errors)

    def factors(
        self, objective: Objective, pair: Both, rows: Memberships, columns: Memberships
    ) -> tuple[FloatArray, FloatArray]:
        """Return two thin tables, P and Q, such that P Q' predicts the unseen cells."""
        U, V = pair
        M = objective.block_means(self.known_features(pair), U, V)
        u, v = rows.indicator, columns.indicator
        A = self.fresh.multiply(V.indicator * V.inverse_sizes)
        if not objective.per_item:
            return _drawn(A, u @ M, V.sizes, self._squares[1]), v
        assert self._features is not None and self._features[1].sums is not None
        C = self._features[1].sums * U.inverse_sizes
        return np.hstack([u, A]), np.hstack([C - v @ M.T, v])


@dataclass(frozen=True)
class Blocks:
    """Data of which blocks of rows and columns are held out."""

    matrix: Matrix
    open: Open

    # How many clusters to begin with; how many cuts there are, at most and if these agree.
    first, n_cuts, usual = 16, 5, 3

    @property
    def _few(self) -> bool:
        shape = self.matrix.shape
        return prod(shape) < _FEW_CELLS and min(shape) > _PARTS_OF_FEW

    @cached_property
    def _ties(self) -> Ties:
        return Ties.of(self.open(self.matrix))

    def curves(
        self, problem: Problem, rng: np.random.Generator, n_init: int
    ) -> tuple[Curve, Curve]:
        """Return the curves of rows and of columns, up to the numbers of a problem, of one cut."""
        folds = Folds.draw(self.matrix.shape, rng, _PARTS_OF_FEW if self._few else _PARTS)
        problem = replace(problem, tol=SHORT_TOL)
        centred, ties = self.matrix.centred(problem.centring), self._ties
        largest = [problem.counts(side).n_clusters for side in SIDES]
        sizes = list(zip(largest, self.matrix.shape, strict=True))
        grid = len(folds.rows), len(folds.columns)
        errors = [np.zeros((k, n)) for k, n in sizes]
        labels = [np.zeros((k, *grid, n), dtype=np.intp) for k, n in sizes]
        found = folds.learnt(self.matrix, self.open, problem, rng, n_init)
        for (i, j), (part, (U, V)) in found.items():
            views, pairs = part.views(self.open, problem, centred, ties), ((V, U), (U, V))
            paths = [view.path(pair) for view, pair in zip(views, pairs, strict=True)]
            most = [next(path) for path in paths]
            for s, (view, path) in enumerate(zip(views, paths, strict=True)):
                others = most[1 - s][2]
                for each, pair, new in (most[s], *path):
                    k = pair[1].n_clusters - 1
                    errors[s][k, view.held] += view.errors(each.objective, pair, others, new)
                    labels[s][k, i, j, view.known] = pair[1].first
                    labels[s][k, i, j, view.held] = new.first
        n, m = self.matrix.shape
        rows = Curve(errors[0] / m, stability_of(labels[0]), is_told=ties.told[0])
        alike = stability_of(labels[1].swapaxes(1, 2))
        return rows, Curve(errors[1] / n, alike, is_told=ties.told[1])


def _sized(problem: Problem, shape: tuple[int, int]) -> Problem:
    """Return the problem with counts in proportion to a part of the data."""
    rows, columns = (problem.counts(side).resized(n) for side, n in zip(SIDES, shape, strict=True))
    return replace(problem, rows=rows, columns=columns)


def _drawn(
    means: FloatArray, blocks: FloatArray, sizes: FloatArray, squares: FloatArray
) -> FloatArray:
    """Draw means of items over clusters towards those of their blocks, as far as noise asks for."""
    noise = np.maximum(squares - np.square(means) @ sizes, 0.0).sum()
    noise /= max(sizes.sum() - len(sizes), 1.0) * len(means)
    each = noise / np.maximum(sizes, 1)
    apart = float(np.square(means - blocks).mean() - each.mean())
    weights = apart / (apart + each) if apart > 0 else np.zeros(len(sizes))
    return np.asarray(blocks + weights * (means - blocks))


def _taken(features: Features, items: IntArray) -> Features:
    sums, products = features.sums, features.products
    return Features(
        None if sums is None else sums[items],
        features.squares[items],
        None if products is None else products[items],
    )
