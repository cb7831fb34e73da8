"""The parts of the page about labels: on the card of a group, and all of them in one picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from neocc._typing import IntArray
from neocc.io._labels import Labels
from neocc.metrics import Enrichment
from neocc.report._facts import SideFacts
from neocc.report._html import Markup, element, joined, name
from neocc.report._pieces import NOTHING, crossed, note, section, swatch, table
from neocc.report._scale import LEVELS
from neocc.report._side import Side
from neocc.report._words import count_of, figure

__all__ = ["LEVEL", "as_json", "enriched", "labels", "labels_of_group", "p_text"]

LEVEL = 0.05
"""Adjusted p-values up to this are called enriched."""
_MOST_ON_CARD, _MOST_LABELS = 5, 30
_LONGEST = 40  # letters of a label
_SMALLEST = 1e-300


def p_text(p: float) -> str:
    """Write a p-value.

    Examples
    --------
    >>> from neocc.report._enriched import p_text
    >>> p_text(0.0412), p_text(3.2e-9), p_text(0.0), p_text(1.0)
    ('0.041', '3e-09', 'below 1e-300', '1')
    """
    if p < _SMALLEST:
        return f"below {_SMALLEST:g}"
    return f"{p:.2g}" if p >= 1e-4 else f"{p:.0e}"


def enriched(tested: Enrichment, cluster: int) -> IntArray:
    """Return the labels that a cluster has more often than by chance, the surest first."""
    order = np.lexsort((-tested.counts[:, cluster], tested.p_values[:, cluster]))
    return np.asarray(order[tested.adjusted[order, cluster] <= LEVEL])


def as_json(known: Labels, tested: Enrichment) -> dict[str, Any]:
    """Return all tests of a side as JSON knows them."""
    n_labels, n_clusters = tested.counts.shape
    pairs = [(label, cluster) for cluster in range(n_clusters) for label in range(n_labels)]
    return {
        "labelled": tested.n_items,
        "unlabelled": tested.n_unlabelled,
        "tests": [
            {
                "group": cluster + 1,
                "label": known.names[label],
                "members_with_label": int(tested.counts[label, cluster]),
                "members_labelled": int(tested.cluster_sizes[cluster]),
                "all_with_label": int(tested.label_sizes[label]),
                "expected": float(tested.expected[label, cluster]),
                "p": float(tested.p_values[label, cluster]),
                "p_adjusted": float(tested.adjusted[label, cluster]),
            }
            for label, cluster in pairs
        ],
    }


# --------------------------------------------------------------------------------------- on a card


def labels_of_group(side: Side, cluster: int) -> Markup:
    """List the labels that a group has more often than by chance."""
    tested, known = side.enrichment, side.labels
    if tested is None or known is None or not side.sizes[cluster]:
        return NOTHING
    found = enriched(tested, cluster)
    title = element("h4", "Labels more often than by chance")
    if not len(found):
        return joined(title, element("p", "None.", class_="more"))
    lines = [
        element(
            "tr",
            element("th", name(known.names[label], _LONGEST), scope="row"),
            element("td", f"{tested.counts[label, cluster]:,}", class_="number"),
            element("td", figure(tested.expected[label, cluster]), class_="number faint"),
            element("td", p_text(tested.adjusted[label, cluster]), class_="number"),
        )
        for label in found[:_MOST_ON_CARD].tolist()
    ]
    n_more = len(found) - len(lines)
    heads = ("", "members", "by chance", "adjusted p")
    return joined(
        title,
        table(heads, lines, "differences labelled"),
        element("p", f"{n_more:,} more.", class_="more") if n_more else NOTHING,
    )


# ------------------------------------------------------------------------------------- the picture


def labels(sides: Sequence[SideFacts]) -> Markup:
    """Tabulate labels against groups, darker where there are more than by chance."""
    parts = [_contingency(facts) for facts in sides if facts.side.labels is not None]
    if not parts:
        return NOTHING
    text = (
        "How many members of each group have each label. The darker a cell, the more there are "
        "compared with chance; an outline marks those that chance hardly explains (adjusted p "
        f"up to {LEVEL:g}: hypergeometric test, adjusted by Benjamini and Hochberg for all cells)."
    )
    return section("labels", "Labels and groups", note(text), *parts)


def _contingency(facts: SideFacts) -> Markup:
    side = facts.side
    tested, known = side.enrichment, side.labels
    assert tested is not None and known is not None
    shown, levels = _order(tested), _levels(tested)
    clusters = [group.cluster for group in facts.groups]
    with_label = known.members.T @ (side.weights == 0)
    lines = [
        element(
            "tr",
            element("th", name(known.names[label], _LONGEST), scope="row"),
            *(_cell(tested, label, one, levels[label, one]) for one in clusters),
            element("td", f"{with_label[label]:,}", class_="faint") if side.n_in[2] else NOTHING,
            element("td", f"{tested.label_sizes[label]:,}", class_="faint"),
        )
        for label in shown.tolist()
    ]
    unlabelled = np.diff(known.members.indptr) == 0
    if unlabelled.any():
        counts = [int(side.members[unlabelled, cluster].sum()) for cluster in clusters]
        counts += [int((side.weights[unlabelled] == 0).sum())] if side.n_in[2] else []
        counts.append(int(unlabelled.sum()))
        cells = (element("td", f"{count:,}", class_="faint") for count in counts)
        lines.append(element("tr", element("th", "no label", scope="row"), *cells, class_="faint"))
    heads = [
        "",
        *(joined(swatch(cluster), f" {cluster + 1}") for cluster in clusters),
        *(("no group",) if side.n_in[2] else ()),
        "all",
    ]
    caption = f"Labels of {count_of(side.n_items, side.noun)}, by group"
    wide = crossed(heads, lines, caption)
    return joined(wide, *map(note, _remarks(facts, len(shown))))


def _remarks(facts: SideFacts, n_shown: int) -> list[str]:
    """Say what is not in the table."""
    known = facts.side.labels
    assert known is not None
    remarks = [f"{text[:1].upper()}{text[1:]}" for text in known.notes]
    n_labels, n_groups = len(known.names), facts.side.n_clusters
    if n_labels > n_shown:
        remarks.append(f"The {n_shown} labels with the smallest p-values of {n_labels:,}.")
    if n_groups > len(facts.groups):
        remarks.append(f"The {len(facts.groups)} largest of {n_groups:,} groups.")
    return remarks


def _order(tested: Enrichment) -> IntArray:
    """Return the labels to show: the surest, those of the same group side by side.

    Labels that no group has more often than by chance stand last.
    """
    least = tested.p_values.min(axis=1, initial=1.0)
    shown = np.lexsort((-tested.label_sizes, least))[:_MOST_LABELS]
    if not tested.p_values.shape[1]:
        return np.asarray(shown)
    group = tested.p_values[shown].argmin(axis=1)
    last = tested.adjusted[shown].min(axis=1) > LEVEL
    return np.asarray(shown[np.lexsort((group, last))])


def _levels(tested: Enrichment) -> IntArray:
    """Return how dark cells are: by how many times as much there is as chance gives.

    Both are raised by one, so that rare labels do not outshine the others.
    """
    times = np.log((tested.counts + 1) / (tested.expected + 1)).clip(min=0.0)
    levels: IntArray = np.rint(LEVELS * times / max(np.log(2.0), times.max())).astype(np.intp)
    return levels


def _cell(tested: Enrichment, label: int, cluster: int, level: int) -> Markup:
    count, p = int(tested.counts[label, cluster]), float(tested.adjusted[label, cluster])
    if not count:
        return element("td", "0", class_="e0")
    by_chance = figure(float(tested.expected[label, cluster]))
    return element(
        "td",
        f"{count:,}",
        class_=f"e{level} enriched" if p <= LEVEL else f"e{level}",
        title=f"{count:,}, by chance {by_chance}; adjusted p {p_text(p)}",
    )
