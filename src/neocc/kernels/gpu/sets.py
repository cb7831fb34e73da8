"""Sets of clusters on a card: the curves of items, and inner products of memberships."""

from __future__ import annotations

from typing import Any

import numpy as np

from neocc._typing import FloatArray
from neocc.kernels.gpu.card import FLOAT, INT, LONG
from neocc.kernels.gpu.lists import Lists
from neocc.kernels.gpu.sums import CardSums
from neocc.kernels.inputs import Parts, SetCosts
from neocc.kernels.numpy_sets import largest_exact

__all__ = ["ADDED", "SCORED", "CardSets", "pointers"]

# Threads of a block whose items are scored, and of the one that adds up what blocks found.
SCORED, ADDED = 128, 1024
# Threads of a block whose items follow clusters.
_FOLLOWING, _EXACT = 64, "--fmad=false"
# Items whose lines are summed by one block of threads (as in `scores.cu`).
_SUMMED_ITEMS = 512
# Sums that a block of threads has at once, of all its warps, and clusters whose members it counts.
_SUMMED_CELLS, _MOST_TALLIED = 6144, 1 << 13


class CardSets(CardSums):
    """Curves of items, and tables of clusters."""

    def set_curves(
        self,
        d: Any,
        squares: Any,
        members: Lists | None,
        costs: SetCosts | None,
        curves: Any,
        sets: Any,
        steps: Any,
        present: Any,
    ) -> float:
        """Write the best set of each size, its cost, the price of each step, and present costs.

        Present sets compete with those that are found greedily. Without `costs` lines of `d` go on
        with the distances to pairs of clusters. Returns what the objective has beside the distances
        of present memberships.
        """
        (n, width), largest, xp = d.shape, curves.shape[1], self.xp
        if n == 0:
            return 0.0
        pairs = None if costs is None else costs.pairs
        k = self._n_single(width) if costs is None else len(costs.own)
        own, fixed, joint, pairs = self.put_together(*(costs or (None, None, None, None)))
        n_blocks = -(-n // SCORED)
        partial = xp.empty(n_blocks + 1)
        shared = 8 * SCORED * (width | 1)
        tiled = shared <= self.shared - 8 * SCORED
        self.call(
            self.function("sets.cu", "set_curves", _EXACT),
            (n_blocks,),
            SCORED,
            (
                LONG(n),
                INT(k),
                INT(width),
                INT(largest),
                INT(1 if pairs is None else largest_exact(k)),
                INT(tiled),
                d,
                squares,
                own,
                fixed,
                joint,
                pairs,
                *pointers(members),
                None if members is None else members.item_weights,
                curves,
                sets,
                steps,
                present,
                partial,
            ),
            shared if tiled else 0,
        )
        return 0.0 if members is None else self.added(partial, n_blocks)

    def least_sets(
        self,
        parts: Parts,
        squares: Any,
        minima: Any,
        members: Lists | None,
        curves: Any,
        sets: Any,
        steps: Any,
        present: Any,
    ) -> float:
        """Do what `set_curves` does where the nearest cluster of a set counts, part by part.

        Items are rounded against the smallest distance.
        """
        (n, largest), l = curves.shape, parts.sums.shape[1]  # noqa: E741
        if n == 0:
            return 0.0
        threads = _FOLLOWING
        while 8 * threads * (3 * l | 1) > self.shared - 8 * _FOLLOWING:
            threads //= 2
            if not threads:
                raise ValueError(
                    f'overlap_model="either" with {l} clusters of the other side does not fit into '
                    'the shared memory of this GPU. engine="auto" fits the data on the CPU.'
                )
        n_blocks = -(-n // threads)
        partial = self.xp.empty(n_blocks + 1)
        virtual = None if members is None else members.virtual
        self.call(
            self.function("follow.cu", "least_sets", _EXACT),
            (n_blocks,),
            threads,
            (
                LONG(n),
                INT(len(parts.magnitude)),
                INT(l),
                INT(largest),
                *self._tables(parts),
                squares,
                minima,
                *pointers(members),
                *pointers(virtual),
                None if members is None else members.item_weights,
                curves,
                sets,
                present,
                partial,
            ),
            8 * threads * (3 * l | 1),
        )
        hull = self.function("sets.cu", "hull_steps", _EXACT)
        self.call(hull, (-(-n // 512),), 512, (LONG(n), INT(largest), curves, steps))
        return 0.0 if members is None else self.added(partial, n_blocks)

    def follow(self, parts: Parts, squares: Any, minima: Any, members: Lists, items: Any) -> Any:
        """Return what some items follow in each other cluster."""
        n, l = len(items), parts.sums.shape[1]  # noqa: E741
        found = self.xp.empty((n, l), dtype=self.xp.int32)
        if n:
            sizes = (LONG(n), INT(len(parts.magnitude)), INT(l))
            given = (*sizes, items, *self._tables(parts), squares, minima)
            function = self.function("follow.cu", "follow", _EXACT)
            rest = (*pointers(members), None, found)
            self.call(function, (-(-n * l // 256),), 256, (*given, *rest))
        return found

    def _tables(self, parts: Parts) -> list[Any]:
        """Return sums, counts, slope, curve and magnitude there, and the largest of the last.

        Counts that are the same for all items are part of the curve.
        """
        magnitude, counts, curve = parts.magnitude, parts.counts, parts.curve
        alike = counts.ndim == 1
        if alike:
            curve = curve * counts[:, None]
        top = magnitude[np.isfinite(magnitude)].max(initial=0.0)
        tables = self.put_together(parts.slope, curve, magnitude)
        return [parts.sums, None if alike else counts, *tables, FLOAT(top)]

    def added(self, partial: Any, n_blocks: int) -> float:
        """Return the sum of what blocks found; it is put behind that of the last."""
        add_up = self.function("scores.cu", "add_up")
        self.call(add_up, (1,), ADDED, (LONG(n_blocks), partial, partial[n_blocks:]))
        return float(partial[n_blocks])

    def put_together(self, *tables: FloatArray | None) -> list[Any]:
        """Put small tables there at once, one after the other; None stays None."""
        given = [each.ravel() for each in tables if each is not None]
        there: Any = self.put(np.concatenate(given)) if given else None
        found: list[Any] = []
        begin = 0
        for each in tables:
            size = 0 if each is None else each.size
            found.append(None if each is None else there[begin : begin + size])
            begin += size
        return found

    def _n_single(self, n_types: int) -> int:
        """Return of how many clusters so many are these and all pairs of them."""
        return int((np.sqrt(8.0 * n_types + 1.0) - 1.0) / 2.0 + 0.5)

    def gram(self, lists: Lists) -> FloatArray:
        """Return U'U of weighted memberships."""
        xp, ones = self.xp, self.xp.ones(lists.n_items)
        shares = ones if lists.scale is None else lists.scale
        if lists.item_weights is not None:
            shares = shares / lists.item_weights
        if not lists.n_extra:
            return np.diag(self.blocks(shares, lists))
        several = xp.diff(lists.extra_ptr) > 0
        no_items, no_clusters = xp.empty(0, dtype=xp.int64), xp.empty(0, dtype=xp.int32)
        first = xp.where(several, xp.int32(-1), lists.first)
        k, scale = lists.n_clusters, lists.scale
        alone = Lists(first, no_items, no_clusters, k, scale)
        place, at = xp.cumsum(several.astype(xp.int64)) - 1, xp.flatnonzero(several)
        extra = (place[lists.extra_items], lists.extra_clusters)
        some = Lists(lists.first[at], *extra, k, None if scale is None else scale[at])
        inside = Lists(some.first, *extra, k).indicator
        return np.diag(self.blocks(shares, alone)) + self.blocks(inside * shares[at, None], some)

    def sizes(self, lists: Lists) -> FloatArray:
        """Return the total weight of the members of each cluster."""
        if lists.scale is not None:
            return self.blocks(self.xp.ones(lists.n_items), lists)
        return self.numbers(lists)

    def numbers(self, lists: Lists) -> FloatArray:
        """Return the number of members of each cluster."""
        k, counts = lists.n_clusters, self.xp.zeros(lists.n_clusters, dtype=self.xp.int64)
        # Of many clusters members are counted where all blocks of threads see it.
        close = 4 * k if k <= _MOST_TALLIED else 0
        for labels in (lists.first, lists.extra_clusters):
            some = (LONG(len(labels)), labels, INT(k), INT(close > 0), counts)
            self.launch("count_labels", len(labels), *some, shared=close, blocks=self.few_blocks)
        return np.asarray(self.fetch(counts), dtype=np.float64)

    def blocks(self, table: Any, lists: Lists) -> FloatArray:
        """Return the sums of the lines of a table over clusters: S' V."""
        n, k = lists.n_items, lists.n_clusters
        l = 1 if table.ndim == 1 else table.shape[1]  # noqa: E741
        if not n or k > _SUMMED_CELLS:
            return np.asarray(self.fetch(table.T.dot(lists.indicator)))
        n_parts, width = -(-n // _SUMMED_ITEMS), min(l, _SUMMED_CELLS // k)
        # The order of sums must not depend on the memory of the card.
        n_warps = min(8, _SUMMED_CELLS // (k * width))
        partial, total = self.xp.empty((n_parts, width * k)), self.xp.empty((l, k))
        for begin in range(0, l, width):
            some = min(width, l - begin)
            given = (LONG(n), INT(l), INT(begin), INT(some), INT(k), table, *pointers(lists))
            sums = self.function("scores.cu", "block_sums")
            shared = 8 * k * some * n_warps
            self.call(sums, (n_parts,), 32 * n_warps, (*given, lists.scale, partial), shared)
            sizes = (INT(n_parts), INT(some * k))
            self.launch("add_tables", some * k, *sizes, partial, total[begin : begin + some])
        return np.asarray(self.fetch(total)).reshape(*table.shape[1:], k)

    def diagonal(self, table: Any, lists: Lists) -> FloatArray:
        """Return the diagonal of S' V."""
        return np.diag(self.blocks(table, lists)).copy()


def pointers(members: Lists | None) -> tuple[Any, Any, Any]:
    """Return first clusters, and where further ones lie; None for what there is not."""
    if members is None:
        return None, None, None
    if not members.n_extra:
        return members.first, None, None
    return members.first, members.extra_ptr, members.extra_clusters
