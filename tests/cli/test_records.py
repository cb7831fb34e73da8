"""A run is repeated from its record, to the bit, or it is said why not."""

from __future__ import annotations

import json
import shutil

import pytest

SAME = ("rows.csv", "columns.csv", "blocks.csv", "model.neocc")


def same_files(one, other):
    return all((one / name).read_bytes() == (other / name).read_bytes() for name in SAME)


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--rows", 2, "--columns", 3, "--row-overlap", 0.1, "--row-outliers", "5%", "--seed", 7),
        ("--objective", "residue", "--rows", 2, "--columns", 2, "--preprocess", "row-center")
        + ("--n-init", 2),
        ("--no-refine", "--n-init", 3, "--init", "random", "--columns", 3, "--drop", "E1*"),
    ],
    ids=["nothing", "all", "residue", "plain"],
)
def test_a_record_repeats_the_run_to_the_bit(run, women, tmp_path, options):
    assert run("fit", women, *options, "-o", "first", "--no-report").code == 0
    ran = run("fit", "--from", "first/record.json", "-o", "second")
    assert ran.code == 0, ran.err
    assert ran.err == ""
    assert same_files(tmp_path / "first", tmp_path / "second")
    assert not (tmp_path / "second" / "report.html").exists()
    if options[:1] == ("--rows",):  # and so does that of the second
        assert run("fit", "--from", "second/record.json", "-o", "third").code == 0
        assert same_files(tmp_path / "first", tmp_path / "third")


def test_a_record_says_what_was_done(women_result):
    record = json.loads((women_result / "record.json").read_text())
    assert record["seed"] == record["settings"]["seed"] == 0
    assert record["settings"]["rows"] == 2
    assert record["settings"]["chosen"] == ["preprocess", "objective"]
    assert record["settings"]["preprocess"] == []
    assert record["settings"]["objective"] == "mean"
    assert record["settings"]["interrupted"] is False
    assert {"python", "neocc", "numpy", "scipy"} <= set(record["versions"])
    assert len(record["input"]["sha256"]) == 64
    assert record["input"]["path"].startswith("/")


def test_what_was_chosen_is_recorded_as_a_number(run, women, tmp_path):
    run("fit", women, "--columns", 2, "-o", "out", "--no-report", "--n-init", 1)
    settings = json.loads((tmp_path / "out" / "record.json").read_text())["settings"]
    assert isinstance(settings["rows"], int)
    assert isinstance(settings["row_overlap"], float)
    assert set(settings["chosen"]) == {
        "preprocess",
        "objective",
        "rows",
        "row_overlap",
        "row_outliers",
        "column_overlap",
        "column_outliers",
    }


def test_a_changed_file_is_refused(run, women, women_result, tmp_path):
    shutil.copytree(women_result, tmp_path / "result")
    women.write_text(women.read_text().replace("Evelyn", "Evelin"))
    ran = run("fit", women, "--from", "result/record.json", "-o", "out")
    assert ran.code == 2
    assert "has changed since the run" in ran.err
    assert str(women) in ran.err
    assert not (tmp_path / "out").exists()


def test_a_file_that_moved_is_named(run, women, tmp_path):
    options = ("--rows", 2, "--columns", 2, "--no-report", "--n-init", 1)
    assert run("fit", women, *options, "-o", "first").code == 0
    women.rename(tmp_path / "after.csv")
    ran = run("fit", "--from", "first/record.json", "-o", "second")
    assert ran.code == 2
    assert "women.csv" in ran.err
    assert "neocc fit FILE --from record.json" in ran.err
    ran = run("fit", "after.csv", "--from", "first/record.json", "-o", "second")
    assert ran.code == 0, ran.err
    assert same_files(tmp_path / "first", tmp_path / "second")


def test_settings_beside_a_record_are_refused(run, women_result):
    record = women_result / "record.json"
    for option in (("--rows", 3), ("--config", "s.toml"), ("--preprocess", "log1p")):
        ran = run("fit", "--from", record, *option)
        assert ran.code == 2
        assert option[0] in ran.err


def test_other_versions_are_noted(run, women_result, tmp_path):
    record = json.loads((women_result / "record.json").read_text())
    record["versions"]["numpy"] = "1.0"
    (tmp_path / "old.json").write_text(json.dumps(record))
    ran = run("fit", "--from", "old.json", "-o", "out")
    assert ran.code == 0
    assert "numpy 1.0 then" in ran.err


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda settings: settings.pop("rows"), "'rows'"),
        (lambda settings: settings.update(rows="many"), "'rows' must be a whole number"),
        (lambda settings: settings.update(row_outliers=3), "'row_outliers'"),
        (lambda settings: settings.update(evil=True), "no setting 'evil'"),
        (lambda settings: settings.update(preprocess=["__import__"]), "'preprocess'"),
        (lambda settings: settings.update(seed=1), "seed"),
        (lambda settings: settings.update(missing=["zero"]), "'missing'"),
    ],
)
def test_a_record_that_was_edited_badly(run, women_result, tmp_path, change, said):
    record = json.loads((women_result / "record.json").read_text())
    change(record["settings"])
    (tmp_path / "bad.json").write_text(json.dumps(record))
    ran = run("fit", "--from", "bad.json")
    assert ran.code == 2
    assert said in ran.err
    assert "bad.json" in ran.err
    assert len(ran.err.splitlines()) == 1
