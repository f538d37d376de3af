"""Can a number be typed into the text, or one be taken out of it, without being named?

Digits and number words are put in at random places of everything an author writes: prose, tables,
captions, alternative texts, headings, front matter, formulas, claims, and the words of figures,
panels, labels and the site. The lint must name file and line. Places that architecture.md exempts
(names, indices, code quoted from a source, ...) are left alone. Then every number that a chapter
cites is dropped from one of its languages, sections are put in another order, a translation is
taken away: the comparison of the two must say so.
"""

from __future__ import annotations

import dataclasses
import random
import re
import shutil
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from engine import lint, parity, paths
from engine.chapters import LANGUAGES, Chapter, chapters, read_source
from engine.errors import MedidaError
from engine.outline import outline
from engine.typed import TEMPLATE, Known, Prose, find
from tests.attack.tally import Tally
from tests.book.test_innocent_prose import STATED, places

TYPED = ("number", "words", "mathematics", "code")
EACH = 90  # insertions into each kind of place of a chapter
LANGUAGE_OF = {"mkdocs.yml": "pt", "mkdocs.en.yml": "en"}
_STRING = re.compile(r'"(?:\\.|[^"\\\n])*"' + r"|'(?:\\.|[^'\\\n])*'")


@dataclass(frozen=True)
class Place:
    """Where something is put: a file, a position in its text, and what kind of place it is."""

    chapter: Chapter
    language: Any
    kind: str
    at: int
    formula: bool = False


@cache
def known() -> Known:
    holder = lint._Lint()  # pyright: ignore[reportPrivateUsage]
    lint._read_works(holder)  # pyright: ignore[reportPrivateUsage]
    return lint._known(holder.works, chapters())  # pyright: ignore[reportPrivateUsage]


class Copy:
    """A copy of one chapter, to be damaged; what the lint says of it, and only of it."""

    def __init__(self, chapter: Chapter, folder: Path) -> None:
        self.chapter = Chapter(chapter.slug, folder / chapter.slug)
        shutil.copytree(chapter.folder, self.chapter.folder)
        self.editions: dict[Any, Any] = {}

    def text(self, language: Any) -> str:
        return self.chapter.template(language).read_text(encoding="utf-8")

    def edition(self, language: Any, text: str | None = None) -> Any:
        """The chapter in one language, as it stands or with another text in its file."""
        path = self.chapter.template(language)
        whole = self.text(language)
        try:
            if text is not None:
                path.write_text(text, encoding="utf-8")
            source = read_source(self.chapter, language)
            read = parity.read(self.chapter, source)
            return lint._Edition(self.chapter, language, source, read)  # pyright: ignore[reportPrivateUsage]
        finally:
            path.write_text(whole, encoding="utf-8")

    def findings(self, language: Any, text: str | None = None) -> list[lint.Finding]:
        """Typed numbers in one language."""
        holder = lint._Lint()  # pyright: ignore[reportPrivateUsage]
        path = self.chapter.template(language)
        whole = self.text(language)
        try:
            if text is not None:
                path.write_text(text, encoding="utf-8")
            edition = self.edition(language, text)
            lint._check_typed(holder, edition, known())  # pyright: ignore[reportPrivateUsage]
        except MedidaError as problem:  # it cannot even be read: that is said
            return [lint.Finding(str(path), 0, "template", str(problem))]
        finally:
            path.write_text(whole, encoding="utf-8")
        return sorted(f for f in holder.findings if f.path.endswith(path.name))

    def differences(self, language: Any, text: str) -> list[lint.Finding]:
        """What the comparison of both languages says, but for "changed since it was read"."""
        holder = lint._Lint()  # pyright: ignore[reportPrivateUsage]
        holder.claims[self.chapter.slug] = {}
        for of in LANGUAGES:
            if of != language and of not in self.editions:
                self.editions[of] = self.edition(of)
            try:
                edition = self.edition(of, text) if of == language else self.editions[of]
            except MedidaError as problem:
                return [lint.Finding(str(self.chapter.template(of)), 0, "template", str(problem))]
            holder.editions[self.chapter.slug, of] = edition
        lint._check_parity(holder, self.chapter, steps=False)  # pyright: ignore[reportPrivateUsage]
        return sorted(holder.findings)


