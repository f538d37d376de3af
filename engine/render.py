"""How does a chapter's template become a page whose every number can be traced?

In: the chapters (templates, claims, front matter) and the records. Out: `pages`, one Markdown page
per chapter and language, in which marks stand for numbers; and, once MkDocs has made HTML of it,
`finish` and `finish_text`, which put the numbers in. Between the two nothing needs to know what a
mark is.
"""

from __future__ import annotations

import re
import tomllib
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from typing import Any, ClassVar, cast

from jinja2 import (
    BytecodeCache,
    ChoiceLoader,
    Environment,
    FileSystemLoader,
    FunctionLoader,
    StrictUndefined,
)
from jinja2.bccache import Bucket
from jinja2.exceptions import TemplateError, TemplateSyntaxError, UndefinedError

from engine import blocks, details, ledger, marks, paths
from engine.bibliography import Entry, read_bibliography
from engine.chapters import LANGUAGES, Chapter, chapters, read_source
from engine.details import Labels, Number, Roots
from engine.elements import Elements
from engine.errors import MedidaError, RenderError
from engine.number import Language, format_number
from engine.quantity import Book, Quantity
from engine.writer import FAILED, Mistake, Shared, ShownClaim, Writer

__all__ = ["LANGUAGES", "Language", "Page", "finish", "finish_text", "pages"]

