"""The table of iterations is made, on matrices so small that it takes no time."""

from __future__ import annotations

import pytest

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
