"""How many bytes does each token leave in the cache of keys and values?

Chapter 20. In: the shape of a model of today in 16-bit numbers. Out: bytes per token with a key and
a value for every head, for groups of heads, and for one head; checked against real tensors.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

from experiments.session import Run
from model.arithmetic import cache_bytes


@dataclass(frozen=True)
class Settings:
    """Blocks, heads and their width as in Llama 3's eight billion; two bytes a number."""

    blocks: int = 32
    query_heads: int = 32
    kv_heads: int = 8
    head_width: int = 128


FULL = Settings()
SMOKE = Settings()
UNITS = {"bytes_per_token": "bytes", "counted": "bytes"}


def measure(settings: Settings, run: Run) -> Mapping[str, Any]:
    """One entry an arrangement."""
    s = settings
    arrangements = {"mha": s.query_heads, "gqa": s.kv_heads, "mqa": 1}
    return {
        name: {
            "kv_heads": heads,
            "bytes_per_token": cache_bytes(s.blocks, heads, s.head_width, 2),
            "counted": count_bytes(s.blocks, heads, s.head_width),
        }
        for name, heads in arrangements.items()
    }


def count_bytes(blocks: int, heads: int, head_width: int) -> int:
    """The same from tensors for one token: keys and values of every block."""
    key = torch.empty(blocks, heads, 1, head_width, dtype=torch.float16)
    value = torch.empty_like(key)
    return key.nbytes + value.nbytes
