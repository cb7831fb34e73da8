"""Costs relative to a background: an item in no cluster costs what it does without structure."""

from __future__ import annotations

import numpy as np
import oracle
import pytest
from instances import any_membership, make_data, make_engine, members
from scipy import sparse

from neocc import NEOCC, NEOKMeans, objective_value
from neocc.core.objectives import KMEANS, MEAN, make_objective
from neocc.core.overlap import OVERLAP_MODELS
from neocc.core.problem import Counts, Problem
from neocc.core.search.local import OneSide
from neocc.core.solve import solve
from neocc.core.steps import half_step, make_features

CASES = ("mean", "rows", "columns")
each_model = pytest.mark.parametrize("model", oracle.OVERLAP_MODELS)
each_case = pytest.mark.parametrize("case", CASES)


def covered_weights(U, n, model):
    """How often an item counts: its memberships, or once for models in which it pays once."""
    if U is None:
        return np.ones(n)
    numbers = U.sum(axis=1)
    return numbers if model == "repeat" else np.minimum(numbers, 1)


def literal(case, X, U, V, model):
    """All squares; a membership replaces squares by squared errors."""
    if case == "columns":
        return literal("rows", X.T, V, None, model)
    V = V if case == "mean" else None
    name = "mean" if case == "mean" else "kmeans"
    errors = oracle.overlap_objective(X, U, V, name, model)
    f, w = covered_weights(U, len(X), model), covered_weights(V, X.shape[1], model)
    return (X**2).sum() + errors - f @ (X**2) @ w


def draw(seed):
    rng = np.random.default_rng(seed)
    X = make_data(("gaussian", "tied", "sparse", "constant")[seed % 4], rng, 7, 6)
    U, V = any_membership(rng, 7, 3), any_membership(rng, 6, 2)
    U[0, 0] = V[0, 0] = True
    return np.round(X * 8.0) / 8.0, U, V


def make_problem(case, model, U, V):
    counts = [
        Counts(*each.shape, int(each.sum()), int((~each.any(axis=1)).sum())) for each in (U, V)
    ]
    objective = (MEAN if case == "mean" else KMEANS).against_background()
    sides = [
        side if case in ("mean", name) else None
        for side, name in zip(counts, CASES[1:], strict=True)
    ]
    return Problem(objective, *sides, overlap_model=OVERLAP_MODELS[model](3))


def make_pair(problem, U, V):
    pair = (problem.rows and members(U), problem.columns and members(V))
    return tuple(each and problem.overlap_model.weighted(each) for each in pair)


@each_case
@each_model
def test_objectives_and_half_steps_are_the_literal_ones(case, model):
    for seed in range(12):
        X, U, V = draw(seed)
        problem = make_problem(case, model, U, V)
        pair, expected = make_pair(problem, U, V), literal(case, X, U, V, model)
        for data in (X, sparse.csr_array(X)):
            for kernel in ("numpy", "numba"):
                engine = make_engine(data, kernel).centred(problem.centring)
                products = pair[1] if problem.objective.needs_products else None
                features = engine.column_features(pair[0], products, base="plain")
                found = problem.objective.value(features, *pair)
                np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)
                constant = problem.objective.constant(engine)
                features = make_features(engine, problem, pair)
                for side in problem.sides:
                    step = half_step(engine, problem, side, features, pair)
                    total = step.objective + constant
                    np.testing.assert_allclose(total, expected, rtol=1e-10, atol=1e-10)
        if case == "mean":
            found = objective_value(X, U, V, "mean", model, "background")
            np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)


@each_case
@each_model
def test_objectives_never_rise_and_end_at_the_literal_value(case, model):
    for seed in range(20):
        X, U, V = draw(seed)
        problem = make_problem(case, model, U, V)
        run = solve(make_engine(X), problem, make_pair(problem, U, V))
        # Nobody belongs to an empty cluster of the start.
        rises = np.diff(run.history if U.any(axis=0).all() and V.any(axis=0).all() else [])
        assert rises.max(initial=0.0) <= 1e-9 * max(1.0, (X**2).sum())
        U_end, V_end = (None if each is None else each.dense for each in run.pair)
        expected = literal(case, X, U_end, V_end, model)
        np.testing.assert_allclose(run.objective, expected, rtol=1e-9, atol=1e-9)


