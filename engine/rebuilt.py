"""Does a built site still say what the records and the chapters say?

In: the folder of a site, and a folder in which the same site was built anew. Out: one line for each
file that differs, with the first line that does and what stands there; for one that is missing; for
one that nothing makes.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

from engine.paths import shown

EXCERPT = 30  # characters on each side of the first that differs


def differences(site: Path, fresh: Path) -> Iterator[str]:
    """What in `site` is not as it is in `fresh`, file by file."""
    names = {p.relative_to(of) for of in (site, fresh) for p in of.rglob("*") if p.is_file()}
    for name in sorted(names):
        here, there = site / name, fresh / name
        if not there.is_file():
            yield f"{shown(here)}: nothing makes this file"
        elif not here.is_file():
            yield f"{shown(here)}: is missing"
        elif content(here) != content(there):
            yield difference(here, there)


def content(path: Path) -> bytes:
    """What a file holds; of a compressed one without the time at which it was compressed."""
    whole = path.read_bytes()
    try:
        return gzip.decompress(whole) if path.suffix == ".gz" else whole
    except OSError:
        return whole


def difference(here: Path, there: Path) -> str:
    """The first place in which two files differ."""
    try:
        mine, other = (path.read_text(encoding="utf-8") for path in (here, there))
    except UnicodeDecodeError:
        return f"{shown(here)}: is not what the book makes"
    at = next(
        (i for i, (a, b) in enumerate(zip(mine, other, strict=False)) if a != b),
        min(len(mine), len(other)),
    )
    line = mine.count("\n", 0, at) + 1
    said, wanted = (
        " ".join(text[max(0, at - EXCERPT) : at + EXCERPT].split()) for text in (mine, other)
    )
    return f"{shown(here)}:{line}: “{said}” is not what the book makes: “{wanted}”"
