"""What tests of the paper share: stand-ins, and one run of all of them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from standins import make_study, small_study

from neocc.paper import reproduce


@pytest.fixture(scope="session")
def study():
    return make_study()


@pytest.fixture(scope="session")
def run_folder(study, tmp_path_factory):
    """The folder of a finished run; not to be changed."""
    folder = tmp_path_factory.mktemp("paper") / "run"
    reproduce(folder, study=study, n_jobs=1)
    return folder


@pytest.fixture(scope="session")
def small_folder(tmp_path_factory):
    """The folder of a finished run of a few trials; not to be changed."""
    folder = tmp_path_factory.mktemp("small") / "run"
    reproduce(folder, study=small_study(), n_jobs=1)
    return folder
