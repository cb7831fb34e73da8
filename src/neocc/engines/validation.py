"""Input at the edge: checked here, once, and trusted everywhere else."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_array, validate_data

from neocc._counts import Counts
from neocc._typing import BoolArray
from neocc.core.objectives import Objective
from neocc.core.overlap import OverlapModel
from neocc.engines.gpu.matrix import is_on_card, read_card
from neocc.engines.matrix import Matrix
from neocc.engines.observed import open_observed, read_observed
from neocc.engines.reading import READ_OPTIONS, as_matrix, check_scale, readable
from neocc.engines.stored import RowSource, StoredRows, open_source
from neocc.engines.weighing import read_cell_weights, weighed
from neocc.engines.workers import effective_n_jobs
from neocc.kernels import Memberships

_DEFAULT_CLUSTERS = 3
MOST_CELLS = 1 << 30
"""Of a matrix of which is kept what every cell follows."""


class SingleClusterWarning(UserWarning):
    """Overlap was asked for where there is one cluster, and nothing for it to overlap with.

    Examples
    --------
    A search over numbers of clusters from 1 can silence it:

    >>> import warnings
    >>> import numpy as np
    >>> from neocc import NEOKMeans, SingleClusterWarning
    >>> X = np.arange(12.0).reshape(6, 2)
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", SingleClusterWarning)
    ...     fits = [NEOKMeans(k, overlap=0.5, random_state=0).fit(X) for k in (1, 2)]
    >>> [int(fit.membership_.sum()) for fit in fits]
    [6, 9]
    """


def read_matrix(
    estimator: Any, X: Any, *, reset: bool, cell_weight: Any = None, observed: bool = False
) -> Matrix:
    """Check X and wrap it without copying, but for one conversion of sparse formats other than CSR.

    With an estimator, its `n_features_in_` and `feature_names_in_` are set (`reset`) or checked.
    A store of blocks on disk stays there, unless the estimator's engine is "memory". If the
    estimator ignores missing cells, or `observed` says so, a matrix of the observed ones is
    returned.
    """
    engine = getattr(estimator, "engine", "auto")
    observed = observed or getattr(estimator, "missing", "zero") == "ignore"

    if isinstance(X, RowSource):
        _read_names(estimator, X, reset=reset)
        if engine == "memory":
            names = getattr(estimator, "feature_names_in_", None)
            if isinstance(cell_weight, RowSource):
                cell_weight = StoredRows(cell_weight)[:]
            return _wrapped(StoredRows(X)[:], names, cell_weight, observed=observed, reset=reset)
        n_kept = effective_n_jobs(getattr(estimator, "n_jobs", None)) + 1
        if not observed:
            return open_source(X, n_kept)
        return weighed(open_observed(X, n_kept), None, None, read_cell_weights(cell_weight, X))
    if engine == "blocks" and reset:
        raise ValueError(
            'engine="blocks" reads blocks of rows from disk; got data in memory '
            f"({type(X).__name__}). Write them first with neocc.io.write_store, or leave engine at "
            '"auto".'
        )
    if is_on_card(X):
        if engine != "gpu":
            raise ValueError('X is on the GPU: pass X.get(), or use engine="gpu".')
        _count_columns(estimator, X, reset=reset)
        found: Matrix = read_card(X, cell_weight, observed=observed)
        return found
    X = readable(X)
    if estimator is None:
        X = check_array(X, **READ_OPTIONS)
    else:
        X = validate_data(estimator, X, reset=reset, **READ_OPTIONS)
    names = getattr(estimator, "feature_names_in_", None)
    return _wrapped(X, names, cell_weight, observed=observed, reset=reset)


def _wrapped(X: Any, names: Any, cell_weight: Any, *, observed: bool, reset: bool) -> Matrix:
    matrix = read_observed(X, names, cell_weight) if observed else as_matrix(X, names)
    if reset:  # new rows may well be near 0
        check_scale(matrix.values)
    return matrix


def _count_columns(estimator: Any, X: Any, *, reset: bool) -> None:
    """Set or check the number of columns of what scikit-learn does not read."""
    known, found = getattr(estimator, "n_features_in_", None), int(X.shape[1])
    if reset:
        estimator.n_features_in_ = found
    elif known is not None and known != found:
        raise ValueError(
            f"X has {found} features, but {type(estimator).__name__} is expecting {known} features "
            "as input."
        )


def _read_names(estimator: Any, source: RowSource, *, reset: bool) -> None:
    """Set or check the number and the names of the columns, as `validate_data` does for arrays."""
    if estimator is None:
        return
    _count_columns(estimator, source, reset=reset)
    names = getattr(source, "column_names", None)
    if reset:
        estimator.__dict__.pop("feature_names_in_", None)
        if names is not None:
            estimator.feature_names_in_ = np.array(names, dtype=object)
        return
    known = getattr(estimator, "feature_names_in_", None)
    if names is not None and known is not None and tuple(known) != tuple(names):
        at = next(i for i, (old, new) in enumerate(zip(known, names, strict=True)) if old != new)
        raise ValueError(
            f"Column {at} of the store is called {names[at]!r}; in the fit it was {known[at]!r}. "
            "Write a store with the same columns in the same order."
        )


def make_counts(
    side: str,
    n_items: int,
    n_clusters: int | None,
    overlap: float = 0.0,
    outliers: float = 0.0,
    most: int | None = None,
    min_size: int = 1,
) -> Counts:
    """Turn a side's parameters into exact counts, or say why no membership matrix meets them.

    `side` is "row" or "column" (parameters `n_row_clusters`, `row_overlap`, ...), or "" for
    one-way estimators (`n_clusters`, `overlap`, `outliers`). No item may have more than `most`
    memberships, no cluster fewer than `min_size` members. With one cluster there is nothing to
    overlap with: then a positive overlap means none, with a warning.
    """
    if n_clusters is None:
        n_clusters = min(_DEFAULT_CLUSTERS, n_items)
    prefix = f"{side}_" if side else ""
    items = f"{side or 'row'}s"
    sklearn_name = "n_features" if side == "column" else "n_samples"
    if n_clusters > n_items:
        raise ValueError(
            f"n_{prefix}clusters={n_clusters} is more than the number of {items} "
            f"({sklearn_name}={n_items}). Ask for at most {n_items}."
        )
    counts = Counts.from_fractions(n_items, n_clusters, overlap, outliers)
    if outliers < 0:
        raise ValueError(
            f"{prefix}outliers={outliers} is negative: it must be a fraction in [0, 1)."
        )
    if counts.max_outliers >= n_items:
        raise ValueError(
            f"{prefix}outliers={outliers} would leave out all {n_items} {items} "
            f"({sklearn_name}={n_items}). Choose a smaller fraction."
        )
    if counts.n_memberships < counts.n_covered:
        raise ValueError(
            f"{prefix}overlap={overlap} is below -{prefix}outliers (-{outliers}): "
            f"{counts.n_memberships} memberships cannot cover the {counts.n_covered} {items} "
            f"that may not be left out. Raise {prefix}overlap or {prefix}outliers."
        )
    if n_clusters == 1 and counts.n_memberships > n_items:
        warnings.warn(
            f"{prefix}overlap={overlap} has no meaning with n_{prefix}clusters=1: a single cluster "
            f"has no other to overlap with, so each of the {n_items} {items} is in it once, as "
            f"with {prefix}overlap=0. Ask for two clusters or more, or for no overlap.",
            SingleClusterWarning,
            stacklevel=1,  # one place, so that a search over many numbers is told once
        )
        overlap, counts = 0.0, replace(counts, n_memberships=n_items)
    _check_room(counts, prefix, items, overlap, most, min_size)
    return replace(counts, min_size=int(min_size))


def _check_room(
    counts: Counts, prefix: str, items: str, overlap: float, most: int | None, min_size: int
) -> None:
    """Refuse more memberships than items may have, or fewer than clusters are to have."""
    n_items, n_clusters = counts.n_items, counts.n_clusters
    if counts.n_memberships > n_items * n_clusters:
        raise ValueError(
            f"{prefix}overlap={overlap} is above n_{prefix}clusters - 1 = {n_clusters - 1}: "
            f"{n_items} {items} in {n_clusters} clusters have at most {n_items * n_clusters} "
            f"memberships, not {counts.n_memberships}. Lower {prefix}overlap."
        )
    if most is not None and counts.n_memberships > n_items * most:
        raise ValueError(
            f"{prefix}overlap={overlap} is above max_memberships - 1 = {most - 1}: {n_items} "
            f"{items} with at most max_memberships={most} each have at most {n_items * most} "
            f"memberships, not {counts.n_memberships}. Lower {prefix}overlap, or raise "
            "max_memberships where the overlap model allows more."
        )
    if min_size > 1 and n_clusters * min_size > counts.n_memberships:
        raise ValueError(
            f"min_cluster_size={min_size} asks for {n_clusters * min_size} memberships in "
            f"n_{prefix}clusters={n_clusters} clusters, but {n_items} {items} with "
            f"{prefix}overlap={overlap} have {counts.n_memberships}. Ask for a min_cluster_size of "
            f"at most {max(1, counts.n_memberships // n_clusters)}, or for fewer clusters."
        )


def check_cells(model: OverlapModel, shape: tuple[int, int], engine: Any, kernel: str) -> None:
    """Refuse a model that knows what every cell follows where cells are too many, or on a card."""
    if not model.needs_sums:
        return
    cells = shape[0] * shape[1]
    if cells > MOST_CELLS:
        raise ValueError(
            f"overlap_model={model.name!r} without column clusters keeps what every entry follows: "
            f"{shape[0]} x {shape[1]} = {cells} of them would take {4 * cells / 2**30:.0f} GiB, "
            f"and the most is {4 * MOST_CELLS / 2**30:.0f} GiB. Take fewer features, NEOCC, whose "
            "column clusters are few, or overlap_model='average'."
        )
    if "gpu" in (engine, kernel):
        raise ValueError(
            f"overlap_model={model.name!r} without column clusters does not run on a GPU. Use "
            "engine='memory', NEOCC, or overlap_model='average'."
        )


def check_paired(objective: Objective, n_row_clusters: int, n_column_clusters: int) -> None:
    """Refuse different numbers of clusters where each row cluster has a column cluster."""
    if objective.paired and n_row_clusters != n_column_clusters:
        raise ValueError(
            f"objective={objective.name!r} pairs every row cluster with a column cluster: "
            f"n_row_clusters={n_row_clusters} and n_column_clusters={n_column_clusters} must be "
            "equal. Ask for as many of both, or use objective='poisson'."
        )


def read_memberships(matrix: Any, name: str, n_items: int, n_clusters: int | None) -> Memberships:
    """Check a 0/1 membership matrix given by the user."""
    if sparse.issparse(matrix):
        matrix = matrix.toarray()
    try:
        values = np.asarray(matrix)
    except ValueError as error:
        raise ValueError(f"{name} must be a matrix of 0 and 1; its rows are ragged.") from error
    wanted = f"({n_items}, {'n_clusters' if n_clusters is None else n_clusters})"
    if values.ndim != 2 or values.shape[0] != n_items or n_clusters not in (None, values.shape[1]):
        raise ValueError(f"{name} must have shape {wanted}, one row per item; got {values.shape}.")
    if values.shape[1] == 0:
        raise ValueError(f"{name} has no clusters: give it at least one column.")
    if values.dtype.kind not in "biuf":
        raise ValueError(f"{name} must hold 0 and 1 (or booleans); got dtype {values.dtype}.")
    wrong = (values != 0) & (values != 1)
    if wrong.any():
        item, cluster = np.argwhere(wrong)[0]
        raise ValueError(
            f"{name} must hold only 0 and 1; found {values[item, cluster]} at row {item}, "
            f"column {cluster}."
        )
    members: BoolArray = values.astype(bool)
    return Memberships.from_dense(members)


def check_feasible(
    members: Memberships, counts: Counts, name: str, prefix: str, most: int | None = None
) -> None:
    """Refuse given memberships that do not meet the counts asked for."""
    if members.n_total != counts.n_memberships:
        raise ValueError(
            f"{name} has {members.n_total} memberships, but {prefix}overlap asks for exactly "
            f"{counts.n_memberships}. Change {name}, or set {prefix}overlap="
            f"{members.n_total / counts.n_items - 1:.6g}."
        )
    n_outliers = int(members.outliers.sum())
    if n_outliers > counts.max_outliers:
        raise ValueError(
            f"{name} leaves {n_outliers} items in no cluster, but {prefix}outliers allows at "
            f"most {counts.max_outliers}. Change {name}, or set {prefix}outliers="
            f"{n_outliers / counts.n_items:.6g}."
        )
    numbers = members.numbers
    if most is not None and numbers.max(initial=0) > most:
        item = int(np.argmax(numbers > most))
        raise ValueError(
            f"{name} puts item {item} into {numbers[item]} clusters, but max_memberships allows at "
            f"most {most}. Change {name}, or set max_memberships={numbers.max()}."
        )
    smallest = int(members.sums_of(None).min())
    if smallest < counts.min_size and counts.min_size > 1:
        raise ValueError(
            f"{name} has a cluster of {smallest} members, but min_cluster_size asks for at least "
            f"{counts.min_size}. Change {name}, or lower min_cluster_size."
        )
