"""Training steps through browsergpu.torch with torch.compile, beside the same steps with bg.jit.

    PYTHONPATH=py BROWSERGPU_ENGINE=dawn python3 bench/torch_training.py [--only mlp,cnn] [--small]

Natively, in one process, with five seconds of steps for each network. Needs what bench/native.py
needs, and no PyTorch. The networks are those of bench/page/networks.py: an MLP, a CNN, a
transformer, ResNet-18, GPT-2 and GPT-2 in mixed precision. ``--small`` selects shapes for a
software GPU.

Each network is built three times from the same weights: for ``bg.jit``, for ``torch.compile``, and
again for ``bg.jit``, to measure the noise. The three take turns, and each repeat begins with
another one. The table has the median milliseconds of a step, with the wait for the GPU, and the
median and the middle half of the repeats' ratios to ``bg.jit``. Before the table, the script
compares the losses of the first steps.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import browsergpu as bg

sys.path.append(str(Path(__file__).resolve().parent / "page"))  # has a training.py of its own

from networks import FULL, SMALL, Ours, Task, Training
from training import Skin

WARM_STEPS = 5
LASTS = 0.1  # seconds of steps between two waits
JIT, COMPILED, AGAIN = "bg.jit", "torch.compile", "bg.jit again"


def compiled_steps(task: Task) -> dict[str, Callable[[], Any]]:
    """Return the compiled step of each library. A call returns the loss."""
    weights = task.weights()
    data = task.batches(1)[0]

    def step_of(lib: Any, compiler: Callable[[Any], Any]) -> Callable[[], Any]:
        step = compiler(Training(lib, task, weights).step)
        x, y = map(lib.array, data)
        return lambda: step(x, y)

    skin = Skin()
    return {
        JIT: step_of(Ours(), bg.jit),
        COMPILED: step_of(skin, skin.torch.compile),
        AGAIN: step_of(Ours(), bg.jit),
    }


def milliseconds_of(step: Callable[[], Any], count: int, wait: Callable[[Any], None]) -> float:
    """Return the milliseconds of a step, of some in a row."""
    begin = time.perf_counter()
    for _ in range(count):
        loss = step()
    wait(loss)
    return (time.perf_counter() - begin) / count * 1e3


def measure(task: Task, repeats: int) -> tuple[list[float], float, dict[str, list[float]]]:
    """Return the first losses of bg.jit, the largest difference, and the times of each library."""
    steps = compiled_steps(task)
    wait = Ours().wait
    first = {name: [float(step()) for _ in range(WARM_STEPS)] for name, step in steps.items()}
    off = max(abs(a - b) for a, b in zip(first[JIT], first[COMPILED], strict=True))
    each = milliseconds_of(steps[JIT], 3, wait)
    count = max(1, round(LASTS * 1e3 / each))
    names = list(steps)
    found: dict[str, list[float]] = {name: [] for name in names}
    for turn in range(-2, repeats):  # an idle GPU lowers its clock: two turns are not counted
        for at in range(len(names)):
            name = names[(turn + at) % len(names)]
            spent = milliseconds_of(steps[name], count, wait)
            if turn >= 0:
                found[name].append(spent)
    return first[JIT], off, found


def ratio(times: list[float], to: list[float]) -> str:
    """Return the median ratio, with the range of the middle half."""
    found = sorted(a / b for a, b in zip(times, to, strict=True))
    quarter = len(found) // 4
    return f"{median(found):.3f} ({found[quarter]:.3f}-{found[-1 - quarter]:.3f})"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="networks, with commas between them")
    parser.add_argument("--small", action="store_true", help="shapes for a software GPU")
    parser.add_argument("--repeats", type=int, default=15)
    options = parser.parse_args()
    print(f"{bg.init().name}, {bg.__version__}", flush=True)
    rows = []
    for name, task in (SMALL if options.small else FULL).items():
        if options.only and name not in options.only.split(","):
            continue
        begin = time.perf_counter()
        losses, off, found = measure(task, options.repeats)
        spent = time.perf_counter() - begin
        print(
            f"{name}: loss {losses[0]:.4f} -> {losses[-1]:.4f} in {WARM_STEPS} steps, "
            f"{COMPILED} off by {off:.1g}; {spent:.0f} s",
            flush=True,
        )
        cells = [f"{median(times):.3f}" for times in found.values()]
        cells += [ratio(found[other], found[JIT]) for other in (COMPILED, AGAIN)]
        rows.append(f"| {name} | {' | '.join(cells)} |")
    print(f"\n| ms a step | {JIT} | {COMPILED} | {AGAIN} | {COMPILED} / {JIT} | noise |")
    print("|---|---:|---:|---:|---:|---:|")
    print("\n".join(rows))


if __name__ == "__main__":
    main()
