"""What does the prose assert, and do the records bear it out?

Input: chapters/<slug>/claims.toml, one table per claim: the statement in both languages, what is
expected of it ("holds" or "not_reproduced"), and a predicate over paths. Output: for each claim its
outcome seed by seed, and its criterion in words, generated from the predicate in both languages.

    less = [A, B, ...]                              A < B < ... in every seed that all have
    ratio = {of = [A, B], at_least =, at_most =}    A / B, bounds in every seed
    difference = {of = [A, B], at_least =, at_most =}
    between = {of = A, at_least =, at_most =}
    same = {of = [A, B, ...], relative = | absolute =}    largest less smallest, in every seed;
    flat = {of = [A, B, ...], relative = | absolute =}    relative to the smallest in size
    equal = {of = [A, ...], to = literal}           exactly; without `to`, to each other
    also = [{...}, ...]                             further predicates, all of which must hold
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Literal, cast

from engine import paths
from engine.declaration import PART
from engine.errors import ClaimError, QuantityError
from engine.number import Language, format_number, format_truth
from engine.quantity import Book, Quantity, at_seed, common_seeds, refuse_other_machines

State = Literal["holds", "not_reproduced"]
Kind = Literal["less", "ratio", "difference", "between", "same", "flat", "equal"]

STATES: tuple[State, ...] = ("holds", "not_reproduced")

_KEYS: dict[Kind, frozenset[str]] = {
    "less": frozenset({"of"}),
    "ratio": frozenset({"of", "at_least", "at_most"}),
    "difference": frozenset({"of", "at_least", "at_most"}),
    "between": frozenset({"of", "at_least", "at_most"}),
    "same": frozenset({"of", "relative", "absolute"}),
    "flat": frozenset({"of", "relative", "absolute"}),
    "equal": frozenset({"of", "to"}),
}
_BOUNDED = ("ratio", "difference", "between")
_LEAST_PATHS: dict[Kind, int] = {"ratio": 2, "difference": 2, "between": 1, "equal": 1}
_MOST_PATHS: dict[Kind, int] = {"ratio": 2, "difference": 2, "between": 1}


@dataclass(frozen=True)
class Predicate:
    """One condition over paths. Bounds hold in every seed; None is no bound."""

    kind: Kind
    of: tuple[str, ...]
    at_least: float | None = None
    at_most: float | None = None
    relative: float | None = None
    absolute: float | None = None
    to: object = None

    def criterion(
        self,
        language: Language,
        name: Callable[[str], str] = str,
        *,
        seeded: bool = True,
        whole: Callable[[str], str] = str,
    ) -> str:
        """The condition in words; `name` says how a path is called (default: the path itself), and
        `whole` what stands around the names, joined."""
        words = _WORDS[language]
        names = [name(path) for path in self.of]
        if self.kind == "less":
            text = whole(" < ".join(names))
        elif self.kind in _BOUNDED:
            sign = {"ratio": " / ", "difference": " − ", "between": ""}[self.kind]
            text = f"{whole(sign.join(names))}: {self._bounds(language)}"
        elif self.kind in ("same", "flat"):
            tolerance = (
                _exact(self.relative, language, percent=True)
                if self.relative is not None
                else _exact(cast("float", self.absolute), language)
            )
            listed = whole(_listed(names, words["and"]))
            text = f"{listed}: {words[self.kind].format(tolerance)}"
        else:
            sides = names if self.to is None else [*names, _literal(self.to, language)]
            exactly = "" if isinstance(self.to, bool) else f" {words['exactly']}"
            text = whole(" = ".join(sides) + exactly)
        return f"{text}, {words['seeds']}" if seeded else text

    def promised(self, numbers: Sequence[float]) -> tuple[float | None, float | None]:
        """The range that these numbers, or what is made of them, must keep to: the bounds, and for
        a tolerance what it allows from the smallest number on. None is no bound."""
        tolerance = self.absolute
        if self.relative is not None:
            tolerance = self.relative * min(map(abs, numbers))
        if tolerance is None:
            return self.at_least, self.at_most
        return min(numbers), min(numbers) + tolerance

    def _bounds(self, language: Language) -> str:
        words = _WORDS[language]
        bounds = [
            words[key].format(_exact(value, language))
            for key, value in (("at_least", self.at_least), ("at_most", self.at_most))
            if value is not None
        ]
        return f" {words['and']} ".join(bounds)


@dataclass(frozen=True)
class Claim:
    """One assertion of a chapter. `pt` and `en` are the statement, in which templates may stand."""

    id: str
    pt: str
    en: str
    source: str
    expected: State
    predicates: tuple[Predicate, ...]
    path: Path

    @property
    def where(self) -> str:
        """The file and the name: "chapters/02-average/claims.toml [mean_worse]"."""
        return f"{paths.shown(self.path)} [{self.id}]"

    @property
    def paths(self) -> tuple[str, ...]:
        """Every path that the claim reads, once."""
        return tuple(dict.fromkeys(path for item in self.predicates for path in item.of))

    def statement(self, language: Language) -> str:
        """The assertion in a language, as written."""
        return self.pt if language == "pt" else self.en

    def criterion(
        self, language: Language, name: Callable[[str], str] = str, *, seeded: bool = True
    ) -> str:
        """What must hold, in words: every predicate."""
        return "; ".join(item.criterion(language, name, seeded=seeded) for item in self.predicates)


@dataclass(frozen=True)
class SeedOutcome:
    """One seed: the values that were compared (a ratio or a difference is one value)."""

    seed: int | None
    values: tuple[object, ...]
    holds: bool


@dataclass(frozen=True)
class PredicateOutcome:
    """One predicate: what was measured, seed by seed."""

    predicate: Predicate
    measured: tuple[Quantity, ...]
    details: tuple[SeedOutcome, ...]

    @property
    def holds(self) -> bool:
        """Whether it holds in every seed."""
        return all(item.holds for item in self.details)

    @property
    def seeded(self) -> bool:
        """Whether a seed is behind any of its values."""
        return any(not quantity.is_deterministic for quantity in self.measured)

    @property
    def several(self) -> bool:
        """Whether more than one seed was compared, so that "in every seed" says something."""
        return len(self.details) > 1


@dataclass(frozen=True)
class Outcome:
    """What the records say to a claim."""

    claim: Claim
    parts: tuple[PredicateOutcome, ...]

    @property
    def state(self) -> State:
        """ "holds" if every predicate holds in every seed, else "not_reproduced"."""
        return "holds" if all(part.holds for part in self.parts) else "not_reproduced"

    @property
    def expected(self) -> State:
        """What the chapter expects."""
        return self.claim.expected

    @property
    def as_expected(self) -> bool:
        """Whether the page may say what it says."""
        return self.state == self.claim.expected

    @property
    def details(self) -> tuple[SeedOutcome, ...]:
        """The seeds of the first predicate, which is the claim's own."""
        return self.parts[0].details

    @property
    def measured(self) -> tuple[Quantity, ...]:
        """What the first predicate compares: one quantity for a ratio, difference or bound."""
        return self.parts[0].measured

    @property
    def stale(self) -> bool:
        """Whether a record behind it is out of date (while serving)."""
        return any(quantity.stale for part in self.parts for quantity in part.measured)

    def criterion(self, language: Language, name: Callable[[str], str] = str) -> str:
        """What must hold, in words; "in every seed" only where there are several."""
        return "; ".join(
            part.predicate.criterion(language, name, seeded=part.several) for part in self.parts
        )

    def complaint(self) -> str:
        """One line on an outcome that is not the expected one, with what was measured."""
        part = next((part for part in self.parts if not part.holds), self.parts[0])
        failing = next((item for item in part.details if not item.holds), part.details[0])
        seed = "" if failing.seed is None else f" in seed {failing.seed}"
        values = ", ".join(repr(value) for value in failing.values)
        return (
            f"{self.claim.where}: expected {self.expected}, found {self.state}:"
            f" {part.predicate.criterion('en')}; measured{seed} {values}"
        )


