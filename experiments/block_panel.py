"""What should the panel of chapter 17 show?

In: the reduced block: one head, three tokens, d = 4; the first three rows of the toy's X, its W_K,
every other map of attention the identity. Out: every stage for the defaults, for the three cases of
the panel, and for random inputs; what the page computes is held against it.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from experiments import material, toy_block
from experiments.session import Run


@dataclass(frozen=True)
class Settings:
    """Tokens shown, random inputs, and the factor of the first case."""

    tokens: int = 3
    random_inputs: int = 200
    factor: float = 10.0


FULL = Settings()
SMOKE = Settings(random_inputs=5)
INPUTS = ("experiments/toy.json",)


def measure(settings: Settings, run: Run) -> Mapping[str, Any]:
    """Defaults, cases, random inputs."""
    data = json.loads(toy_block.TOY.read_text(encoding="utf-8"))
    w = {name: matrix.detach() for name, matrix in toy_block.matrices().items()}
    ids = [data["vocabulary"].index(token) for token in data["tokens"]][: settings.tokens]
    x = w["token_embedding"][ids] + w["position_embedding"][: len(ids)]
    larger, changed = x.clone(), x.clone()
    larger[1] *= settings.factor
    changed[-1] = torch.tensor([1.0, -1.0, 0.5, 2.0], dtype=x.dtype)
    generator = material.seeded(run)
    random = torch.randn(settings.random_inputs, *x.shape, generator=generator, dtype=torch.float64)
    eps: float = data["ln_eps"]
    return {
        "tokens": data["tokens"][: settings.tokens],
        "weights_of": {
            name: w[name].tolist() for name in ("w_q", "w_k", "w_v", "w_o", "w_1", "w_2")
        },
        "eps": eps,
        "default": stages(x, w, eps),
        "row_times_ten": stages(larger, w, eps),
        "last_changed": stages(changed, w, eps),
        "attention_removed": stages(x, w, eps, attention=False),
        "random": {"x": random.tolist(), "y": [stages(one, w, eps)["y"] for one in random]},
    }


def stages(
    x: Tensor, w: Mapping[str, Tensor], eps: float, attention: bool = True
) -> dict[str, list[Any]]:
    """Every line of the panel for inputs x (3, 4), through the book's own modules."""
    block = toy_block.toy_block(w, 1, eps)
    with torch.no_grad():
        u = block.norm_1(x)
        a = block.attention(u) if attention else torch.zeros_like(x)
        h = x + a
        u2 = block.norm_2(h)
        m = block.mlp(u2)
        found = {
            "x": x, "u": u, "q": block.attention.query(u), "k": block.attention.key(u),
            "v": block.attention.value(u), "scores": block.attention.scores(u)[0],
            "weights": block.attention.weights(u)[0], "a": a, "h": h, "u2": u2,
            "expanded": block.mlp.get_submodule("expand")(u2), "m": m, "y": h + m,
        }  # fmt: skip
        if attention:
            torch.testing.assert_close(found["y"], block(x), rtol=0, atol=1e-14)
    return {name: stage.tolist() for name, stage in found.items()}
