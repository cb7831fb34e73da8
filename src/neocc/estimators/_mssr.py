"""MSSR: minimum sum-squared residue co-clustering, NEO-CC without overlap and outliers."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

from neocc._sklearn import Interval, StrOptions, fit_context
from neocc.core.engine import Engine
from neocc.core.objectives import COCLUSTERING, OBJECTIVES
from neocc.core.problem import Problem
from neocc.core.search import ping_pong
from neocc.core.solve import Solution
from neocc.engines.validation import make_counts, read_matrix
from neocc.engines.weighing import read_weights_of_sides
from neocc.estimators._base import SHARED_CONSTRAINTS
from neocc.estimators._coclusterer import BaseCoclusterer
from neocc.estimators._progress import with_callbacks

# The authors' largest number of turns between chains and alternation.
_ROUNDS = 50


class MSSR(BaseCoclusterer):
    """Minimum sum-squared residue co-clustering (MSSR).

    Every row and every column belongs to exactly one cluster; the objectives are those of `NEOCC`.

    Parameters
    ----------
    n_row_clusters, n_column_clusters : int or None, default=None
        Numbers of clusters. None means three, or the number of rows (columns) if smaller.
    objective : {"mean", "residue"}, default="mean"
        `"mean"` is MSSR1 (blocks of constant value), `"residue"` MSSR2 (blocks with a common
        pattern).
    init : {"neo-kmeans", "random", "spectral", "sketch"} or pair (U, V), default="neo-kmeans"
        Initialisation: one-way k-means of rows and columns from k-means++ seeds, random
        memberships, clusters of the leading singular vectors or of random projections (see
        `NEOCC`), or given memberships.
    n_init : int, default=10
        Number of starts, of which the lowest is kept; if the first five agree, no more are made.
    refine : bool, "thorough" or "chains", default=True
        True and "thorough" continue the search (see `NEOCC`), False runs each start once. "chains",
        as in the method's original papers, follows each start with chains of moves once it is
        stuck: first for the rows, then for the columns, the best move of one item to another
        cluster is made several times, even if it raises the objective at first. The best prefix of
        these moves is kept; if it lowers the objective, the alternation resumes from there.
    chain_length : int, default=20
        Number of moves in a chain, for ``refine="chains"``.
    max_iter : int, default=100
        Maximum number of iterations of a single start.
    tol : float, default=1e-6
        A start ends when an iteration lowers the objective by no more than this fraction of it.
    engine : {"auto", "memory", "gpu"}, default="auto"
        Where the data live during the fit; `"gpu"` is an NVIDIA GPU (extra `gpu`).
    kernel : {"auto", "numpy", "numba"}, default="auto"
        How blocks of rows are summed.
    n_jobs : int, default=None
        Number of threads; None uses all available ones. The result does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the starts.
    verbose : int, default=0
        1 logs each start (or step of the search) to the logger `"neocc"`, 2 also each iteration of
        plain starts.

    Attributes
    ----------
    row_labels_ : ndarray of int, shape (n_rows,)
        Cluster of each row.
    column_labels_ : ndarray of int, shape (n_columns,)
        Cluster of each column.
    block_means_ : ndarray of shape (n_row_clusters, n_column_clusters)
        Mean of the data over each row cluster and column cluster.
    objective_, history_, n_iter_
        As in `NEOCC`.
    rows_, columns_, biclusters_ : ndarray of bool
        Co-clusters in scikit-learn's format.
    n_features_in_ : int
        Number of columns.
    feature_names_in_, row_names_in_ : ndarray of str
        Names of the columns and of the rows, where X has them.

    See Also
    --------
    NEOCC : Co-clustering with overlap and outliers.

    Notes
    -----
    To run the method as its authors did, set ``init="spectral", refine="chains"`` and first scale
    the rows and columns to equal norms (`neocc.preprocessing.binormalize`). Their stopping rules
    are fractions of the squared norm of the data; here, all runs are stopped by `tol`.

    References
    ----------
    H. Cho, I. S. Dhillon, Y. Guan and S. Sra, "Minimum Sum-Squared Residue Co-Clustering of Gene
    Expression Data", SDM 2004.

    H. Cho and I. S. Dhillon, "Coclustering of Human Cancer Microarrays Using Minimum Sum-Squared
    Residue Coclustering", IEEE/ACM Transactions on Computational Biology and Bioinformatics 5,
    2008.

    Examples
    --------
    >>> import numpy as np
    >>> from neocc import MSSR
    >>> X = np.array([[1, 1, 5], [1, 1, 5], [7, 7, 0]])
    >>> model = MSSR(n_row_clusters=2, n_column_clusters=2, random_state=0).fit(X)
    >>> bool(model.row_labels_[0] == model.row_labels_[1] != model.row_labels_[2])
    True
    >>> model.objective_
    0.0
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SHARED_CONSTRAINTS,
        "n_row_clusters": [None, Interval(Integral, 1, None, closed="left")],
        "n_column_clusters": [None, Interval(Integral, 1, None, closed="left")],
        "objective": [StrOptions(set(COCLUSTERING))],
        "init": [StrOptions({"neo-kmeans", "random", "spectral", "sketch"}), tuple, list],
        "refine": ["boolean", StrOptions({"thorough", "chains"})],
        "chain_length": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        n_row_clusters: int | None = None,
        n_column_clusters: int | None = None,
        *,
        objective: str = "mean",
        init: Any = "neo-kmeans",
        n_init: int = 10,
        refine: bool | str = True,
        chain_length: int = 20,
        max_iter: int = 100,
        tol: float = 1e-6,
        engine: str = "auto",
        kernel: str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_row_clusters = n_row_clusters
        self.n_column_clusters = n_column_clusters
        self.objective = objective
        self.init = init
        self.n_init = n_init
        self.refine = refine
        self.chain_length = chain_length
        self.max_iter = max_iter
        self.tol = tol
        self.engine = engine
        self.kernel = kernel
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @with_callbacks
    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self, X: Any, y: Any = None, *, row_weight: Any = None, column_weight: Any = None
    ) -> MSSR:
        """Co-cluster the rows and columns of X.

        Interrupting a fit (Ctrl-C) keeps the best start finished so far in the attributes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            The data.
        y : None
            Ignored.
        row_weight, column_weight : array-like of shape (n_rows,), (n_columns,), default=None
            Positive weights: how many rows (columns) each counts as.

        Returns
        -------
        self : MSSR
            The fitted estimator.
        """
        with self._keeping_earlier_fit():
            matrix = read_matrix(self, X, reset=True)
            self._keep_row_names(X)
            weights = read_weights_of_sides(row_weight, column_weight, matrix)
            problem = Problem(
                OBJECTIVES[self.objective],
                make_counts("row", matrix.shape[0], self.n_row_clusters),
                make_counts("column", matrix.shape[1], self.n_column_clusters),
                self.max_iter,
                self.tol,
                row_weights=weights[0],
                column_weights=weights[1],
            )
            self._solve(matrix, problem, self._read_init(matrix, problem))
        return self

    def _finished(self, data: Engine, problem: Problem, start: Solution) -> Solution:
        if self.refine != "chains":
            return start
        return ping_pong(data, problem, start, self.chain_length, _ROUNDS)
