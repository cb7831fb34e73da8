"""Columns of two words that say whether something is so are read as 1 and 0."""

from __future__ import annotations

import numpy as np
import pytest

from neocc.io import MissingValueError, ReadError, read_matrix
from neocc.io.readers._truths import PAIRS


def read(tmp_path, content, name="m.csv", **options):
    (tmp_path / name).write_text(content, encoding="utf-8")
    return read_matrix(tmp_path / name, **options)


@pytest.mark.parametrize("word", [str, str.lower, str.upper])
def test_true_and_false_are_one_and_zero(tmp_path, word):
    X = np.random.default_rng(0).random((12, 4)) < 0.5
    lines = [",".join(word(str(cell)) for cell in line) for line in X.tolist()]
    for content in ("a,b,c,d\n" + "\n".join(lines), "\n".join(lines)):
        matrix = read(tmp_path, content + "\n")
        np.testing.assert_array_equal(matrix.data, X)
        assert any("false is 0, true is 1" in note for note in matrix.notes)
    named = "\n".join(f"r{at},{line},{at}.5" for at, line in enumerate(lines))
    matrix = read(tmp_path, f"name,a,b,c,d,size\n{named}\n")
    np.testing.assert_array_equal(matrix.data[:, :4], X)
    assert matrix.column_names[-1] == "size"
    with pytest.raises(ReadError, match="'maybe' is neither true nor false"):
        read(tmp_path, f"name,a,b,c,d,size\n{named}\nr99,maybe,true,true,true,1\n")


@pytest.mark.parametrize("word", ["maybe", "1"])
@pytest.mark.parametrize("n_before", [2, 300])
def test_the_cell_that_is_neither_true_nor_false_is_blamed(tmp_path, word, n_before):
    lines = ["name,a,b,c", *["x,true,1,2"] * n_before, "y,false,2,3", f"z,{word},3,4"]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    with pytest.raises(ReadError, match=f"'{word}' is neither true nor false") as raised:
        read_matrix(tmp_path / "t.csv")
    assert raised.value.line == n_before + 3


@pytest.mark.parametrize("way", [str.lower, str.title, str.upper])
@pytest.mark.parametrize("pair", PAIRS)
def test_every_pair_is_read_whatever_its_case(tmp_path, pair, way):
    no, yes = map(way, pair.split())
    matrix = read(tmp_path, f"name,age,smokes\nann,41,{yes}\nbob,37,{no}\ncid,55,{yes}\n")
    np.testing.assert_array_equal(matrix.data, [[41, 1], [37, 0], [55, 1]])
    assert matrix.row_names == ("ann", "bob", "cid")
    no, yes = pair.split()
    note = f"Read as numbers ({no} is 0, {yes} is 1): column 3 ('smokes'); "
    assert note + "drop=['smokes'] leaves it out." in matrix.notes


@pytest.mark.parametrize("words", [("M", "F"), ("yes", "true"), ("red", "blue"), ("y", "no")])
def test_other_words_are_none(tmp_path, words):
    lines = "".join(f"r{at},{at},{words[at % 2]}\n" for at in range(8))
    with pytest.raises(ReadError, match="is not a number") as caught:
        read(tmp_path, f"name,age,kind\n{lines}")
    assert "drop=['kind']" in caught.value.remedy


def test_all_columns_that_hold_something_else_are_named_at_once(tmp_path):
    lines = "".join(
        f"r{at},{at},{'MF'[at % 2]},{('yes', 'no', 'maybe')[at % 3]},{'yn'[at % 2]}\n"
        for at in range(9)
    )
    with pytest.raises(ReadError, match="2 hold text") as caught:
        read(tmp_path, f"name,age,sex,likes,smokes\n{lines}")
    assert "drop=['sex', 'likes']" in caught.value.remedy
    assert "'sex' (M or F)" in caught.value.remedy
    matrix = read(tmp_path, f"name,age,sex,likes,smokes\n{lines}", drop=["sex", "likes"])
    np.testing.assert_array_equal(matrix.data[:, 1], [1, 0] * 4 + [1])


def test_a_column_of_one_word_is_read_too(tmp_path):
    lines = "".join(f"r{at},{at},no,n,F\n" for at in range(9))
    matrix = read(tmp_path, f"name,age,a,b,c\n{lines}")
    np.testing.assert_array_equal(matrix.data[:, 1:], np.zeros((9, 3)))
    assert sum("Read as numbers" in note for note in matrix.notes) == 3
    # The other word may come late, and one of no pair is named.
    assert read(tmp_path, f"name,age,a,b,c\n{lines * 40}z,1,yes,y,T\n").data[-1].tolist() == [1] * 4
    with pytest.raises(ReadError, match="'M' is neither t nor f") as caught:
        read(tmp_path, f"name,age,a,b,c\n{lines * 40}z,1,yes,y,M\n")
    assert caught.value.line == 362


