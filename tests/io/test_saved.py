"""What a saved model takes: new rows, and the file of its fit, in the form of the fit."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from neocc import NEOCC
from neocc.io import Matrix, SavedModel, open_store, write_store
from neocc.io._memberships import read_memberships
from neocc.io._saved import keep_steps
from neocc.preprocessing import make_preprocessor

X = np.array([[4.0, 4, 0], [4, 4, 0], [0, 0, 2]])
ROWS, COLUMNS = ("x", "y", "z"), ("a", "b", "c")


@pytest.fixture
def saved():
    """A model whose rows were filled and scaled."""
    steps = make_preprocessor(["row-norm"]).fit(X)
    model = NEOCC(2, 2, random_state=0).fit(steps.transform(X))
    keep_steps(model, steps, dense=True)
    return SavedModel(model, ROWS, COLUMNS, "")


def test_new_rows_are_matched_filled_and_preprocessed(saved):
    new = Matrix(sparse.csr_array([[3.0, 0.0, 4.0]]), None, ("c", "b", "a"))
    assert np.allclose(saved.prepare(new), [[0.8, 0.0, 0.6]])


def test_the_file_of_a_fit_may_have_its_rows_in_another_order(saved):
    matrix = saved.matrix_of_fit(Matrix(X[::-1], ROWS[::-1], COLUMNS))
    assert matrix.row_names == ROWS
    assert np.allclose(np.linalg.norm(matrix.data, axis=1), 1.0)
    assert np.array_equal(matrix.data != 0, X != 0)


def test_other_data_are_refused(saved, tmp_path):
    with pytest.raises(ValueError, match="It has 2 columns, the model 3"):
        saved.prepare(Matrix(X[:, :2]))
    with pytest.raises(ValueError, match="fitted to 3 and 3"):
        saved.matrix_of_fit(Matrix(X[:2]))
    write_store(tmp_path / "store", X)
    with pytest.raises(ValueError, match="a block store is used as it is"):
        saved.prepare(Matrix(open_store(tmp_path / "store")))


def test_memberships_are_read_from_lines_and_from_a_matrix(tmp_path):
    (tmp_path / "lines.csv").write_text("name,cluster\nx,1\nx,2\ny,\nz,2\n")
    (tmp_path / "matrix.csv").write_text("name,one,two\nx,1,1\ny,0,0\nz,0,1\n")
    for name in ("lines.csv", "matrix.csv"):
        found = read_memberships(tmp_path / name)
        assert found.row_names == ROWS
        assert found.data.toarray().tolist() == [[1, 1], [0, 0], [0, 1]]


def test_a_matrix_with_a_group_called_group_is_no_list(tmp_path):
    path = tmp_path / "members.csv"
    path.write_text("movie,group,drama\na,1,0\nb,0,1\nc,1,1\n", encoding="utf-8")
    found = read_memberships(path)
    np.testing.assert_array_equal(found.data.toarray(), [[1, 0], [0, 1], [1, 1]])
