"""`2,000` beside `137` is two thousand, or two: an option says which; nothing is guessed."""

from __future__ import annotations

import numpy as np
import pytest

from neocc.io import FormatError, ReadError, as_command_line, read_matrix

ASKED = "name;a;b\nx;2,000;1\ny;137;2\nz;4,500;3\n"


def read(tmp_path, content: str, name: str = "m.csv", **options):
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    return read_matrix(path, **options)


def test_commas_are_asked_about(tmp_path):
    with pytest.raises(FormatError) as caught:
        read(tmp_path, ASKED)
    assert (caught.value.line, caught.value.column) == (2, "2")
    message = str(caught.value)
    assert "'2,000'" in message
    assert "'137'" in message
    assert '--thousands ","' in as_command_line(message)
    expected = [[2000, 1], [137, 2], [4500, 3]]
    np.testing.assert_array_equal(read(tmp_path, ASKED, thousands=",").data, expected)
    expected = [[2, 1], [137, 2], [4.5, 3]]
    np.testing.assert_array_equal(read(tmp_path, ASKED, decimal=",").data, expected)


@pytest.mark.parametrize(
    "content",
    [
        "name;a;b\nx;2,5;1\ny;137;2\n",  # one digit
        "name;a;b\nx;0,125;1\ny;137;2\n",  # begins with 0
        "name;a;b\nx;2,125;1\ny;3,500;2\n",  # no whole number in the column
        "name;a;b\nx;2,000;1\ny;137,5;2\n",
    ],
)
def test_decimal_commas_are_not(content, tmp_path):
    matrix = read(tmp_path, content)
    assert "Decimal sign: ','." in matrix.notes


@pytest.mark.parametrize(
    "content",
    [
        '"a","b"\n"1,5","2,25"\n"3,125","4"\n',
        'a,b\n"1,5","2,25"\n"3,125",4\n',
        '"1,5","2,25"\n"3,125",4\n',
        'name,a,b\n"Smith, J","1,5","2,25"\n"Doe, J","3,125",4\n',
    ],
)
def test_decimal_commas_within_quotes(content, tmp_path):
    for options in ({}, {"decimal": ","}, {"delimiter": ",", "decimal": ","}):
        matrix = read(tmp_path, content, **options)
        np.testing.assert_array_equal(matrix.data, [[1.5, 2.25], [3.125, 4]])
        assert ("Decimal sign: ','." in matrix.notes) == (not options)


def test_quoted_numbers_that_may_be_thousands_are_asked_about(tmp_path):
    content = 'name,a,b\nx,"1,855","2,250"\ny,"3,500","4,044"\n'
    with pytest.raises(FormatError, match=r"line 3, column 2: '3,500' is within quotes") as caught:
        read(tmp_path, content)
    assert 'Pass thousands="," if it is 3500, decimal="," if it is 3.500' in str(caught.value)
    assert read(tmp_path, content, thousands=",").data[1, 0] == 3500
    assert read(tmp_path, content, decimal=",").data[1, 0] == 3.5
    # One number says that commas are decimal.
    assert read(tmp_path, content.replace("4,044", "4,04")).data[1, 0] == 3.5


@pytest.mark.parametrize(
    "content",
    [
        'name,a,b\nx,"1,5",2.5\ny,"3,5",4\n',  # a point beside commas
        'name,a,b\nx,"1,5",2\ny,"3,5,7",4\n',  # lists
    ],
)
def test_commas_that_are_not_all_decimal_are_not(content, tmp_path):
    with pytest.raises(ReadError):
        read(tmp_path, content, layout="table")


def test_one_column_of_decimal_commas_is_one(tmp_path):
    matrix = read(tmp_path, "a\n1,5\n2,75\n", decimal=",")
    np.testing.assert_array_equal(matrix.data, [[1.5], [2.75]])


@pytest.mark.parametrize(
    ("content", "thousands", "expected"),
    [
        ('n,a,b\nx,"2,000",1\ny,137,"1,234,567.5"\n', ",", [[2000, 1], [137, 1234567.5]]),
        ("n;a;b\nx;2.000;1\ny;137;1.234.567,5\n", ".", [[2000, 1], [137, 1234567.5]]),
        ("n;a;b\nx;2 000;1\ny;137;-1 234.5\n", " ", [[2000, 1], [137, -1234.5]]),
        ("n;a;b\nx;2'000;1\ny;137;12\n", "'", [[2000, 1], [137, 12]]),
        ("n;a;b\nx;2\u202f000;1\ny;137;1\xa0234,5\n", " ", [[2000, 1], [137, 1234.5]]),
        ("n;a;b\nx;2\u2019000;1\ny;137;12\n", "'", [[2000, 1], [137, 12]]),
    ],
)
def test_thousands(content, thousands, expected, tmp_path):
    np.testing.assert_array_equal(read(tmp_path, content, thousands=thousands).data, expected)


