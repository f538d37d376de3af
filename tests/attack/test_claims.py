"""Is every assertion of the book named when its record moves just past the edge?

For each claim, each of its predicates, each bound and each seed: the value is moved to the nearest
number for which the predicate no longer holds (to the other side, where the chapter says that it
was not reproduced), and the check must name the claim. Just inside the edge it must stay silent.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import pairwise
from types import MappingProxyType
from typing import Any, cast

import pytest

from engine import __main__ as command
from engine.claims import Claim, Outcome, Predicate, all_claims, check_claim
from engine.declaration import RunSpec
from engine.errors import MissingPath, RecordError
from engine.quantity import Book, Quantity, at_seed, common_seeds
from engine.record import Record
from tests.attack.tally import Tally

Seed = int | None
Moves = list[tuple[Record, tuple[str, ...], object]]


class Moved(Book):
    """The book with some values of some records moved."""

    def __init__(self, like: Book, moves: Moves) -> None:
        super().__init__(allow_stale=True)
        self._declared, self._aliases = like._declared, like._aliases  # pyright: ignore[reportPrivateUsage]
        self._known = like._records  # pyright: ignore[reportPrivateUsage]
        self._changed: dict[str, Record] = {}
        for record, way, value in moves:
            old = self._changed.get(record.id, record)
            values = cast("Mapping[str, object]", with_value(old.values, way, value))
            self._changed[record.id] = replace(old, values=values)

    def _record(self, spec: RunSpec) -> tuple[Record, bool]:
        found = self._known.get(spec.id) or super()._record(spec)
        if isinstance(found, tuple) and spec.id in self._changed:
            return self._changed[spec.id], found[1]
        return super()._record(spec) if isinstance(found, Exception) else found


def with_value(values: object, way: Sequence[str], value: object) -> object:
    if not way:
        return value
    if isinstance(values, Mapping):
        table = dict(cast("Mapping[str, object]", values))
        table[way[0]] = with_value(table[way[0]], way[1:], value)
        return MappingProxyType(table)
    items = list(cast("tuple[object, ...]", values))
    items[int(way[0])] = with_value(items[int(way[0])], way[1:], value)
    return tuple(items)


def move(quantity: Quantity, seed: Seed, value: object) -> Moves:
    """What puts `value` where the quantity has its value of that seed."""
    own = None if quantity.is_deterministic else seed
    (record,) = [r for r in quantity.records if r.seed == own]
    return [(record, tuple(quantity.paths[0].removeprefix(record.prefix + ".").split(".")), value)]


# ---------------------------------------------------------------------------- edges


@dataclass(frozen=True)
class Edge:
    """One way in which a predicate can just fail, or just hold: which value of which seed."""

    name: str
    moves: Moves
    seed: Seed = None


def beyond(start: float, holds: Callable[[float], bool], direction: float, want: bool) -> float:
    """The number nearest to `start`, going in a direction, for which `holds` gives `want`."""
    value = start
    step = 0
    while holds(value) is not want:
        step += 1
        assert step < 64, (start, direction)
        for _ in range(2**step if step > 8 else 1):
            value = math.nextafter(value, direction)
    return value


def edges(predicate: Predicate, of: list[Quantity], want: bool) -> Iterator[Edge]:
    """Moves of single values after which the predicate just fails (want=False) in one seed."""
    if predicate.kind == "equal":
        for quantity in of if predicate.to is not None else of[1:]:
            for seed, value in quantity.values.items():
                yield Edge(f"{quantity.expression} [{seed}]", move(quantity, seed, apart(value)))
        return
    for seed in common_seeds(of):
        numbers = [float(at_seed(quantity, seed)) for quantity in of]
        for i, way, start in targets(predicate, numbers):

            def holds(value: float, i: int = i, numbers: list[float] = numbers) -> bool:
                return says(predicate, [*numbers[:i], value, *numbers[i + 1 :]])

            value = beyond(start, holds, way, want)
            yield Edge(f"{of[i].expression} [{seed}] = {value!r}", move(of[i], seed, value), seed)


def targets(predicate: Predicate, numbers: list[float]) -> Iterator[tuple[int, float, float]]:
    """For each bound: which value to move, in which direction, and where the edge is about."""
    up, down = math.inf, -math.inf
    if predicate.kind == "less":
        for i in range(len(numbers) - 1):
            yield i, up, numbers[i + 1]
            yield i + 1, down, numbers[i]
    elif predicate.kind in ("same", "flat"):
        low, high = min(numbers), max(numbers)
        if predicate.absolute is not None:
            room = predicate.absolute
        else:
            room = cast("float", predicate.relative) * min(abs(n) for n in numbers)
        yield numbers.index(high), up, low + room
        if predicate.absolute is not None:
            yield numbers.index(low), down, high - room
    else:
        for bound, sign in ((predicate.at_least, -1), (predicate.at_most, 1)):
            if bound is None:
                continue
            if predicate.kind == "ratio":
                yield 0, sign * math.copysign(math.inf, numbers[1]), bound * numbers[1]
            elif predicate.kind == "difference":
                yield 0, sign * math.inf, bound + numbers[1]
            else:
                yield 0, sign * math.inf, float(bound)


def says(predicate: Predicate, numbers: list[float]) -> bool:
    """Whether a predicate holds of these numbers: written here anew, not asked of the engine."""
    if predicate.kind == "less":
        return all(a < b for a, b in pairwise(numbers))
    if predicate.kind in ("same", "flat"):
        span = max(numbers) - min(numbers)
        if predicate.absolute is not None:
            return span <= predicate.absolute
        return span <= cast("float", predicate.relative) * min(abs(n) for n in numbers)
    value = numbers[0]
    if predicate.kind == "ratio":
        value = numbers[0] / numbers[1]
    elif predicate.kind == "difference":
        value = numbers[0] - numbers[1]
    low = -math.inf if predicate.at_least is None else predicate.at_least
    high = math.inf if predicate.at_most is None else predicate.at_most
    return low <= value <= high


def apart(value: object) -> object:
    """The nearest value of the same sort that is another one."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, str):
        return value + "\u00df"
    if isinstance(value, int):
        return value + 1
    if isinstance(value, float):
        return math.nextafter(value, math.inf) if math.isfinite(value) else 0.0
    items = list(cast("tuple[object, ...]", value))
    return (*items[:-1], apart(items[-1]))


