"""From exceptions to exit codes: one readable message, and a traceback only for our own faults."""

from __future__ import annotations

import errno
import json
import re
import traceback
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from neocc.io import Matrix

__all__ = ["FAULT", "INTERRUPTED", "MISTAKE", "Mistake", "as_options", "blaming_the_user"]
__all__ += ["collected_warnings", "complain", "guarded", "message_of", "printable"]

FAULT, MISTAKE, INTERRUPTED = 1, 2, 130
_FULL = (errno.ENOSPC, errno.EDQUOT)

# What the library says about its arguments, and what that is on the command line, in this order.
_REWRITTEN = {
    r"^(format|delimiter|encoding)(?= must be)": r"--\1",
    r"^every(?= must be a number of seconds)": "--checkpoint-every",
    r"The '(\w+)' parameter of \w+ must be": r"\1 must be",
    r"\(n_(?:samples|features)=(\d+)\)": r"(\1)",
    r"X\.toarray\(\)": "--dense",
    r'engine="gpu"': "--gpu",
    r'engine="auto"': "neocc fit --no-gpu",
    r'with NormScaler\(axis="columns"\)': "with --preprocess column-norm",
    r"Pass with_mean=False to scale only\.": "Scale instead, e.g. with --preprocess column-norm.",
    r"(?<!-)-(?=(?:row|column)_(?:overlap|outliers)\b)": "minus ",
    r"\b(row|column)_(overlap|outliers)\b": r"--\1-\2",
    r"\b(n|max|block)_(init|iter|size|memberships)\b": r"--\1-\2",
    r"\b(?:n_)?(row|column)_clusters\b": r"--\1s",
    r"\boverlap_model\b(?!=)": "--overlap-model",
    r"\bmin_cluster_size\b": "--min-cluster-size",
    r"\bn_jobs\b": "--jobs",
    r"\brandom_state\b": "--seed",
}
# Where the library has found something: rows and columns of arrays are counted from 0.
# With the name of the column, where whoever complains knows it.
_PLACE = re.compile(r"""\brow (\d+), column (\d+)(?: \((?:'[^']*'|"[^"]*")\))?""")


class Mistake(Exception):  # noqa: N818
    """What a user can set right; the message says what was found, where, and what to do."""


@contextmanager
def blaming_the_user(
    matrix: Matrix | None = None, columns: Sequence[str] | None = None
) -> Iterator[None]:
    """Take a ValueError from a call for a mistake in what the user asked that call to do.

    Only around calls that check what they are given: elsewhere a ValueError is a fault of ours.
    What is wrong with a cell of the matrix is said of the file that it came from; `columns` are
    those that the call gets, where their order may be another one.
    """
    try:
        yield
    except ValueError as error:
        from neocc.io import ReadError

        if isinstance(error, ReadError):
            raise
        raise Mistake(_in_file(as_options(str(error)), matrix, columns)) from error


def _in_file(message: str, matrix: Matrix | None, columns: Sequence[str] | None) -> str:
    """Name the file, and the row and column as readers count them, from 1."""
    found = _PLACE.search(message)
    if matrix is None or (found is None and not message.startswith("Input X")):
        return message
    if found is not None:
        row, column = map(int, found.groups())
        if columns is not None and matrix.column_names is not None:
            column = matrix.column_names.index(columns[column])
        message = message.replace(found[0], matrix.place(row, column))
    steps = " and ".join(matrix.steps)
    changed = f", after --preprocess {steps} changed its values" if steps else ""
    return f"{matrix.source}{changed}: {message.replace('Input X', 'The matrix')}"


@contextmanager
def collected_warnings() -> Iterator[list[str]]:
    """Collect warnings of the library as notes, each of them once.

    Groups that nearly coincide are told of by those who show groups, and count them from 1.
    """
    from neocc.estimators import RedundancyWarning

    notes: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        try:
            yield notes
        finally:
            told = (one for one in caught if not issubclass(one.category, RedundancyWarning))
            notes.extend(dict.fromkeys(str(one.message) for one in told))


