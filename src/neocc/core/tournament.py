"""How far the tournament of a search has come: all that it needs to go on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from neocc.core.disturb import Luck
from neocc.core.keeping import Keeper, generator_state, restore_generator
from neocc.core.solve import Solution

__all__ = ["SHORT_STAGE", "Tournament"]

SHORT_STAGE = -1
"""The stage of short runs, before those of refinement."""


@dataclass
class Tournament:
    """How far a tournament has come.

    Attributes
    ----------
    stage : int
        `SHORT_STAGE`, then stages of refinement from 0.
    index : int
        Number of solutions that the stage is done with.
    pool : list of Solution
        The solutions still in it.
    luck : Luck
        What has worked so far.
    agreed : bool
        Whether enough short runs ended at the lowest value.
    is_led_as_before : bool
        Whether the solution that led when the stage began is still the first in the pool.
    """

    stage: int = SHORT_STAGE
    index: int = 0
    pool: list[Solution] = field(default_factory=list)
    luck: Luck = field(default_factory=Luck)
    agreed: bool = False
    is_led_as_before: bool = True

    def enter(self, stage: int) -> None:
        """Begin a stage."""
        self.stage, self.index = stage, 0

    def noted(self, rng: np.random.Generator) -> dict[str, Any]:
        """Return what `resumed` needs, all of it copies or never changed."""
        return {
            "stage": self.stage,
            "index": self.index,
            "pool": list(self.pool),
            "luck": self.luck.record,
            "agreed": self.agreed,
            "is_led_as_before": self.is_led_as_before,
            "rng": generator_state(rng),
        }

    @classmethod
    def resumed(cls, keeper: Keeper, rng: np.random.Generator) -> Tournament | None:
        """Return what a keeper knows of a tournament, and put the generator where it was."""
        noted = keeper.found("tournament")
        if noted is None:
            return None
        noted = dict(noted)
        restore_generator(rng, noted.pop("rng"))
        luck = Luck.from_record(*noted.pop("luck"))
        return cls(luck=luck, **noted)
