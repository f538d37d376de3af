"""Does a number say where it comes from: to the mouse, to the keyboard, to a finger?"""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.site.conftest import Read, Site, elapse
from tests.site.test_reading import serious

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("site")]

CHAPTER = "02-average/"
TEXT_RIGHT = """() => {
  const content = document.querySelector(".md-content__inner");
  return content.getBoundingClientRect().right - parseFloat(getComputedStyle(content).paddingRight);
}"""

CLEAR = """() => {
  const number = document.querySelector(".md-content__inner > p .num").getBoundingClientRect();
  return number.bottom <= document.querySelector("#nbox").getBoundingClientRect().top;
}"""


def first(page: Page) -> Locator:
    """The first number of the text: 59,71."""
    return page.locator(".md-content__inner > p .num").first


def box(page: Page) -> Locator:
    return page.locator("#nbox")


def test_pointing_shows_everything_the_book_promises_for_a_number(read: Read) -> None:
    page = read(CHAPTER)
    first(page).hover()
    expect(box(page)).to_be_visible()
    for fact in (
        "59,71",
        "perplexidade da linha none",
        "toy.none.perplexity",
        "59,700",
        "59,720",
        "Invented 3000",
        "36 s",
        "python -m experiments run toy/none.s0 toy/none.s1 toy/none.s2",
    ):
        expect(box(page)).to_contain_text(fact)
    assert re.search(r"Digest\s*[0-9a-f]{12}", box(page).inner_text())
    expect(box(page).locator("svg circle")).to_have_count(3)
    page.mouse.move(5, 5)
    expect(box(page)).to_be_hidden()


def test_the_links_lead_to_record_and_source(read: Read) -> None:
    page = read(CHAPTER)
    first(page).click()
    record = box(page).get_by_role("link", name="s1")
    href = str(record.evaluate("a => a.href"))
    record_answer = page.request.get(href)
    assert record_answer.ok
    assert record_answer.json()["run"] == "none.s1"
    box(page).get_by_role("link", name="código").click()
    page.wait_for_url("**/source/experiments/toy/")
    expect(page.locator("#measure")).to_have_count(1)


def test_in_the_margin_it_covers_no_text_and_stands_level_with_its_line(read: Read) -> None:
    page = read(CHAPTER)
    first(page).click()
    expect(box(page)).to_be_visible()
    place, number = box(page).bounding_box(), first(page).bounding_box()
    assert place
    assert number
    assert place["x"] >= float(page.evaluate(TEXT_RIGHT))
    assert place["y"] <= number["y"] + number["height"]
    assert place["y"] + place["height"] >= number["y"]
    assert place["y"] + place["height"] <= 900


def test_a_second_click_or_a_click_elsewhere_closes(read: Read) -> None:
    page = read(CHAPTER)
    first(page).click()
    expect(first(page)).to_have_attribute("aria-expanded", "true")
    page.mouse.move(5, 300)
    elapse(page, 500)  # what is open for the mouse closes after 300
    expect(box(page)).to_be_visible()  # opened by a click, it does not mind where the mouse is
    first(page).click()
    elapse(page)  # a click that opens does so a moment later
    expect(box(page)).to_be_hidden()
    expect(first(page)).not_to_have_attribute("aria-expanded", "true")
    first(page).click()
    expect(box(page)).to_be_visible()
    page.locator("h2").first.click()
    expect(box(page)).to_be_hidden()


def test_below_the_number_where_there_is_no_margin(read: Read) -> None:
    page = read(CHAPTER, width=1000)
    first(page).click()
    expect(box(page)).to_be_visible()
    place, number = box(page).bounding_box(), first(page).bounding_box()
    assert place
    assert number
    assert place["y"] >= number["y"] + number["height"]
    assert 0 <= place["x"] <= 1000 - place["width"]


@pytest.mark.parametrize("key", ["Enter", " "])
def test_the_keyboard_opens_reads_and_comes_back(read: Read, key: str) -> None:
    page = read(CHAPTER)
    page.keyboard.press("Tab")
    first(page).focus()
    page.keyboard.press(key)
    expect(box(page)).to_be_visible()
    page.keyboard.press("Tab")
    expect(page.locator("#nbox:focus-within")).to_have_count(1)
    page.keyboard.press("Escape")
    expect(box(page)).to_be_hidden()
    expect(first(page)).to_be_focused()


