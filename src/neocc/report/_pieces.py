"""What the parts of the page are made of."""

from __future__ import annotations

from collections.abc import Sequence

from neocc.plot._style import cluster_style
from neocc.report._html import Markup, element

__all__ = ["NOTHING", "note", "section", "swatch", "table"]

NOTHING = Markup()


def section(key: str, title: str, *children: Markup | str) -> Markup:
    """Make a part of the page with its heading."""
    heading = element("h2", title, id=f"{key}-title")
    return element("section", heading, *children, id=key, aria_labelledby=f"{key}-title")


def note(*children: Markup | str) -> Markup:
    """Make a paragraph that explains."""
    return element("p", *children, class_="note")


def swatch(cluster: int) -> Markup:
    """Draw the colour of a group."""
    colour = cluster_style(cluster)["facecolor"]
    box = element("rect", width="10", height="10", rx="2", fill=colour)
    size = {"width": "10", "height": "10", "viewBox": "0 0 10 10"}
    return element("svg", box, class_="swatch", **size, aria_hidden="true")


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
