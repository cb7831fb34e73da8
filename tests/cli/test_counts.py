"""``neocc fit --objective poisson`` and its kin."""

from __future__ import annotations

import csv
import json

import numpy as np

from neocc import NEOCC
from neocc.io import load_model, read_matrix
from neocc.plot._measure import LIFT

GROUPS = ("--rows", 2, "--columns", 2, "--n-init", 2)


def test_a_fit_of_counts_is_what_python_gives(run, women, tmp_path):
    ran = run("fit", women, "--objective", "poisson", "--prior", "2.5", *GROUPS, "-o", "out")
    assert ran.code == 0, ran.err
    assert "rows: no overlap, no outliers" in ran.words
    assert "not estimated for counts" in ran.words
    X = read_matrix(women).data
    assert "Lift of every block (how many times as often as expected)" in ran.words
    assert "columns most beyond expectation" in ran.words
    wanted = NEOCC(
        2, 2, objective="poisson", prior=2.5, overlap_model="auto", n_init=2, random_state=0
    ).fit(X)
    found = load_model(tmp_path / "out" / "model.neocc")
    np.testing.assert_array_equal(found.row_membership_, wanted.row_membership_)
    assert found.objective_ == wanted.objective_ < 0
    with (tmp_path / "out" / "blocks.csv").open(encoding="utf-8") as file:
        blocks = list(csv.DictReader(file))
    lifts = [float(block["lift"]) for block in blocks]
    np.testing.assert_allclose(lifts, wanted.block_lifts_.ravel())
    for line in wanted.block_lifts_:
        assert " ".join(LIFT.figure(lift) for lift in line) in ran.words
    total = sum(float(block["error"]) for block in blocks)
    assert np.isclose(total, wanted.objective_)
    assert run("predict", "out/model.neocc", women).code == 0
    assert run("fit", "--from", "out/record.json", "-o", "again").code == 0
    again = load_model(tmp_path / "again" / "model.neocc")
    assert again.objective_ == found.objective_
    assert again.prior == 2.5


def test_outliers_that_are_given_leave_no_overlap(run, women, tmp_path):
    ran = run("fit", women, "--objective", "diagonal", "--row-outliers", "0.1", *GROUPS, "-o", "o")
    assert ran.code == 0, ran.err
    found = load_model(tmp_path / "o" / "model.neocc").row_membership_
    assert found.sum(axis=1).max() == 1
    assert (~found.any(axis=1)).sum() == 2


def test_paired_groups_have_one_number(run, women):
    given = ("--objective", "diagonal", "--rows", 2, "--n-init", 1)
    ran = run("fit", women, *given)
    assert ran.code == 0, ran.err
    assert "2 groups of columns" in ran.words
    assert "as many as of rows" in ran.words
    ran = run("fit", women, "--objective", "modularity", "--rows", 2, "--columns", 3, "-o", "b")
    assert ran.code == 2
    assert "must be equal" in " ".join(ran.err.split())


def test_a_negative_number_is_named_by_its_place_in_the_file(run, tmp_path):
    (tmp_path / "x.csv").write_text("1,2,3,1\n4,-5,6,2\n7,8,9,3\n")
    ran = run("fit", "x.csv", "--objective", "poisson", *GROUPS)
    assert ran.code == 2
    assert "found -5 at row 2, column 2" in " ".join(ran.err.split())


def test_so_is_one_among_new_rows_whatever_the_order_of_their_columns(run, tmp_path):
    (tmp_path / "x.csv").write_text("name,a,b,c\nann,5,1,0\nbob,4,0,1\ncid,0,5,6\ndee,1,7,8\n")
    assert run("fit", "x.csv", "--objective", "poisson", *GROUPS, "-o", "out").code == 0
    (tmp_path / "new.csv").write_text("name,c,b,a\neve,1,2,3\nfay,1,2,-3\n")
    ran = run("predict", "out", "new.csv")
    assert ran.code == 2
    assert "new.csv: Negative values" in " ".join(ran.err.split())
    assert "found -3 at row 2 ('fay'), column 3 ('a')" in " ".join(ran.err.split())


def test_lifts_are_in_the_json(run, women, tmp_path):
    ran = run("fit", women, "--objective", "poisson", *GROUPS, "-o", "out", "--json")
    assert ran.code == 0, ran.err
    model = load_model(tmp_path / "out" / "model.neocc")
    result = json.loads(ran.out)["result"]
    np.testing.assert_allclose(result["block_lifts"], model.block_lifts_)
    np.testing.assert_allclose(result["block_means"], model.block_means_)


def test_gains_are_headed_as_gains_the_best_one_shown(run, women, tmp_path):
    assert run("fit", women, "--objective", "poisson", *GROUPS, "-o", "out").code == 0
    found = load_model(tmp_path / "out" / "model.neocc").transform(read_matrix(women).data)
    page = run("predict", "out", women)
    assert "row groups largest gain" in page.words
    assert "distance" not in page.words
    assert f"{-found[0].min():.4g}" in page.words
    told = json.loads(run("predict", "out", women, "--json").out)["rows"]
    assert [each["largest_gain"] for each in told] == [-each.min() for each in found]
    assert max(each["largest_gain"] for each in told) > 0
    assert "nearest_distance" not in told[0]


def test_negative_values_that_a_step_has_made_are_not_said_to_be_in_the_file(run, women):
    given = ("--objective", "poisson", *GROUPS)
    ran = run("fit", women, *given, "--preprocess", "double-center")
    assert ran.code == 2
    said = " ".join(ran.err.split())
    assert "women.csv, after --preprocess double-center changed its values: Negative" in said
    ran = run("fit", women, *given, "--preprocess", "double-center", "--preprocess", "log1p")
    assert ran.code == 2
    said = " ".join(ran.err.split())
    assert "women.csv, after --preprocess double-center changed its values: Negative" in said
    assert "log(1 + x) is for counts" in said


def test_negative_values_of_the_file_are_said_to_be_there_whatever_the_steps(run, tmp_path):
    (tmp_path / "x.csv").write_text("1,2,3,1\n4,-5,6,2\n7,8,9,3\n")
    ran = run("fit", "x.csv", *GROUPS, "--preprocess", "log1p", "--preprocess", "double-center")
    assert ran.code == 2
    assert "x.csv: Negative values in data: -5 at row 2, column 2" in " ".join(ran.err.split())
