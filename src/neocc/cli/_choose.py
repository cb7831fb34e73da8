"""What is not given is chosen from the data, with reasons.

First the numbers of groups, by `suggest_n_clusters` with outliers set aside; then, for these
numbers, overlap and outliers, by `estimate_overlap_and_outliers`, and a trial of the overlap.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from neocc._counts import round_half_away
from neocc._typing import BoolArray
from neocc.cli._guard import collected_warnings
from neocc.cli._settings import AUTO, FitSettings
from neocc.estimators import NEOCC
from neocc.selection import (
    OverlapEstimate,
    SuggestedClusters,
    estimate_overlap_and_outliers,
    suggest_n_clusters,
)

__all__ = [
    "Choice",
    "InterruptedChoice",
    "choose",
    "criterion_in_words",
    "set_aside",
    "without_choice",
]

Side = Literal["rows", "columns"]
SIDES: tuple[Side, Side] = ("rows", "columns")

# Two groups count as one made twice if so many of those in either are in both.
_TOO_ALIKE = 0.6
# Outliers are far from all groups, however many there are; these many are asked first.
_SOME_CLUSTERS = 5
_CRITERIA = {
    "icl": "the integrated completed likelihood (icl), which weighs fit against number of groups",
    "hull": "the elbow of the objective (hull), beyond which more groups gain little",
    "pseudo_f": "the two-mode ratio of Calinski and Harabasz (pseudo_f)",
}


@dataclass(frozen=True)
class Choice:
    """Something that was chosen for the user.

    Attributes
    ----------
    what : str
        The choice, such as "3 groups of rows and 2 of columns".
    why : str
        The reason; a clause without a full stop.
    options : dict
        The settings chosen.
    n_items : int
        Rows or columns that fractions among them are fractions of.
    """

    what: str
    why: str
    options: dict[str, Any]
    n_items: int = 0


class InterruptedChoice(KeyboardInterrupt):
    """The search for the numbers of groups was interrupted; the best so far is in the message."""


def choose(
    X: Any, settings: FitSettings, callback: Callable[[int, int], Any] | None = None
) -> tuple[FitSettings, list[Choice], list[str]]:
    """Replace every "auto" among the settings by a number.

    Parameters
    ----------
    X : ndarray or sparse matrix
        The data.
    settings : FitSettings
        What is given, and what is not.
    callback : callable, default=None
        Called with the number of pairs of numbers tried and to try.

    Returns
    -------
    settings : FitSettings
        Without "auto".
    choices : list of Choice
        What was chosen, and why.
    notes : list of str
        What else is worth knowing.

    Examples
    --------
    >>> from neocc.cli._choose import choose
    >>> from neocc.cli._settings import FitSettings
    >>> from neocc.datasets import load_southern_women
    >>> settings, choices, notes = choose(load_southern_women().data, FitSettings(rows=2))
    >>> settings.columns, settings.row_outliers
    (3, 0.0)
    >>> choices[0].what
    '3 groups of columns'
    """
    choices: list[Choice] = []
    notes: list[str] = []
    if AUTO in (settings.rows, settings.columns):
        suggested = _suggest(X, settings, callback)
        choices.append(_numbers(suggested, settings))
        notes += suggested.notes
        settings = replace(settings, **choices[0].options)
    found = [_fractions(X, settings, side) for side in SIDES]
    estimates = {side: one for side, one in zip(SIDES, found, strict=True) if one is not None}
    for estimate in estimates.values():
        settings = replace(settings, **estimate.options)
    for side in _twins(X, settings, estimates):
        estimates[side] = _without_overlap(estimates[side], settings, side)
        settings = replace(settings, **estimates[side].options)
    return settings, [*choices, *estimates.values()], notes


def without_choice(settings: FitSettings) -> tuple[FitSettings, list[Choice], list[str]]:
    """Replace what is not given for a block store, which is too large to try things on.

    Numbers of groups are asked for; overlap and outliers are none.
    """
    for name in SIDES:
        if getattr(settings, name) == AUTO:
            raise ValueError(
                f"The numbers of groups are not looked for in a block store. Give --{name}."
            )
    names = [f"{side[:-1]}_{kind}" for side in SIDES for kind in ("overlap", "outliers")]
    absent = [name for name in names if getattr(settings, name) == AUTO]
    none: dict[str, Any] = dict.fromkeys(absent, 0.0)
    settings = replace(settings, **none, report=False)
    notes = ["no report.html is made of a block store."]
    if absent:
        notes.append("overlap and outliers that are not given are 0 for a block store.")
    return settings, [], notes


def criterion_in_words(name: str) -> str:
    """Say what a criterion weighs."""
    return _CRITERIA[name]


def _suggest(
    X: Any, settings: FitSettings, callback: Callable[[int, int], Any] | None
) -> SuggestedClusters:
    numbers = [None if n == AUTO else [int(n)] for n in (settings.rows, settings.columns)]
    found = suggest_n_clusters(
        X,
        *numbers,
        objective=settings.objective,  # type: ignore[arg-type]
        random_state=settings.seed,
        n_jobs=settings.jobs,
        callback=callback,
        **set_aside(X, settings),
    )
    if not found.complete:
        rows, columns = found.best
        raise InterruptedChoice(
            f"Interrupted while looking for the numbers of groups; nothing was written. Best of "
            f"the {len(found.table)} pairs tried: --rows {rows} --columns {columns}."
        )
    return found


def set_aside(X: Any, settings: FitSettings) -> dict[str, Any]:
    """Return the fractions with which to compare numbers of groups: outliers out, no overlap.

    A few outliers that had to be in a group would ask for many groups of their own.
    """
    fractions: dict[str, Any] = {}
    for side, n_items in zip(SIDES, X.shape, strict=True):
        word = side[:-1]
        outliers = getattr(settings, f"{word}_outliers")
        if outliers == AUTO:
            k = min(_SOME_CLUSTERS, n_items)
            outliers = _estimate(X, k, settings, side).outliers
        fractions |= {f"{word}_outliers": outliers, f"{word}_overlap": 0.0 - outliers}
    return fractions


def _numbers(found: SuggestedClusters, settings: FitSettings) -> Choice:
    asked = [name for name in SIDES if getattr(settings, name) == AUTO]
    best = dict(zip(SIDES, found.best, strict=True))
    options: dict[str, Any] = {name: best[name] for name in asked}
    what = " and ".join(
        f"{number} {'of' if place else 'group' if number == 1 else 'groups'}"
        f"{'' if place else ' of'} {name}"
        for place, (name, number) in enumerate(options.items())
    )
    ranked = found.table
    if len(ranked) == 1:
        return Choice(what, "the data allow no other number", options)
    fields = {name: ranked[f"n_{name[:-1]}_clusters"] for name in asked}
    tried = " and ".join(f"{each.min()} to {each.max()} of {name}" for name, each in fields.items())
    runner_up = " and ".join(f"{each[1]} of {name}" for name, each in fields.items())
    why = f"best of {tried} by {criterion_in_words(found.criteria[0])}; the next best: {runner_up}"
    return Choice(what, why, options)


def _fractions(X: Any, settings: FitSettings, side: Side) -> Choice | None:
    word = side[:-1]
    names = [f"{word}_{kind}" for kind in ("overlap", "outliers")]
    asked = [name for name in names if getattr(settings, name) == AUTO]
    if not asked:
        return None
    k = int(getattr(settings, side))
    n_items = X.shape[0] if side == "rows" else X.shape[1]
    if k > n_items:
        raise ValueError(
            f"n_{word}_clusters={k} is more than the {n_items} {side}. Ask for at most {n_items}."
        )
    return _explain(_estimate(X, k, settings, side), settings, side, asked)


def _estimate(X: Any, k: int, settings: FitSettings, side: Side) -> OverlapEstimate:
    return estimate_overlap_and_outliers(
        X,
        k,
        axis=side,
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
    members = {"rows": model.row_membership_, "columns": model.column_membership_}
    return [side for side in sides if _most_alike(members[side]) >= _TOO_ALIKE]


def _most_alike(members: BoolArray) -> float:
    """Return the largest share of common members among pairs of groups, of those in either."""
    sizes = members.sum(axis=0)
    shared = members.astype(np.float64).T @ members
    either = np.maximum(sizes[:, None] + sizes - shared, 1.0)
    np.fill_diagonal(shared, 0.0)
    return float((shared / either).max())


def _without_overlap(estimate: Choice, settings: FitSettings, side: Side) -> Choice:
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


def _explain(found: OverlapEstimate, settings: FitSettings, side: Side, asked: list[str]) -> Choice:
    word = side[:-1]
    options = {name: float(getattr(found, name.removeprefix(f"{word}_"))) for name in asked}
    overlap, outliers = f"{word}_overlap", f"{word}_outliers"
    if overlap in options:
        # The estimate knows nothing of outliers that were given beside it.
        given = options.get(outliers, getattr(settings, outliers))
        options[overlap] = max(options[overlap], 0.0 - given)
    reasons = {overlap: _overlap_reason(found), outliers: _outlier_reason(found)}
    why = "; ".join(reasons[name] for name in asked)
    return Choice(_in_words(options, side, found.n_items), why, options, found.n_items)


def _in_words(options: dict[str, Any], side: Side, n_items: int) -> str:
    parts = []
    for name, value in options.items():
        kind = name.rpartition("_")[2]
        count = round_half_away(value * n_items)
        if count <= 0:
            parts.append(f"no {kind}")
        elif kind == "overlap":
            memberships = "membership" if count == 1 else "memberships"
            parts.append(f"overlap {value:.3g} ({count:,} {memberships} beyond one each)")
        else:
            parts.append(f"outliers {value:.3g} (up to {count:,})")
    return f"{side}: {', '.join(parts)}"


def _overlap_reason(found: OverlapEstimate) -> str:
    item = found.side[:-1]
    if found.strategy != "averages":
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