def test_columns_of_separated_thousands_are_not_to_be_dropped(tmp_path):
    """As spreadsheets write them: quoted, beside plain numbers, in several columns."""
    content = 'n,a,b\nx,"2,000","1,855"\ny,137,"4,044"\n'
    with pytest.raises(ReadError) as caught:
        read(tmp_path, content)
    message = as_command_line(str(caught.value))
    assert '--thousands ","' in message
    assert "--drop" not in message
    with pytest.raises(ReadError, match="2 hold text"):
        read(tmp_path, content.replace('"1,855"', "red"))


@pytest.mark.parametrize(
    ("cell", "remedy"),
    [
        ("1.234,5", 'thousands="."'),
        ("1 234,5", 'thousands=" "'),
        ("1\u202f234,5", 'thousands=" "'),
        ("1'234.5", 'thousands="\'"'),
    ],
)
def test_columns_of_thousands_are_no_ids_of_triplets(cell, remedy, tmp_path):
    content = "".join(f"x{i};{cell};{i}\n" for i in range(12))
    with pytest.raises(ReadError) as caught:
        read(tmp_path, f"city;sales;staff\n{content}")
    assert remedy in str(caught.value)
    assert "drop" not in str(caught.value)


def test_only_groups_of_three_digits(tmp_path):
    with pytest.raises(ReadError, match="'2,00' is not a number"):
        read(tmp_path, 'n,a,b\nx,"2,00",1\ny,137,3\nz,138,4\n', thousands=",")


def test_missing_values_beside_thousands(tmp_path):
    content = 'n,a,b\nx,"2,000",1\ny,137,\n'
    with pytest.raises(ReadError, match=r"line 3, .*blank"):
        read(tmp_path, content, thousands=",")
    matrix = read(tmp_path, content, thousands=",", missing="zero")
    np.testing.assert_array_equal(matrix.data, [[2000, 1], [137, 0]])


def test_quoted_thousands_are_explained(tmp_path):
    with pytest.raises(ReadError, match='thousands=","'):
        read(tmp_path, 'n,a,b\nx,"2,000",1\ny,137,3\n')


def test_points_are_remarked_on(tmp_path):
    content = "n;a;b\nx;2.125;1\ny;137;2\nz;3.505;3\nw;4.515;3\n"
    matrix = read(tmp_path, content)
    assert matrix.data[0, 0] == 2.125
    assert any('thousands="."' in note for note in matrix.notes)
    assert read(tmp_path, content, thousands=".").data[0, 0] == 2125
    plain = read(tmp_path, content.replace("4.515", "4.55"))
    assert not any("thousands" in note for note in plain.notes)


def test_points_before_zeros_are_asked_about(tmp_path):
    """Who writes 1.100 for 1.1 does not write 137 beside it."""
    content = "n;a;b\nx;2.125;1\ny;137;2\nz;1.100;3\n"
    with pytest.raises(FormatError, match=r"line 4, column 2: '1.100' .*points") as caught:
        read(tmp_path, content)
    assert 'thousands="."' in str(caught.value)
    assert read(tmp_path, content, thousands=".").data[2, 0] == 1100
    assert read(tmp_path, content, decimal=".").data[2, 0] == 1.1
    assert read(tmp_path, content.replace("137", "137.000")).data[1, 0] == 137


@pytest.mark.parametrize("options", [{"decimal": ","}, {"delimiter": ","}, {"thousands": "x"}])
def test_options_that_contradict_each_other(options, tmp_path):
    with pytest.raises(ValueError, match="thousands"):
        read(tmp_path, ASKED, **{"thousands": ",", **options})


def test_numbers_near_zero_are_told_of(tmp_path):
    matrix = read(tmp_path, "a,b,c\n1e-300,1,0.5\n0,-2e-200,3\n")
    assert any(note.startswith("2 numbers other than 0") for note in matrix.notes)
    assert not any("other than 0" in note for note in read(tmp_path, "a,b\n1e-9,1\n0,2\n").notes)
