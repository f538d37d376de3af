"""Do the two languages of a chapter say the same, and were they read side by side as they stand?

In: both templates of a chapter and its claims. Out: what differs. Two things are compared:

* What each section cites. Sections are known by their anchors, which both languages share. The
  numbers and constants of a section must be the same, the same number of times, in any order, and
  so what is calculated from them (a ratio, one seed); so must works and the formulas that hold
  digits, however often each is named. Figures, tables, listings, claims, exercises and the like
  must come in the same order.
* When each section was last read beside its counterpart. `python -m engine lint --reviewed CHAPTER`
  writes `translation.toml` into the chapter's folder: for each section and language a short hash of
  every paragraph. A section of which one language changed since is out of step, whatever the dates
  of the files say, and the first paragraph that changed is named.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from engine.chapters import LANGUAGES, Chapter, Source
from engine.errors import LintError
from engine.number_words import BOUND
from engine.outline import BLOCKS, Cited, Outline, outline
from engine.paths import shown
from engine.record import write_atomically
from engine.typed import FENCE, TEMPLATE, Prose, filled

FILE = "translation.toml"
OPENING = "opening"
HASHED = 10  # characters of a paragraph's hash
_HEADING = re.compile(r"^(#{1,6})[ \t]+(.*?)[ \t]*(\{[^{}\n]*\})?[ \t]*$", re.MULTILINE)
_ANCHOR = re.compile(r"#([A-Za-z0-9_.:-]+)")
_COMMENT = re.compile(r"<#.*?#>", re.DOTALL)
_NAMES = {"pt": "Portuguese", "en": "English"}


@dataclass(frozen=True)
class Difference:
    """Where the languages of a chapter part; `path` and `line` are where to look."""

    path: Path
    line: int
    kind: str
    message: str


@dataclass
class Section:
    """One section in one language, from its heading to the next."""

    anchor: str
    level: int
    line: int
    text: str
    cited: list[Cited] = field(default_factory=list[Cited])
    formulas: set[str] = field(default_factory=set[str])
    labels: set[str] = field(default_factory=set[str])
    front: tuple[tuple[int, str], ...] = ()

    @property
    def name(self) -> str:
        return "the opening" if self.anchor == OPENING else f"#{self.anchor}"

    def paragraphs(self) -> Iterator[tuple[int, str]]:
        """Line and text of each paragraph, white space made single, comments left out."""
        for line, text in self.front:
            yield line, " ".join(text.split())
        text = _COMMENT.sub(lambda m: "\n" * m[0].count("\n"), self.text)
        line, held = self.line, list[str]()
        start = line
        for row in [*text.split("\n"), ""]:
            if row.strip():
                start = start if held else line
                held.append(row)
            elif held:
                yield start, " ".join(" ".join(held).split())
                held = []
            line += 1


@dataclass
class Text:
    """One chapter in one language, cut into its sections."""

    path: Path
    sections: dict[str, Section]
    outline: Outline
    problems: list[Difference]


def read(chapter: Chapter, source: Source) -> Text:
    """The sections of a chapter. Raises LintError where the template cannot be parsed."""
    path = source.path
    front = tuple(
        (source.lines.get(key, 1), getattr(source, key)) for key in ("title", "question", "after")
    )
    prose = Prose.of(source.body)
    problems: list[Difference] = []
    sections = {OPENING: Section(OPENING, 0, 1, "", front=front)}
    starts = [(0, OPENING)]
    for heading in _HEADING.finditer(_without_code(source.body)):
        line = source.body.count("\n", 0, heading.start()) + 1
        anchor = _ANCHOR.search(heading[3] or "")
        if anchor is None:
            problems.append(
                Difference(
                    path, line, "parity", f"the heading “{heading[2]}” has no anchor {{ #name }}"
                )
            )
        name = anchor[1] if anchor else f"line-{line}"
        if name in sections:
            problems.append(
                Difference(path, line, "parity", f"the anchor #{name} stands twice in this chapter")
            )
            name = f"{name}-{line}"
        sections[name] = Section(name, len(heading[1]), line, "")
        starts.append((heading.start(), name))
    ends = [*(start for start, _ in starts[1:]), len(source.body)]
    for (start, name), end in zip(starts, ends, strict=True):
        sections[name].text = source.body[start:end]

    def section_at(line: int) -> Section:
        return [s for s in sections.values() if s.line <= line][-1]

    found = outline(source.body, shown(path))
    opening = [c for line, text in front for c in outline(text, shown(path), line).cited]
    sections[OPENING].cited = list(opening)
    for cited in found.cited:
        section_at(cited.line).cited.append(cited)
    found.cited = [*opening, *found.cited]
    for position, tex in prose.formulas:
        section = section_at(prose.line(position))
        section.labels |= set(re.findall(r"\\label\{([^{}]*)\}", tex))
        if re.search(r"\d", tex):
            section.formulas.add(_formula(tex))
    return Text(path, sections, found, problems)


def _without_code(text: str) -> str:
    """Expressions, comments and fenced code blank, so that "#" in them is no heading."""
    return FENCE.sub(lambda m: filled(m[0], " "), TEMPLATE.sub(lambda m: filled(m[0], " "), text))


def _formula(tex: str) -> str:
    """A formula as both languages would write it: no words, no space, one spelling of the sine."""
    tex = re.sub(r"\\label\{[^{}]*\}|\\(?:text|mbox)\s*\{[^{}]*\}", "", tex)
    tex = re.sub(rf"{BOUND}+", BOUND, tex)
    tex = re.sub(r"\\(?:operatorname\{sen\}|sin)(?![a-z])", r"\\sin ", tex)
    tex = re.sub(r"\\(?:[,;:! ]|quad|qquad)", "", tex)
    return re.sub(r"\s+|[.,;]\s*$", "", re.sub(r"[.,;]\s*$", "", tex.strip()))


# ---------------------------------------------------------------------------- what is cited


def compare(pt: Text, en: Text) -> list[Difference]:
    """What the two languages of a chapter cite differently, section by section."""
    out = [*pt.problems, *en.problems]
    for here, there in ((pt, en), (en, pt)):
        for anchor, section in here.sections.items():
            if anchor not in there.sections:
                message = f"section #{anchor} is missing here; it stands in {here.path.name}"
                near = _line_before(section, here, there)
                out.append(Difference(there.path, near, "parity", f"{message}:{section.line}"))
    shared = [anchor for anchor in pt.sections if anchor in en.sections]
    order = [anchor for anchor in en.sections if anchor in pt.sections]
    if shared != order:
        first = next(a for a, b in zip(order, shared, strict=True) if a != b)
        out.append(
            Difference(
                en.path, en.sections[first].line, "parity",
                f"section #{first} comes in another order than in {pt.path.name}",
            )
        )  # fmt: skip
    for anchor in shared:
        out += _compare_section(pt, en, pt.sections[anchor], en.sections[anchor])
    return out


def _line_before(section: Section, here: Text, there: Text) -> int:
    """Where in `there` a section that only `here` has would be expected."""
    before = 1
    for anchor in here.sections:
        if anchor == section.anchor:
            break
        if anchor in there.sections:
            before = there.sections[anchor].line
    return before


def _compare_section(pt: Text, en: Text, left: Section, right: Section) -> Iterator[Difference]:
    def differ(message: str, *lines: tuple[Text, int]) -> Difference:
        text, line = lines[0] if lines else (en, right.line)
        return Difference(text.path, line, "parity", message)

    if left.level != right.level:
        yield differ(f"{right.name} is a heading of another level than in {pt.path.name}")
    for kind, what in (
        ("number", "number"),
        ("const", "constant"),
        ("seeds", "strip of seeds"),
        ("computed", "calculation"),
        ("set", "name set to"),
    ):
        counts = [Counter(_key(c) for c in s.cited if _kind(c) == kind) for s in (left, right)]
        for text, section, more, less in (
            (en, right, counts[0], counts[1]),
            (pt, left, counts[1], counts[0]),
        ):
            other = pt if text is en else en
            for path, missing in sorted((more - less).items()):
                again = f" ({missing} fewer than in {other.path.name})" if less[path] else ""
                there = left if section is right else right
                at = next(c.line for c in there.cited if _key(c) == path)
                yield differ(
                    f"{section.name} does not cite the {what} {path}{again}; "
                    f"{other.path.name}:{at} does",
                    (text, section.line),
                )
    works = [{c.name for c in s.cited if c.kind == "cite"} for s in (left, right)]
    yield from _sets(works, "work", pt, en, left, right)
    yield from _sets([left.formulas, right.formulas], "formula", pt, en, left, right)
    yield from _sets([left.labels, right.labels], "equation", pt, en, left, right)
    blocks = [[c for c in s.cited if c.kind in BLOCKS] for s in (left, right)]
    for first, second in zip(*blocks, strict=False):
        if (first.kind, first.name, first.detail) != (second.kind, second.name, second.detail):
            yield differ(
                f"{right.name}: {_said(second)} stands where {pt.path.name}:{first.line} has "
                f"{_said(first)}",
                (en, second.line),
            )
            return
    for text, mine, theirs in ((en, blocks[1], blocks[0]), (pt, blocks[0], blocks[1])):
        for cited in theirs[len(mine) :]:
            other = pt if text is en else en
            yield differ(
                f"{right.name} lacks {_said(cited)} of {other.path.name}:{cited.line}",
                (text, (right if text is en else left).line),
            )
    yield from _compare_formats(pt, en, left, right)


def _compare_formats(pt: Text, en: Text, left: Section, right: Section) -> Iterator[Difference]:
    """The same number in the same format shows the same digits in both languages."""
    formats = [
        {
            (c.name, c.format[0]): sorted(
                repr(o.format[1])
                for o in s.cited
                if o.format and (o.name, o.format[0]) == (c.name, c.format[0])
            )
            for c in s.cited
            if c.format
        }
        for s in (left, right)
    ]
    for key in formats[0].keys() & formats[1].keys():
        mine, theirs = formats[1][key], formats[0][key]
        if len(mine) == len(theirs) and mine != theirs:
            line = next(c.line for c in right.cited if c.format and (c.name, c.format[0]) == key)
            yield Difference(
                en.path, line, "parity",
                f"{key[0]} is shown with {key[1]}={', '.join(mine)} here and with "
                f"{', '.join(theirs)} in {pt.path.name}",
            )  # fmt: skip


def _sets(
    sets: list[set[str]], what: str, pt: Text, en: Text, left: Section, right: Section
) -> Iterator[Difference]:
    for text, section, missing, other in (
        (en, right, sets[0] - sets[1], pt),
        (pt, left, sets[1] - sets[0], en),
    ):
        for name in sorted(missing):
            shown_name = name.replace(BOUND, "…")
            yield Difference(
                text.path, section.line, "parity",
                f"{section.name} lacks the {what} {shown_name} of {other.path.name}",
            )  # fmt: skip


def _kind(cited: Cited) -> str:
    return "seeds" if cited.kind == "seeds" else "number" if cited.is_number else cited.kind


def _key(cited: Cited) -> str:
    return f"{cited.name} ({cited.detail})" if cited.detail else cited.name


def _said(cited: Cited) -> str:
    parts = [cited.kind, *(p for p in (cited.name, cited.detail) if p and p != "?")]
    return " ".join(parts)


# ---------------------------------------------------------------------------- read side by side


def compare_claims(
    path: Path, claims: Mapping[str, Mapping[str, Any]], lines: Mapping[str, int]
) -> Iterator[Difference]:
    """Claims whose statement in one language is missing or cites other numbers."""
    for name, claim in claims.items():
        line = lines.get(name, 1)
        texts = [claim.get(language) for language in LANGUAGES]
        for language, text in zip(LANGUAGES, texts, strict=True):
            if not isinstance(text, str) or not text.strip():
                yield Difference(path, line, "parity", f"claim {name} has no {language} statement")
        if all(isinstance(text, str) for text in texts):
            cited = [
                Counter(c.name for c in outline(str(text), shown(path), line).cited if c.is_number)
                for text in texts
            ]
            if cited[0] != cited[1]:
                paths = ", ".join(sorted((cited[0] - cited[1]) + (cited[1] - cited[0])))
                yield Difference(
                    path, line, "parity", f"claim {name}: only one language cites {paths}"
                )


def review(chapter: Chapter, pt: Text, en: Text, claims: Mapping[str, Mapping[str, Any]]) -> Path:
    """Write down that both languages of every section were read side by side as they stand."""
    lines = [
        "# Both languages of each section were read side by side as they stood when these hashes",
        "# of their paragraphs were taken. Written by: python -m engine lint --reviewed "
        + chapter.slug,
    ]
    for table, content in _hashes(pt, en, claims).items():
        lines += ["", f"[{table}]"]
        for language in LANGUAGES:
            hashes = ", ".join(f'"{one}"' for one in content[language])
            lines.append(f"{language} = [{hashes}]")
    path = chapter.folder / FILE
    command = f"python -m engine lint --reviewed {chapter.slug}"
    write_atomically(path, ("\n".join(lines) + "\n").encode(), shown(path), command)
    return path


def out_of_step(
    chapter: Chapter, pt: Text, en: Text, claims: Mapping[str, Mapping[str, Any]]
) -> Iterator[Difference]:
    """Sections of which a language changed since both were read side by side."""
    path = chapter.folder / FILE
    command = f"python -m engine lint --reviewed {chapter.slug}"
    if not path.is_file():
        yield Difference(
            en.path, 1, "translation",
            f"nobody has read both languages of this chapter side by side; then: {command}",
        )  # fmt: skip
        return
    try:
        recorded = _flat(tomllib.loads(path.read_text(encoding="utf-8")))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as problem:
        raise LintError(f"{shown(path)}: {problem}; write it again with: {command}") from problem
    current = _hashes(pt, en, claims)
    for table in recorded.keys() - current.keys():
        yield Difference(
            path, 1, "translation", f"{table} is gone; read its neighbours and run: {command}"
        )
    for table, now in current.items():
        then = recorded.get(table)
        name = table.split(".", 1)[1].strip('"')
        is_claim = table.startswith("claims.")
        where = f"claim {name}" if is_claim else pt.sections[name].name
        line = 1 if is_claim else en.sections[name].line
        if then is None:
            yield Difference(
                en.path, line, "translation",
                f"{where} was never read beside its Portuguese; then: {command}",
            )  # fmt: skip
            continue
        changed = [language for language in LANGUAGES if now[language] != then.get(language)]
        if not changed:
            continue
        first = changed[0]
        text = pt if first == "pt" else en
        at, words = (
            (line, "")
            if is_claim
            else _first_change(text.sections[name], now[first], then.get(first, []))
        )
        if len(changed) == 2:
            yield Difference(
                text.path, at, "translation",
                f"{where} changed in both languages since they were read side by side{words}; "
                f"read them again, then: {command}",
            )  # fmt: skip
        else:
            other = "en" if first == "pt" else "pt"
            yield Difference(
                text.path, at, "translation",
                f"{where} changed in {_NAMES[first]} and not in {_NAMES[other]}{words}; bring "
                f"{other}.md.j2 into step, then: {command}",
            )  # fmt: skip


def _hashes(
    pt: Text, en: Text, claims: Mapping[str, Mapping[str, Any]]
) -> dict[str, dict[str, list[str]]]:
    """Table of translation.toml -> language -> hashes of the paragraphs, in order."""
    out: dict[str, dict[str, list[str]]] = {}
    for anchor in pt.sections:
        if anchor in en.sections:
            out[f'sections."{anchor}"'] = {
                language: [_hash(p) for _, p in text.sections[anchor].paragraphs()]
                for language, text in (("pt", pt), ("en", en))
            }
    for name, claim in claims.items():
        out[f'claims."{name}"'] = {
            language: [_hash(" ".join(str(claim.get(language, "")).split()))]
            for language in LANGUAGES
        }
    return out


def _flat(content: dict[str, Any]) -> dict[str, dict[str, list[str]]]:
    tables = cast("dict[str, dict[str, dict[str, list[str]]]]", content)
    return {
        f'{group}."{name}"': entry
        for group, entries in tables.items()
        for name, entry in entries.items()
    }


def _first_change(section: Section, now: Iterable[str], then: Iterable[str]) -> tuple[int, str]:
    """Line and first words of the first paragraph that is not as it was read."""
    known = set(then)
    for (line, text), digest in zip(section.paragraphs(), now, strict=True):
        if digest not in known:
            start = " ".join(text.split()[:6])
            return line, f" (“{start}…”)"
    return section.line, ""


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:HASHED]
