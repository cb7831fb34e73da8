"""Values as JSON, with arrays beside it, and back: a closed list of types, and no code.

Plain values stand for themselves; everything else is an object with one key that names its kind.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import MISSING, fields
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.preprocessing import StandardScaler

from neocc._typing import AnyArray, FloatArray
from neocc.core.objectives import Features, Terms
from neocc.core.solve import Solution
from neocc.estimators._columns import ColumnModel
from neocc.estimators._overlap import OverlapChoice
from neocc.estimators._rows import RowModel
from neocc.kernels import Memberships
from neocc.kernels.gpu import HeldMemberships
from neocc.preprocessing._registry import step_classes
from neocc.selection import OverlapEstimate, PredictedClusters, SidePrediction

__all__ = ["Decoder", "Encoder", "Undecodable"]

_CLASSES: dict[str, type] = {
    kind.__name__: kind
    for kind in (
        ColumnModel,
        Features,
        Memberships,
        OverlapChoice,
        OverlapEstimate,
        PredictedClusters,
        RowModel,
        SidePrediction,
        Solution,
        Terms,
    )
}

# Fitted steps of preprocessing: their parameters, and what they learnt.
_STEPS = {kind.__name__: kind for kind in (*step_classes(), StandardScaler)}
# Of version 1.
_NEW_NAMES = {
    "tables": "terms",
    "nearest_limit": "nearest_threshold",
    "extra_limit": "extra_threshold",
    "silent": "all_zero",
}


class Undecodable(ValueError):  # noqa: N818
    """What is wrong with a coded value; a sentence without place and remedy."""


class Encoder:
    """Turns values into JSON and collects their arrays.

    An array that occurs twice is stored once, and is one array again when it comes back.

    Parameters
    ----------
    keep_bits : bool, default=False
        Whether what is computed from values rounds as before when they come back: arrays in Fortran
        order are in it again, and memberships know the sums over members that they knew.
    """

    def __init__(self, *, keep_bits: bool = False) -> None:
        self.arrays: dict[str, AnyArray] = {}
        self._keep_bits = keep_bits
        self._names: dict[int, str] = {}

    def encode(self, value: Any) -> Any:
        """Return what JSON can hold of a value."""
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or isinstance(value, bool | int | str):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else {"float": repr(value)}
        if isinstance(value, np.random.RandomState | np.random.Generator):
            return None  # what it would draw next is of no use to a fitted model
        if isinstance(value, np.ndarray):
            return self._encode_array(value)
        return self._encode_structure(value)

    def _encode_structure(self, value: Any) -> dict[str, Any]:
        kind = type(value)
        if kind in (list, tuple):
            return {kind.__name__: [self.encode(one) for one in value]}
        if kind is dict:
            return {"dict": [[self.encode(key), self.encode(one)] for key, one in value.items()]}
        if sparse.issparse(value):
            matrix = value.tocsr()
            parts = [self.encode(one) for one in (matrix.data, matrix.indices, matrix.indptr)]
            return {"csr": [*parts, *matrix.shape]}
        # What is held on a card is fetched, and stored as what it is here.
        for known in kind.__mro__:
            if _CLASSES.get(known.__name__) is known:
                held = {one.name: self.encode(getattr(value, one.name)) for one in fields(known)}
                coded: dict[str, Any] = {known.__name__: held}
                if known is Memberships and self._keep_bits:
                    coded = {"summed": [coded, self.encode(_known_sums(value))]}
                return coded
        if _STEPS.get(kind.__name__) is kind:
            given = value.get_params(deep=False)
            learnt = {name: one for name, one in vars(value).items() if name not in given}
            return {kind.__name__: [self.encode(given), self.encode(learnt)]}
        raise Undecodable(f"values of type {kind.__name__} cannot be stored")

    def _encode_array(self, value: AnyArray) -> Any:
        if value.dtype.kind in "OUST":
            texts = value.tolist()
            if value.ndim != 1 or not all(isinstance(one, str) for one in texts):
                raise Undecodable("arrays of objects cannot be stored")
            return {"texts": texts}
        if value.dtype.names:
            return {"records": [[name, self.encode(value[name])] for name in value.dtype.names]}
        if value.dtype.kind not in "biuf":
            raise Undecodable(f"arrays of {value.dtype} cannot be stored")
        if self._keep_bits and value.flags.f_contiguous and not value.flags.c_contiguous:
            return {"transposed": self.encode(value.T)}
        if id(value) not in self._names:
            name = f"array{len(self.arrays)}.npy"
            self._names[id(value)] = name
            self.arrays[name] = value
        return {"array": self._names[id(value)]}


class Decoder:
    """Turns what `Encoder` made back into values; raises Undecodable about anything else.

    Parameters
    ----------
    load : callable
        Returns the array of a given name.
    """

    def __init__(self, load: Callable[[str], AnyArray]) -> None:
        self._load = load
        self._arrays: dict[str, AnyArray] = {}
        self._kinds: dict[str, Callable[[Any], Any]] = {
            "array": self._array,
            "csr": self._csr,
            "dict": self._dict,
            "float": self._float,
            "list": self._list,
            "records": self._records,
            "summed": self._summed,
            "texts": self._texts,
            "transposed": self._transposed,
            "tuple": lambda held: tuple(self._list(held)),
        }

    def decode(self, coded: Any) -> Any:
        """Return the value."""
        if coded is None or isinstance(coded, bool | int | float | str):
            return coded
        if not isinstance(coded, dict) or len(coded) != 1:
            raise Undecodable("it holds a value of an unknown kind")
        ((kind, held),) = coded.items()
        if isinstance(held, dict):
            kind, held = _renamed(kind, held)
        if kind in self._kinds:
            return self._kinds[kind](held)
        if kind in _CLASSES:
            return self._object(_CLASSES[kind], held)
        if kind in _STEPS:
            return self._step(_STEPS[kind], held)
        raise Undecodable(f"it holds a value of the unknown kind {kind!r}")

    def _object(self, kind: type, held: Any) -> Any:
        names = {one.name for one in fields(kind)}
        needed = {one.name for one in fields(kind) if one.default is MISSING}
        if not isinstance(held, dict) or not needed <= set(held) <= names:
            raise Undecodable(f"its {kind.__name__} does not have the fields of one")
        return kind(**{name: self.decode(one) for name, one in held.items()})

    def _step(self, kind: type, held: Any) -> Any:
        given, learnt = (self.decode(one) for one in _pair(held))
        try:
            step = kind(**given)
            bad = [name for name in learnt if hasattr(kind, name) or name in given]
            vars(step).update(learnt)
        except (TypeError, ValueError) as error:
            raise Undecodable(f"its {kind.__name__} is not one ({error})") from error
        if bad:
            raise Undecodable(f"its {kind.__name__} learnt {bad[0]!r}, which no step does")
        return step

    def _array(self, name: Any) -> AnyArray:
        if not isinstance(name, str):
            raise Undecodable("it names an array by something that is not a name")
        if name not in self._arrays:
            array = self._load(name)
            if array.dtype.kind not in "biuf":
                raise Undecodable(f"its array {name!r} holds {array.dtype}, not numbers")
            self._arrays[name] = array
        return self._arrays[name]

    def _csr(self, held: Any) -> Any:
        if not isinstance(held, list) or len(held) != 5:
            raise Undecodable("it holds a sparse matrix without its five parts")
        data, indices, indptr, n_rows, n_columns = (self.decode(one) for one in held)
        try:
            matrix = sparse.csr_array((data, indices, indptr), shape=(n_rows, n_columns))
            matrix.check_format(full_check=True)
        except (ValueError, TypeError, IndexError, AttributeError) as error:
            raise Undecodable(f"it holds a damaged sparse matrix ({error})") from error
        return matrix

    def _dict(self, held: Any) -> dict[Any, Any]:
        pairs = self._list(held, lambda one: [self.decode(part) for part in _pair(one)])
        try:
            return dict(pairs)
        except TypeError as error:
            raise Undecodable("it holds a dict with a key that cannot be one") from error

    def _float(self, held: Any) -> float:
        if held not in ("inf", "-inf", "nan"):
            raise Undecodable("it holds something in place of a number")
        return float(held)

    def _summed(self, held: Any) -> Memberships:
        members, sums = map(self.decode, _pair(held))
        if type(members) is not Memberships or not isinstance(sums, dict):
            raise Undecodable("it holds something in place of memberships")
        k = members.n_clusters
        for name, shape in (("sizes", (k,)), ("gram", (k, k))):
            table = members.__dict__[name] = sums.get(name)
            if table is None:
                del members.__dict__[name]
            elif not isinstance(table, np.ndarray) or table.shape != shape:
                raise Undecodable("it holds sums that do not fit their memberships")
        return members

    def _list(self, held: Any, decode: Callable[[Any], Any] | None = None) -> list[Any]:
        if not isinstance(held, list):
            raise Undecodable("it holds something in place of a list")
        return [(decode or self.decode)(one) for one in held]

    def _records(self, held: Any) -> AnyArray:
        columns = self._dict(held)
        types = [(name, getattr(one, "dtype", None)) for name, one in columns.items()]
        try:
            records = np.empty(len(next(iter(columns.values()))), dtype=types)
            for name, column in columns.items():
                records[name] = column
        except (ValueError, TypeError, StopIteration) as error:
            raise Undecodable("it holds something in place of records") from error
        return records

    def _transposed(self, held: Any) -> AnyArray:
        array = self.decode(held)
        if not isinstance(array, np.ndarray):
            raise Undecodable("it holds something transposed that is not an array")
        return array.T

    def _texts(self, held: Any) -> AnyArray:
        texts = self._list(held)
        if not all(isinstance(one, str) for one in texts):
            raise Undecodable("it holds something in place of strings")
        return np.array(texts, dtype=object)


def _renamed(kind: str, held: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return an object in its present form: earlier models had other names for row terms."""
    if kind == "RowModel" and "tables" in held:
        held = {_NEW_NAMES.get(name, name): one for name, one in held.items()}
    if kind == "Tables":
        # The slope had a line per cluster, and products came with their scale.
        slope = held.get("slope")
        held = {
            **{name: held.get(name) for name in ("offset", "shrink", "magnitude")},
            "slope": None if slope is None else {"transposed": slope},
            "scale": None,
            "table": held.get("product"),
        }
        kind = "Terms"
    if kind == "Terms" and "silent" in held:
        held = {_NEW_NAMES.get(name, name): one for name, one in held.items()}
    return kind, held


def _known_sums(members: Memberships) -> dict[str, FloatArray]:
    """Return the sums over members that were taken already, or would be on a card."""
    if isinstance(members, HeldMemberships):
        members.fetch()
    return {name: members.__dict__[name] for name in ("sizes", "gram") if name in members.__dict__}


def _pair(held: Any) -> list[Any]:
    if not isinstance(held, list) or len(held) != 2:
        raise Undecodable("it holds something in place of a pair")
    return held
