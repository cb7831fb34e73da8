"""Values of cells as a regression: the mean of several co-clusterings of what was observed."""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from neocc._sklearn import HasMethods, Interval, fit_context
from neocc._typing import FloatArray, IntArray
from neocc.estimators._neocc import NEOCC
from neocc.estimators._pairs import (
    as_names,
    asked_codes,
    matrices,
    names_of_parts,
    numbered,
    read_pairs,
    read_values,
    read_weights,
)
from neocc.estimators._redundancy import RedundancyWarning

__all__ = ["CellPredictor", "Reason", "Recommendation"]


class Reason(NamedTuple):
    """A row cluster and a column cluster, and how much higher the values in their block are."""

    row_cluster: int
    column_cluster: int
    level: float


class Recommendation(NamedTuple):
    """A column recommended for a row: predicted value, value expected from effects, and reasons.

    `reasons` are the blocks of the row and the column in the co-clustering with the lowest
    objective, in descending order of their levels.
    """

    column: Any
    value: float
    expected: float
    reasons: tuple[Reason, ...]


class CellPredictor(RegressorMixin, BaseEstimator):
    """Predict the values of cells, such as ratings, from observed ones.

    Several co-clusterings of the observed cells are fitted from different starts, and their
    predictions (:meth:`NEOCC.predict_cells`) averaged, which is better than using the best one.
    Samples are pairs of a row and a column, identified by any hashable values.

    Parameters
    ----------
    estimator : NEOCC, default=None
        The co-clustering to fit, with ``missing="ignore"``. None means ten row clusters and ten
        column clusters with much overlap: ``NEOCC(10, 10, overlap_model="share", row_overlap=2,
        column_overlap=2, missing="ignore", remove_effects=True, init="random", n_init=1,
        refine=False)``.
    n_models : int, default=8
        Number of co-clusterings.
    clip : bool, default=True
        Whether to clip predictions to the range of the training values.
    random_state : int, RandomState or None, default=None
        Seed of the starts.

    Attributes
    ----------
    models_ : list of NEOCC
        The fitted co-clusterings, the one with the lowest objective first.
    row_ids_, column_ids_ : list
        Identifiers of the rows and columns seen in the fit.
    value_range_ : tuple of float
        Lowest and highest training value.
    n_features_in_ : int
        2: a row and a column.

    See Also
    --------
    NEOCC : A single co-clustering and its clusters.

    Examples
    --------
    >>> import numpy as np
    >>> from neocc import NEOCC, CellPredictor
    >>> rng = np.random.default_rng(0)
    >>> users, films = rng.integers(40, size=800), rng.integers(30, size=800)
    >>> ratings = np.where((users < 20) == (films < 15), 5, 2)  # two tastes, two kinds of films
    >>> groups = NEOCC(2, 2, missing="ignore", remove_effects=True)
    >>> model = CellPredictor(groups, n_models=2, random_state=0)
    >>> model = model.fit(np.column_stack([users, films]), ratings)
    >>> model.predict([(0, 0), (0, 29), (99, 29)]).round(1)  # nobody knows user 99
    array([4.7, 2. , 3.5])
    >>> best = model.recommend(0, n=1, unseen=False)[0]
    >>> best.column < 15, len(best.reasons)
    (True, 1)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit", "predict_cells"]), None],
        "n_models": [Interval(Integral, 1, None, closed="left")],
        "clip": ["boolean"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        estimator: NEOCC | None = None,
        *,
        n_models: int = 8,
        clip: bool = True,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_models = n_models
        self.clip = clip
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> CellPredictor:
        """Fit co-clusterings to observed cells.

        Parameters
        ----------
        X : array-like of shape (n_cells, 2)
            Pairs of a row and a column: an array, a table with two columns, or a list.
        y : array-like of shape (n_cells,)
            Their values. A pair that occurs several times counts that many times, with its mean.
        sample_weight : array-like of shape (n_cells,), default=None
            Weights of the cells; cells with weight zero are left out.

        Returns
        -------
        self : CellPredictor
            The fitted predictor.
        """
        rows, columns = read_pairs(X)
        names = names_of_parts(X)
        values = read_values(y)
        if len(values) != len(rows):
            raise ValueError(f"There are {len(rows)} pairs, but {len(values)} values.")
        if not len(values):
            raise ValueError("There are no values to learn from.")
        if len(bad := np.flatnonzero(~np.isfinite(values))):
            at = int(bad[0])
            (row,), (column,) = (each[at : at + 1].tolist() for each in (rows, columns))
            raise ValueError(
                f"Values must be finite; that of {row!r} and {column!r}, number {at}, is "
                f"{values[at]:g}. Leave out the pairs that were not observed."
            )
        weights = np.ones(len(values))
        if sample_weight is not None:
            weights = read_weights(sample_weight, len(values))
            kept = weights > 0.0  # what weighs nothing is not there
            rows, columns, values, weights = (
                each[kept] for each in (rows, columns, values, weights)
            )
        self._names = names
        self._row_codes, row_codes = numbered(rows)
        self._column_codes, column_codes = numbered(columns)
        self.row_ids_, self.column_ids_ = list(self._row_codes), list(self._column_codes)
        shape = len(self.row_ids_), len(self.column_ids_)
        X, cell_weight = matrices(row_codes, column_codes, values, weights, shape)
        self.n_features_in_ = 2
        self.value_range_ = float(values.min()), float(values.max())
        seeds = check_random_state(self.random_state).randint(2**31 - 1, size=self.n_models)
        models = [self._make_model(shape, int(seed)) for seed in seeds]
        with warnings.catch_warnings():
            # Groups that coincide do no harm to predictions.
            warnings.simplefilter("ignore", RedundancyWarning)
            for model in models:
                model.fit(X, cell_weight=cell_weight)
        self.models_ = sorted(models, key=lambda model: float(model.objective_))
        self._observed = X
        return self

    def _make_model(self, shape: tuple[int, int], seed: int) -> NEOCC:
        if self.estimator is not None:
            if getattr(self.estimator, "missing", None) != "ignore":
                raise ValueError('The estimator must be a NEOCC with missing="ignore".')
            model: NEOCC = clone(self.estimator)
            model.set_params(random_state=seed)
            return model
        k, l = (min(10, size) for size in shape)  # noqa: E741
        return NEOCC(
            k,
            l,
            overlap_model="share",
            row_overlap=min(2, k - 1),
            column_overlap=min(2, l - 1),
            missing="ignore",
            remove_effects=True,
            init="random",
            n_init=1,
            refine=False,
            random_state=seed,
        )

    def predict(self, X: Any) -> FloatArray:
        """Predict the values of cells; for unseen rows and columns, from effects alone.

        Parameters
        ----------
        X : array-like of shape (n_cells, 2)
            Pairs of a row and a column.

        Returns
        -------
        values : ndarray of shape (n_cells,)
            Their values.
        """
        check_is_fitted(self)
        rows, columns = read_pairs(X)
        names_of_parts(X, self._names)
        rows = asked_codes("row", rows, self._row_codes)
        columns = asked_codes("column", columns, self._column_codes)
        return self._clipped(self._values(rows, columns))

    def _values(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Return the mean prediction; -1 stands for a row or a column that is not known."""
        found = [model._values(rows, columns) for model in self.models_]
        return np.asarray(np.mean(found, axis=0))

    def _clipped(self, values: FloatArray) -> FloatArray:
        return np.clip(values, *self.value_range_) if self.clip else values

    def recommend(self, row: Any, n: int = 10, *, unseen: bool = True) -> list[Recommendation]:
        """Return the columns with the highest predicted values for a row, with reasons.

        Parameters
        ----------
        row : hashable
            Identifier of a row; for an unseen one, the columns with the largest effects.
        n : int, default=10
            Maximum number of columns.
        unseen : bool, default=True
            Whether to leave out columns that were observed for the row.

        Returns
        -------
        recommendations : list of Recommendation
            Best first: `column`, `value`, the value `expected` from effects alone, and `reasons`,
            the blocks of the row and the column.
        """
        check_is_fitted(self)
        if not Interval(Integral, 1, None, closed="left").is_satisfied_by(n):
            raise ValueError(f"n must be a number of columns, at least 1; got {n!r}.")
        code = int(asked_codes("row", as_names([row]), self._row_codes)[0])
        columns = np.arange(len(self.column_ids_))
        if unseen and code >= 0:
            seen = self._observed.indices[slice(*self._observed.indptr[code : code + 2])]
            columns = np.setdiff1d(columns, seen)
        rows = np.full(len(columns), code)
        values = self._values(rows, columns)
        expected = self.models_[0]._by_effects(rows, columns)  # the same in all models
        best = np.argsort(-values, kind="stable")[:n]
        values = self._clipped(values)
        return [
            Recommendation(
                self.column_ids_[columns[i]],
                float(values[i]),
                float(expected[i]),
                self._reasons(code, int(columns[i])),
            )
            for i in best
        ]

    def _reasons(self, row: int, column: int) -> tuple[Reason, ...]:
        model = self.models_[0]
        if row < 0:
            return ()
        inside = np.outer(model.row_membership_[row], model.column_membership_[column])
        if model.followed_ is not None:
            inside &= model.followed_[row] == np.arange(len(inside))[:, None]
        levels = model.block_means_ - model._level
        blocks = [Reason(i, j, float(levels[i, j])) for i, j in np.argwhere(inside).tolist()]
        return tuple(sorted(blocks, key=lambda block: -block.level))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Names of two things, as a text is no table of features either.
        tags.input_tags.two_d_array = False
        tags.input_tags.string = tags.input_tags.categorical = True
        tags.no_validation = True
        tags.regressor_tags.poor_score = True  # on features that are not names
        return tags
