"""Does the panel of chapter 08 draw what was measured, and can everyone use it?

`site` is here a book of one chapter around the real panel, with the real records of `positions`.
"""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from engine.number import format_number
from tests.site import tree
from tests.site.conftest import Read, Site, free_port, serving
from tests.site.test_panels import live
from tests.site.test_reading import STICKING, serious
from tests.site.tree import ROOT

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("order_lengths")]

ORDER = "08-order/"
LENGTHS = (64, 128, 256)
ROWS = {"learned": (), "sinusoidal": (), "rope": (), "alibi": (), "none": ()}
RESCALED = {
    "rope_interpolated": ("rope", "rescaled", "interpolated"),
    "rope_ntk": ("rope", "rescaled", "ntk"),
}
NAMES = {
    "learned": "tabela aprendida",
    "sinusoidal": "senoides",
    "rope": "RoPE",
    "alibi": "ALiBi",
    "none": "nenhuma",
    "rope_interpolated": "RoPE interpolado",
    "rope_ntk": "RoPE com base maior",
}
WAYS = {
    "janela inteira": "validation_perplexity",
    "últimas 64 posições": "last_64_perplexity",
}


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    book, port = tree.plant(tmp_path_factory.mktemp("order"), "experiments", "model"), free_port()
    shutil.copytree(ROOT / "results" / "positions", book / "results" / "positions")
    for slug, text in (("index", "."), (ORDER.rstrip("/"), '<< widget("order-lengths") >>')):
        for language in ("pt", "en"):
            chapter = book / "chapters" / slug / f"{language}.md.j2"
            chapter.parent.mkdir(parents=True, exist_ok=True)
            chapter.write_text(f"---\ntitle: {slug}\nquestion: Q?\n---\n\n{text}\n")
    url = f"http://127.0.0.1:{port}/"
    built = tree.mkdocs(book, "build", "--strict", SITE_URL=url)
    assert built.returncode == 0, built.stdout + built.stderr
    with serving(book / "build" / "site", port):
        yield Site(book, book / "build" / "site", url)


def recorded(encoding: str, length: int, leaf: str) -> float:
    """A perplexity, the mean over the seeds that there are, straight from the files."""
    row, *inside = RESCALED.get(encoding, (encoding,))
    found: list[float] = []
    for path in sorted(Path(ROOT, "results", "positions").glob(f"{row}.s*.json")):
        values: Any = json.loads(path.read_text(encoding="utf-8"))["values"]
        for part in (*inside, f"length_{length}", leaf):
            values = values[part]
        found.append(values)
    return math.fsum(found) / len(found)


def lines(page: Page) -> dict[str, list[tuple[float, float]]]:
    """The points of every line, in pixels of the chart."""
    found = page.locator(".order [data-line]").evaluate_all(
        "all => all.map(g => [g.dataset.line, g.querySelector('path').getAttribute('d')])"
    )
    return {
        name: [(float(x), float(y)) for x, y in (p.split(" ") for p in path.lstrip("M").split("L"))]
        for name, path in found
    }


def curve(page: Page, name: str) -> Locator:
    """Of one of them: its attribute `d` holds the points."""
    return page.locator(f".order [data-line={name}] path").first


def tall(points: list[tuple[float, float]]) -> float:
    """How many pixels a line climbs or falls."""
    heights = [y for _, y in points]
    return max(heights) - min(heights)


@pytest.mark.parametrize("way", WAYS)
def test_every_number_and_line_is_the_recorded_one(read: Read, way: str) -> None:
    page, leaf = live(read(ORDER)), WAYS[way]
    page.get_by_role("button", name="Ligar tudo").click()
    expect(page.locator(".order [data-line]")).to_have_count(len(NAMES))
    page.get_by_label(way).check()
    expect(page.locator(".panel [role=status]")).to_contain_text(way)
    drawn = lines(page)
    assert set(drawn) == set(NAMES)
    heights: list[tuple[float, float]] = []
    for encoding in NAMES:
        row = page.locator(f".order [data-row={encoding}]")
        expect(row.locator("th")).to_have_text(NAMES[encoding])
        values = [recorded(encoding, length, leaf) for length in LENGTHS]
        for cell, value in zip(row.locator("td").all()[:3], values, strict=True):
            shown = cell.locator(".num").inner_text()
            assert shown.startswith(format_number(value, "pt", digits=3)) or "±" in shown
        change = float(str(row.locator("data.live").get_attribute("value")))
        assert change == pytest.approx(values[-1] / values[0], rel=1e-12)
        heights += zip(values, (y for _, y in drawn[encoding]), strict=True)
    (low, foot), (high, top) = min(heights), max(heights)
    for value, y in heights:  # equal ratios are equal distances
        share = math.log(value / low) / math.log(high / low)
        assert y == pytest.approx(foot + share * (top - foot), abs=0.01)


