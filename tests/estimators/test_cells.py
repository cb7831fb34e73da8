"""The predictor of cells: ids of any kind, cold ones, weights, and scikit-learn around it."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score

from neocc import NEOCC, CellPredictor, UnknownIdWarning

pandas = pytest.importorskip("pandas", reason="pandas is not installed")


def cells(seed=0, n=60, m=40, share=0.4):
    """Pairs of numbers with ratings from 1 to 5."""
    rng = np.random.default_rng(seed)
    means = rng.normal(size=(3, 3))
    level = means[rng.integers(3, size=n)][:, rng.integers(3, size=m)] + rng.normal(size=(n, 1))
    X = np.clip(np.round(3.0 + level + 0.2 * rng.normal(size=(n, m))), 1, 5)
    pairs = np.argwhere(rng.random(X.shape) < share)
    return pairs, X[tuple(pairs.T)]


def small(**options):
    return NEOCC(
        3,
        3,
        missing="ignore",
        remove_effects=True,
        init="random",
        n_init=1,
        refine=False,
        shrinkage=2.0,
        **options,
    )


@pytest.fixture(scope="module")
def fitted():
    return CellPredictor(small(), n_models=4, random_state=0).fit(*cells())


def test_predictions_are_means_of_those_of_the_models(fitted):
    pairs, _ = cells()
    found = [model.predict_cells(*pairs.T, clip=False) for model in fitted.models_]
    expected = np.mean(found, axis=0)
    np.testing.assert_allclose(fitted.predict(pairs), np.clip(expected, 1, 5), rtol=1e-12)
    values = [model.objective_ for model in fitted.models_]
    assert values == sorted(values)
    assert len({model.random_state for model in fitted.models_}) == 4


def test_the_mean_predicts_better_than_effects_and_than_single_models():
    pairs, values = cells(n=150, m=80)
    seen = np.random.default_rng(0).random(len(pairs)) < 0.8
    fit = CellPredictor(small(), n_models=8, random_state=0).fit(pairs[seen], values[seen])
    rest, true = pairs[~seen], values[~seen]
    errors = [np.mean((model.predict_cells(*rest.T) - true) ** 2) for model in fit.models_]
    error = np.mean((fit.predict(rest) - true) ** 2)
    assert error < np.mean(errors)
    assert error < np.mean((fit.models_[0]._by_effects(*rest.T) - true) ** 2)
    assert fit.score(rest, true) > 0.5


def test_rows_and_columns_that_are_not_known_are_predicted_by_effects(fitted):
    model = fitted.models_[0]
    found = fitted.predict([(3, 99), (99, 3), (99, 99)])
    expected = model.overall_mean_ + np.array([model.row_effects_[3], model.column_effects_[3], 0])
    np.testing.assert_allclose(found, np.clip(expected, 1, 5), rtol=1e-12)


@pytest.mark.parametrize("kind", ["frame", "list", "text", "mixed"])
def test_ids_may_be_anything(kind, fitted):
    pairs, values = cells()
    given = {
        "frame": pandas.DataFrame({"user": pairs[:, 0], "film": [f"f{t:02}" for t in pairs[:, 1]]}),
        "list": [tuple(pair) for pair in pairs.tolist()],
        "text": np.array([[f"u{p:02}", f"f{t:02}"] for p, t in pairs]),
        "mixed": [(f"u{p:02}", t) for p, t in pairs.tolist()],
    }[kind]
    fit = clone(fitted).fit(given, values)
    assert (fit.predict(given) == fitted.predict(pairs)).all()
    assert len(fit.row_ids_) == 60


@pytest.mark.parametrize(
    "make", [pandas.DataFrame, lambda X: pytest.importorskip("polars").DataFrame(X)]
)
def test_columns_of_a_frame_are_not_exchanged_in_silence(make):
    pairs, values = cells()
    given = make({"user": pairs[:, 0], "film": pairs[:, 1]})
    fit = CellPredictor(small(), n_models=1, random_state=0).fit(given, values)
    with pytest.raises(ValueError, match="'film' and 'user', in this order; in the fit they were"):
        fit.predict(given[["film", "user"]])
    for names in (["user", "film"], ["reader", "book"], ["x", "x"]):
        other = pandas.DataFrame(pairs, columns=names)
        assert (fit.predict(other) == fit.predict(pairs)).all()
    fit.fit(pairs, values).predict(given[["film", "user"]])  # nothing is known of these names


def test_a_refit_that_fails_leaves_the_names_of_the_fit():
    pairs, values = cells()
    given = pandas.DataFrame({"user": pairs[:, 0], "film": pairs[:, 1]})
    fit = CellPredictor(small(), n_models=1, random_state=0).fit(given, values)
    expected = fit.predict(given)
    with pytest.raises(ValueError, match="values"):
        fit.fit(given[["film", "user"]], values[:-1])
    assert (fit.predict(given) == expected).all()


def test_ids_without_an_order_keep_that_of_the_data():
    pairs = [("b", 1), (None, 1), ("b", (2,)), (None, (2,)), ("a", 1)]
    fit = CellPredictor(n_models=1, random_state=0).fit(pairs, [1.0, 2.0, 3.0, 4.0, 5.0])
    assert fit.row_ids_ == ["b", None, "a"]
    assert fit.column_ids_ == [1, (2,)]
    assert np.isfinite(fit.predict(pairs)).all()


def test_a_pair_given_twice_counts_twice():
    pairs, values = cells()
    rng = np.random.default_rng(0)
    twice = rng.random(len(pairs)) < 0.3
    repeated = np.repeat(np.arange(len(pairs)), 1 + twice)
    one = CellPredictor(small(), n_models=2, random_state=0)
    one.fit(pairs[repeated], values[repeated])
    other = CellPredictor(small(), n_models=2, random_state=0)
    other.fit(pairs, values, sample_weight=1.0 + twice)
    assert (one.predict(pairs) == other.predict(pairs)).all()
    mean = CellPredictor(small(), n_models=2, random_state=0)
    mean.fit(pairs, values, sample_weight=[2.0, *np.ones(len(values) - 1)])
    apart = CellPredictor(small(), n_models=2, random_state=0)
    apart.fit(np.vstack([pairs, pairs[:1]]), [values[0] - 0.5, *values[1:], values[0] + 0.5])
    np.testing.assert_allclose(apart.predict(pairs), mean.predict(pairs), rtol=1e-9)
    plain = CellPredictor(small(), n_models=2, random_state=0).fit(pairs, values)
    assert (plain.predict(pairs) != other.predict(pairs)).any()


def test_recommendations_are_the_best_cells_not_seen(fitted):
    pairs, _ = cells()
    seen = pairs[pairs[:, 0] == 5, 1]
    found = fitted.recommend(5, n=7)
    rest = np.setdiff1d(np.arange(40), seen)
    values = fitted.predict(np.column_stack([np.full(len(rest), 5), rest]))
    assert not set(seen) & {each.column for each in found}
    assert [each.value for each in found] == sorted(values, reverse=True)[:7]
    model = fitted.models_[0]
    for each in found:
        rows = np.flatnonzero(model.row_membership_[5])
        columns = np.flatnonzero(model.column_membership_[each.column])
        named = {(reason.row_cluster, reason.column_cluster) for reason in each.reasons}
        assert named == {(i, j) for i in rows for j in columns}
        for reason in each.reasons:
            assert reason.level == model.block_means_[reason.row_cluster, reason.column_cluster]
    assert len(fitted.recommend(5, n=99, unseen=False)) == 40


def test_a_row_that_is_not_known_gets_the_columns_of_largest_effect(fitted):
    found = fitted.recommend("nobody", n=3)
    best = np.argsort(-fitted.models_[0].column_effects_, kind="stable")[:3]
    assert [each.column for each in found] == best.tolist()
    assert all(each.reasons == () for each in found)


def test_it_can_be_searched_and_cross_validated():
    pairs, values = cells()
    search = GridSearchCV(
        CellPredictor(small(), n_models=2, random_state=0),
        {"estimator__n_row_clusters": [2, 3], "n_models": [1, 2]},
        cv=2,
        scoring="neg_root_mean_squared_error",
    ).fit(pairs, values)
    assert search.best_params_.keys() == {"estimator__n_row_clusters", "n_models"}
    frame = pandas.DataFrame(pairs).astype(str)
    assert cross_val_score(search.best_estimator_, frame, values, cv=2).shape == (2,)


@pytest.mark.parametrize(
    ("pairs", "values", "message"),
    [
        ([[1, 2, 3]], [1.0], "pairs of a row and a column"),
        (["ab", "cd"], [1.0, 2.0], "pairs of a row and a column"),
        (np.arange(4), np.arange(4.0), "pairs of a row and a column"),
        ([(1, 2)], [1.0, 2.0], "1 pairs, but 2 values"),
        ([(1, 2), ("a", "b")], [1, np.nan], "that of 'a' and 'b', number 1, is nan"),
        (np.empty((0, 2)), [], "no values to learn from"),
    ],
)
def test_what_are_no_cells_is_refused(pairs, values, message):
    with pytest.raises(ValueError, match=message):
        CellPredictor(n_models=1).fit(pairs, values)


def test_models_must_leave_out_missing_cells():
    with pytest.raises(ValueError, match='NEOCC with missing="ignore"'):
        CellPredictor(NEOCC(2, 2)).fit([(1, 2), (2, 2)], [1.0, 2.0])
    with pytest.raises(ValueError, match='NEOCC with missing="ignore"'):
        CellPredictor(NEOCC).fit([(1, 2), (2, 2)], [1.0, 2.0])


def test_the_same_seed_gives_the_same_bits():
    pairs, values = cells()
    one, other = (
        CellPredictor(n_models=2, random_state=3).fit(pairs, values).predict(pairs)
        for _ in range(2)
    )
    assert (one == other).all()


def test_names_that_are_not_a_number_are_refused_and_pairs_may_come_one_by_one():
    with pytest.raises(ValueError, match=r"Pair 1 has no name .*: got nan and 1\.0\."):
        CellPredictor(n_models=1).fit(np.array([(1.0, 2.0), (np.nan, 1.0)]), [1.0, 2.0])
    for nothing in (pandas.NA, pandas.NaT, np.float32("nan")):
        with pytest.raises(ValueError, match="Pair 1 has no name of a row or column: got 'ann'"):
            CellPredictor(n_models=1).fit([("bob", 2), ("ann", nothing)], [1.0, 2.0])
    pairs, values = cells()
    fit = CellPredictor(n_models=1, random_state=0).fit(pairs, values)
    np.testing.assert_array_equal(fit.predict(iter(list(pairs))), fit.predict(pairs))
    assert fit.predict([]).shape == (0,)


def test_without_effects_reasons_are_deviations_from_the_mean_and_strangers_get_it():
    pairs, values = cells()
    groups = small().set_params(remove_effects=False)
    fit = CellPredictor(groups, n_models=1, clip=False, random_state=0).fit(pairs, values + 100.0)
    model, stranger = fit.models_[0], fit.predict([("nobody", "nothing")])
    assert model.overall_mean_ == pytest.approx(np.mean(values) + 100.0)
    np.testing.assert_allclose(stranger, model.overall_mean_)
    levels = [reason.level for best in fit.recommend(3, n=5) for reason in best.reasons]
    assert levels
    assert np.abs(levels).max() < 10.0
    with pytest.raises(ValueError, match="n must be a number of columns"):
        fit.recommend(3, n=-1)
    for wrong in (2.5, "2", None, True):
        with pytest.raises(ValueError, match="n must be a number of columns, at least 1; got"):
            fit.recommend(3, n=wrong)


def test_a_value_that_is_missing_is_named_as_users_write_it():
    pairs, values = np.array([[7, 2], [3, 4]]), [1.0, np.nan]
    with pytest.raises(ValueError, match="that of 3 and 4, number 1, is nan"):
        CellPredictor().fit(pairs, values)


def test_complex_values_are_refused():
    with pytest.raises(ValueError, match=r"Complex data not supported: .*complex128.*real part"):
        CellPredictor(n_models=1).fit([(1, 2), (2, 1)], [1.0, 1 + 2j])


def test_values_that_are_text_are_refused():
    with pytest.raises(ValueError, match=r"y must hold numbers; got array\(\['a', 'b'\]"):
        CellPredictor(n_models=1).fit([(1, 2), (2, 1)], ["a", "b"])


@pytest.mark.parametrize("kind", [int, float])
def test_ids_of_another_type_are_warned_of_once(kind):
    pairs, values = cells()
    pairs = [(kind(p), kind(t)) for p, t in pairs]
    fit = CellPredictor(small(), n_models=1, random_state=0).fit(pairs, values)
    texts = [(str(int(p)), str(int(t))) for p, t in pairs]
    with pytest.warns(
        UnknownIdWarning, match=rf"the fit had .* \(of type {kind.__name__}\)"
    ) as seen:
        fit.predict(texts)
    assert sorted(str(one.message).split()[1] for one in seen) == ["column", "row"]
    assert {one.filename for one in seen} == {__file__}
    with pytest.warns(UnknownIdWarning, match="No row"):
        fit.recommend(texts[0][0])
    # Strangers among others, or of other names, are what predictions of strangers are for.
    fit.predict([texts[0], pairs[0]])
    fit.predict([("nobody", "nothing")])
