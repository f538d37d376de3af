"""How often was the book attacked, and how often was it caught?

`python -m tests.attack` (tests/attack/__main__.py) runs every attack and gathers what each of them
counted; experiments/attack.py makes a record of it, and the appendix a page.
In: what an attack counts while it runs. Out: one small file per kind, in a folder per module of
build/attack/.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

from engine import paths

FOLDER = paths.ROOT / "build" / "attack"
UNNOTICED = "not noticed:"  # how a test begins that failed for this alone
SEED = 20261129  # of every draw of the attacks, with the name of the test


@dataclass
class Tally:
    """The attacks of one kind, such as "records.edited": how many, and which were not noticed."""

    kind: str
    attacked: int = 0
    missed: list[str] = field(default_factory=list[str])

    def count(self, noticed: object, what: object = "") -> None:
        """One attack; whether anything noticed it, and how to name it if nothing did."""
        self.attacked += 1
        if not noticed:
            self.missed.append(str(what))

    def add(self, attacked: int) -> None:
        """Attacks that were all noticed: what was not is counted one by one."""
        self.attacked += attacked

    def write(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        counted = {"attacked": self.attacked, "caught": self.attacked - len(self.missed)}
        (folder / f"{self.kind}.json").write_text(json.dumps(counted) + "\n", encoding="utf-8")
