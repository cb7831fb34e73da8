"""NEO-CC: non-exhaustive, overlapping co-clustering."""

from __future__ import annotations

from typing import Any, ClassVar

from neocc._sklearn import fit_context
from neocc.core.engine import Engine
from neocc.core.overlap import check_columns, followed_clusters
from neocc.core.problem import Problem
from neocc.core.solve import Solution
from neocc.engines.validation import check_paired
from neocc.estimators._base import OVERLAP_CONSTRAINTS, SHARED_CONSTRAINTS, STORE_CONSTRAINTS
from neocc.estimators._coclusterer import COCLUSTERING_CONSTRAINTS, BaseCoclusterer
from neocc.estimators._fitted import asked_objective
from neocc.estimators._fractions import SIDE_CONSTRAINTS, SIDES, counts_of_sides
from neocc.estimators._observed import OBSERVED_CONSTRAINTS, ObservedMixin
from neocc.estimators._progress import with_callbacks
from neocc.estimators._redundancy import RedundancyMixin


class NEOCC(ObservedMixin, RedundancyMixin, BaseCoclusterer):
    r"""Non-exhaustive, overlapping co-clustering (NEO-CC) of a matrix.

    Rows and columns are clustered simultaneously. A row (or column) may belong to several
    clusters, and a given fraction may belong to none. The row clusters :math:`C^r_i` and column
    clusters :math:`C^c_j` minimise

    .. math:: \sum_{i,j} \sum_{p \in C^r_i} \sum_{t \in C^c_j} (x_{pt} - \mu_{ij})^2
              \quad\text{or}\quad \sum_{i,j} \sum_{p \in C^r_i} \sum_{t \in C^c_j}
              (x_{pt} - \bar{x}_{it} - \bar{x}_{pj} + \mu_{ij})^2

    (objectives `"mean"` and `"residue"`), where the means are those of block (i, j), of column t
    over row cluster i and of row p over column cluster j.

    Parameters
    ----------
    n_row_clusters, n_column_clusters : int, "auto" or None, default="auto"
        Numbers of clusters. `"auto"` chooses those that best predict held-out cells
        (`neocc.selection.suggest_n_clusters`); None means 3, or the number of items if smaller.
    objective : {"mean", "residue", "poisson", "diagonal", "modularity"}, default="mean"
        `"mean"` (NEO-CC-M) looks for blocks of constant value, `"residue"` (NEO-CC-RCM) for blocks
        in which rows and columns follow a common pattern up to row and column offsets. The others
        are for counts: `"poisson"` looks for blocks whose rates deviate from independence,
        `"diagonal"` and `"modularity"` for one column cluster per row cluster.
    prior : float, default=1.0
        Pseudocount added to the observed and expected counts when a rate is computed.
    overlap_model : {"repeat", "share", "average", "sum", "either", "auto"}, default="repeat"
        Cost of a row (or column) with several memberships, in this order: the sum of its distances
        to its clusters (as in the paper), their mean, its distance to the mean or to the sum of the
        prototypes (subtract the mean of the data first), or, in each column cluster, to the nearest
        prototype (no column overlap). `"auto"` compares the last three in short runs.
    max_memberships : int, default=None
        Maximum number of memberships of a row or column. None means no limit for `"repeat"` and
        otherwise 4, or more if the overlap requires about as many on average.
    outlier_cost : {"zero", "background", "auto"}, default="auto"
        Cost of a row or column in no cluster: nothing, as in the paper (outliers are those with the
        largest error), or its sum of squares (those of which clusters explain least; subtract the
        mean of the data first). `"auto"` means "zero" for squared errors over all cells.
    min_cluster_size : int, default=1
        Minimum number of members of a cluster. With 1, as in the paper, `"residue"` may produce
        clusters of a single column, which cost nothing.
    row_overlap, column_overlap : float or "auto", default=0.0
        Extra memberships as a fraction of the number of rows (columns): n rows receive exactly
        n + round(row_overlap * n), halves away from zero. From minus the fraction of outliers to
        the number of clusters minus one; one cluster has none, with a warning. `"auto"` estimates
        it (`neocc.selection.estimate_overlap_and_outliers`), as 0 for counts or when in doubt.
    row_outliers, column_outliers : float in [0, 1) or "auto", default=0.0
        Maximum fraction of rows (columns) in no cluster. With "auto", overlap 0 means no overlap.
    missing : {"zero", "ignore"}, default="zero"
        Whether cells not stored in sparse data are zeros, or not observed, as NaN is then. The
        latter requires objective `"mean"`; `"average"` and `"sum"` then allow at most two
        memberships, as `"average"` does with `"poisson"`, and `"auto"` compares only these two.
    remove_effects : bool, default=False
        Whether to subtract row and column effects from the observed cells first.
    shrinkage : float, default=10.0
        Ridge penalty on block means over observed cells: the number of zeros added to each block.
    init : str or pair of membership matrices, default="neo-kmeans"
        Initialisation, `"neo-kmeans"`, `"random"`, `"spectral"`, `"sketch"`, `"sdp"`,
        `"modularity"` or (U, V): one-way NEO-K-Means of the rows and of the columns from k-means++
        seeds (on a sample of large data, on leading singular vectors if several starts share them),
        random memberships, clusters of the leading singular vectors of the scaled matrix (the
        default for counts) or of random projections, semidefinite relaxations
        (:class:`LowRankNEOKMeans`), a short run of that objective, or memberships that are given.
    n_init : int, default=10
        Number of starts, of which the lowest is kept; if the first five agree, no more are made.
    refine : bool or "thorough", default=True
        How hard to search. False runs every start once, as in the paper (of large data, by
        `"residue"`, only the best to the end). True continues from there with perturbations and
        exact moves, until they bring nothing for some time or have cost twice as much as that.
        "thorough" goes on from there to the lowest objectives, in five to ten times their time.
    max_iter : int, default=100
        Maximum number of iterations of a single start.
    tol : float, default=1e-6
        A start ends when an iteration lowers the objective by no more than this fraction of it.
    engine : {"auto", "memory", "blocks", "gpu", "dask"} or a Dask client, default="auto"
        Where the data live during the fit: in memory, in a store of row blocks on disk
        (`neocc.io.open_store`), which `"auto"` leaves there and `"memory"` loads, on an NVIDIA GPU
        (extra `gpu`), which also accepts CuPy arrays and CSR matrices, or on the workers of the
        given `dask.distributed.Client` (`"dask"`: the current one).
    kernel : {"auto", "numpy", "numba", "gpu"}, default="auto"
        How rows are summed. `"auto"`: compiled for large sparse data; `"gpu"`: on workers' GPUs.
    n_jobs : int, default=None
        Number of threads; None uses all available ones. The result does not depend on it.
    memory_limit : int or str, default=None
        Maximum bytes of memory for the fit of a store (``"4GB"``), not counting mapped files.
    checkpoint : neocc.io.Checkpoint, default=None
        File for the state of a long fit: after a crash, the same call resumes from there.
    random_state : int, RandomState or None, default=None
        Seed of the starts. The same seed gives bitwise identical results.
    verbose : int, default=0
        1 logs each start or step to the logger `"neocc"`, 2 also the iterations of plain starts.

    Attributes
    ----------
    row_membership_, column_membership_ : ndarray of bool, shape (n_rows, n_row_clusters), ...
        Which row (column) belongs to which row (column) cluster: U and V in the paper.
    row_labels_, column_labels_ : ndarray of int
        The nearest of the clusters of each row (column); -1 for an outlier.
    row_outliers_, column_outliers_ : ndarray of bool
        Rows and columns that belong to no cluster.
    followed_ : ndarray of int, shape (n_rows, n_column_clusters), or None
        The row cluster that each row follows in each column cluster (`"either"`), -1 for none.
    block_means_ : ndarray of shape (n_row_clusters, n_column_clusters)
        Mean of the data over each row cluster and column cluster; with overlap models `"average"`
        and `"sum"`, the levels that fit all rows jointly.
    block_lifts_ : ndarray of shape (n_row_clusters, n_column_clusters) or None
        For counts, the rate of each block relative to independence; None for other objectives.
    overall_mean_, row_effects_, column_effects_, value_range_ : float, ndarray, ndarray, ndarray
        For observed cells; with `remove_effects`, block means are those of what remains.
    outlier_cost_ : {"zero", "background"}
        The outlier cost that was used, also for "auto"; `objective_value` takes it.
    objective_ : float
        Objective of the memberships: the last entry of `history_`, or recomputed term by term
        where that may suffer from rounding.
    history_ : ndarray
        Objective of the kept start and after each half-iteration (rows, columns, rows, ...), then
        after each improvement. It never rises, except by rounding (1e-9 of the sum of squares).
    n_iter_, n_passes_ : int, float
        Number of iterations that led to the result, and number of passes over the data.
    numbers_choice_, overlap_choice_, row_estimate_, column_estimate_ : object or None
        What `"auto"` chose, with the reasons; None where a value was given.
    redundancy_ : Redundancy
        Jaccard indices of all pairs of clusters; above 0.9, a `RedundancyWarning` is issued.
    rows_, columns_, biclusters_ : ndarray of bool
        Co-clusters in scikit-learn's format, one per pair of a row cluster and a column cluster.
    n_features_in_, feature_names_in_, row_names_in_ : int, ndarray of str
        Number of columns, and names of columns and rows where X has them.

    See Also
    --------
    NEOKMeans, MSSR : Clustering of the rows alone; co-clustering without overlap and outliers.

    Notes
    -----
    Ties between distances (to about twelve digits of their terms) go to the lowest row, then to the
    lowest cluster. An empty cluster is re-seeded with the row that fits worst; with
    ``missing="ignore"`` and for counts, where that could raise the objective, with the row whose
    move there costs least.

    Whang and Dhillon, "Non-Exhaustive, Overlapping Co-Clustering", CIKM 2017.

    Examples
    --------
    >>> from neocc import NEOCC
    >>> X = [[5, 5, 0, 0], [5, 5, 0, 0], [5, 5, 5, 5], [0, 0, 5, 5], [0, 0, 5, 5], [9, 0, 9, 0]]
    >>> model = NEOCC(2, 2, row_overlap=0, row_outliers=1 / 6, random_state=0).fit(X)
    >>> model.row_membership_.sum(axis=1)  # row 2 is in both clusters, row 5 in none
    array([1, 1, 2, 1, 1, 0])
    >>> model.row_outliers_
    array([False, False, False, False, False,  True])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SHARED_CONSTRAINTS,
        **STORE_CONSTRAINTS,
        **OVERLAP_CONSTRAINTS,
        **OBSERVED_CONSTRAINTS,
        **SIDE_CONSTRAINTS,
        **COCLUSTERING_CONSTRAINTS,
    }

    def __init__(
        self,
        n_row_clusters: int | str | None = "auto",
        n_column_clusters: int | str | None = "auto",
        *,
        objective: str = "mean",
        prior: float = 1.0,
        overlap_model: str = "repeat",
        max_memberships: int | None = None,
        outlier_cost: str = "auto",
        min_cluster_size: int = 1,
        row_overlap: float | str = 0.0,
        row_outliers: float | str = 0.0,
        column_overlap: float | str = 0.0,
        column_outliers: float | str = 0.0,
        missing: str = "zero",
        remove_effects: bool = False,
        shrinkage: float = 10.0,
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
        self.prior = prior
        self.overlap_model = overlap_model
        self.max_memberships = max_memberships
        self.outlier_cost = outlier_cost
        self.min_cluster_size = min_cluster_size
        self.row_overlap = row_overlap
        self.row_outliers = row_outliers
        self.column_overlap = column_overlap
        self.column_outliers = column_outliers
        self.missing = missing
        self.remove_effects = remove_effects
        self.shrinkage = shrinkage
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
    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        cell_weight: Any = None,
        row_weight: Any = None,
        column_weight: Any = None,
    ) -> NEOCC:
        """Co-cluster the rows and columns of X.

        Ctrl-C ends the choice of "auto" values, then the fit, with the best start finished so far.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            The data, dense or sparse. Never modified, and copied only if sparse but not CSR.
        y : None
            Ignored.
        cell_weight : array-like or sparse matrix of shape (n_rows, n_columns), default=None
            Weights of the observed cells (``missing="ignore"``); None means 1. If sparse, they are
            stored for the same cells as X (those of NaN do not matter), or in a store, as X.
        row_weight, column_weight : array-like of shape (n_rows,), (n_columns,), default=None
            Positive weights: how many rows (columns) each counts as. Overlap and outliers still
            count rows, "auto" estimates them without weights, and new rows have weight one.

        Returns
        -------
        self : NEOCC
            The fitted estimator.
        """
        with self._keeping_earlier_fit():
            objective = asked_objective(self)
            model = self._make_model(objective.kind)
            matrix, weights = self._read_data(X, cell_weight, row_weight, column_weight)
            self._keep_row_names(X)
            rows, columns, found = counts_of_sides(self, matrix, model)
            check_columns(model, columns.n_extra > 0)
            check_paired(objective, rows.n_clusters, columns.n_clusters)
            problem = Problem(objective, rows, columns, self.max_iter, self.tol, model, *weights)
            init = self._read_init(matrix, problem)
            self.numbers_choice_ = found.numbers
            self.row_estimate_, self.column_estimate_ = map(found.estimates.get, SIDES)
            self._solve(matrix, self._with_overlap_model(matrix, problem, init), init)
        self._warn_if_redundant()
        return self

    def _publish(self, engine: Engine, problem: Problem, solution: Solution) -> None:
        super()._publish(engine, problem, solution)
        self.row_membership_, self.column_membership_ = self._row_members, self._column_members
        assert solution.U is not None and solution.V is not None
        self.row_outliers_, self.column_outliers_ = solution.U.outliers, solution.V.outliers
        follows, l = problem.overlap_model.needs_sums, solution.V.n_clusters  # noqa: E741
        self.followed_ = followed_clusters(solution.U, l) if follows else None
        self.block_means_ += self._level
        self.block_lifts_ = problem.objective.lifts(solution.features, solution.U, solution.V)
