"""Runs of small sparse data in threads of their own: the same bits, whatever their number."""

from __future__ import annotations

import threading
from functools import partial

import numpy as np
import pytest
from instances import planted
from scipy import sparse

from neocc import NEOCC
from neocc.core.search import starts
from neocc.engines import PassOptions, Workers, open_engine
from neocc.engines.reading import as_matrix
from neocc.estimators._progress import Progress
from neocc.kernels import get_kernels

FEW = {"own_runs": (1, 1 << 19)}


def blocks(seed=0):
    """A sparse matrix of 4 x 3 blocks of different density."""
    rng = np.random.default_rng(seed)
    density = planted(rng, 60, 40, 4, 3, noise=0.0)
    density = 0.5 * (density - density.min()) / np.ptp(density)
    return sparse.csr_array((rng.random((60, 40)) < density) * rng.integers(1, 4, size=(60, 40)))


def opened(X, n_jobs, **options):
    workers = Workers(n_jobs)
    matrix = as_matrix(X, None)
    engine = open_engine(matrix, get_kernels("numpy", 1), workers, options=PassOptions(**options))
    return workers, engine


def names_of_threads(X, n_jobs, n_tasks, **options):
    """Return the threads that make tasks, two of which wait for each other where there are two."""
    workers, engine = opened(X, n_jobs, **options)
    meeting = threading.Barrier(2)

    def task(_, i):
        if i > 0 and options and n_jobs > 1:
            meeting.wait(timeout=10)
        return threading.current_thread().name

    with workers:
        return list(engine.each(task, range(n_tasks)))


def test_runs_of_few_entries_are_made_at_a_time():
    here = threading.current_thread().name
    found = names_of_threads(blocks(), 2, 5, **FEW)
    assert found[0] == here
    assert len(set(found)) == 3
    assert set(names_of_threads(blocks(), 1, 5, **FEW)) == {here}
    assert set(names_of_threads(blocks(), 2, 5)) == {here}
    assert set(names_of_threads(blocks().toarray(), 2, 5)) == {here}


def test_what_nobody_takes_does_not_count():
    """A search that ends early has read no more with many threads than with one."""
    for n_jobs in (1, 3):
        workers, engine = opened(blocks(), n_jobs, **FEW)
        with workers:
            runs = engine.each(lambda own, _: own.multiply(np.ones((40, 1))), range(8))
            for _ in range(3):
                next(runs)
            assert (engine.reads.passes, engine.reads.work) == (3.0, 3.0)


@pytest.mark.parametrize("refine", [False, True, "thorough"])
@pytest.mark.parametrize("objective", ["mean", "residue"])
def test_same_bits_for_any_number_of_threads(refine, objective, set_pass_options):
    set_pass_options(**FEW)
    X, fits = blocks(), []
    for n_jobs in (1, 2, 4):
        model = NEOCC(4, 3, objective=objective, refine=refine, n_init=4, row_overlap=0.1)
        fits.append(model.set_params(n_jobs=n_jobs, random_state=0).fit(X))
    for other in fits[1:]:
        assert np.array_equal(other.history_, fits[0].history_)
        assert np.array_equal(other.row_membership_, fits[0].row_membership_)
        assert np.array_equal(other.column_membership_, fits[0].column_membership_)
        assert np.array_equal(other.block_means_, fits[0].block_means_)
        assert np.isclose(other.n_passes_, fits[0].n_passes_, rtol=1e-12)


@pytest.mark.parametrize("refine", [False, True, "thorough"])
def test_an_interrupted_fit_keeps_the_best_start(refine, set_pass_options, monkeypatch):
    set_pass_options(**FEW)
    n_steps, begin = [], Progress.begin

    def interrupted(progress):
        n_steps.append(1)
        if len(n_steps) == 4:
            raise KeyboardInterrupt
        begin(progress)

    monkeypatch.setattr(Progress, "begin", interrupted)
    model = NEOCC(4, 3, refine=refine, n_init=8, n_jobs=3, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(blocks())
    plain = NEOCC(4, 3, refine=False, n_init=3, random_state=0)
    if refine is False:
        monkeypatch.setattr(Progress, "begin", begin)
        assert model.objective_ == plain.fit(blocks()).objective_
    assert model.row_membership_.shape == (60, 4)


def test_iterations_that_are_reported_are_made_by_one_thread(set_pass_options, monkeypatch):
    set_pass_options(**FEW)
    seen, make = set(), starts.make_start

    def noted(*given):
        seen.add(threading.current_thread().name)
        return make(*given)

    monkeypatch.setattr(starts, "make_start", noted)
    fit = partial(NEOCC, 4, 3, refine=False, n_init=4, n_jobs=2, random_state=0)
    quiet = fit().fit(blocks())
    assert len(seen) > 1
    seen.clear()
    loud = fit(verbose=2).fit(blocks())
    assert seen == {threading.current_thread().name}
    assert np.array_equal(loud.history_, quiet.history_)
