"""The relaxation, its Lagrangians and the ways back to memberships, against literal formulas."""

from __future__ import annotations

import itertools

import numpy as np
import oracle
import pytest
from instances import (
    KINDS,
    OBJECTIVES,
    make_counts,
    make_data,
    make_engine,
    make_instance,
    make_membership,
    members,
    planted,
)
from scipy import optimize, sparse

from neocc.core import objectives
from neocc.core.initialise import random_start
from neocc.core.problem import Counts, Problem
from neocc.core.solve import solve
from neocc.rivals.lowrank import rounding
from neocc.rivals.lowrank.lagrangians import FullLagrangian, SplitLagrangian
from neocc.rivals.lowrank.multipliers import Relaxed, relax
from neocc.rivals.lowrank.relaxation import (
    Relaxation,
    average,
    check_size,
    nearest_feasible,
    point_of,
)
from neocc.rivals.lowrank.rounding import (
    apportion,
    distinct_clusters,
    round_clusters,
    round_counts,
)
from neocc.rivals.lowrank.sides import of_columns, of_points, of_rows
from neocc.rivals.lowrank.solve import sdp_start, solve_relaxed

LAGRANGIANS = {"admm": SplitLagrangian, "alm": FullLagrangian}
FORMATS = {"dense": np.asarray, "sparse": sparse.csr_array}


def one_way(seed, n=12, m=5, k=3, kind="gaussian", make=np.asarray):
    """Return random data with its counts and its relaxed problem."""
    rng = np.random.default_rng(seed)
    X = make_data(kind, rng, n, m)
    k = min(k, len(X))
    counts = make_counts(rng, len(X), k)
    return X, counts, of_points(make_engine(make(X)), counts)


def as_relaxed(Y, f):
    return Relaxed((Y, f), 0.0, 0.0, np.empty(0), True)


def start_of(counts, seed=0):
    return point_of(random_start(counts, np.random.default_rng(seed)))


def assert_feasible(U, counts):
    assert U.n_total == counts.n_memberships == U.dense.sum()
    assert U.outliers.sum() <= counts.max_outliers
    assert U.dense.any(axis=0).sum() == min(counts.n_clusters, counts.n_memberships)


def violations(Y, f, counts):
    """c1, c2 and what f may violate, from the definition."""
    return (
        abs(np.trace(Y.T @ Y) - min(counts.n_clusters, counts.n_memberships)),
        np.abs(Y @ Y.T @ np.ones(len(Y)) - f).max(),
        abs(f.sum() - counts.n_memberships),
        max(0.0, counts.n_covered - np.minimum(f, 1).sum()),
        max(0.0, -f.min(), f.max() - counts.n_clusters, -Y.min()),
    )


# ------------------------------------------------------------------------------- the problem


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("kind", KINDS)
def test_the_objective_of_memberships_is_that_of_neo_kmeans(kind, name):
    for seed in range(5):
        X, counts, relaxation = one_way(seed, kind=kind, make=FORMATS[name])
        U = make_membership(np.random.default_rng(seed), counts)
        found = relaxation.objective(point_of(members(U)))
        literal = oracle.objective_neo_kmeans(X, U)
        # The objective is a difference of squares of the data.
        assert found == pytest.approx(literal, abs=1e-11 * (X**2).sum() * counts.n_clusters)


@pytest.mark.parametrize("offset", [0.0, 1e3])
def test_the_product_is_with_the_gram_matrix_of_centred_points(offset):
    X, counts, _ = one_way(3)
    relaxation = of_points(make_engine(X + offset).centred("columns"), counts)
    centred = X - X.mean(axis=0)
    K = centred @ centred.T
    Y = np.random.default_rng(0).random((12, 3))
    np.testing.assert_allclose(relaxation.product(Y) * relaxation.unit, K @ Y, atol=1e-7 * K.max())
    np.testing.assert_allclose(relaxation.costs * relaxation.unit, np.diag(K), atol=1e-7 * K.max())
    assert relaxation.costs.mean() == pytest.approx(1.0)


