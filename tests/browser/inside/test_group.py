"""BackendGroup: the policies, and copies between backends."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from inside.comparison import assert_same_bits
from inside.gpu import random_array


@pytest.fixture
def backends() -> Iterator[list[Any]]:
    """Three backends, each with its own device."""
    from browsergpu import WasmBackend

    made = [WasmBackend() for _ in range(3)]
    for backend in made:
        backend.init()
    yield made
    for backend in made:
        backend.close()


def test_round_robin(backends: list[Any]) -> None:
    from browsergpu import BackendGroup

    group = BackendGroup(backends)
    assert group.policy == "round_robin"
    assert [group.choose() for _ in range(7)] == [*backends, *backends, backends[0]]


def test_memory(backends: list[Any]) -> None:
    from browsergpu import BackendGroup

    group = BackendGroup(backends, "memory")
    a, b, c = backends
    a.alloc(3000)
    b.alloc(1000)
    c.alloc(2000)
    assert group.choose() is b
    b.alloc(4000)
    assert group.choose() is c


def test_utilization(backends: list[Any]) -> None:
    from browsergpu import BackendGroup

    group = BackendGroup(backends, "utilization")
    pointers = [(backend, backend.alloc(64)) for backend in backends]
    for backend, _ in pointers:
        backend.synchronize()
    for count, (backend, pointer) in zip((5, 0, 2), pointers, strict=True):
        for _ in range(count):
            backend.unary("neg", pointer, pointer, 16)
    assert group.choose() is backends[1]
    for _ in range(9):
        backends[1].unary("neg", pointers[1][1], pointers[1][1], 16)
    assert group.choose() is backends[2]
    for backend in backends:
        backend.synchronize()
    assert [backend.device.recorder.unfinished for backend in backends] == [0, 0, 0]


def test_performance(backends: list[Any]) -> None:
    from browsergpu import BackendGroup
    from browsergpu.errors import InvalidArgument

    group = BackendGroup(backends, "performance")
    with pytest.raises(InvalidArgument, match="measure"):
        group.choose()
    scores = group.measure()
    assert len(scores) == 3
    assert all(score > 0 for score in scores)
    assert group.choose() is backends[scores.index(max(scores))]
    assert [backend.device.memory.buffers for backend in backends] == [0, 0, 0]


@pytest.mark.parametrize("policy", ["round_robin", "utilization", "performance", "memory"])
def test_lost_and_closed_members_are_passed_over(policy: str) -> None:
    import js

    from browsergpu import BackendGroup, WasmBackend
    from browsergpu.errors import DeviceLost

    made = []
    for _ in range(3):
        backend = WasmBackend()
        backend.init()
        made.append((backend, js.gpuWatch.devices[-1]))
    (first, _), (second, second_device), (third, third_device) = made
    group = BackendGroup([first, second, third], policy)
    second_device.destroy()
    with pytest.raises(DeviceLost):
        second.synchronize()
    first.close()
    if policy == "performance":
        assert [score > 0 for score in group.measure()] == [False, False, True]
    assert [group.choose() for _ in range(4)] == [third] * 4
    third_device.destroy()
    with pytest.raises(DeviceLost):
        third.synchronize()
    with pytest.raises(DeviceLost, match="every device"):
        group.choose()
    for backend in (second, third):
        backend.close()


def test_copies_between_backends(backends: list[Any]) -> None:
    from browsergpu import BackendGroup

    a, b, _ = backends
    group = BackendGroup(backends)
    data = random_array(1, 25)
    source, target = a.alloc(100), b.alloc(203)
    a.copy_htod(source, data)
    a.unary("neg", source, source, 25)
    b.copy_htod(target, b"\xa5" * 203)
    group.copy(a, source, b, target)
    result = bytearray(203)
    b.copy_dtoh(result, target)
    assert_same_bits(np.frombuffer(result[:100], np.float32), -data, "copied")
    assert result[100:] == b"\xa5" * 103
    other = a.alloc(100)
    group.copy(a, source, a, other)
    a.copy_dtoh(memoryview(result)[:100], other)
    assert_same_bits(np.frombuffer(result[:100], np.float32), -data, "within one backend")


def test_copies_that_are_refused_change_nothing(backends: list[Any]) -> None:
    from browsergpu import BackendGroup
    from browsergpu.errors import InvalidArgument

    a, b, stranger = backends
    group = BackendGroup([a, b])
    source, small = a.alloc(100), b.alloc(99)
    b.copy_htod(small, b"\xa5" * 99)
    for argument, call in {
        "dst": (a, source, b, small),
        "source": (stranger, source, b, small),
        "target": (a, source, stranger, small),
        "ptr": (b, source, a, source),  # another backend's pointer
    }.items():
        with pytest.raises(InvalidArgument) as caught:
            group.copy(*call)
        assert caught.value.argument == argument
    result = bytearray(99)
    b.copy_dtoh(result, small)
    assert result == b"\xa5" * 99


def test_bad_arguments(backends: list[Any]) -> None:
    from browsergpu import BackendGroup, WasmBackend
    from browsergpu.errors import InvalidArgument

    for members in ([], None, 5, "abc", backends[0], [5], [*backends, WasmBackend()]):
        with pytest.raises(InvalidArgument) as caught:
            BackendGroup(members)  # type: ignore[arg-type]
        assert (caught.value.op, caught.value.argument) == ("BackendGroup", "backends")
    with pytest.raises(InvalidArgument, match="'round_robin', 'utilization'"):
        BackendGroup(backends, "fastest")
