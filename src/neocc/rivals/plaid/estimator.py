"""Infinite plaid model: overlapping constant sub-matrices, as many as the data ask for."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from neocc._sklearn import Interval, StrOptions, fit_context
from neocc.engines import Workers
from neocc.estimators._base import SHARED_CONSTRAINTS, BaseNEO
from neocc.estimators._progress import CallbackSupportMixin, Progress, with_callbacks
from neocc.rivals.plaid.chain import sweeps, take_chance_out
from neocc.rivals.plaid.data import Units, read_dense
from neocc.rivals.plaid.kernels import PlaidKernels, get_plaid_kernels
from neocc.rivals.plaid.results import PlaidResults
from neocc.rivals.plaid.state import Field, State
from neocc.rivals.plaid.trace import Trace

# What a greedy search for a start costs at least.
_SWEEPS_PER_SEARCH = 10


class InfinitePlaid(PlaidResults, CallbackSupportMixin, BaseEstimator):
    r"""Infinite plaid model: sums of overlapping sub-matrices, their number left to the data.

    Every entry is a background plus the effects of the sub-matrices it lies in plus noise,

    .. math:: x_{ij} \sim \mathcal N\Bigl(\phi + \sum_k \theta_k z^{(1)}_{ik} z^{(2)}_{jk},\;
              1/\tau_0\Bigr),

    where the row memberships :math:`z^{(1)}` and the column memberships :math:`z^{(2)}` follow two
    Indian buffet processes that share the index k: a row or a column may be in any number of
    sub-matrices, or in none. A Markov chain draws from the posterior; `docs/plaid.md` states its
    exact distribution and how that was checked.

    Parameters
    ----------
    n_sweeps : int, default=300
        Length of the chain. A sweep draws all memberships, effects and parameters once.
    burn_in : int, default=100
        Sweeps before the first one that counts for the co-memberships.
    thin : int, default=5
        Every so many sweeps after that one counts.
    n_moves : int, default=5
        Times per sweep that a birth or death of a block, a birth or death of a single row or
        column, and a split or merge are tried.
    max_submatrices : int or None, default=None
        Largest number of sub-matrices; None for no limit.
    init : {"greedy", "empty"}, default="greedy"
        Start of the chain: sub-matrices found by a greedy search, or none.
    n_init : int, default=12
        Number of greedy searches; the chain starts from the result of highest posterior density.
    clean_up : bool, default=True
        Climb from the last sample to the nearby mode of the posterior, and drop sub-matrices whose
        support is below one half: the last sample itself, which is the result with False, holds
        sub-matrices of a few entries that come and go by chance.
    standardize : bool, default=True
        Subtract the mean of X and divide by its standard deviation first, so that the priors mean
        the same for data of any scale. All parameters and attributes are in the units of X.
    row_concentration, column_concentration : float or None, default=None
        Concentrations of the two buffet processes. These and the five below are drawn with the rest
        where they are None.
    noise_precision : float or None, default=None
        Inverse variance of the noise.
    effect_mean, effect_precision : float or None, default=None
        Mean and inverse variance of the normal prior of the effects.
    background_mean, background_precision : float or None, default=None
        The same for the background.
    dense_limit : int, default=100_000_000
        Largest number of entries of a sparse X. The sampler works on a dense table of residuals, 8
        bytes per entry, and a few copies of it.
    kernel : {"auto", "numpy", "numba"}, default="auto"
        How memberships are visited: `"auto"` compiles for long chains on large data.
    random_state : int, RandomState or None, default=None
        Seed of the chain. The same seed gives the same chain.
    verbose : int, default=0
        1 logs the start and ten sweeps of the chain, 2 all of them, through the logger `"neocc"`.

    Attributes
    ----------
    row_membership_ : ndarray of bool, shape (n_rows, n_submatrices)
        Which row belongs to which sub-matrices, largest sub-matrix first.
    column_membership_ : ndarray of bool, shape (n_columns, n_submatrices)
        Which column belongs to which sub-matrices.
    row_labels_, column_labels_ : ndarray of int
        Of the sub-matrices of each row (column), the one that alone explains it best; -1 for a row
        or column in none.
    row_outliers_, column_outliers_ : ndarray of bool
        Rows and columns that belong to no sub-matrix.
    n_submatrices_ : int
        Number of sub-matrices.
    effects_ : ndarray of shape (n_submatrices,)
        Effect of each sub-matrix (theta).
    support_ : ndarray of shape (n_submatrices,)
        How well the kept sweeps agree on each sub-matrix: the mean over sweeps of the best Jaccard
        index of its set of entries with a sub-matrix of the sweep, between 0 and 1.
    background_ : float
        Background (phi).
    noise_precision_ : float
        Inverse variance of the noise (tau0).
    row_concentration_, column_concentration_ : float
        Concentrations of the buffet processes in the last sample (gamma1, gamma2).
    history_ : dict of ndarray
        Per sweep: `"log_likelihood"` of the observed entries, `"n_submatrices"`,
        `"noise_precision"`, `"row_concentration"` and `"column_concentration"`.
    n_iter_ : int
        Number of sweeps made.
    n_kept_ : int
        Number of sweeps behind the co-memberships.
    row_comembership_, column_comembership_ : ndarray of shape (n_items, n_items)
        Fraction of kept sweeps in which two rows (columns) share a sub-matrix; on the diagonal, in
        which a row is in any. Computed when asked for; see `comembership` for large data.
    rows_, columns_, biclusters_ : ndarray of bool
        Sub-matrices in scikit-learn's form.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Names of the columns, where X has them.

    See Also
    --------
    NEOCC : Co-clusters of given numbers that minimise squared distances.

    Notes
    -----
    NaN marks entries that were not observed; they take no part in the likelihood. Entries of a
    sparse X that are not stored are zeros, and observed. Methods that take rows have no `mask`:
    there, NaN alone marks entries as not observed.

    References
    ----------
    K. Ishiguro, I. Sato, M. Nakano, A. Kimura and N. Ueda, "Infinite Plaid Models for Infinite
    Bi-Clustering", AAAI 2016.

    S. Jain and R. M. Neal, "A Split-Merge Markov Chain Monte Carlo Procedure for the Dirichlet
    Process Mixture Model", Journal of Computational and Graphical Statistics 13, 2004.

    Examples
    --------
    >>> import numpy as np
    >>> from neocc import InfinitePlaid
    >>> X = np.random.default_rng(0).normal(size=(30, 20))
    >>> X[:10, :8] += 5
    >>> X[6:20, 5:15] -= 4
    >>> model = InfinitePlaid(n_sweeps=20, burn_in=10, random_state=0).fit(X)
    >>> model.n_submatrices_
    2
    >>> model.row_membership_.sum(axis=0)
    array([14, 10])
    >>> model.effects_.round()
    array([-4.,  5.])
    >>> bool(model.row_comembership_[0, 9] > 0.9 > 0.1 > model.row_comembership_[0, 25])
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **{
            name: SHARED_CONSTRAINTS[name]
            for name in ("n_init", "kernel", "random_state", "verbose")
        },
        "n_sweeps": [Interval(Integral, 1, None, closed="left")],
        "burn_in": [Interval(Integral, 0, None, closed="left")],
        "thin": [Interval(Integral, 1, None, closed="left")],
        "n_moves": [Interval(Integral, 0, None, closed="left")],
        "max_submatrices": [None, Interval(Integral, 1, None, closed="left")],
        "init": [StrOptions({"greedy", "empty"})],
        "clean_up": ["boolean"],
        "standardize": ["boolean"],
        **{
            name: [None, Interval(Real, 0, None, closed="neither")]
            for name in (
                "row_concentration",
                "column_concentration",
                "noise_precision",
                "effect_precision",
                "background_precision",
            )
        },
        "effect_mean": [None, Interval(Real, None, None, closed="neither")],
        "background_mean": [None, Interval(Real, None, None, closed="neither")],
        "dense_limit": [Interval(Integral, 1, None, closed="left")],
    }

    _published: bool

    def __init__(
        self,
        *,
        n_sweeps: int = 300,
        burn_in: int = 100,
        thin: int = 5,
        n_moves: int = 5,
        max_submatrices: int | None = None,
        init: str = "greedy",
        n_init: int = 12,
        clean_up: bool = True,
        standardize: bool = True,
        row_concentration: float | None = None,
        column_concentration: float | None = None,
        noise_precision: float | None = None,
        effect_mean: float | None = None,
        effect_precision: float | None = None,
        background_mean: float | None = None,
        background_precision: float | None = None,
        dense_limit: int = 100_000_000,
        kernel: str = "auto",
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_sweeps = n_sweeps
        self.burn_in = burn_in
        self.thin = thin
        self.n_moves = n_moves
        self.max_submatrices = max_submatrices
        self.init = init
        self.n_init = n_init
        self.clean_up = clean_up
        self.standardize = standardize
        self.row_concentration = row_concentration
        self.column_concentration = column_concentration
        self.noise_precision = noise_precision
        self.effect_mean = effect_mean
        self.effect_precision = effect_precision
        self.background_mean = background_mean
        self.background_precision = background_precision
        self.dense_limit = dense_limit
        self.kernel = kernel
        self.random_state = random_state
        self.verbose = verbose

    _keeping_earlier_fit = BaseNEO._keeping_earlier_fit

    @with_callbacks
    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, *, mask: Any = None) -> InfinitePlaid:
        """Draw a chain of samples for X.

        Interrupting a fit (Ctrl-C) keeps the last finished sweep in the attributes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            The data. NaN marks entries that were not observed. Sparse data are made dense, up to
            `dense_limit` entries.
        y : None
            Ignored.
        mask : array-like or sparse matrix of bool, shape (n_rows, n_columns), default=None
            True marks further entries to be treated as not observed.

        Returns
        -------
        self : InfinitePlaid
            The fitted estimator.
        """
        with self._keeping_earlier_fit():
            values, observed = read_dense(self, X, mask, self.dense_limit)
            units = Units.of(values, observed) if self.standardize else Units()
            data = Field(units.standardized(values, observed), observed)
            seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
            n_searches = 0 if self.init == "empty" else self.n_init
            n_sweeps = self.n_sweeps + _SWEEPS_PER_SEARCH * n_searches
            kernels = get_plaid_kernels(self.kernel, sum(data.shape) * n_sweeps)
            with Workers(1):  # one BLAS thread: the same sums on every machine
                self._run(data, units, kernels, np.random.default_rng(seed))
        return self

    def _run(
        self, data: Field, units: Units, kernels: PlaidKernels, rng: np.random.Generator
    ) -> None:
        """Run the chain and publish its end, also that of a chain that was interrupted."""
        trace = Trace()
        progress = Progress(self, "sweep", self.n_sweeps, 0, self.verbose)
        interrupt: KeyboardInterrupt | None = None
        try:
            for _ in progress.around(sweeps(self, data, units, kernels, trace, progress, rng)):
                pass
            progress.end()
        except KeyboardInterrupt as error:
            interrupt = error
        if trace.last is not None:
            state = State(data, trace.last)
            try:
                if self.clean_up:
                    take_chance_out(state, kernels, trace)
            except KeyboardInterrupt as error:
                state, interrupt = State(data, trace.last), error
            self._publish(state, units, trace)
            self._published = True
        if interrupt is not None:
            raise interrupt
