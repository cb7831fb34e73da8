"""`neocc fit --gpu`."""

from __future__ import annotations

import sys

import pytest
from stand_in import stand_in

from neocc.engines.gpu import shard

TABLE = "name,a,b,c\n" + "".join(f"r{i},{i % 2},{i % 3},{(i + 1) % 2}\n" for i in range(12))
FIT = ("fit", "sales.csv", "--rows", 2, "--columns", 2, "--n-init", 1, "--seed", 0)


@pytest.fixture
def table(run, tmp_path):
    (tmp_path / "sales.csv").write_text(TABLE)


def test_the_result_is_that_of_the_cpu(run, table, tmp_path, monkeypatch):
    device = stand_in()
    monkeypatch.setattr(shard, "open_card", lambda: device)
    for folder, options in (("cpu", ()), ("gpu", ("--gpu",))):
        assert run(*FIT, "-o", folder, *options).code == 0
    assert device.kernels.crossed
    one, other = ((tmp_path / name / "rows.csv").read_text() for name in ("cpu", "gpu"))
    assert one == other


def test_what_is_missing_is_named(run, table, monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    ran = run(*FIT, "--gpu")
    assert ran.code != 0
    said = " ".join(ran.err.split())
    assert '--gpu needs CuPy: pip install "neocc[gpu]"' in said
    assert "neocc fit without --gpu fits the data on the CPU." in said
