"""HTML that cannot be broken by what is written into it: every text is escaped on its way in."""

from __future__ import annotations

import json
import re
from html import escape
from typing import Any

__all__ = [
    "LONGEST_KEPT",
    "LONGEST_NAME",
    "Markup",
    "element",
    "joined",
    "name",
    "script_json",
    "shorten",
    "without_whole_names",
]

# Control characters, halves of characters, and those that turn the direction of all that follows.
_UNWANTED = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_ESCAPES = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}
_TITLED = re.compile(r'<(bdi|td class="e[^"]*") title="[^"]*">')
_VOID = frozenset({"br", "circle", "input", "meta", "polyline", "rect", "stop"})
LONGEST_NAME = 60
"""Letters of a name that are shown."""
LONGEST_KEPT = 1_000
"""Letters of a name that can be found."""


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def element(tag: str, *children: Any, **attributes: Any) -> Markup:
    """Make an element; children that are not markup are escaped.

    Names of attributes are written with `_` for `-`, and with a final `_` where Python needs the
    word. An attribute that is None is left out.

    Examples
    --------
    >>> from neocc.report._html import element
    >>> element("p", "a < b", element("b", 1), class_="note", aria_label='"x"')
    '<p class="note" aria-label="&quot;x&quot;">a &lt; b<b>1</b></p>'
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(str(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if tag in _VOID:
        return Markup(f"<{tag}{written}/>")
    return Markup(f"<{tag}{written}>{joined(*children)}</{tag}>")


def joined(*children: Any) -> Markup:
    """Put markup and texts one after the other."""
    parts = (
        part if isinstance(part, Markup) else escape(str(part), quote=False) for part in children
    )
    return Markup("".join(parts))


def name(text: str, most: int = LONGEST_NAME) -> Markup:
    """Write the name of a row or a column, which may be of any script and direction.

    A long one is cut in its middle, and whole where the pointer rests on it.

    Examples
    --------
    >>> from neocc.report._html import name
    >>> name("ann")
    '<bdi>ann</bdi>'
    """
    short = shorten(text, most)
    return element("bdi", short, title=None if short == text else text)


def without_whole_names(page: str) -> str:
    """Leave out what stands where the pointer rests: whole names, and words about counts."""
    return _TITLED.sub(r"<\1>", page)


def shorten(text: str, most: int = LONGEST_NAME) -> str:
    r"""Cut a text in its middle, and take out what cannot be shown.

    Examples
    --------
    >>> from neocc.report._html import shorten
    >>> shorten("from the beginning to the end", 12), shorten("two\nlines")
    ('from t…e end', 'two lines')
    """
    text = _UNWANTED.sub(" ", text)
    if len(text) <= most:
        return text
    tail = (most - 1) // 2
    return text[: most - 1 - tail] + "…" + text[len(text) - tail :]


def script_json(value: Any) -> Markup:
    r"""Write JSON that can stand inside a script element: nothing in it can end that element.

    Examples
    --------
    >>> from neocc.report._html import script_json
    >>> print(script_json(["</script>"]))
    ["\u003c/script\u003e"]
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Markup(text.translate(_ESCAPES))
