"""Where the rows live: shards, and schedulers that call methods of all of them.

`open_engine` opens an engine in this process, for data in memory or on disk; `on_cluster` puts the
rows on the workers of a Dask cluster.
"""

from __future__ import annotations

from neocc.engines.cluster import ClusterLostError, on_cluster
from neocc.engines.gpu import GpuError, GpuMemoryError, on_gpu
from neocc.engines.local import LocalShards, open_engine
from neocc.engines.matrix import DenseMatrix, Matrix, SparseMatrix
from neocc.engines.passes import PassOptions
from neocc.engines.space import MemoryLimitError
from neocc.engines.stored import RowSource
from neocc.engines.workers import Workers

__all__ = [
    "ENGINE_NAMES",
    "ClusterLostError",
    "DenseMatrix",
    "GpuError",
    "GpuMemoryError",
    "LocalShards",
    "Matrix",
    "MemoryLimitError",
    "PassOptions",
    "RowSource",
    "SparseMatrix",
    "Workers",
    "on_cluster",
    "on_gpu",
    "open_engine",
]

ENGINE_NAMES = ("auto", "memory", "blocks", "gpu")
