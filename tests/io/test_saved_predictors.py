"""A predictor of cells from a file: equal predictions for ids of every kind, and cold ones."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile

import numpy as np
import pytest
from sklearn.base import clone

from neocc import NEOCC, CellPredictor
from neocc.io import ModelFileError, load_model, read_model, save_model

KINDS = {
    "numbers": lambda p, t: (p, t),
    "texts": lambda p, t: (f"user {p}", f"Amélie, {t}"),
    "mixed": lambda p, t: (p, str(t)),
    "decimals": lambda p, t: (p / 2, float(t)),
}


def fitted(kind="numbers", groups=True, **options):
    rng = np.random.default_rng(0)
    cells = [(p, t) for p in range(24) for t in range(16) if rng.random() < 0.5]
    stars = [5.0 if (p < 12) == (t < 8) else float(rng.integers(3)) for p, t in cells]
    seed = {"missing": "ignore", "remove_effects": True, "n_init": 1, "refine": False}
    asked = NEOCC(2, 2, row_overlap=0.2, **seed) if groups else None
    model = CellPredictor(asked, n_models=3, random_state=0, **options)
    return model.fit([KINDS[kind](*cell) for cell in cells], stars)


def asked(kind):
    known = [KINDS[kind](p, t) for p in (0, 5, 23) for t in (0, 15)]
    cold = [("nobody", known[0][1]), (known[0][0], "nothing"), (-1, "nothing")]
    return known + cold


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("groups", [True, False])
def test_loaded_predictors_equal_the_saved_ones(kind, groups, tmp_path):
    model = fitted(kind, groups)
    save_model(model, tmp_path / "model.neocc")
    loaded = load_model(tmp_path / "model.neocc")
    pairs = asked(kind)
    assert loaded.predict(pairs).tobytes() == model.predict(pairs).tobytes()
    first = pairs[0][0]
    assert loaded.recommend(first, 4) == model.recommend(first, 4)
    assert loaded.recommend("nobody", 4, unseen=False) == model.recommend("nobody", 4, unseen=False)
    assert (loaded.row_ids_, loaded.column_ids_) == (model.row_ids_, model.column_ids_)
    assert vars(loaded).keys() == vars(model).keys()
    assert repr(clone(loaded)) == repr(clone(model))
    save_model(loaded, tmp_path / "again.neocc")
    written = [(tmp_path / f"{name}.neocc").read_bytes() for name in ("model", "again")]
    assert written[0] == written[1]


def test_a_loaded_predictor_tells_columns_that_are_exchanged(tmp_path):
    pandas = pytest.importorskip("pandas")
    pairs = pandas.DataFrame({"user": [0, 0, 1, 1], "film": [5, 6, 5, 6]})
    model = CellPredictor(n_models=1, random_state=0).fit(pairs, [1.0, 2.0, 3.0, 4.0])
    save_model(model, tmp_path / "model.neocc")
    loaded = load_model(tmp_path / "model.neocc")
    assert loaded.predict(pairs).tobytes() == model.predict(pairs).tobytes()
    with pytest.raises(ValueError, match="in the fit they were 'user' and 'film'"):
        loaded.predict(pairs[["film", "user"]])


def test_another_process_predicts_the_same(tmp_path):
    model = fitted("mixed", clip=False)
    save_model(model, tmp_path / "model.neocc")
    code = (
        "import json, sys; from neocc.io import load_model; "
        "print(json.dumps(load_model(sys.argv[1]).predict(json.loads(sys.argv[2])).tolist()))"
    )
    told = json.dumps(asked("mixed"))
    ran = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "model.neocc"), told],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert json.loads(ran.stdout) == model.predict(asked("mixed")).tolist()


def test_what_cannot_be_saved_of_a_predictor_is_refused(tmp_path):
    path = tmp_path / "model.neocc"
    pairs = [(("ann", 1), t) for t in range(3)] + [(("bob", 2), t) for t in range(3)]
    with_tuples = CellPredictor(n_models=1).fit(pairs, [1.0, 2, 3, 4, 5, 6])
    with pytest.raises(ValueError, match=r"texts or numbers; row \('ann', 1\) is of type tuple"):
        save_model(with_tuples, path)
    with pytest.raises(ValueError, match="CellPredictor has its ids: leave out row_names"):
        save_model(fitted(), path, row_names=["a"])

    class Own(NEOCC):
        pass

    model = fitted()
    model.estimator = Own(2, 2, missing="ignore")
    with pytest.raises(ValueError, match="object of type Own"):
        save_model(model, path)
    assert not list(tmp_path.iterdir())


def spoil(path, change):
    """Write a model file again, with another header."""
    with zipfile.ZipFile(path) as file:
        parts = {one: file.read(one) for one in file.namelist()}
    header = json.loads(parts["model.json"])
    change(header)
    parts["model.json"] = json.dumps(header).encode()
    with zipfile.ZipFile(path, "w") as file:
        for name, part in parts.items():
            file.writestr(name, part)


def set_attribute(name, value):
    return lambda header: header["attributes"].__setitem__(name, value)


def keep_rows(header):
    header["attributes"]["row_ids_"]["list"].pop()


def look_up_zeros(header):
    for model in header["models"]:
        model["parameters"]["missing"] = "zero"


def nest(header):
    header["models"][0] = {**header, "models": list(header["models"])}


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (keep_rows, "other rows or columns than its ids"),
        (lambda header: header["models"].clear(), "'models' are missing"),
        (lambda header: header.pop("models"), "'models' are missing"),
        (lambda header: header.update(models=[1]), "in place of a model"),
        (nest, "not fits to observed cells"),
        (look_up_zeros, "does not fit its parameter 'missing'"),
        (lambda header: header["models"][0].update(estimator="os"), "unknown kind 'os'"),
        (lambda header: header["models"][0]["parameters"].update(x=1), "not those of NEOCC"),
        (lambda header: header.update(prototype=[1]), "in place of parameters"),
        (lambda header: header.update(prototype={"n_init": -1}), "n_init"),
        (lambda header: header["attributes"].pop("_observed"), "not those of a CellPredictor"),
        (set_attribute("n_features_in_", 3), "not those of a CellPredictor"),
        (set_attribute("predict", 3), "not those of a CellPredictor"),
        (set_attribute("_observed", 3), "'_observed' does not fit"),
        (set_attribute("row_ids_", "abc"), "not a list of texts and numbers"),
        (set_attribute("column_ids_", {"list": [{"list": []}]}), "not a list of texts"),
        (set_attribute("column_ids_", {"list": ["a"] * 16}), "name something twice"),
        (set_attribute("value_range_", {"tuple": [5.0, 1.0]}), "not a range"),
        (set_attribute("value_range_", {"tuple": [1.0, {"float": "nan"}]}), "not a range"),
        (set_attribute("value_range_", {"list": [1.0, 5.0]}), "not a range"),
        (set_attribute("_names", {"list": ["user", 3]}), "'_names' are not two texts"),
    ],
)
def test_damaged_predictors_are_refused(change, match, tmp_path):
    path = tmp_path / "model.neocc"
    save_model(fitted(), path)
    spoil(path, change)
    with pytest.raises(ModelFileError, match=match):
        load_model(path)


def test_ids_are_read_as_names(tmp_path):
    path = tmp_path / "model.neocc"
    save_model(fitted("decimals"), path)
    saved = read_model(path)
    assert saved.row_names[:3] == ("0", "0.5", "1")
    assert saved.column_names[:2] == ("0", "1")
