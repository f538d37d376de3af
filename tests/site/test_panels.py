"""Do the panels compute what the book measured, and can everyone use them?

`site` is here a small book of two chapters around the real panels, with the real records. What a
page computes is held against those, at full precision, and what it prints against engine/number.py.
"""

from __future__ import annotations

import json
import math
import random
import shutil
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Locator, Page, expect

from engine.number import format_number
from model import arithmetic
from tests.site import tree
from tests.site.conftest import Read, Site, free_port, serving, settle
from tests.site.test_reading import STICKING, serious, switch
from tests.site.tree import ROOT

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("panels")]

SCALE, BLOCK = "05-why-divide/", "17-block/"
GPT2, MODERN = "10-which-half/", "20-since-2017/"
RECORDS = (
    *("block_panel", "dot_variance", "saturation", "softmax_jacobian"),
    *("gpt2_parameters", "modern_block"),
)
CHAPTERS = {
    "index": {"pt": "[linha](05-why-divide.md)", "en": "[row](05-why-divide.md)"},
    "05-why-divide": {"pt": '<< widget("scale-slider") >>', "en": '<< widget("scale-slider") >>'},
    "10-which-half": {"pt": '<< widget("gpt2-size") >>', "en": '<< widget("gpt2-size") >>'},
    "17-block": {"pt": '<< widget("block-panel") >>', "en": '<< widget("block-panel") >>'},
    "20-since-2017": {"pt": '<< widget("modern-size") >>', "en": '<< widget("modern-size") >>'},
}


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    book, port = grow(tmp_path_factory.mktemp("panels")), free_port()
    url = f"http://127.0.0.1:{port}/"
    built = tree.mkdocs(book, "build", "--strict", SITE_URL=url)
    assert built.returncode == 0, built.stdout + built.stderr
    with serving(book / "build" / "site", port):
        yield Site(book, book / "build" / "site", url)


def grow(folder: Path) -> Path:
    tree.plant(folder, "experiments", "model")
    for name in RECORDS:
        shutil.copytree(ROOT / "results" / name, folder / "results" / name)
    for slug, texts in CHAPTERS.items():
        for language, text in texts.items():
            chapter = folder / "chapters" / slug / f"{language}.md.j2"
            chapter.parent.mkdir(parents=True, exist_ok=True)
            chapter.write_text(f"---\ntitle: {slug}\nquestion: Q?\n---\n\n{text}\n")
    return folder


def live(page: Page, name: str = "") -> Page:
    """The page once its panel lives. After instant navigation the address is new before the panel
    is: there the panel has to be named, or it may be the old page's."""
    page.wait_for_selector(f"#panel-{name}[data-live]" if name else ".panel[data-live]")
    return page


def published(site: Site, name: str) -> dict[str, Any]:
    """The values of a record as the site itself publishes it."""
    text = (site.folder / "records" / f"{name}.json").read_text(encoding="utf-8")
    values: dict[str, Any] = json.loads(text)["values"]
    return values


# ---------------------------------------------------------------------------- numbers

FORMATS: list[dict[str, Any]] = [
    *({"decimals": n} for n in range(6)),
    *({"digits": n} for n in range(1, 6)),
    *({"percent": n} for n in range(3)),
    *({"scientific": n} for n in range(1, 4)),
    {"integer": True},
    {"integer": True, "grouped": False},
    {"decimals": 2, "signed": True},
    {"decimals": 3, "noise": 1e-9},
]
HALVES = (0.5, 1.5, 2.5, 0.25, 0.125, 2.675, 1.005, 0.0005, 0.00049999, 9.9995, 99.95, 0.999)
EDGES = (0.0, -0.0, 1.0, 1e-4, 99999.5, 1e14, 1e15, 1e16, 1e21, 1.5e22, 1e-7, 5e-324, 1.7e308)


def values() -> list[float]:
    draw = random.Random(0)
    bits = (struct.unpack("<d", draw.randbytes(8))[0] for _ in range(120))
    drawn = [draw.gauss(0, 10.0**tens) for tens in range(-6, 9) for _ in range(8)]
    typed = [round(draw.uniform(-20, 20), places) for places in range(6) for _ in range(10)]
    all_of_them = [*HALVES, *EDGES, *drawn, *typed, *(b for b in bits if math.isfinite(b))]
    return [*all_of_them, *(-value for value in all_of_them)]


