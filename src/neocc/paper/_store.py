"""The folder of a run: its record, and a small file for every trial that is done."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from os import PathLike
from pathlib import Path

from neocc.io import ReadError, WouldOverwriteError, make_record, read_record, write_record
from neocc.io._whole import whole_file
from neocc.paper._study import Study
from neocc.paper._trial import Job, Trial

__all__ = ["Store"]

logger = logging.getLogger("neocc")

_RECORD, _TRIALS = "run.json", "trials"


class Store:
    """Keeps the trials of one run in a folder.

    Parameters
    ----------
    folder : path-like
        The folder; made if it is not there.
    study : Study
        What is run in it.
    resume : bool
        Whether to go on with a run that is in the folder already.

    Raises
    ------
    neocc.io.WriteError
        If the folder holds a run that is not to be resumed or is another one, or something else, or
        cannot be written to.
    """

    def __init__(self, folder: str | PathLike[str], study: Study, *, resume: bool) -> None:
        self.folder = Path(folder)
        self.record = make_record({"command": "paper", **study.settings}, seed=study.seed)
        self._trials = self.folder / _TRIALS
        path = self.folder / _RECORD
        if path.is_file():
            self._check_same(path, resume)
        elif self.folder.is_dir() and any(self.folder.iterdir()):
            raise WouldOverwriteError(
                f"{self.folder}: The folder is not empty and holds no run of this command. Choose "
                "another one."
            )
        else:
            write_record(self.record, path)

    def _check_same(self, path: Path, resume: bool) -> None:
        if not resume:
            raise WouldOverwriteError(
                f"{self.folder}: There is a run in this folder already. Go on with it with "
                "--resume (resume=True), or choose another folder."
            )
        try:
            earlier = read_record(path)
        except ReadError as error:
            raise WouldOverwriteError(f"{error} The run cannot be resumed.") from error
        for what, then, now in (
            ("settings", earlier.settings, self.record.settings),
            ("versions", earlier.versions, self.record.versions),
        ):
            for name in sorted({*then, *now}):
                if then.get(name) != now.get(name):
                    raise WouldOverwriteError(
                        f"{self.folder}: The run in this folder has other {what}: {name} was "
                        f"{then.get(name)!r} and is {now.get(name)!r}. Tables of both would not be "
                        "repeatable: choose another folder."
                    )
        self.record = earlier

    def write(self, trial: Trial) -> None:
        """Keep a trial; its file appears whole or not at all."""
        with whole_file(self._trials / trial.job.file_name, force=True) as partial:
            partial.write_text(trial.to_json(), encoding="utf-8")

    def read(self, job: Job) -> Trial | None:
        """Return a trial, or None if it was not run or its file is damaged."""
        path = self._trials / job.file_name
        try:
            trial = Trial.from_json(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            logger.warning("%s cannot be read (%s); the trial is run again", path, error)
            return None
        return trial if trial.job == job else None

    def missing(self, study: Study) -> list[Job]:
        """Return what is still to be run: trials without a file, failed, or set up otherwise."""
        return [job for job in study.jobs() if not self._is_done(study, job)]

    def _is_done(self, study: Study, job: Job) -> bool:
        trial = self.read(job)
        return trial is not None and not trial.error and trial.estimator == study.describe(job)

    def read_all(self, jobs: Iterable[Job]) -> dict[Job, Trial]:
        """Return the trials that are there."""
        found = ((job, self.read(job)) for job in jobs)
        return {job: trial for job, trial in found if trial is not None}
