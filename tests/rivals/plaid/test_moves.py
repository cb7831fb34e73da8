"""Every move of the plaid sampler leaves the exact posterior alone.

On a matrix of 2 x 2 entries the posterior can be enumerated: nine kinds of sub-matrices,
collections of up to six, marginal likelihoods of four normal numbers. States are drawn from it,
moved, and compared with themselves: nothing may drift.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from functools import cache

import numpy as np
import pytest

from neocc.rivals.plaid import births, splits
from neocc.rivals.plaid.conditionals import draw_levels, draw_memberships
from neocc.rivals.plaid.kernels import numpy_
from neocc.rivals.plaid.model import Parameters, Prior
from neocc.rivals.plaid.state import Field, Sample, State

PARAMETERS = Parameters(
    gamma1=0.8, gamma2=1.0, tau0=1.5, mu_theta=0.7, tau_theta=0.4, mu_phi=0.2, tau_phi=1.0
)
X = np.array([[2.0, 2.4], [0.1, -1.0]])
OBSERVED = np.array([[1.0, 1.0], [0.0, 1.0]])
SETS = [np.array(members) for members in itertools.product([False, True], repeat=2) if any(members)]
TYPES = list(itertools.product(SETS, SETS))
CODES = {(tuple(A), tuple(B)): t for t, (A, B) in enumerate(TYPES)}
MOST = 6

MOVES = {
    "block": lambda state, prior, rng: births.birth_or_death(state, prior, "block", rng),
    "row": lambda state, prior, rng: births.birth_or_death(state, prior, "row", rng),
    "column": lambda state, prior, rng: births.birth_or_death(state, prior, "column", rng),
    "area": lambda state, prior, rng: splits.split_or_merge(state, prior, "area", rng),
    "equal": lambda state, prior, rng: splits.split_or_merge(state, prior, "equal", rng),
    "memberships": lambda state, prior, rng: draw_memberships(state, numpy_, rng),
}


def log_weight(types, seen):
    """Posterior density of a collection of kinds, effects and background integrated out."""
    p, n = PARAMETERS, int(seen.sum())
    covariance = np.eye(n) / p.tau0 + np.ones((n, n)) / p.tau_phi
    mean = np.full(n, p.mu_phi)
    log_prior = -math.lgamma(len(types) + 1)
    for t in types:
        block = np.outer(*TYPES[t]).ravel()[seen].astype(float)
        covariance += np.outer(block, block) / p.tau_theta
        mean += p.mu_theta * block
        # Of two items a set of one has weight 1/2, and so has the set of both.
        log_prior += math.log(p.gamma1 * p.gamma2 * 0.5 * 0.5)
    # Kinds that occur several times: the collection has fewer orders.
    log_prior -= sum(math.lgamma(count + 1) for count in Counter(types).values())
    r = X.ravel()[seen] - mean
    L = np.linalg.cholesky(covariance)
    log_density = -np.log(np.diagonal(L)).sum() - (np.linalg.solve(L, r) ** 2).sum() / 2
    return log_prior + log_density


@cache
def enumerate_posterior(missing):
    observed = OBSERVED if missing else None
    seen = OBSERVED.ravel() > 0 if missing else np.ones(4, dtype=bool)
    collections = [
        types
        for K in range(MOST + 1)
        for types in itertools.combinations_with_replacement(range(9), K)
    ]
    log_p = np.array([log_weight(types, seen) for types in collections])
    p = np.exp(log_p - log_p.max())
    return observed, collections, p / p.sum()


@pytest.fixture(params=[False, True], ids=["complete", "missing"])
def posterior(request):
    return enumerate_posterior(request.param)


def draw_exactly(posterior, rng):
    """Draw a state from the enumerated posterior."""
    observed, collections, p = posterior
    types = rng.permutation(np.array(collections[rng.choice(len(p), p=p)], dtype=int))
    rows, columns = (
        np.array([TYPES[t][side] for t in types], dtype=bool).reshape(len(types), 2)
        for side in (0, 1)
    )
    data = Field(X if observed is None else X * observed, observed)
    state = State(data, Sample(rows, columns, np.zeros(len(types)), 0.0, PARAMETERS))
    draw_levels(state, rng)
    return state


def describe(state):
    counts = np.zeros(9)
    for A, B in zip(state.rows, state.columns, strict=True):
        counts[CODES[tuple(A), tuple(B)]] += 1
    levels = np.arctan(state.theta).sum(), np.arctan(state.phi)
    return np.array([*counts, state.K, state.K**2, *(np.arange(4) == state.K), *levels])


def drift(posterior, move, n_runs, n_moves=4, seed=0, *, prior=None):
    """Mean change of some numbers by a move, in standard errors, and how often it moved."""
    rng = np.random.default_rng(seed)
    prior = Prior() if prior is None else prior
    changes, n_changed = [], 0
    for _ in range(n_runs):
        state = draw_exactly(posterior, rng)
        first = describe(state)
        for _ in range(n_moves):
            n_changed += bool(move(state, prior, rng))
            draw_levels(state, rng)
        changes.append(describe(state) - first)
    error = np.std(changes, axis=0, ddof=1) / math.sqrt(n_runs)
    return np.mean(changes, axis=0) / np.maximum(error, 1e-12), n_changed / (n_runs * n_moves)


@pytest.mark.parametrize("name", MOVES)
def test_no_move_drifts(posterior, name):
    z, moved = drift(posterior, MOVES[name], n_runs=100)
    assert np.abs(z).max() < 4
    assert name == "memberships" or moved > 0.05


@pytest.mark.slow
@pytest.mark.parametrize("name", MOVES)
def test_no_move_drifts_in_many_runs(posterior, name):
    z, _ = drift(posterior, MOVES[name], n_runs=5_000, seed=1)
    assert np.abs(z).max() < 4


def wrong(monkeypatch, module, name, make):
    monkeypatch.setattr(module, name, make(getattr(module, name)))


def births_always_accepted(monkeypatch):
    wrong(monkeypatch, births, "log_birth_ratio", lambda _: lambda *_: math.inf)


def births_in_no_order(monkeypatch):
    wrong(
        monkeypatch,
        births,
        "log_gain",
        lambda right: lambda shape, n, *rest: right(shape, n, *rest) + math.log(n + 1),
    )


def splits_by_fair_coins(monkeypatch):
    wrong(
        monkeypatch,
        splits,
        "log_split_ratio",
        lambda right: (
            lambda state, union, parts, weighting, _: right(
                state, union, parts, weighting, -math.log(2) * (union[0].sum() + union[1].sum() - 2)
            )
        ),
    )


def splits_in_no_order(monkeypatch):
    wrong(
        monkeypatch,
        splits,
        "log_split_gain",
        lambda right: lambda shape, n, *rest: right(shape, n, *rest) + math.log(n + 2),
    )


BUGS = [
    ("block", births_always_accepted, 200),
    ("row", births_always_accepted, 200),
    ("area", splits_by_fair_coins, 400),
    pytest.param("block", births_in_no_order, 2_000, marks=pytest.mark.slow),
    pytest.param("equal", splits_in_no_order, 2_000, marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("name", "put_in", "n_runs"), BUGS)
def test_bugs_are_seen(monkeypatch, name, put_in, n_runs):
    put_in(monkeypatch)
    z, _ = drift(enumerate_posterior(False), MOVES[name], n_runs)
    assert np.abs(z).max() > 5


@pytest.mark.parametrize("name", ["block", "row", "column", "area", "equal"])
def test_a_largest_number_is_respected(name):
    posterior = enumerate_posterior(False)
    few = np.array([len(types) <= 2 for types in posterior[1]])
    restricted = None, posterior[1], posterior[2] * few / posterior[2][few].sum()
    z, _ = drift(restricted, MOVES[name], 200, prior=Prior(max_submatrices=2))
    assert np.abs(z).max() < 4
    assert z[14] == 0  # never three


def test_the_posterior_is_enumerated_far_enough():
    _, collections, p = enumerate_posterior(False)
    assert p[[len(types) == MOST for types in collections]].sum() < 1e-4
