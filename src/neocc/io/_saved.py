"""What a model file holds, and how it takes data: in the form of those that it was fitted to."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from sklearn.utils import get_tags

from neocc.engines import RowSource
from neocc.estimators._fitted import memberships
from neocc.io._matrix import Matrix

__all__ = ["SavedModel", "keep_steps"]

_STEPS = "preprocessing_"


@dataclass(frozen=True)
class SavedModel:
    """What a model file holds.

    Attributes
    ----------
    estimator : estimator
        Fitted, ready to predict.
    row_names, column_names : tuple of str or None
        Names in the order of the fit.
    version : str
        The version of neocc that wrote the file.
    """

    estimator: Any
    row_names: tuple[str, ...] | None
    column_names: tuple[str, ...] | None
    version: str

    def prepare(self, matrix: Matrix) -> Any:
        """Bring new rows into the form of the data that the estimator was fitted to.

        Columns are matched by name where both have names; then come the steps of preprocessing
        that the model carries (`keep_steps`).

        Parameters
        ----------
        matrix : Matrix
            The rows.

        Returns
        -------
        X : array, csr_array or block store
            For `predict` and `transform` of the estimator.
        """
        n_columns = self.estimator.n_features_in_
        if self.column_names is not None and matrix.column_names is not None:
            matrix = matrix.align_columns(self.column_names)
        elif matrix.shape[1] != n_columns:
            raise ValueError(
                f"{matrix.source}: It has {matrix.shape[1]} columns, the model {n_columns}. Use a "
                "file with the same columns."
            )
        kept = getattr(self.estimator, _STEPS, None)
        if kept is None:
            return matrix.data
        if isinstance(matrix.data, RowSource):
            raise ValueError(
                f"{matrix.source}: The model preprocesses its rows, and a block store is used as "
                "it is. Name a file."
            )
        # Data are filled for steps that take no sparse data, too: those of the fit were dense.
        sparse_too = all(get_tags(step).input_tags.sparse for step in kept["steps"])
        X = (matrix.filled() if kept["dense"] or not sparse_too else matrix).data
        for step in kept["steps"]:
            X = step.transform(X)
        return X

    def matrix_of_fit(self, matrix: Matrix) -> Matrix:
        """Return the matrix of the fit as it was clustered, from what its file holds.

        Parameters
        ----------
        matrix : Matrix
            The file; rows may be in another order, where they have names.

        Returns
        -------
        matrix : Matrix
            Its rows in the order of the fit, prepared.
        """
        n_rows, n_columns = len(memberships(self.estimator)[0]), self.estimator.n_features_in_
        if matrix.shape[0] != n_rows:
            raise ValueError(
                f"{matrix.source}: It has {matrix.shape[0]} rows and {matrix.shape[1]} columns, "
                f"the model was fitted to {n_rows} and {n_columns}. Name the file of the fit."
            )
        if self.row_names is not None and matrix.row_names is not None:
            matrix = matrix.align_rows(self.row_names)
        return replace(matrix, data=self.prepare(matrix), column_names=self.column_names)


def keep_steps(model: Any, preprocessor: Any, *, dense: bool) -> None:
    """Give a fitted model the steps that its data went through, `dense` if they were filled."""
    steps = [] if preprocessor is None else [step for _, step in preprocessor.steps]
    if steps or dense:
        setattr(model, _STEPS, {"dense": dense, "steps": steps})
