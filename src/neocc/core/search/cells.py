"""A start from a small table that stands for the data, and that costs next to nothing to search.

Rows that lie close together in the space of the leading singular vectors are taken together, and so
are columns: *cells*. The sums of the blocks of cells are a table of at most a few hundred rows and
columns, whose clusters can be perturbed and settled again many times in the time of a few
iterations on the data (multilevel partitioning, Karypis and Kumar 1998). Rows and columns then
begin where their cells are. Random numbers are the same in every fit: seeds of a search agree on
where this leads, and it mostly ends below what a few starts reach.
"""

from __future__ import annotations

import numpy as np

from neocc._typing import BoolArray, FloatArray, IntArray, LabelArray
from neocc.core.engine import Engine
from neocc.core.problem import Problem
from neocc.core.projections import make_embedding, scaled_sums, width_of
from neocc.core.steps import Pair
from neocc.kernels import Kernels, Memberships

__all__ = ["N_CELLS", "Table", "divide", "grouped", "pass_cost", "start_from_cells"]
__all__ += ["work_on_cells"]

N_CELLS = 128
"""Cells of a side; if it has many clusters, two for each."""

# Random numbers are the same in every fit.
_SEED = 0
# How often a table is perturbed, and what is moved: fractions of rows and columns, or a cluster.
_ROUNDS = 30
_SHAKES = {0: (0.1, 0.3), 3: (0.1, 0.1)}
_N_WAYS = 4
# Of the last gain, what may still follow.
_STEPS_LEFT = 4.0
# Of all squares, what a move must explain.
_LEAST_GAIN = 1e-9
# Of the length of the longest item, or of the largest sum: what rounding may add.
_ROUNDING = 1e-9
# Cells are made of at most so many items each; others join the nearest.
_ITEMS_PER_CELL = 16
_NEAREST_ITERATIONS = 2
# Items that are compared with cells at a time.
_CHUNK = 1 << 12
# Columns that are summed at a time.
_SUMMED = 32
# So many times as many columns as rows are wide data: a table of all columns would be large. It is
# large beside fewer entries than it has, too.
_WIDE = 4
# Passes over the table in a round, and terms of a distance that take as long as an entry.
_PASSES_PER_ROUND, _COMPARED = 8, 4
# What it takes to compare a coordinate of an item with those of a cell, as often as it is done.
_PASSES_OF_DIVISION = 0.7


def pass_cost(engine: Engine, problem: Problem, n_entries: int | None = None) -> float:
    """Return what a pass costs, about: entries are read, and items compared with clusters.

    All entries that are stored are, unless it is said how many.
    """
    n_blocks = np.prod([problem.counts(side).n_clusters for side in problem.sides])
    n_read = engine.n_stored if n_entries is None else n_entries
    return n_read + sum(engine.shape) * float(n_blocks) / _COMPARED


def start_from_cells(data: Engine, problem: Problem) -> Pair | None:
    """Return the clusters of cells as memberships of items; None if there are too few cells."""
    rng = np.random.default_rng(_SEED)
    numbers = [problem.counts(side).n_clusters for side in problem.sides]
    embedding = make_embedding(data, problem, rng)
    cells = [
        divide(coordinates, _most_cells(k))
        for coordinates, k in zip(embedding, numbers, strict=True)
    ]
    if any(each.max() + 1 < k for each, k in zip(cells, numbers, strict=True)):
        return None
    sums = _block_sums(data, *cells)
    table = Table(sums, cells, data.kernels, residual=problem.needs_products)
    rows, columns = table.search((numbers[0], numbers[1]), _ROUNDS, rng)
    return (
        Memberships.partition(rows[cells[0]], numbers[0]),
        Memberships.partition(columns[cells[1]], numbers[1]),
    )


def work_on_cells(engine: Engine, problem: Problem, n_entries: int) -> float:
    """Return what making cells and searching their table takes, at most, in passes.

    Passes read the entries that are not zero, so that it is the same of dense and sparse data.
    """
    k, l = (problem.counts(side).n_clusters for side in problem.sides)  # noqa: E741
    n, m = (min(_most_cells(q), size) for q, size in zip((k, l), engine.shape, strict=True))
    # Of residuals rows are long.
    compared = n * m * (k + l) if problem.needs_products else (n + m) * k * l
    cost = _ROUNDS * _PASSES_PER_ROUND * (n * m + compared / _COMPARED)
    for cells, size in zip((n, m), engine.shape, strict=True):
        cost += (cells < size) * _PASSES_OF_DIVISION * width_of(problem, engine) * size * cells
    return float(np.ceil(cost / pass_cost(engine, problem, n_entries)))


