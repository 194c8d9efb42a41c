"""Creating, copying and rearranging arrays, and checks that all operations share."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from browsergpu.engine.core import checks, shapes
from browsergpu.engine.core.dtypes import FLOATS, DType, DTypeLike
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.engine.core.shapes import Shape
from browsergpu.engine.core.showing import Shown
from browsergpu.engine.device.device import Device
from browsergpu.engine.gpu.port import closed
from browsergpu.engine.tensors import pointwise
from browsergpu.engine.tensors.device_array import DeviceArray

_BY_NUMPY = {dtype.numpy: dtype for dtype in DType}


class ExecutorBase(Shown):
    """Base of the parts of a KernelExecutor, with the device and argument checks."""

    def __init__(self, device: Device | Any) -> None:
        found = device if isinstance(device, Device) else getattr(device, "device", None)
        if not isinstance(found, Device):
            raise InvalidArgument(
                "KernelExecutor", "device", device,
                "a Device (await Device.request() opens one), or a backend that has one",
            )  # fmt: skip
        self.device = found

    def _facts(self) -> str:
        return f"on {self.device!r}"

    # -- making arrays ---------------------------------------------------------------------------

    def from_numpy(self, data: Any, dtype: DTypeLike | None = None) -> DeviceArray:
        """Copy a NumPy array to the GPU, in its own dtype or another one.

        int64 is narrowed to i32 if its values fit. float64 must be cast first.
        """
        op = "from_numpy"
        if not isinstance(data, np.ndarray | np.generic):
            raise InvalidArgument(op, "data", data, "a NumPy array")
        kind = (
            self._kind_of(op, data) if dtype is None else checks.choice(op, "dtype", dtype, DType)
        )
        array = DeviceArray.allocate(self.device, op, data.shape, kind)
        array.write(data, op)
        return array

    @staticmethod
    def _kind_of(op: str, data: Any) -> DType:
        kind = _BY_NUMPY.get(data.dtype.newbyteorder("="))
        if kind is not None:
            return kind
        if data.dtype.kind == "i":
            return DType.I32
        if data.dtype.kind == "u":
            return DType.U32
        raise InvalidArgument(
            op,
            "data",
            data.dtype,
            "float32, float16, integers or bool",
            "Cast it with .astype().",
        )

    def empty(self, shape: Sequence[int], dtype: DTypeLike = DType.F32) -> DeviceArray:
        """Return a new array with undefined contents."""
        extents = checks.dimensions("empty", "shape", shape)
        kind = checks.choice("empty", "dtype", dtype, DType)
        return DeviceArray.allocate(self.device, "empty", extents, kind)

    def full(self, shape: Sequence[int], value: float, dtype: DTypeLike = DType.F32) -> DeviceArray:
        """Return a new array filled with ``value``."""
        extents = checks.dimensions("full", "shape", shape)
        kind = checks.choice("full", "dtype", dtype, DType)
        word = _repeated("full", "value", value, kind)
        array = DeviceArray.allocate(self.device, "full", extents, kind)
        self._fill(array, word)
        return array

    def zeros(self, shape: Sequence[int], dtype: DTypeLike = DType.F32) -> DeviceArray:
        """Return a new array of zeros."""
        extents = checks.dimensions("zeros", "shape", shape)
        kind = checks.choice("zeros", "dtype", dtype, DType)
        array = DeviceArray.allocate(self.device, "zeros", extents, kind)
        self._fill(array, 0)
        return array

    # -- copying ---------------------------------------------------------------------------------

    def fill(self, array: DeviceArray, value: float) -> DeviceArray:
        """Set every element of an array, and return it. Values of u8 are 0 to 255."""
        self._array("fill", "array", array).check_packed("fill", "array")
        self._fill(array, _repeated("fill", "value", value, array.dtype))
        return array

    def _fill(self, array: DeviceArray, word: int) -> None:
        pointwise.fill(self.device, array, word)

    def copy(self, x: DeviceArray, out: DeviceArray | None = None) -> DeviceArray:
        """Copy an array to new memory."""
        op = "copy"
        self._array(op, "x", x)
        result = self._out(op, out, x.shape, x.dtype, (x.dtype,))
        self._assign(op, x, result)
        return result

    def cast(self, x: DeviceArray, dtype: DTypeLike, out: DeviceArray | None = None) -> DeviceArray:
        """Convert an array to another dtype.

        Floats are truncated towards 0 and clamped to the range of an integer dtype, and NaN becomes
        0. Integers keep their lowest bits. For bool, nonzero values become True.
        """
        op = "cast"
        self._array(op, "x", x)
        kind = checks.choice(op, "dtype", dtype, DType)
        result = self._out(op, out, x.shape, kind, (kind,))
        self._assign(op, x, result)
        return result

    def _assign(self, op: str, x: DeviceArray, result: DeviceArray) -> None:
        pointwise.assign(self.device, op, x, result)

    def reshape(self, x: DeviceArray, shape: int | Sequence[int]) -> DeviceArray:
        """Return an array with another shape, in the same memory unless ``x`` is strided.

        One extent may be -1.
        """
        op = "reshape"
        self._array(op, "x", x)
        given = shape if checks.is_several(shape) else (shape,)
        extents = checks.dimensions(op, "shape", given, minimum=-1)
        if extents.count(-1) == 1:
            known = prod(extent for extent in extents if extent != -1)
            missing = x.size // known if known else 0
            extents = tuple(missing if extent == -1 else extent for extent in extents)
        if -1 in extents or prod(extents) != x.size:
            raise InvalidArgument(op, "shape", shape, f"a shape of {x.size} elements")
        return x.packed(op).sharing(extents)

    def transpose(
        self, x: DeviceArray, axes: Sequence[int] | None = None, out: DeviceArray | None = None
    ) -> DeviceArray:
        """Permute the axes of an array, reversing them by default."""
        op = "transpose"
        self._array(op, "x", x)
        order = self._order(op, axes, x.ndim)
        shape = tuple(x.shape[i] for i in order)
        result = self._out(op, out, shape, x.dtype, (x.dtype,))
        if x.size:
            pointwise.permute(self.device, op, x, order, result)
        return result

    @staticmethod
    def _order(op: str, axes: Sequence[int] | None, rank: int) -> tuple[int, ...]:
        if axes is None:
            return tuple(reversed(range(rank)))
        expected = f"each axis from 0 to {rank - 1} once"
        given = checks.dimensions(op, "axes", axes, minimum=-rank)
        order = tuple(axis + rank if axis < 0 else axis for axis in given)
        if sorted(order) != list(range(rank)):
            raise InvalidArgument(op, "axes", axes, expected)
        return order

    # -- checks ----------------------------------------------------------------------------------

    def _array(
        self, op: str, name: str, value: Any, dtypes: tuple[DType, ...] | None = None
    ) -> DeviceArray:
        if not isinstance(value, DeviceArray):
            raise InvalidArgument(op, name, value, "a DeviceArray (see from_numpy)")
        if value.device is not self.device:
            raise InvalidArgument(op, name, value, "an array on this executor's device")
        if self.device.is_closed:
            raise closed(op)
        if value.is_freed:
            raise InvalidArgument(op, name, value, "an array that is not freed")
        if dtypes is not None and value.dtype not in dtypes:
            raise InvalidArgument(op, name, value, f"an array of {' or '.join(dtypes)} (see cast)")
        return value

    def _floats(self, op: str, **arrays: Any) -> DType:
        """Check float arrays. Return f16 if all of them are f16, else f32."""
        kind = DType.F16
        for name, array in arrays.items():
            dtype = self._array(op, name, array, FLOATS).dtype
            if dtype is not DType.F16:
                kind = DType.F32
        return kind

    def _out(
        self,
        op: str,
        out: Any,
        shape: Shape,
        dtype: DType,
        dtypes: tuple[DType, ...] = FLOATS,
    ) -> DeviceArray:
        """Return ``out`` after checking it, or a new array of ``dtype``."""
        if out is None:
            return DeviceArray.allocate(self.device, op, shape, dtype)
        array = self._array(op, "out", out, dtypes)
        array.check_packed(op, "out")
        if array.shape != shape:
            raise InvalidArgument(op, "out", out, f"have shape {shape}")
        return array

    @staticmethod
    def _axis(op: str, value: Any, rank: int) -> int:
        return shapes.axis(op, "axis", value, rank)


def number(op: str, name: str, value: Any, dtype: DType) -> Any:
    """Convert a scalar to NumPy's scalar of a dtype, which must be able to hold it."""
    kind = dtype.device_numpy.type
    if dtype is DType.BOOL:
        return kind(checks.flag(op, name, value))
    if dtype.is_float:
        if isinstance(value, bool | str | bytes) or not hasattr(value, "__float__"):
            raise InvalidArgument(op, name, value, "a real number")
        with np.errstate(over="ignore"):
            return kind(float(value))
    bounds = np.iinfo(dtype.numpy)
    return kind(_whole(op, name, value, int(bounds.min), int(bounds.max)))


def _whole(op: str, name: str, value: Any, lowest: int, highest: int) -> int:
    try:
        return checks.integer(op, name, value, lowest, highest)
    except InvalidArgument:
        raise InvalidArgument(op, name, value, f"an integer from {lowest} to {highest}") from None


def _repeated(op: str, name: str, value: Any, dtype: DType) -> int:
    """Return a word filled with copies of a scalar."""
    raw = number(op, name, value, dtype).tobytes()
    return int.from_bytes(raw * (4 // len(raw)), "little")
