"""Running the trials, several at a time, each of them kept as soon as it is done."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator

from neocc.paper._store import Store
from neocc.paper._study import Study
from neocc.paper._trial import Job

__all__ = ["Progress", "run_trials"]

Progress = Callable[[int, int, str], None]
"""Called with the number of trials done, the number of all, and the last one in words."""


def run_trials(
    study: Study, store: Store, *, n_jobs: int | None = None, progress: Progress | None = None
) -> None:
    """Run the trials that are missing.

    Parameters
    ----------
    study : Study
        What to run.
    store : Store
        Where trials are kept.
    n_jobs : int, default=None
        Processes, as many as there are processors by default. Results do not depend on it.
    progress : callable, default=None
        Called after each trial.
    """
    todo = store.missing(study)
    n_all = len(study.jobs())
    done = n_all - len(todo)
    if progress is not None:
        progress(done, n_all, "")
    for job in _made(study, store, todo, n_jobs):
        done += 1
        if progress is not None:
            progress(done, n_all, str(job))


def _made(study: Study, store: Store, jobs: list[Job], n_jobs: int | None) -> Iterator[Job]:
    """Run trials and yield them as they end."""
    from joblib import Parallel, delayed, effective_n_jobs, parallel_config

    n_workers = min(effective_n_jobs(-1 if n_jobs is None else n_jobs), len(jobs))
    if n_workers <= 1:
        yield from (_make(study, store, job) for job in jobs)
        return
    # Processes share the processors among them: none may take more than one.
    with parallel_config(backend="loky", n_jobs=n_workers, inner_max_num_threads=1):
        parallel = Parallel(return_as="generator_unordered", batch_size=1)
        yield from parallel(delayed(_make_apart)(study, store, job) for job in jobs)


def _make(study: Study, store: Store, job: Job) -> Job:
    store.write(study.run(job))
    return job


def _make_apart(study: Study, store: Store, job: Job) -> Job:
    """Run a trial in a process of its own; Ctrl-C is for the process that started it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    return _make(study, store, job)
