"""Can a number of the book be changed in its record without anybody noticing?

For every number that any page or figure shows: with its value changed in the file, reading the
record fails; with the record's own hash rewritten as well, so that it is a sound record of another
measurement, the number changes at each place that cites it, in both languages, and nothing else
does, and each figure is drawn from other rows. Many values are changed at once, as long as no place
shows two of them: so every number is tried, and it is known which of them moved what.
"""

from __future__ import annotations

import functools
import json
import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import pytest

from engine import marks, paths, record, render
from engine.claims import load_claims
from engine.declaration import RunSpec
from engine.details import Number
from engine.elements import Elements, Strip
from engine.errors import MedidaError, RecordError
from engine.number import Language
from engine.provenance import Fingerprint
from engine.quantity import Book, Quantity
from engine.record import read_record
from engine.render import LANGUAGES, Page, pages
from figures import figure_names, load_figure, output
from tests.attack import changes
from tests.attack.changes import Leaf
from tests.attack.tally import Tally

MARK = re.compile(f"({marks.OPEN}[{marks.ENTRIES}][\ue010-\ue019]+{marks.CLOSE})")
CLAIM = re.compile(r'class="claim[^>]*id="claim-([\w.-]+)"')
TABLE = re.compile(r'id="table-([\w.-]+)"')
NOUGHT = -1
STEPS = (4, 50, 10**60, NOUGHT)  # how far a value is moved if the move before is not seen
POINTS = 10  # of the values that a figure draws from one path
PARTS = 2  # of all values, so that two cores have work
ITSELF = re.compile(r"(.+) / \1")
REFUSED = "cannot be shown as asked"
PANEL = re.compile(r'id="panel-([\w.-]+)"')


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the records where the engine looks for them."""
    folder = changes.copy_results(tmp_path / "results")
    monkeypatch.setattr(paths, "RESULTS", folder)
    return folder


# ---------------------------------------------------------------------------- what pages show


def leaves(quantity: Quantity, contents: dict[str, dict[str, Any]]) -> frozenset[Leaf]:
    """The values of records, or elements of their lists, that a quantity was made of."""
    found: set[Leaf] = set()
    for path in quantity.paths:
        for one in quantity.records:
            if one.seed is not None and one.seed not in quantity.values:
                continue  # of seeds that both sides have, some are left
            way = changes.leaf_of(contents[one.id], path)
            if way is not None:
                inner = changes.scalars(changes.at(contents[one.id], way), way)
                found |= {Leaf(one.id, parts) for parts, _ in inner}
    return frozenset(found)


def contents_of(folder: Path) -> dict[str, dict[str, Any]]:
    return {
        f"{path.parent.name}/{path.name.removesuffix('.json')}": changes.read(path)
        for path in sorted(folder.glob("*/*.json"))
    }


@dataclass(frozen=True)
class Token:
    """A mark of a page as it is shown, or the text between two; `key` says which it is."""

    key: str
    shown: str
    number: Number | None = None
    block: str = ""  # the paragraph, table or card around it


def tokens(page: Page) -> list[list[Token]]:
    """Everything that a page says, block by block: its front matter, then its body."""
    assert page.shared is not None
    body = page.markdown
    if page.mistakes:
        said = [escape(str(mistake)) for mistake in page.mistakes]
        body = body.removeprefix(str(page.shared.shapes.problems(said)))
    front = [page.title, *(page.meta.get(key, "") for key in ("question", "after", "measured"))]
    needs = [need["name"] for need in page.meta.get("needs", [])]
    blocks: list[list[Token]] = []
    panel = ""
    for block in [*front, *needs, *re.split(r"(?<=\n)\s*\n", body)]:
        panel = found_panel[0] if (found_panel := PANEL.search(block or "")) else panel
        if "panel__data" in block:  # what its script computes with stands behind a blank line
            block = f"{panel} {block}"
        found: list[Token] = []
        blocks.append(found)
        for piece in MARK.split(block or ""):
            numbers = marks.found(piece, marks.ENTRIES)
            if not numbers:
                found.append(Token(piece, piece, None, block))
                continue
            entry = page.shared.register[numbers[0]]
            shown = "|".join((entry.plain(), entry.html(False), entry.html(True), entry.tex()))
            number = entry if isinstance(entry, Number) else None
            found.append(Token(number.key if number else "\ue000", shown, number, block))
    return blocks


@pytest.fixture
def one_source(monkeypatch: pytest.MonkeyPatch) -> None:
    """No source changes while records do: what a run depends on is read once."""
    known: dict[str, Fingerprint] = {}
    found = record.fingerprint

    def fingerprint(spec: RunSpec) -> Fingerprint:
        if spec.id not in known:
            known[spec.id] = found(spec)
        return known[spec.id]

    monkeypatch.setattr(record, "fingerprint", fingerprint)


class Shown:
    """Both editions of the book, or the bodies of some chapters, from the records as they lie."""

    def __init__(self, only: frozenset[str] = frozenset()) -> None:
        self.strips: dict[tuple[str, str], list[Quantity]] = defaultdict(list)
        self.panels: dict[tuple[str, str], list[str]] = defaultdict(list)
        self.pages: dict[tuple[Language, str], Page] = {}
        self.cited: dict[tuple[tuple[Language, str], str], frozenset[Leaf]] = {}
        with pytest.MonkeyPatch.context() as patch:
            self._listen(patch)
            if only:
                patch.setattr(render, "_body", functools.partial(body_of, only, render._body))  # pyright: ignore[reportPrivateUsage]
            self.book = Book(allow_stale=True)
            for language in LANGUAGES:
                for page in pages(language, self.book, serving=True):
                    self.pages[language, page.slug] = page
        self.tokens = {name: tokens(page) for name, page in self.pages.items()}
        self.shapes = {  # how many numbers each block of a page has
            name: [sum(token.number is not None for token in of) for of in blocks]
            for name, blocks in self.tokens.items()
        }

    def _listen(self, patch: pytest.MonkeyPatch) -> None:
        """What marks do not say: the strips of a table, the values that a panel computes with."""
        table, values, widget = Elements.table, Elements.values, Elements.widget
        number = Elements.number
        inside: list[str] = []

        def number_(writer: Elements, source: str | Quantity, asked: dict[str, Any]) -> str:
            try:
                return number(writer, source, asked)
            except MedidaError as problem:  # it stops the build; here a sign stands in its place
                of = writer.shared.book.get(source) if isinstance(source, str) else source
                of = of.seed(asked["seed"]) if "seed" in asked else of
                writer.report(str(problem))
                form = ", ".join(f"{key}={value!r}" for key, value in sorted(asked.items()))
                return writer._keep(of, REFUSED, REFUSED, REFUSED, None, form)  # pyright: ignore[reportPrivateUsage]

        def table_(writer: Elements, name: str, **named: Any) -> str:
            cells = [cell for row in named["rows"] for cell in row if isinstance(cell, Strip)]
            self.strips[writer.chapter.slug, name] += [cell.quantity for cell in cells]
            return table(writer, name, **named)

        def values_(writer: Elements, path: str) -> object:
            self.panels[writer.chapter.slug, inside[-1] if inside else ""].append(path)
            return values(writer, path)

        def widget_(writer: Elements, name: str) -> str:
            inside.append(name)
            try:
                return widget(writer, name)
            finally:
                inside.pop()

        patch.setattr(Elements, "number", number_)
        patch.setattr(Elements, "table", table_)
        patch.setattr(Elements, "values", values_)
        patch.setattr(Elements, "widget", widget_)

    def numbers(self) -> Iterator[Number]:
        for page in self.pages.values():
            yield from page.numbers


def body_of(
    only: frozenset[str], body: Callable[..., str], writer: Elements, ledger: Callable[[], str]
) -> str:
    return body(writer, ledger) if writer.chapter.slug in only else ""


@pytest.fixture
def book(results: Path, one_source: None) -> Shown:
    shown = Shown()
    assert not [str(m) for page in shown.pages.values() for m in page.mistakes]
    return shown


# ---------------------------------------------------------------------------- without the hash


def test_an_edited_value_is_a_damaged_record(
    results: Path, book: Shown, dice: random.Random, tally: Callable[[str], Tally]
) -> None:
    """Every value behind a number; of what only a figure draws, often thousands of points, some."""
    contents = contents_of(results)
    wanted = {leaf for number in book.numbers() for leaf in leaves(number.quantity, contents)}
    for name in figure_names():
        for path in drawn_from(name):
            points = sorted(leaves(Book(allow_stale=True).get(path), contents), key=str)
            wanted.update(dice.sample(points, min(POINTS, len(points))))
    edited = tally("records.edited")
    for leaf in sorted(wanted, key=str):
        path, content = results / f"{leaf.run}.json", contents[leaf.run]
        old = changes.at(content, leaf.parts)
        changes.put(content, leaf.parts, changes.another(old))
        path.write_text(json.dumps(content), encoding="utf-8")
        try:
            read_record(path)
        except RecordError as error:
            edited.count(leaf.run in str(error) and "run" in str(error), leaf)
        else:
            edited.count(False, leaf)
        changes.put(content, leaf.parts, old)
    for run, content in contents.items():  # as they were, they are sound
        changes.write(results / f"{run}.json", content, rehash=False)
        read_record(results / f"{run}.json")


def drawn_from(name: str) -> list[str]:
    book = Book(allow_stale=True)
    load_figure(name).data(book)
    return sorted(book.cited)


# ---------------------------------------------------------------------------- with the hash


def colours(groups: Iterable[frozenset[Leaf]]) -> list[list[Leaf]]:
    """All leaves in as few lists as a simple rule finds, so that no group has two of one list."""
    groups = list(dict.fromkeys(groups))
    meets: dict[Leaf, set[Leaf]] = defaultdict(set)
    for group in groups:
        for leaf in group:
            meets[leaf] |= group
    colour: dict[Leaf, int] = {}
    for leaf in sorted(meets, key=lambda leaf: (-len(meets[leaf]), str(leaf))):
        taken = {colour[other] for other in meets[leaf] if other in colour}
        colour[leaf] = next(i for i in range(len(meets)) if i not in taken)
    out: list[list[Leaf]] = [[] for _ in range(max(colour.values(), default=-1) + 1)]
    for leaf, index in colour.items():
        out[index].append(leaf)
    return out


@pytest.mark.parametrize("part", range(PARTS))
def test_a_value_measured_anew_changes_every_place_that_cites_it_and_no_other(
    part: int, results: Path, book: Shown, tally: Callable[[str], Tally]
) -> None:
    contents = contents_of(results)
    behind = {  # a key stands for one quantity in one form; what is divided by itself stays one
        number.key: frozenset[Leaf]()
        if ITSELF.fullmatch(number.quantity.expression)
        else leaves(number.quantity, contents)
        for number in book.numbers()
    }
    moved, still = tally(f"records.measured_anew_{part}"), tally(f"still.elsewhere_{part}")
    places: dict[tuple[str, Leaf], str] = {}  # each place with each value behind it: what it says
    words = {leaf for of in behind.values() for leaf in of if is_text(leaf, contents)}
    groups = [group - words for group in behind.values()]
    texts = [group & words for group in behind.values() if group & words]
    mine = (colours(groups) + colours(texts))[part::PARTS]
    tried = {leaf for some in mine for leaf in some}
    then, only = book, frozenset[str]()
    for step in STEPS:  # a mean of ten seeds, rounded, may hide a small change of one of them
        for some in mine:
            with measured_anew(results, contents, dict.fromkeys(some, step)):
                now = Shown(only)
                for name, old in then.tokens.items():
                    compare(then, now, name, old, frozenset(some), behind, places, still, contents)
        # Where else it shows was looked at with the first step; then only where it did not show.
        hiding = [(place, leaf) for (place, leaf), said in places.items() if said]
        if not hiding:
            break
        hidden = frozenset(leaf for _, leaf in hiding)
        mine = colours(group & hidden for group in groups if group & hidden)
        only = frozenset(place.split("/")[1].split(":")[0] for place, _ in hiding)
        then = Shown(only)
        assert all(then.shapes[of] == book.shapes[of] for of in then.shapes if of[1] in only)
    for (place, leaf), said in places.items():
        moved.count(not said, f"{place} says {said!r}, whatever {leaf} is")
    assert {leaf for _, leaf in places} == tried


@contextmanager
def measured_anew(
    results: Path, contents: dict[str, dict[str, Any]], steps: dict[Leaf, int]
) -> Iterator[None]:
    """Other values in sound records while the block runs: how far each is moved."""
    runs = {leaf.run for leaf in steps}
    for leaf, step in steps.items():
        value = changes.at(contents[leaf.run], leaf.parts)
        gone = step == NOUGHT and not isinstance(value, str)
        value = type(value)(0) if gone else changes.another(value, step)
        changes.put(contents[leaf.run], leaf.parts, value)
    for run in runs:
        changes.write(results / f"{run}.json", contents[run], rehash=True)
    yield
    for run in runs:
        contents[run] = changes.read(paths.ROOT / "results" / f"{run}.json")
        changes.write(results / f"{run}.json", contents[run], rehash=False)


def test_a_value_measured_anew_changes_every_figure_that_cites_it(
    results: Path, one_source: None, tally: Callable[[str], Tally]
) -> None:
    """Path by path: the rows that it is drawn from are others, and the drawing is out of date."""
    contents, book = contents_of(results), Book(allow_stale=True)
    redrawn = tally("records.figures")
    for name in figure_names():
        assert output.stale(name, book) is None, f"{name} is not drawn"
        drawn, rows = (
            json.loads((paths.DRAWN / f"{name}.json").read_text("utf-8")),
            rows_of(name)[0],
        )
        for path in drawn["paths"]:
            found = sorted(leaves(book.get(path), contents), key=str)
            with measured_anew(results, contents, {leaf: i % 9 for i, leaf in enumerate(found)}):
                now, records = rows_of(name)
            redrawn.count(now != rows and records != drawn["records"], f"{name}: {path}")


def rows_of(name: str) -> tuple[str, dict[str, str]]:
    """What a figure is drawn from now, and the hashes of its records."""
    try:
        rows, _, records = output._read(name, Book(allow_stale=True))  # pyright: ignore[reportPrivateUsage]
        return output.csv_text(rows), records
    except MedidaError as problem:  # it can no longer be drawn, and says so
        return str(problem), {}


def is_text(leaf: Leaf, contents: dict[str, dict[str, Any]]) -> bool:
    """A page may look for a word of a record; without it, it cannot be made at all."""
    return isinstance(changes.at(contents[leaf.run], leaf.parts), str)


def is_huge(leaf: Leaf, contents: dict[str, dict[str, Any]]) -> bool:
    """A page may count by a value of a record, up to some number."""
    value = changes.at(contents[leaf.run], leaf.parts)
    return not isinstance(value, str) and abs(value) > 1e50


def compare(
    then: Shown,
    now: Shown,
    name: tuple[Language, str],
    before: list[list[Token]],
    changed: frozenset[Leaf],
    behind: dict[str, frozenset[Leaf]],
    places: dict[tuple[str, Leaf], str],
    still: Tally,
    contents: dict[str, dict[str, Any]],
) -> None:
    """Hold one page against what it was, place by place."""
    language, slug = name
    lost = {of for of in now.tokens if now.shapes[of] != then.shapes[of]}
    if name in lost:
        assert now.pages[name].mistakes, "a page fell apart, and nothing is said"
        assert any(is_text(leaf, contents) or is_huge(leaf, contents) for leaf in changed)
        for number in then.pages[name].numbers:
            for leaf in behind[number.key] & changed:
                places.setdefault((f"{language}/{slug}:{number.line}", leaf), "")
        for place, leaf in places:
            if leaf in changed and place.startswith(f"{language}/{slug}:"):
                places[place, leaf] = ""
        return
    if slug == "bibliography" and lost:  # it says which pages cite a work
        return
    # What a page shows may depend on its values, as which of the heads is the switch.
    chooses = expressions(before) != expressions(now.tokens[name])
    for index, (old, new) in enumerate(zip(before, now.tokens[name], strict=True)):
        numbers = [[token for token in of if token.number is not None] for of in (old, new)]
        for place, (one, other) in enumerate(zip(*numbers, strict=True)):
            assert one.number is not None
            differs = (one.key, one.shown) != (other.key, other.shown)
            where = f"{language}/{slug}:{one.number.line}: {one.number.quantity.expression}"
            cited = behind[one.number.key] & changed
            for leaf in cited:
                key = f"{where} ({index}, {place})", leaf
                if places.get(key, "?"):
                    places[key] = "" if differs else one.number.text
            if not cited and expressions([[one]]) == expressions([[other]]):
                still.count(not differs, where)
        texts = [[token.shown for token in of if token.number is None] for of in (old, new)]
        if texts[0] != texts[1] and not lost and not chooses:
            still.count(
                may_change(then, name, old[0].block, changed, behind, contents)
                or quotes_pages(then, now, language, *texts),
                f"{language}/{slug}: {texts[0]} became {texts[1]}"[:400],
            )


def expressions(blocks: list[list[Token]]) -> list[str]:
    return [token.number.quantity.expression for of in blocks for token in of if token.number]


def quotes_pages(
    then: Shown, now: Shown, language: Language, old: list[str], new: list[str]
) -> bool:
    """Whether all that differs are titles and questions of pages, whose numbers are tried there."""

    def said(shown: Shown) -> list[str]:
        return [
            marks.plain(text, page.shared.register)
            for (of, _), page in shown.pages.items()
            if of == language and page.shared is not None
            for text in (page.title, page.meta.get("question", ""))
        ]

    known = set(zip(said(then), said(now), strict=True))
    return len(old) == len(new) and all(
        one == other or (one.split("|")[0], other.split("|")[0]) in known
        for one, other in zip(old, new, strict=True)
    )


def may_change(
    shown: Shown,
    name: tuple[Language, str],
    block: str,
    changed: frozenset[Leaf],
    behind: dict[str, frozenset[Leaf]],
    contents: dict[str, dict[str, Any]],
) -> bool:
    """Whether a table, claim, panel or ledger cites a changed value otherwise than by a number."""
    if (name, block) not in shown.cited:
        shown.cited[name, block] = cited_in(shown, name, block, behind, contents)
    return name[1] == "ledger" or bool(shown.cited[name, block] & changed)


def cited_in(
    shown: Shown,
    name: tuple[Language, str],
    block: str,
    behind: dict[str, frozenset[Leaf]],
    contents: dict[str, dict[str, Any]],
) -> frozenset[Leaf]:
    slug, shared = name[1], shown.pages[name].shared
    assert shared is not None
    found: set[Leaf] = set()
    quantities: list[Quantity] = []
    book = shown.book
    if claim := CLAIM.search(block):
        of = load_claims(paths.CHAPTERS / slug)[claim[1]]
        quantities += [book.get(path) for path in of.paths]
    if table := TABLE.search(block):
        quantities += shown.strips[slug, table[1]]
        for entry in (shared.register[i] for i in marks.found(block)):  # what it says of its sums
            found |= behind[entry.key] if isinstance(entry, Number) else frozenset()
    if panel := PANEL.search(block):
        quantities += [book.get(path) for path in shown.panels[slug, panel[1]]]
    for quantity in quantities:
        found |= leaves(quantity, contents)
    return frozenset(found)