def test_the_axis_fits_what_is_on(read: Read) -> None:
    page = live(read("en/" + ORDER))
    drawn, measured = page.locator(".order [data-line]"), page.locator(".order [data-row] .num")
    start = lines(page)
    assert set(start) == set(ROWS)
    curves = {name: curve(page, name).get_attribute("d") for name in ROWS}
    for name in ("learned table", "sinusoids", "none", "RoPE"):
        page.get_by_label(name, exact=True).uncheck()
    expect(drawn).to_have_count(1)
    assert set(lines(page)) == {"alibi"}
    assert tall(lines(page)["alibi"]) > 5 * tall(start["alibi"])
    page.get_by_label("RoPE", exact=True).check()
    expect(page.locator(".order [data-row]")).to_have_count(2)
    page.get_by_label("128", exact=True).uncheck()
    expect(measured).to_have_count(2 * 2)
    assert all(len(points) == 2 for points in lines(page).values())
    page.get_by_label("256", exact=True).uncheck()
    expect(measured).to_have_count(2)
    assert all(len(points) == 1 for points in lines(page).values())
    expect(page.locator(".order data.live")).to_have_count(0)
    page.get_by_label("64", exact=True).uncheck()
    expect(page.locator(".order figure")).to_have_count(0)
    expect(page.locator(".order > p")).to_contain_text("Switch on at least one")
    page.get_by_role("button", name="As at the start").click()
    expect(drawn).to_have_count(len(start))
    for name, d in curves.items():
        expect(curve(page, name)).to_have_attribute("d", str(d))


def test_it_is_switched_by_keyboard_and_says_what_is_lowest(read: Read) -> None:
    page = live(read(ORDER))
    leaf = WAYS["janela inteira"]
    for encoding in ("rope_interpolated", "rope_ntk"):
        page.get_by_label(NAMES[encoding], exact=True).focus()
        page.keyboard.press("Space")
    expect(page.locator(".order [data-line]")).to_have_count(7)
    page.get_by_label("256", exact=True).focus()
    page.keyboard.press("Space")
    at = {encoding: recorded(encoding, 128, leaf) for encoding in NAMES}
    best, worst = min(at, key=lambda one: at[one]), max(at, key=lambda one: at[one])
    low, high = (format_number(at[one], "pt", digits=3) for one in (best, worst))
    expect(page.locator(".panel [role=status]")).to_have_text(
        f"Janela de 128, janela inteira: a menor perplexidade é {low}, com {NAMES[best]};"
        f" a maior é {high}, com {NAMES[worst]}.",
    )
    page.get_by_label("janela inteira").focus()
    page.keyboard.press("ArrowDown")
    expect(page.locator(".panel [role=status]")).to_contain_text("últimas 64 posições")


def test_measured_numbers_open_their_origin(read: Read) -> None:
    page = live(read(ORDER))
    page.locator(".order [data-row=rope] .num").last.click()
    expect(page.locator(".nbox")).to_contain_text("positions")


def test_without_script_and_on_paper_there_is_the_table(read: Read) -> None:
    page = read("en/" + ORDER, width=390, java_script_enabled=False)
    expect(page.locator(".panel__static")).to_be_visible()
    expect(page.locator(".panel__static td .num")).to_have_count(7 * 3 * 2)
    page = live(read(ORDER))
    expect(page.locator(".panel__static")).to_be_hidden()
    page.emulate_media(media="print")
    expect(page.locator(".panel__static")).to_be_visible()
    expect(page.locator(".panel__live")).to_be_hidden()


@pytest.mark.parametrize("address", [ORDER, "en/" + ORDER])
@pytest.mark.parametrize(("width", "scheme"), [(320, "dark"), (390, "light"), (1440, "dark")])
def test_nothing_sticks_out_and_axe_finds_nothing(
    read: Read, address: str, width: int, scheme: str
) -> None:
    page = live(read(address, width=width, color_scheme=scheme))
    page.locator(".panel__do button").first.click()
    expect(page.locator(".order [data-line]")).to_have_count(7)
    assert page.evaluate(STICKING) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert serious(page) == []
