"""Check the links of a built site, without network: files and places in them exist.

python -m docs.check_site docs/_build/html
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The links of a page, and the places that links may point to."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.places: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        found = dict(attrs)
        self.places |= {name for key in ("id", "name") if (name := found.get(key))}
        self.links += [link for key in ("href", "src") if (link := found.get(key))]


def page_paths(site: Path) -> list[Path]:
    """Return the pages of a site, without templates among its static files."""
    paths = sorted(site.resolve().rglob("*.html"))
    return [path for path in paths if "_static" not in path.parts]


def broken_links(site: Path) -> Iterator[str]:
    """Yield a line for each link that leads nowhere inside a site."""
    pages = {path: Page(path) for path in page_paths(site)}
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            where = f"{path.relative_to(site.resolve())}: {link}"
            if not target.exists():
                yield f"{where}: no such file"
            elif parts.fragment and target in pages:
                place = unquote(parts.fragment)
                if place not in pages[target].places:
                    yield f"{where}: no such place"


def main() -> None:
    site = Path(sys.argv[1])
    broken = list(broken_links(site))
    for line in broken:
        print(line, file=sys.stderr)
    n_pages = len(page_paths(site))
    if broken or not n_pages:
        sys.exit(f"{len(broken)} broken links in {n_pages} pages")
    print(f"{n_pages} pages, no broken link")


if __name__ == "__main__":
    main()
