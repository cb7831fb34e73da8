"""Pairs of items, counted by the numbers of clusters they share in two covers.

The table is small, and counted in one of three ways, never over an n x n table:

* *by subsets*, when items are in few clusters. The pairs of items that share all clusters of a set
  S number C(m_S, 2), where m_S items are in all of S. Summed over all S of i clusters of the first
  and j clusters of the second cover, this is the sum over pairs of C(a, i) C(b, j), from which the
  table follows by inclusion and exclusion. Sets that no two items share are never extended.
* *by blocks*, otherwise: products of blocks of the membership matrices.
* *by bits*, when there are so many pairs that compiled code pays: bits of two words in common.

Items with the same memberships in both covers are counted together in all three.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from neocc._typing import AnyArray, FloatArray
from neocc.engines.workers import Workers

# Time of a subset against that of a pair in a block or in a word (measured), and most subsets held
# at a time.
_SUBSET_COST = {"blocks": 15, "bits": 500}
_MOST_SUBSETS = 1 << 23
# Pairs from which on compiled code pays: below, NumPy takes less than numba does to be imported.
_MANY_PAIRS = 1 << 26
# Rows and columns of a block: large, for the product. Pairs counted at a time: few, for the cache.
_BLOCK = (1024, 4096)
_CACHED = 1 << 16
# First rows of the pairs that one thread counts at a time.
_ROWS_OF_A_TASK = 1024


def shared_clusters(
    true: Any, found: Any, many_pairs: float = _MANY_PAIRS, subset_cost: int | None = None
) -> NDArray[np.int64]:
    """Count pairs of items by the numbers of clusters they share in `true` and in `found`."""
    profiles = Profiles.of(true, found)
    n_pairs = comb(profiles.n_profiles, 2)
    otherwise = "bits" if n_pairs >= many_pairs else "blocks"
    cost = _SUBSET_COST[otherwise] if subset_cost is None else subset_cost
    table = count_by_subsets(profiles, budget=n_pairs // cost)
    if table is not None:
        return table
    return count_by_bits(profiles) if otherwise == "bits" else count_by_blocks(profiles)


@dataclass(frozen=True)
class Profiles:
    """The different combinations of memberships in two covers, and how many items have each.

    Attributes
    ----------
    members : csr_array of shape (n_profiles, n_true + n_found)
        The memberships, those of the first cover in the first `n_true` columns.
    n_true : int
        Clusters of the first cover.
    weights : int64 ndarray of shape (n_profiles,)
        Items.
    words : uint64 ndarray of shape (n_profiles, n_true_words + n_found_words)
        The memberships as bits.
    n_true_words : int
        Words of the first cover.
    """

    members: Any
    n_true: int
    weights: NDArray[np.int64]
    words: NDArray[np.uint64]
    n_true_words: int

    @classmethod
    def of(cls, true: Any, found: Any) -> Profiles:
        """Collect the profiles of two checked covers."""
        # Older versions of SciPy stack arrays to a matrix, whose sums have other shapes.
        members = sparse.csr_array(sparse.hstack([true, found], format="csr"))
        members.sort_indices()  # a set of clusters must have one spelling
        true_words = _words(true)
        words = np.hstack([true_words, _words(found)])
        opaque = words.view(np.dtype((np.void, words.dtype.itemsize * words.shape[1]))).ravel()
        _, first, weights = np.unique(opaque, return_index=True, return_counts=True)
        return cls(
            members[first],
            true.shape[1],
            weights.astype(np.int64),
            words[first],
            true_words.shape[1],
        )

    @property
    def n_profiles(self) -> int:
        """Number of different combinations."""
        return self.weights.size

    @property
    def n_items(self) -> int:
        """Number of items."""
        return int(self.weights.sum())

    @cached_property
    def sizes(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Numbers of clusters of either cover that each profile has."""
        true = np.asarray(self.members[:, : self.n_true].sum(axis=1))
        found = np.asarray(self.members[:, self.n_true :].sum(axis=1))
        return true, found

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of the table: no pair shares more clusters than an item has."""
        true, found = self.sizes
        return int(true.max()) + 1, int(found.max()) + 1


def _words(cover: Any) -> NDArray[np.uint64]:
    """Pack the rows of a CSR array of ones into bits, at least one word for each row."""
    cover = cover.sorted_indices()
    n_items, n_clusters = cover.shape
    words = np.zeros((n_items, max(1, -(-n_clusters // 64))), dtype=np.uint64)
    item = np.repeat(np.arange(n_items), np.diff(cover.indptr))
    place = item * words.shape[1] + cover.indices // 64
    bits = np.uint64(1) << (cover.indices % 64).astype(np.uint64)
    starts = np.flatnonzero(np.diff(place, prepend=-1))
    if starts.size:
        words.flat[place[starts]] = np.bitwise_or.reduceat(bits, starts)
    return words


def count_by_subsets(profiles: Profiles, budget: float) -> NDArray[np.int64] | None:
    """Table of :func:`shared_clusters` from the numbers of items in all of a set of clusters.

    None if this takes more than `budget` subsets of the profiles, or too many of one size.
    """
    indptr, clusters = profiles.members.indptr, profiles.members.indices
    n_clusters = profiles.members.shape[1]
    profile = np.repeat(np.arange(profiles.n_profiles), np.diff(indptr))
    weights, end = profiles.weights[profile], indptr[1:][profile]
    moments = np.zeros(profiles.shape, dtype=object)
    moments[0, 0] = comb(profiles.n_items, 2)
    # An entry is a set of clusters of one profile; `last` is the place of the last one. Sets of one
    # size are handled together, and numbered: `n_true` of their clusters are of the first cover.
    # Here the empty set, from which each profile has as many ways on as it has clusters.
    last, n_more = indptr[:-1] - 1, np.diff(indptr)
    number, n_true = np.zeros(profiles.n_profiles, dtype=np.int64), np.zeros(1, dtype=np.intp)
    size = 0
    while n_subsets := int(n_more.sum()):
        budget -= n_subsets
        if budget < 0 or n_subsets > _MOST_SUBSETS:
            return None
        size += 1
        first = np.cumsum(n_more) - n_more
        last = np.arange(n_subsets) + np.repeat(last + 1 - first, n_more)
        key = np.repeat(number, n_more) * n_clusters + clusters[last]
        values, number = np.unique(key, return_inverse=True)
        n_true = n_true[values // n_clusters] + (values % n_clusters < profiles.n_true)
        n_items = np.bincount(number, weights[last]).astype(np.int64)
        pairs = n_items * (n_items - 1) // 2
        for i in np.unique(n_true):
            moments[i, size - i] = int(pairs[n_true == i].sum())
        # Sets held by one item only make no pairs, and neither do sets that contain them.
        n_more = np.where(n_items[number] > 1, end[last] - last - 1, 0)
    signs = [_signed_binomials(count) for count in profiles.shape]
    return (signs[0] @ moments @ signs[1].T).astype(np.int64)


def _signed_binomials(size: int) -> AnyArray:
    """(-1)^(i - a) C(i, a) at row a, column i: from sums of C(a, i) back to counts of a."""
    table = np.zeros((size, size), dtype=object)
    for a in range(size):
        for i in range(a, size):
            table[a, i] = (-1) ** (i - a) * comb(i, a)
    return table


def count_by_blocks(
    profiles: Profiles, block: tuple[int, int] = _BLOCK, cached: int = _CACHED
) -> NDArray[np.int64]:
    """Table of :func:`shared_clusters` from products of blocks of the membership matrices."""
    shape = profiles.shape
    n_codes = shape[0] * shape[1]
    # A shared cluster of the first cover counts as `shape[1]` of the second: one product gives the
    # place in the table. Whole numbers up to 2^24 are exact in single precision.
    dtype = np.float32 if n_codes <= 1 << 24 else np.float64
    right = profiles.members.toarray().astype(dtype)
    left = right.copy()
    left[:, : profiles.n_true] *= shape[1]
    weights = profiles.weights.astype(np.float64)
    n_profiles, table = weights.size, np.zeros(n_codes)
    for start in range(0, n_profiles, block[0]):
        rows = slice(start, min(start + block[0], n_profiles))
        # Inside the square on the diagonal each pair occurs twice, and each item with itself.
        itself = np.einsum("ij,ij->i", left[rows], right[rows])
        product = left[rows] @ right[rows].T
        square = _histogram(product, weights[rows], weights[rows], n_codes, cached)
        square -= np.bincount(itself.astype(np.intp), weights[rows], n_codes)
        table += square / 2
        for begin in range(rows.stop, n_profiles, block[1]):
            columns = slice(begin, begin + block[1])
            product = left[rows] @ right[columns].T
            table += _histogram(product, weights[rows], weights[columns], n_codes, cached)
    return table.astype(np.int64).reshape(shape)


def _histogram(
    codes: AnyArray,
    row_weights: FloatArray,
    column_weights: FloatArray,
    n_codes: int,
    cached: int,
) -> FloatArray:
    """Sum the products of weights of each code, a few rows at a time to stay in the cache."""
    total = np.zeros(n_codes)
    step = max(1, cached // max(1, column_weights.size))
    for start in range(0, row_weights.size, step):
        part = slice(start, start + step)
        pairs = np.outer(row_weights[part], column_weights).ravel()
        total += np.bincount(codes[part].ravel().astype(np.intp), pairs, n_codes)
    return total


def count_by_bits(profiles: Profiles, rows_of_a_task: int = _ROWS_OF_A_TASK) -> NDArray[np.int64]:
    """Table of :func:`shared_clusters` from the bits that the words of two profiles share."""
    from neocc.metrics._pairs import count_pairs

    shape, n_profiles = profiles.shape, profiles.n_profiles
    words = np.ascontiguousarray(profiles.words.T)
    # As in the blocks: a shared cluster of the first cover counts as `shape[1]` of the second.
    scales = np.ones(len(words), dtype=np.uint32)
    scales[: profiles.n_true_words] = shape[1]

    def count(start: int) -> NDArray[np.int64]:
        counts = np.zeros(shape[0] * shape[1], dtype=np.int64)
        stop = min(start + rows_of_a_task, n_profiles)
        count_pairs(words, scales, profiles.weights, start, stop, counts)
        return counts

    table = np.zeros(shape, dtype=np.int64)
    with Workers() as workers:
        for counts in workers.ordered(count, range(0, n_profiles, rows_of_a_task)):
            table += counts.reshape(shape)
    # Two items of the same profile share all its clusters.
    np.add.at(table, profiles.sizes, profiles.weights * (profiles.weights - 1) // 2)
    return table
