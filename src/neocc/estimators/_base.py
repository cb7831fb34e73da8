"""What the estimators share: running the starts and publishing the best solution."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin
from sklearn.utils import check_random_state

from neocc._sklearn import HasMethods, Interval, StrOptions
from neocc.core.checkpoints import NO_JOURNAL, Journal
from neocc.core.engine import Engine
from neocc.core.objectives import OUTLIER_COSTS
from neocc.core.overlap import OVERLAP_MODELS, OverlapModel, bounded_model, compared_models
from neocc.core.problem import Problem
from neocc.core.samples import SAMPLING, Sampling
from neocc.core.search import (
    Init,
    least_gain,
    n_search_steps,
    search,
)
from neocc.core.solve import Solution, checked
from neocc.core.steps import make_terms
from neocc.engines import ENGINE_NAMES, Matrix
from neocc.estimators._checkpoints import open_journal
from neocc.estimators._engines import LOST, opened_engine, running
from neocc.estimators._labels import row_labels
from neocc.estimators._overlap import OverlapChoice, choose_overlap_model
from neocc.estimators._precision import warn_if_inexact
from neocc.estimators._progress import CallbackSupportMixin, Progress
from neocc.estimators._rows import RowModel, RowsMixin
from neocc.estimators._tables import RowTableMixin
from neocc.kernels import GPU, KERNEL_NAMES

SHARED_CONSTRAINTS: dict[str, list[Any]] = {
    "n_init": [Interval(Integral, 1, None, closed="left")],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    "tol": [Interval(Real, 0, None, closed="left")],
    "engine": [StrOptions(set(ENGINE_NAMES))],
    "kernel": [StrOptions({*KERNEL_NAMES, GPU})],
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


OVERLAP_CONSTRAINTS: dict[str, Any] = {
    "overlap_model": [StrOptions({*OVERLAP_MODELS, "auto"})],
    "max_memberships": [None, Interval(Integral, 1, None, closed="left")],
    "outlier_cost": [StrOptions(set(OUTLIER_COSTS))],
    "min_cluster_size": [Interval(Integral, 1, None, closed="left")],
}
"""Rules for the parameters of those whose clusters overlap."""

# About how many iterations a start takes, and what a search spends in its place.
_START, _SEARCH = 40, 200


class BaseNEO(
    ClassNamePrefixFeaturesOutMixin,
    RowTableMixin,
    RowsMixin,
    CallbackSupportMixin,
    BaseEstimator,
):
    """Base of all estimators that run the solver of `neocc.core`."""

    _sampling: ClassVar[Sampling] = SAMPLING
    overlap_choice_: OverlapChoice | None

    def _solve(self, matrix: Matrix, problem: Problem, init: Init) -> None:
        """Run all starts and publish the best; an interrupted fit keeps the best start it has."""
        rng, asked = self._make_rng(), problem
        problem = asked.plainest
        n_iterations = self.n_init * (_SEARCH if self._searches else _START) * problem.n_sums
        with opened_engine(self, matrix, problem, init, n_iterations) as engine:
            problem = problem.sparing_all_zero(engine)
            journal = open_journal(self, matrix, engine, problem)
            best: Solution | None = journal.found("best")
            interrupt: BaseException | None = None
            try:
                with running(self.engine):
                    for solution in self._solutions(engine, problem, init, rng, journal):
                        # Of solutions that differ by rounding alone the first is kept.
                        if best is None or solution.objective < best.objective - least_gain(best):
                            best = solution
                            best.fetch()
                            journal.hold(best=best)
            except (KeyboardInterrupt, *LOST) as error:
                interrupt = error
            if best is not None:
                data = engine.centred(problem.centring)
                known: tuple[Any, ...] = ()
                if not isinstance(interrupt, LOST):
                    best, off = checked(data, problem, best)
                    warn_if_inexact(off)
                    known = data, asked, matrix
                labels = self._labels(best, *known)
                self._publish(data, asked, best)
                self.__dict__.update(labels)
                self.n_passes_ = engine.reads.passes
                self._published = True
            if interrupt is not None:
                try:
                    raise interrupt
                finally:
                    del interrupt
            if journal.is_kept:
                self.checkpoint.remove()

    def _solutions(
        self,
        engine: Engine,
        problem: Problem,
        init: Init,
        rng: np.random.Generator,
        journal: Journal = NO_JOURNAL,
    ) -> Iterator[Solution]:
        """Yield solutions as they are found, and report each step."""
        refine = getattr(self, "refine", False)
        efforts = {"plain": not self._searches, "thorough": refine == "thorough"}
        n_steps = n_search_steps(init, self.n_init, **efforts)
        word, n_iterations = ("step", 0) if self._searches else ("start", problem.max_iter)
        progress = Progress(self, word, n_steps, n_iterations, self.verbose, ends_itself=True)
        steps = search(
            engine,
            problem if self._searches else self._first_problem(problem),
            init,
            self.n_init,
            rng,
            **efforts,
            begin=progress.begin,
            stopped=lambda: progress.stopped,
            report=None if self._searches else progress.report,
            journal=journal,
            sampling=self._sampling,
        )
        if not self._searches:
            data = engine.centred(problem.centring)
            steps = (self._finished(data, problem, each) for each in steps)
        yield from progress.around(steps)
        progress.end()

    @property
    def _searches(self) -> bool:
        """Whether starts are spent on a search."""
        return getattr(self, "refine", False) in (True, "thorough")

    def _with_overlap_model(self, matrix: Matrix, problem: Problem, init: Init) -> Problem:
        """Return the problem, with an overlap model chosen for the data if that is "auto"."""
        self.overlap_choice_ = None
        if self.overlap_model != "auto":
            return problem
        objective = problem.objective.kind
        models = [
            self._make_model(objective, name)
            for name in compared_models(objective, problem.columns)
        ]
        problems = [replace(problem, overlap_model=model) for model in models]
        rng = self._make_rng()
        with opened_engine(self, matrix, problem, init) as engine:
            choice = self.overlap_choice_ = choose_overlap_model(engine, problems, init, rng)
        return next(each for each in problems if each.overlap_model.name == choice.model)

    def _make_rng(self) -> np.random.Generator:
        return np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))

    def _make_model(self, objective: str, name: str | None = None) -> OverlapModel:
        """Return the model that the parameters ask for, or the first to try if that is "auto"."""
        if self.overlap_model != "auto":
            name = name or self.overlap_model
        name = name or compared_models(objective)[0]
        names = ("row_overlap", "column_overlap", "overlap")
        overlaps = [getattr(self, each, None) for each in names]
        return bounded_model(name, self.max_memberships, objective, overlaps)

    def _first_problem(self, problem: Problem) -> Problem:
        """Return the problem that plain starts begin with."""
        return problem

    def _finished(self, data: Engine, problem: Problem, start: Solution) -> Solution:
        """Carry a plain start on, given the data centred for its problem."""
        return start

    def _publish(self, engine: Engine, problem: Problem, solution: Solution) -> None:
        """Set the attributes of the fit; estimators add their own."""
        assert solution.U is not None
        self.objective_ = solution.objective
        if hasattr(self, "outlier_cost"):
            self.outlier_cost_ = "background" if problem.objective.background else "zero"
        self.history_ = solution.history
        self.n_iter_ = solution.n_iter
        self._n_features_out = solution.U.n_clusters
        self._row_members = solution.U.dense
        model, self._weights = problem.overlap_model, (problem.row_weights, problem.column_weights)
        self._row_model = RowModel(
            make_terms(problem, "rows", solution.features.here, solution.pair),
            None if solution.V is None else solution.V.summed,
            *solution.thresholds,
            problem.centring,
            engine.effects.of_columns(engine.shape[1]),
            model.key or model.name,
            model.most,
            self._weights[1] if problem.objective.weighs_data else None,
        )

    def _labels(self, solution: Solution, *data: Any) -> dict[str, Any]:
        """Return the attributes that label items: by the nearest of their clusters.

        Without the `data` (centred, their problem, as read) by the first.
        """
        return {"labels_": row_labels(solution, *data[:2])}

    @contextmanager
    def _keeping_earlier_fit(self) -> Iterator[None]:
        """Leave what an earlier fit knew in place when a new one ends with nothing."""
        earlier = _learnt(self)
        self._published = False
        try:
            with running(getattr(self, "engine", None)):
                yield
        except BaseException:
            if not self._published:
                for name in _learnt(self):
                    delattr(self, name)
                self.__dict__.update(earlier)
            raise
        finally:
            del self._published

    def __sklearn_clone__(self) -> Any:
        """Clone all parameters but a client of a cluster, which cannot be copied."""
        plain = copy(self)
        plain.engine = "auto"
        cloned = BaseEstimator.__sklearn_clone__(plain)
        cloned.engine = self.engine
        return cloned

    def __getstate__(self) -> Any:
        """Leave a client behind: what is unpickled runs on the current one."""
        state = super().__getstate__()
        if not isinstance(state.get("engine", "auto"), str):
            state = {**state, "engine": "dask"}
        return state

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_row_model")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _learnt(estimator: Any) -> dict[str, Any]:
    return {name: value for name, value in vars(estimator).items() if name.endswith("_")}
