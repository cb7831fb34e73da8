"""MSSR as its authors ran it: chains of moves after the alternation, spectral starts."""

from __future__ import annotations

import numpy as np
import oracle
import pytest
from instances import make_engine, members, planted
from scipy import sparse

from neocc import MSSR
from neocc.core.objectives import OBJECTIVES
from neocc.core.problem import Counts, Problem
from neocc.core.search import ping_pong
from neocc.core.solve import solve
from neocc.metrics import best_match_f1

LITERAL = {"mean": oracle.mssr1, "residue": oracle.mssr2}
each_objective = pytest.mark.parametrize("objective", LITERAL)


def noisy(seed=0):
    return planted(np.random.default_rng(seed), 40, 30, 4, 4, noise=3.0)


def setting(X, objective, seed, k=3, max_iter=100):
    """Return an engine, a problem and a random start of it."""
    rng = np.random.default_rng(seed)
    sides = [Counts(size, k, size, 0) for size in X.shape]
    problem = Problem(OBJECTIVES[objective], *sides, max_iter=max_iter)
    data = make_engine(X).centred(problem.centring)
    labels = [np.r_[np.arange(k), rng.integers(k, size=size - k)] for size in X.shape]
    pair = tuple(members(each[:, None] == np.arange(k)) for each in labels)
    return data, problem, solve(data, problem, pair)


def literal_chain(X, labels, side, objective, length):
    """Make the best moves one after the other, and return the best prefix with its gain."""
    labels = [each.copy() for each in labels]
    k = int(labels[side].max()) + 1
    start = LITERAL[objective](X, *labels)
    best = (0.0, labels[side].copy())
    marked = set()
    for _ in range(length):
        moves = []
        for item in set(range(len(labels[side]))) - marked:
            own = labels[side][item]
            if (labels[side] == own).sum() == 1:
                continue
            for target in set(range(k)) - {own}:
                labels[side][item] = target
                moves.append((LITERAL[objective](X, *labels), item, target))
            labels[side][item] = own
        if not moves:
            break
        moves.sort()
        if len(moves) > 1 and np.isclose(moves[0][0], moves[1][0], rtol=1e-10):
            return None
        value, item, target = moves[0]
        labels[side][item] = target
        marked.add(item)
        if start - value > best[0] + 1e-9 * start:
            best = (start - value, labels[side].copy())
    return best


# --------------------------------------------------------------------------------------- chains


@each_objective
def test_one_round_is_a_chain_of_rows_and_one_of_columns(objective):
    gains = []
    for seed in range(12):
        X = np.random.default_rng([5, seed]).normal(size=(9, 8))
        # Without iterations, what follows a chain leaves its memberships alone.
        data, problem, start = setting(X, objective, seed, max_iter=0)
        if seed % 2:
            stuck = setting(X, objective, seed)[2]
            start = solve(data, problem, stuck.pair)
        labels = [side.dense.argmax(axis=1) for side in (start.U, start.V)]
        for side in (0, 1):
            chain = literal_chain(X, labels, side, objective, 5)
            if chain is None:
                break
            labels[side] = chain[1]
            gains.append(chain[0])
        else:
            found = ping_pong(data, problem, start, 5, 1)
            np.testing.assert_array_equal(found.U.dense.argmax(axis=1), labels[0])
            np.testing.assert_array_equal(found.V.dense.argmax(axis=1), labels[1])
            assert found.objective == pytest.approx(LITERAL[objective](X, *labels))
    assert len(gains) > 15
    assert min(gains) == 0.0
    assert max(gains) > 0.0


@each_objective
def test_rounds_go_on_while_they_help(objective):
    helped = 0
    for seed in range(6):
        data, problem, start = setting(noisy(seed), objective, seed)
        values = [ping_pong(data, problem, start, 8, n).objective for n in (0, 1, 2, 50)]
        assert values[0] == start.objective
        assert (np.diff(values) <= 0).all()
        helped += values[-1] < values[0]
        best = ping_pong(data, problem, start, 8, 50)
        assert ping_pong(data, problem, best, 8, 50) is best
    assert helped >= 2


