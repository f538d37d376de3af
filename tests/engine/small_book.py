"""A book of three small experiments, in a folder of its own, for the tests of the engine."""

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from typing import Any

from engine import provenance, record
from engine.declaration import RunSpec, run_spec

CPU = {"kind": "cpu", "name": "A processor", "threads": 1}
GPU = {"kind": "cuda", "name": "A card", "threads": 1}

FILES = {
    "model/__init__.py": "",
    "model/corpus.py": """
        \"\"\"Where is the text?\"\"\"
        import hashlib
        SHA256 = "86c4e6aa"
        def load() -> str:
            return hashlib.sha256().hexdigest()
    """,
    "model/settings.py": """
        from dataclasses import dataclass
        from typing import ClassVar
        @dataclass(frozen=True)
        class LanguageModelSettings:
            kinds: ClassVar[int] = 2
            model: str = ""
            width: int = 128
            steps: int = 3000
            rate: float = 1e-3
            tied: bool = False
            windows: tuple[int, ...] = (64, 128)
            @property
            def wide(self) -> int:
                return self.width * 4
    """,
    "model/attention.py": """
        \"\"\"What is a head?\"\"\"
        from math import sqrt
        NEGATIVE = -1e9
        def scale(width: int) -> float:
            \"\"\"One over the root.\"\"\"
            return 1 / sqrt(width)
        class Head:
            \"\"\"A head.\"\"\"
            bias = False
            def __init__(self, width: int) -> None:
                self.width = width
            def forward(self, x: float) -> float:
                scores = [x * scale(self.width) for _ in range(3)]  # (3,)
                return max(scores, default=NEGATIVE)
            def unused(self) -> None:
                pass
        def elsewhere() -> int:
            return 1
    """,
    "model/rungs.py": """
        from model.attention import Head
        class TokenOnly:
            def forward(self, x: float) -> float:
                return x
        class WithHead(TokenOnly):
            def forward(self, x: float) -> float:
                return Head(2).forward(x)
        class Bare(TokenOnly):
            flag = 1
    """,
    "model/train.py": """
        def train(steps: int) -> float:
            loss = 1.0
            for step in range(steps):
                loss = loss * rate(step)
            return loss
        def rate(step: int) -> float:
            return 0.5
    """,
    "experiments/__init__.py": "",
    "experiments/session.py": """
        from model import corpus
        class Run:
            def text(self) -> str:
                return corpus.load()
    """,
    "experiments/averages.py": """
        \"\"\"Does the mean help?

        More words.
        \"\"\"
        from dataclasses import dataclass
        from experiments.session import Run
        from model.settings import LanguageModelSettings
        from model.train import train
        @dataclass(frozen=True)
        class Settings(LanguageModelSettings):
            smoothing: float = 1
        FULL = Settings(steps=3000)
        SMOKE = Settings(steps=6, width=16)
        ROWS = {
            "none": {"model": "model.rungs:TokenOnly"},
            "head": {"model": "model.rungs:WithHead", "width": 64},
            "bigram": {},
        }
        SMOKE_ROWS = {"head": {"width": 4}}
        SEEDS = {"none": (0, 1, 2), "head": (0, 1)}
        TRAINED = ("none", "head")
        INPUTS = ("corpus", "experiments/toy.json")
        UNITS = {"*perplexity": "perplexity", "*_ms": "ms"}
        NONFINITE = ("odd.*",)
        ALIASES = {"ladder.none": "averages.none"}
        def measure(settings: Settings, run: Run) -> dict[str, float]:
            run.text()
            return {"a": train(settings.steps)}
    """,
    "experiments/timing.py": """
        \"\"\"How long does it take?\"\"\"
        from dataclasses import dataclass
        @dataclass(frozen=True)
        class Settings:
            n: int = 8
        FULL = Settings()
        UNITS = {"*_ms": "ms"}
        MACHINE_DEPENDENT = ("*_ms",)
        THREADS = 2
        DEVICE = "cpu"
        def measure(settings: Settings, run: object) -> dict[str, float]:
            return {"a_ms": 1.0}
    """,
    "experiments/shuffle.py": """
        \"\"\"Does order matter?\"\"\"
        from dataclasses import dataclass
        @dataclass(frozen=True)
        class Settings:
            n: int = 8
        FULL = Settings()
        SEEDS = (0, 1)
        def measure(settings: Settings, run: object) -> dict[str, float]:
            return {"max_abs_diff": 0.0}
    """,
    "experiments/toy.json": "{}",
}


@dataclass
class Tree:
    """A small book on disk."""

    root: Path

    def write(self, name: str, text: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text), encoding="utf-8")
        return path

    def replace(self, name: str, before: str, after: str) -> None:
        text = (self.root / name).read_text(encoding="utf-8")
        assert before in text
        (self.root / name).write_text(text.replace(before, after), encoding="utf-8")

    def remove(self, name: str) -> None:
        path = self.root / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()

    def record(
        self,
        run: str,
        values: Mapping[str, Any],
        *,
        device: Mapping[str, object] = CPU,
        seconds: float = 2.0,
        settings: str | None = None,
    ) -> Path:
        """Write the record of a run as if it had been measured."""
        spec: RunSpec = run_spec(run, settings)
        replay = None
        if spec.trained:
            replay = {
                "losses": [5.0, 4.0, 3.0, 2.0, 1.0],
                "values": {"perplexity": 9.0},
                "tolerance": 1e-4,
                "device_tolerance": 1e-2,
            }
        return record.write_record(
            spec,
            values,
            replay=replay,
            fingerprint=provenance.fingerprint(spec),
            device=device,
            seconds=seconds,
        )


def lay(root: Path, point: Callable[[str, Any], None]) -> Tree:
    """Write the small book below `root` and point the engine's folders there."""
    tree = Tree(root)
    for name, text in FILES.items():
        tree.write(name, text)
    (root / "chapters").mkdir()
    point_folders(root, point)
    return tree


def point_folders(root: Path, point: Callable[[str, Any], None]) -> None:
    """Point the engine's folders below `root`."""
    for name in ("CHAPTERS", "EXPERIMENTS", "FIGURES", "TEMPLATES", "MODEL", "WEB"):
        point(name, root / name.lower())
    point("ROOT", root)
    point("SETTINGS", "full")
    point("BUILD", root / "build")
    point("RESULTS", root / "results")
