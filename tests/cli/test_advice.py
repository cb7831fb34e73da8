"""``neocc fit`` looks at the data, says what it does with them and why, and repeats that."""

from __future__ import annotations

import csv
import json
import shlex
from pathlib import Path

import numpy as np
import pytest

from neocc.cli._given import from_options
from neocc.cli._settings import FitSettings
from neocc.cli._story import fit_again
from neocc.io import load_model, write_matrix, write_store

FEW = ("--rows", 2, "--columns", 2, "--n-init", 1, "--row-overlap", 0, "--row-outliers", 0)
FEW += ("--column-overlap", 0, "--column-outliers", 0)


def two_kinds(shape=(40, 24), seed=0):
    """Make two groups of rows and of columns, about 0."""
    rng = np.random.default_rng(seed)
    rows, columns = (np.arange(size) % 2 for size in shape)
    return np.where(rows[:, None] == columns, 1.0, -1.0) + 0.3 * rng.normal(size=shape)


def intensities():
    return np.exp2(8 + two_kinds() + 2 * np.random.default_rng(1).normal(size=(40, 1)))


def stars():
    rng = np.random.default_rng(2)
    X = np.clip(np.rint(3 + two_kinds() + 0.5 * rng.normal(size=(40, 24))), 1, 5)
    return X * (rng.random(X.shape) < 0.5)


def counts():
    rng = np.random.default_rng(3)
    return rng.poisson(np.exp(two_kinds() - 1)).astype(float)


def units():
    rng = np.random.default_rng(4)
    return two_kinds((40, 8)) * 10.0 ** rng.uniform(-2, 4, 8) + 3


def save(X, path):
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["name", *(f"c{j}" for j in range(X.shape[1]))])
        writer.writerows([f"r{i}", *map(repr, map(float, row))] for i, row in enumerate(X))


CASES = {
    "intensities": (intensities, ["log2", "double-center"], "mean"),
    "counts": (counts, [], "poisson"),
    "units": (units, ["column-standardize"], "mean"),
    "ratings": (stars, ["drop-zeros"], "mean"),
    "ratios": (two_kinds, [], "mean"),
}


@pytest.mark.parametrize("kind", CASES)
def test_what_is_done_is_said_recorded_and_repeated(run, tmp_path, kind):
    make, steps, objective = CASES[kind]
    X = make()
    save(X, tmp_path / "x.csv")
    ran = run("fit", "x.csv", *FEW, "-o", "out", "--json")
    assert ran.code == 0, ran.err
    answer = json.loads(ran.out)
    assert answer["data"]["kind"] == kind
    assert answer["settings"]["preprocess"] == steps
    assert answer["settings"]["objective"] == objective
    assert answer["settings"]["missing"] == ("ignore" if kind == "ratings" else "error")
    assert [one["what"] for one in answer["story"]["chosen"]] == [
        one["what"] for one in answer["choices"]
    ]
    record = json.loads((tmp_path / "out" / "record.json").read_text())
    assert record["settings"]["preprocess"] == steps
    assert record["settings"]["story"] == answer["story"]
    members = load_model(tmp_path / "out" / "model.neocc").row_membership_
    assert len(np.unique(members[::2], axis=0)) == len(np.unique(members[1::2], axis=0)) == 1
    # The same rows again, without the groups being known: preprocessed as they were.
    ran = run("predict", "out", "x.csv", "--json")
    assert ran.code == 0, ran.err
    found = [row["groups"] for row in json.loads(ran.out)["rows"]]
    assert found == [[int(row.argmax()) + 1] for row in members]
    ran = run("fit", "--from", "out/record.json", "-o", "again")
    assert ran.code == 0, ran.err
    for name in ("rows.csv", "blocks.csv"):
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "again" / name).read_bytes()
    again = json.loads((tmp_path / "again" / "record.json").read_text())
    assert again["settings"]["story"] == answer["story"]


def test_the_page_tells_the_story(run, tmp_path):
    save(intensities(), tmp_path / "x.csv")
    ran = run("fit", "x.csv", *FEW, "-o", "out")
    for part in (
        "The data 40 rows and 24 columns that look like intensities",
        "Chosen for you Take logarithms to base 2",
        "(--preprocess log2)",
        "The same in the units of the file",
        "How sure Groups explain",
        "What to try next",
        "neocc fit x.csv --rows 2 --columns 2",
        "--preprocess none -o out-2",
    ):
        assert part in ran.words
    page = (tmp_path / "out" / "report.html").read_text()
    for part in ("What was done, and why", "look like intensities", "file: ", "--preprocess none"):
        assert part in page
    assert run("report", "out").code == 0
    assert (tmp_path / "out" / "report.html").read_text() == page


