"""Objectives of counts never rise over random and degenerate instances, by literal formulas."""

from __future__ import annotations

from itertools import product

import count_oracle as literal
import numpy as np
import pytest
from instances import make_counts, make_engine, make_membership, members
from scipy import sparse
from sides import assert_feasible, watched

from neocc import NEOCC
from neocc.core.initialise import random_start
from neocc.core.objectives import OBJECTIVES, make_objective
from neocc.core.overlap import OVERLAP_MODELS
from neocc.core.problem import Problem
from neocc.core.solve import solve

# Small data with much overlap: clusters may well coincide.
pytestmark = pytest.mark.filterwarnings("ignore::neocc.RedundancyWarning")

KINDS = ("counts", "tied", "fractions", "sparse", "empty", "zeros", "one_row", "one_per_item")
BOUNDS = (None, 1, 2, 3)
each_case = pytest.mark.parametrize(("name", "model"), list(product(literal.NAMES, literal.MODELS)))


class Run:
    """A problem with its data, and a start."""

    def __init__(self, name, model, seed, largest=6):
        rng = np.random.default_rng(seed)
        kind, self.most = KINDS[seed % len(KINDS)], BOUNDS[seed // 2 % len(BOUNDS)]
        self.X = literal.draw_counts(kind, rng, *rng.integers(1, largest + 1, size=2))
        n, m = self.X.shape
        k, l = (int(rng.integers(1, min(size, 4) + 1)) for size in (n, m))  # noqa: E741
        if kind == "one_per_item":
            k, l = n, m  # noqa: E741
        if OBJECTIVES[name].paired:
            k = l = min(k, l)  # noqa: E741
        self.prior = float(rng.choice([0.1, 1.0, 5.0]))
        sides = make_counts(rng, n, k, self.most), make_counts(rng, m, l, self.most)
        rule = OVERLAP_MODELS[model](self.most)
        objective = make_objective(name, prior=self.prior)
        self.engine = make_engine(sparse.csr_array(self.X) if seed % 3 == 0 else self.X)
        problem = Problem(objective, *sides, tol=0.0, overlap_model=rule)
        self.problem = problem.sparing_all_zero(self.engine)
        if seed % 5:
            self.pair = tuple(random_start(each, rng, self.most) for each in sides)
        else:  # with empty clusters, at times
            self.pair = tuple(members(make_membership(rng, each, self.most)) for each in sides)

    def literal(self, pair):
        problem = self.problem
        given = (each.dense for each in pair)
        names = (problem.objective.name, problem.overlap_model.name)
        return literal.objective(self.X, *given, *names, self.prior)

    def check(self):
        """Solve, and compare every half-step with the literal formula; return the solution."""
        with watched() as steps:
            solution = solve(self.engine, self.problem, self.pair)
        scale = literal.scale(self.X, *(each.dense for each in self.pair)) * 10.0
        assert solution.history.tolist() == [step.objective for step in steps]
        for step in steps:
            before, after = self.literal(step.before), self.literal(step.after)
            assert step.objective == pytest.approx(before, rel=1e-10, abs=1e-11 * scale)
            own = step.after[0 if step.side == "rows" else 1]
            assert_feasible_counts(own, self.problem.counts(step.side), self.most)
            if (all_zero := self.problem.all_zero(step.side)) is not None:
                assert own.numbers[all_zero].max() <= 1
            if not step.before[0 if step.side == "rows" else 1].has_empty:
                assert after <= before + 1e-10 * scale, f"{step.side}: {before} to {after}"
        if not any(each.has_empty for each in self.pair):
            assert np.diff(solution.history).max(initial=0.0) <= 1e-10 * scale
        return solution


def assert_feasible_counts(found, counts, most):
    """As `assert_feasible`; with fewer memberships than clusters more of these may be empty."""
    if counts.n_memberships >= counts.n_clusters:
        assert_feasible(found, counts, most)
    assert found.n_total == counts.n_memberships
    assert found.outliers.sum() <= counts.max_outliers


def check(name, model, seeds):
    n_overlaps = n_outliers = n_steps = 0
    for seed in seeds:
        try:
            solution = Run(name, model, seed).check()
        except AssertionError as error:
            raise AssertionError(f"{name}, {model}, seed {seed}: {error}") from error
        n_overlaps += any((each.numbers > 1).any() for each in solution.pair)
        n_outliers += any(each.outliers.any() for each in solution.pair)
        n_steps += len(solution.history)
    # Not vacuous: many have overlap or outliers, and most make several steps.
    assert n_overlaps > 0.15 * len(seeds)
    assert n_outliers > 0.2 * len(seeds)
    assert n_steps > 2.5 * len(seeds)


@each_case
def test_no_half_step_raises_the_literal_objective(name, model):
    check(name, model, range(40))


@pytest.mark.slow
@each_case
def test_no_half_step_of_ten_thousand_runs_raises_the_literal_objective(name, model):
    check(name, model, range(10_000, 20_000))


@each_case
@pytest.mark.parametrize("init", ["neo-kmeans", "random", "sketch", "modularity"])
def test_no_half_step_from_any_start_raises_the_literal_objective(name, model, init):
    for seed in range(len(KINDS)):
        run = Run(name, model, seed)
        rows, columns = run.problem.rows, run.problem.columns
        if init == "modularity" and rows.n_clusters != columns.n_clusters:
            continue
        fit = NEOCC(
            rows.n_clusters,
            columns.n_clusters,
            objective=name,
            prior=run.prior,
            overlap_model=model,
            max_memberships=run.most,
            row_overlap=rows.n_memberships / rows.n_items - 1,
            row_outliers=rows.max_outliers / rows.n_items,
            column_overlap=columns.n_memberships / columns.n_items - 1,
            column_outliers=columns.max_outliers / columns.n_items,
            init=init,
            n_init=1,
            refine=seed % 2 == 0,
            random_state=0,
            n_jobs=1,
        ).fit(run.X)
        pair = members(fit.row_membership_), members(fit.column_membership_)
        scale = literal.scale(run.X, fit.row_membership_, fit.column_membership_)
        assert fit.objective_ == pytest.approx(run.literal(pair), rel=1e-9, abs=1e-10 * scale)
        assert np.diff(fit.history_).max(initial=0.0) <= 1e-9 * scale
        assert_feasible_counts(pair[0], rows, run.most)
        assert_feasible_counts(pair[1], columns, run.most)


@each_case
def test_transposing_exchanges_the_roles(name, model):
    for seed in range(10):
        run = Run(name, model, seed)
        names = (name, model, run.prior)
        U, V = (each.dense for each in run.pair)
        there, back = (
            literal.objective(*given, *names) for given in ((run.X, U, V), (run.X.T, V, U))
        )
        assert back == pytest.approx(there, rel=1e-9, abs=1e-9)


def test_clusters_of_one_item_each_keep_to_the_counts():
    X = np.random.default_rng(0).poisson(3.0, size=(5, 4)).astype(float)
    fit = NEOCC(5, 4, objective="poisson", random_state=0).fit(X)
    assert (fit.row_membership_.sum(axis=0) == 1).all()
    assert (fit.column_membership_.sum(axis=0) == 1).all()


@pytest.mark.parametrize("name", literal.NAMES)
def test_nothing_at_all_is_independent(name):
    fit = NEOCC(2, 2, objective=name, random_state=0).fit(np.zeros((6, 5)))
    assert fit.objective_ == 0.0
    assert (fit.block_lifts_ == 1.0).all()


@pytest.mark.parametrize("name", literal.NAMES)
def test_rows_without_counts_are_left_out_first(name):
    X = np.kron([[9.0, 1.0], [1.0, 9.0]], np.ones((5, 4)))
    X[3] = X[7] = 0.0
    options = {"row_outliers": 0.2, "row_overlap": -0.2, "random_state": 0}
    fit = NEOCC(2, 2, objective=name, **options).fit(X)
    assert np.flatnonzero(fit.row_outliers_).tolist() == [3, 7]
    # New rows without counts follow nothing: out where that is allowed, else in the first cluster.
    assert not fit.predict_membership(np.zeros((2, 8))).any()
    every = NEOCC(2, 2, objective=name, random_state=0).fit(X)
    assert every.predict_membership(np.zeros((1, 8))).tolist() == [[True, False]]