@pytest.fixture
def copies(tmp_path: Path) -> dict[str, Copy]:
    return {
        chapter.slug: Copy(chapter, tmp_path)
        for chapter in chapters()
        if all(chapter.template(language).is_file() for language in LANGUAGES)
    }


# ---------------------------------------------------------------------------- where


def places_in(copy: Copy, language: Any) -> Iterator[Place]:
    """Every place of a chapter where a typed number would be one."""
    text = copy.text(language)
    source = read_source(copy.chapter, language)
    lines = text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    body = next(i for i, line in enumerate(lines[1:], 1) if line.rstrip() == "---") + 1

    def place(kind: str, at: int, formula: bool = False) -> Place:
        return Place(copy.chapter, language, kind, at, formula)

    for key in ("title", "question", "after"):
        line = source.lines.get(key)
        if line:
            begins = starts[line - 1] + len(key) + 2
            for at in places(lines[line - 1][len(key) + 2 :]):
                if at > 1:
                    yield place(key, begins + at)
    offset = starts[body]
    whole = text[offset:]
    inside_alt = spans(whole, r"<%\s*set alt\w* %>(.*?)<% endset %>")
    inside_table = spans(whole, r"<% call table\(.*?%>(.*?)<% endcall %>")
    inside_figure = spans(whole, r"<% call (?:figure|listing)\(.*?%>(.*?)<% endcall %>")
    fenced = spans(whole, r"(^[`~]{3,}.*?^[`~]{3,}[ \t]*$)") + comments(whole)
    for start, paragraph in paragraphs(whole):
        heading = paragraph.lstrip().startswith("#")
        for at in places(paragraph):
            here = start + at
            if inside(here, fenced):
                continue
            kind = (
                "alt" if inside(here, inside_alt)
                else "table_caption" if inside(here, inside_table)
                else "caption" if inside(here, inside_figure)
                else "heading" if heading
                else "prose"
            )  # fmt: skip
            yield place(kind, offset + here)
    for printed in outline(source.body, "").printed:
        if printed.what != "text":
            continue
        start = starts[printed.line - 1]
        found = text.find(f'"{printed.text}"', start)
        if 0 <= found < start + 3000 and len(printed.text) > 2:
            for at in places(printed.text):
                if at:
                    yield place("cell", found + 1 + at)
    for at, tex in Prose.of(source.body).formulas:
        for gap in gaps(tex):
            line = source.body.count("\n", 0, at + gap)
            column = at + gap - (source.body.rfind("\n", 0, at + gap) + 1)
            yield place("formula", starts[line] + column, True)


def comments(text: str) -> list[tuple[int, int]]:
    """What a template says to its author alone."""
    return spans(text, r"(<#.*?#>)")


def spans(text: str, pattern: str) -> list[tuple[int, int]]:
    return [m.span(1) for m in re.finditer(pattern, text, re.DOTALL | re.MULTILINE)]


def inside(at: int, of: list[tuple[int, int]]) -> bool:
    return any(start <= at < end for start, end in of)


def paragraphs(text: str) -> Iterator[tuple[int, str]]:
    at = 0
    for piece in re.split(r"(\n\s*\n)", text):
        if piece.strip() and len(piece) > 20:
            yield at, piece
        at += len(piece)


def gaps(tex: str) -> Iterator[int]:
    """Spaces of a formula outside of braces: what is put there stands on the line."""
    depth = 0
    masked = TEMPLATE.sub(lambda m: "x" * len(m[0]), tex)
    for i, character in enumerate(masked):
        depth += (character == "{") - (character == "}")
        if character == " " and depth == 0 and masked[i - 1] not in "_^\\":
            yield i


# ---------------------------------------------------------------------------- what


def put(dice: random.Random, place: Place, text: str) -> str:
    """Something measured, in a form that fits the place."""
    if place.formula:
        return dice.choice((" = 4096 ", " 0{,}37 ", " 1024 ", " 0.125 "))
    if text[place.at] == " " and dice.random() < 0.5:
        return f" {dice.choice(STATED[place.language])}"
    return dice.choice("0123456789")


