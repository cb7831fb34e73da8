"""Features that set groups apart, against sums that are written out."""

from __future__ import annotations

import numpy as np
import pytest
from models import NAMES, make_model, row_members
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from neocc import MSSR, NEOCC, ROCC, LowRankNEOKMeans, NEOKMeans, top_features
from neocc.io import load_model, save_model, write_store
from neocc.report._cells import associate

pytestmark = pytest.mark.filterwarnings("ignore::neocc.RedundancyWarning")


def counts(seed=0, n=40, m=24):
    rng = np.random.default_rng(seed)
    rates = 0.3 + 3.0 * np.eye(3)[np.arange(n) % 3][:, np.arange(m) % 3]
    return rng.poisson(rates).astype(float)


def ranked(numbers, keys, n):
    """The `n` features of each group with the lowest keys, whose numbers are positive."""
    found = []
    for line, key in zip(numbers, keys, strict=True):
        above = [t for t in range(len(line)) if line[t] > 1e-9]
        order = sorted(above, key=lambda t: (round(key[t], 9), t))
        found.append([(f"w{t}", pytest.approx(line[t])) for t in order][:n])
    return found


def differences(X, weights):
    """Weighted means of each group minus those of all the others together, member by member."""
    n_rows, n_groups = weights.shape
    found = np.zeros((n_groups, X.shape[1]))
    for i in range(n_groups):
        others = [(p, q) for p in range(n_rows) for q in range(n_groups) if q != i]
        inside = sum(weights[p, i] * X[p] for p in range(n_rows)) / weights[:, i].sum()
        total = sum(weights[p, q] for p, q in others)
        found[i] = inside - sum(weights[p, q] * X[p] for p, q in others) / total
    return found


WORDS = [f"w{t}" for t in range(24)]


@pytest.mark.parametrize("name", NAMES)
def test_differences_are_those_of_means(name):
    X = counts() + 100 * np.arange(40)[:, None] % 7
    model = make_model(name).fit(X)
    members = row_members(model)
    if hasattr(model, "_profiles"):
        means = [X[inside].mean(axis=0) for inside in members.T]
        np.testing.assert_allclose(model._profiles, means)
    expected = differences(X, members.astype(float))
    found = top_features(model, WORDS, n=4)
    assert found.measure == "difference"
    assert list(found) == ["R1", "R2", "R3"]
    assert list(found.values()) == ranked(expected, -expected, 4)


def test_a_shared_row_counts_as_the_model_has_it():
    X = counts()
    model = make_model("NEOCC mean", overlap_model="share", row_overlap=0.3).fit(X)
    U = model.row_membership_
    assert U.sum(axis=1).max() > 1
    expected = differences(X, U / U.sum(axis=1, keepdims=True))
    assert list(top_features(model, WORDS, n=3).values()) == ranked(expected, -expected, 3)


def test_weights_of_rows_count():
    X, weight = counts(), np.arange(1.0, 41.0)
    model = make_model("NEOCC mean").fit(X, row_weight=weight)
    expected = differences(X, model.row_membership_ * weight[:, None])
    assert list(top_features(model, WORDS, n=3).values()) == ranked(expected, -expected, 3)


def test_rows_that_follow_one_of_their_groups_count_there():
    X = counts()
    model = make_model("NEOCC mean", overlap_model="either", row_overlap=0.2, column_outliers=0.05)
    model.set_params(column_overlap=-0.05).fit(X)
    V, followed = model.column_membership_, model.followed_
    assert model.column_outliers_.sum() == 1
    means = np.zeros((3, 24))
    for t in np.flatnonzero(V.any(axis=1)):
        follows = followed[:, V[t].argmax()]
        for i in range(3):
            means[i, t] = X[follows == i, t].mean() if (follows == i).any() else 0.0
    inside = V.any(axis=1)
    np.testing.assert_allclose(model._profiles[:, inside], means[:, inside])
    found = top_features(model, WORDS, n=24)
    left_out = f"w{int(np.argmin(inside))}"
    assert all(left_out not in dict(line) for line in found.values())


@pytest.mark.parametrize("objective", ["poisson", "diagonal", "modularity"])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_lifts_are_those_of_counts_and_those_of_the_report(objective, container):
    X = counts()
    model = NEOCC(
        3, 3, objective=objective, prior=2.0, row_overlap=0.1, n_init=1, random_state=0
    ).fit(container(X))
    found = top_features(model, WORDS, n=5)
    assert found.measure == "lift"
    told = associate(X, model.row_membership_, 2.0)
    for i, line in enumerate(found.values()):
        inside = model.row_membership_[:, i]
        for word, lift in line:
            t = WORDS.index(word)
            expected = X[inside].sum() * X[:, t].sum() / X.sum()
            assert lift == pytest.approx((X[inside, t].sum() + 2) / (expected + 2))
            assert lift > 1
        assert line == [(f"w{t}", pytest.approx(lift)) for t, lift in told.strongest(i, 5)]


