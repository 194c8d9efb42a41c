"""Outside a browser: Ctrl-C at any moment ends the statement, and has no other effect."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from runner.vulkan import software_gpu

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="software GPUs are Linux's here")

#: Python warns of a coroutine that had not started when the interrupt came.
NEVER_AWAITED = "ignore:coroutine:RuntimeWarning"

START = f"""
import asyncio, faulthandler, os, random, signal, sys, threading, time
faulthandler.dump_traceback_later(300, exit=True)
sys.path.insert(0, {str(ROOT / "py")!r})
import numpy as np
import browsergpu as bg

# A process that a shell starts in the background ignores SIGINT, and so do its children.
signal.signal(signal.SIGINT, signal.default_int_handler)
SIGNALS = 200
host = np.arange(300_000, dtype=np.float32)
raised = 0

def work():
    "Reads, writes, kernels and memory, as long as nobody interrupts."
    while True:
        x = bg.asarray(host)
        y = x * 2 + 1
        y[5:10] = 0
        z = bg.sum(y.reshape(300, 1000), axis=1)
        np.asarray(z)
        np.asarray(y[::3])
        float((z @ z) / 1e12)
        bg.zeros(random.randrange(1, 1 << 20)).numpy()

def check():
    x = bg.asarray(host)
    assert np.array_equal(np.asarray(x + x), host + host)
    assert float(bg.sum(bg.ones((64, 64)) @ bg.ones((64, 64)))) == 64.0**3

wanted = threading.Semaphore(0)

def interrupt():
    while True:
        wanted.acquire()
        time.sleep(random.random() * 0.03)
        os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=interrupt, daemon=True).start()
"""

IN_A_SCRIPT = """
random.seed(0)
for i in range(SIGNALS):
    try:
        wanted.release()
        work()
    except KeyboardInterrupt:
        raised += 1
    if i % 10 == 9:
        check()
check()
print(raised)
"""

#: A notebook's loop runs the cells; its kernel turns the signal into KeyboardInterrupt.
IN_AN_EVENT_LOOP = """
random.seed(0)

async def notebook():
    global raised
    for i in range(SIGNALS):
        try:
            wanted.release()
            work()
        except KeyboardInterrupt:
            raised += 1
        await asyncio.sleep(0)
        if i % 10 == 9:
            check()
    check()

loop = asyncio.new_event_loop()
loop.run_until_complete(notebook())
print(raised)
"""


@pytest.mark.parametrize("engine", ["wgpu", pytest.param("dawn", marks=pytest.mark.all)])
@pytest.mark.parametrize("program", [IN_A_SCRIPT, IN_AN_EVENT_LOOP], ids=["script", "event loop"])
def test_two_hundred_interrupts(engine: str, program: str) -> None:
    """Each interrupt raises KeyboardInterrupt in the program; later results are right."""
    run(engine, program)


def run(engine: str, program: str) -> None:
    """Run a program after START in its own process. It prints 200."""
    done = subprocess.run(
        [sys.executable, "-W", NEVER_AWAITED, "-c", START + program],
        env=os.environ | software_gpu(engine), capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "200\n", "")


#: Python prints an exception from such a function and continues, so an interrupt would be lost.
SWALLOWING = """
names = set()

def note(frame, event, _):
    if event == "call" and frame.f_code.co_name in ("__del__", "_remove", "remove", "callback"):
        names.add(frame.f_code.co_qualname)

def once():
    x = bg.asarray(host)
    y = x * 2 + 1
    np.asarray(y[::3])
    float(bg.sum(y))

once()
sys.setprofile(note)
for _ in range(3):
    once()
sys.setprofile(None)
print(names or 200)
"""

#: Measures the memory that reads leave allocated.
READING = """
def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

x = bg.asarray(host)
for _ in range(50):
    x[:100].numpy()
before = resident()
for _ in range(400):
    x[:100].numpy()
print(200 if resident() - before < 10_000_000 else resident() - before)
"""


@pytest.mark.parametrize("engine", ["wgpu", "dawn"])
@pytest.mark.parametrize("program", [SWALLOWING, READING], ids=["callbacks", "memory"])
def test_a_read_leaves_nothing_behind(engine: str, program: str) -> None:
    """Neither callbacks that could swallow an interrupt, nor memory."""
    run(engine, program)


#: The program ends while the GPU still computes submitted work.
ENDING = """
x = bg.asarray(np.ones((1024, 1024), np.float32))
for _ in range(30):
    x = x @ x / 1024
    bg.eval(x)
print(200)
"""


@pytest.mark.parametrize("engine", ["wgpu", "dawn"])
def test_end_with_work_on_the_gpu(engine: str) -> None:
    """The exit waits for the GPU, so that no driver is unloaded while it works."""
    for _ in range(3):
        run(engine, ENDING)
