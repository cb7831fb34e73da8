"""ARFF: names with quotes in them, labels that are numbers, and labels that are none."""

from __future__ import annotations

import numpy as np
import pytest

from neocc.io import ReadError, ValueInCellError, read_matrix


def read(tmp_path, attributes: str, data: str, **options):
    path = tmp_path / "m.arff"
    lines = "".join(f"@attribute {one}\n" for one in attributes.splitlines())
    path.write_text(f"@relation r\n{lines}@data\n{data}", encoding="utf-8")
    return read_matrix(path, **options)


def test_escaped_quotes(tmp_path):
    names = "'it\\'s' numeric\n\"say \\\"a\\\"\" real\n'back\\\\slash' integer\nplain numeric"
    matrix = read(tmp_path, names, "1,2.5,3,4\n5,6,7,8\n")
    assert matrix.column_names == ("it's", 'say "a"', "back\\slash", "plain")
    np.testing.assert_array_equal(matrix.data, [[1, 2.5, 3, 4], [5, 6, 7, 8]])


def test_escaped_quotes_in_row_names(tmp_path):
    matrix = read(tmp_path, "n string\na numeric", "'it\\'s',1\n'x, y',2\n")
    assert matrix.row_names == ("it's", "x, y")


@pytest.mark.parametrize(
    ("labels", "cells", "numbers"),
    [
        ("{YES, NO}", "YES NO YES", [1, 0, 1]),
        ("{NO, YES}", "YES NO YES", [1, 0, 1]),
        ("{0, 1}", "1 0 1", [1, 0, 1]),
        ("{'0','1'}", "'1' '0' '1'", [1, 0, 1]),
        ("{FALSE, TRUE}", "TRUE FALSE TRUE", [1, 0, 1]),
        ("{'t','f'}", "'t' 'f' 't'", [1, 0, 1]),
        ("{1,2,3}", "3 1 2", [3, 1, 2]),
        ("{male, female}", "male female male", [0, 1, 0]),
        ("{yes, unknown}", "yes unknown yes", [1, 0, 1]),
        ("{tested_positive,tested_negative}", "tested_positive tested_negative ?", [1, 0, 0]),
        ("{+, -}", "+ - ?", [1, 0, 0]),
        ("{None, Mild}", "None Mild None", [0, 1, 0]),
    ],
)
def test_labels_that_are_numbers(labels, cells, numbers, tmp_path):
    lines = "".join(f"{i},{cell}\n" for i, cell in enumerate(cells.split()))
    matrix = read(tmp_path, f"a numeric\nb {labels}", lines, missing="zero")
    np.testing.assert_array_equal(matrix.data, np.transpose([[0, 1, 2], numbers]))
    (note,) = (note for note in matrix.notes if "Read as numbers" in note)
    assert "'b'" in note
    assert ("every value is a number" in note) == any(sign.isdigit() for sign in labels)


def test_blanks_around_labels(tmp_path):
    matrix = read(tmp_path, "a numeric\nb {'yes', 'no'}", "1,  'no'\n2, 'yes' \n3,yes\n")
    np.testing.assert_array_equal(matrix.data[:, 1], [0, 1, 1])


def test_labels_that_may_be_classes(tmp_path):
    notes = read(tmp_path, "a numeric\nb {male, female}", "1,male\n").notes
    assert (
        "Read as numbers (male is 0, female is 1): column 2 ('b'); drop=['b'] leaves it out."
        in notes
    )
    assert any("leave out columns of classes" in note for note in notes)
    notes = read(tmp_path, "a numeric\nb {negative, positive}", "1,positive\n").notes
    assert not any("leave out columns of classes" in note for note in notes)


def test_a_label_that_looks_missing(tmp_path):
    with pytest.raises(ReadError, match=r"The cell has no value \('\?'\)") as caught:
        read(tmp_path, "a numeric\nb {+, -}", "1,-\n2,?\n")
    assert caught.value.line == 6


def test_missing_labels(tmp_path):
    attributes = "a numeric\nb {yes, no}"
    with pytest.raises(ReadError, match="no value"):
        read(tmp_path, attributes, "1,yes\n2,?\n")
    matrix = read(tmp_path, attributes, "1,yes\n2,?\n", missing="zero")
    np.testing.assert_array_equal(matrix.data, [[1, 1], [2, 0]])


def test_a_label_that_is_not_declared(tmp_path):
    for missing in ("error", "zero", "ignore"):
        with pytest.raises(ValueInCellError, match="'maybe' is not a number") as caught:
            read(tmp_path, "a numeric\nb {yes, no}", "1,yes\n2,maybe\n", missing=missing)
        assert caught.value.line == 6


def test_all_other_labels_at_once(tmp_path):
    attributes = "a numeric\nb {red, blue, green}\nc date\nd {yes, no}\n'e f' {u, v, w}"
    with pytest.raises(ValueInCellError) as caught:
        read(tmp_path, attributes, "1,red,2020,yes,u\n")
    message = str(caught.value)
    assert "3 are not numeric" in message
    assert "drop=['b', 'c', 'e f']" in message
    matrix = read(tmp_path, attributes, "1,red,2020,yes,u\n", drop=["b", "c", "e f"])
    np.testing.assert_array_equal(matrix.data, [[1, 1]])


def test_ids(tmp_path):
    lines = "".join(f"{1000 + 7 * i},{i % 2},{i % 3}\n" for i in range(5))
    matrix = read(tmp_path, "customer_id integer\na numeric\nb numeric", lines)
    assert matrix.row_names[:2] == ("1000", "1007")
    assert matrix.shape == (5, 2)


def test_nominal_names(tmp_path):
    mice = "{" + ",".join(f"'m_{i}'" for i in range(12)) + "}"
    lines = "".join(f"'m_{i}',{i % 2},{i % 3}\n" for i in range(12))
    assert read(tmp_path, f"MouseID {mice}\na numeric\nb numeric", lines).row_names[1] == "m_1"
    lines = "".join(f"{'uv'[i % 2]},{i % 2},{i % 3}\n" for i in range(12))
    with pytest.raises(ReadError, match=r"drop=\['kind'\]"):
        read(tmp_path, "kind {u, v, w}\na numeric\nb numeric", lines)


class TestSparse:
    def test_labels(self, tmp_path):
        attributes = "a numeric\nb {no, yes}\nc {0, 1}"
        matrix = read(tmp_path, attributes, "{0 2, 1 yes}\n{2 1}\n{}\n")
        np.testing.assert_array_equal(matrix.data.toarray(), [[2, 1, 0], [0, 0, 1], [0, 0, 0]])

    def test_labels_that_look_missing(self, tmp_path):
        matrix = read(tmp_path, "a numeric\nb {None, -}", "{0 2, 1 -}\n{1 None}\n")
        np.testing.assert_array_equal(matrix.data.toarray(), [[2, 1], [0, 0]])

    @pytest.mark.parametrize("labels", ["{yes, no}", "{1, 0}"])
    def test_a_first_label_that_is_not_0(self, labels, tmp_path):
        attributes = f"a numeric\nb {labels}"
        with pytest.raises(ValueInCellError, match=r"first label.*drop=\['b'\]"):
            read(tmp_path, attributes, "{0 2, 1 no}\n")
        matrix = read(tmp_path, attributes, "{0 2, 1 no}\n", drop="b")
        np.testing.assert_array_equal(matrix.data.toarray(), [[2]])
