"""What do all language models of the book have in common?

In: nothing. Out: `LanguageModelSettings`, the common settings; every experiment changes a few.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class LanguageModelSettings:
    """The common settings of a trained row: shape of the model first, then the training.

    `model` names the class to build as "module:Name"; what it names is part of the run's digest.
    """

    model: str = ""
    vocabulary: int = 1024
    width: int = 128
    context: int = 128
    heads: int = 4
    head_width: int = 32
    blocks: int = 1
    divide: bool = True

    batch: int = 64
    steps: int = 3000
    learning_rate: float = 1e-3
    weight_decay: float = 0.01
    warmup: int = 0
    curve_points: int = 60
    sample_tokens: int = 400
