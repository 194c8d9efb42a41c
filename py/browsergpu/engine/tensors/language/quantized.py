"""Quantized matrices: dequantization, rows by index, and products.

The View of a quantized matrix has the words of its blocks. Its rows, columns and format are
arguments.
"""

from __future__ import annotations

from browsergpu.engine.device.device import Device
from browsergpu.engine.kernels.base.build import Build
from browsergpu.engine.kernels.matmul.gemm import gemm, plan_gemm
from browsergpu.engine.kernels.networks.rms_norm import rms_norm
from browsergpu.engine.kernels.quantized import matrices, products, rows
from browsergpu.engine.tensors.staging import Operand, Staging, launch, of_operands
from browsergpu.engine.tensors.view import View

#: From this number of vectors on, a matrix of up to so many bytes is first dequantized as a whole.
_MANY, _LARGEST = 64, 2**27


def dequantize(device: Device, op: str, weight: View, y: View, name: str) -> None:
    """Compute the nonempty matrix y, float32 or float16, from a weight in the format ``name``."""
    launch(device, op, _dequantize, (weight, y), name)


@of_operands
def _dequantize(build: Build, weight: Operand, y: Operand, name: str) -> None:
    staging = Staging(build)
    count, columns = y.shape
    rows.dequantize(build, weight.slot, staging.write(y, weight), count, columns, name)
    staging.deliver()


def look_up(
    device: Device, op: str, weight: View, indices: View, y: View, entries: int, name: str
) -> None:
    """Compute y[..., :] = weight[indices[...]] for int32 indices and a nonempty float32 y.

    The weight has ``entries`` rows.
    """
    launch(device, op, _look_up, (weight, indices, y), entries, name)


@of_operands
def _look_up(
    build: Build, weight: Operand, indices: Operand, y: Operand, entries: int, name: str
) -> None:
    count, columns = indices.size, y.shape[-1]
    rows.look_up(build, weight.slot, indices.slot, y.slot, count, entries, columns, name)


def multiply(
    device: Device, op: str, weight: View, x: View, y: View, name: str,
    residual: View | None = None, bias: View | None = None, norm: View | None = None,
    eps: float = 0.0, gate: str | None = None,
) -> None:  # fmt: skip
    """Compute y = x weightᵀ + residual or bias for floats x [V, K], residual and y [V, N].

    A bias is [N]. At most one of them is given. No extent is 0. ``norm`` [K], ``eps`` and ``gate``
    are those of ``products.multiply``. With a gate, V is 1 and y is [1, N / 2].
    """
    launch(device, op, _multiply, (weight, x, y, residual, bias, norm), name, eps, gate)


@of_operands
def _multiply(
    build: Build, weight: Operand, x: Operand, y: Operand, residual: Operand | None,
    bias: Operand | None, norm: Operand | None, name: str, eps: float, gate: str | None,
) -> None:  # fmt: skip
    staging = Staging(build)
    added = None if residual is None else staging.read(residual)
    shift = None if bias is None else staging.read(bias)
    (vectors, columns), matrix_rows = x.shape, y.shape[1] * (1 if gate is None else 2)
    values, target = staging.read(x), staging.write(y, x, residual, bias)
    nbytes = 4 * matrix_rows * columns
    is_few = vectors <= products.FEW or build.facts.variants.is_first_result
    own = weight.slot, values, target, vectors, matrix_rows, columns, name, added, shift
    factors = None if norm is None else staging.read(norm)
    if products.takes_vector(vectors):
        products.multiply(build, *own, factors, eps, gate)
        staging.deliver()
        return
    if not is_few and matrices.takes(build.facts, vectors, matrix_rows, columns):
        matrices.multiply(build, *own, factors, eps)
        staging.deliver()
        return
    given = values
    if factors is not None:
        values = build.temporary(4 * vectors * columns)
        rms_norm(build, given, factors, values, vectors, columns, eps)
        own = weight.slot, values, target, vectors, matrix_rows, columns, name, added, shift
    if is_few or vectors < _MANY or nbytes > _LARGEST:
        products.multiply(build, *own)
    else:
        floats = build.temporary(nbytes)
        rows.dequantize(build, weight.slot, floats, matrix_rows, columns, name)
        plan = plan_gemm(
            "linear", "no_trans", "trans", vectors, matrix_rows, columns, 1.0, columns, 0, columns,
            0, 0.0, matrix_rows, 0, 1, "C",
        )  # fmt: skip
        gemm(build, values, floats, target, plan, shift, residual=added)
        build.release(floats)
    build.release(*{values} - {given})
    staging.deliver()
