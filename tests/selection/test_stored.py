"""Overlap and outliers where zeros tell nothing, and items that follow no cluster."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy import sparse, stats

from neocc import NEOCC
from neocc.core.objectives import MEAN, RESIDUE, make_objective, over_observed
from neocc.datasets import make_coclusters
from neocc.selection import _stored
from neocc.selection._astray import without_strays
from neocc.selection._data import opened, read
from neocc.selection._mixture import Mixture, Sets
from neocc.selection._outlying import Outlying
from neocc.selection._places import Asked, Place, Values
from neocc.selection._scattered import Cells, Scattered
from neocc.selection._space import find_places
from neocc.selection._stored import Looks, StoredPlace, seen_by
from neocc.selection._together import estimate_sides

FOUR = (Asked(4), Asked(4))


def planted(seed, *, overlap=0.2, outliers=0.0, noise=1.0, density=0.2, shape=(300, 160)):
    """Rows that are prototypes or means of two, some scrambled, of which some cells are known."""
    rng = np.random.default_rng(seed)
    n, m = shape
    M = 2.0 * rng.normal(size=(4, 4))
    U = np.eye(4)[np.arange(n) % 4]
    for row in rng.choice(n, round(overlap * n), replace=False):
        U[row, rng.choice(np.flatnonzero(U[row] == 0))] = 1.0
    means = U / U.sum(axis=1, keepdims=True) @ M[:, np.arange(m) % 4]
    out = rng.choice(n, round(outliers * n), replace=False)
    means[out] = rng.choice(means.ravel(), size=(len(out), m))
    U[out] = 0.0
    X = means + noise * rng.normal(size=means.shape)
    return np.where(rng.random(X.shape) < density, X, 0.0), U


def looked_at(X, objective=MEAN, asked=FOUR):
    """The objective by which X is seen."""
    with opened(read(sparse.csr_array(X)), 1) as engine:
        counts = [each.counts(n) for each, n in zip(asked, engine.shape, strict=True)]
        return seen_by(engine, objective, tuple(counts), np.random.default_rng(0))[0]


# ------------------------------------------------------------------------------- the mixture


def some_cells(seed, n=6, r=3):
    rng = np.random.default_rng(seed)
    numbers = rng.integers(0, 4, size=(n, r)).astype(float)
    return Cells(np.where(numbers > 0, rng.normal(size=(n, r)), 0.0), numbers)


@pytest.mark.parametrize("shaped", [False, True])
def test_likelihood_is_that_of_means_of_so_many_cells(shaped):
    items, Z = some_cells(0), np.random.default_rng(1).normal(size=(3, 3))
    v = np.array([[1.0, 2.0, 0.5], [3.0, 1.0, 1.0], [0.7, 0.2, 4.0]])
    mixture = Scattered.start(Sets.of(3, 2), Z, v if shaped else v[0])
    v = v if shaped else np.repeat(v[:1], 3, axis=0)
    near = {s for s, density in enumerate(mixture.densities(items)[0]) if density == -np.inf}
    sets = [(i,) for i in range(3)] + list(combinations(range(3), 2))
    total = 0.0
    for means, numbers in zip(items.means, items.numbers, strict=True):
        density = 0.0
        for at, each in enumerate(sets):
            variance, has = v[list(each)].mean(axis=0), numbers > 0
            width = np.sqrt(variance[has] / numbers[has])
            law = stats.norm(Z[list(each)].mean(axis=0)[has], width)
            part = 0.0 if at in near else np.exp(law.logpdf(means[has]).sum())
            density += (0.75 if len(each) == 1 else 0.25) / 3 * part
        total += np.log(density)
    assert mixture.step(items).likelihood == pytest.approx(total)


@pytest.mark.parametrize("shaped", [False, True])
def test_a_step_never_lowers_the_likelihood(shaped):
    rng = np.random.default_rng(2)
    Z = 3.0 * rng.normal(size=(3, 4))
    numbers = rng.integers(0, 6, size=(120, 4)).astype(float)
    middle = np.vstack([Z, 0.5 * (Z[0] + Z[1])])[rng.integers(4, size=120)]
    means = middle + rng.normal(size=middle.shape) / np.sqrt(np.maximum(numbers, 1.0))
    items = Cells(np.where(numbers > 0, means, 0.0), numbers)
    mixture = Scattered.start(Sets.of(3, 2), Z + 0.3 * rng.normal(size=Z.shape), np.full(4, 4.0))
    steps = [(mixture.shaped if shaped else mixture).step(items)]
    for _ in range(25):
        steps.append(steps[-1].step(items))
    likelihoods = [each.likelihood for each in steps]
    assert np.diff(likelihoods).min() > (-0.1 if shaped else -1e-2)
    assert likelihoods[-1] > likelihoods[0] + 10.0
    np.testing.assert_allclose(steps[-1].prototypes, Z, atol=0.6)


# ------------------------------------------------------------------------------ what zeros tell


def test_zeros_in_random_places_tell_nothing():
    X, _ = planted(0)
    assert looked_at(X).needs_counts
    assert looked_at(X, RESIDUE) is RESIDUE


def test_what_is_seen_for_one_cost_of_outliers_is_not_taken_for_another():
    blocks = np.kron(np.eye(3), np.ones((20, 15)))
    X = sparse.csr_array(blocks * np.random.default_rng(0).normal(3.0, 1.0, (60, 45)))
    looks = Looks()
    for cost in ("zero", "background"):
        objective = make_objective("mean", cost)
        with opened(read(X), 1) as engine:
            counts = Asked(3).counts(60), Asked(3).counts(45)
            found = seen_by(engine, objective, counts, np.random.default_rng(0), looks)
        assert found[0] == objective


def test_data_are_looked_at_once_with_as_many_clusters(monkeypatch):
    X, asked, compare = sparse.csr_array(planted(0, overlap=0.0)[0]), [], _stored._tell_nothing
    monkeypatch.setattr(_stored, "_tell_nothing", lambda *_: asked.append(1) or compare(*_))
    looks = Looks()

    def seen(X, k, looks=None):
        with opened(read(X), 1) as engine:
            counts = Asked(k).counts(X.shape[0]), Asked(4).counts(X.shape[1])
            return seen_by(engine, MEAN, counts, np.random.default_rng(0), looks)

    found = seen(X, 4, looks)
    alone = seen(X, 4)
    assert len(asked) == 2
    assert seen(X, 4, looks) is found
    assert found[0] == alone[0]
    for own, one in zip(found[1], alone[1], strict=True):
        np.testing.assert_array_equal(own.dense, one.dense)
    assert len(asked) == 2
    # That zeros tell nothing is known with other numbers, too; other data are looked at.
    objective, (U, _) = seen(X, 6, looks)
    assert (objective, U.n_clusters) == (found[0], Asked(6).n_generous(300))
    assert len(asked) == 2
    assert seen(X[:280], 4, looks)[1][0].n_items == 280
    assert len(asked) == 3
    asked.clear()
    names = "row_overlap", "row_outliers", "column_overlap", "column_outliers"
    quick = {"n_init": 1, "refine": False, "random_state": 0}
    X, _, _ = make_coclusters((600, 300), 4, 4, density=0.2, format="csr", random_state=0)
    model = NEOCC(**quick, **dict.fromkeys(names, "auto")).fit(X)
    assert model.numbers_choice_.best == (4, 4)
    # Before numbers are chosen, but not with these.
    assert len(asked) == 1


def test_dense_data_are_seen_as_they_are():
    X, _ = planted(0, density=1.0)
    assert looked_at(X) is MEAN


@pytest.mark.parametrize("values", ["one", "noise", "counts", "blocks"])
def test_zeros_whose_places_have_clusters_are_values(values):
    rng = np.random.default_rng(3)
    rows, columns = rng.integers(4, size=300), rng.integers(4, size=160)
    rates = (0.3 * rng.random((4, 4)))[rows][:, columns]
    drawn = {
        "one": np.ones(rates.shape),
        "noise": rng.normal(3.0, 1.0, size=rates.shape),
        "counts": 1.0 + rng.poisson(2.0 * rates),
        "blocks": 2.0 * rng.normal(size=(4, 4))[rows][:, columns] + rng.normal(size=rates.shape),
    }
    assert looked_at(np.where(rng.random(rates.shape) < rates, drawn[values], 0.0)) is MEAN


def test_places_are_means_of_stored_cells():
    X, _ = planted(1)
    objective = looked_at(X)
    with opened(read(sparse.csr_array(X)), 1) as engine:
        place = find_places(engine, objective, FOUR, np.random.default_rng(0), 1)["rows"]
    assert isinstance(place, StoredPlace)
    np.testing.assert_array_equal(place.numbers.sum(axis=1), np.count_nonzero(X, axis=1))
    sums = (place.numbers * place.Y).sum(axis=1)
    np.testing.assert_allclose(sums, X.sum(axis=1), atol=1e-9)
    squares = place.outside + (place.numbers * place.Y**2).sum(axis=1)
    np.testing.assert_allclose(squares, np.square(X).sum(axis=1))
    point = place.prototypes[0]
    within = (place.numbers * np.square(place.Y - point)).sum(axis=1)
    np.testing.assert_allclose(place.to(point[None])[:, 0], np.sqrt(place.outside + within))
    assert place.noise == pytest.approx(1.0, rel=0.15)


@pytest.mark.parametrize("overlap", [0.0, 0.3])
def test_overlap_and_scrambled_rows_of_sparse_data_are_found(overlap):
    X, U = planted(5, overlap=overlap, outliers=0.1, shape=(240, 240))
    with opened(read(sparse.csr_array(X)), 1) as engine:
        found = estimate_sides(engine, MEAN, FOUR, np.random.default_rng(0))
    rows, columns = found["rows"], found["columns"]
    assert rows.outliers == pytest.approx(0.1, abs=0.02)
    assert rows.overlap == pytest.approx(U.sum() / len(U) - 1.0, abs=0.05)
    assert (columns.overlap, columns.outliers) == (0.0, 0.0)


def test_rows_and_columns_without_any_cells_are_no_outliers():
    X, _ = planted(6, overlap=0.0)
    X[7], X[:, 3] = 0.0, 0.0
    options = {"n_init": 1, "refine": False, "random_state": 0, "row_overlap": "auto"}
    model = NEOCC(4, 4, row_outliers="auto", **options).fit(sparse.csr_array(X))
    assert model.row_estimate_.outliers == 0.0


# ------------------------------------------------------------------------------ who strays


def astray(n_strays, *, known=True):
    """Items around three profiles of 50 values, the last nearly flat, and scrambled ones.

    Half of these are scrambled items of the last cluster: their values vary little more than noise.
    """
    rng = np.random.default_rng(7)
    profiles = np.repeat([[4.0, -3.0], [-3.0, 3.0], [2.9, 1.1]], 25, axis=1)
    labels = np.append(np.repeat([0, 1, 2], 100), 2 * (np.arange(n_strays) % 2))
    X = profiles[labels] + rng.normal(size=(len(labels), 50))
    X[300:] = rng.permuted(X[300:], axis=1)
    centred = profiles - profiles.mean(axis=0)
    axes = np.linalg.svd(centred, full_matrices=False)[2][:2]
    Y, Z = (X - profiles.mean(axis=0)) @ axes.T, centred @ axes.T
    outside = np.square(X - profiles.mean(axis=0) - Y @ axes).sum(axis=1)
    nobody = Outlying(np.zeros(len(X), dtype=bool), np.inf, known=True)
    mixture = Mixture.start(Sets.of(3, 2), Z, np.eye(2))
    values = Values(np.full(len(X), 50.0), X.sum(axis=1), np.square(X).sum(axis=1))
    sizes = np.full(3, len(X) / 3.0)
    of_all = values if known else None
    return Place(Y, Z, sizes, outside, outside, 48, nobody, of_all), mixture


def test_values_of_items_have_the_density_of_their_law():
    rng = np.random.default_rng(1)
    X, parts = rng.normal(size=(6, 4)), rng.uniform(size=(6, 2))
    values = Values(np.full(6, 4.0), X.sum(axis=1), np.square(X).sum(axis=1))
    means, variances = values.laws(parts)
    for at, weights in enumerate(parts.T):
        cells = np.repeat(weights, 4)
        assert means[at] == pytest.approx(np.average(X.ravel(), weights=cells))
        away = np.square(X.ravel() - means[at])
        assert variances[at] == pytest.approx(np.average(away, weights=cells))
    laws = zip(means, np.sqrt(variances), strict=True)
    literal = [stats.norm(mean, width).logpdf(X).sum(axis=1) for mean, width in laws]
    np.testing.assert_allclose(values.densities(means, variances), np.transpose(literal))


@pytest.mark.parametrize("is_sparse", [False, True])
def test_places_tell_the_density_of_all_values_of_an_item(is_sparse):
    X, _ = planted(3, overlap=0.0)
    X = X if is_sparse else X + np.random.default_rng(0).normal(size=X.shape)
    objective = over_observed(MEAN) if is_sparse else MEAN
    asked = (Asked(4, 0.0, 0.0), Asked(4, 0.0, 0.0))
    with opened(read(sparse.csr_array(X) if is_sparse else X), None) as engine:
        places = find_places(engine, objective, asked, np.random.default_rng(0), 2)
    for side, table in (("rows", X), ("columns", X.T)):
        place = places[side]
        stored = [line[line != 0.0] for line in table]
        np.testing.assert_allclose(place.values.numbers, [len(each) for each in stored])
        np.testing.assert_allclose(place.values.sums, table.sum(axis=1), atol=1e-9)
        np.testing.assert_allclose(place.values.squares, np.square(table).sum(axis=1))
        # One cluster, as wide as the noise around the hull is: values are independent.
        single = Sets(np.eye(1), np.ones(1, dtype=np.intp))
        centre = place.prototypes[:1]
        mixture = place.mixture(single, centre, place.noise)
        everyone = np.arange(len(table))
        found = place.densities(everyone, mixture) + place.around(everyone, np.array([place.noise]))
        squares = np.square(place.to(centre)[:, 0])
        logs = place.values.numbers * np.log(2.0 * np.pi * place.noise)
        literal = -0.5 * (squares / place.noise + logs)
        np.testing.assert_allclose(found[:, 0], literal, rtol=1e-7)


def test_items_that_follow_no_cluster_are_outliers_though_they_are_between_clusters():
    found = without_strays(*astray(30)).outlying.items
    assert np.count_nonzero(found[300:]) >= 28
    assert np.count_nonzero(found[:300]) <= 2


def test_nobody_strays_where_all_follow_clusters_or_nothing_is_known():
    for place, mixture in (astray(0), astray(30, known=False)):
        assert without_strays(place, mixture) is place
