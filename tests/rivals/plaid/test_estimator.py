"""InfinitePlaid: what it finds, what it reads, and how it behaves as an estimator."""

from __future__ import annotations

import logging
import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

from benchmarks.plaid.simulate import draw_clear_state
from neocc import InfinitePlaid
from neocc.metrics import matched_f1
from neocc.rivals.plaid import chain

QUICK = {"n_sweeps": 12, "burn_in": 4, "thin": 2, "n_moves": 2, "n_init": 2, "random_state": 0}


@pytest.fixture
def X():
    """Two sub-matrices of opposite effects that overlap, on a background of 1."""
    X = np.random.default_rng(0).normal(1.0, 1.0, size=(30, 20))
    X[:10, :8] += 5
    X[6:20, 5:15] -= 4
    return X


@pytest.fixture
def members():
    rows, columns = np.zeros((30, 2), dtype=bool), np.zeros((20, 2), dtype=bool)
    rows[6:20, 0] = columns[5:15, 0] = True  # the larger one comes first
    rows[:10, 1] = columns[:8, 1] = True
    return rows, columns


@pytest.mark.slow
@parametrize_with_checks([InfinitePlaid()])
def test_sklearn_check_of_defaults(estimator, check):
    check(estimator)


# ---------------------------------------------------------------------------------- the result


def test_attributes(X, members):
    model = InfinitePlaid(**QUICK).fit(X)
    np.testing.assert_array_equal(model.row_membership_, members[0])
    np.testing.assert_array_equal(model.column_membership_, members[1])
    np.testing.assert_array_equal(model.row_outliers_, ~members[0].any(axis=1))
    np.testing.assert_array_equal(model.column_outliers_, ~members[1].any(axis=1))
    assert model.n_submatrices_ == 2
    np.testing.assert_allclose(model.effects_, [-4, 5], atol=0.3)
    assert model.background_ == pytest.approx(1.0, abs=0.2)
    assert model.noise_precision_ == pytest.approx(1.0, abs=0.3)
    assert model.row_concentration_ > 0
    assert model.column_concentration_ > 0
    assert (model.support_ > 0.8).all()
    assert (model.n_iter_, model.n_kept_) == (12, 4)


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_labels_name_the_submatrix_that_alone_explains_most(X, missing):
    X[np.random.default_rng(1).random(X.shape) < missing] = np.nan
    model = InfinitePlaid(**QUICK).fit(X)

    def literal(X, members, others):
        labels = []
        for x, inside in zip(X, members, strict=True):
            errors = {
                k: np.nansum((x - model.background_ - model.effects_[k] * others[:, k]) ** 2)
                for k in np.flatnonzero(inside)
            }
            labels.append(min(errors, key=errors.get) if errors else -1)
        return labels

    U, V = model.row_membership_, model.column_membership_
    assert (U.sum(axis=1) > 1).any()
    np.testing.assert_array_equal(model.row_labels_, literal(X, U, V))
    np.testing.assert_array_equal(model.column_labels_, literal(X.T, V, U))


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_rows_get_the_memberships_of_highest_density(X, missing):
    model = InfinitePlaid(**QUICK).fit(X)
    rng = np.random.default_rng(2)
    new = np.vstack([X + rng.normal(size=X.shape), rng.normal(1.0, 1.0, size=(5, 20))])
    new[rng.random(new.shape) < missing] = np.nan
    new[0] = np.nan
    # Rows that tell next to nothing, so that the prior decides.
    halves = model.effects_ * model.column_membership_
    new[1:3] = model.background_ + 0.5005 * halves.T
    U, V, tau0 = model.row_membership_, model.column_membership_, model.noise_precision_
    odds = U.sum(axis=0) / (31 - U.sum(axis=0))
    sets = np.array([[False, False], [True, False], [False, True], [True, True]])
    errors = np.array([(new - model.background_ - V @ (model.effects_ * s)) ** 2 for s in sets])
    densities = -tau0 / 2 * np.nansum(errors, axis=2) + (sets @ np.log(odds))[:, None]
    best = densities.argmax(axis=0)
    assert set(best) == {0, 1, 2, 3}
    assert (best[:3] == 0).all()
    np.testing.assert_array_equal(model.predict_membership(new), sets[best])
    left = np.take_along_axis(errors, best[None, :, None], axis=0)
    log_likelihood = np.log(tau0 / (2 * np.pi)) / 2 - tau0 / 2 * np.nanmean(left)
    assert model.score(new) == pytest.approx(log_likelihood)
    np.testing.assert_allclose(model.transform(new), np.nansum(errors[1:3], axis=2).T)
    np.testing.assert_array_equal(model.predict(X), model.row_labels_)
    np.testing.assert_array_equal(model.predict(new) == -1, best == 0)


