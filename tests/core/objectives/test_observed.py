"""The mean over observed cells against its literal formula."""

from __future__ import annotations

import numpy as np
import observed
import pytest
from instances import make_engine as make_plain_engine
from instances import members
from sides import watched

from neocc.core.objectives import MEAN, OBJECTIVES, Observed, make_objective
from neocc.core.overlap import OVERLAP_MODELS
from neocc.core.problem import Counts, Problem
from neocc.core.search.local import OneSide, local_search
from neocc.core.solve import solve
from neocc.core.steps import distances, half_step, make_features

each_model = pytest.mark.parametrize("model", observed.MODELS)


def scale_of(case):
    return (case.W * case.X**2).sum() * case.U.shape[1] * case.V.shape[1] + 1e-300


@each_model
@pytest.mark.parametrize("kernel", ["numpy", "numba"])
@pytest.mark.parametrize("seed", range(30))
def test_distances_and_objective_are_the_literal_ones(model, kernel, seed):
    case = observed.draw_case(seed, model)
    of, engine = case.problem.objective, observed.make_engine(case.X, case.W, kernel)
    U, V = case.pair
    features = make_features(engine, case.problem, (U, V))
    M = observed.literal_table(case.X, case.W, case.U, case.V, model, of.shrinkage)
    np.testing.assert_allclose(of.block_means(features, U, V), M, rtol=1e-10, atol=1e-13)
    expected = case.literal(case.U, case.V)
    close = {"rtol": 1e-10, "atol": 1e-12 * scale_of(case)}
    np.testing.assert_allclose(of.value(features, U, V), expected, **close)
    for side in ("rows", "columns"):
        step = half_step(engine, case.problem, side, features, (U, V))
        np.testing.assert_allclose(step.objective + of.constant(engine), expected, **close)
    for side, X, W, other, table in (
        ("rows", case.X, case.W, case.V, M),
        ("columns", case.X.T, case.W.T, case.U, M.T),
    ):
        d = distances(engine, case.problem, side, (U, V))
        for p, q in np.ndindex(d.shape):
            by_hand = observed.literal_distance(p, q, X, W, other, table, model, of.background)
            np.testing.assert_allclose(d[p, q], by_hand, **close)


@each_model
@pytest.mark.parametrize("seed", range(20))
def test_no_other_table_has_a_lower_objective(model, seed):
    case = observed.draw_case(seed, model)
    of, rng = case.problem.objective, np.random.default_rng(seed)
    arguments = case.X, case.W, case.U, case.V, model, of.shrinkage
    M = observed.literal_table(*arguments)
    lowest = observed.literal_objective(*arguments, of.background)
    for size in (1e-3, 1.0):
        other = M + size * rng.normal(size=M.shape)
        found = observed.literal_objective(*arguments, of.background, other)
        assert found >= lowest - 1e-12 * scale_of(case)


def check_runs(model, seeds):
    """No half-step raises the literal objective, and each knows it; counts are met."""
    n_steps = n_lower = n_all_zero = 0
    for seed in seeds:
        case = observed.draw_case(seed, model, largest=6)
        engine = observed.make_engine(case.X, case.W)
        problem = case.problem.sparing_all_zero(engine)
        with watched() as steps:
            solution = solve(engine, problem, case.pair)
        constant, limit = case.problem.objective.constant(engine), 1e-9 * scale_of(case)
        history = [case.literal(*(each.dense for each in step.before)) for step in steps]
        n_lower += observed.check_run(steps, solution, history, problem, constant, limit, seed)
        for found, all_zero in zip(
            solution.pair, (problem.row_all_zero, problem.column_all_zero), strict=True
        ):
            assert all_zero is None or found.numbers[all_zero].max() <= 1, f"seed {seed}"
            n_all_zero += all_zero is not None
        n_steps += len(steps)
    assert n_all_zero > len(seeds) / 50
    assert n_steps > 3 * len(seeds)
    assert n_lower > len(seeds) / 2


@each_model
def test_no_half_step_raises_the_literal_objective(model):
    check_runs(model, range(50))


@pytest.mark.slow
@each_model
def test_no_half_step_of_ten_thousand_runs_raises_the_literal_objective(model):
    check_runs(model, range(10_000, 20_000))


