"""What a command says about a file: what names rows, what to drop, what cannot be fitted."""

from __future__ import annotations

import json
import re
import shlex

import numpy as np
import pytest

QUICK = ("--rows", 2, "--columns", 2, "--no-report", "--no-refine", "--n-init", 1)
QUICK += ("--row-overlap", 0, "--row-outliers", 0, "--column-overlap", 0, "--column-outliers", 0)


def numbers(tmp_path, name: str, data: np.ndarray):
    path = tmp_path / name
    np.savetxt(path, data, delimiter=",", fmt="%.17g")
    return path


def test_ids_are_said_and_undone(tmp_path, run):
    path = tmp_path / "customers.csv"
    lines = [f"{1000 + 37 * i % 101},{i % 2},{i % 5},{i % 3}" for i in range(12)]
    path.write_text("customer_id,a,b,c\n" + "\n".join(lines) + "\n")
    ran = run("fit", path, *QUICK)
    assert ran.code == 0, ran.err
    assert "12 rows, 3 columns" in ran.words
    assert "--no-row-names reads it as data" in ran.words
    ran = run("fit", path, *QUICK, "--no-row-names", "--force")
    assert "12 rows, 4 columns" in ran.words


def test_the_option_that_drops_all_bad_columns_is_ready(tmp_path, run):
    path = tmp_path / "m.csv"
    lines = [f"{i % 2},m,{i % 5},it's a,{i % 3}" for i in range(12)]
    path.write_text('a,sex,b,"kind of, so",c\n' + "\n".join(lines) + "\n")
    ran = run("fit", path, *QUICK)
    assert ran.code == 2
    assert "2 hold text" in ran.err
    (ready,) = re.findall(r"out with (--drop .*?); if", ran.err)
    assert shlex.split(ready) == ["--drop", "sex", "--drop", "kind of, so"]
    ran = run("fit", path, *QUICK, *shlex.split(ready))
    assert ran.code == 0, ran.err
    assert "12 rows, 3 columns" in ran.words


def test_text_and_missing_values_in_one_message(tmp_path, run):
    path = tmp_path / "m.csv"
    lines = [f"{i % 2},{'' if i % 4 else 3},{'NA' if i == 5 else 1},w{i % 2}" for i in range(12)]
    path.write_text("a,b,c,d\n" + "\n".join(lines) + "\n")
    ran = run("fit", path, *QUICK)
    assert "line 2" in ran.err
    assert "--drop d" in ran.err
    assert "10 cells have no value" in ran.err
    assert "--missing zero" in ran.err
    ran = run("fit", path, *QUICK, "--drop", "d")
    assert "10 cells in 2 of 3 columns have no value" in ran.err


def test_baskets_and_thousands(tmp_path, run):
    path = tmp_path / "basket.csv"
    pairs = [f"u{i % 6},item{i * i % 5}" for i in range(40)]
    path.write_text("user,item\n" + "\n".join(pairs) + "\n")
    ran = run("fit", path, *QUICK, "--json")
    told = json.loads(ran.out)
    assert any("pairs" in note for note in told["input"]["notes"])
    assert any("--duplicates sum" in note for note in told["input"]["notes"])
    path = tmp_path / "money.csv"
    path.write_text("name;a;b;c\n" + "".join(f"x{i};{i},000;137;{i % 3}\n" for i in range(1, 9)))
    assert run("fit", path, *QUICK).code == 0  # decimal commas
    path.write_text("name;a;b;c\n" + "".join(f"x{i};{i},000;13;{i}\nz{i};7;1;{i}\n" for i in "123"))
    ran = run("fit", path, *QUICK, "--force")
    assert ran.code == 2
    assert '--thousands ","' in ran.err
    ran = run("fit", path, *QUICK, "--thousands", ",", "--preprocess", "none", "--json", "--force")
    assert ran.code == 0, ran.err
    assert np.max(json.loads(ran.out)["result"]["block_means"]) > 1000


def test_numbers_near_zero_are_explained(tmp_path, run):
    data = np.random.default_rng(0).normal(size=(12, 5))
    path = numbers(tmp_path, "m.csv", data * 1e-300)
    ran = run("fit", path, *QUICK)
    assert ran.code == 2
    assert "squares" in ran.err
    assert "--preprocess column-norm" in ran.err
    assert run("fit", path, *QUICK, "--preprocess", "column-norm").code == 0
    path = numbers(tmp_path, "n.csv", np.where(data > 0, data, 1e-300))
    ran = run("fit", path, *QUICK)
    assert ran.code == 0
    assert "numbers other than 0 are smaller than 1e-150" in ran.words


def test_groups_that_stay_empty_are_explained(tmp_path, run):
    path = numbers(tmp_path, "m.csv", np.random.default_rng(0).normal(size=(12, 8)))
    shares = ("--row-outliers", 0.5, "--row-overlap", -0.5, "--rows", 8)
    ran = run("fit", path, *QUICK, *shares, "--overlap-model", "repeat")
    assert ran.code == 0, ran.err
    assert "2 of 8 groups of rows stayed empty" in ran.err
    assert "6 memberships" in ran.err
    assert "groups of columns stayed empty" not in ran.err


@pytest.mark.parametrize("place", ["file/out", "file/deep/out", "closed/out", "closed/a/out"])
def test_the_folder_is_tried_before_the_file_is_read(place, tmp_path, run, monkeypatch):
    (tmp_path / "file").write_text("")
    (tmp_path / "closed").mkdir()
    if place.startswith("closed"):
        # Permissions do not hold for root.
        from pathlib import Path

        monkeypatch.setattr(Path, "mkdir", _forbidden)
    ran = run("fit", tmp_path / "absent.csv", *QUICK, "--output", tmp_path / place)
    assert ran.code == 2
    assert "could not be written" in ran.err
    assert "no such file" not in ran.err


def test_nothing_is_left_of_the_trial(tmp_path, run):
    before = sorted(tmp_path.iterdir())
    for place in ("out", "a/b/out"):
        ran = run("fit", tmp_path / "absent.csv", *QUICK, "--output", tmp_path / place)
        assert "no such file" in ran.err
        assert sorted(tmp_path.iterdir()) == before


def _forbidden(*_, **__):
    raise PermissionError(13, "Permission denied")