def test_tables_of_both_sides(X, members):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, index=[f"r{i}" for i in range(30)]).add_prefix("c")
    model = InfinitePlaid(**QUICK).fit(frame)
    rows, columns = model.row_table(frame), model.column_table(frame)
    for table, side, letter, inside in ((rows, "r", "R", 0), (columns, "c", "C", 1)):
        for k in range(2):
            found = table.name[table.group == f"{letter}{k + 1}"]
            assert found.tolist() == [f"{side}{i}" for i in np.flatnonzero(members[inside][:, k])]
        assert table.group.isna().sum() == (~members[inside].any(axis=1)).sum()
    assert rows.distance[0] == pytest.approx(model.transform(frame)[0, 1])  # row 0 is in R2 alone
    error = X[:, 0] - model.background_ - model.effects_[1] * members[0][:, 1]
    assert columns.distance[0] == pytest.approx((error**2).sum())
    with pytest.raises(ValueError, match="needs the data of the fit"):
        model.column_table(frame[:3])


def test_rows_where_nothing_was_found():
    pytest.importorskip("pandas")
    X = np.random.default_rng(0).normal(size=(12, 8))
    model = InfinitePlaid(**QUICK).fit(X)
    assert model.n_submatrices_ == 0
    assert model.transform(X).shape == model.predict_membership(X).shape == (12, 0)
    assert (model.predict(X) == -1).all()
    assert model.row_table(X).group.isna().all()
    assert np.isfinite(model.score(X))


def test_scikit_learns_view(X, members):
    model = InfinitePlaid(**QUICK).fit(X)
    np.testing.assert_array_equal(model.rows_, members[0].T)
    np.testing.assert_array_equal(model.columns_, members[1].T)
    assert model.get_shape(0) == (14, 10)
    np.testing.assert_array_equal(model.get_submatrix(1, X), X[:10, :8])


def test_history(X):
    history = InfinitePlaid(**QUICK).fit(X).history_
    assert set(history) == {
        "log_likelihood",
        "n_submatrices",
        "noise_precision",
        "row_concentration",
        "column_concentration",
    }
    assert all(len(values) == 12 for values in history.values())
    assert (history["n_submatrices"] >= 2).all()
    # 600 normal numbers of variance 1.
    expected = -300 * (np.log(2 * np.pi) + 1)
    np.testing.assert_allclose(history["log_likelihood"], expected, rtol=0.1)
    np.testing.assert_allclose(history["noise_precision"], 1.0, atol=0.3)


def test_comemberships(X):
    model = InfinitePlaid(**QUICK).fit(X)
    for side, n in (("row", 30), ("column", 20)):
        together = getattr(model, f"{side}_comembership_")
        assert together.shape == (n, n)
        np.testing.assert_array_equal(together, together.T)
        assert together.min() >= 0
        assert together.max() <= 1
    rows = model.row_comembership_
    assert rows[0, 5] > 0.9  # both in one sub-matrix
    assert rows[7, 19] > 0.9  # 7 is in both
    assert rows[0, 19] < 0.5  # in one each
    np.testing.assert_array_equal(model.comembership("rows", [3, -1]), rows[[3, -1]])


class SmallTables(InfinitePlaid):
    _largest_table = 25


