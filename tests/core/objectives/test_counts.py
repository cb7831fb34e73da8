"""Objectives of counts against their literal formulas."""

from __future__ import annotations

from itertools import product

import count_oracle as literal
import numpy as np
import pytest
from instances import any_membership, make_engine, members
from scipy import sparse

from neocc import NEOCC, objective_value
from neocc.core.objectives import COUNTS, OBJECTIVES, make_objective
from neocc.core.overlap import OVERLAP_MODELS
from neocc.core.problem import Counts, Problem
from neocc.core.search.local import OneSide
from neocc.core.steps import distances, make_features, make_terms

KINDS = ("counts", "fractions", "sparse", "zeros", "empty", "one_row", "one_column")
MAKERS = {"dense": np.asarray, "sparse": sparse.csr_array}

CASES = list(product(literal.NAMES, literal.MODELS))
each_case = pytest.mark.parametrize(("name", "model"), CASES)


def draw(kind, seed, name):
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    X = literal.draw_counts(kind, rng, *rng.integers(2, 8, size=2))
    k, l = rng.integers(1, 4, size=2)  # noqa: E741
    l = k if OBJECTIVES[name].paired else l  # noqa: E741
    U, V = any_membership(rng, X.shape[0], int(k)), any_membership(rng, X.shape[1], int(l))
    return X, U, V, float(rng.choice([0.01, 1.0, 7.5]))


def problem_of(name, model, prior, U, V, most=None):
    sides = [Counts(*each.shape, each.sum(), (~each.any(axis=1)).sum()) for each in (U, V)]
    rule = OVERLAP_MODELS[model](most)
    return Problem(make_objective(name, prior=prior), *sides, overlap_model=rule)


def weighted(problem, *sides):
    return tuple(problem.overlap_model.weighted(members(each)) for each in sides)


def assert_close(found, expected, scale):
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12 * scale)


def test_all_of_counts_are_tested():
    assert COUNTS == literal.NAMES


@pytest.mark.parametrize("kind", KINDS)
@each_case
def test_values_are_the_literal_ones(name, model, kind):
    for seed in range(8):
        X, U, V, prior = draw(kind, seed, name)
        expected = literal.objective(X, U, V, name, model, prior)
        for make in MAKERS.values():
            found = objective_value(make(X), U, V, name, model, prior=prior)
            assert_close(found, expected, literal.scale(X, U, V))


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
@pytest.mark.parametrize("kernel", ["numpy", "numba"])
@each_case
def test_distances_are_the_literal_ones_and_add_up_to_the_objective(name, model, kernel, make):
    for seed, kind in product(range(5), KINDS):
        X, U, V, prior = draw(kind, seed, name)
        problem, engine = problem_of(name, model, prior, U, V), make_engine(make(X), kernel)
        pair, scale = weighted(problem, U, V), literal.scale(X, U, V)
        features = make_features(engine, problem, pair)
        for side, formula in (
            ("rows", literal.row_distances),
            ("columns", literal.column_distances),
        ):
            d = distances(engine, problem, side, pair)
            assert_close(d, formula(X, U, V, name, model, prior), scale)
            own = pair[0 if side == "rows" else 1]
            terms = make_terms(problem, side, features, pair)
            total = float((d * own.indicator).sum()) + terms.constant
            assert_close(total, literal.objective(X, U, V, name, model, prior), scale)


@each_case
def test_no_other_rates_cost_less(name, model):
    rng = np.random.default_rng(0)
    for seed, kind in product(range(4), KINDS):
        X, U, V, prior = draw(kind, seed, name)
        best = literal.lifts(X, U, V, name, model, prior)
        lowest = literal.table_cost(X, U, V, best, name, model, prior)
        for _ in range(4):
            other = best * np.exp(0.1 * rng.normal(size=best.shape))
            if name == "diagonal":
                away = ~np.eye(len(best), dtype=bool)
                other[away] = other[away][:1].sum()
            cost = literal.table_cost(X, U, V, other, name, model, prior)
            assert cost >= lowest - 1e-9 * literal.scale(X, U, V)


@pytest.mark.parametrize("name", literal.NAMES)
def test_lifts_are_rates_over_independence(name):
    X, U, V, prior = draw("counts", 3, name)
    problem = problem_of(name, "repeat", prior, U, V)
    pair = weighted(problem, U, V)
    features = make_features(make_engine(X), problem, pair)
    found = problem.objective.lifts(features, *pair)
    np.testing.assert_allclose(found, literal.lifts(X, U, V, name, "repeat", prior), rtol=1e-12)


