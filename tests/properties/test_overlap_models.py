"""Every overlap model keeps what it promises, over random and degenerate instances.

The objective is judged by its literal formula, never by what the code says of itself: counts are
exact, no item is in more clusters than allowed, and no half-step raises the objective. That these
checks can fail is shown in `test_overlap_checks_can_fail`.
"""

from __future__ import annotations

import numpy as np
import oracle
import pytest
from instances import KINDS, Instance, make_instance
from sides import Setting, assert_feasible, check_refined_history, watched

from neocc import NEOCC, NEOKMeans
from neocc.core.overlap import OVERLAP_MODELS
from neocc.core.problem import Counts

# Small data with much overlap: clusters may well coincide.
pytestmark = pytest.mark.filterwarnings("ignore::neocc.RedundancyWarning")

each_model = pytest.mark.parametrize("model", oracle.OVERLAP_MODELS)
CASES = ("mean", "residue", "rows", "columns")
BOUNDS = (None, 1, 2, 3, 2)


def draw(model, seed, largest=6) -> Setting:
    """A problem of any kind, bound, objective and container."""
    rng = np.random.default_rng(seed)
    most = BOUNDS[seed % len(BOUNDS)]
    case = str(rng.choice([each for each in CASES if (model, each) != ("sum", "residue")]))
    kind = KINDS[seed % len(KINDS)] if seed % 2 else "gaussian"
    instance = make_instance(rng, kind, largest, most)
    while most != 1 and seed % 3 and kind == "gaussian" and not overlaps(instance):
        instance = make_instance(rng, kind, largest, most)
    return Setting(
        case, instance, stored=seed % 5 == 0, overlap_model=OVERLAP_MODELS[model](most), tol=0.0
    )


def overlaps(instance: Instance) -> bool:
    """Whether some rows and some columns must be in several clusters."""
    return all(
        counts.n_memberships > counts.n_items for counts in (instance.rows, instance.columns)
    )


def check(model, seeds):
    n_overlaps = n_outliers = n_steps = 0
    for seed in seeds:
        setting = draw(model, seed)
        try:
            solution = setting.checked_solve()
            setting.assert_feasible(solution)
        except AssertionError as error:
            raise AssertionError(f"{model}, seed {seed}, {setting.case}: {error}") from error
        found = [each for each in solution.pair if each is not None]
        n_overlaps += any((each.numbers > 1).any() for each in found)
        n_outliers += any(each.outliers.any() for each in found)
        n_steps += len(solution.history)
    # Not vacuous: many have overlap or outliers, and nearly all make several steps.
    assert n_overlaps > 0.4 * len(seeds)
    assert n_outliers > 0.2 * len(seeds)
    assert n_steps > 3 * len(seeds)


@each_model
def test_no_half_step_raises_the_literal_objective(model):
    check(model, range(60))


@pytest.mark.slow
@each_model
def test_no_half_step_of_ten_thousand_runs_raises_the_literal_objective(model):
    check(model, range(10_000, 20_000))


# ------------------------------------------------------------------------------------ estimators


def options_of(instance: Instance, most):
    rows, columns = instance.rows, instance.columns
    return {
        "row_overlap": rows.n_memberships / rows.n_items - 1,
        "row_outliers": rows.max_outliers / rows.n_items,
        "column_overlap": columns.n_memberships / columns.n_items - 1,
        "column_outliers": columns.max_outliers / columns.n_items,
        "max_memberships": most,
        "random_state": 0,
        "n_jobs": 1,
    }


def make_models(model, instance, seed, most, **more):
    """A co-clustering and a clustering of the instance."""
    rows, columns = instance.rows, instance.columns
    options = options_of(instance, most)
    objective = "mean" if model == "sum" or seed % 2 else "residue"
    yield NEOCC(
        rows.n_clusters,
        columns.n_clusters,
        objective=objective,
        overlap_model=model,
        **{"n_init": 2, "refine": False, **options, **more},
    )
    if "refine" not in more:
        one_way = {key: options[key] for key in ("max_memberships", "random_state", "n_jobs")}
        yield NEOKMeans(
            rows.n_clusters,
            overlap=options["row_overlap"],
            outliers=options["row_outliers"],
            overlap_model=model,
            n_init=2,
            init="random" if more.get("init") == "random" else "k-means++",
            **one_way,
        )


def check_fit(model, instance, most):
    """Fit, and check every half-step of every run that the fit consists of."""
    with watched() as steps:
        model.fit(instance.X)
    check_refined_history(instance.X, model.history_, steps)
    if isinstance(model, NEOCC):
        found = (model.row_membership_, model.column_membership_)
        expected = oracle.overlap_objective(
            instance.X, *found, model.objective, model.overlap_model
        )
    else:
        found = (model.membership_,)
        expected = oracle.overlap_objective(instance.X, *found, None, "kmeans", model.overlap_model)
    for U, counts in zip(found, (instance.rows, instance.columns), strict=False):
        assert U.sum() == counts.n_memberships
        assert (~U.any(axis=1)).sum() <= counts.max_outliers
        assert U.sum(axis=1).max() <= most
    scale = (instance.X**2).sum() * max(each.sum() for each in found)
    assert model.objective_ == pytest.approx(expected, rel=1e-9, abs=1e-11 * scale)


