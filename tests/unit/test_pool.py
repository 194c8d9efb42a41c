"""The buffer pool, on a device that computes nothing."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from browsergpu.engine.gpu.memory import BufferPool
from browsergpu.engine.gpu.nothing import Nothing

pytestmark = pytest.mark.fast


@pytest.fixture
def impatient() -> Iterator[None]:
    """Make the interpreter switch threads as often as possible."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("impatient")
def test_threads_lose_no_buffer() -> None:
    """A Dask worker frees chunks in a different thread from the one that computes."""
    made: list[int] = []
    destroyed: list[int] = []

    class Counting(Nothing):
        def create_buffer(self, identity: int, *_: object) -> None:
            made.append(identity)

        def destroy_buffer(self, identity: int) -> None:
            destroyed.append(identity)

    pool = BufferPool(Counting(), 1 << 30)

    def work(_: int) -> None:
        for size in range(400):
            held = [pool.get_buffer("test", 256 << size % 3) for _ in range(3)]
            for buffer in held:
                pool.return_buffer(buffer)

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(work, range(8)))
    assert (pool.in_use, pool.buffers) == (0, 0)
    assert pool.trim() > 0
    assert pool.allocated == 0
    assert sorted(destroyed) == sorted(made), "each was made and destroyed once"


def test_a_loop_reuses_its_buffers_of_several_sizes() -> None:
    """An iteration allocates more in total than it holds at once, as in k-means of 1 Mi points."""
    made: list[int] = []

    class Counting(Nothing):
        def try_buffer(self, identity: int, nbytes: int, label: str) -> bool:
            made.append(nbytes >> 20)
            return True

    pool = BufferPool(Counting(), 1 << 30)
    points = pool.get_buffer("points", 144 << 20)
    for _ in range(4):
        for size in (256, 288, 4, 1):
            pool.return_buffer(pool.get_buffer("test", size << 20))
    assert made == [144, 256, 288, 4, 1]
    pool.return_buffer(points)


class Large(Nothing):
    """A GPU that reports only to a wait whether there is room. It has ``room`` bytes."""

    def __init__(self, room: int) -> None:
        super().__init__()
        self.room = room
        self.made: dict[int, int] = {}
        self.waits = 0

    async def create_buffer_checked(self, identity: int, nbytes: int, label: str) -> bool:
        self.waits += 1
        if sum(self.made.values()) + nbytes > self.room:
            return False
        self.made[identity] = nbytes
        return True

    def destroy_buffer(self, identity: int) -> None:
        del self.made[identity]


MIB = 1 << 20


def test_reserved_buffers_are_not_asked_for_again() -> None:
    gpu = Large(100 * MIB)
    pool = BufferPool(gpu, 1 << 30)
    sizes = [MIB, 3 * MIB, 3 * MIB, 100]
    pool.reserve("test", sizes)
    assert (gpu.waits, pool.pooled, pool.in_use) == (3, 7 * MIB, 0), "small ones are not waited for"
    pool.reserve("test", sizes)
    assert gpu.waits == 3, "those in the pool are enough"
    for size in sizes:
        pool.get_buffer("test", size)
    assert gpu.waits == 3
    assert pool.pooled == 0
    assert pool.peak == 7 * MIB + 256


def test_without_room_nothing_is_reserved() -> None:
    gpu = Large(6 * MIB)
    pool = BufferPool(gpu, 1 << 30)
    pool.reserve("test", [3 * MIB] * 4)
    assert (pool.allocated, gpu.made) == (0, {})
    pool = BufferPool(gpu, 1 << 30, limit=5 * MIB)
    pool.reserve("test", [3 * MIB] * 2)
    assert (pool.allocated, gpu.made) == (0, {})
    assert pool.get_buffer("test", 3 * MIB).capacity == 3 * MIB
