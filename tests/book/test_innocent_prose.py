"""Is the search for hand-typed numbers quiet on honest prose, and does it miss nothing planted?

Two corpora written for this: sentences that hold digits and number words and are innocent, and
sentences with a number typed by hand. Then the real chapters, as they are and attacked: a digit or
a measured number word put in at random places of their prose must be found, each of them.
"""

from __future__ import annotations

import random
import re
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from engine.chapters import chapters, read_source
from engine.lint import failing, lint_book
from engine.typed import TEMPLATE, Known, Prose, find, find_in_formula

DATA = Path(__file__).parent / "data"
LANGUAGES = ("pt", "en")
KNOWN = Known(
    citations=frozenset(
        {("vaswani", "2017"), ("ba", "2016"), ("xiong", "2020"), ("bahdanau", "2014")}
    ),
    chapters=frozenset(range(21)),
)
INNOCENT = [
    (language, line)
    for language in LANGUAGES
    for line in (DATA / f"innocent.{language}.txt").read_text(encoding="utf-8").splitlines()
]
GUILTY: list[tuple[Any, str, str, str]] = [
    (language, kind, text, named)
    for language, kinds in tomllib.loads((DATA / "guilty.toml").read_text("utf-8")).items()
    for kind, sentences in kinds.items()
    for text, named in sentences
]
ATTACKS = 600
STATED = {
    "pt": ("três vezes", "dois terços", "sete em dez", "4 ms", "dez mil", "dois nats", "12%"),
    "en": ("three times", "two thirds", "seven in ten", "4 ms", "ten thousand", "two nats", "12%"),
}


def test_enough_sentences() -> None:
    assert Counter(language for language, _ in INNOCENT) == {"pt": 100, "en": 100}
    assert len({line for _, line in INNOCENT}) == 200
    assert len(GUILTY) > 100


@pytest.mark.parametrize("language", LANGUAGES)
def test_innocent_sentences(language: Any) -> None:
    accused = {
        line: [typed.text for typed in found]
        for of, line in INNOCENT
        if of == language and (found := find(line, language, KNOWN))
    }
    assert accused == {}


@pytest.mark.parametrize("language", LANGUAGES)
def test_innocent_sentences_in_one_text(language: Any) -> None:
    """Nothing in a sentence turns its neighbours into something else."""
    text = "\n\n".join(line for of, line in INNOCENT if of == language)
    assert find(text, language, KNOWN) == []


@pytest.mark.parametrize(("language", "kind", "text", "named"), GUILTY)
def test_guilty_sentences(language: Any, kind: str, text: str, named: str) -> None:
    kinds = {"digits": "number"}
    found = find(f"Nada.\n\n{text}", language, KNOWN)
    assert (kinds.get(kind, kind), named) in [(typed.kind, typed.text) for typed in found]
    assert all(typed.line >= 3 for typed in found)


@pytest.mark.parametrize(
    ("tex", "named"),
    [
        ("m_t = \\tfrac{1}{t} \\sum_{i \\le t} x_i", []),
        ("S = QK^\\top / \\sqrt{d}", []),
        ("A_{ti} = 1 \\text{ se } i \\le t", []),
        ("2^{10} + 10^9", []),
        ("\\begin{array}{rrr} 1 & 0 \\\\[2ex] 0 & 1 \\end{array} \\tag{x} \\hspace{2em}", []),
        ("d = 64", ["64"]),
        ("d = 0{,}5 d", ["0{,}5"]),
        ("x \\approx 12", ["12"]),
        ("\\text{com 3 cabeças}", ["3"]),
        ("e^{-0.5 x}", ["0.5"]),
        ("1000 d", ["1000"]),
        ("5 \\cdot 4", ["5", "4"]),
    ],
)
def test_formulas(tex: str, named: list[str]) -> None:
    assert sorted(typed.text for typed in find_in_formula(tex, "pt")) == sorted(named)


def test_line_of_a_finding_in_a_long_text() -> None:
    filler = "\n".join(INNOCENT[i][1] for i in range(40))
    text = f"{filler}\n\n```python\nx = 1\n```\n\nA média perde\nquatro\nvezes e 3%.\n"
    before = filler.count("\n") + 1 + 5
    assert [(t.line - before, t.text) for t in find(text, "pt", KNOWN)] == [
        (2, "quatro vezes"),
        (3, "3%"),
    ]


# ---------------------------------------------------------------------------- the real book


def test_nothing_to_mend_in_the_book() -> None:
    """Typed numbers, parity, references, terms: everything that `python -m engine lint` says."""
    assert [str(finding) for finding in failing(lint_book())] == []


def paragraphs() -> list[tuple[str, Any, str]]:
    return [
        (chapter.slug, language, paragraph)
        for chapter in chapters()
        for language in LANGUAGES
        if chapter.template(language).is_file()
        for paragraph in re.split(r"\n\s*\n", read_source(chapter, language).body)
        if len(paragraph) > 20 and not paragraph.lstrip().startswith(("```", "~~~"))
    ]


def places(paragraph: str) -> list[int]:
    """Where prose stands: not in expressions, code, formulas, anchors, at a name or a symbol."""
    masked = Prose.of(paragraph).text
    anchors = [m.span() for m in re.finditer(r"\{[^}\n]*\}", paragraph)]
    name = r"[A-Z][A-Za-z]*[- ][A-Za-z\d]+(?: \d+[A-Z]\b)?|\b[A-Z]{2}[A-Za-z]*|<[^>]*>"
    names = [m.span() for m in re.finditer(name, paragraph)]
    inside = [m.span() for m in TEMPLATE.finditer(paragraph)]
    exempt = {i for start, end in (*anchors, *names, *inside) for i in range(start, end + 1)}
    exempt |= {m.start() for m in re.finditer(r"\b[b-df-hj-np-tv-z]\b", paragraph)}  # 2d
    return [
        i
        for i, character in enumerate(masked)
        if character == paragraph[i] and character != "\n" and i not in exempt
    ]


def test_whatever_is_put_into_the_prose_is_found() -> None:
    dice = random.Random(20261129)
    texts = [
        (slug, language, text, at) for slug, language, text in paragraphs() if (at := places(text))
    ]
    weights = [len(at) for *_, at in texts]
    missed: list[str] = []
    for slug, language, text, at in dice.choices(texts, weights, k=ATTACKS):
        place = dice.choice(at)
        put = dice.choice("0123456789")
        if dice.random() < 0.5:
            spaces = [i for i in at if text[i] == " "]
            if not spaces:
                continue
            place, put = dice.choice(spaces), f" {dice.choice(STATED[language])}"
        attacked = text[:place] + put + text[place:]
        before = [(typed.kind, typed.text) for typed in find(text, language, KNOWN)]
        after = [(typed.kind, typed.text) for typed in find(attacked, language, KNOWN)]
        if before == after:
            near = attacked[max(0, place - 30) : place + 30]
            missed.append(f"{slug}/{language}: {put!r} in {near!r}")
    assert missed == []
