"""``neocc fit --missing ignore`` and ``neocc predict --cells``."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

from neocc.io import load_model, read_matrix, write_store

FIT = ["--missing", "ignore", "--remove-effects", "--rows", "2", "--columns", "2", "--quiet"]


@pytest.fixture
def ratings(tmp_path):
    """Two kinds of users and of films, stars from 0; four in ten were given."""
    rng = np.random.default_rng(0)
    lines = [
        (f"u{p:02}", f"f{t:02}", 5 if (p < 15) == (t < 10) else int(rng.integers(3)))
        for p in range(30)
        for t in range(20)
        if rng.random() < 0.4
    ]
    with (tmp_path / "ratings.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("user", "film", "stars"), *lines])
    return tmp_path / "ratings.csv"


def as_table(path, ratings):
    """Write the same as a table with blank cells."""
    matrix = read_matrix(ratings, missing="ignore")
    given = matrix.data.tocoo()
    cells = np.full(matrix.shape, "", dtype=object)
    cells[given.row, given.col] = given.data
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["user", *matrix.column_names])
        writer.writerows([n, *line] for n, line in zip(matrix.row_names, cells, strict=True))
    return path


def test_zeros_that_are_given_are_kept_and_missing_cells_stay_missing(tmp_path, ratings):
    matrix = read_matrix(ratings, missing="ignore")
    assert (matrix.data.data == 0).any()
    table = read_matrix(as_table(tmp_path / "table.csv", ratings), missing="ignore")
    assert np.isnan(table.data).sum() == 600 - matrix.data.nnz
    assert np.nansum(table.data) == matrix.data.sum()
    assert any("missing values were left out" in note for note in table.notes)
    path = tmp_path / "blank.csv"
    path.write_text(ratings.read_text() + "u00,f19,\nu77,f00,NaN\n")
    with_blanks = read_matrix(path, missing="ignore")
    assert with_blanks.data.nnz == matrix.data.nnz
    assert with_blanks.row_names[-1] == "u77"


@pytest.mark.parametrize("kind", ["npy", "mtx"])
def test_other_files_with_missing_values(tmp_path, kind):
    path = tmp_path / f"matrix.{kind}"
    if kind == "npy":
        np.save(path, np.array([[1.0, np.nan], [0.0, 2.0]]))
        assert np.isnan(read_matrix(path, missing="ignore").data).sum() == 1
    else:
        head = "%%MatrixMarket matrix coordinate real general\n"
        path.write_text(head + "2 2 3\n1 1 1\n1 2 nan\n2 1 0\n")
        found = read_matrix(path, missing="ignore")
        assert found.data.indices.tolist() == [0, 0]
        assert found.data.data.tolist() == [1.0, 0.0]


def test_a_list_and_a_table_give_the_same_fit(run, tmp_path, ratings):
    assert run("fit", ratings, *FIT, "-o", "one").code == 0
    table = as_table(tmp_path / "table.csv", ratings)
    ran = run("fit", table, *FIT, "-o", "two")
    assert ran.code == 0, ran.err
    one, two = (load_model(tmp_path / name / "model.neocc") for name in ("one", "two"))
    assert one.missing == "ignore"
    assert one.objective_ == two.objective_
    assert (one.row_membership_ == two.row_membership_).all()
    with (tmp_path / "one" / "blocks.csv").open(newline="") as file:
        errors = [float(line["error"]) for line in csv.DictReader(file)]
    assert sum(errors) == pytest.approx(one.objective_, rel=1e-9)
    assert (tmp_path / "one" / "report.html").is_file()
    assert run("fit", "--from", "one/record.json", "-o", "again", "--quiet").code == 0
    assert load_model(tmp_path / "again" / "model.neocc").objective_ == one.objective_
    assert run("report", "one", "--force").code == 0


def test_the_page_tells_how_far_blocks_are_from_expectation(run, tmp_path, ratings):
    ran = run("fit", ratings, *FIT[:-1], "-o", "out")
    assert ran.code == 0, ran.err
    model = load_model(tmp_path / "out" / "model.neocc")
    assert "Deviation from expectation of every block (cells observed)" in ran.words
    given = read_matrix(ratings, missing="ignore").data.tocoo()
    seen = np.zeros(given.shape, dtype=bool)
    seen[given.row, given.col] = True  # zeros were observed too
    for means, members in zip(model.block_means_, model.row_membership_.T, strict=True):
        counts = [seen[members][:, inside].sum() for inside in model.column_membership_.T]
        line = " ".join(f"{mean:+.2g} ({n})" for mean, n in zip(means, counts, strict=True))
        assert line.replace("-", "−") in ran.words
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "blank where nothing was observed" in page
    ran = run("report", "out")
    assert ran.code == 0, ran.err
    assert "no picture" not in ran.words + ran.err
    again = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    # Fits and reports list settings in other words; all that is said of the cells is the same.
    assert again.split('id="settings"')[0] == page.split('id="settings"')[0]


def test_a_store_is_fitted_to_the_cells_it_has(run, tmp_path, ratings):
    write_store(tmp_path / "store", read_matrix(ratings, missing="ignore").data)
    ran = run("fit", "store", *FIT, "-o", "out")
    assert ran.code == 0, ran.err
    assert run("fit", ratings, *FIT, "-o", "file").code == 0
    one, other = (load_model(tmp_path / name / "model.neocc") for name in ("out", "file"))
    assert one.objective_ == other.objective_
    ran = run("convert", ratings, "other", "--missing", "ignore")
    assert ran.code == 2
    assert "read into memory" in ran.err


def test_values_of_cells(run, tmp_path, ratings):
    assert run("fit", ratings, *FIT, "-o", "out").code == 0
    (tmp_path / "pairs.csv").write_text("user,film\nu00,f00\nu00,f19\nzoe,f00\nu01,none\n")
    ran = run("predict", "out", "pairs.csv", "--cells", "--json", "-o", "values.csv")
    assert ran.code == 0, ran.err
    model, answer = load_model(tmp_path / "out" / "model.neocc"), json.loads(ran.out)
    values = [cell["value"] for cell in answer["cells"]]
    assert values[:2] == model.predict_cells([0, 0], [0, 19]).tolist()
    assert values[0] > 4
    assert values[1] < 2
    assert values[2] == pytest.approx(model.overall_mean_ + model.column_effects_[0])
    assert values[3] == pytest.approx(model.overall_mean_ + model.row_effects_[1])
    assert len(answer["notes"]) == 2
    with (tmp_path / "values.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert [float(line["value"]) for line in lines] == values
    # Without a heading all lines count.
    (tmp_path / "bare.tsv").write_text("u00\tf00\t4\nu00\tf19\t1\n")
    ran = run("predict", "out", "bare.tsv", "--cells", "--json")
    assert [cell["value"] for cell in json.loads(ran.out)["cells"]] == values[:2]
    assert "u00" in run("predict", "out", "bare.tsv", "--cells").out


def test_values_of_cells_stay_within_those_of_the_fit(run, tmp_path):
    rng = np.random.default_rng(0)
    stars = np.clip(np.rint(3 + 2 * rng.normal(size=(20, 1)) + 2 * rng.normal(size=15)), 1, 5)
    cells = [f"u{p},f{t}" for p, t in np.ndindex(stars.shape)]
    seen = [f"{cell},{x:.0f}" for cell, x in zip(cells, stars.flat, strict=True)]
    (tmp_path / "stars.csv").write_text("\n".join(["user,film,stars", *seen]))
    (tmp_path / "pairs.csv").write_text("\n".join(["user,film", *cells]))
    assert run("fit", "stars.csv", *FIT, "-o", "out").code == 0
    ran = run("predict", "out", "pairs.csv", "--cells", "--json")
    values = [cell["value"] for cell in json.loads(ran.out)["cells"]]
    model = load_model(tmp_path / "out" / "model.neocc")
    plain = model.predict_cells(np.arange(20)[:, None], np.arange(15), clip=False)
    assert (min(values), max(values)) == (1.0, 5.0)
    assert plain.min() < 1.0
    assert plain.max() > 5.0


def test_new_rows_have_missing_cells(run, tmp_path, ratings):
    assert run("fit", ratings, *FIT, "-o", "out").code == 0
    header = ",".join(["user", *(f"f{t:02}" for t in range(20))])
    liked = ",".join(["5", "", "5"] + [""] * 17)
    (tmp_path / "new.csv").write_text(f"{header}\nann,{liked}\nbob,{liked}\n")
    ran = run("predict", "out", "new.csv", "--missing", "ignore", "--json")
    assert ran.code == 0, ran.err
    model = load_model(tmp_path / "out" / "model.neocc")
    own = np.flatnonzero(model.row_membership_[0]) + 1
    assert [row["groups"] for row in json.loads(ran.out)["rows"]] == [own.tolist()] * 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("fit ratings.csv --rows 2 --columns 2 --missing zero --remove-effects", "ignore"),
        (
            (
                "fit ratings.csv --missing ignore --rows 2 --columns 2 --overlap-model either"
                " --column-overlap 0.5"
            ),
            "columns of one cluster each",
        ),
    ],
)
def test_what_makes_no_sense_is_a_mistake(run, ratings, arguments, message):
    ran = run(*arguments.split(), "-o", "out")
    assert ran.code == 2
    assert message in " ".join(ran.err.split())


def test_cells_need_a_model_of_observed_ones(run, tmp_path, women_result):
    (tmp_path / "pairs.csv").write_text("a,b\n")
    ran = run("predict", women_result, "pairs.csv", "--cells")
    assert ran.code == 2
    assert "--missing ignore" in ran.err


def test_lists_that_are_none(run, tmp_path, ratings):
    assert run("fit", ratings, *FIT, "-o", "out").code == 0
    for content, message in (
        ("a\nb\n", "line 1"),
        ("", "is empty"),
        ("user,film\n", "lists no cells"),
    ):
        (tmp_path / "bad.csv").write_text(content)
        ran = run("predict", "out", "bad.csv", "--cells")
        assert ran.code == 2
        assert message in ran.err
    assert run("predict", "out", "nowhere.csv", "--cells").code != 0
