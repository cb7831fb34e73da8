"""Sums over clusters and products with thin tables, on a card; sparse rows, or dense by cuBLAS."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from neocc.kernels.gpu.card import INT, LONG, Card
from neocc.kernels.gpu.lines import Lines, SparseOnCard
from neocc.kernels.gpu.lists import Lists

__all__ = ["CardSums"]

# Clusters that are summed in one pass; so few that a byte tells all pairs of them, where there are.
_MOST_BINS, _MOST_PAIRED = 32, 22
# Bytes in which a block of threads notes what pairs stand for.
_PAIRS = 512
# Threads of a block: as many as its memory and its registers allow.
_THREADS = (1024, 896, 768, 640, 512, 384, 256, 128)
_REGISTERS, _AT_ONCE = 1 << 16, 2048
# Cells of a dense table that are squared at a time.
_SQUARED_CELLS = 1 << 26
_TYPES = {"float32": "float", "float64": "double", "int32": "int", "uint16": "unsigned short"}


class CardSums(Card):
    """Sums of rows and of columns."""

    def gather(
        self,
        block: Any,
        columns: Lists | None,
        weights: Any,
        sums: Any,
        squares: Any,
        counts: Any = None,
    ) -> None:
        """Write the sums of each row over column clusters, and its weighted squares."""
        if counts is not None:
            self.gather(block, None, weights, None, squares)
            _of_observed(self.gather, block, columns, sums, counts)
            return
        if isinstance(block, SparseOnCard):
            lines = (block.rows, lambda: block.cut_rows)
            self._sum(lines, columns, weights, sums, squares, adds=False)
            return
        if sums is not None and columns is not None:
            sums[...] = block @ columns.indicator
        if squares is not None:
            for at in self._parts(block):
                part = self.xp.square(block[at])
                squares[at] = part.sum(axis=1) if weights is None else part @ weights

    def scatter(
        self,
        block: Any,
        rows: Lists | None,
        weights: Any,
        sums: Any,
        squares: Any,
        counts: Any = None,
    ) -> None:
        """Add the sums of each column over row clusters, and its weighted squares."""
        if counts is not None:
            self.scatter(block, None, weights, None, squares)
            _of_observed(self.scatter, block, rows, sums, counts)
            return
        if isinstance(block, SparseOnCard):
            if sums is not None or squares is not None:
                lines = (block.columns, lambda: block.columns)
                self._sum(lines, rows, weights, sums, squares, adds=True)
            return
        if sums is not None and rows is not None:
            sums += block.T @ rows.indicator
        if squares is not None:
            for at in self._parts(block):
                part = self.xp.square(block[at])
                squares += part.sum(axis=0) if weights is None else part.T @ weights[at]

    def _parts(self, block: Any) -> list[slice]:
        step = max(1, _SQUARED_CELLS // max(1, block.shape[1]))
        return [slice(start, start + step) for start in range(0, len(block), step)]

    def _sum(
        self,
        lines: tuple[Lines, Callable[[], Lines]],
        others: Lists | None,
        weights: Any,
        sums: Any,
        squares: Any,
        *,
        adds: bool,
    ) -> None:
        """Sum items over clusters of the other side, some clusters at a time."""
        k = 0 if others is None or sums is None else others.n_clusters
        if not lines[0].n_items or (sums is None and squares is None):
            return
        weighing = 0
        if squares is not None:
            weighing = 1 if weights is None else 3
            if others is not None and k and weights is others.weights and not others.mixed:
                weighing = 2
        several = others is not None and others.n_extra > 0
        n_chunks = max(1, -(-k // (_MOST_PAIRED if several else _MOST_BINS)))
        size = -(-k // n_chunks)
        for chunk in range(n_chunks):
            bins = (chunk * size, min(size, k - chunk * size))
            how = weighing if chunk == 0 or weighing == 2 else 0
            self._sum_bins(lines, others, bins, how, weights, sums, squares, k, adds)

    def _sum_bins(
        self,
        lines: tuple[Lines, Callable[[], Lines]],
        others: Lists | None,
        bins: tuple[int, int],
        weighing: int,
        weights: Any,
        sums: Any,
        squares: Any,
        stride: int,
        adds: bool,
    ) -> None:
        n_bins = bins[1]
        some = others if n_bins else None
        codes, sets = (None, None) if some is None else self._codes(some, bins)
        n_extra = 0 if some is None else some.n_extra
        scale = None if some is None else some.scale
        # In one band if all codes fit beside the bins of a few threads.
        room = self.shared - 8 * n_bins * 256 - _PAIRS
        chosen = lines[0] if lines[0].width <= room else lines[1]()
        # Codes are read as vectors of 16 bytes.
        taken = min(chosen.width, chosen.n_others)
        taken += _PAIRS + -taken % 16
        is_shared = some is not None and taken + 8 * n_bins * _THREADS[-1] <= self.shared
        taken = taken if is_shared else _PAIRS
        wanted = {
            f"-DWEIGHING={weighing}": True,
            "-DSCALED": scale is not None,
            "-DSEVERAL": n_extra > 0,
            "-DNEARBY": is_shared,
        }
        function = self.function(
            "sums.cu",
            "gather",
            f"-DVALUE={_TYPES[chosen.values.dtype.name]}",
            f"-DINDEX={_TYPES[chosen.indices.dtype.name]}",
            *(option for option, yes in wanted.items() if yes),
        )
        registers = -(-function.num_regs // 8) * 8
        threads = next(
            each
            for each in _THREADS
            if each * registers <= _REGISTERS and 8 * n_bins * each + taken <= self.shared
        )
        needed = 8 * n_bins * threads + taken
        beside = min(
            _AT_ONCE // threads,
            _REGISTERS // (threads * registers),
            (self.shared + 1024) // (needed + 1024),
        )
        n_blocks = self.n_multiprocessors * max(1, beside)
        self.call(
            function,
            (n_blocks,),
            threads,
            (
                LONG(chosen.n_items),
                INT(chosen.n_bands),
                LONG(chosen.width),
                LONG(chosen.n_others),
                LONG(len(chosen.indices)),
                INT(chosen.local),
                chosen.starts,
                chosen.stops,
                chosen.indices,
                chosen.values,
                codes,
                sets,
                scale,
                weights if weighing == 3 else None,
                chosen.cut(n_blocks),
                INT(chosen.group),
                INT(bins[0]),
                INT(n_bins),
                INT(stride),
                INT(adds),
                sums,
                squares,
            ),
            needed,
        )

    def _codes(self, lists: Lists, bins: tuple[int, int]) -> Any:
        """Return which of some clusters each item is in: a byte, and bits if there are several."""
        if bins not in lists.codes:
            n = lists.n_items
            # Vectors of codes are read at once, up to the last.
            codes = self.xp.empty(n + 16, dtype=self.xp.uint8)
            several = lists.n_extra > 0
            extra = (lists.extra_ptr, lists.extra_clusters) if several else (None, None)
            sets = self.xp.empty(n, dtype=self.xp.uint32) if several else None
            some = (LONG(n), lists.first, *extra, INT(bins[0]), INT(bins[1]), codes, sets)
            self.launch("byte_codes", n, *some)
            lists.codes[bins] = codes, sets
        return lists.codes[bins]

    def multiply(self, block: Any, table: Any, out: Any) -> None:
        """Write X P."""
        if isinstance(block, SparseOnCard):
            self._multiply(block.rows, table, out, adds=False)
        else:
            out[...] = block @ table

    def multiply_transposed(self, block: Any, table: Any, out: Any) -> None:
        """Add X' P."""
        if isinstance(block, SparseOnCard):
            self._multiply(block.columns, table, out, adds=True)
        else:
            out += block.T @ table

    def _multiply(self, lines: Lines, table: Any, out: Any, *, adds: bool) -> None:
        n_columns = table.shape[1]
        if not lines.n_items or not n_columns:
            return
        if n_columns % 2:
            # Two columns are read at a time.
            table = self.xp.pad(table, ((0, 0), (0, 1)))
        table, n_pairs = self.xp.ascontiguousarray(table), table.shape[1] // 2
        function = self.function(
            "products.cu",
            "multiply",
            f"-DVALUE={_TYPES[lines.values.dtype.name]}",
            f"-DINDEX={_TYPES[lines.indices.dtype.name]}",
        )
        grid = (min(-(-lines.n_items // 8), 16 * self.few_blocks), -(-n_pairs // 32))
        for band in range(lines.n_bands):
            ends = (lines.starts[band * lines.n_items :], lines.stops[band * lines.n_items :])
            lines_of_band = table[band * lines.width :] if lines.local else table
            data = (LONG(lines.n_items), *ends, lines.indices, lines.values, lines_of_band)
            ends_of = (INT(n_pairs), INT(n_columns), INT(adds or band > 0), out)
            self.call(function, grid, 256, (*data, *ends_of))


def _of_observed(sum_up: Any, block: Any, others: Lists | None, sums: Any, counts: Any) -> None:
    """Sum observed cells times their weights, and the weights."""
    for part, out in zip(block.observed, (sums, counts), strict=True):
        sum_up(part, others, None, out, None)
