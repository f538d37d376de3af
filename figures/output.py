"""How does a figure get from its records to the files that a page and a reader take?

In: a figure's name and the book's records. Out, in `build/figures/`: a drawing to inline for each
language and width (`<name>.<pt|en>.<wide|narrow>.svg`), `<name>.csv` with the rows at full
precision, and `<name>.json`, written last, which says which paths and records the figure was drawn
from and by which source. Each file is replaced whole, so that a reader never meets half a figure.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import tempfile
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from engine import paths
from figures import (
    FOLDER,
    LANGUAGES,
    WIDTHS,
    FigureError,
    Row,
    figure_names,
    load_figure,
    source_of,
    texts,
    theme,
)
from figures import fonts as fonts_module

if TYPE_CHECKING:
    from engine.quantity import Book

_OTHER_SOURCES = (paths.ROOT / "engine" / "number.py", paths.WEB / "palette.json")
_DRAWN_BY = ("altair", "vl-convert-python")


def draw_figure(name: str, book: Book) -> list[Path]:
    """Draw one figure in both languages and widths; returns the files, the description last."""
    figure = load_figure(name)
    rows, paths_, records = _read(name, book)
    files = {f"{name}.csv": csv_text(rows)}
    for language in LANGUAGES:
        text = texts(figure, language)
        for width in WIDTHS:
            chart = figure.draw(rows, text, width, language)
            drawing = theme.render(chart, f"fig-{name}-{language}-{width}", width, language)
            files[f"{name}.{language}.{width}.svg"] = drawing
    description = {"paths": paths_, "records": records, "source": source_digest(name)}
    files[f"{name}.json"] = json.dumps(description, indent=1, ensure_ascii=False) + "\n"
    return [_write(paths.DRAWN / file, content) for file, content in files.items()]


def stale(name: str, book: Book) -> str | None:
    """Why a figure must be drawn again, in one line; None when what lies there is current."""
    for file in file_names(name):
        if not (paths.DRAWN / file).is_file():
            return f"{file} is not there"
    try:
        drawn = json.loads((paths.DRAWN / f"{name}.json").read_text(encoding="utf-8"))
        known = (drawn["paths"], drawn["records"], drawn["source"])
    except (ValueError, KeyError, TypeError):
        return f"{name}.json cannot be read"
    if known[2] != source_digest(name):
        return "its source changed"
    _, paths_, records = _read(name, book)
    changed = sorted(
        record for record in {*known[1], *records} if known[1].get(record) != records.get(record)
    )
    if changed:
        return f"records changed: {', '.join(changed)}"
    return None if known[0] == paths_ else "it cites other paths"


def file_names(name: str) -> list[str]:
    """The files of one figure, the description last."""
    drawings = [f"{name}.{language}.{width}.svg" for language in LANGUAGES for width in WIDTHS]
    return [f"{name}.csv", *drawings, f"{name}.json"]


def remove_unknown() -> list[Path]:
    """Delete the files of figures that no longer exist; returns what was deleted."""
    known = {file for name in figure_names() for file in file_names(name)}
    unknown = [
        path
        for path in sorted(paths.DRAWN.glob("*.*"))
        if path.suffix in (".svg", ".csv", ".json") and path.name not in known
    ]
    for path in unknown:
        path.unlink()
    return unknown


def csv_text(rows: Iterable[Row]) -> str:
    """The rows as CSV: a header, then values at full precision; a missing value is empty."""
    listed = list(rows)
    if not listed:
        raise FigureError("a figure has no rows")
    columns = list(listed[0])
    uneven = next((row for row in listed if list(row) != columns), None)
    if uneven is not None:
        raise FigureError(f"rows of a figure differ in their columns: {columns} and {list(uneven)}")
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(columns)
    for row in listed:
        writer.writerow([_cell(row[column]) for column in columns])
    return buffer.getvalue()


def source_digest(name: str) -> str:
    """A digest of everything but records that decides how a figure looks."""
    helpers = {path.stem for path in FOLDER.glob("*.py")} - set(figure_names())
    sources = [FOLDER / f"{stem}.py" for stem in sorted(helpers)]
    sources += [source_of(name), *_OTHER_SOURCES]
    sources += [fonts_module.source(weight) for weight in fonts_module.STYLES]
    digest = hashlib.sha256()
    for path in sources:
        digest.update(path.name.encode() + b"\0")
        digest.update(path.read_bytes() if path.is_file() else b"")
    for package in _DRAWN_BY:
        digest.update(f"{package} {version(package)}\n".encode())
    return digest.hexdigest()


def _read(name: str, book: Book) -> tuple[list[Row], list[str], dict[str, str]]:
    """The rows of a figure, the paths it cites, and the hash of every record behind them."""
    cited: Any = book.cited
    before = set(cited)
    cited.clear()
    try:
        rows = load_figure(name).data(book)
        paths_ = sorted(cast("set[str]", cited))
        records = {record.id: record.hash for path in paths_ for record in book.get(path).records}
    finally:
        cited |= before
    return rows, paths_, dict(sorted(records.items()))


def _cell(value: object) -> object:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value) if isinstance(value, float) else value


def _write(target: Path, content: str) -> Path:
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, part = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(part, 0o644)
        os.replace(part, target)
    except BaseException:
        Path(part).unlink(missing_ok=True)
        raise
    return target
