"""Outside a browser: blocks of ``capture()`` while other threads and event loops run."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from runner.vulkan import software_gpu

ROOT = Path(__file__).resolve().parents[2]

pytestmark = [
    pytest.mark.fast,
    pytest.mark.skipif(sys.platform != "linux", reason="software GPUs are Linux's here"),
]

START = """
import asyncio, threading
import numpy as np
import browsergpu as bg
from browsergpu import KernelExecutor

x = bg.ones(4)
executor = KernelExecutor(x.device)
"""


@pytest.fixture(params=["wgpu", "dawn"])
def run(request: pytest.FixtureRequest) -> Callable[[str], str]:
    """Run a program on each engine and return its output."""

    def printed(code: str) -> str:
        environment = os.environ | software_gpu(request.param) | {"PYTHONPATH": str(ROOT / "py")}
        done = subprocess.run(
            [sys.executable, "-c", START + code],
            env=environment, capture_output=True, text=True, timeout=300,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    return printed


def test_the_work_of_another_thread_is_not_captured(run: Callable[[str], str]) -> None:
    code = """
alone = bg.capture()
with alone as graph:
    y = x * 3
    z = y + 1
expected = repr(graph)
total = executor.from_numpy(np.zeros(4, np.float32))
begun, done = threading.Event(), threading.Event()

def beside():
    begun.wait()
    one = executor.from_numpy(np.ones(4, np.float32))  # an upload is no constant of the block
    for _ in range(10):
        executor.add(total, one, out=total)
    print(*total.numpy())  # and may be read
    done.set()

thread = threading.Thread(target=beside)
thread.start()
with bg.capture() as graph:
    y = x * 3
    begun.set()
    done.wait(60)
    z = y + 1
thread.join()
for _ in range(3):
    x += 1
    graph.replay()
print(*z.numpy(), *total.numpy(), repr(graph) == expected)
"""
    assert run(code) == ("10.0 10.0 10.0 10.0\n13.0 13.0 13.0 13.0 10.0 10.0 10.0 10.0 True")


def test_a_block_in_an_event_loop(run: Callable[[str], str]) -> None:
    code = """
async def beside(total, one):
    executor.add(total, one, out=total)

async def main():
    total = executor.from_numpy(np.zeros(4, np.float32))
    one = executor.from_numpy(np.ones(4, np.float32))
    task = asyncio.create_task(beside(total, one))
    with bg.capture() as graph:
        y = x * 3
        await asyncio.sleep(0.01)
        for read in (y.numpy, lambda: float(bg.sum(y))):
            try:
                read()
            except bg.errors.Unsupported as error:
                print("block of capture()" in str(error))
    await task
    for _ in range(3):
        graph.replay()
    print(*total.numpy(), *y.numpy())

asyncio.run(main())
"""
    assert run(code) == "True\nTrue\n1.0 1.0 1.0 1.0 3.0 3.0 3.0 3.0"


def test_a_thread_that_the_block_waits_for_records_in_it(run: Callable[[str], str]) -> None:
    code = """
async def main():
    with bg.capture() as graph:
        y = await asyncio.to_thread(lambda: x * 3)
        z = y + 1
    for _ in range(3):
        x[...] += 1
        graph.replay()
    print(*z.numpy())

asyncio.run(main())
"""
    assert run(code) == "13.0 13.0 13.0 13.0"


def test_a_thread_beside_a_block_continues(run: Callable[[str], str]) -> None:
    code = """
own = bg.zeros(4)

def beside():
    global own
    for _ in range(500):
        own += 1
        own = own * 1

thread = threading.Thread(target=beside)
thread.start()
for _ in range(20):
    x[...] = 1
    with bg.capture() as graph:
        y = x
        for _ in range(50):
            y = y * 1 + 1
        x[...] = y
    graph.replay()
    assert x.numpy().tolist() == [101.0] * 4, x
thread.join()
print(*own.numpy())
"""
    assert run(code) == "500.0 500.0 500.0 500.0"
