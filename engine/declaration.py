"""Which runs does an experiment consist of, and under which settings?

Input: the literals at the top of `experiments/<name>.py`, read as text and never imported (so that
no torch is needed). Output: a `Declaration` with one `RunSpec` per run.

    FULL = Settings()                     keyword literals; Settings is a dataclass, may inherit
    SMOKE = Settings(steps=6)             optional; the same in seconds
    ROWS = {"mean": {"model": "..."}}     optional; row -> what it changes in FULL and in SMOKE
    SMOKE_ROWS = {"mean": {"steps": 4}}   optional; applied after ROWS under SMOKE alone
    SEEDS = (0, 1, 2)                     optional; for all rows, or {row: seeds}
    TRAINED = True                        optional; or a tuple of rows: replayed by first steps
    WAITING = True                        optional; or a tuple of rows: still to be measured at
                                          full settings, no part of the book yet; smoke runs them
    INPUTS, UNITS, MACHINE_DEPENDENT, NONFINITE, ALIASES, THREADS, DEVICE    optional
"""

from __future__ import annotations

import ast
import difflib
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import cast

from engine import paths, source
from engine.errors import DeclarationError, MissingPath, SettingsError, SourceError

PART = re.compile(r"[A-Za-z0-9_]+\Z")
"""One part of a path: letters, digits and underscores."""

SIZES = ("full", "smoke")
DEVICES = ("any", "cpu")
NOT_EXPERIMENTS = frozenset(
    {"__init__", "__main__", "as_imported", "runner", "session", "together"}
)

_LITERALS = frozenset(
    {
        "ROWS",
        "SMOKE_ROWS",
        "SEEDS",
        "TRAINED",
        "WAITING",
        "INPUTS",
        "UNITS",
        "MACHINE_DEPENDENT",
        "NONFINITE",
        "ALIASES",
        "THREADS",
        "DEVICE",
    }
)

_TYPES: Mapping[str, type] = {"int": int, "float": float, "str": str, "bool": bool}


@dataclass(frozen=True)
class RunSpec:
    """One run: what is measured in one process and recorded in one file.

    `settings` holds the run's own settings, rows applied; `size` is "full" or "smoke".
    """

    experiment: str
    row: str
    seed: int | None
    settings: dict[str, object]
    trained: bool = False
    threads: int = 1
    device: str = "any"
    size: str = "full"

    @property
    def name(self) -> str:
        """The run's name inside its experiment: "mean.s0", "mean", "s0" or "all"."""
        return run_name(self.row, self.seed)

    @property
    def id(self) -> str:
        """The run's name in the whole book: "averages/mean.s0"."""
        return f"{self.experiment}/{self.name}"

    @property
    def path(self) -> Path:
        """The run's record file."""
        return paths.results_of(self.size) / self.experiment / f"{self.name}.json"

    @property
    def prefix(self) -> str:
        """The path under which the run's values are found: "averages.mean"."""
        return f"{self.experiment}.{self.row}" if self.row else self.experiment

    @property
    def command(self) -> str:
        """The command that measures this run."""
        return run_command(self.id, self.size)


@dataclass(frozen=True)
class Declaration:
    """Everything that an experiment says about itself."""

    experiment: str
    question: str
    runs: tuple[RunSpec, ...]
    units: Mapping[str, str]
    machine_dependent: tuple[str, ...]
    nonfinite: tuple[str, ...]
    aliases: Mapping[str, str]
    inputs: tuple[str, ...]
    settings_class: str = ""
    path: Path = Path()

    def unit(self, leaf: str) -> str:
        """The unit of a value, by the last part of its path; "1" where none is declared."""
        last = leaf.rsplit(".", 1)[-1]
        for pattern, unit in self.units.items():
            if fnmatchcase(last, pattern):
                return unit
        return "1"

    def is_machine_dependent(self, leaf: str) -> bool:
        """Whether a value belongs to the machine that measured it, by the last part of its path."""
        last = leaf.rsplit(".", 1)[-1]
        return any(fnmatchcase(last, pattern) for pattern in self.machine_dependent)

    def may_be_nonfinite(self, leaf: str) -> bool:
        """Whether a value is declared able to be NaN or infinite, by its whole path."""
        return any(fnmatchcase(leaf, pattern) for pattern in self.nonfinite)


