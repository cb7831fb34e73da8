"""The whole plaid sampler against its model: without data, and with data drawn anew each time."""

from __future__ import annotations

import math

import numpy as np
import pytest

from benchmarks.plaid import checks
from benchmarks.plaid.simulate import draw_buffet, draw_state, mean_K
from neocc.rivals.plaid import births, conditionals
from neocc.rivals.plaid.chain import sweep
from neocc.rivals.plaid.kernels import numba_, numpy_
from neocc.rivals.plaid.model import Prior, harmonic

PRIOR = Prior(gamma=(3.0, 4.0), tau=(4.0, 3.0), mu_precision=1.0)
SHAPE = (4, 3)


def some_missing():
    observed = np.ones(SHAPE)
    observed[[0, 2, 3, 3], [1, 2, 0, 1]] = 0.0
    return observed


def largest_z(n_runs, n_rounds=6, seed=0, observed=None, prior=PRIOR, kernels=numpy_):
    rng = np.random.default_rng(seed)
    z = checks.joint_test(prior, SHAPE, kernels, n_runs, n_rounds, rng, observed)
    assert len(z) == len(checks.NAMES)
    return np.abs(z).max()


# ------------------------------------------------------------------------------- joint test


@pytest.mark.parametrize("observed", [None, some_missing()], ids=["complete", "missing"])
def test_nothing_drifts(observed):
    assert largest_z(150, observed=observed) < 4


def test_nothing_drifts_without_moves(monkeypatch):
    # What is left are the exact conditionals: they need no proposals.
    monkeypatch.setattr(checks, "sweep", sweep_without_moves)
    assert largest_z(500) < 4


def sweep_without_moves(state, prior, kernels, n_moves, rng):
    sweep(state, prior, kernels, 0, rng)


def test_always_accepted_births_are_seen(monkeypatch):
    monkeypatch.setattr(births, "log_birth_ratio", lambda *_: math.inf)
    assert largest_z(60) > 8


def wrong_gamma_draw(monkeypatch):
    monkeypatch.setattr(conditionals, "harmonic", lambda _: 1.0)


def wrong_shapes(monkeypatch):
    right = conditionals._draw_gamma
    monkeypatch.setattr(
        conditionals,
        "_draw_gamma",
        lambda prior, shape, rate, rng: right(prior, shape + 0.5, rate, rng),
    )


@pytest.mark.parametrize("put_in", [wrong_gamma_draw, wrong_shapes])
def test_wrong_draws_of_parameters_are_seen(monkeypatch, put_in):
    put_in(monkeypatch)
    monkeypatch.setattr(checks, "sweep", sweep_without_moves)
    assert largest_z(500) > 5


@pytest.mark.slow
@pytest.mark.parametrize("kernels", [numpy_, numba_])
@pytest.mark.parametrize("observed", [None, some_missing()], ids=["complete", "missing"])
def test_nothing_drifts_in_many_runs(observed, kernels):
    assert largest_z(2_500, 8, seed=1, observed=observed, kernels=kernels) < 4


@pytest.mark.slow
def test_nothing_drifts_under_the_default_prior_with_a_largest_number():
    # A limit, because the default prior allows hundreds of sub-matrices now and then.
    assert largest_z(2_000, 6, seed=2, prior=Prior(max_submatrices=4)) < 4


# ------------------------------------------------------------------------------- prior only


def run_without_data(shape, gamma1, gamma2, n_sweeps, seed=0):
    """Mean number of sub-matrices, mean sizes, and shares of the smallest sizes."""
    rng = np.random.default_rng(seed)
    prior = Prior(given={"gamma1": gamma1, "gamma2": gamma2})
    state = draw_state(prior, shape, rng, observed=np.zeros(shape))
    totals = np.zeros(5)
    for _ in range(n_sweeps):
        sweep(state, prior, numpy_, 1, rng)
        sizes = state.rows.sum(axis=1), state.columns.sum(axis=1)
        totals += (
            state.K,
            sizes[0].sum(),
            sizes[1].sum(),
            (sizes[0] == 1).sum(),
            (sizes[1] == 1).sum(),
        )
    return totals[0] / n_sweeps, *(totals[1:] / totals[0])


def check_against_buffets(shape, gamma1, gamma2, found):
    n_submatrices, n_rows, n_columns, one_row, one_column = found
    assert n_submatrices == pytest.approx(mean_K(shape, gamma1, gamma2), rel=0.1)
    H1, H2 = map(harmonic, shape)
    assert n_rows == pytest.approx(shape[0] / H1, rel=0.1)
    assert n_columns == pytest.approx(shape[1] / H2, rel=0.1)
    assert one_row == pytest.approx(1 / H1, rel=0.15)
    assert one_column == pytest.approx(1 / H2, rel=0.15)


def test_without_data_the_chain_draws_from_the_buffets():
    shape, gamma1, gamma2 = (6, 5), 1.0, 1.5
    check_against_buffets(shape, gamma1, gamma2, run_without_data(shape, gamma1, gamma2, 2_000))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shape", "gamma1", "gamma2"),
    [((20, 20), 2.0, 2.0), ((30, 10), 0.5, 2.0), ((40, 60), 1.0, 1.0)],
)
def test_without_data_longer_chains_draw_from_the_buffets(shape, gamma1, gamma2):
    check_against_buffets(shape, gamma1, gamma2, run_without_data(shape, gamma1, gamma2, 15_000))


def test_the_prior_is_that_of_two_restaurants_with_equally_many_dishes():
    rng = np.random.default_rng(0)
    n_dishes = []
    while len(n_dishes) < 1_000:
        rows, columns = draw_buffet(6, 1.0, rng), draw_buffet(5, 1.5, rng)
        if len(rows) == len(columns):
            n_dishes.append(len(rows))
    expected = mean_K((6, 5), 1.0, 1.5)
    error = np.std(n_dishes) / math.sqrt(len(n_dishes))
    assert abs(np.mean(n_dishes) - expected) < 4 * error
