"""What clusters, rows and columns are called: as people count, from 1."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

# Words that say id wherever they stand in a heading, unless it ends in a measure.
_ID = {"id", "ids", "idx", "pk", "uid", "uuid", "guid", "identifier", "accession", "barcode"}
_ID |= {"mrn", "ssn", "isbn", "ensembl", "entrez", "locus", "refseq", "uniprot", "rowid"}
_MEASURE = {"count", "counts", "size", "length", "rate", "ratio", "score", "sum", "mean"}
# Words that say so at the end of a heading.
_NUMBER = {"no", "nr", "num", "number", "key", "code", "#"}
# Words for what has a number, where they stand alone.
_THING = {"gene", "genes", "probe", "probes"}
# Alone, these are as often headings of data.
_UNSURE = {"x", "number", "num", "index"}


def words_of(heading: str) -> list[str]:
    """Return the words of a heading in small letters, cut where capitals and signs are.

    Examples
    --------
    >>> from neocc._names import words_of
    >>> words_of("PatientNumber"), words_of("ID_REF"), words_of("customer #2")
    (['patient', 'number'], ['id', 'ref'], ['customer', '#', '2'])
    """
    return [one.lower() for one in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|#", heading)]


def names_ids(heading: str) -> bool | None:
    """Whether a heading over numbers that never repeat says that they are ids; None: perhaps.

    Examples
    --------
    >>> from neocc._names import names_ids
    >>> [names_ids(one) for one in ("ID_REF", "case_no", "NHS number", "sample_size", "number")]
    [True, True, True, False, None]
    """
    words = words_of(heading)
    if not words or {"of", "per"} & set(words) or words[-1] in _MEASURE:
        return False
    if words[-1] == "index" or (len(words) == 1 and words[0] in _UNSURE):
        return None
    ends = _NUMBER | _THING if len(words) == 1 else _NUMBER
    return words[-1] in ends or bool(_ID & set(words))


def cluster_name(side: str, cluster: int) -> str:
    """Name a cluster of "rows" or "columns".

    Examples
    --------
    >>> from neocc._names import cluster_name
    >>> cluster_name("rows", 0), cluster_name("columns", 2)
    ('R1', 'C3')
    """
    return f"{side[0].upper()}{cluster + 1}"


def item_name(side: str, item: int) -> str:
    """Name one of the "rows" or "columns" that has no name.

    Examples
    --------
    >>> from neocc._names import item_name
    >>> item_name("rows", 0)
    'row 1'
    """
    return f"{side[:-1]} {item + 1}"


def frame_names(frame: Any, side: str) -> Sequence[Any] | None:
    """Return the names that a data frame has for its "rows" or "columns", None where it has none.

    Examples
    --------
    >>> from neocc._names import frame_names
    >>> frame_names([[1, 2]], "rows") is None
    True
    """
    names = getattr(frame, "index" if side == "rows" else "columns", None)
    # Lists have a method of this name, and an index that only counts names nothing.
    return None if callable(names) or type(names).__name__ == "RangeIndex" else names
