"""``neocc fit``: what is written, what is said, and that it is what Python gives."""

from __future__ import annotations

import csv
import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from neocc import NEOCC
from neocc._extras import need
from neocc.datasets import load_southern_women, make_coclusters
from neocc.io import load_model, read_matrix, read_model, write_matrix
from neocc.metrics import best_match_f1

FILES = {"report.html", "rows.csv", "columns.csv", "blocks.csv", "model.neocc", "record.json"}
QUICK = ("--rows", 2, "--columns", 3, "--n-init", 2)
NO_OVERLAP = [
    part
    for side in ("row", "column")
    for what in ("overlap", "outliers")
    for part in (f"--{side}-{what}", "0")
]
FRACTIONS = {
    "row_overlap": 0.05,
    "row_outliers": 0.05,
    "column_overlap": -0.07,
    "column_outliers": 0.07,
}


def as_options(**settings):
    return [part for k, v in settings.items() for part in (f"--{k.replace('_', '-')}", v)]


def test_a_file_and_nothing_else_does_something_sensible(run, women, tmp_path):
    ran = run("fit", women)
    assert ran.code == 0, ran.err
    folder = tmp_path / "women-coclusters"
    assert {path.name for path in folder.iterdir()} == FILES
    assert "Chosen for you" in ran.out
    assert "2 groups of rows and 2 of columns" in ran.words
    assert "of the error of held-out cells is gone" in ran.words
    assert "rows: no overlap, no outliers" in ran.words
    assert "columns: no overlap, no outliers" in ran.words
    assert "Found 2 groups of rows, 2 of columns" in ran.words
    assert "women-coclusters" in ran.out.split("Written to")[1]
    # Commands to be copied are not broken.
    told = [line for line in ran.out.splitlines() if not line.startswith("    neocc ")]
    assert max(map(len, told)) <= 80
    assert "\x1b" not in ran.out
    held_out = json.loads((folder / "record.json").read_text())["settings"]["story"]["held_out"]
    assert [held_out[side]["taken"] for side in ("rows", "columns")] == [2, 2]
    assert len(held_out["rows"]["error"]) == len(held_out["rows"]["stability"]) > 2
    assert "Held-out error with 1 to" in (folder / "report.html").read_text(encoding="utf-8")


def test_planted_overlap_and_outliers_are_found(run, tmp_path):
    X, U, _ = make_coclusters(
        (120, 40), 3, 3, row_overlap=0.2, row_outliers=0.05, noise=0.5, random_state=3
    )
    write_matrix(X, tmp_path / "planted.npy")
    ran = run("fit", tmp_path / "planted.npy", "--rows", 3, "--columns", 3, "--json", "--no-report")
    answer = json.loads(ran.out)
    assert answer["settings"]["row_overlap"] == pytest.approx(0.2, abs=0.05)
    found = load_model(tmp_path / "planted-coclusters" / "model.neocc")
    assert best_match_f1(U, found.row_membership_) > 0.97
    np.testing.assert_array_equal(found.row_outliers_, ~U.any(axis=1))


def test_outliers_do_not_ask_for_groups_of_their_own(run, tmp_path):
    X, _, _ = make_coclusters(
        (120, 40), 3, 2, row_overlap=-0.05, row_outliers=0.05, noise=0.5, random_state=0
    )
    write_matrix(X, tmp_path / "planted.npy")
    ran = run("fit", tmp_path / "planted.npy", "--json", "--no-report", "--n-init", 1)
    answer = json.loads(ran.out)
    assert (answer["settings"]["rows"], answer["settings"]["columns"]) == (3, 2)
    assert answer["result"]["rows"]["outliers"] == 6


