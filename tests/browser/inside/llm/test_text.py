"""Text of tiny models: logits beside NumPy's, sampling, streams and their ends."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from inside.llm import tiny
from inside.llm.reference import Decoder

pytestmark = pytest.mark.native

PROMPT = "hello the world"


@pytest.fixture
def llm(bg: Any) -> Iterator[Any]:
    """A tiny Llama with float32 weights and a context of 64 tokens."""
    data = tiny.file_of(bg, tiny.weights("llama"), tiny.metadata("llama"))
    found = bg.llm.load(data, context=64)
    yield found
    found.close()


def greedy(prompt: list[int], count: int, kind: str = "llama") -> list[int]:
    """The most probable tokens by the reference."""
    decoder = Decoder(tiny.weights(kind), tiny.metadata(kind))
    tokens = list(prompt)
    for _ in range(count):
        tokens.append(int(decoder.logits(tokens)[-1].argmax()))
    return tokens[len(prompt) :]


@pytest.mark.fast
def test_logits_are_the_references(bg: Any, llm: Any) -> None:
    tokens = llm.tokenizer.encode(PROMPT)
    expected = Decoder(tiny.weights("llama"), tiny.metadata("llama")).logits(tokens)
    # float32 sums in another order
    assert np.abs(np.asarray(llm.logits(tokens)) - expected).max() < 1e-4 * np.abs(expected).max()


def test_quantized_weights(bg: Any) -> None:
    own = tiny.weights("llama")
    generator = np.random.default_rng(3)
    for name, value in own.items():
        if value.ndim == 2:
            rows, columns = value.shape
            blocks = np.zeros((rows * columns // 32, 34), np.uint8)
            scales = np.full(len(blocks), 0.002, np.float16)
            blocks[:, :2] = scales.view(np.uint8).reshape(-1, 2)
            blocks[:, 2:] = generator.integers(0, 256, (len(blocks), 32), dtype=np.uint8)
            own[name] = bg.llm.QuantizedArray(blocks.reshape(-1), (rows, columns), "Q8_0")
    data = tiny.file_of(bg, own, tiny.metadata("llama"))
    found = bg.llm.load(data, context=32)
    plain = {
        name: np.asarray(x.dequantize() if isinstance(x, bg.llm.QuantizedArray) else x)
        for name, x in own.items()
    }
    tokens = found.tokenizer.encode(PROMPT)
    expected = Decoder(plain, tiny.metadata("llama")).logits(tokens)
    assert np.abs(np.asarray(found.logits(tokens)) - expected).max() < 1e-4 * np.abs(expected).max()
    found.close()


def test_greedy_text_is_the_references(bg: Any, llm: Any) -> None:
    tokens = llm.tokenizer.encode(PROMPT)
    expected = greedy(tokens, 20)
    for _ in range(2):  # captured, then replayed, with the prompt in the cache
        found = llm.generate(PROMPT, max_tokens=20)
        kept = expected[: expected.index(2)] if 2 in expected else expected
        assert found.tokens == kept[: len(found.tokens)]
        assert len(found.tokens) == len(kept)
        assert found == llm.tokenizer.decode(found.tokens)
    assert found.cached_tokens == len(tokens) - 1
    assert found.prompt_tokens == len(tokens)
    assert "".join(llm.stream(PROMPT, max_tokens=20)) == found


def test_a_prompt_that_shares_its_beginning(bg: Any, llm: Any) -> None:
    llm.generate("hello the", max_tokens=12)
    found = llm.generate("hello the in", max_tokens=6)
    assert found.cached_tokens > 0
    assert found.tokens == greedy(llm.tokenizer.encode("hello the in"), 6)[: len(found.tokens)]


def test_sampling(bg: Any, llm: Any) -> None:
    options = {"max_tokens": 12, "temperature": 1.5}
    first = llm.generate(PROMPT, seed=1, **options)
    assert first.tokens == llm.generate(PROMPT, seed=1, **options).tokens
    assert first.tokens != llm.generate(PROMPT, seed=2, **options).tokens
    most_probable = llm.generate(PROMPT, max_tokens=12).tokens
    for narrow in ({"top_k": 1}, {"top_p": 0.0}, {"min_p": 1.0}):
        assert llm.generate(PROMPT, seed=3, **options, **narrow).tokens == most_probable
    logits = np.asarray(llm.logits(llm.tokenizer.encode(PROMPT)))[-1] / 1.5
    shares = np.exp(logits - logits.max())
    shares /= shares.sum()
    order = np.argsort(-shares)
    of_p = order[: int((np.cumsum(shares[order]) < 0.5).sum()) + 1]
    of_min = np.flatnonzero(shares >= 0.3 * shares.max())
    for allowed, narrow in (
        (order[:3], {"top_k": 3}), (of_p, {"top_p": 0.5}), (of_min, {"min_p": 0.3}),
    ):  # fmt: skip
        drawn = {
            token
            for seed in range(5)
            for token in llm.generate(
                PROMPT, max_tokens=1, temperature=1.5, seed=seed, **narrow
            ).tokens
        }
        assert drawn <= {int(one) for one in allowed} - {2} | {2}


def test_draws_have_the_shares_of_the_softmax(bg: Any) -> None:
    from browsergpu.functions.random.generator import Generator
    from browsergpu.llm.generation.sampling import sample
    from browsergpu.llm.generation.settings import Settings

    shares = np.array([0.5, 0.3, 0.15, 0.05])
    logits = bg.asarray(np.log(shares).astype(np.float32) * 2)[None]
    settings = Settings(2.0, 0, 1.0, 0.0, 1.0, False)
    generator = Generator(5)
    drawn = [int(sample(logits, settings, None, generator)) for _ in range(400)]
    found = np.bincount(drawn, minlength=4) / 400
    # four standard deviations
    assert (np.abs(found - shares) < 4 * np.sqrt(shares * (1 - shares) / 400)).all()


def test_repetition_penalty(bg: Any, llm: Any) -> None:
    tokens = llm.tokenizer.encode(PROMPT)
    decoder = Decoder(tiny.weights("llama"), tiny.metadata("llama"))
    expected, all_tokens = [], list(tokens)
    for _ in range(10):
        logits = decoder.logits(all_tokens)[-1]
        seen = sorted(set(all_tokens))
        logits[seen] = np.where(logits[seen] > 0, logits[seen] / 1.5, logits[seen] * 1.5)
        expected.append(int(logits.argmax()))
        all_tokens.append(expected[-1])
    found = llm.generate(PROMPT, max_tokens=10, repetition_penalty=1.5).tokens
    assert found == expected[: len(found)]


def test_log_probabilities(bg: Any, llm: Any) -> None:
    found = llm.generate(PROMPT, max_tokens=10, logprobs=True)
    tokens = llm.tokenizer.encode(PROMPT)
    logits = np.asarray(llm.logits(tokens + found.tokens)).astype(np.float64)[len(tokens) - 1 : -1]
    top = logits.max(-1)
    expected = top - (top + np.log(np.exp(logits - top[:, None]).sum(-1)))
    assert np.allclose(found.logprobs, expected, atol=1e-4)


@pytest.mark.parametrize(
    "options",
    [
        {}, {"temperature": 1.0}, {"temperature": 1.0, "top_p": 0.8},
        {"repetition_penalty": 4.0}, {"regex": "[a-z ]+"},
    ],
    ids=str,
)  # fmt: skip
def test_captured_selections_of_first_tokens(bg: Any, llm: Any, options: Any) -> None:
    """From the third text on, the first token is selected by a captured graph."""
    prompts = PROMPT, "the", "world the hello"
    alone = {}
    for prompt in prompts:
        llm._steps.close()
        alone[prompt] = llm.generate(prompt, max_tokens=3, seed=5, logprobs=True, **options)
    llm._steps.close()
    for prompt in (*prompts, *prompts):
        found = llm.generate(prompt, max_tokens=3, seed=5, logprobs=True, **options)
        assert found.tokens == alone[prompt].tokens
        assert np.allclose(found.logprobs, alone[prompt].logprobs, atol=1e-4)
    assert [one is not None for one in llm._steps._firsts.values()] == [True]


def test_settings_whose_graphs_are_kept_are_bounded(bg: Any, llm: Any) -> None:
    for temperature in (1.0, 1.1, 1.2, 1.3, 1.4, 1.5):
        for _ in range(2):
            llm.generate(PROMPT, max_tokens=2, temperature=temperature, seed=1)
    kept = [settings.temperature for settings in llm._steps._firsts]
    assert kept == [1.2, 1.3, 1.4, 1.5] == [one.temperature for one in llm._steps._steps]


def test_stop_texts_and_lengths(bg: Any, llm: Any) -> None:
    whole = llm.generate(PROMPT, max_tokens=20)
    assert whole.finish_reason == "length"
    stop = whole[3:5]
    found = llm.generate(PROMPT, max_tokens=20, stop=["never", stop])
    assert found == whole[: whole.index(stop)]
    assert found.finish_reason == "stop"
    assert "".join(llm.stream(PROMPT, max_tokens=20, stop=stop)) == found
    # 64 tokens of context
    long = llm.generate([5] * 60, max_tokens=50)
    assert len(long.tokens) <= 4
    with pytest.raises(ValueError, match="have fewer than 64 tokens, got 64 tokens"):
        llm.generate([5] * 64)


def test_two_streams_of_one_model(bg: Any, llm: Any) -> None:
    first = llm.stream(PROMPT, max_tokens=20)
    next(first)
    second = llm.stream("the", max_tokens=20)
    next(second)
    with pytest.raises(ValueError, match="Load the model twice"):
        for _ in first:
            pass


def test_a_stream_that_is_left(bg: Any, llm: Any) -> None:
    expected = llm.generate(PROMPT, max_tokens=12)
    left = llm.stream(PROMPT, max_tokens=30)
    next(left)
    left.close()
    left = llm.stream(PROMPT, max_tokens=30)
    next(left)
    del left
    assert llm.generate(PROMPT, max_tokens=12) == expected


def test_awaited_text(bg: Any, llm: Any) -> None:
    from browsergpu.engine.gpu import platform

    async def text() -> tuple[str, str]:
        found = [piece async for piece in llm.stream_async(PROMPT, max_tokens=8)]
        return await llm.generate_async(PROMPT, max_tokens=8), "".join(found)

    expected = llm.generate(PROMPT, max_tokens=8)
    assert platform.block_on(text(), "test") == (expected, expected)


def test_a_chat(bg: Any, llm: Any) -> None:
    """By the template, whose Jinja2 is one of the site's packages in a page."""
    messages = [{"role": "user", "content": "hello"}]
    text = llm.prompt_of(messages)
    assert text == "<|im_start|>user\nhello<|im_end|>\n<|im_start|>assistant\n"
    expected = llm.generate(text, max_tokens=6)
    assert llm.chat(messages, max_tokens=6) == expected
    assert "".join(llm.stream(messages, max_tokens=6)) == expected
    assert llm.generate([messages, messages], max_tokens=6) == [expected] * 2


