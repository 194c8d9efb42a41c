"""The logits and vectors of every architecture, beside NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from inside.llm import tiny
from inside.llm.reference import Decoder, of_bert, of_gpt2

pytestmark = pytest.mark.native

TOKENS = [1, 20, 33, 250, 7, 90, 90, 41, 5, 60, 77, 12]
OPTIONS = {
    "llama": {"attention.sliding_window": 5},  # Mistral
    "qwen2": {},
    "qwen3": {},
    "gemma2": {
        "attention.sliding_window": 6, "attn_logit_softcapping": 5.0,
        "final_logit_softcapping": 3.0,
    },
    "gemma3": {"attention.sliding_window": 4, "rope.freq_base": 1e6},
    "phi3": {},
}  # fmt: skip


def _close(found: Any, expected: np.ndarray) -> None:
    # float32 sums in another order
    assert np.abs(np.asarray(found) - expected).max() < 2e-4 * np.abs(expected).max()


@pytest.mark.parametrize("kind", OPTIONS)
def test_decoders(bg: Any, kind: str) -> None:
    about = tiny.metadata(kind, **OPTIONS[kind])
    llm = bg.llm.load(tiny.file_of(bg, tiny.weights(kind), about), context=32)
    decoder = Decoder(tiny.weights(kind), about)
    expected = decoder.logits(TOKENS)
    _close(llm.logits(TOKENS), expected)
    for layer, shares in enumerate(decoder.shares):
        _close(llm.attention(TOKENS, layer), shares)
    text = llm.generate(TOKENS[:-1], max_tokens=3)  # token by token
    assert text.tokens[0] == expected[-2].argmax()
    llm.close()


def test_gpt2(bg: Any) -> None:
    weights = tiny.with_biases("gpt2")
    about = tiny.metadata("gpt2", **{"attention.head_count_kv": tiny.HEADS})
    about["gpt2.attention.layer_norm_epsilon"] = about.pop("gpt2.attention.layer_norm_rms_epsilon")
    llm = bg.llm.load(tiny.file_of(bg, weights, about), context=32)
    expected = of_gpt2(weights, TOKENS, tiny.HEADS, 1e-5)
    _close(llm.logits(TOKENS), expected)
    shares = np.asarray(llm.attention(TOKENS, 1))
    assert shares.shape == (tiny.HEADS, len(TOKENS), len(TOKENS))
    assert np.allclose(shares.sum(-1), 1, atol=1e-5)
    assert not np.triu(shares, 1).any()
    again = llm.generate(TOKENS[:4], max_tokens=4).tokens
    tokens = TOKENS[:4]
    for token in again:
        assert token == of_gpt2(weights, tokens, tiny.HEADS, 1e-5)[-1].argmax()
        tokens = [*tokens, token]
    llm.close()


def test_bert(bg: Any) -> None:
    weights = tiny.with_biases("bert")
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *["▁hello", "▁world", "lo", "▁the", "ing", "!"]]
    weights["token_embd.weight"] = weights["token_embd.weight"][: len(tokens)]
    about = tiny.metadata("bert", **{"attention.head_count_kv": tiny.HEADS})
    about |= {
        "tokenizer.ggml.model": "bert", "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.token_type": np.array([3] * 4 + [1] * (len(tokens) - 4), np.int32),
        "tokenizer.ggml.cls_token_id": 2, "tokenizer.ggml.seperator_token_id": 3,
        "tokenizer.ggml.unknown_token_id": 1,
    }  # fmt: skip
    encoder = bg.llm.load(tiny.file_of(bg, weights, about))
    assert encoder.tokenizer.encode("Hello worldlo xyz") == [2, 4, 5, 6, 1, 3]
    found = np.asarray(encoder.embed(["Hello the worlding", "hello"]))
    for row, ids in zip(found, ([2, 4, 7, 5, 8, 3], [2, 4, 3]), strict=True):
        expected = of_bert(weights, ids, tiny.HEADS, 1e-5)
        assert 1 - row @ expected < 1e-6
    assert encoder.tokenizer.decode([2, 4, 5, 6, 3]) == "hello worldlo"
    texts = ["hello", "the " * 20, "world hello", "", "hello the worldlo!", "hello"]
    together = np.asarray(encoder.embed(texts, normalize=False))
    alone = [np.asarray(encoder.embed(one, normalize=False))[0] for one in texts]
    # float32 sums in another order
    assert np.abs(together - alone).max() < 1e-5
    with pytest.raises(TypeError, match="texts must be a string"):
        encoder.embed(["a", 5])
