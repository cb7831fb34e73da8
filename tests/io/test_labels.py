"""Labels and names from tables, and what is wrong with some of them."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from neocc.io import DuplicateEntryError, FormatError, ReadError
from neocc.io._labels import read_labels, read_names_table

IDS = ["ann", "bea", "cleo"]


@pytest.fixture
def table(tmp_path):
    def write(text, name="labels.csv"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def labels_of(labels):
    """Return the labels of each item."""
    members = labels.members.toarray()
    return [[labels.names[at] for at in np.flatnonzero(row)] for row in members]


ONE_EACH = [["x"], ["y"], ["x"]]


@pytest.mark.parametrize(
    "text",
    [
        "name,label\nann,x\nbea,y\ncleo,x\n",
        "ann,x\nbea,y\ncleo,x\n",  # the first line has an id: no header
        "name;label\r\ncleo;x\r\nbea;y\r\nann;x\r\n",
        "name\tlabel\n\nann\t x \n bea\ty\ncleo\tx",
        '\ufeff"name","label"\n"ann","x"\n"bea","y"\n"cleo","x"\n',
        "name,age,class\nann,3,x\nbea,4,y\ncleo,5,x\n",  # a usual heading among several
    ],
)
def test_ways_to_write_a_table(table, text):
    found = read_labels(table(text), IDS)
    assert labels_of(found) == ONE_EACH
    assert found.notes == ()


def test_several_labels_in_lines_and_in_a_cell(table):
    found = read_labels(table("name,label\nann,x|y\nbea,y\nbea,z\ncleo,\n"), IDS)
    assert labels_of(found) == [["x", "y"], ["y", "z"], []]
    assert found.notes == ("1 of the 3 rows has no label in labels.csv.",)


def test_the_column_can_be_named_and_numbered(table):
    path = table("id,title,genres\nann,A,x\nbea,B,y\ncleo,C,x\n", "films.csv")
    for column in ("genres", "3"):
        assert labels_of(read_labels(f"{path}:{column}", IDS)) == ONE_EACH
    assert read_names_table(path, IDS) == (("A", "B", "C"), ())
    assert read_names_table(f"{path}:genres", IDS)[0] == ("x", "y", "x")
    with pytest.raises(
        FormatError, match=r"Its columns are id, title, genres\. .*films.csv:genres"
    ):
        read_labels(path, IDS)
    with pytest.raises(FormatError, match="there is no 'genre'"):
        read_labels(f"{path}:genre", IDS)


def test_packed_files_are_read(table):
    path = table(gzip.compress(b"name,label\nann,x\nbea,y\ncleo,x\n"), "labels.csv.gz")
    assert labels_of(read_labels(path, IDS)) == ONE_EACH


def test_a_table_may_have_more_ids_if_it_lacks_none(table):
    found = read_labels(table("name,label\nann,x\nbea,y\ncleo,x\ndot,z\n"), IDS)
    assert labels_of(found) == ONE_EACH
    assert found.names == ("x", "y")
    assert found.notes == (
        "1 of 4 ids in labels.csv are not among the rows, such as 'dot': left out.",
    )


@pytest.mark.parametrize("read", [read_labels, read_names_table])
def test_ids_that_look_misspelt_are_refused(table, read):
    path = table("name,label\nann,x\nbee,y\ncleo,x\n")
    with pytest.raises(FormatError) as refused:
        read(path, IDS, "women")
    assert "1 of 3 ids in labels.csv are not among the women, such as 'bee'" in str(refused.value)
    assert "1 of 3 women are not in labels.csv, such as 'bea'" in str(refused.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        ("name\nann\n", "It has one column"),
        ("name,label\n", "None of the rows has a label"),
        ("name,label\nann,\nbea,\ncleo,\n", "None of the rows has a label"),
        ("name,label\nann,x\nbea\n", "line 3.*2 cells are expected.*found 1"),
        ("name,label\nann,x,y\n", "line 2.*Quote"),
        ("name,label\n,x\n", "line 2.*The id is blank"),
        ('name,label\nann,"x\n', "This is no table"),
        (b"name,label\nann,\xff\n", "not UTF-8"),
    ],
)
def test_bad_files_get_one_clear_error(table, text, message):
    with pytest.raises(ReadError, match=message):
        read_labels(table(text), IDS)


def test_duplicates_are_refused(table):
    with pytest.raises(DuplicateEntryError, match=r"line 3.*'ann' has the label 'x' twice"):
        read_labels(table("name,label\nann,x\nann,y|x\n"), IDS)
    with pytest.raises(DuplicateEntryError, match=r"line 3.*'ann' has a second name"):
        read_names_table(table("name,title\nann,x\nann,y\n"), IDS)


def test_labels_of_one_item_each_look_like_names(table):
    found = read_labels(table("name,label\nann,A\nbea,B\ncleo,C\n"), IDS)
    assert "Are these names to show?" in found.notes[0]


def test_items_without_a_name_keep_their_ids(table):
    names, notes = read_names_table(table("name,title\nann,A\ncleo,\n"), IDS)
    assert names == ("A", "bea", "cleo")
    assert notes == ("2 of the 3 rows without a name in labels.csv: the id is shown.",)


@pytest.mark.parametrize(
    "given",
    [
        {"cleo": "x", "bea": ["y"], "ann": ("x",)},
        ["x", ["y"], {"x"}],
        np.array(["x", "y", "x"]),
    ],
)
def test_labels_from_python(given):
    assert labels_of(read_labels(given, IDS)) == ONE_EACH


def test_nothing_is_no_label():
    found = read_labels([None, float("nan"), ["x", "", "z", "x"]], IDS, "women")
    assert labels_of(found) == [[], [], ["x", "z"]]
    assert "2 of the 3 women have no label." in found.notes
    assert labels_of(read_labels([1, 2, 1], IDS)) == [["1"], ["2"], ["1"]]


def test_python_mistakes_are_value_errors():
    with pytest.raises(ValueError, match="2 labels for 3 rows"):
        read_labels(["x", "y"], IDS)
    with pytest.raises(
        ValueError, match="1 of 1 ids in labels are not among the rows, such as 'z'"
    ):
        read_labels({"z": "x"}, IDS)
    with pytest.raises(ValueError, match="None of the rows has a label"):
        read_labels([None] * 3, IDS)


def test_some_items():
    found = read_labels(["x", "y", "x"], IDS).take(np.array([2, 1]))
    assert labels_of(found) == [["x"], ["y"]]
