"""What in the book's text could be wrong unnoticed?

In: chapters, claims, the words of figures and panels, the glossary, the names of the records. Out:
findings with file and line: numbers typed by hand, number words that state a measured quantity,
sections whose two languages cite different things or are out of step, references that lead
nowhere, terms that the glossary avoids. What nothing cites (a record, a figure, a claim, a work) is
only a warning: a long measurement may be there before its chapter. Nothing is rendered or run.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any, cast

import yaml

from engine import blocks, parity, paths
from engine.bibliography import Entry, read_bibliography
from engine.chapters import LANGUAGES, Chapter, Source, chapters, read_source
from engine.claims import load_claims
from engine.declaration import declaration, experiments
from engine.errors import LintError, MedidaError, RecordError, SourceError
from engine.number import Language
from engine.outline import Cited, Outline, Printed, outline
from engine.paths import shown
from engine.quantity import Book
from engine.typed import Known, Prose, Typed, find, find_in_formula

WARNINGS = ("unused",)
"""Kinds of findings that do not fail the check."""

MENDED_BY = {
    "number": "is typed by hand: take it from a record with num(…), or name it among the constants",
    "words": "states a quantity: num(…) with times=True, fraction=True, out_of=10 or word=True",
    "mathematics": "in a formula is typed by hand: tex(…), or tex(const) for a constant",
    "code": "is a value typed in code that no source file holds: num(…), or quote it with listing",
}
_ITALIC = re.compile(r"(?<![*\w])\*(?![*\s])[^*\n]+(?<!\s)\*(?![*\w])|(?<!\w)_(?!\s)[^_\n]+_(?!\w)")
_SITE_TEXTS = ("site_name", "site_description", "copyright", "nav", "parts", "text")


@dataclass(frozen=True, order=True)
class Finding:
    """Something to mend (or, for the kinds of WARNINGS, to know)."""

    path: str
    line: int
    kind: str
    message: str

    @property
    def fails(self) -> bool:
        return self.kind not in WARNINGS

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.kind}: {self.message}"


@dataclass
class _Edition:
    """One chapter in one language."""

    chapter: Chapter
    language: Language
    source: Source
    text: parity.Text


@dataclass
class _Lint:
    findings: set[Finding] = field(default_factory=set[Finding])
    editions: dict[tuple[str, Language], _Edition] = field(
        default_factory=dict[tuple[str, Language], _Edition]
    )
    claims: dict[str, dict[str, dict[str, Any]]] = field(
        default_factory=dict[str, dict[str, dict[str, Any]]]
    )
    works: dict[str, Entry] = field(default_factory=dict[str, Entry])
    book: Book = field(default_factory=lambda: Book(allow_stale=True))
    cited: set[str] = field(default_factory=set[str])  # paths, with "*" where they are not known

    def add(self, path: Path, line: int, kind: str, message: str) -> None:
        self.findings.add(Finding(shown(path), line, kind, message))


def lint_book() -> list[Finding]:
    """Every finding of the book, by file and line; those of WARNINGS among them."""
    lint = _Lint()
    known_chapters = chapters()
    _read_works(lint)
    known = _known(lint.works, known_chapters)
    for chapter in known_chapters:
        _read_chapter(lint, chapter)
    for edition in lint.editions.values():
        _check_typed(lint, edition, known)
        _check_references(lint, edition)
    for chapter in known_chapters:
        _check_claims(lint, chapter, known)
        _check_parity(lint, chapter)
    _check_figures(lint, known)
    _check_panels(lint, known)
    _check_labels(lint, known)
    _check_words(lint, known)
    _check_site(lint, known)
    _check_unused(lint)
    return sorted(lint.findings)


def failing(findings: Iterable[Finding]) -> list[Finding]:
    """The findings that must be mended."""
    return [finding for finding in findings if finding.fails]


def review(slug: str) -> Path:
    """Record that both languages of a chapter were read side by side as they stand now.

    Raises LintError: no such chapter, or its languages do not cite the same things.
    """
    found = {chapter.slug: chapter for chapter in chapters()}
    if slug not in found:
        raise LintError(f"no chapter {slug!r}: {', '.join(found)}")
    lint = _Lint()
    _read_chapter(lint, found[slug])
    if not lint.findings:
        _check_parity(lint, found[slug], steps=False)
    problems = sorted(finding for finding in lint.findings if finding.fails)
    if problems:
        more = f" (and {len(problems) - 1} more: python -m engine lint)" if problems[1:] else ""
        raise LintError(f"{problems[0]}{more}")
    pt, en = (lint.editions[slug, language].text for language in LANGUAGES)
    return parity.review(found[slug], pt, en, lint.claims[slug])


# ---------------------------------------------------------------------------- reading


def _read_works(lint: _Lint) -> None:
    path = paths.CHAPTERS / "bibliography" / "references.bib"
    if not path.is_file():
        return
    try:
        lint.works = read_bibliography(path)
    except MedidaError as problem:
        _add_error(lint, path, problem, "reference")


def _known(works: Mapping[str, Entry], known_chapters: Iterable[Chapter]) -> Known:
    return Known(
        citations=frozenset(
            (word.lower(), str(entry.year))
            for entry in works.values()
            for family, _ in entry.authors
            for word in (family, *family.split())
        ),
        chapters=frozenset(c.number for c in known_chapters if c.number is not None),
        in_source=_in_source(),
    )


def _in_source() -> Callable[[str], bool]:
    """Whether a piece of code stands in the book's own, white space aside."""
    folders = (paths.MODEL, paths.EXPERIMENTS, paths.FIGURES, paths.ROOT / "engine")
    files = [file for folder in folders for file in sorted(folder.glob("*.py"))]
    sources = " ".join(" ".join(file.read_text(encoding="utf-8").split()) for file in files)

    @cache
    def found(text: str) -> bool:
        needle = re.escape(" ".join(text.split()))
        return bool(text) and re.search(rf"(?<![\w.]){needle}(?![\w.])", sources) is not None

    return found


