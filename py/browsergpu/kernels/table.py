"""THE TABLE: every kernel's file, entry point, bindings, parameters and configurations.

A test checks it against the files (each struct field, binding, override and entry point, none
missing, none extra), and another compiles every kernel in every configuration.

=================  ==================  ==========================================================
kernel             used by             configurations
=================  ==================  ==========================================================
unary…             ``unary``           one per operation; halves: where x or y is of float16
binary…            ``binary``          one per operation
reduce_rows, …     ``reduce``          one per operation; columns: for a multiple of 4, too
gemm               ``gemm``, batched   one per tile, activation and operands of float16
gemm_thin          ``gemm``, batched   one per way of the threads and number of vectors; mixed:
                                       where B is of float16
gemm_tiny          batched             one
gemm_sum           ``gemm``, batched   one per number of threads to an element
gemm_f16…          ``gemm_f16``        plain, biased, one per activation; rows: and per rows
repitch            ``gemm_f16``        one
conv2d…            ``conv2d_forward``  one per tile, filters of a tile or kind of windows
attention          ``attention``       one per kind of mask
attention_tiled    ``attention``       one per tile and type of floats
attention_matrix   ``attention``       one per tile
softmax_rows, …    ``softmax``         rows: one per length that fits
layer_norm, …      ``layer_norm``      one per length of rows that fits
cross_entropy, …   ``cross_entropy``   one per length of rows that fits
embedding, adam: by name
pixel, stencil     image filters       one per filter
blur               ``gaussian_blur``   one per direction
scalar…            ``add`` to ``div``  one: with a number
broadcast          ``add`` to ``div``  one per operation and number of axes
mixed…             ``add`` to ``div``  one per number of axes: where some are of float16
strided, transpose ``transpose``       strided: one per number of axes
moments_rows, …    ``variance``        moments, or the variance; columns as for reduce
batch_norm, …      ``batch_norm``      one
pool, pool_indices ``max_pool2d`` …    pool: one per operation
cast               everything that is not float32; one per pair of types
integer, sum_integer                   whole numbers
fill, merge_word   reductions of nothing, uploads of part of a word
=================  ==================  ==========================================================
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from browsergpu.core.dtypes import DType
from browsergpu.core.params import Params, params
from browsergpu.kernels.variants import ATTENTION_MATRICES, ATTENTION_TILES
from browsergpu.kernels.workgroup_sizes import Family

READ = "r"
WRITE = "w"  # read and write

Configurations = Mapping[str, Mapping[str, int]]


@dataclass(frozen=True)
class Binding:
    """A storage buffer of a kernel: its @binding number, name in the shader and access."""

    number: int
    name: str
    access: str


@dataclass(frozen=True)
class Kernel:
    """One entry point of one shader file, and the override constants it may be made with."""

    name: str
    shader: str
    bindings: tuple[Binding, ...]
    params: Params
    entry_point: str = "main"
    configurations: Configurations = field(default_factory=lambda: {"": {}})
    #: The family of kernels whose workgroup size is tuned together: the shader's THREADS is then
    #: an override, set to the device's size for the family. None: the shader has its own size.
    family: Family | None = None

    @property
    def signature(self) -> str:
        """Bindings as the recorder wants them: ``"0r1w"``."""
        return "".join(f"{b.number}{b.access}" for b in self.bindings)


def _bindings(*names: str, written: int = 1, first: int = 0) -> tuple[Binding, ...]:
    """Numbered from ``first``; the last ones are written, the others are only read."""
    read = len(names) - written
    return tuple(Binding(first + i, n, WRITE if i >= read else READ) for i, n in enumerate(names))


def _ops(*names: str) -> Configurations:
    return {name: {"OP": i} for i, name in enumerate(names)}


_ELEMENTS = params("n: u32")
_UNARY = _ops(
    "relu", "sigmoid", "tanh", "exp", "log", "sqrt", "abs", "neg", "gelu", "silu",
    "gelu_erf",
)  # fmt: skip
_UNARY_PARAMS = params("n: u32", "halves: u32")
#: Those that arrays of float16 are given to.
_UNARY_HALVES = {op: _UNARY[op] for op in ("relu", "sigmoid", "tanh", "gelu", "gelu_erf")}
_SCALAR_PARAMS = params("n: u32", "op: u32", "halves: u32", "number: u32")
_BINARY = _ops("add", "sub", "mul", "div", "max", "min", "pow")
_REDUCE = _ops("sum", "max", "min")
_REDUCE_ROWS: Configurations = {op: {**of_op, "ALIGNED": 0} for op, of_op in _REDUCE.items()}
_REDUCE_COLUMNS: Configurations = {
    **_REDUCE_ROWS,
    **{f"{op}_aligned": {**of_op, "ALIGNED": 1} for op, of_op in _REDUCE.items()},
}
_MOMENTS: Configurations = {
    "": {"ALIGNED": 0, "VARIANCE": 0},
    "variance": {"ALIGNED": 0, "VARIANCE": 1},
}
_X, _Y = Binding(0, "x", READ), Binding(1, "y", WRITE)
_A, _B, _OUT = _bindings("a", "b", "y")
_WORDS = Binding(1, "words", READ)
_CUT_Y = Binding(2, "y", WRITE)
_CUT = ("outer: u32", "length: u32", "inner: u32", "chunk: u32", "chunks: u32", "lanes: u32")
_REDUCE_PARAMS = params(*_CUT, "identity: f32", "scale: f32")
_MOMENTS_PARAMS = params(*_CUT, "scale: f32")

_CHUNKS = params("outer: u32", "length: u32", "inner: u32", "chunk: u32", "chunks: u32")
#: Numbers of indices that broadcast and strided are compiled for; at least the smallest is used.
BROADCAST_RANKS = (2, 3, 5)
STRIDED_RANKS = (3, 5, 8)
_BROADCAST: Configurations = {
    f"{op}_{rank}": {"OP": i, "RANK": rank}
    for i, op in enumerate(
        ("add", "sub", "mul", "div", "integer_add", "integer_sub", "integer_mul")
    )
    for rank in BROADCAST_RANKS
}
_BROADCAST_PARAMS = params(
    "n: u32", "extent1: u32", "extent2: u32", "extent3: u32", "extent4: u32", "a0: u32", "a1: u32",
    "a2: u32", "a3: u32", "a4: u32", "b0: u32", "b1: u32", "b2: u32", "b3: u32", "b4: u32",
)  # fmt: skip
_MIXED_PARAMS = params(*_BROADCAST_PARAMS.declared, "kinds: u32")
_STRIDED: Configurations = {str(rank): {"RANK": rank} for rank in STRIDED_RANKS}
_STRIDED_PARAMS = params(
    "n: u32", *(f"extent{i}: u32" for i in range(1, 8)), *(f"stride{i}: u32" for i in range(8))
)


def _convolution(filters: int, pixels: int, shares: int, depth: int) -> dict[str, int]:
    """A tile of conv2d, and the vec4s of workgroup memory that it takes."""
    tiles = shares * depth * (filters // 4 + 1 + pixels // 4)
    sums = shares * filters * pixels // 4 if shares > 1 else 0
    return {
        "FILTERS": filters, "PIXELS": pixels, "SHARES": shares, "DEPTH": depth,
        "SPACE": max(tiles, sums),
    }  # fmt: skip


#: conv2d's tiles of filters × pixels, each for all windows and for those of 1 × 1.
_CONV2D = {
    f"{tile}_pointwise" if pointwise else tile: {**constants, "POINTWISE": pointwise}
    for tile, constants in (
        ("64x64", _convolution(64, 64, 1, 16)),
        ("64x32", _convolution(64, 32, 4, 8)),
        ("32x32", _convolution(32, 32, 8, 8)),
    )
    for pointwise in (0, 1)
}
_BATCH_NORM_PARAMS = params(
    "n: u32", "channels: u32", "inner: u32", "eps: f32", "momentum: f32", "unbiased: f32"
)
_POOL_PARAMS = params(
    "n: u32", "height: u32", "width: u32", "out_h: u32", "out_w: u32", "kernel_h: u32",
    "kernel_w: u32", "stride_h: u32", "stride_w: u32", "pad_h: u32", "pad_w: u32",
    "dilation_h: u32", "dilation_w: u32",
)  # fmt: skip
_ATTENTION_PARAMS = (
    "seq_q: u32", "seq_kv: u32", "head_dim: u32", "heads: u32", "q_row: u32", "kv_row: u32",
    "k_first: u32", "v_first: u32", "first_z: u32", "causal: u32", "scale: f32",
)  # fmt: skip
_SOFTMAX_PARAMS = params(*_CUT)
#: vec4s of a row that each of its threads holds in registers; the smallest that will do is used.
HELD = (4, 8, 16)
_HELD: Configurations = {str(held): {"HELD": held} for held in HELD}
_NOT_HELD: Configurations = {"": {"HELD": 4}}
_NORM_PARAMS = params(
    "rows: u32", "length: u32", "chunk: u32", "chunks: u32", "lanes: u32", "residual: u32",
    "eps: f32",
)  # fmt: skip
_EMBEDDING_PARAMS = params("rows: u32", "elements: u32", "entries: u32", "missing: u32")
_LOSS_PARAMS = params("rows: u32", "classes: u32", "chunks: u32", "lanes: u32")
_GEMM_F16_PARAMS = params(
    "m: u32", "n: u32", "k: u32", "alpha: f32", "beta: f32", "biased: u32"
)  # fmt: skip
_CASTS = {
    f"{source}_{target}": {"FROM": i, "TO": j}
    for i, source in enumerate(DType)
    for j, target in enumerate(DType)
    if source is not target
} | {"unorm8_f32": {"FROM": 6, "TO": 0}, "f32_unorm8": {"FROM": 0, "TO": 6}}

#: What a product can end in: none, or an activation.
_FUNCTIONS = ("", "relu", "gelu", "silu", "gelu_erf")
#: What a product of float16 can end in: also a bias alone.
_F16_ENDS: Configurations = {
    "": {"FUNCTION": 0, "BIASED": 0},
    "bias": {"FUNCTION": 0, "BIASED": 1},
    **{function: {"FUNCTION": i, "BIASED": 1} for i, function in enumerate(_FUNCTIONS) if i},
}


_GEMM = _bindings("a", "b", "bias", "residual", "c")
_GEMM_THIN = _bindings("x", "x4", "v", "bias", "residual", "c")
#: Tiles of gemm.wgsl, by their sides and how k is shared.
_GEMM_TILES: Configurations = {
    "32": {"SIDE": 32, "DEPTH": 32, "TALL": 0, "WIDE": 0, "SLICES": 4},
    "64": {"SIDE": 64, "DEPTH": 16, "TALL": 0, "WIDE": 0, "SLICES": 1},
    "128": {"SIDE": 128, "DEPTH": 16, "TALL": 1, "WIDE": 1, "SLICES": 1},
}
#: How the threads of gemm_thin.wgsl lie: with k, or with the lines.
_GEMM_WAYS: Configurations = {
    "along": {"LANES": 1, "QUADS": 0, "THREADS": 256},
    "across": {"LANES": 8, "QUADS": 0, "THREADS": 256},
    "quads": {"LANES": 8, "QUADS": 1, "THREADS": 256},
    "quads_wide": {"LANES": 8, "QUADS": 1, "THREADS": 1024},
}

_TABLE = (
    Kernel("unary", "unary.wgsl", (_X, _Y), _UNARY_PARAMS, "main", _UNARY, "elementwise"),
    Kernel(
        "unary_in_place", "unary.wgsl", (_Y,), _UNARY_PARAMS, "main_in_place", _UNARY,
        "elementwise",
    ),
    Kernel(
        "unary_halves", "unary.wgsl",
        (Binding(0, "x_words", READ), Binding(1, "y_words", WRITE)), _UNARY_PARAMS, "main_halves",
        _UNARY_HALVES, "elementwise",
    ),
    Kernel(
        "unary_halves_in_place", "unary.wgsl", (Binding(1, "y_words", WRITE),), _UNARY_PARAMS,
        "main_halves_in_place", _UNARY_HALVES, "elementwise",
    ),
    Kernel("scalar", "scalar.wgsl", (_X, _Y), _SCALAR_PARAMS, family="elementwise"),
    Kernel(
        "scalar_in_place", "scalar.wgsl", (_Y,), _SCALAR_PARAMS, "main_in_place",
        family="elementwise",
    ),
    Kernel("binary", "binary.wgsl", (_A, _B, _OUT), _ELEMENTS, "main", _BINARY, "elementwise"),
    Kernel(
        "binary_in_place_a", "binary.wgsl", (_B, _OUT), _ELEMENTS, "main_in_place_a", _BINARY,
        "elementwise",
    ),
    Kernel(
        "binary_in_place_b", "binary.wgsl", (_A, _OUT), _ELEMENTS, "main_in_place_b", _BINARY,
        "elementwise",
    ),
    Kernel(
        "binary_in_place_both", "binary.wgsl", (_OUT,), _ELEMENTS, "main_in_place_both", _BINARY,
        "elementwise",
    ),
    Kernel(
        "broadcast", "broadcast.wgsl", (_A, _B, _OUT), _BROADCAST_PARAMS, "main",
        _BROADCAST, "elementwise",
    ),
    Kernel(
        "broadcast_vectors", "broadcast.wgsl", _bindings("a_vectors", "b_vectors", "y_vectors"),
        _BROADCAST_PARAMS, "main_vectors", _BROADCAST, "elementwise",
    ),
    Kernel(
        "mixed", "mixed.wgsl", (_A, _B, _OUT), _MIXED_PARAMS, "main",
        {str(rank): {"RANK": rank} for rank in BROADCAST_RANKS}, "elementwise",
    ),
    Kernel(
        "mixed_in_place", "mixed.wgsl", (_B, _OUT), _MIXED_PARAMS, "main_in_place",
        {"": {"RANK": BROADCAST_RANKS[0]}}, "elementwise",
    ),
    Kernel(
        "strided", "strided.wgsl", (_X, _Y), _STRIDED_PARAMS, "main", _STRIDED, "elementwise"
    ),
    Kernel(
        "strided_vectors", "strided.wgsl", _bindings("x_vectors", "y_vectors"), _STRIDED_PARAMS,
        "main_vectors", _STRIDED, "elementwise",
    ),
    Kernel(
        "transpose",
        "transpose.wgsl",
        (_X, _Y),
        params("rows: u32", "columns: u32", "first_z: u32"),
    ),
    Kernel(
        "reduce_rows", "reduce.wgsl", (_X, _CUT_Y), _REDUCE_PARAMS, "main_rows",
        _REDUCE_ROWS, "reduction",
    ),
    Kernel(
        "reduce_columns", "reduce.wgsl", (_X, _WORDS, _CUT_Y), _REDUCE_PARAMS, "main_columns",
        _REDUCE_COLUMNS, "reduction",
    ),
    Kernel(
        "moments_rows", "moments.wgsl", (_X, _CUT_Y), _MOMENTS_PARAMS, "main_rows", _MOMENTS,
    ),
    Kernel(
        "moments_columns", "moments.wgsl", (_X, _WORDS, _CUT_Y), _MOMENTS_PARAMS, "main_columns",
        {
            **_MOMENTS,
            "aligned": {"ALIGNED": 1, "VARIANCE": 0},
            "variance_aligned": {"ALIGNED": 1, "VARIANCE": 1},
        },
    ),
    Kernel(
        "moments_merge", "moments.wgsl", (_WORDS, _CUT_Y), _MOMENTS_PARAMS, "main_merge", _MOMENTS,
    ),
    Kernel(
        "gemm",
        "gemm.wgsl",
        _GEMM,
        params(
            "m: u32", "n: u32", "k: u32", "a_row: u32", "a_col: u32", "b_row: u32", "b_col: u32",
            "c_row: u32", "a_batch: u32", "b_batch: u32", "c_batch: u32", "first: u32",
            "chunk: u32", "added: u32", "alpha: f32", "beta: f32",
        ),
        configurations={
            f"{tile}{f'_{function}' if i else ''}{suffix}": {
                **constants, "FUNCTION": i, "HALVES": halves
            }
            for halves, suffix in enumerate(("", " b", " ab"))
            for tile, constants in _GEMM_TILES.items()
            for i, function in enumerate(_FUNCTIONS)
            if halves < 2 or i == 0
        },
    ),
    Kernel(
        "gemm_tiny",
        "gemm_tiny.wgsl",
        _GEMM,
        params(
            "m: u32", "n: u32", "k: u32", "a_row: u32", "a_col: u32", "b_row: u32", "b_col: u32",
            "c_row: u32", "a_batch: u32", "b_batch: u32", "c_batch: u32", "total: u32",
            "added: u32", "function: u32", "alpha: f32", "beta: f32",
        ),
    ),
    Kernel(
        "gemm_thin",
        "gemm_thin.wgsl",
        _GEMM_THIN,
        params(
            "lines: u32", "vectors: u32", "k: u32", "x_line: u32", "x_step: u32", "v_line: u32",
            "v_step: u32", "c_line: u32", "c_vector: u32", "x_batch: u32", "v_batch: u32",
            "c_batch: u32", "chunk: u32", "added: u32", "alpha: f32", "beta: f32",
        ),
        configurations={
            f"{way}{few}{mixed}": {**constants, "VECTORS": vectors, "MIXED": int(bool(mixed))}
            for way, constants in _GEMM_WAYS.items()
            for few, vectors in (("", 1), ("_few", 4))
            for mixed in ("", " mixed")
        },
    ),
    Kernel(
        "gemm_sum",
        "gemm_sum.wgsl",
        _bindings("products", "bias", "residual", "c"),
        params(
            "m: u32", "n: u32", "pieces: u32", "c_row: u32", "c_batch: u32", "added: u32",
            "function: u32", "alpha: f32", "beta: f32",
        ),
        configurations={str(parts): {"PARTS": parts} for parts in (1, 8)},
    ),
    *(
        Kernel(
            name,
            f"{name}.wgsl",
            _bindings("a", "b", "bias", "c"),
            _GEMM_F16_PARAMS,
            configurations=_F16_ENDS,
        )
        for name in (
            "gemm_f16", "gemm_f16_tile", "gemm_f16_matrix32", "gemm_f16_matrix64",
            "gemm_f16_matrix128",
        )
    ),
    Kernel(
        "gemm_f16_rows",
        "gemm_f16_rows.wgsl",
        _bindings("a", "b", "bias", "c"),
        _GEMM_F16_PARAMS,
        configurations={
            f"{rows}_{end}" if end else str(rows): {"ROWS": rows, **constants}
            for rows in (1, 4)
            for end, constants in _F16_ENDS.items()
        },
    ),
    Kernel(
        "repitch",
        "repitch.wgsl",
        (_X, _Y),
        params("rows: u32", "x_pitch: u32", "y_pitch: u32"),
        family="elementwise",
    ),
    Kernel(
        "conv2d",
        "conv2d.wgsl",
        _bindings("x", "w", "bias", "y"),
        params(
            "channels: u32", "height: u32", "width: u32", "filters: u32", "kernel_h: u32",
            "kernel_w: u32", "stride_h: u32", "stride_w: u32", "pad_h: u32", "pad_w: u32",
            "dilation_h: u32", "dilation_w: u32", "groups: u32", "biased: u32", "chunk: u32",
            "first_z: u32",
        ),
        configurations=_CONV2D,
    ),
    Kernel(
        "conv2d_window",
        "conv2d_window.wgsl",
        _bindings("x", "w", "bias", "y"),
        params(
            "channels: u32", "height: u32", "width: u32", "filters: u32", "out_h: u32",
            "out_w: u32", "pad_h: u32", "pad_w: u32", "groups: u32", "biased: u32", "chunk: u32",
            "first_z: u32",
        ),
        configurations={
            "16": {"FILTERS": 16, "SHARES": 4},
            "8": {"FILTERS": 8, "SHARES": 8},
        },
    ),
    Kernel(
        "conv2d_stream",
        "conv2d_stream.wgsl",
        _bindings("x", "x_vectors", "w", "bias", "y"),
        params(
            "channels: u32", "height: u32", "width: u32", "filters: u32", "out_h: u32",
            "out_w: u32", "stride_h: u32", "stride_w: u32", "groups: u32", "biased: u32",
            "first_z: u32",
        ),
        configurations={"": {"VECTOR": 0}, "vector": {"VECTOR": 1}},
    ),
    Kernel(
        "conv2d_sum",
        "conv2d_sum.wgsl",
        _bindings("parts", "bias", "y"),
        params(
            "n: u32", "inner: u32", "parts: u32", "pixels: u32", "filters: u32", "biased: u32"
        ),
    ),
    Kernel(
        "conv2d_depthwise",
        "conv2d_depthwise.wgsl",
        _bindings("x", "w", "bias", "y"),
        params(
            "n: u32", "height: u32", "width: u32", "filters: u32", "all_filters: u32",
            "kernel_h: u32", "kernel_w: u32", "out_h: u32", "out_w: u32", "stride_h: u32",
            "stride_w: u32", "pad_h: u32", "pad_w: u32", "dilation_h: u32", "dilation_w: u32",
        ),
        configurations={"": {"BIAS": 0}, "bias": {"BIAS": 1}},
    ),
    Kernel(
        "attention",
        "attention.wgsl",
        _bindings("q", "k", "v", "mask", "o"),
        params(
            *_ATTENTION_PARAMS, "mask_inner_count: u32", "mask_outer: u32", "mask_inner: u32",
            "mask_row: u32", "mask_col: u32",
        ),
        configurations={"": {"MASK": 0}, "float": {"MASK": 1}, "bool": {"MASK": 2}},
    ),
    Kernel(
        "attention_tiled",
        "attention_tiled.wgsl",
        _bindings("q", "k", "v", "o"),
        params(*_ATTENTION_PARAMS),
        configurations={
            f"{head_dim}x{queries}{' f16' if halves else ''}": {
                "HEAD_DIM": head_dim, "QUERIES": queries, "LANES": lanes, "ROWS": rows,
                "HALVES": halves,
            }
            for head_dim, queries, lanes, rows in ATTENTION_TILES
            for halves in (0, 1)
        },
    ),
    Kernel(
        "attention_matrix",
        "attention_matrix.wgsl",
        _bindings("q", "k", "v", "o"),
        params(*_ATTENTION_PARAMS),
        configurations={
            f"{head_dim}x{64 // split}": {"HEAD_DIM": head_dim, "SUBGROUPS": 4, "SPLIT": split}
            for head_dim, split in ATTENTION_MATRICES
        },
    ),
    Kernel(
        "softmax_rows", "softmax.wgsl", (_X, Binding(2, "y", WRITE)), _SOFTMAX_PARAMS, "main_rows",
        _HELD,
    ),
    Kernel(
        "softmax_rows_aligned", "softmax.wgsl",
        (Binding(0, "x_vectors", READ), Binding(2, "y_vectors", WRITE)), _SOFTMAX_PARAMS,
        "main_rows_aligned", _HELD,
    ),
    Kernel(
        "softmax_columns", "softmax.wgsl", (_X, Binding(2, "y", WRITE)), _SOFTMAX_PARAMS,
        "main_columns", _NOT_HELD,
    ),
    Kernel(
        "softmax_parts", "softmax.wgsl", (_X, Binding(2, "new_parts", WRITE)), _SOFTMAX_PARAMS,
        "main_parts", _NOT_HELD,
    ),
    Kernel(
        "softmax_apply", "softmax.wgsl", _bindings("x", "parts", "y"), _SOFTMAX_PARAMS,
        "main_apply", _NOT_HELD,
    ),
    Kernel(
        "layer_norm", "layer_norm.wgsl", _bindings("x", "residual", "gamma", "beta", "y"),
        _NORM_PARAMS, "main", _HELD,
    ),
    Kernel(
        "layer_norm_aligned",
        "layer_norm.wgsl",
        _bindings(
            "x_vectors", "residual_vectors", "gamma_vectors", "beta_vectors", "y_vectors"
        ),
        _NORM_PARAMS,
        "main_aligned",
        _HELD,
    ),
    Kernel(
        "layer_norm_sum",
        "layer_norm.wgsl",
        _bindings("x", "residual", "gamma", "beta", "y", "summed", written=2),
        _NORM_PARAMS,
        "main_sum",
        _HELD,
    ),
    Kernel(
        "layer_norm_sum_aligned",
        "layer_norm.wgsl",
        _bindings(
            "x_vectors", "residual_vectors", "gamma_vectors", "beta_vectors", "y_vectors",
            "summed_vectors", written=2,
        ),
        _NORM_PARAMS,
        "main_sum_aligned",
        _HELD,
    ),
    Kernel(
        "layer_norm_long", "layer_norm.wgsl", _bindings("x", "moments", "gamma", "beta", "y"),
        _NORM_PARAMS, "main_long", _NOT_HELD,
    ),
    Kernel(
        "batch_norm",
        "batch_norm.wgsl",
        _bindings("x", "mean", "variance", "gamma", "beta", "y"),
        _BATCH_NORM_PARAMS,
        family="elementwise",
    ),
    Kernel(
        "batch_norm_statistics",
        "batch_norm.wgsl",
        _bindings(
            "moments", "batch_mean", "batch_variance", "running_mean", "running_variance",
            written=4, first=6,
        ),
        _BATCH_NORM_PARAMS,
        "statistics",
        family="elementwise",
    ),
    Kernel(
        "pool",
        "pool.wgsl",
        (_X, _Y),
        _POOL_PARAMS,
        configurations=_ops("max", "mean_padded", "mean"),
        family="elementwise",
    ),
    Kernel(
        "pool_indices",
        "pool.wgsl",
        _bindings("x", "y", "indices", written=2),
        _POOL_PARAMS,
        "main_indices",
        {"": {"OP": 0}},
        "elementwise",
    ),
    Kernel(
        "cross_entropy",
        "cross_entropy.wgsl",
        (*_bindings("x", "targets", written=0), *_bindings("loss", "probs", written=2, first=3)),
        _LOSS_PARAMS,
        "main",
        _HELD,
    ),
    Kernel(
        "cross_entropy_aligned",
        "cross_entropy.wgsl",
        (
            *_bindings("x", "targets", written=0),
            *_bindings("loss", "probs_vectors", written=2, first=3),
            Binding(5, "x_vectors", READ),
        ),
        _LOSS_PARAMS,
        "main_aligned",
        _HELD,
    ),
    Kernel(
        "cross_entropy_long", "cross_entropy.wgsl", _bindings("x", "targets", "parts", "loss"),
        _LOSS_PARAMS, "main_long", _NOT_HELD,
    ),
    Kernel(
        "embedding", "embedding.wgsl", _bindings("indices", "weight", "y"), _EMBEDDING_PARAMS,
        "main",
    ),
    Kernel(
        "embedding_vectors", "embedding.wgsl",
        _bindings("indices", "weight_vectors", "y_vectors"), _EMBEDDING_PARAMS, "main_vectors",
    ),
    Kernel(
        "adam",
        "adam.wgsl",
        _bindings("grad", "param", "m", "v", written=3),
        params(
            "n: u32", "lr: f32", "beta1: f32", "beta2: f32", "rest1: f32", "rest2: f32",
            "eps: f32", "correction1: f32", "correction2: f32",
        ),
    ),
    Kernel(
        "pixel",
        "pixel.wgsl",
        (_X, _Y),
        params("pixels: u32", "channels: u32", "amount: f32"),
        configurations=_ops("grayscale", "threshold", "brightness", "contrast", "invert"),
    ),
    Kernel(
        "stencil",
        "stencil.wgsl",
        (_X, _Y),
        params("height: u32", "width: u32", "channels: u32", "amount: f32"),
        configurations=_ops("sharpen", "sobel"),
    ),
    Kernel(
        "blur",
        "blur.wgsl",
        (_X, _Y),
        params(
            "lines: u32", "length: u32", "line_step: u32", "step: u32", "channels: u32",
            "segments: u32", "radius: u32", "exponent: f32", "norm: f32",
        ),
        configurations={"rows": {"CLAMP": 0}, "columns": {"CLAMP": 1}},
    ),
    Kernel(
        "cast", "cast.wgsl", (_X, _Y), _ELEMENTS, configurations=_CASTS, family="elementwise"
    ),
    Kernel(
        "integer",
        "integer.wgsl",
        _bindings("a", "b", "y"),
        _ELEMENTS,
        configurations=_ops("add", "sub", "mul"),
        family="elementwise",
    ),
    Kernel(
        "sum_integer",
        "sum_integer.wgsl",
        (_X, _Y),
        _CHUNKS,
        family="reduction",
    ),
    Kernel(
        "fill", "fill.wgsl", (Binding(0, "y", WRITE),), params("n: u32", "bits: u32"),
        family="elementwise",
    ),
    Kernel(
        "merge_word",
        "merge_word.wgsl",
        (Binding(0, "y", WRITE),),
        params("word: u32", "mask: u32", "value: u32"),
    ),
)  # fmt: skip

KERNELS: Mapping[str, Kernel] = {kernel.name: kernel for kernel in _TABLE}

#: Shader files that no compute kernel uses: they belong to the canvas.
RENDER_SHADERS = frozenset({"draw.wgsl"})
