"""``neocc fit --missing ignore`` and ``neocc predict --cells``."""

from __future__ import annotations

import csv
import gzip
import json
import shutil

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from neocc import NEOCC, CellPredictor
from neocc.io import load_model, read_matrix, save_model, write_store

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


def test_effects_are_kept_where_that_is_asked_for(run, tmp_path, ratings):
    plain = ["--missing", "ignore", "--no-remove-effects", "--rows", "2", "--columns", "2"]
    ran = run("fit", ratings, *plain, "-o", "out")
    assert ran.code == 0, ran.err
    assert "less the effects" not in ran.words
    model = load_model(tmp_path / "out" / "model.neocc")
    assert (model.missing, model.remove_effects) == ("ignore", False)
    assert not model.row_effects_.any()
    assert run("fit", "--from", "out/record.json", "-o", "again").code == 0
    again = load_model(tmp_path / "again" / "model.neocc")
    assert not again.remove_effects
    assert again.objective_ == model.objective_


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


def test_columns_of_a_list_of_cells_may_be_named(run, tmp_path, ratings):
    assert run("fit", ratings, *FIT, "-o", "out").code == 0
    (tmp_path / "pairs.csv").write_text("user,film\nu00,f00\nu00,f19\n")
    (tmp_path / "other.csv").write_text("when,film,user\n1,f00,u00\n2,f19,u00\n")
    plain = run("predict", "out", "pairs.csv", "--cells", "--json").out
    for named in ("user,film", "3,2"):
        ran = run("predict", "out", "other.csv", "--cells", "--json", "--triplet-columns", named)
        assert ran.out == plain
    for wrong, said in (("user,movie", "'movie'"), ("0,1", "0"), ("1,9", "9")):
        ran = run("predict", "out", "other.csv", "--cells", "--triplet-columns", wrong)
        assert ran.code == 2
        assert f"There is no column {said}. The columns are when, film, user" in ran.err
    ran = run("predict", "out", "pairs.csv", "--cells", "--triplet-columns", "film,user")
    assert ran.code == 2
    assert "Rows and columns are exchanged" in " ".join(ran.err.split())
    assert "--triplet-columns 2,1" in " ".join(ran.err.split())
    ran = run("predict", "out", "pairs.csv", "--cells", "--layout", "pairs")
    assert ran.code == 2
    assert "Leave out --layout." in " ".join(ran.err.split())


@pytest.mark.parametrize("kind", ["parquet", "xlsx", "csv.gz"])
def test_lists_of_cells_may_be_in_other_files(run, tmp_path, ratings, kind):
    assert run("fit", ratings, *FIT, "-o", "out").code == 0
    cells = [("u00", "f19"), ("u00", "f00"), ("zoe", "f00"), ("u00", "f19")]
    (tmp_path / "pairs.csv").write_text("user,film\n" + "".join(f"{p},{t}\n" for p, t in cells))
    plain = run("predict", "out", "pairs.csv", "--cells", "--json").out
    assert len(json.loads(plain)["cells"]) == 4
    columns = {"user": [p for p, _ in cells], "film": [t for _, t in cells], "when": [1, 2, 3, 4]}
    swapped = {name: columns[name] for name in ("when", "film", "user")}
    cold = {"user": ["zoe", *columns["user"]], "film": ["none", *columns["film"]]}
    for name, table in (("pairs", columns), ("other", swapped), ("cold", cold)):
        path = tmp_path / f"{name}.{kind}"
        if kind == "parquet":
            pq.write_table(pa.table(table), path)
        elif kind == "xlsx":
            sheet = pytest.importorskip("openpyxl").Workbook()
            for line in (table.keys(), *zip(*table.values(), strict=True)):
                sheet.active.append(list(line))
            sheet.save(path)
        else:
            lines = (table.keys(), *zip(*table.values(), strict=True))
            with gzip.open(path, "wt") as file:
                file.writelines(",".join(map(str, line)) + "\n" for line in lines)
    assert run("predict", "out", f"pairs.{kind}", "--cells", "--json").out == plain
    for named in ("user,film", "3,2"):
        ran = run(
            "predict", "out", f"other.{kind}", "--cells", "--json", "--triplet-columns", named
        )
        assert ran.out == plain, ran.err
    # A first line of names that are not known is a cell where the heading is elsewhere.
    ran = run("predict", "out", f"cold.{kind}", "--cells", "--json")
    assert [cell["row"] for cell in json.loads(ran.out)["cells"]] == ["zoe", *columns["user"]]
    ran = run("predict", "out", f"other.{kind}", "--cells", "--triplet-columns", "user,movie")
    assert ran.code == 2
    assert "'movie'" in ran.err
    if kind == "parquet":
        ran = run("predict", "out", "pairs.parquet", "--cells", "--delimiter", ";")
        assert ran.code == 2
        assert "no meaning for the format 'parquet'" in " ".join(ran.err.split())


