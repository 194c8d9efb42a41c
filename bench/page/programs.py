"""Programs of the section "arrays", written as users of NumPy write them.

A program takes the library ``xp``, the row's inputs as arrays of that library, and the row's
options. It returns one array or several. browsergpu and NumPy run the same source. The JavaScript
pages have equivalent programs for their libraries.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def black_scholes(
    xp: Any, spot: Any, strike: Any, years: Any, rate: float, volatility: float
) -> Any:
    """Return the prices of calls and puts."""
    spread = volatility * xp.sqrt(years)
    first = (xp.log(spot / strike) + (rate + volatility * volatility / 2) * years) / spread
    paid = strike * xp.exp(-rate * years)
    call = spot * normal_below(xp, first) - paid * normal_below(xp, first - spread)
    return call, call - spot + paid


def normal_below(xp: Any, x: Any) -> Any:
    """Return the normal distribution function, by Abramowitz and Stegun 26.2.17."""
    k = 1 / (1 + 0.2316419 * xp.abs(x))
    series = k * (-1.821255978 + k * 1.330274429)
    series = k * (0.319381530 + k * (-0.356563782 + k * (1.781477937 + series)))
    tail = 0.3989422804 * xp.exp(-x * x / 2) * series
    return xp.where(x > 0, 1 - tail, tail)


def softmax(xp: Any, x: Any) -> Any:
    powers = xp.exp(x - xp.max(x, axis=1, keepdims=True))
    return powers / xp.sum(powers, axis=1, keepdims=True)


def layer_norm(xp: Any, x: Any, gamma: Any, beta: Any) -> Any:
    off = x - xp.mean(x, axis=1, keepdims=True)
    variance = xp.mean(off * off, axis=1, keepdims=True)
    return off / xp.sqrt(variance + 1e-5) * gamma + beta


def cumsum(xp: Any, x: Any) -> Any:
    return xp.cumulative_sum(x)


def mask(xp: Any, x: Any) -> Any:
    return x[x > 0]


def take(xp: Any, x: Any, at: Any) -> Any:
    return x[at]


def scatter(xp: Any, x: Any, at: Any) -> Any:
    result = xp.zeros(x.shape, dtype=x.dtype)
    result[at] = x
    return result


def histogram(xp: Any, x: Any, bins: int) -> Any:
    """Count sorted elements between edges, since the Array API standard has no histogram."""
    if hasattr(xp, "histogram"):
        return xp.histogram(x, bins, range=(-0.5, 0.5))[0]
    edges = xp.linspace(-0.5, 0.5, bins + 1, dtype=x.dtype)
    return xp.diff(xp.searchsorted(xp.sort(x), edges))


def sort(xp: Any, x: Any) -> Any:
    return xp.sort(x)


def argsort(xp: Any, x: Any) -> Any:
    return xp.argsort(x)


def fft(xp: Any, x: Any) -> Any:
    return xp.fft.fftn(x)


def matmul_of_views(xp: Any, x: Any, y: Any) -> Any:
    return x.T[::2] @ y[:, ::2]


def kmeans(xp: Any, x: Any, centres: Any) -> Any:
    """Return the means of the points nearest to each centre."""
    # |x|² is omitted, since it is the same for all centres.
    distance = xp.sum(centres * centres, axis=1) - 2 * (x @ centres.T)
    labels = xp.argmin(distance, axis=1)
    member = xp.astype(labels[:, None] == xp.arange(len(centres)), x.dtype)
    return member.T @ x / xp.sum(member, axis=0)[:, None]


def mandelbrot(xp: Any, real: Any, imag: Any, steps: int) -> Any:
    """Return the number of steps that each point stays near the origin."""
    x = y = count = xp.zeros((len(imag), len(real)), dtype=real.dtype)
    imag = imag[:, None]
    for step in range(steps):
        x, y = x * x - y * y + real, 2 * x * y + imag
        count = count + (x * x + y * y < 4)
        if step % 4 == 3:
            _evaluate(xp, x, y, count)
    return count


def heat(xp: Any, u: Any, k: float, steps: int) -> Any:
    u = xp.asarray(u, copy=True)
    for _ in range(steps):
        around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1]
        u[1:-1, 1:-1] += k * around
    return u


def nbody(
    xp: Any, x: Any, y: Any, z: Any, mass: Any, softening: float, rows: int | None = None
) -> Any:
    """Return the accelerations, computed for ``rows`` bodies at once to limit memory."""
    n = len(x)

    def pulled(some: slice) -> list[Any]:
        away = [place - place[some, None] for place in (x, y, z)]
        squared = away[0] * away[0] + away[1] * away[1] + away[2] * away[2] + softening
        weight = mass / (squared * xp.sqrt(squared))
        return [xp.sum(d * weight, axis=1) for d in away]

    if rows is None:
        return pulled(slice(None))
    parts = [pulled(slice(start, start + rows)) for start in range(0, n, rows)]
    return [part[axis] for axis in range(3) for part in parts]


def _evaluate(xp: Any, *arrays: Any) -> None:
    """Evaluate the arrays at the end of a loop's step, so that all steps use the same kernel.

    With NumPy, this does nothing.
    """
    if hasattr(xp, "eval"):
        xp.eval(*arrays)


PROGRAMS = {
    program.__name__: program
    for program in (
        black_scholes, softmax, layer_norm, cumsum, mask, take, scatter, histogram, sort, argsort,
        fft, matmul_of_views, kmeans, mandelbrot, heat, nbody,
    )
}  # fmt: skip


def prepared(op: str, arrays: dict[str, Any], options: dict[str, Any], out: Any) -> Any:
    """Return a program's arrays and options, made from those of the row before the timing."""
    if op == "mandelbrot":
        height, width = out
        arrays = {
            "real": np.linspace(*options["real"], width).astype(np.float32),
            "imag": np.linspace(*options["imag"], height).astype(np.float32),
        }
        options = {"steps": options["steps"]}
    if op == "heat":
        arrays = {"u": np.pad(arrays["inside"], 1)}
    if op == "fft":
        arrays = {"x": arrays["re"] + np.complex64(1j) * arrays["im"]}
    return arrays, options


def entries(op: str, results: Any, arrays: dict[str, Any], at: list[int]) -> Any:
    """Return some entries of a program's results.

    Indices continue from one result to the next. For argsort, the entries are the selected
    elements, since equal ones may be in any order.
    """
    if op == "argsort":
        results = [arrays["x"][results[0]]]
    if op == "fft":
        results = [results[0].real, results[0].imag]
    flat = [result.ravel() for result in results]
    found = np.empty(len(at))
    for i, index in enumerate(at):
        part = 0
        while index >= flat[part].size:
            index -= flat[part].size
            part += 1
        found[i] = flat[part][index]
    return found
