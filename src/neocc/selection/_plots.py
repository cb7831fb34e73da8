"""Pictures of the results. matplotlib is imported when one is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from neocc.selection._overlap_estimate import OverlapEstimate

_MOST_POINTS = 5000
_CROSS = "#c1121f"


def new_axes(ax: Any = None, **options: Any) -> Any:
    """Return the axes given, or those of a new figure."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError('plot needs matplotlib: pip install "neocc[plot]"') from error
    return plt.subplots(layout="constrained", **options)[1]


def plot_overlap(estimate: OverlapEstimate, ax: Any) -> Any:
    """Draw the items of an estimate by their distances to the two nearest centres."""
    ax = new_axes(ax, figsize=(6.4, 4.8))
    step = -(-estimate.n_items // _MOST_POINTS)
    some = slice(None, None, step)
    x, y, pairs = (
        values[some] for values in (estimate.nearest, estimate.second_nearest, estimate.item_pairs)
    )
    for count in np.unique(pairs):
        at = pairs == count
        colour = _shade(int(count), int(pairs.max()))
        ax.scatter(x[at], y[at], s=10, color=colour, linewidths=0, label=str(count), zorder=2)
    out = estimate.nearest > estimate.outlier_threshold
    if out.any():
        places = estimate.nearest[out], estimate.second_nearest[out]
        ax.scatter(*places, s=36, color=_CROSS, marker="x", zorder=3, label="outlier")
    ax.axvline(
        estimate.outlier_threshold, color=_CROSS, lw=1, ls="--", zorder=1, label="outlier limit"
    )
    ends = [float(x.min()), float(estimate.nearest.max())]
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


def _shade(value: int, highest: int) -> Any:
    """Return a colour from pale (0) to strong (`highest`)."""
    from matplotlib import colormaps

    return colormaps["viridis_r"](0.1 + 0.85 * value / max(highest, 1))
