"""Long fits can be watched, stopped and interrupted."""

from __future__ import annotations

import logging
import subprocess
import sys
from itertools import cycle

import numpy as np
import pytest
from instances import planted
from models import NAMES, TWO_WAY_NAMES, make_model, row_members
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from neocc import NEOCC
from neocc.core.samples import Sampling
from neocc.core.search import (
    budget,
    local,
    n_search_steps,
    pool,
)
from neocc.estimators import _base


@pytest.fixture
def X():
    return planted(np.random.default_rng(0), 24, 16, 3, 3, noise=1.5)


class Recorder:
    """A callback that remembers what it was told, and stops or fails where asked."""

    def __init__(self, stop_at=None, fail_at=None):
        self.events = []
        self.stop_at, self.fail_at = stop_at, fail_at

    def setup(self, estimator, context):
        self.events.append(("setup", context.task_name, context.task_id))

    def teardown(self, estimator, context):
        self.events.append(("teardown", context.task_name, context.task_id))

    def on_fit_task_begin(self, estimator, context):
        self.events.append(("begin", context.task_name, context.task_id))
        if self.fail_at == (context.task_name, context.task_id):
            raise KeyboardInterrupt

    def on_fit_task_end(self, estimator, context):
        self.events.append(("end", context.task_name, context.task_id))
        return self.stop_at == (context.task_name, context.task_id)

    def count(self, event, task):
        return sum(e[:2] == (event, task) for e in self.events)


@pytest.fixture
def callbacks():
    return pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9")


# --------------------------------------------------------------------------------- callbacks


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.usefixtures("callbacks")
def test_callbacks_see_every_start_and_iteration(X, name):
    recorder = Recorder()
    model = make_model(name, n_init=3).set_callbacks(recorder).fit(X)
    assert recorder.events[0][0] == "setup"
    assert recorder.events[-1][0] == "teardown"
    assert recorder.count("begin", "fit") == recorder.count("end", "fit") == 1
    assert recorder.count("begin", "start") == recorder.count("end", "start") == 3
    n_iterations = recorder.count("begin", "iteration")
    assert n_iterations == recorder.count("end", "iteration") >= model.n_iter_
    starts = [
        number for event, task, number in recorder.events if (event, task) == ("begin", "start")
    ]
    assert starts == [0, 1, 2]


@pytest.mark.usefixtures("callbacks")
def test_tasks_are_nested(X):
    recorder = Recorder()
    make_model("NEOCC mean", n_init=2).set_callbacks(recorder).fit(X)
    assert_nested(recorder.events)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.usefixtures("callbacks")
def test_callbacks_do_not_change_the_result(X, name):
    plain = make_model(name).fit(X)
    watched = make_model(name).set_callbacks(Recorder()).fit(X)
    np.testing.assert_array_equal(plain.history_, watched.history_)


@pytest.mark.usefixtures("callbacks")
def test_a_callback_can_stop_the_starts(X):
    recorder = Recorder(stop_at=("start", 1))
    model = make_model("NEOCC mean", n_init=5).set_callbacks(recorder).fit(X)
    assert recorder.count("begin", "start") == 2
    assert model.objective_ == make_model("NEOCC mean", n_init=2).fit(X).objective_


@pytest.mark.usefixtures("callbacks")
def test_a_callback_can_stop_the_iterations_of_a_start(X):
    recorder = Recorder(stop_at=("iteration", 0))
    model = make_model("NEOCC mean", n_init=2, init="random").set_callbacks(recorder).fit(X)
    assert model.n_iter_ == 1
    assert recorder.count("end", "iteration") == 2


@pytest.mark.parametrize("name", NAMES)
def test_progress_bar_draws(X, name, callbacks, capsys):
    pytest.importorskip("rich")
    model = make_model(name).set_callbacks(callbacks.ProgressBar()).fit(X)
    assert type(model).__name__ in capsys.readouterr().out


# ------------------------------------------------------------------------------- refined fits


def assert_nested(events):
    open_tasks = []
    for event, task, number in events[1:-1]:
        if event == "begin":
            open_tasks.append((task, number))
        else:
            assert open_tasks.pop() == (task, number)
    assert not open_tasks


@pytest.fixture(params=[True, "thorough"])
def effort(request):
    return request.param


