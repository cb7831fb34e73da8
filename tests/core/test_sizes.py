"""Clusters of a least size: feasible, nearly as cheap as can be, the same however items are cut."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import pairwise, product

import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from instances import KINDS, make_data, make_engine, members
from scipy import sparse
from scipy.optimize import linprog
from sides import ROUNDING, check_history, energy, literal_objective, watched

from neocc.core.assign import Applied, assign, is_feasible, settled
from neocc.core.initialise import one_way_start, random_start
from neocc.core.objectives import KMEANS, OBJECTIVES
from neocc.core.overlap import OVERLAP_MODELS, REPEAT, Scores, make_overlap_model
from neocc.core.prices import find_thresholds
from neocc.core.problem import Counts, Problem
from neocc.core.projections import sketched_start, spectral_start
from neocc.core.samples import draw_sample, sampled_start
from neocc.core.search import search
from neocc.core.search.gains import single_gains
from neocc.core.sizes import enlarged, fill_small, offer_moves
from neocc.core.solve import solve
from neocc.kernels import Memberships, numpy_

MODELS = oracle.OVERLAP_MODELS
each_model = pytest.mark.parametrize("name", MODELS)


# --------------------------------------------------------------- items, prototypes, literal costs


def literal_cost(x, Z, name):
    """What the set of prototypes Z costs an item x; nothing for none."""
    if not len(Z):
        return 0.0
    distances = ((x - Z) ** 2).sum(axis=1)
    combined = {"average": Z.mean(axis=0), "sum": Z.sum(axis=0)}.get(name)
    if combined is not None:
        return float(((x - combined) ** 2).sum())
    return float(distances.sum() if name == "repeat" else distances.mean())


def literal_total(X, Z, U, name):
    return sum(literal_cost(x, Z[has], name) for x, has in zip(X, U, strict=True))


def choices_of(X, Z, name, before=None):
    """What items can choose from, given the prototypes of clusters."""
    d = ((X[:, None, :] - Z) ** 2).sum(axis=2)
    squares = (X**2).sum(axis=1)
    nearest, minima = d.argmin(axis=1).astype(np.int32), d.min(axis=1, initial=np.inf)
    model = OVERLAP_MODELS[name]()
    old = None if before is None else model.weighted(members(before))
    objective = 0.0 if before is None else float(d[before].sum())
    scores = Scores(d, nearest, minima, len(Z), objective, old, squares, Z @ Z.T)
    return model.choices(scores, numpy_)


def draw(rng, n=5, k=3, tied=False, width=2):
    """Items, prototypes and counts with a least size of two or more."""
    X, Z = rng.normal(size=(n, width)), rng.normal(size=(k, width))
    if tied:
        X, Z = rng.integers(0, 3, size=X.shape) * 1.0, rng.integers(0, 3, size=Z.shape) * 1.0
    outliers = int(rng.integers(0, max(1, n // 4) + 1))
    low = max(n - outliers, 2 * k)
    total = int(rng.integers(low, max(low, n + n // 2) + 1))
    min_size = int(rng.integers(2, total // k + 1))
    return X, Z, Counts(n, k, total, outliers, min_size)


def assert_feasible(U, counts):
    assert U.sum() == counts.n_memberships
    assert (~U.any(axis=1)).sum() <= counts.max_outliers
    assert U.sum(axis=0).min() >= counts.min_size


@cache
def every_membership(n, k):
    sets = np.array(list(product([False, True], repeat=k)))
    return sets, np.array(list(product(range(len(sets)), repeat=n)))


def lowest_cost(X, Z, counts, name):
    """Try all memberships that meet the counts and the least size."""
    sets, chosen = every_membership(*X.shape[:1], len(Z))
    costs = np.array([[literal_cost(x, Z[has], name) for has in sets] for x in X])
    numbers = sets.sum(axis=1)[chosen]
    sizes = sets[chosen].sum(axis=1)
    met = (numbers.sum(axis=1) == counts.n_memberships) & (sizes >= counts.min_size).all(axis=1)
    met &= (numbers == 0).sum(axis=1) <= counts.max_outliers
    return costs[np.arange(len(X)), chosen[met]].sum(axis=1).min()


@each_model
def test_small_problems_end_feasible_and_close_to_the_lowest_cost(name):
    rng = np.random.default_rng(1)
    gaps = []
    while len(gaps) < 60:
        X, Z, counts = draw(rng, n=int(rng.integers(4, 6)), k=2 + len(gaps) % 2)
        free = assign(choices_of(X, Z, name), replace(counts, min_size=1), OVERLAP_MODELS[name]())
        if free.members.dense.sum(axis=0).min() >= counts.min_size:
            continue
        found = assign(choices_of(X, Z, name), counts, OVERLAP_MODELS[name]()).members.dense
        assert_feasible(found, counts)
        lowest = lowest_cost(X, Z, counts, name)
        gaps.append(literal_total(X, Z, found, name) / lowest - 1.0)
    # So few items leave hardly a choice; items keep their numbers of memberships, which costs most.
    assert min(gaps) > -1e-9
    assert np.median(gaps) < 0.12
    assert np.mean(gaps) < 0.25


def lowest_by_flow(d, counts):
    """The lowest cost over all feasible memberships without outliers: a transportation problem."""
    n, k = d.shape
    of_items = sparse.kron(sparse.eye_array(n), np.ones((1, k)))
    of_clusters = sparse.kron(np.ones((1, n)), sparse.eye_array(k))
    least = np.repeat([1, counts.min_size], [n, k])
    return linprog(
        d.reshape(-1),
        A_ub=-sparse.vstack([of_items, of_clusters]),
        b_ub=-least,
        A_eq=np.ones((1, n * k)),
        b_eq=[counts.n_memberships],
        bounds=(0, 1),
    ).fun


@pytest.mark.parametrize("n_extra", [0, 12])
def test_where_few_are_missing_the_cost_is_nearly_the_lowest(n_extra):
    counts, gaps = Counts(60, 5, 60 + n_extra, 0, 6), []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X, Z = rng.normal(size=(60, 2)), rng.normal(size=(5, 2))
        found = assign(choices_of(X, Z, "repeat"), counts, OVERLAP_MODELS["repeat"]())
        assert_feasible(found.members.dense, counts)
        d = ((X[:, None, :] - Z) ** 2).sum(axis=2)
        gaps.append(d[found.members.dense].sum() / lowest_by_flow(d, counts) - 1.0)
    assert min(gaps) > -1e-9
    assert np.mean(gaps) < 0.015
    assert max(gaps) < 0.1


@each_model
@pytest.mark.parametrize("tied", [False, True], ids=["distinct", "tied"])
def test_memberships_before_are_kept_unless_others_cost_less(name, tied):
    model, n_kept = OVERLAP_MODELS[name](), 0
    for seed in range(80):
        rng = np.random.default_rng(seed)
        X, Z, counts = draw(rng, n=12, k=4, tied=tied)
        before = random_start(counts, rng)
        if seed % 2:  # near the best: what is repaired may cost more
            before = assign(choices_of(X, Z, name), counts, model).members
        found = assign(choices_of(X, Z, name, before.dense), counts, model, before).members
        assert_feasible(found.dense, counts)
        old, new = (literal_total(X, Z, U.dense, name) for U in (before, found))
        assert new <= old + 1e-12 * abs(old)
        n_kept += found is before
    assert n_kept > 5


@each_model
def test_gains_are_those_of_the_literal_costs(name):
    n_enlarged = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X, Z, counts = draw(rng, n=12, k=4)
        before, start = (random_start(replace(counts, min_size=1), rng).dense for _ in range(2))
        choices = choices_of(X, Z, name, before)
        larger = enlarged(
            members(start),
            counts,
            lambda method, parts, wanted, of=choices: [getattr(of, method)(parts[0], wanted)],
            lambda every: [every],
        )
        if larger is None:
            continue
        n_enlarged += 1
        np.testing.assert_array_equal(larger.members.numbers, start.sum(axis=1))
        old, new = (literal_total(X, Z, U, name) for U in (before, larger.members.dense))
        assert larger.gain == pytest.approx(old - new, rel=1e-9, abs=1e-9)
        assert larger.before == pytest.approx(old, rel=1e-9)
    assert n_enlarged > 20


# -------------------------------------------------------------------------------------- blocks


def in_blocks(X, Z, name, counts, edges, before=None, offers=None):
    """Assign blocks of items that are never seen together; `offers` replaces how many are asked."""
    model, spans = OVERLAP_MODELS[name](), list(pairwise(edges))
    parts = [
        choices_of(X[a:b], Z, name, None if before is None else before.dense[a:b]) for a, b in spans
    ]

    def ask(method, given, *common):
        if method == "moves" and offers is not None:
            common = (common[0]._replace(n_moves=offers),)
        return [getattr(one, method)(each, *common) for one, each in zip(parts, given, strict=True)]

    thresholds = find_thresholds(ask, counts, len(parts), prices_first=model.prices_first)
    applied = ask("apply", thresholds)
    whole = Applied(
        Memberships.joined([each.members for each in applied]),
        0.0,
        sum(each.gain for each in applied),
    )

    def cut(every):
        return [every.slice(a, b) for a, b in spans]

    return settled(whole, applied, counts, model, before, ask, cut).dense


@each_model
@given(seed=st.integers(0, 2**32 - 1), tied=st.booleans())
def test_blocks_give_the_answer_of_one_block(name, seed, tied):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(8, 40))
    X, Z, counts = draw(rng, n=n, k=int(rng.integers(2, 5)), tied=tied)
    edges = [0, *np.sort(rng.integers(0, n + 1, size=rng.integers(1, 5))).tolist(), n]
    before = random_start(counts, rng) if rng.random() < 0.5 else None
    whole = in_blocks(X, Z, name, counts, [0, n], before)
    assert_feasible(whole, counts)
    np.testing.assert_array_equal(in_blocks(X, Z, name, counts, edges, before), whole)
    # Moves that were not offered would not have been chosen.
    np.testing.assert_array_equal(in_blocks(X, Z, name, counts, edges, before, 10**6), whole)


def test_many_moves_take_several_rounds():
    rng = np.random.default_rng(0)
    d = rng.random((3000, 12)) + np.arange(12)  # nobody likes the last clusters
    counts = Counts(3000, 12, 3000, 0, 240)
    start = Memberships.from_labels(np.zeros(3000, dtype=np.int32), 12)
    asked = []

    def ask(method, parts, wanted):
        asked.append(wanted.n_moves)
        return [offer_moves(d, parts[0], wanted)]

    found = enlarged(start, counts, ask, lambda every: [every]).members
    assert found.sums_of(None).min() == 240
    assert found.numbers.tolist() == [1] * 3000
    assert 1 < len(asked) < 10
    np.testing.assert_array_equal(fill_small(start, d, counts).dense, found.dense)


def test_the_cheapest_moves_are_made_and_ties_go_to_the_lowest_item():
    U = np.array([[1, 0], [1, 0], [1, 0], [1, 0], [0, 1]], dtype=bool)
    d = np.array([[0.0, 3.0], [0.0, 2.0], [1.0, 3.0], [0.0, 5.0], [1.0, 0.0]])
    counts = Counts(5, 2, 5, 0, 2)
    # Rows 1 and 2 would cost 2 more each.
    found = fill_small(members(U), d, counts).dense
    assert np.flatnonzero(found[:, 1]).tolist() == [1, 4]
    d[:, 1] = np.inf  # a cluster without prototype is begun with the dearest
    found = fill_small(members(U & [True, False]), d, replace(counts, n_memberships=4)).dense
    assert np.flatnonzero(found[:, 1]).tolist() == [0, 2]


def literally_enlarged(U, d, least):
    """All moves from the cheapest on, each of another item; again while members are missing."""
    U = U.copy()
    while (U.sum(axis=0) < least).any():
        n, k = U.shape
        moves = sorted(
            (d[p, target] - d[p, source], p, target, source)
            for p, source, target in product(range(n), range(k), range(k))
            if U[p, source] and not U[p, target]
        )
        targets, sources, moved = U.sum(axis=0) < least, U.sum(axis=0) > least, set()
        for _, p, target, source in moves:
            sizes = U.sum(axis=0)
            if p in moved or not (targets[target] and sources[source]):
                continue
            if sizes[target] < least < sizes[source]:
                U[p, source], U[p, target] = False, True
                moved.add(p)
    return U


@pytest.mark.parametrize("tied", [False, True], ids=["distinct", "tied"])
def test_moves_are_those_of_the_rule(tied):
    n_moved = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X, Z, counts = draw(rng, n=12, k=4, tied=tied)
        d = ((X[:, None, :] - Z) ** 2).sum(axis=2)
        U = random_start(replace(counts, min_size=1), rng)
        found = fill_small(U, d, counts).dense
        np.testing.assert_array_equal(found, literally_enlarged(U.dense, d, counts.min_size))
        n_moved += not np.array_equal(found, U.dense)
    assert n_moved > 20


def test_large_clusters_are_left_as_they_are():
    U = members([[1, 0], [1, 0], [0, 1], [0, 1]])
    assert fill_small(U, np.ones((4, 2)), Counts(4, 2, 4, 0, 2)) is U
    assert is_feasible(U, Counts(4, 2, 4, 0, 2), None)
    assert not is_feasible(U, Counts(4, 2, 4, 0, 3), None)


# ------------------------------------------------------------------------------------- the loop


def random_counts(rng, n, k):
    outliers = int(rng.integers(0, n // 5 + 1))
    total = int(rng.integers(max(n - outliers, k), n + n // 3 + 1))
    return Counts(n, k, total, outliers, int(rng.integers(1, total // k + 1)))


@pytest.mark.parametrize("case", ["mean", "residue", "rows", "columns"])
def test_no_half_step_rises_and_all_are_feasible(case):
    n_steps = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X = make_data(KINDS[seed % len(KINDS)], rng, 14, 12)
        sides = [random_counts(rng, size, min(3, size)) for size in X.shape]
        objective = OBJECTIVES.get(case, KMEANS)
        rows, columns = (
            None if case == other else one
            for other, one in zip(("columns", "rows"), sides, strict=True)
        )
        problem = Problem(objective, rows, columns, tol=0.0)
        pair = tuple(None if one is None else random_start(one, rng) for one in (rows, columns))
        with watched() as steps:
            found = solve(make_engine(X).centred(problem.centring), problem, pair)
        largest = 0.0
        for step in steps:
            U, V = ((None if each is None else each.dense) for each in step.before)
            after = tuple(None if each is None else each.dense for each in step.after)
            size = max(energy(case, X, U, V), energy(case, X, *after))
            largest = max(largest, size)
            old, new = (literal_objective(case, X, *each) for each in ((U, V), after))
            assert abs(step.objective - old) <= ROUNDING * size
            assert new <= old + ROUNDING * size
            assert_feasible(after[0 if step.side == "rows" else 1], problem.counts(step.side))
            n_steps += 1
        check_history(found.history, largest)
    assert n_steps > 120


@pytest.mark.parametrize(
    ("name", "objective"),
    [(name, "mean" if name in ("share", "sum") else "residue") for name in MODELS],
)
def test_a_search_ends_feasible_under_every_model(name, objective):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(10, 8))
    rows, columns = Counts(10, 3, 12, 1, 3), Counts(8, 2, 9, 1, 3)
    model = make_overlap_model(name, 3, objective)
    problem = Problem(OBJECTIVES[objective], rows, columns, 30, overlap_model=model)
    for found in search(make_engine(X), problem, "neo-kmeans", 1, rng, thorough=True):
        assert_feasible(found.U.dense, rows)
        assert_feasible(found.V.dense, columns)
        assert np.diff(found.history).max(initial=0.0) <= ROUNDING * (X**2).sum() * 9


@pytest.mark.parametrize("seed", range(5))
def test_starts_are_feasible(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(20, 15)) ** 3
    rows, columns = random_counts(rng, 20, 4), random_counts(rng, 15, 3)
    problem = Problem(OBJECTIVES["mean"], rows, columns)
    engine = make_engine(X)
    starts = [
        start(engine, problem, rng) for start in (one_way_start, spectral_start, sketched_start)
    ]
    for U, V in [*starts, (random_start(rows, rng), random_start(columns, rng))]:
        assert_feasible(U.dense, rows)
        assert_feasible(V.dense, columns)


def test_a_start_on_a_sample_is_feasible():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12000, 40)) + np.kron(rng.normal(size=(3, 2)), np.ones((4000, 20)))
    rows, columns = Counts(12000, 4, 12000, 0, 2800), Counts(40, 2, 42, 1, 15)
    problem = Problem(OBJECTIVES["mean"], rows, columns)
    engine = make_engine(X)
    sample = draw_sample(engine, engine, problem, rng)
    few = sample.problem.rows
    assert few.min_size == round(2800 * few.n_items / 12000)
    U, V = sampled_start(sample, engine, problem, rng)
    assert_feasible(U.dense, rows)
    assert_feasible(V.dense, columns)


def test_swaps_take_no_member_that_a_cluster_needs():
    U = np.array([[1, 0], [1, 0], [1, 0], [0, 1], [0, 1]], dtype=bool)
    d = np.arange(10.0).reshape(5, 2)
    for min_size, removable in ((1, [3, 2]), (2, [3, 0]), (3, [0, 0])):
        scores = Scores(d, d.argmin(axis=1).astype(np.int32), d.min(axis=1), 2)
        savings, _ = single_gains(members(U), scores, np.zeros(5), REPEAT, min_size)
        assert np.isfinite(savings).sum(axis=0).tolist() == removable


def test_samples_ask_for_clusters_of_the_same_share():
    counts = Counts(1000, 4, 1100, 20, 100)
    assert counts.resized(100).min_size == 10
    assert counts.resized(4).min_size == 1
    assert replace(counts, min_size=275).resized(10).min_size == 2  # as many as there are for each
    assert replace(counts, min_size=1).resized(100).min_size == 1
    assert counts.with_outliers(0.5).min_size == 100
