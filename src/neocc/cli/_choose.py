"""What is not given is chosen from the data, with reasons.

First the numbers of groups, by `suggest_n_clusters` with outliers set aside; then, for these
numbers, overlap and outliers, by `estimate_overlap_and_outliers`, and a trial of the overlap. Of a
block store all rows are looked at where they are few, else a random sample of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np

from neocc._counts import round_half_away
from neocc.cli._guard import collected_warnings
from neocc.cli._kinds import AUTO
from neocc.cli._models import asked_model
from neocc.cli._sample import Sample
from neocc.cli._settings import FitSettings
from neocc.core.objectives import make_objective
from neocc.estimators import NEOCC
from neocc.plot._words import plural
from neocc.selection import (
    Asked,
    OverlapEstimate,
    PredictedClusters,
    SuggestedClusters,
    completed,
    estimate_overlap_and_outliers,
    is_estimated,
    suggest_n_clusters,
)

__all__ = ["CRITERIA", "Choice", "Ranked", "choose", "rank_numbers"]

Callback: TypeAlias = Callable[[int, int], Any] | None
Ranked: TypeAlias = SuggestedClusters | PredictedClusters
Side: TypeAlias = Literal["rows", "columns"]
SIDES: tuple[Side, Side] = ("rows", "columns")

CRITERIA = {
    "prediction": "the prediction of cells that were held out",
    "icl": "the integrated completed likelihood (icl), which weighs fit against number of groups",
    "hull": "the elbow of the objective (hull), beyond which more groups gain little",
    "pseudo_f": "the two-mode ratio of Calinski and Harabasz (pseudo_f)",
}

# Two groups count as one made twice if so many of those in either are in both.
_TOO_ALIKE = 0.6


@dataclass(frozen=True)
class Choice:
    """Something that was chosen for the user."""

    what: str  # such as "3 groups of rows and 2 of columns"
    why: str  # a clause without a full stop
    options: dict[str, Any]  # the settings chosen
    n_items: int = 0  # what fractions among them are fractions of
    unclear: tuple[str, ...] = ()  # sides for which other numbers are as plausible


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
    if not {"rows", "columns"}.isdisjoint(settings.left_open):
        suggested = _suggest(X, settings, callback)
        choices.append(_numbers_chosen(suggested, settings))
        notes += suggested.notes
        settings = replace(settings, **choices[0].options)
    estimates: dict[Side, Choice] = {}
    why = _not_estimated(settings)
    for side, n_items in zip(SIDES, sizes, strict=True):
        asked = [name for name in settings.left_open if name.startswith(side[:-1])]
        if asked and why:
            estimates[side] = _none_of_it(settings, side, asked, n_items, why)
        elif asked:
            k = int(getattr(settings, side))
            if k > n_items:
                too_many = f"n_{side[:-1]}_clusters={k} is more than the {n_items} {side}."
                raise ValueError(f"{too_many} Ask for at most {n_items}.")
            other = int(settings.columns if side == "rows" else settings.rows)
            estimate = _estimate(X, k, settings, side, other)
            estimates[side] = _fractions_chosen(estimate, settings, asked, n_items)
    for choice in estimates.values():
        settings = replace(settings, **choice.options)
    for side in _twins(X, settings, estimates) if trial else ():
        estimates[side] = _overlap_refused(estimates[side], settings, side)
        settings = replace(settings, **estimates[side].options)
    choices += estimates.values()
    if sample is not None and not sample.is_whole:
        where = f"in {sample.in_words('rows')}"
        choices = [replace(choice, why=f"{choice.why}; {where}") for choice in choices]
    return settings, choices, notes


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
    return Choice(_in_words(options, side, n_items), why, options, n_items)


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
    if not found.complete:
        k, l = found.best  # noqa: E741
        said = "Interrupted while looking for the numbers of groups; nothing was written. Best of"
        raise KeyboardInterrupt(f"{said} those tried: --rows {k} --columns {l}.")
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


# ------------------------------------------------------------------------------- reasons in words


def _numbers_chosen(found: PredictedClusters, settings: FitSettings) -> Choice:
    """Say which numbers of groups were chosen, and why."""
    asked = [name for name in SIDES if name in settings.left_open]
    best = dict(zip(SIDES, found.best, strict=True))
    options: dict[str, Any] = {name: best[name] for name in asked}
    first, *second = (f"{number} of {name}" for name, number in options.items())
    groups = "group of" if options[asked[0]] == 1 else "groups of"
    what = " and ".join([first.replace("of", groups, 1), *second])
    sides = [getattr(found, name) for name in asked]
    why = ". ".join(f"{each.side}: {each.reason}" for each in sides).replace("cluster", "group")
    unclear = tuple(each.side for each in sides if not each.is_clear and each.number > 1)
    return Choice(what, why, options, unclear=unclear)


def _fractions_chosen(
    found: OverlapEstimate, settings: FitSettings, asked: list[str], n_items: int
) -> Choice:
    """Say what was estimated for a side of `n_items`, of which the estimate may have seen some."""
    word = found.side[:-1]
    options = {name: float(getattr(found, name.removeprefix(f"{word}_"))) for name in asked}
    overlap, outliers, bounded = f"{word}_overlap", f"{word}_outliers", ""
    if overlap in options:
        # The estimate knows nothing of outliers that were given beside it.
        given = options.get(outliers, getattr(settings, outliers))
        options[overlap] = max(options[overlap], 0.0 - given)
        model = asked_model(settings)
        most = model.most
        if word == "column" and not model.both_sides:
            options[overlap] = 0.0 - given
            bounded = f"one group each (--overlap-model {model.name})"
        if most is not None and options[overlap] > most - 1:
            options[overlap] = most - 1.0
            bounded = f"no more than {most} groups each (--max-memberships)"
    reasons = {overlap: _overlap_reason(found), outliers: _outlier_reason(found)}
    why = "; ".join([reasons[name] for name in asked] + ([bounded] if bounded else []))
    return Choice(_in_words(options, found.side, n_items), why, options, n_items)


def _overlap_refused(estimate: Choice, settings: FitSettings, side: Side) -> Choice:
    """Say why an estimated overlap was not taken."""
    word = side[:-1]
    name = f"{word}_overlap"
    why = (
        f"{estimate.why}; but in a trial that much overlap ({estimate.options[name]:.2g}) made two "
        f"groups of nearly the same {side}: those with few or small values fit everywhere. Scale "
        f"the {side} first, or set --{word}-overlap"
    )
    # Whoever is left out leaves room for another membership; take that away too.
    options = {**estimate.options, name: 0.0 - getattr(settings, f"{word}_outliers")}
    return Choice(_in_words(options, side, estimate.n_items), why, options, estimate.n_items)


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


def _overlap_reason(found: OverlapEstimate) -> str:
    item = found.side[:-1]
    if found.strategy != "mixture":
        return f"{found.n_pairs:,} pairs of {item} and group by the {found.strategy} rule"
    several = int(np.count_nonzero(found.item_pairs > 1))
    if not several:
        return f"no {item} lies between the centres of groups"
    lie = "lies" if several == 1 else "lie"
    return f"{several:,} of {found.n_items:,} {found.side} {lie} between the centres of groups"


def _outlier_reason(found: OverlapEstimate) -> str:
    if not found.n_outliers:
        return f"no {found.side[:-1]} is far from all of them"
    are = "is" if found.n_outliers == 1 else "are"
    return f"{found.n_outliers:,} {are} farther than {found.outlier_threshold:.3g} from the nearest"
