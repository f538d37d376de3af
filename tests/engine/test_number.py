"""Does engine/number.py show every value as a reader of either language expects, or refuse it?"""

import math
import re
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import NumberError
from engine.number import (
    FORMATS,
    UNITS,
    format_number,
    format_spread,
    spread_parts,
    supported_decimals,
    unit_name,
)

NBSP = "\u00a0"


def plain(text: str) -> str:
    return text.replace(NBSP, " ")


def both(value: float, **asked: Any) -> tuple[str, str]:
    return plain(format_number(value, "pt", **asked)), plain(format_number(value, "en", **asked))


@pytest.mark.parametrize(
    ("value", "asked", "pt", "en"),
    [
        (59.7134, {"decimals": 2}, "59,71", "59.71"),
        (0.25, {"decimals": 2}, "0,25", "0.25"),
        (0.125, {"decimals": 2}, "0,13", "0.13"),  # a half goes up
        (2.675, {"decimals": 2}, "2,68", "2.68"),  # of the printed value, not of its binary form
        (-0.125, {"decimals": 2}, "−0,13", "−0.13"),
        (-1.5, {"decimals": 1}, "−1,5", "−1.5"),
        (0.000123, {"digits": 2}, "0,00012", "0.00012"),
        (0.000123, {"decimals": 6}, "0,000123", "0.000123"),
        (9.996, {"digits": 3}, "10,0", "10.0"),
        (1234.5, {"digits": 2}, "1200", "1200"),
        (1234.5, {"decimals": 1}, "1234,5", "1234.5"),
        (12345.5, {"decimals": 1}, "12.345,5", "12,345.5"),
        (59.71, {"digits": 3}, "59,7", "59.7"),
        (1.1e-7, {"digits": 2}, "1,1 × 10⁻⁷", "1.1 × 10⁻⁷"),
        (1.8e-7, {"scientific": 2}, "1,8 × 10⁻⁷", "1.8 × 10⁻⁷"),
        (2.98e-8, {"scientific": 3}, "2,98 × 10⁻⁸", "2.98 × 10⁻⁸"),
        (9.99e-8, {"scientific": 2}, "1,0 × 10⁻⁷", "1.0 × 10⁻⁷"),
        (-3e-4, {"scientific": 1}, "−3 × 10⁻⁴", "−3 × 10⁻⁴"),
        (5.67e9, {"scientific": 3}, "5,67 × 10⁹", "5.67 × 10⁹"),
        (5.67e9, {"integer": True}, "5.670.000.000", "5,670,000,000"),
        (1e23, {"scientific": 2}, "1,0 × 10²³", "1.0 × 10²³"),
        (5e-324, {"scientific": 1}, "5 × 10⁻³²⁴", "5 × 10⁻³²⁴"),
        (1.5, {"scientific": 2}, "1,5", "1.5"),
        (124439808, {"integer": True}, "124.439.808", "124,439,808"),
        (1115394, {"integer": True}, "1.115.394", "1,115,394"),
        (16512, {"integer": True}, "16.512", "16,512"),
        (16512, {"integer": True, "grouped": False}, "16512", "16512"),
        (4096, {"integer": True}, "4096", "4096"),
        (-65536, {"integer": True}, "−65.536", "−65,536"),
        (0.1234, {"percent": 1}, "12,3%", "12.3%"),
        (0.12, {"percent": 0}, "12%", "12%"),
        (0.285, {"percent": 0}, "29%", "29%"),
        (0.031, {"percent": 0, "unit": "percentage_point"}, "3 pontos percentuais",
         "3 percentage points"),
        (0.01, {"percent": 0, "unit": "percentage_point"}, "1 ponto percentual",
         "1 percentage point"),
        (-0.0, {"decimals": 2}, "0,00", "0.00"),
        (0.0, {"digits": 3}, "0", "0"),
        (-0.0, {"scientific": 2}, "0", "0"),
        (-5.5e-17, {"decimals": 3, "noise": 1e-12}, "0,000", "0.000"),
        (0.0003, {"decimals": 2, "below": True}, "< 0,01", "< 0.01"),
        (-0.0003, {"decimals": 2, "below": True}, "> −0,01", "> −0.01"),
        (0.0003, {"percent": 0, "below": True}, "< 1%", "< 1%"),
        (0.5, {"decimals": 1, "signed": True}, "+0,5", "+0.5"),
        (80, {"integer": True, "unit": "GB"}, "80 GB", "80 GB"),
        (1.9, {"decimals": 1, "unit": "nat"}, "1,9 nat", "1.9 nats"),
        (1.96, {"decimals": 1, "unit": "nats"}, "2,0 nats", "2.0 nats"),
        (2, {"integer": True, "unit": "nats"}, "2 nats", "2 nats"),
        (1, {"integer": True, "unit": "nats"}, "1 nat", "1 nat"),
        (0.0, {"decimals": 1, "unit": "nats"}, "0,0 nat", "0.0 nats"),
        (1000000, {"integer": True, "unit": "tokens"}, "1.000.000 tokens", "1,000,000 tokens"),
        (12.5, {"decimals": 1, "unit": "ms"}, "12,5 ms", "12.5 ms"),
        (59.7, {"decimals": 1, "unit": "perplexity"}, "59,7", "59.7"),
        (4, {"word": True}, "quatro", "four"),
        (16, {"word": True}, "dezesseis", "sixteen"),
        (2.0, {"word": True, "gender": "f"}, "duas", "two"),
        (21, {"word": True, "gender": "f"}, "vinte e uma", "twenty-one"),
        (542, {"word": True, "gender": "f"}, "quinhentas e quarenta e duas",
         "five hundred forty-two"),
        (1234, {"word": True}, "mil duzentos e trinta e quatro",
         "one thousand two hundred thirty-four"),
        (20000, {"word": True}, "vinte mil", "twenty thousand"),
        (2000002, {"word": True, "gender": "f"}, "dois milhões e duas", "two million two"),
        (1000000, {"word": True, "unit": "tokens"}, "um milhão de tokens", "one million tokens"),
        (2, {"word": True, "unit": "layers"}, "duas camadas", "two layers"),
        (1, {"word": True, "unit": "seed"}, "uma semente", "one seed"),
        (7, {"word": True, "capital": True}, "Sete", "Seven"),
        (1.0, {"times": True}, "uma vez", "one time"),
        (2.01, {"times": True}, "duas vezes", "two times"),
        (3.97, {"times": True}, "quatro vezes", "four times"),
        (1.5, {"times": True}, "uma vez e meia", "one and a half times"),
        (2.52, {"times": True}, "duas vezes e meia", "two and a half times"),
        (4.25, {"times": True, "about": True}, "quatro vezes e meia", "four and a half times"),
        (4.2, {"times": True, "about": True}, "quatro vezes", "four times"),
        (14.1, {"times": True}, "14 vezes", "14 times"),
        (11.5, {"times": True}, "11,5 vezes", "11.5 times"),
        (113.0, {"times": True}, "113 vezes", "113 times"),
        (113.0, {"times": True, "about": True}, "110 vezes", "110 times"),
        (20480.3, {"times": True}, "20.480 vezes", "20,480 times"),
        (4.0, {"times": True, "capital": True}, "Quatro vezes", "Four times"),
        (2 / 3, {"fraction": True}, "dois terços", "two thirds"),
        (0.66, {"fraction": True}, "dois terços", "two thirds"),
        (0.31, {"fraction": True, "about": True}, "um terço", "one third"),
        (0.5, {"fraction": True}, "metade", "half"),
        (0.748, {"fraction": True}, "três quartos", "three quarters"),
        (0.7, {"out_of": 10}, "sete em dez", "seven in ten"),
        (0.2, {"out_of": 10, "gender": "f"}, "duas em dez", "two in ten"),
        (0.67, {"out_of": 10, "about": True}, "sete em dez", "seven in ten"),
        (0.0, {"out_of": 10}, "nenhum em dez", "none in ten"),
        (0.93, {"out_of": 100}, "93 em 100", "93 in 100"),
        (1, {"ordinal": True}, "primeiro", "first"),
        (2, {"ordinal": True, "gender": "f"}, "segunda", "second"),
        (12, {"ordinal": True}, "12º", "12th"),
        (12, {"ordinal": True, "gender": "f"}, "12ª", "12th"),
        (21, {"ordinal": True}, "21º", "21st"),
        (112, {"ordinal": True}, "112º", "112th"),
        (math.nan, {"decimals": 1, "nonfinite": True}, "NaN", "NaN"),
        (-math.inf, {"decimals": 1, "nonfinite": True}, "menos infinito", "minus infinity"),
    ],
)  # fmt: skip
def test_shown_as_expected(value: float, asked: dict[str, Any], pt: str, en: str) -> None:
    assert both(value, **asked) == (pt, en)


