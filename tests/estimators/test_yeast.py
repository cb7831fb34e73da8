"""The anchors of methods.md section 8: the good basin of the yeast data is found."""

from __future__ import annotations

import csv
import gzip

import numpy as np
import pytest

from neocc import NEOCC

# At the paper's overlap many of the clusters coincide.
pytestmark = pytest.mark.filterwarnings("ignore::neocc.RedundancyWarning")


@pytest.fixture
def tables(data_folder):
    """Return features and functional classes of the genes."""
    with gzip.open(data_folder / "yeast" / "yeast.csv.gz", "rt") as file:
        lines = csv.reader(file)
        is_feature = np.array([name.startswith("Att") for name in next(lines)])
        table = np.array(list(lines)).astype(float)
    features, classes = table[:, is_feature], table[:, ~is_feature]
    assert (features.shape, classes.shape) == ((2417, 103), (2417, 14))
    return features, classes


@pytest.fixture
def yeast(tables):
    return tables[0]


def make_model(**options):
    return NEOCC(14, 3, row_overlap=3.237, column_overlap=0.2, **options)


def best_match_f1(classes, members):
    """Return the score of methods.md section 1, in percent."""
    shared = classes.T @ members
    f1 = 2 * shared / np.add.outer(classes.sum(axis=0), members.sum(axis=0))
    return 100 * f1.max(axis=1).mean()


def test_the_lowest_of_twenty_starts_is_in_the_good_basin(yeast):
    model = make_model(refine=False, n_init=20, random_state=0).fit(yeast)
    assert model.objective_ <= 10_100
    assert model.row_membership_.sum() == 2417 + 7824
    assert model.column_membership_.sum() == 103 + 21


def test_refinement_ends_no_higher_than_plain_starts(yeast):
    plain = make_model(refine=False, n_init=3, random_state=0).fit(yeast)
    refined = make_model(n_init=3, random_state=0).fit(yeast)
    assert refined.objective_ <= plain.objective_


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("objective", "highest", "least_f1"), [("mean", 10_075.2, 40.7), ("residue", 8_349.6, 38.5)]
)
def test_thorough_searches_find_the_best_known_basin(tables, objective, highest, least_f1, seed):
    features, classes = tables
    model = make_model(objective=objective, refine="thorough", random_state=seed).fit(features)
    assert model.objective_ <= highest
    assert best_match_f1(classes, model.row_membership_) >= least_f1


def test_no_two_clusters_of_means_coincide(yeast):
    """At the paper's overlap, where seven of the paper's own clusters do."""
    options = {"overlap_model": "average", "max_memberships": 5, "n_init": 2, "random_state": 0}
    model = make_model(refine=False, **options).fit(yeast)
    members = model.row_membership_.astype(float)
    both = members.T @ members
    sizes = members.sum(axis=0)
    jaccard = both / (np.add.outer(sizes, sizes) - both)
    assert jaccard[~np.eye(14, dtype=bool)].max() < 0.9
    assert members.sum(axis=1).max() <= 5
