"""Fits over observed cells: effects of rows and columns, and predictions of cells."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from neocc._sklearn import Interval, StrOptions
from neocc._typing import BoolArray, FloatArray
from neocc.core.biases import Biases, effect_step, find_biases, side_biases
from neocc.core.engine import Engine
from neocc.core.objectives import Side
from neocc.engines import Matrix, Workers
from neocc.engines.observed import ObservedMatrix
from neocc.engines.validation import read_matrix
from neocc.engines.weighing import read_weights_of_sides, weighed
from neocc.estimators._engines import make_engine
from neocc.estimators._fitted import asked_objective, used_overlap_model

__all__ = ["OBSERVED_CONSTRAINTS", "ObservedMixin", "effects_of"]

OBSERVED_CONSTRAINTS: dict[str, Any] = {
    "missing": [StrOptions({"zero", "ignore"})],
    "remove_effects": ["boolean"],
    "shrinkage": [Interval(Real, 0, None, closed="left")],
}
"""Rules for the parameters of those that can leave out cells."""


class ObservedMixin:
    """What estimators do that can leave out cells which were not observed."""

    missing: str
    remove_effects: bool
    shrinkage: float
    engine: Any
    kernel: str
    n_jobs: int | None
    overlap_model: str
    block_means_: FloatArray
    _row_members: BoolArray
    _column_members: BoolArray

    def _check_missing(self, cell_weight: Any) -> None:
        """Refuse what makes no sense together."""
        if self.missing == "zero":
            given = "cell_weight" if cell_weight is not None else "remove_effects=True"
            if cell_weight is not None or self.remove_effects:
                raise ValueError(
                    f'{given} is for observed cells: give missing="ignore" with it, so that only '
                    "stored entries of sparse data (or cells that are not NaN) count."
                )

    def _read_data(
        self, X: Any, cell_weight: Any, row_weight: Any, column_weight: Any
    ) -> tuple[Matrix, tuple[FloatArray | None, FloatArray | None]]:
        """Check the data of a fit and the weights of rows and columns.

        Data are weighed where that is a matter of the data, and have no effects any more.
        """
        self._check_missing(cell_weight)
        matrix = read_matrix(self, X, reset=True, cell_weight=cell_weight)
        weights = read_weights_of_sides(row_weight, column_weight, matrix)
        if asked_objective(self).weighs_data:
            matrix = weighed(matrix, *weights)
        return self._without_effects(matrix, *weights), weights

    def _without_effects(
        self, matrix: Matrix, rows: FloatArray | None = None, columns: FloatArray | None = None
    ) -> Matrix:
        """Find the effects of rows and columns, and subtract them from the observed cells."""
        for name in ("overall_mean_", "row_effects_", "column_effects_", "value_range_"):
            self.__dict__.pop(name, None)
        if not isinstance(matrix, ObservedMatrix):
            return matrix
        with Workers(self.n_jobs) as workers:
            engine = make_engine(matrix, self.kernel, workers, where=self.engine)
            found, values = effects_of(engine, rows, columns, effects=self.remove_effects)
        self.value_range_ = np.array(values)
        self.overall_mean_, self.row_effects_, self.column_effects_ = found
        return matrix.without(found.mean + found.rows, found.columns)

    def _without_known(
        self, matrix: Matrix, workers: Workers, side: Side, weights: FloatArray | None = None
    ) -> Matrix:
        """Subtract known effects of the other side from new items, and their own, found so."""
        if not isinstance(matrix, ObservedMatrix):
            return matrix
        mean, known = self.overall_mean_, self.column_effects_
        if side == "columns":
            known = self.row_effects_
        own = np.zeros(matrix.shape[0 if side == "rows" else 1])
        if self.remove_effects:
            engine = make_engine(matrix, self.kernel, workers)
            shape = len(self.row_effects_), len(self.column_effects_)
            values = getattr(self, "value_range_", (0.0, 0.0))  # old files have none
            step = effect_step(tuple(values), shape)
            own = side_biases(engine, side, mean, known, step, 1.0 if weights is None else weights)
        rows, columns = (own, known) if side == "rows" else (known, own)
        return matrix.without(mean + rows, columns)

    @property
    def _level(self) -> float:
        """What block means have beside what clusters explain: those of the data the mean of all."""
        with_level = self.missing == "ignore" and not self.remove_effects
        return self.overall_mean_ if with_level else 0.0

    def predict_cells(self, rows: Any, columns: Any, *, clip: bool = True) -> FloatArray:
        """Predict the values of cells, observed or not, from a fit to observed cells.

        A value is the sum of the effects of the row and the column and the mean of the blocks that
        contain both (for `"either"`, the block that the row follows there); for a row or column in
        no cluster, the effects alone.

        Parameters
        ----------
        rows, columns : array-like of int, of equal length or of shapes that broadcast
            Indices of rows and columns of the fit.
        clip : bool, default=True
            Whether to clip predictions to the range of the values that were observed.

        Returns
        -------
        values : ndarray
            A value for each pair.

        Examples
        --------
        >>> import numpy as np
        >>> from neocc import NEOCC
        >>> nan = np.nan
        >>> X = [[5, 5, 1, nan], [5, nan, 1, 1], [1, 1, 5, 5], [nan, 1, 5, 5]]
        >>> model = NEOCC(2, 2, missing="ignore", shrinkage=0, random_state=0).fit(X)
        >>> model.predict_cells([0, 3], [3, 0]).round(2)
        array([1., 1.])
        """
        check_is_fitted(self)
        if self.missing != "ignore":
            raise ValueError(
                'predict_cells needs a fit over observed cells: NEOCC(missing="ignore").'
            )
        rows, columns = np.broadcast_arrays(
            _numbers("rows", rows, len(self._row_members)),
            _numbers("columns", columns, len(self._column_members)),
        )
        values = self._values(rows, columns)
        return self._clipped(values) if clip else values

    def _clipped(self, values: FloatArray) -> FloatArray:
        """Return values within the range of the fit; files of earlier versions have none."""
        return np.clip(values, *getattr(self, "value_range_", (-np.inf, np.inf)))

    def _values(self, rows: Any, columns: Any) -> FloatArray:
        """Return the values of cells; by effects alone for rows or columns of number -1."""
        values = self._by_effects(rows, columns)
        model = used_overlap_model(self)
        members = self._row_members, self._column_members
        U, V = (each.astype(float) if model.adds else _shares(each) for each in members)
        levels, followed = self.block_means_ - self._level, getattr(self, "followed_", None)
        if followed is None:
            lines = U @ levels
        else:
            pieces = np.take_along_axis(levels, followed, axis=0)
            lines = np.where(followed >= 0, pieces, 0.0)
        parts = np.einsum("...j,...j->...", lines[rows], V[columns])
        return np.asarray(values + np.where((rows >= 0) & (columns >= 0), parts, 0.0))

    def _by_effects(self, rows: Any, columns: Any) -> FloatArray:
        """Return what effects alone predict; -1 stands for a row or a column that is not known."""
        of_rows = np.where(rows >= 0, self.row_effects_[rows], 0.0)
        of_columns = np.where(columns >= 0, self.column_effects_[columns], 0.0)
        return np.asarray(self.overall_mean_ + of_rows + of_columns)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.allow_nan = self.missing == "ignore"
        return tags


def effects_of(
    engine: Engine, rows: FloatArray | None, columns: FloatArray | None, *, effects: bool
) -> tuple[Biases, tuple[float, float]]:
    """Return the mean of the observed cells, and the effects of rows and columns of some weights.

    Without `effects` these are 0. The second result is the range of the values.
    """
    values = engine.value_range()
    if engine.n_stored == 0:
        raise ValueError(
            'Input X has no observed cell, and missing="ignore" leaves out all others. '
            "Observed are the stored entries of a sparse matrix, or the cells of an array that "
            "are not NaN."
        )
    if values[0] > values[1]:
        raise ValueError("cell_weight is 0 in every observed cell: nothing is left to fit.")
    weights = tuple(1.0 if each is None else each for each in (rows, columns))
    return find_biases(engine, effects=effects, weights=weights, values=values), values


def _numbers(name: str, given: Any, n: int) -> Any:
    """Check numbers of rows or columns."""
    numbers = np.asarray(given)
    if numbers.size == 0:
        return numbers.astype(np.intp)
    if numbers.dtype.kind not in "iu":
        raise ValueError(
            f"{name} must be whole numbers, their places in the data of the fit; got "
            f"{numbers.dtype}. CellPredictor takes names."
        )
    if numbers.min() < 0 or numbers.max() >= n:
        at = numbers.reshape(-1)[int(((numbers < 0) | (numbers >= n)).argmax())]
        raise ValueError(f"{name} must be from 0 to {n - 1}, as in the fit; got {at}.")
    return numbers


def _shares(members: BoolArray) -> FloatArray:
    """Return memberships, those of an item divided by their number."""
    return np.asarray(members / np.maximum(members.sum(axis=1, keepdims=True), 1))
