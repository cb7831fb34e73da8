"""The parts of the page about groups, those in several of them, and those in none."""

from __future__ import annotations

from collections.abc import Sequence

from neocc.estimators._redundancy import AlikePair, alike_pairs
from neocc.plot._words import join
from neocc.report._charts import difference_bar, limit_bar
from neocc.report._explained import overlap_model
from neocc.report._facts import (
    Combination,
    Difference,
    Group,
    Outlier,
    Side,
    SideFacts,
    lookalikes,
)
from neocc.report._html import Markup, element, joined, name
from neocc.report._pieces import NOTHING, note, section, swatch, table
from neocc.report._result import Result
from neocc.report._words import count_of, figure, in_words

__all__ = ["groups", "outliers", "overlaps"]

_MOST_DIFFERENCES, _MOST_PARTNERS, _MOST_NAMES = 6, 4, 6
_MOST_ALIKE, _MOST_PAIRS = 40, 10


def groups(result: Result, facts: SideFacts, key: str) -> Markup:
    """Describe the groups of one side, a card for each."""
    side = facts.side
    ends = (0.0, 0.0)
    if side.means is not None and side.sizes.any():
        filled = side.means[side.sizes > 0]
        ends = float(filled.min()), float(filled.max())
    cards = [_card(result, facts, group, key, ends) for group in facts.groups]
    n_left_out = side.n_clusters - len(facts.groups)
    return section(
        f"groups-{key}",
        f"Groups of {side.noun}",
        note(_how_to_read(facts)),
        _alike(result, side),
        element("div", *cards, class_="cards"),
        note(f"The {n_left_out:,} smallest groups are left out here.") if n_left_out else NOTHING,
    )


def _alike(result: Result, side: Side) -> Markup:
    """Point out groups with nearly the same members, and list the pairs that are most alike."""
    found, pairs = lookalikes(side), alike_pairs(side.jaccard)
    remedy = "ask for fewer groups, or for less overlap"
    if getattr(result.model, "overlap_model", "average") != "average":
        remedy += ', or for overlap_model="average"'
    notes = [
        note(
            element("strong", in_words(clusters[:_MOST_ALIKE]).capitalize()),
            f" have nearly the same members: {remedy}.",
        )
        for clusters in found[:_MOST_ALIKE]
    ]
    if not notes:
        return NOTHING
    lines = [_alike_line(side, pair) for pair in pairs[:_MOST_PAIRS]]
    heads = ("Pair", "In both", "In either", "Jaccard index")
    caption = f"Groups of {side.noun} with nearly the same members"
    shown = table(heads, lines, "list alike", caption)
    n_more = len(pairs) - len(lines)
    more = note(f"The {len(lines)} most alike of {len(pairs):,} pairs.") if n_more else NOTHING
    return joined(*notes, shown, more)


def _alike_line(side: Side, pair: AlikePair) -> Markup:
    both = int(side.shared[pair.one, pair.other])
    either = int(side.sizes[[pair.one, pair.other]].sum()) - both
    numbers = (f"{both:,}", f"{either:,}", f"{pair.jaccard:.3f}")
    return element(
        "tr",
        element("th", in_words((pair.one, pair.other)).capitalize(), scope="row"),
        *(element("td", text, class_="number") for text in numbers),
    )


def _how_to_read(facts: SideFacts) -> str:
    text = (
        "Bars start at the mean of all groups: to the right a group is higher, to the left lower."
    )
    if facts.side.distances is not None:
        what = "a membership" if facts.side.repeats else "one in this group alone"
        text += (
            f" Typical members are those at the smallest distance, which is what {what} adds to "
            "the objective: squared differences from what the group has in common."
        )
    return text


def _card(
    result: Result, facts: SideFacts, group: Group, key: str, ends: tuple[float, float]
) -> Markup:
    side, number = facts.side, group.cluster + 1
    shared = f", {group.n_shared:,} of them in other groups too" if group.n_shared else ""
    show = element(
        "button",
        "Show in the matrix",
        type="button",
        class_="show",
        data_side=key,
        data_group=number,
        aria_label=f"Show group {number} of {side.noun} in the matrix",
        aria_pressed="false",
    )
    return element(
        "article",
        element("h3", swatch(group.cluster), f" Group {number}"),
        element("p", f"{count_of(group.size, side.noun)}{shared}", class_="size"),
        _differences(result, facts, group, ends),
        _typical(facts, group),
        _partners(group),
        element("p", show, class_="action") if result.has_values else NOTHING,
        class_="card",
        id=f"{key}-{number}",
    )


def _differences(
    result: Result, facts: SideFacts, group: Group, ends: tuple[float, float]
) -> Markup:
    shown = group.differences[:_MOST_DIFFERENCES]
    if not shown:
        return NOTHING
    lines = [
        element(
            "tr",
            element("th", _other(result, facts, one), scope="row"),
            element("td", difference_bar(one.mean, one.overall, ends)),
            element("td", figure(one.mean), class_="number"),
            element("td", figure(one.overall), class_="number faint"),
        )
        for one in shown
    ]
    first, n_more = shown[0], len(group.differences) - len(shown)
    word = "Higher" if first.mean > first.overall else "Lower"
    means = f": {figure(first.mean)}, against {figure(first.overall)} over all groups."
    sentence = joined(f"{word} in ", _other(result, facts, first), means)
    if first.mean == first.overall:
        sentence = joined("Nothing: its means are those of all groups.")
    return joined(
        element("h4", "What makes it different"),
        element("p", sentence, class_="different"),
        table(("", "", result.level, "all"), lines, "differences"),
        element("p", f"{n_more:,} more differ less.", class_="more") if n_more else NOTHING,
    )


