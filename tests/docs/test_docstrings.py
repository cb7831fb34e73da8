"""Docstrings of public names have numpydoc's form."""

from __future__ import annotations

import inspect
from importlib import import_module
from pathlib import Path

import pytest

validate = pytest.importorskip("numpydoc.validate").validate

API = Path(__file__).parents[2] / "docs" / "api.rst"

# Not every entry has more to say than its first line, a sibling or an example; returned values have
# names as in scikit-learn; values of both sides stand side by side; and results and errors list
# their fields as attributes, and say in a line what their methods return. Up to numpydoc 1.10 GL01
# wants the first line below the quotes; later it does not.
NOT_ASKED = {"GL01", "ES01", "SA01", "EX01", "RT02", "PR03"}
NOT_ASKED_OF_RESULTS = {"PR01", "RT01"}
MODULES = ("datasets", "io", "metrics", "plot", "preprocessing", "report", "scverse", "selection")


def public(module: str) -> list[str]:
    """Return the classes and functions that a module offers, by where they are defined."""
    offered = import_module(module)
    found = (getattr(offered, name) for name in offered.__all__)
    return sorted(f"{one.__module__}:{one.__qualname__}" for one in found if callable(one))


def methods(path: str) -> list[str]:
    """Return a class and its own public methods, or a function."""
    module, name = path.split(":")
    one = getattr(import_module(module), name)
    own = [key for key, value in vars(one).items() if callable(value) and key[0] != "_"]
    return [f"{module}.{name}", *(f"{module}.{name}.{key}" for key in own if inspect.isclass(one))]


def faults(path: str, not_asked: set[str]) -> list[str]:
    return [
        f"{name}: {code} {said}"
        for name in methods(path)
        for code, said in validate(name)["errors"]
        if code not in not_asked
    ]


@pytest.mark.parametrize("path", public("neocc"))
def test_estimators(path):
    assert not faults(path, NOT_ASKED)


@pytest.mark.parametrize("module", MODULES)
def test_the_other_modules(module):
    said = [
        line
        for path in public(f"neocc.{module}")
        for line in faults(path, NOT_ASKED | NOT_ASKED_OF_RESULTS)
    ]
    assert not said


def listed():
    """Yield what the API reference lists."""
    module = ""
    for line in API.read_text(encoding="utf-8").splitlines():
        if line.startswith(".. currentmodule::"):
            module = line.split()[-1]
        elif line.startswith("   ") and line.strip().isidentifier():
            yield f"{module}.{line.strip()}", getattr(import_module(module), line.strip())


def test_an_example_stands_in_every_entry_of_the_reference():
    lacking = [
        name
        for name, one in listed()
        if "Examples\n" not in (inspect.getdoc(one) or "") and not is_error(one)
    ]
    assert not lacking


def is_error(one):
    return inspect.isclass(one) and issubclass(one, Exception) and not issubclass(one, Warning)
