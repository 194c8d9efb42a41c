"""Float16 convolutions as matrix products on subgroup matrices (im2col).

The filters are multiplied by the windows that they see. The windows need memory for one copy of the
input per filter element. A plain 1 × 1 convolution uses the input directly.
"""

from __future__ import annotations

from browsergpu.engine.core.checks import product
from browsergpu.engine.core.grids import blocks, fold, layers
from browsergpu.engine.core.params import params
from browsergpu.engine.gpu.program import Slot
from browsergpu.engine.kernels.base.build import Build
from browsergpu.engine.kernels.base.chains import is_chain, with_chain
from browsergpu.engine.kernels.base.facts import Facts
from browsergpu.engine.kernels.base.family import Fields, Kernel, KernelFamily, Work, bindings
from browsergpu.engine.kernels.convolution.conv2d import Conv2dPlan, Convolution
from browsergpu.engine.kernels.matmul import gemm_f16
from browsergpu.engine.kernels.matmul.products import ACTIVATIONS

_KERNEL = "windows_halves"
_EIGHT = 8  # halves that a thread writes
#: Maximum bytes of the windows, so that they do not displace other buffers.
_MOST_BYTES = 2**29
_LARGE = 128  # rows and columns of the largest tile
#: Minimum filters for which each window is read often enough. Inputs that are windows are not
#: copied.
_LEAST_FILTERS, _LEAST_FILTERS_OF_INPUTS = 32, 9
#: Maximum halves of an input whose rows are read as they are, and not copied to whole vec4us.
_MOST_PACKED = 2**20


def _product(p: Convolution) -> gemm_f16.GemmF16Plan:
    """Plan the product of one image: [filters, steps] [steps, outputs]."""
    steps = p.channels * product(p.kernel)
    outputs = product(p.out) if _is_as_it_lies(p) else _pitch(p)
    return gemm_f16.plan_gemm_f16(
        p.filters, outputs, steps, 1.0, 0.0, p.images, False, p.images > 1, False, False
    )


def _is_as_it_lies(p: Convolution) -> bool:
    return p.kind == "point" and p.stride == (1, 1)


def _pitch(p: Convolution) -> int:
    return blocks(product(p.out), _EIGHT) * _EIGHT


def _nbytes(p: Convolution) -> int:
    return 2 * p.images * p.channels * product(p.kernel) * _pitch(p)


def is_by_product(facts: Facts, plan: Conv2dPlan) -> bool:
    """Return whether a float16 convolution is faster as a matrix product."""
    p = plan.problem
    least = _LEAST_FILTERS_OF_INPUTS if _is_as_it_lies(p) else _LEAST_FILTERS
    if p.groups > 1 or p.filters < least or not plan.output_elements:
        return False
    if _nbytes(p) > min(_MOST_BYTES, facts.largest_buffer):
        return False
    return gemm_f16.is_by_matrices(facts, _product(p))


