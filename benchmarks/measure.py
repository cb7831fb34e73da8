"""Timing and memory, measured so that a busy machine disturbs both sides alike."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

Run = Callable[[], object]


@dataclass(frozen=True)
class Row:
    """One line of the table: two values in the same unit, their ratio, and the goal for it."""

    name: str
    rival_name: str
    ours: float
    rival: float
    goal: float | None
    unit: str = "ms"
    low: float | None = None
    value: float | None = None

    @property
    def ratio(self) -> float:
        """Ours over theirs, or the value given in its place."""
        return self.ours / self.rival if self.value is None else self.value

    @property
    def met(self) -> bool | None:
        """Whether the goal is met; None where there is none."""
        if self.goal is None:
            return None
        return self.ratio <= self.goal and (self.low is None or self.ratio >= self.low)


def seconds(run: Run) -> float:
    """Time one run."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def side_by_side(ours: Run, rival: Run, repeats: int) -> tuple[float, float]:
    """Run both in turn, several times; return the best time of each, in milliseconds."""
    pairs = [(seconds(ours), seconds(rival)) for _ in range(repeats)]
    return 1e3 * min(a for a, _ in pairs), 1e3 * min(b for _, b in pairs)


def iteration_beside(
    fit: Callable[[int], object], rival: Run, repeats: int, few: int = 2, many: int = 8
) -> tuple[float, float]:
    """Time one iteration of `fit(n_iterations)` and one run of the rival, in milliseconds.

    The difference between a long and a short fit leaves out validation and set-up.
    """
    short, long, other = [], [], []
    for _ in range(repeats):
        short.append(seconds(lambda: fit(few)))
        other.append(seconds(rival))
        long.append(seconds(lambda: fit(many)))
    return 1e3 * (min(long) - min(short)) / (many - few), 1e3 * min(other)


def in_fresh_process(code: str) -> str:
    """Run Python code in a process of its own and return what it prints."""
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    return result.stdout.strip()


def import_seconds(statement: str, repeats: int) -> float:
    """Return the best wall time of a fresh interpreter that runs one import."""
    return min(seconds(lambda: in_fresh_process(statement)) for _ in range(repeats))
