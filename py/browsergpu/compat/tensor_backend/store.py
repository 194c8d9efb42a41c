"""Creation, transfer and lookup of tensors by handle."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import count
from operator import index
from typing import Any
from weakref import finalize

import numpy as np

from browsergpu.compat.tensor_backend.handles import TensorHandle, TensorMeta
from browsergpu.compat.tensor_backend.scalars import Scalars
from browsergpu.compat.wasm_backend.backend import WasmBackend
from browsergpu.engine.core import checks
from browsergpu.engine.core.dtypes import DType, DTypeLike
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.engine.core.shapes import Shape
from browsergpu.engine.device import host_tensors
from browsergpu.engine.device.device import Device
from browsergpu.engine.gpu import platform
from browsergpu.engine.gpu.memory import Allocation
from browsergpu.engine.tensors import transfers
from browsergpu.engine.tensors.device_array import DeviceArray, Storage
from browsergpu.engine.tensors.view import View

_handles = count(1)  # all backends share it, so a handle of one is never valid on another


class Tensor(View):
    """The tensor of a handle. ``storage`` owns its memory if arrays share it."""

    __slots__ = ("handle", "storage")

    def __init__(self, buffer: Allocation, shape: Shape, dtype: DType, handle: int) -> None:
        super().__init__(buffer, shape, dtype)
        self.handle = handle
        self.storage: Storage | None = None

    @property
    def _noun(self) -> str:
        return f"tensor {self.handle}"


class TensorStore(Scalars):
    """The tensors of one backend, and checks that all operations share.

    Handles are plain numbers, which programs copy into arrays or to JavaScript. A tensor therefore
    lives until it is freed, or until its store is garbage-collected: only the store resolves
    handles. Its tensors then return to the pool.
    """

    def __init__(self, backend: WasmBackend) -> None:
        if not isinstance(backend, WasmBackend):
            raise InvalidArgument("TensorBackend", "backend", backend, "a WasmBackend")
        self._backend = backend
        self._device: Device | None = None
        self._tensors: dict[int, Tensor] = {}
        self._release: finalize[..., TensorStore] | None = None

    def _facts(self) -> str:
        return f"of {len(self._tensors)} tensors on {self._backend!r}"

    @property
    def name(self) -> str:
        """The name of the backend, ``"webgpu"``."""
        return self._backend.name

    @property
    def is_available(self) -> bool:
        """Whether the underlying device is open."""
        return self._backend.is_initialized

    def alloc_tensor(self, shape: Sequence[int], dtype: DTypeLike) -> TensorHandle:
        """Return a new tensor with undefined contents. Raise OutOfMemory if it is too large."""
        op = "alloc_tensor"
        device = self._ready(op)
        extents = checks.dimensions(op, "shape", shape)
        kind = checks.choice(op, "dtype", dtype, DType)
        size = checks.product(extents)
        buffer = device.memory.get_buffer(op, kind.device_bytes(size))
        tensor = Tensor(buffer, extents, kind, next(_handles))
        self._tensors[tensor.handle] = tensor
        return TensorHandle(tensor.handle)

    def free_tensor(self, handle: TensorHandle) -> None:
        """Free a tensor. Operations recorded with it still run."""
        device = self._ready("free_tensor")
        tensor = self._tensor("free_tensor", "handle", handle)
        del self._tensors[tensor.handle]
        if tensor.storage is None:
            device.memory.return_buffer(tensor.buffer)

    @property
    def device(self) -> Device:
        """The open device. Raises NotInitialized if there is none."""
        return self._ready("device")

    def array(self, handle: TensorHandle) -> DeviceArray:
        """Return a tensor as an array in the same memory, for a KernelExecutor on this backend.

        The memory is freed once the tensor is freed and the array is no longer referenced.
        ``array.free()`` also frees the tensor.
        """
        op = "array"
        device = self._ready(op)
        tensor = self._tensor(op, "handle", handle)
        if tensor.storage is None:
            freed = partial(self._tensors.pop, tensor.handle, None)
            tensor.storage = Storage(device, tensor.buffer, freed)
        return DeviceArray(device, tensor.shape, tensor.dtype, tensor.storage)

    def tensor_meta(self, handle: TensorHandle) -> TensorMeta:
        """Return the shape, dtype and bytes of a tensor."""
        self._ready("tensor_meta")
        tensor = self._tensor("tensor_meta", "handle", handle)
        return TensorMeta(tensor.shape, tensor.dtype, tensor.buffer.nbytes)

    def write_tensor(self, handle: TensorHandle, data: Any) -> None:
        """Fill a tensor from a NumPy array of its shape, or from bytes in its dtype.

        In bytes, a bool takes one byte. Other integer arrays are narrowed if every value fits.
        float64, and other arrays whose values would change, are refused. Cast them first.
        """
        op = "write_tensor"
        device = self._ready(op)
        tensor = self._tensor(op, "handle", handle)
        array = host_tensors.to_device(op, "data", data, tensor.shape, tensor.dtype)
        if array.nbytes:
            view = array.data.cast("B")
            transfers.write(device, tensor.buffer, 0, view)

    def read_tensor(self, handle: TensorHandle) -> bytes:
        """Return a tensor's elements as bytes in its dtype (bool: one byte each). Waits."""
        return platform.block_on(self.read_tensor_async(handle), "read_tensor")

    async def read_tensor_async(self, handle: TensorHandle) -> bytes:
        """Read a tensor, as :meth:`read_tensor` does, without blocking."""
        return (await self._read("read_tensor", handle)).tobytes()

    def read_numpy(self, handle: TensorHandle) -> np.ndarray:
        """Return a tensor as a NumPy array of its shape and dtype. Blocks."""
        return platform.block_on(self.read_numpy_async(handle), "read_numpy")

    async def read_numpy_async(self, handle: TensorHandle) -> np.ndarray:
        """Read a tensor, as :meth:`read_numpy` does, without blocking."""
        return await self._read("read_numpy", handle)

    async def _read(self, op: str, handle: TensorHandle) -> np.ndarray:
        device = self._ready(op)
        tensor = self._tensor(op, "handle", handle)
        array = np.empty(tensor.shape, tensor.dtype.device_numpy)
        if array.nbytes:
            view = array.data.cast("B")
            await transfers.read(device, tensor.buffer, 0, view)
        return host_tensors.from_device(array, tensor.dtype)

    def sync(self) -> None:
        """Wait for all recorded operations, and raise errors that the device reported."""
        platform.block_on(self.sync_async(), "sync")

    async def sync_async(self) -> None:
        """Wait for all recorded operations, as :meth:`sync` does, without blocking."""
        await self._ready("sync").recorder.synchronize()

    # -- checks ----------------------------------------------------------------------------------

    def _ready(self, op: str) -> Device:
        device = self._backend.ready(op)
        if device is not self._device:  # the backend was closed and opened again
            self._use(device)
        return device

    def _use(self, device: Device) -> None:
        """Switch to a device, without the tensors of the previous one."""
        if self._release is not None:
            self._release.detach()
        self._device, self._tensors = device, {}
        self._release = finalize(self, _give_back, device, self._tensors)
        self._release.atexit = False

    def _tensor(
        self, op: str, name: str, handle: Any, dtypes: tuple[DType, ...] | None = None
    ) -> Tensor:
        tensor = None
        if not isinstance(handle, bool):
            try:
                tensor = self._tensors.get(index(handle))
            except TypeError:
                tensor = None
        if tensor is None:
            raise InvalidArgument(
                op,
                name,
                handle,
                "a handle from this backend's alloc_tensor that was not freed or lost with its "
                "device",
            )
        if dtypes is not None and tensor.dtype not in dtypes:
            raise InvalidArgument(op, name, tensor, f"a tensor of {' or '.join(dtypes)}")
        return tensor


def _give_back(device: Device, tensors: dict[int, Tensor]) -> None:
    for tensor in tensors.values():
        if tensor.storage is None:
            device.memory.return_buffer(tensor.buffer)
    tensors.clear()
