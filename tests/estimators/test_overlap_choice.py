"""`overlap_model="auto"` names the model that made the data, says how sure it is, and doubts."""

from __future__ import annotations

from itertools import cycle

import numpy as np
import pytest
from scipy.sparse import csr_array

from neocc import NEOCC, NEOKMeans
from neocc.core.objectives import MEAN
from neocc.core.overlap import OVERLAP_MODELS
from neocc.core.problem import Counts, Problem
from neocc.estimators import _base, _overlap
from neocc.estimators._overlap import OverlapChoice
from neocc.io import load_model, save_model

FRACTIONS = {"row_overlap": 0.2, "row_outliers": 0.05}


def mixed(kind, seed, n=120, m=60, k=4, l=4):  # noqa: E741
    """Rows of one prototype, and a quarter of two: means, sums, either; a few are scrambled."""
    rng = np.random.default_rng(seed)
    M = 2.0 * rng.normal(size=(k, l))
    members = np.eye(k, dtype=bool)[np.arange(n) % k]
    for p in rng.choice(n, size=round(0.25 * n), replace=False):
        members[p, (p + 1 + rng.integers(k - 1)) % k] = True
    weights = members / members.sum(axis=1, keepdims=True) if kind == "average" else members
    lines = weights @ M
    if kind == "either":
        turns = np.array([np.resize(rng.permutation(np.flatnonzero(has)), l) for has in members])
        lines = M[turns, np.arange(l)]
    X = lines[:, np.arange(m) % l]
    out = rng.choice(n, size=round(0.05 * n), replace=False)
    X[out] = rng.choice(X.ravel(), size=(len(out), m))
    members[out] = False
    return X + 0.5 * rng.normal(size=X.shape), members


@pytest.mark.parametrize(("kind", "seed"), [("average", 0), ("sum", 1), ("either", 0)])
def test_the_model_that_made_the_data_is_named(kind, seed):
    X, members = mixed(kind, seed)
    overlap = members.sum() / len(X) - 1.0
    model = NEOCC(4, 4, row_overlap=overlap, row_outliers=0.05, overlap_model="auto", n_init=2)
    choice = model.set_params(random_state=seed).fit(X).overlap_choice_
    assert choice.model == kind
    assert choice.is_sure
    assert set(choice.costs) == {"average", "sum", "either"}
    ranked = sorted(choice.costs.values(), key=min)
    seeds = "every seed ends" if max(ranked[0]) < min(ranked[1]) else "several seeds end"
    assert f'overlap model "{kind}": {seeds} lower than with any other' in str(choice)
    # The fit is that of the model chosen.
    given = model.set_params(overlap_model=kind).fit(X)
    assert given.overlap_choice_ is None
    assert given._row_model.overlap_model == kind


def test_it_is_one_model_for_points_too():
    X, _ = mixed("sum", 0)
    model = NEOKMeans(4, overlap=0.2, outliers=0.05, overlap_model="auto", random_state=0).fit(X)
    choice = model.overlap_choice_
    assert choice.model == "sum"
    covered = model.membership_.any(axis=1).sum() * X.shape[1]
    assert min(choice.costs["sum"]) == pytest.approx(model.objective_ / covered, rel=0.05)
    costs = ", ".join(f"{name} {min(choice.costs[name]):.3g}" for name in ("sum", "average"))
    assert choice.why.endswith(f"; cost per cell: {costs}")


def test_nothing_is_compared_where_nothing_overlaps_or_only_one_makes_sense():
    X, _ = mixed("sum", 0)
    choice = NEOCC(4, 4, overlap_model="auto", n_init=1, random_state=0).fit(X).overlap_choice_
    assert choice == OverlapChoice("average", {}, is_sure=True)
    assert "nothing overlaps" in str(choice)
    model = NEOCC(4, 4, objective="residue", overlap_model="auto", n_init=1, **FRACTIONS)
    choice = model.set_params(random_state=0).fit(X).overlap_choice_
    assert choice.model == "average"
    assert list(choice.costs) == ["average"]
    model = NEOCC(4, 4, overlap_model="auto", n_init=1, column_overlap=0.1, **FRACTIONS)
    choice = model.set_params(random_state=0).fit(X).overlap_choice_
    assert list(choice.costs) == ["average", "sum"]  # columns must not overlap for "either"


