"""Which works does the book cite, and how are they written in each language?

In: a BibTeX file. Out: entries by key, each able to say its short form for a sentence
("Vaswani et al., 2017") and its full line for the list. The years of a citation come from here,
never from a hand.
"""

from __future__ import annotations

import logging
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import cast

from bibtexparser.entrypoint import parse_string
from bibtexparser.middlewares.names import (
    parse_single_name_into_parts,
    split_multiple_persons_names,
)
from bibtexparser.model import DuplicateBlockKeyBlock
from pylatexenc.latex2text import LatexNodes2Text  # pyright: ignore[reportMissingTypeStubs]

from engine import breaks
from engine.errors import RenderError
from engine.number import Language
from engine.paths import shown

MOST_NAMES = 8
AND = {"pt": "e", "en": "and"}
IN = {"pt": "Em", "en": "In"}
_to_text = cast("Callable[[str], str]", LatexNodes2Text().latex_to_text)  # pyright: ignore[reportUnknownMemberType]
_LITERAL_FIELDS = frozenset({"url", "doi", "eprint"})
_WHERE = ("journal", "booktitle", "howpublished", "publisher", "institution", "school")


@dataclass(frozen=True)
class Entry:
    """One work. `authors` are (family name, given names); a body has no given names. `letter` tells
    it from others of the same names and year."""

    key: str
    kind: str
    authors: tuple[tuple[str, str], ...]
    fields: dict[str, str]
    letter: str = ""

    @property
    def year(self) -> str:
        return self.fields.get("year", "") + self.letter

    def short(self, language: Language) -> str:
        """Who, for a sentence: one name, two, or the first et al."""
        families = [family for family, _ in self.authors]
        if not families:
            return self.fields["title"]
        if len(families) == 1:
            return families[0]
        if len(families) == 2:
            return f"{families[0]} {AND[language]} {families[1]}"
        return f"{families[0]} et al."

    def line(self, language: Language) -> str:
        """The full line, as HTML."""
        names = [f"{family}, {given}" if given else family for family, given in self.authors]
        if len(names) > MOST_NAMES:
            names = [*names[: MOST_NAMES - 1], "et al."]
        who = "; ".join(names)
        text = self.fields
        parts = [f"{escape(who)} ({escape(self.year)})." if who else f"({escape(self.year)})."]
        title = text["title"].rstrip(".")
        stop = "" if title.endswith(("?", "!")) else "."
        parts.append(f"<cite>{escape(title)}</cite>{stop}")
        where = next((text[name] for name in _WHERE if name in text), "")
        if where:
            inside = f"{IN[language]} " if "booktitle" in text and "journal" not in text else ""
            volume = f" {text['volume']}" if "volume" in text else ""
            volume += f"({text['number']})" if "number" in text else ""
            pages = f", {text['pages'].replace('--', '–')}" if "pages" in text else ""
            parts.append(f"{inside}{escape(where + volume + pages)}.")
        link = self.link()
        if link:
            parts.append(f'<a href="{escape(link)}">{breaks.address(_bare(link))}</a>')
        return " ".join(parts)

    def link(self) -> str:
        if "doi" in self.fields:
            return f"https://doi.org/{self.fields['doi']}"
        if "eprint" in self.fields and "url" not in self.fields:
            return f"https://arxiv.org/abs/{self.fields['eprint']}"
        url = self.fields.get("url", "")
        return url if re.match(r"https?://", url) else ""


def read_bibliography(path: Path) -> dict[str, Entry]:
    """The entries of a BibTeX file by key, in the order of the list: by names, then year; those
    that a sentence would not tell apart get letters in that order.

    Raises RenderError: no such file, an entry that cannot be parsed, a key given twice, an entry
    without title or year.
    """
    try:
        source = path.read_text(encoding="utf-8")
    except OSError as problem:
        raise RenderError(f"{shown(path)}: cannot be read ({problem.strerror})") from problem
    logging.getLogger("bibtexparser").setLevel(logging.CRITICAL)  # said below, once
    library = parse_string(source)
    for block in library.failed_blocks:
        what = "a key is given twice" if isinstance(block, DuplicateBlockKeyBlock) else "bad BibTeX"
        line = (block.start_line or 0) + 1
        raise RenderError(f"{shown(path)}:{line}: {what}: {(block.raw or '')[:60]}")
    entries: list[Entry] = []
    for raw in library.entries:
        fields = {
            field.key.lower(): str(field.value)
            if field.key.lower() in _LITERAL_FIELDS
            else _decoded(str(field.value))
            for field in raw.fields
            if field.key.lower() not in ("author", "editor")
        }
        people = {field.key.lower(): str(field.value) for field in raw.fields}
        written = people.get("author") or people.get("editor") or ""
        authors = tuple(_person(name) for name in split_multiple_persons_names(written) if name)
        for needed in ("title", "year"):
            if not fields.get(needed):
                line = (raw.start_line or 0) + 1
                raise RenderError(f"{shown(path)}:{line}: {raw.key} has no {needed}")
        entries.append(Entry(raw.key, raw.entry_type.lower(), authors, fields))
    entries.sort(key=_place)
    return {entry.key: entry for entry in _lettered(entries)}


def _place(entry: Entry) -> tuple[list[tuple[str, str]], str, str]:
    names = [(_folded(family), _folded(given)) for family, given in entry.authors]
    return names, entry.year, _folded(entry.fields["title"])


def _folded(text: str) -> str:
    """Without accents and case: as a list is sorted in both languages."""
    return "".join(
        c for c in unicodedata.normalize("NFKD", text) if c.isalnum() or c == " "
    ).casefold()


def _lettered(entries: list[Entry]) -> Iterator[Entry]:
    cited = [(entry.short("en"), entry.year) for entry in entries]
    same, given = Counter(cited), Counter[tuple[str, str]]()
    for entry, form in zip(entries, cited, strict=True):
        given[form] += 1
        letter = chr(ord("a") + given[form] - 1) if same[form] > 1 else ""
        yield replace(entry, letter=letter)


def _person(name: str) -> tuple[str, str]:
    parts = parse_single_name_into_parts(name)
    return _decoded(" ".join([*parts.von, *parts.last, *parts.jr])), _decoded(" ".join(parts.first))


def _decoded(tex: str) -> str:
    """TeX as text, its spaces made single."""
    plain = not any(sign in tex for sign in "\\{}$~%&-`'")
    return " ".join((tex if plain else _to_text(tex)).split())


def _bare(link: str) -> str:
    return re.sub(r"^https?://", "", link).rstrip("/")
