"""The loop is short enough to be read alone."""

from __future__ import annotations

import ast
import inspect
import textwrap

from neocc.core import solve as module
from neocc.core.problem import Problem

MOST_LINES = 80


def n_lines(function):
    """Return the lines of a function that are neither blank nor part of its docstring."""
    lines = textwrap.dedent(inspect.getsource(function)).splitlines()
    first = ast.parse("\n".join(lines)).body[0].body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
        del lines[first.lineno - 1 : first.end_lineno]
    return sum(bool(line.strip()) for line in lines)


def called_by(function):
    """Return the functions of the package that it calls by name, and the methods of its problem."""
    found = {}
    for call in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(function)))):
        if not isinstance(call, ast.Call):
            continue
        if isinstance(call.func, ast.Name):
            found[call.func.id] = getattr(module, call.func.id, None)
        elif isinstance(call.func, ast.Attribute) and ast.unparse(call.func.value) == "problem":
            found[call.func.attr] = getattr(Problem, call.func.attr)
    return {name: each for name, each in found.items() if inspect.isfunction(each)}


def test_lines_and_calls_are_counted():
    def example(problem):
        """Return something.

        In two paragraphs.
        """
        # A comment counts.

        problem.constant(None)
        return module.checked, half_step()

    def half_step():
        return len("")

    assert n_lines(example) == 4
    assert set(called_by(example)) == {"constant", "half_step"}


def test_the_loop_with_what_it_calls_is_at_most_80_lines():
    called = called_by(module.solve)
    assert {"counted", "half_step", "make_features", "moved"} <= set(called)
    lines = {name: n_lines(each) for name, each in {"solve": module.solve, **called}.items()}
    assert sum(lines.values()) <= MOST_LINES, lines