def _read_chapter(lint: _Lint, chapter: Chapter) -> None:
    for language in LANGUAGES:
        path = chapter.template(language)
        if not path.is_file():
            message = f"{path.name} is missing: every chapter stands in both languages"
            lint.add(path, 1, "translation", message)
            continue
        try:
            source = read_source(chapter, language)
            text = parity.read(chapter, source)
        except MedidaError as problem:
            _add_error(lint, path, problem, "template")
            continue
        lint.editions[chapter.slug, language] = _Edition(chapter, language, source, text)
    path = chapter.folder / "claims.toml"
    lint.claims[chapter.slug] = {}
    if path.is_file():
        try:
            load_claims(chapter.folder)
        except MedidaError as problem:
            _add_error(lint, path, problem, "claim")
        else:
            lint.claims[chapter.slug] = tomllib.loads(path.read_text(encoding="utf-8"))


def _add_error(lint: _Lint, path: Path, problem: MedidaError, kind: str) -> None:
    """An error as a finding; where it names file and line itself, those."""
    message = str(problem)
    place = re.match(rf"{re.escape(shown(path))}(?::(\d+))?:? ?", message)
    line = int(place[1]) if place and place[1] else 1
    lint.add(path, line, kind, message[place.end() :] if place else message)


# ---------------------------------------------------------------------------- typed numbers


def _check_typed(lint: _Lint, edition: _Edition, known: Known) -> None:
    source, language, path = edition.source, edition.language, edition.source.path
    _text(lint, path, source.body, language, known)
    file = path.read_text(encoding="utf-8").split("\n")
    for key in ("title", "question", "after"):
        start = source.lines.get(key, 1)
        for typed in find(getattr(source, key), language, known):
            line = _line_of(typed.text, file, start)
            lint.add(path, line, typed.kind, _message(typed))
        if language == "pt":
            _terms(lint, path, getattr(source, key), start)
    for one in edition.text.outline.printed:
        _printed(lint, path, one, language, known)


def _text(
    lint: _Lint, path: Path, text: str, language: Language, known: Known, line: int = 1
) -> None:
    for typed in find(text, language, known, line):
        lint.add(path, typed.line, typed.kind, _message(typed))
    if language == "pt":
        _terms(lint, path, text, line)


def _printed(lint: _Lint, path: Path, one: Printed, language: Language, known: Known) -> None:
    if one.what == "text":
        _text(lint, path, one.text, language, known, one.line)
    elif one.what == "formula":
        for typed in find_in_formula(one.text, language, one.line):
            lint.add(path, typed.line, typed.kind, _message(typed))
    elif one.what == "number":
        message = f"{one.text} {MENDED_BY['number']}"
        lint.add(path, one.line, "number", message)
    else:
        message = f"{one.text} rounds or formats: only num(…) and tex(…) do"
        lint.add(path, one.line, "rounding", message)


