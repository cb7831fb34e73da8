"""``neocc paper`` on the command line."""

from __future__ import annotations

import json
import signal
import sys

import pytest
from standins import BROKEN, DataSet, absent, small_study
from typer.testing import CliRunner

from neocc.cli import app
from neocc.paper import _reproduce


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run the command in an empty folder, on stand-ins."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")

    def run_command(*arguments, **study):
        def stand_in(*, quick, seed):
            return small_study(seed, quick=quick, **study)

        monkeypatch.setattr(_reproduce, "make_study", stand_in)
        return CliRunner().invoke(app, ["paper", "--jobs", "1", *arguments])

    return run_command


def test_a_run_from_beginning_to_end(run, tmp_path):
    result = run("--quick", "--output", "here", "--seed", "3")
    assert result.exit_code == 0
    assert "here/index.html" in result.stdout
    assert "4 of 4 trials" in result.stderr
    assert (tmp_path / "here" / "index.html").exists()
    assert "neocc paper --seed 3 --quick" in (tmp_path / "here" / "paper.md").read_text("utf-8")


def test_a_run_is_quiet_resumed_and_json_if_asked(run):
    result = run("--quick", "--quiet")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")
    again = run("--quick")
    assert again.exit_code == 2
    assert "--resume" in again.stderr
    result = run("--quick", "--resume", "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    answer = json.loads(result.stdout)
    assert answer["trials"] == 4
    assert answer["failed"] == []
    assert answer["page"].endswith("index.html")
    other = run("--quick", "--resume", "--seed", "1")
    assert other.exit_code == 2
    assert "seed was 0 and is 1" in other.stderr


def test_failed_trials_are_told_by_the_exit_code(run):
    result = run("--quick", systems={"broken": BROKEN})
    assert result.exit_code == 1
    assert "failed: broken on yeast, trial 1" in result.stderr


def test_missing_data_is_a_mistake_that_can_be_set_right(run):
    nowhere = DataSet("nowhere", absent, "rows", 2, 2)
    result = run(data_sets={"nowhere": nowhere})
    assert result.exit_code == 2
    assert "no copy of this data set" in result.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT is sent by signal")
def test_an_interrupt_says_how_to_go_on(run, monkeypatch):
    def interrupt(*arguments, **options):
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(_reproduce, "run_trials", interrupt)
    result = run("--quick")
    assert result.exit_code == 130
    assert "--resume" in result.stderr


def test_the_help_page_fits_80_columns_and_ends_with_examples(run):
    result = run("--help")
    assert result.exit_code == 0
    assert max(map(len, result.stdout.splitlines())) <= 80
    assert "neocc paper --quick" in result.stdout.split("Examples")[1]


def test_without_matplotlib_the_extra_is_named(run, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    result = run("--quick")
    assert result.exit_code == 2
    assert 'pip install "neocc[plot]"' in result.stderr
    assert not (tmp_path / "neocc-paper").exists()
