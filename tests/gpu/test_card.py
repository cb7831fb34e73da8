"""The CUDA kernels against the reference, and fits on a card against fits on the CPU.

Where there is no card, the sources are compiled for the CPU (`emulated_cuda`), and some cases are
left out. Nothing but pytest and what the package needs is imported: machines with cards have little
installed.
"""

from __future__ import annotations

import gc
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from emulated_cuda import COMPILER, EmulatedModule
from scipy import sparse

from neocc import MSSR, NEOCC, NEOKMeans
from neocc.core.initialise import random_pair, random_start
from neocc.core.objectives import OBJECTIVES
from neocc.core.overlap import OVERLAP_MODELS, Scores, bounded_model
from neocc.core.overlap.average import Average
from neocc.core.overlap.blend import Blend
from neocc.core.overlap.either import Either, followed_clusters
from neocc.core.problem import Counts, Problem
from neocc.core.solve import solve
from neocc.engines import GpuError, Workers, on_gpu, open_engine
from neocc.engines.gpu import open_card
from neocc.engines.gpu.device import Device
from neocc.engines.gpu.rows import bytes_on_card
from neocc.engines.reading import as_matrix
from neocc.kernels import Features, Memberships, Parts, SparseBlock, Terms, numpy_
from neocc.kernels.gpu.cuda import CudaKernels

try:
    CARD, MISSING = open_card(), ""
except GpuError as error:
    MISSING = f"no GPU: {error}"
    if COMPILER is None:
        pytest.skip(f"{MISSING} No compiler (g++) either.", allow_module_level=True)
    FOLDER = TemporaryDirectory(prefix="neocc-")
    CARD = Device(CudaKernels(EmulatedModule(Path(FOLDER.name), n_multiprocessors=1)))

KERNELS = CARD.kernels
xp = KERNELS.xp
on_card = pytest.mark.skipif(bool(MISSING), reason=MISSING)
# Some have long rows, some more columns, or rows, than clusters of which fit into shared memory.
ALL_SHAPES = [(1, 9), (7, 3000), (300, 7), (2000, 900), (150_000, 40), (50, 400_000)]
FEW_SHAPES = [(7, 300), (300, 7), (70_000, 3), (5, 140_000)]


def some(values, quick):
    """Return values for a parameter; those that are slow without a card are marked so."""
    slow = pytest.mark.slow
    marks = [slow if MISSING and each not in quick else () for each in values]
    return [pytest.param(each, marks=mark) for each, mark in zip(values, marks, strict=True)]


SHAPES = some(FEW_SHAPES if MISSING else ALL_SHAPES, [(300, 7)])
TYPES = some([np.float32, np.float64], [np.float32])


def make_sparse(rng, shape, dtype=np.float32, mean=20.0):
    n, m = shape
    density = min(0.6, mean / min(n, m), (1e5 if MISSING else 1e6) / (n * m))
    X = sparse.random_array(
        shape, density=density, random_state=rng, format="csr", dtype=np.float64
    )
    X.data -= 0.3
    return X.astype(dtype)


def make_members(rng, n, k, overlap, outliers, scaled=False):
    first = rng.integers(k, size=n).astype(np.int32)
    first[rng.random(n) < outliers] = -1
    extra = np.zeros((n, k), dtype=bool)
    if overlap and k > 1:
        extra = rng.random((n, k)) < overlap / k
        extra[rng.random(n) < overlap / 10] = True
        extra[np.flatnonzero(first >= 0), first[first >= 0]] = False
    items, clusters = np.nonzero(extra)
    scale = rng.random(n) if scaled else None
    return Memberships(first, items, clusters.astype(np.int32), k, scale)


def block_of(X):
    block = as_matrix(X).block(0, X.shape[0])
    assert isinstance(block, SparseBlock) or X.size <= 1  # a full matrix would be dense
    return block


def close(found, expected, size=None):
    found = KERNELS.fetch(found)
    size = np.abs(expected).max(initial=0.0) if size is None else size
    assert found.shape == expected.shape
    assert np.abs(found - expected).max(initial=0.0) <= 1e-13 * size + 1e-300


