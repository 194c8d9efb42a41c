"""Several GPUs: listing them, placing arrays, and refusing to mix devices."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from inside.arrays.data import assert_same, sample

pytestmark = pytest.mark.firefox

X = sample("float32", (3, 3))
INDEX = np.array([2, 0, 1], np.int32)
MASK = np.array([True, False, True])


@pytest.fixture
def other(bg: Any) -> Iterator[Any]:
    """A second device, on the same GPU if there is only one."""
    from browsergpu.engine.gpu.platform import block_on

    device = block_on(bg.Device.request(), "test")
    yield device
    device.close()


def test_the_first_of_the_devices_is_the_one_that_arrays_are_made_on(bg: Any) -> None:
    found = bg.devices()
    assert found == bg.devices()
    assert all(isinstance(one, bg.Device) and not one.is_closed for one in found)
    assert [one.adapter.index for one in found] == list(range(len(found)))
    assert set(found) <= set(bg.__array_namespace_info__().devices())
    assert bg.default_device() is bg.__array_namespace_info__().default_device()
    assert bg.default_device() in found
    assert bg.asarray(X).device is bg.default_device()


def test_a_device_can_be_given_by_its_number(bg: Any) -> None:
    first = bg.devices()[0]
    assert bg.default_device(0) is first
    assert bg.ones((2,), device=0).device is first
    assert bg.ones_like(bg.ones((2,)), device=0).device is first
    assert bg.asarray(X).to_device(0).device is first


@pytest.mark.parametrize("wrong", [-1, 99, True, 0.0, "cpu", object()])
def test_values_that_are_not_devices_are_refused(bg: Any, wrong: Any) -> None:
    a = bg.asarray(X)
    for call in (
        lambda: bg.default_device(wrong),
        lambda: bg.zeros((2,), device=wrong),
        lambda: bg.asarray(X, device=wrong),
        lambda: a.to_device(wrong),
        lambda: bg.astype(a, bg.int32, device=wrong),
        lambda: bg.full_like(a, 1, device=wrong),
    ):
        with pytest.raises(bg.errors.InvalidArgument, match=r"device must be .*, got"):
            call()


def test_the_default_device_is_where_new_arrays_are(bg: Any, other: Any) -> None:
    before = bg.default_device()
    assert bg.default_device(other) is other
    try:
        made = [
            bg.asarray(X), bg.zeros((2,)), bg.arange(3), bg.linspace(0, 1, 3), bg.eye(2),
            bg.random.default_rng(1).random((2,)), bg.from_dlpack(X), bg.asarray(X) + 1,
        ]  # fmt: skip
        assert [one.device for one in made] == [other] * len(made)
    finally:
        bg.default_device(before)
    assert bg.ones((2,)).device is before
    assert_same(made[-1], X + 1)  # the read uses the array's own device


def test_arrays_go_to_another_device_by_a_copy(bg: Any, other: Any) -> None:
    a = bg.asarray(X)
    moved = [
        a.to_device(other), bg.asarray(a, device=other), bg.from_dlpack(a, device=other),
        bg.astype(a, bg.float32, device=other),
    ]  # fmt: skip
    a += 1
    for one in moved:
        assert one.device is other
        assert_same(one, X)
    assert_same(bg.astype(bg.asarray(X), bg.int32, device=other), X.astype(np.int32))
    assert a.to_device(a.device) is a
    assert bg.asarray(a, device=a.device) is a
    with pytest.raises((ValueError, BufferError)):
        bg.asarray(a, device=other, copy=False)
    with pytest.raises(BufferError):
        bg.from_dlpack(a, device=other, copy=False)


CALLS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "add": lambda bg, a, b: a + b,
    "in place": lambda bg, a, b: a.__iadd__(b),
    "comparison": lambda bg, a, b: a < b,
    "where": lambda bg, a, b: bg.where(a > 0, a, b),
    "condition": lambda bg, a, b: bg.where(b > 0, a, a),
    "clip": lambda bg, a, b: bg.clip(a, b, None),
    "matmul": lambda bg, a, b: a @ b,
    "tensordot": lambda bg, a, b: bg.tensordot(a, b, axes=1),
    "vecdot": lambda bg, a, b: bg.vecdot(a, b),
    "einsum": lambda bg, a, b: bg.einsum("ij,jk->ik", a, b),
    "concat": lambda bg, a, b: bg.concat([a, b]),
    "stack": lambda bg, a, b: bg.stack([a, b]),
    "broadcast_arrays": lambda bg, a, b: sum(bg.broadcast_arrays(a, b)),
    "take": lambda bg, a, b: bg.take(a, bg.asarray(INDEX, device=b.device), axis=0),
    "take_along_axis": lambda bg, a, b: bg.take_along_axis(
        a, bg.zeros((3, 3), dtype=bg.int32, device=b.device), axis=0
    ),
    "index": lambda bg, a, b: a[bg.asarray(INDEX, device=b.device)],
    "mask": lambda bg, a, b: a[bg.asarray(MASK, device=b.device)],
    "assignment": lambda bg, a, b: a.__setitem__(0, b[0]),
    "assignment at an index": lambda bg, a, b: a.__setitem__(
        bg.asarray(INDEX, device=b.device), 0.0
    ),
    "assignment under a mask": lambda bg, a, b: a.__setitem__(b > 0, 0.0),
    "searchsorted": lambda bg, a, b: bg.searchsorted(a[0], b[0]),
    "isin": lambda bg, a, b: bg.isin(a, b),
    "solve": lambda bg, a, b: bg.linalg.solve(a, b),
    "cross": lambda bg, a, b: bg.linalg.cross(a, b),
    "outer": lambda bg, a, b: bg.linalg.outer(a[0], b[0]),
    "linear": lambda bg, a, b: bg.nn.linear(a, b),
    "convolution": lambda bg, a, b: bg.nn.conv1d(a[None], b[None]),
    "attention": lambda bg, a, b: bg.nn.scaled_dot_product_attention(
        a[None, None], b[None, None], a[None, None]
    ),
    "layer_norm": lambda bg, a, b: bg.nn.layer_norm(a, (3,), weight=b[0]),
    "embedding": lambda bg, a, b: bg.nn.embedding(bg.asarray(INDEX, device=b.device), a),
    "softmax and loss": lambda bg, a, b: bg.nn.cross_entropy(a, bg.asarray(INDEX, device=b.device)),
    "NumPy's add": lambda bg, a, b: np.add(a, b),
    "NumPy's concatenate": lambda bg, a, b: np.concatenate([a, b]),
    "NumPy's where": lambda bg, a, b: np.where(a > 0, a, b),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_arrays_of_two_devices_do_not_mix(bg: Any, other: Any, name: str) -> None:
    a, b = bg.asarray(X), bg.asarray(X + 1, device=other)
    with pytest.raises(TypeError, match="two devices"):
        CALLS[name](bg, a, b)
    assert_same(a, X)
    assert_same(b, X + 1)
