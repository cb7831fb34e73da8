"""Effects of rows and columns over observed cells: regularised alternating means.

A cell is expected to be mu + b_p + b_t, with mu the weighted mean of all observed cells and

    b_t = sum_p w_pt (x_pt - mu - b_p) / (10 + sum_p w_pt)
    b_p = sum_t w_pt (x_pt - mu - b_t) / (15 + sum_t w_pt)

computed in turn. The two constants are customary for ratings; they shrink the effects of items
with few observed cells. Rows come last, so that the effects of new rows are found as those of old
ones are, from the effects of the columns.

The mean and the effects are rounded, turn by turn, to multiples of a power of two, about 2^-52 of
the largest possible sum of what is left. What is left of ratings, and of other values with few
binary digits, are then multiples of it, too, and their sums have no rounding: these can be updated
from what changed, in any order, with the same bits (`neocc.engines.exact`). Rows that are seen
again get the effects that they had, to the last bit. The turns end at a change that is far larger.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from neocc._typing import FloatArray
from neocc.core.engine import Engine
from neocc.core.objectives import Side
from neocc.kernels import Features, Memberships

__all__ = ["SUM_DIGITS", "Biases", "effect_step", "find_biases", "side_biases"]

_ROW_SHRINKAGE, _COLUMN_SHRINKAGE = 15.0, 10.0
_MOST_TURNS = 10
# Of the largest effect, a change that is too small to matter.
_LEAST_CHANGE = 1e-6
# Binary digits that sums in float64 have.
SUM_DIGITS = 52


class Biases(NamedTuple):
    """The mean of all observed cells, and the effects of rows and of columns."""

    mean: float
    rows: FloatArray
    columns: FloatArray


def find_biases(
    engine: Engine,
    *,
    effects: bool = True,
    weights: tuple[FloatArray | float, ...] = (1.0, 1.0),
    values: tuple[float, float] | None = None,
) -> Biases:
    """Return the mean and the effects of observed cells, in about twenty passes at most.

    Without `effects` these are 0. A row of weight 2 is two rows, each with an effect of its own:
    where the weights of cells have those of their rows and columns, `weights`, so has what shrinks
    effects. `values` is the range of the cells, if it is known.
    """
    (n, m), (row_weights, column_weights) = engine.shape, weights
    step = effect_step(engine.value_range() if values is None else values, (n, m))
    row_sums, row_counts = _over_columns(engine, np.ones(m))
    total = float(row_counts.sum())
    mean = float(_rounded(row_sums.sum() / total, step)) if total > 0.0 else 0.0
    rows, columns = np.zeros(n), np.zeros(m)
    if not effects:
        return Biases(mean, rows, columns)
    column_sums, column_counts = _over_rows(engine, np.ones(n))
    for turn in range(_MOST_TURNS):
        before = columns
        left = column_sums - mean * column_counts - _over_rows(engine, rows)[1]
        columns = _rounded(left / (_COLUMN_SHRINKAGE * column_weights + column_counts), step)
        left = row_sums - mean * row_counts - _over_columns(engine, columns)[1]
        rows = _rounded(left / (_ROW_SHRINKAGE * row_weights + row_counts), step)
        change = np.abs(columns - before).max(initial=0.0)
        # Columns of one mean have no effect before rows have theirs.
        if turn > 0 and change <= _LEAST_CHANGE * np.abs(columns).max(initial=0.0):
            break
    return Biases(mean, rows, columns)


def effect_step(values: tuple[float, float], shape: tuple[int, int]) -> float:
    """Return what effects are multiples of, given the range of cells; 0 if they are not rounded.

    Effects of so many turns are at most so many times that range, of which as many as the longer
    side has items are summed.
    """
    largest = (values[1] - values[0]) * 2.0 * _MOST_TURNS
    if not 0.0 < largest < math.inf:
        return 0.0
    return math.ldexp(1.0, math.ceil(math.log2(largest) + math.log2(max(shape))) - SUM_DIGITS)


def _rounded(effects: Any, step: float) -> FloatArray:
    return np.asarray(np.rint(effects / step) * step if step > 0.0 else effects)


def side_biases(
    engine: Engine,
    side: Side,
    mean: float,
    other: FloatArray,
    step: float,
    weights: FloatArray | float = 1.0,
) -> FloatArray:
    """Return the effects of the items of a side as multiples of `step`, given the others'."""
    over, shrinkage = _over_rows, _COLUMN_SHRINKAGE
    if side == "rows":
        over, shrinkage = _over_columns, _ROW_SHRINKAGE
    sums, counts = over(engine, np.ones(len(other)))
    left = sums - mean * counts - over(engine, other)[1]
    return _rounded(left / (shrinkage * weights + counts), step)


def _over_columns(engine: Engine, values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return sum_t w_pt x_pt v_t and sum_t w_pt v_t of all rows, for a number v_t per column."""
    return _only(engine.row_features(_one_cluster(values), "plain"))


def _over_rows(engine: Engine, values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the same of all columns, for a number per row."""
    return _only(engine.column_features(_one_cluster(values), None, base=None, counts=True))


def _only(features: Features) -> tuple[FloatArray, FloatArray]:
    """Return the sums and the counts of items over one cluster."""
    assert features.sums is not None and features.counts is not None
    return features.sums[:, 0], features.counts[:, 0]


def _one_cluster(values: FloatArray) -> Memberships:
    labels = np.zeros(len(values), dtype=np.int32)
    nothing = np.empty(0, dtype=np.int32)
    return Memberships(labels, nothing.astype(np.intp), nothing, 1, values)
