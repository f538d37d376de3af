"""Where and how does one run take place?

In: a run's name, seed and device. Out: what `measure` needs of the world around it, the same for a
full run and for the short one that a replay repeats: the text, an initialised model, the training
loop with its checkpoint, progress. Nothing here decides a value that is recorded.
"""

import ctypes
import hashlib
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer
from torch import Generator, Tensor

from engine import paths
from model import corpus
from model.language_model import LanguageModel
from model.settings import LanguageModelSettings
from model.tokenizer import train_tokenizer
from model.train import Draw, Training, Watch, train

HELD_OUT = 0.1  # of the tokens, the last ones


@dataclass(frozen=True)
class Text:
    """A tokenised text, split in order; token numbers (N,) each."""

    characters: int
    tokenizer: Tokenizer
    train: Tensor
    validation: Tensor


@cache
def tokenise(vocabulary: int) -> Text:
    """The corpus as token numbers. At smoke settings without the corpus: the book's own chapters."""
    text = (
        _book()
        if paths.SETTINGS == "smoke" and corpus.find_corpus() is None
        else corpus.load_corpus()
    )
    tokenizer = train_tokenizer(text, vocabulary)
    tokens = torch.tensor(tokenizer.encode(text).ids)
    held_out = round(len(tokens) * (1 - HELD_OUT))
    return Text(len(text), tokenizer, tokens[:held_out], tokens[held_out:])


def _book() -> str:
    chapters = sorted(paths.CHAPTERS.glob("*/*.md.j2"))
    return "\n".join(path.read_text(encoding="utf-8") for path in chapters)


@dataclass
class Run:
    """One run while it takes place.

    `short` is the replay: the first steps, evaluated on a small fixed part of the data. `losses`
    holds the first training losses afterwards.
    """

    id: str
    seed: int | None
    device: torch.device
    short: bool = False
    checkpoint: Path | None = None
    losses: list[float] = field(default_factory=list[float])
    generator: Generator = field(default_factory=Generator)
    earlier_seconds: float = 0.0  # trained before this process, up to the checkpoint

    def text(self, vocabulary: int) -> Text:
        return tokenise(vocabulary)

    def seeded(self) -> Generator:
        """A fresh CPU generator at the run's seed (zero for a deterministic run)."""
        return Generator().manual_seed(self.seed or 0)

    def apart(self) -> "Run":
        """The same run beside itself: what is initialised in it leaves this one untouched."""
        return Run(self.id, self.seed, self.device, self.short)

    def initialise(self, make: Callable[[], Any]) -> Any:
        """Build on the CPU from the run's seed, then move; the data order continues the stream."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.seed or 0)
            made = make()
            self.generator.set_state(torch.random.get_rng_state())
        return made.to(self.device)

    def train(
        self, model: LanguageModel, draw: Draw, settings: LanguageModelSettings, watch: Watch
    ) -> Training:
        """`model.train.train` with this run's generator, checkpoint and progress."""
        began = time.monotonic()
        training = train(
            model,
            draw,
            settings,
            generator=self.generator,
            watch=watch,
            short=self.short,
            checkpoint=self.checkpoint,
            report=Progress(self.id, self.short),
        )
        self.losses = training.losses[:5]
        self.earlier_seconds = max(0.0, training.seconds - (time.monotonic() - began))
        return training


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


def duration(seconds: float) -> str:
    """Seconds as a person says them: 40 s, 12 min, 3.5 h."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


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
    torch.use_deterministic_algorithms(True, warn_only=device.type != "cpu")
    if sys.platform == "linux":
        try:
            libc = ctypes.CDLL("libc.so.6")
            libc.mallopt(-3, 1 << 30)  # M_MMAP_THRESHOLD
            libc.mallopt(-1, (1 << 31) - 1)  # M_TRIM_THRESHOLD
        except (OSError, AttributeError):
            pass  # another C library: slower, never different


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