def test_comemberships_of_many_items_are_given_for_some(X):
    model = SmallTables(**QUICK).fit(X)
    assert model.column_comembership_.shape == (20, 20)
    with pytest.raises(ValueError, match=r"30 x 30.*comembership\(\"rows\", items"):
        model.comembership("rows")
    assert model.comembership("rows", items=[1, 2]).shape == (2, 30)
    with pytest.raises(ValueError, match='side must be "rows" or "columns"'):
        model.comembership("row")


def test_without_kept_sweeps(X):
    model = InfinitePlaid(**{**QUICK, "burn_in": 50}).fit(X)
    assert model.n_kept_ == 0
    assert model.n_submatrices_ >= 2
    np.testing.assert_array_equal(model.support_, 0)
    np.testing.assert_array_equal(model.row_comembership_, 0)


def test_the_last_sample_can_be_had_as_it_is(X):
    raw = InfinitePlaid(**QUICK, clean_up=False).fit(X)
    clean = InfinitePlaid(**QUICK).fit(X)
    assert raw.n_submatrices_ == raw.history_["n_submatrices"][-1]
    for name, values in raw.history_.items():
        np.testing.assert_array_equal(values, clean.history_[name])


def test_an_empty_start_finds_them_too(X, members):
    model = InfinitePlaid(**{**QUICK, "n_sweeps": 60, "burn_in": 30, "init": "empty"}).fit(X)
    assert model.history_["n_submatrices"][0] <= 3
    assert matched_f1(members[0], model.row_membership_) > 0.9


def test_largest_number(X):
    model = InfinitePlaid(**QUICK, max_submatrices=1, clean_up=False).fit(X)
    assert model.history_["n_submatrices"].max() == 1


def test_given_parameters_are_in_units_of_the_data(X):
    given = {
        "row_concentration": 0.5,
        "column_concentration": 2.0,
        "noise_precision": 0.8,
        "effect_mean": 1.0,
        "effect_precision": 0.05,
        "background_mean": 1.0,
        "background_precision": 1e6,
    }
    model = InfinitePlaid(**QUICK, **given).fit(X)
    assert model.row_concentration_ == 0.5
    assert model.column_concentration_ == 2.0
    assert model.noise_precision_ == pytest.approx(0.8)
    assert model.background_ == pytest.approx(1.0, abs=0.01)
    assert model.n_submatrices_ == 2


def test_noise_alone():
    X = np.random.default_rng(0).normal(size=(25, 15))
    model = InfinitePlaid(**QUICK).fit(X)
    assert model.n_submatrices_ == 0
    assert model.row_membership_.shape == (25, 0)
    assert model.effects_.shape == (0,)
    assert model.row_outliers_.all()
    assert (model.row_labels_ == -1).all()
    assert (model.column_labels_ == -1).all()


@pytest.mark.parametrize("value", [0.0, 0.1, -3e5])
def test_constant_data(value):
    model = InfinitePlaid(**QUICK).fit(np.full((6, 4), value))
    assert model.n_submatrices_ == 0
    assert np.isfinite(model.history_["log_likelihood"]).all()


@pytest.mark.parametrize("shape", [(1, 1), (1, 8), (8, 1), (2, 2)])
def test_tiny_data(shape):
    X = np.random.default_rng(0).normal(size=shape)
    model = InfinitePlaid(**QUICK).fit(X)
    assert model.row_membership_.shape == (shape[0], model.n_submatrices_)


def test_the_unit_of_the_data_does_not_matter(X):
    # A power of two rescales without rounding: the chain is the same to the last bit.
    model, scaled = InfinitePlaid(**QUICK).fit(X), InfinitePlaid(**QUICK).fit(1024 * X)
    np.testing.assert_array_equal(model.row_membership_, scaled.row_membership_)
    np.testing.assert_allclose(1024 * model.effects_, scaled.effects_)
    np.testing.assert_allclose(1024 * model.background_, scaled.background_)
    np.testing.assert_allclose(model.noise_precision_, scaled.noise_precision_ * 1024**2)
    shift = X.size * np.log(1024)
    np.testing.assert_allclose(
        model.history_["log_likelihood"] - shift, scaled.history_["log_likelihood"]
    )


