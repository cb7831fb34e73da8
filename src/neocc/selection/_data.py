"""Input of the public functions: an engine over X, a generator, and options with clear errors."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from sklearn.utils import check_random_state

from neocc._counts import Counts
from neocc._typing import FloatArray
from neocc.core.biases import find_biases
from neocc.core.engine import Engine
from neocc.core.objectives import Side
from neocc.engines import Matrix, Workers, open_engine
from neocc.engines.observed import ObservedMatrix
from neocc.engines.validation import make_counts, read_matrix
from neocc.kernels import get_kernels

Open: TypeAlias = Callable[[Matrix], Engine]
"""What puts a matrix into an engine."""

LARGEST_DEFAULT = 8
"""The largest number of clusters of a grid, if none is given."""

# About how many iterations a selection takes.
_ITERATIONS = 1000


def read(X: Any, *, observed: bool = False) -> Matrix:
    """Check X and wrap it, as the estimators do; a store stays on disk."""
    return read_matrix(None, X, reset=True, observed=observed)


def without_biases(matrix: Matrix, n_jobs: int | None, *, effects: bool) -> Matrix:
    """Subtract from observed cells their mean, and the effects of rows and columns if asked to."""
    assert isinstance(matrix, ObservedMatrix)
    with opened(matrix, n_jobs) as engine:
        mean, rows, columns = find_biases(engine, effects=effects)
    return matrix.without(mean + rows, columns)


@contextmanager
def opener(matrix: Matrix, n_jobs: int | None) -> Iterator[Open]:
    """Yield what puts a matrix, or parts of it, into engines that share their threads."""
    with Workers(n_jobs) as workers:
        yield partial(
            open_engine,
            kernels=get_kernels("auto", matrix.n_stored, _ITERATIONS),
            workers=workers,
        )


@contextmanager
def opened(matrix: Matrix, n_jobs: int | None) -> Iterator[Engine]:
    """Put a matrix into an engine with its own threads."""
    with opener(matrix, n_jobs) as open_:
        yield open_(matrix)


def make_rng(random_state: Any) -> np.random.Generator:
    """Return the generator that a `random_state` of scikit-learn's kind stands for."""
    seed = check_random_state(random_state).randint(np.iinfo(np.int32).max)
    return np.random.default_rng(seed)


def check_choice(name: str, value: Any, choices: Collection[str]) -> None:
    """Refuse a value that is not one of the choices."""
    if value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} must be one of {listed}; got {value!r}.")


def check_positive(name: str, value: Any) -> int:
    """Refuse a number that is not an integer of at least 1."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise ValueError(f"{name} must be an integer of at least 1; got {value!r}.")
    return int(value)


def check_jobs(n_jobs: Any) -> None:
    """Refuse an invalid number of threads."""
    whole = isinstance(n_jobs, int | np.integer) and not isinstance(n_jobs, bool)
    if n_jobs is not None and (not whole or n_jobs == 0):
        raise ValueError(
            f"n_jobs must be None, a number of threads, or negative: all but some; got {n_jobs!r}."
        )


def is_true(answer: Any) -> bool:
    """Return whether a callback asks to stop: only True, or NumPy's, counts."""
    return isinstance(answer, bool | np.bool_) and bool(answer)


def counts_of(side: Side, n_items: int, n_clusters: int, overlap: float, outliers: float) -> Counts:
    """Turn fractions into counts, or say why no memberships can meet them."""
    return make_counts(side.removesuffix("s"), n_items, n_clusters, overlap, outliers)


def sorted_numbers(name: str, numbers: Any, n_items: int) -> list[int]:
    """Return numbers of clusters to try, in order; 2 to 8 by default."""
    if numbers is None:
        return list(range(min(2, n_items), min(LARGEST_DEFAULT, n_items) + 1))
    if not isinstance(numbers, Iterable) or isinstance(numbers, str):
        raise ValueError(f"{name} must be a list or a range of numbers to try; got {numbers!r}.")
    values = sorted({check_positive(f"every number in {name}", each) for each in numbers})
    if not values:
        raise ValueError(f"{name} is empty: give at least one number of clusters to try.")
    if values[-1] > n_items:
        items = name.split("_", maxsplit=1)[0] + "s"
        raise ValueError(
            f"{name} asks for {values[-1]} clusters of {n_items} {items}: "
            f"ask for at most {n_items}."
        )
    return values


def finite_numbers(values: FloatArray) -> list[float | None]:
    """Return numbers as JSON knows them: None for those that are not finite."""
    return [value if np.isfinite(value) else None for value in values.tolist()]
