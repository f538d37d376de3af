"""How is a measured value shown to a reader of Portuguese or of English?

In: a Python int or float at full precision, a language ("pt" or "en"), exactly one format by name,
and the form of the output: "text" (attributes, titles, plain text), "html" (the page) or "tex"
(inside mathematics). Out: a string, rounded once. Nothing else in Python rounds.

The decisions, each with its reason:

* A value is rounded as it is printed at full precision (its shortest decimal form), and a half goes
  up, away from zero: a reader who takes `python -m engine get` and rounds by hand finds the page.
* A value that is not zero is never shown as zero: that is an error, unless the caller names a level
  of rounding noise (`noise=`) or asks for "< 0,01" (`below=True`).
* Four-digit integers stay closed (4096); from five digits on thousands are separated (16.512).
* `digits=` turns to scientific notation below 0.0001 and from 10^15 on.
* `times`, `fraction` and `out_of` state a value in words only where the words are true: within
  2.5 % (times, fractions) or a fifth of a step (out_of). `about=True` admits 10 %, respectively
  half a step, and then the sentence must say "cerca de" or "about".
* Words go up to ten, as in prose; `word=True` writes any whole number out.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal
from html import escape
from typing import Literal, cast

from babel import Locale
from babel.numbers import get_decimal_symbol, get_group_symbol
from num2words import num2words  # pyright: ignore[reportUnknownVariableType, reportMissingTypeStubs]

from engine.errors import NumberError

Language = Literal["pt", "en"]
Form = Literal["text", "html", "tex"]
Gender = Literal["m", "f"]

FORMATS = (
    "decimals",
    "digits",
    "percent",
    "scientific",
    "integer",
    "word",
    "times",
    "fraction",
    "out_of",
    "ordinal",
)
"""The names of which a call gives exactly one."""

NBSP = "\u00a0"
MINUS = "\u2212"
WORDS_UP_TO = 10
GROUPED_FROM = 5  # digits of the integer part
PLAIN_FROM, PLAIN_BELOW = -4, 15  # powers of ten between which digits= is written out
EXACT, ABOUT = Decimal("0.025"), Decimal("0.1")
ABOUT_SHARE = Decimal("0.03")  # a fraction called "about" must also be this near in absolute terms
OUT_OF_EXACT, OUT_OF_ABOUT = Decimal("0.2"), Decimal("0.5")
MOST_IN_WORDS = 10**15
MOST_DECIMALS = 340  # enough for any float; more is a slip

_EXACT = Context(prec=2000, rounding=ROUND_HALF_UP)
_LOCALES = {"pt": Locale("pt", "BR"), "en": Locale("en", "US")}
_WORDS = cast("Callable[..., str]", num2words)
_SUPERSCRIPT = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


@dataclass(frozen=True)
class Unit:
    """A unit: a symbol, which never changes, or a noun with its plurals and Portuguese gender."""

    pt: str
    pt_plural: str
    en: str
    en_plural: str
    gender: Gender = "m"


def _symbol(text: str) -> Unit:
    return Unit(text, text, text, text)


UNITS: dict[str, Unit] = {
    **{
        symbol: _symbol(symbol)
        for symbol in (
            *("µs", "ms", "s", "min", "h"),
            *("B", "kB", "MB", "GB", "TB", "KiB", "MiB", "GiB"),
            *("FLOP", "MFLOP", "GFLOP", "TFLOP", "GFLOP/s", "TFLOP/s", "W"),
        )
    },
    "nat": Unit("nat", "nats", "nat", "nats"),
    "bit": Unit("bit", "bits", "bit", "bits"),
    "byte": Unit("byte", "bytes", "byte", "bytes"),
    "token": Unit("token", "tokens", "token", "tokens"),
    "character": Unit("caractere", "caracteres", "character", "characters"),
    "parameter": Unit("parâmetro", "parâmetros", "parameter", "parameters"),
    "million parameter": Unit(
        "milhão de parâmetros", "milhões de parâmetros", "million parameters", "million parameters"
    ),
    "number": Unit("número", "números", "number", "numbers"),
    "step": Unit("passo", "passos", "step", "steps"),
    "point": Unit("ponto", "pontos", "point", "points"),
    "percentage_point": Unit(
        "ponto percentual", "pontos percentuais", "percentage point", "percentage points"
    ),
    "second": Unit("segundo", "segundos", "second", "seconds"),
    "minute": Unit("minuto", "minutos", "minute", "minutes"),
    "hour": Unit("hora", "horas", "hour", "hours", "f"),
    "seed": Unit("semente", "sementes", "seed", "seeds", "f"),
    "run": Unit("execução", "execuções", "run", "runs", "f"),
    "epoch": Unit("época", "épocas", "epoch", "epochs", "f"),
    "row": Unit("linha", "linhas", "row", "rows", "f"),
    "pair": Unit("par", "pares", "pair", "pairs"),
    "word": Unit("palavra", "palavras", "word", "words", "f"),
    "sentence": Unit("frase", "frases", "sentence", "sentences", "f"),
    "position": Unit("posição", "posições", "position", "positions", "f"),
    "layer": Unit("camada", "camadas", "layer", "layers", "f"),
    "block": Unit("bloco", "blocos", "block", "blocks"),
    "attempt": Unit("tentativa", "tentativas", "attempt", "attempts", "f"),
    "head": Unit("cabeça", "cabeças", "head", "heads", "f"),
}
"""The units a page may name. A plural key ("nats") finds its singular."""

# Quantities that are counted in nothing: a value of theirs stands without a unit.
UNITLESS = ("1", "", "perplexity", "share", "ratio")
_UNIT_NAMES = {
    "perplexity": ("perplexidade", "perplexity"),
    "share": ("fração", "share"),
    "ratio": ("razão", "ratio"),
}

_FRACTIONS: dict[tuple[int, int], tuple[str, str]] = {
    (1, 10): ("um décimo", "one tenth"),
    (1, 5): ("um quinto", "one fifth"),
    (1, 4): ("um quarto", "one quarter"),
    (1, 3): ("um terço", "one third"),
    (2, 5): ("dois quintos", "two fifths"),
    (1, 2): ("metade", "half"),
    (3, 5): ("três quintos", "three fifths"),
    (2, 3): ("dois terços", "two thirds"),
    (3, 4): ("três quartos", "three quarters"),
    (4, 5): ("quatro quintos", "four fifths"),
    (9, 10): ("nove décimos", "nine tenths"),
}


def format_truth(value: bool, language: Language) -> str:
    """A measured truth in a word: sim, não, yes, no."""
    return {"pt": ("não", "sim"), "en": ("no", "yes")}[language][value]


def format_number(
    value: float | str,
    language: Language,
    *,
    decimals: int | None = None,
    digits: int | None = None,
    percent: int | None = None,
    scientific: int | None = None,
    integer: bool = False,
    word: bool = False,
    times: bool = False,
    fraction: bool = False,
    out_of: int | None = None,
    ordinal: bool = False,
    unit: str | None = None,
    grouped: bool = True,
    signed: bool = False,
    capital: bool = False,
    about: bool = False,
    gender: Gender = "m",
    below: bool = False,
    noise: float = 0.0,
    spread: float | None = None,
    nonfinite: bool = False,
    form: Form = "text",
) -> str:
    """Show `value` in `language`, in the one format that is named.

    `decimals=2`, `percent=1` (decimals of the percentage), `digits=3` and `scientific=2`
    (significant digits), `integer=True`, `word=True` ("quatro"), `times=True` ("quatro vezes"),
    `fraction=True` ("dois terços"), `out_of=10` ("sete em dez"), `ordinal=True` ("primeira").
    `unit` is a key of UNITS; `percent` with "percentage_point" scales and drops the sign.
    `gender` is that of the Portuguese noun a word agrees with (a unit brings its own).
    `spread` is the standard deviation over seeds: more digits than it supports are refused.
    `nonfinite=True` admits NaN and infinities (also as the strings a record stores).

    Raises NumberError: a type other than int or float (bool and NumPy scalars too), two formats or
    none, a value that would be shown as zero, words that would not be true, an unknown unit.
    """
    given = {
        "decimals": decimals is not None,
        "digits": digits is not None,
        "percent": percent is not None,
        "scientific": scientific is not None,
        "integer": integer,
        "word": word,
        "times": times,
        "fraction": fraction,
        "out_of": out_of is not None,
        "ordinal": ordinal,
    }
    chosen = [name for name in FORMATS if given[name]]
    if len(chosen) != 1:
        asked = " and ".join(chosen) if chosen else "none"
        raise NumberError(f"a number needs exactly one of {', '.join(FORMATS)}; got {asked}")
    _check_language(language, form)
    noun = _unit(unit)

    if isinstance(value, str) or not _finite(_checked(value)):
        return _nonfinite(value, language, form, nonfinite)
    exact = _decimal(value)
    if exact.copy_abs() <= _decimal(noise):
        exact = Decimal(0)
    style = _Style(language, form, grouped, signed)

    if word or times or fraction or out_of is not None or ordinal:
        if noun is not None:
            gender = noun.gender
        if word:
            text = _in_words(_whole(exact, "word"), language, gender)
            if noun is not None:
                joint = " de " if language == "pt" and _ends_in_million(text) else NBSP
                text += joint + _noun(noun, exact, language)
        elif noun is not None:
            raise NumberError(f"{chosen[0]} takes no unit (got {unit!r})")
        elif times:
            text = _times(exact, style, about)
        elif fraction:
            text = _fraction(exact, language, about)
        elif out_of is not None:
            text = _out_of(exact, out_of, language, gender, about)
        else:
            text = _ordinal(_whole(exact, "ordinal"), language, gender)
        text = text[:1].upper() + text[1:] if capital else text
        if form == "tex":
            return rf"\text{{{text}}}".replace(NBSP, "~")
        return text

    if percent is not None:
        points = noun is not None and unit in ("percentage_point", "percentage_points")
        if noun is not None and not points:
            raise NumberError(f"percent takes no unit but percentage_point (got {unit!r})")
        exact = exact.scaleb(2, _EXACT)
        spread = None if spread is None else float(_decimal(spread).scaleb(2, _EXACT))
    shown, power = _rounded(exact, decimals, digits, percent, scientific)
    _check_spread(exact, spread, shown, power, value)
    if shown == 0 and exact != 0:
        if not below:
            raise NumberError(_would_be_zero(value, chosen[0], shown))
        text = _below(exact, shown, style)
    else:
        text = style.number(shown, power)
    if noun is not None:
        return text + style.unit(noun, shown.scaleb(power, _EXACT) if power else shown)
    return text + style.percent() if percent is not None else text


def format_spread(
    mean: float,
    std: float | None,
    n: int,
    language: Language,
    *,
    digits: int = 3,
    percent: bool = False,
    unit: str | None = None,
    grouped: bool = True,
    form: Form = "text",
) -> str:
    """Mean ± standard deviation: the spread to one significant digit (two if it begins with 1) and
    the mean to match. With one seed (or none) there is no spread: the mean alone, at `digits`.

    `percent=True` shows both as percentages; `unit` follows both.
    """
    shown, power = _spread_values(mean, std, n, digits, percent)
    _check_language(language, form)
    style = _Style(language, form, grouped, signed=False)
    noun = _unit(unit)
    texts = [style.number(part, 0) for part in shown]
    text = style.plus_minus().join(texts)
    if len(texts) == 2 and (power or percent):
        text = f"({text})"
    text += style.power(power) if power else ""
    if percent:
        if noun is not None:
            raise NumberError(f"percent takes no unit (got {unit!r})")
        return text + style.percent()
    return text if noun is None else text + style.unit(noun, shown[0].scaleb(power, _EXACT))


def spread_parts(
    mean: float,
    std: float | None,
    n: int,
    language: Language,
    *,
    digits: int = 3,
    percent: bool = False,
    grouped: bool = True,
    form: Form = "text",
) -> tuple[str, str | None]:
    """The mean and the spread of format_spread apart, each able to stand alone (no unit)."""
    shown, power = _spread_values(mean, std, n, digits, percent)
    _check_language(language, form)
    style = _Style(language, form, grouped, signed=False)
    tail = style.percent() if percent else ""
    texts = [style.number(part, power) + tail for part in shown]
    return texts[0], texts[1] if len(texts) == 2 else None


def supported_decimals(mean: float, std: float | None) -> int | None:
    """How many decimals a mean may show beside this spread (negative: tens, hundreds, ...); None
    where there is no spread, and so no limit."""
    _checked(mean)
    if std is None or std == 0:
        return None
    if not _finite(_checked(std)) or std < 0:
        raise NumberError(f"a spread is a finite number from zero on, not {std!r}")
    return -_spread_exponent(_decimal(std))


def unit_name(unit: str, language: Language) -> str:
    """The name of a unit in words for a list of facts: "nats", "ms", "perplexidade"; "" for 1."""
    if unit in UNITLESS:
        names = _UNIT_NAMES.get(unit, ("", ""))
        return names[0] if language == "pt" else names[1]
    if unit not in UNITS and any(sign in unit for sign in "/·^"):
        return ""  # made by arithmetic ("steps/tokens"): it has no name
    noun = _unit(unit)
    assert noun is not None
    return noun.pt_plural if language == "pt" else noun.en_plural


# ---------------------------------------------------------------------------- rounding


def _checked(value: object) -> float | int:
    """`value` itself, if it is exactly an int or a float."""
    if type(value) is int or type(value) is float:
        return value
    kind = type(value)
    name = (
        kind.__qualname__
        if kind.__module__ == "builtins"
        else f"{kind.__module__}.{kind.__qualname__}"
    )
    raise NumberError(f"a number on a page is a Python int or float, not {name}: {value!r:.60}")


def _finite(value: float) -> bool:
    return type(value) is int or math.isfinite(value)  # an int may be past the largest float


def _decimal(value: float) -> Decimal:
    """The number that Python prints for `value`, exactly; negative zero becomes zero."""
    exact = Decimal(value) if type(value) is int else Decimal(repr(_checked(value)))
    return Decimal(0) if exact == 0 else exact


def _quantize(exact: Decimal, exponent: int) -> Decimal:
    shown = exact.quantize(Decimal((0, (1,), exponent)), context=_EXACT)
    return shown.copy_abs() if shown == 0 else shown


def _significant(exact: Decimal, count: int) -> Decimal:
    """`exact` to `count` significant digits; 9.996 to three is 10.0, not 10.00."""
    shown = _quantize(exact, exact.adjusted() - count + 1)
    if shown.adjusted() > exact.adjusted():
        shown = _quantize(exact, shown.adjusted() - count + 1)
    return shown


def _rounded(
    exact: Decimal,
    decimals: int | None,
    digits: int | None,
    percent: int | None,
    scientific: int | None,
) -> tuple[Decimal, int]:
    """The digits to show and the power of ten written beside them (0: none)."""
    if decimals is not None or percent is not None:
        places = decimals if decimals is not None else percent
        return _quantize(exact, -_count(places, "decimals", 0)), 0
    if digits is None and scientific is None:
        return _quantize(exact, 0), 0
    count = _count(scientific if digits is None else digits, "digits", 1)
    if exact == 0:
        return Decimal(0), 0
    shown = _significant(exact, count)
    power = shown.adjusted()
    if digits is not None and PLAIN_FROM <= power < PLAIN_BELOW:
        return shown, 0
    return shown.scaleb(-power, _EXACT), power


def _count(count: object, name: str, least: int) -> int:
    if type(count) is not int or not least <= count <= MOST_DECIMALS:
        raise NumberError(
            f"{name} is a whole number from {least} to {MOST_DECIMALS}, not {count!r}"
        )
    return count


def _whole(exact: Decimal, name: str) -> int:
    if exact != exact.to_integral_value():
        raise NumberError(
            f"{name}=True needs a whole number, not {exact}; use decimals= or digits="
        )
    return int(exact)


def _spread_exponent(std: Decimal) -> int:
    """The power of ten of the last digit that a spread is shown with."""
    two = _significant(std, 2)
    if str(two.as_tuple().digits[0]) == "1" and two.adjusted() == std.adjusted():
        return two.adjusted() - 1
    return std.adjusted()


def _spread_values(
    mean: float, std: float | None, n: int, digits: int, percent: bool
) -> tuple[tuple[Decimal, ...], int]:
    """(mean,) or (mean, spread) to show, and the power of ten taken out of them."""
    for number in (mean, std):
        if number is not None and not _finite(_checked(number)):
            raise NumberError(f"a mean with a spread must be finite, not {number!r}")
    shift = 2 if percent else 0
    centre = _decimal(mean).scaleb(shift, _EXACT)
    if n < 2 or std is None:
        shown, power = _rounded(centre, None, digits, None, None)
        return (shown,), power
    if std == 0:
        shown, power = _rounded(centre, None, digits, None, None)
        return (shown, Decimal(0)), power
    if std < 0:
        raise NumberError(f"a spread is a number from zero on, not {std!r}")
    width = _decimal(std).scaleb(shift, _EXACT)
    last = _spread_exponent(width)
    shown, around = _quantize(centre, last), _quantize(width, last)
    power = max(shown.adjusted() if shown else last, around.adjusted())
    if PLAIN_FROM <= power < PLAIN_BELOW:
        return (shown, around), 0
    return (shown.scaleb(-power, _EXACT), around.scaleb(-power, _EXACT)), power


def _check_spread(
    exact: Decimal, spread: float | None, shown: Decimal, power: int, value: float
) -> None:
    if spread is None or spread == 0:
        return
    supported = supported_decimals(0.0, spread)
    assert supported is not None
    exponent = shown.as_tuple().exponent
    assert isinstance(exponent, int)
    if -(exponent + power) > supported:
        asked = -(exponent + power)
        width = _quantize(_decimal(spread), -supported)
        raise NumberError(
            f"{value!r} with a spread of {width} supports {supported} decimals, not {asked}: "
            "ask for fewer, or for spread=True"
        )


def _would_be_zero(value: float, name: str, shown: Decimal) -> str:
    return (
        f"{value!r} with {name}= would show as {shown:f}: use digits= or scientific=, "
        "below=True for a bound, or noise= if it is rounding noise"
    )


# ---------------------------------------------------------------------------- writing


@functools.cache
def _separators(language: Language) -> tuple[str, str]:
    """Between thousands, and before decimals."""
    locale = _LOCALES[language]
    return get_group_symbol(locale), get_decimal_symbol(locale)


@dataclass(frozen=True)
class _Style:
    """How digits, signs and units are written in one language and one form."""

    language: Language
    form: Form
    grouped: bool
    signed: bool

    def digits(self, magnitude: Decimal) -> str:
        whole, _, part = format(magnitude, "f").partition(".")
        group, point = _separators(self.language)
        if self.form == "tex":
            group, point = f"{{{group}}}", f"{{{point}}}" if point == "," else point
        if self.grouped and len(whole) >= GROUPED_FROM:
            head = len(whole) % 3 or 3
            whole = group.join(
                [whole[:head], *(whole[i : i + 3] for i in range(head, len(whole), 3))]
            )
        return whole + (point + part if part else "")

    def number(self, shown: Decimal, power: int) -> str:
        minus = "-" if self.form == "tex" else MINUS
        sign = minus if shown < 0 else "+" if self.signed and shown > 0 else ""
        return sign + self.digits(shown.copy_abs()) + (self.power(power) if power else "")

    def power(self, power: int) -> str:
        if self.form == "tex":
            return rf" \times 10^{{{power}}}"
        if self.form == "html":
            return f"{NBSP}×{NBSP}10<sup>{str(power).replace('-', MINUS)}</sup>"
        return f"{NBSP}×{NBSP}10" + str(power).translate(_SUPERSCRIPT)

    def percent(self) -> str:
        return r"\%" if self.form == "tex" else "%"

    def plus_minus(self) -> str:
        return r" \pm " if self.form == "tex" else f"{NBSP}±{NBSP}"

    def unit(self, noun: Unit, shown: Decimal) -> str:
        name = _noun(noun, shown, self.language)
        if self.form == "tex":
            return rf"~\text{{{name}}}"
        return NBSP + (escape(name) if self.form == "html" else name)


def _below(exact: Decimal, shown: Decimal, style: _Style) -> str:
    """The bound under which a value too small for its format lies: "< 0,01"."""
    exponent = shown.as_tuple().exponent
    assert isinstance(exponent, int)
    bound = Decimal((0, (1,), exponent)).copy_sign(exact)
    sign = "<" if exact > 0 else ">"
    if style.form == "tex":
        return f"{sign} {style.number(bound, 0)}"
    return (escape(sign) if style.form == "html" else sign) + NBSP + style.number(bound, 0)


def _nonfinite(value: float | str, language: Language, form: Form, allowed: bool) -> str:
    name = value if isinstance(value, str) else repr(value)
    if name not in ("nan", "inf", "-inf"):
        raise NumberError(f"a number on a page is a Python int or float, not the text {name!r:.60}")
    if not allowed:
        raise NumberError(f"{name} is not a finite number: say nonfinite=True where it may stand")
    if form == "tex":
        return {"nan": r"\text{NaN}", "inf": r"\infty", "-inf": r"-\infty"}[name]
    if name == "nan":
        return "NaN"
    infinity, minus = ("infinito", "menos") if language == "pt" else ("infinity", "minus")
    return f"{minus} {infinity}" if name == "-inf" else infinity


def _check_language(language: str, form: str) -> None:
    if language not in _LOCALES:
        raise NumberError(f"unknown language {language!r}: the book has pt and en")
    if form not in ("text", "html", "tex"):
        raise NumberError(f"unknown form {form!r}: text, html or tex")


# ---------------------------------------------------------------------------- words


def _unit(unit: str | None) -> Unit | None:
    if unit is None or unit in UNITLESS:
        return None
    found = UNITS.get(unit)
    if found is None:
        found = UNITS.get(unit.removesuffix("s")) if len(unit) > 2 else None
    if found is None:
        raise NumberError(f"unknown unit {unit!r}: add it to UNITS in engine/number.py")
    return found


def _noun(noun: Unit, shown: Decimal, language: Language) -> str:
    """Singular or plural by the number as shown: 1,9 nat and 2 nats; 1 nat and 1.9 nats."""
    one = _LOCALES[language].plural_form(shown.copy_abs()) == "one"
    if language == "pt":
        return noun.pt if one else noun.pt_plural
    return noun.en if one else noun.en_plural


def _in_words(number: int, language: Language, gender: Gender) -> str:
    """A whole number in words: Brazilian ("dezesseis") and US ("one hundred one") usage."""
    if number < 0:
        minus = "menos " if language == "pt" else "minus "
        return minus + _in_words(-number, language, gender)
    if number >= MOST_IN_WORDS:
        raise NumberError(f"a number of {len(str(number))} digits is too large to write in words")
    text = _WORDS(number, lang="pt_BR" if language == "pt" else "en").replace(",", "")
    if language == "en":
        return text.replace(" and ", " ")
    return _feminine(text) if gender == "f" else text


def _feminine(text: str) -> str:
    """duas mil, duzentas e uma; but "dois milhões", whose own noun is masculine."""
    words = text.split(" ")
    last = max((i + 1 for i, name in enumerate(words) if _ends_in_million(name)), default=0)
    changed = {"um": "uma", "dois": "duas"}
    tail = [
        changed.get(name, name.removesuffix("os") + "as" if name.endswith("entos") else name)
        for name in words[last:]
    ]
    tail = ["quinhentas" if name == "quinhentos" else name for name in tail]
    return " ".join([*words[:last], *tail])


def _ends_in_million(text: str) -> bool:
    return text.endswith(("ilhão", "ilhões"))


def _ordinal(number: int, language: Language, gender: Gender) -> str:
    if number < 1:
        raise NumberError(f"ordinal=True needs a number from 1 on, not {number}")
    if number <= WORDS_UP_TO:
        text = _WORDS(number, lang="pt_BR" if language == "pt" else "en", to="ordinal")
        return text[:-1] + "a" if language == "pt" and gender == "f" else text
    if language == "pt":
        return f"{number}{'ª' if gender == 'f' else 'º'}"
    teen = 10 <= number % 100 <= 20
    return f"{number}{'th' if teen else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"


def _times(exact: Decimal, style: _Style, about: bool) -> str:
    """ "quatro vezes", "duas vezes e meia"; above ten in digits, "14 vezes"."""
    if exact < Decimal("0.95"):
        raise NumberError(
            f"times=True needs a ratio from 1 on, not {exact}: invert it or use fraction="
        )
    if about and exact >= 100:
        halves = 2 * int(_significant(exact, 2))
    else:
        halves = int(_quantize(2 * exact, 0))
        if exact > WORDS_UP_TO and abs(_quantize(exact, 0) - exact) <= EXACT * exact:
            halves = 2 * int(_quantize(exact, 0))
    near, limit = Decimal(halves) / 2, ABOUT if about else EXACT
    if abs(near - exact) > limit * exact:
        loosen = "" if about else ", or about=True with a sentence that says so"
        raise NumberError(f"{exact} is not {near:f} times within {limit:%}: use decimals={loosen}")
    count, half = divmod(halves, 2)
    pt = style.language == "pt"
    if near > WORDS_UP_TO:
        plain = _Style(style.language, "text", style.grouped, signed=False)
        number = plain.number(near if half else Decimal(count), 0)
        return f"{number}{NBSP}{'vezes' if pt else 'times'}"
    text = _in_words(count, style.language, "f")
    if pt:
        return f"{text} {'vez' if count == 1 else 'vezes'}{' e meia' if half else ''}"
    if half:
        return f"{text} and a half times"
    return f"{text} {'time' if count == 1 else 'times'}"


def _fraction(exact: Decimal, language: Language, about: bool) -> str:
    def distance(candidate: tuple[int, int]) -> Decimal:
        return abs(exact - Decimal(candidate[0]) / candidate[1])

    nearest = min(_FRACTIONS, key=distance)
    off, size = distance(nearest), Decimal(nearest[0]) / nearest[1]
    near = off <= ABOUT * size and off <= ABOUT_SHARE if about else off <= EXACT * size
    if not near:
        raise NumberError(
            f"{exact} is not a simple fraction (nearest: {nearest[0]}/{nearest[1]}): use percent="
        )
    return _FRACTIONS[nearest][0 if language == "pt" else 1]


def _out_of(exact: Decimal, whole: int, language: Language, gender: Gender, about: bool) -> str:
    whole = _count(whole, "out_of", 2)
    if not 0 <= exact <= 1:
        raise NumberError(f"out_of={whole} needs a share between 0 and 1, not {exact}")
    count = int(_quantize(exact * whole, 0))
    limit = OUT_OF_ABOUT if about else OUT_OF_EXACT
    if abs(exact * whole - count) > limit or (count in (0, whole) and exact not in (0, 1)):
        raise NumberError(f"{exact} is not {count} out of {whole}: use percent=, or about=True")
    preposition = "em" if language == "pt" else "in"
    if whole > WORDS_UP_TO:
        return f"{count}{NBSP}{preposition}{NBSP}{whole}"
    if count == 0:
        none = ("nenhuma" if gender == "f" else "nenhum") if language == "pt" else "none"
        return f"{none} {preposition} {_in_words(whole, language, gender)}"
    words = [_in_words(number, language, gender) for number in (count, whole)]
    return f"{words[0]} {preposition} {words[1]}"
