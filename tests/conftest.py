"""Settings shared by all tests: helper modules importable by name, reproducible hypothesis runs."""

from __future__ import annotations

import os
import signal
import sys
from functools import partial
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# `oracle` and `instances` live beside this file; importlib mode does not put them on the path.
sys.path.insert(0, str(Path(__file__).parent))
# Draws from the plaid model and Geweke's test of its sampler are in `benchmarks`, for both.
sys.path.append(str(Path(__file__).parents[1]))

settings.register_profile(
    "neocc",
    derandomize=True,
    deadline=None,
    max_examples=25,
    suppress_health_check=[HealthCheck.too_slow],
)
# `make slow`: other examples each time, and what repeats one that fails.
settings.register_profile(
    "random", settings.get_profile("neocc"), derandomize=False, max_examples=200, print_blob=True
)
settings.load_profile("neocc")


@pytest.fixture(autouse=True, scope="session")
def _interruptible() -> None:
    """Make Ctrl-C work in the tests that send it, even where it was ignored from the start."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def set_pass_options(monkeypatch):
    """Have estimators open their engines with other block sizes: fields of `PassOptions`."""
    from neocc.engines import PassOptions, on_gpu, open_engine
    from neocc.estimators import _engines

    def set_options(**options) -> None:
        for opening in (open_engine, on_gpu):
            opened = partial(opening, options=PassOptions(**options))
            monkeypatch.setattr(_engines, opening.__name__, opened)

    return set_options


@pytest.fixture
def set_store_options(monkeypatch):
    """Have estimators open stores with other sizes: keywords of `open_source`."""
    from neocc.engines import validation
    from neocc.engines.stored import open_source

    def set_options(**options) -> None:
        monkeypatch.setattr(validation, "open_source", partial(open_source, **options))

    return set_options


@pytest.fixture
def data_folder() -> Path:
    """Folder of the data sets that may not be passed on."""
    folder = os.environ.get("NEOCC_DATA")
    if not folder:
        pytest.skip("NEOCC_DATA is not set: it names the folder of the local data sets")
    return Path(folder)


@pytest.fixture(autouse=True)
def _close_figures():
    """Leave no figures open: pyplot keeps them, and warns of more than twenty."""
    yield
    if (pyplot := sys.modules.get("matplotlib.pyplot")) is not None:
        pyplot.close("all")
