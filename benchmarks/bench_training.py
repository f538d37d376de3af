"""How many tokens a second does the whole machine train, our way and the others' ways?

`make bench` runs this. Each way keeps all cores busy: two processes with one thread each (on two
cores), or one process with as many threads as there are cores; the `norm` rung of the ladder. All
ways are warm from the start and take their steps in turn, round after round, so that a machine that
slows down for a while slows all of them. The table (conftest.py) gives each way's throughput beside
the best of the others and as a share of two ceilings: the step's own matrix products, and as many
operations in square ones.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from benchmarks.contestant import SETTINGS

CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
STEPS = 12
ROUNDS = 5
TOKENS = SETTINGS.batch * SETTINGS.context * STEPS

CONTESTS = {
    f"{way} {processes}x{threads}": (way, processes, threads)
    for way, shapes in (
        ("ours", [(CORES, 1)]),
        ("plain", [(CORES, 1), (1, CORES)]),
        ("compiled", [(CORES, 1), (1, CORES)]),
        ("gpt2", [(CORES, 1), (1, CORES)]),
        ("x_transformers", [(CORES, 1), (1, CORES)]),
        ("products", [(CORES, 1)]),
        ("squares", [(CORES, 1)]),
    )
    for processes, threads in shapes
}


@pytest.fixture(scope="module")
def warm() -> Iterator[dict[str, list[subprocess.Popen[str]]]]:
    """The processes of every way; they wait for their steps."""
    started = {name: start(*contest) for name, contest in CONTESTS.items()}
    try:
        for name, children in started.items():
            for child in children:
                assert child.stdout is not None
                assert child.stderr is not None
                if child.stdout.readline().strip() != "warm":
                    pytest.fail(f"{name} did not start: {child.stderr.read()[-400:]}")
        yield started
    finally:
        for children in started.values():
            for child in children:
                child.kill()
                child.wait()


def start(way: str, processes: int, threads: int) -> list[subprocess.Popen[str]]:
    """Processes of one way, side by side."""
    environment = os.environ | {"OMP_NUM_THREADS": str(threads)}
    command = [sys.executable, "-m", "benchmarks.contestant", way, str(threads)]
    return [
        subprocess.Popen(command, env=environment, text=True, stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(processes)
    ]  # fmt: skip


def take_steps(children: list[subprocess.Popen[str]]) -> None:
    """All of them take their steps at once; ends when the last is done."""
    for child in children:
        assert child.stdin is not None
        child.stdin.write(f"{STEPS}\n")
        child.stdin.flush()
    for child in children:
        assert child.stdout is not None
        assert child.stdout.readline().strip() == "done"


@pytest.mark.parametrize(
    ("turn", "name"),
    [(turn, name) for turn in range(1, ROUNDS + 1) for name in CONTESTS],
)
def test_training(
    benchmark: Any, warm: dict[str, list[subprocess.Popen[str]]], turn: int, name: str
) -> None:
    benchmark.pedantic(take_steps, args=(warm[name],), rounds=1)
    rate = len(warm[name]) * TOKENS / benchmark.stats["median"]
    benchmark.extra_info.update(way=name, turn=turn, tokens_per_second=rate)
