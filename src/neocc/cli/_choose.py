"""What is not given is chosen from the data, with reasons.

First the numbers of groups, by `suggest_n_clusters` with outliers set aside; then, for these
numbers, overlap and outliers, by `estimate_overlap_and_outliers`, and a trial of the overlap. Of a
block store all rows are looked at where they are few, else a random sample of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from neocc._typing import BoolArray
from neocc.cli._guard import collected_warnings
from neocc.cli._reasons import (
    SIDES,
    Choice,
    Side,
    fractions_chosen,
    numbers_chosen,
    overlap_refused,
)
from neocc.cli._settings import AUTO, FitSettings
from neocc.cli._stored import Drawn
from neocc.estimators import NEOCC
from neocc.selection import (
    OverlapEstimate,
    SuggestedClusters,
    estimate_overlap_and_outliers,
    suggest_n_clusters,
)

__all__ = ["InterruptedChoice", "choose", "choose_from", "is_complete", "set_aside"]

# Two groups count as one made twice if so many of those in either are in both.
_TOO_ALIKE = 0.6
# Outliers are far from all groups, however many there are; these many are asked first.
_SOME_CLUSTERS = 5


class InterruptedChoice(KeyboardInterrupt):
    """The search for the numbers of groups was interrupted; the best so far is in the message."""


def choose(
    X: Any,
    settings: FitSettings,
    callback: Callable[[int, int], Any] | None = None,
    n_rows: int | None = None,
) -> tuple[FitSettings, list[Choice], list[str]]:
    """Replace every "auto" among the settings by a number.

    Parameters
    ----------
    X : ndarray or sparse matrix
        The data, or a sample of their rows.
    settings : FitSettings
        What is given, and what is not.
    callback : callable, default=None
        Called with the number of pairs of numbers tried and to try.
    n_rows : int, default=None
        Number of rows of the data where X is a sample.

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
        choices.append(numbers_chosen(suggested, settings))
        notes += suggested.notes
        settings = replace(settings, **choices[0].options)
    sizes = (n_rows or X.shape[0], X.shape[1])
    found = [_fractions(X, settings, side, n) for side, n in zip(SIDES, sizes, strict=True)]
    estimates = {side: one for side, one in zip(SIDES, found, strict=True) if one is not None}
    for estimate in estimates.values():
        settings = replace(settings, **estimate.options)
    for side in _twins(X, settings, estimates):
        estimates[side] = overlap_refused(estimates[side], settings, side)
        settings = replace(settings, **estimates[side].options)
    return settings, [*choices, *estimates.values()], notes


def choose_from(
    drawn: Drawn, settings: FitSettings, callback: Callable[[int, int], Any] | None = None
) -> tuple[FitSettings, list[Choice], list[str]]:
    """Replace every "auto" by what rows drawn from a block store say; see `choose`."""
    settings, choices, notes = choose(drawn.data, settings, callback, drawn.n_rows)
    if not drawn.is_whole:
        where = f"in {drawn.in_words('rows')}"
        choices = [replace(choice, why=f"{choice.why}; {where}") for choice in choices]
    return settings, choices, notes


def is_complete(settings: FitSettings) -> bool:
    """Whether nothing is left to choose."""
    return AUTO not in settings.as_json().values()


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


def _fractions(X: Any, settings: FitSettings, side: Side, n_items: int) -> Choice | None:
    word = side[:-1]
    names = [f"{word}_{kind}" for kind in ("overlap", "outliers")]
    asked = [name for name in names if getattr(settings, name) == AUTO]
    if not asked:
        return None
    k = int(getattr(settings, side))
    if k > n_items:
        raise ValueError(
            f"n_{word}_clusters={k} is more than the {n_items} {side}. Ask for at most {n_items}."
        )
    return fractions_chosen(_estimate(X, k, settings, side), settings, asked, n_items)


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
