"""What does the book know under a path, over all seeds, and what follows from it by arithmetic?

Input: paths such as "averages.mean.validation_perplexity", and the records. Output: quantities, one
value per seed, which combine by + - * / ** (paired by the seeds that both have), log, exp, sqrt and
abs, and which remember their paths, records, unit and whether any of it is stale.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar, cast

from engine import paths
from engine.declaration import (
    PART,
    Declaration,
    RunSpec,
    declaration,
    experiments,
    suggestion,
)
from engine.errors import (
    DeclarationError,
    MissingPath,
    QuantityError,
    RecordError,
    SourceError,
    StaleRecord,
)
from engine.record import Record, load_record, walk

Value = object
"""float | int | bool | str, or a tuple of these, nested at will."""

Number = float | int

_T = TypeVar("_T")


@dataclass(frozen=True, eq=False)
class Quantity:
    """A value of the book, or what arithmetic made of several.

    `values` maps each seed (None where there is none) to its value; `expression` says how the
    quantity was made, in paths ("a.b / a.c"); `machine_dependent` values belong to one machine.
    """

    paths: tuple[str, ...]
    values: Mapping[int | None, Value]
    unit: str = "1"
    records: tuple[Record, ...] = ()
    machine_dependent: bool = False
    stale: bool = False
    expression: str = field(default="")

    def __post_init__(self) -> None:
        if not self.expression:
            object.__setattr__(self, "expression", self.paths[0] if self.paths else "?")

    # over the seeds

    @property
    def n(self) -> int:
        """How many seeds there are; 1 for a deterministic value."""
        return len(self.values)

    @property
    def is_deterministic(self) -> bool:
        """Whether the value depends on no seed, so that it has no spread by nature."""
        return tuple(self.values) == (None,)

    @property
    def numbers(self) -> dict[int | None, Number]:
        """The values by seed, which must be numbers.

        Raises:
            QuantityError: they are strings, truth values or lists.
        """
        for value in self.values.values():
            if not isinstance(value, int | float) or isinstance(value, bool):
                raise QuantityError(f"{self.expression} is {_kind(value)}, not a number")
        return cast("dict[int | None, Number]", dict(self.values))

    @property
    def mean(self) -> Number:
        """The mean over the seeds; exactly the value where all agree (so a count stays whole)."""
        numbers = list(self.numbers.values())
        if all(number == numbers[0] for number in numbers):
            return numbers[0]
        try:
            return statistics.fmean(numbers)
        except (OverflowError, ValueError):
            return math.nan

    @property
    def std(self) -> float | None:
        """The sample standard deviation over the seeds; None where one seed shows no spread."""
        numbers = list(self.numbers.values())
        if len(numbers) < 2:
            return None
        if all(number == numbers[0] for number in numbers):
            return 0.0
        try:
            return statistics.stdev(numbers)
        except (OverflowError, ValueError, AttributeError):
            return math.nan

    @property
    def value(self) -> Value:
        """The one value: the mean of numbers, or a string, truth value or list that every seed has.

        Raises:
            QuantityError: the seeds have different strings or lists.
        """
        values = list(self.values.values())
        if all(value == values[0] for value in values):
            return values[0]
        return self.mean

    def seed(self, seed: int) -> Quantity:
        """The quantity in one seed alone.

        Raises:
            QuantityError: it has no such seed.
        """
        if seed not in self.values:
            known = ", ".join(str(one) for one in self.values if one is not None) or "none"
            raise QuantityError(f"{self.expression} has no seed {seed}; it has: {known}")
        return replace(
            self,
            values={seed: self.values[seed]},
            records=tuple(record for record in self.records if record.seed in (seed, None)),
            expression=f"{self.expression} [{seed}]",
        )

    # arithmetic

    def __add__(self, other: Quantity | Number) -> Quantity:
        return _combine(self, other, "+", lambda a, b: a + b, _same_unit)

    def __radd__(self, other: Number) -> Quantity:
        return _combine(other, self, "+", lambda a, b: a + b, _same_unit)

    def __sub__(self, other: Quantity | Number) -> Quantity:
        return _combine(self, other, "-", lambda a, b: a - b, _same_unit)

    def __rsub__(self, other: Number) -> Quantity:
        return _combine(other, self, "-", lambda a, b: a - b, _same_unit)

    def __mul__(self, other: Quantity | Number) -> Quantity:
        return _combine(self, other, "*", lambda a, b: a * b, _product_unit)

    def __rmul__(self, other: Number) -> Quantity:
        return _combine(other, self, "*", lambda a, b: a * b, _product_unit)

    def __truediv__(self, other: Quantity | Number) -> Quantity:
        return _combine(self, other, "/", lambda a, b: a / b, _quotient_unit)

    def __rtruediv__(self, other: Number) -> Quantity:
        return _combine(other, self, "/", lambda a, b: a / b, _quotient_unit)

    def __pow__(self, other: Quantity | Number) -> Quantity:
        return _combine(self, other, "**", _power, _power_unit)

    def __rpow__(self, other: Number) -> Quantity:
        return _combine(other, self, "**", _power, _power_unit)

    def __neg__(self) -> Quantity:
        return _apply(self, lambda a: -a, f"-{_bracketed(self.expression)}", self.unit)

    def __abs__(self) -> Quantity:
        return _apply(self, abs, f"abs({self.expression})", self.unit)


def log(quantity: Quantity) -> Quantity:
    """The natural logarithm, seed by seed."""
    return _apply(quantity, math.log, f"log({quantity.expression})", "1")


def exp(quantity: Quantity) -> Quantity:
    """e to the power of the quantity, seed by seed."""
    return _apply(quantity, math.exp, f"exp({quantity.expression})", "1")


def sqrt(quantity: Quantity) -> Quantity:
    """The square root, seed by seed."""
    unit = "1" if quantity.unit == "1" else f"{quantity.unit}^0.5"
    return _apply(quantity, math.sqrt, f"sqrt({quantity.expression})", unit)


def common_seeds(quantities: Sequence[Quantity]) -> tuple[int | None, ...]:
    """The seeds that all have; a deterministic quantity goes with any seed.

    Raises:
        QuantityError: there is none.
    """
    seeded = [quantity for quantity in quantities if not quantity.is_deterministic]
    if not seeded:
        return (None,)
    common = [seed for seed in seeded[0].values if all(seed in other.values for other in seeded)]
    if not common:
        names = " and ".join(quantity.expression for quantity in seeded)
        raise QuantityError(f"{names} have no seed in common")
    return tuple(common)


def at_seed(quantity: Quantity, seed: int | None) -> Number:
    """The number that a quantity has at a seed, or always."""
    numbers = quantity.numbers
    return numbers[None] if quantity.is_deterministic else numbers[seed]


def refuse_other_machines(quantities: Iterable[Quantity]) -> None:
    """Times and memory of different machines are never compared.

    Raises:
        QuantityError: they were measured on different machines.
    """
    machines: dict[tuple[object, ...], str] = {}
    for quantity in quantities:
        if quantity.machine_dependent:
            for record in quantity.records:
                machine = tuple(record.device[key] for key in ("kind", "name", "threads"))
                machines.setdefault(machine, record.id)
    if len(machines) > 1:
        shown = [
            f"{run} on {name} ({kind}, threads: {threads})"
            for (kind, name, threads), run in machines.items()
        ]
        raise QuantityError(f"values of different machines are not compared: {', '.join(shown)}")


def _combine(
    left: Quantity | Number,
    right: Quantity | Number,
    sign: str,
    operation: Callable[[Number, Number], Number],
    unit: Callable[[str, str, Quantity | Number, str], str],
) -> Quantity:
    for side in (left, right):
        if isinstance(side, bool) or not isinstance(side, int | float | Quantity):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise QuantityError(f"a quantity combines with numbers, not with {_kind(side)}")
    sides = [side for side in (left, right) if isinstance(side, Quantity)]
    refuse_other_machines(sides)
    expression = f"{_side(left)} {sign} {_side(right)}"
    values: dict[int | None, Value] = {}
    for seed in common_seeds(sides):
        a, b = (at_seed(s, seed) if isinstance(s, Quantity) else s for s in (left, right))
        values[seed] = _computed(operation, (a, b), expression)
    units = [side.unit if isinstance(side, Quantity) else "" for side in (left, right)]
    result_unit = unit(units[0], units[1], right, expression)
    # Of two times on one machine their ratio is free of it; anything else is as bound as its parts.
    bound = any(side.machine_dependent for side in sides)
    is_ratio = sign == "/" and all(side.machine_dependent for side in sides) and len(sides) == 2
    return Quantity(
        paths=_once(path for side in sides for path in side.paths),
        values=values,
        unit=result_unit,
        records=_once(record for side in sides for record in side.records),
        machine_dependent=bound and not (is_ratio and result_unit == "1"),
        stale=any(side.stale for side in sides),
        expression=expression,
    )


def _apply(
    quantity: Quantity, operation: Callable[[Number], Number], expression: str, unit: str
) -> Quantity:
    values: dict[int | None, Value] = {
        seed: _computed(operation, (number,), expression)
        for seed, number in quantity.numbers.items()
    }
    return Quantity(
        quantity.paths,
        values,
        unit,
        quantity.records,
        quantity.machine_dependent,
        quantity.stale,
        expression,
    )


def _computed(
    operation: Callable[..., Number], inputs: tuple[Number, ...], expression: str
) -> Number:
    """The result; finite inputs must give a finite one."""
    try:
        result = operation(*inputs)
        if not math.isfinite(result) and all(math.isfinite(number) for number in inputs):
            raise OverflowError("the result is too large for a float")
    except (ArithmeticError, ValueError, TypeError) as error:
        raise QuantityError(f"{expression} cannot be computed: {error}") from None
    return result


def _power(base: Number, exponent: Number) -> Number:
    result: object = base**exponent
    if isinstance(result, complex):
        raise ValueError("a root of a negative number")
    return cast("Number", result)


def _same_unit(left: str, right: str, _: object, expression: str) -> str:
    if left and right and left != right:
        raise QuantityError(f"{expression}: the units {left!r} and {right!r} do not add")
    return left or right


def _product_unit(left: str, right: str, _: object, __: str) -> str:
    parts = [unit for unit in (left, right) if unit not in ("", "1")]
    return "·".join(parts) or "1"


def _quotient_unit(left: str, right: str, _: object, __: str) -> str:
    left, right = left or "1", right or "1"
    if left == right:
        return "1"
    return left if right == "1" else f"{left}/{right}"


def _power_unit(left: str, _: str, exponent: Quantity | Number, __: str) -> str:
    if left in ("", "1"):
        return "1"
    return f"{left}^{exponent}" if isinstance(exponent, int | float) else "1"


def _side(side: Quantity | Number) -> str:
    return _bracketed(side.expression) if isinstance(side, Quantity) else repr(side)


def _bracketed(expression: str) -> str:
    return f"({expression})" if " " in expression else expression


def _kind(value: object) -> str:
    if isinstance(value, bool):
        return "a truth value"
    if isinstance(value, str):
        return "a string"
    return "a list" if isinstance(value, tuple | list) else type(value).__name__


def _once(items: Iterable[_T]) -> tuple[_T, ...]:
    found: list[_T] = []
    for item in items:
        if not any(item is other or item == other for other in found):
            found.append(item)
    return tuple(found)


# ---------------------------------------------------------------------------------------------
# The book


@dataclass(frozen=True)
class _Group:
    """The runs of one row: one per seed."""

    declared: Declaration
    row: str
    specs: tuple[RunSpec, ...]

    @property
    def prefix(self) -> str:
        return self.specs[0].prefix


class Book:
    """All values of the book under their paths, read when they are asked for.

    A bad record stops only what asks for it. With `allow_stale` a record whose source has changed
    is used and marked (for reading along while editing); a corrupt one never is.
    `cited` collects the paths that were asked for, aliases resolved.
    """

    def __init__(self, settings: str | None = None, *, allow_stale: bool = False) -> None:
        self.settings = paths.SETTINGS if settings is None else settings
        self.allow_stale = allow_stale
        self.cited: set[str] = set()
        self._declared: dict[str, Declaration] = {}
        self._records: dict[str, tuple[Record, bool] | RecordError | SourceError] = {}
        self._aliases: dict[str, str] | None = None

    def get(self, path: str) -> Quantity:
        """The quantity under a path; its last parts may be indices into a list ("toy_block.x.4.3").

        Raises:
            MissingPath: nothing lies there; the message names what is close.
            RecordError: it is not measured, stale or corrupt; the message has the mending command.
        """
        if not path or not all(PART.match(part) for part in path.split(".")):
            raise MissingPath(f"{path!r} is no path: its parts hold letters, digits and _ only")
        first_error: RecordError | SourceError | None = None
        for candidate in self._candidates(path):
            for group in self._groups(candidate):
                try:
                    quantity = self._quantity(candidate, group)
                except (RecordError, SourceError) as error:
                    first_error = first_error or error
                    continue
                if quantity is not None:
                    self.cited.add(candidate)
                    return quantity
        if first_error is not None:
            raise first_error
        raise self._missing(path)

    def tree(self, prefix: str) -> dict[str, Quantity]:
        """Every quantity below a path, under its path relative to it, in the order of the record.

        Raises:
            MissingPath: there is nothing below it.
        """
        found: dict[str, Quantity] = {}
        for candidate in self._candidates(prefix):
            below = candidate + "."
            for path in self.paths(candidate.split(".")[0]):
                if path.startswith(below) and path[len(below) :] not in found:
                    found[path[len(below) :]] = self.get(path)
        if not found:
            raise self._missing(prefix)
        return found

    def paths(self, experiment: str | None = None) -> Iterator[str]:
        """The paths of all values whose records can be read, or of one experiment's."""
        names = experiments() if experiment is None else (experiment,)
        for name in names:
            try:
                groups = self._all_groups(name)
            except (DeclarationError, MissingPath):
                continue
            for group in groups:
                try:
                    record, _ = self._record(group.specs[0])
                except (RecordError, SourceError):
                    continue
                for leaf, _ in walk(record.values):
                    yield f"{group.prefix}.{leaf}"

    def runs(self, path: str) -> tuple[RunSpec, ...]:
        """The runs in which a path lies or may lie, whether or not their records can be read.

        Raises:
            MissingPath: no run has values under it.
        """
        found: list[RunSpec] = []
        for candidate in self._candidates(path):
            for group in self._groups(candidate):
                found += [spec for spec in group.specs if spec not in found]
        if not found:
            raise self._missing(path)
        return tuple(found)

    # finding

    def _candidates(self, path: str) -> list[str]:
        """The path itself, then what its aliases make of it, the longest first."""
        found = [path]
        for current in found:
            parts = current.split(".")
            for count in range(len(parts), 0, -1):
                target = self.aliases.get(".".join(parts[:count]))
                if target is not None:
                    resolved = ".".join([target, *parts[count:]])
                    if resolved not in found and len(found) < 20:
                        found.append(resolved)
        return found

    @property
    def aliases(self) -> Mapping[str, str]:
        """All aliases of all experiments whose declarations can be read.

        Raises:
            DeclarationError: two experiments declare one alias.
        """
        if self._aliases is None:
            found: dict[str, str] = {}
            for name in experiments():
                try:
                    declared = self._declaration(name)
                except DeclarationError:
                    continue  # an error of what lies in that experiment, not of the whole book
                for alias, target in declared.aliases.items():
                    if found.get(alias, target) != target:
                        raise DeclarationError(f"the alias {alias} is declared twice")
                    found[alias] = target
            self._aliases = found
        return self._aliases

    def _declaration(self, experiment: str) -> Declaration:
        if experiment not in self._declared:
            self._declared[experiment] = declaration(experiment, self.settings)
        return self._declared[experiment]

    def _all_groups(self, experiment: str) -> list[_Group]:
        declared = self._declaration(experiment)
        rows: dict[str, list[RunSpec]] = {}
        for spec in declared.runs:
            rows.setdefault(spec.row, []).append(spec)
        return [_Group(declared, row, tuple(specs)) for row, specs in rows.items()]

    def _groups(self, path: str) -> list[_Group]:
        """The rows in which a path may lie, the longest name first."""
        try:
            groups = self._all_groups(path.split(".")[0])
        except MissingPath:
            return []
        fitting = [group for group in groups if path.startswith(group.prefix + ".")]
        return sorted(fitting, key=lambda group: -len(group.prefix))

    def _record(self, spec: RunSpec) -> tuple[Record, bool]:
        if spec.id not in self._records:
            try:
                self._records[spec.id] = (load_record(spec), False)
            except StaleRecord as error:
                stale = error.record
                usable = self.allow_stale and isinstance(stale, Record)
                self._records[spec.id] = (cast("Record", stale), True) if usable else error
            except (RecordError, SourceError) as error:
                self._records[spec.id] = error
        found = self._records[spec.id]
        if isinstance(found, Exception):
            raise found
        return found

    def _quantity(self, path: str, group: _Group) -> Quantity | None:
        """What lies under a path in a row, or None where nothing does."""
        rest = path[len(group.prefix) + 1 :].split(".")
        values: dict[int | None, Value] = {}
        records: list[Record] = []
        is_stale = False
        leaf = ""
        belongs_to_machine = False
        for spec in group.specs:
            record, stale = self._record(spec)
            found = _at(record.values, rest)
            if found is None:
                if values:
                    raise RecordError(
                        f"{spec.id} lacks {'.'.join(rest)}, which another seed has: {spec.command}"
                    )
                continue
            leaf, values[spec.seed] = found
            belongs_to_machine = belongs_to_machine or leaf in record.machine_dependent
            records.append(record)
            is_stale = is_stale or stale
        if not values:
            return None
        if len(values) < len(group.specs):
            lacking = next(spec for spec in group.specs if spec.seed not in values)
            raise RecordError(
                f"{lacking.id} lacks {'.'.join(rest)}, which another seed has: {lacking.command}"
            )
        quantity = Quantity(
            paths=(path,),
            values=values,
            unit=group.declared.unit(leaf),
            records=tuple(records),
            machine_dependent=belongs_to_machine or group.declared.is_machine_dependent(leaf),
            stale=is_stale,
        )
        refuse_other_machines([quantity])
        return quantity

    def _missing(self, path: str) -> MissingPath:
        candidates = self._candidates(path)
        experiment = candidates[-1].split(".")[0]
        names = experiments()
        heads = {alias.split(".")[0] for alias in self.aliases}
        if all(candidate.split(".")[0] not in names for candidate in candidates):
            first = path.split(".")[0]
            known = sorted({*names, *heads})
            return MissingPath(
                f"nothing lies under {path}: there is no experiment"
                f" {first!r}{suggestion(first, known)}"
            )
        known = list(self.paths(experiment))
        below = [item for item in known if item.startswith(candidates[-1] + ".")]
        if below:
            names_below = [item[len(candidates[-1]) + 1 :] for item in below]
            shown = ", ".join(names_below[:6]) + (", ..." if len(names_below) > 6 else "")
            return MissingPath(f"{path} is a group of values, not one of them: {shown}")
        close = suggestion(candidates[-1], known)
        if not known:
            runs = self._declaration(experiment).runs
            command = f": {runs[0].command}" if runs else ""
            return MissingPath(f"nothing lies under {path}: {experiment} has no record{command}")
        return MissingPath(f"nothing lies under {path}{close}")


def _at(values: object, parts: Sequence[str]) -> tuple[str, Value] | None:
    """The value under path parts, and the path of the leaf that it is, or lies in."""
    leaf: list[str] = []
    current: object = values
    for part in parts:
        if isinstance(current, Mapping):
            table = cast("Mapping[str, object]", current)
            if part not in table:
                return None
            current = table[part]
            leaf.append(part)
        elif isinstance(current, tuple):
            items = cast("tuple[object, ...]", current)
            if not part.isdecimal() or int(part) >= len(items):
                return None
            current = items[int(part)]
        else:
            return None
    return None if isinstance(current, Mapping) else (".".join(leaf), current)
