"""How is the book attacked, and how do the counts reach its appendix?

    python -m tests.attack                      every attack
    python -m tests.attack claims pages         those of tests/attack/test_claims.py, test_pages.py
    python -m tests.attack --write [claims …]   the same; their counts are what the appendix shows

In: the tests of this folder. Out: build/attack/*/*.json, a file per kind of attack, and with
--write experiments/attack.json, from which `python -m experiments run attack/all` makes the record:
counts per module, each beside a digest of the attacks that were counted, so that a module that is
changed and not counted again is found without any attack (tests/book/test_attack_counts.py).
Exit status 0, or 1 if anything failed or went unnoticed. What went unnoticed is written down too.
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from engine import paths
from tests.attack.tally import FOLDER, SEED, UNNOTICED

COMMITTED = paths.ROOT / "experiments" / "attack.json"
HERE = Path(__file__).parent
LONGEST = (  # first, so that no process is left with a long one at the end
    "reader", "pages", "security", "records", "faults", "code", "templates", "inputs", "claims",
)  # fmt: skip
ALWAYS = ("conftest.py", "tally.py")  # part of every module's attacks


def main(arguments: list[str]) -> int:
    write = "--write" in arguments
    names = [name for name in arguments if name != "--write"] or modules()
    unknown = sorted(set(names) - set(modules()))
    if unknown:
        print(f"no attacks named {', '.join(unknown)}; {' '.join(modules())}", file=sys.stderr)
        return 1
    for name in names:
        shutil.rmtree(FOLDER / f"test_{name}", ignore_errors=True)
    FOLDER.mkdir(parents=True, exist_ok=True)
    said = FOLDER / "said.xml"
    run = [sys.executable, "-m", "pytest", "--numprocesses", "auto", "--dist", "loadgroup"]
    run += ["--no-loadscope-reorder"]  # in the order of the files
    files = [str(HERE / f"test_{name}.py") for name in sorted(names, key=rank)]
    status = subprocess.run(
        [*run, "--durations", "0", "--durations-min", "5", "--junitxml", str(said), *files],
        cwd=paths.ROOT,
        check=False,
    ).returncode
    counts = {name: counted(name) for name in names}
    if write and may_be_written(status, said):
        committed = read() if COMMITTED.is_file() else {}
        new = {name: {"suite": suite(name), "counts": counts[name]} for name in names}
        kept = {name: committed[name] for name in modules() if name in committed}
        store({name: (kept | new)[name] for name in modules() if name in kept | new})
        print(f"{paths.shown(COMMITTED)} is written; then: python -m experiments run attack/all")
    elif not status:
        compare(counts)
    return 1 if status else 0


def rank(name: str) -> int:
    return (*LONGEST, name).index(name)


def modules() -> list[str]:
    """The modules of attacks, by the name of each without its test_."""
    return sorted(path.stem.removeprefix("test_") for path in HERE.glob("test_*.py"))


def counted(name: str) -> dict[str, dict[str, int]]:
    """What a module counted, by kind; the parts of a kind that ran side by side are one."""
    counts: dict[str, dict[str, int]] = {}
    for path in sorted((FOLDER / f"test_{name}").glob("*.json")):
        kind = counts.setdefault(re.sub(r"_\d+$", "", path.stem), {"attacked": 0, "caught": 0})
        for what, count in json.loads(path.read_text(encoding="utf-8")).items():
            kind[what] += count
    return counts


def may_be_written(status: int, said: Path) -> bool:
    """Whether every attack was carried out: nothing failed but for what went unnoticed."""
    if status not in (0, 1) or not said.is_file():
        return False
    failed = [
        f"{problem.get('message', '')}\n{problem.text}"
        for case in ElementTree.parse(said).iter("testcase")
        for problem in case
        if problem.tag in ("failure", "error")
    ]
    return all(UNNOTICED in text for text in failed)


def suite(name: str) -> str:
    """A digest of a module's attacks and of what it uses from this folder; not of the layout."""
    text = (HERE / f"test_{name}.py").read_text(encoding="utf-8")
    helpers = [p for p in HERE.iterdir() if p.suffix in (".py", ".toml") and is_used(p, text)]
    digest = hashlib.sha256()
    for path in [HERE / f"test_{name}.py", *sorted(helpers)]:
        content = path.read_text(encoding="utf-8")
        table = tomllib.loads(content) if path.suffix == ".toml" else {}
        digest.update((json.dumps(table) if table else ast.unparse(ast.parse(content))).encode())
    return digest.hexdigest()


def is_used(helper: Path, by: str) -> bool:
    if helper.name.startswith(("test_", "__")):
        return False
    named = (f"tests.attack.{helper.stem}", f'"{helper.name}"', f"import {helper.stem}")
    return helper.name in ALWAYS or any(one in by for one in named)


def read() -> dict[str, Any]:
    return json.loads(COMMITTED.read_text(encoding="utf-8"))["modules"]


def store(by_module: dict[str, Any]) -> None:
    content = {"seed": SEED, "modules": by_module}
    COMMITTED.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def stale() -> list[str]:
    """Why the committed counts are not of these attacks, a line a module."""
    if not COMMITTED.is_file():
        return [f"{paths.shown(COMMITTED)} is not there; python -m tests.attack --write"]
    committed, mend = read(), "python -m tests.attack --write"
    found = [f"{name}: not counted; {mend} {name}" for name in modules() if name not in committed]
    found += [f"{name}: there are no such attacks" for name in committed if name not in modules()]
    for name in set(modules()) & set(committed):
        if committed[name]["suite"] != suite(name):
            found.append(f"{name}: the counts are of other attacks; {mend} {name}")
    return sorted(found)


def compare(counts: dict[str, dict[str, dict[str, int]]]) -> None:
    """How many numbers there are to attack changes with each chapter: said, and no mistake."""
    committed = read() if COMMITTED.is_file() else {}
    for name, found in counts.items():
        old = committed.get(name, {}).get("counts", {})
        for kind in found:
            if found[kind] != old.get(kind):
                print(f"{kind}: {found[kind]}, where the appendix has {old.get(kind)}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
