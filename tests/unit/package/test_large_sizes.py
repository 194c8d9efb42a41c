"""Sizes beyond the limit of a kernel, checked on a fake GPU without memory for them.

Reductions are computed in parts. Other operations raise an error of the package before they are
recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from fake_gpu import FakeGpu, fake_device

import browsergpu as bg
from browsergpu.arrays.context import current
from browsergpu.engine.core import grids
from browsergpu.engine.core.errors import BackendError, InvalidArgument, OutOfMemory, Unsupported
from browsergpu.engine.device.device import Device
from browsergpu.engine.gpu.program import Dispatch, Program

ROWS = 65_536  # with this many columns: 2^32 elements


@pytest.fixture
def device() -> Iterator[Device]:
    made = fake_device()
    yield made
    made.close()


def array(device: Device, *shape: int, dtype: str = "float32") -> Any:
    made = bg.empty(shape, dtype=dtype, device=device)
    bg.eval(made)
    return made


def repeated(device: Device, *shape: int, axis: int = 0, dtype: str = "float32") -> Any:
    """Return a broadcast view whose elements differ along one axis at most."""
    axis = axis if len(shape) > 1 else -1
    own = tuple(extent if n == axis else 1 for n, extent in enumerate(shape))
    return bg.broadcast_to(array(device, *own, dtype=dtype), shape)


def counted(device: Device) -> int:
    """Count the elements that generated kernels read, except the few of partial results."""
    gpu = device.recorder
    assert isinstance(gpu, FakeGpu)
    told = [int(fields[3 + pipeline.bindings]) for pipeline, fields in gpu.dispatched]
    assert all(n <= grids.MOST_ELEMENTS for n in told)
    return sum(n for n in told if n > 2**30)


REDUCTIONS: dict[str, tuple[Callable[[Device], Any], tuple[int, ...], int]] = {
    "sum": (lambda d: bg.sum(array(d, ROWS, 1) * array(d, 1, ROWS)), (), ROWS**2),
    "mean": (lambda d: bg.mean(array(d, ROWS, 1) * array(d, 1, ROWS)), (), ROWS**2),
    "of a view": (lambda d: bg.sum(repeated(d, ROWS, ROWS + 3)), (), ROWS * (ROWS + 3)),
    "of one axis": (lambda d: bg.max(repeated(d, 2**32 - 1)), (), 2**32 - 1),
    "rows": (lambda d: bg.sum(repeated(d, ROWS, 2 * ROWS), axis=1), (ROWS,), 2 * ROWS**2),
    "columns": (lambda d: bg.sum(repeated(d, ROWS, 2 * ROWS), axis=0), (2 * ROWS,), 2 * ROWS**2),
    "a middle axis": (
        lambda d: bg.min(array(d, 99, 2**20, 1) + array(d, 1, 1, 999), axis=1),
        (99, 999),
        99 * 999 * 2**20,
    ),
    "the outer axes": (
        lambda d: bg.sum(repeated(d, 3, 2**17, 2**17, axis=1), axis=(0, 2), keepdims=True),
        (1, 2**17, 1),
        3 * 2**34,
    ),
    "products of integers": (
        lambda d: array(d, 1626, 1626, dtype="int32") @ array(d, 1626, 1626, dtype="int32"),
        (1626, 1626),
        1626**3,
    ),
    "nearest of many points": (
        lambda d: bg.min(bg.abs(array(d, ROWS, 1) - array(d, 1, ROWS)), axis=1),
        (ROWS,),
        ROWS**2,
    ),
    "isin": (lambda d: bg.any(array(d, ROWS, 1) == array(d, 1, ROWS), axis=0), (ROWS,), ROWS**2),
    "twice": (lambda d: _twice(array(d, ROWS, 1) * array(d, 1, ROWS)), (), 2 * ROWS**2),
    "variance": (lambda d: bg.var(array(d, ROWS, 1) * array(d, 1, ROWS)), (), 2 * ROWS**2),
    "an index": (
        lambda d: bg.sum(repeated(d, ROWS, ROWS)[:, array(d, ROWS, dtype="int32")]),
        (),
        ROWS**2,
    ),
    "eye": (lambda d: bg.sum(bg.eye(ROWS, 2 * ROWS, device=d)), (), 2 * ROWS**2),
}


def _twice(x: Any) -> Any:
    return bg.max(x) - bg.min(x)


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions_are_taken_part_by_part(device: Device, name: str) -> None:
    make, shape, elements = REDUCTIONS[name]
    found = make(device)
    bg.eval(found)
    assert found.shape == shape
    assert counted(device) == elements
    assert device.memory.peak < 2**29, "operands and results have memory, and nothing else"


def count_of_32_bits(x: bg.Array) -> bg.Array:
    before = bg.set_default_int("int32")
    try:
        return bg.count_nonzero(x)
    finally:
        bg.set_default_int(before)


REFUSED: dict[str, tuple[Callable[[Device], Any], type[BackendError], str]] = {
    "values": (
        lambda d: bg.eval(array(d, ROWS, 1) * array(d, 1, ROWS)),
        OutOfMemory,
        "17,179,869,184 bytes",
    ),
    "pairwise distances": (
        lambda d: bg.eval(bg.sum((array(d, ROWS, 1, 3) - array(d, 1, ROWS, 3)) ** 2, axis=-1)),
        OutOfMemory,
        "17,179,869,184 bytes",
    ),
    "a copy": (
        lambda d: bg.eval(repeated(d, ROWS, ROWS, dtype="uint8").copy()),
        OutOfMemory,
        "4,294,967,296 bytes",
    ),
    "a product": (
        lambda d: repeated(d, 2**17, 4) @ repeated(d, 4, 2**17),
        BackendError,
        "17179869184",
    ),
    "a sort": (lambda d: bg.sort(repeated(d, ROWS, ROWS)), OutOfMemory, "17,179,869,184 bytes"),
    "a count of 32 bits": (
        lambda d: count_of_32_bits(repeated(d, ROWS, ROWS)),
        Unsupported,
        "2147483647",
    ),
    "a place": (lambda d: bg.argmax(repeated(d, 2**32 - 1)), OutOfMemory, "17,179,869,180 bytes"),
    "an extent": (lambda d: bg.broadcast_to(array(d, 1), (2**32,)), InvalidArgument, "4294967295"),
    "a shape": (
        lambda d: bg.broadcast_to(array(d, 1), (ROWS, ROWS)).reshape(2**32),
        InvalidArgument,
        "4294967295",
    ),
    "a shape in other memory": (
        lambda d: repeated(d, ROWS, ROWS).reshape(-1),
        OutOfMemory,
        "17,179,869,184 bytes",
    ),
    "assignment": (
        lambda d: _assign(array(d, 9), repeated(d, ROWS, ROWS, dtype="int32")),
        BackendError,
        "4294967296",
    ),
    "indices beyond int32": (
        lambda d: repeated(d, 2**31)[array(d, 5, dtype="int32")],
        InvalidArgument,
        "2147483647",
    ),
}


def _assign(x: Any, places: Any) -> None:
    x[places] = 1.0


@pytest.mark.parametrize("name", REFUSED)
def test_impossible_sizes_raise_before_recording(device: Device, name: str) -> None:
    call, error, told = REFUSED[name]
    gpu = device.recorder
    assert isinstance(gpu, FakeGpu)
    with pytest.raises(error, match=told):
        call(device)
    assert not [fields for _, fields in gpu.dispatched if max(fields) > 2**24]
    assert not gpu.told


def test_a_value_too_large_for_memory_blocks_no_other(device: Device) -> None:
    """Other values are still computed, and the large one can still be reduced."""
    large = array(device, ROWS, 1) * array(device, 1, ROWS)
    kept = [array(device, n) + 1.0 for n in range(1, 40)]
    assert float(len(kept)) == 39
    bg.eval(bg.sum(large))
    assert counted(device) == ROWS**2
    with pytest.raises(OutOfMemory, match="multiply"):
        bg.eval(large)


@pytest.mark.parametrize(
    ("fields", "told"),
    [((2**32,), "4294967296"), ((-1,), "-1"), ((1.5,), "1.5")],
)
def test_a_parameter_outside_32_bits_raises(
    device: Device, fields: tuple[float, ...], told: str
) -> None:
    step = Dispatch("fill", "", (1, 1, 1), (0,), (*fields, 0))
    with pytest.raises(Unsupported, match=f"made_up: n of the kernel 'fill' .* got {told}"):
        device.bound(Program((step,)), "made_up")


def test_a_grid_beyond_webgpus_limit_raises(device: Device) -> None:
    step = Dispatch("fill", "", (65_536, 1, 1), (0,), (1, 0))
    with pytest.raises(Unsupported, match=r"made_up: .*65536"):
        device.bound(Program((step,)), "made_up")


def test_no_buffer_has_more_bytes_than_a_kernel_counts() -> None:
    vast = fake_device(maxBufferSize=2**40, maxStorageBufferBindingSize=2**40)
    assert vast.largest_buffer <= grids.MOST_ELEMENTS
    with pytest.raises(OutOfMemory):
        bg.eval(bg.zeros(2**32 - 8, dtype="uint8", device=vast))
    vast.close()


def test_arrays_without_a_gpu_reduce_large_values_too() -> None:
    from browsergpu.functions.meta import stand_in

    found = bg.sum(stand_in((ROWS, 1)) * stand_in((1, ROWS)), axis=1)
    bg.eval(found)
    assert (found.shape, found.dtype) == ((ROWS,), np.float32)
    assert current(found.device).device is found.device
