"""The measures equal those of cdlib (extra `test-cdlib`), where cdlib has them."""

from __future__ import annotations

import warnings
from importlib.util import find_spec

import numpy as np
import pytest

from neocc.metrics import omega_index, overlapping_nmi

if find_spec("cdlib") is None:
    pytest.skip('cdlib is not installed: pip install "neocc[test-cdlib]"', allow_module_level=True)

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # its own and those of its many dependencies
    import networkx as nx
    from cdlib import NodeClustering, evaluation

pytestmark = pytest.mark.filterwarnings("ignore")


def random_cover(rng, n_items, n_clusters, fraction):
    """Draw overlapping clusters; cdlib allows neither uncovered items nor empty clusters."""
    cover = rng.random((n_items, n_clusters)) < fraction
    cover[np.arange(n_items), rng.integers(n_clusters, size=n_items)] = True
    return cover[:, cover.any(axis=0)]


def as_communities(cover):
    graph = nx.empty_graph(len(cover))
    clusters = [np.flatnonzero(cluster).tolist() for cluster in cover.T]
    return NodeClustering(clusters, graph, overlap=True)


@pytest.fixture(params=range(30))
def covers(request):
    rng = np.random.default_rng(request.param)
    n_items = int(rng.integers(5, 60))
    return [
        random_cover(rng, n_items, int(rng.integers(2, 7)), rng.choice([0.0, 0.1, 0.3]))
        for _ in range(2)
    ]


def test_omega_index(covers):
    theirs = evaluation.omega(*map(as_communities, covers)).score
    assert omega_index(*covers) == pytest.approx(theirs, abs=1e-12)


def test_overlapping_nmi_of_mcdaid_et_al(covers):
    communities = map(as_communities, covers)
    theirs = evaluation.overlapping_normalized_mutual_information_MGH(*communities).score
    assert overlapping_nmi(*covers) == pytest.approx(theirs, abs=1e-9)


def test_overlapping_nmi_of_lancichinetti_et_al(covers):
    communities = map(as_communities, covers)
    theirs = evaluation.overlapping_normalized_mutual_information_LFK(*communities).score
    assert overlapping_nmi(*covers, variant="lfk") == pytest.approx(theirs, abs=1e-9)
