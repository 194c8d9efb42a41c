"""Arrays of random numbers: the same on every device, and on the host by ``tensors/philox.py``.

Each function fills an array from the block of a counter on, and returns the counter of the block
after those that it took: draws from there on share no word with it. The key (less than 2^64) and
the counter (less than 2^128) are no part of a program. Numbers go into y in row-major order and are
rounded to its dtype. Words and integers are the same bits everywhere, and so are floats wherever
+ and × round to nearest, as all known GPUs do: of them there are none but scale × number + shift.
"""

from __future__ import annotations

from struct import pack, unpack

import numpy as np

from browsergpu.core import checks
from browsergpu.core.dtypes import DType
from browsergpu.core.errors import InvalidArgument
from browsergpu.device.device import Device
from browsergpu.kernels.base.build import Build
from browsergpu.kernels.elements.philox import draw
from browsergpu.tensors import philox
from browsergpu.tensors.operand_checks import small_number
from browsergpu.tensors.staging import Operand, Staging, launch, of_operands
from browsergpu.tensors.view import View

#: What the integers of a dtype are from, and below.
_BOUNDS = {
    DType.I32: (-(2**31), 2**31),
    DType.U32: (0, 2**32),
    DType.U8: (0, 2**8),
    DType.BOOL: (0, 2),
}


def words(device: Device, op: str, y: View, key: int, counter: int) -> int:
    """y, of u32 or i32, = random words."""
    return _draw(device, op, "words", y, key, counter, 0, 0, 0)


def uniform(
    device: Device, op: str, y: View, key: int, counter: int, low: float = 0.0, high: float = 1.0
) -> int:
    """y, of floats, = low + (high - low) u for multiples u of 2^-24 in [0, 1), less than high
    before they are rounded to y's dtype; all low where both are the same.

    Raises InvalidArgument where low > high, or their distance is beyond float32's range.
    """
    least, most = (
        np.float32(checks.real(op, name, value)) for name, value in (("low", low), ("high", high))
    )
    with np.errstate(over="ignore"):
        span = most - least
    if not 0 <= span < np.inf:
        raise InvalidArgument(
            op, "high", high, f"a number not below low, {low}, and within float32's range of it"
        )
    last = max(least, np.nextafter(most, np.float32(-np.inf)))
    bounds = (_bits(float(bound)) for bound in (least, span, last))
    return _draw(device, op, "uniform", y, key, counter, *bounds)


def integers(device: Device, op: str, y: View, key: int, counter: int, low: int, high: int) -> int:
    """y = whole numbers from low to high - 1, each with the same probability, within a share of
    2^-32.

    Raises InvalidArgument where there are none, or not all fit y, of i32, u32, u8 or bool.
    """
    least, most = _BOUNDS[y.dtype]
    if not least <= low < high <= most:
        raise InvalidArgument(
            op, "high", high, f"more than low, {low}, within {least} to {most} for {y.dtype}"
        )
    return _draw(device, op, "integers", y, key, counter, low % 2**32, (high - low) % 2**32, 0)


def normal(
    device: Device, op: str, y: View, key: int, counter: int, mean: float = 0.0, scale: float = 1.0
) -> int:
    """y, of floats, = mean + scale × numbers of the standard normal distribution, up to 6.67 in
    size. Raises InvalidArgument where scale < 0 or a parameter is not finite as float32."""
    shift, factor = checks.real(op, "mean", mean), small_number(op, "scale", scale)
    return _draw(device, op, "normal", y, key, counter, _bits(shift), _bits(factor), 0)


def exponential(
    device: Device, op: str, y: View, key: int, counter: int, scale: float = 1.0
) -> int:
    """y, of floats, = scale × numbers of the standard exponential distribution, up to 22.2. Raises
    InvalidArgument where scale < 0 or not finite as float32."""
    factor = small_number(op, "scale", scale)
    return _draw(device, op, "exponential", y, key, counter, 0, _bits(factor), 0)


def place(key: int, counter: int) -> tuple[int, ...]:
    """Where in a stream numbers begin, as the first parameters of a draw."""
    return (*philox.split(key, 2), *philox.split(counter, 4))


def _draw(
    device: Device, op: str, distribution: str, y: View, key: int, counter: int, *bounds: int
) -> int:
    """Fills y; ``bounds`` are the kernels' shift, scale and last."""
    if y.size:
        late = (*place(key, counter), *bounds)
        launch(device, op, _fill, (y,), distribution, late=late)
    return (counter + philox.blocks_for(distribution, y.size)) % philox.COUNTERS


@of_operands
def _fill(build: Build, y: Operand, distribution: str) -> None:
    staging = Staging(build)
    kind = y.dtype.computed_as if distribution in ("words", "integers") else DType.F32
    draw(build, staging.write(y, dtype=kind), distribution, y.size)
    staging.deliver()


def _bits(value: float) -> int:
    """The bits of a float32."""
    (word,) = unpack("<I", pack("<f", value))
    return int(word)
