"""Items that count as several: the objective, half-steps and gains are those of repeated items."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import oracle
import pytest
from instances import KINDS, Instance, make_instance
from sides import Setting, literal_distances, literal_objective

from neocc.core.overlap import OVERLAP_MODELS, Scores, followed_clusters
from neocc.core.problem import Counts
from neocc.core.sizes import Wanted, offer_moves
from neocc.core.steps import half_step, make_features, make_terms
from neocc.kernels import Memberships

MODELS = tuple(OVERLAP_MODELS)
CASES = [
    (case, model)
    for case in ("mean", "residue", "rows", "columns")
    for model in MODELS
    if (case == "mean" or model != "either") and (case, model) != ("residue", "sum")
]


def draw(seed, case, model, largest=9, **options):
    """A random instance whose rows and columns have weights of 1, 2 or 3."""
    rng = np.random.default_rng(seed)
    most = None if model == "repeat" else 3
    instance = make_instance(rng, KINDS[seed % len(KINDS)], largest, most)
    if model == "either":
        n, l = instance.V.shape  # noqa: E741
        V = np.eye(l, dtype=bool)[rng.integers(l, size=n)]
        instance = replace(instance, V=V, columns=Counts(n, l, n, 0))
    a, b = (rng.integers(1, 4, size=size).astype(float) for size in instance.X.shape)
    options = {"overlap_model": OVERLAP_MODELS[model](most), **options}
    if case != "columns":
        options["row_weights"] = a
    if case != "rows":
        options["column_weights"] = b
    return Setting(case, instance, **options)


def ample(seed, case, model):
    """An instance whose clusters all have several members."""
    rng = np.random.default_rng(seed)
    n, m, k, l = 9, 8, 3, 2  # noqa: E741
    U = np.eye(k, dtype=bool)[np.arange(n) % k] | (rng.random((n, k)) < 0.3)
    V = np.eye(l, dtype=bool)[np.arange(m) % l] | (rng.random((m, l)) < 0.2)
    U[0] = False
    counts = [Counts(*each.shape, int(each.sum()), 1) for each in (U, V)]
    instance = Instance("ample", rng.normal(size=(n, m)), *counts, U, V)
    weights = [rng.integers(1, 4, size=size).astype(float) for size in (n, m)]
    weights = [
        each if case in ("mean", "residue", side) else None
        for side, each in zip(("rows", "columns"), weights, strict=True)
    ]
    rule = OVERLAP_MODELS[model](None if model == "repeat" else 3)
    return Setting(
        case, instance, overlap_model=rule, row_weights=weights[0], column_weights=weights[1]
    )


def times(setting):
    """How often each row and each column is repeated."""
    weights = setting.problem.row_weights, setting.problem.column_weights
    return [
        np.ones(size, dtype=int) if each is None else each.astype(int)
        for size, each in zip(setting.X.shape, weights, strict=True)
    ]


def repeated(setting, U, V):
    """The data and memberships with every item repeated as often as it counts."""
    a, b = times(setting)
    X = np.repeat(np.repeat(setting.X, a, axis=0), b, axis=1)
    return X, None if U is None else np.repeat(U, a, axis=0), V if V is None else np.repeat(V, b, 0)


def literal(setting, pair):
    """The literal objective of repeated items."""
    U, V = (None if each is None else each.dense for each in pair)
    X, U, V = repeated(setting, U, V)
    model = setting.problem.overlap_model.name
    if model == "either":
        followed = followed_clusters(pair[0], pair[1].n_clusters)
        followed = np.repeat(followed, times(setting)[0], axis=0)
        return oracle.followed_objective(X, followed, V, U.shape[1])
    return literal_objective(setting.case, X, U, V, model)


@pytest.mark.parametrize(("case", "model"), CASES)
def test_the_objective_falls_and_is_that_of_repeated_items(case, model):
    for seed in range(18):
        setting = draw(seed, case, model, tol=0.0, max_iter=6)
        solution = setting.solve()
        assert abs(solution.history[-1] - literal(setting, solution.pair)) <= 1e-9 * setting.scale
        assert np.diff(solution.history).max(initial=0.0) <= 1e-9 * setting.scale
        setting.assert_feasible(solution)


@pytest.mark.parametrize("model", MODELS)
def test_clusters_of_a_least_size(model):
    for seed in range(9):
        setting = draw(seed, "mean", model, tol=0.0, max_iter=6)
        for side in setting.sides:
            counts = setting.problem.counts(side)
            fits = 2 * counts.n_clusters <= counts.n_memberships and counts.n_items > 1
            if fits and counts.n_items * (setting.problem.overlap_model.most or 9) > 4:
                smaller = replace(counts, min_size=2)
                setting.problem = setting.problem.with_counts(side, smaller)
        solution = setting.solve()
        assert abs(solution.history[-1] - literal(setting, solution.pair)) <= 1e-9 * setting.scale
        # The first step has to enlarge clusters, whatever that costs.
        assert np.diff(solution.history[2:]).max(initial=0.0) <= 1e-9 * setting.scale


@pytest.mark.parametrize("model", ["share", "average", "sum"])
def test_half_steps_of_sets_cost_no_more_than_those_that_ignore_weights(model):
    """At the same prototypes, what is chosen by weighted costs has the lower weighted cost."""
    n_lower = 0
    for seed in range(12):
        setting = ample(seed, "mean", model)
        problem = setting.problem
        pair = tuple(
            problem.weighted(side, each)
            for side, each in zip(("rows", "columns"), setting.pair, strict=True)
        )
        features = make_features(setting.engine, problem, pair)
        a = problem.row_weights
        chosen = half_step(setting.engine, problem, "rows", features, pair).members.dense
        U = replace(
            pair[0], item_weights=None, scale=problem.overlap_model.weighted(setting.pair[0]).scale
        )
        plain = replace(problem, row_weights=None)
        terms = make_terms(problem, "rows", features, pair)
        other = setting.engine.assign_rows(plain, terms, U, pair[1]).members.dense
        X, _, V = repeated(setting, None, pair[1].dense)
        X = X[np.cumsum(times(setting)[0]) - 1]
        M = problem.objective.block_means(features, *pair)
        M = setting.engine.effects.restore(M, *pair)
        costs = [a @ _set_costs(X, each, V, M, model) for each in (chosen, other)]
        assert costs[0] <= costs[1] + 1e-9 * setting.scale
        n_lower += costs[0] < costs[1] - 1e-6 * setting.scale
    assert n_lower > 0


def _set_costs(X, U, V, M, model):
    """What each row costs at given block values, literally; nothing in no cluster."""
    found = np.zeros(len(X))
    B = oracle.membership_weights(V, model)
    for p, inside in enumerate(U):
        for t in np.flatnonzero(V.any(axis=1)) if inside.any() else ():
            if model == "share":
                parts = (X[p, t] - M[inside][:, V[t]]) ** 2
                found[p] += parts.mean()
            else:
                level = oracle.membership_weights(U, model)[p] @ M @ B[t]
                found[p] += (X[p, t] - level) ** 2
    return found


@pytest.mark.parametrize("case", ["mean", "residue", "rows", "columns"])
def test_half_steps_minimise_the_cost_of_all_items(case):
    n_uneven = 0
    for seed in range(27):
        setting = draw(seed, case, "repeat", largest=4)
        pair = tuple(
            None if each is None else setting.problem.weighted(side, each)
            for side, each in zip(("rows", "columns"), setting.pair, strict=True)
        )
        U, V = (None if each is None else each.dense for each in pair)
        features = make_features(setting.engine, setting.problem, pair)
        for side in setting.sides:
            counts, given = setting.problem.counts(side), U if side == "rows" else V
            if not given.any(axis=0).all():
                continue
            n = times(setting)[0 if side == "rows" else 1]
            d = literal_distances(case, side, *repeated(setting, U, V))
            # One copy of each item, which costs as much as all of its copies.
            d = d[np.cumsum(n) - 1] * n[:, None]
            step = half_step(setting.engine, setting.problem, side, features, pair)
            least = oracle.lowest_cost(d, counts.n_memberships, counts.max_outliers)
            # Otherwise empty clusters are filled.
            if oracle.two_stage(d, counts.n_memberships, counts.n_covered).any(axis=0).all():
                assert d[step.members.dense].sum() == pytest.approx(least, abs=1e-9 * setting.scale)
                n_uneven += len(set(n)) > 1
    assert n_uneven > 5


# What rows follow changes with their clusters.
@pytest.mark.parametrize(("case", "model"), [each for each in CASES if each[1] != "either"])
def test_gains_are_those_of_all_copies(case, model):
    n_checked = 0
    for seed in range(2):
        setting = ample(seed, case, model)
        pair = tuple(
            None if each is None else setting.problem.weighted(side, each)
            for side, each in zip(("rows", "columns"), setting.pair, strict=True)
        )
        before = literal(setting, pair)
        for side in setting.sides:
            exchange = setting.exchange(side, *pair)
            at = 0 if side == "rows" else 1
            given = pair[at].dense
            for p, q in np.ndindex(given.shape):
                changed = given.copy()
                changed[p, q] ^= True
                found = -exchange.savings[p, q] if given[p, q] else exchange.costs[p, q]
                if np.isfinite(found):
                    new = list(pair)
                    new[at] = Memberships.from_dense(changed)
                    gain = literal(setting, new) - before
                    assert found == pytest.approx(gain, abs=1e-7 * setting.scale)
                    n_checked += 1
    assert n_checked > 20


def test_lists_of_items_keep_their_weights():
    rng = np.random.default_rng(0)
    U = Memberships.from_dense(rng.random((9, 3)) < 0.5)
    weights = rng.random(9) + 0.5
    for model in MODELS:
        members = OVERLAP_MODELS[model](3).weighted(U.weighing(weights))
        shares = members.shares * members.dense
        np.testing.assert_allclose(members.indicator, shares * weights[:, None])
        np.testing.assert_allclose(members.sizes, (shares * weights[:, None]).sum(axis=0))
        np.testing.assert_allclose(members.gram, shares.T @ (shares * weights[:, None]))
        joined = Memberships.joined([members.slice(0, 4), members.slice(4, 9)])
        assert (joined.item_weights == weights).all()
        assert (joined.scale == members.scale).all()
        some = members.take(np.array([1, 5]))
        assert (some.item_weights == weights[[1, 5]]).all()


def test_moves_into_small_clusters_are_offered_by_weighted_cost():
    rng = np.random.default_rng(0)
    U = Memberships.from_dense(np.eye(2, dtype=bool)[np.zeros(8, dtype=int)])
    d, weights = rng.random((8, 2)), np.array([1.0, 9.0, 1.0, 4.0, 1.0, 6.0, 2.0, 3.0])
    wanted = Wanted(np.array([1]), np.array([True, False]), 3)
    changes = weights * (d[:, 1] - d[:, 0])
    scores = Scores(d, d.argmin(axis=1), d.min(axis=1), 2, gram=np.eye(2))
    given = (U.weighing(weights), wanted)
    for found in (offer_moves(d, *given), OVERLAP_MODELS["average"](2).offers(scores, *given)):
        assert sorted(found.items) == sorted(np.argsort(changes)[:3])
        np.testing.assert_allclose(found.changes, changes[found.items])