def run_name(row: str, seed: int | None) -> str:
    """The name of a run: its row and its seed, as far as it has them."""
    parts = [row] if row else []
    if seed is not None:
        parts.append(f"s{seed}")
    return ".".join(parts) or "all"


def run_command(run: str, size: str = "full") -> str:
    """The command that measures a run again."""
    suffix = "" if size == "full" else f" --settings {size}"
    return f"python -m experiments run {run}{suffix}"


def experiments() -> tuple[str, ...]:
    """The names of all experiments: every module of experiments/ that defines `measure`.

    A module that cannot be parsed is named too, so that it is an error and not an absence.
    """
    found: list[str] = []
    for path in sorted(paths.EXPERIMENTS.glob("*.py")):
        if path.stem in NOT_EXPERIMENTS or path.stem.startswith("_"):
            continue
        try:
            module = source.load(f"experiments.{path.stem}")
        except SourceError:
            found.append(path.stem)
            continue
        if module is not None and "measure" in module.pieces:
            found.append(path.stem)
    return tuple(found)


def declaration(
    experiment: str, settings: str | None = None, *, include_waiting: bool = False
) -> Declaration:
    """What an experiment declares, under "full" or "smoke" settings (default: the environment's).

    Rows that wait for their first measurement are left out at full settings unless asked for.

    Raises:
        MissingPath: there is no such experiment.
        DeclarationError: its literals are not what they should be, with file and line.
    """
    size = _size(settings)
    module = _module(experiment)
    read = _Reader(module)
    node = read.assigned("FULL")
    if node is None:
        raise read.error(
            None, "FULL is missing: the settings of the book, as in `FULL = Settings()`"
        )
    class_name, full = read.settings(node, "FULL")
    chosen = full
    smoke = read.assigned("SMOKE")
    if size == "smoke" and smoke is not None:
        smoke_class, chosen = read.settings(smoke, "SMOKE")
        if smoke_class != class_name:
            raise read.error(smoke, "SMOKE and FULL must be of one class")

    fields = read.fields(class_name)
    rows = read.rows("ROWS")
    smoke_rows = read.rows("SMOKE_ROWS")
    for unknown in [row for row in smoke_rows if row not in rows]:
        raise read.error(
            read.assigned("SMOKE_ROWS"), f"SMOKE_ROWS names {unknown!r}, which ROWS has not"
        )
    seeds = read.seeds(rows)
    trained = read.some_rows("TRAINED", rows)
    waiting = read.some_rows("WAITING", rows)
    threads = read.threads()
    device = read.device()

    runs: list[RunSpec] = []
    for row in rows or {"": {}}:
        overrides = dict(rows.get(row, {}))
        if size == "smoke":
            overrides.update(smoke_rows.get(row, {}))
        own = dict(chosen)
        for name, value in overrides.items():
            own[name] = read.checked(
                fields, name, value, read.assigned("ROWS"), f"row {row!r}", class_name
            )
        for seed in seeds[row] or (None,):
            is_trained = trained if isinstance(trained, bool) else row in trained
            is_waiting = waiting if isinstance(waiting, bool) else row in waiting
            if is_waiting and size == "full" and not include_waiting:
                continue
            runs.append(RunSpec(experiment, row, seed, own, is_trained, threads, device, size))
    names = [run.name.casefold() for run in runs]
    for run in runs:
        if names.count(run.name.casefold()) > 1:
            raise read.error(
                read.assigned("ROWS"), f"two runs would be recorded under the name {run.name!r}"
            )
    return Declaration(
        experiment=experiment,
        question=read.question(),
        runs=tuple(runs),
        units=read.table("UNITS"),
        machine_dependent=read.words("MACHINE_DEPENDENT"),
        nonfinite=read.words("NONFINITE"),
        aliases=read.aliases(),
        inputs=read.words("INPUTS"),
        settings_class=class_name,
        path=module.path,
    )


