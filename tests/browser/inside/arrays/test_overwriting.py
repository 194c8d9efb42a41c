"""Assignment in place to parts of large arrays: other arrays keep their values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from inside.arrays.data import assert_same

pytestmark = [pytest.mark.native, pytest.mark.firefox]

SHAPE = (1100, 20, 25)


def whole(dtype: str = "float32") -> np.ndarray:
    return (np.arange(np.prod(SHAPE)) % 97).reshape(SHAPE).astype(dtype)


def allocated(bg: Any, work: Any) -> int:
    """Return the bytes of the largest buffer that some work allocates."""
    memory, sizes = bg.ones(1).device.memory, [0]
    usual = memory.get_buffer

    def get_buffer(op: str, nbytes: int, label: str = "") -> Any:
        sizes.append(nbytes)
        return usual(op, nbytes, label)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(memory), "get_buffer", lambda self, *given: get_buffer(*given))
        work()
    return max(sizes)


class Kernels:
    """Records the kernels of some work, and the bytes of the largest buffer it allocates."""

    def __init__(self, bg: Any) -> None:
        self.device = bg.ones(1).device
        self.labels: list[str] = []

    def __enter__(self) -> Kernels:
        self.device.recorder.observers.append(self._seen)
        return self

    def __exit__(self, *_: object) -> None:
        self.device.recorder.observers.remove(self._seen)

    def _seen(self, pipeline: Any, _: Any) -> None:
        self.labels.append(pipeline.label)


KEYS: list[Any] = [
    3, (5, 7), (2, slice(4, 6)), slice(-9, -2), (None, 8), (1, 3, slice(3, 5)), (0, 1, 3), (..., 4),
    (3, 4, slice(1, 4)), (slice(None, None, 200), 1), (slice(9, 3, -1), 0), slice(1, 900),
    (slice(1, -1), slice(1, -1), slice(1, -1)), (slice(None, None, -7), slice(None, None, 3)),
    (slice(None), slice(None), slice(4, 24)), (slice(None), slice(4), None),
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int16", "float16", "float32", "complex64"])
def test_parts_take_one_kernel_and_no_new_array(bg: Any, dtype: str) -> None:
    x = whole(dtype)
    array = bg.asarray(x)
    for n, key in enumerate(KEYS):
        part = (np.arange(x[key].size) % 5 + n).reshape(x[key].shape).astype(dtype)
        given = bg.asarray(part)
        with Kernels(bg) as kernels:

            def assign(key: Any = key, given: Any = given, n: int = n) -> None:
                array[key] = given
                array[n * 9 : n * 11] = n

            assert allocated(bg, assign) == 0
        assert kernels.labels == ["fused: assign"] * (2 if n else 1), key
        x[key] = part
        x[n * 9 : n * 11] = n
    array[10:20] = bg.asarray(x[0, :1])  # broadcast
    x[10:20] = x[0, :1]
    assert_same(array, x, dtype)


def test_a_pending_value_is_written_by_the_kernel_that_computes_it(bg: Any) -> None:
    x, y = whole(), whole()[:, ::-1].copy()
    array, other = bg.asarray(x), bg.asarray(y)
    inner = (slice(1, -1), slice(2, -1), slice(3, -2))
    with Kernels(bg) as kernels:

        def step() -> None:
            array[inner] += 0.5 * other[inner]
            array[5] *= 2

        assert allocated(bg, step) <= 4 * array[5].size  # only the value's own
    assert kernels.labels == ["fused: multiply add assign", "fused: multiply assign"]
    x[inner] += 0.5 * y[inner]
    x[5] *= 2
    assert_same(array, x)
    with Kernels(bg) as kernels:  # the array is read at other elements, so it is copied
        array[inner] += array[2:, 2:-1, 3:-2]
    assert kernels.labels == ["fused: add assign"]
    with Kernels(bg) as kernels:  # for a small part, the value is computed first
        array[3] += array[4]
    assert kernels.labels == ["fused: add", "fused: assign"]
    x[inner] += x[2:, 2:-1, 3:-2]
    x[3] += x[4]
    array[1:] = array[:-1]
    x[1:] = x[:-1]
    array[4] = array[3] * 2 + array[4]
    x[4] = x[3] * 2 + x[4]
    array[::2] = array[::-2]
    x[::2] = x[::-2]
    array[3:6] = array[bg.asarray([5, 4, 3])] + 1
    x[3:6] = x[[5, 4, 3]] + 1
    assert_same(array, x)
    with Kernels(bg) as kernels:
        array[7:9] = array[7:9]
    assert kernels.labels == []
    view = bg.asarray(whole()).T  # neither row-major nor packed
    view[0] = 5.0
    assert_same(view[:2], np.stack([np.full(SHAPE[:0:-1][1:] + SHAPE[:1], 5.0), whole().T[1]]))


def test_pending_reads_of_old_elements_need_no_extra_kernel(bg: Any) -> None:
    """A simulation step with a named intermediate value that is still pending."""
    x = whole()
    array = bg.asarray(x)
    with Kernels(bg) as kernels:
        for _ in range(3):
            around = array[:-2] + array[2:]
            array[1:-1] += 0.25 * around
    for _ in range(3):
        before = x[:-2] + x[2:]
        x[1:-1] += np.float32(0.25) * before
    assert kernels.labels == ["fused: add multiply add assign"] * 3
    assert_same(around, before)
    assert_same(array, x)
    view, viewed = array[2:], x[2:]  # a named view, which changes with the array
    waits, sums = array[:-2] + view, x[:-2] + viewed
    array[1:-1] += 0.25 * waits
    x[1:-1] += np.float32(0.25) * sums
    assert_same(waits, sums)
    assert_same(view, viewed)
    view[3] = 5
    viewed[3] = 5
    assert_same(array, x)


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int16", "float16", "float32", "complex64"])
def test_arrays_are_rebuilt_if_the_value_reads_them(
    bg: Any, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from browsergpu.arrays.indexing import assignment

    monkeypatch.setattr(assignment, "LEAST", 0)
    rng = np.random.default_rng(9)
    cases: list[tuple[tuple[int, ...], Any, Any]] = [
        ((4001,), slice(1, -1), slice(2, None)),
        ((4000,), slice(4, None), slice(None, -4)),
        ((64, 48), (slice(1, -1), slice(1, -1)), (slice(None, -2), slice(2, None))),
        ((37, 53), (slice(None), slice(3, None)), (slice(None), slice(None, -3))),
        ((40, 36), (slice(4, None), slice(None)), (slice(None, -4), slice(None))),
        ((9, 8, 12), (slice(None), slice(1, 8), slice(None)), (slice(None), slice(7), slice(None))),
        ((3, 41, 41), (slice(None), slice(1, None), slice(1, None)),
         (slice(None), slice(None, -1), slice(None, -1))),
    ]  # fmt: skip

    def new(old: Any, turned: Any, column: Any) -> Any:
        return old | turned | column if dtype == "bool" else old + turned * column + 1

    for shape, part, other in cases:
        x = rng.integers(0, 2, (5, *shape)).astype(dtype)
        base, theirs = bg.asarray(x), x.copy()
        for array, expected in ((bg.asarray(x[1]), x[1].copy()), (base[2].copy(), x[2].copy())):
            kept, before = array[other], expected[other].copy()
            column = expected[part][..., :1].copy()
            beside = bg.asarray(column)
            with Kernels(bg) as kernels:
                array[part] = new(array[other], bg.flip(array[other]), beside)
            assert len(kernels.labels) == 1, (dtype, shape, kernels.labels)
            expected[part] = new(before, np.flip(before), column)
            assert_same(array, expected, f"{dtype} {shape}")
            assert_same(kept, expected[other], f"{dtype} {shape}")  # a view
            with Kernels(bg) as kernels:  # the value does not read the array
                nothing = bg.zeros_like(kept)
                array[part] = beside | nothing if dtype == "bool" else beside + nothing
            assert len(kernels.labels) == 1, (dtype, shape, kernels.labels)
            expected[part] = column
            assert_same(array, expected, f"{dtype} {shape}")
            array[part] = array[other]
            expected[part] = expected[other].copy()
            assert_same(array, expected, f"{dtype} {shape}")
        base[2][part] = new(base[2][other], bg.flip(base[2][other]), base[2][part][..., :1])
        before = theirs[2][other].copy()
        theirs[2][part] = new(before, np.flip(before), theirs[2][part][..., :1].copy())
        assert_same(base, theirs)
    for rows in (80, 79):  # elements in one column are read by adjacent threads
        x = rng.integers(0, 2, (rows, rows)).astype(dtype)
        array = bg.asarray(x)
        array[1:-1, 2:] = new(array.T[2:, :-2], array[:-2, 2:], array[1:-1, :1])
        x[1:-1, 2:] = new(x.T[2:, :-2], x[:-2, 2:], x[1:-1, :1])
        assert_same(array, x, f"{dtype} {rows}")


def test_assigned_values_are_kept(bg: Any) -> None:
    x = whole()
    array = bg.asarray(x)
    part = array[0] + 1.0
    array[1] = part
    more = part * 3.0
    array[1] = 0.0
    array[2] = part
    array[0] = more
    assert_same(part, x[0] + 1)
    assert_same(more, (x[0] + 1) * 3)
    x[2], x[0], x[1] = x[0] + 1, (x[0] + 1) * 3, 0
    assert_same(array, x)
    large = bg.asarray(x[:-9]) + 1.0
    array[9:] = large  # at least half of the array: the value now shares its memory
    array[20] = 7.0
    array[30:] = 8.0
    assert_same(large, x[:-9] + 1)
    x[9:] = x[:-9] + 1
    x[20], x[30:] = 7, 8
    assert_same(array, x)
    more = array[3] + 1.0
    doubled = more * 2.0
    array[3] = more  # pending operations on the array are computed first
    array[4] = more + doubled
    assert_same(doubled, (x[3] + 1) * 2)
    x[3] += 1
    x[4] = x[3] * 3
    assert_same(array, x)


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int16", "float16", "float32", "complex64"])
def test_places_that_arrays_say(bg: Any, dtype: str) -> None:
    rng = np.random.default_rng(3)
    x = rng.integers(0, 2, 4000).astype(dtype)
    array = bg.asarray(x)
    for count in (1, 6, 249, 250, 251, 4000):  # from a sixteenth to all, with duplicates
        at = rng.integers(-4000, 4000, count).astype(np.int32)
        at[: count // 3] = at[count // 3 : 2 * (count // 3)]
        given = (np.arange(count) % 7).astype(dtype)
        kept, view = bg.asarray(array, copy=True), array[5:-5:3]
        array[bg.asarray(at)] = bg.asarray(given)
        assert_same(kept, x)
        x[at] = given
        assert_same(view, x[5:-5:3])
        assert_same(array, x, f"{dtype} {count}")
        array[bg.asarray(at[::2])] = 1
        x[at[::2]] = 1
        array[at[::3].tolist()] = array[at[::-3].tolist()][: len(at[::3])]
        x[at[::3]] = x[at[::-3]][: len(at[::3])]
        assert_same(array, x, f"{dtype} {count}")
        fresh, zeros = bg.zeros(4000, dtype=dtype), np.zeros(4000, dtype)
        fresh[bg.asarray(at)] = bg.asarray(given)
        zeros[at] = given
        assert_same(fresh, zeros, f"{dtype} {count}")
    grid, ours = x[:3960].reshape(99, 40), array[:3960].reshape(99, 40) + bg.zeros(1, dtype=dtype)
    for key in (([3, 3, -1], slice(None)), (slice(2, 90), [1, 1, 0, -2]), ([1, 2], [3, 4])):
        given = (np.arange(grid[key].size) % 5).reshape(grid[key].shape).astype(dtype)
        grid[key] = given
        ours[key] = bg.asarray(given)
        assert_same(ours, grid, f"{dtype} {key}")
    numbers = bg.asarray(np.arange(9, dtype=np.int32)[::-1].copy())
    numbers[numbers] = numbers[numbers] * 2 + numbers
    expected = np.arange(9)[::-1].copy()
    expected[expected] = expected[expected] * 2 + expected
    assert_same(numbers, expected.astype(np.int32))


def test_kernels_of_places_that_arrays_say(bg: Any) -> None:
    x = np.arange(2**14, dtype=np.float32)
    at = np.random.default_rng(5).integers(0, 2**14, 2**14).astype(np.int32)
    array, places = bg.asarray(x), bg.asarray(at)
    with Kernels(bg) as kernels:
        bg.eval(taken := array[places * 3 % 2**14])
        bg.eval(array)
        result = bg.zeros(x.shape)
        result[places] = array
        bg.eval(result)
        array[places] = 5.0
        array[places[:8]] = array[:8] * 2.0
    assert kernels.labels == [
        "fused: multiply remainder index load",
        "fused: index is_inside where claim", "fused: subtract index load not_equal where",
        "fused: index is_inside where scatter",
        "fused: multiply index is_inside where", "fused: scatter", "fused: claim",
        "fused: minimum load add equal scatter",
    ]  # fmt: skip
    assert_same(taken, x[at * 3 % 2**14])
    expected = np.zeros_like(x)
    expected[at] = x
    assert_same(result, expected)
    x[at] = 5
    x[at[:8]] = x[:8] * 2
    assert_same(array, x)


def test_views_see_writes_at_no_cost(bg: Any) -> None:
    x = whole()
    array = bg.asarray(x)
    row, column = array[3], array[:9, 2, ::-3]

    def assign() -> None:
        array[3] = 1.0
        array[:, 2] = 2.0

    assert allocated(bg, assign) == 0
    x[3], x[:, 2] = 1, 2
    assert_same(row, x[3])
    assert_same(column, x[:9, 2, ::-3])
    row += 1.0
    column[2:5] = 7.0
    x[3] += 1
    x[:9, 2, ::-3][2:5] = 7
    assert_same(array, x)
    small = array[0] * 2.0
    with Kernels(bg) as kernels:
        array[0] = small
        small = small * 0.5
        array[0] = small
    assert kernels.labels == ["fused: multiply assign"] * 2
    memory = array.device.memory
    before_it, whole_one = memory.in_use, bg.zeros(SHAPE) + 1
    bg.eval(whole_one)
    one = small * 3.0
    whole_one[5] = one
    del whole_one
    assert memory.in_use - before_it < x.nbytes // 8  # array does not keep it alive
    last, before = array[0].copy(), array[0].copy()
    for n in range(1, 9):  # each assigned value is needed twice more
        last, before = last * 0.5 + before, last
        with Kernels(bg):
            assert allocated(bg, lambda n=n, last=last: array.__setitem__(n, last)) < x.nbytes // 8
    for n in range(1, 9):
        x[n] = x[n - 1] * np.float32(0.5) + x[max(n - 2, 0)]
    assert_same(array, x, rtol=1e-6)


def test_saved_values_move_out_of_the_way(bg: Any) -> None:
    x = whole()
    array, w = bg.asarray(x), bg.ones(SHAPE[1:]).requires_grad_()
    row = array[3]
    saved = (w * row).sum()  # its gradient needs the row's current values
    assert 0 < allocated(bg, lambda: array.__setitem__(3, 1.0)) < x.nbytes // 8
    saved.backward()
    assert_same(w.grad, x[3])
    x[3] = 1
    assert_same(array, x)
    assert_same(row, x[3])
    more = (w * array).sum()  # reads the whole array
    row += 1.0
    w.grad = None
    more.backward()
    assert_same(w.grad, x.sum(0), rtol=1e-5)
    x[3] += 1
    assert_same(array, x)


def test_recorded_operations_keep_the_values_they_read(bg: Any) -> None:
    x = whole()
    array = bg.asarray(x)
    view, same, moved = array[:2], bg.asarray(array, copy=True), array.T
    pending = array * 2.0
    array[1] = -1.0
    changed = x.copy()
    changed[1] = -1.0
    assert_same(array, changed)
    assert_same(view, changed[:2])
    assert_same(same, x)
    assert_same(moved, changed.T)
    assert_same(pending, x * 2)
    del view, same, moved, pending
    later = array.sum(axis=0) + array[0]  # recorded earlier: reads the old values
    array[2] = array[1] + array[3]  # the assigned value reads the array itself
    array[3], array[4] = array[4] + 0.0, array[3] + 0.0
    assert_same(later, changed.sum(axis=0) + changed[0])
    changed[2] = changed[1] + changed[3]
    changed[[3, 4]] = changed[[4, 3]]
    assert_same(array, changed)


def test_a_started_read_gets_the_old_values(bg: Any) -> None:
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


def test_a_raw_kernel_writes_to_its_arrays_memory(bg: Any) -> None:
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
    assert_same(view, np.full(5, 2.0, np.float32))
    assert_same(array, x + 2)
    add(1, array[64:128])  # only a part
    x[64:128] += 1
    assert_same(array, x + 2)
