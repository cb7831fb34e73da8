"""Reading a page: its tags, its texts, and what its script gets."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass, field
from html.parser import HTMLParser

import numpy as np

VOID = {"meta", "link", "br", "input"}


@dataclass
class Tag:
    name: str
    attributes: dict[str, str]
    text: str = ""


@dataclass
class Page:
    """Tags in order, each with the text in it; unbalanced tags are an error."""

    tags: list[Tag] = field(default_factory=list)

    def all(self, name: str) -> list[Tag]:
        return [tag for tag in self.tags if tag.name == name]

    def by_id(self, key: str) -> Tag:
        (found,) = [tag for tag in self.tags if tag.attributes.get("id") == key]
        return found

    @property
    def data(self) -> dict:
        return json.loads(self.by_id("data").text)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.page = Page()
        self.open: list[Tag] = []

    def handle_starttag(self, tag, attrs):
        assert len({name for name, _ in attrs}) == len(attrs)
        found = Tag(tag, dict(attrs))
        self.page.tags.append(found)
        if tag not in VOID:
            self.open.append(found)

    def handle_startendtag(self, tag, attrs):
        self.page.tags.append(Tag(tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop().name == tag

    def handle_data(self, data):
        for tag in self.open:
            tag.text += data


def read(html: str) -> Page:
    reader = _Reader()
    reader.feed(html)
    reader.close()
    assert not reader.open
    return reader.page


def unpack(text: str) -> np.ndarray:
    """Decode numbers as the script does."""
    packed = np.frombuffer(base64.b64decode(text), dtype=np.uint8).reshape(-1, 3)
    whole = np.zeros((len(packed), 4), dtype=np.uint8)
    whole[:, 1:] = packed
    return whole.reshape(-1).view("<f4")


def cells(data: dict) -> np.ndarray:
    return unpack(data["cells"]).reshape(data["rows"]["bins"], data["columns"]["bins"])


def shares(side: dict) -> np.ndarray:
    found = np.frombuffer(base64.b64decode(side["shares"]), dtype=np.uint8)
    return found.reshape(side["bins"], len(side["groups"]))