def test_numbers_are_written_as_the_book_writes_them(read: Read, site: Site) -> None:
    languages: tuple[Literal["pt", "en"], ...] = ("pt", "en")
    cases = [
        [value, language, shape, format_number(value, language, below=True, **shape)]
        for value in values()
        for shape in FORMATS
        for language in languages
    ]
    assert len(cases) > 15_000
    wrong = read(SCALE).evaluate(
        """async ([panels, cases]) => {
          const { formatNumber } = await import(panels);
          return cases
            .map(([v, l, f, expected]) => [v, l, f, expected, formatNumber(v, l, f)])
            .filter(([, , , expected, got]) => got !== expected);
        }""",
        [f"{site.url}assets/panels.js", cases],
    )
    assert wrong == []


READ = {
    **{text: 0.5 for text in ("0,5", "0.5", ".5", ",5", "+0,5", " 0,5 ", "00,50")},
    **{text: -2.0 for text in ("-2", "\u22122", "-2,", "-2.0", "\u2212 2")},
    **{text: None for text in ("", "-", ",", "1,2,3", "1.234,5", "1e5", "--1", "um", "NaN", "0x1")},
}


def test_a_reader_may_type_a_comma_or_a_point(read: Read, site: Site) -> None:
    page, panels = read(SCALE), f"{site.url}assets/panels.js"
    script = "async ([panels, texts]) => texts.map((await import(panels)).parseNumber)"
    assert dict(zip(READ, page.evaluate(script, [panels, list(READ)]), strict=True)) == READ
    back = """async ([panels, values]) => {
      const { parseNumber, writeExactly } = await import(panels);
      return values.flatMap(v => ["pt", "en"].filter(l => parseNumber(writeExactly(v, l)) !== v));
    }"""
    assert page.evaluate(back, [panels, values()]) == []


# ---------------------------------------------------------------------------- the block

STAGES = ("x", "u", "q", "k", "v", "scores", "weights", "a", "h", "u2", "expanded", "m", "y")
CASES = ("row_times_ten", "last_changed", "attention_removed")
CLOSE = 1e-6


def open_all(page: Page) -> None:
    page.locator(".block__bar button").last.click()
    expect(page.locator(".block__body:not([hidden])")).to_have_count(len(STAGES))


def shown(page: Page, stage: str) -> list[list[float]]:
    """The matrix of a line at full precision, without what the mask hides."""
    return page.evaluate(
        """stage => {
          const rows = document.querySelector(`[data-stage=${stage}] .block__m`).tBodies[0].rows;
          return [...rows].map(row =>
            [...row.querySelectorAll("data, input")].map(e => Number(e.dataset.v ?? e.value)));
        }""",
        stage,
    )


def visible(stage: str, matrix: list[list[float]]) -> list[list[float]]:
    masked = stage in ("scores", "weights")
    return [row[: i + 1] if masked else row for i, row in enumerate(matrix)]


def far(one: list[list[float]], other: list[list[float]]) -> float:
    return max(
        abs(a - b)
        for row, same in zip(one, other, strict=True)
        for a, b in zip(row, same, strict=True)
    )


@pytest.mark.parametrize("state", ["default", *CASES])
def test_every_line_of_the_block_is_pytorchs(read: Read, site: Site, state: str) -> None:
    page = live(read(BLOCK))
    if state != "default":
        page.locator(".block__case").nth(CASES.index(state)).click()
        page.locator(".block__ask button").click()
    open_all(page)
    recorded = published(site, "block_panel/all")[state]
    for stage in STAGES:
        assert far(shown(page, stage), visible(stage, recorded[stage])) < CLOSE, stage
    expect(page.locator(".block__recorded .num")).to_have_count(12)


