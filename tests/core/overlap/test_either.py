"""The overlap model "either" against its formulas, entry by entry, and against all there is."""

from __future__ import annotations

import pickle
from dataclasses import replace
from itertools import combinations

import numpy as np
import oracle
import pytest
from instances import Instance, make_data, make_engine, make_membership, members
from scipy import sparse
from sides import Setting, check_half_steps, check_run, watched

from neocc import NEOCC, objective_value
from neocc.core.assign import Applied, is_feasible, settled
from neocc.core.initialise import random_pair
from neocc.core.objectives import OBJECTIVES, block_means
from neocc.core.overlap import OVERLAP_MODELS, followed_clusters, following
from neocc.core.prices import find_thresholds
from neocc.core.problem import Counts, Problem
from neocc.core.search import search
from neocc.core.solve import solve
from neocc.core.steps import fixed_pair, half_step, make_features, make_terms, score
from neocc.engines.following import changed_items
from neocc.kernels import Memberships, Parts, get_kernels, numba_, numpy_

EITHER = OVERLAP_MODELS["either"]
KINDS = ("gaussian", "tied", "sparse", "duplicated", "zeros", "constant", "one_row", "one_column")
FORMS = (np.asarray, sparse.csr_array, lambda X: X.astype(np.float32))


class Drawn:
    """Data with rows that follow clusters of theirs, drawn at random."""

    def __init__(self, seed, largest=9):
        rng = self.rng = np.random.default_rng(seed)
        X = make_data(KINDS[seed % len(KINDS)], rng, *rng.integers(2, largest, size=2))
        # Exact in float32.
        self.X = np.round(X / (np.abs(X).max() or 1.0) * 64.0) / 8.0
        n, m = self.X.shape
        self.k, self.l = int(rng.integers(1, 5)), int(rng.integers(1, 4))
        self.U = rng.random((n, self.k)) < rng.choice([0.3, 0.6, 0.9])
        labels = rng.integers(-1 if seed % 3 == 0 else 0, self.l, size=m)
        self.V = (labels[:, None] == np.arange(self.l)) & (labels >= 0)[:, None]
        self.columns = members(self.V)
        self.followed = np.array(
            [
                rng.choice(np.flatnonzero(has), size=self.l) if has.any() else np.full(self.l, -1)
                for has in self.U
            ]
        ).reshape(n, self.l)
        given, some = members(self.U), np.flatnonzero(self.U.sum(axis=1) > 1)
        self.rows = following(given, some, self.followed[some].astype(np.int32))

    @property
    def problem(self):
        counts = [
            Counts(each.n_items, each.n_clusters, each.n_total, int(each.outliers.sum()))
            for each in (self.rows, self.columns)
        ]
        return Problem(OBJECTIVES["mean"], *counts, overlap_model=EITHER())

    @property
    def scale(self):
        return max(1.0, np.square(self.X).sum())

    def close(self, found, expected):
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-11 * self.scale)


def test_virtual_memberships_say_what_is_followed():
    for seed in range(60):
        drawn = Drawn(seed)
        np.testing.assert_array_equal(followed_clusters(drawn.rows, drawn.l), drawn.followed)
        np.testing.assert_array_equal(drawn.rows.dense, drawn.U)
        start = EITHER().weighted(members(drawn.U))
        first = np.where(drawn.U.any(axis=1), drawn.U.argmax(axis=1), -1)
        expected = np.repeat(first[:, None], drawn.l, axis=1)
        np.testing.assert_array_equal(followed_clusters(start, drawn.l), expected)
        assert EITHER().weighted(drawn.rows) is drawn.rows


