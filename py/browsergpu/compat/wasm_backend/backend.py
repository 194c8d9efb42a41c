"""The compute backend on WebGPU."""

from __future__ import annotations

from typing import Any

from browsergpu.compat.wasm_backend.operations import Operations
from browsergpu.engine.core import checks
from browsergpu.engine.core.dtypes import DType
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.engine.device import canvas
from browsergpu.engine.device.device import Device
from browsergpu.engine.tensors.device_array import DeviceArray


class WasmBackend(Operations):
    """A compute backend on the page's GPU, for Python in WebAssembly.

    A backend is a context manager: leaving the block closes it. It also closes when it is
    garbage-collected, unless its device is still in use. In that case it only frees its buffers.

    Once the GPU is known to be lost, every call raises DeviceLost until ``await backend.recover()``
    has opened it again. Buffers allocated with ``keep=True`` then hold the values that the host
    last wrote to them or read from them.

    Parameters
    ----------
    config : BackendConfig, optional
        Options of the device.
    **options
        Fields of BackendConfig, which override ``config``.

    Notes
    -----
    The methods are BLAS-style calls on device memory, which is addressed by integer pointers. They
    do not provide tensor shapes, broadcasting, dtypes other than those that the methods name, or
    automatic differentiation. Layers above provide these.

    - Elements are float32 unless the method says otherwise. Sizes, leading dimensions and strides
      count elements; :meth:`alloc` counts bytes. A pointer is the start of a buffer, and pointer
      arithmetic is not supported.
    - Numbers follow IEEE 754, including NaN and infinities. A GPU may flush subnormal numbers
      (nearer to 0 than 2^-126, in float16 2^-14) to zero, in operands and results.
      :meth:`copy_htod` and :meth:`copy_dtoh` preserve all bits.
    - Calls are recorded and run in order. Only :meth:`init`, :meth:`copy_dtoh` and
      :meth:`synchronize` wait. Each has an ``_async`` version for callers that cannot block.
    - Arguments are checked before anything reaches the device. Every method raises NotInitialized
      before :meth:`init` or after :meth:`close`, InvalidArgument for a wrong value (an unknown,
      freed or foreign pointer, a buffer that is too small, …) and DeviceLost once the device is
      gone. The next call that waits raises errors that the device itself reports.
    - A size of 0 is allowed wherever an empty result makes sense. Nothing is computed then.

    Examples
    --------
    >>> backend = WasmBackend()
    >>> backend.init()                                  # or: await backend.init_async()
    >>> a = backend.alloc(x.nbytes); backend.copy_htod(a, x)
    >>> backend.unary("relu", a, a, x.size)
    >>> backend.copy_dtoh(x, a)                         # or: await backend.copy_dtoh_async(x, a)
    """

    def draw(
        self,
        ptr: int | DeviceArray,
        height: int | None = None,
        width: int | None = None,
        channels: int | None = None,
        canvas_id: str | None = None,
    ) -> None:
        """Draw a float32 image with values in 0..1 on a canvas, from GPU memory.

        Values are clamped. The canvas takes the image's size. In a worker, the image appears when
        Python next waits or returns.

        Parameters
        ----------
        ptr : int or DeviceArray
            A pointer to an image [height, width, channels], or an array [H, W] or [H, W, C] on this
            backend's device.
        height, width : int, optional
            Extents of the image at a pointer.
        channels : int, optional
            1 for gray, 3 for RGB or 4 for RGBA, for a pointer.
        canvas_id : str, optional
            The id of the canvas. The canvas of :meth:`init_from_canvas` by default.
        """
        op = "draw"
        device = self.ready(op)
        array = None
        if isinstance(ptr, DeviceArray):
            array = _image(op, ptr, device, (height, width, channels))
            height, width, channels = (*array.shape, 1)[:3]
        largest = device.limits["maxTextureDimension2D"]
        height = checks.integer(op, "height", height, 1, largest)
        width = checks.integer(op, "width", width, 1, largest)
        channels = checks.integer(op, "channels", channels, 1, 4)
        if channels == 2:
            raise InvalidArgument(op, "channels", channels, "1 (gray), 3 (RGB) or 4 (RGBA)")
        if array is None:
            buffer = self._elements(op, "ptr", ptr, height * width * channels)
        else:
            buffer = array.buffer
        target = canvas_id if canvas_id is not None else self._canvas_id
        if target is None:
            raise InvalidArgument(
                op, "canvas_id", None, "the id of a canvas (init_from_canvas sets a default)"
            )
        canvas.draw(device, op, target, buffer, height, width, channels)


def _image(op: str, array: DeviceArray, device: Device, extents: tuple[Any, ...]) -> DeviceArray:
    """Return the array to draw, packed."""
    array.check_alive(op)
    if array.device is not device:
        raise InvalidArgument(op, "ptr", array, "an array on this backend's device")
    if array.dtype is not DType.F32 or array.ndim not in (2, 3):
        raise InvalidArgument(op, "ptr", array, "an array of f32, of shape [H, W] or [H, W, C]")
    if extents != (None, None, None):
        raise InvalidArgument(op, "height", extents, "None for an array, which has its own extents")
    return array.packed(op)
