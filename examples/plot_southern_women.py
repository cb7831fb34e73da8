"""
Southern Women: two circles of friends
======================================

In the 1930s anthropologists noted which of 18 women came to which of 14 social events in a town of
the American South. They knew the town, and saw two cliques that share one woman. Can the table
alone tell as much?
"""

# %%
# The data come with neocc. In the book rows and columns are already sorted by the answer, so we
# begin with the women by name and the events by date, as a clerk would have kept them.

from matplotlib import pyplot as plt
from sklearn.base import clone

from neocc import NEOCC, plot
from neocc.datasets import load_southern_women

women = load_southern_women()
by_name = sorted(range(18), key=women.row_names.__getitem__)
by_date = sorted(range(14), key=women.column_dates.__getitem__)
X = women.data[by_name][:, by_date]
names = [women.row_names[p] for p in by_name]
events = [women.column_names[t] for t in by_date]

# %%
# Two groups of women and two of events. Eleven percent more memberships than women: two women may
# be in both groups. One event of fourteen may stay outside. A woman in both groups is expected to
# have come to about half of the events of either, which is what ``"average"`` says.

model = NEOCC(
    n_row_clusters=2,
    n_column_clusters=2,
    overlap_model="average",
    row_overlap=0.11,
    column_overlap=-0.07,
    column_outliers=0.07,
    random_state=0,
).fit(X)

both = model.row_membership_.all(axis=1)
print("in both groups:", [name for name, is_in in zip(names, both, strict=True) if is_in])
print("outside:", [e for e, out in zip(events, model.column_outliers_, strict=True) if out])

# %%
# Compare with the cliques of the book: one yes or no for each woman and each clique.

cliques = women.cliques[by_name]
agrees = max((model.row_membership_ == cliques[:, order]).sum() for order in ([0, 1], [1, 0]))
print(f"{agrees} of {cliques.size} answers are those of the book")

# %%
# We chose the numbers above knowing the book. How much depends on them? Here are others.

for n_events in (2, 3):
    for overlap_model in ("repeat", "share", "average"):
        found = []
        for row_overlap in (0, 0.06, 0.11):
            other = clone(model).set_params(
                n_column_clusters=n_events, overlap_model=overlap_model, row_overlap=row_overlap
            )
            U = other.fit(X).row_membership_
            found.append(max((cliques[:, order] == U).sum() for order in ([0, 1], [1, 0])))
        answers = ", ".join(map(str, found))
        print(f"{n_events} groups of events, {overlap_model}: {answers} of {cliques.size}")

# %%
# Before and after. The bars beside the matrix show who is in which group.

figure, axes = plt.subplots(1, 2, figsize=(12, 5.4), layout="constrained")
plot.matrix(
    X, row_names=names, column_names=events, title="As recorded", colorbar=False, ax=axes[0]
)
plot.reordered(
    model,
    X,
    row_names=names,
    column_names=events,
    title="As neocc sorts it",
    colorbar=False,
    ax=axes[1],
)

# %%
# Both cliques of the book appear, with Ruth DeSand in both, as its authors had it. The one
# difference is Pearl Oglethorpe, who came to only three events and is also put into both. The event
# left outside, E8, was attended by more women than any other, from both circles.