@each_model
def test_a_row_step_is_as_good_as_any(model):
    """Against every feasible choice for the table before the step, literally."""
    worst, n_best, n_seen = 0.0, 0, 0
    for seed in range(25):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(4, 3))
        U, V = any_membership(rng, 4, 2), np.ones((3, 1), dtype=bool)
        U[0] = True
        counts = Counts(4, 2, max(3, int(U.sum())), 1)
        problem = Problem(
            KMEANS.against_background(), counts, None, overlap_model=OVERLAP_MODELS[model](2)
        )
        pair = make_pair(problem, U, V)
        engine = make_engine(X)
        step = half_step(engine, problem, "rows", make_features(engine, problem, pair), pair)
        price = oracle.set_pricer(X, U, None, "kmeans", model)

        def cost(W, X=X, price=price):
            total = 0.0
            for p, w in enumerate(W):
                chosen = np.flatnonzero(w).tolist()
                times = len(chosen) if model == "repeat" else min(len(chosen), 1)
                total += price(p, chosen) - times * (X[p] ** 2).sum() if chosen else 0.0
            return total

        best = min(oracle.feasible_memberships(4, 2, counts.n_memberships, 1), key=cost)
        if not best.any(axis=0).all():
            continue  # an empty cluster gets a member, whatever that costs
        lowest, n_seen = cost(best), n_seen + 1
        gap = cost(step.members.dense) - lowest
        n_best += gap <= 1e-9
        worst = max(worst, gap / (X**2).sum())
    assert n_seen >= 15
    assert n_best >= n_seen - 1
    assert worst <= 0.03


@each_model
@pytest.mark.parametrize("side", ["rows", "columns"])
def test_gains_of_single_moves_are_exact(model, side):
    for seed in range(8):
        X, U, V = draw(4 * seed)
        U[:, 0], V[:, 0] = U[:, 0] | ~U.any(axis=1), V[:, 0] | ~V.any(axis=1)
        U[2], V[3] = False, False
        if min(np.linalg.matrix_rank(U * 1.0) - 3, np.linalg.matrix_rank(V * 1.0) - 2) < 0:
            continue  # clusters of the same members, or of none
        problem = make_problem("mean", model, U, V)
        pair, engine = make_pair(problem, U, V), make_engine(X)
        swaps = OneSide(engine, problem, side).exchange(pair, make_features(engine, problem, pair))
        before = literal("mean", X, U, V, model)
        own = U if side == "rows" else V
        for item, cluster in np.ndindex(own.shape):
            changed = own.copy()
            changed[item, cluster] = not own[item, cluster]
            if changed[:, cluster].sum() == 0 or own[:, cluster].sum() == 0:
                continue
            after = literal("mean", X, *((changed, V) if side == "rows" else (U, changed)), model)
            if own[item, cluster]:
                expected, found = before - after, swaps.savings[item, cluster]
            elif np.isinf(swaps.costs[item, cluster]):
                continue
            else:
                expected, found = after - before, swaps.costs[item, cluster]
            assert found == pytest.approx(expected, abs=1e-6 * max(1.0, (X**2).sum()))


def planted(seed=0):
    """Two by two blocks, and rows of small noise that no block explains."""
    rng = np.random.default_rng(seed)
    U, V = np.arange(40) % 2, np.arange(20) % 2
    X = np.where(U[:, None] == V, 4.0, -4.0) + rng.normal(size=(40, 20))
    X[:4] = 0.5 * rng.normal(size=(4, 20))
    return X


def test_rows_without_structure_are_left_out_instead_of_those_that_fit_badly():
    X = planted()
    X[10] = -3.0 * X[10]  # structure, but too much of it
    fits = {
        cost: NEOCC(
            2, 2, row_overlap=-0.1, row_outliers=0.1, outlier_cost=cost, random_state=0, n_init=3
        ).fit(X)
        for cost in ("zero", "background", "auto")
    }
    left_out = {cost: np.flatnonzero(fit.row_outliers_).tolist() for cost, fit in fits.items()}
    assert left_out["background"] == [0, 1, 2, 3]
    assert 10 in left_out["zero"]
    assert left_out["auto"] == left_out["zero"]
    fitted = fits["background"]
    assert fitted.predict_membership(X).tolist() == fitted.row_membership_.tolist()
    value = literal("mean", X, fitted.row_membership_, fitted.column_membership_, "repeat")
    assert fitted.objective_ == pytest.approx(value, rel=1e-10)
    assert (fitted.transform(X)[5] < 0).any()


def test_points_without_structure_are_left_out():
    X = planted()
    fitted = NEOKMeans(
        2, overlap=-0.1, outliers=0.1, outlier_cost="background", random_state=0
    ).fit(X)
    assert np.flatnonzero(fitted.outliers_).tolist() == [0, 1, 2, 3]
    expected = literal("rows", X, fitted.membership_, None, "repeat")
    assert fitted.objective_ == pytest.approx(expected, rel=1e-10)


def test_without_outliers_nothing_changes():
    X = planted()
    X -= X.mean()
    one, other = (
        NEOCC(2, 2, outlier_cost=cost, random_state=0, n_init=2).fit(X)
        for cost in ("zero", "background")
    )
    assert one.row_membership_.tolist() == other.row_membership_.tolist()
    assert one.objective_ == pytest.approx(other.objective_, rel=1e-9)


def test_costs_that_make_no_sense_are_refused():
    with pytest.raises(ValueError, match="outlier_cost='background' makes no sense"):
        NEOCC(2, 2, objective="residue", outlier_cost="background").fit(planted())
    with pytest.raises(ValueError, match="outlier_cost must be one of"):
        make_objective("mean", "one")
    with pytest.raises(ValueError, match="'outlier_cost' parameter"):
        NEOCC(2, 2, outlier_cost="one").fit(planted())
