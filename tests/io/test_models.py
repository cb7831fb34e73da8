"""A model from a file predicts what the model that was saved does, to the bit."""

from __future__ import annotations

import io
import json
import zipfile

import files
import numpy as np
import pytest
from models import NAMES, make_model
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from neocc import MSSR, NEOCC, ROCC, LowRankNEOKMeans, NEOKMeans
from neocc.core.overlap import OVERLAP_MODELS
from neocc.io import ModelFileError, load_model, read_model, save_model, write_result
from neocc.io._codec import Undecodable
from neocc.io._state import check_state


def assert_same(one, other):
    """Compare two values, and all that is in them, bit for bit."""
    assert type(one) is type(other) or {type(one), type(other)} <= {int, float, np.float64}
    if isinstance(one, np.ndarray):
        assert one.dtype == other.dtype
        assert one.shape == other.shape
        if one.dtype.kind == "O":
            assert one.tolist() == other.tolist()
        else:
            assert one.tobytes() == other.tobytes()
    elif hasattr(one, "__dataclass_fields__"):
        for name in one.__dataclass_fields__:
            assert_same(getattr(one, name), getattr(other, name))
    elif isinstance(one, tuple | list):
        for left, right in zip(one, other, strict=True):
            assert_same(left, right)
    elif sparse.issparse(one):
        assert abs(one - other).nnz == 0
    else:
        assert one == other or (np.isnan(one) and np.isnan(other))


def reload(model, tmp_path):
    save_model(model, tmp_path / "model.neocc", force=True)
    return load_model(tmp_path / "model.neocc")


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("name", NAMES)
def test_loaded_models_equal_the_saved_ones(name, kind, tmp_path):
    rng = np.random.default_rng(3)
    X, new = rng.normal(size=(30, 14)), rng.normal(size=(11, 14))
    X[rng.random(X.shape) < 0.5] = 0
    model = make_model(name).fit(kind(X))
    loaded = reload(model, tmp_path)
    assert type(loaded) is type(model)
    assert vars(loaded).keys() == vars(model).keys()
    for attribute, value in vars(model).items():
        assert_same(getattr(loaded, attribute), value)
    for data in (X, new, sparse.csr_array(new)):
        for method in ("predict", "predict_membership", "transform"):
            assert_same(getattr(loaded, method)(data), getattr(model, method)(data))
    assert loaded.get_feature_names_out().tolist() == model.get_feature_names_out().tolist()


def test_estimates_infinite_limits_and_given_starts_survive(tmp_path):
    X = files.small_matrix()
    model = files.fitted(row_overlap="auto", column_outliers="auto")
    assert_same(reload(model, tmp_path).row_estimate_, model.row_estimate_)
    start = (model.row_membership_, sparse.csr_array(model.column_membership_))
    started = NEOCC(
        3, 2, init=start, row_overlap=model.row_membership_.sum() / 12 - 1,
        row_outliers=float(model.row_outliers_.mean()),
        column_overlap=model.column_membership_.sum() / 9 - 1,
        column_outliers=float(model.column_outliers_.mean()), refine=False,
    ).fit(X)  # fmt: skip
    loaded = reload(started, tmp_path)
    assert_same(loaded.init[0], start[0])
    assert abs(loaded.init[1] - start[1]).nnz == 0
    again = loaded.fit(X)
    assert again.objective_ == started.objective_


def test_numbers_that_were_chosen_survive(tmp_path):
    X = np.kron([[5.0, 1.0, 1.0], [1.0, 6.0, 2.0]], np.ones((12, 5)))
    model = NEOCC(random_state=0).fit(X + np.random.default_rng(0).normal(0, 0.2, X.shape))
    loaded = reload(model, tmp_path)
    assert loaded.numbers_choice_.best == model.numbers_choice_.best == (2, 3)
    assert str(loaded.numbers_choice_) == str(model.numbers_choice_)


def test_a_loaded_model_can_be_fitted_again_and_gives_the_same(tmp_path):
    X = files.small_matrix()
    model = files.fitted(row_overlap=0.2)
    assert_same(reload(model, tmp_path).fit(X).row_membership_, model.row_membership_)


def test_biclusters_of_a_loaded_model(tmp_path):
    model = files.fitted("MSSR")
    loaded = reload(model, tmp_path)
    assert_same(loaded.rows_, model.rows_)
    assert_same(loaded.get_submatrix(1, files.small_matrix()), model.get_submatrix(
        1, files.small_matrix()
    ))  # fmt: skip


