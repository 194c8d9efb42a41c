"""``capture()``: a replay has the effect of running the block again."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.firefox


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def same(x: Any, y: Any) -> None:
    """Assert that both have the same bits."""
    np.testing.assert_array_equal(np.asarray(x), np.asarray(y))


def test_inputs_are_written_in_place_and_outputs_follow(bg: Any, rng: Any) -> None:
    x, w = bg.asarray(rng.random((4, 5), np.float32)), bg.asarray(rng.random((5, 3), np.float32))
    with bg.capture() as graph:
        y = bg.tanh(x @ w).sum(axis=1)
    same(y, bg.tanh(x @ w).sum(axis=1))
    for _ in range(3):
        x[...] = rng.random((4, 5), np.float32)
        graph.replay()
        same(y, bg.tanh(x @ w).sum(axis=1))
    x[1:3] = 0.5
    w += 1
    graph.replay()
    same(y, bg.tanh(x @ w).sum(axis=1))


def test_the_block_runs_once_by_itself(bg: Any) -> None:
    x = bg.zeros(7)
    with bg.capture() as graph:
        x += 1
    same(x, np.ones(7))
    graph.replay()
    graph.replay()
    same(x, np.full(7, 3))


def changes(bg: Any, x: Any, y: Any, n: Any) -> Any:
    """Change arrays in all possible ways."""
    x += y
    y[1:4] = x[0:3]
    x[::2] = x[::2] * 0.5
    n += 1
    x[...] = bg.where(x > 3, x - 3, x)
    y[...] = bg.sort(y)[::-1]
    x[bg.asarray([1, 5])] = 0.25
    return (x * y).sum() + n


def test_arrays_that_change_go_on_from_replay_to_replay(bg: Any, rng: Any) -> None:
    start = [rng.random(9, np.float32), rng.random(9, np.float32), np.int32(0)]
    own, theirs = ([bg.asarray(one) for one in start] for _ in range(2))
    for one in own:
        bg.eval(one)
    with bg.capture() as graph:
        found = changes(bg, *own)
    for _ in range(4):
        graph.replay()
    for _ in range(5):
        expected = changes(bg, *theirs)
    same(found, expected)
    for x, y in zip(own, theirs, strict=True):
        same(x, y)


def test_replays_and_assignments_between_them_see_each_other(bg: Any) -> None:
    x = bg.asarray(np.arange(6, dtype=np.float32))
    with bg.capture() as graph:
        x *= 2
    x += 1
    graph.replay()
    x[2:4] = bg.asarray([10.0, 20.0])
    graph.replay()
    same(x, [4, 12, 20, 40, 36, 44])
    x[...] = x[::-1]
    graph.replay()
    same(x, [88, 72, 80, 40, 24, 8])


def test_arrays_of_a_graph_follow_it_after_a_block_that_raised(bg: Any) -> None:
    x = bg.zeros(3)
    with bg.capture() as graph:
        x += 1

    def raising() -> None:
        with bg.capture():
            x[...] = x + 10
            raise KeyError

    with pytest.raises(KeyError):
        raising()
    same(x, [11, 11, 11])
    graph.replay()
    same(x, [12, 12, 12])


def test_exchanged_arrays_are_exchanged_again(bg: Any) -> None:
    x, y = bg.asarray([1.0, 2.0]), bg.asarray([3.0, 4.0])
    with bg.capture() as graph:
        z = x.copy()
        x[...] = y
        y[...] = z
    same(x, [3, 4])
    graph.replay()
    same(x, [1, 2])
    same(y, [3, 4])


def test_views_follow_replays_and_copies_stay(bg: Any) -> None:
    x = bg.asarray(np.arange(4, dtype=np.float32))
    before, part = x.copy(), x[1:]
    with bg.capture() as graph:
        x += 1
        y = x * 10
    kept, view, plain = y.copy(), y[1:], y.detach()
    later = y + 1  # recorded, but not computed before the replay
    seen = x[:2]
    graph.replay()
    same(x, [2, 3, 4, 5])
    same(y, [20, 30, 40, 50])
    same(before, [0, 1, 2, 3])
    same(part, [3, 4, 5])
    same(kept, [10, 20, 30, 40])
    same(view, [30, 40, 50])
    same(plain, [20, 30, 40, 50])
    same(later, [11, 21, 31, 41])
    same(seen, [2, 3])
    view += 1
    seen += 1
    same(y, [20, 31, 41, 51])
    same(part, [4, 4, 5])
    graph.replay()
    same(x, [4, 5, 5, 6])
    same(y, [40, 50, 50, 60])
    same(view, [50, 50, 60])
    same(seen, [4, 5])
    del x, y
    graph.replay()
    same(view, [60, 60, 70])
    same(part, [6, 6, 7])


def test_an_assigned_output_is_a_value_of_its_own(bg: Any) -> None:
    x, log = bg.asarray([1.0, 2.0]), bg.zeros(2)
    with bg.capture() as graph:
        y = x * 3
    log[...] = y
    x[...] = 5.0
    graph.replay()
    same(log, [3, 6])
    same(y, [15, 15])


def test_uploads_in_a_block_are_constants(bg: Any, rng: Any) -> None:
    x = bg.asarray(rng.random(300, np.float32))
    table = rng.random(300, np.float32)
    with bg.capture() as graph:
        m = bg.asarray(table)
        m += x
        first = (x * 2).sum()  # later uploads may reuse its memory
        found = m[bg.asarray([5, 7, 7])] + first
        del first
        more = bg.asarray(table[::-1].copy()) + m
    for _ in range(2):
        x[...] = rng.random(300, np.float32)
        graph.replay()
        expected = (bg.asarray(table) + x)[bg.asarray([5, 7, 7])] + (x * 2).sum()
        same(found, expected)
        same(more, bg.asarray(table[::-1].copy()) + (bg.asarray(table) + x))


def test_random_numbers_go_on(bg: Any) -> None:
    own, theirs = bg.random.default_rng(5), bg.random.default_rng(5)

    def draw(rng: Any) -> Any:
        return (
            rng.random((3, 4)), rng.normal(1.0, 2.0, 7), rng.integers(0, 1000, 5),
            rng.random(6, dtype=np.float16), rng.permutation(10),
        )  # fmt: skip

    with bg.capture() as graph:
        found = draw(own)
    for _ in range(3):
        expected = draw(theirs)
        for x, y in zip(found, expected, strict=True):
            same(x, y)
        graph.replay()
    draw(theirs)
    for x, y in zip(draw(own), draw(theirs), strict=True):  # Python's generator advanced as well
        same(x, y)


def test_two_graphs_share_arrays(bg: Any) -> None:
    x = bg.asarray([1.0, 2.0, 3.0])
    with bg.capture() as more:
        x += 1
    with bg.capture() as twice:
        x *= 2
        y = x.sum()
    same(x, [4, 6, 8])
    more.replay()
    twice.replay()
    same(x, [10, 14, 18])
    same(y, 42)
    twice.close()
    more.replay()
    same(x, [11, 15, 19])
    same(y, 42)


@pytest.mark.parametrize("read", ["numpy", "float", "nonzero", "mask", "repr"])
def test_reading_in_the_block_is_refused_and_nothing_is_captured(bg: Any, read: str) -> None:
    x = bg.asarray([3.0])
    reads = {
        "numpy": lambda: x.numpy(), "float": lambda: float(x * 2), "nonzero": lambda: bg.nonzero(x),
        "mask": lambda: x[x > 1], "repr": lambda: repr(x),
    }  # fmt: skip
    blocks = []

    def work() -> None:
        nonlocal x
        with bg.capture() as graph:
            blocks.append(graph)
            x += 1
            reads[read]()

    with pytest.raises(
        NotImplementedError, match=r"values cannot be read in a block of capture\(\)"
    ):
        work()
    same(x, [4])
    with pytest.raises(ValueError, match="closed graph"):
        blocks[0].replay()
    with bg.capture() as graph:
        x += 1
    graph.replay()
    same(x, [6])


def test_wrong_uses_raise(bg: Any) -> None:
    x = bg.zeros(3)
    with bg.capture() as graph:
        x += 1
        with pytest.raises(ValueError, match="within another"), bg.capture():
            pass
        with pytest.raises(ValueError, match="got a graph in its block"):
            graph.replay()
        with pytest.raises(ValueError, match="got a graph in its block"):
            graph.close()
    graph.replay()
    same(x, [2, 2, 2])
    assert "kernels" in repr(graph)
    graph.close()
    graph.close()
    assert "closed" in repr(graph)
    with pytest.raises(ValueError, match="a closed graph"):
        graph.replay()
    x += 1
    same(x, [3, 3, 3])


def test_an_error_in_the_block_leaves_arrays_as_they_are(bg: Any) -> None:
    x = bg.zeros(3)

    def work() -> None:
        nonlocal x
        with bg.capture():
            x += 1
            y = bg.zeros(1000) + x[0]
            bg.eval(y)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        work()
    x += 1
    same(x, [2, 2, 2])
    used = bg.init().memory_usage["in_use"]
    for _ in range(20):
        with pytest.raises(ZeroDivisionError):
            work()
    assert bg.init().memory_usage["in_use"] <= used + 8192


def test_a_graph_keeps_its_memory_until_it_is_closed(bg: Any) -> None:
    device = bg.init()
    x = bg.zeros(50_000)
    bg.eval(x)

    def usage() -> int:
        device.memory.trim()
        return int(device.memory_usage["allocated"])

    def work() -> Any:
        with bg.capture() as graph:
            y = x + 1
            for _ in range(30):  # each result takes memory that the one after next reuses
                bg.eval(y)
                y = y * 1.5
            total = y.sum()
        return graph, total

    before = usage()
    graph, total = work()
    within = usage() - before
    assert 400_000 <= within < 1_500_000
    noise = [bg.zeros(50_000) + n for n in range(5)]
    bg.eval(*noise)
    graph.replay()
    same(noise[3], np.full(50_000, 3.0, np.float32))
    assert float(total) == pytest.approx(50_000 * 1.5**30, rel=1e-6)
    del noise
    for _ in range(5):
        graph, total = work()
    assert usage() - before < 2 * within
    graph.close()
    del total
    assert usage() - before < 10_000


def test_ten_thousand_replays_keep_memory_flat(bg: Any) -> None:
    device, x = bg.init(), bg.zeros(64)
    with bg.capture() as graph:
        x += 1
        y = bg.exp(-x)
    graph.replay()
    before = device.memory_usage
    for n in range(10_000):
        graph.replay()
        if n % 1000 == 0:
            np.testing.assert_allclose(y.numpy(), np.exp(-np.float32(n + 3)), rtol=1e-5, atol=1e-30)
    same(x, np.full(64, 10_002))
    assert device.memory_usage == before


def test_memory_that_a_graph_reads_is_reserved(bg: Any) -> None:
    x = bg.asarray([1.0, 2.0, 3.0, 4.0])
    y = bg.zeros(4)
    with bg.capture() as graph:
        y += x
    del x
    noise = [bg.asarray(np.full(4, 9.0, np.float32)) for _ in range(50)]
    graph.replay()
    same(y, [2, 4, 6, 8])
    assert len(noise) == 50


def test_a_view_that_was_there_changes_its_array(bg: Any) -> None:
    base = bg.asarray(np.arange(12, dtype=np.float32).reshape(3, 4))
    row, expected = base[1], base.numpy()
    with bg.capture() as graph:
        row += 100
        total = (base * 2).sum()
    for _ in range(2):
        expected[1] += 100
        same(row, expected[1])
        same(base, expected)
        same(total, np.float32(2 * expected.sum()))
        graph.replay()


def test_changing_copies_in_the_block_does_not_change_the_original(bg: Any, rng: Any) -> None:
    start = rng.random((600, 500), np.float32)  # large enough that parts are written in place
    own, theirs = bg.asarray(start), bg.asarray(start)

    def work(base: Any) -> Any:
        u = bg.asarray(base, copy=True)
        for _ in range(5):
            u[1:-1, 1:-1] += 0.2 * (u[:-2, 1:-1] + u[2:, 1:-1] - 2 * u[1:-1, 1:-1])
        row, same = base[3], base.reshape(base.shape)
        row += 1
        same[0] = 0
        return u, row, same

    with bg.capture() as graph:
        found = work(own)
    expected = work(theirs)
    for _ in range(3):
        for x, y in zip((own, *found), (theirs, *expected), strict=True):
            same(x, y)
        graph.replay()
        expected = work(theirs)


def test_memory_dropped_in_the_block_stays_for_replays(bg: Any, rng: Any) -> None:
    start = rng.random((600, 500), np.float32)
    given, theirs = [bg.asarray(start)], bg.asarray(start)
    with bg.capture() as graph:
        part = given.pop()[:]
        part[10:] *= 2
        total = part.sum()
    for _ in range(3):
        theirs[10:] *= 2
        same(total, theirs.sum())
        graph.replay()


def test_custom_kernels_are_captured(bg: Any) -> None:
    double = bg.ElementwiseKernel("float32 x", "float32 y", "y = x + x", "double_of")
    x = bg.asarray([1.0, 2.0])
    with bg.capture() as graph:
        y = double(x)
    x[...] = [5.0, 7.0]
    graph.replay()
    same(y, [10, 14])


def test_a_profile_sees_replayed_kernels(bg: Any) -> None:
    x = bg.zeros(16)
    with bg.capture() as graph:
        x += 1
        bg.eval(x)
        y = bg.sqrt(x).sum()
    graph.replay()
    with bg.profile(bg.init()) as found:
        graph.replay()
        graph.replay()
    assert len(found.events) == 2 * len(graph._captured.dispatches)
    same(y, np.float32(np.sqrt(np.float32(4)) * 16))


@pytest.fixture
def own() -> Iterator[Any]:
    """An open backend for this test."""
    from browsergpu import WasmBackend

    with WasmBackend() as backend:
        backend.init()
        yield backend


def captured(bg: Any, own: Any) -> tuple[Any, Any]:
    x = bg.asarray(np.zeros(3, np.float32), device=own.device)
    with bg.capture(device=own.device) as graph:
        x += 1
    graph.replay()
    same(x, [2, 2, 2])
    return x, graph


def test_after_close_a_graph_says_so(bg: Any, own: Any) -> None:
    from browsergpu.errors import NotInitialized

    _, graph = captured(bg, own)
    own.close()
    with pytest.raises(NotInitialized, match="closed"):
        graph.replay()
    graph.close()


def test_a_lost_device_raises(bg: Any, own: Any) -> None:
    from browsergpu.errors import DeviceLost
    from inside.losing import destroy

    x, graph = captured(bg, own)
    destroy(own.device)

    def replays() -> None:
        for _ in range(3):  # the first call may not notice the loss yet
            graph.replay()
            x.numpy()

    with pytest.raises(DeviceLost):
        replays()

    def work() -> None:
        with bg.capture(device=own.device):
            bg.eval(x + 1)
            x.numpy_async().send(None)

    with pytest.raises((DeviceLost, NotImplementedError)):
        work()
    graph.close()
    assert own.device.recorder.captured is None


def test_an_array_and_its_view_are_both_changed(bg: Any) -> None:
    x = bg.asarray(np.arange(6, dtype=np.float32))
    y, expected = x[2:], np.arange(6, dtype=np.float32)
    with bg.capture() as graph:
        x += 1
        y *= 2
    for _ in range(3):
        expected += 1
        expected[2:] *= 2
        same(x, expected)
        same(y, expected[2:])
        graph.replay()


def test_changed_parts_of_one_memory_go_on(bg: Any) -> None:
    whole, expected = bg.asarray(np.arange(12, dtype=np.float32)), np.arange(12, dtype=np.float32)
    a, b = whole[:5], whole[5:11:2]
    with bg.capture() as graph:
        a += 1
        b *= 2
    for _ in range(3):
        expected[:5] += 1
        expected[5:11:2] *= 2
        same(whole, expected)
        graph.replay()
        expected[:5] += 1
        expected[5:11:2] *= 2
        a[...] = 7.0
        expected[:5] = 7
        same(a, expected[:5])
        same(b, expected[5:11:2])
        graph.replay()


def test_operations_on_an_input_are_computed_again(bg: Any) -> None:
    for dtype in ("float32", "float16", "int32", "uint32", "int8", "uint8", "bool", "complex64"):
        x = bg.ones((3, 4), dtype=dtype)
        whole = [bg.sum, bg.prod, bg.any, bg.all, bg.count_nonzero]
        if dtype not in ("bool", "complex64"):
            whole += [bg.max, bg.min, lambda x: bg.sum(x, axis=0)]
        if dtype.startswith("float"):
            whole += [bg.mean, bg.std, bg.var]
        with bg.capture() as graph:
            found = [one(x) for one in whole]
        for value in (0, 2, 3):
            x[...] = np.ones((3, 4)).astype(dtype) * np.dtype(dtype).type(value)
            graph.replay()
            for one, y in zip(whole, found, strict=True):
                same(y, one(x))


def test_views_and_copies_of_an_input_follow_it(bg: Any) -> None:
    ways = {
        "copy": lambda x: x.copy(), "turned": lambda x: x[::-1], "reshape": lambda x: x.reshape(-1),
        "axis": lambda x: x[None], "broadcast": lambda x: bg.broadcast_to(x, (2, 3, 4)),
        "astype": lambda x: x.astype(x.dtype), "asarray": lambda x: bg.asarray(x, copy=True),
        "flatten": bg.nn.Flatten(0), "T": lambda x: x.T, "itself": lambda x: x,
        "detach": lambda x: x.detach(), "row": lambda x: x[1], "positive": lambda x: +x,
        "squeeze": lambda x: bg.squeeze(x[None], 0), "taken": lambda x: x[bg.asarray([2, 0])],
    }  # fmt: skip
    x = bg.asarray(np.arange(12, dtype=np.float32).reshape(3, 4))
    with bg.capture() as graph:
        found = {name: way(x) for name, way in ways.items()}
    for n in range(3):
        if n:
            x[...] = np.float32(np.arange(12).reshape(3, 4) * n + 5)
        else:
            x += 1
        graph.replay()
        for name, way in ways.items():
            np.testing.assert_array_equal(found[name].numpy(), way(x).numpy(), name)


def test_a_copy_from_before_a_change_in_the_block(bg: Any) -> None:
    t = bg.asarray(np.float32([1, 2, 3]))
    with bg.capture() as graph:
        before = t.copy()
        t += 1
    for n in range(3):
        same(before, np.float32([1, 2, 3]) + n)
        same(t, np.float32([2, 3, 4]) + n)
        graph.replay()


def test_a_gradient_that_is_an_input(bg: Any) -> None:
    x, w = bg.asarray(np.float32([1, 2, 3])), bg.ones(3).requires_grad_()
    with bg.capture() as graph:
        w.grad = None
        (w * x).sum().backward()
    same(w.grad, [1, 2, 3])
    x[...] = np.float32([4, 5, 6])
    graph.replay()
    same(w.grad, [4, 5, 6])
    gradient = w.grad
    gradient += 1
    same(x, [4, 5, 6])


def test_a_block_on_another_device_within_one_is_refused(bg: Any, own: Any) -> None:
    x = bg.zeros(3)
    with bg.capture() as graph:
        x += 1
        with (
            pytest.raises(ValueError, match="within another"),
            bg.capture(device=own.device),
        ):
            pass
        x += 1
    same(x, [2, 2, 2])
    graph.replay()
    same(x, [4, 4, 4])


def test_memory_of_a_closed_graph_is_not_copied(bg: Any) -> None:
    x = bg.asarray(np.arange(5, dtype=np.float32))
    at = bg.asarray(np.int32([4, 0]))
    with bg.capture() as graph:
        y = x[at]
    graph.close()
    seen: list[str] = []
    observer = lambda pipeline, fields: seen.append(pipeline.label)  # noqa: E731
    x.device.recorder.observers.append(observer)
    try:
        same(bg.reshape(x, (5,))[at], y)
    finally:
        x.device.recorder.observers.remove(observer)
    assert len(seen) == 1
