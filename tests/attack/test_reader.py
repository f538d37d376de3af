"""Can every page of the book be read by whoever comes: on 320 pixels, enlarged, by keyboard alone,
on paper, without script? (tests/site/test_book.py asks the rest of every page.)"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from tests.attack.tally import Tally
from tests.site.conftest import Site, settle, watch, whole
from tests.site.test_book import addresses
from tests.site.test_reading import STICKING, serious

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("built")]

SMALL = {"narrow": (320, 640), "zoomed": (640, 450)}  # 640 is 1280 enlarged to 200 %

# Numbers, formulas, figures and tables of the text that take no room where they should: not those
# in a folded answer, nor the drawing for the other width. Panels have tests of their own.
UNSEEN = """() => [...document.querySelectorAll(
    ".md-content .num, .md-content .katex, .md-content table.t, .md-content .bk-svg svg")]
  .filter(e => !e.closest("details:not([open]), template, [hidden], noscript, .panel"))
  .filter(e => !e.closest(".bk-svg") || getComputedStyle(e.closest(".bk-svg")).display !== "none")
  .filter(e => { const r = e.getBoundingClientRect(); return r.width <= 0 || r.height <= 0; })
  .map(e => e.outerHTML.slice(0, 120))"""

FIGURES = """() => [...document.querySelectorAll(".md-content figure.fig")]
  .filter(f => f.querySelector(".bk-svg--wide"))
  .filter(f => [...f.querySelectorAll(".bk-svg")]
    .filter(s => getComputedStyle(s).display !== "none").length !== 1
    || ![...f.querySelectorAll(".bk-svg")].every(s => s.getAttribute("aria-label")?.trim()))
  .map(f => f.id)"""

# What answers to a click, and cannot be reached by Tab. A focus that is to be seen is costly on a
# long page, so that only what is the first of its kind is looked at with it, and without.
UNREACHED = """() => {
  const looks = e => [e, e.parentElement, ...e.querySelectorAll("*")].map(one => {
    const { outline, boxShadow, border, backgroundColor, color, textDecoration, stroke } =
      getComputedStyle(one);
    return [outline, boxShadow, border, backgroundColor, color, textDecoration, stroke];
  }).join();
  const wanted = [...document.querySelectorAll(
      "a[href], button, summary, input, select, textarea, [role=button], [role=slider], [onclick]")]
    .filter(e => !e.closest("template, [hidden], [aria-hidden=true]"))
    .filter(e => !e.closest("details:not([open]) > :not(summary)"))
    .filter(e => e.tabIndex !== -1 || !e.matches("[tabindex='-1'], .md-toggle, label *"))
    .filter(e => { const r = e.getBoundingClientRect(); return r.width > 0 && r.height > 0; })
    .filter(e => getComputedStyle(e).visibility === "visible" && !e.disabled);
  const bad = [], kinds = new Set();
  for (const e of wanted) {
    e.focus({ focusVisible: false, preventScroll: true });
    if (document.activeElement !== e || e.tabIndex < 0)
      bad.push("not reached: " + e.outerHTML.slice(0, 120));
    const kind = [e.tagName, e.className, e.getAttribute("role"), e.tabIndex].join(" ");
    if (kinds.has(kind)) continue;
    kinds.add(kind);
    const plain = looks(e);
    e.blur();
    e.focus({ focusVisible: true, preventScroll: true });
    if (looks(e) === plain) bad.push("shows no focus: " + e.outerHTML.slice(0, 120));
  }
  document.activeElement?.blur();
  return bad;
}"""


def page_of(browser: Browser, built: Site, complaints: list[str], **options: Any) -> Page:
    page = browser.new_context(**options).new_page()
    watch(page, built.url, complaints)
    return page


def test_every_page_on_a_small_screen_enlarged_by_keyboard_and_on_paper(
    built: Site, browser: Browser, tally: Callable[[str], Tally]
) -> None:
    complaints: list[str] = []
    small = {name: tally(f"reader.{name}") for name in SMALL}
    keys, paper, axe = (tally(f"reader.{name}") for name in ("keyboard", "paper", "axe"))
    page = page_of(browser, built, complaints)
    for address in addresses(built):
        page.emulate_media(media="screen")
        page.set_viewport_size({"width": 1280, "height": 900})
        page.goto(built.url + address)
        whole(page)
        unreached = [*page.evaluate(UNREACHED), *trapped(page)]
        keys.count(not unreached, f"{address}: {unreached[:4]}")
        for name, (width, height) in SMALL.items():
            page.set_viewport_size({"width": width, "height": height})
            settle(page)
            found = [*page.evaluate(STICKING), *page.evaluate(UNSEEN), *page.evaluate(FIGURES)]
            wide = page.evaluate("document.documentElement.scrollWidth")
            small[name].count(wide <= width and not found, f"{address}: {wide} {found[:3]}")
        found = serious(page)
        axe.count(not found, f"{address}: {found[:2]}")
        page.set_viewport_size({"width": 720, "height": 1000})
        page.emulate_media(media="print")
        settle(page)
        found = [*page.evaluate(UNSEEN), *page.evaluate(FIGURES), *page.evaluate(STICKING)]
        chrome = page.evaluate(
            """() => [...document.querySelectorAll(".md-header, .md-sidebar, .md-search")]
                 .filter(e => e.getBoundingClientRect().height > 0).map(e => e.className)"""
        )
        paper.count(not found and not chrome, f"{address}: {found[:3]} {chrome}")
    page.context.close()
    assert complaints == []


def trapped(page: Page) -> list[str]:
    """Tab goes on, from the start of the page and from its middle."""
    out: list[str] = []
    where = "() => { const e = document.activeElement; return e.outerHTML.slice(0, 200) + e.id; }"
    for start in ("document.activeElement.blur()", FOCUS_MIDDLE):
        page.evaluate(start)
        before = ""
        for _ in range(4):
            page.keyboard.press("Tab")
            now = page.evaluate(
                f"({where})() + [...document.querySelectorAll('*')].indexOf(document.activeElement)"
            )
            if now == before:
                out.append(f"Tab stays at {now[:120]}")
            before = now
    return out


FOCUS_MIDDLE = """() => {
  const all = [...document.querySelectorAll(".md-content [tabindex='0'], .md-content a[href]")]
    .filter(e => !e.closest("details:not([open])"));
  all[Math.floor(all.length / 2)]?.focus();
}"""


def test_every_page_without_script(
    built: Site, browser: Browser, tally: Callable[[str], Tally]
) -> None:
    """Numbers, tables, static figures and mathematics stand there as they do with it."""
    complaints: list[str] = []
    options: dict[str, Any] = {"viewport": {"width": 1280, "height": 900}}
    plain = page_of(browser, built, complaints, java_script_enabled=False, **options)
    without = tally("reader.without_script")
    for address in addresses(built):
        plain.goto(built.url + address)
        whole(plain)
        found = [*plain.evaluate(UNSEEN), *plain.evaluate(FIGURES)]
        empty = plain.evaluate(
            """() => [...document.querySelectorAll(".md-content .num")]
                 .filter(n => !n.textContent.trim()).length"""
        )
        said = plain.evaluate("document.querySelector('.bk-foot__meta')?.textContent ?? ''")
        named = "JavaScript" in said
        without.count(not found and not empty and named, f"{address}: {found[:3]} {empty} {named}")
    plain.context.close()
    assert complaints == []
