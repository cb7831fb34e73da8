"""Pages as lists of parts, written as Markdown or as HTML, and tables also as CSV.

Text may hold `code` between backquotes and **strong** words between double asterisks, nothing else.
"""

from __future__ import annotations

import csv
import html
import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

__all__ = [
    "Figure",
    "Heading",
    "Items",
    "Part",
    "Row",
    "Table",
    "Text",
    "as_csv",
    "as_html",
    "as_markdown",
]

Kind = Literal["ours", "group", "printed", "baseline"]


@dataclass(frozen=True)
class Heading:
    """A heading of the first (1), second or third level."""

    text: str
    level: int = 2


@dataclass(frozen=True)
class Text:
    """A paragraph."""

    text: str


@dataclass(frozen=True)
class Items:
    """A list."""

    items: Sequence[str]


@dataclass(frozen=True)
class Row:
    """A line of a table; a group has a single cell, the heading of the lines below it."""

    cells: Sequence[str]
    kind: Kind = "ours"


@dataclass(frozen=True)
class Table:
    """A table, and the name of the file that it has for itself."""

    name: str
    caption: str
    header: Sequence[str]
    rows: Sequence[Row]


@dataclass(frozen=True)
class Figure:
    """A picture in a file beside the page."""

    file: str
    caption: str


Part: TypeAlias = Heading | Text | Items | Table | Figure


# -------------------------------------------------------------------------------------- Markdown


def as_markdown(parts: Iterable[Part]) -> str:
    """Write a page as Markdown.

    Examples
    --------
    >>> from neocc.paper._document import Heading, Row, Table, as_markdown
    >>> print(as_markdown([Heading("A"), Table("t", "Scores.", ["x", "y"], [Row(["1", "2"])])]))
    ## A
    <BLANKLINE>
    Scores.
    <BLANKLINE>
    | x | y |
    | --- | --- |
    | 1 | 2 |
    <BLANKLINE>
    """
    return "\n\n".join(_markdown(part) for part in parts) + "\n"


def _markdown(part: Part) -> str:
    match part:
        case Heading(text, level):
            return f"{'#' * level} {text}"
        case Text(text):
            return text
        case Items(items):
            return "\n".join(f"* {item}" for item in items)
        case Figure(file, caption):
            return f"![{_plain(caption)}]({file})\n\n{caption}"
        case Table():
            return f"{part.caption}\n\n{_markdown_table(part)}"


def _markdown_table(table: Table) -> str:
    lines = [table.header, ["---"] * len(table.header), *(_markdown_cells(r) for r in table.rows)]
    width = len(table.header)
    filled = ([*line, *[""] * (width - len(line))] for line in lines)
    return "\n".join("| " + " | ".join(line) + " |" for line in filled)


def _markdown_cells(row: Row) -> list[str]:
    cells = [cell.replace("|", "\\|") for cell in row.cells]
    if row.kind == "group":
        return [f"**{cells[0]}**"]
    return [f"*{cell}*" if cell and row.kind == "printed" else cell for cell in cells]


# ------------------------------------------------------------------------------------------- CSV


def as_csv(table: Table) -> str:
    """Write a table as CSV: plain text, a group in a column of its own.

    Examples
    --------
    >>> from neocc.paper._document import Row, Table, as_csv
    >>> rows = [Row(["ml-a"], "group"), Row(["best", "**3.0**"]), Row(["best", "2.5"], "printed")]
    >>> print(as_csv(Table("t", "Scores.", ["", "NEO"], rows)))
    group,kind,,NEO
    ml-a,ours,best,3.0
    ml-a,printed,best,2.5
    <BLANKLINE>
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["group", "kind", *map(_plain, table.header)])
    group = ""
    for row in table.rows:
        if row.kind == "group":
            group = _plain(row.cells[0])
        else:
            writer.writerow([group, row.kind, *map(_plain, row.cells)])
    return text.getvalue()


def _plain(text: str) -> str:
    return text.replace("**", "").replace("`", "")


# ------------------------------------------------------------------------------------------ HTML

_STYLE = """
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, sans-serif; color: #1c2733; background: #fff;
  max-width: 76rem; margin: 0 auto; padding: 1rem 1.25rem 4rem; }
h1 { font-size: 1.7rem; line-height: 1.25; }
h2 { font-size: 1.3rem; margin-top: 2.5rem; border-bottom: 1px solid #d5dde6;
  padding-bottom: .2rem; }
h3 { font-size: 1.05rem; margin-top: 1.75rem; }
p, li { max-width: 50rem; }
code { font: .88em ui-monospace, monospace; background: #eef2f6; padding: .05em .3em;
  border-radius: 3px; overflow-wrap: anywhere; }
