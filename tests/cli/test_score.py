"""``neocc score``: groups found against known ones."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

from neocc.datasets import load_southern_women
from neocc.io import load_model
from neocc.metrics import (
    best_match_f1,
    matched_f1,
    omega_index,
    overlapping_nmi,
    trivial_baseline,
)


@pytest.fixture
def truth(tmp_path):
    """The two cliques that the authors of the book saw, one line per membership."""
    women = load_southern_women()
    with (tmp_path / "truth.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["name", "group"])
        for name, cliques in reversed(list(zip(women.row_names, women.cliques, strict=True))):
            for clique in np.flatnonzero(cliques):
                writer.writerow([name, "AB"[clique]])
            if not cliques.any():
                writer.writerow([name, ""])
    return tmp_path / "truth.csv"


def expected(true, found):
    return {
        "best_match_f1": best_match_f1(true, found),
        "trivial_baseline": trivial_baseline(true),
        "matched_f1": matched_f1(true, found),
        "omega_index": omega_index(true, found),
        "overlapping_nmi": overlapping_nmi(true, found),
    }


def assert_scores(ran, true, found, side="rows"):
    assert ran.code == 0, ran.err
    answer = json.loads(ran.out)[side]
    for name, value in expected(true, found).items():
        assert answer[name] == pytest.approx(value, rel=1e-12)


def test_a_table_of_labels_as_for_the_fit(run, women_result, truth):
    found = load_model(women_result / "model.neocc").row_membership_
    cliques = load_southern_women().cliques
    lines = truth.read_text().splitlines()
    truth.write_text("\n".join(["woman,class", *lines[1:]]))
    assert_scores(run("score", truth, women_result, "--json"), cliques, found)
    truth.write_text("\n".join(["woman,clique", *lines[1:]]))
    ran = run("score", truth, women_result)
    assert ran.code == 2
    assert "a table with the columns name and cluster" in ran.err
    assert "--" not in ran.err


def test_a_result_against_a_table(run, women_result, truth):
    found = load_model(women_result / "model.neocc").row_membership_
    cliques = load_southern_women().cliques
    ran = run("score", truth, women_result, "--json")
    assert_scores(ran, cliques, found)
    assert_scores(run("score", truth, women_result / "model.neocc", "--json"), cliques, found)
    assert_scores(run("score", truth, women_result / "rows.csv", "--json"), cliques, found)


def test_matrices_of_0_and_1(run, tmp_path):
    rng = np.random.default_rng(0)
    true, found = (rng.integers(0, 2, size=(20, k)) for k in (3, 4))
    np.save(tmp_path / "true.npy", true)
    np.savetxt(tmp_path / "found.csv", found, fmt="%d", delimiter=",")
    assert_scores(run("score", "true.npy", "found.csv", "--json"), true, found)


def test_two_results_are_compared_on_both_sides(run, women_result):
    ran = run("score", women_result, women_result)
    assert ran.code == 0
    assert "18 rows: 2 groups found, 2 true" in ran.words
    assert "14 columns: 3 groups found, 3 true" in ran.words
    assert max(map(len, ran.out.splitlines())) <= 80
    answer = json.loads(run("score", women_result, women_result, "--json").out)
    for side in ("rows", "columns"):
        assert answer[side]["matched_f1"] == 1.0
    only = json.loads(run("score", women_result, women_result, "--side", "columns", "--json").out)
    assert list(only) == ["columns"]


def test_items_in_one_file_only_are_counted(run, tmp_path):
    (tmp_path / "true.csv").write_text("name,cluster\na,1\nb,1\nc,2\nd,2\n")
    (tmp_path / "found.tsv").write_text("cluster\tname\nx\tc\ny\ta\ny\tb\nx\tnobody\n")
    ran = run("score", "true.csv", "found.tsv", "--json")
    true = [[1, 0], [1, 0], [0, 1], [0, 1]]
    found = [[0, 1], [0, 1], [1, 0], [0, 0]]
    assert_scores(ran, true, found)
    notes = json.loads(ran.out)["rows"]["notes"]
    assert "1 of the 4 items in true.csv are not in found.tsv" in notes[0]
    assert "1 items in found.tsv are not in true.csv" in notes[1]
    assert run("score", "true.csv", "found.tsv", "--quiet").out == ""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name,cluster\nzoe,1\n", "No name in found.csv is in true.csv"),
        ("name,cluster\na,\n", "No line names a group"),
        ("name,cluster\na,1\nb\n", "found.csv, line 3: 1 cells"),
        ("1,0\n0,2\n", "0 and 1 only; found 2"),
        ("1,0\n0,1\n", "cannot be matched by name"),
        ('name,cluster\n"a,1\n', "found.csv"),
        ("", "empty"),
    ],
)
def test_mistakes(run, tmp_path, text, said):
    (tmp_path / "true.csv").write_text("name,cluster\na,1\nb,1\nc,2\n")
    (tmp_path / "found.csv").write_text(text)
    ran = run("score", "true.csv", "found.csv")
    assert ran.code == 2
    assert said in ran.err
    assert len(ran.err.splitlines()) == 1


def test_bytes_that_are_no_text(run, tmp_path):
    (tmp_path / "true.csv").write_bytes(b"name,cluster\ncaf\xe9,1\n")
    ran = run("score", "true.csv", "true.csv")
    assert ran.code == 2
    assert "not UTF-8" in ran.err


def test_a_folder_of_something_else(run, tmp_path, women_result):
    ran = run("score", tmp_path, women_result)
    assert ran.code == 2
    assert "rows.csv" in ran.err


def test_a_model_of_rows_has_no_columns(run, tmp_path):
    from neocc import NEOKMeans
    from neocc.io import save_model

    model = NEOKMeans(2, random_state=0).fit(np.random.default_rng(0).random((9, 3)))
    save_model(model, tmp_path / "m.neocc")
    assert run("score", "m.neocc", "m.neocc").code == 0
    ran = run("score", "m.neocc", "m.neocc", "--side", "columns")
    assert ran.code == 2
    assert "no groups of columns" in ran.err
