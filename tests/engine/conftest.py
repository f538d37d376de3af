"""Fixtures of the engine's tests."""

from pathlib import Path

import pytest
from small_book import Tree, lay

from engine import paths


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tree:
    """A book of three small experiments, where the engine's folders point."""
    return lay(tmp_path, lambda name, value: monkeypatch.setattr(paths, name, value))
