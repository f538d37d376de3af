"""How does MkDocs build the book, both languages, from chapters that render makes?

This is the hook that mkdocs.yml names, and it is thin: `engine.render` turns a chapter into
Markdown and finishes its HTML, `engine.mathematics` typesets formulas, `engine.published` says what
else is published, `engine.links` whether all links lead somewhere, `engine.policy` what a page may
load. In: mkdocs.yml (Portuguese) and mkdocs.en.yml. Out: build/site (build/smoke/site for smoke
settings), the English edition below en/. While serving, an error is shown in the page's place.

MkDocs loads a hook and what it imports once: after a change of the engine, serve again.
"""

from __future__ import annotations

import html
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal, cast
from urllib.parse import urljoin, urlsplit

from jinja2 import Environment
from mkdocs.commands.build import build as build_site
from mkdocs.config import load_config  # pyright: ignore[reportUnknownVariableType]
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import Abort, PluginError
from mkdocs.livereload import LiveReloadServer
from mkdocs.plugins import get_plugin_logger
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from mkdocs.structure.toc import AnchorLink

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:  # the command `mkdocs` does not look where it was started
    sys.path.insert(0, str(ROOT))

from engine import breaks, links, paths, policy, published, render  # noqa: E402  once the path is set
from engine.errors import MedidaError, accident  # noqa: E402  once the path is set
from engine.mathematics import Typesetter, as_formulas, as_plain, node  # noqa: E402  once the path is set

log = get_plugin_logger("book")
SECOND = ROOT / "mkdocs.en.yml"
WEB = ROOT / "build" / "web"  # the same for all settings
SHOWN = ("question", "after", "measured")  # texts of a chapter that its opening prints
LOCAL = ("127.0.0.1", "localhost")  # an address to read at, not one to publish
_NUMBERS = re.compile(r'<script\b[^>]*\bclass="bk-numbers"[^>]*>(.*?)</script>', re.DOTALL)
_QUESTION = re.compile(r'(?<=<span class="contents__q">)[^<]+')
# What the eye sees apart, search must see apart.
_APART = re.compile(r'(</t[dh]>(?=<t[dh]\b)|</dt>(?=<dd\b)|<p class="ex__q"><b>[^<]*</b>)')
_QUOTED = re.compile(r"<(pre|code|script|style|template|annotation)\b.*?</\1>", re.DOTALL)
_LEFT_OVER = re.compile("[\ue000-\ue01f]|\\{\\{|\\{%|&lt;&lt;|&lt;%|<<")


class State:
    """What lasts from one event of MkDocs to the next; the editions are built one after another."""

    serving = False
    language: render.Language = "pt"
    pages: dict[str, render.Page] = {}  # noqa: RUF012  replaced, never shared
    sources: dict[str, Path] = {}  # noqa: RUF012  replaced, never shared
    typesetter = Typesetter()
    drawn = 0.0  # when the youngest file that figures are made from was changed


# ---------------------------------------------------------------------------- MkDocs calls these


def on_startup(command: Literal["build", "gh-deploy", "serve"], dirty: bool) -> None:
    State.serving = command == "serve"


def on_config(config: MkDocsConfig) -> None:
    State.language = config.extra["language"]
    asked = Path(config.site_dir)
    if not State.serving and asked == ROOT / "build" / "site" != paths.SITE:
        config.site_dir = str(paths.SITE)


def on_pre_build(config: MkDocsConfig) -> None:
    if first_edition():
        make_assets()
        if State.serving:
            draw_again()


def on_files(files: Files, config: MkDocsConfig) -> None:
    def add(address: str, **source: Any) -> None:
        files.append(File.generated(config, address, **source))

    pages = chapters()
    State.pages = {page.src_uri: page for page in pages}
    for page in pages:
        add(page.src_uri, content=front_matter(chapter_meta(page)) + page.markdown)
    State.sources = {f"{address}.md": path for address, path in published.sources()}
    for address, path in State.sources.items():
        meta = {"title": paths.shown(path), "source": True, "search": {"exclude": True}}
        add(address, content=front_matter(meta))
    for path in sorted(path for path in WEB.rglob("*") if path.is_file()):
        add(path.relative_to(WEB).as_posix(), abs_src_path=str(path))
    if first_edition():
        for address, path in published.files():
            add(address, abs_src_path=str(path))
        for page in pages:
            for address, text in page.assets.items():
                add(address, content=text)
    parts = cast("list[dict[str, Any]]", config.extra["parts"])
    config.nav = table_of_contents(pages, parts)


