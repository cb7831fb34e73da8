"""What a delimited file holds is recognised by rules, and every rule can be overruled."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from neocc.io import MissingValueError, ReadError, read_matrix
from neocc.io.readers._plan import Plan


def read(tmp_path, content: str | bytes, name: str = "m.csv", **options):
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_matrix(path, **options)


TABLE = np.array([[1.0, 2.0, 3.0, 4.5], [5.0, 6.0, 7.0, 8.0]])
ROWS = "{}1,2,3,4.5\n{}5,6,7,8\n"


@pytest.mark.parametrize(
    ("content", "rows", "columns"),
    [
        (ROWS.format("", ""), None, None),
        ("a,b,c,d\n" + ROWS.format("", ""), None, "abcd"),
        ("gene,a,b,c,d\n" + ROWS.format("x,", "y,"), "xy", "abcd"),
        (",a,b,c,d\n" + ROWS.format("x,", "y,"), "xy", "abcd"),
        ("a,b,c,d\n" + ROWS.format("x,", "y,"), "xy", "abcd"),  # as R writes it
        ("id,a,b,c,d\n" + ROWS.format("7,", "9,"), "79", "abcd"),
        (",1,2,3,4\n" + ROWS.format("0,", "1,"), "01", "1234"),  # as pandas writes it
        ("name,1,2,3,4\n" + ROWS.format("x,", "y,"), "xy", "1234"),
        (ROWS.format("x,", "y,"), "xy", None),
    ],
)
def test_headers_and_row_names_of_tables(content, rows, columns, tmp_path):
    matrix = read(tmp_path, content)
    np.testing.assert_array_equal(matrix.data, TABLE)
    assert matrix.row_names == (None if rows is None else tuple(rows))
    assert matrix.column_names == (None if columns is None else tuple(columns))
    assert matrix.data.flags.c_contiguous
    assert matrix.data.flags.writeable


@pytest.mark.parametrize("end", [",", ""])
@pytest.mark.parametrize("missing", ["error", "zero"])
def test_lines_that_end_in_a_delimiter(end, missing, tmp_path):
    matrix = read(tmp_path, f"gene,a,b{end}\nx,1,2,\ny,3,4,\n", missing=missing)
    np.testing.assert_array_equal(matrix.data, [[1, 2], [3, 4]])
    assert (matrix.row_names, matrix.column_names) == (("x", "y"), ("a", "b"))
    assert "Left out: column 4, which has neither a heading nor values." in matrix.notes
    late = "gene,a,b\n" + 300 * "x,1,2,\n" + "y,3,4,5\n"
    for options in ({}, {"thousands": " "}):
        with pytest.raises(ReadError, match="line 302, column 4: '5' stands in a column without"):
            read(tmp_path, late, missing=missing, **options)


@pytest.mark.parametrize("header", ["gene,a,b,,", "gene,a,b", "gene,a,b,,,", "a,b,,"])
def test_lines_that_end_in_several_delimiters(header, tmp_path):
    matrix = read(tmp_path, f"{header}\nx,1,2,,\ny,3,4,,\n")
    np.testing.assert_array_equal(matrix.data, [[1, 2], [3, 4]])
    assert (matrix.row_names, matrix.column_names) == (("x", "y"), ("a", "b"))
    assert "Left out: columns 4 to 5, which have neither headings nor values." in matrix.notes
    late = f"{header}\n" + 300 * "x,1,2,,\n" + "y,3,4,5,\n"
    with pytest.raises(ReadError, match="line 302, column 4: '5' stands in a column without"):
        read(tmp_path, late)


def test_a_header_alone_that_ends_in_delimiters(tmp_path):
    assert read(tmp_path, "gene,a,b,,\nx,1,2\ny,3,4\n").column_names == ("a", "b")
    with pytest.raises(MissingValueError, match="2 of 4 columns"):  # c has a heading
        read(tmp_path, "gene,a,b,,c,\nx,1,2,,,\ny,3,4,,,\n")


@pytest.mark.parametrize(
    "title", ["Survey of plants", "Survey of plants\n", "Survey\nDownloaded 2020", "Survey, 2020"]
)
@pytest.mark.parametrize("table", ["name,a,b,c\nx,1,2,3\ny,5,6,7\n", "a,b,c,d\n1,2,3,4\n5,6,7,8\n"])
def test_a_title_above_a_table(title, table, tmp_path):
    with pytest.raises(ReadError, match=r"line 1: .* If it is a title, .* #") as caught:
        read(tmp_path, f"{title}\n{table}" + 3 * f"{table.splitlines()[-1]}\n")
    assert "1 cells" not in str(caught.value)
    lines = "".join(f"# {line}\n" for line in title.split("\n") if line)
    matrix = read(tmp_path, f"{lines}{table}")
    assert matrix.column_names[-1] == table[table.index("\n") - 1]
    how_many = "a line" if lines.count("#") == 1 else "2 lines"
    assert any(note.startswith(f"Left out: {how_many} at the") for note in matrix.notes)


def test_a_short_line_that_is_no_title(tmp_path):
    with pytest.raises(ReadError, match="line 3") as caught:
        read(tmp_path, "a,b,c,d\n1,2,3,4\nx\n1,2,3,4\n")
    assert "title" not in str(caught.value)
    with pytest.raises(ReadError, match="line 1") as caught:
        read(tmp_path, "1,2\n1,2,3,4\n1,2,3,4\n")
    assert "title" not in str(caught.value)


@pytest.mark.parametrize("sign", [";", ",", "\t"])
def test_a_first_line_that_says_what_the_delimiter_is(sign, tmp_path):
    table = f"sep={sign}\r\ngene,a\r\nx,1\r\ny,3\r\nz,5\r\n".replace(",", sign)
    matrix = read(tmp_path, table)
    np.testing.assert_array_equal(matrix.data, [[1], [3], [5]])
    assert (matrix.row_names, matrix.column_names) == (("x", "y", "z"), ("a",))
    with pytest.raises(ReadError, match="line 4, column 2"):
        read(tmp_path, table.replace("3", "three"))


@pytest.mark.parametrize("stray", ["gene,a,b\n", "unit,kg,m\n"])
def test_columns_are_not_dropped_for_a_stray_line(stray, tmp_path):
    with pytest.raises(ReadError, match=r"line 3, .* header again, delete it") as caught:
        read(tmp_path, f"gene,a,b\nx,1,2\n{stray}y,3,4\nz,5,6\n")
    assert "drop=" not in str(caught.value)


def test_a_last_column_of_missing_values_stays(tmp_path):
    assert read(tmp_path, "1,2,\n3,4,\n", missing="ignore").shape == (2, 3)
    assert read(tmp_path, "x,a,b\n1,2,\n3,4,\n", missing="ignore").shape == (2, 3)


@pytest.mark.parametrize(
    ("content", "name"),
    [
        ("u;i;v\na;x;1\nb;y;2\n", "m.csv"),
        ("u\ti\tv\na\tx\t1\nb\ty\t2\n", "m.csv"),
        ("u|i|v\na|x|1\nb|y|2\n", "m.txt"),
        ("u,i,v\na,x,1\nb,y,2\n", "m.tsv"),
        ("u,i,v\r\na,x,1\r\nb,y,2\r\n", "m.csv"),
        ("u,i,v\ra,x,1\rb,y,2\r", "m.csv"),
        ("\n\nu,i,v\n\na,x,1\nb,y,2\n\n", "m.csv"),
        ("\ufeffu,i,v\na,x,1\nb,y,2", "m.csv"),
        ('"u","i","v"\n"a","x","1"\n"b","y",2\n', "m.csv"),
        ("u, i, v\na , x,1\nb, y, 2\n", "m.csv"),
        ("a,x,1\nb,y,2\n", "m"),
        ("u,i,v,timestamp\na,x,1,0\nb,y,2,0\n", "m.csv"),
        ("a,x,1,881250949\nb,y,2,881250950\n", "m.csv"),
    ],
)
def test_triplets_in_many_dialects(content, name, tmp_path):
    matrix = read(tmp_path, content, name)
    assert (matrix.row_names, matrix.column_names) == (("a", "b"), ("x", "y"))
    np.testing.assert_array_equal(matrix.data.toarray(), [[1, 0], [0, 2]])
    assert any("triplets" in note for note in matrix.notes)


@pytest.mark.parametrize(
    ("content", "columns"),
    [
        ("gene,0,7,14,21\nA,1,2,5,6\nB,3,4,5,6\n", "0 7 14 21"),  # a word for what rows are
        ("Country;1990;1995\nA;1,5;2\nB;3;4,5\n", "1990 1995"),
        ("orf,5,3,9\n" + "".join(f"YAL00{i}C,1,2,3\n" for i in range(6)), "5 3 9"),
        ("klass,5,3,9\n" + "".join(f"S{i},1,2,3\n" for i in range(6)), "5 3 9"),  # way of writing
        ("Land,0,1,2,3\nAlba,1,2,5,6\nBern,3,4,4,6\n", "0 1 2 3"),  # equal steps
        ("Land,0,1,2,4,8,16\nAlba,1,2,5,6,0,1\nBern,3,4,5,6,1,0\n", "0 1 2 4 8 16"),  # rising
        ("0,7,14\nA,1,2,5\nB,3,4,5\n", "0 7 14"),  # as R writes it
        # Rows with names, and no header.
        ("A,1,2,5,6\nB,3,4,5,6\n", None),
        ("Alba,0,1,2,3\nBern,3,4,5,6\n", None),  # another line rises in equal steps too
        ("BAX,1,2,2,1\nTP53,3,4,5,6\nBRCA1,3,2,5,6\n", None),
        ("a,1,0\nB,0,1\n", None),
        ("gene,1,2,3\ngene,4,5,6\n", None),
    ],
)
def test_numbers_as_headings(content, columns, tmp_path):
    matrix = read(tmp_path, content, layout="table")
    assert matrix.column_names == (None if columns is None else tuple(columns.split()))
    assert len(matrix.row_names) == len(content.splitlines()) - (columns is not None)


def test_what_pandas_writes_with_numbers_as_columns(tmp_path):
    import pandas as pd

    frame = pd.DataFrame([[1.5, 2.0], [0.5, 3.0]], index=["A", "B"])
    for name in (None, "gene"):
        matrix = read(tmp_path, frame.rename_axis(name).to_csv(), layout="table")
        assert matrix.column_names == ("0", "1")
        np.testing.assert_array_equal(matrix.data, frame)


@pytest.mark.parametrize("header", ["", "user;film;stars\n"])
def test_triplets_with_decimal_commas(header, tmp_path):
    matrix = read(tmp_path, header + "u0;f0;4,5\nu1;f0;3,5\nu1;f1;2,5\n")
    assert (matrix.row_names, matrix.column_names) == (("u0", "u1"), ("f0", "f1"))
    np.testing.assert_array_equal(matrix.data.toarray(), [[4.5, 0], [3.5, 2.5]])


def test_a_sign_in_every_name_is_no_delimiter(tmp_path):
    matrix = read(tmp_path, "name,a,b\nx;1,1,2\ny;2,3,4\n", layout="table")
    assert matrix.row_names == ("x;1", "y;2")


def test_further_columns_of_triplets_are_left_out_and_named(tmp_path):
    matrix = read(tmp_path, "user,item,rating,review\n1,2,3,good\n2,2,1,bad\n")
    assert "Left out: column 4 ('review')." in matrix.notes


def test_triplets_in_another_order_are_explained(tmp_path):
    content = "rating,who,what\n3,u1,i1\n4,u1,i2\n1,u2,i2\n"
    with pytest.raises(ReadError, match=r"If a line is a row id.* columns=\[\.\.\.\]"):
        read(tmp_path, content)
    found = read(tmp_path, content, columns=["who", "what", "rating"]).data
    np.testing.assert_array_equal(found.toarray(), [[3, 4], [0, 1]])


def test_ratings_in_words_are_not_left_out(tmp_path):
    with pytest.raises(ReadError, match=r"line 2, column 3 \('rating'\): 'good' .*\"pairs\""):
        read(tmp_path, "user,item,rating\nu1,i1,good\nu1,i2,bad\nu2,i2,good\n")


def test_a_bad_cell_does_not_make_triplets_of_a_table(tmp_path):
    for cell in ("0x10", "unknown"):
        with pytest.raises(ReadError, match=f"'{cell}' is not a number"):
            read(tmp_path, f"name,a,b\nx,{cell},1\ny,2,1\n", missing="zero")


def test_columns_between_several_blanks(tmp_path):
    matrix = read(tmp_path, "g  a   b\nx 1 2.5\n y  3\t4 \n", delimiter=" ")
    assert matrix.row_names == ("x", "y")
    np.testing.assert_array_equal(matrix.data, [[1, 2.5], [3, 4]])


@pytest.mark.parametrize("header", ["", "alpha  beta gamma\n"])
def test_blanks_separate_numbers_where_nothing_else_does(header, tmp_path):
    matrix = read(tmp_path, header + " 1.5 2   3\n4 5 6.5\n", layout="table")
    np.testing.assert_array_equal(matrix.data, [[1.5, 2, 3], [4, 5, 6.5]])
    assert matrix.column_names == (tuple(header.split()) or None)
    assert "Delimiter: ' '." in matrix.notes
    with pytest.raises(ReadError, match="delimiter=' '"):
        read(tmp_path, "so many words\nof a text here\n")


@pytest.mark.parametrize("header", ["", "gene,a,b\n"])
def test_comments_before_the_table(header, tmp_path):
    content = f"# from somewhere\n# 2020, May\n{header}x,1,2\ny,3,4\n"
    matrix = read(tmp_path, content, layout="table")
    assert matrix.row_names == ("x", "y")
    np.testing.assert_array_equal(matrix.data, [[1, 2], [3, 4]])
    assert any("2 lines" in note for note in matrix.notes)
    with pytest.raises(ReadError) as caught:
        read(tmp_path, content + "z,5,oops\n", layout="table")
    assert caught.value.line == 5 + bool(header)


def test_a_header_that_begins_with_a_hash(tmp_path):
    matrix = read(tmp_path, "#gene,a,b\nx,1,2\ny,3,4\n", layout="table")
    assert matrix.column_names == ("a", "b")


def test_quoted_line_ends_and_delimiters_are_part_of_a_name(tmp_path):
    matrix = read(tmp_path, 'name,x,"y,\nz",w\n"a\nb",1,2,3\n"c ""d""",4,5,6\n')
    assert matrix.row_names == ("a\nb", 'c "d"')
    assert matrix.column_names == ("x", "y,\nz", "w")
    assert "Header: line 1." in matrix.notes
    np.testing.assert_array_equal(matrix.data, [[1, 2, 3], [4, 5, 6]])


