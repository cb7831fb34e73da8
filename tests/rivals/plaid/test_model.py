"""Formulas of the infinite plaid model against their literal definitions."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from benchmarks.plaid import simulate
from neocc.rivals.plaid import model
from neocc.rivals.plaid.model import Parameters, Prior
from neocc.rivals.plaid.state import Field, Sample, State

PARAMETERS = Parameters(
    gamma1=0.8, gamma2=1.3, tau0=1.5, mu_theta=0.7, tau_theta=0.4, mu_phi=0.2, tau_phi=1.1
)


def make_state(seed, shape=(5, 4), K=3, missing=False, share=None):
    rng = np.random.default_rng(seed)
    share = (0.7 if missing else 1.0) if share is None else share
    observed = None if share == 1 else (rng.random(shape) < share).astype(float)
    values = rng.normal(size=shape)
    rows, columns = (simulate.draw_dishes(n, K, rng) for n in shape)
    sample = Sample(rows, columns, rng.normal(size=K), 0.3, PARAMETERS)
    return State(Field(values if observed is None else values * observed, observed), sample)


@pytest.mark.parametrize("n_items", [1, 2, 7])
def test_weights_of_sets_sum_to_the_harmonic_number(n_items):
    sizes = np.arange(1, n_items + 1)
    weights = np.exp(model.log_set_weights(n_items, sizes))
    each = [math.comb(n_items, s) * w for s, w in zip(sizes, weights, strict=True)]
    np.testing.assert_allclose(each, 1 / sizes)
    assert sum(each) == pytest.approx(model.harmonic(n_items))


@pytest.mark.parametrize(("gamma1", "gamma2"), [(1.0, 1.0), (0.1, 0.3), (5.0, 40.0)])
def test_mean_number_of_sub_matrices(gamma1, gamma2):
    shape = (6, 9)
    c2 = gamma1 * model.harmonic(6) * gamma2 * model.harmonic(9)
    K = np.arange(400)
    log_p = K * math.log(c2) - 2 * np.array([math.lgamma(k + 1) for k in K])
    p = np.exp(log_p - log_p.max())
    assert simulate.mean_K(shape, gamma1, gamma2) == pytest.approx((K * p).sum() / p.sum())


@pytest.mark.parametrize("K", [0, 1, 4])
@pytest.mark.parametrize("share", [1.0, 0.8, 0.3, 0.0], ids=lambda share: f"{share} observed")
def test_moments_are_counts_and_sums_over_entries(share, K):
    state = make_state(0, K=K, share=share)
    field = state.residual
    seen = np.ones(field.shape) if field.observed is None else field.observed
    blocks = np.einsum("ki,kj->kij", state.rows, state.columns)
    shared, sums = field.moments(state.sets, chunk=2)
    np.testing.assert_allclose(shared, np.einsum("kij,lij,ij->kl", blocks, blocks, seen))
    np.testing.assert_allclose(sums, (blocks * field.values).sum(axis=(1, 2)))
    counts, again = field.totals(state.sets)
    np.testing.assert_allclose(counts, np.diagonal(shared))
    np.testing.assert_array_equal(again, sums)


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("K", [0, 1, 3])
def test_evidence_is_a_ratio_of_marginal_likelihoods(K, missing):
    state = make_state(1, K=K, missing=missing)
    # The residual without any of them, and its density once the effects are integrated out.
    state.theta = np.zeros(K)
    state.refresh()
    seen = np.ones(20, bool) if state.data.observed is None else state.data.observed.ravel() > 0
    r = state.residual.values.ravel()[seen]
    covariance = np.eye(len(r)) / PARAMETERS.tau0
    noise = multivariate_normal(np.zeros(len(r)), covariance).logpdf(r)
    mean = np.zeros(len(r))
    for A, B in zip(state.rows, state.columns, strict=True):
        block = np.outer(A, B).ravel()[seen]
        covariance = covariance + np.outer(block, block) / PARAMETERS.tau_theta
        mean += PARAMETERS.mu_theta * block
    expected = multivariate_normal(mean, covariance).logpdf(r) - noise
    found = model.log_evidence(state.residual.moments(state.sets), PARAMETERS)
    assert found == pytest.approx(expected)


def test_effects_are_drawn_from_their_conditional():
    state = make_state(2, K=2)
    moments = state.residual.moments(state.sets)
    rng = np.random.default_rng(0)
    draws = np.array([model.draw_effects(moments, PARAMETERS, rng) for _ in range(20_000)])
    P = PARAMETERS.tau_theta * np.eye(2) + PARAMETERS.tau0 * moments[0]
    b = PARAMETERS.tau_theta * PARAMETERS.mu_theta + PARAMETERS.tau0 * moments[1]
    error = np.sqrt(np.diagonal(np.linalg.inv(P)) / len(draws))
    assert (np.abs(draws.mean(axis=0) - np.linalg.solve(P, b)) < 4 * error).all()
    np.testing.assert_allclose(np.cov(draws.T), np.linalg.inv(P), rtol=0.1, atol=0.005)


@pytest.mark.parametrize("missing", [False, True])
def test_log_likelihood_is_the_normal_density_of_observed_entries(missing):
    state = make_state(3, missing=missing)
    mean = state.phi + np.einsum("k,ki,kj->ij", state.theta, state.rows, state.columns)
    density = 0.0
    for i, j in itertools.product(range(5), range(4)):
        if not missing or state.data.observed[i, j]:
            r = state.data.values[i, j] - mean[i, j]
            density += (math.log(PARAMETERS.tau0 / (2 * math.pi)) - PARAMETERS.tau0 * r**2) / 2
    assert state.log_likelihood == pytest.approx(density)


@pytest.mark.parametrize("missing", [False, True])
def test_adding_and_removing_keeps_the_residual(missing):
    state = make_state(4, missing=missing)
    before = state.residual.values.copy()
    sets, theta = state.remove(1)
    state.add(sets, theta)
    state.reorder(np.array([0, 2, 1]))
    np.testing.assert_allclose(state.residual.values, before, atol=1e-12)
    changed = state.residual.values.copy()
    state.refresh()
    np.testing.assert_allclose(state.residual.values, changed, atol=1e-12)


def test_samples_do_not_follow_the_state():
    state = make_state(5)
    sample = state.sample
    kept = sample.rows.copy(), sample.theta.copy()
    state.rows[0] ^= True
    state.theta[0] += 1
    np.testing.assert_array_equal(sample.rows, kept[0])
    np.testing.assert_array_equal(sample.theta, kept[1])


def test_dishes_given_their_number_are_those_of_the_restaurant():
    rng = np.random.default_rng(0)
    buffets = [simulate.draw_buffet(5, 1.5, rng) for _ in range(4_000)]
    n_dishes = np.array([len(buffet) for buffet in buffets])
    mean = 1.5 * model.harmonic(5)
    assert abs(n_dishes.mean() - mean) < 4 * math.sqrt(mean / len(buffets))
    told = np.concatenate(buffets)
    drawn = simulate.draw_dishes(5, len(told), rng)
    for statistic in (lambda z: z.sum(axis=1) == 1, lambda z: z[:, 0] & z[:, 4]):
        difference = statistic(told).mean() - statistic(drawn).mean()
        assert abs(difference) < 4 * math.sqrt(0.5 / len(told))


def test_states_of_the_model_respect_a_largest_number():
    rng = np.random.default_rng(0)
    prior = Prior(max_submatrices=2)
    states = [simulate.draw_state(prior, (3, 3), rng) for _ in range(50)]
    assert max(state.K for state in states) == 2


def test_clear_states_are_clear():
    for seed in range(5):
        state = simulate.draw_clear_state((40, 30), np.random.default_rng(seed))
        assert 3 <= state.K <= 6
        for members, n in zip(state.sets, (40, 30), strict=True):
            sizes = members.sum(axis=1)
            assert sizes.min() >= 5
            assert sizes.max() <= 0.6 * n
        assert np.abs(state.theta).min() >= 2
