"""How stable a co-clustering is: the problem solved from other starts, or on resampled rows."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from neocc._typing import BoolArray
from neocc.core.engine import Engine
from neocc.core.objectives import COCLUSTERING, COUNTS, Objective, make_objective
from neocc.core.overlap import REPEAT, cost_of_outliers
from neocc.core.problem import Problem
from neocc.core.samples import Sample, extend_to_all
from neocc.core.search import run_starts, search
from neocc.core.solve import Solution, solve
from neocc.core.steps import Pair
from neocc.engines.validation import check_paired
from neocc.kernels import Memberships
from neocc.selection._agreement import SideAgreement
from neocc.selection._data import (
    check_choice,
    check_positive,
    counts_of,
    is_true,
    make_rng,
    opened,
    read,
    without_biases,
)
from neocc.selection._stability_result import Stability

__all__ = ["stability"]

logger = logging.getLogger("neocc")

_PAIRS_UP_TO = 2000
_REFERENCE_STARTS = 10


def stability(
    X: Any,
    n_row_clusters: int,
    n_column_clusters: int,
    *,
    method: str = "restarts",
    n_runs: int = 20,
    n_init: int = 1,
    objective: str = "mean",
    row_overlap: float = 0.0,
    row_outliers: float = 0.0,
    column_overlap: float = 0.0,
    column_outliers: float = 0.0,
    missing: str = "zero",
    remove_effects: bool = False,
    shrinkage: float = 10.0,
    reference: Any = None,
    co_association: bool | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    callback: Callable[[int, int], Any] | None = None,
) -> Stability:
    """Measure how stable rows, columns and clusters are.

    A reference solution is compared with many others. Clusters are matched one to one (the
    Hungarian method on Jaccard indices); the confidence of a row, column or cluster is its mean
    agreement. Interrupting (Ctrl-C) returns the result of the runs so far.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_rows, n_columns)
        The data.
    n_row_clusters, n_column_clusters : int
        Numbers of clusters.
    method : {"restarts", "bootstrap"}, default="restarts"
        "restarts" solves the problem from other random starts: are there other solutions?
        "bootstrap" searches for the best solution on rows drawn with replacement and then assigns
        all rows to its clusters: would other rows have given the same clusters? It takes longer.
    n_runs : int, default=20
        Number of restarts or samples.
    n_init : int, default=1
        Effort of each run. Restarts: the best of this many starts. Samples: a search like that of
        `NEOCC` with this many starts. More effort separates real alternatives from poor solutions.
    objective : {"mean", "residue", "poisson", "diagonal", "modularity"}, default="mean"
        As in `NEOCC`.
    row_overlap, row_outliers, column_overlap, column_outliers : float, default=0.0
        Fractions as in `NEOCC`.
    missing, remove_effects, shrinkage : default="zero", False and 10
        As in `NEOCC`: whether only observed cells count ("ignore"), without their effects, and what
        means of few of them are shrunk by. Effects are those of all rows, for samples too.
    reference : fitted estimator or pair of membership matrices, optional
        The solution to assess, with `row_membership_` and `column_membership_`, or as (U, V). By
        default, the best that a search like that of `NEOCC` finds.
    co_association : bool, optional
        Whether to count how often two rows share a cluster, in an (n_rows, n_rows) table. By
        default, for up to 2000 rows.
    random_state : int, RandomState or None, default=None
        Seed.
    n_jobs : int or None, default=None
        Number of threads, all by default. The result does not depend on it.
    callback : callable, optional
        Called after each run with the number of runs done and the total; returning True ends the
        analysis, like an interrupt. Each run is also logged (logger "neocc", level INFO).

    Returns
    -------
    stability : Stability
        Confidences; it can be printed and plotted.

    Examples
    --------
    >>> import numpy as np
    >>> from neocc.selection import stability
    >>> rng = np.random.default_rng(0)
    >>> X = np.kron([[0, 5], [5, 0]], np.ones((20, 10))) + rng.normal(size=(40, 20))
    >>> X[0] = 2.5  # between the clusters
    >>> found = stability(X, 2, 2, method="bootstrap", n_runs=10, random_state=0)
    >>> bool(found.row_confidence[0] < found.row_confidence[1:].min())
    True
    >>> found.row_cluster_confidence.round(1)
    array([1., 1.])
    """
    check_choice("method", method, ("restarts", "bootstrap"))
    check_choice("objective", objective, (*COCLUSTERING, *COUNTS))
    n_runs, n_init = check_positive("n_runs", n_runs), check_positive("n_init", n_init)
    k, other = (
        check_positive("n_row_clusters", n_row_clusters),
        check_positive("n_column_clusters", n_column_clusters),
    )
    check_choice("missing", missing, ("zero", "ignore"))
    if remove_effects and missing == "zero":
        raise ValueError('remove_effects=True is for observed cells: give missing="ignore" too.')
    if not 0.0 <= shrinkage < np.inf:
        raise ValueError(f"shrinkage must be a number, not negative; got {shrinkage!r}.")
    fractions = (row_overlap, column_overlap, row_outliers, column_outliers)
    asked = _objective(objective, missing, shrinkage, fractions)
    matrix = read(X, observed=asked.needs_counts)
    if asked.needs_counts:
        matrix = without_biases(matrix, n_jobs, effects=remove_effects)
    n, m = matrix.shape
    rows = counts_of("rows", n, k, row_overlap, row_outliers)
    columns = counts_of("columns", m, other, column_overlap, column_outliers)
    check_paired(asked, k, other)
    problem = Problem(asked, rows, columns)
    given = None if reference is None else _read_reference(reference, (n, k), (m, other))
    rng = make_rng(random_state)
    with opened(matrix, n_jobs) as engine:
        problem.objective.check(engine)
        runs = _Runs(engine, engine.centred(problem.centring), problem, method, n_init)
        best = runs.judged(given) if given is not None else runs.searched(rng)
        with_pairs = n <= _PAIRS_UP_TO if co_association is None else bool(co_association)
        return _collect(runs, best, rng.spawn(n_runs), with_pairs, callback)


def _objective(
    name: str, missing: str, shrinkage: float, fractions: tuple[float, ...]
) -> Objective:
    """Return the objective that `NEOCC` has for these fractions of overlap, then of outliers."""
    cost = "auto"
    if missing == "ignore":
        overlaps, left_out = any(fractions[:2]), any(fractions[2:])
        cost = cost_of_outliers(REPEAT.name, overlaps=overlaps, left_out=left_out)
    return make_objective(name, cost, missing=missing, shrinkage=shrinkage)


@dataclass(frozen=True)
class _Runs:
    """A problem with its data, as given and centred, and the way to vary it."""

    engine: Engine
    data: Engine
    problem: Problem
    method: str
    n_init: int

    def judged(self, given: Pair) -> Solution:
        """Return given memberships as a solution."""
        return solve(self.data, replace(self.problem, max_iter=0), given)

    def searched(self, rng: np.random.Generator, engine: Engine | None = None) -> Solution:
        """Return the best solution that a search finds."""
        n_starts = _REFERENCE_STARTS if engine is None else self.n_init
        data = engine or self.engine
        return _lowest(search(data, self.problem, "neo-kmeans", n_starts, rng, thorough=True))

    def solutions(self, rngs: list[np.random.Generator]) -> Iterator[Solution]:
        """Yield the solution of each run on all of the data."""
        return map(self.restarted if self.method == "restarts" else self.resampled, rngs)

    def restarted(self, rng: np.random.Generator) -> Solution:
        """Solve from new starts."""
        rngs = rng.spawn(self.n_init)
        return _lowest(run_starts(self.engine, self.problem, "neo-kmeans", rngs))

    def resampled(self, rng: np.random.Generator) -> Solution:
        """Solve on rows drawn with replacement and let all rows join the clusters found."""
        n = self.engine.shape[0]
        rows = np.sort(rng.integers(n, size=n))
        some = self.engine.sample("rows", rows)
        found = self.searched(rng, some)
        # Centred like the whole, so that its clusters can be compared with all rows.
        few = Sample(some, self.data.sample("rows", rows), self.problem)
        return self.judged(extend_to_all(few, found.pair, self.data, self.problem))


def _lowest(solutions: Iterable[Solution]) -> Solution:
    return min(solutions, key=lambda solution: solution.objective)


def _collect(
    runs: _Runs,
    best: Solution,
    rngs: list[np.random.Generator],
    with_pairs: bool,
    callback: Callable[[int, int], Any] | None,
) -> Stability:
    assert best.U is not None and best.V is not None
    rows = SideAgreement.empty(best.U.dense, with_pairs=with_pairs)
    columns = SideAgreement.empty(best.V.dense, with_pairs=False)
    objectives: list[float] = []
    try:
        for solution in runs.solutions(rngs):
            assert solution.U is not None and solution.V is not None
            rows.add(solution.U.dense)
            columns.add(solution.V.dense)
            objectives.append(solution.objective)
            logger.info("run %d/%d: objective %.6g", len(objectives), len(rngs), solution.objective)
            if callback is not None and is_true(callback(len(objectives), len(rngs))):
                break
    except KeyboardInterrupt:
        if not objectives:
            raise
        logger.info("interrupted after %d of %d runs", len(objectives), len(rngs))
    n = len(objectives)
    return Stability(
        rows.items / n,
        columns.items / n,
        rows.clusters / n,
        columns.clusters / n,
        None if rows.together is None else rows.together / n,
        best.U.dense,
        best.V.dense,
        runs.method,
        np.array(objectives),
        best.objective,
        len(rngs),
    )


def _read_reference(
    reference: Any, row_shape: tuple[int, int], column_shape: tuple[int, int]
) -> tuple[Memberships, Memberships]:
    if hasattr(reference, "row_membership_"):
        reference = reference.row_membership_, reference.column_membership_
    if not isinstance(reference, tuple | list) or len(reference) != 2:
        raise ValueError("reference must be a fitted estimator or a pair (U, V) of memberships.")
    sides = []
    for name, given, shape in zip("UV", reference, (row_shape, column_shape), strict=True):
        values = np.asarray(given)
        if values.shape != shape or not np.isin(values, (0, 1)).all():
            raise ValueError(
                f"{name} of reference must hold 0 and 1 in shape {shape}; got {values.shape}."
            )
        members: BoolArray = values.astype(bool)
        sides.append(Memberships.from_dense(members))
    return sides[0], sides[1]