def test_longer_chains_leave_what_short_ones_cannot():
    lengths = (1, 20)
    totals = dict.fromkeys(lengths, 0.0)
    for seed in range(8):
        data, problem, start = setting(noisy(seed), "mean", seed)
        for length in lengths:
            totals[length] += ping_pong(data, problem, start, length, 50).objective
    assert totals[20] < totals[1]


# ------------------------------------------------------------------------------------ estimator


@each_objective
@pytest.mark.parametrize("init", ["random", "spectral"])
def test_chains_end_no_higher_than_the_starts_they_follow(objective, init):
    lower = 0
    for seed in range(4):
        X = noisy(seed)
        options = {"objective": objective, "init": init, "n_init": 2, "random_state": seed}
        plain = MSSR(4, 4, refine=False, **options).fit(X)
        chained = MSSR(4, 4, refine="chains", **options).fit(X)
        # Solutions that differ by rounding alone are equal.
        assert chained.objective_ <= plain.objective_ * (1 + 1e-12)
        lower += chained.objective_ < plain.objective_ * (1 - 1e-9)
        labels = (chained.row_labels_, chained.column_labels_)
        literal = LITERAL[objective](X, *labels)
        assert chained.objective_ == pytest.approx(literal)
        # The largest term of a partition is the sum of all squares.
        assert np.diff(chained.history_).max() <= 1e-9 * np.square(X).sum()
        assert chained.history_[-1] == pytest.approx(literal)
    assert lower >= 2


def test_the_same_seed_gives_the_same_chains():
    X = noisy()
    first, second, third = (
        MSSR(4, 4, refine="chains", n_init=2, random_state=seed, n_jobs=jobs).fit(X)
        for seed, jobs in ((0, 1), (0, 2), (1, 1))
    )
    np.testing.assert_array_equal(first.history_, second.history_)
    assert not np.array_equal(first.history_, third.history_)


@each_objective
def test_sparse_data_have_the_chains_of_dense_data(objective):
    X = noisy() * (np.random.default_rng(1).random((40, 30)) < 0.5)
    models = [
        MSSR(3, 3, objective=objective, refine="chains", init="random", n_init=2, random_state=0)
        for _ in range(2)
    ]
    dense, stored = models[0].fit(X), models[1].fit(sparse.csr_array(X))
    np.testing.assert_array_equal(dense.row_labels_, stored.row_labels_)
    assert stored.objective_ == pytest.approx(dense.objective_)


def test_given_memberships_are_run_once():
    X = noisy()
    U, V = (np.arange(size)[:, None] % 4 == np.arange(4) for size in X.shape)
    plain = MSSR(4, 4, init=(U, V), refine=False).fit(X)
    chained = MSSR(4, 4, init=(U, V), refine="chains", n_init=10).fit(X)
    assert chained.objective_ <= plain.objective_
    again = MSSR(4, 4, init=(U, V), refine="chains", n_init=1, random_state=5).fit(X)
    np.testing.assert_array_equal(chained.row_labels_, again.row_labels_)


@pytest.mark.parametrize(
    ("options", "name"), [({"refine": "chain"}, "refine"), ({"chain_length": 0}, "chain_length")]
)
def test_bad_parameters_are_refused_by_name(options, name):
    with pytest.raises(ValueError, match=f"'{name}' parameter of MSSR"):
        MSSR(**options).fit(np.eye(4))


# ---------------------------------------------------------------------------------------- yeast


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
@each_objective
@pytest.mark.usefixtures("data_folder")
def test_yeast_scores_are_in_the_printed_range(objective, seed):
    from neocc.datasets import fetch_yeast

    yeast = fetch_yeast(download_if_missing=False)
    model = MSSR(
        14,
        3,
        objective=objective,
        init="spectral",
        refine="chains",
        n_init=3,
        random_state=seed,
    ).fit(yeast.data)
    score = 100 * best_match_f1(yeast.row_membership, np.eye(14)[model.row_labels_])
    assert 16 <= score <= 20
