"""The other formats: what other programs write is read as they mean it."""

from __future__ import annotations

import gzip
import subprocess
import sys

import files
import numpy as np
import pytest
from scipy import io as scipy_io
from scipy import sparse

from neocc.io import READERS, Matrix, read_matrix, write_store

DATA = np.array([[1.0, 0, 2.5], [0, 0, -3]])


def test_each_format_has_one_reader_and_each_ending_too():
    names = [reader.name for reader in READERS]
    endings = [suffix for reader in READERS for suffix in reader.suffixes]
    assert len(set(names)) == len(names)
    assert len(set(endings)) == len(endings)
    assert {"csv", "tsv", "parquet", "u.data", "ratings.dat", "mtx"} <= set(names)
    assert {"npz", "npy", "h5ad", "arff"} <= set(names)


def dense(matrix: Matrix) -> np.ndarray:
    return matrix.data.toarray() if matrix.is_sparse else matrix.data


class TestMovieLens:
    LINES = ((1, 10, 5), (1, 2, 3), (30, 10, 4))

    @pytest.mark.parametrize("name", ["u.data", "u1.base", "anything", "u.data.gz"])
    def test_u_data(self, name, tmp_path):
        self.check(tmp_path / name, "\t", "u.data")

    @pytest.mark.parametrize("name", ["ratings.dat", "anything.txt", "ratings.dat.gz"])
    def test_ratings_dat(self, name, tmp_path):
        self.check(tmp_path / name, "::", "ratings.dat")

    def check(self, path, separator, format):  # noqa: A002
        text = "".join(
            separator.join(map(str, (*line, 881250949))) + "\n" for line in self.LINES
        ).encode()
        path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
        matrix = read_matrix(path)
        assert matrix.format == format
        assert matrix.row_names == ("1", "30")
        assert matrix.column_names == ("2", "10")
        np.testing.assert_array_equal(dense(matrix), [[3, 5], [0, 4]])

    def test_half_stars(self, tmp_path):
        path = tmp_path / "ratings.dat"
        path.write_text("1::2::3.5::978300760\n1::3::.5::978300760\n")
        np.testing.assert_array_equal(dense(read_matrix(path)), [[3.5, 0.5]])


class TestMatrixMarket:
    @pytest.mark.parametrize("name", ["m.mtx", "m.mtx.gz", "unknown"])
    @pytest.mark.parametrize("data", [DATA, sparse.coo_array(DATA), sparse.coo_array(DATA > 0)])
    def test_what_scipy_writes(self, data, name, tmp_path):
        plain = tmp_path / "plain.mtx"
        scipy_io.mmwrite(plain, data)
        path = tmp_path / name
        path.write_bytes(
            gzip.compress(plain.read_bytes()) if name.endswith(".gz") else plain.read_bytes()
        )
        matrix = read_matrix(path)
        assert matrix.is_sparse == sparse.issparse(data)
        wanted = data.toarray() if sparse.issparse(data) else data
        np.testing.assert_array_equal(dense(matrix), wanted)

    @pytest.mark.parametrize(
        ("banner", "body", "wanted"),
        [
            ("coordinate real symmetric", "2 2 2\n1 1 3\n2 1 5\n", [[3, 5], [5, 0]]),
            ("coordinate real skew-symmetric", "2 2 1\n2 1 5\n", [[0, -5], [5, 0]]),
            ("coordinate pattern general", "2 2 1\n2 1\n", [[0, 0], [1, 0]]),
            ("coordinate integer general", "2 2 1\n2 1 7\n", [[0, 0], [7, 0]]),
            ("array real symmetric", "2 2\n1\n2\n3\n", [[1, 2], [2, 3]]),
            ("array real skew-symmetric", "3 3\n1\n2\n3\n", [[0, -1, -2], [1, 0, -3], [2, 3, 0]]),
            ("array integer general", "1 3\n1\n2\n3\n", [[1, 2, 3]]),
            ("coordinate real general", "2 2 0\n", [[0, 0], [0, 0]]),
            ("coordinate real general", " 2\t2   1 \n  1 \t 2    3.5  \r\n\n", [[0, 3.5], [0, 0]]),
            ("COORDINATE Real General", "% c\n%\n2 2 1\n1 2 -1e-3\n", [[0, -1e-3], [0, 0]]),
        ],
    )
    def test_kinds(self, banner, body, wanted, tmp_path):
        path = tmp_path / "m.mtx"
        path.write_text(f"%%MatrixMarket matrix {banner}\n{body}")
        np.testing.assert_array_equal(dense(read_matrix(path)), wanted)

    @pytest.mark.parametrize(("duplicates", "value"), [("sum", 7), ("mean", 3.5)])
    def test_duplicates(self, duplicates, value, tmp_path):
        path = tmp_path / "m.mtx"
        path.write_text("%%MatrixMarket matrix coordinate integer general\n1 2 2\n1 2 3\n1 2 4\n")
        np.testing.assert_array_equal(dense(read_matrix(path, duplicates=duplicates)), [[0, value]])

    def test_missing_as_zero(self, tmp_path):
        path = tmp_path / "m.mtx"
        path.write_text("%%MatrixMarket matrix coordinate real general\n1 2 2\n1 1 nan\n1 2 4\n")
        matrix = read_matrix(path, missing="zero")
        np.testing.assert_array_equal(dense(matrix), [[0, 4]])
        assert matrix.data.nnz == 1


