"""An attribute as an ARFF file declares it: name, type, and what numbers its labels stand for."""

from __future__ import annotations

import re
from dataclasses import dataclass

from neocc.io._errors import FormatError
from neocc.io._source import Source
from neocc.io.readers._text import is_number
from neocc.io.readers._truths import PAIRS

__all__ = ["Attribute", "read_attribute", "unquoted"]

_SINGLE, _DOUBLE = r"'(?:[^'\\]|\\.)*'", r'"(?:[^"\\]|\\.)*"'
_ATTRIBUTE = re.compile(
    rf"@attribute\s+(?P<name>{_SINGLE}|{_DOUBLE}|[^\s{{]+)\s*(?P<type>.*)",
    re.IGNORECASE | re.DOTALL,
)
_LABEL = re.compile(rf"\s*({_SINGLE}|{_DOUBLE}|[^,]*)\s*(?:,|$)")
_NUMERIC = ("numeric", "real", "integer")
# Two labels that say whether something is so, the denial first.
_TRUTH = (
    *(*PAIRS, "off on", "- +", "neg pos", "negative positive", "absent present"),
    *("absence presence", "inactive active", "control case"),
)
_TRUE = {pair.split()[1] for pair in _TRUTH}


def unquoted(text: str) -> str:
    """Return a name or a label without quotes around it, and without what escapes those within."""
    text = text.strip()
    if len(text) > 1 and text[0] in "'\"" and text[-1] == text[0]:
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    return text


def _says(label: str) -> str:
    """Return the last word of a label, for `tested_positive` says what `positive` does."""
    words: list[str] = re.findall(r"[^\W_]+", label.lower())
    return words[-1] if words else label.strip()


@dataclass(frozen=True)
class Attribute:
    """A name and a type, on a line of the file."""

    name: str
    kind: str
    line: int

    @property
    def is_nominal(self) -> bool:
        """Whether it has labels."""
        return self.kind.startswith("{")

    @property
    def labels(self) -> list[str]:
        """The labels, as they are declared."""
        inside = self.kind[1:].rpartition("}")[0]
        return [unquoted(found[1]) for found in _LABEL.finditer(inside) if found[0].strip()]

    @property
    def codes(self) -> dict[str, float] | None:
        """The numbers of its labels, None if they are neither numbers nor two."""
        labels = self.labels
        if all(is_number(label) for label in labels):
            return {label: float(label) for label in labels}
        if len(labels) != 2 or len({label.strip() for label in labels}) != 2:
            return None
        first, second = (_says(label) in _TRUE for label in labels)
        if first and not second:
            labels = labels[::-1]
        return {label: float(code) for code, label in enumerate(labels)}

    @property
    def is_truth(self) -> bool:
        """Whether its labels say whether something is so."""
        return {_says(label) for label in self.labels} in map(set, map(str.split, _TRUTH))

    @property
    def is_number(self) -> bool:
        """Whether its values are numbers, be they called nominal, or two words for 0 and 1."""
        if self.is_nominal:
            return self.codes is not None
        return self.kind.lower().startswith(_NUMERIC)


def read_attribute(source: Source, line: str, number: int) -> Attribute:
    found = _ATTRIBUTE.fullmatch(line)
    if found is None or not found["type"].strip():
        raise FormatError(
            source.path,
            f"{line[:40]!r} is not a name and a type.",
            "Write, for example, @attribute age numeric.",
            line=number,
        )
    return Attribute(unquoted(found["name"]), found["type"].strip(), number)