@each_model
@pytest.mark.parametrize("background", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_where_all_cells_are_observed_it_is_the_mean(model, background, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 20))
    counts = Counts(30, 3, 36, 3), Counts(20, 4, 24, 2)
    U, V = (
        members(np.eye(side.n_clusters, dtype=bool)[rng.integers(side.n_clusters, size=n)])
        for n, side in zip(X.shape, counts, strict=True)
    )
    found = []
    for objective, engine in (
        (MEAN, make_plain_engine(X)),
        (Observed(), observed.make_engine(X, np.ones_like(X))),
    ):
        of = objective.against_background() if background else objective
        problem = Problem(of, *counts, overlap_model=OVERLAP_MODELS[model]())
        found.append(solve(engine, problem, (U, V)))
    plain, ours = found
    for one, other in zip(plain.pair, ours.pair, strict=True):
        assert (one.dense == other.dense).all()
    np.testing.assert_allclose(ours.history, plain.history, rtol=1e-9)
    assert ours.objective == pytest.approx(plain.objective, rel=1e-9)


@each_model
def test_a_weight_of_two_is_a_row_given_twice(model):
    rng = np.random.default_rng(0)
    X, seen = rng.normal(size=(12, 9)), rng.random((12, 9)) < 0.6
    U, V = rng.random((12, 3)) < 0.5, rng.random((9, 2)) < 0.6
    twice = rng.random(12) < 0.5
    rows = np.repeat(np.arange(12), 1 + twice)
    problem = Problem(Observed(background=True, shrinkage=2.0), Counts(12, 3, 12, 0), None)
    weighted = OVERLAP_MODELS[model]().weighted
    values = []
    for some, W in ((np.arange(12), seen * (1.0 + twice[:, None])), (rows, 1.0 * seen[rows])):
        pair = weighted(members(U[some])), weighted(members(V))
        engine = observed.make_engine(X[some], W)
        features = engine.column_features(*pair[:1], None, base="plain", counts=True)
        values.append(problem.objective.value(features, *pair))
    assert values[0] == pytest.approx(values[1], rel=1e-12)


def test_objectives_over_observed_cells_are_found_by_name():
    assert make_objective("mean") is OBJECTIVES["mean"]
    found = make_objective("mean", missing="ignore", shrinkage=3.0)
    assert found == Observed(background=True, shrinkage=3.0)
    with pytest.raises(ValueError, match="missing='ignore' is known for objective='mean' only"):
        make_objective("residue", missing="ignore")


@each_model
@pytest.mark.parametrize("side", ["rows", "columns"])
def test_gains_of_single_memberships_are_literal_changes(model, side):
    n_checked = 0
    for seed in range(60):
        case = observed.draw_case(seed, model, largest=5)
        engine = observed.make_engine(case.X, case.W)
        features = make_features(engine, case.problem, case.pair)
        exchange = OneSide(engine, case.problem, side).exchange(case.pair, features)
        given = case.U if side == "rows" else case.V
        before = case.literal(case.U, case.V)
        for p, q in np.ndindex(given.shape):
            changed = given.copy()
            changed[p, q] ^= True
            found = -exchange.savings[p, q] if given[p, q] else exchange.costs[p, q]
            if not np.isfinite(found):
                continue
            after = case.literal(*((changed, case.V) if side == "rows" else (case.U, changed)))
            assert found == pytest.approx(after - before, abs=1e-9 * scale_of(case)), seed
            n_checked += 1
    assert n_checked > 300


@each_model
def test_a_search_never_ends_higher_than_it_began(model):
    for seed in range(25):
        case = observed.draw_case(seed, model)
        engine = observed.make_engine(case.X, case.W)
        start = solve(engine, case.problem, case.pair)
        found = local_search(engine, case.problem, start)
        limit = 1e-9 * scale_of(case)
        assert found.objective <= start.objective + limit
        literal = case.literal(*(each.dense for each in found.pair))
        assert abs(found.objective - literal) <= limit


@each_model
def test_an_empty_cluster_begins_with_a_row_that_was_observed(model):
    """Against a background rows without cells cost most, and nobody would follow them."""
    rng = np.random.default_rng(0)
    X = np.repeat([[3.0, 0.0, -3.0], [-3.0, 0.0, 3.0]], 5, axis=0)[:, [0, 0, 1, 1, 2, 2]]
    X += 0.1 * rng.normal(size=X.shape)
    W = np.ones_like(X)
    W[[0, 7]] = 0.0
    labels = np.array([0] * 5 + [1] * 5)
    U, V = (members(np.eye(3, dtype=bool)[each]) for each in (labels, np.arange(6) // 2))
    counts = Counts(10, 3, 10, 0), Counts(6, 3, 6, 0)
    rule = OVERLAP_MODELS[model]()
    problem = Problem(Observed(True, shrinkage=1.0), *counts, overlap_model=rule)
    engine = observed.make_engine(X, W)
    features = make_features(engine, problem, (U, V))
    found = half_step(engine, problem, "rows", features, (U, V)).members
    (begun,) = np.flatnonzero(found.dense[:, 2])
    assert W[begun].any()
    assert found.n_total == 10
