"""Numbers of clusters by prediction: planted ones are found, noise has none, doubt is said."""

from __future__ import annotations

import logging
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

from neocc import NEOCC, objective_value
from neocc.core.objectives import OBJECTIVES
from neocc.core.problem import Problem
from neocc.core.search import run_starts
from neocc.core.steps import assigned
from neocc.datasets import make_coclusters
from neocc.selection import suggest_n_clusters
from neocc.selection._curves import Curve, adjusted_rand, fewer_columns
from neocc.selection._data import counts_of, opened, opener, read
from neocc.selection._heldout import Blocks, Folds
from neocc.selection._tied import Ties
from neocc.selection._verdict import Tried, judged, judged_together

ANY = Tried(None, 100)


def literal_errors(X, part, pair, new, objective, side, ties):
    """Predict every unseen cell by the formula, one after the other.

    What lines add up to, with weights, is known: errors along these do not count.
    """
    (known_rows, known_columns), (rows, columns) = part.known, part.held
    U, V = (members.dense for members in pair)
    M = np.array([[X[np.ix_(known_rows[u], known_columns[v])].mean() for v in V.T] for u in U.T])
    C = np.array([X[np.ix_(known_rows[u], columns)].mean(axis=0) for u in U.T])
    A = np.array([X[np.ix_(rows, known_columns[v])].mean(axis=1) for v in V.T])
    i, j = (members.first for members in new)
    predicted = np.empty((len(rows), len(columns)))
    for p in range(len(rows)):
        for t in range(len(columns)):
            mean = M[i[p], j[t]]
            if objective == "residue":
                predicted[p, t] = A[j[t], p] + C[i[p], t] - mean
            elif side == "rows":
                predicted[p, t] = mean + weights(X, part, U, C, M[:, j], 0)[i[p]] * (
                    C[i[p], t] - mean
                )
            else:
                predicted[p, t] = mean + weights(X, part, V, A, M[i].T, 1)[j[t]] * (
                    A[j[t], p] - mean
                )
    left = X[np.ix_(rows, columns)] - predicted
    left = left.T if side == "rows" else left
    w = ties[1][columns] if side == "rows" else ties[0][rows]
    if w.any():
        left = left - np.outer(w, w @ left) / (w @ w)
    return np.square(left).sum(axis=0)


def weights(X, part, members, means, blocks, side):
    """How far single items speak for themselves: between them over between them plus noise."""
    (known_rows, known_columns), (rows, columns) = part.known, part.held
    cells = X[np.ix_(known_rows, columns)] if side == 0 else X[np.ix_(rows, known_columns)].T
    sizes = members.sum(axis=0)
    noise = np.square(cells - members @ means).sum() / (len(cells) - len(sizes)) / cells.shape[1]
    apart = np.square(means - blocks).mean() - np.mean(noise / sizes)
    return apart / (apart + noise / sizes) if apart > 0 else np.zeros(len(sizes))


@pytest.mark.parametrize("objective", ["mean", "residue"])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("tied", [False, True])
def test_held_out_errors_follow_the_formula(objective, container, tied):
    rng = np.random.default_rng(0)
    X = make_coclusters((14, 12), 2, 2, effects=1.0, random_state=0)[0] + 3.0
    shape = X.shape
    ties = Ties(*(rng.uniform(0.5, 2.0, size=n) * tied for n in shape))
    problem = Problem(
        OBJECTIVES[objective], counts_of("rows", 14, 2, 0, 0), counts_of("columns", 12, 2, 0, 0)
    )
    matrix = read(container(X))
    with opener(matrix, 1) as open_:
        part = Folds.draw(shape, rng).part(matrix, 0, 1)
        U, V = part.learnt(open_, problem, "neo-kmeans", rng.spawn(2))
        views = part.views(open_, problem, matrix.centred(problem.centring), ties)
        first = [next(view.path(pair)) for view, pair in zip(views, [(V, U), (U, V)], strict=True)]
        for s, side in enumerate(("rows", "columns")):
            paths = views[s].path((V, U) if side == "rows" else (U, V))
            for each, pair, new in paths:
                both = (new, first[1][2]) if side == "rows" else (first[0][2], new)
                errors = views[s].errors(each.objective, pair, first[1 - s][2], new)
                found = pair[::-1] if side == "rows" else pair
                literal = literal_errors(X, part, found, both, objective, side, ties)
                np.testing.assert_allclose(errors, literal, rtol=1e-8)


