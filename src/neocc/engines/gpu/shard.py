"""A shard whose rows are on a card, of this machine or of a worker of a cluster."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from neocc._typing import FloatArray, IntArray
from neocc.core.assign import Applied, Choices
from neocc.core.engine import Engine
from neocc.core.objectives import Side
from neocc.core.overlap import OverlapModel, Scores
from neocc.core.problem import Problem
from neocc.engines.gpu.device import Device, card_of_worker, open_card
from neocc.engines.gpu.features import HeldFeatures, scored, scored_choices
from neocc.engines.gpu.matrix import DenseCard, SparseCard
from neocc.engines.gpu.rows import HeldRows, bytes_of_tables
from neocc.engines.gpu.sets import fetched
from neocc.engines.local import LocalShards
from neocc.engines.matrix import Matrix
from neocc.engines.passes import DEFAULTS, PassOptions
from neocc.engines.shard import Shard
from neocc.engines.sums import Call, add_squares
from neocc.engines.workers import Workers
from neocc.kernels import Base, Features, Kernels, Memberships, Parts, Terms, numpy_

__all__ = ["GpuShard", "WorkerShard", "on_gpu"]


def on_gpu(
    matrix: Matrix,
    kernels: Kernels,
    workers: Workers,
    device: Device | None = None,
    problem: Problem | None = None,
    options: PassOptions = DEFAULTS,
) -> Engine:
    """Put a matrix on the card of this machine; `kernels` score what is not there.

    Memory is left for the tables that a `problem` needs beside the data.
    """
    device = open_card() if device is None else device
    workers.closes(device.close)
    tables = 0 if problem is None else bytes_of_tables(matrix.shape, problem)
    how: dict[str, Any] = {"device": device, "tables": tables, "options": options}
    return Engine(LocalShards(GpuShard(matrix, kernels, workers, **how)))


class GpuShard(Shard):
    """Rows on a card: data are put there when they are first read."""

    def __init__(self, *arguments: Any, device: Device, tables: int = 0, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.device, self.n_runs = device, 1
        self._own = {"device": device, "tables": tables}
        self._rows = HeldRows(self.matrix, device, tables, self.options)
        # Bases of items, on the card.
        self._there: dict[tuple[Side, Base], Any] = {}
        # Column clusters and the sums of rows over them, where the columns need these again.
        self._summed: tuple[Memberships | None, Any] = (None, None)
        device.holds(self)

    def let_go(self) -> None:
        """Forget what is on the card; data are put there again when they are read."""
        self._rows.clear()
        self._there.clear()
        self._summed = (None, None)

    def over(self, matrix: Matrix) -> Shard:
        """Return a shard of other rows; few of them are faster in this process."""
        if matrix.n_stored < self.options.least_held:
            if isinstance(matrix, SparseCard | DenseCard):
                matrix = matrix.here()
            return super().over(matrix)
        shared = (self.kernels, self.workers)
        return GpuShard(matrix, *shared, options=self.options, device=self.device)

    def _by_rows(self, call: Call, table: FloatArray | None, shape: tuple[int, ...]) -> FloatArray:
        device = self.device.kernels
        found, there = device.xp.empty((self.shape[0], *shape)), device.put(table)
        self.reads.passes += 1.0
        for at, held in self._rows.parts():
            call(device, held, there, found[at])
        products: FloatArray = device.fetch(found)
        return products

    def _down_columns(self, call: Call, table: FloatArray | None, width: int) -> FloatArray:
        device = self.device.kernels
        found: FloatArray = device.fetch(self._added_down(call, device.put(table), width))
        return found

    def _added_down(self, call: Call, table: Any, width: int = 0) -> Any:
        """Return what a kernel adds up for each column, on the card."""
        device, shape = self.device.kernels, (self.shape[1], width)[: 2 if width else 1]
        found = device.xp.zeros(shape)
        self.reads.passes += 1.0
        for at, held in self._rows.parts():
            call(device, held, None if table is None else table[at], found)
        return found

    def _base(self, side: Side, base: Base) -> Any:
        """Return the base of items, where it depends on the data alone; it is put there once."""
        if (side, base) not in self._there:
            self._there[side, base] = self.device.kernels.put(self.base_of(side, base))
        return self._there[side, base]

    def first_negative(self) -> tuple[int, int, float] | None:
        """Return row, column and value of the first negative entry; None if there is none."""
        if all(self.device.kernels.least(held) >= 0 for _, held in self._rows.parts()):
            self.reads.passes += 1.0
            return None
        return super().first_negative()

    def _known_squares(self, terms: Terms, V: Memberships | None) -> Any:
        """Return the base of rows, where it depends on the data alone."""
        if terms.base != "weighted":
            return self._base("rows", terms.base)
        return self._base("rows", "plain") if V is None or V.is_partition else None

    def _row_features(self, terms: Terms, V: Memberships | None) -> Features:
        """Return the features of all rows, on the card."""
        if V is not None and V.virtual is not None:
            V = V.virtual
        device, n = self.device.kernels, self.shape[0]
        columns = self.device.lists(V)
        sums = products = counts = None
        weights = wanted = None
        squares = self._known_squares(terms, V)
        if squares is None and columns is not None:
            weights, squares = columns.weights, device.xp.empty(n)
            wanted = squares
        self.reads.passes += 1.0
        if columns is not None:
            sums = device.xp.empty((n, columns.n_clusters))
            if terms.curve is not None:
                counts = device.xp.empty((n, columns.n_clusters))
        table = device.put(terms.table)
        if table is not None:
            products = device.xp.empty((n, terms.n_clusters))
        for at, held in self._rows.parts():
            some = None if wanted is None else wanted[at]
            if columns is not None and sums is not None:
                counted = None if counts is None else counts[at]
                device.gather(held, columns, weights, sums[at], some, counted)
            if products is not None:
                device.multiply(held, table, products[at])
        self._summed = (None, None) if products is None else (V, sums)
        return Features(sums, squares, products, counts)

    def choices(
        self,
        members: Memberships | Applied | None,
        terms: Terms,
        V: Memberships | None,
        model: OverlapModel,
        distances: bool,
    ) -> Choices:
        """Return the choices of all rows, given their memberships so far or their assignment."""
        members = members.members if isinstance(members, Applied) else members
        features = self._row_features(terms, V)
        shared = members is not None and members.virtual is not None
        return scored_choices(
            self.device,
            features,
            terms,
            members,
            model,
            self.kernels,
            self._passes.spread,
            V if distances or shared else None,
            distances=distances,
        )

    def score(
        self, members: Memberships | None, terms: Terms, V: Memberships | None, sums: bool = False
    ) -> Scores:
        """Return comparable distances of all rows, with nearest clusters and their squares."""
        features = self._row_features(terms, V)
        scores = scored(self.device, features, terms, members, distances=True)
        if sums and V is not None and features.sums is not None:
            parts = Parts.of(features.sums, features.counts, terms, V.sizes)
            scores = scores._replace(parts=parts)
        return fetched(self.device, scores)

    def _distances_of(self, rows: IntArray, terms: Terms, V: Memberships | None) -> FloatArray:
        """Return comparable distances of some rows."""
        scores = scored(self.device, self._row_features(terms, V), terms, None, distances=True)
        d: Any = scores.d
        some: FloatArray = self.device.kernels.fetch(d[self.device.kernels.put(rows)])
        return some

    def row_distances(self, terms: Terms, V: Memberships | None) -> FloatArray:
        """Return the distance of every row to every row cluster, not rounded."""
        features, put = self._row_features(terms, V), self.device.kernels.put
        names = ("offset", "slope", "scale", "shrink", "rate", "curve")
        there = replace(terms, **{name: put(getattr(terms, name)) for name in names})
        d: FloatArray = self.device.kernels.fetch(numpy_.distances(features, there))
        return d

    def column_features(
        self,
        U: Memberships | Applied | None,
        V: Memberships | None,
        base: Base | None = "weighted",
        counts: bool = False,
    ) -> Features:
        """Return the features of all columns, which stay on the card; with V also products."""
        U = U.members if isinstance(U, Applied) else U
        device, m = self.device.kernels, self.shape[1]
        summed = U if U is None or U.virtual is None else U.virtual
        rows, columns = self.device.lists(summed), self.device.lists(V)
        plain = base != "weighted" or U is None or U.is_partition
        whole = None if U is None or U.is_partition else self.device.lists(U)
        weights = None if whole is None else whole.weights
        k = 0 if rows is None else rows.n_clusters
        sums = device.xp.zeros((m, k)) if k else None
        squares = device.xp.zeros(m)
        counted = device.xp.zeros((m, k)) if counts else None
        wanted = None if plain else squares
        products = None
        # The row step before has summed rows over the same clusters.
        ready = self._summed[1] if self._summed[0] is V else None
        if columns is not None:
            products = device.xp.zeros((m, columns.n_clusters))
        self.reads.passes += 1.0
        for at, held in self._rows.parts():
            some = None if rows is None else rows.slice(at.start, at.stop)
            counting = weights
            if weights is not None and rows is not None and some is not None:
                # The same array tells kernels that squares count as memberships do.
                counting = some.weights if weights is rows.weights else weights[at]
            device.scatter(held, some, counting, sums, wanted, counted)
            if columns is not None:
                if ready is None:
                    S = device.xp.empty((at.stop - at.start, columns.n_clusters))
                    device.gather(held, columns, None, S, None)
                else:
                    S = ready[at]
                if counting is not None:
                    S = S * counting[:, None]
                device.multiply_transposed(held, S, products)
        found = Features(sums, squares, products, counted)
        if base is None or not plain:
            return HeldFeatures(self.device, found, self.kernels)
        known: Base = "margins" if base == "margins" else "plain"
        if known == "plain" and whole is not None and whole.item_weights is not None:
            found.squares = self._added_down(add_squares, whole.item_weights)
            return HeldFeatures(self.device, found, self.kernels)
        found.squares = self._base("columns", known)
        features = HeldFeatures(self.device, found, self.kernels)
        # These are known here already.
        features.squares = self.base_of("columns", known)
        return features


class WorkerShard(GpuShard):
    """Rows on the card of a cluster's worker: what travels from there are features of columns."""

    def __init__(self, matrix: Matrix, kernels: Kernels, workers: Workers) -> None:
        super().__init__(matrix, kernels, workers, device=card_of_worker())

    def column_features(self, *wanted: Any) -> Features:
        """Return the features of all columns over these rows."""
        return super().column_features(*wanted).here
