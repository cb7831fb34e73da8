"""The report in a browser: it opens, and does what it says."""

from __future__ import annotations

import base64
from itertools import pairwise

import numpy as np
import pytest
from browsing import Browser

from neocc import NEOCC
from neocc.report import write_report

ALERT = "<script>alert(1)</script>"
HOSTILE = (
    ALERT,
    "</script><script>window.hurt = 1</script>",
    "<img src=x onerror=window.hurt=1>",
    '" onmouseover="window.hurt=1" x="',
    "<svg/onload=window.hurt=1>",
)
DARK, LIGHT = 100, 235


def places(browser, side):
    """Return the place of each name of a side."""
    found = browser.data[side]
    return dict(zip(found["names"], found["at"], strict=True))


def groups(members, item):
    """Say in which groups an item is, as the page does."""
    numbers = [str(cluster + 1) for cluster in np.flatnonzero(members[item])]
    if not numbers:
        return "in no group"
    return f"in group{'s' if len(numbers) > 1 else ''} {' and '.join(numbers)}"


# -------------------------------------------------------------------------------------- opening


def test_opens_without_errors_and_without_the_network(browser):
    assert browser.text("h1").startswith("2 groups of women, 3 of events")
    assert browser.script("return performance.getEntriesByType('resource').length") == 0
    assert browser.one("#picture").size["height"] > 300
    assert browser.complaints() == []


def test_the_picture_shows_the_matrix(browser, women):
    rows, columns = places(browser, "rows"), places(browser, "columns")
    pairs = [(woman, event) for woman in rows for event in columns]
    lightness = browser.colours([(rows[w], columns[e]) for w, e in pairs]).mean(axis=1)
    attended = [
        women.data[women.row_names.index(woman), women.column_names.index(event)]
        for woman, event in pairs
    ]
    assert lightness[np.equal(attended, 1)].max() < DARK
    assert lightness[np.equal(attended, 0)].min() > LIGHT


def test_the_page_fits_narrow_windows(browser):
    browser.driver.set_window_size(500, 900)
    try:
        browser.settle()
        width = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert browser.script(f"return {width}") <= 0
        assert browser.one("#picture").size["width"] > 300
    finally:
        browser.driver.set_window_size(1280, 1000)


