"""Can the site be read: in either language, by search, in the dark, on a phone, without script?"""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.site.conftest import Read, Site, whole
from tests.site.tree import ROOT

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("site")]

CHAPTER = "02-average/"
LANGUAGES = {"PT": "pt-BR", "EN": "en"}


def switch(page: Page, name: str) -> None:
    """To the other language, whose pages are documents of their own."""
    page.locator(".bk-lang a", has_text=name).click()
    expect(page.locator("html")).to_have_attribute("lang", LANGUAGES[name])
    whole(page)


# ---------------------------------------------------------------------------- two languages


def test_the_switcher_keeps_page_and_anchor(read: Read, site: Site) -> None:
    page = read(CHAPTER + "#table")
    switch(page, "EN")
    page.wait_for_url(f"{site.url}en/{CHAPTER}#table")
    switch(page, "PT")
    page.wait_for_url(f"{site.url}{CHAPTER}#table")


def test_the_switcher_survives_instant_navigation(read: Read, site: Site) -> None:
    page = read("en/05-why-divide/")
    page.evaluate("window.sameDocument = true")
    page.locator(".bk-foot__prev").click()
    page.wait_for_url(f"{site.url}en/{CHAPTER}")
    expect(page.locator(".bk-open__title")).to_contain_text("The average")  # after its address
    assert page.evaluate("window.sameDocument") is True
    page.locator(".md-nav--secondary a", has_text="2.3").click()
    page.wait_for_url(f"{site.url}en/{CHAPTER}#code")
    switch(page, "PT")
    page.wait_for_url(f"{site.url}{CHAPTER}#code")
    expect(page.locator(".bk-open__title")).to_contain_text("A média")


def test_a_page_that_is_not_there_is_said_in_the_language_asked_for(read: Read, site: Site) -> None:
    page = read("en/missing/")
    expect(page.get_by_role("heading", name="This page does not exist")).to_be_visible()
    expect(page.get_by_role("heading", name="Esta página não existe")).to_be_hidden()
    page.get_by_role("link", name="Back to the start").click()
    page.wait_for_url(f"{site.url}en/")
    expect(page.locator("html")).to_have_attribute("lang", "en")
    page = read("missing/")
    expect(page.get_by_role("heading", name="Esta página não existe")).to_be_visible()


# ---------------------------------------------------------------------------- search

FOUND = [
    ("", "atenção", "A atenção começa"),
    ("", "atencao", "A atenção começa"),
    ("", "59,71", "59,71"),
    ("", "59.71", "59,71"),
    ("", "1.115.394", "1.115.394"),
    ("en/", "average", "The average"),
    ("en/", "59.71", "59.71"),
    ("en/", "59,71", "59.71"),
    ("en/", "1,115,394", "1,115,394"),
]


READY = re.compile("^(Digite para buscar|Type to start searching)$")


def search(page: Page, words: str) -> None:
    """One query, of an empty field: what was found before, or of half a word, is not of these."""
    field = page.locator(".md-search__input")
    field.click()
    field.fill("")
    field.press("End")  # the theme reads the field when a key is let go
    expect(page.locator(".md-search-result__meta")).to_have_text(READY)
    field.fill(words)
    field.press("End")


@pytest.mark.parametrize("edition", ["", "en/"])
def test_search_finds_words_and_numbers_as_written(read: Read, site: Site, edition: str) -> None:
    page = read(edition + "notation/")
    for where, words, shown in FOUND:
        if where != edition:
            continue
        search(page, words)
        results = page.locator(".md-search-result__item")
        expect(results.first).to_contain_text(shown)
        for href in results.locator("a").evaluate_all("links => links.map(a => a.href)"):
            assert href.startswith(f"{site.url}{edition}")
            assert edition or not href.startswith(f"{site.url}en/")
        page.locator(".md-search__form [type=reset]").click()


def test_search_does_not_find_what_the_other_language_says(read: Read) -> None:
    page = read("notation/")
    search(page, "loses")
    expect(page.locator(".md-search-result__meta")).to_have_text("Nada encontrado")


# ---------------------------------------------------------------------------- light, dark, paper


LIGHT, DARK = "rgb(251, 250, 247)", "rgb(22, 25, 28)"


def test_the_theme_follows_the_system_and_can_be_chosen(read: Read) -> None:
    page = read(CHAPTER, color_scheme="dark")
    paper, bar = page.locator("body"), page.locator(".bk-svg--wide path[fill^=var]").first
    expect(paper).to_have_css("background-color", DARK)
    expect(bar).to_have_css("fill", "rgb(108, 197, 207)")
    page.locator("[data-md-component=palette] label:not([hidden])").click()
    expect(paper).to_have_css("background-color", LIGHT)
    expect(bar).to_have_css("fill", "rgb(11, 95, 107)")
    switch(page, "EN")
    forgets = "the other language forgets the theme"
    expect(paper, forgets).to_have_css("background-color", LIGHT)


