"""The engine for clusters of machines: blocks of rows on the workers of Dask.

`held` is what workers hold, `rows` what they do with it, `tasks` hands that to them. `layout` cuts
the rows, `assigning` is the row step, and `engine` is the engine.
"""

from __future__ import annotations

from neocc.engines.cluster.engine import DaskEngine
from neocc.engines.cluster.tasks import ClusterLostError, find_client

__all__ = ["ClusterLostError", "DaskEngine", "find_client"]
