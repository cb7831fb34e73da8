"""What kernels read besides memberships: blocks of rows, features of items, terms of distances.

And inverses where something may be zero: sizes of clusters, and their Gram matrices.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias

import numpy as np
from scipy import sparse

from neocc._typing import AnyArray, FloatArray, IntArray

# A distance is rounded to 2**-40 of itself, and to no less than 2**-46 of the terms it is made of.
TIE_SCALE = 2.0**12
NOISE_SCALE = 2.0**6
# Sums of distances that differ by this share may differ by rounding alone.
SAME_SUM = 1e-9
# Of a largest eigenvalue, the share below which another counts as zero.
_SINGULAR = 1e-10


def inverse(sizes: FloatArray) -> FloatArray:
    """1 / size, and 0 for an empty cluster: its sums are 0 and so shall be its means."""
    return np.divide(1.0, sizes, out=np.zeros_like(sizes), where=sizes > 0)


def inverse_gram(gram: FloatArray) -> FloatArray:
    """Return the inverse of a Gram matrix, or its pseudo-inverse if it is singular."""
    try:
        least = np.square(np.diag(np.linalg.cholesky(gram))).min(initial=np.inf)
    except np.linalg.LinAlgError:
        least = 0.0
    if least > _SINGULAR * np.diag(gram).max(initial=0.0):
        return np.asarray(np.linalg.inv(gram), dtype=np.float64)
    return np.asarray(np.linalg.pinv(gram, rcond=_SINGULAR, hermitian=True), dtype=np.float64)


class SparseBlock(NamedTuple):
    """Rows of a CSR matrix as views; `indptr` keeps its positions in the whole matrix.

    Where only stored cells were observed, they may have `weights`, and `data` are values times the
    square roots of these: their squares are weighted then.
    """

    indptr: AnyArray
    indices: AnyArray
    data: AnyArray
    n_columns: int
    weights: AnyArray | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows in the block."""
        return len(self.indptr) - 1

    def stored(self) -> slice:
        """Where the block's entries lie in `indices` and `data`."""
        return slice(int(self.indptr[0]), int(self.indptr[-1]))

    def matrix(self, data: AnyArray | None = None) -> sparse.csr_array:
        """Return the block as a SciPy matrix, with its own values or with `data` in their place."""
        at = self.stored()
        values = self.data[at] if data is None else data
        return sparse.csr_array(
            (values, self.indices[at], self.indptr - self.indptr[0]),
            shape=(self.n_rows, self.n_columns),
        )

    def lines(self, rows: IntArray) -> FloatArray:
        """Return a few rows as a dense table."""
        table = np.zeros((len(rows), self.n_columns))
        for line, row in zip(table, rows, strict=True):
            at = slice(int(self.indptr[row]), int(self.indptr[row + 1]))
            line[self.indices[at]] = self.data[at]
        return table


Block: TypeAlias = SparseBlock | FloatArray
"""Rows as CSR views, or dense in float64."""


Base: TypeAlias = Literal["weighted", "plain", "margins"]
"""What the base of an item is: its squares, weighted as the other side says or not, or its sum."""


# They are never changed; freezing them would cost more than making them, in every half-step.
@dataclass(slots=True)
class Features:
    """What the distances of some items need from the data; None for what is not needed.

    Attributes
    ----------
    sums : array of shape (n_items, other clusters) or None
        S: X V of rows, X' U of columns.
    squares : array of shape (n_items,)
        The base.
    products : array of shape (n_items, own clusters) or None
        H: X D(w) X' U of rows, X' D(f) X V of columns.
    counts : array of shape (n_items, other clusters) or None
        N: weights of observed cells, W V of rows, W' U of columns; S are those of W o X then.
    """

    sums: FloatArray | None
    squares: FloatArray
    products: FloatArray | None = None
    counts: FloatArray | None = None

    # The object that holds them outside this process, on a GPU; see `neocc.engines.gpu`.
    place: ClassVar[Any] = None

    def blocks(self, V: Any, name: str = "sums") -> FloatArray:
        """Return T' V, of one of the tables T and memberships V."""
        found: FloatArray = getattr(self, name).T.dot(V.indicator)
        return found

    def diagonal(self, V: Any, name: str) -> FloatArray:
        """Return the diagonal of T' V."""
        return np.asarray(np.einsum("tj,tj->j", getattr(self, name), V.indicator))

    @property
    def here(self) -> Features:
        """The features with all tables in the memory of this process."""
        return self

    def kept(self, name: str) -> Any:
        """Return a table in the memory that it is in."""
        return getattr(self, name)

    def fetched(self, found: Any) -> FloatArray:
        """Return what was computed from such a table, in the memory of this process."""
        return np.asarray(found)

    def energies(self, name: str) -> FloatArray:
        """Return the sums of squares of the columns of a table."""
        T = self.kept(name)
        return self.fetched(np.einsum("tq,tq->q", T, T))

    def totals(self, name: str) -> FloatArray:
        """Return the sums of the columns of a table."""
        return self.fetched(self.kept(name).sum(axis=0))

    def largest(self, name: str, scale: FloatArray) -> float:
        """Return the largest number of a table whose columns are scaled."""
        return float((getattr(self, name) * scale).max(initial=0.0))

    def weighed(self, V: Any) -> float:
        """Return the base of all items, each as often as it counts."""
        return float(V.weights @ self.squares)

    def tables(self) -> list[FloatArray]:
        """Return all tables that there are."""
        every = (self.sums, self.squares, self.products, self.counts)
        return [table for table in every if table is not None]

    def copied(self) -> Features:
        """Return a copy, tables and all."""
        every = (self.sums, self.squares, self.products, self.counts)
        return Features(*(None if table is None else table.copy() for table in every))  # type: ignore[arg-type]

    def __add__(self, other: Features) -> Features:
        return self.copied().combined(other)

    def combined(self, other: Features, operation: Any = np.add) -> Features:
        """Add or subtract others in place: k x m temporaries are significant next to X."""
        for mine, others in zip(self.tables(), other.tables(), strict=True):
            operation(mine, others, out=mine)
        return self


