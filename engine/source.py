"""What does a definition say, and which other definitions does it reach?

Input: a module of this repository, read as text and never imported. Output: its *pieces* (each
function, class body, method and module-level constant), each as a normal form that leaves out
comments, docstrings, formatting, annotations and the names of local variables, with the dotted
names of everything global that it refers to.

The normal form is written by this module's own serialiser, since `ast.dump` differs between
versions of Python. Two sources that mean the same up to what is left out have the same normal form;
a change of anything else changes it.
"""

from __future__ import annotations

import ast
import builtins
import hashlib
import json
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path

from engine import paths
from engine.errors import SourceError

FOLLOWED = ("model", "experiments")
"""The packages whose definitions count; what lies elsewhere (engine, libraries) is only named."""

HARNESS = (
    "experiments.__main__",
    "experiments.runner",
    "experiments.session",
    "experiments.together",
)
"""Modules that run experiments without being part of what they measure."""

MODULE_BODY = "<module>"
"""The name of the piece that holds a module's bare statements, as Python names that code."""

_SKIPPED_FIELDS = frozenset(
    {"ctx", "kind", "type_comment", "type_params", "annotation", "returns", "simple"}
)
_PLAIN = (
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.Assign,
    ast.AnnAssign,
    ast.AugAssign,
)
_LOCAL = "local"  # renamed to a number
_FIXED = "fixed"  # printed as it stands: parameters, names in class bodies
_GLOBAL = "global"  # declared global: belongs to the module
_BUILTINS = frozenset(dir(builtins))


# ---------------------------------------------------------------------------------------------
# Modules


