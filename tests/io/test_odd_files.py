"""Files of kinds that no rule is about: read as what they are, or refused by name."""

from __future__ import annotations

import gzip
from datetime import date, datetime

import numpy as np
import pytest
from scipy import sparse

from neocc.io import ReadError, read_matrix

BODY = "".join(f"x{at},{at % 4},{at % 3},{at * at}\n" for at in range(14))


def write(tmp_path, content, name="m.csv"):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize(
    ("first", "name"),
    [
        (b"Rar!\x1a\x07\x00", "RAR"),
        (b"\x04\x22\x4d\x18", "LZ4"),
        (b"\x1f\x9d\x90", "compress"),
        (b"x" * 257 + b"ustar\x00", "a tar archive"),
        (b"!Series_title\t'x'\n\n!Series_geo\t'y'\n", "the Gene Expression Omnibus"),
        (b"\n" * 40 + b"!Sample_title\t'x'\n", "the Gene Expression Omnibus"),
        (b"##fileformat=VCFv4.2\n", "variants (VCF)"),
        (b"1 1:0.5 3:2\n0 2:1\n", "SVMlight or LIBSVM"),
        (b"-1 1:0.5e-3 # remark\n", "SVMlight or LIBSVM"),
    ],
)
def test_files_of_other_programs_are_named(tmp_path, first, name):
    with pytest.raises(ReadError, match=name.replace("(", r"\(").replace(")", r"\)")):
        read_matrix(write(tmp_path, first + b"\x01abc" * 60))


def test_the_first_lines_are_judged_in_no_time(tmp_path):
    with pytest.raises(ReadError):
        read_matrix(write(tmp_path, b"\n" * 4000 + b"!\n" * 4000))


def test_text_columns_beside_years(tmp_path):
    lines = "".join(f"Land {at},L{at},GDP,{at % 4},{at % 3},{at * at}\n" for at in range(12))
    header = "Country Name,Country Code,Indicator Name,1960,1961,1962\n"
    dropped = {"drop": ["Country Code", "Indicator Name"]}
    matrix = read_matrix(write(tmp_path, header + lines), **dropped)
    assert (matrix.shape, matrix.column_names) == ((12, 3), ("1960", "1961", "1962"))
    # A first line of data is none, whatever stands beside its numbers.
    lines = "".join(f"n{at},k{at % 3},{at % 4},{at % 3},{at * at}\n" for at in range(12))
    assert read_matrix(write(tmp_path, lines), drop="2").shape == (12, 3)


def test_the_number_of_a_column_names_the_rows_where_there_is_no_header(tmp_path):
    lines = "".join(f"{at % 4},{at},{at * at % 7},x{at}\n" for at in range(14))
    path = write(tmp_path, lines)
    note = next(one for one in read_matrix(path).notes if "row_names=" in one)
    assert "row_names='4' reads it as data" in note
    matrix = read_matrix(path, row_names="4")
    assert matrix.shape == (14, 3)
    assert matrix.row_names[-1] == "x13"


def test_single_blanks_in_cells_that_several_separate(tmp_path):
    lines = "".join(f"Group {at}   {at % 4}   {at % 3}    {at}\n" for at in range(14))
    with pytest.raises(ReadError, match=r"single ones are in them \('Group 0'\)"):
        read_matrix(write(tmp_path, "Group   a   b   c\n" + lines))
    for name in ("Group{}", '"Group {}"'):
        lines = "".join(f"{name.format(at)}   {at % 4}  {at % 3}   7\n" for at in range(14))
        matrix = read_matrix(write(tmp_path, "Group  a  b  c\n" + lines))
        assert matrix.data[-1].tolist() == [1, 1, 7]
    lines = "".join(f"{at % 4} {at % 5}  {at % 3} 7\n" for at in range(14))
    assert read_matrix(write(tmp_path, lines)).shape == (14, 4)


def test_rows_without_names_among_others(tmp_path):
    notes = read_matrix(write(tmp_path, "name,a,b\nx,1,2\n,3,4\ny,5,6\n")).notes
    assert "1 row has no name, where others have one (first: row 2)." in notes
    notes = read_matrix(write(tmp_path, "name,a,b\n,1,2\n,3,4\ny,5,6\n")).notes
    assert "2 rows have no name, where others have one (first: row 1)." in notes


