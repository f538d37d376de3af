"""How large is a block of today, and which shapes pass through it?

Chapter 20. In: the shapes of a tiny block and of Llama 3's models. Out: every stage of the listing
below as it prints them (`python -m experiments.modern_block`), held against the book's own modules;
parameters by part from formulas, beside the count of PyTorch's own layers at the same shapes.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from experiments.session import Run
from model.arithmetic import (
    LLAMA3,
    ModernShape,
    cache_bytes,
    modern_block_parts,
    modern_model_parts,
)
from model.attention import causal_softmax
from model.modern import GroupedAttention, ModernSettings, SwiGLU
from model.norm import RMSNorm


@dataclass(frozen=True)
class Settings:
    """The tiny block that is traced; the large one that is counted; what the models are called."""

    n: int = 5
    d: int = 8
    query_heads: int = 2
    kv_heads: int = 1
    hidden: int = 21
    large_d: int = 4096
    large_query_heads: int = 32
    large_kv_heads: int = 8
    large_hidden: int = 11008
    published_hidden: int = 14336
    large_blocks: int = 32
    vocabulary: int = 128000
    llama3: tuple[str, ...] = ("8B", "70B", "405B")
    llama3_billions: tuple[int, ...] = (8, 70, 405)


FULL = Settings()
SMOKE = Settings()
UNITS = {
    "?": "1", "u2": "1", "scores": "1", "weights": "1", "mixed": "1", "hidden": "1",
    "trace": "1", "max_abs_diff": "1", "mean_abs_output": "1", "*share": "1", "*_billions": "1",
    "*width": "numbers", "*heads": "heads", "blocks_count": "blocks", "vocabulary": "tokens",
    "cache_bytes": "bytes",
    "*": "parameters",
}  # fmt: skip

Weights = Mapping[str, Tensor]
Stages = dict[str, Tensor]


def measure(settings: Settings, run: Run) -> Mapping[str, Any]:
    """Shapes first, then sizes."""
    s = settings
    large = modern_block_parts(s.large_d, s.large_query_heads, s.large_kv_heads, s.large_hidden)
    every = modern_block_parts(s.large_d, s.large_query_heads, s.large_query_heads, s.large_hidden)
    published = modern_block_parts(
        s.large_d, s.large_query_heads, s.large_kv_heads, s.published_hidden
    )
    tables = 2 * s.vocabulary * s.large_d
    tiny = modern_block_parts(s.d, s.query_heads, s.kv_heads, s.hidden)
    ungrouped = modern_block_parts(s.d, s.query_heads, s.query_heads, s.hidden)
    x, w = drawn(s)
    stages = modern_block(x, w, s.d // s.query_heads)
    return {
        "shapes": {name: list(stage.shape) for name, stage in stages.items()},
        "trace": trace(stages),
        **against_the_modules(s, stages, w),
        f"d_{s.large_d}": {
            **large,
            "attention_share": large["attention"] / large["block"],
            "mlp_share": large["mlp"] / large["block"],
            "ungrouped_attention": every["attention"],
        },
        f"blocks_{s.large_blocks}": s.large_blocks * large["block"],
        "with_tables": s.large_blocks * large["block"] + tables,
        "published_width": {
            **published,
            "attention_share": published["attention"] / published["block"],
            "mlp_share": published["mlp"] / published["block"],
            "with_tables": s.large_blocks * published["block"] + tables,
        },
        "tiny": {
            "block": tiny["block"],
            "counted": sum(matrix.numel() for matrix in w.values()),
            "ungrouped": ungrouped["block"],
        },
        **{
            f"llama3_{name}": published_model(LLAMA3[name], billions)
            for name, billions in zip(s.llama3, s.llama3_billions, strict=True)
        },
    }


# fmt: off
# listing: modern_block
def modern_block(x: Tensor, w: Weights, d_head: int) -> Stages:
    d = x.shape[-1]

    def split(y: Tensor) -> Tensor:
        # (n, h d_head) → (h, n, d_head)
        return y.unflatten(-1, (-1, d_head)).transpose(0, 1)

    u = F.rms_norm(x, (d,), w["gain_1"], eps=1e-5)
    q, k, v = (split(u @ w[m]) for m in ("w_q", "w_k", "w_v"))
    shared = len(q) // len(k)  # query heads to each key head
    scores = q @ k.repeat_interleave(shared, 0).mT / d_head**0.5
    weights = causal_softmax(scores)
    mixed = weights @ v.repeat_interleave(shared, 0)
    a = mixed.transpose(0, 1).flatten(1) @ w["w_o"]
    h = x + a
    u2 = F.rms_norm(h, (d,), w["gain_2"], eps=1e-5)
    hidden = F.silu(u2 @ w["w_gate"]) * (u2 @ w["w_up"])
    y = h + hidden @ w["w_down"]
    return {
        "x": x, "u": u, "q": q, "k": k, "v": v,
        "scores": scores, "weights": weights, "mixed": mixed,
        "a": a, "h": h, "u2": u2, "hidden": hidden, "y": y,
    }


def trace(stages: Stages) -> str:
    """One line a stage: its name and its shape."""
    lines: list[str] = []
    for name, stage in stages.items():
        shape = " × ".join(map(str, stage.shape))
        lines.append(f"{name:9}{shape}")
    return "\n".join(lines)


# end: modern_block
# fmt: on


def drawn(s: Settings) -> tuple[Tensor, dict[str, Tensor]]:
    """An input and the weights of a tiny block, in double precision."""
    generator = torch.Generator().manual_seed(0)
    inner, shared = s.d, s.kv_heads * s.d // s.query_heads
    shapes = {
        "gain_1": (s.d,), "w_q": (s.d, inner), "w_k": (s.d, shared), "w_v": (s.d, shared),
        "w_o": (inner, s.d), "gain_2": (s.d,), "w_gate": (s.d, s.hidden), "w_up": (s.d, s.hidden),
        "w_down": (s.hidden, s.d),
    }  # fmt: skip
    x = torch.randn(s.n, s.d, generator=generator, dtype=torch.float64)
    w = {
        name: torch.randn(*shape, generator=generator, dtype=torch.float64)
        for name, shape in shapes.items()
    }
    return x, w


def against_the_modules(s: Settings, stages: Stages, w: Weights) -> dict[str, float]:
    """The largest difference between the listing and the book's modules with the same weights."""
    attention, mlp, norms = modules(s, w)
    x = stages["x"]
    with torch.no_grad():
        h = x + attention(norms[0](x))
        y = h + mlp(norms[1](h))
    return {
        "max_abs_diff": (stages["y"] - y).abs().max().item(),
        "mean_abs_output": y.abs().mean().item(),
    }