def on_env(env: Environment, config: MkDocsConfig, files: Files) -> None:
    env.auto_reload = False  # templates do not change during a build, and pages are many


def on_page_content(content: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    source = State.sources.get(page.file.src_uri)
    if source is not None:
        return published.code_page(source.read_text(encoding="utf-8"))
    chapter = State.pages.get(page.file.src_uri)
    if chapter is None:
        return content
    try:
        content = _QUESTION.sub(typeset_question, render.finish(content, chapter))
        content = breaks.page(State.typesetter.page(_APART.sub(r"\1\n", content)))
        finish_contents(page.toc, chapter)
        number = chapter.meta.get("chapter")
        title = str(page.meta["title"])
        page.title = f"{number} {title}" if number is not None else title  # pyright: ignore[reportAttributeAccessIssue]
    except MedidaError as problem:
        content = shown_problem(f"{page.file.src_uri}: {problem}")
    # Instant navigation makes every script anew without its type, and would run the details.
    return _NUMBERS.sub(
        r'<template class="bk-numbers" data-search-exclude="true">\1</template>', content
    )


def on_page_context(context: Any, page: Page, config: MkDocsConfig, nav: Any) -> None:
    if urlsplit(config.site_url or "").hostname in LOCAL:
        page.canonical_url = None


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    check_left_over(output, page.file.dest_uri)
    return with_policy(output)


def on_post_template(output_content: str, template_name: str, config: MkDocsConfig) -> str:
    check_left_over(output_content, template_name)
    return with_policy(output_content) if template_name.endswith(".html") else output_content


def on_post_build(config: MkDocsConfig) -> None:
    if not first_edition():
        return
    site = Path(config.site_dir)
    second = load_config(
        str(SECOND),
        strict=config.strict,
        site_dir=str(site / "en"),
        site_url=urljoin(config.site_url or "/", "en/"),
    )
    failed: Abort | None = None
    try:
        build_site(second, serve_url=second.site_url if State.serving else None)
    except Abort as problem:  # said after the links are: one build tells all it can
        failed = problem
    State.typesetter.close()
    if not State.serving and (site / "en" / "index.html").is_file():
        for problem in links.broken(site):
            log.warning(problem)
    if failed:
        raise failed


def on_build_error(error: Exception) -> None:
    """What the system refuses while pages are written (a full disk), in one line."""
    if isinstance(error, OSError) and not State.serving:
        raise PluginError(f"{accident(error)}; nothing of this build is used")


def on_serve(server: LiveReloadServer, config: MkDocsConfig, builder: Any) -> None:
    web = [paths.WEB / name for name in ("css", "src", "palette.json")]
    folders = [paths.CHAPTERS, paths.EXPERIMENTS, paths.FIGURES, paths.MODEL, paths.TEMPLATES]
    for path in [*folders, paths.RESULTS, SECOND, *web]:
        if path.exists():
            server.watch(str(path))


# ---------------------------------------------------------------------------- what they do


def first_edition() -> bool:
    return State.language == render.LANGUAGES[0]


def chapters() -> list[render.Page]:
    """The pages of this language. Only while serving may one have mistakes: it says them itself."""
    try:
        pages = render.pages(State.language, serving=State.serving)
    except Exception as problem:
        if not State.serving and not isinstance(problem, MedidaError):
            raise  # a fault of the engine: its traceback is wanted
        said = shown_problem(str(problem) or repr(problem))
        return [render.Page("index", State.language, "index.md", "", "!", said, {}, ())]
    for page in pages:
        for mistake in page.mistakes:
            log.warning(str(mistake))
    return pages


def shown_problem(text: str) -> str:
    """While serving, what went wrong in the page's place; else it ends the build in one line."""
    if not State.serving:
        raise PluginError(text)
    log.warning(text)
    return f'<div class="bk-problem" role="alert"><p><code>{html.escape(text)}</code></p></div>'


def front_matter(meta: dict[str, Any]) -> str:
    return f"---\n{json.dumps(meta, ensure_ascii=False)}\n---\n\n"


def chapter_meta(page: render.Page) -> dict[str, Any]:
    """What the theme's templates print: HTML, and as `plain` what may stand in an attribute."""
    if page.shared is None:
        return {"title": page.title}
    texts = {"title": page.title, **{key: page.meta.get(key) or "" for key in SHOWN}}
    needs = [
        {"url": need["url"], "name": html_of(need["name"], page)} for need in page.meta["needs"]
    ]
    return {
        **{key: html_of(text, page) for key, text in texts.items() if text},
        "plain": {key: plain_of(texts[key], page) for key in ("title", "question")},
        "chapter": page.meta["chapter"],
        "needs": needs,
    }


def html_of(text: str, page: render.Page) -> str:
    """A text of the front matter as HTML: marks resolved, `$…$` typeset."""
    return State.typesetter.text(render.finish_text(as_formulas(html.escape(text)), page))


def plain_of(text: str, page: render.Page) -> str:
    return html.escape(as_plain(render.plain_text(text, page)))


def typeset_question(match: re.Match[str]) -> str:
    """A question in the list of chapters, which is no Markdown when it arrives there."""
    return State.typesetter.text(as_formulas(match[0]))


def finish_contents(items: Iterable[AnchorLink], page: render.Page) -> None:
    """The titles of the sections, as the list of chapters shows them."""
    for item in items:
        item.title = State.typesetter.text(render.finish_text(as_formulas(item.title), page))
        finish_contents(item.children, page)


def table_of_contents(pages: list[render.Page], parts: list[dict[str, Any]]) -> list[Any]:
    """The list of chapters: the home page, then each part with the chapters it has."""
    contents: list[Any] = [page.src_uri for page in pages if page.slug == "index"]
    for part in parts:
        inside = [page.src_uri for page in pages if in_part(page, part)]
        if inside and part.get("title"):
            contents.append({part["title"]: inside})
        else:
            contents += inside
    return contents


def in_part(page: render.Page, part: dict[str, Any]) -> bool:
    number = page.meta.get("chapter")
    if page.slug == "index" or number is None:
        return page.slug != "index" and "first" not in part
    return "first" in part and part["first"] <= number <= part["last"]


def with_policy(page: str) -> str:
    """While serving, MkDocs adds a script of its own that reloads the page: then none is stated."""
    return page if State.serving else policy.stated(page)


def check_left_over(output: str, name: str) -> None:
    """No mark of ours and no bracket of a template may be read on a page; in code they may."""
    found = _LEFT_OVER.search(_QUOTED.sub("", output))
    if found:
        around = _QUOTED.sub("", output)[max(0, found.start() - 60) : found.end() + 60]
        log.warning(f"{name}: {found[0]!r} was left in the page: {around!r}")


# ---------------------------------------------------------------------------- beside MkDocs


def make_assets() -> None:
    """Styles and script, made again when their sources are newer than they are."""
    made = WEB / "assets" / "book.css"
    own = [p for p in paths.WEB.rglob("*") if p.is_file() and "node_modules" not in p.parts]
    if made.is_file() and made.stat().st_mtime >= max(p.stat().st_mtime for p in own):
        return
    run([node(), str(paths.WEB / "build.mjs")], "npm ci --prefix web")


def draw_again() -> None:
    """While serving: the figures whose source or records changed, if any file of either did."""
    read = [*paths.FIGURES.glob("*.py"), *paths.RESULTS.glob("*/*.json")]
    newest = max((file.stat().st_mtime for file in read), default=0.0)
    if newest > State.drawn:
        State.drawn = newest
        run([sys.executable, "-m", "figures", "draw", "--stale"], "python -m figures draw --stale")


def run(command: list[str], mend: str) -> None:
    quiet = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}  # in folders that are watched
    done = subprocess.run(command, cwd=ROOT, env=quiet, capture_output=True, encoding="utf-8")
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        shown_problem(f"{' '.join(Path(c).name for c in command[:2])}: {last} (mend: {mend})")