def test_cells_without_a_value_are_missing_as_elsewhere(tmp_path):
    content = "name,a,b\nx,yes,1\ny,,2\nz,No,3\n"
    with pytest.raises(MissingValueError, match="blank"):
        read(tmp_path, content)
    assert read(tmp_path, content, missing="zero").data[:, 0].tolist() == [1, 0, 0]
    assert np.isnan(read(tmp_path, content, missing="ignore").data[1, 0])


def test_words_are_no_header_above_others_and_headings_are_none(tmp_path):
    matrix = read(tmp_path, "yes,no,no\nno,yes,no\nno,no,yes\n")
    np.testing.assert_array_equal(matrix.data, np.eye(3))
    matrix = read(tmp_path, "t,y\n" + "".join(f"{at}.5,{at % 3}\n" for at in range(9)))
    assert (matrix.shape, matrix.column_names) == ((9, 2), ("t", "y"))


def test_two_lines_called_yes_and_no(tmp_path):
    matrix = read(tmp_path, "smokes,a,b,c\nno,10,20,3\nyes,3,4,5\n")
    assert matrix.row_names == ("no", "yes")
    # Where they repeat, they are data.
    lines = "".join(f"{('no', 'yes')[at % 2]},{at},{at}.5\n" for at in range(8))
    matrix = read(tmp_path, f"smokes,a,b\n{lines}")
    assert matrix.row_names is None
    assert matrix.data[:, 0].tolist() == [0, 1] * 4


def test_answers_in_a_list(tmp_path):
    lines = "".join(f"u{at // 3},q{at % 3},{('yes', 'no')[at % 2]}\n" for at in range(12))
    matrix = read(tmp_path, f"user,question,answer\n{lines}")
    assert matrix.shape == (4, 3)
    assert matrix.data.toarray()[0].tolist() == [1, 0, 1]


def test_answers_in_a_list_of_pairs_are_what_they_were(tmp_path):
    lines = "".join(f"{who},{answer}\n" for who in "abcdef" for answer in ("yes", "no"))
    assert read(tmp_path, f"who,answer\n{lines}", duplicates="sum").column_names == ("no", "yes")


def test_two_words_among_numbers_are_not_to_be_written_as_numbers(tmp_path):
    with pytest.raises(ReadError, match="is not a number") as caught:
        read(tmp_path, "name,a,b\nx,1,2\ny,low,3\nz,high,4\nu,5,6\nv,7,7\n")
    assert "0 and 1" not in caught.value.remedy


def test_many_columns_are_not_all_named(tmp_path):
    lines = "".join(f"r{at}{',yes,no' * 40}\n" for at in range(3))
    headings = ",".join(f"s{at}" for at in range(80))
    notes = read(tmp_path, f"name,{headings}\n{lines}").notes
    note = next(one for one in notes if "Read as numbers" in one)
    assert "drop" not in note  # nothing would be left
    notes = read(tmp_path, f"name,{headings},t\n" + lines.replace("\n", ",5\n")).notes
    note = next(one for one in notes if "Read as numbers" in one)
    assert "and 75 more; drop=['s0'] leaves the first out." in note


def test_words_in_a_workbook(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    lines = (["name", "age", "smokes"], ["ann", 41, "Yes"], ["bob", 37, "No"], ["cid", 5, "Yes"])
    for line in lines:
        book.active.append(line)
    book.save(tmp_path / "m.xlsx")
    matrix = read_matrix(tmp_path / "m.xlsx")
    np.testing.assert_array_equal(matrix.data[:, 1], [1, 0, 1])
    assert any("no is 0, yes is 1" in note for note in matrix.notes)


@pytest.mark.parametrize("as_category", [False, True])
def test_words_in_parquet(tmp_path, as_category):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"name": list("abcd"), "age": [4, 1, 7, 2]})
    frame["smokes"] = ["Yes", "No", None, "Yes"]
    late = frame.assign(smokes=["maybe", "No", "Yes", "Yes"])
    if as_category:
        frame["smokes"] = frame["smokes"].astype("category")
    frame.to_parquet(tmp_path / "m.parquet")
    with pytest.raises(MissingValueError, match="There is no number in row 3"):
        read_matrix(tmp_path / "m.parquet")
    matrix = read_matrix(tmp_path / "m.parquet", missing="zero")
    np.testing.assert_array_equal(matrix.data, [[4, 1], [1, 0], [7, 0], [2, 1]])
    assert any("no is 0, yes is 1" in note for note in matrix.notes)
    late.to_parquet(tmp_path / "late.parquet")
    with pytest.raises(ReadError, match=r"'smokes'.*'maybe' is neither yes nor no.*drop="):
        read_matrix(tmp_path / "late.parquet")
    late.assign(smokes=["red", "blue", "red", "green"]).to_parquet(tmp_path / "late.parquet")
    with pytest.raises(ReadError, match="cannot be read as numbers"):
        read_matrix(tmp_path / "late.parquet")
