"""``--overlap-model`` and ``--max-memberships``: said, kept, repeated, and used for new rows."""

from __future__ import annotations

import json

import numpy as np
import pytest

from neocc import NEOCC
from neocc.cli._settings import OVERLAP_MODELS as OFFERED
from neocc.core.overlap import OVERLAP_MODELS
from neocc.datasets import make_coclusters
from neocc.io import load_model, write_matrix
from neocc.report._words import OVERLAP_MODELS as EXPLAINED

FRACTIONS = {"row_overlap": 0.2, "row_outliers": 0.05, "column_overlap": 0.1}
OPTIONS = ("--rows", 3, "--columns", 3, "--row-overlap", 0.2, "--row-outliers", 0.05)
OPTIONS += ("--column-overlap", 0.1, "--column-outliers", 0, "--n-init", 2)
OPTIONS += ("--no-refine", "--no-report")


@pytest.fixture
def planted(tmp_path):
    X, _, _ = make_coclusters((60, 30), 3, 3, **FRACTIONS, noise=0.5, random_state=3)
    write_matrix(X, tmp_path / "planted.npy")
    return X


def test_the_options_offer_all_models_and_explain_them():
    assert set(OFFERED) == {*OVERLAP_MODELS, "auto"}
    assert set(OVERLAP_MODELS) == set(EXPLAINED)


RESIDUES = [(name, "residue") for name in ("average", "sum", "either")]


@pytest.mark.parametrize(("name", "objective"), [*((name, "mean") for name in OFFERED), *RESIDUES])
def test_a_model_is_said_kept_repeated_and_used(run, planted, tmp_path, name, objective):
    options = (*OPTIONS, "--overlap-model", name, "--max-memberships", 2, "--objective", objective)
    ran = run("fit", "planted.npy", *options, "-o", "out")
    if objective == "residue" and name in ("sum", "either"):
        assert ran.code == 2
        assert f"--overlap-model {name} makes no sense for --objective residue" in ran.err
        return
    fractions = dict(FRACTIONS)
    if name == "either":
        assert ran.code == 2
        assert "--overlap-model either needs columns of one cluster each" in ran.err
        fractions["column_overlap"] = 0.0
        ran = run("fit", "planted.npy", *options, "--column-overlap", 0, "-o", "out")
    assert ran.code == 0, ran.err
    # Rows are planted as means.
    used = "average" if name == "auto" else name
    who = "rows" if name == "either" else "rows or columns"
    most = f"none of the {who} may be in more than 2 groups"
    assert f"Overlap model {used}: {EXPLAINED[used]}; {most}." in ran.words
    whys = ("every seed ends lower", "in doubt, the mean", "no other to compare")
    assert any(why in ran.words for why in whys) == (name == "auto")
    settings = json.loads((tmp_path / "out" / "record.json").read_text())["settings"]
    assert (settings["overlap_model"], settings["max_memberships"]) == (name, 2)
    expected = NEOCC(
        *(3, 3),
        **fractions,
        objective=objective,
        overlap_model=name,
        max_memberships=2,
        n_init=2,
        refine=False,
        random_state=0,
    ).fit(planted)
    found = load_model(tmp_path / "out" / "model.neocc")
    assert found.get_params() == expected.get_params()
    assert found.objective_ == expected.objective_
    np.testing.assert_array_equal(found.row_membership_, expected.row_membership_)
    assert found.row_membership_.sum(axis=1).max() == 2

    assert run("fit", "--from", "out/record.json", "-o", "again", "--quiet").code == 0
    for file in ("rows.csv", "columns.csv", "blocks.csv", "model.neocc"):
        assert (tmp_path / "again" / file).read_bytes() == (tmp_path / "out" / file).read_bytes()

    new = planted[::-3] + 0.1
    write_matrix(new, tmp_path / "new.npy")
    told = json.loads(run("predict", "out", "new.npy", "--json").out)["rows"]
    groups = [(np.flatnonzero(each) + 1).tolist() for each in expected.predict_membership(new)]
    assert [each["groups"] for each in told] == groups
    assert max(map(len, groups)) == 2


def test_without_an_option_it_is_chosen_with_a_reason(run, planted, tmp_path):
    ran = run("fit", "planted.npy", *OPTIONS, "-o", "out")
    assert f"Overlap model average: {EXPLAINED['average']}. " in ran.words  # of 3 groups, no limit
    assert "but not fitted again, the same memberships explain" in ran.words
    assert "every seed ends lower than with any other" in ran.words
    assert "cost per cell: average " in ran.words
    settings = json.loads((tmp_path / "out" / "record.json").read_text())["settings"]
    assert (settings["overlap_model"], settings["overlap_model_used"]) == ("auto", "average")
    found = load_model(tmp_path / "out" / "model.neocc")
    assert (found.overlap_model, found.max_memberships) == ("auto", None)
    assert found.overlap_choice_.model == "average"


def test_a_record_from_before_there_were_models_is_repeated_with_the_papers(run, planted, tmp_path):
    run("fit", "planted.npy", *OPTIONS, "--overlap-model", "repeat", "-o", "out")
    record = json.loads((tmp_path / "out" / "record.json").read_text())
    del record["settings"]["overlap_model"], record["settings"]["max_memberships"]
    (tmp_path / "old.json").write_text(json.dumps(record))
    assert run("fit", "--from", "old.json", "-o", "again", "--quiet").code == 0
    one, other = (tmp_path / each / "model.neocc" for each in ("out", "again"))
    assert one.read_bytes() == other.read_bytes()


