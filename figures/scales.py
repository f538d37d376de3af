"""Where does a value lie on an axis, which ticks does the axis carry, and what do they say?

In: values at full precision and a language. Out: a domain, ticks, their labels (rounded by
engine.number, the only place that rounds) and positions in pixels, which labels need in order not
to lie on one another.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from engine.number import format_number, format_spread
from figures import FigureError, Language, Row
from figures.fonts import SIZE

_SUPERSCRIPT = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
_PADDING = 0.04  # of the length of a logarithmic axis, at both ends
_LINE = SIZE * 1.25


@dataclass(frozen=True)
class Scale:
    """An axis: its ends, whether it is logarithmic, and the values that carry a tick."""

    low: float
    high: float
    log: bool
    ticks: tuple[float, ...]
    percent: bool = False

    def share(self, value: float) -> float:
        """0 at the low end, 1 at the high end."""
        low, high, at = (self._along(x) for x in (self.low, self.high, value))
        return (at - low) / (high - low)

    def value(self, share: float) -> float:
        """The inverse of `share`."""
        low, high = self._along(self.low), self._along(self.high)
        along = low + share * (high - low)
        return math.exp(along) if self.log else along

    def altair(self) -> dict[str, Any]:
        """The scale as Vega-Lite's own properties."""
        kind = {"type": "log"} if self.log else {"type": "linear", "zero": False}
        return kind | {"domain": [self.low, self.high], "nice": False}

    def _along(self, value: float) -> float:
        return math.log(value) if self.log else value


def linear(values: Iterable[float], count: int = 5, zero: bool = True) -> Scale:
    """A linear axis from zero that ends at ticks; or, without zero, one a little longer than the
    values, with ticks inside."""
    finite = _finite(values)
    low, high = min(finite), max(finite)
    if zero:
        low, high = min(low, 0.0), max(high, 0.0)
    if high - low < 1e-300:
        low, high = (low - abs(low) / 2, high + abs(high) / 2) if abs(low) > 1e-300 else (0.0, 1.0)
    if zero:
        ticks = _even_ticks(low, high, count, outside=True)
        return Scale(ticks[0], ticks[-1], False, ticks)
    room = (high - low) * 2 * _PADDING
    low, high = low - room, high + room
    return Scale(low, high, False, _even_ticks(low, high, count, outside=False))


def logarithmic(values: Iterable[float], count: int = 5, padding: float = _PADDING) -> Scale:
    """A logarithmic axis with ticks at powers of ten, or at their halves and fifths."""
    finite = [value for value in _finite(values) if value > 0]
    if not finite:
        raise ValueError("a logarithmic axis needs a value above zero")
    low, high = min(finite), max(finite)
    if high / low < 1.5:
        low, high = low / 1.25, high * 1.25
    ratio = (high / low) ** padding
    low, high = low / ratio, high * ratio
    return Scale(low, high, True, _log_ticks(low, high, count))


def fixed(
    ticks: Sequence[float], log: bool = False, before: float = 0.0, after: float = 0.0
) -> Scale:
    """An axis with a tick at each of `ticks` and nowhere else, and room at its ends (in shares of
    the distance between the outer ticks). Lines with labels at their ends want none after."""
    ends = Scale(min(ticks), max(ticks), log, tuple(ticks))
    return Scale(ends.value(-before), ends.value(1 + after), log, tuple(ticks))


def span(values: Sequence[float], count: int = 5) -> Scale:
    """A linear axis that ends where the values end, with round ticks between: for training steps,
    whose lines carry their labels at the end."""
    low, high = min(values), max(values)
    if low == high:
        return linear(values, count)
    return Scale(low, high, False, _even_ticks(low, high, count, outside=False))


def shares(ticks: Sequence[float] = (0.0, 0.25, 0.5, 0.75, 1.0)) -> Scale:
    """From nothing to all, in per cent."""
    return Scale(0.0, 1.0, False, tuple(ticks), percent=True)


def tick_texts(scale: Scale, language: Language) -> list[str]:
    """What the ticks say: as few digits as tell them apart."""
    ticks = scale.ticks
    if scale.percent:
        return [percent_text(tick, language) for tick in ticks]
    sizes = [abs(tick) for tick in ticks if tick]
    if scale.log and sizes and (min(sizes) < 1e-3 or max(sizes) >= 1e6):
        return [_power(tick, language) for tick in ticks]
    if sizes and (max(sizes) >= 1e7 or min(sizes) < 1e-4):
        digits = max(_digits(tick) for tick in ticks)
        return [format_number(tick, language, scientific=digits) if tick else "0" for tick in ticks]
    if scale.log:
        return [format_number(tick, language, decimals=_decimals(tick)) for tick in ticks]
    places = max(_decimals(tick) for tick in ticks)
    return [
        format_number(tick, language, decimals=places) if tick else "0"
        for tick in (_clean(tick) for tick in ticks)
    ]


def value_text(value: float, language: Language, digits: int = 3) -> str:
    """A measured value beside its mark: significant digits, whatever its size."""
    return format_number(value, language, digits=digits, nonfinite=True)