def test_block_means_are_in_the_units_of_the_file_where_there_is_one(run, tmp_path):
    X = intensities()
    save(X, tmp_path / "x.csv")
    answer = json.loads(run("fit", "x.csv", *FEW, "-o", "out", "--json").out)
    model = load_model(tmp_path / "out" / "model.neocc")
    literal = [
        [X[np.ix_(u, v)].mean() for v in model.column_membership_.T]
        for u in model.row_membership_.T
    ]
    np.testing.assert_allclose(answer["story"]["block_means"], literal)
    with (tmp_path / "out" / "blocks.csv").open() as file:
        written = [float(line["mean_before"]) for line in csv.DictReader(file)]
    np.testing.assert_allclose(written, np.ravel(literal))
    save(units(), tmp_path / "y.csv")
    answer = json.loads(run("fit", "y.csv", *FEW, "-o", "units", "--json").out)
    assert answer["story"]["block_means"] is None
    assert "mean_before" not in (tmp_path / "units" / "blocks.csv").read_text()


@pytest.mark.parametrize(
    ("options", "steps", "objective"),
    [
        (("--preprocess", "none"), [], "poisson"),
        (("--objective", "mean"), ["binormalize"], "mean"),
        (("--preprocess", "log1p"), ["log1p"], "mean"),
        (("--preprocess", "none", "--objective", "residue"), [], "residue"),
        (("--preprocess", "auto", "--objective", "auto"), [], "poisson"),
        (("--overlap-model", "sum"), ["binormalize"], "mean"),
        (("--missing", "ignore"), [], "mean"),
    ],
)
def test_what_is_given_stays(run, tmp_path, options, steps, objective):
    save(counts(), tmp_path / "x.csv")
    ran = run("fit", "x.csv", *FEW, *options, "--no-report", "--json")
    assert ran.code == 0, ran.err
    settings = json.loads(ran.out)["settings"]
    assert (settings["preprocess"], settings["objective"]) == (steps, objective)


def test_none_and_auto_stand_alone(run, women):
    ran = run("fit", women, "--preprocess", "none", "--preprocess", "log1p")
    assert ran.code == 2
    assert '"none", or steps that' in ran.err


def test_numbers_are_chosen_for_counts_and_ratings_too(run, tmp_path):
    for name, make in (("counts", counts), ("ratings", stars)):
        save(make()[:20, :10], tmp_path / f"{name}.csv")
        ran = run("fit", f"{name}.csv", "--columns", 2, "--n-init", 1, "--no-report", "--json")
        assert ran.code == 0, ran.err
        assert isinstance(json.loads(ran.out)["settings"]["rows"], int)


def test_ids_and_lists_are_named_with_the_way_out(run, tmp_path):
    X = np.column_stack([np.random.default_rng(0).permutation(40) + 100, units()])
    write_matrix(X, tmp_path / "x.npy")
    answer = json.loads(run("fit", "x.npy", *FEW, "--no-report", "--json").out)
    assert answer["data"]["id_columns"] == ["column 1"]
    assert "--drop" not in str(answer["story"]["next"])  # which is for tables of text
    np.savetxt(tmp_path / "x.csv", X, delimiter=",")
    given = ("--no-row-names", "--no-header", "--no-report", "--json")
    answer = json.loads(run("fit", "x.csv", *FEW, *given, "-o", "o").out)
    command = answer["story"]["next"][0]["command"]
    assert "--drop 1 " in command
    assert run(*shlex.split(command)[1:], "--quiet").code == 0


def test_a_store_is_used_as_it_is_and_told_what_would_help(run, tmp_path):
    write_store(tmp_path / "x.blocks", intensities(), rows_per_block=16)
    for options in ((), ("--preprocess", "none")):
        ran = run("fit", "x.blocks", *FEW, *options, "--no-report", "--json", "--force")
        assert ran.code == 0, ran.err
        answer = json.loads(ran.out)
        assert answer["settings"]["preprocess"] == []
        told = "Not done, because a block store is used as it is" in answer["choices"][0]["what"]
        assert told == (options == ())


def test_zeros_of_a_stored_table_of_ratings_are_not_left_out_behind_its_back(run, tmp_path):
    write_store(tmp_path / "x.blocks", stars(), rows_per_block=16)
    ran = run("fit", "x.blocks", *FEW, "--no-report", "--json")
    assert ran.code == 0, ran.err
    answer = json.loads(ran.out)
    assert answer["settings"]["missing"] == "error"
    assert answer["settings"]["objective"] == "mean"
    assert "Not done" in answer["choices"][0]["what"]


def test_what_to_try_next_works_as_it_stands(run, tmp_path):
    """Commands repeat how the file is read, and write beside what is there."""
    X = np.round(units(), 3)
    lines = [";".join(["x", *map(str, line)]).replace(".", ",") for line in X.tolist()]
    (tmp_path / "my data.csv").write_text("\n".join(lines) + "\n")
    given = ["--no-header", "--no-row-names", "--delimiter", ";", "--decimal", ",", "--no-report"]
    given += ["--drop", "1", "--rows", "2", "--n-init", "1", "--seed", "3"]
    answer = json.loads(run("fit", "my data.csv", *given, "-o", "out", "--json").out)
    tried = [one["command"] for one in answer["story"]["next"]]
    assert len(tried) == 2
    for command in tried:
        for option in ("--no-header", "--no-row-names", "--delimiter ';'", "--drop 1"):
            assert option in command
        ran = run(*shlex.split(command)[1:], "--json")
        assert ran.code == 0, ran.err
    again = json.loads((tmp_path / "out-2" / "record.json").read_text())["settings"]
    assert again["preprocess"] == []
    assert again["seed"] == 3


