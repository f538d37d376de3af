"""How do the tests read the site as a reader does: built, served, in a real browser?

`site` is the invented book of `tree.py`, built once under strict and served from a folder as any
static host would. `read` opens a page of it; whatever the page says to the console, and whatever it
asks another host for, fails the test. What comes later than an action is awaited, never guessed at:
`expect` waits for it, `whole` for a document, `settle` for a new size, `elapse` for a timer.
"""

from __future__ import annotations

import functools
import http.server
import shutil
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, expect

from tests.conftest import chromium
from tests.site import tree

expect.set_options(timeout=30_000)  # as for actions: a machine may be slow, or do other things too


@dataclass(frozen=True)
class Site:
    """A built site: where its repository and its files lie, and where it is served."""

    tree: Path
    folder: Path
    url: str


@pytest.fixture(scope="session")
def browser_type_launch_args() -> dict[str, Any]:
    return {"executable_path": chromium(), "args": ["--no-sandbox"]}


@pytest.fixture(scope="session")
def book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The invented book as a repository; nobody may change it."""
    return tree.grow(tmp_path_factory.mktemp("book"))


@pytest.fixture
def damaged(book: Path, tmp_path: Path) -> Path:
    """A copy of the invented book that a test may damage."""
    leave = shutil.ignore_patterns("site", "__pycache__")
    return Path(shutil.copytree(book, tmp_path / "book", symlinks=True, ignore=leave))


@pytest.fixture(scope="session")
def site(book: Path) -> Iterator[Site]:
    port = free_port()
    url = f"http://127.0.0.1:{port}/"
    built = tree.mkdocs(book, "build", "--strict", SITE_URL=url)
    assert built.returncode == 0, built.stdout + built.stderr
    folder = book / "build" / "site"
    with serving(folder, port):
        yield Site(book, folder, url)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Host(http.server.SimpleHTTPRequestHandler):
    """A static host: what is not there is answered by the 404 page of the site's root."""

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        page = Path(self.directory, "404.html")
        if code != 404 or not page.is_file():
            return super().send_error(code, message, explain)
        self.send_response(404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(page.read_bytes())


class serving:  # noqa: N801 - reads as a verb: with serving(folder, port)
    """A folder, served while the block runs."""

    def __init__(self, folder: Path, port: int) -> None:
        handler = functools.partial(Host, directory=str(folder))
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", port), handler)

    def __enter__(self) -> None:
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()


Read = Callable[..., Page]


@pytest.fixture
def read(browser: Browser, site: Site) -> Iterator[Read]:
    """`read("02-average/", width=390)` opens a page; the rest goes to the browser's context."""
    complaints: list[str] = []
    contexts = []

    def open_page(address: str = "", width: int = 1440, height: int = 900, **context: Any) -> Page:
        opened = browser.new_context(viewport={"width": width, "height": height}, **context)
        contexts.append(opened)
        page = opened.new_page()
        watch(page, site.url, complaints)
        page.goto(site.url + address)
        whole(page)
        return page

    yield open_page
    for opened in contexts:
        for page in opened.pages:
            whole(page)  # what it still asks for may not be cut off
        opened.close()
    assert not complaints, complaints


def whole(page: Page) -> None:
    """Wait for all of a document, and for what it asks for by itself."""
    page.wait_for_load_state()
    page.wait_for_load_state("networkidle")


def settle(page: Page) -> None:
    """Wait until all is done that a new size or medium sets off.

    Its events come with the next frame, and observers of sizes at the end of it.
    """
    page.evaluate(
        "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
    )


def elapse(page: Page, milliseconds: int = 0) -> None:
    """Wait by the page's own clock: what it put off for less has then happened, however late."""
    page.evaluate("time => new Promise(done => setTimeout(done, time))", milliseconds)


def watch(page: Page, home: str, complaints: list[str]) -> None:
    page.on("pageerror", lambda error: complaints.append(f"error: {error}"))
    page.on(
        "console",
        lambda message: (
            complaints.append(f"console: {message.text}")
            if message.type in ("error", "warning") and not is_asked_for(message)
            else None
        ),
    )
    page.on("requestfailed", lambda request: complaints.append(f"failed: {request.url}"))
    page.on(
        "request",
        lambda request: (
            None
            if request.url.startswith((home, "data:", "blob:"))
            else complaints.append(f"asks another host: {request.url}")
        ),
    )


def is_asked_for(message: ConsoleMessage) -> bool:
    """A page that is not there is what a test of the 404 page asks for."""
    return "404" in message.text and message.location["url"].endswith("/missing/")
