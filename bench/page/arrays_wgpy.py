"""WgPy's arrays in the page's Python, with the CuPy names that WgPy has."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from time import perf_counter
from typing import Any, ClassVar

import numpy as np
import wgpy
from bench_rule import timed
from cupyx.scipy import special


def black_scholes(
    xp: Any, spot: Any, strike: Any, years: Any, rate: float, volatility: float
) -> Any:
    """Use the error function like WgPy's own example, since WgPy has no where()."""
    spread = volatility * xp.sqrt(years)
    first = (xp.log(spot / strike) + (rate + volatility * volatility / 2) * years) / spread
    paid = strike * xp.exp(-rate * years)
    below = [0.5 + 0.5 * special.erf(x * sqrt(0.5)) for x in (first, first - spread)]
    call = spot * below[0] - paid * below[1]
    return call, call - spot + paid


def mandelbrot(xp: Any, real: Any, imag: Any, steps: int) -> Any:
    """Follow WgPy's own example, since WgPy cannot add a bool to a float."""
    x = y = xp.zeros((imag.size, real.size), dtype=np.float32)
    count = xp.zeros((imag.size, real.size), dtype=np.int32)
    imag = imag[:, None]
    for _ in range(steps):
        x, y = x * x - y * y + real, x * y * 2.0 + imag
        count += ((x * x + y * y) < 4.0).astype(np.int32)
    return count


class WgPy:
    """WgPy's arrays, on a GPU that the main thread uses."""

    xp = wgpy
    programs: ClassVar = {"black_scholes": black_scholes, "mandelbrot": mandelbrot}
    #: WgPy uses WebGPU's default limits, with bindings of at most 128 MiB.
    options: ClassVar[dict[str, Any]] = {"nbody": {"rows": 1024}}
    skips: ClassVar = {
        "cumsum": "no cumsum",
        "mask": "masks go through the CPU",
        "take": "arrays of indices go through the CPU",
        "scatter": "arrays of indices go through the CPU",
        "histogram": "no histogram",
        "sort": "no sort",
        "argsort": "no argsort",
        "fft": "no fft",
        "kmeans": "no argmin on the GPU",
        "heat": "assignment goes through the CPU",
    }

    last: tuple[str, ...] = ()

    async def start(self) -> dict[str, Any]:
        self._small = wgpy.zeros((1,), dtype=np.float32)
        return {"version": wgpy.__version__}

    def array(self, data: Any) -> Any:
        return wgpy.asarray(np.ascontiguousarray(data))

    async def read(self, array: Any) -> Any:
        return wgpy.asnumpy(array)

    async def measure(self, call: Callable[[], Any], row: dict[str, Any]) -> tuple[Any, Any]:
        """Time a program by the rule. Reading a number is WgPy's only way to wait."""

        async def once(k: int) -> float:
            start = perf_counter()
            for _ in range(k):
                call()
            wgpy.asnumpy(self._small)
            return 1e3 * (perf_counter() - start)

        return await timed(once, row), call()

    def clear(self) -> None:
        """Do nothing, since WgPy frees memory with its arrays."""
