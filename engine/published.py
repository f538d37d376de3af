"""What does the site publish beside the chapters, so that every number can be followed to its root?

In: the folders of the repository. Out: the records (records/<experiment>/<run>.json), what the
figures were drawn from (data/<figure>.csv), and each source file as a page whose lines (#L12) and
definitions (#Head.forward) can be linked to.
"""

from __future__ import annotations

import ast
import functools
import html
from collections.abc import Iterator
from pathlib import Path

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name  # pyright: ignore[reportUnknownVariableType]

from engine import paths

SOURCES = ("model", "experiments", "figures", "engine")


def files() -> Iterator[tuple[str, Path]]:
    """Address below the site's root, and file, of each record and each table of figure data."""
    for record in sorted(paths.RESULTS.glob("*/*.json")):
        yield f"records/{record.parent.name}/{record.name}", record
    for data in sorted(paths.DRAWN.glob("*.csv")):
        yield f"data/{data.name}", data


def sources() -> Iterator[tuple[str, Path]]:
    """Address below a language's root (without the final slash), and file, of each source."""
    for folder in SOURCES:
        for path in sorted((paths.ROOT / folder).rglob("*.py")):
            name = path.relative_to(paths.ROOT).with_suffix("").as_posix()
            if path.stat().st_size and "__pycache__" not in path.parts:
                yield f"source/{name.removesuffix('/__init__')}", path


def code_page(text: str) -> str:
    """The HTML of a source file: numbered lines, an anchor for each and for each definition."""
    return _code_page(text)


@functools.lru_cache(maxsize=256)  # while serving, only what changed is coloured again
def _code_page(text: str) -> str:
    names = definitions(text)
    formatter: HtmlFormatter[str] = HtmlFormatter(nowrap=True)
    coloured = highlight(text, get_lexer_by_name("python", stripnl=False), formatter)
    lines: list[str] = []
    for number, line in enumerate(coloured.splitlines(), 1):
        anchors = "".join(f'<a id="{html.escape(name)}"></a>' for name in names.get(number, ()))
        lines.append(
            f'{anchors}<span id="L{number}"><a href="#L{number}" tabindex="-1" aria-hidden="true" '
            f'data-line="{number}"></a>{line}\n</span>'
        )
    return (
        '<div class="source highlight" data-search-exclude="true"><pre tabindex="0"><code>'
        + "".join(lines)
        + "</code></pre></div>"
    )


def definitions(text: str) -> dict[int, list[str]]:
    """Names defined at each line: functions, classes, methods, constants at the module's level."""
    found: dict[int, list[str]] = {}

    def visit(body: list[ast.stmt], prefix: str) -> None:
        for node in body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
                found.setdefault(first, []).append(prefix + node.name)
                if isinstance(node, ast.ClassDef):
                    visit(node.body, f"{prefix}{node.name}.")
            elif isinstance(node, ast.Assign | ast.AnnAssign) and not prefix:
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                for target in targets:
                    if isinstance(target, ast.Name):
                        found.setdefault(node.lineno, []).append(target.id)

    visit(ast.parse(text).body, "")
    return found