def test_columns_left_open_are_disjoint_if_they_must_be(run, planted, tmp_path):
    options = ("--rows", 3, "--columns", 3, "--overlap-model", "either", "--overlap-rule", "first")
    ran = run("fit", "planted.npy", *options, "-o", "out", "--no-refine", "--no-report")
    assert ran.code == 0, ran.err
    assert "one group each (--overlap-model either)" in ran.words
    found = load_model(tmp_path / "out" / "model.neocc")
    assert found.column_membership_.sum(axis=1).max() == 1


def test_an_estimated_overlap_keeps_the_bound(run, planted, tmp_path):
    options = ("--rows", 3, "--columns", 3, "--overlap-rule", "first", "--no-refine")
    for bound in (1, 2):
        asked = ("--overlap-model", "share", "--max-memberships", bound)
        ran = run("fit", "planted.npy", *options, *asked, "-o", f"out{bound}", "--no-report")
        assert ran.code == 0, ran.err
        found = load_model(tmp_path / f"out{bound}" / "model.neocc")
        assert found.row_membership_.sum(axis=1).max() <= bound


def test_a_bound_that_given_overlap_breaks_is_refused_in_words_of_the_command(run, planted):
    ran = run("fit", "planted.npy", *OPTIONS, "--max-memberships", 1, "-o", "out")
    assert ran.code == 2
    assert "--row-overlap=0.2 is above --max-memberships - 1 = 0" in ran.err
    assert "max_memberships" not in ran.err


def test_settings_files_know_them(run, planted, tmp_path):
    (tmp_path / "settings.toml").write_text(
        'file = "planted.npy"\noverlap_model = "average"\nmax_memberships = 3\n'
    )
    assert run("fit", "--config", "settings.toml", *OPTIONS, "-o", "out", "--quiet").code == 0
    found = load_model(tmp_path / "out" / "model.neocc")
    assert (found.overlap_model, found.max_memberships) == ("average", 3)
    (tmp_path / "settings.toml").write_text('file = "planted.npy"\noverlap_model = "mean"\n')
    ran = run("fit", "--config", "settings.toml")
    assert ran.code == 2
    assert "line 2" in ran.err
    assert '"average"' in ran.err


def test_suggest_passes_them_on(run, planted):
    asked = ("--overlap-model", "average", "--max-memberships", 2)
    ran = run("suggest", "planted.npy", "--rows", "3", "--columns", "3", "--n-init", 1, *asked)
    assert ran.code == 0, ran.err
    assert "--overlap-model average --max-memberships 2 --rows 3 --columns 3" in ran.words
    ran = run("suggest", "planted.npy", "--objective", "residue", "--overlap-model", "sum")
    assert ran.code == 2
    assert "makes no sense" in ran.err


def test_the_smallest_group_is_said_kept_and_bounded(run, planted, tmp_path):
    asked = (*OPTIONS, "--overlap-model", "average", "--min-cluster-size")
    assert run("fit", "planted.npy", *asked, 9, "-o", "out").code == 0
    found = load_model(tmp_path / "out" / "model.neocc")
    assert found.min_cluster_size == 9
    assert (
        min(found.row_membership_.sum(axis=0).min(), found.column_membership_.sum(axis=0).min())
        >= 9
    )
    assert run("fit", "--from", "out/record.json", "-o", "again", "--quiet").code == 0
    refused = run("fit", "planted.npy", *asked, 50, "-o", "none")
    assert refused.code == 2
    assert "--min-cluster-size=50 asks for 150 memberships" in refused.err
    assert "min_cluster_size" not in refused.err
    # Fits before there was this setting asked for one member.
    record = json.loads((tmp_path / "out" / "record.json").read_text())
    del record["settings"]["min_cluster_size"]
    (tmp_path / "old.json").write_text(json.dumps(record))
    assert run("fit", "--from", "old.json", "-o", "old", "--quiet").code == 0
    assert load_model(tmp_path / "old" / "model.neocc").min_cluster_size == 1


def test_the_distance_shown_is_that_to_the_nearest_group(run, planted):
    """Those of a set would be costs; single groups have distances under every model."""
    assert run("fit", "planted.npy", *OPTIONS, "--overlap-model", "sum", "-o", "out").code == 0
    assert "nearest distance" in run("predict", "out", "planted.npy").words


def test_groups_at_the_mean_of_others_are_not_counted(run, tmp_path):
    X, _, _ = make_coclusters((120, 60), 4, 3, row_overlap=0.2, random_state=0)
    write_matrix(X, tmp_path / "shared.npy")
    options = ("--objective", "mean", "--preprocess", "none", "--seed", 0)
    said = run("suggest", "shared.npy", *options)
    assert "4 groups of rows and 3 of columns" in said.words
    assert "of these are means of others: 4 overlap" in said.words
    ran = run("fit", "shared.npy", *options, "--no-refine", "--no-report", "-o", "out")
    assert "4 groups of rows and 3 of columns" in ran.words
    assert load_model(tmp_path / "out" / "model.neocc").block_means_.shape == (4, 3)
