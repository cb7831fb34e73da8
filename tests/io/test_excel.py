"""Excel workbooks are read; files of other programs are named as what they are."""

from __future__ import annotations

import datetime as dt
import gzip
import pickle
import sys
import zipfile

import numpy as np
import pytest

from neocc.io import FormatError, MissingValueError, ReadError, open_store, read_matrix, write_store


@pytest.fixture
def book(tmp_path):
    """Write sheets, each a list of rows, as a workbook."""
    openpyxl = pytest.importorskip("openpyxl")

    def write(**sheets):
        workbook = openpyxl.Workbook()
        workbook.remove(workbook.active)
        for name, rows in sheets.items():
            sheet = workbook.create_sheet(name)
            for row in rows:
                sheet.append(row)
        path = tmp_path / "book.xlsx"
        workbook.save(path)
        return path

    return write


GENES = [["gene", "a", "b", "ok"], ["x", 1, 2.5, True], ["y", 3, 4e-5, False]]


class TestWorkbooks:
    def test_a_table(self, book):
        matrix = read_matrix(book(Data=GENES, Other=[[1]]))
        assert matrix.format == "excel"
        assert matrix.row_names == ("x", "y")
        assert matrix.column_names == ("a", "b", "ok")
        np.testing.assert_array_equal(matrix.data, [[1, 2.5, 1], [3, 4e-5, 0]])
        assert "Sheet: 'Data'; others: 'Other'." in matrix.notes

    def test_sheets_by_name(self, book):
        path = book(Empty=[], Notes=[["hello", "you"]], Data=GENES)
        assert read_matrix(path, sheet="Data").shape == (2, 3)
        with pytest.raises(ReadError, match=r"sheet 'Notes'; .*sheet=\.\.\. .*'Data'"):
            read_matrix(path)
        with pytest.raises(FormatError, match=r"no sheet 'Dat'.*'Data'"):
            read_matrix(path, sheet="Dat")
        with pytest.raises(FormatError, match="nothing on the sheet"):
            read_matrix(path, sheet="Empty")

    def test_blank_rows_and_columns_around_the_table(self, book):
        rows = [[], [], *([None, None, *row, None] for row in GENES)]
        matrix = read_matrix(book(Data=rows))
        assert matrix.row_names == ("x", "y")
        np.testing.assert_array_equal(matrix.data, [[1, 2.5, 1], [3, 4e-5, 0]])

    def test_cells_of_blanks_are_empty(self, book):
        rows = [*GENES, [], [*[None] * 40, " "], ["\u00a0"], [*[None] * 3000, "  "]]
        matrix = read_matrix(book(Data=rows))
        np.testing.assert_array_equal(matrix.data, [[1, 2.5, 1], [3, 4e-5, 0]])

    def test_formulas_whose_values_are_not_stored(self, book):
        path = book(Data=[["gene", "a", "b"], ["x", 1, 2], ["y", 3, "=B3*2"], ["z", 3, "=B4*2"]])
        with pytest.raises(
            MissingValueError, match=r"2 formulas \(first: cell C3\).*LibreO"
        ) as one:
            read_matrix(path)
        assert (one.value.line, one.value.column) == (3, "3 ('b')")
        assert "blank" not in str(one.value)
        assert any("first: cell C3" in note for note in read_matrix(path, missing="zero").notes)
        path = book(Data=[["gene", "a", "b"], ["x", None, 2], ["y", 3, "=B3*2"]])
        with pytest.raises(MissingValueError, match="The cell is blank"):
            read_matrix(path)

    def test_formulas_whose_values_are_stored(self, book):
        path = book(Data=[["gene", "a", "b"], ["x", 1, 2], ["y", 3, "=B3*2"], ["z", 3, '=""']])
        with zipfile.ZipFile(path) as archive:
            parts = {name: archive.read(name).decode() for name in archive.namelist()}
        text = parts["xl/worksheets/sheet1.xml"].replace("<v />", "<v></v>")
        text = text.replace("B3*2</f><v></v>", "B3*2</f><v>6</v>")
        text = text.replace('<c r="C4"', '<c r="C4" t="str"')
        with zipfile.ZipFile(path, "w") as archive:
            for name, part in (parts | {"xl/worksheets/sheet1.xml": text}).items():
                archive.writestr(name, part)
        matrix = read_matrix(path, missing="zero")
        np.testing.assert_array_equal(matrix.data, [[1, 2], [3, 6], [3, 0]])
        assert not any("formula" in note for note in matrix.notes)

    @pytest.mark.parametrize("cells", [("12%", "3,5"), ("12%", "13 %"), ("<5", "3,5")])
    def test_numbers_written_as_text_are_no_ids(self, cells, book):
        rows = [["gene", "a", "b"], ["x", cells[0], 2], ["y", cells[1], 4]]
        with pytest.raises(ReadError, match=r"line 2, column 2 \('a'\): '.*' is not a number"):
            read_matrix(book(Data=rows))

    @pytest.mark.parametrize("name", ["b.xls", "b.csv", "b.txt", "b"])
    def test_a_workbook_of_another_name(self, name, book, tmp_path):
        book(Data=GENES).rename(tmp_path / name)
        assert read_matrix(tmp_path / name).format == "excel"

    def test_triplets_pairs_and_ids_are_recognised(self, book):
        ratings = read_matrix(book(A=[["user", "film", "stars"], ["ann", "x", 5], ["bob", "y", 2]]))
        np.testing.assert_array_equal(ratings.data.toarray(), [[5, 0], [0, 2]])
        pairs = read_matrix(book(A=[["user", "item"], ["ann", "x"], ["ann", "y"]]))
        np.testing.assert_array_equal(pairs.data.toarray(), [[1, 1]])
        ids = read_matrix(book(A=[["customer_id", "a", "b", "c"], [71, 1, 2, 3], [82, 4, 5, 6]]))
        assert ids.row_names == ("71", "82")

    def test_missing_cells_are_named_by_row(self, book):
        path = book(Data=[*GENES, ["z", None, 1, 1]])
        with pytest.raises(MissingValueError) as caught:
            read_matrix(path)
        assert (caught.value.line, caught.value.column) == (4, "2 ('a')")
        assert read_matrix(path, missing="zero").data[2, 0] == 0

    def test_dates_and_text_are_bad_columns(self, book):
        day = dt.date(2020, 1, 1)
        rows = [["gene", "day", "a", "sex"], ["x", day, 1, "m"], ["y", day, 2, "f"]]
        with pytest.raises(ReadError, match=r"drop=\['day', 'sex'\]"):
            read_matrix(book(Data=rows))

    def test_a_store_of_it(self, book, tmp_path):
        write_store(tmp_path / "store", book(Data=GENES))
        store = open_store(tmp_path / "store")
        np.testing.assert_array_equal(store.load(0), [[1, 2.5, 1], [3, 4e-5, 0]])

    def test_damaged(self, book):
        path = book(Data=GENES)
        data = path.read_bytes()
        path.write_bytes(data[: len(data) // 2])
        with pytest.raises(FormatError, match="truncated or damaged"):
            read_matrix(path)
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("[Content_Types].xml", "<x/>")
            archive.writestr("xl/workbook.xml", "<workbook")
        with pytest.raises(FormatError, match="cannot be read"):
            read_matrix(path)

    def test_a_bomb(self, tmp_path):
        pytest.importorskip("openpyxl")
        path = tmp_path / "book.xlsx"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("[Content_Types].xml", "<x/>")
            archive.writestr("xl/workbook.xml", bytes(1 << 20))
            # What it declares is believed: nothing is unpacked.
            archive.getinfo("xl/workbook.xml").file_size = 1 << 30
        with pytest.raises(FormatError, match="claim to hold"):
            read_matrix(path)

    def test_the_extra_is_named(self, tmp_path, monkeypatch):
        monkeypatch.setitem(sys.modules, "openpyxl", None)
        path = tmp_path / "book.xlsx"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("[Content_Types].xml", "<x/>")
            archive.writestr("xl/workbook.xml", "<x/>")
        with pytest.raises(ImportError, match=r'pip install "neocc\[excel\]".*CSV'):
            read_matrix(path)


@pytest.mark.parametrize("sign", [",", "\t", ";"])
def test_text_that_is_called_a_workbook(sign, tmp_path):
    path = tmp_path / "m.xlsx"
    path.write_text("gene,a,b\nx,1,2\ny,3,4\n".replace(",", sign))
    matrix = read_matrix(path)
    assert (matrix.format, matrix.row_names) == ("csv", ("x", "y"))
    with pytest.raises(FormatError, match="damaged"):
        read_matrix(path, format="excel")


def test_an_old_workbook_read_as_a_new_one(tmp_path):
    path = tmp_path / "m.xlsx"
    path.write_bytes(FOREIGN["old.xls"][0])
    for options in ({}, {"format": "excel"}):
        with pytest.raises(FormatError, match="This is an old Excel workbook"):
            read_matrix(path, **options)


FOREIGN = {
    "old.xls": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(100), r"old Excel workbook"),
    "x.rds": (gzip.compress(b"X\n\0\0\0\x03\0\x04\x03\x02"), r"an object of R"),
    "x.RData": (gzip.compress(b"RDX3\nX\n\0\0\0\x03"), r"a workspace of R"),
    "x.feather": (b"ARROW1\0\0" + bytes(50), r"Feather"),
    "x.pkl": (pickle.dumps([1, 2]), r"a pickle"),
    "x.mat": (b"MATLAB 5.0 MAT-file, Platform: GLNXA64" + bytes(90), r"a MATLAB file"),
    "x.dta": (b"<stata_dta><header>" + bytes(20), r"a Stata file"),
    "x.sav": (b"$FL2@(#) SPSS DATA FILE" + bytes(20), r"an SPSS file"),
    "x.db": (b"SQLite format 3\0" + bytes(20), r"an SQLite database"),
    "x.pdf": (b"%PDF-1.7\n1 0 obj\n", r"a PDF document"),
    "table.csv": (b'<table border="1" class="dataframe">\n<tr><th>a</th></tr>\n', r"a web page"),
    "data.csv": (b"<!DOCTYPE html>\n<html><body>Log in</body></html>\n", r"a web page"),
    "x.xml": (b'<?xml version="1.0"?>\n<table/>\n', r"an XML document"),
    "x.json": (b'[{"a": 1, "b": 2}]\n', r"JSON"),
    "x.gct": (b"#1.2\n2\t2\nName\tDescription\ta\tb\nx\tn\t1\t2\n", r"a GCT file"),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_files_of_other_programs(name, tmp_path):
    content, words = FOREIGN[name]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(FormatError, match=f"This is .*{words}"):
        read_matrix(tmp_path / name)


@pytest.mark.parametrize(
    ("member", "words"),
    [
        ("content.xml", "OpenDocument file"),
        ("word/document.xml", "Word document"),
        ("data/train.csv", "zip archive of mimetype, data/train.csv"),
    ],
)
def test_archives(member, words, tmp_path):
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("[Content_Types].xml" if "word" in member else "mimetype", "x")
        archive.writestr(member, "1,2\n3,4\n")
    with pytest.raises(FormatError, match=f"This is an? {words}"):
        read_matrix(tmp_path / "x.zip")


def test_text_that_begins_alike_is_read(tmp_path):
    for content in ("[a],b\n1,2\n3,4\n", "#1.2,b\n1,2\n3,4\n", "{x},b\n1,2\n3,4\n"):
        (tmp_path / "m.csv").write_text(content)
        assert read_matrix(tmp_path / "m.csv", layout="table").shape == (2, 2)
