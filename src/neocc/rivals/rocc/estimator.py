"""ROCC: robust overlapping co-clustering."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

from neocc._sklearn import Interval, StrOptions, fit_context
from neocc.core.engine import Engine
from neocc.core.objectives import COCLUSTERING, OBJECTIVES
from neocc.core.problem import Problem
from neocc.core.solve import Solution
from neocc.engines.validation import read_matrix
from neocc.estimators._base import SHARED_CONSTRAINTS
from neocc.estimators._progress import with_callbacks
from neocc.rivals.rocc.pressure import exhaustive, grid_counts, pressurise
from neocc.rivals.rocc.results import CoclusterResults


class ROCC(CoclusterResults):
    r"""Robust overlapping co-clustering (ROCC).

    Finds dense co-clusters that may lie anywhere in a noisy matrix and may share rows, columns, or
    both. Unlike the clusters of `NEOCC`, which form a grid, every co-cluster has its own rows and
    its own columns. There are three steps.

    1. A grid of disjoint row and column clusters that leaves out rows and columns: `NEOCC` with
       ``overlap = -outliers``, leaving out a few more at a time.
    2. The blocks of the grid whose error is large are dropped. Then the two co-clusters whose union
       (all rows and all columns of both) has the smallest error are joined, again and again.
    3. Every row, and every column, that fits a co-cluster as well as those inside joins it.

    The error is the squared difference from the mean of the block (objective `"mean"`), or from row
    mean plus column mean minus mean of the block (`"residue"`), per degree of freedom.

    Parameters
    ----------
    n_coclusters : int or None, default=None
        Number of co-clusters at which merging ends. None leaves that to `merge_threshold`.
    objective : {"mean", "residue"}, default="mean"
        `"mean"` looks for blocks of constant value, `"residue"` for blocks in which rows and
        columns follow a common pattern up to row and column offsets.
    n_row_clusters, n_column_clusters : int or None, default=None
        Size of the grid, to be chosen generously: co-clusters that overlap need clusters of their
        own for what they share. None asks for twice `n_coclusters`, or for six.
    row_outliers, column_outliers : float in [0, 1), default=0.1
        Fraction of the rows (columns) that the grid leaves out. They may come back in the last
        step, and others may end in no co-cluster.
    error_cutoff : float or None, default=None
        Blocks with a larger error are dropped. None looks for the largest gap in the sorted errors.
    merge_threshold : float or None, default=None
        Merging ends before a union with a larger error. None means the cut-off, or no threshold if
        `n_coclusters` is given.
    expand : float or None, default=2.0
        A row joins in the last step if its mean squared error over the columns of the co-cluster is
        at most that of the co-cluster plus so many standard errors; columns likewise. None omits
        the step.
    decay : float in [0, 1), default=0.75
        How fast rows and columns are left out: of those that the grid will leave out, the fraction
        ``decay ** t`` is still kept in phase t. 0 leaves out all at once.
    init : {"neo-kmeans", "random", "spectral", "sketch"}, default="neo-kmeans"
        How the grid starts, see `NEOCC`.
    n_init : int, default=10
        Number of starts, of which the grid of lowest objective is kept; if the first five agree, no
        more are made.
    refine : bool, default=False
        Search on from the starts (see `NEOCC`) instead of running each once; `decay` is not used
        then.
    max_iter : int, default=100
        Largest number of iterations of one start.
    tol : float, default=1e-6
        A start ends when an iteration lowers the objective by no more than this fraction of it.
    engine : {"auto", "memory"}, default="auto"
        Where the data live during the fit.
    kernel : {"auto", "numpy", "numba"}, default="auto"
        How blocks of rows are summed.
    n_jobs : int, default=None
        Number of threads, all available ones by default. The result does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the starts.
    verbose : int, default=0
        1 logs every start and the result of merging, 2 also every iteration, through the logger
        `"neocc"`.

    Attributes
    ----------
    row_membership_ : ndarray of bool, shape (n_rows, n_coclusters)
        Which row belongs to which co-clusters; the co-clusters are ordered by size, largest first.
    column_membership_ : ndarray of bool, shape (n_columns, n_coclusters)
        Which column belongs to which co-clusters.
    row_labels_, column_labels_ : ndarray of int
        Of the co-clusters of each row (column) the one of smallest error; -1 for none.
    row_outliers_, column_outliers_ : ndarray of bool
        Rows and columns that belong to no co-cluster.
    n_coclusters_ : int
        Number of co-clusters found.
    means_ : ndarray of shape (n_coclusters,)
        Mean of the data over each co-cluster.
    errors_ : ndarray of shape (n_coclusters,)
        Mean squared error of each co-cluster.
    objective_ : float
        Squared errors of all co-clusters, added up.
    grid_row_labels_, grid_column_labels_ : ndarray of int
        Row cluster and column cluster of the first step, -1 for what it leaves out.
    grid_errors_ : ndarray of shape (n_row_clusters, n_column_clusters)
        Error of each block of the grid; infinite where a block is too small to have one.
    error_cutoff_ : float
        Error above which blocks were dropped.
    merge_distances_ : ndarray
        Error of each union that was formed, in the order of merging.
    history_ : ndarray
        Objective of the grid: of the kept start and after each half-iteration, as computed: it may
        rise by rounding only.
    n_iter_ : int
        Number of iterations of the grid.
    rows_, columns_, biclusters_ : ndarray of bool
        Co-clusters in scikit-learn's form.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Names of the columns, where X has them.

    See Also
    --------
    NEOCC : Row clusters and column clusters that overlap, and form a grid.
    MSSR : Co-clustering without overlap and outliers.

    Notes
    -----
    Of the published method only the outline could be followed; the rules by which the cut-off is
    found and rows are added are this library's own.

    Without `error_cutoff`, blocks whose error is above half that of the whole grid are dropped. The
    cut-off is then the largest gap between the errors of the others that is at least 0.3 times
    the error below it and, with `n_coclusters`, leaves that many co-clusters when unions up to
    the cut-off are formed. Without such a gap all these blocks are kept.

    Without `n_coclusters`, a co-cluster that ends up inside another one is left out.

    Zeros are data like any other: in a sparse matrix, blocks that are nearly empty have the
    smallest errors, and are found first.

    References
    ----------
    M. Deodhar, G. Gupta, J. Ghosh, H. Cho and I. S. Dhillon, "A Scalable Framework for Discovering
    Coherent Co-clusters in Noisy Data", ICML 2009.

    Examples
    --------
    >>> import numpy as np
    >>> from neocc import ROCC
    >>> X = np.random.default_rng(0).normal(size=(60, 40))
    >>> X[:20, :15] = 3.0
    >>> X[15:40, 20:35] = -3.0
    >>> model = ROCC(n_coclusters=2, random_state=0).fit(X)
    >>> model.row_membership_.sum(axis=0), model.column_membership_.sum(axis=0)
    (array([25, 20]), array([15, 15]))
    >>> np.flatnonzero(model.row_membership_.all(axis=1))  # rows that the co-clusters share
    array([15, 16, 17, 18, 19])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SHARED_CONSTRAINTS,
        "n_coclusters": [None, Interval(Integral, 1, None, closed="left")],
        "objective": [StrOptions(set(COCLUSTERING))],
        "n_row_clusters": [None, Interval(Integral, 1, None, closed="left")],
        "n_column_clusters": [None, Interval(Integral, 1, None, closed="left")],
        "row_outliers": [Interval(Real, 0, 1, closed="left")],
        "column_outliers": [Interval(Real, 0, 1, closed="left")],
        "error_cutoff": [None, Interval(Real, 0, None, closed="left")],
        "merge_threshold": [None, Interval(Real, 0, None, closed="left")],
        "expand": [None, Interval(Real, 0, None, closed="left")],
        "decay": [Interval(Real, 0, 1, closed="left")],
        "init": [StrOptions({"neo-kmeans", "random", "spectral", "sketch"})],
        "refine": ["boolean"],
    }

    def __init__(
        self,
        n_coclusters: int | None = None,
        *,
        objective: str = "mean",
        n_row_clusters: int | None = None,
        n_column_clusters: int | None = None,
        row_outliers: float = 0.1,
        column_outliers: float = 0.1,
        error_cutoff: float | None = None,
        merge_threshold: float | None = None,
        expand: float | None = 2.0,
        decay: float = 0.75,
        init: str = "neo-kmeans",
        n_init: int = 10,
        refine: bool = False,
        max_iter: int = 100,
        tol: float = 1e-6,
        engine: str = "auto",
        kernel: str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_coclusters = n_coclusters
        self.objective = objective
        self.n_row_clusters = n_row_clusters
        self.n_column_clusters = n_column_clusters
        self.row_outliers = row_outliers
        self.column_outliers = column_outliers
        self.error_cutoff = error_cutoff
        self.merge_threshold = merge_threshold
        self.expand = expand
        self.decay = decay
        self.init = init
        self.n_init = n_init
        self.refine = refine
        self.max_iter = max_iter
        self.tol = tol
        self.engine = engine
        self.kernel = kernel
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @with_callbacks
    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> ROCC:
        """Find the co-clusters of X.

        Interrupting a fit (Ctrl-C) goes on with the best grid so far, and keeps its co-clusters in
        the attributes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            The data.
        y : None
            Ignored.

        Returns
        -------
        self : ROCC
            The fitted estimator.
        """
        with self._keeping_earlier_fit():
            matrix = read_matrix(self, X, reset=True)
            problem = self._grid_problem(matrix.shape)
            self._solve(matrix, problem, self.init)  # type: ignore[arg-type]
        return self

    def _grid_problem(self, shape: tuple[int, int]) -> Problem:
        rows, columns = grid_counts(
            shape,
            self.n_coclusters,
            (self.n_row_clusters, self.n_column_clusters),
            (self.row_outliers, self.column_outliers),
        )
        return Problem(OBJECTIVES[self.objective], rows, columns, self.max_iter, self.tol)

    def _first_problem(self, problem: Problem) -> Problem:
        return exhaustive(problem)

    def _finished(self, data: Engine, problem: Problem, start: Solution) -> Solution:
        return pressurise(data, problem, start, self.decay)
