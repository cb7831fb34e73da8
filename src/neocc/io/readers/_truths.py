"""Two words that say whether something is so, read as 1 and 0, and what is said of that.

Tables of text have them in columns (`yes`, `no`), ARFF files declare them. In text, only the pairs
of `PAIRS` are known, and a column has words of one of them and no others; what else two words mean
cannot be guessed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from neocc._extras import need
from neocc.io.readers._text import MISSING, is_number

if TYPE_CHECKING:
    from neocc.io.readers._plan import Plan

__all__ = ["PAIRS", "are_truths", "coded", "find_truths", "neither", "pair_of", "told"]

PAIRS = (
    *("no yes", "false true", "n y", "f t", "nein ja", "n j", "falsch wahr", "nee ja", "nej ja"),
    *("non oui", "faux vrai", "no sí", "no si", "falso verdadero", "no sì", "falso vero"),
    *("não sim", "nao sim", "falso verdadeiro", "onwaar waar"),
)
"""Words for 0 and for 1, as people and spreadsheets of some countries write them."""

Codes = Mapping[str, float]


def _written(pair: str) -> Codes:
    """Return the numbers of two words, which may be written in small or in capital letters."""
    ways = (str.lower, str.title, str.upper)
    return {way(word): float(code) for code, word in enumerate(pair.split()) for way in ways}


TRUTHS: dict[str, Codes] = {pair: _written(pair) for pair in PAIRS}
"""The numbers of the words of each pair, however they are written."""

_KNOWN = {word for codes in TRUTHS.values() for word in codes}
_MOST_TOLD = 5


def find_truths(cells: Iterable[str], least: float = 1.0) -> Codes | None:
    """Return the numbers of the pair that the cells with a value are words of, one cell at least.

    With `least`, so many of them are enough, if both words are among them.

    Examples
    --------
    >>> from neocc.io.readers._truths import find_truths
    >>> codes = find_truths(["yes", "", "No"])
    >>> codes["yes"], codes["No"]
    (1.0, 0.0)
    >>> find_truths(["m", "f", "f"]) is find_truths(["yes", "true"]) is None
    True
    """
    words = [word for word in map(str.strip, cells) if word not in MISSING]
    if sum(word in _KNOWN for word in words) < least * len(words):  # hardly any column has them
        return None
    for codes in TRUTHS.values():
        known = [codes[word] for word in words if word in codes]
        if words and len(known) == len(words):
            return codes
        if least < 1 and len(known) >= least * len(words) and len(set(known)) == 2:
            return codes
    return None


def are_truths(cells: Iterable[str]) -> bool:
    """Whether the cells with a value, one at least, are words of one pair, and not all one letter.

    A single `y` may be anything; in a column of numbers, it still is one of yes and no.
    """
    words = {word for word in map(str.strip, cells) if word not in MISSING}
    is_letter = len(words) == 1 and len(min(words)) == 1
    return not is_letter and find_truths(words) is not None


def pair_of(codes: Codes | None) -> str | None:
    """Return the pair that has these codes; None for those of other words."""
    return next((pair for pair, known in TRUTHS.items() if known is codes), None)


def neither(word: str, codes: Codes | None) -> str | None:
    """Say of a word that it is none of a pair; None for the codes of other words."""
    pair = pair_of(codes)
    if pair is None:
        return None
    no, yes = pair.split()
    return f"{word[:40]!r} is neither {yes} nor {no}, as others of the column are."


def coded(text: Any, codes: Codes) -> Any:
    """Return an array of words as numbers, with nulls for missing ones; other words are refused."""
    pa = need("pyarrow")
    pc = need("pyarrow.compute")

    trimmed = pc.utf8_trim_whitespace(text)
    unsaid = [word for word in MISSING if word not in codes]  # "-" may be a label
    present = pc.if_else(pc.is_in(trimmed, pa.array(unsaid, pa.string())), None, trimmed)
    places = pc.index_in(present, pa.array(list(codes)))
    if places.null_count > present.null_count:
        raise pa.ArrowInvalid("a word that is not declared")
    return pa.array(list(codes.values()), pa.float64()).take(places)


def told(plan: Plan, codes: Mapping[int, Codes]) -> list[str]:
    """Say which columns are read as numbers, as which, and how to leave out those of words."""
    alike: dict[str, list[int]] = {}
    for place, words in codes.items():
        named = (pair_of(words) or "").split() or words
        said = ", ".join(f"{word} is {words[word]:g}" for word in named)
        if all(map(is_number, words)):
            said = "nominal, but every value is a number"
        alike.setdefault(said, []).append(place)
    return [_told(plan, said, places) for said, places in alike.items()]


def _told(plan: Plan, said: str, places: list[int]) -> str:
    columns = ", ".join(plan.labels[place] for place in places[:_MOST_TOLD])
    columns = f"column{'s' if len(places) > 1 else ''} {columns}"
    if len(places) > _MOST_TOLD:
        columns += f" and {len(places) - _MOST_TOLD} more"
    if said.startswith("nominal") or len(places) == len(plan.numbers):  # nothing would be left
        return f"Read as numbers ({said}): {columns}."
    which = "it" if len(places) == 1 else "them"
    if len(places) > _MOST_TOLD:
        which, places = "the first", places[:1]
    return f"Read as numbers ({said}): {columns}; {plan.drop_option(places)} leaves {which} out."