@pytest.mark.parametrize("form", ["table", "triplets", "npy", "npz"])
def test_a_fit_from_a_file_equals_the_fit_from_the_array(run, women, tmp_path, form):
    data = load_southern_women()
    path = (
        tmp_path / {"table": "women.csv", "triplets": "t.csv", "npy": "m.npy", "npz": "m.npz"}[form]
    )
    X = data.data
    if form == "triplets":
        # Triplets are read in the order of their ids.
        rows, columns = np.argsort(data.row_names), np.argsort(data.column_names)
        lines = [
            f"{data.row_names[i]},{data.column_names[j]},1"
            for i, j in zip(*np.nonzero(X), strict=True)
        ]
        path.write_text("woman,event,came\n" + "\n".join(lines) + "\n")
        X = sparse.csr_array(X[np.ix_(rows, columns)])
    elif form == "npy":
        np.save(path, X)
    elif form == "npz":
        X = sparse.csr_array(X)
        sparse.save_npz(path, X)
    ran = run("fit", path, *QUICK, *as_options(**FRACTIONS), "--seed", 5, "-o", "out", "--quiet")
    assert ran.code == 0, ran.err
    found = load_model(tmp_path / "out" / "model.neocc")
    options = {"overlap_model": "auto", "n_init": 2, "random_state": 5}
    expected = NEOCC(2, 3, **FRACTIONS, **options).fit(X)
    np.testing.assert_array_equal(found.row_membership_, expected.row_membership_)
    np.testing.assert_array_equal(found.column_membership_, expected.column_membership_)
    assert found.objective_ == expected.objective_
    assert found.get_params() == expected.get_params()


