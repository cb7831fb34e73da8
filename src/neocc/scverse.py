"""AnnData in, AnnData out: co-clusters of cells and genes beside the data they were found in.

`cocluster` fits a matrix of an AnnData object and keeps the groups in it, `plot_groups` draws them
on a map of the cells. The extra ``scverse`` has anndata; nothing here imports it.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from neocc._names import cluster_name
from neocc._typing import BoolArray, IntArray
from neocc.estimators import NEOCC
from neocc.plot._source import Side
from neocc.plot._style import NO_CLUSTER, bare, cluster_style, new_axes, set_title
from neocc.plot._words import plural

__all__ = ["cocluster", "plot_groups"]

_PARTS = ("X", "layers", "obs", "var", "obsm", "varm", "uns")
# Of settings, what AnnData's files can hold.
_PLAIN = (bool, int, float, str)
_MAPS = ("X_umap", "X_tsne", "X_draw_graph_fa", "X_diffmap", "X_pca")
_COLOURS, _MARKERS = 7, "osD^vPX"


def cocluster(
    adata: Any, layer: str | None = None, key_added: str = "neocc", **settings: Any
) -> NEOCC:
    """Co-cluster the observations and variables of an AnnData object, and keep the groups in it.

    What is written, for ``key_added="neocc"``:

    ====================  ==========================================================
    ``.obsm["neocc"]``    which observation is in which groups (booleans)
    ``.varm["neocc"]``    the same for the variables
    ``.obs["neocc"]``     the group of each observation, R1, R2, ... (of several the
                          nearest), missing for outliers
    ``.var["neocc"]``     the same for the variables: C1, C2, ...
    ``.uns["neocc"]``     the settings (``params``), means of blocks (of counts also
                          lifts) and the objective
    ====================  ==========================================================

    Parameters
    ----------
    adata : anndata.AnnData
        The data, in memory.
    layer : str, default=None
        The layer to fit; `.X` by default.
    key_added : str, default="neocc"
        The name of what is written.
    **settings
        Parameters of :class:`neocc.NEOCC`, such as ``n_row_clusters=8, random_state=0``.

    Returns
    -------
    model : NEOCC
        The fitted model, for predictions, plots, reports and `neocc.top_features`.

    See Also
    --------
    plot_groups : Draw the groups on a map of the observations.

    Examples
    --------
    >>> import anndata  # doctest: +SKIP
    >>> import numpy as np
    >>> from neocc import scverse, top_features
    >>> X = np.kron(np.array([[5.0, 0.0], [1.0, 6.0]]), np.ones((4, 3)))
    >>> adata = anndata.AnnData(X)  # doctest: +SKIP
    >>> model = scverse.cocluster(
    ...     adata, n_row_clusters=2, n_column_clusters=2, random_state=0
    ... )  # doctest: +SKIP
    >>> adata.obs["neocc"].value_counts().to_dict()  # doctest: +SKIP
    {'R1': 4, 'R2': 4}
    >>> print(top_features(model, adata.var_names, n=2))  # doctest: +SKIP
    R1  0 +4, 1 +4
    R2  3 +6, 4 +6
    """
    _check(adata)
    model: NEOCC = NEOCC(**settings).fit(_values(adata, layer))
    rows, columns = model.row_membership_, model.column_membership_
    adata.obsm[key_added], adata.varm[key_added] = rows, columns
    adata.obs[key_added] = _categories(model.row_labels_, rows, "rows")
    adata.var[key_added] = _categories(model.column_labels_, columns, "columns")
    params = {name: value for name, value in settings.items() if isinstance(value, _PLAIN)}
    adata.uns[key_added] = {
        "params": {**params, **({} if layer is None else {"layer": layer})},
        "block_means": model.block_means_,
        "objective": float(model.objective_),
    }
    if model.block_lifts_ is not None:
        adata.uns[key_added]["block_lifts"] = model.block_lifts_
    return model


def _check(adata: Any) -> None:
    """Refuse what is not AnnData, or not in memory."""
    if not all(hasattr(adata, part) for part in _PARTS):
        raise TypeError(
            f'neocc.scverse takes AnnData objects (pip install "neocc[scverse]"); got a '
            f"{type(adata).__name__}. Arrays and data frames are fitted by neocc.NEOCC itself."
        )
    if getattr(adata, "isbacked", False):
        raise ValueError(
            "This AnnData object reads its matrix from a file. Load it first: "
            "adata = adata.to_memory(). If it does not fit into memory, write a store of it "
            "(neocc.io.write_store) and fit that with neocc.NEOCC."
        )


def _values(adata: Any, layer: str | None) -> Any:
    if layer is not None and layer not in adata.layers:
        known = ", ".join(map(repr, adata.layers)) or "none"
        raise ValueError(f"There is no layer {layer!r}; adata.layers has: {known}.")
    found = adata.X if layer is None else adata.layers[layer]
    if found is None:
        raise ValueError("This AnnData object has no X. Name a layer: layer=...")
    return found


def _categories(labels: IntArray, members: BoolArray, side: Side) -> Any:
    """Return labels as categories by name, as scanpy's plots like them; outliers are missing."""
    names = [cluster_name(side, cluster) for cluster in range(members.shape[1])]
    return import_module("pandas").Categorical.from_codes(labels, names)


