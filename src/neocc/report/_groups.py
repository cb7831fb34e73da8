"""The part of the page about groups: a card for each."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from neocc.plot._measure import LIFT
from neocc.plot._words import join
from neocc.report._charts import difference_bar
from neocc.report._enriched import labels_of_group
from neocc.report._facts import Difference, Group, SideFacts, lookalikes
from neocc.report._html import Markup, element, joined, name
from neocc.report._pieces import NOTHING, note, section, swatch, table
from neocc.report._result import Result
from neocc.report._side import Side
from neocc.report._words import count_of, figure, figure_of, in_words

__all__ = ["groups"]

_MOST_DIFFERENCES, _MOST_PARTNERS, _MOST_ALIKE = 6, 4, 40


def groups(result: Result, facts: SideFacts, key: str) -> Markup:
    """Describe the groups of one side, a card for each."""
    side = facts.side
    ends = (0.0, 0.0)
    if side.means is not None and side.means.size and side.sizes.any():
        # Bars start at what groups are compared with, so that is on the scale too.
        shown = side.measure.position(np.vstack([side.means[side.sizes > 0], side.overall]))
        ends = float(shown.min()), float(shown.max())
    cards = [_card(result, facts, group, key, ends) for group in facts.groups]
    n_left_out = side.n_clusters - len(facts.groups)
    return section(
        f"groups-{key}",
        f"Groups of {side.noun}",
        note(_how_to_read(result, facts)),
        _alike(result, side),
        element("div", *cards, class_="cards"),
        note(f"The {n_left_out:,} smallest groups are left out here.") if n_left_out else NOTHING,
    )


def _alike(result: Result, side: Side) -> Markup:
    """Point out groups with nearly the same members."""
    remedy = "ask for fewer groups, or for less overlap"
    if result.can_average:
        remedy += ', or for overlap_model="average"'
    notes = [
        note(
            element("strong", in_words(clusters[:_MOST_ALIKE]).capitalize()),
            f" have nearly the same members: {remedy}.",
        )
        for clusters in lookalikes(side)[:_MOST_ALIKE]
    ]
    return joined(*notes)


def _how_to_read(result: Result, facts: SideFacts) -> str:
    measure, start = result.measure, "the mean of all groups"
    if measure.expected is not None:
        start = "what is expected"
    text = f"Bars start at {start}: to the right a group is higher, to the left lower."
    if measure.is_ratio:
        text = f"Bars start at {start}, a lift of 1: to the right there is more, to the left less."
    what = "a membership" if facts.side.repeats else "a member of this group alone"
    if facts.side.distances is not None and facts.side.gains:
        text += (
            f" Typical members are those that gain most. The gain is by how much {what} lowers the "
            f"objective below that of {result.background}; with more {_amount(result)}, there is "
            "more to gain."
        )
    elif facts.side.distances is not None:
        text += (
            f" Typical members are those at the smallest distance: what {what} adds to the "
            "objective, squared differences from what the group has in common."
        )
    return text


def _amount(result: Result) -> str:
    """Say what those have more of who can gain more."""
    return (
        "counts"
        if result.measure.is_ratio
        else "observed cells"
        if result.observed
        else "to explain"
    )


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
        _frequent(result, facts, group),
        labels_of_group(side, group.cluster),
        _typical(facts, group),
        _partners(group),
        _members(side, group, key),
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
    last, lines = _last_column(facts.side, group), []
    for one in shown:
        at, base = (float(facts.side.measure.position(x)) for x in (one.mean, one.overall))
        cells = [
            element("th", _other(result, facts, one, briefly=True), scope="row"),
            element("td", difference_bar(at, base, ends)),
            element("td", figure_of(result.measure, one.mean), class_="number"),
        ]
        if last is not None:
            cells.append(element("td", last[1](one), class_="number faint"))
        lines.append(element("tr", *cells))
    n_more = len(group.differences) - len(shown)
    less = "have lower lifts" if result.measure.is_ratio else "differ less"
    heads = (
        _other_noun(result, facts),
        "",
        result.measure.noun.split(" ")[0],
        *(() if last is None else last[:1]),
    )
    return joined(
        element("h4", "What makes it different"),
        element("p", _strongest(result, facts, shown[0]), class_="different"),
        table(heads, lines, "differences"),
        element("p", f"{n_more:,} more {less}.", class_="more") if n_more else NOTHING,
    )


def _last_column(side: Side, group: Group) -> tuple[str, Callable[[Difference], str]] | None:
    """Return what stands beside the numbers of a group: head and text of a line."""
    cells = side.cells
    if cells is not None:
        return "observed", lambda one: cells.in_words(group.cluster, one.other)
    if side.measure.expected is None:
        return "all", lambda one: figure(one.overall)
    return None


def _strongest(result: Result, facts: SideFacts, first: Difference) -> Markup:
    """Say where a group differs most."""
    measure, other = result.measure, _other(result, facts, first)
    if measure.expected is not None:
        return joined("With ", other, f": {measure.in_words(first.mean)}.")
    if first.mean == first.overall:
        return joined("Nothing: its means are those of all groups.")
    word = "Higher" if first.mean > first.overall else "Lower"
    means = f": {figure(first.mean)}, against {figure(first.overall)} over all groups."
    return joined(f"{word} in ", other, means)


def _frequent(result: Result, facts: SideFacts, group: Group) -> Markup:
    """List items of the other side that members have more often than expected."""
    if not group.frequent:
        return NOTHING
    rows, columns = result.rows, result.columns
    assert columns is not None
    other = columns if facts.side is rows else rows
    lines = [
        element(
            "li", name(other.name(item)), " ", element("span", LIFT.figure(lift), class_="number")
        )
        for item, lift in group.frequent
    ]
    title = f"{other.noun[:1].upper()}{other.noun[1:]} most beyond expectation, with lift"
    return joined(element("h4", title), element("ol", *lines, class_="typical frequent"))


def _other(result: Result, facts: SideFacts, one: Difference, *, briefly: bool = False) -> Markup:
    """Name a group of the other side, or a column where columns are not clustered."""
    if result.columns is None:
        return name(result.column_name(one.other))
    of_side = "" if briefly else f" of {_other_noun(result, facts)}"
    return joined(f"group {one.other + 1}{of_side}")


def _other_noun(result: Result, facts: SideFacts) -> str:
    return result.nouns[1 if facts.side is result.rows else 0]


def _typical(facts: SideFacts, group: Group) -> Markup:
    if not group.typical:
        return NOTHING
    lines = []
    for item, distance in group.typical:
        length = NOTHING
        if distance is not None:
            shown = -distance if facts.side.gains else distance
            length = element("span", figure(shown), class_="number")
        lines.append(element("li", name(facts.side.name(item)), " ", length))
    is_known = facts.side.distances is not None
    what = "gain" if facts.side.gains else "distance"
    title = f"Most typical, with {what}" if is_known else "Members, the first in the data"
    return joined(element("h4", title), element("ol", *lines, class_="typical"))


def _members(side: Side, group: Group, key: str) -> Markup:
    """Make the list of all members, which the script fills, and what copies and downloads it."""
    number = group.cluster + 1
    whose = f"the members of group {number} of {side.noun}"
    copy, download = (
        element("button", word, type="button", class_=word.split()[0].lower(), aria_label=label)
        for word, label in (
            ("Copy", f"Copy the names of {whose}"),
            ("Download CSV", f"Download {whose} as CSV"),
        )
    )
    if not group.size:
        return NOTHING
    return element(
        "details",
        element(
            "summary", f"All {count_of(group.size, side.noun)}" if group.size > 1 else "Member"
        ),
        element("p", copy, " ", download, " ", element("span", class_="said", role="status")),
        element("p", class_="more"),
        element("ol", class_="typical"),
        class_="members",
        data_side=key,
        data_group=number,
    )


def _partners(group: Group) -> Markup:
    if not group.partners:
        return NOTHING
    shown = [f"{count:,} with group {c + 1}" for c, count in group.partners[:_MOST_PARTNERS]]
    n_more = len(group.partners) - len(shown)
    more = [f"some with {n_more:,} more"] if n_more else []
    return element("p", f"Shares {join(shown + more)}.", class_="partners")