@pytest.mark.parametrize("code", [-99, -999, -9999, -99999])
def test_numbers_that_may_stand_for_no_value(tmp_path, code):
    lines = "".join(
        f"x{at},{code if at % 4 == 1 else at},{code if at == 5 else at % 3},{at % 4}\n"
        for at in range(14)
    )
    notes = read_matrix(write(tmp_path, "name,a,b,c\n" + lines)).notes
    said = f"{code} occurs 5 times in 2 columns without other negative numbers"
    assert any(note.startswith(said) for note in notes)
    for other in ("-3", str(code - 1)):
        changed = lines.replace("x2,2,2", f"x2,{other},{other}")
        notes = read_matrix(write(tmp_path, "name,a,b,c\n" + changed)).notes
        assert not any("occurs" in note for note in notes)


def test_a_folder_of_single_cells(tmp_path):
    entries = "%%MatrixMarket matrix coordinate integer general\n3 2 2\n1 1 3\n3 2 1\n"
    path = write(tmp_path, gzip.compress(entries.encode()), "cells/matrix.mtx.gz")
    assert not read_matrix(path).notes
    for name in ("features", "barcodes"):
        write(tmp_path, gzip.compress(b"a\nb\n"), f"cells/{name}.tsv.gz")
    with pytest.raises(ReadError, match=r"Name a file in it: matrix\.mtx\.gz\."):
        read_matrix(tmp_path / "cells")
    matrix = read_matrix(path)
    assert sparse.issparse(matrix.data)
    assert "Names in barcodes.tsv.gz and features.tsv.gz are not read" in matrix.notes[0]
    write(tmp_path, entries, "cells/other.mtx")
    with pytest.raises(ReadError, match=r"Name a file in it\.$"):
        read_matrix(tmp_path / "cells")


class TestWorkbooks:
    @pytest.fixture
    def book(self):
        return pytest.importorskip("openpyxl").Workbook()

    def save(self, book, tmp_path):
        book.save(tmp_path / "m.xlsx")
        return tmp_path / "m.xlsx"

    def fill(self, sheet, header):
        sheet.append(header)
        for at in range(9):
            sheet.append([f"x{at}", at % 4, at % 3, at * at])

    def test_a_sheet_on_what_the_others_hold_is_passed_over(self, book, tmp_path):
        for line in ("Data of the study", "Contact: me"):
            book.active.append([line])
        self.fill(book.create_sheet("data"), ["name", "a", "b", "c"])
        matrix = read_matrix(self.save(book, tmp_path))
        assert matrix.shape == (9, 3)
        assert "Sheet: 'data'; others: 'Sheet'." in matrix.notes

    def test_lines_in_single_cells_are_to_be_split(self, book, tmp_path):
        for at in range(9):
            book.active.append([f"x{at};{at % 4};{at % 3}"])
        with pytest.raises(ReadError, match="split it: Data, Text to Columns"):
            read_matrix(self.save(book, tmp_path))

    def test_numbers_in_one_column_are_no_remark(self, book, tmp_path):
        for at in range(9):
            book.active.append([at])
        self.fill(book.create_sheet("data"), ["name", "a", "b", "c"])
        assert read_matrix(self.save(book, tmp_path)).shape == (9, 1)

    def test_dates_as_headings(self, book, tmp_path):
        noon = datetime(2020, 1, 2, 12)  # noqa: DTZ001 - as in the workbook
        days = [date(2020, 1, 1), noon.replace(hour=0), noon]
        self.fill(book.active, ["name", *days])
        names = read_matrix(self.save(book, tmp_path)).column_names
        assert names == ("2020-01-01", "2020-01-02", "2020-01-02 12:00:00")


def test_what_was_read_right_before(tmp_path):
    """Kinds of files that a demanding user tries."""
    expected = np.array([[at % 4, at % 3, at * at] for at in range(14)])
    codes = "patient,250.00,401.9,428.0\n"
    for content in (
        codes + BODY,
        "\ufeffname;a;b;c\n" + BODY.replace(",", ";"),
        "name,a,b,c\r" + BODY.replace("\n", "\r"),
        "name,a,b,c\n" + BODY.rstrip(),
        "name,a,b,c\n" + BODY.replace("x3,", '"x ""3""\nor so",'),
        "country,1/22/20,1/23/20,1/24/20\n" + BODY,
        "a,b,c,name\n" + "".join(f"{at % 4},{at % 3},{at * at},x{at}\n" for at in range(14)),
        gzip.compress(("name,a,a,a\n" + BODY).encode()),
    ):
        np.testing.assert_array_equal(read_matrix(write(tmp_path, content)).data, expected)
