"""What is advised for data: a pipeline, and the reasons for each of its steps and parameters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from neocc.selection._describe import DataDescription

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

__all__ = ["Advice", "Reason"]


@dataclass(frozen=True)
class Reason:
    """A piece of advice: a step before the fit, or parameters of the fit.

    Examples
    --------
    >>> from neocc.datasets import load_wine
    >>> from neocc.selection import advise
    >>> reason = advise(load_wine().data).reasons[0]
    >>> reason.what
    'standardise the columns'
    >>> reason.step
    'column-standardize'
    """

    what: str
    why: str  # a clause without a full stop
    step: str | None = None  # as `neocc.preprocessing.make_preprocessor` calls it
    parameters: Mapping[str, Any] = field(default_factory=dict)  # of `NEOCC`


@dataclass(frozen=True)
class Advice:
    """A pipeline, ready to be fitted, and the reasons for its steps and parameters.

    It can be unpacked: ``pipeline, reasons = advise(X)``.

    Attributes
    ----------
    pipeline : sklearn.pipeline.Pipeline
        Transformers of `neocc.preprocessing`, then `NEOCC` under the name "neocc".
    reasons : tuple of Reason
        The reasons for each of them.
    description : DataDescription
        What the data look like.

    Examples
    --------
    >>> from neocc.datasets import load_wine
    >>> from neocc.selection import advise
    >>> print(advise(load_wine().data))
    178 rows and 13 columns that look like columns of different units: ...
    - ...
    """

    pipeline: Pipeline
    reasons: tuple[Reason, ...]
    description: DataDescription

    def __iter__(self) -> Iterator[Any]:
        """Yield the pipeline and the reasons."""
        return iter((self.pipeline, self.reasons))

    def __str__(self) -> str:
        """Write what the data look like, and what follows."""
        lines = [f"- {reason.what}: {reason.why}." for reason in self.reasons]
        return "\n".join([str(self.description), *lines])

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the pipeline in a form that JSON can hold."""
        told = [{**vars(one), "parameters": dict(one.parameters)} for one in self.reasons]
        return {"data": self.description.to_dict(), "reasons": told}
