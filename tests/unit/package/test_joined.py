"""concat and stack write each element once, checked on a fake GPU."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil
from typing import Any

import pytest
from fake_gpu import FakeGpu, fake_device

import browsergpu as bg
from browsergpu.engine.device.device import Device

GROUP = 1024  # elements that a workgroup writes


@pytest.fixture
def device() -> Iterator[Device]:
    made = fake_device()
    yield made
    made.close()


def arrays(device: Device, count: int, *shape: int, dtype: str = "float32") -> list[Any]:
    found = [bg.empty(shape, dtype=dtype, device=device) for _ in range(count)]
    bg.eval(*found)
    recorder(device).dispatched.clear()
    return found


def recorder(device: Device) -> FakeGpu:
    gpu = device.recorder
    assert isinstance(gpu, FakeGpu)
    return gpu


def written(device: Device) -> tuple[int, int]:
    """Return the number of dispatches and their total of workgroups."""
    grids = [fields[:3] for _, fields in recorder(device).dispatched]
    return len(grids), sum(int(x * y * z) for x, y, z in grids)


@pytest.mark.parametrize("count", [1, 2, 3, 8, 40, 300])
@pytest.mark.parametrize("axis", [0, 1, None])
def test_each_element_is_written_once(device: Device, count: int, axis: int | None) -> None:
    parts = arrays(device, count, 64, 96)
    whole = bg.concat(parts, axis=axis)
    bg.eval(whole)
    dispatches, groups = written(device)
    assert groups == ceil(64 * 96 / GROUP) * count
    assert dispatches == (1 if count <= 2 else ceil(count / 7)), "seven arrays and what is written"


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_a_stack_is_written_once(device: Device, axis: int) -> None:
    bg.eval(bg.stack(arrays(device, 30, 64, 96), axis=axis))
    assert written(device) == (5, 6 * 30)


def test_parts_of_another_dtype_are_cast_where_they_go(device: Device) -> None:
    parts = arrays(device, 7, 64, 96) + arrays(device, 7, 64, 96, dtype="float16")
    recorder(device).dispatched.clear()
    bg.eval(bg.concat(parts))
    assert written(device) == (2, 6 * 14)


def test_odd_lengths_are_written_once(device: Device) -> None:
    parts = [x for n in range(20) for x in arrays(device, 1, 1023 + n)]
    recorder(device).dispatched.clear()
    bg.eval(bg.concat(parts))
    dispatches, groups = written(device)
    assert dispatches <= 5
    assert groups == sum(ceil((1023 + n) / GROUP) for n in range(20))


def test_large_values_are_computed_where_they_go(device: Device) -> None:
    """A single kernel computes a part and writes it to its place."""
    parts = arrays(device, 5, 1 << 18)  # 1 MiB
    bg.eval(bg.concat([x * 2.0 for x in parts]))
    assert written(device) == (5, 5 * 256)


def test_small_values_of_one_shape_are_computed_together(device: Device) -> None:
    (x,) = arrays(device, 1, 1000)
    bg.eval(bg.stack([x + float(n) for n in range(5)]))
    assert written(device) == (2, 1 + 5)


def test_parts_without_elements_cost_nothing(device: Device) -> None:
    parts = arrays(device, 9, 64, 96) + arrays(device, 50, 0, 96)
    recorder(device).dispatched.clear()
    bg.eval(bg.concat(parts))
    assert written(device) == (2, 6 * 9)


def test_operands_with_many_axes_have_room_for_their_parameters(device: Device) -> None:
    """No kernel has more parameter words than a slot of the uniform buffer holds."""
    shape = (2, 3, 2, 3, 2, 3, 2, 3)
    parts = [x.T for x in arrays(device, 20, *shape)]
    bg.eval(bg.concat(parts, axis=3))
    most = max(
        len(fields) - 3 - pipeline.bindings for pipeline, fields in recorder(device).dispatched
    )
    assert most <= 256
