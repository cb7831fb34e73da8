"""Rows, seen or new, against the clusters of a fit."""

from __future__ import annotations

import numpy as np
import oracle
import pytest
from instances import planted
from models import NAMES, column_members, fit_noticing, make_model, row_members
from scipy import sparse

OVERLAPPING = [name for name in NAMES if "overlap" in name]
DISJOINT = [name for name in NAMES if "overlap" not in name]


def make_data(seed=0):
    """Rows to fit, and new rows from the same blocks."""
    X = planted(np.random.default_rng(seed), 60, 24, 3, 3, noise=0.8)
    return X[:45], X[45:]


def fit(name, X, **options):
    return fit_noticing(make_model(name, tol=0.0, **options), X)


def literal_distances(model, X, new):
    """The paper's distances of new rows: rows that belong to no cluster leave the means alone."""
    U, V = row_members(model), column_members(model)
    everything = np.concatenate([X, new])
    U = np.concatenate([U, np.zeros((len(new), U.shape[1]), dtype=bool)])
    if V is None:
        return oracle.distances_neo_kmeans(everything, U)[len(X) :]
    objective = model.get_params()["objective"]
    return oracle.distances_rows(everything, U, V, objective)[len(X) :]


# --------------------------------------------------------------------------------- transform


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("offset", [0.0, 1000.0])
def test_transform_gives_the_papers_distances(name, offset):
    X, new = make_data()
    X, new = X + offset, new + offset
    model = fit(name, X)
    for rows in (X, new):
        found = model.transform(rows)
        np.testing.assert_allclose(found, literal_distances(model, X, rows), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_distances_of_the_memberships_add_up_to_the_objective(name):
    X, _ = make_data()
    model = fit(name, X)
    total = model.transform(X)[row_members(model)].sum()
    assert total == pytest.approx(model.objective_, rel=1e-10)


@pytest.mark.parametrize("name", NAMES)
def test_transform_is_never_negative(name):
    X = np.repeat(np.random.default_rng(0).normal(size=(3, 12)), 4, axis=0) / 3
    assert (fit(name, X).transform(X) >= 0).all()


@pytest.mark.parametrize("name", NAMES)
def test_fit_transform_is_fit_and_transform(name):
    X, _ = make_data()
    model = make_model(name)
    np.testing.assert_array_equal(model.fit_transform(X), model.transform(X))


# ----------------------------------------------------------------------------------- predict


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("make", [np.asarray, lambda X: sparse.csr_array(X * (X > 0))])
def test_rows_of_the_fit_get_their_own_memberships(make, name, seed):
    X = make(make_data(seed)[0])
    model = fit(name, X)
    np.testing.assert_array_equal(model.predict_membership(X), row_members(model))


@pytest.mark.parametrize("name", DISJOINT)
def test_without_overlap_and_outliers_labels_are_the_nearest_clusters(name):
    X, new = make_data()
    model = fit(name, X)
    np.testing.assert_array_equal(model.predict(X), row_members(model).argmax(axis=1))
    np.testing.assert_array_equal(model.predict(new), model.transform(new).argmin(axis=1))
    np.testing.assert_array_equal(make_model(name, tol=0.0).fit_predict(X), model.predict(X))


@pytest.mark.parametrize("name", OVERLAPPING)
def test_new_rows_are_decided_by_the_limits_of_the_fit(name):
    for seed in range(5):
        X, new = make_data(seed)
        new = np.concatenate([new, 30.0 * new[:3], (X[:3] + X[3:6]) / 2])
        model = fit(name, X)
        d, U = literal_distances(model, X, X), row_members(model)
        # The rule, literally: the n - b nearest rows set one limit, further memberships the other.
        n_covered = len(X) - oracle.matlab_round(0.1 * len(X))
        covered = np.argsort(d.min(axis=1), kind="stable")[:n_covered]
        extra = U.copy()
        extra[covered, d[covered].argmin(axis=1)] = False
        nearest_limit, extra_limit = d.min(axis=1)[covered].max(), d[extra].max()
        new_d = literal_distances(model, X, new)
        expected = new_d <= extra_limit
        accepted = new_d.min(axis=1) <= nearest_limit
        expected[accepted, new_d[accepted].argmin(axis=1)] = True
        np.testing.assert_array_equal(model.predict_membership(new), expected)
        assert not expected[-6:-3].any()  # far from everything


@pytest.mark.parametrize("name", NAMES)
def test_rows_are_decided_one_by_one(name):
    X, new = make_data()
    model = fit(name, X)
    together = model.predict_membership(new)
    for row in range(len(new)):
        alone = model.predict_membership(new[row : row + 1])
        np.testing.assert_array_equal(alone[0], together[row])
    order = np.random.default_rng(0).permutation(len(new))
    np.testing.assert_array_equal(model.predict_membership(new[order]), together[order])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("offset", [0.0, 1e9])
def test_dense_and_sparse_rows_get_the_same_answer_from_either_fit(name, offset):
    X, new = make_data()
    X, new = X + offset, new + offset
    new[:, ::5] = 0.0  # so that the sparse form does not store everything
    if offset == 0.0:
        X[:, ::5] = 0.0
    dense_fit, sparse_fit = fit(name, X), fit(name, sparse.csr_array(X))
    answers = [
        model.predict_membership(rows)
        for model in (dense_fit, sparse_fit)
        for rows in (new, sparse.csr_array(new))
    ]
    for answer in answers[1:]:
        np.testing.assert_array_equal(answer, answers[0])
    np.testing.assert_allclose(
        dense_fit.transform(new), sparse_fit.transform(sparse.csc_array(new)), rtol=1e-9
    )


@pytest.mark.parametrize("name", NAMES)
def test_one_row_can_be_predicted_from_a_list(name):
    X, new = make_data()
    model = fit(name, X)
    np.testing.assert_array_equal(model.predict([new[0].tolist()]), model.predict(new[:1]))
