"""What sets of clusters cost, from sums over clusters, against the formulas entry by entry.

Costs are sums of terms that cancel. They agree with the literal ones to 1e-10, or to 1e-12 of the
terms where nothing is left of these.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import oracle
import pytest
from instances import any_membership, make_data, make_engine, members
from scipy import sparse
from sides import literal_objective

from neocc import NEOCC, NEOKMeans, objective_value
from neocc.core.objectives import KMEANS, OBJECTIVES
from neocc.core.overlap import OVERLAP_MODELS
from neocc.core.problem import Counts, Problem
from neocc.core.solve import solve
from neocc.core.steps import half_step, make_features, make_terms, score

# The objective and the side that is clustered, or both.
CASES = ("mean", "residue", "rows", "columns")
MODELS_AND_CASES = [
    (model, case)
    for model in oracle.OVERLAP_MODELS
    for case in CASES
    if (model, case) != ("sum", "residue")
]
each_case = pytest.mark.parametrize(("model", "case"), MODELS_AND_CASES)
KINDS = ("gaussian", "tied", "sparse", "zeros", "constant", "one_row", "one_column")
SHAPES = ("any", "empty", "duplicate", "one cluster", "disjoint", "crowded")
FORMS = {
    "dense": np.asarray,
    "CSR": sparse.csr_array,
    "float32": lambda X: np.asarray(X, dtype=np.float32),
    "CSR float32": lambda X: sparse.csr_array(X.astype(np.float32)),
}


def in_some_form(X, seed):
    """Every kind of data and of memberships meets every form."""
    return list(FORMS.values())[seed // len(SHAPES) % len(FORMS)](X)


def draw_membership(rng, shape, n):
    """Memberships of n items: of any kind, or of a kind that is hard for least squares."""
    k = int(rng.integers(2, 5))
    U = any_membership(rng, n, k)
    if shape == "empty":
        U[:, rng.integers(k)] = False
    if shape == "duplicate":
        U[:, 1] = U[:, 0]
    if shape == "one cluster":
        U = rng.random((n, 1)) < 0.8
    if shape == "disjoint":
        U = np.eye(k, dtype=bool)[rng.integers(k, size=n)]
    if shape == "crowded":
        U[:] = True
    return U


def draw(seed, offset=0.0):
    rng = np.random.default_rng(seed)
    X = make_data(KINDS[seed % len(KINDS)], rng, *rng.integers(2, 7, size=2))
    # Numbers that are exact in float32 and far from zero: nothing is lost but by the code.
    X = np.round(X / (np.abs(X).max() or 1.0) * 64.0) / 8.0 + offset
    shapes = SHAPES[seed % len(SHAPES)], SHAPES[(seed // 2) % len(SHAPES)]
    U, V = (draw_membership(rng, *each) for each in zip(shapes, X.shape, strict=True))
    return X, U, V


def make_problem(case, model, U, V, most=None):
    counts = [Counts(*each.shape, int(each.sum()), len(each) - 1) for each in (U, V)]
    overlap = OVERLAP_MODELS[model](most)
    if case in ("rows", "columns"):
        one_way = counts[0] if case == "rows" else None, counts[1] if case == "columns" else None
        return Problem(KMEANS, *one_way, overlap_model=overlap)
    return Problem(OBJECTIVES[case], *counts, overlap_model=overlap)


def make_pair(problem, U, V):
    given = {"rows": U, "columns": V}
    return tuple(
        problem.overlap_model.weighted(members(given[side])) if side in problem.sides else None
        for side in ("rows", "columns")
    )


def scale_of(X, U, V):
    """What terms that cancel may add up to: each entry as often as it has memberships."""
    return max(1.0, (X**2).sum()) * max(U.shape[1], 1) * max(V.shape[1], 1)


def assert_close(found, expected, scale):
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12 * scale)


# ------------------------------------------------------------------------------------ objectives


def value_of(engine, problem, pair):
    """The objective from the features of columns, as expanded."""
    products = pair[1] if problem.needs_products else None
    return problem.objective.value(engine.column_features(pair[0], products), *pair)


@each_case
def test_objectives_are_the_literal_ones(model, case):
    for seed in range(12):
        X, U, V = draw(seed)
        expected = literal_objective(case, X, U, V, model)
        problem = make_problem(case, model, U, V)
        pair, data = make_pair(problem, U, V), in_some_form(X, seed)
        for kernel in ("numpy", "numba"):
            engine = make_engine(data, kernel)
            for each in (engine, engine.centred(problem.centring)):
                assert_close(value_of(each, problem, pair), expected, scale_of(X, U, V))
        if case in ("mean", "residue"):
            found = objective_value(data, U, V, case, model)
            assert_close(found, expected, scale_of(X, U, V))


@each_case
def test_half_steps_compute_the_literal_objective(model, case):
    for seed in range(12):
        X, U, V = draw(seed)
        problem = make_problem(case, model, U, V)
        pair = make_pair(problem, U, V)
        expected = literal_objective(case, X, U, V, model)
        for data in (X, sparse.csr_array(X)):
            engine = make_engine(data, "numba").centred(problem.centring)
            features = make_features(engine, problem, pair)
            for side in problem.sides:
                step = half_step(engine, problem, side, features, pair)
                assert_close(step.objective, expected, scale_of(X, U, V))


@pytest.mark.parametrize(("model", "case"), [each for each in MODELS_AND_CASES if each[0] != "sum"])
def test_what_is_added_to_all_entries_changes_nothing(model, case):
    """Far from zero as precisely as near it: 2^20 is subtracted again before anything is summed."""
    for seed in range(12):
        X, U, V = draw(seed)
        far = X + 2.0**20
        problem = make_problem(case, model, U, V)
        pair = make_pair(problem, U, V)
        engine = make_engine(far).centred(problem.centring)
        expected = literal_objective(case, X, U, V, model)
        assert_close(value_of(engine, problem, pair), expected, scale_of(X, U, V))
        if case in ("mean", "residue"):
            found = objective_value(far, U, V, case, model)
            assert_close(found, expected, scale_of(X, U, V))


def test_sums_far_from_zero_are_as_precise_as_their_terms():
    for seed in range(12):
        X, U, V = draw(seed, offset=1000.0)
        expected = oracle.overlap_objective(X, U, V, "mean", "sum")
        assert_close(objective_value(X, U, V, "mean", "sum"), expected, scale_of(X, U, V))


@pytest.mark.parametrize("model", oracle.OVERLAP_MODELS)
def test_the_table_has_the_least_cost(model):
    """The literal table, which all else rests on: no other costs less."""
    rng = np.random.default_rng(0)
    for seed in range(12):
        X, U, V = draw(seed)
        M = oracle.block_table(X, U, V, model)
        least = oracle.table_cost(X, U, V, M, model)
        for _ in range(5):
            other = M + 1e-2 * rng.normal(size=M.shape)
            assert oracle.table_cost(X, U, V, other, model) >= least - 1e-12 * scale_of(X, U, V)


@pytest.mark.parametrize("name", ["mean", "residue", "kmeans"])
def test_disjoint_memberships_cost_the_same_in_every_model(name):
    rng = np.random.default_rng(0)
    X, U, V = rng.normal(size=(7, 6)), np.eye(3)[np.arange(7) % 3], np.eye(2)[np.arange(6) % 2]
    U[3] = V[2] = 0
    values = [oracle.overlap_objective(X, U, V, name, model) for model in oracle.OVERLAP_MODELS]
    if name != "residue":
        assert_close(values, values[0], 1.0)
    assert_close(values[:3], values[0], 1.0)


def test_share_is_average_and_the_variance_of_prototypes():
    # mean (x - M)^2 = (x - mean M)^2 + var M, for any table.
    X, U, V = draw(0)
    M = np.random.default_rng(0).normal(size=(U.shape[1], V.shape[1]))
    spread = sum(np.var(M[np.ix_(u, v)]) for u in U for v in V if u.any() and v.any())
    share, average = (oracle.table_cost(X, U, V, M, model) for model in ("share", "average"))
    assert share == pytest.approx(average + spread, rel=1e-12)


# ----------------------------------------------------------------------------------------- curves


def choices_of(engine, problem, side, U, V):
    """What the items of a side can choose from, as a half-step sees it."""
    pair = make_pair(problem, U, V)
    features = make_features(engine, problem, pair)
    terms = make_terms(problem, side, features, pair)
    model = problem.overlap_model
    if side == "rows":
        (shard,) = engine.shards.each
        return shard.choices(pair[0], terms, pair[1], model, True)
    return model.choices(score(engine.kernels, features, terms, pair[1]), engine.kernels)


def literal_set_costs(case, side, X, U, V, model, most):
    """The cost of every set of clusters, for each item of a side."""
    name = case if case in ("mean", "residue") else "kmeans"
    if side == "rows":
        return oracle.set_costs(X, U, V, name, model, most)
    return oracle.set_costs(X.T, V, U, name, model, most)


def of_size(costs, size):
    return {chosen: cost for chosen, cost in costs.items() if len(chosen) == size}


@each_case
def test_curves_are_the_literal_costs_of_sets(model, case):
    n_greedy = 0
    for seed in range(24):
        X, U, V = draw(seed)
        # The paper's model needs no curves unless memberships are bounded.
        most = 3 if model == "repeat" or seed % 2 else None
        problem = make_problem(case, model, U, V, most)
        kernel = "numba" if seed % 3 else "numpy"
        engine = make_engine(in_some_form(X, seed), kernel).centred(problem.centring)
        for side in problem.sides:
            choices = choices_of(engine, problem, side, U, V)
            k = (U if side == "rows" else V).shape[1]
            largest = min(k, most or k)
            assert choices.curves.shape == (X.shape[0 if side == "rows" else 1], largest)
            every = literal_set_costs(case, side, X, U, V, model, largest)
            scale = scale_of(X, U, V)
            for item, costs in enumerate(every):
                for size in range(1, largest + 1):
                    some, found = of_size(costs, size), choices.curves[item, size - 1]
                    chosen = tuple(choices.sets[item, size - 1, :size].tolist())
                    assert_close(found, some[chosen], scale)
                    lowest = min(some.values())
                    if size <= 2 or model in ("repeat", "share"):
                        assert_close(found, lowest, scale)
                    else:
                        n_greedy += 1
                        assert found >= lowest - 1e-12 * scale
    assert model in ("repeat", "share") or n_greedy > 0


@each_case
def test_present_sets_cost_what_the_objective_says(model, case):
    """`sum_p C(A_p)` is J, the rule by which the parts of a model fit together."""
    for seed in range(12):
        X, U, V = draw(seed)
        problem = make_problem(case, model, U, V, U.shape[1] + V.shape[1])
        engine = make_engine(X).centred(problem.centring)
        expected = literal_objective(case, X, U, V, model)
        for side in problem.sides:
            choices = choices_of(engine, problem, side, U, V)
            assert_close(choices.present.sum(), expected, scale_of(X, U, V))
            assert_close(choices.scores.objective, expected, scale_of(X, U, V))


@pytest.mark.parametrize("model", ["average", "sum"])
def test_present_sets_compete_where_better_ones_were_not_found(model):
    """Triples grow from the best pair, and may be dearer than the one that an item has."""
    n_kept = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(6, 4))
        U = np.array([np.isin(np.arange(5), rng.permutation(5)[:3]) for _ in range(6)])
        problem = make_problem("rows", model, U, np.ones((4, 1), dtype=bool))
        choices = choices_of(make_engine(X), problem, "rows", U, None)
        price = oracle.set_pricer(X, U, None, "kmeans", model)
        for item, own in enumerate(np.flatnonzero(u).tolist() for u in U):
            assert choices.curves[item, 2] <= price(item, own) + 1e-10
            pair, three = choices.sets[item, 1][:2], choices.sets[item, 2][:3].tolist()
            n_kept += three == own and not set(pair.tolist()) <= set(own)
    assert n_kept > 3


# ------------------------------------------------------------------------------ what is published


def crowded(seed=0, n=14, m=9):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, m)) + 40.0 * rng.normal(size=(n, 1)) + rng.normal(size=m)
    return X + 7.0


@pytest.mark.parametrize("objective", ["mean", "residue"])
@pytest.mark.parametrize("model", oracle.OVERLAP_MODELS)
def test_published_tables_and_objectives_are_the_literal_ones_of_the_data_as_given(
    model, objective
):
    if (model, objective) == ("sum", "residue"):
        return
    for seed in range(2):
        X = crowded(seed)
        options = {"row_overlap": 0.5, "row_outliers": 0.1, "column_overlap": 0.4}
        fitted = NEOCC(
            3, 2, objective=objective, overlap_model=model, random_state=seed, refine=False,
            n_init=2, **options,
        ).fit(X)  # fmt: skip
        U, V = fitted.row_membership_, fitted.column_membership_
        expected = oracle.overlap_objective(X, U, V, objective, model)
        assert fitted.objective_ == pytest.approx(expected, rel=1e-10, abs=1e-10)
        assert fitted.history_[-1] == pytest.approx(expected, rel=1e-9)
        table = oracle.block_table(X, U, V, model)
        if np.linalg.matrix_rank(np.kron(U * 1.0, V * 1.0)) == table.size:
            np.testing.assert_allclose(fitted.block_means_, table, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("model", oracle.OVERLAP_MODELS)
def test_published_centres_are_the_literal_prototypes(model):
    for seed in range(6):
        X = crowded(seed)
        fitted = NEOKMeans(
            3, overlap=0.4, outliers=0.1, overlap_model=model, random_state=seed, n_init=2
        ).fit(X)
        U = fitted.membership_
        expected = oracle.overlap_objective(X, U, None, "kmeans", model)
        assert fitted.objective_ == pytest.approx(expected, rel=1e-9)
        centres = oracle.prototypes(X, U, model)
        np.testing.assert_allclose(fitted.cluster_centers_, centres, rtol=1e-9, atol=1e-9)


@each_case
def test_histories_are_computed_of_what_they_tell(model, case):
    """A run stopped after i iterations ends with the literal objective that a longer one notes."""
    X = crowded(3, 12, 9)
    rng = np.random.default_rng(1)
    U, V = (rng.random((12, 3)) < 0.5), (rng.random((9, 3)) < 0.5)
    problem = make_problem(case, model, U, V, 3)
    engine = make_engine(X).centred(problem.centring)
    pair = make_pair(problem, U, V)
    run = solve(engine, problem, pair)
    per_iteration = len(problem.sides)
    for n_iter in range(1, run.n_iter):
        part = solve(engine, replace(problem, max_iter=n_iter), pair)
        U_then, V_then = (None if each is None else each.dense for each in part.pair)
        expected = literal_objective(case, X, U_then, V_then, model)
        assert part.history.tolist() == run.history[: n_iter * per_iteration + 1].tolist()
        assert_close(part.history[-1], expected, (X**2).sum())
