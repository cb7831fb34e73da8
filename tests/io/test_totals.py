"""Rows and columns that sum up all others are no data, where their names say so, too."""

from __future__ import annotations

import re
import tracemalloc

import numpy as np
import pandas as pd
import pytest

from neocc.io import ReadError, open_store, read_matrix, write_matrix, write_store
from neocc.io._matrix import Matrix
from neocc.io.readers._totals import find_summaries

RNG = np.random.default_rng(5)
X = RNG.integers(1, 90, size=(8, 5)).astype(float)
ITEMS = [f"item{at}" for at in range(8)]
HEADINGS = list("abcde")


def write(tmp_path, data, rows=ITEMS, columns=HEADINGS, name="m.csv"):
    text = [",".join(["item", *columns])]
    text += [",".join([row, *map(format, line)]) for row, line in zip(rows, data, strict=True)]
    (tmp_path / name).write_text("\n".join(text) + "\n", encoding="utf-8")
    return tmp_path / name


def with_row(line, name="Total", at=None):
    at = len(X) if at is None else at
    return np.insert(X, at, line, axis=0), [*ITEMS[:at], name, *ITEMS[at:]]


def summary_notes(matrix):
    return [note for note in matrix.notes if "of all others" in note]


@pytest.mark.parametrize("at", [0, 3, 8])
@pytest.mark.parametrize(
    "name", ["Total", "Sum", "GRAND TOTAL", "All", "Summe", "Total (n)", "合计"]
)
def test_a_row_that_is_called_and_is_the_sum_is_left_out(tmp_path, name, at):
    data, rows = with_row(X.sum(axis=0), name, at)
    matrix = read_matrix(write(tmp_path, data, rows))
    np.testing.assert_array_equal(matrix.data, X)
    assert matrix.row_names == tuple(ITEMS)
    assert matrix.data.flags.c_contiguous
    note = f"Left out: row {at + 1} ({name!r}), the sum of all others; row_names=True keeps it."
    assert summary_notes(matrix) == [note]
    kept = read_matrix(tmp_path / "m.csv", row_names=True)
    np.testing.assert_array_equal(kept.data, data)
    assert "and is data; delete its line" in summary_notes(kept)[0]


@pytest.mark.parametrize("at", [0, 2, 5])
@pytest.mark.parametrize("name", ["Total", "total_count", "Sum", "All", "Row Total"])
def test_a_column_that_is_called_and_is_the_sum_is_left_out(tmp_path, name, at):
    data = np.insert(X, at, X.sum(axis=1), axis=1)
    columns = [*HEADINGS[:at], name, *HEADINGS[at:]]
    matrix = read_matrix(write(tmp_path, data, columns=columns))
    np.testing.assert_array_equal(matrix.data, X)
    assert matrix.column_names == tuple(HEADINGS)
    assert "row_names=True reads it as data" in summary_notes(matrix)[0]
    kept = read_matrix(tmp_path / "m.csv", row_names=True)
    np.testing.assert_array_equal(kept.data, data)
    assert f"drop=[{name!r}] leaves it out" in summary_notes(kept)[0]
    # Without names of rows, there is nothing but data to be read.
    lines = (tmp_path / "m.csv").read_text().splitlines()
    (tmp_path / "n.csv").write_text("\n".join(line.partition(",")[2] for line in lines) + "\n")
    matrix = read_matrix(tmp_path / "n.csv")
    np.testing.assert_array_equal(matrix.data, X)
    assert "row_names=False reads it as data" in summary_notes(matrix)[0]
    assert read_matrix(tmp_path / "n.csv", row_names=False).shape == (8, 6)


def test_both_and_means_at_the_end(tmp_path):
    data = np.column_stack([X, X.sum(axis=1)])
    mean, least = data.mean(axis=0).round(2), data.min(axis=0)
    rows = [*ITEMS, "Total", "Mean", "Min", "Max", "Median", "SD"]
    more = [data.sum(axis=0), mean, least, data.max(axis=0), np.median(data, axis=0)]
    more.append(data.std(axis=0, ddof=1).round(3))
    path = write(tmp_path, np.vstack([data, *more]), rows, [*HEADINGS, "Sum"])
    matrix = read_matrix(path)
    np.testing.assert_array_equal(matrix.data, X)
    assert len(summary_notes(matrix)) == 7