nav ul { columns: 2; padding-left: 1.2rem; }
a { color: #1f4e79; }
figure { margin: 1.5rem 0; overflow-x: auto; }
figure img { max-width: 100%; height: auto; border: 1px solid #e3e9ef; }
figcaption, caption { text-align: left; color: #44566a; font-size: .92rem; padding: .3rem 0; }
figcaption { max-width: 50rem; }
.wide { overflow-x: auto; margin: 1.25rem 0; }
table { border-collapse: collapse; font-size: .86rem; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .42rem; text-align: right; white-space: nowrap;
  border-bottom: 1px solid #eef2f6; }
th:first-child, td:first-child { text-align: left; }
td.words { text-align: left; white-space: normal; min-width: 14rem; }
thead th { border-bottom: 2px solid #b9c6d3; vertical-align: bottom; }
th.words { text-align: left; }
tr.group td { font-weight: 600; background: #eef2f6; padding-top: .35rem; white-space: normal; }
tr.printed td { color: #5c6b7a; font-style: italic; }
tr.baseline td { color: #7a4100; background: #fdf6ee; }
"""

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
{body}
</body>
</html>
"""

# Cells longer than this are sentences, not numbers or names.
_LONGEST_NAME = 40
_WORDS = ' class="words"'


def as_html(parts: Sequence[Part]) -> str:
    """Write a page as HTML, with a list of its sections below the first heading.

    Examples
    --------
    >>> from neocc.paper._document import Heading, Text, as_html
    >>> page = as_html([Heading("Scores", 1), Text("The estimator `A<B>` is **best**.")])
    >>> "<p>The estimator <code>A&lt;B&gt;</code> is <strong>best</strong>.</p>" in page
    True
    """
    title = next(part.text for part in parts if isinstance(part, Heading))
    sections = [part for part in parts if isinstance(part, Heading) and part.level == 2]
    body: list[str] = []
    for part in parts:
        if isinstance(part, Heading) and part is next(iter(sections), None):
            body.append(_contents(sections))
        body.append(_html(part))
    return _PAGE.format(title=html.escape(_plain(title)), style=_STYLE, body="\n".join(body))


def _contents(sections: Sequence[Heading]) -> str:
    links = (f'<li><a href="#{_anchor(each)}">{_inline(each.text)}</a></li>' for each in sections)
    return f'<nav aria-label="Sections"><ul>{"".join(links)}</ul></nav>'


def _anchor(heading: Heading) -> str:
    return re.sub(r"[^a-z0-9]+", "-", heading.text.lower()).strip("-")


def _html(part: Part) -> str:
    match part:
        case Heading(text, level):
            return f'<h{level} id="{_anchor(part)}">{_inline(text)}</h{level}>'
        case Text(text):
            return f"<p>{_inline(text)}</p>"
        case Items(items):
            return f"<ul>{''.join(f'<li>{_inline(item)}</li>' for item in items)}</ul>"
        case Figure(file, caption):
            image = f'<img src="{html.escape(file)}" alt="{html.escape(_plain(caption))}">'
            return f"<figure>{image}<figcaption>{_inline(caption)}</figcaption></figure>"
        case Table():
            return _html_table(part)


def _html_table(table: Table) -> str:
    sentences = {
        place for row in table.rows for place, cell in enumerate(row.cells) if _is_words(row, cell)
    }
    head = "".join(
        f'<th scope="col"{_WORDS if place in sentences else ""}>{_inline(cell)}</th>'
        for place, cell in enumerate(table.header)
    )
    rows = "\n".join(_html_row(row, len(table.header)) for row in table.rows)
    return (
        f'<div class="wide"><table id="{table.name}"><caption>{_inline(table.caption)}</caption>'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody></table></div>"
    )


def _html_row(row: Row, width: int) -> str:
    if row.kind == "group":
        return f'<tr class="group"><td colspan="{width}">{_inline(row.cells[0])}</td></tr>'
    cells = "".join(
        f"<td{_WORDS if _is_words(row, cell) else ''}>{_inline(cell)}</td>" for cell in row.cells
    )
    return f'<tr class="{row.kind}">{cells}</tr>'


def _is_words(row: Row, cell: str) -> bool:
    return row.kind != "group" and len(cell) > _LONGEST_NAME


def _inline(text: str) -> str:
    text = html.escape(text, quote=False)
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", text)
    return re.sub(r"\*\*([^*]+)\*\*", r"<strong>\1</strong>", text)
