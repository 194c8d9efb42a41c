"""Concurrent tasks of one event loop: opening devices, and modes that apply to one task."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextvars import copy_context
from typing import Any

import pytest

pytestmark = pytest.mark.firefox


@pytest.fixture
def nothing_open(bg: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """browsergpu before its first array. Yields the devices that are opened."""
    from browsergpu.arrays import context
    from browsergpu.engine.device.device import open_devices

    monkeypatch.setattr(context, "_current", [])
    monkeypatch.setattr(context, "_by_number", {})
    before = open_devices()
    yield lambda: [one for one in open_devices() if one not in before]
    for device in open_devices():
        if device not in before:
            device.close()


def run(coroutine: Any) -> Any:
    from pyodide.ffi import run_sync

    return run_sync(coroutine)


def test_tasks_that_open_the_gpu_together_get_one_device(bg: Any, nothing_open: Any) -> None:
    async def main() -> Any:
        return await asyncio.gather(
            bg.init_async(warm_up=False), bg.init_async(), bg.init_async(debug_mode=False)
        )

    first, *others = run(main())
    assert all(one is first for one in others)
    assert nothing_open() == [first]
    assert bg.ones(3).device is first


def test_tasks_that_list_the_devices_together_get_the_same(bg: Any, nothing_open: Any) -> None:
    from browsergpu.arrays.context import devices_async

    async def main() -> Any:
        return await asyncio.gather(devices_async(), devices_async())

    first, second = run(main())
    assert first == second
    assert len(nothing_open()) == len(first)


def test_an_opening_that_fails_lets_the_next_one_try(bg: Any, nothing_open: Any) -> None:
    async def main() -> Any:
        wrong = bg.init_async(adapter_index=1000)
        return await asyncio.gather(wrong, bg.init_async(warm_up=False), return_exceptions=True)

    error, device = run(main())
    assert isinstance(error, bg.errors.BackendError)
    assert nothing_open() == [device]


def test_an_opening_that_is_cancelled_lets_the_next_one_try(bg: Any, nothing_open: Any) -> None:
    async def main() -> Any:
        first, second, third = (
            asyncio.ensure_future(bg.init_async(warm_up=False)) for _ in range(3)
        )
        await asyncio.sleep(0)
        first.cancel()
        second.cancel()
        return await third

    device = run(main())
    assert bg.ones(3).device is device
    assert len(nothing_open()) == 1


def test_an_open_device_is_not_another_one_by_options(bg: Any, nothing_open: Any) -> None:
    device = run(bg.init_async(memory_limit=2**28))
    assert run(bg.init_async()) is bg.init(memory_limit=2**28) is device
    with pytest.raises(ValueError, match=r"init: memory_limit must be 268435456.* got 1024"):
        bg.init(memory_limit=1024)
    with pytest.raises(ValueError, match="init: option must be one of"):
        bg.init(memory="much")


def test_tasks_that_open_a_backend_together_open_one_device(bg: Any, nothing_open: Any) -> None:
    backend = bg.WasmBackend(warm_up=False)

    async def main() -> None:
        await asyncio.gather(*[backend.init_async() for _ in range(3)])

    run(main())
    assert nothing_open() == [backend.device]
    backend.close()


def test_tasks_that_open_a_lost_gpu_again_get_one_device(bg: Any, nothing_open: Any) -> None:
    from inside.losing import destroy

    lost = bg.init(warm_up=False)
    destroy(lost)
    with pytest.raises(bg.errors.DeviceLost):
        bg.ones(3).numpy()

    async def main() -> Any:
        return await asyncio.gather(bg.recover_async(), bg.recover_async())

    first, second = run(main())
    assert first is second
    assert first is not lost


# -- modes -------------------------------------------------------------------------------------


async def overlapping(first: Any, second: Any, ask: Any) -> list[Any]:
    """Return the mode seen by two tasks, each with its own block, which overlap.

    The last item is the mode seen afterwards.
    """
    seen: list[Any] = []

    async def outer() -> None:
        with first():
            seen.append(ask())
            await asyncio.sleep(0.02)
            seen.append(ask())
        seen.append(ask())

    async def inner() -> None:
        await asyncio.sleep(0.01)
        seen.append(ask())
        with second():
            seen.append(ask())
            await asyncio.sleep(0.02)
            seen.append(ask())
        seen.append(ask())

    await asyncio.gather(outer(), inner())
    return [*seen, ask()]


def test_no_grad_of_one_task_is_not_anothers(bg: Any) -> None:
    w = bg.ones(3).requires_grad_()

    def is_noted() -> bool:
        return bool((w * 2).requires_grad)

    found = run(overlapping(bg.no_grad, bg.no_grad, is_noted))
    # outer, inner, inner in its block, outer twice, inner twice, afterwards
    assert found == [False, True, False, False, True, False, True, True]


def test_enable_grad_of_one_task_is_not_anothers(bg: Any) -> None:
    with bg.no_grad():
        found = run(overlapping(bg.enable_grad, bg.enable_grad, bg.is_grad_enabled))
    assert found == [True, False, True, True, False, True, False, False]
    assert bg.is_grad_enabled()


def test_autocast_of_one_task_is_not_anothers(bg: Any) -> None:
    x = bg.ones((2, 2))
    found = run(overlapping(bg.autocast, bg.autocast, lambda: (x @ x).dtype.itemsize))
    assert found == [2, 4, 2, 2, 4, 2, 4, 4]


@pytest.mark.parametrize("mode", ["no_grad", "autocast"])
def test_one_block_that_two_tasks_enter(bg: Any, mode: str) -> None:
    block = getattr(bg, mode)()
    found = run(overlapping(lambda: block, lambda: block, lambda: _modes(bg)))
    off, on = _modes(bg), {"no_grad": (False, False), "autocast": (True, True)}[mode]
    assert found == [on, off, on, on, off, on, off, off]


def _modes(bg: Any) -> tuple[bool, bool]:
    return bool(bg.is_grad_enabled()), bool(bg.is_autocast_enabled())


def test_a_task_has_the_mode_that_it_was_created_in(bg: Any) -> None:
    async def child() -> tuple[bool, bool]:
        await asyncio.sleep(0.01)
        return _modes(bg)

    async def main() -> Any:
        with bg.no_grad(), bg.autocast():
            task = asyncio.ensure_future(child())
            with bg.enable_grad(), bg.autocast(enabled=False):
                pass
        return await task, _modes(bg)

    assert run(main()) == ((False, True), (True, False))


def test_a_mode_above_a_coroutine_function(bg: Any) -> None:
    @bg.no_grad()
    @bg.autocast()
    async def work() -> list[Any]:
        before = _modes(bg)
        await asyncio.sleep(0.01)
        return [before, _modes(bg)]

    async def main() -> Any:
        task = asyncio.ensure_future(work())
        await asyncio.sleep(0)
        return [_modes(bg), *await task, *await work(), _modes(bg)]

    outside, within = (True, False), (False, True)
    assert run(main()) == [outside, within, within, within, within, outside]


def test_a_mode_above_a_generator_function(bg: Any) -> None:
    @bg.no_grad()
    @bg.autocast()
    def work() -> Iterator[Any]:
        try:
            given = yield _modes(bg)
            yield given, _modes(bg)
        except KeyError:
            yield _modes(bg)
        finally:
            ended.append(_modes(bg))

    ended: list[Any] = []
    outside, within = (True, False), (False, True)
    steps = work()
    assert (next(steps), _modes(bg)) == (within, outside)
    assert (steps.send(5), _modes(bg)) == ((5, within), outside)
    assert (steps.throw(KeyError()), _modes(bg)) == (within, outside)
    steps.close()
    assert [*ended, _modes(bg)] == [within, outside]


def test_a_mode_above_an_asynchronous_generator_function(bg: Any) -> None:
    @bg.no_grad()
    async def work() -> Any:
        for _ in range(2):
            await asyncio.sleep(0)
            yield bg.is_grad_enabled()

    async def main() -> list[bool]:
        return [one for found in [work()] async for one in found] + [bg.is_grad_enabled()]

    assert run(main()) == [False, False, True]


def test_blocks_of_generators_that_end_in_any_order(bg: Any) -> None:
    def work(mode: Any) -> Iterator[None]:
        with mode():
            yield

    first, second = work(bg.no_grad), work(bg.enable_grad)
    next(first)
    next(second)
    assert bg.is_grad_enabled()
    first.close()
    assert bg.is_grad_enabled()
    second.close()
    third, fourth = work(bg.enable_grad), work(bg.no_grad)
    next(third)
    next(fourth)
    third.close()
    assert not bg.is_grad_enabled()
    fourth.close()
    assert bg.is_grad_enabled()


def test_a_gradient_is_of_the_task_that_takes_it(bg: Any) -> None:
    """Within bg.grad, reading a dependent value raises, but not in another task."""
    other = copy_context()

    def loss(x: Any) -> Any:
        read.append(other.run(lambda: float(x[0])))
        with pytest.raises(bg.errors.NotDifferentiable):
            float(x[0])
        return bg.sum(x * x)

    read: list[float] = []
    assert bg.grad(loss)(bg.full(3, 4.0)).numpy().tolist() == [8, 8, 8]
    assert read == [4]


def test_numbers_that_are_drawn_again_are_of_one_task(bg: Any) -> None:
    """While a checkpoint recomputes its function, another task draws new numbers."""

    def drawn(*, beside: bool) -> Any:
        generator = bg.random.default_rng(5)
        seen: list[Any] = []

        def fun(x: Any) -> Any:
            y = x * generator.random(4)
            if beside:
                contexts.pop(0).run(lambda: seen.append(generator.random(3)))
            return y * generator.random(4)

        contexts = [copy_context(), copy_context()]
        x = bg.ones(4).requires_grad_()
        y = bg.checkpoint(fun)(x)
        y.sum().backward()
        after = generator.random(2)
        return y.detach().numpy(), x.grad.numpy(), [one.numpy() for one in seen], after.numpy()

    value, gradient, _, _ = drawn(beside=False)
    assert (value == gradient).all()
    value, gradient, (first, second), after = drawn(beside=True)
    assert (value == gradient).all()
    expected = bg.random.default_rng(5)
    _, one, _, two, three = (expected.random(n).numpy() for n in (4, 3, 4, 3, 2))
    for given, wanted in ((first, one), (second, two), (after, three)):
        assert (given == wanted).all()


# -- capture -----------------------------------------------------------------------------------


def captured_beside(bg: Any, work: Any, *, block: Any) -> tuple[Any, Any, Any]:
    """Capture a block in one task while another task works. Return the graph and both results.

    The block awaits twice. The other task works before, between and after.
    """

    async def main() -> Any:
        steps = work()
        made: list[Any] = []

        async def other() -> Any:
            found = None
            for step in steps:
                found = step
                await turn.acquire()
            return found

        turn = asyncio.Semaphore(0)
        task = asyncio.ensure_future(other())
        with bg.capture() as graph:
            for one in block():
                made.append(one)
                turn.release()
                await asyncio.sleep(0.005)
        turn.release()
        return graph, made[-1], await task

    return run(main())  # type: ignore[no-any-return]


def test_the_work_of_another_task_is_not_captured(bg: Any) -> None:
    x, theirs = bg.ones(8), bg.full(8, 5.0)

    def block() -> Iterator[Any]:
        y = x * 3
        yield y
        y = y + 1
        yield y
        yield y * 2

    def work() -> Iterator[Any]:
        z = theirs + 1
        yield z
        z = z * 10  # recorded between two steps of the block
        yield z
        kept.append(z + theirs)
        yield z

    kept: list[Any] = []
    graph, ours, made = captured_beside(bg, work, block=block)
    assert (ours.numpy() == 8).all()
    assert (made.numpy() == 60).all()
    x[...] = 2
    theirs[...] = 100
    graph.replay()
    assert (ours.numpy() == 14).all()
    assert (made.numpy() == 60).all()
    assert (kept[0].numpy() == 65).all()


def test_the_work_of_another_tasks_executor_is_not_captured(bg: Any) -> None:
    import numpy as np

    x = bg.ones(8)
    executor = bg.KernelExecutor(x.device)
    total, one = (executor.from_numpy(np.full(8, n, np.float32)) for n in (0, 1))

    def block() -> Iterator[Any]:
        for _ in range(3):
            yield x * 3

    def work() -> Iterator[Any]:
        for _ in range(3):
            executor.add(total, one, out=total)
            yield

    graph, ours, _ = captured_beside(bg, work, block=block)
    for _ in range(3):
        graph.replay()
    assert (total.numpy() == 3).all()
    assert (ours.numpy() == 3).all()


def test_tasks_that_read_each_others_values_beside_a_block(bg: Any) -> None:
    """Replays compute the block's own values and no other task's, whichever task computes first."""
    x, theirs = bg.ones(8), bg.full(8, 5.0)
    shared: dict[str, Any] = {}

    def block() -> Iterator[Any]:
        shared["ours"] = x * 3
        yield None
        yield bg.sum(shared["theirs"]) + shared["theirs"][0] + x

    def work() -> Iterator[Any]:
        shared["theirs"] = theirs + shared["ours"]
        read.append(shared["ours"].numpy())
        yield bg.sum(shared["ours"] * 2)
        yield bg.sum(shared["ours"] * 2)

    read: list[Any] = []
    graph, ours, made = captured_beside(bg, work, block=block)
    assert (read[0] == 3).all()
    assert (ours.numpy() == 8 * 8 + 8 + 1).all()
    assert float(made) == 48
    x[...] = 2
    theirs[...] = 100
    graph.replay()
    assert (shared["ours"].numpy() == 6).all()
    assert (shared["theirs"].numpy() == 8).all()
    assert (ours.numpy() == 8 * 8 + 8 + 2).all()
    assert float(made) == 48


def test_another_task_writes_an_array_that_a_block_reads(bg: Any) -> None:
    x = bg.ones(8)

    def block() -> Iterator[Any]:
        y = x * 3
        yield y
        yield y + x
        yield y + x

    def work() -> Iterator[Any]:
        yield None
        x[...] = x + 1
        yield x

    _ = bg.eval(x)
    graph, ours, _ = captured_beside(bg, work, block=block)
    assert (ours.numpy() == 5).all()
    x += 3
    graph.replay()
    assert (x.numpy() == 5).all()
    assert (ours.numpy() == 20).all()


def test_another_task_cannot_begin_a_block_beside_one(bg: Any) -> None:
    x = bg.ones(8)

    def block() -> Iterator[Any]:
        yield x + 1
        yield x + 1

    def work() -> Iterator[Any]:
        with pytest.raises(ValueError, match="block on this device"), bg.capture():
            pass
        yield

    graph, ours, _ = captured_beside(bg, work, block=block)
    x[...] = 4
    graph.replay()
    assert (ours.numpy() == 5).all()


def test_a_task_that_outlives_its_block_is_in_none(bg: Any) -> None:
    x = bg.ones(8)

    async def child() -> Any:
        y = x * 2  # belongs to the block that created it
        await asyncio.sleep(0.02)
        z = (await y.numpy_async()).tolist()[0]
        with bg.capture() as other:
            w = x + 10
        return y, z, other, w

    async def main() -> Any:
        with bg.capture() as graph:
            task = asyncio.ensure_future(child())
            await asyncio.sleep(0.01)
        return graph, *await task

    graph, y, first, other, w = run(main())
    assert first == 2
    x[...] = 5
    graph.replay()
    other.replay()
    assert (y.numpy() == 10).all()
    assert (w.numpy() == 15).all()
