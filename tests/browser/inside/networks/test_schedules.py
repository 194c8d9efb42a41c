"""Rates of learning beside PyTorch's formulas."""

from __future__ import annotations

from math import cos, pi
from typing import Any

import pytest

pytestmark = pytest.mark.native


def _optimizer(bg: Any, lr: float = 0.4, **options: Any) -> Any:
    return bg.optim.SGD([bg.nn.Parameter(bg.zeros(1))], lr=lr, **options)


def _rates(scheduler: Any, count: int) -> list[float]:
    found = []
    for _ in range(count):
        found += scheduler.get_last_lr()
        scheduler.step()
    return found


def test_formulas(bg: Any) -> None:
    s = bg.optim.lr_scheduler
    expected = {
        s.StepLR(_optimizer(bg), 2, 0.5): [0.4, 0.4, 0.2, 0.2, 0.1],
        s.MultiStepLR(_optimizer(bg), [1, 3], 0.5): [0.4, 0.2, 0.2, 0.1, 0.1],
        s.ExponentialLR(_optimizer(bg), 0.5): [0.4, 0.2, 0.1, 0.05, 0.025],
        s.ConstantLR(_optimizer(bg), 0.5, 2): [0.2, 0.2, 0.4, 0.4, 0.4],
        s.LinearLR(_optimizer(bg), 0.25, 1.0, 3): [0.1, 0.2, 0.3, 0.4, 0.4],
        s.LambdaLR(_optimizer(bg), lambda n: 1 / (n + 1)): [0.4, 0.2, 0.4 / 3, 0.1, 0.08],
        s.CosineAnnealingLR(_optimizer(bg), 4, 0.1): [
            0.1 + 0.3 * (1 + cos(pi * n / 4)) / 2 for n in range(5)
        ],
    }
    for scheduler, rates in expected.items():
        assert _rates(scheduler, 5) == pytest.approx(rates)


def test_one_cycle(bg: Any) -> None:
    s = bg.optim.lr_scheduler
    optimizer = _optimizer(bg, momentum=0.9)
    scheduler = s.OneCycleLR(
        optimizer, 1.0, total_steps=10, pct_start=0.3, div_factor=10, final_div_factor=100,
        anneal_strategy="linear",
    )  # fmt: skip
    rates, momenta = [], []
    for n in range(10):
        rates += scheduler.get_last_lr()
        momenta.append(optimizer.param_groups[0]["momentum"])
        if n < 9:
            scheduler.step()
    up = [0.1, 0.55, 1.0]
    down = [1.0 + (0.001 - 1.0) * n / 7 for n in range(1, 8)]
    assert rates == pytest.approx(up + down)
    assert momenta[:3] == pytest.approx([0.95, 0.9, 0.85])
    assert momenta[-1] == pytest.approx(0.95)
    with pytest.raises(ValueError, match="step"):
        scheduler.step()
    adam = bg.optim.Adam([bg.nn.Parameter(bg.zeros(1))])
    s.OneCycleLR(adam, 0.1, epochs=2, steps_per_epoch=5)
    assert adam.param_groups[0]["betas"] == (0.95, 0.999)
    assert adam.param_groups[0]["lr"] == pytest.approx(0.004)


def test_states_and_errors(bg: Any) -> None:
    s = bg.optim.lr_scheduler
    one, other = (s.StepLR(_optimizer(bg), 2) for _ in range(2))
    for _ in range(3):
        one.step()
    other.load_state_dict(one.state_dict())
    assert other.get_last_lr() == one.get_last_lr()
    assert other.last_epoch == 3
    with pytest.raises(TypeError, match="Optimizer"):
        s.StepLR(3, 2)
    with pytest.raises(ValueError, match="step_size"):
        s.StepLR(_optimizer(bg), 0)
    with pytest.raises(TypeError, match="lr_lambda"):
        s.LambdaLR(_optimizer(bg), 5)
    with pytest.raises(ValueError, match="total_steps"):
        s.OneCycleLR(_optimizer(bg), 0.1)