def test_other_parts_start_from_clusters_that_never_saw_what_they_hold_out():
    """Changing held-out cells changes neither the clusters nor the starts of their part."""
    X = make_coclusters((40, 30), 3, 3, noise=0.5, random_state=0)[0]
    folds = Folds.draw(X.shape, np.random.default_rng(0))
    problem = Problem(
        OBJECTIVES["mean"], counts_of("rows", 40, 4, 0, 0), counts_of("columns", 30, 4, 0, 0)
    )

    def learnt(matrix):
        with opener(matrix, 1) as open_:
            found = folds.learnt(matrix, open_, problem, np.random.default_rng(1), 2)
            return {at: (U.first.tolist(), V.first.tolist()) for at, (_, (U, V)) in found.items()}

    before = learnt(read(X))
    assert list(before) == [(0, 0), (1, 1), (0, 1), (1, 0)]
    for at in before:
        changed = X.copy()
        changed[np.ix_(folds.rows[at[0]], folds.columns[at[1]])] = 50.0
        assert learnt(read(changed))[at] == before[at]


def test_new_items_join_as_they_would_in_one_matrix():
    """A row or a column that is a copy of a known one joins the cluster of that one."""
    rng = np.random.default_rng(1)
    half = make_coclusters((20, 16), 3, 2, effects=2.0, noise=0.2, random_state=1)[0]
    X = np.tile(half, (2, 2))
    for objective in ("mean", "residue"):
        problem = Problem(
            OBJECTIVES[objective], counts_of("rows", 40, 3, 0, 0), counts_of("columns", 32, 2, 0, 0)
        )
        folds = Folds((np.arange(20), np.arange(20, 40)), (np.arange(16), np.arange(16, 32)))
        matrix = read(X)
        with opener(matrix, 1) as open_:
            part = folds.part(matrix, 1, 1)
            U, V = part.learnt(open_, problem, "neo-kmeans", rng.spawn(4))
            ties = Ties.of(open_(matrix))
            views = part.views(open_, problem, matrix.centred(problem.centring), ties)
            for view, pair in zip(views, [(V, U), (U, V)], strict=True):
                new = view.joined(view.problem, pair)
                assert np.array_equal(new.dense, pair[1].dense)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("objective", ["mean", "residue"])
def test_a_path_ends_where_the_alternation_of_one_side_does(objective, container):
    """Columns are at their nearest clusters, whose means are those of the columns."""
    X = container(make_coclusters((40, 120), 3, 4, noise=5.0, random_state=1)[0] + 2.0)
    problem = Problem(
        OBJECTIVES[objective],
        counts_of("rows", 40, 5, 0, 0),
        counts_of("columns", 120, 8, 0, 0),
        tol=0.0,
    )
    with opened(read(X), 1) as engine:
        (found,) = run_starts(engine, problem, "neo-kmeans", [np.random.default_rng(0)])
        numbers, values = [], []
        for each, (U, V) in fewer_columns(engine, problem, found.pair):
            numbers.append(V.n_clusters)
            again = assigned(engine, each, "columns", (U, V))
            assert np.array_equal(again[1].dense, V.dense)
            assert np.array_equal(U.dense, found.U.dense)
            values.append(objective_value(X, U.dense, V.dense, objective=objective))
    assert numbers == [8, 7, 6, 5, 4, 3, 2, 1]
    assert values == sorted(values)


def test_agreement_is_the_adjusted_rand_index():
    rng = np.random.default_rng(0)
    for n, k in ((1, 1), (2, 2), (7, 3), (40, 5)):
        one, other = rng.integers(-1, k, size=(2, n))
        assert adjusted_rand(one, other) == pytest.approx(adjusted_rand_score(one, other))
    assert adjusted_rand(np.zeros(5, int), np.zeros(5, int)) == 1.0