@dataclass(frozen=True)
class Piece:
    """One definition in normal form.

    `name` is dotted from the repository's root ("model.attention.Head.forward"), `references` are
    dotted names of globals as this module sees them (a re-export is resolved by `resolve`),
    `members` attributes of parameters whose annotation names a class ("model.block.Block.mix" for
    `block.mix` with `block: Block`), and `bases` those of a class's bases.
    """

    name: str
    kind: str  # "function", "class", "method", "constant", "module"
    text: str
    references: frozenset[str]
    members: frozenset[str] = frozenset()
    bases: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """Sixteen hexadecimal digits of the SHA-256 of the normal form."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Module:
    """A parsed module: its pieces by local name ("Head", "Head.forward", "SHA256")."""

    name: str
    path: Path
    tree: ast.Module
    pieces: dict[str, Piece]
    without_fields: dict[str, Piece]  # class bodies less their annotated fields
    imports: dict[str, str]
    stars: tuple[str, ...]
    imported: tuple[str, ...]  # every module named by a top-level import

    def members(self, class_name: str) -> list[Piece]:
        """The pieces inside a class: its methods, nested classes and theirs."""
        prefix = class_name + "."
        return [piece for name, piece in self.pieces.items() if name.startswith(prefix)]

    def class_node(self, name: str) -> ast.ClassDef | None:
        """The syntax tree of a top-level class."""
        for node in self.tree.body:
            if isinstance(node, ast.ClassDef) and node.name == name:
                return node
        return None


_modules: dict[Path, tuple[bytes, Module]] = {}
_seen: ContextVar[dict[str, Module | None] | None] = ContextVar("_seen", default=None)


@contextmanager
def glance() -> Generator[None]:
    """While it lasts each file is read once: what is judged together is judged by one state."""
    if _seen.get() is not None:
        yield
        return
    token = _seen.set({})
    try:
        yield
    finally:
        _seen.reset(token)


def module_path(name: str) -> Path | None:
    """The file of a module of this repository, or None where there is none."""
    base = paths.ROOT.joinpath(*name.split("."))
    for path in (base.with_name(base.name + ".py"), base / "__init__.py"):
        if path.is_file():
            return path
    return None


def load(name: str) -> Module | None:
    """The module of this dotted name, parsed anew whenever its text has changed."""
    seen = _seen.get()
    if seen is None:
        return _read(name)
    if name not in seen:
        seen[name] = _read(name)
    return seen[name]


def _read(name: str) -> Module | None:
    path = module_path(name)
    if path is None:
        return None
    try:
        text = path.read_bytes()
    except OSError as error:
        raise SourceError(f"{paths.shown(path)}: cannot be read: {error.strerror}") from None
    known = _modules.get(path)
    if known is not None and known[0] == text:
        return known[1]
    try:
        tree = ast.parse(text, filename=str(path))
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        where = f"{paths.shown(path)}:{line}" if line else paths.shown(path)
        raise SourceError(f"{where}: is not valid Python: {error.args[0]}") from None
    module = _analyse(name, path, tree)
    _modules[path] = (text, module)
    return module


def is_followed(dotted: str) -> bool:
    """Whether a dotted name lies in the packages whose definitions count."""
    if dotted.split(".")[0] not in FOLLOWED:
        return False
    return not any(dotted == name or dotted.startswith(name + ".") for name in HARNESS)


# ---------------------------------------------------------------------------------------------
# From a dotted name to a definition


@dataclass(frozen=True)
class Target:
    """Where a dotted name leads: a piece of a module, or (piece None) the whole module."""

    module: Module
    piece: Piece | None


def resolve(dotted: str, *, used_in: str = "") -> Target | None:
    """Follow a dotted name to the definition it means, through re-exports and star imports.

    Returns None for what lies outside the followed packages.

    Raises:
        SourceError: the name lies in a followed package, and nothing there has it.
    """
    target = _resolve(dotted, 0)
    if target is None and is_followed(dotted):
        module, rest = _split(dotted)
        known = module is not None and rest and rest[0].startswith("__")
        folder = module is None and paths.ROOT.joinpath(*dotted.split(".")).is_dir()
        if not known and not folder and not _from_outside(module, rest):
            where = f" (used in {used_in})" if used_in else ""
            raise SourceError(f"nothing in this repository is called {dotted}{where}")
    return target


def _split(dotted: str) -> tuple[Module | None, list[str]]:
    """The longest prefix that is a module, and the rest of the parts."""
    parts = dotted.split(".")
    for count in range(len(parts), 0, -1):
        module = load(".".join(parts[:count]))
        if module is not None:
            return module, parts[count:]
    return None, parts


def _resolve(dotted: str, depth: int) -> Target | None:
    if not is_followed(dotted) or depth > 20:
        return None
    module, rest = _split(dotted)
    if module is None:
        return None
    if not rest:
        return Target(module, None)
    piece = module.pieces.get(rest[0])
    if piece is not None:
        return Target(module, piece)
    imported = module.imports.get(rest[0])
    if imported is not None:
        if is_followed(imported):
            return _resolve(".".join([imported, *rest[1:]]), depth + 1)
        text = f"import {imported}"  # what is re-exported from a library counts by its name
        return Target(module, Piece(f"{module.name}.{rest[0]}", "constant", text, frozenset()))
    for star in module.stars:
        target = _resolve(".".join([star, *rest]), depth + 1)
        if target is not None:
            return target
    return None


def _from_outside(module: Module | None, rest: list[str]) -> bool:
    """Whether the name may come from a library's star import, or from the harness."""
    if module is None or not rest:
        return False
    imported = module.imports.get(rest[0])
    return imported is not None or any(not is_followed(star) for star in module.stars)


# ---------------------------------------------------------------------------------------------
# Pieces


