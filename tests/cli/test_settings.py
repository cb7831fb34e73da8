"""Settings: from a TOML file, from the command line, and which of them wins."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path

import pytest
import typer

from neocc.cli import app
from neocc.cli._given import check
from neocc.cli._settings import FitSettings


def test_a_settings_file_says_all(run, women, tmp_path):
    (tmp_path / "settings.toml").write_text(
        """
        # What to do.
        file = "women.csv"
        output = "from-toml"
        rows = 2
        columns = 3
        row-overlap = 0
        row_outliers = 0.05
        column_overlap = 0.0
        column_outliers = 0
        objective = "residue"
        preprocess = ["row-center"]
        drop = ["E14"]
        seed = 3
        refine = false
        report = false
        """
    )
    ran = run("fit", "--config", "settings.toml", "--json")
    assert ran.code == 0, ran.err
    answer = json.loads(ran.out)
    assert answer["output"]["folder"].endswith("from-toml")
    assert "report.html" not in answer["output"]["files"]
    assert answer["input"]["shape"] == [18, 13]
    used = answer["settings"]
    assert (used["rows"], used["columns"], used["objective"], used["seed"]) == (2, 3, "residue", 3)
    assert used["preprocess"] == ["row-center"]
    assert used["refine"] is False


def test_settings_may_be_called_like_any_option(run, women, tmp_path):
    (tmp_path / "s.toml").write_text(
        "rows = 2\ncolumns = 2\nno-report = true\nno_refine = true\nrow_overlap = '10%'\n"
        "row_outliers = '5 %'\nrow_names_in = 'name'\n"
    )
    ran = run("fit", women, "--config", "s.toml", "--json")
    assert ran.code == 0, ran.err
    used = json.loads(ran.out)["settings"]
    assert (used["report"], used["refine"], used["row_names"]) == (False, False, "name")
    assert (used["row_overlap"], used["row_outliers"]) == (0.1, 0.05)


def test_the_command_line_comes_first(run, women, tmp_path):
    (tmp_path / "s.toml").write_text("rows = 2\ncolumns = 4\nseed = 3\nreport = false\n")
    ran = run("fit", women, "--config", "s.toml", "--columns", 2, "--json")
    used = json.loads(ran.out)["settings"]
    assert (used["rows"], used["columns"], used["seed"]) == (2, 2, 3)


def test_paths_in_a_settings_file_start_where_it_lies(run, tmp_path, women):
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "s.toml").write_text(
        'file = "../women.csv"\noutput = "out"\nrows = 2\ncolumns = 2\nreport = false\n'
    )
    assert run("fit", "--config", "deep/s.toml").code == 0
    assert (tmp_path / "deep" / "out" / "rows.csv").is_file()


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("rows = 2\nrow_overlaps = 0.1\n", 2, "'row_overlaps' (did you mean 'row_overlap'?)"),
        ("[fit]\nrows = 2\n", 1, "no setting 'fit'"),
        ("rows = 'two'\n", 1, "'rows' must be a whole number of at least 1"),
        ("\n\nrows = 0\n", 3, "'rows' must be"),
        ("rows = true\n", 1, "'rows' must be"),
        ("row_outliers = 1.0\n", 1, "'row_outliers' must be a number of at least 0 and below 1"),
        ("tol = nan\n", 1, "'tol' must be"),
        ("row_overlap = inf\n", 1, "'row_overlap' must be"),
        ("refine = 'no'\n", 1, "'refine' must be true or false"),
        ("objective = 'median'\n", 1, "'objective' must be"),
        ("preprocess = ['log3']\n", 1, "or steps that"),
        ("preprocess = ['log2', 'auto']\n", 1, "or steps that"),
        ("preprocess = 3\n", 1, "'preprocess' must be text, or a list of texts"),
        ("triplet_columns = ['a']\n", 1, "'triplet_columns' must be three names"),
        ("file = 3\n", 1, "'file' must be a path"),
        (
            "force = true\n",
            1,
            "'force' is not a setting of a fit. Give --force on the command line.",
        ),
        ("rows = 2\njson = true\n", 2, "Give --json"),
        ("row_overlap = '10 percent'\n", 1, "'row_overlap' must be a number"),
        ("row_outliers = '120%'\n", 1, "'row_outliers' must be a number of at least 0 and below 1"),
        ("no_report = 'yes'\n", 1, "no setting 'no_report'"),
        ("seed = 1979-05-27\n", 1, "'seed' must be"),
        ("rows = 2\nrows = 3\n", 2, "not TOML"),
        ("rows : 2\n", 1, "not TOML"),
    ],
)
def test_mistakes_in_a_settings_file(run, women, tmp_path, text, line, said):
    (tmp_path / "s.toml").write_text(text)
    ran = run("fit", women, "--config", "s.toml")
    assert ran.code == 2
    assert ran.err.startswith(f"neocc: s.toml, line {line}: ")
    assert said in ran.err
    assert len(ran.err.splitlines()) == 1


@pytest.mark.parametrize(
    ("content", "said"),
    [(None, "no such file"), (b"caf\xe9 = 1", "not UTF-8"), (b"#" * (1 << 21), "too large")],
)
def test_settings_files_that_cannot_be_read(run, women, tmp_path, content, said):
    if content is not None:
        (tmp_path / "s.toml").write_bytes(content)
    ran = run("fit", women, "--config", "s.toml")
    assert ran.code == 2
    assert said in ran.err


def test_a_folder_is_no_settings_file(run, women, tmp_path):
    ran = run("fit", women, "--config", tmp_path)
    assert ran.code == 2
    assert "This is a folder" in ran.err


def test_every_setting_has_a_check_and_an_option():
    options = {one.name for one in typer.main.get_command(app).commands["fit"].params}
    for one in fields(FitSettings):
        assert callable(one.metadata["setting"].kind.check)
        assert {one.name, f"no_{one.name}"} & options, f"{one.name} is no option"


def test_the_defaults_pass_their_own_checks():
    for one in fields(FitSettings):
        assert check(one.name, one.default) == one.default


def test_the_arguments_of_the_estimator_are_its_own():
    from neocc import NEOCC

    model = NEOCC(**FitSettings(rows=2, columns=2, objective="mean").estimator_options)
    default = NEOCC(2, 2, random_state=0)
    for name, value in model.get_params().items():
        if "over" not in name and "outliers" not in name:
            assert value == default.get_params()[name]


def test_the_arguments_of_the_reader_are_its_own(women):
    from neocc.io import read_matrix

    assert read_matrix(Path(women), **FitSettings().read_options).options == {}


@pytest.mark.parametrize(
    ("text", "sign"), [("tab", "\t"), ("\\t", "\t"), ("space", " "), (";", ";")]
)
def test_delimiters_may_be_spelled_out(text, sign):
    assert check("delimiter", text) == sign
