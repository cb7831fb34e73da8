"""Labels on the page, against the numbers that they come from; and how groups relate."""

from __future__ import annotations

import numpy as np
import pages
import pytest

from neocc.io import Matrix
from neocc.metrics import enrichment
from neocc.plot._style import PALETTE
from neocc.report import render_report
from neocc.report._pieces import look

HOSTILE = "</script><script>alert(1)</script>"


def planted():
    """Three groups of ten, three labels that follow them, one that does not, two without any."""
    U = np.arange(30)[:, None] // 10 == np.arange(3)
    U[9, 1] = True
    U[29] = False
    labels = [[f"kind {at // 10}", *(["even"] if at % 2 == 0 else [])] for at in range(30)]
    labels[4] = labels[28] = None
    return U, labels


def page_of(members, labels, **options):
    X = np.random.default_rng(0).normal(size=(len(members), 4))
    return pages.read(render_report((members, np.ones((4, 1))), matrix=X, labels=labels, **options))


def rows_of(page, class_):
    """Return the texts of the cells of the tables of a class, line by line."""
    found, inside = [], False
    for tag in page.tags:
        if tag.name == "table":
            inside = class_ in tag.attributes["class"].split()
        elif inside and tag.name == "tr":
            found.append([])
        elif inside and tag.name in ("th", "td"):
            found[-1].append(tag)
    return found


def test_the_table_counts_labels_in_groups():
    U, labels = planted()
    page = page_of(U, labels)
    names = ["kind 0", "kind 1", "kind 2", "even"]
    L = np.array([[bool(own) and name in own for name in names] for own in labels])
    tested = enrichment(L, U)
    head, *lines = rows_of(page, "contingency")[:6]
    assert [tag.text.strip() for tag in head] == ["", "1", "2", "3", "no group", "all"]
    for line, label in zip(lines, [0, 1, 2, 3], strict=False):
        none = np.count_nonzero(L[:, label] & ~U.any(axis=1))
        wanted = [names[label], *tested.counts[label], none, tested.label_sizes[label]]
        assert [tag.text for tag in line] == list(map(str, wanted))
        marked = ["enriched" in tag.attributes["class"] for tag in line[1:4]]
        assert marked == (tested.adjusted[label] <= 0.05).tolist()
    assert [tag.text for tag in lines[4]] == ["no label", "1", "0", "1", "0", "2"]
    assert "2 of the 30 rows have no label." in page.by_id("labels").text


def test_only_what_stays_small_when_adjusted_is_marked_and_listed():
    rng = np.random.default_rng(7)
    L, U = rng.random((60, 9)) < 0.3, rng.random((60, 4)) < 0.4
    L[:, 0] |= U[:, 0]
    tested = enrichment(L, U)
    small = tested.adjusted <= 0.05
    assert 0 < np.count_nonzero(small) < np.count_nonzero(tested.p_values <= 0.05)
    page = page_of(U, [[f"label {at}" for at in np.flatnonzero(own)] for own in L])
    lines = {line[0].text: line for line in rows_of(page, "contingency")[1:10]}
    for label in range(9):
        cells = lines[f"label {label}"][1:5]
        assert ["enriched" in tag.attributes["class"] for tag in cells] == small[label].tolist()
        for cluster in range(4):
            card = page.by_id(f"rows-{cluster + 1}").text
            assert (f"label {label}" in card) == small[label, cluster]


def test_a_card_lists_what_is_enriched_and_says_if_nothing_is():
    U, labels = planted()
    card = page_of(U, labels).by_id("rows-1").text
    assert "Labels more often than by chance" in card
    assert "kind 0" in card
    assert "even" not in card
    card = page_of(U, ["a", "b"] * 15).by_id("rows-1").text
    assert "Labels more often than by chanceNone." in card


def test_without_labels_there_is_no_word_of_them():
    U, _ = planted()
    page = page_of(U, None)
    assert not any(tag.attributes.get("id") == "labels" for tag in page.tags)
    assert "by chance" not in page.by_id("main").text


def test_many_labels_are_cut_and_that_is_said():
    U, _ = planted()
    page = page_of(U, [f"label {at // 2} {at % 2}" for at in range(30)], row_noun="genes")
    assert "every label" in page.by_id("labels").text.lower()
    page = page_of(np.vstack([U] * 3), [f"label {at % 45}" for at in range(90)])
    assert "The 30 labels with the smallest p-values of 45." in page.by_id("labels").text


def test_hostile_labels_are_text():
    U, _ = planted()
    html = render_report((U, None), matrix=np.ones((30, 2)), labels=[HOSTILE, "<img>"] * 15)
    assert len(pages.read(html).all("script")) == 2
    assert "<img>" not in html


def test_labels_of_columns_need_groups_of_columns():
    U, _ = planted()
    with pytest.raises(ValueError, match="Labels of columns need groups of columns"):
        render_report((U, None), matrix=np.ones((30, 2)), labels_of_columns=["a", "b"])