class TestNumPy:
    @pytest.mark.parametrize("order", ["C", "F"])
    @pytest.mark.parametrize("dtype", ["f8", "f4", ">f8", "i2", "u8", "?", "f2"])
    def test_npy(self, dtype, order, tmp_path):
        data = np.asarray(DATA.astype(dtype), order=order)
        np.save(tmp_path / "m.npy", data)
        matrix = read_matrix(tmp_path / "m.npy")
        np.testing.assert_array_equal(matrix.data, data)
        assert matrix.data.flags.c_contiguous
        assert matrix.data.dtype.isnative
        if dtype in ("f8", "f4"):
            assert matrix.data.dtype == data.dtype

    @pytest.mark.parametrize("compressed", [True, False])
    @pytest.mark.parametrize("form", ["csr", "csc", "coo"])
    @pytest.mark.parametrize("kind", ["array", "matrix"])
    def test_sparse_npz(self, form, kind, compressed, tmp_path):
        matrix = getattr(sparse, f"{form}_{kind}")(DATA)
        sparse.save_npz(tmp_path / "m.npz", matrix, compressed=compressed)
        found = read_matrix(tmp_path / "m.npz")
        assert isinstance(found.data, sparse.csr_array)
        assert found.data.has_canonical_format
        np.testing.assert_array_equal(found.data.toarray(), DATA)

    def test_dense_npz(self, tmp_path):
        np.savez(tmp_path / "m.npz", x=DATA)
        np.testing.assert_array_equal(read_matrix(tmp_path / "m.npz").data, DATA)

    def test_missing_as_zero(self, tmp_path):
        np.save(tmp_path / "m.npy", np.array([[1, np.nan], [3, 4]], dtype=np.float32))
        matrix = read_matrix(tmp_path / "m.npy", missing="zero")
        np.testing.assert_array_equal(matrix.data, [[1, 0], [3, 4]])
        assert matrix.data.dtype == np.float32

    @pytest.mark.parametrize(("duplicates", "value"), [("sum", 5), ("mean", 2.5)])
    def test_duplicates_in_coordinates(self, duplicates, value, tmp_path):
        files.write_npz(
            tmp_path / "m.npz",
            format=np.array(b"coo"),
            shape=np.array([2, 2]),
            data=np.array([2.0, 3.0]),
            row=np.array([1, 1]),
            col=np.array([0, 0]),
        )
        found = read_matrix(tmp_path / "m.npz", duplicates=duplicates)
        np.testing.assert_array_equal(dense(found), [[0, 0], [value, 0]])


