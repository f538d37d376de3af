"""What would a good plain loop look like?

The reference of the speed table, and of a test: nn.Module layers, F.scaled_dot_product_attention,
F.cross_entropy over the whole logits, fused AdamW. The `norm` rung: one pre-norm block.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from model.language_model import Blocks
from model.settings import LanguageModelSettings


class PlainBlock(nn.Module):
    """Queries, keys and values in one map, attention by PyTorch's own kernel."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm_1, self.norm_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.output = nn.Linear(width, width)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, x: Tensor) -> Tensor:
        b, t, d = x.shape
        q, k, v = self.qkv(self.norm_1(x)).view(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)  # (B, h, T, d_head)
        x = x + self.output(mixed.transpose(1, 2).reshape(b, t, d))
        return x + self.mlp(self.norm_2(x))


class PlainModel(nn.Module):
    """Table, positions, blocks, norm, output map."""

    def __init__(self, settings: LanguageModelSettings) -> None:
        super().__init__()
        self.tokens = nn.Embedding(settings.vocabulary, settings.width)
        self.positions = nn.Embedding(settings.context, settings.width)
        self.blocks = nn.ModuleList(
            PlainBlock(settings.width, settings.heads) for _ in range(settings.blocks)
        )
        self.norm = nn.LayerNorm(settings.width)
        self.output = nn.Linear(settings.width, settings.vocabulary)

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.tokens(tokens) + self.positions.weight[: tokens.shape[1]]
        for block in self.blocks:
            x = block(x)
        return self.output(self.norm(x))


def copy_weights(ours: Blocks, plain: PlainModel) -> None:
    """Give the plain model the weights of the book's."""
    names = dict(ours.state_dict())
    state: dict[str, Tensor] = {}
    for name in plain.state_dict():
        if "qkv" in name:
            parts = (name.replace("qkv", f"attention.{part}") for part in ("query", "key", "value"))
            state[name] = torch.cat([names[part] for part in parts])
        else:
            book = name.replace("mlp.0", "mlp.expand").replace("mlp.2", "mlp.contract")
            if name.startswith("blocks") and ".output." in name:
                book = book.replace(".output.", ".attention.output.")
            state[name] = names[book]
    plain.load_state_dict(state)


def plain_step(
    model: nn.Module, optimizer: torch.optim.Optimizer, tokens: Tensor, targets: Tensor
) -> Tensor:
    """One step of training; gives the loss, a tensor ()."""
    optimizer.zero_grad(set_to_none=True)
    logits = model(tokens)
    loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
    loss.backward()
    optimizer.step()
    return loss.detach()
