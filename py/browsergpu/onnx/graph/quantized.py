"""Weights of MatMulNBits in the blocks of 32 values that kernels dequantize as they read them.

The blocks are GGUF's: Q4_0 and Q8_0 for symmetric weights, Q5_0 for weights of 4 bits with zero
points, whose differences need 5 bits. They are chosen only if they keep every value exactly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from browsergpu.engine.core.showing import Shown
from browsergpu.onnx.graph.types import DTYPES
from browsergpu.onnx.wire import messages

_BLOCK = 32
#: The smallest float16 that processors never flush to zero.
_LEAST = np.float32(2.0**-14)


@dataclass(frozen=True, slots=True, repr=False)
class Quantized(Shown):
    """A matrix of blocks.

    Attributes
    ----------
    shape : tuple of int
        Rows and columns.
    format : str
        GGUF's name.
    """

    shape: tuple[int, int]
    format: str

    def _facts(self) -> str:
        return f"{self.format} {self.shape}"


def quantizable(
    nodes: Sequence[messages.Node], kept: Mapping[str, messages.Tensor], others: Sequence[str]
) -> dict[str, messages.Node]:
    """Return nodes by the name of their matrix, which is an initializer as its scales are.

    Nothing else uses these initializers. ``others`` are names that are used elsewhere.
    """
    used = Counter(name for node in nodes for name in node.input)
    used.update(others)
    found = {}
    for node in nodes:
        if node.op_type != "MatMulNBits" or node.domain != "com.microsoft":
            continue
        names = [name for name in node.input[1:4] if name]
        is_ours = len(node.input) >= 3 and all(
            used[name] == 1 and name in kept and kept[name].data_type in DTYPES for name in names
        )
        is_grouped = len(node.input) > 4 and bool(node.input[4])
        is_plain = not any(one.ref_attr_name for one in node.attribute)
        if is_ours and is_plain and not is_grouped:
            found[node.input[1]] = node
    return found


def packed(
    node: messages.Node, matrix: np.ndarray, scales: np.ndarray, zeros: np.ndarray | None
) -> tuple[np.ndarray, Quantized] | None:
    """Return the words of the blocks of a node's matrix, or None if they would differ."""
    given = {one.name: one.i for one in node.attribute}
    rows, columns = given.get("N", 0), given.get("K", 0)
    bits, size = given.get("bits", 4), given.get("block_size", 0)
    if rows < 1 or columns < 1 or columns % _BLOCK or size < _BLOCK or size % _BLOCK:
        return None
    count = -(-columns // size)
    is_known = bits in (4, 8) and not given.get("weight_prepacked", 0)
    if not is_known or matrix.dtype != np.uint8 or matrix.size != rows * count * size * bits // 8:
        return None
    if scales.dtype.kind != "f" or scales.size != rows * count:
        return None
    factors = scales.astype(np.float32).reshape(rows, count)
    with np.errstate(over="ignore"):
        half = factors.astype(np.float16)
    if not (
        (half.astype(np.float32) == factors) & ((factors == 0) | (abs(factors) >= _LEAST))
    ).all():
        return None
    values = _numbers(matrix.reshape(rows, -1), bits)[:, :columns]
    middle = 1 << (bits - 1)
    if zeros is None:
        offsets = np.full((rows, count), middle, np.uint8)
    elif zeros.dtype == np.uint8 and zeros.size == rows * -(-count * bits // 8):
        offsets = _numbers(zeros.reshape(rows, -1), bits)[:, :count]
    else:
        return None
    spread = np.repeat(offsets, size, 1)[:, :columns]
    blocks = np.repeat(half, size // _BLOCK, 1)[:, : columns // _BLOCK]
    signed = (values.astype(np.int16) - spread).reshape(rows, -1, _BLOCK)
    found = _blocks(signed, blocks.astype("<f2"), bits)
    if found is None:
        return None
    format, data = found
    if data.size % 4:
        data = np.concatenate([data, np.zeros(-data.size % 4, np.uint8)])
    return data.view("<u4"), Quantized((rows, columns), format)


def _numbers(x: np.ndarray, bits: int) -> np.ndarray:
    """Return numbers of 4 bits, the low one of each byte first, or those of 8 bits."""
    return x if bits == 8 else np.stack([x & 15, x >> 4], -1).reshape(len(x), -1)


def _blocks(values: np.ndarray, scales: np.ndarray, bits: int) -> tuple[str, np.ndarray] | None:
    factors = scales[..., None].view(np.uint8)
    least, most = int(values.min()), int(values.max())
    if bits == 8:
        if least < -128 or most > 127:
            return None
        parts = [factors, values.astype(np.int8).view(np.uint8)]
        return "Q8_0", np.concatenate(parts, -1).reshape(-1)
    is_narrow = least >= -8 and most < 8
    shifted = (values + (8 if is_narrow else 16)).astype(np.uint8)
    half = _BLOCK // 2
    low = shifted & 15
    nibbles = low[..., :half] | low[..., half:] << 4
    if is_narrow:
        return "Q4_0", np.concatenate([factors, nibbles], -1).reshape(-1)
    high = np.packbits(shifted >> 4, -1, bitorder="little")
    return "Q5_0", np.concatenate([factors, high, nibbles], -1).reshape(-1)
