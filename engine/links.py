"""Does every link of the built site lead somewhere, and does the page ask anything of another host?

In: the folder of a built site. Out: one line per address that leads nowhere (file or anchor, the
records and sources behind the numbers included) and per file that would be fetched from elsewhere.
MkDocs checks only what was written in Markdown.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urljoin, urlsplit

_COMMENT = re.compile(r"<!--.*?-->|<script\b(?![^>]*\bsrc=).*?</script>", re.DOTALL)
_TAG = re.compile(r"<([a-zA-Z][\w-]*)((?:[^<>\"']|\"[^\"]*\"|'[^']*')*)>")
_ATTRIBUTE = re.compile(
    r"""(?<![\w-])(id|name|href|src|rel)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))"""
)
_DETAILS = re.compile(r'<template class="bk-numbers"[^>]*>(.*?)</template>', re.DOTALL)
_FETCHED = {"stylesheet", "icon", "preload", "preconnect", "dns-prefetch", "modulepreload"}
_HOST = "https://site.invalid"


def broken(site: Path) -> Iterator[str]:
    """What is wrong with the links of `site`, page by page."""

    @cache
    def page(path: Path) -> tuple[list[tuple[str, bool]], set[str]]:
        return _read(path.read_text(encoding="utf-8"))

    for path in sorted(site.rglob("*.html")):
        address = path.relative_to(site).as_posix()
        if path.name == "404.html":  # its addresses hold for the place where the site will stand
            continue
        base = f"{_HOST}/{address.removesuffix('index.html')}"
        links, anchors = page(path)
        for link, fetched in links:
            if link.startswith("#"):
                if unquote(link[1:]) not in anchors:
                    yield f"{address}: the link {link} leads to an anchor that is not there"
                continue
            target = urlsplit(urljoin(base, link))
            if f"{target.scheme}://{target.netloc}" != _HOST:
                if fetched and target.scheme in ("http", "https"):
                    yield f"{address}: asks another host for {link}"
                continue
            file = site / unquote(target.path).lstrip("/")
            if file.is_dir():
                file = file / "index.html"
            if not file.is_file():
                yield f"{address}: the link {link} leads nowhere"
                continue
            anchored = file.suffix == ".html" and target.fragment
            if anchored and unquote(target.fragment) not in page(file)[1]:
                yield f"{address}: the link {link} leads to an anchor that is not there"


def _read(text: str) -> tuple[list[tuple[str, bool]], set[str]]:
    """The addresses of a page, each with whether it is fetched unasked, and its anchors."""
    links: list[tuple[str, bool]] = []
    anchors: set[str] = set()
    details = _DETAILS.findall(text)
    for tag, inside in _TAG.findall(_COMMENT.sub("", text)):
        values: dict[str, str] = {}
        for name, *quoted in _ATTRIBUTE.findall(inside):
            values[name] = html.unescape(next((value for value in quoted if value), ""))
        anchors |= {values[key] for key in ("id", "name") if values.get(key)}
        if tag == "link" and not set(values.get("rel", "").split()) & (_FETCHED | {"prev", "next"}):
            continue
        for key in ("href", "src"):
            if values.get(key):
                fetched = key == "src" or (tag == "link" and values.get("rel") in _FETCHED)
                links.append((values[key], fetched))
    for text_of_page in details:
        numbers: dict[str, dict[str, Any]] = json.loads(text_of_page)
        addresses = {
            url
            for number in numbers.values()
            for url in [*number["record_url"], *number["source_url"]]
        }
        links.extend((url, False) for url in sorted(addresses))
    return list(dict.fromkeys(links)), anchors
