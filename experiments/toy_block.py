"""What does every number of one small block come to?

Chapters 13 to 19. In: the toy (experiments/toy.json): five tokens of a sentence, d = 4, two heads
of width 2, rows times matrices. Out: every matrix on the way from tokens to probabilities, in
float64 through the book's own block; the same with the attention branch off, and with a final norm
that the toy lacks; the loss of the next word, its gradients, one of them also by the chain rule
written out, and the loss after one step of plain gradient descent.
"""

import json
import math
from collections.abc import Callable, Mapping
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
GELU_SCALE, GELU_CUBE = math.sqrt(2 / math.pi), 0.044715  # of the tanh form


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
        following = [*ids[1:], target]
        off = read_out(off_y, w, following)
        normed = torch.nn.functional.layer_norm(
            stages["y"], (len(data["w_q"]),), eps=data["ln_eps"]
        )
        final = read_out(normed, w, following)
        hits = read_out(stages["y"], w, following)["hits"]
    values: dict[str, Any] = {
        "tokens": data["tokens"],
        "vocabulary": data["vocabulary"],
        "text": "".join(data["tokens"]).replace("␣", " "),
        "token_ids": ids,
        "target": target,
        "sizes": {
            "tokens": len(ids),
            "width": len(data["w_q"]),
            "heads": data["n_heads"],
            "head_width": len(data["w_q"]) // data["n_heads"],
            "hidden": len(data["w_1"][0]),
            "vocabulary": len(data["vocabulary"]),
            "scalars": loss.numel(),
        },
        "eps": data["ln_eps"],
        "one_hot": torch.nn.functional.one_hot(torch.tensor(ids), len(data["vocabulary"])).tolist(),
        "weights_of": {name: matrix.tolist() for name, matrix in w.items()},
        **{name: stage.tolist() for name, stage in stages.items()},
        **on_paper(stages),
        "statistics": {
            name: {
                "mean": stages[name].mean(-1).tolist(),
                "variance": stages[name].var(-1, correction=0).tolist(),
                "std": (stages[name].var(-1, correction=0) + data["ln_eps"]).sqrt().tolist(),
            }
            for name in ("x", "u", "h", "u2", "y")
        },
        "attention_off": {"y": off_y.tolist(), **off},
        "final_norm": {"u3": normed.tolist(), **final},
        "hits": hits,
        "loss": loss.item(),
        "loss_off": off["loss"],
        "loss_uniform": math.log(len(data["vocabulary"])),
    }
    return values | gradients(settings, block, w, stages, ids, target)


def read_out(y: Tensor, w: Mapping[str, Tensor], following: list[int]) -> dict[str, Any]:
    """Logits, probabilities, the loss of the last position; positions that foretell their next."""
    logits = y @ w["w_unembed"]
    return {
        "logits": logits.tolist(),
        "probabilities": logits.softmax(-1).tolist(),
        "hits": (logits.argmax(-1) == torch.tensor(following)).sum().item(),
        "loss": -logits.log_softmax(-1)[-1, following[-1]].item(),
    }


