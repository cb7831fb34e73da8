"""The checkpoint of a fit: what it is a checkpoint of, and when it is written."""

from __future__ import annotations

import zlib
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse

from neocc._typing import AnyArray
from neocc.core.checkpoints import Journal
from neocc.core.engine import Engine
from neocc.core.problem import Problem
from neocc.engines import Matrix, SparseMatrix
from neocc.engines.stored import source_of
from neocc.kernels import SparseBlock

__all__ = ["open_journal"]

# Where and how fast a fit runs does not change its result, but for last digits on a GPU.
_WITHOUT_EFFECT = {"checkpoint", "engine", "memory_limit", "n_jobs", "verbose"}


def open_journal(
    estimator: Any, matrix: Matrix, engine: Engine, problem: Problem, **options: Any
) -> Journal:
    """Return the journal of a fit: what an earlier attempt reached, and where this one is noted.

    Other `options` are fields of the journal.
    """
    checkpoint: Any = getattr(estimator, "checkpoint", None)
    if checkpoint is None:
        return Journal(**options)
    missing = [name for name in ("load", "save", "is_due") if not hasattr(checkpoint, name)]
    if missing:
        raise TypeError(
            f"checkpoint must be a neocc.io.Checkpoint; got {checkpoint!r}. Write "
            f"checkpoint=neocc.io.Checkpoint({str(checkpoint)!r})."
        )
    if not isinstance(estimator.random_state, Integral):
        raise ValueError(
            "A fit can only go on from a checkpoint if its seed is known; got random_state="
            f"{estimator.random_state!r}. Give an int."
        )
    fingerprint = _fingerprint(estimator, matrix)
    for side, weights in (("row", problem.row_weights), ("column", problem.column_weights)):
        if weights is not None:
            fingerprint[f"{side}_weight"] = _plain(weights)
    state = checkpoint.load(fingerprint) or {}
    engine.reads.passes += float(state.get("n_passes") or 0.0)

    def write(state: dict[str, Any]) -> None:
        if checkpoint.is_due():
            checkpoint.save(fingerprint, {**state, "n_passes": engine.reads.passes})

    return Journal(write, state, **options)


def _fingerprint(estimator: Any, matrix: Matrix) -> dict[str, Any]:
    """Return all that decides over the result, in values that JSON can hold."""
    parameters = {
        name: _plain(value)
        for name, value in estimator.get_params(deep=False).items()
        if name not in _WITHOUT_EFFECT
    }
    return {
        "estimator": type(estimator).__name__,
        **parameters,
        "shape of the data": list(matrix.shape),
        "digest of the data": _digest(matrix),
    }


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if sparse.issparse(value):
        value = value.toarray()
    if isinstance(value, tuple | list):
        return [_plain(one) for one in value]
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.shape} {_crc(value)}"
    return value if value is None or isinstance(value, bool | int | float | str) else repr(value)


def _digest(matrix: Matrix, n_entries: int = 1 << 22) -> str:
    """Return what tells data from others, read so many entries at a time."""
    source = source_of(matrix)
    if source is not None:
        known = getattr(source, "digest", None)
        return str(known or [source.n_stored, source.edges.tolist()])
    sums: list[int] = []
    for rows in matrix.partition(n_entries):  # a block at a time: some come from a card
        block = matrix.block(*rows)
        parts: list[Any] = [block]
        if isinstance(block, SparseBlock):
            at = block.stored()
            parts = [block.indices[at], block.data[at]]
            parts += [] if block.weights is None else [block.weights[at]]
        sums = [_crc(part, sum_) for part, sum_ in zip(parts, sums or [0] * 3, strict=False)]
    if isinstance(matrix, SparseMatrix):
        sums.append(_crc(matrix.indptr))
    return " ".join(map(str, sums))


def _crc(array: AnyArray, before: int = 0) -> int:
    return zlib.crc32(np.ascontiguousarray(array).data.cast("B"), before) if array.size else before
