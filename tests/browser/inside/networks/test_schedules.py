"""Learning rates compared with PyTorch's formulas."""

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
        s.PolynomialLR(_optimizer(bg), 4, 2.0): [0.4 * (1 - n / 4) ** 2 for n in range(5)],
        s.MultiplicativeLR(_optimizer(bg), lambda n: 1 / n): [0.4, 0.4, 0.2, 0.2 / 3, 0.2 / 12],
        s.CosineAnnealingWarmRestarts(_optimizer(bg), 1, 2, 0.1): [
            0.1 + 0.3 * (1 + cos(pi * way)) / 2 for way in (0, 0, 0.5, 0, 0.25)
        ],
        s.CosineAnnealingWarmRestarts(_optimizer(bg), 2): [0.4, 0.2, 0.4, 0.2, 0.4],
        s.CyclicLR(_optimizer(bg), 0.1, 0.5, 1, 3, cycle_momentum=False): [
            0.1,
            0.5,
            0.1 + 0.8 / 3,
            0.1 + 0.4 / 3,
            0.1,
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


def test_cycles(bg: Any) -> None:
    s = bg.optim.lr_scheduler

    def rates(**options: Any) -> list[float]:
        optimizer = _optimizer(bg, momentum=0.5)
        return _rates(s.CyclicLR(optimizer, 0.0, 1.0, 2, **options), 8)

    heights = [0, 0.5, 1, 0.5]
    assert rates(mode="triangular2") == pytest.approx([*heights, *(h / 2 for h in heights)])
    shares = [0.5**n for n in range(8)]
    expected = [h * share for h, share in zip(heights * 2, shares, strict=True)]
    assert rates(mode="exp_range", gamma=0.5) == pytest.approx(expected)
    by_step = {"scale_fn": lambda n: 0.5**n, "scale_mode": "iterations"}
    assert rates(**by_step) == pytest.approx(expected)
    by_cycle = rates(scale_fn=lambda n: 3 * n)
    assert by_cycle == pytest.approx([3 * h for h in heights] + [6 * h for h in heights])
    optimizer = _optimizer(bg, momentum=0.5)
    cycle = s.CyclicLR(optimizer, 0.0, 1.0, 2, base_momentum=0.6, max_momentum=0.8)
    momenta = []
    for _ in range(4):
        momenta.append(optimizer.param_groups[0]["momentum"])
        cycle.step()
    assert momenta == pytest.approx([0.8, 0.7, 0.6, 0.7])


def test_three_phases(bg: Any) -> None:
    s = bg.optim.lr_scheduler
    optimizer = _optimizer(bg, momentum=0.9)
    scheduler = s.OneCycleLR(
        optimizer, 1.0, total_steps=9, pct_start=1 / 3, div_factor=10, final_div_factor=10,
        anneal_strategy="linear", three_phase=True,
    )  # fmt: skip
    rates, momenta = [], []
    for n in range(9):
        rates += scheduler.get_last_lr()
        momenta.append(optimizer.param_groups[0]["momentum"])
        if n < 8:
            scheduler.step()
    assert rates == pytest.approx([0.1, 0.55, 1.0, 0.55, 0.1, 0.0775, 0.055, 0.0325, 0.01])
    assert momenta == pytest.approx([0.95, 0.9, 0.85, 0.9, *[0.95] * 5])


def test_combinations(bg: Any) -> None:
    s = bg.optim.lr_scheduler
    optimizer = _optimizer(bg)
    chain = s.ChainedScheduler([s.ConstantLR(optimizer, 0.5, 2), s.ExponentialLR(optimizer, 0.5)])
    assert _rates(chain, 5) == pytest.approx([0.2, 0.1, 0.1, 0.05, 0.025])
    optimizer = _optimizer(bg)
    parts = [s.LinearLR(optimizer, 0.5, 1.0, 2), s.ExponentialLR(optimizer, 0.5),
             s.StepLR(optimizer, 2, 0.1)]  # fmt: skip
    row = s.SequentialLR(optimizer, parts, [2, 4])
    expected = [0.2, 0.3, 0.4, 0.2, 0.4, 0.4, 0.04]
    assert _rates(row, 7) == pytest.approx(expected)
    kept = optimizer.state_dict(), row.state_dict()
    optimizer = _optimizer(bg)
    parts = [s.LinearLR(optimizer, 0.5, 1.0, 2), s.ExponentialLR(optimizer, 0.5),
             s.StepLR(optimizer, 2, 0.1)]  # fmt: skip
    again = s.SequentialLR(optimizer, parts, [2, 4])
    optimizer.load_state_dict(kept[0])
    again.load_state_dict(kept[1])
    assert _rates(again, 3) == pytest.approx(_rates(row, 3))
    for wrong in (
        lambda: s.SequentialLR(optimizer, parts, [2]), lambda: s.ChainedScheduler([]),
        lambda: s.SequentialLR(optimizer, parts, [4, 2]),
        lambda: s.SequentialLR(_optimizer(bg), parts, [2, 4]), lambda: again.step(3),
    ):  # fmt: skip
        with pytest.raises((ValueError, TypeError), match="must"):
            wrong()


def test_two_schedulers_of_one_optimizer(bg: Any) -> None:
    """Each multiplies the current rate, and both know the optimizer's initial rate."""
    s = bg.optim.lr_scheduler
    optimizer = _optimizer(bg)
    first, second = s.StepLR(optimizer, 2, 0.1), s.ExponentialLR(optimizer, 0.5)
    rates = []
    for _ in range(4):
        rates.append(optimizer.param_groups[0]["lr"])
        first.step()
        second.step()
    assert rates == pytest.approx([0.4, 0.2, 0.01, 0.005])
    assert second.base_lrs == [0.4]
    optimizer.param_groups[0]["lr"] = 1.0
    second.step()
    assert second.get_last_lr() == pytest.approx([0.5])


def test_plateaus(bg: Any) -> None:
    s = bg.optim.lr_scheduler
    for options, values, expected in (
        ({"patience": 1}, [3, 2, 2, 2, 1, 1, 1], [1, 1, 1, 0.1, 0.1, 0.1, 0.01]),
        ({"patience": 0, "cooldown": 2}, [1, 1, 1, 1, 1], [1, 0.1, 0.1, 0.1, 0.01]),
        ({"mode": "max", "patience": 0}, [1, 2, 2], [1, 1, 0.1]),
        ({"patience": 0, "threshold": 0.5}, [4, 3, 1.5], [1, 0.1, 0.1]),
        ({"patience": 0, "threshold": 0.5, "threshold_mode": "abs"}, [4, 3, 2.6], [1, 1, 0.1]),
        ({"patience": 0, "min_lr": 0.05}, [1, 1, 1, 1], [1, 0.1, 0.05, 0.05]),
        ({"patience": 0, "factor": 0.5, "eps": 0.3}, [1, 1, 1], [1, 0.5, 0.5]),
    ):
        optimizer = _optimizer(bg, lr=1.0)
        plateau = s.ReduceLROnPlateau(optimizer, **options)
        found = []
        for value in values:
            plateau.step(bg.asarray(float(value)))
            found += plateau.get_last_lr()
        assert found == pytest.approx(expected), options
    other = s.ReduceLROnPlateau(_optimizer(bg))
    other.load_state_dict(plateau.state_dict())
    assert (other.best, other.last_epoch) == (plateau.best, plateau.last_epoch)
    with pytest.raises(ValueError, match="factor"):
        s.ReduceLROnPlateau(_optimizer(bg), factor=1.0)
    with pytest.raises(ValueError, match="mode"):
        s.ReduceLROnPlateau(_optimizer(bg), "least")


def test_steps_by_number(bg: Any) -> None:
    s = bg.optim.lr_scheduler
    one = s.StepLR(_optimizer(bg), 2, 0.5)
    one.step(4)
    assert one.get_last_lr() == pytest.approx([0.1])
    warm = s.CosineAnnealingWarmRestarts(_optimizer(bg), 2, 2)
    for epoch, way in ((0.5, 0.25), (2.0, 0), (3, 0.25), (6.0, 0)):
        warm.step(epoch)
        assert warm.get_last_lr() == pytest.approx([0.4 * (1 + cos(pi * way)) / 2])
    optimizer = _optimizer(bg)
    s.ExponentialLR(optimizer, 0.5)
    s.ExponentialLR(optimizer, 0.5, last_epoch=3)
    assert optimizer.param_groups[0]["lr"] == pytest.approx(0.2)
    with pytest.raises(ValueError, match="last_epoch"):
        s.ExponentialLR(_optimizer(bg), 0.5, last_epoch=3)


def test_a_custom_schedule(bg: Any) -> None:
    class Halves(bg.optim.lr_scheduler.LRScheduler):  # type: ignore[misc,name-defined]
        def get_lr(self) -> list[float]:
            return [base * 0.5**self.last_epoch for base in self.base_lrs]

    assert _rates(Halves(_optimizer(bg)), 3) == pytest.approx([0.4, 0.2, 0.1])
