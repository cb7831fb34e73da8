"""Tables in Parquet files are fitted where they are, with the bits of a fit in memory."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from stores import planted

from neocc import NEOCC, NEOKMeans
from neocc.engines import RowSource
from neocc.io import FormatError, UnreadableFileError, ValueInCellError, open_parquet, write_store


@pytest.fixture
def frame():
    X = planted("dense", n=90)
    return pd.DataFrame(X, columns=[f"c{t}" for t in range(X.shape[1])])


@pytest.fixture
def folder(frame, tmp_path):
    """Two files of several row groups each."""
    frame[:50].to_parquet(tmp_path / "part-0.parquet", row_group_size=20, index=False)
    frame[50:].to_parquet(tmp_path / "part-1.parquet", row_group_size=15, index=False)
    return tmp_path


@pytest.mark.parametrize("objective", ["mean", "residue"])
def test_a_fit_has_the_bits_of_one_in_memory(folder, frame, objective):
    rows = open_parquet(folder)
    assert isinstance(rows, RowSource)
    assert rows.edges.tolist() == [0, 20, 40, 50, 65, 80, 90]
    options = {"objective": objective, "row_overlap": 0.1, "row_outliers": 0.05, "random_state": 0}
    here, there = NEOCC(4, 3, **options).fit(frame), NEOCC(4, 3, **options).fit(rows)
    assert (here.row_membership_ == there.row_membership_).all()
    assert here.objective_ == there.objective_
    assert list(there.feature_names_in_) == list(frame.columns)
    assert (there.predict_membership(rows) == there.predict_membership(frame)).all()
    kmeans = NEOKMeans(4, random_state=0)
    assert kmeans.fit(rows).objective_ == NEOKMeans(4, random_state=0).fit(frame).objective_


def test_a_file_some_columns_and_a_store_of_it(folder, frame, tmp_path):
    rows = open_parquet(folder / "part-0.parquet", columns=["c3", "c1"])
    assert rows.shape == (50, 2)
    np.testing.assert_array_equal(rows.load(1), frame[["c3", "c1"]][20:40])
    assert pickle.loads(pickle.dumps(rows)).shape == rows.shape
    assert write_store(tmp_path / "store", rows).shape == (50, 2)


def test_types_of_numbers(tmp_path):
    pd.DataFrame({"a": [1, 2], "b": [True, False]}).to_parquet(tmp_path / "a.parquet")
    assert open_parquet(tmp_path).load(0).tolist() == [[1.0, 1.0], [2.0, 0.0]]
    pd.DataFrame({"a": np.float32([1, 2])}).to_parquet(tmp_path / "a.parquet")
    assert open_parquet(tmp_path).dtype == np.float32


def test_bad_input(tmp_path, frame):
    with pytest.raises(UnreadableFileError, match=r"no \.parquet files"):
        open_parquet(tmp_path)
    with pytest.raises(UnreadableFileError, match="no such file"):
        open_parquet(tmp_path / "absent.parquet")
    path = tmp_path / "a.parquet"
    frame.assign(who="x").to_parquet(path)
    with pytest.raises(FormatError, match=r"Column 'who' holds .*string.*columns="):
        open_parquet(path)
    with pytest.raises(FormatError, match="no column 'absent'"):
        open_parquet(path, columns=["absent"])
    frame.assign(c1=[np.nan, *range(89)]).to_parquet(path)
    with pytest.raises(ValueInCellError, match=r"'c1'.*Row 0 of row group 0 has a missing"):
        NEOCC(2, 2).fit(open_parquet(path))
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(FormatError, match="not a complete Parquet file"):
        open_parquet(path)
    frame.to_parquet(path)
    rows = open_parquet(path)
    frame[:10].to_parquet(path)
    with pytest.raises(FormatError, match="changed since it was opened"):
        rows.load(0)
    frame.rename(columns={"c1": "d"}).to_parquet(tmp_path / "b.parquet")
    with pytest.raises(FormatError, match=r"not those of a\.parquet"):
        open_parquet(tmp_path)
