"""A fitted model and its matrix, read into what the report describes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from neocc._counts import round_half_away
from neocc._typing import BoolArray, FloatArray, IntArray
from neocc.core.overlap import OverlapModel
from neocc.engines import RowSource
from neocc.estimators._fitted import asked_objective, can_average, used_overlap_model
from neocc.io import Matrix, column_distances
from neocc.io._labels import read_labels
from neocc.plot._measure import Measure, is_observed
from neocc.plot._source import Clusters, read_clusters, read_names, read_values
from neocc.report._cells import associate, count_observed
from neocc.report._html import LONGEST_KEPT, shorten
from neocc.report._side import Side

__all__ = ["Result", "measures_gains", "read_result"]

_LONGEST_NOUN = 40
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Result:
    """What is reported.

    Attributes
    ----------
    model : estimator
        The fitted model.
    clusters : Clusters
        Its memberships and means.
    matrix : Matrix
        Names and numbers; without numbers only its shape counts.
    has_values : bool
        Whether the matrix has numbers.
    nouns : pair of str
        What rows and columns are called, many of them.
    """

    model: Any
    clusters: Clusters
    matrix: Matrix
    has_values: bool
    nouns: tuple[str, str]
    rows: Side
    columns: Side | None

    @property
    def overlap_model(self) -> OverlapModel | None:
        """What several memberships cost; None for models with no grid of means."""
        return used_overlap_model(self.model) if _is_ours(self.model) else None

    @property
    def can_average(self) -> bool:
        """Whether the fit could have been one of means of groups, and is not."""
        return can_average(self.model)

    @property
    def combines(self) -> bool:
        """Whether somebody in several groups is a combination of them, not a member of each."""
        return self.clusters.combined

    @property
    def measure(self) -> Measure:
        """What the number of a block is."""
        return self.clusters.measure

    @property
    def observed(self) -> bool:
        """Whether cells that the matrix does not store are unknown, not zero."""
        return is_observed(self.model)

    @property
    def background(self) -> str:
        """What explains those in no group, in words."""
        nouns = " and ".join(self.nouns)
        if self.measure.is_ratio:
            return f"independence of {nouns}"
        level = self.measure.expected is None
        return "a level of zero" if level else f"the effects of {nouns} alone"

    @property
    def is_whole(self) -> bool:
        """Whether these are all rows of the fit."""
        return _is_whole(self.model, self.rows.members)

    @property
    def sides(self) -> list[Side]:
        """The clustered sides."""
        return [side for side in (self.rows, self.columns) if side is not None]

    def column_name(self, column: int) -> str:
        """Return the name of a column."""
        return shorten(self.matrix.name_of_column(column), LONGEST_KEPT)

    def other_sizes(self, side: Side) -> IntArray:
        """Return the sizes of the groups on the other side; its items count where it has none."""
        other = self.columns if side is self.rows else self.rows
        return np.ones(self.matrix.shape[1], dtype=np.intp) if other is None else other.sizes


def read_result(
    model: Any,
    matrix: Any,
    row_names: Sequence[Any] | None,
    column_names: Sequence[Any] | None,
    nouns: tuple[str, str],
    labels: tuple[Any, Any] = (None, None),
) -> Result:
    """Read a model that was fitted to a matrix; without one, what the model knows by itself.

    The rows of a block store stay on disk: one pass over them measures distances. Names that are
    given stand for those of the matrix, which are ids then; labels are by ids.
    """
    nouns = (shorten(nouns[0], _LONGEST_NOUN), shorten(nouns[1], _LONGEST_NOUN))
    ids: tuple[tuple[str, ...] | None, tuple[str, ...] | None] = (None, None)
    if isinstance(matrix, Matrix):
        ids = matrix.row_names, matrix.column_names
        row_names = matrix.row_names if row_names is None else row_names
        column_names = matrix.column_names if column_names is None else column_names
        matrix = matrix.data
    named, has_values = _read_matrix(model, matrix, row_names, column_names)
    clusters = read_clusters(model, named.data if has_values else None)
    if has_values and clusters.means is not None:
        clusters = replace(clusters, means=_but_rounding(clusters.means, named.data))
    if clusters.rows is None:
        raise ValueError("A report is about groups of rows; this model has none.")
    means = clusters.means
    distances = (None, None) if matrix is None else _distances(model, clusters, matrix)
    shared: dict[str, Any] = {
        "repeats": used_overlap_model(model).repeats,
        "measure": clusters.measure,
        "gains": measures_gains(model),
    }
    if labels[1] is not None and clusters.columns is None:
        raise ValueError("Labels of columns need groups of columns; this model has none.")
    known = [
        _known(of_side, named_, own, n, noun)
        for of_side, named_, own, n, noun in zip(
            labels, (named.name_of_row, named.name_of_column), ids, named.shape, nouns, strict=True
        )
    ]
    counted = _counted(model, clusters, named.data if has_values else None)

    def side(at: int, members: BoolArray, name: Callable[[int], str], levels: Any) -> Side:
        words = ("row_outliers", "outliers") if at == 0 else ("column_outliers",)
        return Side(
            nouns[at],
            members,
            clusters.arranged("rows" if at == 0 else "columns"),
            lambda item: shorten(name(item), LONGEST_KEPT),
            distances[at],
            levels,
            _max_outliers(model, words, len(members)),
            **shared,
            **counted[at],
            **known[at],
        )

    rows = side(0, clusters.rows, named.name_of_row, means)
    columns = None
    if clusters.columns is not None:
        by_column = None if means is None else means.T
        columns = side(1, clusters.columns, named.name_of_column, by_column)
    return Result(model, clusters, named, has_values, nouns, rows, columns)


def _but_rounding(means: FloatArray, X: Any) -> FloatArray:
    """Return means, 0 where cancellation of values leaves nothing but rounding."""
    values = X.data if hasattr(X, "indptr") else X
    largest = max(float(np.nanmax(values, initial=0.0)), -float(np.nanmin(values, initial=0.0)))
    return np.where(np.abs(means) <= _ROUNDING * largest, 0.0, means)


def _known(
    labels: Any, name: Callable[[int], str], ids: tuple[str, ...] | None, n_items: int, noun: str
) -> dict[str, Any]:
    """Return ids where they are others than the names, and labels in the order of the items."""
    found: dict[str, Any] = {}
    names = [name(item) for item in range(n_items)]
    if ids is not None and list(ids) != names:
        found["identify"] = lambda item: shorten(ids[item], LONGEST_KEPT)
    if labels is not None:
        found["labels"] = read_labels(labels, names if ids is None else ids, noun)
    return found


def _read_matrix(
    model: Any,
    matrix: Any,
    row_names: Sequence[Any] | None,
    column_names: Sequence[Any] | None,
) -> tuple[Matrix, bool]:
    """Return names with numbers, or with zeros of the right shape if there are none in memory."""
    if isinstance(matrix, RowSource):
        matrix = None
    if column_names is None:
        column_names = getattr(model, "feature_names_in_", None)
    if matrix is None:
        data = np.broadcast_to(0.0, _shape(model))
    else:
        data = read_values(matrix, observed=is_observed(model))
    rows = read_names(row_names, matrix, data.shape[0], "rows")
    columns = read_names(column_names, matrix, data.shape[1], "columns")
    named = Matrix(
        data,
        row_names=None if rows is None else tuple(rows),
        column_names=None if columns is None else tuple(columns),
    )
    return named, matrix is not None


def _shape(model: Any) -> tuple[int, int]:
    clusters = read_clusters(model)
    n_rows = 0 if clusters.rows is None else len(clusters.rows)
    if clusters.columns is not None:
        return n_rows, len(clusters.columns)
    return n_rows, int(model.n_features_in_)


def _distances(
    model: Any, clusters: Clusters, X: Any
) -> tuple[FloatArray | None, FloatArray | None]:
    """Return the distances of rows and of columns, where the model measures them.

    Squares over observed cells are left out: the fewer cells somebody has, the smaller they are.
    """
    if not _is_ours(model) or (is_observed(model) and not measures_gains(model)):
        return None, None
    columns = None if clusters.columns is None else column_distances(model, X)
    return model.transform(X), columns


def _counted(model: Any, clusters: Clusters, X: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what is counted in the matrix for the sides: observed cells, and items of counts."""
    if X is None or clusters.rows is None or clusters.columns is None:
        return {}, {}
    if is_observed(model):
        cells = count_observed(X, clusters.rows, clusters.columns)
        return {"cells": cells}, {"cells": cells.transposed}
    # What is expected follows from the sums over all rows.
    if not clusters.measure.is_ratio or not _is_whole(model, clusters.rows):
        return {}, {}
    sides = (X, clusters.rows), (X.T, clusters.columns)
    found = [{"associations": associate(*side, model.prior)} for side in sides]
    return found[0], found[1]


def _is_whole(model: Any, rows: BoolArray) -> bool:
    fitted = getattr(model, "_row_members", None)
    return fitted is not None and len(fitted) == len(rows)


def measures_gains(model: Any) -> bool:
    """Whether distances are relative to what somebody in no group costs: minus gains."""
    return hasattr(model, "outlier_cost") and asked_objective(model).background


def _is_ours(model: Any) -> bool:
    """Whether memberships come from the two-stage assignment, by distances to a grid of means."""
    return hasattr(model, "block_means_") or hasattr(model, "cluster_centers_")


def _max_outliers(model: Any, parameters: Sequence[str], n_items: int) -> int | None:
    """Return how many items a model might leave out; "auto" leaves the number it estimated."""
    for name in parameters if _is_ours(model) else ():
        share = getattr(model, name, None)
        if share == "auto":
            share = getattr(model, f"{name.split('_')[0]}_estimate_").outliers
        if share is not None:
            return round_half_away(share * n_items)
    return None
