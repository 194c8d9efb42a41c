"""Decoders as ONNX files in the form of onnxruntime-genai's exports, with weights beside the file.

The pages make random weights. Matrices are float16, or have blocks of 32 numbers in 4 bits
(MatMulNBits). Attention is GroupQueryAttention with rotation, and keys and values have a fixed
capacity. The result is the largest logit's token after the last given one.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from typing import Any, NamedTuple

from suite import onnx


class Shape(NamedTuple):
    """Sizes of a decoder."""

    layers: int
    width: int
    inner: int
    heads: int
    kv_heads: int
    head: int
    vocabulary: int
    norms: bool  # of queries and keys


SHAPES = {
    "llama-1b": Shape(16, 2048, 8192, 32, 8, 64, 128256, False),
    "qwen3-0.6b": Shape(28, 1024, 3072, 16, 8, 128, 151936, True),
    "smollm2": Shape(30, 576, 1536, 9, 3, 64, 49152, False),
    "tiny": Shape(2, 256, 512, 4, 2, 64, 1000, False),
}
_MICROSOFT = "com.microsoft"


class _Decoder:
    def __init__(self, shape: Shape, dtype: str, is_int4: bool, capacity: int) -> None:
        self.shape, self.dtype, self.is_int4, self.capacity = shape, dtype, is_int4, capacity
        self.nodes: list[bytes] = []
        self.constants: list[bytes] = []
        #: Type and elements of each weight.
        self.weights: dict[str, tuple[str, int]] = {}

    def node(self, op: str, inputs: Sequence[str], domain: str = "", **attributes: Any) -> str:
        out = f"v{len(self.nodes)}"
        self.nodes.append(onnx.node(op, inputs, out, domain, **attributes))
        return out

    def weight(self, dtype: str, *shape: int) -> str:
        name, count = f"w{len(self.weights)}", 1
        for extent in shape:
            count *= extent
        self.constants.append(onnx.constant(name, dtype, shape, None))
        self.weights[name] = dtype, count
        return name

    def integers(self, name: str, shape: Sequence[int], *numbers: int) -> str:
        self.constants.append(onnx.constant(name, "i64", shape, onnx.int64(*numbers)))
        return name

    def linear(self, x: str, inner: int, outer: int) -> str:
        if not self.is_int4:
            return self.node("MatMul", [x, self.weight(self.dtype, inner, outer)])
        blocks = inner // 32
        numbers = self.weight("u8", outer, blocks, 16)
        scales = self.weight(self.dtype, outer * blocks)
        sizes = {"K": inner, "N": outer, "bits": 4, "block_size": 32, "accuracy_level": 4}
        return self.node("MatMulNBits", [x, numbers, scales], _MICROSOFT, **sizes)

    def norm(self, x: str, width: int) -> str:
        weight = self.weight(self.dtype, width)
        own = {"axis": -1, "epsilon": 1e-5, "stash_type": 1}
        return self.node("SimplifiedLayerNormalization", [x, weight], **own)

    def add_norm(self, x: str, y: str, width: int) -> tuple[str, str]:
        """Return the normalized sum and the sum."""
        out = f"v{len(self.nodes)}"
        inputs = [x, y, self.weight(self.dtype, width)]
        outputs = [out, "", "", f"{out}sum"]
        self.nodes.append(
            onnx.node("SkipSimplifiedLayerNormalization", inputs, outputs, _MICROSOFT, epsilon=1e-5)
        )
        return out, f"{out}sum"

    def head_norm(self, x: str, heads: int) -> str:
        s = self.shape
        shaped = self.node("Reshape", [x, f"heads{heads}"])
        return self.node("Reshape", [self.norm(shaped, s.head), f"flat{heads}"])

    def attention(self, x: str, layer: int, turns: Sequence[str]) -> str:
        s = self.shape
        q = self.linear(x, s.width, s.heads * s.head)
        k, v = (self.linear(x, s.width, s.kv_heads * s.head) for _ in range(2))
        if s.norms:
            q, k = self.head_norm(q, s.heads), self.head_norm(k, s.kv_heads)
        past = [f"past_key_{layer}", f"past_value_{layer}"]
        out = f"v{len(self.nodes)}"
        outs = [out, f"present_key_{layer}", f"present_value_{layer}"]
        own = {"num_heads": s.heads, "kv_num_heads": s.kv_heads, "do_rotary": 1}
        inputs = [q, k, v, *past, "before", "total", *turns]
        self.nodes.append(onnx.node("GroupQueryAttention", inputs, outs, _MICROSOFT, **own))
        return self.linear(out, s.heads * s.head, s.width)

    def file(self) -> bytes:
        s = self.shape
        if s.norms:
            for heads in {s.heads, s.kv_heads}:
                self.integers(f"heads{heads}", (4,), 1, -1, heads, s.head)
                self.integers(f"flat{heads}", (3,), 1, -1, heads * s.head)
        turns = [self.weight(self.dtype, self.capacity, s.head // 2) for _ in range(2)]
        table = self.weight(self.dtype, s.vocabulary, s.width)
        x = self.node("Gather", [table, "tokens"])
        y = self.norm(x, s.width)
        for layer in range(s.layers):
            y, x = self.add_norm(x, self.attention(y, layer, turns), s.width)
            gate, up = (self.linear(y, s.width, s.inner) for _ in range(2))
            silu = self.node("Mul", [gate, self.node("Sigmoid", [gate])])
            down = self.linear(self.node("Mul", [silu, up]), s.inner, s.width)
            y, x = self.add_norm(x, down, s.width)
        last = self.node("Gather", [y, self.integers("last", (1,), -1)], axis=1)
        logits = self.linear(last, s.width, s.vocabulary)
        flat = self.node("Reshape", [logits, self.integers("row", (2,), 1, -1)])
        token = self.node("ArgMax", [flat], axis=-1, keepdims=1)
        self.nodes.append(onnx.node("Identity", [token], "token"))
        cache = 1, s.kv_heads, self.capacity, s.head
        names = [f"{part}_{n}" for n in range(s.layers) for part in ("key", "value")]
        inputs = [
            onnx.value("tokens", "i64", (1, "S")), onnx.value("before", "i32", (1,)),
            onnx.value("total", "i32", (1,)),
            *(onnx.value(f"past_{name}", self.dtype, cache) for name in names),
        ]  # fmt: skip
        outputs = [
            onnx.value("token", "i64", (1, 1)),
            *(onnx.value(f"present_{name}", self.dtype, cache) for name in names),
        ]
        return onnx.model(self.nodes, self.constants, inputs, outputs)


def decoder(shape: str, dtype: str, is_int4: bool, capacity: int) -> dict[str, Any]:
    """Return the file in base64, its weights, and the sizes that a page needs."""
    own = _Decoder(SHAPES[shape], dtype, is_int4, capacity)
    file = own.file()
    return {
        "id": f"{shape} {'int4' if is_int4 else dtype}", "model": b64encode(file).decode(),
        "weights": [[name, *facts] for name, facts in own.weights.items()], "dtype": dtype,
        "layers": own.shape.layers, "vocabulary": own.shape.vocabulary,
        "cache": [1, own.shape.kv_heads, capacity, own.shape.head],
    }  # fmt: skip


#: Shape, type, and whether matrices have 4 bits.
_WANTED = (
    ("llama-1b", "f16", True), ("llama-1b", "f16", False), ("qwen3-0.6b", "f16", True),
    ("smollm2", "f16", True), ("tiny", "f32", True), ("tiny", "f32", False),
)  # fmt: skip


def decoders(capacity: int = 1024) -> list[dict[str, Any]]:
    """Return all decoders for the page."""
    return [decoder(*each, capacity) for each in _WANTED]
