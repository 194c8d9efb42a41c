"""Tuning by use, shown on a GPU whose picks the table has: they are taken away, and real calls find
them again.

    python3 bench/by_use.py [operation ...]

Needs ``pip install browsergpu[native]`` (or PYTHONPATH=py); ``BROWSERGPU_ENGINE`` chooses the
engine. For the typical problem of each size class it prints the table's pick, the pick for a device
of which nobody knows more than its limits, and what the calls have picked, with their times; after
how many calls that was, and the longest first turn. Times are the GPU's, the best of some rounds,
as ``tune()`` takes them. Nothing that was kept before is read, and nothing stays.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import browsergpu as bg
from browsergpu.device.device import Device
from browsergpu.gpu.platform import block_on
from browsergpu.kernels import choices
from browsergpu.kernels.base.family import Problem
from browsergpu.kernels.elements.fill import fill
from browsergpu.tools.tuning.clock import Clock, quickest_times
from browsergpu.tools.tuning.problems import PROBLEMS

MOST_CALLS = 5000
CALLS_A_WAIT = 8


@dataclass(frozen=True)
class Found:
    """What the calls of a problem came to."""

    default: str
    picked: str
    calls: int
    slowest: float  # times the general kernel's first turn


@contextmanager
def no_table() -> Iterator[None]:
    """Within the block nothing has been measured on any device; software still leaves out what
    takes seconds to compile."""
    before = choices.PICKS, choices.is_measured
    choices.PICKS = {"software": before[0]["software"]}
    choices.is_measured = lambda _info: False
    try:
        yield
    finally:
        choices.PICKS, choices.is_measured = before


@contextmanager
def operands(device: Device, problem: Problem) -> Iterator[Sequence[Any]]:
    """Buffers of ones."""
    made = []
    try:
        for n in problem.elements:
            made.append(device.memory.get_buffer("bench", 4 * n))
            device.launch("bench", fill, made[-1:], 1.0, n)
        yield made
    finally:
        for buffer in made:
            device.memory.return_buffer(buffer)


def by_use(device: Device, problem: Problem) -> Found | None:
    """Calls until the class is settled; None where there is nothing to choose from."""
    tuning = device._programs.by_use
    assert tuning is not None
    op, size_class = problem.op, problem.size_class
    with operands(device, problem) as buffers:
        device.launch("bench", problem.prepare, buffers)
        comparisons = [
            comparison
            for comparison in tuning._comparisons.values()
            if (comparison.op, comparison.size_class) == (op, size_class)
        ]
        if not comparisons:
            return None
        comparison = comparisons[0]
        for call in range(2, MOST_CALLS):
            device.launch("bench", problem.prepare, buffers)
            if size_class in device.variants.tuned.get(op, {}):
                firsts = [e.first for e in comparison.candidates if e.first is not None]
                general = comparison.general.first or 1e-4
                picked = device.variants.tuned[op][size_class]
                default = comparison.candidates[0].variant.name
                return Found(default, picked, call, max(firsts) / max(general, 1e-4))
            if call % CALLS_A_WAIT == 0:
                block_on(device.recorder.synchronize(), "bench")
    raise RuntimeError(f"{op} {size_class} has no winner after {MOST_CALLS} calls")


def times(device: Device, problem: Problem, names: Sequence[str]) -> dict[str, float]:
    """Seconds of some variants at a problem."""
    with operands(device, problem) as buffers:

        def work(name: str, repeats: int) -> None:
            with device.variants.only(problem.op, name):
                for _ in range(repeats):
                    device.launch("bench", problem.prepare, buffers)

        clock = Clock(device.recorder, device.features)
        return block_on(quickest_times(clock, list(dict.fromkeys(names)), work), "bench")


def main(operations: Sequence[str]) -> None:
    """Prints a row for each size class."""
    os.environ["XDG_CACHE_HOME"] = tempfile.mkdtemp()
    known = bg.init(tune_by_use=False)
    with no_table():
        unknown = block_on(Device.request(tune_by_use=True, warm_up=False), "bench")
    print(f"{unknown.name}: the table's pick, the one by limits alone, the one by use")
    for problem in PROBLEMS:
        if operations and problem.op not in operations:
            continue
        if 4 * max(problem.elements) > unknown.largest_buffer:
            continue
        with no_table():
            found = by_use(unknown, problem)
        if found is not None:
            row(known, problem, found)


def row(known: Device, problem: Problem, found: Found) -> None:
    """Prints what was found for a problem, beside what the table says."""
    op, size_class = problem.op, problem.size_class
    pick = known.variants.picked(op, size_class)
    # Without a pick it is the first in the table's order that can: what the device does now.
    with operands(known, problem) as buffers, known.variants.noting() as asked:
        known.launch("bench", problem.prepare, buffers)
    able = next((able for o, c, able in asked if (o, c) == (op, size_class)), None)
    if able is not None:
        pick = known.variants.choose(op, size_class, able)
    table = "none" if pick is None else pick.name
    names = [name for name in (table, found.default, found.picked) if name != "none"]
    measured = times(known, problem, names)
    shown = [f"{name:16}{1e6 * measured.get(name, 0):9.1f} µs" for name in names]
    ratio = measured[found.picked] / measured[table] if table in measured else 1.0
    print(
        f"{op:14}{size_class:16}{'  '.join(shown)}  {ratio:5.2f} of the table's time; "
        f"{found.calls} calls, the slowest first turn {found.slowest:.1f} times the general's",
        flush=True,
    )


if __name__ == "__main__":
    main(sys.argv[1:])
