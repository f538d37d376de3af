"""Are listings, charts and the notes of tables what their sources say?"""

from __future__ import annotations

from pathlib import Path

import pytest

from engine import blocks, paths
from engine.errors import RenderError

SOURCE = '''\
"""A module."""

class Head:
    # listing: head
    def forward(self, x):  # (B, T, d)

        # listing: inner
        q = self.query(x)  # (B, T, d_head)
        # end: inner
        return q < 1
    # end: head
'''


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(paths, "ROOT", tmp_path)
    monkeypatch.setattr(paths, "DRAWN", tmp_path / "drawn")
    (tmp_path / "m.py").write_text(SOURCE, encoding="utf-8")
    return tmp_path


def test_a_section_is_quoted_dedented_without_markers() -> None:
    quoted = blocks.quote("m.py", "head")
    assert quoted.lines == (
        "def forward(self, x):  # (B, T, d)",
        "",
        "    q = self.query(x)  # (B, T, d_head)",
        "    return q < 1",
    )
    assert quoted.first_line == 5
    assert blocks.quote("m.py", "inner").lines == ("q = self.query(x)  # (B, T, d_head)",)
    assert blocks.quote("m.py", "inner").first_line == 8


@pytest.mark.parametrize(
    ("text", "section", "says"),
    [
        (SOURCE, "nothing", r"'# listing: nothing' is missing \(sections there: head, inner\)"),
        ("# listing: a\nx = 1\n", "a", "'# end: a' is missing"),
        ("# listing: a\n# listing: a\nx\n# end: a\n", "a", "stands 2 times"),
        ("# end: a\nx = 1\n# listing: a\n", "a", "stands before its beginning"),
        ("# listing: a\n\n# end: a\n", "a", "is empty"),
        ("# listing: a\nx = 1\n" + "y" * 65 + "\n# end: a\n", "a", r"m\.py:3: 65 columns"),
    ],
)
def test_a_bad_section_is_one_clear_line(root: Path, text: str, section: str, says: str) -> None:
    (root / "m.py").write_text(text, encoding="utf-8")
    with pytest.raises(RenderError, match=says):
        blocks.quote("m.py", section)


def test_nothing_outside_the_repository_is_quoted(root: Path) -> None:
    with pytest.raises(RenderError, match="outside the repository"):
        blocks.quote("../m.py", "head")
    with pytest.raises(RenderError, match=r"none\.py: cannot be read"):
        blocks.quote("none.py", "head")


def test_rings_are_drawn_and_never_copied() -> None:
    import markdown

    fence = blocks.quote("m.py", "head").fence({"self.query": [1, 2], "return": 3})
    html = markdown.markdown(fence, extensions=["pymdownx.superfences", "pymdownx.highlight"])
    html = blocks.finish_code(html)
    assert "\ue000" not in html
    ring = '<span class="mk" data-s="{}"></span>'
    assert ring.format(1) + ring.format(2) in html
    assert html.count('class="mk"') == 3
    assert '<span class="c1 sh"># (B, T, d)</span>' in html
    assert 'class="err"' not in html


def test_a_ring_needs_exactly_one_line() -> None:
    quoted = blocks.quote("m.py", "head")
    with pytest.raises(RenderError, match="exactly one line with it, found 0"):
        quoted.fence({"no such": 1})
    with pytest.raises(RenderError, match="found 2"):
        quoted.fence({"self": 1})


def test_ids_of_charts_do_not_meet(root: Path) -> None:
    (root / "drawn").mkdir()
    inside = '<clipPath id="c"/><g clip-path="url(#c)"><use href="#c"/></g>'
    chart = f'<?xml version="1.0"?><svg>{inside}</svg>'
    (root / "drawn" / "bars.pt.wide.svg").write_text(chart, encoding="utf-8")
    text = blocks.drawn("bars", "pt", "wide")
    assert text.startswith("<svg aria-hidden")
    assert 'id="bars-wide-c"' in text
    assert "url(#bars-wide-c)" in text
    assert 'href="#bars-wide-c"' in text


def test_a_chart_that_is_not_drawn_names_its_command() -> None:
    with pytest.raises(RenderError, match="python -m figures draw bars"):
        blocks.drawn("bars", "pt", "narrow")


def test_shares_that_miss_100_are_found() -> None:
    third = (1 / 3, 33.0)
    assert blocks.shares_off([[third, third, third]])
    assert not blocks.shares_off([[(0.25, 25.0), (0.75, 75.0)]])
    assert not blocks.shares_off([[third, third]])  # no whole
    assert blocks.shares_off([[third, third, third, (1.0, 100.0)]])  # the last is the total
    assert not blocks.shares_off([[]])


def test_a_ruler_keeps_its_ends() -> None:
    assert blocks.on_ruler(0, 0, 2, 120, 3) == "3.0"
    assert blocks.on_ruler(1, 0, 2, 120, 3) == "60.0"
    assert blocks.on_ruler(9, 0, 2, 120, 3) == "117.0"


def test_names_say_once_what_they_have_in_common() -> None:
    names = ["perplexity on held-out text, row mean", "perplexity on held-out text, row none"]
    assert blocks.told_apart(names) == ("perplexity on held-out text, row ", ["mean", "none"], "")
    paths_of = ["saturation.d_4.undivided.tokens", "saturation.d_64.undivided.tokens"]
    assert blocks.told_apart(paths_of) == ("saturation.", ["d_4", "d_64"], ".undivided.tokens")
    widths = [f"rows frozen at width {width}, undivided" for width in (64, 4)]
    assert blocks.told_apart(widths) == ("rows frozen at ", ["width 64", "width 4"], ", undivided")
    windows = [f"perplexity over windows of {length}" for length in ("64", "10,000")]
    many = ["windows of 64", "windows of 10,000"]
    assert blocks.told_apart(windows) == ("perplexity over ", many, "")
    layers = [f"length over that before, {layers} layers" for layers in (1, 20)]
    assert blocks.told_apart(layers) == ("length over that before, ", ["1", "20"], " layers")
    phrases = ["change of earlier rows, with the mask", "change of earlier rows, without the mask"]
    whole = ["with the mask", "without the mask"]
    assert blocks.told_apart(phrases) == ("change of earlier rows, ", whole, "")
    assert blocks.told_apart(["a", "b"]) is None
    assert blocks.told_apart(["the same name twice", "the same name twice"]) is None
    assert blocks.told_apart(["only one name here"]) is None
    assert blocks.told_apart(["spread at width 16", "root of the width 16"]) is None