def test_nothing_of_the_size_of_points_by_points_is_formed(monkeypatch):
    X, counts, _ = one_way(0, n=60)
    engine = make_engine(X)
    widths = []
    for name in ("multiply", "multiply_transposed"):
        plain = getattr(type(engine), name)

        def watched(self, table, plain=plain):
            widths.append(table.shape[1])
            return plain(self, table)

        monkeypatch.setattr(type(engine), name, watched)
    relaxation = of_points(engine, counts)
    relax(relaxation, start_of(counts), max_iter=1)
    assert widths
    assert max(widths) == counts.n_clusters


@pytest.mark.parametrize("make", FORMATS.values(), ids=FORMATS)
@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("seed", range(6))
def test_either_side_of_neo_cc_is_such_a_problem(objective, seed, make):
    instance = make_instance(np.random.default_rng(seed), "gaussian")
    X, U, V = instance.X, instance.U, instance.V
    problem = Problem(objectives.OBJECTIVES[objective], instance.rows, instance.columns)
    engine = make_engine(make(X)).centred(problem.centring)
    literal = oracle.objective(X, U, V, objective)
    scale = max(1e-300, oracle.energy(X, U, V))
    rows = of_rows(engine, problem, point_of(members(V)))
    columns = of_columns(engine, problem, point_of(members(U)))
    assert rows.objective(point_of(members(U))) == pytest.approx(literal, abs=1e-9 * scale)
    assert columns.objective(point_of(members(V))) == pytest.approx(literal, abs=1e-9 * scale)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_side_may_be_fixed_at_a_relaxed_point(objective):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(9, 7))
    counts = Counts(9, 3, 12, 0), Counts(7, 2, 8, 0)
    Y, w = rng.random((7, 2)), rng.random(7) * 2
    f = rng.random(9)
    base = X**2 @ w
    inner = X @ Y @ Y.T @ X.T
    K = inner if objective == "mean" else X @ np.diag(w) @ X.T - inner
    d = base if objective == "mean" else base - np.diag(inner)
    side = of_rows(make_engine(X), Problem(objectives.OBJECTIVES[objective], *counts), (Y, w))
    centre = np.eye(9) - 1 / 9
    table = rng.random((9, 3))
    # Weights are read to so many binary digits.
    near = {"rtol": 1e-3, "atol": 1e-3 * base.max()}
    assert side.costs.min() >= 0
    np.testing.assert_allclose(side.product(table) * side.unit, centre @ K @ centre @ table, **near)
    q = K.mean(axis=1)
    centred = np.maximum(d - 2 * q + K.mean(), 0)
    np.testing.assert_allclose(side.costs * side.unit, centred, **near)
    assert side.objective((np.zeros((9, 3)), f)) == pytest.approx(side.unit * f @ side.costs)


# ------------------------------------------------------------------------ numbers of memberships


def literal_projection(t, weights, counts):
    """Minimise sum w (f - t)^2 over f and g with a general solver."""
    n, k = counts.n_items, counts.n_clusters
    constraints = [
        {"type": "eq", "fun": lambda x: x[:n].sum() - counts.n_memberships},
        {"type": "ineq", "fun": lambda x: x[n:].sum() - counts.n_covered},
        {"type": "ineq", "fun": lambda x: x[:n] - x[n:]},
    ]
    start = np.full(n, counts.n_memberships / n)
    found = optimize.minimize(
        lambda x: (weights * (x[:n] - t) ** 2).sum(),
        np.concatenate([start, np.minimum(start, 1)]),
        constraints=constraints,
        bounds=[(0, k)] * n + [(0, 1)] * n,
        options={"maxiter": 500, "ftol": 1e-12},
    )
    return found.x[:n]


