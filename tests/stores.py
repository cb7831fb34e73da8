"""Stores for tests: matrices of a few kinds, and how to spoil a file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy import sparse

CONTAINERS = ("dense", "sparse")


def planted(container: str, n: int = 160, m: int = 40, seed: int = 0):
    """Draw a matrix with co-clusters, overlap and noise; a sparse one has a third of its cells."""
    rng = np.random.default_rng(seed)
    rows, columns = rng.random((n, 4)) < 0.3, rng.random((m, 3)) < 0.4
    X = rows @ rng.normal(scale=3.0, size=(4, 3)) @ columns.T + rng.normal(size=(n, m))
    if container == "dense":
        return X + 50.0 * rng.normal(size=(n, 1))
    return sparse.csr_array(np.where(rng.random((n, m)) < 0.3, X, 0.0))


def flip(path: Path, at: int = -1) -> None:
    """Change one byte of a file."""
    content = bytearray(path.read_bytes())
    content[at] ^= 0x10
    path.write_bytes(bytes(content))