@dataclass(slots=True)
class Terms:
    """The small tables of one half-step: everything in the distance but the features.

    Attributes
    ----------
    offset, magnitude : arrays of shape (own clusters,)
        `magnitude` bounds the size of the terms that cancel in a distance. It is infinite for a
        cluster without members, which no item may join.
    slope : array of shape (other clusters, own clusters) or None
    scale : array of shape (own clusters,), or (own clusters, own clusters), or None
    shrink : array of shape (other clusters,), or (other clusters, other clusters), or None
    table : array of shape (n_columns, own clusters) or None
        D(w) X' U: rows times this table are their products.
    gram : array of shape (own clusters, own clusters) or None
        Inner products of the prototypes of clusters, where items may combine several.
    rate : array of shape (own clusters,) or None
        How often the base of an item counts in its distance; None for once.
    base : str
        What the base of an item is.
    curve : array of shape (other clusters, own clusters) or None
        What the weights of observed cells are multiplied by.
    single : int
        Number of single clusters, where the others stand for pairs of them; 0 if all are single.
    all_zero : bool
        Whether items whose base is zero are all zero, and have one membership at most.
    constant : float
        What the objective has beside the distances of all memberships, and these tables tell.
    """

    offset: FloatArray
    slope: FloatArray | None
    scale: FloatArray | None
    shrink: FloatArray | None
    magnitude: FloatArray
    table: FloatArray | None = None
    gram: FloatArray | None = None
    rate: FloatArray | None = None
    base: Base = "weighted"
    curve: FloatArray | None = None
    constant: float = 0.0
    single: int = 0
    all_zero: bool = False

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return len(self.offset)


class SetCosts(NamedTuple):
    """The parts of the cost of a set of clusters, by its size (`neocc.core.overlap.model`).

    `own`, `fixed` and `joint` have a number for each size from 1, `pairs` one for each two clusters
    (None for 0 everywhere).
    """

    own: FloatArray
    fixed: FloatArray
    joint: FloatArray
    pairs: FloatArray | None


class Parts(NamedTuple):
    """Distances of items in parts, one for each cluster of the other side.

    The part of cluster j in the distance of item p to cluster q is

        slope_jq S_pj + curve_jq N_pj,

    with S the `sums` of the items and N the weights of their cells there: `counts`, a row for each
    item, or one array if they are the same for all. `slope` and `curve` have shape (other clusters,
    own clusters). `magnitude` is that of the terms, infinite for an empty cluster. Where the other
    side has no clusters, the items are `whole`: each of their cells is a part, and `sums` are the
    items themselves, or what makes lines of them when it is indexed.
    """

    sums: FloatArray
    counts: FloatArray
    slope: FloatArray
    curve: FloatArray
    magnitude: FloatArray
    whole: bool = False

    @classmethod
    def of_whole(cls, items: Any, terms: Terms) -> Parts:
        """Return the parts of squared distances from centres, one for each cell."""
        assert terms.table is not None and terms.scale is not None
        slope = terms.table * terms.scale
        ones = np.ones(len(slope))
        return cls(items, ones, slope, np.square(slope / 2.0), terms.magnitude, whole=True)

    @classmethod
    def of(
        cls, sums: FloatArray, counts: FloatArray | None, terms: Terms, sizes: FloatArray
    ) -> Parts:
        """Return the parts of squared distances from block values: slope = -2 M, curve = M o M.

        Where all cells count, they are as many as the other clusters have items.
        """
        assert terms.slope is not None
        curve = np.square(terms.slope / 2.0) if terms.curve is None else terms.curve
        return cls(sums, sizes if counts is None else counts, terms.slope, curve, terms.magnitude)

    @classmethod
    def joined(cls, parts: Sequence[Parts]) -> Parts:
        """Put those of consecutive items together."""
        first, sums = parts[0], np.concatenate([each.sums for each in parts])
        if first.counts.ndim == 1:
            return first._replace(sums=sums)
        return first._replace(sums=sums, counts=np.concatenate([each.counts for each in parts]))

    def take(self, items: slice | IntArray) -> Parts:
        """Return those of some items."""
        counts = self.counts if self.counts.ndim == 1 else self.counts[items]
        return self._replace(sums=self.sums[items], counts=counts)

    def table(self, items: slice | IntArray) -> FloatArray:
        """Return the parts of some items: items, own clusters, other clusters."""
        some = self.take(items)
        curved = some.counts[..., None, :] * self.curve.T
        return np.asarray(some.sums[:, None] * self.slope.T + curved)

    def unexplained(self, squares: FloatArray) -> FloatArray:
        """Return what no cluster explains of items: squares less those of their means."""
        explained = np.square(self.sums) * inverse(self.counts)
        return np.asarray(squares - explained.sum(axis=1))
