"""How many tokens a second does the whole machine train, our way and the others' ways?

`make bench` runs this. Each way keeps all cores busy: two processes with one thread each (on two
cores), or one process with as many threads as there are cores; all in turn within one run, the
`norm` rung of the ladder. The table gives each way's throughput beside the best of the others and
as a share of what the machine's own matrix products would allow.
"""

import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import pytest

from benchmarks.contestant import SETTINGS

CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
STEPS = 12
ROUNDS = 5
TOKENS = SETTINGS.batch * SETTINGS.context * STEPS

CONTESTS = [
    ("ours", CORES, 1),
    ("plain", CORES, 1),
    ("plain", 1, CORES),
    ("compiled", CORES, 1),
    ("compiled", 1, CORES),
    ("gpt2", CORES, 1),
    ("gpt2", 1, CORES),
    ("x_transformers", CORES, 1),
    ("x_transformers", 1, CORES),
    ("products", CORES, 1),
]


@contextmanager
def contestants(way: str, processes: int, threads: int) -> Generator[list[subprocess.Popen[str]]]:
    """Warm processes, side by side, that wait for their steps."""
    environment = os.environ | {"OMP_NUM_THREADS": str(threads)}
    command = [sys.executable, "-m", "benchmarks.contestant", way, str(threads)]
    started = [
        subprocess.Popen(command, env=environment, text=True, stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(processes)
    ]  # fmt: skip
    try:
        for child in started:
            assert child.stdout is not None
            assert child.stderr is not None
            if child.stdout.readline().strip() != "warm":
                pytest.fail(f"{way} did not start: {child.stderr.read()[-400:]}")
        yield started
    finally:
        for child in started:
            child.kill()
            child.wait()


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
    ("way", "processes", "threads"), CONTESTS, ids=[f"{w}-{p}x{t}" for w, p, t in CONTESTS]
)
def test_training(benchmark: Any, way: str, processes: int, threads: int) -> None:
    with contestants(way, processes, threads) as children:
        benchmark.pedantic(take_steps, args=(children,), rounds=ROUNDS)
    benchmark.extra_info["tokens_per_second"] = processes * TOKENS / benchmark.stats["median"]