@pytest.mark.parametrize("kernel", ["numpy", "numba"])
def test_objectives_are_the_literal_ones(kernel):
    for seed in range(40):
        drawn = Drawn(seed)
        expected = oracle.followed_objective(drawn.X, drawn.followed, drawn.V, drawn.k)
        for form in FORMS:
            engine = make_engine(form(drawn.X), kernel)
            for data in (engine, engine.centred("global")):
                features = data.column_features(drawn.rows, None)
                pair, mean = (drawn.rows, drawn.columns), OBJECTIVES["mean"]
                drawn.close(mean.value(features, *pair), expected)
                drawn.close(mean.exact_value(data, features, *pair), expected)
                for side, each in zip(("rows", "columns"), pair, strict=True):
                    if each.n_total:
                        step = half_step(data, drawn.problem, side, features, pair)
                        drawn.close(step.objective, expected)


def test_block_values_are_means_of_followers():
    for seed in range(40):
        drawn = Drawn(seed)
        features = make_engine(drawn.X).column_features(drawn.rows, None)
        found = block_means(features, drawn.rows, drawn.columns)
        expected = oracle.followed_table(drawn.X, drawn.followed, drawn.V, drawn.k)
        known = ~np.isnan(expected)
        drawn.close(found[known], expected[known])
        inside, covered = drawn.U.any(axis=1), drawn.V.any(axis=0)
        for j in np.flatnonzero(covered):
            level = drawn.X[inside][:, drawn.V[:, j]].mean() if inside.any() else 0.0
            nobody = ~known[:, j] & drawn.U.any(axis=0)
            drawn.close(found[nobody, j], np.full(nobody.sum(), level))


def test_costs_of_rows_and_columns_are_the_literal_ones():
    for seed in range(40):
        drawn = Drawn(seed)
        engine, pair = make_engine(drawn.X), (drawn.rows, drawn.columns)
        features = engine.column_features(drawn.rows, None)
        M = block_means(features, *pair)
        terms = make_terms(drawn.problem, "columns", features, pair)
        d = numpy_.distances(features, terms)
        for t, j in np.ndindex(d.shape):
            inside = np.flatnonzero(drawn.U.any(axis=1))
            fitted = M[drawn.followed[inside, j], j]
            drawn.close(d[t, j], np.square(drawn.X[inside, t] - fitted).sum())
        scores = engine.row_scores(
            make_terms(drawn.problem, "rows", features, pair), pair[1], sums=True
        )
        filled = drawn.U.any(axis=0)
        for size in range(1, filled.sum() + 1):
            for chosen in combinations(np.flatnonzero(filled), size):
                table = np.isin(np.arange(drawn.k), chosen)
                found = EITHER().present(scores, members(np.tile(table, (len(drawn.X), 1))))
                for row, cost in zip(drawn.X, found, strict=True):
                    drawn.close(cost, oracle.followed_cost(row, chosen, drawn.V, M))


# ------------------------------------------------------------------------------------ best sets


def draw_parts(seed, kind):
    rng = np.random.default_rng(seed)
    n, k, l = (int(rng.integers(1, high)) for high in (9, 8, 5))  # noqa: E741
    sums, M = rng.normal(size=(n, l)), rng.normal(size=(k, l))
    if kind in ("tied", "nearly tied"):
        sums, M = np.round(sums), np.round(M)
    if kind == "nearly tied":
        # As far apart as sums in another order are.
        sums, M = (each * (1.0 + 2.0**-51 * rng.integers(-2, 3, each.shape)) for each in (sums, M))
    # Where only observed cells count, each item has others.
    counts = rng.integers(0, 4, size=(n, l) if kind == "observed" else l).astype(float)
    sums[np.broadcast_to(counts == 0, sums.shape)] = 0.0
    squares = np.square(sums).sum(axis=1) + rng.random(n)
    magnitude = np.square(M).sum(axis=1) * counts.max()
    if kind == "empty":
        magnitude[rng.random(k) < 0.4] = np.inf
        magnitude[0] = 1.0
    parts = Parts(sums, counts, -2.0 * M.T, np.square(M.T), magnitude)
    return parts, squares, 64.0 * (squares + 1.0), int(rng.integers(1, k + 1))


