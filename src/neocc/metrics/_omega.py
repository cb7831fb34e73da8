"""The omega index: do two covers agree on how many clusters pairs of items share?

Everything follows from one small table, the number of pairs of items that share a clusters in the
first cover and b in the second. It is counted in one of two ways, never over an n x n table:

* *by subsets*, when items are in few clusters. The pairs of items that share all clusters of a set S
  number C(m_S, 2), where m_S items are in all of S. Summed over all S of i clusters of the first and j
  clusters of the second cover, this is the sum over pairs of C(a, i) C(b, j), from which the table
  follows by inclusion and exclusion. Sets that no two items share are never extended.
* *by blocks*, otherwise: products of blocks of the membership matrices, small enough for the cache.

Items with the same memberships in both covers are counted together in either.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from neocc._typing import AnyArray, IntArray
from neocc.metrics._covers import read_covers

# Time of a subset against time of a pair in a block, measured; and the most subsets worth their memory.
_SUBSET_COST = 30
_MOST_SUBSETS = 1 << 24
# Rows and columns of a block of pairs.
_BLOCK = (64, 8192)


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
        1 for equal covers, about 0 for unrelated ones, negative for less agreement than by chance. If
        all pairs share the same number of clusters in both covers, or there are no pairs, 1.

    See Also
    --------
    overlapping_nmi : Agreement of whole clusters.
    sklearn.metrics.adjusted_rand_score : The same for clusters that do not overlap.

    Notes
    -----
    The value is exact: pairs are counted in integers. The time grows with the number of different
    combinations of memberships, g. If items are in few clusters it is proportional to the number of
    subsets of their memberships; if not, to :math:`g^2`, with memory for g rows only.

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
    0.3333
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
    """Count pairs of items by the clusters they share: entry (a, b) for a in `true`, b in `found`."""
    profiles = _Profiles.of(true, found)
    n_groups = profiles.weights.size
    n_memberships = np.diff(profiles.members.indptr)
    n_subsets = float(np.exp2(n_memberships.astype(float)).sum())
    if n_subsets <= min(_MOST_SUBSETS, n_groups**2 / _SUBSET_COST):
        return count_by_subsets(profiles)
    return count_by_blocks(profiles)


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


def count_by_subsets(profiles: _Profiles) -> NDArray[np.int64]:
    """Table of :func:`shared_clusters` from the numbers of items in all of a set of clusters."""
    members, weights = profiles.members, profiles.weights
    indptr, clusters = members.indptr.astype(np.intp), members.indices.astype(np.intp)
    n_clusters = members.shape[1]
    largest = profiles.largest
    moments = np.zeros((largest[0] + 1, largest[1] + 1), dtype=object)
    moments[0, 0] = comb(profiles.n_items, 2)
    # An entry is a profile and a set of its clusters, of which `last` points to the largest. All sets
    # of one size are handled together, starting with one cluster.
    row = np.repeat(np.arange(weights.size), np.diff(indptr))
    last = np.arange(clusters.size)
    key = clusters
    n_from_true = np.zeros(1, dtype=np.intp)
    size = 1
    while row.size:
        values, entry_set = np.unique(key, return_inverse=True)
        n_from_true = n_from_true[values // n_clusters] + (values % n_clusters < profiles.n_true)
        in_set = np.bincount(entry_set, weights=weights[row])
        pairs = in_set * (in_set - 1) / 2
        for i in np.unique(n_from_true):
            moments[i, size - i] += int(pairs[n_from_true == i].sum())
        # Sets held by one item only make no pairs, and neither do sets that contain them.
        entry = np.flatnonzero(in_set[entry_set] >= 2)
        n_more = indptr[row[entry] + 1] - last[entry] - 1
        entry = np.repeat(entry, n_more)
        step = np.arange(entry.size) - np.repeat(np.cumsum(n_more) - n_more, n_more) + 1
        row, last = row[entry], last[entry] + step
        key = entry_set[entry] * n_clusters + clusters[last]
        size += 1
    signs = [_signed_binomials(count + 1) for count in largest]
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
    dtype = np.float32 if n_codes < 1 << 24 else np.float64
    right = profiles.members.toarray().astype(dtype)
    left = right.copy()
    left[:, : profiles.n_true] *= shape[1]
    weights = profiles.weights.astype(np.float64)
    n_groups, table = weights.size, np.zeros(n_codes)
    buffer = np.empty(_BLOCK[0] * _BLOCK[1], dtype=np.intp)

    def count(rows: slice, columns: slice) -> AnyArray:
        product = left[rows] @ right[columns].T
        codes = buffer[: product.size]
        codes[:] = product.ravel()
        pairs = None if unweighted else np.outer(weights[rows], weights[columns]).ravel()
        return np.bincount(codes, pairs, minlength=n_codes)

    unweighted = bool((weights == 1).all())
    for start in range(0, n_groups, _BLOCK[0]):
        rows = slice(start, min(start + _BLOCK[0], n_groups))
        # Inside the square on the diagonal each pair occurs twice, and each item with itself.
        square = count(rows, rows)
        itself = (left[rows] * right[rows]).sum(axis=1).astype(np.intp)
        table += (square - np.bincount(itself, weights[rows], minlength=n_codes)) / 2
        for begin in range(rows.stop, n_groups, _BLOCK[1]):
            table += count(rows, slice(begin, begin + _BLOCK[1]))
    return table.astype(np.int64).reshape(shape)