@pytest.mark.parametrize("seed", range(40))
def test_nearest_feasible_numbers(seed):
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(1, 8)), int(rng.integers(1, 4))
    counts = make_counts(rng, n, k)
    t = rng.normal(size=n) * rng.choice([0.3, 2.0, 20.0])
    weights = rng.choice([1.0, 1.0, 3.0, 10.0], size=n)
    f = nearest_feasible(t, weights, counts)
    assert f.sum() == pytest.approx(counts.n_memberships, abs=1e-9)
    assert np.minimum(f, 1).sum() >= counts.n_covered - 1e-9
    assert f.min() >= 0
    assert f.max() <= k
    literal = literal_projection(t, weights, counts)
    ours, theirs = (float(weights @ (each - t) ** 2) for each in (f, literal))
    # Feasible, and no farther: where SLSQP stops depends on the machine's BLAS.
    assert ours <= theirs + 1e-5 * max(theirs, 1.0)


def test_feasible_numbers_stay_as_they_are():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        counts = make_counts(rng, 9, 3)
        f = make_membership(rng, counts).sum(axis=1).astype(float)
        np.testing.assert_allclose(nearest_feasible(f, 1.0 + rng.random(9), counts), f, atol=1e-12)


# ------------------------------------------------------------------------------- Lagrangians


def settled(kind, relaxation, rank, rng):
    """Return a Lagrangian with multipliers and penalty of some progress, and a random point."""
    lagrangian = LAGRANGIANS[kind](relaxation, rank)
    n, k = relaxation.counts.n_items, relaxation.counts.n_clusters
    lagrangian.penalty = 1.7
    start = lagrangian.pack(rng.random((n, rank)), k * rng.random(n))
    lagrangian.update(start)
    lagrangian.penalty = 0.9
    return lagrangian, lagrangian.pack(rng.random((n, rank)), k * rng.random(n))


@pytest.mark.parametrize("kind", LAGRANGIANS)
@pytest.mark.parametrize("rank", [3, 7])
@pytest.mark.parametrize("seed", range(6))
def test_gradient_against_finite_differences(kind, rank, seed):
    _, _, relaxation = one_way(seed)
    lagrangian, x = settled(kind, relaxation, rank, np.random.default_rng(seed))
    _, gradient = lagrangian.evaluate(x)
    step = 1e-5
    for i, unit in enumerate(np.eye(len(x))):
        above, below = (lagrangian.evaluate(x + sign * step * unit)[0] for sign in (1, -1))
        difference = (above - below) / (2 * step)
        assert gradient[i] == pytest.approx(difference, rel=1e-6, abs=1e-6 * np.abs(gradient).max())


@pytest.mark.parametrize("seed", range(4))
def test_value_of_the_full_lagrangian_is_the_formula(seed):
    X, counts, relaxation = one_way(seed)
    rng = np.random.default_rng(seed)
    n, k = counts.n_items, counts.n_clusters
    lagrangian = FullLagrangian(relaxation, k)
    lagrangian.penalty = 2.5
    x = rng.random(n * k + 3 * n + 1)
    Y, f, g, s, r = x[: n * k].reshape(n, k), *np.split(x[n * k : -1], 3), x[-1]
    X = (X - X.mean(axis=0)) / np.sqrt(relaxation.unit)
    d = (X**2).sum(axis=1)
    plain = f @ d - np.trace(Y.T @ X @ X.T @ Y)
    rest = (
        np.sqrt(n / k) * (np.trace(Y.T @ Y) - k),
        np.sqrt(np.maximum(d, 1)) * (Y @ (Y.T @ np.ones(n)) - f),
        f.sum() - counts.n_memberships,
        f - g - s,
        g.sum() - counts.n_covered - r,
    )
    penalties = sum(np.sum(np.square(c)) for c in rest)
    assert lagrangian.evaluate(x)[0] == pytest.approx(plain + 2.5 / 2 * penalties)