def test_sums_of_rounded_numbers(tmp_path):
    shares = 100 * X / X.sum(axis=1, keepdims=True)
    data = np.column_stack([shares.round(1), np.full(8, 100.0)])
    assert (data[:, :5].sum(axis=1) != 100).any()
    matrix = read_matrix(write(tmp_path, data, columns=[*HEADINGS, "Total"]))
    np.testing.assert_array_equal(matrix.data, shares.round(1))


def test_what_adds_up_without_a_name_for_it_is_kept_with_a_note(tmp_path):
    data, rows = with_row(X.sum(axis=0), "Berlin")
    matrix = read_matrix(write(tmp_path, data, rows))
    np.testing.assert_array_equal(matrix.data, data)
    assert "Row 9 ('Berlin') is the sum of all others, and is data" in summary_notes(matrix)[0]
    data = np.column_stack([X, X.sum(axis=1)])
    matrix = read_matrix(write(tmp_path, data, columns=[*HEADINGS, "f"]))
    np.testing.assert_array_equal(matrix.data, data)
    assert "drop=['f'] leaves it out" in summary_notes(matrix)[0]


def test_a_name_alone_says_nothing(tmp_path):
    data, rows = with_row(X.sum(axis=0) * 1.1)
    data = np.column_stack([data, data.sum(axis=1) - 5])
    matrix = read_matrix(write(tmp_path, data, rows, [*HEADINGS, "Total"]))
    np.testing.assert_array_equal(matrix.data, data)
    assert not summary_notes(matrix)


def zero_row():
    return np.vstack([X, np.zeros(5)]), [*ITEMS, "Total"], HEADINGS


def zeros_below_centred_columns():
    centred = np.vstack([X, -X])
    return np.vstack([centred, np.zeros(5)]), [*(f"r{at}" for at in range(16)), "Total"], HEADINGS


def off_by_one():
    small = RNG.integers(0, 4, size=(8, 5)).astype(float)
    return np.column_stack([small, small.sum(axis=1) + 1]), ITEMS, [*HEADINGS, "Total"]


def two_columns():
    return np.column_stack([X[:, 0], X[:, 0]]), ITEMS, ["a", "Total"]


def proportions():
    return X / X.sum(axis=1, keepdims=True), ITEMS, HEADINGS


def centred():
    return X - X.mean(axis=1, keepdims=True), ITEMS, HEADINGS


def cancelled():
    return np.column_stack([X, -X]), ITEMS, [f"c{at}" for at in range(10)]


def few_lines():
    return np.array([[1, 2, 3, 6], [1, 1, 1, 3.0]]), ["a", "b"], list("pqrs")


def near():
    return np.column_stack([X, X.sum(axis=1) * 1.02]), ITEMS, [*HEADINGS, "Total"]


def binary():
    B = (RNG.random((30, 4)) < 0.5).astype(float)
    return B, [f"r{at}" for at in range(30)], ["a", "b", "c", "Total"]


def one_differs():
    data, rows = with_row(X.sum(axis=0))
    data[-1, 2] += 30
    return data, rows, HEADINGS


def words_of_the_field():
    names = [f"total_{at}" for at in range(30)]
    data = RNG.random((30, 4))
    data[-1] = data[:-1].sum(axis=0)
    return data, names, ["p", "q", "r", "s"]


def extremes():
    return np.sort(X[:, :3], axis=1)[:, [0, 1, 2]], ITEMS, ["min", "mid", "max"]


def huge():
    return np.full((8, 5), 1e308), [*ITEMS[:-1], "Total"], HEADINGS


