"""Input of the transformers: checked as the estimators check theirs."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import FLOAT_DTYPES, validate_data

from neocc.engines.containers import in_memory
from neocc.engines.reading import check_values, readable


class Preprocessor(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Base of the transformers: one output column per input column, float32 stays float32.

    Those of which `keeps_missing` is true leave NaN in arrays where they are: such a cell is
    missing, for ``NEOCC(missing="ignore")``.
    """

    keeps_missing: ClassVar[bool] = False

    def _read(self, X: Any, *, reset: bool, copy: bool = False) -> Any:
        """Return X as an array or a canonical CSR matrix of floats."""
        X = readable(X)
        X = validate_data(
            self,
            X,
            reset=reset,
            accept_sparse="csr",
            dtype=FLOAT_DTYPES,
            copy=copy,
            ensure_all_finite=False,
        )
        names = getattr(self, "feature_names_in_", None)
        if not sparse.issparse(X):
            kept = self.keeps_missing and np.isnan(X).any()
            check_values(np.where(np.isnan(X), 0, X) if kept else X, X.shape, names, None)
            return X
        if not X.has_canonical_format:
            X = X if copy else X.copy()
            X.sum_duplicates()
        check_values(X.data, X.shape, names, X)
        return X

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.keeps_missing
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def column_scaler(X: Any, *, with_mean: bool = True, with_std: bool = True) -> StandardScaler:
    """Learn means and scales of columns: 0 and 1 where a column has no cell with a value.

    scikit-learn has NaN there, which would make missing what such a column holds in new rows.
    """
    with np.errstate(divide="ignore", invalid="ignore"):  # no cells: 0 / 0
        scaler = StandardScaler(with_mean=with_mean, with_std=with_std).fit(X)
    for name, nothing in (("mean_", 0.0), ("var_", 0.0), ("scale_", 1.0)):
        if (learnt := getattr(scaler, name)) is not None:
            learnt[np.isnan(learnt)] = nothing
    return scaler


def transformed(transformer: Any, X: Any) -> Any:
    """Fit and transform X; a data frame of pandas or polars stays one."""
    X = in_memory(X)
    found = transformer.fit_transform(X)
    package = type(X).__module__.partition(".")[0]
    if not hasattr(X, "columns") or sparse.issparse(found) or package not in ("pandas", "polars"):
        return found
    if package == "pandas":
        return type(X)(found, index=X.index, columns=X.columns)
    return type(X)(found, schema=X.columns)


def refuse_sparse(X: Any, doing: str, instead: str) -> None:
    """Refuse a sparse matrix for what would fill it."""
    if sparse.issparse(X):
        n, m = X.shape
        raise ValueError(
            f"{doing} would fill the zeros of a sparse matrix: {n} x {m} values, "
            f"{8e-6 * n * m:,.1f} MB. {instead} If it fits into memory, pass X.toarray()."
        )
