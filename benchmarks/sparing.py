"""What spares passes, switched off one at a time: `python -m benchmarks.sparing`.

Fits of stores on disk, and on a Dask cluster of two workers, are timed with every mechanism that
spares passes or messages, and without each of them. The code has no switches: they are replaced
here. Processor seconds are those of this process and of the workers; wall time, which a busy
machine disturbs more, is shown beside them. All variants are fitted in turn, from several starts
and several times each; the best time from each start counts, and ratios are those of sums over the
starts. A mechanism that a fit never uses is not switched off: its place in the table stays empty.
`--write page.md` puts the tables there.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import data
from benchmarks.blocks import planted_blocks
from benchmarks.pages import Line, markdown, replace_section
from neocc import NEOCC
from neocc.core import engine as engines
from neocc.core.thresholds import Guess
from neocc.datasets import fetch_movielens_1m, make_coclusters
from neocc.engines import PassOptions, open_engine
from neocc.engines.following import FollowingShard
from neocc.engines.stored import BlockCache
from neocc.estimators import _engines
from neocc.io import BlockStore, write_store

LOOSE = {
    "row_overlap": 0.2,
    "column_overlap": 0.2,
    "row_outliers": 0.05,
    "column_outliers": 0.05,
}
PLAIN: dict[str, Any] = {"n_init": 1, "refine": False}
OBJECTIVES = ("mean", "residue")
N_WORKERS = 2

# --------------------------------------------------------------------------------------- switches

Patch = tuple[Any, str, Any]


def _read_when_asked(self: BlockCache, index: int) -> None:
    """Stand for `BlockCache._read_ahead`: no block is read before it is asked for."""


class _Unguessed(Guess):
    """Thresholds may be anywhere."""

    def learn(self, found: tuple[float, float]) -> None:
        """Remember nothing."""


def _opening(**options: float) -> list[Patch]:
    """Have fits open engines with other options."""
    opened = partial(open_engine, options=PassOptions(**options))  # type: ignore[arg-type]
    return [(_engines, "open_engine", opened)]


_FOLLOWING = _opening(max_changed=-1.0)
_ROW_SUMS = _opening(entries_per_sum=np.inf)
_NO_SUMS = _opening(max_changed=-1.0, entries_per_sum=np.inf)
_READING: list[Patch] = [(BlockCache, "_read_ahead", _read_when_asked)]
_GUESSES: list[Patch] = [(engines, "Guess", _Unguessed)]

ON, EVERYTHING = "nothing", "everything"
OFF: dict[str, list[Patch]] = {
    ON: [],
    "following sums": _FOLLOWING,
    "kept row sums": _ROW_SUMS,
    "reading ahead": _READING,
    "guessed thresholds": _GUESSES,
    EVERYTHING: [*_NO_SUMS, *_READING, *_GUESSES],
}
SUMS, ROW_SUMS, READING, GUESSES = list(OFF)[1:-1]

# Where each can be seen at work: what is called, and whether it did anything, by its result.
AT_WORK: dict[str, tuple[Any, str, Callable[[Any, Any], bool]]] = {
    SUMS: (FollowingShard, "_changed", lambda _, result: result is not None),
    ROW_SUMS: (FollowingShard, "_row_features", lambda *_: True),
    READING: (BlockCache, "get", lambda self, _: len(self._source.entries) > self._n_kept),
    GUESSES: (Guess, "learn", lambda self, _: bool(np.isfinite(self.thresholds).any())),
}


@contextmanager
def watched(seen: set[str]) -> Iterator[None]:
    """Note which mechanisms are at work."""

    def noting(call: Any, name: str, did: Callable[[Any, Any], bool]) -> Any:
        def noted(self: Any, *arguments: Any, **options: Any) -> Any:
            result = call(self, *arguments, **options)
            if did(self, result):
                seen.add(name)
            return result

        return noted

    with ExitStack() as stack:
        for variant, (owner, name, did) in AT_WORK.items():
            call = noting(vars(owner)[name], variant, did)
            stack.enter_context(patched([(owner, name, call)]))
        yield


@contextmanager
def patched(patches: Sequence[Patch]) -> Iterator[None]:
    """Replace what is named for a while."""
    with ExitStack() as stack:
        for owner, name, value in patches:
            stack.callback(setattr, owner, name, vars(owner)[name])
            setattr(owner, name, value)
        yield


@contextmanager
def from_a_cold_disk() -> Iterator[None]:
    """Let the system forget every block of a store that a pass has read.

    As it must where the store is larger than memory.
    """
    read = BlockStore.read

    def read_and_forget(self: BlockStore, index: int) -> Any:
        block = read(self, index)
        for path in self.path.glob(f"block-{index:06d}.*"):
            with path.open("rb") as file:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        return block

    with patched([(BlockStore, "read", read_and_forget)]):
        yield


# ------------------------------------------------------------------------------------ measurement


@dataclass(frozen=True)
class Cost:
    """Seconds of the processors and on the wall, and passes."""

    processors: float
    wall: float
    passes: float

    def over(self, other: Cost) -> tuple[float, float, float]:
        """Return the ratios to another."""
        return (
            self.processors / other.processors,
            self.wall / other.wall,
            self.passes / other.passes,
        )

    @classmethod
    def best_of(cls, runs: Sequence[Sequence[Cost]]) -> Cost:
        """Add up the best of the runs from each start."""
        return cls(
            *(
                sum(min(getattr(run, part) for run in each) for each in runs)
                for part in ("processors", "wall", "passes")
            )
        )


@dataclass
class Setting:
    """Fits of one store: what is asked, where, from how many starts and how often."""

    name: str
    store: Any
    n_clusters: int
    options: dict[str, Any]
    starts: int
    repeats: int
    client: Any = None
    cold: bool = False
    costs: dict[str, Cost] = field(default_factory=dict)
    idle: list[str] = field(default_factory=list)

    def processor_seconds(self) -> float:
        """Return what this process and the workers have used so far."""
        workers = {} if self.client is None else self.client.run(time.process_time)
        return time.process_time() + float(sum(workers.values()))

    def fit(self, variant: str, seed: int) -> tuple[Cost, tuple[int, float]]:
        """Fit once; return what it took, and where it ended."""
        where = {} if self.client is None else {"engine": self.client}
        model = NEOCC(self.n_clusters, self.n_clusters, random_state=seed, **self.options, **where)
        with ExitStack() as stack:
            if self.cold:
                stack.enter_context(from_a_cold_disk())
            stack.enter_context(patched(OFF[variant]))
            before, start = self.processor_seconds(), time.perf_counter()
            model.fit(self.store)
            wall = time.perf_counter() - start
            processors = self.processor_seconds() - before
        return Cost(processors, wall, model.n_passes_), (model.n_iter_, model.objective_)

    def run(self) -> None:
        """Fit with everything in turn that is at work."""
        seen = {ON, EVERYTHING}
        with watched(seen):  # also compiles, and compares checksums
            self.fit(ON, 0)
        self.idle = [each for each in OFF if each not in seen]
        order = [each for each in OFF if each in seen]
        runs: dict[str, list[list[Cost]]] = {each: [] for each in order}
        for seed in range(self.starts):
            for each in order:
                runs[each].append([])
            ends: dict[str, tuple[int, float]] = {}
            for repeat in range(self.repeats):
                for each in order[:: 1 if repeat % 2 else -1]:
                    cost, ends[each] = self.fit(each, seed)
                    runs[each][seed].append(cost)
            for each, end in ends.items():
                if end[0] != ends[ON][0] or not np.isclose(end[1], ends[ON][1], rtol=1e-9):
                    print(f"# {self.name}, without {each}: {end}, not {ends[ON]}", flush=True)
        self.costs = {each: Cost.best_of(found) for each, found in runs.items()}


# --------------------------------------------------------------------------------------- settings


def kinds(
    store: Any, k: int, often: Sequence[tuple[int, int] | None], **where: Any
) -> Iterator[Setting]:
    """Yield plain fits of both objectives, disjoint and with overlap and outliers."""
    each = iter(often)
    for objective in OBJECTIVES:
        for loose in ({}, LOOSE):
            name = f"{objective}, {'overlap' if loose else 'disjoint'}"
            options = {**PLAIN, "objective": objective, **loose}
            counts = next(each)
            if counts is not None:
                yield Setting(name, store, k, options, *counts, **where)


Group = tuple[str, list[Setting]]


def movielens(folder: Path) -> BlockStore:
    """Write MovieLens 1M to a store."""
    return _written(folder / "movielens", lambda: fetch_movielens_1m().data)


def from_disk(folder: Path) -> Iterator[Group]:
    """Yield settings of fits from disk, store by store."""
    store = movielens(folder)
    counts = [(3, 3), (3, 3), (3, 3), (3, 3)]
    plain = list(kinds(store, 10, counts))
    yield f"Disk, MovieLens 1M, {_shape(store)}, k = l = 10", plain

    def made() -> Any:
        return make_coclusters(
            (40_000, 500), 10, 10, row_overlap=0.1, separation=1.0, random_state=0
        )[0]

    store = _written(folder / "dense", made, dtype="float32")
    plain = list(kinds(store, 10, [(2, 4), (2, 4), (1, 3), (1, 2)]))
    yield f"Disk, dense planted, {_shape(store)}, k = l = 10", plain
    store = _written(folder / "small", lambda: planted_blocks(20_000, 20_000, 500), dtype="float32")
    plain = list(kinds(store, 20, [None, None, (1, 2), (1, 2)]))
    yield f"Disk, sparse planted, {_shape(store)}, k = l = 20", plain
    large = lambda: planted_blocks(140_000, 20_000, 500)  # noqa: E731
    store = _written(folder / "large", large, dtype="float32")
    warm = list(
        kinds(
            store,
            20,
            [(1, 2), (1, 1), None, None],
        )
    )
    cold = list(kinds(store, 20, [(1, 1), None, None, None], cold=True))
    for setting in cold:
        setting.name += ", every pass from a cold disk"
    yield f"Disk, sparse planted, {_shape(store)}, k = l = 20", [*warm, *cold]


def by_default(folder: Path) -> Iterator[Group]:
    """Yield settings of default fits: searches, mostly on a sample of the rows."""
    store = movielens(folder)
    defaults = [
        Setting(f"{objective}, overlap, default fit", store, 10, options, 1, repeats)
        for objective, repeats in (("mean", 2), ("residue", 1))
        for options in ({"objective": objective, **LOOSE},)
    ]
    yield f"Disk, MovieLens 1M, default fits, {_shape(store)}, k = l = 10", defaults


def on_cluster(folder: Path, client: Any) -> Iterator[Group]:
    """Yield settings of fits on two workers, store by store."""
    store = movielens(folder)
    plain = list(kinds(store, 10, [(1, 3)] * 4, client=client))
    yield f"Dask, MovieLens 1M, {_shape(store)}, k = l = 10", plain
    store = _written(folder / "planted", data.planted)
    plain = list(kinds(store, 20, [(1, 4), (1, 2), (1, 2), (1, 1)], client=client))
    yield f"Dask, sparse planted, {_shape(store)}, k = l = 20", plain


def _written(path: Path, made: Callable[[], Any], **options: Any) -> BlockStore:
    store = write_store(path, made(), **options)
    os.sync()  # what is not on disk yet cannot be forgotten
    return store


def _shape(store: BlockStore) -> str:
    n, m = store.shape
    return f"{n:,} x {m:,}, {store.n_stored:,} entries in {len(store.entries)} blocks"


@contextmanager
def cluster() -> Iterator[Any]:
    """Start two workers of one thread each."""
    import dask
    import distributed

    with (
        dask.config.set({"distributed.worker.profile.enabled": False}),
        distributed.LocalCluster(
            n_workers=N_WORKERS, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as here,
        distributed.Client(here, set_as_default=False) as client,
    ):
        yield client


# ----------------------------------------------------------------------------------------- tables


def measured(groups: Iterator[Group], done: list[Setting]) -> Iterator[str]:
    """Run all settings; yield a table for each group."""
    for title, settings in groups:
        short = ", ".join(title.split(", ")[1:2])
        for setting in settings:
            begin = time.perf_counter()
            setting.run()
            spent = time.perf_counter() - begin
            print(f"# {title}: {setting.name}, {spent:.0f} s", flush=True)
        done += [replace(each, name=f"{short}: {each.name}") for each in settings]
        header = ["switched off", *(each.name for each in settings)]
        lines: list[Line] = [header]
        for variant in OFF:
            cells = [cell(each, variant) for each in settings]
            if any(cells):
                lines.append([variant, *cells])
        yield f"{title}\n\n{markdown(lines)}"


def cell(setting: Setting, variant: str) -> str:
    """Return seconds and passes of all mechanisms together, ratios to these without one."""
    if variant not in setting.costs:
        return ""
    if variant == ON:
        cost, n = setting.costs[ON], setting.starts
        return f"{cost.processors / n:.2f} s / {cost.wall / n:.2f} s / {cost.passes / n:.1f}"
    return " / ".join(f"{ratio:.2f}" for ratio in setting.costs[variant].over(setting.costs[ON]))


def in_short(done: list[Setting]) -> Iterator[str]:
    """Say in a line per mechanism what it spares of the time that a fit takes without it.

    Nothing, where it is never at work.
    """
    for name in [each for each in OFF if each != ON]:
        for where, is_there in (("disk", False), ("Dask", True)):
            settings = [each for each in done if (each.client is not None) == is_there]
            idle = sum(name in each.idle for each in settings)
            used = [each for each in settings if name in each.costs]
            words = []
            for what, place in (("processor time", 0), ("wall time", 1)):
                shares = [(_spared(each, name)[place], each.name) for each in used]
                if shares:
                    values = [share for share, _ in shares]
                    best, least = max(shares), min(shares)
                    words.append(
                        f"{best[0]:.0%} of the {what} at best ({best[1]}), "
                        f"{statistics.median([*values, *[0.0] * idle]):.0%} in the median of all "
                        f"settings, {statistics.median(values):.0%} of those where it is at work, "
                        f"{least[0]:.0%} at worst ({least[1]}), at least 15% in "
                        f"{sum(share >= 0.15 for share in values)}"
                    )
            if words:
                of = f"at work in {len(used)} of {len(used) + idle} settings"
                yield f"* **{name}**, {where}, {of}: spares {'; '.join(words)}."


def _spared(setting: Setting, off: str) -> tuple[float, ...]:
    return tuple(1.0 - 1.0 / ratio for ratio in setting.costs[off].over(setting.costs[ON]))


def main() -> None:
    """Measure, print, and write if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=None)
    parser.add_argument("--write", type=Path, default=None)
    parser.add_argument("only", nargs="?", choices=("disk", "default", "cluster"))
    given = parser.parse_args()
    begin = time.perf_counter()
    done: list[Setting] = []
    texts = []

    def show(parts: Iterator[str]) -> None:
        for part in parts:
            print(f"\n{part}\n", flush=True)
            texts.append(part)

    if given.only in (None, "disk"):
        with tempfile.TemporaryDirectory(dir=given.folder) as folder:
            show(measured(from_disk(Path(folder)), done))
    if given.only in (None, "cluster"):
        with tempfile.TemporaryDirectory(dir=given.folder) as folder, cluster() as client:
            show(measured(on_cluster(Path(folder), client), done))
    if given.only in (None, "default"):
        with tempfile.TemporaryDirectory(dir=given.folder) as folder:
            show(measured(by_default(Path(folder)), done))
    show(iter(["\n".join(in_short(done))]))
    print(f"# {time.perf_counter() - begin:.0f} s, load average {os.getloadavg()[0]:.1f}")
    if given.write is not None:
        note = (
            "First line: processor seconds / wall seconds / passes of a fit with everything on; "
            "then the ratios of these to it."
        )
        replace_section(given.write, "sparing", "\n\n".join([note, *texts]))


if __name__ == "__main__":
    main()