# ---------------------------------------------------------------------------------------------
# Checking


def check_claim(claim: Claim, book: Book) -> Outcome:
    """What the records say to a claim.

    Raises:
        ClaimError: it compares what must not be compared (units, seeds, machines).
        MissingPath, RecordError: a value is not there.
    """
    return Outcome(claim, tuple(_check(item, claim, book) for item in claim.predicates))


def check_claims(book: Book) -> tuple[Outcome, ...]:
    """The outcomes of all claims of all chapters."""
    return tuple(check_claim(claim, book) for claim in all_claims())


def _check(predicate: Predicate, claim: Claim, book: Book) -> PredicateOutcome:
    quantities = [book.get(path) for path in predicate.of]
    try:
        refuse_other_machines(quantities)
        if predicate.kind == "equal":
            return _check_equal(predicate, quantities)
        for quantity in quantities[1:]:
            if quantity.unit != quantities[0].unit and predicate.kind != "ratio":
                raise QuantityError(
                    f"{quantities[0].expression} ({quantities[0].unit}) and {quantity.expression}"
                    f" ({quantity.unit}) have different units"
                )
        if predicate.kind == "ratio":
            quantities = [quantities[0] / quantities[1]]
        elif predicate.kind == "difference":
            quantities = [quantities[0] - quantities[1]]
        details: list[SeedOutcome] = []
        for seed in common_seeds(quantities):
            numbers = [at_seed(quantity, seed) for quantity in quantities]
            details.append(SeedOutcome(seed, tuple(numbers), _holds(predicate, numbers)))
    except QuantityError as error:
        raise ClaimError(f"{claim.where}: {error}") from None
    return PredicateOutcome(predicate, tuple(quantities), tuple(details))