@pytest.mark.parametrize("kind", ["normal", "tied", "nearly tied", "empty", "observed"])
def test_best_sets_are_the_best_of_all(kind):
    for seed in range(80):
        parts, squares, anchors, largest = draw_parts(seed, kind)
        n, k = len(squares), len(parts.magnitude)
        results = []
        for kernels in (numpy_, numba_):
            curves = np.empty((n, largest))
            sets = np.full((n, largest, largest), -1, dtype=np.int32)
            kernels.least_sets(parts, squares, anchors, curves, sets)
            results.append((curves, sets))
        (curves, sets), (compiled, compiled_sets) = results
        np.testing.assert_array_equal(compiled_sets, sets)
        np.testing.assert_allclose(compiled, curves, rtol=0, atol=2.0**-44 * anchors.max())
        table = parts.table(slice(None))
        for p in range(n):
            before = ()
            for size in range(1, largest + 1):
                options = list(combinations(range(k), size))
                if size > 2:
                    options = [each for each in options if set(before) < set(each)]
                costs = {
                    each: squares[p] + table[p, list(each)].min(axis=0).sum()
                    if np.isfinite(parts.magnitude[list(each)]).all()
                    else np.inf
                    for each in options
                }
                before = tuple(sets[p, size - 1, :size].tolist())
                least = min(costs.values())
                assert costs[before] <= least + 2.0**-44 * anchors[p]
                if np.isfinite(least):
                    assert curves[p, size - 1] == pytest.approx(least, abs=2.0**-44 * anchors[p])
                else:
                    assert curves[p, size - 1] == np.inf


