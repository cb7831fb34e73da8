"""Shards update sums without rounding, and counts, with the bits of sums over all entries."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from instances import any_membership, members
from scipy import sparse

from neocc import NEOCC
from neocc.core.biases import find_biases
from neocc.core.objectives import OBJECTIVES, Observed
from neocc.engines import PassOptions, Workers, open_engine
from neocc.engines.exact import ExactShard, squares_exactly, sums_exactly
from neocc.engines.observed import read_observed
from neocc.engines.reading import as_matrix
from neocc.engines.shard import Shard
from neocc.kernels import get_kernels

N_ROWS, N_COLUMNS, K, L = 300, 200, 4, 3
OPTIONS = PassOptions(
    row_block=500,
    column_block=300,
    smallest_block=100,
    entries_per_cell=1,
    least_updated=0,
    max_moved=0.1,
    entries_per_sum=0,
)
NONE = sparse.csr_array((N_ROWS, N_COLUMNS))


def counts(rng, dtype=np.float32):
    """Whole numbers, some of them negative, in a few cells."""
    shape = (N_ROWS, N_COLUMNS)
    X = rng.integers(-3, 10, size=shape) * (rng.random(shape) < 0.1)
    return sparse.csr_array(X.astype(dtype))


def observed(rng, kind="whole"):
    """Cells of which some are zero, a row and a column of none.

    They are whole numbers, multiples of 2^-30, whose squares are rounded, or any others.
    """
    X = counts(rng, np.float64)
    X.data[rng.random(X.nnz) < 0.1] = 0.0
    more = rng.normal(size=X.nnz)
    X.data += {"whole": 0.0, "steps": np.rint(more * 2.0**30) / 2.0**30, "real": more}[kind]
    kept = (np.arange(N_ROWS) != 5)[:, None] & (np.arange(N_COLUMNS) != 7)
    at = sparse.coo_array(X)
    some = kept[at.row, at.col]
    cells = (X.data[some], (at.row[some], at.col[some]))
    return read_observed(sparse.csr_array(cells, shape=X.shape))


@pytest.fixture(params=["numpy", "numba"])
def make_shards(request):
    """A shard that updates its sums, and one that does not."""
    with Workers(2) as workers:

        def made(matrix):
            shared = (matrix, get_kernels(request.param, 0), workers)
            return ExactShard(*shared, options=OPTIONS), Shard(*shared, options=OPTIONS)

        yield made


@pytest.fixture
def shards(make_shards):
    return make_shards(as_matrix(counts(np.random.default_rng(0))))


def sides(rng, overlapping):
    """Random memberships of both sides, disjoint or with overlap and outliers."""
    sizes = ((N_ROWS, K), (N_COLUMNS, L))
    if overlapping:
        return [members(any_membership(rng, *size)) for size in sizes]
    return [members(np.eye(k, dtype=bool)[rng.integers(k, size=n)]) for n, k in sizes]


def changed(found, rng, n, overlapping):
    """Let n items change clusters."""
    dense = found.dense.copy()
    items = rng.choice(len(dense), size=n, replace=False)
    if overlapping:
        at = rng.integers(dense.shape[1], size=n)
        dense[items, at] = ~dense[items, at]
    else:
        dense[items] = np.roll(dense[items], 1, axis=1)
    return members(dense)


def assert_equal_bits(found, wanted):
    for one, other in zip(found.tables(), wanted.tables(), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("overlapping", [False, True])
@pytest.mark.parametrize("base", [None, "weighted", "plain", "margins"])
def test_column_features_have_the_bits_of_all_rows(shards, base, overlapping):
    rng = np.random.default_rng(1)
    shard, plain = shards
    U = sides(rng, overlapping)[0]
    shares = []
    for n_changed in (0, 3, 0, 20, 1, 200, 5, 30, 31):
        U, before = changed(U, rng, n_changed, overlapping), shard.reads.passes
        found = shard.column_features(U, None, base)
        shares.append(round(shard.reads.passes - before, 6))
        kept = found.copied()
        assert_equal_bits(found, plain.column_features(U, None, base))
    assert shares[1:5] == [
        0.01,
        0.0,
        pytest.approx(20 / N_ROWS, abs=1e-6),
        pytest.approx(1 / 300, abs=1e-6),
    ]
    assert min(shares[0], shares[5], shares[8]) >= 1.0
    # Those returned before are left alone.
    shard.column_features(changed(U, rng, 5, overlapping), None, base)
    assert_equal_bits(found, kept)


@pytest.mark.parametrize("overlapping", [False, True])
@pytest.mark.parametrize("objective", ["mean", "mean of steps", "poisson", "residue"])
def test_row_scores_have_the_bits_of_all_entries(shards, objective, overlapping, monkeypatch):
    rng = np.random.default_rng(2)
    shard, plain = shards
    others = {"poisson": abs(shard.matrix.values), "mean of steps": observed(rng, "steps").values}
    if objective in others:
        shard, plain = (
            type(each)(as_matrix(others[objective]), each.kernels, each.workers, options=OPTIONS)
            for each in shards
        )
    model, updates = OBJECTIVES[objective.split()[0]], []
    move = shard.kernels.move
    monkeypatch.setattr(shard.kernels, "move", lambda *given: updates.append(move(*given)))
    U, V = sides(rng, overlapping)
    updated = []
    for n_changed in (0, 3, 0, 19, 100, 5, 20, 21):
        V = changed(V, rng, n_changed, overlapping)
        features = plain.column_features(U, V if model.needs_products else None, model.base)
        terms = model.terms("rows", features, (U, V))
        updates.clear()
        found, wanted = (each.score(U, terms, V) for each in (shard, plain))
        np.testing.assert_array_equal(found.d, wanted.d)
        np.testing.assert_array_equal(found.labels, wanted.labels)
        np.testing.assert_array_equal(found.squares, wanted.squares)
        assert found.objective == wanted.objective
        updated.append(bool(updates))
    # First all entries are read; where nothing has changed, none are.
    few = [False, True, False, True, False, True, True, False]
    assert updated == ([False] * 8 if model.needs_products else few)


@pytest.mark.parametrize("overlapping", [False, True])
@pytest.mark.parametrize("base", [None, "weighted", "plain"])
@pytest.mark.parametrize("kind", ["whole", "steps", "real"])
def test_columns_of_observed_cells_have_the_bits_of_all_rows(make_shards, kind, base, overlapping):
    rng = np.random.default_rng(1)
    shard, plain = make_shards(observed(rng, kind))
    assert (shard.exact, shard.exact_squares) == (kind != "real", kind == "whole")
    U, shares, lasts = sides(rng, overlapping)[0], [], []
    for n_changed in (0, 3, 0, 20, 1, 300, 5, 30, 31):
        U, before = changed(U, rng, n_changed, overlapping), shard.reads.passes
        found = shard.column_features(U, None, base, True)
        shares.append(round(shard.reads.passes - before, 6))
        lasts.append((found, found.copied()))
        assert_equal_bits(found, plain.column_features(U, None, base, True))
    # Squares that are rounded are summed anew where rows changed; other values always are, and only
    # counted from what changed.
    squared = kind == "steps" and overlapping and base == "weighted"
    wanted = [(n > 0) * squared + (kind == "real") + n / N_ROWS for n in (3, 0, 20, 1)]
    assert shares[1:5] == pytest.approx(wanted, abs=1e-5)
    assert min(shares[5], shares[8]) >= 1.0
    for found, kept in lasts:  # those returned before are left alone
        assert_equal_bits(found, kept)
    # Asked for without counts, and with them again.
    for with_counts in (False, True, True):
        found, wanted = (
            each.column_features(U, None, base, with_counts) for each in (shard, plain)
        )
        assert_equal_bits(found, wanted)


@pytest.mark.parametrize("overlapping", [False, True])
@pytest.mark.parametrize("background", [False, True])
@pytest.mark.parametrize("kind", ["whole", "steps", "real"])
def test_rows_of_observed_cells_have_the_bits_of_all_entries(
    make_shards, kind, background, overlapping, monkeypatch
):
    rng = np.random.default_rng(2)
    shard, plain = make_shards(observed(rng, kind))
    model, updates = Observed(background=background, shrinkage=2.0), []
    move = shard.kernels.move
    monkeypatch.setattr(shard.kernels, "move", lambda *given: updates.append(move(*given)))
    U, V = sides(rng, overlapping)
    updated = []
    for n_changed in (0, 3, 0, 19, 150, 5, 20, 21):
        V = changed(V, rng, n_changed, overlapping)
        features = plain.column_features(U, None, model.base, True)
        terms = model.terms("rows", features, (U, V))
        updates.clear()
        found, wanted = (each.score(U, terms, V, True) for each in (shard, plain))
        for name in ("d", "labels", "minima", "objective"):
            np.testing.assert_array_equal(getattr(found, name), getattr(wanted, name))
        np.testing.assert_array_equal(found.parts.counts, wanted.parts.counts)
        updated.append(bool(updates))
    few = [False, True, False, True, False, True, True, False]
    assert updated == ([False] * 8 if kind == "real" else few)
    # Sums without counts, and with them again: neither is taken for the other.
    all_cells = OBJECTIVES["mean"].terms("rows", plain.column_features(U, None), (U, V))
    anew = shard.twin()
    for asked in (all_cells, terms, all_cells):
        found, wanted = (each.score(U, asked, V) for each in (anew, plain))
        np.testing.assert_array_equal(found.d, wanted.d)


def test_sums_are_made_anew_when_asked_otherwise(shards):
    """Weights, other numbers of clusters, virtual ones, an outlier, and after an error."""
    rng = np.random.default_rng(3)
    shard, plain = shards
    U, V = sides(rng, overlapping=False)
    lighter = replace(U, scale=np.where(np.arange(N_ROWS) < 3, 0.1, 1.0))
    follows = replace(U, virtual=changed(U, rng, 2, overlapping=False))
    one_more = members(np.pad(U.dense, ((0, 0), (0, 1))))
    for rows in (U, lighter, U, one_more, U, follows, U):
        assert_equal_bits(shard.column_features(rows, None), plain.column_features(rows, None))
    one_out = members(V.dense & (np.arange(N_COLUMNS) > 0)[:, None])
    terms = OBJECTIVES["mean"].terms("rows", plain.column_features(U, None), (U, V))

    def fails(*_):
        raise KeyboardInterrupt

    for columns in (V, one_out, V, changed(V, rng, 4, overlapping=False)):
        with pytest.raises(KeyboardInterrupt):
            shard._over_features(terms, columns, fails)
        found, wanted = (each.score(U, terms, columns) for each in (shard, plain))
        np.testing.assert_array_equal(found.d, wanted.d)


def test_squares_are_those_of_the_base_asked_for(shards):
    shard, plain = shards
    U = sides(np.random.default_rng(4), overlapping=True)[0]
    for base in ("weighted", "plain", "margins", "weighted"):
        assert_equal_bits(
            shard.column_features(U, None, base), plain.column_features(U, None, base)
        )


def test_squares_follow_rows_that_leave_their_last_overlap(shards):
    rng, (shard, plain) = np.random.default_rng(5), shards
    U = sides(rng, overlapping=False)[0]
    some = np.arange(N_ROWS)[:, None] < 3
    for rows in (U, members(U.dense | some), U, members(U.dense & ~some), U):
        assert_equal_bits(shard.column_features(rows, None), plain.column_features(rows, None))


def test_threads_with_runs_of_their_own_share_no_sums(shards):
    rng = np.random.default_rng(4)
    shard, plain = shards
    (U, V), other = sides(rng, overlapping=False), sides(rng, overlapping=False)[1]
    terms = OBJECTIVES["mean"].terms("rows", plain.column_features(U, None), (U, V))
    shard.score(U, terms, V)
    twin = shard.twin()
    near = changed(V, rng, 3, overlapping=False)
    twin.score(U, terms, near)
    for columns in (changed(V, rng, 2, overlapping=False), other):
        found, wanted = (each.score(U, terms, columns) for each in (shard, plain))
        np.testing.assert_array_equal(found.d, wanted.d)


def with_first(value):
    X = counts(np.random.default_rng(5), np.float64)
    X.data[0] = value
    return X


@pytest.mark.parametrize(
    ("X", "sums", "squares"),
    [
        (with_first(2.0), True, True),
        (with_first(-100_000.0), True, True),
        (with_first(2.5), True, True),
        (with_first(2.0**20), True, False),  # squares of 300 such could be rounded
        (with_first(2.0**44), False, False),  # so could 300 such
        (with_first(2.0**-38), True, False),
        (with_first(2.0**-41), False, False),
        (with_first(np.pi), False, False),
        (with_first(1e-300), False, False),
        (with_first(2.0).astype(np.float32) * np.float32(2.0**-140), True, True),
        (NONE, True, True),
        (np.ones((3, 3)), False, False),
    ],
)
def test_sums_without_rounding_are_recognised(X, sums, squares):
    matrix = as_matrix(X)
    assert (sums_exactly(matrix), squares_exactly(matrix)) == (sums, squares)
    with Workers(1) as workers:
        kernels = get_kernels("numpy", 0)
        shard = open_engine(matrix, kernels, workers, options=OPTIONS).shards.shard
        assert isinstance(shard, ExactShard) == sparse.issparse(X)
        assert getattr(shard, "exact", False) == sums
        assert getattr(shard, "exact_squares", False) == squares
        small = open_engine(matrix, kernels, workers)
        assert type(small.shards.shard) is Shard


@pytest.mark.parametrize("effects", [False, True])
@pytest.mark.parametrize("unit", [1.0, 0.5, 3e-7, 1e9])
def test_what_effects_leave_of_ratings_is_summed_without_rounding(effects, unit):
    matrix = observed(np.random.default_rng(8))
    matrix = replace(matrix, values=matrix.values * unit)
    with Workers(1) as workers:
        engine = open_engine(matrix, get_kernels("numpy", 0), workers)
        mean, rows, columns = find_biases(engine, effects=effects)
    left = matrix.without(mean + rows, columns)
    assert sums_exactly(left) == (unit != 3e-7)
    assert not squares_exactly(left)
    assert not sums_exactly(matrix.without(mean + rows * 1.001 + 0.1, columns))


def test_what_all_values_have_in_common_makes_no_effect_coarser():
    matrix = observed(np.random.default_rng(8))
    far = replace(matrix, values=matrix.values.copy())
    far.values.data += 1e9
    with Workers(1) as workers:
        near, found = (
            find_biases(open_engine(each, get_kernels("numpy", 0), workers))
            for each in (matrix, far)
        )
    np.testing.assert_allclose(found.mean - 1e9, near.mean, atol=1e-6)
    for one, other in zip(found[1:], near[1:], strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)
    assert sums_exactly(far.without(found.mean + found.rows, found.columns))


def test_cells_with_weights_are_not_exact():
    X = counts(np.random.default_rng(6))
    weights = sparse.csr_array((np.full(X.nnz, 0.1), X.indices, X.indptr), shape=X.shape)
    assert sums_exactly(read_observed(X))
    weighted = read_observed(X, None, weights)
    assert not sums_exactly(weighted)
    with Workers(1) as workers:
        engine = open_engine(weighted, get_kernels("numpy", 0), workers, options=OPTIONS)
    assert type(engine.shards.shard) is Shard


OBSERVED = {"missing": "ignore", "row_outliers": 0.05}


@pytest.mark.parametrize("overlap", [0.0, 0.1])
@pytest.mark.parametrize(
    "options", [{}, OBSERVED, OBSERVED | {"remove_effects": True}, {"objective": "poisson"}]
)
def test_fits_have_the_same_bits_and_fewer_passes(set_pass_options, options, overlap):
    rng = np.random.default_rng(7)
    X = counts(rng) + sparse.csr_array(np.kron(rng.integers(2, size=(3, 2)), np.ones((100, 100))))
    X = abs(X) if "objective" in options else X
    options = options | {"row_overlap": overlap, "column_overlap": overlap, "refine": False}
    found = []
    for least, n_jobs in ((0, 1), (0, 2), (1 << 19, 1)):
        set_pass_options(least_updated=least, entries_per_sum=0, smallest_block=1000)
        model = NEOCC(K, L, kernel="numba", n_init=2, random_state=0, n_jobs=n_jobs, **options)
        found.append(model.fit(X))
    other = found.pop()
    for one in found:
        assert one.history_.tobytes() == other.history_.tobytes()
        assert (one.row_membership_ == other.row_membership_).all()
        assert (one.column_membership_ == other.column_membership_).all()
    assert one.n_passes_ < other.n_passes_
