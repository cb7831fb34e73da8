"""Keys compare as values do, and histograms of blocks add up to those of all values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neocc.core.histograms import (
    EVERYTHING,
    Histogram,
    Query,
    Window,
    at_rank,
    key_of,
    ordered_keys,
    value_of,
)

SPECIAL = np.array(
    [-np.inf, -1e300, -1.0, -5e-324, -0.0, 0.0, 5e-324, 1e-310, 1.0, np.nextafter(1, 2), np.inf]
)


def test_keys_are_ordered_as_values_are():
    keys = ordered_keys(SPECIAL)
    np.testing.assert_array_equal(np.sign(np.diff(keys)), np.sign(np.diff(SPECIAL)) > 0)
    assert [value_of(int(key)) for key in keys] == SPECIAL.tolist()


@given(st.lists(st.floats(allow_nan=False), min_size=2, max_size=30))
def test_keys_compare_as_values_do(values):
    values = np.array(values)
    keys = ordered_keys(values)
    np.testing.assert_array_equal(keys[:, None] < keys, values[:, None] < values)
    # Alone, without the others, a value has the same key.
    assert [key_of(value) for value in values] == keys.tolist()


@given(
    st.lists(st.sampled_from([-1.0, -0.5, 0.0, 1.0, 1.5, 2.0, 1e9]), min_size=1, max_size=40),
    st.sampled_from([0, 44, 60]),
    st.integers(0, 40),
)
def test_histograms_of_blocks_add_up(values, shift, cut):
    values = np.array(values)
    query = Query(EVERYTHING, None, shift)
    whole = Histogram.of(values, EVERYTHING, query)
    parts = [Histogram.of(part, EVERYTHING, query) for part in (values[:cut], values[cut:])]
    merged = Histogram.merged(parts)
    assert merged.bins.tolist() == whole.bins.tolist()
    assert merged.counts.tolist() == whole.counts.tolist()
    assert whole.counts.sum() == len(values)
    keys = ordered_keys(values) >> shift
    assert whole.at(keys).tolist() == [(keys == key).sum() for key in keys]


@given(st.lists(st.floats(-4, 4), min_size=1, max_size=40), st.floats(-4, 4), st.floats(0.0, 1.0))
def test_ranks_within_a_window_are_those_of_all_values(values, around, share):
    values = np.array(values) + 0.0
    window = Window.around(around, share)
    histogram = Histogram.of(values, window, Query(window, None, 0))
    ordered = np.sort(values)
    low, high = value_of(window.low), value_of(window.high)
    for rank in range(1, len(values) + 1):
        found, value = histogram.rank(rank), ordered[rank - 1]
        if not low <= value <= high:
            assert found is None
            continue
        number, within, size = found
        assert value_of(number) == value
        assert size == (values == value).sum()
        assert within == rank - (values < value).sum()


def test_too_many_values_are_not_told_apart():
    values = np.arange(10.0)
    window = Window.around(5.0, 0.5)
    few, none = (Histogram.of(values, window, Query(window, None, 0, most)) for most in (5, 4))
    assert few.counted
    assert few.rank(4)[0] == key_of(3.0)
    assert not none.counted
    assert none.below == few.below == 3
    assert none.rank(4) is None
    assert not Histogram.merged([few, none]).counted


@pytest.mark.parametrize("shift", [0, 44])
@pytest.mark.parametrize("special", [False, True])
@pytest.mark.parametrize("window", [EVERYTHING, Window(key_of(-2.0), key_of(3.0))])
def test_many_values_of_both_signs_are_counted_as_by_sorting(shift, special, window):
    values = np.random.default_rng(0).normal(scale=2.0, size=5000).round(1)
    values = np.concatenate([values, SPECIAL if special else []]) + 0.0
    keys = ordered_keys(values)
    inside = keys[(keys >= window.low) & (keys <= window.high)]
    bins, counts = np.unique(inside >> shift, return_counts=True)
    found = Histogram.of(values, window, Query(window, None, shift))
    np.testing.assert_array_equal(found.bins, bins)
    np.testing.assert_array_equal(found.counts, counts)
    assert found.below == (keys < window.low).sum()


@pytest.mark.parametrize("kind", ["normal", "few values", "infinite", "in columns", "in order"])
def test_the_value_of_a_rank_is_that_of_the_sorted_values(kind):
    rng = np.random.default_rng(0)
    for n in (1, 5, 1024, 5000):
        values = rng.normal(size=n)
        if kind == "few values":
            values = np.round(values)
        elif kind == "infinite":
            values[rng.random(n) < 0.4] = np.inf
        elif kind == "in columns":
            # A sample of every so many values would see one column alone.
            values += 10.0 * (np.arange(n) % 23)
        elif kind == "in order":
            values.sort()
        ordered = np.sort(values)
        for rank in {1, n, *rng.integers(1, n + 1, size=8).tolist()}:
            value, within = at_rank(values, rank)
            assert value == ordered[rank - 1]
            assert within == rank - np.searchsorted(ordered, value)