def run_spec(run: str, settings: str | None = None) -> RunSpec:
    """The run of this id ("averages/mean.s0"); a seed need not be one of those declared.

    Raises:
        MissingPath: there is no such run; the message names close ones.
    """
    experiment, slash, name = run.partition("/")
    if not slash:
        raise MissingPath(
            f"{run!r} is no run: a run is named EXPERIMENT/RUN, such as averages/mean.s0;"
            " python -m experiments list"
        )
    declared = declaration(experiment, settings, include_waiting=True)
    runs = {spec.name: spec for spec in declared.runs}
    if name not in runs:
        other = another_seed(name, declared)
        if other is not None:
            return other
        raise MissingPath(
            f"experiment {experiment} has no run {name!r}{suggestion(name, runs)};"
            " python -m experiments list"
        )
    return runs[name]


def another_seed(name: str, declared: Declaration) -> RunSpec | None:
    """The run of a declared row under a seed that is not declared, if that is what is named."""
    row, _, number = name.rpartition("s")
    if not number.isascii() or not number.isdigit() or len(number) > 9:
        return None
    for spec in declared.runs:
        other = replace(spec, seed=int(number))
        if spec.seed is not None and row.removesuffix(".") == spec.row and other.name == name:
            return other
    return None


def suggestion(word: str, known: Iterable[str]) -> str:
    """ " (did you mean a or b?)" for the close matches among known names, else nothing."""
    close = difflib.get_close_matches(word, list(known), n=3, cutoff=0.5)
    return f" (did you mean {' or '.join(close)}?)" if close else ""


# ---------------------------------------------------------------------------------------------
# Reading literals


@dataclass(frozen=True)
class _Field:
    name: str
    annotation: ast.expr
    default: ast.expr | None
    module: source.Module


def _size(settings: str | None) -> str:
    size = paths.SETTINGS if settings is None else settings
    if size not in SIZES:
        raise SettingsError(f"there are no settings {size!r}: MEDIDA_SETTINGS is full or smoke")
    return size


def _module(experiment: str) -> source.Module:
    if not PART.match(experiment) or experiment in NOT_EXPERIMENTS:
        raise MissingPath(f"there is no experiment {experiment!r}")
    try:
        module = source.load(f"experiments.{experiment}")
    except SourceError as error:
        raise DeclarationError(str(error)) from None
    if module is None or "measure" not in module.pieces:
        raise MissingPath(
            f"there is no experiment {experiment!r}{suggestion(experiment, experiments())}"
        )
    return module


