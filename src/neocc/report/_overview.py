"""The parts of the page about the whole: the answer, the matrix, the blocks, the objective."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from neocc._typing import FloatArray
from neocc.plot._words import fall, step_name
from neocc.report._charts import curve, legend, stacked_bar
from neocc.report._data import Picture
from neocc.report._explained import explained
from neocc.report._facts import Side
from neocc.report._html import Markup, element, joined
from neocc.report._pieces import NOTHING, note, section, swatch, table
from neocc.report._result import Result
from neocc.report._scale import Scale, readable_on, scale_for
from neocc.report._words import figure

__all__ = ["block_styles", "blocks", "composition", "convergence", "matrix"]

_MOST_BLOCKS = 600
_LEVELS = 10
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
    what = "value" if picture.is_exact else "mean of the cells at a point"
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
        text += f" The matrix has {cells} cells, shown here as {bins} points, each a mean of cells."
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


def blocks(result: Result) -> Markup:
    """Tabulate the means of all blocks."""
    columns, means = result.columns, _block_means(result)
    if columns is None or means is None:
        return NOTHING
    rows = result.rows
    title = "How the groups meet"
    if means.size > _MOST_BLOCKS:
        size = f"{rows.n_clusters:,} × {columns.n_clusters:,}"
        return section("blocks", title, note(f"There are {size} blocks, too many for a table."))
    scale = scale_for(means)
    lines = [
        element(
            "tr",
            element("th", _block_head(rows, cluster), scope="row"),
            *(_block_cell(float(mean), scale) for mean in line),
        )
        for cluster, line in enumerate(means)
    ]
    corner = joined(f"{rows.noun} ↓", element("br"), f"{columns.noun} →")
    heads = [corner, *(_block_head(columns, cluster) for cluster in range(columns.n_clusters))]
    text = (
        f"The {result.level} of every block: groups of {rows.noun} down, groups of {columns.noun} "
        "across, with their sizes."
    )
    if result.combines:
        text += " Levels explain members of several groups too, by all their groups together."
    shown = element("div", table(heads, lines, "blocks"), class_="scrolls", tabindex="0")
    return section("blocks", title, note(text), shown)


def _block_means(result: Result) -> FloatArray | None:
    """Return the means of blocks, NaN for those without a cell; None where there are none."""
    means = result.clusters.means
    if result.columns is None or means is None or not means.size:
        return None
    filled = np.logical_and.outer(result.rows.sizes > 0, result.columns.sizes > 0)
    shown: FloatArray = np.where(filled, means, np.nan)
    return shown


def _block_head(side: Side, cluster: int) -> Markup:
    size = element("small", f"({side.sizes[cluster]:,})")
    return joined(swatch(cluster), f" {cluster + 1} ", size)


def _block_cell(mean: float, scale: Scale) -> Markup:
    if np.isnan(mean):
        return element("td", "empty")
    return element("td", figure(mean), class_=f"t{round(_LEVELS * scale.share(mean))}")


def block_styles(result: Result) -> str:
    """Return the style rules that colour the table of blocks."""
    means = _block_means(result)
    if means is None:
        return ""
    scale = scale_for(means)
    colours = [scale.colour(level / _LEVELS) for level in range(_LEVELS + 1)]
    return "\n".join(
        f".t{level} {{ background: {colour}; color: {readable_on(colour)}; }}"
        for level, colour in enumerate(colours)
    )


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
    return section("convergence", "How the objective fell", shown, explained(result))
