"""Where and how does one run take place?

In: a run's name, seed and device. Out: what surrounds a measurement, the same for a full run and
for the short one that a replay repeats: device, threads, checkpoint, progress. Nothing here decides
a value that is recorded; what does lies in `material.py` and is part of every digest.
"""

import ctypes
import hashlib
import os
import sys
import time
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Generator as RandomNumbers

from engine import paths
from engine.plan import duration
from model.corpus import find_corpus, load_corpus
from model.fused_attention import fused_attention
from model.products import faster_products
from model.train import Training


@dataclass
class Run:
    """One run while it takes place.

    `short` is the replay: the first steps, evaluated on a small fixed part of the data. `losses`
    holds the first training losses afterwards, `earlier_seconds` what a checkpoint had cost before.
    `meet`, where several seeds are trained as one batch, trains in place of the loop.
    """

    id: str
    seed: int | None
    device: torch.device
    short: bool = False
    checkpoint: Path | None = None
    generator: RandomNumbers = field(default_factory=RandomNumbers)
    losses: list[float] = field(default_factory=list[float])
    earlier_seconds: float = 0.0
    meet: Callable[..., Training] | None = None

    def apart(self) -> "Run":
        """The same run beside itself: what is initialised in it leaves this one untouched."""
        return Run(self.id, self.seed, self.device, self.short)


def source_text() -> str:
    """The corpus; at smoke settings, where there is none, the book's own chapters."""
    if paths.SETTINGS == "smoke" and find_corpus() is None:
        files = sorted(paths.CHAPTERS.glob("*/*.md.j2"))
        return "\n".join(file.read_text(encoding="utf-8") for file in files)
    return load_corpus()


class Progress:
    """A line on standard error with the time left: rewritten on a terminal, else one a minute."""

    def __init__(self, name: str, short: bool) -> None:
        self.name = name if not short else f"{name} (first steps)"
        self.terminal = sys.stderr.isatty()
        self.every = 1.0 if self.terminal else 60.0
        self.shown = time.monotonic() - self.every

    def __call__(self, step: int, steps: int, loss: float, seconds: float) -> None:
        now = time.monotonic()
        if now - self.shown < self.every and step != steps:
            return
        self.shown = now
        left = duration((steps - step) * seconds)
        line = f"{self.name}: step {step} of {steps}, loss {loss:.3f}, {left} left"
        end = "\n" if step == steps or not self.terminal else ""
        start = "\r\x1b[K" if self.terminal else ""
        print(f"{start}{line}", end=end, file=sys.stderr, flush=True)


def choose_device(wanted: str) -> torch.device:
    """auto: cuda, then mps, then the CPU. Raises ValueError for a device that is not here."""
    here = {
        "cuda": torch.cuda.is_available(),
        "mps": torch.backends.mps.is_available(),
        "cpu": True,
    }
    if wanted == "auto":
        return torch.device(next(name for name, available in here.items() if available))
    if wanted not in here:
        raise ValueError(f"unknown device {wanted!r}: auto, cuda, mps or cpu")
    if not here[wanted]:
        raise ValueError(f"device {wanted} is not here; use --device auto")
    return torch.device(wanted)


def settle(threads: int, device: torch.device) -> None:
    """Deterministic kernels, a fixed number of threads, and memory that is kept between steps.

    By default glibc gives each large tensor back to the system and asks for it again a step later;
    the page faults cost more than the arithmetic they interrupt.
    """
    torch.set_num_threads(threads)
    if device.type == "cuda":
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
        torch.backends.cuda.matmul.allow_tf32 = False
    # Not use_deterministic_algorithms: it imports the compiler, which nothing here needs, in 3 s.
    torch.set_deterministic_debug_mode("error" if device.type == "cpu" else "warn")
    deterministic: Any = torch.utils.deterministic
    deterministic.fill_uninitialized_memory = False  # for every tensor here is written whole
    if sys.platform == "linux":
        try:
            libc = ctypes.CDLL("libc.so.6")
            libc.mallopt(-3, 1 << 30)  # M_MMAP_THRESHOLD
            libc.mallopt(-1, (1 << 31) - 1)  # M_TRIM_THRESHOLD
        except (OSError, AttributeError):
            pass  # another C library: slower, never different


def faster(device: torch.device) -> Callable[[], AbstractContextManager[Any]]:
    """Faster routines for a step's arithmetic on a CPU.

    Like the libraries' versions they decide the rounding and nothing else, so they are part of no
    digest; tests hold them against the plain ones, and so does every replay.
    """

    @contextmanager
    def routines() -> Generator[None, None, None]:
        with faster_products(device), fused_attention(device):
            yield

    return routines


def scratch_checkpoint(run_id: str) -> Path:
    """A checkpoint for the short run to save, drop and load."""
    return paths.BUILD / "checkpoints" / f"{run_id}.{os.getpid()}.short.pt"


def checkpoint_path(run_id: str, digest: str) -> Path:
    """Where a run's checkpoint lies; other code or settings never meet it."""
    return (
        paths.BUILD
        / "checkpoints"
        / f"{run_id}.{hashlib.sha256(digest.encode()).hexdigest()[:12]}.pt"
    )
