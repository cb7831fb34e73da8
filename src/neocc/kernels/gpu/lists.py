"""Memberships on a device: the short lists of `Memberships`, as arrays that stay there."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from neocc._typing import FloatArray, IntArray
from neocc.kernels.memberships import Memberships

__all__ = ["HeldMemberships", "Lists"]


@dataclass(eq=False)
class Lists(Memberships):
    """Memberships as arrays on the device; see `Memberships`."""

    virtual: Lists | None = None
    # What kernels make of the lists, by what they made it for.
    codes: dict[Any, Any] = field(default_factory=dict)

    @property
    def n_extra(self) -> int:
        """Number of memberships beside the first ones."""
        return len(self.extra_items)

    @cached_property
    def extra_ptr(self) -> IntArray:
        """Extra memberships of item i lie from `extra_ptr[i]` to `extra_ptr[i + 1]`."""
        ends = np.arange(self.n_items + 1, dtype=np.int64, like=self.first)
        return np.searchsorted(self.extra_items, ends).astype(np.int64)

    def slice(self, start: int, stop: int) -> Lists:
        """Return the memberships of items `start` to `stop`, renumbered from zero."""
        if (start, stop) == (0, self.n_items):
            return self
        low, high = (int(self.extra_ptr[at]) for at in (start, stop)) if self.n_extra else (0, 0)
        items, clusters = self.extra_items[low:high] - start, self.extra_clusters[low:high]
        lines = (self.scale, self.item_weights)
        scale, weights = (None if line is None else line[start:stop] for line in lines)
        some = (self.first[start:stop], items, clusters, self.n_clusters, scale)
        return Lists(*some, mixed=self.mixed, item_weights=weights)

    @cached_property
    def numbers(self) -> IntArray:
        """Number of memberships of each item."""
        numbers = (self.first >= 0).astype(np.int64)
        return numbers + np.diff(self.extra_ptr) if self.n_extra else numbers

    @cached_property
    def indicator(self) -> FloatArray:
        """The matrix of weighted memberships."""
        clusters = np.arange(self.n_clusters, like=self.first)
        matrix: FloatArray = (self.first[:, None] == clusters).astype(np.float64)
        if self.n_extra:
            matrix[self.extra_items, self.extra_clusters] = 1.0
        return matrix if self.scale is None else matrix * self.scale[:, None]


class HeldMemberships(Memberships):
    """Memberships whose lists are on a device; they are fetched on first access."""

    held: Any
    kernels: Any

    def __new__(cls, *lists: Any, **named: Any) -> Any:
        """Return plain memberships where lists are given, as `dataclasses.replace` does."""
        return Memberships(*lists, **named) if lists or named else super().__new__(cls)

    @classmethod
    def of(cls, lists: Lists, kernels: Any) -> Memberships:
        """Wrap lists; the sizes of clusters are counted at once."""
        sizes: FloatArray = kernels.sizes(lists)
        whole = lists.scale is None and not lists.n_extra
        members: Memberships = cls.__new__(cls)
        members.__dict__.update(
            held=lists,
            kernels=kernels,
            n_clusters=lists.n_clusters,
            mixed=lists.mixed,
            virtual=None if lists.virtual is None else cls.of(lists.virtual, kernels),
            stands_for=lists.stands_for,
            sizes=sizes,
            is_partition=whole and int(sizes.sum()) == lists.n_items,
        )
        for name in ("scale", "item_weights"):
            if getattr(lists, name) is None:
                members.__dict__[name] = None
        return members

    def __getattr__(self, name: str) -> Any:
        if name in _FETCHED:
            found = self.__dict__[name] = self.kernels.fetch(getattr(self.held, name))
            return found
        raise AttributeError(name)

    @cached_property
    def scale(self) -> FloatArray | None:  # type: ignore[override]
        """Weight of each membership of an item."""
        return self.__getattr__("scale")  # type: ignore[no-any-return]

    @cached_property
    def item_weights(self) -> FloatArray | None:  # type: ignore[override]
        """How many items each of them counts as."""
        return self.__getattr__("item_weights")  # type: ignore[no-any-return]

    @cached_property
    def gram(self) -> FloatArray:
        """U'U of the weighted memberships."""
        found: FloatArray = self.kernels.gram(self.held)
        return found

    @property
    def is_scaled(self) -> bool:
        """Whether memberships have weights."""
        return self.held.scale is not None

    def sums_of(self, values: FloatArray | None) -> FloatArray:
        """Return the sum of a number per item (1 for None) over the members of each cluster."""
        if values is None:
            found: FloatArray = self.kernels.numbers(self.held)
            return found
        return super().sums_of(values)

    def fetch(self) -> None:
        """Know here all that is on the device, which may be lost."""
        for name in (*_FETCHED, *(("gram",) if self.mixed else ())):
            getattr(self, name)
        if isinstance(self.virtual, HeldMemberships):
            self.virtual.fetch()

    def land(self) -> None:
        """Become memberships like others, with nothing on the device."""
        self.fetch()
        self.__dict__.pop("held", None)
        self.__dict__.pop("kernels", None)
        if isinstance(self.virtual, HeldMemberships):
            self.virtual.land()
        self.__class__ = Memberships  # type: ignore[assignment]

    def __reduce__(self) -> Any:
        return Memberships, tuple(getattr(self, name) for name in self.__dataclass_fields__)

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.held.first)


# What has a number for each item, or each membership.
_FETCHED = ("first", "extra_items", "extra_clusters", "scale", "item_weights")