def _message(typed: Typed) -> str:
    where = f" (“{typed.context}”)" if typed.context != typed.text else ""
    return f"{typed.text!r} {MENDED_BY[typed.kind]}{where}"


def _line_of(text: str, lines: list[str], start: int) -> int:
    """The first line from `start` on that holds `text`; YAML has folded the lines themselves."""
    return next((i for i in range(start, len(lines) + 1) if text in lines[i - 1]), start)


# ---------------------------------------------------------------------------- glossary


@dataclass(frozen=True)
class Term:
    """A term of the glossary, and what it is not called."""

    en: str
    pt: str
    avoid: str
    find: tuple[re.Pattern[str], ...]
    kept: str = ""
    split: bool = False


def glossary() -> tuple[Term, ...]:
    """The terms of chapters/glossary/glossary.toml, the verbs to avoid last (without a name)."""
    return _glossary(paths.CHAPTERS / "glossary" / "glossary.toml")


@cache
def _glossary(path: Path) -> tuple[Term, ...]:
    if not path.is_file():
        return ()
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
        terms = [
            Term(
                entry["en"],
                entry["pt"],
                entry["avoid"],
                tuple(_term_pattern(one) for one in entry["find"]),
                entry.get("kept", ""),
                bool(entry.get("split", False)),
            )
            for entry in content["term"]
        ]
        verbs = tuple(_term_pattern(one) for one in content.get("verbs", []))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, KeyError, re.error) as problem:
        raise LintError(f"{shown(path)}: {problem}") from problem
    return (*terms, Term("", "", "", verbs))


def _term_pattern(pattern: str) -> re.Pattern[str]:
    spaced = pattern.replace(" ", r"\s+")
    return re.compile(rf"(?<![\w-])(?:{spaced})(?![\w-])", re.IGNORECASE)


def _terms(lint: _Lint, path: Path, text: str, line: int) -> None:
    """Portuguese text that uses a word which the glossary avoids."""
    prose = Prose.of(text)
    words = _ITALIC.sub(lambda m: " " * len(m[0]), prose.text)
    for term in glossary():
        for pattern in term.find:
            for match in pattern.finditer(words):
                said = " ".join(match[0].split())
                if term.en == "attention" and said != "attention":
                    continue  # the title of a paper or of this book
                better = f"the book says {term.pt} ({term.en})" if term.en else "no such verb"
                at = prose.line(match.start()) + line - 1
                lint.add(path, at, "glossary", f"“{said}”: {better}")


# ---------------------------------------------------------------------------- references


def _check_references(lint: _Lint, edition: _Edition) -> None:
    path, source = edition.source.path, edition.source
    for slug in source.needs:
        if (slug, edition.language) not in lint.editions:
            line = source.lines.get("needs", 1)
            lint.add(path, line, "reference", f"needs: there is no chapter {slug!r}")
    used: set[str] = set()
    for cited in edition.text.outline.cited:
        if cited.is_number:
            lint.cited.add(cited.name)
            _check_path(lint, path, cited.line, cited.name)
        elif cited.kind == "const":
            used.add(cited.name)
        problem = _dead(lint, edition, cited)
        if problem:
            lint.add(path, cited.line, "reference", problem)
    for name in source.constants:
        if not any(fnmatchcase(name, pattern) for pattern in used):
            line = source.lines.get("constants", 1)
            line = _line_of(f"{name}:", path.read_text(encoding="utf-8").split("\n"), line)
            lint.add(path, line, "constant", f"the constant {name} is not used")


def _check_path(lint: _Lint, path: Path, line: int, name: str) -> None:
    experiment = name.split(".")[0]
    if "*" in experiment:
        return
    if "*" in name:
        if experiment not in experiments():
            lint.add(path, line, "reference", f"there is no experiment {experiment!r}")
        return
    if experiment in experiments() and not any((paths.RESULTS / experiment).glob("*.json")):
        return  # declared and not measured yet
    try:
        lint.book.get(name)
    except (RecordError, SourceError):
        pass  # of these some are not measured yet, or cannot be read: `engine check` says so, once
    except MedidaError as problem:
        lint.add(path, line, "reference", str(problem))