def test_what_is_typed_is_named_with_file_and_line(
    copies: dict[str, Copy], dice: random.Random, tally: Callable[[str], Tally]
) -> None:
    by_kind: dict[str, list[Place]] = {}
    for copy in copies.values():
        for language in LANGUAGES:
            for place in places_in(copy, language):
                by_kind.setdefault(place.kind, []).append(place)
    assert {"title", "question", "prose", "alt", "caption", "table_caption", "cell", "heading",
            "formula", "after"} <= set(by_kind)  # fmt: skip
    chosen = [
        p for _, every in sorted(by_kind.items()) for p in dice.sample(every, min(EACH, len(every)))
    ]
    for copy, language, places_, texts in batches(copies, dice, chosen):
        whole = copy.text(language)
        said = copy.findings(language, insert(whole, texts))
        for place, what in zip(places_, texts.values(), strict=True):
            found = said
            if any(f.kind == "template" for f in said):  # it cannot be read: which of them was it?
                found = copy.findings(language, insert(whole, {place.at: what}))
            line = whole.count("\n", 0, place.at) + 1
            near = whole[max(0, place.at - 30) : place.at] + "»" + whole[place.at : place.at + 30]
            tally(f"templates.{place.kind}").count(
                any(f.kind in TYPED and close(f.line, line, whole, place) for f in found),
                f"{place.chapter.slug}/{language}:{line}: {what!r} in {near!r}",
            )


def batches(
    copies: dict[str, Copy], dice: random.Random, chosen: list[Place]
) -> Iterator[tuple[Copy, Any, list[Place], dict[int, str]]]:
    """Places of one text, at most one in a paragraph, and what is put there: tried at once.

    No attack adds a line, so that each finding says which of them it is about.
    """
    waiting = list(dict.fromkeys(chosen))
    while waiting:
        taken: dict[tuple[str, Any], dict[int, Place]] = {}
        for place in waiting:
            text = copies[place.chapter.slug].text(place.language)
            paragraph = len(re.findall(r"\n\s*\n", text[: place.at]))
            taken.setdefault((place.chapter.slug, place.language), {}).setdefault(paragraph, place)
        for (slug, language), by_paragraph in taken.items():
            some = sorted(by_paragraph.values(), key=lambda place: place.at)
            text = copies[slug].text(language)
            yield copies[slug], language, some, {p.at: put(dice, p, text) for p in some}
        gone = {place for by_paragraph in taken.values() for place in by_paragraph.values()}
        waiting = [place for place in waiting if place not in gone]


def insert(text: str, at: dict[int, str]) -> str:
    """The text with something put in at each of some positions of it."""
    for position in sorted(at, reverse=True):
        text = text[:position] + at[position] + text[position:]
    return text


def close(found: int, line: int, text: str, place: Place) -> bool:
    """The line itself; of an expression or a formula over several lines, any of these."""
    if found == line:
        return True
    if place.kind not in ("cell", "formula", "title", "question", "after"):
        return False
    start = max(text.rfind("<<", 0, place.at), text.rfind("<%", 0, place.at), 0)
    if place.formula:
        start = text.rfind("$", 0, place.at)
    return text.count("\n", 0, start) + 1 <= found <= line


# ---------------------------------------------------------------------------- other files


