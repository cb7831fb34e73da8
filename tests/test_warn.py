"""Warnings name the line of the user."""

from __future__ import annotations

import numpy as np
import pytest

from neocc import NEOCC, RedundancyWarning
from neocc.estimators._precision import PrecisionWarning
from neocc.preprocessing import Binormalizer, binormalize

RNG = np.random.default_rng(0)
COUNTS = RNG.poisson(2.0, size=(12, 6))
FAR = np.repeat([0.0, 1e9], 10)[:, None] + RNG.normal(size=(20, 6))
TRIANGLE = np.triu(np.ones((4, 4)))


@pytest.mark.parametrize(
    ("kind", "call"),
    [
        (UserWarning, lambda: NEOCC(2, 2, objective="poisson", row_overlap="auto").fit(COUNTS)),
        (PrecisionWarning, lambda: NEOCC(2, 1, random_state=0).fit(FAR)),
        (RedundancyWarning, lambda: NEOCC(2, 1, row_overlap=1).fit(COUNTS)),
        (UserWarning, lambda: Binormalizer(max_iter=1).fit_transform(TRIANGLE)),
        (UserWarning, lambda: binormalize(TRIANGLE, max_iter=1)),
    ],
)
def test_warnings_point_here(kind, call):
    with pytest.warns(kind) as found:
        call()
    assert [each.filename for each in found] == [__file__] * len(found)
