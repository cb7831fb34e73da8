"""What the parts of the page are made of."""

from __future__ import annotations

from collections.abc import Sequence

from neocc.plot._style import HATCHES, PALETTE
from neocc.report._html import Markup, element
from neocc.report._scale import readable_on

__all__ = ["NOTHING", "crossed", "look", "look_rules", "note", "section", "swatch", "table"]

NOTHING = Markup()
_WIDE = 16  # columns


def section(key: str, title: str, *children: Markup | str) -> Markup:
    """Make a part of the page with its heading."""
    heading = element("h2", title, id=f"{key}-title")
    return element("section", heading, *children, id=key, aria_labelledby=f"{key}-title")


def note(*children: Markup | str) -> Markup:
    """Make a paragraph that explains."""
    return element("p", *children, class_="note")


def swatch(cluster: int) -> Markup:
    """Draw the colour and the pattern of a group."""
    return element("span", class_=f"swatch {look(cluster)}", aria_hidden="true")


def look(cluster: int) -> str:
    """Return the style classes of a group: its colour and, from the eighth on, its pattern."""
    turn, place = divmod(cluster, len(PALETTE))
    pattern = turn % len(HATCHES)
    return f"c{place} p{pattern}" if pattern else f"c{place}"


def look_rules() -> str:
    """Return the style rules of the colours; patterns are drawn in what stands out on them."""
    return "\n".join(
        f".c{place} {{ background-color: {colour}; --mark: {readable_on(colour)}; }}"
        for place, colour in enumerate(PALETTE)
    )


def table(
    heads: Sequence[Markup | str],
    lines: Sequence[Markup],
    class_: str,
    caption: str | None = None,
) -> Markup:
    """Make a table of lines; with no heads, there is no line of them."""
    cells = (element("th", text, scope="col") for text in heads)
    return element(
        "table",
        NOTHING if caption is None else element("caption", caption),
        element("thead", element("tr", *cells)) if heads else NOTHING,
        element("tbody", *lines),
        class_=class_,
    )


def crossed(heads: Sequence[Markup | str], lines: Sequence[Markup], caption: str) -> Markup:
    """Make a table of counts with a column for each group, which scrolls where it is too wide."""
    class_ = "contingency narrow" if len(heads) > _WIDE else "contingency"
    return element("div", table(heads, lines, class_, caption), class_="scrolls", tabindex="0")
