"""The loop: the objective never rises, counts hold, and special cases are the classic methods."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import oracle
import pytest
from instances import OBJECTIVES as NAMES
from instances import Instance, make_engine, make_instance, make_membership, members, planted
from sides import CASES, Setting, dense, energy, literal_objective, make_problem, watched

import neocc.core.solve as loop
from neocc.core.objectives import KMEANS, OBJECTIVES
from neocc.core.problem import Counts, Problem
from neocc.core.solve import checked, continued, improved, solve

N_INSTANCES = 160
N_SLOW_INSTANCES = 10_000


def run(case, instance, **options):
    """Solve an instance from its own memberships; "rows" and "columns" are one-way."""
    return Setting(case, instance, **options).solve()


def check_one_run(case, seed):
    """Run one random instance, dense or sparse, to its end; return how far the objective fell."""
    rng = np.random.default_rng([CASES.index(case), seed])
    setting = Setting(case, make_instance(rng), stored=bool(rng.random() < 0.3), tol=0.0)
    solution = setting.checked_solve()
    setting.assert_feasible(solution)
    return solution.history[0] - solution.history[-1]


@pytest.mark.parametrize("part", range(4))
@pytest.mark.parametrize("case", CASES)
def test_objective_never_rises_and_counts_hold(case, part):
    size = N_INSTANCES // 4
    falls = [check_one_run(case, seed) for seed in range(part * size, (part + 1) * size)]
    assert np.mean(np.array(falls) > 0) > 0.3  # the instances are no formality


@pytest.mark.slow
@pytest.mark.parametrize("part", range(20))
@pytest.mark.parametrize("case", CASES)
def test_objective_never_rises_and_counts_hold_over_many_instances(case, part):
    size = N_SLOW_INSTANCES // 20
    start = N_INSTANCES + part * size
    for seed in range(start, start + size):
        check_one_run(case, seed)


@pytest.mark.parametrize("case", CASES)
def test_history_starts_and_ends_at_the_literal_objective(case):
    for seed in range(40):
        instance = make_instance(np.random.default_rng(seed))
        X = instance.X
        solution = run(case, instance)
        end = dense(solution.pair)
        scale = max(energy(case, X, instance.U, instance.V), energy(case, X, *end))
        first = literal_objective(case, X, instance.U, instance.V)
        last = literal_objective(case, X, *end)
        assert solution.history[0] == pytest.approx(first, rel=1e-10, abs=1e-12 * scale)
        assert solution.history[-1] == pytest.approx(last, rel=1e-10, abs=1e-12 * scale)
        assert solution.objective == max(solution.history[-1], 0.0)


@pytest.mark.parametrize("objective", NAMES)
def test_each_sweep_is_the_papers_algorithm(objective):
    n_sweeps = 0
    for seed in range(60):
        instance = make_instance(np.random.default_rng(seed), "gaussian")
        X, U, V = instance.X, instance.U, instance.V
        for sweep in range(1, 4):
            d = comparable(oracle.distances_rows(X, U, V, objective), X)
            U = oracle.two_stage(d, instance.rows.n_memberships, instance.rows.n_covered)
            d = comparable(oracle.distances_columns(X, U, V, objective), X)
            V = oracle.two_stage(d, instance.columns.n_memberships, instance.columns.n_covered)
            if not (U.any(axis=0).all() and V.any(axis=0).all()):
                break  # re-seeding empty clusters is ours, not the paper's
            solution = run(objective, instance, max_iter=sweep, tol=0.0)
            if solution.n_iter < sweep:
                break
            np.testing.assert_array_equal(solution.U.dense, U)
            np.testing.assert_array_equal(solution.V.dense, V)
            n_sweeps += 1
    assert n_sweeps > 20


def comparable(d, X):
    """Round off what floating point adds, so that ties of the mathematics are ties here."""
    step = 1e-11 * (X**2).sum()
    return np.round(d / step) * step


def test_single_columns_as_clusters_give_neo_kmeans_step_for_step():
    n_steps = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        instance = make_instance(rng, "gaussian")
        m = instance.X.shape[1]
        single = Counts(m, m, m, 0)
        for max_iter in (1, 2, 3, 100):
            one_way = run("rows", instance, max_iter=max_iter, tol=0.0)
            problem = make_problem("mean", instance.rows, single, max_iter=max_iter, tol=0.0)
            engine = make_engine(instance.X).centred(problem.centring)
            two_way = solve(engine, problem, (members(instance.U), members(np.eye(m))))
            np.testing.assert_array_equal(two_way.V.dense, np.eye(m, dtype=bool))
            np.testing.assert_array_equal(two_way.U.dense, one_way.U.dense)
            # The last sweeps change nothing: rounding alone decides how many are made.
            n_common = min(len(one_way.history), len(two_way.history[::2]))
            np.testing.assert_allclose(
                two_way.history[::2][:n_common],
                one_way.history[:n_common],
                rtol=1e-10,
                atol=1e-12 * energy("rows", instance.X, instance.U, None),
            )
            n_steps += one_way.n_iter
    assert n_steps > 100


def test_columns_alone_are_the_rows_of_the_transpose():
    for seed in range(40):
        instance = make_instance(np.random.default_rng(seed), "gaussian")
        columns = run("columns", instance)
        turned = Problem(KMEANS, instance.columns, None)
        engine = make_engine(instance.X.T).centred(turned.centring)
        rows = solve(engine, turned, (members(instance.V), None))
        np.testing.assert_array_equal(columns.V.dense, rows.U.dense)
        assert columns.objective == pytest.approx(rows.objective, rel=1e-10)


@pytest.mark.parametrize(
    ("objective", "literal"), [("mean", oracle.mssr1), ("residue", oracle.mssr2)]
)
def test_without_overlap_and_outliers_the_objective_is_that_of_mssr(objective, literal):
    X = np.random.default_rng(0).normal(size=(20, 15))
    rng = np.random.default_rng(1)
    rows, columns = Counts(20, 3, 20, 0), Counts(15, 2, 15, 0)
    U, V = np.eye(3)[rng.permutation(20) % 3], np.eye(2)[rng.permutation(15) % 2]
    problem = Problem(OBJECTIVES[objective], rows, columns)
    solution = solve(make_engine(X), problem, (members(U), members(V)))
    np.testing.assert_array_equal(solution.U.weights, 1)
    np.testing.assert_array_equal(solution.V.weights, 1)
    assert solution.history[0] == pytest.approx(literal(X, U.argmax(1), V.argmax(1)), rel=1e-10)
    assert solution.objective == pytest.approx(
        literal(X, solution.U.first, solution.V.first), rel=1e-10
    )


# ---------------------------------------------------------------------------------- stopping


@pytest.fixture
def slow_instance():
    """A problem that takes several iterations."""
    rng = np.random.default_rng(5)
    X = planted(rng, 60, 40, 4, 4, noise=1.5)
    rows, columns = Counts(60, 4, 66, 3), Counts(40, 4, 44, 2)
    U, V = make_membership(rng, rows), make_membership(rng, columns)
    problem = Problem(OBJECTIVES["mean"], rows, columns, tol=0.0)
    return make_engine(X), problem, (members(U), members(V))


def test_max_iter_bounds_the_iterations(slow_instance):
    engine, problem, pair = slow_instance
    full = solve(engine, problem, pair)
    assert full.converged
    assert full.n_iter > 3
    cut = solve(engine, replace(problem, max_iter=2), pair)
    assert cut.n_iter == 2
    assert not cut.converged
    np.testing.assert_array_equal(cut.history, full.history[: len(cut.history)])


def test_a_larger_tolerance_stops_earlier(slow_instance):
    engine, problem, pair = slow_instance
    full = solve(engine, problem, pair)
    early = solve(engine, replace(problem, tol=0.05), pair)
    assert early.converged
    assert early.n_iter < full.n_iter
    falls = -np.diff(early.history[::2]) / early.history[:-1:2]
    assert (falls[:-1] > 0.05).all()
    assert falls[-1] <= 0.05


def test_the_report_sees_each_iteration_and_can_stop_the_run(slow_instance):
    engine, problem, pair = slow_instance
    seen = []

    def report(iteration, objective):
        seen.append((iteration, objective))
        return iteration == 2

    solution = solve(engine, problem, pair, report)
    assert [iteration for iteration, _ in seen] == [1, 2]
    assert solution.n_iter == 2
    assert not solution.converged
    assert seen[-1][1] == solution.objective


# ---------------------------------------------------------------------------------- history


def test_a_history_tells_what_was_computed_even_where_that_rises(monkeypatch):
    # The loop ends as soon as an objective rises; the rise must be there for all to see.
    rng = np.random.default_rng(0)
    counts = Counts(12, 3, 12, 0)
    U, V = make_membership(rng, counts), make_membership(rng, counts)
    instance = Instance("gaussian", rng.normal(size=(12, 12)), counts, counts, U, V)
    setting = Setting("mean", instance)
    told = iter([5.0, 4.0, 3.0, 3.5, 3.25, 3.75])

    def spoilt(engine, problem, side, features, pair):
        step = half_step(engine, problem, side, features, pair)
        return step._replace(objective=next(told))

    half_step = loop.half_step
    monkeypatch.setattr(loop, "half_step", spoilt)
    found = setting.solve()
    assert found.history.tolist() == [5.0, 4.0, 3.0, 3.5, 3.25]
    assert found.objective == 3.25
    higher = replace(found, objective=9.0, history=np.array([9.0]), n_iter=0)
    assert improved(found, higher).history.tolist() == [5.0, 4.0, 3.0, 3.5, 3.25, 9.0]


@pytest.mark.parametrize("case", CASES)
def test_a_run_carried_on_has_both_histories(case):
    for seed in range(10):
        setting = Setting(case, make_instance(np.random.default_rng(seed), "gaussian"), tol=0.0)
        short = solve(setting.engine, replace(setting.problem, max_iter=1), setting.pair)
        with watched() as steps:
            whole = continued(setting.engine, setting.problem, short)
        computed = [step.objective for step in steps]
        assert whole.history.tolist() == [*short.history.tolist(), *computed[1:]]
        assert whole.n_iter >= short.n_iter
        assert whole.history[-1] == pytest.approx(
            setting.of_solution(whole), rel=1e-9, abs=1e-9 * setting.scale
        )


def test_an_objective_that_rounding_spoilt_is_computed_again_term_by_term():
    # Levels a million times the spread within: sums of squares cancel, differences do not.
    rng = np.random.default_rng(0)
    labels = np.arange(30) % 3
    means = np.array([[-1e7, 2e7, 5e6], [3e7, -4e7, 1e7], [6e7, 0.0, -9e7]])
    X = means[np.ix_(labels, labels)] + np.round(8.0 * rng.normal(size=(30, 30))) / 8.0
    U = np.eye(3)[labels] > 0
    counts = Counts(30, 3, 30, 0)
    setting = Setting("mean", Instance("levels", X, counts, counts, U, U))
    plain = setting.solve()
    exact, off = checked(setting.engine, setting.problem, plain)
    # Literal, on data less a whole number per block: no digit is lost.
    expected = oracle.objective_mean(X - means[np.ix_(labels, labels)], U, U)
    assert exact.objective == pytest.approx(expected, rel=1e-9)
    assert off == pytest.approx(abs(plain.objective - expected) / expected, rel=1e-6)
    assert exact.history.tolist() == plain.history.tolist()


@pytest.mark.parametrize("case", CASES)
def test_an_accurate_objective_is_left_alone(case):
    setting = Setting(case, make_instance(np.random.default_rng(3), "gaussian"))
    found = setting.solve()
    assert checked(setting.engine, setting.problem, found)[1] == 0.0
    assert checked(setting.engine, setting.problem, found)[0].objective == found.objective
