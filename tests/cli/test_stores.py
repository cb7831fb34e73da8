"""`neocc fit STORE` is like `neocc fit FILE`; where a store is too large, a sample says so."""

from __future__ import annotations

import json
import re
import shutil
from functools import partial

import numpy as np
import pytest
from scipy import sparse

from neocc import NEOCC
from neocc.cli import _fit, _load, _saved
from neocc.cli._choose import choose
from neocc.cli._settings import FitSettings
from neocc.io import Matrix, open_store, write_matrix, write_store
from neocc.io._labels import read_labels
from neocc.io.blocks import _sample
from neocc.report import _shown
from neocc.report._shown import Known

SAME = ("rows.csv", "columns.csv", "blocks.csv", "model.neocc")
NONE = ("--row-overlap", 0, "--row-outliers", 0, "--column-overlap", 0, "--column-outliers", 0)


def planted(n=240, m=12):
    """Ratings in three groups of rows and two of columns, a sixth of the cells empty."""
    rng = np.random.default_rng(0)
    means = np.array([[1.0, 5.0], [5.0, 1.0], [3.0, 3.0]])
    X = means[np.arange(n) % 3][:, np.arange(m) % 2] + 0.3 * rng.normal(size=(n, m))
    X[rng.random(X.shape) < 1 / 6] = 0.0
    return Matrix(
        sparse.csr_array(np.round(X, 2)),
        tuple(f"user{i}" for i in range(n)),
        tuple(f"film{j}" for j in range(m)),
    )


@pytest.fixture
def file(tmp_path):
    write_matrix(planted(), tmp_path / "ratings.csv")
    return tmp_path / "ratings.csv"


@pytest.fixture
def store(run, file, tmp_path):
    ran = run("convert", file, "ratings.blocks", "--rows-per-block", 50)
    assert ran.code == 0, ran.err
    return tmp_path / "ratings.blocks"


@pytest.fixture
def small_samples(monkeypatch):
    """Make a store of a few thousand entries too large for memory."""
    monkeypatch.setattr(_fit, "draw_to_choose", partial(_load.draw_to_choose, most=2000))
    for command in (_fit, _saved):
        monkeypatch.setattr(command, "page_of", partial(_shown.page_of, most=800))


def said(ran):
    return " ".join(ran.err.split())


def assert_same(of_file, of_store):
    for name in ("rows.csv", "columns.csv", "model.neocc"):
        assert (of_file / name).read_bytes() == (of_store / name).read_bytes(), name
    # Errors of blocks are added up in another order: block by block.
    tables = [np.genfromtxt(one / "blocks.csv", delimiter=",")[1:] for one in (of_file, of_store)]
    np.testing.assert_allclose(tables[0], tables[1], rtol=1e-12)


# ---------------------------------------------------------------------------- like a fit of a file


def test_a_store_is_fitted_like_the_file(run, file, store, tmp_path):
    # Steps are chosen for files alone: stores are never transformed.
    pages, options = {}, ("--rows", 3, "--preprocess", "none", "--n-init", 2)
    for source in (file, store):
        ran = run("fit", source, *options, "-o", f"{source.suffix[1:]}-groups")
        assert (ran.code, ran.err) == (0, "")
        pages[source] = ran.words
    assert_same(tmp_path / "csv-groups", tmp_path / "blocks-groups")
    reports = [
        re.sub(r"ratings\.\w+", "", (tmp_path / f"{kind}-groups" / "report.html").read_text())
        for kind in ("csv", "blocks")
    ]
    # How much groups explain is not computed over the rows of a store.
    parts = [re.sub("<li>Groups explain.*?</li>", "", report) for report in reports]
    parts = [part.split('id="settings"')[0] for part in parts]
    assert parts[0] == parts[1]
    # Who was chosen, found and typical is the same; only the first lines say where it came from.
    found = [page[page.index("Chosen for you") : page.index("How sure")] for page in pages.values()]
    assert found[0] == found[1]
    assert "in 5 blocks" in pages[store]


