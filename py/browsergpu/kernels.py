"""THE TABLE: every kernel's file, entry point, bindings, parameters and configurations.

A test checks it against the files (each struct field, binding, override and entry point, none
missing, none extra), and another compiles every kernel in every configuration.

=================  ==================  ==========================================================
kernel             used by             configurations
=================  ==================  ==========================================================
unary…             ``unary``           one per operation
binary…            ``binary``          one per operation
reduce_rows, …     ``reduce``          one per operation
gemm               ``gemm``, batched   one
gemm_f16           ``gemm_f16``        one
conv2d             ``conv2d_forward``  one
attention          ``attention``       one
fill, merge_word   reductions of nothing, uploads of part of a word
=================  ==================  ==========================================================
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from browsergpu.params import Params, params

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

    @property
    def signature(self) -> str:
        """Bindings as the recorder wants them: ``"0r1w"``."""
        return "".join(f"{b.number}{b.access}" for b in self.bindings)


def _bindings(*names: str) -> tuple[Binding, ...]:
    """Numbered from 0; the last is written, the others are only read."""
    last = len(names) - 1
    return tuple(Binding(i, n, WRITE if i == last else READ) for i, n in enumerate(names))


def _ops(*names: str) -> Configurations:
    return {name: {"OP": i} for i, name in enumerate(names)}


_ELEMENTS = params("n: u32")
_UNARY = _ops(
    "relu", "sigmoid", "tanh", "exp", "log", "sqrt", "abs", "neg", "gelu", "silu"
)  # fmt: skip
_BINARY = _ops("add", "sub", "mul", "div", "max", "min", "pow")
_REDUCE = _ops("sum", "max", "min")
_X, _Y = Binding(0, "x", READ), Binding(1, "y", WRITE)
_A, _B, _OUT = _bindings("a", "b", "y")
_REDUCE_PARAMS = params(
    "outer: u32", "length: u32", "inner: u32", "chunk: u32", "chunks: u32",
    "identity: f32", "scale: f32",
)  # fmt: skip

_TABLE = (
    Kernel("unary", "unary.wgsl", (_X, _Y), _ELEMENTS, "main", _UNARY),
    Kernel("unary_in_place", "unary.wgsl", (_Y,), _ELEMENTS, "main_in_place", _UNARY),
    Kernel("binary", "binary.wgsl", (_A, _B, _OUT), _ELEMENTS, "main", _BINARY),
    Kernel("binary_in_place_a", "binary.wgsl", (_B, _OUT), _ELEMENTS, "main_in_place_a", _BINARY),
    Kernel("binary_in_place_b", "binary.wgsl", (_A, _OUT), _ELEMENTS, "main_in_place_b", _BINARY),
    Kernel(
        "binary_in_place_both", "binary.wgsl", (_OUT,), _ELEMENTS, "main_in_place_both", _BINARY
    ),
    Kernel("reduce_rows", "reduce.wgsl", (_X, _Y), _REDUCE_PARAMS, "main_rows", _REDUCE),
    Kernel("reduce_columns", "reduce.wgsl", (_X, _Y), _REDUCE_PARAMS, "main_columns", _REDUCE),
    Kernel(
        "gemm",
        "gemm.wgsl",
        _bindings("a", "b", "c"),
        params(
            "m: u32", "n: u32", "k: u32", "a_row: u32", "a_col: u32", "b_row: u32", "b_col: u32",
            "c_row: u32", "a_batch: u32", "b_batch: u32", "c_batch: u32", "first_batch: u32",
            "alpha: f32", "beta: f32",
        ),
    ),
    Kernel(
        "gemm_f16",
        "gemm_f16.wgsl",
        _bindings("a", "b", "c"),
        params("m: u32", "n: u32", "k: u32", "alpha: f32", "beta: f32"),
    ),
    Kernel(
        "conv2d",
        "conv2d.wgsl",
        _bindings("x", "w", "y"),
        params(
            "channels: u32", "height: u32", "width: u32", "filters: u32", "kernel_h: u32",
            "kernel_w: u32", "out_h: u32", "out_w: u32", "stride_h: u32", "stride_w: u32",
            "pad_h: u32", "pad_w: u32", "dilation_h: u32", "dilation_w: u32", "groups: u32",
            "first_z: u32",
        ),
    ),
    Kernel(
        "attention",
        "attention.wgsl",
        _bindings("q", "k", "v", "o"),
        params(
            "seq_q: u32", "seq_kv: u32", "head_dim: u32", "column_blocks: u32", "first_z: u32",
            "causal: u32", "scale: f32",
        ),
    ),
    Kernel("fill", "fill.wgsl", (Binding(0, "y", WRITE),), params("n: u32", "bits: u32")),
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