# -------------------------------------------------------------------------------------- picture


def plot_groups(
    adata: Any,
    basis: str | None = None,
    key: str = "neocc",
    *,
    size: float | None = None,
    title: str | None = None,
    ax: Any = None,
) -> Any:
    """Draw the groups of observations on a map of them, such as UMAP.

    Each group has a colour, and its name stands at its middle. Observations of two groups have the
    colours of both, one inside and one around; crosses are outliers.

    Parameters
    ----------
    adata : anndata.AnnData
        With groups that `cocluster` has written.
    basis : str, default=None
        The map: "umap" stands for ``.obsm["X_umap"]``. By default the first there is of UMAP,
        t-SNE, a graph, a diffusion map and principal components.
    key : str, default="neocc"
        The name under which the groups were written.
    size : float, default=None
        Area of a dot in square points; by default the smaller the more there are.
    title : str, default=None
        The title, instead of one that says what was found.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; a new figure by default.

    Returns
    -------
    ax : matplotlib.axes.Axes
        The axes.

    Examples
    --------
    >>> from neocc import scverse
    >>> scverse.cocluster(adata, n_row_clusters=8, random_state=0)  # doctest: +SKIP
    >>> ax = scverse.plot_groups(adata, "umap")  # doctest: +SKIP
    """
    _check(adata)
    if key not in adata.obsm:
        raise ValueError(
            f"There is no {key!r} in adata.obsm: call neocc.scverse.cocluster(adata) first."
        )
    name, where = _read_map(adata, basis)
    members: BoolArray = np.asarray(adata.obsm[key], dtype=bool)
    ax = new_axes(ax, (7.0, 5.6))
    size = float(np.clip(8000 / len(where), 2.0, 40.0)) if size is None else size
    numbers = members.sum(axis=1)
    without = numbers == 0
    ax.scatter(*where[without].T, s=size, color=NO_CLUSTER, marker="x", linewidths=0.8)
    for group, inside in enumerate(members.T):
        _draw_group(ax, where, members, group, size)
        if inside.any():
            text = cluster_name("rows", group)
            middle = np.median(where[inside & (numbers == numbers[inside].min())], axis=0)
            box = {
                "boxstyle": "round,pad=0.15",
                "facecolor": "white",
                "alpha": 0.65,
                "linewidth": 0,
            }
            ax.text(*middle, text, ha="center", va="center", fontsize=9, weight="bold", bbox=box)
    bare(ax)
    ax.set(xticks=[], yticks=[])
    ax.set_xlabel(name, fontsize=8, loc="left")
    set_title(ax, title, _answer(members))
    return ax


def _draw_group(ax: Any, where: Any, members: BoolArray, group: int, size: float) -> None:
    """Draw those whose first group it is; the second one is drawn around them."""
    own = members[:, group] & ~members[:, :group].any(axis=1)
    marker = _MARKERS[group // _COLOURS % len(_MARKERS)]
    style = {"color": cluster_style(group)["facecolor"], "marker": marker}
    alone = own & (members.sum(axis=1) == 1)
    ax.scatter(*where[alone].T, s=size, linewidths=0, **style)
    for other in range(group + 1, members.shape[1]):
        both = own & members[:, other] & ~members[:, group + 1 : other].any(axis=1)
        if both.any():
            edge = cluster_style(other)["facecolor"]
            around = {"edgecolors": edge, "linewidths": 1.5, "zorder": 2}
            ax.scatter(*where[both].T, s=2 * size, **style, **around)


def _answer(members: BoolArray) -> str:
    numbers = members.sum(axis=1)
    text = f"{plural(members.shape[1], 'group')} of {len(members):,} observations"
    several, without = int((numbers > 1).sum()), int((numbers == 0).sum())
    text += f", {several:,} in several" if several else ""
    return text + (f", {without:,} in none" if without else "")


def _read_map(adata: Any, basis: str | None) -> tuple[str, Any]:
    """Return the name and the first two coordinates of a map."""
    asked = _MAPS if basis is None else (basis, f"X_{basis}")
    name = next((each for each in asked if each in adata.obsm), None)
    if name is None:
        known = ", ".join(map(repr, adata.obsm)) or "nothing"
        missing = "no map of the observations" if basis is None else f"no map {basis!r}"
        raise ValueError(
            f"There is {missing} in adata.obsm, which has {known}. Compute one, with "
            "scanpy.tl.umap(adata) for instance, or name another: basis=..."
        )
    where = np.asarray(adata.obsm[name])
    if where.ndim != 2 or where.shape[1] < 2:
        raise ValueError(f"adata.obsm[{name!r}] has no two coordinates to draw.")
    return name.removeprefix("X_"), where[:, :2]
