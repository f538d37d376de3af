"""What turns vectors into a language model, and what does each rung of the ladder add?

In: token numbers (B, T). Out: one row of logits per position (B, T, V). Every class below is a
rung: it differs from the one above by the line the text talks about.
"""

import torch
from torch import Tensor, nn

from model.attention import Attention, Head, UniformAttention, running_mean
from model.block import MLP, Block, PostNormBlock
from model.settings import LanguageModelSettings


# listing: language_model
class LanguageModel(nn.Module):
    """A table, a mixture, a map to the vocabulary."""

    def __init__(self, settings: LanguageModelSettings) -> None:
        super().__init__()
        self.tokens = nn.Embedding(
            settings.vocabulary,
            settings.width,
        )
        self.output = nn.Linear(
            settings.width,
            settings.vocabulary,
        )

    def features(self, tokens: Tensor) -> Tensor:
        raise NotImplementedError

    def forward(self, tokens: Tensor) -> Tensor:
        return self.output(self.features(tokens))  # (B, T, V)


# end: language_model


# listing: averages
class TokenOnly(LanguageModel):
    """No context: each position sees its own token alone."""

    def features(self, tokens: Tensor) -> Tensor:
        return self.tokens(tokens)  # (B, T, d)


class MeanOnly(LanguageModel):
    """The mean of the prefix in place of the token."""

    def features(self, tokens: Tensor) -> Tensor:
        return running_mean(self.tokens(tokens))  # (B, T, d)


class MeanAdded(LanguageModel):
    """The mean of the prefix beside the token."""

    def features(self, tokens: Tensor) -> Tensor:
        x = self.tokens(tokens)  # (B, T, d)
        return x + running_mean(x)


# end: averages


# listing: positions
class WithPositions(LanguageModel):
    """A learned vector for each place, added to the token's."""

    def __init__(self, settings: LanguageModelSettings) -> None:
        super().__init__(settings)
        self.positions = nn.Embedding(
            settings.context,
            settings.width,
        )

    def embed(self, tokens: Tensor) -> Tensor:
        places = torch.arange(
            tokens.shape[-1],
            device=tokens.device,
        )  # (T,)
        return self.tokens(tokens) + self.positions(places)


# end: positions


class MeanPositions(WithPositions):
    """The mean of the prefix in place of the token, positions added before the mean."""

    def features(self, tokens: Tensor) -> Tensor:
        return running_mean(self.embed(tokens))  # (B, T, d)


class MeanAddedPositions(WithPositions):
    """Token, position and the uniform mean of both: the last rung without learned weights."""

    def features(self, tokens: Tensor) -> Tensor:
        x = self.embed(tokens)
        return x + running_mean(x)  # (B, T, d)


# listing: one_head
class HeadReplaced(WithPositions):
    """One head in place of the token."""

    def __init__(self, settings: LanguageModelSettings) -> None:
        super().__init__(settings)
        self.head = Head(
            settings.width,
            settings.width,
            settings.divide,
        )

    def features(self, tokens: Tensor) -> Tensor:
        return self.head(self.embed(tokens))  # (B, T, d)


class HeadAdded(HeadReplaced):
    """One head beside the token."""

    def features(self, tokens: Tensor) -> Tensor:
        x = self.embed(tokens)
        return x + self.head(x)  # (B, T, d)


# end: one_head


# listing: heads_and_mlp
class HeadsAdded(WithPositions):
    """Several heads and their map, beside the token."""

    def __init__(self, settings: LanguageModelSettings) -> None:
        super().__init__(settings)
        self.attention = Attention(settings)

    def features(self, tokens: Tensor) -> Tensor:
        x = self.embed(tokens)
        return x + self.attention(x)  # (B, T, d)


class MLPAdded(HeadsAdded):
    """Work at each position after the gathering."""

    def __init__(self, settings: LanguageModelSettings) -> None:
        super().__init__(settings)
        self.mlp = MLP(settings.width)

    def features(self, tokens: Tensor) -> Tensor:
        x = super().features(tokens)
        return x + self.mlp(x)  # (B, T, d)


# end: heads_and_mlp


# listing: blocks
class Blocks(WithPositions):
    """The transformer: block after block, then a norm."""

    def __init__(self, settings: LanguageModelSettings) -> None:
        super().__init__(settings)
        self.blocks = nn.ModuleList(Block(settings) for _ in range(settings.blocks))
        self.norm: nn.Module = nn.LayerNorm(settings.width)

    # listing: stack
    def features(self, tokens: Tensor) -> Tensor:
        x = self.embed(tokens)
        for block in self.blocks:
            x = block(x)
        return self.norm(x)  # (B, T, d)

    # end: stack


# end: blocks


class PostNormBlocks(WithPositions):
    """The arrangement of 2017: every sum is normalised, so no final norm is left to add."""

    def __init__(self, settings: LanguageModelSettings) -> None:
        super().__init__(settings)
        self.blocks = nn.ModuleList(PostNormBlock(settings) for _ in range(settings.blocks))

    def features(self, tokens: Tensor) -> Tensor:
        x = self.embed(tokens)
        for block in self.blocks:
            x = block(x)
        return x  # (B, T, d)


class MeanBlocks(Blocks):
    """Blocks whose attention weights are uniform: the mean of the prefix, all else unchanged."""

    def __init__(self, settings: LanguageModelSettings) -> None:
        super().__init__(settings)
        for block in self.blocks:
            assert isinstance(block, Block)
            block.attention = UniformAttention(settings)