def test_in_doubt_it_is_the_average():
    # Noise: no model explains it, and seeds differ more than models do.
    X = np.random.default_rng(0).normal(size=(60, 30))
    doubts = 0
    for seed in range(2):
        model = NEOCC(4, 3, overlap_model="auto", n_init=1, random_state=seed, **FRACTIONS).fit(X)
        choice = model.overlap_choice_
        ranked = sorted(choice.costs.values(), key=min)
        assert choice.is_sure == (np.median(ranked[0]) < min(ranked[1]))
        if not choice.is_sure:
            assert choice.model == "average"
            assert "in doubt" in str(choice)
            doubts += 1
    assert doubts


def test_a_choice_survives_a_file_and_a_seed(tmp_path):
    X, _ = mixed("average", 1)
    models = [
        NEOCC(4, 4, overlap_model="auto", n_init=1, random_state=0, **FRACTIONS).fit(X)
        for _ in range(2)
    ]
    assert models[0].overlap_choice_ == models[1].overlap_choice_
    save_model(models[0], tmp_path / "model.neocc")
    assert load_model(tmp_path / "model.neocc").overlap_choice_ == models[0].overlap_choice_


@pytest.mark.parametrize("when", ["before anything", "after a step"])
def test_an_interrupted_fit_keeps_what_belongs_together(monkeypatch, tmp_path, when):
    """Estimates and choices are those of the fit whose memberships are there."""
    X, _ = mixed("average", 2)
    model = NEOCC(4, 4, overlap_model="auto", row_overlap="auto", n_init=1, random_state=0).fit(X)
    earlier = model.row_estimate_, model.overlap_choice_
    search = _base.search

    def interrupted(*args, **options):
        if when == "after a step":
            yield next(search(*args, **options))
        raise KeyboardInterrupt

    monkeypatch.setattr(_base, "search", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X[:90])
    n_rows = 120 if when == "before anything" else 90
    assert model.row_membership_.shape == (n_rows, 4)
    assert model.row_estimate_.n_items == n_rows
    assert ((model.row_estimate_, model.overlap_choice_) == earlier) == (n_rows == 120)
    save_model(model, tmp_path / "model.neocc")
    assert load_model(tmp_path / "model.neocc").row_estimate_.n_items == n_rows


def test_an_interrupted_comparison_ends_and_the_fit_begins(monkeypatch, tmp_path):
    """As where other values are chosen, Ctrl-C loses nothing that is known by then."""
    X, _ = mixed("sum", 1)
    costs, tried = _overlap._costs, []

    def interrupted(engine, problem, *how):
        if tried:
            raise KeyboardInterrupt
        tried.append(problem.overlap_model.name)
        return costs(engine, problem, *how)

    monkeypatch.setattr(_overlap, "_costs", interrupted)
    model = NEOCC(4, 4, overlap_model="auto", n_init=1, random_state=0, **FRACTIONS).fit(X)
    choice = model.overlap_choice_
    assert (choice.model, choice.is_sure, choice.is_complete) == ("average", False, False)
    assert list(choice.costs) == tried
    assert "interrupted" in choice.why
    assert model.row_membership_.sum() == round(120 * (1 + FRACTIONS["row_overlap"]))
    save_model(model, tmp_path / "model.neocc")
    assert load_model(tmp_path / "model.neocc").overlap_choice_ == choice


