"""Which figures does the book have, and what is each made of?

One module `figures/<name>.py` is one figure. It holds

* `TEXT`: every word of the figure, `{"key": {"pt": ..., "en": ...}}`;
* `data(book)`: the rows behind the figure at full precision, which are also its download;
* `draw(rows, text, width, language)`: the Altair chart of those rows, wide or narrow.

Modules without a `draw` of their own help the others. This package reads records through the engine
and knows no torch.
"""

from __future__ import annotations

import ast
import difflib
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal, Protocol, cast

from engine import paths
from engine.errors import MedidaError

if TYPE_CHECKING:
    from engine.quantity import Book

Language = Literal["pt", "en"]
Width = Literal["wide", "narrow"]
Cell = str | int | float | bool | None
Row = dict[str, Cell]
Text = Callable[[str], str]
Words = Mapping[str, Mapping[str, str]]

LANGUAGES: tuple[Language, ...] = ("pt", "en")
WIDTHS: tuple[Width, ...] = ("wide", "narrow")
FOLDER = Path(__file__).resolve().parent


class FigureError(MedidaError):
    """A figure cannot be drawn: one line says which, why, and what mends it."""


class Figure(Protocol):
    """What a figure's module offers."""

    TEXT: Words

    def data(self, book: Book) -> list[Row]: ...

    def draw(self, rows: list[Row], text: Text, width: Width, language: Language) -> Any: ...


def figure_names() -> tuple[str, ...]:
    """The names of the book's figures, from the source alone: nothing is imported."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.py") if _is_figure(path)))


def source_of(name: str) -> Path:
    """The module of a figure; an unknown name is an error with the nearest known ones."""
    names = figure_names()
    if name in names:
        return FOLDER / f"{name}.py"
    near = difflib.get_close_matches(name, names, n=3)
    hint = f"did you mean {' or '.join(near)}?" if near else "see `python -m figures list`"
    raise FigureError(f"no figure is called {name!r}: {hint}")


def load_figure(name: str) -> Figure:
    """The figure's module."""
    module: ModuleType = import_module(f"figures.{source_of(name).stem}")
    return cast(Figure, module)


def question(name: str) -> str:
    """The question that a figure answers: the first line of its module."""
    return (ast.get_docstring(_parsed(source_of(name))) or "").split("\n", 1)[0]


def texts(figure: Figure, language: Language) -> Text:
    """The words of a figure in one language; a key without them is an error."""

    def text(key: str) -> str:
        try:
            return figure.TEXT[key][language]
        except KeyError:
            raise FigureError(f"a figure has no text {key!r} in {language!r} (TEXT)") from None

    return text


def _is_figure(path: Path) -> bool:
    body = _parsed(path).body
    return {"data", "draw"} <= {node.name for node in body if isinstance(node, ast.FunctionDef)}


def _parsed(path: Path) -> ast.Module:
    try:
        return ast.parse(path.read_bytes(), filename=str(path))
    except (SyntaxError, ValueError) as problem:
        line = getattr(problem, "lineno", None)
        where = f"{paths.shown(path)}:{line}" if line else paths.shown(path)
        raise FigureError(f"{where}: is not valid Python: {problem.args[0]}") from None
