"""docs/counts.md is true: its code runs, and it names what there is."""

from __future__ import annotations

import re
from pathlib import Path

from neocc.core.objectives import COUNTS

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "counts.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)


def test_the_code_of_the_page_runs():
    names = {"__name__": "counts"}
    for number, block in enumerate(BLOCKS):
        exec(compile(block, f"counts.md, block {number}", "exec"), names)
    assert len(BLOCKS) > 2
    assert names["model"].objective_ < 0


def test_all_objectives_of_counts_are_in_its_table():
    assert set(re.findall(r"^\| `\"(\w+)\"` \|", TEXT, re.MULTILINE)) == set(COUNTS)


def test_the_page_can_be_found():
    assert "docs/counts.md" in (ROOT / "README.md").read_text(encoding="utf-8")
