"""Where a fit runs, and how much memory it may take there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from neocc.core.engine import Engine
from neocc.core.objectives import MEAN
from neocc.core.problem import Counts, Problem
from neocc.core.search import Init, may_divide, may_embed
from neocc.engines import Matrix, Workers, on_cluster, on_gpu, open_engine
from neocc.engines.cluster import ClusterLostError
from neocc.engines.gpu import GpuError, GpuMemoryError, clear_errors
from neocc.engines.space import EVERYTHING, TableSpace, plan_space
from neocc.engines.stored import source_of
from neocc.kernels import GPU, get_kernels

__all__ = ["LOST", "check_least_room", "make_engine", "opened_engine", "running", "runs_on_cluster"]

LOST = (ClusterLostError, GpuError, GpuMemoryError)
"""What ends a fit whose data are out of reach."""


def make_engine(
    matrix: Matrix,
    kernel: str,
    workers: Workers,
    space: TableSpace = EVERYTHING,
    where: Any = "auto",
    n_iterations: int = 40,
    problem: Problem | None = None,
) -> Engine:
    """Put a matrix, in memory or on disk, into the engine of one machine, a GPU or a cluster.

    A GPU keeps room for the tables of the `problem`.
    """
    if runs_on_cluster(where):
        return on_cluster(matrix, where, kernel, workers)
    if kernel == GPU:
        raise ValueError(
            'kernel="gpu" is for the workers of a cluster, each with a GPU: engine="dask", or a '
            'client. On this machine use engine="gpu".'
        )
    kernels = get_kernels(kernel, matrix.n_stored, n_iterations)
    if where == "gpu":
        return on_gpu(matrix, kernels, workers, problem=problem)
    return open_engine(matrix, kernels, workers, space)


@contextmanager
def opened_engine(
    estimator: Any, matrix: Matrix, problem: Problem, init: Init, n_iterations: int = 40
) -> Iterator[Engine]:
    """Put the matrix of a fit into the engine that its parameters ask for.

    Data for which the objective makes no sense are refused.
    """
    where, space = estimator.engine, EVERYTHING
    with Workers(estimator.n_jobs) as workers:
        if not runs_on_cluster(where):
            space = planned_space(estimator, matrix, problem, init, workers)
        how = (space, where, n_iterations, problem)
        engine = make_engine(matrix, estimator.kernel, workers, *how)
        weights = problem.row_weights, problem.column_weights
        names = getattr(estimator, "feature_names_in_", None)
        problem.objective.check(engine, weights, names)
        yield engine


def running(where: Any) -> AbstractContextManager[None]:
    """Return what surrounds a fit: errors of a GPU are named as those of this package."""
    return clear_errors() if where == "gpu" else nullcontext()


def runs_on_cluster(engine: Any) -> bool:
    """Whether an `engine` names a cluster: "dask", or a client."""
    return engine == "dask" or hasattr(engine, "nthreads")


def planned_space(
    estimator: Any, matrix: Matrix, problem: Problem, init: Init, workers: Workers
) -> TableSpace:
    """Divide the memory that a fit of a store may take; data in memory have no limit."""
    source = source_of(matrix)
    if source is None:
        return EVERYTHING
    refine = getattr(estimator, "refine", False)
    start = problem.objective.usual_start if init == "neo-kmeans" else init
    given = matrix.n_stored, problem, init, estimator.n_init
    return plan_space(
        source,
        problem,
        workers.n_jobs,
        getattr(estimator, "memory_limit", None),
        n_held=(2 if refine else 1) * estimator.n_init,
        projected=callable(start)
        or start in ("spectral", "sketch", "modularity")
        or may_embed(*given)
        or (bool(refine) and may_divide(*given)),
    )


def check_least_room(estimator: Any, source: Any) -> None:
    """Refuse, before numbers are chosen, a limit that leaves no room for the fewest clusters."""
    given = estimator.n_row_clusters, estimator.n_column_clusters
    rows, columns = (
        Counts.from_fractions(size, 2 if n == "auto" else int(n), 0.0, 0.0)
        for size, n in zip(source.shape, given, strict=True)
    )
    with Workers(estimator.n_jobs) as workers:
        plan_space(source, Problem(MEAN, rows, columns), workers.n_jobs, estimator.memory_limit)
