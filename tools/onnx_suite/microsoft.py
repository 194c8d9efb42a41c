"""Operators of com.microsoft beside onnxruntime on the host, each as a model of one node.

``python -m onnx_suite.microsoft [--report FILE]`` prints differences. FILE gets the types of the
comparisons that pass, as JSON.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

import browsergpu as bg

_RNG = np.random.default_rng(1)
_TYPES = {"float32": 1, "uint8": 2, "int8": 3, "int32": 6, "int64": 7}
failed: list[str] = []
#: Types of inputs and outputs by operator.
passed: dict[str, set[str]] = {}


def f(*shape: int) -> np.ndarray:
    """Return normal random numbers."""
    return _RNG.standard_normal(shape, dtype=np.float32)


def u(*shape: int) -> np.ndarray:
    """Return random bytes."""
    return _RNG.integers(0, 256, shape).astype(np.uint8)


def i8(*shape: int) -> np.ndarray:
    """Return random signed bytes."""
    return _RNG.integers(-128, 128, shape).astype(np.int8)


def check(
    kind: str, inputs: list[Any], outputs: set[int] | None = None, tolerance: float = 1e-4,
    domain: str = "com.microsoft", **attributes: Any,
) -> None:  # fmt: skip
    """Compare the outputs of an operator, relative to the largest number."""
    import onnxruntime
    from onnx import helper

    wanted = {0} if outputs is None else outputs
    names = [f"x{at}" if x is not None else "" for at, x in enumerate(inputs)]
    results = [f"y{at}" if at in wanted else "" for at in range(max(wanted) + 1)]
    given = {name: x for name, x in zip(names, inputs, strict=True) if name}
    values = [
        helper.make_tensor_value_info(name, _TYPES[x.dtype.name], x.shape)
        for name, x in given.items()
    ]
    node = helper.make_node(kind, names, results, domain=domain, **attributes)
    ends = [helper.make_empty_tensor_value_info(name) for name in results if name]
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    graph = helper.make_graph([node], "graph", values, ends)
    model = helper.make_model(graph, opset_imports=opsets, ir_version=9).SerializeToString()
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    expected = session.run(None, given)
    found = bg.onnx.load(model)(*given.values())
    worst = 0.0
    for got, want in zip(found if isinstance(found, tuple) else (found,), expected, strict=True):
        assert got.shape == want.shape, f"{kind}: {got.shape} instead of {want.shape}"
        scale = max(float(np.abs(want.astype(float)).max(initial=0)), 1)
        away = np.abs(got.numpy().astype(float) - want.astype(float)).max(initial=0)
        worst = max(worst, float(away) / scale)
    told = ", ".join(f"{key}={x}" for key, x in attributes.items())
    print(f"{kind} ({told}): {worst:.1e}", flush=True)
    if worst > tolerance:
        failed.append(kind)
    elif domain:
        arrays = (*given.values(), *expected)
        passed.setdefault(kind, set()).update(str(x.dtype) for x in arrays)


def scalar(number: float) -> np.ndarray:
    """Return an array of a float."""
    return np.array(number, np.float32)


def byte(number: int) -> np.ndarray:
    """Return an array of a byte."""
    return np.array(number, np.uint8)


def fused() -> None:
    """Compare normalizations and activations."""
    x, skip = f(2, 5, 16), f(2, 5, 16)
    five = [x, skip, f(16), f(16), f(16)]
    check("SkipLayerNormalization", five, {0, 3}, epsilon=1e-5)
    check("SkipSimplifiedLayerNormalization", [x, skip, f(16)], {0, 3}, epsilon=1e-5)
    check("SimplifiedLayerNormalization", [x, f(16)], domain="", axis=-1, epsilon=1e-5)
    check("BiasGelu", [x, f(16)])
    check("FastGelu", [x, f(16)], tolerance=1e-3)
    check("QuickGelu", [x])
    check("Gelu", [x])
    check("FusedMatMul", [f(2, 3, 4), f(2, 5, 4)], alpha=0.5, transB=1)
    image = [f(1, 3, 6, 6), f(4, 3, 3, 3), f(4)]
    check("FusedConv", image, activation="Relu", pads=[1, 1, 1, 1])
    ids = _RNG.integers(0, 9, (2, 5)).astype(np.int32)
    kinds = _RNG.integers(0, 2, (2, 5)).astype(np.int32)
    tables = [ids, kinds, f(9, 16), f(8, 16), f(2, 16), f(16), f(16), np.ones((2, 5), np.int32)]
    check("EmbedLayerNormalization", tables, {0, 1}, epsilon=1e-6)


def few_bits() -> None:
    """Compare weights of 4 and 8 bits."""
    for bits, block, k in ((4, 16, 48), (4, 32, 40), (8, 32, 64)):
        n, blocks = 12, -(-k // block)
        own: dict[str, Any] = {"K": k, "N": n, "bits": bits, "block_size": block}
        b, scales = u(n, blocks, block * bits // 8), f(n * blocks)
        check("MatMulNBits", [f(3, k), b, scales], **own)
        zeros = u(n * -(-blocks * bits // 8))
        check("MatMulNBits", [f(2, 3, k), b, scales, zeros], **own)
    data, places, scales = u(7, 16), np.array([[1, 6], [0, 3]]), f(7, 2)
    places_of: dict[str, Any] = {"bits": 4, "block_size": 16, "gather_axis": 0, "quantize_axis": 1}
    check("GatherBlockQuantized", [data, places, scales], **places_of)
    check("GatherBlockQuantized", [data, places, scales, u(7, 1)], **places_of)


def attention() -> None:
    """Compare attention, its masks and caches."""
    b, s, n, h = 2, 5, 4, 16
    d = n * h
    q, k, v = f(b, s, d), f(b, s, d), f(b, s, d)
    mask = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], np.int32)
    name = "MultiHeadAttention"
    check(name, [q, k, v], num_heads=n)
    check(name, [q, k, v, f(3 * d)], num_heads=n)
    check(name, [q, k, v, None, mask], num_heads=n, mask_filter_value=-1e9)
    check(name, [q, k, v, None, None, f(1, n, s, s)], num_heads=n)
    past = [f(b, n, 3, h), f(b, n, 3, h)]
    check(name, [q, k, v, None, None, None, *past], {0, 1, 2}, num_heads=n)
    check(name, [q, k, v], num_heads=n, unidirectional=1)
    check(name, [f(b, 3, d), f(b, n, 6, h), f(b, n, 6, h)], num_heads=n)
    x, w, bias = f(b, s, d), f(d, 3 * d), f(3 * d)
    check("Attention", [x, w, bias], num_heads=n)
    check("Attention", [x, w, bias, mask], num_heads=n, mask_filter_value=-1e9)
    check("Attention", [x, w, bias, None, f(2, b, n, 3, h)], {0, 1}, num_heads=n, unidirectional=1)
    cos, sin = f(16, h // 2), f(16, h // 2)
    check("RotaryEmbedding", [q, np.array([3]), cos, sin], num_heads=n)
    ids = _RNG.integers(0, 16, (b, s))
    check("RotaryEmbedding", [f(b, n, s, h), ids, cos, sin], interleaved=1)
    for batch, length, before, options in (
        (2, 5, 0, {}), (1, 5, 0, {"do_rotary": 1}), (1, 1, 6, {"do_rotary": 1}), (2, 1, 6, {}),
        (1, 1, 6, {"local_window_size": 3}), (1, 5, 0, {"softcap": 3.0}),
    ):  # fmt: skip
        total = length + before
        shared = [f(batch, 2, before, h), f(batch, 2, before, h)]
        own = [f(batch, length, d), f(batch, length, 2 * h), f(batch, length, 2 * h), *shared,
               np.full(batch, total - 1, np.int32), np.array(total, np.int32)]  # fmt: skip
        own += [cos, sin] if "do_rotary" in options else []
        check("GroupQueryAttention", own, {0, 1, 2}, num_heads=n, kv_num_heads=2, **options)


def quantised() -> None:
    """Compare arithmetic of quantised arrays, whose results may differ by one step."""
    step = 1 / 128
    for name in ("QLinearAdd", "QLinearMul"):
        own = [u(3, 4), scalar(0.02), byte(7), u(3, 4), scalar(0.03), byte(9)]
        check(name, [*own, scalar(0.05), byte(3)], tolerance=step)
    one = [u(3, 4), scalar(0.02), byte(120)]
    check("QLinearSigmoid", [*one, scalar(1 / 255), byte(0)], tolerance=step)
    check("QLinearLeakyRelu", [*one, scalar(0.02), byte(50)], tolerance=step, alpha=0.1)
    check("QLinearSoftmax", [*one, scalar(1 / 256), byte(0)], tolerance=step, axis=-1, opset=13)
    parts = [u(2, 3), scalar(0.02), byte(120), u(2, 3), scalar(0.03), byte(20)]
    check("QLinearConcat", [scalar(0.05), byte(3), *parts], tolerance=step, axis=1)
    image = [u(1, 3, 4, 4), scalar(0.02), byte(120), scalar(0.02), byte(50)]
    check("QLinearGlobalAveragePool", image, tolerance=step)
    check("QLinearAveragePool", image, tolerance=step, kernel_shape=[2, 2])
    b, scale, zero = i8(8, 4), np.array([0.01], np.float32), np.array([3], np.int8)
    check("DynamicQuantizeMatMul", [f(3, 8), b, scale, zero, f(4)], tolerance=1e-3)
    check("MatMulIntegerToFloat", [u(3, 8), b, scale, scale, np.array([3], np.uint8), zero, f(4)])
    bias = _RNG.integers(-99, 99, 4).astype(np.int32)
    own = [u(3, 8), scalar(0.02), byte(120), b, scalar(0.02), np.array(0, np.int8), bias]
    check("QGemm", [*own, scalar(0.3), byte(100)], tolerance=step)


def main() -> int:
    """Run all comparisons. Returns the number of failed ones."""
    bg.set_fallback("error")  # nothing is computed by NumPy on the host
    for group in (fused, few_bits, attention, quantised):
        group()
    if failed:
        print(f"failed: {', '.join(failed)}")
    if sys.argv[1:2] == ["--report"]:
        types = {f"com.microsoft.{kind}": sorted(found) for kind, found in passed.items()}
        Path(sys.argv[2]).write_text(json.dumps(types), encoding="utf-8")
    return len(failed)


if __name__ == "__main__":
    sys.exit(min(main(), 1))
