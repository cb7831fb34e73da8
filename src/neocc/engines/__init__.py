"""Where the rows live. `memory` is one machine; every engine answers `neocc.core.engine.Engine`."""

from __future__ import annotations

from typing import TypeAlias

from neocc.engines.cluster import ClusterLostError, DaskEngine
from neocc.engines.matrix import DenseMatrix, Matrix, SparseMatrix
from neocc.engines.memory import MemoryEngine
from neocc.engines.source import RowSource
from neocc.engines.space import MemoryLimitError
from neocc.engines.stored import StoredMatrix
from neocc.engines.workers import Workers

__all__ = [
    "AnyEngine",
    "ClusterLostError",
    "DaskEngine",
    "DenseMatrix",
    "Matrix",
    "MemoryEngine",
    "MemoryLimitError",
    "RowSource",
    "SparseMatrix",
    "StoredMatrix",
    "Workers",
]

ENGINE_NAMES = ("auto", "memory", "blocks")

AnyEngine: TypeAlias = MemoryEngine | DaskEngine
"""What a fit may run on."""
