"""What does the book tell a reader who points at a number?

In: a quantity as a page shows it. Out: the facts of its pop-over, ready to be read: value and
spread, what it is, one value per seed on an axis, device, date and duration, digest, the command
that measures it again, and where record and source lie on the site.
"""

from __future__ import annotations

import fnmatch
import hashlib
import json
import math
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from html import escape
from typing import Any, TypeVar, cast

from babel.dates import format_date

from engine import paths
from engine.errors import RenderError
from engine.number import Language, format_number, format_truth, unit_name
from engine.quantity import Quantity
from engine.record import Record

_T = TypeVar("_T")
LONG = 5  # digits of a count from which on they are grouped
MOST_DECIMALS = 6  # from here on powers of ten read better
LOCALES = {"pt": "pt_BR", "en": "en_US"}
_SPECIAL = re.compile(r"[\\{}$&#%_^~]")
_DEVICES = {
    "pt": {"cpu": "processador", "cuda": "GPU", "mps": "GPU da Apple"},
    "en": {"cpu": "processor", "cuda": "GPU", "mps": "Apple GPU"},
}


@dataclass(frozen=True)
class Number:
    """One number of one page: the quantity, and how it reads in each place.

    `parts` are value and spread apart, as HTML; `asked` is the format as the template asked for
    it; `line` is the line of the template.
    """

    key: str
    quantity: Quantity
    text: str
    markup: str
    formula: str
    parts: tuple[str, str | None] | None
    asked: str
    percent: bool
    line: int

    def plain(self) -> str:
        return self.text

    def tex(self) -> str:
        return self.formula

    def html(self, apart: bool) -> str:
        if apart and self.parts and self.parts[1]:
            return f'{self._span(self.parts[0])} <span class="pm">±\u00a0{self.parts[1]}</span>'
        return self._span(self.markup)

    def _span(self, inside: str) -> str:
        stale = " num--stale" if self.quantity.stale else ""
        return (
            f'<span class="num{stale}" tabindex="0" role="button" data-n="{self.key}">'
            f"{inside}</span>"
        )


@dataclass(frozen=True)
class Words:
    """Text from a record or from the engine: escaped wherever it stands, with no details."""

    words: str
    formula: str | None = None
    key: str | None = None

    def plain(self) -> str:
        return self.words

    def tex(self) -> str:
        if self.formula is not None:
            return self.formula
        return rf"\text{{{_SPECIAL.sub('', self.words)}}}"

    def html(self, apart: bool) -> str:
        return escape(self.words)


@dataclass(frozen=True)
class Late:
    """Text that is known when all pages are rendered: the title or the number of something."""

    words: Callable[[], str]
    key: str | None = None

    def plain(self) -> str:
        return self.words()

    def tex(self) -> str:
        return Words(self.words()).tex()

    def html(self, apart: bool) -> str:
        return escape(self.words())


@dataclass(frozen=True)
class Markup:
    """Finished HTML that Markdown must not see."""

    markup: str
    key: str | None = None

    def plain(self) -> str:
        return ""

    def tex(self) -> str:
        return ""

    def html(self, apart: bool) -> str:
        return self.markup


def key_of(quantity: Quantity, asked: str) -> str:
    """The name of a number among the details of a page: the same as long as the template is,
    whatever was measured."""
    name = json.dumps([quantity.expression, sorted(quantity.values, key=str), asked])
    return "n" + hashlib.sha256(name.encode()).hexdigest()[:10]


@dataclass(frozen=True)
class Roots:
    """The way from a page to the root of the site and to the root of its language."""

    site: str
    language: str


def describe(number: Number, language: Language, roots: Roots, labels: Labels) -> dict[str, Any]:
    """Everything that the pop-over of `number` says."""
    quantity = number.quantity
    records = quantity.records
    spread = number.parts[1] if number.parts else None
    seeds = [
        {"seed": seed, "value": _in_json(value), "text": text}
        for (seed, value), text in zip(
            quantity.values.items(), readable(quantity, language, number.percent), strict=True
        )
    ]
    low, high = axis(quantity, language, number.percent)
    latest = max((record.measured_at for record in records), default="")
    commands = [record.command for record in records]
    return {
        "text": number.text,
        "spread": _bare(spread),
        "what": labels.of(quantity, language),
        "experiment": ", ".join(_once(record.experiment for record in records)),
        "paths": list(quantity.paths),
        "seeds": seeds,
        "low": low,
        "high": high,
        "device": "; ".join(_once(device_words(record, language) for record in records)),
        "date": date_words(latest, language),
        "seconds": sum(record.seconds for record in records),
        "duration": duration_words(sum(record.seconds for record in records), language),
        "digest": [record.digest for record in records],
        "command": commands,
        "record_url": [roots.site + record_url(record) for record in records],
        "source_url": [
            roots.language + source_url(f"experiments/{name}.py")
            for name in _once(record.experiment for record in records)
        ],
        "unit": unit_name(quantity.unit, language),
        "stale": quantity.stale,
        "machine_dependent": quantity.machine_dependent,
    }


