"""Columns of ids name the rows, by heading or by content; measurements stay data."""

from __future__ import annotations

import numpy as np
import pytest

from neocc.io import Matrix, ReadError, as_command_line, read_matrix, write_matrix

N = 12


def read(tmp_path, content: str, name: str = "m.csv", **options):
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    return read_matrix(path, **options)


def table(headings: str | None, *columns) -> str:
    """Return lines of a table; what is no list of cells is the same in every row."""
    rows = zip(*(one if isinstance(one, list) else [one] * N for one in columns), strict=True)
    lines = [",".join(map(str, row)) for row in rows]
    return "\n".join([*([] if headings is None else [headings]), *lines]) + "\n"


COUNTED = list(range(1, N + 1))
SHUFFLED = [7 * i % 13 for i in COUNTED]
SPREAD = [1000 + 37 * i % 101 for i in COUNTED]
REPEATED = [i % 3 for i in COUNTED]
IDS = "ID_REF,id_order,SampleNo,#,pk,idx,key,case_no,MRN,SSN,ISBN,NHS number,CUSTOMER NUMBER"
IDS = [*IDS.split(","), "ensembl", "locus", "PatientNumber", "zip code"]
NAMES = [f"n{i}" for i in COUNTED]
DATA = ([i % 2 for i in COUNTED], [0.5 * (i % 5) for i in COUNTED], [i % 4 for i in COUNTED])


class TestTaken:
    @pytest.mark.parametrize(
        ("heading", "ids"),
        [
            # By a heading that says id, whatever repeats.
            ("customer_id", SPREAD),
            ("customer_id", REPEATED),
            ("PassengerId", SHUFFLED),
            ("geneID", SPREAD),
            ("ID", COUNTED),
            ("cell barcode", SPREAD),
            # By a word for what rows are, if no number repeats.
            ("GENES", SPREAD),
            ("gene", SHUFFLED),
            ("Sample", SPREAD),
            ("case", SHUFFLED),
            # By a word for an id in it, if no number repeats, and those of other columns do.
            *((heading, SHUFFLED) for heading in IDS),
            # By content: numbers that count.
            ("x", COUNTED),
            ("V1", [i - 1 for i in COUNTED]),
            ("year", [1990 + i for i in COUNTED]),
        ],
    )
    def test_first_column(self, heading, ids, tmp_path):
        content = table(f"{heading},a,b,c", ids, *DATA)
        matrix = read(tmp_path, content)
        assert matrix.row_names == tuple(map(str, ids))
        assert matrix.column_names == ("a", "b", "c")
        np.testing.assert_array_equal(matrix.data, np.transpose(DATA))
        (note,) = (note for note in matrix.notes if "Names of the rows" in note)
        assert f"column 1 ('{heading}')" in note
        assert "row_names=False reads it as data" in note
        assert "--no-row-names" in as_command_line(note)
        data = read(tmp_path, content, row_names=False)
        assert data.row_names is None
        np.testing.assert_array_equal(data.data[:, 0], ids)
        assert not any("Names of the rows" in note for note in data.notes)

    def test_without_header(self, tmp_path):
        matrix = read(tmp_path, table(None, [100 + i for i in COUNTED], *DATA))
        assert matrix.row_names[0] == "101"
        assert matrix.shape == (N, 3)

    def test_three_columns_are_no_triplets_then(self, tmp_path):
        content = table("customer_id,age,income", SPREAD, SHUFFLED, [i % 4 for i in COUNTED])
        matrix = read(tmp_path, content)
        assert matrix.column_names == ("age", "income")

    def test_in_parquet(self, tmp_path):
        import pyarrow as pa
        from pyarrow import parquet

        columns = dict(zip(("GENES", "a", "b"), (SPREAD, *DATA[:2]), strict=True))
        parquet.write_table(pa.table(columns), tmp_path / "m.parquet")
        matrix = read_matrix(tmp_path / "m.parquet", layout="table")
        assert matrix.row_names == tuple(map(str, SPREAD))
        np.testing.assert_array_equal(matrix.data, np.transpose(DATA[:2]))

    def test_text_that_never_repeats_in_any_column(self, tmp_path):
        matrix = read(tmp_path, table("a,who,b", DATA[0], NAMES, DATA[1]))
        assert matrix.row_names == tuple(NAMES)
        assert matrix.column_names == ("a", "b")

    def test_text_that_never_repeats_before_text_that_does(self, tmp_path):
        kinds = ["u" if i % 2 else "v" for i in COUNTED]
        matrix = read(tmp_path, table("kind,who,b", kinds, NAMES, DATA[1]), drop="kind")
        assert matrix.row_names == tuple(NAMES)
        with pytest.raises(ReadError, match=r"drop=\['kind'\]"):
            read(tmp_path, table("kind,who,b,c", kinds, NAMES, DATA[1], DATA[2]))

    def test_an_id_column_that_is_not_the_first(self, tmp_path):
        matrix = read(tmp_path, table("a,user_id,b", DATA[1], SPREAD, DATA[0]), layout="table")
        assert matrix.row_names == tuple(map(str, SPREAD))
        assert matrix.column_names == ("a", "b")

    def test_a_dropped_column_names_nothing(self, tmp_path):
        matrix = read(tmp_path, table("id,a,b,c", SPREAD, *DATA), drop="id")
        assert matrix.row_names is None
        assert matrix.column_names == ("a", "b", "c")