def test_bars_of_many_groups_fit_a_telephone_beside_long_names(driver, folder):
    path, n = folder / "telephone.html", 22
    names = [f"a name that is rather long {at}" for at in range(n)]
    write_report((np.eye(n, dtype=bool), None), path, matrix=np.ones((n, 4)), row_names=names)
    browser = Browser(driver)
    size = {"width": 375, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        browser.open(path)
        left, _, width, _ = browser.frame()
        room = browser.one("#picture").size["width"]
        assert width >= 80
        assert left + width + 5 * n <= room  # bars are this wide, or a little more
    finally:
        driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_without_scripts_the_answer_is_still_there(browser):
    browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.driver.refresh()
        assert browser.one("h1").text.startswith("2 groups of women")
        assert "scripts are turned off" in browser.one("#matrix").text
        assert not browser.one(".explorer").is_displayed()
        assert browser.one("#rows-1 .typical").is_displayed()
    finally:
        browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


# ------------------------------------------------------------------------------------- pointing


def test_hovering_names_the_cell(browser, women):
    rows, columns = places(browser, "rows"), places(browser, "columns")
    model = women.model
    for woman, event in (
        ("Evelyn Jefferson", "E1"),
        ("Flora Price", "E3"),
        ("Ruth DeSand", "E8"),
        ("Nora Fayette", "E7"),
    ):
        row, column = women.row_names.index(woman), women.column_names.index(event)
        browser.point(*browser.place(rows[woman], columns[event]))
        assert browser.text("#tooltip").splitlines() == [
            woman,
            groups(model.row_membership_, row),
            event,
            groups(model.column_membership_, column),
            f"value {women.data[row, column]:g}",
        ]
    browser.point(2, 2)
    assert not browser.one("#tooltip").is_displayed()


def test_hovering_over_a_missing_cell_says_that_it_is(driver, folder):
    X = np.array([[5, 4, np.nan], [4, 5, 1], [np.nan, 1, 0], [1, 0, 5]])
    model = NEOCC(2, 2, missing="ignore", n_init=1, random_state=0).fit(X)
    path = folder / "missing.html"
    write_report(model, path, matrix=X, force=True)
    browser = Browser(driver)
    browser.open(path)
    rows, columns = places(browser, "rows"), places(browser, "columns")
    for row, column in ((0, 2), (2, 0), (2, 2), (0, 0)):
        browser.point(*browser.place(rows[f"row {row + 1}"], columns[f"column {column + 1}"]))
        value = X[row, column]
        expected = "not observed" if np.isnan(value) else f"value {value:g}"
        assert browser.text("#tooltip").splitlines()[-1] == expected
    assert browser.complaints() == []


def test_hovering_over_the_gap_says_nothing(browser):
    rows = browser.data["rows"]
    gap = rows["outliers"][0] - 1
    assert gap not in rows["at"]
    browser.point(*browser.place(gap, 0))
    assert not browser.one("#tooltip").is_displayed()


# -------------------------------------------------------------------------------------- zooming


def test_the_wheel_zooms_where_the_pointer_is(browser):
    whole = browser.seen("rows")
    x, y = browser.place(3, 2)
    browser.wheel(x, y, -100)
    rows, columns = browser.seen("rows"), browser.seen("columns")
    assert rows[1] - rows[0] == pytest.approx((whole[1] - whole[0]) / 1.5)
    # What was under the pointer still is.
    assert browser.place(3, 2) == pytest.approx((x, y), abs=1.5)
    browser.wheel(x, y, -10_000)
    assert browser.seen("rows")[1] - browser.seen("rows")[0] < rows[1] - rows[0]
    for _ in range(3):
        browser.wheel(x, y, 100)
    assert browser.seen("rows") == pytest.approx(whole)
    assert browser.seen("columns")[1] >= columns[1]


def test_beside_the_matrix_the_wheel_zooms_one_side(browser):
    x, y = browser.place(3, 2)
    columns = browser.seen("columns")
    browser.wheel(20, y, -100)
    assert browser.seen("columns") == columns
    assert browser.seen("rows")[1] < browser.data["rows"]["places"]
    assert x > 20


def test_a_wheel_that_cannot_zoom_out_scrolls_the_page(browser):
    x, y = browser.place(3, 2)
    whole = browser.seen("rows")
    before = browser.script("return scrollY")
    browser.wheel(x, y, 200)
    browser.driver.execute_async_script("setTimeout(arguments[0], 200)")
    assert browser.script("return scrollY") > before
    assert browser.seen("rows") == whole


def test_buttons_zoom(browser):
    whole = browser.seen("rows")
    browser.one("#zoom-in").click()
    closer = browser.seen("rows")
    assert closer[1] - closer[0] < whole[1] - whole[0]
    browser.one("#zoom-in").click()
    browser.one("#zoom-out").click()
    assert browser.seen("rows") == pytest.approx(closer)
    browser.one("#zoom-all").click()
    assert browser.seen("rows") == whole


def test_dragging_moves_what_is_seen(browser):
    browser.one("#zoom-in").click()
    before = browser.seen("rows"), browser.seen("columns")
    x, y = browser.place(10, 6)
    browser.drag(x, y, (-60, -50))
    after = browser.seen("rows"), browser.seen("columns")
    assert after[0][0] > before[0][0]
    assert after[1][0] > before[1][0]
    assert browser.place(10, 6) == pytest.approx((x - 60, y - 50), abs=2)
    browser.drag(x, y, (300, 200))
    assert browser.seen("rows")[0] == browser.seen("columns")[0] == 0


# ------------------------------------------------------------------------------------- choosing


def inside_and_outside(browser, women, side, cluster):
    """Return the lightness of cells that were attended, inside and outside a chosen group."""
    rows, columns = places(browser, "rows"), places(browser, "columns")
    members = getattr(women.model, f"{side}_membership_")[:, cluster]
    cells = np.argwhere(women.data)
    at = [(rows[women.row_names[r]], columns[women.column_names[c]]) for r, c in cells]
    lightness = browser.colours(at).mean(axis=1)
    is_inside = members[cells[:, 0 if side == "row" else 1]]
    return lightness[is_inside], lightness[~is_inside]


def test_a_chosen_group_stands_out(browser, women):
    browser.one("#choose-rows button:nth-of-type(2)").click()
    inside, outside = inside_and_outside(browser, women, "row", 1)
    assert max(inside) < DARK < min(outside)
    assert browser.one("#choose-rows button:nth-of-type(2)").get_attribute("aria-pressed") == "true"
    assert "group 2 of women (10)" in browser.text("#status")
    assert "chosen" in browser.one("#rows-2").get_attribute("class")
    browser.one("#clear").click()
    inside, outside = inside_and_outside(browser, women, "row", 1)
    assert max(inside.max(), outside.max()) < DARK
    assert not browser.one("#clear").is_enabled()


def test_several_groups_are_shown_together(browser, women):
    for number in (1, 2):
        browser.one(f"#choose-rows button:nth-of-type({number})").click()
    everyone = women.model.row_membership_.any(axis=1)
    rows, columns = places(browser, "rows"), places(browser, "columns")
    first = [women.column_names[column] for column in women.data.argmax(axis=1)]
    at = [(rows[w], columns[e]) for w, e in zip(women.row_names, first, strict=True)]
    assert ((browser.colours(at).mean(axis=1) < DARK) == everyone).all()


def test_bars_and_cards_choose_too(browser, women):
    left, top, width, _ = browser.frame()
    order = [group["number"] for group in browser.data["columns"]["groups"]]
    _, y = browser.place(0, 0)
    browser.click(left + width + 12, y)
    first = browser.data["rows"]["groups"][0]["number"]
    assert f"group {first} of women" in browser.text("#status")
    browser.click(left + 5, top - 12)
    assert f"group {order[-1]} of events" in browser.text("#status")
    browser.one("#clear").click()
    browser.show("#columns-3 .show").click()
    browser.settle()
    inside, outside = inside_and_outside(browser, women, "column", 2)
    assert max(inside) < DARK < min(outside)
    assert (
        browser.script("return document.getElementById('matrix').getBoundingClientRect().top") < 50
    )


# -------------------------------------------------------------------------------------- finding


def test_searching_shows_groups_and_moves_there(browser, women):
    browser.one("#zoom-in").click()
    browser.find("ruth")
    found = browser.all("#results button")
    assert [button.text.splitlines() for button in found] == [
        ["Ruth DeSand", "women, in groups 1 and 2"]
    ]
    found[0].click()
    assert browser.text("#status") == "Ruth DeSand: in groups 1 and 2."
    start, stop = browser.seen("rows")
    place = places(browser, "rows")["Ruth DeSand"]
    assert start <= place < stop
    ((red, green, blue),) = browser.colours([(place - 0.5, 3)])
    assert red > 150 > green > blue  # the line around the row


def test_search_orders_and_limits_what_it_finds(browser):
    browser.find("E1")
    names = [button.text.splitlines()[0] for button in browser.all("#results button")]
    assert names[0] == "E1"
    assert len(names) == 6
    browser.find("nobody")
    assert not browser.all("#results button")
    assert browser.text("#status") == "Nothing of that name."
    browser.find("e7")
    browser.press(browser.keys.ENTER)
    assert browser.text("#status") == "E7: in no group."


# --------------------------------------------------------------------------------- hostile names


def test_hostile_names_do_nothing(driver, browser, folder, women):
    rows = [f"{HOSTILE[at % len(HOSTILE)]}{at}" for at in range(18)]
    columns = [f"{HOSTILE[at % len(HOSTILE)]}{at}" for at in range(14)]
    columns[0] = rows[0] = ALERT
    path = folder / "hostile.html"
    write_report(
        women.model,
        path,
        matrix=women.data,
        row_names=rows,
        column_names=columns,
        row_noun=ALERT,
        title=HOSTILE[1],
        force=True,
    )
    browser.open(path)
    browser.point(*browser.place(*(places(browser, side)[ALERT] for side in ("rows", "columns"))))
    assert browser.text("#tooltip").splitlines()[0] == ALERT
    browser.find(ALERT)
    assert browser.all("#results button")[0].text.splitlines()[0] == ALERT
    browser.press(browser.keys.ENTER)
    assert browser.text("#status").startswith(ALERT)
    browser.one("#choose-rows button").click()
    assert ALERT in browser.text("h1")
    assert ALERT in browser.script("return document.querySelector('main').innerText")
    assert browser.script("return window.hurt === undefined")
    assert browser.script("return document.querySelectorAll('img, script').length") == 2
    assert driver.title == HOSTILE[1]


def test_the_page_forbids_itself_other_scripts(browser):
    browser.script(
        "const script = document.createElement('script'); script.textContent = 'window.hurt = 1';"
        "document.body.append(script);"
        "document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.hurt=1\">');"
    )
    browser.driver.execute_async_script("setTimeout(arguments[0], 100)")
    assert browser.script("return window.hurt === undefined")
    refused = browser.complaints()
    assert refused
    assert all("Content Security Policy" in message for message in refused)


# ------------------------------------------------------------------------------------- keyboard


def test_everything_can_be_reached_by_tab_and_seen_to_be(browser):
    reached = []
    for _ in range(40):
        browser.press(browser.keys.TAB)
        reached.append(browser.focused("it.id || it.getAttribute('href') || it.textContent.trim()"))
        outline = "getComputedStyle(it).outlineStyle + getComputedStyle(it).outlineWidth"
        assert browser.focused(outline) == "solid3px"
        if reached[-1] == "Show in the matrix":
            break
    wanted = [
        "#main",
        "#matrix",
        "#settings",
        "zoom-in",
        "zoom-out",
        "zoom-all",
        "picture",
        "search",
    ]
    assert [reached.index(name) for name in wanted] == sorted(map(reached.index, wanted))
    assert "1 (9)" in reached
    assert "Show in the matrix" in reached


def test_arrow_keys_read_cell_by_cell(browser, women):
    canvas = browser.one("#picture")
    browser.script("arguments[0].focus()", canvas)
    keys = browser.keys
    names = {
        side: {at: name for name, at in places(browser, side).items()}
        for side in ("rows", "columns")
    }
    browser.press(keys.ARROW_DOWN)
    assert browser.text("#status").startswith(names["rows"][0])
    browser.press(keys.ARROW_DOWN, keys.ARROW_RIGHT, keys.ARROW_RIGHT)
    row, column = names["rows"][1], names["columns"][2]
    value = women.data[women.row_names.index(row), women.column_names.index(column)]
    text = browser.text("#status")
    assert text.startswith(f"{row} in group")
    assert f"; {column} in group" in text
    assert text.endswith(f"; value {value:g}")
    assert browser.one("#tooltip").is_displayed()
    # Over the gap, to the outliers, and no farther.
    browser.press(*[keys.ARROW_DOWN] * 30)
    assert browser.text("#status").startswith("Nora Fayette in no group")
    browser.press(keys.ARROW_UP)
    assert not browser.text("#status").startswith("Nora Fayette")


def test_keys_zoom_and_clear(browser):
    browser.script("arguments[0].focus()", browser.one("#picture"))
    whole = browser.seen("rows")
    browser.press("+")
    assert browser.seen("rows")[1] - browser.seen("rows")[0] == pytest.approx(whole[1] / 1.5)
    browser.press("-")
    assert browser.seen("rows") == pytest.approx(whole)
    browser.press("+", "+", "0")
    assert browser.seen("rows") == whole
    chip = browser.one("#choose-columns button")
    browser.script("arguments[0].focus()", chip)
    browser.press(browser.keys.SPACE)
    assert chip.get_attribute("aria-pressed") == "true"
    browser.script("arguments[0].focus()", browser.one("#picture"))
    browser.press(browser.keys.ESCAPE)
    assert chip.get_attribute("aria-pressed") == "false"


def test_everything_has_a_name_that_can_be_read_aloud(browser):
    nameless = browser.script(
        "return [...document.querySelectorAll('button, input, canvas, a, svg[role=img]')].filter("
        "it => !(it.ariaLabel || it.textContent.trim() || it.labels?.length)).length"
    )
    assert nameless == 0
    levels = browser.script(
        "return [...document.querySelectorAll('h1, h2, h3, h4')].map(it => Number(it.tagName[1]))"
    )
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


# ----------------------------------------------------------------------------------- in print


def test_print_leaves_out_what_only_works_on_a_screen(browser):
    command = browser.driver.execute_cdp_cmd
    command("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        browser.settle()
        for selector in ("nav", ".tools", ".panel", ".action", "#status"):
            assert not browser.one(selector).is_displayed()
        for selector in ("h1", "#picture", ".legend", "#blocks table", "#rows-1", "#settings"):
            assert browser.one(selector).is_displayed()
        style = "return getComputedStyle(document.querySelector('{}')).{}"
        for selector in ("#groups-rows h2", "#groups-rows .note"):  # not left alone on a page
            assert browser.script(style.format(selector, "breakAfter")) == "avoid"
            assert browser.script(style.format(selector, "breakInside")) == "avoid"
    finally:
        command("Emulation.setEmulatedMedia", {"media": ""})
    pdf = base64.b64decode(command("Page.printToPDF", {})["data"])
    assert pdf.startswith(b"%PDF")
    assert pdf.count(b"/Type /Page\n") + pdf.count(b"/Type /Page ") > 1


# ---------------------------------------------------------------------------------------- large


def test_large_matrices_are_explored_by_bins(large):
    rows = large.data["rows"]
    assert rows["bins"] < rows["places"] == 90_000
    large.point(*large.place(1_000, 3))
    title, where, _, _, value = large.text("#tooltip").splitlines()
    assert title.startswith("36 of the rows, customer number ")
    assert (where, value) == ("in group 1", "mean 4")
    large.point(*large.place(29_000, 30))
    _, where, _, _, value = large.text("#tooltip").splitlines()
    assert (where, value) == ("in groups 1 and 2", "mean 2")
    large.script("for (let i = 0; i < 30; i++) document.getElementById('zoom-in').click()")
    start, stop = large.seen("rows")
    assert stop - start == pytest.approx(4 * 90_000 / rows["bins"])


def test_names_that_were_left_out_are_owned_up_to(large):
    rows = large.data["rows"]
    assert len(rows["names"]) < 90_000
    large.find("customer number 1 and no other")
    kept = f"{len(rows['names']):,} of 90,000 rows"
    assert large.text("#status") == (
        f"Nothing of that name. This page has the names of {kept} only."
    )
    name, place = rows["names"][100], rows["at"][100]
    large.find(name)
    large.press(large.keys.ENTER)
    assert large.text("#status").startswith(f"{name}: in group")
    start, stop = large.seen("rows")
    assert start <= place < stop


# ------------------------------------------------------------------------------- many, and long


def test_rows_of_groups_that_are_not_listed_are_not_in_none(driver, folder):
    """Of 70 groups 60 are listed: the others are left out, and their rows still have a group."""
    sizes = np.r_[np.full(60, 100), np.full(10, 50)]
    members = np.repeat(np.eye(70, dtype=bool), sizes, axis=0)
    members = np.vstack([members, np.zeros((100, 70), dtype=bool)])
    path = folder / "many.html"
    X = np.repeat(np.arange(len(members), dtype=float)[:, None], 3, axis=1)
    write_report((members, None), path, matrix=X, force=True)
    browser = Browser(driver)
    browser.open(path)
    rows = browser.data["rows"]
    assert (len(rows["groups"]), rows["more"]) == (60, 10)
    listed = {group["number"] for group in rows["groups"]}
    seen = set()
    last = rows["places"] - 1
    for at in np.unique(
        np.r_[np.linspace(0, last, 12), np.linspace(0.9 * last, last, 8)].astype(int)
    ):
        browser.point(*browser.place(int(at), 1))
        if not browser.one("#tooltip").is_displayed():
            continue
        _, where, *_, value = browser.text("#tooltip").splitlines()
        row = float(value.removeprefix("mean ").replace(",", ""))
        groups_there = np.flatnonzero(members[int(row)]) + 1
        kind = "none" if not len(groups_there) else "listed" if groups_there[0] in listed else "not"
        seen.add(kind)
        assert ("in no group" in where) == (kind == "none"), (row, where)
        assert where.startswith("in group") or kind != "listed", (row, where)
        assert ("not listed" in where) or kind != "not", (row, where)
        assert ("not listed" not in where) or kind == "not" or "%" in where, (row, where)
    assert seen == {"none", "listed", "not"}
    assert browser.complaints() == []


def test_long_names_can_be_told_apart(driver, folder, women):
    dose = f"treatment with compound {'A' * 40} dose {{}} mg, incubated for two days {'B' * 40}"
    names = [dose.format(at) for at in range(18)]
    path = folder / "long.html"
    write_report(women.model, path, matrix=women.data, row_names=names, force=True)
    browser = Browser(driver)
    browser.open(path)
    assert sorted(browser.data["rows"]["names"]) == sorted(names)
    browser.find("dose 7 mg")
    (found,) = browser.all("#results button")
    shown = found.text.splitlines()[0]
    assert len(shown) == 60
    assert shown.startswith("treatment")
    assert shown.endswith("B")
    assert found.get_attribute("title") == names[7]
    found.click()
    assert browser.text("#status").startswith(f"{names[7]}: in group")
    browser.point(*browser.place(places(browser, "rows")[names[7]], 0))
    assert browser.text("#tooltip").splitlines()[0] == names[7]
    typical = browser.one("#rows-1 .typical bdi")
    assert typical.get_attribute("title") in names
    assert browser.complaints() == []


def test_more_than_a_few_groups_are_framed(driver, folder):
    members = np.repeat(np.eye(15, dtype=bool), 4, axis=0)
    path = folder / "framed.html"
    write_report((members, None), path, matrix=np.zeros((60, 4)), force=True)
    browser = Browser(driver)
    browser.open(path)
    start = browser.data["rows"]["groups"][7]["frame"][0]
    colours = browser.colours([(start - 0.5, 1), (start + 1.5, 1)])
    assert (colours[0] != colours[1]).any()


def test_groups_that_are_nearly_the_same_are_listed(driver, folder):
    members = np.zeros((40, 3), dtype=bool)
    members[:20, 0] = members[1:20, 1] = members[20:, 2] = True
    path = folder / "alike.html"
    write_report((members, None), path, matrix=np.zeros((40, 4)), force=True)
    browser = Browser(driver)
    browser.open(path)
    assert browser.one("#overlaps .related").is_displayed()
    assert browser.text("#overlaps .related tbody").split() == [
        *("Groups", "1", "and", "2"),
        *("19", "20", "0.950", "100%", "nearly", "the", "same"),
    ]
    width = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert browser.script(f"return {width}") <= 0
    assert browser.complaints() == []