@pytest.mark.parametrize("seed", range(3))
def test_planted_numbers_are_found(seed):
    rng = np.random.default_rng(seed)
    pair = tuple(int(number) for number in rng.integers(2, 6, size=2))
    X, _, _ = make_coclusters((80, 60), *pair, noise=1.0, random_state=seed)
    found = suggest_n_clusters(X, random_state=seed)
    assert found.best == pair
    assert found.is_clear
    assert suggest_n_clusters(X.T, random_state=seed).best == pair[::-1]


def test_long_matrices_are_represented_by_some_of_their_items():
    X, _, _ = make_coclusters((30_000, 6), 3, 2, noise=0.5, random_state=0)
    for data, side in ((X, "rows"), (X.T, "columns")):
        found = suggest_n_clusters(data, n_init=1, random_state=0)
        assert getattr(found, side).number == 3
        note = f"numbers of clusters suit a random sample of 20,000 of the 30,000 {side}."
        assert found.notes == (note,)
    whole = suggest_n_clusters(X, n_init=1, random_state=0, max_entries=None)
    assert (whole.rows.number, whole.notes) == (3, ())


def test_residue_clusters_are_found_by_their_effects():
    X, _, _ = make_coclusters((90, 60), 3, 2, effects=2.0, noise=0.5, random_state=0)
    assert suggest_n_clusters(X, objective="residue", random_state=0).best == (3, 2)


def test_kinds_of_few_columns_are_found_beside_the_levels_of_many_rows():
    """Half of the columns are too few to tell an offset of every row in each of their clusters."""
    rng = np.random.default_rng(1)
    kinds = rng.normal(size=(300, 3))[:, np.arange(24) % 3] * 0.7
    X = kinds + 3 * rng.normal(size=(300, 1)) + rng.normal(size=(300, 24))
    found = suggest_n_clusters(X, objective="residue", n_init=2, n_jobs=1, random_state=0)
    assert found.columns.number == 3
    # Only another model shows the columns: that is said.
    assert found.columns.other_model
    assert not found.columns.is_clear
    assert "only blocks of one value show them" in found.columns.reason


@pytest.mark.parametrize("objective", ["mean", "residue"])
def test_permuted_data_have_no_structure(objective):
    rng = np.random.default_rng(0)
    X = rng.permutation(make_coclusters((60, 50), 3, 3, random_state=0)[0].ravel())
    found = suggest_n_clusters(X.reshape(60, 50), objective=objective, random_state=0)
    assert found.best == (1, 1)
    assert "no structure" in str(found)


def test_the_grid_grows_when_its_edge_wins():
    X, _, _ = make_coclusters((96, 24), 10, 3, noise=0.3, separation=6.0, random_state=0)
    found = suggest_n_clusters(X, random_state=0)
    assert found.rows.largest == 24
    assert found.best == (10, 3)


def test_it_grows_at_once_where_its_largest_number_is_the_best(monkeypatch):
    X, _, _ = make_coclusters((240, 60), 22, 3, noise=0.3, separation=6.0, random_state=0)
    whole, asked = Blocks.curves, []

    def curves(self, problem, rng, n_init):
        asked.append(problem.rows.n_clusters)
        return whole(self, problem, rng, n_init)

    monkeypatch.setattr(Blocks, "curves", curves)
    found = suggest_n_clusters(X, random_state=0, n_jobs=1)
    assert asked.count(16) == 1
    assert found.rows.largest > 32
    assert found.best == (22, 3)


@pytest.mark.parametrize(("container", "value"), [(np.asarray, 3.0), (sparse.csr_array, 0.0)])
def test_equal_rows_and_columns_make_one_cluster(value, container):
    assert suggest_n_clusters(container(np.full((7, 5), value)), random_state=0).best == (1, 1)
    X = np.tile(np.repeat([0.0, 1.0, 5.0], 8), (20, 1))
    assert suggest_n_clusters(container(X), random_state=0).best == (1, 3)


