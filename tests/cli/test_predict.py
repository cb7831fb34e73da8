"""``neocc predict``: the groups of new rows."""

from __future__ import annotations

import csv
import json
import shutil
from types import SimpleNamespace

import numpy as np
import pytest
from files import change_member, write_h5ad, write_h5ad_matrix
from models import save_unchecked
from scipy import sparse

from neocc.datasets import load_southern_women
from neocc.io import (
    Matrix,
    ModelFileError,
    SavedModel,
    load_model,
    read_model,
    save_model,
    write_matrix,
)
from neocc.io._saved import keep_steps
from neocc.preprocessing import PREPROCESSORS, make_preprocessor

FEW = ("--rows", 2, "--columns", 2, "--n-init", 1, "--no-report")


@pytest.fixture
def new_rows(tmp_path):
    """Three of the women, their events in another order."""
    women = load_southern_women()
    order = np.random.default_rng(0).permutation(len(women.column_names))
    with (tmp_path / "new.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["name", *(women.column_names[j] for j in order)])
        for row in (0, 9, 17):
            writer.writerow([women.row_names[row], *women.data[row, order].astype(int)])
    return tmp_path / "new.csv"


def test_columns_are_matched_by_name(run, women_result, new_rows):
    ran = run("predict", women_result, new_rows, "--json")
    assert ran.code == 0, ran.err
    answer = json.loads(ran.out)
    model = load_model(women_result / "model.neocc")
    rows = load_southern_women().data[[0, 9, 17]]
    members, distances = model.predict_membership(rows), model.transform(rows)
    for line, groups, lengths in zip(answer["rows"], members, distances, strict=True):
        assert line["groups"] == (np.flatnonzero(groups) + 1).tolist()
        assert line["outlier"] == (not groups.any())
        assert line["nearest_distance"] == lengths.min()


def test_the_page_and_the_file(run, women_result, new_rows, tmp_path):
    ran = run("predict", women_result / "model.neocc", new_rows, "--output", "found.csv")
    assert ran.code == 0, ran.err
    assert "3 rows:" in ran.words
    assert "found.csv" in ran.out
    with (tmp_path / "found.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert list(lines[0]) == ["name", "cluster", "distance", "outlier", "row"]
    assert lines[0]["name"] in ran.out
    again = run("predict", women_result, new_rows, "--output", "found.csv")
    assert again.code == 2
    assert "--force" in again.err
    assert run("predict", women_result, new_rows, "-o", "found.csv", "--force").code == 0
    assert run("predict", women_result, new_rows, "-o", "found.parquet", "--quiet").out == ""
    from pyarrow import parquet

    assert parquet.read_table(tmp_path / "found.parquet")["name"].to_pylist()[0] == lines[0]["name"]


def test_a_single_row(run, women_result, tmp_path):
    np.savetxt(tmp_path / "one.csv", load_southern_women().data[:1], delimiter=",")
    ran = run("predict", women_result, tmp_path / "one.csv")
    assert ran.code == 0, ran.err
    assert " 1 row: " in ran.words


@pytest.mark.parametrize("cell", ["", "nan"])
@pytest.mark.parametrize("text", [False, True])
def test_no_advice_to_skip_cells_of_a_model_without_use_for_it(
    cell, text, run, women_result, tmp_path
):
    women = load_southern_women()
    lines = [["name", *women.column_names], *([f"w{i}", *women.data[i]] for i in range(3))]
    lines[2][4] = cell
    lines[1][6:8] = ["x", "y"] if text else lines[1][6:8]
    with (tmp_path / "new.csv").open("w", newline="") as file:
        csv.writer(file).writerows(lines)
    ran = run("predict", women_result, tmp_path / "new.csv")
    assert ran.code == 2
    assert "--missing zero" in ran.err
    assert "ignore" not in ran.err
    assert ("1 cell has no value" in ran.err) == text
    ran = run("fit", tmp_path / "new.csv", "-o", tmp_path / "out")
    assert "ignore" in ran.err


def test_many_rows_are_cut_short_on_the_page(run, women_result, tmp_path):
    women = load_southern_women()
    np.save(tmp_path / "many.npy", np.tile(women.data, (3, 1)))
    ran = run("predict", women_result, tmp_path / "many.npy")
    assert ran.code == 0, ran.err
    assert "34 more; --output FILE writes all" in ran.words


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name,E1,E2\nann,1,0\n", "expected but missing"),
        ("1,2,3,4\n4,5,6,7\n", "4 columns"),
        ("name,E1,X\nann,1,0\n", "'X'"),
    ],
)
def test_other_columns_are_refused(run, women_result, tmp_path, text, said):
    (tmp_path / "new.csv").write_text(text)
    ran = run("predict", women_result, tmp_path / "new.csv")
    assert ran.code == 2
    assert said in ran.err


