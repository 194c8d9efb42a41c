"""Tensors of GGUF files on the GPU."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from inside.llm.blocks import blocks

pytestmark = [pytest.mark.native, pytest.mark.fast]


def test_tensors_of_gguf(bg: Any) -> None:
    half = np.arange(24, dtype=np.float16).reshape(2, 12) / 8
    odd = np.arange(6, dtype=np.float16).reshape(2, 3)
    weight = bg.llm.QuantizedArray(blocks("Q4_0", 3, 64), (3, 64), "Q4_0")
    file = io.BytesIO()
    tensors = {
        "norm": np.ones(3, np.float32), "half": half, "odd": odd, "weight": weight,
        "count": np.array([1, -2], np.int32), "double": np.array([0.5, 2.0]),
    }  # fmt: skip
    bg.llm.save_gguf(file, tensors, {"general.architecture": "llama"})
    found = bg.llm.GGUF(file.getvalue())
    assert list(found) == list(tensors)
    assert found["weight"].format == "Q4_0"
    assert found["weight"].tobytes() == weight.tobytes()
    assert found["half"].format == "F16"
    assert np.array_equal(np.asarray(found["half"].dequantize()), half)
    assert found["odd"].dtype == np.float32
    assert np.array_equal(np.asarray(found["odd"]), odd)
    assert found["count"].tolist() == [1, -2]
    assert found["double"].tolist() == [0.5, 2.0]
    with pytest.raises(KeyError):
        found["none"]


def test_a_path_is_read_in_parts(bg: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a page, where mapping would copy the file: uploads in pieces, in several buffers."""
    from browsergpu.functions.interchange import uploads
    from browsergpu.functions.interchange.file_parts import FileParts

    monkeypatch.setattr(uploads, "_PIECE", 64)
    plain = np.arange(99, dtype=np.float32).reshape(9, 11)
    data = blocks("Q4_0", 5, 96)  # 270 bytes, which are not whole words
    own = bg.llm.QuantizedArray(data, (5, 96), "Q4_0")
    path = tmp_path / "tensors.gguf"
    tensors = {"plain": plain, "own": own, "half": np.ones((2, 3), np.float16)}
    bg.llm.save_gguf(path, tensors, {"general.architecture": "llama", "names": ["a", "ü" * 99]})
    parts = bg.llm.GGUF(path)
    parts._bytes = FileParts(path)
    assert np.array_equal(np.asarray(parts["plain"]), plain)
    assert parts["own"].tobytes() == np.asarray(data).tobytes()
    assert np.array_equal(parts.numpy("plain"), plain)
    assert np.array_equal(np.asarray(parts["half"]), np.ones((2, 3)))
    with pytest.raises(ValueError, match="data must have 270 bytes"):
        bg.llm.QuantizedArray(FileParts(path), (5, 96), "Q4_0")


def test_parts_of_a_file(tmp_path: Path) -> None:
    from browsergpu.functions.interchange import file_parts

    data = np.random.default_rng(1).integers(0, 256, 3 << 18, np.uint8)
    path = tmp_path / "file"
    path.write_bytes(data.tobytes())
    own = file_parts.FileParts(path)
    assert own.size == len(own) == data.size
    for part in (
        slice(0, 4), slice(5, 5), slice(100, 300_000), slice(262_140, 262_150), slice(-3, None),
        slice(3, 10**9), slice(9, 3), slice(0, 8),
    ):  # fmt: skip
        assert np.array_equal(np.asarray(own[part]), data[part])
        assert np.array_equal(np.asarray(own[10:][part]), data[10:][part])
    path.write_bytes(b"short")
    with pytest.raises(OSError, match="has become shorter"):
        np.asarray(own)
