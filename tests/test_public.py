"""The public face: names that exist, and imports that cost nothing until they are needed."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from inspect import isfunction, signature
from pathlib import Path

import pytest

import neocc

MODULES = (
    *("datasets", "io", "metrics", "plot", "preprocessing", "report", "scverse", "selection"),
)


def modules_after(code: str) -> set[str]:
    """Run code in a fresh interpreter and return the modules it imported."""
    code += "\nimport json, sys; print(json.dumps(sorted(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(json.loads(run.stdout))


def test_every_public_name_can_be_imported():
    for name in neocc.__all__:
        assert getattr(neocc, name) is not None
    assert set(dir(neocc)) == {*neocc.__all__, *MODULES}


def test_public_names_are_those_of_the_estimators_and_of_their_rivals():
    from neocc import estimators

    rivals = {"LowRankNEOKMeans", "ROCC", "InfinitePlaid"}
    assert set(neocc.__all__) == {*estimators.__all__, *rivals, "__version__"}
    assert {"NEOCC", "NEOKMeans", "MSSR", "objective_value"} <= set(neocc.__all__)


def test_modules_are_attributes_without_an_import_of_their_own():
    code = "import neocc\n" + "\n".join(f"assert neocc.{name}.__all__" for name in MODULES)
    loaded = modules_after(code)
    assert {f"neocc.{name}" for name in MODULES} <= loaded
    loaded = modules_after("import neocc\nneocc.metrics.best_match_f1")
    others = {f"neocc.{name}" for name in MODULES if name != "metrics"}
    assert not loaded & {*others, "neocc.estimators", "sklearn", "matplotlib"}


def test_no_file_but_one_takes_private_names_of_scikit_learn():
    folder = Path(neocc.__file__).parent
    names = re.compile(
        r"^\s*from sklearn[\w.]*\._\w+ import|^\s*from sklearn[\w.]* import .*\b_\w", re.M
    )
    found = [path.name for path in folder.rglob("*.py") if names.search(path.read_text())]
    assert found == ["_sklearn.py"]


def test_functions_of_a_model_and_data_take_them_in_one_order():
    """The model, then where something is written, then the data."""
    seen = 0
    for module in MODULES:
        package = getattr(neocc, module)
        for name in package.__all__:
            function = getattr(package, name)
            names = list(signature(function).parameters) if isfunction(function) else []
            if "model" not in names:
                continue
            places = [each for each in names if each in ("path", "folder")]
            data = [each for each in names if each in ("X", "matrix")]
            expected = ["model", *places, *data]
            assert names[: len(expected)] == expected, name
            seen += 1
    assert seen >= 8


def test_selection_shows_what_is_for_users():
    from neocc import selection

    inner = {
        "Asked",
        "Wanted",
        "choose_numbers",
        "completed",
        "estimate_sides",
        "kmeans",
        "estimate",
    }
    assert not inner & set(dir(selection))


def test_star_import_gives_all_public_names():
    names: dict[str, object] = {}
    exec("from neocc import *", names)
    assert set(neocc.__all__) <= set(names)


def test_unknown_names_are_refused():
    with pytest.raises(AttributeError, match="no attribute 'NEOC'"):
        neocc.NEOC  # noqa: B018


@pytest.mark.parametrize(
    "package",
    [
        "estimators",
        "kernels",
        "engines",
        "datasets",
        "rivals.lowrank",
        "rivals.plaid",
        "rivals.plaid.kernels",
        "rivals.rocc",
    ],
)
def test_subpackages_export_what_they_say(package):
    module = __import__(f"neocc.{package}", fromlist=["*"])
    for name in module.__all__:
        assert hasattr(module, name)


def test_import_loads_no_heavy_package():
    loaded = modules_after("import neocc")
    assert not loaded & {"numpy", "scipy", "sklearn", "numba", "joblib", "typer", "rich"}


def test_a_small_fit_compiles_nothing():
    loaded = modules_after(
        "import numpy as np\n"
        "from neocc import NEOCC, NEOKMeans, MSSR\n"
        "X = np.random.default_rng(0).normal(size=(100, 80))\n"
        "NEOCC(3, 3, random_state=0).fit(X).predict(X)\n"
        "NEOCC(3, 3, objective='residue', row_overlap=0.1, row_outliers=0.1).fit(X)\n"
        "NEOKMeans(3).fit(X)\n"
        "MSSR(3, 3).fit(X)"
    )
    assert not {name for name in loaded if name.split(".")[0] in {"numba", "llvmlite"}}
    assert "neocc.kernels.numba_" not in loaded
    assert not {name for name in loaded if name.startswith("neocc.rivals")}


def test_importing_an_estimator_loads_no_optional_package():
    loaded = modules_after("from neocc import NEOCC")
    assert not loaded & {"typer", "polars", "numba", "llvmlite"}
