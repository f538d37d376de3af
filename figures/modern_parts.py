"""Where are the parameters of a block of today, and where were they?

In: parameters by part of three blocks of one width: this book's, and a block of today with two
widths inside its SwiGLU. Out: one bar a block, as long as the block is large, split by part.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engine.number import format_number
from figures import Language, Row, Text, Width, fonts, marks, palette, scales
from figures.vega import alt

if TYPE_CHECKING:
    from engine.quantity import Book

# block -> where its parts are recorded
BLOCKS = {
    "old": "parameter_share.d_4096",
    "same": "modern_block.d_4096",
    "wider": "modern_block.published_width",
}
PARTS = ("mlp", "attention")  # the norms would be thinner than a line
COLOURS = (palette.MEASURED, palette.SEQUENTIAL[1])
ON = (palette.ON_HIGH, palette.ON_LOW)

TEXT = {
    "old": {"pt": "bloco do livro, MLP {f}", "en": "the book’s block, MLP {f}"},
    "same": {"pt": "bloco de hoje, SwiGLU {f}", "en": "block of today, SwiGLU {f}"},
    "wider": {"pt": "Llama 3 8B, SwiGLU {f}", "en": "Llama 3 8B, SwiGLU {f}"},
    "mlp": {"pt": "MLP, SwiGLU", "en": "MLP, SwiGLU"},
    "attention": {"pt": "atenção", "en": "attention"},
    "parameters": {"pt": "milhões de parâmetros", "en": "million parameters"},
}


def data(book: Book) -> list[Row]:
    """One row a block and a part; the width inside follows from the part's own size."""
    width = book.get("modern_block.llama3_8B.width").mean
    rows: list[Row] = []
    for name, path in BLOCKS.items():
        maps = (2, 5 * width) if name == "old" else (3, 0)  # matrices, and numbers in biases
        inside = (book.get(f"{path}.mlp").mean - maps[1]) // (maps[0] * width)
        total = sum(book.get(f"{path}.{part}").mean for part in (*PARTS, "norm"))
        for part in PARTS:
            count = book.get(f"{path}.{part}").mean
            row: Row = {"block": name, "part": part, "hidden": inside}
            rows.append(row | {"millions": count / 1e6, "share": count / total})
    return rows


def draw(rows: list[Row], text: Text, width: Width, language: Language) -> Any:
    """Bars from zero; every part carries its share, every bar its size."""
    names = list(dict.fromkeys(str(row["block"]) for row in rows))
    bars: list[dict[str, Any]] = []
    ends: list[dict[str, Any]] = []
    labels: list[str] = []
    for index, name in enumerate(names):
        start = 0.0
        own = [row for row in rows if row["block"] == name]
        for row in own:
            end = start + scales.number(row, "millions")
            shown = format_number(scales.number(row, "share"), language, percent=0)
            bars.append({"i": index, "x": start, "x2": end, "part": row["part"], "t": shown})
            start = end
        ends.append({"i": index, "x": start, "t": format_number(start, language, decimals=0)})
        inside = format_number(scales.number(own[0], "hidden"), language, integer=True)
        labels.append(fonts.wrap(text(name).replace("{f}", inside), 170 if width == "wide" else 96))
    room = 0.2 if width == "wide" else 0.45  # for the sizes at the ends of the bars
    x = scales.fixed((0, 100, 200), after=room)
    across = marks.axis(x, language, text("parameters"), grid=False, domain=False, ticks=False)
    up = {**marks.category_labels(labels), "title": None, "grid": False}
    order = list(range(len(names)))
    y = alt.Y("i:O", sort=order, axis=alt.Axis(**up), scale=alt.Scale(padding=0))
    heads = [{"i": 0, "x": bar["x"], "t": text(str(bar["part"]))} for bar in bars if bar["i"] == 0]
    layers = [
        marks.chart([bar for bar in bars if bar["part"] == part])
        .mark_bar(color=colour, height=24)
        .encode(marks.x_of(x, across), y, alt.X2("x2:Q"))
        for part, colour in zip(PARTS, COLOURS, strict=True)
    ]
    layers += [
        marks.chart([bar for bar in bars if bar["part"] == part])
        .mark_text(align="left", baseline="middle", dx=7, color=colour, fontWeight=600)
        .encode(marks.x_of(x, across), y, alt.Text("t:N"))
        for part, colour in zip(PARTS, ON, strict=True)
    ]
    layers += [
        marks.chart(ends)
        .mark_text(align="left", baseline="middle", dx=7, fontWeight=600)
        .encode(marks.x_of(x, across), y, alt.Text("t:N")),
        marks.chart(heads)
        .mark_text(align="left", baseline="bottom", dy=-15, color=palette.INK, lineBreak="\n")
        .encode(marks.x_of(x, across), y, alt.Text("t:N")),
    ]
    return marks.layer(*layers).properties(width=300, height=54 * len(names))
