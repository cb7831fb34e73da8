"""Model files of earlier versions are read, and predict what they did when they were written."""

from __future__ import annotations

import importlib.util
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
from models import fit_noticing
from scipy import sparse

from neocc import NEOCC
from neocc.io import load_model, save_model

FOLDER = Path(__file__).parent / "models" / "v1"
FILES = sorted(FOLDER.glob("*.neocc"))


def given():
    """The data that the files were made with."""
    spec = importlib.util.spec_from_file_location("make_v1", FOLDER / "make.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.data()


def version_of(path):
    with zipfile.ZipFile(path) as archive:
        return json.loads(archive.read("model.json"))["version"]


def assert_predicts_as_then(model, X, path):
    with np.load(path.with_suffix(".npz")) as then:
        np.testing.assert_array_equal(model.predict_membership(X), then["membership"])
        if then["prediction"].ndim == 1:  # once a matrix, where rows might overlap
            np.testing.assert_array_equal(model.predict(X), then["prediction"])
        scale = np.abs(then["distances"]).max()
        np.testing.assert_allclose(
            model.transform(X), then["distances"], rtol=1e-12, atol=1e-12 * scale
        )


def test_there_is_a_file_of_every_kind():
    names = {path.stem for path in FILES}
    kinds = ("mean", "residue", "kmeans", "partition")
    assert names == {f"{kind}-{each}" for kind in kinds for each in ("dense", "sparse")}
    assert {version_of(path) for path in FILES} == {1}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_models_of_version_1_predict_as_they_did(path):
    X = given()[path.stem.split("-")[1]]
    model = load_model(path)
    assert_predicts_as_then(model, X, path)
    if sparse.issparse(X):
        assert_predicts_as_then(model, X.toarray(), path)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_models_of_version_1_are_saved_as_new_ones(path, tmp_path):
    X = given()[path.stem.split("-")[1]]
    save_model(load_model(path), tmp_path / "again.neocc")
    assert version_of(tmp_path / "again.neocc") > 1
    assert_predicts_as_then(load_model(tmp_path / "again.neocc"), X, path)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_models_of_version_1_can_be_fitted_again(path):
    X = given()[path.stem.split("-")[1]][:15]
    model = load_model(path)
    objective, members = model.objective_, model._row_members
    if getattr(model, "refine", False):
        # Searches have changed since; what theirs found is where the alternation stays.
        columns = getattr(model, "_column_members", None)
        start = members if columns is None else (members, columns)
        model.set_params(init=start, n_init=1, refine=False)
    fit_noticing(model, X)
    assert model.objective_ == pytest.approx(objective, rel=1e-12)
    np.testing.assert_array_equal(model._row_members, members)


@pytest.mark.parametrize("objective", ["mean", "poisson"])
def test_models_with_the_earlier_name_of_all_zero_items_are_read(objective, tmp_path):
    X = np.random.default_rng(0).poisson(2.0, (20, 8)).astype(float)
    model = NEOCC(2, 2, objective=objective, random_state=0).fit(X)
    save_model(model, tmp_path / "now.neocc")
    with (
        zipfile.ZipFile(tmp_path / "now.neocc") as now,
        zipfile.ZipFile(tmp_path / "then.neocc", "w") as then,
    ):
        for name in now.namelist():
            held = now.read(name)
            if name == "model.json":
                assert b'"all_zero"' in held
                held = held.replace(b'"all_zero"', b'"silent"')
            then.writestr(name, held)
    again = load_model(tmp_path / "then.neocc")
    np.testing.assert_array_equal(again.transform(X), model.transform(X))
