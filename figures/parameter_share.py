"""Where are the parameters of a block, at each width?

In: parameters of attention, MLP and norms in this book's block at six widths. Out: one bar a width,
all of one length, split by part; the norms are a sliver at the end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engine.number import format_number
from figures import Language, Row, Text, Width, marks, palette, scales
from figures.vega import alt

if TYPE_CHECKING:
    from engine.quantity import Book

WIDTHS = (128, 768, 1024, 1280, 1600, 4096)
PARTS = ("mlp", "attention", "norm")
COLOURS = (palette.MEASURED, palette.SEQUENTIAL[1], palette.EDGE)

TEXT = {
    "mlp": {"pt": "MLP", "en": "MLP"},
    "attention": {"pt": "atenção", "en": "attention"},
    "share": {"pt": "parte dos parâmetros do bloco", "en": "share of the block’s parameters"},
}


def data(book: Book) -> list[Row]:
    """One row a width and a part."""
    rows: list[Row] = []
    for d in WIDTHS:
        total = book.get(f"parameter_share.d_{d}.total")
        for part in PARTS:
            count = book.get(f"parameter_share.d_{d}.{part}")
            rows.append(
                {"d": d, "part": part, "parameters": count.mean, "share": (count / total).mean}
            )
    return rows


def draw(rows: list[Row], text: Text, width: Width, language: Language) -> Any:
    """Bars of equal length; the two large parts carry their share."""
    widths = list(dict.fromkeys(int(scales.number(row, "d")) for row in rows))
    scale = scales.shares((0.0, 0.25, 0.5, 0.75, 1.0) if width == "wide" else (0.0, 0.5, 1.0))
    order = list(range(len(widths)))
    labels = [f"d = {d}" for d in widths]
    across = marks.axis(scale, language, text("share"), grid=False, domain=False, ticks=False)
    up = {**marks.category_labels(labels), "title": None, "grid": False}
    y = alt.Y("i:O", sort=order, axis=alt.Axis(**up), scale=alt.Scale(padding=0))

    bars: list[dict[str, Any]] = []
    for index, d in enumerate(widths):
        start = 0.0
        for part, row in ((row["part"], row) for row in rows if row["d"] == d):
            share = scales.number(row, "share")
            shown = format_number(share, language, percent=1, below=True)
            bars.append({"i": index, "x": start, "x2": start + share, "part": part, "t": shown})
            start += share
    names = [
        {"i": 0, "x": bar["x"], "t": text(str(bar["part"]))}
        for bar in bars
        if bar["i"] == 0
        if bar["part"] in TEXT
    ]
    layers = [
        marks.chart([bar for bar in bars if bar["part"] == part])
        .mark_bar(color=colour, height=22)
        .encode(marks.x_of(scale, across), y, alt.X2("x2:Q"))
        for part, colour in zip(PARTS, COLOURS, strict=True)
    ]
    for part, colour in (("mlp", palette.ON_HIGH), ("attention", palette.ON_LOW)):
        layers.append(
            marks.chart([bar for bar in bars if bar["part"] == part])
            .mark_text(align="left", dx=7, color=colour, fontWeight=600)
            .encode(marks.x_of(scale, across), y, alt.Text("t:N"))
        )
    layers.append(
        marks.chart(names)
        .mark_text(align="left", baseline="bottom", dy=-15, color=palette.INK)
        .encode(marks.x_of(scale, across), y, alt.Text("t:N"))
    )
    return marks.layer(*layers).properties(width=400, height=34 * len(widths))