def test_a_closed_model(bg: Any, llm: Any) -> None:
    llm.close()
    with pytest.raises(bg.errors.NotInitialized, match="Load it again"):
        llm.generate(PROMPT)


def test_embeddings_have_length_1(bg: Any, llm: Any) -> None:
    texts = ["hello", "the world", "in the an hello the", [20, 33]]
    found = np.asarray(llm.embed(texts))
    assert found.shape == (4, tiny.WIDTH)
    assert np.allclose(np.linalg.norm(found, axis=1), 1, atol=1e-5)
    alone = [np.asarray(llm.embed([one]))[0] for one in texts]
    assert np.abs(found - alone).max() < 1e-5  # float32 sums in another order


def test_attention_of_a_prompt(bg: Any, llm: Any) -> None:
    tokens = llm.tokenizer.encode(PROMPT)
    expected = llm.generate(PROMPT, max_tokens=5)
    shares = llm.attention(PROMPT, 1)
    assert shares.shape == (tiny.HEADS, len(tokens), len(tokens))
    assert llm.generate(PROMPT, max_tokens=5) == expected
    with pytest.raises(ValueError, match="layer must be an integer of at most 1"):
        llm.attention(PROMPT, 2)
    with pytest.raises(ValueError, match="prompt must have 1 to 64 tokens, got 65 tokens"):
        llm.attention([5] * 65, 0)