def most_steps(model):
    return n_search_steps(model.init, model.n_init, thorough=model.refine == "thorough")


class Sampled(NEOCC):
    """Searches on a sample of 24 rows."""

    _sampling = Sampling(entries=(100, 100), items_per_cluster=8, largest_searched=0)


def sampled_model(effort):
    return Sampled(**make_model("NEOCC mean", refine=effort).get_params())


@pytest.fixture
def long():
    return planted(np.random.default_rng(0), 200, 12, 3, 3, noise=1.0)


@pytest.mark.parametrize("name", TWO_WAY_NAMES)
@pytest.mark.usefixtures("callbacks")
def test_callbacks_see_every_step_of_a_search(X, name, effort):
    recorder = Recorder()
    model = make_model(name, refine=effort).set_callbacks(recorder).fit(X)
    assert recorder.count("begin", "fit") == recorder.count("end", "fit") == 1
    n_steps = recorder.count("begin", "step")
    assert n_steps == recorder.count("end", "step")
    assert 1 < n_steps <= most_steps(model)
    numbers = [number for *what, number in recorder.events if what == ["begin", "step"]]
    assert numbers == list(range(n_steps))
    assert recorder.count("begin", "iteration") == recorder.count("end", "iteration")
    assert_nested(recorder.events)


@pytest.mark.usefixtures("callbacks")
def test_callbacks_see_every_step_of_a_search_on_a_sample(long, effort):
    recorder = Recorder()
    model = sampled_model(effort).set_callbacks(recorder).fit(long)
    n_steps = recorder.count("begin", "step")
    assert n_steps == recorder.count("end", "step")
    assert 1 < n_steps <= most_steps(model)
    assert_nested(recorder.events)


@pytest.mark.parametrize("name", TWO_WAY_NAMES)
def test_progress_bar_draws_a_search(X, name, callbacks, capsys, effort):
    pytest.importorskip("rich")
    watched = make_model(name, refine=effort).set_callbacks(callbacks.ProgressBar()).fit(X)
    assert type(watched).__name__ in capsys.readouterr().out
    plain = make_model(name, refine=effort).fit(X)
    np.testing.assert_array_equal(watched.history_, plain.history_)


@pytest.mark.usefixtures("callbacks")
def test_a_callback_can_stop_a_search(X, effort):
    recorder = Recorder(stop_at=("step", 2))
    model = make_model("NEOCC mean", refine=effort).set_callbacks(recorder).fit(X)
    assert recorder.count("begin", "step") == recorder.count("end", "step") == 3
    assert recorder.count("end", "fit") == 1
    assert model.objective_ >= make_model("NEOCC mean", refine=effort).fit(X).objective_


@pytest.mark.usefixtures("callbacks")
def test_a_callback_that_stops_a_search_on_a_sample_leaves_a_fit(long, effort):
    model = sampled_model(effort).set_callbacks(Recorder(stop_at=("step", 2)))
    check_is_fitted(model.fit(long))
    assert model.predict(long).shape == (200,)


@pytest.mark.parametrize(("name", "n_steps"), list(zip(TWO_WAY_NAMES, cycle([1, 6]), strict=False)))
def test_an_interrupted_search_keeps_the_best_so_far(X, name, n_steps, monkeypatch, effort):
    search, seen = _base.search, []

    def interrupted(*args, **kwargs):
        for number, found in enumerate(search(*args, **kwargs)):
            if number == n_steps:
                raise KeyboardInterrupt
            seen.append(found)
            yield found

    monkeypatch.setattr(_base, "search", interrupted)
    model = make_model(name, n_init=5, refine=effort)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X)
    monkeypatch.undo()
    best = min(seen, key=lambda solution: solution.objective)
    check_is_fitted(model)
    assert model.objective_ == best.objective
    np.testing.assert_array_equal(row_members(model), best.U.dense)
    assert len(model.predict(X)) == len(X)
    assert_usable(model, X)


