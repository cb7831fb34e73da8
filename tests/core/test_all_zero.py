"""Items without data say nothing about clusters: they have one membership at most."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from instances import make_engine
from scipy import sparse
from stand_in import stand_in
from stores import MANY_BLOCKS, same_bits, same_fit

from neocc import NEOCC
from neocc.core.objectives import OBJECTIVES, Observed
from neocc.core.overlap import OVERLAP_MODELS, make_overlap_model
from neocc.core.problem import Counts, Problem
from neocc.core.search.local import OneSide
from neocc.core.solve import solve
from neocc.core.steps import make_features
from neocc.engines import Workers, on_gpu, open_engine
from neocc.engines.observed import ObservedMatrix
from neocc.io import load_model, save_model, write_store
from neocc.kernels import Memberships, numpy_

pytestmark = pytest.mark.filterwarnings("ignore::neocc.RedundancyWarning")

CASES = [
    *product(("poisson", "observed"), ("repeat", "share", "average")),
    *product(("diagonal", "modularity"), ("repeat", "share")),
]
each_case = pytest.mark.parametrize(("name", "model"), CASES)
ROWS, COLUMNS = np.arange(5, 12), np.array([3, 7])
OVERLAP = {"row_overlap": 0.3, "column_overlap": 0.3}


def data(name, seed=0):
    """Draw two blocks, without anything in some rows and columns."""
    rng = np.random.default_rng(seed)
    X = rng.poisson(1.0, (40, 30)).astype(float)
    X[:20, :15] += rng.poisson(3.0, (20, 15))
    X[20:, 15:] += rng.poisson(3.0, (20, 15))
    nothing = 0.0
    if name == "observed":
        nothing, X[rng.random(X.shape) < 0.5] = np.nan, np.nan
    X[ROWS], X[:, COLUMNS] = nothing, nothing
    return X


def make_model(name, model, **options):
    kind = {"objective": name}
    if name == "observed":
        kind = {"missing": "ignore", "remove_effects": True}
    given = {"overlap_model": model, "n_init": 1, "random_state": 0, "n_jobs": 1}
    return NEOCC(3, 3, **{**given, **kind, **OVERLAP, **options})


def assert_spared(fit, n=40, m=30):
    rows, columns = fit.row_membership_.sum(axis=1), fit.column_membership_.sum(axis=1)
    assert rows[ROWS].max() <= 1
    assert columns[COLUMNS].max() <= 1
    assert (rows.sum(), columns.sum()) == (round(1.3 * n), round(1.3 * m))
    assert np.diff(fit.history_).max(initial=0.0) <= 1e-9 * abs(fit.objective_)


@each_case
@pytest.mark.parametrize("refine", [False, True])
@pytest.mark.parametrize("outliers", [0.0, 0.1])
def test_further_memberships_go_to_items_with_data(name, model, refine, outliers):
    X = data(name)
    for init in ("random", "neo-kmeans"):
        options = {"init": init, "row_outliers": outliers, "column_outliers": outliers}
        fit = make_model(name, model, refine=refine, **options).fit(X)
        assert_spared(fit)
        found = fit.predict_membership(X), fit.predict_membership(X, axis="columns")
        for members, at in zip(found, (ROWS, COLUMNS), strict=True):
            assert not members[at, 1:].any()
            assert (members[at, 0] == (outliers == 0.0)).all()


@each_case
def test_new_ones_are_spared_where_the_fit_had_none(name, model):
    X = data(name)
    fit = make_model(name, model, refine=False).fit(np.delete(X[12:], COLUMNS, axis=1))
    new = np.delete(X[ROWS], COLUMNS, axis=1)
    assert fit.predict_membership(new).tolist() == [[True, False, False]] * len(ROWS)


@each_case
def test_given_memberships_of_such_items_go_to_others(name, model):
    X = data(name)
    U, V = np.eye(3, dtype=bool)[np.arange(40) % 3], np.eye(3, dtype=bool)[np.arange(30) % 3]
    U[ROWS], V[COLUMNS] = [True, True, False], [True, True, False]
    U[20:25], V[12:19] = [True, False, True], [True, False, True]
    assert_spared(make_model(name, model, init=(U, V), refine=False).fit(X))


@each_case
def test_where_others_cannot_take_them_all_counts_are_met_all_the_same(name, model):
    most = 2 if model == "average" else 3
    options = {"row_overlap": most - 1, "column_overlap": most - 1, "refine": False}
    fit = make_model(name, model, init="random", max_memberships=most, **options).fit(data(name))
    assert (fit.row_membership_.sum(), fit.column_membership_.sum()) == (40 * most, 30 * most)


@pytest.mark.parametrize(("n_memberships", "spared"), [(9, True), (10, True), (11, False)])
def test_they_are_spared_as_long_as_others_can_take_the_rest(n_memberships, spared):
    """Four of six rows may have two memberships each, the other two have one."""
    counts = Counts(6, 3, n_memberships, 0), Counts(5, 2, 5, 0)
    problem = Problem(OBJECTIVES["poisson"], *counts, overlap_model=OVERLAP_MODELS["share"](2))
    found = problem.sparing("rows", np.arange(6) < 2)
    assert (found.row_all_zero is not None) == spared


@pytest.mark.parametrize("model", ["repeat", "share"])
@pytest.mark.parametrize("outliers", [0, 2])
@pytest.mark.parametrize("seed", range(3))
def test_a_half_step_is_the_best_of_all_that_spare_them(model, outliers, seed):
    rng = np.random.default_rng(seed)
    X = rng.poisson(2.0, (6, 5)).astype(float)
    X[2:4] = 0.0
    counts = Counts(6, 2, 8, outliers), Counts(5, 2, 5, 0)
    engine = make_engine(X)
    problem = Problem(
        OBJECTIVES["poisson"], *counts, max_iter=1, overlap_model=OVERLAP_MODELS[model](2)
    ).sparing_all_zero(engine)
    V = Memberships.from_labels(np.arange(5) % 2, 2)
    U = Memberships.from_dense(_memberships(6, [0, 1, 2, 3, 4, 5], [0, 1]))
    terms_of = OneSide(engine, problem, "rows").exchange
    assert np.isinf(terms_of((U, V), make_features(engine, problem, (U, None))).costs[2:4]).all()
    found = solve(engine, problem, (U, V))
    d = _distances(X, U.dense, V.dense, model)
    least = min(
        _cost(d, each, model)
        for each in _all(6, 8, outliers)
        if (each[2:4].sum(axis=1) <= 1).all() and each.any(axis=0).all()
    )
    assert _cost(d, found.U.dense, model) == pytest.approx(least, rel=1e-9)


def _memberships(n, items, further):
    U = np.zeros((n, 2), dtype=bool)
    U[items, np.array(items) % 2] = True
    U[further] = True
    return U


def _all(n, total, outliers):
    """Yield all memberships in two clusters that meet the counts."""
    for chosen in combinations(range(2 * n), total):
        U = np.zeros(2 * n, dtype=bool)
        U[list(chosen)] = True
        U = U.reshape(n, 2)
        if (~U.any(axis=1)).sum() <= outliers:
            yield U


def _distances(X, U, V, model):
    """What rows cost in clusters of the given memberships, by the literal formula."""
    shares = U / np.maximum(U.sum(axis=1, keepdims=True), 1) if model == "share" else U
    r, c, N = X.sum(axis=1), X.sum(axis=0), X.sum()
    B, E = shares.T @ X @ V, np.outer(shares.T @ r, V.T @ c) / N
    lifts = (B + 1) / (E + 1)
    return -(X @ V) @ np.log(lifts).T + np.outer(r, (lifts - 1) @ (V.T @ c)) / N


def _cost(d, U, model):
    numbers = np.maximum(U.sum(axis=1), 1) if model == "share" else np.ones(len(U))
    return float((np.where(U, d, 0.0).sum(axis=1) / numbers).sum())


@pytest.mark.parametrize(("name", "model"), [("poisson", "share"), ("observed", "repeat")])
def test_stores_threads_and_files_agree(set_pass_options, tmp_path, name, model):
    set_pass_options(**MANY_BLOCKS)
    X = data(name)
    X = sparse.csr_array(np.nan_to_num(X))
    fit = make_model(name, model, init="random", refine=False).fit(X)
    assert_spared(fit)
    store = write_store(tmp_path / "store", X, rows_per_block=7)
    there = make_model(name, model, init="random", refine=False).fit(store)
    assert same_fit(there, fit)
    again = make_model(name, model, init="random", refine=False, n_jobs=2).fit(X)
    assert same_bits(again, fit)
    save_model(fit, tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    assert np.array_equal(loaded.predict_membership(X), fit.predict_membership(X))


@pytest.mark.parametrize(("name", "model"), CASES[:6])
def test_a_card_gives_the_bits_of_memory(name, model):
    X = data(name)
    observed = name == "observed"
    objective = Observed(background=True, shrinkage=1.0) if observed else OBJECTIVES[name]
    counts = Counts(40, 3, 52, 4), Counts(30, 3, 39, 0)
    rule = make_overlap_model(model, 2, name)
    start = tuple(
        Memberships.from_dense(_start(side.n_items, side.n_memberships)) for side in counts
    )
    found = []
    with Workers(1) as workers:
        here = (
            open_engine(ObservedMatrix.of_rows(X), numpy_, workers) if observed else make_engine(X)
        )
        there = on_gpu(here.shards.each[0].matrix, numpy_, workers, stand_in())
        for engine in (here, there):
            problem = Problem(objective, *counts, 5, overlap_model=rule).sparing_all_zero(engine)
            assert problem.row_all_zero is not None
            assert problem.column_all_zero is not None
            found.append(solve(engine, problem, start))
    one, other = found
    assert one.history.tobytes() == other.history.tobytes()
    for mine, others in zip(one.pair, other.pair, strict=True):
        assert np.array_equal(mine.dense, others.dense)
    assert one.U.numbers[ROWS].max() <= 1


def _start(n, total):
    U = np.eye(3, dtype=bool)[np.arange(n) % 3]
    extra = np.arange(total - n)
    U[extra, (extra + 1) % 3] = True
    return U