def test_assignments_are_nearly_the_cheapest():
    """Of all memberships that meet the counts; and never dearer than those before."""
    ratios, n_tried = [], 0
    for seed in range(120):
        rng = np.random.default_rng(seed)
        n, k, l, m = 5, 3, 2, 6  # noqa: E741
        X = (
            rng.normal(size=(n, m))
            + 2 * rng.normal(size=(k, l)).repeat(m // l, axis=1)[rng.integers(k, size=n)]
        )
        counts = Counts(n, k, int(rng.integers(n, n + 4)), int(rng.integers(0, 2)))
        U = make_membership(rng, counts)
        if not U.any(axis=0).all():
            continue
        V = np.eye(l, dtype=bool)[np.arange(m) % l]
        problem = Problem(OBJECTIVES["mean"], counts, Counts(m, l, m, 0), overlap_model=EITHER())
        engine, pair = make_engine(X), (EITHER().weighted(members(U)), members(V))
        features = engine.column_features(pair[0], None)
        M = block_means(features, *pair)
        terms = make_terms(problem, "rows", features, pair)
        scores = engine.row_scores(terms, pair[1], sums=True)._replace(members=pair[0])
        choices = EITHER().choices(scores, numpy_)

        def ask(method, given, *common, choices=choices):
            return [getattr(choices, method)(given[0], *common)]

        (thresholds,) = find_thresholds(ask, counts, 1, prices_first=True)
        found = choices.apply(thresholds).members
        assert is_feasible(found, counts, None) or found.has_empty
        costs = [
            {
                chosen: oracle.followed_cost(X[p], chosen, V, M)
                for size in range(1, k + 1)
                for chosen in combinations(range(k), size)
            }
            for p in range(n)
        ]
        least = oracle.lowest_total(costs, counts.n_memberships, counts.max_outliers)

        def total(table, costs=costs):
            return sum(
                of_row[tuple(np.flatnonzero(has).tolist())]
                for of_row, has in zip(costs, table, strict=True)
                if has.any()
            )

        followed = followed_clusters(found, l)
        for p in np.flatnonzero(found.numbers):
            fitted = M[followed[p], np.arange(l)] @ V.T
            expected = costs[p][tuple(np.flatnonzero(found.dense[p]).tolist())]
            assert np.square(X[p] - fitted).sum() == pytest.approx(expected, abs=1e-9)
        ratios.append(total(found.dense) / max(least, 1e-12))
        n_tried += 1
        gain = choices.apply(thresholds).gain
        assert gain == pytest.approx(total(U) - total(found.dense), abs=1e-9)
        step = half_step(engine, problem, "rows", features, pair)
        if not found.has_empty:
            assert total(step.members.dense) <= total(U) + 1e-9
    assert n_tried > 40
    assert max(ratios) < 1.03


def test_memberships_that_are_kept_follow_what_fits_best():
    n_kept = 0
    for seed in range(40):
        drawn = Drawn(seed)
        problem, pair = drawn.problem, (drawn.rows, drawn.columns)
        if not drawn.U.any(axis=0).all() or not drawn.V.any(axis=0).all():
            continue
        engine = make_engine(drawn.X)
        features = engine.column_features(drawn.rows, None)
        terms = make_terms(problem, "rows", features, pair)
        scores = engine.row_scores(terms, pair[1], sums=True)._replace(members=drawn.rows)
        choices = EITHER().choices(scores, numpy_)

        def ask(method, given, *common, choices=choices):
            return [getattr(choices, method)(given[0], *common)]

        dearer = Applied(members(np.roll(drawn.U, 1, axis=0)), 0.0, gain=-1.0)
        given = (problem.rows, EITHER(), drawn.rows, ask, lambda every: [every])
        found = settled(dearer, [dearer], *given)
        np.testing.assert_array_equal(found.dense, drawn.U)
        M, followed = block_means(features, *pair), followed_clusters(found, drawn.l)
        for p in np.flatnonzero(drawn.U.any(axis=1)):
            cost = np.square(drawn.X[p] - M[followed[p], np.arange(drawn.l)] @ drawn.V.T)
            expected = oracle.followed_cost(drawn.X[p], np.flatnonzero(drawn.U[p]), drawn.V, M)
            drawn.close(cost[drawn.V.any(axis=1)].sum(), expected)
        n_kept += 1
    assert n_kept > 10


# ----------------------------------------------------------------------------------- whole runs


def random_problem(seed):
    rng = np.random.default_rng(seed)
    kind = ("gaussian", "tied", "sparse", "duplicated", "zeros")[seed % 5]
    n, m = (int(size) for size in rng.integers(6, 30, size=2))
    X = make_data(kind, rng, n, m)
    k, l = int(rng.integers(2, 5)), int(rng.integers(1, 4))  # noqa: E741
    out, lost = int(rng.integers(0, 3)), int(rng.integers(0, 3)) if seed % 4 == 0 else 0
    n_memberships = n + int(rng.integers(-out, n // 2 + 1))
    # Clusters of two, where there are enough memberships for them.
    min_size = 2 if seed % 7 == 0 and n_memberships >= 2 * k else 1
    rows = Counts(n, k, n_memberships, out, min_size)
    columns = Counts(m, l, m - lost, lost)
    problem = Problem(OBJECTIVES["mean"], rows, columns, 30, 0.0, EITHER(int(rng.integers(2, 4))))
    return X, problem, rng


def check_runs(kernel, seeds):
    n_shared = 0
    for seed in seeds:
        X, problem, rng = random_problem(seed)
        engine = make_engine(X, kernel).centred(problem.centring)
        with watched() as steps:
            solution = solve(engine, problem, random_pair(problem, rng))
        check_run(X, solution, steps)
        followed = followed_clusters(solution.U, solution.V.n_clusters)
        inside = ~solution.U.outliers
        assert solution.U.dense[np.flatnonzero(inside)[:, None], followed[inside]].all()
        n_shared += int((solution.U.numbers > 1).sum())
    assert n_shared > 3 * len(seeds)


@pytest.mark.parametrize("kernel", ["numpy", "numba"])
def test_the_objective_never_rises_and_is_the_literal_one(kernel):
    check_runs(kernel, range(25))


@pytest.mark.slow
def test_the_objective_of_ten_thousand_runs_never_rises():
    check_runs("numba", range(10_000, 20_000))


def test_clusters_that_are_begun_again_do_not_raise_the_objective():
    """Many clusters of few rows: some are left empty, and filled with a row that follows them."""
    for seed in range(200, 230):
        rng = np.random.default_rng(seed)
        n, m = (int(size) for size in rng.integers(5, 12, size=2))
        k, l = int(rng.integers(3, 6)), int(rng.integers(2, 4))  # noqa: E741
        X = make_data(("gaussian", "tied", "duplicated")[seed % 3], rng, n, m)
        rows = Counts(n, k, n + int(rng.integers(1, n)), 0)
        problem = Problem(OBJECTIVES["mean"], rows, Counts(m, l, m, 0), 30, 0.0, EITHER(3))
        engine = make_engine(X).centred(problem.centring)
        with watched() as steps:
            solution = solve(engine, problem, random_pair(problem, rng))
        check_run(X, solution, steps)


def test_a_partition_may_begin_with_overlap():
    """Rows are given one cluster each, and what they followed before is counted as it was."""
    for seed in range(20):
        X, problem, rng = random_problem(seed)
        U, V = random_pair(problem, rng)
        rows = Counts(len(X), problem.rows.n_clusters, len(X), 0)
        engine = make_engine(X).centred(problem.centring)
        with watched() as steps:
            solution = solve(engine, replace(problem, rows=rows), (U, V))
        check_half_steps(X, steps)
        assert (solution.U.numbers == 1).all()


def test_a_run_goes_on_where_it_was():
    """What is followed is kept, so that a second run begins at the end of the first."""
    for seed in range(20):
        X, problem, rng = random_problem(seed)
        engine = make_engine(X).centred(problem.centring)
        first = solve(engine, replace(problem, max_iter=2), random_pair(problem, rng))
        second = solve(engine, problem, first.pair)
        assert second.history[0] == pytest.approx(first.objective, rel=1e-12, abs=1e-12)


def test_a_search_is_no_higher_than_its_starts():
    X, problem, rng = random_problem(0)
    (*_, best) = search(make_engine(X), problem, "random", 4, rng, thorough=True)
    assert (np.diff(best.history) <= 1e-9 * np.square(X).sum()).all()
    assert is_feasible(best.U, problem.rows, problem.overlap_model.most)


def test_gains_of_single_rows_are_literal_changes():
    """While others follow what they do; the row itself follows what is best afterwards."""
    n_checked = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        n, m, k, l = 8, 6, 3, 2  # noqa: E741
        X = rng.normal(size=(n, m))
        U = np.eye(k, dtype=bool)[np.arange(n) % k] | (rng.random((n, k)) < 0.3)
        U[0] = False
        V = np.eye(l, dtype=bool)[np.arange(m) % l]
        counts = [Counts(*each.shape, int(each.sum()), 1) for each in (U, V)]
        setting = Setting("mean", Instance("drawn", X, *counts, U, V), overlap_model=EITHER(3))
        followed = np.array([rng.choice(np.flatnonzero(u), l) if u.any() else [-1] * l for u in U])
        some = np.flatnonzero(U.sum(axis=1) > 1)
        rows = following(members(U), some, followed[some].astype(np.int32))
        exchange = setting.exchange("rows", rows, members(V))

        def lowest(p, chosen, X=X, V=V, followed=followed, k=k, l=l):  # noqa: E741
            ways = np.indices((len(chosen),) * l).reshape(l, -1).T if len(chosen) else [[0] * l]
            tries = []
            for way in ways:
                other = followed.copy()
                other[p] = np.asarray(chosen)[way] if len(chosen) else -1
                tries.append(oracle.followed_objective(X, other, V, k))
            return min(tries)

        for p, q in np.ndindex(U.shape):
            changed = U[p].copy()
            changed[q] ^= True
            before, after = (lowest(p, np.flatnonzero(each)) for each in (U[p], changed))
            found = -exchange.savings[p, q] if U[p, q] else exchange.costs[p, q]
            if np.isfinite(found):
                assert found == pytest.approx(after - before, abs=1e-9 * np.square(X).sum())
                n_checked += 1
    assert n_checked > 150


# ------------------------------------------------------------------------------------ estimators


def planted(seed, n=120, m=40, k=4, l=3):  # noqa: E741
    """Rows of two clusters that follow both of them."""
    rng = np.random.default_rng(seed)
    M, U = 3 * rng.normal(size=(k, l)), np.eye(k, dtype=bool)[np.arange(n) % k]
    V = np.eye(l, dtype=bool)[np.arange(m) % l]
    followed = np.repeat(U.argmax(axis=1)[:, None], l, axis=1)
    for p in range(0, n, 5):
        other = (p + 1 + rng.integers(k - 1)) % k
        U[p, other] = True
        followed[p, rng.integers(l)] = other
    X = M[followed, np.arange(l)] @ V.T + 0.3 * rng.normal(size=(n, m))
    return X, U, V, followed


def test_planted_rows_are_found_with_what_they_follow():
    X, U, _, _ = planted(3)
    model = NEOCC(4, 3, overlap_model="either", row_overlap=0.2, n_init=4, random_state=0).fit(X)
    shared = U.T.astype(int) @ model.row_membership_
    match = shared.argmax(axis=1)
    assert (model.row_membership_[:, match] == U).all()
    assert model.followed_.shape == (120, 3)
    assert np.take_along_axis(model.row_membership_, model.followed_, axis=1).all()
    value = objective_value(
        X, model.row_membership_, model.column_membership_, overlap_model="either"
    )
    assert value == pytest.approx(model.objective_, rel=1e-12)
    literal = oracle.followed_objective(X, model.followed_, model.column_membership_, 4)
    assert literal == pytest.approx(model.objective_, rel=1e-10)
    table = oracle.followed_table(X, model.followed_, model.column_membership_, 4)
    np.testing.assert_allclose(model.block_means_, table, rtol=1e-9, atol=1e-9)
    assert (model.predict_membership(X) == model.row_membership_).all()
    distances = model.transform(X)
    for p in range(5):
        expected = [
            oracle.followed_cost(X[p], [i], model.column_membership_, table) for i in range(4)
        ]
        np.testing.assert_allclose(distances[p], expected, rtol=1e-8)


def test_values_of_given_memberships_are_fixed_points_near_the_lowest():
    above = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X, k, l = rng.normal(size=(5, 6)), 3, 2  # noqa: E741
        U = np.eye(k, dtype=bool)[rng.integers(k, size=5)] | (rng.random((5, k)) < 0.3)
        U[rng.random(5) < 0.1] = False
        V = np.eye(l, dtype=bool)[np.arange(6) % l]
        found, least = (
            objective_value(X, U, V, overlap_model="either"),
            oracle.lowest_followed(X, U, V),
        )
        assert found >= least - 1e-9
        above.append(found / max(least, 1e-9))
        # A second look changes nothing.
        engine, problem = make_engine(X), Drawn(0).problem
        once = fixed_pair(engine, problem, members(U), members(V))
        again = fixed_pair(engine, problem, *once)
        assert objective_value(X + 7.0, U, V, overlap_model="either") == pytest.approx(found)
        if once[0].virtual is not None:
            np.testing.assert_array_equal(again[0].virtual.dense, once[0].virtual.dense)
    assert np.median(above) < 1.05


@pytest.mark.parametrize("refine", [False, True])
def test_a_fit_from_given_memberships_ends_no_higher_than_their_value(refine):
    """Rows that are given several clusters begin with the best of what they may follow."""
    n_lower = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X, U, V, _ = planted(seed, n=24, m=12)
        X = X + rng.normal(size=X.shape)
        value = objective_value(X, U, V, overlap_model="either")
        options = {"overlap_model": "either", "row_overlap": U.sum() / 24 - 1, "refine": refine}
        model = NEOCC(4, 3, **options, init=(U, V), max_iter=1, n_init=1, random_state=0).fit(X)
        assert model.objective_ <= value * (1 + 1e-9)
        first = np.repeat(U.argmax(axis=1)[:, None], 3, axis=1)
        n_lower += value < oracle.followed_objective(X, first, V, 4) * (1 - 1e-9)
        assert model.history_[0] <= oracle.followed_objective(X, first, V, 4) * (1 + 1e-9)
    assert n_lower > 5


def test_what_it_cannot_do_is_refused():
    X = planted(0)[0]
    with pytest.raises(ValueError, match="columns of one cluster each"):
        NEOCC(3, 3, overlap_model="either", row_overlap=0.2, column_overlap=0.2).fit(X)
    with pytest.raises(ValueError, match="minus column_outliers"):
        NEOCC(3, 3, overlap_model="either", row_overlap=0.2, column_outliers=0.1).fit(X)
    with pytest.raises(ValueError, match="columns of one cluster each"):
        objective_value(X, np.ones((120, 2)), np.ones((40, 2)), overlap_model="either")
    with pytest.raises(ValueError, match="makes no sense for objective='residue'"):
        NEOCC(3, 3, objective="residue", overlap_model="either").fit(X)


def test_columns_may_be_left_out():
    X = planted(1)[0].copy()
    X[:, 7] = 50 * np.random.default_rng(0).normal(size=len(X))
    fractions = {"row_overlap": 0.2, "column_overlap": -0.025, "column_outliers": 0.025}
    model = NEOCC(4, 3, overlap_model="either", **fractions, n_init=4, random_state=0).fit(X)
    assert np.flatnonzero(model.column_outliers_).tolist() == [7]
    assert (model.column_membership_.sum(axis=1) <= 1).all()


def test_parts_of_memberships_keep_what_is_followed():
    for seed in range(30):
        drawn = Drawn(seed)
        n = len(drawn.X)
        cut = [drawn.rows.slice(0, n // 2), drawn.rows.slice(n // 2, n)]
        joined = Memberships.joined([each for each in cut if each.n_items])
        np.testing.assert_array_equal(followed_clusters(joined, drawn.l), drawn.followed)
        some = np.flatnonzero(drawn.rng.random(n) < 0.5)
        taken = drawn.rows.take(some)
        np.testing.assert_array_equal(followed_clusters(taken, drawn.l), drawn.followed[some])
        assert (taken.dense == drawn.U[some]).all()
        copied = pickle.loads(pickle.dumps(drawn.rows))
        np.testing.assert_array_equal(followed_clusters(copied, drawn.l), drawn.followed)


def test_rows_that_follow_others_have_changed():
    """Sums that are updated from changed rows are those of all rows."""
    for seed in range(40):
        drawn = Drawn(seed)
        some = np.flatnonzero(drawn.U.sum(axis=1) > 1)
        followed = drawn.followed.copy()
        for p in some[::2]:
            followed[p] = drawn.rng.choice(np.flatnonzero(drawn.U[p]), size=drawn.l)
        other = following(members(drawn.U), some, followed[some].astype(np.int32))
        expected = (followed != drawn.followed).any(axis=1)
        np.testing.assert_array_equal(changed_items(drawn.rows, other), expected)


def test_columns_are_scored_by_virtual_sums():
    drawn = Drawn(3)
    features = make_features(make_engine(drawn.X), drawn.problem, (drawn.rows, drawn.columns))
    terms = make_terms(drawn.problem, "columns", features, (drawn.rows, drawn.columns))
    assert features.sums.shape[1] == drawn.rows.summed.n_clusters == drawn.k * (1 + drawn.l)
    scores = score(get_kernels("numpy", 0), features, terms, drawn.columns)
    assert scores.d.shape == drawn.V.shape
