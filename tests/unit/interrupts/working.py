"""Compute on the GPU and interrupt at every point in turn. Print each failure."""

from __future__ import annotations

import asyncio
import random
import sys
import traceback

import numpy as np

import browsergpu as bg
from interrupts.points import Interrupter

#: Stop after this many rounds without a new point.
_QUIET = 25

host = np.arange(300_000, dtype=np.float32)


def work() -> None:
    """Run uploads, operations, reductions, products and reads, with buffers of many sizes."""
    x = bg.asarray(host)
    y = x * 2 + 1
    y[5:10] = 0
    z = bg.sum(y.reshape(300, 1000), axis=1)
    np.asarray(z)
    np.asarray(y[::3])
    float((z @ z) / 1e12)
    bg.zeros(random.randrange(1, 1 << 20)).numpy()


def check() -> None:
    x = bg.asarray(host)
    assert np.array_equal(np.asarray(x + x), host + host)
    assert float(bg.sum(bg.ones((64, 64)) @ bg.ones((64, 64)))) == 64.0**3


def go() -> None:
    every = Interrupter(lambda point: True)
    quiet = raised = 0
    work()
    while quiet < _QUIET:
        try:
            every.run(work)
        except KeyboardInterrupt:
            raised += 1
        except Exception:
            print("another error:", traceback.format_exc(), sep="\n")
        else:
            quiet += 1
            if every.raised_in:
                print("lost:", *every.raised_in, sep="\n  ")
        if raised % 50 == 0:
            check()
    check()
    assert raised > 500, raised
    print("done")


async def go_in_an_event_loop() -> None:
    go()


if __name__ == "__main__":
    random.seed(0)
    if sys.argv[1] == "loop":
        asyncio.new_event_loop().run_until_complete(go_in_an_event_loop())
    else:
        go()
