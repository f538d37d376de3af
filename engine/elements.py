"""What stands in a page besides sentences?

Tables, figures, listings, claims, exercises and the other blocks of templates/AUTHORS.md, as
methods of the page's writer. In: what a template passes, usually with the text of a caption as the
body of the call. Out: Markdown with HTML around it, whose shape is in templates/shapes.md.j2.
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from jinja2.exceptions import TemplateError

from engine import blocks, details, marks, paths
from engine.claims import Claim, PredicateOutcome, check_claim, load_claims
from engine.declaration import suggestion
from engine.details import Markup, Number
from engine.errors import MedidaError, RenderError
from engine.number import format_number
from engine.quantity import Quantity
from engine.writer import FAILED, Broken, ShownClaim, Writer, kept, one_line

ANSWER = f"{marks.OPEN}\ue007{marks.CLOSE}"
FEWEST = 0.25  # of the rows of a table of symbols: names of code in fewer need no column
_BLANK_LINES = re.compile(r"\n\s*\n")


@dataclass(frozen=True)
class Strip:
    """A cell of a table that draws one dot per seed."""

    quantity: Quantity
    percent: bool


class Elements(Writer):
    """The functions of the template language that put a block on the page."""

    @kept
    def table(
        self,
        name: str,
        *,
        columns: Sequence[str],
        rows: Sequence[Sequence[object]],
        caption: str = "",
        hot: int | Sequence[int] = (),
        beside_machine: bool = False,
        caller: Callable[[], str] | None = None,
    ) -> str:
        anchor, label = self.label("table", name)
        bold = (hot,) if isinstance(hot, int) else tuple(hot)
        for i, row in enumerate(rows):
            if len(row) != len(columns):
                raise RenderError(
                    f"table {name}: row {i + 1} has {len(row)} cells for {len(columns)} columns"
                )
        heads: list[dict[str, object]] = []
        scales: list[tuple[float, float] | None] = []
        for i, column in enumerate(columns):
            strips = [cell for row in rows for cell in row[i : i + 1] if isinstance(cell, Strip)]
            small, scale = self._scale(strips)
            scales.append(scale)
            heads.append({"text": column, "strip": bool(strips), "small": small})
        texts = [
            [self._cell(name, cell, scale) for cell, scale in zip(row, scales, strict=True)]
            for row in rows
        ]
        notes = self._notes(texts, rows)
        if beside_machine:
            notes.append(self._machine_note(texts))
        cells = [
            {
                "hot": i in bold,
                "cells": [
                    {"text": text, "strip": isinstance(cell, Strip)}
                    for text, cell in zip(texts[i], row, strict=True)
                ],
            }
            for i, row in enumerate(rows)
        ]
        return str(
            self.shared.shapes.table(
                anchor, label, self.caption("table", name, caption, caller), heads, cells, notes
            )
        )

    def _cell(self, table: str, cell: object, scale: tuple[float, float] | None) -> str:
        if isinstance(cell, Broken):
            return FAILED
        if isinstance(cell, Strip):
            if scale is None:
                return ""
            dots = [
                blocks.on_ruler(value * (100 if cell.percent else 1), *scale, 120, 3)
                for value in _finite(cell.quantity)
            ]
            return self.shared.mark(marks.RAW, Markup(str(self.shared.shapes.seed_strip(dots))))
        if not isinstance(cell, str):
            raise RenderError(
                f"table {table}: a cell holds {cell!r}; a number comes from num(…), text is text"
            )
        return marks.turn(one_line(cell), marks.NUMBER, marks.APART)

    def _scale(self, strips: Sequence[Strip]) -> tuple[str, tuple[float, float] | None]:
        """The common scale of a column of strips, in words and as numbers."""
        percent = any(strip.percent for strip in strips)
        values = [value for strip in strips for value in _finite(strip.quantity)]
        ends = details.nice_ends(values, self.language, percent)
        if ends is None:
            return "", None
        low, high = ends
        scale = 100 if percent else 1
        words = f"{low['text']} {self.shared.words['to']} {high['text']}"
        return self.shared.words_mark(words), (low["value"] * scale, high["value"] * scale)

    def _notes(self, cells: Sequence[Sequence[str]], rows: Sequence[Sequence[object]]) -> list[str]:
        """What a table says by itself: shares that miss 100, measurements of two machines."""
        notes: list[str] = []
        grid = [[self._only_number(cell) for cell in row] for row in cells]
        groups = [*grid, *([row[i] for row in grid] for i in range(len(grid[0]) if grid else 0))]
        shares = [
            [
                (number.quantity.mean, _percentage(number))
                for number in group
                if number is not None and number.percent
            ]
            for group in groups
        ]
        if blocks.shares_off(shares):
            notes.append(self.shared.words["shares"])
        records = [
            record for number in self._numbers_in(cells) for record in number.quantity.records
        ]
        records += [
            record
            for row in rows
            for cell in row
            if isinstance(cell, Strip)
            for record in cell.quantity.records
        ]
        names = details.machines(records)
        if len(names) > 1:
            notes.append(self._named("devices", names))
        return notes

    def _machine_note(self, texts: Sequence[Sequence[str]]) -> str:
        found = [index for row in texts for cell in row for index in marks.found(cell)]
        for index in found:
            self.unsaid.pop(index, None)
        records = {
            record.id: record
            for number in self._numbers_in(texts)
            if number.quantity.machine_dependent
            for record in number.quantity.records
        }
        if not records:
            raise RenderError("beside_machine=True, but nothing in the table is machine-dependent")
        words = dict.fromkeys(details.device_words(r, self.language) for r in records.values())
        return self.shared.words["machine"].format(names=self.shared.words_mark("; ".join(words)))

    def _named(self, word: str, names: Iterable[tuple[str, str]]) -> str:
        listed = "; ".join(details.kind_words(kind, name, self.language) for kind, name in names)
        return self.shared.words[word].format(names=self.shared.words_mark(listed))

    def _numbers_in(self, cells: Iterable[Iterable[str]]) -> list[Number]:
        entries = [self.shared.register[i] for row in cells for c in row for i in marks.found(c)]
        return [entry for entry in entries if isinstance(entry, Number)]

    def _only_number(self, cell: str) -> Number | None:
        numbers = self._numbers_in([[cell]])
        return numbers[0] if len(numbers) == 1 else None

    @kept
    def seeds(self, path: str | Quantity, *, percent: bool = False) -> Strip:
        quantity = self.shared.book.get(path) if isinstance(path, str) else path
        return Strip(quantity, percent)

    @kept
    def figure(
        self,
        name: str,
        *,
        alt: str,
        caption: str = "",
        caller: Callable[[], str] | None = None,
    ) -> str:
        words, shapes = self.shared.words, self.shared.shapes
        if not alt.strip():
            raise RenderError(f"figure {name}: alt is what someone reads who cannot see it")
        anchor, label = self.label("figure", name)
        charts = [
            self.shared.mark(marks.RAW, Markup(blocks.drawn(name, self.language, width)))
            for width in ("wide", "narrow")
        ]
        self.figures[name] = blocks.drawn_from(name)
        data = f"{self.roots.site}data/{name}.csv"
        code = self.roots.language + details.source_url(f"figures/{name}.py")
        links = [str(shapes.link(data, words["data"])), str(shapes.link(code, words["code"]))]
        records = {
            record.id: record
            for path in self.figures[name]
            for record in self.shared.book.get(path).records
        }
        if records:
            time = details.duration_words(sum(r.seconds for r in records.values()), self.language)
            links.append(self.shared.words_mark(words["measured_in"].format(time=time)))
        return str(
            shapes.figure(
                anchor,
                label,
                self.caption("figure", name, caption, caller),
                one_line(alt),
                *charts,
                links,
            )
        )

    @kept
    def listing(
        self,
        path: str,
        section: str,
        *,
        caption: str = "",
        equations: Sequence[str] = (),
        rings: Mapping[str, int | Sequence[int]] | None = None,
        caller: Callable[[], str] | None = None,
    ) -> str:
        anchor, label = self.label("listing", section)
        quoted = blocks.quote(path, section)
        steps = {s for at in (rings or {}).values() for s in ([at] if isinstance(at, int) else at)}
        if steps - set(range(1, len(equations) + 1)):
            raise RenderError(f"listing {section}: rings name steps that equations does not have")
        address = self.roots.language + details.source_url(path) + f"#L{quoted.first_line}"
        link = str(self.shared.shapes.link(address, f"<code>{escape(path)}</code>"))
        return str(
            self.shared.shapes.listing(
                anchor,
                label,
                self.caption("listing", section, caption, caller),
                quoted.fence(rings or {}),
                link,
                list(equations),
            )
        )

    @kept
    def claim(self, name: str) -> str:
        """The card of a claim: statement, criterion, what was measured, and whether it holds."""
        if name not in self._claims:
            raise RenderError(f"no claim {name!r} in claims.toml{suggestion(name, self._claims)}")
        claim = self._claims[name]
        anchor, label = self.label("claim", name)
        outcome = check_claim(claim, self.shared.book)
        words, expected = self.shared.words, claim.expected
        holds = outcome.state == "holds"
        verdict = words["holds" if holds else "not_reproduced" if outcome.as_expected else "fails"]
        self.claims.append(ShownClaim(name, outcome.state, expected))
        return str(
            self.shared.shapes.claim(
                anchor=anchor,
                label=label,
                state=outcome.state,
                verdict=verdict,
                statement=self._statement(claim),
                said=words["said_before"],
                measured=words["measured"],
                parts=[
                    {
                        "criterion": self._criterion(part),
                        "result": self._result(part),
                        "strip": self._claim_strip(part),
                        "over": self._over(part),
                    }
                    for part in outcome.parts
                ],
                source=self.cite(claim.source)
                if claim.source in self.shared.works
                else claim.source,
                unexpected=""
                if outcome.as_expected
                else words["unexpected"].format(expected=words[expected].lower()),
            )
        )

    @functools.cached_property
    def _claims(self) -> dict[str, Claim]:
        return load_claims(self.chapter.folder)

    def _statement(self, claim: Claim) -> str:
        """The assertion, in which numbers may stand like in any sentence."""
        text = claim.statement(self.language)
        if "<<" not in text and "<%" not in text:
            return one_line(text)
        before = self.place
        self.place = (claim.where, 0)
        try:
            template = self.shared.environment.from_string(text)
            return one_line(template.render(**self.functions()))
        except (TemplateError, MedidaError) as problem:
            raise RenderError(f"{claim.where}: {problem}") from problem
        finally:
            self.place = before

    def _criterion(self, part: PredicateOutcome) -> str:
        """What must hold, in words, what its values have in common said once."""
        of = part.predicate.of
        labels = {path: self.shared.labels.of_path(path, self.language) for path in of}
        unlabelled = [path for path in of if labels[path] == path]
        common = blocks.told_apart([labels[path] for path in of])
        if common is None or 0 < len(unlabelled) < len(of):
            names = {path: f"`{path}`" if path in unlabelled else labels[path] for path in of}
            return part.predicate.criterion(self.language, names.__getitem__, seeded=part.several)
        before, apart, after = common
        form = "`{}`" if unlabelled else "{}"
        names = {path: form.format(name) for path, name in zip(of, apart, strict=True)}

        def whole(joined: str) -> str:
            if unlabelled:
                return f"`{before}*{after}` ({joined})"
            return (
                f"{before if after[:1].isspace() else before.rstrip(' ,;:') + ' '}({joined}){after}"
            )

        return part.predicate.criterion(
            self.language, names.__getitem__, seeded=part.several, whole=whole
        )

    def _result(self, part: PredicateOutcome) -> str:
        """What was compared, as measured."""
        joint = " = " if part.predicate.kind == "equal" else "; "
        return joint.join(map(self._measured, part.measured))

    def _measured(self, quantity: Quantity) -> str:
        values = list(quantity.values.values())
        if len(details.numbers(values)) < len(values):
            texts = dict.fromkeys(details.readable(quantity, self.language))
            return self.shared.words_mark("; ".join(texts))
        asked: dict[str, object] = {"spread": True, "digits": 4} if quantity.std else {"digits": 4}
        if not quantity.std and isinstance(quantity.mean, int):
            asked = {"integer": True}
        return self.number(quantity, {**asked, "beside_machine": quantity.machine_dependent})

    def _over(self, part: PredicateOutcome) -> str:
        """Over how many seeds this was compared, and the ± taken where that is another number."""
        words, compared = self.shared.words, len(part.details)
        if not part.seeded:
            return ""
        spread = sorted({quantity.n for quantity in part.measured if quantity.std})
        if not part.several and not spread:
            return str(words["no_spread"])
        if set(spread) <= {compared}:
            return str(words["in_seeds"]).format(n=self._seeds(compared))
        *fewer, most = spread
        counts = [format_number(count, self.language, word=True, gender="f") for count in fewer]
        taken = " / ".join([*counts, self._seeds(most)])
        return str(words["in_common"]).format(n=self._seeds(compared), spread=taken)

    def _seeds(self, count: int) -> str:
        return format_number(count, self.language, word=True, unit="seed")

    def _claim_strip(self, part: PredicateOutcome) -> str:
        """The promised range and what was measured, on one ruler; nothing where none is told."""
        predicate = part.predicate
        numeric = [q for q in part.measured if len(_finite(q)) == q.n]
        if predicate.kind == "equal" or not numeric:
            return ""
        least, most = predicate.promised([q.mean for q in numeric])
        bounds = [bound for bound in (least, most) if bound is not None]
        ends = details.nice_ends(
            [*bounds, *(value for q in numeric for value in _finite(q))], self.language
        )
        if ends is None:
            return ""
        low, high = ends

        def at(value: float) -> str:
            return blocks.on_ruler(value, low["value"], high["value"], 240, 6)

        points = [
            {
                "x": at(q.mean),
                "bar": [at(q.mean - q.std), at(q.mean + q.std)] if q.std else None,
            }
            for q in numeric
        ]
        band = None
        if bounds:
            band = {
                "low": "0" if least is None else at(least),
                "high": "240" if most is None else at(most),
                "open_low": least is None,
                "open_high": most is None,
            }
        label = self.shared.words[
            "ordered" if band is None else "inside" if part.holds else "outside"
        ]
        svg = self.shared.shapes.claim_strip(
            label, band, points, escape(low["text"]), escape(high["text"]), part.holds
        )
        return self.shared.mark(marks.RAW, Markup(str(svg)))

    @kept
    def note(self, body: str = "", *, caller: Callable[[], str] | None = None) -> str:
        text = (caller() if caller else body).strip()
        several = bool(_BLANK_LINES.search(text))
        return str(self.shared.shapes.note(f"\n{text}\n" if several else one_line(text), several))

    @kept
    def sides(
        self,
        *,
        source: str,
        measured: str,
        verdict: str = "",
        source_ref: str = "",
        measured_ref: str = "",
    ) -> str:
        words = self.shared.words
        return str(
            self.shared.shapes.sides(
                words["source_said"],
                one_line(source),
                one_line(source_ref),
                words["we_measured"],
                one_line(measured),
                one_line(measured_ref),
                one_line(verdict),
            )
        )

    @kept
    def summary(self, *, caller: Callable[[], str]) -> str:
        return str(self.shared.shapes.summary(self.shared.words["summary"], caller().strip()))

    @kept
    def exercise(self, name: str, *, caller: Callable[[], str]) -> str:
        statement, *answers = caller().split(ANSWER)
        if len(answers) != 2:
            raise RenderError(f"exercise {name} needs one answer: <% call answer() %> inside it")
        if answers[1].strip():
            raise RenderError(f"exercise {name}: nothing stands after the answer")
        anchor, _ = self.label("exercise", name)
        number = self.shared.numbered[self.chapter.slug, "exercise", name]
        text = "<br><br>".join(one_line(part) for part in _BLANK_LINES.split(statement.strip()))
        folded = self.shared.words["answer"]
        return str(self.shared.shapes.exercise(anchor, number, text, folded, answers[0].strip()))

    def answer(self, *, caller: Callable[[], str]) -> str:
        return f"{ANSWER}{caller()}{ANSWER}"

    @kept
    def widget(self, name: str) -> str:
        """A panel: templates/widgets/<name>.md.j2, with the same functions as a chapter."""
        folder = paths.TEMPLATES / "widgets"
        file = folder / f"{name}.md.j2"
        if not file.is_file():
            known = [path.name.removesuffix(".md.j2") for path in folder.glob("*.md.j2")]
            raise RenderError(f"no panel {name!r} in templates/widgets{suggestion(name, known)}")
        said = folder / f"{name}.toml"  # the panel's words, in both languages
        anchor, label = self.label("panel", name)
        template = self.shared.environment.get_template(f"widgets/{name}.md.j2")
        return (
            "\n\n"
            + template.render(
                **self.functions(),
                anchor=anchor,
                label=label,
                words=_toml(said)[self.language] if said.is_file() else {},
                values=self.values,
                apart=_apart,
            )
            + "\n\n"
        )

    @kept
    def values(self, path: str) -> object:
        """What the script of a panel computes with: a mean over seeds, or a list as recorded."""
        return self.shared.book.get(path).value

    @kept
    def contents(self) -> str:
        """The chapters with their questions, for the home page."""
        rows = [
            {
                "number": "" if chapter.number is None else str(chapter.number),
                "link": self.ref(chapter.slug),
                "question": self.late(functools.partial(self.shared.questions.get, slug, "")),
            }
            for slug, chapter in self.shared.chapters.items()
            if slug != self.chapter.slug
        ]
        return str(self.shared.shapes.contents(rows))

    @kept
    def bibliography(self) -> str:
        """Every work that some page cites, and which pages do."""
        entries = [
            {
                "key": key,
                "line": self.shared.mark(marks.RAW, Markup(work.line(self.language))),
                "pages": [self.ref(slug) for slug in self.shared.cited_works[key]],
            }
            for key, work in self.shared.works.items()
            if key in self.shared.cited_works
        ]
        return str(self.shared.shapes.bibliography(entries, self.shared.words["cited_in"]))

    @kept
    def glossary(self) -> str:
        """What each term is called in both languages: chapters/glossary/glossary.toml."""
        path = paths.CHAPTERS / "glossary" / "glossary.toml"
        words = self.shared.words
        head = [words[f"glossary_{column}"] for column in ("en", "pt", "avoid")]
        terms: list[dict[str, Any]] = _toml(path)["term"]
        rows = [
            {
                "en": term["en"],
                "pt": _italic(term) if term.get("kept") == "italic" else escape(term["pt"]),
                "avoid": term.get("avoid", ""),
                "kept": words[f"glossary_{term['kept']}"] if term.get("kept") else "",
            }
            for term in terms
        ]
        return str(self.shared.shapes.glossary(head, rows))

    @kept
    def notation(self, group: str) -> str:
        """One group of the symbols in the page's own notation.toml, as a table; a column in which
        the whole group has nothing is left out, and few names of code stand with the words."""
        path = self.chapter.folder / "notation.toml"
        groups = _toml(path)
        if group not in groups:
            raise RenderError(
                f"{paths.shown(path)} has no group {group!r}{suggestion(group, groups)}"
            )
        symbols: list[dict[str, Any]] = groups[group]["symbols"]
        cells = {
            "symbol": [f"${symbol['tex']}$" for symbol in symbols],
            "name": [symbol[self.language] for symbol in symbols],
            "shape": [_shapes(symbol.get("shape", "")) for symbol in symbols],
            "code": [", ".join(map(self._named_in, symbol.get("code", ()))) for symbol in symbols],
            "where": [", ".join(map(self._place, symbol["where"])) for symbol in symbols],
        }
        named = cells["code"]
        if sum(map(bool, named)) < FEWEST * len(symbols):
            pairs = zip(cells["name"], named, strict=True)
            cells["name"] = [f"{said} ({code})" if code else said for said, code in pairs]
            cells["code"] = []
        shown = [column for column, texts in cells.items() if any(texts)]
        table = self.table(
            group,
            columns=[self.shared.words[f"notation_{column}"] for column in shown],
            rows=list(zip(*(cells[column] for column in shown), strict=True)),
            caption=groups[group][self.language],
        )
        return str(self.shared.shapes.notation(table))

    def _named_in(self, name: str) -> str:
        """A name of the code, "model/attention.py:scores", linked to its first line there."""
        path, _, name = name.partition(":")
        line = blocks.line_of(path, name)
        address = f"{self.roots.language}{details.source_url(path)}#L{line}"
        return str(self.shared.shapes.link(address, f"<code>{escape(name)}</code>"))

    def _place(self, place: str) -> str:
        """A chapter, or a section of it as "02-average#model"."""
        slug, _, anchor = place.partition("#")
        if anchor:
            return self.see("section", anchor, chapter=slug)
        return self.ref(slug, number=True)

    def functions(self) -> dict[str, Callable[..., object]]:
        return {name: getattr(self, name) for name in FUNCTIONS}


FUNCTIONS = (
    "q", "log", "exp", "sqrt", "abs",
    "num", "tex", "text", "vector", "tex_vector", "tex_matrix", "const", "over_seeds",
    "table", "seeds", "figure", "listing", "claim", "note", "sides", "summary", "exercise",
    "answer", "widget", "see", "ref", "cite", "contents", "bibliography", "glossary",
    "notation",
)  # fmt: skip


def _italic(term: Mapping[str, str]) -> str:
    """ "o checkpoint" with the English word in italics, as it always stands."""
    word = escape(term["en"])
    return escape(term["pt"]).replace(word, f"<em>{word}</em>")


def _shapes(text: str) -> str:
    """`(V, d), (V)` as formulas of their own, between which a line may end."""
    return ", ".join(f"${shape}$" for shape in re.split(r"(?<=\)), (?=\()", text) if shape)


def _apart(text: str) -> str:
    """Numbers whose spread stands apart from them, as in the cells of a table."""
    return marks.turn(text, marks.NUMBER, marks.APART)


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise RenderError(f"{paths.shown(path)}: {problem}") from problem
    except OSError as problem:
        raise RenderError(f"{paths.shown(path)}: cannot be read ({problem.strerror})") from problem


def _finite(quantity: Quantity) -> list[float]:
    return details.numbers(quantity.values.values())


def _percentage(number: Number) -> float:
    """A percentage as it is shown, read back from its text; "< 0,1%" counts as nothing."""
    if number.text.startswith("<"):
        return 0.0
    text = number.text.split("\u00a0")[0].rstrip("%").replace("\u2212", "-").lstrip("(")
    return float(text.replace(",", "."))
