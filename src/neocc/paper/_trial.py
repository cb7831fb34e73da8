"""One trial: a system on a data set from one seed, its scores, and the small file that keeps it."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

import numpy as np

from neocc._typing import BoolArray
from neocc.metrics import best_match_f1, matched_f1, omega_index, overlapping_nmi
from neocc.paper._data import Task
from neocc.paper._systems import System, memberships

__all__ = ["MEASURES", "Job", "Trial", "measure", "run_trial"]

_FORMAT, _VERSION = "neocc paper trial", 1


def _nmi_lfk(true: Any, found: Any) -> float:
    return overlapping_nmi(true, found, variant="lfk")


MEASURES: Mapping[str, Callable[[Any, Any], float]] = {
    "best-match F1": best_match_f1,
    "matched F1": matched_f1,
    "omega": omega_index,
    "ONMI": overlapping_nmi,
    "ONMI (LFK)": _nmi_lfk,
}
"""How a trial is scored; fractions, not percent."""


@dataclass(frozen=True, order=True)
class Job:
    """A trial to run."""

    data: str
    treatment: str
    system: str
    trial: int

    @property
    def file_name(self) -> str:
        """Name of the file that keeps the trial."""
        return f"{self.data}__{self.treatment}__{self.system}__{self.trial}.json"

    def __str__(self) -> str:
        treatment = "" if self.treatment == "raw" else f" ({self.treatment})"
        return f"{self.system} on {self.data}{treatment}, trial {self.trial}"


@dataclass(frozen=True)
class Trial:
    """A trial that was run.

    Attributes
    ----------
    job : Job
        What was asked for.
    estimator : str
        The estimator with its settings, as it can be typed.
    seconds : float
        Processor time of the fit; unlike wall-clock time, it does not depend on what else runs.
    scores : dict
        Agreement with the known clusters, by the names in `MEASURES`.
    n_clusters, n_memberships, n_outside : int
        Clusters found on the scored side, memberships in them, items in none.
    objective : float or None
        The objective, where the system has one.
    history : list of float
        The objective after each step, where the system keeps it.
    members : dict
        Members of the clusters of either side, for pictures; else empty.
    notes : list of str
        Warnings of the fit.
    error : str
        Why there is no result; empty if there is one.
    """

    job: Job
    estimator: str
    seconds: float
    scores: Mapping[str, float] = field(default_factory=dict)
    n_clusters: int = 0
    n_memberships: int = 0
    n_outside: int = 0
    objective: float | None = None
    history: list[float] = field(default_factory=list)
    members: Mapping[str, list[list[int]]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    error: str = ""

    def to_json(self) -> str:
        """Return the trial as text."""
        content = {"format": _FORMAT, "version": _VERSION, **asdict(self)}
        return json.dumps(content, indent=1, allow_nan=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Trial:
        """Read what `to_json` wrote.

        Raises
        ------
        ValueError
            If the text is something else.
        """
        content = json.loads(text)
        if not isinstance(content, dict) or content.pop("format", None) != _FORMAT:
            raise ValueError("this is no trial")
        if content.pop("version", None) != _VERSION:
            raise ValueError("the trial was written by another version of neocc")
        if set(content) != {each.name for each in fields(cls)}:
            raise ValueError("the trial has other parts than it should")
        try:
            return cls(**{**content, "job": Job(**content["job"])})
        except TypeError as error:
            raise ValueError(str(error)) from error


def measure(true: BoolArray, found: BoolArray) -> dict[str, float]:
    """Score clusters by all measures.

    Examples
    --------
    >>> import numpy as np
    >>> from neocc.paper._trial import measure
    >>> clusters = np.eye(4, 2, dtype=bool)
    >>> measure(clusters, clusters)["omega"]
    1.0
    """
    return {name: float(score(true, found)) for name, score in MEASURES.items()}


def run_trial(job: Job, system: System, task: Task, seed: int, quick: bool) -> Trial:
    """Fit a system and score what it found.

    A fit that fails is a result too: the table says so, and the other systems go on.
    """
    model = system.make(task, seed, quick)
    settings = described(model)
    start = time.process_time()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model.fit(task.items if system.one_way else task.X)
        except Exception as error:
            seconds = time.process_time() - start
            return Trial(job, settings, seconds, error=f"{type(error).__name__}: {error}")
    seconds = time.process_time() - start
    found = memberships(model, task.side, task.n_clusters)
    return Trial(
        job=job,
        estimator=settings,
        seconds=seconds,
        scores=measure(task.truth, found),
        n_clusters=found.shape[1],
        n_memberships=int(found.sum()),
        n_outside=int((~found.any(axis=1)).sum()),
        objective=_number(getattr(model, "objective_", None)),
        history=_numbers(getattr(model, "history_", None)),
        members=_members(model) if system.keeps_members else {},
        notes=list(dict.fromkeys(str(each.message) for each in caught)),
    )


def described(model: Any) -> str:
    """Return an estimator as it can be typed, on one line."""
    given = ", ".join(
        f"{name}={value!r}"
        for name, value in model.get_params(deep=False).items()
        if name != "n_jobs" and value != type(model)().get_params(deep=False).get(name)
    )
    return f"{type(model).__name__}({given})"


def _numbers(values: Any) -> list[float]:
    """Return an objective step by step; some systems keep other things, or nothing."""
    if not isinstance(values, np.ndarray) or values.dtype.kind != "f":
        return []
    return [float(value) for value in values]


def _number(value: Any) -> float | None:
    return None if value is None else float(value)


def _members(model: Any) -> dict[str, list[list[int]]]:
    return {
        side: [np.flatnonzero(column).tolist() for column in memberships(model, side, 0).T]
        for side in ("rows", "columns")
    }
