"""How much overlap and how many outliers: the rules of the method's authors, and one more."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.utils.validation import check_array

from neocc._typing import BoolArray, FloatArray
from neocc.core.engine import Engine
from neocc.core.objectives import Side
from neocc.kernels import Memberships
from neocc.selection._averages import TRIMMED, Explained, explain, settled
from neocc.selection._data import check_choice, check_positive, make_rng, opened, read
from neocc.selection._distances import distances_to_centers, distances_to_clusters, kmeans
from neocc.selection._overlap_estimate import OverlapEstimate, Strategy
from neocc.selection._rules import first_pairs, first_thresholds, outlier_threshold, second_pairs

__all__ = ["estimate", "estimate_overlap_and_outliers"]

_AXES: dict[Any, Side] = {"rows": "rows", 0: "rows", "columns": "columns", 1: "columns"}


@dataclass(frozen=True)
class Rules:
    """What to count, and the widths of the thresholds."""

    strategy: Strategy = "second"
    delta_overlap: float = 1.9
    delta_outliers: float = 6.0
    count_home: bool = True


def estimate(
    engine: Engine,
    side: Side,
    n_clusters: int,
    rng: np.random.Generator,
    *,
    strategy: Strategy = "second",
    delta_overlap: float = 1.9,
    delta_outliers: float = 6.0,
    count_home: bool = True,
    n_init: int = 5,
    members: Memberships | None = None,
) -> OverlapEstimate:
    """Estimate the overlap and outliers of one side of an engine's data as given (not centred).

    `members` are k-means clusters of that side where the caller has them; else they are found from
    `n_init` starts. The estimates are feasible: 0 <= outliers < 1, and -outliers (by the published
    rules 0) <= overlap <= n_clusters - 1.
    """
    rules = Rules(strategy, delta_overlap, delta_outliers, count_home)
    averages = strategy == "averages"
    if members is None:
        trimmed = TRIMMED if averages else 0.0
        members = kmeans(engine, side, n_clusters, rng, n_init, trimmed)
    if averages:
        length = engine.shape[1 if side == "rows" else 0]
        to = partial(distances_to_clusters, engine, side)
        return by_averages(*settled(to, members, length, delta_outliers), side, rules)
    return by_rules(distances_to_clusters(engine, side, members), side, rules)


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
    return _estimate(D, side, rules, overlap, pairs, thresholds, nearest, beyond)


def by_averages(D: FloatArray, found: Explained, side: Side, rules: Rules) -> OverlapEstimate:
    """Count the memberships of items explained by averages of centres."""
    overlap = np.count_nonzero(found.members) / len(D) - 1.0
    none = np.full(D.shape[1], np.nan)
    return _estimate(D, side, rules, overlap, found.members, none, found.left, found.threshold)


def _estimate(
    D: FloatArray,
    side: Side,
    rules: Rules,
    overlap: float,
    pairs: BoolArray,
    thresholds: FloatArray,
    left: FloatArray,
    beyond: float,
) -> OverlapEstimate:
    n, k = D.shape
    home = D.argmin(axis=1)
    ordered = np.partition(D, min(1, k - 1), axis=1)
    n_outliers = int(np.count_nonzero(left > beyond))
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
        nearest=D[np.arange(n), home],
        second_nearest=ordered[:, min(1, k - 1)],
        left=left,
    )


def estimate_overlap_and_outliers(
    X: Any,
    n_clusters: int,
    *,
    axis: Any = "rows",
    strategy: Strategy = "second",
    delta_overlap: float = 1.9,
    delta_outliers: float = 6.0,
    count_home: bool = True,
    n_init: int = 5,
    centers: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> OverlapEstimate:
    """Estimate how much the clusters overlap and how many items are outliers.

    All rules look at the Euclidean distances of the items to the centres of a k-means clustering.
    The first and the second are those of the method's authors. They count items that are near
    several centres, as in clouds that run into each other. In well separated clusters, an item in
    several of them lies between the centres and near none: "averages" counts these.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_rows, n_columns)
        The data.
    n_clusters : int
        Number of clusters.
    axis : {"rows", "columns"} or {0, 1}, default="rows"
        Whether rows (0) or columns (1) are the items.
    strategy : {"second", "first", "averages"}, default="second"
        Rule for the overlap. The second, for large overlap, counts the pairs of item and cluster
        whose distance is below 1 / (n_clusters + 1) of the sum of the item's distances. The first,
        for small overlap, counts the items that are as close to the centre of another cluster as
        the items of that cluster usually are. Averages, for separated clusters, puts each item into
        the clusters whose average centre explains it best (Cleuziou, 2008).
    delta_overlap : float, default=1.9
        What "usually" means for the first rule: mean plus this many standard deviations. Between -1
        and 3.5; smaller values give less overlap.
    delta_outliers : float, default=6.0
        An item is an outlier if it is farther from its nearest centre than the mean over all items
        plus this many standard deviations. At least 0; smaller values give more outliers. A share
        of 1 / (1 + delta_outliers^2) or more can never be found: 2.7 % for 6, 10 % for 3. Averages
        uses median and median absolute deviation of the residual distances, and has no such bound.
    count_home : bool, default=True
        Whether the second rule counts an item in its nearest cluster too, as the authors' program
        does: the overlap is then larger by about one. `False` counts further memberships only.
    n_init : int, default=5
        Number of k-means starts. Averages leaves out the farthest tenth of the items there.
    centers : array-like of shape (n_clusters, n_columns), optional
        Centres to use in place of k-means; of shape (n_clusters, n_rows) for columns.
    random_state : int, RandomState or None, default=None
        Seed of k-means.
    n_jobs : int or None, default=None
        Number of threads, all by default. The result does not depend on it.

    Returns
    -------
    estimate : OverlapEstimate
        The two numbers with thresholds and counts; it prints and plots itself.

    References
    ----------
    J. J. Whang, I. S. Dhillon and D. F. Gleich, "Non-exhaustive, Overlapping k-means", SDM 2015.

    G. Cleuziou, "An extended version of the k-means method for overlapping clustering", ICPR 2008.

    Examples
    --------
    >>> from neocc.selection import estimate_overlap_and_outliers
    >>> X = [[0, 0], [0, 1], [1, 0], [4, 4], [8, 8], [8, 9], [9, 8]]
    >>> found = estimate_overlap_and_outliers(X, 2, count_home=False, random_state=0)
    >>> found.overlap, found.outliers
    (0.0, 0.0)
    >>> print(estimate_overlap_and_outliers(X, 2, strategy="first", random_state=0))
    overlap 0, outliers 0  (7 rows, 2 k-means clusters)
      ...
    """
    side = _AXES.get(axis) if isinstance(axis, str | int) else None
    if side is None:
        raise ValueError(f'axis must be "rows" (0) or "columns" (1); got {axis!r}.')
    check_choice("strategy", strategy, ("second", "first", "averages"))
    if not (np.isfinite(delta_overlap) and np.isfinite(delta_outliers) and delta_outliers >= 0):
        raise ValueError(
            "delta_overlap must be finite and delta_outliers finite and at least 0; "
            f"got {delta_overlap!r} and {delta_outliers!r}."
        )
    k = check_positive("n_clusters", n_clusters)
    n_init = check_positive("n_init", n_init)
    matrix = read(X)
    n_items, length = matrix.shape if side == "rows" else matrix.shape[::-1]
    if k > n_items:
        raise ValueError(f"n_clusters={k} is more than the {n_items} {side}.")
    options: dict[str, Any] = {
        "strategy": strategy,
        "delta_overlap": delta_overlap,
        "delta_outliers": delta_outliers,
        "count_home": count_home,
    }
    with opened(matrix, n_jobs) as engine:
        if centers is None:
            return estimate(engine, side, k, make_rng(random_state), n_init=n_init, **options)
        given = check_array(centers, dtype=np.float64)
        if given.shape != (k, length):
            raise ValueError(f"centers must have shape {(k, length)}; got {given.shape}.")
        D = distances_to_centers(engine, side, given)
    if strategy != "averages":
        return by_rules(D, side, Rules(**options))
    G = cdist(given, given, "sqeuclidean")
    return by_averages(D, explain(D, G, length, delta_outliers), side, Rules(**options))