def test_tab_reaches_a_number_and_shows_it(read: Read) -> None:
    page = read(CHAPTER)
    page.locator(".bk-open__facts a").focus()
    page.keyboard.press("Tab")
    expect(page.locator(":focus")).to_have_text("59,71")
    expect(box(page)).to_contain_text("perplexidade da linha none")
    page.keyboard.press("Tab")
    expect(box(page)).to_contain_text("perplexidade da linha mean")


def test_a_finger_opens_a_sheet_at_the_bottom_and_closes_it(read: Read) -> None:
    page = read(CHAPTER, width=390, height=844, has_touch=True, is_mobile=True)
    first(page).tap()
    expect(box(page)).to_be_visible()
    page.wait_for_function(CLEAR)
    place, number = box(page).bounding_box(), first(page).bounding_box()
    assert place
    assert number
    assert (place["x"], place["width"]) == (0, 390)
    assert place["y"] + place["height"] == pytest.approx(844, abs=1)
    assert number["y"] + number["height"] <= place["y"], "the sheet hides the number"
    page.touchscreen.tap(200, 100)
    expect(box(page)).to_be_hidden()


def test_a_formula_lists_its_numbers(read: Read) -> None:
    page = read(CHAPTER)
    formula = page.locator("[data-numbers]").first
    formula.focus()
    page.keyboard.press("Enter")
    others = box(page).locator(".nbox__others button")
    expect(others).to_have_text(["59,71", "156,96"])
    assert serious(page) == []
    others.nth(1).click()
    expect(box(page).locator(".nbox__v")).to_have_text(re.compile("156,96"))
    page.keyboard.press("Escape")
    expect(box(page)).to_be_hidden()
    formula.locator(".num").nth(1).click()
    expect(box(page)).to_be_visible()
    expect(box(page).locator(".nbox__v")).to_have_text(re.compile("156,96"))


def test_a_number_in_an_exercise_does_not_unfold_it(read: Read) -> None:
    page = read(CHAPTER)
    page.locator(".ex__q .num").click()
    expect(box(page)).to_be_visible()
    expect(page.locator(".ex details")).not_to_have_attribute("open", "")
    page.keyboard.press("Escape")
    page.locator(".ex__q").click(position={"x": 5, "y": 5})
    expect(page.locator(".ex details")).to_have_attribute("open", "")
    expect(page.locator(".ex details")).to_contain_text("Nada que")


def test_after_instant_navigation_numbers_formulas_and_charts_are_there(
    read: Read, site: Site
) -> None:
    page = read("05-why-divide/")
    page.evaluate("window.sameDocument = true")
    expect(first(page)).to_have_text("2,6")
    page.locator(".bk-foot__prev").click()
    page.wait_for_url(f"{site.url}{CHAPTER}")
    expect(page.locator(".bk-open__title")).to_contain_text("A média")
    assert page.evaluate("window.sameDocument") is True
    first(page).click()
    expect(box(page)).to_contain_text("perplexidade da linha none")
    expect(page.locator(".katex-display .katex-html").first).to_be_visible()
    expect(page.locator(".bk-svg--wide svg")).to_be_visible()
    page.keyboard.press("Escape")
    page.go_back()
    expect(first(page)).to_have_text("2,6")
    first(page).click()
    expect(box(page)).to_contain_text("toy.mean.perplexity")


def test_a_record_that_no_longer_fits_its_source_is_marked(read: Read) -> None:
    page = read(CHAPTER)
    key = first(page).get_attribute("data-n")
    page.evaluate(
        """key => {
          const holder = document.querySelector("template.bk-numbers");
          const all = JSON.parse(holder.content.textContent);
          all[key].stale = true;
          holder.innerHTML = JSON.stringify(all);
        }""",
        key,
    )
    first(page).click()
    expect(box(page)).to_contain_text("Desatualizado")