def to_hold(predicate: Predicate, of: list[Quantity]) -> Moves:
    """Moves after which a predicate that fails just holds, in every seed."""
    found: Moves = []
    if predicate.kind == "equal":
        for quantity in of:
            for seed in quantity.values:
                first = of[0].values[None if of[0].is_deterministic else seed]
                found += move(quantity, seed, first if predicate.to is None else predicate.to)
        return found
    for seed in common_seeds(of):
        numbers = [float(at_seed(quantity, seed)) for quantity in of]
        if says(predicate, numbers):
            continue
        if predicate.kind == "less":
            for i in range(len(numbers) - 2, -1, -1):
                numbers[i] = min(numbers[i], math.nextafter(numbers[i + 1], -math.inf))
        elif predicate.kind in ("same", "flat"):
            numbers = [numbers[0]] * len(numbers)
        else:
            tries = [start for _, _, start in targets(predicate, numbers)]
            near = [math.nextafter(t, d) for t in tries for d in (math.inf, -math.inf)]
            numbers[0] = next(t for t in [*tries, *near] if says(predicate, [t, *numbers[1:]]))
        assert says(predicate, numbers)
        for quantity, value in zip(of, numbers, strict=True):
            found += move(quantity, seed, value)
    return found


# ---------------------------------------------------------------------------- the attack


@pytest.fixture(scope="module")
def book() -> Book:
    return Book(allow_stale=True)


Parts = list[tuple[Predicate, list[Quantity]]]


def decided(book: Book) -> Iterator[tuple[Claim, Parts]]:
    """Every claim whose records are there, with what it compares; `engine check` names others."""
    for claim in all_claims():
        with suppress(MissingPath, RecordError):
            parts = [(p, [book.get(path) for path in p.of]) for p in claim.predicates]
            if check_claim(claim, book).as_expected:
                yield claim, parts


def named(outcome: Outcome) -> bool:
    return not outcome.as_expected and outcome.claim.where in outcome.complaint()


def test_every_claim_is_named_when_its_record_moves_just_past_the_edge(
    book: Book, tally: Callable[[str], Tally]
) -> None:
    broken, kept = tally("claims.past_the_edge"), tally("still.at_the_edge")
    for claim, parts in decided(book):
        if claim.expected == "not_reproduced":
            moves = [one for predicate, of in parts for one in to_hold(predicate, of)]
            broken.count(named(check_claim(claim, Moved(book, moves))), claim.where)
            continue
        for predicate, of in parts:
            for edge in edges(predicate, of, want=False):
                outcome = check_claim(claim, Moved(book, edge.moves))
                broken.count(named(outcome), f"{claim.where}: {edge.name}")
            if predicate.kind != "equal":
                for edge in inside(predicate, of):
                    outcome = check_claim(claim, Moved(book, edge.moves)).parts
                    details = outcome[claim.predicates.index(predicate)].details
                    (own,) = [one for one in details if one.seed == edge.seed]
                    kept.count(own.holds, f"{claim.where}: {edge.name}")


def inside(predicate: Predicate, of: list[Quantity]) -> Iterator[Edge]:
    """Moves to the last value for which a predicate still holds."""
    for seed in common_seeds(of):
        numbers = [float(at_seed(quantity, seed)) for quantity in of]
        for i, way, start in targets(predicate, numbers):

            def holds(value: float, i: int = i, numbers: list[float] = numbers) -> bool:
                return says(predicate, [*numbers[:i], value, *numbers[i + 1 :]])

            value = beyond(start, holds, -way, want=True)
            yield Edge(f"{of[i].expression} [{seed}] = {value!r}", move(of[i], seed, value), seed)


def test_the_check_says_it(book: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    """End to end, for one claim of each chapter: the line that `engine check` prints."""
    every: dict[str, tuple[Claim, Edge]] = {}
    for claim, ((predicate, of), *_) in decided(book):
        if claim.expected == "holds" and claim.path.parent.name not in every:
            every[claim.path.parent.name] = claim, next(edges(predicate, of, want=False))
    moves = [one for _, edge in every.values() for one in edge.moves]
    moved = Moved(book, moves)
    monkeypatch.setattr(command, "Book", lambda: moved)
    _, wrong = command.check_claims()
    said: Any = "\n".join(wrong)
    assert [
        claim.where for claim, _ in every.values() if f"{claim.where}: expected" not in said
    ] == []
