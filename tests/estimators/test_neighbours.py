"""Data in the containers of neighbours: fitted as arrays, or refused with the way out."""

from __future__ import annotations

import re
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from models import NAMES, make_model
from scipy import sparse

from neocc import NEOCC, InfinitePlaid, plot
from neocc.datasets import load_southern_women
from neocc.engines.containers import in_memory
from neocc.io import Matrix, write_store
from neocc.preprocessing import Log1p
from neocc.selection import describe_data

X = np.random.default_rng(0).poisson(2.0, size=(24, 9)).astype(float)
NAMED = [f"gene {t}" for t in range(9)]


def made(module: str, name: str, **attributes):
    """Return an object of a type of that module and name."""
    return type(name, (), {"__module__": module, **attributes})()


def tensor(layout="torch.strided", **attributes):
    return made(
        "torch",
        "Tensor",
        layout=layout,
        is_sparse=False,
        numpy=lambda self, force=False: X if force else None,
        **attributes,
    )


def data_array(named: bool):
    """An array of xarray, which need not be there: what is used of it."""
    pandas = pytest.importorskip("pandas")
    return made(
        "xarray.core.dataarray",
        "DataArray",
        ndim=2,
        dims=("cell", "gene"),
        coords={"gene": NAMED} if named else {},
        to_pandas=lambda self: pandas.DataFrame(X, columns=NAMED),
        to_numpy=lambda self: X,
    )


def dask_array(convert=lambda block: block):
    array = pytest.importorskip("dask.array")
    return array.from_array(X, chunks=(10, 9)).map_blocks(convert)


def dask_frame():
    frames = pytest.importorskip("dask.dataframe")
    pandas = pytest.importorskip("pandas")
    return frames.from_pandas(pandas.DataFrame(X, columns=NAMED), npartitions=3)


def lazy_frame():
    polars = pytest.importorskip("polars")
    return polars.DataFrame(dict(zip(NAMED, X.T, strict=True))).lazy()


ACCEPTED = {
    "Dask": (dask_array, False),
    "Dask, sparse": (lambda: dask_array(sparse.csr_matrix), False),
    "Dask, frame": (dask_frame, True),
    "lazy frame": (lazy_frame, True),
    "tensor": (tensor, False),
    "xarray": (lambda: data_array(named=True), True),
    "xarray, no names": (lambda: data_array(named=False), False),
    "nothing masked": (lambda: np.ma.masked_array(X, np.zeros_like(X, dtype=bool)), False),
}


@pytest.mark.parametrize(("make", "named"), ACCEPTED.values(), ids=ACCEPTED)
def test_data_of_neighbours_give_the_fit_of_the_array(make, named):
    expected = NEOCC(2, 2, n_init=2, random_state=0).fit(X)
    given = make()
    model = NEOCC(2, 2, n_init=2, random_state=0).fit(given)
    np.testing.assert_array_equal(model.row_membership_, expected.row_membership_)
    assert model.objective_ == pytest.approx(expected.objective_, rel=1e-12)
    np.testing.assert_array_equal(model.predict(given), expected.predict(X))
    assert list(getattr(model, "feature_names_in_", [])) == (NAMED if named else [])


@pytest.mark.parametrize("name", NAMES)
def test_every_estimator_takes_them(name):
    expected, model = (make_model(name, n_init=1).fit(each) for each in (X, lazy_frame()))
    assert model.objective_ == expected.objective_


def test_so_do_transformers_advice_and_plots():
    np.testing.assert_array_equal(Log1p().fit_transform(lazy_frame()), np.log1p(X))
    assert describe_data(lazy_frame()).kind == describe_data(X).kind
    model = InfinitePlaid(n_sweeps=6, burn_in=1, n_init=1, random_state=0).fit(dask_array())
    assert model.row_membership_.shape[0] == len(X)
    assert plot.matrix(dask_array()) is not None


def test_masked_cells_are_missing():
    high = X > 5
    masked = np.ma.masked_array(X, high)
    with pytest.raises(ValueError, match="contains NaN"):
        NEOCC(2, 2).fit(masked)
    given = np.where(high, np.nan, X)
    fits = [
        NEOCC(2, 2, missing="ignore", n_init=1, random_state=0).fit(each)
        for each in (masked, given)
    ]
    assert fits[0].objective_ == fits[1].objective_


def test_a_store_takes_the_chunks_of_an_array_of_dask_one_by_one(tmp_path, monkeypatch):
    array = pytest.importorskip("dask.array")
    given = array.from_array(X, chunks=(10, 4))
    loaded, compute = [], array.Array.compute
    monkeypatch.setattr(
        array.Array, "compute", lambda self: loaded.append(self.shape) or compute(self)
    )
    store = write_store(tmp_path / "store", given)
    assert loaded == [(10, 9), (10, 9), (4, 9)]
    np.testing.assert_array_equal(np.vstack([store.load(i) for i in range(store.n_blocks)]), X)


REFUSED = {
    "path": ("cells.csv", r"the path 'cells.csv'.*read_matrix"),
    "AnnData": (SimpleNamespace(X=X, obsm={}, var_names=NAMED), r"AnnData.*adata\.X.*cocluster"),
    "matrix with names": (Matrix(X), r"X\.data"),
    "data set": (load_southern_women(), r"X\.data"),
    "xarray": (made("xarray.core.dataset", "Dataset"), r"X\[name\]"),
    "sparse tensor": (tensor(layout="torch.sparse_csr"), r"sparse tensor.*coo_array"),
    "texts": (["one text", "and another"], "CountVectorizer"),
    "dictionaries": ([{"a": 1}, {"b": 2}], "DictVectorizer"),
    "corpus": ([[(0, 2.0)], [(0, 1.0), (3, 1.0)]], r"corpus2csc\(X\)\.T"),
}


@pytest.mark.parametrize(("given", "words"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_matrix_is_refused_in_a_sentence_that_helps(given, words):
    for call in (NEOCC(2, 2).fit, Log1p().fit, describe_data, InfinitePlaid().fit):
        with pytest.raises(TypeError, match=words) as error:
            call(given)
        assert len(re.findall(r"\.(?: |$)", str(error.value))) <= 3
        assert "array=" not in str(error.value)


def test_lists_of_numbers_are_data():
    for given in (X.tolist(), tuple(map(tuple, X)), [X[0], X[1]], []):
        assert in_memory(given) is given


def test_nothing_is_imported_to_tell():
    before = set(sys.modules)
    in_memory(X)
    assert set(sys.modules) == before
