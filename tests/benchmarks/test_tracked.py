"""What asv follows runs, on smaller data."""

from __future__ import annotations

import math

import pytest

from benchmarks.tracked.fits import Fits, Iterations


@pytest.mark.parametrize("case", Iterations.params)
def test_iterations(case, monkeypatch):
    monkeypatch.setattr(Iterations, "shape", (60, 40, 600))
    one = Iterations()
    one.setup(case)
    one.time_iterations(case)
    assert math.isfinite(one.track_objective(case))


def test_fits(monkeypatch):
    monkeypatch.setattr(Fits, "shape", (40, 20))
    one = Fits()
    one.setup()
    for name in ("time_coclusters", "time_clusters", "time_predict"):
        getattr(one, name)()
    assert one.track_objective() > 0
