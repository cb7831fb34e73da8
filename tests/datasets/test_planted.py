"""Planted co-clusters have the counts, means and cells they were asked for."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import sparse

from neocc import NEOCC, datasets, objective_value
from neocc._counts import Counts, round_half_away
from neocc.datasets import _planting, make_coclusters
from neocc.datasets._planting import Cells, Draw, plant
from neocc.metrics import omega_index

BOTH = {"row_overlap": 0.2, "row_outliers": 0.1, "column_overlap": 0.3, "column_outliers": 0.05}


def planted(shape=(60, 40), n_rows=3, n_columns=2, **options):
    return make_coclusters(
        shape, n_rows, n_columns, **{"random_state": 0, "return_bunch": True, **options}
    )


def squared_residues(X, U, V):
    """Sum over blocks of what is left after row and column means: the residue objective."""
    total = 0.0
    for u in U.T:
        for v in V.T:
            B = X[np.ix_(u, v)]
            B = B - B.mean(axis=0) - B.mean(axis=1, keepdims=True) + B.mean()
            total += (B**2).sum()
    return total


# ------------------------------------------------------------------------------------ memberships


@given(
    seed=st.integers(0, 2**31 - 1),
    n=st.integers(1, 60),
    k=st.integers(1, 6),
    overlap=st.floats(-0.3, 4),
    outliers=st.floats(0, 0.6),
    shuffle=st.booleans(),
)
def test_counts_are_exact(seed, n, k, overlap, outliers, shuffle):
    counts = Counts.from_fractions(n, k, overlap, outliers)
    covered = counts.n_covered
    assume(covered >= k and covered <= counts.n_memberships <= k * covered)
    X, U, V = make_coclusters(
        (n, 3), k, 1, row_overlap=overlap, row_outliers=outliers, shuffle=shuffle, random_state=seed
    )
    assert U.shape == (n, k)
    assert U.dtype == np.bool_
    assert U.sum() == counts.n_memberships
    assert (~U.any(axis=1)).sum() == counts.max_outliers
    assert U.any(axis=0).all()
    assert V.tolist() == [[True]] * 3
    assert X.shape == (n, 3)
    assert X.dtype == np.float64


def test_halves_are_rounded_away_from_zero():
    _, U, _ = make_coclusters((10, 4), 2, 2, row_overlap=0.25, row_outliers=0.05, random_state=0)
    assert (U.sum(), (~U.any(axis=1)).sum()) == (13, 1)


def test_clusters_are_disjoint_if_overlap_takes_back_the_outliers():
    _, U, _ = make_coclusters((50, 4), 3, 2, row_overlap=-0.1, row_outliers=0.1, random_state=0)
    assert sorted(np.unique(U.sum(axis=1), return_counts=True)[1]) == [5, 45]


def test_sizes_are_balanced_and_order_is_kept_without_shuffling():
    data = planted((50, 41), 4, 3, row_outliers=0.1, row_overlap=-0.1, shuffle=False)
    first = data.row_membership.argmax(axis=1)[:45]
    assert (np.diff(first) >= 0).all()
    assert np.ptp(np.bincount(first)) <= 1
    assert np.flatnonzero(data.row_outliers).tolist() == list(range(45, 50))
    assert np.ptp(data.column_membership.sum(axis=0)) <= 1


@pytest.mark.parametrize(
    ("below", "size"), [(10, 0), (10, 3), (10, 5), (10, 8), (10, 10), (10**12, 1000), (0, 0)]
)
def test_distinct_integers(below, size):
    drawn = _planting.distinct_integers(np.random.default_rng(0), below, size)
    assert drawn.size == size
    assert (np.diff(drawn) > 0).all()
    assert size == 0 or (drawn[0] >= 0 and drawn[-1] < below)


@pytest.mark.parametrize("size", [2, 4])
def test_distinct_integers_are_uniform(size):
    rng = np.random.default_rng(0)
    seen = [tuple(_planting.distinct_integers(rng, 6, size)) for _ in range(6000)]
    counts = [seen.count(subset) for subset in combinations(range(6), size)]
    assert sum(counts) == 6000
    assert np.abs(np.array(counts) - 400).max() < 5 * np.sqrt(400)


# ----------------------------------------------------------------------------------------- values


@pytest.mark.parametrize(("k", "m"), [(1, 1), (2, 1), (1, 5), (2, 2), (7, 3), (10, 10), (30, 1)])
@pytest.mark.parametrize("separation", [0.0, 0.5, 3.0])
def test_separation_is_the_smallest_difference_of_two_clusters(k, m, separation):
    M = planted((40, 30), k, m, separation=separation).block_means
    assert M.shape == (k, m)
    gaps = [np.sqrt(np.mean((a - b) ** 2)) for table in (M, M.T) for a, b in combinations(table, 2)]
    assert min(gaps, default=separation) == pytest.approx(separation)
    if k * m > 1:
        assert M.max() == pytest.approx(-M.min())


@pytest.mark.parametrize("effects", [0.0, 1.5])
@pytest.mark.parametrize("density", [0.4, 1.0])
def test_cells_without_noise_are_averages_over_their_blocks(effects, density):
    data = planted(noise=0.0, effects=effects, density=density, **BOTH)
    reach = np.abs(data.block_means).max() + 3.0 + 3 * effects
    kept = 0
    for p, row in enumerate(data.row_membership):
        for t, column in enumerate(data.column_membership):
            value = data.data[p, t]
            if value == 0 and density < 1:
                continue
            kept += 1
            if not (row.any() and column.any()):
                assert abs(value) == pytest.approx(reach)
                continue
            blocks = [
                data.block_means[i, j] + data.row_effects[p, j] + data.column_effects[i, t]
                for i in np.flatnonzero(row)
                for j in np.flatnonzero(column)
            ]
            assert value == pytest.approx(np.mean(blocks))
    assert kept == round(density * 60 * 40)


def test_outliers_are_far_from_every_block_mean():
    data = planted(noise=0.0, separation=2.0, **BOTH)
    outlying = data.row_outliers[:, None] | data.column_outliers
    distances = np.abs(data.data[outlying][:, None] - data.block_means.ravel())
    assert distances.min() >= 2.0 - 1e-9
    assert 0.4 < (data.data[outlying] > 0).mean() < 0.6
    np.testing.assert_array_equal(data.row_outliers, ~data.row_membership.any(axis=1))
    np.testing.assert_array_equal(data.column_outliers, ~data.column_membership.any(axis=1))


def test_noise_has_the_standard_deviation_asked_for():
    quiet, loud = (planted((300, 200), noise=noise, **BOTH).data for noise in (0.0, 2.5))
    assert np.std(loud - quiet) == pytest.approx(2.5, rel=0.02)
    assert np.mean(loud - quiet) == pytest.approx(0, abs=0.05)


def test_effects_leave_no_residue_and_make_wrong_clusters_costly():
    data = planted(noise=0.0, effects=2.0)
    X, U, V = data.data, data.row_membership, data.column_membership
    assert squared_residues(X, U, V) == pytest.approx(0, abs=1e-9)
    assert objective_value(X, U, V, objective="residue") == pytest.approx(0, abs=1e-6)
    assert objective_value(X, U, V, objective="mean") > 1
    wrong = U[np.random.default_rng(0).permutation(60)]
    assert squared_residues(X, wrong, V) > 60 * 40
    # Without effects the residue does not depend on the row clusters: as documented.
    plain = planted(noise=0.0).data
    assert squared_residues(plain, wrong, V) == pytest.approx(0, abs=1e-9)


# ----------------------------------------------------------------------------------- kinds of data


@pytest.mark.parametrize("density", [0.001, 0.1, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("integer", [False, True])
def test_dense_and_csr_hold_the_same_values(density, integer):
    options = {"density": density, "integer": integer, "effects": 0.5, **BOTH}
    dense, csr = (planted(format=kind, **options).data for kind in ("dense", "csr"))
    assert isinstance(dense, np.ndarray)
    assert isinstance(csr, sparse.csr_array)
    assert csr.has_canonical_format
    assert csr.nnz == np.count_nonzero(dense) == round_half_away(density * 2400)
    np.testing.assert_array_equal(csr.toarray(), dense)


@pytest.mark.parametrize("density", [0.2, 1.0])
def test_float32_is_float64_rounded(density):
    single, double = (planted(density=density, dtype=t).data for t in ("float32", "float64"))
    assert single.dtype == np.float32
    np.testing.assert_array_equal(single, double.astype(np.float32))


def test_large_matrices_are_drawn_in_parts_with_the_same_result():
    rng = np.random.default_rng
    sides = Counts.from_fractions(60, 3, 0.2, 0.1), Counts.from_fractions(40, 2, 0.3, 0.05)
    U, V = (plant(counts, rng(seed), shuffle=True) for seed, counts in enumerate(sides))
    cells = Cells.planted(U, V, rng(2).normal(size=(3, 2)), 1.0, 0.5, rng(3))

    def drawn(at_a_time):
        draws = [Draw(cells, 1.0, False, np.dtype(float), rng(4), rng(5), at_a_time) for _ in "ab"]
        return draws[0].all(), draws[1].some(700, rng(6)).toarray()

    for part, whole in zip(drawn(100), drawn(1 << 17), strict=True):
        np.testing.assert_allclose(part, whole, rtol=1e-13)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int32, np.uint8])
@pytest.mark.parametrize("density", [0.3, 1.0])
def test_integers_are_positive_ratings(dtype, density):
    data = planted(integer=True, dtype=dtype, density=density, **BOTH)
    values = data.data[data.data != 0]
    assert data.data.dtype == dtype
    assert values.size == round(density * 2400)
    assert values.min() >= 1
    np.testing.assert_array_equal(values, np.rint(values))


def test_integers_are_the_moved_and_rounded_values():
    real, whole = (planted((200, 100), integer=integer, **BOTH) for integer in (False, True))
    shift = (whole.block_means - real.block_means)[0, 0]
    clipped = real.data + shift < 1
    assert clipped.mean() < 0.01
    moved = np.rint(real.data + shift)
    np.testing.assert_array_equal(whole.data, np.where(clipped, 1, np.maximum(moved, 1)))


def test_seeds():
    options = {"density": 0.5, "return_bunch": False, **BOTH}
    for a, b in zip(planted(**options), planted(**options), strict=True):
        np.testing.assert_array_equal(a, b)
    other = planted(random_state=1, **options)
    assert not np.array_equal(planted(**options)[0], other[0])
    for make in (np.random.RandomState, np.random.default_rng):
        state = make(5)
        first, second = (planted(random_state=state, **options)[0] for _ in range(2))
        assert not np.array_equal(first, second)
        np.testing.assert_array_equal(planted(random_state=make(5), **options)[0], first)


def test_bunch_holds_what_the_tuple_holds():
    data, (X, U, V) = planted(**BOTH), planted(return_bunch=False, **BOTH)
    np.testing.assert_array_equal(data.data, X)
    np.testing.assert_array_equal(data.row_membership, U)
    np.testing.assert_array_equal(data.column_membership, V)
    assert data.row_effects.shape == (60, 2)
    assert data.column_effects.shape == (3, 40)
    assert "60 rows and 40 columns" in data.DESCR


def test_a_million_entries_take_no_dense_matrix():
    # 2 * 10^11 cells: a dense matrix would not fit anywhere.
    X, U, V = make_coclusters(
        (1_000_000, 200_000), 5, 4, density=5e-6, format="csr", dtype="float32",
        row_overlap=0.1, column_outliers=0.01, random_state=0,
    )  # fmt: skip
    assert X.nnz == 1_000_000
    assert X.indices.dtype == np.int32
    assert U.sum() == 1_100_000
    assert (~V.any(axis=1)).sum() == 2000


@pytest.mark.parametrize("options", [{}, {"noise": 3.0}, {"integer": True}, {"density": 0.5}])
def test_neocc_finds_what_was_planted(options):
    X, U, V = make_coclusters((120, 80), 3, 3, random_state=0, **options)
    model = NEOCC(3, 3, random_state=0).fit(X)
    assert omega_index(U, model.row_membership_) > 0.95
    assert omega_index(V, model.column_membership_) > 0.95


# -------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"shape": 10}, r"shape must be a pair \(n_rows, n_columns\), got 10"),
        ({"shape": (10, 0)}, r"shape must hold two positive integers, got \(10, 0\)"),
        ({"shape": (10.0, 5)}, "shape must hold two positive integers"),
        ({"n_row_clusters": 0}, "n_row_clusters must be a positive integer, got 0"),
        ({"n_column_clusters": 2.5}, "n_column_clusters must be a positive integer, got 2.5"),
        ({"n_row_clusters": 201}, "n_row_clusters=201 non-empty clusters need as many rows; there"),
        ({"row_outliers": 0.99}, "n_row_clusters=3 .* 200, less 198 outliers"),
        ({"row_outliers": -0.1}, "row_outliers must be a finite number of at least 0, got -0.1"),
        ({"row_overlap": -0.1}, "row_overlap=-0.1 is below -row_outliers"),
        ({"column_overlap": 2.5}, "column_overlap=2.5 is too large: 100 non-outliers .* 300 mem"),
        ({"column_overlap": float("nan")}, "column_overlap must be a finite number, got nan"),
        ({"row_overlap": "auto"}, "row_overlap must be a finite number, got 'auto'"),
        ({"noise": -1}, "noise must be a finite number of at least 0, got -1"),
        ({"separation": float("inf")}, "separation must be a finite number"),
        ({"effects": None}, "effects must be a finite number"),
        ({"density": 0}, "density must be above 0 and at most 1, got 0"),
        ({"density": 1.5}, "density must be above 0 and at most 1, got 1.5"),
        ({"format": "csc"}, 'format must be "dense" or "csr", got \'csc\''),
        ({"dtype": int}, "dtype must be float64 or float32, or an integer type with integer=True"),
        ({"dtype": complex}, "dtype must be float64 or float32"),
        ({"integer": True, "dtype": "int8", "separation": 99.0}, "dtype int8 is too small: a cell"),
    ],
)
def test_bad_input(options, message):
    with pytest.raises(ValueError, match=message):
        make_coclusters(**{"random_state": 0, **options})


def test_lazy_export():
    assert "make_coclusters" in dir(datasets)
    with pytest.raises(AttributeError, match="no attribute 'make_cocluster'"):
        datasets.make_cocluster  # noqa: B018
