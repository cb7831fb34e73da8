"""From the command line to a fit: which file, which settings, which folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from neocc.cli._fitting import FitOutcome, Progress, fit_file, repeat_fit
from neocc.cli._guard import Mistake, collected_warnings
from neocc.cli._keeping import Means
from neocc.cli._settings import from_options
from neocc.cli._settings_files import merged, read_recorded

__all__ = ["default_output", "run_fit"]


def default_output(path: Path) -> Path:
    """Return the folder to write to if none is named: beside no one's files, called like the input.

    Examples
    --------
    >>> from pathlib import Path
    >>> from neocc.cli._running import default_output
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
        means = _means(options, folder)
        return repeat_fit(recorded, file, folder, means, force=force, progress=progress)
    settings, places = merged(options, config)
    path = file or places.get("file")
    if path is None:
        raise Mistake("No file is named. Try: neocc fit FILE, or neocc fit --help.")
    folder = output or places.get("output") or default_output(path)
    return fit_file(path, settings, folder, _means(options, folder), force=force, progress=progress)


def _means(options: Mapping[str, Any], output: Path) -> Means:
    limit, checkpoint, every = (
        options.get(name) for name in ("memory_limit", "checkpoint", "checkpoint_every")
    )
    return Means.of(limit, checkpoint, every, output)
