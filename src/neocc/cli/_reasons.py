"""What was chosen for the user, and the reasons in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from neocc._counts import round_half_away
from neocc.cli._models import asked_model
from neocc.cli._settings import FitSettings
from neocc.core.objectives import Side
from neocc.plot._words import plural
from neocc.selection import OverlapEstimate, PredictedClusters

__all__ = ["SIDES", "Choice", "fractions_chosen", "in_words", "numbers_chosen", "overlap_refused"]

SIDES: tuple[Side, Side] = ("rows", "columns")


@dataclass(frozen=True)
class Choice:
    """Something that was chosen for the user."""

    what: str  # such as "3 groups of rows and 2 of columns"
    why: str  # a clause without a full stop
    options: dict[str, Any]  # the settings chosen
    n_items: int = 0  # what fractions among them are fractions of
    unclear: tuple[str, ...] = ()  # sides for which other numbers are as plausible
    complete: bool = True  # whether nobody interrupted it


def numbers_chosen(found: PredictedClusters, settings: FitSettings) -> Choice:
    """Say which numbers of groups were chosen, and why."""
    asked = [name for name in SIDES if name in settings.left_open]
    best = dict(zip(SIDES, found.best, strict=True))
    options: dict[str, Any] = {name: best[name] for name in asked}
    first, *second = (f"{number} of {name}" for name, number in options.items())
    groups = "group of" if options[asked[0]] == 1 else "groups of"
    what = " and ".join([first.replace("of", groups, 1), *second])
    sides = [getattr(found, name) for name in asked]
    why = ". ".join(f"{each.side}: {each.reason}" for each in sides).replace("cluster", "group")
    doubtful = (each for each in sides if each.number > 1 or each.other_model)
    unclear = tuple(each.side for each in doubtful if not each.is_clear)
    if not found.complete:
        why = f"interrupted, the best so far, {found.progress}; {why}"
    return Choice(what, why, options, unclear=unclear, complete=found.complete)


def fractions_chosen(
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
    return Choice(in_words(options, found.side, n_items), why, options, n_items)


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
    return Choice(in_words(options, side, estimate.n_items), why, options, estimate.n_items)


def in_words(options: dict[str, Any], side: str, n_items: int) -> str:
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
