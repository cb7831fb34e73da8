"""What a long fit has reached, for whoever keeps it, and how it goes on from there.

A fit is a chain of steps that depend on nothing but the data, the problem and a generator. What it
notes after each step, memberships and sums of running and finished solutions and the state of the
generator, is therefore all that another process needs to end with the same bits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

__all__ = ["NOT_KEPT", "Checkpoint", "Keeper", "generator_state", "restore_generator"]


class Checkpoint(Protocol):
    """A place for the state of a fit: plain values, arrays, memberships and solutions."""

    def load(self, fingerprint: dict[str, Any]) -> dict[str, Any] | None:
        """Return the state kept for a fit, None if there is none, an error if it is another's."""

    def save(self, fingerprint: dict[str, Any], state: dict[str, Any]) -> None:
        """Keep a state in place of the one before."""

    def is_due(self) -> bool:
        """Whether it is time to save."""

    def remove(self) -> None:
        """Forget the fit: it has ended."""


@dataclass
class Keeper:
    """Notes what a fit has reached, and says what an earlier attempt had reached.

    Attributes
    ----------
    state : dict
        The parts noted last, by name; at first those of the attempt to go on from.
    write : callable or None
        Called with the state after each note; it decides whether to write.
    """

    write: Callable[[dict[str, Any]], None] | None = None
    state: dict[str, Any] = field(default_factory=dict)

    def found(self, name: str) -> Any:
        """Return a part of the state, None where there is none."""
        return self.state.get(name)

    def hold(self, **parts: Any) -> None:
        """Change parts of the state, to be written with the next note."""
        if self.write is not None:
            self.state.update(parts)

    def note(self, **parts: Any) -> None:
        """Change parts of the state at a point from which a fit can go on."""
        if self.write is not None:
            self.state.update(parts)
            self.write(self.state)


NOT_KEPT = Keeper()
"""For fits that no one keeps."""


def generator_state(rng: np.random.Generator) -> dict[str, Any]:
    """Return what `restore_generator` takes."""
    return dict(rng.bit_generator.state)


def restore_generator(rng: np.random.Generator, state: dict[str, Any]) -> None:
    """Put a generator where another was."""
    rng.bit_generator.state = state
