"""How many row and column clusters: by prediction, or a grid compared by published criteria."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import numpy as np

from neocc.core.objectives import COCLUSTERING, COUNTS, OBJECTIVES, Side, make_objective
from neocc.core.overlap import bounded_model
from neocc.core.solve import Solution
from neocc.engines import Matrix
from neocc.engines.validation import make_counts
from neocc.selection._criteria import CRITERIA, Fit, icl
from neocc.selection._data import (
    check_choice,
    check_jobs,
    check_positive,
    is_true,
    make_rng,
    opened,
    read,
    without_biases,
)
from neocc.selection._distances import all_equal
from neocc.selection._grid import Effort
from neocc.selection._predict import Wanted, choose_numbers, known_outliers, sampled
from neocc.selection._predicted import PredictedClusters
from neocc.selection._search import Search
from neocc.selection._suggested import SuggestedClusters, make_table
from neocc.selection._together import is_estimated

__all__ = ["suggest_n_clusters"]

logger = logging.getLogger("neocc")

Callback: TypeAlias = Callable[[int, int], Any]

PREDICTION = "prediction"
_PATIENCE = 3
_LARGEST_DEFAULT = 8
# As in `NEOCC`.
_SHRINKAGE = 10.0


def suggest_n_clusters(
    X: Any,
    row_clusters: Iterable[int] | None = None,
    column_clusters: Iterable[int] | None = None,
    *,
    objective: str = "mean",
    overlap_model: str = "repeat",
    max_memberships: int | None = None,
    criteria: str | Iterable[str] = PREDICTION,
    row_overlap: float = 0.0,
    row_outliers: float | str = 0.0,
    column_overlap: float = 0.0,
    column_outliers: float | str = 0.0,
    missing: str = "zero",
    remove_effects: bool = False,
    n_init: int = 4,
    max_entries: int | None = 5_000_000,
    random_state: Any = None,
    n_jobs: int | None = None,
    callback: Callback | None = None,
) -> SuggestedClusters | PredictedClusters:
    """Suggest numbers of row and column clusters.

    By default cells of some rows and columns are held out, and predicted by clusters of the others
    (bi-cross-validation): for each side the smallest number within one standard error of the best,
    or, where halves of the data do not agree on so many clusters, the knee of the error. "Unclear"
    is an answer, and so is 1: no structure.

    The published criteria rank a grid of pairs instead: each is solved from a few starts and from
    its solved neighbours, and the fit is weighed against the number of clusters. They assume data
    like those of the model; on real tables "icl" asks for as many clusters as the grid has.

    Interrupting the search (Ctrl-C) returns what has been found so far, marked as incomplete.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_rows, n_columns)
        The data.
    row_clusters, column_clusters : iterable of int, optional
        Numbers to try. By default prediction tries 1 to 16, and more while these may be better;
        a grid has 2 to 8, or up to the number of rows or columns if that is less.
    objective : str, default="mean"
        As in `NEOCC`: "mean", "residue", or "poisson", "diagonal" or "modularity" for counts, of
        which cells are held out in the place of rows and columns. The last two have one number for
        both sides.
    overlap_model, max_memberships : default="repeat" and None
        What several memberships cost, as in `NEOCC`. Where rows are planted as means of prototypes
        only "average" finds their numbers.
    criteria : "prediction", or iterable of {"icl", "hull", "pseudo_f"}, default="prediction"
        What to compute; the first ranks. "icl" is the integrated completed likelihood of the
        Gaussian latent block model, "hull" the elbow of the objective over the number of clusters,
        "pseudo_f" the two-mode ratio of Calinski and Harabasz, which leans towards few clusters.
    row_overlap, row_outliers, column_overlap, column_outliers : float, default=0.0
        Fractions as in `NEOCC`, the same for the whole grid. Outliers "auto" are estimated first;
        of counts and observed cells nobody is left out.
    missing, remove_effects : default="zero" and False
        As in `NEOCC`: whether only observed cells count ("ignore"), and what they lose first.
    n_init : int, default=4
        Short runs per pair; prediction takes half as many in each part of the data.
    max_entries : int or None, default=5_000_000
        A matrix with more stored entries is represented by a random sample of its rows.
    random_state : int, RandomState or None, default=None
        Seed.
    n_jobs : int or None, default=None
        Number of threads, all by default; dense matrices of less than 2^18 entries and sparse ones
        of less than 2^15 are searched on one, which is faster. The result does not depend on it.
    callback : callable, optional
        Called after each pair (or cut of the data) with the number done and to do; returning True
        ends the search as an interrupt does. Each is also logged (logger "neocc", level INFO).

    Returns
    -------
    suggested : PredictedClusters or SuggestedClusters
        The numbers (`best`) and their reasons, or a ranked table; both print and plot themselves.

    Examples
    --------
    >>> import numpy as np
    >>> from neocc.selection import suggest_n_clusters
    >>> rng = np.random.default_rng(0)
    >>> means = np.array([[0, 5, 0], [5, 0, 9]])
    >>> X = means[np.arange(40) % 2][:, np.arange(30) % 3] + rng.normal(size=(40, 30))
    >>> suggest_n_clusters(X, random_state=0).best
    (2, 3)
    >>> suggest_n_clusters(X, range(2, 5), range(2, 5), criteria="icl", random_state=0).best
    (2, 3)
    """
    check_choice("objective", objective, [*COCLUSTERING, *COUNTS])
    check_choice("missing", missing, ("zero", "ignore"))
    check_jobs(n_jobs)
    wanted = tuple(dict.fromkeys([criteria] if isinstance(criteria, str) else criteria))
    predicts = wanted == (PREDICTION,)
    for name in () if predicts else wanted or ("",):
        check_choice("criteria", name, CRITERIA)
    asked = make_objective(objective, missing=missing, shrinkage=_SHRINKAGE)
    matrix, rng = read(X, observed=asked.needs_counts), make_rng(random_state)
    if asked.needs_counts:
        matrix = without_biases(matrix, n_jobs, effects=remove_effects)
    overlaps = (row_overlap, column_overlap)
    model = bounded_model(overlap_model, max_memberships, asked.kind, overlaps)
    outliers = _fraction(row_outliers), _fraction(column_outliers)
    known = [each or 0.0 for each in outliers]
    n_init = check_positive("n_init", n_init)
    if predicts:
        numbers = tuple(
            None if given is None else _sorted_numbers(f"{word}_clusters", given, n_items)
            for word, given, n_items in zip(
                ("row", "column"), (row_clusters, column_clusters), matrix.shape, strict=True
            )
        )
        _check_fractions(matrix, numbers, (row_overlap, known[0], column_overlap, known[1]))
        goal = Wanted(asked, numbers[0], numbers[1], outliers, model)
        n_runs = (n_init + 1) // 2
        return choose_numbers(matrix, goal, rng, n_jobs, max_entries, n_runs, callback)
    if not is_estimated(asked):
        raise ValueError(
            f"criteria={wanted[0]!r} compares squared differences over all cells: take "
            "criteria='prediction'."
        )
    row_clusters = _sorted_numbers("row_clusters", row_clusters, matrix.shape[0])
    column_clusters = _sorted_numbers("column_clusters", column_clusters, matrix.shape[1])
    largest = (row_clusters[-1:], column_clusters[-1:])
    _check_fractions(matrix, largest, (row_overlap, known[0], column_overlap, known[1]))
    matrix, notes = sampled(matrix, max_entries, row_clusters[-1], rng)
    with opened(matrix, n_jobs) as engine:
        out = known_outliers(engine, outliers, rng)
    # Memberships that outliers found here leave free are nobody's.
    free = [share if given is None else 0.0 for share, given in zip(out, outliers, strict=True)]
    fractions = (row_overlap - free[0], out[0], column_overlap - free[1], out[1])
    search = Search(
        matrix,
        row_clusters,
        column_clusters,
        OBJECTIVES[objective],
        fractions,
        Effort(n_init, _PATIENCE),
        rng,
        n_jobs,
        model,
    )
    search.problems()
    notes += _simplify(search)
    whole = search.one_block()
    complete = _collect(search, callback)
    if not complete:
        notes.append(
            "the largest numbers are tried first: pairs that are missing here may be better."
        )
    return _result(search, whole, wanted, complete, notes)


def _fraction(given: float | str) -> float | None:
    """Return a fraction, None for one that is to be estimated."""
    return None if given == "auto" else float(given)


def _check_fractions(
    matrix: Matrix,
    numbers: tuple[list[int] | None, ...],
    fractions: tuple[float, float, float, float],
) -> None:
    """Refuse fractions that no memberships can meet."""
    for i, (word, n_items) in enumerate(zip(("row", "column"), matrix.shape, strict=True)):
        for k in numbers[i] or [min(_LARGEST_DEFAULT, n_items)]:
            make_counts(word, n_items, k, fractions[2 * i], fractions[2 * i + 1])


def _collect(search: Search, callback: Callback | None) -> bool:
    """Run the search; False if it was stopped early."""
    try:
        for done in search.run():
            if (
                callback is not None
                and is_true(callback(done, search.n_pairs))
                and done < search.n_pairs
            ):
                return False
    except KeyboardInterrupt:
        if not search.fits:
            raise
        logger.info("interrupted after %d of %d pairs", len(search.fits), search.n_pairs)
        return False
    return True


def _result(
    search: Search, whole: Solution, criteria: tuple[str, ...], complete: bool, notes: list[str]
) -> SuggestedClusters:
    block, floor = Fit.of(whole), max(whole.noise, np.finfo(float).tiny)
    table, by = make_table(search.cells(block, floor), criteria)
    if by != criteria[0]:
        notes.append(f"{criteria[0]} is not defined for any pair: ranked by {by}.")
        criteria = (by, *(name for name in criteria if name != by))
    best = int(table["n_row_clusters"][0]), int(table["n_column_clusters"][0])
    notes += _at_the_edge(search, best)
    comparable = "icl" in criteria and not any(search.fractions) and best != (1, 1)
    single = icl(block, block, search.objective, floor)
    if comparable and np.isfinite(table["icl"]).any() and np.nanmax(table["icl"]) <= single:
        notes.append("a single block (1, 1) has a higher icl than any pair: no clusters found.")
    return SuggestedClusters(
        best, table, criteria, search.objective.name, search.n_pairs, complete, tuple(notes)
    )


def _at_the_edge(search: Search, best: tuple[int, int]) -> list[str]:
    """Say where more clusters than were tried might be better still."""
    notes = []
    tried = (search.row_clusters, search.column_clusters)
    for word, number, numbers, n_items in zip(
        ("row", "column"), best, tried, search.matrix.shape, strict=True
    ):
        if len(numbers) > 1 and number == numbers[-1] < n_items:
            notes.append(
                f"{number} is the largest number of {word} clusters tried: more may be better."
            )
    return notes


def _sorted_numbers(name: str, numbers: Any, n_items: int) -> list[int]:
    if numbers is None:
        return list(range(min(2, n_items), min(_LARGEST_DEFAULT, n_items) + 1))
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


def _simplify(search: Search) -> list[str]:
    """Ask for one cluster of a side whose items are all equal: any more would split nothing."""
    notes = []
    with opened(search.matrix, search.n_jobs) as engine:
        sides: tuple[Side, Side] = ("rows", "columns")
        equal = [side for side in sides if all_equal(engine, side)]
    for side in equal:
        notes.append(f"all {side} are equal: they make one cluster.")
        setattr(search, f"{side[:-1]}_clusters", [1])
    if equal:
        search.fractions = (0.0, 0.0, 0.0, 0.0)
    return notes
