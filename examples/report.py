"""Write the reports of three data sets, and the pictures of them in docs/pictures.

    python examples/report.py [FOLDER]

The pages are written to FOLDER (by default a temporary one); the pictures need Chromium, its
chromedriver and selenium. The women ship with neocc. Yeast and MovieLens are read from the folder
that NEOCC_DATA names, or downloaded (the extra `data`); a data set that cannot be had is left out.
MovieLens may not be passed on: its page stays in FOLDER, and its picture shows averages over many
ratings, without names.
"""

from __future__ import annotations

import io
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

from neocc import NEOCC
from neocc.datasets import fetch_movielens_100k, fetch_yeast, load_southern_women
from neocc.report import write_report

PICTURES = Path(__file__).parents[1] / "docs" / "pictures"
WIDTH, COLOURS = 1200, 256
# What a picture ends with: enough to show the matrix with its colours, and no list of names.
ENDS = {"women": "#groups-rows", "yeast": "#matrix", "movielens": "#matrix"}


def southern_women(path: Path) -> None:
    women = load_southern_women()
    model = NEOCC(
        n_row_clusters=2,
        n_column_clusters=3,
        row_overlap=0.05,
        row_outliers=0.05,
        column_overlap=-0.07,
        column_outliers=0.07,
        random_state=0,
    ).fit(women.data)
    write_report(
        model,
        path,
        matrix=women.data,
        row_names=women.row_names,
        column_names=women.column_names,
        row_noun="women",
        column_noun="events",
        title="Southern Women: who was seen at which social event",
        force=True,
    )


def yeast(path: Path) -> None:
    data = fetch_yeast()
    model = NEOCC(
        n_row_clusters=14,
        n_column_clusters=3,
        row_overlap=3.237,
        column_overlap=0.2,
        n_init=5,
        refine=False,
        random_state=0,
    ).fit(data.data)
    write_report(
        model,
        path,
        matrix=data.data,
        row_names=data.row_names,
        column_names=data.column_names,
        row_noun="genes",
        column_noun="attributes",
        title="Yeast",
        force=True,
    )


def movielens(path: Path) -> None:
    data = fetch_movielens_100k()
    model = NEOCC(
        n_row_clusters=5,
        n_column_clusters=6,
        row_overlap=0.1,
        row_outliers=0.02,
        column_overlap=0.1,
        column_outliers=0.02,
        n_init=5,
        refine=False,
        random_state=0,
    ).fit(data.data)
    write_report(
        model,
        path,
        matrix=data.data,
        row_names=[f"user {name}" for name in data.row_names],
        column_names=data.column_names,
        row_noun="users",
        column_noun="films",
        title="MovieLens 100K: who rated what",
        force=True,
    )


def photograph(driver: Any, page: Path, end: str, picture: Path) -> None:
    """Save a page, down to the end of an element, with few colours, which keeps the file small."""
    driver.get(page.as_uri())
    driver.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
    height = driver.execute_script(
        "return document.querySelector(arguments[0]).getBoundingClientRect().bottom", end
    )
    driver.set_window_size(WIDTH, round(height) + 200)
    driver.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
    with Image.open(io.BytesIO(driver.get_screenshot_as_png())) as image:
        shown = image.convert("RGB").crop((0, 0, WIDTH, round(height) + 24))
        few = shown.quantize(COLOURS, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
        few.save(picture, optimize=True)
    print(f"{picture} ({picture.stat().st_size // 1000} kB)")


def open_browser() -> Any:
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    arguments = ["--headless=new", "--hide-scrollbars", f"--window-size={WIDTH},900"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        arguments.append("--no-sandbox")
    for argument in arguments:
        options.add_argument(argument)
    return webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))


def main(folder: Path) -> None:
    driver = open_browser()
    try:
        for name, write in (("women", southern_women), ("yeast", yeast), ("movielens", movielens)):
            page = folder / f"{name}.html"
            try:
                write(page)
            except (ImportError, OSError) as error:
                print(f"{name} left out: {error}")
                continue
            print(f"{page} ({page.stat().st_size // 1000} kB)")
            photograph(driver, page, ENDS[name], PICTURES / f"report-{name}.png")
    finally:
        driver.quit()


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(tempfile.mkdtemp()))
