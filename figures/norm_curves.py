"""How do four deep models train: the norm first or last, with and without warmup?

In: held-out perplexity along the training of the four runs. Out: four lines over the steps, on a
logarithmic axis, with the spread over the seeds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from figures import Language, Row, Text, Width, curves

if TYPE_CHECKING:
    from engine.quantity import Book

PLACES = ("pre", "post")
WARMUPS = (0, 200)

TEXT = {
    **curves.AXES,
    "pre_0": {"pt": "pré, sem", "en": "pre, without"},
    "pre_200": {"pt": "pré, com", "en": "pre, with"},
    "post_0": {"pt": "pós, sem", "en": "post, without"},
    "post_200": {"pt": "pós, com", "en": "post, with"},
}


def data(book: Book) -> list[Row]:
    """One row a run and a step."""
    return [
        row
        for place in PLACES
        for warmup in WARMUPS
        for row in curves.curve_rows(
            book,
            f"norm_placement.{place}.warmup_{warmup}",
            "validation_perplexity",
            run=f"{place}_{warmup}",
        )
    ]


def draw(rows: list[Row], text: Text, width: Width, language: Language) -> Any:
    """The four lines, each named at its end."""
    return curves.held_out(
        rows, "run", text, width, language, room=(130, 100), logarithmic=True, height=290
    )