KINDS = ["partition", "outliers", "overlap", "much", "scaled"]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("k", some([5, 70] if MISSING else [1, 3, 20, 33, 70], [5]))
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", some(KINDS, ["partition"]))
def test_sums(shape, k, kind, dtype):
    rng = np.random.default_rng([*shape, k, len(kind)])
    X = make_sparse(rng, shape, dtype)
    overlap = {"overlap": 0.1, "much": 1.5, "scaled": 0.5}.get(kind, 0.0)
    outliers = 0.0 if kind == "partition" else 0.2
    block = block_of(X)
    held = KERNELS.hold(block)
    for side, size in enumerate(shape[::-1]):
        members = make_members(rng, size, k, overlap, outliers, scaled=kind == "scaled")
        lists = CARD.lists(members)
        n = shape[side]
        for weights, there in ((None, None), (members.weights, lists.weights)):
            expected = np.zeros((n, k)), np.zeros(n)
            found = xp.zeros((n, k)), xp.zeros(n)
            name = ("gather", "scatter")[side]
            getattr(numpy_, name)(block, members, weights, *expected)
            getattr(KERNELS, name)(held, lists, there, *found)
            close(found[0], expected[0])
            close(found[1], expected[1])
            only = xp.zeros((n, k))
            getattr(KERNELS, name)(held, lists, None, only, None)
            assert xp.array_equal(only, found[0])
            alone = xp.zeros(n)
            drawn = rng.random(size)
            getattr(KERNELS, name)(held, None, xp.asarray(drawn), None, alone)
            wanted = np.zeros(n)
            getattr(numpy_, name)(block, None, drawn, None, wanted)
            close(alone, wanted)


@pytest.mark.parametrize("weighted", some([False, True], []))
def test_observed_cells(weighted):
    rng = np.random.default_rng(0)
    X = make_sparse(rng, (3000, 500), np.float64)
    weights = rng.random(X.nnz) + 0.5 if weighted else None
    block = block_of(X)._replace(weights=weights)
    held = KERNELS.hold(block)
    for side, name in enumerate(("gather", "scatter")):
        members = make_members(rng, X.shape[1 - side], 6, 0.2, 0.1)
        expected = np.zeros((2, X.shape[side], 6))
        found = xp.zeros((2, X.shape[side], 6))
        getattr(numpy_, name)(block, members, None, expected[0], None, expected[1])
        getattr(KERNELS, name)(held, CARD.lists(members), None, found[0], None, found[1])
        close(found, expected)


@pytest.mark.parametrize("kind", ["sparse", "weighted", "dense"])
def test_blocks_that_pass_through(kind):
    rng = np.random.default_rng(0)
    n = 200 if MISSING else 200_000
    X = make_sparse(rng, (n, 30), np.float64, mean=6.0)
    members = make_members(rng, 30, 4, 0.2, 0.1)
    matrix = as_matrix(X.toarray() + 1.0 if kind == "dense" else X)
    weights = rng.random(X.nnz) + 0.5 if kind == "weighted" else None
    edges = np.sort(rng.integers(n, size=9)).tolist()
    blocks = [matrix.block(*rows) for rows in zip([0, *edges], [*edges, n], strict=True)]
    if weights is not None:
        blocks = [each._replace(weights=weights) for each in blocks]
    expected, found, start = np.zeros((n, 4)), xp.zeros((n, 4)), 0
    lists = CARD.lists(members)
    for block, held in zip(blocks, map(KERNELS.hold, blocks), strict=True):
        rows = len(block) if kind == "dense" else block.n_rows
        at = slice(start, start + rows)
        if weights is None:
            numpy_.gather(block, members, None, expected[at], None)
            KERNELS.gather(held, lists, None, found[at], None)
        else:
            counts = np.zeros((rows, 4)), xp.zeros((rows, 4))
            numpy_.gather(block, members, None, expected[at], None, counts[0])
            KERNELS.gather(held, lists, None, found[at], None, counts[1])
            close(*counts[::-1])
        start += rows
    close(found, expected)


@on_card
@pytest.mark.parametrize("name", ["repeat", "average"])
@pytest.mark.parametrize("objective", ["mean", "residue"])
def test_data_larger_than_the_card(objective, name):
    rng = np.random.default_rng(0)
    X = make_sparse(rng, (20_000, 300), np.float32)
    model = bounded_model(name, None if name == "repeat" else 3, objective)
    sides = [Counts.from_fractions(n, 4, overlap=0.1, outliers=0.05) for n in X.shape]
    problem = Problem(OBJECTIVES[objective], *sides, 6, 0.0, model)
    start = random_pair(problem, rng)
    matrix = as_matrix(X)
    with Workers(2) as workers:
        expected = solve(on_gpu(matrix, numpy_, workers, CARD), problem, start)
        budget = bytes_on_card(matrix) // 2
        small = Device(KERNELS, lambda: budget)
        found = solve(on_gpu(matrix, numpy_, workers, small), problem, start)
        again = solve(on_gpu(matrix, numpy_, workers, small), problem, start)
    assert found.history.tobytes() == again.history.tobytes()
    assert np.allclose(found.history, expected.history, rtol=1e-9, atol=1e-9)
    for mine, others in zip(found.pair, expected.pair, strict=True):
        assert np.array_equal(mine.dense, others.dense)


