"""Measures autotuning during normal calls on a GPU that has tuned defaults.

    python3 bench/by_use.py [operation ...]

Needs ``pip install browsergpu[native]`` (or PYTHONPATH=py). ``BROWSERGPU_ENGINE`` selects the
engine. The script hides the table of tuned defaults and calls a typical problem of each size class
until autotuning has selected a variant. It prints three variants with their times: the tuned
default, the default for an unknown device with the same limits, and the autotuned one. It also
prints the number of calls, and the slowest first call of a variant. Times are GPU times, the best
of several rounds, as in ``tune()``. The script neither reads nor writes stored tuning results.
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
from browsergpu.engine.device.device import Device
from browsergpu.engine.gpu.platform import block_on
from browsergpu.engine.kernels import choices
from browsergpu.engine.kernels.base.family import Problem
from browsergpu.engine.kernels.elements.fill import fill
from browsergpu.engine.tuning.clock import Clock, quickest_times
from browsergpu.engine.tuning.problems import PROBLEMS

MOST_CALLS = 5000
CALLS_A_WAIT = 8


@dataclass(frozen=True)
class Found:
    """The result of autotuning one problem."""

    default: str
    picked: str
    calls: int
    slowest: float  # first call of a variant, relative to the general kernel's


@contextmanager
def no_table() -> Iterator[None]:
    """Hide the tuned defaults of all devices within the block.

    Those of software GPUs stay, since some variants take seconds to compile there.
    """
    before = choices.PICKS, choices.is_measured
    choices.PICKS = {"software": before[0]["software"]}
    choices.is_measured = lambda _info: False
    try:
        yield
    finally:
        choices.PICKS, choices.is_measured = before


@contextmanager
def operands(device: Device, problem: Problem) -> Iterator[Sequence[Any]]:
    """Yield buffers of ones."""
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
    """Call a problem until its size class has a variant. Return None if there is only one."""
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
    """Return the seconds of each named variant."""
    with operands(device, problem) as buffers:

        def work(name: str, repeats: int) -> None:
            with device.variants.only(problem.op, name):
                for _ in range(repeats):
                    device.launch("bench", problem.prepare, buffers)

        clock = Clock(device.recorder, device.features)
        return block_on(quickest_times(clock, list(dict.fromkeys(names)), work), "bench")


def main(operations: Sequence[str]) -> None:
    """Print a row for each size class."""
    os.environ["XDG_CACHE_HOME"] = tempfile.mkdtemp()
    known = bg.init(tune_by_use=False)
    with no_table():
        unknown = block_on(Device.request(tune_by_use=True, warm_up=False), "bench")
    print(f"{unknown.name}: tuned default, default by limits, autotuned")
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
    """Print the autotuned variant of a problem beside the tuned default."""
    op, size_class = problem.op, problem.size_class
    pick = known.variants.picked(op, size_class)
    # Without a tuned default, the device uses the first suitable variant of the table.
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
        f"{op:14}{size_class:16}{'  '.join(shown)}  {ratio:5.2f} of the tuned default's time; "
        f"{found.calls} calls, slowest first call {found.slowest:.1f} times the general kernel's",
        flush=True,
    )


if __name__ == "__main__":
    main(sys.argv[1:])