LAST = ("bibliography", "ledger")  # what these show is known when all others are rendered
PLAIN_SECTIONS = ("exercises", "summary")
_FENCE = re.compile(r"^(`{3,}|~{3,}).*?^\1\s*$", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^(#{1,6})[ \t]+(.*?)[ \t]*(\{[^{}\n]*\})?[ \t]*$", re.MULTILINE)
_ANCHOR = re.compile(r"#([A-Za-z0-9_.:-]+)")
_EQUATION = re.compile(r"^\$\$(.*?)\$\$[ \t]*$", re.MULTILINE | re.DOTALL)
_LABEL = re.compile(r"\s*\\label\{([^{}]*)\}")
_IN_FORMULA = re.compile(r"\\\((.*?)\\\)", re.DOTALL)


@dataclass(frozen=True)
class Page:
    """One chapter in one language.

    `url` is below the root of the language; `meta` is the front matter, rendered, for the site's
    own templates: its texts may hold marks, like `title` and `markdown`. `mistakes` is empty unless
    the book is being served or previewed.
    """

    slug: str
    language: Language
    src_uri: str
    url: str
    title: str
    markdown: str
    meta: dict[str, Any]
    numbers: tuple[Number, ...] = ()
    claims: tuple[ShownClaim, ...] = ()
    figures: tuple[str, ...] = ()
    drawn_paths: frozenset[str] = frozenset()
    mistakes: tuple[Mistake, ...] = ()
    assets: dict[str, str] = field(default_factory=dict[str, str])
    shared: Shared | None = field(default=None, repr=False, compare=False)

    @property
    def cited(self) -> frozenset[str]:
        """Every path of a record that the page shows, in its text or in its figures."""
        return self.drawn_paths | {p for number in self.numbers for p in number.quantity.paths}


def pages(language: Language, book: Book | None = None, *, serving: bool = False) -> list[Page]:
    """Every chapter of the book in `language`, in reading order.

    Raises RenderError naming file and line of the first mistake, and how many more there are;
    while serving, a page with mistakes says them itself, and stale records are marked.
    """
    rendered = _Edition(language, book or Book(allow_stale=serving)).render()
    mistakes = [mistake for page in rendered for mistake in page.mistakes]
    if mistakes and not serving:
        more = f" (and {len(mistakes) - 1} more mistakes)" if len(mistakes) > 1 else ""
        raise RenderError(f"{mistakes[0]}{more}")
    return rendered


def finish(html: str, page: Page) -> str:
    """The finished HTML of `page` (or of a part of it) with every mark resolved.

    The first part that is finished takes the details of the page's numbers with it.
    """
    shared = _shared(page)
    out = marks.resolve(blocks.finish_code(html), shared.register)
    if marks.OPEN in out or marks.CLOSE in out:
        at = out.find(marks.OPEN)
        raise RenderError(f"{page.src_uri}: a mark was torn apart near {out[at - 40 : at]!r}")
    if 'class="bk-numbers"' not in out and page.numbers:
        out += details.script(_details(page, shared).items())
    return out


def finish_text(text: str, page: Page) -> str:
    r"""A title, an entry of the contents or of the search as HTML without elements of ours.

    Formulas (`\(…\)`) get their numbers as TeX.
    """
    register = _shared(page).register
    tex = _IN_FORMULA.sub(
        lambda m: marks.replace(
            m[0], marks.NUMBER + marks.APART, lambda i: escape(register[i].tex(), quote=False)
        ),
        text,
    )
    return marks.replace(tex, marks.ENTRIES, lambda i: escape(register[i].plain()))


def plain_text(text: str, page: Page) -> str:
    """The same, for places that escape by themselves."""
    return marks.plain(text, _shared(page).register)


def _shared(page: Page) -> Shared:
    assert page.shared is not None, "a page comes from pages()"
    return page.shared


def _details(page: Page, shared: Shared) -> dict[str, dict[str, Any]]:
    roots = _roots(page.url, page.language)
    unique = {number.key: number for number in page.numbers}
    return {
        key: details.describe(number, page.language, roots, shared.labels)
        for key, number in unique.items()
    }


def _roots(url: str, language: Language) -> Roots:
    up = "../" * url.count("/")
    first = language == LANGUAGES[0]
    return Roots(site=up if first else f"../{up}", language=up)


# ---------------------------------------------------------------------------- one language


class _Edition:
    """The chapters of one language while they are rendered."""

    def __init__(self, language: Language, book: Book) -> None:
        self.chapters = {chapter.slug: chapter for chapter in chapters()}
        self.bodies: dict[str, str] = {}
        self.early: dict[str, list[Mistake]] = {slug: [] for slug in self.chapters}
        environment = _environment(self.bodies)
        self.shared = Shared(
            language=language,
            book=book,
            chapters=self.chapters,
            words=_words(language),
            works=self._works(),
            labels=Labels.read(),
            environment=environment,
        )

    def render(self) -> list[Page]:
        language = self.shared.language
        for slug, chapter in self.chapters.items():
            try:
                source = read_source(chapter, language)
            except MedidaError as problem:
                self.early[slug].append(Mistake("", 0, str(problem)))
                continue
            self.shared.sources[slug] = source
            self.bodies[f"{slug}/{language}"] = source.body
        order = [s for s in self.chapters if s not in LAST]
        order += [s for s in LAST if s in self.chapters]
        writers: dict[str, Elements] = {}
        made: dict[str, Page] = {}
        for slug in order:
            made[slug] = self._page(self.chapters[slug], writers, list(made.values()))
        for slug, writer in writers.items():
            late = tuple(m for key, m in writer.wanted if key not in self.shared.numbered)
            page = made[slug]
            every = sorted({*page.mistakes, *late}, key=lambda m: (m.file, m.line, m.message))
            made[slug] = replace(page, mistakes=tuple(every))
        return [self._said(made[slug]) for slug in self.chapters]

    def _said(self, page: Page) -> Page:
        """The page with its mistakes at its top, where whoever serves the book sees them."""
        if not page.mistakes:
            return page
        lines = [escape(str(mistake)) for mistake in page.mistakes]
        return replace(page, markdown=f"{self.shared.shapes.problems(lines)}{page.markdown}")

    def _page(self, chapter: Chapter, writers: dict[str, Elements], done: list[Page]) -> Page:
        language, shared = self.shared.language, self.shared
        source = shared.sources.get(chapter.slug)
        if source is None:
            return Page(
                slug=chapter.slug,
                language=language,
                src_uri=chapter.src_uri,
                url=chapter.url,
                title=chapter.slug,
                markdown="",
                meta={"title": chapter.slug, "chapter": chapter.number, "slug": chapter.slug},
                mistakes=tuple(self.early[chapter.slug]),
                shared=shared,
            )
        roots = _roots(chapter.url, language)
        writer = writers[chapter.slug] = Elements(shared, chapter, source, roots)
        texts = {
            key: _front(writer, key, getattr(source, key)) for key in ("title", "question", "after")
        }
        shared.titles[chapter.slug] = marks.plain(texts["title"], shared.register)
        shared.questions[chapter.slug] = marks.plain(texts["question"], shared.register)
        assets: dict[str, str] = {}

        def show_ledger() -> str:
            rows = ledger.rows(done, shared)
            if language == LANGUAGES[0]:
                assets[ledger.ADDRESS] = ledger.as_csv(rows)
            return ledger.show(rows, shared, roots)

        markdown = _body(writer, show_ledger)
        markdown = _structured(markdown, writer)
        for mistake in writer.unsaid.values():
            writer.mistakes.append(mistake)
        drawn = frozenset(path for used in writer.figures.values() for path in used)
        return Page(
            slug=chapter.slug,
            language=language,
            src_uri=chapter.src_uri,
            url=chapter.url,
            title=texts["title"],
            markdown=markdown,
            meta=self._meta(chapter, writer, texts, drawn),
            numbers=tuple(writer.numbers),
            claims=tuple(writer.claims),
            figures=tuple(writer.figures),
            drawn_paths=drawn,
            mistakes=tuple(writer.mistakes),
            assets=assets,
            shared=shared,
        )

    def _meta(
        self, chapter: Chapter, writer: Writer, texts: dict[str, str], drawn: frozenset[str]
    ) -> dict[str, Any]:
        needs: list[dict[str, Any]] = []
        for slug in writer.source.needs:
            target = self.chapters.get(slug)
            if target is None:
                line = writer.source.lines.get("needs", 1)
                writer.report(f"needs: there is no chapter {slug!r}", line)
                continue
            source = self.shared.sources.get(slug)
            title = self.shared.titles.get(slug) or (source.title if source else slug)
            name = f"{target.number} {title}" if target.number is not None else title
            needs.append({"name": name, "slug": slug, "url": target.url, "number": target.number})
        return {
            "title": texts["title"],
            "chapter": chapter.number,
            "slug": chapter.slug,
            "question": texts["question"],
            "after": texts["after"],
            "needs": needs,
            "measured": _measured(writer, drawn),
        }

    def _works(self) -> dict[str, Entry]:
        path = paths.CHAPTERS / "bibliography" / "references.bib"
        return read_bibliography(path) if path.is_file() else {}


class _Compiled(BytecodeCache):
    """Templates that have not changed are compiled once per process: serving is quicker."""

    kept: ClassVar[dict[str, tuple[str, bytes]]] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        checksum, code = self.kept.get(bucket.key, ("", b""))
        if checksum == bucket.checksum:
            bucket.bytecode_from_string(code)

    def dump_bytecode(self, bucket: Bucket) -> None:
        self.kept[bucket.key] = (bucket.checksum, bucket.bytecode_to_string())


def _environment(bodies: dict[str, str]) -> Environment:
    def body(name: str) -> tuple[str, str, Callable[[], bool]] | None:
        if name not in bodies:
            return None
        return bodies[name], f"<chapter {name}>", lambda: True

    environment = Environment(
        block_start_string="<%",
        block_end_string="%>",
        variable_start_string="<<",
        variable_end_string=">>",
        comment_start_string="<#",
        comment_end_string="#>",
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
        extensions=["jinja2.ext.do"],
        loader=ChoiceLoader([FunctionLoader(body), FileSystemLoader(paths.TEMPLATES)]),
        finalize=_only_text,
        cache_size=-1,
        bytecode_cache=_Compiled(),
    )
    return environment


def _only_text(value: object) -> object:
    """Nothing but text is printed: a bare number would be one that no record stands behind."""
    if isinstance(value, Quantity):
        raise RenderError(f"{value.expression} is printed without a format: use num(…)")
    if isinstance(value, bool | int | float):
        raise RenderError(f"{value!r} is printed as it is: use num(…), const(…) or text")
    if value is None:
        raise RenderError("None is printed: a function that only acts belongs into <% do … %>")
    return value


def _words(language: Language) -> dict[str, Any]:
    path = paths.TEMPLATES / "words.toml"
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))[language]
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise RenderError(f"{paths.shown(path)}: {problem}") from problem


