"""Progress of long fits, to scikit-learn's callbacks where they exist and to the log."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
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


Found = TypeVar("Found", bound=Solution | None)


@dataclass
class Progress:
    """Reports the steps of a fit, and the iterations in them, to callbacks and to the log.

    `stopped` is True once a callback has asked for no further steps. Steps that heed it themselves
    (`ends_itself`) may still have something to finish; others are simply not asked for.
    """

    estimator: Any
    word: str
    n_steps: int
    max_iter: int
    verbose: int
    ends_itself: bool = False
    stopped: bool = field(default=False, init=False)
    _root: Any = field(default=None, init=False)
    _step: Any = field(default=None, init=False)
    _number: int = field(default=0, init=False)
    _is_heard: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self._is_heard = bool(getattr(self.estimator, "_skl_callbacks", None))
        if HAS_CALLBACKS:
            self._root = self.estimator._init_callback_context(max_subtasks=self.n_steps)
            self._root.call_on_fit_task_begin(estimator=self.estimator)
        if self.verbose:
            _make_visible()

    def around(self, steps: Iterator[Found]) -> Iterator[Found]:
        """Pass on what each step finds, and close the step; `begin` is for the steps to call."""
        for found in steps:
            yield found
            self._end(found)
            if self.stopped and not self.ends_itself:
                return

    def begin(self) -> None:
        """Open a step."""
        self._number += 1
        if self._root is not None:
            self._step = self._root.subcontext(task_name=self.word, max_subtasks=self.max_iter)
            self._step.call_on_fit_task_begin(estimator=self.estimator)

    @property
    def report(self) -> Report | None:
        """What to call after each iteration; None if nobody listens."""
        return self.iteration if self._is_heard or self.verbose > 1 else None

    def iteration(self, iteration: int, objective: float) -> bool:
        """Report an iteration; True when a callback asks for no further ones."""
        if self.verbose > 1:
            logger.info(
                "%s %d/%d, iteration %d: objective %.6g",
                self.word,
                self._number,
                self.n_steps,
                iteration,
                objective,
            )
        if self._step is None or not self._is_heard:
            return False
        task = self._step.subcontext(task_name="iteration")
        task.call_on_fit_task_begin(estimator=self.estimator)
        return bool(task.call_on_fit_task_end(estimator=self.estimator))

    def _end(self, solution: Solution | None) -> None:
        if self.verbose and solution is not None:
            logger.info(
                "%s %d/%d: objective %.6g after %d iterations%s",
                self.word,
                self._number,
                self.n_steps,
                solution.objective,
                solution.n_iter,
                "" if solution.converged else " (not converged)",
            )
        if self._step is not None:
            step, self._step = self._step, None
            self.stopped |= bool(step.call_on_fit_task_end(estimator=self.estimator))

    def end(self) -> None:
        """Close the fit."""
        if self._root is not None:
            self._root.call_on_fit_task_end(estimator=self.estimator)


def _make_visible() -> None:
    """Give `verbose` a place to write to where the program has not set up logging itself."""
    if not logger.hasHandlers():
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("[neocc] %(message)s"))
        logger.addHandler(handler)
    if logger.getEffectiveLevel() > logging.INFO:
        logger.setLevel(logging.INFO)
