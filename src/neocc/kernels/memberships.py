"""Memberships: the matrices U and V of the paper, stored as short lists.

Nearly every item has exactly one membership, so a membership matrix is kept as the first cluster of
each item plus a list of the few further ones. Kernels read these flat arrays; `dense` gives the
boolean matrix.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from neocc._typing import BoolArray, FloatArray, IntArray, LabelArray
from neocc.kernels.inputs import inverse, inverse_gram
from neocc.kernels.pieces import joined_pieces

# A line of zeros comes last; `np.eye` would show, so often are memberships in few clusters made.
_LINES: list[FloatArray] = [np.eye(k + 1, k) for k in range(33)]


# They are never changed; freezing would cost more than making them, in every half-step.
@dataclass
class Memberships:
    """Memberships of `n_items` items in `n_clusters` clusters.

    Parameters
    ----------
    first : int32 array of shape (n_items,)
        One cluster of each item, -1 if its memberships (if any) are all in the extra list.
    extra_items, extra_clusters : arrays of equal length
        The further memberships, ordered by item. No membership occurs twice.
    n_clusters : int
        Number of clusters, empty ones included.
    scale : array of shape (n_items,) or None
        Weight of each membership of an item, where memberships do not all count once.
    mixed : bool
        Whether an item is a combination of its clusters, fitted together; its squares count once.
    virtual : Memberships or None
        Memberships of the same items in virtual clusters, over which data are summed instead.
    stands_for : int32 array of shape (n_clusters, other clusters) or None
        Which cluster each virtual one stands for within each cluster of the other side, -1 for
        none. None if each stands for the cluster of its number everywhere.
    item_weights : array of shape (n_items,) or None
        How many items each counts as, where not all count as one; part of `scale`.
    pieces : array of shape (n_items, n_columns) or None
        Of virtual memberships, where columns have no clusters: the one in which each column of an
        item of several counts; -1 for other items.
    """

    first: LabelArray
    extra_items: IntArray
    extra_clusters: LabelArray
    n_clusters: int
    scale: FloatArray | None = None
    mixed: bool = False
    virtual: Memberships | None = None
    stands_for: LabelArray | None = None
    item_weights: FloatArray | None = None
    pieces: LabelArray | None = None

    @classmethod
    def from_dense(cls, matrix: BoolArray) -> Memberships:
        """Read a boolean matrix of shape (n_items, n_clusters)."""
        covered = (matrix := np.asarray(matrix, dtype=bool)).any(axis=1)
        first = np.where(covered, matrix.argmax(axis=1), -1).astype(np.int32)
        rest, at = matrix.copy(), np.flatnonzero(covered)
        rest[at, first[at]] = False
        items, clusters = np.nonzero(rest)
        return cls(first, items, clusters.astype(np.int32), matrix.shape[1])

    @classmethod
    def from_labels(cls, labels: LabelArray, n_clusters: int) -> Memberships:
        """One cluster per item, -1 for none."""
        return cls(labels.astype(np.int32, copy=False), _NO_ITEMS, _NO_LABELS, n_clusters)

    @classmethod
    def partition(cls, labels: LabelArray, n_clusters: int) -> Memberships:
        """One cluster for every item."""
        members = cls(labels, _NO_ITEMS, _NO_LABELS, n_clusters)
        counts = np.bincount(labels, minlength=n_clusters)
        sizes, has_empty = counts.astype(np.float64), 0 in counts.tolist()
        known = {} if has_empty else {"inverse_sizes": np.reciprocal(sizes)}
        members.__dict__.update(is_partition=True, sizes=sizes, has_empty=has_empty, **known)
        return members

    @classmethod
    def joined(cls, parts: Sequence[Memberships]) -> Memberships:
        """Put the memberships of consecutive ranges of items together: the reverse of `slice`."""
        if len(parts) == 1:
            return parts[0]
        offsets = np.cumsum([0, *(part.n_items for part in parts)])
        extra_items = [part.extra_items + at for part, at in zip(parts, offsets, strict=False)]
        widest = max(parts, key=lambda part: part.n_clusters)
        # A part without extra memberships has no weights: all of them are one.
        scales = [np.ones(p.n_items) if p.scale is None else p.scale for p in parts]
        weights = [part.item_weights for part in parts if part.item_weights is not None]
        return cls(
            np.concatenate([part.first for part in parts]),
            np.concatenate(extra_items),
            np.concatenate([part.extra_clusters for part in parts]),
            widest.n_clusters,
            np.concatenate(scales) if any(part.is_scaled for part in parts) else None,
            any(part.mixed for part in parts),
            cls.joined([part.summed for part in parts]) if any(p.virtual for p in parts) else None,
            widest.stands_for,
            np.concatenate(weights) if weights else None,
            joined_pieces([(part.pieces, part.n_items) for part in parts]),
        )

    def __getstate__(self) -> dict[str, Any]:
        # Tables made from the lists on demand are made again where they are needed.
        return {name: self.__dict__[name] for name in self.__dataclass_fields__}

    def weighing(self, weights: FloatArray | None) -> Memberships:
        """Return memberships of items that count as so many, given those that count as one."""
        if weights is None:
            return self
        scale = weights if self.scale is None else self.scale * weights
        return replace(self, scale=scale, item_weights=weights)

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.first)

    @property
    def summed(self) -> Memberships:
        """The memberships by which data are summed: virtual ones where there are any."""
        return self if self.virtual is None else self.virtual

    @cached_property
    def dense(self) -> BoolArray:
        """The boolean membership matrix of shape (n_items, n_clusters)."""
        matrix = np.zeros((self.n_items, self.n_clusters), dtype=bool)
        matrix[at := np.flatnonzero(self.first >= 0), self.first[at]] = True
        matrix[self.extra_items, self.extra_clusters] = True
        return matrix

    @cached_property
    def indicator(self) -> FloatArray:
        """The matrix of weighted memberships, for matrix products."""
        k = self.n_clusters
        matrix = (_LINES[k] if k < len(_LINES) else np.eye(k + 1, k)).take(self.first, axis=0)
        if len(self.extra_items):
            matrix.reshape(-1)[self.extra_items * k + self.extra_clusters] = 1.0
        return matrix if self.scale is None else matrix * self.scale[:, None]

    @property
    def shares(self) -> FloatArray:
        """The same matrix for items that all count as one."""
        a, u = self.item_weights, self.indicator
        return u if a is None else np.asarray(u / a[:, None])

    @cached_property
    def sizes(self) -> FloatArray:
        """Total weight of the members of each cluster, n_i in the paper."""
        return self.sums_of(self.scale)

    @cached_property
    def inverse_sizes(self) -> FloatArray:
        """1 / size of each cluster, 0 for an empty one."""
        return inverse(self.sizes) if self.has_empty else np.asarray(1.0 / self.sizes)

    @cached_property
    def has_empty(self) -> bool:
        """Whether some cluster has no members."""
        return int(np.count_nonzero(self.sizes)) < self.n_clusters

    @property
    def is_scaled(self) -> bool:
        """Whether memberships have weights."""
        return self.scale is not None

    def sums_of(self, values: FloatArray | None) -> FloatArray:
        """Return the sum of a number per item (1 for None) over the members of each cluster."""
        n = self.n_clusters + 1
        sums = np.bincount(self.first + 1, values, minlength=n)[1:].astype(np.float64)
        if len(self.extra_items):
            some = None if values is None else values[self.extra_items]
            sums += np.bincount(self.extra_clusters, some, minlength=self.n_clusters)
        return sums

    @cached_property
    def numbers(self) -> IntArray:
        """Number of memberships of each item."""
        counts: IntArray = (self.first >= 0).astype(np.intp)
        counts += np.bincount(self.extra_items, minlength=self.n_items)
        return counts

    @cached_property
    def weights(self) -> FloatArray:
        """How often the squares of each item count: f = U 1, or once if clusters are mixed."""
        if self.mixed:
            covered = (self.numbers > 0).astype(np.float64)
            return covered if self.item_weights is None else covered * self.item_weights
        numbers = self.numbers.astype(np.float64)
        return numbers if self.scale is None else numbers * self.scale

    @cached_property
    def overlapping(self) -> tuple[IntArray, Memberships]:
        """The items with extra memberships, and all memberships of these."""
        items = np.flatnonzero(self.has_extra)
        virtual, places = self.virtual and self.virtual.take(items), np.cumsum(self.has_extra) - 1
        return items, self._part(items, places[self.extra_items], self.extra_clusters, virtual)

    @cached_property
    def gram(self) -> FloatArray:
        """U'U of the weighted memberships, of shape (n_clusters, n_clusters)."""
        alone = self.first.copy()
        alone[self.extra_items] = -1
        squares = None if self.scale is None else self.scale**2
        if squares is not None and self.item_weights is not None:
            squares /= self.item_weights
        gram = np.diag(Memberships.from_labels(alone, self.n_clusters).sums_of(squares))
        some = self.overlapping[1]
        gram += some.shares.T @ some.indicator
        return gram

    @cached_property
    def _inverse_gram(self) -> FloatArray:
        """The (pseudo-)inverse of U'U: clusters may be combinations of others, or empty."""
        return inverse_gram(self.gram)

    def fitted(self, sums: FloatArray) -> FloatArray:
        """Turn sums over clusters, a row each, into the values of clusters that fit best.

        These are means, or for mixed clusters least squares.
        """
        if self.mixed:
            return self._inverse_gram @ sums
        return sums * self.inverse_sizes.reshape(-1, *[1] * (sums.ndim - 1))

    def inner(self, one: FloatArray, other: FloatArray) -> FloatArray:
        """Return the inner products of lines of values of clusters, each as long as the items."""
        return (one @ self.gram if self.mixed else one * self.sizes) @ other.T

    def norms(self, values: FloatArray) -> FloatArray:
        """Return the squared norm of each line."""
        if self.mixed:
            return np.asarray(np.einsum("ij,ij->i", values @ self.gram, values))
        return np.asarray((values * values) @ self.sizes)

    @cached_property
    def is_partition(self) -> bool:
        """Whether every item has one membership, of weight one."""
        return self.scale is None and not len(self.extra_items) and self.first.min(initial=0) >= 0

    @cached_property
    def extra_ptr(self) -> IntArray:
        """Extra memberships of item i lie from `extra_ptr[i]` to `extra_ptr[i + 1]`."""
        ptr = np.zeros(self.n_items + 1, dtype=np.intp)
        np.cumsum(np.bincount(self.extra_items, minlength=self.n_items), out=ptr[1:])
        return ptr

    @cached_property
    def has_extra(self) -> BoolArray:
        """Which items have extra memberships."""
        return np.bincount(self.extra_items, minlength=self.n_items) > 0

    @property
    def n_total(self) -> int:
        """Total number of memberships."""
        return int(np.count_nonzero(self.first >= 0)) + len(self.extra_items)

    @property
    def outliers(self) -> BoolArray:
        """Which items belong to no cluster."""
        return np.asarray((self.first < 0) & ~self.has_extra)

    def slice(self, start: int, stop: int) -> Memberships:
        """Return the memberships of items `start` to `stop`, renumbered from zero."""
        if (start, stop) == (0, self.n_items):
            return self
        low, high = self.extra_items.searchsorted((start, stop))
        extra = self.extra_items[low:high] - start, self.extra_clusters[low:high]
        virtual = self.virtual and self.virtual.slice(start, stop)
        return self._part(slice(start, stop), *extra, virtual)

    def take(self, items: IntArray) -> Memberships:
        """Return the memberships of some items, in ascending order, renumbered from zero."""
        place = np.full(self.n_items, -1)
        place[items] = np.arange(len(items))
        at = place[self.extra_items]
        kept = at >= 0
        virtual = self.virtual and self.virtual.take(items)
        return self._part(items, at[kept], self.extra_clusters[kept], virtual)

    def _part(self, at: Any, items: Any, clusters: Any, virtual: Any) -> Memberships:
        lines = (self.scale, self.item_weights, self.pieces)
        scale, weights, pieces = (None if line is None else line[at] for line in lines)
        some = (self.first[at], items, clusters, self.n_clusters, scale)
        return Memberships(*some, self.mixed, virtual, self.stands_for, weights, pieces)


_NO_ITEMS: IntArray = np.empty(0, dtype=np.intp)
_NO_LABELS: LabelArray = np.empty(0, dtype=np.int32)