def test_ratings_that_look_like_counts_may_be_observed_cells(run, tmp_path):
    rng = np.random.default_rng(0)
    lines = [
        f"u{u},i{i},{1 + rng.integers(5) * rng.integers(2)}"
        for u in range(20)
        for i in range(10)
        if rng.random() < 0.6
    ]
    (tmp_path / "rat.csv").write_text("\n".join(["user,item,stars", *lines]) + "\n")
    given = ("--rows", "2", "--columns", "2", "--n-init", "1", "--no-report", "--json")
    story = json.loads(run("fit", "rat.csv", *given, "-o", "out").out)["story"]
    assert "look like counts" in story["data"]
    assert any("--missing ignore" in one["command"] for one in story["next"])
    again = run("fit", "rat.csv", "--missing", "ignore", *given, "-o", "again")
    answer = json.loads(again.out)
    assert "look like ratings" in answer["story"]["data"]
    assert answer["settings"]["remove_effects"]


def test_every_setting_can_be_said_again():
    """The options of a command line are those of the settings that differ from the defaults."""
    given = {
        "layout": "triplets",
        "header": False,
        "row_names": "gene",
        "triplet_columns": ("user", 2, "stars"),
        "delimiter": "\t",
        "drop": ("a b", "c*"),
        "preprocess": ("log1p", "row-norm"),
        "rows": 3,
        "row_overlap": 0.1,
        "refine": False,
        "report": False,
        "remove_effects": True,
        "missing": "ignore",
    }
    command = shlex.split(fit_again(Path("x y.csv"), FitSettings(**given), Path("out"), rows=4))
    assert command[:3] == ["neocc", "fit", "x y.csv"]
    assert command[-2:] == ["-o", "out"]
    read, name = {}, ""
    for word in command[3:-2]:
        if word.startswith("--"):
            name = word.removeprefix("--").replace("-", "_")
            read.setdefault(name, [])
        else:
            read[name].append(word)
    options = {n: True if v == [] else v[0] if len(v) == 1 else v for n, v in read.items()}
    found = from_options({**options, "rows": 4, "row_overlap": float(options["row_overlap"])})
    assert FitSettings(**found) == FitSettings(**{**given, "rows": 4})


def test_one_row_makes_one_group_in_plain_words(run, tmp_path):
    (tmp_path / "one.csv").write_text("a,b,c,d,e,f\n1,2,9,9.5,3,4\n")
    ran = run("fit", "one.csv", "--no-report")
    assert ran.code == 0, ran.err
    assert "one.csv: 1 row, 6 columns" in ran.words
    assert "1 group of rows and 1 of columns" in ran.words
    assert "too few rows or columns to hold out any" in ran.words
    assert "stayed where it started" in ran.words
    assert "of rows and of columns there are could not be tried" in ran.words
    for nonsense in (
        "no groups could be told apart",
        "1 rows",
        "explain 0%",
        "ratings",
        "Overlap model",
    ):
        assert nonsense not in ran.words


def test_block_means_say_of_which_values_they_are(run, tmp_path):
    save(units(), tmp_path / "x.csv")
    ran = run("fit", "x.csv", *FEW, "--no-report")
    assert "Mean of every block, of the values after column-standardize" in ran.words
    ran = run("fit", "x.csv", *FEW, "--no-report", "--preprocess", "none", "-o", "b")
    assert "of the values after" not in ran.words


def test_means_of_what_was_centred_are_zero(run, tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 4)) + 1e3
    save(X, tmp_path / "x.csv")
    one = ("--rows", 1, "--columns", 1, "--no-report")
    ran = run("fit", "x.csv", *one, "--preprocess", "column-standardize")
    assert r"rows \ columns 1 1 0 " in ran.words
    means = json.loads((tmp_path / "x-coclusters" / "record.json").read_text())
    assert means["settings"]["story"]["block_means"][0][0] == pytest.approx(X.mean(), rel=1e-5)


def test_errors_are_json_where_answers_are(run, tmp_path):
    for arguments in (("fit", "nowhere.csv"), ("fit", "x.csv", "--rows", 0), ("suggest", "no.csv")):
        (tmp_path / "x.csv").write_text("a,b\n1,2\n")
        ran = run(*arguments, "--json")
        assert ran.code == 2
        said = json.loads(ran.out)["error"]
        assert said.split()[0] in ran.err
        assert run(*arguments).out == ""
