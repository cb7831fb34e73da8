"""One call: the trials, then the pages."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from neocc.paper._expected import expectations
from neocc.paper._figures import check_can_draw
from neocc.paper._pages import write_pages
from neocc.paper._results import Results
from neocc.paper._run import Progress, run_trials
from neocc.paper._store import Store
from neocc.paper._study import Study, make_study

__all__ = ["Outcome", "reproduce"]


@dataclass(frozen=True)
class Outcome:
    """What a run came to.

    Attributes
    ----------
    page : Path
        The page to open.
    n_trials : int
        Number of trials.
    failed : list of str
        Trials that failed, and why.
    n_expected, n_kept : int
        Statements about the results that the pages make, and those that hold.
    """

    page: Path
    n_trials: int
    failed: list[str]
    n_expected: int
    n_kept: int

    def __str__(self) -> str:
        held = f"{self.n_kept} of {self.n_expected} expectations hold"
        return f"{self.n_trials} trials; {held}. See {self.page}"

    def as_dict(self) -> dict[str, Any]:
        """Return what there is to tell, as JSON knows it."""
        told = {"trials": self.n_trials, "expectations": self.n_expected, "kept": self.n_kept}
        return {**told, "failed": list(self.failed), "page": str(self.page)}


def reproduce(
    folder: str | PathLike[str],
    *,
    quick: bool = False,
    seed: int = 0,
    resume: bool = False,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    study: Study | None = None,
) -> Outcome:
    """Run the experiments of the NEO-CC paper and write tables and figures like its own.

    Every trial is kept in a small file of its own as soon as it is done; the pages are made from
    these files, and a run that was stopped goes on with `resume`. The same call gives the same
    tables, times aside.

    Parameters
    ----------
    folder : path-like
        Where to write: ``index.html``, ``paper.md``, every table as CSV, every figure as PNG, and
        the trials.
    quick : bool, default=False
        Two trials with little effort each, to see that everything works: the scores of the full run
        need the full run.
    seed : int, default=0
        Seed of all trials.
    resume : bool, default=False
        Go on with a run in `folder` that was stopped; it must have had the same settings and
        versions of the packages. Trials that failed are run again.
    n_jobs : int, default=None
        Number of processes, as many as there are processors by default. Results do not depend on
        it.
    progress : callable, default=None
        Called with the number of trials done, the number of all, and the last one in words.
    study : Study, default=None
        Other experiments than the paper's; `quick` and `seed` are not used then.

    Returns
    -------
    outcome : Outcome
        Where the page is, and what came out.

    Raises
    ------
    neocc.datasets.DatasetError
        If a data set is neither present nor downloadable.
    neocc.io.WriteError
        If the folder holds another run, or something else, or cannot be written to.
    ImportError
        If matplotlib, or a package with a data set, is missing.

    Examples
    --------
    >>> from neocc.paper import reproduce
    >>> outcome = reproduce("paper", quick=True)  # doctest: +SKIP
    >>> outcome.page  # doctest: +SKIP
    PosixPath('paper/index.html')
    """
    study = make_study(quick=quick, seed=seed) if study is None else study
    check_can_draw()
    for data in study.data_sets.values():
        data.load()
    store = Store(folder, study, resume=resume)
    run_trials(study, store, n_jobs=n_jobs, progress=progress)
    results = Results.of(study, store)
    page = write_pages(results, store)
    checked = expectations(results)
    return Outcome(
        page=page,
        n_trials=len(results.trials),
        failed=[f"{trial.job}: {trial.error}" for trial in results.failed],
        n_expected=len(checked),
        n_kept=sum(each.holds for each in checked),
    )