def test_tables_carry_the_names(women_result):
    names = set(load_southern_women().row_names)
    with (women_result / "rows.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert {line["name"] for line in lines} == names
    outliers = [line for line in lines if line["outlier"] == "true"]
    assert len(outliers) == 1
    assert outliers[0]["cluster"] == ""
    saved = read_model(women_result / "model.neocc")
    assert set(saved.row_names) == names


def test_the_report_speaks_of_what_was_asked(run, women, tmp_path):
    ran = run("fit", women, *QUICK, "--row-noun", "women", "--column-noun", "events", "-o", "out")
    assert "2 groups of women, 3 of events" in ran.words
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "2 groups of women, 3 of events" in page
    assert "women.csv" in page


def test_quiet_prints_nothing(run, women):
    ran = run("fit", women, *QUICK, "--quiet")
    assert (ran.code, ran.out, ran.err) == (0, "", "")


def test_json_is_json_and_complete(run, women, tmp_path):
    ran = run("fit", women, *QUICK, "--json", "--row-outliers", "5%")
    answer = json.loads(ran.out)
    assert ran.err == ""
    assert answer["input"]["shape"] == [18, 14]
    assert answer["settings"]["row_outliers"] == 0.05
    assert answer["settings"]["row_overlap"] != "auto"
    assert set(answer["output"]["files"]) == FILES
    model = load_model(tmp_path / answer["output"]["folder"] / "model.neocc")
    assert answer["result"]["objective"] == model.objective_
    assert answer["result"]["rows"]["group_sizes"] == model.row_membership_.sum(axis=0).tolist()
    np.testing.assert_array_equal(answer["result"]["block_means"], model.block_means_)
    assert not answer["interrupted"]
    assert answer["choices"][0]["why"]


def test_parquet_and_no_report(run, women, tmp_path):
    ran = run("fit", women, *QUICK, "--parquet", "--no-report", "-o", "out")
    assert ran.code == 0
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == FILES - {"report.html"} | {
        f"{t}.parquet" for t in ("rows", "columns", "blocks")
    }
    from pyarrow import parquet

    table = parquet.read_table(tmp_path / "out" / "rows.parquet")
    assert table.column_names == ["name", "cluster", "distance", "outlier", "row"]


def test_an_earlier_result_is_replaced_only_if_asked(run, women, tmp_path):
    assert run("fit", women, *QUICK, "-o", "out").code == 0
    before = (tmp_path / "out" / "rows.csv").read_bytes()
    ran = run("fit", women, "--rows", 4, "--columns", 2, "-o", "out")
    assert ran.code == 2
    assert "--force" in ran.err
    assert (tmp_path / "out" / "rows.csv").read_bytes() == before
    assert run("fit", women, "--rows", 4, "--columns", 2, "-o", "out", "--force").code == 0
    assert (tmp_path / "out" / "rows.csv").read_bytes() != before


def test_a_folder_of_other_files_is_never_replaced(run, women, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    ran = run("fit", women, *QUICK, "-o", "mine", "--force")
    assert ran.code == 2
    assert "thesis.txt" in ran.err
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["thesis.txt"]


def test_preprocessing_is_applied_in_order(run, tmp_path):
    counts = np.random.default_rng(0).poisson(3, size=(30, 12)).astype(float)
    write_matrix(counts, tmp_path / "counts.npy")
    steps = ("--preprocess", "log1p", "--preprocess", "row-center")
    options = as_options(row_overlap=0, row_outliers=0, column_overlap=0, column_outliers=0)
    options += ("--thorough",)
    ran = run("fit", tmp_path / "counts.npy", *QUICK, *options, *steps, "-o", "out")
    assert ran.code == 0, ran.err
    X = np.log1p(counts)
    X -= X.mean(axis=1, keepdims=True)
    expected = NEOCC(2, 3, n_init=2, refine="thorough", random_state=0).fit(X)
    found = load_model(tmp_path / "out" / "model.neocc")
    assert found.refine == "thorough"
    assert found.objective_ == pytest.approx(expected.objective_, rel=1e-9)


def test_centring_a_sparse_matrix_names_the_remedy(run, tmp_path):
    sparse.save_npz(
        tmp_path / "m.npz",
        sparse.random_array((30, 20), density=0.2, random_state=np.random.default_rng(0)).tocsr(),
    )
    command = ("fit", tmp_path / "m.npz", *QUICK, "--preprocess", "column-center")
    ran = run(*command)
    assert ran.code == 2
    assert "--dense" in ran.err
    assert "--preprocess column-norm" in ran.err
    assert "(" not in ran.err.partition("MB.")[2]  # no calls of functions
    assert run(*command, "--dense").code == 0
    ran = run("fit", tmp_path / "m.npz", *QUICK, "--preprocess", "row-standardize", "-o", "other")
    assert ran.code == 2
    assert "--preprocess column-norm" in ran.err
    assert "with_mean" not in ran.err
    assert "with-mean" not in ran.err


@pytest.mark.parametrize("shape", [(12, 12), (12, 7)])
def test_tfidf_of_a_sparse_matrix(run, tmp_path, shape):
    """A square one has a product with itself that its blocks must not be measured by."""
    X = sparse.random_array(shape, density=0.5, random_state=np.random.default_rng(0)).tocsr()
    write_matrix(X, tmp_path / "m.npz")
    ran = run("fit", "m.npz", *QUICK, "--preprocess", "tfidf", "-o", "out")
    assert ran.code == 0, ran.err
    with (tmp_path / "out" / "blocks.csv").open(newline="") as file:
        errors = [float(line["error"]) for line in csv.DictReader(file)]
    model = load_model(tmp_path / "out" / "model.neocc")
    assert sum(errors) == pytest.approx(model.objective_)


@pytest.mark.parametrize("command", ["fit", "suggest"])
def test_cells_that_cannot_be_used_are_named_as_readers_name_them(run, tmp_path, command):
    (tmp_path / "m.csv").write_text("name,x,y\na,1.5,2\nb,3,-4\nc,5,1\n")
    ran = run(command, "m.csv", "--preprocess", "log1p")
    assert ran.code == 2
    assert ran.err.startswith("neocc: m.csv: ")
    assert "row 2 ('b'), column 2 ('y')" in ran.err
    (tmp_path / "m.csv").write_text("1.5,2,1\n3,4,1\n5,1e200,1\n")
    ran = run(command, "m.csv")
    assert ran.code == 2
    assert ran.err.startswith("neocc: m.csv: The matrix holds 1e+200 at row 3, column 2, larger")


def test_overlap_that_makes_twins_is_left_out(run, tmp_path):
    """A few heavy rows in two groups, and many light ones that fit anywhere."""
    rng = np.random.default_rng(0)
    heavy = np.kron(np.eye(4), np.ones((10, 8))) * 5 + rng.normal(size=(40, 32))
    light = rng.random((200, 32)) * (rng.random((200, 32)) < 0.1)
    write_matrix(np.vstack([heavy, light]), tmp_path / "m.npy")
    command = ("fit", tmp_path / "m.npy", "--rows", 5, "--columns", 4, "--no-report", "--n-init", 1)
    ran = run(*command, "--overlap-rule", "second", "--json")
    answer = json.loads(ran.out)
    assert answer["settings"]["row_overlap"] <= 0
    assert "nearly the same rows" in answer["choices"][2]["why"]
    # What is given is given.
    ran = run(*command, "--row-overlap", 0.5, "--json", "-o", "given")
    assert json.loads(ran.out)["settings"]["row_overlap"] == 0.5


def test_groups_that_nearly_coincide_are_named_as_the_page_counts_them(run, tmp_path):
    heavy = np.kron(np.eye(3), np.ones((2, 4))) * 20.0
    light = 0.01 * np.random.default_rng(0).normal(size=(60, 12))
    write_matrix(np.vstack([heavy, light]), tmp_path / "m.npy")
    command = ("fit", tmp_path / "m.npy", "--rows", 2, "--columns", 2, "--n-init", 1)
    ran = run(*command, "--row-overlap", 60 / 66, "--column-overlap", 0)
    assert ran.code == 0, ran.err
    said = (
        "Note: groups 1 and 2 of rows have nearly the same members: ask for fewer groups (--rows) "
        "or for less overlap (--row-overlap), or for --overlap-model average."
    )
    assert ran.err.split() == said.split()
    page = (tmp_path / "m-coclusters" / "report.html").read_text(encoding="utf-8")
    assert "Groups of rows that share most" in page
    assert "nearly the same" in page


def test_warnings_of_the_library_become_notes(run, tmp_path):
    """A matrix whose zeros rule out equal norms, so that binormalisation does not converge."""
    X = np.triu(np.arange(1.0, 37.0).reshape(6, 6))
    np.save(tmp_path / "m.npy", X)
    command = ("m.npy", "--preprocess", "binormalize", "--rows", 2, "--columns", 2)
    ran = run("fit", *command, "--row-overlap", 0, "--column-overlap", 0)
    assert ran.code == 0, ran.err
    assert len(ran.err.splitlines()) == 1
    assert ran.err.startswith("Note: Squared norms")
    ran = run("suggest", *command)
    assert ran.err.startswith("Note: ")
    assert "Squared norms" in ran.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--rows", "30"], "--rows=30 is more than the number of rows (18)"),
        (["--rows", "30", "--columns", "2"], "--rows=30 is more than the number of rows (18)"),
        (["--rows", "2", "--columns", "2", "--row-overlap", "5"], "--row-overlap=5.0 is above"),
        (["--rows", "2", "--columns", "99", *NO_OVERLAP], "--columns=99 is more than"),
        (["--row-outliers", "1"], "--row-outliers must be a number of at least 0 and below 1"),
        (["--row-overlap", "nan"], "--row-overlap must be a number"),
        (["--preprocess", "row-cente"], "did you mean 'row-center'?"),
        (["--triplet-columns", "a"], "--triplet-columns must be three names"),
        (["--format", "xls"], "--format"),
        (["--jobs", "0"], "--jobs must be a number of threads"),
        (["--header", "--no-header"], "contradict"),
        (["--row-names-in", "name", "--no-row-names"], "contradict"),
        (["--row-names-in", "nobody"], "nobody"),
        (["--no-refine", "--thorough"], "contradict"),
        (["--decimal", ",", "--thousands", ","], "thousands and decimal"),
        (["--delimiter", "ab"], "--delimiter must be one character"),
        (["--layer", "counts"], "--layer ... has no meaning for the format 'csv'"),
        (["--decimal", ".", "--delimiter", "."], "delimiter and decimal"),
    ],
)
def test_mistakes_are_explained_in_terms_of_options(run, women, arguments, said, tmp_path):
    ran = run("fit", women, *arguments)
    assert ran.code == 2
    assert said in ran.err
    assert len(ran.err.splitlines()) == 1
    assert ran.out == ""
    assert [path.name for path in tmp_path.iterdir()] == ["women.csv"]


