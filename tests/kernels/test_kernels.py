"""Both kernel sets against three lines of dense NumPy, and against each other."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from instances import any_membership, members
from scipy import sparse

from neocc import kernels
from neocc.kernels import SparseBlock, get_kernels

N_ROWS, N_COLUMNS, N_CLUSTERS, WIDTH = 23, 17, 4, 3
RELATIVE = 1e-13
MEMBERSHIPS = ("disjoint", "overlapping", "outliers", "empty cluster", "nobody", "none")


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


def make_members(kind, n_items):
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
    return members(U)


def matrices(given, n_items):
    """The 0/1 matrix of the memberships, and how often each item counts."""
    if given is None:
        return None, np.ones(n_items)
    return given.dense.astype(float), given.dense.sum(axis=1).astype(float)


def assert_close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=RELATIVE, atol=RELATIVE * N_ROWS)


@pytest.mark.parametrize("kind", MEMBERSHIPS)
def test_gather(kernel, make_block, dtype, kind):
    X, V = make_data(dtype), make_members(kind, N_COLUMNS)
    table = np.random.default_rng(2).normal(size=(N_COLUMNS, WIDTH))
    # Outputs are written, not added to: what they hold before must not matter.
    sums = None if V is None else np.full((N_ROWS, N_CLUSTERS), np.nan)
    squares, products = np.full(N_ROWS, np.nan), np.full((N_ROWS, WIDTH), np.nan)
    kernel.gather(make_block(X), V, table, sums=sums, squares=squares, products=products)

    X = X.astype(float)
    indicator, weights = matrices(V, N_COLUMNS)
    if sums is not None:
        assert_close(sums, X @ indicator)
    assert_close(squares, (X * X) @ weights)
    assert_close(products, X @ table)


@pytest.mark.parametrize("kind", MEMBERSHIPS)
def test_scatter(kernel, make_block, dtype, kind):
    X, U = make_data(dtype), make_members(kind, N_ROWS)
    table = np.random.default_rng(2).normal(size=(N_ROWS, WIDTH))
    # Outputs are added to: blocks share them.
    sums = None if U is None else np.full((N_CLUSTERS, N_COLUMNS), 2.0)
    squares, products = np.full(N_COLUMNS, 3.0), np.full((N_COLUMNS, WIDTH), 4.0)
    kernel.scatter(make_block(X), U, table, sums=sums, squares=squares, products=products)

    X = X.astype(float)
    indicator, weights = matrices(U, N_ROWS)
    if sums is not None:
        assert_close(sums, 2.0 + indicator.T @ X)
    assert_close(squares, 3.0 + weights @ (X * X))
    assert_close(products, 4.0 + X.T @ table)


@pytest.mark.parametrize("wanted", ["sums", "squares", "products"])
@pytest.mark.parametrize("name", ["gather", "scatter"])
def test_each_output_can_be_asked_for_alone(kernel, make_block, name, wanted):
    X = make_data("float64")
    n_items = N_COLUMNS if name == "gather" else N_ROWS
    n_out = N_ROWS if name == "gather" else N_COLUMNS
    given = make_members("overlapping", n_items)
    table = np.random.default_rng(2).normal(size=(n_items, WIDTH))
    shapes = {
        "sums": (n_out, N_CLUSTERS) if name == "gather" else (N_CLUSTERS, n_out),
        "squares": (n_out,),
        "products": (n_out, WIDTH),
    }
    block, run = make_block(X), getattr(kernel, name)
    together = {key: np.zeros(shape) for key, shape in shapes.items()}
    run(block, given, table, **together)
    alone = {**dict.fromkeys(shapes), wanted: np.zeros(shapes[wanted])}
    run(block, given, table if wanted == "products" else None, **alone)
    assert_close(alone[wanted], together[wanted])


def test_a_block_without_entries(kernel):
    empty = sparse.csr_array((N_ROWS, N_COLUMNS))
    block = SparseBlock(empty.indptr, empty.indices, empty.data, N_COLUMNS)
    V = make_members("overlapping", N_COLUMNS)
    sums, squares = np.ones((N_ROWS, N_CLUSTERS)), np.ones(N_ROWS)
    products = np.ones((N_ROWS, WIDTH))
    table = np.ones((N_COLUMNS, WIDTH))
    kernel.gather(block, V, table, sums=sums, squares=squares, products=products)
    assert not sums.any()
    assert not squares.any()
    assert not products.any()


def test_float32_data_are_summed_in_float64(kernel):
    n = 20_000
    block_data = np.full((1, n), 0.1, dtype=np.float32)
    whole = sparse.csr_array(block_data)
    block = SparseBlock(whole.indptr, whole.indices, whole.data, n)
    sums, squares = np.empty((1, 1)), np.empty(1)
    V = members(np.ones((n, 1)))
    kernel.gather(block, V, None, sums=sums, squares=squares, products=None)
    exact = float(np.float32(0.1))
    assert sums[0, 0] == pytest.approx(n * exact, rel=1e-12)
    assert squares[0] == pytest.approx(n * exact**2, rel=1e-12)


# ----------------------------------------------------------------------------------- nearest


def draw_distances(seed, n=200, k=6, tied=False, empty=()):
    """Cross terms, item terms and cluster terms that add up to distances, with bounds of both."""
    rng = np.random.default_rng(seed)
    squares = rng.random(n) * 10.0 ** rng.integers(-3, 4, size=n)
    magnitude = rng.random(k)
    magnitude[list(empty)] = np.inf
    if tied:
        cross, item, cluster = (rng.integers(0, 3, size=s).astype(float) for s in ((n, k), n, k))
    else:
        cross, item, cluster = rng.random((n, k)), rng.random(n), rng.random(k)
    return cross, item, cluster, squares, magnitude


def compare(kernel, d, squares, magnitude):
    """Run `nearest` on finished distances."""
    nothing = np.zeros(d.shape[0]), np.zeros(d.shape[1])
    labels, minima, _ = kernel.nearest(d, *nothing, squares, magnitude, None)
    return labels, minima


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("empty", [(), (0,), (1, 5)])
@pytest.mark.parametrize("seed", range(3))
def test_nearest_has_the_same_bits_in_both_sets(seed, empty, tied):
    cross, *terms = draw_distances(seed, tied=tied, empty=empty)
    results = []
    for name in ("numpy", "numba"):
        d = cross.copy()
        labels, minima, _ = get_kernels(name, 0).nearest(d, *terms, None)
        results.append((d, labels, minima))
    for first, second in zip(*results, strict=True):
        np.testing.assert_array_equal(first, second)


def test_nearest_completes_the_distances_and_sums_those_of_the_members(kernel):
    cross, item, cluster, squares, magnitude = draw_distances(1)
    complete = cross + item[:, None] + cluster
    for kind in ("disjoint", "overlapping", "outliers", "nobody"):
        rng = np.random.default_rng(0)
        U = rng.random(cross.shape) < {"nobody": 0.0, "overlapping": 0.6}.get(kind, 0.1)
        d = cross.copy()
        labels, minima, total = kernel.nearest(d, item, cluster, squares, magnitude, members(U))
        np.testing.assert_allclose(d, complete, rtol=1e-7)
        np.testing.assert_array_equal(labels, complete.argmin(axis=1))
        np.testing.assert_array_equal(minima, d.min(axis=1))
        assert total == pytest.approx(complete[U].sum(), rel=1e-13, abs=0)


def test_nearest_takes_the_lowest_of_equal_clusters(kernel):
    d = np.array([[2.0, 1.0, 1.0], [0.0, 0.0, 0.0]])
    labels, minima = compare(kernel, d, np.ones(2), np.ones(3))
    np.testing.assert_array_equal(labels, [1, 0])
    np.testing.assert_array_equal(minima, [1.0, 0.0])


def test_nearest_makes_distances_equal_that_differ_by_rounding(kernel):
    d = np.array([[np.nextafter(1.0, 2.0), 1.0], [1e-17, 0.0], [-1e-17, 0.0]])
    labels, minima = compare(kernel, d, np.ones(3), np.ones(2))
    np.testing.assert_array_equal(labels, [0, 0, 0])
    np.testing.assert_array_equal(d[:, 0], d[:, 1])
    np.testing.assert_array_equal(minima, [1.0, 0.0, 0.0])


def test_nearest_keeps_distances_to_eleven_digits_of_their_terms(kernel):
    d, _, _, squares, magnitude = draw_distances(4)
    exact = d.copy()
    compare(kernel, d, squares, magnitude)
    assert (np.abs(d - exact) <= 1e-11 * np.add.outer(squares, magnitude)).all()


def test_nearest_avoids_empty_clusters(kernel):
    d = np.array([[0.0, 5.0], [0.0, 7.0]])
    labels, minima = compare(kernel, d, np.ones(2), np.array([np.inf, 1.0]))
    np.testing.assert_array_equal(labels, [1, 1])
    np.testing.assert_array_equal(minima, [5.0, 7.0])
    assert np.isinf(d[:, 0]).all()


# ------------------------------------------------------------------------------------ choice


def test_auto_compiles_only_large_problems(monkeypatch):
    monkeypatch.setattr(kernels, "NUMBA_THRESHOLD", 1000)
    assert get_kernels("auto", 999).__name__ == "neocc.kernels.numpy_"
    assert get_kernels("auto", 1000).__name__ == "neocc.kernels.numba_"
    assert get_kernels("numpy", 10**9).__name__ == "neocc.kernels.numpy_"
    assert "neocc.kernels.numba_" in sys.modules
