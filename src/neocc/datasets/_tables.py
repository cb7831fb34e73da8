"""Tables of numbers as text."""

from __future__ import annotations

import io

import numpy as np
from numpy.typing import DTypeLike

from neocc._typing import AnyArray

_SEPARATORS = bytes.maketrans(b",:", b"  ")


def read_numbers(text: bytes, dtype: DTypeLike) -> AnyArray:
    """Turn lines of numbers, split by commas, tabs, blanks or ``::``, into a table."""
    # NumPy knows separators of one character only, but any number of blanks.
    return np.loadtxt(io.BytesIO(text.translate(_SEPARATORS)), dtype=dtype, comments=None, ndmin=2)
