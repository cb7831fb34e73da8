"""Pictures are drawn where matplotlib is, and its absence is explained where it is not."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from neocc.datasets import make_coclusters
from neocc.selection import estimate_overlap_and_outliers, stability, suggest_n_clusters


def results():
    X, _, _ = make_coclusters((60, 40), 3, 2, row_overlap=0.1, row_outliers=0.05, random_state=0)
    options = {"random_state": 0, "row_overlap": 0.1, "row_outliers": 0.05}
    return [
        estimate_overlap_and_outliers(X, 3, delta_outliers=2.0, random_state=0),
        suggest_n_clusters(X, [2, 3, 4], [2, 3], criteria="icl", **options),
        suggest_n_clusters(X, **options),
        stability(X, 3, 2, n_runs=2, **options),
    ]


def test_without_matplotlib_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    for result in results():
        with pytest.raises(
            ImportError, match=r'plot needs matplotlib: pip install "neocc\[plot\]"'
        ):
            result.plot()


def test_results_plot_themselves():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib.figure import Figure

    for result in results():
        ax = Figure().subplots()
        assert result.plot(ax=ax) is ax
        assert ax.get_xlabel()
        assert ax.get_ylabel()
        assert ax.get_title()
        ax.figure.canvas.draw()
    result.plot(ax=Figure().subplots(), side="columns")
    with pytest.raises(ValueError, match="side must be one of"):
        result.plot(side="both")


def test_degenerate_results_plot_too():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib.figure import Figure

    constant = np.ones((5, 4))
    for result in (
        estimate_overlap_and_outliers(constant, 2, random_state=0),
        suggest_n_clusters(constant, random_state=0),
        suggest_n_clusters(constant, criteria="icl", random_state=0),
    ):
        ax = result.plot(ax=Figure().subplots())
        ax.figure.canvas.draw()
    with pytest.raises(ValueError, match="criterion must be one of"):
        result.plot(criterion="aic")