def test_names_of_a_data_frame_are_checked_after_loading(tmp_path):
    import pandas as pd

    frame = pd.DataFrame(files.small_matrix(), columns=[f"c{i}" for i in range(9)])
    loaded = reload(files.fitted(X=frame), tmp_path)
    loaded.predict(frame)
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(frame.rename(columns={"c0": "z"}))


@pytest.mark.parametrize("overlap", [0.0, 0.25])
def test_low_rank_models(overlap, tmp_path):
    X = files.small_matrix()
    model = LowRankNEOKMeans(2, overlap=overlap, random_state=0).fit(X)
    loaded = reload(model, tmp_path)
    for attribute, value in vars(model).items():
        assert_same(getattr(loaded, attribute), value)
    assert_same(loaded.transform(X), model.transform(X))


def test_of_a_pipeline_the_last_step_can_be_saved(tmp_path):
    pipeline = make_pipeline(StandardScaler(), NEOKMeans(2, random_state=0))
    pipeline.fit(files.small_matrix())
    with pytest.raises(ValueError, match=r"of type Pipeline; of a pipeline .* pipeline\[-1\]"):
        save_model(pipeline, tmp_path / "model.neocc")
    save_model(pipeline[-1], tmp_path / "model.neocc")


def test_estimators_without_a_grid_say_so(tmp_path):
    X = files.small_matrix()
    model = ROCC(n_coclusters=1, random_state=0).fit(X)
    with pytest.raises(ValueError, match="LowRankNEOKMeans, CellPredictor can be saved"):
        save_model(model, tmp_path / "model.neocc")
    with pytest.raises(ValueError, match="no grid"):
        write_result(model, tmp_path / "out", matrix=X)
    assert not list(tmp_path.iterdir())


def test_a_random_state_becomes_none(tmp_path):
    model = NEOKMeans(2, random_state=np.random.RandomState(0), n_init=1)
    assert reload(model.fit(files.small_matrix()), tmp_path).random_state is None


def test_names_are_kept(tmp_path):
    rows, columns = [f"r{i}" for i in range(12)], [f"<b>{i}" for i in range(9)]
    path = tmp_path / "model.neocc"
    save_model(files.fitted(), path, row_names=rows, column_names=columns)
    saved = read_model(path)
    assert saved.row_names == tuple(rows)
    assert saved.column_names == tuple(columns)
    assert saved.version
    assert isinstance(saved.estimator, NEOCC)


