"""Does the explorer of attention maps show what was recorded, and can everyone use it?

`site` is here a book of one chapter around the real panel, with the real records of the first seed.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from engine.number import format_number
from tests.site import tree
from tests.site.conftest import Read, Site, free_port, serving
from tests.site.test_reading import STICKING, serious
from tests.site.tree import ROOT

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("attention_maps")]

MAPS = "11-what-a-head-does/"
BLOCKS = {
    "o do modelo de um": ("blocks_1", "block_1"),
    "o primeiro de dois": ("blocks_2", "block_1"),
    "o segundo de dois": ("blocks_2", "block_2"),
}
SENTENCES = ("tired", "wide")


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    book, port = grow(tmp_path_factory.mktemp("maps")), free_port()
    url = f"http://127.0.0.1:{port}/"
    built = tree.mkdocs(book, "build", "--strict", SITE_URL=url)
    assert built.returncode == 0, built.stdout + built.stderr
    with serving(book / "build" / "site", port):
        yield Site(book, book / "build" / "site", url)


def grow(folder: Path) -> Path:
    tree.plant(folder, "experiments", "model")
    shutil.copytree(ROOT / "results" / "winograd_roles", folder / "results" / "winograd_roles")
    for slug, text in (("index", "."), (MAPS.rstrip("/"), '<< widget("attention-maps") >>')):
        for language in ("pt", "en"):
            chapter = folder / "chapters" / slug / f"{language}.md.j2"
            chapter.parent.mkdir(parents=True, exist_ok=True)
            chapter.write_text(f"---\ntitle: {slug}\nquestion: Q?\n---\n\n{text}\n")
    return folder


def live(page: Page) -> Page:
    page.wait_for_selector(".panel[data-live]")
    return page


def recorded(row: str) -> dict[str, Any]:
    """The maps of the first seed of a row."""
    text = (ROOT / "results" / "winograd_roles" / f"{row}.s0.json").read_text(encoding="utf-8")
    maps: dict[str, Any] = json.loads(text)["values"]["maps"]
    return maps


def cells(page: Page) -> list[list[float]]:
    """The value of every cell that the mask leaves, row by row."""
    return page.locator(".maps__m tbody").evaluate(
        """body => [...body.rows].map(row =>
          [...row.querySelectorAll("data")].map(e => Number(e.value)))"""
    )


def written(value: float) -> str:
    return "" if value < 0.01 else format_number(value * 100, "pt", decimals=0)


def choose(page: Page, group: str, name: str) -> None:
    page.get_by_role("group", name=group, exact=True).get_by_label(name, exact=True).check()


@pytest.mark.parametrize("block", BLOCKS)
def test_every_map_is_the_recorded_one(read: Read, block: str) -> None:
    page = live(read(MAPS))
    row, name = BLOCKS[block]
    choose(page, "Bloco", block)
    for adjective in SENTENCES:
        choose(page, "Frase", f"com {adjective}")
        heads = recorded(row)["full"][adjective][name]
        radios = page.get_by_role("group", name="Cabeça").get_by_role("radio")
        expect(radios).to_have_count(len(heads))
        for head, weights in enumerate(heads):
            choose(page, "Cabeça", str(head + 1))
            expected = [line[: i + 1] for i, line in enumerate(weights)]
            texts = [written(value) for line in expected for value in line]
            expect(page.locator(".maps__m tbody data")).to_have_text(texts)
            assert cells(page) == expected
            assert all(abs(sum(line) - 1) < 1e-5 for line in expected)


def test_what_one_word_changes_is_compared_and_opens_its_origin(read: Read) -> None:
    page = live(read("en/" + MAPS))
    full = recorded("blocks_2")["full"]
    one, other = (full[adjective]["block_2"][0][14] for adjective in SENTENCES)
    rows = page.locator(".maps__c tbody tr")
    found = {
        int(str(row.get_attribute("data-read"))): float(
            str(row.locator("data.live").get_attribute("value"))
        )
        for row in rows.all()
    }
    assert all(found[j] == pytest.approx((other[j] - one[j]) * 100) for j in found)
    assert all(max(one[j], other[j]) < 0.01 for j in range(15) if j not in found)
    assert page.locator(".maps__c .num").count() == 2 * 3  # both nouns and the adjective
    number = page.locator(".maps__c .num").first
    assert number.inner_text() == format_number(one[1], "en", percent=1)
    number.click()
    expect(page.locator(".nbox")).to_contain_text("winograd_roles")
    expect(page.locator(".maps__c .live .num, .maps__c .num .live")).to_have_count(0)


def test_the_maps_are_walked_by_keyboard(read: Read) -> None:
    page = live(read(MAPS))
    said = page.locator(".panel [role=status]")
    page.get_by_role("radio", name="com tired").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("radio", name="com wide")).to_be_checked()
    for group, key in (("o segundo de dois", "ArrowUp"), ("1", "ArrowDown")):
        while page.evaluate("document.activeElement.parentElement.textContent") != group:
            page.keyboard.press("Tab")
        page.keyboard.press(key)
    expect(page.get_by_role("radio", name="o primeiro de dois")).to_be_checked()
    expect(page.get_by_role("group", name="Cabeça").get_by_label("2")).to_be_checked()
    page.get_by_role("radio", name="posição 15, the").focus()
    page.keyboard.press("ArrowUp")
    expect(page.get_by_role("radio", name="posição 14, so")).to_be_checked()
    expect(page.locator(".maps__m tr.followed th")).to_have_text("so")
    weights = recorded("blocks_2")["full"]["wide"]["block_1"][1][13]
    at = max(range(14), key=lambda j: weights[j])
    largest = format_number(weights[at], "pt", percent=1)
    expect(said).to_contain_text("Cabeça 2, frase com wide: a posição 14, so")
    expect(said).to_contain_text(largest)
    expect(page.locator(".maps__c .num")).to_have_count(0)  # the record's table has the last row


def test_nothing_moves(read: Read) -> None:
    page = live(read(MAPS, reduced_motion="reduce"))
    moving = page.locator(".panel__live").evaluate(
        """live => [...live.querySelectorAll("*")].filter(e => {
          const style = getComputedStyle(e);
          return style.animationName !== "none" || !/^(0s(, )?)+$/.test(style.transitionDuration);
        }).map(e => e.outerHTML.slice(0, 80))"""
    )
    assert moving == []


def test_without_script_and_on_paper_there_is_a_table(read: Read) -> None:
    page = read("en/" + MAPS, width=390, java_script_enabled=False)
    expect(page.locator(".panel__static")).to_be_visible()
    assert page.locator(".panel__static tbody tr").count() == 3 * 4 * 2
    assert page.locator(".panel__static td .num").count() == 3 * 4 * 2 * 4
    drawn = live(read(MAPS))
    drawn.emulate_media(media="print")
    expect(drawn.locator(".panel__static")).to_be_visible()
    expect(drawn.locator(".panel__live")).to_be_hidden()


@pytest.mark.parametrize("address", [MAPS, "en/" + MAPS])
@pytest.mark.parametrize(("width", "scheme"), [(320, "dark"), (390, "light"), (1440, "dark")])
def test_nothing_sticks_out_and_axe_finds_nothing(
    read: Read, address: str, width: int, scheme: str
) -> None:
    page = live(read(address, width=width, color_scheme=scheme))
    assert page.evaluate(STICKING) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert serious(page) == []
