"""Which positions may a query read in each of the three kinds of attention?

In: nothing measured: the three masks are definitions, and are drawn from them. Out: three grids,
one row a query and one column a key, filled where the query may read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from figures import Language, Row, Text, Width, fonts, marks, palette, theme
from figures.vega import alt

if TYPE_CHECKING:
    from engine.quantity import Book

TARGET, SOURCE = 5, 6  # positions of the sequence that is written, and of the one that is read

# kind -> queries, keys, and which key a query may read (both counted from one)
MASKS: dict[str, tuple[int, int, Callable[[int, int], bool]]] = {
    "causal": (TARGET, TARGET, lambda query, key: key <= query),
    "unmasked": (TARGET, TARGET, lambda query, key: True),
    "cross": (TARGET, SOURCE, lambda query, key: True),
}

TEXT = {
    "causal": {"pt": "autoatenção causal", "en": "causal self-attention"},
    "unmasked": {"pt": "autoatenção sem máscara", "en": "unmasked self-attention"},
    "cross": {"pt": "atenção cruzada", "en": "cross-attention"},
    "keys": {"pt": "chaves", "en": "keys"},
    "queries": {"pt": "consultas", "en": "queries"},
    "source": {"pt": "chaves da outra sequência", "en": "keys of the other sequence"},
}


def data(book: Book) -> list[Row]:
    """One row a pair of query and key."""
    return [
        {"attention": kind, "query": query, "key": key, "reads": reads(query, key)}
        for kind, (queries, keys, reads) in MASKS.items()
        for query in range(1, queries + 1)
        for key in range(1, keys + 1)
    ]


def draw(rows: list[Row], text: Text, width: Width, language: Language) -> Any:
    """The three grids side by side."""
    cell = 27 if width == "wide" else 17
    grids = [
        _grid([row for row in rows if row["attention"] == kind], kind, text, cell) for kind in MASKS
    ]
    side_by_side: Any = alt.hconcat(*grids, spacing=48 if width == "wide" else 16)
    return side_by_side.properties(usermeta=theme.UNSTRETCHED)


def _grid(rows: list[Row], kind: str, text: Text, cell: int) -> Any:
    queries = max(int(marks.number(row, "query")) for row in rows)
    keys = max(int(marks.number(row, "key")) for row in rows)
    room = keys * cell + 14
    bare: dict[str, Any] = {"scale": alt.Scale(padding=0), "axis": None}
    place = (alt.X("key:O", **bare), alt.Y("query:O", **bare))
    base = marks.chart(rows)
    keys_name = fonts.wrap(text("source" if kind == "cross" else "keys"), room)
    title = fonts.wrap(text(kind), room, 600)
    above = -6 - (keys_name.count("\n") * theme.LINE_HEIGHT)
    names: list[Any] = [
        _name(keys_name, palette.INK_2, 400, x=0, y=above, baseline="bottom"),
        _name(text("queries"), palette.INK_2, 400, x=-6, y=0, angle=270, align="right"),
        _name(
            title,
            palette.INK,
            600,
            x=0,
            y=above - 22 - title.count("\n") * theme.LINE_HEIGHT,
            baseline="bottom",
        ),
    ]
    return marks.layer(
        base.mark_rect(filled=False, stroke=palette.RULE, strokeWidth=1)
        .encode(*place)
        .transform_filter("!datum.reads"),
        base.mark_rect(color=palette.MEASURED, stroke=palette.PAPER, strokeWidth=2)
        .encode(*place)
        .transform_filter("datum.reads"),
        *names,
    ).properties(height=queries * cell, width=keys * cell)


def _name(text: str, color: str, weight: int, x: float, y: float, **mark: Any) -> Any:
    return (
        marks.chart([{"t": text}])
        .mark_text(
            **{"align": "left", **mark},
            color=color,
            fontWeight=weight,
            lineBreak="\n",
            lineHeight=theme.LINE_HEIGHT,
        )
        .encode(alt.Text("t:N"), x=alt.value(x), y=alt.value(y))
    )
