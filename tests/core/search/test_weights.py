"""Whatever the search tries, memberships count in sums as the overlap model weighs them."""

from __future__ import annotations

import numpy as np
import pytest
from instances import Instance, make_membership, planted
from sides import Setting

from neocc.core.engine import Engine
from neocc.core.initialise import one_way_start
from neocc.core.overlap import OVERLAP_MODELS
from neocc.core.problem import Counts
from neocc.core.projections import sketched_start, spectral_start
from neocc.core.search.local import OneSide, local_search
from neocc.core.search.perturb import relocate


@pytest.fixture
def weights(monkeypatch):
    """Collect the weights of the memberships in every sum over clusters."""
    seen, features = [], Engine.column_features

    def watched(self, U, V, **options):
        seen.extend(members for members in (U, V) if members is not None)
        return features(self, U, V, **options)

    monkeypatch.setattr(Engine, "column_features", watched)
    return seen


@pytest.mark.parametrize(
    "way",
    [
        lambda at, start, rng: OneSide(at.engine, at.problem, "rows").chain(start),
        lambda at, start, rng: OneSide(at.engine, at.problem, "columns").chain(start),
        lambda at, start, rng: local_search(at.engine, at.problem, start),
        lambda at, start, rng: relocate(at.engine, at.problem, start, "rows", rng),
        lambda at, start, rng: one_way_start(at.engine, at.problem, rng),
        lambda at, start, rng: spectral_start(at.engine, at.problem, rng),
        lambda at, start, rng: sketched_start(at.engine, at.problem, rng),
    ],
    ids=[
        "chain_of_rows",
        "chain_of_columns",
        "local_search",
        "relocate",
        "one_way",
        "spectral",
        "sketch",
    ],
)
@pytest.mark.parametrize("case", ["mean", "residue"])
def test_every_sum_over_clusters_is_weighted(case, way, weights):
    rng = np.random.default_rng(0)
    rows, columns = Counts(30, 3, 45, 2), Counts(20, 3, 30, 0)
    U, V = make_membership(rng, rows), make_membership(rng, columns)
    X = planted(rng, 30, 20, 3, 3, noise=1.0)
    setting = Setting(
        case, Instance("shared", X, rows, columns, U, V), overlap_model=OVERLAP_MODELS["share"]()
    )
    start = setting.solve()
    weights.clear()
    way(setting, start, rng)
    assert any(len(members.extra_items) for members in weights)
    for members in weights:
        np.testing.assert_allclose(members.weights[~members.outliers], 1.0)
