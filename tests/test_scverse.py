"""Groups in AnnData objects: with anndata itself where it is installed, always with a stand-in."""

from __future__ import annotations

import doctest
import re
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from neocc import NEOCC, scverse, top_features

pandas = pytest.importorskip("pandas")
SETTINGS = {"n_row_clusters": 3, "n_column_clusters": 2, "n_init": 2, "random_state": 0}


def stand_in(X, layers=None):
    """What is used of AnnData, which checks shapes and holds a table of names a side."""
    names = [[f"{name}{i}" for i in range(n)] for name, n in zip("og", X.shape, strict=True)]
    sides = [pandas.DataFrame(index=pandas.Index(each)) for each in names]
    return SimpleNamespace(
        X=X,
        layers=layers or {},
        obs=sides[0],
        var=sides[1],
        obs_names=sides[0].index,
        var_names=sides[1].index,
        obsm={},
        varm={},
        uns={},
        isbacked=False,
    )


def real(X, layers=None):
    anndata = pytest.importorskip("anndata")
    adata = anndata.AnnData(X, layers=layers)
    adata.obs_names = [f"o{i}" for i in range(adata.n_obs)]
    adata.var_names = [f"g{i}" for i in range(adata.n_vars)]
    return adata


makes_data = pytest.mark.parametrize("make", [stand_in, real])


def cells(seed=0, n=30, m=14):
    rng = np.random.default_rng(seed)
    return rng.poisson(0.2 + 3 * np.eye(3)[np.arange(n) % 3][:, np.arange(m) % 3]).astype(float)


@makes_data
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix, sparse.csc_matrix])
def test_groups_are_those_of_the_estimator(make, container):
    X = cells()
    adata = make(container(X))
    model = scverse.cocluster(adata, row_overlap=0.1, row_outliers=0.1, **SETTINGS)
    expected = NEOCC(row_overlap=0.1, row_outliers=0.1, **SETTINGS).fit(X)
    np.testing.assert_array_equal(adata.obsm["neocc"], expected.row_membership_)
    np.testing.assert_array_equal(adata.varm["neocc"], expected.column_membership_)
    assert adata.uns["neocc"]["objective"] == pytest.approx(expected.objective_)
    np.testing.assert_allclose(adata.uns["neocc"]["block_means"], expected.block_means_)
    assert adata.uns["neocc"]["params"] == {"row_overlap": 0.1, "row_outliers": 0.1, **SETTINGS}
    assert "block_lifts" not in adata.uns["neocc"]
    np.testing.assert_array_equal(model.row_membership_, expected.row_membership_)


@makes_data
def test_labels_are_categories_and_one_of_the_groups(make):
    adata = make(cells())
    model = scverse.cocluster(adata, row_overlap=0.1, row_outliers=0.1, **SETTINGS)
    for frame, members, names in (
        (adata.obs, model.row_membership_, ["R1", "R2", "R3"]),
        (adata.var, model.column_membership_, ["C1", "C2"]),
    ):
        labels = frame["neocc"]
        assert list(labels.cat.categories) == names
        np.testing.assert_array_equal(labels.isna(), ~members.any(axis=1))
        for label, groups in zip(labels, members, strict=True):
            assert not groups.any() or groups[names.index(label)]
    assert adata.obs["neocc"].isna().any()


@makes_data
def test_layers_keys_and_counts(make):
    X = cells()
    adata = make(np.zeros_like(X), {"counts": sparse.csr_matrix(X)})
    model = scverse.cocluster(adata, "counts", "topics", objective="poisson", **SETTINGS)
    assert set(adata.obsm) == {"topics"}
    assert adata.uns["topics"]["params"]["layer"] == "counts"
    np.testing.assert_array_equal(adata.uns["topics"]["block_lifts"], model.block_lifts_)
    assert top_features(model, adata.var_names, n=1)["R1"][0][0] in set(adata.var_names)
    with pytest.raises(ValueError, match=r"no layer 'raw'; adata\.layers has: 'counts'\."):
        scverse.cocluster(adata, "raw")


@makes_data
def test_what_is_no_plain_setting_is_not_written(make):
    adata = make(cells())
    scverse.cocluster(adata, **{**SETTINGS, "random_state": np.random.RandomState(0)})
    assert set(adata.uns["neocc"]["params"]) == set(SETTINGS) - {"random_state"}


