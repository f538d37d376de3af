"""Which chapters does the book have, and what does each say about itself?

A chapter is a folder `chapters/<NN-slug>/` with `pt.md.j2`, `en.md.j2` and perhaps `claims.toml`.
In: the folders. Out: the chapters in reading order (the home page, those with a number, the
appendices) and the front matter of each, checked, not yet rendered.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import yaml

from engine import paths
from engine.errors import RenderError
from engine.number import Language

LANGUAGES: tuple[Language, ...] = ("pt", "en")
HOME = "index"
_NUMBERED = re.compile(r"(\d\d)-[a-z0-9-]+")
_DIGITS = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?")
_KNOWN = ("title", "question", "needs", "after", "constants", "order")
_APPENDICES = 1000  # the number after which those without one are sorted


@dataclass(frozen=True)
class Chapter:
    """One chapter of the book, the same in both languages."""

    slug: str
    folder: Path

    @property
    def number(self) -> int | None:
        match = _NUMBERED.fullmatch(self.slug)
        return int(match[1]) if match else None

    @property
    def src_uri(self) -> str:
        return f"{self.slug}.md"

    @property
    def url(self) -> str:
        return "" if self.slug == HOME else f"{self.slug}/"

    def template(self, language: Language) -> Path:
        return self.folder / f"{language}.md.j2"


@dataclass(frozen=True)
class Constant:
    """A number that is typed, not measured, and why it may be; shown with the decimals typed."""

    value: int | float | str
    typed: str
    why: str


@dataclass(frozen=True)
class Source:
    """A chapter's template in one language, its front matter taken apart.

    `body` keeps the lines of the front matter, blank, so that an error names the line of the file.
    """

    path: Path
    title: str
    question: str
    after: str
    needs: tuple[str, ...]
    constants: dict[str, Constant]
    order: int
    body: str
    lines: dict[str, int] = field(default_factory=dict[str, int])


def chapters() -> tuple[Chapter, ...]:
    """Every chapter in reading order. A folder is a chapter when a template lies in it."""
    if not paths.CHAPTERS.is_dir():
        return ()
    found = [
        Chapter(folder.name, folder)
        for folder in paths.CHAPTERS.iterdir()
        if any((folder / f"{language}.md.j2").is_file() for language in LANGUAGES)
    ]
    return tuple(sorted(found, key=_place))


def read_source(chapter: Chapter, language: Language) -> Source:
    """The template of `chapter` in `language`. Raises RenderError: missing, or bad front matter."""
    path = chapter.template(language)
    name = paths.shown(path)
    if not path.is_file():
        raise RenderError(f"{name} is missing: every chapter stands in both languages")
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as problem:
        raise RenderError(f"{name}: not UTF-8 (byte {problem.start})") from problem
    lines = text.split("\n")
    end = next((i for i, line in enumerate(lines[1:], 1) if line.rstrip() == "---"), 0)
    if lines[0].rstrip() != "---" or not end:
        raise RenderError(f"{name}:1: a chapter begins with front matter between two lines of ---")
    front = "\n".join(lines[1:end])
    try:
        loaded: object = yaml.safe_load(front)
    except yaml.MarkedYAMLError as problem:
        at = problem.problem_mark.line + 2 if problem.problem_mark else 1
        raise RenderError(f"{name}:{at}: front matter: {problem.problem}") from problem
    if not isinstance(loaded, dict):
        raise RenderError(f"{name}:1: front matter holds names and values")
    values = cast("dict[str, Any]", loaded)
    at = {
        key: next((i + 1 for i, line in enumerate(lines[:end]) if line.startswith(f"{key}:")), 1)
        for key in values
    }

    def bad(key: str, what: str) -> RenderError:
        return RenderError(f"{name}:{at.get(key, 1)}: front matter: {key} {what}")

    for key in values:
        if key not in _KNOWN:
            raise bad(key, f"is not one of {', '.join(_KNOWN)}")
    texts = {key: values.get(key, "") for key in ("title", "question", "after")}
    for key, value in texts.items():
        if not isinstance(value, str):
            raise bad(key, "is text (put it in quotes)")
    if not texts["title"].strip():
        raise RenderError(f"{name}:1: front matter: title is missing")
    needs: object = values.get("needs") or []
    if not isinstance(needs, list) or not all(isinstance(n, str) for n in cast("list[Any]", needs)):
        raise bad("needs", "is a list of chapters, such as [02-average]")
    order: object = values.get("order", 0)
    if not isinstance(order, int):
        raise bad("order", "is a whole number")
    return Source(
        path=path,
        title=texts["title"].strip(),
        question=texts["question"].strip(),
        after=texts["after"].strip(),
        needs=tuple(cast("list[str]", needs)),
        constants=_constants(values.get("constants") or {}, front, bad),
        order=order,
        body="\n" * (end + 1) + "\n".join(lines[end + 1 :]),
        lines=at,
    )


def _constants(given: object, front: str, bad: Any) -> dict[str, Constant]:
    if not isinstance(given, dict):
        raise bad("constants", "is a table of name: {value: …, why: …}")
    out: dict[str, Constant] = {}
    as_typed = _as_typed(front) if given else {}
    for name, entry in cast("dict[Any, Any]", given).items():
        match entry:
            case {"value": int() | float() | str() as value, "why": str() as why} if (
                len(cast("dict[str, Any]", entry)) == 2
                and why.strip()
                and isinstance(name, str)  # YAML makes a truth of yes, a number of 5
            ):
                typed = as_typed[name]
                if not isinstance(value, str) and not _DIGITS.fullmatch(typed):
                    raise bad("constants", f"{name} is typed {typed}: digits, as in 12 or 0.5")
                out[name] = Constant(value, typed, why)
            case _:
                raise bad("constants", f"{name} needs a value and a reason: {{value: …, why: …}}")
    return out


def _as_typed(front: str) -> dict[str, str]:
    """The value of each constant as it stands in the file, before YAML makes a number of it."""
    root: Any = yaml.SafeLoader(front).get_single_node()
    constants = {key.value: value for key, value in root.value}["constants"]
    return {
        name.value: field.value
        for name, entry in constants.value
        if isinstance(entry, yaml.MappingNode)
        for key, field in entry.value
        if key.value == "value"
    }


def _place(chapter: Chapter) -> tuple[int, int, str]:
    if chapter.slug == HOME:
        return (-1, 0, "")
    if chapter.number is not None:
        return (chapter.number, 0, chapter.slug)
    try:
        order = read_source(chapter, "pt").order
    except RenderError:  # said when the chapter itself is rendered
        order = 0
    return (_APPENDICES, order, chapter.slug)