@pytest.mark.parametrize(
    ("value", "asked", "pt", "en"),
    [
        (0.25, {"decimals": 2}, "0{,}25", "0.25"),
        (1115394, {"integer": True}, "1{.}115{.}394", "1{,}115{,}394"),
        (12345.5, {"decimals": 1}, "12{.}345{,}5", "12{,}345.5"),
        (4096, {"integer": True}, "4096", "4096"),
        (1.8e-7, {"scientific": 2}, r"1{,}8 \times 10^{-7}", r"1.8 \times 10^{-7}"),
        (-0.5, {"decimals": 1}, "-0{,}5", "-0.5"),
        (0.123, {"percent": 1}, r"12{,}3\%", r"12.3\%"),
        (1.9, {"decimals": 1, "unit": "nat"}, r"1{,}9~\text{nat}", r"1.9~\text{nats}"),
        (4, {"times": True}, r"\text{quatro vezes}", r"\text{four times}"),
        (math.inf, {"digits": 2, "nonfinite": True}, r"\infty", r"\infty"),
    ],
)
def test_mathematics(value: float, asked: dict[str, Any], pt: str, en: str) -> None:
    shown = [format_number(value, language, form="tex", **asked) for language in ("pt", "en")]
    assert shown == [pt, en]


def test_page_form_needs_no_superscript_digits_and_escapes() -> None:
    shown = format_number(1.8e-7, "pt", scientific=2, form="html")
    assert shown == f"1,8{NBSP}×{NBSP}10<sup>−7</sup>"
    assert format_number(0.001, "en", decimals=1, below=True, form="html") == f"&lt;{NBSP}0.1"