def conv2d_by_product(
    build: Build,
    x: Slot,
    w: Slot,
    y: Slot,
    plan: Conv2dPlan,
    bias: Slot | None = None,
    scale: Slot | None = None,
    residual: Slot | None = None,
    activation: str | None = None,
) -> None:
    """Add y = activation(scale * cross-correlation of x with w + bias + residual).

    All are contiguous. x, w, y and ``residual``, which has the shape of y, are float16. ``scale``
    and ``bias`` have one float32 for each filter. There is one group, and sums are float32. y must
    be a different buffer from all others. The operands after ``plan`` need :func:`is_by_product`.
    """
    p = plan.problem
    own = _product(p)
    is_more = any((bias, scale, residual, activation))
    if _is_as_it_lies(p):
        if is_more or (own.n % _EIGHT and gemm_f16.is_by_matrices(build.facts, own)):
            is_packed = own.n % _EIGHT > 0 and p.images * p.channels * own.n <= _MOST_PACKED
            windows = x
            if not is_packed:
                windows = gemm_f16.ready(build, x, p.images, p.channels, own.n, False)
            _by_matrices(build, windows, w, y, p, bias, scale, residual, activation, is_packed)
            build.release(*{windows} - {x})
        else:
            gemm_f16.gemm_f16(build, w, x, y, own)
        return
    windows = build.temporary(_nbytes(p))
    pitch, outputs = _pitch(p), product(p.out)
    threads = p.channels * product(p.kernel) * (pitch // _EIGHT)
    grid = fold(blocks(threads, build.facts.workgroup_sizes.elementwise))[:2]
    fields = (
        p.channels, *p.image, *p.kernel, *p.out, *p.stride, *p.padding, *p.dilation, pitch
    )  # fmt: skip
    for first, count in layers(p.images):
        build.dispatch(_KERNEL, "", (*grid, count), (x, windows), *fields, first)
    if is_more or (pitch != outputs and gemm_f16.is_by_matrices(build.facts, own)):
        _by_matrices(build, windows, w, y, p, bias, scale, residual, activation)
        build.release(windows)
        return
    if pitch == outputs:
        gemm_f16.gemm_f16(build, w, windows, y, own)
        build.release(windows)
        return
    made = build.temporary(2 * p.images * p.filters * pitch)
    gemm_f16.gemm_f16(build, w, windows, made, own)
    gemm_f16.repitch(build, p.images * p.filters, made, pitch, y, outputs)
    build.release(windows, made)


def _by_matrices(
    build: Build,
    windows: Slot,
    w: Slot,
    y: Slot,
    p: Convolution,
    bias: Slot | None,
    scale: Slot | None,
    residual: Slot | None,
    activation: str | None,
    is_packed: bool = False,
) -> None:
    """Multiply the filters by windows, and write rows of y's length.

    The rows of windows are whole vec4us, or have y's length if ``is_packed``.
    """
    tile = _tile(build.facts, p)
    outputs, steps = product(p.out), p.channels * product(p.kernel)
    filters = gemm_f16.ready(build, w, 1, p.filters, steps, False)
    ends = (scale, bias, residual)
    is_scaled, is_biased, has_residual = (one is not None for one in ends)
    function = None if is_chain(activation) else activation
    ending = _ending(is_scaled, is_biased, has_residual, function)
    configuration = with_chain(ending, activation)
    uneven = "_packed" if is_packed else "_uneven" if outputs % _EIGHT else ""
    pitch = outputs if is_packed else _pitch(p)
    grid = fold(blocks(p.filters, tile.rows) * blocks(outputs, tile.columns))[:2]
    fields = (p.filters, outputs, steps, 0, steps * pitch, p.filters * outputs)
    bound = [w if one is None else one for one in ends]  # every binding needs a buffer
    build.dispatch(
        f"conv2d_matrix{tile.rows}{uneven}", configuration, (*grid, p.images),
        (filters, windows, *bound, y), *fields,
    )  # fmt: skip
    build.release(*{filters} - {w})


def _tile(facts: Facts, p: Convolution) -> gemm_f16.MatrixTile:
    """Return the tile of a workgroup.

    With few filters or outputs, half of a large tile would be empty. Smaller ones took 0.65 to 0.95
    of the time on an H200.
    """
    tile = gemm_f16.tile_of_matrices(facts, _product(p))
    if p.filters < _LEAST_FILTERS:
        return gemm_f16.MATRIX_TILES[-1]
    if tile.rows == _LARGE and min(p.filters, product(p.out)) <= _LARGE // 2:
        return next(one for one in gemm_f16.MATRIX_TILES if one.rows == _LARGE // 2)
    return tile


def _ending(is_scaled: bool, is_biased: bool, has_residual: bool, activation: str | None) -> str:
    """Return the configuration of a tile's kernel."""
    names = ("scale", is_scaled), ("bias", is_biased), ("residual", has_residual)
    return "_".join([*(name for name, is_there in names if is_there), activation or ""]).strip("_")


def _work(f: Fields) -> Work:
    m, n, k = f["m"], f["n"], f["k"]
    return 2 * m * n * k, 2 * (m * k + k * n + m * n)


#: The rows of windows and results: whole vec4us, padded windows, and neither.
_ROWS = ("", "_uneven", "_packed")


def _of_tile(tile: gemm_f16.MatrixTile, uneven: str) -> Kernel:
    return Kernel(
        f"conv2d_matrix{tile.rows}{uneven}",
        f"conv2d_matrix{'_uneven' if uneven else ''}.wgsl",
        bindings("a", "b", "scale", "bias", "residual", "c"),
        params("m: u32", "n: u32", "k: u32", "a_batch: u32", "b_batch: u32", "c_batch: u32"),
        configurations={
            _ending(scaled, biased, residual, name): {
                **tile.constants,
                **tile.tile_of_b(False),
                "VECTORS": int(uneven != "_packed"),
                "SCALED": int(scaled), "BIASED": int(biased), "RESIDUAL": int(residual),
                "FUNCTION": code,
            }
            for scaled in (False, True)
            for biased in (False, True)
            for residual in (False, True)
            for name, code in ACTIVATIONS.items()
        },
        cost=_work,
    )  # fmt: skip


FAMILY = KernelFamily(
    kernels=(
        *(_of_tile(tile, rows) for tile in gemm_f16.MATRIX_TILES for rows in _ROWS),
        Kernel(
            _KERNEL,
            "windows_halves.wgsl",
            bindings("x", "y"),
            params(
                "channels: u32", "height: u32", "width: u32", "kernel_h: u32", "kernel_w: u32",
                "out_h: u32", "out_w: u32", "stride_h: u32", "stride_w: u32", "pad_h: u32",
                "pad_w: u32", "dilation_h: u32", "dilation_w: u32", "pitch: u32", "first_z: u32",
            ),
            family="elementwise",
            cost=lambda f: (
                0,
                2 * f["channels"] * (f["height"] * f["width"]
                                     + f["kernel_h"] * f["kernel_w"] * f["pitch"]),
            ),
        ),
    )
)  # fmt: skip
