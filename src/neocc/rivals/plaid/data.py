"""Data of the plaid sampler: dense, some entries perhaps not observed, in units of their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import validate_data

from neocc._typing import FloatArray
from neocc.engines.reading import READ_OPTIONS, check_values, readable


def read_dense(
    estimator: Any, X: Any, mask: Any, dense_limit: int, *, reset: bool = True
) -> tuple[FloatArray, FloatArray | None]:
    """Check X and copy it into a dense float64 array, 0 where nothing was observed.

    The second array is 1 where an entry was observed and else 0; None if all were. Without `reset`
    these are rows for a fitted estimator, of which none need be observed.
    """
    X = readable(X)
    X = validate_data(estimator, X, reset=reset, **READ_OPTIONS)
    if sparse.issparse(X):
        X = _densified(X, dense_limit)
    values: FloatArray = np.array(X, dtype=np.float64, order="C")
    missing = np.isnan(values)
    if mask is not None:
        missing |= _read_mask(mask, values.shape)
    if reset and missing.all():
        raise ValueError(
            f"X has no observed entry: all {values.size:,} are NaN or masked. There is nothing to "
            "learn from."
        )
    values[missing] = 0.0
    check_values(values, values.shape, getattr(estimator, "feature_names_in_", None), None)
    return values, (~missing).astype(np.float64) if missing.any() else None


def _densified(X: Any, dense_limit: int) -> FloatArray:
    n_rows, n_columns = X.shape
    n_entries = n_rows * n_columns
    if n_entries > dense_limit:
        raise ValueError(
            f"X is sparse with {n_rows:,} x {n_columns:,} = {n_entries:,} entries. The sampler "
            f"needs a dense table of residuals, {n_entries * 8 / 1e9:.3g} GB, and a few copies of "
            f"it; dense_limit allows {dense_limit:,} entries. Raise it to {n_entries} if there is "
            "memory for them, or pass fewer rows or columns."
        )
    dense: FloatArray = X.toarray()
    return dense


def _read_mask(mask: Any, shape: tuple[int, ...]) -> Any:
    values = mask.toarray() if sparse.issparse(mask) else np.asarray(mask)
    if values.shape != shape:
        raise ValueError(f"mask must have the shape of X, {shape}; got {values.shape}.")
    if values.dtype != np.bool_:
        if values.dtype.kind not in "iuf" or not np.isin(values, (0, 1)).all():
            raise ValueError(
                "mask must hold booleans (or 0 and 1), True where an entry is to be treated as "
                f"not observed; got dtype {values.dtype}."
            )
        values = values.astype(bool)
    return values


@dataclass(frozen=True)
class Units:
    """The chain sees (X - centre) / scale."""

    centre: float = 0.0
    scale: float = 1.0

    @classmethod
    def of(cls, values: FloatArray, observed: FloatArray | None) -> Units:
        """Mean and standard deviation of the observed entries; scale 1 if they are all equal."""
        seen = values.ravel() if observed is None else values[observed > 0]
        centre = float(seen.mean())
        scale = float(seen.std())
        # Equal numbers have a spread of rounding errors.
        return cls(centre, scale if scale > 1e-12 * abs(centre) else 1.0)

    def standardized(self, values: FloatArray, observed: FloatArray | None) -> FloatArray:
        """Observed entries in the units of the chain, 0 elsewhere."""
        result = (values - self.centre) / self.scale
        if observed is not None:
            result *= observed
        return result

    def log_density(self, n_entries: int) -> float:
        """How much larger the log density of entries is in the units of the chain than in X's."""
        return n_entries * float(np.log(self.scale))

    def parameters_from_data(self, given: dict[str, float | None]) -> dict[str, float]:
        """Parameters in the units of the chain from those in the units of X; None are left out."""
        known = {name: float(value) for name, value in given.items() if value is not None}
        for name in known:
            if name.startswith("tau"):
                known[name] *= self.scale**2
        if "mu_theta" in known:
            known["mu_theta"] /= self.scale
        if "mu_phi" in known:
            known["mu_phi"] = (known["mu_phi"] - self.centre) / self.scale
        return known
