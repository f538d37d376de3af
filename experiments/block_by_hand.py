"""Does a block fit in twenty lines of plain PyTorch?

Chapter 17. In: the toy (experiments/toy.json). Out: y of the listing below, and the largest
difference to the book's own block. It runs by itself: `python -m experiments.block_by_hand`.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F

from experiments import toy_block
from experiments.session import Run


@dataclass(frozen=True)
class Settings:
    """Nothing to set: the toy says it all."""


FULL = Settings()
SMOKE = Settings()
INPUTS = ("experiments/toy.json",)

Tensor = torch.Tensor


# listing: block_by_hand
def block_by_hand(x: Tensor, w: Mapping[str, Tensor]) -> Tensor:
    n, d = x.shape  # (5, 4)
    u = F.layer_norm(x, (d,))  # (5, 4)
    q, k, v = u @ w["w_q"], u @ w["w_k"], u @ w["w_v"]
    heads = []
    for part in (slice(0, 2), slice(2, 4)):  # two heads
        scores = q[:, part] @ k[:, part].T / 2**0.5
        ahead = torch.ones(n, n).triu(1).bool()
        scores = scores.masked_fill(ahead, -torch.inf)
        weights = scores.softmax(-1)  # (5, 5)
        heads.append(weights @ v[:, part])  # (5, 2)
    a = torch.cat(heads, -1) @ w["w_o"]  # (5, 4)
    h = x + a  # what the others said is added
    u = F.layer_norm(h, (d,))
    wide = F.gelu(u @ w["w_1"], approximate="tanh")  # (5, 8)
    return h + wide @ w["w_2"]  # (5, 4)


# end: block_by_hand


def measure(settings: Settings, run: Run) -> Mapping[str, Any]:
    """The listing against the book's block."""
    data = json.loads(toy_block.TOY.read_text(encoding="utf-8"))
    w = {name: matrix.detach() for name, matrix in toy_block.matrices().items()}
    ids = [data["vocabulary"].index(token) for token in data["tokens"]]
    x = w["token_embedding"][ids] + w["position_embedding"][: len(ids)]
    y = block_by_hand(x, w)
    with torch.no_grad():
        book = toy_block.toy_block(w, data["n_heads"], data["ln_eps"])(x)
    return {"y": y.tolist(), "max_abs_diff": (y - book).abs().max().item()}


if __name__ == "__main__":
    print(measure(FULL, Run("block_by_hand/all", None, torch.device("cpu")))["y"])