def test_what_is_typed_into_other_words_of_the_book_is_named(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    dice: random.Random,
    tally: Callable[[str], Tally],
) -> None:
    """Claims, figures, panels, labels, the words around a chapter, navigation: one by one."""
    for name in ("chapters", "figures", "templates"):
        shutil.copytree(paths.ROOT / name, tmp_path / name)
        monkeypatch.setattr(paths, name.upper(), tmp_path / name)
    for name in ("mkdocs.yml", "mkdocs.en.yml"):
        shutil.copy(paths.ROOT / name, tmp_path / name)
    shutil.copytree(paths.ROOT / "engine", tmp_path / "engine")
    monkeypatch.setattr(paths, "ROOT", tmp_path)
    for kind, files in others(tmp_path).items():
        typed = tally(f"templates.{kind}")
        spots = [(path, *spot) for path in files for spot in strings_in(path)]
        whole = {path: path.read_text(encoding="utf-8") for path in files}
        what: dict[Path, dict[int, str]] = {}
        lines: list[tuple[Path, int, int, int]] = []
        for path, start, end, language in dice.sample(spots, min(40, len(spots))):
            text = whole[path]
            bound = TEMPLATE.sub(lambda m: " " * len(m[0]), text[start:end])
            at = [
                i
                for i in places(text[start:end])
                if i and bound[i] == text[start + i] and text[start + i - 1] != "\\"
            ]
            if not at:
                continue
            here = start + dice.choice(at)
            number = kind == "labels" or text[here] != " "
            what.setdefault(path, {})[here] = "7" if number else f" {STATED[language][0]}"
            first = text.count("\n", 0, start) + 1
            lines.append((path, here, first, first + text.count("\n", start, end)))
        before = findings_of(kind, list(what))
        for path, at in what.items():
            path.write_text(insert(whole[path], at), encoding="utf-8")
        new = [f for f in findings_of(kind, list(what)) if f not in before and f.kind in TYPED]
        for path in what:
            path.write_text(whole[path], encoding="utf-8")
        for path, here, first, last in lines:
            near = whole[path][here - 20 : here] + "»" + whole[path][here : here + 20]
            typed.count(
                any(f.path == paths.shown(path) and first <= f.line <= last for f in new),
                f"{paths.shown(path)}:{first}: {what[path][here]!r} in {near!r}",
            )


def others(root: Path) -> dict[str, list[Path]]:
    return {
        "claims": sorted(root.glob("chapters/*/claims.toml")),
        "figures": sorted(root.glob("figures/*.py")),
        "panels": sorted(root.glob("templates/widgets/*.toml")),
        "labels": [root / "chapters/labels.toml"],
        "words": [root / "templates/words.toml"],
        "navigation": [root / name for name in LANGUAGE_OF],
    }


def strings_in(path: Path) -> Iterator[tuple[int, int, Any]]:
    """The sentences of a file that a page shows: start, end and language of each."""
    text = path.read_text(encoding="utf-8")
    if path.name in LANGUAGE_OF:
        for match in re.finditer(r'(?:title|site_name|site_description): "?([^"\n}]{4,})', text):
            if "toggle" not in match[0]:
                yield (*match.span(1), LANGUAGE_OF[path.name])
        return
    if path.suffix == ".py":
        pattern = r'"(pt|en)": *\(?\s*"([^"\n]{4,})"'
    elif path.name == "labels.toml":
        pattern = r'\b(pt|en) = "([^"\n]{4,})"'
    elif path.name == "claims.toml":
        pattern = r"""^(pt|en) *= *(?:"((?:[^"\\\n]|\\.){9,})"|'([^'\n]{9,})')"""
    else:
        pattern = r'^(\w+) *= *"((?:[^"\\\n]|\\.){9,})"'
    for match in re.finditer(pattern, text, re.MULTILINE):
        group = 2 if match[2] is not None else 3
        language = match[1]
        if language not in LANGUAGES:
            table = re.findall(r"^\[(pt|en)\b", text[: match.start()], re.MULTILINE)
            if not table:
                continue
            language = table[-1]
        if "TEXT" in text or path.suffix != ".py":
            yield (*match.span(group), language)


def findings_of(kind: str, files: list[Path]) -> list[lint.Finding]:
    """What the lint says of one kind of file: the same functions that it runs over all of them."""
    holder = lint._Lint()  # pyright: ignore[reportPrivateUsage]
    if kind == "claims":
        for path in files:
            chapter = Chapter(path.parent.name, path.parent)
            lint._read_chapter(holder, chapter)  # pyright: ignore[reportPrivateUsage]
            lint._check_claims(holder, chapter, known())  # pyright: ignore[reportPrivateUsage]
        return sorted(holder.findings)
    check = {
        "figures": lint._check_figures,  # pyright: ignore[reportPrivateUsage]
        "panels": lint._check_panels,  # pyright: ignore[reportPrivateUsage]
        "labels": lint._check_labels,  # pyright: ignore[reportPrivateUsage]
        "words": lint._check_words,  # pyright: ignore[reportPrivateUsage]
        "navigation": lint._check_site,  # pyright: ignore[reportPrivateUsage]
    }[kind]
    check(holder, known())
    return sorted(holder.findings)