@pytest.mark.parametrize("name", literal.NAMES)
def test_parts_of_blocks_add_up_to_the_objective(name):
    for seed in range(5):
        X, U, V, prior = draw("counts", seed, name)
        problem = problem_of(name, "share", prior, U, V)
        pair = weighted(problem, U, V)
        features = make_features(make_engine(X), problem, pair)
        parts = problem.objective.block_costs(None, features, *pair)
        assert parts.shape == (U.shape[1], V.shape[1])
        expected = literal.objective(X, U, V, name, "share", prior)
        assert_close(parts.sum(), expected, literal.scale(X, U, V))


def test_squared_differences_have_no_lifts():
    for name in ("mean", "residue"):
        assert OBJECTIVES[name].lifts(None, None, None) is None


# ----------------------------------------------------------------------------- single memberships


# With "share" several clusters change at once, and those of "diagonal" have a rate in common.
@pytest.mark.parametrize("side", ["rows", "columns"])
@pytest.mark.parametrize(
    ("name", "model"), [each for each in CASES if each != ("diagonal", "share")]
)
def test_gains_of_single_memberships_are_exact(name, model, side):
    at, n_checked = 0 if side == "rows" else 1, 0
    for seed, kind in product(range(3), ("counts", "sparse", "fractions")):
        X, U, V, prior = draw(kind, seed, name)
        problem, engine = problem_of(name, model, prior, U, V), make_engine(X)
        pair = weighted(problem, U, V)
        exchange = OneSide(engine, problem, side).exchange(
            pair, make_features(engine, problem, pair)
        )
        now, given = literal.objective(X, U, V, name, model, prior), (U, V)[at]
        for item, cluster in np.ndindex(given.shape):
            changed = given.copy()
            changed[item, cluster] ^= True
            sides = (changed, V) if at == 0 else (U, changed)
            rise = literal.objective(X, *sides, name, model, prior) - now
            found = exchange.costs[item, cluster]
            if given[item, cluster]:
                found = -exchange.savings[item, cluster]
            if np.isfinite(found):
                n_checked += 1
                assert found == pytest.approx(rise, rel=1e-8, abs=1e-9 * literal.scale(X, U, V))
    assert n_checked > 50


# ------------------------------------------------------------------------------- input and output


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
@pytest.mark.parametrize("name", literal.NAMES)
def test_negative_numbers_are_refused_by_their_cell(name, make):
    X = np.ones((6, 5))
    X[:, 1] = 0.0
    X[4, 2] = -2.5
    message = r"found -2\.5 at row 4, column 2"
    with pytest.raises(ValueError, match=message):
        NEOCC(2, 2, objective=name).fit(make(X))
    with pytest.raises(ValueError, match=message):
        objective_value(make(X), np.ones((6, 2)), np.ones((5, 2)), name)
    model = NEOCC(2, 2, objective=name, random_state=0).fit(make(np.abs(X)))
    with pytest.raises(ValueError, match=message):
        model.predict(make(X))


@pytest.mark.parametrize("name", ["diagonal", "modularity"])
def test_paired_clusters_must_be_as_many(name):
    X = np.ones((6, 5))
    with pytest.raises(ValueError, match="n_row_clusters=2 and n_column_clusters=3"):
        NEOCC(2, 3, objective=name).fit(X)
    with pytest.raises(ValueError, match="n_row_clusters=1 and n_column_clusters=2"):
        objective_value(X, np.ones((6, 1)), np.ones((5, 2)), name)
    with pytest.raises(ValueError, match="'modularity' pairs"):
        NEOCC(2, 3, objective="poisson", init="modularity").fit(X)


@pytest.mark.parametrize(
    ("name", "model"),
    [("poisson", "sum"), *product(("diagonal", "modularity"), ("average", "sum"))],
)
def test_models_that_combine_prototypes_are_refused(name, model):
    with pytest.raises(ValueError, match=f"makes no sense for objective='{name}'"):
        NEOCC(2, 2, objective=name, overlap_model=model).fit(np.ones((4, 4)))
    with pytest.raises(ValueError, match=f"makes no sense for objective='{name}'"):
        objective_value(np.ones((4, 4)), np.ones((4, 2)), np.ones((4, 2)), name, model)


def test_starts_and_estimates_that_need_squares_are_refused():
    X = np.ones((6, 5))
    with pytest.raises(ValueError, match="init='sdp'"):
        NEOCC(2, 2, objective="poisson", init="sdp").fit(X)
    with pytest.raises(ValueError, match="init='modularity'"):
        NEOCC(2, 2, init="modularity").fit(X)
    with pytest.warns(UserWarning, match="not estimated for counts"):
        NEOCC(2, 2, objective="poisson", row_overlap="auto").fit(X)
    with pytest.raises(ValueError, match="prior"):
        NEOCC(2, 2, objective="poisson", prior=0.0).fit(X)
    with pytest.raises(ValueError, match="prior"):
        objective_value(X, np.ones((6, 1)), np.ones((5, 1)), "poisson", prior=-1.0)
