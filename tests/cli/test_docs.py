"""docs/command-line.md says what is true."""

from __future__ import annotations

import re
from pathlib import Path

import typer

from neocc.cli import app
from neocc.cli._command import EXIT_CODES
from neocc.cli._given import read_settings

PAGE = (Path(__file__).parents[2] / "docs" / "command-line.md").read_text(encoding="utf-8")


def options_of(command):
    return {name for one in command.params for name in (*one.opts, *one.secondary_opts)}


def test_every_option_and_command_on_the_page_exists():
    group = typer.main.get_command(app)
    known = options_of(group).union(*(options_of(one) for one in group.commands.values()))
    known |= {"--help"}
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", PAGE)) <= known
    assert set(re.findall(r"`neocc ([a-z]+)", PAGE)) <= set(group.commands)


def test_the_settings_file_on_the_page_is_valid(tmp_path):
    (text,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "settings.toml").write_text(text)
    settings = read_settings(tmp_path / "settings.toml")
    assert settings["file"] == tmp_path / "ratings.csv"
    assert settings["preprocess"] == ("log1p", "row-norm")


def test_exit_codes_are_those_of_the_help_pages():
    listed = re.findall(r"^\| (\d+) \| (.*) \|$", PAGE.partition("## Exit codes")[2], re.MULTILINE)
    assert dict(listed) == EXIT_CODES
