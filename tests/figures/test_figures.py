"""Can every figure be read, in both languages and widths, with honest values and nasty ones?"""

import re
import xml.etree.ElementTree as ET
from functools import cache
from itertools import combinations

import pytest

from figures import (
    LANGUAGES,
    WIDTHS,
    Language,
    Width,
    figure_names,
    fonts,
    load_figure,
    texts,
    theme,
)
from tests.figures.fakes import NASTY, book
from tests.figures.pictures import view_box, words

NAMES = figure_names()
# arithmetic: no other values are possible
EXACT = ("present_token_share", "parameter_share", "tanh_slope", "modern_parts")
EVERY = pytest.mark.parametrize(
    ("name", "language", "width", "rows"),
    [
        (name, language, width, rows)
        for name in NAMES
        for language in LANGUAGES
        for width in WIDTHS
        for rows in (list(NASTY)[:1] if name in EXACT else NASTY)
        if rows == "as they are" or (language, width) in (("pt", "narrow"), ("en", "wide"))
    ],
)


@cache
def drawn(name: str, language: Language, width: Width, rows: str = "as they are") -> str:
    figure = load_figure(name)
    found = NASTY[rows](figure.data(book()))  # type: ignore[arg-type]
    chart = figure.draw(found, texts(figure, language), width, language)
    return theme.render(chart, f"fig-{name}-{language}-{width}", width, language)


def test_there_are_figures() -> None:
    assert "averages_perplexity" in NAMES
    assert not {"theme", "svg", "marks", "scales"} & set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_every_word_stands_in_both_languages(name: str) -> None:
    for key, said in load_figure(name).TEXT.items():
        assert set(said) == set(LANGUAGES), key
        assert all(said[language].strip() == said[language] != "" for language in LANGUAGES), key


@pytest.mark.parametrize("name", NAMES)
def test_rows_are_flat_and_alike(name: str) -> None:
    rows = load_figure(name).data(book())  # type: ignore[arg-type]
    assert rows
    assert {tuple(row) for row in rows} == {tuple(rows[0])}
    for value in (value for row in rows for value in row.values()):
        assert value is None or type(value) in (str, int, float, bool)


@EVERY
def test_stands_in_a_page(name: str, language: Language, width: Width, rows: str) -> None:
    svg = drawn(name, language, width, rows)
    root = ET.fromstring(svg)
    assert not {"width", "height", "role"} & set(root.attrib)
    assert view_box(svg)[2] == theme.TOTAL[width]
    assert not re.search(r"#[0-9A-Fa-f]{3,8}\b", re.sub(r"var\(--[a-z0-9-]+,#\w{6}\)", "", svg))
    assert not re.search(r"\b(href|src|class|style)=|@import|https?://(?!www\.w3\.org/)", svg)
    assert svg.count("font-family=") == 1
    identifiers = re.findall(r'\bid="([^"]+)"', svg)
    assert len(set(identifiers)) == len(identifiers)
    assert all(i.startswith(f"fig-{name}-{language}-{width}-") for i in identifiers)
    assert set(re.findall(r"url\(#([^)]+)\)", svg)) <= set(identifiers)
    assert "NaN" not in svg
    assert "Infinity" not in svg
    assert "undefined" not in svg
    assert "null" not in svg


@EVERY
def test_nothing_is_cut_off(name: str, language: Language, width: Width, rows: str) -> None:
    svg = drawn(name, language, width, rows)
    x, y, wide, tall = view_box(svg)
    for word in words(svg):
        assert word.left >= x - 1, word
        assert word.top >= y - 1, word
        assert word.right <= x + wide + 1, word
        assert word.bottom <= y + tall + 1, word


@EVERY
def test_no_text_lies_on_another(name: str, language: Language, width: Width, rows: str) -> None:
    found = words(drawn(name, language, width, rows))
    clashes = [(a, b) for a, b in combinations(found, 2) if a.overlap(b) > 4]
    assert not clashes


@EVERY
def test_speaks_its_language(name: str, language: Language, width: Width, rows: str) -> None:
    shown = [word.text for word in words(drawn(name, language, width, rows))]
    point = r"\d\.\d(?!\d\d)" if language == "pt" else r"\d,\d(?!\d\d)"
    assert not [text for text in shown if re.search(point, text)]
    assert not [text for text in shown if set(text) - fonts.characters()]
    assert not [text for text in shown if re.search(r"-\d", text)]  # a true minus, never a hyphen


@pytest.mark.parametrize("name", NAMES)
def test_widths_and_languages_differ(name: str) -> None:
    assert drawn(name, "pt", "wide") != drawn(name, "pt", "narrow")
    assert words(drawn(name, "pt", "wide")) != words(drawn(name, "en", "wide"))


@pytest.mark.parametrize("name", NAMES)
def test_drawing_twice_gives_the_same(name: str) -> None:
    assert drawn.__wrapped__(name, "pt", "narrow") == drawn(name, "pt", "narrow")


def test_decimal_mark_of_each_language() -> None:
    pt = [word.text for word in words(drawn("averaging_matrix", "pt", "wide"))]
    en = [word.text for word in words(drawn("averaging_matrix", "en", "wide"))]
    assert "0,50" in pt
    assert "0.50" in en
    assert "0,50" not in en