class _Reader:
    """Reads the literals of one experiment; every complaint names file and line."""

    def __init__(self, module: source.Module) -> None:
        self.module = module
        self._assigned: dict[str, ast.expr] = {}
        for statement in module.tree.body:
            name, value = _simple_assignment(statement)
            if name in _LITERALS or name in ("FULL", "SMOKE"):
                if name in self._assigned:
                    raise self.error(statement, f"{name} is given twice")
                if value is not None:
                    self._assigned[name] = value

    def error(
        self, node: ast.AST | None, message: str, module: source.Module | None = None
    ) -> DeclarationError:
        where = paths.shown((module or self.module).path)
        line = getattr(node, "lineno", None)
        return DeclarationError(f"{where}:{line}: {message}" if line else f"{where}: {message}")

    def assigned(self, name: str) -> ast.expr | None:
        return self._assigned.get(name)

    def literal(self, name: str, default: object) -> object:
        node = self._assigned.get(name)
        if node is None:
            return default
        return self.evaluate(node, name)

    def evaluate(self, node: ast.expr, what: str, module: source.Module | None = None) -> object:
        try:
            return ast.literal_eval(node)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            raise self.error(
                node, f"{what} must be a literal, readable without running it", module
            ) from None

    def question(self) -> str:
        """The first line of the docstring: the question that the experiment answers."""
        text = ast.get_docstring(self.module.tree) or ""
        first = text.strip().split("\n")[0].strip()
        if not first:
            raise self.error(None, "the module must open with the question that it answers")
        return first

    # settings

    def settings(self, node: ast.expr, what: str) -> tuple[str, dict[str, object]]:
        """The class and the values of `Settings(steps=6)`."""
        if not isinstance(node, ast.Call) or node.args:
            raise self.error(node, f"{what} must be a call with keywords, as in Settings(steps=6)")
        class_name = self._class_name(node.func, self.module)
        fields = self.fields(class_name)
        given: dict[str, object] = {}
        for keyword in node.keywords:
            if keyword.arg is None:
                raise self.error(node, f"{what} must name each setting (no **)")
            value = self.evaluate(keyword.value, f"{what}'s {keyword.arg}")
            given[keyword.arg] = self.checked(
                fields, keyword.arg, value, keyword.value, what, class_name
            )
        values: dict[str, object] = {}
        for item in fields.values():
            if item.name in given:
                values[item.name] = given[item.name]
            elif item.default is None:
                raise self.error(node, f"{what} lacks the setting {item.name}")
            else:
                value = self.evaluate(item.default, f"the default of {item.name}", item.module)
                values[item.name] = self.checked(
                    fields, item.name, value, item.default, "the default", class_name
                )
        return class_name, values

    def _class_name(self, node: ast.expr, module: source.Module) -> str:
        """The dotted name of a class as a module writes it."""
        parts: list[str] = []
        current = node
        while isinstance(current, ast.Attribute):
            parts.append(current.attr)
            current = current.value
        if not isinstance(current, ast.Name):
            raise self.error(node, "the settings' class must be named plainly", module)
        first = current.id
        start = module.imports.get(first, f"{module.name}.{first}")
        dotted = ".".join([start, *reversed(parts)])
        try:
            target = source.resolve(dotted, used_in=module.name)
        except SourceError as error:
            raise self.error(node, str(error), module) from None
        if target is None or target.piece is None or target.piece.kind != "class":
            raise self.error(node, f"{dotted} is no class of this repository", module)
        return target.piece.name

    def fields(self, class_name: str) -> dict[str, _Field]:
        """The fields of a dataclass, inherited ones first."""
        module_name, _, local = class_name.rpartition(".")
        module = source.load(module_name)
        node = module.class_node(local) if module is not None else None
        if module is None or node is None:
            raise self.error(None, f"{class_name} is no top-level class of this repository")
        if not any("dataclass" in ast.unparse(item) for item in node.decorator_list):
            raise self.error(node, f"{class_name} must be a dataclass", module)
        fields: dict[str, _Field] = {}
        for base in node.bases:
            fields.update(self.fields(self._class_name(base, module)))
        for statement in node.body:
            if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                if "ClassVar" in ast.unparse(statement.annotation):
                    continue
                name = statement.target.id
                default = _field_default(statement.value)
                fields[name] = _Field(name, statement.annotation, default, module)
        return fields

    def checked(
        self,
        fields: Mapping[str, _Field],
        name: str,
        value: object,
        node: ast.expr | None,
        what: str,
        class_name: str,
    ) -> object:
        """The value of a setting, judged by its annotation."""
        item = fields.get(name)
        if item is None:
            raise self.error(
                node, f"{what}: {class_name} has no setting {name!r}{suggestion(name, fields)}"
            )
        annotation = _parsed_annotation(item.annotation)
        fitted, fits = _fit(value, annotation)
        if fits is None:
            raise self.error(
                item.annotation,
                f"setting {name}: the type {ast.unparse(annotation)} is not one that settings may"
                " have (int, float, str, bool, None, Literal, tuples and unions of these)",
                item.module,
            )
        if not fits:
            shown = ast.unparse(annotation)
            module = item.module if node is item.default else None
            raise self.error(node, f"{what}: {name} must be {shown}, not {value!r}", module)
        problem = _out_of_range(value, _default_number(item.default))
        if problem:
            raise self.error(node, f"{what}: {name} must be {problem}, not {value!r}")
        return fitted

    # the other literals

    def rows(self, name: str) -> dict[str, dict[str, object]]:
        value = self.literal(name, {})
        node = self.assigned(name)
        if not isinstance(value, dict):
            raise self.error(node, f"{name} must be a dictionary: row -> what it changes")
        rows: dict[str, dict[str, object]] = {}
        for row, overrides in cast("dict[object, object]", value).items():
            parts = row.split(".") if isinstance(row, str) and row else []
            if not isinstance(row, str) or not all(PART.match(part) for part in parts):
                raise self.error(
                    node, f"{name}: a row is named by letters, digits and _, not {row!r}"
                )
            if not isinstance(overrides, dict):
                raise self.error(node, f"{name}: row {row!r} must be a dictionary of settings")
            settings = cast("dict[object, object]", overrides)
            if not all(isinstance(key, str) for key in settings):
                raise self.error(node, f"{name}: row {row!r} must name settings")
            rows[row] = {str(key): item for key, item in settings.items()}
        return rows

    def seeds(self, rows: Mapping[str, object]) -> dict[str, tuple[int, ...]]:
        value = self.literal("SEEDS", ())
        node = self.assigned("SEEDS")
        if not isinstance(value, dict):
            return dict.fromkeys(rows or [""], self._seed_tuple(value, node))
        table = cast("dict[object, object]", value)
        for row in table:
            if row not in rows:
                raise self.error(node, f"SEEDS names {row!r}, which ROWS has not")
        return {row: self._seed_tuple(table.get(row, ()), node) for row in rows or [""]}

    def _seed_tuple(self, value: object, node: ast.expr | None) -> tuple[int, ...]:
        items = cast("tuple[object, ...]", value) if isinstance(value, tuple) else None
        if items is None or not all(type(s) is int and 0 <= s < 2**63 for s in items):
            raise self.error(node, "SEEDS must be a tuple of whole numbers from 0, as in (0, 1, 2)")
        seeds = cast("tuple[int, ...]", items)
        if len(set(seeds)) != len(seeds):
            raise self.error(node, "SEEDS names a seed twice")
        return seeds

    def some_rows(self, name: str, rows: Mapping[str, object]) -> bool | tuple[str, ...]:
        """True or False for all rows, or the rows that are named."""
        value = self.literal(name, False)
        if isinstance(value, bool):
            return value
        named = self.words(name)
        for row in named:
            if row not in rows:
                raise self.error(self.assigned(name), f"{name} names {row!r}, which ROWS has not")
        return named

    def words(self, name: str) -> tuple[str, ...]:
        value = self.literal(name, ())
        items = cast("tuple[object, ...]", value) if isinstance(value, tuple) else None
        if items is None or not all(isinstance(item, str) and item for item in items):
            hint = f"; write ({value!r},)" if isinstance(value, str) else ""
            raise self.error(self.assigned(name), f"{name} must be a tuple of strings{hint}")
        return cast("tuple[str, ...]", items)

    def table(self, name: str) -> dict[str, str]:
        value = self.literal(name, {})
        table = cast("dict[object, object]", value) if isinstance(value, dict) else None
        if table is None or not all(
            isinstance(key, str) and isinstance(item, str) for key, item in table.items()
        ):
            raise self.error(self.assigned(name), f"{name} must be a dictionary of strings")
        return cast("dict[str, str]", table)

    def aliases(self) -> dict[str, str]:
        table = self.table("ALIASES")
        for prefix in [*table, *table.values()]:
            if not all(PART.match(part) for part in prefix.split(".")):
                raise self.error(self.assigned("ALIASES"), f"ALIASES: {prefix!r} is no path")
        return table

    def threads(self) -> int:
        value = self.literal("THREADS", 1)
        if type(value) is not int or not 1 <= value <= 1024:
            raise self.error(self.assigned("THREADS"), "THREADS must be a whole number from 1")
        return value

    def device(self) -> str:
        value = self.literal("DEVICE", "any")
        if value not in DEVICES:
            raise self.error(self.assigned("DEVICE"), 'DEVICE must be "any" or "cpu"')
        return str(value)


