"""Discrete Fourier transforms of complex64, stored as float32 pairs (real, imaginary).

Forward transforms use exp(-2πi jk / n), inverse ones exp(2πi jk / n). Results are multiplied by
``scale``. The error is about 1e-7 log2 n of the results' root mean square, or four times that if n
has a prime factor above 7. No size may be 0, and outputs must be different buffers from inputs.
"""

from __future__ import annotations

from math import log2

from browsergpu.engine.core.grids import blocks, fold
from browsergpu.engine.core.params import params
from browsergpu.engine.gpu.program import Slot
from browsergpu.engine.kernels.base.build import Build
from browsergpu.engine.kernels.base.family import (
    READ,
    WRITE,
    Binding,
    Fields,
    Kernel,
    KernelFamily,
    Work,
    bindings,
)
from browsergpu.engine.kernels.elements.strided import gather
from browsergpu.engine.kernels.fourier import fft_lengths

_THREADS = 256
_NBYTES = 8  # of a complex number
_MOST_PADDED = 2**28  # maximum bytes of padded rows per dispatch, but at least one row

#: Complex numbers outside of the transformed axis, along it, and inside of it.
Extents = tuple[int, int, int]


def transform(
    build: Build, x: Slot, y: Slot, extents: Extents, *, inverse: bool, scale: float
) -> None:
    """Add y = the transform of x along the middle axis of [outer, n, inner]."""
    passes = fft_lengths.passes(*extents[1:])
    sign = 1.0 if inverse else -1.0
    if passes is None:
        _as_convolution(build, x, y, extents, sign, scale)
    else:
        _in_passes(build, x, y, extents, passes, sign, scale)


