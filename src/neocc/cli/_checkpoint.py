"""Memory, card and checkpoint of a fit: options of one run, which change nothing in its result."""

# Unlike those of Path, `isfile` and `isdir` say no where no one may look.
# ruff: noqa: PTH112, PTH113

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import is_zipfile

from neocc._sizes import as_bytes
from neocc.cli._guard import Mistake, blaming_the_user
from neocc.cli._kinds import AUTO
from neocc.cli._settings import FitSettings
from neocc.core.objectives import OBJECTIVES
from neocc.core.problem import Counts, Problem
from neocc.engines import GpuError, GpuMemoryError
from neocc.engines.space import plan_space
from neocc.engines.workers import effective_n_jobs
from neocc.io import Checkpoint

__all__ = ["FitCheckpoint", "Resources", "blaming_the_card", "interrupts_wait_for"]

_WAIT = b"\nneocc: Interrupted; writing the checkpoint. Ctrl-C again stops at once.\n"


class FitCheckpoint(Checkpoint):
    """A checkpoint that outlives the fit until its result is written, and tells what it did."""

    resumed = False  # whether the fit has gone on from an earlier attempt
    stopping = False  # whether to write the next state at once, and to interrupt the fit then

    def load(self, fingerprint: dict[str, Any]) -> dict[str, Any] | None:
        """Return the state that was written for a fit."""
        state = super().load(fingerprint)
        self.resumed = state is not None
        return state

    def is_due(self) -> bool:
        """Whether it is time to write."""
        return self.stopping or super().is_due()

    def save(self, fingerprint: dict[str, Any], state: dict[str, Any]) -> None:
        """Write a state; end the fit there if someone waits for that."""
        super().save(fingerprint, state)
        if self.stopping:
            self.stopping = False
            raise KeyboardInterrupt

    def remove(self) -> None:
        """Keep the file: the fit has ended, but its result is not written yet."""

    def discard(self) -> None:
        """Remove the file."""
        super().remove()

    @property
    def exists(self) -> bool:
        """Whether there is a state to go on from."""
        return os.path.isfile(self.path)


@dataclass(frozen=True)
class Resources:
    """What a fit may take, where it runs and keeps its state: arguments of `NEOCC`."""

    memory_limit: str | None = None
    checkpoint: FitCheckpoint | None = None
    engine: str = "auto"

    @classmethod
    def of(
        cls,
        memory_limit: str | None,
        checkpoint: Path | None,
        every: float | None,
        output: Path,
        *,
        gpu: bool = False,
    ) -> Resources:
        """Check a limit, a file for the state and the seconds between two writings of it.

        This is before anything is read; `output` is the folder of the result.
        """
        if checkpoint is None and every is not None:
            raise Mistake("--checkpoint-every is for --checkpoint FILE. Give that too.")
        kept = None
        with blaming_the_user():
            if memory_limit is not None:
                as_bytes(memory_limit, "--memory-limit")
            if checkpoint is not None:
                kept = FitCheckpoint(checkpoint, 120.0 if every is None else every)
                _check_place(checkpoint, output)
        return cls(memory_limit, kept, "gpu" if gpu else "auto")

    def check_input(self, path: Path) -> None:
        """Refuse a name that a record cannot hold, and a limit that a file would not keep."""
        try:
            str(path).encode()
        except UnicodeEncodeError as error:
            raise Mistake(f"{path}: The name of the file is not UTF-8. Rename it.") from error
        if self.memory_limit is not None and os.path.isfile(path):
            raise Mistake(
                f"{path}: A file is read into memory as a whole; --memory-limit is for block "
                f"stores. Leave it out, or make a store: neocc convert {path} STORE."
            )

    def check_card(self) -> None:
        """Say before anything is read that there is no GPU."""
        from neocc.engines.gpu import open_card

        if self.engine == "gpu":
            with blaming_the_card():
                open_card()

    def check_room(self, store: Any, asked: FitSettings) -> None:
        """Refuse before a long choice a limit that would not do for the fewest groups."""
        rows, columns = (
            Counts.from_fractions(size, 2 if n == AUTO else int(n), 0.0, 0.0)
            for size, n in zip(store.shape, (asked.rows, asked.columns), strict=True)
        )
        problem = Problem(OBJECTIVES["mean"], rows, columns)
        plan_space(store, problem, effective_n_jobs(asked.jobs), self.memory_limit)

    @property
    def how_to_go_on(self) -> str:
        """What to say after Ctrl-C where nothing was found; nothing if there is no checkpoint."""
        kept = self.checkpoint
        if kept is None or not kept.exists:
            return ""
        return (
            "Interrupted before anything was found. The same command goes on from the checkpoint "
            f"{kept.path}."
        )


@contextmanager
def blaming_the_card() -> Iterator[None]:
    """Say what a GPU lacks as the command says it."""
    try:
        yield
    except (GpuError, GpuMemoryError) as error:
        said = str(error).replace('engine="gpu"', "--gpu")
        raise Mistake(said.replace('engine="auto"', "neocc fit --no-gpu")) from error


def _check_place(path: Path, output: Path) -> None:
    """Say now, and not when a state is due, that a checkpoint cannot be written there."""
    folder = os.path.realpath(path.parent)
    inside = Path(os.path.realpath(path)).is_relative_to(os.path.realpath(output))
    is_closed = not os.access(folder, os.W_OK)
    whole = f"The checkpoint would lie in {output}, which is written as a whole."
    problems = {
        "This is a folder. Name a file for the checkpoint.": os.path.isdir(path),
        # Never advise to remove it: it may be anything.
        "This is no checkpoint. Name another file.": os.path.isfile(path) and not is_zipfile(path),
        "There is no such folder for the checkpoint. Make it first.": not os.path.isdir(folder),
        "No checkpoint can be written there. Name a file elsewhere.": is_closed,
        f"{whole} Name a file elsewhere.": inside,
    }
    for problem, is_there in problems.items():
        if is_there:
            raise Mistake(f"{path}: {problem}")


@contextmanager
def interrupts_wait_for(checkpoint: FitCheckpoint | None) -> Iterator[None]:
    """Let Ctrl-C wait for the next state that a fit can go on from; a second one does not wait."""
    if checkpoint is None or threading.current_thread() is not threading.main_thread():
        yield
        return
    usual = signal.getsignal(signal.SIGINT)

    def stop(number: int, frame: Any) -> None:  # noqa: ARG001
        checkpoint.stopping = True
        signal.signal(signal.SIGINT, usual)
        # Not through the progress bar, which may be in the middle of drawing itself.
        with suppress(OSError, ValueError):
            os.write(sys.stderr.fileno(), _WAIT)

    signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)
        checkpoint.stopping = False
