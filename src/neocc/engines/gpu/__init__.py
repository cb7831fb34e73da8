"""Rows on a GPU: data are put there once, and only small tables and counts cross."""

from __future__ import annotations

from neocc.engines.gpu.device import GpuError, GpuMemoryError, clear_errors, open_card
from neocc.engines.gpu.shard import GpuShard, WorkerShard, on_gpu

__all__ = [
    "GpuError",
    "GpuMemoryError",
    "GpuShard",
    "WorkerShard",
    "clear_errors",
    "on_gpu",
    "open_card",
]
