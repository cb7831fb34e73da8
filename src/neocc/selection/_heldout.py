"""Held-out blocks: how well clusters of some rows and columns predict cells of the others.

Bi-cross-validation (Owen and Perry, "Bi-cross-validation of the SVD and the nonnegative matrix
factorization", 2009): rows and columns are cut into halves. Clusters are found in one quarter of
the matrix; the other rows join them by their cells in its columns, the other columns by their cells
in its rows, and the opposite quarter, which nobody has seen, is predicted. For "mean" a row in
cluster i is predicted to have

    x_pt = M_ij + w_i (C_it - M_ij)

in column t, with C_it the mean of the column over known rows of the cluster, M the block means, and
w the weight that noise leaves to single columns (empirical Bayes): with few columns these speak for
themselves, with thousands their blocks do. Columns likewise. For "residue" it is the additive model
of a block, x_pt = A_pj + C_it - M_ij, with A_pj the mean of the row over known columns. Errors are
sums over features, as distances are: no table of predictions is made.

Every quarter is clustered once, with many clusters on both sides. Those of one side are then merged
one by one, each time followed by a few iterations, while the other side keeps its many: how many
clusters rows have does not depend on how many columns should have.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import prod
from typing import TypeAlias

import numpy as np

from neocc._typing import FloatArray, IntArray
from neocc.core.engine import Engine
from neocc.core.objectives import Objective, Side
from neocc.core.problem import Problem
from neocc.core.search import run_starts
from neocc.core.solve import Solution, solve
from neocc.core.steps import join, make_features, make_terms
from neocc.kernels import Features, Memberships
from neocc.selection._curves import SIDES, Curve, stability_of, with_clusters
from neocc.selection._grid import merged

__all__ = ["Blocks", "Folds", "held_out_curves"]

Both: TypeAlias = tuple[Memberships, Memberships]
_SHORT_TOL = 1e-3
_ROUNDING = 1e-12
# Tables of few cells are cut more often, into thirds: what one cut shows of them is mostly chance,
# and half of their rows and columns are too few to learn from.
_CUTS, _CUTS_OF_FEW, _FEW_CELLS = 3, 4, 1000
_PARTS, _PARTS_OF_FEW = 2, 3


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

    def part(self, engine: Engine, data: Engine, i: int, j: int) -> Part:
        """Hold out part i of the rows and part j of the columns of data, as given and centred."""
        n, m = engine.shape
        held = self.rows[i], self.columns[j]
        known = np.delete(np.arange(n), held[0]), np.delete(np.arange(m), held[1])
        old, new = (data.sample("rows", rows) for rows in (known[0], held[0]))
        return Part(
            engine.sample("rows", known[0]).sample("columns", known[1]),
            old.sample("columns", known[1]),
            new.sample("columns", known[1]),
            old,
            new.sample("columns", held[1]),
            known,
            held,
        )


@dataclass(frozen=True)
class Part:
    """What is known, as given and centred, new rows of known columns, all columns of known rows.

    Cells of new rows and new columns are `unseen`.
    """

    given: Engine
    data: Engine
    new_rows: Engine
    all_columns: Engine
    unseen: Engine
    known: tuple[IntArray, IntArray]
    held: tuple[IntArray, IntArray]

    def learnt(self, problem: Problem, rng: np.random.Generator, n_init: int) -> Solution:
        """Return the best of a few short runs."""
        problem = replace(self.sized(problem), tol=_SHORT_TOL)
        runs = run_starts(self.given, problem, "neo-kmeans", rng.spawn(n_init))
        best = min(runs, key=lambda run: run.objective)
        return solve(self.data, problem, best.pair)

    def sized(self, problem: Problem, part: Engine | None = None) -> Problem:
        """Return the problem with counts in proportion to a part: by default what is known."""
        sizes = zip(SIDES, (part or self.data).shape, strict=True)
        rows, columns = (problem.counts(side).resized(n) for side, n in sizes)
        return replace(problem, rows=rows, columns=columns)

    def path(self, problems: list[Problem], found: Solution) -> Iterator[Solution]:
        """Yield solutions with fewer and fewer clusters, each from the one before."""
        for each in problems:
            problem = replace(self.sized(each), tol=_SHORT_TOL)
            found = solve(self.data, problem, merged(self.data, problem, found))
            yield found

    def joined(self, problem: Problem, found: Solution) -> Both:
        """Return the memberships of new rows and of new columns in the clusters found.

        As in a fit no cluster stays empty: new items pay for clusters that they do not need.
        """
        U, V = found.pair
        assert U is not None and V is not None
        features = make_features(self.data, problem, found.pair)
        terms = make_terms(problem, "rows", features, found.pair)
        sized = self.sized(problem, self.unseen)
        rows = join(self.new_rows, sized, "rows", terms, None, V).members
        terms = make_terms(problem, "columns", features, found.pair)
        # New columns are in no cluster yet.
        labels = np.full(self.all_columns.shape[1], -1, dtype=np.int32)
        labels[self.known[1]] = V.first
        more = self.known[1][V.extra_items]
        wide = Memberships(labels, more, V.extra_clusters, V.n_clusters)
        pair = (U, problem.overlap_model.weighted(wide))
        features = make_features(self.all_columns, problem, pair)
        features = _taken(features, self.held[1])
        return rows, join(self.data, sized, "columns", terms, None, U, features).members

    def errors(
        self,
        objective: Objective,
        found: Solution,
        new: tuple[Memberships, Memberships],
        side: Side,
    ) -> FloatArray:
        """Return the sum of squared errors of the unseen cells of each row, or of each column."""
        P, Q = self.factors(objective, found, new, side)
        if side == "rows":
            squares, products = self.unseen.row_squares(), self.unseen.multiply(Q.T)
        else:
            squares, products = self.unseen.column_squares(), self.unseen.multiply_transposed(P)
            P, Q = Q.T, P.T
        own = P @ (Q @ Q.T) - 2.0 * products
        errors: FloatArray = squares + np.einsum("pi,pi->p", P, own)
        # Cells that are predicted exactly, but for rounding, have no error.
        return np.where(errors <= _ROUNDING * squares, 0.0, errors)

    def factors(
        self,
        objective: Objective,
        found: Solution,
        new: tuple[Memberships, Memberships],
        side: Side,
    ) -> tuple[FloatArray, FloatArray]:
        """Return two thin tables whose product predicts the unseen cells."""
        U, V = found.pair
        assert U is not None and V is not None
        M = objective.block_means(found.features, U, V)
        u, v = (_shares(members) for members in new)
        if side == "rows" or objective.per_item:
            held = self.held[1]
            C = self.all_columns.multiply_transposed(_means(U))[held]
        if side == "columns" or objective.per_item:
            A = self.new_rows.multiply(_means(V))
        if objective.per_item:
            return np.hstack([u, A]), np.vstack([C.T - M @ v.T, v.T])
        if side == "rows":
            return u, _drawn(C, v @ M.T, U, self.all_columns.column_squares()[held]).T
        return _drawn(A, u @ M, V, self.new_rows.row_squares()), v.T


@dataclass(frozen=True)
class Blocks:
    """Data of which blocks of rows and columns are held out."""

    engine: Engine

    # How many clusters to begin with.
    first = 16

    @property
    def _few(self) -> bool:
        shape = self.engine.shape
        return prod(shape) < _FEW_CELLS and min(shape) > _PARTS_OF_FEW

    @property
    def n_cuts(self) -> int:
        """Number of cuts that tell enough."""
        return _CUTS_OF_FEW if self._few else _CUTS

    def curves(
        self, problem: Problem, rng: np.random.Generator, n_init: int
    ) -> tuple[Curve, Curve]:
        """Return the curves of rows and of columns from one cut."""
        n_parts = _PARTS_OF_FEW if self._few else _PARTS
        folds = Folds.draw(self.engine.shape, rng, n_parts)
        return held_out_curves(self.engine, problem, folds, rng, n_init)


def held_out_curves(
    engine: Engine, problem: Problem, folds: Folds, rng: np.random.Generator, n_init: int
) -> tuple[Curve, Curve]:
    """Return the curves of rows and of columns up to the numbers of clusters of a problem."""
    data = engine.centred(problem.centring)
    largest = [problem.counts(side).n_clusters for side in SIDES]
    sizes = list(zip(largest, engine.shape, strict=True))
    grid = len(folds.rows), len(folds.columns)
    errors = [np.zeros((k, n)) for k, n in sizes]
    labels = [np.zeros((k, *grid, n), dtype=np.intp) for k, n in sizes]
    for i, j in np.ndindex(grid):
        part = folds.part(engine, data, i, j)
        most = part.learnt(problem, rng, n_init)
        for s, side in enumerate(SIDES):
            numbers = range(largest[s], 0, -1)
            problems = [with_clusters(problem, side, k) for k in numbers]
            for k, each, found in zip(numbers, problems, part.path(problems, most), strict=True):
                new, own = part.joined(each, found), found.pair[s]
                assert own is not None
                errors[s][k - 1, part.held[s]] += part.errors(each.objective, found, new, side)
                labels[s][k - 1, i, j, part.known[s]] = own.first
                labels[s][k - 1, i, j, part.held[s]] = new[s].first
    n, m = engine.shape
    rows = Curve(errors[0] / m, stability_of(labels[0]))
    return rows, Curve(errors[1] / n, stability_of(labels[1].swapaxes(1, 2)))


def _drawn(
    means: FloatArray, blocks: FloatArray, members: Memberships, squares: FloatArray
) -> FloatArray:
    """Draw means of items over clusters towards those of their blocks, as far as noise asks for."""
    sizes = members.dense.sum(axis=0)
    noise = np.maximum(squares - np.square(means) @ sizes, 0.0).sum()
    noise /= max(sizes.sum() - len(sizes), 1.0) * len(means)
    each = noise / np.maximum(sizes, 1)
    apart = float(np.square(means - blocks).mean() - each.mean())
    weights = apart / (apart + each) if apart > 0 else np.zeros(len(sizes))
    return np.asarray(blocks + weights * (means - blocks))


def _shares(members: Memberships) -> FloatArray:
    """Return memberships, those of an item divided by their number."""
    dense = members.dense
    return np.asarray(dense / np.maximum(dense.sum(axis=1, keepdims=True), 1))


def _means(members: Memberships) -> FloatArray:
    """Return what data are multiplied by to give means over clusters."""
    dense = members.dense
    return np.asarray(dense / np.maximum(dense.sum(axis=0), 1))


def _taken(features: Features, items: IntArray) -> Features:
    sums, products = features.sums, features.products
    return Features(
        None if sums is None else sums[items],
        features.squares[items],
        None if products is None else products[items],
    )
