"""Memory, card and checkpoint of a fit: options of one run, which change nothing in its result."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from neocc._sizes import as_bytes
from neocc.cli._given import Plan
from neocc.cli._guard import Mistake, blaming_the_user
from neocc.io import Checkpoint

__all__ = ["Resources"]


@dataclass(frozen=True)
class Resources:
    """What a fit may take, where it runs and keeps its state: arguments of `NEOCC`."""

    memory_limit: str | None = None
    checkpoint: Checkpoint | None = None
    engine: str = "auto"

    @classmethod
    def of(
        cls, plan: Plan, memory_limit: str | None, checkpoint: Path | None, every: float | None
    ) -> Resources:
        """Check, before anything is read, what a run may take and where its files are.

        A name that is not UTF-8 could not be recorded, and a file that is read as a whole would not
        keep a limit. `every` is the seconds between two checkpoints.
        """
        path, gpu = plan.path, plan.settings.gpu
        if checkpoint is None and every is not None:
            raise Mistake("--checkpoint-every needs --checkpoint FILE.")
        if any("\ud800" <= sign <= "\udfff" for sign in str(path)):
            raise Mistake(f"{path}: The name of the file is not UTF-8. Rename it.")
        if memory_limit is not None and os.path.isfile(path):  # noqa: PTH113 - False, too, where no one may look
            raise Mistake(
                f"{path}: A file is read into memory as a whole; --memory-limit is for block "
                f"stores. Leave it out, or make a store: neocc convert {path} STORE."
            )
        kept = None
        with blaming_the_user():
            if memory_limit is not None:
                as_bytes(memory_limit, "--memory-limit")
            if checkpoint is not None:
                kept = Checkpoint(checkpoint, 120.0 if every is None else every, keep=True)
                kept.check_place(plan.folder)
        if gpu:
            from neocc.engines.gpu import open_card

            open_card()
        return cls(memory_limit, kept, "gpu" if gpu else "auto")

    @property
    def kept(self) -> Path | None:
        """The checkpoint, where there is one to go on from."""
        kept = self.checkpoint
        return Path(kept.path) if kept is not None and kept.exists else None

    @property
    def notes(self) -> list[str]:
        """What to say of a fit that an earlier attempt began."""
        if self.checkpoint is None or not self.checkpoint.resumed:
            return []
        return [f"the fit resumed from the checkpoint {self.checkpoint.path}."]

    @property
    def how_to_go_on(self) -> str:
        """What to say after Ctrl-C where nothing was found; nothing if there is no checkpoint."""
        said = "Interrupted before anything was found. The same command resumes from the checkpoint"
        return "" if self.kept is None else f"{said} {self.kept}."
