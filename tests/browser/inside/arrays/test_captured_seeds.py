"""Generators in captured blocks and in compiled functions.

A generator from outside the block draws new numbers at each replay. A generator that the block
seeds draws the same numbers each time, as it would if the block ran again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.native


def _made(bg: Any) -> Any:
    rng = bg.random.default_rng(3)
    return bg.concatenate([rng.random(4), rng.normal(size=4), rng.gamma(2.0, size=4)])


def _seeded(bg: Any) -> Any:
    bg.random.seed(3)
    return bg.concatenate([bg.random.rand(4), bg.random.randn(4)])


def _state_set(bg: Any) -> Any:
    rng = bg.random.default_rng()
    rng.bit_generator.state = bg.random.Philox(5).state
    return rng.random(4)


def _layers(bg: Any) -> Any:
    bg.nn.init.seed(3)
    return bg.nn.Dropout(0.5)(bg.ones(16))


def _seeded_twice(bg: Any) -> Any:
    rng = bg.random.RandomState(1)
    first = rng.rand(4)
    rng.seed(1)
    return bg.concatenate([first, rng.rand(4)])


BLOCKS: dict[str, Callable[[Any], Any]] = {
    "made": _made, "seeded": _seeded, "state": _state_set, "layers": _layers,
    "seeded twice": _seeded_twice,
}  # fmt: skip


@pytest.mark.parametrize("name", BLOCKS)
def test_a_seed_in_a_block_is_set_again(bg: Any, name: str) -> None:
    with bg.capture() as graph:
        found = BLOCKS[name](bg)
    first = found.numpy().copy()
    for _ in range(2):
        graph.replay()
        np.testing.assert_array_equal(found, first)
    np.testing.assert_array_equal(BLOCKS[name](bg), first)
    graph.close()


@pytest.mark.parametrize("name", BLOCKS)
def test_a_seed_in_a_compiled_function_is_set_again(bg: Any, name: str) -> None:
    compiled = bg.jit(lambda x: x + BLOCKS[name](bg))
    x = bg.zeros(BLOCKS[name](bg).shape)
    expected = BLOCKS[name](bg)
    for _ in range(3):
        np.testing.assert_array_equal(compiled(x), expected)


def test_the_shared_stream_continues_after_the_block(bg: Any) -> None:
    with bg.capture() as graph:
        _seeded(bg)
    after = bg.random.rand(4).numpy()
    bg.random.seed(77)
    graph.replay()
    np.testing.assert_array_equal(bg.random.rand(4), after)
    graph.close()


def test_generators_without_a_seed_draw_on(bg: Any) -> None:
    outside = bg.random.default_rng(3)
    with bg.capture() as graph:
        found = [
            bg.random.default_rng().random(4), outside.random(4), outside.spawn(1)[0].random(4)
        ]  # fmt: skip
    first = [x.numpy().copy() for x in found]
    graph.replay()
    assert all((x.numpy() != y).all() for x, y in zip(found, first, strict=True))
    graph.close()


def test_a_seed_before_the_block_is_not_set_again(bg: Any) -> None:
    bg.random.seed(3)
    with bg.capture() as graph:
        found = bg.random.rand(4)
    graph.replay()
    second = found.numpy().copy()
    bg.random.seed(3)
    bg.random.rand(4)
    np.testing.assert_array_equal(bg.random.rand(4), second)
    graph.close()
