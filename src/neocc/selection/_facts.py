"""What can be measured of data at a glance: values, fill, scales, lines that stand out.

Of large data a random sample of rows is looked at, so that a look costs little against a fit.
Cells that are NaN, and the stored entries of sparse data, are kept apart from zeros where that
matters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from neocc._typing import FloatArray
from neocc.selection._lines import (
    Lines,
    answer_scales,
    are_mixed,
    heaviest,
    id_columns,
    is_list,
    n_duplicates,
    some_rows,
)

__all__ = ["MANY_LEVELS", "Facts", "look_at"]

MANY_LEVELS = 64
"""More distinct values than this are not counted."""
# So few fractions between whole levels are means of several ratings of one cell.
_FEW_MEANS = 0.1
_SKEW_DIGITS, _QUARTER = 3, 4.0


@dataclass(frozen=True)
class Facts:
    """Numbers about data, of the rows that were looked at.

    Attributes
    ----------
    shape : tuple of int
        Rows and columns of the data.
    n_rows_seen : int
        Rows that were looked at.
    is_sparse : bool
        Whether zeros are not stored.
    fill, missing : float
        Share of cells that are neither zero nor missing; share of those that are NaN, or not
        stored where only observed cells count.
    low, high, smallest : float
        Lowest and highest value, and the smallest that is positive (or 0 if there is none).
    is_whole : bool
        Whether all values are integers.
    levels : tuple of float
        Distinct values other than zero, at most `MANY_LEVELS`; empty if there are more. A few
        means of whole levels are left out.
    lowest_is_mode : bool
        Whether the lowest of these is the commonest.
    small : float
        Share of cells, zeros too, that are no larger than a quarter of the highest value.
    negative : float
        Share of negative values among those that are not zero.
    centre : float
        Mean of all cells over their standard deviation.
    skew, log_skew : float
        Skewness of the values other than zero, and of the logarithms of the positive ones.
    decades : float
        Powers of ten between the 1st and the 99th percentile of the positive values.
    row_scales, column_scales : float
        How many times the scale of a large row (column) is that of a small one: 95th over 5th
        percentile of standard deviations.
    column_levels : float
        Spread of the means of columns over the standard deviation within a column.
    mixed_columns : bool
        Whether columns are of different sorts: some have whole numbers only, or negative ones, or
        answer yes and no, and others do not.
    heavy_columns : int
        Columns that have most of the variation within columns: at most a tenth of ten or more, the
        first of five times the usual scale; 0 if it takes more.
    heavy_share : float
        Their share of it.
    answer_scales : tuple of float
        Where a short and a long scale end, if most columns hold answers on scales, else empty.
    row_total, row_totals_vary : float
        Median of the sums of rows, and their standard deviation over their mean.
    empty_rows, empty_columns, constant_rows, constant_columns : int
        Lines of zeros or missing cells; other lines of one value.
    duplicate_rows, duplicate_columns : int
        Lines that are, value by value, like an earlier one.
    id_columns : tuple of str
        Columns that look like ids: their names, or numbers from 1.
    is_list : bool
        Whether the data look like a list of row, column and value.
    """

    shape: tuple[int, int]
    n_rows_seen: int
    is_sparse: bool
    fill: float
    missing: float
    low: float
    high: float
    smallest: float
    is_whole: bool
    levels: tuple[float, ...]
    lowest_is_mode: bool
    small: float
    negative: float
    centre: float
    skew: float
    log_skew: float
    decades: float
    row_scales: float
    column_scales: float
    column_levels: float
    mixed_columns: bool
    heavy_columns: int
    heavy_share: float
    answer_scales: tuple[float, ...]
    row_total: float
    row_totals_vary: float
    empty_rows: int
    empty_columns: int
    constant_rows: int
    constant_columns: int
    duplicate_rows: int
    duplicate_columns: int
    id_columns: tuple[str, ...]
    is_list: bool


def look_at(
    X: Any, names: Sequence[Any] | None, most: int, seed: int, *, observed: bool = False
) -> Facts:
    """Measure data, or a random sample of their rows of about `most` cells.

    Where only `observed` cells count, those that are not stored are missing. Values that are too
    large for squares are left to those who fit.
    """
    with np.errstate(all="ignore"):
        return _measured(X, names, most, seed, observed=observed)


def _measured(
    X: Any, names: Sequence[Any] | None, most: int, seed: int, *, observed: bool
) -> Facts:
    shape, seen, names = some_rows(X, names, most, seed)
    stored = seen.data if sparse.issparse(seen) else seen.ravel()
    is_missing = np.isnan(stored)
    values = np.asarray(stored[~is_missing & (stored != 0)], dtype=np.float64)
    n_cells = max(1, seen.shape[0] * seen.shape[1])
    n_missing = np.count_nonzero(is_missing) + (n_cells - stored.size if observed else 0)
    levels, first = _levels(values)
    positive = values[values > 0]
    columns, rows = Lines.of(seen, 0), Lines.of(seen, 1)
    lowest = float(values.min()) if values.size else 0.0
    has_zeros = values.size + n_missing < n_cells
    totals, heavy = rows.sums, heaviest(columns)
    return Facts(
        shape=shape,
        n_rows_seen=seen.shape[0],
        is_sparse=sparse.issparse(seen),
        fill=values.size / n_cells,
        missing=n_missing / n_cells,
        low=min(lowest, 0.0) if has_zeros else lowest,
        high=max(float(values.max()) if values.size else 0.0, 0.0 if has_zeros else -np.inf),
        smallest=float(positive.min()) if positive.size else 0.0,
        is_whole=bool((values == np.rint(values)).all()),
        levels=levels,
        lowest_is_mode=first,
        small=_small(values, n_cells - n_missing),
        negative=1.0 - positive.size / max(1, values.size),
        centre=_ratio(totals.sum() / n_cells, rows.overall),
        skew=_skew(values),
        log_skew=_skew(np.log(positive)),
        decades=_decades(positive),
        row_scales=_spread(rows.scales),
        column_scales=_spread(columns.scales),
        column_levels=_ratio(float(np.std(columns.means)), _median(columns.scales)),
        mixed_columns=are_mixed(columns),
        heavy_columns=heavy[0],
        heavy_share=heavy[1],
        answer_scales=answer_scales(seen, columns),
        row_total=_median(totals),
        row_totals_vary=_ratio(float(np.std(totals)), float(abs(totals.mean()))),
        empty_rows=int(rows.empty.sum()),
        empty_columns=int(columns.empty.sum()),
        constant_rows=int((rows.constant & ~rows.empty).sum()),
        constant_columns=int((columns.constant & ~columns.empty).sum()),
        duplicate_rows=n_duplicates(seen, rows.empty),
        duplicate_columns=n_duplicates(seen.T, columns.empty),
        id_columns=id_columns(seen, names),
        is_list=is_list(seen),
    )


# ---------------------------------------------------------------------------------------- values


def _levels(values: FloatArray) -> tuple[tuple[float, ...], bool]:
    """Return distinct values if they are few, and whether the lowest is the commonest."""
    if not values.size or len(np.unique(values[:10_000])) > MANY_LEVELS:
        return (), False
    levels, counts = np.unique(values, return_counts=True)
    if len(levels) > MANY_LEVELS:
        return (), False
    between = levels % 1 != 0
    if not (between[0] or between[-1]) and counts[between].sum() <= _FEW_MEANS * values.size:
        levels, counts = levels[~between], counts[~between]
    return tuple(levels.tolist()), bool(counts.argmax() == 0)


def _small(values: FloatArray, n_given: int) -> float:
    """Return the share of given cells that are small; those without a value are zeros."""
    if not values.size:
        return 1.0
    large = np.count_nonzero(values > max(values.max(), 0.0) / _QUARTER)
    return 1.0 - large / max(1, n_given)


def _skew(values: FloatArray) -> float:
    if values.size < 2:
        return 0.0
    away = values / np.abs(values).max()  # so that no power overflows
    away -= away.mean()
    return round(_ratio(float((away**3).mean()), float((away * away).mean()) ** 1.5), _SKEW_DIGITS)


def _decades(positive: FloatArray) -> float:
    if not positive.size:
        return 0.0
    low, high = np.quantile(positive, [0.01, 0.99])
    return float(np.log10(high / low))


def _spread(scales: FloatArray) -> float:
    if not scales.size:
        return 1.0
    low, high = np.quantile(scales, [0.05, 0.95])
    return _ratio(float(high), float(low)) or 1.0


def _median(values: FloatArray) -> float:
    return float(np.median(values)) if values.size else 0.0


def _ratio(above: float, below: float) -> float:
    return above / below if below > 0 else 0.0
