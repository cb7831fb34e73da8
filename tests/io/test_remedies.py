"""What to do about cells that hold something else than a number is said for what they hold."""

from __future__ import annotations

import pytest

from neocc.io import ReadError, read_matrix


def refused(tmp_path, content, name="m.csv", **options):
    (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(ReadError) as caught:
        read_matrix(tmp_path / name, **options)
    return caught.value


def table(cell, others=("1", "2"), n=6, sign=","):
    lines = [sign.join(["name", "a", "b", "c"])]
    lines += [sign.join([f"r{at}", others[0], cell, others[1]]) for at in range(n)]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    ("cell", "without"),
    [
        *(("$40.50", "$"), ("40.50 €", "€"), ("€ 7", "€"), ("USD 12", "USD"), ("12%", "%")),
        *(("5 kg", "kg"), ("5kg", "kg"), ("21.5 °C", "°C"), ("3 km/h", "km/h"), ("<0.05", "<")),
        *(("0.5*", "*"), ("1.25**", "**"), ("0.5±0.1", "±0.1"), ("7[a]", "[a]"), ("7 (2)", "(2)")),
        *(("~3", "~"), ("=4", "="), ("'4", "'"), ("4\u00a0", r"'\xa0'"), ("$ 5 k", "$ and k")),
    ],
)
def test_what_stands_beside_a_number_is_named(tmp_path, cell, without):
    fault = refused(tmp_path, table(cell))
    assert fault.problem.startswith(f"{cell!r} is not a number.")
    assert fault.remedy.startswith(f"Write it as a plain number, without {without}.")
    both = refused(tmp_path, table(cell, (cell, "2")))
    assert "Such text stands in 2 of 3 columns." in both.problem
    assert both.remedy.startswith("Write it as a plain number")


@pytest.mark.parametrize("cell", ["85123A", "p12", "1-5", "1/20", "0:13", "48° 3'", "a", "1.2.3"])
def test_codes_and_the_like_are_no_numbers_with_something_beside(tmp_path, cell):
    assert "plain number" not in refused(tmp_path, table(cell)).remedy


@pytest.mark.parametrize(
    ("cell", "remedy"),
    [
        ("(1.50)", "Write negative numbers with a sign before them: '-1.50'."),
        ("7-", "Write negative numbers with a sign before them: '-7'."),
        ("1.234.567", "Write it without separators: '1234567'."),
        ('"12,34,567"', "Write it without separators: '1234567'."),
        ("1.5D+01", "Write powers of ten with E: '1.5E+01'."),
        ("-2d3", "Write powers of ten with E: '-2E3'."),
        ("#DIV/0!", "Correct it, or leave the column out with "),
    ],
)
def test_other_ways_to_write_numbers(tmp_path, cell, remedy):
    assert refused(tmp_path, table(cell)).remedy.startswith(remedy)


def test_a_word_among_numbers_may_stand_for_no_value(tmp_path):
    lines = [f"r{at},{'#DIV/0!' if at == 3 else at},7" for at in range(9)]
    fault = refused(tmp_path, "name,a,b\n" + "\n".join(lines) + "\n")
    assert fault.remedy.endswith("If it stands for no value, blank the cell.")
    assert "blank the cell" not in refused(tmp_path, table("red")).remedy


def test_points_beside_decimal_commas(tmp_path):
    fault = refused(tmp_path, table("4.25", ("1,5", "2,25"), sign=";"))
    assert fault.remedy == "Commas are decimal signs here: write it as '4,25'."


def test_thin_spaces_between_thousands(tmp_path):
    content = table("1\u2009100")
    assert 'thousands=" "' in refused(tmp_path, content).remedy
    assert read_matrix(tmp_path / "m.csv", thousands=" ").data[0].tolist() == [1, 1100, 2]


def test_infinity_as_a_sign(tmp_path):
    assert "∞ is infinite" in refused(tmp_path, "name,a,b\nx,1,2\ny,∞,3\nz,4,5\n").problem


def test_words_among_numbers_are_corrected_or_blanked(tmp_path):
    lines = [f"r{at},{'missing' if at == 3 else at},{'n.d.' if at == 5 else 7}" for at in range(9)]
    fault = refused(tmp_path, "name,a,b\n" + "\n".join(lines) + "\n")
    assert fault.remedy.startswith("Correct these cells, and blank those that stand for no value.")
    lines[4] = "unit,kg,cm"
    fault = refused(tmp_path, "name,a,b\n" + "\n".join(lines) + "\n")
    assert fault.remedy.startswith("If the line holds a title, units or a header again, delete it")


def test_words_in_some_columns_of_numbers(tmp_path):
    lines = [
        f"r{at},{'lost' if at == 3 else at},{'n.d.' if at == 5 else 7},{at}" for at in range(9)
    ]
    fault = refused(tmp_path, "name,a,b,c\n" + "\n".join(lines) + "\n")
    assert fault.remedy.startswith("Blank cells that stand for no value, correct others, or leave")
    assert "drop=['a', 'b']" in fault.remedy


@pytest.mark.parametrize("word", ["\\N", "(null)"])
def test_more_words_for_no_value(tmp_path, word):
    assert "has no value" in refused(tmp_path, f"name,a,b\nx,1,2\ny,{word},4\nz,5,6\n").problem


def test_more_digits_than_can_be_kept(tmp_path):
    lines = "".join(f"x{at},{10**17 + at},{at % 3}\n" for at in range(9))
    (tmp_path / "m.csv").write_text("name,a,b\n" + lines)
    note = "Column 2 ('a') holds whole numbers of 18 digits, of which 15 are kept"
    assert any(one.startswith(note) for one in read_matrix(tmp_path / "m.csv").notes)
    (tmp_path / "m.csv").write_text("name,a,b\n" + lines.replace("1000", "1.0"))
    assert not any("digits" in one for one in read_matrix(tmp_path / "m.csv").notes)


def test_utf_32_is_named(tmp_path):
    (tmp_path / "m.csv").write_bytes("name,a\nx,1\n".encode("utf-32"))
    with pytest.raises(ReadError, match='encoding="utf-32"'):
        read_matrix(tmp_path / "m.csv")


def test_marks_beside_blank_cells(tmp_path):
    lines = [f"r{at},{'x' if at % 2 else ''},{'x' if at % 3 else ''}" for at in range(9)]
    fault = refused(tmp_path, "name,a,b\n" + "\n".join(lines) + "\n")
    assert "Marks such as 'x' in column 2 ('a') can be written as 1" in fault.remedy
    fault = refused(tmp_path, "name,a,b,c\nr1,x,1,2\nr2,,2,2\n")
    assert "can be written" not in fault.remedy


def test_answers_with_an_order(tmp_path):
    words = ["disagree", "neutral", "agree"]
    lines = [f"r{at},{words[at % 3]},{words[at % 2]}" for at in range(9)]
    fault = refused(tmp_path, "name,a,b\n" + "\n".join(lines) + "\n")
    assert "answers that have an order as 1, 2, 3" in fault.remedy
