"""Whether the first line of a delimited file is a header, and what headings say by themselves."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Literal, TypeAlias

from neocc._names import names_ids, words_of
from neocc.io.readers._numerals import grouping
from neocc.io.readers._text import Dialect, Record, is_infinite, is_missing, is_number
from neocc.io.readers._truths import are_truths

__all__ = ["NAME_HEADINGS", "Kind", "has_header", "is_rating", "is_thing", "is_time", "is_value"]
__all__ += ["find_list", "is_when", "kind_of", "mean_baskets", "mean_pairs", "mean_triplets"]
__all__ += ["says_id"]

Kind: TypeAlias = Literal["numbers", "whole numbers", "text", "nothing"]

NAME_HEADINGS = ("", "id", "name", "names", "index", "row", "row_name", "row_names", "unnamed: 0")
"""Headings of a first column that holds names, in lower case."""

# What rows and columns are in the files of many fields, and what is measured of them.
_THING = re.compile(
    "(user|item|row|column|col|gene|protein|probe|orf|transcript|sample|cell|patient|subject|person"
    "|customer|client|product|movie|film|book|song|artist|country|city|region|state|species"
    "|document|doc|term|word|token|feature|variable|condition|experiment|student|question"
    "|session|page|article|author|paper|node|source|target|sender|receiver"
    "|benutzer|nutzer|kunde|artikel|produkt|probe|utilisateur|usager|produit|échantillon|usuario"
    "|cliente|producto|artículo|articulo|película|pelicula|muestra|utente|prodotto|articolo"
    "|gebruiker|klant|usuário|produto|пользователь|клиент|товар|фильм|用户|商品|电影)(ids?|names?|s)?"
)
# What items are bought or seen together in.
_BASKET = re.compile(
    "(transaction|trans|txn|basket|cart|order|invoice|receipt|bill|member|household)s?"
)
# Other headings of a first column of whole numbers that never repeat and so name its rows.
_NAMING = re.compile("(case|obs|observation|record|no|nr|label|symbol|code|rownames?|instance)s?")
_WHEN = "time(stamp)?|date(time)?|unixtime|zeit(stempel)?|datum|heure|fecha|hora|tijd|дата|время"
_WHEN += "|时间|日期"
_TIME = re.compile(f"({_WHEN}|year|month|week|day|hour|quarter)s?")
# The last word of a heading that says id.
_ID = re.compile("ids?|uid|uuid|guid|identifier|accession|barcode")
_VALUE = re.compile(
    "(value|val|rating|score|star|count|weight|number|quantity|amount|frequency|freq|expression"
    "|abundance|intensity|play|view|click|purchase|n|tf|tfidf"
    "|bewertung|wertung|wert|anzahl|menge|note|valeur|quantité|quantite|nombre|valor|cantidad"
    "|calificación|calificacion|puntuación|puntuacion|voto|valore|quantità|waarde|aantal"
    "|beoordeling|оценка|рейтинг|количество|评分|数量)s?"
)
# Of the same thing one is a better estimate than the sum of two.
_RATING = re.compile(
    "(rating|score|star|grade|bewertung|note|calificación|calificacion|puntuación|puntuacion|voto"
    "|beoordeling|оценка|рейтинг|评分)s?"
)
# What the number of a line stands under in a list, and how many columns that may have.
_INDEX = ("", "id", "index", "unnamed: 0")
_MOST_COLUMNS_OF_LISTS = 6
# So many names written alike show how names are written here.
_ENOUGH_NAMES = 5
# So many numbers in equal steps, or so many that rise, hardly stand in a line of data by chance.
_EVEN_NUMBERS, _RISING_NUMBERS = 4, 6


def kind_of(cells: Sequence[str], decimal: str) -> Kind:
    """Return the kind that most of some cells have."""
    present = [cell for cell in cells if not is_missing(cell.strip())]
    if not present:
        return "nothing"
    # Non-breaking spaces included: such a cell must be reported as a bad number.
    # So must one with separated thousands.
    numbers = [
        one
        for one in present
        if is_number(one.strip(), decimal) or is_infinite(one) or grouping(one.strip())
    ]
    if 2 * len(numbers) <= len(present):
        return "whole numbers" if are_truths(present) else "text"
    whole = all(cell.strip().lstrip("+-").isdigit() for cell in numbers)
    return "whole numbers" if whole else "numbers"


def mean_triplets(headings: Sequence[str]) -> bool:
    """Whether headings say that the first three columns are row ids, column ids and values.

    Examples
    --------
    >>> from neocc.io.readers._headings import mean_triplets
    >>> mean_triplets(["userId", "movie_id", "rating", "review"]), mean_triplets(["x", "y", "z"])
    (True, False)
    """
    return (
        len(headings) >= 3
        and _is_a(_THING, headings[0])
        and _is_a(_THING, headings[1])
        and _is_a(_VALUE, headings[2])
    )


def find_list(headings: Sequence[str]) -> tuple[int, ...] | None:
    """Return the columns of row ids, column ids and values, if any, of a list; None if it is none.

    They need not come first, if all others say when, or hold the number of the line.

    Examples
    --------
    >>> from neocc.io.readers._headings import find_list
    >>> find_list(["user", "item", "rating", "review"]), find_list(["", "date", "user", "item"])
    ((0, 1, 2), (2, 3))
    >>> find_list(["rating", "user", "item"]), find_list(["year", "country", "area"])
    ((1, 2, 0), None)
    """
    if mean_triplets(headings):
        return 0, 1, 2
    things = [at for at, one in enumerate(headings) if _is_a(_THING, one)]
    values = [at for at, one in enumerate(headings) if at not in things and is_value(one)]
    others = set(range(len(headings))) - {*things, *values}
    said = all(is_time(headings[at]) or headings[at].lower() in _INDEX for at in others)
    if len(things) != 2 or len(values) > 1 or not said or len(headings) > _MOST_COLUMNS_OF_LISTS:
        return None
    found = (*things, *values)
    return None if found == (0, 1) else found


def mean_pairs(headings: Sequence[str]) -> bool:
    """Whether headings say that the first two columns are row ids and column ids, and no more."""
    return all(_is_a(_THING, one) or says_id(one) for one in headings[:2])


def mean_baskets(headings: Sequence[str]) -> bool:
    """Whether headings say that numbers of rows stand in the first column, columns in the second.

    Examples
    --------
    >>> from neocc.io.readers._headings import mean_baskets
    >>> mean_baskets(["Member_number", "itemDescription"]), mean_baskets(["age", "product"])
    (True, False)
    """
    row, column = headings[:2]
    names_rows = _is_a(_THING, row) or _is_a(_BASKET, row) or names_ids(row) is True
    return names_rows and any(_is_a(_THING, word) for word in (column, *words_of(column)))


def is_thing(heading: str) -> bool:
    """Whether a heading is a word for what rows are."""
    return _is_a(_THING, heading) or _is_a(_NAMING, heading)


def is_time(heading: str) -> bool:
    """Whether a heading is a word for when something was."""
    return _is_a(_TIME, heading)


def is_when(heading: str) -> bool:
    """Whether a heading is a word for the moment of something, beside what it happened to."""
    return re.fullmatch(_WHEN, re.sub(r"[\W_]+", "", heading.lower())) is not None


def is_value(heading: str) -> bool:
    """Whether a heading is a word for what is measured."""
    return _is_a(_VALUE, heading)


def is_rating(heading: str) -> bool:
    """Whether a heading is a word for a judgement, several of which do not add up."""
    return _is_a(_RATING, heading)


def says_id(heading: str) -> bool:
    """Whether a heading says that ids stand below it.

    Examples
    --------
    >>> from neocc.io.readers._headings import says_id
    >>> [says_id(one) for one in ("customer_id", "PassengerId", "geneID", "paid", "width")]
    [True, True, True, False, False]
    """
    words = words_of(heading)
    return bool(words) and _ID.fullmatch(words[-1]) is not None


def has_header(found: Sequence[Record], dialect: Dialect) -> bool:
    """Whether the first of some records names the columns; see `_recognise` for the rules."""
    first, rest = found[0].cells, found[1:]
    decimal = dialect.decimal
    if not rest:
        return not any(is_number(cell, decimal) for cell in first)
    names = [record.cells[0].strip() for record in rest]
    if all(len(record.cells) == len(first) + 1 for record in rest):
        return kind_of(names, decimal) == "text" or any(_is_text(cell, decimal) for cell in first)
    if len(first) > 1 and first[0].strip().lower() in NAME_HEADINGS and any(names):
        return True
    means = len(first) > 1 and (mean_pairs(first) or (len(first) == 2 and mean_baskets(first)))
    if means and not _stand_below(first[:2], rest):
        return True
    for place, cell in enumerate(first):
        if _is_text(cell, decimal):
            below = [record.cells[place] for record in rest if place < len(record.cells)]
            # Above words for yes and no, another of them is data.
            is_data = are_truths([cell, *below])
            if not is_data and kind_of(below, decimal) in ("numbers", "whole numbers"):
                return True
    return _has_numbers_as_headings(first, rest, names, decimal)


def _stand_below(cells: Sequence[str], rest: Sequence[Record]) -> bool:
    """Whether some cells are also found in their columns."""
    return any(
        cell in record.cells[place : place + 1]
        for record in rest
        for place, cell in enumerate(cells)
    )


def _has_numbers_as_headings(
    first: Sequence[str], rest: Sequence[Record], names: Sequence[str], decimal: str
) -> bool:
    """Distinguish the header `gene,0,7,14` above `A,1,2,5` from a first row with a name.

    Without a name before them, numbers are headings if they count the columns and no line below
    does anything like it; of few columns, if all numbers below are written with a decimal mark.
    """
    if _count(first):
        return _stand_above(rest, len(first), decimal)
    # Further columns of text say nothing about those of numbers.
    below = [[one.cells[at] for one in rest if at < len(one.cells)] for at in range(len(first))]
    data = [0, *(at for at in range(1, len(first)) if kind_of(below[at], decimal) != "text")]
    numbers = [first[at] for at in data[1:]]
    if not numbers or not all(is_number(cell, decimal) for cell in numbers):
        return False
    if not _is_text(first[0], decimal) or kind_of(names, decimal) != "text":
        return False
    if _is_a(_THING, first[0]):
        return first[0].strip() not in names
    ways = {_way_of_writing(name) for name in names}
    if len(names) >= _ENOUGH_NAMES and len(ways) == 1:
        return _way_of_writing(first[0].strip()) not in ways
    rise = _rise(numbers, decimal)
    lines = ([one.cells[at] for at in data[1:] if at < len(one.cells)] for one in rest)
    return rise and not any(_rise(line, decimal) for line in lines)


def _is_text(cell: str, decimal: str) -> bool:
    cell = cell.strip()
    return not (is_missing(cell) or is_number(cell, decimal) or cell.lower() in ("true", "false"))


def _is_a(words: re.Pattern[str], heading: str) -> bool:
    return words.fullmatch(re.sub(r"[\W_]+", "", heading.lower())) is not None


def _way_of_writing(name: str) -> str:
    """Return the kinds of characters in a name, in their order: `A0` for `TP53`."""
    kinds = "".join(
        "A" if one.isupper() else "0" if one.isdigit() else "a" if one.isalpha() else one
        for one in name
    )
    return re.sub(r"(.)\1+", r"\1", kinds)


def _count(cells: Sequence[str]) -> bool:
    """Whether cells are 0, 1, 2, ... or 1, 2, 3, ..."""
    start = {"0": 0, "1": 1}.get(cells[0].strip())
    return start is not None and all(
        cell.strip() == str(start + place) for place, cell in enumerate(cells)
    )


def _stand_above(rest: Sequence[Record], width: int, decimal: str) -> bool:
    """Whether what counts so many columns is a header of the records below."""
    if width >= _RISING_NUMBERS:
        return not any(_rise(record.cells, decimal) for record in rest)
    cells = [cell for record in rest for cell in record.cells if is_number(cell, decimal)]
    return min(width - 1, len(cells)) > 0 and all(_has_mark(cell, decimal) for cell in cells)


def _has_mark(cell: str, decimal: str) -> bool:
    """Whether a number is written with a decimal mark, or an exponent."""
    return decimal in cell or "e" in cell.lower()


def _rise(cells: Sequence[str], decimal: str) -> bool:
    """Whether numbers rise as headings do: times, doses, years, or a count of columns."""
    if len(cells) < _EVEN_NUMBERS or not all(is_number(cell, decimal) for cell in cells):
        return False
    values = [float(cell.strip().replace(decimal, ".")) for cell in cells]
    steps = [after - before for before, after in pairwise(values)]
    if min(steps) <= 0:
        return False
    is_even = max(steps) - min(steps) <= 1e-9 * max(steps)
    return is_even or len(values) >= _RISING_NUMBERS
