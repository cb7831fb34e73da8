"""Numbers of bytes, as people write them."""

from __future__ import annotations

import re

__all__ = ["as_bytes", "in_words"]

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_BINARY = {"ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]i?)?b?\s*", re.IGNORECASE)


def as_bytes(size: int | str, name: str) -> int:
    """Return a number of bytes given as such or as text; `name` is what errors call it.

    Examples
    --------
    >>> from neocc._sizes import as_bytes
    >>> as_bytes("4GB", "memory_limit"), as_bytes("1.5 KiB", "block_size")
    (4000000000, 1536)
    """
    if isinstance(size, str):
        found = _SIZE.fullmatch(size)
        if found:
            unit = (found[2] or "").lower()
            size = int(float(found[1]) * (_UNITS | _BINARY)[unit])
    if isinstance(size, bool) or not isinstance(size, int) or size < 1:
        raise ValueError(
            f'{name} must be a number of bytes, or text such as "500MB" or "4GB"; got {size!r}.'
        )
    return size


def in_words(n_bytes: float) -> str:
    """Return a number of bytes with a unit, rounded up to three digits.

    Examples
    --------
    >>> from neocc._sizes import in_words
    >>> in_words(4_000_000_001), in_words(999)
    ('4.01GB', '1KB')
    """
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("KB", 10**3)):
        if n_bytes >= size or unit == "KB":
            hundredths = -(-int(n_bytes) * 100 // size)
            return f"{hundredths / 100:g}{unit}"
    raise AssertionError
