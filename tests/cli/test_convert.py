"""`neocc convert`, and `neocc fit` of what it wrote."""

from __future__ import annotations

import json

import pytest

from neocc.io import open_store


@pytest.fixture
def ratings(tmp_path):
    lines = [f"u{i},{j},{1 + 4 * (i % 2 == j % 2)}" for i in range(12) for j in range(6)]
    (tmp_path / "ratings.csv").write_text("\n".join(["user,film,stars", *lines[::-1]]))
    return tmp_path / "ratings.csv"


def test_a_converted_file_is_fitted_like_the_file(run, ratings, tmp_path):
    ran = run("convert", ratings, "store", "--rows-per-block", 5)
    assert ran.code == 0, ran.err
    assert "12 rows, 6 columns, 72 entries (float64) in 3 blocks" in ran.words
    groups = ["--rows", 2, "--columns", 2]
    ran = run("fit", "store", *groups, "-o", "one")
    assert ran.code == 0, ran.err
    assert "72 entries in 3 blocks" in ran.words
    run("fit", ratings, *groups, "-o", "two")
    for name in ("rows.csv", "columns.csv"):
        assert (tmp_path / "one" / name).read_text() == (tmp_path / "two" / name).read_text()
    again = run("fit", "--from", "one/record.json", "-o", "three")
    assert again.code == 0, again.err


def test_the_answer_for_programs(run, ratings):
    ran = run("convert", ratings, "store", "--float32", "--json")
    found = json.loads(ran.out)
    assert (found["shape"], found["dtype"], found["layout"]) == ([12, 6], "float32", "sparse")
    assert found["digest"] == open_store("store").digest


def test_options_of_reading_are_heeded(run, tmp_path):
    (tmp_path / "m.txt").write_text("1;2\n3;\n")
    assert run("convert", "m.txt", "store", "--delimiter", ";").code == 2
    assert run("convert", "m.txt", "store", "--delimiter", ";", "--missing", "zero").code == 0
    assert open_store("store").load(0).tolist() == [[1.0, 2.0], [3.0, 0.0]]


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("convert absent.csv made", "no such file"),
        ("convert ratings.csv store", "replace it with --force"),
        ("convert ratings.csv made --block-size much", "must be a number of bytes"),
        ("fit store --rows 2 --columns 2 --missing zero", "Leave out --missing"),
        ("fit store --rows 2 --columns 2 --preprocess log1p", "Leave out --preprocess"),
        ("fit . --rows 2 --columns 2", "not a block store. Name a file in it"),
        ("fit -", "Standard input is not read. Write"),
    ],
)
def test_mistakes_are_explained(run, ratings, command, words):
    run("convert", ratings, "store")
    ran = run(*command.split())
    assert ran.code == 2
    assert words in " ".join(ran.err.split())
