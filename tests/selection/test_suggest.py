"""Numbers of clusters: planted ones come first, degenerate data and interrupts get an answer."""

from __future__ import annotations

import logging
import warnings
from functools import partial

import numpy as np
import pytest
from scipy import sparse

from neocc import SingleClusterWarning, objective_value, selection
from neocc.core.objectives import OBJECTIVES
from neocc.core.problem import Counts, Problem
from neocc.datasets import make_coclusters
from neocc.engines.reading import as_matrix
from neocc.kernels import Memberships
from neocc.selection import stability
from neocc.selection._criteria import Fit, hull, icl, pseudo_f
from neocc.selection._data import read
from neocc.selection._grid import Effort, merge, solve_grid

MEAN = OBJECTIVES["mean"]
suggest_n_clusters = partial(selection.suggest_n_clusters, criteria=("icl", "hull", "pseudo_f"))


def rank_of(found, pair):
    table = found.table
    at = (table["n_row_clusters"] == pair[0]) & (table["n_column_clusters"] == pair[1])
    return int(table["rank"][at][0])


def ranks(seeds, largest=6):
    """Rank of the planted pair in well separated sets of all kinds."""
    found = []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        pair = tuple(int(number) for number in rng.integers(2, 7, size=2))
        shape = int(rng.integers(100, 400)), int(rng.integers(60, 200))
        X, _, _ = make_coclusters(
            shape, *pair, noise=float(rng.choice([0.5, 1.0, 2.0])), random_state=seed
        )
        grid = range(2, largest + 1)
        found.append(rank_of(suggest_n_clusters(X, grid, grid, random_state=seed), pair))
    return np.array(found)


def test_planted_numbers_come_first():
    assert (ranks(range(4)) == 1).all()


@pytest.mark.slow
def test_planted_numbers_come_first_in_many_sets():
    found = ranks(range(100, 140), largest=8)
    assert np.mean(found == 1) >= 0.8
    assert np.mean(found <= 3) >= 0.95


def test_residue_clusters_are_found_by_their_effects():
    for seed, pair in enumerate([(2, 3), (3, 2)]):
        X, _, _ = make_coclusters((120, 80), *pair, effects=2.0, random_state=seed)
        found = suggest_n_clusters(X, range(2, 6), range(2, 6), objective="residue", random_state=0)
        assert found.best == pair


def test_overlap_and_outliers_pass_through():
    X, U, V = make_coclusters(
        (120, 80), 3, 3, row_overlap=0.2, row_outliers=0.05, noise=0.5, random_state=1
    )
    found = suggest_n_clusters(
        X, range(2, 5), range(2, 5), row_overlap=0.2, row_outliers=0.05, random_state=0
    )
    best = found.table[
        (found.table["n_row_clusters"] == 3) & (found.table["n_column_clusters"] == 3)
    ]
    assert best["objective"][0] <= objective_value(X, U, V) * (1 + 1e-9)


def test_sparse_and_dense_agree():
    X, _, _ = make_coclusters((80, 60), 2, 3, density=0.5, random_state=0)
    tables = [
        suggest_n_clusters(given, range(2, 5), range(2, 5), random_state=0, n_jobs=n_jobs).table
        for given, n_jobs in ((X, 1), (X, 2), (sparse.csr_array(X), 2))
    ]
    assert np.array_equal(tables[0], tables[1])
    np.testing.assert_allclose(tables[0]["objective"], tables[2]["objective"], rtol=0.01)


def test_the_grid_is_as_good_as_single_problems_and_falls_with_more_clusters():
    X, U, V = make_coclusters((100, 60), 4, 3, random_state=3)
    problems = [
        [
            Problem(OBJECTIVES["mean"], Counts(100, k, 100, 0), Counts(60, q, 60, 0))
            for q in (2, 3, 5)
        ]
        for k in (2, 4, 6)
    ]
    cells = solve_grid(read(X), problems, Effort(4, 3), np.random.default_rng(0), 1)
    J = np.zeros((3, 3))
    for at, solution in cells:
        J[at] = solution.objective
    assert J[1, 1] <= objective_value(X, U, V) * (1 + 1e-9)
    assert (np.diff(J, axis=0) < 0).all()
    assert (np.diff(J, axis=1) < 0).all()


