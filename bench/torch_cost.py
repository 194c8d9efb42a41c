"""What a call through browsergpu.torch costs above the function of browsergpu that it names.

    python3 bench/torch_cost.py

Natively, in this process. Prints microseconds of this thread for each call: of the function,
through ``browsergpu.torch``, and the difference. The two calls take turns, and each number is the
median of its repeats. Lazy operations are recorded and dropped, so the GPU computes nothing for
them. Needs what bench/native.py needs.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from time import thread_time
from typing import Any

import browsergpu as bg
import browsergpu.torch as torch
import browsergpu.torch.nn.functional as F

CALLS, REPEATS = 500, 31

x, y = bg.ones((8, 8)), bg.ones((8, 8))
v, w = torch.ones(8, 8), torch.ones(8, 8)
layer, own_layer = torch.nn.Linear(8, 8), bg.nn.Linear(8, 8)

#: The call of a function, and the same call through ``browsergpu.torch``.
CASES: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
    "x * y": (lambda: x * y, lambda: v * w),
    "x + 1.0": (lambda: x + 1.0, lambda: v + 1.0),
    "exp(x)": (lambda: bg.exp(x), lambda: torch.exp(v)),
    "x.exp()": (lambda: bg.exp(x), lambda: v.exp()),
    "add(x, y)": (lambda: bg.add(x, y), lambda: torch.add(v, w)),
    "where(x, y, 0)": (lambda: bg.where(x > 0, y, 0.0), lambda: torch.where(v > 0, w, 0.0)),
    "x[1:, None]": (lambda: x[1:, None], lambda: v[1:, None]),
    "x.reshape(64)": (lambda: x.reshape(64), lambda: v.reshape(64)),
    "x.transpose(0, 1)": (lambda: bg.swapaxes(x, 0, 1), lambda: v.transpose(0, 1)),
    "x.sum(1)": (lambda: x.sum(axis=1), lambda: v.sum(1)),
    "relu(x)": (lambda: bg.nn.relu(x), lambda: F.relu(v)),
    "softmax(x, 1)": (lambda: bg.nn.softmax(x, 1), lambda: F.softmax(v, 1)),
    "x @ y": (lambda: x @ y, lambda: v @ w),
    "Linear(x)": (lambda: own_layer(x), lambda: layer(v)),
}


def seconds_of(call: Callable[[], Any]) -> float:
    """Seconds of a call, of many in a row."""
    begin = thread_time()
    for _ in range(CALLS):
        call()
    return (thread_time() - begin) / CALLS


def main() -> None:
    """Print the table."""
    print(f"{'':20} {'function':>12} {'torch':>12} {'difference':>12}")
    with bg.no_grad():
        for name, pair in CASES.items():
            times: list[list[float]] = [[], []]
            apart = []
            for _ in range(REPEATS):
                for found, call in zip(times, pair, strict=True):
                    found.append(seconds_of(call) * 1e6)
                apart.append(times[1][-1] - times[0][-1])
                torch.accelerator.synchronize()
            of, through = map(median, times)
            print(f"{name:20} {of:9.2f} µs {through:9.2f} µs {median(apart):9.2f} µs", flush=True)


if __name__ == "__main__":
    main()
