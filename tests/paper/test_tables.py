"""Tables in the paper's form, and the numbers in them."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest
from standins import FEW, FILMS, YEAST, small_study

from neocc.metrics import best_match_f1, trivial_baseline
from neocc.paper import _tables, _words
from neocc.paper._data import CHOSEN
from neocc.paper._document import (
    Figure,
    Heading,
    Items,
    Row,
    Table,
    Text,
    as_csv,
    as_html,
    as_markdown,
)
from neocc.paper._errata import errata, printed_objective, wrong_averages
from neocc.paper._expected import expectations
from neocc.paper._printed import PRINTED_AVERAGES, PRINTED_TRIALS
from neocc.paper._results import Results, Scores
from neocc.paper._store import Store
from neocc.paper._treatments import explained, treated
from neocc.paper._trial import MEASURES, Job, Trial


@pytest.fixture
def results():
    """Two systems on yeast with made-up scores, in fractions."""
    study = small_study()
    f1 = {"k-means": (0.2, 0.3), "NEO-CC-M": (0.41, 0.42)}
    trials = {}
    for system, scores in f1.items():
        for number, score in enumerate(scores, 1):
            job = Job("yeast", "raw", system, number)
            values = dict.fromkeys(MEASURES, score)
            trials[job] = Trial(job, study.describe(job), 1.5, values, 2, 48, 0)
    return Results(study, trials)


def read(table):
    return list(csv.reader(io.StringIO(as_csv(table))))


# ------------------------------------------------------------------------------------- statistics


def test_the_deviation_is_that_of_a_sample():
    trials = (37.0, 29.5, 12.7, 21.1, 11.8)
    scores = Scores(trials)
    assert (scores.best, scores.worst) == (37.0, 11.8)
    assert scores.mean == pytest.approx(sum(trials) / 5)
    spread = sum((trial - scores.mean) ** 2 for trial in trials)
    assert scores.deviation == pytest.approx((spread / 4) ** 0.5)
    assert Scores((3.0,)).deviation == 0.0


def test_printed_averages_and_deviations_follow_from_printed_trials_but_for_one():
    assert [each[:2] for each in wrong_averages()] == [("yeast", "NEO-CC-M")]
    for data, systems in PRINTED_TRIALS.items():
        assert set(systems) == set(PRINTED_AVERAGES[data])
        for system, trials in systems.items():
            assert len(trials) == 5
            deviation = PRINTED_AVERAGES[data][system][1]
            assert Scores(trials).deviation == pytest.approx(deviation, abs=0.1)


def test_scores_need_all_trials(results):
    assert results.scores("yeast", "raw", "k-means").trials == (0.2, 0.3)
    del results.trials[Job("yeast", "raw", "k-means", 2)]
    assert results.scores("yeast", "raw", "k-means") is None


def test_the_baseline_is_that_of_one_cluster(results):
    _, truth = YEAST.load()
    found = results.baselines["yeast"]["best-match F1"]
    assert found == pytest.approx(trivial_baseline(truth))
    assert found == pytest.approx(best_match_f1(truth, np.ones((len(truth), 1))))
    assert results.baselines["yeast"]["omega"] == pytest.approx(0, abs=1e-12)


# ------------------------------------------------------------------------------------ the tables


def test_table_3_has_the_form_of_the_paper(results):
    header, *lines = read(_tables.yeast_table(results, YEAST, "t", ""))
    assert header[2:] == ["", "trial 1", "trial 2", "best", "worst", "avg.", "std."]
    by_name = {line[2]: line[3:] for line in lines}
    assert by_name["NEO-CC-M"] == ["41.0", "42.0", "42.0", "41.0", "41.5", "0.7"]
    assert by_name["NEO-CC-M, printed"] == ["40.6", "40.6", "40.7", "36.2", "40.0", "2.0"]
    assert by_name["k-means"][0] == "20.0"
    assert "k-means, printed" not in by_name
    _, truth = YEAST.load()
    assert by_name["one cluster of all"][0] == f"{100 * trivial_baseline(truth):.1f}"


def test_the_highest_average_is_bold(results):
    table = _tables.yeast_table(results, YEAST, "t", "")
    bold = [row.cells[0] for row in table.rows if any("**" in cell for cell in row.cells)]
    assert bold == ["NEO-CC-M"]


def test_table_1_has_the_form_of_the_paper(results):
    table = _tables.system_columns_table(results, [(YEAST, "raw")], "t", "")
    header, *lines = read(table)
    assert header[2:] == ["", "k-means", "NEO-CC-M"]
    assert lines[0] == [lines[0][0], "ours", "trial 1", "20.0", "41.0"]
    by_name = {line[2]: line[3:] for line in lines}
    assert by_name["best"] == ["30.0", "42.0"]
    assert by_name["worst"] == ["20.0", "41.0"]
    assert by_name["average ± deviation"] == ["25.0 ± 7.1", "41.5 ± 0.7"]
    assert by_name["trials above one cluster of all"] == ["0 of 2", "0 of 2"]
    assert by_name["printed for yeast: average ± deviation"] == ["–", "40.0 ± 2.0"]


def test_missing_trials_leave_a_dash(results):
    results.trials.clear()
    for table in (
        _tables.yeast_table(results, YEAST, "t", ""),
        _tables.system_columns_table(results, [(YEAST, "raw")], "t", ""),
        _tables.time_table(results, "t", ""),
        *_tables.measure_tables(results),
    ):
        ours = [row for row in table.rows if row.kind == "ours"]
        assert all("–" in row.cells for row in ours)


def test_table_2_has_one_system(results):
    table = _tables.plaid_table(results, FILMS[0], "IPM", "t", "")
    assert table.rows[-1].cells == ["IPM on ML1, printed", "37.0", "29.5"]
    assert table.rows[0].cells == ["IPM on ml-a, raw", "–", "–"]


def test_every_measure_has_a_table_with_the_baseline(results):
    tables = list(_tables.measure_tables(results))
    assert len(tables) == len(MEASURES)
    assert len({table.name for table in tables}) == len(tables)
    for table in tables:
        assert table.header == ["", "k-means", "NEO-CC-M", "one cluster of all"]
        assert all(len(row.cells) == 4 for row in table.rows)
    assert tables[0].rows[0].cells[1:3] == ["25.0", "**41.5**"]
    assert tables[2].rows[0].cells[1:3] == ["0.250", "**0.415**"]


def test_the_table_of_preprocessings_names_the_best_other_system():
    study = small_study(
        data_sets={"ml-a": FILMS[0]}, tried_systems=("k-means", "MSSR2", "NEO-CC-M")
    )
    omegas = {"k-means": 0.1, "MSSR2": 0.3, "NEO-CC-M": 0.2}
    trials = {
        job: Trial(job, "", 0.0, {"omega": value})
        for system, value in omegas.items()
        for job in [Job("ml-a", "double-center", system, 1)]
    }
    table = _tables.tried_table(Results(study, trials), "t", "")
    assert table.header == ["", "ml-a: NEO-CC-M", "ml-a: best other"]
    rows = {row.cells[0]: row.cells[1:] for row in table.rows}
    assert rows["double-center"] == ["0.200", "**0.300** MSSR2"]
    assert rows["raw"] == ["–", "–"]


def test_trials_are_listed_with_all_scores_and_without_times(results):
    header, *lines = read(_tables.trials_table(results, "trials"))
    assert len(lines) == 4
    assert set(MEASURES) <= set(header)
    assert not any("1.5" in cell for line in lines for cell in line)


def test_a_page_says_so_when_trials_are_missing(results):
    assert not any("not complete" in text for text in _words.about(results))
    results.trials.popitem()
    assert any("3 of 4 fits" in text for text in _words.about(results))


# ------------------------------------------------------------------------------- what is expected


@pytest.mark.parametrize(("score", "holds"), [(0.4071, True), (0.4069, False)])
def test_expectations_of_yeast_are_checked_in_every_trial(results, score, holds):
    job = Job("yeast", "raw", "NEO-CC-M", 2)
    results.trials[job] = Trial(job, "", 1.0, {"best-match F1": score})
    found = [each for each in expectations(results) if "NEO-CC-M at least 40.7" in each.says]
    assert [each.holds for each in found] == [holds]


def test_the_case_study_is_among_what_is_expected(results):
    assert expectations(results)[-1].holds
    assert expectations(results)[-1].found == "4 of 4"


@pytest.mark.parametrize(("other", "won"), [(0.2, True), (0.4, False)])
def test_omega_on_movielens_is_compared_with_every_other_system(other, won):
    sets = {data.name: data for data in FILMS}
    study = small_study(data_sets=sets, systems=FEW, n_trials=1)
    trials = {}
    for data in FILMS:
        for system, omega in {"k-means": other, "NEO-CC-RCM": 0.3, "NEO-CC-M": 0.9}.items():
            job = Job(data.name, CHOSEN, system, 1)
            trials[job] = Trial(job, "", 0.0, {"omega": omega})
    found = {each.says: each.holds for each in expectations(Results(study, trials))}
    assert [holds for says, holds in found.items() if "every system" in says] == [won]
    assert [holds for says, holds in found.items() if "ml-a" in says] == [True]


# ------------------------------------------------------------------------------------- the errata


def literal_residue(X, U, V):
    """Sum of squared residues, element by element."""
    total = 0.0
    for u in U.T:
        for v in V.T:
            block = X[np.ix_(u, v)]
            rows, columns = block.mean(axis=1, keepdims=True), block.mean(axis=0, keepdims=True)
            total += ((block - rows - columns + block.mean()) ** 2).sum()
    return total


def literal_printed(X, U, V):
    """The printed matrix form, with explicit projections."""
    total = 0.0
    for u in U.T.astype(float):
        for v in V.T.astype(float):
            P, Q = np.outer(u, u) / u.sum(), np.outer(v, v) / v.sum()
            total += ((np.diag(u) @ X @ np.diag(v) - P @ X - X @ Q + P @ X @ Q) ** 2).sum()
    return total


def test_the_printed_objective_is_what_is_printed_and_is_not_the_residue():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6, 5))
    U = np.repeat(np.eye(2, dtype=bool), 3, axis=0)
    V = np.array([[1, 0], [1, 0], [1, 1], [0, 1], [0, 1]], dtype=bool)
    assert printed_objective(X, U, V) == pytest.approx(literal_printed(X, U, V))
    assert printed_objective(X, U, V) > 2 * literal_residue(X, U, V)
    whole = np.ones((6, 1), dtype=bool), np.ones((5, 1), dtype=bool)
    assert printed_objective(X, *whole) == pytest.approx(literal_residue(X, *whole))


def test_errata_are_checked_in_the_run():
    text = " ".join(errata(0))
    assert "agrees with the element-wise form on 0 of 200" in text
    assert "200 of 200 of these with the right form and for 0 with the printed one" in text
    assert "in 0 the right one" in text
    assert "in 0 of 60 runs" not in text
    assert "39.74" in text
    assert errata.__wrapped__(0) == errata(0)


# ---------------------------------------------------------------------------------- preprocessing


def test_treatments_do_what_they_say():
    X, _ = FILMS[0].load()
    both = treated(X, "row-norm+column-norm")
    np.testing.assert_allclose(np.sqrt(both.multiply(both).sum(axis=0)), 1)
    rows = X.toarray() / np.linalg.norm(X.toarray(), axis=1, keepdims=True)
    np.testing.assert_allclose(both.toarray(), rows / np.linalg.norm(rows, axis=0))
    centred = treated(X, "double-center")
    np.testing.assert_allclose(centred.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(centred.mean(axis=1), 0, atol=1e-12)
    weighted = treated(X, "column-tfidf")
    np.testing.assert_allclose(np.sqrt(weighted.multiply(weighted).sum(axis=0)), 1)
    assert treated(X, "raw") is X


def test_treatments_are_explained():
    assert explained("raw").startswith("the numbers as they are")
    assert explained("column-tfidf").startswith("weigh rows")


# -------------------------------------------------------------------------------------- documents

HARMFUL = "<script>a & b</script> | `x<y` **z**"


def test_pages_escape_what_they_are_given():
    parts = [Heading(HARMFUL, 1), Text(HARMFUL), Items([HARMFUL]), Figure("a.png", HARMFUL)]
    page = as_html([*parts, Table("t", HARMFUL, [HARMFUL], [Row([HARMFUL])])])
    assert "<script>" not in page
    assert "&lt;script&gt;a &amp; b" in page
    assert "<code>x&lt;y</code> <strong>z</strong>" in page


def test_markdown_tables_have_as_many_cells_everywhere():
    rows = [Row(["group"], "group"), Row(["a|b", "1"]), Row(["p", "2"], "printed")]
    lines = as_markdown([Table("t", "caption", ["", "x"], rows)]).splitlines()[2:]
    assert lines == [
        "|  | x |",
        "| --- | --- |",
        "| **group** |  |",
        "| a\\|b | 1 |",
        "| *p* | *2* |",
    ]


def test_csv_is_quoted_and_plain():
    table = Table("t", "", ["a"], [Row(['x, "y"']), Row(["**1** `f()`"])])
    assert read(table)[1:] == [["", "ours", 'x, "y"'], ["", "ours", "1 f()"]]


def test_results_are_read_from_the_folder(tmp_path):
    study = small_study()
    store = Store(tmp_path / "run", study, resume=False)
    trial = study.run(study.jobs()[0])
    store.write(trial)
    assert Results.of(study, store).trials == {trial.job: trial}
