"""Adapters of tiny models: gradients, training, files with PEFT's names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from inside.llm import tiny

pytestmark = pytest.mark.native

PROMPT, TEXT = "hello", " the the in"


def model(bg: Any, kind: str = "llama", *, quantized: bool = False) -> Any:
    own = tiny.weights(kind)
    if quantized:
        generator = np.random.default_rng(3)
        for name, value in own.items():
            if value.ndim == 2:
                blocks = np.zeros((value.size // 32, 34), np.uint8)
                blocks[:, :2] = np.frombuffer(np.float16(0.002).tobytes(), np.uint8)
                blocks[:, 2:] = generator.integers(0, 256, (len(blocks), 32), dtype=np.uint8)
                own[name] = bg.llm.QuantizedArray(blocks.reshape(-1), value.shape, "Q8_0")
    return bg.llm.load(tiny.file_of(bg, own, tiny.metadata(kind)), context=64)


def randomize(bg: Any, adapters: Any) -> None:
    """Give the matrices that are zero other values."""
    generator = np.random.default_rng(8)
    with bg.no_grad():
        for one in adapters.parameters():
            one[...] = generator.standard_normal(one.shape).astype(np.float32) / 8


@pytest.mark.parametrize("kind", ["llama", "qwen2", "qwen3", "gemma2", "gemma3", "phi3"])
def test_the_forward_pass_of_training_is_that_of_generation(bg: Any, kind: str) -> None:
    llm = model(bg, kind)
    targets = ["qkv_proj", "o_proj"] if kind == "phi3" else ["q_proj", "k_proj", "down_proj"]
    adapters = bg.llm.lora(llm, rank=3, targets=targets, seed=1)
    randomize(bg, adapters)
    tokens = llm.tokenizer.encode("hello the world in the")
    own = llm.model(llm._steps.array(tokens), None)
    assert own.requires_grad
    found = np.asarray(llm.model.logits(own).detach())
    expected = np.asarray(llm.logits(tokens))
    assert np.abs(found - expected).max() < 1e-4 * np.abs(expected).max()
    loss = float(adapters.loss(tokens[2:], tokens[:2]))
    rows = expected[1:-1].astype(np.float64)
    shares = rows - np.log(np.exp(rows).sum(-1, keepdims=True))
    assert abs(loss + shares[np.arange(len(rows)), tokens[2:]].mean()) < 1e-3
    llm.close()


@pytest.mark.parametrize("quantized", [False, True])
def test_gradients_are_finite_differences(bg: Any, quantized: bool) -> None:
    llm = model(bg, quantized=quantized)
    targets = ["q_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
    adapters = bg.llm.lora(llm, rank=2, targets=targets, seed=1)
    randomize(bg, adapters)
    adapters.loss("hello the world").backward()
    generator = np.random.default_rng(2)
    parameters = list(adapters.parameters())
    gradients = [np.asarray(one.grad) for one in parameters]
    # Uphill in each coordinate, so that rounding is small beside the sum.
    ways = [
        np.abs(generator.standard_normal(one.shape)).astype(np.float32) * np.where(one < 0, -1, 1)
        for one in gradients
    ]
    expected = sum(float((one * way).sum()) for one, way in zip(gradients, ways, strict=True))
    size, losses = 1e-4, []
    for sign in (1, -2):
        with bg.no_grad():
            for one, way in zip(parameters, ways, strict=True):
                one += bg.asarray(sign * size * way)
        losses.append(float(adapters.loss("hello the world")))
    found = (losses[0] - losses[1]) / (2 * size)
    # float32 losses, vectors rounded to 16 bits for the quantized products, and a finite step
    assert abs(found - expected) < 0.03 * expected
    llm.close()


@pytest.mark.fast
def test_training_changes_the_text(bg: Any, tmp_path: Path) -> None:
    llm = model(bg, quantized=True)
    before = llm.generate(PROMPT, max_tokens=4)
    targets = ["q_proj", "v_proj", "o_proj", "down_proj"]
    adapters = bg.llm.lora(llm, rank=4, alpha=8, targets=targets, seed=0)
    assert llm.generate(PROMPT, max_tokens=4) == before  # B is zero
    assert before != TEXT
    optimizer = bg.optim.Adam(adapters.parameters(), lr=0.01)
    losses = []
    for _ in range(40):
        optimizer.zero_grad()
        loss = adapters.loss(TEXT, PROMPT)
        loss.backward()
        optimizer.step()
        losses.append(float(loss))
    assert losses[-1] < 0.5 < 5 < losses[0]
    count = len(llm.tokenizer.encode(TEXT))
    assert llm.generate(PROMPT, max_tokens=count) == TEXT
    adapters.save(tmp_path)
    adapters.remove()
    assert llm.generate(PROMPT, max_tokens=4) == before
    again = bg.llm.lora(llm, rank=4, alpha=8, targets=targets)
    again.load(tmp_path)
    assert llm.generate(PROMPT, max_tokens=count) == TEXT
    llm.close()


def test_texts_follow_each_step(bg: Any) -> None:
    """Neither the cache nor captured work keeps the values of earlier steps."""
    llm = model(bg)
    adapters = bg.llm.lora(llm, rank=4, alpha=64, seed=0)
    optimizer = bg.optim.SGD(adapters.parameters(), lr=5.0)
    seen = set()
    for _ in range(5):
        loss = adapters.loss(TEXT, PROMPT)
        loss.backward()
        found = llm.generate(PROMPT, max_tokens=6)  # after the loss, before the step
        optimizer.step()
        found = llm.generate(PROMPT, max_tokens=6)
        tokens = llm.tokenizer.encode(PROMPT)
        for _ in range(len(found.tokens)):
            tokens.append(int(np.asarray(llm.logits(tokens))[-1].argmax()))
        assert found.tokens == tokens[-len(found.tokens) :]
        seen.add(tuple(found.tokens))
    assert len(seen) > 1
    llm.close()


def test_files_have_pefts_names_and_order(bg: Any, tmp_path: Path) -> None:
    llm = model(bg)
    adapters = bg.llm.lora(llm, rank=2, alpha=3, targets=["q_proj", "k_proj", "down_proj"], seed=4)
    randomize(bg, adapters)
    adapters.save(tmp_path)
    found = bg.io.load_safetensors(tmp_path / "adapter_model.safetensors")
    prefix = "base_model.model.model.layers.1"
    assert len(found) == 2 * 3 * tiny.LAYERS
    assert found[f"{prefix}.mlp.down_proj.lora_A.weight"].shape == (2, tiny.INNER)
    about = json.loads((tmp_path / "adapter_config.json").read_text())
    assert (about["r"], about["lora_alpha"], about["peft_type"]) == (2, 3, "LORA")
    assert about["target_modules"] == ["q_proj", "k_proj", "down_proj"]
    for name, layer, heads in (
        ("q_proj", llm.model.blocks[1].attention.q, tiny.HEADS),
        ("k_proj", llm.model.blocks[1].attention.k, tiny.KV_HEADS),
    ):
        own = np.asarray(layer.lora_B.detach())
        # llama.cpp's conversion of Llama's rows, from Hugging Face's order to GGUF's
        other = np.asarray(found[f"{prefix}.self_attn.{name}.lora_B.weight"])
        turned = other.reshape(heads, 2, tiny.HEAD // 2, 2).swapaxes(1, 2).reshape(own.shape)
        assert np.array_equal(turned, own)
    expected = [np.asarray(one.detach()) for one in adapters.parameters()]
    with bg.no_grad():
        for one in adapters.parameters():
            one[...] = 0.0
    adapters.load(tmp_path)
    for one, value in zip(adapters.parameters(), expected, strict=True):
        assert np.array_equal(np.asarray(one.detach()), value)
    llm.close()


def test_bad_arguments(bg: Any, tmp_path: Path) -> None:
    llm = model(bg)
    for options, match in (
        ({"rank": 0}, "rank must be"), ({"alpha": float("nan")}, "alpha must be"),
        ({"targets": []}, "targets must be a list"), ({"targets": "q_proj"}, "targets must be"),
        ({"targets": ["query"]}, "targets must be of q_proj"),
        ({"targets": ["qkv_proj"]}, "layers of the architecture llama"),
        ({"seed": -1}, "seed must be"),
    ):  # fmt: skip
        with pytest.raises((ValueError, TypeError), match=match):
            bg.llm.lora(llm, **options)
    with pytest.raises(TypeError, match="model must be a LanguageModel"):
        bg.llm.lora(llm.model)
    adapters = bg.llm.lora(llm, rank=2)
    with pytest.raises(ValueError, match="without adapters"):
        bg.llm.lora(llm)
    with pytest.raises(ValueError, match="have 2 to 64 tokens"):
        adapters.loss("")
    with pytest.raises(ValueError, match="have 2 to 64 tokens"):
        adapters.loss([5] * 65)
    adapters.save(tmp_path)
    adapters.remove()
    for options, match in (
        ({"rank": 3}, "r must be 3"), ({"rank": 2, "alpha": 1}, "lora_alpha must be 1"),
        ({"rank": 2, "targets": ["q_proj"]}, "target_modules must be"),
    ):  # fmt: skip
        other = bg.llm.lora(llm, **options)
        with pytest.raises(ValueError, match=match):
            other.load(tmp_path)
        other.remove()
    other = bg.llm.lora(llm, rank=2)
    (tmp_path / "adapter_model.safetensors").write_bytes(b"short")
    with pytest.raises(ValueError, match="file must"):
        other.load(tmp_path)
    llm.close()
    with pytest.raises(bg.errors.NotInitialized, match="Load it again"):
        bg.llm.lora(llm)
