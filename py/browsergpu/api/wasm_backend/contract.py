"""The contract of a compute backend: BLAS-style calls on raw device pointers.

A backend owns device memory, addressed by integer pointers, and computes on it. It is *not*
responsible for tensor shapes, broadcasting, other dtypes than those named here, or automatic
differentiation. Layers above it provide these.

Conventions for every backend:

- Elements are float32 unless the method says otherwise. Sizes, leading dimensions and strides count
  elements; ``alloc`` counts bytes. A pointer is the start of a buffer, and pointer arithmetic is
  not supported.
- Numbers follow IEEE 754, including NaN and infinities. A GPU may flush subnormal numbers (nearer
  to 0 than 2^-126, in float16 2^-14) to zero, in operands and results. ``copy_htod`` and
  ``copy_dtoh`` preserve all bits.
- Calls are recorded and run in order. Only ``init``, ``copy_dtoh`` and ``synchronize`` wait. Each
  has an ``_async`` version for callers that cannot block.
- Arguments are checked before anything reaches the device. Every method raises NotInitialized
  before ``init`` or after ``close``, InvalidArgument for a wrong value (an unknown, freed or
  foreign pointer, a buffer that is too small, …) and DeviceLost once the device is gone. The next
  call that waits raises errors that the device itself reports.
- A size of 0 is allowed wherever an empty result makes sense. Nothing is computed then.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from browsergpu.core.enums import BinaryOp, Order, ReduceOp, Transpose, UnaryOp
from browsergpu.core.showing import Shown


class ComputeBackend(Shown, ABC):
    """Interface of compute backends. The module's docstring has the conventions."""

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
        """Open the device. Do nothing if it is open. Raise NoAdapter if there is none."""

    @abstractmethod
    async def init_async(self) -> None:
        """Open the device, as :meth:`init` does, without blocking."""

    @abstractmethod
    def alloc(self, bytes: int) -> int:
        """Allocate a buffer with undefined contents and return its pointer.

        Raises OutOfMemory if no buffer can be that large.
        """

    @abstractmethod
    def free(self, ptr: int) -> None:
        """Free a buffer. Operations recorded with it still run."""

    @abstractmethod
    def copy_htod(self, dst: int, src: Any) -> None:
        """Copy a bytes-like object or NumPy array to the start of a buffer.

        Elements are copied in C order. Further bytes of the buffer stay the same. A big-endian
        array is converted to the GPU's little-endian order. float64 is refused; cast it with
        ``.astype(np.float32)``.
        """

    @abstractmethod
    def copy_dtoh(self, dst: Any, src: int) -> None:
        """Fill a writable C-contiguous bytes-like object or NumPy array from the start of a buffer.

        A big-endian array gets the values in its own byte order. Waits for earlier operations.
        """

    @abstractmethod
    async def copy_dtoh_async(self, dst: Any, src: int) -> None:
        """Read a buffer, as :meth:`copy_dtoh` does, without blocking."""

    @abstractmethod
    def synchronize(self) -> None:
        """Wait for all recorded operations, and raise errors that the device reported."""

    @abstractmethod
    async def synchronize_async(self) -> None:
        """Wait for all recorded operations, as :meth:`synchronize` does, without blocking."""

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
        """Compute C = alpha op(A) op(B) + beta C. op(A) is m × k, op(B) is k × n and C is m × n.

        A leading dimension is the distance between stored rows (order "C") or columns (order "F"),
        at least their length. beta = 0 never reads C, and alpha = 0 never reads A and B. C must not
        be A or B. After BLAS's sgemm (https://netlib.org/blas).
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
        """Compute :meth:`gemm` for batch_count matrices, which are ``stride`` elements apart.

        stride_a and stride_b may be 0 (one matrix for all). The matrices of C must not overlap.
        """

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
        """Compute C = alpha A B + beta C for contiguous row-major float16 matrices.

        Sums are float32.
        """

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
        """Compute the cross-correlation of [N, C, H, W] with [F, C, R, S], [N, F, P, Q].

        The input is padded with zeros. P = floor((H + 2 padding - R) / stride) + 1, Q likewise.
        stride and padding are integers or (vertical, horizontal).
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
        """Compute O = softmax(scale Q Kᵀ) V.

        Q and O are [batch, heads, seq_q, head_dim], K and V [batch, heads, seq_kv, head_dim]. scale
        is a finite factor above 0. causal masks the keys after the query's own position. seq_kv = 0
        gives zeros.
        """

    @abstractmethod
    def reduce(
        self,
        op: ReduceOp | str,
        input_ptr: int,
        output_ptr: int,
        shape: Sequence[int],
        axis: int,
    ) -> None:
        """Reduce one axis of a contiguous array. The output has the other axes.

        Negative axes count from the end. An empty axis gives 0 for sum and NaN for mean, and is
        refused for max and min.
        """

    @abstractmethod
    def unary(self, op: UnaryOp | str, input_ptr: int, output_ptr: int, n: int) -> None:
        """Compute output[i] = op(input[i]) for i < n. Both may be the same buffer."""

    @abstractmethod
    def binary(self, op: BinaryOp | str, a_ptr: int, b_ptr: int, output_ptr: int, n: int) -> None:
        """Compute output[i] = op(a[i], b[i]) for i < n. Any of them may be the same buffer."""