def test_the_file_is_plain_and_the_same_every_time(tmp_path):
    for name in ("a", "b"):
        save_model(files.fitted(), tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    with zipfile.ZipFile(tmp_path / "a") as archive:
        header = json.loads(archive.read("model.json"))
        assert header["format"] == "neocc model"
        assert header["version"] == 2
        assert header["estimator"] == "NEOCC"
        for info in archive.infolist():
            assert info.compress_type == zipfile.ZIP_STORED
            assert info.filename == "model.json" or info.filename.endswith(".npy")


def test_arrays_that_were_one_are_one_again(tmp_path):
    loaded = reload(files.fitted(), tmp_path)
    assert loaded.row_membership_ is loaded._row_members


def test_what_cannot_be_saved_is_refused(tmp_path):
    path = tmp_path / "model.neocc"
    with pytest.raises(NotFittedError):
        save_model(NEOCC(), path)
    with pytest.raises(ValueError, match=r"Only .*NEOCC"):
        save_model(object(), path)

    class Mine(MSSR):
        pass

    with pytest.raises(ValueError, match="Mine"):
        save_model(Mine(2, 2, n_init=1).fit(files.small_matrix()), path)
    model = files.fitted()
    model.extra_ = object()
    with pytest.raises(ValueError, match="'extra_' cannot be saved"):
        save_model(model, path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("part", ["first", "extra_items", "extra_clusters"])
@pytest.mark.parametrize("value", [-2, 10**6])
def test_no_index_leaves_its_range(part, value, tmp_path):
    path = tmp_path / "model.neocc"
    save_model(files.fitted(column_overlap=0.3), path)
    with zipfile.ZipFile(path) as archive:
        header = json.loads(archive.read("model.json"))
    held = header["attributes"]["_row_model"]["RowModel"]["V"]["Memberships"]
    name = held[part]["array"]

    def change(data):
        array = np.load(io.BytesIO(data)).copy()
        assert len(array)
        array[-1] = value
        return files.npy_bytes(array)

    files.change_member(path, name, change)
    with pytest.raises(ModelFileError, match=r"not there|out of order"):
        load_model(path)


@pytest.mark.parametrize("objective", ["mean", "residue"])
@pytest.mark.parametrize("name", OVERLAP_MODELS)
def test_models_of_every_overlap_are_read_again(name, objective, tmp_path):
    if (objective, name) in (("residue", "sum"), ("residue", "either")):
        return
    columns = 0.0 if name == "either" else 0.3
    overlap = {"row_overlap": 0.3, "column_overlap": columns, "overlap_model": name}
    model = files.fitted(**overlap, objective=objective)
    X = files.small_matrix()
    loaded = reload(model, tmp_path)
    np.testing.assert_array_equal(loaded.predict_membership(X), model.predict_membership(X))
    np.testing.assert_array_equal(loaded.transform(X), model.transform(X))
    np.testing.assert_array_equal(loaded.followed_, model.followed_)


@pytest.mark.parametrize(
    ("row", "cluster", "match"),
    [
        (0, 9, "not there"),
        (0, -1, "do not belong to"),
        (0, -2, "not there"),
        (1, None, "does not fit"),
    ],
)
def test_what_is_followed_is_checked(row, cluster, match):
    model = files.fitted(row_overlap=0.3, overlap_model="either")
    attributes = {name: value for name, value in vars(model).items() if name.endswith("_")}
    attributes |= {"_row_members": model._row_members, "_row_model": model._row_model}
    attributes |= {"_column_members": model._column_members, "_n_features_out": 3}
    followed = model.followed_.copy()
    if cluster is not None:
        followed[row, 0] = cluster
    attributes["followed_"] = None if cluster is None else followed
    with pytest.raises(Undecodable, match=match):
        check_state("NEOCC", model.get_params(), attributes)


@pytest.mark.parametrize(
    ("part", "value", "match"),
    [
        ("overlap_model", "mean", "unknown overlap model"),
        ("overlap_model", 3, "unknown overlap model"),
        ("max_memberships", 0, "unknown overlap model"),
        ("max_memberships", "4", "unknown overlap model"),
        ("gram", None, "'gram' is missing"),
        ("mixed", 1, "wrong type"),
        ("scale", "offset", "does not fit"),  # as many weights as row clusters
    ],
)
def test_overlap_models_are_checked(part, value, match, tmp_path):
    path = tmp_path / "model.neocc"
    save_model(files.fitted(row_overlap=0.3, column_overlap=0.3, overlap_model="average"), path)

    def change(data):
        header = json.loads(data)
        held = header["attributes"]["_row_model"]["RowModel"]
        if part == "gram":
            held = held["terms"]["Terms"]
        elif part in ("mixed", "scale"):
            held = held["V"]["Memberships"]
        assert part in held
        terms = header["attributes"]["_row_model"]["RowModel"]["terms"]["Terms"]
        held[part] = terms["offset"] if part == "scale" else value
        return json.dumps(header).encode()

    files.change_member(path, "model.json", change)
    with pytest.raises(ModelFileError, match=match):
        load_model(path)


def test_every_byte_matters_or_does_no_harm(tmp_path):
    """A model with any byte changed is refused, or still is a model of the same shape."""
    path = files.write_model(tmp_path / "model.neocc")
    data = path.read_bytes()
    X = files.small_matrix()
    rng = np.random.default_rng(0)
    refused = 0
    for place in rng.choice(len(data), 400, replace=False):
        changed = bytearray(data)
        changed[place] ^= int(rng.integers(1, 256))
        path.write_bytes(bytes(changed))
        try:
            loaded = load_model(path)
        except ModelFileError:
            refused += 1
        else:
            assert loaded.predict_membership(X).shape == (12, 3)
    assert refused > 200  # the checksums of the archive


def test_what_could_not_be_read_is_not_written(tmp_path):
    model = files.fitted()
    path = tmp_path / "model.neocc"
    with pytest.raises(ValueError, match="cannot be saved: its names are not a list of 12 names"):
        save_model(model, path, row_names=["a"])
    model.row_membership_ = model.row_membership_.astype(float)
    with pytest.raises(ValueError, match="cannot be saved: its 'row_membership_' is of the wrong"):
        save_model(model, path)
    assert not path.exists()
