"""Float32 stand-ins for the tensors of one operation, where kernels want float32 or no aliasing.

Kernels compute on float32 and write to no buffer that they read. Used as a context manager, a
Staging converts inputs of other dtypes into temporary buffers, gives temporary buffers for
outputs that are of another dtype or among the inputs, converts or copies those when the operation
has been recorded, and frees all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import TracebackType

from browsergpu.device.device import Device
from browsergpu.core.dtypes import DType
from browsergpu.gpu.memory import Allocation
from browsergpu.kernels.cast import cast, picture_cast


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor in a buffer of its own, contiguous and row-major."""

    handle: int
    shape: tuple[int, ...]
    dtype: DType
    size: int
    buffer: Allocation


class Staging:
    """See the module's docstring. ``pictures``: u8 tensors hold 0..1 as 0..255."""

    def __init__(self, device: Device, op: str, *, pictures: bool = False) -> None:
        self._device = device
        self._op = op
        self._cast = picture_cast if pictures else cast
        self._temporary: list[Allocation] = []
        self._outputs: list[tuple[Allocation, DType, Tensor]] = []

    def __enter__(self) -> Staging:
        return self

    def read(self, tensor: Tensor, dtype: DType = DType.F32) -> Allocation:
        """A buffer of the tensor's elements as ``dtype``."""
        if tensor.dtype is dtype:
            return tensor.buffer
        buffer = self._take(dtype.device_bytes(tensor.size))
        self._cast(self._device, tensor.dtype, dtype, tensor.buffer, buffer, tensor.size)
        return buffer

    def write(self, tensor: Tensor, *read: Tensor, dtype: DType = DType.F32) -> Allocation:
        """A buffer to write the tensor's elements to as ``dtype``, none of those of ``read``."""
        own = tensor.buffer
        if tensor.dtype is dtype:
            for other in read:
                if other.buffer is own:
                    break
            else:
                return own
        buffer = self._take(dtype.device_bytes(tensor.size))
        self._outputs.append((buffer, dtype, tensor))
        return buffer

    def update(self, tensor: Tensor) -> Allocation:
        """A float32 buffer that is read and written in place of the tensor."""
        buffer = self.read(tensor)
        if buffer is not tensor.buffer:
            self._outputs.append((buffer, DType.F32, tensor))
        return buffer

    def temporary(self, dtype: DType, n: int) -> Allocation:
        """A buffer for n elements that lives as long as the operation."""
        return self._take(dtype.device_bytes(n))

    def _take(self, nbytes: int) -> Allocation:
        buffer = self._device.memory.get_buffer(self._op, nbytes, "temporary")
        self._temporary.append(buffer)
        return buffer

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if error is None:
                for output in self._outputs:
                    self._deliver(*output)
        finally:
            for buffer in self._temporary:
                self._device.memory.return_buffer(buffer)

    def _deliver(self, buffer: Allocation, dtype: DType, tensor: Tensor) -> None:
        if dtype is tensor.dtype:
            nbytes = (buffer.nbytes + 3) & ~3
            self._device.recorder.copy(buffer.id, 0, tensor.buffer.id, 0, nbytes)
        else:
            self._cast(self._device, dtype, tensor.dtype, buffer, tensor.buffer, tensor.size)