def test_paper_is_light_and_whole(read: Read) -> None:
    page = read(CHAPTER, color_scheme="dark")
    page.emulate_media(media="print")
    expect(page.locator(".md-header")).to_have_css("display", "none")
    expect(page.locator(".md-typeset").first).to_have_css("color", "rgb(34, 38, 43)")
    assert page.pdf().startswith(b"%PDF")


# ---------------------------------------------------------------------------- small and large


STICKING = """async () => {
  await document.fonts.ready;
  return [...document.querySelectorAll(".md-content *")].filter(e => {
    const r = e.getBoundingClientRect();
    const scrolls = e.closest(".tw, pre, .arithmatex, .katex-mathml, svg") !== null;
    return r.width > 0 && r.right > innerWidth + 1 && !scrolls;
  }).map(e => e.outerHTML.slice(0, 80));
}"""


@pytest.mark.parametrize("width", [320, 390, 720, 1000, 1440])
def test_nothing_sticks_out_of_the_page(read: Read, width: int) -> None:
    page = read(CHAPTER, width=width)
    assert page.evaluate(STICKING) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    shown = ".bk-svg--narrow" if width <= 560 else ".bk-svg--wide"
    expect(page.locator(f"{shown} svg")).to_be_visible()


def test_the_sections_of_the_chapter_stand_in_the_list_of_chapters(read: Read) -> None:
    page = read(CHAPTER)
    expect(page.locator(".md-nav--secondary a").first).to_contain_text("2.1 O que a média promete")
    expect(page.locator(".md-nav--primary")).to_contain_text("5 Por que dividir")


def test_a_ring_is_drawn_and_never_copied(read: Read) -> None:
    page = read(CHAPTER)
    assert page.locator(".eqcode .mk").count() == 2
    assert "s = x.sum(axis=0)  # (d,)\n" in page.locator(".eqcode code").first.inner_text() + "\n"


# ---------------------------------------------------------------------------- without script


def test_without_script_the_page_is_right(read: Read) -> None:
    page = read(CHAPTER, java_script_enabled=False)
    expect(page.locator(".bk-open__title")).to_contain_text("59,710")
    expect(page.locator(".katex-display .katex-html").first).to_be_visible()
    expect(page.locator(".bk-svg--wide svg")).to_be_visible()
    expect(page.locator(".claim--fails")).to_contain_text("Não se reproduziu")
    expect(page.locator(".bk-foot__meta")).to_contain_text("Sem JavaScript")
    switch(page, "EN")


# ---------------------------------------------------------------------------- for everyone

AXE = ROOT / "web" / "node_modules" / "axe-core" / "axe.min.js"
# No colour is on its way to another. A function: the page's policy forbids to evaluate text later.
STILL = "() => document.getAnimations().every(one => !(one instanceof CSSTransition))"


def serious(page: Page) -> list[str]:
    """What axe finds serious or critical on the page, each with the first places."""
    page.evaluate(AXE.read_text(encoding="utf-8"))  # the page's own policy forbids its tag
    page.wait_for_function(STILL)
    findings: list[dict[str, Any]] = page.evaluate(
        "axe.run({resultTypes: ['violations']}).then(result => result.violations)"
    )
    return [
        f"{f['id']}: {[node['html'][:160] for node in f['nodes'][:4]]}"
        for f in findings
        if f["impact"] in ("serious", "critical")
    ]


@pytest.mark.parametrize(("width", "scheme"), [(390, "light"), (1440, "dark")])
def test_axe_finds_nothing_serious(read: Read, width: int, scheme: str) -> None:
    page = read(CHAPTER, width=width, color_scheme=scheme)
    page.locator(".md-content__inner > p .num").first.click()
    expect(page.locator("#nbox")).to_be_visible()
    assert serious(page) == []


# ---------------------------------------------------------------------------- the ledger


def test_the_ledger_can_be_filtered_also_without_accents(read: Read) -> None:
    page = read("ledger/")
    rows = page.locator("[data-ledger] tbody tr")
    everything, shown = rows.count(), rows.filter(visible=True)
    expect(shown).to_have_count(everything)
    page.locator("[data-ledger-filter]").fill("perplexidade MEAN")
    expect(shown).not_to_have_count(everything)
    texts = shown.all_inner_texts()
    assert texts
    assert all("toy.mean.perplexity" in text for text in texts)
    page.locator("[data-ledger-filter]").fill("")
    expect(shown).to_have_count(everything)
