"""How much overlap and how many outliers: a mixture, or the rules of the method's authors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array

from neocc._typing import FloatArray
from neocc.core.objectives import OBJECTIVES, Side
from neocc.selection._data import check_choice, check_positive, make_rng, opened, read
from neocc.selection._distances import distances_to_centers, distances_to_clusters, kmeans
from neocc.selection._overlap_estimate import OverlapEstimate, Strategy
from neocc.selection._rules import first_pairs, first_thresholds, outlier_threshold, second_pairs
from neocc.selection._together import Asked, estimate_sides, other_side

__all__ = ["estimate_overlap_and_outliers"]

_AXES: dict[Any, Side] = {"rows": "rows", 0: "rows", "columns": "columns", 1: "columns"}


@dataclass(frozen=True)
class Rules:
    """A published rule: what to count, and the widths of the thresholds."""

    strategy: Strategy
    delta_overlap: float
    delta_outliers: float
    count_home: bool


def by_rules(D: FloatArray, side: Side, rules: Rules) -> OverlapEstimate:
    """Apply the published rules to the Euclidean distances of all items to all centres."""
    n, k = D.shape
    home = D.argmin(axis=1)
    nearest = D[np.arange(n), home]
    if rules.strategy == "first":
        thresholds = first_thresholds(home, nearest, k, rules.delta_overlap)
        pairs = first_pairs(D, home, thresholds)
    else:
        thresholds = np.full(k, 1.0 / (k + 1))
        pairs = second_pairs(D)
        if not rules.count_home:
            pairs[np.arange(n), home] = False
    overlap = min(np.count_nonzero(pairs) / n, k - 1.0)
    beyond = outlier_threshold(nearest, rules.delta_outliers)
    n_outliers = int(np.count_nonzero(nearest > beyond))
    ordered = np.partition(D, min(1, k - 1), axis=1)
    return OverlapEstimate(
        overlap=float(overlap),
        outliers=n_outliers / n,
        side=side,
        strategy=rules.strategy,
        count_home=rules.count_home,
        delta_overlap=rules.delta_overlap,
        delta_outliers=rules.delta_outliers,
        n_items=n,
        n_clusters=k,
        n_pairs=int(np.count_nonzero(pairs)),
        n_home=int(np.count_nonzero(pairs[np.arange(n), home])),
        n_outliers=n_outliers,
        overlap_thresholds=thresholds,
        outlier_threshold=beyond,
        cluster_sizes=np.bincount(home, minlength=k),
        cluster_pairs=np.asarray(pairs.sum(axis=0), dtype=np.intp),
        item_pairs=np.asarray(pairs.sum(axis=1), dtype=np.intp),
        nearest=nearest,
        second_nearest=ordered[:, min(1, k - 1)],
        left=nearest,
    )


def estimate_overlap_and_outliers(
    X: Any,
    n_clusters: int,
    *,
    axis: Any = "rows",
    strategy: Strategy = "mixture",
    n_other_clusters: int | None = None,
    delta_overlap: float = 1.9,
    delta_outliers: float = 6.0,
    count_home: bool = True,
    n_init: int | None = None,
    centers: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> OverlapEstimate:
    """Estimate how much the clusters overlap and how many items are outliers.

    The default rule compares explanations of the same items, in the space of the prototypes of a
    generous number of co-clusters: items at the mean of several clusters, against disjoint
    clusters, clusters of any shape, one more cluster, and gradual memberships. When in doubt, the
    overlap is 0. Outliers are items farther from all of these than noise and the tails of real data
    can explain.

    The first and the second rule are those of the method's authors. They count items that are close
    to several k-means centres, as where clusters run into each other; they find some overlap even
    between disjoint clusters.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_rows, n_columns)
        The data.
    n_clusters : int
        Number of clusters.
    axis : {"rows", "columns"} or {0, 1}, default="rows"
        Whether rows (0) or columns (1) are the items.
    strategy : {"mixture", "second", "first"}, default="mixture"
        The rule, see above. The second, for large overlap, counts the pairs of item and cluster
        whose distance is below 1 / (n_clusters + 1) of the sum of the item's distances. The first,
        for small overlap, counts the items that are as close to the centre of another cluster as
        the items of that cluster usually are.
    n_other_clusters : int, optional
        Number of clusters of the other side, for the mixture; the estimate is then that of
        ``NEOCC(row_overlap="auto", ...)``. None describes items by many small clusters.
    delta_overlap : float, default=1.9
        What "usually" means for the first rule: mean plus this many standard deviations. Between -1
        and 3.5; smaller values give less overlap.
    delta_outliers : float, default=6.0
        For the published rules, an item is an outlier if it is farther from its nearest centre than
        the mean over all items plus this many standard deviations. At least 0; smaller values give
        more outliers. A fraction of 1 / (1 + delta_outliers^2) or more can never be found: 2.7 %
        for 6, 10 % for 3.
    count_home : bool, default=True
        Whether the second rule counts an item in its nearest cluster too, as the authors' program
        does: the overlap is then larger by about one. `False` counts only further memberships.
    n_init : int, optional
        Number of starts: of the co-clusters (6 by default), or of k-means (5).
    centers : array-like of shape (n_clusters, n_columns), optional
        Centres to use instead of those of k-means, for the published rules; of shape (n_clusters,
        n_rows) for columns.
    random_state : int, RandomState or None, default=None
        Seed of the starts.
    n_jobs : int or None, default=None
        Number of threads, all by default. The result does not depend on it.

    Returns
    -------
    estimate : OverlapEstimate
        The two numbers with the reasons; it can be printed and plotted.

    References
    ----------
    J. J. Whang, I. S. Dhillon and D. F. Gleich, "Non-exhaustive, Overlapping k-means", SDM 2015.

    G. Cleuziou, "An extended version of the k-means method for overlapping clustering", ICPR 2008.

    Examples
    --------
    >>> from neocc.datasets import make_coclusters
    >>> from neocc.selection import estimate_overlap_and_outliers
    >>> X, _, _ = make_coclusters(row_overlap=0.1, row_outliers=0.05, random_state=0)
    >>> found = estimate_overlap_and_outliers(X, 3, random_state=0)
    >>> found.overlap, found.outliers
    (0.1, 0.05)
    >>> print(estimate_overlap_and_outliers(X, 3, strategy="first", random_state=0))
    overlap ..., outliers ...  (200 rows, 3 k-means clusters)
      ...
    """
    side = _AXES.get(axis) if isinstance(axis, str | int) else None
    if side is None:
        raise ValueError(f'axis must be "rows" (0) or "columns" (1); got {axis!r}.')
    check_choice("strategy", strategy, ("mixture", "second", "first"))
    if not (np.isfinite(delta_overlap) and np.isfinite(delta_outliers) and delta_outliers >= 0):
        raise ValueError(
            "delta_overlap must be finite and delta_outliers finite and at least 0; "
            f"got {delta_overlap!r} and {delta_outliers!r}."
        )
    k = check_positive("n_clusters", n_clusters)
    matrix, rng = read(X), make_rng(random_state)
    n_items, length = matrix.shape if side == "rows" else matrix.shape[::-1]
    if k > n_items:
        raise ValueError(f"n_clusters={k} is more than the {n_items} {side}.")
    if strategy == "mixture":
        if centers is not None:
            raise ValueError('centers are for the published rules: strategy="first" or "second".')
        other = other_side(k, length)
        if n_other_clusters is not None:
            other = Asked(min(check_positive("n_other_clusters", n_other_clusters), length))
        asked = (Asked(k), other) if side == "rows" else (other, Asked(k))
        n_starts = check_positive("n_init", 6 if n_init is None else n_init)
        with opened(matrix, n_jobs) as engine:
            found = estimate_sides(engine, OBJECTIVES["mean"], asked, rng, n_init=n_starts)
        return found[side]
    n_starts = check_positive("n_init", 5 if n_init is None else n_init)
    rules = Rules(strategy, delta_overlap, delta_outliers, count_home)
    with opened(matrix, n_jobs) as engine:
        if centers is None:
            members = kmeans(engine, side, k, rng, n_starts)
            return by_rules(distances_to_clusters(engine, side, members), side, rules)
        given = check_array(centers, dtype=np.float64)
        if given.shape != (k, length):
            raise ValueError(f"centers must have shape {(k, length)}; got {given.shape}.")
        return by_rules(distances_to_centers(engine, side, given), side, rules)
