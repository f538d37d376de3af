"""What does every number of one small block come to?

Chapters 13 to 19. In: the toy (experiments/toy.json): five tokens of a sentence, d = 4, two heads
of width 2, rows times matrices. Out: every matrix on the way from tokens to probabilities, in
float64 through the book's own block; the same with the attention branch off; the loss of the next
word, its gradients, and the loss after one step of plain gradient descent.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from experiments.session import Run
from model.attention import causal_softmax
from model.block import MLP, Block
from model.settings import LanguageModelSettings

TOY = Path(__file__).with_name("toy.json")


@dataclass(frozen=True)
class Settings:
    """The next word, and the rate of the step."""

    next_token: str = "␣telhado"
    rate: float = 0.1


FULL = Settings()
SMOKE = Settings()
INPUTS = ("experiments/toy.json",)
UNITS = {"loss*": "nats"}


def matrices() -> dict[str, Tensor]:
    """The toy's matrices as float64 leaves that autograd follows."""
    data = json.loads(TOY.read_text(encoding="utf-8"))
    names = ("token_embedding", "position_embedding", "w_q", "w_k", "w_v", "w_o", "w_1", "w_2")
    return {
        name: torch.tensor(data[name], dtype=torch.float64, requires_grad=True)
        for name in (*names, "w_unembed")
    }