def of_real(build: Build, x: Slot, y: Slot, rows: int, n: int, *, scale: float) -> None:
    """Add y [rows, n // 2 + 1], the first half of the transform of real x [rows, n]."""
    half = n // 2 + 1
    if n % 2 == 0:
        spectrum = build.temporary(_NBYTES * rows * (n // 2))
        transform(build, x, spectrum, (rows, n // 2, 1), inverse=False, scale=1.0)
        _each(build, "fft_split", (spectrum, y), rows * half, n, rows, scale)
        build.release(spectrum)
        return
    wide, spectrum = (build.temporary(_NBYTES * rows * n) for _ in range(2))
    _each(build, "fft_widen", (x, wide), rows * n, n, rows, 1.0)
    transform(build, wide, spectrum, (rows, n, 1), inverse=False, scale=scale)
    gather(build, "fft", spectrum, (2 * n, 1), y, (rows, 2 * half))
    build.release(wide, spectrum)


def to_real(build: Build, x: Slot, y: Slot, rows: int, n: int, *, scale: float) -> None:
    """Add y [rows, n], the real inverse transform of x [rows, n // 2 + 1].

    The missing half is the complex conjugate. The imaginary part of the first element is ignored,
    and that of the last one if n is even.
    """
    if n % 2 == 0:
        spectrum = build.temporary(_NBYTES * rows * (n // 2))
        _each(build, "fft_merge", (x, spectrum), rows * (n // 2), n, rows, 1.0)
        transform(build, spectrum, y, (rows, n // 2, 1), inverse=True, scale=scale)
        build.release(spectrum)
        return
    spectrum, wide = (build.temporary(_NBYTES * rows * n) for _ in range(2))
    _each(build, "fft_mirror", (x, spectrum), rows * n, n, rows, 1.0)
    transform(build, spectrum, wide, (rows, n, 1), inverse=True, scale=scale)
    gather(build, "fft", wide, (2 * n, 2), y, (rows, n))
    build.release(spectrum, wide)


def _each(build: Build, kernel: str, slots: tuple[Slot, ...], count: int, *fields: float) -> None:
    """Add a dispatch with ``count`` threads."""
    build.dispatch(kernel, "", fold(blocks(count, _THREADS)), slots, *fields)


def _in_passes(
    build: Build,
    x: Slot,
    y: Slot,
    extents: Extents,
    passes: tuple[int, ...],
    sign: float,
    scale: float,
) -> None:
    size = extents[0] * extents[1] * extents[2]
    other = build.temporary(_NBYTES * size) if len(passes) > 1 else y
    source, before = x, 1
    for i, points in enumerate(passes):
        left = len(passes) - 1 - i
        target = other if left % 2 else y
        together = fft_lengths.together(points)
        build.dispatch(
            "fft", "", fold(blocks(size // points, together)), (source, target),
            *extents, points, before, fft_lengths.in_a_word(fft_lengths.radices(points)), together,
            sign, 1.0 if left else scale,
        )  # fmt: skip
        source = target
        before *= points
    if other != y:
        build.release(other)


def _as_convolution(
    build: Build, x: Slot, y: Slot, extents: Extents, sign: float, scale: float
) -> None:
    """Add a transform of any length by Bluestein's algorithm, in batches of padded lines."""
    outer, n, inner = extents
    lines = outer * inner
    padded = fft_lengths.padded(2 * n - 1)
    row = _NBYTES * padded
    most = max(1, min(lines, min(_MOST_PADDED, build.facts.largest_buffer) // row))
    chirp, factors = build.temporary(row), build.temporary(row)
    _each(build, "fft_chirp", (chirp,), padded, n, inner, padded, 1, 0, sign, 1.0)
    transform(build, chirp, factors, (1, padded, 1), inverse=False, scale=1.0)
    build.release(chirp)
    wide, spectrum = build.temporary(most * row), build.temporary(most * row)
    for first in range(0, lines, most):
        rows = min(most, lines - first)
        fields = (n, inner, padded, rows, first, sign, scale / padded)
        _each(build, "fft_pad", (x, wide), rows * padded, *fields)
        transform(build, wide, spectrum, (rows, padded, 1), inverse=False, scale=1.0)
        _each(build, "fft_multiply", (factors, spectrum), rows * padded, *fields)
        transform(build, spectrum, wide, (rows, padded, 1), inverse=True, scale=1.0)
        _each(build, "fft_unpad", (wide, y), rows * n, *fields)
    build.release(factors, wide, spectrum)


def _pass_work(f: Fields) -> Work:
    numbers = f["outer"] * f["n"] * f["inner"]
    return 5 * numbers * log2(f["points"]), 16 * numbers


_CHIRP = params(
    *("n: u32", "inner: u32", "padded: u32", "rows: u32", "first: u32"),
    *("sign: f32", "scale: f32"),
)
_REAL = params("n: u32", "rows: u32", "scale: f32")
_PAIR = bindings("x", "y")

FAMILY = KernelFamily(
    kernels=(
        Kernel(
            "fft",
            "fft.wgsl",
            _PAIR,
            params(
                *("outer: u32", "n: u32", "inner: u32", "points: u32", "before: u32"),
                *("radices: u32", "together: u32", "sign: f32", "scale: f32"),
            ),
            cost=_pass_work,
        ),
        Kernel("fft_chirp", "fft_chirp.wgsl", (Binding(1, "y", WRITE),), _CHIRP, "main_chirp"),
        Kernel("fft_pad", "fft_chirp.wgsl", _PAIR, _CHIRP, "main_pad"),
        Kernel("fft_multiply", "fft_chirp.wgsl", _PAIR, _CHIRP, "main_multiply"),
        Kernel("fft_unpad", "fft_chirp.wgsl", _PAIR, _CHIRP, "main_unpad"),
        Kernel("fft_split", "fft_real.wgsl", _PAIR, _REAL, "main_split"),
        Kernel("fft_merge", "fft_real.wgsl", _PAIR, _REAL, "main_merge"),
        Kernel(
            "fft_widen",
            "fft_real.wgsl",
            (Binding(0, "words", READ), Binding(1, "y", WRITE)),
            _REAL,
            "main_widen",
        ),
        Kernel("fft_mirror", "fft_real.wgsl", _PAIR, _REAL, "main_mirror"),
    )
)
