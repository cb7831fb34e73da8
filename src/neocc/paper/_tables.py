"""The tables: those of the paper, in its form, and those it does not have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from neocc.paper._data import DataSet
from neocc.paper._document import Row, Table
from neocc.paper._printed import PRINTED_AVERAGES, PRINTED_TRIALS
from neocc.paper._results import Results, Scores
from neocc.paper._systems import BASELINE
from neocc.paper._treatments import RAW, explained
from neocc.paper._trial import MEASURES

__all__ = [
    "measure_tables",
    "plaid_table",
    "settings_table",
    "system_columns_table",
    "time_table",
    "trials_table",
    "tried_table",
    "yeast_table",
]

F1 = "best-match F1"
_PERCENT = 100.0
_NOTHING = "–"


def system_columns_table(
    results: Results, blocks: Sequence[tuple[DataSet, str]], name: str, caption: str
) -> Table:
    """Make a table in the form of the paper's table 1: trials down, systems across."""
    systems = list(results.study.systems)
    rows = [row for data, treatment in blocks for row in _block(results, data, treatment, systems)]
    return Table(name, caption, ["", *systems], rows)


def _block(
    results: Results, data: DataSet, treatment: str, systems: Sequence[str]
) -> Iterator[Row]:
    found = {s: results.scores(data.name, treatment, s, F1, _PERCENT) for s in systems}
    baseline = _PERCENT * results.baselines[data.name][F1]
    stands_for = "" if data.printed in (None, data.name) else f", near the paper's {data.printed}"
    yield Row([f"{data.name}{stands_for}; {BASELINE}: {baseline:.1f}"], "group")
    for number in range(results.study.n_trials):
        scores = [None if s is None else s.trials[number] for s in found.values()]
        yield Row([f"trial {number + 1}", *map(_percent, scores)])
    yield Row(["best", *(_percent(s.best if s else None) for s in found.values())])
    yield Row(["worst", *(_percent(s.worst if s else None) for s in found.values())])
    highest = max((scores.mean for scores in found.values() if scores), default=0.0)
    averages = [_NOTHING if s is None else _average(s, highest) for s in found.values()]
    yield Row(["average ± deviation", *averages])
    above = [_NOTHING if s is None else _above(s, baseline) for s in found.values()]
    yield Row([f"trials above {BASELINE}", *above], "baseline")
    if data.printed is not None:
        yield from _printed_rows(data.printed, systems)


def _percent(value: float | None) -> str:
    return _NOTHING if value is None else f"{value:.1f}"


def _rounded(value: float, digits: int) -> str:
    """Round a number, and leave no sign on a zero."""
    return f"{round(value, digits) + 0.0:.{digits}f}"


def _average(scores: Scores, highest: float) -> str:
    text = f"{scores.mean:.1f} ± {scores.deviation:.1f}"
    return f"**{text}**" if scores.mean == highest else text


def _above(scores: Scores, baseline: float) -> str:
    return f"{sum(score > baseline for score in scores.trials)} of {len(scores.trials)}"


def _printed_rows(data: str, systems: Sequence[str]) -> Iterator[Row]:
    printed = {s: PRINTED_TRIALS[data].get(s) for s in systems}
    for number in range(max(len(trials) for trials in printed.values() if trials)):
        cells = [_percent(trials[number] if trials else None) for trials in printed.values()]
        yield Row([f"printed for {data}: trial {number + 1}", *cells], "printed")
    for word, pick in (("best", max), ("worst", min)):
        cells = [
            _NOTHING if trials is None else f"{pick(trials):.1f}" for trials in printed.values()
        ]
        yield Row([f"printed for {data}: {word}", *cells], "printed")
    averages = PRINTED_AVERAGES[data]
    cells = ["{:.1f} ± {:.1f}".format(*averages[s]) if s in averages else _NOTHING for s in systems]
    yield Row([f"printed for {data}: average ± deviation", *cells], "printed")


def plaid_table(results: Results, data: DataSet, system: str, name: str, caption: str) -> Table:
    """Make a table in the form of the paper's table 2: one system, trials across."""
    n_trials = results.study.n_trials
    rows = []
    for treatment in data.treatments:
        scores = results.scores(data.name, treatment, system, F1, _PERCENT)
        cells = [_NOTHING] * n_trials if scores is None else [f"{s:.1f}" for s in scores.trials]
        rows.append(Row([f"{system} on {data.name}, {treatment}", *cells]))
    if data.printed is not None and system in PRINTED_TRIALS[data.printed]:
        printed = [f"{s:.1f}" for s in PRINTED_TRIALS[data.printed][system][:n_trials]]
        rows.append(Row([f"{system} on {data.printed}, printed", *printed], "printed"))
    header = ["", *(f"trial {number + 1}" for number in range(n_trials))]
    return Table(name, caption, header, rows)