@pytest.mark.parametrize("kind", LAGRANGIANS)
def test_memberships_meet_all_constraints_exactly(kind):
    for seed in range(50):
        _, counts, relaxation = one_way(seed)
        U = members(make_membership(np.random.default_rng(seed), counts))
        if np.count_nonzero(U.sizes) < min(counts.n_clusters, counts.n_memberships):
            continue  # an empty cluster is missing from the trace
        Y, f = point_of(U)
        assert max(violations(Y, f, counts)) < 1e-12
        lagrangian = LAGRANGIANS[kind](relaxation, counts.n_clusters)
        # With a stiff penalty the best f is the one that Y stands for.
        lagrangian.penalty = 1e13
        assert lagrangian.update(lagrangian.pack(Y, f)) < 1e-11


def test_averages_of_memberships_meet_all_constraints_exactly():
    for seed in range(30):
        rng = np.random.default_rng(seed)
        counts = make_counts(rng, 9, 3)
        starts = [random_start(counts, rng) for _ in range(3)]
        Y, f = average([point_of(U) for U in starts])
        assert Y.shape == (9, 9)
        assert max(violations(Y, f, counts)) < 1e-12
        Z = np.mean([y @ y.T for y, _ in map(point_of, starts)], axis=0)
        np.testing.assert_allclose(Y @ Y.T, Z, atol=1e-12)


# --------------------------------------------------------------------------------- relaxation


@pytest.mark.parametrize("solver", LAGRANGIANS)
@pytest.mark.parametrize("seed", range(4))
def test_the_relaxed_point_is_feasible_and_below_every_membership(solver, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(6, 2))
    counts = Counts(6, 2, 7, 1)
    relaxation = of_points(make_engine(X), counts)
    start = average([point_of(random_start(counts, rng)) for _ in range(3)])
    relaxed = relax(relaxation, start, solver=solver, tol=1e-5)
    assert relaxed.converged
    assert relaxed.infeasibility < 1e-5
    assert max(violations(*relaxed.point, counts)) < 1e-4
    lowest = min(oracle.objective_neo_kmeans(X, U) for U in oracle.feasible_memberships(6, 2, 7, 1))
    assert relaxed.objective <= lowest * (1 + 1e-4)
    assert relaxed.objective == relaxed.history["objective"][-1]
    assert relaxed.infeasibility == relaxed.history["infeasibility"][-1]


def separated(seed, n=60, k=4, overlap=0, outliers=0):
    """Return k clusters, some points halfway between two of them and some far away from all.

    Centres are equally far from each other, so that a second membership is cheapest halfway
    between two of them: elsewhere the planted memberships need not be those of lowest objective.
    """
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % k
    U = np.eye(k, dtype=bool)[labels]
    U[np.arange(overlap), (labels[:overlap] + 1) % k] = True
    U[n - outliers :] = False
    X = U @ (5.0 * np.eye(k)) / np.maximum(U.sum(axis=1), 1)[:, None]
    X += 0.3 * rng.normal(size=(n, k))
    X[n - outliers :] += 60.0 * rng.normal(size=(outliers, k))
    return X, U, Counts(n, k, int(U.sum()), outliers)


@pytest.mark.parametrize(("overlap", "outliers"), [(0, 0), (6, 4)])
def test_random_starts_end_alike_and_no_higher_than_the_planted_clusters(overlap, outliers):
    """A violation changes the objective by itself times its multiplier, large for far points.

    With outliers, the objective is a few ten-thousandths of the squares that it is a difference
    of; values can be compared only where violations are far smaller than that.
    """
    X, U, counts = separated(0, overlap=overlap, outliers=outliers)
    relaxation = of_points(make_engine(X), counts)
    starts = [
        average([point_of(random_start(counts, rng)) for _ in range(3)])
        for rng in np.random.default_rng(0).spawn(3)
    ]
    found = [relax(relaxation, start, tol=1e-7) for start in starts]
    values = [each.objective for each in found]
    assert all(each.converged for each in found)
    assert max(values) <= oracle.objective_neo_kmeans(X, U) * (1 + 1e-3)
    np.testing.assert_allclose(values, values[0], rtol=1e-3)


