"""How long default fits take on this machine, and how good they are, beside scikit-learn's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from neocc._bench import compared, few_cases
from neocc.cli._command import Answer
from neocc.cli._terminal import Terminal, section, table

__all__ = ["bench_answer"]

_ABOUT = """
Processor seconds of default fits on one thread, the best of several. Omega: how
well the true groups of rows were found, 1 is perfect, 0 is chance. J: objective
of neocc, compared where both group rows and columns without overlap."""


def bench_answer(repeats: int, terminal: Terminal) -> Answer:
    """Compare fits of a few data sets; after Ctrl-C, of those that are done."""
    cases, lines = list(few_cases()), list[dict[str, Any]]()
    with terminal.progress("Comparing") as tick:
        try:
            for case in cases:
                tick(len(lines), len(cases), case.name)
                lines.append(compared(case, repeats).as_dict())
        except KeyboardInterrupt:
            complaints = [f"Interrupted after {len(lines)} of {len(cases)} data sets."]
            return Answer(lambda: _page(lines), lambda: lines, complaints=complaints, code=130)
    return Answer(lambda: _page(lines), lambda: lines)


def _page(lines: list[dict[str, Any]]) -> Iterator[RenderableType]:
    for other in dict.fromkeys(line["other"] for line in lines):
        head = ("neocc", "other", "omega", "other", "J lower")
        made = table("", "", *head, right=range(1, 7))
        for line in lines:
            if line["other"] == other:
                made.add_row(*_cells(line))
        yield section(f"Beside {other}", made)
    yield Text(_ABOUT, "dim")


def _cells(line: dict[str, Any]) -> Iterator[str]:
    yield line["data"]
    yield f"{line['n_rows']:,} x {line['n_columns']:,}"
    for form, keys in (
        ("{:.2f} s", ("seconds", "seconds_other")),
        ("{:.2f}", ("omega", "omega_other")),
    ):
        yield from ("" if line[key] is None else form.format(line[key]) for key in keys)
    lower = line["objective_lower_by"]
    yield "" if lower is None else f"{round(lower, 4) + 0.0:.2%}"
