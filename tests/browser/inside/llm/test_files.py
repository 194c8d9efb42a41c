"""Tensors of GGUF files on the GPU."""

from __future__ import annotations

import io
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
