"""The steps that each operation records on several kinds of devices, checked on a fake GPU.

Tests on a GPU (tests/browser/inside) check the results. These tests cover every choice of kernel.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from fake_gpu import ABILITIES, MATRICES, FakeGpu, fake_device, programs

from browsergpu import DeviceArray, KernelExecutor
from browsergpu.arrays.indexing import scatter_add
from browsergpu.engine.core.enums import Precision
from browsergpu.engine.device.device import MOST_PROGRAMS
from browsergpu.engine.kernels.base.workgroup_sizes import WorkgroupSizes
from browsergpu.engine.kernels.linalg.matrices import Matrices
from browsergpu.engine.tensors import factorisations, fourier, matmul, ordering, random, scans

pytestmark = pytest.mark.fast

E = KernelExecutor


def _new(e: E, *shape: int, dtype: str = "f32") -> DeviceArray:
    return e.empty(shape, dtype)


def _sort(e: E, function: Callable[..., None], axis: int, *shape: int, dtype: str = "f32") -> None:
    result = "i32" if function is ordering.argsort else dtype
    x, y = _new(e, *shape, dtype=dtype), _new(e, *shape, dtype=result)
    function(e.device, "sort", x, y, axis)


def _arg_max(e: E, axis: int | None, *shape: int) -> None:
    kept = () if axis is None else (shape[1 - axis],)
    ordering.arg_reduce(
        e.device, "argmax", "max", _new(e, *shape), _new(e, *kept, dtype="i32"), axis
    )


def _scan(e: E, function: str, axis: int, *shape: int, dtype: str = "f32") -> None:
    x, y = (_new(e, *shape, dtype=dtype) for _ in range(2))
    scans.scan(e.device, "scan", function, x, y, axis)


def _matmul_high(e: E, a: tuple[int, ...], b: tuple[int, ...]) -> None:
    left, right = _new(e, *a), _new(e, *b)
    plan = matmul.plan_matmul("matmul", left, right, False, False)
    result = _new(e, *plan.shape)
    matmul.multiply(e.device, "matmul", plan, left, right, result, precision=Precision.HIGH)


def _rows_added(e: E, n: int, width: int) -> None:
    places, values = _new(e, n, dtype="u32"), _new(e, n, width)
    scatter_add.add_rows(e.device, "add", places, values, _new(e, 9, width))


def _true_places(e: E, n: int, dtype: str) -> None:
    places, count = _new(e, n, dtype="i32"), _new(e, 1, dtype="i32")
    scans.true_places(e.device, "nonzero", _new(e, n, dtype=dtype), places, count)


def _fft(e: E, rows: int, n: int) -> None:
    fourier.transform(e.device, "fft", _new(e, rows, n, 2), _new(e, rows, n, 2), False, 1.0)


def _solve(e: E, count: int, n: int, width: int | None) -> None:
    columns = n if width is None else width
    a, x = _new(e, count, n, n), _new(e, count, n, columns)
    b = None if width is None else _new(e, count, n, width)
    of = Matrices(count, n, n, False)
    factorisations.solve(e.device, "solve", a, b, x, of, columns, argument="a")


def _qr(e: E, rows: int, columns: int, width: int) -> None:
    a, q, r = _new(e, rows, columns), _new(e, rows, width), _new(e, width, columns)
    of = Matrices(1, rows, columns, False)
    factorisations.qr(e.device, "qr", a, q, r, of, width)


def _singular_values(e: E, count: int, rows: int, columns: int) -> None:
    a, s = _new(e, count, rows, columns, 2), _new(e, count, min(rows, columns))
    of = Matrices(count, rows, columns, True)
    factorisations.singular_values(e.device, "svdvals", a, s, of)


def _eigenvalues(e: E, count: int, n: int) -> None:
    a, values = _new(e, count, n, n), _new(e, count, n)
    of = Matrices(count, n, n, False)
    factorisations.eigh(e.device, "eigvalsh", a, values, None, of)


#: Calls, and the steps that each records on a device without optional features.
CASES: dict[str, tuple[Callable[[E], Any], list[str]]] = {
    "relu": (lambda e: e.relu(_new(e, 1000)), ["fused: relu 1×1×1"]),
    "relu in place": (
        lambda e: (lambda x: e.relu(x, out=x))(_new(e, 1000)),
        ["fused: relu assign 1×1×1"],
    ),
    "relu f16": (lambda e: e.relu(_new(e, 1000, dtype="f16")), ["fused: astype relu astype 1×1×1"]),
    "relu f16 in place": (
        lambda e: (lambda x: e.relu(x, out=x))(_new(e, 1000, dtype="f16")),
        ["fused: astype relu astype assign 1×1×1"],
    ),
    "add": (lambda e: e.add(_new(e, 10), _new(e, 10)), ["fused: add 1×1×1"]),
    "add in place a": (
        lambda e: (lambda x, y: e.add(x, y, out=x))(_new(e, 10), _new(e, 10)),
        ["fused: add assign 1×1×1"],
    ),
    "add in place b": (
        lambda e: (lambda x, y: e.add(x, y, out=y))(_new(e, 10), _new(e, 10)),
        ["fused: add assign 1×1×1"],
    ),
    "add in place both": (
        lambda e: (lambda x: e.add(x, x, out=x))(_new(e, 10)),
        ["fused: add assign 1×1×1"],
    ),
    "add row": (lambda e: e.add(_new(e, 10, 8), _new(e, 8)), ["fused: add 1×1×1"]),
    "add odd row": (lambda e: e.add(_new(e, 10, 7), _new(e, 7)), ["fused: add 1×1×1"]),
    "add row in place": (
        lambda e: (lambda x: e.add(x, _new(e, 8), out=x))(_new(e, 10, 8)),
        ["fused: add assign 1×1×1"],
    ),
    "add alternating": (
        lambda e: e.add(_new(e, 2, 1, 2, 1, 2, 1, 2), _new(e, 1, 2, 1, 2, 1, 2, 1)),
        ["fused: add 1×1×1"],
    ),
    "add transposed": (
        lambda e: e.add(_new(e, 16, 15).as_strided((15, 16), (1, 15)), _new(e, 15, 16)),
        ["fused: add 1×1×1"],
    ),
    "add slice": (
        lambda e: e.add(_new(e, 20).as_strided((6,), (2,), 3), _new(e, 6)),
        ["fused: add 1×1×1"],
    ),
    "relu transposed": (
        lambda e: e.relu(_new(e, 16, 15).as_strided((15, 16), (1, 15))),
        ["fused: relu 1×1×1"],
    ),
    "relu aligned slice": (
        lambda e: e.relu(_new(e, 20).as_strided((8,), (1,), 4)),
        ["fused: relu 1×1×1"],
    ),
    "relu f16 transposed": (
        lambda e: e.relu(_new(e, 16, 15, dtype="f16").as_strided((15, 16), (1, 15))),
        ["fused: astype relu astype 1×1×1"],
    ),
    "copy back to front, in place": (
        lambda e: (lambda x: e.copy(x.as_strided((9,), (-1,), 8), out=x))(_new(e, 9)),
        ["strided.3 1×1×1", "copy"],
    ),
    "matmul transposed view": (
        lambda e: e.matmul(_new(e, 8, 8).as_strided((8, 8), (1, 8)), _new(e, 8, 8)),
        ["gemm.32 1×1×1"],
    ),
    "add f16": (
        lambda e: e.add(_new(e, 10, dtype="f16"), _new(e, 10, dtype="f16")),
        ["fused: astype astype add astype 1×1×1"],
    ),
    "add f16 in place": (
        lambda e: (lambda x: e.add(x, _new(e, 10, dtype="f16"), out=x))(_new(e, 10, dtype="f16")),
        ["fused: astype astype add astype assign 1×1×1"],
    ),
    "add f16 alternating": (
        lambda e: e.add(_new(e, 2, 1, 2, 1, 2, 1, 2, dtype="f16"), _new(e, 1, 2, 1, 2, 1, 2, 1)),
        ["fused: astype add 1×1×1"],
    ),
    "add ints": (
        lambda e: e.add(_new(e, 10, dtype="i32"), _new(e, 10, dtype="i32")),
        ["fused: add 1×1×1"],
    ),
    "add ints row": (
        lambda e: e.add(_new(e, 10, 8, dtype="i32"), _new(e, 8, dtype="i32")),
        ["fused: add 1×1×1"],
    ),
    "add bytes": (
        lambda e: e.add(_new(e, 10, dtype="u8"), _new(e, 10, dtype="u8")),
        ["fused: add 1×1×1"],
    ),
    "add number": (lambda e: e.add(_new(e, 10), 1.0), ["fused: add 1×1×1"]),
    "sub from number in place": (
        lambda e: (lambda x: e.sub(1.0, x, out=x))(_new(e, 10)),
        ["fused: subtract assign 1×1×1"],
    ),
    "mul bytes number": (
        lambda e: e.mul(_new(e, 10, dtype="u8"), 3),
        ["fused: multiply 1×1×1"],
    ),
    "cast": (lambda e: e.cast(_new(e, 10), "f16"), ["cast.f32_f16 1×1×1"]),
    "copy": (lambda e: e.copy(_new(e, 10)), ["copy"]),
    "fill": (lambda e: e.fill(_new(e, 10), 2.0), ["fill 1×1×1"]),
    "transpose": (lambda e: e.transpose(_new(e, 100, 70)), ["transpose 6×1×1"]),
    "transpose batch": (lambda e: e.transpose(_new(e, 5, 100, 70), (0, 2, 1)), ["transpose 6×1×5"]),
    "permute": (lambda e: e.transpose(_new(e, 3, 5, 7, 9), (2, 0, 3, 1)), ["strided.5 4×1×1"]),
    "permute vectors": (
        lambda e: e.transpose(_new(e, 3, 5, 7, 8), (1, 0, 2, 3)),
        ["strided_vectors.3 1×1×1"],
    ),
    "permute nothing": (lambda e: e.transpose(_new(e, 1, 5), (1, 0)), ["copy"]),
    "transpose f16 in place": (
        lambda e: (lambda x: e.transpose(x, out=x))(_new(e, 8, 8, dtype="f16")),
        ["cast.f16_f32 1×1×1", "transpose 1×1×1", "cast.f32_f16 1×1×1"],
    ),
    "matmul small": (lambda e: e.matmul(_new(e, 64, 64), _new(e, 64, 64)), ["gemm.32 4×1×1"]),
    "matmul medium": (
        lambda e: e.matmul(_new(e, 1024, 1024), _new(e, 1024, 1024)),
        ["gemm.64 256×1×1"],
    ),
    "matmul many tiles": (
        lambda e: e.matmul(_new(e, 2048, 768), _new(e, 768, 3072)),
        ["gemm_quads.128x64 768×1×1"],
    ),
    "matmul short": (
        lambda e: e.matmul(_new(e, 2048, 768), _new(e, 768, 768)),
        ["gemm.64 384×1×1"],
    ),
    "matmul long": (
        lambda e: e.matmul(_new(e, 2048, 3072), _new(e, 3072, 768)),
        ["gemm_quads.128x64 192×1×2", "gemm_sum.1 6144×1×1"],
    ),
    "matmul few rows per tile": (
        lambda e: e.matmul(_new(e, 160, 768), _new(e, 768, 8192)),
        ["gemm.64 384×1×1"],
    ),
    "matmul large": (
        lambda e: e.matmul(_new(e, 2048, 2048), _new(e, 2048, 2048)),
        ["gemm_quads.128 256×1×1"],
    ),
    "matmul split": (
        lambda e: e.matmul(_new(e, 64, 8192), _new(e, 8192, 64)),
        ["gemm.32 4×1×32", "gemm_sum.8 128×1×1"],
    ),
    "matmul vector": (
        lambda e: e.matmul(_new(e, 2048, 2048), _new(e, 2048)),
        ["gemm_thin.along 512×1×1"],
    ),
    "vector matmul": (
        lambda e: e.matmul(_new(e, 2048), _new(e, 2048, 2048)),
        ["gemm_thin.quads_wide 64×1×1"],
    ),
    "vector matmul odd": (
        lambda e: e.matmul(_new(e, 2048), _new(e, 2048, 2047)),
        ["gemm_thin.across 64×2×1", "gemm_sum.1 8×1×1"],
    ),
    "few rows": (
        lambda e: e.matmul(_new(e, 4, 2048), _new(e, 2048, 2048)),
        ["gemm_thin.quads_wide_few 64×1×1"],
    ),
    "tiny batch": (
        lambda e: e.matmul(_new(e, 1000, 4, 4), _new(e, 1000, 4, 4)),
        ["gemm_tiny 125×1×1"],
    ),
    "batch": (lambda e: e.matmul(_new(e, 64, 128, 128), _new(e, 64, 128, 128)), ["gemm.64 4×1×64"]),
    "one matrix for all": (
        lambda e: e.matmul(_new(e, 8, 64, 64), _new(e, 64, 64)),
        ["gemm.32 32×1×1"],
    ),
    "spread": (
        lambda e: e.matmul(_new(e, 2, 1, 8, 8), _new(e, 1, 3, 8, 8)),
        ["strided_vectors.3 1×1×1", "strided_vectors.3 1×1×1", "gemm_tiny 3×1×1"],
    ),
    "matmul out is a": (
        lambda e: (lambda x: e.matmul(x, _new(e, 64, 64), out=x))(_new(e, 64, 64)),
        ["gemm.32 4×1×1", "copy"],
    ),
    "matmul high": (
        lambda e: _matmul_high(e, (1536, 1020), (1020, 1400)),
        ["gemm.64 528×1×1"],
    ),
    "matmul high batch": (
        lambda e: _matmul_high(e, (2, 1296, 1296), (2, 1296, 1296)),
        ["gemm_quads.64 441×1×2"],
    ),
    "matmul high small": (
        lambda e: _matmul_high(e, (64, 64), (64, 64)),
        ["gemm.32 4×1×1"],
    ),
    "matmul f16": (
        lambda e: e.matmul(_new(e, 64, 64, dtype="f16"), _new(e, 64, 64, dtype="f16")),
        ["gemm_f16 4×1×1"],
    ),
    "matmul f16 large": (
        lambda e: e.matmul(_new(e, 1024, 1024, dtype="f16"), _new(e, 1024, 1024, dtype="f16")),
        ["gemm_f16_tile 64×1×1"],
    ),
    "matmul f16 row": (
        lambda e: e.matmul(_new(e, 1, 256, dtype="f16"), _new(e, 256, 256, dtype="f16")),
        ["gemm_f16_rows.1 8×1×1"],
    ),
    "matmul f16 odd": (
        lambda e: e.matmul(_new(e, 301, 301, dtype="f16"), _new(e, 301, 301, dtype="f16")),
        ["gemm_f16 100×1×1"],
    ),
    "matmul f32 by f16": (
        lambda e: e.matmul(_new(e, 64, 64), _new(e, 64, 64, dtype="f16")),
        ["gemm.32 b 4×1×1"],
    ),
    "matmul f16 by f32": (
        lambda e: e.matmul(_new(e, 64, 64, dtype="f16"), _new(e, 64, 64)),
        ["cast.f16_f32 4×1×1", "gemm.32 4×1×1"],
    ),
    "linear": (
        lambda e: e.linear(
            _new(e, 64, 64),
            _new(e, 64, 64),
            _new(e, 64),
            activation="gelu",
            residual=_new(e, 64, 64),
        ),
        ["gemm.32_gelu 4×1×1"],
    ),
    "linear of a transposed matrix": (
        lambda e: e.linear(_new(e, 8, 4), _new(e, 16, 4).as_strided((4, 16), (1, 4))),
        ["gemm.32 1×1×1"],
    ),
    "linear split": (
        lambda e: e.linear(_new(e, 64, 8192), _new(e, 8192, 64), _new(e, 64), activation="gelu"),
        ["gemm.32 4×1×32", "gemm_sum.8 128×1×1"],
    ),
    "linear f16": (
        lambda e: e.linear(
            _new(e, 64, 64, dtype="f16"),
            _new(e, 64, 64, dtype="f16"),
            _new(e, 64, dtype="f16"),
            residual=_new(e, 64, 64, dtype="f16"),
        ),
        ["copy", "gemm_f16.bias 4×1×1"],
    ),
    "sum rows": (lambda e: e.sum(_new(e, 100, 300), 1), ["fused: add 13×1×1"]),
    "sum columns": (lambda e: e.sum(_new(e, 100, 300), 0), ["fused: add 10×1×1"]),
    "sum odd columns": (lambda e: e.sum(_new(e, 100, 301), 0), ["fused: add 19×1×1"]),
    "sum all": (
        lambda e: e.sum(_new(e, 1000, 1000)),
        ["fused: add 245×1×1", "fused: add 1×1×1"],
    ),
    "sum two axes apart": (
        lambda e: e.sum(_new(e, 10, 20, 30), (0, 2)),
        ["fused: add 2×1×1", "fused: add 1×1×1"],
    ),
    "sum of nothing": (lambda e: e.sum(_new(e, 0, 3), 0), ["fill 1×1×1"]),
    "max of one": (lambda e: e.max(_new(e, 5, 1), 1), ["copy"]),
    "mean f16": (
        lambda e: e.mean(_new(e, 100, 300, dtype="f16"), 1),
        ["fused: add 13×1×1", "cast.f32_f16 1×1×1"],
    ),
    "sum ints": (
        lambda e: e.sum(_new(e, 100000, dtype="i32")),
        ["fused: add 25×1×1", "fused: add 1×1×1"],
    ),
    "sum bool": (lambda e: e.sum(_new(e, 100, dtype="bool")), ["fused: add 1×1×1"]),
    "sum bytes": (
        lambda e: e.sum(_new(e, 100, dtype="u8")),
        ["fused: add 1×1×1"],
    ),
    "variance rows": (lambda e: e.variance(_new(e, 10, 300), 1), ["moments_rows.variance 2×1×1"]),
    "variance long": (
        lambda e: e.variance(_new(e, 4, 100000), 1),
        ["moments_rows 100×1×1", "moments_merge.variance 4×1×1"],
    ),
    "variance columns": (
        lambda e: e.variance(_new(e, 300, 64), 0),
        ["moments_columns.variance_aligned 4×1×1"],
    ),
    "variance two axes": (
        lambda e: e.variance(_new(e, 4, 3, 900), (0, 2)),
        ["moments_rows 3×1×1", "moments_merge.variance 1×1×1"],
    ),
    "softmax rows": (lambda e: e.softmax(_new(e, 100, 300)), ["softmax_rows_aligned.8 7×1×1"]),
    "softmax odd rows": (lambda e: e.softmax(_new(e, 100, 301)), ["softmax_rows.4 13×1×1"]),
    "softmax columns": (lambda e: e.softmax(_new(e, 100, 300), 0), ["softmax_columns 19×1×1"]),
    "softmax long": (
        lambda e: e.softmax(_new(e, 2, 100000)),
        ["softmax_parts 26×1×1", "softmax_apply 26×1×1"],
    ),
    "softmax f16 in place": (
        lambda e: (lambda x: e.softmax(x, out=x))(_new(e, 100, 300, dtype="f16")),
        ["cast.f16_f32 30×1×1", "softmax_rows_aligned.8 7×1×1", "cast.f32_f16 30×1×1"],
    ),
    "layer_norm": (
        lambda e: e.layer_norm(_new(e, 100, 300)),
        ["fill 1×1×1", "fill 1×1×1", "layer_norm_aligned.4 13×1×1"],
    ),
    "layer_norm factors": (
        lambda e: e.layer_norm(_new(e, 100, 301), _new(e, 301), _new(e, 301)),
        ["layer_norm.4 13×1×1"],
    ),
    "layer_norm long": (
        lambda e: e.layer_norm(_new(e, 2, 100000), _new(e, 100000), _new(e, 100000)),
        ["moments_rows 50×1×1", "layer_norm_long 50×1×1"],
    ),
    "add_layer_norm": (
        lambda e: e.add_layer_norm(
            _new(e, 100, 300), _new(e, 100, 300), _new(e, 300), _new(e, 300)
        ),
        ["layer_norm_aligned.4 13×1×1"],
    ),
    "add_layer_norm summed": (
        lambda e: e.add_layer_norm(
            _new(e, 100, 300),
            _new(e, 100, 300),
            _new(e, 300),
            _new(e, 300),
            summed=_new(e, 100, 300),
        ),
        ["layer_norm_sum_aligned.4 13×1×1"],
    ),
    "add_layer_norm long": (
        lambda e: e.add_layer_norm(
            _new(e, 2, 100000), _new(e, 2, 100000), _new(e, 100000), _new(e, 100000)
        ),
        ["fused: add 196×1×1", "moments_rows 50×1×1", "layer_norm_long 50×1×1"],
    ),
    "batch_norm": (
        lambda e: e.batch_norm(_new(e, 2, 3, 4, 4), _new(e, 3), _new(e, 3), _new(e, 3), _new(e, 3)),
        ["batch_norm 1×1×1"],
    ),
    "batch_norm training": (
        lambda e: e.batch_norm_training(_new(e, 2, 3, 4, 4)),
        [
            "moments_rows 1×1×1",
            "moments_statistics 1×1×1",
            "fill 1×1×1",
            "fill 1×1×1",
            "batch_norm 1×1×1",
        ],
    ),
    "conv 3x3": (
        lambda e: e.conv2d(_new(e, 1, 64, 56, 56), _new(e, 64, 64, 3, 3), padding=1),
        ["conv2d_window.16 28×14×1"],
    ),
    "conv 3x3 large": (
        lambda e: e.conv2d(_new(e, 2, 64, 63, 60), _new(e, 64, 64, 3, 3), padding=1),
        ["conv2d_window_large.64_narrow 9×8×2"],
    ),
    "conv 3x3 large, wide": (
        lambda e: e.conv2d(_new(e, 1, 64, 80, 80), _new(e, 64, 64, 3, 3), padding=1),
        ["conv2d_window_large.64 10×10×1"],
    ),
    "conv 3x3 for few filters": (
        lambda e: e.conv2d(_new(e, 2, 16, 56, 56), _new(e, 70, 16, 3, 3), padding=1),
        ["conv2d_window.16 35×14×2"],
    ),
    "conv 1x1": (
        lambda e: e.conv2d(_new(e, 1, 64, 56, 56), _new(e, 256, 64, 1, 1)),
        ["conv2d.64x64_pointwise 196×1×1"],
    ),
    "conv stream": (
        lambda e: e.conv2d(_new(e, 1, 1024, 14, 14), _new(e, 256, 1024, 1, 1)),
        ["conv2d_stream.vector 208×1×1"],
    ),
    "conv split": (
        lambda e: e.conv2d(_new(e, 1, 512, 14, 14), _new(e, 512, 512, 3, 3), stride=2, padding=1),
        ["conv2d.64x32 16×1×8", "conv2d_sum 196×1×1"],
    ),
    "conv depthwise": (
        lambda e: e.conv2d(
            _new(e, 1, 384, 56, 56), _new(e, 384, 1, 3, 3), _new(e, 384), padding=1, groups=384
        ),
        ["conv2d_depthwise.bias 4704×1×1"],
    ),
    "conv f16": (
        lambda e: e.conv2d(_new(e, 1, 4, 8, 8, dtype="f16"), _new(e, 4, 4, 3, 3, dtype="f16")),
        ["cast.f16_f32 1×1×1", "cast.f16_f32 1×1×1", "conv2d_window.8 1×2×1", "cast.f32_f16 1×1×1"],
    ),
    "pool": (lambda e: e.max_pool2d(_new(e, 1, 3, 8, 8), 2), ["pool.max 1×1×1"]),
    "pool indices": (
        lambda e: e.max_pool2d_with_indices(_new(e, 1, 3, 8, 8), 2),
        ["pool_indices 1×1×1"],
    ),
    "pool mean": (
        lambda e: e.avg_pool2d(_new(e, 1, 3, 8, 8), 2, count_include_pad=False),
        ["pool.mean 1×1×1"],
    ),
    "sort rows": (lambda e: _sort(e, ordering.sort, 1, 5, 300), ["sort_small.f32 3×1×1"]),
    "sort columns": (
        lambda e: _sort(e, ordering.sort, 0, 300, 5),
        ["transpose 5×1×1", "sort_small.f32 3×1×1", "transpose 10×1×1"],
    ),
    "sort ints": (
        lambda e: _sort(e, ordering.sort, 0, 5000, dtype="i32"),
        ["sort_count.i32 3×1×1", "scan_rows.whole_sum 1×1×1", "sort.i32 3×1×1"] * 4,
    ),
    "sort f16": (
        lambda e: _sort(e, ordering.sort, 0, 5000, dtype="f16"),
        [
            "cast.f16_f32 5×1×1",
            *["sort_count.f32 3×1×1", "scan_rows.whole_sum 1×1×1", "sort.f32 3×1×1"] * 3,
            "cast.f32_f16 5×1×1",
        ],
    ),
    "argsort": (
        lambda e: _sort(e, ordering.argsort, 0, 5000),
        ["sort_count.f32 3×1×1", "scan_rows.whole_sum 1×1×1", "sort_pairs.f32 3×1×1"] * 4,
    ),
    "argsort bytes": (
        lambda e: _sort(e, ordering.argsort, 0, 5000, dtype="u8"),
        [
            "cast.u8_u32 5×1×1",
            "sort_count.u32 3×1×1",
            "scan_rows.whole_sum 1×1×1",
            "sort_pairs.u32 3×1×1",
        ],
    ),
    "argmax rows": (lambda e: _arg_max(e, 1, 100, 300), ["arg_rows.f32 13×1×1"]),
    "argmax all": (
        lambda e: _arg_max(e, None, 1000, 1000),
        ["arg_rows.f32 245×1×1", "arg_merge.f32 1×1×1"],
    ),
    "argmax columns": (lambda e: _arg_max(e, 0, 100, 300), ["arg_columns.f32 19×1×1"]),
    "searchsorted": (
        lambda e: ordering.searchsorted(
            e.device, "searchsorted", _new(e, 50), _new(e, 600), _new(e, 600, dtype="i32")
        ),
        ["search.f32 3×1×1"],
    ),
    "searchsorted in nothing": (
        lambda e: ordering.searchsorted(
            e.device, "searchsorted", _new(e, 0), _new(e, 600), _new(e, 600, dtype="i32")
        ),
        ["search.f32 3×1×1"],
    ),
    "rows added at places": (
        lambda e: _rows_added(e, 60, 8),
        ["segment_sum 2×1×1"],
    ),
    "many rows added at places": (
        lambda e: _rows_added(e, 5000, 1),
        ["segment_sum 20×1×1"] * 3,
    ),
    "cumsum": (lambda e: _scan(e, "sum", 0, 2000), ["scan_rows.sum 1×1×1"]),
    "cumsum short rows": (lambda e: _scan(e, "sum", 1, 1000, 30), ["scan_rows.sum 16×1×1"]),
    "cumsum long": (
        lambda e: _scan(e, "sum", 0, 5_000_000),
        [
            "scan_row_totals.sum 2442×1×1",
            "scan_row_totals.sum 2×1×1",
            "scan_rows.sum 1×1×1",
            "scan_rows.sum 2×1×1",
            "scan_rows.sum 2442×1×1",
        ],
    ),
    "cumsum columns": (
        lambda e: _scan(e, "sum", 0, 500, 300),
        ["scan_column_totals.sum 19×1×1", "scan_columns.sum 2×1×1", "scan_columns.sum 19×1×1"],
    ),
    "cumprod ints": (
        lambda e: _scan(e, "prod", 0, 500, dtype="i32"),
        ["scan_rows.whole_prod 1×1×1"],
    ),
    "running minimum of bytes": (
        lambda e: _scan(e, "min", 0, 500, dtype="u8"),
        ["cast.u8_u32 1×1×1", "scan_rows.u32_min 1×1×1", "cast.u32_u8 1×1×1"],
    ),
    "nonzero": (
        lambda e: _true_places(e, 5000, "bool"),
        ["compact_counts 3×1×1", "scan_rows.whole_sum 1×1×1", "compact 3×1×1"],
    ),
    "nonzero floats": (
        lambda e: _true_places(e, 50, "f32"),
        [
            "cast.f32_bool 1×1×1",
            "compact_counts 1×1×1",
            "scan_rows.whole_sum 1×1×1",
            "compact 1×1×1",
        ],
    ),
    "nonzero nothing": (lambda e: _true_places(e, 0, "bool"), ["fill 1×1×1"]),
    "attention": (
        lambda e: e.attention(_new(e, 12, 100, 64), _new(e, 12, 100, 64), _new(e, 12, 100, 64)),
        ["attention_tiled.64x96 2×1×12"],
    ),
    "attention odd": (
        lambda e: e.attention(_new(e, 12, 100, 40), _new(e, 12, 100, 40), _new(e, 12, 100, 40)),
        ["attention 4×1×12"],
    ),
    "attention causal": (
        lambda e: e.attention(
            _new(e, 12, 1024, 64), _new(e, 12, 1024, 64), _new(e, 12, 1024, 64), causal=True
        ),
        ["attention_tiled.64x96 6×1×12"],
    ),
    "attention mask": (
        lambda e: e.attention(
            _new(e, 12, 100, 64),
            _new(e, 12, 100, 64),
            _new(e, 12, 100, 64),
            mask=_new(e, 100, 100, dtype="bool"),
        ),
        ["attention.bool 4×1×12"],
    ),
    "attention f16 mask": (
        lambda e: e.attention(
            _new(e, 12, 100, 64),
            _new(e, 12, 100, 64),
            _new(e, 12, 100, 64),
            mask=_new(e, 100, 100, dtype="f16"),
        ),
        ["cast.f16_f32 10×1×1", "attention.float 4×1×12"],
    ),
    "attention f16": (
        lambda e: e.attention(
            _new(e, 12, 100, 64, dtype="f16"),
            _new(e, 12, 100, 64, dtype="f16"),
            _new(e, 12, 100, 64, dtype="f16"),
        ),
        ["attention_tiled.64x96 f16 2×1×12"],
    ),
    "attention f16 odd": (
        lambda e: e.attention(
            _new(e, 12, 100, 40, dtype="f16"),
            _new(e, 12, 100, 40, dtype="f16"),
            _new(e, 12, 100, 40, dtype="f16"),
        ),
        [
            "cast.f16_f32 47×1×1",
            "cast.f16_f32 47×1×1",
            "cast.f16_f32 47×1×1",
            "attention 4×1×12",
            "cast.f32_f16 47×1×1",
        ],
    ),
    "attention no keys": (
        lambda e: e.attention(_new(e, 2, 5, 8), _new(e, 2, 0, 8), _new(e, 2, 0, 8)),
        ["fill 1×1×1"],
    ),
    "block": (
        lambda e: e.attention_block(
            _new(e, 33, 128),
            _new(e, 128, 384),
            _new(e, 384),
            _new(e, 128, 128),
            _new(e, 128),
            heads=4,
        ),
        ["gemm.32 24×1×1", "attention_tiled.32x96 1×1×4", "gemm.32 8×1×1"],
    ),
    "random words": (
        lambda e: random.words(e.device, "words", _new(e, 5000, dtype="u32"), 1, 0),
        ["philox.words 5×1×1"],
    ),
    "random integers in bytes": (
        lambda e: random.integers(e.device, "integers", _new(e, 100, dtype="u8"), 1, 0, 3, 9),
        ["philox.integers 1×1×1", "cast.u32_u8 1×1×1"],
    ),
    "random uniform": (
        lambda e: random.uniform(e.device, "uniform", _new(e, 100), 1, 0),
        ["philox.uniform 1×1×1"],
    ),
    "random normal f16": (
        lambda e: random.normal(e.device, "normal", _new(e, 100, dtype="f16"), 1, 0),
        ["normal.normal 1×1×1", "cast.f32_f16 1×1×1"],
    ),
    "random exponential": (
        lambda e: random.exponential(e.device, "exponential", _new(e, 100), 1, 0),
        ["normal.exponential 1×1×1"],
    ),
    "fft": (lambda e: _fft(e, 100, 60), ["fft 7×1×1"]),
    "fft in place": (
        lambda e: (lambda x: fourier.transform(e.device, "fft", x, x, True, 1.0))(_new(e, 3, 8, 2)),
        ["fft 1×1×1", "copy"],
    ),
    "fft of two passes": (lambda e: _fft(e, 3, 2048), ["fft 6×1×1", "fft 6×1×1"]),
    "fft of three passes": (lambda e: _fft(e, 1, 2**18), 3 * ["fft 256×1×1"]),
    "fft of columns": (
        lambda e: fourier.transform(
            e.device, "fft", _new(e, 3, 512, 8, 2), _new(e, 3, 512, 8, 2), False, 1.0, -2
        ),
        ["fft 12×1×1", "fft 12×1×1"],
    ),
    "fft of a prime": (
        lambda e: _fft(e, 5, 97),
        [
            *("fft_chirp 1×1×1", "fft 1×1×1"),
            *("fft_pad 5×1×1", "fft 2×1×1", "fft_multiply 5×1×1", "fft 2×1×1", "fft_unpad 2×1×1"),
        ],
    ),
    "rfft": (
        lambda e: fourier.of_real(e.device, "rfft", _new(e, 9, 100), _new(e, 9, 51, 2), 1.0),
        ["fft 1×1×1", "fft_split 2×1×1"],
    ),
    "rfft odd": (
        lambda e: fourier.of_real(e.device, "rfft", _new(e, 9, 15), _new(e, 9, 8, 2), 1.0),
        ["fft_widen 1×1×1", "fft 1×1×1", "strided.3 1×1×1"],
    ),
    "irfft": (
        lambda e: fourier.to_real(e.device, "irfft", _new(e, 9, 51, 2), _new(e, 9, 100), 1.0),
        ["fft_merge 2×1×1", "fft 1×1×1"],
    ),
    "solve": (
        lambda e: _solve(e, 100, 8, 2),
        [
            *("matrix_copy.real 25×1×1", "matrix_copy.real 7×1×1", "lu_panel.real 100×1×1"),
            *("lu_rows.real 1×1×1", "pivots.real 4×1×1"),
            *("lu_back.real 1×1×1", "matrix_take.real 7×1×1"),
        ],
    ),
    "inverse of blocks": (
        lambda e: _solve(e, 1, 70, None),
        [
            *("matrix_copy.real 20×1×1", "matrix_identity.real 20×1×1"),
            *("lu_panel.real 1×1×1", "lu_rows.real 1×1×1", "matrix_update.real 4×2×1"),
            *("lu_panel.real 1×1×1", "lu_rows.real 1×1×1", "matrix_update.real 3×1×1"),
            *("lu_panel.real 1×1×1", "lu_rows.real 1×1×1", "pivots.real 1×1×1"),
            *("lu_back.real 1×1×1", "matrix_update.real 3×2×1"),
            *("lu_back.real 1×1×1", "matrix_update.real 3×1×1"),
            *("lu_back.real 1×1×1", "matrix_take.real 20×1×1"),
        ],
    ),
    "qr of blocks": (
        lambda e: _qr(e, 100, 40, 40),
        [
            *("matrix_scales.real 1×1×1", "matrix_copy.real 16×1×1"),
            *("qr_panel.real 1×1×1", "qr_apply.real 2×1×1"),
            *("qr_panel.real 1×1×1", "qr_apply.real 1×1×1", "qr_panel.real 1×1×1"),
            *("matrix_identity.real 16×1×1", *3 * ["qr_apply.real 3×1×1"]),
            *("matrix_take.real 16×1×1", "matrix_take.real 7×1×1"),
        ],
    ),
    "singular values": (
        lambda e: _singular_values(e, 3, 9, 5),
        [
            *("matrix_scales.complex 3×1×1", "matrix_copy.complex 1×1×1"),
            *("qr_panel.complex 3×1×1", "matrix_take.complex 1×1×1", "matrix_copy.complex 1×1×1"),
            *("fill 1×1×1", "svd_turn.complex 3×1×1"),
            *("svd_sizes.complex 15×1×1", "svd_order.complex 15×1×1"),
        ],
    ),
    "eigenvalues": (
        lambda e: _eigenvalues(e, 2, 10),
        [
            *("matrix_scales.real 2×1×1", "matrix_copy.real 1×1×1", "fill 1×1×1"),
            *("eigh_turn.real 2×1×1", "eigh_order.real 20×1×1"),
        ],
    ),
    "eigenvalues of a large matrix": (
        lambda e: _eigenvalues(e, 1, 65),
        [
            *("matrix_scales.real 1×1×1", "matrix_copy.real 17×1×1", "fill 1×1×1"),
            *(
                16
                * 5
                * [*("turn_pairs.real 3×1×1", "turn_rows.real 9×1×1", "turn_columns.real 9×1×1")]
            ),
            "eigh_order.real 65×1×1",
        ],
    ),
    "irfft odd": (
        lambda e: fourier.to_real(e.device, "irfft", _new(e, 9, 8, 2), _new(e, 9, 15), 1.0),
        ["fft_mirror 1×1×1", "fft 1×1×1", "strided.3 1×1×1"],
    ),
}

#: The same on a device with subgroup matrices, such as NVIDIA's.
WITH_MATRICES = {
    "matmul high": [
        "split_largest.rows 1536×1×1",
        "split_halves.left 768×1×1",
        "split_largest.columns 88×1×1",
        "split_halves.right 700×1×1",
        "gemm_f16_matrix128.wide 132×1×1",
        "split_join 8400×1×1",
    ],
    "matmul high batch": 2
    * [
        "split_largest.rows 1296×1×1",
        "split_halves.left 821×1×1",
        "split_largest.columns 81×1×1",
        "split_halves.right 821×1×1",
        "gemm_f16_matrix64.wide 441×1×1",
        "split_join 6561×1×1",
    ],
    "matmul high small": ["gemm.32 4×1×1"],
    "matmul f16": ["gemm_f16_matrix32 2×1×1"],
    "matmul f16 large": ["gemm_f16_matrix64 256×1×1"],
    "matmul f16 odd": [
        "repitch 179×1×1",
        "repitch 179×1×1",
        "gemm_f16_matrix32 50×1×1",
        "repitch 177×1×1",
    ],
    "attention f16": ["attention_matrix.64x64 2×1×12"],
    "attention f16 odd": [
        "cast.f16_f32 47×1×1",
        "cast.f16_f32 47×1×1",
        "cast.f16_f32 47×1×1",
        "attention 4×1×12",
        "cast.f32_f16 47×1×1",
    ],
    "attention": ["attention_tiled.64x96 2×1×12"],
    "conv 3x3": ["conv2d_window.16 28×14×1"],
}

#: The same on a device with WebGPU's default limits.
WITH_LITTLE = {
    "matmul large": ["gemm.64 1024×1×1"],
    "vector matmul": ["gemm_thin.quads 64×2×1", "gemm_sum.1 8×1×1"],
    "attention": ["attention 4×1×12"],
    "conv 1x1": ["conv2d.64x64_pointwise 196×1×1"],
    "conv split": ["conv2d.64x64 8×1×1"],
    "matmul f16 large": ["gemm_f16 1024×1×1"],
    "conv 3x3": ["conv2d_window.16 28×14×1"],
}


def steps(device: Any, name: str) -> list[str]:
    with programs(device) as seen:
        CASES[name][0](KernelExecutor(device))
    return seen


@pytest.mark.parametrize("name", CASES)
def test_steps(name: str) -> None:
    assert steps(fake_device(), name) == CASES[name][1]


@pytest.mark.parametrize("name", WITH_MATRICES)
def test_steps_with_subgroup_matrices(name: str) -> None:
    assert steps(fake_device("nvidia", MATRICES, ABILITIES), name) == WITH_MATRICES[name]


@pytest.mark.parametrize("name", WITH_LITTLE)
def test_steps_on_the_smallest_device(name: str) -> None:
    device = fake_device(
        maxComputeWorkgroupStorageSize=16_384, maxComputeInvocationsPerWorkgroup=256
    )
    assert steps(device, name) == WITH_LITTLE[name]


@pytest.mark.parametrize("name", CASES)
def test_a_program_is_made_once_and_leaves_no_temporary(name: str) -> None:
    device = fake_device()
    executor = KernelExecutor(device)
    CASES[name][0](executor)
    made, in_use = device.pipeline_misses, device.memory.in_use
    hits = device.pipeline_hits
    CASES[name][0](executor)
    assert device.pipeline_misses == made
    gpu = device.recorder
    assert isinstance(gpu, FakeGpu)
    assert device.pipeline_hits >= hits
    assert device.memory.in_use == in_use == 0


def test_numbers_are_no_part_of_a_program() -> None:
    device = fake_device()
    executor = KernelExecutor(device)
    x = executor.full((10,), 1.0)
    for number in range(100):
        executor.add(x, float(number))
    assert len(device._programs.bound) == 2  # fill and scalar share one each
    gpu = device.recorder
    assert isinstance(gpu, FakeGpu)
    assert len({late for _, _, late in gpu.told}) == 100  # the scalar 1.0 occurs twice


def test_programs_are_bounded() -> None:
    device = fake_device()
    executor = KernelExecutor(device)
    for n in range(1, MOST_PROGRAMS + 100):
        executor.relu(executor.empty((n,)))
    assert len(device._programs.bound) <= MOST_PROGRAMS


def test_a_call_on_the_same_buffers_is_packed_once() -> None:
    device = fake_device()
    executor = KernelExecutor(device)
    x, y, z = (executor.empty((10,)) for _ in range(3))
    gpu = device.recorder
    assert isinstance(gpu, FakeGpu)
    for _ in range(3):
        executor.relu(x, out=y)
        executor.relu(x, out=z)
        executor.relu(y, out=y)
    assert len(device._programs.packed) == 3
    picked = [(step.pipeline.label, ids) for step, ids, _ in gpu.told]
    ids = [array.buffer.id for array in (x, y, z)]
    once = [
        ("fused: relu", (ids[0], ids[1])),
        ("fused: relu", (ids[0], ids[2])),
        ("fused: relu assign", (ids[1],)),
    ]
    assert picked == 3 * once
    device.workgroup_sizes = WorkgroupSizes(elementwise=64)
    assert not device._programs.packed


def test_packed_calls_are_bounded() -> None:
    device = fake_device()
    executor = KernelExecutor(device)
    kept = [executor.empty((1,)) for _ in range(MOST_PROGRAMS + 100)]
    for array in kept:
        executor.relu(array, out=array)
    assert 0 < len(device._programs.packed) <= MOST_PROGRAMS


def test_other_picks_make_other_programs() -> None:
    device = fake_device()
    assert steps(device, "matmul small") == ["gemm.32 4×1×1"]
    with device.variants.only("gemm", "tile64"):
        assert steps(device, "matmul small") == ["gemm.64 1×1×1"]
    assert steps(device, "matmul small") == ["gemm.32 4×1×1"]


def test_temporaries_are_used_again_within_a_program() -> None:
    from browsergpu.engine.kernels.base.build import Build

    build = Build(fake_device().facts)
    first, second = build.temporary(1000), build.temporary(4000)
    build.release(first, second)
    assert build.temporary(900) == first
    assert build.temporary(100) not in (first, second)  # exceeds the limit
    assert build.temporary(4000) == second
    assert build.program().temporaries == (1000, 4000, 100)


def test_products_of_bf16_leave_the_choice_of_f16_alone() -> None:
    from browsergpu.engine.kernels.base.build import Build
    from browsergpu.engine.kernels.quantized import products

    device = fake_device(abilities=frozenset({"subnormal halves"}))
    asked = {}
    for name in ("F16", "BF16"):
        with device.variants.noting() as noted:
            products.multiply(Build(device.facts), 0, 1, 2, 1, 64, 64, name)
        asked[name] = [op for op, _, _ in noted]
    assert asked == {"F16": ["quantized_floats"], "BF16": []}, "two equal kernels were compared"
