"""A fit from a file to a folder: read, choose, fit, write."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

from neocc.cli._choose import choose, choose_from, is_complete
from neocc.cli._guard import Mistake, blaming_the_user, message_of
from neocc.cli._keeping import Means, interrupts_wait_for
from neocc.cli._load import Loaded, load
from neocc.cli._reasons import Choice
from neocc.cli._settings import AUTO, FitSettings
from neocc.cli._settings_files import Recorded, changed_versions
from neocc.cli._steps import attach
from neocc.cli._stored import draw_to_choose, page_view
from neocc.cli._terminal import FitProgress, Tick
from neocc.io import Matrix, RunRecord, UnreadableFileError, make_record

__all__ = ["FitOutcome", "Progress", "fit_file", "repeat_fit"]

Progress: TypeAlias = Callable[[str], AbstractContextManager[Tick]]


@dataclass(frozen=True)
class FitOutcome:
    """What a fit did.

    Attributes
    ----------
    loaded : Loaded
        The file and the matrix.
    settings : FitSettings
        With every "auto" replaced.
    choices : list of Choice
        What replaced them, and why.
    model : NEOCC
        The fitted model.
    record : RunRecord
        What repeats the run.
    folder : Path
        Where everything was written.
    interrupted : bool
        Whether the fit ended before its time.
    notes : list of str
        What else is worth knowing.
    checkpoint : Path or None
        What an interrupted fit goes on from.
    page_is_sample : bool
        Whether the report is about some of the rows only.
    """

    loaded: Loaded
    settings: FitSettings
    choices: list[Choice]
    model: Any
    record: RunRecord
    folder: Path
    interrupted: bool
    notes: list[str]
    checkpoint: Path | None = None
    page_is_sample: bool = False


def fit_file(
    path: Path,
    settings: FitSettings,
    output: Path,
    means: Means,
    *,
    force: bool,
    progress: Progress,
) -> FitOutcome:
    """Co-cluster the matrix in a file and write a folder of results.

    Parameters
    ----------
    path : Path
        The file.
    settings : FitSettings
        What to do.
    output : Path
        The folder, which appears whole or not at all.
    means : Means
        What the fit may take, and where it keeps its state.
    force : bool
        Whether to replace the folder of an earlier result.
    progress : callable
        Called with what is being done; a context manager that yields a function to be called with
        the number of steps done and to do.

    Returns
    -------
    outcome : FitOutcome
        What was done. If the fit was interrupted, the best result so far.
    """
    _check_output(output, force=force)
    _check_name(path)
    means.check_input(path)
    with progress("Reading the file"):
        loaded = load(path, settings)
    return _fit(loaded, settings, output, means, force, progress, [])


def repeat_fit(
    recorded: Recorded,
    moved_to: Path | None,
    output: Path,
    means: Means,
    *,
    force: bool,
    progress: Progress,
) -> FitOutcome:
    """Repeat a run from its record, with the file where it was or where it is now."""
    _check_output(output, force=force)
    path = Path(recorded.input.path) if moved_to is None else moved_to
    means.check_input(path)
    try:
        with progress("Reading the file"):
            loaded = load(path, recorded.settings)
    except UnreadableFileError as error:
        if moved_to is not None:
            raise
        raise Mistake(
            f"{message_of(error)} If the file has moved, name it: neocc fit FILE --from "
            "record.json."
        ) from error
    recorded.input.check(loaded.file)
    changed = changed_versions(recorded.versions, make_record({}))
    notes = []
    if changed:
        notes.append(f"other versions may change the last digits: {'; '.join(changed)}.")
    if recorded.interrupted:
        notes.append("the recorded run was interrupted; this one goes on to the end.")
    return _fit(loaded, recorded.settings, output, means, force, progress, notes)


def _check_output(folder: Path, *, force: bool) -> None:
    from neocc.io import check_output

    check_output(folder, force=force)


def _check_name(path: Path) -> None:
    """Refuse a name that a record could not hold."""
    try:
        str(path).encode()
    except UnicodeEncodeError as error:
        raise Mistake(f"{path}: The name of the file is not UTF-8. Rename it.") from error


def _fit(
    loaded: Loaded,
    asked: FitSettings,
    folder: Path,
    means: Means,
    force: bool,
    progress: Progress,
    notes: list[str],
) -> FitOutcome:
    from neocc.io import write_result

    with progress("Choosing settings") as tick, blaming_the_user(loaded.matrix):
        settings, choices, remarks = _chosen(loaded, asked, means, tick)
    notes += remarks
    model, interrupted = _fitted(loaded.matrix, settings, means, progress)
    kept = means.checkpoint
    if kept is not None and kept.resumed:
        notes.append(f"the fit went on from the checkpoint {kept.path}.")
    attach(model, loaded.preprocessor, dense=settings.dense)
    record = _record(loaded, asked, settings, interrupted=interrupted)
    files: dict[str, str] = {}
    page_notes: list[str] = []
    with progress("Writing the results"):
        if settings.report:
            files["report.html"], page_notes = _page(model, loaded, settings, record, means)
        write_result(
            model,
            folder,
            matrix=loaded.matrix,
            record=record,
            extra_files=files,
            parquet=settings.parquet,
            force=force,
        )
    if kept is not None and not interrupted:
        kept.discard()
    return FitOutcome(
        loaded,
        settings,
        choices,
        model,
        record,
        folder,
        interrupted,
        [*notes, *page_notes],
        page_is_sample=bool(page_notes),
        checkpoint=Path(kept.path) if kept is not None and kept.exists else None,
    )


def _chosen(
    loaded: Loaded, asked: FitSettings, means: Means, tick: Tick
) -> tuple[FitSettings, list[Choice], list[str]]:
    """Choose what is not given, from the matrix or from rows of a store."""
    X = loaded.matrix.data
    if not loaded.is_stored:
        return choose(X, asked, tick)
    means.check_room(X, asked)
    if is_complete(asked):
        return asked, [], []
    return choose_from(draw_to_choose(X, asked, means.memory_limit), asked, tick)


def _fitted(
    matrix: Matrix, settings: FitSettings, means: Means, progress: Progress
) -> tuple[Any, bool]:
    """Fit; an interrupted fit counts if it has found anything."""
    from neocc import NEOCC

    model = NEOCC(**settings.estimator_options, **means.estimator_options)
    interrupted = False
    with progress("Fitting") as tick:
        if hasattr(model, "set_callbacks"):  # scikit-learn 1.9
            model.set_callbacks(FitProgress(tick))
        try:
            with blaming_the_user(matrix), interrupts_wait_for(means.checkpoint):
                model.fit(matrix.data)
        except KeyboardInterrupt as interrupt:
            if not hasattr(model, "row_membership_"):
                raise KeyboardInterrupt(means.how_to_go_on) from interrupt
            interrupted = True
    # Names of columns are kept beside the model, as for a file; where and within what a fit ran is
    # no part of its result.
    model.__dict__.pop("feature_names_in_", None)
    return model.set_params(checkpoint=None, memory_limit=None), interrupted


def _record(
    loaded: Loaded, asked: FitSettings, settings: FitSettings, *, interrupted: bool
) -> RunRecord:
    source = loaded.file.source
    assert source is not None
    values = settings.as_json()
    chosen = [name for name, value in asked.as_json().items() if value == AUTO]
    about = {"chosen": chosen, "interrupted": interrupted}
    file = replace(loaded.file, source=source.resolve())
    return make_record({**values, **about}, seed=settings.seed, matrix=file)


def _page(
    model: Any, loaded: Loaded, settings: FitSettings, record: RunRecord, means: Means
) -> tuple[str, list[str]]:
    """Return the report, and what is to be said about it."""
    from neocc.report import render_report

    view = page_view(model, loaded.matrix, settings.seed, means.memory_limit)
    page = render_report(view.model, record=record, **view.options(settings))
    return page, view.notes(settings.row_noun)
