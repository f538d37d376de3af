"""How long does the book itself take: its plan, its records, its numbers, its pages?"""

from typing import Any

from engine import render
from engine.number import format_number
from engine.plan import plan
from engine.quantity import Book


def test_the_plan_of_all_runs(benchmark: Any) -> None:
    assert benchmark(plan)


def test_one_number_of_three_records(benchmark: Any) -> None:
    def read() -> object:
        return Book(allow_stale=True).get("averages.none.validation_perplexity").mean

    assert benchmark(read)


def test_one_number_in_portuguese(benchmark: Any) -> None:
    assert benchmark(format_number, 59.7134, "pt", decimals=1) == "59,7"


def test_all_pages_of_one_language(benchmark: Any) -> None:
    pages = benchmark.pedantic(lambda: render.pages("pt", serving=True), rounds=3)
    assert pages
