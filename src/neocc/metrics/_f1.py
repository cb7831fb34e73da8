"""F1 of clusters: best match with replacement, one-to-one match, and what doing nothing scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from neocc._typing import FloatArray
from neocc.metrics._covers import Overlaps, read_cover, read_covers, require_clusters


def best_match_f1(true: Any, found: Any) -> float:
    r"""Mean over the true clusters of the F1 of their best match among the found clusters.

    The measure of the method's authors (they print it in percent):

    .. math:: \frac{1}{|G|} \sum_i \max_j F_1(G_i, C_j), \qquad
              F_1(G, C) = \frac{2 |G \cap C|}{|G| + |C|}

    Matches are made with replacement: one found cluster may serve several true ones. The measure
    rewards large clusters; compare with :func:`trivial_baseline`.

    Parameters
    ----------
    true : array-like or sparse matrix of shape (n_items, n_true)
        Memberships in the true clusters, booleans or 0 and 1.
    found : array-like or sparse matrix of shape (n_items, n_found)
        Memberships in the clusters to be scored.

    Returns
    -------
    score : float
        Between 0 and 1. Empty clusters, true or found, score 0; so does finding no cluster.

    See Also
    --------
    matched_f1 : Each found cluster serves one true cluster.
    trivial_baseline : The score of one cluster holding everything.

    References
    ----------
    .. [1] Whang, J. J., Dhillon, I. S., and Gleich, D. F. (2015). Non-exhaustive, overlapping
       k-means. SIAM International Conference on Data Mining, 936-944.

    Examples
    --------
    >>> from neocc.metrics import best_match_f1
    >>> true = [[1, 0], [1, 0], [1, 1], [0, 1]]
    >>> found = [[1, 0], [1, 0], [0, 1], [0, 1]]
    >>> best_match_f1(true, found)  # 2 * 2 / (3 + 2) and 2 * 2 / (2 + 2)
    0.9
    """
    scores = _f1_table(true, found)
    return float(scores.max(axis=1, initial=0.0).mean())


def matched_f1(true: Any, found: Any) -> float:
    r"""Mean over the true clusters of their F1 under the best one-to-one match.

    .. math:: \frac{1}{|G|} \max_{\pi} \sum_i F_1(G_i, C_{\pi(i)})

    over all :math:`\pi` that give each true cluster at most one found cluster and use no found
    cluster twice: a linear assignment problem, solved exactly [1]_.

    Parameters
    ----------
    true : array-like or sparse matrix of shape (n_items, n_true)
        Memberships in the true clusters, booleans or 0 and 1.
    found : array-like or sparse matrix of shape (n_items, n_found)
        Memberships in the clusters to be scored.

    Returns
    -------
    score : float
        Between 0 and 1, never above :func:`best_match_f1`. True clusters left without a match score
        0; found clusters left over cost nothing.

    See Also
    --------
    best_match_f1 : Matches with replacement, the measure of the method's authors.

    References
    ----------
    .. [1] Kuhn, H. W. (1955). The Hungarian method for the assignment problem. Naval Research
       Logistics Quarterly 2, 83-97.

    Examples
    --------
    >>> from neocc.metrics import matched_f1
    >>> true = [[1, 0], [1, 0], [0, 1], [0, 1]]
    >>> matched_f1(true, [[0, 1], [0, 1], [1, 0], [1, 0]])
    1.0
    >>> round(matched_f1(true, [[1], [1], [1], [1]]), 4)  # the second true cluster has no match
    0.3333
    """
    scores = _f1_table(true, found)
    matched = linear_sum_assignment(scores, maximize=True)
    return float(scores[matched].sum() / scores.shape[0])


def trivial_baseline(true: Any) -> float:
    r"""Best-match F1 of one cluster that holds every item.

    A true cluster with the fraction :math:`p_i` of all items has F1
    :math:`2 p_i / (1 + p_i)` with the cluster of all items, so that the mean is

    .. math:: \frac{1}{|G|} \sum_i \frac{2 p_i}{1 + p_i}

    A :func:`best_match_f1` below this number is worse than putting all items into one cluster.

    Parameters
    ----------
    true : array-like or sparse matrix of shape (n_items, n_true)
        Memberships in the true clusters, booleans or 0 and 1.

    Returns
    -------
    score : float
        Between 0 and 1.

    See Also
    --------
    best_match_f1 : The measure for which this is the baseline.

    Examples
    --------
    >>> from neocc.metrics import best_match_f1, trivial_baseline
    >>> true = [[1, 0], [1, 0], [0, 1], [0, 1]]
    >>> round(trivial_baseline(true), 4)
    0.6667
    >>> round(best_match_f1(true, [[1], [1], [1], [1]]), 4)
    0.6667
    """
    cover = read_cover(true, "true")
    require_clusters(cover, "true")
    fractions = np.asarray(cover.sum(axis=0)) / cover.shape[0]
    return float((2 * fractions / (1 + fractions)).mean())


def _f1_table(true: Any, found: Any) -> FloatArray:
    """F1 of every true (rows) with every found cluster (columns); 0 where both are empty."""
    true, found = read_covers(true, found)
    require_clusters(true, "true")
    overlaps = Overlaps.of(true, found)
    sizes = np.add.outer(overlaps.true_sizes, overlaps.found_sizes)
    # Two empty clusters share nothing: 0 / 1 instead of 0 / 0.
    table: FloatArray = 2 * overlaps.common / np.maximum(sizes, 1)
    return table
