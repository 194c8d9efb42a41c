"""The cache of keys and values in 8 bits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from inside.llm import tiny

pytestmark = pytest.mark.native

PROMPT = "hello the world in the an hello"
KINDS = ["llama", "qwen3", "gemma2"]


def _load(bg: Any, kind: str, **options: Any) -> Any:
    own = {"attention.sliding_window": 6, "attn_logit_softcapping": 5.0}
    about = tiny.metadata(kind, **(own if kind == "gemma2" else {}))
    return bg.llm.load(tiny.file_of(bg, tiny.weights(kind), about), context=64, **options)


@pytest.fixture
def llm(bg: Any) -> Iterator[Any]:
    """A tiny Llama with a cache in 8 bits."""
    found = _load(bg, "llama", cache_dtype="int8")
    yield found
    found.close()


@pytest.mark.parametrize("kind", KINDS)
def test_logits_are_close_to_those_of_a_float32_cache(bg: Any, kind: str) -> None:
    plain, own = _load(bg, kind), _load(bg, kind, cache_dtype="int8")
    tokens = plain.tokenizer.encode(PROMPT)
    expected, found = (np.asarray(one.logits(tokens)) for one in (plain, own))
    # Keys and values have errors of up to 1 / 254 of the largest of 32.
    worst = np.abs(found - expected).max() / np.abs(expected).max()
    assert 0 < worst < 0.02
    plain.close()
    own.close()


@pytest.mark.fast
def test_the_memory_of_the_cache(bg: Any, llm: Any) -> None:
    # 2 layers of keys and values for 2 heads and 64 tokens: 16 numbers, and a factor in float32
    assert "context 64, cache 10 KiB (10,240 bytes) in int8" in repr(llm)
    assert llm._cache.nbytes == 2 * 2 * 2 * 64 * (16 + 4)
    plain = _load(bg, "llama", cache_dtype=np.float32)
    assert "in float32" in repr(plain)
    assert plain._cache.nbytes == 2 * 2 * 2 * 64 * 16 * 4
    plain.close()


def test_a_prompt_that_shares_its_beginning(bg: Any, llm: Any) -> None:
    anew = llm.generate(PROMPT, max_tokens=8)
    llm.generate(PROMPT[:15], max_tokens=6)
    found = llm.generate(PROMPT, max_tokens=8)
    assert found.cached_tokens > 0
    assert found.tokens == anew.tokens
    # The text is that of the logits, which a cache in 8 bits gives as well.
    tokens = llm.tokenizer.encode(PROMPT)
    chosen = np.asarray(llm.logits(tokens + found.tokens)).argmax(-1)
    assert chosen[len(tokens) - 1 : -1].tolist() == found.tokens


def test_a_batch(bg: Any, llm: Any) -> None:
    prompts = [PROMPT, "the", [20, 33, 250, 7]]
    found = llm.generate(prompts, max_tokens=8)
    assert [one.tokens for one in found] == [
        llm.generate(one, max_tokens=8).tokens for one in prompts
    ]


def test_refusals(bg: Any) -> None:
    for wrong in ("q4_0", np.float16, 8, None):
        with pytest.raises(ValueError, match="cache_dtype must be 'float32' or 'int8'"):
            _load(bg, "llama", cache_dtype=wrong)
    with pytest.raises(TypeError, match="progress must be True, False, or a function"):
        _load(bg, "llama", progress=1)
    weights = tiny.with_biases("bert")
    about = tiny.metadata("bert", **{"attention.head_count_kv": tiny.HEADS})
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "▁a"]
    about |= {
        "tokenizer.ggml.model": "bert", "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.token_type": np.array([3] * 4 + [1], np.int32),
        "tokenizer.ggml.cls_token_id": 2, "tokenizer.ggml.seperator_token_id": 3,
        "tokenizer.ggml.unknown_token_id": 1,
    }  # fmt: skip
    with pytest.raises(ValueError, match="cache_dtype must be left out for an encoder"):
        bg.llm.load(tiny.file_of(bg, weights, about), cache_dtype="int8")
