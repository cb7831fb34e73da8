"""Pairs of rows of bits, counted by what they share."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from neocc.metrics._pairs import count_pairs


def shared_bits(a, b):
    return int(a & b).bit_count()


@pytest.mark.parametrize("n_words", [1, 2, 5])
@pytest.mark.parametrize(("n_rows", "start", "stop"), [(1, 0, 1), (30, 0, 30), (30, 7, 20)])
def test_counts_are_those_of_a_walk_over_all_pairs(n_words, n_rows, start, stop):
    rng = np.random.default_rng(n_rows + n_words)
    words = rng.integers(2**64, size=(n_words, n_rows), dtype=np.uint64)
    words &= rng.integers(2**64, size=words.shape, dtype=np.uint64)
    scales = rng.integers(1, 4, size=n_words, dtype=np.uint32)
    weights = rng.integers(1, 2**27, size=n_rows)
    wanted = np.full(64 * int(scales.sum()) + 1, 5)
    counts = wanted.copy()
    for i, j in combinations(range(n_rows), 2):
        if start <= i < stop:
            pairs = zip(scales, words[:, i], words[:, j], strict=True)
            code = sum(int(scale) * shared_bits(a, b) for scale, a, b in pairs)
            wanted[code] += weights[i] * weights[j]
    count_pairs(words, scales, weights, start, stop, counts)
    np.testing.assert_array_equal(counts, wanted)


def test_parts_add_up_to_the_whole():
    rng = np.random.default_rng(0)
    words = rng.integers(2**64, size=(2, 2500), dtype=np.uint64)
    scales, weights = np.array([65, 1], dtype=np.uint32), rng.integers(1, 9, size=2500)
    whole, parts = np.zeros((2, 65 * 65), dtype=np.int64)
    count_pairs(words, scales, weights, 0, 2500, whole)
    for start in range(0, 2500, 700):
        count_pairs(words, scales, weights, start, min(start + 700, 2500), parts)
    np.testing.assert_array_equal(parts, whole)
    assert whole.sum() == (weights.sum() ** 2 - (weights**2).sum()) // 2
