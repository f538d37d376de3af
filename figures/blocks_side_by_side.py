"""Which boxes of the block are others today?

In: nothing measured: the two blocks are definitions, and are drawn from them. Out: the book's block
and one of today, box beside box, from the input down; filled where today's box is another one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from figures import Language, Row, Text, Width, fonts, marks, palette, theme
from figures.vega import alt

if TYPE_CHECKING:
    from engine.quantity import Book

# the boxes from the input down: the name of each in the book's block and in one of today
BOXES = (
    ("positions", "no_positions"),
    ("layer_norm", "rms_norm"),
    ("heads", "grouped_heads"),
    ("mixture", "mixture"),
    ("layer_norm", "rms_norm"),
    ("mlp", "swiglu"),
)
SUMS = (3, 5)  # after these boxes the stream is added again
FROM = (1, 4)  # and it branched off before these

TEXT = {
    "book": {"pt": "o bloco deste livro", "en": "this book’s block"},
    "today": {"pt": "um bloco de hoje", "en": "a block of today"},
    "positions": {
        "pt": "tabela de posições|somada aos tokens",
        "en": "table of positions|added to the tokens",
    },
    "no_positions": {"pt": "sem tabela|só os tokens", "en": "no table|the tokens alone"},
    "layer_norm": {"pt": "LayerNorm|ganho e viés", "en": "LayerNorm|gain and bias"},
    "rms_norm": {"pt": "RMSNorm|só ganho", "en": "RMSNorm|gain alone"},
    "heads": {
        "pt": "consultas, chaves, valores|tantas chaves quantas consultas",
        "en": "queries, keys, values|a key head to each query head",
    },
    "grouped_heads": {
        "pt": "consultas agrupadas, RoPE|uma chave para várias consultas",
        "en": "grouped queries, RoPE|a key head to several query heads",
    },
    "mixture": {
        "pt": "escores, softmax, mistura|e o mapa de saída das cabeças",
        "en": "scores, softmax, mixture|and the heads' output map",
    },
    "mlp": {"pt": "MLP|duas matrizes, GELU", "en": "MLP|two matrices, GELU"},
    "swiglu": {"pt": "SwiGLU|três matrizes, uma porta", "en": "SwiGLU|three matrices, a gate"},
}

GAP, HEAD, LINE = 16, 30, theme.LINE_HEIGHT


def data(book: Book) -> list[Row]:
    """One row a box of each block."""
    return [
        {"block": block, "position": place + 1, "box": pair[side], "changed": pair[0] != pair[1]}
        for side, block in enumerate(("book", "today"))
        for place, pair in enumerate(BOXES)
    ]


def draw(rows: list[Row], text: Text, width: Width, language: Language) -> Any:
    """Two columns of boxes; beside each, the stream that goes past them."""
    total = theme.TOTAL[width] - 8
    apart = 36 if width == "wide" else 14
    column = (total - apart) / 2
    room = 22  # for the stream, at the left of a column
    said = {
        (str(row["block"]), int(marks.number(row, "position"))): _lines(
            text(str(row["box"])), column - room - 12
        )
        for row in rows
    }
    places = len(BOXES)
    heights = [
        max(len(lines) for (_, place), lines in said.items() if place == at + 1) * LINE + 10
        for at in range(places)
    ]
    tops: list[float] = []
    down = float(HEAD)
    for at, height in enumerate(heights):
        tops.append(down)
        down += height + GAP + (1.75 * GAP if at in SUMS else 0)

    boxes: list[dict[str, Any]] = []
    words: list[dict[str, Any]] = []
    stream: list[dict[str, Any]] = []
    sums: list[dict[str, Any]] = []
    for side, block in enumerate(("book", "today")):
        left = side * (column + apart)
        middle = left + room + (column - room) / 2
        words.append({"x": left, "y": 8, "t": text(block), "kind": "head"})
        for row in (row for row in rows if row["block"] == block):
            at = int(marks.number(row, "position")) - 1
            changed = bool(row["changed"]) and block == "today"
            top, bottom = tops[at], tops[at] + heights[at]
            boxes.append(
                {"x": left + room, "x2": left + column, "y": top, "y2": bottom, "new": changed}
            )
            lines = said[block, at + 1]
            first = (top + bottom) / 2 - (len(lines) - 1) / 2 * LINE
            for i, (line, strong) in enumerate(lines):
                kind = "strong" if strong else "plain"
                words.append({"x": middle, "y": first + i * LINE, "t": line, "kind": kind})
            if at + 1 < places:
                end = tops[at + 1]
                stream.append({"x": middle, "x2": middle, "y": bottom, "y2": end})
        for start, after in zip(FROM, SUMS, strict=True):
            high = tops[start] - GAP / 2
            low = tops[after] + heights[after] + GAP
            past = left + 8
            stream += [
                {"x": past, "x2": middle, "y": high, "y2": high},
                {"x": past, "x2": past, "y": high, "y2": low},
                {"x": past, "x2": middle, "y": low, "y2": low},
            ]
            sums.append({"x": middle, "y": low, "t": "+"})
        last = tops[-1] + heights[-1]
        stream.append({"x": middle, "x2": middle, "y": last, "y2": down})
    return _picture(boxes, words, stream, sums, total, down).properties(usermeta=theme.UNSTRETCHED)


def _lines(text: str, limit: float) -> list[tuple[str, bool]]:
    """What a box says, line by line: its name in bold, then what it is."""
    name, what = text.split("|")
    return [(line, True) for line in fonts.wrap(name, limit, 600).split("\n")] + [
        (line, False) for line in fonts.wrap(what, limit).split("\n")
    ]


def _picture(
    boxes: list[dict[str, Any]],
    words: list[dict[str, Any]],
    stream: list[dict[str, Any]],
    sums: list[dict[str, Any]],
    width: float,
    height: float,
) -> Any:
    x = alt.X("x:Q", scale=alt.Scale(domain=[0, width], nice=False), axis=None)
    y = alt.Y("y:Q", scale=alt.Scale(domain=[height, 0], nice=False), axis=None)
    ends = (alt.X2("x2:Q"), alt.Y2("y2:Q"))
    drawn = marks.chart(boxes)
    line: dict[str, Any] = {"color": palette.EDGE, "strokeWidth": 1.25}
    styles: dict[str, dict[str, Any]] = {
        "head": {"align": "left", "fontWeight": 600},
        "strong": {"align": "center", "fontWeight": 600},
        "plain": {"align": "center", "color": palette.INK_2},
    }
    return marks.layer(
        marks.chart(stream).mark_rule(**line).encode(x, y, *ends),
        drawn.mark_rect(color=palette.PAPER, stroke=palette.EDGE, strokeWidth=1)
        .encode(x, y, *ends)
        .transform_filter("!datum.new"),
        drawn.mark_rect(color=palette.TINT, stroke=palette.MEASURED, strokeWidth=2.5)
        .encode(x, y, *ends)
        .transform_filter("datum.new"),
        marks.chart(sums)
        .mark_point(size=300, shape="circle", color=palette.PAPER, stroke=palette.EDGE)
        .encode(x, y),
        marks.chart(sums)
        .mark_text(baseline="middle", fontWeight=600)
        .encode(x, y, alt.Text("t:N")),
        *[
            marks.chart([word for word in words if word["kind"] == kind])
            .mark_text(baseline="middle", **style)
            .encode(x, y, alt.Text("t:N"))
            for kind, style in styles.items()
        ],
    ).properties(width=width, height=height)