# ---------------------------------------------------------------------------- what is taken out


_PRINTED = re.compile(r"<<(?:[^<>\"']|\"[^\"]*\"|'[^']*'|<(?!<)|>(?!>))*>>", re.DOTALL)


Edit = tuple[int, int, str]  # from where to where, and what stands there instead


def noticed(copy: Copy, language: Any, edits: list[Edit]) -> Iterator[tuple[Edit, bool]]:
    """Whether each of these changes of one text is a difference between both languages.

    Sections are compared one by one: changes of several sections are tried at once, and each must
    be found in its own. Those of the front matter are tried by themselves.
    """
    text = copy.text(language)
    at = {of: sections(copy.edition(of)) for of in LANGUAGES}

    def section(of: Any, line: int) -> str:
        return [anchor for start, anchor in at[of] if start <= line][-1]

    waiting = list(edits)
    front = text.index("\n---", 3)
    while waiting:
        taken: dict[str, Edit] = {}
        for edit in waiting:
            line = text.count("\n", 0, edit[0]) + 1
            taken.setdefault(f"{edit}" if edit[0] < front else section(language, line), edit)
        waiting = [edit for edit in waiting if edit not in taken.values()]
        alone = {name: edit for name, edit in taken.items() if edit[0] < front}
        together = {name: edit for name, edit in taken.items() if name not in alone}
        found = copy.differences(language, replaced(text, list(together.values())))
        if any(f.kind == "template" for f in found):
            alone, together = taken, {}
        where = {
            section(of, finding.line)
            for finding in found
            for of in LANGUAGES
            if finding.line and finding.path.endswith(copy.chapter.template(of).name)
        }
        for name, edit in together.items():
            yield edit, name in where
        for edit in alone.values():
            yield edit, bool(copy.differences(language, replaced(text, [edit])))


def sections(edition: Any) -> list[tuple[int, str]]:
    return sorted((section.line, section.anchor) for section in edition.text.sections.values())


def replaced(text: str, edits: list[Edit]) -> str:
    """The text with these changes, each of as many lines as what stood there."""
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + "\n" * text[start:end].count("\n") + text[end:]
    return text


_SET = re.compile(r"<%\s*set \w+ = (?:\w+\(|\().*?%>")  # a name for what is calculated


def test_a_number_dropped_from_a_translation_is_named(
    copies: dict[str, Copy], tally: Callable[[str], Tally]
) -> None:
    """Every expression of every chapter, in either language: numbers and claims."""
    dropped = tally("translation.dropped")
    for slug, copy in copies.items():
        for language in LANGUAGES:
            text = copy.text(language)
            edits: list[Edit] = []
            hidden = comments(text)
            for match in _PRINTED.finditer(text):
                if inside(match.start(), hidden):
                    continue
                cited = outline(match[0], "").cited if parses(match[0]) else []
                if not any(one.is_number or one.kind == "claim" for one in cited):
                    continue  # a link may be worded otherwise in the other language
                if any("*" in one.name for one in cited):
                    continue  # inside a loop: below
                edits.append((*match.span(), "isto"))
            for (start, end, _), found in noticed(copy, language, edits):
                line = text.count("\n", 0, start) + 1
                dropped.count(found, f"{slug}/{language}:{line}: {text[start:end]}")


def parses(text: str) -> bool:
    try:
        outline(text, "")
    except MedidaError:
        return False
    return True


