"""Planted co-clusters: matrices whose overlapping clusters and outliers are known.

Letters as in the method's paper: U and V are the memberships of rows and columns, M the block
means.
"""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import DTypeLike

from neocc._counts import Counts, round_half_away
from neocc._typing import AnyArray, BoolArray
from neocc.datasets._planting import Cells, Draw, block_means, plant

if TYPE_CHECKING:
    from sklearn.utils import Bunch


_DESCR = """\
Planted co-clusters
===================

A matrix of {} rows and {} columns, made by neocc.datasets.make_coclusters, with {} row clusters and
{} column clusters that may overlap, and outliers in none of them.
"""


def make_coclusters(
    shape: tuple[int, int] = (200, 100),
    n_row_clusters: int = 3,
    n_column_clusters: int = 3,
    *,
    row_overlap: float = 0.0,
    row_outliers: float = 0.0,
    column_overlap: float = 0.0,
    column_outliers: float = 0.0,
    separation: float = 3.0,
    noise: float = 1.0,
    effects: float = 0.0,
    density: float = 1.0,
    integer: bool = False,
    format: Literal["dense", "csr"] = "dense",  # noqa: A002 (scipy.sparse's word)
    dtype: DTypeLike = np.float64,
    shuffle: bool = True,
    random_state: Any = None,
    return_bunch: bool = False,
) -> tuple[Any, BoolArray, BoolArray] | Bunch:
    r"""Generate a matrix with overlapping co-clusters and outliers.

    A cell in row cluster i and column cluster j has the mean :math:`M_{ij}`; a cell in several
    blocks, because its row, its column or both are in several clusters, has the average of the
    means of all blocks it is in. Cells of outlier rows and columns lie far from every block mean.
    Gaussian noise is added to all:

    .. math:: x_{pt} = \frac{1}{f_p w_t} \sum_{ij} u_{pi} v_{tj} (M_{ij} + r_{pj} + c_{it})
              + \varepsilon_{pt}

    where row p is in :math:`f_p` and column t in :math:`w_t` clusters, and r and c are the
    `effects`.

    Parameters
    ----------
    shape : tuple of 2 ints, default=(200, 100)
        Numbers of rows and columns.
    n_row_clusters, n_column_clusters : int, default=3
        Numbers of clusters. None is empty; sizes before overlap differ by at most one.
    row_overlap, column_overlap : float, default=0.0
        As in :class:`neocc.NEOCC`: the n rows (columns) have exactly n + round(overlap * n)
        memberships, halves rounded away from zero. The memberships that outliers do not use go to
        others, so clusters are disjoint if ``overlap = -outliers``, not if it is 0. Which items are
        in which further clusters is drawn uniformly.
    row_outliers, column_outliers : float, default=0.0
        Exactly round(outliers * n) rows (columns) are in no cluster. Their cells have the mean
        :math:`\pm(\max |M| + \mathrm{separation} + 3 \, \mathrm{effects})`, with a random sign for
        each cell.
    separation : float, default=3.0
        Smallest root-mean-square difference of the block means of two row clusters, or of two
        column clusters. The block means are equally spaced numbers around zero in random order,
        scaled to this.
    noise : float, default=1.0
        Standard deviation of the Gaussian noise.
    effects : float, default=0.0
        Standard deviation of the effect :math:`r_{pj}` of row p in column cluster j, and of
        :math:`c_{it}` of column t in row cluster i. The objective ``"residue"`` ignores them
        inside a block, but clusters differ for it by these effects alone: without effects and
        noise it is zero for any row clusters as soon as the column clusters are right.
    density : float, default=1.0
        Exactly round(density * n_rows * n_columns) cells, drawn uniformly, keep their value; the
        others are zero.
    integer : bool, default=False
        Make positive whole numbers, like ratings or counts: all values are moved up by a constant
        that puts the lowest mean 3 `noise` above 1, rounded, and raised to 1 if below. A zero is
        then always a cell left out by `density`. Choose a `separation` of at least 1 for clusters
        to survive.
    format : {"dense", "csr"}, default="dense"
        Kind of matrix. The values are the same. With ``"csr"`` and a `density` below 1, no dense
        matrix is formed.
    dtype : dtype, default=numpy.float64
        Type of the values: float64, float32, or, with `integer`, any integer type that holds them.
    shuffle : bool, default=True
        Shuffle rows and columns. If False, they are sorted by their first cluster, outliers
        last.
    random_state : int, RandomState or None, default=None
        Seed; pass an int for reproducible output.
    return_bunch : bool, default=False
        Return more than the matrix and the memberships.

    Returns
    -------
    X : ndarray or scipy.sparse.csr_array of shape (n_rows, n_columns)
        The matrix.
    U : ndarray of shape (n_rows, n_row_clusters), bool
        Memberships of the rows.
    V : ndarray of shape (n_columns, n_column_clusters), bool
        Memberships of the columns.
    data : sklearn.utils.Bunch
        Instead of the above, with `return_bunch`: ``data`` (X), ``row_membership`` (U),
        ``column_membership`` (V), ``row_outliers`` and ``column_outliers`` (bool masks),
        ``block_means`` (n_row_clusters, n_column_clusters), ``row_effects`` (n_rows,
        n_column_clusters), ``column_effects`` (n_row_clusters, n_columns) and ``DESCR``.

    See Also
    --------
    sklearn.datasets.make_checkerboard : Blocks without overlap and outliers.

    Examples
    --------
    >>> from neocc.datasets import make_coclusters
    >>> X, U, V = make_coclusters(
    ...     (60, 40), 3, 2, row_overlap=0.1, row_outliers=0.05, noise=0.5, random_state=0
    ... )
    >>> X.shape, U.shape, V.shape
    ((60, 40), (60, 3), (40, 2))
    >>> int(U.sum()), int((~U.any(axis=1)).sum())  # 60 + 6 memberships, 3 outliers
    (66, 3)

    A large sparse matrix:

    >>> X, U, V = make_coclusters(
    ...     (10_000, 5_000), 5, 4, density=0.001, format="csr", dtype="float32", random_state=0
    ... )
    >>> X.nnz, X.dtype
    (50000, dtype('float32'))
    """
    n_rows, n_columns = _check_shape(shape)
    row_counts = _make_counts("row", n_rows, n_row_clusters, row_overlap, row_outliers)
    column_counts = _make_counts(
        "column", n_columns, n_column_clusters, column_overlap, column_outliers
    )
    _check_scales(separation=separation, noise=noise, effects=effects)
    value_type = _check_form(density, format, dtype, integer)
    seeds = _generator(random_state).spawn(7)
    row_rng, column_rng, mean_rng, effect_rng, place_rng, noise_rng, sign_rng = seeds
    U, V = plant(row_counts, row_rng, shuffle), plant(column_counts, column_rng, shuffle)
    M = separation * block_means(n_row_clusters, n_column_clusters, mean_rng)
    cells = Cells.planted(U, V, M, separation, effects, effect_rng)
    if integer:
        cells = cells.moved(1 + 3 * noise - cells.lowest)
    draw = Draw(cells, noise, integer, value_type, noise_rng, sign_rng)
    if density == 1:
        X = draw.all()
    else:
        X = draw.some(round_half_away(density * n_rows * n_columns), place_rng)
    X = _in_format(X, format)
    return _bunch(X, U, V, cells) if return_bunch else (X, U, V)


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _is_real(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _check_shape(shape: Any) -> tuple[int, int]:
    if not isinstance(shape, tuple | list) or len(shape) != 2:
        raise ValueError(f"shape must be a pair (n_rows, n_columns), got {shape!r}.")
    for size in shape:
        if not _is_whole(size) or size < 1:
            raise ValueError(f"shape must hold two positive integers, got {shape!r}.")
    return int(shape[0]), int(shape[1])


def _make_counts(side: str, n_items: int, n_clusters: Any, overlap: Any, outliers: Any) -> Counts:
    """Turn a side's parameters into exact counts, or say why nothing can be planted with them."""
    if not _is_whole(n_clusters) or n_clusters < 1:
        raise ValueError(f"n_{side}_clusters must be a positive integer, got {n_clusters!r}.")
    _check_scales(**{f"{side}_outliers": outliers})
    if not _is_real(overlap) or not math.isfinite(overlap):
        raise ValueError(f"{side}_overlap must be a finite number, got {overlap!r}.")
    counts = Counts.from_fractions(n_items, int(n_clusters), overlap, outliers)
    if counts.n_covered < n_clusters:
        raise ValueError(
            f"n_{side}_clusters={n_clusters} non-empty clusters need as many {side}s; there are "
            f"{n_items}, less {counts.max_outliers} outliers."
        )
    if counts.n_memberships < counts.n_covered:
        raise ValueError(
            f"{side}_overlap={overlap} is below -{side}_outliers={-outliers}: "
            f"{counts.n_memberships} memberships cannot cover {counts.n_covered} {side}s."
        )
    if counts.n_memberships > counts.n_covered * n_clusters:
        raise ValueError(
            f"{side}_overlap={overlap} is too large: {counts.n_covered} non-outliers "
            f"have at most {counts.n_covered * n_clusters} memberships in {n_clusters} clusters, "
            f"not {counts.n_memberships}."
        )
    return counts


def _check_scales(**values: Any) -> None:
    for name, value in values.items():
        if not _is_real(value) or not 0 <= value < math.inf:
            raise ValueError(f"{name} must be a finite number of at least 0, got {value!r}.")


def _check_form(density: Any, form: Any, dtype: DTypeLike, integer: bool) -> np.dtype[Any]:
    if not _is_real(density) or not 0 < density <= 1:
        raise ValueError(f"density must be above 0 and at most 1, got {density!r}.")
    if form not in ("dense", "csr"):
        raise ValueError(f'format must be "dense" or "csr", got {form!r}.')
    value_type = np.dtype(dtype)
    if value_type not in (np.float32, np.float64) and not (integer and value_type.kind in "iu"):
        raise ValueError(
            "dtype must be float64 or float32, or an integer type with integer=True; "
            f"got {value_type}."
        )
    return value_type


def _generator(random_state: Any) -> np.random.Generator:
    from sklearn.utils import check_random_state

    if isinstance(random_state, np.random.Generator):
        return random_state
    seed = check_random_state(random_state).randint(np.iinfo(np.int32).max)
    return np.random.default_rng(seed)


def _in_format(X: Any, form: str) -> Any:
    from scipy import sparse

    if form == "csr":
        return sparse.csr_array(X)
    dense: AnyArray = X.toarray() if sparse.issparse(X) else X
    return dense


def _bunch(X: Any, U: BoolArray, V: BoolArray, cells: Cells) -> Bunch:
    from sklearn.utils import Bunch

    return Bunch(
        data=X,
        row_membership=U,
        column_membership=V,
        row_outliers=cells.row_outliers,
        column_outliers=cells.column_outliers,
        block_means=cells.block_means,
        row_effects=cells.row_effects,
        column_effects=cells.column_effects,
        DESCR=_DESCR.format(*X.shape, U.shape[1], V.shape[1]),
    )
