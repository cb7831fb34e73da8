"""What is not given is chosen from the data, with reasons.

First the numbers of groups, by `suggest_n_clusters` with outliers set aside; then, for these
numbers, overlap and outliers, by `estimate_overlap_and_outliers`, and a trial of the overlap. Of a
block store all rows are looked at where they are few, else a random sample of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np

from neocc._counts import round_half_away
from neocc.cli._guard import blaming_the_user, collected_warnings
from neocc.cli._kinds import AUTO
from neocc.cli._settings import FitSettings
from neocc.core.objectives import MEAN, Side, make_objective
from neocc.core.overlap import OverlapModel
from neocc.estimators import NEOCC
from neocc.estimators._fitted import asked_objective
from neocc.io.blocks._sample import Sample
from neocc.plot._words import plural
from neocc.selection import (
    OverlapEstimate,
    PredictedClusters,
    SuggestedClusters,
    estimate_overlap_and_outliers,
    suggest_n_clusters,
)
from neocc.selection._data import make_rng, opened, read
from neocc.selection._together import Asked, completed, estimate_sides, is_estimated

__all__ = ["CRITERIA", "Choice", "Ranked", "asked_model", "choose", "rank_numbers"]

Callback: TypeAlias = Callable[[int, int], Any] | None
Ranked: TypeAlias = SuggestedClusters | PredictedClusters

CRITERIA = {
    "prediction": "the prediction of cells that were held out",
    "icl": "the integrated completed likelihood (icl), which weighs fit against number of groups",
    "hull": "the elbow of the objective (hull), beyond which more groups gain little",
    "pseudo_f": "the two-mode ratio of Calinski and Harabasz (pseudo_f)",
}

_SIDES: tuple[Side, Side] = ("rows", "columns")
_INTERRUPTED = "not estimated: interrupted"
# Two groups count as one made twice if so many of those in either are in both.
_TOO_ALIKE = 0.6


@dataclass(frozen=True)
class Choice:
    """Something that was chosen for the user."""

    what: str  # such as "3 groups of rows and 2 of columns"
    why: str  # a clause without a full stop
    options: dict[str, Any]  # the settings chosen
    unclear: tuple[str, ...] = ()  # sides for which other numbers are as plausible
    complete: bool = True  # whether nobody interrupted it
    held_out: dict[str, Any] = field(default_factory=dict)  # what numbers of each side predict


def asked_model(settings: FitSettings) -> OverlapModel:
    """Return the overlap model that is asked for, or the first that is tried.

    One that does not go with the objective is refused. An objective still to be chosen is taken
    for one of squared errors, which go with all.
    """
    if settings.objective == AUTO:
        settings = replace(settings, objective="mean")
    with blaming_the_user():
        model = NEOCC(**settings.estimator_options)
        return model._make_model(asked_objective(model).kind)  # noqa: SLF001


def choose(
    X: Any, settings: FitSettings, callback: Callback = None, sample: Sample | None = None
) -> tuple[FitSettings, list[Choice], list[str]]:
    """Replace every "auto" among the settings by a number; say why, and what else is worth knowing.

    X has the data, or a sample of their rows. The callback is called with the number of pairs of
    numbers tried and to try.
    """
    choices, notes = list[Choice](), list[str]()
    sizes = (X.shape[0] if sample is None else sample.n_rows, X.shape[1])
    why = _not_estimated(settings)
    open_sides = [side for side in _SIDES if side in settings.left_open]
    if open_sides:
        numbers = [None if s in open_sides else [int(getattr(settings, s))] for s in _SIDES]
        found = rank_numbers(X, settings, numbers, callback)
        assert isinstance(found, PredictedClusters)
        choices.append(_numbers_chosen(found, open_sides))
        notes += found.notes
        settings = replace(settings, **choices[0].options)
        why = why if found.complete else _INTERRUPTED
    try:
        estimates = _estimates(X, settings, sizes, why)
    except KeyboardInterrupt:
        estimates = _estimates(X, settings, sizes, _INTERRUPTED)
    for choice in estimates:
        settings = replace(settings, **choice.options)
    choices += estimates
    if sample is not None and not sample.is_whole:
        where = f"in {sample.in_words('rows')}"
        choices = [replace(choice, why=f"{choice.why}; {where}") for choice in choices]
    return settings, choices, notes


# ------------------------------------------------------------------------------ numbers of groups


def rank_numbers(
    X: Any,
    settings: FitSettings,
    numbers: Any,
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
        missing=settings.estimator_options["missing"],
        remove_effects=settings.remove_effects,
        random_state=settings.seed,
        n_jobs=settings.jobs,
        callback=callback,
        **options,
    )


def _numbers_chosen(found: PredictedClusters, asked: list[Side]) -> Choice:
    """Say which numbers of groups were chosen, and why."""
    sides = [getattr(found, side) for side in asked]
    words = [f"{plural(sides[0].taken, 'group')} of {asked[0]}"]
    what = " and ".join(words + [f"{each.taken} of {each.side}" for each in sides[1:]])
    why = ". ".join(f"{each.side}: {each.reason}" for each in sides).replace("cluster", "group")
    unclear = tuple(e.side for e in sides if not e.is_clear and (e.number > 1 or e.other_model))
    if not found.complete:
        why = f"interrupted, the best so far, {found.progress}; {why}"
    options, held_out = {e.side: e.taken for e in sides}, {e.side: e.summary for e in sides}
    return Choice(what, why, options, unclear, found.complete, held_out)


# --------------------------------------------------------------------------- overlap and outliers


def _not_estimated(settings: FitSettings) -> str:
    """Say why overlap and outliers are not estimated, or nothing."""
    if settings.objective == AUTO:
        return ""
    cells = settings.estimator_options["missing"]
    if is_estimated(make_objective(settings.objective, missing=cells)):
        return ""
    return f"not estimated for {'observed cells' if settings.is_observed else 'counts'}"


def _estimates(X: Any, settings: FitSettings, sizes: tuple[int, int], why_not: str) -> list[Choice]:
    """Estimate overlap and outliers, or say why not and take none."""
    asked = {side: [n for n in settings.left_open if n.startswith(side[:-1])] for side in _SIDES}
    sides = {side: n for side, n in zip(_SIDES, sizes, strict=True) if asked[side]}
    estimates = {} if why_not or not sides else _estimate(X, settings, sides)
    found = {
        side: _fractions(estimates.get(side), why_not, settings, side, asked[side], n)
        for side, n in sides.items()
    }
    if not why_not:
        for choice in found.values():
            settings = replace(settings, **choice.options)
        for side in _twins(X, settings, found):
            found[side] = _without_overlap(found[side], settings, side, sides[side])
    return list(found.values())


def _estimate(X: Any, settings: FitSettings, sides: dict[Side, int]) -> dict[Side, OverlapEstimate]:
    """Estimate overlap and outliers of sides together, or each by a rule of the authors."""
    numbers = {"rows": int(settings.rows), "columns": int(settings.columns)}
    for side, n in sides.items():
        if numbers[side] > n:
            too_many = f"n_{side[:-1]}_clusters={numbers[side]} is more than the {n} {side}."
            raise ValueError(f"{too_many} Ask for at most {n}.")
    if settings.overlap_rule == "mixture":
        rows, columns = (Asked(min(k, n)) for k, n in zip(numbers.values(), X.shape, strict=True))
        with opened(read(X), settings.jobs) as engine:
            return estimate_sides(engine, MEAN, (rows, columns), make_rng(settings.seed))
    rule: Any = settings.overlap_rule
    options: dict[str, Any] = {"random_state": settings.seed, "n_jobs": settings.jobs}
    return {
        side: estimate_overlap_and_outliers(X, numbers[side], axis=side, strategy=rule, **options)
        for side in sides
    }


def _fractions(
    found: OverlapEstimate | None,
    why_not: str,
    settings: FitSettings,
    side: Side,
    asked: list[str],
    n_items: int,
) -> Choice:
    """Say what was estimated for a side of `n_items`, of which the estimate may have seen some.

    Without an estimate nobody is left out, and nothing overlaps.
    """
    overlap, outliers = f"{side[:-1]}_overlap", f"{side[:-1]}_outliers"
    given = (None if name in asked else getattr(settings, name) for name in (overlap, outliers))
    both = completed(Asked(1, *given), found)
    out = float(both.outliers or 0.0)
    # The estimate knows nothing of outliers that were given beside it.
    shares = {overlap: max(float(both.overlap or 0.0), 0.0 - out), outliers: out}
    reasons = {overlap: why_not, outliers: why_not}
    bounded, model = [], asked_model(settings)
    if found is not None:
        reasons = {overlap: found.why_overlap, outliers: found.why_outliers}
        if overlap in asked and side == "columns" and not model.both_sides:
            shares[overlap] = 0.0 - out
            bounded = [f"one group each (--overlap-model {model.name})"]
        elif overlap in asked and model.most is not None and shares[overlap] > model.most - 1:
            shares[overlap] = model.most - 1.0
            bounded = [f"no more than {model.most} groups each (--max-memberships)"]
    options = {name: shares[name] for name in asked}
    why = "; ".join(dict.fromkeys([*(reasons[name] for name in asked), *bounded]))
    return Choice(_in_words(options, side, n_items), why, options, complete=why_not != _INTERRUPTED)


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


def _without_overlap(estimate: Choice, settings: FitSettings, side: Side, n_items: int) -> Choice:
    """Say why an estimated overlap was not taken."""
    name = f"{side[:-1]}_overlap"
    why = (
        f"{estimate.why}; but in a trial that much overlap ({estimate.options[name]:.2g}) made two "
        f"groups of nearly the same {side}: those with few or small values fit everywhere. Scale "
        f"the {side} first, or set --{side[:-1]}-overlap"
    )
    # Whoever is left out leaves room for another membership; take that away too.
    options = {**estimate.options, name: 0.0 - getattr(settings, f"{side[:-1]}_outliers")}
    return Choice(_in_words(options, side, n_items), why, options)


def _in_words(options: dict[str, Any], side: str, n_items: int) -> str:
    parts = []
    for name, value in options.items():
        kind = name.rpartition("_")[2]
        count = round_half_away(value * n_items)
        if count <= 0:
            parts.append(f"no {kind}")
        elif kind == "overlap":
            parts.append(f"overlap {value:.3g} ({plural(count, 'membership')} beyond one each)")
        else:
            parts.append(f"outliers {value:.3g} (up to {count:,})")
    return f"{side}: {', '.join(parts)}"
