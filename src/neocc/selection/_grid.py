"""One good solution for every (k, l) of a grid, from the largest numbers of clusters down.

A cell is solved from a few short runs and from its larger neighbours, whose two most similar
clusters are merged: a solution with more clusters than needed has found all the real ones. Cells
with equal k + l (positions in the grid, not values) do not depend on each other and are solved in
parallel.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from neocc._typing import FloatArray
from neocc.core.engine import Engine
from neocc.core.problem import Problem
from neocc.core.search import rounds, run_starts
from neocc.core.solve import Solution, solve
from neocc.core.steps import Pair, assigned, distances, with_side
from neocc.engines import Matrix, SparseMatrix, Workers, open_engine
from neocc.engines.passes import DEFAULTS
from neocc.kernels import Memberships, get_kernels

# Above this many entries the threads share the rows of one cell; below, each has a cell of its own.
_LARGE = 1 << 21
# Below so many, of dense and of sparse data, they would wait for each other: the interpreter takes
# longer than the sums.
_SMALL, _SMALL_SPARSE = 1 << 18, DEFAULTS.own_runs[0]
_SHORT_TOL = 1e-3
# About how many iterations a grid takes.
_ITERATIONS = 1000


@dataclass(frozen=True)
class Effort:
    """How hard each cell is tried: short runs, and the patience of rounds that refine the best."""

    n_init: int
    patience: int


@dataclass(frozen=True)
class Task:
    """A cell of the grid: its position, its problem, and its larger neighbours' solutions."""

    at: tuple[int, int]
    problem: Problem
    rng: np.random.Generator
    larger: list[Solution]


def solve_grid(
    matrix: Matrix,
    problems: list[list[Problem]],
    effort: Effort,
    rng: np.random.Generator,
    n_jobs: int | None,
    small: int | None = None,
) -> Iterator[tuple[tuple[int, int], Solution]]:
    """Yield the position and the solution of every cell, from the last one down to (0, 0).

    `problems[i][j]` grows in k with i and in l with j. The solutions depend on the generator, not
    on the number of threads. Cells of a matrix with fewer than `small` entries are solved one
    after the other; by default that depends on its kind.
    """
    height, width = len(problems), len(problems[0])
    rngs = rng.spawn(height * width)
    kernels = get_kernels("auto", matrix.n_stored, _ITERATIONS)
    solved: dict[tuple[int, int], Solution] = {}
    with Workers(n_jobs) as workers:
        if small is None:
            small = _SMALL_SPARSE if isinstance(matrix, SparseMatrix) else _SMALL
        share_rows = matrix.n_stored >= _LARGE
        one_by_one = share_rows or matrix.n_stored < small

        def one_cell(task: Task) -> Solution:
            own = workers if share_rows else Workers(1)
            return _solve_cell(open_engine(matrix, kernels, own), task, effort)

        for total in range(height + width - 2, -1, -1):
            wave = [(i, total - i) for i in range(height) if 0 <= total - i < width]
            tasks = [
                Task((i, j), problems[i][j], rngs[i * width + j], _larger(solved, i, j))
                for i, j in wave
            ]
            runs = map(one_cell, tasks) if one_by_one else workers.ordered(one_cell, tasks)
            found: dict[tuple[int, int], Solution] = {}
            for task, solution in zip(tasks, runs, strict=True):
                found[task.at] = solution
                yield task.at, solution
            solved = found


def _larger(solved: dict[tuple[int, int], Solution], i: int, j: int) -> list[Solution]:
    return [solved[at] for at in ((i + 1, j), (i, j + 1)) if at in solved]


def _solve_cell(engine: Engine, task: Task, effort: Effort) -> Solution:
    """Run the starts, keep the best, refine it."""
    problem, rng = task.problem, task.rng
    short = problem.loosened(_SHORT_TOL)
    data = engine.centred(problem.centring)
    found = [solve(data, short, merged(data, problem, each)) for each in task.larger]
    rngs = rng.spawn(effort.n_init)
    half = (effort.n_init + 1) // 2
    for init, some in (("neo-kmeans", rngs[:half]), ("random", rngs[half:])):
        found += run_starts(engine, short, init, some)  # type: ignore[arg-type]
    best = min(found, key=lambda solution: solution.objective)
    best = solve(data, problem, best.pair)
    return rounds(data, problem, best, effort.patience, rng)


def merged(data: Engine, problem: Problem, solution: Solution) -> Pair:
    """Merge similar clusters of a larger solution until their numbers are those of the problem."""
    U, V = solution.pair
    assert U is not None
    # What rows follow in column clusters is not known of merged ones.
    pair: Pair = (problem.overlap_model.weighted(replace(U, virtual=None)), V)
    for side, at in (("rows", 0), ("columns", 1)):
        counts = problem.counts(side)  # type: ignore[arg-type]
        members = pair[at]
        assert members is not None
        while members.n_clusters > counts.n_clusters:
            d = distances(data, problem, side, pair)  # type: ignore[arg-type]
            members = merge(members, members.inverse_sizes[:, None] * (members.indicator.T @ d))
            members = problem.overlap_model.weighted(members)
            pair = with_side(pair, side, members)  # type: ignore[arg-type]
    for side, at in (("rows", 0), ("columns", 1)):
        members = pair[at]
        assert members is not None
        if members.n_total != problem.counts(side).n_memberships:  # type: ignore[arg-type]
            pair = assigned(data, problem, side, pair)  # type: ignore[arg-type]
    return pair


def merge(members: Memberships, between: FloatArray) -> Memberships:
    """Merge the two clusters whose union raises the objective least.

    `between` has the mean distance of the members of each cluster from every cluster. Moving all
    members of a to the mean of b costs n_a delta, with delta the squared distance of the two means;
    sharing a new mean costs n_a n_b / (n_a + n_b) delta (Ward, 1963).
    """
    sizes = members.sizes
    delta = between - np.diagonal(between)[:, None]
    cost = delta * np.outer(sizes, sizes) / np.maximum(np.add.outer(sizes, sizes), 1.0)
    np.fill_diagonal(cost, np.inf)
    kept, gone = sorted(np.unravel_index(int(np.argmin(cost)), cost.shape))
    if not len(members.extra_items):
        # The last of these is for items in no cluster, -1.
        after = np.arange(members.n_clusters + 1, dtype=np.int32)
        after[gone:] -= 1
        after[gone], after[-1] = kept, -1
        return Memberships.from_labels(after[members.first], members.n_clusters - 1)
    matrix = members.dense.copy()
    matrix[:, kept] |= matrix[:, gone]
    return Memberships.from_dense(np.delete(matrix, gone, axis=1))