def test_non_breaking() -> None:
    assert format_number(80, "pt", integer=True, unit="GB") == f"80{NBSP}GB"
    assert " " not in format_spread(59.7134, 0.31, 3, "pt")


@pytest.mark.parametrize(
    ("mean", "std", "n", "pt", "en"),
    [
        (59.7134, 0.3, 3, "59,7 ± 0,3", "59.7 ± 0.3"),
        (59.7134, 0.1432, 3, "59,71 ± 0,14", "59.71 ± 0.14"),
        (59.7134, 0.096, 3, "59,71 ± 0,10", "59.71 ± 0.10"),
        (59.7134, 0.1996, 3, "59,7 ± 0,2", "59.7 ± 0.2"),
        (59.7134, 2.4, 3, "60 ± 2", "60 ± 2"),
        (59.7134, 14.4, 3, "60 ± 14", "60 ± 14"),
        (59.7134, 24.0, 3, "60 ± 20", "60 ± 20"),
        (124439.0, 3210.0, 3, "124.000 ± 3000", "124,000 ± 3000"),
        (-0.02, 0.3, 3, "0,0 ± 0,3", "0.0 ± 0.3"),
        (-1.42, 0.3, 3, "−1,4 ± 0,3", "−1.4 ± 0.3"),
        (1.13e-7, 2.2e-8, 3, "(1,1 ± 0,2) × 10⁻⁷", "(1.1 ± 0.2) × 10⁻⁷"),
        (2e-9, 2.2e-8, 3, "(0 ± 2) × 10⁻⁸", "(0 ± 2) × 10⁻⁸"),
        (59.7134, None, 1, "59,7", "59.7"),
        (59.7134, 0.0, 3, "59,7 ± 0", "59.7 ± 0"),
    ],
)
def test_spread(mean: float, std: float | None, n: int, pt: str, en: str) -> None:
    shown = [plain(format_spread(mean, std, n, language)) for language in ("pt", "en")]
    assert shown == [pt, en]


