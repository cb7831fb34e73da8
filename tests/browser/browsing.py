"""A browser as a reader uses it: looks, points, types."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

_FRAMES = "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(done));"
# From a copy: reading the picture itself would make it slow from then on.
_PIXELS = """
const picture = document.getElementById("picture"), copy = document.createElement("canvas");
[copy.width, copy.height] = [picture.width, picture.height];
const context = copy.getContext("2d", { willReadFrequently: true });
context.drawImage(picture, 0, 0);
const sharpness = picture.width / picture.clientWidth;
return arguments[0].map(([x, y]) =>
  [...context.getImageData(Math.round(x * sharpness), Math.round(y * sharpness), 1, 1).data]
);
"""
_IS_SEEN = """
const box = arguments[0].getBoundingClientRect();
return box.top >= 0 && box.bottom <= innerHeight;
"""


class Browser:
    def __init__(self, driver: Any) -> None:
        from selenium.webdriver import ActionChains, Keys

        self.driver = driver
        self.keys = Keys
        self._actions = ActionChains

    def open(self, path: Path) -> None:
        self.driver.get(path.as_uri())
        self.settle()

    def settle(self) -> None:
        """Wait until everything is painted."""
        self.driver.execute_async_script(_FRAMES)

    def complaints(self) -> list[str]:
        """Return what the browser has logged since the last time: errors, refusals."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def script(self, code: str, *arguments: Any) -> Any:
        return self.driver.execute_script(code, *arguments)

    def one(self, selector: str) -> Any:
        return self.driver.find_element("css selector", selector)

    def all(self, selector: str) -> list[Any]:
        return self.driver.find_elements("css selector", selector)

    def text(self, selector: str) -> str:
        return self.script("return document.querySelector(arguments[0]).innerText", selector)

    @property
    def data(self) -> dict:
        return json.loads(self.script("return document.getElementById('data').textContent"))

    # ------------------------------------------------------------------------------- the matrix

    def seen(self, side: str) -> tuple[float, float]:
        """Return the places between which a side is seen."""
        self.settle()
        start, stop = self.one("#picture").get_attribute(f"data-{side}").split()
        return float(start), float(stop)

    def frame(self) -> list[float]:
        """Return left, top, width and height of the matrix on the canvas."""
        return [float(part) for part in self.one("#picture").get_attribute("data-frame").split()]

    def place(self, row: float, column: float) -> tuple[float, float]:
        """Return where on the canvas the middle of a place is."""
        (at,) = self._points([(row, column)])
        return at

    def _points(self, places: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
        rows, columns = self.seen("rows"), self.seen("columns")
        left, top, width, height = self.frame()
        return [
            (
                left + (column + 0.5 - columns[0]) / (columns[1] - columns[0]) * width,
                top + (row + 0.5 - rows[0]) / (rows[1] - rows[0]) * height,
            )
            for row, column in places
        ]

    def colours(self, places: Sequence[tuple[float, float]]) -> np.ndarray:
        """Return red, green and blue in the middle of places."""
        return np.array(self.script(_PIXELS, self._points(places)))[:, :3]

    def show(self, selector: str) -> Any:
        """Have something in the window; if it has to scroll there, wait until that has settled."""
        found = self.one(selector)
        if self.script(_IS_SEEN, found):
            return found
        self.script("arguments[0].scrollIntoView({block: 'center'})", found)
        self.driver.execute_async_script("setTimeout(arguments[0], 300)")
        return found

    def _towards(self, x: float, y: float) -> tuple[Any, int, int]:
        canvas = self.show("#picture")
        size = canvas.size
        return canvas, round(x - size["width"] / 2), round(y - size["height"] / 2)

    def point(self, x: float, y: float) -> None:
        self._actions(self.driver, 0).move_to_element_with_offset(*self._towards(x, y)).perform()
        self.settle()

    def click(self, x: float, y: float) -> None:
        self.point(x, y)
        self._actions(self.driver, 0).click().perform()
        self.settle()

    def drag(self, x: float, y: float, by: tuple[int, int]) -> None:
        self.point(x, y)
        actions = self._actions(self.driver, 0).click_and_hold()
        actions.move_by_offset(*by).release().perform()
        self.settle()

    def wheel(self, x: float, y: float, by: int) -> None:
        from selenium.webdriver.common.actions.wheel_input import ScrollOrigin

        origin = ScrollOrigin.from_element(*self._towards(x, y))
        self._actions(self.driver, 0).scroll_from_origin(origin, 0, by).perform()
        self.settle()

    def press(self, *keys: str) -> None:
        """Press keys, wherever the focus is."""
        actions = self._actions(self.driver, 0)
        for key in keys:
            actions.send_keys(key)
        actions.perform()
        self.settle()

    def focused(self, code: str) -> Any:
        """Return something about the element that has the focus."""
        return self.script(f"const it = document.activeElement; return {code}")

    def find(self, text: str) -> None:
        search = self.one("#search")
        search.clear()
        search.send_keys(text)
        self.settle()
