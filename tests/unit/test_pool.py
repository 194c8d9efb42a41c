"""The buffer pool, on a device that computes nothing."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from browsergpu.gpu.memory import BufferPool
from browsergpu.gpu.nothing import Nothing

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
