"""Kernels on a GPU: the functions of `neocc.kernels.numpy_` over arrays that stay on the card.

`CudaKernels` calls the CUDA sources beside it through CuPy. Memberships are `Lists`, blocks of rows
are what `hold` made of them. What has the name of a function of `neocc.kernels.Kernels` computes
the same, from arrays of the module `xp` but for what is small: terms, and tables of clusters.
"""

from __future__ import annotations

from neocc.kernels.gpu.cuda import CudaKernels
from neocc.kernels.gpu.lists import HeldMemberships, Lists

__all__ = ["CudaKernels", "HeldMemberships", "Lists"]