def test_relaxation_from_a_solution_of_the_alternation_ends_below_it():
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X, counts = rng.normal(size=(60, 4)), Counts(60, 4, 90, 3)
        problem = Problem(objectives.KMEANS, counts, None)
        data = make_engine(X).centred(problem.centring)
        start = solve(data, problem, (random_start(counts, rng), None))
        relaxed = relax(of_points(data, counts), point_of(start.U))
        assert relaxed.converged
        assert relaxed.objective < start.objective


def test_a_report_may_end_the_relaxation():
    _, counts, relaxation = one_way(0, n=30)
    start = start_of(counts)
    seen = []

    def report(iteration, objective):
        seen.append((iteration, objective))
        return iteration == 2

    relaxed = relax(relaxation, start, tol=0.0, report=report)
    assert not relaxed.converged
    assert [iteration for iteration, _ in seen] == [1, 2]
    assert [objective for _, objective in seen] == relaxed.history["objective"].tolist()


def test_the_number_of_updates_is_bounded():
    _, counts, relaxation = one_way(0, n=30)
    relaxed = relax(relaxation, start_of(counts), tol=0.0, max_iter=3)
    assert len(relaxed.history) == 3
    assert not relaxed.converged


# ------------------------------------------------------------------------------------ rounding


def by_clusters(relaxed, relaxation):
    return round_clusters(relaxed, relaxation)


def by_counts(relaxed, relaxation):
    return round_counts(relaxed, relaxation.counts)


ROUNDINGS = {"clusters": by_clusters, "counts": by_counts}


@pytest.mark.parametrize("how", ROUNDINGS)
def test_rounding_returns_memberships_as_they_were(how):
    for seed in range(40):
        rng = np.random.default_rng(seed)
        _, counts, relaxation = one_way(seed)
        U = make_membership(rng, counts)
        if not U.any(axis=0).all():
            continue
        point = point_of(members(U))
        found = ROUNDINGS[how](as_relaxed(*point), relaxation)
        assert_feasible(found, counts)
        if how == "counts":
            np.testing.assert_array_equal(found.dense, U)
        else:  # clusters come in order of size, and copies may move where that is better
            before, after = (relaxation.objective(point_of(u)) for u in (members(U), found))
            assert after <= before * (1 + 1e-9)


@pytest.mark.parametrize("how", ROUNDINGS)
@pytest.mark.parametrize("kind", KINDS)
def test_rounding_meets_the_counts_from_anywhere(how, kind):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        k = int(rng.integers(1, 5))
        _, counts, relaxation = one_way(seed, n=int(rng.integers(1, 10)), k=k, kind=kind)
        shape = counts.n_items, counts.n_clusters * int(rng.integers(1, 4))
        Y = rng.random(shape) * (rng.random(shape) < 0.5) + 1e-3 * (rng.random() < 0.5)
        Y[0, 0] += 0.1
        f = counts.n_clusters * rng.random(counts.n_items)
        assert_feasible(ROUNDINGS[how](as_relaxed(Y, f), relaxation), counts)


def test_numbers_of_memberships_are_rounded_by_their_fractions():
    counts = Counts(4, 3, 6, 1)
    f = np.array([1.9, 1.6, 2.3, 0.2])
    Y = np.array([[3.0, 2.0, 1.0], [1.0, 3.0, 2.0], [2.0, 1.0, 3.0], [1.0, 2.0, 3.0]])
    U = round_counts(as_relaxed(Y, f), counts).dense
    np.testing.assert_array_equal(U, [[1, 1, 0], [0, 1, 1], [1, 0, 1], [0, 0, 0]])


