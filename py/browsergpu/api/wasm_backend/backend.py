"""The compute backend on WebGPU, which checks arguments, finds buffers and records kernels."""

from __future__ import annotations

from asyncio import ensure_future, wait_for
from collections.abc import Callable, Sequence
from dataclasses import replace
from inspect import isawaitable
from operator import index
from typing import Any, Self
from weakref import finalize

import numpy as np

from browsergpu.core import checks
from browsergpu.core.config import BackendConfig, configured
from browsergpu.core.dtypes import DType
from browsergpu.core.enums import BinaryOp, Order, ReduceOp, Transpose, UnaryOp
from browsergpu.core.errors import DeviceLost, InvalidArgument, NoAdapter, NotInitialized, Timeout
from browsergpu.core.mutex import Mutex
from browsergpu.core.remembered import hashable
from browsergpu.core.showing import Description, Shown, byte_count
from browsergpu.device import canvas, host_memory
from browsergpu.device.debugging import Debugger
from browsergpu.device.device import Device
from browsergpu.device.kept import KeptContents
from browsergpu.gpu import platform
from browsergpu.gpu.memory import Allocation
from browsergpu.gpu.port import lost
from browsergpu.kernels.convolution import conv2d
from browsergpu.kernels.matmul import gemm, gemm_f16
from browsergpu.kernels.matmul.gemm import GemmPlan
from browsergpu.kernels.networks import attention
from browsergpu.tensors import pointwise, reductions, transfers
from browsergpu.tensors.device_array import DeviceArray

_F32 = 4
_F16 = 2
_UNARY = {op.value: op.value for op in UnaryOp}
_BINARY = {op.value: op.value for op in BinaryOp}


def _is_part(buffer: Allocation, n: int) -> bool:
    """Return whether a kernel that writes four floats at once would write behind the first n."""
    return n % 4 != 0 and buffer.nbytes > 4 * n


