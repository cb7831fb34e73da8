"""Data frames in, data frames out: names of rows and columns stay with the numbers."""

from __future__ import annotations

import numpy as np
import pytest
from models import NAMES, make_model
from sklearn.pipeline import make_pipeline

from neocc import NEOCC, plot, preprocessing, top_features
from neocc.io import read_matrix, write_result
from neocc.preprocessing import Log1p, Standardizer
from neocc.report import render_report

pandas = pytest.importorskip("pandas")
ROWS, COLUMNS = [f"cell {i}" for i in range(14)], [f"gene {t}" for t in range(8)]
VALUES = np.random.default_rng(0).random((14, 8))
FRAME = pandas.DataFrame(VALUES, index=ROWS, columns=COLUMNS)


@pytest.mark.parametrize("name", NAMES)
def test_distances_have_the_names_of_the_rows(name):
    model = make_model(name).set_output(transform="pandas")
    for found in (model.fit_transform(FRAME), model.transform(FRAME)):
        assert list(found.index) == ROWS
        assert list(found.columns) == list(model.get_feature_names_out())
    np.testing.assert_array_equal(
        model.transform(FRAME), make_model(name).fit(VALUES).transform(VALUES)
    )


def test_names_go_through_a_pipeline():
    steps = make_pipeline(Log1p(), Standardizer(), NEOCC(2, 2, random_state=0))
    found = steps.set_output(transform="pandas").fit(FRAME).transform(FRAME)
    assert list(found.index) == ROWS
    assert list(found.columns) == list(steps.get_feature_names_out()) == ["neocc0", "neocc1"]
    assert list(steps[-1].feature_names_in_) == COLUMNS
    assert {name for line in top_features(steps[-1]).values() for name, _ in line} <= set(COLUMNS)


@pytest.mark.parametrize("fill", [np.nan, 1.0, 0.0])
def test_sparse_columns_are_the_cells_of_the_frame_whatever_their_fill(fill):
    X = np.random.default_rng(0).integers(3, size=(14, 8)).astype(float)
    X[X == 0] = fill
    given = pandas.DataFrame(X, columns=COLUMNS).astype(pandas.SparseDtype(float, fill))
    observed = {"missing": "ignore"} if np.isnan(fill) else {}
    one, other = (NEOCC(2, 2, random_state=0, **observed).fit(each) for each in (given, X))
    assert one.objective_ == pytest.approx(other.objective_, rel=1e-12)
    assert list(one.feature_names_in_) == COLUMNS


FUNCTIONS = ["binarize", "binormalize", "center", "log1p", "scale_norms", "standardize", "tfidf"]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_keep_frames(name):
    function = getattr(preprocessing, name)
    found = function(FRAME)
    pandas.testing.assert_frame_equal(
        found, pandas.DataFrame(function(VALUES), index=ROWS, columns=COLUMNS)
    )
    polars = pytest.importorskip("polars")
    given = polars.DataFrame(VALUES, schema=COLUMNS)
    for each in (given, given.lazy()):
        assert function(each).columns == COLUMNS
        np.testing.assert_allclose(function(each), function(VALUES))


def test_steps_by_name_keep_frames_unless_they_make_them_sparse():
    found = preprocessing.preprocess(FRAME, ["log1p", "row-norm"])
    assert list(found.index) == ROWS
    assert preprocessing.preprocess(FRAME, ["drop-zeros"]).nnz == 14 * 8


def test_results_have_the_names_of_a_frame(tmp_path):
    model = NEOCC(2, 2, random_state=0).fit(FRAME)
    write_result(model, tmp_path / "frame", matrix=FRAME)
    rows = pandas.read_csv(tmp_path / "frame" / "rows.csv")
    columns = pandas.read_csv(tmp_path / "frame" / "columns.csv")
    assert sorted(rows["name"]) == sorted(ROWS)
    assert sorted(columns["name"]) == sorted(COLUMNS)
    write_result(model, tmp_path / "array", matrix=FRAME.reset_index(drop=True))
    assert pandas.read_csv(tmp_path / "array" / "rows.csv")["name"][0] == "row 1"


def test_so_have_pictures_and_reports():
    pytest.importorskip("matplotlib")
    model = NEOCC(2, 2, random_state=0).fit(FRAME)
    shown = plot.reordered(model, FRAME).get_yticklabels()
    assert {text.get_text() for text in shown} == set(ROWS)
    assert ROWS[3] in render_report(model, matrix=FRAME)


def test_a_matrix_from_a_file_becomes_a_frame(tmp_path):
    FRAME.to_csv(tmp_path / "cells.csv")
    matrix = read_matrix(tmp_path / "cells.csv")
    frame = pandas.DataFrame(matrix.data, index=matrix.row_names, columns=matrix.column_names)
    pandas.testing.assert_frame_equal(frame, FRAME)