def _analyse(name: str, path: Path, tree: ast.Module) -> Module:
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    imports: dict[str, str] = {}
    stars: list[str] = []
    imported: list[str] = []
    bound: dict[
        str, list[ast.stmt]
    ] = {}  # in order: every statement that makes the name what it is
    bare: list[ast.stmt] = []
    for statement in _live(tree.body):
        if isinstance(statement, ast.Import | ast.ImportFrom):
            for local, target in _import_targets(statement, package):
                if local == "*":
                    stars.append(target)
                else:
                    imports[local] = target
            imported.extend(_imported_modules(statement, package))
            continue
        owners = list(dict.fromkeys(_bound_by(statement)))
        for owner in owners:
            bound.setdefault(owner, []).append(statement)
        changed = "" if owners else _changed_root(statement)
        if changed in bound:
            bound[changed].append(statement)
        elif not owners or not isinstance(statement, _PLAIN):
            bare.append(statement)  # a loop, say, may fill a table as well as bind a name
    imports = {local: target for local, target in imports.items() if local not in bound}

    names = _Names(name, package, frozenset(bound), imports, bool(stars))
    pieces: dict[str, Piece] = {}
    without_fields: dict[str, Piece] = {}
    for local, statements in bound.items():
        _add_pieces(names, local, statements, pieces, without_fields)
    if bare:
        writer = _Writer(names)
        text = writer.body(bare, writer.module_scope)
        pieces[MODULE_BODY] = Piece(
            f"{name}.{MODULE_BODY}", "module", text, frozenset(writer.references)
        )
    return Module(name, path, tree, pieces, without_fields, imports, tuple(stars), tuple(imported))


def _add_pieces(
    names: _Names,
    local: str,
    statements: list[ast.stmt],
    pieces: dict[str, Piece],
    without_fields: dict[str, Piece],
) -> None:
    """Add the pieces of one top-level name, made by one statement or several."""
    only = statements[0]
    dotted = f"{names.module}.{local}"
    if isinstance(only, ast.ClassDef):
        _add_class(names, local, only, statements[1:], pieces, without_fields)
        return
    writer = _Writer(names)
    texts: list[str] = []
    for statement in statements:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            if not _is_overload(statement):
                texts.append(writer.function(statement, writer.module_scope, keep_name=True))
        else:
            texts.append(writer.node(statement, writer.module_scope))
    is_function = isinstance(only, ast.FunctionDef | ast.AsyncFunctionDef)
    pieces[local] = Piece(
        dotted,
        "function" if is_function else "constant",
        "\n".join(texts),
        frozenset(writer.references) - {dotted},
        frozenset(writer.members),
    )


def _add_class(
    names: _Names,
    local: str,
    node: ast.ClassDef,
    later: list[ast.stmt],
    pieces: dict[str, Piece],
    without_fields: dict[str, Piece],
) -> None:
    """Add a class body as one piece, and each method (and nested class) as its own."""
    dotted = f"{names.module}.{local}"
    methods: dict[str, list[ast.FunctionDef | ast.AsyncFunctionDef]] = {}
    nested: list[ast.ClassDef] = []
    rest: list[ast.stmt] = []
    for statement in _live(node.body):
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            if not _is_overload(statement):
                methods.setdefault(statement.name, []).append(statement)
        elif isinstance(statement, ast.ClassDef):
            nested.append(statement)
        else:
            rest.append(statement)

    for store, body in (
        (pieces, rest),
        (without_fields, [item for item in rest if not _is_field(item)]),
    ):
        writer = _Writer(names)
        scope = writer.class_scope(node, writer.module_scope)
        text = writer.class_head(node, writer.module_scope) + writer.body(body, scope)
        text += "".join(writer.node(item, writer.module_scope) for item in later)
        references = frozenset(writer.references) - {dotted}
        bases = tuple(sorted(writer.base_references))
        store[local] = Piece(dotted, "class", text, references, frozenset(writer.members), bases)
    for method, definitions in methods.items():
        writer = _Writer(names)
        scope = writer.class_scope(node, writer.module_scope)
        scope.own_class = dotted
        texts = [writer.function(item, scope, keep_name=True) for item in definitions]
        pieces[f"{local}.{method}"] = Piece(
            f"{dotted}.{method}",
            "method",
            "\n".join(texts),
            frozenset(writer.references),
            frozenset(writer.members),
        )
    for inner in nested:
        _add_class(names, f"{local}.{inner.name}", inner, [], pieces, without_fields)


