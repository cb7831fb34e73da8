"""NEO-CC: non-exhaustive, overlapping co-clustering."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, StrOptions

from neocc.core.engine import Engine
from neocc.core.objectives import COCLUSTERING, make_objective
from neocc.core.problem import Problem
from neocc.core.solve import Solution
from neocc.engines.validation import read_matrix
from neocc.estimators._base import OVERLAP_CONSTRAINTS, SHARED_CONSTRAINTS, STORE_CONSTRAINTS
from neocc.estimators._coclusterer import BaseCoclusterer
from neocc.estimators._fractions import SIDES, counts_of_sides
from neocc.estimators._progress import with_callbacks
from neocc.estimators._redundancy import RedundancyMixin


class NEOCC(RedundancyMixin, BaseCoclusterer):
    r"""Non-exhaustive, overlapping co-clustering (NEO-CC) of a matrix.

    Rows and columns are grouped at the same time. A row (or a column) may belong to several
    clusters, and a given fraction may belong to none. The clusters :math:`C^r_i` of rows and
    :math:`C^c_j` of columns minimise

    .. math:: \sum_{i,j} \sum_{p \in C^r_i} \sum_{t \in C^c_j} (x_{pt} - \mu_{ij})^2
              \quad\text{or}\quad
              \sum_{i,j} \sum_{p \in C^r_i} \sum_{t \in C^c_j}
              (x_{pt} - \bar{x}_{it} - \bar{x}_{pj} + \mu_{ij})^2

    (objectives `"mean"` and `"residue"`), where :math:`\mu_{ij}` is the mean of block (i, j),
    :math:`\bar{x}_{it}` the mean of column t over row cluster i and :math:`\bar{x}_{pj}` the mean
    of row p over column cluster j.

    Parameters
    ----------
    n_row_clusters, n_column_clusters : int or None, default=None
        Numbers of clusters. None asks for three, or for as many as there are rows (columns) if
        fewer.
    objective : {"mean", "residue"}, default="mean"
        `"mean"` (NEO-CC-M) looks for blocks of constant value, `"residue"` (NEO-CC-RCM) for blocks
        in which rows and columns follow a common pattern up to row and column offsets.
    overlap_model : {"repeat", "share", "average", "sum", "auto"}, default="repeat"
        What several memberships of a row (or a column) cost. `"repeat"`, the paper's: the distance
        to each cluster, in full. `"share"`: the mean of these distances. `"average"`: the distance
        to the mean of the prototypes of its clusters. `"sum"`: the distance to their sum; subtract
        the mean of the data first. With objective `"residue"` all but `"sum"` make sense. `"auto"`
        compares the costs of `"average"` and `"sum"` in short runs.
    max_memberships : int, default=None
        Largest number of memberships of a row or a column. None is 4, more where the overlap asks
        for about as many of all rows or columns, and no bound for `"repeat"`.
    outlier_cost : {"zero", "background", "auto"}, default="auto"
        What a row or a column in no cluster costs: nothing, as in the paper, or its squares, which
        is what it costs where there is no structure. With "zero" those are left out that clusters
        explain worst, with "background" those that clusters explain least; subtract the mean of the
        data first, then. `"auto"` is "zero" for squared errors. Not for objective `"residue"`.
    min_cluster_size : int, default=1
        Least number of members of a row or column cluster. Clusters left smaller receive the
        memberships whose move there costs least; counts stay exact, and the objective never rises.
        1 is the paper's: `"residue"` may then end with clusters of one column, which cost nothing.
    row_overlap, column_overlap : float or "auto", default=0.0
        Extra memberships as a fraction of the number of rows (columns): n rows receive exactly
        n + round(row_overlap * n) memberships, halves rounded away from zero. At most the number of
        clusters minus one; may be negative down to minus the fraction of outliers. `"auto"`
        estimates it for clusters that overlap as in `"average"`, in doubt without overlap
        (`neocc.selection.estimate_overlap_and_outliers`).
    row_outliers, column_outliers : float in [0, 1) or "auto", default=0.0
        Largest fraction of rows (columns) left in no cluster, or estimated likewise.
    init : {"neo-kmeans", "random", "spectral", "sketch", "sdp"} or (U, V), default="neo-kmeans"
        How the memberships start: one-way NEO-K-Means of the rows and of the columns from k-means++
        seeds (found on a sample of the rows when the matrix is large), random feasible
        memberships, clusters of the leading singular vectors of the scaled matrix, clusters of
        random projections, semidefinite relaxations of both sides solved in turn (seconds to
        minutes each, see :class:`LowRankNEOKMeans`), or given membership matrices that meet the
        counts above. With `refine`, all but one in fifty are random if the rest are semidefinite;
        with `refine="thorough"`, every other start is random in any case.
    n_init : int, default=10
        Number of starts; the one of lowest objective is kept. Given memberships are run once.
    refine : bool or "thorough", default=True
        How hard to search. False runs every start once, as in the paper. True goes on from there:
        the best are perturbed and run again, and polished by exact moves of single memberships,
        until that has not paid for some time on these data, or has cost twice as much as the starts
        (on large data: on a sample). It never ends higher than the best start. "thorough" spends
        the starts on many short runs, of which the best are refined in stages: the lowest
        objectives, in four to twelve times the time of the starts.
    max_iter : int, default=100
        Largest number of iterations of one start.
    tol : float, default=1e-6
        A start ends when an iteration lowers the objective by no more than this fraction of it.
    engine : {"auto", "memory", "blocks", "dask"} or a Dask client, default="auto"
        Where the data live during the fit: in memory, or in a store of row blocks on disk
        (`neocc.io.open_store`), which `"auto"` leaves there and `"memory"` loads, or on the workers
        of a cluster: that of the given `dask.distributed.Client`, or for `"dask"` that of the
        current one. Workers read the blocks of a store themselves; a matrix is sent to them.
    kernel : {"auto", "numpy", "numba"}, default="auto"
        How blocks of rows are summed. `"auto"` takes compiled kernels for large sparse matrices.
    n_jobs : int, default=None
        Number of threads, all available ones by default. The result does not depend on it.
    memory_limit : int or str, default=None
        Most bytes that a fit of a store may take, such as ``"4GB"``: tables with a line per row
        that do not fit go to disk. Pages of mapped files, which the system takes back when it needs
        them, do not count. None sets no limit.
    checkpoint : neocc.io.Checkpoint, default=None
        A file that keeps the state of a long fit. After a crash the same call goes on from there
        and ends with the same result; `random_state` must be an int.
    random_state : int, RandomState or None, default=None
        Seed of the starts. The same seed gives the same result to the last bit.
    verbose : int, default=0
        1 logs every start (or step of the search), 2 also every iteration of plain starts, through
        the logger `"neocc"`.

    Attributes
    ----------
    row_membership_ : ndarray of bool, shape (n_rows, n_row_clusters)
        Which row belongs to which row clusters (U in the paper).
    column_membership_ : ndarray of bool, shape (n_columns, n_column_clusters)
        Which column belongs to which column clusters (V).
    row_outliers_, column_outliers_ : ndarray of bool
        Rows and columns that belong to no cluster.
    block_means_ : ndarray of shape (n_row_clusters, n_column_clusters)
        Mean of the data over each row cluster and column cluster.
    objective_ : float
        Objective of the memberships, at least 0: the last entry of `history_`, or computed again
        term by term where rounding may have spoilt that.
    history_ : ndarray
        Objective of the kept start and after each half-iteration (rows, columns, rows, ...); with
        `refine`, then after each improvement. As computed: it falls, but for rounding, which may
        raise it by up to 1e-9 of the sum of squares.
    n_iter_ : int
        Number of iterations that led there.
    n_passes_ : float
        How often the fit has read the data, parts of them counted as parts.
    overlap_choice_ : OverlapChoice or None
        Which overlap model `"auto"` chose, with its reasons; None for a model that was given.
    row_estimate_, column_estimate_ : OverlapEstimate or None
        What `"auto"` found, with its reasons; None for a side whose fractions were given.
    redundancy_ : Redundancy
        Jaccard indices of the members of all pairs of clusters, in tables `rows` and `columns`. A
        fit warns (`RedundancyWarning`) of those above 0.9.
    rows_, columns_, biclusters_ : ndarray of bool
        Co-clusters in scikit-learn's form, one per pair of a row and a column cluster.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Names of the columns, where X has them.

    See Also
    --------
    NEOKMeans : The same for the rows alone.
    MSSR : Co-clustering without overlap and outliers.

    Notes
    -----
    Among equal distances the lowest row, then the lowest cluster, is assigned first; distances
    that agree to about twelve digits of the terms they are made of count as equal. A cluster that
    loses all members is re-seeded with the row that fits its own cluster worst.

    References
    ----------
    J. J. Whang and I. S. Dhillon, "Non-Exhaustive, Overlapping Co-Clustering", CIKM 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from neocc import NEOCC
    >>> X = np.array(
    ...     [[5, 5, 0, 0], [5, 5, 0, 0], [5, 5, 5, 5], [0, 0, 5, 5], [0, 0, 5, 5], [9, 0, 9, 0]]
    ... )
    >>> model = NEOCC(
    ...     n_row_clusters=2, n_column_clusters=2, row_overlap=0, row_outliers=1 / 6, random_state=0
    ... ).fit(X)
    >>> model.row_membership_.sum(axis=1)  # row 2 is in both clusters, row 5 in none
    array([1, 1, 2, 1, 1, 0])
    >>> model.row_outliers_
    array([False, False, False, False, False,  True])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SHARED_CONSTRAINTS,
        **STORE_CONSTRAINTS,
        **OVERLAP_CONSTRAINTS,
        "n_row_clusters": [None, Interval(Integral, 1, None, closed="left")],
        "n_column_clusters": [None, Interval(Integral, 1, None, closed="left")],
        "objective": [StrOptions(set(COCLUSTERING))],
        "row_overlap": [Interval(Real, None, None, closed="neither"), StrOptions({"auto"})],
        "row_outliers": [Interval(Real, 0, 1, closed="left"), StrOptions({"auto"})],
        "column_overlap": [Interval(Real, None, None, closed="neither"), StrOptions({"auto"})],
        "column_outliers": [Interval(Real, 0, 1, closed="left"), StrOptions({"auto"})],
        "init": [StrOptions({"neo-kmeans", "random", "spectral", "sketch", "sdp"}), tuple, list],
        "refine": ["boolean", StrOptions({"thorough"})],
    }

    def __init__(
        self,
        n_row_clusters: int | None = None,
        n_column_clusters: int | None = None,
        *,
        objective: str = "mean",
        overlap_model: str = "repeat",
        max_memberships: int | None = None,
        outlier_cost: str = "auto",
        min_cluster_size: int = 1,
        row_overlap: float | str = 0.0,
        row_outliers: float | str = 0.0,
        column_overlap: float | str = 0.0,
        column_outliers: float | str = 0.0,
        init: Any = "neo-kmeans",
        n_init: int = 10,
        refine: bool | str = True,
        max_iter: int = 100,
        tol: float = 1e-6,
        engine: str = "auto",
        kernel: str = "auto",
        n_jobs: int | None = None,
        memory_limit: int | str | None = None,
        checkpoint: Any = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_row_clusters = n_row_clusters
        self.n_column_clusters = n_column_clusters
        self.objective = objective
        self.overlap_model = overlap_model
        self.max_memberships = max_memberships
        self.outlier_cost = outlier_cost
        self.min_cluster_size = min_cluster_size
        self.row_overlap = row_overlap
        self.row_outliers = row_outliers
        self.column_overlap = column_overlap
        self.column_outliers = column_outliers
        self.init = init
        self.n_init = n_init
        self.refine = refine
        self.max_iter = max_iter
        self.tol = tol
        self.engine = engine
        self.kernel = kernel
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.checkpoint = checkpoint
        self.random_state = random_state
        self.verbose = verbose

    @with_callbacks
    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> NEOCC:
        """Co-cluster the rows and columns of X.

        Interrupting a fit (Ctrl-C) keeps the best start finished so far in the attributes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            The data: any real type, dense, or any SciPy sparse format. It is neither changed nor
            copied, but sparse formats other than CSR are converted once.
        y : None
            Ignored.

        Returns
        -------
        self : NEOCC
            The fitted estimator.
        """
        with self._keeping_earlier_fit():
            matrix = read_matrix(self, X, reset=True)
            objective = make_objective(self.objective, self.outlier_cost)
            model = self._make_model(self.objective)
            rows, columns, found = counts_of_sides(self, matrix, model.most)
            problem = Problem(objective, rows, columns, self.max_iter, self.tol, model)
            init = self._read_init(matrix, problem)
            self.row_estimate_, self.column_estimate_ = (found.get(side) for side in SIDES)
            self._solve(matrix, self._with_overlap_model(matrix, problem, init), init)
        self._warn_if_redundant()
        return self

    def _publish(self, engine: Engine, problem: Problem, solution: Solution) -> None:
        super()._publish(engine, problem, solution)
        self.row_membership_ = self._row_members
        self.column_membership_ = self._column_members
        self.row_outliers_ = ~self.row_membership_.any(axis=1)
        self.column_outliers_ = ~self.column_membership_.any(axis=1)