def test_given_names_stand_for_those_of_the_matrix_which_labels_go_by():
    U, _ = planted()
    ids = tuple(f"id{at}" for at in range(30))
    matrix = Matrix(np.ones((30, 2)), row_names=ids)
    names = [f"name {at}" for at in range(30)]
    labels = {key: "x" if at < 10 else "y" for at, key in enumerate(ids)}
    page = pages.read(render_report((U, None), matrix=matrix, row_names=names, labels=labels))
    rows = page.data["rows"]
    assert [key.replace("id", "name ") for key in rows["ids"]] == rows["names"]
    assert "ids" not in pages.read(render_report((U, None), matrix=matrix)).data["rows"]
    assert "x" in page.by_id("labels").text


# ------------------------------------------------------------------------------- member lists


def test_every_card_has_all_its_members_with_distances():
    from neocc import NEOKMeans

    X = np.random.default_rng(1).normal(size=(40, 3))
    model = NEOKMeans(3, overlap=0.2, outliers=0.05, n_init=1, random_state=0).fit(X)
    page = pages.read(render_report(model, matrix=X))
    rows, d = page.data["rows"], model.transform(X)
    found, start = pages.unpack(rows["distances"]), 0
    for name, combination in zip(rows["names"], rows["of"], strict=True):
        item = int(name.removeprefix("row ")) - 1
        clusters = [number - 1 for number in rows["combinations"][combination]]
        assert clusters == np.flatnonzero(model.membership_[item]).tolist()
        own = found[start : start + len(clusters)]
        np.testing.assert_allclose(own, d[item, clusters], rtol=2.0**-14)
        start += len(clusters)
    assert start == len(found) == model.membership_.sum()
    assert rows["cut"] is False
    lists = [tag.attributes["data-group"] for tag in page.all("details")]
    assert lists == ["1", "2", "3"]


def test_cut_names_are_told():
    U, _ = planted()
    names = [f"{at} {'x' * 2000}" for at in range(30)]
    assert page_of(U, None, row_names=names).data["rows"]["cut"] is True
    many = np.ones((700, 1), dtype=bool)
    names = [f"{at} {'x' * 900}" for at in range(700)]
    assert page_of(many, None, row_names=names).data["rows"]["cut"] is True
    assert page_of(many, None).data["rows"]["cut"] is False


# --------------------------------------------------------------------------------- how they relate


def test_groups_are_crossed_by_what_they_share():
    rng = np.random.default_rng(0)
    U = rng.random((60, 5)) < 0.3
    page = page_of(U, None)
    head, *lines = rows_of(page, "contingency")
    assert [tag.text.strip() for tag in head] == ["", "1", "2", "3", "4", "5"]
    for one, line in enumerate(lines):
        for other, tag in enumerate(line[1:]):
            both = int((U[:, one] & U[:, other]).sum())
            either = int((U[:, one] | U[:, other]).sum())
            assert tag.text == str(both)
            if one != other:
                assert (
                    f"{both} in both, Jaccard index {both / either:.3f}" in tag.attributes["title"]
                )
    _, *pairs = rows_of(page, "related")
    index = [float(line[3].text) for line in pairs]
    assert len(pairs) == 10
    assert index == sorted(index, reverse=True)


# ------------------------------------------------------------------------------------------ colours


def simulated(colour, kind):
    """Return a colour as the colour-blind see it (Vienot, Brettel and Mollon 1999), in CIELAB."""
    rgb = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    to_lms = np.array(
        [[17.8824, 43.5161, 4.11935], [3.45565, 27.1554, 3.86714], [0.0299566, 0.184309, 1.46709]]
    )
    without = {
        "none": np.eye(3),
        "protan": np.array([[0, 2.02344, -2.52581], [0, 1, 0], [0, 0, 1]]),
        "deutan": np.array([[1, 0, 0], [0.494207, 0, 1.24827], [0, 0, 1]]),
    }[kind]
    seen = np.clip(np.linalg.inv(to_lms) @ without @ to_lms @ linear, 0, 1)
    to_xyz = np.array(
        [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    )
    x, y, z = np.cbrt(np.maximum(to_xyz @ seen / [0.9505, 1.0, 1.089], 1e-6))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("kind", ["none", "protan", "deutan"])
def test_colours_differ_for_all_eyes_and_patterns_for_the_rest(kind):
    seen = [simulated(colour, kind) for colour in PALETTE]
    apart = [np.linalg.norm(a - b) for i, a in enumerate(seen) for b in seen[:i]]
    assert min(apart) > 15  # a difference of 2.3 is just noticed
    assert len({look(cluster) for cluster in range(49)}) == 49


def test_every_look_has_its_style():
    html = render_report((np.eye(49, dtype=bool), None), matrix=np.ones((49, 2)))
    style = pages.read(html).all("style")[0].text
    used = {part for cluster in range(49) for part in look(cluster).split()}
    assert all(f".{part} {{" in style for part in used)
    script = html.split('<script type="module">')[1]
    assert all(f"  {part}: " in script for part in used if part.startswith("p"))