def test_without_standardizing(X):
    model = InfinitePlaid(**QUICK, standardize=False).fit(X)
    assert model.n_submatrices_ == 2
    assert model.background_ == pytest.approx(1.0, abs=0.2)


# ----------------------------------------------------------------------------------- the input


def test_missing_entries(X, members):
    mask = np.random.default_rng(1).random(X.shape) < 0.2
    holes = np.where(mask, np.nan, X)
    model = InfinitePlaid(**QUICK).fit(holes)
    assert matched_f1(members[0], model.row_membership_) > 0.9
    # Whatever lies behind a mask is not looked at.
    masked = InfinitePlaid(**QUICK).fit(np.where(mask, 1e6, X), mask=mask)
    part_by_part = InfinitePlaid(**QUICK).fit(
        np.where(mask & (X > 0), np.nan, X), mask=sparse.csr_array(mask & (X <= 0))
    )
    numbers = InfinitePlaid(**QUICK).fit(X, mask=mask.astype(int).tolist())
    for other in (masked, part_by_part, numbers):
        for name, values in model.history_.items():
            np.testing.assert_array_equal(values, other.history_[name])


def test_rows_and_columns_without_any_entry(X):
    X[3] = np.nan
    X[:, 2] = np.nan
    model = InfinitePlaid(**QUICK).fit(X)
    assert np.isfinite(model.history_["log_likelihood"]).all()


def test_sparse_data_are_made_dense(X):
    X = np.where(np.abs(X) < 2, 0.0, X)
    dense = InfinitePlaid(**QUICK).fit(X)
    for kind in (sparse.csr_array, sparse.csc_matrix, sparse.coo_array):
        model = InfinitePlaid(**QUICK).fit(kind(X))
        np.testing.assert_array_equal(dense.row_membership_, model.row_membership_)
        np.testing.assert_array_equal(
            dense.history_["log_likelihood"], model.history_["log_likelihood"]
        )


def test_large_sparse_data_are_refused_with_the_size_they_need():
    X = sparse.csr_array((1_000_000, 50_000))
    with pytest.raises(ValueError, match=r"50,000,000,000 entries.*400 GB.*dense_limit"):
        InfinitePlaid().fit(X)
    with pytest.raises(ValueError, match="dense_limit allows 10 entries"):
        InfinitePlaid(dense_limit=10).fit(sparse.eye_array(4))


def test_data_frames_keep_their_names(X):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=[f"c{j}" for j in range(20)])
    frame.iloc[0, 0] = None
    model = InfinitePlaid(**QUICK).fit(frame)
    assert list(model.feature_names_in_[:2]) == ["c0", "c1"]


def test_float32_and_integers(X):
    single = InfinitePlaid(**QUICK).fit(X.astype(np.float32))
    assert single.n_submatrices_ == 2
    whole = InfinitePlaid(**QUICK).fit(np.round(10 * X).astype(np.int16))
    assert whole.n_submatrices_ == 2


def test_the_data_are_not_changed(X):
    X[0, 0] = np.nan
    before = X.copy()
    InfinitePlaid(**QUICK).fit(X)
    np.testing.assert_array_equal(X, before)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X": np.full((3, 3), np.nan)}, "no observed entry: all 9"),
        ({"mask": np.ones((30, 20), dtype=bool)}, "no observed entry"),
        ({"mask": np.ones((30, 19), dtype=bool)}, r"shape of X, \(30, 20\); got \(30, 19\)"),
        ({"mask": np.full((30, 20), 0.5)}, "mask must hold booleans"),
        ({"mask": np.full((30, 20), "x")}, "mask must hold booleans"),
        ({"X": np.full((3, 3), np.inf)}, "infinity"),
        ({"X": [["a", "b"]]}, "could not convert string"),
    ],
)
def test_bad_input(X, change, message):
    given = {"X": X, **change}
    with pytest.raises(ValueError, match=message):
        InfinitePlaid(**QUICK).fit(given.pop("X"), **given)


