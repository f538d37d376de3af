"""How is a run started many times without importing PyTorch each time?

    python -m tests.attack.runner TREE

In, a line each on standard input: the arguments of `python -m experiments`, and after which step
and how much later a signal is to come, if any. Out, a line each: the process that does it, and,
when it has ended, how. Each is a child of its own, to be killed; steps are slow, and a checkpoint
is saved after each, so that there is one to go on from.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

PAUSE = 0.1  # seconds a step


def main(tree: Path) -> None:
    sys.path[:] = [str(tree), *(p for p in sys.path if p not in ("", os.getcwd()))]
    os.chdir(tree)
    import torch

    import experiments.__main__ as command
    import experiments.runner
    import experiments.together  # noqa: F401  loaded once, before the forks
    import model.train

    torch.set_num_threads(1)
    model.train.SAVE_EVERY = -1.0
    plain = model.train.fused_loss
    steps: list[float] = []  # of the child: when each began
    asked: dict[str, Any] = {}

    def slow(*given: Any) -> torch.Tensor:
        steps.append(time.monotonic())
        if asked["step"] == len(steps):  # however slow the machine is
            threading.Timer(asked["later"], os.kill, (os.getpid(), asked["by"])).start()
        time.sleep(PAUSE)  # a step long enough to be killed in
        return plain(*given)

    model.train.fused_loss = slow
    for line in sys.stdin:
        asked.update(json.loads(line))
        child = os.fork()
        if child == 0:
            status = 3
            try:
                log = os.open("said", os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
                os.dup2(log, 1)
                os.dup2(log, 2)
                status = command.main(asked["arguments"])
            finally:
                os._exit(status)
        print(json.dumps({"process": child}), flush=True)
        _, how = os.waitpid(child, 0)
        print(json.dumps({"status": os.waitstatus_to_exitcode(how)}), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