def test_spread_in_other_forms() -> None:
    assert plain(format_spread(0.6134, 0.021, 3, "pt", percent=True)) == "(61 ± 2)%"
    assert plain(format_spread(1.52, 0.04, 5, "en", unit="nats")) == "1.52 ± 0.04 nats"
    assert plain(format_spread(1.52, 0.04, 5, "pt", unit="nats")) == "1,52 ± 0,04 nat"
    assert format_spread(59.7134, 0.3, 3, "pt", form="tex") == r"59{,}7 \pm 0{,}3"
    assert format_spread(59.7134, None, 1, "en", digits=4) == "59.71"
    assert [plain(part or "") for part in spread_parts(1.13e-7, 2.2e-8, 3, "pt")] == [
        "1,1 × 10⁻⁷",
        "0,2 × 10⁻⁷",
    ]
    assert spread_parts(0.6134, 0.021, 3, "en", percent=True) == ("61%", "2%")
    assert spread_parts(0.6134, None, 1, "en") == ("0.613", None)


@pytest.mark.parametrize(
    ("std", "decimals"), [(0.3, 1), (0.14, 2), (0.096, 2), (2.4, 0), (14.0, 0), (240.0, -2)]
)
def test_supported_decimals(std: float, decimals: int) -> None:
    assert supported_decimals(59.7, std) == decimals


def test_no_spread_supports_anything() -> None:
    assert supported_decimals(59.7, None) is None
    assert supported_decimals(59.7, 0.0) is None


@pytest.mark.parametrize(
    ("value", "asked"),
    [
        (59.7134, {"decimals": 2, "spread": 0.3}),
        (59.7134, {"digits": 4, "spread": 0.3}),
        (0.597134, {"percent": 2, "spread": 0.003}),
        (5.97e-8, {"scientific": 3, "spread": 3e-9}),
        (124439.0, {"integer": True, "spread": 3210.0}),
    ],
)
def test_more_digits_than_the_spread_supports(value: float, asked: dict[str, Any]) -> None:
    with pytest.raises(NumberError, match="supports"):
        format_number(value, "pt", **asked)
    asked = {**asked, "spread": asked["spread"] / 1000}
    format_number(value, "pt", **asked)


