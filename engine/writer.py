"""What can a sentence of a chapter say that is not typed?

Numbers, text from records, constants, links and citations: methods of the page's `Writer`, which
are functions of the template language (templates/AUTHORS.md); blocks are in engine/elements.py.
In: what a template passes. Out: Markdown, with marks where numbers stand. A Writer belongs to one
page and keeps what the page cites; what all pages of a language share is its `Shared`.

A mistake does not end the page: it is kept with its line, so that an author sees all of them.
"""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any, TypeVar, cast

from jinja2 import Environment, Template

from engine import details, marks, paths
from engine import quantity as quantities
from engine.bibliography import Entry
from engine.chapters import Chapter, Constant, Source
from engine.declaration import suggestion
from engine.details import Late, Number, Roots, Words
from engine.errors import MedidaError, MissingPath, NumberError, RenderError
from engine.number import Language, format_number, format_spread, spread_parts, unit_name
from engine.quantity import Book, Quantity

FAILED = "⚠"
KINDS = ("table", "figure", "listing", "claim", "equation", "exercise", "section", "panel")
_ID = re.compile(r"[a-zA-Z0-9_.-]+")
_DIMENSIONLESS = ("1", "", "ratio", "share")
_F = TypeVar("_F", bound=Callable[..., object])


@dataclass
class Shared:
    """What all pages of one language share while they are rendered."""

    language: Language
    book: Book
    chapters: Mapping[str, Chapter]
    words: Mapping[str, Any]
    works: Mapping[str, Entry]
    labels: details.Labels
    environment: Environment
    sources: dict[str, Source] = field(default_factory=dict[str, Source])
    titles: dict[str, str] = field(default_factory=dict[str, str])
    questions: dict[str, str] = field(default_factory=dict[str, str])
    register: list[marks.Shown] = field(default_factory=list[marks.Shown])
    numbered: dict[tuple[str, str, str], str] = field(
        default_factory=dict[tuple[str, str, str], str]
    )
    cited_works: dict[str, list[str]] = field(default_factory=dict[str, list[str]])

    @functools.cached_property
    def shapes(self) -> Any:
        return self.environment.get_template("shapes.md.j2").module

    def mark(self, kind: str, shown: marks.Shown) -> str:
        self.register.append(shown)
        return marks.mark(kind, len(self.register) - 1)

    def words_mark(self, text: str) -> str:
        """Text that Markdown must not read, such as the name of a machine."""
        return self.mark(marks.NUMBER, Words(text))


class Broken:
    """Stands for a quantity that was not found; the mistake is already on the list."""

    def _itself(self, *_: object) -> Broken:
        return self

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _itself
    __truediv__ = __rtruediv__ = __pow__ = __rpow__ = __neg__ = __abs__ = seed = _itself


@dataclass(frozen=True)
class Mistake:
    """What is wrong, and where in which template."""

    file: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message}" if self.line else self.message


@dataclass(frozen=True)
class ShownClaim:
    """A claim as a page shows it."""

    claim: str
    state: str
    expected: str


def kept(function: _F) -> _F:
    """A function of templates whose mistakes are kept with their line instead of raised."""

    @functools.wraps(function)
    def call(self: Writer, *args: object, **named: object) -> object:
        if any(isinstance(value, Broken) for value in (*args, *named.values())):
            return FAILED
        try:
            return function(self, *args, **named)
        except MedidaError as problem:
            if not excused(problem):
                self.report(str(problem))
            return FAILED

    return cast("_F", call)


def excused(problem: MedidaError) -> bool:
    """Whether small settings are to blame: lists are shorter, values coarser than the text asks."""
    coarse = isinstance(problem, MissingPath) or isinstance(problem.__cause__, NumberError)
    return coarse and paths.SETTINGS == "smoke"


