"""Exact counts of both sides, fractions estimated where they are "auto"."""

from __future__ import annotations

from dataclasses import astuple
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from neocc.core.objectives import Side
from neocc.core.overlap import OverlapModel
from neocc.core.problem import Counts
from neocc.engines import Matrix, Workers
from neocc.engines.validation import make_counts
from neocc.estimators._engines import make_engine
from neocc.estimators._fitted import asked_objective
from neocc.selection import Asked, OverlapEstimate, completed, estimate_sides

__all__ = ["SIDES", "SIDE_CONSTRAINTS", "counts_of_sides"]

SIDES: tuple[Side, Side] = ("rows", "columns")

SIDE_CONSTRAINTS: dict[str, list[Any]] = {
    "n_row_clusters": [None, Interval(Integral, 1, None, closed="left")],
    "n_column_clusters": [None, Interval(Integral, 1, None, closed="left")],
    "row_overlap": [Interval(Real, None, None, closed="neither"), StrOptions({"auto"})],
    "row_outliers": [Interval(Real, 0, 1, closed="left"), StrOptions({"auto"})],
    "column_overlap": [Interval(Real, None, None, closed="neither"), StrOptions({"auto"})],
    "column_outliers": [Interval(Real, 0, 1, closed="left"), StrOptions({"auto"})],
}
"""Rules for the parameters of a side."""


def counts_of_sides(
    model: Any, matrix: Matrix, rule: OverlapModel
) -> tuple[Counts, Counts, dict[Side, OverlapEstimate]]:
    """Return the counts of rows and columns, and the estimates of sides that have any.

    Columns overlap as little as an overlap model demands unless it is said how much.
    """
    asked = _asked(model, matrix)
    found = _estimates(model, matrix, asked)
    asked |= {side: completed(asked[side], each) for side, each in found.items()}
    sides = []
    for side, n_items in zip(SIDES, matrix.shape, strict=True):
        k, overlap, outliers = astuple(asked[side])
        if side == "columns" and not rule.both_sides and model.column_overlap == "auto":
            overlap = 0.0 - outliers
        bounds = (rule.most, model.min_cluster_size)
        sides.append(make_counts(side[:-1], n_items, k, overlap, outliers, *bounds))
    return sides[0], sides[1], found


def _asked(model: Any, matrix: Matrix) -> dict[Side, Asked]:
    """Return the number of clusters of each side, and its fractions; None for "auto"."""
    asked = {}
    for side, n_items in zip(SIDES, matrix.shape, strict=True):
        word = side[:-1]
        k = make_counts(word, n_items, getattr(model, f"n_{word}_clusters")).n_clusters
        given = (getattr(model, f"{word}_overlap"), getattr(model, f"{word}_outliers"))
        asked[side] = Asked(k, *(None if value == "auto" else value for value in given))
    return asked


def _estimates(model: Any, matrix: Matrix, asked: dict[Side, Asked]) -> dict[Side, OverlapEstimate]:
    """Estimate the fractions of sides where one is "auto"."""
    if not any(each.is_open for each in asked.values()):
        return {}
    objective = asked_objective(model)
    if objective.of_counts:
        raise ValueError(
            "Overlap and outliers are estimated for squared differences only: give numbers in the "
            f"place of 'auto' with objective={objective.name!r}."
        )
    rng = np.random.default_rng(check_random_state(model.random_state).randint(2**31 - 1))
    both = asked["rows"], asked["columns"]
    with Workers(model.n_jobs) as workers:
        engine = make_engine(matrix, model.kernel, workers, where=model.engine)
        found = estimate_sides(engine, objective, both, rng, most=model.max_memberships)
    return {side: found[side] for side, each in asked.items() if each.is_open}
