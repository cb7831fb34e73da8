"""What is to be run: data sets, systems, trials, effort and seed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from neocc.paper._data import DATA_SETS, DataSet, Task, load_task
from neocc.paper._systems import FIGURE_SYSTEMS, PICTURE, PLAIN_M, PLAIN_RCM, SYSTEMS, System
from neocc.paper._treatments import RAW
from neocc.paper._trial import Job, Trial, described, run_trial

__all__ = ["Study", "make_study"]

# In the table of preprocessings: the systems of this family, disjoint and one-way ones beside it.
_TO_TRY = ("MSSR2", "k-means", "NEO-iter", "NEO-CC-M", "NEO-CC-RCM")


@dataclass(frozen=True)
class Study:
    """A run of the experiments.

    Attributes
    ----------
    seed : int
        Seed of everything.
    quick : bool
        Whether to spend little effort on each trial.
    n_trials : int
        Trials of each system on each data set.
    data_sets : dict of DataSet
        By their names, in the order of the tables.
    systems : dict of System
        Likewise.
    tried_systems : tuple of str
        Systems in the table of preprocessings.
    curves_of, picture_of : str or None
        The data sets that figures 3 and 1 show.
    """

    seed: int = 0
    quick: bool = False
    n_trials: int = 5
    data_sets: Mapping[str, DataSet] = field(default_factory=lambda: DATA_SETS)
    systems: Mapping[str, System] = field(default_factory=lambda: SYSTEMS)
    tried_systems: tuple[str, ...] = _TO_TRY
    curves_of: str | None = "yeast"
    picture_of: str | None = "ml-d"

    @property
    def settings(self) -> dict[str, Any]:
        """What a second run must share with the first to go on with its trials."""
        return {"seed": self.seed, "quick": self.quick, "trials": self.n_trials}

    def jobs(self) -> list[Job]:
        """Return all trials, each of them once, in the order of the tables."""
        return list(dict.fromkeys([*self._table_jobs(), *self._tried_jobs(), *self._figure_jobs()]))

    def _table_jobs(self) -> Iterator[Job]:
        for data in self.data_sets.values():
            for treatment in data.treatments:
                for system in self.systems:
                    for trial in range(1, self.n_trials + 1):
                        yield Job(data.name, treatment, system, trial)

    def _tried_jobs(self) -> Iterator[Job]:
        for data in self.data_sets.values():
            for treatment in data.tried:
                for system in self.tried_systems:
                    yield Job(data.name, treatment, system, 1)

    def _figure_jobs(self) -> Iterator[Job]:
        if self.curves_of is not None:
            treatment = self.data_sets[self.curves_of].treatments[0]
            for system in (PLAIN_M, PLAIN_RCM):
                for trial in range(1, self.n_trials + 1):
                    yield Job(self.curves_of, treatment, system, trial)
        if self.picture_of is not None:
            yield Job(self.picture_of, RAW, PICTURE, 1)

    def task(self, job: Job) -> Task:
        """Return the data that a trial is about."""
        return load_task(self.data_sets[job.data], job.treatment)

    def seed_of(self, job: Job) -> int:
        """Return the seed of a trial: the same for all systems, another for each trial."""
        return 1000 * self.seed + job.trial

    def describe(self, job: Job) -> str:
        """Return the estimator that a trial will fit, as it can be typed."""
        return described(self._system(job).make(self.task(job), self.seed_of(job), self.quick))

    def run(self, job: Job) -> Trial:
        """Run a trial."""
        return run_trial(job, self._system(job), self.task(job), self.seed_of(job), self.quick)

    def _system(self, job: Job) -> System:
        return {**FIGURE_SYSTEMS, **self.systems}[job.system]


def make_study(*, quick: bool = False, seed: int = 0) -> Study:
    """Return the experiments of the paper, whole or in brief.

    Examples
    --------
    >>> from neocc.paper._study import make_study
    >>> make_study(quick=True).n_trials
    2
    """
    if not quick:
        return Study(seed=seed)
    return Study(seed=seed, quick=True, n_trials=2, tried_systems=())
