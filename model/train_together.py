"""How are several seeds of one row trained as one batch of models?

In: models of one shape with their own generators. Out: the same as training each alone, to float32
accuracy. A small model leaves a large GPU idle; stacked along a new first dimension (vmap over the
parameters) five of them fill it. On CUDA the whole step is captured once as a graph and replayed.
"""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Generator, Tensor
from torch.func import functional_call, grad_and_value, stack_module_state, vmap

from model.language_model import LanguageModel
from model.settings import LanguageModelSettings
from model.train import (
    FIRST_STEPS,
    SAVE_EVERY,
    Draw,
    Report,
    Training,
    Watch,
    curve_point,
    is_on_curve,
    learning_rate,
    load_state,
    save_state,
)

Parameters = dict[str, Tensor]


class Stack:
    """Models side by side: their parameters as leaves (S, …), one optimizer over all of them.

    AdamW works element by element, so one optimizer over a stack does what S of them would.
    """

    def __init__(self, models: Sequence[LanguageModel], settings: LanguageModelSettings) -> None:
        self.models = models
        self.device = next(models[0].parameters()).device
        stacked, self.buffers = stack_module_state(list(models))
        self.parameters: Parameters = {
            name: value.detach().clone().requires_grad_() for name, value in stacked.items()
        }
        graphed = self.device.type == "cuda"
        self.rate = torch.tensor(settings.learning_rate, device=self.device)
        self.optimizer = torch.optim.AdamW(
            self.parameters.values(),
            lr=self.rate if graphed else settings.learning_rate,
            weight_decay=settings.weight_decay,
            capturable=graphed,
        )
        shape = (len(models), settings.batch, settings.context)
        self.tokens = torch.zeros(shape, dtype=torch.long, device=self.device)
        self.targets = torch.zeros_like(self.tokens)
        self.losses = torch.zeros(len(models), device=self.device)
        self._differentiate: Callable[..., Any] = vmap(grad_and_value(self._loss))
        self._graph: Any = None

    def _loss(
        self, parameters: Parameters, buffers: Parameters, tokens: Tensor, targets: Tensor
    ) -> Tensor:
        logits = functional_call(self.models[0], (parameters, buffers), (tokens,))  # (B, T, V)
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten())

    def _step(self) -> None:
        grads, losses = self._differentiate(
            {name: value.detach() for name, value in self.parameters.items()},
            self.buffers,
            self.tokens,
            self.targets,
        )
        for name, parameter in self.parameters.items():
            if parameter.grad is None:
                parameter.grad = grads[name]
            else:
                parameter.grad.copy_(grads[name])
        self.optimizer.step()
        self.losses.copy_(losses)

    def step(self, batches: Sequence[tuple[Tensor, Tensor]], rate: float) -> Tensor:
        """One step of every model on its own batch; gives the losses (S,)."""
        self.tokens.copy_(torch.stack([tokens for tokens, _ in batches]))
        self.targets.copy_(torch.stack([targets for _, targets in batches]))
        if self.device.type != "cuda":
            for group in self.optimizer.param_groups:
                group["lr"] = rate
            self._step()
            return self.losses.clone()
        self.rate.fill_(rate)
        if self._graph is None:
            self.warm_up()
            self._graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self._graph):
                self._step()
        self._graph.replay()
        return self.losses.clone()

    def warm_up(self) -> None:
        """A capture wants every buffer made beforehand: take steps on a side stream, undo them."""
        before = {name: value.detach().clone() for name, value in self.parameters.items()}
        moments = {
            parameter: {name: item.clone() for name, item in state.items()}
            for parameter, state in self.optimizer.state.items()
        }  # of a checkpoint; empty at the first step
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                self._step()
        torch.cuda.current_stream().wait_stream(side)
        with torch.no_grad():
            for name, value in self.parameters.items():
                value.copy_(before[name])
            for parameter, state in self.optimizer.state.items():
                for name, item in state.items():
                    if parameter in moments:
                        item.copy_(moments[parameter][name])
                    else:
                        item.zero_()

    def spread(self) -> None:
        """Put the parameters, and the gradients of the last step, back into the single models."""
        with torch.no_grad():
            for place, model in enumerate(self.models):
                for name, parameter in model.named_parameters():
                    stacked = self.parameters[name]
                    parameter.copy_(stacked[place])
                    if stacked.grad is not None:
                        parameter.grad = stacked.grad[place].clone()

    def state(self) -> dict[str, Any]:
        """Everything that decides how the training goes on, but for the generators."""
        return {"parameters": self.parameters, "optimizer": self.optimizer.state_dict()}

    def load(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        with torch.no_grad():
            for name, value in self.parameters.items():
                value.copy_(state["parameters"][name])
        rates = [group["lr"] for group in self.optimizer.param_groups]
        self.optimizer.load_state_dict(state["optimizer"])
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            group["lr"] = rate  # on CUDA the tensor that `step` fills, not a copy of its last value


def train_together(
    models: Sequence[LanguageModel],
    draws: Sequence[Draw],
    settings: LanguageModelSettings,
    *,
    generators: Sequence[Generator],
    watches: Sequence[Watch],
    checkpoint: Path | None = None,
    report: Report | None = None,
) -> list[Training]:
    """Train `models` in place, side by side; as `model.train.train`, once for all of them."""
    stack = Stack(models, settings)
    trainings = [Training() for _ in models]
    if checkpoint is not None and checkpoint.exists():
        with load_state(checkpoint) as state:
            stack.load(state["stack"])
            trainings = [Training(**each) for each in state["trainings"]]
            for generator, saved_state in zip(generators, state["generators"], strict=True):
                generator.set_state(saved_state)
        for training in trainings:
            training.earlier_seconds = training.seconds
    else:
        for training, model, watch in zip(trainings, models, watches, strict=True):
            training.curve.append({"step": 0, **watch(model)})
    began = saved = time.monotonic()
    before = trainings[0].seconds
    recent: list[Tensor] = []
    step = trainings[0].step
    while step < settings.steps:
        batches = [draw(each) for draw, each in zip(draws, generators, strict=True)]
        recent.append(stack.step(batches, learning_rate(step, settings)))
        step += 1
        due = is_on_curve(step, settings)
        save_due = checkpoint is not None and time.monotonic() - saved > SAVE_EVERY
        if not (due or save_due or step <= FIRST_STEPS):
            continue
        columns = torch.stack(recent, 1).tolist()  # (S, steps since)
        recent.clear()
        seconds = before + time.monotonic() - began
        for training, losses in zip(trainings, columns, strict=True):
            training.step, training.seconds = step, seconds
            training.losses += losses
        if due:
            stack.spread()
            for training, model, watch in zip(trainings, models, watches, strict=True):
                training.curve.append(curve_point(training, settings, watch(model)))
        if report is not None:
            report(step, settings.steps, trainings[0].losses[-1], seconds / step)
        if checkpoint is not None and save_due:
            save_state(
                checkpoint,
                {
                    "stack": stack.state(),
                    "trainings": [vars(training) for training in trainings],
                    "generators": [generator.get_state() for generator in generators],
                },
            )
            saved = time.monotonic()
    stack.spread()
    return trainings
