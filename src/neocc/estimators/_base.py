"""What the estimators share: running the starts and publishing the best solution."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from neocc.core.initialise import NOTHING_KNOWN, Known
from neocc.core.keeping import NOT_KEPT, Keeper
from neocc.core.problem import Problem
from neocc.core.refine import least_gain
from neocc.core.restarts import Init, n_search_steps, run_starts, search
from neocc.core.solve import Solution, centring, checked
from neocc.core.tables import row_tables
from neocc.engines import (
    ENGINE_NAMES,
    AnyEngine,
    ClusterLostError,
    Matrix,
    Workers,
)
from neocc.engines.space import EVERYTHING
from neocc.estimators._engines import make_engine, planned_space, runs_on_cluster
from neocc.estimators._keeping import open_keeper
from neocc.estimators._progress import CallbackSupportMixin, Progress
from neocc.estimators._rows import RowModel, RowsMixin
from neocc.kernels import KERNEL_NAMES

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


class BaseNEO(
    ClassNamePrefixFeaturesOutMixin,
    RowsMixin,
    CallbackSupportMixin,
    BaseEstimator,
):
    """Base of all estimators that run the solver of `neocc.core`."""

    def _solve(
        self, matrix: Matrix, problem: Problem, init: Init, known: Known = NOTHING_KNOWN
    ) -> None:
        """Run all starts and publish the best; an interrupted fit keeps the best start it has."""
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        rng = np.random.default_rng(seed)
        with Workers(self.n_jobs) as workers:
            space = EVERYTHING
            if not runs_on_cluster(self.engine):
                space = planned_space(self, matrix, problem, init, workers)
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
