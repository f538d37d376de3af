"""How is the book attacked, and how do the counts reach its appendix?

    python -m tests.attack            every attack; then: are the committed counts of these attacks?
    python -m tests.attack --write    every attack; then its counts are what the appendix shows

In: the tests of this folder. Out: build/attack/*.json, a file per kind of attack, and with --write
experiments/attack.json, from which `python -m experiments run attack/all` makes the record. Exit
status 0, or 1 if anything went unnoticed, or if the committed counts are of other attacks.
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

from engine import paths
from tests.attack.tally import FOLDER

COMMITTED = paths.ROOT / "experiments" / "attack.json"
HERE = Path(__file__).parent


def main(arguments: list[str]) -> int:
    if arguments not in ([], ["--write"]):
        print("usage: python -m tests.attack [--write]", file=sys.stderr)
        return 1
    shutil.rmtree(FOLDER, ignore_errors=True)
    run = [sys.executable, "-m", "pytest", "--numprocesses", "auto", "--dist", "loadgroup"]
    status = subprocess.run([*run, str(HERE)], cwd=paths.ROOT, check=False).returncode
    if status:
        return 1
    counts = gathered()
    if arguments:
        text = json.dumps({"suite": suite(), "counts": counts}, indent=1)
        COMMITTED.write_text(text + "\n", encoding="utf-8")
        print(f"{paths.shown(COMMITTED)} is written; then: python -m experiments run attack/all")
        return 0
    problem = compared(counts)
    if problem:
        print(problem, file=sys.stderr)
    return 1 if problem else 0


def gathered() -> dict[str, dict[str, int]]:
    """The counts by kind; the parts of one kind that ran side by side are one."""
    counts: dict[str, dict[str, int]] = {}
    for path in sorted(FOLDER.glob("*.json")):
        found = json.loads(path.read_text(encoding="utf-8"))
        kind = counts.setdefault(re.sub(r"_\d+$", "", path.stem), {"attacked": 0, "caught": 0})
        for name, count in found.items():
            kind[name] += count
    return counts


def suite() -> str:
    """A digest of the attacks themselves, comments and layout aside."""
    digest = hashlib.sha256()
    for path in sorted(HERE.glob("*.py")):
        digest.update(ast.unparse(ast.parse(path.read_text(encoding="utf-8"))).encode())
    digest.update((HERE / "mutations.toml").read_bytes())
    return digest.hexdigest()


def compared(counts: dict[str, dict[str, int]]) -> str:
    """What the committed counts are wrong about; "" if they are of these attacks.

    How many numbers there are to attack changes with every chapter: the appendix gives a date.
    """
    mend = "then: python -m tests.attack --write"
    if not COMMITTED.is_file():
        return f"{paths.shown(COMMITTED)} is not there; {mend}"
    committed = json.loads(COMMITTED.read_text(encoding="utf-8"))
    if committed["suite"] != suite() or set(committed["counts"]) != set(counts):
        return f"{paths.shown(COMMITTED)} was counted by other attacks; {mend}"
    for kind, found in counts.items():
        if found != committed["counts"][kind]:
            print(f"{kind}: {found}, where the appendix still has {committed['counts'][kind]}")
    return ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
