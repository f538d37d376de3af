"""How much of each GPT-2 is its token table?

In: the share of the token embeddings in the parameters of the four sizes, and the totals. Out: one
bar a size, filled by the token table, the rest being everything else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engine.number import format_number
from figures import Language, Row, Text, Width, marks, palette, scales
from figures.vega import alt

if TYPE_CHECKING:
    from engine.quantity import Book

SIZES = ("small", "medium", "large", "xl")

TEXT = {
    "small": {"pt": "small", "en": "small"},
    "medium": {"pt": "medium", "en": "medium"},
    "large": {"pt": "large", "en": "large"},
    "xl": {"pt": "XL", "en": "XL"},
    "millions": {"pt": "milhões", "en": "million"},
    "share": {"pt": "parte dos parâmetros", "en": "share of the parameters"},
    "rest": {"pt": "todo o resto", "en": "everything else"},
    "table": {"pt": "tabela de tokens", "en": "token table"},
}


def data(book: Book) -> list[Row]:
    """One row a size."""
    return [
        {
            "size": size,
            "total": book.get(f"gpt2_parameters.{size}.total").mean,
            "embedding_share": book.get(f"gpt2_parameters.{size}.embedding_share").mean,
        }
        for size in SIZES
    ]


def draw(rows: list[Row], text: Text, width: Width, language: Language) -> Any:
    """Bars of equal length: what is compared is the share."""
    scale = scales.shares((0.0, 0.25, 0.5, 0.75, 1.0) if width == "wide" else (0.0, 0.5, 1.0))
    order = list(range(len(rows)))
    labels = [
        f"{text(str(row['size']))}\n"
        f"{scales.decimals_text(marks.number(row, 'total') / 1e6, language, 0)}"
        f"\u00a0{text('millions')}"
        for row in rows
    ]
    records = [
        {
            "i": index,
            "share": marks.number(row, "embedding_share"),
            "t": format_number(
                marks.number(row, "embedding_share"), language, percent=1, below=True
            ),
            "all": 1.0,
        }
        for index, row in enumerate(rows)
    ]
    across = marks.axis(scale, language, text("share"), grid=False, domain=False, ticks=False)
    up = {**marks.category_labels(labels), "title": None, "grid": False}
    y = alt.Y("i:O", sort=order, axis=alt.Axis(**up), scale=alt.Scale(padding=0))
    base = marks.chart(records)
    names = [
        {"i": 0, "share": end, "t": text(key), "align": align}
        for end, key, align in ((0.0, "table", "left"), (1.0, "rest", "right"))
    ]
    return marks.layer(
        base.mark_bar(color=palette.SEQUENTIAL[1], height=26).encode(
            marks.x_of(scale, across, "all"), y
        ),
        base.mark_bar(color=palette.MEASURED, height=26).encode(
            marks.x_of(scale, across, "share"), y
        ),
        base.mark_text(align="left", dx=7, fontWeight=600, color=palette.ON_LOW).encode(
            marks.x_of(scale, across, "share"), y, alt.Text("t:N")
        ),
        *[
            marks.chart([name])
            .mark_text(align=name["align"], baseline="bottom", dy=-17, color=palette.INK)
            .encode(marks.x_of(scale, across, "share"), y, alt.Text("t:N"))
            for name in names
        ],
    ).properties(width=400, height=46 * len(rows))
