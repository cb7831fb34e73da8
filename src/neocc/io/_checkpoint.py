"""The state of a long fit in a file, from which the same fit goes on after a crash."""

# Unlike those of Path, `isfile` and `isdir` say no where no one may look.
# ruff: noqa: PTH112, PTH113

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, is_dataclass
from numbers import Real
from os import PathLike
from pathlib import Path
from typing import Any
from zipfile import is_zipfile

import numpy as np

from neocc import __version__
from neocc._interrupts import first_waits
from neocc.io._archive import open_archive, write_archive
from neocc.io._codec import Decoder, Encoder, Undecodable
from neocc.io._errors import FormatError, ReadError, UnreadableFileError, WriteError
from neocc.io._source import Source
from neocc.kernels import Memberships

__all__ = ["Checkpoint", "CheckpointError"]

_FORMAT = "neocc checkpoint"
_VERSION = 3
_HEADER = "checkpoint.json"
_REMEDY = "Remove the file to start over, or name another one."


class CheckpointError(ReadError):
    """A checkpoint that is damaged, of another fit, or from another version."""


@dataclass
class Checkpoint:
    """A file for the state of a long fit, for the parameter `checkpoint` of an estimator.

    The state is written atomically every few minutes. A process that is killed leaves the last one
    behind; the same call with the same data then resumes from there and gives bitwise the same
    result. The file is removed when the fit ends.

    Parameters
    ----------
    path : path-like
        The file.
    every : float, default=120.0
        Seconds between two saves.
    keep : bool, default=False
        Whether to keep the file after the fit, until `discard` removes it, such as while the result
        is still to be written.

    Attributes
    ----------
    resumed : bool
        Whether the fit resumed from an earlier attempt.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from neocc import NEOCC
    >>> from neocc.io import Checkpoint
    >>> X = np.kron(np.eye(2), np.ones((3, 2)))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     kept = Checkpoint(f"{folder}/fit.checkpoint", every=300)
    ...     model = NEOCC(2, 2, checkpoint=kept, random_state=0).fit(X)
    >>> model.objective_
    0.0
    """

    path: str | PathLike[str]
    every: float = 120.0
    keep: bool = field(default=False, repr=False)
    resumed: bool = field(default=False, init=False, repr=False, compare=False)
    # Whether to write the next state at once, and to interrupt the fit then.
    _stopping: bool = field(default=False, init=False, repr=False, compare=False)
    _written: float = field(default_factory=time.monotonic, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        every: object = self.every
        if not isinstance(every, Real) or not 0.0 <= float(every) < math.inf:
            raise ValueError(
                f"every must be a number of seconds between two saves; got {self.every!r}."
            )

    def is_due(self) -> bool:
        """Whether it is time to write."""
        return self._stopping or time.monotonic() - self._written >= self.every

    def save(self, fingerprint: dict[str, Any], state: dict[str, Any]) -> None:
        """Write a state in place of the one before; see `neocc.core.checkpoints`.

        Parameters
        ----------
        fingerprint : dict
            What the fit is of: data and parameters, by name.
        state : dict
            What it has reached.
        """
        encoder = Encoder(keep_bits=True)
        header = {
            "format": _FORMAT,
            "version": _VERSION,
            "neocc": __version__,
            "fit": fingerprint,
            "state": encoder.encode(state),
        }
        text = json.dumps(header, allow_nan=False)
        write_archive(self.path, _HEADER, text, encoder.arrays, force=True)
        self._written = time.monotonic()
        if self._stopping:
            self._stopping = False
            raise KeyboardInterrupt

    def load(self, fingerprint: dict[str, Any]) -> dict[str, Any] | None:
        """Return the state that was written for a fit, None if there is no file.

        Parameters
        ----------
        fingerprint : dict
            What the fit is of. A state of anything else is refused.

        Returns
        -------
        state : dict or None
            What it had reached.
        """
        path = Path(self.path)
        self._written = time.monotonic()
        if not path.exists():
            return None
        try:
            source = Source.at(path)
            with open_archive(source.path, stored=True) as archive:
                header = json.loads(archive.text(_HEADER))
                _check_header(path, header, fingerprint)
                state = Decoder(archive.array).decode(header["state"])
            _check_members(state)
        except (CheckpointError, UnreadableFileError):
            raise
        except FormatError as error:
            raise CheckpointError(path, error.problem, _REMEDY) from error
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            reason = str(error).splitlines()[0].rstrip(".") if str(error) else "no JSON"
            raise CheckpointError(
                path, f"The checkpoint is damaged ({reason}).", _REMEDY
            ) from error
        if not isinstance(state, dict):
            raise CheckpointError(path, "The checkpoint is damaged.", _REMEDY)
        self.resumed = True
        return state

    def remove(self) -> None:
        """Remove the file, unless it is kept: the fit has ended."""
        if not self.keep:
            self.discard()

    def discard(self) -> None:
        """Remove the file."""
        Path(self.path).unlink(missing_ok=True)

    @property
    def exists(self) -> bool:
        """Whether there is a state to resume from."""
        return os.path.isfile(self.path)

    def check_place(self, output: Path) -> None:
        """Fail now, not when a state is due, if none can be written or it would lie in `output`."""
        path = Path(self.path)
        folder = os.path.realpath(path.parent)
        inside = Path(os.path.realpath(path)).is_relative_to(os.path.realpath(output))
        is_file = self.exists and not is_zipfile(path)
        whole = f"The checkpoint would lie in {output}, which is written as a whole."
        problems = {
            "This is a folder. Name a file for the checkpoint.": os.path.isdir(path),
            # Never advise to remove it: it may be anything.
            "This is no checkpoint. Name another file.": is_file,
            "There is no such folder for the checkpoint. Make it first.": not os.path.isdir(folder),
            "No checkpoint can be written there. Name a file elsewhere.": not os.access(
                folder, os.W_OK
            ),
            f"{whole} Name a file elsewhere.": inside,
        }
        for problem, is_there in problems.items():
            if is_there:
                raise WriteError(f"{path}: {problem}")

    @contextmanager
    def interrupts_wait(self) -> Iterator[None]:
        """Let Ctrl-C wait for the next state from which a fit can resume; a second does not wait.

        Yields
        ------
        None
            Within the block the first Ctrl-C waits.
        """

        def stop() -> None:
            self._stopping = True

        try:
            with first_waits(stop, "writing the checkpoint"):
                yield
        finally:
            self._stopping = False


def _check_header(path: Path, header: Any, fingerprint: dict[str, Any]) -> None:
    if not isinstance(header, dict) or header.get("format") != _FORMAT:
        raise CheckpointError(path, "This is no checkpoint.", "Name another file.")
    if header.get("version") != _VERSION or header.get("neocc") != __version__:
        raise CheckpointError(
            path,
            f"The checkpoint was written by neocc {header.get('neocc')!r}; this is {__version__}, "
            "which may compute something else.",
            f"Go on with that version, or: {_REMEDY[0].lower()}{_REMEDY[1:]}",
        )
    kept = header["fit"]
    for name in {**kept, **fingerprint}:
        if kept.get(name) != fingerprint.get(name):
            raise CheckpointError(
                path,
                f"The checkpoint is of another fit: its {name} is {kept.get(name)!r}, here it is "
                f"{fingerprint.get(name)!r}.",
                _REMEDY,
            )


def _check_members(state: Any) -> None:
    """Kernels trust memberships: an index out of range there would read out of bounds."""
    for members in _memberships(state):
        n, k = members.n_items, members.n_clusters
        for values, low, high in (
            (members.first, -1, k),
            (members.extra_items, 0, n),
            (members.extra_clusters, 0, k),
        ):
            if values.size and not (low <= values.min() and values.max() < high):
                raise Undecodable("it names an item or cluster that is not there")
        for weights in (members.scale, members.item_weights):
            if weights is not None and (weights.shape != (n,) or weights.dtype != np.float64):
                raise Undecodable("it holds weights that do not fit their memberships")
        if (pieces := members.pieces) is not None:
            fits = pieces.ndim == 2 and pieces.dtype.kind == "i" and len(pieces) == n
            if not fits or not pieces.size or pieces.min() < -1 or pieces.max() >= k:
                raise Undecodable("it holds pieces of items that do not fit their memberships")
        virtual = members.virtual
        lengths = (len(members.extra_clusters), n if virtual is None else virtual.n_items)
        if (len(members.extra_items), n) != lengths:
            raise Undecodable("it holds memberships of different lengths")


def _memberships(value: Any) -> Iterator[Memberships]:
    if isinstance(value, Memberships):
        yield value
        yield from _memberships(value.virtual)
    elif isinstance(value, dict):
        for one in value.values():
            yield from _memberships(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _memberships(one)
    elif is_dataclass(value):
        for each in fields(value):
            yield from _memberships(getattr(value, each.name))
