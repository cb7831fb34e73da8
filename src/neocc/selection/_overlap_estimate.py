"""The result of an estimate of overlap and outliers: numbers with their reasons."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np

from neocc._typing import FloatArray, IntArray
from neocc.core.objectives import Side
from neocc.selection import _plots

__all__ = ["OverlapEstimate", "Strategy"]

Strategy: TypeAlias = Literal["second", "first", "averages"]


@dataclass(frozen=True, eq=False)
class OverlapEstimate:
    """Estimated overlap and outliers of one side, and how the numbers came about.

    `print` it for the reasons, `plot` it for a picture.

    Attributes
    ----------
    overlap, outliers : float
        The estimates: alpha and beta, ready for `row_overlap` and `row_outliers`, or those of the
        columns.
    side : {"rows", "columns"}
        What was clustered.
    strategy : {"second", "first", "averages"}
        The rule for the overlap.
    count_home : bool
        Whether the second rule counted items in their nearest cluster.
    delta_overlap, delta_outliers : float
        Widths, in standard deviations, of the thresholds of the first rule and of the outliers.
    n_items, n_clusters : int
        Rows or columns, and k-means clusters.
    n_pairs : int
        Pairs of item and cluster that the rule counted; `overlap` is `n_pairs / n_items`, or
        `n_clusters - 1` if that is smaller. With averages: all memberships, `overlap` is
        `n_pairs / n_items - 1`.
    n_home : int
        How many of them are items in their nearest cluster.
    n_outliers : int
        Items beyond `outlier_threshold`.
    overlap_thresholds : ndarray of shape (n_clusters,)
        First rule: the distance up to which an item joins each cluster, NaN for one that no item
        is nearest to. Second rule: 1 / (n_clusters + 1), of the sum of an item's distances.
        Averages: NaN, there is none.
    outlier_threshold : float
        Distance beyond which an item is an outlier.
    cluster_sizes, cluster_pairs : ndarray of int, shape (n_clusters,)
        Items nearest to each centre, and pairs counted in each cluster.
    item_pairs : ndarray of int, shape (n_items,)
        Pairs counted for each item.
    nearest, second_nearest : ndarray of shape (n_items,)
        Distances of each item to the nearest and the second nearest centre.
    left : ndarray of shape (n_items,)
        The distances that `outlier_threshold` is for: `nearest`, or with averages that of each item
        to the average centre of its clusters.
    """

    overlap: float
    outliers: float
    side: Side
    strategy: Strategy
    count_home: bool
    delta_overlap: float
    delta_outliers: float
    n_items: int
    n_clusters: int
    n_pairs: int
    n_home: int
    n_outliers: int
    overlap_thresholds: FloatArray
    outlier_threshold: float
    cluster_sizes: IntArray
    cluster_pairs: IntArray
    item_pairs: IntArray = field(repr=False)
    nearest: FloatArray = field(repr=False)
    second_nearest: FloatArray = field(repr=False)
    left: FloatArray = field(repr=False)

    def __str__(self) -> str:
        item, items = self.side[:-1], self.side
        r = self.nearest
        averages = self.strategy == "averages"
        limit = "median + {:g} median deviations" if averages else "mean + {:g} standard deviations"
        clipped = not averages and self.n_pairs / self.n_items > self.overlap
        return f"""\
overlap {self.overlap:.4g}, outliers {self.outliers:.4g}  \
({self.n_items} {items}, {self.n_clusters} k-means clusters)
  distance to the nearest centre: mean {r.mean():.4g}, from {r.min():.4g} to {r.max():.4g}
  outliers: {self.n_outliers} {items} farther than {self.outlier_threshold:.4g} \
({limit.format(self.delta_outliers)})
  overlap: {self.n_pairs} pairs of {item} and cluster\
{f", cut to n_clusters - 1 = {self.n_clusters - 1} per {item}" if clipped else ""}
    {self._rule()}"""

    def _rule(self) -> str:
        if self.strategy == "averages":
            several = int(np.count_nonzero(self.item_pairs > 1))
            return f"{several} {self.side} are closer to the average of several centres than to one"
        if self.strategy == "first":
            known = self.overlap_thresholds[~np.isnan(self.overlap_thresholds)]
            return (
                f"first rule: no farther from another centre than {known.min():.4g} to "
                f"{known.max():.4g}\n"
                f"    (mean + {self.delta_overlap:g} standard deviations of that cluster's own)"
            )
        home = "the nearest clusters are not counted"
        if self.count_home:
            home = (
                f"{self.n_home} of them in the nearest cluster; count_home=False leaves these out"
            )
        return (
            f"second rule: distance below 1/{self.n_clusters + 1} of the sum of all distances of "
            f"the {self.side[:-1]}\n    ({home})"
        )

    def plot(self, ax: Any = None) -> Any:
        """Draw every item by its distances to the two nearest centres.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        ax : matplotlib Axes
            The axes: items coloured by the clusters counted for them, outliers crossed.
        """
        return _plots.plot_overlap(self, ax)