def test_decimal_commas_are_recognised_between_semicolons(tmp_path):
    matrix = read(tmp_path, "1,5;2,5;3,5\n4,5;-5,5;6\n")
    np.testing.assert_array_equal(matrix.data, [[1.5, 2.5, 3.5], [4.5, -5.5, 6]])
    assert any("Decimal" in note for note in matrix.notes)


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "cp1252"])
def test_other_encodings_can_be_named(encoding, tmp_path):
    content = "name,x,y\ncafé,1,2\nnaïve,3,4\n".encode(encoding)
    assert read(tmp_path, content, encoding=encoding).row_names == ("café", "naïve")


class TestTripletsOrTable:
    """The rule, its limits, and the option that overrules it."""

    @pytest.mark.parametrize(
        ("content", "layout"),
        [
            ("user,item,stars\n1,1,5\n1,2,3\n2,1,4\n", "triplets"),
            ("1,1,5\n1,2,3\n2,1,4\n", "triplets"),
            ("ann,x,5\nbob,y,3\n", "triplets"),  # text in two columns is no table
            ("ann,1,5\nann,2,3\n", "triplets"),
            ("gene,c1,c2\ng1,1,5\ng2,2,3\n", "table"),  # names that never repeat, then numbers
            ("1,2,3\n4,5,6\n7,8,10\n", "table"),  # as triplets, one entry in each row
            ("customer_id,age,income\n11,20,30\n12,30,40\n13,40,60\n", "table"),
            ("x,y,z\n1.5,2.5,1\n0.5,1.5,2\n", "table"),  # ids are no fractions
            ("x,y,z\n0,1,5\n1,0,2\n0,1,4\n", "table"),  # pairs that repeat are no ids
            (",b,c\n1,2,3\n2,3,4\n", "table"),
            ("a,b,c,d\n1,2,3,4\n2,3,4,5\n", "table"),  # a fourth column that is no time
            ("1,2\n2,3\n", "table"),
            # Headings that say so are believed, whatever repeats and whatever follows.
            ("user,item,rating\n1,2,3\n1,2,5\n2,2,1\n", "triplets"),
            ("userId,movie_id,Rating\na,2,3\nb,3,5\n", "triplets"),
            ("row,column,value\n1,2,3\n1,2,3\n", "triplets"),
            ("customer_id,product_id,quantity,review\n1,2,3,good\n2,2,1,bad\n", "triplets"),
            ("gene,sample,control\ng1,1,5\ng2,2,3\n", "table"),  # the third is no value
            ("a,2,3\na,2,5\nb,2,1\n", "triplets"),  # text that repeats names no rows
            ("name,x,y\na,1,2\na,3,4\n", "table"),  # the heading says so
            ("name,film,stars\na,x,2\nb,y,4\n", "triplets"),
            ("g,x,y\ng0,1,2\n" + "".join(f"g{i},1,2\n" for i in range(30)), "table"),
        ],
    )
    def test_rule(self, content, layout, tmp_path):
        found = read(tmp_path, content)
        assert found.is_sparse == (layout == "triplets")
        other = "table" if layout == "triplets" else "triplets"
        other = "pairs" if content.splitlines()[-1].count(",") == 1 else other
        assert any(other in note and "overrides" in note for note in found.notes)

    def test_a_table_of_three_columns_can_be_asked_for(self, tmp_path):
        content = "1,1,5\n1,2,3\n2,1,4\n"
        matrix = read(tmp_path, content, layout="table")
        np.testing.assert_array_equal(matrix.data, [[1, 1, 5], [1, 2, 3], [2, 1, 4]])
        assert not any("overrides" in note for note in matrix.notes)

    def test_triplets_can_be_asked_for(self, tmp_path):
        matrix = read(tmp_path, "g,c,v\ng1,1,5\ng2,2,3\n", layout="triplets")
        assert matrix.row_names == ("g1", "g2")

    def test_columns_of_triplets_by_name_and_by_number(self, tmp_path):
        content = "when,stars,film,who,note\n1,5,x,ann,good\n2,3,y,bob,bad\n3,4,x,bob,fine\n"
        by_name = read(tmp_path, content, columns=["who", "film", "stars"])
        by_number = read(tmp_path, content, columns=[4, 3, 2])
        for matrix in (by_name, by_number):
            assert matrix.row_names == ("ann", "bob")
            np.testing.assert_array_equal(matrix.data.toarray(), [[5, 0], [4, 3]])