class TestLeftOut:
    def test_numbers_of_rows_before_names(self, tmp_path):
        content = table(",state,a,b", COUNTED, NAMES, *DATA[:2])
        matrix = read(tmp_path, content)
        assert matrix.row_names == tuple(NAMES)
        assert matrix.column_names == ("a", "b")
        assert any("Left out: column 1, which counts the rows" in note for note in matrix.notes)

    def test_ids_beside_names(self, tmp_path):
        content = table("name,customer_id,a,b", NAMES, SPREAD, *DATA[:2])
        matrix = read(tmp_path, content)
        assert matrix.column_names == ("a", "b")
        (note,) = (note for note in matrix.notes if "Left out" in note)
        assert "row_names=True reads it as data" in note
        assert read(tmp_path, content, row_names=True).column_names == ("customer_id", "a", "b")


class TestNotTaken:
    @pytest.mark.parametrize(
        ("heading", "numbers"),
        [
            ("mass", SHUFFLED),  # never repeats, by chance
            ("mass", [0.5 + i for i in COUNTED]),
            ("count", COUNTED),  # a word for values
            ("state", REPEATED),
            ("height", [57 + i for i in COUNTED]),  # counts, but from where?
            ("paid", SHUFFLED),
            ("key", REPEATED),
            ("SampleNo", REPEATED),
            ("MRN", [0.5 + i for i in COUNTED]),
            ("number of rooms", SHUFFLED),
            ("case fatality", SHUFFLED),
            ("sample_size", SHUFFLED),
            ("index of income", SHUFFLED),
            ("id_count", SHUFFLED),
        ],
    )
    def test_measurements(self, heading, numbers, tmp_path):
        matrix = read(tmp_path, table(f"{heading},a,b,c", numbers, *DATA))
        assert matrix.row_names is None
        np.testing.assert_array_equal(matrix.data[:, 0], numbers)

    def test_a_heading_of_ids_over_numbers_like_those_of_another_column(self, tmp_path):
        matrix = read(tmp_path, table("area code,x,a,b", SHUFFLED, SPREAD, *DATA[:2]))
        assert matrix.row_names is None

    def test_several_columns_that_count(self, tmp_path):
        matrix = read(tmp_path, table("x,y,a,b", COUNTED, [i + 4 for i in COUNTED], *DATA[:2]))
        assert matrix.row_names is None

    @pytest.mark.parametrize(
        ("content", "said"),
        [
            (table("code7,a,b,c", sorted(SPREAD), *DATA), "never repeat"),
            (table("code7,a,b,c", SPREAD, *DATA), "never repeat"),
            (table("X,a,b,c", SHUFFLED, *DATA), "never repeat"),
            (table("number,a,b,c", SHUFFLED, *DATA), "never repeat"),
            (table("state,a,b,c", REPEATED, *DATA), "repeats"),
            (table("height,a,b,c", [57 + i for i in COUNTED], *DATA), "counts in steps"),
            ("x,a,b,c\n" + "".join(f"{i},0.5,{i % 2},3\n" for i in range(1, 7)), "counts in steps"),
        ],
    )
    def test_where_it_is_in_doubt_a_note_says_so(self, content, said, tmp_path):
        matrix = read(tmp_path, content)
        assert matrix.row_names is None
        (note,) = (note for note in matrix.notes if "is read as data" in note)
        assert said in note
        assert "row_names=True" in note
        named = read(tmp_path, content, row_names=True)
        assert named.shape == (matrix.shape[0], matrix.shape[1] - 1)

    def test_single_columns(self, tmp_path):
        assert read(tmp_path, "x\n" + "".join(f"{i}\n" for i in COUNTED)).row_names is None


