"""Held-out cells: how well clusters of counts, or of observed cells, predict the others.

No rows or columns need be left out of such data. Observed cells are cut into parts at random.
Counts are thinned: each of the things counted falls into one of the parts (Neufeld, Dharamshi, Gao
and Witten, "Data thinning for convolution-closed distributions", 2024). If all parts are equally
likely, those of a Poisson variable are independent. Real counts vary more. Then things in the same
cell keep together: how likely its parts are is drawn for each cell, from a Dirichlet distribution.
If the parameters of that add up to the size of a negative binomial variable, its parts are
independent; those of any variable with the same mean and variance are uncorrelated.

Clusters are found in all parts but one, and what the objective would charge for the cells of that
one, in the same clusters and at the same rates or means, is the error: squares of observed cells,
and the deviance of counts.

As in `_heldout`, data are clustered once with many clusters on both sides; those of one side, seen
as the columns of a matrix, are then merged one by one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from neocc._typing import FloatArray
from neocc.core.objectives import Objective
from neocc.core.problem import Problem
from neocc.core.search import run_starts
from neocc.core.steps import make_features, make_terms
from neocc.engines import Matrix
from neocc.engines.matrix import SparseMatrix, packed
from neocc.engines.observed import ObservedMatrix
from neocc.engines.reading import as_matrix
from neocc.kernels import Features, numpy_
from neocc.selection._curves import (
    SHORT_TOL,
    SIDES,
    Curve,
    fewer_columns,
    stability_of,
    turned,
)
from neocc.selection._data import Open
from neocc.selection._dispersion import negative_binomial_size

__all__ = ["Cells"]

_PARTS = 5


@dataclass
class Cells:
    """Data whose cells are held out; the size of counts is that of negative binomial ones."""

    matrix: Matrix
    open: Open
    size: float | None = None

    n_cuts, usual = 2, 2
    # With more clusters than these sparse data tell mostly of noise, on the other side too.
    first = 8

    def curves(
        self, problem: Problem, rng: np.random.Generator, n_init: int
    ) -> tuple[Curve, Curve]:
        """Return the curves of rows and of columns from one cut into parts."""
        problem = replace(problem, objective=_squared(problem.objective), tol=SHORT_TOL)
        cells = _in_memory(self.matrix)
        if self.size is None and problem.objective.of_counts:
            self.size = negative_binomial_size(cells, self.open, problem, rng)
        sizes = [(problem.counts(s).n_clusters, problem.counts(s).n_items) for s in SIDES]
        errors = [np.zeros((k, n)) for k, n in sizes]
        labels = [np.zeros((k, _PARTS, 1, n), dtype=np.intp) for k, n in sizes]
        for part, (known, held) in enumerate(_cut(cells, self.size, rng)):
            runs = run_starts(self.open(known), problem, "neo-kmeans", rng.spawn(n_init))
            U, V = min(runs, key=lambda run: run.objective).pair
            assert U is not None and V is not None
            views = (
                (known.transposed(), held.transposed(), turned(problem), (V, U)),
                (known, held, problem, (U, V)),
            )
            for s, (seen, unseen, own, pair) in enumerate(views):
                data = self.open(seen)
                features = make_features(data, own, pair)
                new = make_features(self.open(unseen), own, pair)
                least = _saturated(unseen, own.objective)
                for each, found in fewer_columns(data, own, pair):
                    k, at = found[1].n_clusters - 1, found[1].first
                    costs = _costs(each, features, new, found)
                    errors[s][k] += least + costs[np.arange(len(at)), at]
                    labels[s][k, part, 0] = at
        size = _size(cells, problem.objective)
        rows, columns = (
            Curve(each * (each.shape[1] / size), stability_of(runs), of_halves=False)
            for each, runs in zip(errors, labels, strict=True)
        )
        return rows, columns


def _squared(objective: Objective) -> Objective:
    """Return an objective of observed cells with their squares; counts have none."""
    return replace(objective, background=False) if objective.needs_counts else objective


def _costs(problem: Problem, features: Features, new: Features, pair: Any) -> FloatArray:
    """Return what columns cost, by their features in unseen cells, in the clusters of the data."""
    return numpy_.distances(new, make_terms(problem, "columns", features, pair))


def _in_memory(matrix: Matrix) -> Any:
    """Return the cells as CSR; the imaginary part of those that have weights is the weight."""
    if not isinstance(matrix, SparseMatrix):
        return sparse.csr_array(matrix.block(0, matrix.shape[0]))
    cells = sparse.csr_array(packed(matrix.values[:], matrix.weights))
    return cells.astype(np.result_type(cells.dtype, np.float64))


def _cut(
    cells: Any, size: float | None, rng: np.random.Generator
) -> Iterator[tuple[Matrix, Matrix]]:
    """Yield what is known and what is held out, part by part; observed cells have no size."""
    if size is None:
        parts = rng.integers(_PARTS, size=len(cells.data))
        for part in range(_PARTS):
            known, held = (_some(cells, own) for own in (parts != part, parts == part))
            yield ObservedMatrix.of_rows(known), ObservedMatrix.of_rows(held)
        return
    thinned = _thinned(cells.data, size, rng)
    for part in range(_PARTS):
        both = (cells.data - thinned[:, part], thinned[:, part])
        known, held = (_some(cells, data != 0, data) for data in both)
        yield as_matrix(known), as_matrix(held)


def _thinned(counts: FloatArray, size: float, rng: np.random.Generator) -> FloatArray:
    """Let each of the things counted fall into a part; what is left of a whole falls as one."""
    likely = np.full(_PARTS, 1.0 / _PARTS)
    if np.isfinite(size):
        likely = rng.dirichlet(size * likely, len(counts))
    whole = np.floor(np.maximum(counts, 0.0))
    parts = rng.multinomial(whole.astype(np.int64), likely).astype(float)
    parts += rng.multinomial(1, likely, len(counts)) * (counts - whole)[:, None]
    return np.asarray(parts)


def _some(cells: Any, own: Any, data: FloatArray | None = None) -> Any:
    """Return a matrix of some of the stored cells, with other data if these are given."""
    indptr = np.concatenate([[0], np.cumsum(own)])[cells.indptr].astype(cells.indptr.dtype)
    kept = (cells.data if data is None else data)[own]
    return sparse.csr_array((kept, cells.indices[own], indptr), shape=cells.shape)


def _saturated(held: Matrix, objective: Objective) -> FloatArray | float:
    """Return what counts of columns cost against independence if each had a rate of its own.

    The objective charges relative to independence; with this the error is a deviance.
    """
    if objective.needs_counts:
        return 0.0
    X = held.values.tocoo()
    places = (X.row, X.col)
    rows, columns = (np.bincount(at, X.data, n) for at, n in zip(places, X.shape, strict=True))
    expected = rows[X.row] * columns[X.col] / max(X.data.sum(), 1e-300)
    costs = np.bincount(X.col, X.data * np.log(X.data / expected), X.shape[1])
    return np.asarray(costs, dtype=np.float64)


def _size(cells: Any, objective: Objective) -> float:
    """Return how many cells were observed, or things counted, to tell an error by."""
    total = len(cells.data) if objective.needs_counts else float(cells.data.sum())
    return max(float(total), 1e-300)
