"""Values of cells that a file names, by a model that was fitted to observed ones."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import RenderableType
from rich.text import Text

from neocc._typing import IntArray
from neocc.cli._command import Answer
from neocc.cli._guard import Mistake, blaming_the_user, printable
from neocc.cli._saved import MOST_ROWS, model_path, write_table
from neocc.cli._settings import Reading
from neocc.cli._terminal import table
from neocc.io import SavedModel, UnreadableFileError, read_model

__all__ = ["cells_answer"]


def cells_answer(
    model: Path, path: Path, reading: Reading, output: Path | None, *, force: bool
) -> Answer:
    """Read a model and a list of cells; predict a value for each of them.

    Names that the model does not know are predicted without them, and counted in a note.
    """
    saved = read_model(model_path(model))
    if getattr(saved.estimator, "missing", "zero") != "ignore":
        raise Mistake(f"{model}: The model is not one of neocc fit --missing ignore.")
    pairs = _read(path, reading, saved)
    rows, columns = (
        _places(names, known, size)
        for names, known, size in zip(
            zip(*pairs, strict=True),
            (saved.row_names, saved.column_names),
            (len(saved.estimator.row_effects_), len(saved.estimator.column_effects_)),
            strict=True,
        )
    )
    with blaming_the_user():
        values = saved.estimator._values(rows, columns)  # noqa: SLF001
    notes = [
        f"{n_unknown:,} of the {len(pairs):,} cells are of {side} that the model does not know."
        for side, places in (("rows", rows), ("columns", columns))
        if (n_unknown := int(np.count_nonzero(places < 0)))
    ]
    told = [
        {"row": row, "column": column, "value": float(value)}
        for (row, column), value in zip(pairs, values, strict=True)
    ]
    if output is not None:
        by_name = {name: [line[name] for line in told] for name in ("row", "column", "value")}
        write_table(by_name, output, force=force)
    return Answer(lambda: _page(told, output), lambda: {"cells": told, "notes": notes}, notes)


def _read(path: Path, reading: Reading, saved: SavedModel) -> list[tuple[str, str]]:
    """Read the first two columns of a file; a first line that names nothing known is a heading."""
    try:
        with path.open(newline="", encoding=reading.encoding) as file:
            sample = file.readline()
            file.seek(0)
            sign = reading.delimiter or max(",\t;|", key=sample.count)
            lines = [line for line in csv.reader(file, delimiter=sign) if line]
    except OSError as error:
        raise UnreadableFileError(path, f"It cannot be read ({error.strerror}).", "") from error
    except (UnicodeError, csv.Error) as error:
        raise Mistake(f"{path}: It is no list of cells ({error}).") from error
    for number, line in enumerate(lines, start=1):
        if len(line) < 2:
            raise Mistake(f"{path}, line {number}: A row and a column are wanted; got {line}.")
    pairs = [(line[0].strip(), line[1].strip()) for line in lines]
    sizes = (len(saved.estimator.row_effects_), len(saved.estimator.column_effects_))
    known = (saved.row_names, saved.column_names)
    is_heading = bool(pairs) and all(
        _places([name], names, size)[0] < 0
        for name, names, size in zip(pairs[0], known, sizes, strict=True)
    )
    pairs = pairs[1:] if reading.header or (reading.header is None and is_heading) else pairs
    if not pairs:
        raise Mistake(f"{path}: It lists no cells. Give a row and a column in each line.")
    return pairs


def _places(names: Any, known: tuple[str, ...] | None, size: int) -> IntArray:
    """Return the number of each name, -1 for one that is not known.

    Rows and columns without names are numbered from 1.
    """
    words = known or tuple(str(number) for number in range(1, size + 1))
    numbers = {word: i for i, word in enumerate(words)}
    return np.array([numbers.get(name, -1) for name in names], dtype=np.intp)


def _page(lines: list[dict[str, Any]], output: Path | None) -> Iterator[RenderableType]:
    made = table("row", "column", "value", right=[2])
    for line in islice(lines, MOST_ROWS):
        names = (Text(printable(line[name])) for name in ("row", "column"))
        made.add_row(*names, f"{line['value']:.4g}")
    yield made
    if len(lines) > MOST_ROWS:
        rest = "" if output else "; --output FILE writes all"
        yield Text(f"... and {len(lines) - MOST_ROWS:,} more{rest}", "dim")
    if output is not None:
        yield Text(f"Written to {printable(str(output))}")