class TestIds:
    """Ids are text; whole numbers are put in numerical order."""

    def test_whole_numbers_in_numerical_order(self, tmp_path):
        matrix = read(tmp_path, "10,-1,1\n9,200,2\n100,30,3\n9,-1,4\n")
        assert matrix.row_names == ("9", "10", "100")
        assert matrix.column_names == ("-1", "30", "200")

    def test_leading_zeros_are_kept_apart(self, tmp_path):
        matrix = read(tmp_path, "007,a,1\n7,b,2\n70,a,3\n")
        assert matrix.row_names == ("007", "7", "70")

    def test_numbers_beyond_64_bits_are_text(self, tmp_path):
        big = "123456789012345678901234567890"
        assert read(tmp_path, f"{big},a,1\n2,b,2\n").row_names == (big, "2")

    def test_the_order_of_lines_does_not_matter(self, tmp_path):
        lines = [f"u{i % 7},i{i % 5},{i}\n" for i in range(35)]
        first = read(tmp_path, "u,i,v\n" + "".join(lines))
        second = read(tmp_path, "u,i,v\n" + "".join(reversed(lines)))
        assert first.row_names == second.row_names
        np.testing.assert_array_equal(first.data.toarray(), second.data.toarray())

    def test_NA_is_a_name_like_any_other(self, tmp_path):
        matrix = read(tmp_path, "country,year,v\nNA,2001,1\nDE,2001,2\nNA,2002,3\n")
        assert matrix.row_names == ("DE", "NA")


