"""`neocc fit --gpu`."""

from __future__ import annotations

import json
import sys

import pytest
from stand_in import stand_in

from neocc.engines import gpu
from neocc.engines.gpu import shard

TABLE = "name,a,b,c\n" + "".join(f"r{i},{i % 2},{i % 3},{(i + 1) % 2}\n" for i in range(12))
FIT = ("fit", "sales.csv", "--rows", 2, "--columns", 2, "--n-init", 1, "--seed", 0)


@pytest.fixture
def table(run, tmp_path):
    (tmp_path / "sales.csv").write_text(TABLE)


@pytest.fixture
def card(monkeypatch):
    device = stand_in()
    for module in (gpu, shard):
        monkeypatch.setattr(module, "open_card", lambda: device)
    return device


def test_the_result_is_that_of_the_cpu(run, table, tmp_path, card):
    for folder, options in (("cpu", ()), ("gpu", ("--gpu",))):
        assert run(*FIT, "-o", folder, *options).code == 0
    assert card.kernels.crossed
    one, other = ((tmp_path / name / "rows.csv").read_text() for name in ("cpu", "gpu"))
    assert one == other


def test_so_is_that_of_a_fit_with_a_checkpoint(run, table, tmp_path, card):
    kept = ("--checkpoint", "kept", "--checkpoint-every", 0)
    for folder, options in (("cpu", ()), ("gpu", ("--gpu", *kept))):
        assert run(*FIT, "-o", folder, *options).code == 0
    one, other = ((tmp_path / name / "rows.csv").read_text() for name in ("cpu", "gpu"))
    assert one == other


def test_where_a_fit_ran_is_recorded(run, table, tmp_path, card):
    """It is repeated there, unless another place is asked for; so are the commands to try next."""
    assert run("fit", "sales.csv", "--n-init", 1, "--gpu", "-o", "once").code == 0
    record = json.loads((tmp_path / "once" / "record.json").read_text())
    assert record["settings"]["gpu"] is True
    fits = [one["command"] for one in record["settings"]["story"]["next"]]
    assert all("--gpu" in command for command in fits if command.startswith("neocc fit"))
    card.kernels.crossed.clear()
    repeat = ("fit", "--from", "once/record.json", "-o")
    assert run(*repeat, "here", "--no-gpu").code == 0
    assert not card.kernels.crossed
    assert run(*repeat, "there").code == 0
    assert card.kernels.crossed
    one, other = ((tmp_path / name / "rows.csv").read_text() for name in ("here", "there"))
    assert one == other


def test_what_is_missing_is_named_before_anything_is_read(run, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "cupy", None)
    (tmp_path / "sales.csv").write_text("this is no table")
    ran = run(*FIT, "--gpu")
    assert ran.code != 0
    said = " ".join(ran.err.split())
    assert '--gpu needs CuPy: pip install "neocc[gpu]"' in said
    assert "neocc fit --no-gpu fits the data on the CPU." in said
