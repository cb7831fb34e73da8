"""The real data sets of the study; skipped where there is no copy of them."""

from __future__ import annotations

import numpy as np
import pytest

from neocc.metrics import trivial_baseline
from neocc.paper._data import CHOSEN, DATA_SETS, MOVIELENS, load_task
from neocc.paper._study import make_study
from neocc.paper._trial import Job


@pytest.fixture
def data(data_folder, monkeypatch):
    monkeypatch.setenv("NEOCC_DATA", str(data_folder))


@pytest.mark.parametrize(
    ("name", "baseline"),
    [("yeast", 42.5), ("ml-a", 55.3), ("ml-b", 55.0), ("ml-c", 52.2), ("ml-d", 67.0)],
)
def test_baselines(data, name, baseline):
    task = load_task(DATA_SETS[name], DATA_SETS[name].treatments[0])
    assert 100 * trivial_baseline(task.truth) == pytest.approx(baseline, abs=0.05)


@pytest.mark.parametrize("subset", MOVIELENS, ids=lambda subset: subset.name)
def test_the_chosen_preprocessing_makes_movies_alike(data, subset):
    task = load_task(subset, CHOSEN)
    norms = np.sqrt(task.X.multiply(task.X).sum(axis=0))
    np.testing.assert_allclose(norms, 1)
    assert task.items.shape[0] == len(task.truth)
    assert task.n_clusters == task.truth.shape[1]


@pytest.mark.parametrize("name", ["women", "wine", "digits"])
def test_other_data_need_no_download(name):
    task = load_task(DATA_SETS[name], DATA_SETS[name].treatments[0])
    assert task.items.shape[0] == len(task.truth)
    assert np.isfinite(task.X).all()
    assert task.n_clusters == task.truth.shape[1]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("system", "low", "high"),
    [
        ("NEO-CC-M", 40.7, 100.0),
        ("NEO-CC-RCM", 38.5, 100.0),
        ("NEO-iter", 35.4, 36.8),
        ("NEO-lrsdp", 38.0, 100.0),
        ("MSSR1", 16.0, 20.0),
        ("MSSR2", 16.0, 20.0),
    ],
)
def test_yeast(data, system, low, high):
    for trial in (1, 2):
        scores = make_study().run(Job("yeast", "raw", system, trial)).scores
        assert low <= 100 * scores["best-match F1"] <= high


@pytest.mark.slow
def test_co_clusters_follow_genres_on_ml_a(data):
    study = make_study()
    omegas = {
        system: study.run(Job("ml-a", CHOSEN, system, 1)).scores["omega"]
        for system in ("NEO-CC-RCM", "MSSR2", "NEO-iter", "k-means")
    }
    assert omegas["NEO-CC-RCM"] > 0.10
    assert omegas["NEO-CC-RCM"] == max(omegas.values())