def modules(s: Settings, w: Weights) -> tuple[GroupedAttention, SwiGLU, list[RMSNorm]]:
    """The parts of a modern block from model/, holding these weights; no bias at the output map."""
    attention = GroupedAttention(
        ModernSettings(
            width=s.d, heads=s.query_heads, head_width=s.d // s.query_heads, kv_heads=s.kv_heads
        )
    ).double()
    mlp, norms = SwiGLU(s.d, s.hidden).double(), [RMSNorm(s.d).double() for _ in range(2)]
    maps = {
        "w_q": attention.query, "w_k": attention.key, "w_v": attention.value,
        "w_o": attention.output, "w_gate": mlp.gate, "w_up": mlp.up, "w_down": mlp.down,
    }  # fmt: skip
    with torch.no_grad():
        for name, linear in maps.items():
            linear.weight.copy_(w[name].T)
        attention.output.bias.zero_()
        for norm, gain in zip(norms, ("gain_1", "gain_2"), strict=True):
            norm.gamma.copy_(w[gain])
    return attention, mlp, norms


def published_model(shape: ModernShape, billions: int) -> dict[str, int | float]:
    """One of Llama 3's models: the formula by part, the count of real layers, and its name."""
    parts = modern_model_parts(shape)
    block = modern_block_parts(shape.width, shape.heads, shape.kv_heads, shape.hidden)
    return {
        **parts,
        **{name: block[name] for name in ("attention", "mlp", "norm", "block")},
        "counted": count_layers(shape),
        "total_billions": parts["total"] / 1e9,
        "published_billions": billions,
        "cache_bytes": cache_bytes(shape.blocks, shape.kv_heads, shape.width // shape.heads, 2),
        "tables_share": (parts["token_embeddings"] + parts["output"]) / parts["total"],
        "mlp_share": block["mlp"] / block["block"],
        "width": shape.width,
        "blocks_count": shape.blocks,
        "query_heads": shape.heads,
        "kv_heads": shape.kv_heads,
        "hidden_width": shape.hidden,
        "vocabulary": shape.vocabulary,
    }


def count_layers(shape: ModernShape) -> int:
    """Parameters of such a model put together from PyTorch's own layers, which hold no numbers."""
    d, shared = shape.width, shape.kv_heads * shape.width // shape.heads
    widths = [(d, d), (d, shared), (d, shared), (d, d)]
    widths += [(d, shape.hidden), (d, shape.hidden), (shape.hidden, d)]
    layers: list[nn.Module] = []
    with torch.device("meta"):
        for _ in range(shape.blocks):
            layers += [nn.RMSNorm(d), nn.RMSNorm(d)]
            layers += [nn.Linear(a, b, bias=False) for a, b in widths]
        layers += [nn.Embedding(shape.vocabulary, d), nn.RMSNorm(d)]
        layers.append(nn.Linear(d, shape.vocabulary, bias=False))
    return sum(parameter.numel() for layer in layers for parameter in layer.parameters())


if __name__ == "__main__":
    print(trace(modern_block(*drawn(FULL), FULL.d // FULL.query_heads)))
