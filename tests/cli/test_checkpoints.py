"""`neocc fit --checkpoint`: what was killed or interrupted goes on, and ends as it would have."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from zipfile import ZipFile

import numpy as np
import pytest
from typer.testing import CliRunner

from neocc import NEOCC
from neocc.cli import app
from neocc.io import Checkpoint, write_store

TABLES = ("rows.csv", "columns.csv", "blocks.csv")
GROUPS = ("--rows", 5, "--columns", 5, "--row-overlap", 0.1, "--row-outliers", 0.01)
GROUPS += ("--column-overlap", 0, "--column-outliers", 0, "--no-report", "--n-init")
QUICK, LONG = (*GROUPS, 2), (*GROUPS, 4, "--overlap-model", "repeat")
# The command, in a process that gets a signal as soon as a checkpoint is written.
SIGNALLED = """
import os, sys
from neocc.cli import app
from neocc.io import Checkpoint
SIGNAL, save = int(sys.argv[1]), Checkpoint.save
def save_once(self, *state):
    save(self, *state)
    Checkpoint.save = save
    os.kill(os.getpid(), SIGNAL)
Checkpoint.save = save_once
app(sys.argv[2:])
"""


def write_noise(folder, shape=(100, 30)):
    X = np.random.default_rng(0).normal(size=shape)
    write_store(folder / "store", X, rows_per_block=64)
    return folder / "store"


@pytest.fixture
def store(tmp_path):
    return write_noise(tmp_path)


@pytest.fixture
def small_store(tmp_path):
    return write_noise(tmp_path, (60, 20))


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The result of a long fit that nothing disturbed."""
    folder = tmp_path_factory.mktemp("whole")
    command = ["fit", write_noise(folder), *LONG, "--output", folder / "out"]
    ran = CliRunner().invoke(app, [str(word) for word in command])
    assert ran.exit_code == 0, ran.stderr
    assert "checkpoint" not in ran.stderr
    return folder / "out"


def model_of(folder):
    """Return all parts of a model but the count of passes: who goes on reads the data again."""
    with ZipFile(folder / "model.neocc") as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    header = json.loads(parts.pop("model.json"))
    assert header["attributes"].pop("n_passes_") > 0
    return header, parts


def same_files(one, other):
    same = all((one / name).read_bytes() == (other / name).read_bytes() for name in TABLES)
    return same and model_of(one) == model_of(other)


def end_by(signal_, store, *options):
    """Run a long fit that gets a signal after its first checkpoint; return it when it has ended."""
    command = ["fit", store, *LONG, *options, "--checkpoint-every", 0]
    command = [sys.executable, "-c", SIGNALLED, int(signal_), *command]
    words = [str(word) for word in command]
    return subprocess.run(words, cwd=store.parent, capture_output=True, text=True, check=False)


def test_a_killed_fit_goes_on_and_ends_as_if_nothing_had_happened(run, store, whole, tmp_path):
    kept = tmp_path / "kept"
    ended = end_by(signal.SIGKILL, store, "-o", "broken", "--checkpoint", kept)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    assert not (tmp_path / "broken").exists()
    ran = run("fit", store, *LONG, "-o", "broken", "--checkpoint", kept)
    assert ran.code == 0, ran.err
    assert "resumed from the checkpoint" in " ".join(ran.err.split())
    assert not kept.exists()
    assert same_files(tmp_path / "broken", whole)


@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT is sent by signal")
def test_ctrl_c_writes_a_checkpoint_and_says_how_to_go_on(run, store, whole, tmp_path):
    kept = tmp_path / "kept"
    ended = end_by(signal.SIGINT, store, "-o", "out", "--checkpoint", kept)
    err = ended.stderr
    assert ended.returncode == 130, err
    assert "Traceback" not in err
    assert "Ctrl-C again stops at once" in err
    if "before anything was found" in err:
        assert "The same command resumes from the checkpoint" in err
    else:
        assert f"The same command with --force resumes from {kept}" in err
        assert json.loads((tmp_path / "out/record.json").read_text())["settings"]["interrupted"]
    assert kept.exists()
    ran = run("fit", store, *LONG, "-o", "out", "--checkpoint", kept, "--force")
    assert ran.code == 0, ran.err
    assert not kept.exists()
    assert same_files(tmp_path / "out", whole)


