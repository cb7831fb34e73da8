"""What is asked for: exact counts per side, and the problem that the solver receives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from neocc._counts import Counts, round_half_away

__all__ = ["Counts", "Objective", "Problem", "Side", "round_half_away"]

Objective: TypeAlias = Literal["mean", "residue", "vectors"]
"""NEO-CC-M, NEO-CC-RCM, and the one-way objective of NEO-K-Means."""

Side: TypeAlias = Literal["rows", "columns"]


@dataclass(frozen=True)
class Problem:
    """An objective with the counts of both sides; None for a side that is not clustered."""

    objective: Objective
    rows: Counts | None
    columns: Counts | None
    max_iter: int = 100
    tol: float = 1e-6

    @property
    def sides(self) -> list[Side]:
        """The sides that are clustered."""
        given: tuple[tuple[Side, Counts | None], ...] = (
            ("rows", self.rows),
            ("columns", self.columns),
        )
        return [side for side, counts in given if counts is not None]

    @property
    def allows_outliers(self) -> bool:
        """Whether some items may stay outside."""
        return any(side.max_outliers > 0 for side in (self.rows, self.columns) if side)

    def one_way(self, side: Side, max_iter: int) -> Problem:
        """Return the NEO-K-Means problem of one side."""
        rows = self.rows if side == "rows" else None
        columns = self.columns if side == "columns" else None
        return Problem("vectors", rows, columns, max_iter, self.tol)
