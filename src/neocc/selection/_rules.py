"""The published rules for overlap and outliers, as functions of distances (methods.md, 2.4).

D_ij is the Euclidean distance of item i to k-means centre j, h(i) its nearest centre (its home) and
r_i the distance to it. Standard deviations are those of a sample (n - 1), 0 for a single value.

* Outliers: items with  r_i > mean(r) + delta * std(r).
* Overlap, first rule: pairs (i, j), j not h(i), with  D_ij <= mean_j + delta * std_j  over the r of
  the items at home in j.
* Overlap, second rule: pairs (i, j) with  D_ij / sum_j D_ij < 1 / (k + 1).
"""

from __future__ import annotations

import numpy as np

from neocc._typing import BoolArray, FloatArray, IntArray


def outlier_threshold(nearest: FloatArray, delta: float) -> float:
    """Return the distance beyond which an item is an outlier."""
    return float(nearest.mean() + delta * _deviation(nearest))


def first_thresholds(home: IntArray, nearest: FloatArray, k: int, delta: float) -> FloatArray:
    """Return the distance up to which an item joins each cluster; NaN where no item is at home."""
    thresholds = np.full(k, np.nan)
    for j in range(k):
        own = nearest[home == j]
        if len(own):
            thresholds[j] = own.mean() + delta * _deviation(own)
    return thresholds


def first_pairs(D: FloatArray, home: IntArray, thresholds: FloatArray) -> BoolArray:
    """Return the pairs that the first rule counts: none of them at home."""
    pairs: BoolArray = thresholds >= D  # False for NaN: nobody joins a cluster without items
    pairs[np.arange(len(D)), home] = False
    return pairs


def second_pairs(D: FloatArray) -> BoolArray:
    """Return the pairs that the second rule counts, those at home among them.

    An item at distance zero from all centres prefers none of them and is counted nowhere.
    """
    k = D.shape[1]
    total = D.sum(axis=1, keepdims=True)
    share = np.divide(D, total, out=np.full_like(D, 1.0 / k), where=total > 0)
    pairs: BoolArray = share < 1.0 / (k + 1)
    return pairs


def _deviation(values: FloatArray) -> float:
    return float(values.std(ddof=1)) if len(values) > 1 else 0.0