def test_only_given_numbers_are_chosen():
    X, _, _ = make_coclusters((80, 60), 4, 3, noise=0.5, random_state=0)
    assert suggest_n_clusters(X, [2, 4, 6], [3], random_state=0).best == (4, 3)
    assert suggest_n_clusters(X, [2], [5], random_state=0).best == (2, 5)
    assert suggest_n_clusters(X, [60], None, random_state=0).best == (60, 3)


def curve(errors, stability, n=200, spread=0.0):
    noise = np.random.default_rng(0).normal(size=(len(errors), n)) * spread
    noise -= noise.mean(axis=1, keepdims=True)
    return Curve(np.asarray(errors)[:, None] + noise, np.asarray(stability))


def test_the_smallest_number_within_one_standard_error_wins_if_halves_agree():
    errors = [1.0, 0.5, 0.3, 0.295, 0.299, 0.294, 0.3, 0.31]
    found = judged(curve(errors, [1.0, 0.9, 0.95, *[0.4] * 5], spread=0.2), "rows", ANY)
    assert (found.number, found.within_error, found.is_clear) == (3, 3, True)
    # With so many more items the differences are certain.
    sure = judged(curve(errors, [1.0, 0.9, 0.95, *[0.4] * 5], 10**5, 0.2), "rows", ANY)
    assert sure.within_error == 6


def test_there_is_no_knee_where_more_clusters_predict_clearly_worse():
    """As of planted shares of ones: halves disagree on single rows, but four predict best."""
    errors = [0.2454, 0.2349, 0.2257, 0.2236, 0.2254, 0.2268, 0.2281, 0.229]
    stability = [1.0, 0.55, 0.86, 0.65, 0.54, 0.46, 0.39, 0.3]
    found = judged(curve(errors, stability, spread=0.001), "rows", ANY)
    assert (found.number, found.is_sharp, found.is_clear) == (4, True, True)
    # Differences that chance makes are none.
    noisy = judged(curve(errors, stability, spread=0.01), "rows", ANY)
    assert (noisy.number, noisy.is_sharp) == (3, False)


def test_the_knee_wins_if_halves_disagree_on_finer_clusters():
    errors = [1.0, 0.6, 0.35, *(0.33 - 0.01 * np.arange(13))]
    stability = [1.0, 0.9, 0.9, *[0.4] * 13]
    found = judged(curve(errors, stability), "rows", ANY)
    assert (found.number, found.within_error) == (3, 16)
    assert "knee" in found.reason
    smooth = judged(curve(1.0 / np.arange(1, 17), [1.0, *[0.3] * 15]), "rows", ANY)
    assert not smooth.is_clear
    assert "unclear" in smooth.reason
    assert smooth.at_limit


def test_there_is_no_knee_where_more_clusters_predict_worse():
    """As of sparse answers, of which cells are held out: four clusters predict best."""
    errors = [1.0, 0.96, 0.921, 0.915, 0.92, 0.925, 0.93, 0.936, *(0.94 + 0.005 * np.arange(8))]
    stability = [1.0, 0.4, 0.8, *[0.6] * 13]
    cells = replace(curve(errors, stability), of_halves=False)
    found = judged(cells, "rows", ANY)
    assert (found.number, found.plausible) == (4, (4,))
    # Five would be best, but for one standard error; parts do not tell.
    close = replace(
        curve([*errors[:4], 0.9149, *errors[5:]], stability, spread=0.01), of_halves=False
    )
    found = judged(close, "rows", ANY)
    assert (found.number, found.plausible, found.is_clear) == (4, (4, 5), False)
    flat = [*errors[:4], *[0.916] * 12]
    assert judged(curve(flat, stability, spread=0.01), "rows", ANY).number == 3


def test_halves_have_a_veto():
    """Of two groups with many shades of each: finer clusters predict better, but by chance."""
    errors = 0.2 + 0.8 / np.arange(1, 17)
    stability = np.array([1.0, 0.93, 0.68, 0.6, 0.5, *[0.45] * 11])
    found = judged(curve(errors, stability), "rows", ANY)
    assert found.number == 2
    knee = judged(curve(errors, [1.0, *[0.6] * 15]), "rows", ANY).number
    assert knee > 2
    assert knee in found.plausible
    assert not found.is_clear
    # Where all parts have the same items, they tell nothing of numbers.
    cells = replace(curve(errors, stability), of_halves=False)
    assert judged(cells, "rows", ANY).number == knee
    # Halves that agree on nothing agree on few clusters as well as on many.
    assert judged(curve(errors, [1.0, *[-0.1] * 15]), "rows", ANY).number == knee
    # Only numbers that are to be chosen from compete.
    assert judged(curve(errors, stability), "rows", Tried((3, 4, 5), 100)).number == 4


