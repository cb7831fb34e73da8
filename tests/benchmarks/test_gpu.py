"""`python -m benchmarks.gpu` where there is no card, and what it does with what fails."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from stand_in import stand_in

from benchmarks import gpu
from neocc.engines import GpuError


def run(monkeypatch, *options):
    monkeypatch.setattr(sys, "argv", ["gpu", *map(str, options)])
    with pytest.raises(SystemExit) as ended:
        gpu.main()
    return ended.value.code


def no_card():
    raise GpuError("no card here")


def test_help_needs_no_card(monkeypatch, capsys):
    monkeypatch.setattr(gpu, "open_card", no_card)
    assert run(monkeypatch, "--help") == 0
    assert "--entries" in capsys.readouterr().out


def test_without_a_card_a_sentence_says_so(monkeypatch, capsys):
    monkeypatch.setattr(gpu, "open_card", no_card)
    assert run(monkeypatch) == 1
    assert capsys.readouterr().err == "no card here\n"


def test_more_entries_than_indices_can_count_are_refused(monkeypatch, capsys):
    monkeypatch.setattr(gpu, "open_card", no_card)
    assert run(monkeypatch, "--entries", 3e9) == 2
    assert "below 2**31" in capsys.readouterr().err


class Failing(gpu.Bench):
    """A fit that fails among others."""

    def __init__(self, given, page):
        self.given, self.page, self.k, self.wait = given, page, 3, lambda: None

    def run(self):
        self.iteration(SimpleNamespace(shape=(30, 20)), "NEO-CC-M", "mean", None)


def test_a_page_with_a_fit_that_failed_is_not_written(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(gpu, "open_card", lambda: None)
    monkeypatch.setattr(gpu, "Bench", Failing)
    page = tmp_path / "gpu.md"
    page.write_text("as it was")
    assert run(monkeypatch, "--write", page) == 1
    said = capsys.readouterr()
    assert "| NEO-CC-M | AttributeError" in said.out
    assert "nothing is written" in said.err
    assert page.read_text() == "as it was"


def test_the_current_card_is_described():
    def properties(card):
        return {"name": b"card %d" % card, "totalGlobalMem": 2**30, "multiProcessorCount": 1}

    runtime = SimpleNamespace(
        getDeviceProperties=properties,
        driverGetVersion=lambda: 13000,
        runtimeGetVersion=lambda: 12090,
    )
    cuda = SimpleNamespace(runtime=runtime, Device=lambda: SimpleNamespace(id=3))
    said = gpu.device_line(SimpleNamespace(cuda=cuda, __version__="14.2.0"))
    assert said.startswith("card 3, 1 GiB")


@pytest.mark.parametrize("pages", [0, 1 << 30])
def test_all_entries_are_put_there_if_there_is_room(monkeypatch, pages):
    X = sparse.random_array((40, 30), density=0.3, random_state=0, format="csr", dtype=np.float32)
    bench, page = Failing.__new__(Failing), gpu.Page()
    bench.page, bench.wait, given = page, lambda: None, gpu.on_gpu
    monkeypatch.setattr(gpu, "on_gpu", lambda *rest: given(*rest, stand_in()))
    names = {"SC_AVPHYS_PAGES": pages, "SC_PAGE_SIZE": 4096}
    monkeypatch.setattr(gpu.os, "sysconf", names.__getitem__)
    X.get = X.copy
    bench.upload(X)
    (line,) = page.lines
    assert line.startswith("Putting all 360" if pages else "All 360 entries were not put there")
    assert ("GB/s" in line) == bool(pages)
