"""Rows and columns of data at a glance: which are read, and what is measured of each of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_array

from neocc._names import names_ids
from neocc._typing import AnyArray, FloatArray
from neocc.engines import RowSource
from neocc.engines.reading import READ_OPTIONS, canonical, readable
from neocc.engines.stored import StoredRows

__all__ = [
    "Lines",
    "answer_scales",
    "are_mixed",
    "heaviest",
    "id_columns",
    "is_list",
    "n_duplicates",
    "some_rows",
]

_LEAST_ROWS = 64
# Two columns of ids and one of values: every pair once, and each id often.
_LEAST_LIST, _LIST_COLUMNS = 20, 3
# So few of ten or more columns, of so many times the usual scale, are of another unit if they have
# half of the variation.
_FEW, _TEN, _HEAVY = 0.1, 10, 5.0
# Answers on a scale often are the highest, counts seldom: a share of rows, and how many at least;
# the shortest scale.
_OFTEN, _LEAST_OFTEN, _LEAST_SCALE = 0.02, 5, 3


def some_rows(
    X: Any, names: Sequence[Any] | None, most: int, seed: int
) -> tuple[tuple[int, int], Any, Sequence[Any] | None]:
    """Return the shape of the data, rows of them (an array or CSR), and names of columns."""
    if isinstance(X, RowSource):
        shape, n_stored = X.shape, X.n_stored
        rows = StoredRows(X)
        names = getattr(X, "column_names", None) if names is None else names
        at = _some(shape[0], n_stored, most, seed)
        return shape, rows[:] if len(at) == shape[0] else rows.take(at), names
    X = readable(X)
    if names is None and hasattr(X, "columns"):
        names = [str(name) for name in X.columns]
    X = check_array(X, **READ_OPTIONS)
    X = canonical(X) if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
    at = _some(X.shape[0], X.nnz if sparse.issparse(X) else X.size, most, seed)
    return X.shape, X if len(at) == X.shape[0] else X[at], names


def _some(n_rows: int, n_stored: int, most: int, seed: int) -> AnyArray:
    """Draw rows with about `most` entries, in their order."""
    size = n_rows if n_stored <= most else max(_LEAST_ROWS, int(n_rows * (most / n_stored)))
    if size >= n_rows:
        return np.arange(n_rows)
    return np.sort(np.random.default_rng(seed).choice(n_rows, size=size, replace=False))


@dataclass(frozen=True)
class Lines:
    """All rows, or all columns."""

    sums: FloatArray
    means: FloatArray
    scales: FloatArray  # standard deviations of the lines that are not constant
    overall: float  # standard deviation of all cells
    constant: AnyArray
    empty: AnyArray
    lowest: FloatArray
    highest: FloatArray
    whole: AnyArray
    binary: AnyArray  # 0 and 1, and both of them
    filled: FloatArray  # share of cells other than zero

    @classmethod
    def of(cls, seen: Any, axis: int) -> Lines:
        n = seen.shape[axis]
        if sparse.issparse(seen):
            clean = seen.copy()
            clean.data = np.nan_to_num(clean.data.astype(np.float64))
            squares = clean.multiply(clean)
            low, high = (_dense(each(axis=axis)) for each in (clean.min, clean.max))
            broken = clean.copy()
            broken.data = (clean.data != np.rint(clean.data)).astype(np.float64)
            whole = _dense(broken.sum(axis=axis)) == 0
            counts = np.full(seen.shape[1 - axis], float(n))
        else:
            clean = np.nan_to_num(seen)
            squares = clean * clean
            given = ~np.isnan(seen)
            low = np.where(given, seen, np.inf).min(axis=axis)
            high = np.where(given, seen, -np.inf).max(axis=axis)
            whole = (clean == np.rint(clean)).all(axis=axis)
            counts = np.maximum(given.sum(axis=axis), 1).astype(np.float64)
        sums = _dense(clean.sum(axis=axis))
        means, powers = sums / counts, _dense(squares.sum(axis=axis)) / counts
        scales = np.sqrt(np.maximum(powers - means * means, 0.0))
        constant = low >= high
        total = counts.sum()
        mean = sums.sum() / total
        overall = float(np.sqrt(max((powers * counts).sum() / total - mean * mean, 0.0)))
        empty = constant & ((low == 0) | ~np.isfinite(low))
        binary = whole & (low == 0) & (high == 1)
        filled = _dense((clean != 0).sum(axis=axis)) / max(1, n)
        return cls(
            sums=sums,
            means=means,
            scales=scales[~constant],
            overall=overall,
            constant=constant,
            empty=empty,
            lowest=low,
            highest=high,
            whole=whole,
            binary=binary,
            filled=filled,
        )


def _dense(line: Any) -> FloatArray:
    made = line.toarray() if sparse.issparse(line) else line
    return np.asarray(made, dtype=np.float64).ravel()


def are_mixed(columns: Lines) -> bool:
    """Whether columns are of different sorts, as those of different units are."""
    kept = ~columns.constant
    whole, lowest = columns.whole[kept], columns.lowest[kept]
    if whole.size < 2:
        return False
    return any(0.05 < share < 0.95 for share in (whole.mean(), (lowest < 0).mean())) or bool(
        # Answers of yes and no beside numbers of something.
        0 < columns.binary.sum() < whole.size and columns.filled[kept & ~columns.binary].min() > 0.5
    )


def heaviest(columns: Lines) -> tuple[int, float]:
    """Return how many columns, if they are few, have most of the variation, and their share."""
    scales = np.sort(columns.scales)[::-1]
    if len(scales) < _TEN or not _HEAVY * np.median(scales) <= scales[0] < np.inf:
        return 0, 0.0
    shares = np.cumsum(np.square(scales / scales[0]))
    few = int(np.searchsorted(shares, shares[-1] / 2)) + 1
    return (few, float(shares[few - 1] / shares[-1])) if few <= _FEW * len(scales) else (0, 0.0)


def answer_scales(seen: Any, columns: Lines) -> tuple[float, ...]:
    """Return the ends of a short and a long scale, if most columns are answers on scales."""
    if sparse.issparse(seen) or len(seen) < _LEAST_ROWS or not columns.whole.all():
        return ()
    ends = columns.highest
    often = (seen == ends).sum(axis=0) >= max(_OFTEN * len(seen), _LEAST_OFTEN)
    scales = ends[often & (ends >= _LEAST_SCALE)]
    if 2 * len(scales) < max(2, int(np.count_nonzero(~columns.constant))):
        return ()
    return tuple(np.quantile(scales, [0.05, 0.95], method="nearest").tolist())


def n_duplicates(lines: Any, empty: AnyArray) -> int:
    """Count lines that are like an earlier one; lines of zeros are told of as such."""
    if sparse.issparse(lines):
        rows = lines.tocsr()
        rows.sort_indices()
        edges = zip(rows.indptr[:-1], rows.indptr[1:], strict=True)
        keys = [(rows.indices[a:b].tobytes(), rows.data[a:b].tobytes()) for a, b in edges]
    else:
        keys = [(line.tobytes(), b"") for line in np.ascontiguousarray(lines)]
    kept = [key for key, is_empty in zip(keys, empty, strict=True) if not is_empty]
    return len(kept) - len(set(kept))


def id_columns(seen: Any, names: Sequence[Any] | None) -> tuple[str, ...]:
    """Return the columns of distinct integers that are called like ids, or count the rows."""
    n, m = seen.shape
    if sparse.issparse(seen) or n < 3 or m < 2:
        return ()
    found = []
    for at in np.flatnonzero((seen == np.rint(seen)).all(axis=0)).tolist():
        column = np.sort(seen[:, at])
        if (np.diff(column) == 0).any():
            continue
        name = f"column {at + 1}" if names is None else str(names[at])
        counts = n >= 2 * _LEAST_LIST and column[-1] - column[0] == n - 1
        if counts or (names is not None and (names_ids(name) or name.lower() == "index")):
            found.append(name)
    return tuple(found)


def is_list(seen: Any) -> bool:
    if sparse.issparse(seen) or seen.shape[1] != _LIST_COLUMNS or seen.shape[0] < _LEAST_LIST:
        return False
    ids = seen[:, :2]
    if np.isnan(ids).any() or (ids < 0).any() or (ids != np.rint(ids)).any():
        return False
    n_first, n_second = (len(np.unique(ids[:, at])) for at in (0, 1))
    # A sample of rows sees some of the cells of each.
    return (
        len(np.unique(ids, axis=0)) == len(ids)
        and 2 * max(n_first, n_second) <= len(ids)
        and (len(ids) <= n_first * n_second)
    )
