"""A fit from a file to a folder: read, choose, fit, write."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from neocc._interrupts import first_waits
from neocc.cli._checkpoint import Resources
from neocc.cli._choose import Choice, asked_model, choose
from neocc.cli._given import Plan
from neocc.cli._guard import blaming_the_user, collected_warnings
from neocc.cli._load import Seen, draw_to_choose, look
from neocc.cli._settings import LABELS, FitSettings
from neocc.cli._story import before_steps, tell_story
from neocc.cli._terminal import FitProgress, Tick
from neocc.estimators import NEOCC
from neocc.estimators._engines import check_least_room
from neocc.estimators._fitted import can_average
from neocc.estimators._redundancy import alike_groups
from neocc.io import Matrix, check_output, make_record, write_result
from neocc.io._saved import keep_steps
from neocc.report import render_report
from neocc.report._shown import Known, page_of
from neocc.report._words import in_words

__all__ = ["FitOutcome", "Progress", "run_plan"]

Progress: TypeAlias = Callable[[str], AbstractContextManager[Tick]]


@dataclass(frozen=True)
class FitOutcome:
    """What a fit did."""

    plan: Plan
    seen: Seen  # what was read, and what it looks like
    settings: FitSettings  # with every "auto" replaced
    choices: list[Choice]  # what replaced them, and why
    model: Any  # of an interrupted fit the best so far
    story: dict[str, Any]  # what it looks like, what was chosen, how sure that is, what next
    known: Known  # labels, and names to show
    interrupted: bool
    late: bool = False  # whether an interrupt had to wait for the results
    notes: list[str] = field(default_factory=list)
    checkpoint: Path | None = None  # what an interrupted fit goes on from
    page_is_sample: bool = False  # whether the report is about some of the rows only

    @property
    def cut_short(self) -> bool:
        """Whether settings were chosen from less than they might have been."""
        return not all(choice.complete for choice in self.choices)


def run_plan(plan: Plan, resources: Resources, *, force: bool, progress: Progress) -> FitOutcome:
    """Co-cluster the matrix in a file and write a folder of results, whole or not at all.

    `progress` is called with what is being done: a context manager that yields a `Tick`.
    """
    with collected_warnings() as warned:
        check_output(plan.folder, force=force)
        asked_model(plan.settings)
        with progress("Reading the file"):
            seen = look(plan.path, plan.settings, plan.recorded)
        known = Known.read(vars(seen.settings), seen.matrix)
        with progress("Choosing settings") as tick, blaming_the_user(seen.matrix):
            if seen.is_stored:
                options = seen.settings.estimator_options
                check_least_room(NEOCC(**options, **vars(resources)), seen.matrix.data)
            rows = draw_to_choose(seen.matrix.data, seen.settings, resources.memory_limit)
            settings, choices, notes = choose(rows, seen.settings, tick)
        model, interrupted = _fitted(seen.matrix, settings, resources, progress)
        late: list[bool] = []
        # What has been found is kept.
        with first_waits(lambda: late.append(True), "writing the results"):
            keep_steps(model, seen.preprocessor, dense=settings.dense)
            choices = [*seen.choices, *choices, *_overlap_model_chosen(model)]
            notes += [*resources.notes, *_remarks(model, settings)]
            story = tell_story(plan, seen, choices, model)
            if plan.recorded is not None:  # what was chosen then
                story = {**story, **plan.recorded.story}
            outcome = FitOutcome(plan, seen, settings, choices, model, story, known, interrupted)
            with progress("Writing the results"):
                page_notes = _write(outcome, resources, force=force)
        if resources.checkpoint is not None and not interrupted:
            resources.checkpoint.discard()
    return replace(
        outcome,
        late=bool(late),
        notes=[*plan.notes, *notes, *known.notes, *page_notes, *warned],
        checkpoint=resources.kept,
        page_is_sample=bool(page_notes),
    )


def _overlap_model_chosen(model: Any) -> Iterator[Choice]:
    """Say which overlap model a fit chose, if it matters."""
    used = model.overlap_choice_
    sides = (model.row_membership_, model.column_membership_)
    overlaps = any((each.sum(axis=1) > 1).any() for each in sides)
    if used is not None and overlaps and (used.costs or not used.is_complete):
        options = {"overlap_model": used.model}
        yield Choice(f"Overlap model {used.model}", used.why, options, complete=used.is_complete)


def _write(outcome: FitOutcome, resources: Resources, *, force: bool) -> list[str]:
    """Write the folder of results; return what to say of the report."""
    settings, model, seen = outcome.settings, outcome.model, outcome.seen
    used = model.overlap_choice_
    about = {
        "chosen": outcome.plan.settings.left_open,
        "interrupted": outcome.interrupted or outcome.cut_short,
        "overlap_model_used": None if used is None else used.model,
        "story": outcome.story,
        **{n: str(Path(file).resolve()) for n in LABELS if (file := getattr(settings, n))},
    }
    file = replace(seen.file, source=outcome.plan.path.resolve())
    record = make_record({**settings.as_json(), **about}, seed=settings.seed, matrix=file)
    files, notes = dict[str, str](), list[str]()
    if settings.report:
        bounds: dict[str, Any] = {"seed": settings.seed, "limit": resources.memory_limit}
        page, notes = page_of(model, seen.matrix, outcome.known, settings.nouns, **bounds)
        files["report.html"] = render_report(record=record, **page)
    write_result(
        model,
        outcome.plan.folder,
        matrix=seen.matrix,
        record=record,
        extra_files=files,
        parquet=settings.parquet,
        before=before_steps(seen),
        force=force,
    )
    return notes


def _remarks(model: Any, settings: FitSettings) -> Iterator[str]:
    """Say which groups have no members, and which nearly the same."""
    alike = model.redundancy_
    for side, noun in zip(("row", "column"), settings.nouns, strict=True):
        members = getattr(model, f"{side}_membership_")
        (empty,) = np.nonzero(~members.any(axis=0))
        if len(empty):
            numbers = ", ".join(str(number + 1) for number in empty)
            yield (
                f"{len(empty)} of {members.shape[1]} groups of {noun} stayed empty ({numbers}): "
                f"there are {int(members.sum())} memberships for them. Ask for fewer groups "
                f"(--{side}s), fewer outliers (--{side}-outliers) or more overlap "
                f"(--{side}-overlap)."
            )
        for clusters in alike_groups(alike.sides[f"{side}s"]):
            yield (
                f"{in_words(clusters)} of {noun} have nearly the same members: ask for fewer "
                f"groups (--{side}s) or for less overlap (--{side}-overlap)"
            ) + (", or for --overlap-model average." if can_average(model) else ".")


def _fitted(
    matrix: Matrix, settings: FitSettings, resources: Resources, progress: Progress
) -> tuple[Any, bool]:
    """Fit; an interrupted fit counts if it has found anything."""
    model = NEOCC(**settings.estimator_options, **vars(resources))
    interrupted = False
    with progress("Fitting") as tick:
        if hasattr(model, "set_callbacks"):  # scikit-learn 1.9
            model.set_callbacks(FitProgress(tick))
        try:
            kept = resources.checkpoint
            waiting = nullcontext() if kept is None else kept.interrupts_wait()
            with blaming_the_user(matrix), waiting:
                model.fit(matrix.data)
        except KeyboardInterrupt as interrupt:
            if not hasattr(model, "row_membership_"):
                raise KeyboardInterrupt(resources.how_to_go_on) from interrupt
            interrupted = True
    # Names of columns are kept beside the model, as for a file; where and within what a fit ran is
    # no part of its result.
    model.__dict__.pop("feature_names_in_", None)
    return model.set_params(checkpoint=None, memory_limit=None, engine="auto"), interrupted