@pytest.mark.parametrize(
    "make",
    [
        zero_row,
        zeros_below_centred_columns,
        off_by_one,
        two_columns,
        proportions,
        centred,
        cancelled,
        few_lines,
        near,
        binary,
    ]
    + [one_differs, words_of_the_field, extremes, huge],
)
def test_false_alarms(tmp_path, make):
    data, rows, columns = make()
    matrix = read_matrix(write(tmp_path, data, rows, columns))
    np.testing.assert_array_equal(matrix.data, data)
    assert not summary_notes(matrix)


def test_an_item_that_is_called_total_beside_the_sum(tmp_path):
    data, rows = with_row(X.sum(axis=0), "Sum")
    rows[2] = "Total"  # sells petrol
    matrix = read_matrix(write(tmp_path, data, rows))
    np.testing.assert_array_equal(matrix.data, X)
    assert matrix.row_names[2] == "Total"


def test_missing_values_do_not_count(tmp_path):
    data, rows = with_row(X.sum(axis=0))
    data[-1, 1] -= data[3, 1]
    text = write(tmp_path, data, rows).read_text().splitlines()
    cells = text[4].split(",")
    cells[2] = ""
    (tmp_path / "m.csv").write_text("\n".join([*text[:4], ",".join(cells), *text[5:]]) + "\n")
    for missing in ("ignore", "zero"):
        matrix = read_matrix(tmp_path / "m.csv", missing=missing)
        assert matrix.row_names == tuple(ITEMS)


def test_in_workbooks_and_parquet(tmp_path):
    openpyxl, pandas = pytest.importorskip("openpyxl"), pytest.importorskip("pandas")
    data, rows = with_row(X.sum(axis=0))
    data = np.column_stack([data, data.sum(axis=1)])
    book = openpyxl.Workbook()
    book.active.append(["item", *HEADINGS, "Total"])
    for name, line in zip(rows, data.tolist(), strict=True):
        book.active.append([name, *line])
    book.save(tmp_path / "m.xlsx")
    frame = pandas.DataFrame(data, columns=[*HEADINGS, "Total"])
    frame.insert(0, "item", rows)
    frame.to_parquet(tmp_path / "m.parquet")
    for name in ("m.xlsx", "m.parquet"):
        matrix = read_matrix(tmp_path / name)
        np.testing.assert_array_equal(matrix.data, X)
        assert len(summary_notes(matrix)) == 2


def test_a_store_says_so_too(tmp_path):
    data, rows = with_row(X.sum(axis=0))
    write_store(tmp_path / "store", write(tmp_path, data, rows))
    store = open_store(tmp_path / "store")
    assert store.shape == (9, 5)
    notes = store.manifest.notes
    assert any("Row 'Total' is the sum of all others, and is data" in note for note in notes)
    write_store(tmp_path / "other", write(tmp_path, data + 30 * np.eye(9, 5), rows))
    assert not any("of all others" in one for one in open_store(tmp_path / "other").manifest.notes)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_what_would_not_be_read_back_is_not_written(tmp_path, suffix):
    data, rows = with_row(X.sum(axis=0))
    for matrix in (
        Matrix(data, tuple(rows), tuple(HEADINGS)),
        Matrix(np.column_stack([X, X.sum(axis=1)]), None, (*HEADINGS, "Total")),
    ):
        with pytest.raises(ValueError, match="Rename rows and columns"):
            write_matrix(matrix, tmp_path / f"m{suffix}")
    write_matrix(Matrix(X, tuple(rows[1:]), tuple(HEADINGS)), tmp_path / f"m{suffix}")
    assert read_matrix(tmp_path / f"m{suffix}").shape == X.shape


@pytest.mark.parametrize(
    "names", [["Subtotal"] * 3, ["sub-total"] * 3, ["East Total", "West Total", "North Total"]]
)
def test_subtotals_and_a_total(tmp_path, names):
    blocks = [X[:3], X[3:5], X[5:]]
    data = np.vstack([*(line for one in blocks for line in (one, one.sum(axis=0))), X.sum(axis=0)])
    rows = [*ITEMS[:3], names[0], *ITEMS[3:5], names[1], *ITEMS[5:], names[2], "Grand Total"]
    matrix = read_matrix(write(tmp_path, data, rows))
    np.testing.assert_array_equal(matrix.data, X)
    assert any(f"row 4 ({names[0]!r}), the sum of those above" in one for one in matrix.notes)
    assert not any("same name" in note for note in matrix.notes)
    data[3, 1] += 20
    assert set(names) & set(read_matrix(write(tmp_path, data, rows)).row_names) == {names[0]}


