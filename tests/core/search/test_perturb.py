"""Perturbations keep what must be kept, and a search finds out which of them work."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from instances import make_counts, make_instance, make_membership, members
from sides import CASES, Setting

from neocc.core.objectives import OBJECTIVES
from neocc.core.problem import Counts, Problem
from neocc.core.search.perturb import Bandit, perturb, relocate, shake

each_case = pytest.mark.parametrize("case", CASES)
N_WAYS = len(Bandit().tries)


def settings(case, n, largest=8, kind=None, **options):
    for seed in range(n):
        rng = np.random.default_rng([11, seed])
        instance = make_instance(rng, kind, largest)
        yield Setting(case, instance, stored=bool(rng.random() < 0.3), **options)


# --------------------------------------------------------------------------------------- shake


@pytest.mark.parametrize("fraction", [0.0, 0.03, 0.3, 1.0])
def test_a_shake_keeps_the_memberships_of_every_item(fraction):
    for seed in range(50):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 20))
        counts = make_counts(rng, n, int(rng.integers(1, 5)))
        before = make_membership(rng, counts)
        given = members(before)
        after = shake(given, fraction, rng)
        assert after.n_clusters == counts.n_clusters
        np.testing.assert_array_equal(after.dense.sum(axis=1), before.sum(axis=1))
        np.testing.assert_array_equal(given.dense, before)
        if fraction == 0.0:
            np.testing.assert_array_equal(after.dense, before)


def test_a_shake_moves_about_the_fraction_asked_for():
    given = members(np.eye(10)[np.arange(5000) % 10])
    for fraction in (0.03, 0.3, 1.0):
        moved = shake(given, fraction, np.random.default_rng(0)).first != given.first
        assert moved.mean() == pytest.approx(0.9 * fraction, abs=0.02)


def test_a_shake_is_reproducible():
    given = members(np.eye(4)[np.arange(50) % 4])
    pair = [shake(given, 0.5, np.random.default_rng(3)).first for _ in range(2)]
    np.testing.assert_array_equal(*pair)


# ------------------------------------------------------------------------------------ relocate


@each_case
def test_a_relocation_is_feasible_and_leaves_the_other_side_alone(case):
    for setting in settings(case, 30):
        before = setting.solve()
        for side in setting.sides:
            rng = np.random.default_rng(0)
            U, V = relocate(setting.engine, setting.problem, before, side, rng)
            setting.assert_feasible(replace(before, U=U, V=V))
            assert (V is before.V) if side == "rows" else (U is before.U)


@each_case
def test_every_way_that_a_problem_allows_keeps_the_counts(case):
    for setting in settings(case, 20):
        before = setting.solve()
        bandit, rng = Bandit(), np.random.default_rng(0)
        for way in {bandit.choose(setting.problem, rng) for _ in range(50)}:
            pair = perturb(setting.engine, setting.problem, before, way, rng)
            for found, counts in zip(
                pair, (setting.problem.rows, setting.problem.columns), strict=True
            ):
                assert (found is None) == (counts is None)
                if counts is not None:
                    assert found.n_total == counts.n_memberships
                    assert found.outliers.sum() <= counts.max_outliers


def test_dense_and_sparse_data_are_relocated_alike():
    for seed in range(20):
        instance = make_instance(np.random.default_rng([11, seed]), "sparse")
        for side in ("rows", "columns"):
            pairs = []
            for stored in (False, True):
                setting = Setting("mean", instance, stored)
                before, rng = setting.solve(), np.random.default_rng(seed)
                pairs.append(relocate(setting.engine, setting.problem, before, side, rng))
            for one, other in zip(*pairs, strict=True):
                np.testing.assert_array_equal(one.dense, other.dense)


# -------------------------------------------------------------------------------------- bandit


def problem(rows=True, columns=True):
    counts = Counts(10, 2, 10, 0)
    return Problem(OBJECTIVES["mean"], counts if rows else None, counts if columns else None)


def shares(bandit, asked, n=4000):
    rng = np.random.default_rng(0)
    return np.bincount([bandit.choose(asked, rng) for _ in range(n)], minlength=N_WAYS) / n


def test_at_first_all_ways_are_alike():
    np.testing.assert_allclose(shares(Bandit(), problem()), 1 / N_WAYS, atol=0.03)


def test_a_side_that_is_not_clustered_is_not_relocated():
    rows, columns = N_WAYS - 2, N_WAYS - 1
    assert shares(Bandit(), problem(columns=False))[columns] == 0.0
    assert shares(Bandit(), problem(rows=False))[rows] == 0.0
    assert (shares(Bandit(), problem()) > 0.0).all()


def test_ways_are_chosen_in_proportion_to_their_success():
    bandit = Bandit()
    for way in range(N_WAYS):
        for at in range(98):
            bandit.learn(way, success=way == 1 or (way == 2 and at % 2 == 0))
    assert (bandit.tries == 100.0).all()
    assert bandit.successes[[0, 1, 2]].tolist() == [1.0, 99.0, 50.0]
    rates = bandit.successes / bandit.successes.sum()
    np.testing.assert_allclose(shares(bandit, problem()), rates, atol=0.03)


def test_what_was_noted_of_a_bandit_does_not_change():
    bandit = Bandit()
    bandit.learn(0, success=True)
    noted = dict(vars(bandit))
    again = Bandit(**noted)
    again.learn(0, success=True)
    assert noted["tries"].tolist() == bandit.tries.tolist() == [3.0, *[2.0] * (N_WAYS - 1)]
    assert noted["successes"][0] == bandit.successes[0] == 2.0
    assert again.successes[0] == 3.0
