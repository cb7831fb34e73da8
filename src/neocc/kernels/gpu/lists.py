"""Memberships on a device: the short lists of `Memberships`, as arrays that stay there."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from neocc._typing import FloatArray
from neocc.kernels.memberships import Memberships

__all__ = ["HeldMemberships", "Lists"]


@dataclass(eq=False)
class Lists:
    """Memberships as arrays of a module `xp`, CuPy's or NumPy's; see `Memberships`."""

    xp: Any
    first: Any
    extra_items: Any
    extra_clusters: Any
    n_clusters: int
    scale: Any = None
    mixed: bool = False
    # What kernels make of the lists, by what they made it for.
    codes: dict[Any, Any] = field(default_factory=dict)

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.first)

    @property
    def n_extra(self) -> int:
        """Number of memberships beside the first ones."""
        return len(self.extra_items)

    @cached_property
    def extra_ptr(self) -> Any:
        """Extra memberships of item i lie from `extra_ptr[i]` to `extra_ptr[i + 1]`."""
        xp = self.xp
        ends = xp.arange(self.n_items + 1, dtype=xp.int64)
        return xp.searchsorted(self.extra_items, ends).astype(xp.int64)

    @cached_property
    def weights(self) -> Any:
        """How often the squares of each item count."""
        numbers = (self.first >= 0).astype(self.xp.int64)
        if self.n_extra:
            numbers += self.xp.diff(self.extra_ptr)
        if self.mixed:
            return (numbers > 0).astype(self.xp.float64)
        weights = numbers.astype(self.xp.float64)
        return weights if self.scale is None else weights * self.scale

    @cached_property
    def indicator(self) -> Any:
        """The matrix of weighted memberships."""
        xp, k = self.xp, self.n_clusters
        matrix = xp.eye(k + 1, k)[self.first]
        if self.n_extra:
            matrix[self.extra_items, self.extra_clusters] = 1.0
        return matrix if self.scale is None else matrix * self.scale[:, None]


class HeldMemberships(Memberships):
    """Memberships whose lists are on a device; they are fetched when somebody looks at them."""

    held: Any
    fetch: Any

    @classmethod
    def of(cls, lists: Lists, fetch: Any, sizes: FloatArray, *, is_partition: bool) -> Memberships:
        """Wrap lists whose clusters have known sizes."""
        members = cls.__new__(cls)
        members.__dict__.update(
            held=lists,
            fetch=fetch,
            n_clusters=lists.n_clusters,
            scale=None,
            mixed=False,
            virtual=None,
            stands_for=None,
            sizes=sizes,
            is_partition=is_partition,
        )
        return members

    def __getattr__(self, name: str) -> Any:
        if name in ("first", "extra_items", "extra_clusters") and "held" in self.__dict__:
            found = self.__dict__[name] = self.fetch(getattr(self.held, name))
            return found
        raise AttributeError(name)

    def land(self) -> None:
        """Keep the lists here, and nothing on the device."""
        _ = self.first, self.extra_items, self.extra_clusters
        self.__dict__.pop("held", None)
        self.__dict__.pop("fetch", None)

    def __reduce__(self) -> Any:
        return Memberships, tuple(getattr(self, name) for name in self.__dataclass_fields__)

    @property
    def n_items(self) -> int:
        """Number of items."""
        return self.held.n_items if "held" in self.__dict__ else len(self.first)