def test_a_dense_store_likewise(run, tmp_path):
    X = planted().data.toarray() + 1.0
    np.save(tmp_path / "m.npy", X)
    write_store(tmp_path / "m.blocks", X, rows_per_block=70)
    names = ("m.npy", "m.blocks")
    ran = [run("fit", name, "--rows", 3, "-o", f"of-{name}", "--n-init", 2) for name in names]
    assert [each.code for each in ran] == [0, 0]
    # Whether one row looks like an outlier hangs on the versions of packages, for both alike.
    assert ran[0].err == ran[1].err
    assert_same(tmp_path / "of-m.npy", tmp_path / "of-m.blocks")


def test_what_follows_a_fit(run, file, store, tmp_path):
    groups = ("--rows", 3, "--columns", 2, "--n-init", 2)
    assert run("fit", store, *groups, "-o", "out", "--quiet").code == 0
    before = (tmp_path / "out" / "report.html").read_text()
    assert run("report", "out").code == 0
    assert (tmp_path / "out" / "report.html").read_text() == before
    answers = [json.loads(run("predict", "out", one, "--json").out) for one in (file, store)]
    assert answers[0] == answers[1]
    assert answers[0]["notes"] == []
    ran = run("score", "out", "out", "--json")
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["rows"]["best_match_f1"] == 1.0
    assert run("fit", "--from", "out/record.json", "-o", "again", "--quiet").code == 0
    for name in SAME:
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "out" / name).read_bytes()
    shutil.copy(tmp_path / "out" / "model.neocc", tmp_path / "model.neocc")
    for source in (file, store):
        ran = run("report", "model.neocc", "--data", source, "-o", "page.html", "--force")
        assert ran.code == 0, ran.err
        assert "user17" in (tmp_path / "page.html").read_text()


def test_suggestions(run, file, store):
    answers = [
        json.loads(run("suggest", one, "--rows", "2-4", "--columns", "2-3", "--json").out)
        for one in (file, store)
    ]
    assert answers[0]["table"] == answers[1]["table"]
    assert (answers[1]["best"], answers[1]["notes"]) == (answers[0]["best"], answers[0]["notes"])


# ---------------------------------------------------------------------------- stores too large


def test_what_is_not_given_is_chosen_from_a_sample(run, store, small_samples):
    options = ("--columns", 2, "--n-init", 2, "--no-report", "--json")
    ran = run("fit", store, *options, "-o", "out")
    assert ran.code == 0, ran.err
    answer = json.loads(ran.out)
    n_rows, n_entries = open_store(store).shape[0], open_store(store).n_stored
    size = int(n_rows * (2000 / n_entries))
    assert 160 <= size < n_rows
    for choice in answer["choices"][2:]:  # after what is done with the values
        assert choice["why"].endswith(f"in a random sample of {size} of the {n_rows} rows")
    assert {"rows", "row_overlap", "column_outliers"} < {
        name for choice in answer["choices"] for name in choice["options"]
    }
    again = json.loads(run("fit", store, *options, "-o", "again").out)
    assert again["choices"] == answer["choices"]


def test_counts_that_are_chosen_from_a_sample_are_of_all_rows(store):
    drawn = _load.draw_to_choose(open_store(store), FitSettings(rows=3, columns=2))
    assert drawn.is_whole
    half = _sample.Sample(drawn.data[:120], drawn.at[:120], 240, 0)
    asked = FitSettings(
        rows=3, columns=2, objective="mean", overlap_rule="first", column_overlap=0.0
    )
    settings, choices, _ = choose(half, asked)
    more = round(float(settings.row_overlap) * 240)
    assert more > 0
    assert f"({more} memberships beyond one each)" in choices[0].what