def _check_equal(predicate: Predicate, quantities: list[Quantity]) -> PredicateOutcome:
    details: list[SeedOutcome] = []
    for seed in common_seeds(quantities):
        values = [
            quantity.values[None] if quantity.is_deterministic else quantity.values[seed]
            for quantity in quantities
        ]
        wanted = values[0] if predicate.to is None else predicate.to
        holds = all(_is_equal(value, wanted) for value in values)
        details.append(SeedOutcome(seed, tuple(values), holds))
    return PredicateOutcome(predicate, tuple(quantities), tuple(details))


def _is_equal(value: object, wanted: object) -> bool:
    """Equal and of one sort: True is not 1, but 0 is 0.0."""
    if isinstance(value, tuple) and isinstance(wanted, tuple):
        mine, other = cast("tuple[object, ...]", value), cast("tuple[object, ...]", wanted)
        return len(mine) == len(other) and all(map(_is_equal, mine, other))
    return isinstance(value, bool) == isinstance(wanted, bool) and value == wanted


def _holds(predicate: Predicate, numbers: Sequence[float]) -> bool:
    if any(math.isnan(number) for number in numbers):
        return False
    if predicate.kind == "less":
        return all(a < b for a, b in pairwise(numbers))
    if predicate.kind in _BOUNDED:
        (number,) = numbers
        above = predicate.at_least is None or number >= predicate.at_least
        return above and (predicate.at_most is None or number <= predicate.at_most)
    span = max(numbers) - min(numbers)
    if predicate.absolute is not None:
        return span <= predicate.absolute
    return span <= cast("float", predicate.relative) * min(map(abs, numbers))


# ---------------------------------------------------------------------------------------------
# Reading claims.toml


def all_claims() -> tuple[Claim, ...]:
    """Every claim of every chapter."""
    found: list[Claim] = []
    for path in sorted(paths.CHAPTERS.glob("*/claims.toml")):
        found.extend(load_claims(path.parent).values())
    return tuple(found)


def load_claims(chapter: Path) -> dict[str, Claim]:
    """The claims of a chapter's folder by name; none where it has no claims.toml.

    Raises:
        ClaimError: the file is malformed, with its name and the claim's.
    """
    path = chapter / "claims.toml"
    if not path.is_file():
        return {}
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ClaimError(f"{paths.shown(path)}: {error}") from None
    except OSError as error:
        raise ClaimError(f"{paths.shown(path)}: cannot be read ({error.strerror})") from None
    return {name: _claim(name, table, path) for name, table in content.items()}


def _claim(name: str, table: object, path: Path) -> Claim:
    where = f"{paths.shown(path)} [{name}]"
    if not isinstance(table, dict):
        raise ClaimError(f"{where}: a claim is a table, as in [{name}]")
    if not PART.match(name):
        raise ClaimError(f"{where}: a claim is named by letters, digits and _")
    content = dict(cast("dict[str, object]", table))
    texts: dict[str, str] = {}
    for language in ("pt", "en"):
        text = content.pop(language, None)
        if not isinstance(text, str) or not text.strip():
            raise ClaimError(f"{where}: the statement {language} = '...' is missing")
        texts[language] = text
    source = content.pop("source", "")
    if not isinstance(source, str):
        raise ClaimError(f"{where}: source must be a string")
    expected = content.pop("expected", None)
    if expected not in STATES:
        raise ClaimError(f"{where}: expected must be one of {', '.join(STATES)}")
    also = content.pop("also", [])
    if not isinstance(also, list):
        raise ClaimError(f"{where}: also must be a list of predicates")
    predicates = [_predicate(content, where)]
    predicates += [_predicate(item, where) for item in cast("list[object]", also)]
    return Claim(name, texts["pt"], texts["en"], source, expected, tuple(predicates), path)


