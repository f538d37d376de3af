"""What does attention cost in time and in memory as the text grows?

Chapter 09. In: lengths, by doublings, and a budget of memory. Out, for each length: milliseconds
and peak megabytes (2^20 bytes) of one layer as written, of its projections alone (the control), of
the same layer a piece at a time and of the fused kernel; forward only. A length that does not fit
the budget is recorded as out of memory, with the bytes of the tensor that was refused.

Each length has a process of its own, and the budget is real: CUDA's allocator, or on a CPU the
system (RLIMIT_DATA), refuses what goes beyond it. The budget counts from what the process holds
before the layer is built, as on a GPU, where the libraries' own memory lies outside too. RLIMIT_AS
would count addresses, the code of the libraries and what threads reserve and never use among them.
"""

import math
import os
import re
import resource
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.profiler import ProfilerActivity, profile

from engine.errors import MedidaError
from experiments.reference_check import by_scaled_dot_product
from experiments.session import Run
from model.arithmetic import attention_peak, block_work
from model.attention import Attention
from model.settings import LanguageModelSettings

MB = 2**20
FLOAT = 4  # bytes of a number in float32
STATUS = Path("/proc/self/status")
UNBOUND = "attention_cost: nothing here holds a process to a budget; measure on Linux or on CUDA"
FUSED = [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION]  # none stores the matrix
ASKED = re.compile(r"[Tt]ried to allocate ([\d.]+) (bytes|[KMG]iB)")
SIZES = {"bytes": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
DATA = re.compile(r"^VmData:\s+(\d+) kB$", re.MULTILINE)


@dataclass(frozen=True)
class Settings(LanguageModelSettings):
    """One layer, lengths, keys taken at a time, budget; passes that are timed: so many, and more
    until so many seconds have gone. `work_*`: a wide block whose work is counted, not measured.
    """

    width: int = 512
    heads: int = 8
    head_width: int = 64
    lengths: tuple[int, ...] = (128, 256, 512, 1024, 2048, 4096, 8192, 16384)
    piece: int = 128
    budget_mb: int = 8192
    passes: int = 3
    seconds: float = 1.0
    fitted: int = 4
    work_width: int = 4096
    work_heads: int = 32
    work_lengths: tuple[int, ...] = (1024, 8192, 131072)


FULL = Settings()
SMOKE = Settings(
    width=16, heads=4, head_width=4, lengths=(1024, 2048, 4096), budget_mb=256, passes=1, seconds=0
)
ROWS = {
    "": {},
    "heads_16": {"heads": 16, "head_width": 32, "lengths": (2048, 4096, 8192)},
}
SMOKE_ROWS = {"heads_16": {"head_width": 1, "lengths": (512, 1024)}}
UNITS = {"ms_*": "ms", "*_mb": "MB", "*_bytes": "bytes"}
MACHINE_DEPENDENT = ("ms_*", "peak_mb", "*_ratio", "*_exponent", "system_share")


def measure(settings: Settings, run: Run) -> Mapping[str, Any]:
    """Every length in a process of its own, then what holds between lengths."""
    rows = {n: in_own_process(settings, run, n) for n in settings.lengths}
    written = {n: row["written"] for n, row in rows.items()}
    values: dict[str, Any] = {f"n_{n}": row for n, row in with_ratios(written).items()}
    values |= exponents(written, settings.fitted)
    for n, row in rows.items():
        projections = row["projections"]
        values[f"n_{n}"] |= {
            "attention_matrix_mb": settings.heads * n * n * FLOAT / MB,
            "arithmetic_mb": attention_peak(n, settings.width, settings.heads) / MB,
            "ms_projections": projections["ms_total"],
            "projections": {"peak_mb": projections["peak_mb"]},
        }
    values["projections"] = exponents(
        {n: row["projections"] for n, row in rows.items()}, settings.fitted
    )
    for kind in ("fused", "pieces"):
        found = {n: row[kind] for n, row in rows.items()}
        differences = [row["max_abs_diff"] for row in found.values() if "max_abs_diff" in row]
        values[kind] = {
            **{f"n_{n}": row for n, row in found.items()},
            **exponents(found, settings.fitted),
            "max_abs_diff": max(differences),
        }
    values["work"] = {f"n_{n}": counted_work(settings, n) for n in settings.work_lengths}
    return {**values, "budget_bytes": settings.budget_mb * MB}


def with_ratios(rows: Mapping[int, Mapping[str, Any]]) -> dict[int, dict[str, Any]]:
    """Time and memory over those of the row before, where both ran."""
    found = {n: dict(row) for n, row in rows.items()}
    for before, n in zip(rows, list(rows)[1:], strict=False):
        one, other = rows[n], rows[before]
        if not one["out_of_memory"] and not other["out_of_memory"]:
            found[n]["time_ratio"] = one["ms_total"] / other["ms_total"]
            found[n]["memory_ratio"] = one["peak_mb"] / other["peak_mb"]
    return found


def exponents(rows: Mapping[int, Mapping[str, Any]], fitted: int) -> dict[str, float]:
    """The powers of n that fit the last rows that ran: slopes on logarithmic axes."""
    ran = [(math.log(n), row) for n, row in rows.items() if "ms_total" in row][-fitted:]
    logs = [log for log, _ in ran]

    def slope(name: str) -> float:
        return statistics.linear_regression(logs, [math.log(row[name]) for _, row in ran]).slope

    return {"time_exponent": slope("ms_total"), "memory_exponent": slope("peak_mb")}


def counted_work(settings: Settings, n: int) -> dict[str, Any]:
    """Multiplications of a block, the share of those between pairs; a layer's matrix in 16 bits."""
    work = block_work(n, settings.work_width)
    pairs = work["scores"] + work["mixing"]
    return {
        **work,
        "pairs_share": pairs / sum(work.values()),
        "per_token": sum(work.values()) / n,
        "matrix_bytes": settings.work_heads * n * n * 2,
    }


# Inside a process of one length


def in_own_process(settings: Settings, run: Run, n: int) -> dict[str, Any]:
    """What `one_length` finds, in a fresh process; raises MedidaError where the system ended it."""
    os.environ.setdefault("KINETO_LOG_LEVEL", "99")  # the profiler's own remarks
    print(f"{run.id}: length {n}", file=sys.stderr, flush=True)
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        try:
            job = pool.submit(one_length, settings, run.device.type, torch.get_num_threads(), n)
            return job.result()
        except BrokenProcessPool as error:
            raise MedidaError(
                f"{run.id}: the system ended the process of length {n}; this machine has less"
                f" memory to spare than the budget, {settings.budget_mb} MB"
            ) from error


def one_length(settings: Settings, kind: str, threads: int, n: int) -> dict[str, Any]:
    """The four ways at one length: how long, how much memory, how far from the layer as written."""
    device = torch.device(kind)
    torch.set_num_threads(threads)
    torch.manual_seed(0)
    ways = four_ways(settings)
    with torch.no_grad():
        small = Attention(settings).to(device), torch.randn(1, 16, settings.width, device=device)
        for way in ways.values():
            peak(lambda way=way: way(*small), device)  # the libraries' own memory
        enforce(settings.budget_mb * MB, device)
        layer = Attention(settings).to(device)
        x = torch.randn(1, n, settings.width).to(device)  # (1, T, d)
        rows: dict[str, dict[str, Any]] = {}
        written: Tensor | None = None
        for name, way in ways.items():
            row, output = one_way(lambda way=way: way(layer, x), settings, device)
            if name == "written":
                written = output
            elif output is not None and written is not None and name != "projections":
                row["max_abs_diff"] = (output - written).abs().max().item()
            rows[name] = row
    return rows


def one_way(
    work: Callable[[], Tensor], settings: Settings, device: torch.device
) -> tuple[dict[str, Any], Tensor | None]:
    """Memory and time of one way, or the size of the tensor that was refused."""
    found: dict[str, Any] = {}
    output: Tensor | None = None

    def passes() -> None:
        nonlocal output
        most, output = peak(work, device)  # warm-up at the same time
        found.update(timed(work, settings, device), peak_mb=most / MB)

    refused = bytes_refused(passes)
    if refused is not None:
        return {"out_of_memory": True, "refused_bytes": refused}, None
    return {"out_of_memory": False, **found}, output


def timed(work: Callable[[], Tensor], settings: Settings, device: torch.device) -> dict[str, float]:
    """Median, lowest and highest time; the share of it that the system worked, not the layer."""
    times: list[float] = []
    before = os.times()
    while len(times) < settings.passes or sum(times) < settings.seconds:
        began = time.perf_counter()
        work()
        if device.type == "cuda":
            torch.cuda.synchronize()
        times.append(time.perf_counter() - began)
    after = os.times()
    system, user = after.system - before.system, after.user - before.user
    return {
        "ms_total": statistics.median(times) * 1000,
        "ms_lowest": min(times) * 1000,
        "ms_highest": max(times) * 1000,
        "system_share": system / (system + user) if system + user else 0.0,
    }


def peak(work: Callable[[], Tensor], device: torch.device) -> tuple[int, Tensor]:
    """The most bytes that tensors held at once beyond those from before, and what came out."""
    if device.type == "cuda":
        before = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        output = work()
        torch.cuda.synchronize()
        return torch.cuda.max_memory_allocated() - before, output
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as seen:
        output = work()
    events: Any = seen.profiler.kineto_results.events()  # pyright: ignore[reportOptionalMemberAccess]
    changes = [(event.start_ns(), event.nbytes()) for event in events if event.name() == "[memory]"]
    held = most = 0
    for _, change in sorted(changes, key=lambda change: change[0]):
        held += change
        most = max(most, held)
    return most, output


# listing: enforce
def enforce(budget: int, device: torch.device) -> None:
    """From here on `budget` bytes more, and no further."""
    if device.type == "cuda":
        card = torch.cuda.get_device_properties(device)
        share = budget / card.total_memory
        torch.cuda.set_per_process_memory_fraction(share)
    elif device.type == "cpu" and STATUS.exists():
        data = resource.RLIMIT_DATA
        _, highest = resource.getrlimit(data)
        limit = data_held() + budget
        resource.setrlimit(data, (limit, highest))
    if bytes_refused(one_tensor, budget + MB, device) is None:
        raise MedidaError(UNBOUND)


# end: enforce


def data_held() -> int:
    """Bytes of private memory that this process may write to, as RLIMIT_DATA counts them."""
    found = DATA.search(STATUS.read_text(encoding="utf-8"))
    assert found is not None
    return int(found[1]) * 1024


def one_tensor(size: int, device: torch.device) -> Tensor:
    """So many bytes, asked for and not touched."""
    return torch.empty(size, dtype=torch.int8, device=device)


def bytes_refused(work: Callable[..., object], *given: object) -> int | None:
    """How large the tensor was that there was no memory for; None where there was for all."""
    try:
        work(*given)
    except RuntimeError as error:  # on the CPU torch has no class of its own for it
        asked = ASKED.search(str(error))
        if asked is None:
            raise
        return round(float(asked[1]) * SIZES[asked[2]])
    return None


# The ways


def four_ways(settings: Settings) -> dict[str, Callable[[Attention, Tensor], Tensor]]:
    """As the book lists it, its four maps alone, a piece at a time, fused; all (1, T, d)."""

    def pieces(layer: Attention, x: Tensor) -> Tensor:
        q, k, v = (layer.split(each(x)) for each in (layer.query, layer.key, layer.value))
        mixed = attention_in_pieces(q, k, v, layer.scale, settings.piece)
        return layer.output(mixed.transpose(-3, -2).flatten(-2))

    def fused(layer: Attention, x: Tensor) -> Tensor:
        with sdpa_kernel(FUSED):
            return by_scaled_dot_product(layer, x)

    return {
        "written": lambda layer, x: layer(x),
        "projections": projections,
        "pieces": pieces,
        "fused": fused,
    }


def projections(layer: Attention, x: Tensor) -> Tensor:
    """The control: the layer's four maps and nothing between positions."""
    mapped = [each(x) for each in (layer.query, layer.key, layer.value)]
    return layer.output(mapped[-1])


# listing: pieces
def attention_in_pieces(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    scale: float,
    size: int,
) -> Tensor:
    """(B, h, T, d_head) → the same, and never (T, T)."""
    at = torch.arange(q.shape[-2], device=q.device)  # (T,)
    top = torch.full_like(q[..., :1], -math.inf)
    total = torch.zeros_like(top)  # (B, h, T, 1)
    mixed = torch.zeros_like(q)  # (B, h, T, d_head)
    for start in range(0, len(at), size):
        part = slice(start, start + size)
        keys, values = k[..., part, :], v[..., part, :]
        scores = q @ keys.mT * scale  # (B, h, T, size)
        ahead = at[part] > at[:, None]  # (T, size)
        scores = scores.masked_fill(ahead, -math.inf)
        higher = scores.amax(-1, keepdim=True).maximum(top)
        powers = (scores - higher).exp()
        shrink = (top - higher).exp()
        total = total * shrink + powers.sum(-1, keepdim=True)
        mixed = mixed * shrink + powers @ values
        top = higher
    return mixed / total


# end: pieces
