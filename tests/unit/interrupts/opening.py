"""Open the GPU in forked processes, each interrupted at a different point. Print each failure.

With argument N, only each Nth point is tested, and each N/5th point of the package's own code.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable

import browsergpu as bg
from interrupts.points import Interrupter, Point

#: Seconds after which a process counts as hung.
_PATIENCE = 60


def work() -> float:
    return float(bg.sum(bg.arange(1000)))


def in_a_fork(call: Callable[[], None]) -> str:
    """Run a function in a process of its own. Return its output and any abnormal exit."""
    reading, writing = os.pipe()
    process = os.fork()
    if not process:
        signal.alarm(_PATIENCE)
        os.dup2(writing, 1)
        os.dup2(writing, 2)
        try:
            call()
        except BaseException:
            traceback.print_exc()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as file:
        said = file.read()
    status = os.waitpid(process, 0)[1]
    return said + (f"ended by signal {status}\n" if status else "")


def list_points() -> None:
    every = Interrupter(lambda point: False)
    every.run(work)
    for point in sorted(every.met):
        print(*point, sep="\t")


def interrupted_at(point: Point) -> str:
    def call() -> None:
        one = Interrupter(point.__eq__)
        try:
            one.run(work)
        except KeyboardInterrupt:
            pass
        else:
            print("lost:", *one.raised_in, sep="\n  ")
        if work() != 499500.0:
            print("wrong afterwards:", *one.raised_in, sep="\n  ")

    return in_a_fork(call)


if __name__ == "__main__":
    assert threading.active_count() == 1  # a forked process has only this thread
    listed = [line.split("\t") for line in in_a_fork(list_points).splitlines()]
    points = [(file, name, int(offset)) for file, name, offset in listed]
    own = [point for point in points if "/browsergpu/" in point[0]]
    others = [point for point in points if point not in own]
    assert len(own) > 100, listed[:10]
    every = int(sys.argv[1])
    for point in own[:: (every + 4) // 5] + others[::every]:
        if said := interrupted_at(point):
            print(point, said, sep="\n", flush=True)
    print("done")