class TestDuplicates:
    CONTENT = "u,i,v\na,x,1\nb,x,7\na,x,2\na,y,3\na,x,6\n"

    def test_sum(self, tmp_path):
        matrix = read(tmp_path, self.CONTENT, layout="triplets")
        np.testing.assert_array_equal(matrix.data.toarray(), [[9, 3], [7, 0]])
        assert any(note.startswith("2 entries occur again") for note in matrix.notes)

    def test_mean(self, tmp_path):
        matrix = read(tmp_path, self.CONTENT, layout="triplets", duplicates="mean")
        np.testing.assert_array_equal(matrix.data.toarray(), [[3, 3], [7, 0]])

    def test_ratings_do_not_add_up(self, tmp_path):
        content = self.CONTENT.replace("u,i,v", "user,item,rating")
        matrix = read(tmp_path, content)
        np.testing.assert_array_equal(matrix.data.toarray(), [[3, 3], [7, 0]])
        assert '2 entries occur again: values were averaged; duplicates="sum" adds them up.' in (
            matrix.notes
        )
        summed = read(tmp_path, content, duplicates="sum")
        np.testing.assert_array_equal(summed.data.toarray(), [[9, 3], [7, 0]])
        counted = read(tmp_path, content.replace("rating", "count"))
        np.testing.assert_array_equal(counted.data.toarray(), [[9, 3], [7, 0]])

    def test_no_note_without_duplicates(self, tmp_path):
        matrix = read(tmp_path, "u,i,v\na,x,1\nb,x,0\n", layout="triplets", duplicates="error")
        assert not any("occur again" in note for note in matrix.notes)
        assert matrix.row_names == ("a", "b")
        assert matrix.data.nnz == 1