def test_two_hundred_random_inputs_give_pytorchs_output(read: Read, site: Site) -> None:
    page = live(read(BLOCK))
    recorded = published(site, "block_panel/all")["random"]
    assert len(recorded["x"]) == 200
    # An address that changes is read like a link; once, the theme also draws the page anew for it.
    outputs = page.evaluate(
        """async inputs => {
          const rows = () => [...document.querySelectorAll("[data-stage=y] .block__m tbody tr")];
          const there = hash =>
            document.querySelector(".panel__do a")?.getAttribute("href") === hash;
          const found = [];
          for (const x of inputs) {
            const parts = x.flatMap((row, i) => row.map((v, j) => `x.${i + 1}.${j + 1}=${v}`));
            const hash = location.hash = `#panel-block-panel&${parts.join("&")}`;
            while (!there(hash) || !rows().length) {
              const closed = "[data-stage=y] .block__head[aria-expanded=false]";
              document.querySelector(closed)?.click();
              await new Promise(requestAnimationFrame);
            }
            found.push(rows().map(row =>
              [...row.querySelectorAll("data")].map(e => Number(e.value))));
          }
          return found;
        }""",
        recorded["x"],
    )
    worst = max(far(got, y) for got, y in zip(outputs, recorded["y"], strict=True))
    assert worst < CLOSE
    assert len({str(got) for got in outputs}) == 200


def test_the_last_token_does_not_move_the_earlier_ones_at_all(read: Read) -> None:
    page = live(read(BLOCK))
    page.locator(".block__case").nth(1).click()
    expect(page.locator(".block__ask")).to_contain_text("Quais linhas de")
    expect(page.locator(".block__ask")).not_to_contain_text("O que aconteceu")
    expect(page.locator(".block__case").nth(1)).to_have_attribute("aria-pressed", "true")
    page.locator(".block__ask button").click()
    expect(page.locator(".block__ask")).to_contain_text("O que aconteceu")
    expect(page.locator(".block__ask:focus-within")).to_have_count(1)
    moved = page.locator("[data-stage=y] .block__moved")
    expect(moved.nth(0)).to_have_text("0")
    expect(moved.nth(1)).to_have_text("0")
    assert float(moved.nth(2).inner_text().replace(",", ".")) > 0.1
    expect(page.locator(".panel [role=status]")).to_contain_text(
        "Mudou em relação aos valores iniciais: ␣sub."
    )
    expect(page.locator(".panel [role=status]")).to_contain_text("Igual: O, ␣gato.")


def test_numbers_can_be_typed_in_both_ways_and_taken_back(read: Read) -> None:
    page = live(read(BLOCK))
    output = page.locator("[data-stage=y] .block__row")
    before = output.inner_text()
    field = page.get_by_label("␣sub, componente 1")
    expect(field).to_have_value("\u22120,5")
    for typed in ("-1.25", "-1,25"):
        field.fill(typed)
        expect(page.locator("[data-stage=x] .block__row")).to_contain_text("[\u22121,250;")
    field.blur()
    expect(field).to_have_value("\u22121,25")
    expect(output).not_to_have_text(before)
    field.fill("1,2,3")
    field.blur()
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_role("alert").first).to_contain_text("“1,2,3” não é um número")
    expect(output).not_to_have_text(before)
    page.get_by_role("button", name="Valores iniciais").click()
    expect(field).to_have_value("\u22120,5")
    expect(field).to_have_attribute("aria-invalid", "false")
    expect(page.get_by_role("alert").first).to_be_empty()
    expect(output).to_have_text(before)
    page.locator("[data-stage=k] button").first.click()
    page.get_by_label("W_K, linha 2, coluna 3").fill("4")
    expect(output).not_to_have_text(before)


def test_a_link_restores_the_state_in_either_language(read: Read, site: Site) -> None:
    page = live(read(BLOCK, permissions=["clipboard-read", "clipboard-write"]))
    page.get_by_label("O, componente 2", exact=True).fill("0,125")
    page.locator("[data-stage=m] button").first.click()
    page.get_by_label("W_2, linha 8, coluna 4").fill("-3")
    page.get_by_label("com atenção").uncheck()
    page.get_by_label("␣gato", exact=True).check()
    link = page.get_by_role("link", name="Link para este estado")
    href = "#panel-block-panel&x.1.2=0.125&w_2.8.4=-3&attention=0&token=2"
    expect(link).to_have_attribute("href", href)
    output = page.locator("[data-stage=y] .block__row")
    expected = output.inner_text()
    link.click()
    expect(page.locator(".panel [role=status]")).to_contain_text("Link copiado.")
    expect(page).to_have_url(site.url + BLOCK + href)
    assert page.evaluate("navigator.clipboard.readText()") == site.url + BLOCK + href
    expect(page.locator("[data-stage=m] .block__head")).to_have_attribute("aria-expanded", "true")
    again = live(read(BLOCK + href))
    expect(again.locator("[data-stage=y] .block__row")).to_have_text(expected)
    expect(again.get_by_label("com atenção")).not_to_be_checked()
    switch(again, "EN")
    again.wait_for_url(f"{site.url}en/{BLOCK}{href}")
    english = live(again)
    expect(english.get_by_label("O, component 2", exact=True)).to_have_value("0.125")
    there = expected.replace(",", ".").replace(";", ",")
    expect(english.locator("[data-stage=y] .block__row")).to_have_text(there)
    english.evaluate("location.hash = '#panel-block-panel&x.9.9=1&x.1.1=&w_q.1.1=1e9&token=7'")
    expect(english.get_by_label("O, component 2", exact=True)).to_have_value("0")
    expect(english.locator(".panel [role=status]")).to_contain_text("Initial values.")