@pytest.mark.parametrize(
    "parameters",
    [
        {"n_sweeps": 0},
        {"burn_in": -1},
        {"thin": 0},
        {"n_moves": -1},
        {"max_submatrices": 0},
        {"init": "random"},
        {"noise_precision": 0.0},
        {"row_concentration": -1.0},
        {"dense_limit": 0},
    ],
)
def test_bad_parameters(X, parameters):
    with pytest.raises(ValueError, match=next(iter(parameters))):
        InfinitePlaid(**parameters).fit(X)


# --------------------------------------------------------------------------------- the manners


def test_the_same_seed_gives_the_same_chain(X):
    one, two = InfinitePlaid(**QUICK).fit(X), InfinitePlaid(**QUICK).fit(X)
    np.testing.assert_array_equal(one.history_["log_likelihood"], two.history_["log_likelihood"])
    other = InfinitePlaid(**{**QUICK, "random_state": 1}).fit(X)
    assert (one.history_["log_likelihood"] != other.history_["log_likelihood"]).any()


def test_both_kernels_find_the_same(X):
    models = [InfinitePlaid(**QUICK, kernel=kernel).fit(X) for kernel in ("numpy", "numba")]
    np.testing.assert_array_equal(models[0].row_membership_, models[1].row_membership_)
    np.testing.assert_allclose(
        models[0].history_["log_likelihood"], models[1].history_["log_likelihood"]
    )


def test_a_small_fit_compiles_nothing():
    code = (
        "import sys, numpy as np\n"
        "from neocc import InfinitePlaid\n"
        "X = np.random.default_rng(0).normal(size=(20, 10))\n"
        "InfinitePlaid(n_sweeps=5, n_init=1).fit(X).row_comembership_\n"
        "assert not {'numba', 'llvmlite'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


class Recorder:
    """A callback that counts, and stops or interrupts at a sweep."""

    def __init__(self, stop_at=None, fail_at=None):
        self.stop_at, self.fail_at = stop_at, fail_at
        self.begun, self.ended = [], []

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        self.begun.append(context.task_name)
        if (context.task_name, context.task_id) == ("sweep", self.fail_at):
            raise KeyboardInterrupt

    def on_fit_task_end(self, estimator, context):
        self.ended.append(context.task_name)
        return (context.task_name, context.task_id) == ("sweep", self.stop_at)


@pytest.fixture
def callbacks():
    return pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9")


@pytest.mark.usefixtures("callbacks")
def test_callbacks_see_every_sweep(X):
    recorder = Recorder()
    watched = InfinitePlaid(**QUICK).set_callbacks(recorder).fit(X)
    assert recorder.begun == ["fit", *12 * ["sweep"]]
    assert recorder.ended == [*12 * ["sweep"], "fit"]
    plain = InfinitePlaid(**QUICK).fit(X)
    np.testing.assert_array_equal(
        plain.history_["log_likelihood"], watched.history_["log_likelihood"]
    )


@pytest.mark.usefixtures("callbacks")
def test_a_callback_can_stop_the_chain(X):
    model = InfinitePlaid(**QUICK).set_callbacks(Recorder(stop_at=4)).fit(X)
    assert model.n_iter_ == 5
    shorter = InfinitePlaid(**{**QUICK, "n_sweeps": 5}).fit(X)
    np.testing.assert_array_equal(model.row_membership_, shorter.row_membership_)


def interrupt_at(monkeypatch, number):
    """Interrupt in the middle of a sweep, with the state half changed."""
    right, made = chain.sweep, []

    def sweep(state, *rest):
        if len(made) == number:
            state.remove(0)
            raise KeyboardInterrupt
        made.append(True)
        right(state, *rest)

    monkeypatch.setattr(chain, "sweep", sweep)


def test_an_interrupted_chain_keeps_its_last_sample(X, monkeypatch):
    shorter = InfinitePlaid(**{**QUICK, "n_sweeps": 8}).fit(X)
    interrupt_at(monkeypatch, 8)
    model = InfinitePlaid(**QUICK)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X)
    assert model.n_iter_ == 8
    np.testing.assert_array_equal(model.row_membership_, shorter.row_membership_)
    np.testing.assert_array_equal(
        model.history_["log_likelihood"], shorter.history_["log_likelihood"]
    )
    np.testing.assert_array_equal(model.effects_, shorter.effects_)