class TestNamesLikeMissingValues:
    @pytest.mark.parametrize(
        ("content", "names"),
        [
            ("gene,a,b,c\nnull,1,2,3\nNA,4,5,6\nTP53,7,8,9\n", ("null", "NA", "TP53")),
            ("gene,a,b,c\nnull,1,2,3\nNA,4,5,6\n", ("null", "NA")),
            ("gene,a,b,c\n11,1,2,3\n12,1,2,3\nnull,4,5,6\n", ("11", "12", "null")),
            ("name,a,b,c\nNaN,1,2,3\nNone,4,5,6\n", ("NaN", "None")),
        ],
    )
    def test_are_names(self, content, names, tmp_path):
        matrix = read(tmp_path, content)
        assert matrix.row_names == names
        assert matrix.shape == (len(names), 3)

    def test_missing_values_that_repeat_are_no_names(self, tmp_path):
        matrix = read(tmp_path, "a,b,c,d\nNA,1,2,3\nNA,4,5,6\n", missing="zero")
        assert matrix.row_names is None
        np.testing.assert_array_equal(matrix.data[:, 0], 0)


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet"])
@pytest.mark.parametrize("names", [None, tuple(map(str, SPREAD)), tuple(map(str, COUNTED))])
@pytest.mark.parametrize("heading", ["x", "id", "gene", "customer_id"])
def test_what_is_written_is_read_back(heading, names, ending, tmp_path):
    columns = np.transpose([COUNTED, SPREAD, DATA[0], DATA[1]])
    matrix = Matrix(columns, names, (heading, "user_id", "b", "c"))
    path = tmp_path / f"m.{ending}"
    if names == tuple(map(str, COUNTED)) and ending != "parquet":
        # Rows that are only counted give way to a column of ids; Parquet knows text from numbers.
        with pytest.raises(ValueError, match="would not be recognised as names"):
            write_matrix(matrix, path)
        return
    write_matrix(matrix, path)
    back = read_matrix(path)
    np.testing.assert_array_equal(back.data, matrix.data)
    assert back.column_names == matrix.column_names
    assert names is None or back.row_names == names


def test_a_blank_heading_above_the_names_says_that_all_numbers_are_data(tmp_path):
    lines = "".join(f"g{i},{900 - i},{i}.5,C{i}\n" for i in range(12))
    matrix = read(tmp_path, ",customer_id,x,user_id\n" + lines)
    assert matrix.column_names == ("customer_id", "x")
    told = " ".join(matrix.notes)
    assert "'customer_id') has a heading of ids, and is read as data" in told
    assert "Left out: column 4 ('user_id')" in told
    matrix = read(tmp_path, "name,customer_id,x,user_id\n" + lines)
    assert matrix.column_names == ("x",)


@pytest.mark.parametrize("start", [0, 1])
def test_a_later_column_that_counts_the_rows_is_no_measurement(tmp_path, start):
    path = tmp_path / "m.csv"
    rows = [f"{(7 * i) % 11}.5,{i + start},{(3 * i) % 13}" for i in range(14)]
    path.write_text("height,nr,weight\n" + "\n".join(rows) + "\n")
    matrix = read_matrix(path)
    assert matrix.column_names == ("height", "weight")
    assert matrix.row_names[:2] == (str(start), str(start + 1))
    assert any("counts in steps of one" in n and "row_names=False" in n for n in matrix.notes)
    assert read_matrix(path, row_names=False).shape == (14, 3)
    named = [f"r{i},{row}" for i, row in enumerate(rows)]
    path.write_text("name,height,nr,weight\n" + "\n".join(named) + "\n")
    matrix = read_matrix(path)
    assert matrix.column_names == ("height", "weight")
    assert any("Left out" in note and "counts the rows" in note for note in matrix.notes)
    # Nine rows, or another start, are too little to say.
    path.write_text("height,nr,weight\n" + "\n".join(rows[:9]) + "\n")
    assert read_matrix(path).shape == (9, 3)
    path.write_text("height,score,weight\n" + "\n".join(rows) + "\n")
    assert read_matrix(path).shape == (14, 3)
