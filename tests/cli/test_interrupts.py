"""Ctrl-C ends a command at once, and loses nothing that was found."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from importlib import import_module

import numpy as np
import pytest

from neocc import NEOCC
from neocc.cli._terminal import Terminal
from neocc.io import load_model

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="SIGINT is sent by signal")


@pytest.fixture
def noise(tmp_path):
    """A matrix that keeps a search busy."""
    X = np.random.default_rng(0).normal(size=(300, 200))
    np.save(tmp_path / "noise.npy", X)
    return tmp_path / "noise.npy"


def wait_for(fd, pattern, seconds=120):
    """Read what a terminal shows until a pattern occurs."""
    shown = b""
    deadline = time.monotonic() + seconds
    while not re.search(pattern, shown):
        assert time.monotonic() < deadline, shown[-2000:]
        shown += os.read(fd, 65536)


def start(command, folder):
    """Start a command whose progress goes to a terminal; return it and the terminal."""
    import pty

    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "80"}
    process = subprocess.Popen(
        [sys.executable, "-m", "neocc", *map(str, command)],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=theirs,
    )
    os.close(theirs)
    return process, ours


def finish(process, terminal):
    """Read the rest of both outputs."""
    with process.stdout as stream:
        out = stream.read().decode()
    shown = b""
    try:
        while part := os.read(terminal, 65536):
            shown += part
    except OSError:  # the other end is closed
        pass
    os.close(terminal)
    return process.wait(timeout=120), out, shown.decode()


def test_an_interrupted_fit_keeps_the_best_so_far(noise, tmp_path):
    pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9: no steps are shown")
    fractions = ("--row-overlap", 0, "--row-outliers", 0, "--column-overlap", 0)
    command = ("fit", noise, "--rows", 10, "--columns", 10, "--n-init", 400, *fractions)
    process, terminal = start((*command, "--column-outliers", 0, "-o", "out"), tmp_path)
    wait_for(terminal, rb"Fitting.* [1-9][0-9]*/")
    process.send_signal(signal.SIGINT)
    code, out, shown = finish(process, terminal)
    assert code == 130, shown
    assert "Traceback" not in shown
    assert "best result so far is in out" in shown
    assert "interrupted: the best so far" in " ".join(out.split())
    record = json.loads((tmp_path / "out" / "record.json").read_text())
    assert record["settings"]["interrupted"] is True
    model = load_model(tmp_path / "out" / "model.neocc")
    assert model.row_membership_.sum() == 300
    assert (tmp_path / "out" / "report.html").is_file()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["noise.npy", "out"]


def interrupt_fits(monkeypatch, keep):
    """Interrupt fits in this process, with or without a result."""
    whole = NEOCC.fit

    def fit(self, X, y=None):
        if keep:
            whole(self, X)
        raise KeyboardInterrupt

    monkeypatch.setattr(NEOCC, "fit", fit)


QUICK = ("--rows", 2, "--columns", 2, "--row-overlap", 0, "--column-overlap", 0, "--n-init", 1)


def test_a_fit_that_has_nothing_yet_writes_nothing(run, women, tmp_path, monkeypatch):
    interrupt_fits(monkeypatch, keep=False)
    ran = run("fit", women, *QUICK)
    assert ran.code == 130
    assert "nothing was written" in ran.err
    assert [path.name for path in tmp_path.iterdir()] == ["women.csv"]


def test_a_quiet_fit_says_that_it_was_interrupted(run, women, tmp_path, monkeypatch):
    interrupt_fits(monkeypatch, keep=True)
    ran = run("fit", women, *QUICK, "--quiet")
    assert ran.code == 130
    assert ran.out == ""
    assert "best result so far" in ran.err
    ran = run("fit", women, *QUICK, "--json", "--force")
    assert ran.code == 130
    assert json.loads(ran.out)["interrupted"] is True


def test_an_interrupted_run_goes_on_to_the_end_when_repeated(run, women, tmp_path, monkeypatch):
    with monkeypatch.context() as patched:
        interrupt_fits(patched, keep=True)
        assert run("fit", women, *QUICK, "-o", "first").code == 130
    ran = run("fit", "--from", "first/record.json", "-o", "second")
    assert ran.code == 0, ran.err
    assert "was interrupted" in ran.err


def interrupt_after(monkeypatch, ticks):
    """Interrupt the first bar that moves so often."""

    @contextmanager
    def progress(self, doing):
        def tick(done, total):
            if done == ticks:
                raise KeyboardInterrupt

        yield tick

    monkeypatch.setattr(Terminal, "progress", progress)


def interrupt_choice(monkeypatch, cut):
    """Interrupt the choice of numbers after so many cuts, and nothing else."""

    @contextmanager
    def progress(self, doing):
        def tick(done, total):
            if doing == "Choosing settings" and done == cut:
                raise KeyboardInterrupt

        yield tick

    monkeypatch.setattr(Terminal, "progress", progress)


def test_a_choice_that_is_interrupted_takes_the_best_so_far(run, women, tmp_path, monkeypatch):
    interrupt_choice(monkeypatch, 2)
    ran = run("fit", women, "--n-init", 1)
    assert ran.code == 130
    assert "the best so far were taken" in " ".join(ran.err.split())
    assert "interrupted, the best so far" in ran.words
    assert "not estimated (interrupted)" in ran.words
    record = json.loads((tmp_path / "women-coclusters" / "record.json").read_text())["settings"]
    assert record["interrupted"] is True
    assert isinstance(record["rows"], int)


def test_estimates_that_are_interrupted_are_none(run, women, monkeypatch):
    def estimate(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("neocc.estimators._fractions.estimate_sides", estimate)
    ran = run("fit", women, "--rows", 2, "--columns", 2, "--n-init", 1, "--json")
    assert ran.code == 130
    settings = json.loads(ran.out)["settings"]
    assert [settings[f"{side}_overlap"] for side in ("row", "column")] == [0, 0]
    assert json.loads(ran.out)["interrupted"] is True


@pytest.mark.parametrize("during", ["neocc.cli._fit.tell_story", "neocc.cli._fit.render_report"])
def test_what_a_fit_has_found_is_written_whatever_interrupts(
    run, women, tmp_path, monkeypatch, during
):
    """Ctrl-C after the fit waits for the files; a second one does not."""
    place, name = during.rsplit(".", 1)
    whole, presses = getattr(import_module(place), name), [1]

    def interrupted(*args, **options):
        for _ in range(presses[0]):
            signal.raise_signal(signal.SIGINT)
        return whole(*args, **options)

    monkeypatch.setattr(during, interrupted)
    ran = run("fit", women, *QUICK, "-o", "out", "--json")
    assert ran.code == 130
    assert "The result is in out." in ran.err
    assert {path.name for path in (tmp_path / "out").iterdir()} >= {"report.html", "rows.csv"}
    record = json.loads((tmp_path / "out" / "record.json").read_text())
    assert record["settings"]["interrupted"] is False
    presses[0] = 2
    ran = run("fit", women, *QUICK, "-o", "again")
    assert ran.code == 130
    assert "nothing was written" in ran.err
    assert not (tmp_path / "again").exists()


def test_an_interrupt_while_the_result_is_described_says_where_it_is(
    run, women, tmp_path, monkeypatch
):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("neocc.cli._fit_page.headline", interrupted)
    ran = run("fit", women, *QUICK, "-o", "out")
    assert ran.code == 130
    assert "The result is in out." in ran.err
    assert (tmp_path / "out" / "rows.csv").exists()


def test_a_choice_interrupted_twice_ends(run, women, tmp_path, monkeypatch):
    interrupt_choice(monkeypatch, 2)
    interrupt_fits(monkeypatch, keep=False)
    ran = run("fit", women)
    assert ran.code == 130
    assert "nothing was written" in ran.err
    assert [path.name for path in tmp_path.iterdir()] == ["women.csv"]


def test_a_choice_that_knows_nothing_yet_writes_nothing(run, women, tmp_path, monkeypatch):
    def curves(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("neocc.selection._heldout.Blocks.curves", curves)
    ran = run("fit", women)
    assert ran.code == 130
    assert "nothing was written" in ran.err
    assert [path.name for path in tmp_path.iterdir()] == ["women.csv"]


def test_an_interrupted_suggestion_ranks_what_it_has(run, women, monkeypatch):
    interrupt_after(monkeypatch, 6)
    ran = run("suggest", women, "--criterion", "icl")
    assert ran.code == 130
    assert "interrupted: best of 6 of 49 pairs" in ran.words
    ran = run("suggest", women, "--criterion", "icl", "--json")
    assert ran.code == 130
    assert json.loads(ran.out)["complete"] is False
    assert len(json.loads(ran.out)["table"]) == 6
    interrupt_after(monkeypatch, 2)
    ran = run("suggest", women)
    assert ran.code == 130
    assert "interrupted: from fewer cuts of the data" in ran.words


def test_an_interrupt_while_reading_writes_nothing(run, women, monkeypatch):
    def read(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("neocc.cli._load.read_matrix", read)
    for command, said in (
        ("fit", "Interrupted; nothing was written."),
        ("suggest", "Interrupted."),
    ):
        ran = run(command, women)
        assert ran.code == 130
        assert ran.err == f"neocc: {said}\n"
