"""Where do the models of the book stand between a blind guess and certainty?

In: the perplexity of a blind guess, of frequencies alone, and of four models. Out: one bar a row on
a logarithmic axis from one, so that its length is the cross-entropy; what was not trained is an
outline.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from figures import Language, Row, Text, Width, fonts, marks, scales

if TYPE_CHECKING:
    from engine.quantity import Book

PATHS = {
    "blind": "surprise.blind_perplexity",
    "frequencies": "corpus.frequency_perplexity",
    "mean": "averages.mean.validation_perplexity",
    "none": "averages.none.validation_perplexity",
    "norm": "ladder.norm.validation_perplexity",
}
UNTRAINED = ("blind", "frequencies")
STEP = 4  # from one tick to the next, as a factor
TICKS = tuple(STEP**power for power in range(6))

TEXT = {
    "perplexity": {
        "pt": "perplexidade, em escala logarítmica",
        "en": "perplexity, on a logarithmic scale",
    },
    "blind": {"pt": "aposta às cegas", "en": "a blind guess"},
    "frequencies": {"pt": "frequências dos tokens", "en": "token frequencies"},
    "mean": {"pt": "média no lugar do token", "en": "mean in place of the token"},
    "none": {"pt": "só o token", "en": "the token alone"},
    "norm": {"pt": "um bloco inteiro", "en": "one whole block"},
}


def data(book: Book) -> list[Row]:
    """One row a model: mean and standard deviation of the perplexity over its seeds."""
    rows: list[Row] = []
    for name, path in PATHS.items():
        found = book.get(path)
        row: Row = {"row": name, "perplexity": found.mean, "std": found.std, "seeds": found.n}
        rows.append(row)
    return rows


def draw(rows: list[Row], text: Text, width: Width, language: Language) -> Any:
    """From the worst to the best."""
    limit = 150 if width == "wide" else 104
    bars = [
        marks.Bar(
            label=fonts.wrap(text(str(row["row"])), limit),
            value=marks.number(row, "perplexity"),
            text=said(row, language),
            std=marks.optional(row, "std"),
            filled=row["row"] not in UNTRAINED,
        )
        for row in rows
    ]
    values = [bar.value for bar in bars]
    inside = min(values) >= TICKS[0] and max(values) <= TICKS[-1]
    return marks.bars(
        bars,
        scales.fixed(TICKS, log=True) if inside else scales.logarithmic([1.0, *values]),
        language=language,
        x_title=text("perplexity"),
        step=46,
    )


def said(row: Row, language: Language) -> str:
    """A blind guess among so many tokens is a whole number; the rest was measured."""
    value = marks.number(row, "perplexity")
    if value.is_integer():
        return scales.count_text(value, language)
    return scales.spread_text(row, "perplexity", language)
