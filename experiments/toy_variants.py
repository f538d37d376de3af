"""What does the toy say when one thing is different?

Chapters 13 to 19, mostly their exercises. In: the toy (experiments/toy.json), with one change at a
time: other tokens, no positions, a larger eps, scores without a preference, the exact GELU. Out:
what the last token reads and foretells then; how the loss depends on the one weight that chapter 19
follows; and the loss after longer steps.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from experiments import toy_block
from experiments.session import Run
from model.block import MLP, Block


@dataclass(frozen=True)
class Settings:
    """The weight of W_K that is varied (from zero), its range, and the rates of the steps."""

    next_token: str = "␣telhado"
    row: int = 1
    column: int = 0
    lowest: float = -6.0
    highest: float = 4.0
    points: int = 101
    rates: tuple[float, ...] = (0.1, 1.0, 10.0)
    larger_eps: float = 0.1


FULL = Settings()
SMOKE = Settings()
INPUTS = ("experiments/toy.json",)
UNITS = {"loss*": "nats"}

Weights = dict[str, Tensor]


def measure(settings: Settings, run: Run) -> Mapping[str, Any]:
    """One group of values per change."""
    data = json.loads(toy_block.TOY.read_text(encoding="utf-8"))
    w = {name: matrix.detach() for name, matrix in toy_block.matrices().items()}
    target = data["vocabulary"].index(settings.next_token)
    ids = [data["vocabulary"].index(token) for token in data["tokens"]]
    swapped = [ids[i] for i in (0, 3, 2, 1, 4)]

    def toy(
        of: Mapping[str, Tensor] = w,
        tokens: list[int] = ids,
        eps: float = data["ln_eps"],
        change: Callable[[Block], None] = lambda _: None,
    ) -> dict[str, Any]:
        block = toy_block.toy_block(of, data["n_heads"], eps)
        change(block)
        with torch.no_grad():
            stages = toy_block.forward(block, of, tokens)
        last = {name: stages[name][-1].tolist() for name in ("x", "u", "a", "y", "probabilities")}
        chain = toy_block.chain_rule(
            of, stages, target, settings.row, settings.column, block.attention.scale, eps
        )
        return {
            **last,
            "score_gradient_size": chain["scores"].abs().max().item(),
            "weights": stages["weights"][:, -1].tolist(),
            "best": data["vocabulary"][int(stages["probabilities"][-1].argmax())],
            "loss": -stages["probabilities"][-1, target].log().item(),
        }

    plain = w | {"position_embedding": torch.zeros_like(w["position_embedding"])}
    floor = [data["vocabulary"].index("␣chão") if i == 1 else one for i, one in enumerate(ids)]
    here, there = toy(), toy(tokens=swapped)
    flat, flat_there = toy(plain), toy(plain, swapped)
    exact = toy(change=exact_gelu)
    return {
        "as_it_is": here,
        "floor_climbs": toy(tokens=floor),
        "no_positions": flat,
        "swapped": there
        | {
            "max_abs_diff": apart(here, there),
            "max_abs_diff_without_positions": apart(flat, flat_there),
        },
        "larger_eps": toy(eps=settings.larger_eps) | {"eps": settings.larger_eps},
        "equal_scores": toy(w | {"w_q": torch.zeros_like(w["w_q"])}),
        "sharper": toy(w | {"w_k": 3 * w["w_k"]}),
        "exact_gelu": exact | {"max_abs_diff": apart(here, exact, "y")},
        "one_weight": one_weight(settings, data, w, ids, target),
        "rates": {
            f"r_{i}": {"rate": rate} | after_step(settings, rate)
            for i, rate in enumerate(settings.rates)
        },
    }


def apart(one: Mapping[str, Any], other: Mapping[str, Any], stage: str = "probabilities") -> float:
    """The largest difference between two rows."""
    return (torch.tensor(one[stage]) - torch.tensor(other[stage])).abs().max().item()


def exact_gelu(block: Block) -> None:
    assert isinstance(block.mlp, MLP)
    block.mlp.gelu = "none"


def one_weight(
    settings: Settings, data: Mapping[str, Any], w: Weights, ids: list[int], target: int
) -> dict[str, Any]:
    """The loss over a range of the one weight, everything else as it is."""
    weights = torch.linspace(
        settings.lowest, settings.highest, settings.points, dtype=torch.float64
    )
    losses: list[float] = []
    for weight in weights:
        w_k = w["w_k"].clone()
        w_k[settings.row, settings.column] = weight
        block = toy_block.toy_block(w | {"w_k": w_k}, data["n_heads"], data["ln_eps"])
        with torch.no_grad():
            stages = toy_block.forward(block, w, ids)
        losses.append(-stages["probabilities"][-1, target].log().item())
    lowest = losses.index(min(losses))
    return {
        "weight": weights.tolist(),
        "loss": losses,
        "lowest_loss": losses[lowest],
        "weight_at_lowest": weights[lowest].item(),
    }


def after_step(settings: Settings, rate: float) -> dict[str, float]:
    """The two losses of chapter 19 after a step at another rate."""
    run = Run("toy_block/all", None, torch.device("cpu"))
    values = toy_block.measure(toy_block.Settings(settings.next_token, rate), run)
    return {name: values[name] for name in ("loss_foretold", "loss_after_one", "loss_after")}
