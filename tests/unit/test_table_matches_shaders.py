"""The table of kernels, the shader files and the backend's methods agree."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import pytest

from browsergpu import ComputeBackend, DType, WasmBackend
from browsergpu.engine.kernels.base.family import READ, WRITE, Kernel
from browsergpu.engine.kernels.quantized.formats import FLOATS, FORMATS, INTEGERS
from browsergpu.engine.kernels.table import CUSTOM_SHADERS, KERNELS, RENDER_SHADERS
from browsergpu.engine.kernels.text import shaders
from browsergpu.engine.kernels.variants import VARIANTS

pytestmark = pytest.mark.fast

REPOSITORY = Path(__file__).resolve().parents[2]
SHADERS = REPOSITORY / "shaders"

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_STORAGE = re.compile(
    r"@group\((\d+)\)\s*@binding\((\d+)\)\s*var<storage,\s*(read|read_write)>\s*(\w+)\s*:"
)
_OVERRIDE = re.compile(r"\boverride\s+(\w+)\s*:\s*(\w+)")
_ENTRY = re.compile(r"@compute[^{;]*?\bfn\s+(\w+)\s*\(")
_FUNCTION = re.compile(r"\bfn\s+(\w+)\s*\(")
_PARAMS = re.compile(r"struct\s+Params\s*\{(.*?)\}", re.DOTALL)
_FIELD = re.compile(r"(\w+)\s*:\s*(\w+)")


@dataclass(frozen=True)
class Shader:
    """The declarations of a WGSL file."""

    storage: dict[str, tuple[int, str]]
    overrides: set[str]
    entries: set[str]
    fields: tuple[tuple[str, str], ...]
    bodies: dict[str, str]

    @classmethod
    def parse(cls, source: str) -> Shader:
        text = _COMMENT.sub("", source)
        storage = {}
        for group, binding, access, name in _STORAGE.findall(text):
            assert group == "0", f"{name} is in group {group}; storage belongs to group 0"
            storage[name] = (int(binding), READ if access == "read" else WRITE)
        block = _PARAMS.search(text)
        return cls(
            storage,
            {name for name, _kind in _OVERRIDE.findall(text)},
            set(_ENTRY.findall(text)),
            tuple(_FIELD.findall(block.group(1))) if block else (),
            {name: _body(text, name) for name in _FUNCTION.findall(text)},
        )

    def used_by(self, entry: str) -> set[str]:
        """Return the storage variables that an entry point uses, also through functions."""
        reached, waiting = set(), [entry]
        while waiting:
            function = waiting.pop()
            if function not in reached:
                reached.add(function)
                words = set(re.findall(r"\w+", self.bodies[function]))
                waiting += [name for name in self.bodies if name in words]
        words = set().union(*(_free_words(self.bodies[name]) for name in reached))
        return {name for name in self.storage if name in words}


def _body(text: str, function: str) -> str:
    start = re.search(rf"\bfn\s+{function}\s*\(", text)
    assert start is not None
    opening = text.index("{", start.start())
    depth = 0
    for at in range(opening, len(text)):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if depth == 0:
            return text[start.start() : at + 1]
    raise AssertionError(f"fn {function} has no end")


def _free_words(body: str) -> set[str]:
    """Return the names in a function, except members (``v.x``), parameters and local variables."""
    header, _, inner = body.partition("{")
    own = set(re.findall(r"(\w+)\s*:", header.partition("(")[2]))
    own |= set(re.findall(r"\b(?:let|var|const)\s+(\w+)", inner))
    return set(re.findall(r"(?<![\w.])[A-Za-z_]\w*", inner)) - own


PARSED = {path.name: Shader.parse(shaders.load(path.name)) for path in SHADERS.glob("*.wgsl")}
each_kernel = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS.keys())


def test_no_file_is_missing_and_none_is_an_orphan() -> None:
    files = {kernel.shader for kernel in KERNELS.values()}
    assert files | RENDER_SHADERS | CUSTOM_SHADERS.keys() == set(PARSED)
    assert all(name == kernel.name for name, kernel in KERNELS.items())


def test_every_entry_point_is_a_kernel() -> None:
    declared = {(name, entry) for name, shader in PARSED.items() for entry in shader.entries}
    custom = {(name, entry) for name, entries in CUSTOM_SHADERS.items() for entry in entries}
    kernels = {(kernel.shader, kernel.entry_point) for kernel in KERNELS.values()}
    assert kernels | custom == declared
    used = [
        (kernel.shader, kernel.entry_point, tuple(sorted(constants.items())))
        for kernel in KERNELS.values()
        for constants in kernel.configurations.values()
    ]
    assert len(used) == len(set(used)), "two kernels are the same entry point and constants"


@each_kernel
def test_parameters(kernel: Kernel) -> None:
    shader = PARSED[kernel.shader]
    assert kernel.params.fields == shader.fields
    assert kernel.params.nbytes == 4 * len(shader.fields)
    assert 0 < kernel.params.nbytes <= 64, "immediates have 64 bytes"
    assert shaders.load(kernel.shader).count(shaders.PARAMETERS) == 1


@each_kernel
def test_bindings(kernel: Kernel) -> None:
    shader = PARSED[kernel.shader]
    used = shader.used_by(kernel.entry_point)
    assert {b.name for b in kernel.bindings} == used
    for binding in kernel.bindings:
        assert (binding.number, binding.access) == shader.storage[binding.name]
    numbers = [binding.number for binding in kernel.bindings]
    assert numbers == sorted(set(numbers))
    assert kernel.signature == "".join(f"{b.number}{b.access}" for b in kernel.bindings)


@each_kernel
def test_overrides(kernel: Kernel) -> None:
    shader = PARSED[kernel.shader]
    assert kernel.configurations
    for configuration in kernel.configurations.values():
        assert set(configuration) <= shader.overrides
    given = set().union(*(set(c) for c in kernel.configurations.values()))
    tuned = {"THREADS"} if kernel.family else set()
    assert given | tuned == shader.overrides, "an override that no configuration sets"
    assert not given & tuned, "a configuration sets what tuning is to choose"
    values = [tuple(sorted(c.items())) for c in kernel.configurations.values()]
    assert len(values) == len(set(values)), "two configurations are the same"


CASTS = {f"{source}_{target}" for source in DType for target in DType if source is not target}
CASTS |= {"unorm8_f32", "f32_unorm8"}  # u8 as 0..1, for images only

HELD = {"4", "8", "16"}

# Configurations by the kernel's name or its first word; other kernels have one unnamed
# configuration.
CONFIGURATIONS = {
    "cached_attention": {"1", "8"},
    "cached_attention_int8": {"1", "8"},
    "attention_sums": {"1", "1 f16", "2", "2 f16"},
    "attention_query_gradients": {"1", "1 f16", "2", "2 f16"},
    "attention_key_gradients": {"1", "1 f16", "2", "2 f16"},
    "gemm": {
        f"{tile}{ending}"
        for tile in ("32", "64", "128")
        for ending in (  # and float16 operands
            *("", "_relu", "_gelu", "_silu", "_gelu_erf", " ab"),
            *(" b", "_relu b", "_gelu b", "_silu b", "_gelu_erf b"),
        )
    },
    "gemm_thin": {
        way + few + mixed
        for way in ("along", "across", "quads", "quads_wide")
        for few in ("", "_few")
        for mixed in ("", " mixed")  # float16 operands
    },
    "gemm_quads": {  # tiles, functions, and transposed operands
        f"{tile}{function}{transposed}"
        for transposed in ("", " nt", " tn", " tt")
        for tile in ("64", "128x64", "128")
        for function in ("", "_relu", "_gelu", "_silu", "_gelu_erf")
    },
    "gemm_sum": {"1", "8"},
    **{
        f"gemm_f16{kernel}": {"", "bias", "relu", "gelu", "silu", "gelu_erf", "wide"}
        for kernel in ("", "_tile")
    },
    "gemm_f16_matrix128": {"wide"}
    | {
        "_".join(filter(None, (end, more)))
        for end in ("", "bias", "relu", "gelu", "silu", "gelu_erf")
        for more in ("", "residual")
    },
    **{
        f"gemm_f16_matrix{rows}": {"wide"}
        | {
            "_".join(filter(None, (turned, end, more)))
            for turned in ("", "turned")
            for end in ("", "bias", "relu", "gelu", "silu", "gelu_erf")
            for more in ("", "residual")
        }
        for rows in (32, 64)
    },
    **{
        f"conv2d_matrix{rows}{uneven}": {
            "_".join(filter(None, parts))
            for parts in product(
                ("", "scale"),
                ("", "bias"),
                ("", "residual"),
                ("", "relu", "gelu", "silu", "gelu_erf"),
            )
        }
        for rows in (32, 64, 128)
        for uneven in ("", "_uneven", "_packed")
    },
    "gemm_f16_rows": {  # rows per workgroup
        f"{rows}{function}"
        for rows in ("1", "4")
        for function in ("", "_bias", "_relu", "_gelu", "_silu", "_gelu_erf", "_wide")
    },
    "split_largest": {"rows", "columns"},
    "split_halves": {"left", "right"},
    "conv2d": {  # tiles of filters × pixels
        f"{tile}{windows}{after}"
        for tile in ("64x64", "64x32", "32x32")
        for windows in ("", "_pointwise")
        for after in ("", " after")
    },
    "conv2d_depthwise": {"", "bias", "after"},
    "conv2d_depthwise_totals": {"", "bias", "after"},
    "conv2d_stream": {"", "vector", "after", "vector after"},
    "conv2d_sum": {"", "after"},
    "conv2d_window": {"8", "16", "8 after", "16 after"},
    "conv2d_window_large": {"64", "64_narrow", "64 after", "64_narrow after"},
    "attention": {"", "float", "bool"},
    "scan": {
        *("sum", "prod", "max", "min", "whole_sum", "whole_prod"),
        *("i32_max", "i32_min", "u32_max", "u32_min", "wide_sum", "wide_prod"),
    },
    **{family: {"f32", "i32", "u32"} for family in ("sort", "arg", "search")},
    "moments": {"", "variance"},
    "moments_statistics": {""},
    "moments_columns": {"", "variance", "aligned", "variance_aligned"},
    "softmax_rows": HELD,
    "softmax_rows_aligned": HELD,
    "layer_norm": HELD,
    "layer_norm_aligned": HELD,
    "layer_norm_halves": HELD,
    "layer_norm_sum": HELD,
    "layer_norm_sum_aligned": HELD,
    "cross_entropy": HELD,
    "cross_entropy_aligned": HELD,
    "cross_entropy_losses": HELD,
    "cross_entropy_losses_aligned": HELD,
    "cross_entropy_losses_halves": HELD,
    "pool": {"max", "mean", "mean_padded"},
    "pixel": {"grayscale", "threshold", "brightness", "contrast", "invert"},
    "stencil": {"sharpen", "sobel"},
    "blur": {"rows", "columns"},
    "cast": CASTS,
    **{
        family: {"real", "complex"}
        for family in ("matrix", "lu", "cholesky", "qr", "svd", "eigh", "turn", "pivots")
    },
    "philox": {"words", "uniform", "integers"},
    "normal": {"normal", "exponential"},
    **{
        kernel: set(FORMATS)
        for kernel in ("quantized_halves", "quantized_rows", "dequantize", "quantized_tile")
    },
    "excitation": {"", "mean", "product", "mean product"},
    # "plain" for a matrix that is float16 already
    **{f"quantized_matrix{rows}": {"", "plain"} for rows in (32, 64, 128)},
    # vectors, rows of a thread, threads that share rows
    "quantized_thin": {
        f"{name} {shares}"
        for name in INTEGERS
        for shares in ("1 4x32", "1 2x32", "1 2x64", "2 2x32", "4 1x16", "8 1x8")
    },
    "quantized_thin_floats": {
        f"{name} {shares}{end}"
        for name in FLOATS
        for shares in ("1 2x32", "1 2x64", "2 2x32", "4 2x32", "8 1x32")
        for end in ("", " unpacked")
        if name == "F16" or not end
    },
    "strided": {"3", "5", "8"},  # the maximum number of axes
}
PLAIN = {
    *("conv2d_depthwise_halves", "gemm_tiny", "pool_indices", "pool_gradient", "conv2d_filters"),
}


# Kernels with one configuration per variant.
OF_VARIANTS = {
    *("attention_matrix", "attention_tiled", "cached_attention_matrix", "cached_attention_tiled"),
}


def test_configurations_equal_the_variants() -> None:
    for name in OF_VARIANTS:
        used = [v for variants in VARIANTS.values() for v in variants if v.kernel == name]
        assert {variant.configuration for variant in used} == set(KERNELS[name].configurations)


def test_configurations_are_the_public_ops() -> None:
    for kernel in KERNELS.values():
        if kernel.name in OF_VARIANTS:
            continue
        family = "" if kernel.name in PLAIN else kernel.name.split("_")[0]
        expected = CONFIGURATIONS.get(kernel.name, CONFIGURATIONS.get(family, {""}))
        assert set(kernel.configurations) == expected, kernel.name


def _strings(node: ast.AST) -> Iterator[str]:
    """Yield a module's strings, except those in ``kernels=`` of the table's rows."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    for child in ast.iter_child_nodes(node):
        if not (isinstance(child, ast.keyword) and child.arg == "kernels"):
            yield from _strings(child)


