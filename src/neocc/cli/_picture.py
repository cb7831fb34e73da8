"""A small 0/1 matrix drawn with characters, cut by its clusters.

Every segment has a tag, and overlaps and outliers a character of their own: colour repeats what
the characters tell.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from rich.text import Text

from neocc._typing import FloatArray
from neocc.plot.arrange import Segment

__all__ = ["ASCII", "UNICODE", "Glyphs", "Side", "draw"]

# Middle tones of the 256 colours, legible on dark and on light backgrounds.
_CLUSTER_STYLES = ("deep_sky_blue3", "dark_orange3", "medium_purple3")
_OVERLAP_STYLE = "bold green3"


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

    def of(self, rows: Segment, columns: Segment) -> str:
        """Return the character of the cells that two segments share, where they are not zero."""
        if rows.is_outlier or columns.is_outlier:
            return self.outlier
        return self.overlap if rows.is_overlap or columns.is_overlap else self.member


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
        if segment.is_outlier or segment.is_overlap:
            return "dim" if segment.is_outlier else _OVERLAP_STYLE
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
    # Three characters a column and one between two.
    spans = [(part, 4 * len(part.items) - 1) for part in columns.segments]
    lines = []

    def add(name: str, tag: str, parts: Sequence[str], style: str = "") -> None:
        cells = Text(f"{tag:<4}{glyphs.vertical.join(parts)}".rstrip(), style)
        cells.highlight_words([glyphs.vertical], "not bold default")
        cells.highlight_words([glyphs.zero, glyphs.outlier], "not bold dim default")
        cells.highlight_words([glyphs.overlap], _OVERLAP_STYLE)
        lines.append(Text.assemble(f"{name:<{width}} ", cells))

    if columns.clusters:
        add("", "", [f"{columns.tag(part):^{span}}" for part, span in spans], "bold")
    add("", "", [" ".join(f"{columns.names[at]:>3}" for at in part.items) for part, _ in spans])
    rule = glyphs.cross.join(glyphs.horizontal * span for _, span in spans)
    for part in rows.segments:
        if rows.clusters:
            lines.append(Text(glyphs.horizontal * (width + 5) + rule))
        for item in part.items:
            cells = [
                " ".join(
                    f" {glyphs.of(part, other) if X[item, at] else glyphs.zero} "
                    for at in other.items
                )
                for other, _ in spans
            ]
            add(rows.names[item], rows.tag(part), cells, rows.style(part))
    return Text("\n", no_wrap=True, overflow="crop").join(lines)
