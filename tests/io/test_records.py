"""Records of runs: written, read back, and compared with the file they are about."""

from __future__ import annotations

import json

import numpy as np
import pytest

from neocc import NEOCC
from neocc.io import (
    ReadError,
    WouldOverwriteError,
    make_record,
    read_matrix,
    read_record,
    write_matrix,
    write_record,
)

SETTINGS = {"n_row_clusters": 3, "row_overlap": 0.1, "init": "random", "deep": {"a": [1, None]}}


def test_a_record_comes_back_as_it_was(tmp_path):
    write_matrix(np.eye(4), tmp_path / "m.csv")
    matrix = read_matrix(tmp_path / "m.csv", header=False, drop=["1"])
    record = make_record(SETTINGS, seed=7, matrix=matrix)
    write_record(record, tmp_path / "record.json")
    found = read_record(tmp_path / "record.json")
    assert found.settings == SETTINGS
    assert found.seed == 7
    assert found.input.sha256 == matrix.sha256
    assert found.input.shape == (4, 3)
    assert {"python", "numpy", "neocc"} <= found.versions.keys()
    assert found.created.endswith("+00:00")
    again = read_matrix(found.input.path, **found.input.options)
    np.testing.assert_array_equal(again.data, matrix.data)
    found.input.check(again)


def test_a_record_repeats_the_run_to_the_bit(tmp_path):
    write_matrix(np.random.default_rng(0).normal(size=(30, 20)), tmp_path / "m.csv")
    matrix = read_matrix(tmp_path / "m.csv")
    settings = {"n_row_clusters": 3, "n_column_clusters": 2, "row_overlap": 0.2, "n_init": 2}
    model = NEOCC(**settings, random_state=5).fit(matrix.data)
    write_record(make_record(settings, seed=5, matrix=matrix), tmp_path / "record.json")
    record = read_record(tmp_path / "record.json")
    again = NEOCC(**record.settings, random_state=record.seed).fit(
        read_matrix(record.input.path, **record.input.options).data
    )
    assert again.objective_ == model.objective_
    np.testing.assert_array_equal(again.row_membership_, model.row_membership_)


def test_a_changed_file_is_noticed(tmp_path):
    path = tmp_path / "m.csv"
    write_matrix(np.eye(3), path)
    record = make_record({}, matrix=read_matrix(path))
    write_matrix(2 * np.eye(3), path, force=True)
    with pytest.raises(ReadError, match="has changed since the run"):
        record.input.check(read_matrix(path))


@pytest.mark.parametrize("value", [object(), float("nan"), np.eye(2), {1, 2}])
def test_settings_that_json_cannot_hold_are_refused_at_once(value):
    with pytest.raises(ValueError, match="cannot be written to a record"):
        make_record({"x": value})


def test_records_are_not_overwritten(tmp_path):
    path = tmp_path / "record.json"
    write_record(make_record({"a": 1}), path)
    with pytest.raises(WouldOverwriteError):
        write_record(make_record({"a": 2}), path)
    assert json.loads(path.read_text())["settings"] == {"a": 1}