def test_a_folder_without_a_model(run, tmp_path, new_rows):
    ran = run("predict", tmp_path, new_rows)
    assert ran.code == 2
    assert "no model.neocc" in ran.err


# ------------------------------------------------------------------------------ preprocessing


@pytest.mark.parametrize("name", PREPROCESSORS)
def test_every_step_travels_with_the_model(run, tmp_path, name):
    rng = np.random.default_rng(0)
    X, new = rng.random((30, 8)), rng.random((5, 8))
    write_matrix(X, tmp_path / "fit.npy")
    write_matrix(new, tmp_path / "new.npy")
    options = ("--rows", 2, "--columns", 2, "--no-refine", "--n-init", 1, "--no-report")
    options += ("--row-overlap", 0, "--row-outliers", 0, "--column-overlap", 0)
    ran = run("fit", "fit.npy", "--preprocess", name, *options, "--column-outliers", 0, "-o", "out")
    assert ran.code == 0, ran.err
    ran = run("predict", "out", "new.npy", "--json")
    assert ran.code == 0, ran.err
    found = [line["nearest_distance"] for line in json.loads(ran.out)["rows"]]
    steps = make_preprocessor([name]).fit(X)
    model = load_model(tmp_path / "out" / "model.neocc")
    np.testing.assert_allclose(found, model.transform(steps.transform(new)).min(axis=1))
    # Alone, without the folder it came from, the model still knows.
    shutil.copy(tmp_path / "out" / "model.neocc", tmp_path / "alone.neocc")
    assert run("predict", "alone.neocc", "new.npy", "--json").out == ran.out


@pytest.mark.parametrize(
    "name",
    ["row-center", "column-center", "double-center", "row-standardize", "column-standardize"],
)
def test_a_column_and_a_row_may_have_no_observed_cell(run, tmp_path, name):
    X = np.random.default_rng(0).random((12, 6))
    X[:, 2] = X[5] = np.nan
    np.save(tmp_path / "m.npy", X)
    options = ("--rows", 2, "--columns", 2, "--n-init", 1, "--preprocess", name)
    ran = run("fit", "m.npy", "--missing", "ignore", *options, "-o", "out")
    assert ran.code == 0, ran.err
    ran = run("predict", "out", "m.npy", "--missing", "ignore", "--json")
    assert ran.code == 0, ran.err
    answer = json.loads(ran.out)
    assert not any("invalid" in note or "divide" in note for note in answer["notes"])
    assert [line["largest_gain"] for line in answer["rows"]][5] == 0
    (tmp_path / "cells.csv").write_text("row,column\n1,3\n6,1\n")
    ran = run("predict", "out", "cells.csv", "--cells", "--json")
    assert ran.code == 0, ran.err
    assert all(np.isfinite(cell["value"]) for cell in json.loads(ran.out)["cells"])
    ran = run("report", "out")
    assert ran.code == 0, ran.err


def test_a_sparse_file_is_filled_if_that_of_the_fit_was(run, tmp_path):
    X = sparse.random_array((30, 8), density=0.4, random_state=np.random.default_rng(0)).tocsr()
    sparse.save_npz(tmp_path / "m.npz", X)
    options = ("--rows", 2, "--columns", 2, "--no-report", "--preprocess", "column-center")
    assert run("fit", "m.npz", "--dense", *options, "-o", "out").code == 0
    ran = run("predict", "out", "m.npz")
    assert ran.code == 0, ran.err


