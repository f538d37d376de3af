"""Are the parts of a block of today what their papers say, and is each put where its name says?"""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from model.attention import Attention
from model.block import MLP, Block
from model.language_model import Blocks
from model.modern import (
    GroupedAttention,
    GroupedBlocks,
    ModernBlocks,
    ModernSettings,
    RMSNormBlocks,
    RotaryGroupedAttention,
    SwiGLU,
    SwiGLUBlocks,
)
from model.norm import RMSNorm
from model.position import (
    AlibiAttention,
    AlibiPositions,
    NoPositions,
    RotaryAttention,
    RotaryPositions,
    SinusoidalPositions,
    sinusoids,
)

SETTINGS = ModernSettings(
    vocabulary=30, width=16, context=8, heads=4, head_width=4, blocks=2, kv_heads=2, hidden=11
)
TOKENS = torch.arange(8)[None] % 30


def parts(model: Blocks) -> list[tuple[type[nn.Module], ...]]:
    """What stands in each block, and at the end."""
    blocks = [block for block in model.blocks if isinstance(block, Block)]
    assert len(blocks) == SETTINGS.blocks
    kinds = [(type(b.norm_1), type(b.attention), type(b.norm_2), type(b.mlp)) for b in blocks]
    return [*kinds, (type(model.norm),)]


@pytest.mark.parametrize(
    ("model", "norm", "attention", "mlp"),
    [
        (RMSNormBlocks, RMSNorm, Attention, MLP),
        (GroupedBlocks, nn.LayerNorm, GroupedAttention, MLP),
        (SwiGLUBlocks, nn.LayerNorm, Attention, SwiGLU),
        (ModernBlocks, RMSNorm, RotaryGroupedAttention, SwiGLU),
        (RotaryPositions, nn.LayerNorm, RotaryAttention, MLP),
        (AlibiPositions, nn.LayerNorm, AlibiAttention, MLP),
        (NoPositions, nn.LayerNorm, Attention, MLP),
    ],
)
def test_each_name_swaps_its_part_in_every_block_and_no_other(
    model: type[Blocks], norm: type[nn.Module], attention: type[nn.Module], mlp: type[nn.Module]
) -> None:
    made = model(SETTINGS)
    assert parts(made) == [(norm, attention, norm, mlp)] * 2 + [(norm,)]
    has_table = model in (RMSNormBlocks, GroupedBlocks, SwiGLUBlocks)
    assert ("positions.weight" in made.state_dict()) == has_table
    assert made(TOKENS).shape == (1, 8, 30)


def test_swiglu_follows_its_equation_and_has_no_bias() -> None:
    swiglu, x = SwiGLU(16, 11), torch.randn(2, 3, 16)
    opened = F.silu(x @ swiglu.gate.weight.mT) * (x @ swiglu.up.weight.mT)
    assert torch.allclose(swiglu(x), opened @ swiglu.down.weight.mT, atol=1e-6)
    assert sum(p.numel() for p in swiglu.parameters()) == 3 * 16 * 11


def test_the_swiglu_of_the_blocks_is_as_wide_as_the_settings_say() -> None:
    for model in (SwiGLUBlocks(SETTINGS), ModernBlocks(SETTINGS)):
        block = model.blocks[1]
        assert isinstance(block, Block)
        assert isinstance(block.mlp, SwiGLU)
        assert block.mlp.gate.out_features == SETTINGS.hidden


def test_neighbouring_query_heads_share_a_head_of_keys_and_values() -> None:
    grouped, whole = GroupedAttention(SETTINGS), Attention(SETTINGS)
    shared = SETTINGS.heads // SETTINGS.kv_heads
    with torch.no_grad():
        whole.query.weight.copy_(grouped.query.weight)
        whole.output.weight.copy_(grouped.output.weight)
        whole.output.bias.copy_(grouped.output.bias)
        for mine, theirs in ((grouped.key, whole.key), (grouped.value, whole.value)):
            assert mine.weight.shape == (SETTINGS.kv_heads * SETTINGS.head_width, SETTINGS.width)
            heads = mine.weight.unflatten(0, (SETTINGS.kv_heads, -1))
            theirs.weight.copy_(heads.repeat_interleave(shared, 0).flatten(0, 1))
    x = torch.randn(2, 5, SETTINGS.width)
    assert torch.allclose(grouped(x), whole(x), atol=1e-6)


def test_what_is_embedded_without_a_table() -> None:
    for model in (ModernBlocks(SETTINGS), NoPositions(SETTINGS), RotaryPositions(SETTINGS)):
        assert torch.equal(model.embed(TOKENS), model.tokens(TOKENS))
    sines = SinusoidalPositions(SETTINGS)
    expected = sines.tokens(TOKENS) + sinusoids(8, SETTINGS.width)
    assert torch.allclose(sines.embed(TOKENS), expected)


def test_scores_of_rotary_attention_are_divided() -> None:
    attention, x = RotaryAttention(SETTINGS), torch.randn(1, 1, SETTINGS.width)
    q, k = attention.query(x).unflatten(-1, (4, 4)), attention.key(x).unflatten(-1, (4, 4))
    expected = (q * k).sum(-1)[0, 0] / SETTINGS.head_width**0.5  # place 0: not turned at all
    assert torch.allclose(attention.scores(x)[0, :, 0, 0], expected, atol=1e-6)
    assert (attention.base, attention.stretch) == (10000.0, 1.0)
