"""A small 0/1 matrix drawn with characters, cut into bands by its clusters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.text import Text

from neocc._typing import FloatArray
from neocc.plot.arrange import Segment

__all__ = ["ASCII", "UNICODE", "Band", "Glyphs", "bands", "draw", "whole"]

# Middle tones of the 256 colours, legible on dark and on light backgrounds. Every band also has a
# tag, and overlaps and outliers a character of their own: colour repeats, it never tells alone.
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


@dataclass(frozen=True)
class Band:
    """Neighbouring rows or columns of a picture.

    Attributes
    ----------
    items : tuple of int
        The rows (or columns) of the data, in the order to draw them.
    tag : str
        What to write beside them, at most three characters.
    style : str
        How rich should colour them; used for rows only, one set of colours is enough.
    is_overlap, is_outlier : bool
        Which character to draw them with.
    """

    items: tuple[int, ...]
    tag: str = ""
    style: str = ""
    is_overlap: bool = False
    is_outlier: bool = False


def whole(n_items: int) -> list[Band]:
    """Make one band of all items in the order of the data.

    Examples
    --------
    >>> from neocc.cli._picture import whole
    >>> whole(3)[0].items
    (0, 1, 2)
    """
    return [Band(tuple(range(n_items)))]


def bands(segments: Sequence[Segment], cluster_names: Sequence[str]) -> list[Band]:
    """Give every segment its tag and its colour.

    Examples
    --------
    >>> import numpy as np
    >>> from neocc.cli._picture import bands
    >>> from neocc.plot.arrange import arrange
    >>> membership = np.array([[1, 0], [1, 1], [0, 1], [0, 0]], dtype=bool)
    >>> [band.tag for band in bands(arrange(membership).segments, ["A", "B"])]
    ['A', 'A+B', 'B', 'out']
    """
    return [
        Band(tuple(s.items.tolist()), _tag(s, cluster_names), _style(s), s.is_overlap, s.is_outlier)
        for s in segments
    ]


def _tag(segment: Segment, cluster_names: Sequence[str]) -> str:
    names = [cluster_names[cluster] for cluster in segment.clusters]
    if len(names) > 2:
        return "".join(names)
    return "+".join(names) or "out"


def _style(segment: Segment) -> str:
    if segment.is_outlier:
        return _OUTLIER_STYLE
    if segment.is_overlap:
        return _OVERLAP_STYLE
    return _CLUSTER_STYLES[segment.clusters[0] % len(_CLUSTER_STYLES)]


def draw(
    X: FloatArray,
    row_names: Sequence[str],
    column_names: Sequence[str],
    row_bands: Sequence[Band],
    column_bands: Sequence[Band],
    glyphs: Glyphs = UNICODE,
) -> Text:
    """Draw the non-zero cells of a matrix, band by band, with rules between bands.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_columns)
        The matrix.
    row_names, column_names : sequence of str
        Names of rows and of columns; those of columns have at most three characters.
    row_bands, column_bands : sequence of Band
        The rows and the columns in the order to draw them.
    glyphs : Glyphs, default=UNICODE
        The characters to draw with.

    Returns
    -------
    picture : rich.text.Text
        One line a row, and one or two lines of head.

    Examples
    --------
    >>> import numpy as np
    >>> from neocc.cli._picture import ASCII, draw, whole
    >>> print(draw(np.eye(2), ["one", "two"], ["x", "y"], whole(2), whole(2), ASCII))
               x   y
    one        #   .
    two        .   #
    """
    width = max(map(len, row_names))
    blank = " " * (width + 5)
    lines = []
    if any(band.tag for band in column_bands):
        tags = [Text(f"{b.tag:^{_span(b)}}", "bold") for b in column_bands]
        lines.append(_line(blank, tags, glyphs.vertical))
    heads = [Text(" ".join(f"{column_names[t]:>3}" for t in b.items)) for b in column_bands]
    lines.append(_line(blank, heads, glyphs.vertical))
    rules = [Text(glyphs.horizontal * _span(band)) for band in column_bands]
    rule = _line(glyphs.horizontal * len(blank), rules, glyphs.cross)
    for band in row_bands:
        if band.tag:
            lines.append(rule)
        for p in band.items:
            cells = [_cells(X[p], band, columns, glyphs) for columns in column_bands]
            head = Text.assemble(f"{row_names[p]:<{width}} ", (f"{band.tag:<4}", band.style))
            lines.append(_line(head, cells, glyphs.vertical))
    return Text("\n", no_wrap=True, overflow="crop").join(lines)


def _span(columns: Band) -> int:
    """Width of a band: three characters a column and one between two."""
    return 4 * len(columns.items) - 1


def _line(head: str | Text, parts: Sequence[Text], separator: str) -> Text:
    line = Text.assemble(head, Text(separator).join(parts))
    line.rstrip()
    return line


def _cells(values: FloatArray, rows: Band, columns: Band, glyphs: Glyphs) -> Text:
    if rows.is_outlier or columns.is_outlier:
        mark, style = glyphs.outlier, _OUTLIER_STYLE
    elif rows.is_overlap or columns.is_overlap:
        mark, style = glyphs.overlap, _OVERLAP_STYLE
    else:
        mark, style = glyphs.member, rows.style
    cells = [
        Text(f" {mark} ", style) if values[t] else Text(f" {glyphs.zero} ", "dim")
        for t in columns.items
    ]
    return Text(" ").join(cells)
