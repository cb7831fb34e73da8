"""The site that `make docs` builds, in a browser: every page, on a telephone and on a screen."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from browsing import Browser

ROOT = Path(__file__).parents[2]
SITE = ROOT / "docs" / "_build" / "html"
# What sticks out, with the place that it should scroll in by itself left out.
_OVERFLOW = """
const wide = document.documentElement.clientWidth;
const scrolls = (node) => {
  for (let up = node.parentElement; up; up = up.parentElement) {
    if (["auto", "scroll", "hidden"].includes(getComputedStyle(up).overflowX)) return true;
  }
  return false;
};
return [...document.querySelectorAll(".bd-article *")]
  .filter((node) => node.getBoundingClientRect().right > wide + 1 && !scrolls(node))
  .slice(0, 3).map((node) => `${node.tagName}.${node.className}: ${node.textContent.slice(0, 60)}`);
"""
_PICTURES = "return [...document.images].filter((i) => !i.naturalWidth).map((i) => i.src)"
_EXCESS = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.fixture(scope="module")
def pages():
    if not (SITE / "index.html").exists():
        pytest.skip("no site: run make docs first")
    sys.path.insert(0, str(ROOT))
    from docs.check_site import broken_links, page_paths

    assert list(broken_links(SITE)) == []
    return page_paths(SITE)


@pytest.mark.slow
@pytest.mark.parametrize("width", [375, 1280])
def test_no_page_is_broken_or_too_wide(driver, pages, width):
    browser = Browser(driver)
    # Windows cannot be as narrow as a telephone; what the page sees can.
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    wrong = []
    try:
        for page in pages:
            browser.open(page)
            found = browser.script(_OVERFLOW) + browser.script(_PICTURES)
            if browser.script(_EXCESS) > 0:
                found.append("the page scrolls sideways")
            logged = driver.get_log("browser")
            found += [entry["message"] for entry in logged if entry["level"] == "SEVERE"]
            wrong += [f"{page.relative_to(SITE.resolve())}: {each}" for each in found]
    finally:
        driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert len(pages) > 50
    assert wrong == [], "\n".join(wrong)
