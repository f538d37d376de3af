"""How many decimals must a pencil carry to get the toy's third decimal right?

Chapters 13 to 19. In: the toy (experiments/toy.json). Out: for each number of decimals, how many of
the numbers that the walk shows for the last token differ in the third decimal from those at full
precision when every number is rounded as it is written down, and the gradient that comes out.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from experiments import toy_block
from experiments.session import Run


@dataclass(frozen=True)
class Settings:
    """Decimals that the pencil carries and those that are compared; the weight of W_K followed."""

    carried: tuple[int, ...] = (2, 3, 4, 5, 6)
    compared: int = 3
    next_token: str = "␣telhado"
    row: int = 1
    column: int = 0


FULL = Settings()
SMOKE = Settings()
INPUTS = ("experiments/toy.json",)

STAGES = ("a", "h", "u2", "active", "m", "y", "logits", "probabilities")


def measure(settings: Settings, run: Run) -> Mapping[str, Any]:
    """One row per number of decimals."""
    data = json.loads(toy_block.TOY.read_text(encoding="utf-8"))
    w = {name: matrix.detach() for name, matrix in toy_block.matrices().items()}
    exact = by_pencil(settings, data, w, lambda step: step)
    values: dict[str, Any] = {"numbers": sum(exact[name].numel() for name in STAGES)}
    for carried in settings.carried:
        found = by_pencil(settings, data, w, rounded_to(carried))
        differ = {
            name: differing(exact[name], found[name], settings.compared).sum().item()
            for name in STAGES
        }
        values[f"d_{carried}"] = {
            "carried": carried,
            "differ": sum(differ.values()),
            "differ_in": differ,
            "max_abs_diff": max((exact[n] - found[n]).abs().max().item() for n in STAGES),
            "gradient": found["gradient"].item(),
        }
    return values


def rounded_to(decimals: int) -> Callable[[Tensor], Tensor]:
    return lambda step: torch.round(step, decimals=decimals)


def differing(exact: Tensor, found: Tensor, decimals: int) -> Tensor:
    """Which entries differ when both are shown with so many decimals."""
    return torch.round(exact, decimals=decimals) != torch.round(found, decimals=decimals)


def by_pencil(
    settings: Settings,
    data: Mapping[str, Any],
    w: Mapping[str, Tensor],
    keep: Callable[[Tensor], Tensor],
) -> dict[str, Tensor]:
    """The last token's numbers, each rounded by `keep` when it is written down."""
    eps: float = data["ln_eps"]
    heads: int = data["n_heads"]
    ids = [data["vocabulary"].index(token) for token in data["tokens"]]
    s: dict[str, Tensor] = {}
    x = w["token_embedding"][ids] + w["position_embedding"][: len(ids)]
    s["u"] = normalised(x, eps, keep)
    for name in ("q", "k", "v"):
        s[name] = keep(s["u"] @ w[f"w_{name}"])
    width = x.shape[-1] // heads
    mixed: list[Tensor] = []
    rows: list[Tensor] = []
    for head in range(heads):
        part = slice(head * width, head * width + width)
        scores = keep(s["q"][-1, part] @ s["k"][:, part].T / width**0.5)
        powers = keep(scores.exp())
        weights = keep(powers / keep(powers.sum()))
        rows.append(weights)
        mixed.append(keep(weights @ s["v"][:, part]))
    s["weights"] = torch.stack(rows)[:, None]  # (2, 1, 5), the last row of each head
    s["heads"] = torch.stack(mixed)[:, None]  # (2, 1, 2)
    s["a"] = keep(torch.cat(mixed) @ w["w_o"])
    s["h"] = keep(x[-1] + s["a"])
    s["u2"] = normalised(s["h"], eps, keep)
    s["expanded"] = keep(s["u2"] @ w["w_1"])
    inner = toy_block.GELU_SCALE * (s["expanded"] + toy_block.GELU_CUBE * s["expanded"] ** 3)
    s["active"] = keep(s["expanded"] / 2 * (1 + keep(keep(inner).tanh())))
    s["m"] = keep(s["active"] @ w["w_2"])
    s["y"] = keep(s["h"] + s["m"])
    s["logits"] = keep(s["y"] @ w["w_unembed"])
    powers = keep(s["logits"].exp())
    s["probabilities"] = keep(powers / keep(powers.sum()))
    last = ("h", "u2", "expanded", "probabilities")
    of = {name: stage[None] if name in last else stage for name, stage in s.items()}
    target = data["vocabulary"].index(settings.next_token)
    chain = toy_block.chain_rule(
        w, of, target, settings.row, settings.column, width**-0.5, eps, keep
    )
    return s | {"gradient": chain["value"]}


def normalised(x: Tensor, eps: float, keep: Callable[[Tensor], Tensor]) -> Tensor:
    """LayerNorm with mean, variance and root written down on the way."""
    mean = keep(x.mean(-1, keepdim=True))
    variance = keep((x - mean).square().mean(-1, keepdim=True))
    return keep((x - mean) / keep((variance + eps).sqrt()))