# ---------------------------------------------------------------------------- one page


def _front(writer: Elements, key: str, text: str) -> str:
    """One text of the front matter, rendered: a number in it is bound like any other."""
    if "<<" not in text and "<%" not in text:
        return text
    writer.place = (paths.shown(writer.source.path), writer.source.lines.get(key, 1))
    try:
        return writer.shared.environment.from_string(text).render(**writer.functions())
    except (TemplateError, MedidaError) as problem:
        writer.report(f"{key}: {problem}")
        return FAILED
    finally:
        writer.place = None


def _body(writer: Elements, show_ledger: Callable[[], str]) -> str:
    name = f"{writer.chapter.slug}/{writer.language}"
    try:
        template = writer.shared.environment.get_template(name)
        return template.render(**writer.functions(), ledger=show_ledger)
    except TemplateSyntaxError as problem:
        writer.report(problem.message or "bad template", problem.lineno)
    except (TemplateError, MedidaError, TypeError, ValueError, ArithmeticError) as problem:
        writer.report(_said(problem), _line_of(problem, f"<chapter {name}>"))
    return ""


def _said(problem: Exception) -> str:
    if isinstance(problem, UndefinedError):
        return f"{problem.message} (templates/AUTHORS.md lists what there is)"
    return str(problem).replace("Writer.", "")


