"""What tests of the commands share: a small file, and a way to run a command in this process."""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from neocc.cli import app
from neocc.datasets import load_southern_women

# `malformed` and `files`, the table of bad files, live with the tests of the readers.
sys.path.insert(0, str(Path(__file__).parents[1] / "io"))


@dataclass(frozen=True)
class Ran:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def words(self) -> str:
        """Standard output as one line."""
        return " ".join(self.out.split())


Run = Callable[..., Ran]


@pytest.fixture
def run(tmp_path, monkeypatch) -> Run:
    """Run a command in an empty folder, at a width of 80 columns."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")

    def run_command(*arguments: Any) -> Ran:
        result = CliRunner().invoke(app, [str(one) for one in arguments])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Ran(result.exit_code, result.stdout, result.stderr)

    return run_command


@pytest.fixture(autouse=True)
def _short_choices(monkeypatch) -> None:
    """Choose overlap models by one short run of each: all choose, and few tests ask which."""
    from neocc.estimators import _base

    short = partial(_base.choose_overlap_model, effort=(1, 1, 1))
    monkeypatch.setattr(_base, "choose_overlap_model", short)


def write_women(path: Path) -> Path:
    """Write the Southern Women as a table with a header and names."""
    women = load_southern_women()
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["name", *women.column_names])
        writer.writerows(
            [name, *map(int, row)] for name, row in zip(women.row_names, women.data, strict=True)
        )
    return path


@pytest.fixture
def women(tmp_path) -> Path:
    """The Southern Women in a file."""
    return write_women(tmp_path / "women.csv")


@pytest.fixture(scope="session")
def women_result(tmp_path_factory) -> Path:
    """A folder of results of the Southern Women; not to be changed."""
    folder = tmp_path_factory.mktemp("women")
    file = write_women(folder / "women.csv")
    arguments = ["fit", str(file), "--output", str(folder / "result"), "--quiet"]
    arguments += ["--rows", "2", "--columns", "3", "--row-overlap", "0.05"]
    arguments += ["--row-outliers", "0.05", "--column-overlap", "0", "--column-outliers", "0"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.stderr
    return folder / "result"