def test_surplus_memberships_are_taken_back_where_the_fraction_is_least():
    counts = Counts(3, 3, 5, 0)
    f = np.array([3.0, 2.4, 1.2])
    Y = np.array([[3.0, 2.0, 1.0], [3.0, 1.0, 2.0], [1.0, 3.0, 2.0]])
    U = round_counts(as_relaxed(Y, f), counts).dense
    np.testing.assert_array_equal(U, [[1, 1, 0], [1, 0, 1], [0, 1, 0]])


def test_numbers_raised_to_one_are_not_raised_again():
    """0.9999 is as good as 1, and not 0 with the largest of all fractions."""
    counts = Counts(4, 2, 5, 0)
    f = np.array([0.9999, 1.6, 0.9998, 1.0])
    Y = np.tile([2.0, 1.0], (4, 1))
    U = round_counts(as_relaxed(Y, f), counts).dense
    np.testing.assert_array_equal(U.sum(axis=1), [1, 2, 1, 1])


def test_parallel_columns_are_one_cluster():
    rng = np.random.default_rng(0)
    a, b = (v / np.linalg.norm(v) for v in rng.random((2, 8)) * [[1, 1, 1, 1, 0, 0, 0, 0], [1] * 8])
    Y = np.stack([0.5 * a, 1.2 * b, 1.4 * a, 0.0 * b, 0.3 * b], axis=1)
    columns, shares = distinct_clusters(Y)
    np.testing.assert_allclose(shares, [0.25 + 1.96, 1.44 + 0.09])
    np.testing.assert_allclose(columns, np.stack([a, b], axis=1))
    Z = columns * shares @ columns.T
    np.testing.assert_allclose(Z, Y @ Y.T)


@pytest.mark.parametrize(
    ("shares", "total", "expected"),
    [
        ([10.02, 3.98], 14, [10, 4]),
        ([2.5, 0.4, 0.1], 3, [3, 0, 0]),
        ([1.0, 1.0, 1.0], 3, [1, 1, 1]),
        ([0.5, 0.5], 2, [1, 1]),
        ([1.5, 1.5], 3, [2, 1]),
    ],
)
def test_apportionment(shares, total, expected):
    np.testing.assert_array_equal(apportion(np.array(shares), total), expected)


