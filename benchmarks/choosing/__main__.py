"""`python -m benchmarks.choosing [PART ...]` measures what is chosen for the user.

Parts: `advice` (steps and objective that `neocc.selection.advise` chooses, given the true number of
row groups, against k-means and spectral co-clustering given the same), `chain` (`neocc fit FILE`
and nothing else against rivals that know the number of classes), `look` (what a look at the data
costs). `--write docs/choosing.md` keeps their tables.
"""

from __future__ import annotations

from benchmarks.choosing import advice, chain
from benchmarks.parts import Part, run_parts

PARTS: dict[str, Part] = {
    "advice": (advice.lines, 3),
    "chain": (chain.lines, 5),
    "look": (advice.look_lines, 3),
}

if __name__ == "__main__":
    run_parts("benchmarks.choosing", __doc__, PARTS)