class TestMissing:
    def test_zero_in_tables(self, tmp_path):
        matrix = read(tmp_path, "name,a,b\nx,1,\ny,NaN,2\nz,NA,?\n", missing="zero")
        np.testing.assert_array_equal(matrix.data, [[1, 0], [0, 2], [0, 0]])
        assert any(note.startswith("4 missing") for note in matrix.notes)

    @pytest.mark.parametrize("word", ["-", "--", "–", ".", "..", "na", "<NA>"])
    def test_other_signs_for_no_value(self, word, tmp_path):
        content = f"name,a,b\nx,1,2\ny,{word},-2\nz,.5, {word}\n"
        with pytest.raises(MissingValueError, match=r"line 3, column 2 \('a'\).*missing="):
            read(tmp_path, content)
        matrix = read(tmp_path, content, missing="zero")
        np.testing.assert_array_equal(matrix.data, [[1, 2], [0, -2], [0.5, 0]])

    @pytest.mark.parametrize("sign", [",", ";"])
    def test_zero_with_blanks_around(self, sign, tmp_path):
        content = "name;a;b\nw; 1 ;2\nx;  ;-1,5\ny; NA;2e1 \nz;\t? ; 3\n"
        if sign == ",":
            content = content.replace(",", ".").replace(";", ",")
        matrix = read(tmp_path, content, missing="zero")
        np.testing.assert_array_equal(matrix.data, [[1, 2], [0, -1.5], [0, 20], [0, 3]])
        assert matrix.row_names == tuple("wxyz")
        assert any(note.startswith("3 missing") for note in matrix.notes)

    def test_zero_with_blanks_far_down(self, tmp_path):
        numbers = [f"{i}.125" for i in range(100)]
        expected = np.tile(np.array(numbers, dtype=float), (20_000, 1))
        lines = [",".join(numbers) + "\n"] * len(expected)
        lines[-2] = ",".join(["0.125", " ", *numbers[2:]]) + "\n"
        expected[-2, 1] = 0
        content = "".join(lines)
        assert len(content) > 12 << 20  # in more than one block
        matrix = read(tmp_path, content, missing="zero", layout="table")
        np.testing.assert_array_equal(matrix.data, expected)

    def test_zero_in_triplets_keeps_the_ids(self, tmp_path):
        matrix = read(tmp_path, "u,i,v\na,x,1\nb,y,\n", missing="zero")
        assert matrix.row_names == ("a", "b")
        np.testing.assert_array_equal(matrix.data.toarray(), [[1, 0], [0, 0]])

    def test_the_place_is_an_attribute_too(self, tmp_path):
        with pytest.raises(MissingValueError) as caught:
            read(tmp_path, "name,a,b\nx,1,\n")
        assert (caught.value.line, caught.value.column) == (2, "3 ('b')")

    def test_a_fault_far_beyond_the_sample_is_found(self, tmp_path):
        content = "a,b,c,d\n" + "1,2,3,4\n" * 5000 + "1,2,,4\n" + "1,2,3,4\n" * 5000
        with pytest.raises(MissingValueError) as caught:
            read(tmp_path, content)
        assert caught.value.line == 5002


