"""Does any unit test, or the replay of any record, notice a change of the code?

    python tests/attack/mutant.py TREE < jobs.json > outcomes.json

In: a copy of the tree, and jobs: a file of it, its changed text, groups of tests and the runs that
may notice. Out: for each job what noticed, or "". PyTorch and all that it imports for its
first step are there once; each job is a child of this process, in which the changed tree is
imported for the first time.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
from pathlib import Path
from typing import Any

PATIENCE = 120  # seconds of computing after which a job counts as noticed: it never ends
SLEEP = 3600  # seconds after which it hangs


def main(tree: Path) -> None:
    sys.dont_write_bytecode = True
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    os.environ.pop("PYTEST_CURRENT_TEST", None)
    os.environ.pop("PYTEST_ADDOPTS", None)
    jobs: list[dict[str, Any]] = json.load(sys.stdin)
    import hypothesis  # noqa: F401  loaded once, before the forks
    import numpy  # noqa: F401  loaded once, before the forks
    import pytest  # noqa: F401  loaded once, before the forks
    import tokenizers  # noqa: F401  loaded once, before the forks
    import torch
    import torch.nn.functional
    import torch.optim

    torch.set_num_threads(1)
    one = torch.nn.Parameter(torch.ones(1))
    one.sum().backward()
    torch.optim.AdamW([one]).step()
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    own = str(Path(__file__).resolve().parent)
    sys.path[:] = [str(tree), *(p for p in sys.path if p not in ("", own, os.getcwd()))]
    os.chdir(tree)
    assert not {"tests", "model", "engine", "experiments"} & set(sys.modules)
    outcomes = []
    for job in jobs:
        path = tree / job["file"]
        whole = path.read_text(encoding="utf-8")
        path.write_text(job["text"], encoding="utf-8")
        try:
            outcomes.append(outcome_of(job))
        finally:
            path.write_text(whole, encoding="utf-8")
    print(json.dumps(outcomes))


def outcome_of(job: dict[str, Any]) -> str:
    """The first test or replay that fails, in a child; "" if none does."""
    tried = [("test", job["tests"]), ("replay", job["runs"])]
    for kind, names in reversed(tried) if job["replay_first"] else tried:
        for name in names:
            child = os.fork()
            if child == 0:
                status = 3
                try:
                    resource.setrlimit(resource.RLIMIT_CPU, (PATIENCE, PATIENCE))
                    signal.alarm(SLEEP)
                    silence()
                    status = passes_tests(name) if kind == "test" else passes_replay(name)
                finally:
                    os._exit(status)
            _, how = os.waitpid(child, 0)
            if how != 0:
                return f"{kind} {name if kind == 'replay' else ' '.join(name)}"
    return ""


def silence() -> None:
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)


def passes_tests(arguments: list[str]) -> int:
    """0 if these tests pass in the tree as it is now."""
    import pytest

    options = ["-x", "-q", "-p", "no:cacheprovider", "-m", "not cuda", "--rootdir", "."]
    return int(pytest.main([*options, *arguments]))


def passes_replay(run: str) -> int:
    """0 if the first steps of a run are still those of its record."""
    from experiments.__main__ import main as experiments

    return experiments(["replay", run, "--device", "cpu"])


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