def script(numbers: Iterable[tuple[str, dict[str, Any]]]) -> str:
    """The details of a page as an element that its pop-overs read. Nothing in it can end it."""
    text = json.dumps(dict(numbers), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    text = text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
    return f'<script type="application/json" class="bk-numbers" data-search-exclude>{text}</script>'


# ---------------------------------------------------------------------------- words


class Labels:
    """What paths are called in words: chapters/labels.toml, the longest pattern first."""

    def __init__(self, entries: Mapping[str, Mapping[str, str]]) -> None:
        self._entries = [
            (re.compile(fnmatch.translate(pattern).replace(".*", "(.*?)")), entries[pattern])
            for pattern in sorted(entries, key=lambda p: (-len(p.replace("*", "")), p))
        ]
        self._found: dict[tuple[str, Language], str] = {}  # a page asks for the same ones often

    @classmethod
    def read(cls) -> Labels:
        path = paths.CHAPTERS / "labels.toml"
        if not path.is_file():
            return cls({})
        try:
            loaded = tomllib.loads(path.read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
            raise RenderError(f"{paths.shown(path)}: {problem}") from problem
        for pattern, entry in loaded.items():
            if not isinstance(entry, dict) or set(cast("dict[str, Any]", entry)) != {"pt", "en"}:
                raise RenderError(f'{paths.shown(path)}: "{pattern}" needs pt and en')
        return cls(loaded)

    def of_path(self, path: str, language: Language) -> str:
        if (path, language) not in self._found:
            self._found[path, language] = self._first(path, language)
        return self._found[path, language]

    def _first(self, path: str, language: Language) -> str:
        for pattern, entry in self._entries:
            match = pattern.match(path)
            if match:
                return entry[language].format(
                    *(_grouped(part, language) for part in match.groups())
                )
        return path

    def of(self, quantity: Quantity, language: Language) -> str:
        """In words where every path has a label, else the calculation as it was made."""
        if len(quantity.paths) == 1 and quantity.expression == quantity.paths[0]:
            return self.of_path(quantity.paths[0], language)
        text = quantity.expression.replace(" / ", " ÷ ").replace(" * ", " × ").replace(" - ", " − ")
        for path in sorted(quantity.paths, key=len, reverse=True):
            label = self.of_path(path, language)
            text = text.replace(path, label if label == path else f"({label})")
        return text


def _grouped(part: str, language: Language) -> str:
    """A long count in a path, as the book writes it: 10 000."""
    long = part.isdecimal() and len(part) >= LONG
    return format_number(int(part), language, integer=True) if long else part


def device_words(record: Record, language: Language) -> str:
    """ "processador X, 2 threads": the machine that measured, in the page's language."""
    device = record.device
    text = kind_words(str(device["kind"]), str(device["name"]), language)
    threads = device["threads"]
    said = "thread" if threads == 1 else "threads"  # the same word in both languages
    return f"{text}, {threads} {said}" if threads else text


def kind_words(kind: str, name: str, language: Language) -> str:
    """ "processador X", without the threads."""
    return f"{_DEVICES[language].get(kind, kind)} {name}".strip()


def machines(records: Iterable[Record]) -> list[tuple[str, str]]:
    """The different machines among these records: kind and name."""
    return _once((str(record.device["kind"]), str(record.device["name"])) for record in records)


def date_words(moment: str, language: Language) -> str:
    """ "3 de mar. de 2026", "Mar 3, 2026"."""
    if not moment:
        return ""
    when = datetime.fromisoformat(moment.replace("Z", "+00:00"))
    return format_date(when, format="medium", locale=LOCALES[language])


def duration_words(seconds: float, language: Language) -> str:
    """Two units at most: "12 s", "3 min 20 s", "2 h 10 min"."""
    if seconds < 10:
        digits = 1 if seconds >= 1 else 2
        return format_number(float(seconds), language, digits=digits, unit="s")
    whole = math.floor(seconds)
    if whole < 60:
        return format_number(whole, language, integer=True, unit="s")
    big, small, per = ("min", "s", 60) if whole < 3600 else ("h", "min", 3600)
    rest = whole % per if per == 60 else whole % per // 60
    text = format_number(whole // per, language, integer=True, unit=big)
    return text + (f" {format_number(rest, language, integer=True, unit=small)}" if rest else "")


def record_url(record: Record) -> str:
    return f"records/{record.id}.json"


def source_url(path: str) -> str:
    """The page of a source file, below the root of a language (engine/published.py)."""
    return f"source/{path.removesuffix('.py')}/"


# ---------------------------------------------------------------------------- one value per seed


def readable(quantity: Quantity, language: Language, percent: bool = False) -> list[str]:
    """Each seed's value with as many digits as tell the seeds apart."""
    values = list(quantity.values.values())
    decimals = _decimals(numbers(values), percent)
    return [_readable(value, language, percent, decimals) for value in values]


def _readable(value: object, language: Language, percent: bool, decimals: int | None) -> str:
    if isinstance(value, tuple | list):
        items = cast("Sequence[object]", value)
        between = "; " if language == "pt" else ", "
        return f"[{between.join(_readable(one, language, percent, None) for one in items)}]"
    if isinstance(value, bool):
        return format_truth(value, language)
    if not isinstance(value, int | float):
        return str(value)
    if isinstance(value, int) and not percent:
        return format_number(value, language, integer=True)
    if not math.isfinite(value):
        return format_number(value, language, decimals=0, nonfinite=True)
    if decimals is None and not percent and "e" not in f"{value:.6g}":
        return format_number(value, language, decimals=len(f"{value:.6g}".partition(".")[2]))
    if decimals is None or value == 0:
        return format_number(value * 100 if percent else value, language, digits=6) + (
            "%" if percent else ""
        )
    if percent:
        return format_number(value, language, percent=decimals, below=True)
    if abs(value) < 10.0**-decimals or decimals > MOST_DECIMALS:
        return format_number(value, language, scientific=4)
    return format_number(value, language, decimals=decimals)


def _decimals(values: Sequence[float], percent: bool) -> int | None:
    """Two digits more than the first one in which the values differ; None if they do not."""
    if len(values) < 2:
        return None
    span = max(values) - min(values)
    if span == 0 or not math.isfinite(span):
        return None
    return max(0, 1 - math.floor(math.log10(span)) - (2 if percent else 0))


def axis(
    quantity: Quantity, language: Language, percent: bool = False
) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    """The ends of the ruler under the seeds, each with its value and text; None for one value."""
    ends = nice_ends(numbers(quantity.values.values()), language, percent)
    return ends if ends else (None, None)


def nice_ends(
    values: Sequence[float], language: Language, percent: bool = False
) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """Round numbers around `values`, as value and text."""
    if len(values) < 2:
        return None
    span = max(values) - min(values)
    if span <= 0 or not math.isfinite(span):
        return None
    power = math.floor(math.log10(span))
    step = 10.0**power
    low, high = math.floor(min(values) / step), math.ceil(max(values) / step)
    places = max(0, -power)

    def end(steps: int) -> dict[str, Any]:
        value = steps * step
        if percent:
            text = format_number(value, language, percent=max(0, places - 2))
        elif 0 < places <= MOST_DECIMALS or (places == 0 and abs(value) < 1e15):
            text = format_number(float(f"{value:.{places}f}"), language, decimals=places)
        else:
            text = format_number(value, language, digits=len(str(abs(steps)).rstrip("0")) or 1)
        return {"value": value, "text": text}

    return end(low), end(high)


def numbers(values: Iterable[object]) -> list[float]:
    """Those of `values` that are finite numbers."""
    return [
        value
        for value in values
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    ]


def _in_json(value: object) -> object:
    """JSON has no number for what is not finite."""
    return repr(value) if isinstance(value, float) and not math.isfinite(value) else value


def _bare(markup: str | None) -> str | None:
    """A spread as text: the markup of a number holds at most the exponent's <sup>."""
    return None if markup is None else "±\u00a0" + re.sub(r"<[^>]+>", "", markup)


def _once(items: Iterable[_T]) -> list[_T]:
    return list(dict.fromkeys(items))
