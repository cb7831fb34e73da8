"""The part of the page about those in no group."""

from __future__ import annotations

from collections.abc import Sequence

from neocc.report._charts import limit_bar
from neocc.report._facts import Outlier, SideFacts
from neocc.report._html import Markup, element, name
from neocc.report._pieces import NOTHING, note, section, table
from neocc.report._result import Result
from neocc.report._words import count_of, figure

__all__ = ["outliers"]


def outliers(result: Result, sides: Sequence[SideFacts]) -> Markup:
    """List those in no group, with the reason."""
    parts = []
    for facts in sides:
        side, n_none = facts.side, facts.side.n_in[2]
        if not facts.outliers:
            continue
        caption = f"{count_of(n_none, side.noun)} in no group"
        if side.max_outliers is not None:
            caption += f"; up to {side.max_outliers:,} of {side.n_items:,} were allowed"
        lines = [_outlier_line(result, facts, one) for one in facts.outliers]
        what = "Gain" if side.gains else "Distance"
        heads = ("Name",) if facts.outliers[0].distance is None else ("Name", what, "Why")
        parts.append(table(heads, lines, "list", caption))
        if n_none > len(lines):
            order = "first" if facts.outliers[0].distance is None else "farthest"
            order = "lowest" if side.gains and order == "farthest" else order
            parts.append(note(f"The {order} {len(lines):,} of {n_none:,}."))
    if not parts:
        return NOTHING
    is_known = any(facts.side.distances is not None for facts in sides)
    limit = "The mark is the limit: no member of a group is farther from its nearest one."
    if not all(facts.side.repeats for facts in sides):
        limit = "The mark is the limit: no member of one group alone is farther from it."
    if any(facts.side.gains for facts in sides):
        limit = (
            f"Outliers are those that groups explain little better than {result.background}. The "
            "mark is the limit: no member of one group alone gains less."
        )
    return section("outliers", "Outliers", note(limit) if is_known else NOTHING, *parts)


def _outlier_line(result: Result, facts: SideFacts, one: Outlier) -> Markup:
    head = element("th", name(facts.side.name(one.item)), scope="row")
    if one.nearest is None or one.distance is None:
        return element("tr", head)
    limit = facts.side.limit
    if facts.side.gains:
        longest = max(0.0, -limit, *(-(other.distance or 0.0) for other in facts.outliers))
        bar = limit_bar(max(-one.distance, 0.0), max(-limit, 0.0), longest)
        return element(
            "tr", head, element("td", bar), element("td", _why_no_gain(result, limit, one))
        )
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


def _why_no_gain(result: Result, limit: float, one: Outlier) -> str:
    """Say why somebody was left out whom the nearest group explains better than none, or worse."""
    assert one.nearest is not None and one.distance is not None
    gain, least = -one.distance, -limit
    if gain == 0:
        return f"nothing to gain: no group tells more of it than {result.background}"
    if gain < 0:
        least_worse = f"group {one.nearest + 1} by {figure(-gain)}, the least"
        return f"every group explains it worse than {result.background}, {least_worse}"
    text = f"gains {figure(gain)} in group {one.nearest + 1}, the best"
    if gain >= least:
        return f"{text}: no less than the limit of {figure(least)}, a close decision"
    return f"{text}: less than the limit of {figure(least)}"
