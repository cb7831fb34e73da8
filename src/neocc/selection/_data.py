"""Input of the public functions: an engine over X, a generator, and options with clear errors."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array

from neocc.core.problem import Counts, Side
from neocc.engines import Matrix, MemoryEngine, Workers
from neocc.engines.reading import READ_OPTIONS, as_matrix
from neocc.kernels import get_kernels


def read(X: Any) -> Matrix:
    """Check X and wrap it, as the estimators do."""
    names = getattr(X, "columns", None)
    return as_matrix(check_array(X, **READ_OPTIONS), names)


@contextmanager
def opened(matrix: Matrix, n_jobs: int | None) -> Iterator[MemoryEngine]:
    """Put a matrix into an engine with its own threads."""
    with Workers(n_jobs) as workers:
        yield MemoryEngine(matrix, get_kernels("auto", matrix.n_stored), workers)


def make_rng(random_state: Any) -> np.random.Generator:
    """Return the generator that a `random_state` of scikit-learn's kind stands for."""
    seed = check_random_state(random_state).randint(np.iinfo(np.int32).max)
    return np.random.default_rng(seed)


def check_choice(name: str, value: Any, choices: Collection[str]) -> None:
    """Refuse a value that is none of the choices."""
    if value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} must be one of {listed}; got {value!r}.")


def check_positive(name: str, value: Any) -> int:
    """Refuse a number that is not an integer of at least 1."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise ValueError(f"{name} must be an integer of at least 1; got {value!r}.")
    return int(value)


def check_jobs(n_jobs: Any) -> None:
    """Refuse a number of threads that means nothing."""
    whole = isinstance(n_jobs, int | np.integer) and not isinstance(n_jobs, bool)
    if n_jobs is not None and (not whole or n_jobs == 0):
        raise ValueError(
            f"n_jobs must be None, a number of threads, or negative: all but some; got {n_jobs!r}."
        )


def is_true(answer: Any) -> bool:
    """Tell whether a callback asks to stop; anything but a plain True or NumPy's is no answer."""
    return isinstance(answer, bool | np.bool_) and bool(answer)


def counts_of(side: Side, n_items: int, n_clusters: int, overlap: float, outliers: float) -> Counts:
    """Turn fractions into counts, or say why no memberships can meet them."""
    if n_clusters > n_items:
        raise ValueError(f"{n_clusters} clusters of {n_items} {side}: ask for at most {n_items}.")
    counts = Counts.from_fractions(n_items, n_clusters, overlap, outliers)
    if not 0 <= counts.max_outliers < n_items:
        raise ValueError(f"Outliers of {outliers} of the {side}: must be at least 0 and below 1.")
    if not counts.n_covered <= counts.n_memberships <= n_items * n_clusters:
        raise ValueError(
            f"Overlap of {overlap} with {n_clusters} clusters of the {side} and outliers of "
            f"{outliers}: must lie between -outliers and n_clusters - 1 = {n_clusters - 1}."
        )
    return counts
