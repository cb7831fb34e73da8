"""How well runs agree with a reference, cluster by cluster and item by item."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from neocc._typing import BoolArray, FloatArray


def jaccard(reference: BoolArray, found: BoolArray) -> FloatArray:
    """Return |a and b| / |a or b| of all pairs of clusters; two empty clusters agree."""
    both = reference.T.astype(np.float64) @ found.astype(np.float64)
    either = np.add.outer(reference.sum(axis=0), found.sum(axis=0)) - both
    return _ratio(both, either)


def matched(reference: BoolArray, found: BoolArray) -> tuple[BoolArray, FloatArray]:
    """Renumber found clusters like those of the reference: one to one, most alike in total.

    Returns the renumbered memberships and the Jaccard index of each reference cluster with its
    partner (the Hungarian method).
    """
    index = jaccard(reference, found)
    _, order = linear_sum_assignment(index, maximize=True)
    return found[:, order], index[np.arange(len(order)), order]


def item_agreement(reference: BoolArray, found: BoolArray) -> FloatArray:
    """Return the Jaccard index of each item's clusters in both; in none both times is agreement."""
    both = (reference & found).sum(axis=1).astype(np.float64)
    either = (reference | found).sum(axis=1).astype(np.float64)
    return _ratio(both, either)


def _ratio(both: FloatArray, either: FloatArray) -> FloatArray:
    ratio: FloatArray = np.divide(both, either, out=np.ones_like(both), where=either > 0)
    return ratio


@dataclass
class SideAgreement:
    """Sums, over runs, of the agreement of one side with its reference."""

    reference: BoolArray
    items: FloatArray
    clusters: FloatArray
    together: FloatArray | None

    @classmethod
    def empty(cls, reference: BoolArray, *, with_pairs: bool) -> SideAgreement:
        """Return the sums over no runs; with pairs, also those of a table of all pairs of items."""
        n, k = reference.shape
        together = np.zeros((n, n)) if with_pairs else None
        return cls(reference, np.zeros(n), np.zeros(k), together)

    def add(self, found: BoolArray) -> None:
        """Add a run."""
        renumbered, clusters = matched(self.reference, found)
        self.clusters += clusters
        self.items += item_agreement(self.reference, renumbered)
        if self.together is not None:
            indicator = found.astype(np.float32)
            self.together += indicator @ indicator.T > 0
