"""Both ends of the chain: greedy starts, the climb to a mode, and what is kept in between."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.plaid.simulate import draw_clear_state, draw_dishes
from neocc.rivals.plaid import cleaning, start, trace
from neocc.rivals.plaid.chain import sweep
from neocc.rivals.plaid.conditionals import draw_levels, set_levels, set_memberships
from neocc.rivals.plaid.kernels import numpy_
from neocc.rivals.plaid.model import Prior, log_set_weights
from neocc.rivals.plaid.state import Field, Sample, State

PRIOR = Prior()


def make_state(seed=0, shape=(30, 20)):
    return draw_clear_state(shape, np.random.default_rng(seed), K=(2, 3), largest_share=0.5)


def same_sets(found, state):
    def listed(rows, columns):
        return sorted((tuple(A), tuple(B)) for A, B in zip(rows, columns, strict=True))

    return listed(found.rows, found.columns) == listed(state.rows, state.columns)


def density_by_hand(state):
    """Log density of sets and noise with effects at their means: a stand-in for small noise."""
    p = state.parameters
    value = state.log_likelihood + state.K * math.log(p.gamma1 * p.gamma2)
    for n, members in zip(state.data.shape, state.sets, strict=True):
        value += log_set_weights(n, members.sum(axis=1)).sum()
    return value - math.lgamma(state.K + 1)


# ------------------------------------------------------------------------------------- start


def test_an_empty_start_explains_everything_as_noise():
    data = make_state().data
    state = start.empty_start(data, PRIOR)
    assert state.K == 0
    assert state.phi == pytest.approx(data.values.mean())
    assert 1 / state.parameters.tau0 == pytest.approx(data.values.var(), rel=0.05)


def test_given_parameters_stay():
    prior = Prior(given={"tau0": 3.0, "gamma1": 0.2})
    state = start.empty_start(make_state().data, prior)
    assert (state.parameters.tau0, state.parameters.gamma1) == (3.0, 0.2)
    rng = np.random.default_rng(0)
    for _ in range(3):
        sweep(state, prior, numpy_, 1, rng)
    assert (state.parameters.tau0, state.parameters.gamma1) == (3.0, 0.2)
    assert state.parameters.gamma2 != 1.0


@pytest.mark.parametrize("seed", range(3))
def test_the_best_of_some_greedy_starts_finds_clear_sub_matrices(seed):
    truth = make_state(seed)
    found = start.best_start(truth.data, PRIOR, numpy_, 4, np.random.default_rng(seed))
    assert found.K == truth.K
    assert same_sets(found, truth)


def test_a_start_respects_the_largest_number():
    truth = make_state(1)
    prior = Prior(max_submatrices=1)
    found = start.greedy_start(truth.data, prior, numpy_, 2, np.random.default_rng(0))
    assert found.K == 1


def test_noise_has_no_sub_matrices():
    rng = np.random.default_rng(0)
    data = Field(rng.normal(size=(30, 20)), None)
    assert start.best_start(data, PRIOR, numpy_, 2, rng).K == 0


@pytest.mark.parametrize("missing", [False, True])
def test_the_density_of_starts_ranks_collections_as_exact_sums_do(missing):
    # Ratios of densities with and without a sub-matrix are those that births weigh.
    from neocc.rivals.plaid.births import log_gain
    from neocc.rivals.plaid.state import stacked

    state = make_state(2)
    if missing:
        observed = (np.random.default_rng(0).random(state.data.shape) < 0.8).astype(float)
        data = Field(state.data.values * observed, observed)
        state = State(data, state.sample)
    one = state.sample
    one = replace(one, rows=one.rows[:1], columns=one.columns[:1], theta=one.theta[:1])
    with_it = State(state.data, one)
    without = State(
        state.data, replace(one, rows=one.rows[:0], columns=one.columns[:0], theta=one.theta[:0])
    )
    sets = one.rows[0], one.columns[0]
    moments = without.residual.moments(stacked(sets))
    gain = log_gain(state.data.shape, 0, sets, moments, state.parameters)
    difference = start.log_density(with_it, PRIOR) - start.log_density(without, PRIOR)
    assert difference == pytest.approx(gain)


# ---------------------------------------------------------------------------------- cleaning


def test_cleaning_takes_away_chance_and_keeps_the_rest():
    truth = make_state(0)
    state = State(truth.data, truth.sample)
    rng = np.random.default_rng(0)
    for _ in range(5):
        rows, columns = (np.arange(n) == rng.integers(n) for n in truth.data.shape)
        state.add((rows, columns), 0.5)
    state.rows[0, np.flatnonzero(state.rows[0])[0]] = False
    state.refresh()
    cleaning.clean_up(state, numpy_)
    assert same_sets(state, truth)


@pytest.mark.parametrize("side", [0, 1])
def test_cleaning_joins_pieces(side):
    truth = make_state(1)
    state = State(truth.data, truth.sample)
    (rows, columns), theta = state.remove(0)
    members = (rows, columns)[side]
    half = members & (np.cumsum(members) <= members.sum() // 2)
    for piece in (half, members & ~half):
        state.add((piece, columns) if side == 0 else (rows, piece), theta)
    assert state.K == truth.K + 1
    cleaning.clean_up(state, numpy_)
    assert same_sets(state, truth)


@pytest.mark.parametrize("seed", range(3))
def test_cleaning_never_lowers_the_density(seed):
    rng = np.random.default_rng(seed)
    state = make_state(seed)
    for _ in range(10):
        sweep(state, PRIOR, numpy_, 3, rng)
    before = start.log_density(state, PRIOR)
    cleaning.clean_up(state, numpy_)
    assert start.log_density(state, PRIOR) > before
    again = state.sample
    cleaning.clean_up(state, numpy_)
    assert same_sets(state, again)


def test_cleaning_nothing():
    state = start.empty_start(make_state().data, PRIOR)
    cleaning.clean_up(state, numpy_)
    assert state.K == 0


def test_modes_of_conditionals():
    state = make_state(3)
    set_levels(state)
    levels = np.append(state.theta, state.phi)
    draws = []
    rng = np.random.default_rng(0)
    for _ in range(2_000):
        draw_levels(state, rng)
        draws.append(np.append(state.theta, state.phi))
    error = np.std(draws, axis=0) / math.sqrt(len(draws))
    assert (np.abs(np.mean(draws, axis=0) - levels) < 4 * error).all()
    before = density_by_hand(state)
    set_memberships(state, numpy_)
    assert density_by_hand(state) >= before


# ------------------------------------------------------------------------------------- trace


def make_trace(n_samples=7, shape=(13, 9)):
    rng = np.random.default_rng(0)
    kept, samples = trace.Trace(), []
    base = make_state(0, (20, 15))
    for number in range(n_samples):
        K = number % 4
        rows, columns = (draw_dishes(n, K, rng) for n in shape)
        sample = Sample(rows, columns, np.zeros(K), 0.0, base.parameters)
        kept.record(State(Field(np.zeros(shape), None), sample), keep=number != 3)
        if number != 3:
            samples.append(sample)
    return kept, samples


def test_every_sweep_is_noted_and_some_are_kept():
    kept, samples = make_trace()
    assert kept.n_submatrices == [number % 4 for number in range(7)]
    assert len(kept.log_likelihood) == 7
    assert len(kept.rows) == len(kept.columns) == len(samples) == 6
    assert kept.last is not None
    np.testing.assert_array_equal(kept.last.rows, samples[-1].rows)


@pytest.mark.parametrize("side", ["rows", "columns"])
def test_comembership_counts_samples_in_which_two_items_meet(side):
    kept, samples = make_trace()
    n_items = getattr(samples[0], side).shape[1]
    expected = np.zeros((n_items, n_items))
    for sample in samples:
        for i, j in itertools.product(range(n_items), repeat=2):
            expected[i, j] += any(members[i] and members[j] for members in getattr(sample, side))
    found = trace.comembership(getattr(kept, side), n_items, np.arange(n_items))
    np.testing.assert_allclose(found, expected / len(samples))
    some = trace.comembership(getattr(kept, side), n_items, np.array([2, 0]))
    np.testing.assert_array_equal(some, found[[2, 0]])


def test_comembership_of_no_samples():
    np.testing.assert_array_equal(trace.comembership([], 3, np.arange(3)), np.zeros((3, 3)))


def test_support_is_the_mean_best_jaccard_index():
    kept, samples = make_trace()
    rng = np.random.default_rng(1)
    sets = draw_dishes(13, 3, rng), draw_dishes(9, 3, rng)
    expected = np.zeros(3)
    for k, sample in itertools.product(range(3), samples):
        ours = np.outer(sets[0][k], sets[1][k])
        best = 0.0
        for A, B in zip(sample.rows, sample.columns, strict=True):
            theirs = np.outer(A, B)
            best = max(best, (ours & theirs).sum() / (ours | theirs).sum())
        expected[k] += best / len(samples)
    np.testing.assert_allclose(trace.support((kept.rows, kept.columns), sets), expected)
