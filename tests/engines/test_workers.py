"""Threads hand results back in order, few at a time."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from neocc.engines.workers import Workers, effective_n_jobs


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_results_come_in_the_order_of_the_tasks(n_jobs):
    def slow_first(task):
        time.sleep(0.02 if task % 3 == 0 else 0.0)
        return task * task

    with Workers(n_jobs) as workers:
        assert list(workers.ordered(slow_first, range(20))) == [i * i for i in range(20)]


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_few_results_are_alive_at_a_time(n_jobs):
    lock = threading.Lock()
    finished = yielded = most = 0

    def task(_):
        nonlocal finished, most
        with lock:
            finished += 1
            most = max(most, finished - yielded)

    with Workers(n_jobs) as workers:
        for _ in workers.ordered(task, range(50)):
            time.sleep(0.002)  # a slow consumer must hold the threads back
            with lock:
                yielded += 1
    assert finished == 50
    # The result being consumed counts as well.
    assert most <= n_jobs + 2


def test_several_threads_work_at_once():
    barrier = threading.Barrier(3, timeout=10)
    with Workers(3) as workers:
        assert len(list(workers.ordered(lambda _: barrier.wait(), range(3)))) == 3


def test_an_error_in_a_task_reaches_the_caller_and_leaves_the_pool_usable():
    def fail_at_five(task):
        if task == 5:
            raise RuntimeError("task five")
        return task

    with Workers(2) as workers:
        with pytest.raises(RuntimeError, match="task five"):
            list(workers.ordered(fail_at_five, range(20)))
        assert list(workers.ordered(abs, [-1, -2])) == [1, 2]


def test_stopping_early_abandons_the_rest():
    seen = []
    with Workers(2) as workers:
        for result in workers.ordered(lambda task: seen.append(task) or task, range(1000)):
            if result == 3:
                break
    assert len(seen) < 20


def test_blas_runs_on_one_thread_meanwhile_and_is_given_back():
    np.ones((2, 2)) @ np.ones((2, 2))

    def blas_threads():
        return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

    before = blas_threads()
    with Workers(2):
        assert set(blas_threads()) <= {1}
    assert blas_threads() == before


def test_number_of_threads(monkeypatch):
    monkeypatch.setattr("joblib.cpu_count", lambda: 8)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert [effective_n_jobs(n) for n in (1, 3, None, -1, -2, -20)] == [1, 3, 8, 8, 7, 1]
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    assert effective_n_jobs(None) == 2
