"""The parts of the page about the whole: the answer, the matrix, the blocks, the objective."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from neocc._typing import FloatArray
from neocc.io import RunRecord
from neocc.plot._words import fall, step_name
from neocc.report._charts import curve, legend, stacked_bar
from neocc.report._data import Picture
from neocc.report._explained import explained
from neocc.report._html import Markup, element, joined
from neocc.report._pieces import NOTHING, note, section, swatch, table
from neocc.report._result import Result
from neocc.report._scale import LEVELS, Scale, scale_for, shade_rules
from neocc.report._side import Side
from neocc.report._story import means_before
from neocc.report._words import figure, figure_of

__all__ = ["block_styles", "blocks", "composition", "convergence", "matrix"]

_MOST_BLOCKS, _WIDE = 900, 14
_KINDS = {"one group": "one", "several": "several", "none": "none"}


def composition(sides: Sequence[Side]) -> Markup:
    """Draw and say how many items are in one group, in several, in none."""
    lines = []
    for side in sides:
        keys = [
            element("span", element("b", f"{count:,}"), f" in {words}", class_=f"key {class_}")
            for count, (words, class_) in zip(side.n_in, _KINDS.items(), strict=True)
            if count
        ]
        lines += [
            element("dt", f"{side.n_items:,} {side.noun}"),
            element("dd", stacked_bar(side.n_in), element("span", *keys, class_="keys")),
        ]
    return element("dl", *lines, class_="composition")


# --------------------------------------------------------------------------------------- matrix


def matrix(result: Result, picture: Picture) -> Markup:
    """Make the frame that the script draws the matrix into, and its controls."""
    rows, columns = result.nouns
    keys = (
        "Arrow keys read cell by cell, plus and minus zoom, 0 shows everything, Escape clears what "
        "was chosen."
    )
    canvas = element(
        "canvas",
        id="picture",
        tabindex="0",
        role="application",
        aria_label=f"The matrix of {rows} and {columns}. {keys}",
    )
    hint = "The wheel zooms, dragging moves, arrow keys read cell by cell."
    tools = element(
        "div",
        element("button", "+", type="button", id="zoom-in", aria_label="Zoom in"),
        element("button", "−", type="button", id="zoom-out", aria_label="Zoom out"),
        element("button", "Show all", type="button", id="zoom-all"),
        element("span", hint, class_="hint"),
        class_="tools",
        role="group",
        aria_label="Zoom",
    )
    which = "observed cells" if result.observed else "cells"
    what = "value" if picture.is_exact else f"mean of the {which} at a point"
    what += "; blank where nothing was observed" if result.observed else ""
    caption = element(
        "div",
        element("div", element("p", what), legend(picture.scale)),
        element("p", id="status", role="status", aria_live="polite"),
        class_="legend",
    )
    tooltip = element("div", id="tooltip", hidden="hidden")
    stage = element("div", tools, canvas, tooltip, caption, class_="stage")
    return section(
        "matrix",
        "The matrix, sorted by what was found",
        note(_order_in_words(result, picture)),
        element("noscript", note("A script draws the matrix, and scripts are turned off here.")),
        element("div", stage, _panel(result), class_="explorer"),
    )


def _order_in_words(result: Result, picture: Picture) -> str:
    nouns = " and ".join(side.noun for side in result.sides)
    text = (
        f"{nouns[:1].upper()}{nouns[1:]} of the same groups stand together, and similar groups "
        "side by side; the bars show who is in which group."
    )
    if any(side.n_in[2] for side in result.sides):
        text += " Those in no group stand apart at the end."
    if not picture.is_exact:
        bins = " × ".join(f"{n_bins:,}" for n_bins in picture.cells.shape)
        cells = " × ".join(f"{size:,}" for size in result.matrix.shape)
        text += f" The matrix has {cells} cells, shown here as {bins} points, each a mean of cells"
        text += " that were observed." if result.observed else "."
    return text


def _panel(result: Result) -> Markup:
    """Make what stands beside the matrix: search, and groups to choose."""
    rows, columns = result.nouns
    search = element(
        "div",
        element("label", "Find by name", for_="search"),
        element(
            "input",
            type="search",
            id="search",
            placeholder=f"{rows} or {columns}",
            autocomplete="off",
            spellcheck="false",
        ),
        element("ul", id="results", aria_label="Names found"),
    )
    choices = [
        element("fieldset", element("legend", f"Groups of {side.noun}"), id=f"choose-{key}")
        for key, side in zip(("rows", "columns"), result.sides, strict=False)
    ]
    clear = element("button", "Clear choice", type="button", id="clear", disabled="disabled")
    return element("div", search, *choices, clear, class_="panel")


# --------------------------------------------------------------------------------------- blocks


def blocks(result: Result, record: RunRecord | None = None) -> Markup:
    """Tabulate the means of all blocks, in small those in the units of the file."""
    columns, means = result.columns, _block_means(result)
    if columns is None or means is None:
        return NOTHING
    rows = result.rows
    title = "How the groups meet"
    if means.size > _MOST_BLOCKS:
        size = f"{rows.n_clusters:,} × {columns.n_clusters:,}"
        return section("blocks", title, note(f"There are {size} blocks, too many for a table."))
    scale = scale_for(means, kind=result.measure.limits)
    units = means_before(record, means.shape)
    lines = [
        element(
            "tr",
            element("th", _block_head(rows, i), scope="row"),
            *(_block_cell(rows, (i, j), float(mean), scale, units) for j, mean in enumerate(line)),
        )
        for i, line in enumerate(means)
    ]
    corner = joined(f"{rows.noun} ↓", element("br"), f"{columns.noun} →")
    heads = [corner, *(_block_head(columns, cluster) for cluster in range(columns.n_clusters))]
    text = (
        f"The {result.measure.noun} of every block: groups of {rows.noun} down, groups of "
        f"{columns.noun} across, with their sizes."
    )
    if units is not None:
        text += " Below each, the mean of its values as they stand in the file."
    class_ = "blocks narrow" if columns.n_clusters > _WIDE else "blocks"
    shown = element("div", table(heads, lines, class_), class_="scrolls", tabindex="0")
    return section("blocks", title, note(text, _about_blocks(result, means)), shown)


def _about_blocks(result: Result, means: FloatArray) -> str:
    """Say what the numbers of blocks are compared with, and which stand out."""
    measure, (rows, columns) = result.measure, result.nouns
    text = ""
    if measure.is_ratio:
        text = (
            f" A lift of 1 is what one would expect if {rows} and {columns} had nothing to do with "
            "each other, given their totals; a lift of 2 is twice as much."
        )
        if _is_common(means):
            text += " All blocks off the diagonal have one lift in common."
    elif measure.expected is not None:
        text = (
            " What is expected of a cell follows from the effects of its row and its column: how"
            " high their values are overall."
        )
    if result.observed:
        text += " Only observed cells count"
        text += "; below each number, how many the block has." if result.rows.cells else "."
        text += " Blocks with few of them are kept near 0." if result.model.shrinkage else ""
    if result.combines:
        what = measure.plural.capitalize()
        text += f" {what} are chosen so that they also explain members of several groups."
    if measure.expected is None or not np.isfinite(means).any():
        return text
    extremes = {"highest": np.nanargmax(means), "lowest": np.nanargmin(means)}
    for word, place in extremes.items():
        if word == "lowest" and _is_common(means):
            break
        i, j = divmod(int(place), means.shape[1])
        where = f"group {i + 1} of {rows} with group {j + 1} of {columns}"
        text += f" The {word} is {where}: {measure.in_words(float(means[i, j]))}."
    return text


def _is_common(means: FloatArray) -> bool:
    """Whether all blocks off the diagonal have the same number."""
    others = means[np.eye(*means.shape) == 0]
    return others.size > 1 and bool(np.ptp(others) == 0)


def _block_means(result: Result) -> FloatArray | None:
    """Return the means of blocks, NaN for those without a cell; None where there are none."""
    means = result.clusters.means
    if result.columns is None or means is None or not means.size:
        return None
    filled = np.logical_and.outer(result.rows.sizes > 0, result.columns.sizes > 0)
    if result.rows.cells is not None:
        filled &= result.rows.cells.observed > 0
    shown: FloatArray = np.where(filled, means, np.nan)
    return shown


def _block_head(side: Side, cluster: int) -> Markup:
    size = element("small", f"({side.sizes[cluster]:,})")
    return joined(swatch(cluster), f" {cluster + 1} ", size)


def _block_cell(
    rows: Side, at: tuple[int, int], mean: float, scale: Scale, units: FloatArray | None
) -> Markup:
    measure, counted = rows.measure, NOTHING
    if units is not None and np.isfinite(units[at]):
        counted = element("small", f"file: {figure(float(units[at]))}")
    if rows.cells is not None:
        counted = element("small", rows.cells.in_words(*at))
    if np.isnan(mean):
        return element("td", "empty" if rows.cells is None else "not observed", counted)
    class_ = f"t{round(LEVELS * scale.share(mean))}"
    if measure.expected is None:
        return element("td", figure(mean), counted, class_=class_)
    words = measure.in_words(mean)
    return element("td", figure_of(measure, mean), counted, class_=class_, title=words)


def block_styles(result: Result) -> str:
    """Return the style rules that colour the table of blocks."""
    means = _block_means(result)
    if means is None:
        return ""
    return shade_rules("t", scale_for(means, kind=result.measure.limits))


# ---------------------------------------------------------------------------------- convergence


def convergence(result: Result) -> Markup:
    """Draw how the objective fell; histories of samplers and relaxations are something else."""
    history = getattr(result.model, "history_", None)
    values = np.asarray(() if history is None or isinstance(history, dict) else history)
    if values.ndim != 1 or not values.size or values.dtype.kind not in "iuf":
        return NOTHING
    values = values.astype(np.float64)
    text = fall(values)
    steps = step_name(result.model, len(values) - 1)
    told = "" if steps == "steps" else f" ({steps})"
    shown = element("figure", curve(values, text), element("figcaption", f"{text}{told}."))
    about = NOTHING
    if result.measure.is_ratio:
        about = note(f"At 0 groups explain no more than {result.background}; lower is better.")
    return section("convergence", "How the objective fell", shown, about, explained(result))
