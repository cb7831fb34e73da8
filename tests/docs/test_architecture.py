"""docs/architecture.md is true: its code runs, its files exist, its examples do what they claim."""

from __future__ import annotations

import inspect
import os
import re
from dataclasses import replace
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest
from instances import make_engine
from scipy import sparse

import neocc
from neocc.core.engine import Engine
from neocc.core.initialise import random_pair
from neocc.core.objectives import OBJECTIVES, Objective
from neocc.core.overlap import OVERLAP_MODELS, Scores
from neocc.core.prices import find_thresholds
from neocc.core.problem import Counts, Problem
from neocc.core.search import search
from neocc.core.shards import Shards
from neocc.core.solve import solve
from neocc.kernels import numpy_

PAGE = Path(__file__).parents[2] / "docs" / "architecture.md"
TEXT = PAGE.read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
SOURCE = Path(neocc.__file__).parent


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """Run all blocks of the page, one after the other; return the names they define."""
    names = {"__name__": "architecture"}
    before = Path.cwd()
    os.chdir(tmp_path_factory.mktemp("page"))
    try:
        for number, block in enumerate(BLOCKS):
            exec(compile(block, f"{PAGE.name}, block {number}", "exec"), names)
    finally:
        os.chdir(before)
        if "workers" in names:
            names["workers"].__exit__(None, None, None)
    return names


def test_the_code_of_the_page_runs(page):
    assert len(BLOCKS) > 10
    assert page["model"].row_membership_.shape == (6, 2)


def test_every_assertion_is_reached_with_something_to_compare(page):
    assert len(page["found"].history) > 2
    assert len(page["solution"].history) > 1
    assert page["level"] > 100


def test_every_file_that_the_page_names_exists():
    files = set(re.findall(r"`((?:tests/)?[\w/]+(?:\.py|/))`", TEXT))
    assert len(files) > 20
    for name in files:
        beside = [SOURCE, SOURCE.parents[1], SOURCE / "core/objectives", SOURCE / "core/overlap"]
        beside += [SOURCE / "kernels"]
        assert any((folder / name).exists() for folder in beside), name


def test_every_function_that_the_page_places_is_there():
    placed = re.findall(r"`(\w+)(?:\.\w+)?` (?:in|\()\s*`([\w/]+\.py)`", TEXT)
    assert len(placed) > 5
    for name, file in placed:
        assert name in (SOURCE / file).read_text(encoding="utf-8"), (name, file)


# ------------------------------------------------------------------------------- the objective


def make_problem(objective, n, m):
    rows = Counts.from_fractions(n, 3, overlap=0.2, outliers=0.1)
    columns = Counts.from_fractions(m, 2, overlap=0.1, outliers=0.1)
    return Problem(objective, rows, columns, tol=0.0)


def literal_value(X, U, V, levels):
    """The sum over blocks of squared differences from whichever level is best."""
    blocks = (X[np.ix_(u, v)] for u in U.T for v in V.T)
    return sum(min(np.square(block - level).sum() for level in levels) for block in blocks)


