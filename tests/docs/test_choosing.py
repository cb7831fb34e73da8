"""docs/choosing.md is true: its code runs, and it names every kind and what is advised for it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from neocc.selection._advise import RECIPES

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "choosing.md").read_text(encoding="utf-8")


def test_the_code_runs(capsys):
    found = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
    (code,) = (each for each in found if "advise" in each)  # the guide is run by test_site.py
    exec(compile(code, "choosing.md", "exec"), {})
    assert "columns of different units" in capsys.readouterr().out


def test_every_kind_has_a_line():
    table = PAGE.partition("## Kinds")[2].partition("##")[0]
    kinds = re.findall(r"^\| (\w+) \|", table, flags=re.MULTILINE)
    assert [kind for kind in kinds if kind != "kind"] == [
        "binary",
        "ratings",
        "proportions",
        "counts",
        "ratios",
        "intensities",
        "units",
        "plain",
    ]
    assert set(kinds) - {"kind"} == set(RECIPES)


def test_the_readme_leads_there():
    assert "docs/settings.md" in (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("part", ["advice", "look"])
def test_every_table_is_made_by_a_command(part):
    section = PAGE.partition(f"<!-- {part}:start -->")[2].partition(f"<!-- {part}:end -->")[0]
    assert f"`python -m benchmarks.choosing {part}`" in section
