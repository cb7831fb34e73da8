"""A fit from a file to a folder: read, choose, fit, write."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

from neocc.cli._choose import Choice, choose, without_choice
from neocc.cli._guard import Mistake, blaming_the_user, collected_warnings, message_of
from neocc.cli._load import Loaded, load
from neocc.cli._settings import AUTO, FitSettings, from_options
from neocc.cli._settings_files import Recorded, changed_versions, merged, read_recorded
from neocc.cli._steps import attach
from neocc.cli._terminal import FitProgress, Tick
from neocc.io import Matrix, RunRecord, UnreadableFileError, make_record

__all__ = ["FitOutcome", "default_output", "fit_file", "repeat_fit", "run_fit"]

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
    """

    loaded: Loaded
    settings: FitSettings
    choices: list[Choice]
    model: Any
    record: RunRecord
    folder: Path
    interrupted: bool
    notes: list[str]


def default_output(path: Path) -> Path:
    """Return the folder to write to if none is named: beside no one's files, called like the input.

    Examples
    --------
    >>> from pathlib import Path
    >>> from neocc.cli._fitting import default_output
    >>> default_output(Path("data/ratings.csv.gz")).name
    'ratings-coclusters'
    """
    name = path.name.removesuffix(".gz")
    return Path(f"{Path(name).stem or 'matrix'}-coclusters")


def run_fit(
    options: Mapping[str, Any],
    *,
    file: Path | None,
    output: Path | None,
    config: Path | None,
    from_record: Path | None,
    force: bool,
    progress: Progress,
) -> FitOutcome:
    """Do what the command line asks for: a fit, or an earlier one again."""
    with collected_warnings() as warned:
        outcome = _run(options, file, output, config, from_record, force, progress)
    return replace(outcome, notes=outcome.notes + warned)


def _run(
    options: Mapping[str, Any],
    file: Path | None,
    output: Path | None,
    config: Path | None,
    from_record: Path | None,
    force: bool,
    progress: Progress,
) -> FitOutcome:
    if from_record is not None:
        changes = ["--" + name.replace("_", "-") for name in from_options(options)]
        changes += ["--config"] if config is not None else []
        if changes:
            raise Mistake(
                f"--from repeats a run as it was; {changes[0]} would change it. Give one of them."
            )
        recorded = read_recorded(from_record)
        folder = output or default_output(file or Path(recorded.input.path))
        return repeat_fit(recorded, file, folder, force=force, progress=progress)
    settings, places = merged(options, config)
    path = file or places.get("file")
    if path is None:
        raise Mistake("No file is named. Try: neocc fit FILE, or neocc fit --help.")
    folder = output or places.get("output") or default_output(path)
    return fit_file(path, settings, folder, force=force, progress=progress)


def fit_file(
    path: Path, settings: FitSettings, output: Path, *, force: bool, progress: Progress
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
    with progress("Reading the file"):
        loaded = load(path, settings)
    return _fit(loaded, settings, output, force, progress, [])


def repeat_fit(
    recorded: Recorded, moved_to: Path | None, output: Path, *, force: bool, progress: Progress
) -> FitOutcome:
    """Repeat a run from its record, with the file where it was or where it is now."""
    _check_output(output, force=force)
    path = Path(recorded.input.path) if moved_to is None else moved_to
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
    return _fit(loaded, recorded.settings, output, force, progress, notes)


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
    force: bool,
    progress: Progress,
    notes: list[str],
) -> FitOutcome:
    from neocc.io import write_result

    X = loaded.matrix.data
    with progress("Choosing settings") as tick, blaming_the_user(loaded.matrix):
        settings, choices, remarks = (
            without_choice(asked) if loaded.is_stored else choose(X, asked, tick)
        )
    notes += remarks
    model, interrupted = _fitted(loaded.matrix, settings, progress)
    attach(model, loaded.preprocessor, dense=settings.dense)
    record = _record(loaded, asked, settings, interrupted=interrupted)
    with progress("Writing the results"):
        files = {"report.html": _page(model, loaded, settings, record)} if settings.report else {}
        write_result(
            model,
            folder,
            matrix=loaded.matrix,
            record=record,
            extra_files=files,
            parquet=settings.parquet,
            force=force,
        )
    return FitOutcome(loaded, settings, choices, model, record, folder, interrupted, notes)


def _fitted(matrix: Matrix, settings: FitSettings, progress: Progress) -> tuple[Any, bool]:
    """Fit; an interrupted fit counts if it has found anything."""
    from neocc import NEOCC

    model = NEOCC(**settings.estimator_options)
    with progress("Fitting") as tick:
        if hasattr(model, "set_callbacks"):  # scikit-learn 1.9
            model.set_callbacks(FitProgress(tick))
        try:
            with blaming_the_user(matrix):
                model.fit(matrix.data)
        except KeyboardInterrupt:
            if not hasattr(model, "row_membership_"):
                raise
            return model, True
    return model, False


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


def _page(model: Any, loaded: Loaded, settings: FitSettings, record: RunRecord) -> str:
    from neocc.report import render_report

    assert loaded.file.source is not None
    return render_report(
        model,
        matrix=loaded.matrix,
        row_noun=settings.row_noun,
        column_noun=settings.column_noun,
        title=f"Groups in {loaded.file.source.name}",
        record=record,
    )
