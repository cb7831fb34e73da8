"""Effects of rows and columns over observed cells: regularised alternating means.

A cell is expected to be mu + b_p + b_t, with mu the weighted mean of all observed cells and

    b_t = sum_p w_pt (x_pt - mu - b_p) / (10 + sum_p w_pt)
    b_p = sum_t w_pt (x_pt - mu - b_t) / (15 + sum_t w_pt)

computed in turn. The two constants are customary for ratings; they shrink the effects of items
with few observed cells. Rows come last, so that the effects of new rows are found as those of old
ones are, from the effects of the columns.

The mean and the effects are rounded to multiples of a power of two, about 2^-52 of the largest
possible sum of what is left. What is left of ratings, and of other values with few binary digits,
are then multiples of it, too, and their sums have no rounding: these can be updated from what
changed, in any order, with the same bits (`neocc.engines.exact`). The turns end at a change that is
far larger.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from neocc._typing import FloatArray
from neocc.core.engine import Engine
from neocc.core.objectives import Side
from neocc.kernels import Features, Memberships

__all__ = ["SUM_DIGITS", "Biases", "find_biases", "side_biases"]

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
    row_sums, row_counts = _over_columns(engine, np.ones(m))
    total = float(row_counts.sum())
    mean = float(row_sums.sum()) / total if total > 0.0 else 0.0
    rows, columns = np.zeros(n), np.zeros(m)
    values = engine.value_range() if values is None else values
    if not effects:
        return _rounded(Biases(mean, rows, columns), values, (n, m))
    column_sums, column_counts = _over_rows(engine, np.ones(n))
    for turn in range(_MOST_TURNS):
        before = columns
        left = column_sums - mean * column_counts - _over_rows(engine, rows)[1]
        columns = left / (_COLUMN_SHRINKAGE * column_weights + column_counts)
        left = row_sums - mean * row_counts - _over_columns(engine, columns)[1]
        rows = left / (_ROW_SHRINKAGE * row_weights + row_counts)
        change = np.abs(columns - before).max(initial=0.0)
        # Columns of one mean have no effect before rows have theirs.
        if turn > 0 and change <= _LEAST_CHANGE * np.abs(columns).max(initial=0.0):
            break
    return _rounded(Biases(mean, rows, columns), values, (n, m))


def _rounded(found: Biases, values: tuple[float, float], shape: tuple[int, int]) -> Biases:
    """Return the same as multiples of the power of two that sums of what is left allow."""
    largest = max(found.mean - values[0], values[1] - found.mean)
    largest += sum(float(np.abs(each).max(initial=0.0)) for each in found[1:])
    if not 0.0 < largest < math.inf:
        return found
    step = np.exp2(math.ceil(math.log2(largest) + math.log2(max(shape))) - SUM_DIGITS)
    return Biases(*(np.rint(each / step) * step for each in found))


def side_biases(
    engine: Engine,
    side: Side,
    mean: float,
    other: FloatArray,
    weights: FloatArray | float = 1.0,
) -> FloatArray:
    """Return the effects of the items of a side, given those of the other."""
    over, shrinkage = _over_rows, _COLUMN_SHRINKAGE
    if side == "rows":
        over, shrinkage = _over_columns, _ROW_SHRINKAGE
    sums, counts = over(engine, np.ones(len(other)))
    left = sums - mean * counts - over(engine, other)[1]
    return np.asarray(left / (shrinkage * weights + counts))


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