def _dead(lint: _Lint, edition: _Edition, cited: Cited) -> str:
    """What is wrong with a reference; "" if nothing is."""
    name, slug, language = cited.name, edition.chapter.slug, edition.language
    if "*" in name:
        return ""
    match cited.kind:
        case "const" if name not in edition.source.constants:
            return f"there is no constant {name!r} in the front matter"
        case "cite" if name not in lint.works:
            return f"there is no work {name!r} in chapters/bibliography/references.bib"
        case "claim" if name not in lint.claims[slug]:
            return f"there is no claim {name!r} in {shown(edition.chapter.folder)}/claims.toml"
        case "figure" if not (paths.FIGURES / f"{name}.py").is_file():
            return f"there is no figure {name!r} in figures/"
        case "listing":
            try:
                blocks.quote(name, cited.detail)
            except MedidaError as problem:
                return str(problem)
        case "widget" if not (paths.TEMPLATES / "widgets" / f"{name}.md.j2").is_file():
            return f"there is no panel {name!r} in templates/widgets/"
        case "ref":
            target = lint.editions.get((name, language))
            if target is None:
                return f"there is no chapter {name!r}"
            if cited.detail and cited.detail not in _anchors(target):
                return f"chapter {name} has no section #{cited.detail}"
        case _:
            pass
    return ""


def _anchors(edition: _Edition) -> set[str]:
    blocks_too = {f"{c.kind}-{c.name}" for c in edition.text.outline.cited}
    return set(edition.text.sections) | blocks_too


# ---------------------------------------------------------------------------- claims, parity


def _check_claims(lint: _Lint, chapter: Chapter, known: Known) -> None:
    path = chapter.folder / "claims.toml"
    lines = _table_lines(path)
    for name, claim in lint.claims[chapter.slug].items():
        line = lines.get(name, 1)
        for language in LANGUAGES:
            statement = str(claim.get(language, ""))
            at = _line_of(f"{language} =", path.read_text(encoding="utf-8").split("\n"), line)
            _text(lint, path, statement, language, known, at)
            for printed in outline(statement, shown(path), at).printed:
                _printed(lint, path, printed, language, known)
        source = str(claim.get("source", ""))
        if source and source not in lint.works:
            for typed in find(source, "en", known, line):
                lint.add(path, line, typed.kind, _message(typed))
        for cited in _paths_in(claim):
            lint.cited.add(cited)
            _check_path(lint, path, line, cited)
        shown_in = [e for (slug, _), e in lint.editions.items() if slug == chapter.slug]
        if shown_in and not any(
            fnmatchcase(name, c.name) for e in shown_in for c in e.text.outline.of("claim")
        ):
            lint.add(path, line, "unused", f"no page shows the claim {name}")


def _table_lines(path: Path) -> dict[str, int]:
    if not path.is_file():
        return {}
    lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
    heads = [(re.match(r"\[([\w-]+)\]", line), i) for i, line in enumerate(lines, 1)]
    return {head[1]: i for head, i in heads if head}


def _paths_in(claim: object) -> Iterator[str]:
    """Every path that a claim compares or states."""
    if isinstance(claim, Mapping):
        table = cast("Mapping[str, object]", claim)
        for key, value in table.items():
            if key in LANGUAGES:
                yield from (c.name for c in outline(str(value), key).cited if c.is_number)
            elif key not in ("source", "expected", "to"):
                yield from _paths_in(value)
    elif isinstance(claim, list):
        for value in cast("list[object]", claim):
            yield from _paths_in(value)
    elif isinstance(claim, str):
        yield claim


def _check_parity(lint: _Lint, chapter: Chapter, *, steps: bool = True) -> None:
    pt, en = (lint.editions.get((chapter.slug, language)) for language in LANGUAGES)
    claims, path = lint.claims[chapter.slug], chapter.folder / "claims.toml"
    found = list(parity.compare_claims(path, claims, _table_lines(path)))
    if pt is not None and en is not None:
        found += parity.compare(pt.text, en.text)
        for what in ("needs", "constants"):
            if _front(pt.source, what) != _front(en.source, what):
                line = en.source.lines.get(what, 1)
                message = f"{what} in the front matter are not those of {pt.source.path.name}"
                found.append(parity.Difference(en.source.path, line, "parity", message))
        if steps:
            try:
                found += parity.out_of_step(chapter, pt.text, en.text, claims)
            except LintError as problem:
                _add_error(lint, chapter.folder / parity.FILE, problem, "translation")
    for one in found:
        lint.add(one.path, one.line, one.kind, one.message)


def _front(source: Source, what: str) -> object:
    if what == "needs":
        return source.needs
    return {name: constant.typed for name, constant in source.constants.items()}


# ---------------------------------------------------------------------------- figures, panels, site