def test_a_sample_is_drawn_from_the_seed(store):
    X = sparse.vstack([open_store(store).load(block) for block in range(5)]).toarray()
    drawn = [_sample.draw(open_store(store), 20, seed) for seed in (0, 0, 1)]
    assert (drawn[0].at == drawn[1].at).all()
    assert (drawn[0].at != drawn[2].at).any()
    assert (np.diff(drawn[0].at) > 0).all()
    assert (drawn[0].data.toarray() == X[drawn[0].at]).all()


def test_a_page_of_a_large_store_says_that_it_shows_a_sample(run, store, small_samples, tmp_path):
    groups = ("--rows", 3, "--columns", 2, "--row-noun", "users", *NONE)
    ran = run("fit", store, *groups, "-o", "out")
    assert ran.code == 0, ran.err
    (number,) = re.findall(
        r"the report shows a random sample of (\d+) of the 240 users; rows.csv lists", said(ran)
    )
    assert 0 < int(number) < 240
    assert "a sample of the rows: open it in a browser" in ran.words
    assert "3 groups of users, 2 of columns" in ran.words
    page = (tmp_path / "out" / "report.html").read_text()
    assert f"a random sample of {number} of the 240 users" in page
    assert "3 groups of sampled users, 2 of columns" in page
    assert f"{number} sampled users" in page
    assert "drawn with seed 0" in page
    assert (tmp_path / "out" / "rows.csv").read_text().count("\n") == 241
    ran = run("report", "out", "--row-noun", "users")
    assert f"a random sample of {number} of the 240 users" in said(ran)
    assert (tmp_path / "out" / "report.html").read_text() == page


def test_no_group_vanishes_from_the_page_of_a_sample(store):
    opened = open_store(store)
    model = NEOCC(3, 2, row_outliers=0.05, n_init=1, refine=False, random_state=0).fit(opened)
    model.row_membership_[:, 2] = False
    model.row_membership_[7, 2] = True
    matrix = Matrix(opened, opened.row_names, opened.column_names, store, "blocks")
    names = tuple(name.upper() for name in opened.row_names)
    known = Known(read_labels(list(names), opened.row_names), row_names=names)
    page, _ = _shown.page_of(model, matrix, known, most=100)
    shown, part = page["matrix"], page["model"]
    # What is known of rows follows them into the sample.
    assert [name.lower() for name in page["row_names"]] == list(shown.row_names)
    labelled = np.array(page["labels"].names)[page["labels"].members.toarray().argmax(axis=1)]
    assert tuple(labelled) == page["row_names"]
    assert len(shown.row_names) == shown.shape[0] == len(part.row_membership_)
    assert shown.shape[0] < 240
    assert part.row_membership_.any(axis=0).all()
    assert part.row_outliers_.sum() == min(100, (~model.row_membership_.any(axis=1)).sum())
    assert "user7" in shown.row_names
    assert len(model.row_membership_) == 240


def test_rows_too_long_to_choose_from_are_said_to_be(run, store, monkeypatch):
    monkeypatch.setattr(_fit, "draw_to_choose", partial(_load.draw_to_choose, most=10))
    ran = run("fit", store, "--rows", 3)
    assert ran.code == 2
    assert len(ran.err.splitlines()) == 1
    assert "Give --rows, --columns, --row-overlap" in ran.err
    ran = run("fit", store, "--rows", 3, "--columns", 2, *NONE, "--n-init", 1)
    assert ran.code == 0, ran.err


# ---------------------------------------------------------------------------- limits and mistakes


def test_a_memory_limit_changes_no_result(run, store, tmp_path, monkeypatch):
    seen = []
    whole = NEOCC.fit

    def fit(self, X, y=None):
        seen.append(self.memory_limit)
        return whole(self, X)

    monkeypatch.setattr(NEOCC, "fit", fit)
    groups = ("--rows", 3, "--columns", 2, "--n-init", 2, *NONE)
    for options in ((), ("--memory-limit", "1.5GB")):
        assert run("fit", store, *groups, *options, "-o", f"out{len(options)}").code == 0
    assert seen == [None, "1.5GB"]
    for name in SAME:
        assert (tmp_path / "out0" / name).read_bytes() == (tmp_path / "out2" / name).read_bytes()
    ran = run("fit", "--from", "out0/record.json", "-o", "again", "--memory-limit", "1GB")
    assert ran.code == 0, ran.err