def _simple_assignment(statement: ast.stmt) -> tuple[str, ast.expr | None]:
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target: ast.expr = statement.targets[0]
    elif isinstance(statement, ast.AnnAssign):
        target = statement.target
    else:
        return "", None
    return (target.id if isinstance(target, ast.Name) else ""), statement.value


def _field_default(value: ast.expr | None) -> ast.expr | None:
    """The default of a dataclass field, out of `field(default=...)` where it is one."""
    if isinstance(value, ast.Call) and ast.unparse(value.func).split(".")[-1] == "field":
        for keyword in value.keywords:
            if keyword.arg == "default":
                return keyword.value
        return None
    return value


def _default_number(default: ast.expr | None) -> object:
    try:
        return None if default is None else ast.literal_eval(default)
    except ValueError:
        return None


def _out_of_range(value: object, default: object) -> str:
    """What a number should be, if it is none that counts or measures anything; "" if it may be.

    A count that is one or more by default is never nought; below nought is only what may be so by
    default.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return ""
    if not math.isfinite(value):
        return "a finite number"
    usual = default if isinstance(default, int | float) else 0
    if isinstance(value, int) and isinstance(default, int) and default >= 1 > value:
        return "1 or more"
    return "0 or more" if value < 0 <= usual else ""


def _parsed_annotation(annotation: ast.expr) -> ast.expr:
    """An annotation, out of its quotes where it has them."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        try:
            return ast.parse(annotation.value, mode="eval").body
        except SyntaxError:
            return annotation
    return annotation


