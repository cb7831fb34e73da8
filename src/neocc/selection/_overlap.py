"""How much overlap and how many outliers, by the rules that the method's authors publish."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_array

from neocc._typing import BoolArray, FloatArray, IntArray
from neocc.core.engine import Engine
from neocc.kernels import Memberships
from neocc.selection._data import Side, check_choice, check_positive, make_rng, opened, read
from neocc.selection._distances import distances_to_centers, distances_to_clusters, kmeans
from neocc.selection._overlap_estimate import OverlapEstimate, Strategy
from neocc.selection._rules import first_pairs, first_thresholds, outlier_threshold, second_pairs

__all__ = ["estimate", "estimate_overlap_and_outliers"]

_AXES: dict[Any, Side] = {"rows": "rows", 0: "rows", "columns": "columns", 1: "columns"}


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
    n_init: int = 3,
    members: Memberships | None = None,
) -> OverlapEstimate:
    """Estimate the overlap and outliers of one side of an engine's data as given (not centred).

    `members` are k-means clusters of that side where the caller has them; else they are found from
    `n_init` starts. The estimates are feasible: 0 <= overlap <= n_clusters - 1, 0 <= outliers < 1.
    """
    if members is None:
        members = kmeans(engine, side, n_clusters, n_init, rng)
    D = distances_to_clusters(engine, side, members)
    return from_distances(
        D,
        side,
        strategy=strategy,
        delta_overlap=delta_overlap,
        delta_outliers=delta_outliers,
        count_home=count_home,
    )


def from_distances(
    D: FloatArray,
    side: Side,
    *,
    strategy: Strategy,
    delta_overlap: float,
    delta_outliers: float,
    count_home: bool,
) -> OverlapEstimate:
    """Apply the rules to the Euclidean distances of all items to all centres."""
    n, k = D.shape
    home = D.argmin(axis=1)
    at = np.arange(n)
    nearest = D[at, home]
    beyond = outlier_threshold(nearest, delta_outliers)
    n_outliers = int(np.count_nonzero(nearest > beyond))
    if strategy == "first":
        thresholds = first_thresholds(home, nearest, k, delta_overlap)
        pairs = first_pairs(D, home, thresholds)
    else:
        thresholds = np.full(k, 1.0 / (k + 1))
        pairs = second_pairs(D)
        if not count_home:
            pairs[at, home] = False
    n_pairs = int(np.count_nonzero(pairs))
    return OverlapEstimate(
        overlap=min(n_pairs / n, float(k - 1)),
        outliers=n_outliers / n,
        side=side,
        strategy=strategy,
        count_home=count_home,
        delta_overlap=delta_overlap,
        delta_outliers=delta_outliers,
        n_items=n,
        n_clusters=k,
        n_pairs=n_pairs,
        n_home=int(np.count_nonzero(pairs[at, home])),
        n_outliers=n_outliers,
        overlap_thresholds=thresholds,
        outlier_threshold=beyond,
        cluster_sizes=np.bincount(home, minlength=k),
        cluster_pairs=_count(pairs, axis=0),
        item_pairs=_count(pairs, axis=1),
        nearest=nearest,
        second_nearest=np.partition(D, 1, axis=1)[:, 1] if k > 1 else nearest,
    )


def _count(pairs: BoolArray, axis: int) -> IntArray:
    return np.asarray(pairs.sum(axis=axis), dtype=np.intp)


def estimate_overlap_and_outliers(
    X: Any,
    n_clusters: int,
    *,
    axis: Any = "rows",
    strategy: Strategy = "second",
    delta_overlap: float = 1.9,
    delta_outliers: float = 6.0,
    count_home: bool = True,
    n_init: int = 3,
    centers: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> OverlapEstimate:
    """Estimate how much the clusters overlap and how many items are outliers.

    The rules are those of the method's authors. They look at the Euclidean distances of all items
    to the centres of a k-means clustering.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_rows, n_columns)
        The data.
    n_clusters : int
        Number of clusters.
    axis : {"rows", "columns"} or {0, 1}, default="rows"
        Whether rows (0) or columns (1) are the items.
    strategy : {"second", "first"}, default="second"
        Rule for the overlap. The second, for large overlap, counts the pairs of item and cluster
        whose distance is below 1 / (n_clusters + 1) of the sum of the item's distances. The first,
        for small overlap, counts the items that are as close to the centre of another cluster as
        the items of that cluster usually are.
    delta_overlap : float, default=1.9
        What "usually" means for the first rule: mean plus so many standard deviations. Between -1
        and 3.5; smaller values give less overlap.
    delta_outliers : float, default=6.0
        An item is an outlier if it is farther from its nearest centre than the mean over all items
        plus so many standard deviations. At least 0; smaller values give more outliers.
    count_home : bool, default=True
        Whether the second rule counts an item in its nearest cluster too, as the authors' program
        does: the overlap is then larger by about one. `False` counts further memberships only.
    n_init : int, default=3
        Number of k-means starts.
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
    check_choice("strategy", strategy, ("second", "first"))
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
    rules: dict[str, Any] = {
        "strategy": strategy,
        "delta_overlap": delta_overlap,
        "delta_outliers": delta_outliers,
        "count_home": count_home,
    }
    with opened(matrix, n_jobs) as engine:
        if centers is None:
            return estimate(engine, side, k, make_rng(random_state), n_init=n_init, **rules)
        given = check_array(centers, dtype=np.float64)
        if given.shape != (k, length):
            raise ValueError(f"centers must have shape {(k, length)}; got {given.shape}.")
        return from_distances(distances_to_centers(engine, side, given), side, **rules)
