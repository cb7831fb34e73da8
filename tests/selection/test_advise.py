"""What is advised for every kind of data, and that the pipeline does it."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import Pipeline

from neocc import NEOCC
from neocc.datasets import make_coclusters
from neocc.selection import advise
from neocc.selection._advise import INSTEAD, RECIPES
from neocc.selection._kinds import KINDS

K = {"n_row_clusters": 3, "n_column_clusters": 3, "n_init": 2}


def planted(kind, seed=0, shape=(90, 60)):
    """Make blocks of three row groups that a fit of the data as they are does not find."""
    rng = np.random.default_rng(seed)
    rows, columns = rng.integers(0, 3, shape[0]), rng.integers(0, 3, shape[1])
    block = np.array([[1.0, -1, 0], [0, 1, -1], [-1, 0, 1]])[rows][:, columns]
    noise = rng.normal(size=shape)
    if kind == "binary":
        X = (rng.random(shape) < 0.5 + 0.35 * block).astype(float)
    elif kind == "ratings":
        of_row, of_column = rng.normal(size=(shape[0], 1)), rng.normal(size=shape[1])
        X = np.clip(np.rint(3 + 0.9 * block + 0.6 * (of_row + of_column) + 0.4 * noise), 1, 5)
        X *= rng.random(shape) < 0.4
    elif kind == "proportions":
        X = np.exp(block + 0.5 * noise + 1.5 * rng.normal(size=shape[1]))
        X /= X.sum(axis=1, keepdims=True)
    elif kind == "counts":
        rate = np.exp(block + rng.normal(size=(shape[0], 1)) + rng.normal(size=shape[1]))
        X = rng.poisson(0.3 * rate).astype(float)
    elif kind == "ratios":
        X = block + 0.7 * noise
    elif kind == "intensities":
        X = np.exp2(8 + block + 0.7 * noise + 2 * rng.normal(size=shape[1]))
    elif kind == "units":
        X = ((block + 0.4 * noise) * 10.0 ** rng.uniform(-2, 4, shape[1]) + 50)[:, :12]
    else:
        X = 20 + block + 0.7 * noise + 5 * rng.normal(size=shape[1])
    return X, rows


EXPECTED = {
    "binary": ([], {"objective": "mean"}),
    "ratings": (["drop-zeros"], {"missing": "ignore", "remove_effects": True}),
    "proportions": (["column-standardize"], {"objective": "mean"}),
    "counts": ([], {"objective": "poisson"}),
    "ratios": ([], {"objective": "mean"}),
    "intensities": (["log2", "double-center"], {"objective": "mean"}),
    "units": (["column-standardize"], {"objective": "mean"}),
    "plain": (["column-center"], {"objective": "mean"}),
}


def steps_of(advice):
    return [name for name, _ in advice.pipeline.steps[:-1]]


def test_there_is_advice_for_every_kind():
    assert set(RECIPES) == set(KINDS) == set(EXPECTED)
    assert set(INSTEAD) < set(KINDS)


@pytest.mark.parametrize("kind", EXPECTED)
def test_the_pipeline_is_ready_and_finds_what_is_there(kind):
    X, rows = planted(kind)
    copy = X.copy()
    advice = advise(X, random_state=0, **K)
    pipeline, reasons = advice
    assert isinstance(pipeline, Pipeline)
    steps, parameters = EXPECTED[kind]
    assert steps_of(advice) == steps
    assert {name: getattr(pipeline["neocc"], name) for name in parameters} == parameters
    assert advice.description.kind == kind
    for reason in reasons:
        assert reason.why
        assert reason.what in str(advice)
    assert json.loads(json.dumps(advice.to_dict()))["data"]["kind"] == kind
    assert not hasattr(pipeline["neocc"], "row_membership_")  # nothing is fitted yet
    found = pipeline.fit(X)["neocc"].row_membership_.argmax(axis=1)
    assert adjusted_rand_score(rows, found) > 0.8
    assert np.array_equal(X, copy)


@pytest.mark.parametrize(
    "kind", ["ratings", "proportions", "counts", "intensities", "units", "plain"]
)
def test_data_as_they_are_would_hide_it(kind):
    X, rows = planted(kind)
    plain = NEOCC(random_state=0, **K).fit(X).row_membership_.argmax(axis=1)
    assert adjusted_rand_score(rows, plain) < 0.8


def test_genes_have_offsets():
    rng = np.random.default_rng(0)
    levels = rng.normal(size=(1000, 6))
    for X, steps, objective in (
        (levels, [], "mean"),
        (np.exp2(9 + 2.5 * levels), ["log2"], "residue"),
    ):
        advice = advise(X)
        assert steps_of(advice) == steps
        assert advice.pipeline["neocc"].objective == objective
    zeros = np.exp2(9 + 2.5 * levels) * (rng.random(levels.shape) < 0.9)
    assert steps_of(advise(zeros)) == ["log1p"]
    assert steps_of(advise(sparse.csr_array(zeros))) == ["log1p"]


def test_sparse_data_are_not_filled():
    rng = np.random.default_rng(0)
    X = rng.random((200, 60)) * (rng.random((200, 60)) < 0.2) + 0.0
    even, uneven = sparse.csr_array(X), sparse.csr_array(X * rng.uniform(0.1, 1, 60))
    assert steps_of(advise(even)) == []
    assert steps_of(advise(uneven)) == ["column-norm"]
    ratings = sparse.csr_array(planted("ratings")[0])
    assert steps_of(advise(ratings)) == []
    small = sparse.csr_array(np.exp2(planted("ratios")[0] * 3 + 9) * (rng.random((90, 60)) < 0.9))
    assert steps_of(advise(small)) == ["log1p"]
    shares = X / X.sum(axis=1, keepdims=True)
    assert advise(sparse.csr_array(shares)).pipeline["neocc"].objective == "poisson"


@pytest.mark.parametrize(
    ("kind", "given", "steps"),
    [
        ("counts", {"objective": "mean"}, ["binormalize"]),
        ("counts", {"objective": "diagonal"}, []),
        ("ratings", {"missing": "zero"}, []),
        ("ratings", {"objective": "poisson"}, []),
        ("ratings", {"missing": "ignore"}, []),
        ("intensities", {"objective": "residue"}, ["log2", "double-center"]),
        ("intensities", {"objective": "poisson"}, []),
        ("plain", {"objective": "residue"}, ["column-center"]),
    ],
)
def test_what_is_given_is_not_chosen(kind, given, steps):
    advice = advise(planted(kind)[0], **given)
    model = advice.pipeline["neocc"]
    assert {name: getattr(model, name) for name in given} == given
    assert steps_of(advice) == steps
    assert not any(set(reason.parameters) & set(given) for reason in advice.reasons)
    if given.get("missing") == "ignore":
        assert model.objective == "mean"


def test_the_objective_is_one_that_a_given_overlap_model_goes_with():
    advice = advise(planted("counts")[0], overlap_model="sum")
    assert (steps_of(advice), advice.pipeline["neocc"].objective) == (["binormalize"], "mean")
    assert "overlap_model='sum' is for squared errors over all cells" in str(advice)
    assert advise(planted("counts")[0], overlap_model="share").pipeline[-1].objective == "poisson"


@pytest.mark.parametrize("level", [0.0, 10.0])
def test_rows_of_different_scales_are_divided_by_their_norms(level):
    X, U, _ = make_coclusters((200, 60), 4, 3, random_state=0)
    X = (X + level) * 10 ** np.random.default_rng(0).uniform(0, 2, size=(200, 1))
    pipeline, reasons = advise(X, n_row_clusters=4, n_column_clusters=3)
    assert [name for name, _ in pipeline.steps] == ["row-norm", "neocc"]
    assert "scales differ" in reasons[0].why
    found = pipeline.fit(X)["neocc"].row_membership_.argmax(axis=1)
    assert adjusted_rand_score(U.argmax(axis=1), found) > 0.9


def test_full_ratings_are_plain_numbers():
    X = np.clip(np.rint(3 + np.random.default_rng(0).normal(size=(80, 20))), 1, 5)
    advice = advise(X)
    assert advice.description.kind == "ratings"
    assert advice.pipeline["neocc"].missing == "zero"
    # What is done about levels is said, and nothing else.
    assert "can be compared as they are" in str(advice.description)


def test_missing_ratings_need_no_zeros_dropped():
    X, rows = planted("ratings")
    X[X == 0] = np.nan
    advice = advise(X, random_state=0, **K)
    assert steps_of(advice) == []
    found = advice.pipeline.fit(X)["neocc"].row_membership_.argmax(axis=1)
    assert adjusted_rand_score(rows, found) > 0.8


@pytest.mark.parametrize("kind", list(EXPECTED))
def test_data_with_missing_cells_can_be_fitted(kind):
    """What is advised for NaN takes them, and finds what it finds without."""
    X, rows = planted(kind)
    X = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
    if kind == "ratings":
        X[X == 0] = np.nan
    advice = advise(X, random_state=0, **K)
    model = advice.pipeline.fit(X)["neocc"]
    assert model.missing == "ignore"
    # Logarithms of few counts: every seed ends there, at the lowest J.
    least = 0.4 if kind == "counts" else 0.6
    assert adjusted_rand_score(rows, model.row_membership_.argmax(axis=1)) > least
    assert any("missing" in reason.why or "have a value" in reason.why for reason in advice.reasons)


def test_advice_needs_no_numbers():
    """Not for counts, nor for cells that are missing."""
    X, _ = planted("counts", shape=(40, 24))
    quick = {"n_init": 1, "refine": False, "n_jobs": 1}
    for data in (X, np.where(X == 0, np.nan, X)):
        model = advise(data, **quick).pipeline.fit(data)["neocc"]
        assert model.numbers_choice_ is not None


def test_cells_that_are_given_may_count_with_the_effects_of_their_rows_and_columns():
    rng = np.random.default_rng(0)
    X = rng.integers(1, 6, size=(60, 40)).astype(float)
    X[rng.random(X.shape) < 0.8] = np.nan
    for given in ({}, {"missing": "ignore"}):
        pipeline, reasons = advise(
            X, n_row_clusters=2, n_column_clusters=2, remove_effects=False, **given
        )
        model = pipeline[-1]
        assert (model.missing, model.remove_effects) == ("ignore", False)
        assert not any("effects" in reason.what for reason in reasons)
        assert pipeline.fit(X)[-1].block_means_.min() >= 1.0


def test_the_reason_to_standardise_is_what_tells_of_units():
    """A column with most of the variation was said to differ in scale by up to three times."""
    rng = np.random.default_rng(0)
    X = np.hstack([rng.poisson(3, (300, 15)), rng.poisson(300, (300, 1))]).astype(float)
    assert advise(X).reasons[0].why == "otherwise 1 of 16 would decide"