def test_a_chain_interrupted_at_once_leaves_an_earlier_fit(X, monkeypatch):
    model = InfinitePlaid(**QUICK).fit(X)
    before = model.row_membership_
    interrupt_at(monkeypatch, 0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X[:, :10])
    assert model.row_membership_ is before
    assert model.n_features_in_ == 20
    fresh = clone(model)
    with pytest.raises(KeyboardInterrupt):
        fresh.fit(X)
    with pytest.raises(NotFittedError):
        _ = fresh.rows_


@pytest.mark.parametrize(("verbose", "n_lines"), [(0, 0), (1, 11), (2, 21)])
def test_verbose_logs_sweeps(X, caplog, verbose, n_lines):
    with caplog.at_level(logging.INFO, logger="neocc"):
        InfinitePlaid(**{**QUICK, "n_sweeps": 20, "verbose": verbose}).fit(X)
    messages = [record.getMessage() for record in caplog.records]
    lines = [message for message in messages if not message.startswith("search ")]
    assert len(lines) == n_lines
    assert all("sub-matrices, log-likelihood" in line for line in lines)


# ------------------------------------------------------------------------------------ recovery


def recovered(seed, **options):
    truth = draw_clear_state((100, 80), np.random.default_rng(seed))
    model = InfinitePlaid(random_state=seed, **options).fit(truth.data.values)
    scores = (
        matched_f1(truth.rows.T, model.row_membership_),
        matched_f1(truth.columns.T, model.column_membership_),
    )
    return model.n_submatrices_ == truth.K and min(scores) >= 0.9


@pytest.mark.parametrize("seed", [3, 4])
def test_data_of_the_model_are_recovered(seed):
    assert recovered(seed, n_sweeps=30, burn_in=10, n_init=4)


@pytest.mark.slow
def test_data_of_the_model_are_recovered_by_default():
    assert sum(recovered(seed) for seed in range(10)) >= 8


@pytest.mark.slow
def test_yeast(data_folder):
    from neocc.datasets import fetch_yeast

    X = fetch_yeast(data_home=data_folder).data
    model = InfinitePlaid(n_sweeps=40, burn_in=20, n_init=2, random_state=0).fit(X)
    assert X.shape == (2417, 103)
    assert model.n_submatrices_ > 10
    assert model.history_["log_likelihood"][-1] > model.history_["log_likelihood"][0]


def test_comemberships_of_what_is_no_list_are_refused():
    X = np.random.default_rng(0).normal(size=(12, 8))
    model = InfinitePlaid(n_sweeps=4, burn_in=1, n_init=1, random_state=0).fit(X)
    assert model.comembership("rows", items=[]).shape == (0, 12)
    for items in (5, [0.5], [[1]], ["a"]):
        with pytest.raises(ValueError, match="must be a list of indices of rows"):
            model.comembership("rows", items=items)


def test_an_interrupt_while_cleaning_up_keeps_the_chain(monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("neocc.rivals.plaid.estimator.take_chance_out", interrupt)
    X = np.random.default_rng(0).normal(size=(12, 8))
    model = InfinitePlaid(n_sweeps=4, burn_in=1, n_init=1, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X)
    assert len(model.history_["log_likelihood"]) == 4


def test_searches_for_a_start_are_logged(caplog):
    X = np.random.default_rng(0).normal(size=(12, 8))
    with caplog.at_level("INFO", logger="neocc"):
        InfinitePlaid(n_sweeps=2, burn_in=1, n_init=3, verbose=1, random_state=0).fit(X)
    assert sum("search" in line for line in caplog.messages) == 3
