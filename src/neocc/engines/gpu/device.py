"""The card of this machine: whether there is one, and whether data fit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from typing import Any
from weakref import WeakValueDictionary

from neocc._sizes import in_words
from neocc.kernels import Memberships
from neocc.kernels.gpu import CudaKernels, HeldMemberships, Lists

__all__ = ["Device", "GpuError", "GpuMemoryError", "card_of_worker", "clear_errors", "open_card"]

_ON_CPU = 'engine="auto" fits the data on the CPU.'


class GpuError(RuntimeError):
    """engine="gpu" cannot run here."""


class GpuMemoryError(MemoryError):
    """The memory of the card does not suffice: `needed` bytes."""

    def __init__(self, message: str, needed: int = 0) -> None:
        super().__init__(message)
        self.needed = needed


class Device:
    """A card with its kernels, and what is held there."""

    def __init__(self, kernels: CudaKernels, free: Any = None) -> None:
        self.kernels = kernels
        # Returns the bytes that are free, None where they are not counted.
        self._counted = free
        self._held: WeakValueDictionary[int, Memberships] = WeakValueDictionary()
        self._holders: WeakValueDictionary[int, Any] = WeakValueDictionary()
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
            how = (put(members.scale), members.mixed, self.lists(members.virtual))
            weights = members.stands_for, put(members.item_weights)
            known = Lists(*arrays, members.n_clusters, *how, *weights)
            members.__dict__["held"] = known
            self._held[id(members)] = members
        found: Lists = known
        return found

    def memberships(self, lists: Lists) -> Memberships:
        """Return memberships that stay on the card until they are accessed."""
        members = HeldMemberships.of(lists, self.kernels)
        self._held[id(members)] = members
        return members

    def holds(self, holder: Any) -> None:
        """Call `let_go` of what has arrays there when the fit has ended."""
        self._holders[id(holder)] = holder

    def free(self) -> int | None:
        """Return how many bytes are free, None where they are not counted."""
        return None if self._counted is None else int(self._counted())

    def reserve(self, n_bytes: int) -> None:
        """Ask the driver once for memory that is handed out in pieces: each time takes long."""
        pool = getattr(self.kernels.xp, "get_default_memory_pool", None)
        if pool is not None and pool().free_bytes() < n_bytes:
            with suppress(Exception):
                self.kernels.xp.cuda.alloc(n_bytes)

    def require(self, n_bytes: int, what: str) -> None:
        """Refuse what needs more memory than is free."""
        free = self.free()
        if free is not None and n_bytes > free:
            raise GpuMemoryError(
                f"The GPU does not have enough memory: {what} takes {in_words(n_bytes)}, and "
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
        kind = type(error)
        if not kind.__module__.startswith("cupy") and "CuPy failed to load" not in str(error):
            raise
        if kind.__name__ == "OutOfMemoryError":
            raise GpuMemoryError(
                f"The GPU does not have enough memory ({error}). Give it fewer rows; {_ON_CPU}"
            ) from error
        if not kind.__module__.startswith("cupy"):
            raise GpuError(
                f"CuPy finds no CUDA on this machine, which a driver alone does not bring "
                f'({error}): pip install "neocc[gpu]", or install the CUDA toolkit. {_ON_CPU}'
            ) from error
        if kind.__name__ in ("CompileException", "NVRTCError"):
            raise GpuError(
                f"CUDA does not compile for this GPU ({error}). Versions of CuPy, CUDA and the "
                f"driver may not go together: cupy.show_config() lists them. {_ON_CPU}"
            ) from error
        raise GpuError(
            f"The GPU stopped working ({kind.__name__}: {error}). nvidia-smi shows its state; "
            f"{_ON_CPU}"
        ) from error


def open_card() -> Device:
    """Return the card of this process, or say what is missing."""
    try:
        import cupy
    except ImportError as error:
        if error.name == "cupy":
            raise GpuError(
                'engine="gpu" needs CuPy: pip install "neocc[gpu]" (for CUDA 12: cupy-cuda12x). '
                f"{_ON_CPU}"
            ) from error
        raise GpuError(
            f'engine="gpu" needs CuPy, which is installed but cannot be imported ('
            f"{' '.join(str(error.__cause__ or error).split())}): install it again. {_ON_CPU}"
        ) from error
    try:
        n_cards = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise GpuError(
            f'engine="gpu" needs an NVIDIA GPU with a driver for CUDA 12 or newer ({error}). '
            f"nvidia-smi lists the GPUs; {_ON_CPU}"
        ) from error
    if n_cards == 0:
        raise GpuError(
            'engine="gpu" needs an NVIDIA GPU, and this machine shows none. nvidia-smi lists the '
            f"GPUs; {_ON_CPU}"
        )

    def free() -> int:
        unused = cupy.get_default_memory_pool().free_bytes()
        return int(cupy.cuda.runtime.memGetInfo()[0]) + int(unused)

    with clear_errors():
        return Device(_kernels_of(cupy.cuda.Device().id), free)


@cache
def card_of_worker() -> Device:
    """Return the card of this process, which shards and results of a worker share."""
    device = open_card()
    # What Dask moves to another worker is on the card of that one.
    device.found_by = card_of_worker
    return device


@cache
def _kernels_of(card: int) -> Any:  # noqa: ARG001
    """Return the kernels of the current card, which are compiled once in a process."""
    import cupy

    # Now rather than after data were read: is there a compiler?
    cupy.RawKernel('extern "C" __global__ void nothing() {}', "nothing").compile()
    return CudaKernels(cupy)
