"""What would produce a run's numbers now, and is it what produced them then?

Input: a run. Output: its fingerprint, a digest over the run's settings, seed and inputs, and the
normal form (engine/source.py) of every definition that is statically reached from the experiment's
`measure`, from the methods of its settings, and from definitions named in its settings as
"module.path:Name". Time never enters: a clone, `touch` or a rebase changes no digest.

Not part of it: the engine, libraries (only their names), the harness that runs experiments, and the
declaration literals (FULL, ROWS, SEEDS, ...), of which only the run's resulting settings count.

`CallTrace` and `uncovered` say whether a replay really called what has changed.
"""

from __future__ import annotations

import ast
import hashlib
import json
import platform
import re
import sys
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from types import CodeType, FrameType, TracebackType
from typing import Any, Protocol, cast

from engine import paths, source
from engine.declaration import RunSpec, declaration
from engine.errors import DeclarationError, SourceError

SCHEME = "medida-1"
"""Names how digests are made; enters every digest, so that a new way is never taken for an old."""

CORPUS = "corpus"
"""The input whose hash is the literal SHA256 of model/corpus.py, so that the text may be absent."""

_DEFINITION = re.compile(r"(?:model|experiments)(?:\.\w+)*:[A-Za-z_]\w*(?:\.\w+)*\Z")


@dataclass(frozen=True)
class Fingerprint:
    """What a run depends on: pieces of source and inputs by name, and the digest over all."""

    digest: str
    definitions: dict[str, str]
    inputs: dict[str, str]


class Recorded(Protocol):
    """What this module needs of a record (which is defined a layer above)."""

    @property
    def seed(self) -> int | None: ...
    @property
    def settings(self) -> Mapping[str, object]: ...
    @property
    def definitions(self) -> Mapping[str, str]: ...
    @property
    def inputs(self) -> Mapping[str, str]: ...


def fingerprint(spec: RunSpec) -> Fingerprint:
    """The fingerprint of what would produce this run now.

    Raises:
        SourceError: a source file that the run reaches cannot be parsed, or a name leads nowhere.
        DeclarationError: an input of the run is not there.
    """
    with source.glance():
        reached = reach(spec)
        inputs = _inputs(spec)
    definitions = {name: reached.pieces[name].digest for name in sorted(reached.pieces)}
    return Fingerprint(
        digest_of(spec.settings, spec.seed, definitions, inputs), definitions, inputs
    )


def digest_of(
    settings: Mapping[str, object],
    seed: int | None,
    definitions: Mapping[str, str],
    inputs: Mapping[str, str],
) -> str:
    """The digest over everything a run depends on (SHA-256, hexadecimal)."""
    whole = {
        "scheme": SCHEME,
        "settings": plain(settings),
        "seed": seed,
        "definitions": dict(definitions),
        "inputs": dict(inputs),
    }
    return hashlib.sha256(canonical(whole).encode()).hexdigest()


def canonical(value: object) -> str:
    """The one JSON text of a value: keys sorted, no spaces, ASCII only, no NaN."""
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
    )


def plain(value: object) -> object:
    """Mappings as dictionaries and tuples as lists, all the way down, as JSON has them."""
    if isinstance(value, Mapping):
        table = cast("Mapping[object, object]", value)
        return {str(key): plain(item) for key, item in table.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in cast("list[object]", value)]
    return value


# ---------------------------------------------------------------------------------------------
# Which definitions a run reaches


@dataclass
class Reach:
    """The pieces that a run reaches, and which of them refers to which."""

    pieces: dict[str, source.Piece] = field(default_factory=dict[str, source.Piece])
    referrers: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    bases: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    roots: set[str] = field(default_factory=set[str])


def reach(spec: RunSpec) -> Reach:
    """Everything in the followed packages that a run's code can name."""
    walk = _Walk()
    own = f"experiments.{spec.experiment}"
    walk.follow(f"{own}.measure", own)
    for name in sorted(set(_named_definitions(spec.settings))):
        walk.follow(name, f"the settings of {spec.id}")
    settings_class = declaration(spec.experiment, spec.size).settings_class
    walk.follow_settings(settings_class, own)
    return walk.reach


def _named_definitions(value: object) -> Iterable[str]:
    """Every "module.path:Name" among a run's settings, as a dotted name."""
    if isinstance(value, str) and _DEFINITION.match(value):
        yield value.replace(":", ".")
    elif isinstance(value, Mapping):
        for item in cast("Mapping[object, object]", value).values():
            yield from _named_definitions(item)
    elif isinstance(value, list | tuple):
        for item in cast("list[object]", value):
            yield from _named_definitions(item)


