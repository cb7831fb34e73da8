"""
Soil microbes: who grows after the rain
=======================================

Desert soil was wetted and sampled five times in two days, at four stages of its crust: 466 microbes
in 19 samples, counted by sequencing. The table comes with scikit-bio.
"""

# %%
# Counts, and very uneven ones: some microbes have ten thousand times as many reads as others. So we
# take an objective for counts, which compares each block with what independence expects.

import csv
from importlib.metadata import distribution
from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt

from neocc import NEOCC, plot

name = "skbio/stats/ordination/tests/data/soils/microbes.tsv"
path = Path(distribution("scikit-bio").locate_file(name))
header, *lines = csv.reader(path.read_text(encoding="utf-8").splitlines(), delimiter="\t")
counts = np.array([line[1:] for line in lines], dtype=float)
microbes = [line[0] for line in lines]
samples = [sample.replace("p5", ".5").replace("_", ", ") for sample in header[1:]]

# %%
# Five groups of microbes, five of samples.

model = NEOCC(5, 5, objective="poisson", random_state=0).fit(counts)
for group, inside in enumerate(model.column_membership_.T, start=1):
    print(f"C{group}:", "; ".join(s for s, is_in in zip(samples, inside, strict=True) if is_in))

# %%
# Phyla that are common in each group of microbes, by reads.

phyla = np.array([name.split("(")[-1].rstrip(")") for name in microbes])
for group, inside in enumerate(model.row_membership_.T, start=1):
    reads = {phylum: counts[inside & (phyla == phylum)].sum() for phylum in set(phyla)}
    total = sum(reads.values())
    top = sorted(reads, key=reads.get, reverse=True)[:3]
    print(f"R{group}:", ", ".join(f"{phylum} {reads[phylum] / total:.0%}" for phylum in top))

# %%
# The lifts: how many times as often as expected a group of microbes was seen in a group of samples.
# Beside them, how each group's share of all reads changes over time.

figure, axes = plt.subplots(
    1, 2, figsize=(13.5, 5), layout="constrained", gridspec_kw={"width_ratios": (1.1, 1)}
)
plot.blocks(model, ax=axes[0], title="Lift of every block")
hours = np.array([float(s.split("hr")[0]) if "hr" in s else 0.05 for s in samples])
for group, inside in enumerate(model.row_membership_.T):
    share = counts[inside].sum(axis=0) / counts.sum(axis=0)
    times = np.unique(hours)
    means = [share[hours == time].mean() for time in times]
    axes[1].plot(times, means, "o-", label=f"R{group + 1}, {inside.sum()} microbes")
axes[1].set_xlabel("hours since wetting")
axes[1].set_ylabel("share of all reads, mean over crusts")
axes[1].legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
axes[1].spines[["top", "right"]].set_visible(False)
axes[1].set_title("Groups of microbes over time", loc="left", fontsize=10)

# %%
# The groups of samples follow time and crust: the first minutes, about nine hours, a day or so, two
# days, and the late crust by itself. Cyanobacteria and their companions lead in the first minutes,
# while the soil is still as it was when dry; two days after the rain a few dozen fast growers,
# mostly Firmicutes, have taken over.
