"""Is a formula typeset once, right without script, and is what KaTeX refuses said?"""

from __future__ import annotations

import html
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.errors import SiteError
from engine.mathematics import Typesetter, as_formulas, as_plain


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("katex")


@pytest.fixture
def typesetter(cache: Path) -> Iterator[Typesetter]:
    made = Typesetter(cache)
    yield made
    made.close()


def test_html_and_mathml_together(typesetter: Typesetter) -> None:
    page = typesetter.page(
        '<p>a <span class="arithmatex">\\(x &lt; 0{,}5\\)</span></p>'
        '<div class="arithmatex" tabindex="0">\\[\ny \\tag{2.1}\\]</div>'
    )
    assert "<mn>0,5</mn>" in page
    assert page.count('<span class="katex-html" aria-hidden="true">') == 2
    assert '<div class="arithmatex" tabindex="0"><span class="katex-display">' in page
    assert 'class="katex-tag"' in page
    assert r"\(" not in page


@pytest.mark.parametrize(
    ("before", "after", "then"),
    [
        ("(", "),", " e"),
        ("“", "”", " e"),
        ("", "-ésima", ", e"),
        ("", "’s", " row"),
        ("", "", " e"),
    ],
)
def test_a_short_formula_keeps_what_touches_it(
    typesetter: Typesetter, before: str, after: str, then: str
) -> None:
    page = typesetter.page(f'a {before}<span class="arithmatex">\\(k\\)</span>{after}{then}')
    assert page.startswith(f'a <span class="one-line">{before}<span class="arithmatex"><span')
    assert page.endswith(f"</span></span>{after}</span>{then}")


def test_a_long_formula_may_be_broken(typesetter: Typesetter) -> None:
    page = typesetter.page(f'(<span class="arithmatex">\\({"k + " * 20}k\\)</span>)')
    assert page.startswith('(<span class="arithmatex"><span')
    assert "one-line" not in page


def test_a_marked_number_is_marked_in_the_drawing_alone(typesetter: Typesetter) -> None:
    page = typesetter.formula(r"\htmlData{n=n1}{59{,}71} + \frac{\htmlData{n=n2}{\{1\}}}{2}", False)
    assert page.count('class="enclosing num" data-n="n1"') == 1
    assert page.count('data-n="n2"') == 1
    annotation = page.split("<annotation")[1].split("</annotation>")[0]
    assert "htmlData" not in annotation
    assert html.unescape(annotation).endswith(r"{59{,}71} + \frac{{\{1\}}}{2}")


@pytest.mark.parametrize("tex", [r"\nothing", r"\href{https://x.org}{x}", r"\frac{1}", "ação"])
def test_what_katex_refuses_is_said_with_the_formula(typesetter: Typesetter, tex: str) -> None:
    with pytest.raises(SiteError) as problem:
        typesetter.formula(tex, True)
    assert tex in str(problem.value)
    assert "\n" not in str(problem.value)
    assert typesetter.formula("x", False), "the process goes on"


def test_the_cache_is_asked_first(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = Typesetter(cache)
    drawn = first.formula("z^2", False)
    first.close()
    monkeypatch.setattr(Typesetter, "_ask", lambda *_: pytest.fail("Node was asked again"))
    assert Typesetter(cache).formula("z^2", False) == drawn


def test_titles(typesetter: Typesetter) -> None:
    assert as_plain("Por que $T$ e \\(d\\)") == "Por que T e d"
    assert as_formulas("a $T$") == r"a \(T\)"
    assert "katex" in typesetter.text(as_formulas("a $T$"))
