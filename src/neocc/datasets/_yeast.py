"""The multi-label yeast data."""

from __future__ import annotations

import gzip
import os
from typing import TYPE_CHECKING

import numpy as np

from neocc.datasets._bunch import make_bunch
from neocc.datasets._files import Collection, find_files
from neocc.datasets._tables import read_numbers

if TYPE_CHECKING:
    from sklearn.utils import Bunch

# Mulan is where the data set is published in the form that is in use. No release of it can be
# named in the address; the checksum pins the content.
YEAST = Collection(
    title="yeast",
    folder="yeast",
    url=(
        "https://raw.githubusercontent.com/tsoumakas/mulan/master/data/multi-label/yeast/yeast.arff"
    ),
    download="yeast.arff",
    inside="",
    checksums={
        "yeast.arff": "55c07a3b6ff885ae338fb6987a1d57f55572b29809922c2822c4885c61230dd7",
        "yeast.csv.gz": "1c5d64150cae755361aef738bbb9218759173ba709b06bdedb096c4580ba8b67",
    },
)

_N_FEATURES, _N_CLASSES = 103, 14

_CITATION = (
    "Elisseeff, A., and Weston, J. (2001). A kernel method for multi-labelled classification. "
    "Advances in Neural Information Processing Systems 14."
)

_LICENCE = "None stated by the publisher (Mulan); widely passed on for research."

_TEXT = """\
2,417 genes of baker's yeast (rows), 103 numbers each: micro-array expression levels and a
phylogenetic profile (columns). Each gene belongs to one or more of 14 functional classes, 4.237 on
average: overlapping clusters of the rows. No values are missing; every gene has a class.

Genes and features have no names in the source: they are numbered here as there, from 1."""


def fetch_yeast(
    *,
    data_home: str | os.PathLike[str] | None = None,
    download_if_missing: bool | None = None,
) -> Bunch:
    """Load the yeast genes with their overlapping functional classes.

    2,417 genes, 103 features, 14 classes [1]_. Downloaded from the Mulan project on first use (1.9
    MB).

    Parameters
    ----------
    data_home : path, default=None
        Folder that holds the data set in a folder ``yeast``, as ``yeast.arff`` or ``yeast.csv.gz``,
        or to which it is downloaded if asked. By default the folder that the environment variable
        ``NEOCC_DATA`` names, from which data is only read, never downloaded to; without it, the
        user's cache folder.
    download_if_missing : bool or None, default=None
        Whether to download the data if there is no copy. None: only if no folder was named.

    Returns
    -------
    data : sklearn.utils.Bunch
        Dictionary-like object with the attributes

        data : ndarray of shape (2417, 103), float64
            The features of the genes.
        row_names : list of str
            ``"Gene1"`` to ``"Gene2417"``.
        column_names : list of str
            ``"Att1"`` to ``"Att103"``.
        row_membership : ndarray of shape (2417, 14), bool
            The functional classes of each gene.
        row_class_names : list of str
            ``"Class1"`` to ``"Class14"``.
        column_membership, column_class_names : None
            Nothing is known about the columns.
        DESCR, citation, licence : str
            Description, citation and licence of the data.

    Raises
    ------
    DatasetError
        If there is no copy and no download, or a file is invalid.

    References
    ----------
    .. [1] Elisseeff, A., and Weston, J. (2001). A kernel method for multi-labelled classification.
       Advances in Neural Information Processing Systems 14.

    Examples
    --------
    >>> from neocc.datasets import fetch_yeast
    >>> yeast = fetch_yeast()  # doctest: +SKIP
    >>> yeast.data.shape, yeast.row_membership.shape  # doctest: +SKIP
    ((2417, 103), (2417, 14))
    """
    name, content = find_files(YEAST, data_home, download_if_missing).read(*YEAST.checksums)
    if name.endswith(".gz"):
        lines = gzip.decompress(content).partition(b"\n")[2]
    else:
        lines = content.partition(b"@data")[2]
    table = read_numbers(lines, np.float64)
    return make_bunch(
        title="Yeast",
        text=_TEXT,
        citation=_CITATION,
        licence=_LICENCE,
        data=np.ascontiguousarray(table[:, :_N_FEATURES]),
        row_names=_numbered("Gene", len(table)),
        column_names=_numbered("Att", _N_FEATURES),
        row_membership=table[:, _N_FEATURES:] == 1,
        row_class_names=_numbered("Class", _N_CLASSES),
    )


def _numbered(name: str, count: int) -> list[str]:
    return [f"{name}{number}" for number in range(1, count + 1)]
