"""The omega index: agreement on how many clusters pairs of items share.

Everything follows from one small table, the number of pairs of items that share a clusters in the
first cover and b in the second. It is counted in one of two ways, never over an n x n table:

* *by subsets*, when items are in few clusters. The pairs of items that share all clusters of a set
  S number C(m_S, 2), where m_S items are in all of S. Summed over all S of i clusters of the first
  and j clusters of the second cover, this is the sum over pairs of C(a, i) C(b, j), from which the
  table follows by inclusion and exclusion. Sets that no two items share are never extended.
* *by blocks*, otherwise: products of blocks of the membership matrices.

Items with the same memberships in both covers are counted together in either.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from neocc._typing import AnyArray, FloatArray, IntArray
from neocc.metrics._covers import read_covers

# Time of a subset against that of a pair in a block (measured), and most subsets held at a time.
_SUBSET_COST = 30
_MOST_SUBSETS = 1 << 23
# Rows and columns of a block: large, for the product. Pairs counted at a time: few, for the cache.
_BLOCK = (1024, 4096)
_CACHED = 1 << 16


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
    The value is exact: pairs are counted, all of them, but not one by one. Items with equal
    memberships are counted together. If items are in few clusters, the time is proportional to the
    number of subsets of their memberships (100,000 items in two of 50 clusters each: below a
    second); if not, to the square of the number of different memberships (100,000 items in four of
    50 clusters each: half a minute). No table of n x n entries is formed.

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


def shared_clusters(true: Any, found: Any) -> NDArray[np.int64]:
    """Count pairs of items by the numbers of clusters they share in `true` and in `found`."""
    profiles = _Profiles.of(true, found)
    table = count_by_subsets(profiles, budget=profiles.weights.size**2 // _SUBSET_COST)
    return count_by_blocks(profiles) if table is None else table


@dataclass(frozen=True)
class _Profiles:
    """The different combinations of memberships in two covers, and how many items have each.

    `members` is a CSR array, profiles x (true clusters, then found clusters).
    """

    members: Any
    weights: IntArray
    n_true: int

    @classmethod
    def of(cls, true: Any, found: Any) -> _Profiles:
        members = sparse.hstack([true, found], format="csr")
        members.sort_indices()  # a set of clusters must have one spelling
        _, first, weights = np.unique(_packed(members), return_index=True, return_counts=True)
        return cls(members[first], weights.astype(np.intp), true.shape[1])

    @property
    def n_items(self) -> int:
        return int(self.weights.sum())

    @property
    def largest(self) -> tuple[int, int]:
        """The most clusters of either cover that an item is in."""
        true = np.asarray(self.members[:, : self.n_true].sum(axis=1))
        found = np.asarray(self.members[:, self.n_true :].sum(axis=1))
        return int(true.max()), int(found.max())


def _packed(members: Any) -> AnyArray:
    """One opaque value per row, equal for equal rows."""
    n_rows, n_columns = members.shape
    packed = np.zeros((n_rows, max(1, -(-n_columns // 8))), dtype=np.uint8)
    step = max(1, (1 << 26) // max(1, n_columns))
    for start in range(0, n_rows if n_columns else 0, step):
        part = slice(start, start + step)
        packed[part] = np.packbits(members[part].toarray() != 0, axis=1)
    return packed.view(np.dtype((np.void, packed.shape[1]))).ravel()


def count_by_subsets(profiles: _Profiles, budget: float) -> NDArray[np.int64] | None:
    """Table of :func:`shared_clusters` from the numbers of items in all of a set of clusters.

    None if this takes more than `budget` subsets of the profiles, or too many of one size.
    """
    indptr, clusters = profiles.members.indptr, profiles.members.indices
    n_clusters = profiles.members.shape[1]
    profile = np.repeat(np.arange(profiles.weights.size), np.diff(indptr))
    weights, end = profiles.weights[profile], indptr[1:][profile]
    shape = tuple(count + 1 for count in profiles.largest)
    moments = np.zeros(shape, dtype=object)
    moments[0, 0] = comb(profiles.n_items, 2)
    # An entry is a set of clusters of one profile; `last` is the place of the last one. Sets of one
    # size are handled together, and numbered: `n_true` of their clusters are of the first cover.
    last = np.arange(clusters.size)
    key = clusters.astype(np.int64)
    n_true = np.zeros(1, dtype=np.intp)
    size = 1
    while key.size:
        budget -= key.size
        if budget < 0 or key.size > _MOST_SUBSETS:
            return None
        values, number = np.unique(key, return_inverse=True)
        n_true = n_true[values // n_clusters] + (values % n_clusters < profiles.n_true)
        n_items = np.bincount(number, weights[last])
        pairs = np.bincount(n_true, n_items * (n_items - 1) / 2)
        for i in np.flatnonzero(pairs):
            moments[i, size - i] = int(pairs[i])
        # Sets held by one item only make no pairs, and neither do sets that contain them.
        n_more = np.where(n_items[number] > 1, end[last] - last - 1, 0)
        number = np.repeat(number, n_more)
        first = np.cumsum(n_more) - n_more
        last = np.arange(number.size) + np.repeat(last + 1 - first, n_more)
        key = number * n_clusters + clusters[last]
        size += 1
    signs = [_signed_binomials(count) for count in shape]
    return (signs[0] @ moments @ signs[1].T).astype(np.int64)


def _signed_binomials(size: int) -> AnyArray:
    """(-1)^(i - a) C(i, a) at row a, column i: from sums of C(a, i) back to counts of a."""
    table = np.zeros((size, size), dtype=object)
    for a in range(size):
        for i in range(a, size):
            table[a, i] = (-1) ** (i - a) * comb(i, a)
    return table


def count_by_blocks(profiles: _Profiles) -> NDArray[np.int64]:
    """Table of :func:`shared_clusters` from products of blocks of the membership matrices."""
    shape = tuple(count + 1 for count in profiles.largest)
    n_codes = shape[0] * shape[1]
    # A shared cluster of the first cover counts as `shape[1]` of the second: one product gives the
    # place in the table. Whole numbers up to 2^24 are exact in single precision.
    dtype = np.float32 if n_codes <= 1 << 24 else np.float64
    right = profiles.members.toarray().astype(dtype)
    left = right.copy()
    left[:, : profiles.n_true] *= shape[1]
    weights = profiles.weights.astype(np.float64)
    n_profiles, table = weights.size, np.zeros(n_codes)
    for start in range(0, n_profiles, _BLOCK[0]):
        rows = slice(start, min(start + _BLOCK[0], n_profiles))
        # Inside the square on the diagonal each pair occurs twice, and each item with itself.
        itself = np.einsum("ij,ij->i", left[rows], right[rows])
        square = _histogram(left[rows] @ right[rows].T, weights[rows], weights[rows], n_codes)
        square -= np.bincount(itself.astype(np.intp), weights[rows], n_codes)
        table += square / 2
        for begin in range(rows.stop, n_profiles, _BLOCK[1]):
            columns = slice(begin, begin + _BLOCK[1])
            product = left[rows] @ right[columns].T
            table += _histogram(product, weights[rows], weights[columns], n_codes)
    return table.astype(np.int64).reshape(shape)


def _histogram(
    codes: AnyArray, row_weights: FloatArray, column_weights: FloatArray, n_codes: int
) -> FloatArray:
    """Sum the products of weights of each code, a few rows at a time to stay in the cache."""
    total = np.zeros(n_codes)
    step = max(1, _CACHED // max(1, column_weights.size))
    for start in range(0, row_weights.size, step):
        part = slice(start, start + step)
        pairs = np.outer(row_weights[part], column_weights).ravel()
        total += np.bincount(codes[part].ravel().astype(np.intp), pairs, n_codes)
    return total