class _Walk:
    """A walk over references; whole classes are reached with all their methods, since which
    of them is called on an instance cannot be read from the source."""

    def __init__(self) -> None:
        self.reach = Reach()
        self._modules: set[str] = set()
        self._followed: set[str] = set()

    def follow(self, dotted: str, used_in: str, referrer: str = "") -> None:
        """Reach what a name means (a root, unless something refers to it) and all it refers to."""
        waiting = [(dotted, used_in, referrer)]
        while waiting:
            name, where, referrer = waiting.pop()
            target = source.resolve(name, used_in=where)
            if target is None:
                continue
            pieces = (
                [target.piece]
                if target.piece is not None
                else [piece for local, piece in target.module.pieces.items() if "." not in local]
            )
            for piece in pieces:
                if referrer:
                    self.reach.referrers.setdefault(piece.name, set()).add(referrer)
                else:
                    self.reach.roots.add(piece.name)
                waiting.extend(self._enter(target.module, piece))
            waiting.extend(self._enter_module(target.module))

    def _enter(self, module: source.Module, piece: source.Piece) -> list[tuple[str, str, str]]:
        if piece.name in self._followed:
            return []
        members = [piece]
        if piece.kind == "class":
            members += module.members(piece.name[len(module.name) + 1 :])
        waiting: list[tuple[str, str, str]] = []
        for member in members:
            self._followed.add(member.name)
            self.reach.pieces[member.name] = member
            self._note_bases(member)
            waiting += self._named_in(member)
            waiting += [(name, member.name, member.name) for name in member.bases]
        return waiting

    def _named_in(self, piece: source.Piece) -> list[tuple[str, str, str]]:
        """What a piece refers to: globals, and methods of parameters whose class is annotated.

        Of such a class only the methods that are named so are reached.
        """
        waiting = [(name, piece.name, piece.name) for name in piece.references]
        for dotted in piece.members:
            class_name, _, attribute = dotted.rpartition(".")
            found = _method(class_name, attribute)
            if found is None:
                continue
            module, method = found
            if method.name not in self._followed:
                self._followed.add(method.name)
                self.reach.pieces[method.name] = method
                waiting += self._named_in(method)
                waiting += self._enter_module(module)
            self.reach.referrers.setdefault(method.name, set()).add(piece.name)
        return waiting

    def _note_bases(self, piece: source.Piece) -> None:
        for base in piece.bases:
            target = source.resolve(base, used_in=piece.name)
            if target is not None and target.piece is not None:
                self.reach.bases.setdefault(piece.name, set()).add(target.piece.name)

    def _enter_module(self, module: source.Module) -> list[tuple[str, str, str]]:
        """Importing a module runs its bare statements, and those of what it imports."""
        if module.name in self._modules:
            return []
        found: list[tuple[str, str, str]] = []
        names = [module.name]
        while names:
            name = names.pop()
            parts = name.split(".")
            for count in range(1, len(parts) + 1):
                prefix = ".".join(parts[:count])
                if prefix in self._modules or not source.is_followed(prefix):
                    continue
                self._modules.add(prefix)
                loaded = source.load(prefix)
                if loaded is None:
                    continue
                names.extend(loaded.imported)
                body = loaded.pieces.get(source.MODULE_BODY)
                if body is not None:
                    found += self._enter(loaded, body)
        return found

    def follow_settings(self, class_name: str, used_in: str) -> None:
        """Reach a settings class and its bases: their methods, and their bodies less the fields,
        whose resulting values are in the run's settings. A class that other code names as well
        has been reached with its fields already."""
        target = source.resolve(class_name, used_in=used_in)
        if target is None or target.piece is None:
            return
        module, piece = target.module, target.piece
        local = piece.name[len(module.name) + 1 :]
        for member in [module.without_fields.get(local, piece), *module.members(local)]:
            if member.name not in self.reach.pieces:
                self.reach.pieces[member.name] = member
                for name, where, referrer in self._named_in(member):
                    self.follow(name, where, referrer)
        for name, where, referrer in self._enter_module(module):
            self.follow(name, where, referrer)
        self._note_bases(piece)
        for base in piece.bases:
            self.follow_settings(base, piece.name)