def changed(path, change):
    """Change the JSON of a model file."""

    def change_header(data):
        header = json.loads(data)
        change(header["attributes"]["preprocessing_"])
        return json.dumps(header).encode()

    return change_member(path, "model.json", change_header)


def steps_of(kept):
    """The coded steps in a coded dict."""
    return dict(kept["dict"])["steps"]["list"]


@pytest.mark.parametrize(
    "change",
    [
        lambda kept: kept["dict"].pop(),
        lambda kept: kept["dict"].append(["more", 1]),
        lambda kept: steps_of(kept)[0]["Standardizer"].pop(),
        lambda kept: steps_of(kept)[0].__setitem__("Popen", 1),
        lambda kept: steps_of(kept).append({"Popen": [{"dict": []}, {"dict": []}]}),
        lambda kept: steps_of(kept).append({"Terms": {}}),
        lambda kept: steps_of(kept)[0]["Standardizer"][0]["dict"].append(["shell", True]),
        lambda kept: steps_of(kept)[0]["Standardizer"][1]["dict"].append(["transform", 1]),
        lambda kept: steps_of(kept)[0]["Standardizer"][1]["dict"].append(["x", {"list": [1]}]),
        lambda kept: steps_of(kept)[0]["Standardizer"][1]["dict"].append([7, 1]),
        lambda kept: steps_of(kept)[0]["Standardizer"].__setitem__(1, 7),
        lambda kept: steps_of(kept).append(3),
    ],
)  # fmt: skip
def test_damaged_preprocessing_is_refused(run, tmp_path, change):
    X = np.random.default_rng(0).random((12, 4))
    np.save(tmp_path / "m.npy", X)
    options = ("--rows", 2, "--columns", 2, "--no-report", "--n-init", 1)
    options += ("--preprocess", "column-standardize")
    assert run("fit", "m.npy", *options, "-o", "out").code == 0
    changed(tmp_path / "out" / "model.neocc", change)
    ran = run("predict", "out", "m.npy")
    assert ran.code == 2, ran.err
    assert "damaged" in ran.err
    assert len(ran.err.splitlines()) == 1


def test_arrays_of_other_lengths_are_refused(tmp_path):
    from neocc import NEOCC

    X = np.random.default_rng(0).random((12, 4))
    for wrong in (np.ones(3), np.full(4, np.nan), np.ones((4, 1))):
        model = NEOCC(2, 2, random_state=0).fit(X)
        steps = make_preprocessor(["column-norm"]).fit(X)
        steps.steps[0][1].column_norms_ = wrong
        keep_steps(model, steps, dense=False)
        with pytest.raises(ValueError, match=r"cannot be saved.*column_norms_"):
            save_model(model, tmp_path / "m.neocc")
        save_unchecked(model, tmp_path / "m.neocc")
        with pytest.raises(ModelFileError, match=r"damaged.*column_norms_"):
            read_model(tmp_path / "m.neocc")


def test_no_steps_leave_no_trace():
    model = SimpleNamespace(n_features_in_=2)
    keep_steps(model, None, dense=False)
    assert vars(model) == {"n_features_in_": 2}
    X = sparse.csr_array(np.eye(2))
    assert SavedModel(model, None, None, "").prepare(Matrix(X)).nnz == 2


def test_a_folder_is_no_place_for_a_table(run, women_result, new_rows):
    ran = run("predict", women_result, new_rows, "-o", ".")
    assert ran.code == 2
    assert "This is a folder. Name a file." in ran.err


