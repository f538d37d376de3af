"""A finished toy book, to be copied, changed and cloned."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.workflow.toy import FILES, RUNS, Book

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Book:
    """A book whose records are committed and whose site is built. Copied, never changed."""
    root = tmp_path_factory.mktemp("finished")
    for name in ("engine", "profiles"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "Snakefile", root)
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text.lstrip("\n"))
    book = Book(root)
    book.git("init", "--quiet")
    first = book.snakemake()
    assert first.status == 0, first.said
    assert first.measured == [f"run {run}" for run in RUNS]
    book.git("add", "--all")
    book.git("commit", "--quiet", "--message", "toy")
    return book


@pytest.fixture
def book(finished: Book, tmp_path: Path) -> Book:
    """The finished book, to be changed."""
    shutil.copytree(finished.root, tmp_path / "book", symlinks=True)
    return Book(tmp_path / "book")


@pytest.fixture
def clone(finished: Book, tmp_path: Path) -> Callable[[], Book]:
    """A fresh clone: nothing but what is committed."""

    def make() -> Book:
        finished.git("clone", "--quiet", str(finished.root), str(tmp_path / "clone"))
        return Book(tmp_path / "clone")

    return make
