"""The operations of a compute backend: products, networks, reductions, elements."""

from __future__ import annotations

from collections.abc import Sequence

from browsergpu.compat.wasm_backend.buffers import DeviceBuffers
from browsergpu.engine.core import checks
from browsergpu.engine.core.dtypes import DType
from browsergpu.engine.core.enums import BinaryOp, Order, ReduceOp, Transpose, UnaryOp
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.engine.core.remembered import hashable
from browsergpu.engine.kernels.convolution import conv2d
from browsergpu.engine.kernels.matmul import gemm, gemm_f16
from browsergpu.engine.kernels.matmul.gemm import GemmPlan
from browsergpu.engine.kernels.networks import attention
from browsergpu.engine.tensors import pointwise, reductions

_F16 = 2
_UNARY = {op.value: op.value for op in UnaryOp}
_BINARY = {op.value: op.value for op in BinaryOp}


class Operations(DeviceBuffers):
    """Operations on buffers, which check their arguments and record kernels."""

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
            in_part = pointwise.is_part(y, DType.F32, n)
            device.launch("unary", pointwise.unary_floats, (x, y), name, n, in_part)

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
            in_part = pointwise.is_part(y, DType.F32, n)
            device.launch("binary", pointwise.binary_floats, (a, b, y), name, n, in_part)
