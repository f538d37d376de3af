"""Which numbers does the book hold, and where does each come from?

In: the pages of one language, rendered. Out: one row per value of a record that any of them shows,
in its text or in a figure: the ledger of the appendix, as HTML and as CSV.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engine import details, marks
from engine.details import Markup, Roots
from engine.errors import MedidaError
from engine.number import spread_parts, unit_name
from engine.quantity import Quantity
from engine.writer import Shared

if TYPE_CHECKING:
    from engine.render import Page

WIDEST = 24  # characters of a value that is a list or a text
ADDRESS = "ledger/ledger.csv"
HEAD = (
    "path", "shown", "value", "spread", "seeds", "unit", "record", "device", "date", "digest",
    "pages",
)  # fmt: skip


@dataclass(frozen=True)
class Row:
    """One value of a record, and the pages that show it. `shown` is how they write it."""

    path: str
    quantity: Quantity
    shown: tuple[str, ...]
    slugs: tuple[str, ...]


def rows(pages: Sequence[Page], shared: Shared) -> list[Row]:
    """A row per leaf of a record; the elements of a list share the row of the list."""
    slugs: dict[str, dict[str, None]] = {}
    shown: dict[str, dict[str, None]] = {}
    for page in pages:
        for path in sorted(page.cited):
            slugs.setdefault(_leaf(path), {})[page.slug] = None
        for number in page.numbers:
            if len(number.quantity.paths) == 1:
                leaf = _leaf(number.quantity.paths[0])
                shown.setdefault(leaf, {})[number.text] = None
    found: list[Row] = []
    for path in sorted(slugs):
        try:
            quantity = shared.book.get(path)
        except MedidaError:
            continue  # the page that cites it has said so
        found.append(Row(path, quantity, tuple(shown.get(path, ())), tuple(slugs[path])))
    return found


def show(found: Iterable[Row], shared: Shared, roots: Roots) -> str:
    """The ledger as a table that a small script filters; complete without it."""
    words, language = shared.words, shared.language
    table: list[dict[str, Any]] = []
    for row in found:
        records = row.quantity.records
        value, spread = _value(row.quantity, shared)
        table.append(
            {
                "path": row.path,
                "experiment": records[0].experiment,
                "what": _unless(shared.labels.of_path(row.path, language), row.path),
                "shown": _shortened(row.shown),
                "value": value,
                "spread": spread,
                "seeds": str(row.quantity.n) if row.quantity.n > 1 else "",
                "unit": unit_name(row.quantity.unit, language),
                "records": [
                    {"id": record.id, "url": roots.site + details.record_url(record)}
                    for record in records
                ],
                "device": "; ".join(
                    dict.fromkeys(details.device_words(record, language) for record in records)
                ),
                "date": details.date_words(max(r.measured_at for r in records), language),
                "digest": " ".join(dict.fromkeys(record.digest[:12] for record in records)),
                "slugs": " ".join(row.slugs),
                "pages": [
                    {
                        "url": roots.language + shared.chapters[slug].url,
                        "name": _short_name(slug, shared),
                    }
                    for slug in row.slugs
                ],
            }
        )
    head = [words[f"ledger_{name}"] for name in HEAD]
    html = str(shared.shapes.ledger(words, head, table, roots.site + ADDRESS))
    return f"\n\n<div data-search-exclude>{shared.mark(marks.RAW, Markup(html.strip()))}</div>\n\n"


def as_csv(found: Iterable[Row]) -> str:
    """The same at full precision, for a spreadsheet: one row per value and seed."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(
        ["path", "seed", "value", "unit", "record", "device", "measured_at", "digest", "pages"]
    )
    for row in found:
        records = {record.seed: record for record in row.quantity.records}
        for seed, value in row.quantity.values.items():
            record = records.get(seed) or row.quantity.records[0]
            device = f"{record.device['kind']} {record.device['name']}"
            measured = [row.path, "" if seed is None else seed, _plain(value), row.quantity.unit]
            where = [record.id, device, record.measured_at, record.digest, " ".join(row.slugs)]
            writer.writerow([*measured, *where])
    return out.getvalue()


def _leaf(path: str) -> str:
    """The value that a path leads into: `toy_block.x` for `toy_block.x.4.3`."""
    parts = path.split(".")
    while len(parts) > 1 and parts[-1].isdigit():
        parts.pop()
    return ".".join(parts)


def _shortened(shown: Sequence[str]) -> str:
    """The forms in which a value appears; of a list or a text its beginning."""
    texts = [text if len(text) <= WIDEST else f"{text[: WIDEST - 1]}…" for text in shown]
    return "; ".join(texts[:3]) + ("; …" if len(texts) > 3 else "")


def _value(quantity: Quantity, shared: Shared) -> tuple[str, str]:
    texts = details.readable(quantity, shared.language)
    several = len(details.numbers(quantity.values.values())) == quantity.n > 1
    if not several:
        return (texts[0] if len(texts[0]) <= WIDEST else f"{texts[0][: WIDEST - 1]}…"), ""
    value, spread = spread_parts(quantity.mean, quantity.std, quantity.n, shared.language, digits=6)
    return value, spread or ""


def _plain(value: object) -> str:
    return value if isinstance(value, str) else repr(value)


def _unless(text: str, same: str) -> str:
    return "" if text == same else text


def _short_name(slug: str, shared: Shared) -> str:
    number = shared.chapters[slug].number
    return shared.titles.get(slug, slug) if number is None else str(number)
