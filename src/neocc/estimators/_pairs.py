"""Cells named by pairs of a row and a column, as a sparse matrix."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import sparse

from neocc._typing import AnyArray, BoolArray, FloatArray, IntArray

__all__ = ["codes_of", "matrices", "numbered", "read_pairs"]


def read_pairs(pairs: Any) -> tuple[AnyArray, AnyArray]:
    """Return the rows and the columns of pairs, each as a list of names."""
    if sparse.issparse(pairs):
        raise TypeError("Sparse input is not supported: give an array of shape (n_cells, 2).")
    if not hasattr(pairs, "iloc") and hasattr(pairs, "__array__"):
        pairs = np.asarray(pairs)
    if hasattr(pairs, "iloc"):
        given = [np.asarray(pairs.iloc[:, i]) for i in range(pairs.shape[1])]
    elif isinstance(pairs, np.ndarray):
        given = list(pairs.T) if pairs.ndim == 2 else []
    else:
        pairs = list(pairs)
        # An array of pairs would turn the number in ("ann", 7) into text.
        wrong = any(isinstance(pair, str) or not hasattr(pair, "__len__") for pair in pairs)
        lengths = set() if wrong else {len(pair) for pair in pairs}
        given = [_as_array(part) for part in zip(*pairs, strict=True)] if lengths == {2} else []
        given = given if pairs else [_as_array(()), _as_array(())]
    if len(given) != 2:
        found = f"; got n_features={len(given)}" if given else ""
        raise ValueError(
            f"Give pairs of a row and a column: an array of shape (n_cells, 2){found}."
        )
    for names in given:
        without = [i for i, name in enumerate(names.tolist()) if _is_nothing(name)]
        if without:
            raise ValueError(
                f"Pair {without[0]} has no name of a row or column: got {given[0][without[0]]!r} "
                f"and {given[1][without[0]]!r}."
            )
    return given[0], given[1]


def _is_nothing(name: Any) -> bool:
    return isinstance(name, float) and math.isnan(name)


def _as_array(names: Any) -> AnyArray:
    array = np.empty(len(names), dtype=object)
    array[:] = names
    return array


def numbered(names: AnyArray) -> tuple[dict[Any, int], IntArray]:
    """Return a number for each name, in their order or as they come where they have none."""
    listed = names.tolist()
    try:
        every = sorted(set(listed))
    except TypeError:
        every = list(dict.fromkeys(listed))
    numbers = {name: i for i, name in enumerate(every)}
    return numbers, codes_of(names, numbers)


def codes_of(names: AnyArray, numbers: dict[Any, int]) -> IntArray:
    """Return the number of each name, -1 for one that has none."""
    return np.array([numbers.get(name, -1) for name in names.tolist()], dtype=np.intp)


def matrices(
    rows: IntArray,
    columns: IntArray,
    values: FloatArray,
    weights: FloatArray,
    shape: tuple[int, int],
) -> tuple[Any, Any]:
    """Return the matrix of cells, and their weights unless they are all one."""
    cells, at = np.unique(rows * shape[1] + columns, return_inverse=True)
    total = np.bincount(at, weights)
    means = np.bincount(at, weights * values) / total
    place = np.divmod(cells, shape[1])
    X = sparse.csr_array((means, place), shape=shape)
    alike: BoolArray = total == 1.0
    return X, None if alike.all() else sparse.csr_array((total, place), shape=shape)
