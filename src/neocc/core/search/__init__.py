"""From several starts to one solution, reproducible from a single generator.

`run_starts` carries every start to convergence; `budgeted_search` goes on from there while that
pays, for at most twice as long; `search` looks for the lowest objective.
"""

from __future__ import annotations

from neocc.core.search.budget import budgeted_search, n_budgeted_steps
from neocc.core.search.local import least_gain, local_search, ping_pong, rounds
from neocc.core.search.starts import Init, may_see_all, run_starts
from neocc.core.search.tournament import n_search_steps, search

__all__ = [
    "Init",
    "budgeted_search",
    "least_gain",
    "local_search",
    "may_see_all",
    "n_budgeted_steps",
    "n_search_steps",
    "ping_pong",
    "rounds",
    "run_starts",
    "search",
]
