"""The trials of a run put together: what a table asks for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from neocc.paper._data import DataSet
from neocc.paper._store import Store
from neocc.paper._study import Study
from neocc.paper._treatments import RAW
from neocc.paper._trial import Job, Trial, measure

__all__ = ["Results", "Scores"]


@dataclass(frozen=True)
class Scores:
    """Scores of some trials: best, worst, average and deviation as the paper has them.

    Examples
    --------
    >>> from neocc.paper._results import Scores
    >>> scores = Scores((37.0, 29.5, 12.7, 21.1, 11.8))
    >>> scores.best, scores.worst, round(scores.mean, 1), round(scores.deviation, 1)
    (37.0, 11.8, 22.4, 10.9)
    """

    trials: tuple[float, ...]

    @property
    def best(self) -> float:
        """The largest."""
        return max(self.trials)

    @property
    def worst(self) -> float:
        """The smallest."""
        return min(self.trials)

    @property
    def mean(self) -> float:
        """The average."""
        return float(np.mean(self.trials))

    @property
    def deviation(self) -> float:
        """The standard deviation of a sample; 0 for a single trial."""
        return float(np.std(self.trials, ddof=1)) if len(self.trials) > 1 else 0.0


@dataclass(frozen=True)
class Results:
    """A study and the trials of it that are there."""

    study: Study
    trials: dict[Job, Trial]

    @classmethod
    def of(cls, study: Study, store: Store) -> Results:
        """Read what is in a store."""
        return cls(study, store.read_all(study.jobs()))

    @property
    def tables(self) -> list[tuple[DataSet, str]]:
        """Data sets with treatments that have trials of all systems."""
        return [(d, treatment) for d in self.study.data_sets.values() for treatment in d.treatments]

    @property
    def failed(self) -> list[Trial]:
        """Trials that failed."""
        return [trial for trial in self.trials.values() if trial.error]

    def find(self, data: str, treatment: str, system: str) -> list[Trial]:
        """Return the trials of a system on a data set that succeeded, in their order."""
        found = [
            self.trials.get(Job(data, treatment, system, number))
            for number in range(1, self.study.n_trials + 1)
        ]
        return [trial for trial in found if trial is not None and not trial.error]

    def scores(
        self, data: str, treatment: str, system: str, name: str = "best-match F1", scale: float = 1
    ) -> Scores | None:
        """Return the scores of a system on a data set; None if any trial is missing."""
        trials = self.find(data, treatment, system)
        if len(trials) < self.study.n_trials:
            return None
        return Scores(tuple(scale * trial.scores[name] for trial in trials))

    def first(
        self, data: str, treatment: str, systems: Sequence[str], name: str
    ) -> dict[str, float]:
        """Return the score of the first trial of some systems; those without one are left out."""
        jobs = [Job(data, treatment, system, 1) for system in systems]
        trials = [self.trials[job] for job in jobs if job in self.trials]
        return {each.job.system: each.scores[name] for each in trials if not each.error}

    @cached_property
    def baselines(self) -> dict[str, dict[str, float]]:
        """Scores of one cluster that holds everything, by data set."""
        truths = {
            data.name: self.study.task(Job(data.name, data.treatments[0], "", 1)).truth
            for data in self.study.data_sets.values()
        }
        return {
            name: measure(truth, np.ones((len(truth), 1), dtype=bool))
            for name, truth in truths.items()
        }

    def seconds(self, data: str, treatment: str, system: str) -> float | None:
        """Return the mean time of a fit."""
        trials = self.find(data, treatment, system)
        return float(np.mean([trial.seconds for trial in trials])) if trials else None

    def histories(self, data: str, system: str, treatment: str = RAW) -> list[list[float]]:
        """Return how the objective fell in each trial."""
        return [trial.history for trial in self.find(data, treatment, system)]