def check_levels(objective, levels, seed, kernel="numpy"):
    """Compare every value of a run with the literal formula, and see that none rises."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 7, size=(int(rng.integers(4, 30)), int(rng.integers(3, 20)))).astype(float)
    X = sparse.csr_array(X) if seed % 2 else X
    dense = X.toarray() if seed % 2 else X
    problem = make_problem(objective, *X.shape)
    engine = make_engine(X, kernel)
    pair = random_pair(problem, rng)
    rounding = 1e-9 * np.square(dense).sum() + 1e-9
    last = np.inf
    for _ in range(4):
        step = solve(engine.centred(problem.centring), replace(problem, max_iter=1), pair)
        value = literal_value(dense, pair[0].dense, pair[1].dense, levels)
        assert abs(step.history[0] - value) <= rounding
        assert abs(objective.value(engine.column_features(*pair), *pair) - value) <= rounding
        assert value <= last + rounding
        assert (np.diff(step.history) <= rounding).all()
        assert step.U.n_total == problem.rows.n_memberships
        last, pair = value, step.pair


@pytest.mark.parametrize("levels", [[0, 1], [1, 2, 3, 4, 5], [2.5], [-1, 8]])
def test_the_objective_is_its_formula_and_never_rises(page, levels):
    assert issubclass(page["Levels"], Objective)
    for seed in range(30):
        check_levels(page["Levels"](levels), levels, seed)


def test_the_objective_runs_on_compiled_kernels(page):
    for seed in range(4):
        check_levels(page["Levels"]([0, 3, 6]), [0, 3, 6], seed, "numba")


def test_a_wrong_objective_is_reported(page):
    """Each breaks one rule of the page: distances that sum to J, and tables that minimise it."""

    class Lower(page["Levels"]):
        def terms(self, side, features, pair, *, pairs=False):
            terms = super().terms(side, features, pair)
            return terms if side == "rows" else replace(terms, slope=1.01 * terms.slope)

    class Farthest(page["Levels"]):
        def table(self, features, U, V):
            return self.levels.sum() - super().table(features, U, V)

    for wrong in (Lower, Farthest):
        for seed in range(5):
            with pytest.raises(AssertionError):
                check_levels(wrong([0, 6]), [0, 6], seed)


# --------------------------------------------------------------------------- the overlap model


def discount(page, rate):
    return type("Other", (page["Discount"],), {"rate": rate})


def cost(d, rate, found):
    """The literal cost of memberships under a discount."""
    return sum(
        row[has].sum() * has.sum() ** -rate for row, has in zip(d, found, strict=True) if has.any()
    )


def lowest_cost(d, rate, counts, most):
    """Try all memberships with the exact counts."""
    k = d.shape[1]
    sets = [each for each in product([False, True], repeat=k) if sum(each) <= most]
    return min(
        cost(d, rate, np.array(chosen))
        for chosen in product(sets, repeat=len(d))
        if sum(map(sum, chosen)) == counts.n_memberships
        and sum(not any(each) for each in chosen) <= counts.max_outliers
    )


def in_blocks(model, d, counts, edges):
    """Assign blocks of items that are never seen together; return the memberships."""
    parts = [d[start:stop] for start, stop in pairwise(edges)]
    choices = [
        model.choices(
            Scores(each, each.argmin(1).astype(np.int32), each.min(1), each.shape[1]), numpy_
        )
        for each in parts
    ]

    def ask(method, given, *common):
        return [
            getattr(each, method)(one, *common) for each, one in zip(choices, given, strict=True)
        ]

    thresholds = find_thresholds(ask, counts, len(parts), prices_first=model.prices_first)
    applied = [each.apply(one) for each, one in zip(choices, thresholds, strict=True)]
    return np.concatenate([each.members.dense for each in applied])


@pytest.mark.parametrize("most", [1, 2, 3])
def test_the_overlap_model_finds_the_lowest_cost(page, most):
    n, k = 4, 3
    for seed in range(40):
        rng = np.random.default_rng([most, seed])
        # Small integers: ties everywhere.
        d = rng.integers(0, 5 if seed % 2 else 1000, size=(n, k)).astype(float)
        outliers, rate = int(rng.integers(0, 3)), float(rng.choice([0.0, 0.5, 1.0]))
        counts = Counts(n, k, int(rng.integers(n - outliers, most * n + 1)), outliers)
        if counts.is_partition:
            continue
        model = discount(page, rate)(most)
        found = in_blocks(model, d, counts, [0, n])
        assert found.sum() == counts.n_memberships
        assert found.sum(axis=1).max() <= most
        assert (~found.any(axis=1)).sum() <= outliers
        assert np.isclose(cost(d, rate, found), lowest_cost(d, rate, counts, most))
        np.testing.assert_array_equal(in_blocks(model, d, counts, [0, 1, 3, n]), found)


@pytest.mark.parametrize(("rate", "name"), [(0.0, "repeat"), (1.0, "share")])
def test_the_overlap_model_is_one_of_the_house_at_either_end(page, rate, name):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 12))
    problem = make_problem(OBJECTIVES["mean"], 30, 12)
    pair = random_pair(problem, rng)
    models = discount(page, rate)(3), OVERLAP_MODELS[name](3)
    one, other = (solve(make_engine(X), replace(problem, overlap_model=m), pair) for m in models)
    np.testing.assert_array_equal(one.U.dense, other.U.dense)
    np.testing.assert_allclose(one.history, other.history, rtol=1e-12)


def test_the_overlap_model_has_all_methods(page):
    assert not inspect.isabstract(page["Discount"])


# ---------------------------------------------------------------------------------- the engine


@pytest.mark.parametrize("kind", ["dense", "shifted", "sparse"])
@pytest.mark.parametrize("objective", ["mean", "residue"])
@pytest.mark.parametrize("edges", [[0, 1, 50, 90], [0, 90], [*range(0, 91, 9)]])
def test_the_engine_gives_the_memberships_of_one_shard(page, kind, objective, edges):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 15)) + np.kron(rng.normal(size=(3, 3)), np.ones((30, 5)))
    X = sparse.csr_array(np.where(X > 1, X, 0)) if kind == "sparse" else X
    X = X + 50 if kind == "shifted" else X
    problem = make_problem(OBJECTIVES[objective], *X.shape)
    whole = make_engine(X)
    parts = Engine(page["ListShards"](whole.shards, np.array(edges)))
    for seed in range(3):
        pair = random_pair(problem, np.random.default_rng(seed))
        one, other = (
            solve(engine.centred(problem.centring), problem, pair) for engine in (whole, parts)
        )
        np.testing.assert_array_equal(one.U.dense, other.U.dense)
        np.testing.assert_array_equal(one.V.dense, other.V.dense)
        np.testing.assert_allclose(one.history, other.history, rtol=1e-11)


def test_a_whole_search_runs_on_the_engine(page):
    X = np.random.default_rng(0).normal(size=(40, 12))
    problem = make_problem(OBJECTIVES["mean"], 40, 12)
    whole = make_engine(X)
    engines = whole, Engine(page["ListShards"](whole.shards, np.array([0, 13, 40])))
    one, other = (
        list(search(each, problem, "neo-kmeans", 1, np.random.default_rng(1), thorough=True))[-1]
        for each in engines
    )
    np.testing.assert_array_equal(one.U.dense, other.U.dense)


def test_the_engine_has_all_that_its_protocol_asks_for(page):
    whole = make_engine(np.eye(3))
    shards = page["ListShards"](whole.shards, np.array([0, 2, 3]))
    asked = {name for name in vars(Shards) if not name.startswith("_")}
    assert asked | set(inspect.get_annotations(Shards)) <= set(dir(shards))