@pytest.mark.parametrize(
    "arguments",
    [["--rows", "x"], ["--rows", "2.5"], ["--row-overlap", "much"], ["--objective", "median"],
     ["--n-init", "0"], ["--no-such-option"], ["--seed", "-1"]],
)  # fmt: skip
def test_what_typer_refuses_exits_with_2(run, women, arguments):
    ran = run("fit", women, *arguments)
    assert ran.code == 2
    assert arguments[0] in ran.err


def test_no_file_is_a_mistake(run):
    ran = run("fit")
    assert ran.code == 2
    assert "neocc fit FILE" in ran.err


def test_a_fault_of_ours_shows_where_it_is(run, women, monkeypatch, tmp_path):
    def broken(*_, **__):
        raise RuntimeError("a wheel came off")

    monkeypatch.setattr("neocc.cli._fit.render_report", broken)
    ran = run("fit", women, *QUICK)
    assert ran.code == 1
    assert "a wheel came off" in ran.err
    assert "Please report it" in ran.err
    assert [path.name for path in tmp_path.iterdir()] == ["women.csv"]


def test_traceback_is_shown_when_asked_for(run, tmp_path):
    ran = run("--traceback", "fit", "nowhere.csv")
    assert ran.code == 2
    assert "Traceback" in ran.err
    assert "no such file" in ran.err.splitlines()[-1]