def test_a_digit_changed_put_in_or_taken_out_of_an_expression_of_one_language_is_named(
    copies: dict[str, Copy], dice: random.Random, tally: Callable[[str], Tally]
) -> None:
    """A path, a number of decimals, a seed, a constant: another one in one language is found."""
    spots: list[tuple[str, Any, int]] = []
    for slug, copy in copies.items():
        for language in LANGUAGES:
            text = copy.text(language)
            lines = text.split("\n")
            end = next(i for i, line in enumerate(lines[1:], 1) if line.rstrip() == "---")
            front = len("\n".join(lines[:end]))
            for match in re.finditer(r"\bvalue: *(\d[\d.]*)", text[:front]):
                spots += [(slug, language, i) for i in range(*match.span(1)) if text[i].isdigit()]
            hidden = comments(text)
            for match in [*_PRINTED.finditer(text), *_SET.finditer(text)]:
                shows = re.match(r"<<\s*(num|tex|vector|tex_vector|tex_matrix|const)\(", match[0])
                if (shows or match.re is _SET) and not inside(match.start(), hidden):
                    spots += [
                        (slug, language, match.start() + m.start())
                        for m in re.finditer(r"\d", match[0])
                    ]
    changed = tally("translation.digit")
    by_text: dict[tuple[str, Any], list[Edit]] = {}
    for slug, language, at in dice.sample(spots, min(300, len(spots))):
        digit = str((int(copies[slug].text(language)[at]) + dice.randint(1, 9)) % 10)
        digit = dice.choice((digit, digit, "", copies[slug].text(language)[at] + digit))
        by_text.setdefault((slug, language), []).append((at, at + 1, digit))
    for (slug, language), edits in by_text.items():
        text = copies[slug].text(language)
        for (at, _, digit), found in noticed(copies[slug], language, edits):
            line = text.count("\n", 0, at) + 1
            changed.count(found, f"{slug}/{language}:{line}: {text[at - 30 : at + 10]!r} → {digit}")


def test_a_translation_that_is_gone_or_in_another_order_is_named(
    copies: dict[str, Copy], tally: Callable[[str], Tally]
) -> None:
    gone, order = tally("translation.gone"), tally("translation.order")
    for slug, copy in copies.items():
        for language in LANGUAGES:
            path = copy.chapter.template(language)
            text = copy.text(language)
            path.unlink()
            holder = lint._Lint()  # pyright: ignore[reportPrivateUsage]
            lint._read_chapter(holder, copy.chapter)  # pyright: ignore[reportPrivateUsage]
            path.write_text(text, encoding="utf-8")
            named = [f for f in holder.findings if f.kind == "translation"]
            gone.count(any(f.path.endswith(path.name) for f in named), f"{slug}/{language}")
            hidden = comments(text)
            starts = [m.start() for m in re.finditer(r"(?m)^## ", text)]
            ends_ = [0, *(at for at in starts if not inside(at, hidden)), len(text)]
            sections = [text[start:end] for start, end in pairwise(ends_)]
            for i in range(1, len(sections) - 1):
                ends = sections[i].rstrip() + "\n\n", sections[i + 1].rstrip() + "\n\n"
                swapped = [*sections[:i], ends[1], ends[0], *sections[i + 2 :]]
                found = copy.differences(language, "".join(swapped))
                order.count(
                    any("another order" in f.message for f in found), f"{slug}/{language}: {i}"
                )


# ---------------------------------------------------------------------------- honest prose


def test_no_list_of_exceptions_but_the_constants_of_each_chapter() -> None:
    """The check knows no chapter, file or sentence by name; what is typed has its reason there."""
    source = (paths.ROOT / "engine" / "typed.py").read_text(encoding="utf-8")
    source += (paths.ROOT / "engine" / "number_words.py").read_text(encoding="utf-8")
    for chapter in chapters():
        if chapter.number is not None:
            assert chapter.slug not in source
    for chapter in chapters():
        for language in LANGUAGES:
            if chapter.template(language).is_file():
                constants = read_source(chapter, language).constants
                assert all(constant.why.strip() for constant in constants.values())
    names = {f.name for f in dataclasses.fields(Known)}
    assert names == {"citations", "chapters", "in_source"}


def test_every_chapter_as_it_stands_gives_no_finding(copies: dict[str, Copy]) -> None:
    found = [
        str(finding)
        for copy in copies.values()
        for language in LANGUAGES
        for finding in copy.findings(language)
        if finding.kind in TYPED
    ]
    assert found == []
    assert find("A média perde 59,7.", "pt") != []
    assert tomllib.loads((paths.ROOT / "pyproject.toml").read_text("utf-8"))
