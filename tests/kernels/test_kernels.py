"""Both kernel sets against three lines of dense NumPy, and against each other."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from instances import KINDS, any_membership, members
from instances import make_data as make_any_data
from scipy import sparse

from neocc.kernels import Features, SparseBlock, Terms, get_kernels, numba_, numpy_

N_ROWS, N_COLUMNS, N_CLUSTERS, WIDTH = 23, 17, 4, 3
RELATIVE = 1e-13
MEMBERSHIPS = ("disjoint", "overlapping", "outliers", "empty cluster", "nobody", "none")
WEIGHTS = ("ones", "real", "with zeros")


@pytest.fixture(params=["numpy", "numba"])
def kernel(request):
    return get_kernels(request.param, 0)


@pytest.fixture(params=["float32", "float64"])
def dtype(request):
    return request.param


@pytest.fixture(params=["dense", "int32", "int64"])
def make_block(request):
    """Turn a dense table into a block; a sparse one starts in the middle of a larger matrix."""

    def dense(X):
        return X.astype(np.float64)

    def csr(X):
        above = np.ones((2, X.shape[1]), dtype=X.dtype)
        whole = sparse.csr_array(np.concatenate([above, X, above]))
        indices, indptr = whole.indices.astype(request.param), whole.indptr.astype(request.param)
        return SparseBlock(indptr[2:-2], indices, whole.data, X.shape[1])

    return dense if request.param == "dense" else csr


def make_data(dtype, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N_ROWS, N_COLUMNS)) * (rng.random((N_ROWS, N_COLUMNS)) < 0.4)
    X[[0, 5, 6, N_ROWS - 1]] = 0.0  # empty rows, at the ends too
    X[:, 3] = 0.0
    X[9] = rng.normal(size=N_COLUMNS)  # a full one
    return X.astype(dtype)


def make_members(kind, n_items, weights="ones"):
    rng = np.random.default_rng(1)
    if kind == "none":
        return None
    U = np.eye(N_CLUSTERS, dtype=bool)[rng.integers(N_CLUSTERS, size=n_items)]
    if kind == "overlapping":
        U |= rng.random(U.shape) < 0.4
    if kind == "outliers":
        U = any_membership(rng, n_items, N_CLUSTERS)
        U[::3] = False
    if kind == "empty cluster":
        U[:, 2] = False
    if kind == "nobody":
        U[:] = False
    return weighted(members(U), weights, rng)


def weighted(given, weights, rng):
    """Let the memberships of each item weigh something; of ones there is no list."""
    if weights == "ones":
        return given
    scale = rng.random(given.n_items) + 0.1
    if weights == "with zeros":
        scale[rng.random(given.n_items) < 0.3] = 0.0
    return replace(given, scale=scale)


def table_of(given):
    """The matrix of weighted memberships, from its definition."""
    scale = np.ones(given.n_items) if given.scale is None else given.scale
    return given.dense * scale[:, None]


def assert_close(found, expected, scale=N_ROWS):
    np.testing.assert_allclose(found, expected, rtol=RELATIVE, atol=RELATIVE * scale)


# ------------------------------------------------------------------------- gather and scatter


def check_gather(kernel, block, X, V, weights):
    """Outputs are written, not added to: what they hold before must not matter."""
    n, m = X.shape
    sums = None if V is None else np.full((n, V.n_clusters), np.nan)
    squares = np.full(n, np.nan)
    kernel.gather(block, V, weights, sums, squares)
    X = X.astype(float)
    scale = max(1.0, np.abs(X).max(initial=0.0)) * max(n, m)
    if sums is not None:
        assert_close(sums, X @ table_of(V), scale)
    assert_close(squares, (X * X) @ (np.ones(m) if weights is None else weights), scale**2)


def check_scatter(kernel, block, X, U, weights):
    """Outputs are added to: blocks share them."""
    n, m = X.shape
    sums = None if U is None else np.full((m, U.n_clusters), 2.0)
    squares = np.full(m, 3.0)
    kernel.scatter(block, U, weights, sums, squares)
    X = X.astype(float)
    scale = max(1.0, np.abs(X).max(initial=0.0)) * max(n, m)
    if sums is not None:
        assert_close(sums, 2.0 + X.T @ table_of(U), scale)
    assert_close(squares, 3.0 + (np.ones(n) if weights is None else weights) @ (X * X), scale**2)


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("kind", MEMBERSHIPS)
def test_gather(kernel, make_block, dtype, kind, weights):
    X, V = make_data(dtype), make_members(kind, N_COLUMNS, weights)
    check_gather(kernel, make_block(X), X, V, None)
    check_gather(kernel, make_block(X), X, V, np.ones(N_COLUMNS) if V is None else V.weights)
    check_gather(kernel, make_block(X), X, V, np.random.default_rng(3).random(N_COLUMNS))


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("kind", MEMBERSHIPS)
def test_scatter(kernel, make_block, dtype, kind, weights):
    X, U = make_data(dtype), make_members(kind, N_ROWS, weights)
    check_scatter(kernel, make_block(X), X, U, None)
    check_scatter(kernel, make_block(X), X, U, np.ones(N_ROWS) if U is None else U.weights)
    check_scatter(kernel, make_block(X), X, U, np.random.default_rng(3).random(N_ROWS))


@pytest.mark.parametrize("data", KINDS)
@pytest.mark.parametrize("weights", WEIGHTS)
def test_degenerate_and_random_data_of_all_sizes(kernel, make_block, dtype, data, weights):
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X = make_any_data(data, rng, *rng.integers(1, 14, size=2)).astype(dtype)
        n, m = X.shape
        U, V = (
            weighted(members(any_membership(rng, size, int(rng.integers(1, 6)))), weights, rng)
            for size in (n, m)
        )
        check_gather(kernel, make_block(X), X, V, V.weights)
        check_scatter(kernel, make_block(X), X, U, U.weights)


@pytest.mark.parametrize("wanted", ["sums", "squares"])
@pytest.mark.parametrize("name", ["gather", "scatter"])
@pytest.mark.parametrize("weights", ["ones", "real"])
def test_each_output_can_be_asked_for_alone(kernel, make_block, name, wanted, weights):
    X = make_data("float64")
    n_items, n_out = (N_COLUMNS, N_ROWS) if name == "gather" else (N_ROWS, N_COLUMNS)
    given = make_members("overlapping", n_items, weights)
    shapes = {"sums": (n_out, N_CLUSTERS), "squares": (n_out,)}
    block, run = make_block(X), getattr(kernel, name)
    together = {key: np.zeros(shape) for key, shape in shapes.items()}
    run(block, given, given.weights, **together)
    alone = {**dict.fromkeys(shapes), wanted: np.zeros(shapes[wanted])}
    run(block, given, given.weights, **alone)
    assert_close(alone[wanted], together[wanted])


def test_a_long_row_is_summed_like_a_short_one(kernel, make_block):
    # Loops take four entries at a time, and those of overlapping columns by themselves.
    for width in (1, 2, 3, 4, 5, 8, 31, 400):
        rng = np.random.default_rng(width)
        X = rng.normal(size=(2, width))
        V = members(rng.random((width, 3)) < 0.5)
        for given in (V, weighted(V, "real", rng)):
            check_gather(kernel, make_block(X), X, given, given.weights)


def test_weights_of_one_are_no_weights(kernel, make_block):
    X = make_data("float64")
    for name, n_items, n_out in (("gather", N_COLUMNS, N_ROWS), ("scatter", N_ROWS, N_COLUMNS)):
        plain = make_members("outliers", n_items)
        ones = replace(plain, scale=np.ones(n_items))
        found = [np.zeros((n_out, N_CLUSTERS)) for _ in range(2)]
        for given, sums in zip((plain, ones), found, strict=True):
            getattr(kernel, name)(make_block(X), given, None, sums, None)
        assert_close(*found)


def test_a_block_without_entries(kernel):
    empty = sparse.csr_array((N_ROWS, N_COLUMNS))
    block = SparseBlock(empty.indptr, empty.indices, empty.data, N_COLUMNS)
    for weights in WEIGHTS:
        V = make_members("overlapping", N_COLUMNS, weights)
        sums, squares = np.ones((N_ROWS, N_CLUSTERS)), np.ones(N_ROWS)
        kernel.gather(block, V, V.weights, sums, squares)
        assert not sums.any()
        assert not squares.any()
        U = make_members("overlapping", N_ROWS, weights)
        sums, squares = np.ones((N_COLUMNS, N_CLUSTERS)), np.ones(N_COLUMNS)
        kernel.scatter(block, U, U.weights, sums, squares)
        assert (sums == 1.0).all()
        assert (squares == 1.0).all()
    products = np.ones((N_ROWS, WIDTH))
    kernel.multiply(block, np.ones((N_COLUMNS, WIDTH)), products)
    assert not products.any()


@pytest.mark.parametrize("weights", ["ones", "real"])
def test_float32_data_are_summed_in_float64(kernel, weights):
    n = 20_000
    whole = sparse.csr_array(np.full((1, n), 0.1, dtype=np.float32))
    block = SparseBlock(whole.indptr, whole.indices, whole.data, n)
    sums, squares = np.empty((1, 1)), np.empty(1)
    V = members(np.ones((n, 1)))
    V = V if weights == "ones" else replace(V, scale=np.full(n, 0.3))
    kernel.gather(block, V, V.weights, sums, squares)
    exact, weight = float(np.float32(0.1)), V.weights[0]
    assert sums[0, 0] == pytest.approx(n * exact * weight, rel=1e-12)
    assert squares[0] == pytest.approx(n * exact**2 * weight, rel=1e-12)
    turned = sparse.csr_array(np.full((n, 1), 0.1, dtype=np.float32))
    block = SparseBlock(turned.indptr, turned.indices, turned.data, 1)
    sums, squares = np.zeros((1, 1)), np.zeros(1)
    kernel.scatter(block, V, V.weights, sums, squares)
    assert sums[0, 0] == pytest.approx(n * exact * weight, rel=1e-12)
    assert squares[0] == pytest.approx(n * exact**2 * weight, rel=1e-12)


# ----------------------------------------------------------------------------- thin products


@pytest.mark.parametrize("width", [1, WIDTH, 9])
def test_multiply_writes_the_product(kernel, make_block, dtype, width):
    X, table = make_data(dtype), np.random.default_rng(2).normal(size=(N_COLUMNS, width))
    for given in (table, np.asfortranarray(table)):
        out = np.full((N_ROWS, width), np.nan)
        kernel.multiply(make_block(X), given, out)
        assert_close(out, X.astype(float) @ table)


@pytest.mark.parametrize("width", [1, WIDTH, 9])
def test_multiply_transposed_adds_the_product(kernel, make_block, dtype, width):
    X, table = make_data(dtype), np.random.default_rng(2).normal(size=(N_ROWS, width))
    for given in (table, np.asfortranarray(table)):
        out = np.full((N_COLUMNS, width), 4.0)
        kernel.multiply_transposed(make_block(X), given, out)
        assert_close(out, 4.0 + X.astype(float).T @ table)


# ------------------------------------------------------------------------------------- score

PARTS = ("offset", "slope", "slope and shrink", "products", "scaled products", "all")


def draw_score(parts, seed, n=60, k=6, other=4, tied=False, empty=()):
    """Features and terms of a half-step that has some of the parts of a distance."""
    rng = np.random.default_rng(seed)

    def draw(*shape):
        return rng.integers(0, 3, size=shape).astype(float) if tied else rng.normal(size=shape)

    has = {
        "sums": parts in ("slope", "slope and shrink", "all"),
        "shrink": parts in ("slope and shrink", "all"),
        "products": parts in ("products", "scaled products", "all"),
        "scale": parts in ("scaled products", "all"),
    }
    squares = np.abs(draw(n)) * 10.0 ** rng.integers(-3, 4, size=n)
    magnitude = rng.random(k)
    magnitude[list(empty)] = np.inf
    features = Features(
        draw(n, other) if has["sums"] else None,
        squares,
        draw(n, k) if has["products"] else None,
    )
    terms = Terms(
        draw(k),
        draw(other, k) if has["sums"] else None,
        draw(k) if has["scale"] else None,
        np.abs(draw(other)) if has["shrink"] else None,
        magnitude,
    )
    return features, terms


def literal(features, terms):
    """Distances from their definition, one term at a time."""
    d = features.squares[:, None] + terms.offset
    if features.sums is not None:
        d = d + features.sums @ terms.slope
    if terms.shrink is not None:
        d = d - (features.sums**2 @ terms.shrink)[:, None]
    if features.products is not None:
        d = d + features.products * (1.0 if terms.scale is None else terms.scale)
    return d


def run_score(kernel, features, terms, given=None, *, with_d=True):
    n, k = len(features.squares), terms.n_clusters
    d = np.full((n, k), np.nan) if with_d else None
    labels, minima = np.full(n, -7, dtype=np.int32), np.full(n, np.nan)
    total = kernel.score(features, terms, given, d, labels, minima)
    return d, labels, minima, total


def on_distances(kernel, d, squares, magnitude):
    """Score finished distances."""
    d = np.asarray(d, dtype=float)
    features = Features(None, squares, d - squares[:, None])
    return run_score(kernel, features, Terms(np.zeros(d.shape[1]), None, None, None, magnitude))


@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize("seed", range(3))
def test_scores_are_the_distances_to_eleven_digits_of_their_terms(kernel, parts, seed):
    features, terms = draw_score(parts, seed)
    # Magnitudes bound what the terms of a cluster add up to.
    terms = replace(terms, magnitude=np.full(6, 100.0))
    exact = literal(features, terms)
    d, labels, minima, total = run_score(kernel, features, terms)
    assert (np.abs(d - exact) <= 1e-11 * np.add.outer(features.squares, terms.magnitude)).all()
    np.testing.assert_array_equal(labels, d.argmin(axis=1))
    np.testing.assert_array_equal(minima, d.min(axis=1))
    assert total == 0.0


@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize("weights", WEIGHTS)
def test_scores_sum_the_distances_of_the_members_by_weight(kernel, parts, weights):
    features, terms = draw_score(parts, 1)
    exact = literal(features, terms)
    size = np.abs(exact).sum()
    rng = np.random.default_rng(0)
    for density in (0.0, 0.1, 0.6, 1.0):
        U = weighted(members(rng.random(exact.shape) < density), weights, rng)
        total = run_score(kernel, features, terms, U)[-1]
        assert total == pytest.approx((exact * table_of(U)).sum(), rel=1e-12, abs=1e-13 * size)
    one_each = members(np.eye(6)[rng.integers(6, size=60)])
    for given in (one_each, weighted(one_each, weights, rng)):
        total = run_score(kernel, features, terms, given, with_d=False)[-1]
        assert total == pytest.approx((exact * table_of(given)).sum(), abs=1e-13 * size)


def test_the_sum_of_distances_is_taken_before_they_are_rounded(kernel):
    # Rounded to eleven digits of its terms this distance would be 0.
    features = Features(None, np.array([1e6]), np.array([[-1e6 + 2.0**-30]]))
    terms = Terms(np.zeros(1), None, None, None, np.array([1e6]))
    d, _, _, total = run_score(kernel, features, terms, members([[1]]))
    assert d[0, 0] == 0.0
    assert total == 2.0**-30


@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize("empty", [(), (0,), (1, 5)])
@pytest.mark.parametrize("tied", [False, True])
def test_nearest_clusters_are_the_same_with_and_without_a_table(kernel, parts, empty, tied):
    features, terms = draw_score(parts, 2, tied=tied, empty=empty)
    _, labels, minima, _ = run_score(kernel, features, terms)
    table, same_labels, same_minima, _ = run_score(kernel, features, terms, with_d=False)
    assert table is None
    np.testing.assert_array_equal(labels, same_labels)
    np.testing.assert_array_equal(minima, same_minima)


@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("empty", [(), (0,), (1, 5)])
@pytest.mark.parametrize("seed", range(3))
def test_scores_are_comparable_across_sets(seed, empty, tied, parts):
    features, terms = draw_score(parts, seed, tied=tied, empty=empty)
    terms = replace(terms, magnitude=100.0 * terms.magnitude)
    first, second = (run_score(each, features, terms) for each in (numpy_, numba_))
    # Whole numbers are summed exactly; where nothing is summed over clusters there is one order.
    if tied or features.sums is None:
        for one, other in zip(first, second, strict=True):
            np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(first[1], second[1])
    scale = features.squares[:, None] + 100.0
    with np.errstate(invalid="ignore"):
        off = np.where(np.isinf(first[0]), 0.0, np.abs(first[0] - second[0]))
    assert (off <= 1e-11 * scale).all()
    np.testing.assert_array_equal(np.isinf(first[0]), np.isinf(second[0]))


@pytest.mark.parametrize("n_other", [1, 40, 400])
def test_large_tables_give_what_small_ones_do(kernel, n_other):
    # Compiled loops leave products of large tables to BLAS.
    features, terms = draw_score("all", 5, n=30, k=6, other=n_other)
    terms = replace(terms, magnitude=np.full(6, 1e4))
    exact = literal(features, terms)
    U = weighted(
        members(np.random.default_rng(0).random((30, 6)) < 0.5), "real", np.random.default_rng(1)
    )
    d, labels, _, total = run_score(kernel, features, terms, U)
    assert (np.abs(d - exact) <= 1e-11 * (features.squares[:, None] + 1e4)).all()
    np.testing.assert_array_equal(labels, exact.argmin(axis=1))
    assert total == pytest.approx((exact * table_of(U)).sum(), abs=1e-11 * np.abs(exact).sum())


def test_the_lowest_of_equal_clusters_is_the_nearest(kernel):
    d = np.array([[2.0, 1.0, 1.0], [0.0, 0.0, 0.0]])
    _, labels, minima, _ = on_distances(kernel, d, np.ones(2), np.ones(3))
    np.testing.assert_array_equal(labels, [1, 0])
    np.testing.assert_array_equal(minima, [1.0, 0.0])


def test_distances_that_differ_by_rounding_become_equal(kernel):
    features = Features(
        None, np.ones(3), np.array([[np.spacing(1.0), 0.0], [1e-17 - 1.0, -1.0], [-1.0, -1.0]])
    )
    features.products[2, 0] = np.nextafter(-1.0, -2.0)
    terms = Terms(np.zeros(2), None, None, None, np.ones(2))
    d, labels, minima, _ = run_score(kernel, features, terms)
    np.testing.assert_array_equal(labels, [0, 0, 0])
    np.testing.assert_array_equal(d[:, 0], d[:, 1])
    np.testing.assert_array_equal(minima, [1.0, 0.0, 0.0])


def test_empty_clusters_are_infinitely_far(kernel):
    d = np.array([[0.0, 5.0], [0.0, 7.0]])
    found, labels, minima, _ = on_distances(kernel, d, np.ones(2), np.array([np.inf, 1.0]))
    np.testing.assert_array_equal(labels, [1, 1])
    np.testing.assert_array_equal(minima, [5.0, 7.0])
    assert np.isinf(found[:, 0]).all()


def test_where_all_clusters_are_empty_the_first_is_named(kernel):
    found, labels, minima, _ = on_distances(kernel, np.ones((3, 2)), np.ones(3), np.full(2, np.inf))
    assert np.isinf(found).all()
    assert np.isinf(minima).all()
    np.testing.assert_array_equal(labels, 0)


def test_distances_as_they_come_are_those_that_are_scored():
    for parts in PARTS:
        features, terms = draw_score(parts, 7)
        np.testing.assert_allclose(
            numpy_.distances(features, terms), literal(features, terms), rtol=1e-12, atol=1e-12
        )


# ------------------------------------------------------------------------------------- seeds


@pytest.mark.parametrize("n_out", [0, 5])
@pytest.mark.parametrize("n", [7, 64, 150])
def test_the_seed_that_leaves_the_least_sum_is_taken(kernel, n, n_out):
    for seed in range(10):
        rng = np.random.default_rng(seed)
        closest, left = rng.random(n) ** 4, rng.random((3, n)) ** 2
        nearer = np.minimum(closest, left)
        best = np.sort(nearer, axis=1)[:, : n - n_out].sum(axis=1).argmin()
        expected = np.where(left[best] < closest, 4, 1)
        labels = np.ones(n, dtype=np.int32)
        assert kernel.take_seed(closest, left, labels, 4, 0.0, n - n_out) == best
        np.testing.assert_array_equal(labels, expected)
        np.testing.assert_array_equal(closest, nearer[best])


def test_of_seeds_and_distances_that_differ_by_rounding_the_first_counts(kernel):
    closest, labels = np.array([2.0, 2.0, 1.0]), np.zeros(3, dtype=np.int32)
    left = np.array([[3.0, 3.0, 3.0], [2.0 - 1e-14, 1.0, 1.0], [2.0 - 2e-14, 1.0, 1.0]])
    assert kernel.take_seed(closest, left, labels, 1, 1e-12, 3) == 1
    np.testing.assert_array_equal(labels, [0, 1, 0])


# --------------------------------------------------------------------------------- features


def test_features_add_up_over_rows():
    one, other = (
        Features(np.full((2, 3), value), np.full(2, 2 * value), None) for value in (1.0, 10.0)
    )
    total = one + other
    assert total.products is None
    assert (total.sums == 11.0).all()
    assert (total.squares == 22.0).all()
    assert (one.sums == 1.0).all()
    assert one.combined(other) is one
    assert (one.sums == 11.0).all()
    one.combined(other, np.subtract)
    assert (one.sums == 1.0).all()
    assert len(one.tables()) == 2


# ------------------------------------------------------------------------------------ choice


def test_auto_compiles_only_large_problems():
    assert get_kernels("auto", 1000).__name__ == "neocc.kernels.numpy_"
    assert get_kernels("auto", 10**9).__name__ == "neocc.kernels.numba_"
    assert get_kernels("numpy", 10**9).__name__ == "neocc.kernels.numpy_"
    assert get_kernels("numba", 1).__name__ == "neocc.kernels.numba_"
    assert "neocc.kernels.numba_" in sys.modules


def test_many_iterations_over_little_data_are_worth_compiling_too():
    assert get_kernels("auto", 10**5, 1).__name__ == "neocc.kernels.numpy_"
    assert get_kernels("auto", 10**5, 10**4).__name__ == "neocc.kernels.numba_"


INTERRUPTED = """
import _thread, sys

class Interrupting:
    def find_spec(self, name, path, target=None):
        if name == sys.argv[1] and self in sys.meta_path:
            sys.meta_path.remove(self)
            _thread.interrupt_main()

sys.meta_path.insert(0, Interrupting())
from neocc.kernels import get_kernels
try:
    get_kernels("numba", 0)
except KeyboardInterrupt:
    print("interrupted")
import numpy as np
from neocc import NEOCC
X = np.random.default_rng(0).normal(size=(12, 8))
print(NEOCC(2, 2, kernel="numba", n_init=1, random_state=0).fit(X).row_membership_.shape)
"""


# The last is imported by the first call of a compiled function.
@pytest.mark.parametrize("module", ["numba.core.typing.templates", "numba.cpython.setobj"])
def test_ctrl_c_while_numba_is_loaded_spoils_no_later_fit(module):
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, module], capture_output=True, text=True, check=False
    )
    assert (done.stdout.splitlines(), done.returncode) == (["interrupted", "(12, 2)"], 0), (
        done.stderr
    )