def _live(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that do something when the module is imported (not run as a program)."""
    for statement in body:
        if _does_nothing(statement) or isinstance(statement, ast.Global | ast.Nonlocal):
            continue
        if type(statement).__name__ == "TypeAlias":
            continue
        if isinstance(statement, ast.If):
            if _is_type_checking(statement.test):
                yield from _live(statement.orelse)
                continue
            if _is_main_guard(statement.test):
                continue
        yield statement


def _does_nothing(statement: ast.AST) -> bool:
    """Docstrings, other bare constants and `pass`."""
    if isinstance(statement, ast.Pass):
        return True
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _is_type_checking(test: ast.expr) -> bool:
    name = test.attr if isinstance(test, ast.Attribute) else getattr(test, "id", "")
    return name == "TYPE_CHECKING"


def _is_main_guard(test: ast.expr) -> bool:
    return (
        isinstance(test, ast.Compare)
        and isinstance(test.left, ast.Name)
        and test.left.id == "__name__"
    )


def _is_overload(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    for decorator in node.decorator_list:
        name = decorator.attr if isinstance(decorator, ast.Attribute) else None
        name = decorator.id if isinstance(decorator, ast.Name) else name
        if name == "overload":
            return True
    return False


def _is_field(statement: ast.stmt) -> bool:
    """An annotated dataclass field (a ClassVar is none)."""
    return (
        isinstance(statement, ast.AnnAssign)
        and isinstance(statement.target, ast.Name)
        and "ClassVar" not in _markers(statement.annotation)
    )


def _markers(annotation: ast.expr) -> list[str]:
    """The annotations that a dataclass acts upon; all others are for the reader."""
    found: set[str] = set()
    for node in ast.walk(annotation):
        for text in (getattr(node, "id", None), getattr(node, "attr", None)):
            if text in ("ClassVar", "InitVar", "KW_ONLY"):
                found.add(text)
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.update(m for m in ("ClassVar", "InitVar", "KW_ONLY") if m in node.value)
    return sorted(found)


def _bound_by(statement: ast.stmt) -> list[str]:
    """The module-level names that a top-level statement binds, however deep inside it."""
    collector = _Bindings("", "")
    collector.visit(statement)
    return list(collector.names)


def _changed_root(statement: ast.stmt) -> str:
    """The name whose object a statement changes in place: `TABLE["a"] = 1`, `TABLE.update(x)`."""
    targets: list[ast.expr] = []
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, ast.AugAssign | ast.AnnAssign):
        targets = [statement.target]
    elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        targets = [statement.value.func]
    elif isinstance(statement, ast.Delete):
        targets = statement.targets
    for target in targets:
        root = target
        while isinstance(root, ast.Attribute | ast.Subscript | ast.Call):
            root = root.func if isinstance(root, ast.Call) else root.value
        if isinstance(root, ast.Name) and root is not target:
            return root.id
    return ""


def _package_of(node: ast.ImportFrom, package: str) -> str:
    """The absolute name of the module that a `from ... import` names."""
    if not node.level:
        return node.module or ""
    parts = package.split(".") if package else []
    parts = parts[: len(parts) - (node.level - 1)]
    return ".".join([*parts, node.module] if node.module else parts)


def _import_targets(node: ast.Import | ast.ImportFrom, package: str) -> Iterator[tuple[str, str]]:
    """Pairs (local name, dotted target); a star import has the local name "*"."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            if alias.asname:
                yield alias.asname, alias.name
            else:
                top = alias.name.split(".")[0]
                yield top, top
        return
    source = _package_of(node, package)
    if source == "__future__":
        return
    for alias in node.names:
        if alias.name == "*":
            yield "*", source
        else:
            yield alias.asname or alias.name, f"{source}.{alias.name}"


def _imported_modules(node: ast.Import | ast.ImportFrom, package: str) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    source = _package_of(node, package)
    return [source, *(f"{source}.{alias.name}" for alias in node.names if alias.name != "*")]


# ---------------------------------------------------------------------------------------------
# The normal form


@dataclass(frozen=True)
class _Names:
    """What the globals of a module are."""

    module: str
    package: str
    defined: frozenset[str]
    imports: dict[str, str]
    has_stars: bool


@dataclass
class _Scope:
    kind: str  # "module", "class", "function", "comprehension"
    parent: _Scope | None
    names: dict[str, str] = field(default_factory=dict[str, str])
    numbers: dict[str, int] = field(default_factory=dict[str, int])
    types: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    own_class: str = ""


class _Bindings(ast.NodeVisitor):
    """Collects the names that a block binds in its own scope, without entering inner scopes."""

    def __init__(self, package: str, fixed: str) -> None:
        self.package = package
        self.how = fixed or _LOCAL
        self.names: dict[str, str] = {}
        self.nonlocals: set[str] = set()
        self.conflicts: set[str] = set()
        self._inside_comprehension = 0

    def bind(self, name: str | None, how: str | None = None) -> None:
        if name is None:
            return
        how = how or self.how
        before = self.names.get(name)
        if before == _GLOBAL:
            return
        if before is not None and before != how:
            self.conflicts.update(item[1:] for item in (before, how) if item.startswith("@"))
            how = self.how
        self.names[name] = how

    def visit_Name(self, node: ast.Name) -> None:
        if not isinstance(node.ctx, ast.Load) and not self._inside_comprehension:
            self.bind(node.id)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self.bind(node.target.id)
        self.visit(node.value)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self.bind(node.name)
        for expression in [*node.decorator_list, *_defaults(node.args)]:
            self.visit(expression)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self.visit_FunctionDef(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.bind(node.name, _FIXED)
        for expression in [*node.decorator_list, *node.bases]:
            self.visit(expression)
        for item in node.keywords:
            self.visit(item.value)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        for expression in _defaults(node.args):
            self.visit(expression)

    def _comprehension(self, node: ast.AST) -> None:
        self._inside_comprehension += 1
        self.generic_visit(node)
        self._inside_comprehension -= 1

    def visit_ListComp(self, node: ast.ListComp) -> None:
        self._comprehension(node)

    def visit_SetComp(self, node: ast.SetComp) -> None:
        self._comprehension(node)

    def visit_DictComp(self, node: ast.DictComp) -> None:
        self._comprehension(node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> None:
        self._comprehension(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self.visit(node.target)
        if node.value is not None:
            self.visit(node.value)

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> None:
        for local, target in _import_targets(node, self.package):
            if local != "*":
                self.bind(local, "@" + target)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        self.visit_Import(node)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        self.bind(node.name)
        self.generic_visit(node)

    def visit_MatchAs(self, node: ast.MatchAs) -> None:
        self.bind(node.name)
        self.generic_visit(node)

    def visit_MatchStar(self, node: ast.MatchStar) -> None:
        self.bind(node.name)

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        self.bind(node.rest)
        self.generic_visit(node)

    def visit_Global(self, node: ast.Global) -> None:
        for name in node.names:
            self.names[name] = _GLOBAL

    def visit_Nonlocal(self, node: ast.Nonlocal) -> None:
        self.nonlocals.update(node.names)


def _defaults(arguments: ast.arguments) -> list[ast.expr]:
    return [*arguments.defaults, *(item for item in arguments.kw_defaults if item is not None)]


class _Writer:
    """Writes syntax trees in normal form, and notes the globals they refer to."""

    def __init__(self, names: _Names) -> None:
        self.names = names
        self.references: set[str] = set()
        self.members: set[str] = set()
        self.base_references: set[str] = set()
        self.module_scope = _Scope("module", None)
        self._keep_locals = False
        self._count = 0

    # scopes

    def _bindings(self, body: Iterable[ast.AST], scope: _Scope, how: str = _LOCAL) -> None:
        collector = _Bindings(self.names.package, how)
        for node in body:
            collector.visit(node)
        for name, binding in collector.names.items():
            if name not in collector.nonlocals:
                scope.names.setdefault(name, binding)
        self.references.update(collector.conflicts)

    def class_scope(self, node: ast.ClassDef, scope: _Scope) -> _Scope:
        inner = _Scope("class", scope)
        self._bindings(node.body, inner, _FIXED)
        return inner

    def _function_scope(
        self, arguments: ast.arguments, body: Iterable[ast.AST], scope: _Scope
    ) -> _Scope:
        inner = _Scope("function", scope)
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        every += [item for item in (arguments.vararg, arguments.kwarg) if item is not None]
        inner.names.update({item.arg: _FIXED for item in every})
        inner.types = {item.arg: self._classes(item.annotation, scope) for item in every}
        first = [*arguments.posonlyargs, *arguments.args][:1]
        if scope.own_class and first:
            inner.types[first[0].arg] = (scope.own_class,)
        self._bindings(body, inner)
        return inner

    def _classes(self, annotation: ast.expr | None, scope: _Scope) -> tuple[str, ...]:
        """The global names in an annotation: `Run`, `"Run"`, `Run | None`, `list[Run]`."""
        if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
            try:
                annotation = ast.parse(annotation.value, mode="eval").body
            except SyntaxError:
                return ()
        found: list[str] = []
        for node in ast.walk(annotation) if annotation is not None else ():
            if isinstance(node, ast.Name | ast.Attribute):
                dotted = self._dotted(node, scope)
                if dotted is not None:
                    found.append(dotted)
        return tuple(found)

    def _owner(self, name: str, scope: _Scope) -> _Scope | None:
        """The scope that a name belongs to; class bodies are not seen from inside functions."""
        start, current = scope, scope
        while True:
            if (current.kind != "class" or current is start) and name in current.names:
                return current
            if current.parent is None:
                return None
            current = current.parent

    # names

    def _global(self, name: str) -> str | None:
        if name in self.names.defined:
            return f"{self.names.module}.{name}"
        if name in self.names.imports:
            return self.names.imports[name]
        if self.names.has_stars and name not in _BUILTINS:
            return f"{self.names.module}.{name}"
        return None

    def _name(self, name: str, scope: _Scope) -> str:
        """How a name is printed: %3 (a local), @dotted (a global or an import), or as it stands."""
        owner = self._owner(name, scope)
        how = owner.names[name] if owner is not None else _GLOBAL
        if how == _LOCAL and owner is not None:
            if self._keep_locals:
                return name
            if name not in owner.numbers:
                owner.numbers[name] = self._count
                self._count += 1
            return f"%{owner.numbers[name]}"
        if how == _FIXED:
            return name
        dotted = how[1:] if how.startswith("@") else self._global(name)
        return name if dotted is None else "@" + dotted

    def _chain(self, node: ast.expr, scope: _Scope) -> str | None:
        """`a.b.c` printed as a dotted name where `a` is global or imported, and noted."""
        dotted = self._dotted(node, scope)
        if dotted is not None:
            self.references.add(dotted)
            return "@" + dotted
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            owner = self._owner(node.value.id, scope)
            types = owner.types.get(node.value.id, ()) if owner is not None else ()
            self.members.update(f"{kind}.{node.attr}" for kind in types)
        return None

    def _dotted(self, node: ast.expr, scope: _Scope) -> str | None:
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return None
        owner = self._owner(node.id, scope)
        how = owner.names[node.id] if owner is not None else _GLOBAL
        if how in (_LOCAL, _FIXED):
            return None
        first = how[1:] if how.startswith("@") else self._global(node.id)
        return None if first is None else ".".join([first, *reversed(parts)])

    # nodes

    def body(self, statements: Iterable[ast.stmt], scope: _Scope) -> str:
        live = (item for item in statements if not _is_silent(item, scope.kind))
        return "[" + ",".join(self.node(item, scope) for item in live) + "]"

    def class_head(self, node: ast.ClassDef, scope: _Scope) -> str:
        decorators = ",".join(self.node(item, scope) for item in node.decorator_list)
        before = set(self.references)
        bases = ",".join(self.node(item, scope) for item in node.bases)
        plain = {self._chain(item, scope) for item in node.bases}
        self.base_references = {item[1:] for item in plain if item is not None}
        self.references -= self.base_references - before
        keywords = ",".join(self.node(item, scope) for item in node.keywords)
        return f"(class {node.name} [{decorators}] [{bases}] [{keywords}])"

    def function(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: _Scope, *, keep_name: bool
    ) -> str:
        if keep_name:  # the root of a piece
            self._keep_locals = _reads_its_locals(node)
        name = node.name if keep_name else self._name(node.name, scope)
        decorators = ",".join(self.node(item, scope) for item in node.decorator_list)
        arguments = self._arguments(node.args, scope)
        inner = self._function_scope(node.args, node.body, scope)
        kind = "async" if isinstance(node, ast.AsyncFunctionDef) else "def"
        return f"({kind} {name} [{decorators}] {arguments} {self.body(node.body, inner)})"

    def _arguments(self, node: ast.arguments, scope: _Scope) -> str:
        groups = [
            " ".join(item.arg for item in group)
            for group in (
                node.posonlyargs,
                node.args,
                [node.vararg] if node.vararg else [],
                node.kwonlyargs,
                [node.kwarg] if node.kwarg else [],
            )
        ]
        defaults = ",".join(self.node(item, scope) for item in node.defaults)
        keyword_defaults = ",".join(
            "-" if item is None else self.node(item, scope) for item in node.kw_defaults
        )
        return f"({' | '.join(groups)} [{defaults}] [{keyword_defaults}])"

    def node(self, node: ast.AST, scope: _Scope) -> str:
        match node:
            case ast.Name():
                return self._chain(node, scope) or self._name(node.id, scope)
            case ast.Attribute():
                chain = self._chain(node, scope)
                return chain or f"(attribute {self.node(node.value, scope)} {node.attr})"
            case ast.Constant():
                return _constant(node.value)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                return self.function(node, scope, keep_name=scope.kind in ("module", "class"))
            case ast.Lambda():
                arguments = self._arguments(node.args, scope)
                inner = self._function_scope(node.args, [node.body], scope)
                return f"(lambda {arguments} {self.node(node.body, inner)})"
            case ast.ClassDef():
                outer = set(self.base_references)
                head = self.class_head(node, scope)
                self.references |= self.base_references
                self.base_references = outer
                return f"{head[:-1]} {self.body(node.body, self.class_scope(node, scope))})"
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                return self._comprehension(node, scope)
            case ast.JoinedStr():
                return self._joined(node, scope)
            case ast.AnnAssign():
                return self._annotated(node, scope)
            case ast.Import() | ast.ImportFrom():
                targets = [item for _, item in _import_targets(node, self.names.package)]
                if scope.kind == "module":
                    self.references.update(targets)
                return f"(import {' '.join(targets)})"
            case ast.ExceptHandler() | ast.MatchAs() | ast.MatchStar():
                return self._generic(node, scope, {"name": node.name})
            case ast.MatchMapping():
                return self._generic(node, scope, {"rest": node.rest})
            case ast.If() if _is_type_checking(node.test):
                return self.body(node.orelse, scope)
            case _:
                return self._generic(node, scope, {})

    def _generic(self, node: ast.AST, scope: _Scope, renamed: dict[str, str | None]) -> str:
        """Any other node: its type and its fields by name, without the empty ones."""
        written: list[str] = []
        for name in sorted(node._fields):
            value: object = getattr(node, name, None)
            if name in _SKIPPED_FIELDS or value is None or value == []:
                continue
            bound = renamed.get(name)
            printed = self._name(bound, scope) if bound else self._value(value, scope)
            written.append(f"{name}={printed}")
        return f"({type(node).__name__}{''.join(' ' + item for item in written)})"

    def _value(self, value: object, scope: _Scope) -> str:
        if isinstance(value, ast.AST):
            return self.node(value, scope)
        if isinstance(value, list):
            items: list[object] = [*value]  # pyright: ignore[reportUnknownArgumentType]
            statements = [item for item in items if isinstance(item, ast.stmt)]
            if statements and len(statements) == len(items):
                return self.body(statements, scope)
            return "[" + ",".join(self._value(item, scope) for item in items) + "]"
        return _constant(value)

    def _annotated(self, node: ast.AnnAssign, scope: _Scope) -> str:
        """In a class the presence of an annotation makes a field; elsewhere it says nothing."""
        value = "" if node.value is None else " value=" + self.node(node.value, scope)
        target = self.node(node.target, scope)
        if scope.kind == "class":
            markers = "".join(" " + marker for marker in _markers(node.annotation))
            return f"(Field target={target}{value}{markers})"
        return f"(Assign targets=[{target}]{value})"

    def _comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp, scope: _Scope
    ) -> str:
        inner = _Scope("comprehension", scope)
        for generator in node.generators:
            for item in ast.walk(generator.target):
                if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Store):
                    inner.names[item.id] = _LOCAL
        parts: list[str] = []
        for index, generator in enumerate(node.generators):
            # The first iterable is evaluated outside; all else belongs to the comprehension.
            iterable = self.node(generator.iter, scope if index == 0 else inner)
            target = self.node(generator.target, inner)
            conditions = ",".join(self.node(item, inner) for item in generator.ifs)
            word = "async for" if generator.is_async else "for"
            parts.append(f"({word} {target} in {iterable} if [{conditions}])")
        if isinstance(node, ast.DictComp):
            element = f"{self.node(node.key, inner)}:{self.node(node.value, inner)}"
        else:
            element = self.node(node.elt, inner)
        return f"({type(node).__name__} {' '.join(parts)} {element})"

    def _joined(self, node: ast.JoinedStr, scope: _Scope) -> str:
        """An f-string, its constant stretches merged (versions of Python cut them differently)."""
        parts: list[str] = []
        stretch = ""
        for item in node.values:
            if isinstance(item, ast.Constant) and isinstance(item.value, str):
                stretch += item.value
                continue
            if stretch:
                parts.append(_constant(stretch))
                stretch = ""
            if isinstance(item, ast.FormattedValue):
                specification = item.format_spec
                written = self.node(specification, scope) if specification is not None else ""
                written = "" if written == "(f)" else written
                value = self.node(item.value, scope)
                parts.append(f"(value {value} {item.conversion} {written})")
            else:
                parts.append(self.node(item, scope))
        if stretch:
            parts.append(_constant(stretch))
        return f"(f{''.join(' ' + part for part in parts)})"


def _is_silent(statement: ast.stmt, scope_kind: str) -> bool:
    """Whether a statement says nothing that the normal form keeps: what scopes resolve already,
    and annotations without a value (which make fields in a class body, and nothing elsewhere)."""
    if _does_nothing(statement) or isinstance(statement, ast.Global | ast.Nonlocal):
        return True
    if scope_kind == "class":
        return False
    return isinstance(statement, ast.AnnAssign) and statement.value is None


def _reads_its_locals(node: ast.AST) -> bool:
    """Whether code can see the names of its local variables, so that they are part of it."""
    for item in ast.walk(node):
        if isinstance(item, ast.Name) and item.id in ("locals", "eval", "exec"):
            return True
        if (
            isinstance(item, ast.Call)
            and isinstance(item.func, ast.Name)
            and item.func.id in ("vars", "dir")
            and not item.args
        ):
            return True
    return False


def _constant(value: object) -> str:
    """A constant with its type: 1, 1.0 and True differ; the quotes of a string do not."""
    if isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, bytes):
        return "b" + value.hex()
    if isinstance(value, bool) or value is None or value is Ellipsis:
        return str(value)
    if isinstance(value, int):
        return f"i{value:x}"
    if isinstance(value, float):
        return f"f{value!r}"
    if isinstance(value, complex):
        return f"c{value.real!r},{value.imag!r}"
    raise SourceError(f"a constant of type {type(value).__name__} has no normal form")
