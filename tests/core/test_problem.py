"""Counts from fractions: MATLAB's rounding, feasibility, samples."""

from __future__ import annotations

import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from instances import make_counts

from neocc.core.problem import Counts, Problem, round_half_away


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0.5, 1), (1.5, 2), (2.5, 3), (-0.5, -1), (-1.5, -2), (2.4, 2), (2.6, 3), (-2.4, -2), (0, 0)],
)
def test_halves_round_away_from_zero(value, expected):
    assert round_half_away(value) == oracle.matlab_round(value) == expected


@given(st.integers(-(10**6), 10**6), st.integers(1, 8))
def test_rounding_is_exact_for_binary_fractions(numerator, power):
    value = numerator / 2**power
    assert round_half_away(value) == oracle.matlab_round(value)


@pytest.mark.parametrize("n", [1, 2, 7, 10, 103, 2417])
@pytest.mark.parametrize("alpha", [-0.25, -0.1, 0.0, 0.2, 0.5, 3.237])
@pytest.mark.parametrize("beta", [0.0, 0.1, 0.25])
def test_counts_from_fractions(n, alpha, beta):
    T, b = oracle.counts(n, alpha, beta)
    counts = Counts.from_fractions(n, 5, alpha, beta)
    assert (counts.n_memberships, counts.max_outliers) == (T, b)
    assert counts.n_covered == n - b
    assert counts.n_extra == T - (n - b)


def test_yeast_counts():
    counts = Counts.from_fractions(2417, 14, 3.237, 0.0)
    assert counts.n_memberships == 2417 + 7824


@pytest.mark.parametrize("seed", range(50))
def test_counts_of_a_sample_are_feasible_and_in_proportion(seed):
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(20, 200)), int(rng.integers(1, 6))
    counts = make_counts(rng, n, k)
    size = int(rng.integers(k, n + 1))
    sample = counts.resized(size)
    assert sample.n_items == size
    assert 0 <= sample.max_outliers < size
    assert sample.n_covered <= sample.n_memberships <= size * k
    assert sample.max_outliers == pytest.approx(counts.max_outliers * size / n, abs=1)
    assert sample.n_memberships == pytest.approx(counts.n_memberships * size / n, abs=1)


def test_one_way_problem_keeps_one_side():
    rows, columns = Counts(5, 2, 6, 1), Counts(4, 2, 4, 0)
    problem = Problem("residue", rows, columns, max_iter=50, tol=1e-3)
    assert problem.one_way("rows", 7) == Problem("vectors", rows, None, 7, 1e-3)
    assert problem.one_way("columns", 7) == Problem("vectors", None, columns, 7, 1e-3)