def test_triplets_are_filled_for_steps_that_need_it(run, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 5, size=(12, 6)) * 1.0
    columns = tuple("abcdef")
    rows = tuple(f"r{i:02}" for i in range(12))
    for name, kind in (("table.csv", np.asarray), ("triplets.csv", sparse.csr_array)):
        write_matrix(Matrix(kind(X), rows, columns), tmp_path / name)
    options = ("--rows", 2, "--columns", 2, "--preprocess", "column-center", "--quiet")
    assert run("fit", "table.csv", *options, "-o", "result").code == 0
    answers = [run("predict", "result", name, "--json") for name in ("table.csv", "triplets.csv")]
    assert answers[1].code == 0, answers[1].err
    assert json.loads(answers[0].out)["rows"] == json.loads(answers[1].out)["rows"]


def test_numbers_are_read_as_those_of_the_fit(run, tmp_path):
    path, new = tmp_path / "money.csv", tmp_path / "new.csv"
    lines = "".join(f"x{i};{i}.000;1.300,5;{i}\nz{i};7;1;{i}\n" for i in range(1, 5))
    path.write_text(f"name;a;b;c\n{lines}")
    new.write_text("name;a;b;c\nx;2.000;1.300,5;2\n")
    how = ("--thousands", ".", "--decimal", ",")
    options = (*FEW, "--preprocess", "none")
    assert run("fit", path, *options, *how, "-o", "out").code == 0
    told = run("predict", "out", new, *how, "--json")
    assert told.code == 0, told.err
    assert run("predict", "out", new, "--json").out == told.out
    new.write_text("name;a;b;c\nx;2000;1300.5;2\n")
    assert run("predict", "out", new, "--decimal", ".", "--json").out == told.out
    # What only a text has to say is not asked of another format.
    np.save(tmp_path / "new.npy", [[2000, 1300.5, 2]])
    ran = run("predict", "out", "new.npy", "--json")
    assert ran.code == 0, ran.err


def test_the_layer_of_the_fit_is_read(run, tmp_path):
    h5py = pytest.importorskip("h5py")
    X = np.random.default_rng(0).random((12, 5))
    with h5py.File(write_h5ad(tmp_path / "m.h5ad", X), "a") as file:
        write_h5ad_matrix(file.create_group("layers"), "other", X[::-1], "csr_matrix")
    options = (*FEW, "--preprocess", "none", "--layer", "other")
    assert run("fit", "m.h5ad", *options, "-o", "out").code == 0
    ran = run("predict", "out", "m.h5ad", "--json")
    assert ran.code == 0, ran.err
    assert ran.out == run("predict", "out", "m.h5ad", "--layer", "other", "--json").out


@pytest.mark.parametrize("heading", ["year,a,b,c\n", ""])
@pytest.mark.parametrize("name", ["new.csv", "new.xlsx"])
def test_names_that_few_rows_do_not_show_are_those_of_the_fit(run, tmp_path, heading, name):
    # Sixty years in steps of one name their rows; three might be data.
    first = 1960 if heading else 1
    rows = [[first + i, i % 2, i % 3, (i * i) % 5] for i in range(63)]
    _write(tmp_path / "old.csv", heading, rows[:60])
    _write(tmp_path / name, heading, rows[60:])
    fitted = run("fit", "old.csv", "-o", "groups", "--rows", 2, "--columns", 2, "--no-report")
    assert fitted.code == 0, fitted.err
    ran = run("predict", "groups", name, "--json")
    assert ran.code == 0, ran.err
    answer = json.loads(ran.out)
    assert [one["name"] for one in answer["rows"]] == [str(row[0]) for row in rows[60:]]
    # What is given explicitly counts, and does not fit the model.
    assert run("predict", "groups", name, "--no-row-names").code == 2
    # Numbers with a fraction, or that repeat, are no names.
    _write(tmp_path / "no.csv", heading, [[0.5, 1, 2, 3], [1.5, 1, 2, 3]])
    assert run("predict", "groups", "no.csv").code == 2


