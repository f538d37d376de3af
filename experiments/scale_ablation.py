"""What is the division by the root of the head's width worth, and what happens without it?

Chapter 05. In: the corpus. Out: perplexities of the `norm` rung with heads of 32 and of 128, and of
a bare head of 128, 256 and 1024, divided and undivided: the same seed, the same data order, the
division alone differs. The bare heads of 1024 also record score spread and entropy while they train
(`score_runaway`); `full_d32.divided` is the ladder's `norm` rung and keeps what chapters 04 and 11
ask of its weights.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from experiments import inside, language, material
from experiments.session import Run
from model.block import Block
from model.language_model import Blocks, HeadsAdded, LanguageModel
from model.settings import LanguageModelSettings


@dataclass(frozen=True)
class Settings(LanguageModelSettings):
    """`watched`: what watches the scores while training; `kept`: what looks at them after."""

    model: str = "model.language_model:Blocks"
    watched: str = ""
    kept: str = ""
    probe_windows: int = 8
    map_tokens: int = 16


FULL = Settings()
SMOKE = Settings(
    vocabulary=300, width=16, context=16, heads=2, head_width=8, batch=4, steps=12, curve_points=4,
    sample_tokens=8, map_tokens=8,
)  # fmt: skip
ROWS = {
    "full_d32.divided": {"kept": "experiments.scale_ablation:look_inside"},
    "full_d32.undivided": {"divide": False},
    "full_d128.divided": {"heads": 1, "head_width": 128},
    "full_d128.undivided": {"heads": 1, "head_width": 128, "divide": False},
    "short_d128.divided": {
        "model": "model.language_model:HeadsAdded",
        "heads": 1,
        "head_width": 128,
        "steps": 1500,
        "batch": 32,
    },
    "short_d128.undivided": {
        "model": "model.language_model:HeadsAdded",
        "heads": 1,
        "head_width": 128,
        "steps": 1500,
        "batch": 32,
        "divide": False,
    },
    "short_d256.divided": {
        "model": "model.language_model:HeadsAdded",
        "heads": 1,
        "head_width": 256,
        "steps": 1500,
        "batch": 32,
    },
    "short_d256.undivided": {
        "model": "model.language_model:HeadsAdded",
        "heads": 1,
        "head_width": 256,
        "steps": 1500,
        "batch": 32,
        "divide": False,
    },
    "short_d1024.divided": {
        "model": "model.language_model:HeadsAdded",
        "heads": 1,
        "head_width": 1024,
        "steps": 1500,
        "batch": 32,
        "watched": "experiments.scale_ablation:measure_runaway",
    },
    "short_d1024.undivided": {
        "model": "model.language_model:HeadsAdded",
        "heads": 1,
        "head_width": 1024,
        "steps": 1500,
        "batch": 32,
        "divide": False,
        "watched": "experiments.scale_ablation:measure_runaway",
    },
}
SMOKE_ROWS = {
    "short_d128.divided": {"head_width": 16, "steps": 12, "batch": 4},
    "short_d128.undivided": {"head_width": 16, "steps": 12, "batch": 4},
    "short_d256.divided": {"head_width": 16, "steps": 12, "batch": 4},
    "short_d256.undivided": {"head_width": 16, "steps": 12, "batch": 4},
    "short_d1024.divided": {"head_width": 16, "steps": 12, "batch": 4},
    "short_d1024.undivided": {"head_width": 16, "steps": 12, "batch": 4},
}
SEEDS = {
    "full_d32.divided": (0, 1, 2),
    "full_d32.undivided": (0, 1, 2),
    "full_d128.divided": (0,),
    "full_d128.undivided": (0,),
    "short_d128.divided": (0, 1, 2),
    "short_d128.undivided": (0, 1, 2),
    "short_d256.divided": (0,),
    "short_d256.undivided": (0,),
    "short_d1024.divided": (0,),
    "short_d1024.undivided": (0,),
}
TRAINED = True
INPUTS = ("corpus",)
UNITS = {
    "parameters": "parameters",
    "*perplexity": "perplexity",
    "train_loss": "nats",
    "step": "steps",
    "entropy": "nats",
}
ALIASES = {
    "score_runaway.divided": "scale_ablation.short_d1024.divided.score_runaway",
    "score_runaway.undivided": "scale_ablation.short_d1024.undivided.score_runaway",
    "raw_dot_product": "scale_ablation.full_d32.divided.raw_dot_product",
}


def measure(settings: Settings, run: Run) -> Mapping[str, Any]:
    """One row, with the probes that it names."""
    if settings.watched:
        return material.named(settings.watched)(settings, run)
    model, values = language.measure_language_model(settings, run)
    if settings.kept:
        values |= material.named(settings.kept)(model, settings, run)
    return values


def measure_runaway(settings: Settings, run: Run) -> dict[str, Any]:
    """The probes at every point of the curve, before the first step and after the last."""
    tokens = probed_windows(settings, run)

    def watch(model: LanguageModel) -> dict[str, float]:
        assert isinstance(model, HeadsAdded)
        return inside.score_statistics(model.attention, model.embed(tokens))

    first = watch(language.build(settings, run.apart()))
    model, values = language.measure_language_model(settings, run, watch)
    names = list(first)
    return values | {
        "score_runaway": {
            "init": first,
            "final": watch(model),
            "curve": {name: values["curve"].pop(name, []) for name in names}
            | {"step": values["curve"].get("step", [])},
        }
    }


def look_inside(model: LanguageModel, settings: Settings, run: Run) -> dict[str, Any]:
    """What the trained block's embeddings and heads do with held-out text."""
    tokens = probed_windows(settings, run)
    assert isinstance(model, Blocks)
    block = first_block(model)
    shown = tokens[:1, : settings.map_tokens]  # (1, n)
    tokenizer = material.corpus_tokens(settings.vocabulary).tokenizer
    names = [tokenizer.decode([int(token)]) for token in shown[0]]
    return {
        "raw_dot_product": inside.raw_dot_product(model, block, tokens),
        "attention_map": inside.attention_map(
            block.attention, block.norm_1(model.embed(shown)), names
        ),
    }


def first_block(model: Blocks) -> Block:
    """The first block, its type known."""
    block = model.blocks[0]
    assert isinstance(block, Block)
    return block


def probed_windows(settings: Settings, run: Run) -> Tensor:
    """The held-out windows that the probes look at."""
    return inside.held_out_windows(
        run, settings.vocabulary, settings.context, settings.probe_windows
    )