@pytest.mark.parametrize(
    ("value", "asked", "message"),
    [
        (0.000123, {"decimals": 2}, "would show as 0.00"),
        (-0.000123, {"decimals": 2}, "would show as 0.00"),
        (0.0004, {"percent": 1}, "would show as 0.0"),
        (0.4, {"integer": True}, "would show as 0"),
        (1.0, {}, "exactly one of"),
        (1.0, {"decimals": 1, "digits": 2}, "decimals and digits"),
        (True, {"integer": True}, "not bool"),
        (np.float64(1.5), {"decimals": 1}, "not numpy"),
        (np.float32(1.5), {"decimals": 1}, "not numpy"),
        (np.int64(3), {"integer": True}, "not numpy"),
        (Decimal("1.5"), {"decimals": 1}, "not decimal.Decimal"),
        (Fraction(1, 2), {"fraction": True}, "not fractions.Fraction"),
        (None, {"decimals": 1}, "not NoneType"),
        ("1.5", {"decimals": 1}, "not the text"),
        (math.nan, {"decimals": 1}, "nonfinite=True"),
        (math.inf, {"word": True}, "nonfinite=True"),
        (1.0, {"decimals": -1}, "whole number from 0"),
        (1.0, {"decimals": True}, "whole number from 0"),
        (1.0, {"digits": 0}, "whole number from 1"),
        (1.0, {"digits": 2.0}, "whole number from 1"),
        (2.5, {"word": True}, "needs a whole number"),
        (2.5, {"ordinal": True}, "needs a whole number"),
        (0, {"ordinal": True}, "from 1 on"),
        (10**400, {"word": True}, "too large"),
        (4.2, {"times": True}, "use decimals="),
        (4.2, {"times": True, "unit": "ms"}, "no unit"),
        (0.25, {"times": True}, "from 1 on"),
        (1.25, {"times": True, "about": True}, "use decimals="),
        (0.31, {"fraction": True}, "not a simple fraction"),
        (0.02, {"fraction": True, "about": True}, "not a simple fraction"),
        (0.98, {"fraction": True, "about": True}, "not a simple fraction"),
        (0.67, {"out_of": 10}, "not 7 out of 10"),
        (0.998, {"out_of": 10, "about": True}, "not 10 out of 10"),
        (0.001, {"out_of": 10, "about": True}, "not 0 out of 10"),
        (1.2, {"out_of": 10}, "between 0 and 1"),
        (1.0, {"decimals": 1, "unit": "furlongs"}, "unknown unit"),
        (0.5, {"percent": 0, "unit": "ms"}, "percent takes no unit"),
        (1.0, {"decimals": 1, "form": "svg"}, "unknown form"),
    ],
)
def test_refused(value: Any, asked: dict[str, Any], message: str) -> None:
    with pytest.raises(NumberError, match=message) as refusal:
        format_number(value, "pt", **asked)
    assert "\n" not in str(refusal.value)


def test_unknown_language() -> None:
    with pytest.raises(NumberError, match="unknown language"):
        format_number(1.0, "fr", decimals=1)  # type: ignore[arg-type]


@pytest.mark.parametrize(("mean", "std"), [(math.nan, 0.1), (1.0, math.inf), (1.0, -0.1)])
def test_spread_refused(mean: float, std: float) -> None:
    with pytest.raises(NumberError):
        format_spread(mean, std, 3, "pt")


def test_unit_names() -> None:
    assert unit_name("1", "pt") == ""
    assert unit_name("perplexity", "pt") == "perplexidade"
    assert unit_name("nats", "en") == "nats"
    assert unit_name("steps/tokens", "en") == ""
    for unit in UNITS:
        assert unit_name(unit, "pt")
        assert unit_name(unit, "en")


# -------------------------------------------------------------- any float, any magnitude

SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
LANGUAGES = st.sampled_from(["pt", "en"])
FORMS = st.sampled_from(["text", "html", "tex"])
ASKED: list[dict[str, Any]] = [
    *({name: n} for name in ("decimals", "digits", "percent", "scientific") for n in (1, 2, 7)),
    *({"decimals": 0}, {"percent": 0}, {"integer": True}),
]
FLOATS = st.floats(allow_nan=False, allow_infinity=False)


def read(text: str, language: str, form: str) -> tuple[Decimal, Decimal]:
    """The value a reader takes from the shown text, and one unit of its last digit."""
    text = plain(text).replace("\\%", "").replace("%", "")
    power = 0
    if form == "tex":
        if found := re.search(r" \\times 10\^\{(-?\d+)\}$", text):
            power, text = int(found[1]), text[: found.start()]
        text = text.replace("{", "").replace("}", "").replace("-", "−")
    elif found := re.search(r" × 10(?:<sup>(−?\d+)</sup>|([⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+))$", text):
        exponent = found[1].replace("−", "-") if found[1] else found[2].translate(SUPERSCRIPTS)
        power, text = int(exponent), text[: found.start()]
    point, group = (",", ".") if language == "pt" else (".", ",")
    assert re.fullmatch(rf"−?(\d{{1,4}}|\d{{1,3}}(\{group}\d{{3}})+)(\{point}\d+)?", text), text
    number = Decimal(text.replace(group, "").replace(point, ".").replace("−", "-"))
    exponent = number.as_tuple().exponent
    assert isinstance(exponent, int)
    with localcontext(prec=2000):
        return number.scaleb(power), Decimal(1).scaleb(exponent + power)