def test_data_that_look_like_names_are_data_as_in_the_fit(run, tmp_path):
    # Twelve new rows in the order of a measurement are no reason to take it for their names.
    rows = [[5 * i % 7, i % 2, i % 3, (i * i) % 5] for i in range(40)]
    _write(tmp_path / "old.csv", "x,a,b,c\n", rows)
    _write(tmp_path / "new.csv", "x,a,b,c\n", [[i, *rows[i][1:]] for i in range(12)])
    fitted = run("fit", "old.csv", "-o", "groups", "--rows", 2, "--columns", 2, "--no-report")
    assert fitted.code == 0, fitted.err
    ran = run("predict", "groups", "new.csv", "--json")
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["rows"][11]["name"] == "row 12"


def _write(path, heading, rows):
    lines = heading + "".join(",".join(map(str, row)) + "\n" for row in rows)
    if path.suffix == ".csv":
        path.write_text(lines)
        return
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for line in lines.splitlines():
        book.active.append([cell if cell.isalpha() else int(cell) for cell in line.split(",")])
    book.save(path)


def test_decimal_commas_of_the_fit_are_not_looked_for_between_commas(run, tmp_path):
    table = np.random.default_rng(0).normal(size=(20, 4)).round(2)
    for name, between, point in (("fit.csv", ";", ","), ("new.csv", ",", ".")):
        lines = [between.join(["name", *"abcd"])]
        lines += [between.join([f"r{i}", *map(str, row)]) for i, row in enumerate(table.tolist())]
        text = "\n".join([lines[0], *(line.replace(".", point) for line in lines[1:])])
        (tmp_path / name).write_text(text + "\n")
    reading = ("--decimal", ",", "--delimiter", ";")
    fit = run("fit", "fit.csv", "--rows", "2", "--columns", "2", "-o", "out", *reading)
    assert fit.code == 0, fit.err
    found = run("predict", "out", "new.csv", "--json")
    assert found.code == 0, found.err


def with_totals(tmp_path, name, n, *, wrong=0):
    X = np.random.default_rng(n).integers(1, 50, size=(n, 4))
    lines = [f"r{at},{','.join(map(str, row))},{row.sum() + wrong}" for at, row in enumerate(X)]
    total = ",".join(map(str, [*X.sum(axis=0), X.sum()]))
    lines = ["region,a,b,c,d,Total", *lines, *([] if wrong else [f"Total,{total}"])]
    (tmp_path / name).write_text("\n".join(lines) + "\n")
    return X


def test_totals_are_data_where_they_were_in_the_fit(run, tmp_path):
    with_totals(tmp_path, "fit.csv", 12)
    assert run("fit", "fit.csv", "--row-names", *FEW, "-o", "out").code == 0
    assert load_model(tmp_path / "out" / "model.neocc").n_features_in_ == 5
    with_totals(tmp_path, "new.csv", 3)
    answer = json.loads(run("predict", "out", "new.csv", "--json").out)
    assert [row["name"] for row in answer["rows"]] == ["r0", "r1", "r2", "Total"]
    assert any("as in the fit: nothing (--row-names)" in one for one in answer["notes"])


def test_totals_are_left_out_where_they_were_in_the_fit(run, tmp_path):
    with_totals(tmp_path, "fit.csv", 12)
    assert run("fit", "fit.csv", *FEW, "-o", "out").code == 0
    for wrong in (0, 30):  # what does not add up here is still no column of the model
        with_totals(tmp_path, "new.csv", 3, wrong=wrong)
        answer = json.loads(run("predict", "out", "new.csv", "--json").out)
        assert [row["name"] for row in answer["rows"]] == ["r0", "r1", "r2"]
        if not wrong:  # the model has no use for a column more
            said = [note for note in answer["notes"] if "column 6 ('Total')" in note]
            assert said == ["Left out: column 6 ('Total'), the sum of all others."]
    assert any("Left out, as in the fit: column 'Total'" in note for note in answer["notes"])
    text = (tmp_path / "new.csv").read_text().replace("Total", "other")
    (tmp_path / "new.csv").write_text(text)
    assert "'other' of new.csv is not expected" in run("predict", "out", "new.csv").err
    (tmp_path / "new.csv").write_text("region,a,b,c\nx,1,2,3\ny,3,4,5\n")
    assert "'d' of new.csv is expected but missing" in run("predict", "out", "new.csv").err