@pytest.mark.parametrize("missing", ["error", "zero", "ignore"])
def test_lines_of_nothing_but_delimiters_are_blank_lines(missing, tmp_path):
    table = read(tmp_path, "gene,a,b,c\nx,1,2,3\n,,,\ny,4,5,6\n,,,\n,,,\n", missing=missing)
    assert table.row_names == ("x", "y")
    np.testing.assert_array_equal(table.data, [[1, 2, 3], [4, 5, 6]])
    assert not any("missing" in note for note in table.notes)
    list_ = read(tmp_path, "user,item,stars\nu,i,4\n,,\nu,j,5\n,,\n", missing=missing)
    np.testing.assert_array_equal(list_.data.toarray(), [[4, 5]])
    pairs = read(tmp_path, "user,item\nu,i\n,\nu,j\n", missing=missing)
    assert pairs.column_names == ("i", "j")
    # A row without a name may be one without values.
    if missing == "ignore":
        assert read(tmp_path, "1,2,3\n,,\n4,5,7.5\n", missing=missing).shape == (3, 3)
    for bad in (",1,\n", ",,\n"):
        with pytest.raises(ReadError, match="line 4"):
            read(tmp_path, f"gene,a,b,c\nx,1,2,3\n,,,\n{bad}y,4,5,6\n", missing=missing)


def test_columns_can_be_dropped_by_pattern(tmp_path):
    content = "name,x,Class1,y,Class2\na,1,red,2,blue\nb,3,red,4,red\n"
    matrix = read(tmp_path, content, drop=["Class*"])
    assert matrix.column_names == ("x", "y")
    np.testing.assert_array_equal(matrix.data, [[1, 2], [3, 4]])
    assert read(tmp_path, "1,2,x\n3,4,y\n", drop="3").shape == (2, 2)


def test_a_name_is_no_pattern(tmp_path):
    content = "name,a[1],a*,a1\nx,1,2,3\ny,4,5,6\n"
    assert read(tmp_path, content, drop="a[1]").column_names == ("a*", "a1")
    assert read(tmp_path, content, drop="a*").column_names == ("a[1]", "a1")
    assert read(tmp_path, content, drop="a?").column_names == ("a[1]",)


@pytest.mark.parametrize("cell", ["10%", "tall", "$5"])
def test_text_in_all_cells_is_not_blamed_on_the_header(cell, tmp_path):
    with pytest.raises(ReadError, match="No column holds numbers, but text such as") as caught:
        read(tmp_path, f"gene,a,b\nx,{cell},{cell}\ny,{cell},{cell}\n")
    assert repr(cell) in caught.value.problem
    assert "delete" not in caught.value.remedy
    with pytest.raises(ReadError, match="No column holds numbers") as caught:
        read(tmp_path, "p,q,r\n" + f"x{cell},{cell},{cell}\n" * 4)  # no header can be told
    assert (caught.value.line, caught.value.column) == (None, None)
    assert "is not a number" not in caught.value.problem


