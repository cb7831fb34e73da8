"""The infinite plaid model and its sampler; see `model` for its exact stationary distribution.

`state` holds a sample, `conditionals`, `births` and `splits` change it, `kernels` has the one loop
that visits item by item, `chain` runs the sweeps, `start` and `cleaning` look after its two ends,
and `trace` keeps what it passes through. `data`, `results` and `estimator` are `InfinitePlaid`.
"""

from __future__ import annotations

from neocc.rivals.plaid.estimator import InfinitePlaid

__all__ = ["InfinitePlaid"]
