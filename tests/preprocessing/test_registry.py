"""Transformations by name, and scikit-learn's checks for all of them."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import neocc.preprocessing
from neocc import NEOCC
from neocc.preprocessing import (
    PREPROCESSORS,
    Binormalizer,
    Centerer,
    Log1p,
    Log2,
    NormScaler,
    Standardizer,
    Tfidf,
    ZeroDropper,
    make_preprocessor,
    preprocess,
)
from neocc.preprocessing._registry import _MAKERS

# What would fill a sparse matrix.
FILLING = {name for name in PREPROCESSORS if name.endswith(("center", "standardize", "log2"))}


def example():
    rng = np.random.default_rng(0)
    return rng.integers(1, 9, size=(12, 9)) * (rng.random((12, 9)) < 0.8).astype(float)


def test_every_name_is_explained_and_made():
    assert list(_MAKERS) == list(PREPROCESSORS)
    assert len(FILLING) == 6


@pytest.mark.parametrize("name", PREPROCESSORS)
def test_every_step_transforms_dense_and_sparse_data_alike(name):
    X = example()
    dense = preprocess(X, name)
    assert dense.shape == X.shape
    if name == "drop-zeros":
        assert dense.nnz == np.count_nonzero(X)
        dense = dense.toarray()
    else:
        assert not np.array_equal(dense, X)
    if name in FILLING:
        with pytest.raises(ValueError, match="zeros of a sparse matrix"):
            preprocess(sparse.csr_array(X), name)
    else:
        stored = preprocess(sparse.csr_array(X), name)
        assert sparse.issparse(stored)
        np.testing.assert_allclose(stored.toarray(), dense, rtol=1e-9)


@pytest.mark.parametrize("side", ["row", "column"])
def test_names_say_which_side_is_meant(side):
    axis = 1 if side == "row" else 0
    centred = preprocess(example(), f"{side}-center")
    np.testing.assert_allclose(centred.mean(axis=axis), 0.0, atol=1e-12)
    standard = preprocess(example(), f"{side}-standardize")
    np.testing.assert_allclose(standard.std(axis=axis), 1.0)
    for name, order in ((f"{side}-norm", 2), (f"{side}-norm-l1", 1), (f"{side}-norm-max", np.inf)):
        scaled = preprocess(example(), name)
        np.testing.assert_allclose(np.linalg.norm(scaled, ord=order, axis=axis), 1.0)


def test_steps_are_made_in_the_order_given():
    X = example()
    np.testing.assert_allclose(
        preprocess(X, ["log1p", "column-norm"]), preprocess(preprocess(X, "log1p"), "column-norm")
    )
    one_way, other = (
        preprocess(X, names) for names in (["log1p", "row-norm"], ["row-norm", "log1p"])
    )
    assert not np.allclose(one_way, other)


def test_no_steps_change_nothing():
    X = example()
    assert preprocess(X, []) is X
    np.testing.assert_array_equal(make_preprocessor(()).fit(X).transform(X), X)


def test_a_step_may_come_twice():
    pipeline = make_preprocessor(["row-norm", "column-norm", "row-norm", "row-norm"])
    assert [name for name, _ in pipeline.steps] == [
        "row-norm",
        "column-norm",
        "row-norm#2",
        "row-norm#3",
    ]
    assert pipeline.fit_transform(example()).shape == (12, 9)


def test_unknown_names_are_refused_with_a_hint():
    with pytest.raises(ValueError, match=r"no preprocessing step 'log1q'. Did you mean 'log1p'\?"):
        make_preprocessor(["log1q"])
    with pytest.raises(ValueError, match=r"step 'zzz'\. Choose from: row-center, column-center"):
        preprocess(example(), ["row-norm", "zzz"])
    with pytest.raises(ValueError, match="no preprocessing step 3"):
        make_preprocessor([3])


def test_pipelines_transform_new_rows_and_take_an_estimator():
    X = example()
    pipeline = make_preprocessor(["log1p", "column-norm"]).fit(X)
    np.testing.assert_allclose(pipeline.transform(X[:4]), pipeline.transform(X)[:4])
    model = Pipeline([*pipeline.steps, ("neocc", NEOCC(2, 2, n_init=1, random_state=0))])
    assert clone(model).fit(X)[-1].row_membership_.shape == (12, 2)
    assert len(pipeline.get_feature_names_out()) == 9


def test_names_are_listed_without_importing_scikit_learn():
    code = (
        "import json, sys\n"
        "from neocc.preprocessing import PREPROCESSORS\n"
        "print(json.dumps([sorted(sys.modules), list(PREPROCESSORS)]))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    modules, names = json.loads(run.stdout)
    assert not {"sklearn", "numpy", "scipy"} & set(modules)
    assert names == list(PREPROCESSORS)


def test_every_public_name_can_be_imported():
    for name in neocc.preprocessing.__all__:
        assert getattr(neocc.preprocessing, name) is not None
    assert dir(neocc.preprocessing) == sorted(neocc.preprocessing.__all__)
    with pytest.raises(AttributeError, match="no attribute 'centre'"):
        neocc.preprocessing.centre  # noqa: B018


@parametrize_with_checks(
    [
        Centerer(),
        Centerer("rows"),
        Centerer("both"),
        Standardizer(),
        Standardizer("rows"),
        Standardizer(with_mean=False),
        Standardizer("rows", with_mean=False),
        NormScaler(),
        NormScaler("columns"),
        NormScaler("columns", "max"),
        Binormalizer(),
        Log1p(),
        Log2(),
        Tfidf(),
        ZeroDropper(),
    ]
)
def test_sklearn_check(estimator, check):
    check(estimator)
