"""Rows and columns that count as several: fits are those of repeated ones."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest
from scipy import sparse

from neocc import MSSR, NEOCC, NEOKMeans, objective_value
from neocc.core.overlap import OVERLAP_MODELS
from neocc.io import Checkpoint, CheckpointError, load_model, save_model

N, M, K = 24, 15, 3
SQUARES = {"mean": tuple(OVERLAP_MODELS), "residue": ("repeat", "share", "average")}
RATES = {"poisson": ("repeat", "share", "average")}
RATES |= dict.fromkeys(("diagonal", "modularity"), ("repeat", "share"))
OBJECTIVES = [*SQUARES, *RATES]


def data(objective, seed=0, n=N, m=M):
    """Blocks with noise, of counts where the objective asks for them."""
    rng = np.random.default_rng(seed)
    levels = 6.0 * np.eye(K) + rng.random((K, K))
    means = levels[np.arange(n) % K][:, np.arange(m) % K]
    if objective in RATES:
        return rng.poisson(means + 1.0).astype(float)
    return means + rng.normal(size=(n, m))


def weights(seed=0):
    rng = np.random.default_rng(seed)
    return rng.integers(1, 4, size=N), rng.integers(1, 4, size=M)


def repeat(X, a, b):
    return np.repeat(np.repeat(X, a, axis=0), b, axis=1)


def start(seed=1):
    """Planted clusters with a third of the items elsewhere: no cluster becomes empty on the way."""
    rng = np.random.default_rng(seed)
    sides = []
    for n in (N, M):
        labels = np.arange(n) % K
        some = rng.permutation(n)[: n // 3]
        labels[some] = rng.integers(K, size=len(some))
        sides.append(np.eye(K, dtype=bool)[labels])
    return tuple(sides)


def given(objective, **more):
    options = {"objective": objective, "refine": False, **more}
    if objective == "observed":
        options |= {"objective": "mean", "missing": "ignore"}
        options |= {"remove_effects": True, "shrinkage": 2.0}
    return options


def cells(X):
    """Two thirds of the cells were observed."""
    seen = np.random.default_rng(5).random(X.shape) < 0.67
    return np.where(seen, X, np.nan)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("objective", [*OBJECTIVES, "observed"])
def test_weights_are_repeated_rows_and_columns(objective, kind):
    """Without overlap and outliers every copy goes where the item does."""
    (a, b), (U, V) = weights(), start()
    X = data(objective)
    X = cells(X) if objective == "observed" else X
    copies = repeat(X, a, b)
    if kind == "sparse" and objective != "observed":
        X, copies = sparse.csr_array(X), sparse.csr_array(copies)
    one = NEOCC(K, K, init=(U, V), **given(objective))
    one.fit(X, row_weight=a, column_weight=b)
    of_copies = (np.repeat(U, a, axis=0), np.repeat(V, b, axis=0))
    many = NEOCC(K, K, init=of_copies, **given(objective)).fit(copies)
    assert (np.repeat(one.row_membership_, a, axis=0) == many.row_membership_).all()
    assert (np.repeat(one.column_membership_, b, axis=0) == many.column_membership_).all()
    assert one.objective_ == pytest.approx(many.objective_, rel=1e-10)
    np.testing.assert_allclose(one.history_, many.history_, rtol=1e-10)
    np.testing.assert_allclose(one.block_means_, many.block_means_, rtol=1e-9)
    assert one.n_iter_ > 1
    # New rows count as one, over columns that count as they did.
    new = data(objective, seed=7)
    new = cells(new) if objective == "observed" else new
    found = one.predict_membership(new)
    assert (found == many.predict_membership(np.repeat(new, b, axis=1))).all()
    np.testing.assert_allclose(
        one.transform(new), many.transform(np.repeat(new, b, axis=1)), rtol=1e-8
    )
    if objective == "observed":
        np.testing.assert_allclose(np.repeat(one.row_effects_, a), many.row_effects_, rtol=1e-9)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_objective_value_is_that_of_repeated_rows_and_columns(objective):
    X, (a, b) = data(objective), weights()
    rng = np.random.default_rng(3)
    for model in (SQUARES | RATES)[objective]:
        U, V = start()
        U[::5] |= np.roll(U, 1, axis=1)[::5]
        if model != "either":
            V[::4] |= np.roll(V, 1, axis=1)[::4]
        U[rng.integers(N)] = False
        copies = repeat(X, a, b), np.repeat(U, a, axis=0), np.repeat(V, b, axis=0)
        for cost in ("zero", "background") if objective == "mean" else ("auto",):
            options = (objective, model, cost)
            one = objective_value(X, U, V, *options, row_weight=a, column_weight=b)
            assert one == pytest.approx(objective_value(*copies, *options), rel=1e-10)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_fits_with_overlap_and_outliers_end_at_their_objective(objective):
    X, (a, b) = data(objective), weights()
    for model in (SQUARES | RATES)[objective]:
        options = {"row_overlap": 0.2, "row_outliers": 0.05, "overlap_model": model}
        options |= {} if model == "either" else {"column_overlap": 0.2}
        fit = NEOCC(K, K, objective=objective, n_init=1, random_state=0, **options)
        fit.fit(X, row_weight=a, column_weight=b)
        assert fit.row_membership_.sum() == N + round(0.2 * N)
        assert np.diff(fit.history_).max() <= 1e-9 * abs(fit.history_[0])
        if model != "either":
            U, V = fit.row_membership_, fit.column_membership_
            copies = repeat(X, a, b), np.repeat(U, a, axis=0), np.repeat(V, b, axis=0)
            value = objective_value(*copies, objective, model)
            assert fit.objective_ == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize("model", ["repeat", "average"])
def test_costs_relative_to_a_background_end_at_their_objective(model):
    X, (a, b) = data("mean") - 2.0, weights()
    options = {"outlier_cost": "background", "overlap_model": model, "row_outliers": 0.1}
    fit = NEOCC(K, K, column_outliers=0.1, n_init=2, random_state=0, **options)
    fit.fit(X, row_weight=a, column_weight=b)
    U, V = fit.row_membership_, fit.column_membership_
    copies = repeat(X, a, b), np.repeat(U, a, axis=0), np.repeat(V, b, axis=0)
    value = objective_value(*copies, "mean", model, "background")
    assert fit.history_[-1] == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize("objective", [*OBJECTIVES, "observed"])
def test_weights_of_one_change_nothing(objective):
    X = cells(data(objective)) if objective == "observed" else data(objective)
    options = given(objective, n_init=2, row_overlap=0.2, random_state=0)
    plain = NEOCC(K, K, **options).fit(X)
    ones = NEOCC(K, K, **options).fit(X, row_weight=np.ones(N), column_weight=[1] * M)
    assert (plain.history_ == ones.history_).all()
    assert (plain.row_membership_ == ones.row_membership_).all()


def test_real_weights_of_observed_cells_are_products():
    X, rng = cells(data("mean")), np.random.default_rng(0)
    a, b, W = rng.random(N) + 0.5, rng.random(M) + 0.5, rng.random((N, M)) + 0.5
    options = {"missing": "ignore", "shrinkage": 1.0, "random_state": 0, "n_init": 2}
    one = NEOCC(K, K, **options).fit(X, cell_weight=W, row_weight=a, column_weight=b)
    other = NEOCC(K, K, **options).fit(X, cell_weight=W * a[:, None] * b)
    assert (one.row_membership_ == other.row_membership_).all()
    np.testing.assert_allclose(one.history_, other.history_, rtol=1e-10)


def test_who_is_left_out_depends_on_the_weight():
    x = np.append(np.linspace(-0.1, 0.1, 20), [4.0, 3.0])[:, None]
    a = np.append(np.full(20, 10.0), [1.0, 10.0])
    options = {"outliers": 1 / 22, "overlap": -1 / 22, "random_state": 0}
    assert NEOKMeans(1, **options).fit(x).outliers_.nonzero()[0] == 20
    assert NEOKMeans(1, **options).fit(x, row_weight=a).outliers_.nonzero()[0] == 21


def test_neo_kmeans_has_weighted_centres():
    X, (a, _) = data("mean"), weights()
    U = start()[0]
    for model in ("repeat", "share", "average", "sum"):
        one = NEOKMeans(K, init=U, overlap_model=model).fit(X, row_weight=a)
        many = NEOKMeans(K, init=np.repeat(U, a, axis=0), overlap_model=model)
        many.fit(np.repeat(X, a, axis=0))
        assert (np.repeat(one.membership_, a, axis=0) == many.membership_).all()
        assert one.objective_ == pytest.approx(many.objective_, rel=1e-10)
        np.testing.assert_allclose(one.cluster_centers_, many.cluster_centers_, rtol=1e-10)
    plain = NEOKMeans(K, overlap=0.2, outliers=0.1, random_state=0).fit(X, row_weight=a / 3)
    assert plain.membership_.sum() == N + round(0.2 * N)


@pytest.mark.parametrize("refine", [False, "chains", "thorough"])
def test_mssr_takes_weights(refine):
    X, (a, b) = data("residue"), weights()
    one = MSSR(K, K, objective="residue", refine=refine, n_init=2, random_state=0)
    one.fit(X, row_weight=a, column_weight=b)
    U, V = (np.eye(K, dtype=bool)[labels] for labels in (one.row_labels_, one.column_labels_))
    copies = repeat(X, a, b), np.repeat(U, a, axis=0), np.repeat(V, b, axis=0)
    assert one.objective_ == pytest.approx(objective_value(*copies, "residue"), rel=1e-9)


@pytest.mark.parametrize("init", ["random", "spectral", "sketch", "sdp", "neo-kmeans"])
def test_starts_of_all_kinds_take_weights(init):
    X, (a, b) = data("mean"), weights()
    options = {"row_overlap": 0.1, "row_outliers": 0.1, "overlap_model": "average"}
    fit = NEOCC(K, K, init=init, n_init=1, refine=False, random_state=0, **options)
    fit.fit(X, row_weight=a, column_weight=b)
    assert np.diff(fit.history_).max() <= 1e-9 * fit.history_[0]


def test_a_fit_with_other_weights_does_not_go_on_from_a_checkpoint(tmp_path):
    X, (a, _) = data("mean"), weights()
    checkpoint = Checkpoint(tmp_path / "fit.checkpoint", every=0)
    fit = NEOCC(K, K, n_init=3, refine=False, random_state=0, checkpoint=checkpoint)
    kept = []

    class StoppedError(Exception):
        pass

    def save(*state):
        kept.append(1)
        type(checkpoint).save(checkpoint, *state)
        if len(kept) == 2:
            raise StoppedError

    with mock.patch.object(checkpoint, "save", save), pytest.raises(StoppedError):
        fit.fit(X, row_weight=a)
    with pytest.raises(CheckpointError, match="row_weight"):
        fit.fit(X)
    whole = NEOCC(K, K, n_init=3, refine=False, random_state=0).fit(X, row_weight=a)
    assert (fit.fit(X, row_weight=a).history_ == whole.history_).all()


@pytest.mark.parametrize("model", ["repeat", "average"])
@pytest.mark.parametrize("objective", ["mean", "poisson", "observed"])
def test_models_with_weights_come_back_from_files(tmp_path, objective, model):
    (a, b), new = weights(), data(objective, seed=7)
    X = data(objective)
    X, new = (cells(each) if objective == "observed" else each for each in (X, new))
    options = given(objective, overlap_model=model, n_init=2, random_state=0)
    options |= {"row_overlap": 0.2, "column_overlap": 0.2}
    fit = NEOCC(K, K, **options).fit(X, row_weight=a, column_weight=b)
    save_model(fit, tmp_path / "model.neocc")
    again = load_model(tmp_path / "model.neocc")
    assert (again.transform(new) == fit.transform(new)).all()
    assert (again.predict_membership(new) == fit.predict_membership(new)).all()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (
            np.ones(N + 1),
            rf"must have a number for each of the {N} rows; got \({N + 1},\)",
        ),
        (
            np.zeros(N),
            r"row_weight must be positive, from 1e-100 to 1e\+100; found 0 at 0. Lea",
        ),
        (np.append(np.ones(N - 1), np.nan), f"found nan at {N - 1}"),
        (np.append(np.ones(N - 1), 1e300), "found 1e\\+300"),
        (["many"] * N, "row_weight must hold numbers"),
        ([[1.0]] + [1.0] * (N - 1), "row_weight must hold numbers"),
        (np.ones(N) * 1j, "row_weight must hold real numbers; got complex128"),
    ],
)
def test_wrong_weights_are_refused(wrong, message):
    X = data("mean")
    for model in (NEOCC(K, K), MSSR(K, K), NEOKMeans(K)):
        with pytest.raises(ValueError, match=message):
            model.fit(X, row_weight=wrong)
    with pytest.raises(ValueError, match=message):
        objective_value(X, *start(), row_weight=wrong)
    with pytest.raises(ValueError, match=r"column_weight .* for each of the 15 columns"):
        NEOCC(K, K).fit(X, column_weight=np.ones(3))