def test_the_block_is_stepped_through_by_keyboard(read: Read) -> None:
    page = live(read(BLOCK))
    page.get_by_label("␣sub, componente 4").focus()
    for stage in STAGES[1:]:
        while page.evaluate("document.activeElement.textContent") != "Próxima linha":
            page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        expect(page.locator(f"[data-stage='{stage}']:focus-within")).to_have_count(1)
        expect(page.locator(".block__head[aria-expanded=true]")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(page.locator(".block__head[aria-expanded=true]")).to_have_count(0)


# ---------------------------------------------------------------------------- the width

WIDTHS, MEASURED = [4 * 2**n for n in range(9)], (4, 16, 64, 256, 1024)
HUNDREDS = 4
FROM = {
    "effective_tokens": ("saturation", 1000),
    "max_weight": ("saturation", 1000),
    "trace": ("softmax_jacobian", 2000),
}


def over_seeds(site: Site, fact: str, width: int, way: str) -> tuple[float, float]:
    """Mean and standard deviation of what the book measured."""
    folder = site.folder / "records" / FROM[fact][0]
    found = [json.loads(p.read_text(encoding="utf-8"))["values"] for p in folder.glob("*.json")]
    numbers = [values[f"d_{width}"][way][fact] for values in found]
    mean = sum(numbers) / len(numbers)
    return mean, math.sqrt(sum((n - mean) ** 2 for n in numbers) / (len(numbers) - 1))


def test_many_rows_of_the_page_agree_with_the_records(read: Read, site: Site) -> None:
    page = live(read(SCALE))
    more = page.get_by_role("button", name="Sortear mais 100")
    for _ in range(HUNDREDS):
        more.click()
        expect(more).to_be_enabled(timeout=60_000)
    rows = 1 + 100 * HUNDREDS
    expect(page.locator(".compared")).to_contain_text(f"média de {rows} linhas")
    slider, off = page.get_by_role("slider"), []
    for width in MEASURED:
        slider.fill(str(WIDTHS.index(width)))
        for way in ("undivided", "divided"):
            for fact in ("variance", "effective_tokens", "trace"):
                cell = page.locator(f'[data-row="{width}.{way}.{fact}"] data').last
                mean = float(str(cell.get_attribute("value")))
                if fact == "variance":
                    expected = width if way == "undivided" else 1.0
                    sd = expected * math.sqrt((2 / width + (1 + 2 / width) * 2 / 63) / rows)
                else:
                    expected, sd = over_seeds(site, fact, width, way)
                    sd *= math.sqrt(FROM[fact][1] / rows)
                if abs(mean - expected) > 4 * sd:
                    off.append((width, way, fact, mean, expected, sd))
    assert off == []


def test_the_slider_redraws_by_keyboard_and_says_where_it_stops(read: Read) -> None:
    page = live(read(SCALE))
    slider = page.get_by_role("slider")
    expect(slider).to_have_attribute("aria-valuetext", "largura 64")
    drawn = page.locator(".scale rect").evaluate_all(
        "all => all.map(r => r.getAttribute('height'))"
    )
    assert len(drawn) == 128
    slider.press("ArrowRight")
    expect(slider).to_have_attribute("aria-valuetext", "largura 128")
    expect(page.locator(".ruler output")).to_have_text("128")
    expect(page.locator(".panel .num")).to_have_count(page.locator(".panel__static .num").count())
    slider.press("End")
    expect(page.locator(".ruler output")).to_have_text("1024")
    expect(page.locator(".panel [role=status]")).to_contain_text("Largura 1024: tokens efetivos")
    again = page.locator(".scale rect").evaluate_all(
        "all => all.map(r => r.getAttribute('height'))"
    )
    assert again != drawn
    heights = [float(height) for height in again[:64]]
    assert max(heights) > 0.9 * sum(heights)


def test_everyone_sees_the_same_first_row_and_another_on_demand(read: Read) -> None:
    first, second = live(read(SCALE)), live(read("en/" + SCALE))
    facts = "all => all.map(e => e.value)"
    one = first.locator(".compared data").evaluate_all(facts)
    assert one == second.locator(".compared data").evaluate_all(facts)
    first.get_by_role("button", name="Sortear outra linha").click()
    expect(first.locator(".compared")).to_contain_text("média de 2 linhas")
    assert first.locator(".compared data").evaluate_all(facts) != one


def test_measured_numbers_stand_beside_and_open_their_origin(read: Read) -> None:
    page = live(read(SCALE))
    number = page.locator(".compared .num").last
    assert number.inner_text() in page.locator(".panel__static").evaluate("e => e.textContent")
    number.click()
    expect(page.locator(".nbox")).to_contain_text("softmax_jacobian")
    expect(page.locator(".compared .live .num, .compared .num .live")).to_have_count(0)


# ---------------------------------------------------------------------------- the sizes

PRESETS = {
    GPT2: {"small": "gpt2_parameters/all", "xl": "gpt2_parameters/all"},
    MODERN: {"8B": "modern_block/all", "405B": "modern_block/all"},
}
NAMED = {"small": "GPT-2 small", "xl": "GPT-2 XL", "8B": "Llama 3 8B", "405B": "Llama 3 405B"}


def lines(page: Page) -> dict[str, int]:
    """What the calculator shows, line by line, at full precision."""
    found = page.locator("[data-line]").evaluate_all(
        "all => all.map(row => [row.dataset.line, row.querySelector('data').value])"
    )
    return {name: int(value) for name, value in found}


def line(page: Page, name: str) -> Locator:
    """One of them; its full precision is the attribute `value`."""
    return page.locator(f"[data-line={name}] data").first


def shapes(kind: str) -> list[dict[str, int]]:
    draw = random.Random(kind)
    found: list[dict[str, int]] = []
    for _ in range(200):
        heads = draw.choice([1, 2, 3, 8, 12, 32, 128])
        shape = {
            "width": heads * draw.randint(1, 300),
            "blocks": draw.randint(1, 1000),
            "vocabulary": draw.randint(1, 10_000_000),
        }
        if kind == GPT2:
            found.append({**shape, "context": draw.randint(1, 10_000_000)})
        else:
            shared = draw.choice([n for n in range(1, heads + 1) if heads % n == 0])
            more = {"heads": heads, "kv_heads": shared, "hidden": draw.randint(1, 1_000_000)}
            found.append({**shape, **more})
    return found


def expected_sizes(kind: str, shape: dict[str, int]) -> dict[str, int]:
    """The same from model/arithmetic.py."""
    d = shape["width"]
    if kind == GPT2:
        return {"block": arithmetic.gpt2_block(d)} | arithmetic.gpt2_parts(
            arithmetic.Gpt2Shape(**shape)
        )
    heads, shared = shape["heads"], shape["kv_heads"]
    return {
        **arithmetic.modern_block_parts(d, heads, shared, shape["hidden"]),
        **arithmetic.modern_model_parts(arithmetic.ModernShape(**shape)),
        "cache_bytes": arithmetic.cache_bytes(shape["blocks"], shared, d // heads, 2),
    }


@pytest.mark.parametrize(("kind", "function"), [(GPT2, "gpt2Sizes"), (MODERN, "modernSizes")])
def test_sizes_are_those_of_the_books_arithmetic(
    read: Read, site: Site, kind: str, function: str
) -> None:
    asked = shapes(kind)
    got = read(kind).evaluate(
        """async ([panels, name, shapes]) => {
          const count = (await import(panels))[name];
          return shapes.map(count);
        }""",
        [f"{site.url}assets/panels.js", function, asked],
    )
    for shape, sizes in zip(asked, got, strict=True):
        expected = expected_sizes(kind, shape)
        assert {name: sizes[name] for name in expected} == expected, shape


@pytest.mark.parametrize(("kind", "name"), [(k, n) for k, names in PRESETS.items() for n in names])
def test_published_sizes_are_the_records(read: Read, site: Site, kind: str, name: str) -> None:
    page = live(read(kind))
    button = page.get_by_role("button", name=NAMED[name], exact=True)
    button.click()
    expect(button).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".size__presets [aria-pressed=true]")).to_have_count(1)
    values = published(site, PRESETS[kind][name])
    recorded = values[name] if kind == GPT2 else values[f"llama3_{name}"]
    shown = lines(page)
    assert shown["total"] == recorded["total"] == recorded["counted"]
    common = [line for line in shown if line in recorded]
    assert len(common) >= 6
    for line in common:
        assert shown[line] == recorded[line], line
        row = page.locator(f"[data-line={line}]")
        number = format_number(recorded[line], "pt", integer=True)
        assert row.locator("data").first.inner_text() == number
        assert row.locator(".num").inner_text() == number
    expect(page.locator(".panel [role=status]")).to_contain_text(NAMED[name])


