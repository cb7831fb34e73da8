"""The state of a search for the numbers of clusters, which may be stopped early."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from neocc.core.objectives import Objective
from neocc.core.overlap import REPEAT, OverlapModel, check_columns
from neocc.core.problem import Problem
from neocc.core.solve import Solution
from neocc.engines import Matrix
from neocc.selection._criteria import Fit, hull, icl, pseudo_f
from neocc.selection._data import counts_of
from neocc.selection._grid import Effort, solve_grid

logger = logging.getLogger("neocc")

Place: TypeAlias = tuple[int, int]


@dataclass
class Search:
    """A grid of problems over one matrix, and what has been found of it so far."""

    matrix: Matrix
    row_clusters: list[int]
    column_clusters: list[int]
    objective: Objective
    fractions: tuple[float, float, float, float]
    effort: Effort
    rng: np.random.Generator
    n_jobs: int | None
    overlap_model: OverlapModel = REPEAT
    fits: dict[Place, Fit] = field(default_factory=dict)

    @property
    def n_pairs(self) -> int:
        """Number of cells."""
        return len(self.row_clusters) * len(self.column_clusters)

    def problem(self, n_row_clusters: int, n_column_clusters: int) -> Problem:
        """Return the problem of one pair."""
        n, m = self.matrix.shape
        alpha_r, beta_r, alpha_c, beta_c = self.fractions
        rows = counts_of("rows", n, n_row_clusters, alpha_r, beta_r)
        columns = counts_of("columns", m, n_column_clusters, alpha_c, beta_c)
        check_columns(self.overlap_model, columns.n_extra > 0)
        return Problem(self.objective, rows, columns, overlap_model=self.overlap_model)

    def problems(self) -> list[list[Problem]]:
        """Return the grid, or say which of its cells is impossible."""
        return [
            [self.problem(k, other) for other in self.column_clusters] for k in self.row_clusters
        ]

    def one_block(self) -> Solution:
        """Return the solution with all items in one block, nobody left out."""
        n, m = self.matrix.shape
        problem = Problem(
            self.objective, counts_of("rows", n, 1, 0, 0), counts_of("columns", m, 1, 0, 0)
        )
        grid = solve_grid(self.matrix, [[problem]], Effort(1, 0), self.rng, self.n_jobs)
        return next(grid)[1]

    def run(self) -> Iterator[int]:
        """Solve the grid; yield the number of pairs done."""
        cells = solve_grid(self.matrix, self.problems(), self.effort, self.rng, self.n_jobs)
        for at, solution in cells:
            self.fits[at] = Fit.of(solution)
            logger.info(
                "pair %d/%d: %d row and %d column clusters, objective %.6g",
                len(self.fits),
                self.n_pairs,
                self.row_clusters[at[0]],
                self.column_clusters[at[1]],
                solution.objective,
            )
            yield len(self.fits)

    def cells(self, whole: Fit, floor: float) -> list[dict[str, float]]:
        """Return the numbers of every pair that has been solved."""
        elbows = hull(list(self.fits.values()), whole, floor)
        return [
            {
                "n_row_clusters": self.row_clusters[at[0]],
                "n_column_clusters": self.column_clusters[at[1]],
                "objective": fit.objective,
                "explained": 1.0 - fit.objective / max(whole.objective, floor),
                "icl": icl(fit, whole, self.objective, floor),
                "hull": float(elbow),
                "pseudo_f": pseudo_f(fit, whole, self.objective, floor),
            }
            for (at, fit), elbow in zip(self.fits.items(), elbows, strict=True)
        ]

    def at_the_edge(self, best: tuple[int, int]) -> list[str]:
        """Say where more clusters than were tried might be better still."""
        sides = zip(
            ("row", "column"),
            best,
            (self.row_clusters, self.column_clusters),
            self.matrix.shape,
            strict=True,
        )
        return [
            f"{number} is the largest number of {word} clusters tried: more may be better."
            for word, number, numbers, n_items in sides
            if len(numbers) > 1 and number == numbers[-1] < n_items
        ]
