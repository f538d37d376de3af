"""Do the attention modules compute what their equations say?"""

import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from model import attention
from model.settings import LanguageModelSettings

SETTINGS = LanguageModelSettings(width=16, heads=2, head_width=8, context=12)


def test_running_mean_is_the_mean_of_each_prefix() -> None:
    x = torch.randn(2, 9, 5, dtype=torch.float64)
    found = attention.running_mean(x)
    for t in range(9):
        torch.testing.assert_close(found[:, t], x[:, : t + 1].mean(1))


def test_causal_softmax_looks_back_only_and_sums_to_one() -> None:
    scores = torch.randn(3, 7, 7, dtype=torch.float64)
    weights = attention.causal_softmax(scores)
    assert torch.equal(weights.triu(1), torch.zeros_like(weights))
    torch.testing.assert_close(weights.sum(-1), torch.ones(3, 7, dtype=torch.float64))
    row = weights[1, 4, :5]
    torch.testing.assert_close(row, scores[1, 4, :5].exp() / scores[1, 4, :5].exp().sum())


def test_equal_scores_give_the_running_mean() -> None:
    x = torch.randn(6, 4, dtype=torch.float64)
    weights = attention.causal_softmax(torch.full((6, 6), 3.0, dtype=torch.float64))
    torch.testing.assert_close(weights @ x, attention.running_mean(x))


@pytest.mark.parametrize("divide", [True, False])
def test_head_follows_equation_one(divide: bool) -> None:
    head = attention.Head(16, 8, divide).double()
    x = torch.randn(2, 5, 16, dtype=torch.float64)
    q, k, v = x @ head.query.weight.T, x @ head.key.weight.T, x @ head.value.weight.T
    for b in range(2):
        for t in range(5):
            scores = torch.stack([q[b, t] @ k[b, i] for i in range(t + 1)])
            weights = (scores / math.sqrt(8) if divide else scores).softmax(0)
            torch.testing.assert_close(head(x)[b, t], weights @ v[b, : t + 1])


def test_attention_equals_pytorchs_own() -> None:
    ours = attention.Attention(SETTINGS).double()
    theirs = nn.MultiheadAttention(16, 2, batch_first=True, dtype=torch.float64)
    with torch.no_grad():
        theirs.in_proj_weight.copy_(
            torch.cat([ours.query.weight, ours.key.weight, ours.value.weight])
        )
        theirs.in_proj_bias.zero_()
        theirs.out_proj.weight.copy_(ours.output.weight)
        theirs.out_proj.bias.copy_(ours.output.bias)
    x = torch.randn(3, 12, 16, dtype=torch.float64)
    mask = attention.causal_mask(12).double()
    expected = theirs(x, x, x, attn_mask=mask, need_weights=True, average_attn_weights=False)
    torch.testing.assert_close(ours(x), expected[0])
    torch.testing.assert_close(ours.weights(x), expected[1])


def test_undivided_attention_differs_by_the_division_alone() -> None:
    torch.manual_seed(0)
    divided = attention.Attention(SETTINGS)
    torch.manual_seed(0)
    bare = attention.Attention(LanguageModelSettings(width=16, heads=2, head_width=8, divide=False))
    for mine, other in zip(divided.parameters(), bare.parameters(), strict=True):
        assert torch.equal(mine, other)
    x = torch.randn(1, 5, 16)
    torch.testing.assert_close(bare.scores(x), divided.scores(x) * math.sqrt(8))


def test_one_head_of_the_whole_width_is_a_head_and_its_map() -> None:
    settings = LanguageModelSettings(width=16, heads=1, head_width=16)
    several, one = attention.Attention(settings), attention.Head(16, 16)
    one.load_state_dict({k: v for k, v in several.state_dict().items() if "output" not in k})
    x = torch.randn(2, 6, 16)
    torch.testing.assert_close(several(x), several.output(one(x)))


def test_attention_agrees_with_the_fused_kernel() -> None:
    ours = attention.Attention(SETTINGS).double()
    x = torch.randn(2, 12, 16, dtype=torch.float64)
    q, k, v = (ours.split(each(x)) for each in (ours.query, ours.key, ours.value))
    fused = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    torch.testing.assert_close(ours(x), ours.output(fused.transpose(1, 2).flatten(2)))
