"""The omega index: agreement on how many clusters pairs of items share."""

from __future__ import annotations

from typing import Any

import numpy as np

from neocc.metrics._covers import read_covers
from neocc.metrics._shared import shared_clusters


def omega_index(true: Any, found: Any) -> float:
    r"""Agreement on the number of clusters that pairs of items share, corrected for chance.

    Two covers agree on a pair of items if it shares the same number of clusters in both. With
    :math:`N` pairs in all, of which :math:`A_j` share j clusters in both covers, :math:`T_j` in the
    first and :math:`F_j` in the second,

    .. math:: \omega = \frac{\omega_u - \omega_e}{1 - \omega_e}, \qquad
              \omega_u = \frac1N \sum_j A_j, \qquad \omega_e = \frac1{N^2} \sum_j T_j F_j

    For clusters that do not overlap and cover all items this is the adjusted Rand index.

    Parameters
    ----------
    true : array-like or sparse matrix of shape (n_items, n_true)
        Memberships in the true clusters, booleans or 0 and 1.
    found : array-like or sparse matrix of shape (n_items, n_found)
        Memberships in the clusters to be scored.

    Returns
    -------
    score : float
        1 for equal covers, about 0 for unrelated ones, negative for less agreement than by chance.
        If all pairs share the same number of clusters in both covers, or there are no pairs, 1.

    See Also
    --------
    overlapping_nmi : Agreement of whole clusters.
    sklearn.metrics.adjusted_rand_score : The same for clusters that do not overlap.

    Notes
    -----
    The value is exact: all pairs are counted, but no table of n x n entries is formed. Items with
    equal memberships are counted together. If items are in few clusters, the time is proportional
    to the number of subsets of their memberships (100,000 items in two of 50 clusters each: below a
    second); if not, to the square of the number of different memberships (100,000 items in four of
    50 clusters each: a few seconds, on all cores unless `OMP_NUM_THREADS` says otherwise).

    References
    ----------
    .. [1] Collins, L. M., and Dent, C. W. (1988). Omega: a general formulation of the Rand index of
       cluster recovery suitable for non-disjoint solutions. Multivariate Behavioral Research 23,
       231-242.

    Examples
    --------
    >>> from neocc.metrics import omega_index
    >>> true = [[1, 0], [1, 0], [1, 1], [0, 1]]
    >>> omega_index(true, true)
    1.0
    >>> found = [[1, 0], [1, 0], [0, 1], [0, 1]]
    >>> round(omega_index(true, found), 4)  # the covers agree on 4 of 6 pairs
    0.4
    >>> omega_index(true, [[1], [1], [1], [1]])  # one cluster holding everything
    0.0
    """
    table = shared_clusters(*read_covers(true, found))
    n_pairs = int(table.sum())
    agreeing = int(np.trace(table))
    size = min(table.shape)
    by_true, by_found = table.sum(axis=1)[:size], table.sum(axis=0)[:size]
    # Python integers: squares of numbers of pairs do not fit into 64 bits.
    expected = sum(int(t) * int(f) for t, f in zip(by_true, by_found, strict=True))
    if expected == n_pairs**2:
        return 1.0
    return (agreeing * n_pairs - expected) / (n_pairs**2 - expected)
