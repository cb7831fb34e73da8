"""What is not given is chosen from the data, with reasons.

The library chooses, as for `NEOCC(n_row_clusters="auto", ...)`; the reasons are told here. Of a
block store all rows are looked at where they are few, else a random sample of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from neocc._counts import round_half_away
from neocc.cli._guard import blaming_the_user
from neocc.cli._kinds import AUTO
from neocc.cli._settings import FitSettings, option_of
from neocc.core.objectives import Side
from neocc.core.overlap import OverlapModel
from neocc.estimators import NEOCC
from neocc.estimators._fitted import asked_objective
from neocc.estimators._fractions import SIDES, Chosen, Sides, choose_sides
from neocc.estimators._published import by_published_rule
from neocc.io.blocks._sample import Sample
from neocc.plot._words import plural

__all__ = ["Choice", "asked_model", "choose"]


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
    rows: Sample, settings: FitSettings, callback: Any = None
) -> tuple[FitSettings, list[Choice], list[str]]:
    """Replace every "auto" among the settings by a number; say why, and what else is worth knowing.

    The callback is called with the number of cuts of the data tried and to be tried.
    """
    if not settings.left_open:
        return settings, [], []
    model, rule = NEOCC(**settings.estimator_options), asked_model(settings)
    matrix, _ = model._read_data(rows.data, None, None, None)  # noqa: SLF001
    strategy = settings.overlap_rule
    published = partial(by_published_rule, model, rows.data, rule, strategy)
    by_rule = None if strategy == "mixture" else published
    found = choose_sides(model, matrix, rule, callback, by_rule)
    sizes: dict[Side, int] = {"rows": rows.n_rows, "columns": matrix.shape[1]}
    choices = list(_choices(found, settings, rule, sizes))
    if not rows.is_whole:
        where = f"in {rows.in_words('rows')}"
        choices = [replace(choice, why=f"{choice.why}; {where}") for choice in choices]
    notes = [] if found.numbers is None else list(found.numbers.notes)
    return replace(settings, **_as_settings(found.sides)), choices, notes


def _as_settings(sides: Sides) -> dict[str, Any]:
    numbers = {side: each.n_clusters for side, each in sides.items()}
    overlap = {f"{side[:-1]}_overlap": each.overlap for side, each in sides.items()}
    return numbers | overlap | {f"{s[:-1]}_outliers": each.outliers for s, each in sides.items()}


def _choices(
    found: Chosen, settings: FitSettings, rule: OverlapModel, sizes: dict[Side, int]
) -> Iterator[Choice]:
    """Say what was chosen: numbers of groups, then overlap and outliers of each side."""
    left_open = settings.left_open
    if found.numbers is not None:
        yield _numbers_chosen(found, [side for side in SIDES if side in left_open])
    for side, n_items in sizes.items():
        names = [f"{side[:-1]}_{one}" for one in ("overlap", "outliers")]
        asked = [name for name in names if name in left_open]
        if asked:
            values = _as_settings(found.sides)
            options = {n: values[n] for n in names if values[n] != getattr(settings, n)}
            what, why = _in_words(options, side, n_items), _why(found, side, rule, asked)
            yield Choice(what, why, options, complete=found.is_complete)


def _numbers_chosen(found: Chosen, asked: list[Side]) -> Choice:
    """Say which numbers of groups were chosen, and why."""
    assert found.numbers is not None
    sides = [getattr(found.numbers, side) for side in asked]
    options: dict[str, int] = {side: found.sides[side].n_clusters for side in asked}
    words = [f"{plural(options[asked[0]], 'group')} of {asked[0]}"]
    what = " and ".join(words + [f"{options[side]} of {side}" for side in asked[1:]])
    reasons = [f"{each.side}: {each.reason}".replace("cluster", "group") for each in sides]
    for at, each in enumerate(sides):
        if options[each.side] > each.taken:
            reasons[at] += f"; {options[each.side]} are taken, to leave room for the overlap given"
    why = ". ".join(reasons)
    if not found.numbers.complete:
        why = f"interrupted, the best so far, {found.numbers.progress}; {why}"
    unclear = tuple(e.side for e in sides if not e.is_clear and (e.number > 1 or e.other_model))
    held_out = {each.side: each.summary for each in sides}
    return Choice(what, why, options, unclear, found.numbers.complete, held_out)


def _why(found: Chosen, side: Side, rule: OverlapModel, asked: list[str]) -> str:
    """Say what speaks for the fractions of a side that were to be estimated."""
    estimate, overlap = found.estimates.get(side), f"{side[:-1]}_overlap"
    if estimate is None:
        return found.why_not
    reasons = [getattr(estimate, f"why_{name.rpartition('_')[2]}") for name in asked]
    left = found.sides[side].overlap
    if overlap in asked and side == "columns" and not rule.both_sides:
        reasons.append(f"one group each (--overlap-model {rule.name})")
    elif overlap in asked and left <= 0 < estimate.overlap:
        reasons.append(
            f"but in a trial that much overlap ({estimate.overlap:.2g}) made two groups of nearly "
            f"the same {side}: those with few or small values fit everywhere. Scale the {side} "
            f"first, or set {option_of(overlap)}"
        )
    elif overlap in asked and left < estimate.overlap:
        reasons.append(f"no more than {rule.most} groups each (--max-memberships)")
    return "; ".join(dict.fromkeys(reasons))


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
