"""Shards that are expensive to read spare passes, and answer as those that read everything."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from instances import any_membership, members
from scipy import sparse

from neocc import NEOCC
from neocc.core.objectives import OBJECTIVES
from neocc.engines import PassOptions, Workers
from neocc.engines.following import FollowingShard
from neocc.engines.reading import as_matrix
from neocc.engines.shard import Shard
from neocc.io import write_store
from neocc.kernels import get_kernels

N_ROWS, N_COLUMNS, K, L = 300, 40, 4, 3


@pytest.fixture(params=["dense", "sparse"])
def matrix(request):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, N_COLUMNS)) * (rng.random((N_ROWS, N_COLUMNS)) < 0.5)
    return as_matrix(X if request.param == "dense" else sparse.csr_array(X))


@pytest.fixture
def shards(matrix):
    with Workers(2) as workers:
        kernels = get_kernels("numpy", 0)
        yield FollowingShard(matrix, kernels, workers), Shard(matrix, kernels, workers)


def weighted(U, rng, share=1.0):
    """Give a share of the items other weights."""
    scale = np.ones(U.n_items) if U.scale is None else U.scale
    changes = rng.random(U.n_items) < share
    return replace(U, scale=np.where(changes, rng.choice([0.2, 0.5, 1.5], U.n_items), scale))


def changed(U, rng, n):
    """Let n rows change clusters: some join one more, some leave, some become outliers."""
    dense = U.dense.copy()
    rows = rng.choice(len(dense), size=n, replace=False)
    flipped = rng.integers(dense.shape[1], size=n)
    dense[rows, flipped] = ~dense[rows, flipped]
    return replace(members(dense), scale=U.scale)


def assert_same(found, wanted):
    for name in ("sums", "squares", "products"):
        one, other = getattr(found, name), getattr(wanted, name)
        assert (one is None) == (other is None)
        if one is not None:
            np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("products", [False, True])
@pytest.mark.parametrize("base", [None, "weighted", "plain"])
def test_features_follow_the_rows_that_changed(shards, products, base):
    rng = np.random.default_rng(1)
    following_shard, plain = shards
    U, V = (members(any_membership(rng, *size)) for size in ((N_ROWS, K), (N_COLUMNS, L)))
    V = V if products else None
    for n_changed in (0, 3, 0, 20, 1, 200, 5, 29, 30, 31):
        U = changed(U, rng, n_changed)
        found = following_shard.column_features(U, V, base)
        assert_same(found, plain.column_features(U, V, base))
        if base:
            assert found.squares is not following_shard.column_squares()
    assert following_shard.reads.passes < plain.reads.passes
    # One more row than may be followed has all of them read, a few do not.
    for n_changed, reads_all in ((31, True), (2, False)):
        U, before = changed(U, rng, n_changed), following_shard.reads.passes
        following_shard.column_features(U, V, base)
        assert (following_shard.reads.passes - before > 0.99) == reads_all


@pytest.mark.parametrize("products", [False, True])
def test_features_follow_weights_that_changed(shards, products):
    """A row takes away what it added with its old weight, and adds with its new one."""
    rng = np.random.default_rng(7)
    shard, plain = shards
    U, V = (members(any_membership(rng, *size)) for size in ((N_ROWS, K), (N_COLUMNS, L)))
    V = weighted(V, rng) if products else None
    reads = []
    for n_changed, share in ((0, 0.0), (0, 0.05), (3, 0.05), (5, 0.0), (0, 0.9)):
        U, before = weighted(changed(U, rng, n_changed), rng, share), shard.reads.passes
        assert_same(shard.column_features(U, V), plain.column_features(U, V))
        reads.append(shard.reads.passes - before > 0.99)
    assert reads == [True, False, False, False, True]
    # Without weights all of them are one.
    plain_U = replace(U, scale=None)
    assert_same(shard.column_features(plain_U, V), plain.column_features(plain_U, V))
    if products:
        other = weighted(V, rng)
        assert_same(shard.column_features(plain_U, other), plain.column_features(plain_U, other))


def test_earlier_features_are_left_alone(shards):
    rng = np.random.default_rng(2)
    shard, _ = shards
    U = members(any_membership(rng, N_ROWS, K))
    first = shard.column_features(U, None)
    copy = first.sums.copy(), first.squares.copy()
    shard.column_features(changed(U, rng, 5), None)
    np.testing.assert_array_equal(first.sums, copy[0])
    np.testing.assert_array_equal(first.squares, copy[1])


def test_features_are_made_anew_when_asked_otherwise_or_too_often(shards):
    rng = np.random.default_rng(3)
    shard, plain = shards
    U, V = (members(any_membership(rng, *size)) for size in ((N_ROWS, K), (N_COLUMNS, L)))
    other = members(np.roll(V.dense, 1, axis=0))
    asked = ((V, "weighted"), (other, "weighted"), (None, "weighted"), (None, "plain"), (V, None))
    for columns, base in asked:
        before = shard.reads.passes
        assert_same(
            shard.column_features(U, columns, base), plain.column_features(U, columns, base)
        )
        assert shard.reads.passes - before > 0.99
    fewer = members(U.dense[:, :2])
    assert_same(shard.column_features(fewer, V), plain.column_features(fewer, V))
    options = PassOptions(max_updates=2)
    shard = FollowingShard(shard.matrix, shard.kernels, shard.workers, options=options)
    shard.column_features(fewer, V)
    reads = []
    for _ in range(6):
        fewer, before = changed(fewer, rng, 2), shard.reads.passes
        shard.column_features(fewer, V)
        reads.append(shard.reads.passes - before > 0.99)
    assert reads == [False, False, True, False, False, True]


def test_what_is_refreshed_has_the_bits_of_a_plain_shard(shards):
    rng = np.random.default_rng(4)
    shard, plain = shards
    assert not shard.refresh()
    U = members(any_membership(rng, N_ROWS, K))
    shard.column_features(U, None)
    U = changed(U, rng, 4)
    shard.column_features(U, None)
    assert shard.refresh()
    assert not shard.refresh()
    assert not plain.refresh()
    np.testing.assert_array_equal(
        shard.column_features(U, None).sums, plain.column_features(U, None).sums
    )


@pytest.mark.parametrize("objective", ["mean", "residue"])
def test_row_sums_serve_again_while_the_column_clusters_stay(shards, objective):
    rng = np.random.default_rng(5)
    shard, plain = shards
    model = OBJECTIVES[objective]
    U, V = (members(any_membership(rng, *size)) for size in ((N_ROWS, K), (N_COLUMNS, L)))
    other = members(np.roll(V.dense, 1, axis=0))
    reads = []
    heavier = weighted(V, rng)
    for columns in (V, V, members(V.dense), other, V, heavier, replace(heavier)):
        features = plain.column_features(U, columns if model.needs_products else None)
        terms = model.terms("rows", features, (U, columns))
        before = shard.reads.passes
        found, wanted = (each.score(U, terms, columns) for each in (shard, plain))
        np.testing.assert_array_equal(found.d, wanted.d)
        np.testing.assert_array_equal(found.labels, wanted.labels)
        assert found.objective == wanted.objective
        reads.append(round(shard.reads.passes - before))
    # Rows of few entries are not worth a table of sums; products are made of all entries.
    keeps = objective == "mean" and shard.matrix.n_stored >= 10 * N_ROWS * L
    assert reads == ([1, 0, 0, 1, 1, 1, 0] if keeps else [1] * 7)


def test_row_sums_are_read_again_for_another_base(shards):
    rng, (shard, plain) = np.random.default_rng(6), shards
    U, V = (members(any_membership(rng, *size)) for size in ((N_ROWS, K), (N_COLUMNS, L)))
    terms = OBJECTIVES["mean"].terms("rows", plain.column_features(U, None), (U, V))
    for base in ("weighted", "plain", "margins", "weighted"):
        found, wanted = (each.score(U, replace(terms, base=base), V) for each in (shard, plain))
        np.testing.assert_array_equal(found.d, wanted.d)


@pytest.mark.parametrize("objective", ["mean", "residue"])
def test_a_fit_of_a_store_makes_fewer_passes_and_ends_alike(tmp_path, objective):
    rng = np.random.default_rng(6)
    X = rng.normal(size=(9000, 60)) + np.kron(rng.normal(size=(4, 3)), np.ones((2250, 20)))
    store = write_store(tmp_path / "store", X, rows_per_block=1300)
    options = {"objective": objective, "n_init": 1, "refine": False, "init": "random", "tol": 0.0}
    options |= {"row_overlap": 0.1, "row_outliers": 0.05, "random_state": 0}
    stored, memory = (NEOCC(4, 3, **options).fit(D) for D in (store, X))
    assert (stored.row_membership_ == memory.row_membership_).all()
    assert stored.objective_ == memory.objective_
    assert stored.n_iter_ == memory.n_iter_ > 5
    assert stored.n_passes_ < memory.n_passes_
