"""Parts of large arrays are assigned where they lie, and nobody sees it but the array."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from inside.arrays.data import assert_same

SHAPE = (1100, 20, 25)


def whole(dtype: str = "float32") -> np.ndarray:
    return (np.arange(np.prod(SHAPE)) % 97).reshape(SHAPE).astype(dtype)


def allocated(bg: Any, work: Any) -> int:
    """Bytes of the largest buffer that some work takes."""
    memory, sizes = bg.ones(1).device.memory, [0]
    usual = memory.get_buffer

    def get_buffer(op: str, nbytes: int) -> Any:
        sizes.append(nbytes)
        return usual(op, nbytes)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(memory), "get_buffer", lambda self, *given: get_buffer(*given))
        work()
    return max(sizes)


@pytest.mark.parametrize("dtype", ["bool", "float16", "float32", "complex64"])
def test_parts_in_one_piece_take_no_new_array(bg: Any, dtype: str) -> None:
    x = whole(dtype)
    array = bg.asarray(x)
    parts = [3, (5, 7), (2, slice(4, 6)), slice(-9, -2), (None, 8), (1, 3, slice(3, 5))]
    for n, key in enumerate(parts):
        part = (np.arange(x[key].size) % 5 + n).reshape(x[key].shape).astype(dtype)
        given = bg.asarray(part)

        def assign(key: Any = key, given: Any = given) -> None:
            array[key] = given

        bg.eval(array)
        begins, at = (np.lib.array_utils.byte_bounds(one)[0] for one in (x, x[key]))
        if (at - begins) % 4 == 0 and x[key].nbytes % 4 == 0:
            assert allocated(bg, assign) < x.nbytes // 4
        else:
            assign()
        x[key] = part
        array[key] = 2 + n
        x[key] = 2 + n
    array[10:20] = bg.asarray(x[0, :1])  # repeated
    x[10:20] = x[0, :1]
    assert_same(array, x, dtype)


def test_other_parts_make_a_new_array(bg: Any) -> None:
    x = whole("float16")
    array = bg.asarray(x)
    for key in ((0, 1, 3), (3, 4, slice(1, 4)), (slice(None, None, 200), 1), (slice(9, 3, -1), 0),
                (..., 4), slice(1, 900)):  # fmt: skip
        array[key] = 3
        x[key] = 3
    assert_same(array, x)
    view = bg.asarray(whole()).T
    view[0] = 5.0
    assert_same(view[:2], np.stack([np.full(SHAPE[:0:-1][1:] + SHAPE[:1], 5.0), whole().T[1]]))


def test_arrays_behave_as_values(bg: Any) -> None:
    x = whole()
    array = bg.asarray(x)
    view, same, moved = array[:2], bg.asarray(array, copy=True), array.T
    pending = array * 2.0
    array[1] = -1.0
    changed = x.copy()
    changed[1] = -1.0
    assert_same(array, changed)
    assert_same(view, x[:2])
    assert_same(same, x)
    assert_same(moved, x.T)
    assert_same(pending, x * 2)
    del view, same, moved, pending
    later = array.sum(axis=0) + array[0]  # recorded before, and reads what was
    array[2] = array[1] + array[3]  # what is assigned reads the array itself
    array[3], array[4] = array[4], array[3]
    assert_same(later, changed.sum(axis=0) + changed[0])
    changed[2] = changed[1] + changed[3]
    changed[[3, 4]] = changed[[4, 3]]
    assert_same(array, changed)


def test_a_read_that_has_begun_gets_what_was(bg: Any) -> None:
    import asyncio

    from pyodide.ffi import run_sync

    x = whole()
    array = bg.asarray(x)

    async def both() -> np.ndarray:
        reading = asyncio.ensure_future(array.numpy_async())
        await asyncio.sleep(0)
        array[0] = 99.0
        array[1099] = 99.0
        return await reading

    np.testing.assert_array_equal(run_sync(both()), x)
    assert float(array[1099, 0, 0]) == 99.0


def test_many_small_assignments(bg: Any) -> None:
    out = bg.empty((700, 400), dtype=bg.float32)
    step = bg.asarray(np.arange(400, dtype=np.float32))
    expected = np.empty((700, 400), np.float32)
    out[0], expected[0] = 1.0, 1.0
    for i in range(1, 120):
        out[i] = out[i - 1] * 0.5 + step
        expected[i] = expected[i - 1] * np.float32(0.5) + np.arange(400, dtype=np.float32)
    assert_same(out[:120], expected[:120], rtol=1e-5)


def test_a_raw_kernel_writes_where_its_array_lies(bg: Any) -> None:
    add = bg.RawKernel("""
      @group(0) @binding(0) var<storage, read_write> y: array<f32>;
      @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
        if (id.x < arrayLength(&y)) { y[id.x] += 1.0; }
      }""")
    x = np.zeros(2**18, np.float32)
    array = bg.asarray(x)
    assert allocated(bg, lambda: add(2**12, array)) == 0
    view = array[:5]
    add(2**12, array)
    assert_same(view, np.ones(5))
    assert_same(array, x + 2)
