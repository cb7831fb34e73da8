"""Several threads at once: fits of different estimators, questions to one."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest
from instances import planted
from sklearn.base import clone
from threadpoolctl import threadpool_info

from neocc import MSSR, NEOCC, NEOKMeans

OVERLAP = {"row_overlap": 0.2, "row_outliers": 0.1, "column_overlap": 0.2}
MODELS = [
    NEOCC(3, 3, n_init=2, random_state=0, **OVERLAP),
    NEOCC(3, 3, objective="residue", n_init=2, n_jobs=2, random_state=1),
    NEOCC(3, 3, overlap_model="average", n_init=2, random_state=2, **OVERLAP),
    NEOKMeans(3, overlap=0.2, outliers=0.1, random_state=3),
    MSSR(3, 3, n_init=2, random_state=4),
]


@pytest.fixture(scope="module")
def X():
    data = planted(np.random.default_rng(0), 60, 24, 3, 3, noise=0.5)
    data.flags.writeable = False
    return data


def at_once(functions):
    """Call all functions in threads of their own that begin together."""
    barrier = Barrier(len(functions))

    def call(function):
        barrier.wait()
        return function()

    with ThreadPoolExecutor(len(functions)) as pool:
        return list(pool.map(call, functions))


def blas_threads():
    return [each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"]


@pytest.mark.filterwarnings("ignore::neocc.RedundancyWarning")
def test_fits_at_once_give_the_bits_of_fits_alone(X):
    alone = [clone(model).fit(X) for model in MODELS]
    before = blas_threads()
    found = at_once([lambda model=model: clone(model).fit(X) for model in MODELS])
    for one, other in zip(alone, found, strict=True):
        assert one.objective_ == other.objective_
        np.testing.assert_array_equal(one.history_, other.history_)
        np.testing.assert_array_equal(one.predict(X), other.predict(X))
        np.testing.assert_array_equal(one._row_members, other._row_members)
    assert blas_threads() == before


@pytest.mark.filterwarnings("ignore::neocc.RedundancyWarning")
def test_one_model_answers_several_threads(X):
    for model in (MODELS[0], MODELS[2]):
        fitted = clone(model).fit(X)
        expected = fitted.predict_membership(X), fitted.transform(X), fitted.score(X)

        def ask(fitted=fitted):
            return fitted.predict_membership(X), fitted.transform(X), fitted.score(X)

        for found in at_once([ask] * 4):
            for one, other in zip(found, expected, strict=True):
                np.testing.assert_array_equal(one, other)