def test_numbers_that_predict_no_better_than_one_are_not_taken():
    """Halves agree best on three clusters, which lose what eight gain."""
    errors = [1.0, 0.97, 1.02, 0.95, 0.93, 0.9, 0.86, *[0.8] * 9]
    stability = [1.0, 0.5, 0.89, *[0.55] * 13]
    found = judged(curve(errors, stability), "rows", ANY)
    assert found.number != 3
    assert found.explained > 0
    # If three are asked for, three they are.
    assert judged(curve(errors, stability), "rows", Tried((3,), 100)).number == 3


def test_next_to_nothing_is_nothing_where_a_cut_shows_no_structure():
    little = [1.0, *[0.996] * 15]
    none = [1.0, *[1.0] * 15]
    stability = [1.0, *[0.8] * 15]
    cuts = [curve(each, stability) for each in (little, little, little, none)]
    assert judged_together(cuts[:3], "rows", ANY).number > 1
    found = judged_together(cuts, "rows", ANY)
    assert found.number == 1
    assert not found.is_clear
    assert judged_together(cuts, "rows", Tried((2, 3), 100)).number > 1


def test_what_single_cuts_say_is_plausible_too():
    """Three clusters on average, but two cuts have their knees elsewhere: that is unclear."""
    steep = [1.0, 0.6, 0.35, *(0.33 - 0.01 * np.arange(13))]
    early = [1.0, 0.4, 0.38, *(0.37 - 0.01 * np.arange(13))]
    stability = [1.0, *[0.7] * 15]
    same = judged_together([curve(steep, stability)] * 3, "rows", ANY)
    assert (same.number, same.of_cuts, same.is_clear) == (3, (3, 3, 3), True)
    cuts = [curve(each, stability) for each in (steep, steep, steep, early)]
    found = judged_together(cuts, "rows", ANY)
    assert (found.number, found.of_cuts) == (3, (3, 3, 3, 2))
    assert found.plausible == (2, 3)
    assert not found.is_clear
    # Parts that agree on clusters leave no doubt, unless another cut says something else.
    clear = [1.0, 0.6, 0.3, *[0.3] * 13]
    flat = [1.0, 0.4, 0.4, *[0.4] * 13]
    cuts = [curve(each, [1.0, 0.95, *[0.95] * 14]) for each in (clear, clear, flat)]
    assert judged_together(cuts[:2], "rows", ANY).is_clear
    found = judged_together(cuts, "rows", ANY)
    assert (found.number, found.is_agreed, found.plausible) == (3, True, (2, 3))
    assert not found.is_clear


def test_more_cuts_are_made_while_they_disagree(monkeypatch):
    X, _, _ = make_coclusters((40, 40), 2, 2, random_state=0)
    for knees, slope, agreement, n_cuts in (
        ((3, 3, 3), 0.005, 0.7, 3),
        ((3, 2, 3, 2, 3), 0.005, 0.7, 5),
        ((3, 3), 0.0, 0.95, 2),
        ((3, 2, 3, 3, 3), 0.0, 0.95, 5),
        ((3,), 0.0, 0.99, 1),
    ):
        shown = iter(knees)

        def curves(self, problem, rng, n_init, shown=shown, slope=slope, agreement=agreement):
            errors = [1.0, *[0.3] * 9] if next(shown) == 2 else [1.0, 0.6, *[0.3] * 8]
            errors = np.array(errors) - slope * np.arange(10)
            return tuple(curve(errors, [1.0, *[agreement] * 9]) for _ in range(2))

        monkeypatch.setattr(Blocks, "curves", curves)
        found = suggest_n_clusters(X, random_state=0, n_init=1, n_jobs=1)
        assert len(found.rows.of_cuts) == n_cuts
        assert found.rows.is_clear == (len(set(knees)) == 1)


