"""Are the bytes those of the arithmetic, is the budget kept, and are all four ways one layer?"""

import os
import signal
from typing import Any

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from engine.errors import MedidaError
from experiments import attention_cost
from experiments.attention_cost import FLOAT, MB, Settings
from experiments.session import Run
from model.arithmetic import attention_peak, block_work
from model.attention import Attention
from model.block import Block
from model.settings import LanguageModelSettings

CPU = torch.device("cpu")
SMALL = Settings(width=32, heads=4, head_width=8, piece=48, budget_mb=256, passes=1, seconds=0.0)
WAYS = attention_cost.four_ways(SMALL)


def layer_and_input(n: int) -> tuple[Attention, torch.Tensor]:
    torch.manual_seed(0)
    return Attention(SMALL), torch.randn(1, n, SMALL.width)


def bytes_of(way: str, n: int) -> int:
    layer, x = layer_and_input(n)
    with torch.no_grad():
        return attention_cost.peak(lambda: WAYS[way](layer, x), CPU)[0]


@pytest.mark.parametrize("n", [64, 200, 256])
def test_the_profiler_counts_the_bytes_of_the_arithmetic(n: int) -> None:
    assert bytes_of("written", n) == attention_peak(n, SMALL.width, SMALL.heads)
    # Queries, keys, values and what the output map makes of them.
    assert bytes_of("projections", n) == 4 * FLOAT * n * SMALL.width


def test_what_stores_no_matrix_grows_with_n_alone() -> None:
    for way in ("pieces", "fused"):  # the kernel's own room depends on n below 768
        held = [bytes_of(way, n) for n in (768, 1536, 3072)]
        assert held[2] - held[1] == 2 * (held[1] - held[0]), way
        assert held[2] < SMALL.heads * 3072 * 3072 * FLOAT / 8, way


@pytest.mark.parametrize("n", [1, 47, 48, 100])
def test_all_ways_but_the_control_are_one_layer(n: int) -> None:
    layer, x = layer_and_input(n)
    with torch.no_grad():
        written = layer(x)
        for way in ("pieces", "fused"):
            torch.testing.assert_close(WAYS[way](layer, x), written, rtol=1e-5, atol=1e-5)


def test_pieces_stand_scores_that_would_overflow() -> None:
    torch.manual_seed(1)
    q, k, v = (torch.randn(1, 2, 40, 8) for _ in range(3))
    mixed = attention_cost.attention_in_pieces(q * 1e4, k, v, 1.0, 7)
    expected = torch.nn.functional.scaled_dot_product_attention(
        q * 1e4, k, v, is_causal=True, scale=1.0
    )
    torch.testing.assert_close(mixed, expected)


def test_a_length_beyond_the_budget_is_refused_in_its_own_process() -> None:
    run = Run("attention_cost/all", None, CPU)
    rows = attention_cost.in_own_process(SMALL, run, 4096)
    assert rows["written"] == {"out_of_memory": True, "refused_bytes": 4 * 4096 * 4096 * FLOAT}
    for way in ("projections", "pieces", "fused"):  # the same process went on
        assert not rows[way]["out_of_memory"]
        assert rows[way]["peak_mb"] < SMALL.budget_mb / 4
    assert torch.empty(SMALL.budget_mb * 2 * MB, dtype=torch.int8).numel()  # it bound no other


def killed(*_: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_process_that_the_system_ends_is_no_measurement(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attention_cost, "one_length", killed)
    with pytest.raises(MedidaError, match=r"length 8; this machine has less memory"):
        attention_cost.in_own_process(SMALL, Run("attention_cost/all", None, CPU), 8)


def test_a_limit_that_does_not_hold_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attention_cost.resource, "setrlimit", lambda *_: None)
    with pytest.raises(MedidaError, match="nothing here holds"):
        attention_cost.enforce(MB, CPU)


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("DefaultCPUAllocator: can't allocate memory: you tried to allocate 67 bytes. Error", 67),
        ("CUDA out of memory. Tried to allocate 8.00 GiB. GPU 0 has a total capacity", 2**33),
    ],
)
def test_the_bytes_refused_are_read_from_what_torch_says(said: str, asked: int) -> None:
    def work() -> None:
        raise RuntimeError(said)

    assert attention_cost.bytes_refused(work) == asked
    assert attention_cost.bytes_refused(lambda: None) is None
    with pytest.raises(RuntimeError, match="another"):
        attention_cost.bytes_refused(other)


def other() -> None:
    raise RuntimeError("another trouble")


def test_ratios_and_exponents_leave_out_what_did_not_run() -> None:
    rows: dict[int, dict[str, Any]] = {
        n: {"out_of_memory": False, "ms_total": 3.0 * n**2, "peak_mb": 5.0 * n} for n in (4, 8, 16)
    }
    rows[2] = {"out_of_memory": False, "ms_total": 1e9, "peak_mb": 1e9}
    rows[32] = {"out_of_memory": True, "refused_bytes": 7}
    rows = dict(sorted(rows.items()))
    ratios = attention_cost.with_ratios(rows)
    assert ratios[8]["time_ratio"] == 4.0
    assert ratios[8]["memory_ratio"] == 2.0
    assert "time_ratio" not in ratios[2]
    assert "time_ratio" not in ratios[32]
    found = attention_cost.exponents(rows, 3)
    assert found["time_exponent"] == pytest.approx(2)
    assert found["memory_exponent"] == pytest.approx(1)


def test_the_work_of_a_block_is_that_of_a_real_one() -> None:
    n, d = 48, 64
    settings = LanguageModelSettings(width=d, heads=4, head_width=16)
    with torch.device("meta"), FlopCounterMode(display=False) as counted:
        Block(settings)(torch.randn(1, n, d))
    assert counted.get_total_flops() == 2 * sum(block_work(n, d).values())  # and as many additions
