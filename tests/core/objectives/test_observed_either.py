"""Rows that follow one cluster or another over observed cells, against formulas cell by cell."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, product

import numpy as np
import observed
import pytest
from instances import make_counts, make_membership, members
from instances import make_engine as make_plain_engine
from sides import watched

from neocc.core.objectives import MEAN, Observed
from neocc.core.overlap import OVERLAP_MODELS, followed_clusters, following
from neocc.core.problem import Counts, Problem
from neocc.core.search.local import OneSide, local_search
from neocc.core.solve import solve
from neocc.core.steps import distances, fixed_pair, half_step, make_features, make_terms

EITHER = OVERLAP_MODELS["either"]


def literal_table(X, W, followed, V, k, shrinkage):
    """Means of the observed cells of those that follow a block, and of a further zero.

    NaN where there is nothing that it could be the mean of.
    """
    M = np.full((k, V.shape[1]), np.nan)
    for i, j in np.ndindex(M.shape):
        total, weight = 0.0, shrinkage
        for p, t in np.ndindex(W.shape):
            if W[p, t] > 0 and V[t, j] and followed[p, j] == i:
                total += W[p, t] * X[p, t]
                weight += W[p, t]
        if weight > 0:
            M[i, j] = total / weight
    return M


def literal_objective(X, W, followed, V, k, of, M=None):
    """J: squared errors of observed cells from the block that each row follows, and the ridge."""
    M = literal_table(X, W, followed, V, k, of.shrinkage) if M is None else M
    J = of.shrinkage * np.nansum(M**2)
    for p, t in np.ndindex(W.shape):
        if W[p, t] > 0:
            square = W[p, t] * X[p, t] ** 2
            J += square if of.background else 0.0
            for j in np.flatnonzero(V[t]):
                if followed[p, j] >= 0:
                    J += W[p, t] * (X[p, t] - M[followed[p, j], j]) ** 2
                    J -= square if of.background else 0.0
    return J


class Drawn:
    """Observed cells with rows that follow clusters of theirs, drawn at random."""

    def __init__(self, seed, largest=7):
        case = observed.draw_case(seed, "share", largest)
        rng = self.rng = np.random.default_rng(seed)
        self.X, self.W, self.of = case.X, case.W, case.problem.objective
        (n, m), self.most = self.X.shape, (None, 2)[seed % 4 == 1]
        self.k, self.l = (int(rng.integers(1, min(size, 4) + 1)) for size in (n, m))
        rows, lost = make_counts(rng, n, self.k, self.most), int(rng.integers(m)) * (seed % 3 == 0)
        columns = Counts(m, self.l, m - int(rng.integers(lost + 1)), lost)
        self.U = make_membership(rng, rows, self.most)
        self.V = make_membership(rng, columns, 1)
        self.problem = Problem(self.of, rows, columns, 30, 0.0, EITHER(self.most))
        self.followed = np.array(
            [
                rng.choice(np.flatnonzero(has), self.l) if has.any() else [-1] * self.l
                for has in self.U
            ],
            dtype=np.int32,
        )
        some = np.flatnonzero(self.U.sum(axis=1) > 1)
        self.pair = following(members(self.U), some, self.followed[some]), members(self.V)

    @property
    def start(self):
        weighted = self.problem.overlap_model.weighted
        return weighted(members(self.U)), weighted(members(self.V))

    def engine(self, kernel="numpy", **options):
        return observed.make_engine(self.X, self.W, kernel, **options)

    def literal(self, followed, V, M=None):
        return literal_objective(self.X, self.W, followed, V, self.k, self.of, M)

    def literal_of(self, pair):
        return self.literal(followed_clusters(pair[0], self.l), pair[1].dense)

    @property
    def limit(self):
        return 1e-10 * ((self.W * self.X**2).sum() * self.l + 1e-290)

    def close(self, found, expected):
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=self.limit)


@pytest.mark.parametrize("kernel", ["numpy", "numba"])
def test_objectives_and_tables_are_the_literal_ones(kernel):
    for seed in range(60):
        drawn = Drawn(seed)
        engine, (U, V) = drawn.engine(kernel), drawn.pair
        features = make_features(engine, drawn.problem, (U, V))
        found = drawn.of.block_means(features, U, V)
        M = literal_table(drawn.X, drawn.W, drawn.followed, drawn.V, drawn.k, drawn.of.shrinkage)
        known = ~np.isnan(M)
        np.testing.assert_allclose(found[known], M[known], rtol=1e-10, atol=1e-13)
        expected = drawn.literal(drawn.followed, drawn.V)
        drawn.close(drawn.of.value(features, U, V), expected)
        for side in ("rows", "columns"):
            step = half_step(engine, drawn.problem, side, features, (U, V))
            drawn.close(step.objective + drawn.of.constant(engine), expected)


def test_no_other_table_has_a_lower_objective():
    for seed in range(30):
        drawn = Drawn(seed)
        features = make_features(drawn.engine(), drawn.problem, drawn.pair)
        M = drawn.of.block_means(features, *drawn.pair)
        lowest = drawn.literal(drawn.followed, drawn.V, M)
        for size in (1e-3, 1.0):
            other = M + size * drawn.rng.normal(size=M.shape)
            assert drawn.literal(drawn.followed, drawn.V, other) >= lowest - drawn.limit


def test_a_block_that_nobody_follows_has_the_mean_of_all_or_the_expected_value():
    n_checked = 0
    for seed in range(80):
        drawn = Drawn(seed)
        features = make_features(drawn.engine(), drawn.problem, drawn.pair)
        found, given = drawn.of.block_means(features, *drawn.pair), drawn.of.shrinkage
        M = literal_table(drawn.X, drawn.W, drawn.followed, drawn.V, drawn.k, given)
        for i, j in np.argwhere(np.isnan(M)):
            inside = drawn.U.any(axis=1)
            W = drawn.W[inside][:, drawn.V[:, j]]
            level = (W * drawn.X[inside][:, drawn.V[:, j]]).sum() / max(W.sum(), 1e-300)
            several = drawn.pair[0].virtual is not None
            drawn.close(found[i, j], level if several and drawn.U[:, i].any() else 0.0)
            n_checked += several
    assert n_checked > 20


def test_costs_of_rows_and_columns_are_the_literal_ones():
    for seed in range(30):
        drawn = Drawn(seed)
        engine, pair = drawn.engine(), drawn.pair
        features = make_features(engine, drawn.problem, pair)
        M, back = drawn.of.block_means(features, *pair), drawn.of.background
        d = distances(engine, drawn.problem, "columns", pair, features)
        E = drawn.W * np.square(np.where(drawn.W > 0, drawn.X, 0.0))
        for t, j in np.ndindex(d.shape):
            inside = np.flatnonzero(drawn.U.any(axis=1) & (drawn.W[:, t] > 0))
            errors = np.square(drawn.X[inside, t] - M[drawn.followed[inside, j], j])
            squares = E[inside, t].sum() if back else 0.0
            drawn.close(d[t, j], drawn.W[inside, t] @ errors - squares)
        terms = make_terms(drawn.problem, "rows", features, pair)
        scores = engine.row_scores(terms, pair[1], sums=True)
        for size in range(1, drawn.k + 1):
            for chosen in combinations(range(drawn.k), size):
                table = np.isin(np.arange(drawn.k), chosen)
                found = EITHER().present(scores, members(np.tile(table, (len(drawn.X), 1))))
                for p, cost in enumerate(found):
                    expected = 0.0
                    for j, columns in enumerate(drawn.V.T):
                        at = np.flatnonzero(columns & (drawn.W[p] > 0))
                        errors = np.square(drawn.X[p, at][:, None] - M[list(chosen), j])
                        expected += (drawn.W[p, at] @ errors).min()
                        expected -= E[p, at].sum() if back else 0.0
                    drawn.close(cost, expected)


def check_runs(seeds, kernel="numpy"):
    """No half-step raises the literal objective, and each knows it; counts are met."""
    n_lower = n_shared = n_all_zero = 0
    for seed in seeds:
        drawn = Drawn(seed, largest=6)
        engine = drawn.engine(kernel)
        problem = drawn.problem.sparing_all_zero(engine)
        with watched() as steps:
            solution = solve(engine, problem, drawn.start)
        constant, limit = drawn.of.constant(engine), 10.0 * drawn.limit
        history = [drawn.literal_of(step.before) for step in steps]
        n_lower += observed.check_run(steps, solution, history, problem, constant, limit, seed)
        if problem.row_all_zero is not None:
            assert solution.U.numbers[problem.row_all_zero].max() <= 1
            n_all_zero += 1
        followed, inside = followed_clusters(solution.U, drawn.l), ~solution.U.outliers
        assert solution.U.dense[np.flatnonzero(inside)[:, None], followed[inside]].all()
        n_shared += int((solution.U.numbers > 1).any())
    assert n_lower > len(seeds) / 2
    assert n_shared > len(seeds) / 4
    assert n_all_zero > len(seeds) / 100


@pytest.mark.parametrize("kernel", ["numpy", "numba"])
def test_no_half_step_raises_the_literal_objective(kernel):
    check_runs(range(50), kernel)


@pytest.mark.slow
def test_no_half_step_of_ten_thousand_runs_raises_the_literal_objective():
    check_runs(range(10_000, 20_000))


@pytest.mark.parametrize("background", [False, True])
def test_where_all_cells_are_observed_it_is_the_mean(background):
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(30, 20))
        counts = Counts(30, 3, 38, 3), Counts(20, 4, 18, 2)
        U = members(np.eye(3, dtype=bool)[rng.integers(3, size=30)])
        V = members(np.eye(4, dtype=bool)[rng.integers(4, size=20)])
        found = []
        for objective, engine in (
            (MEAN, make_plain_engine(X)),
            (Observed(), observed.make_engine(X, np.ones_like(X))),
        ):
            of = objective.against_background() if background else objective
            found.append(solve(engine, Problem(of, *counts, overlap_model=EITHER(3)), (U, V)))
        plain, ours = found
        for one, other in zip(plain.pair, ours.pair, strict=True):
            assert (one.summed.dense == other.summed.dense).all()
        np.testing.assert_allclose(ours.history, plain.history, rtol=1e-9)


def test_a_weight_of_two_is_a_row_given_twice():
    for seed in range(20):
        drawn = Drawn(seed)
        twice = drawn.rng.random(len(drawn.X)) < 0.5
        rows = np.repeat(np.arange(len(twice)), 1 + twice)
        values = []
        once = np.arange(len(twice))
        for some, W in ((once, drawn.W * (1.0 + twice[:, None])), (rows, drawn.W[rows])):
            several = np.flatnonzero(drawn.U[some].sum(axis=1) > 1)
            U = following(members(drawn.U[some]), several, drawn.followed[some][several])
            engine = observed.make_engine(drawn.X[some], W)
            features = make_features(engine, drawn.problem, (U, drawn.pair[1]))
            values.append(drawn.of.value(features, U, drawn.pair[1]))
        assert values[0] == pytest.approx(values[1], rel=1e-10, abs=drawn.limit)


@pytest.mark.parametrize("side", ["rows", "columns"])
def test_gains_of_single_memberships_are_literal_changes(side):
    """While others follow what they do; a row itself follows what is best afterwards."""
    n_checked = 0
    for seed in range(30):
        drawn = Drawn(seed, largest=5)
        problem = replace(drawn.problem, overlap_model=EITHER())
        engine = drawn.engine()
        features = make_features(engine, problem, drawn.pair)
        exchange = OneSide(engine, problem, side).exchange(drawn.pair, features)
        given = drawn.U if side == "rows" else drawn.V

        def lowest(p, chosen, drawn=drawn):
            tries = []
            for way in product(chosen, repeat=drawn.l) if len(chosen) else [(-1,) * drawn.l]:
                followed = drawn.followed.copy()
                followed[p] = way
                tries.append(drawn.literal(followed, drawn.V))
            return min(tries)

        for p, q in np.ndindex(given.shape):
            changed = given[p].copy()
            changed[q] ^= True
            found = -exchange.savings[p, q] if given[p, q] else exchange.costs[p, q]
            if not np.isfinite(found):
                continue
            if side == "rows":
                before, after = (lowest(p, np.flatnonzero(each)) for each in (given[p], changed))
            else:
                V = drawn.V.copy()
                V[p] = changed
                before, after = (drawn.literal(drawn.followed, each) for each in (drawn.V, V))
            assert found == pytest.approx(after - before, abs=10.0 * drawn.limit), seed
            n_checked += 1
    assert n_checked > 150


def test_a_search_never_ends_higher_than_it_began():
    for seed in range(8):
        drawn = Drawn(seed, largest=6)
        start = solve(drawn.engine(), drawn.problem, drawn.start)
        found = local_search(drawn.engine(), drawn.problem, start)
        assert found.objective <= start.objective + drawn.limit
        drawn.close(found.objective, drawn.literal_of(found.pair))


def test_given_memberships_settle_what_they_follow():
    for seed in range(30):
        drawn = Drawn(seed)
        once = fixed_pair(drawn.engine(), drawn.problem, members(drawn.U), members(drawn.V))
        again = fixed_pair(drawn.engine(), drawn.problem, *once)
        assert (once[0].dense == drawn.U).all()
        drawn.close(drawn.literal_of(again), drawn.literal_of(once))
