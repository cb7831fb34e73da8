"""Cells named by pairs of a row and a column, as a sparse matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_array, column_or_1d

from neocc._typing import AnyArray, BoolArray, FloatArray, IntArray
from neocc._warn import warn
from neocc.engines.changed import as_numbers

__all__ = ["UnknownIdWarning", "as_names", "asked_codes", "codes_of", "names_of_parts"]
__all__ += ["matrices", "numbered", "read_pairs", "read_values", "read_weights"]


class UnknownIdWarning(UserWarning):
    """No row (or column) that was asked for is known, but the same ids as another type are.

    A fit with the ids 1, 2 and 3 does not know "1", "2" and "3".

    Examples
    --------
    >>> import warnings
    >>> from neocc import CellPredictor, UnknownIdWarning
    >>> model = CellPredictor(n_models=1, random_state=0).fit([(1, 7), (2, 8)], [1.0, 3.0])
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     strangers = model.predict([("1", 7)])
    >>> caught[0].category is UnknownIdWarning
    True
    """


def read_pairs(pairs: Any) -> tuple[AnyArray, AnyArray]:
    """Return the rows and the columns of pairs, each as a list of names."""
    if sparse.issparse(pairs):
        raise TypeError("Sparse input is not supported: give an array of shape (n_cells, 2).")
    if not hasattr(pairs, "iloc") and hasattr(pairs, "__array__"):
        pairs = np.asarray(pairs)
    if hasattr(pairs, "iloc"):
        given = [np.asarray(pairs.iloc[:, i]) for i in range(pairs.shape[1])]
    elif isinstance(pairs, np.ndarray):
        given = list(pairs.T) if pairs.ndim == 2 else []
    else:
        pairs = list(pairs)
        # An array of pairs would turn the number in ("ann", 7) into text.
        wrong = any(isinstance(pair, str) or not hasattr(pair, "__len__") for pair in pairs)
        lengths = set() if wrong else {len(pair) for pair in pairs}
        given = [as_names(part) for part in zip(*pairs, strict=True)] if lengths == {2} else []
        given = given if pairs else [as_names(()), as_names(())]
    if len(given) != 2:
        found = f"; got n_features={len(given)}" if given else ""
        raise ValueError(
            f"Give pairs of a row and a column: an array of shape (n_cells, 2){found}."
        )
    for at, (row, column) in enumerate(zip(*(names.tolist() for names in given), strict=True)):
        if _is_nothing(row) or _is_nothing(column):
            raise ValueError(
                f"Pair {at} has no name of a row or column: got {row!r} and {column!r}."
            )
    return given[0], given[1]


def names_of_parts(pairs: Any, known: list[str] | None = None) -> list[str] | None:
    """Return the names of the two columns of a data frame; they must not be `known` the other way.

    Numbers that name rows and columns would not tell.
    """
    found = [str(name) for name in getattr(pairs, "columns", ())]
    if known is not None and found != known and found == known[::-1]:
        raise ValueError(
            f"The columns of X are {found[0]!r} and {found[1]!r}, in this order; in the fit they "
            f"were {known[0]!r} and {known[1]!r}. Give them in the order of the fit."
        )
    return found or None


def read_values(y: Any) -> FloatArray:
    """Return the values of cells as numbers."""
    given = np.asarray(y)
    if given.dtype.kind == "c":
        raise ValueError(
            f"Complex data not supported: the values are {given.dtype}. Pass the real part, the "
            "imaginary part or the modulus."
        )
    return np.asarray(column_or_1d(as_numbers("y", given).astype(np.float64)))


def read_weights(sample_weight: Any, n_cells: int) -> FloatArray:
    """Check weights of cells: one for each, finite and not negative, or one for all."""
    given = np.full(n_cells, sample_weight) if np.isscalar(sample_weight) else sample_weight
    weights = check_array(
        given,
        dtype=[np.float64, np.float32],
        ensure_2d=False,
        input_name="sample_weight",
        ensure_non_negative=True,
    )
    if weights.shape != (n_cells,):
        raise ValueError(f"sample_weight.shape == {weights.shape}, expected {(n_cells,)}!")
    if not weights.any():
        raise ValueError("sample_weight is zero for every cell: no weight is left to fit.")
    return np.asarray(weights)


def _is_nothing(name: Any) -> bool:
    """Tell what does not equal itself, such as NaN and NaT, from names."""
    try:
        return bool(name != name)  # noqa: PLR0124
    except TypeError:  # pandas.NA does not say
        return True


def as_names(names: Any) -> AnyArray:
    array = np.empty(len(names), dtype=object)
    array[:] = names
    return array


def numbered(names: AnyArray) -> tuple[dict[Any, int], IntArray]:
    """Return a number for each name, in their order or as they come where they have none."""
    listed = names.tolist()
    try:
        every = sorted(set(listed))
    except TypeError:
        every = list(dict.fromkeys(listed))
    numbers = {name: i for i, name in enumerate(every)}
    return numbers, codes_of(names, numbers)


def codes_of(names: AnyArray, numbers: dict[Any, int]) -> IntArray:
    """Return the number of each name, -1 for one that has none."""
    return np.array([numbers.get(name, -1) for name in names.tolist()], dtype=np.intp)


def asked_codes(side: str, names: AnyArray, numbers: dict[Any, int]) -> IntArray:
    """Return the number of each name, and warn if none has one that would as another type."""
    codes = codes_of(names, numbers)
    if (codes < 0).all():
        known = {_as_text(one): one for one in numbers}
        for name in names.tolist():
            if (meant := known.get(_as_text(name))) is not None:
                warn(
                    f"No {side} that was asked for is known: the fit had {meant!r} (of type "
                    f"{type(meant).__name__}), not {name!r} ({type(name).__name__}). Convert the "
                    f"ids; unknown {side}s are predicted without what is known of them.",
                    UnknownIdWarning,
                )
                break
    return codes


def _as_text(name: Any) -> str:
    whole = isinstance(name, float) and name.is_integer()
    return str(int(name) if whole else name)


def matrices(
    rows: IntArray,
    columns: IntArray,
    values: FloatArray,
    weights: FloatArray,
    shape: tuple[int, int],
) -> tuple[Any, Any]:
    """Return the matrix of cells, and their weights unless they are all one."""
    cells, at = np.unique(rows * shape[1] + columns, return_inverse=True)
    total = np.bincount(at, weights)
    means = np.bincount(at, weights * values) / total
    place = np.divmod(cells, shape[1])
    X = sparse.csr_array((means, place), shape=shape)
    alike: BoolArray = total == 1.0
    return X, None if alike.all() else sparse.csr_array((total, place), shape=shape)
