"""Texts of several prompts at once, beside those of each prompt alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from inside.llm import tiny

pytestmark = pytest.mark.native

PROMPTS = ["hello the world", "the", [20, 33, 250, 7], "hello hello the in the an hello", "in"]


@pytest.fixture
def llm(bg: Any) -> Iterator[Any]:
    """A tiny Llama with float32 weights and a context of 64 tokens."""
    data = tiny.file_of(bg, tiny.weights("llama"), tiny.metadata("llama"))
    found = bg.llm.load(data, context=64)
    yield found
    found.close()


def _alone(llm: Any, prompts: list[Any] = PROMPTS, **options: Any) -> list[Any]:
    return [llm.generate(one, **options) for one in prompts]


def _check_equal(found: list[Any], expected: list[Any]) -> None:
    assert [one.tokens for one in found] == [one.tokens for one in expected]
    assert found == expected
    assert [one.finish_reason for one in found] == [one.finish_reason for one in expected]
    assert [one.prompt_tokens for one in found] == [one.prompt_tokens for one in expected]


@pytest.mark.fast
def test_greedy_texts_are_those_of_each_prompt(bg: Any, llm: Any) -> None:
    found = llm.generate(PROMPTS, max_tokens=14, logprobs=True)
    expected = _alone(llm, max_tokens=14, logprobs=True)
    _check_equal(found, expected)
    assert all(one.cached_tokens == 0 for one in found)
    for own, other in zip(found, expected, strict=True):
        # float32 sums in another order
        assert np.allclose(own.logprobs, other.logprobs, atol=1e-4)


@pytest.mark.parametrize("kind", ["gpt2", "gemma3"])
def test_other_architectures(bg: Any, kind: str) -> None:
    """Learned positions, and windows."""
    if kind == "gpt2":
        weights, about = tiny.with_biases(kind), tiny.metadata(kind)
        about["gpt2.attention.head_count_kv"] = tiny.HEADS
        eps = about.pop("gpt2.attention.layer_norm_rms_epsilon")
        about["gpt2.attention.layer_norm_epsilon"] = eps
    else:
        weights = tiny.weights(kind)
        about = tiny.metadata(kind, **{"attention.sliding_window": 4})
    llm = bg.llm.load(tiny.file_of(bg, weights, about), context=40)
    _check_equal(llm.generate(PROMPTS, max_tokens=6), _alone(llm, max_tokens=6))
    llm.close()


def test_texts_end_at_their_own_tokens(bg: Any, llm: Any) -> None:
    """By a stop text, by the end of the context, and by max_tokens."""
    whole = llm.generate(PROMPTS[0], max_tokens=20)
    stop = ["never", whole[3:5]]
    prompts = [PROMPTS[0], PROMPTS[2], [5] * 60]
    found = llm.generate(prompts, max_tokens=20, stop=stop)
    _check_equal(found, _alone(llm, prompts, max_tokens=20, stop=stop))
    assert found[0].finish_reason == "stop"
    assert len(found[-1].tokens) <= 4
    assert len({len(one.tokens) for one in found}) > 1


def test_a_long_prompt_beside_short_ones(bg: Any) -> None:
    """Prompts are computed in groups of similar lengths, and long ones in parts of 512."""
    about = tiny.metadata("llama", context_length=2048)
    llm = bg.llm.load(tiny.file_of(bg, tiny.weights("llama"), about), context=640)
    long = [int(one) for one in np.random.default_rng(0).integers(3, 250, 600)]
    prompts = [PROMPTS[0], long, long[:20], long[:300]]
    _check_equal(llm.generate(prompts, max_tokens=3), _alone(llm, prompts, max_tokens=3))
    llm.close()


def test_repetition_penalty(bg: Any, llm: Any) -> None:
    options = {"max_tokens": 8, "repetition_penalty": 1.5}
    _check_equal(llm.generate(PROMPTS, **options), _alone(llm, **options))


def test_a_constraint(bg: Any, llm: Any) -> None:
    options = {"max_tokens": 12, "regex": "[0-9]{2}|[a-c]{5}!"}
    found = llm.generate(PROMPTS, **options)
    _check_equal(found, _alone(llm, **options))
    assert {one.finish_reason for one in found} == {"stop"}


def test_samples(bg: Any, llm: Any) -> None:
    options = {"max_tokens": 10, "temperature": 9.0, "top_k": 50, "top_p": 0.99, "min_p": 0.001}
    first = llm.generate([PROMPTS[0]] * 3, seed=1, **options)
    assert len({tuple(one.tokens) for one in first}) == 3
    again = llm.generate([PROMPTS[0]] * 3, seed=1, **options)
    assert [one.tokens for one in again] == [one.tokens for one in first]
    greedy = _alone(llm, max_tokens=10)
    for narrow in ({"top_k": 1}, {"top_k": 5, "top_p": 0.0}, {"min_p": 1.0}):
        found = llm.generate(PROMPTS, seed=3, max_tokens=10, temperature=1.5, **narrow)
        _check_equal(found, greedy)


def test_one_prompt_in_a_list(bg: Any, llm: Any) -> None:
    expected = llm.generate(PROMPTS[0], max_tokens=5)
    _check_equal(llm.generate([PROMPTS[0]], max_tokens=5), [expected])
    _check_equal(llm.generate([PROMPTS[2]], max_tokens=5), _alone(llm, [PROMPTS[2]], max_tokens=5))


def test_awaited_texts(bg: Any, llm: Any) -> None:
    from browsergpu.engine.gpu import platform

    found = platform.block_on(llm.generate_async(PROMPTS[:2], max_tokens=5), "test")
    _check_equal(found, _alone(llm, PROMPTS[:2], max_tokens=5))


def test_a_stream_goes_on_after_a_batch(bg: Any, llm: Any) -> None:
    whole = llm.generate(PROMPTS[0], max_tokens=20)
    stream = llm.stream(PROMPTS[0], max_tokens=20)
    first = next(stream)
    llm.generate(PROMPTS[1:3], max_tokens=5)
    assert first + "".join(stream) == whole


def test_refusals(bg: Any, llm: Any) -> None:
    for stream in (llm.stream, llm.stream_async):
        with pytest.raises(ValueError, match=r"one prompt, got a list of 2 prompts\. Use generate"):
            stream(["a", "b"])
    with pytest.raises(TypeError, match="prompt must be a text, tokens, or messages"):
        llm.generate(["a", 5])
    with pytest.raises(TypeError, match="prompt must be a text, tokens, or messages"):
        llm.generate([["a", "b"], ["c"]])
    with pytest.raises(ValueError, match="have at least 1 token"):
        llm.generate(["a", ""])
    with pytest.raises(ValueError, match="have fewer than 64 tokens, got 70 tokens"):
        llm.generate(["a", [5] * 70])
