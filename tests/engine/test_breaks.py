"""Do names, options and addresses break where a reader would break them, and copy as they are?"""

from __future__ import annotations

import re

import pytest

from engine import breaks


def shown(html: str) -> str:
    """`|` where a line may end, `[…]` around what stays on one line."""
    html = html.replace("<wbr>", "|")
    return re.sub(r'<span class="one-line">(.*?)</span>', r"[\1]", html)


@pytest.mark.parametrize(
    ("code", "broken"),
    [
        ("--settings smoke", "[--settings] smoke"),
        ("python -m experiments", "python [-m] experiments"),
        ("n_100000", "n_100000"),
        ("averages.mean.perplexity", "averages.mean.|perplexity"),
        ("chapters/02-average/pt.md", "chapters/|[02-average/]|pt.md"),
        ("learning_rate=0.0001", "learning_|rate=|0.0001"),
        ("a-name-that-is-longer-than-a-line", "a-name-that-is-longer-than-a-line"),
    ],
)
def test_code_breaks_at_its_joints_alone(code: str, broken: str) -> None:
    page = breaks.page(f"<p>a <code>{code}</code> b</p>")
    assert shown(page) == f"<p>a <code>{broken}</code> b</p>"
    assert re.sub(r"<(wbr|/?span)[^>]*>", "", page) == f"<p>a <code>{code}</code> b</p>"


def test_a_name_with_a_number_stays_on_one_line() -> None:
    assert shown(breaks.page("<p>GPT-2’s and pre-norm</p>")) == "<p>[GPT-2]’s and pre-norm</p>"
    assert shown(breaks.page("SHA-256")) == "[SHA-256]"


@pytest.mark.parametrize("tag", ["pre", "svg", "script", "math", "template"])
def test_what_is_drawn_or_quoted_is_left_alone(tag: str) -> None:
    page = f'<{tag} title="GPT-2"><code>a_long_name.of_code</code> GPT-2</{tag}><!-- GPT-2 -->'
    assert breaks.page(page) == page


def test_an_address_breaks_where_its_parts_meet() -> None:
    broken = breaks.address("doi.org/10.1/a_b-c.html?x=1&y")
    assert shown(broken) == "doi.|org/|10.1/|a_|b-|c.|html?|x=|1|&amp;y"
