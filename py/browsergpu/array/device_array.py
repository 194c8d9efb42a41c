"""A NumPy-like array in GPU memory: shape, dtype and the buffer, freed with the last reference."""

from __future__ import annotations

from math import prod
from typing import Any, ClassVar
from weakref import finalize

import numpy as np

from browsergpu.array import transfers
from browsergpu.array.staging import Tensor
from browsergpu.core import host_tensors
from browsergpu.core.dtypes import DType
from browsergpu.core.errors import InvalidArgument
from browsergpu.device.device import Device
from browsergpu.gpu import platform
from browsergpu.gpu.memory import Allocation


class _Storage:
    """A buffer that goes back to its device's pool with the last array that uses it."""

    __slots__ = ("__weakref__", "_release", "buffer", "is_free")

    def __init__(self, device: Device, buffer: Allocation) -> None:
        self.buffer = buffer
        self.is_free = False
        self._release = finalize(self, _give_back, device, buffer)
        self._release.atexit = False

    def release(self) -> None:
        """Gives the buffer back now. Twice does nothing more."""
        self.is_free = True
        self._release()


def _give_back(device: Device, buffer: Allocation) -> None:
    device.memory.return_buffer(buffer)


class DeviceArray:
    """A contiguous row-major array on a device. Made by a KernelExecutor.

    ``shape``, ``dtype``, ``size`` and ``ndim`` are as in NumPy. Reshaped arrays share memory. The
    operators ``+ - * /`` take arrays and numbers, ``@`` arrays; they are add, sub, mul, div and
    matmul of a KernelExecutor, and give new arrays.
    """

    __slots__ = ("__weakref__", "_storage", "_tensor", "device")

    #: Of a device, what has the operators' operations: KernelExecutor, which needs this module and
    #: so sets it.
    operations: ClassVar[Any]
    #: A NumPy array beside an operator does not take this for a scalar, and is refused.
    __array_ufunc__ = None

    def __init__(self, device: Device, shape: tuple[int, ...], dtype: DType, storage: Any) -> None:
        self.device = device
        self._storage: _Storage = storage
        self._tensor = Tensor(storage.buffer, shape, dtype)

    @classmethod
    def allocate(cls, device: Device, op: str, shape: tuple[int, ...], dtype: DType) -> DeviceArray:
        """A new array, contents undefined."""
        buffer = device.memory.get_buffer(op, dtype.device_bytes(prod(shape)))
        return cls(device, shape, dtype, _Storage(device, buffer))

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents of its axes."""
        return self._tensor.shape

    @property
    def dtype(self) -> DType:
        """The type of its elements."""
        return self._tensor.dtype

    @property
    def size(self) -> int:
        """The number of its elements."""
        return self._tensor.size

    @property
    def ndim(self) -> int:
        """The number of its axes."""
        return len(self._tensor.shape)

    @property
    def nbytes(self) -> int:
        """Bytes that it takes on the GPU."""
        return self.dtype.device_bytes(self.size)

    @property
    def is_freed(self) -> bool:
        """Whether :meth:`free` was called on it or on an array that shares its memory."""
        return self._storage.is_free

    @property
    def tensor(self) -> Tensor:
        """What kernels are dispatched on."""
        return self._tensor

    def sharing(self, shape: tuple[int, ...]) -> DeviceArray:
        """The same elements in another shape of the same size, in the same memory."""
        return DeviceArray(self.device, shape, self.dtype, self._storage)

    def __add__(self, other: Any) -> Any:
        return self._operate("add", self, other, other)

    def __radd__(self, other: Any) -> Any:
        return self._operate("add", other, self, other)

    def __sub__(self, other: Any) -> Any:
        return self._operate("sub", self, other, other)

    def __rsub__(self, other: Any) -> Any:
        return self._operate("sub", other, self, other)

    def __mul__(self, other: Any) -> Any:
        return self._operate("mul", self, other, other)

    def __rmul__(self, other: Any) -> Any:
        return self._operate("mul", other, self, other)

    def __truediv__(self, other: Any) -> Any:
        return self._operate("div", self, other, other)

    def __rtruediv__(self, other: Any) -> Any:
        return self._operate("div", other, self, other)

    def __matmul__(self, other: Any) -> Any:
        if not isinstance(other, DeviceArray):
            return NotImplemented
        return self._operate("matmul", self, other, other)

    def _operate(self, op: str, a: Any, b: Any, other: Any) -> Any:
        if not isinstance(other, DeviceArray | int | float | np.number):
            return NotImplemented
        return getattr(self.operations(self.device), op)(a, b)

    def free(self) -> None:
        """Gives the memory back now instead of with the last reference. Arrays that share it are
        freed too; freeing twice does nothing more."""
        self._storage.release()

    def write(self, data: Any, op: str = "write") -> None:
        """Copies a NumPy array of its shape, or bytes, to the GPU."""
        self.check_alive(op)
        array = host_tensors.to_device(op, "data", data, self.shape, self.dtype)
        if array.nbytes:
            view = array.data.cast("B")
            transfers.write(self.device, self._tensor.buffer, 0, view)

    def numpy(self) -> np.ndarray:
        """A copy as a NumPy array. Waits."""
        return platform.block_on(self.numpy_async(), "numpy")

    async def numpy_async(self) -> np.ndarray:
        """:meth:`numpy` for callers that cannot block."""
        self.check_alive("numpy")
        array = np.empty(self.shape, self.dtype.device_numpy)
        if array.nbytes:
            view = array.reshape(-1).data.cast("B")
            await transfers.read(self.device, self._tensor.buffer, 0, view)
        return host_tensors.from_device(array, self.dtype)

    # Not __await__: JavaScript would take a proxy of an awaitable array for a promise, and wait for
    # it wherever a Python function returns one.
    async def ready(self) -> DeviceArray:
        """Waits until the array is computed, and gives it. Raises what the GPU reported."""
        self.check_alive("ready")
        await self.device.recorder.synchronize()
        return self

    def check_alive(self, op: str) -> None:
        """Raises, in the name of ``op``, NotInitialized once the device is closed and
        InvalidArgument after :meth:`free`."""
        self.device.check_open(op)
        if self.is_freed:
            raise InvalidArgument(op, "array", self, "an array that was not freed")

    def __repr__(self) -> str:
        freed = ", freed" if self.is_freed else ""
        return f"<DeviceArray {self.dtype} {self.shape}{freed}>"