def test_minus_signs_of_print_are_named(tmp_path):
    minus = "\N{MINUS SIGN}"
    with pytest.raises(ReadError, match="is not a number") as caught:
        read(tmp_path, f"gene,a,b\nx,{minus}1.5,2\ny,3,{minus}4\nz,3,{minus}4\n")
    assert caught.value.remedy == f"Write minus signs as '-', not as '{minus}'."


def test_a_note_below_a_table_is_told_from_a_broken_line(tmp_path):
    with pytest.raises(ReadError, match="1 cell") as caught:
        read(tmp_path, "gene,a,b\nx,1,2\ny,3,4\nSource: an office\n")
    assert "If it is a note, delete it." in caught.value.remedy


@pytest.mark.parametrize("last", ["4,1", "4"])
@pytest.mark.parametrize("delimiter", [None, ","])
def test_decimal_commas_in_quotes_between_commas(last, delimiter, tmp_path):
    content = f'gene,a,b\nx,"1,5","2,5"\ny,"3,2","{last}"\n'
    found = read(tmp_path, content, decimal=",", delimiter=delimiter).data
    np.testing.assert_array_equal(found, [[1.5, 2.5], [3.2, float(last.replace(",", "."))]])


def test_all_bad_columns_are_named_at_once(tmp_path):
    lines = "".join(f"{i},m,{'x' if i == 9 else i},{i % 2}.5,First\n" for i in range(12))
    with pytest.raises(ReadError, match="3 hold text") as caught:
        read(tmp_path, "a,sex,b,c,class\n" + lines)
    assert (caught.value.line, caught.value.column) == (2, "2 ('sex')")
    assert "drop=['sex', 'class', 'b']" in caught.value.remedy


def test_all_bad_columns_of_a_parquet_file(tmp_path):
    import pyarrow as pa
    from pyarrow import parquet

    columns = {"a": [1.5, 2.5], "b": ["x", "x"], "c": [1, 2], "d": ["y", "z"]}
    parquet.write_table(pa.table(columns), tmp_path / "m.parquet")
    with pytest.raises(ReadError, match=r"drop=\['b', 'd'\]"):
        read_matrix(tmp_path / "m.parquet")
    assert read_matrix(tmp_path / "m.parquet", drop=["b", "d"]).shape == (2, 2)


def test_row_names_may_be_in_any_column(tmp_path):
    matrix = read(tmp_path, "x,gene,y\n1,a,2\n3,b,4\n", row_names="gene")
    assert matrix.row_names == ("a", "b")
    assert matrix.column_names == ("x", "y")


def test_options_overrule_what_would_be_recognised(tmp_path):
    numbers = "1,2,3,4\n5,6,7,8\n"
    assert read(tmp_path, numbers, header=True).column_names == ("1", "2", "3", "4")
    assert read(tmp_path, numbers, row_names=True).row_names == ("1", "5")
    with pytest.raises(ReadError, match="'a' is not a number"):
        read(tmp_path, "a,1,2,3\nb,4,5,6\n", row_names=False)


def test_same_names_are_noted(tmp_path):
    matrix = read(tmp_path, "name,x,x\na,1,2\na,3,4\n", layout="table")
    assert "Some rows have the same name." in matrix.notes
    assert "Some columns have the same name." in matrix.notes


def test_a_single_column_of_numbers(tmp_path):
    np.testing.assert_array_equal(read(tmp_path, "x\n1\n2\n").data, [[1], [2]])


def test_lines_longer_than_a_block(tmp_path):
    values = np.arange(3 * 500.0).reshape(3, -1)
    content = "\n".join(",".join(str(cell).zfill(20_000) for cell in row) for row in values)
    assert len(content) > 3 * (8 << 20)
    np.testing.assert_array_equal(read(tmp_path, content).data, values)


