"""
Single cells: cell types and the genes that mark them
=====================================================

Seven hundred blood cells and 765 genes. The cells were labelled by comparing them with cells that
had been sorted in the laboratory. The fit does not see these labels; we use them to judge it.
"""

# %%
# The file is part of the scanpy wheel. Only the file is read; scanpy is not imported. The values
# are expression levels, scaled to mean 0 and variance 1 for every gene; as is usual, we cut extreme
# ones, which would count most in squared errors.

from collections import Counter
from importlib.metadata import distribution

import h5py
import numpy as np
from matplotlib import pyplot as plt

from neocc import NEOCC, top_features

path = distribution("scanpy").locate_file("scanpy/datasets/10x_pbmc68k_reduced.h5ad")
with h5py.File(path) as file:
    X = np.clip(file["X"][:].astype(float), -3, 3)
    genes = file["var"]["index"].astype(str)
    kinds = file["uns/bulk_labels_categories"][:].astype(str)
    labels = kinds[file["obs"]["bulk_labels"]]
    umap = file["obsm"]["X_umap"]

# %%
# Eight groups of cells, twelve of genes. Five percent more memberships than cells: some cells may
# be the mean of two groups. (We looked at a few numbers with the labels at hand; with fewer groups,
# killer cells were not a group of their own.)

model = NEOCC(
    n_row_clusters=8,
    n_column_clusters=12,
    overlap_model="average",
    row_overlap=0.05,
    n_init=3,
    random_state=0,
).fit(X)

for group, cells in enumerate(model.row_membership_.T, start=1):
    common = Counter(labels[cells].tolist()).most_common(2)
    print(f"R{group}, {cells.sum()} cells:", ", ".join(f"{n} {kind}" for kind, n in common))

# %%
# For each group of cells, the genes that are highest in it compared with the other groups.

found = top_features(model, genes, n=5)
print(found)
markers = [np.flatnonzero(genes == gene)[0] for line in found.values() for gene, _ in line]
markers = list(dict.fromkeys(markers))

# %%
# Which pairs of groups share cells, and how many?

pairs = (tuple(np.flatnonzero(cell) + 1) for cell in model.row_membership_ if cell.sum() > 1)
for (one, other), n in Counter(pairs).most_common(4):
    print(f"R{one} and R{other}: {n}")

# %%
# On the left, the cells on the map that the authors of the file computed; cells of two groups have
# two colours. On the right, the marker genes, cells sorted by group.

colours = plt.get_cmap("tab10").colors
U = model.row_membership_
figure, (left, right) = plt.subplots(1, 2, figsize=(13, 6), layout="constrained")
for group in range(8):
    is_in, alone = U[:, group], U.sum(axis=1) == 1
    name = Counter(labels[is_in].tolist()).most_common(1)[0][0]
    style = {"s": 14, "color": colours[group], "linewidths": 0}
    left.scatter(*umap[is_in & alone].T, label=f"R{group + 1}: {name}", **style)
for p in np.flatnonzero(U.sum(axis=1) > 1):
    inner, outer = np.flatnonzero(U[p])[:2]
    left.scatter(*umap[p], s=34, color=colours[inner], edgecolors=colours[outer], linewidths=2.5)
left.legend(fontsize=8, frameon=False, markerscale=1.6)
left.legend_.set_title("group: its most common label", {"size": 9})
left.set_title("Groups on the map of the cells", loc="left")
left.set_xticks([])
left.set_yticks([])
order = np.argsort(U.argmax(axis=1), kind="stable")
right.imshow(X[order][:, markers], aspect="auto", cmap="RdBu_r", vmin=-3, vmax=3)
right.set_xticks(range(len(markers)), genes[markers], rotation=90, fontsize=8)
ends = np.cumsum([U[U.argmax(axis=1) == g, g].sum() for g in range(8)])
right.hlines(ends - 0.5, -0.5, len(markers) - 0.5, color="black", linewidth=0.8)
right.set_yticks((np.r_[0, ends[:-1]] + ends) / 2, [f"R{g + 1}" for g in range(8)])
right.set_title("Marker genes, cells sorted by group", loc="left")

# %%
# The groups are cell types, with markers from the textbook: CD79A for B cells, GNLY for natural
# killer cells, CD3E for T cells. Most cells in two groups show the genes of monocytes together with
# those of T cells or killer cells: they may be two cells caught in one droplet, worth a second
# look.
