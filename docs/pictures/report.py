"""Write the report of the Southern Women, and the picture of it in docs/pictures.

    python docs/pictures/report.py [FOLDER]

The page is written to FOLDER (by default a temporary one); the picture needs Chromium, its
chromedriver and selenium.
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
from neocc.datasets import load_southern_women
from neocc.report import write_report

PICTURE = Path(__file__).parent / "report-women.png"
WIDTH, COLOURS = 1200, 256
# What the picture ends with.
END = "#groups-rows"


def write(path: Path) -> None:
    women = load_southern_women()
    model = NEOCC(
        n_row_clusters=2,
        n_column_clusters=2,
        overlap_model="average",
        row_overlap=0.11,
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


def photograph(driver: Any, page: Path, picture: Path) -> None:
    """Save a page, down to the end of an element, with few colours, which keeps the file small."""
    driver.get(page.as_uri())
    driver.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
    height = driver.execute_script(
        "return document.querySelector(arguments[0]).getBoundingClientRect().bottom", END
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
    page = folder / "women.html"
    write(page)
    driver = open_browser()
    try:
        photograph(driver, page, PICTURE)
    finally:
        driver.quit()


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(tempfile.mkdtemp()))