def test_a_row_that_blends_two_groups_counts_half_in_each():
    X = counts()
    model = NEOCC(3, 3, objective="poisson", overlap_model="average", row_overlap=0.2, n_init=1)
    model.set_params(random_state=0).fit(X)
    U = model.row_membership_ / model.row_membership_.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model._profiles, U.T @ X)
    np.testing.assert_allclose(model._margins, X.sum(axis=0))


def test_observed_cells_have_shrunk_means():
    X = counts()
    X[np.random.default_rng(1).random(X.shape) < 0.4] = np.nan
    model = NEOCC(3, 3, missing="ignore", shrinkage=2.0, n_init=1, random_state=0).fit(X)
    table = np.zeros((3, 24))
    for i, inside in enumerate(model.row_membership_.T):
        centred = X[inside] - np.nanmean(X)
        table[i] = np.nansum(centred, axis=0) / ((~np.isnan(centred)).sum(axis=0) + 2)
    np.testing.assert_allclose(model._profiles, table, atol=1e-12)


def test_planted_words_are_found():
    model = NEOCC(3, 3, objective="poisson", random_state=0).fit(counts(n=90))
    for line in top_features(model, WORDS, n=8).values():
        assert len({int(word[1:]) % 3 for word, _ in line}) == 1
        assert len(line) == 8


def test_a_store_and_a_file_tell_the_same(tmp_path):
    X = counts()
    model = make_model("NEOCC residue overlap").fit(X)
    stored = make_model("NEOCC residue overlap").fit(write_store(tmp_path / "store", X))
    expected = top_features(model, WORDS)
    for group, line in top_features(stored, WORDS).items():
        assert line == [(word, pytest.approx(number)) for word, number in expected[group]]
    save_model(model, tmp_path / "model.neocc")
    assert top_features(load_model(tmp_path / "model.neocc"), WORDS) == expected


def test_other_models():
    X = counts()
    for model in (NEOKMeans(3, random_state=0), LowRankNEOKMeans(3, random_state=0), MSSR(3, 3)):
        assert len(top_features(model.fit(X))) == 3
    with pytest.raises(ValueError, match="ROCC does not know"):
        top_features(ROCC(n_row_clusters=2, n_column_clusters=2, random_state=0).fit(X))


def test_names_come_from_the_frame_or_are_numbers():
    pandas = pytest.importorskip("pandas")
    X = counts()
    assert top_features(make_model("NEOCC mean").fit(X), n=1)["R1"][0][0].startswith("column ")
    model = make_model("NEOCC mean").fit(pandas.DataFrame(X, columns=WORDS))
    assert top_features(model) == top_features(model, WORDS)


def test_groups_without_others_or_members_have_nothing():
    X = counts()
    assert top_features(NEOCC(1, 2, random_state=0).fit(X)) == {"R1": []}
    constant = NEOKMeans(2, random_state=0).fit(np.ones((4, 3)))
    assert top_features(constant) == {"R1": [], "R2": []}
    assert "nothing more than the others" in repr(top_features(constant))
    zeros = NEOCC(2, 2, objective="poisson", random_state=0).fit(np.zeros((4, 3)))
    assert top_features(zeros) == {"R1": [], "R2": []}


def test_it_prints_a_line_a_group():
    model = NEOKMeans(2, random_state=0).fit([[0.0, 8.0], [0.0, 8.0], [3.0, 0.0]])
    lines = str(top_features(model, ["a", "b"])).split("\n")
    assert [line[:4] for line in lines] == ["R1  ", "R2  "]
    assert sorted(line[4:] for line in lines) == ["a +3", "b +8"]


def test_what_is_asked_wrongly_is_refused():
    model = make_model("NEOCC mean").fit(counts())
    with pytest.raises(ValueError, match="3 names for 24 features"):
        top_features(model, ["a", "b", "c"])
    for n in (0, -1, 2.5, True):
        with pytest.raises(ValueError, match="n must be"):
            top_features(model, n=n)
    with pytest.raises(ValueError, match="not fitted"):
        top_features(NEOCC(2, 2))
    with pytest.raises(ValueError, match="does not know"):
        top_features(object())


def test_of_a_pipeline_the_last_step_is_asked():
    pipeline = make_pipeline(StandardScaler(), NEOKMeans(3, random_state=0)).fit(counts())
    with pytest.raises(ValueError, match=r"LowRankNEOKMeans; of a pipeline .* pipeline\[-1\]"):
        top_features(pipeline)
    assert len(top_features(pipeline[-1])) == 3
