"""How long default fits take on this machine, and how good they are, beside scikit-learn's."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType

from neocc._bench import Compared, compared, few_cases
from neocc.cli._command import Answer
from neocc.cli._guard import INTERRUPTED
from neocc.cli._terminal import Terminal, section, table

__all__ = ["bench_answer"]

_ABOUT = """
Processor seconds of default fits on one thread, the best of several. Omega: how
well the true groups of rows were found, 1 is perfect, 0 is chance. J: objective
of neocc, compared where both group rows and columns without overlap."""


def bench_answer(repeats: int, terminal: Terminal) -> Answer:
    """Compare fits of a few data sets; after Ctrl-C, of those that are done."""
    cases, found, complaints = list(few_cases()), list[Compared](), list[str]()
    with terminal.progress("Comparing") as tick:
        try:
            for case in cases:
                tick(len(found), len(cases), case.name)
                found.append(compared(case, repeats))
        except KeyboardInterrupt:
            complaints.append(f"Interrupted after {len(found)} of {len(cases)} data sets.")
    told = [each.as_dict() for each in found]
    code = INTERRUPTED * bool(complaints)
    return Answer(lambda: _page(found), lambda: told, (), complaints, code)


def _page(found: list[Compared]) -> Iterator[RenderableType]:
    for rival in dict.fromkeys(each.case.rival for each in found):
        made = table("", "", "neocc", "other", "omega", "other", "J lower", right=range(1, 7))
        for each in found:
            if each.case.rival == rival:
                made.add_row(*each.cells)
        yield section(f"Beside {rival}", made)
    yield from _ABOUT.splitlines()
