"""Membership matrices as given by the user: checked once, here, and compared cluster by cluster.

A set of clusters that may overlap and need not reach every item is a *cover*.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from neocc._places import place_of
from neocc._typing import AnyArray


def read_cover(matrix: Any, name: str) -> Any:
    """Check one membership matrix; return a copy, a CSR array of ones (int64)."""
    given = matrix if sparse.issparse(matrix) else np.asarray(matrix)
    if given.ndim != 2:
        raise ValueError(
            f"{name} must be a membership matrix of shape (n_items, n_clusters), got shape "
            f"{given.shape}. Labels become memberships with `labels[:, None] == np.unique(labels)`."
        )
    if given.shape[0] == 0:
        raise ValueError(f"{name} has no items: its shape is {given.shape}.")
    if given.dtype.kind not in "biuf":
        raise ValueError(f"{name} must hold booleans or 0 and 1; got dtype {given.dtype}.")
    if not sparse.issparse(given):
        _check_binary(given, given, name)
        return sparse.csr_array(given, dtype=np.int64)
    cover = sparse.csr_array(given, copy=True)
    cover.sum_duplicates()
    _check_binary(cover.data, cover, name)
    cover.eliminate_zeros()
    return cover.astype(np.int64)


def _check_binary(values: AnyArray, where: Any, name: str) -> None:
    """Refuse values other than 0 and 1, naming the first; `where` is the matrix they come from."""
    wrong = (values != 0) & (values != 1)
    if not wrong.any():
        return
    first = int(np.argmax(wrong))
    item, cluster = place_of(where, first)
    raise ValueError(
        f"{name} must hold only 0 and 1; found {values.flat[first]} at item {item}, "
        f"cluster {cluster}."
    )


def read_covers(
    true: Any, found: Any, names: tuple[str, str] = ("true", "found")
) -> tuple[Any, Any]:
    """Check two membership matrices of the same items."""
    first, second = read_cover(true, names[0]), read_cover(found, names[1])
    if first.shape[0] != second.shape[0]:
        raise ValueError(
            f"{names[0]} and {names[1]} must have one row for each of the same items; they have "
            f"{first.shape[0]} and {second.shape[0]} rows."
        )
    return first, second


def require_clusters(cover: Any, name: str) -> None:
    """Refuse a cover without any cluster where a mean over its clusters is asked for."""
    if cover.shape[1] == 0:
        raise ValueError(
            f"{name} has no clusters (shape {cover.shape}): there is no mean over them."
        )


@dataclass(frozen=True)
class Overlaps:
    """Sizes of the clusters of two covers and of their intersections.

    Attributes
    ----------
    n_items : int
        Items, whether in a cluster or not.
    true_sizes, found_sizes : int64 ndarrays of shape (n_true,) and (n_found,)
        Items in each cluster.
    common : int64 ndarray of shape (n_true, n_found)
        Items that two clusters share.
    """

    n_items: int
    true_sizes: NDArray[np.int64]
    found_sizes: NDArray[np.int64]
    common: NDArray[np.int64]

    @classmethod
    def of(cls, true: Any, found: Any) -> Overlaps:
        """Count what two checked covers share."""
        return cls(
            n_items=int(true.shape[0]),
            true_sizes=np.asarray(true.sum(axis=0)),
            found_sizes=np.asarray(found.sum(axis=0)),
            common=(true.T @ found).toarray(),
        )
