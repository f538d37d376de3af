"""A scratch book: this repository's engine and Snakefile around toy experiments that take no time.

Its programs write what they do into the file `log`, so that a test can say exactly what ran.
"""

import os
import random
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

FILES = {
    "model/__init__.py": '"""A toy."""\n',
    "model/corpus.py": """
SHA256 = "0000000000000000000000000000000000000000000000000000000000000000"

if __name__ == "__main__":
    print("here")
""",
    "model/settings.py": """
from dataclasses import dataclass


@dataclass(frozen=True)
class Common:
    steps: int = 3
""",
    "model/parts.py": """
def double(x: int) -> int:
    return 2 * x


def unused(x: int) -> int:
    return x
""",
    "experiments/__init__.py": '"""Toys."""\n',
    "experiments/session.py": "class Run: ...\n",
    "experiments/toss.py": '''
"""Does a toss depend on nothing?"""

from dataclasses import dataclass

from experiments.session import Run


@dataclass(frozen=True)
class Settings:
    sides: int = 2


FULL = Settings()
SMOKE = Settings(sides=1)
SEEDS = (0, 1)


def measure(settings: Settings, run: Run) -> dict[str, float]:
    return {"value": 1.0 / settings.sides}
''',
    "experiments/walk.py": '''
"""How far does a walk go?"""

from dataclasses import dataclass

from experiments.session import Run
from model.parts import double
from model.settings import Common


@dataclass(frozen=True)
class Settings(Common):
    width: int = 1


FULL = Settings()
SMOKE = Settings(steps=1)
ROWS = {"short": {}, "long": {"steps": 30}}
SEEDS = (0,)
TRAINED = True
INPUTS = ("corpus",)


def measure(settings: Settings, run: Run) -> dict[str, float]:
    return {"value": float(double(settings.steps) * settings.width)}
''',
    "experiments/__main__.py": """
import importlib
import os
import sys
import time

from engine import declaration, provenance, record


def main(command: str, run: str) -> int:
    with open("log", "a", encoding="utf-8") as log:
        log.write(f"{command} {run}\\n")
    spec = declaration.run_spec(run)
    fingerprint = provenance.fingerprint(spec)
    module = importlib.import_module(f"experiments.{spec.experiment}")
    settings = type(module.FULL)(**spec.settings)
    if command == "replay":
        if os.environ.get("TOY_REPLAY_FAILS"):
            return 1
        old = record.read_record(spec.path)
        with provenance.CallTrace() as trace:
            values = module.measure(settings, None)
        if values != dict(old.values) or provenance.uncovered(old, spec, trace.called):
            return 3
        record.reattest(old, spec, fingerprint, 0.0, provenance.machine())
        return 0
    if os.environ.get("TOY_PATIENCE"):
        time.sleep(float(os.environ["TOY_PATIENCE"]))
    values = module.measure(settings, None)
    kept = {"losses": [1.0] * 5, "values": values, "tolerance": 0.0, "device_tolerance": 0.0}
    record.write_record(
        spec,
        values,
        replay=kept if spec.trained else None,
        fingerprint=fingerprint,
        device=provenance.machine(),
        seconds=90.0,
    )
    return 0


words = sys.argv[1 : sys.argv.index("--device") if "--device" in sys.argv else 3]
command, *runs = (word for word in words if not word.startswith("--"))
sys.exit(max(main(command, run) for run in runs))
""",
    "figures/__init__.py": "",
    "figures/__main__.py": """
import sys

from engine import paths

name = sys.argv[2]
with open("log", "a", encoding="utf-8") as log:
    log.write(f"draw {name}\\n")
paths.DRAWN.mkdir(parents=True, exist_ok=True)
(paths.DRAWN / f"{name}.json").write_text('{"paths": []}')
for end in ("csv", "pt.wide.svg", "pt.narrow.svg", "en.wide.svg", "en.narrow.svg"):
    (paths.DRAWN / f"{name}.{end}").write_text(name)
""",
    "figures/coin.py": 'RECORD = "toss.value"\n\n\ndef draw(): ...\n',
    "figures/path.py": 'RECORD = "walk.short.value"\n\n\ndef draw(): ...\n',
    "figures/helper.py": "COLOUR = 1\n",
    "chapters/01-toy/claims.toml": "",
    "templates/words.toml": "",
    "pages/index.md": "# Toy\n",
    "pages/other.md": "# Other\n",
    "mkdocs.yml": "site_name: Toy\ndocs_dir: pages\nsite_dir: build/site\nhooks: [hook.py]\n",
    "hook.py": """
def on_pre_build(config):
    with open("log", "a", encoding="utf-8") as log:
        log.write("site\\n")
""",
    "web/package.json": """
{"name": "toy", "version": "1.0.0", "scripts": {"build": "node build.mjs"}}
""",
    "web/package-lock.json": """
{
  "name": "toy",
  "version": "1.0.0",
  "lockfileVersion": 3,
  "packages": {"": {"name": "toy", "version": "1.0.0"}}
}
""",
    "web/build.mjs": """
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
appendFileSync("../log", "web\\n");
mkdirSync("../build/web/assets", { recursive: true });
for (const name of ["book.css", "book.js"]) writeFileSync(`../build/web/assets/${name}`, "");
""",
    ".gitignore": "/build/\n/.snakemake/\n/log\nnode_modules/\n__pycache__/\n",
}
RUNS = ["toss/s0", "toss/s1", "walk/long.s0", "walk/short.s0"]


@dataclass
class Call:
    """What came of one call of Snakemake: exit status, what it printed, what ran."""

    status: int
    said: str
    ran: list[str]

    def of(self, *programs: str) -> list[str]:
        return [line for line in self.ran if line.split()[0] in programs]

    @property
    def measured(self) -> list[str]:
        return self.of("run", "replay")


@dataclass
class Book:
    """A scratch repository."""

    root: Path

    def start(self, *arguments: str, **environment: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "snakemake", "--cores", "2", *arguments],
            cwd=self.root,
            env={**os.environ, **environment, "PYTHONDONTWRITEBYTECODE": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def snakemake(self, *arguments: str, **environment: str) -> Call:
        (self.root / "log").unlink(missing_ok=True)
        process = self.start(*arguments, **environment)
        said, _ = process.communicate(timeout=1800)
        return Call(process.returncode, said, self.log())

    def log(self) -> list[str]:
        log = self.root / "log"
        return sorted(log.read_text().splitlines()) if log.exists() else []

    def edit(self, name: str, before: str, after: str) -> None:
        path = self.root / name
        text = path.read_text()
        assert before in text
        path.write_text(text.replace(before, after))

    def git(self, *arguments: str) -> str:
        return subprocess.run(
            ["git", "-c", "user.name=toy", "-c", "user.email=toy@example.org", *arguments],
            cwd=self.root,
            check=True,
            capture_output=True,
            text=True,
        ).stdout

    def changed(self) -> list[str]:
        return [line[3:] for line in self.git("status", "--porcelain").splitlines()]

    def record(self, run: str) -> Path:
        return self.root / "results" / f"{run}.json"

    def shuffle_times(self) -> None:
        """Random ages, some of them in the future, as a clone or a wrong clock leaves them."""
        generator = random.Random(1)
        for name in self.git("ls-files").splitlines():
            moment = time.time() + generator.uniform(-1e7, 1e6)
            os.utime(self.root / name, (moment, moment))
