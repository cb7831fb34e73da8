"""ROCC: planted co-clusters are found, and the estimator behaves as others do."""

from __future__ import annotations

import logging

import numpy as np
import oracle
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

from neocc import MSSR, ROCC
from neocc.metrics import matched_f1
from neocc.rivals.rocc.results import FewerCoclustersWarning

# Rows, columns and level of four co-clusters: the first two share rows, the next two columns, the
# last two both. Rows from 125 and columns from 65 on are in none of them.
BLOCKS = (
    (slice(0, 40), slice(0, 20), 3.0),
    (slice(30, 70), slice(20, 40), -1.0),
    (slice(70, 100), slice(33, 53), 1.0),
    (slice(92, 125), slice(48, 65), -3.0),
)


def planted(seed, blocks=BLOCKS, shape=(160, 90), noise=0.3, background=1.0, effects=0.0):
    """Draw coherent blocks in a noisy matrix; cells of two blocks have the mean of both levels."""
    rng = np.random.default_rng(seed)
    U, V = (np.zeros((size, len(blocks)), dtype=bool) for size in shape)
    level, times = np.zeros(shape), np.zeros(shape)
    for c, (rows, columns, value) in enumerate(blocks):
        U[rows, c] = V[columns, c] = True
        pattern = effects * np.add.outer(rng.normal(size=shape[0]), rng.normal(size=shape[1]))
        level[rows, columns] += (value + pattern)[rows, columns]
        times[rows, columns] += 1
    X = background * rng.normal(size=shape)
    inside = times > 0
    X[inside] = level[inside] / times[inside] + noise * rng.normal(size=inside.sum())
    order, column_order = rng.permutation(shape[0]), rng.permutation(shape[1])
    return X[order][:, column_order], U[order], V[column_order]


def make_model(**options):
    return ROCC(**{"n_coclusters": 4, "random_state": 0, "n_init": 5, **options})


def both_sides(model, U, V):
    return [matched_f1(U, model.row_membership_), matched_f1(V, model.column_membership_)]


# ------------------------------------------------------------------------------------- recovery


@pytest.mark.parametrize("seed", range(4))
def test_planted_coclusters_with_outliers_are_found(seed):
    X, U, V = planted(seed)
    model = ROCC(4, row_outliers=0.2, column_outliers=0.25, random_state=seed).fit(X)
    scores = both_sides(model, U, V)
    assert min(scores) >= 0.9
    assert model.row_outliers_[~U.any(axis=1)].mean() >= 0.8
    # MSSR may choose between as many clusters and one more for the rest.
    for k in (4, 5):
        rival = MSSR(k, k, n_init=3, random_state=seed).fit(X)
        labels = (rival.row_labels_, rival.column_labels_)
        rival_scores = [
            matched_f1(true, np.eye(k)[found]) for true, found in zip((U, V), labels, strict=True)
        ]
        assert sum(scores) > sum(rival_scores)


@pytest.mark.parametrize("seed", range(3))
def test_the_number_of_coclusters_is_found(seed):
    X, U, V = planted(seed)
    grid = {"n_row_clusters": 8, "n_column_clusters": 8}
    model = make_model(n_coclusters=None, n_init=10, **grid).fit(X)
    assert model.n_coclusters_ == 4
    assert min(both_sides(model, U, V)) >= 0.9


@pytest.mark.parametrize("seed", range(3))
def test_patterns_of_rows_and_columns_are_found_by_the_residue(seed):
    blocks = (
        (slice(0, 45), slice(0, 30), 0.0),
        (slice(30, 75), slice(30, 55), 0.0),
        (slice(75, 110), slice(45, 75), 0.0),
    )
    X, U, V = planted(seed, blocks, effects=2.0, noise=0.2)
    model = make_model(n_coclusters=3, objective="residue", n_init=10).fit(X)
    assert min(both_sides(model, U, V)) >= 0.9
    blind = make_model(n_coclusters=3, n_init=10).fit(X)
    assert sum(both_sides(blind, U, V)) < sum(both_sides(model, U, V))


