"""Is what cannot be tested on a machine named with its reason, and does CI allow none of it?"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CORPUS = "import pytest\n\n\n@pytest.mark.corpus\ndef test_text(): ...\n\n\ndef test_rest(): ...\n"
GROUPS = """
import os, pytest
@pytest.mark.parametrize("i", range(9))
@pytest.mark.xdist_group("all")
def test_one(i): print("process", os.getpid())
@pytest.mark.xdist_group("all")
def test_two(): print("process", os.getpid())
def test_alone(): ...
"""
SKIP = "import pytest\n\n\ndef test_rest(): pytest.skip('no reason')\n"


def outcome(tmp_path: Path, tests: str, *arguments: str, **environment: str) -> tuple[int, str]:
    (tmp_path / "tests").mkdir()
    shutil.copy(ROOT / "tests" / "conftest.py", tmp_path / "tests")
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (tmp_path / "tests" / "test_it.py").write_text(tests)
    inherited = {k: v for k, v in os.environ.items() if k not in ("MEDIDA_CI", "MEDIDA_DATA")}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments],
        cwd=tmp_path,
        env=inherited | environment,
        capture_output=True,
        text=True,
    )
    return done.returncode, done.stdout


@pytest.mark.parametrize("workers", [[], ["-n", "2"]], ids=["alone", "in workers"])
def test_without_the_text_its_tests_are_left_out_by_name(
    tmp_path: Path, workers: list[str]
) -> None:
    status, said = outcome(tmp_path, CORPUS, *workers)
    assert status == 0
    assert "tests/test_it.py::test_text: tinyshakespeare.txt is not in data/" in said
    assert "1 passed" in said


@pytest.mark.parametrize("workers", [[], ["-n", "2"]], ids=["alone", "in workers"])
def test_in_ci_that_fails(tmp_path: Path, workers: list[str]) -> None:
    status, said = outcome(tmp_path, CORPUS, *workers, MEDIDA_CI="1")
    assert status == 1
    assert "not allowed in CI" in said


def test_in_ci_a_skip_fails(tmp_path: Path) -> None:
    status, said = outcome(tmp_path, SKIP, MEDIDA_CI="1")
    assert status == 1
    assert "test_rest: Skipped: no reason" in said


def test_with_the_text_nothing_is_left_out(tmp_path: Path) -> None:
    data = tmp_path / "elsewhere"
    data.mkdir()
    (data / "tinyshakespeare.txt").write_text("")
    status, said = outcome(tmp_path, CORPUS, MEDIDA_CI="1", MEDIDA_DATA=str(data))
    assert (status, "2 passed" in said) == (0, True), said


def test_a_group_of_tests_shares_a_worker(tmp_path: Path) -> None:
    """Else each worker would build the site that they share."""
    status, said = outcome(tmp_path, GROUPS, "-n", "3", "--dist", "loadgroup", "-rP")
    assert (status, "11 passed" in said) == (0, True), said
    processes = [line for line in said.splitlines() if line.startswith("process ")]
    assert (len(processes), len(set(processes))) == (10, 1)