def _check_figures(lint: _Lint, known: Known) -> None:
    for path in sorted(paths.FIGURES.glob("*.py")):
        try:
            tree = ast.parse(path.read_text(encoding="utf-8"))
        except SyntaxError as problem:
            lint.add(path, problem.lineno or 1, "python", f"is not valid Python: {problem.msg}")
            continue
        for key, language, text, line in _figure_texts(tree):
            if language not in LANGUAGES:
                lint.add(path, line, "parity", f"the words {key!r} know no language {language!r}")
            else:
                _text(lint, path, text, language, known, line)
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                lint.cited.update(re.findall(r"[A-Za-z_]\w*(?:\.\w+)+", node.value))
            elif isinstance(node, ast.JoinedStr):
                lint.cited.add(_joined(node))


def _figure_texts(tree: ast.Module) -> Iterator[tuple[str, Language, str, int]]:
    """Key, language, text and line of every word that a figure holds in its TEXT."""
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else []
        named = any(isinstance(t, ast.Name) and t.id == "TEXT" for t in targets)
        if not named or not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Dict):
            continue
        for key, value in zip(node.value.keys, node.value.values, strict=True):
            if not isinstance(value, ast.Dict):
                continue
            for language, text in zip(value.keys, value.values, strict=True):
                if isinstance(language, ast.Constant) and isinstance(text, ast.Constant):
                    name = ast.unparse(key) if key else ""
                    yield name, cast("Language", language.value), str(text.value), text.lineno


def _joined(node: ast.JoinedStr) -> str:
    return "".join(
        str(part.value) if isinstance(part, ast.Constant) else "*" for part in node.values
    )


def _check_panels(lint: _Lint, known: Known) -> None:
    """Panels: what their templates cite, and their words, which stand in one file per panel."""
    folder = paths.TEMPLATES / "widgets"
    for path in sorted(folder.glob("*.md.j2")):
        try:
            cited = outline(path.read_text(encoding="utf-8"), shown(path)).cited
        except MedidaError as problem:
            _add_error(lint, path, problem, "template")
            continue
        except UnicodeDecodeError as problem:
            lint.add(path, 1, "template", f"not UTF-8 (byte {problem.start})")
            continue
        for one in cited:
            if one.is_number:
                lint.cited.add(one.name)
                _check_path(lint, path, one.line, one.name)
    for path in sorted(folder.glob("*.toml")):
        lines, words = _read_toml(lint, path)
        keys: dict[str, set[str]] = {}
        for language in LANGUAGES:
            texts = dict(_leaf_texts(words.get(language, {})))
            keys[language] = set(texts)
            start = _line_of(f"[{language}]", lines, 1)
            for said in texts.values():
                _text(lint, path, said, language, known, _line_of(said, lines, start))
        for key in sorted(keys["pt"] ^ keys["en"]):
            lint.add(path, 1, "parity", f"{key} stands in one language only")


def _check_labels(lint: _Lint, known: Known) -> None:
    """What paths are called in words: its numbers are parts of the path, or settings of its runs.

    Fractions in words stay: they say what was counted ("a chance above one half").
    """
    path = paths.CHAPTERS / "labels.toml"
    for pattern, text, language, line in _toml_texts(lint, path):
        own = set(re.findall(r"\d+", pattern))
        for typed in find(re.sub(r"\{\d+\}", "…", text), language, known, line):
            if typed.kind == "number" and typed.text not in own | _settings_of(pattern):
                lint.add(path, line, "number", _message(typed))


def _settings_of(pattern: str) -> set[str]:
    """The numbers among the settings of the experiment that a label's paths lie in."""
    try:
        runs = declaration(pattern.split(".")[0]).runs
    except MedidaError:
        return set()
    return {
        str(value)
        for run in runs
        for value in run.settings.values()
        if isinstance(value, int | float) and not isinstance(value, bool)
    }


def _check_words(lint: _Lint, known: Known) -> None:
    """The words that the book writes around a chapter; only a whole is 100% by itself."""
    path = paths.TEMPLATES / "words.toml"
    for _, text, language, line in _toml_texts(lint, path):
        for typed in find(re.sub(r"\{\w*\}", "…", text), language, known, line):
            if typed.text != "100%":
                lint.add(path, line, typed.kind, _message(typed))