def test_tables_with_many_columns(tmp_path):
    wide = np.arange(3 * 20_000.0).reshape(3, -1)
    content = "\n".join(",".join(map(str, row)) for row in wide)
    np.testing.assert_array_equal(read(tmp_path, content).data, wide)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"missing": "maybe"}, "missing must be"),
        ({"duplicates": "first"}, "duplicates must be"),
        ({"layout": "cube"}, "layout must be"),
        ({"delimiter": "ab"}, "delimiter must be"),
        ({"delimiter": "a"}, "delimiter must be"),
        ({"delimiter": ".", "decimal": "."}, "both"),
        ({"encoding": "klingon"}, "encoding must be"),
        ({"columns": ["a"]}, "columns must be"),
        ({"columns": ["a", "b", "c"], "layout": "table"}, "not of a table"),
        ({"format": "docx"}, "format must be"),
        ({"layer": "raw"}, "layer=... has no meaning"),
    ],
)
def test_bad_options_are_refused(options, words, tmp_path):
    with pytest.raises(ValueError, match=words) as caught:
        read(tmp_path, "1,2\n3,4\n", **options)
    assert not isinstance(caught.value, ReadError)


@pytest.mark.parametrize(("first", "n"), [(0, 2), (0, 3), (1, 3), (0, 4), (1, 5)])
def test_a_short_line_that_counts_the_columns_is_a_header_above_decimals(tmp_path, first, n):
    """A data frame without names of columns is written like this."""
    path = tmp_path / "x.csv"
    values = np.arange(3.0 * n).reshape(3, n) / 8
    values[1, 1] = 1e-9
    frame = pd.DataFrame(values, columns=range(first, first + n))
    frame.to_csv(path, index=False)
    found = read_matrix(path)
    np.testing.assert_array_equal(found.data, values)
    assert found.column_names == tuple(str(first + place) for place in range(n))
    frame.to_csv(path)
    assert read_matrix(path).column_names == found.column_names
    # Among whole numbers it may be one of them.
    whole = np.rint(8 * values).astype(int)
    np.savetxt(path, np.vstack([np.arange(first, first + n), whole]), fmt="%d", delimiter=",")
    assert read_matrix(path).data.shape == (4, n)


@pytest.mark.parametrize("first", [0, 1])
def test_a_line_that_counts_the_columns_is_a_header(tmp_path, first):
    """As pandas writes columns without names."""
    path, rng = tmp_path / "m.csv", np.random.default_rng(0)
    counted = ",".join(str(first + place) for place in range(8))
    for rows in (rng.normal(size=(5, 8)), rng.integers(0, 9, size=(5, 8))):
        lines = [",".join(map(str, row)) for row in rows.tolist()]
        path.write_text("\n".join([counted, *lines]) + "\n")
        found = read_matrix(path)
        np.testing.assert_array_equal(found.data, rows)
        assert found.column_names == tuple(counted.split(","))
    # A table of places in order is no header above others; nor are a few numbers.
    for table in (
        np.arange(24).reshape(3, 8),
        np.vstack([np.arange(5), rng.integers(9, size=(4, 5))]),
    ):
        path.write_text("\n".join(",".join(map(str, row)) for row in table.tolist()) + "\n")
        np.testing.assert_array_equal(read_matrix(path).data, table)


def test_columns_are_labelled_once_however_many_there_are(tmp_path, monkeypatch):
    labels, n_made = Plan.labels.fget, []
    monkeypatch.setattr(Plan, "labels", property(lambda plan: n_made.append(1) or labels(plan)))
    text = [",".join(["id", *(f"c{at}" for at in range(500))])]
    text += [",".join([f"r{row}", *(str(row * at % 97) for at in range(500))]) for row in range(4)]
    (tmp_path / "wide.csv").write_text("\n".join(text) + "\n")
    assert read_matrix(tmp_path / "wide.csv").shape == (4, 500)
    assert len(n_made) < 20


@pytest.mark.parametrize("others", [["Unknown"], ["yEs"], ["maybe", "never"]])
def test_answers_among_other_words_are_not_columns_of_a_list(tmp_path, others):
    """Three columns, the second mostly yes and no: each word of it was a column of its own."""
    words = ["yes", "no", *others, "no", "yes", "yes", "no"]
    lines = [f"r{at},{words[at % len(words)]},{at % 5}" for at in range(30)]
    with pytest.raises(ReadError, match=f"'{others[0]}' is neither yes nor no"):
        read(tmp_path, "\n".join(["name,a,b", *lines]) + "\n")
    matrix = read(tmp_path, "\n".join(["name,a,b", *lines]) + "\n", drop=["a"])
    assert matrix.shape == (30, 1)


def test_a_header_that_counts_columns_stands_above_text_and_blanks_too(tmp_path):
    matrix = read(tmp_path, "0,1,2\n0.5,yes,2.5\n3.5,no,0.2\n")
    assert matrix.column_names == ("0", "1", "2")
    np.testing.assert_array_equal(matrix.data, [[0.5, 1, 2.5], [3.5, 0, 0.2]])
    matrix = read(tmp_path, "0,1,2\n0.5,x,2.5\n3.5,y,0.2\n", drop=["1"])
    np.testing.assert_array_equal(matrix.data, [[0.5, 2.5], [3.5, 0.2]])
