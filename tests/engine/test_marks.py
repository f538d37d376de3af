"""Does a mark become, in every place of a page, what that place admits?"""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from engine import marks


@dataclass(frozen=True)
class Value:
    key: str | None = "k1"

    def plain(self) -> str:
        return '0,5 <& "x"'

    def html(self, apart: bool) -> str:
        return "<b>apart</b>" if apart else "<i>0,5</i>"

    def tex(self) -> str:
        return "0{,}5"


M = marks.mark(marks.NUMBER, 12)
SHOWN = [Value()] * 13
PLAIN = "0,5 &lt;&amp; &quot;x&quot;"


def test_a_mark_hides_its_digits_and_gives_its_entry_back() -> None:
    assert not any(c.isdigit() or c.isalnum() for c in M)
    assert marks.found(f"a {M} b {M}") == [12, 12]


@pytest.mark.parametrize(
    ("html", "want"),
    [
        (f"<p>a {M}.</p>", "<p>a <i>0,5</i>.</p>"),
        (f'<img alt="a {M}" src=x>', f'<img alt="a {PLAIN}" src=x>'),
        (
            f"<a href='#' title='a > {M}'>{M}</a>{M}",
            f"<a href='#' title='a > {PLAIN}'>{PLAIN}</a><i>0,5</i>",
        ),
        (f"<title>{M}</title>{M}", f"<title>{PLAIN}</title><i>0,5</i>"),
        (f"<script>'{M}' < '</b>'</script>{M}", f"<script>'{PLAIN}' < '</b>'</script><i>0,5</i>"),
        (
            f"<svg><g><text x='1'>{M}</text></g></svg>{M}",
            f"<svg><g><text x='1'>{PLAIN}</text></g></svg><i>0,5</i>",
        ),
        (f"<h2 id='x'>{M}</h2>", "<h2 id='x'><i>0,5</i></h2>"),
        (f"<td>{marks.turn(M, marks.NUMBER, marks.APART)}</td>", "<td><b>apart</b></td>"),
        (f"<!-- {M} --><p>{M}</p>", f"<!-- {PLAIN} --><p><i>0,5</i></p>"),
    ],
)
def test_each_place_gets_the_form_it_admits(html: str, want: str) -> None:
    assert marks.resolve(html, SHOWN) == want


def test_a_formula_names_its_numbers_once_on_its_wrapper() -> None:
    html = rf'<p><span class="arithmatex">\(x &lt; {M} + {M}\)</span> and {M}</p>'
    assert marks.resolve(html, SHOWN) == (
        '<p><span class="arithmatex" tabindex="0" data-numbers="k1">'
        r"\(x &lt; \htmlData{n=k1}{0{,}5} + \htmlData{n=k1}{0{,}5}\)</span> and <i>0,5</i></p>"
    )


def test_a_formula_without_numbers_is_left_alone() -> None:
    html = rf'<div class="arithmatex">\[x\]</div><p>{M}</p>'
    assert marks.resolve(html, SHOWN) == r'<div class="arithmatex">\[x\]</div><p><i>0,5</i></p>'


def test_a_value_without_details_stands_bare_in_mathematics() -> None:
    html = rf'<span class="arithmatex">\({M}\)</span>'
    assert marks.resolve(html, [Value(key=None)] * 13) == (
        r'<span class="arithmatex">\(0{,}5\)</span>'
    )


def test_plain_text_is_not_escaped_twice() -> None:
    assert marks.plain(f"a {M}", SHOWN) == 'a 0,5 <& "x"'