class TestAnnData:
    @pytest.mark.parametrize("form", ["csr_matrix", "csc_matrix", "array"])
    def test_matrix_and_names(self, form, tmp_path):
        path = files.write_h5ad(tmp_path / "c.h5ad", DATA, ["c1", "c2"], ["g1", "g2", "é"], form)
        matrix = read_matrix(path)
        assert matrix.row_names == ("c1", "c2")
        assert matrix.column_names == ("g1", "g2", "é")
        assert matrix.is_sparse == (form != "array")
        np.testing.assert_array_equal(dense(matrix), DATA)

    def test_layer(self, tmp_path):
        import h5py

        path = files.write_h5ad(tmp_path / "c.h5ad", DATA)
        with h5py.File(path, "r+") as file:
            layers = file.create_group("layers")
            files.write_h5ad_matrix(layers, "raw", 2 * DATA, "csr_matrix")
        np.testing.assert_array_equal(dense(read_matrix(path, layer="raw")), 2 * DATA)

    def test_names_as_anndata_0_6_wrote_them(self, tmp_path):
        import h5py

        path = files.write_h5ad(tmp_path / "c.h5ad", DATA, form="array")
        records = np.array([(b"a", 1.0), (b"b", 2.0)], dtype=[("index", "S1"), ("x", "f8")])
        with h5py.File(path, "r+") as file:
            del file["obs"]
            file.create_dataset("obs", data=records)
        assert read_matrix(path).row_names == ("a", "b")

    def test_without_h5py_the_extra_is_named(self, tmp_path, monkeypatch):
        path = files.write_h5ad(tmp_path / "c.h5ad", DATA)
        monkeypatch.setitem(sys.modules, "h5py", None)
        with pytest.raises(ImportError, match=r'pip install "neocc\[io\]"'):
            read_matrix(path)


class TestArff:
    HEADER = "% about\n@RELATION r\n\n@attribute a numeric\n@Attribute 'b c' REAL\n"

    def read(self, tmp_path, content, **options):
        path = tmp_path / "r.arff"
        path.write_text(content)
        return read_matrix(path, **options)

    def test_dense(self, tmp_path):
        content = self.HEADER + "@attribute k {0,1}\n@data\n1,2,0\n% note\n3.5,-4e1,1\n"
        matrix = self.read(tmp_path, content)
        assert matrix.column_names == ("a", "b c", "k")
        np.testing.assert_array_equal(matrix.data, [[1, 2, 0], [3.5, -40, 1]])

    def test_sparse(self, tmp_path):
        content = self.HEADER + "@attribute k {0,1}\n@data\n{0 1.5, 2 1}\n{}\n{1 -2}\n"
        matrix = self.read(tmp_path, content, drop=["a"])
        assert matrix.column_names == ("b c", "k")
        np.testing.assert_array_equal(dense(matrix), [[0, 1], [0, 0], [-2, 0]])

    def test_row_names_and_dropped_labels(self, tmp_path):
        content = (
            "@relation r\n@attribute gene string\n@attribute a integer\n"
            "@attribute color {red, 'dark blue'}\n@data\n'g 1',1,red\ng2,2,'dark blue'\n"
        )
        matrix = self.read(tmp_path, content, drop=["color"])
        assert matrix.row_names == ("g 1", "g2")
        np.testing.assert_array_equal(matrix.data, [[1], [2]])

    def test_missing_as_zero(self, tmp_path):
        content = self.HEADER + "@data\n1,?\n"
        np.testing.assert_array_equal(self.read(tmp_path, content, missing="zero").data, [[1, 0]])
        content = self.HEADER + "@data\n{0 ?, 1 2}\n"
        np.testing.assert_array_equal(dense(self.read(tmp_path, content, missing="zero")), [[0, 2]])


