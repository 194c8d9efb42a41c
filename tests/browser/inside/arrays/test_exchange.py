"""DLPack and devices: exchange of arrays with other libraries."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from inside.arrays.data import DTYPES, assert_same, sample

pytestmark = pytest.mark.firefox


class Producer:
    """An object with ``__dlpack__`` that is not an array."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()


@pytest.mark.parametrize("dtype", DTYPES)
def test_there_and_back(bg: Any, dtype: str) -> None:
    x = sample(dtype, (3, 4))
    array = bg.asarray(x)
    np.testing.assert_array_equal(np.from_dlpack(array), x, strict=True)
    np.testing.assert_array_equal(np.from_dlpack(array.T, copy=True), x.T, strict=True)
    assert_same(bg.from_dlpack(x), x)
    assert_same(bg.from_dlpack(Producer(x.T)), x.T)


def test_copies(bg: Any) -> None:
    x = bg.asarray([1.0, 2.0])
    assert bg.from_dlpack(x) is x
    assert bg.from_dlpack(x, copy=False, device=x.device) is x
    copied = bg.from_dlpack(x, copy=True)
    copied[0] = 9.0
    assert_same(x, [1.0, 2.0])
    host = np.from_dlpack(x)
    assert x.__dlpack_device__() == (1, 0) == host.__dlpack_device__()
    assert_same(bg.from_dlpack(host, device=x.device), [1.0, 2.0])
    for call in (
        lambda: x.__dlpack__(copy=False), lambda: x.__dlpack__(dl_device=(2, 0)),
        lambda: bg.from_dlpack(host, copy=False), lambda: np.from_dlpack(x, copy=False),
    ):  # fmt: skip
        with pytest.raises(BufferError):
            call()
    assert x.__dlpack__(max_version=(1, 0), dl_device=(1, 0), copy=True) is not None
    with pytest.raises(ValueError, match="stream"):
        x.__dlpack__(stream=1)
    with pytest.raises(TypeError, match="__dlpack__"):
        bg.from_dlpack([1.0])


def test_another_device(bg: Any) -> None:
    from pyodide.ffi import run_sync

    x = bg.asarray([1.0, 2.0])
    assert x.to_device(x.device) is x
    other = run_sync(bg.Device.request(warm_up=False))
    try:
        moved = x.to_device(other)
        assert moved.device is other
        assert_same(moved * 2, [2.0, 4.0])
        assert bg.from_dlpack(moved, device=x.device).device is x.device
        with pytest.raises(BufferError):
            bg.from_dlpack(moved, device=x.device, copy=False)
        del moved
    finally:
        other.close()
    for call in (lambda: x.to_device("cpu"), lambda: x.to_device(x.device, stream=1)):
        with pytest.raises(ValueError, match="to_device"):
            call()


def test_implicit_copies_are_read_only(bg: Any) -> None:
    """As in JAX: ``np.asarray(x)`` is a copy, so writes of a host library would be lost."""
    x = bg.asarray([1.0, 2.0])
    for found in (np.asarray(x), np.asarray(x, np.float64), np.asanyarray(x), np.asarray(x.flat)):
        with pytest.raises(ValueError, match="read-only"):
            found[0] = 9
    with pytest.raises(ValueError, match="read-only"):
        np.asarray(x).sort()
    for found in (np.array(x), np.array(x, np.float64), x.numpy(), np.asarray(x).copy()):
        found[0] = 9
    assert_same(x, [1.0, 2.0])
