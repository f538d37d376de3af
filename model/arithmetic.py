"""How big is a transformer, and what does it cost, before any tensor is made?

In: widths and counts. Out: exact parameter counts; each formula stands in the book beside the count
of a real module.
"""

from dataclasses import dataclass


# listing: gpt2_block
def gpt2_block(d: int) -> int:
    """One block, biases everywhere: 12d² + 13d."""
    attention = 4 * d * d + 4 * d
    mlp = 8 * d * d + 5 * d
    norms = 4 * d
    return attention + mlp + norms


# end: gpt2_block


@dataclass(frozen=True)
class Gpt2Shape:
    """A GPT-2 (Radford et al. 2019): width, number of blocks; vocabulary and context are shared."""

    width: int
    blocks: int
    vocabulary: int = 50257
    context: int = 1024


GPT2 = {
    "small": Gpt2Shape(768, 12),
    "medium": Gpt2Shape(1024, 24),
    "large": Gpt2Shape(1280, 36),
    "xl": Gpt2Shape(1600, 48),
}


# listing: gpt2_parts
def gpt2_parts(shape: Gpt2Shape) -> dict[str, int]:
    """By part; the output map is the token table once more."""
    d = shape.width
    parts = {
        "token_embeddings": shape.vocabulary * d,
        "position_embeddings": shape.context * d,
        "blocks": shape.blocks * gpt2_block(d),
        "final_norm": 2 * d,
    }
    return {**parts, "total": sum(parts.values())}


# end: gpt2_parts


def book_block(d: int) -> dict[str, int]:
    """This book's block: as GPT-2's, without the three biases of queries, keys and values."""
    parts = {"attention": 4 * d * d + d, "mlp": 8 * d * d + 5 * d, "norm": 4 * d}
    return {**parts, "total": sum(parts.values())}


# listing: modern_parts
def modern_block_parts(
    d: int,
    heads: int,
    kv_heads: int,
    hidden: int,
) -> dict[str, int]:
    """No biases, keys and values shared, three maps."""
    head_width = d // heads
    attention = 2 * d * d + 2 * d * kv_heads * head_width
    mlp = 3 * d * hidden
    norm = 2 * d
    return {
        "attention": attention,
        "mlp": mlp,
        "norm": norm,
        "block": attention + mlp + norm,
    }


# end: modern_parts


@dataclass(frozen=True)
class ModernShape:
    """A model of today, shaped as Llama 3 (Grattafiori et al. 2024, table 3): no position table."""

    width: int
    blocks: int
    heads: int
    hidden: int
    kv_heads: int = 8
    vocabulary: int = 128256


LLAMA3 = {
    "8B": ModernShape(4096, 32, 32, 14336),
    "70B": ModernShape(8192, 80, 64, 28672),
    "405B": ModernShape(16384, 126, 128, 53248),
}


# listing: modern_model
def modern_model_parts(shape: ModernShape) -> dict[str, int]:
    """By part; the output map has a matrix of its own."""
    s, d = shape, shape.width
    block = modern_block_parts(d, s.heads, s.kv_heads, s.hidden)
    parts = {
        "token_embeddings": s.vocabulary * d,
        "blocks": s.blocks * block["block"],
        "final_norm": d,
        "output": s.vocabulary * d,
    }
    return {**parts, "total": sum(parts.values())}


# end: modern_model


def cache_bytes(blocks: int, kv_heads: int, head_width: int, bytes_each: int) -> int:
    """Bytes of keys and values that one token leaves in all blocks."""
    return 2 * blocks * kv_heads * head_width * bytes_each


# listing: block_work
def block_work(n: int, d: int) -> dict[str, int]:
    """Multiplications of a block for n tokens of width d."""
    return {
        "projections": 4 * n * d * d,
        "mlp": 8 * n * d * d,
        "scores": n * n * d,  # every query with every key
        "mixing": n * n * d,  # every weight with every value
    }


# end: block_work


# listing: attention_peak
def attention_peak(n: int, d: int, heads: int) -> int:
    """Bytes at the softmax, four for each number."""
    matrix = 4 * heads * n * n
    mask = 4 * n * n
    values = 4 * n * d
    # scores, scores with the mask, weights
    return 3 * matrix + mask + values


# end: attention_peak
