"""The base install is small, and complete for what it promises; the rest names its extra."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
import venv
from importlib import util
from pathlib import Path

import numpy as np
import pytest

import neocc.io
from neocc import NEOCC

ROOT = Path(__file__).parents[2]
EXTRAS = ("dask", "distributed", "h5py", "matplotlib", "openpyxl", "pandas", "polars", "pooch")
EXTRAS += ("pyarrow", "pydantic", "rich", "typer")
MOST_MEGABYTES = 520

IN_THE_BASE = """
import tempfile
from pathlib import Path
from neocc import NEOCC
from neocc.datasets import load_southern_women
from neocc.io import load_model, open_store, read_matrix, save_model, write_matrix, write_store
from neocc.report import write_report

X = load_southern_women().data
model = NEOCC(2, 2, row_overlap=0.1, random_state=0).fit(X)
with tempfile.TemporaryDirectory() as folder:
    folder = Path(folder)
    save_model(model, folder / "model.neocc")
    assert (load_model(folder / "model.neocc").predict(X) == model.predict(X)).all()
    write_store(folder / "women.blocks", X)
    again = NEOCC(2, 2, row_overlap=0.1, random_state=0).fit(open_store(folder / "women.blocks"))
    assert (again.row_membership_ == model.row_membership_).all()
    for name in ("women.npy", "women.npz"):
        write_matrix(X, folder / name)
        assert (read_matrix(folder / name).data == X).all()
    write_report(model, folder / "report.html", matrix=X)
print(model.objective_)
"""
COMPILED = """
from scipy import sparse
from neocc import MSSR, NEOCC, NEOKMeans
from neocc.datasets import load_southern_women
X = sparse.csr_array(load_southern_women().data)
NEOCC(2, 2, objective="poisson", kernel="numba", n_jobs=2, random_state=0).fit(X)
NEOKMeans(2, overlap=0.1, random_state=0).fit(X)
MSSR(2, 2, random_state=0).fit(X)
"""

# What needs pyarrow, as called with `neocc.io`, a matrix and a fitted model.
REFUSED = {
    "a table is read": lambda io, X, model: io.read_matrix("women.csv"),
    "Matrix Market is read": lambda io, X, model: io.read_matrix("women.mtx"),
    "ARFF is read": lambda io, X, model: io.read_matrix("women.arff"),
    "ratings are read": lambda io, X, model: io.read_matrix("u.data"),
    "Parquet is read": lambda io, X, model: io.read_matrix("women.parquet"),
    "Parquet is opened": lambda io, X, model: io.open_parquet("women.parquet"),
    "a table is written": lambda io, X, model: io.write_matrix(X, "new.csv"),
    "Matrix Market is written": lambda io, X, model: io.write_matrix(X, "new.mtx"),
    "Parquet is written": lambda io, X, model: io.write_matrix(X, "new.parquet"),
    "a table becomes a store": lambda io, X, model: io.write_store("new.blocks", "women.csv"),
    "a result is written": lambda io, X, model: io.write_result(model, "new", matrix=X),
}


def python(code: str, *blocked: str, cwd: Path) -> str:
    """Run code where these packages cannot be imported; return what it printed."""
    head = f"""
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name in {blocked!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Absent())
"""
    done = subprocess.run(
        [sys.executable, "-c", head + code], cwd=cwd, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_base_suffices_without_files_of_text(tmp_path):
    assert float(python(IN_THE_BASE, *EXTRAS, cwd=tmp_path)) > 0


@pytest.fixture(scope="module")
def fitted():
    X = np.array([[5.0, 0], [5, 0], [0, 5]])
    return X, NEOCC(2, 2, random_state=0).fit(X)


@pytest.mark.parametrize("what", REFUSED)
def test_every_use_of_pyarrow_names_the_extra(what, fitted, tmp_path, monkeypatch):
    """And nothing is left behind."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "women.csv").write_text("name,a,b\nx,1,2\ny,3,4\n")
    (tmp_path / "women.mtx").write_text(
        "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 1\n"
    )
    (tmp_path / "women.arff").write_text("@relation r\n@attribute a numeric\n@data\n1\n2\n")
    (tmp_path / "u.data").write_text("1\t1\t5\t881250949\n2\t1\t4\t881250949\n")
    (tmp_path / "women.parquet").write_bytes(b"PAR1")
    before = sorted(tmp_path.iterdir())
    parts = {"pyarrow", *(f"pyarrow.{part}" for part in ("compute", "csv", "parquet", "types"))}
    for name in parts:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=r'need pyarrow: pip install "neocc\[io\]"$'):
        REFUSED[what](neocc.io, *fitted)
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("missing", ["typer", "rich"])
def test_the_command_without_its_extra_is_one_line(missing, tmp_path):
    code = f"import sys; sys.modules[{missing!r}] = None; from neocc.__main__ import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "demo"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    line = 'neocc: The neocc command needs typer and rich: pip install "neocc[cli]"\n'
    assert (done.stdout, done.stderr) == ("", line)


def test_an_installed_command_without_the_paper_says_where_it_is(monkeypatch):
    from typer.testing import CliRunner

    from neocc.cli import app, results

    assert util.find_spec("neocc.paper") is not None  # in a checkout
    monkeypatch.setattr(results, "find_spec", lambda name: None)
    done = CliRunner().invoke(app, ["paper", "--quick"])
    assert done.exit_code == 2
    assert "runs from a checkout: git clone" in done.stderr


def test_all_is_every_extra_for_users_but_the_one_that_needs_a_card():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = extras["optional-dependencies"]
    tools = {"all", "docs", "gpu", "release", "test", "test-cdlib"}
    assert extras["all"] == [f"neocc[{','.join(sorted(set(extras) - tools))}]"]


@pytest.mark.slow
def test_a_fresh_environment(tmp_path, capsys):
    """The registry must be in reach."""
    folder = tmp_path / "fresh"
    venv.create(folder, with_pip=True)
    program = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [program, *words],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    installed = run("-m", "pip", "install", "--quiet", str(ROOT))
    assert installed.returncode == 0, installed.stderr
    packages = Path(run("-c", "import sysconfig; print(sysconfig.get_path('purelib'))").stdout[:-1])
    sizes: dict[str, int] = {}
    for path in packages.rglob("*"):
        if path.is_file():
            top = path.relative_to(packages).parts[0]
            sizes[top] = sizes.get(top, 0) + path.stat().st_size
    for tool in ("pip", "setuptools"):  # part of the environment, not of the install
        sizes.pop(tool, None)
    assert not {"pyarrow", "pydantic", "typer", "rich", "matplotlib", "pandas"} & set(sizes)
    megabytes = sum(sizes.values()) / 1e6
    largest = sorted(sizes, key=sizes.__getitem__)[:-7:-1]
    told = ", ".join(f"{name} {sizes[name] / 1e6:.0f}" for name in largest)
    with capsys.disabled():
        sys.stdout.write(f"\nbase install: {megabytes:.0f} MB ({told})\n")
    assert megabytes <= MOST_MEGABYTES

    for code in (IN_THE_BASE, COMPILED):
        fitted = run("-c", code)
        assert fitted.returncode == 0, fitted.stderr
    assert run("-c", "import neocc.paper").returncode != 0
    said = run("-m", "neocc", "--help")
    assert said.returncode == 1
    assert said.stderr.count("\n") == 1
    assert 'pip install "neocc[cli]"' in said.stderr
