"""Compiled loops that make distances of features and compare them; see `neocc.kernels.loops`."""

from __future__ import annotations

import numpy as np

from neocc._typing import FloatArray, IntArray, LabelArray
from neocc.kernels.inputs import NOISE_SCALE, SAME_SUM, TIE_SCALE
from neocc.kernels.loops import compiled, without_nan

__all__ = ["score", "take_seed"]

# Items that are scored together: loops over so many of them are vector instructions.
_STRIP = 64


@compiled
def score(
    sums: FloatArray,
    squares: FloatArray,
    products: FloatArray,
    slope: FloatArray,
    offset: FloatArray,
    scale: FloatArray,
    shrink: FloatArray,
    rate: FloatArray,
    magnitude: FloatArray,
    first: LabelArray,
    extra_items: IntArray,
    extra_clusters: LabelArray,
    member_scale: FloatArray,
    d: FloatArray,
    labels: LabelArray,
    minima: FloatArray,
) -> float:
    """Score items a strip at a time; see `neocc.kernels.numpy_.score`.

    Tables of a strip have a row for each cluster. The last strip is computed in full: what lies
    beyond the last item is not read.
    """
    n, n_clusters, n_sums = len(squares), len(offset), max(len(slope), len(shrink))
    S, D = np.zeros((n_sums, _STRIP)), np.zeros((n_clusters, _STRIP))
    norms, items, least, nearest = np.zeros((4, _STRIP))
    total, a = 0.0, 0
    for start in range(0, n, _STRIP):
        width = min(_STRIP, n - start)
        for i in range(width):
            norms[i] = squares[start + i]
            for j in range(n_sums):
                S[j, i] = sums[start + i, j]
        for i in range(_STRIP):
            items[i] = 0.0 if len(rate) else norms[i]
            least[i], nearest[i] = np.inf, 0.0
        for j in range(len(shrink)):
            for i in range(_STRIP):
                items[i] -= S[j, i] * S[j, i] * shrink[j]
        for q in range(n_clusters):
            line, x = D[q], offset[q]
            for i in range(_STRIP):
                line[i] = x + items[i]
            if len(rate):
                for i in range(_STRIP):
                    line[i] += rate[q] * norms[i]
            if len(products):
                for i in range(width):
                    x = products[start + i, q]
                    line[i] += x * scale[q] if len(scale) else x
            for j in range(0, len(slope) - 3, 4):
                x0, x1, x2, x3 = slope[j, q], slope[j + 1, q], slope[j + 2, q], slope[j + 3, q]
                for i in range(_STRIP):
                    x = line[i] + S[j, i] * x0
                    x = (x + S[j + 1, i] * x1) + S[j + 2, i] * x2
                    line[i] = x + S[j + 3, i] * x3
            for j in range(len(slope) - len(slope) % 4, len(slope)):
                x0 = slope[j, q]
                for i in range(_STRIP):
                    line[i] += S[j, i] * x0
        if len(first):
            for i in range(width):
                p = start + i
                weight = member_scale[p] if len(member_scale) else 1.0
                if first[p] >= 0:
                    total += weight * D[first[p], i]
                while a < len(extra_items) and extra_items[a] == p:
                    total += weight * D[extra_clusters[a], i]
                    a += 1
        for q in range(n_clusters):
            line = D[q]
            if magnitude[q] == np.inf:
                line[:] = np.inf
                continue
            noise = magnitude[q] * NOISE_SCALE
            for i in range(_STRIP):
                anchor = max(norms[i] * NOISE_SCALE + noise, abs(line[i]) * TIE_SCALE)
                x = (line[i] + anchor) - anchor
                line[i] = x
                nearest[i] = q if x < least[i] else nearest[i]
                least[i] = x if x < least[i] else least[i]
        for i in range(width):
            labels[start + i], minima[start + i] = nearest[i], least[i]
        if len(d):
            for i in range(width):
                for q in range(n_clusters):
                    d[start + i, q] = D[q, i]
    return total


@without_nan
def take_seed(
    closest: FloatArray, left: FloatArray, labels: LabelArray, number: int, tie: float
) -> int:
    """Take one of a few candidates; see `neocc.kernels.numpy_.take_seed`.

    Sums are added up in strips, several at a time.
    """
    n, n_candidates = len(closest), len(left)
    sums, strip = np.zeros(n_candidates), np.zeros(_STRIP)
    for c in range(n_candidates):
        strip[:] = 0.0
        n_whole = n - n % _STRIP
        for start in range(0, n_whole, _STRIP):
            for i in range(_STRIP):
                strip[i] += max(min(closest[start + i], left[c, start + i]), 0.0)
        for i in range(n - n_whole):
            strip[i] += max(min(closest[n_whole + i], left[c, n_whole + i]), 0.0)
        sums[c] = strip.sum()
    most, best = sums.min() + SAME_SUM * sums.max(), 0
    while sums[best] > most:
        best += 1
    for p in range(n):
        if left[best, p] < closest[p] - tie:
            labels[p] = number
        closest[p] = max(min(closest[p], left[best, p]), 0.0)
    return best
