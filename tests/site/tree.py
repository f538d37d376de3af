"""How is a small, invented book built with the engine as it is?

`grow(folder)` copies the engine, the templates and the web sources into `folder`, puts the invented
chapters, experiments and figures of `fake/` beside them and writes their records there: a
repository in small, which the tests may damage as they like.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
FAKE = Path(__file__).parent / "fake"
PYTHON = sys.executable


def plant(tree: Path, *more: str) -> Path:
    """What makes a site of any book, and more folders of this repository."""
    for name in ("engine", "templates", *more):
        shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "web", tree / "web", ignore=shutil.ignore_patterns("node_modules"))
    (tree / "web" / "node_modules").symlink_to(ROOT / "web" / "node_modules")
    for name in ("mkdocs.yml", "mkdocs.en.yml"):
        shutil.copy2(ROOT / name, tree / name)
    return tree


def grow(tree: Path) -> Path:
    plant(tree)
    shutil.copytree(FAKE, tree, dirs_exist_ok=True)
    for package in ("experiments", "model"):
        (tree / package / "__init__.py").write_text("")
    for path in (ROOT / "figures").glob("*.py"):
        if "\ndef draw(" not in path.read_text(encoding="utf-8"):
            shutil.copy2(path, tree / "figures" / path.name)
    python(tree, "write_records.py")
    python(tree, "-m", "figures", "draw", "toy_rows")
    return tree


def python(tree: Path, *arguments: str) -> None:
    done = run(tree, [PYTHON, *arguments])
    assert done.returncode == 0, done.stdout + done.stderr


def mkdocs(tree: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """`mkdocs …` as a reader of the book would call it, in that tree."""
    return run(tree, [PYTHON, "-m", "mkdocs", *arguments], **environment)


def run(tree: Path, command: list[str], **environment: str) -> subprocess.CompletedProcess[str]:
    """A command in the tree, which sees no module of this repository's own."""
    return subprocess.run(
        command,
        cwd=tree,
        env=env(tree, **environment),
        capture_output=True,
        encoding="utf-8",
        timeout=1800,
    )


def env(tree: Path, **more: str) -> dict[str, str]:
    return {
        **os.environ,
        "PYTHONPATH": str(tree),
        "NO_MKDOCS_2_WARNING": "1",
        "MEDIDA_SETTINGS": "full",
        **more,
    }
