"""Random tensors: the same on every device, and on the host by ``engine/tensors/philox.py``.

Each function fills a tensor from the block at ``counter``. It returns the counter after the blocks
that it has used, so later draws share no words with it. key < 2^64 and counter < 2^128 are
parameters of the program. Numbers go to y in row-major order, rounded to its dtype.

A :class:`HostDraw` in place of a tensor takes one number, which the host computes.

Words and integers have the same bits everywhere. Floats do wherever + and × round to nearest, as on
all known GPUs: the only float arithmetic is scale × number + shift.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from browsergpu.engine.core import checks
from browsergpu.engine.core.dtypes import DType
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.engine.core.params import float_word
from browsergpu.engine.core.showing import Shown
from browsergpu.engine.device.device import Device
from browsergpu.engine.kernels.base.build import Build
from browsergpu.engine.kernels.elements.philox import draw
from browsergpu.engine.tensors import philox
from browsergpu.engine.tensors.staging import Operand, Staging, launch, of_operands
from browsergpu.engine.tensors.view import View


class HostDraw(Shown):
    """One number of a dtype, int32, uint32 or float32, that is drawn on the host."""

    __slots__ = ("dtype", "number")
    size = 1

    def __init__(self, dtype: DType) -> None:
        self.dtype = dtype
        self.number: Any = None


#: Targets of drawn numbers.
Drawn: TypeAlias = View | HostDraw

#: The range of integers of a dtype; the upper bound is exclusive.
_BOUNDS = {
    DType.I32: (-(2**31), 2**31),
    DType.U32: (0, 2**32),
    DType.U8: (0, 2**8),
    DType.BOOL: (0, 2),
}


def words(device: Device, op: str, y: Drawn, key: int, counter: int) -> int:
    """Fill u32 or i32 y with random words."""
    return _draw(device, op, "words", y, key, counter, 0, 0, 0)


def uniform(
    device: Device, op: str, y: Drawn, key: int, counter: int, low: float = 0.0, high: float = 1.0
) -> int:
    """Fill y with floats low + (high - low) u for multiples u of 2^-24 in [0, 1).

    They are less than high before they are rounded to y's dtype, or all low if both are equal.
    Raises InvalidArgument if low > high, or if their difference exceeds float32's range.
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
    bounds = (float_word(float(bound)) for bound in (least, span, last))
    return _draw(device, op, "uniform", y, key, counter, *bounds)


def integers(device: Device, op: str, y: Drawn, key: int, counter: int, low: int, high: int) -> int:
    """Fill y with integers from low to high - 1, with equal probability up to a factor of 2^-32.

    Raises InvalidArgument if the range is empty or does not fit y, which is i32, u32, u8 or bool.
    """
    least, most = _BOUNDS[y.dtype]
    if not least <= low < high <= most:
        raise InvalidArgument(
            op, "high", high, f"more than low, {low}, within {least} to {most} for {y.dtype}"
        )
    return _draw(device, op, "integers", y, key, counter, low % 2**32, (high - low) % 2**32, 0)


def normal(
    device: Device, op: str, y: Drawn, key: int, counter: int, mean: float = 0.0, scale: float = 1.0
) -> int:
    """Fill y with floats mean + scale × standard normal numbers, which are up to 6.67 in size.

    Raises InvalidArgument if scale < 0 or a parameter is not finite as float32.
    """
    shift, factor = checks.real(op, "mean", mean), checks.nonnegative(op, "scale", scale)
    return _draw(device, op, "normal", y, key, counter, float_word(shift), float_word(factor), 0)


def exponential(
    device: Device, op: str, y: Drawn, key: int, counter: int, scale: float = 1.0
) -> int:
    """Fill y with floats scale × standard exponential numbers, which are up to 22.2.

    Raises InvalidArgument if scale < 0 or not finite as float32.
    """
    factor = checks.nonnegative(op, "scale", scale)
    return _draw(device, op, "exponential", y, key, counter, 0, float_word(factor), 0)


def place(key: int, counter: int) -> tuple[int, ...]:
    """Return the position in a random stream as the first parameters of a draw."""
    return (*philox.split(key, 2), *philox.split(counter, 4))


def _draw(
    device: Device, op: str, distribution: str, y: Drawn, key: int, counter: int, *bounds: int
) -> int:
    """Fill y. ``bounds`` are the kernels' shift, scale and last."""
    if isinstance(y, HostDraw):
        y.number = philox.one(distribution, key, counter, *bounds, is_signed=y.dtype is DType.I32)
    elif y.size:
        late = (*place(key, counter), *bounds)
        launch(device, op, _fill, (y,), distribution, late=late)
    return (counter + philox.blocks_for(distribution, y.size)) % philox.COUNTERS


@of_operands
def _fill(build: Build, y: Operand, distribution: str) -> None:
    staging = Staging(build)
    kind = y.dtype.computed_as if distribution in ("words", "integers") else DType.F32
    draw(build, staging.write(y, dtype=kind), distribution, y.size)
    staging.deliver()