class ComputeBackend(Shown):
    """The type of compute backends.

    :class:`WasmBackend` implements it and documents the methods. ComputeBackend itself cannot be
    instantiated.
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        if cls is ComputeBackend:
            raise TypeError("ComputeBackend cannot be instantiated. Create a WasmBackend.")
        return super().__new__(cls)


class WasmBackend(ComputeBackend):
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

    def __init__(self, config: BackendConfig | None = None, **options: Any) -> None:
        self._config = configured("WasmBackend", config, options)
        self._open: Device | None = None
        self._closings = 0  # number of calls of close()
        self._opening = Mutex()
        self._canvas_id: str | None = None
        self._buffers: dict[int, Allocation] = {}
        self._release: finalize[..., WasmBackend] | None = None
        self._kept: dict[int, KeptContents] = {}  # by handle
        self._gone: dict[int, str] = {}  # lost handle -> label

    # -- opening and closing ---------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The name of the backend, ``"webgpu"``."""
        return "webgpu"

    @property
    def is_initialized(self) -> bool:
        """Whether the device is open."""
        return self._open is not None

    @property
    def device(self) -> Device:
        """The open device: its info, features, limits, memory and recorder."""
        return self._opened("device")

    def init(self) -> None:
        """Open the device. Do nothing if it is open. Raise NoAdapter if there is none."""
        if not platform.is_available():
            raise NoAdapter("init", platform.why_no_gpu())
        platform.block_on(self.init_async(), "init")

    async def init_async(self) -> None:
        """Open the device, as :meth:`init` does, without blocking."""
        closings = self._closings
        turn = await self._opening.turn()
        try:
            device = None
            if self._open is None and closings == self._closings:
                device = await self._request()
            if closings != self._closings:
                if device is not None:
                    device.close()
                raise NotInitialized(
                    "init", "the backend was closed while it was being opened. Call init() again."
                )
            if device is not None:
                self._use(device, {})
        finally:
            turn.is_over = True

    def _use(self, device: Device, buffers: dict[int, Allocation]) -> None:
        """Make a device, with its buffers, the open one."""
        self._forget_device()
        self._open, self._buffers = device, buffers
        # Frees the buffers if the device outlives the backend, since only the backend knows the
        # pointers.
        self._release = finalize(self, _give_back, device, buffers)
        self._release.atexit = False

    def _forget_device(self) -> None:
        if self._release is not None:
            self._release.detach()
        self._open = self._release = None

    def _facts(self) -> str:
        if self._open is None:
            return "closed" if self._closings else "not open"
        return f"of {len(self._buffers)} buffers on {self._open!r}"

    async def _request(self) -> Device:
        device = await Device.request(self._config)
        device.recorder.recovery = "Open it again with `await backend.recover()`."
        if self._config.debug_mode:
            device.recorder.observers.append(Debugger(device))
        return device

    @classmethod
    async def init_from_canvas(
        cls, canvas_id: str, config: BackendConfig | None = None, **options: Any
    ) -> WasmBackend:
        """Return an open backend that draws on a canvas by default.

        Parameters
        ----------
        canvas_id : str
            On the main thread, the id of an element of the document. In a worker, the id of an
            OffscreenCanvas that the page has registered in ``globalThis.browsergpuCanvases``.
        config : BackendConfig, optional
            Options of the device.
        **options
            Fields of BackendConfig, which override ``config``.

        Raises
        ------
        InvalidArgument
            If there is no canvas with the id.
        """
        canvas.find("init_from_canvas", canvas_id)
        backend = cls(config, **options)
        backend._canvas_id = canvas_id
        await backend.init_async()
        return backend

    def close(self) -> None:
        """Free all buffers and close the device.

        Closing twice is allowed. A concurrent ``init`` raises NotInitialized.
        """
        device = self._open
        self._forget_device()
        self._closings += 1
        self._buffers.clear()
        self._kept.clear()
        self._gone.clear()
        if device is not None:
            device.close()

    async def recover(self) -> None:
        """Open the GPU again after a loss, with the same pointers.

        Buffers allocated with ``keep=True`` are restored to the values that the host last wrote to
        them or read from them. Using another buffer raises DeviceLost with its label. If the device
        is not lost, nothing happens.

        Raises
        ------
        NoAdapter
            If the browser gives no GPU. After two crashes of the GPU process, Chrome gives none
            until the page is reloaded.
        """
        old = self._opened("recover")
        turn = await self._opening.turn()
        try:
            if self._open is not old or not old.is_lost:
                return
            device = await self._request()
            if self._open is not old:  # closed in the meantime
                device.close()
                return
            try:
                restored = self._restore(device)
            except BaseException:
                device.close()
                raise
            old.close()
            for handle in self._buffers.keys() - restored.keys():
                self._gone[handle] = self._buffers[handle].label
            self._use(device, restored)
        finally:
            turn.is_over = True

    def _restore(self, device: Device) -> dict[int, Allocation]:
        """Create the kept buffers on another device, under their handles."""
        restored = {}
        for handle, kept in self._kept.items():
            kept.forget_reads()
            old = self._buffers[handle]
            new = device.memory.get_buffer("recover", old.nbytes, old.label)
            restored[handle] = replace(new, handle=handle)
            if kept.data:
                device.recorder.write(new.id, 0, kept.data, (len(kept.data) + 3) & ~3)
        return restored

    async def with_retry(self, fn: Callable[[], Any], attempts: int = 3) -> Any:
        """Call a function, and call it again after recovering from a loss of the GPU.

        Parameters
        ----------
        fn : callable
            A function without arguments. An awaitable result is awaited.
        attempts : int
            Maximum number of calls.

        Returns
        -------
        object
            The function's result.

        Raises
        ------
        DeviceLost
            If the GPU was lost in all calls.
        """
        op = "with_retry"
        if not callable(fn):
            raise InvalidArgument(op, "fn", fn, "a function without arguments")
        number = checks.integer(op, "attempts", attempts, 1)
        while True:
            try:
                result = fn()
                return await result if isawaitable(result) else result
            except DeviceLost:
                number -= 1
                if number == 0:
                    raise
                await self.recover()

    def __enter__(self) -> WasmBackend:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    # -- memory ----------------------------------------------------------------------------------

    def alloc(self, bytes: int, *, keep: bool = False, label: str = "") -> int:
        """Allocate a buffer with undefined contents and return its pointer.

        Parameters
        ----------
        bytes : int
            Size of the buffer.
        keep : bool
            Whether :meth:`recover` restores its contents.
        label : str
            Its name in statistics, errors and the browser's developer tools.

        Raises
        ------
        OutOfMemory
            If no buffer can be that large.
        """
        device = self.ready("alloc")
        nbytes = checks.integer("alloc", "bytes", bytes, maximum=2**53)
        kept = checks.flag("alloc", "keep", keep)
        if not isinstance(label, str):
            raise InvalidArgument("alloc", "label", label, "a string")
        buffer = device.memory.get_buffer("alloc", nbytes, label)
        self._buffers[buffer.handle] = buffer
        if kept:
            self._kept[buffer.handle] = KeptContents()
        return buffer.handle

    def free(self, ptr: int) -> None:
        """Free a buffer. Operations recorded with it still run."""
        device = self._opened("free")
        if type(ptr) is int and self._gone.pop(ptr, None) is not None:
            return  # lost with its device
        buffer = self._buffer("free", "ptr", ptr)
        del self._buffers[buffer.handle]
        self._kept.pop(buffer.handle, None)
        device.memory.return_buffer(buffer)

    def buffer_bytes(self, ptr: int) -> int:
        """Return the size with which a buffer was allocated."""
        self._opened("buffer_bytes")
        return self._buffer("buffer_bytes", "ptr", ptr).nbytes

    def copy_htod(self, dst: int, src: Any) -> None:
        """Copy a bytes-like object or NumPy array to the start of a buffer.

        Elements are copied in C order. Further bytes of the buffer stay the same. A big-endian
        array is converted to the GPU's little-endian order. float64 is refused; cast it with
        ``.astype(np.float32)``.
        """
        op = "copy_htod"
        device = self.ready(op)
        buffer = self._buffer(op, "dst", dst)
        view = host_memory.source_view(op, "src", src)
        self._check_room(op, "src", view.nbytes, "dst", buffer)
        transfers.write(device, buffer, 0, view)
        kept = self._kept.get(buffer.handle)
        if kept is not None and view.nbytes > 0:
            kept.write(_bytes_of(view).data)

    def copy_dtoh(self, dst: Any, src: int) -> None:
        """Fill a writable C-contiguous bytes-like object or NumPy array from the start of a buffer.

        A big-endian array gets the values in its own byte order. Waits for earlier operations.
        """
        platform.block_on(self.copy_dtoh_async(dst, src), "copy_dtoh")

    async def copy_dtoh_async(self, dst: Any, src: int) -> None:
        """Read a buffer, as :meth:`copy_dtoh` does, without blocking."""
        op = "copy_dtoh"
        device = self.ready(op)
        buffer = self._buffer(op, "src", src)
        view = host_memory.target_view(op, "dst", dst)
        self._check_room(op, "dst", view.nbytes, "src", buffer)
        if view.nbytes == 0:
            return
        received = host_memory.receiver(view)
        kept = self._kept.get(buffer.handle)
        if kept is None:
            await transfers.read(device, buffer, 0, received)
        else:
            await _read_kept(device, buffer, received, kept)
        host_memory.deliver(received, view)

    def synchronize(self, *, timeout: float | None = None) -> None:
        """Wait for all recorded operations, at most ``timeout`` seconds.

        Errors that the device reported are raised. After ``timeout`` seconds, Timeout is raised
        and the operations continue.
        """
        platform.block_on(self.synchronize_async(timeout=timeout), "synchronize")

    async def synchronize_async(self, *, timeout: float | None = None) -> None:
        """Wait for all recorded operations, as :meth:`synchronize` does, without blocking."""
        op = "synchronize"
        device = self.ready(op)
        seconds = None if timeout is None else checks.real(op, "timeout", timeout)
        if seconds is None:
            await device.recorder.synchronize()
            return
        try:
            # In a task of its own: wait_for() needs one, and a blocking call runs in none.
            await ensure_future(wait_for(device.recorder.synchronize(), seconds))
        except TimeoutError:
            raise Timeout(
                op, f"the GPU has not finished within {timeout} s. Wait again, or send less work."
            ) from None

    # -- matrix products -------------------------------------------------------------------------

    def gemm(
        self,
        trans_a: Transpose | str,
        trans_b: Transpose | str,
        m: int,
        n: int,
        k: int,
        alpha: float,
        a_ptr: int,
        lda: int,
        b_ptr: int,
        ldb: int,
        beta: float,
        c_ptr: int,
        ldc: int,
        *,
        order: Order = "C",
    ) -> None:
        """Compute C = alpha op(A) op(B) + beta C, as BLAS's sgemm does (https://netlib.org/blas).

        op(A) is m × k, op(B) is k × n and C is m × n. beta = 0 never reads C, and alpha = 0 never
        reads A and B.

        Parameters
        ----------
        trans_a, trans_b : Transpose or str
            Whether op transposes A and B.
        m, n, k : int
            Extents of the matrices.
        alpha, beta : float
            Factors of the product and of C.
        a_ptr, b_ptr, c_ptr : int
            Pointers to the matrices. C must not be A or B.
        lda, ldb, ldc : int
            Leading dimensions of A, B and C: the distance between stored rows (order "C") or
            columns (order "F"), at least their length.
        order : {"C", "F"}
            "C" stores all three matrices by rows, "F" by columns.
        """
        plan = gemm.plan_gemm(
            "gemm", trans_a, trans_b, m, n, k, alpha, lda, 0, ldb, 0, beta, ldc, 0, 1, order
        )
        self._gemm("gemm", plan, a_ptr, b_ptr, c_ptr)

    def batched_gemm(
        self,
        trans_a: Transpose | str,
        trans_b: Transpose | str,
        m: int,
        n: int,
        k: int,
        alpha: float,
        a_ptr: int,
        lda: int,
        stride_a: int,
        b_ptr: int,
        ldb: int,
        stride_b: int,
        beta: float,
        c_ptr: int,
        ldc: int,
        stride_c: int,
        batch_count: int,
        *,
        order: Order = "C",
    ) -> None:
        """Compute :meth:`gemm` for ``batch_count`` matrices.

        Further arguments are those of :meth:`gemm`. A pointer is that of the first matrix.

        Parameters
        ----------
        stride_a, stride_b : int
            Distance in elements from each matrix A or B to the next. 0 uses one matrix for all.
        stride_c : int
            Distance in elements from each matrix C to the next. The matrices must not overlap.
        batch_count : int
            Number of products.
        """
        plan = gemm.plan_gemm(
            "batched_gemm", trans_a, trans_b, m, n, k, alpha, lda, stride_a, ldb, stride_b, beta,
            ldc, stride_c, batch_count, order,
        )  # fmt: skip
        self._gemm("batched_gemm", plan, a_ptr, b_ptr, c_ptr)

    def _gemm(self, op: str, plan: GemmPlan, a_ptr: int, b_ptr: int, c_ptr: int) -> None:
        device = self.ready(op)
        a = self._elements(op, "a_ptr", a_ptr, plan.a_elements)
        b = self._elements(op, "b_ptr", b_ptr, plan.b_elements)
        c = self._elements(op, "c_ptr", c_ptr, plan.c_elements)
        if c is a or c is b:
            raise InvalidArgument(op, "c_ptr", c_ptr, "a buffer other than a_ptr and b_ptr")
        device.launch(op, gemm.gemm, (a, b, c), plan)

    def gemm_f16(
        self,
        m: int,
        n: int,
        k: int,
        alpha: float,
        a_ptr: int,
        b_ptr: int,
        beta: float,
        c_ptr: int,
    ) -> None:
        """Compute C = alpha A B + beta C for contiguous row-major float16 matrices.

        A is m × k, B is k × n and C is m × n. Sums are float32.

        Parameters
        ----------
        m, n, k : int
            Extents of the matrices.
        alpha, beta : float
            Factors of the product and of C.
        a_ptr, b_ptr, c_ptr : int
            Pointers to the matrices. C must not be A or B.
        """
        op = "gemm_f16"
        device = self.ready(op)
        plan = gemm_f16.plan_gemm_f16(m, n, k, alpha, beta)
        a = self._elements(op, "a_ptr", a_ptr, plan.a_elements, _F16)
        b = self._elements(op, "b_ptr", b_ptr, plan.b_elements, _F16)
        c = self._elements(op, "c_ptr", c_ptr, plan.c_elements, _F16)
        if c is a or c is b:
            raise InvalidArgument(op, "c_ptr", c_ptr, "a buffer other than a_ptr and b_ptr")
        device.launch(op, gemm_f16.gemm_f16, (a, b, c), plan)

    # -- neural networks -------------------------------------------------------------------------

    def conv2d_forward(
        self,
        input_ptr: int,
        input_shape: Sequence[int],
        filter_ptr: int,
        filter_shape: Sequence[int],
        output_ptr: int,
        output_shape: Sequence[int],
        stride: int | Sequence[int],
        padding: int | Sequence[int],
    ) -> None:
        """Compute the cross-correlation of images with filters.

        Parameters
        ----------
        input_ptr, filter_ptr, output_ptr : int
            Pointers. The output must not be the input or the filter.
        input_shape : sequence of int
            [N, C, H, W]. The input is padded with zeros.
        filter_shape : sequence of int
            [F, C, R, S].
        output_shape : sequence of int
            [N, F, P, Q] with P = floor((H + 2 padding - R) / stride) + 1, and Q likewise.
        stride, padding : int or sequence of int
            Integers or (vertical, horizontal).
        """
        op = "conv2d_forward"
        device = self.ready(op)
        if output_shape is None:  # a plan would infer it
            raise InvalidArgument(op, "output_shape", None, "the four extents of the output")
        plan = conv2d.plan_conv2d(
            op, hashable(input_shape), hashable(filter_shape), hashable(output_shape),
            hashable(stride), hashable(padding),
        )  # fmt: skip
        x = self._elements(op, "input_ptr", input_ptr, plan.input_elements)
        w = self._elements(op, "filter_ptr", filter_ptr, plan.filter_elements)
        y = self._elements(op, "output_ptr", output_ptr, plan.output_elements)
        if y is x or y is w:
            raise InvalidArgument(
                op, "output_ptr", output_ptr, "a buffer other than the input's and the filter's"
            )
        device.launch(op, conv2d.conv2d, (x, w, y), plan)

    def attention(
        self,
        q_ptr: int,
        k_ptr: int,
        v_ptr: int,
        o_ptr: int,
        batch: int,
        heads: int,
        seq_q: int,
        seq_kv: int,
        head_dim: int,
        scale: float,
        causal: bool,
    ) -> None:
        """Compute O = softmax(scale Q Kᵀ) V.

        seq_kv = 0 gives zeros.

        Parameters
        ----------
        q_ptr, o_ptr : int
            Pointers to Q and O, [batch, heads, seq_q, head_dim]. O must not be Q, K or V.
        k_ptr, v_ptr : int
            Pointers to K and V, [batch, heads, seq_kv, head_dim].
        batch, heads, seq_q, seq_kv, head_dim : int
            Extents of the arrays.
        scale : float
            Finite factor above 0.
        causal : bool
            Whether to mask the keys after the query's own position.
        """
        op = "attention"
        device = self.ready(op)
        plan = attention.plan_attention(batch, heads, seq_q, seq_kv, head_dim, scale, causal)
        q = self._elements(op, "q_ptr", q_ptr, plan.query_elements)
        k = self._elements(op, "k_ptr", k_ptr, plan.key_elements)
        v = self._elements(op, "v_ptr", v_ptr, plan.key_elements)
        o = self._elements(op, "o_ptr", o_ptr, plan.query_elements)
        if o is q or o is k or o is v:
            raise InvalidArgument(op, "o_ptr", o_ptr, "a buffer other than q_ptr, k_ptr and v_ptr")
        device.launch(op, attention.attention, (q, k, v, o), plan)

    # -- reductions and elements -----------------------------------------------------------------

    def reduce(
        self,
        op: ReduceOp | str,
        input_ptr: int,
        output_ptr: int,
        shape: Sequence[int],
        axis: int,
    ) -> None:
        """Reduce one axis of a contiguous array. The output has the other axes.

        Parameters
        ----------
        op : ReduceOp or str
            The reduction.
        input_ptr, output_ptr : int
            Pointers to two different buffers.
        shape : sequence of int
            Shape of the input, with at least one axis.
        axis : int
            Negative axes count from the end. An empty axis gives 0 for sum and NaN for mean, and is
            refused for max and min.
        """
        device = self.ready("reduce")
        plan = reductions.plan_reduce(op, hashable(shape), axis)
        x = self._elements("reduce", "input_ptr", input_ptr, plan.input_elements)
        y = self._elements("reduce", "output_ptr", output_ptr, plan.output_elements)
        if x is y:
            raise InvalidArgument(
                "reduce", "output_ptr", output_ptr, "a buffer other than input_ptr"
            )
        if plan.output_elements:
            device.launch("reduce", reductions.reduce_floats, (x, y), plan)

    def unary(self, op: UnaryOp | str, input_ptr: int, output_ptr: int, n: int) -> None:
        """Compute output[i] = op(input[i]) for i < n. Both may be the same buffer."""
        device = self.ready("unary")
        name = _UNARY.get(op) if isinstance(op, str) else None
        if name is None:
            name = checks.choice("unary", "op", op, UnaryOp).value
        if type(n) is not int or not 0 <= n <= checks.LARGEST:
            n = checks.integer("unary", "n", n)
        x = self._elements("unary", "input_ptr", input_ptr, n)
        y = self._elements("unary", "output_ptr", output_ptr, n)
        if n > 0:
            device.launch("unary", pointwise.unary_floats, (x, y), name, n, _is_part(y, n))

    def binary(self, op: BinaryOp | str, a_ptr: int, b_ptr: int, output_ptr: int, n: int) -> None:
        """Compute output[i] = op(a[i], b[i]) for i < n. Any of them may be the same buffer."""
        device = self.ready("binary")
        name = _BINARY.get(op) if isinstance(op, str) else None
        if name is None:
            name = checks.choice("binary", "op", op, BinaryOp).value
        if type(n) is not int or not 0 <= n <= checks.LARGEST:
            n = checks.integer("binary", "n", n)
        a = self._elements("binary", "a_ptr", a_ptr, n)
        b = self._elements("binary", "b_ptr", b_ptr, n)
        y = self._elements("binary", "output_ptr", output_ptr, n)
        if n > 0:
            device.launch("binary", pointwise.binary_floats, (a, b, y), name, n, _is_part(y, n))

    # -- canvas ----------------------------------------------------------------------------------

    def draw(
        self,
        ptr: int | DeviceArray,
        height: int | None = None,
        width: int | None = None,
        channels: int | None = None,
        canvas_id: str | None = None,
    ) -> None:
        """Draw a float32 image with values in 0..1 on a canvas, from GPU memory.

        Values are clamped. The canvas takes the image's size. In a worker, the picture appears when
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
            array = _picture(op, ptr, device, (height, width, channels))
            height, width, channels = (*array.shape, 1)[:3]
        largest = device.limits["maxTextureDimension2D"]
        height = checks.integer(op, "height", height, 1, largest)
        width = checks.integer(op, "width", width, 1, largest)
        channels = checks.integer(op, "channels", channels, 1, 4)
        if channels == 2:
            raise InvalidArgument(op, "channels", channels, "1 (grey), 3 (RGB) or 4 (RGBA)")
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

    # -- checks ----------------------------------------------------------------------------------

    def ready(self, op: str) -> Device:
        """Return the open device.

        Raises NotInitialized, in the name of ``op``, if there is none, and DeviceLost if it is
        lost.
        """
        device = self._open
        if device is None or device.recorder.loss[0]:
            raise lost(op, self._opened(op).recorder.recovery)
        return device

    def _opened(self, op: str) -> Device:
        """Return the open device, which may be lost."""
        if self._open is None:
            if self._closings:
                raise NotInitialized(op, "the backend is closed. Open it again with init().")
            raise NotInitialized(op, "call init() first, or await init_async()")
        return self._open

    def _buffer(self, op: str, name: str, ptr: Any) -> Allocation:
        buffer = self._buffers.get(ptr) if type(ptr) is int else self._lookup(ptr)
        if buffer is None:
            if type(ptr) is int and ptr in self._gone:
                raise DeviceLost(
                    op,
                    f"{name} is {ptr}, the buffer {self._gone[ptr]!r}, whose contents were lost "
                    "with the device (alloc with keep=True restores them)",
                )
            raise InvalidArgument(
                op, name, ptr, "a pointer from this backend's alloc that was not freed"
            )
        return buffer

    def _lookup(self, ptr: Any) -> Allocation | None:
        if isinstance(ptr, bool):
            return None
        try:
            return self._buffers.get(index(ptr))
        except TypeError:
            return None

    def _elements(self, op: str, name: str, ptr: Any, n: int, itemsize: int = _F32) -> Allocation:
        """Return the buffer of a pointer, which must hold n elements."""
        buffer = self._buffers.get(ptr) if type(ptr) is int else None
        if buffer is None:
            buffer = self._buffer(op, name, ptr)
        if n * itemsize > buffer.nbytes:
            raise InvalidArgument(
                op,
                name,
                Description(f"buffer {buffer.handle} of {byte_count(buffer.nbytes)}"),
                f"a buffer of at least {byte_count(n * itemsize)}, {n} elements of {itemsize}",
            )
        return buffer

    @staticmethod
    def _check_room(op: str, host: str, nbytes: int, device: str, buffer: Allocation) -> None:
        if nbytes > buffer.nbytes:
            raise InvalidArgument(
                op,
                host,
                Description(byte_count(nbytes)),
                f"at most as large as {device}, {byte_count(buffer.nbytes)}",
            )


def _picture(op: str, array: DeviceArray, device: Device, extents: tuple[Any, ...]) -> DeviceArray:
    """Return the array to draw, packed."""
    array.check_alive(op)
    if array.device is not device:
        raise InvalidArgument(op, "ptr", array, "an array on this backend's device")
    if array.dtype is not DType.F32 or array.ndim not in (2, 3):
        raise InvalidArgument(op, "ptr", array, "an array of f32, of shape [H, W] or [H, W, C]")
    if extents != (None, None, None):
        raise InvalidArgument(op, "height", extents, "None for an array, which has its own extents")
    return array.packed(op)


async def _read_kept(
    device: Device, buffer: Allocation, view: memoryview, kept: KeptContents
) -> None:
    """Fill ``view`` from a kept buffer, and note the buffer's contents."""
    read = kept.begin_read()
    found = None
    try:
        # Read into separate memory, because others may write to the view in the meantime.
        contents = bytearray(view.nbytes)
        await transfers.read(device, buffer, 0, memoryview(contents))
        found = memoryview(contents)
        _bytes_of(view)[:] = found
    finally:
        kept.end_read(read, found)


def _bytes_of(view: memoryview) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Return the bytes of non-empty contiguous memory, whatever its element type."""
    return np.frombuffer(view, np.uint8)


def _give_back(device: Device, buffers: dict[int, Allocation]) -> None:
    for buffer in buffers.values():
        device.memory.return_buffer(buffer)