@pytest.mark.parametrize(
    ("ends", "named", "why", "n_seeds"),
    [
        ([0.97], "sum", "every seed ends lower", 3),
        ([0.995], "average", "it costs hardly more;", 9),
        ([1.2, 1.2, 0.9], "sum", "several seeds end lower", 9),
        ([0.9, *[1.2] * 8], "average", "seeds differ more than models do", 9),
    ],
)
def test_several_seeds_must_end_clearly_lower(monkeypatch, ends, named, why, n_seeds):
    """Starts of "average" all cost 1, those of "sum" come to these ends by turns."""
    turns = {"average": cycle([1.0]), "sum": cycle(ends)}
    run = lambda engine, problem, init, rngs: problem.overlap_model.name  # noqa: E731
    monkeypatch.setattr(_overlap, "run_starts", run)
    monkeypatch.setattr(_overlap, "_least_cost", lambda name, *_: next(turns[name]))
    monkeypatch.setattr(_overlap, "_costs_of_centred", lambda *_: [])
    counts = Counts(10, 2, 12, 0), Counts(5, 2, 5, 0)
    problems = [Problem(MEAN, *counts, overlap_model=OVERLAP_MODELS[name](2)) for name in turns]
    rng = np.random.default_rng(0)
    choice = _overlap.choose_overlap_model(None, problems, "random", rng)
    assert choice.model == named
    assert choice.is_sure == (named == "sum")
    assert why in choice.why
    assert len(choice.costs["sum"]) == n_seeds


OFF_CENTRE = {"n_init": 1, "refine": False, "random_state": 0, "overlap_model": "auto"}


@pytest.mark.parametrize("offset", [3.0, 10.0])
def test_sums_of_data_that_are_not_centred_are_not_surely_anything_else(offset, tmp_path):
    """Without the costs of centred data both offsets are surely "either"."""
    X, U = mixed("sum", 0)
    options = {"row_overlap": U.sum() / len(U) - 1.0, "row_outliers": 0.05, **OFF_CENTRE}
    plain = NEOCC(4, 4, **options).fit(X).overlap_choice_
    assert (plain.model, plain.is_sure, plain.centred) == ("sum", True, ())
    model = NEOCC(4, 4, **options).fit(X + offset)
    choice = model.overlap_choice_
    assert (choice.model, choice.is_sure) == ("average", False)
    assert min(choice.centred) < 0.9 * min(min(each) for each in choice.costs.values())
    assert "the data are not centred" in choice.why
    assert f"sum of centred data {min(choice.centred):.3g}" in choice.why
    save_model(model, tmp_path / "model.neocc")
    assert load_model(tmp_path / "model.neocc").overlap_choice_ == choice
    # What it advises helps.
    assert NEOCC(4, 4, **options).fit(X - X.mean()).overlap_choice_.model == "sum"


def test_each_column_of_points_is_centred():
    X, U = mixed("sum", 0)
    X += np.linspace(-20.0, 20.0, 60)
    options = {"overlap": U.sum() / len(U) - 1.0, "outliers": 0.05, "overlap_model": "auto"}
    choice = NEOKMeans(4, random_state=0, **options).fit(X).overlap_choice_
    assert (choice.model, choice.is_sure) == ("average", False)
    assert min(choice.centred) < 0.9 * min(choice.costs["average"])


@pytest.mark.parametrize("kind", ["average", "either"])
def test_what_centring_does_not_change_stays_sure(kind):
    X, U = mixed(kind, 0)
    options = {"row_overlap": U.sum() / len(U) - 1.0, "row_outliers": 0.05, **OFF_CENTRE}
    choice = NEOCC(4, 4, **options).fit(X + 10.0).overlap_choice_
    assert (choice.model, choice.is_sure) == (kind, True)
    assert min(choice.centred) > min(choice.costs[kind])
    # Not where outliers are compared with zero, nor of sparse data, which cannot be centred.
    half = csr_array(np.where(np.random.default_rng(0).random(X.shape) < 0.5, X + 10.0, 0.0))
    for other, data in (("background", X + 10.0), ("zero", half)):
        choice = NEOCC(4, 4, outlier_cost=other, **options).fit(data).overlap_choice_
        assert choice.centred == ()
