"""Reference values of the programs of arrays (page/programs.py), in float64.

Values that all entries of a result need are computed once for a row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from math import exp, log, pi, sqrt
from typing import Any

import numpy as np

from suite.data import PERIOD, Input
from suite.reference import Inputs, Options, layer_norm, softmax


def mandelbrot(x: Inputs, out: tuple[int, ...], options: Options, index: int) -> float:
    height, width = out
    (left, right), (low, high) = options["real"], options["imag"]
    real = float(np.linspace(left, right, width).astype(np.float32)[index % width])
    imag = float(np.linspace(low, high, height).astype(np.float32)[index // width])
    a = b = 0.0
    count = 0
    for _ in range(options["steps"]):
        a, b = a * a - b * b + real, 2 * a * b + imag
        count += a * a + b * b < 4  # the comparison is False for inf and nan
    return float(count)


def black_scholes(x: Inputs, out: tuple[int, ...], options: Options, index: int) -> float:
    which, at = divmod(index, out[1])
    spot, strike, years = (float(x[name].at(at)) for name in ("spot", "strike", "years"))
    rate, volatility = options["rate"], options["volatility"]
    spread = volatility * sqrt(years)
    first = (log(spot / strike) + (rate + volatility**2 / 2) * years) / spread
    paid = strike * exp(-rate * years)
    call = spot * _normal_below(first) - paid * _normal_below(first - spread)
    return call if which == 0 else call - spot + paid


def _normal_below(x: float) -> float:
    """Return the normal distribution function, by Abramowitz and Stegun 26.2.17."""
    k = 1 / (1 + 0.2316419 * abs(x))
    series = 0.0
    for factor in (1.330274429, -1.821255978, 1.781477937, -0.356563782, 0.319381530):
        series = k * (series + factor)
    tail = exp(-x * x / 2) / sqrt(2 * pi) * series
    return 1 - tail if x > 0 else tail


def kmeans(x: Inputs, out: tuple[int, ...], options: Options, index: int) -> float:
    return float(_means(x["x"], x["centres"]).ravel()[index])


@lru_cache(2)
def _means(x: Input, centres: Input) -> Any:
    k, width = centres.shape
    points, middles = x.copy(), centres.copy().astype(np.float64)
    totals, counts = np.zeros((k, width)), np.zeros(k)
    for start in range(0, len(points), 2**16):
        some = points[start : start + 2**16].astype(np.float64)
        labels = np.argmin((middles**2).sum(1) - 2 * some @ middles.T, axis=1)
        counts += np.bincount(labels, minlength=k)
        np.add.at(totals, labels, some)
    return totals / counts[:, None]


def heat(x: Inputs, out: tuple[int, ...], options: Options, index: int) -> float:
    row, column = divmod(index, out[1])
    if row in (0, out[0] - 1) or column in (0, out[1] - 1):
        return 0.0
    return float(_warmth(x["inside"], options["k"], options["steps"])[row - 1, column - 1])


@lru_cache(2)
def _warmth(inside: Input, k: float, steps: int) -> Any:
    """Return the inner points after some steps, in which sine waves only lose amplitude."""
    n, _ = inside.shape
    at = np.arange(1, n + 1)
    waves = np.sin(pi * np.outer(at, at) / (n + 1))
    turns = np.cos(pi * at / (n + 1))
    shrunk = (1 + 2 * k * (turns[:, None] + turns - 2)) ** steps
    whole = waves @ (shrunk * (waves @ inside.copy().astype(np.float64) @ waves)) @ waves
    return whole * (2 / (n + 1)) ** 2


def nbody(x: Inputs, out: tuple[int, ...], options: Options, index: int) -> float:
    axis, body = divmod(index, out[1])
    n = out[1]
    places = [x[name].row(0, n) for name in "xyz"]
    away = [place - place[body] for place in places]
    squared = sum(d * d for d in away) + options["softening"]
    return float((away[axis] * x["mass"].row(0, n) / squared**1.5).sum())


def _once(x: Input) -> tuple[Any, Any]:
    """Return an array's repeating block, and the number of repeats of each element."""
    n = min(x.size, PERIOD)
    return x.row(0, n), x.size // n + (np.arange(n) < x.size % n)


@lru_cache(2)
def _ordered(x: Input) -> tuple[Any, Any]:
    """Return an array's sorted values, and for each the number of elements up to it."""
    values, times = _once(x)
    order = np.argsort(values, kind="stable")
    return values[order], np.cumsum(times[order])


def sort(x: Inputs, out: tuple[int, ...], options: Options, index: int) -> float:
    values, upto = _ordered(x["x"])
    return float(values[np.searchsorted(upto, index, side="right")])


def histogram(x: Inputs, out: tuple[int, ...], options: Options, index: int) -> float:
    values, upto = _ordered(x["x"])
    edges = [index / out[0] - 0.5, (index + 1) / out[0] - 0.5]
    below = [int(upto[at - 1]) if at else 0 for at in np.searchsorted(values, edges)]
    return float(below[1] - below[0])


@lru_cache(2)
def _sums(x: Input) -> Any:
    return np.cumsum(_once(x)[0])


def cumsum(x: Inputs, out: tuple[int, ...], options: Options, index: int) -> float:
    sums = _sums(x["x"])
    whole, rest = divmod(index, len(sums))
    return float(whole * sums[-1] + sums[rest])


@lru_cache(2)
def _above(x: Input) -> Any:
    """Return the indices of positive elements in an array's repeating block."""
    return np.flatnonzero(_once(x)[0] > 0)


def count_above(x: Input) -> int:
    """Return the number of positive elements of an array."""
    return int(_once(x)[1][_above(x)].sum())


def mask(x: Inputs, out: tuple[int, ...], options: Options, index: int) -> float:
    above = _above(x["x"])
    return float(x["x"].at(int(above[index % len(above)])))


def fft(x: Inputs, out: tuple[int, ...], options: Options, index: int) -> float:
    part, at = divmod(index, out[1] * out[2])
    row, column = divmod(at, out[2])
    waves = [np.exp(-2j * pi * k * np.arange(n) / n) for k, n in ((row, out[1]), (column, out[2]))]
    found = waves[0] @ _complex(x["re"], x["im"]) @ waves[1]
    return float(found.imag if part else found.real)


@lru_cache(2)
def _complex(re: Input, im: Input) -> Any:
    return re.copy() + 1j * im.copy().astype(np.float64)


def take(x: Inputs, out: tuple[int, ...], options: Options, index: int) -> float:
    return float(x["x"].at(int(x["at"].at(index))))


def scatter(x: Inputs, out: tuple[int, ...], options: Options, index: int) -> float:
    return float(x["x"].at(x["at"].place_of(index)))


def matmul_of_views(x: Inputs, out: tuple[int, ...], options: Options, index: int) -> float:
    row, column = divmod(index, out[1])
    k, width = x["x"].shape
    _, other = x["y"].shape
    return float(x["x"].row(2 * row, k, width) @ x["y"].row(2 * column, k, other))


ARRAY_REFERENCES: Mapping[str, Callable[[Inputs, tuple[int, ...], Options, int], float]] = {
    "mandelbrot": mandelbrot,
    "black_scholes": black_scholes,
    "softmax": softmax,
    "layer_norm": layer_norm,
    "kmeans": kmeans,
    "heat": heat,
    "nbody": nbody,
    "histogram": histogram,
    "sort": sort,
    "argsort": sort,  # of the elements at the resulting indices
    "cumsum": cumsum,
    "mask": mask,
    "fft": fft,
    "take": take,
    "scatter": scatter,
    "matmul_of_views": matmul_of_views,
}