def test_merging_joins_the_clusters_whose_means_are_closest():
    points = np.array([0.0, 0.2, 5.0, 5.2, 6.0, 6.2])
    members = Memberships.from_labels(np.array([0, 0, 1, 1, 2, 2], dtype=np.int32), 3)
    means = np.array([0.1, 5.1, 6.1])
    distances = (points[:, None] - means) ** 2
    merged = merge(members, distances.reshape(3, 2, 3).mean(axis=1))
    assert merged.first.tolist() == [0, 0, 1, 1, 1, 1]


def test_criteria_follow_their_formulas():
    sizes = np.array([6.0, 4.0]), np.array([2.0, 3.0, 1.0])
    fit, whole = Fit(5.0, *sizes, 10, 6, 60.0), Fit(50.0, *np.array([[10.0], [6.0]]), 10, 6, 60.0)
    expected = -30 * (np.log(2 * np.pi * 5 / 60) + 1) - 3.5 * np.log(60)
    expected += 6 * np.log(0.6) + 4 * np.log(0.4)
    expected += 2 * np.log(2 / 6) + 3 * np.log(3 / 6) + np.log(1 / 6)
    expected -= 0.5 * np.log(10) + np.log(6)
    assert icl(fit, whole, MEAN, 0.0) == pytest.approx(expected)
    assert pseudo_f(fit, whole, MEAN, 0.0) == pytest.approx((45 / 5) / (5 / 54))
    assert fit.n_parameters(OBJECTIVES["residue"]) == 2 * 6 + 3 * 10 - 6
    assert np.isnan(icl(Fit(0.0, np.ones(2), np.ones(2), 2, 2, 4.0), whole, MEAN, 1e-9))


def test_hull_finds_the_elbow():
    def fit(k, q, J):
        return Fit(J, np.ones(k), np.ones(q), 9, 9, float(k * q))

    fits = [fit(2, 1, 60.0), fit(1, 2, 70.0), fit(2, 2, 10.0), fit(3, 2, 9.0), fit(3, 3, 8.5)]
    found = hull(fits, fit(1, 1, 100.0), 1e-9)
    assert found[2] == pytest.approx(45.0 / 1.0)
    assert found[3] == pytest.approx(1.0 / 0.5)
    assert found[4] == 0.0
    assert found[0] == pytest.approx((55 - 60) / 100)
    assert found[1] < found[0] < 0


def test_a_perfect_fit_prefers_few_clusters():
    X = np.kron(np.array([[1.0, 2.0, 3.0], [4.0, 0.0, 1.0]]), np.ones((6, 5)))
    found = suggest_n_clusters(X, range(2, 5), range(2, 5), random_state=0)
    assert found.best == (2, 3)
    assert np.isfinite(found.table["icl"]).all()


@pytest.mark.parametrize("value", [0.0, 0.1, -1e6])
@pytest.mark.parametrize("objective", ["mean", "residue"])
def test_constant_data_has_one_cluster(value, objective):
    found = suggest_n_clusters(np.full((7, 5), value), objective=objective, random_state=0)
    assert found.best == (1, 1)
    assert "all rows are equal" in str(found)


def test_one_distinct_row_makes_one_row_cluster():
    row = np.repeat([0.0, 1.0, 5.0], 4)
    X = np.tile(row, (9, 1))
    assert suggest_n_clusters(X, random_state=0).best == (1, 3)
    found = suggest_n_clusters(X.T, row_overlap=0.1, random_state=0)
    assert found.best == (3, 1)
    assert found.notes == ("all columns are equal: they make one cluster.",)


def test_noise_is_told_from_clusters():
    X = np.random.default_rng(0).normal(size=(60, 40))
    assert "no clusters found" in str(suggest_n_clusters(X, [2, 3], [2, 3], random_state=0))


