"""Recomputation by ``checkpoint`` repeats the random numbers of the first call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.native

Wrap = Callable[[Any], Any]


class Chance:
    """A loss that uses dropout, noise from a generator, and a parameter."""

    def __init__(self, bg: Any, wrap: Wrap) -> None:
        self.bg = bg
        bg.nn.init.seed(7)
        self.drop = bg.nn.Dropout(0.5)
        self.rng = bg.random.default_rng(3)
        self.w = bg.nn.Parameter(bg.ones(64))
        self.part = wrap(self._part)
        self.whole = wrap(lambda x: self.part(self.part(x)) + self.drop(x))

    def _part(self, x: Any) -> Any:
        noise = self.rng.normal(size=64) + self.rng.uniform(size=64)
        return self.drop(x * self.w) * noise + self.drop(self.w)

    def step(self, whole: bool) -> None:
        self.w.grad = None
        x = self.bg.ones(64)
        y = self.whole(x) if whole else self.part(x)
        (y * y).sum().backward()

    def follows(self) -> list[Any]:
        """Return the gradient, and the next numbers of both streams."""
        return [
            self.w.grad.tolist(), self.drop(self.bg.ones(64)).tolist(),
            self.rng.random(8).tolist(),
        ]  # fmt: skip


@pytest.mark.parametrize("whole", [False, True], ids=["one", "nested"])
def test_gradients_equal_those_without_checkpoint(bg: Any, whole: bool) -> None:
    found = []
    for wrap in (bg.checkpoint, lambda f: f):
        chance = Chance(bg, wrap)
        for _ in range(3):
            chance.step(whole)
            found.append(chance.follows())
    for one, other in zip(found[:3], found[3:], strict=True):
        np.testing.assert_allclose(one[0], other[0], rtol=1e-5)
        assert one[1:] == other[1:]


def test_a_seed_between_both_times_does_not_matter(bg: Any) -> None:
    found = []
    for wrap in (bg.checkpoint, lambda f: f):
        chance = Chance(bg, wrap)
        loss = chance.part(bg.ones(64)).sum()
        bg.nn.init.seed(1)
        chance.rng.random(100)
        loss.backward()
        found.append(chance.follows())
    np.testing.assert_allclose(found[0][0], found[1][0], rtol=1e-5)
    assert found[0][1:] == found[1][1:]


def test_the_gradient_of_a_gradient(bg: Any) -> None:
    x = bg.asarray(np.linspace(1, 2, 64).astype(np.float32))
    found = []
    for wrap in (bg.checkpoint, lambda f: f):
        bg.nn.init.seed(5)
        drop = bg.nn.Dropout(0.5)
        part = wrap(lambda v, drop=drop: drop(v * v * v) + drop(v))
        slope = bg.grad(lambda v, f=part: (bg.grad(lambda u: (f(u) ** 2).sum())(v) ** 2).sum())
        found.append(slope(x).numpy())
    np.testing.assert_allclose(found[0], found[1], rtol=1e-4)


@pytest.mark.parametrize("whole", [False, True], ids=["one", "nested"])
def test_replays_repeat_random_draws_of_checkpoints(bg: Any, whole: bool) -> None:
    captured, eager = Chance(bg, bg.checkpoint), []
    with bg.capture() as graph:
        captured.step(whole)
    found = [captured.w.grad.tolist()]
    for _ in range(3):
        graph.replay()
        found.append(captured.w.grad.tolist())
    found.append(captured.follows()[1:])
    plain = Chance(bg, lambda f: f)
    for _ in range(4):
        plain.step(whole)
        eager.append(plain.w.grad.tolist())
    eager.append(plain.follows()[1:])
    np.testing.assert_allclose(found[:-1], eager[:-1], rtol=1e-5)
    assert found[-1] == eager[-1]
    assert found[0] != found[1]


def test_a_function_that_raises_leaves_the_stream(bg: Any) -> None:
    bg.nn.init.seed(2)
    drop, fails = bg.nn.Dropout(0.5), []
    w = bg.nn.Parameter(bg.ones(16))

    def part(x: Any) -> Any:
        y = drop(x)
        if fails:
            raise ZeroDivisionError
        return y * y

    loss = bg.checkpoint(part)(w).sum()
    fails.append(True)
    with pytest.raises(ZeroDivisionError):
        loss.backward()
    after = drop(bg.ones(16)).tolist()
    bg.nn.init.seed(2)
    drop(bg.ones(16))
    assert after == drop(bg.ones(16)).tolist()


def test_a_seed_within_a_captured_function_is_refused(bg: Any) -> None:
    w = bg.nn.Parameter(bg.ones(16))
    drop = bg.nn.Dropout(0.5)

    def part(x: Any) -> Any:
        y = drop(x)
        bg.nn.init.seed(1)
        return drop(y)

    def step() -> None:
        w.grad = None
        bg.checkpoint(part)(w).sum().backward()

    step()
    with pytest.raises(ValueError, match="seed"), bg.capture():
        step()
