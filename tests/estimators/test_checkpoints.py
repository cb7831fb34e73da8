"""A fit that was killed goes on from its checkpoint and ends with the same bits."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import time
import zipfile
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from stores import flip, planted

from neocc import NEOCC, NEOKMeans
from neocc.core.samples import Sampling
from neocc.io import (
    Checkpoint,
    CheckpointError,
    WriteError,
    _whole,
    load_model,
    save_model,
    write_store,
)

OPTIONS = {"row_overlap": 0.1, "row_outliers": 0.05, "n_init": 2, "random_state": 0}


class Killed(Exception):  # noqa: N818
    """Stands in for the death of the process, right after a checkpoint was written."""


class Fragile(Checkpoint):
    """Dies after so many checkpoints."""

    lives = 10**9

    def save(self, fingerprint, state):
        super().save(fingerprint, state)
        self.lives -= 1
        if self.lives == 0:
            raise Killed


def fit_in_pieces(make, X, path, lives):
    """Fit again and again, each time from the checkpoint of the fit before, until one ends."""
    for n_fits in range(1, 1000):
        kept = Fragile(path, every=0.0)
        kept.lives = lives
        try:
            return make(checkpoint=kept).fit(X), n_fits
        except Killed:
            assert path.exists()
    raise AssertionError("the fit never ends")


def published(model):
    return {name: value for name, value in vars(model).items() if name.endswith("_")}


def same(one, other):
    one, other = published(one), published(other)
    assert one.keys() == other.keys()
    for name in one.keys() - {"n_passes_"}:
        assert np.array_equal(one[name], other[name]), name


class Sampled(NEOCC):
    """Searches on a sample of the rows, though there are few."""

    _sampling = Sampling(entries=(1000, 2000), items_per_cluster=5, largest_searched=0)


@pytest.mark.parametrize("objective", ["mean", "residue"])
@pytest.mark.parametrize("refine", [True, "thorough", False])
@pytest.mark.parametrize("lives", [2, 5])
def test_a_fit_in_pieces_has_the_bits_of_one_in_one_go(tmp_path, objective, refine, lives):
    X = planted("dense", n=40, m=15)

    def make(**more):
        # Plain starts are noted when they end: enough of them to die several times.
        options = {**OPTIONS, "n_init": {True: 4, "thorough": 2, False: 12}[refine]}
        return NEOCC(3, 2, objective=objective, refine=refine, **options, **more)

    found, n_fits = fit_in_pieces(make, X, tmp_path / "kept", lives)
    assert n_fits > 1
    same(found, make().fit(X))
    assert not (tmp_path / "kept").exists()


@pytest.mark.parametrize("refine", [True, False])
@pytest.mark.parametrize("embedded", [(20, 1 << 21), (20, 20)], ids=["embedding", "short runs"])
def test_starts_that_share_something_survive(tmp_path, refine, embedded):
    class Sharing(NEOCC):
        _sampling = replace(Sampled._sampling, entries=(20, 40), embedded=embedded)

    X = sparse.random_array(
        (40, 30), density=0.2, random_state=np.random.default_rng(0), format="csr"
    )

    def make(**more):
        return Sharing(3, 2, n_init=4, refine=refine, random_state=0, **more)

    found, n_fits = fit_in_pieces(make, X, tmp_path / "kept", 1)
    assert n_fits > 2
    same(found, make().fit(X))


@pytest.mark.parametrize("refine", [True, False])
def test_what_rows_follow_survives_too(tmp_path, refine):
    X = planted("dense", n=40, m=15)

    def make(**more):
        options = {**OPTIONS, "row_overlap": 0.3, "n_init": 2 if refine else 8, **more}
        return NEOCC(3, 2, overlap_model="either", refine=refine, **options)

    found, n_fits = fit_in_pieces(make, X, tmp_path / "kept", 3)
    assert n_fits > 1
    assert (np.ptp(found.followed_, axis=1) > 0).any()
    same(found, make().fit(X))


@pytest.mark.parametrize(
    ("objective", "where", "refine"),
    [
        ("mean", "memory", False),
        ("residue", "memory", False),
        ("mean", "store", False),
        ("residue", "store", False),
        ("mean", "memory", True),  # whose rounds are as many as all of the starts pay for
    ],
)
def test_so_has_one_that_is_killed_in_the_middle_of_a_run(tmp_path, objective, where, refine):
    X = np.random.default_rng(0).normal(size=(400, 60) if not refine else (150, 60))
    data = write_store(tmp_path / "store", X, rows_per_block=90) if where == "store" else X
    at = []

    class Watched(Fragile):
        def save(self, fingerprint, state):
            if state["run"] is not None:
                at.append(state["run"][0])
            super().save(fingerprint, state)

    def make(**more):
        options = {**OPTIONS, "init": "random", "refine": refine, "tol": 0.0, "n_init": 3}
        return NEOCC(6, 5, objective=objective, **options, **more)

    def watched(checkpoint):
        kept = Watched(checkpoint.path, every=0.0)
        kept.lives = checkpoint.lives
        return make(checkpoint=kept)

    found, n_fits = fit_in_pieces(watched, data, tmp_path / "kept", 1)
    same(found, make().fit(data))
    assert at
    assert n_fits > len(at)


@pytest.mark.parametrize("container", ["dense", "sparse"])
@pytest.mark.parametrize("refine", [True, "thorough", False])
def test_so_has_one_that_searches_on_a_sample(tmp_path, container, refine):
    X = planted(container, n=400)

    def make(**more):
        return Sampled(4, 3, refine=refine, **OPTIONS, **more)

    store = write_store(tmp_path / "store", X, rows_per_block=90)
    found, n_fits = fit_in_pieces(make, store, tmp_path / "kept", 3)
    assert n_fits > 1
    same(found, make().fit(store))


def test_one_way_fits_too(tmp_path):
    X = planted("sparse")

    def make(**more):
        return NEOKMeans(4, overlap=0.1, n_init=3, random_state=0, **more)

    found, n_fits = fit_in_pieces(make, X, tmp_path / "kept", 2)
    assert n_fits > 1
    same(found, make().fit(X))


def test_passes_of_earlier_attempts_count(tmp_path):
    X = planted("dense", n=40, m=15)
    whole = NEOCC(3, 2, **OPTIONS).fit(X)
    found, _ = fit_in_pieces(lambda **m: NEOCC(3, 2, **OPTIONS, **m), X, tmp_path / "kept", 5)
    assert found.n_passes_ >= whole.n_passes_


@pytest.fixture
def kept(tmp_path):
    """Leave a checkpoint behind."""
    path = tmp_path / "kept"
    fragile = Fragile(path, every=0.0)
    fragile.lives = 3
    with pytest.raises(Killed):
        NEOCC(3, 2, checkpoint=fragile, **OPTIONS).fit(planted("dense", n=40, m=15))
    return path


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"random_state": 1}, "its random_state is 0, here it is 1"),
        ({"n_init": 3}, "its n_init is 2, here it is 3"),
        ({"objective": "residue"}, "its objective is 'mean'"),
    ],
)
def test_checkpoints_of_other_parameters_are_refused(kept, change, words):
    model = NEOCC(3, 2, checkpoint=Checkpoint(kept), **{**OPTIONS, **change})
    with pytest.raises(CheckpointError, match=f"of another fit: {words}.*Remove the file"):
        model.fit(planted("dense", n=40, m=15))
    assert kept.exists()


def test_checkpoints_of_other_data_are_refused(kept):
    X = planted("dense", n=40, m=15)
    X[7, 3] += 1e-9
    with pytest.raises(CheckpointError, match="its digest of the data is"):
        NEOCC(3, 2, checkpoint=Checkpoint(kept), **OPTIONS).fit(X)
    with pytest.raises(CheckpointError, match=r"its shape of the data is \[40, 15\]"):
        NEOCC(3, 2, checkpoint=Checkpoint(kept), **OPTIONS).fit(X[:30])


def test_what_does_not_change_the_result_may_change(kept):
    X = planted("dense", n=40, m=15)
    found = NEOCC(3, 2, checkpoint=Checkpoint(kept), n_jobs=1, verbose=0, **OPTIONS).fit(X)
    same(found, NEOCC(3, 2, **OPTIONS).fit(X))


def test_damaged_checkpoints_are_refused(kept):
    size, n_passed = kept.stat().st_size, 0
    with zipfile.ZipFile(kept) as archive:
        fingerprint = json.loads(archive.read("checkpoint.json"))["fit"]
    wanted = Checkpoint(kept).load(fingerprint)
    for at in range(10, size, size // 40):
        flip(kept, at)
        # Some bytes mean nothing, such as dates. Whatever is read is what was written.
        with suppress(CheckpointError):
            found = Checkpoint(kept).load(fingerprint)
            assert np.array_equal(found["best"].history, wanted["best"].history)
            n_passed += 1
        flip(kept, at)
    assert n_passed < 20
    kept.write_text("no archive")
    with pytest.raises(CheckpointError):
        NEOCC(3, 2, checkpoint=Checkpoint(kept), **OPTIONS).fit(planted("dense", n=40, m=15))


def test_a_full_disk_leaves_the_last_checkpoint_whole(kept, monkeypatch):
    before = kept.read_bytes()

    def full(path):
        raise OSError(errno.ENOSPC, "No space left on device")

    X = planted("dense", n=40, m=15)
    with monkeypatch.context() as patch:
        patch.setattr(_whole, "_flush", full)
        with pytest.raises(WriteError, match="No space left"):
            NEOCC(3, 2, checkpoint=Checkpoint(kept, every=0.0), **OPTIONS).fit(X)
    assert kept.read_bytes() == before
    assert [path.name for path in kept.parent.iterdir()] == ["kept"]
    same(NEOCC(3, 2, checkpoint=Checkpoint(kept), **OPTIONS).fit(X), NEOCC(3, 2, **OPTIONS).fit(X))


@pytest.mark.parametrize("seed", [None, np.random.RandomState(0)])
def test_a_seed_must_be_known(tmp_path, seed):
    model = NEOCC(2, 2, checkpoint=Checkpoint(tmp_path / "kept"), random_state=seed)
    with pytest.raises(ValueError, match="Give an int"):
        model.fit(planted("dense", n=20, m=8))


def test_a_path_is_not_enough(tmp_path):
    with pytest.raises(TypeError, match=r"checkpoint=neocc\.io\.Checkpoint"):
        NEOCC(2, 2, checkpoint="kept", random_state=0).fit(planted("dense", n=20, m=8))


def test_models_are_saved_without_their_checkpoint(tmp_path):
    X = planted("dense", n=20, m=8)
    model = NEOCC(2, 2, checkpoint=Checkpoint(tmp_path / "kept"), random_state=0).fit(X)
    save_model(model, tmp_path / "model.neocc")
    assert load_model(tmp_path / "model.neocc").checkpoint is None


_FIT = """
import sys
import numpy as np
from neocc import NEOCC
from neocc.io import Checkpoint
X = np.random.default_rng(0).normal(size=(150, 30))
kept = Checkpoint(sys.argv[1], every=0.0)
model = NEOCC(4, 4, row_overlap=0.1, n_init=4, random_state=0, checkpoint=kept).fit(X)
print(model.objective_.hex(), model.n_iter_)
"""


@pytest.mark.slow
def test_a_process_that_is_killed_at_any_moment(tmp_path):
    path, rng = tmp_path / "kept", np.random.default_rng(0)
    command = [sys.executable, "-c", _FIT]
    whole = subprocess.run([*command, tmp_path / "other"], capture_output=True, check=True)
    for _ in range(8):
        process = subprocess.Popen([*command, path], stdout=subprocess.DEVNULL)
        while not path.exists() and process.poll() is None:
            time.sleep(0.01)
        time.sleep(float(rng.random()) * 0.5)
        if process.poll() is None:
            os.kill(process.pid, signal.SIGKILL)
        process.wait()
    ended = subprocess.run([*command, path], capture_output=True, check=True)
    assert ended.stdout == whole.stdout


@pytest.mark.parametrize("every", ["5", -1, float("nan"), float("inf"), None])
def test_seconds_between_writings_are_checked(every):
    with pytest.raises(ValueError, match="every must be a number of seconds"):
        Checkpoint("fit.checkpoint", every=every)


def test_a_checkpoint_that_is_kept_outlives_the_fit(tmp_path):
    X = np.kron(np.eye(2), np.ones((3, 2)))

    def fit(path, **options):
        kept = Checkpoint(path, every=0.0, **options)
        NEOCC(2, 2, n_init=2, random_state=0, checkpoint=kept).fit(X)
        return kept

    assert not fit(tmp_path / "one").exists
    kept = fit(tmp_path / "two", keep=True)
    assert (kept.exists, kept.resumed) == (True, False)
    again = fit(tmp_path / "two", keep=True)
    assert again.resumed
    again.discard()
    assert not again.exists
