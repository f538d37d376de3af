"""Which colours and type may a figure use, and under which name does the page know each?

In: web/palette.json, where every colour of the book is written once, light and dark. Out: the light
hexes that charts are drawn with, and the token each is replaced by afterwards. `ON_LOW` and
`ON_HIGH` are text on a weak and on a strong cell of a heat map; while drawing they differ by one
unit from ink and white, so that the tokens can be told apart.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from engine import paths

FONT_SIZE = 13.5  # pixels; one size in every figure
FONT_STACK = "'Source Sans 3',system-ui,sans-serif"


@dataclass(frozen=True)
class Token:
    """One colour: `drawn` is the hex that charts use and that is looked up after drawing."""

    name: str
    light: str
    dark: str
    drawn: str


def _tokens(names: str, drawn: dict[str, str]) -> dict[str, Token]:
    written: dict[str, list[str]] = json.loads(
        (paths.WEB / "palette.json").read_text(encoding="utf-8")
    )
    return {
        name: Token(name, written[name][0], written[name][1], drawn.get(name, written[name][0]))
        for name in names.split()
    }


ON_LOW = "#22262C"
ON_HIGH = "#FEFEFE"

_TOKENS = _tokens(
    "ink ink-2 rule edge paper tint source fails on-lo on-hi c1 c2 c3 c4 c5 "
    "s0 s1 s2 s3 s4 s5 s6 s7 d0 d1 d2 d3 d4 d5 d6 d7 d8",
    {"on-lo": ON_LOW, "on-hi": ON_HIGH},
)
TOKENS = tuple(_TOKENS.values())
BY_HEX = {token.drawn.upper(): token for token in TOKENS}

INK = _TOKENS["ink"].drawn
INK_2 = _TOKENS["ink-2"].drawn
RULE = _TOKENS["rule"].drawn
EDGE = _TOKENS["edge"].drawn
PAPER = _TOKENS["paper"].drawn
TINT = _TOKENS["tint"].drawn
SOURCE = _TOKENS["source"].drawn
FAILS = _TOKENS["fails"].drawn
SERIES = tuple(_TOKENS[f"c{number}"].drawn for number in range(1, 6))
SEQUENTIAL = tuple(_TOKENS[f"s{number}"].drawn for number in range(8))
DIVERGING = tuple(_TOKENS[f"d{number}"].drawn for number in range(9))
MEASURED = SERIES[0]