def _most_cells(k: int) -> int:
    return max(N_CELLS, 2 * k)


def divide(coordinates: FloatArray, most: int) -> IntArray:
    """Divide items into at most so many cells; return the number of each item's cell.

    The cells of largest spread are divided, again and again, at the mean of the coordinate that
    varies most (Su and Dy 2007); then items join the nearest mean.
    """
    n = len(coordinates)
    if n <= most:
        return np.arange(n)
    some = coordinates
    if n > _ITEMS_PER_CELL * most:
        drawn = np.random.default_rng(_SEED).choice(n, _ITEMS_PER_CELL * most, replace=False)
        some = coordinates[np.sort(drawn)]
    both, items = np.hstack([some, np.square(some)]), np.arange(len(some))
    least = _ROUNDING**2 * float(both[:, some.shape[1] :].max())
    labels, n_cells = np.zeros(len(some), dtype=np.intp), 1
    while n_cells < most:
        sizes = np.bincount(labels)[:, None]
        means, squares = np.hsplit(grouped(both, labels) / sizes, 2)
        spread = squares - np.square(means)
        widest, total = spread.argmax(axis=1), (sizes * spread).sum(axis=1)
        chosen = np.argsort(-total, kind="stable")[: most - n_cells]
        chosen = chosen[spread.max(axis=1)[chosen] > least]
        new = np.full(n_cells, -1)
        new[chosen] = n_cells + np.arange(len(chosen))
        at, leaves = widest[labels], new[labels] >= 0
        leaves &= some[items, at] - means[labels, at] > np.sqrt(least)
        labels[leaves] = new[labels[leaves]]
        if not np.bincount(labels, minlength=n_cells + len(chosen)).all():
            labels = np.unique(labels, return_inverse=True)[1]
        if labels.max() < n_cells:
            break
        n_cells = int(labels.max()) + 1
    for i in range(_NEAREST_ITERATIONS):
        means = grouped(some, labels) / np.bincount(labels)[:, None]
        of_all = i + 1 == _NEAREST_ITERATIONS
        labels = np.unique(_nearest(coordinates if of_all else some, means), return_inverse=True)[1]
    return labels


def grouped(table: FloatArray, labels: IntArray) -> FloatArray:
    """Return the sums of rows with the same label, each of which there is."""
    sizes = np.bincount(labels)
    # Short integers are sorted by their digits.
    order = np.argsort(labels.astype(np.min_scalar_type(len(sizes))), kind="stable")
    begins, sums = np.cumsum(sizes) - sizes, np.empty((len(sizes), table.shape[1]))
    # A few columns at a time: tables of all items are large, and need no second copy.
    for start in range(0, table.shape[1], _SUMMED):
        at = slice(start, start + _SUMMED)
        np.add.reduceat(table[order, at], begins, axis=0, out=sums[:, at])
    return sums


def _nearest(points: FloatArray, centres: FloatArray) -> IntArray:
    half = np.square(centres).sum(axis=1) / 2.0
    parts = [points[start : start + _CHUNK] for start in range(0, len(points), _CHUNK)]
    return np.concatenate([(half - part @ centres.T).argmin(axis=1) for part in parts])


def _block_sums(data: Engine, rows: IntArray, columns: IntArray) -> FloatArray:
    """Return the sums of the blocks of cells: first over rows, but of wide data over columns."""
    n, m = data.shape
    cells = [
        Memberships.partition(each.astype(np.int32), int(each.max()) + 1)
        for each in (rows, columns)
    ]
    if n < m / _WIDE or (n < m and m * len(cells[0].sizes) > data.n_stored):
        sums = scaled_sums(data, "rows", (None, cells[1]))
        sums *= np.sqrt(cells[1].sizes)
        return grouped(sums, rows)
    of_columns = data.column_features(cells[0], None, base=None).here.sums
    assert of_columns is not None
    return np.ascontiguousarray(grouped(of_columns, columns).T)


