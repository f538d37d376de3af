"""How much of a uniform causal mean is the token that stands at the position itself?

In: the share of the present token in the averaging matrix, at a few positions. Out: one column a
position, filled by the present token, the rest being everything before it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from figures import Language, Row, Text, Width, fonts, marks, palette, scales, theme
from figures.vega import alt

if TYPE_CHECKING:
    from engine.quantity import Book

POSITIONS = (1, 2, 5, 10, 20, 50, 100, 128)

TEXT = {
    "position": {"pt": "posição na sequência", "en": "position in the sequence"},
    "past": {"pt": "o que veio antes", "en": "what came before"},
    "present": {"pt": "o token presente", "en": "the present token"},
}


def data(book: Book) -> list[Row]:
    """One row a position: the weight of the present token."""
    return [{"position": t, "share": book.get(f"triangle.share.t_{t}").mean} for t in POSITIONS]


def draw(rows: list[Row], text: Text, width: Width, language: Language) -> Any:
    """Columns of equal height, the present token at their foot."""
    positions = [int(marks.number(row, "position")) for row in rows]
    records: list[dict[str, Any]] = [
        {
            "i": index,
            "x": marks.number(row, "share"),
            "t": scales.percent_text(marks.number(row, "share"), language),
            "top": 1.0,
        }
        for index, row in enumerate(rows)
    ]
    order = list(range(len(rows)))
    scale = scales.shares((0.0, 0.5, 1.0))
    up = marks.axis(scale, language, None, grid=False)
    across = {
        "labelExpr": marks.label_expression(order, [str(t) for t in positions]),
        "title": text("position"),
        "labelAngle": 0,
        "domain": False,
        "ticks": False,
    }
    wide = width == "wide"
    gap = alt.Scale(paddingInner=0.2 if wide else 0.12, paddingOuter=0)
    x = alt.X("i:O", sort=order, axis=alt.Axis(**across), scale=gap)
    y = marks.y_of(scale, up, "x")
    base = marks.chart(records)
    value: dict[str, Any] = {"fontWeight": 600, "align": "center"}
    whole = [record for record in records if record["x"] > 0.9]
    parts = [record for record in records if record["x"] <= 0.9]
    layers = [
        base.mark_bar(color=palette.SEQUENTIAL[1]).encode(x, marks.y_of(scale, up, "top")),
        base.mark_bar(color=palette.MEASURED).encode(x, y),
        marks.chart(parts)
        .mark_text(baseline="bottom", dy=-5, color=palette.ON_LOW, **value)
        .encode(x, y, alt.Text("t:N")),
        marks.chart(whole)
        .mark_text(baseline="top", dy=7, color=palette.ON_HIGH, **value)
        .encode(x, y, alt.Text("t:N")),
    ]
    for column, key, colour in ((0, "present", palette.ON_HIGH), (-2, "past", palette.ON_LOW)):
        name = fonts.wrap(text(key), 48) if wide else text(key)
        turned: dict[str, Any] = {"dy": marks.centred(name)} if wide else {"angle": 270}
        layers.append(
            marks.chart([{"i": order[column], "x": 0.5, "t": name}])
            .mark_text(
                baseline="middle",
                color=colour,
                lineBreak="\n",
                lineHeight=theme.LINE_HEIGHT,
                **turned,
            )
            .encode(x, y, alt.Text("t:N"))
        )
    return marks.layer(*layers).properties(width=400, height=230 if wide else 220)
