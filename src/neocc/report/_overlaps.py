"""The part of the page about overlaps: which groups share members, how much, and whom."""

from __future__ import annotations

from collections.abc import Sequence

from neocc.estimators._redundancy import ALIKE, AlikePair, alike_pairs
from neocc.report._explained import overlap_model
from neocc.report._facts import Combination, SideFacts
from neocc.report._html import Markup, element, joined, name
from neocc.report._pieces import NOTHING, crossed, note, section, swatch, table
from neocc.report._result import Result
from neocc.report._scale import LEVELS
from neocc.report._side import Side
from neocc.report._words import count_of, in_words

__all__ = ["overlaps"]

_MOST_NAMES, _MOST_PAIRS, _MOST_CROSSED = 6, 10, 30


def overlaps(result: Result, sides: Sequence[SideFacts]) -> Markup:
    """Tell which groups share members, how much, and whom."""
    parts = [part for facts in sides if facts.combinations for part in _of_side(facts)]
    if not parts:
        return NOTHING
    return section("overlaps", "In more than one group", overlap_model(result), *parts)


def _of_side(facts: SideFacts) -> list[Markup]:
    """Cross the groups of a side, list its closest pairs, and those who are in several."""
    side = facts.side
    parts = [_crossed(facts) if side.n_clusters > 2 else NOTHING, *_pairs(side)]
    lines = [_combination_line(facts, one) for one in facts.combinations]
    caption = f"{count_of(side.n_in[1], side.noun)} in more than one group"
    parts.append(table(("In all of", side.noun, "Who"), lines, "list", caption))
    n_kinds = sum(segment.is_overlap for segment in side.arrangement.segments)
    if n_kinds > len(lines):
        parts.append(note(f"The {len(lines)} most common of {n_kinds:,} combinations."))
    return parts


def _crossed(facts: SideFacts) -> Markup:
    """Tabulate how many members any two groups share, darker for a larger Jaccard index."""
    side, clusters = facts.side, [group.cluster for group in facts.groups]
    if len(clusters) > _MOST_CROSSED:
        return NOTHING
    lines = [
        element(
            "tr",
            element("th", swatch(one), f" {one + 1}", scope="row"),
            *(_shared_cell(side, one, other) for other in clusters),
        )
        for one in clusters
    ]
    heads = ["", *(joined(swatch(cluster), f" {cluster + 1}") for cluster in clusters)]
    caption = f"How many {side.noun} any two groups share, and in outlines, how many each has"
    return crossed(heads, lines, caption)


def _shared_cell(side: Side, one: int, other: int) -> Markup:
    if one == other:
        return element("td", f"{side.sizes[one]:,}", class_="own")
    both, jaccard = int(side.shared[one, other]), float(side.jaccard[one, other])
    if not both:
        return element("td", class_="e0")
    words = f"{in_words((one, other)).capitalize()}: {both:,} in both, Jaccard index {jaccard:.3f}"
    # What there is at all shall be seen.
    level = max(1, round(LEVELS * jaccard))
    return element("td", f"{both:,}", class_=f"e{level}", title=words)


def _pairs(side: Side) -> list[Markup]:
    """List the pairs of groups whose members are most alike."""
    pairs = alike_pairs(side.jaccard, above=0.0)
    lines = [_pair_line(side, pair) for pair in pairs[:_MOST_PAIRS]]
    heads = ("Pair", "In both", "In either", "Jaccard index", "Share of the smaller")
    parts = [table(heads, lines, "list related", f"Groups of {side.noun} that share most")]
    if len(pairs) > len(lines):
        parts.append(note(f"The {len(lines)} most alike of {len(pairs):,} pairs."))
    return parts


def _pair_line(side: Side, pair: AlikePair) -> Markup:
    both, sizes = int(side.shared[pair.one, pair.other]), side.sizes[[pair.one, pair.other]]
    numbers = (f"{both:,}", f"{int(sizes.sum()) - both:,}", f"{pair.jaccard:.3f}")
    share = both / int(sizes.min())
    alike = element("strong", " nearly the same") if pair.jaccard > ALIKE else NOTHING
    if not alike and share == 1:
        larger, smaller = (pair.one, pair.other) if sizes[0] > sizes[1] else (pair.other, pair.one)
        alike = joined(f" group {larger + 1} has all of group {smaller + 1}")
    return element(
        "tr",
        element("th", in_words((pair.one, pair.other)).capitalize(), scope="row"),
        *(element("td", text, class_="number") for text in numbers),
        element("td", f"{share:.0%}", alike),
    )


def _combination_line(facts: SideFacts, one: Combination) -> Markup:
    names = [name(facts.side.name(int(item))) for item in one.items[:_MOST_NAMES]]
    n_more = len(one.items) - len(names)
    return element(
        "tr",
        element("th", in_words(one.clusters), scope="row"),
        element("td", f"{len(one.items):,}", class_="number"),
        element("td", Markup(", ".join(names)), f" and {n_more:,} more" if n_more else ""),
    )
