"""Stores for tests: matrices of a few kinds, and how to spoil a file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

CONTAINERS = ("dense", "sparse")


def planted(container: str, n: int = 96, m: int = 30, seed: int = 0):
    """Draw a matrix with co-clusters, overlap and noise; a sparse one has a third of its cells."""
    rng = np.random.default_rng(seed)
    rows, columns = rng.random((n, 4)) < 0.3, rng.random((m, 3)) < 0.4
    X = rows @ rng.normal(scale=3.0, size=(4, 3)) @ columns.T + rng.normal(size=(n, m))
    if container == "dense":
        return X + 50.0 * rng.normal(size=(n, 1))
    return sparse.csr_array(np.where(rng.random((n, m)) < 0.3, X, 0.0))


# Dense matrices that may be cached would be read into memory at once.
MANY_BLOCKS = {
    "row_block": 300,
    "column_block": 300,
    "smallest_block": 300,
    "entries_per_cell": 0,
    "cached": 0,
}
"""Options of passes over small blocks."""


def same_fit(one, other) -> bool:
    """The same answer in the same number of steps; objectives may round differently."""
    assert (one.row_membership_ == other.row_membership_).all()
    assert (one.column_membership_ == other.column_membership_).all()
    assert one.n_iter_ == other.n_iter_
    np.testing.assert_allclose(one.history_, other.history_, rtol=1e-12)
    assert one.objective_ == pytest.approx(other.objective_, rel=1e-12)
    np.testing.assert_allclose(one.block_means_, other.block_means_, rtol=1e-9, atol=1e-12)
    return True


def same_bits(one, other) -> bool:
    assert same_fit(one, other)
    assert one.objective_ == other.objective_
    assert (one.history_ == other.history_).all()
    assert (one.block_means_ == other.block_means_).all()
    return True


def flip(path: Path, at: int = -1) -> None:
    """Change one byte of a file."""
    content = bytearray(path.read_bytes())
    content[at] ^= 0x10
    path.write_bytes(bytes(content))