def _predicate(table: object, where: str) -> Predicate:
    """The one predicate of a table that holds nothing else."""
    content = cast("dict[str, object]", table) if isinstance(table, dict) else {}
    kinds = [key for key in content if key in _KEYS]
    unknown = [key for key in content if key not in _KEYS]
    if unknown:
        raise ClaimError(f"{where}: the key {unknown[0]!r} is unknown")
    if len(kinds) != 1:
        found = " and ".join(kinds) if kinds else "none"
        raise ClaimError(f"{where}: exactly one of {', '.join(_KEYS)} is needed, found {found}")
    kind = cast("Kind", kinds[0])
    body = content[kind]
    if isinstance(body, list):
        body = {"of": cast("list[object]", body)}
    if not isinstance(body, dict):
        raise ClaimError(f"{where}: {kind} needs of = [...]")
    given = cast("dict[str, object]", body)
    for key in given:
        if key not in _KEYS[kind]:
            raise ClaimError(f"{where}: {kind} has no {key!r}")
    of = given.get("of")
    names = cast("list[object]", of) if isinstance(of, list) else [of]
    if not all(isinstance(item, str) for item in names):
        raise ClaimError(f"{where}: {kind} needs of = [paths]")
    if len(names) < _LEAST_PATHS.get(kind, 2) or len(names) > _MOST_PATHS.get(kind, len(names)):
        raise ClaimError(f"{where}: {kind} over {len(names)} paths says nothing")
    if kind == "equal" and len(names) < 2 and "to" not in given:
        raise ClaimError(f"{where}: equal needs two paths, or to = a literal")
    limits: dict[str, float] = {}
    for key in ("at_least", "at_most", "relative", "absolute"):
        value = given.get(key)
        if value is None:
            continue
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float)
            or not math.isfinite(value)
        ):
            raise ClaimError(f"{where}: {key} must be a number")
        if key in ("relative", "absolute") and value < 0:
            raise ClaimError(f"{where}: {key} must not be negative")
        limits[key] = value
    if kind in _BOUNDED and not limits:
        raise ClaimError(f"{where}: {kind} needs at_least or at_most")
    if limits.get("at_least", -math.inf) > limits.get("at_most", math.inf):
        raise ClaimError(f"{where}: at_least is above at_most")
    if kind in ("same", "flat") and len(limits) != 1:
        raise ClaimError(f"{where}: {kind} names its tolerance: relative or absolute")
    return Predicate(
        kind=kind,
        of=tuple(cast("list[str]", names)),
        at_least=limits.get("at_least"),
        at_most=limits.get("at_most"),
        relative=limits.get("relative"),
        absolute=limits.get("absolute"),
        to=_frozen(given.get("to")),
    )


def _frozen(value: object) -> object:
    if isinstance(value, list):
        return tuple(_frozen(item) for item in cast("list[object]", value))
    return value


# ---------------------------------------------------------------------------------------------
# In words

_WORDS: Mapping[str, Mapping[str, str]] = {
    "pt": {
        "and": "e",
        "seeds": "em cada semente",
        "at_least": "no mínimo {}",
        "at_most": "no máximo {}",
        "same": "diferem em no máximo {}",
        "flat": "o maior passa do menor em no máximo {}",
        "exactly": "exatamente",
    },
    "en": {
        "and": "and",
        "seeds": "in every seed",
        "at_least": "at least {}",
        "at_most": "at most {}",
        "same": "differ by at most {}",
        "flat": "the largest exceeds the smallest by at most {}",
        "exactly": "exactly",
    },
}


def _listed(names: Sequence[str], last: str) -> str:
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} {last} {names[-1]}"


def _literal(value: object, language: Language) -> str:
    if isinstance(value, tuple):
        items = cast("tuple[object, ...]", value)
        separator = "; " if language == "pt" else ", "
        return f"[{separator.join(_literal(item, language) for item in items)}]"
    if isinstance(value, bool):
        return format_truth(value, language)
    return _exact(value, language) if isinstance(value, int | float) else str(value)


def _exact(value: float, language: Language, *, percent: bool = False) -> str:
    """A bound exactly as it stands in claims.toml, in the page's language."""
    exact = Decimal(repr(value))
    if exact == 0:
        return format_number(0.0, language, percent=0) if percent else "0"
    if not percent and not -4 <= exact.adjusted() < 15:
        digits = len(exact.normalize().as_tuple().digits)
        return format_number(value, language, scientific=digits)
    exponent = cast("int", (exact.scaleb(2) if percent else exact).normalize().as_tuple().exponent)
    places = max(0, -exponent)
    if percent:
        return format_number(value, language, percent=places)
    return format_number(value, language, decimals=places)
