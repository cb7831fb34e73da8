"""Pictures of the results. matplotlib is imported when one is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from neocc._extras import need

if TYPE_CHECKING:
    from neocc.core.objectives import Side
    from neocc.selection._overlap_estimate import OverlapEstimate
    from neocc.selection._predicted import PredictedClusters
    from neocc.selection._stability_result import Stability
    from neocc.selection._suggested import SuggestedClusters

_MOST_POINTS = 5000
_CROSS = "#c1121f"


def new_axes(ax: Any = None, **options: Any) -> Any:
    """Return the axes given, or those of a new figure."""
    if ax is not None:
        return ax
    return need("matplotlib.pyplot").subplots(layout="constrained", **options)[1]


def plot_overlap(estimate: OverlapEstimate, ax: Any) -> Any:
    """Draw the items of an estimate by their distances to the two nearest centres."""
    ax = new_axes(ax, figsize=(6.4, 4.8))
    step = -(-estimate.n_items // _MOST_POINTS)
    some = slice(None, None, step)
    x, y, pairs = (
        values[some] for values in (estimate.left, estimate.second_nearest, estimate.item_pairs)
    )
    for count in np.unique(pairs):
        at = pairs == count
        colour = _shade(int(count), int(pairs.max()))
        ax.scatter(x[at], y[at], s=10, color=colour, linewidths=0, label=str(count), zorder=2)
    out = estimate.left > estimate.outlier_threshold
    if out.any():
        places = estimate.left[out], estimate.second_nearest[out]
        ax.scatter(*places, s=36, color=_CROSS, marker="x", zorder=3, label="outlier")
    ax.axvline(
        estimate.outlier_threshold, color=_CROSS, lw=1, ls="--", zorder=1, label="outlier limit"
    )
    ends = [float(x.min()), float(estimate.left.max())]
    ax.plot(ends, ends, color="0.7", lw=1, zorder=1, label="equally far")
    ax.set_xlabel("distance to the nearest centre")
    ax.set_ylabel("distance to the second nearest centre")
    name = estimate.side.capitalize()
    drawn = "" if step == 1 else f" (every {step}th drawn)"
    ax.set_title(f"{name}: overlap {estimate.overlap:.3g}, outliers {estimate.outliers:.3g}{drawn}")
    extra = estimate.strategy == "first" or not estimate.count_home
    title = "further clusters" if extra else "clusters"
    ax.legend(title=title, loc="upper left", bbox_to_anchor=(1, 1), frameon=False, markerscale=1.5)
    return ax


def plot_path(estimate: OverlapEstimate, ax: Any) -> Any:
    """Draw what overlap gains over disjoint clusters, and what other explanations gain."""
    ax = new_axes(ax, figsize=(6.4, 4.8))
    shown = estimate.overlap + estimate.outliers
    name = estimate.side.capitalize()
    ax.set_title(f"{name}: overlap {estimate.overlap:.3g}, outliers {estimate.outliers:.3g}")
    ax.set_xlabel(f"further memberships per {estimate.side[:-1]}")
    ax.set_ylabel("gain over disjoint clusters (log-likelihood, BIC)")
    references = estimate.references or {}
    if estimate.path is None or not estimate.path.size or not references:
        ax.text(0.5, 0.5, "nothing to compare", ha="center", transform=ax.transAxes)
        return ax
    overlap, gain = estimate.path
    ax.plot(overlap, gain, color=_shade(7, 10), lw=2, zorder=3, label="means of clusters")
    believed = shown > 0
    label = "estimate" if believed else "best, not believed"
    style = {"color": _shade(7, 10), "mfc": None if believed else "white"}
    ax.plot(overlap[gain.argmax()], gain.max(), "o", ms=8, zorder=4, label=label, **style)
    dashes = ("-", "--", "-.", ":")
    order = sorted(references, key=lambda each: -references[each])
    for dash, each in zip(dashes, order, strict=False):
        ax.axhline(references[each], color=_CROSS, lw=1, ls=dash, zorder=2, label=each)
    highest, lowest = max(gain.max(), *references.values()), min(0.0, *references.values())
    room = max(highest - lowest, 2.0 * estimate.margin, 1.0)
    ax.set_ylim(max(lowest, highest - 2.0 * room) - 0.1 * room, highest + 0.1 * room)
    ax.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
    return ax


def plot_suggested(suggested: SuggestedClusters, name: str, ax: Any) -> Any:
    """Draw a field of the table over the grid; colours resolve the upper half of its values."""
    ax = new_axes(ax, figsize=(6.4, 4.8))
    table = suggested.table
    rows, i = np.unique(table["n_row_clusters"], return_inverse=True)
    columns, j = np.unique(table["n_column_clusters"], return_inverse=True)
    values = np.full((len(rows), len(columns)), np.nan)
    values[i, j] = table[name]
    known = values[np.isfinite(values)]
    low, high = (np.median(known), known.max()) if len(known) else (0.0, 1.0)
    image = ax.imshow(values, origin="lower", cmap="viridis", vmin=low, vmax=high, aspect="auto")
    for rank, row, column in zip(table["rank"][:3], i, j, strict=False):
        dark = values[row, column] < 0.5 * (low + high)
        colour = "white" if dark else "black"
        ax.text(column, row, str(rank), ha="center", va="center", color=colour, weight="bold")
    ax.set_xticks(range(len(columns)), [str(value) for value in columns])
    ax.set_yticks(range(len(rows)), [str(value) for value in rows])
    ax.set_xlabel("column clusters")
    ax.set_ylabel("row clusters")
    best = suggested.best
    by = suggested.criteria[0]
    ax.set_title(f"{name} (first by {by}: {best[0]} row and {best[1]} column clusters)")
    ax.figure.colorbar(image, ax=ax, extend="min", label=name)
    return ax


def plot_predicted(found: PredictedClusters, ax: Any) -> Any:
    """Draw the held-out error by number of clusters, that of one cluster being 1."""
    ax = new_axes(ax, figsize=(6.4, 4.8))
    for each, shade, marker in zip(found.sides, (8, 4), "os", strict=True):
        whole = float(each.errors[0]) or 1.0
        numbers, error = np.arange(1, each.largest + 1), each.errors / whole
        colour, width = _shade(shade, 10), each.standard_errors / whole
        ax.fill_between(numbers, error - width, error + width, color=colour, alpha=0.2, lw=0)
        ax.plot(numbers, error, marker=marker, ms=4, lw=1.5, color=colour, label=each.side)
        number = each.number if each.overlapping is None else each.overlapping
        if number <= each.largest:
            ax.plot(number, error[number - 1], "o", ms=14, mfc="none", mec=_CROSS, mew=2, zorder=4)
    k, l = found.best  # noqa: E741
    ax.plot([], [], "o", ms=10, mfc="none", mec=_CROSS, mew=2, label="chosen")
    ax.set_xlabel("number of clusters")
    ax.set_ylabel("held-out error (one cluster = 1)")
    ax.xaxis.get_major_locator().set_params(integer=True)
    sure = "" if found.is_clear else ", unclear"
    ax.set_title(f"Prediction: {k} row and {l} column clusters{sure}")
    ax.legend(frameon=False)
    return ax


def plot_stability(found: Stability, side: Side, ax: Any) -> Any:
    """Draw the confidences of all items as bars, sorted within their clusters."""
    ax = new_axes(ax, figsize=(6.4, 4.8))
    name = side[:-1]
    items, members = getattr(found, f"{name}_confidence"), getattr(found, f"{name}_membership")
    groups = [np.sort(items[inside])[::-1] for inside in members.T]
    outside = np.sort(items[~members.any(axis=1)])[::-1]
    labels = [str(i) for i in range(len(groups))]
    if len(outside):
        groups, labels = [*groups, outside], [*labels, "none"]
    space = max(1.0, 0.02 * sum(map(len, groups)))
    start, middles = 0.0, []
    clusters = getattr(found, f"{name}_cluster_confidence")
    for i, values in enumerate(groups):
        ends = start + np.arange(len(values) + 1)
        colour = _shade(i % 10, 10) if i < len(clusters) else "0.6"
        ax.stairs(values, ends, fill=True, color=colour)
        if i < len(clusters):
            ax.plot(ends[[0, -1]], [clusters[i]] * 2, color=_CROSS, lw=2)
        middles.append(start + 0.5 * len(values))
        start = ends[-1] + space
    ax.set_xticks(middles, labels)
    ax.set_ylim(0, 1.02)
    ax.set_xlabel(f"{name} cluster (red: confidence of the cluster)")
    ax.set_ylabel(f"confidence of each {name}")
    ax.set_title(f"{side.capitalize()} over {len(found.objectives)} runs ({found.method})")
    return ax


def _shade(value: int, highest: int) -> Any:
    """Return a colour from pale (0) to strong (`highest`)."""
    return need("matplotlib.pyplot").get_cmap("viridis_r")(0.1 + 0.85 * value / max(highest, 1))
