"""The commands about results, ``neocc predict``, ``score`` and ``report``; ``paper``, ``bench``."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Literal

import typer

from neocc.cli._command import FORCE, Answer, Run, argument, command, flag, option, output
from neocc.cli._guard import FAULT, Mistake
from neocc.cli._settings import LABELS, READ_OPTIONS

__all__ = ["bench", "paper", "predict", "report", "score"]

_REPOSITORY = "https://github.com/neocc/neocc"
_MODEL = argument("MODEL", "A folder that neocc fit wrote, or its model.neocc.")


@command(
    ("Show where new rows belong", "neocc predict groups new.csv"),
    ("Write it to a file like rows.csv", "neocc predict groups new.csv -o new_rows.csv"),
    ("For a program", "neocc predict groups/model.neocc new.csv --json"),
    (
        "Values of cells, after neocc fit --missing ignore",
        "neocc predict groups pairs.csv --cells -o values.csv",
    ),
    settings=READ_OPTIONS,
)
def predict(
    run: Run,
    model: Path = _MODEL,
    file: Path = argument("FILE", "New rows with the same columns: a file or a block store."),
    cells: bool = flag(
        "--cells",
        "FILE lists cells, a row and a column per line: predict their values, within the range of "
        "those of the fit.",
    ),
    output: Path | None = output("FILE", "File to write: CSV, or Parquet if it ends in .parquet."),
    force: bool = FORCE,
) -> Answer:
    """Find the groups of new rows, or the values of cells.

    Each row is assigned independently, with the groups of the fit: it joins its
    nearest group and others that are near enough, or the groups whose mean or sum
    explains it best, depending on the overlap model. If the fit allowed outliers,
    rows farther away than all that it accepted are outliers; if it did not
    (--row-outliers 0), every new row gets a group, however far it is.
    Columns are matched by name, and the data are preprocessed as for the fit;
    --missing, --layer, --decimal and --thousands of the fit need not be repeated.
    """
    from neocc.cli._saved import cells_answer, predict_answer

    with run.terminal.progress("Predicting"):
        answer = cells_answer if cells else predict_answer
        return answer(model, file, run.given, output, force=force)


@command(
    ("Compare a result with a table with columns name and cluster", "neocc score truth.csv groups"),
    ("Groups of columns", "neocc score truth.csv groups --side columns"),
    ("Two results, rows and columns", "neocc score groups-1 groups-2"),
)
def score(
    run: Run,  # noqa: ARG001
    truth: Path = argument("TRUTH", "Known groups."),
    found: Path = argument("FOUND", "Groups to be scored."),
    side: Literal["rows", "columns"] | None = option(
        "SIDE", "rows or columns; rows if not given, or both sides of two folders."
    ),
) -> Answer:
    """Measure how well FOUND agrees with TRUTH.

    Each is a folder that neocc fit wrote, a model.neocc, a table with a column
    name and a column cluster (one line per membership), or a matrix of 0 and 1
    with a row per item and a column per group. Items are matched by name.
    """
    from neocc.cli._score import score_answer

    return score_answer(truth, found, side)


@command(
    ("Rewrite the report of a result", "neocc report groups"),
    ("With a word for the rows", "neocc report groups --row-noun genes"),
    ("Film titles instead of numbers", "neocc report groups --row-labels films.csv:title"),
    ("What groups have in common", "neocc report groups --labels films.csv:genres"),
    ("The matrix has moved", "neocc report groups --data elsewhere/ratings.csv"),
    ("A model alone", "neocc report model.neocc --data ratings.csv -o page.html"),
    settings=(*READ_OPTIONS, *LABELS, "row_noun", "column_noun"),
)
def report(
    run: Run,
    model: Path = _MODEL,
    data: Path | None = option(
        "FILE", "The matrix of the fit, if it has moved or the model is not in its folder."
    ),
    output: Path | None = output(
        "FILE", "Page to write; the report.html beside the model if not given."
    ),
    force: bool = FORCE,
) -> Answer:
    """Rewrite the report of a saved model.

    The matrix is read from the same place and in the same way as by neocc fit, if
    it has not changed. A model alone needs --data and the options to read it.
    """
    from neocc.cli._saved import report_answer

    with run.terminal.progress("Writing the report"):
        return report_answer(model, data, output, run.given, force=force)


@command(
    ("A quick check that everything works", "neocc paper --quick"),
    ("Everything", "neocc paper --output paper"),
    ("Resume after Ctrl-C", "neocc paper --output paper --resume"),
)
def paper(
    run: Run,
    output: Path = typer.Option(
        Path("neocc-paper"), "--output", "-o", metavar="FOLDER", help="Folder for the results."
    ),
    quick: bool = typer.Option(False, "--quick", help="Two trials with little effort each."),
    resume: bool = typer.Option(False, "--resume", help="Resume a run in FOLDER that was stopped."),
    seed: int = typer.Option(0, "--seed", metavar="N", min=0, help="Random seed of all trials."),
    jobs: int | None = typer.Option(
        None, "--jobs", metavar="N", min=1, help="Number of processes; all cores if not given."
    ),
) -> Answer:
    """Reproduce the tables and figures of the NEO-CC paper.

    Runs the eight systems of the paper and k-means on yeast, on MovieLens and on
    other data, five trials each, and writes a page (index.html) with the printed
    values beside those found. Every trial is saved as soon as it is done. The exit
    code is 1 if a trial failed; the page says which. Runs only from a checkout of
    the repository.
    """
    if find_spec("neocc.paper") is None:
        raise Mistake(
            "neocc paper is not part of the installed package, but runs from a checkout: "
            f"git clone {_REPOSITORY}, and there: make demo, then .venv/bin/neocc paper."
        )
    from neocc.paper import reproduce

    try:
        with run.terminal.progress("Running trials", lines=True) as progress:
            outcome = reproduce(
                output, quick=quick, seed=seed, resume=resume, n_jobs=jobs, progress=progress
            )
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            f"Stopped. Finished trials are kept in {output}; continue with the same command and "
            "--resume."
        ) from None
    complaints = [f"failed: {line}" for line in outcome.failed]
    code = FAULT if complaints else 0
    return Answer(lambda: [str(outcome)], outcome.as_dict, complaints=complaints, code=code)


@command(
    ("How fast and how good fits are here", "neocc bench"), ("For a program", "neocc bench --json")
)
def bench(
    run: Run,
    repeats: int = typer.Option(
        3, "--repeats", metavar="N", min=1, help="How often each fit is timed; the best counts."
    ),
) -> Answer:
    """Compare default fits with those of scikit-learn on this machine.

    On six data sets, the digits of scikit-learn and others that are drawn at
    random, with the numbers of groups given. It takes about half a minute.
    """
    from neocc.cli._bench import bench_answer

    return bench_answer(repeats, run.terminal)
