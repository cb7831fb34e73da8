"""NEO-K-Means by a semidefinite relaxation of low rank."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from neocc._sklearn import Interval, StrOptions
from neocc.core.checkpoints import NO_JOURNAL, Journal
from neocc.core.engine import Engine
from neocc.core.initialise import random_start
from neocc.core.problem import Problem
from neocc.core.search import Init, run_starts
from neocc.core.solve import Solution
from neocc.estimators._base import SHARED_CONSTRAINTS, STORE_CONSTRAINTS
from neocc.estimators._neokmeans import NEOKMeans
from neocc.estimators._progress import Progress
from neocc.kernels import Memberships
from neocc.rivals.lowrank.solve import RoundedSolution, solve_relaxed

# The alternation, where it makes a start or refines a result, runs as NEOKMeans does by default.
_ITERATIONS = 100
_TOL = 1e-6


class LowRankNEOKMeans(NEOKMeans):
    r"""NEO-K-Means by a semidefinite relaxation of low rank.

    The problem of :class:`NEOKMeans` is relaxed: instead of 0/1 memberships it is solved for a
    non-negative table Y with a few columns per cluster and for real numbers f of memberships,

    .. math:: \min_{Y, f} \; f^\top d - \mathrm{tr}(Y^\top X X^\top Y)
              \quad\text{subject to}\quad \mathrm{tr}(Y^\top Y) = k, \; Y Y^\top e = f,

    where :math:`d_i = \|x_i\|^2`, and f adds up to the number of memberships asked for and covers
    as many points as it has to. The result is rounded to memberships and, by default, refined by
    the alternation of :class:`NEOKMeans`. It depends far less on the start than the alternation
    does, and takes far longer.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    overlap : float, default=0.0
        Extra memberships as a fraction of the number of points, between `-outliers` and
        `n_clusters - 1`; with one cluster a positive overlap means none (`SingleClusterWarning`).
    outliers : float in [0, 1), default=0.0
        Maximum fraction of points in no cluster.
    solver : {"admm", "alm"}, default="admm"
        How the relaxation is solved, in both cases with L-BFGS-B between updates of multipliers.
        `"alm"` searches all variables at once and carries multipliers for all constraints.
        `"admm"` splits them into Y and the numbers of memberships, which have a closed form for
        given Y; it is many times faster.
    columns_per_cluster : int, default=3
        Number of columns of Y per cluster. More of them take longer and leave fewer local minima
        to end in; 1 is the relaxation as published.
    init : {"random", "neo-kmeans"} or array of shape (n_points, n_clusters), default="random"
        Where the relaxation starts: random feasible memberships, solutions of the alternation
        from k-means++ seeds (one for each of `columns_per_cluster`, averaged), or a given
        membership matrix (averaged with random ones).
    n_init : int, default=1
        Number of starts; the one with the lowest objective is kept. Given memberships are run once.
    rounding : {"clusters", "counts"}, default="clusters"
        `"clusters"` looks for the distinct clusters of the relaxed solution, rounds the number of
        times that it holds each, and gives the memberships to the largest entries. `"counts"`
        rounds the number of memberships of each point, which then go to the largest entries of its
        row.
    refine : bool, default=True
        Improve the rounded memberships by the alternation and by exact moves of single memberships.
    max_iter : int, default=50
        Maximum number of updates of the multipliers.
    tol : float, default=1e-4
        Relative violation of constraints below which the relaxation counts as solved.
    engine : {"auto", "memory"}, default="auto"
        Where the data live during the fit.
    kernel : {"auto", "numpy", "numba"}, default="auto"
        How blocks of rows are summed.
    n_jobs : int, default=None
        Number of threads; None uses all available ones. The result does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the starts.
    verbose : int, default=0
        1 logs each start to the logger `"neocc"`, 2 each update of the multipliers.

    Attributes
    ----------
    membership_ : ndarray of bool, shape (n_points, n_clusters)
        Which point belongs to which cluster.
    labels_ : ndarray of int, shape (n_points,)
        The nearest of the clusters of each point; -1 for an outlier.
    outliers_ : ndarray of bool, shape (n_points,)
        Points that belong to no cluster.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Mean of the members of each cluster.
    objective_ : float
        Objective of the memberships.
    relaxed_objective_ : float
        Objective of the relaxed solution, only as exact as the constraints are satisfied: if some
        points are far from all others, violations within `tol` may amount to a tenth of it or more.
    infeasibility_ : float
        Its largest relative violation of a constraint.
    history_ : structured ndarray
        Fields `"objective"` and `"infeasibility"` of the relaxed solution after each update of the
        multipliers.
    n_iter_ : int
        Number of updates of the multipliers.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, where X has them.

    See Also
    --------
    NEOKMeans : The alternation alone.

    Notes
    -----
    Only products of X with tables of `n_clusters` columns are formed, never a matrix of points by
    points. The search keeps some 25 copies of Y, which may have at most five million entries.

    References
    ----------
    Y. Hou, J. J. Whang, D. F. Gleich and I. S. Dhillon, "Non-exhaustive, Overlapping Clustering via
    Low-Rank Semidefinite Programming", KDD 2015.

    Y. Hou, J. J. Whang, D. F. Gleich and I. S. Dhillon, "Fast Multiplier Methods to Optimize
    Non-exhaustive, Overlapping Clustering", SDM 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from neocc import LowRankNEOKMeans
    >>> X = np.array([[0.0], [0.2], [2.0], [3.8], [4.0], [50.0]])
    >>> model = LowRankNEOKMeans(n_clusters=2, outliers=1 / 6, random_state=0).fit(X)
    >>> model.membership_.sum(axis=1)  # the point in the middle is in both clusters
    array([1, 1, 2, 1, 1, 0])
    >>> bool(model.infeasibility_ < 1e-4)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **{
            name: rules
            for name, rules in NEOKMeans._parameter_constraints.items()
            if name not in STORE_CONSTRAINTS
        },
        "engine": SHARED_CONSTRAINTS["engine"],
        "solver": [StrOptions({"admm", "alm"})],
        "columns_per_cluster": [Interval(Integral, 1, None, closed="left")],
        "init": [StrOptions({"random", "neo-kmeans"}), "array-like", "sparse matrix"],
        "rounding": [StrOptions({"clusters", "counts"})],
        "refine": ["boolean"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        overlap: float = 0.0,
        outliers: float = 0.0,
        solver: str = "admm",
        columns_per_cluster: int = 3,
        init: Any = "random",
        n_init: int = 1,
        rounding: str = "clusters",
        refine: bool = True,
        max_iter: int = 50,
        tol: float = 1e-4,
        engine: str = "auto",
        kernel: str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            n_clusters,
            overlap=overlap,
            outliers=outliers,
            init=init,
            n_init=n_init,
            max_iter=max_iter,
            tol=tol,
            engine=engine,
            kernel=kernel,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )
        self.solver = solver
        self.columns_per_cluster = columns_per_cluster
        self.rounding = rounding
        self.refine = refine

    def _solutions(
        self,
        engine: Engine,
        problem: Problem,
        init: Init,
        rng: np.random.Generator,
        journal: Journal = NO_JOURNAL,
    ) -> Iterator[Solution]:
        n_starts = 1 if isinstance(init, tuple) else self.n_init
        progress = Progress(self, "start", n_starts, self.max_iter, self.verbose)
        iterative = replace(problem, max_iter=_ITERATIONS, tol=_TOL)
        data = engine.centred(problem.centring)

        def found() -> Iterator[Solution]:
            for child in rng.spawn(n_starts):
                progress.begin()
                yield solve_relaxed(
                    data,
                    iterative,
                    self._starts(engine, iterative, init, child),
                    solver=self.solver,  # type: ignore[arg-type]
                    rounding=self.rounding,  # type: ignore[arg-type]
                    refine=bool(self.refine),
                    max_iter=self.max_iter,
                    tol=self.tol,
                    report=progress.iteration,
                )

        yield from progress.around(found())
        progress.end()

    def _starts(
        self,
        engine: Engine,
        problem: Problem,
        init: Init,
        rng: np.random.Generator,
    ) -> list[Memberships]:
        """Return the memberships that the relaxation starts from the average of."""
        assert problem.rows is not None
        rngs = rng.spawn(self.columns_per_cluster)
        if init == "neo-kmeans":
            found = run_starts(engine, problem, init, rngs)
            return [each.U for each in found if each.U is not None]
        starts = [random_start(problem.rows, each) for each in rngs]
        if isinstance(init, tuple):
            assert init[0] is not None
            starts[0] = init[0]
        return starts

    def _publish(self, engine: Engine, problem: Problem, solution: Solution) -> None:
        super()._publish(engine, problem, solution)
        assert isinstance(solution, RoundedSolution)
        relaxed = solution.relaxed
        self.relaxed_objective_ = relaxed.objective
        self.infeasibility_ = relaxed.infeasibility
        self.history_ = relaxed.history
        self.n_iter_ = len(relaxed.history)
