"""What each kernel's work amounts to: floating-point operations, and bytes it must move.

Bytes count every operand once, as if caches were perfect; reads of the output where it is updated
are counted too. Kernels that are not listed are small helpers, or the user's: their work is not
known and counts as nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod

Fields = Mapping[str, float]
Work = tuple[float, float]  # operations, bytes


def _elements(reads: int, operations: int) -> Callable[[Fields], Work]:
    return lambda f: (operations * f["n"], 4 * (reads + 1) * f["n"])


def _inputs(f: Fields) -> float:
    return f["outer"] * f["length"] * f["inner"]


def _outputs(f: Fields) -> float:
    return f["outer"] * f["chunks"] * f["inner"]


def _reduce(f: Fields) -> Work:
    return _inputs(f), 4 * (_inputs(f) + _outputs(f))


def _gemm(f: Fields, of_a: int = 4, of_b: int = 8) -> Work:
    m, n, k = f["m"], f["n"], min(f["k"], f.get("chunk", f["k"]))  # of a piece
    outputs = m * n * (2 if f["beta"] else 1)
    added = int(f.get("added", 0))  # tells by two bits which operands are of float16
    a, b = (2 if added & bit else 4 for bit in (of_a, of_b))
    return 2 * m * n * k, a * m * k + b * k * n + 4 * outputs


def _gemm_thin(f: Fields) -> Work:
    names = {"m": "lines", "n": "vectors", "k": "k", "beta": "beta", "added": "added"}
    return _gemm({name: f[field] for name, field in names.items()}, 8, 16)


def _gemm_tiny(f: Fields) -> Work:
    operations, nbytes = _gemm(f)
    count = f["total"] / (f["m"] * f["n"])
    return operations * count, nbytes * count


def _gemm_sum(f: Fields) -> Work:
    outputs = f["m"] * f["n"]
    return outputs * f["pieces"], 4 * outputs * (f["pieces"] + (2 if f["beta"] else 1))


def _gemm_f16(f: Fields) -> Work:
    operations, nbytes = _gemm(f)
    return operations, nbytes / 2


def _conv2d(f: Fields) -> Work:
    # Channels and filters are those of one group, and a layer of z is a part of the sum of one
    # group of one image.
    window = f["kernel_h"] * f["kernel_w"]
    steps = min(f["chunk"], f["channels"] * window)
    pixels = _extent(f, "height", "h") * _extent(f, "width", "w")
    return _part_of_conv2d(f, pixels, steps, steps / window)


def _extent(f: Fields, size: str, axis: str) -> float:
    reach = f[f"dilation_{axis}"] * (f[f"kernel_{axis}"] - 1) + 1
    return (f[size] + 2 * f[f"pad_{axis}"] - reach) // f[f"stride_{axis}"] + 1


def _conv2d_window(f: Fields) -> Work:
    channels = min(f["chunk"], f["channels"])
    return _part_of_conv2d(f, f["out_h"] * f["out_w"], 9 * channels, channels)


def _conv2d_stream(f: Fields) -> Work:
    return _part_of_conv2d(f, f["out_h"] * f["out_w"], f["channels"], f["channels"])


def _part_of_conv2d(f: Fields, pixels: float, steps: float, channels: float) -> Work:
    outputs = f["filters"] * pixels
    inputs = channels * f["height"] * f["width"]
    return 2 * outputs * steps, 4 * (inputs + f["filters"] * steps + outputs)


def _conv2d_depthwise(f: Fields) -> Work:
    window = f["kernel_h"] * f["kernel_w"]
    planes = f["n"] / (-(-f["out_h"] // 4) * f["out_w"])
    inputs = planes / f["filters"] * f["height"] * f["width"]
    outputs = planes * f["out_h"] * f["out_w"]
    return 2 * outputs * window, 4 * (inputs + f["all_filters"] * window + outputs)


def _attention(f: Fields) -> Work:
    pairs = f["seq_q"] * f["seq_kv"]
    if f["causal"]:  # query i sees the first i + 1 keys
        short = min(f["seq_q"], f["seq_kv"])
        pairs = short * (short + 1) / 2 + (f["seq_q"] - short) * f["seq_kv"]
    return 4 * pairs * f["head_dim"], 8 * (f["seq_q"] + f["seq_kv"]) * f["head_dim"]


def _attention_f16(f: Fields) -> Work:
    operations, nbytes = _attention(f)
    return operations, nbytes / 2


def _rows(operations: int, reads: int) -> Callable[[Fields], Work]:
    def work(f: Fields) -> Work:
        rows = f.get("rows", f.get("outer", 1)) * f.get("inner", 1)
        n = rows * f.get("length", f.get("classes", 1))
        return operations * n, 4 * (reads + 1) * n

    return work


def _layer_norm(f: Fields) -> Work:
    n = f["rows"] * f["length"]
    return (8 + f["residual"]) * n, 4 * (2 + f["residual"]) * n


def _layer_norm_and_sum(f: Fields) -> Work:
    operations, nbytes = _layer_norm(f)
    return operations, nbytes + 4 * f["rows"] * f["length"]


def _broadcast(f: Fields) -> Work:
    return f["n"], 4 * (_read(f, "a") + _read(f, "b") + f["n"])


def _read(f: Fields, operand: str) -> float:
    """Elements of an operand that is broadcast."""
    extents = [f[f"extent{i}"] for i in range(1, 5)]
    extents.insert(0, f["n"] / prod(extents))
    return prod(extent for i, extent in enumerate(extents) if f[f"{operand}{i}"])


def _halves(operations: int) -> Callable[[Fields], Work]:
    """One array to another, either of float16 where the bits of "halves" say so."""

    def work(f: Fields) -> Work:
        halves = int(f["halves"]).bit_count()
        return operations * f["n"], (8 - 2 * halves) * f["n"]

    return work


def _mixed(f: Fields) -> Work:
    operations, nbytes = _broadcast(f)
    kinds = int(f["kinds"])
    a, b = (_read(f, operand) for operand in ("a", "b"))
    spared = a * bool(kinds & 1) + b * bool(kinds & 2) + f["n"] * bool(kinds & 4)
    return operations, nbytes - 2 * spared


def _mixed_in_place(f: Fields) -> Work:
    kinds = int(f["kinds"])
    own, other = 2 if kinds & 4 else 4, 2 if kinds & 2 else 4
    return f["n"], (2 * own + other) * f["n"]


def _moments(f: Fields) -> Work:
    return 8 * _inputs(f), 4 * (_inputs(f) + 4 * _outputs(f))


def _pool(outputs: int) -> Callable[[Fields], Work]:
    def work(f: Fields) -> Work:
        planes = f["n"] / (f["out_h"] * f["out_w"])
        inputs = planes * f["height"] * f["width"]
        return f["n"] * f["kernel_h"] * f["kernel_w"], 4 * (inputs + outputs * f["n"])

    return work


#: Kernel → its work, from its parameters. Batched kernels: the work of one layer of z.
COSTS: Mapping[str, Callable[[Fields], Work]] = {
    "unary": _elements(1, 1),
    "unary_in_place": _elements(1, 1),
    "unary_halves": _halves(1),
    "unary_halves_in_place": _halves(1),
    "scalar": _halves(1),
    "scalar_in_place": _halves(1),
    "mixed": _mixed,
    "mixed_in_place": _mixed_in_place,
    "binary": _elements(2, 1),
    "binary_in_place_a": _elements(2, 1),
    "binary_in_place_b": _elements(2, 1),
    "binary_in_place_both": _elements(1, 1),
    "broadcast": _broadcast,
    "broadcast_vectors": _broadcast,
    "strided": _elements(1, 0),
    "strided_vectors": lambda f: (0, 32 * f["n"]),
    "transpose": lambda f: (0, 8 * f["rows"] * f["columns"]),
    "reduce_rows": _reduce,
    "reduce_columns": _reduce,
    "moments_rows": _moments,
    "moments_columns": _moments,
    "moments_merge": lambda f: (8 * _inputs(f), 16 * (_inputs(f) + _outputs(f))),
    "gemm": _gemm,
    "gemm_thin": _gemm_thin,
    "gemm_tiny": _gemm_tiny,
    "gemm_sum": _gemm_sum,
    "gemm_f16": _gemm_f16,
    "gemm_f16_rows": _gemm_f16,
    "gemm_f16_tile": _gemm_f16,
    "gemm_f16_matrix32": _gemm_f16,
    "gemm_f16_matrix64": _gemm_f16,
    "gemm_f16_matrix128": _gemm_f16,
    "repitch": lambda f: (0, 2 * f["rows"] * (f["x_pitch"] + f["y_pitch"])),
    "conv2d": _conv2d,
    "conv2d_window": _conv2d_window,
    "conv2d_stream": _conv2d_stream,
    "conv2d_sum": lambda f: (f["parts"] * f["n"], 4 * (f["parts"] + 1) * f["n"]),
    "conv2d_depthwise": _conv2d_depthwise,
    "attention": _attention,
    "attention_tiled": _attention,  # as if of float32
    "attention_matrix": _attention_f16,
    "softmax_rows": _rows(5, 1),
    "softmax_rows_aligned": _rows(5, 1),
    "softmax_columns": _rows(5, 1),
    "softmax_parts": _rows(3, 0),
    "softmax_apply": _rows(3, 1),
    "layer_norm": _layer_norm,
    "layer_norm_aligned": _layer_norm,
    "layer_norm_sum": _layer_norm_and_sum,
    "layer_norm_sum_aligned": _layer_norm_and_sum,
    "layer_norm_long": _rows(4, 1),
    "cross_entropy": _rows(5, 1),
    "cross_entropy_aligned": _rows(5, 1),
    "batch_norm": _elements(1, 4),
    "pool": _pool(1),
    "pool_indices": _pool(2),
    "adam": lambda f: (12 * f["n"], 28 * f["n"]),
}


def work_of(kernel: str, parameters: Fields, layers: float) -> Work:
    """Operations and bytes of one dispatch; (0, 0) where they are not known."""
    cost = COSTS.get(kernel)
    if cost is None:
        return 0.0, 0.0
    operations, nbytes = cost(parameters)
    return operations * layers, nbytes * layers
