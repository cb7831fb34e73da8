"""Every case gives the frozen result: equal memberships, the objective to 1e-12."""

from __future__ import annotations

import json

import numpy as np
import pytest

from .cases import CASES
from .fits import N_VALUES, RESULTS, Places, fit, result, unpacked, values

GOLDEN = json.loads(RESULTS.read_text(encoding="utf-8"))
_DIGITS = 1e-12


@pytest.fixture(scope="module")
def places():
    with Places() as places:
        yield places


def is_close(found: str, expected: str, squares: str):
    """Compare numbers written in hexadecimal; a 0 is 0 to the rounding of a sum of `squares`."""
    found, expected, squares = (float.fromhex(each) for each in (found, expected, squares))
    bound = _DIGITS * (abs(expected) or squares)
    return abs(found - expected) <= bound


def assert_same_members(found, expected, what):
    if found == expected:
        return
    if found is None or expected is None or "bits" not in expected:
        raise AssertionError(f"{what}: {found}, frozen {expected}")
    # Not equal as written: say where.
    np.testing.assert_array_equal(unpacked(found), unpacked(expected), err_msg=what)
    raise AssertionError(f"{what}: same members, written differently")


# An estimate of the overlap that is too large, and constant data, do give clusters twice.
@pytest.mark.filterwarnings("ignore::neocc.RedundancyWarning")
@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=case.name, marks=[pytest.mark.slow] if case.slow else [])
        for case in CASES
    ],
)
def test_the_result_is_the_frozen_one(case, places, request):
    if case.is_local:
        request.getfixturevalue("data_folder")
    if "dask" in case.where:
        pytest.importorskip("distributed", reason="dask and distributed are not installed")
    expected = GOLDEN["cases"][case.name]
    found = result(case, fit(case, places))
    squares = expected["squares"]
    assert is_close(found["squares"], squares, squares), "not the data that were frozen"
    if not case.moved_by:
        assert_same_members(found["rows"], expected["rows"], "rows")
        assert_same_members(found["columns"], expected["columns"], "columns")
        assert found["n_iter"] == expected["n_iter"]
    if expected["objective"] is not None:
        assert is_close(found["objective"], expected["objective"], squares)
    if case.n_new:
        assert_same_members(found["new_rows"], expected["new_rows"], "new rows")
        assert found["new_labels"] == expected["new_labels"]
        distances, frozen = (distances_of(each) for each in (found, expected))
        np.testing.assert_allclose(
            distances, frozen, rtol=_DIGITS, atol=_DIGITS * frozen.max(), err_msg="distances"
        )


def distances_of(result):
    return np.array([[float.fromhex(d) for d in row] for row in result["new_distances"]])


@pytest.mark.parametrize("objective", ["mean", "residue"])
def test_objectives_of_given_memberships_are_the_frozen_ones(objective):
    found = values()
    assert len(found) == len(GOLDEN["values"]) == N_VALUES
    for new, frozen in zip(found, GOLDEN["values"], strict=True):
        assert is_close(new["squares"], frozen["squares"], frozen["squares"])
        assert is_close(new[objective], frozen[objective], frozen["squares"])


def test_no_result_is_left_without_a_case():
    names = [case.name for case in CASES]
    assert len(set(names)) == len(names)
    assert list(GOLDEN["cases"]) == names