@pytest.mark.parametrize("options", [{"refine": True}, {"init": "random"}, {"init": "spectral"}])
def test_other_ways_to_the_grid_find_them_too(options):
    X, U, V = planted(2)
    assert min(both_sides(make_model(n_init=10, **options).fit(X), U, V)) >= 0.9


def test_the_last_step_only_adds():
    X, *_ = planted(1)
    plain = make_model(expand=None).fit(X)
    fuller = make_model(expand=2.0).fit(X)
    pairs = {tuple(r) + tuple(c) for r, c in zip(plain.rows_, plain.columns_, strict=True)}
    assert len(pairs) == 4
    for rows, columns in zip(plain.rows_, plain.columns_, strict=True):
        assert any(
            (rows <= r).all() and (columns <= c).all()
            for r, c in zip(fuller.rows_, fuller.columns_, strict=True)
        )
    assert fuller.row_membership_.sum() > plain.row_membership_.sum()


def test_the_transpose_has_the_same_coclusters():
    X, *_ = planted(2)
    model, turned = make_model(n_init=10).fit(X), make_model(n_init=10).fit(X.T)
    scores = [
        matched_f1(model.row_membership_, turned.column_membership_),
        matched_f1(model.column_membership_, turned.row_membership_),
    ]
    assert min(scores) >= 0.95


def test_scale_and_offset_of_the_data_do_not_matter():
    X, *_ = planted(3)
    model, other = make_model().fit(X), make_model().fit(-7.0 * X + 100.0)
    np.testing.assert_array_equal(model.row_membership_, other.row_membership_)
    np.testing.assert_array_equal(model.column_membership_, other.column_membership_)
    assert other.objective_ == pytest.approx(49 * model.objective_)
    np.testing.assert_allclose(other.means_, -7.0 * model.means_ + 100.0)


# ----------------------------------------------------------------------------------- attributes


@pytest.mark.parametrize("objective", ["mean", "residue"])
def test_attributes_describe_the_coclusters(objective):
    X, *_ = planted(0)
    model = make_model(objective=objective).fit(X)
    U, V = model.row_membership_, model.column_membership_
    assert U.shape == (160, 4)
    assert V.shape == (90, 4)
    assert U.dtype == V.dtype == bool
    assert model.n_coclusters_ == 4
    sizes = U.sum(axis=0) * V.sum(axis=0)
    assert (np.diff(sizes) <= 0).all()
    np.testing.assert_array_equal(model.row_outliers_, ~U.any(axis=1))
    np.testing.assert_array_equal(model.column_outliers_, ~V.any(axis=1))
    errors = [
        oracle.objective(X, u[:, None], v[:, None], objective)
        for u, v in zip(U.T, V.T, strict=True)
    ]
    np.testing.assert_allclose(model.errors_, errors / sizes, rtol=1e-9)
    assert model.objective_ == pytest.approx(sum(errors))
    np.testing.assert_allclose(
        model.means_, [X[np.ix_(u, v)].mean() for u, v in zip(U.T, V.T, strict=True)]
    )


def test_coclusters_in_the_form_of_scikit_learn():
    X, *_ = planted(0)
    model = make_model().fit(X)
    rows, columns = model.biclusters_
    np.testing.assert_array_equal(rows, model.row_membership_.T)
    np.testing.assert_array_equal(columns, model.column_membership_.T)
    assert model.get_submatrix(1, X).shape == model.get_shape(1)
    assert model.get_shape(1) == (rows[1].sum(), columns[1].sum())


def test_attributes_describe_the_grid():
    X, *_ = planted(0)
    model = make_model(row_outliers=0.2, column_outliers=0.25, n_row_clusters=7).fit(X)
    assert (model.grid_row_labels_ == -1).sum() == 32
    assert (model.grid_column_labels_ == -1).sum() == 23  # 22.5, away from zero
    assert model.grid_errors_.shape == (7, 8)
    rows, columns = model.grid_row_labels_ == 2, model.grid_column_labels_ == 3
    literal = oracle.objective(X, rows[:, None], columns[:, None], "mean")
    assert model.grid_errors_[2, 3] == pytest.approx(literal / (rows.sum() * columns.sum() - 1))
    grid = [
        labels[:, None] == np.arange(k)
        for labels, k in ((model.grid_row_labels_, 7), (model.grid_column_labels_, 8))
    ]
    assert np.diff(model.history_).max() <= 1e-9 * oracle.energy(X, *grid)
    assert model.history_[-1] == pytest.approx(oracle.objective(X, *grid, "mean"))
    n_kept = (model.grid_errors_ <= model.error_cutoff_).sum()
    assert len(model.merge_distances_) == n_kept - 4


