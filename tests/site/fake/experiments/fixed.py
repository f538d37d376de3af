"""What does a value without a seed look like? Invented, for the tests of the site."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Settings:
    """Nothing to set."""

    width: int = 4


FULL = Settings()
SMOKE = Settings()


def measure(settings: Settings, run: Any) -> Mapping[str, Any]:
    """Nothing is measured."""
    return {"count": 21, "tiny": 1.78e-7, "lines": "␣no telhado\n␣no muro"}
