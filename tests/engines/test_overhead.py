"""What an iteration costs beside its kernels: few calls of Python functions."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from instances import make_engine, members
from scipy import sparse

import neocc
from neocc.core.objectives import OBJECTIVES
from neocc.core.problem import Counts, Problem
from neocc.core.solve import solve

MOST_CALLS = 60
SOURCE = str(Path(neocc.__file__).parent)


def count_calls(function):
    """Return how often functions of the package were called, by file and name."""
    calls = Counter()

    def profile(frame, event, _):
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(SOURCE):
            calls[f"{code.co_filename[len(SOURCE) + 1 :]}:{code.co_qualname}"] += 1

    sys.setprofile(profile)
    try:
        function()
    finally:
        sys.setprofile(None)
    return calls


@pytest.fixture(params=["sparse", "dense"])
def setting(request):
    """A matrix of the size of a small study, four clusters on each side."""
    rng = np.random.default_rng(0)
    shape = (475, 1000) if request.param == "sparse" else (475, 500)
    X = sparse.random_array(shape, density=0.05, random_state=rng, format="csr")
    engine = make_engine(X if request.param == "sparse" else X.toarray(), "numba")
    sides = [np.arange(size) % 4 for size in X.shape]
    pair = tuple(members(labels[:, None] == np.arange(4)) for labels in sides)
    return engine, pair


def run(setting, n_iterations):
    engine, pair = setting
    sides = [Counts(size, 4, size, 0) for size in engine.shape]
    problem = Problem(OBJECTIVES["mean"], *sides, max_iter=n_iterations, tol=0.0)
    found = solve(engine, problem, pair)
    assert found.n_iter == n_iterations
    return found


def test_one_iteration_makes_few_calls(setting):
    run(setting, 3)  # compiles, and computes what is computed once
    # What a run does once cancels.
    calls = count_calls(lambda: run(setting, 5))
    calls.subtract(count_calls(lambda: run(setting, 3)))
    each = {name: count / 2 for name, count in calls.items() if count}
    total = sum(each.values())
    listed = "\n".join(f"{count:6.1f} {name}" for name, count in Counter(each).most_common())
    assert total <= MOST_CALLS, f"{total:.0f} calls in one iteration:\n{listed}"
