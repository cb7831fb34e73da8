"""`python -m benchmarks.quality [PART ...]` measures how good the defaults are.

Parts: `yeast` (both objectives on the setting whose printed values are known), `movielens` (against
plain restarts for as long), `planted` (known co-clusters, against scikit-learn's spectral methods),
`models` (the same by overlap model), `generators` (which model "auto" names, and what each finds),
`names` (the naming alone, more often), `counts` (planted counts) and `documents` (words of
documents with classes) by objective, `contrasts` and `limits` (what can be found in planted counts:
with lifts ever farther apart, and by better searches), `search` (what each effort gains and costs),
`spread` (how far apart seeds end, now and before searches had a sense of time), `starts` (which
start serves best), `moves` (what each move of a search gains), `rounds` (what refinement costs),
`estimates` (overlap and outliers by the published rules), `auto`, `auto-told`, `auto-uneven`,
`auto-real` and `auto-time` (the rule of "auto": planted, beside Bayes' rule that is told all but
who is where, on disjoint data with uneven noise, on tables without overlap, and its time),
`numbers` (numbers of clusters). `--write docs/quality.md` keeps their tables.
"""

from __future__ import annotations

from benchmarks.parts import Part, run_parts
from benchmarks.quality import (
    counts,
    documents,
    models,
    moves,
    movielens,
    overlap,
    planted,
    rounds,
    search,
    selecting,
    spread,
    starts,
    told,
    yeast,
)

PARTS: dict[str, Part] = {
    "yeast": (yeast.lines, 20),
    "movielens": (movielens.lines, 3),
    "planted": (planted.lines, 10),
    "models": (models.lines, 2),
    "generators": (models.generator_lines, 25),
    "names": (models.name_lines, 100),
    "counts": (counts.planted_lines, 3),
    "contrasts": (counts.contrast_lines, 3),
    "limits": (counts.limit_lines, 2),
    "documents": (documents.lines, 3),
    "search": (search.lines, 20),
    "spread": (spread.lines, 20),
    "starts": (starts.lines, 5),
    "moves": (moves.lines, 5),
    "rounds": (rounds.lines, 5),
    "estimates": (selecting.estimate_lines, 10),
    "auto": (overlap.planted_lines, 10),
    "auto-told": (told.lines, 10),
    "auto-uneven": (overlap.uneven_lines, 40),
    "auto-real": (overlap.real_lines, 3),
    "auto-time": (overlap.time_lines, 1),
    "numbers": (selecting.number_lines, 40),
}

if __name__ == "__main__":
    run_parts("benchmarks.quality", __doc__, PARTS)
