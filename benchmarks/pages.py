"""Tables in Markdown, put between markers in the pages of the documentation."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

Line = list[str]


def markdown(lines: Iterable[Line]) -> str:
    """Format a header and lines as a table."""
    header, *rest = lines
    return "\n".join(
        "| " + " | ".join(line) + " |" for line in (header, ["---"] * len(header), *rest)
    )


def replace_section(path: Path, name: str, text: str) -> None:
    """Put text between `<!-- name:start -->` and `<!-- name:end -->`, or at the end of the page."""
    section = f"<!-- {name}:start -->\n{text}\n<!-- {name}:end -->"
    page = path.read_text() if path.exists() else ""
    pattern = rf"<!-- {name}:start -->.*<!-- {name}:end -->"
    if re.search(pattern, page, flags=re.DOTALL):
        page = re.sub(pattern, lambda _: section, page, flags=re.DOTALL)
    else:
        page = f"{page.rstrip()}\n\n{section}\n".lstrip()
    path.write_text(page)