def test_an_unfitted_model_has_no_coclusters():
    for name in ("rows_", "columns_", "biclusters_"):
        with pytest.raises(NotFittedError):
            getattr(ROCC(), name)


# ---------------------------------------------------------------------------------------- input


@pytest.mark.parametrize("objective", ["mean", "residue"])
def test_sparse_data_give_what_dense_data_give(objective):
    X, *_ = planted(4, background=0.0)
    X[np.abs(X) < 0.2] = 0.0
    assert (X == 0).mean() > 0.3
    # Without a gap in exact zeros, the cut-off is given.
    options = {"objective": objective, "error_cutoff": 0.5, "init": "random"}
    dense = make_model(**options).fit(X)
    for form in (sparse.csr_array, sparse.csc_matrix, sparse.coo_array):
        stored = make_model(**options).fit(form(X))
        np.testing.assert_array_equal(stored.row_membership_, dense.row_membership_)
        np.testing.assert_array_equal(stored.column_membership_, dense.column_membership_)
        assert stored.objective_ == pytest.approx(dense.objective_)
        np.testing.assert_allclose(stored.transform(form(X)), dense.transform(X), atol=1e-9)


def test_sparse_data_stay_sparse(monkeypatch):
    rng = np.random.default_rng(0)
    X = sparse.csr_array(rng.normal(size=(400, 300)) * (rng.random((400, 300)) < 0.02))

    def refuse(*_, **__):
        raise AssertionError("made dense")

    monkeypatch.setattr(sparse.csr_array, "toarray", refuse)
    monkeypatch.setattr(sparse.csr_array, "todense", refuse)
    assert make_model(n_coclusters=2, n_init=1, init="random").fit(X).n_coclusters_ == 2


@pytest.mark.parametrize("objective", ["mean", "residue"])
def test_the_result_does_not_depend_on_threads_or_kernels(objective):
    X, *_ = planted(5)
    first = make_model(objective=objective, n_jobs=1).fit(X)
    for options in ({"n_jobs": 2}, {"n_jobs": 3}):
        other = make_model(objective=objective, **options).fit(X)
        np.testing.assert_array_equal(other.row_membership_, first.row_membership_)
        assert other.objective_ == first.objective_
        np.testing.assert_array_equal(other.history_, first.history_)


def test_small_matrices_have_coclusters():
    for X in ([[1.0]], [[1.0, 2.0]], [[1.0], [2.0]], np.zeros((5, 4)), np.eye(3)):
        for objective in ("mean", "residue"):
            model = ROCC(objective=objective, random_state=0).fit(X)
            assert model.n_coclusters_ >= 1
            assert model.row_membership_.any(axis=0).all()
            assert model.column_membership_.any(axis=0).all()


def test_a_constant_matrix_is_one_cocluster():
    model = ROCC(random_state=0).fit(np.full((20, 10), 0.1))
    assert model.n_coclusters_ == 1
    assert not model.row_outliers_.any()
    assert not model.column_outliers_.any()
    assert model.objective_ == 0


# --------------------------------------------------------------------------------------- errors


def test_more_coclusters_than_blocks_are_refused():
    with pytest.raises(ValueError, match=r"n_coclusters=7 is more than the 2 x 3 blocks"):
        ROCC(7, n_row_clusters=2, n_column_clusters=3).fit(np.eye(10))


def test_more_clusters_than_rows_are_refused():
    with pytest.raises(ValueError, match=r"n_row_clusters=11 is more than the number of rows"):
        ROCC(n_row_clusters=11).fit(np.eye(10))


def test_a_cutoff_below_every_block_is_refused():
    X, *_ = planted(0)
    with pytest.raises(ValueError, match=r"error_cutoff=1e-08; the smallest error is"):
        make_model(error_cutoff=1e-8).fit(X)


