"""The anchor of methods.md section 8: the good basin of the yeast data is found."""

from __future__ import annotations

import csv
import gzip

import numpy as np
import pytest

from neocc import NEOCC


@pytest.fixture
def yeast(data_folder):
    with gzip.open(data_folder / "yeast" / "yeast.csv.gz", "rt") as file:
        lines = csv.reader(file)
        features = [name.startswith("Att") for name in next(lines)]
        table = np.array(list(lines))[:, features].astype(float)
    assert table.shape == (2417, 103)
    return table


def test_the_lowest_of_twenty_starts_is_in_the_good_basin(yeast):
    model = NEOCC(14, 3, row_overlap=3.237, column_overlap=0.2, n_init=20, random_state=0).fit(
        yeast
    )
    assert model.objective_ <= 10_100
    assert model.row_membership_.sum() == 2417 + 7824
    assert model.column_membership_.sum() == 103 + 21
