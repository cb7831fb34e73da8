"""Fits on workers that are processes of their own: the answers of the memory engine."""

from __future__ import annotations

from contextlib import ExitStack

import numpy as np
import pytest

from neocc import NEOCC
from neocc.datasets import fetch_movielens_1m, make_coclusters
from neocc.io import write_store

distributed = pytest.importorskip("distributed", reason="dask and distributed are not installed")

pytestmark = pytest.mark.slow

OPTIONS = {
    "row_overlap": 0.1,
    "row_outliers": 0.05,
    "column_overlap": 0.1,
    "n_init": 1,
    "refine": False,
    "max_iter": 12,
    "random_state": 0,
}
PLANTED = {"row_overlap": 0.1, "row_outliers": 0.05, "noise": 2.0, "random_state": 0}


@pytest.fixture(scope="module")
def clients():
    """Clients of clusters with 1, 2 and 4 workers."""
    with ExitStack() as opened:
        yield [
            opened.enter_context(
                distributed.Client(
                    processes=True,
                    n_workers=n_workers,
                    threads_per_worker=1,
                    dashboard_address=":0",
                    set_as_default=False,
                )
            )
            for n_workers in (1, 2, 4)
        ]


@pytest.fixture(params=["ratings", "planted dense", "planted sparse"])
def X(request):
    if request.param == "ratings":
        return fetch_movielens_1m(data_home=request.getfixturevalue("data_folder")).data
    is_sparse = request.param == "planted sparse"
    options = {"density": 0.4, "format": "csr"} if is_sparse else {"effects": 1.0}
    return make_coclusters((6000, 120), 6, 5, **PLANTED, **options)[0]


@pytest.mark.parametrize("init", ["neo-kmeans", "random"])
@pytest.mark.parametrize("objective", ["mean", "residue"])
def test_any_number_of_processes_ends_where_memory_does(clients, X, tmp_path, objective, init):
    store = write_store(tmp_path / "store", X, rows_per_block=500)
    options = {**OPTIONS, "objective": objective, "init": init}
    expected = NEOCC(8, 6, **options).fit(X)
    found = [NEOCC(8, 6, engine=client, **options).fit(store) for client in clients]
    for model in found:
        np.testing.assert_array_equal(model.row_membership_, expected.row_membership_)
        np.testing.assert_array_equal(model.column_membership_, expected.column_membership_)
        assert model.objective_ == pytest.approx(expected.objective_, rel=1e-12)
    for model in found[1:]:
        assert model.objective_ == found[0].objective_
        np.testing.assert_array_equal(model.history_, found[0].history_)
        np.testing.assert_array_equal(model.block_means_, found[0].block_means_)