class TestParquet:
    def write(self, tmp_path, columns):
        import pyarrow as pa
        from pyarrow import parquet

        parquet.write_table(pa.table(columns), tmp_path / "t.parquet")
        return tmp_path / "t.parquet"

    @pytest.mark.parametrize("kind", ["int64", "string", "dictionary", "float64", "date32"])
    def test_ids_of_any_type(self, kind, tmp_path):
        import pyarrow as pa

        values = [20, 3, 20]
        if kind == "dictionary":
            ids = pa.array(["20", "3", "20"]).dictionary_encode()
        else:
            ids = pa.array(values, pa.int32()).cast(kind)
        path = self.write(tmp_path, {"u": ids, "i": pa.array(["x", "x", "y"]), "v": [1, 2, 3]})
        matrix = read_matrix(path, layout="triplets")
        assert matrix.column_names == ("x", "y")
        assert sorted(dense(matrix).tolist()) == [[1, 3], [2, 0]]
        if kind in ("int64", "string", "dictionary"):
            assert matrix.row_names == ("3", "20")

    def test_recognised_as_triplets(self, tmp_path):
        path = self.write(tmp_path, {"u": ["a", "b"], "i": ["x", "y"], "v": [1, 2]})
        assert read_matrix(path).is_sparse

    def test_table_of_many_types(self, tmp_path):
        import pyarrow as pa

        path = self.write(
            tmp_path,
            {
                "gene": ["a", "b"],
                "f": pa.array([1.5, 2.5], pa.float32()),
                "i": pa.array([1, 2], pa.int8()),
                "b": [True, False],
                "n": pa.array([None, None], pa.null()),
            },
        )
        matrix = read_matrix(path, missing="zero")
        assert matrix.row_names == ("a", "b")
        np.testing.assert_array_equal(matrix.data, [[1.5, 1, 1, 0], [2.5, 2, 0, 0]])

    def test_index_of_pandas(self, tmp_path):
        import pandas as pd

        frame = pd.DataFrame({"x": [1.0, 2.0], "y": [3.0, 4.0]}, index=["a", "b"])
        frame.to_parquet(tmp_path / "t.parquet")
        matrix = read_matrix(tmp_path / "t.parquet")
        assert matrix.row_names == ("a", "b")
        assert matrix.column_names == ("x", "y")


