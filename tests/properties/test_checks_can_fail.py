"""A test of the tests: the checks behind the properties report every kind of wrong half-step.

A check that cannot fail proves nothing. Here the row step or the column step is wrong on purpose,
in one way at a time and for every objective, and the checks that the property tests call must say
so. Each of them is called on the same runs unspoilt as well: it must be all_zero there.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from instances import Instance, make_membership, planted
from sides import (
    CASES_AND_SIDES,
    ROUNDING,
    Setting,
    check_half_steps,
    check_history,
    check_refined_history,
    check_run,
    watched,
)

import neocc.core.assign as assigning
import neocc.core.engine as engines
import neocc.core.solve as loop
import neocc.core.steps as stepping
from neocc import NEOCC
from neocc.core.initialise import random_pair, random_start
from neocc.core.objectives import KMEANS, OBJECTIVES
from neocc.core.problem import Counts
from neocc.core.search import search
from neocc.core.thresholds import EVERY
from neocc.kernels import Memberships

each_step = pytest.mark.parametrize(("case", "side"), CASES_AND_SIDES)
ROWS, COLUMNS = Counts(12, 3, 14, 1), Counts(10, 3, 11, 1)


def setting_of(case, objective=None, seed=0):
    """A small problem in which every step has something to lose, and no two distances tie."""
    rng = np.random.default_rng(seed)
    X = planted(rng, 12, 10, 3, 3, noise=1.0)
    U, V = make_membership(rng, ROWS), make_membership(rng, COLUMNS)
    return Setting(case, Instance("planted", X, ROWS, COLUMNS, U, V), objective=objective, tol=0.0)


def assert_reported(setting):
    """The checks of a whole run and of its half-steps must both object."""
    with watched() as steps:
        solution = setting.solve()
    with pytest.raises(AssertionError):
        check_half_steps(setting.X, steps)
    with pytest.raises(AssertionError):
        check_run(setting.X, solution, steps)


# ------------------------------------------------------------------------------ wrong answers


def at_random(before, found, counts, rng):
    return random_start(counts, rng)


def shifted_by_one(before, found, counts, rng):
    return Memberships.from_dense(np.roll(found.dense, 1, axis=0))


def shifted_clusters(before, found, counts, rng):
    return Memberships.from_dense(np.roll(found.dense, 1, axis=1))


def as_before(before, found, counts, rng):
    """Never rises, and never does anything."""
    return before


def one_too_few(before, found, counts, rng):
    matrix = found.dense.copy()
    matrix[tuple(np.argwhere(matrix)[-1])] = False
    return Memberships.from_dense(matrix)


def one_too_many(before, found, counts, rng):
    matrix = found.dense.copy()
    matrix[tuple(np.argwhere(~matrix)[0])] = True
    return Memberships.from_dense(matrix)


WRONG_ANSWERS = (
    at_random,
    shifted_by_one,
    shifted_clusters,
    as_before,
    one_too_few,
    one_too_many,
)


def spoil_answers(monkeypatch, side, wrong):
    """Let the steps of one side end with wrong memberships."""
    half_step, rng = loop.half_step, np.random.default_rng(0)

    def spoilt(engine, problem, at, features, pair):
        step = half_step(engine, problem, at, features, pair)
        if at != side:
            return step
        before = pair[0 if side == "rows" else 1]
        members = wrong(before, step.members, problem.counts(side), rng)
        return step._replace(members=members)

    monkeypatch.setattr(loop, "half_step", spoilt)


@each_step
@pytest.mark.parametrize("wrong", WRONG_ANSWERS, ids=lambda wrong: wrong.__name__)
def test_wrong_memberships_are_reported(monkeypatch, case, side, wrong):
    setting = setting_of(case)
    setting.checked_solve()
    spoil_answers(monkeypatch, side, wrong)
    assert_reported(setting)


@each_step
def test_a_history_that_hides_a_rise_is_reported(monkeypatch, case, side):
    # What a reverse running maximum made of histories: they could not rise whatever happened.
    setting = setting_of(case)
    spoil_answers(monkeypatch, side, at_random)
    with watched() as steps:
        solution = setting.solve()
    hidden = np.maximum.accumulate(solution.history[::-1])[::-1]
    check_history(hidden, 1.0)
    with pytest.raises(AssertionError):
        check_run(setting.X, replace(solution, history=hidden), steps)
    with pytest.raises(AssertionError):
        check_refined_history(setting.X, hidden, steps)


def test_a_history_other_than_the_one_computed_is_reported():
    setting = setting_of("mean")
    with watched() as steps:
        solution = setting.solve()
    check_refined_history(setting.X, solution.history, steps)
    for history in (
        solution.history[1:],
        solution.history[:-1],
        np.sort(solution.history),
        solution.history * (1 + 1e-12),
    ):
        with pytest.raises(AssertionError):
            check_run(setting.X, replace(solution, history=history), steps)
    for history in (np.sort(solution.history), solution.history * (1 + 1e-12)):
        with pytest.raises(AssertionError):
            check_refined_history(setting.X, history, steps)


def test_a_rise_is_reported_from_the_documented_tolerance_on():
    check_history(np.array([2.0, 1.0, 1.0 + 0.9 * ROUNDING]), 1.0)
    with pytest.raises(AssertionError):
        check_history(np.array([2.0, 1.0, 1.0 + 1.1 * ROUNDING]), 1.0)


# ------------------------------------------------------------------- wrong terms of a half-step


def negative_slope(terms):
    """Of k-means, whose distances have no slope, the scale of the products."""
    if terms.slope is None:
        return replace(terms, scale=-terms.scale)
    return replace(terms, slope=-terms.slope)


def no_offset(terms):
    return replace(terms, offset=np.zeros_like(terms.offset))


def one_cluster_for_another(terms):
    return replace(terms, offset=np.roll(terms.offset, 1))


def spoilt_objective(case, side, wrong):
    """The objective of a case with wrong terms on one side."""
    kind = type(OBJECTIVES.get(case, KMEANS))

    class Spoilt(kind):
        def terms(self, asked, *args, **options):
            terms = super().terms(asked, *args, **options)
            return wrong(terms) if side == asked else terms

    return Spoilt()


@each_step
@pytest.mark.parametrize(
    "wrong", [negative_slope, no_offset, one_cluster_for_another], ids=lambda wrong: wrong.__name__
)
def test_wrong_terms_are_reported(case, side, wrong):
    setting_of(case, spoilt_objective(case, side, lambda terms: terms)).checked_solve()
    assert_reported(setting_of(case, spoilt_objective(case, side, wrong)))


# ------------------------------------------------------------------------------ wrong thresholds


def too_low(threshold):
    return replace(threshold, nearest=0.5 * threshold.nearest)


def too_high(threshold):
    return replace(threshold, extra=2.0 * threshold.extra)


def both_off(threshold):
    """Leave items out that should be in, and make up for them with extra memberships."""
    return replace(threshold, nearest=0.5 * threshold.nearest, extra=2.0 * threshold.extra)


def without_ties(threshold):
    return replace(threshold, n_nearest_ties=0, n_extra_ties=EVERY)


@each_step
@pytest.mark.parametrize(
    "wrong", [too_low, too_high, both_off, without_ties], ids=lambda wrong: wrong.__name__
)
def test_wrong_thresholds_are_reported(monkeypatch, case, side, wrong):
    setting = setting_of(case)
    setting.checked_solve()
    find = assigning.find_thresholds

    def spoilt(*args, **options):
        return [wrong(each) for each in find(*args, **options)]

    # Rows are assigned by the engine, wherever they are; columns in this process.
    monkeypatch.setattr(engines if side == "rows" else assigning, "find_thresholds", spoilt)
    assert_reported(setting)


# ------------------------------------------------------------------------- searches and estimators


def test_wrong_steps_of_a_search_are_reported(monkeypatch):
    setting = setting_of("mean")
    for spoilt in (False, True):
        if spoilt:
            spoil_answers(monkeypatch, "columns", shifted_by_one)
        with watched() as steps:
            rng = np.random.default_rng(0)
            found = list(
                search(setting.engine, setting.problem, setting.pair, 1, rng, thorough=True)
            )
        if not spoilt:
            check_refined_history(setting.X, found[-1].history, steps)
            continue
        with pytest.raises(AssertionError):
            check_refined_history(setting.X, found[-1].history, steps)


@pytest.mark.parametrize("side", ["rows", "columns"])
@pytest.mark.parametrize("objective", ["mean", "residue"])
def test_wrong_steps_of_an_estimator_are_reported(monkeypatch, objective, side):
    setting = setting_of(objective)
    model = NEOCC(
        3,
        3,
        objective=objective,
        row_overlap=2 / 12,
        row_outliers=1 / 12,
        column_overlap=1 / 10,
        column_outliers=1 / 10,
        init=(setting.given["rows"], setting.given["columns"]),
        refine=False,
        n_jobs=1,
    )
    with watched() as steps:
        model.fit(setting.X)
    check_refined_history(setting.X, model.history_, steps)
    name = "assign_rows" if side == "rows" else "assign"
    place = engines.Engine if side == "rows" else stepping
    right = getattr(place, name)

    def reversed_items(*args):
        found = right(*args)
        return found._replace(members=Memberships.from_dense(found.members.dense[::-1]))

    monkeypatch.setattr(place, name, reversed_items)
    with watched() as steps:
        model.fit(setting.X)
    with pytest.raises(AssertionError):
        check_refined_history(setting.X, model.history_, steps)


def test_a_search_that_takes_worse_solutions_is_reported():
    # Every half-step is right, but a run that ended higher is taken for an improvement.
    setting = setting_of("mean")
    best = setting.solve()
    with watched() as steps:
        start = random_pair(setting.problem, np.random.default_rng(0))
        worse = loop.solve(setting.engine, replace(setting.problem, max_iter=1), start)
    assert worse.objective > best.objective
    found = loop.improved(best, worse)
    check_half_steps(setting.X, steps)
    with pytest.raises(AssertionError):
        check_refined_history(setting.X, found.history, [*steps, *_steps_to(setting)])


def _steps_to(setting):
    with watched() as steps:
        setting.solve()
    return steps
