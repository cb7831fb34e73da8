"""What workers do with a block of rows: the memory engine's own work, a block at a time.

Every function here is pure: given the same blocks and the same tables it returns the same bits, on
whichever worker and however often. That is what lets Dask make lost results again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any, TypeAlias, TypeVar

import numpy as np
from scipy import sparse

from neocc._typing import FloatArray, IntArray
from neocc.core.counting import Answer, Cut, Question, Scores
from neocc.core.objectives import Sums
from neocc.engines.cluster.held import Common, GivenRows, HeldRows, Settled, engines
from neocc.engines.matrix import DenseMatrix, SparseMatrix
from neocc.engines.scratch import Scratch
from neocc.engines.source import RowSource
from neocc.kernels import Memberships

Part = TypeVar("Part")

Unit: TypeAlias = Sequence[HeldRows]
"""A few consecutive blocks, worked on by one task."""

Members: TypeAlias = Sequence[Memberships | None] | Settled
"""The memberships of the rows of each block of a unit."""


@dataclass(frozen=True)
class Change:
    """Rows of a block, and their memberships before and after."""

    rows: IntArray
    before: Memberships
    after: Memberships


def the_same(value: Any) -> Any:
    """Return a value: a task that puts it on a worker, and again should it be lost."""
    return value


def hold(
    sources: Sequence[RowSource | GivenRows] | RowSource,
    indices: Sequence[int],
    *,
    kernel: str,
    is_dense: bool,
) -> list[HeldRows]:
    """Read the blocks of a unit, from one source or from one for each."""
    each = sources if isinstance(sources, Sequence) else [sources] * len(indices)
    unit = [HeldRows(*where, kernel, is_dense) for where in zip(each, indices, strict=True)]
    for held in unit:
        held.matrix  # noqa: B018
    return unit


def centre(
    unit: Unit, row_effects: Sequence[FloatArray] | None, column_effects: FloatArray | None
) -> list[HeldRows]:
    """Return the same rows minus effects."""
    each = [None] * len(unit) if row_effects is None else row_effects
    return [
        replace(held, row_effects=effects, column_effects=column_effects)
        for held, effects in zip(unit, each, strict=True)
    ]


def score(unit: Unit, members: Members, common: Common) -> list[Scores]:
    """Measure the distances of all rows: one half-step."""
    norms = common.V is None
    # One table for all blocks: the system hands out large ones in large pages.
    edges = np.cumsum([0, *(held.matrix.shape[0] for held in unit)])
    d = np.empty((edges[-1], common.tables.n_clusters))
    found = []
    for engine, U, rows in zip(
        engines(unit, norms=norms), _each(members), pairwise(edges), strict=True
    ):
        found.append(engine.scored_rows(common.tables, U, common.V, out=d[slice(*rows)]))
    return found


def answer(scores: Sequence[Scores], question: Question) -> list[Answer]:
    """Count the distances of every block."""
    return Answer.together([each.answer(question) for each in scores], question)


def settle(scores: Sequence[Scores], cuts: Sequence[Cut]) -> Settled:
    """Return the new memberships of every block."""
    members = [each.settled(cut) for each, cut in zip(scores, cuts, strict=True)]
    return Settled(members, [each.objective for each in scores])


def costs(scores: Sequence[Scores], settled: Settled) -> FloatArray:
    """Return the distances at the new memberships, row by row."""
    pairs = zip(scores, settled.members, strict=True)
    return np.concatenate([each.costs(members) for each, members in pairs])


def sum_columns(unit: Unit, members: Members, common: Common, *, squares: bool) -> Sums:
    """Sum the rows down the columns: the other half-step."""
    pairs = zip(engines(unit), _each(members), strict=True)
    sums = (engine.column_sums(U, common.V, squares=squares) for engine, U in pairs)
    return up_a_tree(sums, partial(_add_in_place, unit[0].scratch))


def settle_and_sum(
    unit: Unit, scores: Sequence[Scores], cuts: Sequence[Cut], common: Common, *, squares: bool
) -> Sums:
    """Sum the rows down the columns for the new memberships.

    These are found again, which takes less time than to wait for another task to send them.
    """
    return sum_columns(unit, settle(scores, cuts), common, squares=squares)


def sum_changes(unit: Unit, changes: Sequence[Change], common: Common, *, squares: bool) -> Sums:
    """Return what the column sums gain when some rows change clusters."""
    pairs = zip(engines(unit), changes, strict=True)
    gains = (
        engine.changed_sums(change.rows, change.before, change.after, common.V, squares=squares)
        for engine, change in pairs
    )
    return up_a_tree(gains, partial(_add_in_place, unit[0].scratch))


def add_sums(parts: Sequence[Sums]) -> Sums:
    """Add the sums of consecutive units, up a fixed tree."""
    return up_a_tree(parts, Sums.plus)


def add(parts: Sequence[FloatArray]) -> FloatArray:
    """Add tables of consecutive units, up a fixed tree."""
    return up_a_tree(parts, np.add)


def up_a_tree(parts: Iterable[Part], plus: Callable[[Part, Part], Part]) -> Part:
    """Add pairs, the sums of these in pairs, and so on, as soon as there are two of a size.

    Sums of units of 2, 4, 8, ... blocks add up to the same bits as those of the blocks.
    """
    waiting: list[tuple[int, Part]] = []
    for part in parts:
        size, total = 1, part
        while waiting and waiting[-1][0] == size:
            total = plus(waiting.pop()[1], total)
            size *= 2
        waiting.append((size, total))
    total = waiting.pop()[1]
    while waiting:
        total = plus(waiting.pop()[1], total)
    return total


def _add_in_place(scratch: Scratch, one: Sums, other: Sums) -> Sums:
    """Add sums that nobody else has."""
    total = one.combined(np.add, other)
    scratch.give_back(*other.tables())
    return total


def measure(unit: Unit, common: Common) -> FloatArray:
    """Return the distances of all rows."""
    norms = common.V is None
    return np.concatenate(
        [engine.row_distances(common.tables, common.V) for engine in engines(unit, norms=norms)]
    )


def nearest(unit: Unit, common: Common) -> tuple[FloatArray, IntArray, FloatArray]:
    """Return comparable distances of all rows, and their nearest clusters."""
    norms = common.V is None
    found = [engine.nearest_rows(common.tables, common.V) for engine in engines(unit, norms=norms)]
    d, labels, minima = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return d, labels, minima


def squares(unit: Unit) -> FloatArray:
    """Return the squared norms of all rows."""
    return np.concatenate([held.norms for held in unit])


def multiply(unit: Unit, common: Common) -> FloatArray:
    """Return all rows times a table."""
    return np.concatenate([engine.multiply(common.tables) for engine in engines(unit)])


def multiply_transposed(unit: Unit, tables: Sequence[FloatArray]) -> FloatArray:
    """Return all rows, transposed, times a table that comes in one part per block."""
    pairs = zip(engines(unit), tables, strict=True)
    return add([engine.multiply_transposed(table) for engine, table in pairs])


def residual_squares(unit: Unit, members: Members, common: Common) -> list[float]:
    """Return the squared differences of every block from block means, term by term."""
    found = []
    for engine, U in zip(engines(unit), _each(members), strict=True):
        assert U is not None and common.V is not None
        found.append(engine.residual_squares(common.tables, U, common.V))
    return found


def take(unit: Unit, rows: Sequence[IntArray]) -> Any:
    """Return some rows of every block as given: an array or a CSR matrix."""

    def of_block(matrix: SparseMatrix | DenseMatrix, some: IntArray) -> Any:
        return matrix.scipy()[some] if isinstance(matrix, SparseMatrix) else matrix.values[some]

    return stacked([of_block(held.matrix, some) for held, some in zip(unit, rows, strict=True)])


def take_dense(unit: Unit, rows: Sequence[IntArray]) -> FloatArray:
    """Return a few rows of every block, centred."""
    return np.concatenate(
        [held.matrix.dense_rows(some) for held, some in zip(unit, rows, strict=True)]
    )


def row_medians(unit: Unit, columns: FloatArray) -> list[FloatArray]:
    """Return typical values of all rows that column effects were taken from, block by block."""
    found = []
    for held in unit:
        assert isinstance(held.matrix, DenseMatrix)
        found.append(held.matrix.row_medians(columns))
    return found


def stacked(pieces: Sequence[Any]) -> Any:
    """Put rows below each other."""
    if len(pieces) == 1:
        return pieces[0]
    if sparse.issparse(pieces[0]):
        return sparse.vstack(pieces, format="csr")
    return np.concatenate(pieces)


def _each(members: Members) -> Sequence[Memberships | None]:
    return members.members if isinstance(members, Settled) else members