class TestMatrix:
    def test_origin_is_kept(self, tmp_path):
        import hashlib

        path = tmp_path / "m.csv"
        path.write_text("a,b\n1,2\n")
        matrix = read_matrix(str(path), missing="zero", format="csv")
        assert matrix.source == path
        assert matrix.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
        assert matrix.options == {"missing": "zero", "format": "csv"}
        again = read_matrix(matrix.source, **matrix.options)
        np.testing.assert_array_equal(again.data, matrix.data)

    def test_names_must_fit(self):
        with pytest.raises(ValueError, match="3 row names for 2 rows"):
            Matrix(np.eye(2), row_names=("a", "b", "c"))

    def test_unnamed_items_are_called_by_number(self):
        matrix = Matrix(np.eye(2))
        assert (matrix.name_of_row(0), matrix.name_of_column(1)) == ("row 1", "column 2")

    def test_align_dense(self):
        matrix = Matrix(np.array([[1, 2, 3]]), column_names=("a", "b", "c"))
        np.testing.assert_array_equal(matrix.align_columns(["c", "a", "b"]).data, [[3, 1, 2]])
        assert matrix.align_columns(["a", "b", "c"]) is matrix

    def test_rows_and_columns_of_a_store_stay_where_they_are(self, tmp_path):
        store = write_store(tmp_path / "store", np.eye(2))
        matrix = Matrix(store, ("a", "b"), ("x", "y"))
        assert matrix.align_columns(["x", "y"]) is matrix
        for align, names in ((matrix.align_rows, "ba"), (matrix.align_columns, "yx")):
            with pytest.raises(ValueError, match="cannot be moved"):
                align(list(names))

    def test_align_sparse_fills_with_zeros(self):
        data = sparse.csr_array(np.array([[1.0, 2], [0, 3]]))
        matrix = Matrix(data, column_names=("c", "a")).align_columns(["a", "b", "c"])
        np.testing.assert_array_equal(matrix.data.toarray(), [[2, 0, 1], [3, 0, 0]])
        assert matrix.data.has_sorted_indices
        assert matrix.column_names == ("a", "b", "c")

    @pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
    def test_align_rows(self, kind):
        matrix = Matrix(kind([[1.0, 2], [0, 3], [4, 0]]), row_names=("c", "a", "b"))
        found = matrix.align_rows(["a", "b", "c"])
        assert found.row_names == ("a", "b", "c")
        data = found.data if kind is np.asarray else found.data.toarray()
        np.testing.assert_array_equal(data, [[0, 3], [4, 0], [1, 2]])
        assert matrix.align_rows(["c", "a", "b"]) is matrix

    @pytest.mark.parametrize(
        ("own", "wanted", "words"),
        [
            (("a", "x"), ["a", "b"], "Row 'x' of the matrix is not expected; it has 2"),
            (
                ("a", "b"),
                ["a", "b", "c"],
                "Row 'c' .* is expected but missing; it has 2 rows, expected are 3",
            ),
            (("a", "a"), ["a", "b"], "Rows cannot be matched.*same name"),
            (None, ["a", "b"], "no names of rows"),
        ],
    )
    def test_rows_that_cannot_be_matched(self, own, wanted, words):
        with pytest.raises(ValueError, match=words):
            Matrix(sparse.csr_array(np.eye(2)), row_names=own).align_rows(wanted)

    @pytest.mark.parametrize(
        ("own", "wanted", "words"),
        [
            (("a", "x"), ["a", "b"], "Column 'x' of the matrix is not expected"),
            (("a", "b"), ["a", "b", "c", "d"], "expected but missing, the first: 'c'"),
            (("a", "a"), ["a", "b"], "same name"),
            (None, ["a", "b"], "header"),
        ],
    )
    def test_columns_that_cannot_be_matched(self, own, wanted, words):
        with pytest.raises(ValueError, match=words):
            Matrix(np.eye(2), column_names=own).align_columns(wanted)


def test_reading_needs_neither_estimators_nor_scikit_learn():
    code = (
        "import sys, neocc.io\n"
        "loaded = {name.split('.')[0] for name in sys.modules}\n"
        "assert not loaded & {'sklearn', 'numba', 'pyarrow', 'h5py'}, loaded\n"
        "assert 'neocc.estimators' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


class TestLocalData:
    """The real files, where they are."""

    def test_movielens_1m(self, data_folder):
        matrix = read_matrix(data_folder / "movielens-1m" / "ratings.csv.gz")
        assert matrix.shape == (6040, 3706)
        assert matrix.data.nnz == 1_000_209
        counts = np.bincount(matrix.data.data.astype(int))
        assert counts.tolist() == [0, 56174, 107557, 261197, 348971, 226310]
        assert matrix.row_names[:3] == ("1", "2", "3")

    def test_movielens_100k(self, data_folder):
        matrix = read_matrix(data_folder / "movielens-100k" / "u.data")
        assert matrix.format == "u.data"
        assert matrix.shape == (943, 1682)
        assert matrix.data.nnz == 100_000

    def test_yeast_from_two_formats(self, data_folder):
        folder = data_folder / "yeast"
        arff = read_matrix(folder / "yeast.arff", drop=["Class*"])
        table = read_matrix(folder / "yeast.csv.gz", drop=["Class*"])
        assert arff.shape == (2417, 103)
        np.testing.assert_array_equal(arff.data, table.data)
        assert arff.column_names == table.column_names
