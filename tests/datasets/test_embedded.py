"""The data sets inside the package are what their sources say."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from neocc.datasets import load_case_study, load_southern_women


@pytest.fixture
def women():
    return load_southern_women()


@pytest.fixture
def case():
    return load_case_study()


def test_southern_women_shape_and_values(women):
    assert women.data.shape == (18, 14)
    assert women.data.dtype == np.float64
    assert set(np.unique(women.data)) == {0.0, 1.0}
    assert women.data.sum() == 89


def test_southern_women_margins(women):
    # Printed beside the table in the literature: events per woman and women per event.
    per_woman = [8, 7, 8, 7, 4, 4, 4, 3, 4, 4, 4, 6, 7, 8, 5, 2, 2, 2]
    per_event = [3, 3, 6, 4, 8, 8, 10, 14, 12, 5, 4, 6, 3, 3]
    np.testing.assert_array_equal(women.data.sum(axis=1), per_woman)
    np.testing.assert_array_equal(women.data.sum(axis=0), per_event)


def test_southern_women_names(women):
    assert len(set(women.row_names)) == 18
    assert women.row_names[0] == "Evelyn Jefferson"
    assert women.row_names[-1] == "Flora Price"
    assert women.column_names == [f"E{number}" for number in range(1, 15)]
    assert len(set(women.column_dates)) == 14
    assert women.citation in women.DESCR


def test_southern_women_cliques_overlap_in_one_woman(women):
    assert women.cliques.shape == (18, 2)
    assert women.cliques.any(axis=1).all()
    both = np.flatnonzero(women.cliques.all(axis=1))
    assert [women.row_names[row] for row in both] == ["Ruth DeSand"]


def test_case_study_shapes(case):
    assert case.data.shape == (7, 6)
    assert [c.name for c in case.configurations] == ["a", "b", "c", "d"]
    for configuration in case.configurations:
        assert configuration.row_membership.dtype == np.bool_
        assert configuration.row_membership.shape == (7, 3 if configuration.name == "b" else 2)
        assert configuration.column_membership.shape == (6, 2)


def test_case_study_overlap_and_outliers(case):
    a, b, c, d = case.configurations
    for disjoint in (a, b):
        assert (disjoint.row_membership.sum(axis=1) == 1).all()
        assert (disjoint.column_membership.sum(axis=1) == 1).all()
    for overlapping in (c, d):
        assert overlapping.row_membership.sum(axis=1).tolist() == [1, 1, 2, 2, 1, 1, 0]
    assert c.column_membership.sum(axis=1).tolist() == [1, 1, 1, 1, 1, 1]
    assert d.column_membership.sum(axis=1).tolist() == [1, 1, 0, 1, 1, 1]


@pytest.mark.parametrize("index", range(4))
def test_case_study_printed_objective(case, index):
    configuration = case.configurations[index]
    value = 0.0
    for rows in configuration.row_membership.T:
        for columns in configuration.column_membership.T:
            block = case.data[np.ix_(rows, columns)]
            value += ((block - block.mean()) ** 2).sum()
    assert round(value, 4) == configuration.printed_objective


@pytest.mark.parametrize("load", [load_southern_women, load_case_study])
def test_each_call_returns_its_own_copy(load):
    load().data[:] = -1
    assert load().data.min() == 0


def test_import_loads_no_numerical_library():
    code = "import sys, neocc.datasets; print({'numpy', 'scipy', 'sklearn'} & set(sys.modules))"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "set()"
