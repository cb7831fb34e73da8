"""``neocc suggest``: ranked numbers of groups."""

from __future__ import annotations

import json

import pytest

from neocc import NEOCC
from neocc.cli._choose import choose
from neocc.cli._load import draw_to_choose
from neocc.cli._settings import FitSettings
from neocc.cli.fitting import range_of
from neocc.datasets import load_southern_women, make_coclusters
from neocc.selection import suggest_n_clusters


def test_the_ranking_is_that_of_the_library(run, women):
    ran = run("suggest", women, "--rows", "2,4", "--columns", "2", "--seed", 1, "--json")
    assert ran.code == 0, ran.err
    answer = json.loads(ran.out)
    X = load_southern_women().data
    expected = suggest_n_clusters(X, [2, 4], [2], random_state=1)
    assert (answer["best"]["rows"], answer["best"]["columns"]) == expected.best
    assert [row["error"] for row in answer["table"]] == expected.table["error"].tolist()
    assert answer["criterion"] == "prediction"
    assert answer["clear"] is expected.is_clear
    assert answer["complete"] is True
    assert set(answer["estimates"]) == {
        "row_overlap",
        "row_outliers",
        "column_overlap",
        "column_outliers",
    }


def test_a_ranking_by_a_published_criterion(run, women):
    options = ("--rows", "2-4", "--columns", "2,3", "--seed", 1, "--criterion", "icl", "--json")
    answer = json.loads(run("suggest", women, *options).out)
    X = load_southern_women().data
    expected = suggest_n_clusters(X, [2, 3, 4], [2, 3], criteria="icl", random_state=1)
    assert (answer["best"]["rows"], answer["best"]["columns"]) == expected.best
    assert [row["objective"] for row in answer["table"]] == expected.table["objective"].tolist()


def test_the_page_gives_reasons(run, women):
    ran = run("suggest", women)
    assert ran.code == 0, ran.err
    assert "held-out cells" in ran.words
    assert "parts agree" in ran.words
    assert max(map(len, ran.out.splitlines()[:-1])) <= 80


def test_the_page_leads_to_the_next_command(run, women):
    ran = run("suggest", women, "--rows", "2-3", "--columns", "2-3", "--criterion", "pseudo_f")
    assert ran.code == 0
    assert "Calinski" in ran.words
    *page, command = ran.out.splitlines()
    assert command == f"  neocc fit {women} --rows 2 --columns 2"
    assert max(map(len, page)) <= 80


def test_quiet(run, women):
    ran = run("suggest", women, "--rows", "2", "--columns", "2", "--quiet")
    assert (ran.code, ran.out, ran.err) == (0, "", "")


def test_too_many_groups(run, women):
    ran = run("suggest", women, "--rows", "2-40")
    assert ran.code == 2
    assert ran.err == "neocc: --rows asks for 40 clusters of 18 rows: ask for at most 18.\n"


@pytest.mark.parametrize("text", ["", "a", "3-2", "2-", "-2", "1-100000", "2.5"])
def test_ranges_that_are_none(run, women, text):
    ran = run("suggest", women, f"--rows={text}")
    assert ran.code == 2
    assert "--rows" in ran.err


def test_ranges():
    assert range_of("3") == [3]
    assert range_of("2-4,9") == [2, 3, 4, 9]


# ------------------------------------------------------------------------------------ choices


def chosen(X, settings):
    return choose(draw_to_choose(X, settings), settings)


def test_what_is_given_is_not_chosen():
    X = load_southern_women().data
    given = FitSettings(rows=2, columns=2, objective="mean", row_overlap=0.1, row_outliers=0.0)
    settings, choices, _ = chosen(X, given)
    assert (settings.rows, settings.columns, settings.row_overlap) == (2, 2, 0.1)
    assert [sorted(choice.options) for choice in choices] == [["column_outliers", "column_overlap"]]


@pytest.mark.parametrize(
    "given",
    [
        {"rows": 2, "columns": 2, "row_outliers": 0.1},
        {"rows": 2, "columns": 2, "row_overlap": 0.0, "max_memberships": 2},
        {"columns": 2, "row_overlap": 1.2},
        {"rows": 2, "columns": 2, "overlap_model": "either"},
    ],
)
def test_the_command_chooses_what_the_library_does(given):
    """Whoever is found to be left out frees no membership for others, where nothing overlaps."""
    X, _, _ = make_coclusters((40, 20), 2, 2, row_overlap=-0.05, row_outliers=0.05, random_state=0)
    given = {"objective": "mean", "overlap_model": "repeat", "n_init": 1, "jobs": 1, **given}
    asked = FitSettings(refine=False, **given)
    settings, choices, _ = chosen(X, asked)
    model = NEOCC(**asked.estimator_options).fit(X)
    assert model.block_means_.shape == (settings.rows, settings.columns)
    for members, word in ((model.row_membership_, "row"), (model.column_membership_, "column")):
        overlap, outliers = (getattr(settings, f"{word}_{x}") for x in ("overlap", "outliers"))
        assert members.sum() == len(members) + round(overlap * len(members))
        assert (~members.any(axis=1)).sum() <= round(outliers * len(members))
    assert settings.row_outliers == given.get("row_outliers", 0.05)
    assert settings.row_overlap == (given.get("row_overlap") or -settings.row_outliers)
    if "rows" not in given:
        assert "3 groups of rows" in choices[0].what
        assert "3 are taken, to leave room for the overlap given" in choices[0].why


@pytest.mark.parametrize("rule", ["first", "second"])
def test_the_rules_of_the_authors(rule):
    X = load_southern_women().data
    _, choices, _ = chosen(X, FitSettings(rows=2, columns=2, objective="mean", overlap_rule=rule))
    assert f"by the {rule} rule" in choices[0].why


def test_choices_repeat_themselves():
    X = load_southern_women().data
    asked = FitSettings(columns=2, objective="mean", seed=4)
    first, second = (chosen(X, asked)[0] for _ in range(2))
    assert first == second
