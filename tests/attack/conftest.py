"""Every test in this folder is an attack on the book: `make attack` runs them, `make test` not.

`tally("records.edited")` counts attacks; a test that has one fails if any of them went unnoticed.
`dice` draws where and how a test attacks: the same in every run.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine import paths
from tests.attack.tally import FOLDER, SEED, UNNOTICED, Tally
from tests.site.conftest import Site, free_port, serving

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker("attack")


def pytest_report_header() -> str:
    return f"attack: every draw from the seed {SEED} and the name of its test; hypothesis without"


@pytest.fixture
def dice(request: pytest.FixtureRequest) -> random.Random:
    """What a test throws."""
    return random.Random(f"{SEED} {request.node.name}")


@pytest.fixture
def tally(request: pytest.FixtureRequest) -> Iterator[Callable[[str], Tally]]:
    """Counts by kind, written down when the test ends, whatever its outcome."""
    counted: dict[str, Tally] = {}

    def of(kind: str) -> Tally:
        return counted.setdefault(kind, Tally(kind))

    yield of
    for one in counted.values():
        one.write(FOLDER / request.path.stem)
    missed = [f"{one.kind}: {what}" for one in counted.values() for what in one.missed[:15]]
    if missed:
        pytest.fail("\n".join([UNNOTICED, *missed]), pytrace=False)
    assert all(one.attacked for one in counted.values()), list(counted)


def build(folder: Path, url: str) -> None:
    """The book itself, as its records and chapters stand, built into a folder."""
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=paths.ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1", "SITE_URL": url},
        capture_output=True,
        encoding="utf-8",
    )
    assert built.returncode == 0, built.stdout + built.stderr


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The book, built and served; for tests of one xdist group, so that it is built once."""
    folder, port = tmp_path_factory.mktemp("built"), free_port()
    url = f"http://127.0.0.1:{port}/"
    build(folder, url)
    with serving(folder, port):
        yield Site(paths.ROOT, folder, url)
