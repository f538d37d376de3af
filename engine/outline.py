"""What does a chapter's template cite, what does it print by itself, and where?

In: the source of a template, read as a tree and never run. Out, in the order of the text: what it
cites (numbers by their paths, constants, figures, tables, listings, claims, works, links) and what
it prints that is typed (strings and numbers in the arguments of a table or a figure, of a caption
or a title). A loop over a literal list is followed turn by turn, so that a path put together in it
is known; a part of a path that is not known stands as "*".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, cast

from jinja2 import Environment, TemplateSyntaxError, nodes

from engine.errors import LintError
from engine.number import FORMATS

NUMBERS = (
    *("num", "tex", "q", "vector", "tex_vector", "tex_matrix", "text", "seeds"),
    "over_seeds",
)
"""Functions whose first argument is the path of a value."""
BLOCKS = (
    *("figure", "table", "listing", "claim", "widget", "exercise"),
    *("sides", "summary", "note", "answer"),
)
"""Functions that put a block on the page."""
LINKS = ("cite", "ref", "see")
_NAMED = (*NUMBERS, *BLOCKS, *LINKS, "const")
# Arguments that name something, or set something, and are not shown as they stand.
_NOT_SHOWN = (
    *("form", "chapter", "page", "unit", "gender", "hot", "seed", "kind", "anchor", "block"),
    "noise",
)
_WHICH = ("seed", "noise")  # which of the values of a path it is, or how it is cut
_FORMULAS = ("equations",)
_VALUE_ITSELF = re.compile(r"q\('[^']*'\)")
_PART_OF_PATH = re.compile(r"[A-Za-z0-9_.]*")
_MAXIMUM_TURNS = 500  # of nested loops over literal lists

ENVIRONMENT = Environment(
    block_start_string="<%",
    block_end_string="%>",
    variable_start_string="<<",
    variable_end_string=">>",
    comment_start_string="<#",
    comment_end_string="#>",
    keep_trailing_newline=True,
    extensions=["jinja2.ext.do"],
)


@dataclass(frozen=True)
class Cited:
    """One thing that a template cites: `kind` is the function, `name` what it names.

    `detail` is what else decides which it is: of a number its seed, and the names that stand in its
    path or its calculation without a known value.
    """

    kind: str
    name: str
    line: int
    format: tuple[str, object] | None = None  # of a constant, a number with a path of its own
    detail: str = ""

    @property
    def is_number(self) -> bool:
        return self.kind in NUMBERS


@dataclass(frozen=True)
class Printed:
    """Something typed in an expression that reaches the page."""

    what: Literal["text", "formula", "number", "rounding"]
    text: str
    line: int


@dataclass
class Outline:
    """Everything that a template cites and prints, in order."""

    cited: list[Cited] = field(default_factory=list[Cited])
    printed: list[Printed] = field(default_factory=list[Printed])

    def of(self, *kinds: str) -> list[Cited]:
        return [one for one in self.cited if one.kind in kinds]


def outline(source: str, name: str, first_line: int = 1) -> Outline:
    """The outline of a template. Raises LintError where it cannot be parsed."""
    try:
        tree = ENVIRONMENT.parse(source)
    except TemplateSyntaxError as problem:
        line = problem.lineno + first_line - 1
        raise LintError(f"{name}:{line}: {problem.message}") from problem
    reader = _Reader(first_line - 1)
    reader.body(tree.body, {})
    out = reader.outline
    out.printed = list(dict.fromkeys(out.printed))
    return out


_Scope = dict[str, object]  # names bound to literal values
_Values = list[object]
_UNKNOWN = object()


class _Reader:
    def __init__(self, offset: int) -> None:
        self.outline = Outline()
        self.offset = offset
        self.turns = 0

    # ------------------------------------------------------------------ statements

    def body(self, statements: Iterable[nodes.Node], scope: _Scope) -> None:
        for statement in statements:
            self.statement(statement, scope)

    def statement(self, node: nodes.Node, scope: _Scope) -> None:
        if isinstance(node, nodes.Output):
            for part in node.nodes:
                if not isinstance(part, nodes.TemplateData):
                    self.shown(part, scope)
        elif isinstance(node, nodes.For):
            self.loop(node, scope)
        elif isinstance(node, nodes.Assign):
            value = _literal(node.node, scope)
            if isinstance(node.target, nodes.Name):
                scope[node.target.name] = value
            self.used(node.node, scope)
            if value is _UNKNOWN and isinstance(
                node.node, nodes.Call | nodes.Filter | nodes.BinExpr
            ):
                form = f"{', '.join(_names(node.target))} = {_form(node.node, scope)}"
                self.outline.cited.append(Cited("set", form, node.lineno + self.offset))
            if value is _UNKNOWN and isinstance(node.node, nodes.Concat):
                for part in node.node.nodes:  # a caption that numbers stand in; or a path
                    if not _PART_OF_PATH.fullmatch(_text_of(part) or ""):
                        self.shown(part, scope)
        elif isinstance(node, nodes.CallBlock):
            self.call(node.call, scope)
            self.body(node.body, dict(scope))
        elif isinstance(node, nodes.ExprStmt):
            self.used(node.node, scope)
        elif isinstance(node, nodes.If):
            self.used(node.test, scope)
            self.body([*node.body, *node.elif_, *node.else_], scope)
        elif isinstance(node, nodes.AssignBlock | nodes.Macro | nodes.FilterBlock | nodes.Scope):
            self.body(node.body, dict(scope))
        else:
            for child in node.iter_child_nodes():
                self.statement(child, scope)

    def loop(self, node: nodes.For, scope: _Scope) -> None:
        values = _literal(node.iter, scope)
        names = _names(node.target)
        turns = cast("_Values", values) if isinstance(values, list) else None
        if turns is None or self.turns + len(turns) > _MAXIMUM_TURNS:
            self.used(node.iter, scope)
            self.body([*node.body, *node.else_], {**scope, **dict.fromkeys(names, _UNKNOWN)})
            return
        for value in turns:
            self.turns += 1
            inner = dict(scope)
            if isinstance(node.target, nodes.Name):
                inner[node.target.name] = value
            elif isinstance(value, list) and len(cast("_Values", value)) == len(names):
                inner.update(zip(names, cast("_Values", value), strict=True))
            else:
                inner.update(dict.fromkeys(names, _UNKNOWN))
            self.body(node.body, inner)

    # ------------------------------------------------------------------ expressions

    def shown(self, node: nodes.Node, scope: _Scope, formula: bool = False) -> None:
        """An expression whose value reaches the page."""
        if isinstance(node, nodes.Const | nodes.Name):
            value = _literal(node, scope)
            if isinstance(value, str):
                self.note("formula" if formula else "text", value, node)
            elif isinstance(value, int | float) and not isinstance(value, bool):
                self.note("number", repr(value), node)
            elif isinstance(value, list) and isinstance(node, nodes.Name):
                for item in _leaves(cast("_Values", value)):
                    self.note("formula" if formula else "text", str(item), node)
        elif isinstance(node, nodes.Concat | nodes.List | nodes.Tuple | nodes.Add):
            for child in node.iter_child_nodes():
                self.shown(child, scope, formula)
        elif isinstance(node, nodes.CondExpr):
            self.used(node.test, scope)
            for child in (node.expr1, node.expr2):
                if child is not None:
                    self.shown(child, scope, formula)
        elif isinstance(node, nodes.Dict):
            for pair in node.items:
                self.shown(pair.value, scope, formula)
        else:
            self.used(node, scope)

    def used(self, node: nodes.Node, scope: _Scope) -> None:
        """An expression that is evaluated, and shown only by what it calls."""
        if isinstance(node, nodes.Call):
            self.call(node, scope)
            return
        if isinstance(node, nodes.Filter):
            if node.name in ("round", "format", "int", "float"):
                self.note("rounding", f"|{node.name}", node)
        elif isinstance(node, nodes.BinExpr):
            for side in (node.left, node.right):
                value = side.value if isinstance(side, nodes.Const) else None
                if isinstance(value, float) and not value.is_integer():
                    self.note("number", repr(value), side)
            if isinstance(node, nodes.Mod) and _text_of(node.left) is not None:
                self.note("rounding", f"{_text_of(node.left)!r} %", node)
        for child in node.iter_child_nodes():
            self.used(child, scope)

    def call(self, node: nodes.Call, scope: _Scope) -> None:
        name = node.node.name if isinstance(node.node, nodes.Name) else ""
        if name not in _NAMED:
            self.used(node.node, scope)
            shows = isinstance(node.node, nodes.Getattr) and node.node.attr in ("append", "extend")
            for argument in node.args:
                (self.shown if shows else self.used)(argument, scope)
            for keyword in node.kwargs:
                self.used(keyword.value, scope)
            return
        named = {keyword.key: keyword.value for keyword in node.kwargs}
        arguments = list(node.args)
        first = arguments.pop(0) if arguments else None
        self.cite(name, first, arguments, named, node, scope)
        if name == "over_seeds":  # each of its positions is a value
            for argument in arguments:
                self.cite(name, argument, [], {}, node, scope)
            arguments = []
        if name in LINKS or name == "listing":  # their other positions name things too
            arguments = []
        for argument in arguments:
            self.shown(argument, scope)
        for key, value in named.items():
            if key in _NOT_SHOWN or key in FORMATS:
                self.used(value, scope)
            elif key == "rings":
                continue
            else:
                self.shown(value, scope, formula=key in _FORMULAS)

    def cite(
        self,
        name: str,
        first: nodes.Node | None,
        others: list[nodes.Expr],
        named: Mapping[str, nodes.Expr],
        node: nodes.Call,
        scope: _Scope,
    ) -> None:
        path = None if first is None else _text(first, scope)
        given = next(((key, named[key]) for key in FORMATS if key in named), None)
        if path is None and name in NUMBERS:
            # A quantity: its paths are cited by the calls of q inside.
            if first is not None:
                form, line = _form(first, scope), node.lineno + self.offset
                if not _VALUE_ITSELF.fullmatch(form):
                    shown_as = (given[0], _literal(given[1], scope)) if given else None
                    detail = _detail(first, named, scope)
                    self.outline.cited.append(Cited("computed", form, line, shown_as, detail))
                value = _literal(first, scope)
                if isinstance(value, int | float) and not isinstance(value, bool):
                    self.note("number", repr(value), first)
                self.used(first, scope)
            return
        shown_as = None
        if given and path is not None and (name in NUMBERS or name == "const"):
            shown_as = (given[0], _literal(given[1], scope))
        keys = [path or ""]
        if name == "cite":
            keys = [_text(key, scope) or "*" for key in node.args]
        detail = _detail(first, named, scope) if first is not None and name in NUMBERS else ""
        if name in ("listing", "see", "ref"):
            detail = (_text(others[0], scope) or "*") if others else ""
        elif name == "table":
            detail = _shape(named)
        for key in keys:
            self.outline.cited.append(Cited(name, key, node.lineno + self.offset, shown_as, detail))
        chapter = _text(named["chapter"], scope) if "chapter" in named else None
        if name == "see" and chapter:
            self.outline.cited.append(Cited("ref", chapter, node.lineno + self.offset))

    def note(
        self, what: Literal["text", "formula", "number", "rounding"], text: str, node: nodes.Node
    ) -> None:
        self.outline.printed.append(Printed(what, text, node.lineno + self.offset))


def _names(target: nodes.Node) -> list[str]:
    if isinstance(target, nodes.Name):
        return [target.name]
    return [name for child in target.iter_child_nodes() for name in _names(child)]


def _literal(node: nodes.Node, scope: _Scope) -> object:
    """The value of a literal, or of a name bound to one; _UNKNOWN for anything else."""
    if isinstance(node, nodes.Const):
        return node.value
    if isinstance(node, nodes.Name):
        return scope.get(node.name, _UNKNOWN)
    if isinstance(node, nodes.List | nodes.Tuple):
        return [_literal(item, scope) for item in node.items]
    if isinstance(node, nodes.Neg):
        value = _literal(node.node, scope)
        return -value if isinstance(value, int | float) else _UNKNOWN
    if isinstance(node, nodes.Concat):
        text = _text(node, scope)
        return _UNKNOWN if text is None or "*" in text else text
    return _UNKNOWN


def _leaves(value: object) -> Iterator[object]:
    if isinstance(value, list):
        for item in cast("_Values", value):
            yield from _leaves(item)
    elif value is not _UNKNOWN:
        yield value


def _text(node: nodes.Node, scope: _Scope) -> str | None:
    """A text with "*" for each part that is not known; None if it is no text at all."""
    if isinstance(node, nodes.Concat):
        return re.sub(r"\*+", "*", "".join(_part(child, scope) for child in node.nodes))
    if isinstance(node, nodes.Add):
        sides = [_text(node.left, scope), _text(node.right, scope)]
        return None if None in sides else "".join(side or "" for side in sides)
    if isinstance(node, nodes.Name) and scope.get(node.name) is _UNKNOWN:
        return "*"
    value = _literal(node, scope)
    return value if isinstance(value, str) else None


def _part(node: nodes.Node, scope: _Scope) -> str:
    value = _literal(node, scope)
    if isinstance(value, str | int):
        return str(value)
    return _text(node, scope) or "*"


def _form(node: nodes.Node, scope: _Scope) -> str:
    """A calculation as both languages would write it, "*" for what is not known."""
    literal = _literal(node, scope)
    if literal is not _UNKNOWN:
        return repr(literal)
    if isinstance(node, nodes.Concat):
        return _text(node, scope) or "*"
    if isinstance(node, nodes.Call):
        given = [_form(argument, scope) for argument in node.args]
        given += sorted(f"{one.key}={_form(one.value, scope)}" for one in node.kwargs)
        called = node.node.name if isinstance(node.node, nodes.Name) else _form(node.node, scope)
        return f"{called}({', '.join(given)})"
    if isinstance(node, nodes.Getattr):
        return f"{_form(node.node, scope)}.{node.attr}"
    if isinstance(node, nodes.Filter) and node.node is not None:
        return f"{_form(node.node, scope)}|{node.name}"
    if isinstance(node, nodes.BinExpr):
        sides = [_form(node.left, scope), _form(node.right, scope)]
        if isinstance(node, nodes.Add | nodes.Mul):
            sides.sort()
        return f"({f' {node.operator} '.join(sides)})"
    if isinstance(node, nodes.Neg):
        return f"-{_form(node.node, scope)}"
    return "*"


def _detail(first: nodes.Node, named: Mapping[str, nodes.Expr], scope: _Scope) -> str:
    """What decides which number it is, and does not stand in its path."""
    called = [call.node for call in first.find_all(nodes.Call)]
    loaded = [*first.find_all(nodes.Name), *([first] if isinstance(first, nodes.Name) else [])]
    unknown = {
        name.name
        for name in loaded
        if not any(name is one for one in called) and scope.get(name.name, _UNKNOWN) is _UNKNOWN
    }
    set_to = [f"{key}={_form(named[key], scope)}" for key in _WHICH if key in named]
    return ", ".join([*sorted(unknown), *set_to])


def _text_of(node: nodes.Node) -> str | None:
    return node.value if isinstance(node, nodes.Const) and isinstance(node.value, str) else None


def _shape(named: Mapping[str, nodes.Expr]) -> str:
    """How many columns and, where they are written out, rows a table has."""
    sizes = [
        str(len(value.items)) if isinstance(value, nodes.List) else "?"
        for value in (named.get("columns"), named.get("rows"))
    ]
    return " × ".join(sizes)