@pytest.mark.parametrize("kind", [GPT2, MODERN])
def test_a_filled_in_formula_gives_the_number_beside_it(read: Read, kind: str) -> None:
    page = live(read("en/" + kind))
    for shape in shapes(kind)[:5]:
        for field, value in shape.items():
            page.locator(f".size__fields [name={field}]").fill(str(value))
        total = expected_sizes(kind, shape)["total"]
        expect(line(page, "total")).to_have_attribute("value", str(total))
        expect(page.locator(".size__wrong")).to_have_text("")
        off = page.evaluate(
            """() => [...document.querySelectorAll("[data-line]")].filter(row => {
              const text = row.nextElementSibling.querySelector(".live").innerHTML;
              const sum = text.replace(/^= /, "").replaceAll(",", "").replaceAll("×", "*")
                .replaceAll("<sup>2</sup>", "**2");
              if (!/^[\\d\\s+*()]+$/.test(sum)) return true;
              return eval(sum) !== Number(row.querySelector("data").value);
            }).map(row => row.dataset.line)"""
        )
        assert off == []


def test_thousands_may_stand_apart_and_what_is_no_count_is_said(read: Read, site: Site) -> None:
    page = live(read(GPT2))
    field = page.get_by_label("vocabulário")
    before, total = lines(page)["total"], line(page, "total")
    recorded = published(site, "gpt2_parameters/first_vocabulary")["small"]["total"]
    assert recorded != before
    for typed in ("40.478", "40,478", "40 478", "40478"):
        field.fill(typed)
        expect(total).to_have_attribute("value", str(recorded))
    expect(page.locator(".size__presets [aria-pressed=true]")).to_have_count(0)
    expect(page.locator(".size .num")).to_have_count(0)
    for typed in ("", "4,5", "-3", "0", "1e3", "99999999999"):
        field.fill("40478")
        expect(field).to_have_attribute("aria-invalid", "false")
        field.fill(typed)
        expect(field).to_have_attribute("aria-invalid", "true")
        expect(page.locator(".size__wrong")).to_contain_text("de 1 a 10.000.000")
        expect(total).to_have_attribute("value", str(recorded))
    expect(page.locator(".panel [role=status]")).to_contain_text("Até lá")
    field.fill("50257")
    expect(field).to_have_attribute("aria-invalid", "false")
    expect(total).to_have_attribute("value", str(before))


