"""What is not given is chosen from the data, with reasons.

First the numbers of groups, by `suggest_n_clusters` with outliers set aside; then, for these
numbers, overlap and outliers, by `estimate_overlap_and_outliers`, and a trial of the overlap. Of a
block store all rows are looked at where they are few, else a random sample of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from neocc.cli._guard import collected_warnings
from neocc.cli._kinds import AUTO
from neocc.cli._reasons import (
    SIDES,
    Choice,
    fractions_chosen,
    in_words,
    numbers_chosen,
    overlap_refused,
)
from neocc.cli._sample import Sample
from neocc.cli._settings import FitSettings
from neocc.core.objectives import Side, make_objective
from neocc.estimators import NEOCC
from neocc.selection import (
    OverlapEstimate,
    PredictedClusters,
    SuggestedClusters,
    estimate_overlap_and_outliers,
    suggest_n_clusters,
)
from neocc.selection._together import Asked, completed, is_estimated

__all__ = ["CRITERIA", "Choice", "Ranked", "choose", "rank_numbers"]

Callback: TypeAlias = Callable[[int, int], Any] | None
Ranked: TypeAlias = SuggestedClusters | PredictedClusters

CRITERIA = {
    "prediction": "the prediction of cells that were held out",
    "icl": "the integrated completed likelihood (icl), which weighs fit against number of groups",
    "hull": "the elbow of the objective (hull), beyond which more groups gain little",
    "pseudo_f": "the two-mode ratio of Calinski and Harabasz (pseudo_f)",
}

_INTERRUPTED = "not estimated: interrupted"
# Two groups count as one made twice if so many of those in either are in both.
_TOO_ALIKE = 0.6


def choose(
    X: Any,
    settings: FitSettings,
    callback: Callback = None,
    sample: Sample | None = None,
    *,
    trial: bool = True,
) -> tuple[FitSettings, list[Choice], list[str]]:
    """Replace every "auto" among the settings by a number; say why, and what else is worth knowing.

    X has the data, or a sample of their rows. The callback is called with the number of pairs of
    numbers tried and to try; a trial of an estimated overlap tells whether it is taken.
    """
    choices, notes = list[Choice](), list[str]()
    sizes = (X.shape[0] if sample is None else sample.n_rows, X.shape[1])
    why = _not_estimated(settings)
    if not {"rows", "columns"}.isdisjoint(settings.left_open):
        suggested = _suggest(X, settings, callback)
        choices.append(numbers_chosen(suggested, settings))
        notes += suggested.notes
        settings = replace(settings, **choices[0].options)
        why = why if suggested.complete else _INTERRUPTED
    try:
        estimates = _estimates(X, settings, sizes, why, trial=trial)
    except KeyboardInterrupt:
        estimates = _estimates(X, settings, sizes, _INTERRUPTED, trial=False)
    for choice in estimates:
        settings = replace(settings, **choice.options)
    choices += estimates
    if sample is not None and not sample.is_whole:
        where = f"in {sample.in_words('rows')}"
        choices = [replace(choice, why=f"{choice.why}; {where}") for choice in choices]
    return settings, choices, notes


def _estimates(
    X: Any, settings: FitSettings, sizes: tuple[int, int], why_not: str, *, trial: bool
) -> list[Choice]:
    """Estimate overlap and outliers, or say why not and take none."""
    found: dict[Side, Choice] = {}
    for side, n_items in zip(SIDES, sizes, strict=True):
        asked = [name for name in settings.left_open if name.startswith(side[:-1])]
        if asked and why_not:
            found[side] = _none_of_it(settings, side, asked, n_items, why_not)
        elif asked:
            k = int(getattr(settings, side))
            if k > n_items:
                too_many = f"n_{side[:-1]}_clusters={k} is more than the {n_items} {side}."
                raise ValueError(f"{too_many} Ask for at most {n_items}.")
            other = int(settings.columns if side == "rows" else settings.rows)
            estimate = _estimate(X, k, settings, side, other)
            found[side] = fractions_chosen(estimate, settings, asked, n_items)
    for choice in found.values():
        settings = replace(settings, **choice.options)
    for side in _twins(X, settings, found) if trial else ():
        found[side] = overlap_refused(found[side], settings, side)
    return list(found.values())


def _not_estimated(settings: FitSettings) -> str:
    """Say why overlap and outliers are not estimated, or nothing."""
    named = settings.objective != AUTO
    if not named or is_estimated(make_objective(settings.objective, missing=_cells(settings))):
        return ""
    return f"not estimated for {'observed cells' if settings.is_observed else 'counts'}"


def _none_of_it(
    settings: FitSettings, side: Side, asked: list[str], n_items: int, why: str
) -> Choice:
    """Leave out nobody and overlap nothing."""
    word = side[:-1]
    names = ("overlap", "outliers")
    given = {n: getattr(settings, f"{word}_{n}") for n in names if f"{word}_{n}" not in asked}
    found = completed(Asked(1, **given), None)
    options: dict[str, Any] = {
        name: getattr(found, name.removeprefix(f"{word}_")) for name in asked
    }
    complete = why != _INTERRUPTED
    return Choice(in_words(options, side, n_items), why, options, n_items, complete=complete)


def _cells(settings: FitSettings) -> str:
    return "ignore" if settings.is_observed else "zero"


def rank_numbers(
    X: Any,
    settings: FitSettings,
    numbers: tuple[list[int] | None, list[int] | None],
    callback: Callback,
    **options: Any,
) -> Ranked:
    """Rank numbers of groups of rows and of columns, outliers out, without overlap.

    A few outliers that had to be in a group would ask for many groups of their own.
    """
    for word in ("row", "column"):
        outliers = getattr(settings, f"{word}_outliers")
        options[f"{word}_outliers"] = outliers
        options[f"{word}_overlap"] = 0.0 if outliers == AUTO else 0.0 - outliers
    return suggest_n_clusters(
        X,
        *numbers,
        objective=settings.objective,
        missing=_cells(settings),
        remove_effects=settings.remove_effects,
        random_state=settings.seed,
        n_jobs=settings.jobs,
        callback=callback,
        **options,
    )


def _suggest(X: Any, settings: FitSettings, callback: Callback) -> PredictedClusters:
    rows, columns = (
        None if side in settings.left_open else [int(getattr(settings, side))] for side in SIDES
    )
    found = rank_numbers(X, settings, (rows, columns), callback)
    assert isinstance(found, PredictedClusters)
    return found


def _estimate(
    X: Any, k: int, settings: FitSettings, side: Side, other: int | None = None
) -> OverlapEstimate:
    return estimate_overlap_and_outliers(
        X,
        k,
        axis=side,
        n_other_clusters=other,
        strategy=settings.overlap_rule,  # type: ignore[arg-type]
        random_state=settings.seed,
        n_jobs=settings.jobs,
    )


def _twins(X: Any, settings: FitSettings, estimates: dict[Side, Choice]) -> list[Side]:
    """Try the estimated overlap; return the sides where it makes two groups nearly the same.

    The method gives memberships to whom they cost least. Where rows differ much in weight, as
    users with few and with many ratings do, these are the lightest, which fit any group alike.
    """
    sides = [
        side
        for side, estimate in estimates.items()
        if estimate.options.get(f"{side[:-1]}_overlap", 0.0) > 0
    ]
    if not sides:
        return []
    quick = {**settings.estimator_options, "n_init": 1, "refine": False}
    with collected_warnings():
        model = NEOCC(**quick).fit(X)
    alike = {side: np.triu(table, 1).max() for side, table in model.redundancy_.sides.items()}
    return [side for side in sides if alike[side] >= _TOO_ALIKE]