def _line_of(problem: BaseException, filename: str) -> int:
    lines = [
        line
        for frame, line in traceback.walk_tb(problem.__traceback__)
        if frame.f_code.co_filename == filename
    ]
    return lines[-1] if lines else 0


def _structured(markdown: str, writer: Writer) -> str:
    """Sections and equations get their numbers; what is fenced is left alone."""
    out: list[str] = []
    position = 0
    for fence in [*_FENCE.finditer(markdown), None]:
        end = fence.start() if fence else len(markdown)
        text = _HEADING.sub(lambda m: _heading(m, writer), markdown[position:end])
        out.append(_EQUATION.sub(lambda m: _equation(m, writer), text))
        if fence:
            out.append(fence[0])
            position = fence.end()
    return "".join(out)


def _heading(match: re.Match[str], writer: Writer) -> str:
    level, text, attributes = len(match[1]), match[2], match[3] or ""
    line = _line_of_text(writer, f"{match[1]} {text[:20]}")
    if level == 1:
        writer.report("a chapter's title stands in its front matter, not under one #", line)
    anchor = _ANCHOR.search(attributes)
    if anchor is None:
        writer.report(f"the heading {text!r} needs an anchor by hand: {{ #anchor }}", line)
        return match[0]
    name = anchor[1]
    plain = ".plain" in attributes or name in PLAIN_SECTIONS or writer.chapter.number is None
    key = (writer.chapter.slug, "section", name)
    if key in writer.shared.numbered:
        writer.report(f"the anchor #{name} stands twice in this chapter", line)
    if level != 2 or plain:
        writer.shared.numbered[key] = ""
        return match[0]
    number = writer.shared.numbered[key] = writer.next_number("section")
    return f'{match[1]} <span class="secno">{number}</span> {text} {attributes}'


def _equation(match: re.Match[str], writer: Writer) -> str:
    label = _LABEL.search(match[1])
    if label is None:
        return match[0]
    name = label[1]
    key = (writer.chapter.slug, "equation", name)
    if key in writer.shared.numbered:
        writer.report(f"equation {name!r} stands twice in this chapter", 0)
    number = writer.shared.numbered[key] = writer.next_number("equation")
    tagged = _LABEL.sub("", match[1], count=1).rstrip() + rf" \tag{{{number}}}" + "\n"
    return str(writer.shared.shapes.equation(f"equation-{name}", f"$${tagged}$$"))


def _line_of_text(writer: Writer, start: str) -> int:
    """The line of the template that begins so, as far as it stands there word for word."""
    start = re.split(f"[{marks.OPEN}]", start)[0]
    for i, line in enumerate(writer.source.body.split("\n"), 1):
        if line.startswith(start):
            return i
    return 0


def _measured(writer: Writer, drawn: frozenset[str]) -> str:
    """ "31 números, de três experimentos; tempo de medida: 40 s", counted, never typed."""
    words, language = writer.shared.words, writer.language
    shown = {(number.quantity.expression, number.quantity.paths) for number in writer.numbers}
    records = {r.id: r for number in writer.numbers for r in number.quantity.records}
    for path in drawn:
        try:
            records |= {r.id: r for r in writer.shared.book.get(path).records}
        except MedidaError:
            continue  # the figure has said it
    if not shown or not records:
        return ""

    def counted(count: int, nouns: Sequence[str]) -> str:
        form = {"word": True} if count <= 10 else {"integer": True}
        return f"{format_number(count, language, **cast('Any', form))} {nouns[count != 1]}"

    said: str = words["facts"].format(
        numbers=counted(len(shown), words["numbers"]),
        experiments=counted(len({r.experiment for r in records.values()}), words["experiments"]),
        time=details.duration_words(sum(r.seconds for r in records.values()), language),
    )
    return said[:1].upper() + said[1:]


# ---------------------------------------------------------------------------- for authors


def preview(
    slug: str, language: Language = "pt", book: Book | None = None
) -> tuple[str, list[str]]:
    """One page as Markdown with its numbers as text, and every mistake of that chapter."""
    edition = _Edition(language, book or Book(allow_stale=True))
    if slug not in edition.chapters:
        known = ", ".join(edition.chapters)
        raise RenderError(f"there is no chapter {slug!r}; there are: {known}")
    page = next(page for page in edition.render() if page.slug == slug)
    text = marks.replace(page.markdown, marks.RING, lambda step: f"  ({step})")
    return plain_text(text, page), [str(mistake) for mistake in page.mistakes]