@given(
    value=st.one_of(FLOATS, st.integers(-(10**30), 10**30)),
    language=LANGUAGES,
    form=FORMS,
    asked=st.sampled_from(ASKED),
)
def test_what_is_shown_reads_back(
    value: float, language: str, form: str, asked: dict[str, Any]
) -> None:
    if value == 0:
        shown = format_number(value, language, form=form, **asked)  # type: ignore[arg-type]
        assert read(shown, language, form)[0] == 0
        assert not re.search("[-−]", shown)
        return
    try:
        shown = format_number(value, language, form=form, **asked)  # type: ignore[arg-type]
    except NumberError:
        shown = None
    if shown is None:  # the only number refused here is one that would show as zero
        assert abs(value) < 0.5
        with pytest.raises(NumberError, match="would show as 0"):
            format_number(value, language, form=form, **asked)  # type: ignore[arg-type]
        return
    assert "np." not in shown
    assert "e+" not in shown.lower()
    assert "e-" not in shown.lower()
    number, last = read(shown, language, form)
    with localcontext(prec=2000):
        exact = Decimal(repr(value)) * (100 if "percent" in asked else 1)
        if "digits" in asked:  # 1234 to two digits is 1200: its zeros are not meant
            last = max(last, Decimal(1).scaleb(number.adjusted() - asked["digits"] + 1))
        assert abs(number - exact) <= last / 2
    assert number != 0
    assert (number < 0) == (value < 0)


@given(mean=FLOATS, std=st.floats(min_value=5e-324, max_value=1e300), language=LANGUAGES)
def test_spread_digits_match_at_any_magnitude(mean: float, std: float, language: str) -> None:
    shown = plain(format_spread(mean, std, 3, language))  # type: ignore[arg-type]
    power = ""
    if found := re.fullmatch(r"\((.*)\)( × 10[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+)", shown):
        shown, power = found[1], found[2]
    centre, around = (read(part + power, language, "text") for part in shown.split(" ± "))
    digits = "".join(str(digit) for digit in around[0].as_tuple().digits).strip("0")
    assert len(digits) <= (2 if digits.startswith("1") else 1)
    supported = supported_decimals(mean, std)
    assert supported is not None
    with localcontext(prec=2000):
        last = Decimal(1).scaleb(-supported)
        assert centre[1] <= last
        assert abs(centre[0] - Decimal(repr(mean))) <= last / 2
        assert abs(around[0] - Decimal(repr(std))) <= last / 2


@given(value=st.integers(0, 10**12), language=LANGUAGES, gender=st.sampled_from(["m", "f"]))
def test_words_hold_no_digit(value: int, language: str, gender: str) -> None:
    shown = format_number(value, language, word=True, gender=gender)  # type: ignore[arg-type]
    assert shown
    assert not re.search(r"[\d,]", shown)


@given(value=st.floats(0.95, 1e6), language=LANGUAGES, about=st.booleans())
def test_times_tell_the_truth(value: float, language: str, about: bool) -> None:
    try:
        shown = format_number(value, language, times=True, about=about)  # type: ignore[arg-type]
    except NumberError:
        return
    words = {
        format_number(n, language, word=True, gender="f"): n  # type: ignore[arg-type]
        for n in range(1, 11)
    }
    text = plain(shown)
    half = " e meia" in text or " and a half" in text
    text = text.replace(" e meia", "").replace(" and a half", "").split(" ")[0]
    point, group = (",", ".") if language == "pt" else (".", ",")
    stated = words[text] if text in words else float(text.replace(group, "").replace(point, "."))
    assert abs(stated + half / 2 - value) <= (0.1001 if about else 0.02501) * value


def test_every_format_is_named() -> None:
    for name in FORMATS:
        asked = {name: 10 if name == "out_of" else 1 if name == "scientific" else True}
        value = 0.5 if name in ("fraction", "out_of") else 2
        if name in ("decimals", "digits", "percent"):
            asked = {name: 1}
        assert format_number(value, "pt", **asked)  # type: ignore[arg-type]
