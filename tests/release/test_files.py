"""What a release is made of: metadata that agree, a README for package indexes, a whole wheel."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from fnmatch import fnmatch
from pathlib import Path

import pytest
import yaml
from lowest import lowest_versions

import neocc

ROOT = Path(__file__).parents[2]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = SETTINGS["project"]
README = (ROOT / "README.md").read_text(encoding="utf-8")
REPOSITORY = PROJECT["urls"]["Source"]
RAW = REPOSITORY.replace("github.com", "raw.githubusercontent.com")


def links(text: str) -> list[str]:
    """Return the targets of all links and pictures in Markdown, those of HTML included."""
    text = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    return [*re.findall(r"\]\(([^)\s]+)", text), *re.findall(r"(?:href|src)=\"([^\"]+)", text)]


def test_no_compiled_function_has_its_lines_counted():
    """Probes among its lines would stop numba; said here, not by hundreds of failures."""
    omitted = SETTINGS["tool"]["slipcover"]["omit"]
    files = [path for path in (ROOT / "src").rglob("*.py") if b"@compiled" in path.read_bytes()]
    assert len(files) > 5
    for path in files:
        assert any(fnmatch(str(path), pattern) for pattern in omitted), path


def test_the_readme_renders_where_its_files_are_not():
    found = links(README)
    assert len(found) > 10
    for link in found:
        assert link.startswith(("https://", "#")), link


def test_links_of_the_readme_to_the_repository_lead_somewhere():
    own = [link for link in links(README) if "github" in link]
    assert any(link.startswith(f"{RAW}/main/") for link in own)  # a picture
    for link in own:
        path = re.sub(rf"^({REPOSITORY}/blob|{RAW})/main/", "", link)
        assert (ROOT / path).is_file(), link


def test_versions_agree():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == neocc.__version__
    assert citation["license"] == PROJECT["license"]
    assert citation["repository-code"] == REPOSITORY
    assert citation["preferred-citation"]["doi"] in README
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"## [{neocc.__version__}]" in changes


def test_pythons_of_classifiers_and_workflow_agree():
    named = [one.rpartition(" ")[2] for one in PROJECT["classifiers"] if ":: 3." in one]
    workflow = yaml.safe_load((ROOT / ".github/workflows/tests.yml").read_text(encoding="utf-8"))
    assert workflow["jobs"]["pythons"]["strategy"]["matrix"]["python"] == named
    assert PROJECT["requires-python"] == f">={named[0]}"


@pytest.mark.parametrize("path", sorted((ROOT / ".github").rglob("*.yml")), ids=lambda p: p.stem)
def test_workflows_and_templates_are_yaml(path):
    assert isinstance(yaml.safe_load(path.read_text(encoding="utf-8")), dict)


def test_every_make_target_of_the_workflows_exists():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for path in (ROOT / ".github/workflows").glob("*.yml"):
        for target in re.findall(r"run: make (\w+)", path.read_text(encoding="utf-8")):
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_every_dependency_has_a_floor_and_a_reason():
    reasons = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("## Dependencies")[2]
    for name in lowest_versions():
        assert re.search(rf"\b{name.removesuffix('-cuda12x')}\b", reasons), name


def test_asv_finds_its_benchmarks():
    conf = json.loads((ROOT / "asv.conf.json").read_text(encoding="utf-8"))
    assert list((ROOT / conf["benchmark_dir"]).glob("[a-z]*.py"))


@pytest.mark.slow
def test_what_is_in_the_wheel(tmp_path):
    """Needs the registry, for the tool that builds them."""
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(tmp_path), str(ROOT)],
        check=True,
    )
    (wheel,) = tmp_path.glob("*.whl")
    assert wheel.name == f"neocc-{neocc.__version__}-py3-none-any.whl"
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        about = archive.read(f"neocc-{neocc.__version__}.dist-info/METADATA").decode()
    assert {name.split("/")[0] for name in names} == {
        "neocc",
        f"neocc-{neocc.__version__}.dist-info",
    }
    inside = [name for name in names if name.startswith("neocc/")]
    assert not [name for name in inside if name.startswith("neocc/paper/")]
    of_source = {
        path.relative_to(ROOT / "src").as_posix()
        for path in (ROOT / "src/neocc").rglob("*")
        if path.is_file() and path.suffix not in (".pyc", ".nbi", ".nbc")
    }
    assert set(inside) == {name for name in of_source if not name.startswith("neocc/paper/")}
    base = [line for line in about.splitlines() if line.startswith("Requires-Dist")]
    base = {re.split(r"[ >=]+", line)[1] for line in base if "extra ==" not in line}
    assert base == {"numpy", "scipy", "scikit-learn", "numba", "joblib", "threadpoolctl"}


@pytest.mark.slow
def test_what_is_in_the_sdist():
    """After `make dist`, which makes it, and the wheel from it."""
    made = list((ROOT / "dist").glob("*.tar.gz"))
    if not made:
        pytest.skip("there is no sdist: make dist")
    with tarfile.open(made[0]) as archive:
        names = {"/".join(name.split("/")[1:]) for name in archive.getnames()}
    assert {"LICENSE", "README.md", "CITATION.cff", "tests/conftest.py"} <= names
    assert {"src/neocc/paper/__init__.py", "docs/conf.py", "examples/README.rst"} <= names
    assert not [name for name in names if name.startswith((".venv", "shared", "docs/_build"))]