def _method(
    class_name: str, attribute: str, depth: int = 0
) -> tuple[source.Module, source.Piece] | None:
    """The method that a class has under this name, its own or inherited."""
    if not source.is_followed(class_name) or depth > 20:
        return None
    try:
        target = source.resolve(class_name)
    except SourceError:
        return None  # an annotation may name what exists for a type checker only
    if target is None or target.piece is None or target.piece.kind != "class":
        return None
    local = f"{target.piece.name[len(target.module.name) + 1 :]}.{attribute}"
    piece = target.module.pieces.get(local)
    if piece is not None:
        return target.module, piece
    for base in target.piece.bases:
        found = _method(base, attribute, depth + 1)
        if found is not None:
            return found
    return None


# ---------------------------------------------------------------------------------------------
# Inputs


def _inputs(spec: RunSpec) -> dict[str, str]:
    found: dict[str, str] = {}
    for name in declaration(spec.experiment, spec.size).inputs:
        found[name] = _corpus_hash() if name == CORPUS else _file_hash(name, spec)
    return found


def _corpus_hash() -> str:
    module = source.load("model.corpus")
    if module is not None:
        for statement in module.tree.body:
            if not isinstance(statement, ast.Assign | ast.AnnAssign):
                continue
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            named = any(isinstance(item, ast.Name) and item.id == "SHA256" for item in targets)
            if named and isinstance(statement.value, ast.Constant):
                return str(statement.value.value)
    raise DeclarationError('model/corpus.py: SHA256 = "..." is missing, the hash of the corpus')


def _file_hash(name: str, spec: RunSpec) -> str:
    path = (paths.ROOT / name).resolve()
    where = f"the input {name!r} of experiment {spec.experiment}"
    if not path.is_relative_to(paths.ROOT.resolve()):
        raise DeclarationError(f"{where} lies outside the repository")
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise DeclarationError(f"{where} cannot be read: {error.strerror}") from None


# ---------------------------------------------------------------------------------------------
# What has changed


def difference(record: Recorded, spec: RunSpec, current: Fingerprint | None = None) -> list[str]:
    """What has changed between a record and what would produce it now, one line each:
    "setting steps: 3000 -> 2000", "definition model.attention.Head.forward changed"."""
    current = current or fingerprint(spec)
    lines: list[str] = []
    if record.seed != spec.seed:
        lines.append(f"seed: {record.seed} -> {spec.seed}")
    before = cast("dict[str, object]", plain(record.settings))
    after = cast("dict[str, object]", plain(spec.settings))
    for name in [*before, *(name for name in after if name not in before)]:
        if name not in after:
            lines.append(f"setting {name} removed (was {_short(before[name])})")
        elif name not in before:
            lines.append(f"setting {name} added ({_short(after[name])})")
        elif canonical(before[name]) != canonical(after[name]):
            lines.append(f"setting {name}: {_short(before[name])} -> {_short(after[name])}")
    lines += _changes("input", record.inputs, current.inputs)
    lines += _changes("definition", record.definitions, current.definitions)
    return lines


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "..."


