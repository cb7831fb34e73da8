"""What the estimators share: running the starts, and comparing new rows with the clusters."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from neocc._typing import BoolArray, FloatArray, IntArray
from neocc.core.engine import Centring
from neocc.core.initialise import NOTHING_KNOWN, Known
from neocc.core.keeping import NOT_KEPT, Keeper
from neocc.core.objectives import Tables
from neocc.core.problem import Problem
from neocc.core.refine import least_gain
from neocc.core.restarts import Init, n_search_steps, run_starts, search
from neocc.core.solve import Solution, centring, checked
from neocc.core.tables import row_tables
from neocc.engines import (
    ENGINE_NAMES,
    AnyEngine,
    ClusterLostError,
    DaskEngine,
    DenseMatrix,
    Matrix,
    MemoryEngine,
    SparseMatrix,
    StoredMatrix,
    Workers,
)
from neocc.engines.cluster import find_client
from neocc.engines.space import EVERYTHING, TableSpace, plan_space
from neocc.engines.stored import source_of
from neocc.estimators._keeping import open_keeper
from neocc.estimators._progress import CallbackSupportMixin, Progress
from neocc.estimators._validation import read_matrix
from neocc.kernels import KERNEL_NAMES, Memberships, get_kernels

SHARED_CONSTRAINTS: dict[str, list[Any]] = {
    "n_init": [Interval(Integral, 1, None, closed="left")],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    "tol": [Interval(Real, 0, None, closed="left")],
    "engine": [StrOptions(set(ENGINE_NAMES))],
    "kernel": [StrOptions(set(KERNEL_NAMES))],
    "n_jobs": [
        None,
        Interval(Integral, None, -1, closed="right"),
        Interval(Integral, 1, None, closed="left"),
    ],
    "random_state": ["random_state"],
    "verbose": ["verbose"],
}
"""Rules for the parameters that all estimators have."""

STORE_CONSTRAINTS: dict[str, Any] = {
    "engine": [
        StrOptions({*ENGINE_NAMES, "dask"}),
        HasMethods(["submit", "map", "gather", "nthreads"]),
    ],
    "checkpoint": "no_validation",
    "memory_limit": [None, str, Interval(Integral, 1, None, closed="left")],
}
"""Rules for the parameters of those that are meant for data larger than memory."""


@dataclass(frozen=True)
class RowModel:
    """All that is needed to compare new rows with the row clusters of a fit."""

    tables: Tables
    V: Memberships | None
    nearest_limit: float
    extra_limit: float
    centring: Centring
    column_effects: FloatArray


class BaseNEO(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, CallbackSupportMixin, BaseEstimator
):
    """Base of all estimators that run the solver of `neocc.core`."""

    _row_model: RowModel
    _row_members: BoolArray

    def _solve(
        self, matrix: Matrix, problem: Problem, init: Init, known: Known = NOTHING_KNOWN
    ) -> None:
        """Run all starts and publish the best; an interrupted fit keeps the best start it has."""
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        rng = np.random.default_rng(seed)
        with Workers(self.n_jobs) as workers:
            space = EVERYTHING
            if not runs_on_cluster(self.engine):
                space = self._planned_space(matrix, problem, init, workers)
            engine = make_engine(matrix, self.kernel, workers, space, self.engine)
            keeper = open_keeper(self, matrix, engine)
            best: Solution | None = keeper.found("best")
            interrupt: KeyboardInterrupt | ClusterLostError | None = None
            try:
                for solution in self._solutions(engine, problem, init, rng, known, keeper):
                    # Of solutions that differ by rounding alone the first is kept.
                    if best is None or solution.objective < best.objective - least_gain(best):
                        best = solution
                        keeper.hold(best=best)
            except (KeyboardInterrupt, ClusterLostError) as error:
                interrupt = error
            if best is not None:
                data = engine.centred(centring(problem))
                if not isinstance(interrupt, ClusterLostError):
                    best, off = checked(data, problem, best)
                    warn_if_inexact(off)
                self._publish(data, problem, best)
                self.n_passes_ = engine.n_passes
                self._published = True
            if interrupt is not None:
                raise interrupt
            if keeper is not NOT_KEPT:
                self.checkpoint.remove()

    def _planned_space(
        self, matrix: Matrix, problem: Problem, init: Init, workers: Workers
    ) -> TableSpace:
        """Divide the memory that a fit of a store may take; data in memory have no limit."""
        source = source_of(matrix)
        if source is None:
            return EVERYTHING
        refine = getattr(self, "refine", False)
        return plan_space(
            source,
            problem,
            workers.n_jobs,
            getattr(self, "memory_limit", None),
            n_held=2 * self.n_init if refine else 1,
            # A search does so with a sample of the rows.
            projected=not refine and init in ("spectral", "sketch", "sdp"),
        )

    def _solutions(
        self,
        engine: AnyEngine,
        problem: Problem,
        init: Init,
        rng: np.random.Generator,
        known: Known,
        keeper: Keeper = NOT_KEPT,
    ) -> Iterator[Solution]:
        """Yield solutions as they are found, and report each step."""
        if getattr(self, "refine", False):
            n_steps = n_search_steps(init, self.n_init)
            progress = Progress(self, "step", n_steps, 0, self.verbose, ends_itself=True)
            steps = search(
                engine,
                problem,
                init,
                self.n_init,
                rng,
                begin=progress.begin,
                stopped=lambda: progress.stopped,
                known=known,
                keeper=keeper,
            )
            for found in progress.around(steps):
                if found is not None:
                    yield found
        else:
            # Given memberships leave nothing to chance: one start tells all.
            n_starts = 1 if isinstance(init, tuple) else self.n_init
            progress = Progress(self, "start", n_starts, problem.max_iter, self.verbose)
            rngs = rng.spawn(n_starts)
            starts = run_starts(
                engine,
                problem,
                init,
                rngs,
                progress.iteration,
                begin=progress.begin,
                known=known,
                keeper=keeper,
            )
            yield from progress.around(starts)
        progress.end()

    def _publish(self, engine: AnyEngine, problem: Problem, solution: Solution) -> None:
        """Set the attributes of the fit; estimators add their own."""
        assert solution.U is not None
        self.objective_ = solution.objective
        self.history_ = solution.history
        self.n_iter_ = solution.n_iter
        self._n_features_out = solution.U.n_clusters
        self._row_members = solution.U.dense
        self._row_model = RowModel(
            row_tables(problem, solution.sums, solution.U, solution.V),
            solution.V,
            *solution.limits,
            centring(problem),
            engine.column_effects,
        )

    @contextmanager
    def _engine_of(self, X: Any) -> Iterator[AnyEngine]:
        """Put new rows into an engine, centred as the rows of the fit were."""
        check_is_fitted(self)
        matrix = read_matrix(self, X, reset=False)
        model = self._row_model
        if model.column_effects.any() and isinstance(matrix, SparseMatrix | StoredMatrix):
            sparse_rows = matrix.scipy() if isinstance(matrix, SparseMatrix) else matrix.rows
            matrix = DenseMatrix(sparse_rows)
        with Workers(self.n_jobs) as workers:
            engine = make_engine(matrix, self.kernel, workers)
            yield engine.centred(model.centring, model.column_effects)

    def predict_membership(self, X: Any) -> BoolArray:
        """Return the memberships of rows, seen or new, in the row clusters of the fit.

        Each row is decided by itself, by the limits that the fit arrived at: it joins its nearest
        cluster if it is no farther than the farthest row the fit accepted at its nearest cluster
        (always, where no outliers were asked for), and any other cluster within the largest
        distance of an extra membership. On the rows of a converged fit this gives the fit's own
        memberships, up to ties at the limits.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            Rows over the columns of the fit.

        Returns
        -------
        membership : ndarray of bool, shape (n_rows, n_row_clusters)
            Memberships; a row without any is an outlier.
        """
        with self._engine_of(X) as engine:
            model = self._row_model
            d, labels, minima = engine.nearest_rows(model.tables, model.V)
        members: BoolArray = d <= model.extra_limit
        members[np.arange(len(d)), labels] |= minima <= model.nearest_limit
        return members

    def predict(self, X: Any) -> BoolArray | IntArray:
        """Return the clusters of rows, seen or new, in the form that fits the model.

        As with scikit-learn's classifiers, whose prediction is a vector of labels or, for
        multi-label problems, an indicator matrix: labels where every row has exactly one cluster
        (no overlap and no outliers asked for), else what `predict_membership` returns.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            Rows over the columns of the fit.

        Returns
        -------
        clusters : ndarray of int, shape (n_rows,), or of bool, shape (n_rows, n_row_clusters)
            Labels or memberships.
        """
        return self._as_prediction(self.predict_membership(X))

    def fit_predict(self, X: Any, y: Any = None) -> BoolArray | IntArray:
        """Fit and return the clusters of the rows of X, in the form of `predict`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            The data.
        y : None
            Ignored.

        Returns
        -------
        clusters : ndarray of int, shape (n_rows,), or of bool, shape (n_rows, n_row_clusters)
            Labels or memberships.
        """
        self.fit(X, y)
        return self._as_prediction(self._row_members)

    def _as_prediction(self, members: BoolArray) -> BoolArray | IntArray:
        if self._row_model.extra_limit == -np.inf and self._row_model.nearest_limit == np.inf:
            labels: IntArray = members.argmax(axis=1)
            return labels
        return members

    def transform(self, X: Any) -> FloatArray:
        """Return the distance of each row to each row cluster.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            Rows, seen or new, over the columns of the fit.

        Returns
        -------
        distances : ndarray of shape (n_rows, n_row_clusters)
            Squared distances as the objective measures them: what each membership would add to it.
            Infinite for a cluster without members.
        """
        with self._engine_of(X) as engine:
            model = self._row_model
            d = engine.row_distances(model.tables, model.V)
        d[:, np.isinf(model.tables.magnitude)] = np.inf
        return np.maximum(d, 0.0, out=d)

    @contextmanager
    def _keeping_earlier_fit(self) -> Iterator[None]:
        """Leave the names of an earlier fit in place when a new one ends with nothing."""
        names = ("n_features_in_", "feature_names_in_")
        earlier = {name: getattr(self, name) for name in names if hasattr(self, name)}
        self._published = False
        try:
            yield
        except BaseException:
            if not self._published:
                for name in names:
                    self.__dict__.pop(name, None)
                self.__dict__.update(earlier)
            raise
        finally:
            del self._published

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_row_model")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class PrecisionWarning(UserWarning):
    """Rounding errors are not small against the objective."""


def warn_if_inexact(off: float) -> None:
    """Warn if the sums that decide over memberships were off by more than a thousandth."""
    if off > 1e-3:
        warnings.warn(
            "Clusters lie at levels so far apart that rounding hides the spread within them: the "
            f"sums behind the memberships are off by {off:.1%} of the objective. Subtract column "
            "means or scale the columns first.",
            PrecisionWarning,
            stacklevel=2,
        )


def make_engine(
    matrix: Matrix,
    kernel: str,
    workers: Workers,
    space: TableSpace = EVERYTHING,
    where: Any = "auto",
) -> AnyEngine:
    """Put a matrix, in memory or on disk, into the engine of one machine or of a cluster."""
    if runs_on_cluster(where):
        return DaskEngine.of_matrix(matrix, find_client(where), kernel, workers)
    return MemoryEngine(matrix, get_kernels(kernel, matrix.n_stored), workers, space)


def runs_on_cluster(engine: Any) -> bool:
    """Whether an `engine` names a cluster: "dask", or a client."""
    return engine == "dask" or not isinstance(engine, str)
