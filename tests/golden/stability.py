"""Whether a result hangs on rounding: the same fit where sums round differently.

A result that changes here would change on another machine as well, and tells nothing about the
code that made it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from neocc import InfinitePlaid

from .cases import Case
from .data import drawn, load
from .fits import Places, fit, result

_NOISE = 1e-13
_N_DRAWS = 5
# Smaller matrices are never sampled.
_SAMPLED_ENTRIES = 400_000


@dataclass(frozen=True)
class Move:
    """What a perturbation changed.

    Attributes
    ----------
    by : str
        The perturbation.
    members : bool
        Whether memberships, of the fit or of new rows, or the number of iterations differ.
    off : float
        Relative difference of the objectives; of the sum of squares where the objective is 0.
    """

    by: str
    members: bool
    off: float


def moves(case: Case, places: Places, expected: dict[str, Any]) -> Iterator[Move]:
    """Yield what each perturbation changes."""
    for name, perturb in PERTURBATIONS.items():
        for other, X in perturb(case, load(case.data)):
            found = result(case, fit(other, places, X), X)
            yield Move(name, _members(found) != _members(expected), _off(found, expected))


def _members(found: dict[str, Any]) -> list[Any]:
    names = ("rows", "columns", "n_iter", "new_rows", "new_labels")
    return [found.get(name) for name in names]


def _off(found: dict[str, Any], expected: dict[str, Any]) -> float:
    if expected["objective"] is None:
        return 0.0
    new, old = (float.fromhex(each["objective"]) for each in (found, expected))
    return abs(new - old) / (old or float.fromhex(expected["squares"]))


Perturb = Callable[[Case, Any], Iterator[tuple[Case, Any]]]


def _noise(case: Case, X: Any) -> Iterator[tuple[Case, Any]]:
    """Change the thirteenth digit of all entries; equal ones stay equal to about twelve.

    In a constant matrix noise would be all there is to see. Its sums are exact in any order.
    """
    if case.data == "constant":
        return
    for seed in range(_N_DRAWS):
        noisy = X.astype(np.float64)
        values = noisy.data if sparse.issparse(noisy) else noisy
        values[...] *= 1.0 + _NOISE * drawn(seed).normal(size=values.shape)
        yield case, noisy


def _kernel(case: Case, X: Any) -> Iterator[tuple[Case, Any]]:
    other = "numpy" if case.options.get("kernel") == "numba" else "numba"
    yield _with(case, kernel=other), X


def _form(case: Case, X: Any) -> Iterator[tuple[Case, Any]]:
    """Give dense data as sparse ones and the other way round.

    The number of entries stored decides over samples: large sparse data stay as they are.
    """
    if not sparse.issparse(X):
        yield case, sparse.csr_array(X)
    elif X.shape[0] * X.shape[1] < _SAMPLED_ENTRIES:
        yield case, X.toarray()


def _threads(case: Case, X: Any) -> Iterator[tuple[Case, Any]]:
    if case.model is not InfinitePlaid:
        for n_jobs in (1, 2, 3):
            yield _with(case, n_jobs=n_jobs), X


def _place(case: Case, X: Any) -> Iterator[tuple[Case, Any]]:
    if case.where != "memory":
        yield replace(_with(case, memory_limit=None), where="memory"), X


def _with(case: Case, **options: Any) -> Case:
    return replace(case, options={**case.options, **options})


PERTURBATIONS: dict[str, Perturb] = {
    "noise": _noise,
    "kernel": _kernel,
    "form": _form,
    "threads": _threads,
    "place": _place,
}
