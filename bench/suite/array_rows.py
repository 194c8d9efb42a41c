"""The section "arrays": whole programs with each library's arrays, as its users write them.

page/programs.py has the programs. Rates count the least possible bytes: each input read once and
each result written once, without intermediate values.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt
from typing import Any

from suite.array_reference import count_above
from suite.data import Input
from suite.row import Row

COPY_GOAL = 3.1  # TB/s: 80 % of the rate of a copy on an H200


def array_rows(small: bool) -> Iterator[Row]:
    """Return all rows of the section. Programs that may hang a library come last."""

    def row(op: str, name: str, unit: str, out: tuple[int, ...], **more: Any) -> Row:
        usual: dict[str, Any] = {"dtype": "f32", "tolerance": 0.0, "budget": 0.6}
        return Row(
            **usual
            | {"id": f"arrays: {name}", "section": "arrays", "op": op, "unit": unit, "out": out}
            | {"array": True}
            | more
            | {"goal": None if small else more.get("goal")}
        )

    n = 1000 if small else 10_000_000
    yield row(
        "black_scholes", f"Black-Scholes of {_count(n)} options", "TB/s", (2, n),
        inputs={
            "spot": Input((n,), 30, scale=40.0, offset=30.0),
            "strike": Input((n,), 31, scale=40.0, offset=30.0),
            "years": Input((n,), 32, scale=1.8, offset=1.1),
        },
        options={"rate": 0.02, "volatility": 0.3},
        nbytes=20.0 * n, goal=COPY_GOAL, tolerance=1e-3,
    )  # fmt: skip
    side = 32 if small else 4096
    yield row(
        "softmax", f"softmax by hand, {side}×{side}", "TB/s", (side, side),
        inputs={"x": Input((side, side), 33)},
        nbytes=8.0 * side * side, goal=COPY_GOAL, tolerance=1e-3 / side,
    )  # fmt: skip
    shape = (64, 16) if small else (16384, 1024)
    yield row(
        "layer_norm", f"layer norm by hand, {shape[0]}×{shape[1]}", "TB/s", shape,
        inputs={
            "x": Input(shape, 34), "gamma": Input(shape[1:], 10), "beta": Input(shape[1:], 11),
        },
        nbytes=8.0 * shape[0] * shape[1], goal=COPY_GOAL, tolerance=1e-4,
    )  # fmt: skip
    yield from _of_one_array(small, row)
    side = 16 if small else 2048
    yield row(
        "fft", f"FFT {side}×{side}, complex64", "ms", (2, side, side),
        inputs={"re": Input((side, side), 37), "im": Input((side, side), 38)},
        nbytes=16.0 * side * side, tolerance=1e-4 * side,
    )  # fmt: skip
    side = 32 if small else 2048
    yield row(
        "matmul_of_views", f"x.T[::2] @ y[:, ::2], {side}×{side}×{side}", "TFLOP/s", (side, side),
        inputs={"x": Input((side, 2 * side), 39), "y": Input((side, 2 * side), 40)},
        flops=2.0 * side**3, tolerance=2e-5 * sqrt(side),
    )  # fmt: skip
    n, width, k = (500, 4, 5) if small else (1_000_000, 16, 64)
    yield row(
        "kmeans", f"k-means, {_count(n)} × {width}, {k} clusters, a round", "ms", (k, width),
        inputs={"x": Input((n, width), 41), "centres": Input((k, width), 42)},
        tolerance=1e-3, budget=1.0,
    )  # fmt: skip
    side, steps = (32, 20) if small else (1024, 500)
    yield row(
        "mandelbrot", f"Mandelbrot {side}×{side}, {steps} steps", "ms", (side, side),
        inputs={},
        options={"real": [-2.0, 0.5], "imag": [-1.2, 1.2], "steps": steps},
        tolerance=0.5, budget=1.5,
    )  # fmt: skip
    side, steps = (24, 10) if small else (1024, 1000)
    yield row(
        "heat", f"heat equation {side}×{side}, {steps} steps", "ms", (side, side),
        inputs={"inside": Input((side - 2, side - 2), 43)},
        options={"k": 0.2, "steps": steps},
        tolerance=2e-6, budget=1.5,
    )  # fmt: skip
    n = 40 if small else 16384
    names = ("x", "y", "z")
    yield row(
        "nbody", f"n-body, accelerations of {_count(n)}", "ms", (3, n),
        inputs={name: Input((n,), 44 + i) for i, name in enumerate(names)}
        | {"mass": Input((n,), 47, scale=0.9 / n, offset=0.5 / n)},
        options={"softening": 1e-3},
        tolerance=1e-3, budget=1.0,
    )  # fmt: skip


def _of_one_array(small: bool, row: Any) -> Iterator[Row]:
    n = 2**12 if small else 2**24
    x, at = Input((n,), 35), Input((n,), 0, "i32")
    rate = {"unit": "G elements/s", "elements": float(n)}
    # NumPy adds sequentially, which gives an error of 1 at the end.
    yield row("cumsum", f"cumsum of {_count(n)}", out=(n,), inputs={"x": x},
              nbytes=8.0 * n, tolerance=2.0, **rate)  # fmt: skip
    count = count_above(x)
    yield row("mask", f"x[x > 0] of {_count(n)}", out=(count,), inputs={"x": x},
              nbytes=4.0 * (n + count), **rate)  # fmt: skip
    yield row("take", f"take {_count(n)} at random", out=(n,), inputs={"x": x, "at": at},
              nbytes=12.0 * n, **rate)  # fmt: skip
    yield row("scatter", f"assign {_count(n)} at random", out=(n,), inputs={"x": x, "at": at},
              nbytes=12.0 * n, **rate)  # fmt: skip
    bins = 16 if small else 256
    yield row("histogram", f"histogram of {_count(n)}, {bins} bins", out=(bins,), inputs={"x": x},
              options={"bins": bins}, nbytes=4.0 * n, **rate)  # fmt: skip
    goal = {"goal": 1.0}
    yield row("sort", f"sort {_count(n)}", out=(n,), inputs={"x": x}, **rate, **goal)
    yield row("argsort", f"argsort {_count(n)}", out=(n,), inputs={"x": x}, **rate)


def _count(n: int) -> str:
    """Format a number of elements: 1 M is a million, 16 Mi is 2 to the 24th."""
    for unit, size in (("Mi", 2**20), ("Ki", 2**10), ("M", 10**6)):
        if n % size == 0:
            return f"{n // size} {unit}"
    return str(n)
