"""A test of the tests of overlap models: each part of a model is spoilt, and the checks say so.

As in `test_checks_can_fail`, every check is called on the same runs unspoilt as well, and must be
all_zero there.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from instances import Instance, make_membership, planted
from sides import CASES_AND_SIDES, Setting, check_half_steps, check_run, watched

import neocc.core.assign as assigning
import neocc.core.engine as engines
from neocc.core.initialise import random_start
from neocc.core.objectives import KMEANS, OBJECTIVES
from neocc.core.overlap import OVERLAP_MODELS
from neocc.core.overlap.sets import SetChoices
from neocc.core.problem import Counts
from neocc.core.steps import make_features, make_terms, score

ROWS, COLUMNS, MOST = Counts(12, 4, 17, 1), Counts(10, 3, 14, 1), 3
OTHERS = ("share", "average", "sum")


def of_models(*models):
    """Every model, objective and side that goes together."""
    return pytest.mark.parametrize(
        ("model", "case", "side"),
        [
            (model, case, side)
            for model in models
            for case, side in CASES_AND_SIDES
            if (model, case) != ("sum", "residue")
        ],
    )


def setting_of(case, model, objective=None):
    """A small problem in which every step has something to lose; `model` is a name or a model."""
    rng = np.random.default_rng(0)
    X = planted(rng, 12, 10, 3, 3, noise=1.0)
    U, V = make_membership(rng, ROWS, MOST), make_membership(rng, COLUMNS, MOST)
    model = OVERLAP_MODELS[model](MOST) if isinstance(model, str) else model
    instance = Instance("planted", X, ROWS, COLUMNS, U, V)
    return Setting(case, instance, objective=objective, tol=0.0, max_iter=4, overlap_model=model)


def assert_reported(setting):
    with watched() as steps:
        solution = setting.solve()
    with pytest.raises(AssertionError):
        check_half_steps(setting.X, steps)
    with pytest.raises(AssertionError):
        check_run(setting.X, solution, steps)


# ---------------------------------------------------------------------------- parts of the model


def too_large(gram):
    return 1.5 * gram


def without_products(gram):
    """Prototypes as if they were orthogonal."""
    return np.diag(np.diag(gram))


def of_other_clusters(gram):
    return np.roll(gram, 1, axis=(0, 1))


@of_models("average", "sum")
@pytest.mark.parametrize(
    "wrong", [too_large, without_products, of_other_clusters], ids=lambda wrong: wrong.__name__
)
def test_wrong_inner_products_of_prototypes_are_reported(model, case, side, wrong):
    kind = type(OBJECTIVES.get(case, KMEANS))

    def spoilt(wrong):
        class Spoilt(kind):
            def terms(self, asked, *args, **options):
                terms = super().terms(asked, *args, **options)
                return replace(terms, gram=wrong(terms.gram)) if side == asked else terms

        return Spoilt()

    setting_of(case, model, spoilt(lambda gram: gram)).checked_solve()
    assert_reported(setting_of(case, model, spoilt(wrong)))


def double_joint(costs):
    return costs._replace(joint=2.0 * costs.joint)


def no_joint(costs):
    return costs._replace(joint=0.0 * costs.joint)


def wrong_own(costs):
    return costs._replace(own=costs.own * np.arange(1.0, len(costs.own) + 1))


def no_fixed(costs):
    return costs._replace(fixed=0.0 * costs.fixed)


@pytest.mark.parametrize("case", ["mean", "residue", "rows", "columns"])
@pytest.mark.parametrize(
    ("model", "wrong"),
    [
        ("average", double_joint),
        ("average", no_joint),
        ("average", wrong_own),
        ("sum", double_joint),
        ("sum", no_joint),
        ("sum", no_fixed),
        ("share", wrong_own),
        ("repeat", wrong_own),
    ],
)
def test_wrong_coefficients_are_reported(model, wrong, case):
    """Those of several clusters are part of the objective, and the checks of runs report them.

    A distance is summed with the weights of memberships; coefficients of distances decide over
    sets alone. They break the rule that present sets cost J (`tests/core/overlap/test_costs.py`).
    """
    if (model, case) == ("sum", "residue"):
        return

    class Spoilt(OVERLAP_MODELS[model]):
        def costs(self, sizes, gram):
            return wrong(super().costs(sizes, gram))

    if wrong is wrong_own:
        for each, right in ((model, True), (Spoilt(MOST), False)):
            of_sets, objective = cost_of_present_sets(setting_of(case, each))
            assert (of_sets == pytest.approx(objective, rel=1e-9)) == right
    else:
        assert_reported(setting_of(case, Spoilt(MOST)))


def cost_of_present_sets(setting):
    """What the sets that items are in cost by the model, and the objective."""
    engine, problem, model = setting.engine, setting.problem, setting.problem.overlap_model
    U, V = (None if each is None else model.weighted(each) for each in setting.pair)
    features = make_features(engine, problem, (U, V))
    terms = make_terms(problem, problem.sides[-1], features, (U, V))
    if V is None:
        (shard,) = engine.shards.each
        choices = shard.choices(U, terms, V, model, True)
    else:
        choices = model.choices(score(engine.kernels, features, terms, V), engine.kernels)
    return choices.present.sum(), choices.scores.objective


def undivided(members):
    return replace(members, scale=None)


def divided_twice(members):
    return replace(members, scale=None if members.scale is None else members.scale**2)


def half(members):
    return replace(members, scale=np.full(members.n_items, 0.5))


def not_mixed(members):
    return replace(members, mixed=False)


@pytest.mark.parametrize("case", ["mean", "residue", "rows", "columns"])
@pytest.mark.parametrize(
    ("model", "wrong"),
    [
        ("share", undivided),
        ("share", divided_twice),
        ("share", half),
        ("average", undivided),
        ("average", divided_twice),
        ("average", not_mixed),
        ("sum", half),
        ("sum", not_mixed),
    ],
)
def test_wrong_weights_of_memberships_are_reported(model, wrong, case):
    if (model, case) == ("sum", "residue"):
        return

    class Spoilt(OVERLAP_MODELS[model]):
        def weighted(self, members):
            return wrong(super().weighted(members))

    setting_of(case, model).checked_solve()
    assert_reported(setting_of(case, Spoilt(MOST)))


# --------------------------------------------------------------------------------------- prices


def too_low(threshold):
    return replace(threshold, extra=threshold.extra - 0.5 * abs(threshold.extra) - 1.0)


def too_high(threshold):
    """Every membership is worth it."""
    return replace(threshold, extra=1e9)


def wrong_changes(threshold):
    return replace(threshold, changes=((0, 3), (1, 3), (2, 3)))


@of_models("repeat", *OTHERS)
@pytest.mark.parametrize(
    "wrong", [too_low, too_high, wrong_changes], ids=lambda wrong: wrong.__name__
)
def test_wrong_prices_are_reported(monkeypatch, model, case, side, wrong):
    setting = setting_of(case, model)
    setting.checked_solve()
    # Memberships that are dearer than those before would not be taken: counts must be wrong too.
    spoil_fallback(monkeypatch, side)
    find = assigning.find_thresholds

    def spoilt(*args, **options):
        return [wrong(each) for each in find(*args, **options)]

    monkeypatch.setattr(engines if side == "rows" else assigning, "find_thresholds", spoilt)
    assert_reported(setting)


# ------------------------------------------------------------------------- memberships before


def spoil_fallback(monkeypatch, side):
    """Never keep the memberships before."""
    monkeypatch.setattr(assigning, "is_feasible", lambda *args: False)


def spoil_assignment(monkeypatch, side):
    """Assign at random, and say truly what that gains."""
    rng, apply = np.random.default_rng(0), SetChoices.apply
    counts = ROWS if side == "rows" else COLUMNS

    def at_random(self, thresholds):
        found = apply(self, thresholds)
        if len(self.curves) != counts.n_items:
            return found
        members = self.model.weighted(random_start(counts, rng, MOST))
        gain = self.present.sum() - self.model.present(self.scores, members).sum()
        return found._replace(members=members, gain=float(gain))

    monkeypatch.setattr(SetChoices, "apply", at_random)


@of_models("repeat", *OTHERS)
def test_assignments_at_random_raise_nothing_unless_memberships_before_are_forgotten(
    monkeypatch, model, case, side
):
    setting = setting_of(case, model)
    # The start is better than nearly all that is drawn at random.
    solution = setting.checked_solve()
    setting.given = {
        "rows": None if solution.U is None else solution.U.dense,
        "columns": None if solution.V is None else solution.V.dense,
    }
    spoil_assignment(monkeypatch, side)
    setting.checked_solve()
    spoil_fallback(monkeypatch, side)
    assert_reported(setting)


def test_items_in_too_many_clusters_are_reported():
    """The bound that a run keeps is not the one that is asked for."""
    setting = setting_of("mean", "share")
    with watched() as steps:
        setting.solve()
    check_half_steps(setting.X, steps)
    largest = max(int(each.after[0].numbers.max()) for each in steps)
    assert largest > 1
    bound = OVERLAP_MODELS["share"](largest - 1)
    spoilt = [replace(each, problem=replace(each.problem, overlap_model=bound)) for each in steps]
    with pytest.raises(AssertionError):
        check_half_steps(setting.X, spoilt)