class Table:
    """Sums of blocks of cells, clusters of which stand for clusters of the data."""

    def __init__(
        self, sums: FloatArray, cells: list[IntArray], kernels: Kernels, *, residual: bool
    ) -> None:
        self.sums, self.turned = sums, np.ascontiguousarray(sums.T)
        self.weights = [np.bincount(each).astype(np.float64) for each in cells]
        self.kernels, self.residual = kernels, residual
        rows, columns = self.weights
        means = sums / rows[:, None] / columns
        # Cells as points whose distances are those of their items.
        self.points = means * np.sqrt(columns), means.T * np.sqrt(rows)
        self.least = _LEAST_GAIN * float(rows @ np.square(means) @ columns)

    def search(
        self, numbers: tuple[int, int], n_rounds: int, rng: np.random.Generator
    ) -> list[LabelArray]:
        """Return labels of rows and of columns: seeds, perturbed and settled many times."""
        labels = [self.seeded(0, numbers[0]), self.seeded(1, numbers[1])]
        best = self.settle(labels, numbers)
        for turn in range(n_rounds):
            found, way = [each.copy() for each in labels], turn % _N_WAYS
            if way in _SHAKES:
                for each, k, share in zip(found, numbers, _SHAKES[way], strict=True):
                    moved: BoolArray = rng.random(len(each)) < share
                    each[moved] = rng.integers(k, size=np.count_nonzero(moved))
            else:
                self.begin_anew(found, numbers, way - 1, rng)
            value = self.settle(found, numbers, best)
            is_full = all(
                np.bincount(each, minlength=k).all() for each, k in zip(found, numbers, strict=True)
            )
            if value > best + self.least and is_full:
                best, labels = value, found
        return labels

    def settle(
        self, labels: list[LabelArray], numbers: tuple[int, int], goal: float = -np.inf
    ) -> float:
        """Move rows and columns by turns until no column moves; labels are changed.

        Returns what rises with every move: the sum of squares that the clusters explain, of
        residuals what they leave times -1. Ends earlier if it is not likely to reach a goal.
        """
        (rows, columns), (k, l), kernels = labels, numbers, self.kernels  # noqa: E741
        of_rows, of_columns = self.weights
        explained, hope, n_moved = -np.inf, np.inf, 1
        while n_moved > 0 and hope >= goal:
            before = explained
            both = of_columns, of_rows
            points, _ = kernels.compared(self.turned, both, columns, l, self.residual)
            kernels.move_cells(points, of_rows, rows, k, self.least)
            points, lost = kernels.compared(self.sums, both[::-1], rows, k, self.residual)
            explained, n_moved = kernels.move_cells(points, of_columns, columns, l, self.least)
            explained -= lost
            hope = explained + _STEPS_LEFT * (explained - before)
        return explained

    def seeded(self, side: int, k: int) -> LabelArray:
        """Begin with seeds, each of which lowers the sum of distances from the nearest most."""
        points, weights = self.points[side], self.weights[side]
        norms = np.square(points).sum(axis=1)
        d = np.maximum(norms[:, None] + norms - 2.0 * points @ points.T, 0.0)
        # Of those that differ by rounding alone the first, for dense and sparse data alike.
        closest, sums, rounding = d.max(axis=0), d @ weights, _ROUNDING * float(norms @ weights)
        seeds: list[int] = []
        for _ in range(k):
            sums[seeds] = np.inf
            seeds.append(int(np.argmax(sums <= sums.min() + rounding)))
            # Terms of those that are nearer to the new one: where clusters are many, these are few.
            nearer = np.flatnonzero(d[seeds[-1]] < closest)
            some, now = d[nearer], d[seeds[-1], nearer, None]
            terms = np.minimum(some, now) - np.minimum(some, closest[nearer, None])
            sums += weights[nearer] @ terms
            closest[nearer] = now[:, 0]
        labels: LabelArray = d[seeds].argmin(axis=0).astype(np.int32)
        labels[seeds] = np.arange(k)
        return labels

    def begin_anew(
        self,
        labels: list[LabelArray],
        numbers: tuple[int, int],
        side: int,
        rng: np.random.Generator,
    ) -> None:
        """Dissolve a cluster, and begin it with a part of another: what is nearer to one member."""
        points, own, k = self.points[side], labels[side], numbers[side]
        if k == 1:
            return
        source, target = rng.choice(k, size=2, replace=False)
        members, gone = np.flatnonzero(own == source), np.flatnonzero(own == target)
        own[gone] = (target + 1 + rng.integers(k - 1, size=len(gone))) % k
        if len(members) > 1:
            one, other = points[rng.choice(members, size=2, replace=False)]
            middle = (one @ one - other @ other) / 2.0
            own[members[points[members] @ (one - other) > middle]] = target
