"""Exact counts of both sides: numbers of clusters and fractions chosen where they are "auto"."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from numbers import Integral, Real
from typing import Any, TypeAlias

import numpy as np

from neocc._sklearn import Interval, StrOptions
from neocc._warn import warn
from neocc.core.objectives import Objective, Side
from neocc.core.overlap import OverlapModel
from neocc.core.problem import Counts
from neocc.engines import Matrix, Workers
from neocc.engines.validation import make_counts
from neocc.estimators._engines import make_engine
from neocc.estimators._fitted import asked_objective
from neocc.selection import OverlapEstimate, PredictedClusters
from neocc.selection._data import make_rng
from neocc.selection._predict import Wanted, choose_numbers
from neocc.selection._together import (
    Asked,
    Looks,
    Taken,
    completed,
    estimate_sides,
    is_estimated,
    most_memberships,
)

__all__ = ["SIDES", "SIDE_CONSTRAINTS", "Chosen", "choose_sides", "counts_of_sides", "taken"]

SIDES: tuple[Side, Side] = ("rows", "columns")
_INTERRUPTED = "not estimated (interrupted)"

SIDE_CONSTRAINTS: dict[str, list[Any]] = {
    "n_row_clusters": [None, StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
    "n_column_clusters": [None, StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
    "row_overlap": [Interval(Real, None, None, closed="neither"), StrOptions({"auto"})],
    "row_outliers": [Interval(Real, 0, 1, closed="left"), StrOptions({"auto"})],
    "column_overlap": [Interval(Real, None, None, closed="neither"), StrOptions({"auto"})],
    "column_outliers": [Interval(Real, 0, 1, closed="left"), StrOptions({"auto"})],
}
"""Rules for the parameters of a side."""


Sides: TypeAlias = dict[Side, Taken]
Estimates: TypeAlias = dict[Side, OverlapEstimate]


@dataclass(frozen=True)
class Chosen:
    """What a fit asks of both sides, and how what was "auto" was chosen."""

    sides: Sides
    numbers: PredictedClusters | None  # None if they were given
    estimates: Estimates  # of sides where a fraction was "auto"
    why_not: str  # why there are none of these, so that nothing overlaps and no one is left out

    @property
    def is_complete(self) -> bool:
        """Whether nobody interrupted the choice."""
        return self.why_not != _INTERRUPTED


def counts_of_sides(
    model: Any, matrix: Matrix, rule: OverlapModel
) -> tuple[Counts, Counts, Chosen]:
    """Return the counts of rows and columns, and what was chosen of them."""
    chosen = choose_sides(model, matrix, rule)
    if chosen.why_not:
        names = [f"{side[:-1]}_{one}" for side in SIDES for one in ("overlap", "outliers")]
        listed = ", ".join(name for name in names if getattr(model, name) == "auto")
        warn(
            f'Overlap and outliers are {chosen.why_not}: "auto" means none for {listed}. Give a '
            "fraction if there are any.",
            UserWarning,
        )
    bounds = (rule.most, model.min_cluster_size)
    rows, columns = (
        make_counts(side[:-1], n, *chosen.sides[side], *bounds)
        for side, n in zip(SIDES, matrix.shape, strict=True)
    )
    return rows, columns, chosen


def choose_sides(
    model: Any,
    matrix: Matrix,
    rule: OverlapModel,
    callback: Callable[[int, int], Any] | None = None,
    estimate: Callable[[dict[Side, Asked]], tuple[Estimates, Sides]] | None = None,
) -> Chosen:
    """Choose the numbers of clusters that are "auto", then, for these, overlap and outliers.

    An interrupt ends the choice, with what is known by then. `callback` is that of
    `choose_numbers`; `estimate` takes the place of the mixture.
    """
    looks = Looks()
    numbers = _numbers(model, matrix, rule, callback, looks)
    asked = _asked(model, matrix, numbers)
    found, sides, why_not = dict[Side, OverlapEstimate](), taken(asked, {}, rule), ""
    if any(each.is_open for each in asked.values()):
        why_not = _why_not(asked_objective(model), numbers)
        try:
            if not why_not:
                found, sides = (estimate or partial(_by_mixture, model, matrix, rule, looks))(asked)
        except KeyboardInterrupt:
            why_not = _INTERRUPTED
    return Chosen(sides, numbers, found, why_not)


def taken(asked: dict[Side, Asked], found: Estimates, rule: OverlapModel) -> Sides:
    """Return what a fit asks of both sides, by estimates of what is open.

    Columns overlap as little as an overlap model demands unless it is said how much.
    """
    sides = {side: completed(each, found.get(side)) for side, each in asked.items()}
    if asked["columns"].overlap is None and not rule.both_sides:
        sides["columns"] = sides["columns"].disjoint
    return sides


def _number(model: Any, matrix: Matrix, side: Side) -> int | None:
    """Return a number of clusters that was given, None for "auto".

    One that was left out (None) suits both sides where their clusters come in pairs.
    """
    k, n_items = getattr(model, f"n_{side[:-1]}_clusters"), matrix.shape[SIDES.index(side)]
    if k == "auto":
        return None
    if k is None and asked_objective(model).paired:
        n_items = min(matrix.shape)
    return make_counts(side[:-1], n_items, k).n_clusters


def _numbers(
    model: Any, matrix: Matrix, rule: OverlapModel, callback: Any, looks: Looks
) -> PredictedClusters | None:
    """Choose the numbers of clusters that are "auto", by prediction."""
    given = [_number(model, matrix, side) for side in SIDES]
    if None not in given:
        return None
    rows, columns = (None if k is None else [k] for k in given)
    row_out, column_out = (_fraction(model, f"{side[:-1]}_outliers") for side in SIDES)
    overlap = _fraction(model, "row_overlap"), _fraction(model, "column_overlap")
    most = most_memberships(rule, overlap)
    outliers = row_out, column_out
    wanted = Wanted(asked_objective(model), rows, columns, outliers, most=most, looks=looks)
    rng = make_rng(model.random_state)
    return choose_numbers(matrix, wanted, rng, model.n_jobs, callback=callback)


def _asked(model: Any, matrix: Matrix, numbers: PredictedClusters | None) -> dict[Side, Asked]:
    """Return the number of clusters of each side, and its fractions; None for "auto".

    A number that was chosen has room for an overlap that was given.
    """
    asked = {}
    for side, n_items in zip(SIDES, matrix.shape, strict=True):
        k, word = _number(model, matrix, side), side[:-1]
        overlap, outliers = (_fraction(model, f"{word}_{one}") for one in ("overlap", "outliers"))
        if k is None:
            assert numbers is not None
            room = 1 + int(np.ceil(overlap or 0.0))
            k = min(n_items, max(getattr(numbers, side).taken, room))
        asked[side] = Asked(k, overlap, outliers)
    return asked


def _fraction(model: Any, name: str) -> float | None:
    """Return a fraction that was given, None for "auto"."""
    given = getattr(model, name)
    return None if given == "auto" else float(given)


def _why_not(objective: Objective, numbers: PredictedClusters | None) -> str:
    """Say why fractions are not estimated, or nothing."""
    if numbers is not None and not numbers.complete:
        return _INTERRUPTED
    kind = "observed cells" if objective.needs_counts else "counts"
    return "" if is_estimated(objective) else f"not estimated for {kind}"


def _by_mixture(
    model: Any, matrix: Matrix, rule: OverlapModel, looks: Looks, asked: dict[Side, Asked]
) -> tuple[Estimates, Sides]:
    """Estimate the fractions of both sides together; return those of sides where one is open."""
    objective, rng = asked_objective(model), make_rng(model.random_state)
    with Workers(model.n_jobs) as workers:
        engine = make_engine(matrix, model.kernel, workers, where=model.engine)
        both = asked["rows"], asked["columns"]
        found = estimate_sides(engine, objective, both, rng, most=rule.most, looks=looks)
    found = {side: found[side] for side, each in asked.items() if each.is_open}
    return found, taken(asked, found, rule)
