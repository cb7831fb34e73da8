"""The code in README.md runs as it stands there."""

from __future__ import annotations

import re
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"


def test_quick_start_runs(capsys):
    text = README.read_text(encoding="utf-8")
    ((block, shown),) = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", text, re.DOTALL)
    exec(compile(block, str(README), "exec"), {})
    assert capsys.readouterr().out == shown
    assert "Ruth DeSand" in shown  # whom the book has in both groups
