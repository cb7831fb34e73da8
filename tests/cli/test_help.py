"""Help pages, completion, and that asking for them costs little."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

COMMANDS = ("demo", "fit", "convert", "suggest", "score", "report", "predict")


def test_all_commands_are_listed(run):
    ran = run("--help")
    assert ran.code == 0
    for command in COMMANDS:
        assert re.search(rf"\b{command} ", ran.out)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_pages_fit_80_columns_and_end_with_examples(run, command):
    ran = run(command, "--help")
    assert ran.code == 0
    assert max(map(len, ran.out.splitlines())) <= 80
    assert f"neocc {command}" in ran.out.split("Examples")[1]
    assert re.search(r"130 +interrupted", ran.out)
    assert run(command, "-h").out == ran.out


def test_the_examples_in_the_help_of_fit_are_valid(run, women, tmp_path):
    ran = run("fit", "--help")
    examples = re.findall(r"^ +neocc (fit .*)$", ran.out.split("Examples")[1], re.MULTILINE)
    assert len(examples) > 4
    for example in examples:
        # Files are absent: that must be the only complaint.
        result = run(*example.split())
        assert result.code == 2
        assert "no such file" in result.err, result.err


def test_every_step_of_preprocessing_is_explained(run):
    from neocc.preprocessing import PREPROCESSORS

    ran = run("fit", "--help")
    for name in PREPROCESSORS:
        assert name in ran.out


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("neocc su", "suggest"),
        ("neocc fit --preprocess tf", "tfidf"),
        ("neocc fit --format rat", "ratings.dat"),
        ("neocc fit --objective r", "residue"),
        ("neocc fit --row-o", "--row-overlap"),
    ],
)
def test_the_shell_completes(words, expected):
    environment = {
        "_NEOCC_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split()) - 1),
    }
    code = "import sys; sys.argv[0] = 'neocc'; from neocc.__main__ import main; main()"
    result = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert expected in result.stdout.split()


@pytest.mark.parametrize("arguments", [["--help"], ["fit", "--help"], ["--version"]])
def test_help_loads_no_numerical_library(arguments):
    code = (
        "import sys; from neocc.cli import app\n"
        f"try:\n    app({arguments!r})\n"
        "except SystemExit: pass\n"
        "heavy = {'numpy', 'scipy', 'sklearn', 'numba', 'pyarrow', 'matplotlib'}\n"
        "print('loaded:', heavy & set(sys.modules))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.splitlines()[-1] == "loaded: set()"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("fit", "m.csv", "--nosuch", 3), r"No such option[: ']+--nosuch"),
        (("fit", "m.csv", "--n-init", "many"), "Invalid value for '--n-init'"),
        (("fit", "m.csv", "--rows", "many"), "--rows must be a whole number"),
        (("suggest", "m.csv", "--rows", "3-2"), "is not a list of numbers"),
        (("predict", "model.neocc"), "Missing argument"),
    ],
)
def test_programs_learn_of_a_bad_option_as_of_any_mistake(run, arguments, said):
    ran = run(*arguments, "--json")
    assert ran.code == 2
    assert re.search(said, json.loads(ran.out)["error"])
    assert run(*arguments).out == ""