@pytest.mark.parametrize("as_text", [True, False])
def test_a_saved_predictor_predicts_cells(run, tmp_path, as_text):
    cells = [(p, t) for p in range(12) for t in range(9) if (p + t) % 3]
    ids = [(f"u{p}", f"f{t}") if as_text else (p, float(t)) for p, t in cells]
    groups = NEOCC(2, 2, missing="ignore", remove_effects=True)
    model = CellPredictor(groups, n_models=2, random_state=0)
    model.fit(ids, [5.0 if (p < 6) == (t < 4) else 1.0 for p, t in cells])
    save_model(model, tmp_path / "model.neocc")
    asked = [*ids[:5], ids[0][:1] + ("none",), ("none", ids[0][1])]
    told = [(p, t if isinstance(t, str) else int(t)) for p, t in asked]
    (tmp_path / "pairs.csv").write_text("user,film\n" + "".join(f"{p},{t}\n" for p, t in told))
    ran = run("predict", "model.neocc", "pairs.csv", "--cells", "--json")
    assert ran.code == 0, ran.err
    found = [cell["value"] for cell in json.loads(ran.out)["cells"]]
    assert found == model.predict(asked).tolist()
    for command in (
        ["predict", "model.neocc", "pairs.csv"],
        ["report", "model.neocc"],
        ["score", "model.neocc", "model.neocc"],
    ):
        ran = run(*command)
        assert ran.code == 2
        assert "holds a CellPredictor" in " ".join(ran.err.split())


def test_ids_that_read_alike_are_not_mixed_up(run, tmp_path):
    model = CellPredictor(n_models=1).fit([(1, "a"), ("1", "a")] * 2, [1.0, 2.0, 1.0, 2.0])
    save_model(model, tmp_path / "model.neocc")
    (tmp_path / "pairs.csv").write_text("1,a\n")
    ran = run("predict", "model.neocc", "pairs.csv", "--cells")
    assert ran.code == 2
    assert "several rows called '1'" in " ".join(ran.err.split())


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


def test_a_model_knows_that_missing_cells_do_not_count(run, tmp_path, ratings):
    table = as_table(tmp_path / "table.csv", ratings)
    assert run("fit", table, *FIT, "-o", "out").code == 0
    (tmp_path / "alone").mkdir()
    shutil.copy(tmp_path / "out" / "model.neocc", tmp_path / "alone")
    told = run("predict", "out", table, "--missing", "ignore", "--json")
    for model in ("out", "alone"):
        ran = run("predict", model, table, "--json")
        assert ran.code == 0, ran.err
        assert ran.out == told.out
    filled = run("predict", "out", table, "--missing", "zero", "--json")
    assert json.loads(filled.out)["rows"] != json.loads(told.out)["rows"]
    assert "fitted with --missing ignore; here blank" in json.loads(filled.out)["notes"][-1]
    assert run("predict", "out", table, "--missing", "error").code == 2
    ran = run("report", "alone/model.neocc", "--data", table)
    assert ran.code == 0, ran.err


def test_a_model_of_full_tables_has_no_use_for_missing_cells(run, tmp_path, women, women_result):
    ran = run("predict", women_result, women, "--missing", "ignore")
    assert ran.code == 2
    assert "not fitted with --missing ignore" in ran.err
    lines = women.read_text().splitlines()
    filled = lines[1].replace(",0", ",", 1)
    women.write_text("\n".join([lines[0], filled, *lines[2:]]) + "\n")
    options = ("--missing", "zero", "--rows", 2, "--columns", 2, "--no-report", "--n-init", 1)
    assert run("fit", women, *options, "-o", "out").code == 0
    ran = run("predict", "out", women)
    assert ran.code == 0, ran.err


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
