"""Where do things lie?

Importing this module does nothing but read one environment variable, MEDIDA_SETTINGS: "full" (the
default: the book) or "smoke" (every experiment in seconds, below build/smoke, touching no record).
"""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

CHAPTERS = ROOT / "chapters"
EXPERIMENTS = ROOT / "experiments"
FIGURES = ROOT / "figures"
MODEL = ROOT / "model"
TEMPLATES = ROOT / "templates"
WEB = ROOT / "web"

SETTINGS = os.environ.get("MEDIDA_SETTINGS", "") or "full"  # judged where it is used, not here


def build_of(settings: str) -> Path:
    """The folder of everything generated under these settings."""
    return ROOT / "build" if settings == "full" else ROOT / "build" / "smoke"


def results_of(settings: str) -> Path:
    """The folder of the records of these settings: committed ones, or throw-away ones."""
    if settings == SETTINGS:
        return RESULTS
    return ROOT / "results" if settings == "full" else build_of(settings) / "results"


BUILD = build_of(SETTINGS)
RESULTS = ROOT / "results" if SETTINGS == "full" else BUILD / "results"
SITE = BUILD / "site"
DRAWN = BUILD / "figures"


def shown(path: Path) -> str:
    """The path as a reader should see it: from the repository's root where it lies below it."""
    try:
        return path.resolve().relative_to(ROOT.resolve()).as_posix()
    except (OSError, ValueError, RuntimeError):  # RuntimeError: links in a circle
        return path.as_posix()