class Writer:
    """The functions of the template language, for one page."""

    def __init__(self, shared: Shared, chapter: Chapter, source: Source, roots: Roots) -> None:
        self.shared = shared
        self.chapter = chapter
        self.source = source
        self.file = paths.shown(source.path)
        self.roots = roots
        self.language: Language = shared.language
        self.numbers: list[Number] = []
        self.mistakes: list[Mistake] = []
        self.claims: list[ShownClaim] = []
        self.figures: dict[str, tuple[str, ...]] = {}
        self.unsaid: dict[int, Mistake] = {}  # times and memory that still need their machine
        self.wanted: list[tuple[tuple[str, str, str], Mistake]] = []
        self.place: tuple[str, int] | None = None  # while text outside the body is rendered
        self._lines: list[tuple[int, int]] = []  # of the template and of its code
        self._counts: dict[str, int] = {}
        self._boxed = 0

    # ------------------------------------------------------------------ mistakes

    def report(self, message: str, line: int | None = None) -> None:
        self.mistakes.append(self.mistake(message, line))

    def mistake(self, message: str, line: int | None = None) -> Mistake:
        file, at = self.where()
        return Mistake(file, at if line is None else line, message)

    def where(self) -> tuple[str, int]:
        """File and line of the template that is calling."""
        if self.place:
            return self.place
        name = f"{self.chapter.slug}/{self.language}"
        frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
        while frame is not None:
            template = frame.f_globals.get("__jinja_template__")
            if template is not None and template.name == name:
                return self.file, self._line(template, frame.f_lineno)
            frame = frame.f_back
        return self.file, 0

    def _line(self, template: Template, compiled: int) -> int:
        """template.get_corresponding_lineno, which reads the whole table of lines at each call."""
        self._lines = self._lines or template.debug_info
        return next((line for line, code in reversed(self._lines) if code <= compiled), 1)

    # ------------------------------------------------------------------ numbers

    def q(self, path: str) -> Quantity | Broken:
        try:
            return self.shared.book.get(path)
        except MedidaError as problem:
            if not excused(problem):
                self.report(str(problem))
            return Broken()

    def log(self, of: Quantity | Broken) -> Quantity | Broken:
        return of if isinstance(of, Broken) else quantities.log(of)

    def exp(self, of: Quantity | Broken) -> Quantity | Broken:
        return of if isinstance(of, Broken) else quantities.exp(of)

    def sqrt(self, of: Quantity | Broken) -> Quantity | Broken:
        return of if isinstance(of, Broken) else quantities.sqrt(of)

    def abs(self, of: Quantity | Broken) -> Quantity | Broken:
        return abs(of)

    @kept
    def num(self, source: str | Quantity, **asked: Any) -> str:
        return self.number(source, asked)

    @kept
    def tex(self, source: str | Quantity, **asked: Any) -> str:
        return self.number(source, asked)

    @kept
    def text(self, path: str, *, block: bool = False, seed: int | None = None) -> str:
        """A string from a record, as it was recorded."""
        quantity = self.shared.book.get(path)
        quantity = quantity if seed is None else quantity.seed(seed)
        values = list(dict.fromkeys(map(str, quantity.values.values())))
        if not all(isinstance(value, str) for value in quantity.values.values()):
            raise RenderError(f"{path} is a number, not text: use num({path!r}, …)")
        if len(values) != 1:
            raise RenderError(f"{path} differs between seeds: choose one by seed=")
        shown = values[0].strip("\n") if block else " ".join(values[0].split())
        mark = self._keep(quantity, shown, escape(shown), Words(shown).tex(), None, "text")
        return str(self.shared.shapes.sample(mark)) if block else mark

    @kept
    def vector(self, path: str, **asked: Any) -> str:
        """A list in prose: [−0,5; 1,5] in Portuguese, [−0.5, 1.5] in English."""
        cells = [self.number(item, asked) for item in self._items(path)]
        return f"[{('; ' if self.language == 'pt' else ', ').join(cells)}]"

    @kept
    def tex_vector(self, path: str, **asked: Any) -> str:
        cells = [self.number(item, asked) for item in self._items(path)]
        between = r";\ " if self.language == "pt" else r",\ "
        return f"[{between.join(cells)}]"

    @kept
    def tex_matrix(self, path: str, **asked: Any) -> str:
        rows = [
            " & ".join(self.number(item, asked) for item in self._items(row))
            for row in self._items(path)
        ]
        return r"\begin{bmatrix} " + r" \\ ".join(rows) + r" \end{bmatrix}"

    @kept
    def const(self, name: str, **asked: Any) -> str:
        """A constant of the front matter: typed, with its reason, and so without details."""
        constant: Constant | None = self.source.constants.get(name)
        if constant is None:
            raise RenderError(
                f"no constant {name!r} in the front matter{suggestion(name, self.source.constants)}"
            )
        value = constant.value
        if isinstance(value, str):
            return self.shared.words_mark(value)
        if not asked:
            _, _, digits = constant.typed.partition(".")
            asked = {"decimals": len(digits)} if isinstance(value, float) else {"integer": True}
            if isinstance(value, int):
                asked["grouped"] = not 1000 <= abs(value) < 10000
        text, tex = (
            format_number(value, self.language, form=form, **asked) for form in ("text", "tex")
        )
        return self.shared.mark(marks.NUMBER, Words(text, tex))

    @kept
    def over_seeds(self, *sources: str | Quantity, capital: bool = False) -> str:
        """ "em três sementes" or "numa só execução": the seeds that all of these have.

        Raises:
            RenderError: they depend on no seed.
        """
        found = [self.shared.book.get(s) if isinstance(s, str) else s for s in sources]
        seeds = [seed for seed in quantities.common_seeds(found) if seed is not None]
        if not seeds:
            raise RenderError(f"{found[0].expression} depends on no seed")
        words = self.shared.words
        counted = format_number(len(seeds), self.language, word=True, unit="seed")
        text = words["in_one_run"] if len(seeds) == 1 else words["in_seeds"].format(n=counted)
        return self.shared.words_mark(text[:1].upper() + text[1:] if capital else text)

    def _items(self, path: str) -> list[str]:
        value = next(iter(self.shared.book.get(path).values.values()))
        if not isinstance(value, list | tuple):
            raise RenderError(f"{path} is no list: use num({path!r}, …)")
        return [f"{path}.{i}" for i in range(len(cast("Sequence[object]", value)))]

    def number(self, source: str | Quantity, asked: Mapping[str, Any]) -> str:
        """The mark of one number; raises what is wrong with it."""
        quantity = self.shared.book.get(source) if isinstance(source, str) else source
        if not isinstance(quantity, Quantity):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise RenderError(f"num takes a path or a quantity, not {source!r}")
        given = dict(asked)
        if "seed" in given:
            quantity = quantity.seed(given.pop("seed"))
        name = quantity.expression
        beside_machine = bool(given.pop("beside_machine", False))
        spread = bool(given.pop("spread", False))
        unit = self._unit(given.pop("unit", None), quantity)
        for value in quantity.values.values():
            if isinstance(value, list | tuple):
                raise RenderError(f"{name} is a list: use vector, tex_vector or tex_matrix")
            if isinstance(value, bool | str):
                raise RenderError(f"{name} is {value!r}, not a number: use text({name!r})")
        parts: tuple[str, str | None] | None = None
        try:
            if spread:
                text, markup, tex, parts = self._spread(quantity, unit, given)
            else:
                text, markup, tex = (
                    format_number(
                        quantity.mean,
                        self.language,
                        spread=quantity.std,
                        unit=unit,
                        form=form,
                        **given,
                    )
                    for form in ("text", "html", "tex")
                )
        except MedidaError as problem:
            raise RenderError(f"{name}: {problem}") from problem
        except TypeError as problem:
            raise RenderError(f"{name}: {str(problem).split('() ')[-1]}") from problem
        described = ", ".join(f"{key}={value!r}" for key, value in sorted(asked.items()))
        mark = self._keep(
            quantity, text, markup, tex, parts, described, percent=bool("percent" in given)
        )
        return mark + self._machine(quantity, mark, beside_machine, name)

    def _spread(
        self, quantity: Quantity, unit: str | None, given: dict[str, Any]
    ) -> tuple[str, str, str, tuple[str, str | None]]:
        if quantity.n < 2 and "digits" not in given:
            raise RenderError("has one seed and so no spread: give digits= for the value alone")
        mean, std = quantity.mean, quantity.std
        text, markup, tex = (
            format_spread(mean, std, quantity.n, self.language, unit=unit, form=form, **given)
            for form in ("text", "html", "tex")
        )
        parts = spread_parts(mean, std, quantity.n, self.language, form="html", **given)
        return text, markup, tex, parts

    def _unit(self, asked: object, quantity: Quantity) -> str | None:
        if asked is None or asked is False:
            return None
        if asked is True:
            return quantity.unit
        same = str(asked).removesuffix("s") == quantity.unit.removesuffix("s")
        points = asked in ("percentage_point", "percentage_points", "point", "points")
        if not same and not (points and quantity.unit in _DIMENSIONLESS):
            raise RenderError(
                f"{quantity.expression} is measured in {quantity.unit!r}, not in {asked!r}"
            )
        return str(asked)

    def _machine(self, quantity: Quantity, mark: str, said: bool, name: str) -> str:
        """What a time or a memory must say: the machine that it belongs to."""
        if not quantity.machine_dependent:
            return ""
        names = details.machines(quantity.records)
        if len(names) > 1:
            raise RenderError(f"{name} compares machines: {'; '.join(n for _, n in names)}")
        if said:
            words = details.device_words(quantity.records[0], self.language)
            return f" ({self.shared.words_mark(words)})"
        if quantity.unit not in _DIMENSIONLESS:
            self.unsaid[marks.found(mark)[0]] = self.mistake(
                f"{name} belongs to the machine that measured it: show a ratio, or say "
                "beside_machine=True (of a number or of its table)"
            )
        return ""

    def _keep(
        self,
        quantity: Quantity,
        text: str,
        markup: str,
        tex: str,
        parts: tuple[str, str | None] | None,
        asked: str,
        *,
        percent: bool = False,
    ) -> str:
        unit_name(quantity.unit, self.language)  # refused now, while the line is known
        key = details.key_of(quantity, asked)
        number = Number(key, quantity, text, markup, tex, parts, asked, percent, self.where()[1])
        self.numbers.append(number)
        return self.shared.mark(marks.NUMBER, number)

    # ------------------------------------------------------------------ links

    @kept
    def see(self, kind: str, name: str, *, chapter: str = "", capital: bool = False) -> str:
        """ "tabela 2.1", linked, of this chapter or another."""
        if kind not in KINDS:
            raise RenderError(f"see: {kind!r} is none of {', '.join(KINDS)}")
        slug = self._chapter(chapter).slug if chapter else self.chapter.slug
        key = (slug, kind, name)
        self.wanted.append((key, self.mistake(f"there is no {kind} {name!r} in {slug}")))
        word = self.shared.words[kind]
        word = word[:1].upper() + word[1:] if capital else word

        def text() -> str:
            number = self.shared.numbered.get(key, FAILED)
            return f"{word}\u00a0" + (f"({number})" if kind == "equation" else number)

        return self._link(slug, anchor_of(kind, name), self.late(text))

    @kept
    def ref(
        self,
        chapter: str,
        anchor: str = "",
        *,
        text: str | None = None,
        number: bool = False,
        capital: bool = False,
    ) -> str:
        """A link to a chapter or a section of it, with the chapter's title."""
        target = self._chapter(chapter)
        if text is None and number and target.number is not None:
            word = self.shared.words["chapter"]
            word = word[:1].upper() + word[1:] if capital else word
            text = self.shared.words_mark(f"{word}\u00a0{target.number}")
        elif text is None:
            text = self.late(lambda: self.shared.titles.get(target.slug, FAILED))
        return self._link(target.slug, anchor, text)

    @kept
    def cite(self, *keys: str, form: str = "", page: str = "") -> str:
        """ "(Vaswani et al., 2017)" or, with form="text", "Vaswani et al. (2017)"."""
        cited: list[str] = []
        for key in keys:
            work = self.shared.works.get(key)
            if work is None:
                meant = suggestion(key, self.shared.works)
                raise RenderError(f"no work {key!r} in chapters/bibliography/references.bib{meant}")
            pages = self.shared.cited_works.setdefault(key, [])
            if self.chapter.slug not in pages:
                pages.append(self.chapter.slug)
            short, year = work.short(self.language), work.year
            where = f", {page}" if page else ""
            text = f"{short} ({year}{where})" if form == "text" else f"{short}, {year}{where}"
            link = f"bibliography.md#{key}"
            cited.append(f"[{self.shared.words_mark(text)}]({link}){{ .cite }}")
        if not cited or form not in ("", "text"):
            raise RenderError('cite needs a key; its form is "" or "text"')
        return ", ".join(cited) if form == "text" else f"({'; '.join(cited)})"

    def _chapter(self, slug: str) -> Chapter:
        chapter = self.shared.chapters.get(slug)
        if chapter is None:
            raise RenderError(
                f"there is no chapter {slug!r}{suggestion(slug, self.shared.chapters)}"
            )
        return chapter

    def _link(self, slug: str, anchor: str, text: str) -> str:
        page = "" if slug == self.chapter.slug and anchor else f"{slug}.md"
        return f"[{text}]({page}{'#' + anchor if anchor else ''})"

    def late(self, text: Callable[[], str]) -> str:
        return self.shared.mark(marks.LABEL, Late(text))

    # ------------------------------------------------------------------ labels

    def label(self, kind: str, name: str) -> tuple[str, str]:
        """The anchor of a block and its name in the caption, "Tabela 2.1"."""
        if not _ID.fullmatch(name):
            raise RenderError(f"{kind} {name!r}: a name holds letters, digits, hyphens, _ and .")
        key = (self.chapter.slug, kind, name)
        if key in self.shared.numbered:
            raise RenderError(f"{kind} {name!r} stands twice in this chapter")
        self.shared.numbered[key] = number = self.next_number(kind)
        word = self.shared.words[kind]
        return anchor_of(kind, name), f"{word[:1].upper()}{word[1:]} {number}"

    def next_number(self, kind: str) -> str:
        self._counts[kind] = self._counts.get(kind, 0) + 1
        chapter = self.chapter.number
        count = str(self._counts[kind])
        return count if chapter is None else f"{chapter}.{count}"

    def caption(self, kind: str, name: str, caption: str, caller: Callable[[], str] | None) -> str:
        text = one_line(caller() if caller else caption)
        if not text:
            raise RenderError(f"{kind} {name} needs a caption")
        return text


def anchor_of(kind: str, name: str) -> str:
    return name if kind == "section" else f"{kind}-{name}"


def one_line(text: str) -> str:
    return " ".join(text.split())
