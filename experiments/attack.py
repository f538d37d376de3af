"""How often was the book attacked, and how often did it notice?

Appendix. In: what the attacks of tests/attack counted (experiments/attack.json, written by
`python -m tests.attack --write`). Out: for each kind of attack how many there were and how many
were noticed, the sums of each family, and the sum of all that should have been noticed.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.session import Run

COUNTS = Path(__file__).with_name("attack.json")


@dataclass(frozen=True)
class Settings:
    """Families that are no attacks: harmless changes, and pages that are only read."""

    harmless: tuple[str, ...] = ("still", "reader")


FULL = Settings()
SMOKE = Settings()
DEVICE = "cpu"
INPUTS = ("experiments/attack.json",)
UNITS = {"attacked": "attempts", "caught": "attempts"}


def measure(settings: Settings, run: Run) -> Mapping[str, Any]:
    """Counts by family and kind: "records.edited" is the kind `edited` of the family `records`."""
    counted = json.loads(COUNTS.read_text(encoding="utf-8"))
    families: dict[str, dict[str, dict[str, int]]] = {}
    for module in counted["modules"].values():
        for name, counts in module["counts"].items():
            family, kind = name.split(".")
            families.setdefault(family, {})[kind] = counts
    sums = {family: added(kinds.values()) for family, kinds in families.items()}
    attacks = [sums[family] for family in sums if family not in settings.harmless]
    return {
        "draws_from": counted["seed"],
        "all": added(attacks),
        **{family: {"all": sums[family], **kinds} for family, kinds in families.items()},
    }


def added(counts: Any) -> dict[str, int]:
    every = list(counts)
    return {what: sum(one[what] for one in every) for what in ("attacked", "caught")}
