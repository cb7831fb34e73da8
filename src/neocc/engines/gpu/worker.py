"""Shards on the cards of a cluster's workers."""

from __future__ import annotations

from functools import cache
from typing import Any

from neocc.engines.gpu.device import Device, open_card
from neocc.engines.gpu.shard import GpuShard
from neocc.engines.matrix import Matrix
from neocc.engines.workers import Workers
from neocc.kernels import Features, Kernels

__all__ = ["WorkerShard", "card_of_worker", "on_worker"]


@cache
def card_of_worker() -> Device:
    """Return the card of this process, which shards and results of a worker share."""
    device = open_card()
    # What Dask moves to another worker is on the card of that one.
    device.found_by = card_of_worker
    return device


def on_worker(matrix: Matrix, kernels: Kernels) -> WorkerShard:
    """Return rows of a cluster that are on the card of the worker that asks."""
    return WorkerShard(matrix, kernels, Workers(1), device=card_of_worker())


class WorkerShard(GpuShard):
    """Rows on the card of a worker: what travels from there are features of columns."""

    def column_features(self, *wanted: Any) -> Features:
        """Return the features of all columns over these rows."""
        return super().column_features(*wanted).here
