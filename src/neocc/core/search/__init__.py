"""From several starts to one solution, reproducible from a single generator.

`run_starts` carries every start to convergence; `search` goes on from there while that pays, for at
most twice as long, or, a thorough one, for the lowest objective.
"""

from __future__ import annotations

from neocc.core.search.budget import n_search_steps, search
from neocc.core.search.local import least_gain, local_search, ping_pong, rounds
from neocc.core.search.starts import Init, may_divide, may_embed, run_starts

__all__ = [
    "Init",
    "least_gain",
    "local_search",
    "may_divide",
    "may_embed",
    "n_search_steps",
    "ping_pong",
    "rounds",
    "run_starts",
    "search",
]
