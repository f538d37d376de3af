"""Does the check of a built site find what leads nowhere, and nothing else?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine import links

GOOD = """<html><head><link rel="stylesheet" href="../a.css"><link rel="license" href="https://x.org/">
</head><body><h2 id="here">x</h2><a href="#here">x</a><a href="../#top">x</a><a href="https://x.org/">x</a>
<a href='../records/r.json'>x</a><a href="mailto:a@b.org">x</a>
<!-- <a href="gone/"> --><script>"<a href='gone/'>"</script></body></html>"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    (tmp_path / "page").mkdir()
    (tmp_path / "records").mkdir()
    (tmp_path / "records/r.json").write_text("{}")
    (tmp_path / "a.css").write_text("")
    (tmp_path / "index.html").write_text('<p id=top>x</p><a href="page/#here">x</a>')
    (tmp_path / "page/index.html").write_text(GOOD)
    return tmp_path


def test_a_sound_site_is_sound(site: Path) -> None:
    assert list(links.broken(site)) == []


@pytest.mark.parametrize(
    ("markup", "said"),
    [
        ('<a href="../gone/">x</a>', "../gone/ leads nowhere"),
        ('<a href="#gone">x</a>', "#gone leads to an anchor"),
        ('<a href="../#gone">x</a>', "../#gone leads to an anchor"),
        ('<img src="../gone.png">', "../gone.png leads nowhere"),
        ('<script src="https://x.org/a.js"></script>', "asks another host"),
        ('<link rel="stylesheet" href="https://x.org/a.css">', "asks another host"),
    ],
)
def test_what_is_broken_is_said_with_its_page(site: Path, markup: str, said: str) -> None:
    page = site / "page/index.html"
    page.write_text(page.read_text() + markup)
    (line,) = links.broken(site)
    assert line.startswith("page/index.html: ")
    assert said in line


def test_the_addresses_behind_a_number_are_checked_too(site: Path) -> None:
    numbers = {"n1": {"record_url": ["../records/gone.json"], "source_url": ["../#top"]}}
    page = site / "page/index.html"
    page.write_text(f'{GOOD}<template class="bk-numbers" x="y">{json.dumps(numbers)}</template>')
    (line,) = links.broken(site)
    assert "../records/gone.json leads nowhere" in line