def _toml_texts(lint: _Lint, path: Path) -> Iterator[tuple[str, str, Language, int]]:
    """Name, text, language and line of each string of a file that holds both languages."""
    lines, content = _read_toml(lint, path) if path.is_file() else ([], {})
    by_language = set(content) == set(LANGUAGES)
    for name, table in content.items():
        if not isinstance(table, Mapping):
            continue
        start = _line_of(f"[{name}]" if by_language else f'"{name}"', lines, 1)
        for key, text in _leaf_texts(cast("Mapping[str, Any]", table)):
            language = cast("Language", name if by_language else key)
            pieces = re.findall(r"[^'\"\[\],]{3,}", text) if text.startswith("[") else [text]
            for piece in pieces:
                yield (key if by_language else name), piece, language, _line_of(piece, lines, start)


def _read_toml(lint: _Lint, path: Path) -> tuple[list[str], dict[str, Any]]:
    """The lines and the content of a file; where it cannot be read, a finding and nothing."""
    try:
        text = path.read_text(encoding="utf-8")
        return text.split("\n"), tomllib.loads(text)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        lint.add(path, 1, "template", str(problem))
        return [], {}


def _leaf_texts(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _leaf_texts(cast("Mapping[str, Any]", value), f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", str(value)


def _check_site(lint: _Lint, known: Known) -> None:
    """The texts of the site's own configuration: its name, the titles of the parts, the labels."""
    for name, language in (("mkdocs.yml", "pt"), ("mkdocs.en.yml", "en")):
        path = paths.ROOT / name
        if not path.is_file():
            continue
        try:
            compose = cast("Callable[[str], Any]", yaml.compose)  # pyright: ignore[reportUnknownMemberType]
            root: Any = compose(path.read_text(encoding="utf-8"))
        except yaml.YAMLError as problem:
            lint.add(path, 1, "template", str(problem).split("\n")[0])
            continue
        for text, line in _site_texts(root, False):
            _text(lint, path, text, cast("Language", language), known, line)


def _site_texts(node: Any, inside: bool) -> Iterator[tuple[str, int]]:
    if isinstance(node, yaml.MappingNode):
        for key, value in cast("list[tuple[Any, Any]]", node.value):
            yield from _site_texts(value, inside or key.value in _SITE_TEXTS)
    elif isinstance(node, yaml.SequenceNode):
        for value in cast("list[Any]", node.value):
            yield from _site_texts(value, inside)
    elif isinstance(node, yaml.ScalarNode) and inside and node.tag.endswith(":str"):
        yield str(node.value), int(node.start_mark.line) + 1


# ---------------------------------------------------------------------------- unused


def _check_unused(lint: _Lint) -> None:
    outlines = [edition.text.outline for edition in lint.editions.values()]
    for path in sorted(paths.FIGURES.glob("*.py")):
        if "\ndef draw(" in path.read_text(encoding="utf-8") and not _named(
            outlines, "figure", path.stem
        ):
            lint.add(path, 1, "unused", f"no page shows the figure {path.stem}")
    references = paths.CHAPTERS / "bibliography" / "references.bib"
    sources = {str(c.get("source", "")) for claims in lint.claims.values() for c in claims.values()}
    for key in lint.works:
        if not _named(outlines, "cite", key) and key not in sources:
            lint.add(references, 1, "unused", f"no page cites the work {key}")
    used = _records_used(lint)
    for path in sorted(paths.RESULTS.glob("*/*.json")):
        prefix = _prefix(path)
        if not any(_reaches(name, prefix) for name in used):
            lint.add(path, 1, "unused", f"no page, claim or figure cites the record {prefix}")


def _named(outlines: Iterable[Outline], kind: str, name: str) -> bool:
    return any(fnmatchcase(name, c.name) for one in outlines for c in one.of(kind))


def _records_used(lint: _Lint) -> set[str]:
    """Cited paths, and the same with the aliases of their experiments resolved."""
    return lint.cited | lint.book.cited


def _prefix(path: Path) -> str:
    """The path below which the values of a record lie: "averages.mean" for mean.s0.json."""
    row = re.sub(r"(?:^|\.)s\d+$|^all$", "", path.name.removesuffix(".json"))
    return f"{path.parent.name}.{row}" if row else path.parent.name


def _reaches(cited: str, prefix: str) -> bool:
    """Whether a cited path, perhaps with unknown parts, may lie below `prefix`."""
    parts, wanted = cited.split("."), prefix.split(".")
    if len(parts) < len(wanted) and "*" not in cited:
        return prefix.startswith(f"{cited}.")
    return fnmatchcase(prefix, ".".join(parts[: len(wanted)])) or (
        "*" in cited and fnmatchcase(f"{prefix}.x", cited)
    )
