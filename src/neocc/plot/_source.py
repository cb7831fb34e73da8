"""What is to be drawn: memberships, means and names, read from whatever the caller has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
from scipy import sparse

from neocc._names import frame_names
from neocc._typing import BoolArray, FloatArray, IntArray
from neocc.engines import RowSource
from neocc.engines.changed import observed_cells
from neocc.engines.stored import StoredRows
from neocc.engines.validation import read_matrix, read_memberships
from neocc.estimators._fitted import weigh
from neocc.kernels import inverse
from neocc.plot._measure import MEAN, Measure, measure_of
from neocc.plot.arrange import Arrangement, arrange, arrange_both

__all__ = ["SIDES", "Clusters", "Side", "read_clusters", "read_names", "read_values"]

Side: TypeAlias = Literal["rows", "columns"]
SIDES: tuple[Side, Side] = ("rows", "columns")
_CELLS_AT_ONCE = 1 << 20


@dataclass(frozen=True)
class Clusters:
    """A clustering of the rows, of the columns, or of both.

    Attributes
    ----------
    rows, columns : ndarray of shape (n_items, n_clusters), bool, or None
        Memberships; None for a side that is not clustered.
    means : ndarray or None
        Block means, or the centres of a clustering of one side (clusters x items of the other). Of
        counts, the lifts of blocks.
    combined : bool
        Whether items of several clusters are combinations of them: `means` are then levels that
        explain them together, not means of all members.
    measure : Measure
        What `means` are.
    """

    rows: BoolArray | None
    columns: BoolArray | None
    means: FloatArray | None
    combined: bool = False
    measure: Measure = MEAN

    def side(self, side: Side) -> BoolArray:
        """Return the memberships of one side, or say that there are none."""
        if side not in SIDES:
            raise ValueError(f"side must be 'rows' or 'columns'; got {side!r}.")
        members = self.rows if side == "rows" else self.columns
        if members is None:
            other = "columns" if side == "rows" else "rows"
            raise ValueError(f"The {side} are not clustered; this model clusters the {other} only.")
        return members

    def sizes(self, side: Side) -> IntArray:
        """Return the number of members of each cluster of a side."""
        return np.asarray(self.side(side).sum(axis=0))

    @cached_property
    def arrangements(self) -> tuple[Arrangement | None, Arrangement | None]:
        """Rows and columns in the order to show them."""
        if self.rows is not None and self.columns is not None:
            return arrange_both(self.rows, self.columns, self.means)
        if self.rows is not None:
            return arrange(self.rows, self.means), None
        assert self.columns is not None
        return None, arrange(self.columns, None if self.means is None else self.means.T)

    def arranged(self, side: Side) -> Arrangement:
        """Return one side in the order to show it."""
        self.side(side)
        found = self.arrangements[0 if side == "rows" else 1]
        assert found is not None
        return found


def read_clusters(model: Any, X: Any = None) -> Clusters:
    """Read a fitted model, or a pair of membership matrices either of which may be None.

    Means that the model does not have are computed from `X` (as `read_values` returns it).
    """
    if isinstance(model, tuple | list):
        if len(model) != 2 or all(part is None for part in model):
            raise ValueError(
                "Memberships must be a pair (rows, columns), of which one may be None; got "
                f"{len(model)} part{'s' if len(model) != 1 else ''}."
            )
        rows, columns = (
            None if part is None else _read_members(part, name)
            for part, name in zip(model, ("row memberships", "column memberships"), strict=True)
        )
        means, combined, measure = None, False, MEAN
    else:
        rows, columns, means = _read_model(model)
        sides = [each for each in (rows, columns) if each is not None]
        combined = any(weigh(model, each).mixed for each in sides if each.size)
        measure = measure_of(model, combined=combined)
    if X is not None:
        _check_shape(X, rows, columns)
        if means is None:
            means = _means(X, rows, columns)
    return Clusters(rows, columns, means, combined, measure)


def _read_model(model: Any) -> tuple[BoolArray | None, BoolArray | None, FloatArray | None]:
    """Read the attributes of NEOCC and of those like it, of MSSR, of NEOKMeans."""
    lifts = getattr(model, "block_lifts_", None)
    means = getattr(model, "block_means_", None) if lifts is None else lifts
    shape = (None, None) if means is None else np.shape(means)
    if hasattr(model, "row_membership_"):
        rows = _read_members(model.row_membership_, "row_membership_")
        columns = _read_members(model.column_membership_, "column_membership_")
    elif hasattr(model, "row_labels_"):
        rows = _from_labels(model.row_labels_, shape[0])
        columns = _from_labels(model.column_labels_, shape[1])
    elif hasattr(model, "membership_"):
        rows, columns = _read_members(model.membership_, "membership_"), None
        means = getattr(model, "cluster_centers_", None)
    else:
        name = type(model).__name__
        if hasattr(model, "fit"):
            raise ValueError(f"This {name} has no memberships to draw: fit it first.")
        raise TypeError(
            f"Cannot read clusters from a {name}: pass a fitted model or a pair of membership "
            "matrices (rows, columns)."
        )
    return rows, columns, None if means is None else np.asarray(means, dtype=np.float64)


def _read_members(members: Any, name: str) -> BoolArray:
    dense = members.toarray() if sparse.issparse(members) else np.asarray(members)
    if dense.ndim == 2 and not dense.shape[1]:
        return dense.astype(bool)  # A model may have found nothing: all items are outliers.
    return read_memberships(dense, name, len(dense) if dense.ndim else 0, None).dense


def _from_labels(labels: Any, n_clusters: int | None) -> BoolArray:
    """Turn labels into memberships; negative ones stand for outliers."""
    values = np.asarray(labels)
    if n_clusters is None:
        n_clusters = int(values.max(initial=0)) + 1
    members: BoolArray = values[:, None] == np.arange(n_clusters)
    return members


def _check_shape(X: Any, rows: BoolArray | None, columns: BoolArray | None) -> None:
    for members, n_items, side in ((rows, X.shape[0], "rows"), (columns, X.shape[1], "columns")):
        if members is not None and len(members) != n_items:
            raise ValueError(
                f"X has {n_items} {side}, but the memberships are of {len(members)}: pass the "
                "matrix that the model was fitted to."
            )


def _means(X: Any, rows: BoolArray | None, columns: BoolArray | None) -> FloatArray:
    """Block means, or the means of the clusters of the one side that has any."""
    U, V = (None if members is None else members.astype(np.float64) for members in (rows, columns))
    if U is None:
        assert V is not None
        return np.asarray(X @ V) * inverse(V.sum(axis=0))
    if sparse.issparse(X):
        sums = np.asarray(X.T @ U).T
    else:
        # By blocks of rows: neither integers nor float32 are copied to float64 as a whole.
        sums = np.zeros((U.shape[1], X.shape[1]))
        step = max(1, _CELLS_AT_ONCE // X.shape[1])
        for start in range(0, X.shape[0], step):
            sums += U[start : start + step].T @ X[start : start + step]
    if V is None:
        return sums * inverse(U.sum(axis=0))[:, None]
    return (sums @ V) * np.outer(inverse(U.sum(axis=0)), inverse(V.sum(axis=0)))


def read_values(X: Any, *, observed: bool = False) -> Any:
    """Check a matrix as the estimators do; return an array or a CSR matrix, loaded if need be.

    With `observed` it is a CSR matrix of the observed cells: what it does not store is not known.
    """
    if isinstance(X, RowSource):
        return observed_cells(StoredRows(X)[:]) if observed else StoredRows(X)[:]
    X = X.data if _is_named(X) else X
    return read_matrix(None, X, reset=False, observed=observed).values


def _is_named(X: Any) -> bool:
    """Whether X holds a matrix with names: what `neocc.io` reads, or a data set of ours."""
    return all(hasattr(X, part) for part in ("data", "row_names", "column_names"))


def read_names(given: Sequence[Any] | None, X: Any, n_items: int, side: Side) -> list[str] | None:
    """Return names as given, or those of a data frame or matrix; None where there are none."""
    if given is None and _is_named(X):
        given = X.row_names if side == "rows" else X.column_names
    elif given is None and not sparse.issparse(X):
        given = frame_names(X, side)
    if given is None:
        return None
    names = [str(name) for name in given]
    if len(names) != n_items:
        raise ValueError(f"{len(names)} names for {n_items} {side}: give one name for each.")
    return names