@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT is sent by signal")
def test_the_first_interrupt_waits_for_a_state_and_the_second_does_not(tmp_path):
    kept = Checkpoint(tmp_path / "kept", every=1e6, keep=True)
    with kept.interrupts_wait():
        signal.raise_signal(signal.SIGINT)
        assert kept.is_due()
        with pytest.raises(KeyboardInterrupt):
            kept.save({}, {})
        assert kept.exists
        assert not kept.is_due()
    with kept.interrupts_wait():
        signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert not kept.is_due()
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_a_checkpoint_stays_until_the_result_is_written(run, small_store, tmp_path, monkeypatch):
    kept = tmp_path / "kept"
    options = (*QUICK, "-o", "out", "--checkpoint", kept)

    def full(*_, **__):
        from neocc.io import WriteError

        raise WriteError("out: The disk is full.")

    with monkeypatch.context() as patched:
        patched.setattr("neocc.cli._fit.write_result", full)
        ran = run("fit", small_store, *options, "--checkpoint-every", 0)
    assert ran.code == 2
    assert kept.exists()
    assert run("fit", small_store, *options).code == 0
    assert not kept.exists()


def test_a_repeated_run_may_have_a_checkpoint(run, small_store, tmp_path):
    run("fit", small_store, *QUICK, "-o", "one")
    ran = run("fit", "--from", "one/record.json", "-o", "two", "--checkpoint", "kept")
    assert ran.code == 0, ran.err
    assert same_files(tmp_path / "one", tmp_path / "two")


def test_a_file_may_have_a_checkpoint_too(run, women, monkeypatch):
    seen = []
    fit_whole = NEOCC.fit

    def fit(self, X, y=None):
        seen.append(self.checkpoint)
        return fit_whole(self, X)

    monkeypatch.setattr(NEOCC, "fit", fit)
    groups = ("--rows", 2, "--columns", 2, "--no-report")
    ran = run("fit", women, *groups, "--checkpoint", "kept", "--checkpoint-every", 7.5)
    assert ran.code == 0, ran.err
    assert (str(seen[-1].path), seen[-1].every) == ("kept", 7.5)


def test_a_checkpoint_of_another_fit_is_refused(run, small_store, tmp_path, monkeypatch):
    def interrupted(self, *state):
        save(self, *state)
        raise KeyboardInterrupt

    save = Checkpoint.save
    options = (*QUICK, "--checkpoint", "kept", "--checkpoint-every", 0)
    with monkeypatch.context() as patched:
        patched.setattr(Checkpoint, "save", interrupted)
        assert run("fit", small_store, *options, "-o", "first").code == 130
    ran = run("fit", small_store, *options, "--seed", 1, "-o", "out")
    assert ran.code == 2
    assert len(ran.err.splitlines()) == 1
    assert "of another fit" in ran.err
    assert (tmp_path / "kept").exists()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--checkpoint-every 5", "needs --checkpoint FILE"),
        (
            "--checkpoint kept --checkpoint-every -1",
            "a number of seconds between two saves; got -1",
        ),
        (
            "--checkpoint kept --checkpoint-every nan",
            "a number of seconds between two saves; got nan",
        ),
        (
            "--checkpoint kept --checkpoint-every inf",
            "a number of seconds between two saves; got inf",
        ),
        ("--checkpoint nowhere/kept", "nowhere/kept: There is no such folder"),
        ("--checkpoint store", "store: This is a folder"),
        ("--checkpoint out/kept", "written as a whole"),
        ("--checkpoint store/manifest.json", "This is no checkpoint"),
    ],
)
def test_mistakes_are_explained(run, store, tmp_path, options, words):
    (tmp_path / "out").mkdir()
    before = sorted(path.name for path in tmp_path.rglob("*"))
    ran = run("fit", "store", *QUICK, "-o", "out", *options.split())
    assert ran.code == 2
    assert ran.out == ""
    assert len(ran.err.splitlines()) == 1
    assert words in ran.err
    assert sorted(path.name for path in tmp_path.rglob("*")) == before
