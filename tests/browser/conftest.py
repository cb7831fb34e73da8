"""A headless Chromium, and the pages to open in it."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

# `browsing` lives beside this file; importlib mode does not put it on the path.
sys.path.insert(0, str(Path(__file__).parent))

from browsing import Browser

from neocc import NEOCC
from neocc.datasets import load_southern_women
from neocc.report import write_report

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = (
    "--headless=new",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--window-size=1280,1000",
)


@pytest.fixture(scope="session")
def driver() -> Iterator:
    webdriver = pytest.importorskip("selenium.webdriver", reason="no browser test: no selenium")
    from selenium.webdriver.chrome.service import Service

    paths = [path for name in BROWSERS if (path := shutil.which(name))]
    helper = shutil.which("chromedriver")
    if not paths or helper is None:
        pytest.skip("no browser test: no Chromium with chromedriver (tests/browser/setup.sh)")
    options = webdriver.ChromeOptions()
    options.binary_location = paths[0]
    for argument in ARGUMENTS:
        options.add_argument(argument)
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        options.add_argument("--no-sandbox")  # which root may not have
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    found = webdriver.Chrome(options=options, service=Service(helper))
    yield found
    found.quit()


@pytest.fixture(scope="session")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("pages")


@pytest.fixture(scope="session")
def women():
    """Southern Women with a fit, as the demo has it."""
    data = load_southern_women()
    data.model = NEOCC(
        2,
        3,
        row_overlap=0.05,
        row_outliers=0.05,
        column_overlap=-0.07,
        column_outliers=0.07,
        n_init=2,
        random_state=0,
    ).fit(data.data)
    return data


@pytest.fixture
def browser(driver, folder, women) -> Iterator[Browser]:
    """The page of the Southern Women, freshly opened; no test may leave an error behind."""
    path = folder / "women.html"
    if not path.exists():
        write_report(
            women.model,
            path,
            matrix=women.data,
            row_names=women.row_names,
            column_names=women.column_names,
            row_noun="women",
            column_noun="events",
        )
    browser = Browser(driver)
    browser.open(path)
    yield browser
    assert browser.complaints() == []


@pytest.fixture
def large(driver, folder) -> Iterator[Browser]:
    """A page with more rows than it shows one by one, and more names than it keeps."""
    path = folder / "large.html"
    n, m = 90_000, 40
    U = np.arange(n)[:, None] * 3 // n == np.arange(3)
    U[30_000 - 2_000 : 30_000, 1] = True
    V = np.arange(m)[:, None] * 2 // m == np.arange(2)
    X = U.astype(float) @ np.array([[4.0, 0.0], [0.0, 2.0], [1.0, 1.0]]) @ V.T.astype(float)
    if not path.exists():
        write_report((U, V), path, matrix=X, row_names=[f"customer number {at}" for at in range(n)])
    browser = Browser(driver)
    browser.X = X
    browser.open(path)
    yield browser
    assert browser.complaints() == []
