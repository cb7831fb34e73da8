"""Labels and names besides the matrix: ``--labels``, ``--row-labels`` and those of columns."""

from __future__ import annotations

import json
import shutil

import pytest

from neocc.datasets import load_southern_women

NAMES = load_southern_women().row_names


@pytest.fixture
def result(women_result, tmp_path):
    """A copy of a result that may be changed."""
    shutil.copytree(women_result, tmp_path / "result")
    return tmp_path / "result"


@pytest.fixture
def cliques(tmp_path):
    """The first nine women in one clique, the last ones in another, the ninth in both."""
    lines = [f"{name},one" for name in NAMES[:9]] + [f"{name},two" for name in NAMES[8:17]]
    path = tmp_path / "cliques.csv"
    path.write_text("name,clique\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return path


FIT = ("--rows", 2, "--columns", 3, "--row-overlap", 0, "--row-outliers", 0)
FIT += ("--column-overlap", 0, "--column-outliers", 0, "--n-init", 1, "-o", "out")


def test_fit_tells_the_labels_of_groups(run, women, cliques, tmp_path):
    ran = run("fit", women, *FIT, "--labels", cliques)
    assert ran.code == 0, ran.err
    assert "1 of the 18 rows has no label in cliques.csv." in ran.err
    assert "more often than by chance" in ran.words
    assert "one (" in ran.words
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "Labels and groups" in page
    ran = run("fit", women, *FIT, "--labels", cliques, "--json", "--force")
    told = json.loads(ran.out)
    tests = told["result"]["rows"]["enrichment"]["tests"]
    assert {(one["group"], one["label"]) for one in tests} == {
        (group, label) for group in (1, 2) for label in ("one", "two")
    }
    assert "enrichment" not in told["result"]["columns"]
    # The report alone tells the same: the record knows the labels.
    for given in (("--labels", cliques), ()):
        again = json.loads(run("report", "out", *given, "--json").out)
        assert again["enrichment"] == {"rows": told["result"]["rows"]["enrichment"]}
    ran = run("fit", "--from", "out/record.json", "-o", "again", "--json")
    assert json.loads(ran.out)["result"]["rows"] == told["result"]["rows"]
    cliques.rename(tmp_path / "moved.csv")
    again = json.loads(run("report", "out", "--json").out)
    assert again["enrichment"] == {}
    assert again["notes"] == [f"the run had {cliques}, which has moved: name it with --labels."]


def test_names_stand_for_ids_on_the_page_and_in_the_terminal_but_not_in_tables(
    run, women, tmp_path
):
    (tmp_path / "names.csv").write_text(
        "id,what,title\n" + "".join(f"{name},x,Lady {at}\n" for at, name in enumerate(NAMES))
    )
    (tmp_path / "events.csv").write_text("E1,Bridge\n")
    given = ("--row-labels", "names.csv", "--column-labels", "events.csv")
    ran = run("fit", women, *FIT, *given)
    assert ran.code == 0, ran.err
    assert "Lady " in ran.out
    assert "13 of the 14 columns without a name in events.csv: the id is shown." in ran.err
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "Lady 3" in page
    assert "Bridge" in page
    assert NAMES[0] in page  # as its id
    assert "Lady" not in (tmp_path / "out" / "rows.csv").read_text(encoding="utf-8")
    # Made again, and without the matrix.
    ran = run("report", "out", *given)
    assert (tmp_path / "out" / "report.html").read_text(encoding="utf-8") == page
    shutil.move(tmp_path / "out" / "model.neocc", tmp_path / "model.neocc")
    assert run("report", "model.neocc", *given).code == 0
    assert "Lady 3" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_a_bad_table_stops_a_fit_before_it_begins(run, women, tmp_path):
    (tmp_path / "bad.csv").write_text("name,label\nEvelin,a\n")
    for option in ("--labels", "--row-labels", "--labels-of-columns", "--column-labels"):
        ran = run("fit", women, *FIT, option, "bad.csv")
        assert ran.code == 2
        assert len(ran.err.splitlines()) == 1
        assert "'Evelin'" in ran.err
        assert not (tmp_path / "out").exists()


def test_labels_of_columns(run, result, tmp_path):
    (tmp_path / "events.csv").write_text(
        "".join(f"E{at},{'early' if at < 7 else 'late'}\n" for at in range(1, 15))
    )
    told = json.loads(run("report", result, "--labels-of-columns", "events.csv", "--json").out)
    assert list(told["enrichment"]) == ["columns"]
    assert told["enrichment"]["columns"]["unlabelled"] == 0


def test_labels_may_be_settings(run, women, cliques, tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "settings.toml").write_text('labels = "../cliques.csv"\n')
    ran = run("fit", women, *FIT, "--config", "deep/settings.toml", "--json")
    assert ran.code == 0, ran.err
    assert "enrichment" in json.loads(ran.out)["result"]["rows"]
    # What is given beside a record changes what is shown, and nothing else.
    ran = run("fit", "--from", "out/record.json", "--row-labels", cliques, "-o", "again")
    assert ran.code == 2
    assert "has a second name" in ran.err


def test_rows_that_are_sampled_keep_their_labels():
    import numpy as np

    from neocc.io._labels import read_labels
    from neocc.report._shown import Known

    known = Known(read_labels(["a", "b", "c", "b"], list("wxyz")), row_names=("W", "X", "Y", "Z"))
    some = known.take_rows(np.array([1, 3]))
    assert some.row_names == ("X", "Z")
    assert some.labels is not None
    assert some.labels.members.toarray()[:, 1].tolist() == [1, 1]
