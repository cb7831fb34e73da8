"""The engine asks nothing of shards but what their protocol says, and nobody goes around it."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import numpy as np
import pytest
from instances import make_engine, planted

import neocc
from neocc.core.engine import Engine, Shards
from neocc.engines import LocalShards, Workers, on_cluster
from neocc.engines.cluster import DaskShards

KINDS = {"local": LocalShards, "dask": DaskShards}
SOURCE = Path(neocc.__file__).parent


def public(kind):
    return {name for name in vars(kind) if not name.startswith("_")}


def methods(kind):
    return {name: value for name, value in vars(kind).items() if inspect.isfunction(value)}


def members_of_protocol():
    """Names of all attributes and methods that the protocol tells of."""
    return public(Shards) | set(inspect.get_annotations(Shards))


def signature(function):
    """Names, kinds and defaults of the parameters; what a call returns is each kind's own."""
    return [
        (each.name, each.kind, each.default)
        for each in inspect.signature(function).parameters.values()
    ]


@pytest.fixture(params=KINDS)
def shards(request):
    X = planted(np.random.default_rng(0), 30, 8)
    engine = make_engine(X)
    if request.param == "local":
        yield engine.shards
        return
    distributed = pytest.importorskip("distributed", reason="dask is not installed")
    with (
        distributed.Client(
            processes=False,
            n_workers=1,
            threads_per_worker=1,
            dashboard_address=":0",
            set_as_default=False,
        ) as client,
        Workers(1) as workers,
    ):
        yield on_cluster(engine.shards.each[0].matrix, client, "numpy", workers, 100).shards


@pytest.mark.parametrize("name", [name for name in methods(Shards) if not name.startswith("_")])
@pytest.mark.parametrize("kind", KINDS)
def test_methods_have_the_signature_of_the_protocol(kind, name):
    found = getattr(KINDS[kind], name, None)
    assert inspect.isfunction(found), f"{kind} shards have no method {name}"
    assert signature(found) == signature(getattr(Shards, name))


def test_shards_have_all_that_the_protocol_tells_of(shards):
    assert not {name for name in members_of_protocol() if not hasattr(shards, name)}


def test_centred_and_sampled_shards_have_it_too(shards):
    rows = np.arange(3)
    for other in (
        shards.centred("double", None),
        shards.centred("columns", np.full(8, 5.0)),
        shards.sample("rows", rows),
        shards.sample("columns", rows),
        shards.over_table(np.eye(3)),
    ):
        assert not {name for name in members_of_protocol() if not hasattr(other, name)}


# ------------------------------------------------------------------------------------- leaks


def attributes_of(tree, is_wanted):
    """Names of the attributes that are taken from expressions that `is_wanted` accepts."""
    return {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and is_wanted(node.value)
    }


def is_shards(node):
    """Whether an expression reads `shards`, or ends in `.shards`."""
    return (isinstance(node, ast.Name) and node.id == "shards") or (
        isinstance(node, ast.Attribute) and node.attr == "shards"
    )


def trees(*folders):
    """All modules in some folders, parsed."""
    for folder in folders:
        for path in sorted((SOURCE / folder).rglob("*.py")):
            yield str(path.relative_to(SOURCE)), ast.parse(path.read_text())


def test_the_solver_takes_nothing_else_from_shards():
    asked = {name: attributes_of(tree, is_shards) for name, tree in trees("core")}
    assert {"each", "edges", "gather"} <= asked["core/engine.py"]
    assert set().union(*asked.values()) <= members_of_protocol()


def test_nothing_but_the_solver_and_the_engines_knows_of_shards():
    found = [name for name, tree in trees("") if attributes_of(tree, is_shards)]
    assert found
    assert not [name for name in found if not name.startswith(("core/", "engines/"))]


def is_engine(node):
    return isinstance(node, ast.Name) and node.id == "engine"


def test_nothing_takes_from_an_engine_what_it_does_not_have():
    known = public(Engine) | set(inspect.get_annotations(Engine))
    unknown = {
        name: attributes_of(tree, is_engine) - known
        for name, tree in trees("core", "selection", "estimators", "rivals")
    }
    assert not {name: asked for name, asked in unknown.items() if asked}


def test_private_parts_of_an_engine_stay_private():
    private = {name for name in inspect.get_annotations(Engine) if name.startswith("_")}
    assert private
    for name, tree in trees(""):
        asked = attributes_of(
            tree, lambda node: isinstance(node, ast.Name) and node.id in ("engine", "data")
        )
        assert not asked & private, name