def test_a_total_of_some_columns(tmp_path):
    data, rows = with_row(X.sum(axis=0))
    path = write(tmp_path, data, rows)
    cells = path.read_text().splitlines()
    cells[-1] = cells[-1].rpartition(",")[0] + ","
    path.write_text("\n".join(cells) + "\n")
    with pytest.raises(ReadError, match="If the line is a note or sums up others, delete it"):
        read_matrix(path)
    assert read_matrix(path, missing="ignore").row_names == tuple(ITEMS)


def test_notes_below_the_table(tmp_path):
    path = write(tmp_path, X)
    path.write_text(path.read_text() + ",,,,,\nSource: WHO,,,,,\n")
    with pytest.raises(ReadError, match=r"line 11.*If the line is a note or sums up others"):
        read_matrix(path)
    for missing in ("zero", "ignore"):
        notes = read_matrix(path, missing=missing).notes
        assert any("no values at all in row 9, 'Source: WHO'; delete" in note for note in notes)
    write(tmp_path, X[:, :1], columns=["a"], name="one.csv")
    one = (tmp_path / "one.csv").read_text() + "last,\n"
    (tmp_path / "one.csv").write_text(one)
    notes = read_matrix(tmp_path / "one.csv", missing="zero", layout="table").notes
    assert not any("no values at all" in note for note in notes)
    path.write_text(path.read_text() + "2020,,,,,\n")
    notes = read_matrix(path, missing="zero").notes
    assert any("no values at all in 2 rows (first: row 9, 'Source: WHO')" in one for one in notes)


def test_names_that_say_total_cost_no_copy_of_the_table():
    data = np.random.default_rng(1).random((20_000, 60))
    data[-1] = data[:-1].sum(axis=0)
    names = [f"r{at}" for at in range(len(data))]
    names[100::1200] = [f"Total {at}" for at in range(len(names[100::1200]))]
    names[-1] = "Total"
    data[-1] = np.delete(data, [*range(100, 20_000, 1200), 19_999], axis=0).sum(axis=0)
    tracemalloc.start()
    try:
        found = find_summaries(data, names)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert [(one.place, one.what) for one in found] == [(19_999, "sum")]
    assert peak < 4 * 2**23 + 2**21  # pieces of a million cells, and the names


def test_digits_of_all_columns_count_not_of_the_first_alone():
    data = np.array([[1.0] * 12, [2.0] * 12, [3.0] * 12])
    data[:, 9] = 0.25, 0.5, 0.755  # by 0.005 more than the sum
    assert find_summaries(data, ("a", "b", "Total"))
    data[2, 9] = 0.78
    assert not find_summaries(data, ("a", "b", "Total"))


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_columns_of_a_long_table_are_judged_by_its_first_rows_and_the_note_says_so(
    tmp_path, suffix
):
    data = np.random.default_rng(2).integers(1, 50, size=(3000, 4))
    table = pd.DataFrame(data, columns=list("abcd"), index=[f"r{at}" for at in range(3000)])
    table["Total"] = data.sum(axis=1)
    table.loc["r2999", "Total"] += 900
    table = table.rename_axis("item").reset_index()
    path = tmp_path / f"m{suffix}"
    if suffix == ".csv":
        table.to_csv(path, index=False)
    else:
        table.to_parquet(path, index=False)
    matrix = read_matrix(path)
    assert matrix.shape == (3000, 4)
    assert re.search(r"of all others in the first \d+ rows; row_names=True", matrix.notes[-1])
    assert read_matrix(path, row_names=True).shape == (3000, 5)
