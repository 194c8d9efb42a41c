"""Random numbers: the same bits as on the host, whose distributions tests/unit tests."""

from __future__ import annotations

from collections.abc import Callable
from math import erf, sqrt
from typing import Any

import numpy as np
import pytest

from inside.comparison import assert_same_bits
from inside.gpu import SENTINEL

pytestmark = pytest.mark.firefox

KEY = 0x0123_4567_89AB_CDEF
SIZES = [1, 2, 3, 4, 5, 1023, 1025, 5000]
COUNTERS = [0, 2**32 - 1, 2**64 - 5, 2**128 - 2]


@pytest.fixture
def executor(backend: Any) -> Any:
    from browsergpu import KernelExecutor

    return KernelExecutor(backend)


def drawn(
    executor: Any, name: str, n: int, counter: int, *args: Any, dtype: str = "f32", key: int = KEY
) -> np.ndarray:
    """Return the numbers that a function of tensors/random.py writes to the start of a buffer."""
    from browsergpu.engine.tensors import philox, random
    from browsergpu.engine.tensors.view import View

    target = executor.empty((n + 3,), dtype)
    executor.fill(target, True if dtype == "bool" else 77)
    view = View(target.buffer, (n,), target.dtype)
    after = getattr(random, name)(executor.device, "test", view, key, counter, *args)
    assert after == (counter + philox.blocks_for(name, n)) % 2**128
    values: np.ndarray = target.numpy()
    if dtype in ("f32", "i32", "u32"):  # other dtypes are cast in whole words
        assert (values[n:] == 77).all(), "more was written than y has"
    return values[:n]


