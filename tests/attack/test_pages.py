"""Can a page of the built site be changed by hand, or by anything but records and chapters?

`python -m engine verify --site` builds the site again and compares. Here a built site is attacked:
digits changed, put in and taken out, number words put in, at random places of every kind of place.
Each must be named with its file and line. And two builds of the same book must be the same bytes,
or nothing could be told from a difference.
"""

from __future__ import annotations

import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from engine import __main__ as command
from engine.rebuilt import differences
from tests.attack.conftest import build
from tests.attack.tally import Tally
from tests.book.test_innocent_prose import STATED
from tests.site.conftest import Site

pytestmark = pytest.mark.xdist_group("built")

EACH = 45
INSIDE = {  # kind of place: what of a page belongs to it
    "prose": r"(?s)<p>(.*?)</p>",
    "table": r"(?s)<t[dh]\b[^>]*>(.*?)</t[dh]>",
    "caption": r"(?s)<figcaption>(.*?)</figcaption>",
    "alternative_text": r'\baria-label="([^"]{9,})"',
    "title": r"(?s)<title>(.*?)</title>",
    "heading": r"(?s)<h[1-3]\b[^>]*>(.*?)</h[1-3]>",
    "navigation": r"(?s)<nav\b[^>]*>(.*?)</nav>",
    "mathematics": r'(?s)<span class="katex-mathml">(.*?)</math>',
    "front_matter": r'<meta name="description" content="([^"]*)"',
    "details": r'(?s)<template class="bk-numbers"[^>]*>(.*?)</template>',
    "figure": r"(?s)<text\b[^>]*>(.*?)</text>",
    "answer": r"(?s)<details\b[^>]*>(.*?)</details>",
}
SHOWN = re.compile(r"(?s)(?<=>)[^<>]+(?=<)|^[^<>]+|[^<>]+$")


def test_two_builds_are_the_same_bytes(built: Site, tmp_path: Path) -> None:
    build(tmp_path / "again", built.url)
    assert list(differences(built.folder, tmp_path / "again")) == []


def test_what_is_changed_in_a_built_page_is_named_with_file_and_line(
    built: Site, tmp_path: Path, dice: random.Random, tally: Callable[[str], Tally]
) -> None:
    site, fresh = tmp_path / "site", tmp_path / "fresh"
    pages = [
        page
        for page in sorted(built.folder.rglob("index.html"))
        if "source" not in page.relative_to(built.folder).parts
    ]
    for kind, pattern in INSIDE.items():
        named = tally(f"pages.{kind}")
        spots: list[tuple[Path, int]] = []
        for page in pages:
            text = page.read_text(encoding="utf-8")
            for match in re.finditer(pattern, text):
                for piece in SHOWN.finditer(match[1]):
                    start = match.start(1) + piece.start()
                    spots += [(page, start + i) for i, c in enumerate(piece[0]) if not c.isspace()]
        assert spots, kind
        for page, at in dice.sample(spots, min(EACH, len(spots))):
            name = page.relative_to(built.folder)
            language = "en" if name.parts[0] == "en" else "pt"
            text = page.read_text(encoding="utf-8")
            attacked, what, at = attack(dice, text, at, language)
            for folder, content in ((site, attacked), (fresh, text)):
                shutil.rmtree(folder, ignore_errors=True)
                (folder / name).parent.mkdir(parents=True)
                (folder / name).write_text(content, encoding="utf-8")
            line = text.count("\n", 0, at) + 1
            said = list(differences(site, fresh))
            wanted = f"{(site / name).as_posix()}:{line}: "
            named.count(len(said) == 1 and said[0].startswith(wanted), f"{name}:{line}: {what}")


def attack(dice: random.Random, text: str, at: int, language: str) -> tuple[str, str, int]:
    """The page with a digit changed, taken out or put in, or with a number word put in; where."""
    near = [m.start() for m in re.finditer(r"\d", text[at : at + 40])]
    how = dice.choice(("change", "delete", "insert", "word") if near else ("insert", "word"))
    if how == "word":
        word = f" {dice.choice(STATED[language])} "
        return text[:at] + word + text[at:], word, at
    if how == "insert":
        digit = dice.choice("0123456789")
        return text[:at] + digit + text[at:], digit, at
    here = at + near[0]
    digit = str((int(text[here]) + dice.randint(1, 9)) % 10) if how == "change" else ""
    return text[:here] + digit + text[here + 1 :], f"{text[here]} → {digit}", here


def test_a_page_that_is_gone_or_too_much_is_named(tmp_path: Path) -> None:
    for folder, names in (("site", "ab"), ("fresh", "bc")):
        (tmp_path / folder).mkdir()
        for name in names:
            (tmp_path / folder / f"{name}.html").write_text("<p>1</p>\n")
    (tmp_path / "site/x.bin").write_bytes(b"\xff\x00")
    (tmp_path / "fresh/x.bin").write_bytes(b"\xff\x01")
    said = list(differences(tmp_path / "site", tmp_path / "fresh"))
    assert len(said) == 3
    assert "a.html: nothing makes this file" in said[0]
    assert "c.html: is missing" in said[1]
    assert "x.bin: is not what the book makes" in said[2]


@pytest.mark.parametrize("damage", ["none", "digit", "folder"])
def test_the_command_says_it(
    built: Site,
    tmp_path: Path,
    damage: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    site = tmp_path / "site"
    shutil.copytree(built.folder, site)
    page = site / "en" / "02-average" / "index.html"
    text = page.read_text(encoding="utf-8")
    if damage == "digit":
        page.write_text(re.sub(r"(?<=\d)\.(\d)", r".9\1", text, count=1), encoding="utf-8")
    if damage == "folder":
        shutil.rmtree(site)
    monkeypatch.setattr(command, "build_site", lambda folder: shutil.copytree(built.folder, folder))
    status = command.main(["verify", "--site", str(site)])
    said = capsys.readouterr()
    assert status == (0 if damage == "none" else 1)
    if damage == "digit":
        (line,) = said.err.strip().splitlines()
        assert line.startswith(f"{page.as_posix()}:")
    if damage == "folder":
        assert said.err.count("\n") == 1
