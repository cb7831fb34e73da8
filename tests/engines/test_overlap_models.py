"""Overlap models give the same memberships wherever the rows live, in however many pieces."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import oracle
import pytest
from instances import make_engine, make_membership, members
from instances import planted as planted_blocks
from scipy import sparse
from sides import check_half_steps, watched
from stores import CONTAINERS, MANY_BLOCKS, planted, same_bits, same_fit

from neocc import NEOCC, NEOKMeans
from neocc.core.objectives import KMEANS, OBJECTIVES
from neocc.core.overlap import OVERLAP_MODELS
from neocc.core.problem import Counts, Problem
from neocc.core.solve import solve
from neocc.engines import Workers, on_cluster
from neocc.io import write_store

# Small data with much overlap: clusters may well coincide.
pytestmark = pytest.mark.filterwarnings("ignore::neocc.RedundancyWarning")

MODELS_AND_OBJECTIVES = [
    (model, objective)
    for model in oracle.OVERLAP_MODELS
    for objective in ("mean", "residue")
    if (model, objective) != ("sum", "residue")
] + [("either", "mean")]
each_model = pytest.mark.parametrize(("model", "objective"), MODELS_AND_OBJECTIVES)
OPTIONS = {"row_overlap": 0.3, "row_outliers": 0.05, "column_overlap": 0.2, "column_outliers": 0.05}
OPTIONS |= {"max_memberships": 3, "init": "random", "n_init": 1, "refine": False}
OPTIONS |= {"random_state": 0, "max_iter": 6}


def options_of(model, objective):
    """Columns have one cluster each, or none, where rows follow one or another."""
    disjoint = {"column_overlap": -0.05} if model == "either" else {}
    return {**OPTIONS, **disjoint, "overlap_model": model, "objective": objective}


STORED = [
    *((*each, "zero") for each in MODELS_AND_OBJECTIVES),
    ("repeat", "mean", "background"),
    ("average", "mean", "background"),
]


@pytest.mark.parametrize(
    ("model", "objective", "outlier_cost", "container"),
    [(*case, CONTAINERS[at // 2 % 2]) for at, case in enumerate(STORED)],
)
def test_a_fit_of_a_store_is_that_of_one_in_memory(
    set_pass_options, tmp_path, model, objective, outlier_cost, container
):
    set_pass_options(**MANY_BLOCKS)
    X = planted(container, n=90, m=30)
    options = {**options_of(model, objective), "outlier_cost": outlier_cost}
    stores = [write_store(tmp_path / str(rows), X, rows_per_block=rows) for rows in (13, 41)]
    here = NEOCC(4, 3, n_jobs=1, **options).fit(X)
    assert (here.row_membership_.sum(axis=1) > 1).any()
    assert here.row_outliers_.any()
    there = NEOCC(4, 3, n_jobs=1, **options).fit(stores[0])
    assert same_fit(there, here)
    # Other blocks and threads change no bit.
    assert same_bits(NEOCC(4, 3, n_jobs=2, **options).fit(stores[1]), there)
    assert same_bits(NEOCC(4, 3, n_jobs=2, **options).fit(X), here)


@pytest.mark.parametrize("model", OVERLAP_MODELS)
def test_so_is_one_way_clustering(set_pass_options, tmp_path, model):
    set_pass_options(**MANY_BLOCKS)
    X = planted("dense", n=80, m=12)
    store = write_store(tmp_path / "store", X, rows_per_block=17)
    options = {"overlap": 0.3, "outliers": 0.05, "overlap_model": model, "n_init": 2}
    fits = [
        NEOKMeans(4, random_state=0, n_jobs=n_jobs, **options).fit(data)
        for n_jobs, data in ((1, X), (2, X), (1, store), (2, store))
    ]
    for one, other in ((fits[0], fits[1]), (fits[2], fits[3])):
        np.testing.assert_array_equal(one.history_, other.history_)
        np.testing.assert_array_equal(one.cluster_centers_, other.cluster_centers_)
    for other in fits[1:]:
        np.testing.assert_array_equal(other.membership_, fits[0].membership_)
        assert other.objective_ == pytest.approx(fits[0].objective_, rel=1e-12)


@each_model
def test_kernels_and_containers_give_the_same_memberships(model, objective):
    X = planted_blocks(np.random.default_rng(0), 60, 20, noise=1.0)
    X[np.abs(X) < 1.0] = 0.0
    options = options_of(model, objective)
    here = NEOCC(4, 3, kernel="numpy", **options).fit(X)
    for data, kernel in (
        (X, "numba"),
        (sparse.csr_array(X), "numba"),
        (sparse.csr_array(X), "numpy"),
    ):
        found = NEOCC(4, 3, kernel=kernel, **options).fit(data)
        assert (found.row_membership_ == here.row_membership_).all()
        assert (found.column_membership_ == here.column_membership_).all()
        assert found.objective_ == pytest.approx(here.objective_, rel=1e-9)


# -------------------------------------------------------------------------------------- clusters


@pytest.fixture(scope="module")
def client():
    distributed = pytest.importorskip("distributed", reason="dask is not installed")
    options = {"threads_per_worker": 1, "dashboard_address": ":0", "set_as_default": False}
    with distributed.Client(processes=False, n_workers=2, **options) as client:
        yield client


@pytest.fixture(scope="module")
def one_thread():
    with Workers(1) as workers:
        yield workers


def problem_of(model, objective, X, most=3):
    """Rows and columns with overlap and outliers; the first rows have one cluster each."""
    rng = np.random.default_rng(1)
    rows, columns = Counts(len(X), 4, len(X) + 15, 3), Counts(X.shape[1], 3, X.shape[1] + 4, 1)
    if model == "either":
        columns = replace(columns, n_memberships=X.shape[1] - 1)
    U, V = make_membership(rng, rows, most), make_membership(rng, columns, most)
    overlap = OVERLAP_MODELS[model](most)
    if objective == "kmeans":
        problem = Problem(KMEANS, rows, None, max_iter=3, tol=0.0, overlap_model=overlap)
        return problem, (members(U), None)
    problem = Problem(OBJECTIVES[objective], rows, columns, 3, 0.0, overlap)
    return problem, (members(U), members(V))


@pytest.mark.parametrize(
    ("model", "objective"),
    [
        ("repeat", "mean"),
        ("share", "mean"),
        ("average", "mean"),
        ("average", "residue"),
        ("sum", "mean"),
        ("sum", "kmeans"),
        ("either", "mean"),
        ("either", "kmeans"),
    ],
)
def test_memberships_on_a_cluster_are_those_in_memory(client, one_thread, model, objective):
    """Also where a shard has no extra memberships: its rows count once, those of others do not."""
    X = planted_blocks(np.random.default_rng(0), 60, 20, noise=1.0)
    X[:6] = X[0] + 1e-3 * np.random.default_rng(1).normal(size=(6, 20))
    problem, pair = problem_of(model, objective, X)
    here = make_engine(X, workers=one_thread)
    there = on_cluster(here.shards.each[0].matrix, client, "numpy", one_thread, 200)
    assert len(there.shards.edges) > 4
    with watched() as steps:
        found = solve(there.centred(problem.centring), problem, pair)
    check_half_steps(X, steps)
    wanted = solve(here.centred(problem.centring), problem, pair)
    np.testing.assert_array_equal(found.U.dense, wanted.U.dense)
    np.testing.assert_array_equal(found.U.summed.indicator, wanted.U.summed.indicator)
    if wanted.V is not None:
        np.testing.assert_array_equal(found.V.dense, wanted.V.dense)
    np.testing.assert_allclose(found.history, wanted.history, rtol=1e-12)
    edges = there.shards.edges
    extra = [wanted.U.slice(a, b).extra_items for a, b in pairwise(edges)]
    assert model == "repeat" or any(len(part) == 0 for part in extra)
    assert any(len(part) > 0 for part in extra)


@pytest.mark.parametrize("outlier_cost", ["zero", "background"])
def test_estimators_fit_on_a_cluster(client, outlier_cost):
    X = planted("dense", n=60, m=15)
    options = {**OPTIONS, "overlap_model": "average", "outlier_cost": outlier_cost, "max_iter": 3}
    here, there = (NEOCC(3, 2, engine=engine, **options).fit(X) for engine in ("auto", client))
    assert same_fit(there, here)


@pytest.mark.parametrize("options", [{"objective": "poisson"}, {"missing": "ignore"}])
def test_shards_without_pairs_count_as_those_with_pairs_do(client, tmp_path, options):
    # Only rows of the first half mix two clusters: shards of the second half have no pairs to sum.
    rng = np.random.default_rng(0)
    rates = np.array([[9.0, 1.0, 1.0], [1.0, 9.0, 1.0], [1.0, 1.0, 9.0]])
    lines = rates[np.arange(60) % 3]
    lines[:12] = (lines[:12] + lines[1:13]) / 2
    X = rng.poisson(lines[:, np.arange(18) % 3]).astype(float)
    store = write_store(tmp_path / "store", X, rows_per_block=10)
    options = {**options, "overlap_model": "average", "row_overlap": 0.1, "refine": False}
    options |= {"n_init": 1, "random_state": 0}
    here, there = (NEOCC(3, 3, engine=engine, **options).fit(store) for engine in ("auto", client))
    assert same_fit(there, here)
    assert not (here.row_membership_[30:].sum(axis=1) > 1).any()
