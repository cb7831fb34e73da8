"""Trials: what is run, with which seeds, and how it is scored."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest
from sklearn.cluster import KMeans
from standins import BROKEN, FILMS, YEAST, make_study, small_study

from neocc import MSSR
from neocc.paper._data import DATA_SETS, load_task
from neocc.paper._study import make_study as real_study
from neocc.paper._systems import SYSTEMS, System, memberships
from neocc.paper._trial import Job, Trial

PRINTED = ("IPM", "ROCC", "MSSR1", "MSSR2", "NEO-iter", "NEO-lrsdp", "NEO-CC-M", "NEO-CC-RCM")


def literal_f1(true, found):
    """Best-match F1 written out."""
    return np.mean(
        [
            max(
                2 * np.sum(known & cluster) / max(known.sum() + cluster.sum(), 1)
                for cluster in found.T
            )
            for known in true.T
        ]
    )


def test_all_systems_of_the_paper_are_there_in_its_order():
    assert tuple(name for name in SYSTEMS if name != "k-means") == PRINTED
    assert "k-means" in SYSTEMS


def test_the_data_sets_are_those_of_the_paper_and_others():
    assert list(DATA_SETS)[:5] == ["yeast", "ml-a", "ml-b", "ml-c", "ml-d"]
    assert len(DATA_SETS) >= 7


def test_the_full_study_has_five_trials_of_every_system_on_every_data_set():
    full = real_study()
    jobs = full.jobs()
    assert len(set(jobs)) == len(jobs)
    for data in DATA_SETS.values():
        for treatment in data.treatments:
            for system in SYSTEMS:
                for trial in range(1, 6):
                    assert Job(data.name, treatment, system, trial) in jobs
    assert real_study(quick=True).n_trials == 2


def test_yeast_has_the_setting_of_the_paper():
    yeast = DATA_SETS["yeast"]
    assert (yeast.n_row_clusters, yeast.n_column_clusters) == (14, 3)
    assert (yeast.overlap, yeast.other_overlap, yeast.one_way_overlap) == (3.237, 0.2, 3.55)


def test_seeds_differ_by_trial_and_by_run_but_not_by_system():
    study = make_study(seed=3)
    seeds = {study.seed_of(job) for job in study.jobs()}
    assert seeds == {3001, 3002}
    assert not seeds & {make_study(seed=4).seed_of(job) for job in study.jobs()}


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize("data", [YEAST, FILMS[0]], ids=["rows", "columns"])
def test_every_system_is_scored_on_the_side_with_known_clusters(name, data):
    study = make_study(systems=SYSTEMS)
    job = Job(data.name, "raw", name, 1)
    trial = study.run(job)
    assert not trial.error
    task = load_task(data, "raw")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = SYSTEMS[name].make(task, study.seed_of(job), True)
        model.fit(task.items if SYSTEMS[name].one_way else task.X)
    found = memberships(model, data.side, 2)
    assert len(found) == len(task.truth)
    assert trial.scores["best-match F1"] == pytest.approx(literal_f1(task.truth, found))
    assert trial.n_memberships == found.sum()
    assert trial.n_outside == np.sum(found.sum(axis=1) == 0)
    assert trial.estimator.startswith(type(model).__name__ + "(")
    assert "random_state=1" in trial.estimator


def test_the_co_clusterer_finds_planted_clusters():
    trial = make_study().run(Job("yeast", "raw", "NEO-CC-M", 1))
    assert trial.scores["best-match F1"] > 0.95
    assert trial.scores["omega"] > 0.9


def test_overlaps_go_to_the_sides_they_belong_to():
    study = make_study()
    on_rows = study.describe(Job("yeast", "raw", "NEO-CC-M", 1))
    assert "row_overlap=0.2" in on_rows
    assert "column_overlap=0.1" in on_rows
    on_columns = study.describe(Job("ml-a", "raw", "NEO-CC-M", 1))
    assert "column_overlap=0.125" in on_columns
    assert "row_overlap" not in on_columns  # 0, which is the default


def test_a_description_can_be_typed():
    text = make_study().describe(Job("yeast", "raw", "NEO-CC-RCM", 2))
    model = eval(text, {"NEOCC": __import__("neocc").NEOCC})
    assert model.get_params()["objective"] == "residue"
    assert model.get_params()["random_state"] == 2


def test_a_fit_that_fails_is_a_result():
    study = small_study(systems={"broken": BROKEN})
    trial = study.run(Job("yeast", "raw", "broken", 1))
    assert trial.error == "ValueError: there is something about this matrix"
    assert trial.scores == {}


class Warned(KMeans):
    def fit(self, X):
        for _ in range(2):
            warnings.warn("rather few", UserWarning, stacklevel=1)
        return super().fit(X)


def test_warnings_are_kept_once():
    system = System("warned", Warned, lambda task: {"n_clusters": 2})
    trial = small_study(systems={"warned": system}).run(Job("yeast", "raw", "warned", 1))
    assert trial.notes == ["rather few"]


def test_labels_become_memberships():
    model = KMeans(2)
    model.labels_ = np.array([0, 1, 1])
    assert memberships(model, "rows", 2).tolist() == [[True, False], [False, True], [False, True]]
    model = MSSR()
    model.row_labels_, model.column_labels_ = np.array([0]), np.array([1, 0])
    assert memberships(model, "columns", 2).tolist() == [[False, True], [True, False]]


def test_a_trial_survives_being_written():
    trial = make_study().run(Job("yeast", "raw", "NEO-CC-M", 1))
    assert Trial.from_json(trial.to_json()) == trial


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda text: text[: len(text) // 2], "line"),
        (lambda text: "[]", "no trial"),
        (lambda text: text.replace('"version": 1', '"version": 99'), "another version"),
        (lambda text: text.replace('"neocc paper trial"', '"something else"'), "no trial"),
        (lambda text: text.replace('"seconds"', '"hours"'), "other parts"),
        (lambda text: text.replace('"trial": 1', '"trial": 1, "more": 2'), "more"),
    ],
)
def test_what_is_no_trial_is_refused(spoil, said):
    text = Trial(Job("yeast", "raw", "k-means", 1), "KMeans()", 0.5).to_json()
    assert spoil(text) != text
    with pytest.raises(ValueError, match=said):
        Trial.from_json(spoil(text))


def test_file_names_tell_jobs_apart():
    jobs = real_study().jobs()
    names = {job.file_name for job in jobs}
    assert len(names) == len(jobs)
    assert not any(set(name) & set('/\\:*?"<>|') for name in names)


def test_a_figure_keeps_members_in_plain_lists():
    trial = make_study().run(Job("ml-a", "raw", "figure 1", 1))
    members = json.loads(trial.to_json())["members"]
    assert len(members["rows"]) == len(members["columns"]) == 2
    covered = set().union(*members["rows"])
    assert len(covered) >= 39  # of 40 rows, one may be left out