@pytest.mark.parametrize(
    ("package", "files", "extra"), [("h5py", ".h5ad files", "io"), ("pyarrow", "files", "cli")]
)
def test_a_package_that_is_missing_is_named(run, women, monkeypatch, package, files, extra):
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.setattr("neocc.cli._load.read_matrix", lambda *_, **__: need(package))
    ran = run("fit", women)
    assert ran.code == 2
    assert ran.err.endswith(f'{files} need {package}: pip install "neocc[{extra}]"\n')


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (MemoryError(), "not enough memory"),
        (OSError(errno.ENOSPC, "No space left"), "not be written (No space left). Make room"),
    ],
)
def test_a_full_machine_is_no_traceback(run, women, monkeypatch, error, said):
    def full(*_, **__):
        raise error

    monkeypatch.setattr("neocc.cli._fit.choose", full)
    ran = run("fit", women)
    assert ran.code == 1
    assert said in ran.err
    assert "Traceback" not in ran.err


def test_names_that_are_numbers_or_odd_survive(run, tmp_path):
    path = tmp_path / "m.csv"
    path.write_text('id,a,"b,c"\n"x ""y""",1,2\n7,3,4\nÄ,5,9\n', encoding="utf-8")
    ran = run("fit", path, "--rows", 2, "--columns", 1, "-o", "out")
    assert ran.code == 0, ran.err
    with (tmp_path / "out" / "rows.csv").open(newline="", encoding="utf-8") as file:
        assert {line["name"] for line in csv.DictReader(file)} == {'x "y"', "7", "Ä"}
    assert read_matrix(path).column_names == ("a", "b,c")


def test_a_terminal_that_shows_ascii_only(tmp_path):
    (tmp_path / "m.csv").write_text("name,a,b\nÄnne,1,2\nBjörk,3,4\nZoë,5,9\n", encoding="utf-8")
    result = subprocess.run(
        [sys.executable, "-m", "neocc", "fit", "m.csv", "--rows", "2", "--columns", "1"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert b"Bj?rk" in result.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="file names are bytes on Linux")
def test_a_file_name_that_is_no_text(run, tmp_path):
    path = os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.csv")
    Path(path).write_text("1,2\n3,4\n")
    ran = run("fit", path)
    assert ran.code == 2
    assert "not UTF-8" in ran.err


@pytest.mark.parametrize("shape", [(1, 1), (1, 4), (4, 1), (2, 2)])
def test_the_smallest_matrices(run, tmp_path, shape):
    np.save(tmp_path / "m.npy", np.arange(np.prod(shape), dtype=float).reshape(shape))
    ran = run("fit", tmp_path / "m.npy")
    assert ran.code == 0, ran.err


def test_equal_cells_make_one_group(run, tmp_path):
    np.save(tmp_path / "m.npy", np.ones((5, 4)))
    ran = run("fit", tmp_path / "m.npy")
    assert ran.code == 0, ran.err
    assert "1 group of rows and 1 of columns" in ran.words
    assert "all rows are equal" in ran.words


def test_more_groups_than_are_listed_are_counted(run, women):
    ran = run("fit", women, "--rows", 13, "--columns", 2, "--no-refine", *NO_OVERLAP)
    assert "and 1 more group " in ran.words
