"""Are the sources of styles and script in order: types, colours, no fixed host to fetch from?"""

from __future__ import annotations

import json
import re
import subprocess

import pytest

from engine.mathematics import node
from figures import palette as figures_palette
from tests.site.tree import ROOT

WEB = ROOT / "web"
PALETTE: dict[str, list[str]] = json.loads((WEB / "palette.json").read_text(encoding="utf-8"))

TEXT = ("ink", "ink-2", "measured", "source", "fails", "kw")
GROUNDS = ("paper", "raised", "tint")
EXTRA = [("measured", "measured-tint"), ("ink", "measured-tint"), ("ink", "rule")]


def luminance(colour: str) -> float:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("column", [0, 1], ids=["light", "dark"])
def test_every_pair_of_text_and_ground_can_be_read(column: int) -> None:
    pairs = [(text, ground) for text in TEXT for ground in GROUNDS] + EXTRA
    pairs += [("on-lo" if step < 4 else "on-hi", f"s{step}") for step in range(8)]
    weak = {
        pair: round(ratio, 2)
        for pair in pairs
        if (ratio := contrast(PALETTE[pair[0]][column], PALETTE[pair[1]][column])) < 4.5
    }
    assert weak == {}
    for line in ("edge", "c1", "c2", "c3", "c4", "c5"):
        assert contrast(PALETTE[line][column], PALETTE["paper"][column]) >= 3


def test_figures_and_pages_share_one_palette() -> None:
    for token in figures_palette.TOKENS:
        assert PALETTE[token.name] == [token.light, token.dark], token.name


def test_types_hold() -> None:
    tsc = WEB / "node_modules" / "typescript" / "lib" / "tsc.js"
    done = subprocess.run(
        [node(), str(tsc), "--noEmit"], cwd=WEB, capture_output=True, encoding="utf-8"
    )
    assert done.returncode == 0, done.stdout


def test_the_lock_names_no_host_to_fetch_from() -> None:
    lock = (WEB / "package-lock.json").read_text(encoding="utf-8")
    assert '"resolved"' not in lock
    assert not re.search(r'https?://[^"]*\.tgz', lock)
