"""
Wine: rows alone, with k-means that may say "both" or "neither"
===============================================================

178 wines of three cultivars, thirteen measurements each, from scikit-learn. With so few columns
there is little to group on their side: :class:`neocc.NEOKMeans` groups the rows alone.
"""

# %%
# Measurements have units of their own, so each is brought to mean 0 and variance 1 first.

import numpy as np
from matplotlib import pyplot as plt
from sklearn.decomposition import PCA

from neocc import NEOKMeans
from neocc.datasets import load_wine
from neocc.preprocessing import standardize

data = load_wine()
X = standardize(data.data, axis="columns")
cultivars = data.row_membership.argmax(axis=1)

# %%
# This is k-means with two more numbers: five percent extra memberships, at most three percent
# outside.

model = NEOKMeans(
    n_clusters=3, overlap_model="average", overlap=0.05, outliers=0.03, random_state=0
).fit(X)
U = model.membership_
print("wines of each cultivar in each group:")
print(np.eye(3, dtype=int)[cultivars].T @ U)
print(f"{(U.sum(axis=1) > 1).sum()} wines in two groups, {model.outliers_.sum()} in none")

# %%
# Draw the wines along their two main directions. Colours are groups, shapes are cultivars.

flat = PCA(2).fit_transform(X)
colours = ["#0077bb", "#ee7733", "#009988"]
figure, ax = plt.subplots(figsize=(8.5, 6), layout="constrained")
for p, (x, y) in enumerate(flat):
    groups = np.flatnonzero(U[p])
    style = {"marker": "os^"[cultivars[p]], "s": 42, "zorder": 2}
    if len(groups) == 0:
        ax.scatter(x, y, facecolors="none", edgecolors="black", **style | {"s": 90, "zorder": 3})
    elif len(groups) == 1:
        ax.scatter(x, y, color=colours[groups[0]], alpha=0.6, linewidths=0, **style)
    else:
        edge = {"edgecolors": colours[groups[1]], "linewidths": 2.5}
        ax.scatter(x, y, color=colours[groups[0]], **style | {"s": 70, "zorder": 3}, **edge)
ax.set_title(
    "Shapes: cultivars.  Colours: groups; two-coloured wines are in two.  Empty: in none",
    loc="left",
    fontsize=11,
)
ax.set_xlabel("first principal component")
ax.set_ylabel("second principal component")
ax.spines[["top", "right"]].set_visible(False)

# %%
# The groups are the cultivars, except for a few wines. Wines in two groups lie between two clouds,
# where a partition would have to guess. Those in none are far from all three groups, mostly in
# directions that this picture, two out of thirteen, does not show.