def count_text(value: float, language: Language) -> str:
    """A count: whole, or to significant digits where it is an average."""
    whole = float(value).is_integer()
    return (
        format_number(int(value), language, integer=True) if whole else value_text(value, language)
    )


def decimals_text(value: float, language: Language, decimals: int) -> str:
    """A measured value of known size, as in a cell; a smaller one says "< 0,01"."""
    return format_number(value, language, decimals=decimals, below=True, nonfinite=True)


def percent_text(value: float, language: Language) -> str:
    """A share in per cent, with the fewest decimals that keep it near itself."""
    for places in range(4):
        shown = 10**places
        if abs(round(value * 100 * shown) / shown - value * 100) <= abs(value * 100) * 0.005:
            return format_number(value, language, percent=places)
    return format_number(value, language, percent=3, below=True)


def spread_text(row: Row, key: str, language: Language, digits: int = 3) -> str:
    """The value of a row with its spread (columns `std` and `seeds`), as the text shows it."""
    std = optional(row, "std")
    return format_spread(number(row, key), std, int(number(row, "seeds")), language, digits=digits)


def number(row: Row, key: str) -> float:
    """A number of a row; anything else there is an error of the figure's data."""
    value = row[key]
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise FigureError(f"a figure's {key} is {value!r}, not a number")
    return value


def optional(row: Row, key: str) -> float | None:
    """A number of a row, or None."""
    return None if row[key] is None else number(row, key)


def separate(wanted: Sequence[float], heights: Sequence[float], length: float) -> list[float]:
    """Positions near `wanted` at which labels of these heights do not overlap, within 0..length
    if they fit. Neighbours that collide are moved together, each by as little as possible."""
    order = sorted(range(len(wanted)), key=lambda index: wanted[index])
    groups: list[tuple[float, list[int]]] = []
    for index in order:
        centre, members = wanted[index], [index]
        while True:
            tall = sum(heights[member] for member in members)
            centre = min(max(centre, tall / 2), max(length - tall / 2, tall / 2))
            if not groups:
                break
            before_centre, before = groups[-1]
            before_tall = sum(heights[member] for member in before)
            if before_centre + before_tall / 2 <= centre - tall / 2:
                break
            groups.pop()
            members = before + members
            centre = sum(wanted[member] for member in members) / len(members)
        groups.append((centre, members))
    placed = [0.0] * len(wanted)
    for centre, members in groups:
        top = centre - sum(heights[member] for member in members) / 2
        for member in members:
            placed[member] = top + heights[member] / 2
            top += heights[member]
    return placed


def text_height(text: str) -> float:
    """Pixels that a label of one or more lines takes."""
    return (text.count("\n") + 1) * _LINE


def _finite(values: Iterable[float]) -> list[float]:
    finite = [value for value in values if math.isfinite(value)]
    if not finite:
        raise ValueError("an axis needs a finite value")
    return finite


def _even_ticks(low: float, high: float, count: int, outside: bool) -> tuple[float, ...]:
    """About `count` round values, the ends outside or inside low..high; at least two."""
    raw = (high - low) / max(count - 1, 1)
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(factor for factor in (1, 2, 2.5, 5, 10) if factor * power >= raw * 0.999) * power
    first = math.floor(low / step + 1e-9) if outside else math.ceil(low / step - 1e-9)
    last = math.ceil(high / step - 1e-9) if outside else math.floor(high / step + 1e-9)
    if last <= first:
        return _even_ticks(low, high, count + 2, outside)
    return tuple(_clean(number * step) for number in range(first, last + 1))


def _log_ticks(low: float, high: float, count: int) -> tuple[float, ...]:
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    for factors in ((1, 1.5, 2, 3, 4, 5, 6, 8), (1, 2, 3, 5, 7), (1, 2, 5), (1, 3), (1,)):
        ticks = [_clean(f * 10.0**power) for power in range(first, last + 1) for f in factors]
        inside = [tick for tick in ticks if low <= tick <= high]
        if len(inside) <= count + 1:
            break
    else:
        powers = [power for power in range(first, last + 1) if low <= 10.0**power <= high]
        every = math.ceil(len(powers) / count)
        inside = [10.0**power for power in powers if power % every == 0]
    if len(inside) >= 2:
        return tuple(inside)
    return _even_ticks(low, high, count, outside=False)


def _clean(value: float) -> float:
    """The value without the dust of binary arithmetic: 0.30000000000000004 is a tick at 0.3."""
    return float(f"{value:.12g}")


def _decimals(value: float) -> int:
    for places in range(13):
        if math.isclose(round(value, places), value, rel_tol=1e-9, abs_tol=1e-15):
            return places
    return 12


def _digits(value: float) -> int:
    """How many significant digits tell the value exactly."""
    return next(n for n in range(1, 18) if math.isclose(float(f"{value:.{n - 1}e}"), value))


def _power(tick: float, language: Language) -> str:
    exponent = round(math.log10(tick))
    if math.isclose(10.0**exponent, tick, rel_tol=1e-6):
        return "10" + str(exponent).translate(_SUPERSCRIPT) if exponent else "1"
    return format_number(tick, language, scientific=2)