def on_paper(stages: Mapping[str, Tensor]) -> dict[str, Any]:
    """What a pencil writes between two stages: exponentials and their sums, the inside of GELU."""
    with torch.no_grad():
        visible = stages["scores"].exp().tril()  # what the mask leaves
        powers = stages["logits"].exp()
        inner = GELU_SCALE * (stages["expanded"] + GELU_CUBE * stages["expanded"] ** 3)
        z = torch.linspace(-3, 3, 121, dtype=torch.float64)
        curve = torch.nn.functional.gelu(z, approximate="tanh")
        return {
            "exponentials": visible.tolist(),
            "exponential_sums": visible.sum(-1).tolist(),
            "logit_exponentials": powers.tolist(),
            "logit_exponential_sums": powers.sum(-1).tolist(),
            "gelu_inner": inner.tolist(),
            "gelu_tanh": inner.tanh().tolist(),
            "gelu_cube": GELU_CUBE,
            "gelu_curve": {
                "z": z.tolist(),
                "gelu": curve.tolist(),
                "both": (curve + curve.flip(0)).tolist(),  # gelu(z) + gelu(-z)
            },
        }


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
    """What autograd left behind, the weight of W_K that is followed, and one step downhill.

    The followed weight is the one of W_K with the largest gradient. `loss_after` follows a step on
    every weight of the block and of the unembedding, `loss_after_one` a step on that weight alone,
    and `loss_foretold` is what its gradient says that this one step should give.
    """
    layers = {
        "w_q": block.attention.query, "w_k": block.attention.key, "w_v": block.attention.value,
        "w_o": block.attention.output,
    }  # fmt: skip
    assert isinstance(block.mlp, MLP)
    layers |= {"w_1": block.mlp.expand, "w_2": block.mlp.contract}
    eps = block.norm_2.eps
    assert isinstance(eps, float)
    of_weights = {name: _gradient(layer.weight).T for name, layer in layers.items()}
    of_weights["w_unembed"] = _gradient(w["w_unembed"])
    largest = int(of_weights["w_k"].abs().argmax())
    row, column = divmod(largest, of_weights["w_k"].shape[1])
    with torch.no_grad():
        chain = chain_rule(w, stages, target, row, column, block.attention.scale, eps)
        before = _loss(block, w, ids, target)
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
            "chain": {name: step.tolist() for name, step in chain.items()},
        },
        "rate": settings.rate,
        "loss_foretold": before - settings.rate * of_weights["w_k"][row, column].item() ** 2,
        "loss_after_one": after_one,
        "loss_after": after,
    }


def chain_rule(
    w: Mapping[str, Tensor],
    of: Mapping[str, Tensor],
    target: int,
    row: int,
    column: int,
    scale: float,
    eps: float,
    keep: Callable[[Tensor], Tensor] = lambda step: step,
) -> dict[str, Tensor]:
    """dL/dW_K[row, column], from the loss backwards."""
    g: dict[str, Tensor] = {}
    width = of["heads"].shape[-1]  # 2
    head = column // width
    part = slice(head * width, head * width + width)
    hit = torch.zeros_like(of["probabilities"][-1])
    hit[target] = 1
    g["logits"] = keep(of["probabilities"][-1] - hit)  # (8)
    g["y"] = keep(g["logits"] @ w["w_unembed"].T)  # (4)
    g["active"] = keep(g["y"] @ w["w_2"].T)  # (8)
    g["gelu_slope"] = keep(gelu_slope(of["expanded"][-1]))
    g["expanded"] = keep(g["active"] * g["gelu_slope"])  # (8)
    g["u2"] = keep(g["expanded"] @ w["w_1"].T)  # (4)
    u2 = of["u2"][-1]
    std = keep((of["h"][-1].var(correction=0) + eps).sqrt())
    g["mean"] = keep(g["u2"].mean())
    g["along"] = keep((g["u2"] * u2).mean())
    norm = g["u2"] - g["mean"] - u2 * g["along"]
    g["through_norm"] = keep(norm / std)  # (4)
    g["h"] = keep(g["y"] + g["through_norm"])  # (4)
    # listing: chain_rule
    g["heads"] = keep(g["h"] @ w["w_o"].T)[part]  # (2)
    g["weights"] = keep(of["v"][:, part] @ g["heads"])  # (5)
    weights = of["weights"][head, -1]
    g["average"] = keep(weights @ g["weights"])
    apart = g["weights"] - g["average"]
    g["scores"] = keep(weights * apart)  # (5)
    q = of["q"][-1, column]
    g["keys"] = keep(g["scores"] * q * scale)  # (5)
    g["terms"] = keep(of["u"][:, row] * g["keys"])  # (5)
    g["value"] = keep(g["terms"].sum())
    # end: chain_rule
    return g


def gelu_slope(z: Tensor) -> Tensor:
    """The derivative of the tanh form of GELU."""
    tanh = (GELU_SCALE * (z + GELU_CUBE * z**3)).tanh()
    steepness = GELU_SCALE * (1 + 3 * GELU_CUBE * z**2)
    return (1 + tanh) / 2 + z / 2 * (1 - tanh**2) * steepness


def _gradient(tensor: Tensor) -> Tensor:
    assert tensor.grad is not None
    return tensor.grad


def _loss(block: Block, w: Mapping[str, Tensor], ids: list[int], target: int) -> float:
    return -forward(block, w, ids)["probabilities"][-1, target].log().item()
