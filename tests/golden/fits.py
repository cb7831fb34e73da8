"""Fitting a case, and its result as it is written to the file of golden results."""

from __future__ import annotations

import base64
import hashlib
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from scipy import sparse

from neocc import objective_value
from neocc.io import open_store, write_store

from .cases import Case
from .data import drawn, load

RESULTS = Path(__file__).with_name("results.json")
# Memberships with more cells are known by their digest.
_MOST_PACKED = 10_000
_N_BLOCKS = 5


class Places(ExitStack):
    """Where rows can be other than in memory; made on first use, gone at the end."""

    @cached_property
    def client(self) -> Any:
        """Two workers in this process."""
        import distributed

        return self.enter_context(
            distributed.Client(
                processes=False,
                n_workers=2,
                threads_per_worker=1,
                dashboard_address=":0",
                set_as_default=False,
            )
        )

    def store(self, X: Any) -> Any:
        """Write rows to a store of a few blocks."""
        folder = Path(self.enter_context(TemporaryDirectory())) / "store"
        write_store(folder, X, rows_per_block=-(-X.shape[0] // _N_BLOCKS))
        return open_store(folder)


def fit(case: Case, places: Places, X: Any = None) -> Any:
    """Fit a case; `X` replaces its data."""
    X = load(case.data) if X is None else X
    X = X[: X.shape[0] - case.n_new]
    options = {name: value() if callable(value) else value for name, value in case.options.items()}
    if "dask" in case.where:
        options["engine"] = places.client
    return case.model(**options).fit(places.store(X) if "store" in case.where else X)


def result(case: Case, model: Any, X: Any = None) -> dict[str, Any]:
    """Return what is compared of a fitted case, in the form of the file."""
    X = load(case.data) if X is None else X
    rows, columns = memberships(model)
    # All of plaid's results but its memberships are draws from a distribution.
    objective = getattr(model, "objective_", None)
    found: dict[str, Any] = {
        "squares": squares(X).hex(),
        "objective": None if objective is None else float(objective).hex(),
        "n_iter": int(getattr(model, "n_iter_", 0)),
        "rows": packed(rows, is_secret=case.is_local),
        "columns": None if columns is None else packed(columns, is_secret=case.is_local),
    }
    if case.n_new:
        new = X[X.shape[0] - case.n_new :]
        found["new_rows"] = packed(model.predict_membership(new))
        fractions = ("row_overlap", "row_outliers", "overlap", "outliers")
        disjoint = not any(case.options.get(name) for name in fractions)
        found["new_labels"] = model.predict(new).tolist() if disjoint else None
        found["new_distances"] = [[float(d).hex() for d in row] for row in model.transform(new)]
    return found


def memberships(model: Any) -> tuple[np.ndarray, np.ndarray | None]:
    """Return row and column memberships under whatever names an estimator has for them."""
    if hasattr(model, "row_membership_"):
        return model.row_membership_, model.column_membership_
    if hasattr(model, "membership_"):
        return model.membership_, None
    k, width = model.block_means_.shape
    rows = model.row_labels_[:, None] == np.arange(k)
    return rows, model.column_labels_[:, None] == np.arange(width)


def squares(X: Any) -> float:
    values = np.asarray(X.data if sparse.issparse(X) else X, dtype=np.float64)
    return float(np.sum(values**2))


def packed(members: np.ndarray, *, is_secret: bool = False) -> dict[str, Any]:
    """Write memberships as bits, or as a digest where they are many or not ours to pass on."""
    assert members.dtype == bool
    bits = np.packbits(members).tobytes()
    content = {"shape": list(members.shape), "n_members": int(members.sum())}
    if is_secret or members.size > _MOST_PACKED:
        return {**content, "sha256": hashlib.sha256(bits).hexdigest()}
    return {**content, "bits": base64.b64encode(bits).decode()}


def unpacked(content: dict[str, Any]) -> np.ndarray:
    shape = content["shape"]
    bits = np.frombuffer(base64.b64decode(content["bits"]), dtype=np.uint8)
    return np.unpackbits(bits, count=shape[0] * shape[1]).reshape(shape).astype(bool)


# ------------------------------------------------------------------ objectives of memberships

N_VALUES = 10


def drawn_memberships(number: int) -> tuple[Any, np.ndarray, np.ndarray]:
    """Draw data of several kinds and memberships with overlap, outliers and empty clusters."""
    rng = drawn(1000 + number)
    n, m, k, width = (int(rng.integers(*limits)) for limits in ((5, 60), (4, 40), (1, 6), (1, 5)))
    X = rng.normal(size=(n, m)) * 10.0 ** rng.integers(-3, 4)
    kind = ("dense", "sparse", "far off", "float32", "integer")[number % 5]
    if kind == "sparse":
        X = sparse.csr_array(np.where(rng.random((n, m)) < 0.3, X, 0.0))
    elif kind == "far off":
        X += 100.0 * X.std()
    elif kind == "float32":
        X = X.astype(np.float32)
    elif kind == "integer":
        X = rng.integers(0, 6, size=(n, m))
    U, V = rng.random((n, k)) < 0.4, rng.random((m, width)) < 0.5
    U[:, rng.random(k) < 0.1] = False
    return X, U, V


def values() -> list[dict[str, str]]:
    """Return `objective_value` of the drawn memberships, for both objectives."""
    found = []
    for number in range(N_VALUES):
        X, U, V = drawn_memberships(number)
        both = {name: objective_value(X, U, V, name).hex() for name in ("mean", "residue")}
        found.append({"squares": squares(X).hex(), **both})
    return found