def _changes(kind: str, before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    lines: list[str] = []
    for name in sorted({*before, *after}):
        if name not in after:
            lines.append(f"{kind} {name} no longer reached")
        elif name not in before:
            lines.append(f"{kind} {name} newly reached")
        elif before[name] != after[name]:
            lines.append(f"{kind} {name} changed")
    return lines


def only_definitions_changed(
    record: Recorded, spec: RunSpec, current: Fingerprint | None = None
) -> bool:
    """Whether settings, seed and inputs are what they were, so that a replay can decide."""
    current = current or fingerprint(spec)
    same_settings = canonical(plain(record.settings)) == canonical(plain(spec.settings))
    return (
        same_settings and record.seed == spec.seed and dict(record.inputs) == dict(current.inputs)
    )


def changed_definitions(record: Recorded, current: Fingerprint) -> tuple[str, ...]:
    """The pieces that differ between a record and now: changed, new, or no longer reached."""
    names = {*record.definitions, *current.definitions}
    return tuple(
        sorted(n for n in names if record.definitions.get(n) != current.definitions.get(n))
    )


def uncovered(record: Recorded, spec: RunSpec, called: Iterable[str]) -> tuple[str, ...]:
    """Which of the definitions that changed since a record was written a replay has not exercised,
    given the functions it called (`CallTrace.called`).

    A function or method must have been called. A class body is covered by a call of one of its
    methods (or of its bases'), or of a function that refers to it; a constant by a call of a
    function that refers to it, if need be through other constants. A function that is gone is
    covered by what used to refer to it, which must have changed and been called; a method that is
    gone from a class that stays is never covered, since nothing shows who called it.
    """
    reached = reach(spec)
    calls = set(called)
    changed = changed_definitions(record, fingerprint(spec))
    here = [name for name in changed if name in reached.pieces]
    found = [name for name in here if not _covered(name, reached, calls)]
    for name in changed:
        if name not in reached.pieces:
            from_class = name.rpartition(".")[0] in reached.pieces
            if from_class or name.endswith(source.MODULE_BODY) or not here:
                found.append(name)
    return tuple(sorted(found))


def _covered(
    name: str, reached: Reach, called: set[str], seen: frozenset[str] = frozenset()
) -> bool:
    piece = reached.pieces[name]
    if piece.kind in ("function", "method"):
        return name in called
    if piece.kind == "module":
        return False
    if piece.kind == "class" and _has_called_method(name, reached, called, frozenset()):
        return True
    return any(
        _covered(referrer, reached, called, seen | {name})
        for referrer in reached.referrers.get(name, ())
        if referrer not in seen and referrer != name and referrer in reached.pieces
    )


def _has_called_method(name: str, reached: Reach, called: set[str], seen: frozenset[str]) -> bool:
    if any(call.startswith(name + ".") for call in called):
        return True
    if name not in reached.roots and not seen:
        return False
    # A class that the settings name is made by the harness: its bases' methods speak for it.
    return any(
        _has_called_method(base, reached, called, seen | {name})
        for base in reached.bases.get(name, ())
        if base not in seen
    )


class CallTrace:
    """Collects which functions of this repository are called while it is active, in all threads.

    with CallTrace() as trace:
        ...
    trace.called  ->  {"model.attention.Head.forward", ...}

    A nested function, lambda or comprehension counts for the definition that encloses it.
    """

    def __init__(self) -> None:
        self._codes: set[CodeType] = set()
        self._before: Any = None

    def __enter__(self) -> CallTrace:
        codes = self._codes

        def note(frame: FrameType, event: str, argument: object) -> None:
            if event == "call":
                codes.add(frame.f_code)

        self._before = sys.getprofile()
        threading.setprofile(note)
        sys.setprofile(note)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        sys.setprofile(self._before)
        threading.setprofile(cast("Any", None))

    @property
    def called(self) -> set[str]:
        """The dotted names of the definitions that were called."""
        root = str(paths.ROOT.resolve())
        names: set[str] = set()
        modules: dict[str, str | None] = {}
        for code in self._codes:
            file = code.co_filename
            if file not in modules:
                modules[file] = _module_of(file, root)
            module = modules[file]
            if module is not None:
                qualified = code.co_qualname.split(".<", 1)[0]
                names.add(f"{module}.{qualified}")
        return names


def _module_of(file: str, root: str) -> str | None:
    if file.startswith("<"):
        return None
    path = Path(file).resolve()
    if not path.is_relative_to(root) or path.suffix != ".py":
        return None
    parts = list(path.relative_to(root).with_suffix("").parts)
    if parts[-1] == "__init__":
        parts.pop()
    return ".".join(parts) if parts and parts[0] in source.FOLLOWED else None


# ---------------------------------------------------------------------------------------------
# Where and with what


def machine(kind: str = "cpu", threads: int = 1, name: str | None = None) -> dict[str, object]:
    """The device of a record: its kind (cpu, cuda, mps), its name and the threads it used.

    Without a name the processor's is taken; a GPU's name comes from whoever has torch.
    """
    return {"kind": kind, "name": name or processor(), "threads": threads}


def processor() -> str:
    """The name of this machine's processor."""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return " ".join(line.split(":", 1)[1].split())
    except (OSError, UnicodeDecodeError, IndexError):
        pass
    return platform.processor() or platform.machine() or "unknown processor"


def versions(packages: Iterable[str] = ("torch", "tokenizers", "numpy")) -> dict[str, str]:
    """The versions of Python and of what measures, read without importing it."""
    found = {"python": platform.python_version()}
    for package in packages:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


__all__ = [
    "CallTrace",
    "Fingerprint",
    "canonical",
    "changed_definitions",
    "difference",
    "digest_of",
    "fingerprint",
    "machine",
    "only_definitions_changed",
    "plain",
    "processor",
    "reach",
    "uncovered",
    "versions",
]
