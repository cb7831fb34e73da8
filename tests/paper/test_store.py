"""The folder of a run: nothing is lost, nothing is mixed up, nothing is half written."""

from __future__ import annotations

import json
import logging

import pytest
from standins import small_study

from neocc.io import WriteError
from neocc.paper._store import Store
from neocc.paper._trial import Job, Trial

JOB = Job("yeast", "raw", "k-means", 1)
TRIAL = Trial(JOB, "KMeans(n_clusters=2)", 0.5, {"omega": 0.25})


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "run", small_study(), resume=False)


def test_trials_come_back(store):
    assert store.read(JOB) is None
    store.write(TRIAL)
    assert store.read(JOB) == TRIAL
    assert store.read_all([JOB, Job("yeast", "raw", "k-means", 2)]) == {JOB: TRIAL}


def test_a_failing_write_leaves_nothing_behind(store, monkeypatch):
    store.write(TRIAL)
    folder = store.folder / "trials"
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    monkeypatch.setattr(Trial, "to_json", lambda self: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        store.write(TRIAL)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_damaged_trial_is_made_again_and_that_is_told(store, caplog):
    store.write(TRIAL)
    path = store.folder / "trials" / JOB.file_name
    path.write_text(path.read_text()[:20])
    with caplog.at_level(logging.WARNING, logger="neocc"):
        assert store.read(JOB) is None
    assert JOB.file_name in caplog.text
    assert JOB in store.missing(small_study())


def test_a_trial_under_another_name_is_not_taken_for_it(store):
    store.write(TRIAL)
    other = Job("yeast", "raw", "k-means", 2)
    text = (store.folder / "trials" / JOB.file_name).read_text()
    (store.folder / "trials" / other.file_name).write_text(text)
    assert store.read(other) is None


def test_trials_of_other_settings_and_failed_ones_are_missing(store):
    study = small_study()
    for job in study.jobs():
        store.write(Trial(job, study.describe(job), 0.1))
    assert store.missing(study) == []
    store.write(Trial(JOB, "KMeans(n_clusters=99)", 0.1))
    assert store.missing(study) == [JOB]
    store.write(Trial(JOB, study.describe(JOB), 0.1, error="ValueError: no"))
    assert store.missing(study) == [JOB]


def test_a_run_is_not_overwritten(store):
    with pytest.raises(WriteError, match="--resume"):
        Store(store.folder, small_study(), resume=False)
    Store(store.folder, small_study(), resume=True)


@pytest.mark.parametrize(
    ("study", "said"),
    [
        (small_study(seed=1), "seed was 0 and is 1"),
        (small_study(n_trials=3), "trials was 2 and is 3"),
        (small_study(quick=False), "quick was True and is False"),
    ],
)
def test_another_run_is_not_resumed(store, study, said):
    with pytest.raises(WriteError, match=said):
        Store(store.folder, study, resume=True)


def test_a_run_with_other_versions_is_not_resumed(store):
    path = store.folder / "run.json"
    record = json.loads(path.read_text())
    record["versions"]["numpy"] = "1.0"
    path.write_text(json.dumps(record))
    with pytest.raises(WriteError, match=r"numpy was '1\.0'"):
        Store(store.folder, small_study(), resume=True)


def test_a_damaged_record_is_told(store):
    (store.folder / "run.json").write_text("{")
    with pytest.raises(WriteError, match="cannot be resumed"):
        Store(store.folder, small_study(), resume=True)


@pytest.mark.parametrize("resume", [False, True])
def test_other_folders_are_left_alone(tmp_path, resume):
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(WriteError, match="not empty"):
        Store(tmp_path, small_study(), resume=resume)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "run").write_text("")
    with pytest.raises(WriteError):
        Store(tmp_path / "run", small_study(), resume=False)


def test_resuming_what_never_began_begins(tmp_path):
    store = Store(tmp_path / "run", small_study(), resume=True)
    assert store.missing(small_study()) == small_study().jobs()
