"""The page as a file: whole, bounded, safe, and right about what it says."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import subprocess
import sys
from dataclasses import dataclass

import numpy as np
import pages
import pytest
from instances import planted
from models import NAMES, make_model
from scipy import sparse

from neocc import MSSR, NEOCC
from neocc.datasets import load_southern_women
from neocc.io import Matrix, WouldOverwriteError, make_record
from neocc.report import render_report, write_report

HOSTILE = (
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '" onmouseover="alert(1)',
    "' onfocus='alert(1)",
    "<!--<script>",
    "]]>&lt;b&gt;&amp;",
    "${title} $title %s {0}",
    "line\nbreak\u2028and\u2029more\x00\x1b[31m",
    "\u202egnp.exe",
    "half a pair \ud800 of surrogates",
    "👩‍👩‍👧 عربي 中文",
)


@pytest.fixture(scope="module")
def women():
    data = load_southern_women()
    model = NEOCC(
        2,
        3,
        row_overlap=0.05,
        row_outliers=0.05,
        column_overlap=-0.07,
        column_outliers=0.07,
        n_init=2,
        random_state=0,
    ).fit(data.data)
    options = {
        "matrix": data.data,
        "row_names": data.row_names,
        "column_names": data.column_names,
        "row_noun": "women",
        "column_noun": "events",
    }
    return model, options


# --------------------------------------------------------------------------------- what it says


def test_the_page_opens_on_the_answer(women):
    model, options = women
    page = pages.read(render_report(model, **options))
    (heading,) = page.all("h1")
    assert heading.text == (
        "2 groups of women, 3 of events, 2 women in more than one group, 1 outlier among the women "
        "and 1 among the events"
    )
    assert [tag.text for tag in page.all("h2")] == [
        "The matrix, sorted by what was found",
        "How the groups meet",
        "Groups of women",
        "Groups of events",
        "In more than one group",
        "Outliers",
        "How the objective fell",
        "Settings",
    ]
    links = [tag.attributes["href"] for tag in page.all("a")]
    assert all(page.by_id(link.removeprefix("#")) for link in links)


def test_parts_say_what_the_model_found(women):
    model, options = women
    page = pages.read(render_report(model, **options))
    d = model.transform(options["matrix"])
    for cluster in range(2):
        members = np.flatnonzero(model.row_membership_[:, cluster])
        card = page.by_id(f"rows-{cluster + 1}").text
        assert f"{len(members)} women" in card
        nearest = members[np.argsort(d[members, cluster], kind="stable")][:8]
        typical = [options["row_names"][item] for item in nearest]
        assert [card.index(name) for name in typical] == sorted(map(card.index, typical))
    left = int(np.flatnonzero(model.row_outliers_)[0])
    limit = d[~model.row_outliers_].min(axis=1).max()
    outliers = page.by_id("outliers").text
    assert options["row_names"][left] in outliers
    assert f"{d[left].min():#.3g} from group {d[left].argmin() + 1}, the nearest: " in outliers
    assert f"{d[left].min() / limit:.2g} times the limit of {limit:#.3g}" in outliers
    both = np.flatnonzero(model.row_membership_.sum(axis=1) == 2)
    overlaps = page.by_id("overlaps").text
    assert all(options["row_names"][item] in overlaps for item in both)
    for mean in model.block_means_.ravel():
        assert (f"{mean:#.3g}" if mean else "0") in page.by_id("blocks").text
    assert (
        f"from {model.history_[0]:.5g} to {model.history_[-1]:.5g}"
        in page.by_id("convergence").text
    )
    assert "n_init" in page.by_id("settings").text


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array, np.float32])
def test_every_estimator_and_container(name, container):
    X = container(np.abs(planted(np.random.default_rng(1), n=20, m=12)))
    model = make_model(name, n_init=1).fit(X)
    page = pages.read(render_report(model, matrix=X))
    assert page.data["rows"]["items"] == 20
    n_sides = 1 if name.startswith("NEOKMeans") else 2
    assert len([tag for tag in page.all("section") if "groups" in tag.attributes["id"]]) == n_sides


@pytest.mark.parametrize("dtype", [bool, np.int8])
def test_values_that_cannot_be_negated(dtype):
    X = np.where(np.random.default_rng(0).random((30, 12)) < 0.5, 1, np.iinfo(np.int8).min)
    X = X > 0 if dtype is bool else X.astype(dtype)
    model = NEOCC(2, 2, random_state=0, n_init=1).fit(X)
    assert pages.read(render_report(model, matrix=X)).data["rows"]["items"] == 30


def test_without_a_matrix_the_page_says_less(women):
    model, _ = women
    page = pages.read(render_report(model))
    assert not any(tag.attributes.get("id") == "picture" for tag in page.tags)
    assert "cells" not in page.data
    assert "without the matrix" in page.by_id("main").text
    assert "Members, the first in the data" in page.by_id("rows-1").text
    assert "row 1" in page.by_id("rows-1").text


def test_names_of_frames_models_and_matrices(women):
    pd = pytest.importorskip("pandas")
    model, options = women
    X = options["matrix"]
    frame = pd.DataFrame(X, index=options["row_names"], columns=options["column_names"])
    named = MSSR(2, 2, n_init=1, random_state=0).fit(frame)
    matrix = Matrix(
        X,
        row_names=tuple(options["row_names"]),
        column_names=tuple(options["column_names"]),
    )
    for page in (
        render_report(named, matrix=frame),
        render_report(model, matrix=matrix),
        render_report(model, **options),
    ):
        data = pages.read(page).data
        assert set(data["rows"]["names"]) == set(options["row_names"])
        assert set(data["columns"]["names"]) == set(options["column_names"])
    assert set(pages.read(render_report(named)).by_id("columns-1").text.split()) & set(
        frame.columns
    )


def test_groups_that_are_nearly_the_same_are_pointed_out():
    U = np.zeros((40, 3), dtype=bool)
    U[:20, 0] = U[1:20, 1] = U[20:, 2] = True
    page = pages.read(render_report((U, [[1], [1]]), matrix=np.ones((40, 2))))
    assert "Groups 1 and 2 have nearly the same members" in page.by_id("groups-rows").text
    (related,) = [tag for tag in page.all("table") if "related" in tag.attributes["class"]]
    # 19 in both, 20 in either
    assert "Groups 1 and 21920" + "0.950" + "100% nearly the same" in related.text
    U[2:5, 1] = False
    page = pages.read(render_report((U, [[1], [1]]), matrix=np.ones((40, 2))))
    assert "nearly the same" not in page.by_id("groups-rows").text
    (related,) = [tag for tag in page.all("table") if "related" in tag.attributes["class"]]
    assert "Groups 1 and 21620" + "0.800" + "100% group 1 has all of group 2" in related.text


def test_settings_and_record_are_shown(women):
    model, options = women
    record = make_record({"rows": 2}, seed=7)
    page = pages.read(
        render_report(model, **options, title="Deep South", settings={"rows": 2}, record=record)
    )
    text = page.by_id("settings").text
    assert "rows2" in text
    assert "n_init" not in text
    assert f"seed7time{record.created}" in text or f"time{record.created}seed7" in text
    assert record.versions["numpy"] in text
    assert page.all("title")[0].text == "Deep South"


def test_given_memberships_and_generators_are_named_not_printed(women):
    model, options = women
    again = NEOCC(
        **{**model.get_params(), "random_state": np.random.RandomState(0)},
    )
    again.set_params(init=(model.row_membership_, model.column_membership_), refine=False)
    again.fit(options["matrix"])
    text = pages.read(render_report(again, **options)).by_id("settings").text
    assert "initgiven: ndarray, given: ndarray" in text
    assert "random_stategiven: RandomState" in text


def test_estimated_fractions_are_shown(women):
    _, options = women
    model = NEOCC(2, 2, row_overlap="auto", row_outliers="auto", n_init=1, random_state=0)
    model.fit(options["matrix"])
    text = pages.read(render_report(model, **options)).by_id("settings").text
    assert f"row_overlap, estimated{model.row_estimate_.overlap:.10g}" in text


# ------------------------------------------------------------------------------------ one file


def test_the_page_needs_nothing_and_allows_nothing_else(women):
    model, options = women
    html = render_report(model, **options)
    page = pages.read(html)
    for tag in page.tags:
        assert "src" not in tag.attributes
        assert "style" not in tag.attributes
        assert not any(name.startswith("on") for name in tag.attributes)
        assert re.match(r"#|data:,$", tag.attributes.get("href", "#"))
    # Digests and packed numbers are any letters, two slashes in a row among them.
    bare = re.sub(r"sha256-[\w+/=]+|\"[\w+/]+=*\"", "", html.replace("http-equiv", ""))
    assert not re.search(r"https?:|//[a-z]|@import|url\(h", bare)
    (policy,) = [tag for tag in page.all("meta") if "http-equiv" in tag.attributes]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.attributes["content"].split(";"))
    assert rules["default-src"] == "'none'"
    scripts = [tag for tag in page.all("script") if tag.attributes["type"] != "application/json"]
    for rule, tags in (("script-src", scripts), ("style-src", page.all("style"))):
        (tag,) = tags
        digest = base64.b64encode(hashlib.sha256(tag.text.encode()).digest()).decode()
        assert rules[rule] == f"'sha256-{digest}'"
    keys = [tag.attributes["id"] for tag in page.tags if "id" in tag.attributes]
    assert len(keys) == len(set(keys))


def test_hostile_names_are_text(women):
    model, options = women
    rows = [HOSTILE[at % len(HOSTILE)] + f" {at}" for at in range(18)]
    columns = [f"{at} " + HOSTILE[at % len(HOSTILE)] for at in range(14)]
    plain = pages.read(render_report(model, **options, title="t", settings={"a": "x", "b": "y"}))
    html = render_report(
        model,
        **{**options, "row_names": rows, "column_names": columns},
        title=HOSTILE[1],
        settings={HOSTILE[0]: HOSTILE[1], "b": HOSTILE[3]},
    )
    hostile = pages.read(html)
    kinds = [[(tag.name, set(tag.attributes)) for tag in page.tags] for page in (plain, hostile)]
    assert kinds[0] == kinds[1]
    assert hostile.all("title")[0].text == HOSTILE[1]
    names = hostile.data["rows"]["names"]
    assert "<script>alert(1)</script> 0" in names
    assert "<" not in hostile.by_id("data").text
    assert ">" not in hostile.by_id("data").text
    for forbidden in ("\x00", "\x1b", "\u2028", "\u2029", "\u202e", "\ud800"):
        assert forbidden not in html
    html.encode("utf-8")
    shown = " ".join(tag.text for tag in hostile.all("bdi"))
    assert "<img src=x onerror=alert(1)> 2" in shown


def test_hostile_nouns_are_text(women):
    model, options = women
    html = render_report(model, **{**options, "row_noun": HOSTILE[1], "column_noun": HOSTILE[3]})
    page = pages.read(html)
    assert len(page.all("script")) == 2
    assert page.data["columns"]["noun"] == HOSTILE[3]
    assert HOSTILE[1] in page.all("h1")[0].text


@dataclass
class Found:
    """A model with more and larger groups than anybody needs."""

    row_membership_: np.ndarray
    column_membership_: np.ndarray


@pytest.mark.parametrize("name", ["<'" * 100, "👩‍👩‍👧" * 40])
def test_no_matrix_makes_a_page_too_large(name):
    rng = np.random.default_rng(0)
    n, m, k, l = 4_500, 2_000, 100, 100  # noqa: E741
    U = np.arange(n)[:, None] % k == np.arange(k)
    V = np.arange(m)[:, None] % l == np.arange(l)
    U[rng.integers(0, n, 300), rng.integers(0, k, 300)] = True
    U[:500] = False
    V[:500] = False
    X = sparse.random_array((n, m), density=1e-4, random_state=rng, format="csr")
    page = render_report(
        Found(U, V),
        matrix=X,
        row_names=[f"{at} {name}" for at in range(n)],
        column_names=[f"{at} {name}" for at in range(m)],
        row_noun=name,
        column_noun=name,
        title=name,
        settings={f"{at} {name}": name for at in range(500)},
        labels=[f"{at % 200} {name}" for at in range(n)],
        labels_of_columns=[f"{at % 200} {name}" for at in range(m)],
    )
    assert len(page.encode()) <= 3_000_000
    data = pages.read(page).data
    assert 0 < len(data["rows"]["names"]) < n
    assert "smallest groups are left out" in page


def test_long_names_are_shown_short_and_whole_at_the_pointer(women):
    model, options = women
    names = [f"{at} {'<&' * 100} {at}" for at in range(18)]
    page = pages.read(render_report(model, **{**options, "row_names": names}))
    shown = [tag for tag in page.all("bdi") if "…" in tag.text]
    assert shown
    assert all(len(tag.text) == 60 for tag in shown)
    assert {tag.attributes["title"] for tag in shown} <= set(names)
    assert sorted(page.data["rows"]["names"]) == sorted(names)


def test_groups_of_the_other_side_are_called_groups(women):
    model, options = women
    words = " ".join(tag.text for tag in pages.read(render_report(model, **options)).all("p"))
    assert re.search(r"(Higher|Lower) in group \d of events: ", words)


# --------------------------------------------------------------------------------------- limits


@pytest.mark.parametrize(
    ("rows", "columns", "X"),
    [
        ([[1]], [[1]], [[3.0]]),
        ([[1], [1]], [[1]], [[0.0], [0.0]]),
        ([[0, 1], [0, 1]], [[0, 1], [0, 0]], [[1.0, 2.0], [3.0, 4.0]]),
        ([[0], [0]], [[0], [0]], [[1.0, 2.0], [3.0, 4.0]]),
        (np.zeros((2, 0)), np.zeros((2, 0)), [[1.0, 2.0], [3.0, 4.0]]),
        ([[1, 1], [1, 1]], None, [[1e130, -1e130], [1e-300, 0.0]]),
    ],
)
def test_degenerate_results_still_make_a_page(rows, columns, X):
    page = pages.read(render_report((rows, columns), matrix=X))
    assert page.all("h1")[0].text
    assert json.dumps(page.data, allow_nan=False)


def test_what_does_not_fit_is_refused(women):
    model, options = women
    with pytest.raises(ValueError, match="X has 17 rows, but the memberships are of 18"):
        render_report(model, matrix=options["matrix"][1:])
    with pytest.raises(ValueError, match="2 names for 18 rows"):
        render_report(model, matrix=options["matrix"], row_names=["a", "b"])
    with pytest.raises(ValueError, match="fit it first"):
        render_report(NEOCC(), matrix=options["matrix"])
    with pytest.raises(ValueError, match="groups of rows; this model has none"):
        render_report((None, [[1]]), matrix=[[1.0]])


def test_the_file_appears_whole_and_replaces_nothing_unasked(women, tmp_path):
    model, options = women
    path = tmp_path / "new" / "report.html"
    write_report(model, path, **options)
    page = path.read_bytes()
    assert page.decode() == render_report(model, **options)
    with pytest.raises(WouldOverwriteError):
        write_report(model, path, **options)
    write_report(model, path, **options, title="again", force=True)
    assert path.read_bytes() != page
    assert [each.name for each in path.parent.iterdir()] == ["report.html"]


def test_the_same_fit_makes_the_same_page(women):
    model, options = women
    assert render_report(model, **options) == render_report(model, **options)


def test_matplotlib_is_not_needed():
    code = (
        "import sys; sys.modules['matplotlib'] = None; import neocc.report\n"
        "assert 'sklearn' not in sys.modules\n"
        "page = neocc.report.render_report(([[1], [1]], [[1]]), matrix=[[1.0], [2.0]])\n"
        "assert '1 group of rows' in page"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_histories_that_are_no_curve_are_left_out():
    for history in (
        {"n_clusters": [1, 2]},
        np.zeros(3, dtype=[("objective", float), ("infeasibility", float)]),
        [],
        None,
    ):
        found = Found(np.ones((2, 1), dtype=bool), np.ones((2, 1), dtype=bool))
        found.history_ = history
        assert 'id="convergence"' not in render_report(found, matrix=np.eye(2))