def _fit(value: object, annotation: ast.expr) -> tuple[object, bool | None]:
    """The value as its annotation wants it, and whether it fits (None: a type no setting may have).

    A whole number fits where a float is asked for, and becomes one.
    """
    if isinstance(annotation, ast.Constant) and annotation.value is None:
        return value, value is None
    if isinstance(annotation, ast.Name):
        if annotation.id == "float":
            if type(value) is int:
                return float(value), True
            return value, isinstance(value, float) and math.isfinite(value)
        if annotation.id == "tuple":
            return value, isinstance(value, tuple) and _is_plain(cast("object", value))
        wanted = _TYPES.get(annotation.id)
        return value, None if wanted is None else type(value) is wanted
    if isinstance(annotation, ast.BinOp) and isinstance(annotation.op, ast.BitOr):
        unknown = False
        for side in (annotation.left, annotation.right):
            fitted, fits = _fit(value, side)
            if fits:
                return fitted, True
            unknown = unknown or fits is None
        return value, None if unknown else False
    if isinstance(annotation, ast.Subscript):
        return _fit_subscript(value, annotation)
    return value, None


def _fit_subscript(value: object, annotation: ast.Subscript) -> tuple[object, bool | None]:
    name = ast.unparse(annotation.value).split(".")[-1]
    inside = annotation.slice
    items = list(inside.elts) if isinstance(inside, ast.Tuple) else [inside]
    if name == "Literal":
        allowed = [item.value for item in items if isinstance(item, ast.Constant)]
        return value, any(type(value) is type(item) and value == item for item in allowed)
    if name == "Optional":
        return (value, True) if value is None else _fit(value, items[0])
    if name != "tuple":
        return value, None
    if not isinstance(value, tuple):
        return value, False
    values = cast("tuple[object, ...]", value)
    if len(items) == 2 and isinstance(items[1], ast.Constant) and items[1].value is Ellipsis:
        items = [items[0]] * len(values)
    if len(items) != len(values):
        return values, False
    fitted: list[object] = []
    for item, kind in zip(values, items, strict=True):
        own, fits = _fit(item, kind)
        if not fits:
            return values, fits
        fitted.append(own)
    return tuple(fitted), True


def _is_plain(value: object) -> bool:
    """Whether a value is a finite number, a string, a truth value, None or a tuple of these."""
    if isinstance(value, tuple):
        return all(_is_plain(item) for item in cast("tuple[object, ...]", value))
    if isinstance(value, float):
        return math.isfinite(value)
    return value is None or type(value) in (int, str, bool)
