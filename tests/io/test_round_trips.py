"""What is written is read back number for number, by every reader from every writer."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from neocc import NEOCC
from neocc.io import Matrix, WouldOverwriteError, read_matrix, write_matrix
from neocc.io.readers._headings import says_id

ROWS = ("gene, one", 'gene "2"', "3", "NA")
COLUMNS = ("a", "b\nc", " d;e", "x", "ö")
HARD = np.array(
    [
        [0.1, 1 / 3, -1e-300, 5e-324, 0],
        [1.7976931348623157e308, 123456789.12345679, -0.3, 2**53 + 2, 7],
        [0, 0, 0, 0, 0],
        [1e16, 1e22, 1.5, -2.5, 0.7],
    ]
)

TEXT = ["m.csv", "m.tsv", "m.csv.gz", "m.tsv.gz", "m.parquet"]
NAMELESS = ["m.mtx", "m.mtx.gz", "m.npz", "m.npy"]


def dense(data):
    return data.toarray() if sparse.issparse(data) else data


def by_name(matrix: Matrix) -> dict[tuple[str, str], float]:
    values = dense(matrix.data)
    return {
        (row.strip(), column.strip()): values[i, j]
        for i, row in enumerate(matrix.row_names)
        for j, column in enumerate(matrix.column_names)
    }


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("name", TEXT)
class TestNamed:
    def test_table(self, name, kind, tmp_path):
        matrix = Matrix(kind(HARD), ROWS, COLUMNS)
        write_matrix(matrix, tmp_path / name, layout="table")
        found = read_matrix(tmp_path / name, layout="table")
        np.testing.assert_array_equal(found.data, HARD)
        assert found.row_names == ROWS
        assert found.column_names == tuple(column.strip() for column in COLUMNS)

    def test_triplets(self, name, kind, tmp_path):
        matrix = Matrix(kind(HARD), ROWS, COLUMNS)
        write_matrix(matrix, tmp_path / name, layout="triplets")
        found = read_matrix(tmp_path / name, layout="triplets", duplicates="error")
        assert by_name(found) == by_name(matrix)

    def test_triplets_without_names_keep_their_order(self, name, kind, tmp_path):
        wide = np.zeros((12, 15))
        wide[3, 11] = 5
        write_matrix(kind(wide), tmp_path / name, layout="triplets")
        found = read_matrix(tmp_path / name, layout="triplets")
        np.testing.assert_array_equal(dense(found.data), wide)


def test_names_of_a_data_frame_are_kept(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(HARD, index=ROWS)  # columns that are only counted have no names
    for columns in (range(5), ["name", "b", "c", "d", "e"]):
        frame.columns = columns
        write_matrix(frame, tmp_path / "m.csv", force=True)
        found = read_matrix(tmp_path / "m.csv")
        np.testing.assert_array_equal(found.data, HARD)
        assert found.row_names == ROWS
    assert found.column_names == tuple(columns)


@pytest.mark.parametrize("name", ["m.csv", "m.tsv.gz"])
def test_a_table_without_names(name, tmp_path):
    write_matrix(HARD, tmp_path / name)
    found = read_matrix(tmp_path / name)
    np.testing.assert_array_equal(found.data, HARD)
    assert found.row_names is found.column_names is None


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "?"])
@pytest.mark.parametrize("name", TEXT + NAMELESS)
def test_numbers_of_every_type(name, dtype, kind, tmp_path):
    if name == "m.npy" and kind is sparse.csr_array:
        pytest.skip("refused; see below")
    limits = (-1000, 1000)
    data = kind(np.clip(HARD, *limits).astype(dtype))
    layout = "table" if name in TEXT else None
    write_matrix(data, tmp_path / name, layout=layout)
    # A Parquet file has names of columns always; text has none here.
    found = read_matrix(tmp_path / name, **({"layout": layout} if layout else {}))
    np.testing.assert_array_equal(dense(found.data), dense(data))


@given(
    hnp.arrays(
        np.float64,
        hnp.array_shapes(min_dims=2, max_dims=2, max_side=6),
        elements=st.floats(allow_nan=False, allow_infinity=False),
    ),
    st.sampled_from(["m.csv", "m.tsv.gz", "m.mtx", "m.npz", "m.npy", "m.parquet"]),
)
def test_any_finite_numbers(tmp_path_factory, data, name):
    path = tmp_path_factory.mktemp("numbers") / name
    write_matrix(data, path)
    np.testing.assert_array_equal(dense(read_matrix(path).data), data)


# What text cannot tell from something else: edges that are stripped, and no name at all.
NAME = st.text(st.characters(exclude_categories=("Cs", "Cc", "Zs", "Zl", "Zp")), min_size=1)


# Numbers, headings and missing values as names, and whatever else there is.
TRICKY = st.sampled_from(["0", "1", "2", "7", "2001", "2002", "1.5", "-1", "NA", "nan", "inf", "?"])
TRICKY |= st.sampled_from(
    ["name", "id", "row", "column", "value", "user", "item", "rating", "gene"]
)
TRICKY |= st.sampled_from(["index", "x;y", "a,b", "timestamp"])


@st.composite
def matrices(draw):
    """Draw a small matrix of small or any numbers, dense or sparse, with or without names."""
    shape = draw(st.tuples(st.integers(1, 5), st.integers(1, 5)))
    elements = draw(
        st.sampled_from(
            [
                st.integers(0, 3),
                st.integers(0, 10**9),
                st.floats(allow_nan=False, allow_infinity=False),
            ]
        )
    )
    data = draw(hnp.arrays(np.float64, shape, elements=elements))
    names = [
        draw(
            st.none()
            | st.lists(TRICKY | NAME, min_size=size, max_size=size, unique=True).map(tuple)
        )
        for size in shape
    ]
    return Matrix(draw(st.sampled_from([np.asarray, sparse.csr_array]))(data), *names)


def named(matrix: Matrix) -> Matrix:
    """Give a matrix the names that are written in the place of missing ones in triplets."""
    names = [
        known or tuple(str(place + 1) for place in range(size))
        for known, size in zip((matrix.row_names, matrix.column_names), matrix.shape, strict=True)
    ]
    return Matrix(matrix.data, *names)


@settings(max_examples=4 * settings.default.max_examples)
@given(matrices(), st.sampled_from(TEXT + NAMELESS), st.sampled_from(["table", "triplets", None]))
def test_any_matrix_is_read_back_without_options(tmp_path_factory, matrix, name, layout):
    if name == "m.npy" and matrix.is_sparse:
        return
    path = tmp_path_factory.mktemp("any") / name
    rows, columns = matrix.row_names or (), matrix.column_names or ()
    if list(rows) in [[str(i + first) for i in range(len(rows))] for first in (0, 1)]:
        # Rows that are only counted give way to a column of ids: such a table is refused.
        assume(not any(map(says_id, columns)))
    write_matrix(matrix, path, layout=layout)
    found = read_matrix(path)
    if found.is_sparse and name in TEXT:
        assert layout != "table"
        assert by_name(found) == by_name(named(matrix))
        return
    np.testing.assert_array_equal(dense(found.data), dense(matrix.data))
    if name in NAMELESS:
        return
    assert layout != "triplets"
    for side in ("row", "column"):
        given_names, found_names = (getattr(one, f"{side}_names") for one in (matrix, found))
        if given_names is not None:
            assert found_names == given_names
        elif found_names is not None:
            assert found_names == tuple(f"{side} {i + 1}" for i in range(len(found_names)))


def test_a_table_that_looks_like_the_ratings_of_movielens(tmp_path):
    table = np.array([[1.0, 2, 3, 881250949], [1, 3, 5, 881250950]])
    write_matrix(table, tmp_path / "m.tsv")
    np.testing.assert_array_equal(read_matrix(tmp_path / "m.tsv").data, table)


def test_a_matrix_without_cells_is_refused(tmp_path):
    with pytest.raises(ValueError, match="nothing to write"):
        write_matrix(np.empty((0, 3)), tmp_path / "m.csv")
    assert not list(tmp_path.iterdir())


@given(st.lists(NAME, min_size=2, max_size=6, unique=True), st.sampled_from(["csv", "parquet"]))
def test_any_names_of_ids(tmp_path_factory, names, ending):
    path = tmp_path_factory.mktemp("names") / f"m.{ending}"
    matrix = Matrix(np.diag(np.arange(1.0, len(names) + 1)), tuple(names), tuple(names))
    write_matrix(matrix, path, layout="triplets")
    found = read_matrix(path, layout="triplets")
    assert sorted(found.row_names) == sorted(names)
    assert by_name(found) == by_name(matrix)


@pytest.mark.parametrize("name", TEXT[:3])
def test_a_fit_from_a_file_equals_the_fit_from_the_array(name, tmp_path):
    X = np.random.default_rng(0).normal(size=(40, 25))
    write_matrix(X, tmp_path / name)
    matrix = read_matrix(tmp_path / name)
    ours, theirs = (
        NEOCC(3, 2, row_overlap=0.1, row_outliers=0.05, n_init=2, random_state=0).fit(data)
        for data in (matrix.data, X)
    )
    np.testing.assert_array_equal(ours.row_membership_, theirs.row_membership_)
    np.testing.assert_array_equal(ours.column_membership_, theirs.column_membership_)
    assert ours.objective_ == theirs.objective_
    np.testing.assert_array_equal(ours.transform(X), theirs.transform(X))


def test_a_fit_from_triplets_equals_the_fit_from_the_sparse_matrix(tmp_path):
    X = sparse.random(60, 30, 0.3, format="csr", random_state=0)
    write_matrix(X, tmp_path / "m.csv.gz")
    matrix = read_matrix(tmp_path / "m.csv.gz")
    ours, theirs = (
        NEOCC(3, 3, objective="residue", refine=False, n_init=2, random_state=0).fit(data)
        for data in (matrix.data, X)
    )
    assert ours.objective_ == theirs.objective_
    np.testing.assert_array_equal(ours.row_membership_, theirs.row_membership_)


def test_large_matrices_are_written_and_read_in_several_parts(tmp_path):
    X = sparse.random(3000, 2000, 0.4, format="csr", random_state=0)
    write_matrix(X, tmp_path / "m.csv")
    found = read_matrix(tmp_path / "m.csv")
    assert (tmp_path / "m.csv").stat().st_size > 4 << 23  # more blocks than one
    assert abs(found.data - X).max() == 0


class TestRefusals:
    def test_existing_files_are_kept(self, tmp_path):
        path = tmp_path / "m.csv"
        path.write_text("precious")
        with pytest.raises(WouldOverwriteError, match="force=True"):
            write_matrix(np.eye(2), path)
        assert path.read_text() == "precious"
        write_matrix(np.eye(2), path, force=True)
        np.testing.assert_array_equal(read_matrix(path).data, np.eye(2))

    @pytest.mark.parametrize("name", ["m.xlsx", "m", "m.npy.gz", "m.parquet.gz"])
    def test_unknown_endings(self, name, tmp_path):
        with pytest.raises(ValueError, match="does not end in"):
            write_matrix(np.eye(2), tmp_path / name)
        assert not list(tmp_path.iterdir())

    def test_sparse_npy(self, tmp_path):
        with pytest.raises(ValueError, match=r"Choose \.npz"):
            write_matrix(sparse.csr_array(np.eye(2)), tmp_path / "m.npy")
        assert not list(tmp_path.iterdir())

    @pytest.mark.parametrize("names", [("a", "a"), ("a", ""), ("a", " a")])
    def test_ids_that_cannot_be_told_apart(self, names, tmp_path):
        with pytest.raises(ValueError, match="same name or none"):
            write_matrix(Matrix(np.eye(2), names), tmp_path / "m.csv", layout="triplets")
        assert not list(tmp_path.iterdir())


def test_the_same_matrix_gives_the_same_file(tmp_path):
    for name in ("a.csv.gz", "b.csv.gz"):
        write_matrix(HARD, tmp_path / name)
    assert (tmp_path / "a.csv.gz").read_bytes() == (tmp_path / "b.csv.gz").read_bytes()
    assert gzip.decompress((tmp_path / "a.csv.gz").read_bytes()).startswith(b"0.1,")


@pytest.mark.parametrize("columns", [("name", "b"), ("b", "name"), ("", "name 1")])
def test_a_parquet_column_called_like_the_heading_of_row_names(columns, tmp_path):
    matrix = Matrix(np.arange(6.0).reshape(3, 2), ("x", "name", "z"), columns)
    write_matrix(matrix, tmp_path / "m.parquet")
    found = read_matrix(tmp_path / "m.parquet")
    np.testing.assert_array_equal(found.data, matrix.data)
    assert (found.row_names, found.column_names) == (matrix.row_names, matrix.column_names)


@pytest.mark.parametrize("columns", [("a", "a"), ("__index_level_0__", "b")])
def test_parquet_columns_that_would_be_read_as_something_else_are_refused(columns, tmp_path):
    with pytest.raises(ValueError, match="would not be recognised as names"):
        write_matrix(Matrix(np.eye(2), None, columns), tmp_path / "m.parquet")
    assert not list(tmp_path.iterdir())


def test_counted_rows_beside_a_column_of_ids_are_refused(tmp_path):
    matrix = Matrix(np.eye(3), ("0", "1", "2"), ("a", "b", "user_id"))
    matrix.data[:, 2] = [7, 5, 9]
    with pytest.raises(ValueError, match="would not be recognised as names"):
        write_matrix(matrix, tmp_path / "m.csv")
    assert not (tmp_path / "m.csv").exists()
