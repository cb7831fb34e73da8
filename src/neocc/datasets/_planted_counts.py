"""Planted co-clusters of counts, such as words in documents: sparse, with uneven margins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from neocc._typing import BoolArray, FloatArray
from neocc.datasets._planted import _check_scales, _check_shape, _generator, _make_counts
from neocc.datasets._planting import plant

if TYPE_CHECKING:
    from sklearn.utils import Bunch

_DESCR = """\
Planted co-clusters of counts
=============================

A sparse matrix of {} rows and {} columns, made by neocc.datasets.make_count_coclusters, with {} row
clusters and {} column clusters that may overlap, and outliers that follow independence.
"""
_CELLS_AT_ONCE = 1 << 20
# Steps that make lifts average one in every cluster, and of the search for the scale.
_BALANCING, _HALVINGS = 50, 60


def make_count_coclusters(
    shape: tuple[int, int] = (1000, 500),
    n_row_clusters: int = 5,
    n_column_clusters: int = 5,
    *,
    row_overlap: float = 0.0,
    row_outliers: float = 0.0,
    column_overlap: float = 0.0,
    column_outliers: float = 0.0,
    fill: float = 0.05,
    contrast: float = 1.0,
    margins: float = 0.5,
    structure: Literal["blocks", "diagonal"] = "blocks",
    shuffle: bool = True,
    random_state: Any = None,
    return_bunch: bool = False,
) -> tuple[Any, BoolArray, BoolArray] | Bunch:
    r"""Generate a sparse matrix of counts with overlapping co-clusters and outliers.

    .. math:: x_{pt} \sim \mathrm{Poisson}(s \, a_p b_t \bar\gamma_{pt})

    with log-normal a and b for rows and columns, and :math:`\bar\gamma_{pt}` the mean of the lifts
    :math:`\gamma_{ij}` of the blocks that the cell is in, 1 in outlier rows and columns.

    Parameters
    ----------
    shape : tuple of 2 ints, default=(1000, 500)
        Numbers of rows and columns.
    n_row_clusters, n_column_clusters : int, default=5
        Numbers of clusters. None is empty; sizes before overlap differ by at most one.
    row_overlap, row_outliers, column_overlap, column_outliers : float, default=0.0
        Exact fractions of further memberships and of items in no cluster, as in
        :func:`make_coclusters`.
    fill : float, default=0.05
        Expected fraction of cells that are not zero.
    contrast : float, default=1.0
        Standard deviation of the logarithms of lifts. With `structure="diagonal"`, half the
        logarithm of the lift of a diagonal block over those of others.
    margins : float, default=0.5
        Standard deviation of the logarithms of a and b: how uneven rows and columns are.
    structure : {"blocks", "diagonal"}, default="blocks"
        Whether every block has a lift of its own, or each row cluster a column cluster of its own,
        which requires equal numbers of clusters.
    shuffle : bool, default=True
        Shuffle rows and columns. If False, they are sorted by their first cluster, outliers
        last.
    random_state : int, RandomState or None, default=None
        Seed; pass an int for reproducible output.
    return_bunch : bool, default=False
        Return more than the matrix and the memberships.

    Returns
    -------
    X : scipy.sparse.csr_array of shape (n_rows, n_columns)
        The counts, in float64.
    U : ndarray of shape (n_rows, n_row_clusters), bool
        Memberships of the rows.
    V : ndarray of shape (n_columns, n_column_clusters), bool
        Memberships of the columns.
    data : sklearn.utils.Bunch
        Instead of the above, with `return_bunch`: ``data`` (X), ``row_membership`` (U),
        ``column_membership`` (V), ``row_outliers`` and ``column_outliers`` (bool masks),
        ``block_lifts`` (n_row_clusters, n_column_clusters) and ``DESCR``.

    Examples
    --------
    >>> from neocc.datasets import make_count_coclusters
    >>> X, U, V = make_count_coclusters((60, 40), 3, 2, fill=0.2, random_state=0)
    >>> X.shape, U.shape, V.shape
    ((60, 40), (60, 3), (40, 2))
    """
    n_rows, n_columns = _check_shape(shape)
    rows = _make_counts("row", n_rows, n_row_clusters, row_overlap, row_outliers)
    columns = _make_counts("column", n_columns, n_column_clusters, column_overlap, column_outliers)
    _check_scales(contrast=contrast, margins=margins)
    if not 0 < fill < 1:
        raise ValueError(f"fill must be above 0 and below 1, got {fill!r}.")
    if structure not in ("blocks", "diagonal"):
        raise ValueError(f'structure must be "blocks" or "diagonal", got {structure!r}.')
    if structure == "diagonal" and n_row_clusters != n_column_clusters:
        raise ValueError(
            'structure="diagonal" pairs clusters: n_row_clusters and n_column_clusters must be '
            f"equal, got {n_row_clusters} and {n_column_clusters}."
        )
    row_rng, column_rng, lift_rng, margin_rng, count_rng = _generator(random_state).spawn(5)
    U, V = plant(rows, row_rng, shuffle), plant(columns, column_rng, shuffle)
    a, b = (np.exp(margins * margin_rng.standard_normal(size)) for size in (n_rows, n_columns))
    if structure == "diagonal":
        logs = 2.0 * contrast * np.eye(n_row_clusters)
    else:
        logs = contrast * lift_rng.standard_normal((n_row_clusters, n_column_clusters))
    u, v = (each / np.maximum(each.sum(axis=1, keepdims=True), 1) for each in (U, V))
    lifts = _balanced(np.exp(logs), u.T @ a, v.T @ b)
    X = _drawn((a, b), (u, v), lifts, fill, count_rng)
    if not return_bunch:
        return X, U, V
    from sklearn.utils import Bunch

    return Bunch(
        data=X,
        row_membership=U,
        column_membership=V,
        row_outliers=~U.any(axis=1),
        column_outliers=~V.any(axis=1),
        block_lifts=lifts,
        DESCR=_DESCR.format(*X.shape, U.shape[1], V.shape[1]),
    )


def _balanced(lifts: FloatArray, rows: FloatArray, columns: FloatArray) -> FloatArray:
    """Scale lifts so that they average one in every cluster: margins are then those drawn."""
    for _ in range(_BALANCING):
        lifts = lifts * (columns.sum() / (lifts @ columns))[:, None]
        lifts = lifts * (rows.sum() / (rows @ lifts))
    return lifts


def _drawn(
    sizes: tuple[FloatArray, FloatArray],
    shares: tuple[FloatArray, FloatArray],
    lifts: FloatArray,
    fill: float,
    rng: np.random.Generator,
) -> Any:
    """Draw counts, some rows at a time, as a CSR array."""
    from scipy import sparse

    (a, b), (u, v) = sizes, shares
    step = max(1, _CELLS_AT_ONCE // len(b))

    def rates(start: int) -> FloatArray:
        part = slice(start, start + step)
        inside = np.logical_and.outer(u[part].any(axis=1), v.any(axis=1))
        found: FloatArray = np.where(inside, u[part] @ lifts @ v.T, 1.0)
        return found * np.multiply.outer(a[part], b)

    starts = range(0, len(a), step)
    low, high = -40.0, 40.0
    sample = np.concatenate([rates(start).ravel() for start in starts][:8])
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        filled = float(-np.expm1(-np.exp(middle) * sample).mean())
        low, high = (middle, high) if filled < fill else (low, middle)
    scale = np.exp((low + high) / 2.0)
    parts = [
        sparse.csr_array(rng.poisson(scale * rates(start)).astype(np.float64)) for start in starts
    ]
    return sparse.csr_array(sparse.vstack(parts, format="csr"))
