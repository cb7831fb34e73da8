"""Progress of long fits, to scikit-learn's callbacks where they exist and to the log."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from neocc.core.solve import Solution

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


Found = TypeVar("Found", bound=Solution | None)


class Progress:
    """Reports the steps of a fit, and the iterations in them, to callbacks and to the log.

    `stopped` is True once a callback has asked for no further steps. Steps that heed it themselves
    (`ends_itself`) may still have something to finish; others are simply not asked for.
    """

    def __init__(
        self,
        estimator: Any,
        word: str,
        n_steps: int,
        max_iter: int,
        verbose: int,
        *,
        ends_itself: bool = False,
    ) -> None:
        self.stopped = False
        self._ends_itself = ends_itself
        self._estimator = estimator
        self._word = word
        self._max_iter = max_iter
        self._n_steps = n_steps
        self._verbose = verbose
        self._root: Any = None
        self._step: Any = None
        self._number = 0
        self._is_heard = bool(getattr(estimator, "_skl_callbacks", None))
        if HAS_CALLBACKS:
            self._root = estimator._init_callback_context(max_subtasks=n_steps)
            self._root.call_on_fit_task_begin(estimator=estimator)
        if verbose:
            _make_visible()

    def around(self, steps: Iterator[Found]) -> Iterator[Found]:
        """Pass on what each step finds, and close the step; `begin` is for the steps to call."""
        for found in steps:
            yield found
            self._end(found)
            if self.stopped and not self._ends_itself:
                return

    def begin(self) -> None:
        """Open a step."""
        self._number += 1
        if self._root is not None:
            self._step = self._root.subcontext(task_name=self._word, max_subtasks=self._max_iter)
            self._step.call_on_fit_task_begin(estimator=self._estimator)

    def iteration(self, iteration: int, objective: float) -> bool:
        """Report an iteration; True when a callback asks for no further ones."""
        if self._verbose > 1:
            logger.info(
                "%s %d/%d, iteration %d: objective %.6g",
                self._word,
                self._number,
                self._n_steps,
                iteration,
                objective,
            )
        if self._step is None or not self._is_heard:
            return False
        task = self._step.subcontext(task_name="iteration")
        task.call_on_fit_task_begin(estimator=self._estimator)
        return bool(task.call_on_fit_task_end(estimator=self._estimator))

    def _end(self, solution: Solution | None) -> None:
        if self._verbose and solution is not None:
            logger.info(
                "%s %d/%d: objective %.6g after %d iterations%s",
                self._word,
                self._number,
                self._n_steps,
                solution.objective,
                solution.n_iter,
                "" if solution.converged else " (not converged)",
            )
        if self._step is not None:
            step, self._step = self._step, None
            self.stopped |= bool(step.call_on_fit_task_end(estimator=self._estimator))

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
