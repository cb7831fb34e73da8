"""The table of iterations is made, on matrices so small that it takes no time."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from benchmarks import costs, overlaps
from benchmarks.iterations import KINDS, Size, in_words, interleaved, judged, lines


@pytest.mark.parametrize("n_entries", [None, 1000])
def test_every_objective_and_kind_has_a_line(n_entries: int | None) -> None:
    size = Size(60, 50, n_entries, 3, 2, goal=1e9)
    header, *rest = lines(1, (size,), large=False)
    expected = [(objective, kind) for objective in ("mean", "residue") for kind in KINDS]
    assert [tuple(line[1:3]) for line in rest] == expected
    assert {len(line) for line in rest} == {len(header)}
    assert [line[0] for line in rest] == [size.name] * len(rest)
    assert [line[-1] for line in rest] == ["<= 1e+09: met", "", "", ""]


def test_the_best_of_several_turns_counts() -> None:
    calls: list[str] = []
    times = interleaved(lambda: calls.append("a"), lambda: calls.append("b"), repeats=2)
    assert min(times) >= 0.0
    assert len(times) == 2
    assert {"a", "b"} == set(calls)


def test_goals_and_times_in_words() -> None:
    assert judged(3.0, 4.0) == "<= 4: met"
    assert judged(5.0, 4.0) == "<= 4: not met"
    assert judged(5.0, None) == ""
    assert in_words(2.5e-5) == "25 us"
    assert in_words(2.5e-3) == "2.50 ms"


def test_models_are_compared_with_and_without_outliers_on_one_thread_and_two() -> None:
    X = np.random.default_rng(0).normal(size=(60, 50))
    case = overlaps.Case("small", lambda: X, (3, 2), (0.4, 0.2), goal=1e9)
    header, *rest = overlaps.lines(1, (case,))
    assert [tuple(line[:3]) for line in rest] == [
        ("small", outliers, threads) for outliers in ("0", "0.05") for threads in ("1", "2")
    ]
    assert {len(line) for line in rest} == {len(header)}
    assert [line[-1] for line in rest] == ["<= 1e+09: met"] * 2 + [""] * 2


def test_objectives_are_compared_with_mean_on_matrices_that_are_there() -> None:
    X = sparse.random_array(
        (60, 50), density=0.3, format="csr", random_state=np.random.default_rng(0)
    )
    cases = (costs.Case("none", lambda: None, 3), costs.Case("small", lambda: X, 3))
    header, *rest = costs.lines(1, cases)
    kinds = [(f"{overlap:g}", model) for model, overlap in costs.KINDS]
    assert [tuple(line[:3]) for line in rest] == [("small", *kind) for kind in kinds]
    assert {len(line) for line in rest} == {len(header)}
    goals = [f"<= {goal:g}:" for goal in costs.GOALS.values()]
    for line in rest:
        assert all(goal in each for goal, each in zip(goals, line[-len(goals) :], strict=True))
