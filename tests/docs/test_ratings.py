"""docs/ratings.md is true: its code runs, and its tables are there."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "ratings.md"
TEXT = PAGE.read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)


def test_the_code_of_the_page_runs(capsys):
    names = {"__name__": "ratings"}
    for number, block in enumerate(BLOCKS):
        exec(compile(block, f"{PAGE.name}, block {number}", "exec"), names)
    assert len(BLOCKS) > 3
    assert "by effects alone" in capsys.readouterr().out
    assert len(names["unseen"]) == 2


def test_the_tables_are_there():
    for name in ("predictions", "fresh", "large", "genres", "observed"):
        table = TEXT.split(f"<!-- {name}:start -->")[1].split(f"<!-- {name}:end -->")[0]
        assert table.count("\n|") > 3
