"""Every bad file ends a command with exit code 2, one readable message, and nothing written."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path
from uuid import uuid4

import numpy as np
import pytest
from malformed import CASES, Case

import neocc.cli._fit
import neocc.cli._fit_page
import neocc.cli._saved  # noqa: F401
from neocc.cli._guard import as_options, printable

# What has to be imported is imported above: some cases run without the right to read modules.

_RENAMED = {"columns": "--triplet-columns"}


def options_of(case: Case) -> list[str]:
    """Return the options of `read_matrix` as options of a command."""
    arguments: list[str] = []
    for name, value in case.options.items():
        option = _RENAMED.get(name, "--" + name.replace("_", "-"))
        if value is True:
            arguments.append(option)
        elif name == "columns":
            arguments += [option, ",".join(map(str, value))]
        else:
            values = [value] if isinstance(value, str) else value
            arguments += [part for one in values for part in (option, one)]
    return arguments


def command_of(case: Case, path: Path, folder: Path, output: str) -> list[str]:
    """Return the command that reads the bad file."""
    if case.kind == "matrix":
        return ["fit", str(path), *options_of(case), "--output", output]
    if case.kind == "record":
        return ["fit", "--from", str(path), "--output", output]
    new = folder / "new.csv"
    new.write_text("1,2\n3,4\n")
    return ["predict", str(path), str(new), "--output", output]


def as_said(words: str) -> str:
    """Return what a command says in place of what the library says."""
    name, equals, rest = words.partition("=")
    return f"--{name}" if equals and not rest else as_options(words)


def contents(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


# No shell can pass a name with a NUL.
TYPED = [case for case in CASES if "NUL" not in case.name or "name" not in case.name]


@pytest.mark.parametrize("case", TYPED, ids=lambda case: case.name)
def test_bad_files_end_a_command_with_one_message(case: Case, tmp_path, run):
    path = case.write(tmp_path)
    # Not in the folder of the test, which no one may enter without privileges.
    output = Path(tempfile.gettempdir()) / f"neocc-{uuid4().hex}"
    command = command_of(case, path, tmp_path, str(output))
    before = contents(tmp_path)
    with case.around():
        ran = run(*command)
    assert ran.code == 2, ran.err
    assert ran.out == ""
    assert len(ran.err.splitlines()) == 1
    assert ran.err.startswith("neocc: ")
    assert printable(str(path)) in ran.err
    for words in case.says:
        assert as_said(words) in ran.err
    if case.line is not None:
        assert f"line {case.line}" in ran.err
    # Arguments of Python functions are of no use to whoever types commands.
    assert not re.search(r"\b(missing|drop|header|delimiter|encoding|duplicates|columns)=", ran.err)
    assert contents(tmp_path) == before
    assert not output.exists()


@pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_FSIZE is kept on Linux only")
def test_a_full_disk(women, tmp_path):
    """The system refuses to write more than some bytes to a file, as a full disk does."""
    code = (
        "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000));"
        "from neocc.__main__ import main; main()"
    )
    command = [sys.executable, "-c", code, "fit", str(women), "--rows", "2", "--columns", "2"]
    before = contents(tmp_path)
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 2, ran.stderr
    assert len(ran.stderr.splitlines()) == 1
    assert "could not be written" in ran.stderr
    assert contents(tmp_path) == before


def test_a_folder_that_may_not_be_written_to(women, tmp_path, run):
    from malformed import without_privileges

    # The folder of the test belongs to root and is closed to everyone else.
    output = tmp_path / "closed" / "out"
    with without_privileges():
        ran = run("fit", women, "--rows", 2, "--columns", 2, "--output", output)
    assert ran.code == 2
    assert "could not be written" in ran.err
    assert not output.parent.exists()


def test_numbers_too_large_to_square_are_a_mistake(tmp_path, run):
    path = tmp_path / "large.npy"
    np.save(path, np.full((4, 3), 1e200) * np.arange(12).reshape(4, 3))
    ran = run("fit", path)
    assert ran.code == 2
    assert "Traceback" not in ran.err


def test_names_of_files_are_not_rewritten(run, tmp_path):
    folder = tmp_path / "n_init"
    folder.mkdir()
    for name in ("row_overlap.csv", "columns=[a].csv", "missing='zero'.csv"):
        ran = run("fit", folder / name)
        assert f"{folder / name}: There is no such file." in ran.err


@pytest.mark.parametrize("character", ["\x1b]0;title\x07", "\r", "\x9b2J"])
def test_names_do_not_control_the_terminal(character, tmp_path, run):
    path = tmp_path / "m.csv"
    path.write_text(f"name,a,b\n{character}x,1,2\ny,3,oops\n", encoding="utf-8")
    ran = run("fit", path, "--delimiter", ",")
    assert ran.code == 2
    assert character not in ran.err
    path.write_text(f'name,a,b\n"{character}x",1,2\ny,3,4\n', encoding="utf-8")
    ran = run("fit", path, "--rows", 2, "--columns", 1, "--header", "--row-names")
    assert character not in ran.out
