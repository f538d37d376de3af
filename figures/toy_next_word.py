"""What does the toy foretell after its last token, with attention and without?

In: the toy's probabilities of the next word as it is, with every weight of attention equal, with
the attention branch off, and with a final norm that it lacks. Out: a row a case, a column a word.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from figures import Language, Row, Text, Width, fonts, marks, scales

if TYPE_CHECKING:
    from engine.quantity import Book

WORDS, LAST = 8, 4
THRESHOLDS = (0.03, 0.08, 0.15, 0.25, 0.35, 0.45, 0.55)
CASES = {
    "on": f"toy_block.probabilities.{LAST}",
    "uniform": "toy_variants.equal_scores.probabilities",
    "off": f"toy_block.attention_off.probabilities.{LAST}",
    "normed": f"toy_block.final_norm.probabilities.{LAST}",
}

TEXT = {
    "on": {"pt": "com atenção", "en": "with attention"},
    "uniform": {"pt": "pesos iguais", "en": "equal weights"},
    "off": {"pt": "atenção desligada", "en": "attention off"},
    "normed": {"pt": "com normalização final", "en": "with a final norm"},
    "word": {"pt": "palavra seguinte", "en": "next word"},
}


def data(book: Book) -> list[Row]:
    """One row a case and a word."""
    return [
        {
            "case": case,
            "word": str(_only(book, f"toy_block.vocabulary.{i}")),
            "probability": book.get(f"{path}.{i}").mean,
        }
        for case, path in CASES.items()
        for i in range(WORDS)
    ]


def _only(book: Book, path: str) -> Any:
    """A value that has one run behind it: a word, or a list."""
    return next(iter(book.get(path).values.values()))


def draw(rows: list[Row], text: Text, width: Width, language: Language) -> Any:
    """Cases from the top, words in the order of the vocabulary."""
    wide = width == "wide"
    words = list(dict.fromkeys(str(row["word"]) for row in rows))
    cases = list(dict.fromkeys(str(row["case"]) for row in rows))
    cells = [
        marks.Cell(
            cases.index(str(row["case"])),
            words.index(str(row["word"])),
            marks.number(row, "probability"),
            scales.decimals_text(marks.number(row, "probability"), language, 2),
        )
        for row in rows
    ]
    labels = [fonts.wrap(text(case), 130 if wide else 84) for case in cases]
    return marks.heat_map(
        cells,
        labels,
        words,
        thresholds=THRESHOLDS,
        row_title=None,
        column_title=text("word"),
        height=len(cases) * (46 if wide else 52),
        size=None if wide else 11,
        slanted=True,
        title_gap=marks.slanted_room(words),
    )
