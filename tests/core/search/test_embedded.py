"""Starts from an embedding: what fits of data that are not small begin with."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from instances import make_engine, planted
from scipy import sparse
from sides import make_problem

from neocc.core import projections
from neocc.core.checkpoints import Journal
from neocc.core.objectives import OBJECTIVES
from neocc.core.problem import Counts, Problem
from neocc.core.projections import embedded_start, make_embedding
from neocc.core.samples import SAMPLING, Sampling
from neocc.core.search import n_search_steps, search, starts

ROWS, COLUMNS = Counts(60, 4, 60, 0), Counts(40, 3, 40, 0)
PROBLEM = make_problem("mean", ROWS, COLUMNS)


def few_entries(seed=0):
    """Blocks of different density, few of whose cells are filled."""
    rng = np.random.default_rng(seed)
    density = planted(rng, 60, 40, 4, 3, noise=0.0)
    density = 0.4 * (density - density.min()) / np.ptp(density)
    return (rng.random((60, 40)) < density).astype(float)


EMBEDDED = Sampling(embedded=(100, 1 << 21))


def is_embedded(X, init="neo-kmeans", problem=PROBLEM, sampling=EMBEDDED, n_init=4):
    rngs = np.random.default_rng(0).spawn(n_init)
    return starts.Starts(make_engine(X), problem, init, rngs, sampling).are_embedded


def test_data_have_a_view_in_any_container():
    X = few_entries()
    assert is_embedded(X)
    assert is_embedded(sparse.csr_array(X))
    assert is_embedded(X + 1.0)
    assert not is_embedded(X, "random")
    assert not is_embedded(X, n_init=1)
    sampled = replace(EMBEDDED, entries=(100, 100), items_per_cluster=2)
    assert is_embedded(X, sampling=sampled)
    assert not is_embedded(X, sampling=replace(sampled, embedded=(100, 100)))
    # Other data are embedded even so if they cannot be sampled.
    assert is_embedded(X, sampling=replace(EMBEDDED, embedded=(100, 100)))
    assert not is_embedded(X, problem=make_problem("rows", ROWS, COLUMNS))
    assert not is_embedded(X, problem=Problem(OBJECTIVES["poisson"], ROWS, COLUMNS))
    # Where iterations are costly, one-way starts are no worse.
    assert not is_embedded(X, problem=make_problem("residue", ROWS, COLUMNS))
    assert not is_embedded(X, problem=make_problem("mean", Counts(60, 4, 66, 3), COLUMNS))


def test_small_data_have_none():
    assert not is_embedded(few_entries(), sampling=SAMPLING)


def test_a_view_keeps_the_distances_of_data_of_low_rank():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5)) @ rng.normal(size=(5, 40))
    embedding = make_embedding(make_engine(X), PROBLEM, rng)
    for table, items in zip(embedding, (X, X.T), strict=True):
        assert table.shape == (len(items), 4 + projections._OVERSAMPLING)
        np.testing.assert_allclose(table @ table.T, items @ items.T, atol=1e-8)


@pytest.mark.parametrize("case", ["mean", "residue"])
def test_every_start_is_feasible(case):
    rows, columns = Counts(60, 4, 66, 3), Counts(40, 3, 44, 2)
    problem = make_problem(case, rows, columns)
    engine = make_engine(sparse.csr_array(few_entries()))
    embedding = make_embedding(engine.centred(problem.centring), problem, np.random.default_rng(0))
    for turn in range(len(projections._WAYS)):
        pair = embedded_start(engine, problem, embedding, turn, np.random.default_rng(turn))
        for members, counts in zip(pair, (rows, columns), strict=True):
            assert members.n_total == counts.n_memberships
            assert np.count_nonzero(members.outliers) <= counts.max_outliers
            assert (members.sizes > 0).all()


def test_turns_differ():
    engine = make_engine(few_entries())
    embedding = make_embedding(engine, PROBLEM, np.random.default_rng(0))
    pairs = [
        embedded_start(engine, PROBLEM, embedding, i, np.random.default_rng(0)) for i in range(4)
    ]
    assert len({(*pair[0].first, *pair[1].first) for pair in pairs}) == 4


def searched(X, seed=0, sampling=EMBEDDED, **options):
    rng = np.random.default_rng(seed)
    return list(
        search(make_engine(X), PROBLEM, "neo-kmeans", 10, rng, sampling=sampling, **options)
    )


@pytest.mark.parametrize("seed", range(3))
def test_a_search_begins_with_the_plain_starts_and_ends_no_higher(seed, monkeypatch):
    """They are made from one embedding, and dense and sparse data agree."""
    turns, embeddings, ends = [], [], []

    def counted(engine, problem, embedding, turn, rng):
        turns.append(turn)
        embeddings.append(embedding)
        return embedded_start(engine, problem, embedding, turn, rng)

    monkeypatch.setattr(starts, "embedded_start", counted)
    for X in (few_entries(seed), sparse.csr_array(few_entries(seed))):
        plain = [each.objective for each in searched(X, seed, plain=True)]
        assert turns in ([*range(10)], [*range(5)])
        assert len(plain) == len(turns)
        assert all(embedding is embeddings[0] for embedding in embeddings)
        embeddings.clear()
        found = searched(X, seed)
        assert turns == 2 * [*range(len(plain))]
        assert len(found) <= n_search_steps("neo-kmeans", 10)
        reached = [each.objective for each in found]
        np.testing.assert_array_equal(reached[: len(plain)], np.minimum.accumulate(plain))
        assert (np.diff(reached) <= 1e-9 * reached[0]).all()
        turns.clear()
        embeddings.clear()
        ends.append(found[-1])
    assert np.array_equal(ends[0].U.dense, ends[1].U.dense)
    assert np.array_equal(ends[0].V.dense, ends[1].V.dense)


@pytest.mark.parametrize("stops", [(2, 6), (11, 13)])
def test_a_resumed_search_ends_where_it_would_have_ended(stops):
    """The work of the embedding is not counted again."""
    X, states = np.random.default_rng(0).normal(size=(60, 40)), []

    def noting():
        kept = {"search": states[-1]} if states else {}
        return Journal(lambda state: states.append(state["search"]), kept)

    def run(**options):
        engine, rng = make_engine(X), np.random.default_rng(0)
        given = (engine, PROBLEM, "neo-kmeans", 10, rng)
        return list(search(*given, sampling=EMBEDDED, **options))

    whole = run(journal=noting())
    work = states[-1]["work"]
    for n_steps in stops:
        states.clear()
        assert len(run(journal=noting(), stopped=lambda n=n_steps: len(states) == n)) == n_steps
        assert run(journal=noting())[-1].objective == whole[-1].objective
        assert states[-1]["work"] == work


def test_nonzeros_are_counted_in_any_container():
    X = few_entries()
    stored = sparse.csr_array(X)
    stored.data[:5] = 0.0
    assert make_engine(X).n_nonzero() == np.count_nonzero(X)
    assert make_engine(stored).n_nonzero() == np.count_nonzero(X) - 5
