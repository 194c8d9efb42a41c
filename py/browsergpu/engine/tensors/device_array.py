"""Arrays of the executor interface, and the storage of all arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any
from weakref import WeakKeyDictionary, WeakSet, ref

import numpy as np

from browsergpu.engine.core import checks
from browsergpu.engine.core.above import ABOVE
from browsergpu.engine.core.dtypes import DType
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.engine.core.shapes import Shape
from browsergpu.engine.core.showing import Description, Shown, byte_count
from browsergpu.engine.device import host_tensors
from browsergpu.engine.device.device import Device
from browsergpu.engine.gpu import platform
from browsergpu.engine.gpu.memory import Allocation
from browsergpu.engine.kernels.elements.strided import check_axes
from browsergpu.engine.tensors import pointwise, transfers
from browsergpu.engine.tensors.view import View

# Users of a buffer; dead ones are dropped at this size, then at twice the live size.
_MANY_USERS = 32


class Storage(Shown):
    """A buffer that returns to its device's pool with the last array that uses it.

    ``freed`` is called then. ``version`` counts the writes in place. ``mirror`` is a copy on the
    host, of the version that it names.
    """

    __slots__ = (
        "__weakref__", "_many", "_memory", "_users", "buffer", "is_free", "mirror", "version",
    )  # fmt: skip

    def __init__(
        self, device: Device, buffer: Allocation, freed: Callable[[], object] | None = None
    ) -> None:
        self.buffer = buffer
        self.is_free = False
        self.version = 0
        self.mirror: Any = None
        self._memory = device.memory
        self._users: list[ref[Any]] = []
        self._many = _MANY_USERS
        self._memory.owned_by(self, buffer, freed)

    def _facts(self) -> str:
        return f"of {byte_count(self.buffer.capacity)}{', freed' if self.is_free else ''}"

    def written(self) -> None:
        """Note a write in place. Callers that write to the memory of an array call this."""
        self.version += 1
        self._memory.writes += 1

    def release(self) -> None:
        """Free the buffer now. A second call does nothing."""
        self.is_free = True
        self._memory.free(self, self.buffer)

    def used_by(self, user: Any) -> None:
        """Add a value whose elements are in this memory."""
        if len(self._users) >= self._many:
            self._users = [user for user in self._users if user() is not None]
            self._many = max(_MANY_USERS, 2 * len(self._users))
        self._users.append(ref(user))
        if self._memory.new_users is not None:
            self._memory.new_users.add(user)

    @property
    def is_held(self) -> bool:
        """Whether a captured graph uses the buffer."""
        return self.buffer.id in self._memory.held

    @property
    def user_count(self) -> int:
        """The number of users, including dead ones that are not dropped yet."""
        return len(self._users)

    def left_by(self, user: Any) -> None:
        """Remove a value that has moved."""
        self._users = [known for known in self._users if known() is not user]

    @property
    def users(self) -> list[Any]:
        """The live values in this memory."""
        return [user for known in self._users if (user := known()) is not None]


class WatchedStorage(Storage):
    """Memory of captured graphs, which note that a value has been added.

    A storage becomes one by :meth:`watch`, so other storages pay nothing for it.
    """

    __slots__ = ()

    @staticmethod
    def watch(storage: Storage, touched: WeakSet[Storage]) -> None:
        """Add the storage to a set whenever a value is added to it, while the set exists."""
        storage.__class__ = WatchedStorage
        known = [one for one in _watching.get(storage, ()) if one() is not None]
        _watching[storage] = [*known, ref(touched)]

    def used_by(self, user: Any) -> None:
        """Add a value whose elements are in this memory."""
        super().used_by(user)
        for one in _watching.get(self, ()):
            touched = one()
            if touched is not None:
                touched.add(self)


_watching: WeakKeyDictionary[Storage, list[ref[WeakSet[Storage]]]] = WeakKeyDictionary()


class DeviceArray(View):
    """An array of a KernelExecutor, on its device.

    ``shape``, ``dtype``, ``size`` and ``ndim`` are as in NumPy. ``strides`` and ``offset`` count
    elements. Reshaped arrays and results of :meth:`as_strided` share memory.

    The operators ``+ - * /`` take arrays and numbers, and ``@`` takes arrays. They call add, sub,
    mul, div and matmul of a KernelExecutor and return new arrays.
    """

    __slots__ = ("__weakref__", "_storage", "device")
    #: NumPy raises for operators between a NumPy array and this class.
    __array_ufunc__ = None

    def __init__(
        self,
        device: Device,
        shape: Shape,
        dtype: DType,
        storage: Storage,
        strides: Shape | None = None,
        offset: int = 0,
    ) -> None:
        super().__init__(storage.buffer, shape, dtype, strides, offset)
        self.device = device
        self._storage = storage

    @classmethod
    def allocate(cls, device: Device, op: str, shape: tuple[int, ...], dtype: DType) -> DeviceArray:
        """Return a new array. Its contents are undefined."""
        buffer = device.memory.get_buffer(op, dtype.device_bytes(prod(shape)))
        return cls(device, shape, dtype, Storage(device, buffer))

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes of the packed elements."""
        return self.dtype.device_bytes(self.size)

    @property
    def is_freed(self) -> bool:
        """Whether :meth:`free` was called on this array or one that shares its memory."""
        return self._storage.is_free

    def sharing(self, shape: Shape) -> DeviceArray:
        """Return a packed array in another shape of the same size, in the same memory."""
        return DeviceArray(self.device, shape, self.dtype, self._storage)

    def as_strided(
        self, shape: Sequence[int], strides: Sequence[int], offset: int = 0
    ) -> DeviceArray:
        """Return a view of the same memory with other strides.

        Every operation can read such an array. Outputs (``out``) must be packed: row-major, from
        the start of the memory.

        Parameters
        ----------
        shape : sequence of int
            The shape.
        strides : sequence of int
            The steps along each axis, in elements. They may be 0 or negative.
        offset : int
            The first element, counted from this array's first element.

        Raises
        ------
        InvalidArgument
            If an element would be outside of the memory.
        Unsupported
            If more than 5 axes remain after merging neighbours, or 8 for an array at the start of
            the memory.
        """
        op = "as_strided"
        self.check_alive(op)
        extents = checks.dimensions(op, "shape", shape)
        steps = checks.dimensions(op, "strides", strides, minimum=-checks.LARGEST)
        if len(steps) != len(extents):
            raise InvalidArgument(
                op, "strides", strides, f"have {len(extents)} numbers, as shape has"
            )
        first = self.offset + checks.integer(op, "offset", offset, -checks.LARGEST)
        if 0 in extents:
            return DeviceArray(self.device, extents, self.dtype, self._storage)
        reach = [(extent - 1) * step for extent, step in zip(extents, steps, strict=True)]
        lowest = first + sum(min(far, 0) for far in reach)
        highest = first + sum(max(far, 0) for far in reach)
        room = self.buffer.nbytes // self.dtype.device_bytes(1)
        if lowest < 0 or highest >= room:
            raise InvalidArgument(
                op, "strides", Description(f"{steps}, to elements {lowest} to {highest}"),
                f"steps to elements 0 to {room - 1} of the memory",
            )  # fmt: skip
        check_axes(op, extents, steps, first)
        return DeviceArray(self.device, extents, self.dtype, self._storage, steps, first)

    def packed(self, op: str = "copy") -> DeviceArray:
        """Return the array itself if it is packed, else a packed copy."""
        if self.is_packed:
            return self
        copy = DeviceArray.allocate(self.device, op, self.shape, self.dtype)
        pointwise.assign(self.device, op, self, copy)
        return copy

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
        return getattr(ABOVE.device_array_operations(self.device), op)(a, b)

    def free(self) -> None:
        """Free the memory now, for all arrays that share it. A second call does nothing."""
        self._storage.release()

    def write(self, data: Any, op: str = "write") -> None:
        """Copy a NumPy array of the same shape, or bytes, to the GPU. The array must be packed."""
        self.check_alive(op)
        self.check_packed(op, "array")
        array = host_tensors.to_device(op, "data", data, self.shape, self.dtype)
        if array.nbytes:
            view = array.data.cast("B")
            transfers.write(self.device, self.buffer, 0, view)

    def numpy(self) -> np.ndarray:
        """Copy the array to the host, as a NumPy array. Waits for the GPU."""
        return platform.block_on(self.numpy_async(), "numpy")

    async def numpy_async(self) -> np.ndarray:
        """Copy the array to the host: :meth:`numpy` for callers that cannot block."""
        self.check_alive("numpy")
        array = np.empty(self.shape, self.dtype.device_numpy)
        if array.nbytes:
            view = array.reshape(-1).data.cast("B")
            source = self.packed("numpy")
            await transfers.read(self.device, source.buffer, 0, view)
        return host_tensors.from_device(array, self.dtype)

    # Not __await__: JavaScript would take a proxy of an awaitable array for a promise, and wait for
    # it wherever a Python function returns one.
    async def ready(self) -> DeviceArray:
        """Wait until the array is computed, and return it. Raises errors that the GPU reported."""
        self.check_alive("ready")
        await self.device.recorder.synchronize()
        return self

    def check_alive(self, op: str) -> None:
        """Raise NotInitialized if the device is closed, and InvalidArgument after :meth:`free`."""
        self.device.check_open(op)
        if self.is_freed:
            raise InvalidArgument(op, "array", self, "an array that was not freed")

    def check_packed(self, op: str, name: str) -> None:
        """Raise InvalidArgument if the array is not packed."""
        if not self.is_packed:
            raise InvalidArgument(op, name, self, "a packed array, not one of as_strided")

    def __repr__(self) -> str:
        freed = ", freed" if self.is_freed else ""
        return f"<DeviceArray {self.dtype} {self.shape}{freed}>"
