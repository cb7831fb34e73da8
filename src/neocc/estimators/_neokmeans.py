"""NEO-K-Means: one-way clustering with overlap and outliers."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClusterMixin

from neocc._sklearn import Interval, StrOptions, fit_context
from neocc.core.engine import Engine
from neocc.core.objectives import KMEANS, make_objective, mean_rows
from neocc.core.overlap import followed_clusters
from neocc.core.problem import Counts, Problem
from neocc.core.search import Init
from neocc.core.solve import Solution
from neocc.engines.validation import (
    check_cells,
    check_feasible,
    make_counts,
    read_matrix,
    read_memberships,
)
from neocc.engines.weighing import read_weights
from neocc.estimators._base import (
    OVERLAP_CONSTRAINTS,
    SHARED_CONSTRAINTS,
    STORE_CONSTRAINTS,
    BaseNEO,
)
from neocc.estimators._progress import with_callbacks
from neocc.estimators._redundancy import RedundancyMixin


class NEOKMeans(RedundancyMixin, ClusterMixin, BaseNEO):
    r"""Non-exhaustive, overlapping k-means (NEO-K-Means).

    Minimises :math:`\sum_c \sum_{i \in C_c} \|x_i - \mu_c\|^2` over clusters that may overlap and
    may leave points out: n points receive exactly n + round(overlap * n) memberships, and at most
    round(outliers * n) of them receive none. If both fractions are 0, this is k-means; if
    `overlap = -outliers`, it is k-means with outliers (k-means--).

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    overlap : float, default=0.0
        Extra memberships as a fraction of the number of points, between `-outliers` and
        `n_clusters - 1`; with one cluster a positive overlap means none (`SingleClusterWarning`).
    outliers : float in [0, 1), default=0.0
        Maximum fraction of points in no cluster.
    overlap_model : {"repeat", "share", "average", "sum", "either", "auto"}, default="repeat"
        Cost of a point with several memberships. `"repeat"`, as in the paper: the sum of its
        distances to its clusters. `"share"`: the mean of these distances. `"average"`: the distance
        to the mean of the prototypes of its clusters. `"sum"`: the distance to their sum; subtract
        the mean of the data first. `"either"`: in each feature the distance to the nearest of
        them; which one that is takes 4 bytes per entry of X, so X may have up to 2^30 entries.
        `"auto"` compares the costs of `"average"` and `"sum"` in short runs.
    max_memberships : int, default=None
        Maximum number of memberships of a point. None means no limit for `"repeat"` and otherwise
        4, or more if the overlap requires about as many on average.
    outlier_cost : {"zero", "background", "auto"}, default="auto"
        Cost of a point in no cluster: nothing, as in the paper, or its sum of squares, which is its
        cost without any structure. With "zero", outliers are the points with the largest error;
        with "background", those of which clusters explain least (subtract the mean of the data
        first). `"auto"` means "zero" for squared errors.
    min_cluster_size : int, default=1
        Minimum number of members of a cluster. Smaller clusters receive the memberships that are
        cheapest to move there; counts stay exact, and the objective never rises.
    init : {"k-means++", "random"} or array of shape (n_points, n_clusters), default="k-means++"
        Initialisation: the two-stage assignment to k-means++ seeds, random feasible
        memberships, or a given membership matrix.
    n_init : int, default=10
        Number of starts, of which the lowest is kept; if the first five agree, no more are made.
    refine : bool or "thorough", default=False
        How hard to search, as in `NEOCC`. False runs every start once, as in the paper; True goes
        on from there with perturbations and exact moves, for at most twice as long; "thorough"
        goes on from there to the lowest objectives.
    max_iter : int, default=100
        Maximum number of iterations of a single start.
    tol : float, default=1e-6
        A start ends when an iteration lowers the objective by no more than this fraction of it.
    engine : {"auto", "memory", "blocks", "gpu", "dask"} or a Dask client, default="auto"
        Where the data live during the fit: in memory, in a store of row blocks on disk
        (`neocc.io.open_store`), which `"auto"` leaves there and `"memory"` loads, on an NVIDIA GPU
        (extra `gpu`), or on the workers of the given `dask.distributed.Client` (`"dask"`: the
        current one). Workers read the blocks of a store themselves; a matrix is sent to them.
    kernel : {"auto", "numpy", "numba", "gpu"}, default="auto"
        How blocks of rows are summed.
    n_jobs : int, default=None
        Number of threads; None uses all available ones. The result does not depend on it.
    memory_limit : int or str, default=None
        Maximum bytes of memory for the fit of a store, such as ``"4GB"``: tables with one line per
        row that do not fit go to disk. Pages of mapped files, which the system can reclaim at any
        time, do not count. None sets no limit.
    checkpoint : neocc.io.Checkpoint, default=None
        File for the state of a long fit. After a crash, the same call resumes from there and gives
        the same result; `random_state` must be an int.
    random_state : int, RandomState or None, default=None
        Seed of the starts.
    verbose : int, default=0
        1 logs each start to the logger `"neocc"`, 2 each iteration.

    Attributes
    ----------
    membership_ : ndarray of bool, shape (n_points, n_clusters)
        Which point belongs to which cluster.
    labels_ : ndarray of int, shape (n_points,)
        The nearest of the clusters of each point; -1 for an outlier.
    outliers_ : ndarray of bool, shape (n_points,)
        Points that belong to no cluster.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Mean of the members of each cluster; for `"average"` and `"sum"`, the prototypes that fit
        all points jointly, and for `"either"` the means of the points that follow the cluster in
        the feature.
    followed_ : ndarray of int, shape (n_points, n_features), or None
        For `"either"`: the cluster that each point follows in each feature; -1 for an outlier.
    overlap_choice_ : OverlapChoice or None
        The overlap model that `"auto"` chose, with the reasons; None if a model was given.
    outlier_cost_ : {"zero", "background"}
        The outlier cost that was used, also for "auto".
    objective_ : float
        Objective of the memberships.
    history_ : ndarray
        Objective of the start and after each iteration, then after each improvement.
    n_iter_ : int
        Number of iterations of the kept start.
    n_passes_ : float
        Number of passes over the data; partial passes count as fractions.
    redundancy_ : Redundancy
        Jaccard indices of the members of all pairs of clusters: the table `rows`, and
        `pairs(above)`. Above 0.9, a `RedundancyWarning` is issued.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, where X has them.

    See Also
    --------
    NEOCC : Clusters the columns at the same time.

    References
    ----------
    J. J. Whang, I. S. Dhillon and D. F. Gleich, "Non-Exhaustive, Overlapping k-Means", SDM 2015.

    Examples
    --------
    >>> import numpy as np
    >>> from neocc import NEOKMeans
    >>> X = np.array([[0.0], [0.2], [2.0], [3.8], [4.0], [50.0]])
    >>> model = NEOKMeans(n_clusters=2, overlap=0, outliers=1 / 6, random_state=0).fit(X)
    >>> model.membership_.sum(axis=1)  # the point in the middle is in both clusters
    array([1, 1, 2, 1, 1, 0])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SHARED_CONSTRAINTS,
        **STORE_CONSTRAINTS,
        **OVERLAP_CONSTRAINTS,
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "overlap": [Interval(Real, None, None, closed="neither")],
        "outliers": [Interval(Real, 0, 1, closed="left")],
        "refine": ["boolean", StrOptions({"thorough"})],
        "init": [StrOptions({"k-means++", "random"}), "array-like", "sparse matrix"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        overlap: float = 0.0,
        outliers: float = 0.0,
        overlap_model: str = "repeat",
        max_memberships: int | None = None,
        outlier_cost: str = "auto",
        min_cluster_size: int = 1,
        init: Any = "k-means++",
        n_init: int = 10,
        refine: bool | str = False,
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
        self.n_clusters = n_clusters
        self.overlap = overlap
        self.outliers = outliers
        self.overlap_model = overlap_model
        self.max_memberships = max_memberships
        self.outlier_cost = outlier_cost
        self.min_cluster_size = min_cluster_size
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
    def fit(self, X: Any, y: Any = None, *, row_weight: Any = None) -> NEOKMeans:
        """Cluster the rows of X.

        Interrupting a fit (Ctrl-C) keeps the best start finished so far in the attributes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_points, n_features)
            The data.
        y : None
            Ignored.
        row_weight : array-like of shape (n_points,), default=None
            Positive weights: how many points each counts as. Overlap and outliers still count
            points.

        Returns
        -------
        self : NEOKMeans
            The fitted estimator.
        """
        with self._keeping_earlier_fit():
            matrix = read_matrix(self, X, reset=True)
            model = self._make_model(KMEANS.name)
            check_cells(model, matrix.shape, self.engine, self.kernel)
            bounds = (model.most, self.min_cluster_size)
            asked = (self.n_clusters, self.overlap, self.outliers, *bounds)
            counts = make_counts("", matrix.shape[0], *asked)
            objective = make_objective(KMEANS.name, self.outlier_cost)
            weights = read_weights("row_weight", row_weight, matrix.shape[0])
            problem = Problem(objective, counts, None, self.max_iter, self.tol, model, weights)
            init = self._read_init(counts, model.most)
            self._solve(matrix, self._with_overlap_model(matrix, problem, init), init)
        self._warn_if_redundant()
        return self

    def _read_init(self, counts: Counts, most: int | None) -> Init:
        if isinstance(self.init, str):
            return "random" if self.init == "random" else "neo-kmeans"
        U = read_memberships(self.init, "init", counts.n_items, counts.n_clusters)
        check_feasible(U, counts, "init", "", most)
        return U, None

    def _publish(self, engine: Engine, problem: Problem, solution: Solution) -> None:
        super()._publish(engine, problem, solution)
        assert solution.U is not None
        self.membership_ = self._row_members
        self.outliers_ = solution.U.outliers
        centers = mean_rows(solution.features, solution.U)
        self.followed_ = None
        if problem.overlap_model.needs_sums:
            self.followed_ = followed_clusters(solution.U, engine.shape[1]).astype(np.int32)
        self.cluster_centers_ = engine.effects.restore(centers, solution.U, None)
