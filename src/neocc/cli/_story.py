"""The story of a fit: what the data look like, what was chosen and why, how sure, what next.

It is told once: on the terminal, as JSON, and in the record, from which the report takes it.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text
from scipy import sparse

from neocc.cli._choose import Choice
from neocc.cli._given import Plan
from neocc.cli._guard import printable
from neocc.cli._kinds import NONE
from neocc.cli._load import Seen
from neocc.cli._settings import DEFAULTS, SETTINGS, SUGGEST_OPTIONS, FitSettings, option_of
from neocc.cli._terminal import section
from neocc.core.objectives import MEAN, OBJECTIVES
from neocc.io import Matrix
from neocc.io._registry import accepted_options
from neocc.io._tidy import means_over_blocks
from neocc.report._explained import trust
from neocc.report._result import read_result
from neocc.selection._kinds import KINDS

__all__ = ["before_steps", "fit_again", "story_page", "tell_story"]

_FEW_LEVELS = 10  # that ratings may have
_WRITTEN = {"\t": "tab", " ": "space"}


def before_steps(seen: Seen) -> Any | None:
    """Return the data in the units of the file, where they were transformed and have one unit."""
    transformed = seen.preprocessor is not None and not seen.settings.is_observed
    return seen.file.data if transformed and KINDS[seen.description.kind].one_unit else None


def tell_story(plan: Plan, seen: Seen, choices: Sequence[Choice], model: Any) -> dict[str, Any]:
    """Tell what was found and done, as JSON knows it."""
    before, means = before_steps(seen), None
    if before is not None:
        table = means_over_blocks(before, model.row_membership_, model.column_membership_)
        means = [[x if math.isfinite(x) else None for x in line] for line in table.tolist()]
    return {
        "data": str(seen.description),
        "chosen": [{"what": choice.what, "why": choice.why} for choice in choices],
        "held_out": {side: one for each in choices for side, one in each.held_out.items()},
        "sure": list(_sure(seen, model, choices)),
        "next": [{"command": c, "what": w} for c, w in _next(plan, seen)],
        "block_means": means,
    }


def _sure(seen: Seen, model: Any, choices: Sequence[Choice]) -> Iterator[str]:
    """Say what speaks for the result and against it."""
    unclear = [side for choice in choices for side in choice.unclear]
    if unclear:
        yield (
            f"How many groups of {' and of '.join(unclear)} there are is unclear: other numbers "
            "are as plausible. Try two or three of them, and trust what they agree on."
        )
    held_out = [one for choice in choices for one in choice.held_out.items()]
    untried = [side for side, one in held_out if len(one["error"]) == 1]
    if untried:
        yield (
            f"How many groups of {' and of '.join(untried)} there are could not be tried: there "
            "are too few rows or columns to hold out any. If you know, say so "
            f"({' and '.join(f'--{side}' for side in untried)})."
        )
    if model.block_means_.size == 1 and not seen.is_stored:
        told = "" if len(untried) == 2 else ": no groups could be told apart"
        yield f"Everything is in one group{told}."
    elif not seen.is_stored:
        result = read_result(model, seen.matrix.data, None, None, seen.settings.nouns)
        if said := trust(result, binary=seen.description.kind == "binary"):
            yield said
    if seen.choices:
        yield (
            "The steps follow from general rules for each kind of data; the documentation says how "
            "well these do. Only you know what the values mean."
        )


def _next(plan: Plan, seen: Seen) -> Iterator[tuple[str, str]]:
    """Yield commands that are worth a try."""
    asked, facts, folders = plan.settings, seen.description.facts, _free_folders(plan.folder)

    def fit(**changes: Any) -> str:
        return fit_again(plan.path, asked, next(folders), **changes)

    takes = accepted_options(seen.file.format)
    if facts.is_list and "layout" in takes:
        yield fit(layout="triplets"), "read the file as a list of row, column and value"
    for name in facts.id_columns if "drop" in takes else ():
        called = _called(name, seen.file, asked)
        if called is not None:
            yield fit(drop=(*asked.drop, called)), f"leave out {name}, which looks like an id"
    if seen.settings.preprocess and "preprocess" in asked.left_open:
        yield fit(preprocess=()), "the same without any transformation"
    listed = not seen.is_stored and sparse.issparse(seen.matrix.data)
    few = 2 < len(facts.levels) <= _FEW_LEVELS
    if listed and few and "objective" in asked.left_open and seen.description.kind == "counts":
        yield fit(missing="ignore"), "if these are ratings: what is not listed was not rated"
    chosen = OBJECTIVES[seen.settings.objective]
    if "objective" in asked.left_open and (chosen.of_counts or chosen.per_item):
        yield fit(objective=MEAN.name), "blocks of one value instead"
    if not {"rows", "columns"}.isdisjoint(asked.left_open):
        again = ["neocc", "suggest", str(plan.path), *_options(asked, SUGGEST_OPTIONS)]
        yield shlex.join(again), "how other numbers of groups compare"


def _called(name: str, file: Matrix, asked: FitSettings) -> str | None:
    """Return what --drop calls a column; one without a name by its number in the file, if known."""
    if file.column_names is not None:
        return name
    all_of_them = file.row_names is None and not asked.drop
    return name.removeprefix("column ") if all_of_them else None


# ------------------------------------------------------------------------------- command lines


def fit_again(path: Path, asked: FitSettings, output: Path | None = None, **changes: Any) -> str:
    """Return the command that fits a file as it was asked for, but for what is changed."""
    kept = [name for name in SETTINGS if name not in changes]
    options = [*_options(asked, kept), *_options(replace(asked, **changes), changes)]
    if output is not None:
        options += ["-o", str(output)]
    return shlex.join(["neocc", "fit", str(path), *options])


def _free_folders(folder: Path) -> Iterator[Path]:
    """Yield folders that are not there yet, called after one that is."""
    for number in count(2):
        other = folder.with_name(f"{folder.name}-{number}")
        if not other.exists():
            yield other


def _options(settings: FitSettings, names: Iterable[str]) -> Iterator[str]:
    """Yield the options that set what is not as it would be without them."""
    for name in names:
        value, option = getattr(settings, name), option_of(name)
        if value == DEFAULTS[name]:
            continue
        if isinstance(value, bool):
            yield option if value else option_of(f"no_{name}")
        elif SETTINGS[name].column:
            yield from (option_of(f"{name}_in"), value)
        elif name == "triplet_columns":
            yield from (option, ",".join(map(str, value)))
        elif isinstance(value, tuple):
            for one in value or (NONE,):
                yield from (option, one)
        else:
            yield from (option, _WRITTEN.get(value, str(value)))


# ------------------------------------------------------------------------------------- for people


def story_page(story: dict[str, Any]) -> Iterator[RenderableType]:
    """Say how sure the result is, and what to try next."""
    if story["sure"]:
        yield section("How sure", *(Text(printable(line)) for line in story["sure"]))
    if story["next"]:
        yield section("What to try next")
        for one in story["next"]:
            yield Padding.indent(Text(printable(one["what"]), "dim"), 2)
            yield f"    {one['command']}"