def test_fewer_coclusters_than_asked_for_give_a_warning():
    X, *_ = planted(0)
    with pytest.warns(FewerCoclustersWarning, match=r"not n_coclusters=6: only \d blocks"):
        model = make_model(n_coclusters=6, error_cutoff=0.09, n_row_clusters=4).fit(X)
    assert model.n_coclusters_ < 6


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_coclusters", 0),
        ("row_outliers", 1.0),
        ("column_outliers", -0.1),
        ("error_cutoff", -1.0),
        ("decay", 1.0),
        ("expand", -1.0),
        ("init", "sdp"),
        ("objective", "kmeans"),
    ],
)
def test_bad_parameters_are_refused_by_name(name, value):
    with pytest.raises(ValueError, match=f"'{name}' parameter of ROCC"):
        ROCC(**{name: value}).fit(np.eye(4))


# ------------------------------------------------------------------------------------- new rows


@pytest.mark.parametrize("objective", ["mean", "residue"])
def test_rows_are_compared_with_coclusters(objective):
    X, *_ = planted(6)
    model = make_model(objective=objective).fit(X)
    new = np.random.default_rng(1).normal(size=(30, X.shape[1]))
    for rows in (X, new):
        found = model.transform(rows)
        for c, (u, v) in enumerate(zip(model.rows_, model.columns_, strict=True)):
            block, some = X[np.ix_(u, v)], rows[:, v]
            residue = some - block.mean()
            if objective == "residue":
                own = some.mean(axis=1, keepdims=True)
                residue = some - block.mean(axis=0) - own + block.mean()
            np.testing.assert_allclose(found[:, c], np.square(residue).mean(axis=1), rtol=1e-8)


def test_rows_are_predicted_by_the_rule_of_the_last_step():
    X, U, _ = planted(2)
    for expand in (None, 0.0, 2.0):
        model = make_model(expand=expand).fit(X)
        widths = model.column_membership_.sum(axis=0)
        limits = model.errors_ * (1 + (expand or 0.0) * np.sqrt(2 / widths))
        np.testing.assert_array_equal(model.predict_membership(X), model.transform(X) <= limits)
    assert matched_f1(U, model.predict_membership(X)) >= 0.9


def test_labels_are_the_best_of_the_coclusters_of_a_row():
    X, *_ = planted(6)
    model = make_model()
    labels = model.fit_predict(X)
    np.testing.assert_array_equal(labels == -1, model.row_outliers_)
    inside = np.flatnonzero(labels >= 0)
    assert model.row_membership_[inside, labels[inside]].all()
    predicted = model.predict(X)
    members = model.predict_membership(X)
    np.testing.assert_array_equal(predicted == -1, ~members.any(axis=1))
    both = np.flatnonzero(members.sum(axis=1) > 1)
    errors = np.where(members, model.transform(X), np.inf)
    np.testing.assert_array_equal(predicted[both], errors[both].argmin(axis=1))


def test_output_columns_have_names():
    X, *_ = planted(6)
    model = make_model().fit(X)
    assert list(model.get_feature_names_out()) == ["rocc0", "rocc1", "rocc2", "rocc3"]


# ------------------------------------------------------------------------------------- progress


def test_starts_and_merging_are_logged(caplog):
    X, *_ = planted(0)
    with caplog.at_level(logging.INFO, logger="neocc"):
        make_model(n_init=2, verbose=1).fit(X)
    assert [text.split(":")[0] for text in caplog.messages[:2]] == ["start 1/2", "start 2/2"]
    assert "merged into 4 co-clusters" in caplog.messages[-1]


def test_an_interrupted_fit_keeps_the_best_grid_so_far(monkeypatch):
    from neocc.rivals.rocc import estimator

    X, *_ = planted(0)
    finished = []

    def interrupted(*arguments):
        if len(finished) == 2:
            raise KeyboardInterrupt
        finished.append(original(*arguments))
        return finished[-1]

    original = estimator.pressurise
    monkeypatch.setattr(estimator, "pressurise", interrupted)
    model = make_model(n_init=5)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X)
    monkeypatch.undo()
    best = min(finished, key=lambda solution: solution.objective)
    assert model.history_[-1] == best.objective
    assert model.n_coclusters_ == 4
