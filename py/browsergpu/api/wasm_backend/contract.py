"""The contract of a compute backend: BLAS-style calls on raw device pointers.

A backend owns device memory, addressed by integer pointers, and computes on it. It is *not*
responsible for shapes of tensors, broadcasting, dtypes beyond those named here, or automatic
differentiation: those belong to what is built on it.

Conventions, for every backend:

- Elements are float32 unless the method says otherwise; sizes, leading dimensions and strides
  count elements, ``alloc`` counts bytes. A pointer is the start of a buffer; there is no pointer
  arithmetic.
- Numbers are IEEE 754's, NaN and infinities included, but for subnormal ones: a GPU may take those
  nearer to 0 than 2^-126 (in float16: 2^-14) for zeros, in operands and results alike. What
  ``copy_htod`` and ``copy_dtoh`` move keeps its bits.
- Calls are recorded and run in order. Only ``init``, ``copy_dtoh`` and ``synchronize`` wait; each
  has an ``_async`` twin, for callers that cannot block.
- Arguments are checked before anything reaches the device. Every method raises NotInitialized
  before ``init`` or after ``close``, InvalidArgument for a wrong value (an unknown, freed or
  foreign pointer, a buffer too small, …) and DeviceLost once the device is gone. What the device
  itself reports comes late: from the next call that waits.
- A size of 0 is allowed wherever an empty result makes sense; nothing is then computed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from browsergpu.core.enums import BinaryOp, Order, ReduceOp, Transpose, UnaryOp
from browsergpu.core.showing import Shown


class ComputeBackend(Shown, ABC):
    """What every backend does. See the module's docstring for the conventions."""

    @property
    @abstractmethod
    def name(self) -> str:
        """A short name, such as ``"webgpu"``."""

    @property
    @abstractmethod
    def is_initialized(self) -> bool:
        """Whether the device is open."""

    @abstractmethod
    def init(self) -> None:
        """Opens the device; on an open one, does nothing. Raises NoAdapter where there is none."""

    @abstractmethod
    async def init_async(self) -> None:
        """:meth:`init` for callers that cannot block."""

    @abstractmethod
    def alloc(self, bytes: int) -> int:
        """A new buffer of so many bytes, contents undefined. Returns its pointer.

        Raises OutOfMemory where no buffer can be that large.
        """

    @abstractmethod
    def free(self, ptr: int) -> None:
        """Gives a buffer back. Work that was recorded with it still runs."""

    @abstractmethod
    def copy_htod(self, dst: int, src: Any) -> None:
        """Copies a bytes-like object or NumPy array (its elements in C order) to the start of a
        buffer; bytes past it stay. Of a big-endian array the values are copied, little-endian as
        the GPU has them. float64 is refused: cast it with ``.astype(np.float32)``."""

    @abstractmethod
    def copy_dtoh(self, dst: Any, src: int) -> None:
        """Fills a writable C-contiguous bytes-like object or NumPy array from the start of a
        buffer; a big-endian array gets the buffer's values in its own byte order. Waits for the
        work before it."""

    @abstractmethod
    async def copy_dtoh_async(self, dst: Any, src: int) -> None:
        """:meth:`copy_dtoh` for callers that cannot block."""

    @abstractmethod
    def synchronize(self) -> None:
        """Waits for all recorded work, and raises what the device reported of it."""

    @abstractmethod
    async def synchronize_async(self) -> None:
        """:meth:`synchronize` for callers that cannot block."""

    @abstractmethod
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
        """C = alpha op(A) op(B) + beta C, where op(A) is m × k, op(B) is k × n and C is m × n.

        A leading dimension is the distance between rows (order "C") or columns (order "F") as
        stored, at least the length of one. beta = 0 never reads C, alpha = 0 never reads A and B.
        C must not be A or B. After BLAS's sgemm (https://netlib.org/blas).
        """

    @abstractmethod
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
        """:meth:`gemm` for batch_count matrices, ``stride`` elements apart. stride_a and stride_b
        may be 0 (one matrix for all); the matrices of C must not overlap."""

    @abstractmethod
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
        """C = alpha A B + beta C for contiguous row-major float16 matrices, summed in float32."""

    @abstractmethod
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
        """Cross-correlation of [N, C, H, W] with [F, C, R, S] to [N, F, P, Q], zeros outside.

        P = floor((H + 2 padding - R) / stride) + 1, Q likewise; stride and padding are integers
        or (vertical, horizontal).
        """

    @abstractmethod
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
        """O = softmax(scale Q Kᵀ) V for Q, O [batch, heads, seq_q, head_dim] and K, V [batch,
        heads, seq_kv, head_dim]. scale multiplies, is finite and above 0; causal masks the keys
        after the query's own position. seq_kv = 0 gives zeros."""

    @abstractmethod
    def reduce(
        self,
        op: ReduceOp | str,
        input_ptr: int,
        output_ptr: int,
        shape: Sequence[int],
        axis: int,
    ) -> None:
        """Reduces one axis (negative: from the end) of a contiguous array; the output has the
        other axes. An empty axis gives 0 for sum, NaN for mean, and is refused for max and min."""

    @abstractmethod
    def unary(self, op: UnaryOp | str, input_ptr: int, output_ptr: int, n: int) -> None:
        """output[i] = op(input[i]) for i < n. Both may be the same buffer."""

    @abstractmethod
    def binary(self, op: BinaryOp | str, a_ptr: int, b_ptr: int, output_ptr: int, n: int) -> None:
        """output[i] = op(a[i], b[i]) for i < n. Any of them may be the same buffer."""
