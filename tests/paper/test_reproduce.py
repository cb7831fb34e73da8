"""One call makes everything, the same again, and goes on where it was stopped."""

from __future__ import annotations

import os
import shutil
from html.parser import HTMLParser

import pytest
from standins import BROKEN, FEW, YEAST, DataSet, absent, small_study

from neocc.datasets import DatasetError
from neocc.paper import reproduce
from neocc.paper._data import CHOSEN

TIMED = {"times.csv", "run.json", "index.html", "paper.md"}


def tables(folder):
    """Return all that a second run must repeat."""
    return {
        path.name: path.read_bytes()
        for path in folder.iterdir()
        if path.is_file() and path.name not in TIMED
    }


def page_without_times(folder):
    text = (folder / "paper.md").read_text(encoding="utf-8")
    kept, _, times = text.partition("Seconds of a fit")
    assert times
    return [line for line in kept.splitlines() if not line.startswith("* Started")]


def test_everything_is_written(run_folder):
    names = {path.name for path in run_folder.iterdir()}
    assert names >= {"index.html", "paper.md", "run.json", "trials", "trials.csv", "times.csv"}
    assert names >= {"table-1-raw.csv", "table-3.csv", "table-others.csv", "tried.csv"}
    assert names >= {f"figure-{number}.png" for number in (1, 2, 3, 4)}
    assert not [name for name in names if "partial" in name]
    for path in run_folder.glob("*.png"):
        assert path.read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_the_same_call_gives_the_same_tables(run_folder, study, tmp_path):
    outcome = reproduce(tmp_path / "again", study=study, n_jobs=1)
    assert outcome.failed == []
    assert outcome.n_trials == len(study.jobs())
    assert tables(outcome.page.parent) == tables(run_folder)
    assert page_without_times(outcome.page.parent) == page_without_times(run_folder)


def test_another_seed_gives_other_tables(small_folder, tmp_path):
    reproduce(tmp_path / "1", study=small_study(1), n_jobs=1)
    assert tables(small_folder) != tables(tmp_path / "1")


def test_several_processes_give_the_same_tables(small_folder, tmp_path):
    reproduce(tmp_path / "2", study=small_study(), n_jobs=2)
    assert tables(small_folder) == tables(tmp_path / "2")
    assert page_without_times(small_folder) == page_without_times(tmp_path / "2")


def test_progress_counts_up_to_all(tmp_path):
    seen = []
    study = small_study()
    reproduce(tmp_path / "run", study=study, n_jobs=1, progress=lambda *told: seen.append(told))
    n_all = len(study.jobs())
    assert [(done, total) for done, total, _ in seen] == [(n, n_all) for n in range(n_all + 1)]
    assert seen[1][2] == "k-means on yeast, trial 1"


def test_a_stopped_run_goes_on_where_it_was(small_folder, tmp_path):
    study = small_study()

    def stop(done, total, last):
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        reproduce(tmp_path / "stopped", study=study, n_jobs=1, progress=stop)
    kept = sorted((tmp_path / "stopped" / "trials").iterdir())
    assert len(kept) == 2
    for path in kept:
        os.utime(path, (1, 1))
    seen = []
    outcome = reproduce(
        tmp_path / "stopped",
        study=study,
        n_jobs=1,
        resume=True,
        progress=lambda *told: seen.append(told[0]),
    )
    assert seen[0] == 2
    assert all(path.stat().st_mtime == 1 for path in kept)
    assert tables(outcome.page.parent) == tables(small_folder)


def test_a_finished_run_only_makes_its_pages_again(small_folder, tmp_path):
    shutil.copytree(small_folder, tmp_path / "run")
    page = tmp_path / "run" / "index.html"
    page.unlink()
    seen = []
    reproduce(
        tmp_path / "run", study=small_study(), resume=True, progress=lambda *told: seen.append(told)
    )
    assert len(seen) == 1
    assert page.exists()


def test_a_system_that_fails_is_told_and_does_not_stop_the_others(tmp_path):
    study = small_study(systems={**small_study().systems, "broken": BROKEN})
    outcome = reproduce(tmp_path / "run", study=study, n_jobs=1)
    assert len(outcome.failed) == 2
    assert "broken on yeast, trial 1: ValueError" in outcome.failed[0]
    page = outcome.page.read_text(encoding="utf-8")
    assert "there is something about this matrix" in page
    table = (tmp_path / "run" / "table-3.csv").read_text(encoding="utf-8")
    assert ",broken,–,–," in table
    mended = small_study(systems={**small_study().systems, "broken": FEW["MSSR2"]})
    assert reproduce(tmp_path / "run", study=mended, n_jobs=1, resume=True).failed == []


def test_a_missing_data_set_is_told_before_anything_is_made(tmp_path):
    nowhere = DataSet("nowhere", absent, "rows", 2, 2)
    study = small_study(data_sets={"yeast": YEAST, "nowhere": nowhere})
    with pytest.raises(DatasetError, match="no copy"):
        reproduce(tmp_path / "run", study=study)
    assert not (tmp_path / "run").exists()


# -------------------------------------------------------------------------------------- the pages


class Outline(HTMLParser):
    """Checks that tags close in order, and collects what a page refers to."""

    EMPTY = frozenset({"meta", "img", "br", "link"})

    def __init__(self):
        super().__init__()
        self.open, self.images, self.links, self.ids = [], [], [], []

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.ids += [found["id"]] if "id" in found else []
        self.images += [found["src"]] if tag == "img" else []
        self.links += [found["href"]] if tag == "a" else []
        assert tag != "img" or found["alt"]
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def page(run_folder):
    return (run_folder / "index.html").read_text(encoding="utf-8")


def test_the_page_is_well_formed_and_all_it_refers_to_is_there(page, run_folder):
    outline = Outline()
    outline.feed(page)
    assert outline.open == []
    assert len(set(outline.ids)) == len(outline.ids)
    assert sorted(outline.images) == sorted(path.name for path in run_folder.glob("*.png"))
    assert all(link.startswith("#") and link[1:] in outline.ids for link in outline.links)
    assert "http" not in page.replace("http-equiv", "")


@pytest.mark.parametrize(
    "words",
    [
        "one cluster of all",
        "39.1",  # NEO-lrsdp on yeast, printed
        "0.0677",  # the case study
        "56.4 ± 0.0",  # NEO-lrsdp on ML1, printed
        "Could not, and why",
        "Errata of the paper",
        "choosing by the answer",
        "random_state=1",
        "This is a quick run",
        CHOSEN,
        "39.74",
        "numpy",
    ],
)
def test_the_page_says_what_it_must(page, words, run_folder):
    assert words in page
    assert words in (run_folder / "paper.md").read_text(encoding="utf-8")


def test_a_page_names_no_folder_of_this_machine(page, run_folder):
    assert str(run_folder.parent) not in page
    assert str(run_folder.parent) not in (run_folder / "paper.md").read_text(encoding="utf-8")


def test_figures_are_drawn_only_where_there_is_something_to_draw(small_folder):
    assert sorted(path.name for path in small_folder.glob("*.png")) == ["figure-2.png"]