def test_every_kernel_is_dispatched_by_the_package() -> None:
    package = REPOSITORY / "py" / "browsergpu"
    strings = {
        string
        for path in package.rglob("*.py")
        for string in _strings(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert set(KERNELS) <= strings


# The protocol's methods, with the names and the order of their arguments.
TRAIT = {
    "init": [],
    "alloc": ["bytes"],
    "free": ["ptr"],
    "copy_htod": ["dst", "src"],
    "copy_dtoh": ["dst", "src"],
    "synchronize": [],
    "gemm": [
        "trans_a",
        "trans_b",
        "m",
        "n",
        "k",
        "alpha",
        "a_ptr",
        "lda",
        "b_ptr",
        "ldb",
        "beta",
        "c_ptr",
        "ldc",
        "order",
    ],
    "batched_gemm": [
        "trans_a",
        "trans_b",
        "m",
        "n",
        "k",
        "alpha",
        "a_ptr",
        "lda",
        "stride_a",
        "b_ptr",
        "ldb",
        "stride_b",
        "beta",
        "c_ptr",
        "ldc",
        "stride_c",
        "batch_count",
        "order",
    ],
    "gemm_f16": ["m", "n", "k", "alpha", "a_ptr", "b_ptr", "beta", "c_ptr"],
    "conv2d_forward": [
        "input_ptr",
        "input_shape",
        "filter_ptr",
        "filter_shape",
        "output_ptr",
        "output_shape",
        "stride",
        "padding",
    ],
    "attention": [
        "q_ptr",
        "k_ptr",
        "v_ptr",
        "o_ptr",
        "batch",
        "heads",
        "seq_q",
        "seq_kv",
        "head_dim",
        "scale",
        "causal",
    ],
    "reduce": ["op", "input_ptr", "output_ptr", "shape", "axis"],
    "unary": ["op", "input_ptr", "output_ptr", "n"],
    "binary": ["op", "a_ptr", "b_ptr", "output_ptr", "n"],
}
TWINS = ("init", "copy_dtoh", "synchronize")
# Keyword arguments beyond the protocol.
OPTIONS = {"alloc": ["keep", "label"], "synchronize": ["timeout"]}
# Public members beyond the protocol.
OTHERS = {
    "device", "init_from_canvas", "close", "recover", "with_retry", "buffer_bytes", "draw", "ready",
}  # fmt: skip


@pytest.mark.parametrize("name", TRAIT)
def test_methods_are_the_traits(name: str) -> None:
    import inspect

    names = [name, f"{name}_async"] if name in TWINS else [name]
    for each in names:
        method = getattr(WasmBackend, each)
        parameters = list(inspect.signature(method).parameters.values())
        options = OPTIONS.get(name, [])
        assert [p.name for p in parameters] == ["self", *TRAIT[name], *options]
        more = parameters[len(TRAIT[name]) + 1 :]
        assert all(p.kind is p.KEYWORD_ONLY and p.default is not p.empty for p in more)
        assert inspect.iscoroutinefunction(method) == each.endswith("_async")
        assert method.__doc__
    if "order" in TRAIT[name]:
        order = inspect.signature(getattr(WasmBackend, name)).parameters["order"]
        assert (order.kind, order.default) == (order.KEYWORD_ONLY, "C")


def test_the_backend_has_no_more() -> None:
    trait = {*TRAIT, *(f"{name}_async" for name in TWINS), "name", "is_initialized"}
    assert {name for name in dir(WasmBackend) if not name.startswith("_")} == trait | OTHERS


def test_compute_backend_is_the_backends_type_and_cannot_be_made() -> None:
    assert isinstance(WasmBackend(), ComputeBackend)
    assert [name for name in dir(ComputeBackend) if not name.startswith("_")] == []
    with pytest.raises(TypeError, match="Create a WasmBackend"):
        ComputeBackend()
