"""One step of the chain: exact conditional draws, and moves that change the sub-matrices."""

from __future__ import annotations

import numpy as np

from neocc.core.plaid.births import birth_or_death
from neocc.core.plaid.conditionals import draw_levels, draw_memberships, draw_parameters
from neocc.core.plaid.model import Prior
from neocc.core.plaid.splits import split_or_merge
from neocc.core.plaid.state import State
from neocc.kernels.plaid import PlaidKernels


def sweep(
    state: State, prior: Prior, kernels: PlaidKernels, n_moves: int, rng: np.random.Generator
) -> None:
    """Draw every part of the state given the rest; each step leaves the posterior as it is."""
    draw_memberships(state, kernels, rng)
    for _ in range(n_moves):
        # Which kind is tried is left to chance, never to the state: mixtures of moves that leave
        # the posterior alone leave it alone.
        birth_or_death(state, prior, "block", rng)
        birth_or_death(state, prior, "row" if rng.random() < 0.5 else "column", rng)
        split_or_merge(state, prior, "area" if rng.random() < 0.5 else "equal", rng)
    draw_levels(state, rng)
    draw_parameters(state, prior, rng)
