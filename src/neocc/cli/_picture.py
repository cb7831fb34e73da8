"""A small 0/1 matrix drawn with characters, cut by its clusters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from rich.text import Text

from neocc._typing import FloatArray
from neocc.plot.arrange import Segment

__all__ = ["ASCII", "UNICODE", "Glyphs", "Side", "draw"]

# Middle tones of the 256 colours, legible on dark and on light backgrounds. Every segment also has
# a tag, and overlaps and outliers a character of their own: colour repeats, it never tells alone.
_CLUSTER_STYLES = ("deep_sky_blue3", "dark_orange3", "medium_purple3")
_OVERLAP_STYLE = "bold green3"
_OUTLIER_STYLE = "dim"


@dataclass(frozen=True)
class Glyphs:
    """The characters of a picture."""

    member: str
    overlap: str
    outlier: str
    zero: str
    vertical: str
    horizontal: str
    cross: str
    arrow: str
    bar: str


UNICODE = Glyphs("■", "◆", "□", "·", "│", "─", "┼", "→", "█")
ASCII = Glyphs("#", "@", "o", ".", "|", "-", "+", "->", "#")


@dataclass(frozen=True, eq=False)
class Side:
    """The rows or the columns of a picture."""

    names: Sequence[str]  # of the items; those of columns have at most three characters
    segments: Sequence[Segment]  # the items in the order to draw them
    clusters: Sequence[str] = ()  # names of one character; none where items are in no groups yet

    @classmethod
    def unsorted(cls, names: Sequence[str]) -> Side:
        """Make a side of items in the order of the data."""
        return cls(names, [Segment((0,), np.arange(len(names)))])

    def tag(self, segment: Segment) -> str:
        """Return what to write beside a segment, at most three characters."""
        if not self.clusters:
            return ""
        names = [self.clusters[cluster] for cluster in segment.clusters]
        return "".join(names) if len(names) > 2 else "+".join(names) or "out"

    def style(self, segment: Segment) -> str:
        """Return how rich should colour a segment; used for rows only, one colouring is enough."""
        if segment.is_outlier:
            return _OUTLIER_STYLE
        if segment.is_overlap:
            return _OVERLAP_STYLE
        own = segment.clusters[0] % len(_CLUSTER_STYLES)
        return _CLUSTER_STYLES[own] if self.clusters else ""


def draw(X: FloatArray, rows: Side, columns: Side, glyphs: Glyphs = UNICODE) -> Text:
    """Draw the non-zero cells of a matrix, segment by segment, with rules between them.

    Examples
    --------
    >>> import numpy as np
    >>> from neocc.cli._picture import ASCII, Side, draw
    >>> print(draw(np.eye(2), Side.unsorted(["one", "two"]), Side.unsorted(["x", "y"]), ASCII))
               x   y
    one        #   .
    two        .   #
    """
    width = max(map(len, rows.names))
    blank = " " * (width + 5)
    # Three characters a column and one between two.
    spans = [4 * len(part.items) - 1 for part in columns.segments]
    lines = []
    if columns.clusters:
        tagged = zip(columns.segments, spans, strict=True)
        tags = [Text(f"{columns.tag(part):^{span}}", "bold") for part, span in tagged]
        lines.append(_line(blank, tags, glyphs.vertical))
    heads = [
        Text(" ".join(f"{columns.names[item]:>3}" for item in part.items))
        for part in columns.segments
    ]
    lines.append(_line(blank, heads, glyphs.vertical))
    rules = [Text(glyphs.horizontal * span) for span in spans]
    rule = _line(glyphs.horizontal * len(blank), rules, glyphs.cross)
    for part in rows.segments:
        if rows.clusters:
            lines.append(rule)
        style = rows.style(part)
        for item in part.items:
            cells = [_cells(X[item], part, other, style, glyphs) for other in columns.segments]
            head = Text.assemble(f"{rows.names[item]:<{width}} ", (f"{rows.tag(part):<4}", style))
            lines.append(_line(head, cells, glyphs.vertical))
    return Text("\n", no_wrap=True, overflow="crop").join(lines)


def _line(head: str | Text, parts: Sequence[Text], separator: str) -> Text:
    line = Text.assemble(head, Text(separator).join(parts))
    line.rstrip()
    return line


def _cells(values: FloatArray, rows: Segment, columns: Segment, style: str, glyphs: Glyphs) -> Text:
    mark = glyphs.member
    if rows.is_outlier or columns.is_outlier:
        mark, style = glyphs.outlier, _OUTLIER_STYLE
    elif rows.is_overlap or columns.is_overlap:
        mark, style = glyphs.overlap, _OVERLAP_STYLE
    cells = [
        Text(f" {mark} ", style) if values[item] else Text(f" {glyphs.zero} ", "dim")
        for item in columns.items
    ]
    return Text(" ").join(cells)