@pytest.mark.parametrize(
    ("counter", "key", "block"),
    [  # from kat_vectors in https://github.com/DEShawResearch/random123
        (0, 0, "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
        (2**128 - 1, 2**64 - 1, "408f276d 41c83b0e a20bc7c6 6d5451fd"),
        (
            0x03707344_13198A2E_85A308D3_243F6A88,
            0x299F31D0_A4093822,
            "d16cfe09 94fdcceb 5001e420 24126ea1",
        ),
    ],
)
def test_known_answers(executor: Any, counter: int, key: int, block: str) -> None:
    found = drawn(executor, "words", 4, counter, dtype="u32", key=key)
    assert " ".join(f"{word:08x}" for word in found) == block


@pytest.mark.parametrize("name", ["words", "uniform", "normal", "exponential"])
def test_the_same_bits_as_on_the_host(executor: Any, name: str) -> None:
    from browsergpu.engine.tensors import philox

    twin: Callable[..., np.ndarray] = getattr(philox, name)
    dtype = "u32" if name == "words" else "f32"
    for n in SIZES:
        for counter in COUNTERS:
            found = drawn(executor, name, n, counter, dtype=dtype)
            assert_same_bits(found, twin(KEY, counter, n), f"{n} from {counter}")
    many = drawn(executor, name, 100_000, 12345, dtype=dtype)
    assert_same_bits(many, twin(KEY, 12345, 100_000), "many")


@pytest.mark.parametrize(
    ("dtype", "low", "high"),
    [
        ("i32", -3, 4), ("i32", -(2**31), 2**31), ("i32", 5, 6), ("i32", -(2**31), 2**31 - 1),
        ("u32", 0, 2**32), ("u32", 10, 2**31 + 99), ("u8", 0, 256), ("u8", 20, 30), ("bool", 0, 2),
    ],
)  # fmt: skip
def test_integers(executor: Any, dtype: str, low: int, high: int) -> None:
    from browsergpu.engine.tensors import philox

    for n in SIZES:
        expected = philox.integers(KEY, 7, n, low, high - low)
        found = drawn(executor, "integers", n, 7, low, high, dtype=dtype)
        assert_same_bits(found, expected.view(np.int32).astype(found.dtype), f"{n}")
        if dtype != "bool":
            assert low <= int(found.min()) <= int(found.max()) < high


@pytest.mark.parametrize(
    ("low", "high"), [(-1.0, 1.0), (3.0, 3.0), (0.1, 0.3), (1e8, 1e8 + 64), (-3e38, 3e37)]
)
def test_uniform_within_bounds(executor: Any, low: float, high: float) -> None:
    from browsergpu.engine.tensors import philox

    least, bound = np.float32(low), np.float32(high)
    expected = least + (bound - least) * philox.uniform(KEY, 3, 5000)
    last = max(least, np.nextafter(bound, np.float32(-np.inf)))
    found = drawn(executor, "uniform", 5000, 3, low, high)
    assert_same_bits(found, np.minimum(expected, last), "rounded once for × and once for +")
    assert found.min() >= least
    assert low == high or found.max() < bound


def test_scaled_distributions(executor: Any) -> None:
    from browsergpu.engine.tensors import philox

    shift, scale = np.float32(-0.7), np.float32(1.3)
    expected = shift + scale * philox.normal(KEY, 3, 5000)
    assert_same_bits(drawn(executor, "normal", 5000, 3, -0.7, 1.3), expected, "normal")
    expected = scale * philox.exponential(KEY, 3, 5000)
    assert_same_bits(drawn(executor, "exponential", 5000, 3, 1.3), expected, "exponential")
    flat = drawn(executor, "normal", 9, 3, 2.5, 0.0)
    assert (flat == 2.5).all()


def test_halves_are_rounded_floats(executor: Any) -> None:
    from browsergpu.engine.tensors import philox

    found = drawn(executor, "normal", 1001, 0, dtype="f16")
    assert_same_bits(found, philox.normal(KEY, 0, 1001).astype(np.float16), "normal")


@pytest.mark.parametrize("name", ["words", "uniform", "normal", "exponential", "integers"])
def test_successive_draws_share_no_numbers(executor: Any, name: str) -> None:
    from browsergpu.engine.tensors import random

    dtype = {"words": "u32", "integers": "i32"}.get(name, "f32")
    bounds = (-1000, 1000) if name == "integers" else ()
    counter, parts = 2**32 - 10, []
    for n in (40, 4, 100):
        y = executor.empty((n,), dtype)
        counter = getattr(random, name)(executor.device, "test", y, KEY, counter, *bounds)
        parts.append(y.numpy())
    once = drawn(executor, name, 144, 2**32 - 10, *bounds, dtype=dtype)
    assert_same_bits(np.concatenate(parts), once, name)


def test_keys_and_counters_are_no_part_of_a_program(executor: Any, backend: Any) -> None:
    drawn(executor, "uniform", 10, 0)
    misses = backend.device.pipeline_misses
    programs = len(backend.device._programs.bound)
    for i in range(20):
        drawn(executor, "uniform", 10, i, 0.0, 1.0 + i, key=i)
    assert backend.device.pipeline_misses == misses
    assert len(backend.device._programs.bound) == programs


def test_nothing_is_drawn_into_no_elements(executor: Any) -> None:
    assert drawn(executor, "normal", 0, 5).shape == (0,)


def test_distribution_of_numbers_from_the_gpu(executor: Any) -> None:
    """Kolmogorov's statistic exceeds 1.95 once in a thousand times."""
    n = 50_000
    z = np.sort(drawn(executor, "normal", n, 0, key=1))
    below = np.array([0.5 * (1 + erf(value / sqrt(2))) for value in z.tolist()])
    u = np.sort(drawn(executor, "uniform", n, 0, key=2))
    steps = np.arange(n + 1) / n
    for cumulative in (below, u):
        distance = np.maximum(steps[1:] - cumulative, cumulative - steps[:-1]).max()
        assert distance * sqrt(n) < 1.95


def test_invalid_arguments_are_refused(executor: Any) -> None:
    from browsergpu.engine.tensors import random
    from browsergpu.errors import InvalidArgument

    floats, ints = executor.full((4,), SENTINEL), executor.empty((4,), "i32")
    calls: list[tuple[Callable[..., Any], Any, tuple[Any, ...], str]] = [
        (random.uniform, floats, (1.0, 0.5), "a number not below low, 1.0"),
        (random.uniform, floats, (-3e38, 3e38), "float32's range"),
        (random.uniform, floats, (0.0, float("nan")), "high"),
        (random.normal, floats, (0.0, -1.0), "scale"),
        (random.normal, floats, (float("inf"), 1.0), "mean"),
        (random.exponential, floats, (-0.5,), "scale"),
        (random.integers, ints, (5, 5), "more than low, 5"),
        (random.integers, ints, (0, 2**31 + 1), "-2147483648 to 2147483648 for i32"),
        (random.integers, executor.empty((4,), "u8"), (-1, 5), "0 to 256 for u8"),
    ]
    for function, y, bounds, words in calls:
        with pytest.raises(InvalidArgument, match=words):
            function(executor.device, "draw", y, 1, 0, *bounds)
    assert (floats.numpy() == np.float32(SENTINEL)).all()
