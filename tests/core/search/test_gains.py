"""Gains of single memberships are literal changes of the objective, under every overlap model."""

from __future__ import annotations

import numpy as np
import oracle
import pytest
from instances import Instance
from sides import Setting

from neocc.core.overlap import OVERLAP_MODELS
from neocc.core.problem import Counts

CASES = [
    (m, c)
    for m in oracle.OVERLAP_MODELS
    for c in ("mean", "residue")
    if (m, c) != ("sum", "residue")
]


def draw(seed):
    rng = np.random.default_rng(seed)
    n, m, k, l = 9, 8, 3, 2  # noqa: E741
    U = np.eye(k, dtype=bool)[np.arange(n) % k] | (rng.random((n, k)) < 0.3)
    V = np.eye(l, dtype=bool)[np.arange(m) % l] | (rng.random((m, l)) < 0.2)
    U[0] = False
    return rng.normal(size=(n, m)), U, V


@pytest.mark.parametrize(("model", "case"), CASES)
@pytest.mark.parametrize("side", ["rows", "columns"])
def test_gains_are_literal_changes(model, case, side):
    n_checked = 0
    for seed in range(6):
        X, U, V = draw(seed)
        counts = [Counts(*each.shape, int(each.sum()), 1) for each in (U, V)]
        rule = OVERLAP_MODELS[model](None if model == "repeat" else 3)
        instance = Instance("drawn", X, *counts, U, V)
        setting = Setting(case, instance, overlap_model=rule)
        pair = tuple(rule.weighted(each) for each in setting.pair)
        exchange = setting.exchange(side, *pair)
        before = oracle.overlap_objective(X, U, V, case, model)
        given = U if side == "rows" else V
        for p, q in np.ndindex(given.shape):
            changed = given.copy()
            changed[p, q] ^= True
            found = -exchange.savings[p, q] if given[p, q] else exchange.costs[p, q]
            if np.isfinite(found):
                sides = (changed, V) if side == "rows" else (U, changed)
                after = oracle.overlap_objective(X, *sides, case, model)
                assert found == pytest.approx(after - before, abs=1e-8 * np.square(X).sum())
                n_checked += 1
            else:
                assert given[p, q]
                assert given[:, q].sum() == 1 or exchange.costs[p, q] == np.inf
    assert n_checked > 80