@each_model
@pytest.mark.parametrize("init", ["neo-kmeans", "random"])
def test_no_half_step_from_any_start_raises_the_literal_objective(model, init):
    for seed in range(0, len(KINDS), 2):
        most = BOUNDS[1 + seed % 3]
        instance = make_instance(np.random.default_rng(seed), KINDS[seed], 6, most)
        for each in make_models(model, instance, seed, most, init=init):
            check_fit(each, instance, most)


@each_model
def test_no_half_step_of_a_refinement_raises_the_literal_objective(model):
    for seed in range(2):
        most = BOUNDS[1 + seed % 3]
        kind = ("gaussian", "tied", "zeros", "duplicated")[seed]
        instance = make_instance(np.random.default_rng(seed), kind, 5, most)
        for each in make_models(model, instance, seed, most, n_init=1, refine=True):
            check_fit(each, instance, most)


@each_model
@pytest.mark.parametrize("init", ["spectral", "sketch"])
def test_starts_that_know_no_bound_end_within_it(model, init):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 12))
    found = NEOCC(
        4, 3, overlap_model=model, max_memberships=2, row_overlap=0.6, row_outliers=0.1,
        column_overlap=0.5, init=init, n_init=1, refine=False, random_state=0,
    ).fit(X)  # fmt: skip
    assert found.row_membership_.sum() == 32
    assert found.row_membership_.sum(axis=1).max() <= 2
    assert found.column_membership_.sum(axis=1).max() <= 2


# ---------------------------------------------------------------------------- how models compare


@each_model
def test_transposing_exchanges_the_roles(model):
    for seed in range(20):
        setting = draw(model, seed)
        if setting.case not in ("mean", "residue"):
            continue
        U, V = setting.given["rows"], setting.given["columns"]
        there = oracle.overlap_objective(setting.X, U, V, setting.case, model)
        back = oracle.overlap_objective(setting.X.T, V, U, setting.case, model)
        assert back == pytest.approx(there, rel=1e-9, abs=1e-11 * setting.scale)


@pytest.mark.parametrize(("planted", "scale"), [("average", 0.5), ("sum", 1.0)])
def test_rows_that_combine_two_prototypes_are_found_by_the_model_that_says_so(planted, scale):
    rng = np.random.default_rng(0)
    prototypes = 4.0 * rng.normal(size=(3, 15))
    U = np.eye(3, dtype=bool)[np.arange(40) % 3]
    U[:10] |= np.roll(U[:10], 1, axis=1)
    weights = np.where(U.sum(axis=1) > 1, scale, 1.0)
    X = weights[:, None] * (U @ prototypes) + 0.1 * rng.normal(size=(40, 15))
    fits = {
        name: NEOKMeans(3, overlap=0.25, overlap_model=name, random_state=0).fit(X)
        for name in oracle.OVERLAP_MODELS
    }
    found = fits[planted].membership_
    order = [int(np.argmax([np.all(found[:, j] == u) for j in range(3)])) for u in U.T]
    np.testing.assert_array_equal(found[:, order], U)
    assert min(fits, key=lambda name: fits[name].objective_) == planted


def test_a_start_that_breaks_the_bound_is_mended_by_the_first_step():
    rng = np.random.default_rng(0)
    X, U = rng.normal(size=(6, 5)), np.zeros((6, 3), dtype=bool)
    U[0], U[1:, 0] = True, True
    V = np.eye(2, dtype=bool)[np.arange(5) % 2]
    rows, columns = Counts(6, 3, 8, 0), Counts(5, 2, 5, 0)
    instance = Instance("gaussian", X, rows, columns, U, V)
    setting = Setting("mean", instance, overlap_model=OVERLAP_MODELS["average"](2))
    solution = setting.checked_solve()
    assert_feasible(solution.U, rows, 2)


@pytest.mark.parametrize("model", ["average", "sum"])
def test_rows_of_three_clusters_are_predicted_as_they_were_fitted(model):
    """Prediction knows no memberships before: it must find the best sets by itself."""
    n_rows, k, l, n_threes = 150, 5, 3, 0  # noqa: E741
    for seed in range(4):
        rng = np.random.default_rng(seed)
        levels, V = 3.0 * rng.normal(size=(k, l)), np.arange(24) % l
        U = np.array([rng.permutation(k) < 1 + 2 * (i % 5 == 1) for i in range(n_rows)]) * 1.0
        parts = U / U.sum(axis=1, keepdims=True) if model == "average" else U
        X = (parts @ levels)[:, V] + 0.3 * rng.normal(size=(n_rows, 24))
        overlap = U.sum() / n_rows - 1.0
        found = NEOCC(k, l, row_overlap=overlap, overlap_model=model, random_state=0, tol=0.0)
        fitted = found.set_params(row_outliers=0.02, n_init=3).fit(X).row_membership_
        threes = fitted.sum(axis=1) == 3
        n_threes += threes.sum()
        np.testing.assert_array_equal(found.predict_membership(X)[threes], fitted[threes])
    assert n_threes > 50
