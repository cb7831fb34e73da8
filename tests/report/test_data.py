"""What the script of the page gets, against the matrix it came from."""

from __future__ import annotations

import numpy as np
import pages
import pytest
from instances import any_membership, make_data
from scipy import sparse

from neocc.report import render_report
from neocc.report._data import grid_shape
from neocc.report._html import script_json
from neocc.report._names import keep_names


def data_of(rows, columns, X, **options):
    page = render_report((rows, columns), matrix=X, **options)
    return pages.read(page).data


@pytest.mark.parametrize("seed", range(25))
def test_small_matrices_arrive_cell_by_cell(seed):
    rng = np.random.default_rng(seed)
    X = make_data("gaussian", rng, *rng.integers(1, 12, size=2))
    n, m = X.shape
    U, V = any_membership(rng, n, 3), any_membership(rng, m, 2)
    X = sparse.csr_array(X) if seed % 2 else X
    data = data_of(U, V, X)
    cells = pages.cells(data)
    X = X.toarray() if sparse.issparse(X) else X
    numbers = {}
    for key, members, noun in (("rows", U, "row"), ("columns", V, "column")):
        side = data[key]
        numbers[key] = [int(name.removeprefix(noun)) - 1 for name in side["names"]]
        assert sorted(numbers[key]) == list(range(len(members)))
        assert (side["items"], side["bins"]) == (len(members), side["places"])
        assert side["at"] == sorted(set(side["at"]))
        for item, combination in zip(numbers[key], side["of"], strict=True):
            clusters = [number - 1 for number in side["combinations"][combination]]
            assert clusters == np.flatnonzero(members[item]).tolist()
        groups = [group["number"] - 1 for group in side["groups"]]
        assert sorted(groups) == list(range(members.shape[1]))
        assert [g["size"] for g in side["groups"]] == members.sum(axis=0)[groups].tolist()
        bars = pages.shares(side)[side["at"]]
        assert (bars == 255 * members[numbers[key]][:, groups]).all()
        for group, cluster in zip(side["groups"], groups, strict=True):
            if group["frame"] is not None:
                inside = members[numbers[key], cluster]
                places = np.array(side["at"])[inside]
                assert group["frame"] == [places.min(), places.max() + 1]
                assert len(places) == places.max() + 1 - places.min()
    shown = cells[np.ix_(data["rows"]["at"], data["columns"]["at"])]
    expected = X[np.ix_(numbers["rows"], numbers["columns"])]
    np.testing.assert_allclose(shown, expected, rtol=2.0**-15, atol=1e-30)
    # Whatever is no row is empty.
    gaps = np.setdiff1d(np.arange(data["rows"]["places"]), data["rows"]["at"])
    assert np.isnan(cells[gaps]).all()


def test_large_matrices_arrive_as_means():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1203, 611))
    U = np.arange(1203)[:, None] // 601 == np.arange(2)
    V = np.ones((611, 1), dtype=bool)
    U[1202] = False
    data = data_of(U, V, X)
    rows, columns = data["rows"], data["columns"]
    assert rows["bins"] * columns["bins"] <= 260_000
    assert rows["bins"] < rows["places"]
    cells = pages.cells(data)
    order = np.full(rows["places"], -1)
    order[rows["at"]] = [int(name.removeprefix("row ")) - 1 for name in rows["names"]]
    across = [int(name.removeprefix("column ")) - 1 for name in columns["names"]]
    for row, column in rng.integers(0, (rows["bins"], columns["bins"]), size=(50, 2)):
        inside = slice(
            row * rows["places"] // rows["bins"], (row + 1) * rows["places"] // rows["bins"]
        )
        beside = slice(
            column * columns["places"] // columns["bins"],
            (column + 1) * columns["places"] // columns["bins"],
        )
        items = order[inside][order[inside] >= 0]
        wanted = X[np.ix_(items, across[beside])]
        wanted = wanted.mean() if wanted.size else np.nan
        assert cells[row, column] == pytest.approx(wanted, rel=1e-4, nan_ok=True)


def test_shares_of_bins_are_never_rounded_to_all_or_nothing():
    U = np.zeros((100_000, 2), dtype=bool)
    U[:, 0] = True
    U[::5_000, 1] = True
    U[1, 0] = False
    rows = data_of(U, None, np.ones((100_000, 1)))["rows"]
    bars = dict(zip([g["number"] for g in rows["groups"]], pages.shares(rows).T, strict=True))
    assert 0 < bars[2].max() < 255  # twenty of the forty rows of a bin
    # The row in no group stands at the end, alone in its bin but for the gap before it.
    assert bars[1][-1] == bars[2][-1] == 0
    assert 0 < np.count_nonzero(bars[1] < 255) < 40


@pytest.mark.parametrize("value", [0.0, 1.0, -3.0, 0.1, 1e30, -1e130, 1e130, 1e-40, np.pi])
def test_numbers_keep_their_first_digits(value):
    data = data_of([[1]], [[1]], [[value]])
    largest = float(np.finfo(np.float32).max)
    wanted = min(max(value, -largest), largest)
    assert pages.cells(data)[0, 0] == pytest.approx(wanted, rel=2.0**-14, abs=1e-36)


@pytest.mark.parametrize("n_rows", [1, 7, 2500, 2501, 10_000, 1_000_000])
@pytest.mark.parametrize("n_columns", [1, 103, 2499, 50_000])
def test_the_grid_is_bounded_and_as_fine_as_it_may_be(n_rows, n_columns):
    shape = grid_shape(n_rows, n_columns)
    assert shape[0] * shape[1] <= 260_000
    assert all(1 <= bins <= 2500 for bins in shape)
    assert shape[0] <= n_rows
    assert shape[1] <= n_columns
    if n_rows * n_columns <= 260_000 and max(n_rows, n_columns) <= 2500:
        assert shape == (n_rows, n_columns)
    else:
        assert shape[0] * shape[1] >= min(n_rows * n_columns, 2500)


@pytest.mark.parametrize("budget", [0, 40, 500, 3_000, 100_000])
def test_names_fit_their_budget_and_are_spread_out(budget):
    order = np.random.default_rng(0).permutation(1000)
    names = {item: "<" * (item % 5) + str(item) for item in range(1000)}
    kept = keep_names(order, names.__getitem__, [7, 8], np.full(1000, 10), budget)
    assert {7, 8} <= set(kept)
    assert all(text == names[item] for item, text in kept.items())
    cost = sum(10 + len(script_json(text).encode()) for text in kept.values())
    assert cost <= max(budget, sum(10 + len(script_json(names[i])) for i in (7, 8, int(order[0]))))
    if budget >= 3_000:
        places = np.flatnonzero(np.isin(order, list(kept)))
        assert np.diff(places).max() <= 2 * 1000 / len(kept) + 1
    if budget == 100_000:
        assert len(kept) == 1000


def test_long_names_are_kept_whole_where_all_fit_and_cut_before_any_is_left_out():
    order = np.arange(50)
    names = [f"{at} {'x' * 400} {at}" for at in range(50)]
    costs = np.full(50, 10)

    def kept_with(budget):
        return keep_names(order, names.__getitem__, [3], costs, budget)

    assert list(kept_with(50 * 500).values()) == [names[3], *names[:3], *names[4:]]
    cut = kept_with(50 * 100)
    assert len(cut) == 50
    assert len(set(cut.values())) == 50  # both ends are left, and tell them apart
    assert all(len(text) == 60 and "…" in text for text in cut.values())
    few = kept_with(1_000)
    assert 1 < len(few) < 50
    assert 3 in few
