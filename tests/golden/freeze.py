"""Write the golden results: ``python -m tests.golden.freeze``.

Only for a change that is meant to change results, and says so. Every case is fitted again with
perturbations first (a few minutes); one whose memberships move, without the table of cases saying
so, is refused. Names of cases as arguments freeze these alone.
"""

from __future__ import annotations

import json
import logging
import os
import sys
from typing import Any

from .cases import CASES, Case
from .fits import RESULTS, Places, fit, result, values
from .stability import moves

log = logging.getLogger("golden")


def freeze(names: list[str]) -> bool:
    """Freeze the named cases, or all; return whether all of them are stable."""
    content = json.loads(RESULTS.read_text()) if RESULTS.exists() else {"cases": {}}
    known = content["cases"]
    cases = [case for case in CASES if not names or case.name in names]
    refused = []
    with Places() as places:
        for case in cases:
            if case.is_local and "NEOCC_DATA" not in os.environ:
                log.warning("%s: kept as it was, for NEOCC_DATA is not set", case.name)
                continue
            found = result(case, fit(case, places))
            if is_stable(case, places, found):
                known[case.name] = found
            else:
                refused.append(case.name)
    written = {
        "values": content["values"] if names else values(),
        "cases": {case.name: known[case.name] for case in CASES if case.name in known},
    }
    RESULTS.write_text(_as_text(written))
    log.info("%d cases written, %d refused %s", len(cases) - len(refused), len(refused), refused)
    return not refused


def is_stable(case: Case, places: Places, found: dict[str, Any]) -> bool:
    """Perturb a case and compare what moves with what the table says."""
    all_moves = list(moves(case, places, found))
    moved = {move.by for move in all_moves if move.members}
    # Noise in the data is noise in the objective; all others compute the same number.
    off = max((move.off for move in all_moves if move.by != "noise"), default=0.0)
    log.info("%-32s objective off by %.0e %s", case.name, off, sorted(moved) or "")
    return moved <= set(case.moved_by)


def _as_text(content: dict[str, Any]) -> str:
    """Write a line per case, so that a change shows as the lines of the cases it changed."""
    cases = (
        f"    {json.dumps(name)}: {json.dumps(case)}" for name, case in content["cases"].items()
    )
    numbers = (f"    {json.dumps(each)}" for each in content["values"])
    return (
        '{\n  "values": [\n' + ",\n".join(numbers) + "\n  ],\n"
        '  "cases": {\n' + ",\n".join(cases) + "\n  }\n}\n"
    )


if __name__ == "__main__":
    logging.basicConfig(format="%(message)s")
    log.setLevel(logging.INFO)
    sys.exit(not freeze(sys.argv[1:]))
