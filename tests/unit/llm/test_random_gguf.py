"""Files of random weights that bench/random_gguf.py writes for llama.cpp."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.append(str(Path(__file__).resolve().parents[3] / "bench"))

import language
import random_gguf

from browsergpu.llm.files.gguf import GGUF

pytestmark = pytest.mark.fast


@pytest.mark.parametrize("shape", ["llama-1b", "qwen3-0.6b", "tiny"])
def test_a_vocabulary_has_a_token_for_each_row(shape: str) -> None:
    *_, count = language.SHAPES[shape]
    tokens = random_gguf.vocabulary(shape)["tokenizer.ggml.tokens"]
    assert len(tokens) == len(set(tokens)) == count
    assert tokens[256] == "ab"


@pytest.mark.parametrize("form", ["Q4_0", "Q4_K", "F16"])
def test_a_file_has_all_weights(form: str) -> None:
    file = io.BytesIO()
    random_gguf.write(file, "tiny", form)
    found, weights = GGUF(file.getvalue()), language.RandomWeights("tiny", form)
    assert {name: one.shape for name, one in found.tensors.items()} == weights.shapes
    assert np.array_equal(found.numpy("output_norm.weight"), np.ones(256, np.float32))
    assert found.metadata["llama.attention.value_length"] == 64
    assert weights.metadata.items() <= found.metadata.items()
