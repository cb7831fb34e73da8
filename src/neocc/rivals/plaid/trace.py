"""What is kept of a chain: a few numbers of every sweep, and the memberships of some.

Numbers of sub-matrices mean nothing across samples: what is averaged is whether two items are
together in any of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from neocc._typing import FloatArray, IntArray
from neocc.rivals.plaid.state import Sample, Sets, State, areas

Packed = list[np.ndarray[tuple[int, int], np.dtype[np.uint8]]]


@dataclass
class Trace:
    """Grows with the chain."""

    last: Sample | None = None
    log_likelihood: list[float] = field(default_factory=list)
    n_submatrices: list[int] = field(default_factory=list)
    noise_precision: list[float] = field(default_factory=list)
    row_concentration: list[float] = field(default_factory=list)
    column_concentration: list[float] = field(default_factory=list)
    rows: Packed = field(default_factory=list)
    columns: Packed = field(default_factory=list)

    def record(self, state: State, *, keep: bool) -> None:
        """Note the numbers of a sweep and its sample; keep its memberships, eight to a byte."""
        self.last = state.sample
        self.log_likelihood.append(state.log_likelihood)
        self.n_submatrices.append(state.K)
        self.noise_precision.append(state.parameters.tau0)
        self.row_concentration.append(state.parameters.gamma1)
        self.column_concentration.append(state.parameters.gamma2)
        if keep:
            self.rows.append(np.packbits(state.rows, axis=1))
            self.columns.append(np.packbits(state.columns, axis=1))


def comembership(samples: Packed, n_items: int, items: IntArray) -> FloatArray:
    """Fraction of samples in which some items (rows) and all items (columns) share a sub-matrix."""
    together = np.zeros((len(items), n_items))
    for packed in samples:
        Z = np.unpackbits(packed, axis=1, count=n_items).astype(np.float32)
        together += Z[:, items].T @ Z > 0
    together /= max(1, len(samples))
    return together


def support(samples: tuple[Packed, Packed], sets: Sets) -> FloatArray:
    """Return how well samples agree on each of K sub-matrices.

    The mean over samples of the best Jaccard index, of sets of entries, with one of theirs.
    """
    shape = sets[0].shape[1], sets[1].shape[1]
    wanted = areas(sets)
    total = np.zeros(len(wanted))
    for packed in zip(*samples, strict=True):
        found = tuple(
            np.unpackbits(bits, axis=1, count=n).astype(bool)
            for bits, n in zip(packed, shape, strict=True)
        )
        shared = np.ones((len(wanted), len(found[0])))
        for ours, theirs in zip(sets, found, strict=True):
            shared *= ours.astype(float) @ theirs.T.astype(float)
        union = wanted[:, None] + areas((found[0], found[1])) - shared
        total += (shared / union).max(axis=1, initial=0.0)
    return total / max(1, len(samples[0]))
