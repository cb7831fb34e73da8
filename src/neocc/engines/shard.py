"""A shard: rows on one machine, and the scores and features that an engine computes from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np

from neocc._typing import FloatArray, IntArray
from neocc.core.assign import Applied, Choices
from neocc.core.objectives.blends import in_types
from neocc.core.overlap import OverlapModel, Scores, nearest_among
from neocc.engines.matrix import Matrix
from neocc.engines.passes import Rows
from neocc.engines.sums import RowLines, RowSums
from neocc.kernels import (
    Base,
    Features,
    Memberships,
    Parts,
    Terms,
    numpy_,
)
from neocc.kernels.pieces import add_pieces

__all__ = ["Shard"]

Result = TypeVar("Result")


class Shard(RowSums):
    """Rows of a matrix: their choices, and the features of columns over them."""

    # Further arguments by which shards of the same rows are made.
    _own: Mapping[str, Any] = MappingProxyType({})

    def alike(self, matrix: Matrix) -> Shard:
        """Return a shard of the same rows, read otherwise."""
        shared = (self.kernels, self.workers, self.space, self.reads)
        return type(self)(matrix, *shared, options=self.options, **self._own)

    def over(self, matrix: Matrix) -> Shard:
        """Return a shard of other rows, in memory, with the same kernels and threads."""
        return Shard(matrix, self.kernels, self.workers, options=self.options)

    def choices(
        self,
        members: Memberships | Applied | None,
        terms: Terms,
        V: Memberships | None,
        model: OverlapModel,
        distances: bool,
    ) -> Choices:
        """Return the choices of all rows, given their memberships so far or their assignment.

        Without `distances` no table of distances is made.
        """
        members = members.members if isinstance(members, Applied) else members
        d = self.space.empty(self.shape[0], len(terms.offset)) if distances else None
        shared = members is not None and members.virtual is not None
        needs_sums = model.needs_sums and (distances or shared)
        scores = self._score(members, terms, V, d, squares=model.needs_squares, sums=needs_sums)
        if scores.parts is not None and scores.parts.whole:
            # For the best sets, and for what the present ones cost.
            self.reads.passes += 2.0
        return model.choices(scores, self.kernels, self._passes.spread)

    def score(
        self, members: Memberships | None, terms: Terms, V: Memberships | None, sums: bool = False
    ) -> Scores:
        """Return comparable distances of all rows, with nearest clusters and their squares.

        With `sums` also the parts of distances, by column clusters.
        """
        d = self.space.empty(self.shape[0], terms.n_clusters)
        return self._score(members, terms, V, d, squares=True, sums=sums)

    def followed(
        self, members: Memberships, terms: Terms, V: Memberships | None, model: OverlapModel
    ) -> Memberships:
        """Return the memberships of all rows as they count, by what fits them best."""
        return model.chosen(members, self.score(None, terms, V, sums=True))

    def _score(
        self,
        members: Memberships | None,
        terms: Terms,
        V: Memberships | None,
        d: FloatArray | None,
        *,
        squares: bool,
        sums: bool,
    ) -> Scores:
        n = self.shape[0]
        labels, minima = np.empty(n, dtype=np.int32), np.empty(n)
        compared = in_types(members, len(terms.offset)) if terms.single else members
        norms = np.empty(n) if squares else None
        all_zero = np.empty(n, dtype=bool) if terms.all_zero else None
        kept = counts = None
        if V is not None and sums:
            kept = self.space.empty(n, V.n_clusters)
            counts = None if terms.curve is None else self.space.empty(n, V.n_clusters)

        def one_block(rows: Rows, features: Features) -> float:
            some, at = compared, slice(*rows)
            if compared is not None and rows[1] - rows[0] < n:
                some = compared.slice(*rows)
            part = None if d is None else d[at]
            if norms is not None:
                norms[at] = 0.0 if terms.rate is not None else features.squares
            if all_zero is not None:
                all_zero[at] = features.squares == 0.0
            if kept is not None:
                kept[at] = features.sums
            if counts is not None:
                counts[at] = features.counts
            return self.kernels.score(features, terms, some, part, labels[at], minima[at])

        total = float(sum(self._over_features(terms, V, one_block)))
        parts = None
        if sums and V is None:
            parts = Parts.of_whole(RowLines(self.matrix), terms)
        elif V is not None and kept is not None:
            parts = Parts.of(kept, counts, terms, V.sizes)
        k, gram = terms.single or len(terms.offset), terms.gram
        return Scores(d, labels, minima, k, total, members, norms, gram, parts, all_zero=all_zero)

    def nearest(self, members: Memberships, terms: Terms, V: Memberships | None) -> IntArray:
        """Return the nearest cluster of every row among its own, -1 for none."""
        several, of_these = members.overlapping
        labels: IntArray = members.first.astype(np.intp)
        labels[several] = nearest_among(of_these.dense, self._distances_of(several, terms, V))
        return labels

    def _distances_of(self, rows: IntArray, terms: Terms, V: Memberships | None) -> FloatArray:
        """Return comparable distances of some rows."""
        d = self.score(None, terms, V).d
        assert d is not None
        return d[rows]

    def row_distances(self, terms: Terms, V: Memberships | None) -> FloatArray:
        """Return the distance of every row to every row cluster, not rounded."""
        d = self.space.empty(self.shape[0], terms.n_clusters)

        def one_block(rows: Rows, features: Features) -> None:
            d[slice(*rows)] = numpy_.distances(features, terms)

        self._over_features(terms, V, one_block)
        return d

    def _over_features(
        self, terms: Terms, V: Memberships | None, function: Callable[[Rows, Features], Result]
    ) -> list[Result]:
        """Call a function of each block of rows and its features, which it must not keep."""
        if V is not None and V.virtual is not None:
            V = V.virtual
        norms = self._norms(terms, V)

        def one_block(rows: Rows) -> Result:
            n, block, sums, products = rows[1] - rows[0], self._block(*rows), None, None
            counts = None
            squares = np.empty(n) if norms is None else norms[slice(*rows)]
            if V is not None:
                sums = np.empty((n, V.n_clusters))
                if terms.curve is not None:
                    counts = np.empty((n, V.n_clusters))
                weights, wanted = (V.weights, squares) if norms is None else (None, None)
                self.kernels.gather(block, V, weights, sums, wanted, counts)
            if terms.table is not None:
                products = np.empty((n, terms.n_clusters))
                self.kernels.multiply(block, terms.table, products)
            return function(rows, Features(sums, squares, products, counts))

        return self._passes.over_rows(one_block)

    def _norms(self, terms: Terms, V: Memberships | None) -> FloatArray | None:
        """Return the base of all rows; None where it depends on V."""
        if terms.base != "weighted":
            return self.base_of("rows", terms.base)
        if V is None or V.is_partition or _squares_count_once(V):
            return self.base_of("rows", "plain")
        return None

    def column_features(
        self,
        U: Memberships | Applied | None,
        V: Memberships | None,
        base: Base | None = "weighted",
        counts: bool = False,
    ) -> Features:
        """Return the features of all columns over these rows, with V also products.

        Squares are 0 where no `base` is asked for. With `counts` only observed cells are summed.
        """
        U = U.members if isinstance(U, Applied) else U
        n, plain = self.shape[0], base != "weighted" or U is None or U.is_partition
        summed = U if U is None or U.virtual is None else U.virtual
        counted = None if U is None or U.is_partition else U.weights

        def add(rows: Rows, totals: Features) -> None:
            block, members = self._block(*rows), summed
            weights = None if counted is None else counted[slice(*rows)]
            if summed is not None and rows[1] - rows[0] < n:
                members = summed.slice(*rows)
            wanted = None if plain or once is not None else totals.squares
            self.kernels.scatter(block, members, weights, totals.sums, wanted, totals.counts)
            if members is not None and members.pieces is not None and totals.sums is not None:
                self._add_pieces(rows[0], members, totals.sums)
            if V is not None and totals.products is not None:
                S = np.empty((rows[1] - rows[0], V.n_clusters))
                self.kernels.gather(block, V, None, S, None)
                if weights is not None:
                    np.multiply(S, weights[:, None], out=S)
                self.kernels.multiply_transposed(block, S, totals.products)

        k = 0 if summed is None else summed.n_clusters
        widths = (k, 0 if V is None else V.n_clusters, k if counts else 0)
        # Squares that all count once are the same for all clusters; the order in which they are
        # added up depends on the widths.
        same = not plain and U is not None and _squares_count_once(U)
        once = self._squares_once.get(widths) if same else None
        found = self._passes.down_columns(widths, add)
        if plain and base is not None:
            items = None if U is None else U.item_weights
            known: Base = "margins" if base == "margins" else "plain"
            weighed = known == "plain" and items is not None
            once = self.column_squares(items) if weighed else self.base_of("columns", known)
        if once is not None:
            found.squares[:] = once
        elif same:
            self._squares_once[widths] = found.squares.copy()
        return found

    def _add_pieces(self, start: int, members: Memberships, sums: FloatArray) -> None:
        """Add the rows from `start` on that count in pieces."""
        pieces, weights = members.pieces, members.item_weights
        assert pieces is not None
        some, lines = np.flatnonzero(pieces[:, 0] >= 0), RowLines(self.matrix)
        step = max(1, self.options.copied // self.shape[1])
        for first in range(0, len(some), step):
            at = some[first : first + step]
            add_pieces(
                lines[start + at], pieces[at], None if weights is None else weights[at], sums
            )

    def refresh(self) -> bool:
        """Return False: no sums are updated, so none have rounded differently."""
        return False


def _squares_count_once(members: Memberships) -> bool:
    """Whether the squares of every item count once, of a combination of clusters."""
    return members.mixed and members.item_weights is None and bool(members.numbers.min() > 0)
