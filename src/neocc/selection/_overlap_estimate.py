"""The result of an estimate of overlap and outliers: numbers with their reasons."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np

from neocc._typing import FloatArray, IntArray
from neocc.core.objectives import Side
from neocc.selection import _plots

__all__ = ["OverlapEstimate", "Strategy"]

Strategy: TypeAlias = Literal["mixture", "second", "first"]


@dataclass(frozen=True, eq=False)
class OverlapEstimate:
    """Estimated overlap and outliers of one side, with the reasons.

    `print` shows the reasons, `plot` a figure.

    Attributes
    ----------
    overlap, outliers : float
        The estimates: alpha and beta, ready for `row_overlap` and `row_outliers`, or those of the
        columns.
    side : {"rows", "columns"}
        What was clustered.
    strategy : {"mixture", "second", "first"}
        The rule.
    count_home : bool
        Whether the second rule counted items in their nearest cluster.
    delta_overlap, delta_outliers : float
        Widths, in standard deviations, of the thresholds of the first rule and of the outliers of
        both published rules.
    n_items, n_clusters : int
        Numbers of rows (or columns) and of clusters.
    n_pairs : int
        Pairs of item and cluster that the rule counted; `overlap` is `n_pairs / n_items`, or
        `n_clusters - 1` if that is smaller. With the mixture, all memberships: `overlap` is
        `n_pairs / n_items - 1`, and hence -`outliers` if clusters are disjoint.
    n_home : int
        How many of them are items in their nearest cluster.
    n_outliers : int
        Items beyond `outlier_threshold`; with the mixture, those of them that follow no cluster,
        and others that follow none and need not be far.
    overlap_thresholds : ndarray of shape (n_clusters,)
        First rule: the distance up to which an item joins each cluster, NaN for one that is nearest
        to no item. Second rule: 1 / (n_clusters + 1), as a fraction of the sum of an item's
        distances. Mixture: NaN, there is none.
    outlier_threshold : float
        Distance beyond which an item is an outlier; with the mixture one that follows no cluster.
        Infinite if none is.
    cluster_sizes, cluster_pairs : ndarray of int, shape (n_clusters,)
        Items nearest to each centre, and pairs counted in each cluster.
    item_pairs : ndarray of int, shape (n_items,)
        Pairs counted for each item.
    nearest, second_nearest : ndarray of shape (n_items,)
        Distances of each item to the nearest and the second nearest centre.
    left : ndarray of shape (n_items,)
        The distances that `outlier_threshold` applies to: `nearest`, or with the mixture what no
        cluster explains.
    gain : float
        Mixture: what overlap gains over disjoint clusters (BIC, in units of log-likelihood).
    references : dict of str to float
        What other explanations gain.
    margin : float
        By how much the gain of overlap must exceed these to be accepted; "gradual", which includes
        overlap, must exceed it by as much.
    path : ndarray of shape (2, n_points)
        Extra memberships as a fraction of the items, and their gains.

    Examples
    --------
    >>> from neocc.datasets import make_coclusters
    >>> from neocc.selection import estimate_overlap_and_outliers
    >>> X, _, _ = make_coclusters(row_overlap=0.1, row_outliers=0.05, random_state=0)
    >>> found = estimate_overlap_and_outliers(X, 3, random_state=0)
    >>> found.n_pairs, found.n_outliers
    (220, 10)
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
    gain: float = 0.0
    margin: float = 0.0
    references: dict[str, float] | None = None
    path: FloatArray | None = field(repr=False, default=None)

    def __str__(self) -> str:
        kind = "" if self.strategy == "mixture" else "k-means "
        numbers = f"overlap {self.overlap:.4g}, outliers {self.outliers:.4g}"
        what = f"({self.n_items} {self.side}, {self.n_clusters} {kind}clusters)"
        reasons = self._mixture() if self.strategy == "mixture" else self._published()
        return "\n".join([f"{numbers}  {what}", *reasons])

    def _mixture(self) -> list[str]:
        several = int(np.count_nonzero(self.item_pairs > 1))
        outliers = "no outliers: noise and the tail of the distances explain all of them"
        if self.n_outliers:
            beyond = (
                f"farther than {self.outlier_threshold:.4g} from anything that clusters explain"
            )
            kinds = {beyond: self._n_far, "that follow no cluster": self.n_outliers - self._n_far}
            told = [f"{n} {self.side} {kind}" for kind, n in kinds.items() if n > 0]
            outliers = f"outliers: {', '.join(told)}"
        lines = [f"  {outliers}"]
        references = self.references or {}
        if not references:
            few = "too few items, values of each, or clusters to tell; none is assumed"
            return [*lines, f"  overlap: {few}"]
        first = max(references, key=lambda name: references[name] + self._lead(name))
        verdict = f"{several} {self.side} in several clusters" if several else "none"
        if not several and self.gain > references[first] + self._lead(first):
            verdict = f"none, for {self.side} in several clusters would gain too little each"
        lines.append(f"  overlap: {verdict}. Gain in log-likelihood (BIC) over disjoint clusters:")
        lines.append(f"    {'means of clusters':<24}{self.gain:>10.1f}")
        for name, value in references.items():
            bound = "may be ahead by" if self._lead(name) < 0 else "to be exceeded by"
            note = f"   ({bound} {self.margin:.1f})" if name == first else ""
            lines.append(f"    {name:<24}{value:>10.1f}{note}")
        return lines

    @property
    def _n_far(self) -> int:
        """Outliers that are far from all clusters; with the mixture, others follow none."""
        far = self.left > self.outlier_threshold
        if self.strategy == "mixture":
            far &= self.item_pairs == 0
        return int(np.count_nonzero(far))

    def _lead(self, name: str) -> float:
        return -self.margin if name == "gradual" else self.margin

    def _published(self) -> list[str]:
        item, items, r = self.side[:-1], self.side, self.nearest
        clipped = self.n_pairs / self.n_items > self.overlap
        cut = f", cut to n_clusters - 1 = {self.n_clusters - 1} per {item}" if clipped else ""
        limit = f"mean + {self.delta_outliers:g} standard deviations"
        far = f"{self.n_outliers} {items} farther than {self.outlier_threshold:.4g} ({limit})"
        ends = f"from {r.min():.4g} to {r.max():.4g}"
        return [
            f"  distance to the nearest centre: mean {r.mean():.4g}, {ends}",
            f"  outliers: {far}",
            f"  overlap: {self.n_pairs} pairs of {item} and cluster{cut}",
            f"    {self._rule()}",
        ]

    def _rule(self) -> str:
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
        """Draw what overlap gains, or every item by its distances to the two nearest centres.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        ax : matplotlib Axes
            The axes. Mixture: the gain over the overlap, with the other explanations. Published
            rules: items coloured by the clusters counted for them, outliers crossed.
        """
        if self.strategy == "mixture":
            return _plots.plot_path(self, ax)
        return _plots.plot_overlap(self, ax)

    @property
    def why_overlap(self) -> str:
        """What speaks for the overlap, in a clause without a full stop."""
        item = self.side[:-1]
        if self.strategy != "mixture":
            return f"{self.n_pairs:,} pairs of {item} and group by the {self.strategy} rule"
        if self.n_clusters > 1 and not self.references:
            return f"too few {self.side}, values of each, or groups to tell"
        several = int(np.count_nonzero(self.item_pairs > 1))
        if not several:
            return f"no {item} lies between the centres of groups"
        lie = "lies" if several == 1 else "lie"
        return f"{several:,} of {self.n_items:,} {self.side} {lie} between the centres of groups"

    @property
    def why_outliers(self) -> str:
        """What speaks for the outliers, likewise."""
        if not self.n_outliers:
            return f"no {self.side[:-1]} is far from all groups"
        far, n_far = f"farther than {self.outlier_threshold:.3g} from the nearest", self._n_far
        told = []
        if n_far:
            told.append(f"{n_far:,} {'is' if n_far == 1 else 'are'} {far}")
        if n_lost := self.n_outliers - n_far:
            told.append(f"{n_lost:,} {'follows' if n_lost == 1 else 'follow'} none of them")
        return ", ".join(told)
