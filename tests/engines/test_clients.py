"""A Dask client as a parameter: estimators are cloned, pickled and saved all the same."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from instances import planted
from sklearn.base import clone

from neocc import NEOCC, NEOKMeans
from neocc.io import load_model, save_model

distributed = pytest.importorskip("distributed", reason="dask and distributed are not installed")

QUICK = {"init": "random", "n_init": 1, "max_iter": 3, "random_state": 0}


@pytest.fixture(scope="module")
def client():
    with distributed.Client(
        processes=False,
        n_workers=1,
        threads_per_worker=1,
        dashboard_address=":0",
        set_as_default=False,
    ) as client:
        yield client


@pytest.fixture(params=["NEOCC", "NEOKMeans"])
def model(request, client):
    if request.param == "NEOCC":
        return NEOCC(3, 2, engine=client, refine=False, **QUICK)
    return NEOKMeans(3, engine=client, **QUICK)


@pytest.fixture
def X():
    return planted(np.random.default_rng(0), 60, 20)


def test_clones_share_the_client(model, X, client):
    copy = clone(model)
    assert copy.engine is client
    np.testing.assert_array_equal(copy.fit(X).history_, model.fit(X).history_)


def test_parameters_are_set_and_got(model, client):
    assert model.get_params()["engine"] is client
    assert clone(model.set_params(engine="dask")).engine == "dask"


def test_an_unpickled_model_predicts_and_runs_on_the_current_client(model, X):
    fitted = model.fit(X)
    copy = pickle.loads(pickle.dumps(fitted))
    assert copy.engine == "dask"
    np.testing.assert_array_equal(copy.predict(X), fitted.predict(X))
    np.testing.assert_array_equal(copy.transform(X), fitted.transform(X))
    np.testing.assert_array_equal(copy.history_, fitted.history_)


def test_an_unpickled_model_is_fitted_again_on_the_current_client(model, X, client):
    copy = pickle.loads(pickle.dumps(model))
    with client.as_current():
        np.testing.assert_array_equal(copy.fit(X).history_, model.fit(X).history_)


def test_a_fit_does_not_change_its_engine(model, X, client):
    assert model.fit(X).engine is client
    pickle.dumps(model)
    assert model.engine is client


def test_models_are_saved_without_their_client(model, X, tmp_path):
    fitted = model.fit(X)
    save_model(fitted, tmp_path / "model.neocc")
    loaded = load_model(tmp_path / "model.neocc")
    assert loaded.engine == "dask"
    np.testing.assert_array_equal(loaded.predict(X), fitted.predict(X))


def test_a_client_can_be_printed(model):
    assert "engine=" in repr(model)