def test_tiny_data_gets_a_tiny_grid():
    found = suggest_n_clusters([[1.0, 2.0, 9.0], [1.5, 2.0, 8.0], [7.0, 7.0, 0.0]], random_state=0)
    assert found.n_pairs == 4
    assert suggest_n_clusters([[1.0, 2.0]], random_state=0).best[0] == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"row_clusters": [2, 6]}, "row_clusters asks for 6 clusters of 5 rows"),
        ({"column_clusters": [5]}, "column_clusters asks for 5 clusters of 4 columns"),
        ({"row_clusters": []}, "row_clusters is empty"),
        ({"row_clusters": [0]}, "every number in row_clusters must be an integer"),
        ({"row_clusters": [2.5]}, "every number in row_clusters must be an integer"),
        ({"objective": "kmeans"}, "objective must be one of 'mean', 'residue'"),
        ({"criteria": ["icl", "aic"]}, "criteria must be one of 'icl', 'hull', 'pseudo_f'"),
        ({"criteria": []}, "criteria must be one of"),
        (
            {"row_overlap": 1.5, "row_clusters": [2]},
            "row_overlap=1.5 is above .* 1: 5 rows in 2 clusters",
        ),
        ({"column_overlap": -0.5}, "column_overlap=-0.5 is below -column_outliers"),
        ({"column_outliers": 1.0}, "column_outliers=1.0 would leave out all 4 columns"),
        ({"row_overlap": np.nan}, "overlap must be a finite number; got nan"),
        ({"n_init": 0}, "n_init must be an integer"),
        ({"X": [[np.inf, 1.0]]}, "contains infinity"),
    ],
)
def test_wrong_arguments_are_named(change, message):
    arguments = {"X": np.eye(5, 4), **change}
    with pytest.raises(ValueError, match=message):
        suggest_n_clusters(**arguments)


def test_progress_is_reported(caplog):
    calls = []
    with caplog.at_level(logging.INFO, logger="neocc"):
        suggest_n_clusters(
            np.eye(6, 5), [2, 3], [2], random_state=0, callback=lambda *done: calls.append(done)
        )
    assert calls == [(1, 2), (2, 2)]
    assert "pair 2/2: 2 row and 2 column clusters" in caplog.text


def interrupt(done, total):
    if done == 3:
        raise KeyboardInterrupt


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("stop", [interrupt, lambda done, total: done == 3])
def test_an_interrupted_search_keeps_what_it_has(n_jobs, stop):
    X, _, _ = make_coclusters((60, 40), 2, 2, random_state=0)
    found = suggest_n_clusters(X, [2, 3], [2, 3], random_state=0, n_jobs=n_jobs, callback=stop)
    assert not found.complete
    assert len(found.table) == 3
    assert "3 of 4 pairs: interrupted" in str(found)


def test_an_interrupt_before_the_first_pair_is_passed_on(monkeypatch):
    def nothing(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("neocc.selection._search.Search.run", nothing)
    with pytest.raises(KeyboardInterrupt):
        suggest_n_clusters(np.eye(4), [2], [2])


def test_large_matrices_are_sampled():
    X, _, _ = make_coclusters((400, 40), 2, 3, random_state=0)
    found = suggest_n_clusters(X, [2, 3], [2, 3], max_entries=4000, random_state=0)
    assert found.best == (2, 3)
    assert "random sample of 100 of the 400 rows" in str(found)
    everything = suggest_n_clusters(X, [2], [3], max_entries=None, random_state=0)
    assert everything.notes == ()


def test_other_criteria_can_rank():
    X, _, _ = make_coclusters((100, 60), 3, 3, random_state=0)
    for name in ("hull", "pseudo_f"):
        found = suggest_n_clusters(X, range(2, 5), range(2, 5), criteria=name, random_state=0)
        assert found.criteria == (name,)
        assert found.table[name][0] == np.nanmax(found.table[name])
    assert found.table["rank"].tolist() == list(range(1, 10))


def test_a_pair_at_the_edge_of_the_grid_is_noted():
    X, _, _ = make_coclusters((60, 40), 4, 3, noise=0.5, random_state=0)
    small = suggest_n_clusters(X, range(2, 4), range(2, 5), random_state=0)
    assert small.best == (3, 3)
    assert [note for note in small.notes if "more may be better" in note] == [
        "3 is the largest number of row clusters tried: more may be better."
    ]
    large = suggest_n_clusters(X, range(2, 6), range(2, 5), random_state=0)
    assert large.best == (4, 3)
    assert not large.notes


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"row_clusters": 3}, "must be a list or a range"),
        ({"row_clusters": "23"}, "must be a list or a range"),
        ({"n_jobs": 0}, "n_jobs must be"),
        ({"row_overlap": float("inf")}, "must be a finite number; got inf"),
        ({"column_outliers": float("nan")}, "must be a finite number; got nan"),
    ],
)
def test_what_means_nothing_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        suggest_n_clusters(np.arange(60.0).reshape(10, 6), **options)


