"""Rows on disk give the answers of rows in memory, and the same bits for any size of blocks."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import sparse
from stores import CONTAINERS, MANY_BLOCKS, planted, same_bits, same_fit

from neocc import MSSR, NEOCC, NEOKMeans
from neocc.core.objectives import OBJECTIVES
from neocc.core.problem import Counts, Problem
from neocc.core.samples import Sampling
from neocc.engines import MemoryLimitError, RowSource, SparseMatrix, space
from neocc.engines.stored import StoredRows, open_source
from neocc.io import open_store, write_store

OPTIONS = {"row_overlap": 0.1, "row_outliers": 0.05, "column_overlap": 0.1}


def as_dense(X):
    return X.toarray() if sparse.issparse(X) else np.asarray(X)


@pytest.fixture(params=CONTAINERS)
def X(request):
    return planted(request.param)


@pytest.fixture
def store(X, tmp_path):
    return write_store(tmp_path / "matrix", X, rows_per_block=23)


def test_a_store_is_a_source_that_is_cheap_to_send(store, X):
    assert isinstance(store, RowSource)
    assert not isinstance(X, RowSource)
    again = pickle.loads(pickle.dumps(store))
    assert (as_dense(again.load(0)) == as_dense(store.load(0))).all()
    assert (store.edges[-1], store.entries.sum()) == (X.shape[0], store.n_stored)


@pytest.mark.parametrize("rows_per_block", [1, 7, 96])
def test_rows_are_sliced_and_taken_like_those_of_an_array(X, tmp_path, rows_per_block):
    store = write_store(tmp_path / "matrix", X, rows_per_block=rows_per_block)
    rows, dense = StoredRows(store, 2), as_dense(X)
    rng = np.random.default_rng(0)
    for _ in range(30):
        start, stop = sorted(rng.integers(0, len(dense) + 1, size=2).tolist())
        assert (as_dense(rows[start:stop]) == dense[start:stop]).all()
    assert (as_dense(rows[3:90:11]) == dense[3:90:11]).all()
    some = rng.integers(len(dense), size=50)
    assert (as_dense(rows[some]) == dense[some]).all()
    assert rows[some[:0]].shape == (0, dense.shape[1])


def test_the_partition_is_that_of_a_matrix_in_memory(tmp_path):
    X = planted("sparse")
    stored = open_source(write_store(tmp_path / "matrix", X, rows_per_block=13))
    given = SparseMatrix.from_scipy(X)
    for entries in (50, 400, 10**6):
        assert stored.partition(entries) == given.partition(entries)
    for start, stop in stored.partition(50):
        found, wanted = stored.block(start, stop).matrix(), given.block(start, stop).matrix()
        assert (found != wanted).nnz == 0


@pytest.fixture
def many_blocks(set_pass_options):
    set_pass_options(**MANY_BLOCKS)


@pytest.mark.usefixtures("many_blocks")
@pytest.mark.parametrize("objective", ["mean", "residue"])
def test_rows_that_are_read_instead_of_copied_change_nothing(
    X, tmp_path, objective, monkeypatch, set_store_options
):
    """Those of a sample may be more than memory holds."""

    class Sampled(NEOCC):
        _sampling = Sampling(entries=(100, 200), items_per_cluster=2)

    store = write_store(tmp_path / "matrix", X, rows_per_block=23)
    options = {**OPTIONS, "objective": objective, "n_init": 2, "refine": False}
    wanted = Sampled(4, 3, random_state=0, **options).fit(store)
    assert same_fit(wanted, Sampled(4, 3, random_state=0, **options).fit(X))
    set_store_options(copied_bytes=0)
    read, real = [], StoredRows.__getitem__

    def noted(self, at):
        if self.chosen is not None:
            read.append(at)
        return real(self, at)

    monkeypatch.setattr(StoredRows, "__getitem__", noted)
    assert same_bits(Sampled(4, 3, random_state=0, **options).fit(store), wanted)
    assert read


@pytest.mark.usefixtures("many_blocks")
@pytest.mark.parametrize(
    ("objective", "embedded"),
    [("mean", (100, 1 << 21)), ("residue", (0, 0))],
    ids=["embedding", "race"],
)
def test_a_default_fit_of_a_store_begins_with_the_plain_starts(X, tmp_path, objective, embedded):
    """It never ends above them, at any size."""

    class Shared(NEOCC):
        _sampling = Sampling((100, 200), items_per_cluster=2, largest_searched=0, embedded=embedded)

    store = write_store(tmp_path / "matrix", X, rows_per_block=23)
    for seed in range(4):
        plain, default = (
            Shared(4, 3, objective=objective, n_init=6, refine=refine, random_state=seed).fit(store)
            for refine in (False, True)
        )
        assert default.objective_ <= plain.objective_
        if default.objective_ == plain.objective_:
            assert same_bits(default, plain)


@pytest.mark.usefixtures("many_blocks")
@pytest.mark.parametrize(
    ("search", "rows_per_block", "objective"),
    [
        ("refine", 15, "residue"),
        ("neo-kmeans", 7, "mean"),
        ("spectral", 23, "residue"),
        ("sketch", 96, "mean"),
        ("random", 1, "residue"),
        ("random", 95, "mean"),
    ],
)
def test_a_fit_of_a_store_is_that_of_one_in_memory(X, tmp_path, objective, search, rows_per_block):
    # A search makes hundreds of short runs: a quarter of the rows will do.
    X = X[:40] if search == "refine" else X
    store = write_store(tmp_path / "matrix", X, rows_per_block=rows_per_block)
    options = {**OPTIONS, "objective": objective, "n_init": 1, "random_state": 0}
    options |= {"refine": True} if search == "refine" else {"init": search, "refine": False}
    model = NEOCC(4, 3, **options).fit(store)
    assert same_fit(model, NEOCC(4, 3, n_jobs=1, **options).fit(X))
    assert model.n_passes_ > 2
    # Other blocks and threads change no bit.
    other = write_store(tmp_path / "other", X, rows_per_block=31)
    assert same_bits(model, NEOCC(4, 3, n_jobs=3, **options).fit(other))


@pytest.mark.usefixtures("many_blocks")
@pytest.mark.parametrize(("objective", "rows_per_block"), [("mean", 7), ("residue", 96)])
def test_a_fit_of_a_store_has_the_bits_of_one_in_memory(X, tmp_path, objective, rows_per_block):
    store = write_store(tmp_path / "matrix", X, rows_per_block=rows_per_block)
    options = {**OPTIONS, "objective": objective, "init": "random", "n_init": 1, "refine": False}
    one, other = (NEOCC(4, 3, random_state=0, **options).fit(D) for D in (store, X))
    # On the way the sums of a store follow changes and round otherwise; they do not at the end.
    assert same_fit(one, other)
    assert one.objective_ == other.objective_ == one.history_[-1]
    assert (one.block_means_ == other.block_means_).all()


def test_engines_by_name(store, X):
    options = {"n_init": 1, "refine": False, "random_state": 0}
    wanted = NEOCC(3, 3, **options).fit(X)
    stored = NEOCC(3, 3, **options).fit(store)
    assert same_fit(stored, wanted)
    for engine, same in (("auto", stored), ("memory", wanted), ("blocks", stored)):
        assert same_bits(NEOCC(3, 3, engine=engine, **options).fit(store), same)
    with pytest.raises(ValueError, match=r'engine="blocks" reads blocks .*write_store'):
        NEOCC(3, 3, engine="blocks", **options).fit(X)


def test_other_estimators(store, X):
    one, other = (NEOKMeans(3, overlap=0.1, n_init=2, random_state=0).fit(D) for D in (store, X))
    assert one.objective_ == pytest.approx(other.objective_, rel=1e-12)
    assert (one.membership_ == other.membership_).all()
    one, other = (MSSR(3, 3, n_init=2, random_state=0).fit(D) for D in (store, X))
    assert (one.row_labels_ == other.row_labels_).all()


def test_a_fit_estimates_overlap_from_a_store(store, X):
    options = {"row_overlap": "auto", "row_outliers": "auto", "n_init": 1, "random_state": 0}
    assert same_fit(NEOCC(3, 3, **options).fit(store), NEOCC(3, 3, **options).fit(X))


def test_models_predict_and_transform_rows_of_a_store(store, X):
    model = NEOCC(4, 3, **OPTIONS, n_init=1, random_state=0).fit(X)
    assert (model.predict_membership(store) == model.predict_membership(X)).all()
    assert (model.transform(store) == model.transform(X)).all()


def test_sparse_rows_of_a_store_meet_clusters_of_centred_dense_ones(tmp_path):
    dense, new = planted("dense") + 1e4, planted("sparse", seed=1)
    model = NEOCC(4, 3, n_init=1, random_state=0).fit(dense)
    store = write_store(tmp_path / "new", new, rows_per_block=9)
    assert model._row_model.column_effects.any()
    assert (model.transform(store) == model.transform(new)).all()


def test_a_sparse_store_without_zeros_is_treated_as_dense(tmp_path):
    X = planted("dense")
    store = write_store(tmp_path / "full", sparse.csr_array(X), rows_per_block=9)
    options = {"n_init": 1, "random_state": 0}
    assert same_fit(NEOCC(3, 3, **options).fit(store), NEOCC(3, 3, **options).fit(X))


def test_names_of_columns_are_known_and_checked(tmp_path):
    X = planted("dense", n=30, m=3)
    one = write_store(tmp_path / "one", X, column_names=["a", "b", "c"])
    model = NEOCC(2, 2, random_state=0).fit(one)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    other = write_store(tmp_path / "other", X, column_names=["a", "x", "c"])
    with pytest.raises(ValueError, match="Column 1 of the store is called 'x'"):
        model.predict(other)
    with pytest.raises(ValueError, match="2 features"):
        model.predict(write_store(tmp_path / "narrow", X[:, :2]))


@pytest.mark.parametrize("objective", ["mean", "residue"])
def test_tables_on_disk_change_nothing(store, objective, monkeypatch):
    options = {**OPTIONS, "objective": objective, "n_init": 2, "refine": False, "random_state": 0}
    wanted = NEOCC(4, 3, **options).fit(store)
    made = []
    real = np.memmap
    monkeypatch.setattr(space.np, "memmap", lambda *a, **k: made.append(a) or real(*a, **k))
    with pytest.raises(MemoryLimitError, match="too small") as refused:
        NEOCC(4, 3, memory_limit="1MB", **options).fit(store)
    # The least that is allowed leaves no room for any table.
    assert same_bits(NEOCC(4, 3, memory_limit=refused.value.needed, **options).fit(store), wanted)
    assert made


def test_more_memory_holds_larger_tables(tmp_path):
    store = write_store(tmp_path / "matrix", planted("sparse"))
    problem = Problem(OBJECTIVES["mean"], Counts(96, 4, 102, 2), Counts(30, 3, 30, 0))
    sizes = [space.plan_space(store, problem, 2, limit).largest for limit in ("1GB", "2GB", None)]
    assert 0 < sizes[0] < sizes[1] < sizes[2] == np.inf
    table = space.TableSpace(100).empty(10, 10)
    table[...] = 3.0
    assert table.sum() == 300.0
    assert isinstance(table.base, np.memmap)


@pytest.mark.parametrize("limit", ["much", "-1GB", "0"])
def test_limits_that_are_no_sizes(store, limit):
    with pytest.raises(ValueError, match="memory_limit must be a number of bytes"):
        NEOCC(2, 2, memory_limit=limit).fit(store)


@pytest.mark.slow
@pytest.mark.parametrize("rows_per_block", [100, 1000, 10_000])
@pytest.mark.parametrize("objective", ["mean", "residue"])
def test_movielens_in_blocks(data_folder, tmp_path, objective, rows_per_block):
    from neocc.datasets import fetch_movielens_1m

    X = fetch_movielens_1m().data
    write_store(tmp_path / "movielens", X, rows_per_block=rows_per_block)
    options = {**OPTIONS, "objective": objective, "n_init": 2, "random_state": 0}
    fitted = NEOCC(10, 10, **options).fit(open_store(tmp_path / "movielens"))
    assert same_fit(fitted, NEOCC(10, 10, **options).fit(X))
