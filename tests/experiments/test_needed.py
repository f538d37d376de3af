"""Are the small tools of chapter 00 what their names say?"""

import math

import torch

from experiments import needed


def test_the_listed_step_is_pytorchs_adamw() -> None:
    generator = torch.Generator().manual_seed(0)
    gradients = torch.randn(40, 5, generator=generator, dtype=torch.float64)
    w = torch.randn(5, generator=generator, dtype=torch.float64)
    theirs = w.clone().requires_grad_()
    optimizer = torch.optim.AdamW([theirs], lr=0.03, weight_decay=0.01)
    state = torch.zeros_like(w), torch.zeros_like(w), 0
    for gradient in gradients:
        w, state = needed.adamw_step(w, gradient, state, 0.03)
        theirs.grad = gradient.clone()
        optimizer.step()
    torch.testing.assert_close(w, theirs.detach(), rtol=1e-12, atol=1e-12)


def test_gradient_descent_goes_as_the_formula_says() -> None:
    settings = needed.Settings(steps=7)
    found = needed.descent(settings)
    for name, rate in (("below", settings.below), ("above", settings.above)):
        assert math.isclose(found[name]["w_1"], (1 - rate) ** 7)
        assert math.isclose(found[name]["w_2"], (1 - rate * settings.steep) ** 7)


def test_a_format_stops_counting_where_its_digits_end() -> None:
    found = needed.rounding(needed.Settings(terms=(1,)))
    digits = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}
    assert {name: found[name]["stuck_at"] for name in digits} == {
        name: 2.0**bits for name, bits in digits.items()
    }