def test_bad_arguments(bg: Any, llm: Any) -> None:
    for options, match in (
        ({"temperature": -1}, "temperature must be a number from 0 to 100"),
        ({"temperature": float("nan")}, "temperature must be"),
        ({"top_k": -1}, "top_k must be"),
        ({"top_p": 1.5}, "top_p must be a number from 0 to 1"),
        ({"min_p": 2}, "min_p must be"),
        ({"repetition_penalty": 0}, "repetition_penalty must be"),
        ({"max_tokens": 0}, "max_tokens must be"),
        ({"stop": [""]}, "stop must be a string that is not empty"),
        ({"seed": -1}, "seed must be"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=match):
            llm.generate(PROMPT, **options)
    with pytest.raises(TypeError, match="unexpected keyword"):
        llm.generate(PROMPT, tempreature=1.0)
    with pytest.raises(TypeError, match="prompt must be a text, tokens, or messages"):
        llm.generate(5)
    with pytest.raises(ValueError, match="have at least 1 token"):
        llm.generate("")
    with pytest.raises(ValueError, match="at most 268"):
        llm.generate([10**6])


@pytest.mark.fast
def test_files_that_are_no_models(bg: Any) -> None:
    own, about = tiny.weights("llama"), tiny.metadata("llama")

    def refused(match: str, tensors: dict[str, Any], more: dict[str, Any]) -> None:
        with pytest.raises(Exception, match=match) as raised:
            bg.llm.load(tiny.file_of(bg, tensors, more))
        assert isinstance(raised.value, bg.BackendError)

    refused("architecture must be one of", own, about | {"general.architecture": "mamba"})
    left = {name: x for name, x in own.items() if name != "blk.1.ffn_up.weight"}
    refused(r"blk.1.ffn_up.weight must be in the file", left, about)
    refused("no place for extra", own | {"extra": np.ones(3, np.float32)}, about)
    bad = own | {"blk.0.attn_q.weight": np.ones((8, tiny.WIDTH), np.float32)}
    refused(r"attn_q.weight must have shape \(64, 64\)", bad, about)
    refused("divisor of 4", own, about | {"llama.attention.head_count_kv": 3})
    refused("block_count must be", own, {k: x for k, x in about.items() if "block_count" not in k})
    refused("rope.scaling.type must be", own, about | {"llama.rope.scaling.type": "su"})
    refused("ggml.model must be one of", own, about | {"tokenizer.ggml.model": "rwkv"})
    refused("ggml.pre must be one of", own, about | {"tokenizer.ggml.pre": "other"})
    refused("experts", own, about | {"llama.expert_count": 8})
    with pytest.raises(ValueError, match="context must be at most 256"):
        bg.llm.load(tiny.file_of(bg, own, about), context=1000)
