"""Are blocks, norms and rungs put together as the text says?"""

import pytest
import torch
from torch import nn

from model import block, language_model, norm
from model.arithmetic import GPT2, book_block, gpt2_block, gpt2_parts
from model.settings import LanguageModelSettings

SETTINGS = LanguageModelSettings()


def count(module: nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())


def test_layer_norm_follows_its_equation() -> None:
    x = torch.randn(3, 7, dtype=torch.float64) * 5 + 2
    gamma, beta = torch.randn(7, dtype=torch.float64), torch.randn(7, dtype=torch.float64)
    theirs = nn.LayerNorm(7, dtype=torch.float64)
    theirs.load_state_dict({"weight": gamma, "bias": beta})
    torch.testing.assert_close(norm.layer_norm(x, gamma, beta), theirs(x))


def test_rms_norm_equals_pytorchs_own() -> None:
    x = torch.randn(3, 7, dtype=torch.float64) * 5 + 2
    ours, theirs = norm.RMSNorm(7).double(), nn.RMSNorm(7, eps=1e-5, dtype=torch.float64)
    torch.testing.assert_close(ours(x), theirs(x))


def test_pre_norm_block_adds_two_corrections() -> None:
    own = block.Block(SETTINGS)
    x = torch.randn(2, 5, 128)
    middle = x + own.attention(own.norm_1(x))
    torch.testing.assert_close(own(x), middle + own.mlp(own.norm_2(middle)))


def test_post_norm_block_normalises_the_sums() -> None:
    own = block.PostNormBlock(SETTINGS)
    x = torch.randn(2, 5, 128)
    middle = own.norm_1(x + own.attention(x))
    torch.testing.assert_close(own(x), own.norm_2(middle + own.mlp(middle)))
    torch.testing.assert_close(own(x).mean(-1), torch.zeros(2, 5), atol=1e-5, rtol=0)


# What book.md states exactly: the output map adds 16,512, the norms add 768.
LADDER = [
    (language_model.TokenOnly, 2 * 1024 * 128 + 1024),
    (language_model.MeanAdded, 0),
    (language_model.MeanAddedPositions, 128 * 128),
    (language_model.HeadReplaced, 3 * 128 * 128),
    (language_model.HeadAdded, 0),
    (language_model.HeadsAdded, 16512),
    (language_model.MLPAdded, 8 * 128 * 128 + 5 * 128),
    (language_model.Blocks, 768),
]


def test_each_rung_adds_the_parameters_that_the_book_names() -> None:
    above = 0
    for kind, added in LADDER:
        found = count(kind(SETTINGS))
        assert found - above == added, kind
        above = found


@pytest.mark.parametrize(
    "kind", [*(kind for kind, _ in LADDER), language_model.MeanOnly, language_model.MeanPositions]
)
def test_no_rung_looks_ahead(kind: type[language_model.LanguageModel]) -> None:
    torch.manual_seed(1)
    model = kind(SETTINGS)
    tokens = torch.randint(1024, (1, 20))
    changed = tokens.clone()
    changed[0, 12:] = (changed[0, 12:] + 7) % 1024
    torch.testing.assert_close(model(tokens)[:, :12], model(changed)[:, :12])
    assert not torch.allclose(model(tokens)[:, 12:], model(changed)[:, 12:])


def test_rungs_are_what_their_names_say() -> None:
    tokens = torch.randint(1024, (2, 9))
    for kind in (language_model.TokenOnly, language_model.MeanOnly, language_model.MeanAdded):
        model = kind(SETTINGS)
        x = model.tokens(tokens)
        mean = torch.stack([x[:, : t + 1].mean(1) for t in range(9)], 1)
        expected = {"TokenOnly": x, "MeanOnly": mean, "MeanAdded": x + mean}[kind.__name__]
        torch.testing.assert_close(model(tokens), model.output(expected))
    model = language_model.HeadReplaced(SETTINGS)
    x = model.tokens(tokens) + model.positions.weight[:9]
    torch.testing.assert_close(model.features(tokens), model.head(x))
    added = language_model.HeadAdded(SETTINGS)
    added.load_state_dict(model.state_dict())
    torch.testing.assert_close(added.features(tokens), x + model.head(x))


def test_formulas_equal_the_count_of_real_modules() -> None:
    for d in (64, 128, 256):
        settings = LanguageModelSettings(width=d, heads=d // 32)
        assert count(block.Block(settings)) == book_block(d)["total"]
        assert gpt2_block(d) - book_block(d)["total"] == 3 * d
    small = gpt2_parts(GPT2["small"])
    assert small["blocks"] == 12 * 7087872 == 85054464
    assert small["total"] == 124439808