def test_heads_that_do_not_divide_are_refused(read: Read) -> None:
    page = live(read("en/" + MODERN))
    before = lines(page)
    keys = page.get_by_label("key and value heads")
    keys.fill("5")
    expect(page.locator(".size__wrong")).to_contain_text("groups would not be equal")
    assert lines(page) == before
    keys.fill("32")
    expect(page.locator(".size__wrong")).to_have_text("")
    after = lines(page)
    assert after["cache_bytes"] == 4 * before["cache_bytes"]
    assert after["mlp"] == before["mlp"]
    page.get_by_label("query heads").fill("33")
    expect(page.locator(".size__wrong")).to_contain_text("does not split evenly into 33 heads")
    assert lines(page) == after


def test_a_size_is_chosen_and_changed_by_keyboard(read: Read) -> None:
    page = live(read(GPT2))
    page.get_by_role("button", name="GPT-2 small").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="GPT-2 medium")).to_have_attribute(
        "aria-pressed", "true"
    )
    for _ in range(3):
        page.keyboard.press("Tab")
    expect(page.locator(":focus")).to_have_attribute("name", "width")
    page.keyboard.press("Control+a")
    page.keyboard.type("512")
    expect(line(page, "final_norm")).to_have_attribute("value", "1024")


# ---------------------------------------------------------------------------- for everyone


