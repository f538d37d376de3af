"""What is left of a gradient after so many steps through a recurrent state?

In: the norm of the product of T Jacobians of h' = Wh and of h' = tanh(Wh), as a power of ten, by
the scale of W. Out: two panels, one a chain, with one line a scale over T; straight lines are
exponentials, and the bands are the spread of the power over the seeds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engine.number import format_number
from figures import Language, Row, Text, Width, fonts, marks, scales
from figures.vega import alt

if TYPE_CHECKING:
    from engine.quantity import Book

CHAINS = {"linear": "linear_decades", "tanh": "decades"}
GAINS = (0.9, 1.0, 1.1)
STEPS = (1, 10, 50, 100, 500)
TICKS = (0, 100, 200, 300, 400, 500)

TEXT = {
    "steps": {"pt": "passos, T", "en": "steps, T"},
    "linear": {
        "pt": "cadeia linear: norma, em potências de dez",
        "en": "linear chain: norm, in powers of ten",
    },
    "tanh": {
        "pt": "com tangente hiperbólica",
        "en": "with the hyperbolic tangent",
    },
    "gain": {"pt": "ganho", "en": "gain"},
}


def data(book: Book) -> list[Row]:
    """One row a chain, a gain and a number of steps."""
    rows: list[Row] = []
    for chain, name in CHAINS.items():
        for gain in GAINS:
            for steps in STEPS:
                path = f"jacobian_chain.gain_{str(gain).replace('.', '_')}.t_{steps}.{name}"
                power = book.get(path)
                row: Row = {"chain": chain, "gain": gain, "n": steps, "power": power.mean}
                rows.append(row | {"std": power.std, "seeds": power.n})
    return rows


def draw(rows: list[Row], text: Text, width: Width, language: Language) -> Any:
    """Both panels on the same scale: what the one has above zero, the other has not."""
    bounds = [scales.number(row, "power") + sign * scales.number(row, "std")
              for row in rows for sign in (-1, 1)]  # fmt: skip
    y = scales.linear(bounds, count=4)
    panels = [
        marks.lines(
            [_line(rows, chain, style, text, width, language) for style in range(len(GAINS))],
            scales.fixed(TICKS),
            y,
            language=language,
            x_title=text("steps"),
            y_title=text(chain),
            height=190 if width == "wide" else 170,
        )
        for chain in CHAINS
    ]
    return alt.vconcat(*panels, spacing=22)


def _line(
    rows: list[Row], chain: str, style: int, text: Text, width: Width, language: Language
) -> marks.Series:
    gain = GAINS[style]
    found = [row for row in rows if (row["chain"], row["gain"]) == (chain, gain)]
    name = f"{text('gain')} {format_number(gain, language, decimals=1)}"
    return marks.Series(
        fonts.wrap(name, 90 if width == "wide" else 60, 600),
        tuple(marks.spread_point(row, "n", "power") for row in found),
        style,
    )
