"""Progress of long fits, to scikit-learn's callbacks where they exist and to the log."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, TypeVar

from neocc.core.solve import Report, Solution

Method = TypeVar("Method", bound=Callable[..., Any])

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks

    HAS_CALLBACKS = True
except ImportError:  # scikit-learn before 1.9
    HAS_CALLBACKS = False

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in for scikit-learn's mixin where there is none."""

    def with_callbacks(method: Method) -> Method:
        """Return the method unchanged."""
        return method


__all__ = ["CallbackSupportMixin", "Progress", "with_callbacks"]

logger = logging.getLogger("neocc")


class Progress:
    """Reports the starts of a fit and their iterations to callbacks and to the log."""

    def __init__(self, estimator: Any, n_starts: int, max_iter: int, verbose: int) -> None:
        self._estimator = estimator
        self._max_iter = max_iter
        self._n_starts = n_starts
        self._verbose = verbose
        self._root: Any = None
        self._start: Any = None
        self._number = 0
        if HAS_CALLBACKS:
            self._root = estimator._init_callback_context(max_subtasks=n_starts)
            self._root.call_on_fit_task_begin(estimator=estimator)
        if verbose:
            _make_visible()

    def begin_start(self, number: int) -> Report | None:
        """Open a start and return the report for its iterations."""
        self._number = number + 1
        if self._root is not None:
            self._start = self._root.subcontext(task_name="start", max_subtasks=self._max_iter)
            self._start.call_on_fit_task_begin(estimator=self._estimator)
        return self._iteration

    def _iteration(self, iteration: int, objective: float) -> bool:
        if self._verbose > 1:
            logger.info(
                "start %d/%d, iteration %d: objective %.6g",
                self._number,
                self._n_starts,
                iteration,
                objective,
            )
        if self._start is None:
            return False
        task = self._start.subcontext(task_name="iteration")
        task.call_on_fit_task_begin(estimator=self._estimator)
        return bool(task.call_on_fit_task_end(estimator=self._estimator))

    def end_start(self, solution: Solution | None) -> bool:
        """Close the start; True when a callback asks for no further ones."""
        if self._verbose and solution is not None:
            logger.info(
                "start %d/%d: objective %.6g after %d iterations%s",
                self._number,
                self._n_starts,
                solution.objective,
                solution.n_iter,
                "" if solution.converged else " (not converged)",
            )
        if self._start is None:
            return False
        start, self._start = self._start, None
        return bool(start.call_on_fit_task_end(estimator=self._estimator))

    def end(self) -> None:
        """Close the fit."""
        if self._root is not None:
            self._root.call_on_fit_task_end(estimator=self._estimator)


def _make_visible() -> None:
    """Give `verbose` a place to write to where the program has not set up logging itself."""
    if not logger.hasHandlers():
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("[neocc] %(message)s"))
        logger.addHandler(handler)
    if logger.getEffectiveLevel() > logging.INFO:
        logger.setLevel(logging.INFO)
