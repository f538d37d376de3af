"""How large is a block of today, and which shapes pass through it?

Chapter 20. In: the shapes of a tiny block and of Llama 3's. Out: the shape of every stage, traced
from a real block; parameters by part from formulas that the same block's count confirms.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from experiments.session import Run
from model.arithmetic import modern_block_parts
from model.attention import causal_softmax
from model.modern import GroupedAttention, ModernSettings, SwiGLU
from model.norm import RMSNorm


@dataclass(frozen=True)
class Settings:
    """The tiny block that is traced; the large one that is counted."""

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


FULL = Settings()
SMOKE = Settings()
UNITS = {"*share": "1", "*": "parameters"}


def measure(settings: Settings, run: Run) -> Mapping[str, Any]:
    """Shapes first, then sizes."""
    s = settings
    large = modern_block_parts(s.large_d, s.large_query_heads, s.large_kv_heads, s.large_hidden)
    published = modern_block_parts(
        s.large_d, s.large_query_heads, s.large_kv_heads, s.published_hidden
    )
    tables = 2 * s.vocabulary * s.large_d
    tiny = modern_block_parts(s.d, s.query_heads, s.kv_heads, s.hidden)
    return {
        "shapes": shapes(s),
        f"d_{s.large_d}": {
            **large,
            "attention_share": large["attention"] / large["block"],
            "mlp_share": large["mlp"] / large["block"],
        },
        f"blocks_{s.large_blocks}": s.large_blocks * large["block"],
        "with_tables": s.large_blocks * large["block"] + tables,
        "published_width": {
            "block": published["block"],
            "with_tables": s.large_blocks * published["block"] + tables,
        },
        "tiny": {"block": tiny["block"], "counted": count_tiny(s)},
    }


# listing: shape_trace
def shapes(s: Settings) -> dict[str, list[int]]:
    """Every stage of one block for n tokens, as the tensors themselves say."""
    attention = GroupedAttention(tiny_settings(s))
    norm, mlp = RMSNorm(s.d), SwiGLU(s.d, s.hidden)
    x = torch.randn(s.n, s.d, generator=torch.Generator().manual_seed(0))
    u = norm(x)
    q, k, v = attention.query(u), attention.key(u), attention.value(u)
    scores = attention.scores(u)
    weights = causal_softmax(scores)
    mixed = weights @ attention.split(v)
    h = x + attention.output(mixed.transpose(-3, -2).flatten(-2))
    hidden = mlp.gate(norm(h))
    stages: dict[str, Tensor] = {
        "x": x, "u": u, "q": heads(q, s.query_heads), "k": heads(k, s.kv_heads),
        "v": heads(v, s.kv_heads), "scores": scores, "weights": weights, "mixed": mixed,
        "h": h, "hidden": hidden, "y": h + mlp(norm(h)),
    }  # fmt: skip
    return {name: list(stage.shape) for name, stage in stages.items()}


# end: shape_trace


def heads(x: Tensor, count: int) -> Tensor:
    """(n, count · d_head) → (count, n, d_head)."""
    return x.unflatten(-1, (count, -1)).transpose(0, 1)


def tiny_settings(s: Settings) -> ModernSettings:
    """The traced block as the model's settings."""
    return ModernSettings(
        width=s.d,
        heads=s.query_heads,
        head_width=s.d // s.query_heads,
        kv_heads=s.kv_heads,
        hidden=s.hidden,
    )


def count_tiny(s: Settings) -> int:
    """Parameters of the traced block's own modules, the output map's bias left out as today."""
    parts: list[nn.Module] = [
        GroupedAttention(tiny_settings(s)),
        SwiGLU(s.d, s.hidden),
        RMSNorm(s.d),
        RMSNorm(s.d),
    ]
    return sum(p.numel() for part in parts for p in part.parameters()) - s.d
