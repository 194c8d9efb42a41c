"""Autotuning: normal calls use different variants with right results, and the fastest is kept."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from inside.comparison import assert_same_bits
from inside.gpu import SENTINEL, on_gpu, whole_array

pytestmark = [pytest.mark.native, pytest.mark.kernels("worker", "main")]

M, N, K = 52, 72, 48  # whole vec4s
MOST_CALLS = 400


def wait_for(coroutine: Any) -> Any:
    from pyodide.ffi import run_sync

    return run_sync(coroutine)


@contextmanager
def opened(**options: Any) -> Iterator[Any]:
    """Open a backend that tunes by use, by default as cautious as on an integrated GPU.

    For the products of this file, it tries three variants.
    """
    from browsergpu import WasmBackend
    from browsergpu.engine.kernels.unmeasured import caution_for

    with WasmBackend(**{"tune_by_use": True, "warm_up": False, **options}) as backend:
        backend.init()
        device = backend.device
        device.variants._caution = caution_for("integrated", device.limits, frozenset())
        yield backend


@pytest.fixture
def fresh() -> Iterator[Any]:
    """Open such a backend, and delete its tuning results afterwards."""
    from browsergpu import forget_tuning

    with opened() as backend:
        forget_tuning(backend)
        yield backend
        forget_tuning(backend)


class Products:
    """Products of integers, which all variants sum exactly."""

    def __init__(self, backend: Any, gpu: Any, m: int = M) -> None:
        self._backend, self._gpu, self._m = backend, gpu, m
        a, b = whole_array(1, m, K), whole_array(2, K, N)
        self._expected = a @ b
        self._a, self._b = gpu.upload(a), gpu.upload(b)
        self._c = gpu.alloc(4 * m * N)

    def one(self) -> None:
        """Compute one product and check it."""
        self._backend.copy_htod(self._c, np.full((self._m, N), SENTINEL, np.float32))
        self._backend.gemm(
            "no_trans", "no_trans", self._m, N, K, 1.0, self._a, K, self._b, N, 0.0, self._c, N
        )
        found = self._gpu.download(self._c, (self._m, N))
        assert_same_bits(found, self._expected, "the product")


@contextmanager
def used(backend: Any) -> Iterator[None]:
    """Use the backend for arrays within the block."""
    import browsergpu as bg
    from browsergpu.arrays import context

    before = context._current[:]
    bg.use(backend)
    try:
        yield
    finally:
        context._current[:] = before


def comparisons(backend: Any) -> list[Any]:
    return list(backend.device._programs.by_use._comparisons.values())


def wait_compiled(backend: Any) -> None:
    """Wait until background compilation has ended."""
    for comparison in comparisons(backend):
        for candidate in comparison.candidates:
            for pipeline in candidate.pipelines:
                wait_for(backend.device.recorder.compiled(pipeline))


def turns(backend: Any) -> int:
    return sum(
        candidate.taken
        for comparison in comparisons(backend)
        for candidate in comparison.candidates
    )


async def saved(backend: Any) -> None:
    """Wait until the browser has stored the results."""
    await asyncio.gather(*backend.device._programs.by_use._saving)


def settle(backend: Any, products: Products) -> Any:
    """Call until the class has a winner and it is stored. Return the comparison."""
    products.one()
    (comparison,) = comparisons(backend)
    for _ in range(MOST_CALLS):
        if not comparisons(backend):
            wait_for(saved(backend))
            return comparison
        products.one()
        wait_compiled(backend)
    raise AssertionError(f"no winner after {MOST_CALLS} calls: {comparison.candidates}")


@pytest.mark.parametrize("clock", ["its own", "none"])
def test_a_winner_is_kept_and_each_call_is_right(fresh: Any, clock: str) -> None:
    device = fresh.device
    if clock == "none":
        device.features -= {"timestamp-query"}
    with on_gpu(fresh) as gpu:
        products = Products(fresh, gpu)
        comparison = settle(fresh, products)
        tried = {candidate.variant.name for candidate in comparison.candidates}
        assert tried == {"tile32", "tile64", "quads128x64", "quads64"}
        for candidate in comparison.candidates:
            assert candidate.first is not None, f"{candidate.variant.name} had no turn"
        left = comparison.left  # the last candidate wins, with any number of readings
        assert len(left) == 1 or all(len(candidate.readings) >= 3 for candidate in left)
        winner = comparison.winner.variant.name
        assert device.variants.tuned == {"gemm": {comparison.size_class: winner}}
        created = device.recorder.counters["pipelines_created"]
        hits = device.pipeline_hits
        for _ in range(3):
            products.one()
        assert not comparisons(fresh)
        assert device.recorder.counters["pipelines_created"] == created
        assert device.pipeline_hits > hits
        assert device._programs.packed, "what is settled is recorded at once"


def test_the_next_device_starts_with_the_winner(fresh: Any) -> None:
    with on_gpu(fresh) as gpu:
        settle(fresh, Products(fresh, gpu))
    tuned = fresh.device.variants.tuned
    assert tuned["gemm"]
    with opened() as other, on_gpu(other) as gpu:
        assert other.device.variants.tuned == tuned
        products = Products(other, gpu)
        for _ in range(3):
            products.one()
        assert not comparisons(other)
        assert other.device.recorder.counters["pipelines_created"] == 1


def test_the_first_call_uses_no_uncompiled_variant(fresh: Any) -> None:
    """A problem that occurs once compiles nothing more, and no call waits for other variants."""
    with on_gpu(fresh) as gpu:
        Products(fresh, gpu).one()
        assert fresh.device.recorder.counters["pipelines_created"] == 1
        assert turns(fresh) == 0
        (comparison,) = comparisons(fresh)
        assert comparison.candidates[0].bound is not None
        assert all(candidate.bound is None for candidate in comparison.candidates[1:])


def test_problems_of_one_class_do_not_mix_their_times(fresh: Any) -> None:
    with on_gpu(fresh) as gpu:
        first, second = Products(fresh, gpu), Products(fresh, gpu, 2 * M)
        for _ in range(3):
            first.one()
            second.one()
            wait_compiled(fresh)
        one, other = comparisons(fresh)
        assert one.size_class == other.size_class
        assert sum(candidate.taken for candidate in one.candidates) > 0
        assert sum(candidate.taken for candidate in other.candidates) > 0
        settled = None
        for _ in range(MOST_CALLS):
            first.one()
            wait_compiled(fresh)
            if not comparisons(fresh):
                settled = fresh.device.variants.tuned["gemm"]
                break
        assert settled == {one.size_class: one.winner.variant.name}
        second.one()


@pytest.mark.parametrize("options", [{"tune_by_use": False}, {"debug_mode": True}])
def test_it_can_be_turned_off(options: dict[str, Any]) -> None:
    with opened(**options) as backend, on_gpu(backend) as gpu:
        assert backend.device._programs.by_use is None
        products = Products(backend, gpu)
        for _ in range(5):
            products.one()
        assert backend.device.variants.tuned == {}
        assert backend.device.recorder.counters["pipelines_created"] == 1


def test_invalid_arguments_are_refused() -> None:
    from browsergpu import BackendConfig
    from browsergpu.errors import InvalidArgument

    with pytest.raises(InvalidArgument, match=r"BackendConfig: tune_by_use must .*, got 'yes'"):
        BackendConfig(tune_by_use="yes")  # type: ignore[arg-type]


def test_by_default_measured_devices_and_software_do_without() -> None:
    from browsergpu import WasmBackend

    with WasmBackend() as backend:
        backend.init()
        device = backend.device
        unknown = device.device_type != "cpu" and not device.variants.is_measured
        assert (device._programs.by_use is not None) == unknown


def test_captured_calls_are_not_autotuned(fresh: Any) -> None:
    import browsergpu as bg

    with used(fresh):
        a, b = whole_array(3, M, K), whole_array(4, K, N)
        x, w = bg.asarray(a), bg.asarray(b)
        for _ in range(4):
            assert_same_bits(np.asarray(x @ w), a @ b, "before")
            wait_compiled(fresh)
        before = turns(fresh)
        assert before > 0
        with bg.capture() as graph:
            y = x @ w
        for _ in range(3):
            graph.replay()
            assert_same_bits(np.asarray(y), a @ b, "replayed")
        assert turns(fresh) == before
        assert_same_bits(np.asarray(x @ w), a @ b, "after")
        assert turns(fresh) > before


def test_profiles_and_forced_variants_take_no_turns(fresh: Any) -> None:
    from browsergpu import profile

    with on_gpu(fresh) as gpu:
        products = Products(fresh, gpu)
        for _ in range(3):
            products.one()
            wait_compiled(fresh)
        before = turns(fresh)
        with profile():
            products.one()
        assert turns(fresh) == before
        with fresh.device.variants.only("attention", "general"):
            products.one()
            products.one()
            assert turns(fresh) == 0


def test_a_variant_that_does_not_compile_is_left_out(
    fresh: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from browsergpu.engine.kernels.text import shaders

    right = shaders.to_compile

    def wrong(file: str, constants: Any, **options: Any) -> Any:
        code, left = right(file, constants, **options)
        return (code + "\nthis is no WGSL" if constants.get("SIDE") == 64 else code), left

    monkeypatch.setattr(shaders, "to_compile", wrong)
    with on_gpu(fresh) as gpu:
        comparison = settle(fresh, Products(fresh, gpu))
        fresh.synchronize()
    (broken,) = (
        candidate for candidate in comparison.candidates if candidate.variant.name == "tile64"
    )
    assert broken.is_out
    assert broken.taken == 0
    assert comparison.winner is not broken


@pytest.mark.parametrize("text", ["no JSON", "[1]", '{"gemm": 5}', '{"gemm": {"small": "none"}}'])
def test_broken_storage_is_ignored(fresh: Any, text: str) -> None:
    from browsergpu.engine.device import tuned
    from browsergpu.engine.gpu import platform

    key = tuned._key(tuned._PICKS, fresh.device.info)
    assert wait_for(platform.write_setting(key, text))
    with opened() as other, on_gpu(other) as gpu:
        assert other.device.variants.tuned.get("gemm", {}) == {}
        products = Products(other, gpu)
        for _ in range(2):
            products.one()
        assert len(comparisons(other)) == 1
        assert wait_for(tuned.add_picks(other.device.info, other.device.variants))


def test_results_of_other_pages_are_kept(fresh: Any) -> None:
    from browsergpu.engine.device import tuned

    info = fresh.device.info
    assert wait_for(tuned.save_picks(info, {"gemm": {"tiny": "tiny"}, "conv2d": {"x": "tile64"}}))
    with on_gpu(fresh) as gpu:
        comparison = settle(fresh, Products(fresh, gpu))
    kept = wait_for(tuned.load_picks(info))
    winner = comparison.winner.variant.name
    assert kept == {
        "gemm": {"tiny": "tiny", comparison.size_class: winner}, "conv2d": {"x": "tile64"},
    }  # fmt: skip


def test_tuning_starts_again_after_forgetting(fresh: Any) -> None:
    from browsergpu import forget_tuning

    with on_gpu(fresh) as gpu:
        products = Products(fresh, gpu)
        settle(fresh, products)
        forget_tuning(fresh)
        products.one()
        assert len(comparisons(fresh)) == 1
