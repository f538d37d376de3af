"""How is `python -m experiments` called a hundred times without importing PyTorch a hundred times?

    done = call(folder, "run", "averages/none.s0")

One process has PyTorch, and all that it imports for a first step. Each call is a child of it that
becomes the command: the folder's own modules are imported for the first time, and it ends as any
interpreter does.
"""

from __future__ import annotations

import functools
import json
import os
import runpy
import select
import subprocess
import sys
import tempfile
from pathlib import Path

PATIENCE = 600  # seconds that a command may take


def call(
    folder: Path, *words: str, check: int = 0, **environment: str
) -> subprocess.CompletedProcess[str]:
    """`python -m experiments *words` in a folder, at smoke settings; it must end with `check`."""
    with tempfile.TemporaryDirectory() as said:
        asked = {
            "folder": str(folder),
            "words": ["experiments", *words],
            "environment": os.environ | {"MEDIDA_SETTINGS": "smoke"} | ONE_THREAD | environment,
            "said": [f"{said}/out", f"{said}/err"],
        }
        of = server()
        assert of.stdin is not None
        assert of.stdout is not None
        of.stdin.write(json.dumps(asked) + "\n")
        of.stdin.flush()
        assert select.select([of.stdout], [], [], PATIENCE)[0], f"{words} does not end"
        status = int(of.stdout.readline())
        out, err = (Path(name).read_text(encoding="utf-8") for name in asked["said"])
    assert status == check, err
    return subprocess.CompletedProcess(words, status, out, err)


ONE_THREAD = {"OMP_NUM_THREADS": "1"}


@functools.cache
def server() -> subprocess.Popen[str]:
    """One for each process that runs tests; it ends with it, when nothing more can be asked."""
    return subprocess.Popen(
        [sys.executable, __file__],
        env=os.environ | ONE_THREAD,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )


def serve() -> None:
    """Answer each line with how its command ended; in the child, be that command."""
    import torch

    torch.set_num_threads(1)
    torch.optim.AdamW([torch.nn.Parameter(torch.ones(1))])  # imports the rest
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            return become(**json.loads(line))
        _, how = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(how), flush=True)


def become(folder: str, words: list[str], environment: dict[str, str], said: list[str]) -> None:
    for stream, name in enumerate([os.devnull, *said]):
        os.dup2(os.open(name, os.O_RDWR | os.O_CREAT), stream)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.path[0] = folder
    sys.argv = words
    runpy.run_module("experiments", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    serve()