def test_a_sample_shows_the_largest_number_of_clusters():
    X = np.random.default_rng(0).normal(size=(60, 20))
    found = suggest_n_clusters(X, [2, 6], [2], max_entries=120, random_state=0)
    assert found.complete
    assert set(found.table["n_row_clusters"]) == {2, 6}


def test_an_early_end_says_what_is_missing():
    X = np.random.default_rng(0).normal(size=(30, 20))
    found = suggest_n_clusters(X, random_state=0, callback=lambda done, total: np.bool_(done >= 3))
    assert not found.complete
    assert "the largest numbers are tried first" in str(found)


def test_cells_on_threads_are_those_of_one_thread():
    matrix = as_matrix(np.random.default_rng(0).normal(size=(40, 25)))
    problems = [
        [Problem(OBJECTIVES["mean"], Counts(40, k, 40, 0), Counts(25, m, 25, 0)) for m in (2, 3, 4)]
        for k in (2, 3, 4)
    ]
    one, other = (
        list(solve_grid(matrix, problems, Effort(2, 2), np.random.default_rng(0), n_jobs, small=0))
        for n_jobs in (1, 2)
    )
    assert len(one) == 9
    for (at, found), (same_place, same) in zip(one, other, strict=True):
        assert at == same_place
        assert np.array_equal(found.history, same.history)
        assert np.array_equal(found.U.dense, same.U.dense)


@pytest.mark.parametrize("analyse", [suggest_n_clusters, partial(stability, n_runs=1)])
@pytest.mark.parametrize(
    "change",
    [{"row_outliers": -0.1}, {"row_outliers": -0.1, "row_overlap": 0.5}, {"row_outliers": -0.01}],
)
def test_negative_outliers_are_refused_by_name(analyse, change):
    clusters = [[2], [2]] if analyse is suggest_n_clusters else [2, 2]
    with pytest.raises(ValueError, match=f"row_outliers={change['row_outliers']}"):
        analyse(np.eye(9, 7), *clusters, random_state=0, **change)


@pytest.mark.parametrize("overlap", [0.1, 0.3])
def test_planted_overlap_needs_the_model_that_it_was_planted_by(overlap):
    fractions = {"row_overlap": overlap, "column_overlap": overlap}
    X, _, _ = make_coclusters((120, 80), 3, 3, **fractions, random_state=0)
    numbers = (range(2, 6), range(2, 5))
    found = {
        name: suggest_n_clusters(X, *numbers, overlap_model=name, **fractions, random_state=0).best
        for name in ("average", "repeat")
    }
    assert found["average"] == (3, 3)
    assert found["repeat"] != (3, 3)
    with pytest.raises(ValueError, match="makes no sense"):
        suggest_n_clusters(X, *numbers, objective="residue", overlap_model="sum")


@pytest.mark.parametrize("criteria", ["icl", "prediction"])
def test_one_cluster_among_others_has_no_overlap(criteria):
    X, _, _ = make_coclusters((60, 40), 2, 2, noise=0.5, random_state=0)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("default")
        found = suggest_n_clusters(
            X, [1, 2], [1, 2], row_overlap=0.1, criteria=criteria, random_state=0
        )
    assert found.best == (2, 2)
    assert [each.category for each in told] == [SingleClusterWarning]


def test_an_overlap_that_is_given_is_not_ignored():
    X, _, _ = make_coclusters((60, 40), 3, 2, row_overlap=0.3, noise=0.5, random_state=0)
    suggest = partial(selection.suggest_n_clusters, X, range(2, 6), [2], random_state=0)
    ranked = suggest(row_overlap=0.3, overlap_model="average")
    assert (ranked.best, ranked.criteria) == ((3, 2), ("icl",))
    assert suggest().best != (3, 2)


@pytest.mark.parametrize("name", ["row_overlap", "column_overlap", "row_outliers"])
@pytest.mark.parametrize("given", ["some", None])
def test_a_fraction_that_is_no_number_is_refused_by_name(name, given):
    with pytest.raises(ValueError, match=f'{name} must be a number or "auto"; got {given!r}'):
        selection.suggest_n_clusters(np.eye(6), random_state=0, **{name: given})
