"""Items that blend two clusters: rates of counts, and means of observed cells, literally."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import observed
import pytest
from instances import make_engine, make_membership, members
from scipy import sparse
from scipy.optimize import minimize
from stores import MANY_BLOCKS, same_bits, same_fit

from neocc import NEOCC, objective_value
from neocc.core.objectives import Observed
from neocc.core.objectives.blends import clusters_in_types, curvature, types_of
from neocc.core.objectives.poisson import POISSON
from neocc.core.overlap import STORED_MODELS, make_overlap_model
from neocc.core.problem import Counts, Problem
from neocc.core.search.local import OneSide, local_search
from neocc.core.solve import solve
from neocc.core.steps import half_step, make_features, make_terms
from neocc.io import load_model, save_model, write_store

BLEND, SUM = (STORED_MODELS[key](2) for key in ("blend", "blended-sum"))
KINDS = ("poisson", "observed", "zero cost", "sums", "sums at zero cost")
each_kind = pytest.mark.parametrize("kind", KINDS)


def halves(U):
    """Memberships as parts of their items."""
    return U / np.maximum(U.sum(axis=1, keepdims=True), 1)


class Case:
    """Random data of a kind, feasible memberships of two clusters at most, and the literal J."""

    def __init__(self, kind, seed, shape=(9, 7), k=3, l=2):  # noqa: E741
        rng = np.random.default_rng([seed, KINDS.index(kind)])
        self.kind, n, m = kind, *shape
        if kind == "poisson":
            self.X = rng.poisson(rng.gamma(1.0, size=(n, 1)) * rng.gamma(0.5, 4.0, size=(1, m)))
            self.X = self.X.astype(float)
            self.objective = type(POISSON)(prior=float(rng.choice([0.1, 1.0, 5.0])))
            self.engine = make_engine(sparse.csr_array(self.X) if seed % 2 else self.X)
        else:
            self.X = rng.normal(size=shape) + rng.choice([0.0, 3.0])
            self.W = (rng.random(shape) < 0.6) * rng.choice([1.0, 2.0], size=shape)
            shrinkage = float(rng.choice([0.5, 10.0]))
            self.objective = Observed("zero" not in kind, shrinkage=shrinkage)
            self.engine = observed.make_engine(self.X, self.W, "numba" if seed % 2 else "numpy")
        rows, columns = Counts(n, k, n + 2, 1), Counts(m, l, m + int(seed % 3 == 0), 1)
        self.model = SUM if "sums" in kind else BLEND
        self.problem = Problem(self.objective, rows, columns, overlap_model=self.model)
        self.pair = tuple(self._start(rng, side) for side in (rows, columns))

    def _start(self, rng, counts):
        """Draw memberships; an empty cluster would get a member, whatever that costs."""
        while not (found := make_membership(rng, counts, 2)).any(axis=0).all():
            pass
        return self.model.weighted(members(found))

    def parts(self, U):
        return U.astype(float) if self.model is SUM else halves(U)

    def cost(self, U, V, M):
        """J of a table of values of clusters."""
        X, covered = self.X, np.outer(U.any(axis=1), V.any(axis=1))
        fitted = self.parts(U) @ M @ self.parts(V).T
        if self.kind == "poisson":
            expected = np.outer(X.sum(axis=1), X.sum(axis=0)) / max(X.sum(), 1.0)
            rates = np.where(covered, fitted, 1.0)
            prior = self.objective.prior * (M - 1.0 - np.log(M)).sum()
            return (expected * (rates - 1.0) - X * np.log(rates)).sum() + prior
        outside = self.W * X**2 if self.objective.background else 0.0
        errors = np.where(covered, self.W * (X - fitted) ** 2, outside)
        return errors.sum() + self.objective.shrinkage * (M**2).sum()

    def literal(self, U, V):
        """The least J of memberships: found by a general method, from values that say nothing."""
        shape = (U.shape[1], V.shape[1])
        if self.kind == "poisson":
            found = minimize(
                lambda u: self.cost(U, V, np.exp(u.reshape(shape))), np.zeros(np.prod(shape))
            )
            found = minimize(
                lambda u: self.cost(U, V, np.exp(u.reshape(shape))), found.x, tol=1e-12
            )
        else:
            found = minimize(lambda u: self.cost(U, V, u.reshape(shape)), np.zeros(np.prod(shape)))
        return float(found.fun)

    @property
    def scale(self):
        return max(1.0, np.abs(self.X).sum() * 10.0)

    def table(self, pair):
        features = make_features(self.engine, self.problem, pair)
        if self.kind == "poisson":
            return self.objective.lifts(features, *pair)
        return self.objective.block_means(features, *pair)


def test_types_are_numbered_as_their_table_says():
    rng = np.random.default_rng(0)
    for k in (1, 2, 5):
        U = make_membership(rng, Counts(12, k, 12 + min(k - 1, 1) * 4, 2), 2)
        found = types_of(members(U))
        P = clusters_in_types(k)
        assert found.n_clusters == len(P)
        np.testing.assert_allclose(found.indicator @ P, halves(U))


def test_curvature_is_that_of_the_quadratic_form():
    rng = np.random.default_rng(0)
    P, Q, W = clusters_in_types(3), clusters_in_types(2), rng.random((6, 3))
    M = rng.normal(size=(3, 2))
    expected = (W * (P @ M @ Q.T) ** 2).sum()
    assert M.ravel() @ curvature(W, P, Q) @ M.ravel() == pytest.approx(expected)


@each_kind
def test_tables_are_the_best_and_values_and_half_steps_are_literal(kind):
    for seed in range(6):
        case = Case(kind, seed)
        pair, problem = case.pair, case.problem
        U, V = (each.dense for each in pair)
        best = case.cost(U, V, case.table(pair))
        assert best <= case.literal(U, V) + 1e-9 * case.scale
        features = make_features(case.engine, problem, pair)
        found = problem.objective.value(features, *pair)
        assert found == pytest.approx(best, abs=1e-10 * case.scale)
        constant = problem.objective.constant(case.engine)
        for side in ("rows", "columns"):
            step = half_step(case.engine, problem, side, features, pair)
            assert step.objective + constant == pytest.approx(best, abs=1e-10 * case.scale)


@each_kind
def test_distances_of_types_are_what_sets_cost_at_the_same_values(kind):
    for seed in range(8):
        case = Case(kind, seed)
        U, V = (each.dense for each in case.pair)
        M = case.table(case.pair)
        features = make_features(case.engine, case.problem, case.pair)
        terms = make_terms(case.problem, "rows", features, case.pair)
        d = case.engine.row_distances(terms, case.pair[1])
        sets = [(i,) for i in range(3)] + list(combinations(range(3), 2))
        assert d.shape == (len(U), len(sets))
        for p in range(len(U)):
            out = U.copy()
            out[p] = False
            without = case.cost(out, V, M)
            for place, chosen in enumerate(sets):
                inside = out.copy()
                inside[p, list(chosen)] = True
                expected = case.cost(inside, V, M) - without
                assert d[p, place] == pytest.approx(expected, abs=1e-10 * case.scale)


def check_runs(kind, seeds):
    n_lower = 0
    for seed in seeds:
        case = Case(kind, seed, shape=(12, 8))
        run = solve(case.engine, case.problem, case.pair)
        assert np.diff(run.history).max(initial=0.0) <= 1e-9 * case.scale, seed
        n_lower += run.history[-1] < run.history[0] - 1e-6 * case.scale
        for found, counts in zip(run.pair, (case.problem.rows, case.problem.columns), strict=True):
            assert found.n_total == counts.n_memberships
            assert found.numbers.max() <= 2
            assert found.outliers.sum() <= counts.max_outliers
        U, V = (each.dense for each in run.pair)
        literal = case.cost(U, V, case.table(run.pair))
        assert run.objective == pytest.approx(literal, abs=1e-9 * case.scale)
    assert n_lower > 0.6 * len(seeds)


@each_kind
def test_no_half_step_raises_the_objective_and_counts_are_met(kind):
    check_runs(kind, range(15))


@pytest.mark.slow
@each_kind
def test_no_half_step_of_ten_thousand_runs_raises_the_objective(kind):
    check_runs(kind, range(10_000, 20_000))


def test_modularity_is_a_start_of_blends():
    X, U, options = planted("poisson")
    options |= {"overlap_model": "average", "init": "modularity", "random_state": 0}
    fitted = NEOCC(3, 3, n_init=1, refine=False, **options).fit(X)
    assert fitted.row_membership_.sum() == U.sum()
    assert np.diff(fitted.history_).max() <= 1e-9 * X.sum()


@pytest.mark.parametrize("kind", KINDS[:4])
def test_a_search_never_ends_higher_than_it_began(kind):
    for seed in range(2):
        case = Case(kind, seed, shape=(12, 8))
        start = solve(case.engine, case.problem, case.pair)
        found = local_search(case.engine, case.problem, start)
        assert found.objective <= start.objective + 1e-9 * case.scale
        features = make_features(case.engine, case.problem, start.pair)
        swaps = OneSide(case.engine, case.problem, "rows").exchange(start.pair, features)
        assert np.isfinite(swaps.costs[start.U.numbers == 1]).any()
        assert np.isinf(swaps.costs[start.U.numbers == 2]).all()


def planted(kind, seed=0):
    """Rows in one cluster, or halfway between two."""
    rng = np.random.default_rng(seed)
    U = np.eye(3, dtype=bool)[rng.integers(3, size=90)]
    V = np.eye(3, dtype=bool)[rng.integers(3, size=40)]
    for p in range(15):
        U[p, rng.choice(np.flatnonzero(~U[p]))] = True
    if kind == "poisson":
        rates = np.array([[8.0, 0.5, 1.0], [0.5, 6.0, 1.0], [1.0, 0.5, 7.0]])
        X = rng.poisson(4.0 * halves(U) @ rates @ V.T).astype(float)
        return X, U, {"objective": "poisson", "row_overlap": 15 / 90}
    level = 2.0 * np.array([[2.0, -1.0, 0.0], [-1.0, 1.5, 1.0], [0.0, 0.5, -2.0]])
    parts = U if kind == "sums" else halves(U)
    X = parts @ level @ V.T + 0.3 * rng.normal(size=(90, 40))
    X[rng.random(X.shape) < 0.5] = np.nan
    return X, U, {"missing": "ignore", "shrinkage": 1.0, "row_overlap": 15 / 90}


@pytest.mark.parametrize("kind", ["poisson", "observed", "sums"])
def test_fits_find_what_was_planted_and_the_same_everywhere(set_pass_options, tmp_path, kind):
    X, U, options = planted(kind)
    model = "sum" if kind == "sums" else "average"
    options |= {"overlap_model": model, "random_state": 0, "n_init": 1}
    set_pass_options(**MANY_BLOCKS)
    fitted = NEOCC(3, 3, n_jobs=1, **options).fit(X)
    alike = fitted.row_membership_.astype(float).T @ U
    order = alike.argmax(axis=0)
    np.testing.assert_array_equal(fitted.row_membership_[:, order], U)
    if kind == "poisson":
        data = sparse.csr_array(X)
        value = objective_value(
            X, fitted.row_membership_, fitted.column_membership_, "poisson", "average"
        )
        assert value == pytest.approx(fitted.objective_, rel=1e-10)
    else:
        at = np.nonzero(~np.isnan(X))
        data = sparse.csr_array((X[at], at), shape=X.shape)
        cells = fitted.predict_cells(*at)
        assert np.sqrt(np.mean((cells - X[at]) ** 2)) < 0.4
    store = write_store(tmp_path / "store", data, rows_per_block=17)
    there = NEOCC(3, 3, n_jobs=1, **options).fit(store)
    assert same_fit(there, NEOCC(3, 3, n_jobs=1, **options).fit(data))
    assert same_bits(NEOCC(3, 3, n_jobs=2, **options).fit(store), there)
    np.testing.assert_array_equal(fitted.predict_membership(X), fitted.row_membership_)
    save_model(fitted, tmp_path / "model.neocc")
    loaded = load_model(tmp_path / "model.neocc")
    np.testing.assert_array_equal(loaded.predict_membership(X), fitted.row_membership_)
    np.testing.assert_array_equal(loaded.transform(X), fitted.transform(X))
    assert loaded.transform(X).shape == (90, 3)


def test_larger_sets_are_refused():
    with pytest.raises(ValueError, match="max_memberships=3 is too many"):
        make_overlap_model("average", 3, "poisson")
    with pytest.raises(ValueError, match="max_memberships=3 is too many for overlap_model='sum'"):
        make_overlap_model("sum", 3, "observed")
    assert make_overlap_model("either", 3, "observed").most == 3


@pytest.mark.parametrize("kind", KINDS[:2])
def test_average_is_what_auto_takes(kind):
    X, _, options = planted(kind)
    fitted = NEOCC(3, 3, overlap_model="auto", random_state=0, n_init=1, refine=False, **options)
    assert fitted.fit(X).overlap_choice_.model == "average"
