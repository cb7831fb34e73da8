"""The page: all parts in one file that needs no other."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from importlib import resources
from os import PathLike
from pathlib import Path
from string import Template
from typing import Any

from neocc import __version__
from neocc.io import RunRecord
from neocc.io._whole import whole_file
from neocc.report import _overview
from neocc.report._data import make_picture, page_data
from neocc.report._enriched import labels as labels_part
from neocc.report._facts import gather
from neocc.report._groups import groups
from neocc.report._html import Markup, element, joined, script_json, shorten, without_whole_names
from neocc.report._outliers import outliers
from neocc.report._overlaps import overlaps
from neocc.report._pieces import look_rules, note
from neocc.report._result import Result, read_result
from neocc.report._scale import shade_rules
from neocc.report._settings import settings as settings_part
from neocc.report._story import story
from neocc.report._words import headline

__all__ = ["is_report", "render_report", "write_report"]

_LIMITS = {
    "most_groups": 60,
    "n_typical": 8,
    "most_combinations": 20,
    "most_outliers": 100,
}
_LONGEST_TITLE = 120
_MOST_BYTES = 3_000_000
_MARK, _HEAD_BYTES = b'<meta name="generator" content="neocc ', 4096
_SCRIPTS = ("sides.js", "patterns.js", "picture.js", "controls.js", "members.js")
_WITHOUT_PICTURE = ("sides.js", "members.js")
_NO_MATRIX = "This page was made without the matrix: it shows what the model knows by itself."
_TITLES = {
    "matrix": "Matrix",
    "blocks": "Blocks",
    "story": "Choices",
    "groups": "Groups",
    "labels": "Labels",
    "overlaps": "Overlaps",
    "outliers": "Outliers",
    "convergence": "Objective",
    "settings": "Settings",
}


def render_report(
    model: Any,
    matrix: Any = None,
    *,
    row_names: Sequence[Any] | None = None,
    column_names: Sequence[Any] | None = None,
    row_noun: str = "rows",
    column_noun: str = "columns",
    title: str | None = None,
    settings: Mapping[str, Any] | None = None,
    record: RunRecord | None = None,
    labels: Any = None,
    labels_of_columns: Any = None,
) -> str:
    """Describe a fit on one page of HTML.

    The page needs no other file and no network, works from disk, in print and with the keyboard,
    and has at most three million bytes, however large the matrix is: large ones are averaged over
    a grid, and of very many names only some are kept.

    Parameters
    ----------
    model : fitted estimator
        `NEOCC`, `MSSR`, `NEOKMeans`, or any model with their attributes.
    matrix : Matrix, array-like, data frame or sparse matrix, default=None
        The data of the fit. Without it the page has no picture of the matrix, no typical members
        and no reasons for outliers.
    row_names, column_names : sequence, default=None
        Names; by default those of the matrix, those that the model was fitted with, or numbers.
        They are shown as text, whatever they contain. If a `Matrix` has other names, these are the
        ids, and are downloaded beside the names.
    row_noun, column_noun : str, default="rows" and "columns"
        Plural nouns for rows and columns, such as "genes" and "conditions".
    title : str, default=None
        The title of the page.
    settings : mapping, default=None
        Settings to show instead of the parameters of the model.
    record : RunRecord, default=None
        The record of the run: its file, versions and time are shown too.
    labels, labels_of_columns : path-like, mapping or sequence, default=None
        Known labels of rows and columns, such as classes, genres or tissues. The page then shows
        which labels are over-represented in each group (`neocc.metrics.enrichment`). A mapping from
        names, or a sequence with one entry per row: a label, a list of labels, or None. Or a file
        with a column of names, followed by one of labels; ``"films.csv:genres"`` selects the
        column. In a file, several labels are on separate lines, or in one cell, separated by
        ``|``.

    Returns
    -------
    page : str
        The page.

    Examples
    --------
    >>> from neocc import NEOCC
    >>> from neocc.datasets import load_southern_women
    >>> from neocc.report import render_report
    >>> women = load_southern_women()
    >>> model = NEOCC(2, 3, row_overlap=0.05, row_outliers=0.05, random_state=0).fit(women.data)
    >>> page = render_report(model, matrix=women.data, row_noun="women", column_noun="events")
    >>> "2 groups of women, 3 of events, 2 women in more than one group, 1 outlier" in page
    True

    Labels of the women, here by the first letter of their names:

    >>> names = women.row_names
    >>> initials = {name: name[0] for name in names}
    >>> page = render_report(model, matrix=women.data, row_names=names, labels=initials)
    >>> "Labels more often than by chance" in page
    True
    """
    nouns = (row_noun, column_noun)
    known = (labels, labels_of_columns)
    result = read_result(model, matrix, row_names, column_names, nouns, known)
    sides = [gather(side, result.other_sizes(side), **_LIMITS) for side in result.sides]
    picture = make_picture(result) if result.has_values else None
    title = shorten(title or _default_title(result), _LONGEST_TITLE)
    parts = {
        "matrix": _overview.matrix(result, picture) if picture else note(_NO_MATRIX),
        "blocks": _overview.blocks(result, record),
        "story": story(record),
        "groups": joined(
            *(
                groups(result, facts, key)
                for facts, key in zip(sides, ("rows", "columns"), strict=False)
            )
        ),
        "labels": labels_part(sides),
        "overlaps": overlaps(result, sides),
        "outliers": outliers(result, sides),
        "convergence": _overview.convergence(result),
        "settings": settings_part(result, settings, record),
    }
    rules = (look_rules(), shade_rules("e"), _overview.block_styles(result))
    style = "\n".join([_file("report.css"), *rules])
    script = "\n".join(_file(name) for name in (_SCRIPTS if picture else _WITHOUT_PICTURE))
    content = script_json(page_data(result, picture, sides))
    page = Template(_file("template.html")).substitute(
        title=element("title", title),
        policy=_policy(script, style),
        style=style,
        script=script,
        kicker=joined(title),
        answer=joined(headline(result.sides)),
        composition=_overview.composition(result.sides),
        contents=_contents(parts),
        data=element("script", content, type="application/json", id="data"),
        parts=joined(*parts.values()),
        version=joined(__version__),
    )
    return page if len(page.encode()) <= _MOST_BYTES else without_whole_names(page)


def write_report(
    model: Any,
    path: str | PathLike[str],
    matrix: Any = None,
    *,
    row_names: Sequence[Any] | None = None,
    column_names: Sequence[Any] | None = None,
    row_noun: str = "rows",
    column_noun: str = "columns",
    title: str | None = None,
    settings: Mapping[str, Any] | None = None,
    record: RunRecord | None = None,
    labels: Any = None,
    labels_of_columns: Any = None,
    force: bool = False,
) -> None:
    """Write an HTML report of a fit; the file is written atomically.

    Parameters
    ----------
    model : fitted estimator
        What to describe.
    path : path-like
        Where; `.html` is the usual extension.
    matrix : Matrix, array-like, data frame or sparse matrix, default=None
        The data of the fit; without it there is no picture of the matrix, and no typical members.
    row_names, column_names : sequence, default=None
        Names to show; by default those of the matrix or of the fit.
    row_noun, column_noun : str, default="rows" and "columns"
        Plural nouns for rows and columns, such as "genes" and "conditions".
    title : str, default=None
        The title of the page.
    settings, record : mapping and RunRecord, default=None
        What to show of the run, as in `render_report`.
    labels, labels_of_columns : path-like, mapping or sequence, default=None
        Known labels of rows and columns, as in `render_report`.
    force : bool, default=False
        Whether to replace an existing file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from neocc import MSSR
    >>> from neocc.report import write_report
    >>> X = [[5, 5, 0], [5, 5, 0], [0, 0, 5]]
    >>> model = MSSR(2, 2, random_state=0).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "report.html"
    ...     write_report(model, path, matrix=X, row_names=["ann", "bea", "cleo"])
    ...     "cleo" in path.read_text(encoding="utf-8")
    True
    """
    page = render_report(
        model,
        matrix=matrix,
        row_names=row_names,
        column_names=column_names,
        row_noun=row_noun,
        column_noun=column_noun,
        title=title,
        settings=settings,
        record=record,
        labels=labels,
        labels_of_columns=labels_of_columns,
    )
    with whole_file(path, force=force) as partial:
        partial.write_text(page, encoding="utf-8", newline="\n")


def is_report(path: Path) -> bool:
    """Whether a file is a page that `write_report` wrote."""
    try:
        with path.open("rb") as file:
            return _MARK in file.read(_HEAD_BYTES)
    except OSError:
        return False


def _file(name: str) -> str:
    return resources.files("neocc.report").joinpath(name).read_text(encoding="utf-8")


def _policy(script: str, style: str) -> Markup:
    """Forbid the page everything but its own script and style: no network, no other code."""
    hashes = [
        base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        for text in (script, style)
    ]
    rules = (
        f"default-src 'none'; script-src 'sha256-{hashes[0]}'; style-src 'sha256-{hashes[1]}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    return element("meta", http_equiv="Content-Security-Policy", content=rules)


def _default_title(result: Result) -> str:
    n_rows, n_columns = result.matrix.shape
    rows, columns = result.nouns
    return f"Groups among {n_rows:,} {rows} and {n_columns:,} {columns}"


def _contents(parts: Mapping[str, Markup]) -> Markup:
    """List the parts that there are."""
    links = []
    for key, part in parts.items():
        place = "groups-rows" if key == "groups" else key
        if f'id="{place}"' in part:
            links.append(element("a", _TITLES[key], href=f"#{place}"))
    return joined(*links)