def test_a_small_limit_makes_small_samples():
    assert _sample.entries_within(None, 1000) == 1000
    assert _sample.entries_within("364MB", 10**9) == 10**6
    assert _sample.entries_within("1MB", 1000) == 1


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("fit ratings.blocks --memory-limit much", "--memory-limit must be a number of bytes"),
        ("fit ratings.blocks --memory-limit 0", "--memory-limit must be a number of bytes"),
        ("fit ratings.blocks --memory-limit 10MB", "--memory-limit 10MB is too small"),
        ("fit ratings.csv --memory-limit 4GB", "--memory-limit is for block stores"),
        (
            "fit ratings.blocks --preprocess log1p",
            "change the data before or while they are converted",
        ),
        ("fit ratings.blocks --missing zero", "change the data before or while they are converted"),
        ("suggest .", "not a block store"),
        ("predict out other.blocks", "cannot be moved"),
        ("predict prepared ratings.blocks", "The model preprocesses its rows"),
        ("report model.neocc --data other.blocks", "cannot be moved"),
    ],
)
def test_mistakes_are_explained(run, file, store, tmp_path, command, words):
    groups = ("--rows", 3, "--columns", 2, *NONE, "--n-init", 1, "--quiet", "--no-report")
    if "out" in command or "model" in command:
        run("fit", store, *groups, "-o", "out")
        shutil.copy(tmp_path / "out" / "model.neocc", tmp_path / "model.neocc")
        matrix = planted()
        names = tuple(reversed(matrix.column_names))
        write_store(tmp_path / "other.blocks", Matrix(matrix.data, matrix.row_names, names))
    if "prepared" in command:
        run("fit", file, *groups, "--preprocess", "row-norm", "-o", "prepared")
    ran = run(*command.split())
    assert ran.code == 2, ran.out
    assert ran.out == ""
    assert len(ran.err.splitlines()) == 1
    assert words in ran.err


def cut(store):
    path = store / "block-000002.data.npy"
    path.write_bytes(path.read_bytes()[:-100])


def flip(store):
    path = store / "block-000003.indices.npy"
    content = bytearray(path.read_bytes())
    content[-3] ^= 1
    path.write_bytes(content)


def lose(store):
    (store / "block-000001.indptr.npy").unlink()


def rename(store):
    path = store / "row-names.txt"
    path.write_text(path.read_text().replace("user7", "user8"))


def manifest(change):
    def damage(store):
        path = store / "manifest.json"
        path.write_text(change(path.read_text()))

    return damage


@pytest.mark.parametrize("command", ["fit", "fit --rows 3 --columns 2 --n-init 1", "suggest"])
@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (cut, "checksum"),
        (flip, "checksum"),
        (lose, "cannot be read"),
        (rename, "checksum"),
        (manifest(lambda text: text.replace('"version": 1', '"version": 2')), "Update neocc"),
        (manifest(lambda text: text[: len(text) // 2]), "truncated or damaged"),
        (manifest(lambda text: text.replace("240", "241", 1)), "digest does not match"),
        (lambda store: (store / "manifest.json").unlink(), "not written completely"),
    ],
    ids=["cut", "flip", "lose", "rename", "newer", "half a manifest", "changed", "no manifest"],
)
def test_a_damaged_store_ends_a_command_with_one_message(
    run, file, store, tmp_path, command, damage, words
):
    damage(store)
    before = sorted(str(path) for path in tmp_path.rglob("*"))
    ran = run(*command.split(), store)
    assert ran.code == 2, ran.err
    assert ran.out == ""
    assert len(ran.err.splitlines()) == 1
    assert str(store) in ran.err
    assert words in ran.err
    assert sorted(str(path) for path in tmp_path.rglob("*")) == before