@pytest.mark.parametrize("address", [SCALE, "en/" + BLOCK, GPT2, "en/" + MODERN])
def test_without_script_there_is_a_table(read: Read, address: str) -> None:
    page = read(address, width=390, java_script_enabled=False)
    expect(page.locator(".panel__static")).to_be_visible()
    expect(page.locator(".panel__book")).to_be_visible()
    expect(page.locator(".panel__here")).to_be_hidden()
    assert page.locator(".panel__static td .num").count() >= 40
    if address.endswith(BLOCK):
        expect(page.locator(".block__cases dd")).to_have_count(6)


def test_on_paper_there_is_the_table(read: Read) -> None:
    page = live(read(BLOCK, color_scheme="dark"))
    expect(page.locator(".panel__static")).to_be_hidden()
    page.emulate_media(media="print")
    expect(page.locator(".panel__static")).to_be_visible()
    expect(page.locator(".panel__live")).to_be_hidden()
    expect(page.locator(".panel__here")).to_be_hidden()


@pytest.mark.parametrize(
    "address", [SCALE, BLOCK, "en/" + SCALE, "en/" + BLOCK, GPT2, "en/" + MODERN]
)
@pytest.mark.parametrize(("width", "scheme"), [(320, "dark"), (390, "light"), (1440, "dark")])
def test_nothing_sticks_out_and_axe_finds_nothing(
    read: Read, address: str, width: int, scheme: str
) -> None:
    page = live(read(address, width=width, color_scheme=scheme))
    if address.endswith(BLOCK):
        page.locator(".block__case").first.click()
        page.locator(".block__ask button").click()
        open_all(page)
        settle(page)  # a line that has just been opened still forgets what was wrong in it
        page.locator("[data-stage=x] input").first.fill("x")
        page.locator("[data-stage=x] input").nth(1).focus()
        expect(page.locator("[data-stage=x] .block__wrong p")).to_have_count(1)
    if page.locator(".size").count():
        page.locator(".size__preset").last.click()
        expect(page.locator(".size__preset").last).to_have_attribute("aria-pressed", "true")
        if scheme == "dark":
            page.locator(".size__fields input").first.fill("x")
            expect(page.locator(".size__wrong")).not_to_have_text("")
    assert page.evaluate(STICKING) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert serious(page) == []


def test_panels_live_through_instant_navigation(read: Read, site: Site) -> None:
    page = read("")
    page.evaluate("window.sameDocument = true")
    page.locator(".md-content a", has_text="linha").first.click()
    page.wait_for_url(site.url + SCALE)
    expect(live(page, "scale-slider").get_by_role("slider")).to_be_visible()
    page.locator(".bk-foot__next").click()
    page.wait_for_url(site.url + GPT2)
    expect(live(page, "gpt2-size").get_by_label("largura")).to_have_value("768")
    page.locator(".bk-foot__next").click()
    page.wait_for_url(site.url + BLOCK)
    output = live(page, "block-panel").get_by_label("O, componente 1", exact=True)
    expect(output).to_have_value("2")
    page.go_back()
    page.wait_for_url(site.url + GPT2)
    live(page, "gpt2-size")
    page.go_back()
    page.wait_for_url(site.url + SCALE)
    live(page, "scale-slider").get_by_role("slider").press("ArrowLeft")
    expect(page.locator(".ruler output")).to_have_text("32")
    assert page.evaluate("window.sameDocument") is True


def test_a_page_without_a_panel_asks_for_no_script_of_panels(read: Read) -> None:
    page = read("")
    names = page.evaluate("performance.getEntriesByType('resource').map(e => e.name)")
    assert any(name.endswith("book.js") for name in names)
    assert not any(name.endswith("panels.js") for name in names)
