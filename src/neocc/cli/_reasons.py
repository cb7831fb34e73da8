"""What was chosen for the user, in words, with the reasons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from neocc._counts import round_half_away
from neocc.cli._settings import AUTO, FitSettings
from neocc.selection import OverlapEstimate, SuggestedClusters

__all__ = [
    "SIDES",
    "Choice",
    "Side",
    "criterion_in_words",
    "fractions_chosen",
    "numbers_chosen",
    "overlap_refused",
]

Side = Literal["rows", "columns"]
SIDES: tuple[Side, Side] = ("rows", "columns")

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


def criterion_in_words(name: str) -> str:
    """Say what a criterion weighs."""
    return _CRITERIA[name]


def numbers_chosen(found: SuggestedClusters, settings: FitSettings) -> Choice:
    """Say which numbers of groups were chosen, among which."""
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


def fractions_chosen(
    found: OverlapEstimate, settings: FitSettings, asked: list[str], n_items: int
) -> Choice:
    """Say what was estimated for a side of `n_items`, of which the estimate may have seen some."""
    word = found.side[:-1]
    options = {name: float(getattr(found, name.removeprefix(f"{word}_"))) for name in asked}
    overlap, outliers = f"{word}_overlap", f"{word}_outliers"
    if overlap in options:
        # The estimate knows nothing of outliers that were given beside it.
        given = options.get(outliers, getattr(settings, outliers))
        options[overlap] = max(options[overlap], 0.0 - given)
    reasons = {overlap: _overlap_reason(found), outliers: _outlier_reason(found)}
    why = "; ".join(reasons[name] for name in asked)
    return Choice(_in_words(options, found.side, n_items), why, options, n_items)


def overlap_refused(estimate: Choice, settings: FitSettings, side: Side) -> Choice:
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