@pytest.mark.parametrize(
    ("module", "effort", "call"),
    [(pool, "thorough", 3), (local, "thorough", 3), (budget, True, 3), (local, True, 1)],
)
def test_a_search_interrupted_inside_the_solver_keeps_the_best_so_far(
    X, module, effort, call, monkeypatch
):
    solve, calls = module.solve, []

    def interrupted(*args, **kwargs):
        calls.append(None)
        if len(calls) == call:
            raise KeyboardInterrupt
        return solve(*args, **kwargs)

    monkeypatch.setattr(module, "solve", interrupted)
    model = make_model("NEOCC mean overlap", n_init=6, refine=effort)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X)
    monkeypatch.undo()
    check_is_fitted(model)
    whole = make_model("NEOCC mean overlap", n_init=6, refine=effort).fit(X)
    assert model.objective_ >= whole.objective_
    assert_usable(model, X)


# ------------------------------------------------------------------------------- interruption


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.usefixtures("callbacks")
def test_an_interrupted_fit_keeps_its_best_start(X, name):
    recorder = Recorder(fail_at=("start", 2))
    model = make_model(name, n_init=6).set_callbacks(recorder)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X)
    assert recorder.events[-1][0] == "teardown"
    expected = make_model(name, n_init=2).fit(X)
    check_is_fitted(model)
    np.testing.assert_array_equal(model.history_, expected.history_)
    np.testing.assert_array_equal(row_members(model), row_members(expected))
    np.testing.assert_array_equal(model.predict(X), expected.predict(X))


@pytest.mark.parametrize("name", NAMES)
def test_a_fit_interrupted_inside_the_solver_keeps_its_best_start(X, name, monkeypatch):
    solve, calls = budget.solve, []

    def interrupted(*args, **kwargs):
        calls.append(None)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return solve(*args, **kwargs)

    monkeypatch.setattr(budget, "solve", interrupted)
    model = make_model(name, n_init=6, init="random")
    with pytest.raises(KeyboardInterrupt):
        model.fit(X)
    monkeypatch.undo()
    expected = make_model(name, n_init=2, init="random").fit(X)
    np.testing.assert_array_equal(model.history_, expected.history_)
    assert_usable(model, X)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.usefixtures("callbacks")
def test_a_fit_interrupted_in_its_first_start_is_no_fit(X, name):
    model = make_model(name).set_callbacks(Recorder(fail_at=("start", 0)))
    with pytest.raises(KeyboardInterrupt):
        model.fit(X)
    with pytest.raises(NotFittedError):
        model.predict(X)
    assert_usable(model.set_callbacks(), X)


def assert_usable(model, X):
    expected = type(model)(**model.get_params()).fit(X)
    np.testing.assert_array_equal(model.fit(X).history_, expected.history_)


# ------------------------------------------------------------------------------------ verbose


@pytest.mark.parametrize("name", NAMES)
def test_verbose_logs_and_prints_nothing(X, name, caplog, capsys):
    with caplog.at_level(logging.INFO, logger="neocc"):
        make_model(name, verbose=1, n_init=3).fit(X)
    lines = [r.getMessage() for r in caplog.records if r.name == "neocc"]
    assert len(lines) == 3
    assert all("objective" in line for line in lines)
    assert lines[0].startswith("start 1/3")
    assert capsys.readouterr() == ("", "")


def test_verbose_logs_the_steps_of_a_search(X, caplog, capsys):
    with caplog.at_level(logging.INFO, logger="neocc"):
        model = make_model("NEOCC mean", verbose=1, refine=True).fit(X)
    lines = [r.getMessage() for r in caplog.records if r.name == "neocc"]
    assert 1 < len(lines) <= most_steps(model)
    assert all("objective" in line for line in lines)
    assert capsys.readouterr() == ("", "")


def test_more_verbose_logs_iterations(X, caplog):
    with caplog.at_level(logging.INFO, logger="neocc"):
        model = make_model("NEOCC mean", verbose=2, n_init=1).fit(X)
    lines = [r.getMessage() for r in caplog.records if r.name == "neocc"]
    assert sum("iteration" in line for line in lines) >= model.n_iter_


def test_silence_by_default(X, caplog, capsys):
    with caplog.at_level(logging.DEBUG):
        make_model("NEOCC mean").fit(X)
    assert not [r for r in caplog.records if r.name.startswith("neocc")]
    assert capsys.readouterr() == ("", "")


def test_verbose_is_visible_without_any_logging_set_up():
    code = (
        "import numpy as np; from neocc import NEOCC; "
        "NEOCC(2, 2, n_init=2, refine=False, verbose=1).fit(np.arange(20.0).reshape(5, 4) ** 2)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == ""
    assert run.stderr.count("objective") == 2