def test_files_hold_what_was_written(tmp_path):
    anndata = pytest.importorskip("anndata")
    adata = real(sparse.csr_matrix(cells()))
    scverse.cocluster(adata, objective="poisson", row_outliers=0.1, prior=2.0, **SETTINGS)
    adata.write_h5ad(tmp_path / "cells.h5ad")
    again = anndata.read_h5ad(tmp_path / "cells.h5ad")
    np.testing.assert_array_equal(again.obsm["neocc"], adata.obsm["neocc"])
    assert again.obs["neocc"].equals(adata.obs["neocc"])
    assert again.uns["neocc"]["params"]["objective"] == "poisson"
    backed = anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r")
    with pytest.raises(ValueError, match="to_memory"):
        scverse.cocluster(backed)
    backed.file.close()


def test_views_are_fitted_as_what_they_show():
    X = cells()
    view = real(X)[:, ::2]
    with pytest.warns(Warning, match="view"):
        model = scverse.cocluster(view, **SETTINGS)
    expected = NEOCC(**SETTINGS).fit(X[:, ::2])
    np.testing.assert_array_equal(view.obsm["neocc"], expected.row_membership_)
    assert model.objective_ == expected.objective_


def test_the_example_of_the_docstring_is_true():
    pytest.importorskip("anndata")
    text = re.sub(r"  # doctest: \+SKIP", "", scverse.cocluster.__doc__)
    test = doctest.DocTestParser().get_doctest(text, {}, "cocluster", None, None)
    assert doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test).failed == 0


def test_what_is_not_anndata_is_refused():
    with pytest.raises(TypeError, match=r'AnnData.*"neocc\[scverse\]".*got a ndarray'):
        scverse.cocluster(cells())
    adata = stand_in(cells())
    adata.isbacked = True
    with pytest.raises(ValueError, match="to_memory"):
        scverse.cocluster(adata)
    adata.isbacked, adata.X = False, None
    with pytest.raises(ValueError, match="Name a layer"):
        scverse.cocluster(adata)


# -------------------------------------------------------------------------------------- pictures


def with_groups(members, where):
    adata = stand_in(np.zeros((len(members), 3)))
    adata.obsm = {"X_umap": where, "neocc": np.array(members, dtype=bool)}
    return adata


def drawn(ax):
    """Positions by colours inside and around."""
    pytest.importorskip("matplotlib")
    from matplotlib.colors import to_hex

    found = {}
    for dots in ax.collections:
        style = to_hex(dots.get_facecolor()[0]), to_hex(dots.get_edgecolor()[0])
        found.setdefault(style, []).extend(map(tuple, dots.get_offsets().tolist()))
    return found


def test_dots_have_the_colours_of_their_groups():
    pytest.importorskip("matplotlib")
    from neocc.plot._style import cluster_style

    members = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 0, 0]]
    where = np.arange(18.0).reshape(6, 3)
    ax = scverse.plot_groups(with_groups(members, where))
    one, two, three = (cluster_style(i)["facecolor"].lower() for i in range(3))
    styles = {}
    for style, places in drawn(ax).items():
        for place in places:
            assert place not in styles
            styles[place] = style
    at = [styles[tuple(line)] for line in where[:, :2].tolist()]
    assert [style[0] for style in at[:5]] == [one, two, three, one, one]
    assert [style[1] for style in at[3:5]] == [three, two]
    assert at[5][0] not in (one, two, three)
    assert ax.get_title(loc="left") == "3 groups of 6 observations, 2 in several, 1 in none"
    assert [text.get_text() for text in ax.texts] == ["R1", "R2", "R3"]


def test_many_groups_can_be_told_apart():
    from neocc.plot._style import cluster_style

    members = np.eye(16, dtype=bool)
    ax = scverse.plot_groups(with_groups(members, np.random.default_rng(0).random((16, 2))))
    marks = {
        (cluster_style(i)["facecolor"], ax.collections[i + 1].get_paths()[0].vertices.tobytes())
        for i in range(16)
    }
    assert len(marks) == 16


def test_maps_are_found_by_name():
    adata = with_groups([[1], [1]], np.zeros((2, 2)))
    adata.obsm["X_pca"] = np.ones((2, 5))
    assert scverse.plot_groups(adata).get_xlabel() == "umap"
    assert scverse.plot_groups(adata, "pca", title="Cells").get_xlabel() == "pca"
    with pytest.raises(ValueError, match=r"no map 'tsne' in adata\.obsm, which has 'X_umap'"):
        scverse.plot_groups(adata, "tsne")
    with pytest.raises(ValueError, match=r"no 'other' in adata\.obsm"):
        scverse.plot_groups(adata, key="other")
    adata.obsm = {"neocc": adata.obsm["neocc"]}
    with pytest.raises(ValueError, match=r"no map of the observations.*scanpy\.tl\.umap"):
        scverse.plot_groups(adata)
