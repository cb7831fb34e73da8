"""A shard in memory that updates sums that are exact in any order from what changed.

Sums of whole numbers, or of multiples of a power of two, have no rounding as long as float64 holds
them: counts, ratings and 0/1 data may be added and subtracted in any order, and so may ratings
minus effects of rows and columns (`neocc.core.biases` rounds these for it). In most iterations few
rows and columns change clusters. Column sums are then updated from the rows that did, and sums of
rows from the columns that did (a copy of the entries by column holds these), with the bits of sums
over all entries. Squares need twice the digits: those that are rounded are summed anew. Numbers of
observed cells are whole whatever the values are: of other values, those of columns are updated, and
only the values are summed anew.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np
from scipy import sparse

from neocc._typing import BoolArray, FloatArray
from neocc.core.assign import Applied
from neocc.core.biases import SUM_DIGITS
from neocc.engines.following import few_changed
from neocc.engines.matrix import Matrix, SparseMatrix
from neocc.engines.passes import Rows
from neocc.engines.shard import Shard
from neocc.engines.sums import add_squares
from neocc.kernels import Base, Features, Memberships, SparseBlock, Terms

__all__ = ["ExactShard", "is_updated", "squares_exactly", "sums_exactly"]

Result = TypeVar("Result")

# Binary digits of sums of squares, each of which may count a thousand times.
_SQUARE_DIGITS = 43
_CHUNK = 1 << 16


class _ColumnSums(NamedTuple):
    """Column features, and what they were computed for."""

    U: Memberships
    base: Base | None
    features: Features


class _RowSums(NamedTuple):
    """Sums of rows over the clusters of V, with squares where these depend on V, and counts."""

    V: Memberships
    sums: FloatArray
    squares: FloatArray | None
    counts: FloatArray | None


def is_updated(matrix: Matrix) -> bool:
    """Whether a matrix is sparse, in memory, and its entries count once."""
    known = isinstance(matrix, SparseMatrix) and matrix.weights is None
    return known and sparse.issparse(matrix.values)


def sums_exactly(matrix: Matrix) -> bool:
    """Whether a matrix `is_updated` and sums over its rows and columns have no rounding."""
    return is_updated(matrix) and _are_multiples(matrix, 1, SUM_DIGITS)


def squares_exactly(matrix: Matrix) -> bool:
    """Whether a matrix `is_updated` and sums of its squares have no rounding, either."""
    return is_updated(matrix) and _are_multiples(matrix, 2, _SQUARE_DIGITS)


def _are_multiples(matrix: Matrix, power: int, digits: int) -> bool:
    """Whether all values are multiples of the power of two that sums of their powers allow."""
    values = matrix.values.data
    largest = max(-float(values.min(initial=0)), float(values.max(initial=0)))
    if largest == 0.0:
        return True
    step = np.exp2(math.ceil(math.log2(largest) + (math.log2(max(matrix.shape)) - digits) / power))
    starts = range(0, len(values), _CHUNK)
    parts = (values[at : at + _CHUNK].astype(np.float64) / step for at in starts)
    return all(np.array_equal(part, np.rint(part)) for part in parts)


class ExactShard(Shard):
    """A shard of a matrix that `is_updated`.

    `exact` tells whether it `sums_exactly`, `exact_squares` whether it `squares_exactly`.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.exact = sums_exactly(self.matrix)
        self.exact_squares = self.exact and squares_exactly(self.matrix)
        self._of_columns: _ColumnSums | None = None
        self._of_rows: _RowSums | None = None

    def twin(self) -> Self:
        """Return the same rows for a run of another thread, with sums of its own."""
        twin = super().twin()
        vars(twin).update(_of_columns=None, _of_rows=None)
        return twin

    def column_features(
        self,
        U: Memberships | Applied | None,
        V: Memberships | None,
        base: Base | None = "weighted",
        counts: bool = False,
    ) -> Features:
        """Return the features of all columns, updated from the last ones if few rows changed."""
        U = U.members if isinstance(U, Applied) else U
        last, self._of_columns = self._of_columns, None
        if U is None or V is not None or not (self.exact or counts) or not _is_unweighted(U):
            return super().column_features(U, V, base, counts)
        moved = None
        if last is not None and last.base == base and counts == (last.features.counts is not None):
            moved = few_changed(last.U, U, self.options.max_changed)
        if last is None or moved is None:
            found = super().column_features(U, V, base, counts)
        else:
            found = self._updated(last, U, moved) if moved.any() else last.features
            self.reads.passes += np.count_nonzero(moved) / len(moved)
        if moved is not None and not self.exact:
            found = replace(super().column_features(U, V, base), counts=found.counts)
        self._of_columns = _ColumnSums(U, base, found)
        return found

    def _updated(self, last: _ColumnSums, U: Memberships, moved: BoolArray) -> Features:
        """Return the features of U: rows that moved are added where they are, not where they were.

        The last ones are left as they are. Sums are rounded otherwise if they are not exact.
        """
        found, block = last.features.copied(), self._block(0, self.shape[0])
        is_plain = last.base != "weighted" or (U.is_partition and last.U.is_partition)
        squares = found.squares if self.exact_squares and not is_plain else None
        some = np.flatnonzero(moved)
        self.kernels.move(block, last.U, U, some, found.sums, squares, found.counts)
        if self.exact and squares is None and not is_plain:
            found.squares[:] = self._squares_beside(U)
        return found

    def _squares_beside(self, U: Memberships) -> FloatArray:
        """Return the squares of columns with the bits of those summed beside sums over U."""
        if U.is_partition:
            return self.column_squares()

        def add(rows: Rows, totals: Features) -> None:
            add_squares(self.kernels, self._block(*rows), U.weights[slice(*rows)], totals.squares)

        return self._passes.down_columns((U.n_clusters, 0, 0), add).squares

    @cached_property
    def _columns(self) -> SparseBlock:
        """A copy of the entries, by column."""
        block = self.matrix.transposed().block(0, self.shape[1])
        assert isinstance(block, SparseBlock)
        return block

    def _over_features(
        self, terms: Terms, V: Memberships | None, function: Callable[[Rows, Features], Result]
    ) -> list[Result]:
        """Call a function of each block of rows and its features, from updated sums if possible."""
        n, updates = self.shape[0], self.exact and terms.table is None
        last, self._of_rows = self._of_rows, None  # what is half updated is not used again
        if V is None or not updates or not _is_unweighted(V) or not self._keeps(n * V.n_clusters):
            return super()._over_features(terms, V, function)
        norms, moved = self._norms(terms, V), None
        if norms is None and not self.exact_squares:
            norms = self.row_squares(V.weights)
        with_squares, with_counts = norms is None, terms.curve is not None
        if (
            last is None
            or last.V.n_clusters != V.n_clusters
            or with_squares == (last.squares is None)
            or with_counts == (last.counts is None)
        ):
            squares = np.empty(n) if with_squares else None
            counts = self.space.empty(n, V.n_clusters) if with_counts else None
            last = _RowSums(V, self.space.empty(n, V.n_clusters), squares, counts)
        else:
            moved = few_changed(last.V, V, self.options.max_changed)
        before, sums, squares, counts = last
        weights = V.weights if with_squares else None
        if moved is not None and moved.any():
            some = np.flatnonzero(moved)
            self.kernels.move(self._columns, before, V, some, sums, squares, counts)

        def one_block(rows: Rows) -> Result:
            at, block = slice(*rows), self._block(*rows)
            wanted, counted = (None if table is None else table[at] for table in (squares, counts))
            if moved is None:
                self.kernels.gather(block, V, weights, sums[at], wanted, counted)
            base = wanted if norms is None else norms[at]
            assert base is not None
            return function(rows, Features(sums[at], base, None, counted))

        found = self._passes.over_rows(one_block)
        self._of_rows = last._replace(V=V)
        return found

    def _keeps(self, n_sums: int) -> bool:
        """Whether so many sums, without counts beside them, are few beside the stored entries.

        These are not too many to be copied, either.
        """
        n_stored = self.matrix.n_stored
        return self.options.entries_per_sum * n_sums <= n_stored <= self.options.by_column


def _is_unweighted(members: Memberships) -> bool:
    """Whether items count once in each of their own clusters, so that sums are exact."""
    return members.scale is None and members.virtual is None
