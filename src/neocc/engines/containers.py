"""Data of other libraries: brought into memory where that is easy, else refused with advice.

Containers are known by the package that their type comes from; none of these is imported here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import methodcaller
from os import PathLike
from typing import Any

import numpy as np

__all__ = ["in_memory"]


def in_memory(X: Any) -> Any:
    """Return X as an array, a data frame or a sparse matrix in memory, or refuse it.

    Dask's arrays and data frames are computed, lazy frames of polars collected, tensors of torch
    brought to the CPU; two-dimensional arrays of xarray become data frames, with their names.
    Masked cells are missing: NaN.
    """
    refused = _refusal(X)
    if refused is not None:
        raise TypeError(f"Input X is {refused}")
    loaded = _LOADERS.get(_kind(X))
    return X if loaded is None else loaded(X)


def _kind(X: Any) -> tuple[str, str]:
    """Return the package and the name of a type."""
    kind = type(X)
    return kind.__module__.partition(".")[0], kind.__name__


def _tensor(X: Any) -> Any:
    if X.is_sparse or "sparse" in str(X.layout):
        raise TypeError(
            "Input X is a sparse tensor of torch. Make a SciPy matrix of it: "
            "scipy.sparse.coo_array((X.values(), X.indices()), shape=X.shape) of X.coalesce()."
        )
    return X.numpy(force=True)


def _data_array(X: Any) -> Any:
    # Without coordinates there are no names, but for numbers that count.
    return X.to_pandas() if X.ndim == 2 and X.dims[1] in X.coords else X.to_numpy()


def _unmasked(X: Any) -> Any:
    return X.astype(np.float64).filled(np.nan) if X.mask.any() else X.data


_LOADERS: dict[tuple[str, str], Callable[[Any], Any]] = {
    ("dask", "Array"): methodcaller("compute"),
    ("dask", "DataFrame"): methodcaller("compute"),
    ("numpy", "MaskedArray"): _unmasked,
    ("polars", "LazyFrame"): methodcaller("collect"),
    ("torch", "Tensor"): _tensor,
    ("torch", "Parameter"): _tensor,
    ("xarray", "DataArray"): _data_array,
}


def _refusal(X: Any) -> str | None:
    """Return what X is and what to do instead; None if it may be data."""
    if isinstance(X, str | PathLike):
        return (
            f"the path {str(X)!r}, not data. Open a store with neocc.io.open_store(path), or read "
            "a file with neocc.io.read_matrix(path).data."
        )
    if hasattr(X, "obsm") and hasattr(X, "var_names"):
        return (
            "an AnnData object. Pass its matrix, adata.X or adata.layers[...]; "
            "neocc.scverse.cocluster(adata) takes it as a whole and keeps the groups in it."
        )
    if all(hasattr(X, part) for part in ("data", "row_names", "column_names")):
        return "a matrix with names. Pass the numbers, X.data."
    if _kind(X) == ("xarray", "Dataset"):
        return "a data set of xarray. Pass one of its variables: X[name]."
    if isinstance(X, list | tuple) and X:
        return _refusal_of_list(X[0])
    return None


def _refusal_of_list(first: Any) -> str | None:
    """Return what a list is whose first entry is no row of numbers."""
    if isinstance(first, str):
        return (
            "a list of texts. Count their words first, with "
            "sklearn.feature_extraction.text.CountVectorizer, say."
        )
    if isinstance(first, Mapping):
        return (
            "a list of dictionaries. Make a matrix of them: "
            "sklearn.feature_extraction.DictVectorizer().fit_transform(X)."
        )
    if isinstance(first, list) and first and isinstance(first[0], tuple) and len(first[0]) == 2:
        return (
            "a list of (id, number) pairs, such as gensim's corpora. Make a matrix of it, one row "
            "per document: gensim.matutils.corpus2csc(X).T."
        )
    return None
