"""How is one value of a record changed, with and without the record's own hash?

In: the record files of the book, which are never touched. Out: copies of them in another folder,
where the engine's folders point while an attack lasts, with values that were never measured.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine import paths, record

Parts = tuple[str | int, ...]


@dataclass(frozen=True)
class Leaf:
    """One value, or one element of a list: its run, and the way to it inside `values`."""

    run: str
    parts: Parts

    def __str__(self) -> str:
        return f"{self.run}: {'.'.join(map(str, self.parts))}"


def copy_results(to: Path) -> Path:
    shutil.copytree(paths.ROOT / "results", to)
    return to


def leaf_of(content: Mapping[str, Any], path: str) -> Parts | None:
    """The way inside `values` of a record to what lies under a path of the book, list or value."""
    prefix = content["experiment"] + (f".{content['row']}" if content["row"] else "")
    if not path.startswith(prefix + "."):
        return None
    way: list[str | int] = []
    at: Any = content["values"]
    for part in path[len(prefix) + 1 :].split("."):
        if isinstance(at, dict) and part in at:
            way.append(part)
            at = at[part]
        elif isinstance(at, list) and part.isdecimal() and int(part) < len(at):
            way.append(int(part))
            at = at[int(part)]
        else:
            return None
    return tuple(way)


def scalars(value: object, parts: Parts = ()) -> Iterator[tuple[Parts, object]]:
    """Every value that is neither table nor list, with the way to it."""
    inner: Iterable[tuple[str | int, object]]
    if isinstance(value, dict):
        inner = value.items()
    elif isinstance(value, list):
        inner = enumerate(value)
    else:
        yield parts, value
        return
    for name, item in inner:
        yield from scalars(item, (*parts, name))


def another(value: object, step: int = 0) -> object:
    """A value of the same sort that reads differently; `step` counts further ones."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, str):
        known = ("nan", "inf", "-inf")
        return known[(known.index(value) + 1) % 3] if value in known else f"{value} \u00df"
    if isinstance(value, int):
        return value + (1 + step) * max(3, abs(value) * 3 // 7)
    assert isinstance(value, float)
    return value * (1.37 + step) if value and step < 1000 else value + 0.37 + step


def at(content: Mapping[str, Any], parts: Parts) -> Any:
    found: Any = content["values"]
    for part in parts:
        found = found[part]
    return found


def put(content: Mapping[str, Any], parts: Parts, value: object) -> None:
    inner: Any = content["values"]
    for part in parts[:-1]:
        inner = inner[part]
    inner[parts[-1]] = value


def read(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))


def write(path: Path, content: Mapping[str, Any], *, rehash: bool) -> None:
    """The record with what was put into it; with `rehash` its own hash says that all is well."""
    whole = dict(content)
    if rehash:
        whole["hash"] = record._hash(whole)  # pyright: ignore[reportPrivateUsage]
    path.write_text(record._layout(whole) + "\n", encoding="utf-8")  # pyright: ignore[reportPrivateUsage]
