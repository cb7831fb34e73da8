"""The overlap model "either" without column clusters: in each column a row follows the nearest of
its clusters. Compared with the literal formula, cell by cell."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import oracle
import pytest
from instances import make_data, make_engine, make_membership, members
from scipy import sparse
from sides import check_run, watched

from neocc import NEOKMeans
from neocc.core.assign import is_feasible
from neocc.core.initialise import random_pair
from neocc.core.objectives import KMEANS, mean_rows
from neocc.core.overlap import OVERLAP_MODELS, followed_clusters, in_pieces
from neocc.core.prices import find_thresholds
from neocc.core.problem import Counts, Problem
from neocc.core.solve import solve
from neocc.core.steps import fixed_pair, half_step, make_features, make_terms
from neocc.engines.following import changed_items
from neocc.io import load_model, save_model, write_store
from neocc.kernels import Memberships, numpy_

EITHER = OVERLAP_MODELS["either"]
FORMS = (np.asarray, sparse.csr_array, lambda X: X.astype(np.float32))


def random_problem(seed):
    rng = np.random.default_rng(seed)
    kind = ("gaussian", "tied", "sparse", "duplicated", "zeros")[seed % 5]
    n, m = (int(size) for size in rng.integers(6, 30, size=2))
    X, k, out = make_data(kind, rng, n, m), int(rng.integers(2, 5)), int(rng.integers(0, 3))
    n_memberships = n + int(rng.integers(-out, n // 2 + 1))
    min_size = 2 if seed % 7 == 0 and n_memberships >= 2 * k else 1
    rows = Counts(n, k, n_memberships, out, min_size)
    weights = rng.integers(1, 4, size=n).astype(float) if seed % 6 == 5 else None
    model = EITHER(int(rng.integers(2, 4)))
    return X, Problem(KMEANS, rows, None, 30, 0.0, model, weights), rng


def planted(seed, n=120, m=20, k=4):
    """Rows of two clusters that follow either of them, column by column."""
    rng = np.random.default_rng(seed)
    C, U = 3 * rng.normal(size=(k, m)), np.eye(k, dtype=bool)[np.arange(n) % k]
    for p in range(0, n, 5):
        U[p, (p + 1 + rng.integers(k - 1)) % k] = True
    followed = np.array([rng.choice(np.flatnonzero(has), m) for has in U])
    return np.take_along_axis(C, followed, axis=0) + 0.3 * rng.normal(size=(n, m)), U, followed


def cost(row, chosen, C):
    """What a row costs in a set of clusters."""
    return sum(min((x - C[i, t]) ** 2 for i in chosen) for t, x in enumerate(row))


@pytest.mark.parametrize("kernel", ["numpy", "numba"])
def test_objectives_and_centres_are_the_literal_ones(kernel):
    for seed in range(30):
        rng = np.random.default_rng(seed)
        n, m, k = (int(size) for size in rng.integers((2, 1, 1), (9, 7, 5)))
        X = np.round(rng.normal(size=(n, m)) * 64.0) / 8.0
        U = rng.random((n, k)) < rng.choice([0.3, 0.6, 0.9])
        followed = np.array(
            [rng.choice(np.flatnonzero(has), m) if has.any() else np.full(m, -1) for has in U]
        ).reshape(n, m)
        several = U.sum(axis=1) > 1
        rows = in_pieces(members(U), np.where(several[:, None], followed, -1))
        np.testing.assert_array_equal(followed_clusters(rows, m), followed)
        expected = oracle.followed_objective(X, followed, np.eye(m), k)
        table = oracle.followed_table(X, followed, np.eye(m), k)
        counts = Counts(n, k, int(U.sum()), int((~U.any(axis=1)).sum()))
        problem = Problem(KMEANS, counts, None, overlap_model=EITHER())
        for form in FORMS:
            engine = make_engine(form(X), kernel)
            features = engine.column_features(rows, None)
            found = mean_rows(features, rows)
            np.testing.assert_allclose(found[~np.isnan(table)], table[~np.isnan(table)], atol=1e-10)
            if U.any():
                step = half_step(engine, problem, "rows", features, (rows, None))
                assert step.objective == pytest.approx(expected, abs=1e-9 * np.square(X).sum())
            scale = np.square(X).sum()
            inside = KMEANS.value(features, rows, None)
            assert inside == pytest.approx(expected, abs=1e-9 * scale)


def test_costs_of_sets_are_the_literal_ones_and_assignments_nearly_the_cheapest():
    ratios = []
    for seed in range(90):
        rng = np.random.default_rng(seed)
        n, k, m = 5, 3, 4
        X = rng.normal(size=(n, m)) + 2 * rng.normal(size=(k, m))[rng.integers(k, size=n)]
        counts = Counts(n, k, int(rng.integers(n, n + 4)), int(rng.integers(0, 2)))
        U = make_membership(rng, counts)
        if not U.any(axis=0).all():
            continue
        problem = Problem(KMEANS, counts, None, overlap_model=EITHER())
        engine, pair = make_engine(X), (EITHER().weighted(members(U)), None)
        features = make_features(engine, problem, pair)
        C = mean_rows(features, pair[0])
        scores = engine.row_scores(make_terms(problem, "rows", features, pair), None, sums=True)
        costs = [{} for _ in range(n)]
        for size in range(1, k + 1):
            for chosen in combinations(range(k), size):
                table = np.tile(np.isin(np.arange(k), chosen), (n, 1))
                found = EITHER().present(scores, members(table))
                for p in range(n):
                    costs[p][chosen] = cost(X[p], chosen, C)
                    assert found[p] == pytest.approx(costs[p][chosen], abs=1e-9)
        least = oracle.lowest_total(costs, counts.n_memberships, counts.max_outliers)
        choices = EITHER().choices(scores._replace(members=pair[0]), numpy_)

        def ask(method, given, *common, choices=choices):
            return [getattr(choices, method)(given[0], *common)]

        (thresholds,) = find_thresholds(ask, counts, 1, prices_first=True)
        found = choices.apply(thresholds).members
        sets = (tuple(np.flatnonzero(has).tolist()) for has in found.dense)
        total = sum(of_row[chosen] for of_row, chosen in zip(costs, sets, strict=True) if chosen)
        ratios.append(total / max(least, 1e-12))
    assert len(ratios) > 30
    assert max(ratios) < 1.03


def check_runs(kernel, seeds):
    n_shared = 0
    for seed in seeds:
        X, problem, rng = random_problem(seed)
        engine = make_engine(X, kernel).centred(problem.centring)
        weights = problem.row_weights
        with watched() as steps:
            solution = solve(engine, problem, random_pair(problem, rng))
        U, m = solution.U, X.shape[1]
        if weights is None:
            check_run(X, solution, steps)
        else:
            # Rows of whole weights are rows that occur so often.
            both, times = (X, followed_clusters(U, m)), weights.astype(int)
            repeated, labels = (np.repeat(each, times, axis=0) for each in both)
            literal = oracle.followed_objective(repeated, labels, np.eye(m), U.n_clusters)
            size = np.square(repeated).sum()
            assert solution.objective == pytest.approx(literal, abs=1e-9 * size)
            assert np.diff(solution.history).max(initial=0.0) <= 1e-9 * size
        assert is_feasible(U, problem.rows, problem.overlap_model.most)
        followed, inside = followed_clusters(U, m), ~U.outliers
        assert U.dense[np.flatnonzero(inside)[:, None], followed[inside]].all()
        n_shared += int((U.numbers > 1).sum())
    assert n_shared > 3 * len(seeds)


@pytest.mark.parametrize("kernel", ["numpy", "numba"])
def test_the_objective_never_rises_and_is_the_literal_one(kernel):
    check_runs(kernel, range(30))


@pytest.mark.slow
def test_the_objective_of_ten_thousand_runs_never_rises():
    check_runs("numba", range(10_000, 20_000))


def test_planted_rows_are_found_with_what_they_follow(tmp_path):
    X, U, followed = planted(0)
    options = {"overlap": 0.2, "overlap_model": "either", "random_state": 0}
    model = NEOKMeans(4, **options).fit(X)
    match = (U.T.astype(int) @ model.membership_).argmax(axis=1)
    assert (model.membership_[:, match] == U).all()
    assert model.followed_.shape == X.shape
    # Where two centres are near each other noise decides.
    assert (model.followed_ == match[followed]).mean() > 0.95
    literal = oracle.followed_objective(X, model.followed_, np.eye(20), 4)
    assert model.objective_ == pytest.approx(literal, rel=1e-10)
    table = oracle.followed_table(X, model.followed_, np.eye(20), 4)
    np.testing.assert_allclose(model.cluster_centers_, table, atol=1e-10)
    np.testing.assert_array_equal(model.predict_membership(X), model.membership_)
    d = np.square(X[:, None] - model.cluster_centers_).sum(axis=2)
    np.testing.assert_allclose(model.transform(X), d, rtol=1e-9)
    np.testing.assert_array_equal(model.labels_, np.where(model.membership_, d, np.inf).argmin(1))
    assert model.score(X) * X.size == pytest.approx(-literal, rel=1e-9)
    path = tmp_path / "model.neocc"
    save_model(model, path)
    loaded = load_model(path)
    np.testing.assert_array_equal(loaded.followed_, model.followed_)
    np.testing.assert_array_equal(loaded.predict_membership(X), model.membership_)


def test_threads_blocks_stores_and_containers_give_the_same(tmp_path):
    X, _, _ = planted(1, n=300, m=15)
    options = {"overlap": 0.2, "outliers": 0.02, "overlap_model": "either", "n_init": 3}
    options["random_state"] = 0
    model = NEOKMeans(4, **options, n_jobs=1).fit(X)
    again = NEOKMeans(4, **options, n_jobs=2).fit(X)
    assert again.history_.tolist() == model.history_.tolist()
    np.testing.assert_array_equal(again.followed_, model.followed_)
    store = write_store(tmp_path / "store", X, block_size="4kB")
    for data, kernel in ((store, "numba"), (sparse.csr_array(X), "numba"), (X, "numpy")):
        other = NEOKMeans(4, **options, kernel=kernel).fit(data)
        np.testing.assert_array_equal(other.membership_, model.membership_)
        np.testing.assert_array_equal(other.followed_, model.followed_)
        assert other.objective_ == pytest.approx(model.objective_, rel=1e-11)


def test_memberships_keep_their_pieces():
    X, _, _ = planted(3, n=40)
    model = NEOKMeans(4, overlap=0.2, overlap_model="either", random_state=0, n_init=2).fit(X)
    given = members(model.membership_)
    rows = in_pieces(given, np.where(given.numbers[:, None] > 1, model.followed_, -1))
    cut = [rows.slice(0, 3), rows.slice(3, 17), rows.slice(17, 40)]
    joined = Memberships.joined(cut)
    np.testing.assert_array_equal(followed_clusters(joined, 20), model.followed_)
    some = np.flatnonzero(np.random.default_rng(0).random(40) < 0.5)
    np.testing.assert_array_equal(followed_clusters(rows.take(some), 20), model.followed_[some])
    other = model.followed_.copy()
    at = np.flatnonzero(given.numbers > 1)[0]
    other[at, 3] = np.setdiff1d(np.flatnonzero(model.membership_[at]), other[at, 3])[0]
    changed = in_pieces(given, np.where(given.numbers[:, None] > 1, other, -1))
    assert np.flatnonzero(changed_items(rows, changed)).tolist() == [at]
    assert not changed_items(rows, rows).any()


def test_given_memberships_begin_with_what_fits_them():
    n_lower = 0
    for seed in range(10):
        X, U, _ = planted(seed, n=30, m=6)
        X = X + np.random.default_rng(seed).normal(size=X.shape)
        problem = Problem(KMEANS, Counts(30, 4, int(U.sum()), 0), None, overlap_model=EITHER())
        engine = make_engine(X)
        settled, _ = fixed_pair(engine, problem, members(U), None)
        values = [
            oracle.followed_objective(X, followed, np.eye(6), 4)
            for followed in (
                followed_clusters(settled, 6),
                np.repeat(U.argmax(axis=1)[:, None], 6, axis=1),
            )
        ]
        options = {"overlap": U.sum() / 30 - 1, "overlap_model": "either", "max_iter": 1}
        model = NEOKMeans(4, **options, init=U).fit(X)
        assert model.history_[0] == pytest.approx(min(values), rel=1e-9)
        n_lower += values[0] < values[1]
    assert n_lower > 5


def test_auto_does_not_compare_it():
    """Each cell would follow what is nearest, whatever made the data: it is always the lowest."""
    X, _, _ = planted(0)
    model = NEOKMeans(4, overlap=0.2, overlap_model="auto", random_state=0).fit(X)
    assert set(model.overlap_choice_.costs) == {"average", "sum"}
    assert model.followed_ is None


def test_what_is_too_large_or_on_a_card_is_refused():
    wide = sparse.csr_array(([1.0], ([0], [0])), shape=(1 << 16, 1 << 15))
    with pytest.raises(ValueError, match="would take 8 GiB, and the most is 4 GiB"):
        NEOKMeans(2, overlap=0.1, overlap_model="either").fit(wide)
    X, _, _ = planted(0, n=20)
    with pytest.raises(ValueError, match="does not run on a GPU"):
        NEOKMeans(2, overlap=0.1, overlap_model="either", engine="gpu").fit(X)


def test_rows_are_read_as_they_are_asked_for():
    X, _, _ = planted(0, n=20)
    U = Memberships.from_labels(np.arange(20) % 3, 3)
    for form in FORMS:
        engine = make_engine(form(X))
        terms = KMEANS.terms("rows", engine.column_features(U, None), (U, None))
        parts = engine.row_scores(terms, None, sums=True).parts
        assert parts.whole
        for found, rows in ((parts.sums[2:9], slice(2, 9)), (parts.sums[np.array([3, 5])], [3, 5])):
            np.testing.assert_allclose(found, X[rows], rtol=1e-6)
        np.testing.assert_allclose(np.asarray(parts.sums), X, rtol=1e-6)
