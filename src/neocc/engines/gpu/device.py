"""The card of this machine: whether there is one, and whether data fit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from typing import Any, Protocol
from weakref import WeakValueDictionary

from neocc._sizes import in_words
from neocc.kernels import Memberships
from neocc.kernels.gpu import CudaKernels, HeldMemberships, Lists

__all__ = ["Device", "GpuError", "GpuMemoryError", "clear_errors", "open_card"]


class GpuError(RuntimeError):
    """engine="gpu" cannot run here."""


class GpuMemoryError(MemoryError):
    """The memory of the card does not suffice: `needed` bytes."""

    def __init__(self, message: str, needed: int = 0) -> None:
        super().__init__(message)
        self.needed = needed


class Holder(Protocol):
    """What has arrays on a card."""

    def let_go(self) -> None:
        """Take what is still needed off the card, and forget the rest."""


class Device:
    """A card with its kernels, and what is held there."""

    def __init__(self, kernels: CudaKernels, free: Any = None) -> None:
        self.kernels = kernels
        # Returns the bytes that are free, None where nobody counts.
        self._counted = free
        self._held: WeakValueDictionary[int, Memberships] = WeakValueDictionary()
        self._holders: WeakValueDictionary[int, Holder] = WeakValueDictionary()
        # Returns the card of the process that receives this one.
        self.found_by: Any = None

    def __reduce__(self) -> Any:
        return self.found_by, ()

    def lists(self, members: Memberships | None) -> Lists | None:
        """Return memberships as they are on the card, put there once."""
        if members is None:
            return None
        known = members.__dict__.get("held")
        if known is None:
            put = self.kernels.put
            arrays = (put(members.first), put(members.extra_items), put(members.extra_clusters))
            weights = put(members.scale), members.mixed, put(members.item_weights)
            known = members.__dict__["held"] = Lists(
                self.kernels.xp, *arrays, members.n_clusters, *weights
            )
            known.virtual, known.stands_for = self.lists(members.virtual), members.stands_for
            self._held[id(members)] = members
        found: Lists = known
        return found

    def memberships(self, lists: Lists) -> Memberships:
        """Return memberships that stay on the card until somebody looks at them."""
        members = HeldMemberships.of(lists, self.kernels)
        self._held[id(members)] = members
        return members

    def holds(self, holder: Holder) -> None:
        """Let go what `holder` has there when the fit has ended."""
        self._holders[id(holder)] = holder

    def free(self) -> int | None:
        """Return how many bytes are free, None where nobody counts."""
        return None if self._counted is None else int(self._counted())

    def require(self, n_bytes: int, what: str) -> None:
        """Refuse what needs more memory than is free."""
        free = self.free()
        if free is not None and n_bytes > free:
            raise GpuMemoryError(
                f"The memory of the GPU does not suffice: {what} takes {in_words(n_bytes)}, and "
                f'{in_words(free)} are free. engine="auto" fits the data on the CPU.',
                needed=n_bytes,
            )

    def close(self) -> None:
        """Take what is still in use off the card, and free its memory."""
        for members in list(self._held.values()):
            # What a card that is lost held is lost too.
            with suppress(Exception):
                if isinstance(members, HeldMemberships):
                    members.land()
            members.__dict__.pop("held", None)
        for holder in list(self._holders.values()):
            holder.let_go()
        for name in ("get_default_memory_pool", "get_default_pinned_memory_pool"):
            with suppress(Exception):
                getattr(self.kernels.xp, name)().free_all_blocks()


@contextmanager
def clear_errors() -> Iterator[None]:
    """Turn errors of CuPy into those of this package."""
    try:
        yield
    except Exception as error:
        name = type(error).__name__
        if name == "OutOfMemoryError":
            raise GpuMemoryError(
                f"The memory of the GPU does not suffice ({error}). Give it fewer rows; "
                'engine="auto" fits the data on the CPU.'
            ) from error
        if name in ("CUDARuntimeError", "CUDADriverError"):
            raise GpuError(
                f"The GPU stopped working ({error}). nvidia-smi shows its state; "
                'engine="auto" fits the data on the CPU.'
            ) from error
        raise


def open_card() -> Device:
    """Return the card of this process, or say what is missing."""
    try:
        import cupy
    except ImportError as error:
        raise GpuError(
            'engine="gpu" needs CuPy: pip install "neocc[gpu]" (for CUDA 12: cupy-cuda12x). '
            'engine="auto" fits the data on the CPU.'
        ) from error
    try:
        n_cards = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise GpuError(
            f'engine="gpu" needs an NVIDIA GPU with a driver for CUDA 12 or newer ({error}). '
            'nvidia-smi lists the GPUs; engine="auto" fits the data on the CPU.'
        ) from error
    if n_cards == 0:
        raise GpuError(
            'engine="gpu" needs an NVIDIA GPU, and this machine shows none. nvidia-smi lists the '
            'GPUs; engine="auto" fits the data on the CPU.'
        )

    def free() -> int:
        unused = cupy.get_default_memory_pool().free_bytes()
        return int(cupy.cuda.runtime.memGetInfo()[0]) + int(unused)

    return Device(_kernels_of(cupy.cuda.Device().id), free)


@cache
def _kernels_of(card: int) -> Any:  # noqa: ARG001
    """Return the kernels of the current card, which are compiled once in a process."""
    import cupy

    return CudaKernels(cupy)
