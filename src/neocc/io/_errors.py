"""What can go wrong with files, as one tree of exceptions.

::

    ReadError (ValueError)            a file that cannot be used; names file, place and remedy
      ├─ UnreadableFileError          (also OSError) absent, a folder, no permission
      ├─ FormatError                  not what its name or header says: damaged, cut off, hostile
      ├─ ValueInCellError             text, NaN, infinity or nothing where a number should be
      │   └─ MissingValueError        nothing, NaN, NA
      ├─ DuplicateEntryError          a cell given twice where that was refused
      └─ ModelFileError               a model file that is damaged, hostile or from the future
    WriteError (OSError)              a file or folder that could not be written; nothing is left
      └─ WouldOverwriteError          (also FileExistsError) it exists, and was not to be replaced
"""

from __future__ import annotations

import re
from ast import literal_eval
from os import PathLike
from pathlib import Path
from shlex import quote

__all__ = [
    "DuplicateEntryError",
    "FormatError",
    "MissingValueError",
    "ModelFileError",
    "ReadError",
    "UnreadableFileError",
    "ValueInCellError",
    "WouldOverwriteError",
    "WriteError",
    "as_command_line",
    "like",
]


class ReadError(ValueError):
    """A file that cannot be used.

    The message names the file, the place in it where there is one, what was found there and what
    to do about it.

    Parameters
    ----------
    path : path-like
        The file.
    problem : str
        What was found; a sentence.
    remedy : str
        What to do; a sentence.
    line : int, optional
        Line of a text file, counted from 1.
    column : str, optional
        Name or number of the column, as the message should show it.

    Attributes
    ----------
    path : Path
        The file.
    problem, remedy : str
        What was found, and what to do.
    line : int or None
        The line.
    column : str or None
        The column.
    """

    def __init__(
        self,
        path: str | PathLike[str],
        problem: str,
        remedy: str,
        *,
        line: int | None = None,
        column: str | None = None,
    ) -> None:
        self.path = Path(path)
        self.problem = problem
        self.remedy = remedy
        self.line = line
        self.column = column
        place = str(self.path)
        if line is not None:
            place += f", line {line}"
        if column is not None:
            place += f", column {column}"
        super().__init__(f"{place}: {problem} {remedy}")


class UnreadableFileError(ReadError, OSError):
    """A file that is absent, is not a regular file, or may not be opened."""


class FormatError(ReadError):
    """A file that is not what its name or its header says."""


class ValueInCellError(ReadError):
    """A cell without a finite number in it."""


class MissingValueError(ValueInCellError):
    """A cell without a value: blank, NaN, NA."""


class DuplicateEntryError(ReadError):
    """A cell that the file gives more than once."""


class ModelFileError(ReadError):
    """A model file that is damaged, hostile, or written by a newer version."""


class WriteError(OSError):
    """A file or folder that could not be written. What was there before is still there."""


class WouldOverwriteError(WriteError, FileExistsError):
    """The file or folder exists already."""


_TEXT = r"""(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')"""
_ARGUMENT = re.compile(
    rf"""\b(?P<name>[a-z_]+)=(?P<value>True|False|\.\.\.|\[\.\.\.\]|"""
    rf"""\[(?:(?:{_TEXT}|\d+)(?:,\ )?)*\]|{_TEXT})""",
)
# Options that are given once for each of several values; others take values between commas.
_REPEATED = ("drop",)


def as_command_line(message: str) -> str:
    """Rewrite the arguments that a message names as options of the command line.

    Parameters
    ----------
    message : str
        The text of an error of `neocc.io`.

    Returns
    -------
    message : str
        The same, with `--missing zero` for `missing="zero"`, `--force` for `force=True`,
        `--no-header` for `header=False`, and `--drop a --drop 'b c'` for `drop=['a', 'b c']`.

    Examples
    --------
    >>> from neocc.io import as_command_line
    >>> as_command_line('Fill it in, or pass missing="zero" to read such cells as 0.')
    'Fill it in, or pass --missing zero to read such cells as 0.'
    """

    def option(found: re.Match[str]) -> str:
        name, value = found["name"].replace("_", "-"), found["value"]
        if name == "row-names" and value[0] in "\"'":
            name = "row-names-in"
        if value in ("True", "False"):
            return f"--{name}" if value == "True" else f"--no-{name}"
        if value.startswith("["):
            return _listed(name, value)
        if value[0] in "\"'" and value[1:-1].replace("-", "").isalnum():
            value = value[1:-1]
        return f"--{name} {value}"

    return _ARGUMENT.sub(option, message)


def _listed(name: str, value: str) -> str:
    """Write a list as a shell takes it: an option for each value, or values between commas."""
    if value == "[...]":
        return f"--{name} ..."
    values = [str(one) for one in literal_eval(value)]
    if name in _REPEATED:
        return " ".join(f"--{name} {quote(one)}" for one in values)
    return f"--{name} {quote(','.join(values))}"


def like(fault: ReadError, problem: str, remedy: str) -> ReadError:
    """Return an error in the same place with other words."""
    return type(fault)(fault.path, problem, remedy, line=fault.line, column=fault.column)
