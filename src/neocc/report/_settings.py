"""The part of the page about settings and the run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from neocc.io import RunRecord
from neocc.report._html import Markup, element, shorten
from neocc.report._pieces import NOTHING, note, section, table
from neocc.report._result import Result

__all__ = ["settings"]

_LONGEST_VALUE, _MOST_LINES, _SHORT = 120, 100, 8


def settings(result: Result, given: Mapping[str, Any] | None, record: RunRecord | None) -> Markup:
    """Tabulate what was asked for, what came of it, and how to repeat it."""
    model = result.model
    if given is None:
        given = model.get_params(deep=False) if hasattr(model, "get_params") else {}
    tables = [
        _pairs(f"{type(model).__name__} was asked for", given),
        _pairs("It arrived at", _arrived(model)),
    ]
    if record is not None:
        tables += [_pairs("The run", _run(record)), _pairs("Versions", record.versions)]
    numbers = (
        "Groups, rows and columns are numbered from 1 here and in the tables of a result; in "
        "Python, group 1 is the first column of a membership matrix."
    )
    return section(
        "settings", "Settings", element("div", *tables, class_="settings"), note(numbers)
    )


def _arrived(model: Any) -> dict[str, Any]:
    names = ("objective_", "n_iter_")
    found = {name.rstrip("_"): getattr(model, name) for name in names if hasattr(model, name)}
    for side in ("row", "column"):
        estimate = getattr(model, f"{side}_estimate_", None)
        if estimate is not None:
            found[f"{side}_overlap, estimated"] = estimate.overlap
            found[f"{side}_outliers, estimated"] = estimate.outliers
    return found


def _run(record: RunRecord) -> dict[str, Any]:
    run: dict[str, Any] = {"time": record.created, "seed": record.seed}
    if record.input is not None:
        run["file"] = record.input.path
        run["sha256"] = record.input.sha256
        run["format"] = record.input.format
        run.update(record.input.options)
    return run


def _pairs(title: str, pairs: Mapping[str, Any]) -> Markup:
    if not pairs:
        return NOTHING
    lines = [
        element(
            "tr",
            element("th", shorten(str(key)), scope="row"),
            element("td", shorten(_value(value), _LONGEST_VALUE)),
        )
        for key, value in list(pairs.items())[:_MOST_LINES]
    ]
    return table((), lines, "pairs", title)


def _value(value: Any) -> str:
    """Write a value; one that is neither a word, a number nor a short list is named by its type."""
    if isinstance(value, float | np.floating):
        return f"{value:.10g}"
    if value is None or isinstance(value, str | int | np.integer | np.bool_):
        return str(value)
    if isinstance(value, tuple | list) and len(value) <= _SHORT:
        return ", ".join(map(_value, value))
    return f"given: {type(value).__name__}"
