"""NEO-K-Means: one-way clustering with overlap and outliers."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

from sklearn.base import ClusterMixin

from neocc._sklearn import Interval, StrOptions, fit_context
from neocc.core.engine import Engine
from neocc.core.objectives import KMEANS, make_objective, mean_rows
from neocc.core.problem import Counts, Problem
from neocc.core.search import Init
from neocc.core.solve import Solution
from neocc.engines.validation import (
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
    round(outliers * n) of them receive none. With both fractions 0 it is k-means; with
    `overlap = -outliers` it is k-means with outliers (k-means--).

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    overlap : float, default=0.0
        Extra memberships as a fraction of the number of points, between `-outliers` and
        `n_clusters - 1`.
    outliers : float in [0, 1), default=0.0
        Largest fraction of points left in no cluster.
    overlap_model : {"repeat", "share", "average", "sum", "auto"}, default="repeat"
        What several memberships of a point cost. `"repeat"`, the paper's: the distance to each
        cluster, in full. `"share"`: the mean of these distances. `"average"`: the distance to the
        mean of the prototypes of its clusters. `"sum"`: the distance to their sum; subtract the
        mean of the data first. `"auto"` compares the costs of `"average"` and `"sum"` in short
        runs.
    max_memberships : int, default=None
        Largest number of memberships of a point. None is 4, more where the overlap asks for about
        as many of all points, and no bound for `"repeat"`.
    outlier_cost : {"zero", "background", "auto"}, default="auto"
        What a point in no cluster costs: nothing, as in the paper, or its squares, which
        is what it costs where there is no structure. With "zero" those are left out that clusters
        explain worst, with "background" those that clusters explain least; subtract the mean of the
        data first, then. `"auto"` is "zero" for squared errors.
    min_cluster_size : int, default=1
        Least number of members of a cluster. Clusters left smaller receive the memberships whose
        move there costs least; counts stay exact, and the objective never rises.
    init : {"k-means++", "random"} or array of shape (n_points, n_clusters), default="k-means++"
        How the memberships start: the two-stage assignment to k-means++ seeds, random
        feasible memberships, or a given membership matrix.
    n_init : int, default=10
        Number of starts; the one of lowest objective is kept.
    max_iter : int, default=100
        Largest number of iterations of one start.
    tol : float, default=1e-6
        A start ends when an iteration lowers the objective by no more than this fraction of it.
    engine : {"auto", "memory", "blocks", "gpu", "dask"} or a Dask client, default="auto"
        Where the data live during the fit: in memory, in a store of row blocks on disk
        (`neocc.io.open_store`), which `"auto"` leaves there and `"memory"` loads, on an NVIDIA GPU
        (extra `gpu`), or on the workers of a cluster: that of the given `dask.distributed.Client`,
        or for `"dask"` that of the current one. Workers read the blocks of a store themselves; a
        matrix is sent to them.
    kernel : {"auto", "numpy", "numba", "gpu"}, default="auto"
        How blocks of rows are summed.
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
        Seed of the starts.
    verbose : int, default=0
        1 logs every start, 2 every iteration, through the logger `"neocc"`.

    Attributes
    ----------
    membership_ : ndarray of bool, shape (n_points, n_clusters)
        Which point belongs to which clusters.
    labels_ : ndarray of int, shape (n_points,)
        Of the clusters of each point the nearest; -1 for an outlier.
    outliers_ : ndarray of bool, shape (n_points,)
        Points that belong to no cluster.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Mean of the members of each cluster; for `"average"` and `"sum"` prototypes that explain all
        points together.
    overlap_choice_ : OverlapChoice or None
        Which overlap model `"auto"` chose, with its reasons; None for a model that was given.
    objective_ : float
        Objective of the memberships.
    history_ : ndarray
        Objective of the start and after each iteration.
    n_iter_ : int
        Number of iterations of the kept start.
    n_passes_ : float
        How often the fit has read the data, parts of them counted as parts.
    redundancy_ : Redundancy
        Jaccard indices of the members of all pairs of clusters: the table `rows`, and
        `pairs(above)`. A fit warns (`RedundancyWarning`) of clusters with an index above 0.9.
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
            How many points each of them counts as, positive. Overlap and outliers are numbers of
            points all the same.

        Returns
        -------
        self : NEOKMeans
            The fitted estimator.
        """
        with self._keeping_earlier_fit():
            matrix = read_matrix(self, X, reset=True)
            model = self._make_model(KMEANS.name)
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
        self.cluster_centers_ = engine.effects.restore(centers, solution.U, None)