def yeast_table(results: Results, data: DataSet, name: str, caption: str) -> Table:
    """Make a table in the form of the paper's table 3: systems down, trials across."""
    n_trials = results.study.n_trials
    header = ["", *(f"trial {n + 1}" for n in range(n_trials)), "best", "worst", "avg.", "std."]
    printed = PRINTED_TRIALS.get(data.printed or "", {})
    averages = PRINTED_AVERAGES.get(data.printed or "", {})
    systems = list(results.study.systems)
    found = {s: results.scores(data.name, data.treatments[0], s, F1, _PERCENT) for s in systems}
    highest = max((scores.mean for scores in found.values() if scores), default=0.0)
    baseline = f"{_PERCENT * results.baselines[data.name][F1]:.1f}"
    rows = []
    for system, scores in found.items():
        if scores is None:
            rows.append(Row([system, *[_NOTHING] * (n_trials + 4)]))
        else:
            numbers = [*scores.trials, scores.best, scores.worst, scores.mean, scores.deviation]
            cells = [f"{number:.1f}" for number in numbers]
            if scores.mean == highest:
                cells[-2] = f"**{cells[-2]}**"
            rows.append(Row([system, *cells]))
        if system in printed:
            shown = printed[system][:n_trials]
            ends = (max(printed[system]), min(printed[system]), *averages[system])
            cells = [f"{number:.1f}" for number in (*shown, *ends)]
            rows.append(Row([f"{system}, printed", *cells], "printed"))
    rows.append(Row([BASELINE, *[baseline] * (n_trials + 3), "0.0"], "baseline"))
    return Table(name, caption, header, rows)


def measure_tables(results: Results) -> Iterator[Table]:
    """Make one table for each measure: data sets down, systems and the baseline across."""
    systems = list(results.study.systems)
    for measure in MEASURES:
        scale, digits = (_PERCENT, 1) if "F1" in measure else (1.0, 3)
        rows = []
        for data, treatment in results.tables:
            found = [results.scores(data.name, treatment, s, measure, scale) for s in systems]
            highest = max((scores.mean for scores in found if scores), default=None)
            cells = [_marked(s.mean if s else None, highest, digits) for s in found]
            trivial = _rounded(scale * results.baselines[data.name][measure], digits)
            rows.append(Row([_title(data, treatment), *cells, trivial]))
        unit = ", percent" if "F1" in measure else ""
        caption = f"{measure}{unit}: average over the trials. Bold: highest of the systems."
        file = "measure-" + "".join(c if c.isalnum() else "-" for c in measure.lower()).strip("-")
        yield Table(file, caption, ["", *systems, BASELINE], rows)


def _title(data: DataSet, treatment: str) -> str:
    return data.name if treatment == RAW else f"{data.name}, {treatment}"


def tried_table(results: Results, name: str, caption: str) -> Table:
    """Make the table of preprocessings: omega of NEO-CC and of the best other system."""
    study = results.study
    ours = [s for s in study.tried_systems if s.startswith("NEO-CC")]
    others = [s for s in study.tried_systems if s not in ours]
    tried = [data for data in study.data_sets.values() if data.tried]
    treatments = list(dict.fromkeys(treatment for data in tried for treatment in data.tried))
    header = ["", *(f"{data.name}: {s}" for data in tried for s in [*ours, "best other"])]
    rows = []
    for treatment in treatments:
        cells = []
        for data in tried:
            mine = results.first(data.name, treatment, ours, "omega")
            rest = results.first(data.name, treatment, others, "omega")
            best = max(rest, key=rest.__getitem__, default="")
            highest = max([*mine.values(), *rest.values()], default=None)
            cells += [_marked(mine.get(system), highest) for system in ours]
            cells.append(f"{_marked(rest.get(best), highest)} {best}".strip())
        rows.append(Row([treatment, *cells]))
    return Table(name, caption, header, rows)


def _marked(value: float | None, highest: float | None, digits: int = 3) -> str:
    """Round a number; the highest one is bold."""
    if value is None:
        return _NOTHING
    text = _rounded(value, digits)
    return f"**{text}**" if value == highest else text


def treatments_table(results: Results, name: str, caption: str) -> Table:
    """Say in words what each preprocessing does."""
    treatments: dict[str, None] = {}
    for data in results.study.data_sets.values():
        treatments.update(dict.fromkeys([*data.treatments, *data.tried]))
    rows = [Row([treatment, explained(treatment)]) for treatment in treatments]
    return Table(name, caption, ["name", "what it does"], rows)


def settings_table(results: Results, name: str, caption: str) -> Table:
    """List the estimators as they can be typed, those of the first trials.

    They know nothing of the preprocessing: one list for a data set will do.
    """
    rows: list[Row] = []
    for data in results.study.data_sets.values():
        rows.append(Row([f"{data.name} ({' or '.join(data.treatments)})"], "group"))
        rows += [
            Row([system, f"`{trial.estimator}`"])
            for system in results.study.systems
            for trial in results.find(data.name, data.treatments[0], system)[:1]
        ]
    return Table(name, caption, ["system", "estimator of trial 1"], rows)


def time_table(results: Results, name: str, caption: str) -> Table:
    """List how long fits took."""
    systems = list(results.study.systems)
    rows = []
    for data, treatment in results.tables:
        found = [results.seconds(data.name, treatment, system) for system in systems]
        cells = [_NOTHING if seconds is None else f"{seconds:.2f}" for seconds in found]
        rows.append(Row([_title(data, treatment), *cells]))
    return Table(name, caption, ["", *systems], rows)


def trials_table(results: Results, name: str) -> Table:
    """List every trial with all it was scored by; a file of its own, on no page."""
    header = ["data", "preprocessing", "system", "trial", *MEASURES]
    header += ["objective", "clusters", "memberships", "outside", "estimator", "error"]
    rows = []
    for job, trial in sorted(results.trials.items()):
        scores = [f"{trial.scores[m]:.6f}" if m in trial.scores else "" for m in MEASURES]
        objective = "" if trial.objective is None else f"{trial.objective:.10g}"
        counts = [str(n) for n in (trial.n_clusters, trial.n_memberships, trial.n_outside)]
        cells = [job.data, job.treatment, job.system, str(job.trial), *scores, objective, *counts]
        rows.append(Row([*cells, trial.estimator, trial.error]))
    return Table(name, "", header, rows)
