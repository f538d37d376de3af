"""Is the book itself, as its records and chapters stand, sound on every page that a reader opens?

The figures must be drawn (`make test` sees to it) and the records must be current: this is the
strict build that `make` does.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from tests.site.conftest import Site, free_port, serving, watch, whole
from tests.site.test_reading import STICKING, serious
from tests.site.tree import ROOT

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("book")]


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder, port = tmp_path_factory.mktemp("site"), free_port()
    url = f"http://127.0.0.1:{port}/"
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1", "SITE_URL": url},
        capture_output=True,
        encoding="utf-8",
    )
    assert built.returncode == 0, built.stdout + built.stderr
    with serving(folder, port):
        yield Site(ROOT, folder, url)


def addresses(site: Site) -> list[str]:
    """Every page of both editions but the code pages, which are all of one kind."""
    found = [p.parent.relative_to(site.folder).as_posix() for p in site.folder.rglob("index.html")]
    pages = {"" if address == "." else f"{address}/" for address in found}
    return sorted(a for a in pages if not a.removeprefix("en/").startswith("source/"))


def test_every_chapter_stands_in_both_languages(real: Site) -> None:
    pages = addresses(real)
    chapters = {p.name for p in (ROOT / "chapters").iterdir() if (p / "pt.md.j2").is_file()}
    expected = {"" if name == "index" else f"{name}/" for name in chapters}
    assert {a for a in pages if not a.startswith("en/")} == expected
    assert {a.removeprefix("en/") for a in pages if a.startswith("en/")} == expected


@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (390, "dark")])
def test_no_page_complains_asks_elsewhere_sticks_out_or_shuts_out(
    real: Site, browser: Browser, width: int, scheme: str
) -> None:
    complaints: list[str] = []
    context = browser.new_context(
        viewport={"width": width, "height": 900},
        color_scheme="dark" if scheme == "dark" else "light",
    )
    page: Page = context.new_page()
    watch(page, real.url, complaints)
    for address in addresses(real):
        page.goto(real.url + address)
        whole(page)
        complaints += [f"{address} sticks out: {found}" for found in page.evaluate(STICKING)]
        complaints += [f"{address} shuts out: {found}" for found in serious(page)]
        complaints += [f"{address}: {left}" for left in unresolved(page)]
    context.close()
    assert complaints == []


def unresolved(page: Page) -> list[str]:
    """Numbers of the page that its details do not know."""
    return list(
        page.evaluate(
            """() => {
              const holder = document.querySelector("template.bk-numbers");
              const known = holder ? JSON.parse(holder.content.textContent) : {};
              return [...document.querySelectorAll(".num")]
                .filter(n => !(n.dataset.n in known)).map(n => n.outerHTML);
            }"""
        )
    )
