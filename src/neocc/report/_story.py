"""The part of the page about the choices: what the data look like, what was done with them, why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from neocc._typing import FloatArray
from neocc.io import RunRecord
from neocc.report._charts import curve
from neocc.report._html import Markup, element, shorten
from neocc.report._pieces import NOTHING, section

__all__ = ["means_before", "story"]

_LONGEST, _MOST = 2000, 40


def story(record: RunRecord | None) -> Markup:
    """Tell the story that a record has, on one card."""
    told = _story_of(record)
    if told is None:
        return NOTHING
    chosen = [
        part
        for one in _lines(told, "chosen")
        for part in (element("dt", _text(one, "what")), element("dd", _text(one, "why")))
    ]
    sure = [element("li", shorten(str(line), _LONGEST)) for line in _lines(told, "sure")]
    after = [
        element("li", f"{_text(one, 'what')}: ", element("code", _text(one, "command")))
        for one in _lines(told, "next")
    ]
    parts = [
        element("h3", "The data"),
        element("p", _text(told, "data")),
        *_titled("Chosen for you", "dl", chosen),
        *_titled("How well numbers of groups predict", "div", list(_held_out(told))),
        *_titled("How sure", "ul", sure),
        *_titled("What to try next", "ul", after),
    ]
    return section("story", "What was done, and why", element("div", *parts, class_="card story"))


def _held_out(told: Mapping[str, Any]) -> Iterator[Markup]:
    """Draw the error of cells that were held out over the number of groups of each side."""
    sides = told.get("held_out")
    for side, one in sides.items() if isinstance(sides, Mapping) else ():
        try:
            errors, number = np.array(one["error"], dtype=np.float64), int(one["number"])
        except (KeyError, TypeError, ValueError):
            continue
        if errors.ndim != 1 or len(errors) < 2 or not np.isfinite(errors).all():
            continue
        said = f"Held-out error with 1 to {len(errors)} groups of {side}"
        text = f"{said}; the larger point is at {number}"
        ends = ("1 group", f"{len(errors)} groups")
        drawing = curve(errors, text, ends, number - 1)
        yield element("figure", drawing, element("figcaption", f"{text}."))


def means_before(record: RunRecord | None, shape: tuple[int, ...]) -> FloatArray | None:
    """Return the means of blocks in the units of the file, if the record has them."""
    told = _story_of(record)
    means = None if told is None else told.get("block_means")
    try:
        found = np.array(means, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    return found if found.shape == shape else None


def _story_of(record: RunRecord | None) -> Mapping[str, Any] | None:
    told = None if record is None else record.settings.get("story")
    return told if isinstance(told, Mapping) else None


def _lines(told: Mapping[str, Any], name: str) -> list[Any]:
    lines = told.get(name)
    return lines[:_MOST] if isinstance(lines, list) else []


def _text(told: Any, name: str) -> str:
    text = told.get(name, "") if isinstance(told, Mapping) else told
    return shorten(str(text), _LONGEST)


def _titled(title: str, tag: str, children: list[Markup]) -> list[Markup]:
    return [element("h3", title), element(tag, *children)] if children else []
