"""Does the appendix on attacks show what the attacks of this tree counted, all of it?

The attacks themselves take long (`make attack`); that their counts are of other attacks is found
here, without any.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engine import paths
from engine.chapters import LANGUAGES
from tests.attack import __main__ as attacks


def test_the_counts_are_of_these_attacks() -> None:
    assert attacks.stale() == []


@pytest.fixture
def committed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    path = tmp_path / "attack.json"
    path.write_bytes(attacks.COMMITTED.read_bytes())
    monkeypatch.setattr(attacks, "COMMITTED", path)
    monkeypatch.setattr(attacks.paths, "shown", str)
    return attacks.read()


def test_counts_of_an_attack_that_changed_are_named(committed: dict[str, Any]) -> None:
    committed["claims"]["suite"] = "0" * 64
    attacks.store(committed)
    (found,) = attacks.stale()
    assert found.startswith("claims: the counts are of other attacks; python -m tests.attack")


def test_attacks_that_are_not_counted_or_no_longer_there_are_named(
    committed: dict[str, Any],
) -> None:
    committed["wishes"] = committed.pop("pages")
    attacks.store(committed)
    assert attacks.stale() == [
        "pages: not counted; python -m tests.attack --write pages",
        "wishes: there are no such attacks",
    ]


def test_no_counts_at_all_are_named(committed: dict[str, Any]) -> None:
    attacks.COMMITTED.unlink()
    (found,) = attacks.stale()
    assert "is not there" in found


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_kind_of_attack_stands_on_the_page(language: str) -> None:
    """By its own name, or in the sum of its family."""
    page = (paths.CHAPTERS / "attack" / f"{language}.md.j2").read_text(encoding="utf-8")
    kinds = [kind for module in attacks.read().values() for kind in module["counts"]]
    assert len(kinds) > 40
    missing = [k for k in kinds if f'"{k}"' not in page and f'"{k.split(".")[0]}.all"' not in page]
    assert missing == []


def test_counts_are_counts() -> None:
    content = json.loads(attacks.COMMITTED.read_text(encoding="utf-8"))
    for module in content["modules"].values():
        for kind, counts in module["counts"].items():
            assert 0 <= counts["caught"] <= counts["attacked"] > 0, kind