@contextmanager
def guarded(
    *, show_traceback: bool = False, interrupted: str = "Interrupted.", as_json: bool = False
) -> Iterator[None]:
    """Turn exceptions into a message on standard error and an exit code.

    `interrupted` is what to say after Ctrl-C, unless the interrupt says more. With `as_json`, an
    object with the message goes to standard output, too.
    """

    def say(message: str) -> None:
        complain(message)
        if as_json:
            with suppress(OSError):  # it may be standard output that takes no more
                typer.echo(json.dumps({"error": message}))

    try:
        yield
    except KeyboardInterrupt as interrupt:
        say(str(interrupt) or interrupted)
        raise typer.Exit(INTERRUPTED) from None
    except (typer.Exit, BrokenPipeError):
        raise
    except Exception as error:
        if show_traceback:
            complain(traceback.format_exc().rstrip(), mark="")
        if (mistake := message_of(error)) is not None:
            say(mistake)
            raise typer.Exit(MISTAKE) from error
        full = _full(error)
        if full is None and not show_traceback:
            complain(traceback.format_exc().rstrip(), mark="")
        bug = "This is a bug in neocc, not your mistake. Please report it with the lines above."
        say(full or bug)
        raise typer.Exit(FAULT) from error


def _full(error: Exception) -> str | None:
    """Return what to say about a machine that has no room, in memory or on disk."""
    if isinstance(error, MemoryError):
        return "There is not enough memory. Keep fewer rows or columns, or leave them sparse."
    if isinstance(error, OSError) and error.errno in _FULL:
        return f"The output could not be written ({error.strerror}). Make room, and try again."
    return None


def as_options(message: str) -> str:
    """Rewrite what a message of the library says about arguments as options of the commands.

    Examples
    --------
    >>> from neocc.cli._guard import as_options
    >>> as_options("Name three columns with columns=['user', 'film', 'stars'].")
    'Name three columns with --triplet-columns user,film,stars.'
    >>> as_options("n_row_clusters=9 is more than the number of rows (n_samples=4).")
    '--rows=9 is more than the number of rows (4).'
    """
    for said, option in _REWRITTEN.items():
        message = re.sub(said, option, message)
    return _as_reading_options(message)


def message_of(error: Exception) -> str | None:
    """Return what to say about a mistake, names of files as they are; None for a fault of ours."""
    if isinstance(error, Mistake):
        return str(error)
    if isinstance(error, ImportError):  # the extra of the command brings pyarrow, too
        said = re.sub(r'(pyarrow: pip install "neocc)\[io\]', r"\1[cli]", str(error))
        return said if "pip install" in said else None
    from neocc.datasets import DatasetError
    from neocc.engines import GpuError, GpuMemoryError
    from neocc.engines.space import NoRoomError
    from neocc.io import ReadError, WriteError

    if isinstance(error, GpuError | GpuMemoryError):
        return as_options(str(error))
    if isinstance(error, ReadError):
        problem, remedy = _as_reading_options(error.problem), _as_reading_options(error.remedy)
        return str(ReadError(error.path, problem, remedy, line=error.line, column=error.column))
    known = isinstance(error, WriteError | NoRoomError | DatasetError)
    return _as_reading_options(str(error)) if known else None


def _as_reading_options(message: str) -> str:
    from neocc.io import as_command_line

    # --columns is the number of groups of columns.
    return as_command_line(re.sub(r"(?<!-)\bcolumns(?==)", "triplet_columns", message))


def printable(text: str) -> str:
    r"""Escape what would control a terminal, in names of files and in cells.

    Examples
    --------
    >>> from neocc.cli._guard import printable
    >>> printable("a\x1b[2Jb\n")
    'a\\x1b[2Jb\\n'
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def complain(message: str, mark: str = "neocc: ") -> None:
    """Say on standard error what is wrong."""
    lines = (printable(line) for line in message.splitlines())
    typer.echo(mark + "\n".join(lines), err=True)
