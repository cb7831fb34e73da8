"""A fit from a file to a folder: plan, read, choose, fit, write."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from neocc.cli._advise import Seen, look, look_again
from neocc.cli._checkpoint import Resources, blaming_the_card, interrupts_wait_for
from neocc.cli._choose import Choice, choose
from neocc.cli._guard import Mistake, blaming_the_user, collected_warnings
from neocc.cli._known import Known, KnownFiles
from neocc.cli._load import Loaded, attach, load_again
from neocc.cli._models import asked_model
from neocc.cli._sample import draw_to_choose, page_of
from neocc.cli._settings import FitSettings, option_of
from neocc.cli._settings_files import Recorded, read_recorded, read_settings
from neocc.cli._story import before_steps, tell_story
from neocc.cli._terminal import FitProgress, Tick
from neocc.io import Matrix, make_record
from neocc.selection import DataDescription

__all__ = ["FitOutcome", "Plan", "Progress", "make_plan", "run_plan"]

Progress: TypeAlias = Callable[[str], AbstractContextManager[Tick]]


@dataclass(frozen=True)
class Plan:
    """What a fit shall do."""

    path: Path
    settings: FitSettings
    folder: Path
    recorded: Recorded | None = None  # the run that is repeated
    known: KnownFiles = field(default_factory=KnownFiles)  # what is shown beside


@dataclass(frozen=True)
class FitOutcome:
    """What a fit did."""

    loaded: Loaded
    description: DataDescription
    story: dict[str, Any]  # what it looks like, what was chosen, how sure that is, what next
    settings: FitSettings  # with every "auto" replaced
    choices: list[Choice]  # what replaced them, and why
    model: Any  # of an interrupted fit the best so far
    folder: Path
    interrupted: bool
    cut_short: bool  # whether settings were chosen from less than they might have been
    notes: list[str]
    checkpoint: Path | None  # what an interrupted fit goes on from
    known: Known  # labels, and names to show
    page_is_sample: bool  # whether the report is about some of the rows only


def make_plan(
    given: Mapping[str, Any],
    file: Path | None,
    output: Path | None,
    config: Path | None,
    from_record: Path | None,
    known: KnownFiles | None = None,
) -> Plan:
    """Join what the command line says, which wins, with a settings file; or repeat a record."""
    known = known or KnownFiles()
    if from_record is None:
        values = {} if config is None else read_settings(config)
        values.update(given)
        named, folder = values.pop("file", None), values.pop("output", None)
        path = file or named
        if path is None:
            raise Mistake("No file is named. Try: neocc fit FILE, or neocc fit --help.")
        folder = output or folder or _default_output(path)
        return Plan(path, FitSettings(**values), folder, known=known)
    # Where a fit runs is no part of what it does.
    gpu = {"gpu": given["gpu"]} if "gpu" in given else {}
    changes = [option_of(name) for name in given if name not in gpu]
    changes += ["--config"] if config else []
    if changes:
        raise Mistake(
            f"--from repeats a run as it was; {changes[0]} would change it. Give one of them."
        )
    recorded = read_recorded(from_record)
    path = file or Path(recorded.input.path)
    settings = replace(recorded.settings, **gpu)
    return Plan(path, settings, output or _default_output(path), recorded, known)


def _default_output(path: Path) -> Path:
    """Return where to write if that is not said: ratings-coclusters for data/ratings.csv.gz."""
    name = path.name.removesuffix(".gz")
    return Path(f"{Path(name).stem or 'matrix'}-coclusters")


def run_plan(plan: Plan, resources: Resources, *, force: bool, progress: Progress) -> FitOutcome:
    """Co-cluster the matrix in a file and write a folder of results, whole or not at all.

    `progress` is called with what is being done: a context manager that yields a `Tick`.
    """
    from neocc.io import check_output

    with collected_warnings() as warned:
        check_output(plan.folder, force=force)
        asked_model(plan.settings)
        resources.check_input(plan.path)
        resources.check_card()
        notes = [] if plan.recorded is None else plan.recorded.compare()
        with progress("Reading the file"):
            if plan.recorded is None:
                seen = look(plan.path, plan.settings)
            else:
                how = "name it: neocc fit FILE --from record.json."
                seen = look_again(load_again(plan.path, plan.recorded, how), plan.settings)
        outcome = _fit(seen, plan, resources, force, progress)
    return replace(outcome, notes=[*notes, *outcome.notes, *warned])


def _fit(
    seen: Seen, plan: Plan, resources: Resources, force: bool, progress: Progress
) -> FitOutcome:
    from neocc.io import write_result
    from neocc.report import render_report

    loaded = seen.loaded
    known = plan.known.read(loaded.matrix)
    with progress("Choosing settings") as tick, blaming_the_user(loaded.matrix):
        settings, choices, notes = _chosen(loaded, seen.settings, resources, tick)
    choices = [*seen.choices, *choices]
    cut_short = not all(choice.complete for choice in choices)
    model, interrupted = _fitted(loaded.matrix, settings, resources, progress)
    kept = resources.checkpoint
    if kept is not None and kept.resumed:
        notes.append(f"the fit went on from the checkpoint {kept.path}.")
    notes += _empty(model, settings) + _twins(model, settings)
    used = getattr(model, "overlap_choice_", None)
    sides = (model.row_membership_, model.column_membership_)
    overlaps = any(bool((members.sum(axis=1) > 1).any()) for members in sides)
    if used is not None and used.costs and overlaps:
        what = f"Overlap model {used.model}"
        choices.append(Choice(what, used.why, {"overlap_model": used.model}))
    attach(model, loaded.preprocessor, dense=settings.dense)
    file = replace(loaded.file, source=plan.path.resolve())
    about: dict[str, Any] = {
        "chosen": plan.settings.left_open,
        "interrupted": interrupted or cut_short,
    }
    about["overlap_model_used"] = None if used is None else used.model
    story = tell_story(seen, plan.settings, choices, model, plan.path, plan.folder)
    if plan.recorded is not None:  # what was chosen then
        story = {**story, **plan.recorded.story}
    about["story"] = story
    record = make_record({**settings.as_json(), **about}, seed=settings.seed, matrix=file)
    files: dict[str, str] = {}
    page_notes: list[str] = []
    with progress("Writing the results"):
        if settings.report:
            limit = resources.memory_limit
            page, page_notes = page_of(model, loaded.matrix, settings, limit, known=known)
            files["report.html"] = render_report(record=record, **page)
        write_result(
            model,
            plan.folder,
            matrix=loaded.matrix,
            record=record,
            extra_files=files,
            parquet=settings.parquet,
            before=before_steps(seen),
            force=force,
        )
    if kept is not None and not interrupted:
        kept.discard()
    return FitOutcome(
        loaded,
        seen.description,
        story,
        settings,
        choices,
        model,
        plan.folder,
        interrupted,
        cut_short,
        [*notes, *known.notes, *page_notes],
        checkpoint=Path(kept.path) if kept is not None and kept.exists else None,
        known=known,
        page_is_sample=bool(page_notes),
    )


def _chosen(
    loaded: Loaded, asked: FitSettings, resources: Resources, tick: Tick
) -> tuple[FitSettings, list[Choice], list[str]]:
    """Choose what is not given, from the matrix or from rows of a store."""
    X = loaded.matrix.data
    if not loaded.is_stored:
        return choose(X, asked, tick)
    resources.check_room(X, asked)
    if not asked.left_open:
        return asked, [], []
    sample = draw_to_choose(X, asked, resources.memory_limit)
    return choose(sample.data, asked, tick, sample)


def _empty(model: Any, settings: FitSettings) -> list[str]:
    """Say which groups have no members, and why that can be."""
    notes = []
    for side, noun in (("row", settings.row_noun), ("column", settings.column_noun)):
        members = getattr(model, f"{side}_membership_")
        (empty,) = np.nonzero(~members.any(axis=0))
        if len(empty):
            numbers = ", ".join(str(number + 1) for number in empty)
            notes.append(
                f"{len(empty)} of {members.shape[1]} groups of {noun} stayed empty ({numbers}): "
                f"there are {int(members.sum())} memberships for them. Ask for fewer groups "
                f"(--{side}s), fewer outliers (--{side}-outliers) or more overlap "
                f"(--{side}-overlap)."
            )
    return notes


def _twins(model: Any, settings: FitSettings) -> list[str]:
    """Say which groups have nearly the same members."""
    from neocc.estimators._redundancy import alike_groups
    from neocc.report._words import in_words

    nouns = {"rows": settings.row_noun, "columns": settings.column_noun}
    return [
        f"{in_words(clusters)} of {nouns[side]} have nearly the same members: ask for fewer groups "
        f"(--{side}) or for less overlap (--{side[:-1]}-overlap)."
        for side, table in model.redundancy_.sides.items()
        for clusters in alike_groups(table)
    ]


def _fitted(
    matrix: Matrix, settings: FitSettings, resources: Resources, progress: Progress
) -> tuple[Any, bool]:
    """Fit; an interrupted fit counts if it has found anything."""
    from neocc import NEOCC

    model = NEOCC(**settings.estimator_options, **vars(resources))
    interrupted = False
    with progress("Fitting") as tick:
        if hasattr(model, "set_callbacks"):  # scikit-learn 1.9
            model.set_callbacks(FitProgress(tick))
        try:
            with (
                blaming_the_user(matrix),
                blaming_the_card(),
                interrupts_wait_for(resources.checkpoint),
            ):
                model.fit(matrix.data)
        except KeyboardInterrupt as interrupt:
            if not hasattr(model, "row_membership_"):
                raise KeyboardInterrupt(resources.how_to_go_on) from interrupt
            interrupted = True
    # Names of columns are kept beside the model, as for a file; where and within what a fit ran is
    # no part of its result.
    model.__dict__.pop("feature_names_in_", None)
    return model.set_params(checkpoint=None, memory_limit=None, engine="auto"), interrupted
