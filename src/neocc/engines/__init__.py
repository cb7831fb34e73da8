"""Where the rows live. `memory` is one machine; every engine answers `neocc.core.engine.Engine`."""

from __future__ import annotations

from neocc.engines.matrix import DenseMatrix, Matrix, SparseMatrix
from neocc.engines.memory import MemoryEngine
from neocc.engines.workers import Workers

__all__ = ["DenseMatrix", "Matrix", "MemoryEngine", "SparseMatrix", "Workers"]

ENGINE_NAMES = ("auto", "memory")
