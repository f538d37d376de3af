"""What stands inside a table, a listing, a figure and a claim?

In: sources with section markers, drawn charts, the quantities of a table's cells. Out: the quoted
code, the inlined chart, the notes that a table must carry, the coordinates of the small rulers.
Nothing here knows a template or a page.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from engine import marks, paths
from engine.errors import RenderError

WIDEST_LINE = 64
SHORTEST_COMMON = 8  # characters at the beginning: less is not worth telling apart
_MARKER = re.compile(r"\s*(?:#|//|--)\s*(listing|end):\s*([a-z0-9_-]+)\s*$")
_LEXERS = {
    ".py": "python", ".ts": "typescript", ".toml": "toml", ".yaml": "yaml", ".yml": "yaml",
    ".sh": "bash", ".json": "json", ".smk": "python", "": "python",
}  # fmt: skip
_COUNT = re.compile(r"\d[\d.,\s]*")
_SHAPE = re.compile(r'<span class="c1">(#\s*\([^<]*)</span>')
_ONE_RING = rf"{marks.OPEN}{marks.RING}([\ue010-\ue019]+){marks.CLOSE}"
_RING = re.compile(_ONE_RING)
_UNKNOWN_RINGS = re.compile(rf'<span class="err">((?:{_ONE_RING})+)</span>')


# ---------------------------------------------------------------------------- listings


@dataclass(frozen=True)
class Quote:
    """A section of a source file as a listing shows it."""

    path: str
    lines: tuple[str, ...]
    first_line: int
    lexer: str

    def fence(self, rings: Mapping[str, int | Sequence[int]]) -> str:
        """The section as fenced code, each ring at the end of its line."""
        ends: dict[int, str] = {}
        for fragment, steps in rings.items():
            at = [i for i, line in enumerate(self.lines) if fragment in line]
            if len(at) != 1:
                raise RenderError(
                    f"{self.path}: the ring at {fragment!r} needs exactly one line with it, "
                    f"found {len(at)}"
                )
            for step in [steps] if isinstance(steps, int) else steps:
                ends[at[0]] = ends.get(at[0], "") + marks.mark(marks.RING, step)
        body = "\n".join(line + ends.get(i, "") for i, line in enumerate(self.lines))
        return f"```{self.lexer}\n{body}\n```"


def line_of(path: str, name: str) -> int:
    """The first line of a source file where `name` stands as a word of its own, counted from one.

    Raises RenderError: the file cannot be read, or the name is not in it.
    """
    file = paths.ROOT / path
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except OSError as problem:
        raise RenderError(f"{path}: cannot be read ({problem.strerror})") from problem
    word = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    for number, line in enumerate(lines, start=1):
        if word.search(line):
            return number
    raise RenderError(f"{path}: the name {name} does not stand there")


def quote(path: str, section: str) -> Quote:
    """The lines of `path` between `# listing: section` and `# end: section`, dedented.

    Markers of other sections inside are left out. Raises RenderError: a path outside the
    repository, a marker that is missing or stands twice, a line too wide for the page.
    """
    file = (paths.ROOT / path).resolve()
    if not file.is_relative_to(paths.ROOT.resolve()):
        raise RenderError(f"{path} lies outside the repository")
    try:
        source = file.read_text(encoding="utf-8").splitlines()
    except OSError as problem:
        raise RenderError(f"{path}: cannot be read ({problem.strerror})") from problem
    at: dict[str, list[int]] = {"listing": [], "end": []}
    known: set[str] = set()
    marker_lines: set[int] = set()
    for i, line in enumerate(source):
        match = _MARKER.match(line)
        if match:
            marker_lines.add(i)
            known.add(match[2])
            if match[2] == section:
                at[match[1]].append(i)
    for word, lines in at.items():
        if len(lines) != 1:
            found = f"stands {len(lines)} times" if lines else "is missing"
            others = f" (sections there: {', '.join(sorted(known))})" if known else ""
            raise RenderError(f"{path}: the marker '# {word}: {section}' {found}{others}")
    start, end = at["listing"][0], at["end"][0]
    if end <= start:
        raise RenderError(f"{path}:{end + 1}: '# end: {section}' stands before its beginning")
    kept = [(i, source[i]) for i in range(start + 1, end) if i not in marker_lines]
    text = textwrap.dedent("\n".join(line for _, line in kept)).rstrip()
    lines = text.lstrip("\n").split("\n")
    skipped = len(text.split("\n")) - len(lines)
    if not text.strip():
        raise RenderError(f"{path}:{start + 1}: the section {section} is empty")
    for (i, _), line in zip(kept[skipped:], lines, strict=False):
        if len(line) > WIDEST_LINE:
            raise RenderError(
                f"{path}:{i + 1}: {len(line)} columns in listing {section}, at most {WIDEST_LINE}"
            )
    return Quote(path, tuple(lines), kept[skipped][0] + 1, _LEXERS.get(file.suffix, "text"))


def finish_code(html: str) -> str:
    """Highlighted code with its rings, which are drawn and never copied, and its shapes marked."""

    def ring(match: re.Match[str]) -> str:
        step = "".join(str(ord(digit) - 0xE010) for digit in match[1])
        return f'<span class="mk" data-s="{step}"></span>'

    html = _SHAPE.sub(r'<span class="c1 sh">\1</span>', html)
    if marks.RING not in html:
        return html
    return _RING.sub(ring, _UNKNOWN_RINGS.sub(r"\1", html))  # Pygments does not know the mark


# ---------------------------------------------------------------------------- figures


def drawn(name: str, language: str, width: str) -> str:
    """A chart as it is inlined: its ids made its own, since a page holds many charts."""
    path = figure_file(name, f".{language}.{width}.svg")
    text = path.read_text(encoding="utf-8")
    start = text.find("<svg")
    if start < 0:
        raise RenderError(f"{paths.shown(path)} holds no chart: python -m figures draw {name}")
    text = text[start:].strip()
    own = f"{name}-{width}-"
    text = re.sub(r'\bid="([^"]+)"', rf'id="{own}\1"', text)
    text = re.sub(r"url\(#([^)]+)\)", rf"url(#{own}\1)", text)
    text = re.sub(r'href="#([^"]+)"', rf'href="#{own}\1"', text)
    return text.replace("<svg", '<svg aria-hidden="true" focusable="false"', 1)


def figure_file(name: str, suffix: str) -> Path:
    path = paths.DRAWN / f"{name}{suffix}"
    if not path.is_file():
        raise RenderError(f"figure {name} is not drawn yet: python -m figures draw {name}")
    return path


def drawn_from(name: str) -> tuple[str, ...]:
    """The paths of the records that a figure was drawn from."""
    path = figure_file(name, ".json")
    loaded: object = json.loads(path.read_text(encoding="utf-8"))
    found = cast("dict[str, object]", loaded).get("paths") if isinstance(loaded, dict) else None
    if not isinstance(found, list):
        raise RenderError(f"{paths.shown(path)} names no paths: python -m figures draw {name}")
    return tuple(map(str, cast("list[object]", found)))


# ---------------------------------------------------------------------------- tables


def shares_off(groups: Sequence[Sequence[tuple[float, float]]]) -> bool:
    """Whether some group of shares, each (exact, percentage as shown), is a whole that its rounded
    parts miss. A last cell that is the total of the others is not a part."""

    def off(group: Sequence[tuple[float, float]]) -> bool:
        exact = sum(value for value, _ in group)
        shown = sum(percentage for _, percentage in group)
        return abs(exact - 1) < 1e-9 and abs(shown - 100) > 1e-9

    return any(
        len(part) > 1 and off(part)
        for group in groups
        for part in (group, group[:-1] if group and abs(group[-1][0] - 1) < 1e-9 else ())
    )


# ---------------------------------------------------------------------------- claims


def told_apart(names: Sequence[str]) -> tuple[str, list[str], str] | None:
    """What names have in common before ("perplexity, row ") and after, and between these what tells
    them apart ("mean", "none"); None where that would not be shorter or clearer."""
    if len(names) < 2:
        return None
    words = [re.findall(r"\w+(?:-\w+)*|\W+", name) for name in names]
    shortest = min(map(len, words))
    start = 0
    while start < shortest and len({tuple(w[: start + 1]) for w in words}) == 1:
        start += 1
    end = 0
    while end < shortest - start and len({tuple(w[len(w) - end - 1 :]) for w in words}) == 1:
        end += 1
    first = words[0]

    def between() -> list[str]:
        return ["".join(w[start : len(w) - end]).strip() for w in words]

    if all(map(_COUNT.fullmatch, between())):  # "10 < 4" would compare the numbers: name them
        named = start
        while start > 1 and first[start - 1] == " " and (named == start or len(first[start]) < 4):
            start -= 2
    else:  # "with < without the mask": a phrase is not cut, only what a comma sets off
        while end and re.match(r"[\w ]", first[len(first) - end]):
            end -= 1
    apart = between()
    if not all(apart):
        return None
    before, after = "".join(first[:start]), "".join(first[len(first) - end :])
    return (before, apart, after) if len(before) >= SHORTEST_COMMON else None


def on_ruler(value: float, low: float, high: float, width: float, margin: float) -> str:
    """Where `value` stands on a ruler of this width, `margin` kept free at both ends."""
    share = (value - low) / (high - low)
    return f"{margin + min(1.0, max(0.0, share)) * (width - 2 * margin):.1f}"
