"""Where nothing can overlap every overlap model gives the fit of "repeat", to the last bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neocc import NEOCC, NEOKMeans
from neocc.core.objectives import OUTLIER_COSTS
from neocc.core.overlap import OVERLAP_MODELS, make_overlap_model
from neocc.io import load_model, save_model

KINDS = {
    "mean": "mean",
    "residue": "residue",
    "poisson": "poisson",
    "diagonal": "diagonal",
    "modularity": "modularity",
    "observed": "mean",
}
OTHERS = [name for name in OVERLAP_MODELS if name != "repeat"]


def makes_sense(kind, model):
    try:
        make_overlap_model(model, None, kind)
    except ValueError:
        return False
    return True


CASES = [(kind, model) for kind in KINDS for model in OTHERS if makes_sense(kind, model)]
seeds = st.integers(0, 2**16)
fractions = st.sampled_from([0.0, 0.1, 0.25])


def draw(kind, seed):
    """A table without structure, where searches have many ways to go, and its clusters."""
    rng = np.random.default_rng(seed)
    n, m = (int(each) for each in rng.integers(8, 20, size=2))
    X = rng.poisson(3.0, size=(n, m)) + 1.0
    if kind not in ("poisson", "diagonal", "modularity"):
        X = rng.normal(size=(n, m))
    k, l = (int(each) for each in rng.integers(2, 5, size=2))  # noqa: E741
    if kind in ("diagonal", "modularity"):
        l = k  # noqa: E741
    if kind == "observed":
        X[rng.random(X.shape) < 0.2] = np.nan
        X[:, 0], X[0] = 1.0, -1.0  # something is known of everybody
    return X, k, l, rng


def assert_same(one, other, X):
    for name in ("row_membership_", "column_membership_", "membership_", "history_", "objective_"):
        if hasattr(one, name):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name), name)
    assert one.n_passes_ == other.n_passes_
    for method in ("predict_membership", "transform"):
        np.testing.assert_array_equal(getattr(one, method)(X), getattr(other, method)(X))
    assert one.score(X) == pytest.approx(other.score(X), rel=1e-12)


@pytest.mark.parametrize(("kind", "model"), CASES)
@given(seeds, fractions, fractions, st.booleans(), st.sampled_from(OUTLIER_COSTS))
def test_disjoint_co_clusters_are_those_of_repeat(kind, model, seed, rows, columns, refine, cost):
    X, k, l, rng = draw(kind, seed)  # noqa: E741
    if kind not in ("mean", "observed"):
        cost = "auto"  # the others know one cost only
    options = {
        "objective": KINDS[kind],
        "row_outliers": rows,
        "row_overlap": -rows,
        "column_outliers": columns,
        "column_overlap": -columns,
        "outlier_cost": cost,
        "missing": "ignore" if kind == "observed" else "zero",
        "n_init": 1,
        "refine": refine,
        "random_state": seed,
    }
    one, other = (NEOCC(k, l, overlap_model=name, **options).fit(X) for name in ("repeat", model))
    assert other._row_model.overlap_model in (model, "blend", "blended-sum")
    new = X + rng.normal(scale=0.1, size=X.shape) if X.min() < 0 else X[::-1]
    assert_same(one, other, new)
    np.testing.assert_array_equal(
        one.predict_membership(X, axis="columns"), other.predict_membership(X, axis="columns")
    )
    if model == "either":
        inside = other.row_membership_.any(axis=1)
        labels = np.where(inside, other.row_membership_.argmax(axis=1), -1)
        np.testing.assert_array_equal(other.followed_, np.repeat(labels[:, None], l, axis=1))


@pytest.mark.parametrize("model", OTHERS)
@given(seeds, fractions, st.booleans(), st.booleans())
def test_disjoint_clusters_are_those_of_repeat(model, seed, outliers, refine, bounded):
    X, k, _, _ = draw("mean", seed)
    options = {"outliers": outliers, "overlap": -outliers, "refine": refine}
    if bounded:  # as many memberships as points, but one of each at most
        options |= {"overlap": 0.0, "max_memberships": 1}
    one, other = (
        NEOKMeans(k, overlap_model=name, n_init=1, random_state=seed, **options).fit(X)
        for name in ("repeat", model)
    )
    assert_same(one, other, X)
    assert (other.followed_ is not None) == (model == "either")


@pytest.mark.parametrize("model", OTHERS)
def test_a_disjoint_fit_is_saved_with_the_model_that_was_asked_for(model, tmp_path):
    X = np.random.default_rng(0).normal(size=(20, 12))
    fit = NEOCC(3, 2, overlap_model=model, row_outliers=0.1, row_overlap=-0.1, random_state=0)
    save_model(fit.fit(X), tmp_path / "model.neocc")
    found = load_model(tmp_path / "model.neocc")
    assert found._row_model.overlap_model == model
    np.testing.assert_array_equal(found.predict_membership(X), fit.predict_membership(X))


@pytest.mark.parametrize("outliers", [0.0, 0.1])
def test_auto_is_repeat_where_nothing_overlaps(outliers):
    X = np.random.default_rng(0).normal(size=(40, 20))
    options = {"row_outliers": outliers, "row_overlap": -outliers, "n_init": 1, "random_state": 0}
    one, other = (NEOCC(4, 3, overlap_model=name, **options).fit(X) for name in ("repeat", "auto"))
    assert_same(one, other, X)
    assert other.overlap_choice_.costs == {}
