"""The state of a long fit, as a checkpoint stores it, and how the fit resumes from it.

The steps of a fit depend on nothing but the data, the problem and a generator. What it notes after
each step, memberships of running and finished solutions and the state of the generator, is
therefore all that another process needs to end with the same bits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

__all__ = ["NO_JOURNAL", "Journal"]


@dataclass
class Journal:
    """Keeps the state of a fit, at first that of an interrupted attempt.

    `write` is called with the whole state after each note, and decides whether to save it. Without
    it nothing is kept. What `measure` returns, such as the work done so far, goes with each note.
    Every `interval` iterations of a run are a point from which another process can go on.
    """

    write: Callable[[dict[str, Any]], None] | None = None
    state: dict[str, Any] = field(default_factory=dict)
    measure: Callable[[], dict[str, Any]] = dict
    interval: int = 10

    @property
    def is_kept(self) -> bool:
        """Whether anything is noted."""
        return self.write is not None

    def found(self, name: str) -> Any:
        """Return a part of the state, None where there is none."""
        return self.state.get(name)

    def hold(self, **parts: Any) -> None:
        """Change parts of the state, to be written with the next note."""
        if self.is_kept:
            self.state.update(parts)

    def note(self, **parts: Any) -> None:
        """Change parts of the state at a point from which a fit can go on."""
        if self.write is not None:
            self.hold(**self.measure(), **parts)
            self.write(self.state)


NO_JOURNAL = Journal()
"""For fits without a checkpoint."""
