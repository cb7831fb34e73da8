"""Lists of members in a browser: shown, copied and downloaded; and labels beside them."""

from __future__ import annotations

import csv
import time

import numpy as np
import pytest
from browsing import Browser

from neocc.io import Matrix
from neocc.report import write_report

# What CSV and spreadsheets trip over; -1.5 is a number, and no formula.
HARD = [
    '=HYPERLINK("x","y")',
    "+1 call",
    "-x",
    "@sum",
    'a "b", c',
    "-1.5",
    " blank ",
    "عربي 中文",
    "ann",
    "bea",
]
SAFE = ['\'=HYPERLINK("x","y")', "'+1 call", "'-x", "'@sum", *HARD[4:]]


@pytest.fixture
def hard(driver, folder):
    """A page of names that are hard to write, with ids and labels."""
    path = folder / "hard.html"
    n = len(HARD)
    U = np.ones((n, 2), dtype=bool)
    U[4:, 1] = False
    matrix = Matrix(np.eye(n), row_names=tuple(f"id{at}" for at in range(n)))
    labels = ["first"] * 4 + ["second"] * (n - 4)
    given = {"row_names": HARD, "labels": labels, "row_noun": "odd names"}
    write_report((U, None), path, matrix=matrix, force=True, **given)
    browser = Browser(driver)
    browser.open(path)
    yield browser
    assert browser.complaints() == []


def downloaded(browser, folder, selector):
    """Click, and return the name and the bytes of the file that arrives."""
    browser.driver.execute_cdp_cmd(
        "Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(folder)}
    )
    browser.show(selector).click()
    for _ in range(100):
        found = list(folder.glob("*.csv"))
        if found:
            return found[0].name, found[0].read_bytes()
        time.sleep(0.05)
    raise AssertionError("nothing was downloaded")


def test_the_list_opens_with_all_members_the_nearest_first(browser, women):
    members = women.model.row_membership_[:, 1]
    d = women.model.transform(women.data)[:, 1]
    browser.show("#rows-2 summary").click()
    browser.settle()
    names = [item.text for item in browser.all("#rows-2 .members bdi")]
    assert sorted(names) == sorted(np.array(women.row_names)[members])
    lengths = [d[women.row_names.index(name)] for name in names]
    assert np.all(np.diff(lengths) >= -1e-4 * max(lengths))
    assert browser.one("#rows-2 .members .number").text == f"{lengths[0]:.3g}"


def test_names_are_copied_as_they_are(hard):
    hard.show("#rows-2 summary").click()
    hard.one("#rows-2 .copy").click()
    hard.driver.execute_async_script("setTimeout(arguments[0], 100)")
    assert hard.text("#rows-2 .said") == "4 copied"
    hard.script("document.body.append(document.createElement('textarea'))")
    area = hard.one("textarea")
    area.send_keys(hard.keys.CONTROL, "v")
    assert area.get_attribute("value").splitlines() == HARD[:4]


def test_the_download_is_csv_that_no_spreadsheet_computes(hard, tmp_path):
    hard.show("#rows-1 summary").click()
    name, content = downloaded(hard, tmp_path, "#rows-1 .download")
    assert name == "group-1-of-odd-names.csv"
    assert content.startswith(b"\xef\xbb\xbfid,name,groups\r\n")
    header, *lines = csv.reader(content.decode("utf-8-sig").splitlines())
    assert header == ["id", "name", "groups"]
    groups = ["1 2"] * 4 + ["1"] * (len(HARD) - 4)
    wanted = zip([f"id{at}" for at in range(len(HARD))], SAFE, groups, strict=True)
    assert sorted(lines) == sorted(map(list, wanted))


def test_large_lists_say_what_they_lack(large):
    large.show("#rows-1 summary").click()
    large.settle()
    assert len(large.all("#rows-1 .members li")) == 1000
    said = large.text("#rows-1 .members .more")
    assert "This page has the names of" in said
    assert "the first 1,000; copies and downloads have all" in said


def test_without_the_matrix_there_are_lists_too(driver, folder):
    path = folder / "bare.html"
    write_report(
        ([[1, 0], [1, 1], [0, 1]], [[1], [1]]), path, row_names=["a", "b", "c"], force=True
    )
    browser = Browser(driver)
    browser.open(path)
    browser.show("#rows-2 summary").click()
    browser.settle()
    assert [item.text for item in browser.all("#rows-2 .members bdi")] == ["b", "c"]
    assert browser.complaints() == []


def test_labels_are_marked_and_fit_narrow_windows(hard):
    (cell,) = hard.all("#labels td.enriched")
    assert cell.text == "4"
    assert "by chance 1.60" in cell.get_attribute("title")
    hard.driver.set_window_size(500, 900)
    try:
        hard.settle()
        width = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert hard.script(f"return {width}") <= 0
    finally:
        hard.driver.set_window_size(1280, 1000)


def test_groups_of_the_same_colour_differ_by_patterns(driver, folder):
    path = folder / "patterns.html"
    U = np.arange(100)[:, None] // 4 == np.arange(25)
    write_report((U, None), path, matrix=np.ones((100, 3)), force=True)
    browser = Browser(driver)
    browser.open(path)
    look = (
        "const it = getComputedStyle(arguments[0]); return it.backgroundColor + it.backgroundImage"
    )
    looks = {browser.script(look, chip) for chip in browser.all("#choose-rows .swatch")}
    assert len(looks) == 25
    assert browser.complaints() == []
