"""The scheduler for clusters of machines: shards on the workers of Dask.

`remote` is what workers hold and do, `tasks` hands that to them, and `shards` is the scheduler.
"""

from __future__ import annotations

from neocc.engines.cluster.shards import DaskShards, on_cluster
from neocc.engines.cluster.tasks import ClusterLostError

__all__ = ["ClusterLostError", "DaskShards", "on_cluster"]