@pytest.mark.parametrize("width", [7, 20, 33] if MISSING else [1, 7, 16, 20, 33, 80])
@pytest.mark.parametrize("shape", SHAPES[:2] if MISSING else SHAPES)
def test_products(shape, width):
    rng = np.random.default_rng(width)
    X = make_sparse(rng, shape)
    block, held = block_of(X), KERNELS.hold(block_of(X))
    for name, size, n in (
        ("multiply", shape[1], shape[0]),
        ("multiply_transposed", shape[0], shape[1]),
    ):
        table = rng.normal(size=(size, width))
        expected, found = np.ones((n, width)), xp.ones((n, width))
        getattr(numpy_, name)(block, table, expected)
        getattr(KERNELS, name)(held, xp.asarray(table), found)
        close(found, expected)


@pytest.mark.parametrize("l", some([5, 150] if MISSING else [1, 5, 20, 150], [5]))
@pytest.mark.parametrize("k", some([4, 130] if MISSING else [1, 4, 20, 130], [4]))
@pytest.mark.parametrize("extent", some(["mean", "products", "tables", "rate"], ["tables"]))
def test_scores(k, l, extent):  # noqa: E741
    rng = np.random.default_rng([k, l, len(extent)])
    n = 300 if MISSING else 5000
    draw = rng.normal
    features = Features(draw(size=(n, l)), 10.0 * rng.random(n) + 5.0)
    magnitude = rng.random(k) * 10.0
    if k > 3:
        magnitude[2] = np.inf
    terms = Terms(rng.random(k), draw(size=(l, k)), None, None, magnitude)
    if extent != "mean":
        features = replace(features, products=draw(size=(n, k)))
        terms = replace(terms, scale=rng.random(k), shrink=rng.random(l))
    if extent == "tables":
        features = replace(features, counts=rng.random((n, l)))
        terms = replace(
            terms, scale=draw(size=(k, k)), shrink=draw(size=(l, l)), curve=draw(size=(l, k))
        )
    if extent == "rate":
        terms = replace(terms, rate=rng.random(k))
    for members in (None, make_members(rng, n, k, 0.3, 0.1, scaled=k == 4)):
        d, labels, minima = np.empty((n, k)), np.empty(n, dtype=np.int32), np.empty(n)
        total = numpy_.score(features, terms, members, d, labels, minima)
        there = Features(*(KERNELS.put(getattr(features, f)) for f in features.__slots__))
        for table in (xp.empty((n, k)), None):
            mine, least = xp.empty(n, dtype=xp.int32), xp.empty(n)
            found = KERNELS.score(there, terms, CARD.lists(members), table, mine, least)
            assert found == pytest.approx(total, rel=1e-12, abs=1e-9)
            assert np.mean(KERNELS.fetch(mine) == labels) > 0.9999
            assert np.allclose(KERNELS.fetch(least), minima, rtol=1e-10, atol=1e-10)
            if table is not None:
                assert np.allclose(KERNELS.fetch(table), d, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize(("l", "k"), [(1, 3), (5, 1), (40, 7), (200, 150)])
def test_sums_over_blocks(k, l, scaled):  # noqa: E741
    rng = np.random.default_rng(k)
    members = make_members(rng, 1300, k, 0.3, 0.1, scaled=scaled)
    for shape in ((1300, l), (1300,)):
        table = rng.normal(size=shape)
        found = KERNELS.blocks(xp.asarray(table), CARD.lists(members))
        assert np.allclose(found, table.T.dot(members.indicator), rtol=1e-12, atol=1e-12)
        # Sums are added up in the same order on cards with less memory.
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(KERNELS, "shared", 3 * KERNELS.shared // 5)
            again = KERNELS.blocks(xp.asarray(table), CARD.lists(members))
        assert np.array_equal(found, again)
    square = rng.normal(size=(1300, k))
    found = KERNELS.diagonal(xp.asarray(square), CARD.lists(members))
    assert np.allclose(found, np.einsum("tj,tj->j", square, members.indicator), atol=1e-12)


@pytest.mark.parametrize("k", [3, 10_000])
def test_members_are_counted(k):
    members = make_members(np.random.default_rng(k), 3000, k, 0.3 if k < 9 else 0.0, 0.1)
    held = CARD.memberships(CARD.lists(members))
    assert np.array_equal(held.sums_of(None), members.sums_of(None))
    assert np.array_equal(held.sizes, members.sizes)
    assert "first" not in vars(held)


SETS = {name: OVERLAP_MODELS[name] for name in ("repeat", "share", "average", "sum")} | {
    "blend": Blend
}


TABLES = ("curves", "sets", "steps", "present")


def tables_like(expected):
    """Empty tables on the card, as large as those of the CPU; None for what is not asked for."""
    tables = (getattr(expected, name) for name in TABLES)
    return [None if each is None else xp.empty(each.shape, each.dtype) for each in tables]


def assert_same_tables(tables, expected):
    for table, name in zip(tables, TABLES, strict=True):
        if table is None:
            continue
        found, wanted = KERNELS.fetch(table), getattr(expected, name)
        if name == "sets":  # what is behind the last cluster says nothing
            inside = np.tri(wanted.shape[1], dtype=bool)
            found, wanted = found[:, inside], wanted[:, inside]
        assert np.allclose(found, wanted, rtol=1e-11, atol=1e-9)


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("size", some([(4, 4), (14, 4), (20, 2), (5, 1)], [(4, 4), (14, 4)]))
def test_curves(name, size):
    k, most = size
    rng = np.random.default_rng([k, most, len(name)])
    n = 150 if MISSING else 5000
    model = SETS[name](min(most, 2) if name == "blend" else most)
    Z = rng.normal(size=(k, 3))
    points = Z[rng.integers(k, size=n)] + rng.normal(size=(n, 3))
    squares = np.square(points).sum(axis=1)
    d = np.square(points[:, None] - Z).sum(axis=2)
    if model.blends:
        one, other = np.triu_indices(k, 1)
        between = np.square(points[:, None] - (Z[one] + Z[other]) / 2.0).sum(axis=2)
        d = np.hstack([d, between])
    else:
        d[:, 1] = np.inf  # an empty cluster
        # Ties.
        d[: n // 3] = np.round(d[: n // 3])
    sets = make_sets(rng, n, k, min(2, k) if model.blends else min(5, k))
    weights = None if model.blends else rng.integers(1, 4, size=n) / 2.0
    for present in (None, sets.weighing(weights)):
        scores = Scores(d, None, None, k, 0.0, present, squares * model.needs_squares, Z @ Z.T)
        with np.errstate(invalid="ignore"):
            expected = model.choices(scores, numpy_)
        costs = None if model.blends else model.costs(np.arange(1.0, k + 1), scores.gram)
        tables = tables_like(expected)
        there = xp.asarray(squares) if model.needs_squares else None
        lists = CARD.lists(present)
        beside = KERNELS.set_curves(xp.asarray(d), there, lists, costs, *tables)
        assert beside == pytest.approx(expected.scores.objective, rel=1e-12, abs=1e-12)
        assert_same_tables(tables, expected)


@pytest.mark.parametrize("observed", [False, True])
@pytest.mark.parametrize("size", some([(4, 3, 4), (14, 5, 3), (3, 200, 2), (2, 1, 1)], [(4, 3, 4)]))
def test_curves_of_what_is_followed(size, observed):
    k, l, most = size  # noqa: E741
    rng = np.random.default_rng(size)
    n, model = 150 if MISSING else 5000, Either(most)
    counts = rng.integers(0 if observed else 1, 9, size=(n, l) if observed else l).astype(float)
    sums, slope = rng.normal(size=(n, l)), rng.normal(size=(l, k))
    sums[: n // 3], slope = np.round(sums[: n // 3]), np.round(slope * 4) / 4  # ties
    squares, minima = 10.0 + rng.random(n), rng.random(n)
    magnitude = rng.random(k)
    if k > 3:
        magnitude[1] = np.inf
    parts = Parts(sums, counts, slope, np.square(slope / 2.0), magnitude)
    sets = make_sets(rng, n, k, min(3, k))
    plain = Scores(sums, None, minima, k, 0.0, None, squares, None, parts)
    followed = model.chosen(sets.weighing(rng.integers(1, 4, size=n) / 2.0), plain)
    there = parts._replace(sums=xp.asarray(sums))
    if observed:
        there = there._replace(counts=xp.asarray(counts))
    given = (there, xp.asarray(squares), xp.asarray(minima))
    for present in (None, model.weighted(sets), followed):
        with np.errstate(invalid="ignore"):
            expected = model.choices(plain._replace(members=present), numpy_)
        tables = tables_like(expected)
        beside = KERNELS.least_sets(*given, CARD.lists(present), *tables)
        assert beside == pytest.approx(expected.scores.objective, rel=1e-11, abs=1e-9)
        assert_same_tables(tables, expected)
    items = np.flatnonzero(sets.numbers > 1)
    found = KERNELS.follow(*given, CARD.lists(sets), xp.asarray(items))
    assert np.array_equal(KERNELS.fetch(found), followed_clusters(followed, l)[items])


def make_sets(rng, n, k, largest):
    """Return items in up to so many clusters."""
    order, numbers = rng.random((n, k)).argsort(axis=1), rng.integers(0, largest + 1, size=n)
    inside = order < numbers[:, None]
    return Memberships.from_dense(inside)


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("largest", [1, 3])
def test_inner_products_of_memberships(largest, scaled):
    rng = np.random.default_rng(largest)
    members = make_sets(rng, 1300, 6, largest)
    if scaled:
        members = Average().weighted(members.weighing(rng.random(1300) + 0.5))
    lists = CARD.lists(members)
    held = CARD.memberships(lists)
    assert np.allclose(held.gram, members.gram, rtol=1e-12, atol=1e-12)
    assert np.allclose(held.sizes, members.sizes, rtol=1e-12)
    assert np.array_equal(KERNELS.fetch(lists.weights), members.weights)
    assert "first" not in vars(held)
    copied = replace(held, mixed=held.mixed)
    assert np.array_equal(copied.dense, members.dense)
    assert scaled == (held.scale is not None)


@pytest.mark.parametrize("kind", some(["positive", "signed", "tied", "empty", "zeros"], ["zeros"]))
def test_histograms(kind):
    n = 3000 if MISSING else 300_000
    from neocc.core.histograms import EVERYTHING, Histogram, Query, Window

    rng = np.random.default_rng(0)
    values = {
        "positive": rng.gamma(2.0, size=n),
        "signed": rng.normal(size=n) * 10.0 ** rng.integers(-300, 300, size=n),
        "tied": rng.integers(0, 5, size=n) / 7.0,
        "empty": np.empty(0),
        "zeros": np.array([0.0, -0.0, np.inf, 1.0]),
    }[kind]
    for window in (EVERYTHING, Window.around(1.0, 0.1), Window.around(0.0, 1.0)):
        for shift in (44, 24, 0):
            for most in (100, 1 << 40):
                query = Query(window, None, shift, most)
                expected = Histogram.of(values, window, query)
                found = KERNELS.histogram(xp.asarray(values), *window, shift, most)
                if isinstance(found, int):
                    assert not expected.counted
                    assert found == expected.below
                    continue
                assert expected.counted
                assert np.array_equal(found[0], expected.bins)
                assert np.array_equal(found[1], expected.counts)
                assert found[2] == expected.below


@pytest.mark.parametrize("kind", some(["positive", "signed", "tied", "extreme"], ["tied"]))
@pytest.mark.parametrize("k", some([1, 7], [7]))
def test_selected_values_and_what_is_near_them(kind, k):
    n = 300 if MISSING else 30_000
    rng = np.random.default_rng(k)
    values = {
        "positive": rng.gamma(2.0, size=(n, k)),
        "signed": rng.normal(size=(n, k)) * 10.0 ** rng.integers(-300, 300, size=(n, k)),
        "tied": rng.integers(0, 5, size=(n, k)) / 7.0,
        "extreme": rng.choice([-np.inf, -0.0, 0.0, 5e-324, 1.0, np.inf], size=(n, k)),
    }[kind]
    first = rng.integers(-1, k, size=n).astype(np.int32)
    left = first[:, None] != np.arange(k)
    for taken in (None, first):
        some = np.sort(values[left] if taken is not None else values.ravel())
        for rank in {1, 2, len(some) // 3 + 1, len(some) - 1, len(some)}:
            value, below, equal = KERNELS.select(xp.asarray(values), rank, KERNELS.put(taken))
            assert value == some[rank - 1]
            assert (below, equal) == (np.sum(some < value), np.sum(some == value))
        with pytest.raises(RuntimeError, match="rank"):
            KERNELS.select(xp.asarray(values), len(some) + 1, KERNELS.put(taken))
        near = (values <= value) & left
        found = KERNELS.near(xp.asarray(values), xp.asarray(first), value)
        items, clusters, ends = map(KERNELS.fetch, found)
        assert np.array_equal(np.flatnonzero(near), items * k + clusters)
        assert np.array_equal(ends, np.append(0, near.sum(axis=1).cumsum()))


@pytest.mark.parametrize("n_rows", some([66_000 if MISSING else 150_000], []))
def test_sums_have_the_same_bits_for_any_number_of_blocks(monkeypatch, n_rows):
    rng = np.random.default_rng(0)
    X = make_sparse(rng, (n_rows, 30), mean=2.0)
    held = KERNELS.hold(block_of(X))
    rows, columns = make_members(rng, n_rows, 9, 0.2, 0.1), make_members(rng, 30, 9, 0.2, 0.1)
    found = []
    for n in (1, 3) if MISSING else (1, 7, 132, 132):
        monkeypatch.setattr(KERNELS, "n_multiprocessors", n)
        by_rows, by_columns = xp.zeros((n_rows, 9)), xp.zeros((30, 9))
        KERNELS.gather(held, CARD.lists(columns), None, by_rows, None)
        KERNELS.scatter(held, CARD.lists(rows), None, by_columns, None)
        found.append(KERNELS.fetch(by_rows).tobytes() + KERNELS.fetch(by_columns).tobytes())
    assert len(set(found)) == 1


def same_fit(X, problem, start):
    with Workers(2) as workers:
        one = solve(
            open_engine(as_matrix(X), numpy_, workers).centred(problem.centring), problem, start
        )
        engine = on_gpu(as_matrix(X), numpy_, workers, CARD)
        two = solve(engine.centred(problem.centring), problem, start)
        assert np.allclose(one.history, two.history, rtol=1e-9, atol=1e-9)
        for mine, others in zip(one.pair, two.pair, strict=True):
            assert np.array_equal(mine.dense, others.dense)


@on_card
@pytest.mark.parametrize("objective", ["mean", "residue", "kmeans"])
@pytest.mark.parametrize("name", OVERLAP_MODELS)
@pytest.mark.parametrize("dense", [False, True])
def test_fits(objective, name, dense):
    if (name, objective) == ("either", "kmeans"):
        pytest.skip("refused on a GPU")
    rng = np.random.default_rng(1)
    X = make_sparse(rng, (2000, 150), np.float64)
    X = X.toarray() + 3.0 if dense else X
    try:
        model = bounded_model(name, 2, objective, [0.2, 0.0])
    except ValueError as error:
        pytest.skip(str(error))
    rows = Counts.from_fractions(2000, 5, overlap=0.2, outliers=0.1)
    columns = Counts.from_fractions(150, 4, overlap=0.1 * model.both_sides, outliers=0.0)
    for overlap in (model, bounded_model("repeat", None, objective, [0.2])):
        problem = Problem(OBJECTIVES[objective], rows, columns, 8, 0.0, overlap)
        same_fit(X, problem, random_pair(problem, rng))


@on_card
@pytest.mark.parametrize("objective", ["poisson", "modularity", "diagonal"])
def test_fits_of_counts(objective):
    rng = np.random.default_rng(3)
    X = sparse.csr_array(rng.poisson(0.2, size=(2000, 120)).astype(float))
    sides = [Counts.from_fractions(n, 3, overlap=0.0, outliers=0.0) for n in X.shape]
    problem = Problem(OBJECTIVES[objective], *sides, max_iter=8)
    same_fit(X, problem, random_pair(problem, rng))


@pytest.mark.parametrize("name", some(["repeat", "share", "average"], ["repeat"]))
@pytest.mark.parametrize("objective", some(["mean", "residue"], ["mean"]))
def test_small_fits(objective, name):
    rng = np.random.default_rng(2)
    X = make_sparse(rng, (100, 30), mean=6.0)
    rows = Counts.from_fractions(100, 4, overlap=0.2, outliers=0.1)
    columns = Counts.from_fractions(30, 3, overlap=0.1, outliers=0.1)
    model = bounded_model(name, None if name == "repeat" else 4, objective)
    problem = Problem(OBJECTIVES[objective], rows, columns, 4, 0.0, model)
    same_fit(X, problem, random_pair(problem, rng))


MODELS = [
    NEOCC(4, 3, n_init=2, random_state=0, kernel="numpy"),
    NEOCC(4, 3, row_overlap=0.1, row_outliers=0.05, n_init=2, random_state=0, kernel="numpy"),
    NEOCC(4, 3, objective="residue", n_init=1, random_state=0, kernel="numpy"),
    NEOCC(4, 3, missing="ignore", n_init=1, random_state=0, kernel="numpy"),
    MSSR(4, 3, n_init=1, random_state=0, kernel="numpy"),
    NEOKMeans(4, n_init=1, overlap=0.1, random_state=0, kernel="numpy"),
]


def planted(rng):
    """Clear blocks with gaps."""
    rows, columns = rng.integers(4, size=500), rng.integers(3, size=80)
    means = rng.normal(size=(4, 3)) * 5.0
    X = means[rows][:, columns] + rng.normal(size=(500, 80))
    return sparse.csr_array(np.where(rng.random(X.shape) < 0.4, X, 0.0))


@on_card
@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_estimators_find_the_same(model):
    X = planted(np.random.default_rng(0))
    expected = model.fit(X)
    found = type(model)(**{**model.get_params(), "engine": "gpu"}).fit(X)
    assert found.objective_ == pytest.approx(expected.objective_, rel=1e-9)
    for name in ("row_membership_", "column_membership_", "membership_"):
        if hasattr(expected, name):
            assert np.array_equal(getattr(found, name), getattr(expected, name))


@on_card
def test_data_on_the_card_are_taken_as_they_are():
    X = planted(np.random.default_rng(0))
    options = {"n_init": 2, "random_state": 0, "kernel": "numpy", "engine": "gpu"}
    from cupyx.scipy.sparse import csr_matrix

    for here, there in (
        (X, csr_matrix(sparse.csr_matrix(X))),
        (X.toarray(), xp.asarray(X.toarray())),
    ):
        expected = NEOCC(4, 3, **options).fit(here)
        found = NEOCC(4, 3, **options).fit(there)
        assert np.array_equal(found.row_membership_, expected.row_membership_)
        assert found.objective_ == expected.objective_
        assert np.array_equal(found.predict(there), expected.predict(here))


@on_card
def test_repeated_fits_have_the_same_bits_and_leave_nothing():
    X = planted(np.random.default_rng(0))
    options = {"row_overlap": 0.1, "refine": False, "n_init": 1, "random_state": 0}
    pool = xp.get_default_memory_pool()
    found, used = set(), set()
    for _ in range(20):
        model = NEOCC(4, 3, engine="gpu", kernel="numpy", **options).fit(X)
        used.add(pool.used_bytes())
        found.add((model.objective_, model.row_membership_.tobytes(), model.history_.tobytes()))
    assert len(found) == 1
    assert len(used) == 1


def test_random_starts_are_those_of_the_cpu():
    rng = np.random.default_rng(0)
    counts = Counts.from_fractions(1000, 5, overlap=0.1, outliers=0.05)
    members = random_start(counts, rng)
    lists = CARD.lists(members)
    assert np.array_equal(KERNELS.fetch(lists.indicator), members.indicator)
    assert np.array_equal(KERNELS.fetch(lists.weights), members.weights)
    assert np.array_equal(KERNELS.sizes(lists), members.sizes)


@on_card
def test_out_of_memory_and_interruption():
    X = planted(np.random.default_rng(0))
    model = NEOCC(4, 3, engine="gpu", n_init=1, random_state=0, refine=False)
    pool = xp.get_default_memory_pool()
    model.fit(X)
    gc.collect()  # what tests before this one have left
    used, limit = pool.used_bytes(), pool.get_limit()
    pool.free_all_blocks()
    large = np.random.default_rng(0).normal(size=(100_000, 80))
    pool.set_limit(size=pool.total_bytes() + large.nbytes // 2)
    try:
        with pytest.raises(MemoryError, match="GPU does not have enough memory"):
            model.fit(large)
    finally:
        pool.set_limit(size=limit)
    gc.collect()  # frames of the error
    assert pool.used_bytes() == used
    assert model.fit(X).objective_ > 0
