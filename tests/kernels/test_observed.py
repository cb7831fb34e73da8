"""Sums over observed cells, of both kernel sets, against two lines of dense NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from instances import any_membership, members
from scipy import sparse

from neocc.core.overlap import OVERLAP_MODELS
from neocc.kernels import Features, SparseBlock, Terms, get_kernels, numpy_

N, M, K = 23, 17, 4


def draw(seed, dtype, indices, weighted):
    """A block in the middle of a larger matrix, with rows of no cells and a full one."""
    rng = np.random.default_rng(seed)
    seen = rng.random((N + 4, M)) < 0.4
    seen[[2, 7, N + 1]], seen[11] = False, True
    X = rng.integers(0, 3, size=seen.shape).astype(dtype)  # some observed cells are zero
    at = np.nonzero(seen)
    csr = sparse.csr_array((X[at], at), shape=X.shape)
    csr.sort_indices()
    W = np.where(seen, rng.uniform(0.0, 2.0, size=seen.shape), 0.0) if weighted else 1.0 * seen
    weights = None
    if weighted:
        weights = W[at]
        csr.data = csr.data * np.sqrt(weights)
    ptr = csr.indptr[2:-2].astype(indices)
    block = SparseBlock(ptr, csr.indices.astype(indices), csr.data, M, weights)
    return block, X[2:-2].astype(np.float64), W[2:-2]


@pytest.mark.parametrize("kernel", ["numpy", "numba"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("model", ["repeat", "share"])
@pytest.mark.parametrize(("dtype", "indices"), [("float32", "int32"), ("float64", "int64")])
def test_sums_over_observed_cells(kernel, weighted, model, dtype, indices):
    kernels = get_kernels(kernel, 0)
    for seed in range(6):
        block, X, W = draw(seed, dtype, indices, weighted)
        rng = np.random.default_rng(seed)
        rows, columns = (
            OVERLAP_MODELS[model]().weighted(members(any_membership(rng, size, K)))
            for size in (N, M)
        )
        close = {"rtol": 1e-6 if dtype == "float32" else 1e-12, "atol": 1e-12}
        sums, counts = np.full((N, K), np.nan), np.full((N, K), np.nan)
        kernels.gather(block, columns, None, sums, None, counts)
        np.testing.assert_allclose(sums, (W * X) @ columns.indicator, **close)
        np.testing.assert_allclose(counts, W @ columns.indicator, **close)
        sums, counts = np.ones((M, K)), np.ones((M, K))
        kernels.scatter(block, rows, None, sums, None, counts)
        np.testing.assert_allclose(sums, 1.0 + (W * X).T @ rows.indicator, **close)
        np.testing.assert_allclose(counts, 1.0 + W.T @ rows.indicator, **close)


@pytest.mark.parametrize("with_products", [False, True])
def test_both_kernels_score_alike(with_products):
    rng = np.random.default_rng(0)
    features = Features(
        rng.normal(size=(N, 3)),
        rng.random(N),
        rng.normal(size=(N, K)) if with_products else None,
        rng.random((N, 3)),
    )
    scale = rng.random(K) if with_products else None
    slope, curve = rng.normal(size=(3, K)), rng.random((3, K))
    terms = Terms(rng.random(K), slope, scale, None, rng.random(K), curve=curve)
    inside = members(any_membership(rng, N, K))
    found = []
    for kernel in ("numpy", "numba"):
        d, labels, minima = np.empty((N, K)), np.empty(N, dtype=np.int32), np.empty(N)
        total = get_kernels(kernel, 0).score(features, terms, inside, d, labels, minima)
        found.append((d, labels, minima, total))
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)
    d = numpy_.distances(features, terms)
    np.testing.assert_allclose(found[0][0], d, rtol=1e-9)
