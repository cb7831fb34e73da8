"""Exact counts of both sides: numbers of clusters and fractions chosen where they are "auto"."""

from __future__ import annotations

import warnings
from dataclasses import astuple, dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from neocc._sklearn import Interval, StrOptions
from neocc.core.objectives import Side
from neocc.core.overlap import OverlapModel
from neocc.core.problem import Counts
from neocc.engines import Matrix, Workers
from neocc.engines.validation import make_counts
from neocc.estimators._engines import make_engine
from neocc.estimators._fitted import asked_objective
from neocc.selection import OverlapEstimate, PredictedClusters
from neocc.selection._predict import Wanted, choose_numbers
from neocc.selection._together import Asked, completed, estimate_sides, is_estimated

__all__ = ["SIDES", "SIDE_CONSTRAINTS", "counts_of_sides"]

SIDES: tuple[Side, Side] = ("rows", "columns")

SIDE_CONSTRAINTS: dict[str, list[Any]] = {
    "n_row_clusters": [None, StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
    "n_column_clusters": [None, StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
    "row_overlap": [Interval(Real, None, None, closed="neither"), StrOptions({"auto"})],
    "row_outliers": [Interval(Real, 0, 1, closed="left"), StrOptions({"auto"})],
    "column_overlap": [Interval(Real, None, None, closed="neither"), StrOptions({"auto"})],
    "column_outliers": [Interval(Real, 0, 1, closed="left"), StrOptions({"auto"})],
}
"""Rules for the parameters of a side."""


@dataclass(frozen=True)
class Chosen:
    """What was chosen for a fit: None, or no entry, for what was given."""

    numbers: PredictedClusters | None
    estimates: dict[Side, OverlapEstimate]


def counts_of_sides(
    model: Any, matrix: Matrix, rule: OverlapModel
) -> tuple[Counts, Counts, Chosen]:
    """Return the counts of rows and columns, and what was chosen of them.

    Columns overlap as little as an overlap model demands unless it is said how much.
    """
    numbers = _numbers(model, matrix)
    asked = _asked(model, matrix, numbers)
    found = _estimates(model, matrix, asked)
    asked = {side: completed(asked[side], found.get(side)) for side in SIDES}
    sides = []
    for side, n_items in zip(SIDES, matrix.shape, strict=True):
        k, overlap, outliers = astuple(asked[side])
        if side == "columns" and not rule.both_sides and model.column_overlap == "auto":
            overlap = 0.0 - outliers
        bounds = (rule.most, model.min_cluster_size)
        sides.append(make_counts(side[:-1], n_items, k, overlap, outliers, *bounds))
    return sides[0], sides[1], Chosen(numbers, found)


def _numbers(model: Any, matrix: Matrix) -> PredictedClusters | None:
    """Choose the numbers of clusters that are "auto", by prediction."""
    given = (model.n_row_clusters, model.n_column_clusters)
    if "auto" not in given:
        return None
    asked = [
        None if k == "auto" else [n if k is None else min(k, n)]
        for k, n in zip(given, matrix.shape, strict=True)
    ]
    rows, columns = (
        None if share == "auto" else float(share)
        for share in (model.row_outliers, model.column_outliers)
    )
    wanted = Wanted(asked_objective(model), asked[0], asked[1], (rows, columns))
    rng = np.random.default_rng(check_random_state(model.random_state).randint(2**31 - 1))
    return choose_numbers(matrix, wanted, rng, model.n_jobs)


def _asked(model: Any, matrix: Matrix, numbers: PredictedClusters | None) -> dict[Side, Asked]:
    """Return the number of clusters of each side, and its fractions; None for "auto".

    A number that was chosen has room for an overlap that was given; one that was left out (None)
    suits both sides where their clusters come in pairs.
    """
    asked, paired = {}, asked_objective(model).paired
    chosen = (1, 1) if numbers is None else numbers.best
    for side, n_items, found in zip(SIDES, matrix.shape, chosen, strict=True):
        word = side[:-1]
        k = getattr(model, f"n_{word}_clusters")
        given = [getattr(model, f"{word}_{name}") for name in ("overlap", "outliers")]
        overlap, outliers = (None if value == "auto" else value for value in given)
        if k == "auto":
            k = min(n_items, max(found, 1 + int(np.ceil(overlap or 0.0))))
        n_places = min(matrix.shape) if paired and k is None else n_items
        asked[side] = Asked(make_counts(word, n_places, k).n_clusters, overlap, outliers)
    return asked


def _estimates(model: Any, matrix: Matrix, asked: dict[Side, Asked]) -> dict[Side, OverlapEstimate]:
    """Estimate the fractions of sides where one is "auto"."""
    if not any(each.is_open for each in asked.values()):
        return {}
    objective = asked_objective(model)
    if not is_estimated(objective):
        kind = "observed cells" if objective.needs_counts else "counts"
        names = [f"{side[:-1]}_{one}" for side, each in asked.items() for one in each.open]
        warnings.warn(
            f'Overlap and outliers are not estimated for {kind}: {" and ".join(names)} "auto" '
            "means none. Give a fraction if there are any.",
            UserWarning,
            stacklevel=2,
        )
        return {}
    rng = np.random.default_rng(check_random_state(model.random_state).randint(2**31 - 1))
    both = asked["rows"], asked["columns"]
    with Workers(model.n_jobs) as workers:
        engine = make_engine(matrix, model.kernel, workers, where=model.engine)
        found = estimate_sides(engine, objective, both, rng, most=model.max_memberships)
    return {side: found[side] for side, each in asked.items() if each.is_open}