def test_results_do_not_depend_on_threads_or_container():
    X, _, _ = make_coclusters((60, 40), 3, 2, random_state=0)
    one, two, csr = (
        suggest_n_clusters(given, random_state=0, n_jobs=n_jobs)
        for given, n_jobs in ((X, 1), (X, 2), (sparse.csr_array(X), 1))
    )
    assert np.array_equal(one.table, two.table)
    assert csr.best == one.best


def test_progress_and_an_early_end(caplog):
    X, _, _ = make_coclusters((40, 30), 2, 2, random_state=0)
    calls = []
    with caplog.at_level(logging.INFO, logger="neocc"):
        suggest_n_clusters(X, random_state=0, callback=lambda *done: calls.append(done))
    assert calls == [(1, 5)]  # which leaves no doubt
    assert "cut 1/5" in caplog.text
    found = suggest_n_clusters(X, random_state=0, callback=lambda done, total: done == 1)
    assert not found.complete
    assert "(interrupted)" in str(found)


def test_an_interrupt_keeps_what_smaller_grids_have_shown(monkeypatch):
    X, _, _ = make_coclusters((96, 24), 10, 3, noise=0.3, separation=6.0, random_state=0)
    whole, asked = Blocks.curves, []

    def curves(self, problem, rng, n_init):
        asked.append(problem.rows.n_clusters)
        if asked[-1] > asked[0]:
            raise KeyboardInterrupt
        return whole(self, problem, rng, n_init)

    monkeypatch.setattr(Blocks, "curves", curves)
    found = suggest_n_clusters(X, random_state=0, n_init=1, n_jobs=1)
    assert not found.complete
    assert found.rows.largest == asked[0] == 16


@pytest.mark.parametrize("objective", ["mean", "poisson"])
def test_one_row_or_column_makes_one_cluster(objective):
    """Nothing can be held out: the library, its estimator and the command say the same."""
    X = np.array([[1.0, 2.0, 9.0, 9.0, 1.0, 9.0]])
    for data in (X, X.T):
        found = suggest_n_clusters(data, objective=objective, random_state=0)
        assert found.best == (1, 1)
        assert "too few rows or columns" in str(found)
        model = NEOCC(objective=objective, n_init=1, random_state=0).fit(data)
        assert model.block_means_.shape == (1, 1)
    assert suggest_n_clusters(X, None, [3], random_state=0).best == (1, 3)


def test_prediction_stands_alone():
    with pytest.raises(ValueError, match="criteria must be one of"):
        suggest_n_clusters(np.eye(5), criteria=("prediction", "icl"))


def test_an_estimator_without_numbers_chooses_them_and_keeps_the_reasons():
    X, _, _ = make_coclusters((40, 30), 3, 2, noise=0.5, random_state=0)
    model = NEOCC(n_init=1, refine=False, random_state=0).fit(X)
    assert model.numbers_choice_.best == model.block_means_.shape == (3, 2)
    assert NEOCC(3, 2, n_init=1, refine=False).fit(X).numbers_choice_ is None
    # Without a number there are three, also while those of the other side are chosen.
    for number in (3, None):
        model = NEOCC(number, n_init=1, refine=False, random_state=0).fit(X[:12, :8])
        assert model.numbers_choice_.rows.number == model.block_means_.shape[0] == 3


def test_missing_cells_are_refused_with_what_to_do():
    X = np.ones((6, 5))
    X[2, 3] = np.nan
    with pytest.raises(ValueError, match=r'row 2, column 3.*suggest_n_clusters.*missing="ignore"'):
        suggest_n_clusters(X)
    assert suggest_n_clusters(X, missing="ignore", n_init=1, random_state=0).best == (1, 1)


def test_what_could_not_be_tried_is_not_clear():
    found = suggest_n_clusters(np.random.default_rng(0).normal(size=(100, 1)), random_state=0)
    assert found.best == (1, 1)
    assert "too few" in found.rows.reason
    assert not any(each.is_clear for each in found.sides)