def toy_block(w: Mapping[str, Tensor], heads: int, eps: float) -> Block:
    """The book's block with the toy's weights: x @ W is a Linear whose weight is W transposed."""
    d = w["w_q"].shape[0]
    block = Block(LanguageModelSettings(width=d, heads=heads, head_width=d // heads)).double()
    block.mlp = MLP(d, wider=w["w_1"].shape[1] // d).double()
    block.mlp.gelu = "tanh"
    linear = {
        "attention.query": w["w_q"], "attention.key": w["w_k"], "attention.value": w["w_v"],
        "attention.output": w["w_o"], "mlp.expand": w["w_1"], "mlp.contract": w["w_2"],
    }  # fmt: skip
    with torch.no_grad():
        for name, matrix in linear.items():
            layer = block.get_submodule(name)
            assert isinstance(layer, torch.nn.Linear)
            layer.weight.copy_(matrix.T)
            if layer.bias is not None:  # pyright: ignore[reportUnnecessaryComparison]
                layer.bias.zero_()
    for norm in (block.norm_1, block.norm_2):
        assert isinstance(norm, torch.nn.LayerNorm)
        norm.eps = eps
    return block


def measure(settings: Settings, run: Run) -> Mapping[str, Any]:
    """Forward, attention off, and backward."""
    data = json.loads(TOY.read_text(encoding="utf-8"))
    w = matrices()
    block = toy_block(w, data["n_heads"], data["ln_eps"])
    ids = [data["vocabulary"].index(token) for token in data["tokens"]]
    target = data["vocabulary"].index(settings.next_token)
    stages = forward(block, w, ids)
    loss = -stages["probabilities"][-1, target].log()
    for stage in stages.values():
        stage.retain_grad()
    loss.backward()
    with torch.no_grad():
        off_y = stages["x"] + block.mlp(block.norm_2(stages["x"]))
        off_logits = off_y @ w["w_unembed"]
    values: dict[str, Any] = {
        "tokens": data["tokens"],
        "vocabulary": data["vocabulary"],
        "token_ids": ids,
        "target": target,
        "weights_of": {name: matrix.tolist() for name, matrix in w.items()},
        **{name: stage.tolist() for name, stage in stages.items()},
        "statistics": {
            name: {
                "mean": stages[name].mean(-1).tolist(),
                "variance": stages[name].var(-1, correction=0).tolist(),
                "std": (stages[name].var(-1, correction=0) + data["ln_eps"]).sqrt().tolist(),
            }
            for name in ("x", "h")
        },
        "attention_off": {
            "y": off_y.tolist(),
            "logits": off_logits.tolist(),
            "probabilities": off_logits.softmax(-1).tolist(),
        },
        "loss": loss.item(),
        "loss_off": -off_logits.log_softmax(-1)[-1, target].item(),
        "loss_uniform": torch.tensor(float(len(data["vocabulary"]))).log().item(),
    }
    return values | gradients(settings, block, w, stages, ids, target)


def forward(block: Block, w: Mapping[str, Tensor], ids: list[int]) -> dict[str, Tensor]:
    """Every stage of the toy, from the embeddings to the probabilities; (5, 4) where not said."""
    x = w["token_embedding"][ids] + w["position_embedding"][: len(ids)]
    u = block.norm_1(x)
    attention, mlp = block.attention, block.mlp
    assert isinstance(mlp, MLP)
    q, k, v = attention.query(u), attention.key(u), attention.value(u)
    scores = attention.split(q) @ attention.split(k).mT * attention.scale  # (2, 5, 5)
    weights = causal_softmax(scores)  # (2, 5, 5)
    heads = weights @ attention.split(v)  # (2, 5, 2)
    a = attention.output(heads.transpose(-3, -2).flatten(-2))
    h = x + a
    u2 = block.norm_2(h)
    expanded = mlp.expand(u2)  # (5, 8)
    active = torch.nn.functional.gelu(expanded, approximate=mlp.gelu)  # (5, 8)
    m = mlp.contract(active)
    y = h + m
    torch.testing.assert_close(y, block(x), rtol=0, atol=1e-14)  # the block itself says the same
    logits = y @ w["w_unembed"]  # (5, 8)
    return {
        "x": x, "u": u, "q": q, "k": k, "v": v, "scores": scores, "weights": weights,
        "heads": heads, "a": a, "h": h, "u2": u2, "expanded": expanded, "active": active, "m": m,
        "y": y, "logits": logits, "probabilities": logits.softmax(-1),
    }  # fmt: skip


def gradients(
    settings: Settings,
    block: Block,
    w: Mapping[str, Tensor],
    stages: Mapping[str, Tensor],
    ids: list[int],
    target: int,
) -> dict[str, Any]:
    """What autograd left behind, the weight of W_k that is followed, and one step downhill.

    The followed weight is the one of W_k with the largest gradient. `loss_after` follows a step on
    every weight of the block and of the unembedding, `loss_after_one` a step on that weight alone.
    """
    layers = {
        "w_q": block.attention.query, "w_k": block.attention.key, "w_v": block.attention.value,
        "w_o": block.attention.output,
    }  # fmt: skip
    assert isinstance(block.mlp, MLP)
    layers |= {"w_1": block.mlp.expand, "w_2": block.mlp.contract}
    of_weights = {name: _gradient(layer.weight).T for name, layer in layers.items()}
    of_weights["w_unembed"] = _gradient(w["w_unembed"])
    largest = int(of_weights["w_k"].abs().argmax())
    row, column = divmod(largest, of_weights["w_k"].shape[1])
    with torch.no_grad():
        one = layers["w_k"].weight.clone()
        layers["w_k"].weight[column, row] -= settings.rate * of_weights["w_k"][row, column]
        after_one = _loss(block, w, ids, target)
        layers["w_k"].weight.copy_(one)
        for name, layer in layers.items():
            layer.weight -= settings.rate * of_weights[name].T
        w["w_unembed"].sub_(settings.rate * of_weights["w_unembed"])
        after = _loss(block, w, ids, target)
    return {
        "gradient": {
            "of_stage": {name: _gradient(stage).tolist() for name, stage in stages.items()},
            **{name: matrix.tolist() for name, matrix in of_weights.items()},
            "followed": {
                "row": row + 1,
                "column": column + 1,
                "value": of_weights["w_k"][row, column].item(),
                "weight": one[column, row].item(),
                "weight_after": (
                    one[column, row] - settings.rate * of_weights["w_k"][row, column]
                ).item(),
            },
        },
        "rate": settings.rate,
        "loss_after_one": after_one,
        "loss_after": after,
    }


def _gradient(tensor: Tensor) -> Tensor:
    assert tensor.grad is not None
    return tensor.grad


def _loss(block: Block, w: Mapping[str, Tensor], ids: list[int], target: int) -> float:
    return -forward(block, w, ids)["probabilities"][-1, target].log().item()
