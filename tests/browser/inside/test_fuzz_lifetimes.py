"""Random lifetimes of buffers, with errors and device losses; and random extreme values."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inside import reference, tolerances
from inside.comparison import assert_matches
from inside.gpu import on_gpu

#: As in test_fuzz.py: 10,000 gives the numbers below.
SCALE = int(os.environ.get("BROWSERGPU_FUZZ_CALLS", "10000")) / 10_000
LIVES = max(1, round(6 * SCALE))
STEPS = 120
EXTREMES = max(1, round(40 * SCALE))

seeds = st.integers(0, 2**32 - 1)


@pytest.mark.all
@pytest.mark.provokes_errors
def test_random_lives_of_kept_buffers() -> None:
    from pyodide.ffi import run_sync

    from inside.fuzz.lifetimes import Machine

    @settings(max_examples=LIVES)
    @given(st.lists(seeds, min_size=STEPS, max_size=STEPS))
    def live(steps: list[int]) -> None:
        async def play() -> None:
            machine = Machine()
            await machine.open()
            try:
                for seed in steps:
                    await machine.step(seed)
                await machine.finish()
            finally:
                machine.close()

        run_sync(play())

    live()


def any_floats(generator: np.random.Generator, n: int) -> np.ndarray:
    """Return float32 of all magnitudes except subnormal ones, and the limits."""
    exponents = generator.uniform(-126, 127.9, n)
    values = (np.exp2(exponents) * generator.choice([-1, 1], n)).astype(np.float32)
    edges = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 2.0**31, 2.0**32, -(2.0**31), 65504.0]
    edges += [65520.0, 2.0**-126, 3.4028235e38, 16_777_217.0, 0.5, 1.5, 2.5, 254.5, 255.5]
    return np.where(generator.random(n) < 0.3, generator.choice(edges, n), values).astype("f4")


@settings(max_examples=EXTREMES)
@given(seeds)
def test_powers_of_extreme_numbers(backend: Any, seed: int) -> None:
    generator = np.random.default_rng(seed)
    n = 257
    base = any_floats(generator, n)
    kind = generator.integers(4)
    if kind == 0:  # near 1, with large exponents
        base = (1 + generator.normal(size=n) * 10.0 ** generator.uniform(-7, -1)).astype("f4")
        power = (generator.uniform(-1, 1, n) * 2.0 ** generator.uniform(0, 25)).astype("f4")
    elif kind == 1:  # integer powers, also of negative numbers
        power = generator.integers(-140, 140, n).astype("f4")
    elif kind == 2:  # results near the limits of float32
        with np.errstate(all="ignore"):
            power = (generator.uniform(-150, 129, n) / np.log2(np.abs(base.astype("f8")))).astype(
                "f4"
            )
    else:
        power = any_floats(generator, n)
    with np.errstate(all="ignore"):
        flushed = np.where(np.abs(power) < 2.0**-126, np.float32(0), power)
        power = np.where(np.isnan(power), np.float32(2), flushed).astype("f4")
    with on_gpu(backend) as gpu:
        a, b, y = gpu.upload(base), gpu.upload(power), gpu.filled(n)
        backend.binary("pow", a, b, y, n)
        tolerance = tolerances.binary("pow", base, power)
        with np.errstate(all="ignore"):
            expected = reference.binary("pow", base, power)
        assert_matches(gpu.download(y, n), expected, **tolerance._asdict())


def cast_of(values: np.ndarray, dtype: str) -> np.ndarray:
    """Return a cast's result: truncated, clamped, NaN to 0; NumPy's float16; true unless 0."""
    if dtype == "f16":
        with np.errstate(all="ignore"):
            return values.astype(np.float16)
    if dtype == "bool":
        return values != 0
    limits = np.iinfo({"i32": np.int32, "u32": np.uint32, "u8": np.uint8}[dtype])
    whole = np.trunc(np.nan_to_num(values.astype(np.float64), nan=0.0, posinf=1e300, neginf=-1e300))
    return np.clip(whole, limits.min, limits.max).astype(limits.dtype)


@settings(max_examples=EXTREMES)
@given(seeds)
def test_casts_of_extreme_numbers(backend: Any, seed: int) -> None:
    from browsergpu import KernelExecutor

    generator = np.random.default_rng(seed)
    executor = KernelExecutor(backend.device)
    values = any_floats(generator, int(generator.integers(1, 300)))
    array = executor.from_numpy(values)
    for dtype in ("i32", "u32", "u8", "f16", "bool"):
        found = executor.cast(array, dtype).numpy()
        expected = cast_of(values, dtype)
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected, err_msg=f"f32 to {dtype}")


@settings(max_examples=EXTREMES)
@given(seeds)
def test_variances_of_numbers_far_from_zero(backend: Any, seed: int) -> None:
    from browsergpu import KernelExecutor

    generator = np.random.default_rng(seed)
    executor = KernelExecutor(backend.device)
    length = int(generator.choice([2, 3, 5, 17, 100, 1000, 5000]))
    shape = (int(generator.integers(1, 6)), length)
    mean = float(generator.normal()) * 10.0 ** generator.uniform(-3, 6)
    scale = max(abs(mean), 1e-3) * 10.0 ** generator.uniform(-4, 2)
    values = (mean + scale * generator.normal(size=shape)).astype(np.float32)
    axis = int(generator.integers(2))
    if axis == 0:
        values = np.ascontiguousarray(values.T)
    found = executor.variance(executor.from_numpy(values), axis).numpy()
    expected = values.astype(np.float64).var(axis=axis)
    # A few roundings of each deviation; the operands are exact.
    assert_matches(found, expected, rtol=1e-5, atol=1e-37, why="squares summed in float32")
