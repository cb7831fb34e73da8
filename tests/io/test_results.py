"""Results as folders of tidy tables: complete, consistent with the model, whole or not there."""

from __future__ import annotations

import csv
import subprocess
import sys
import textwrap
from pathlib import Path

import files
import numpy as np
import oracle
import pytest
from instances import make_engine
from malformed import without_privileges
from models import NAMES, column_members, make_model, row_members
from scipy import sparse

from neocc import NEOCC, NEOKMeans
from neocc.estimators._fitted import asked_objective
from neocc.estimators._tables import weighed_members
from neocc.io import (
    Matrix,
    WouldOverwriteError,
    WriteError,
    check_output,
    column_distances,
    load_model,
    make_record,
    read_model,
    read_record,
    result_tables,
    write_result,
)

ROWS = tuple(f"row {chr(65 + i)}" for i in range(30))
COLUMNS = ('a,"b"', "<script>alert(1)</script>", "line\nend", *(f"c{j}" for j in range(11)))


def data(kind=np.asarray):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(30, 14)) + 5
    X[rng.random(X.shape) < 0.4] = 0
    return kind(X)


def table(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def tree(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("name", NAMES)
class TestTables:
    def test_lines_are_the_memberships(self, name, kind, tmp_path):
        X = data(kind)
        model = make_model(name).fit(X)
        write_result(model, tmp_path / "out", matrix=Matrix(X, ROWS, COLUMNS))
        sides = [("rows.csv", "row", ROWS, row_members(model))]
        if column_members(model) is not None:
            sides.append(("columns.csv", "column", COLUMNS, column_members(model)))
        else:
            assert not (tmp_path / "out" / "columns.csv").exists()
        for file, side, names, members in sides:
            lines = table(tmp_path / "out" / file)
            assert list(lines[0]) == ["name", "cluster", "distance", "outlier", side]
            rebuilt = np.zeros_like(members)
            for line in lines:
                item = int(line[side]) - 1
                assert line["name"] == names[item]
                if line["outlier"] == "true":
                    assert line["cluster"] == ""
                    assert not members[item].any()
                else:
                    rebuilt[item, int(line["cluster"]) - 1] = True
            np.testing.assert_array_equal(rebuilt, members)
            assert {line["name"] for line in lines} == set(names)

    def test_distances_and_errors_add_up_to_the_objective(self, name, kind):
        X = data(kind)
        model = make_model(name).fit(X)
        tables = result_tables(model, Matrix(X))
        sides = [tables.rows] + ([] if tables.columns is None else [tables.columns])
        for side in sides:
            inside = side["distance"][~side["outlier"]]
            np.testing.assert_allclose(inside.sum(), model.objective_, rtol=1e-9)
        np.testing.assert_allclose(tables.blocks["error"].sum(), model.objective_, rtol=1e-9)

    def test_blocks(self, name, kind):
        X = data(kind)
        model = make_model(name).fit(X)
        blocks = result_tables(model, Matrix(X)).blocks
        U, V = row_members(model), column_members(model)
        if V is None:
            V = np.ones((14, 1), dtype=bool)
        dense = X.toarray() if sparse.issparse(X) else X
        for at in range(len(blocks["mean"])):
            q, j = divmod(at, V.shape[1])
            block = dense[np.ix_(U[:, q], V[:, j])]
            assert (blocks["n_rows"][at], blocks["n_columns"][at]) == block.shape
            np.testing.assert_allclose(blocks["mean"][at], block.mean(), rtol=1e-9, atol=1e-12)
            # The literal formulas of both objectives.
            if isinstance(model, NEOKMeans):
                residual = block - block.mean(axis=0)
            elif model.objective == "residue":
                residual = (
                    block - block.mean(axis=1, keepdims=True) - block.mean(axis=0) + block.mean()
                )
            else:
                residual = block - block.mean()
            np.testing.assert_allclose(
                blocks["error"][at], (residual**2).sum(), rtol=1e-9, atol=1e-9
            )


@pytest.mark.parametrize("objective", ["mean", "residue"])
def test_column_distances_are_row_distances_of_the_transposed_matrix(objective):
    X = data()
    model = make_model("NEOCC mean overlap", objective=objective).fit(X)
    turned = make_model(
        "NEOCC mean overlap",
        objective=objective,
        init=(model.column_membership_, model.row_membership_),
        n_row_clusters=3,
        n_column_clusters=3,
        **{
            f"{new}_{what}": getattr(model, f"{old}_{what}")
            for new, old in (("row", "column"), ("column", "row"))
            for what in ("overlap", "outliers")
        },
        max_iter=1,
    ).fit(X.T.copy())
    if not np.array_equal(turned.row_membership_, model.column_membership_):
        pytest.skip("the start was no fixed point")
    np.testing.assert_allclose(column_distances(model, X), turned.transform(X.T), rtol=1e-9)


def test_an_empty_folder_is_filled_and_all_parts_are_there(tmp_path):
    X = files.small_matrix()
    (tmp_path / "out").mkdir()
    model = files.fitted()
    write_result(
        model,
        tmp_path / "out",
        matrix=X,
        record=make_record({"k": 3}, seed=0),
        extra_files={"report.html": "<p>é</p>", "plot.png": b"\x89PNG"},
        parquet=True,
    )
    found = tree(tmp_path / "out")
    assert sorted(found) == [
        "blocks.csv", "blocks.parquet", "columns.csv", "columns.parquet", "model.neocc",
        "plot.png", "record.json", "report.html", "rows.csv", "rows.parquet",
    ]  # fmt: skip
    assert found["report.html"].decode() == "<p>é</p>"
    assert read_record(tmp_path / "out" / "record.json").settings == {"k": 3}
    loaded = load_model(tmp_path / "out" / "model.neocc")
    np.testing.assert_array_equal(loaded.predict_membership(X), model.predict_membership(X))
    # Only what was asked for lies beside it, and everybody may look at it who may look at others.
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    (tmp_path / "other").mkdir()
    assert (tmp_path / "out").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_parquet_holds_the_same_table(tmp_path):
    import pandas as pd

    write_result(
        files.fitted(row_outliers=0.2), tmp_path / "out", matrix=files.small_matrix(), parquet=True
    )
    for name in ("rows", "columns", "blocks"):
        left = pd.read_csv(tmp_path / "out" / f"{name}.csv")
        right = pd.read_parquet(tmp_path / "out" / f"{name}.parquet")
        pd.testing.assert_frame_equal(left, right, check_dtype=False)


def test_names_go_with_the_model(tmp_path):
    X = data()
    model = make_model("NEOCC mean").fit(X)
    write_result(model, tmp_path / "out", matrix=Matrix(X, ROWS, COLUMNS))
    saved = read_model(tmp_path / "out" / "model.neocc")
    assert (saved.row_names, saved.column_names) == (ROWS, COLUMNS)


class TestOverwriting:
    def test_a_result_is_replaced_only_when_told(self, tmp_path):
        X, out = files.small_matrix(), tmp_path / "out"
        write_result(files.fitted(), out, matrix=X, extra_files={"report.html": "old"})
        before = tree(out)
        with pytest.raises(WouldOverwriteError, match="not empty"):
            check_output(out)
        with pytest.raises(WouldOverwriteError, match="not empty"):
            write_result(files.fitted("MSSR"), out, matrix=X)
        assert tree(out) == before
        write_result(files.fitted("NEOKMeans"), out, matrix=X, force=True)
        assert sorted(tree(out)) == ["blocks.csv", "model.neocc", "rows.csv"]
        assert [path.name for path in tmp_path.iterdir()] == ["out"]

    def test_other_peoples_files_are_never_replaced(self, tmp_path):
        out = tmp_path / "out"
        out.mkdir()
        (out / "thesis.tex").write_text("precious")
        with pytest.raises(WouldOverwriteError, match=r"thesis\.tex"):
            write_result(files.fitted(), out, matrix=files.small_matrix(), force=True)
        assert tree(out) == {"thesis.tex": b"precious"}

    def test_a_folder_inside_is_not_replaced(self, tmp_path):
        (tmp_path / "out" / "rows.csv").mkdir(parents=True)
        with pytest.raises(WouldOverwriteError):
            write_result(files.fitted(), tmp_path / "out", matrix=files.small_matrix(), force=True)

    def test_a_file_of_that_name(self, tmp_path):
        (tmp_path / "out").write_text("precious")
        with pytest.raises(WouldOverwriteError, match="file"):
            write_result(files.fitted(), tmp_path / "out", matrix=files.small_matrix(), force=True)
        assert (tmp_path / "out").read_text() == "precious"

    @pytest.mark.parametrize("name", ["../evil.html", "/tmp/evil.html", ".hidden", "a/b.html"])
    def test_extra_files_stay_in_the_folder(self, name, tmp_path):
        with pytest.raises(ValueError, match="plain file name"):
            write_result(
                files.fitted(),
                tmp_path / "out",
                matrix=files.small_matrix(),
                extra_files={name: ""},
            )
        assert not list(tmp_path.iterdir())


class TestNothingHalfWritten:
    def fail_while_saving(self, monkeypatch, error):
        def fail(*_args, **_kwargs):
            raise error

        monkeypatch.setattr("neocc.io._result.save_model", fail)

    @pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
    def test_a_failure_leaves_nothing(self, error, tmp_path, monkeypatch):
        self.fail_while_saving(monkeypatch, error)
        wanted = WriteError if isinstance(error, OSError) else KeyboardInterrupt
        with pytest.raises(wanted):
            write_result(files.fitted(), tmp_path / "out", matrix=files.small_matrix())
        assert not list(tmp_path.iterdir())

    def test_a_failure_leaves_what_was_there(self, tmp_path, monkeypatch):
        X, out = files.small_matrix(), tmp_path / "out"
        write_result(files.fitted(), out, matrix=X)
        before = tree(out)
        self.fail_while_saving(monkeypatch, OSError(28, "No space left on device"))
        with pytest.raises(WriteError, match="No space left"):
            write_result(files.fitted(), out, matrix=X, force=True)
        assert tree(out) == before
        assert [path.name for path in tmp_path.iterdir()] == ["out"]

    def test_a_failing_rename_puts_the_old_folder_back(self, tmp_path, monkeypatch):
        X, out = files.small_matrix(), tmp_path / "out"
        write_result(files.fitted(), out, matrix=X)
        before = tree(out)
        rename = Path.rename

        def fail_once(self, target):
            if Path(target) == out.resolve() and self.name.endswith(".partial") and not failed:
                failed.append(self)
                raise OSError(5, "Input/output error")
            return rename(self, target)

        failed: list[Path] = []
        monkeypatch.setattr(Path, "rename", fail_once)
        with pytest.raises(WriteError):
            write_result(files.fitted("MSSR"), out, matrix=X, force=True)
        assert failed
        assert tree(out) == before

    def test_no_permission(self, tmp_path):
        folder = tmp_path / "locked"
        folder.mkdir(mode=0o555)
        model, X = files.fitted(), files.small_matrix()
        with without_privileges(), pytest.raises(WriteError, match=r"out: .*denied"):
            write_result(model, folder / "out", matrix=X)
        assert not list(folder.iterdir())

    @pytest.mark.skipif(sys.platform != "linux", reason="limits of file sizes")
    def test_a_full_disk(self, tmp_path):
        """The system refuses to write more than some bytes to a file, as a full disk does."""
        code = f"""
        import resource, sys
        sys.path.insert(0, {str(Path(__file__).parent)!r})
        import files, numpy as np
        from neocc.io import WriteError, save_model, write_matrix, write_record, write_result
        from neocc.io import make_record
        X = np.random.default_rng(0).normal(size=(200, 150))
        model = files.fitted(X=X)
        writers = [
            lambda: write_result(model, "out", matrix=X, parquet=True),
            lambda: save_model(model, "model.neocc"),
            lambda: write_record(make_record({{"text": "x" * 40000}}), "record.json"),
        ] + [
            lambda name=name: write_matrix(X, name)
            for name in ("m.csv", "m.csv.gz", "m.parquet", "m.npy", "m.npz", "m.mtx")
        ]
        for limit in (4096, 100, 0):
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
            for number, write in enumerate(writers):
                try:
                    write()
                except WriteError as error:
                    assert "could not be written" in str(error), error
                else:
                    raise SystemExit(f"writer {{number}} wrote more than {{limit}} bytes")
        """
        subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True, cwd=tmp_path)
        assert not list(tmp_path.iterdir())


def test_the_wrong_matrix_is_refused(tmp_path):
    with pytest.raises(ValueError, match="fitted to 12 rows and 9 columns"):
        write_result(files.fitted(), tmp_path / "out", matrix=np.eye(5))
    assert not list(tmp_path.iterdir())


def test_parents_are_made(tmp_path):
    write_result(files.fitted(), tmp_path / "a" / "b" / "out", matrix=files.small_matrix())
    assert (tmp_path / "a" / "b" / "out" / "rows.csv").exists()


def errors_in_parts(model, X):
    """Return the errors of blocks, from a few rows at a time."""
    objective, (U, V) = asked_objective(model), weighed_members(model)
    engine = make_engine(X, copied=50).centred(objective.centring(None))
    products = V if objective.needs_products else None
    features = engine.column_features(U, products)
    return objective.block_costs(engine, features, U, V)


@pytest.mark.parametrize("objective", ["mean", "residue"])
def test_blocks_of_a_matrix_in_several_parts(objective):
    X = data() + 1e4
    model = make_model("NEOCC mean overlap", objective=objective).fit(X)
    whole = result_tables(model, Matrix(X)).blocks["error"]
    in_parts = errors_in_parts(model, X)
    np.testing.assert_allclose(in_parts.ravel(), whole, rtol=1e-9)
    np.testing.assert_allclose(whole.sum(), model.objective_, rtol=1e-9)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(
    ("name", "objective"),
    [(each, "mean") for each in oracle.OVERLAP_MODELS]
    + [(each, "residue") for each in oracle.OVERLAP_MODELS if each != "sum"]
    + [(each, "kmeans") for each in oracle.OVERLAP_MODELS],
)
def test_errors_follow_the_overlap_model(name, objective, kind):
    """Each cell's error, by the literal formula, is divided among its blocks, or counts in each."""
    X, dense = data(kind), data()
    if objective == "kmeans":
        model = make_model("NEOKMeans overlap", overlap_model=name).fit(X)
        U, V = model.membership_, np.eye(dense.shape[1], dtype=bool)
        M, cells = oracle.prototypes(dense, U, name), dense.shape[1]
    else:
        model = make_model("NEOCC mean overlap", overlap_model=name, objective=objective).fit(X)
        U, V = model.row_membership_, model.column_membership_
        M, cells = oracle.block_table(dense, U, V, name), 1
    assert (U.sum(axis=1) > 1).any()
    found = result_tables(model, Matrix(X)).blocks
    np.testing.assert_allclose(found["error"].sum(), model.objective_, rtol=1e-9)
    if objective == "residue":
        return
    expected = np.zeros(M.shape)
    for p, t in np.argwhere(np.outer(U.any(axis=1), V.any(axis=1))):
        A, B = np.flatnonzero(U[p]), np.flatnonzero(V[t])
        cell, block = np.ix_(A, B), M[np.ix_(A, B)]
        if name in ("repeat", "share"):
            expected[cell] += (dense[p, t] - block) ** 2 / (block.size if name == "share" else 1)
        else:
            fitted = block.mean() if name == "average" else block.sum()
            expected[cell] += (dense[p, t] - fitted) ** 2 / block.size
    by_block = expected.reshape(len(M), -1, cells).sum(axis=2)
    np.testing.assert_allclose(found["error"], by_block.ravel(), rtol=1e-9)
    levels = M.reshape(len(M), -1, cells).mean(axis=2)
    np.testing.assert_allclose(found["mean"], levels.ravel(), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("objective", ["mean", "residue"])
@pytest.mark.parametrize("name", oracle.OVERLAP_MODELS)
@pytest.mark.filterwarnings("ignore::neocc.RedundancyWarning")
def test_distances_of_columns_follow_the_overlap_model(name, objective):
    """A column in one cluster costs its distance to it, all else staying as it is."""
    if (name, objective) == ("sum", "residue"):
        return
    X = data() + 50  # so far from zero that a mean would be subtracted where it may be
    model = make_model("NEOCC mean overlap", overlap_model=name, objective=objective).fit(X)
    price = oracle.set_pricer(X.T, model.column_membership_, model.row_membership_, objective, name)
    expected = [[price(column, [cluster]) for cluster in range(3)] for column in range(14)]
    np.testing.assert_allclose(column_distances(model, X), expected, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_cells_belong_to_the_block_that_their_row_follows(kind):
    X, dense = data(kind) + 0, data()
    model = make_model("NEOCC mean overlap", overlap_model="either", column_overlap=0.0)
    model.set_params(column_outliers=0.0).fit(X)
    V, followed, M = model.column_membership_, model.followed_, model.block_means_
    assert (model.row_membership_.sum(axis=1) > 1).any()
    errors, distances = np.zeros(M.shape), np.zeros((V.shape[0], V.shape[1]))
    for p in np.flatnonzero(~model.row_outliers_):
        for t, j in np.ndindex(V.shape):
            cost = (dense[p, t] - M[followed[p, j], j]) ** 2
            distances[t, j] += cost
            if V[t, j]:
                errors[followed[p, j], j] += cost
    found = result_tables(model, Matrix(X)).blocks
    np.testing.assert_allclose(found["error"], errors.ravel(), rtol=1e-9)
    np.testing.assert_allclose(found["error"].sum(), model.objective_, rtol=1e-9)
    np.testing.assert_allclose(column_distances(model, X), distances, rtol=1e-7, atol=1e-7)
    in_parts = errors_in_parts(model, X)
    np.testing.assert_allclose(in_parts, errors, rtol=1e-9)


def test_errors_of_combined_clusters_in_several_parts():
    X = data()
    for objective in ("mean", "residue"):
        model = make_model("NEOCC mean overlap", overlap_model="average", objective=objective)
        model.fit(X)
        whole = result_tables(model, Matrix(X)).blocks["error"]
        np.testing.assert_allclose(errors_in_parts(model, X).ravel(), whole, rtol=1e-9)


def with_duplicates(X):
    """Return the same matrix in the old interface, every entry stored as two halves."""
    entries = sparse.coo_array(X)
    twice = [np.concatenate([part, part]) for part in (entries.row, entries.col)]
    halves = np.concatenate([entries.data, entries.data]) / 2
    order = np.argsort(twice[0], kind="stable")
    indptr = np.searchsorted(twice[0][order], np.arange(X.shape[0] + 1))
    return sparse.csr_matrix((halves[order], twice[1][order], indptr), shape=X.shape)


@pytest.mark.parametrize(
    "kind", [sparse.csr_matrix, sparse.csc_matrix, sparse.coo_matrix, with_duplicates]
)
@pytest.mark.parametrize("name", NAMES)
def test_every_kind_of_sparse_matrix_gives_the_same_tables(name, kind, tmp_path):
    X = data()
    model = make_model(name).fit(sparse.csr_array(X))
    found = result_tables(model, Matrix(kind(X))).blocks["error"]
    np.testing.assert_allclose(found, result_tables(model, Matrix(X)).blocks["error"])
    # A square matrix has a product with itself, which is not that of its cells.
    square = kind(X[:14, :14])
    np.testing.assert_array_equal(Matrix(square).data.toarray(), X[:14, :14])
    assert type(Matrix(square).data) is sparse.csr_array
    write_result(model, tmp_path / "out", matrix=kind(X))


# ------------------------------------------------------------------------------------- weights


@pytest.mark.parametrize("objective", ["mean", "residue", "poisson", "observed"])
@pytest.mark.parametrize("model", ["repeat", "share", "average"])
def test_errors_of_blocks_with_weights_add_up_to_the_objective(objective, model):
    rng = np.random.default_rng(0)
    X = rng.poisson(4.0 + 6.0 * np.kron(np.eye(3), np.ones((8, 5)))).astype(float)
    a, b = rng.random(24) + 0.5, rng.random(15) + 0.5
    options = {"objective": objective, "overlap_model": model, "row_overlap": 0.2}
    options |= {"column_overlap": 0.1, "random_state": 0, "n_init": 2, "refine": False}
    given = {"row_weight": a, "column_weight": b}
    W = None
    if objective == "observed":
        X[rng.random(X.shape) < 0.3] = np.nan
        W = rng.random(X.shape) + 0.5
        options |= {"objective": "mean", "missing": "ignore", "remove_effects": True}
        options |= {"shrinkage": 0.0, "row_overlap": 0.0, "column_overlap": 0.0}
        given["cell_weight"] = W
    fit = NEOCC(3, 3, **options).fit(X, **given)
    tables = result_tables(fit, Matrix(X), W)
    assert tables.blocks["error"].sum() == pytest.approx(fit.objective_, rel=1e-9)


@pytest.mark.parametrize("model", ["repeat", "share", "average", "sum"])
def test_errors_of_one_way_clusters_with_weights_add_up(model):
    rng = np.random.default_rng(0)
    X, a = rng.normal(size=(30, 4)), rng.random(30) + 0.5
    fit = NEOKMeans(3, overlap=0.2, overlap_model=model, random_state=0).fit(X, row_weight=a)
    tables = result_tables(fit, Matrix(X))
    assert tables.blocks["error"].sum() == pytest.approx(fit.objective_, rel=1e-9)


def test_errors_of_blocks_that_rows_follow_with_weights_add_up():
    rng = np.random.default_rng(0)
    X, weights = rng.normal(size=(30, 12)), [rng.random(size) + 0.5 for size in (30, 12)]
    fit = NEOCC(3, 3, row_overlap=0.2, overlap_model="either", random_state=0, n_init=2)
    fit.fit(X, row_weight=weights[0], column_weight=weights[1])
    tables = result_tables(fit, Matrix(X))
    assert tables.blocks["error"].sum() == pytest.approx(fit.objective_, rel=1e-9)
