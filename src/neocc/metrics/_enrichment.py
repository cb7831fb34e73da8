"""Which labels clusters hold more often than by chance."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neocc._typing import FloatArray
from neocc.metrics._covers import Overlaps, read_covers

__all__ = ["Enrichment", "enrichment"]


@dataclass(frozen=True, eq=False)
class Enrichment:
    """Labels of the members of clusters, compared with chance.

    Attributes
    ----------
    n_items : int
        Items that have a label.
    n_unlabelled : int
        Items that have none; they are not counted anywhere else.
    label_sizes : ndarray of shape (n_labels,)
        Items with each label.
    cluster_sizes : ndarray of shape (n_clusters,)
        Members of each cluster that have a label.
    counts : ndarray of shape (n_labels, n_clusters)
        Members of each cluster with each label.
    p_values : ndarray of shape (n_labels, n_clusters)
        Probability of at least as many if the members were drawn at random.
    adjusted : ndarray of shape (n_labels, n_clusters)
        The same, adjusted for the number of labels and clusters.

    Examples
    --------
    >>> from neocc.metrics import enrichment
    >>> tested = enrichment([[1, 0], [1, 0], [0, 1], [0, 0]], [[1], [1], [0], [0]])
    >>> tested.n_items, tested.n_unlabelled, tested.label_sizes
    (3, 1, array([2, 1]))
    >>> tested.expected.round(2).ravel()
    array([1.33, 0.67])
    """

    n_items: int
    n_unlabelled: int
    label_sizes: NDArray[np.int64]
    cluster_sizes: NDArray[np.int64]
    counts: NDArray[np.int64]
    p_values: FloatArray
    adjusted: FloatArray

    @cached_property
    def expected(self) -> FloatArray:
        """Members of each cluster with each label that chance gives in the mean."""
        by_chance: FloatArray = np.outer(self.label_sizes, self.cluster_sizes) / max(
            self.n_items, 1
        )
        return by_chance

    @cached_property
    def folds(self) -> FloatArray:
        """How many times as many members have a label as by chance; NaN where none could."""
        folds: FloatArray = np.full(self.counts.shape, np.nan)
        np.divide(self.counts, self.expected, out=folds, where=self.expected > 0)
        return folds


def enrichment(labels: Any, found: Any) -> Enrichment:
    r"""Test for every label and cluster whether the label is over-represented in the cluster.

    Of N items with any label, K have the label, n are in the cluster, and c are both. If the
    members were drawn at random, at least as many would have the label with probability

    .. math:: p = \sum_{x \ge c} \binom{K}{x} \binom{N - K}{n - x} \Big/ \binom{N}{n}

    (the hypergeometric test, or one-sided Fisher's exact test). These p-values are adjusted by the
    Benjamini-Hochberg procedure over all labels and clusters: of all pairs with an adjusted value
    up to 0.05, a fraction of about 0.05 is expected to be due to chance.

    Items without a label are ignored, since nothing is known about them; items in no cluster count
    among the N. An item may have several labels, and be in several clusters.

    Parameters
    ----------
    labels : array-like or sparse matrix of shape (n_items, n_labels)
        Which items have which labels, booleans or 0 and 1.
    found : array-like or sparse matrix of shape (n_items, n_clusters)
        Memberships in the clusters, such as `row_membership_`.

    Returns
    -------
    enrichment : Enrichment
        Counts, p-values and adjusted p-values.

    Notes
    -----
    The test assumes that items are independent and that the labels were not used in the fit. If
    the labels were part of the data, small values are meaningless.

    References
    ----------
    .. [1] Benjamini, Y., and Hochberg, Y. (1995). Controlling the false discovery rate: a practical
       and powerful approach to multiple testing. Journal of the Royal Statistical Society B 57,
       289-300.

    Examples
    --------
    >>> from neocc.metrics import enrichment
    >>> labels = [[1, 0], [1, 0], [1, 0], [0, 1], [0, 1], [0, 1]]
    >>> found = [[1], [1], [1], [0], [0], [0]]
    >>> tested = enrichment(labels, found)
    >>> tested.counts.ravel(), tested.folds.ravel()
    (array([3, 0]), array([2., 0.]))
    >>> tested.p_values.ravel().round(3), tested.adjusted.ravel().round(3)
    (array([0.05, 1.  ]), array([0.1, 1. ]))
    """
    from scipy.stats import false_discovery_control, hypergeom  # slow to import

    known, members = read_covers(labels, found, ("labels", "found"))
    labelled = np.flatnonzero(np.diff(known.indptr))
    n_unlabelled = int(known.shape[0] - len(labelled))
    both = Overlaps.of(known[labelled], members[labelled])
    marked, drawn = both.true_sizes[:, None], both.found_sizes[None, :]
    # Members and items with the label may change places; the fewer are drawn, the fewer the terms.
    more, fewer = np.maximum(marked, drawn), np.minimum(marked, drawn)
    tail = np.clip(hypergeom.sf(both.common - 1, both.n_items, more, fewer), 0.0, 1.0)
    p = np.where(both.common > 0, tail, 1.0)  # also where there is nothing to draw from
    adjusted = false_discovery_control(p, axis=None) if p.size else p
    return Enrichment(
        both.n_items,
        n_unlabelled,
        both.true_sizes,
        both.found_sizes,
        both.common,
        p,
        np.reshape(adjusted, p.shape),
    )
