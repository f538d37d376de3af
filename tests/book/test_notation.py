"""Is every letter of the chapters' formulas in the notation, and every name of it in the code?

Chapters of both languages against chapters/notation/notation.toml.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from engine.typed import TEMPLATE

ROOT = Path(__file__).parents[2]
CHAPTERS = ROOT / "chapters"
GROUPS: dict[str, Any] = tomllib.loads(
    (CHAPTERS / "notation" / "notation.toml").read_text(encoding="utf-8")
)
SYMBOLS = [(group, symbol) for group in GROUPS for symbol in GROUPS[group]["symbols"]]
CODED = [name for _, symbol in SYMBOLS for name in symbol.get("code", ())]

FORMULA = re.compile(r"\$\$(.+?)\$\$|(?<![\\$])\$(?![\s$])([^$]*?[^\s\\$])\$(?!\$)", re.DOTALL)
EQUATIONS = re.compile(r"equations=\[(.*?)\],\n", re.DOTALL)
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
CODE = re.compile(r"^[ \t]*(`{3,}).*?^[ \t]*\1[ \t]*$|`[^`\n]+`", re.DOTALL | re.MULTILINE)
# Words, and letters that are no symbols: of a name, a column of an array, the d of an integral.
NO_SYMBOLS = re.compile(
    r"\\begin\{array\}\{[^}]*\}|\\(?:label|text|operatorname|mathrm|texttt|begin|end)\{[^{}]*\}"
    r"|(?<=\\,)d(?=[a-z])|\\\\\[[^\]]*\]"
)
GREEK = (
    *("alpha", "beta", "gamma", "delta", "varepsilon", "epsilon", "zeta", "eta", "theta", "kappa"),
    *("lambda", "mu", "nu", "xi", "rho", "sigma", "tau", "phi", "varphi", "chi", "psi", "omega"),
    *("pi", "Pi", "ell", "Gamma", "Delta", "Lambda", "Sigma", "Phi", "Psi", "Omega", "odot", "top"),
    *("infty", "partial"),
)
SYMBOL = re.compile(
    r"(?:\\(?P<command>[A-Za-z]+)|(?P<letter>[A-Za-z]))'*"
    r"(?:_(?:\{(?P<long>[^{}]*)\}|(?P<short>\\[A-Za-z]+|\w)))?"
)
# What follows the letter belongs to its name, and is no index.
NAMED = re.compile(r"(?!T)[A-Z]|kv|g|\\uparrow|\\downarrow")
WIDTHS = ("d_h", "d_k")


def without_words(tex: str) -> str:
    return NO_SYMBOLS.sub(" ", tex)


def symbols(tex: str) -> Iterator[str]:
    """Letters with the subscripts that belong to their names: W_Q, d_h, but x of x_5."""
    for match in SYMBOL.finditer(without_words(tex)):
        if match["command"] and match["command"] not in GREEK:
            continue
        letter = match["letter"] or f"\\{match['command']}"
        subscript = (match["long"] or match["short"] or "").strip()
        whole = f"{letter}_{subscript}"
        yield whole if NAMED.fullmatch(subscript) or whole in WIDTHS else letter


def formulas(text: str) -> Iterator[str]:
    for match in EQUATIONS.finditer(text):
        for string in STRING.finditer(match[1]):
            yield string[1].replace("\\\\", "\\")
    prose = CODE.sub(" ", TEMPLATE.sub(lambda m: "1" if m["prints"] else " ", text))
    for match in FORMULA.finditer(prose):
        yield match[1] or match[2]


@cache
def defined() -> dict[str, set[str] | None]:
    """Symbol → the chapters in which it holds; None for all of them."""
    known: dict[str, set[str] | None] = {}
    for group, symbol in SYMBOLS:
        for one in symbols(f"{symbol['tex']} {symbol.get('also', '')}"):
            if group != "occasional":
                known[one] = None
            elif known.get(one, set()) is not None:
                known[one] = (known.get(one) or set()) | {w.split("#")[0] for w in symbol["where"]}
    return known


CHAPTER_FILES = sorted(
    path for path in CHAPTERS.glob("*/*.md.j2") if path.parent.name != "notation"
)


@pytest.mark.parametrize(
    "path", CHAPTER_FILES, ids=lambda path: f"{path.parent.name}-{path.name[:2]}"
)
def test_every_symbol_of_a_chapter_is_in_the_table(path: Path) -> None:
    known, chapter = defined(), path.parent.name
    missing = {
        one: tex
        for tex in formulas(path.read_text(encoding="utf-8"))
        for one in symbols(tex)
        if one not in known or not (known[one] is None or chapter in (known[one] or ()))
    }
    assert not missing, f"add to chapters/notation/notation.toml: {missing}"


@pytest.mark.parametrize("name", sorted(set(CODED)))
def test_every_name_stands_in_the_code(name: str) -> None:
    path, _, word = name.partition(":")
    assert path.startswith(("model/", "experiments/"))
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    names: set[str] = set()
    for node in ast.walk(tree):
        for field in ("id", "attr", "arg", "name"):
            names.add(str(getattr(node, field, "")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            names.add(node.value)  # a key of what is recorded
    assert word in names


@pytest.mark.parametrize("group", GROUPS)
def test_a_group_says_the_same_in_both_languages(group: str) -> None:
    pages = [
        (CHAPTERS / "notation" / f"{language}.md.j2").read_text(encoding="utf-8")
        for language in ("pt", "en")
    ]
    assert all(f'notation("{group}")' in page for page in pages)
    for symbol in GROUPS[group]["symbols"]:
        assert symbol["pt"].strip()
        assert symbol["en"].strip()
        assert symbol["where"]


@pytest.mark.parametrize("chapter", ["15-qkv", "05-why-divide"])
def test_the_reading_of_formulas_finds_what_is_there(chapter: str) -> None:
    text = (CHAPTERS / chapter / "en.md.j2").read_text(encoding="utf-8")
    found = {one for tex in formulas(text) for one in symbols(tex)}
    assert {"W_K", "W_Q", "X", "d", "q", "k"} <= found
    assert "W" not in found
