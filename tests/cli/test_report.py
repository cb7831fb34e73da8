"""``neocc report``: the page of a saved model, made again."""

from __future__ import annotations

import json
import shutil

import pytest


@pytest.fixture
def result(women_result, tmp_path):
    """A copy of a result that may be changed."""
    shutil.copytree(women_result, tmp_path / "result")
    return tmp_path / "result"


def test_the_report_is_the_one_that_fit_wrote(run, result):
    before = (result / "report.html").read_text(encoding="utf-8")
    (result / "report.html").unlink()
    ran = run("report", result)
    assert ran.code == 0, ran.err
    assert "report.html" in ran.words.replace(" ", "")
    assert (result / "report.html").read_text(encoding="utf-8") == before


def test_words_for_rows_and_columns(run, result):
    ran = run("report", result, "--row-noun", "women", "--quiet")
    assert (ran.code, ran.out) == (0, "")
    page = (result / "report.html").read_text(encoding="utf-8")
    assert "2 groups of women, 3 of columns" in page


def test_another_file_is_replaced_only_if_asked(run, result, tmp_path):
    (tmp_path / "page.html").write_text("mine")
    ran = run("report", result, "-o", "page.html")
    assert ran.code == 2
    assert "--force" in ran.err
    assert (tmp_path / "page.html").read_text() == "mine"
    ran = run("report", result, "-o", "page.html", "--force", "--json")
    assert json.loads(ran.out)["report"] == "page.html"


def test_what_is_read_is_never_replaced(run, result, women, tmp_path):
    new_rows = tmp_path / "new.csv"
    new_rows.write_bytes(women.read_bytes())
    for command, path in (
        (("report", result, "--data", women), women),
        (("report", result), result / "model.neocc"),
        (("predict", result, new_rows), new_rows),
        (("predict", result, new_rows), result / "model.neocc"),
    ):
        before = path.read_bytes()
        ran = run(*command, "-o", path, "--force")
        assert ran.code == 2
        assert "is read, and not replaced" in ran.err
        assert path.read_bytes() == before


def test_the_matrix_may_have_moved(run, result, women, tmp_path):
    record = json.loads((result / "record.json").read_text())
    record["input"]["path"] = "/nowhere/women.csv"
    (result / "record.json").write_text(json.dumps(record))
    ran = run("report", result)
    assert ran.code == 2
    assert "--data" in ran.err
    assert run("report", result, "--data", women).code == 0
    women.write_text(women.read_text().replace(",1,", ",2,", 1))
    ran = run("report", result, "--data", women)
    assert ran.code == 2
    assert "has changed" in ran.err


def test_a_model_alone(run, result, women, tmp_path):
    shutil.move(result / "model.neocc", tmp_path / "model.neocc")
    ran = run("report", "model.neocc")
    assert ran.code == 0, ran.err
    assert "--data" in ran.err
    bare = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "2 groups of rows, 3 of columns" in bare
    assert run("report", "model.neocc", "--data", women, "-o", "full.html").code == 0
    full = (tmp_path / "full.html").read_text(encoding="utf-8")
    assert len(full) > len(bare)
    assert "Evelyn" in full


def test_a_model_alone_with_the_wrong_matrix(run, result, tmp_path):
    shutil.move(result / "model.neocc", tmp_path / "model.neocc")
    (tmp_path / "m.csv").write_text("1,2\n3,4\n")
    ran = run("report", "model.neocc", "--data", "m.csv")
    assert ran.code == 2
    assert "2 columns" in ran.err
    assert not (tmp_path / "report.html").exists()


def test_a_model_alone_is_told_how_to_read_the_matrix(run, result, women, tmp_path):
    shutil.move(result / "model.neocc", tmp_path / "model.neocc")
    text = women.read_text()
    (tmp_path / "m.txt").write_text(text.replace(",", ";"))
    ran = run("report", "model.neocc", "--data", "m.txt", "--format", "csv", "--delimiter", ";")
    assert ran.code == 0, ran.err
    assert "Evelyn" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_a_record_says_how_the_matrix_is_read(run, result):
    ran = run("report", result, "--row-names-in", "1")
    assert ran.code == 2
    assert "record.json says how the matrix was read: leave out --row-names" in ran.err


def lines_of(women):
    header, *rows = women.read_text(encoding="utf-8").splitlines(keepends=True)
    return header, rows


def test_rows_in_another_order_are_matched_by_name(run, result, women, tmp_path):
    shutil.move(result / "model.neocc", tmp_path / "model.neocc")
    header, rows = lines_of(women)
    (tmp_path / "turned.csv").write_text(header + "".join(reversed(rows)), encoding="utf-8")
    for name in ("women", "turned"):
        ran = run("report", "model.neocc", "--data", f"{name}.csv", "-o", f"{name}.html")
        assert ran.code == 0, ran.err
    pages = [
        (tmp_path / f"{name}.html").read_text(encoding="utf-8").replace(f"{name}.csv", "")
        for name in ("women", "turned")
    ]
    assert pages[0] == pages[1]


@pytest.mark.parametrize("change", ["other name", "fewer rows"])
def test_rows_that_are_not_those_of_the_fit_are_refused(run, result, women, tmp_path, change):
    shutil.move(result / "model.neocc", tmp_path / "model.neocc")
    header, rows = lines_of(women)
    rows = (
        ["Zoe" + rows[0][rows[0].index(",") :], *rows[1:]] if change == "other name" else rows[1:]
    )
    (tmp_path / "m.csv").write_text(header + "".join(rows), encoding="utf-8")
    ran = run("report", "model.neocc", "--data", "m.csv")
    assert ran.code == 2
    assert ("'Zoe'" if change == "other name" else "17 rows") in ran.err
    assert "18" in ran.err
    assert not (tmp_path / "report.html").exists()


def test_beside_the_model_only_a_report_is_replaced(run, result):
    assert run("report", result).code == 0
    (result / "report.html").write_text("mine")
    ran = run("report", result)
    assert ran.code == 2
    assert "--force" in ran.err
    assert (result / "report.html").read_text() == "mine"
    assert run("report", result, "--force").code == 0


def test_a_folder_is_no_place_for_a_page(run, result):
    for folder in (".", ".."):
        ran = run("report", result, "-o", folder)
        assert ran.code == 2
        assert "folder" in ran.err