def test_copies_move_until_none_lowers_the_objective():
    """Where all clusters but one coincide, descent finds the numbers that trying all would."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(20, 2))
    counts = Counts(20, 4, 34, 0)
    relaxation = of_points(make_engine(X), counts)
    first, second = (rng.random(20) for _ in range(2))
    Y = np.stack([first, second, first, second], axis=1)
    found = round_clusters(as_relaxed(Y, np.ones(20)), relaxation)
    columns, _ = distinct_clusters(Y)
    entries = columns * columns.sum(axis=0)
    values = [
        relaxation.objective(
            point_of(rounding._take_largest(np.repeat(entries, copies, axis=1), counts))
        )
        for copies in itertools.product(range(5), repeat=2)
        if sum(copies) == 4
    ]
    value = relaxation.objective(point_of(found))
    assert value <= np.sort(values)[1] + 1e-12


# ------------------------------------------------------------------------------- whole solutions


@pytest.mark.parametrize("solver", LAGRANGIANS)
@pytest.mark.parametrize(("make", "how"), list(zip(FORMATS.values(), ROUNDINGS, strict=True)))
def test_planted_clusters_are_found(make, solver, how):
    """Every membership and every outlier, already before refinement."""
    X, U, counts = separated(0, n=40, k=3, overlap=5, outliers=2)
    problem = Problem(objectives.KMEANS, counts, None)
    data = make_engine(make(X)).centred(problem.centring)
    options = {"solver": solver, "rounding": how, "max_iter": 50, "tol": 1e-4}
    rng = np.random.default_rng(0)
    starts = [random_start(counts, rng) for _ in range(3)]
    for refine in (False, True):
        found = solve_relaxed(data, problem, starts, refine=refine, **options)
        clusters = {tuple(column) for column in found.U.dense.T.tolist()}
        assert clusters == {tuple(column) for column in U.T.tolist()}
        assert found.objective == pytest.approx(oracle.objective_neo_kmeans(X, U))
        assert found.relaxed.infeasibility < 1e-4


@pytest.mark.parametrize("how", ROUNDINGS)
@pytest.mark.parametrize("seed", range(2))
def test_refinement_never_ends_above_the_rounded_memberships(how, seed):
    X, counts, _ = one_way(seed, n=25)
    problem = Problem(objectives.KMEANS, counts, None)
    data = make_engine(X).centred(problem.centring)
    starts = [random_start(counts, np.random.default_rng(seed))]
    options = {"solver": "admm", "rounding": how, "max_iter": 10, "tol": 1e-3}
    rounded, refined = (
        solve_relaxed(data, problem, starts, refine=refine, **options) for refine in (False, True)
    )
    assert refined.objective <= rounded.objective * (1 + 1e-12)
    assert solve(data, problem, (rounded.U, None)).objective >= refined.objective * (1 - 1e-9)


@pytest.mark.parametrize("make", FORMATS.values(), ids=FORMATS)
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_semidefinite_start_of_both_sides_finds_planted_blocks(make, objective):
    X = planted(np.random.default_rng(0), 40, 24, 3, 3, noise=0.1)
    if objective == "residue":
        rng = np.random.default_rng(2)
        X = rng.normal(size=(3, 24))[np.arange(40) % 3] * np.repeat(rng.normal(size=3), 8)
        X = X + rng.normal(size=40)[:, None] + 0.05 * rng.normal(size=(40, 24))
    rows, columns = Counts(40, 3, 44, 1), Counts(24, 3, 26, 0)
    problem = Problem(objectives.OBJECTIVES[objective], rows, columns)
    data = make_engine(make(X)).centred(problem.centring)
    U, V = sdp_start(data, problem, np.random.default_rng(0))
    assert_feasible(U, rows)
    assert_feasible(V, columns)
    one = oracle.objective(X, np.ones((40, 1)), np.ones((24, 1)), objective)
    assert oracle.objective(X, U.dense, V.dense, objective) < 0.5 * one


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("kind", KINDS)
def test_semidefinite_start_is_feasible_on_degenerate_data(kind, objective):
    instance = make_instance(np.random.default_rng(0), kind)
    problem = Problem(objectives.OBJECTIVES[objective], instance.rows, instance.columns)
    data = make_engine(instance.X).centred(problem.centring)
    U, V = sdp_start(data, problem, np.random.default_rng(0))
    assert_feasible(U, instance.rows)
    assert_feasible(V, instance.columns)


# ----------------------------------------------------------------------------------------- size


def test_large_problems_are_refused_with_their_size():
    check_size(Counts(50, 2, 50, 0), 2, "rows", most=100)
    with pytest.raises(ValueError, match=r"51 rows in 2 clusters has 102 variables.*at most 100"):
        check_size(Counts(51, 2, 51, 0), 2, "rows", most=100)


def test_a_start_of_too_many_columns_is_refused():
    n = 1_500_000
    problem = Problem(objectives.OBJECTIVES["mean"], Counts(2, 2, 2, 0), Counts(n, 4, n, 0))
    with pytest.raises(ValueError, match=r"1,500,000 columns.*at most 5,000,000"):
        sdp_start(make_engine(np.ones((2, n))), problem, np.random.default_rng(0))


def test_costs_below_zero_from_rounding_count_as_zero():
    relaxation = Relaxation.of(np.array([-1e-18, 0.0]), np.zeros_like, Counts(2, 1, 2, 0))
    assert (relaxation.costs == 0).all()
    assert relaxation.unit == 1.0