def _other(result: Result, facts: SideFacts, one: Difference) -> Markup:
    """Name a group of the other side, or a column where columns are not clustered."""
    if result.columns is None:
        return name(result.column_name(one.other))
    other = result.columns if facts.side is result.rows else result.rows
    return joined(f"group {one.other + 1} of {other.noun}")


def _typical(facts: SideFacts, group: Group) -> Markup:
    if not group.typical:
        return NOTHING
    lines = []
    for item, distance in group.typical:
        length = NOTHING
        if distance is not None:
            length = element("span", figure(distance), class_="number")
        lines.append(element("li", name(facts.side.name(item)), " ", length))
    is_known = facts.side.distances is not None
    title = "Most typical, with distance" if is_known else "Members, the first in the data"
    return joined(element("h4", title), element("ol", *lines, class_="typical"))


def _partners(group: Group) -> Markup:
    if not group.partners:
        return NOTHING
    shown = [f"{count:,} with group {c + 1}" for c, count in group.partners[:_MOST_PARTNERS]]
    n_more = len(group.partners) - len(shown)
    more = [f"some with {n_more:,} more"] if n_more else []
    return element("p", f"Shares {join(shown + more)}.", class_="partners")


# ------------------------------------------------------------------------------------- overlaps


def overlaps(result: Result, sides: Sequence[SideFacts]) -> Markup:
    """List which groups share members, and whom."""
    parts = []
    for facts in sides:
        side = facts.side
        if not facts.combinations:
            continue
        lines = [_combination_line(facts, one) for one in facts.combinations]
        caption = f"{count_of(side.n_in[1], side.noun)} in more than one group"
        parts.append(table(("In all of", side.noun, "Who"), lines, "list", caption))
        n_kinds = sum(segment.is_overlap for segment in side.arrangement.segments)
        if n_kinds > len(lines):
            parts.append(note(f"The {len(lines)} most common of {n_kinds:,} combinations."))
    if not parts:
        return NOTHING
    return section("overlaps", "In more than one group", overlap_model(result), *parts)


def _combination_line(facts: SideFacts, one: Combination) -> Markup:
    names = [name(facts.side.name(int(item))) for item in one.items[:_MOST_NAMES]]
    n_more = len(one.items) - len(names)
    return element(
        "tr",
        element("th", in_words(one.clusters), scope="row"),
        element("td", f"{len(one.items):,}", class_="number"),
        element("td", Markup(", ".join(names)), f" and {n_more:,} more" if n_more else ""),
    )


# ------------------------------------------------------------------------------------- outliers


def outliers(sides: Sequence[SideFacts]) -> Markup:
    """List those in no group, with the reason."""
    parts = []
    for facts in sides:
        side, n_none = facts.side, facts.side.n_in[2]
        if not facts.outliers:
            continue
        caption = f"{count_of(n_none, side.noun)} in no group"
        if side.max_outliers is not None:
            caption += f"; up to {side.max_outliers:,} of {side.n_items:,} were allowed"
        lines = [_outlier_line(facts, one) for one in facts.outliers]
        heads = ("Name",) if facts.outliers[0].distance is None else ("Name", "Distance", "Why")
        parts.append(table(heads, lines, "list", caption))
        if n_none > len(lines):
            order = "first" if facts.outliers[0].distance is None else "farthest"
            parts.append(note(f"The {order} {len(lines):,} of {n_none:,}."))
    if not parts:
        return NOTHING
    is_known = any(facts.side.distances is not None for facts in sides)
    limit = "The mark is the limit: nobody in a group is farther from the nearest one."
    if not all(facts.side.repeats for facts in sides):
        limit = "The mark is the limit: nobody in one group alone is farther from it."
    return section("outliers", "Outliers", note(limit) if is_known else NOTHING, *parts)


def _outlier_line(facts: SideFacts, one: Outlier) -> Markup:
    head = element("th", name(facts.side.name(one.item)), scope="row")
    if one.nearest is None or one.distance is None:
        return element("tr", head)
    limit = facts.side.limit
    if one.distance <= limit:
        reason = f"no farther than the limit of {figure(limit)}, a close decision"
    elif limit > 0:
        times = one.distance / limit
        reason = f"{times:{',.0f' if times >= 100 else '.2g'}} times the limit of {figure(limit)}"
    else:
        reason = "while all others fit their groups exactly"
    text = f"{figure(one.distance)} from group {one.nearest + 1}, the nearest: {reason}"
    longest = max(limit, facts.outliers[0].distance or 0.0)
    bar = element("td", limit_bar(one.distance, limit, longest))
    return element("tr", head, bar, element("td", text))
