"""Tiny models with random weights, as GGUF files."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

#: Sizes of the models: elements of a state and of a head, heads of queries and keys, inner, layers.
WIDTH, HEAD, HEADS, KV_HEADS, INNER, LAYERS = 64, 16, 4, 2, 96, 2
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def vocabulary() -> tuple[list[str], list[str], np.ndarray]:
    """Tokens, merges and types: special tokens, all bytes, and a few words."""
    from browsergpu.llm.tokens.byte_level import CHARACTERS

    merges = ["t h", "th e", "Ġ the", "a n", "i n", "h e", "l l", "he ll", "hell o", "Ġ w"]
    tokens = [*SPECIAL, *CHARACTERS.values(), *(pair.replace(" ", "") for pair in merges)]
    tokens = list(dict.fromkeys(tokens))
    types = np.ones(len(tokens), np.int32)
    types[: len(SPECIAL)] = 3
    return tokens, merges, types


def weights(kind: str, seed: int = 0) -> dict[str, np.ndarray]:
    """Weights of an architecture, float32 by GGUF's names."""
    generator = np.random.default_rng(seed)
    tokens, _, _ = vocabulary()

    def matrix(rows: int, columns: int) -> np.ndarray:
        return (generator.standard_normal((rows, columns)) / np.sqrt(columns)).astype(np.float32)

    def norm(length: int) -> np.ndarray:
        return (1 + 0.1 * generator.standard_normal(length)).astype(np.float32)

    found = {"token_embd.weight": 4 * matrix(len(tokens), WIDTH), "output_norm.weight": norm(WIDTH)}
    for n in range(LAYERS):
        own = {
            "attn_norm": norm(WIDTH), "attn_q": matrix(HEADS * HEAD, WIDTH),
            "attn_k": matrix(KV_HEADS * HEAD, WIDTH), "attn_v": matrix(KV_HEADS * HEAD, WIDTH),
            "attn_output": matrix(WIDTH, HEADS * HEAD), "ffn_norm": norm(WIDTH),
            "ffn_gate": matrix(INNER, WIDTH), "ffn_up": matrix(INNER, WIDTH),
            "ffn_down": matrix(WIDTH, INNER),
        }  # fmt: skip
        if kind in ("qwen3", "gemma3"):
            own |= {"attn_q_norm": norm(HEAD), "attn_k_norm": norm(HEAD)}
        if kind in ("gemma2", "gemma3"):
            own |= {"post_attention_norm": norm(WIDTH), "post_ffw_norm": norm(WIDTH)}
        if kind == "phi3":
            heads = [own.pop(f"attn_{name}") for name in ("q", "k", "v")]
            own |= {"attn_qkv": np.concatenate(heads)}
            own["ffn_up"] = np.concatenate([own.pop("ffn_gate"), own["ffn_up"]])
        found |= {f"blk.{n}.{name}.weight": value for name, value in own.items()}
        if kind == "qwen2":
            for name, rows in (("q", HEADS), ("k", KV_HEADS), ("v", KV_HEADS)):
                found[f"blk.{n}.attn_{name}.bias"] = norm(rows * HEAD)
    return found


def with_biases(kind: str, context: int = 256) -> dict[str, np.ndarray]:
    """Weights of gpt2 or bert, float32 by GGUF's names."""
    generator = np.random.default_rng(7)
    tokens, _, _ = vocabulary()
    found: dict[str, np.ndarray] = {}

    def add(name: str, *shape: int) -> None:
        drawn = generator.standard_normal(shape) / np.sqrt(shape[-1])
        found[f"{name}.weight"] = (drawn if len(shape) > 1 else 1 + drawn).astype(np.float32)
        if "embd.w" not in f"{name}.w" and name != "token_types":
            found[f"{name}.bias"] = (0.1 * generator.standard_normal(shape[0])).astype(np.float32)

    add("token_embd", len(tokens), WIDTH)
    add("position_embd", context, WIDTH)
    names = ("attn_norm", "ffn_norm")
    if kind == "bert":
        add("token_types", 2, WIDTH)
        add("token_embd_norm", WIDTH)
        names = ("attn_output_norm", "layer_output_norm")
    else:
        add("output_norm", WIDTH)
    for n in range(LAYERS):
        for name in names:
            add(f"blk.{n}.{name}", WIDTH)
        if kind == "bert":
            for name in ("attn_q", "attn_k", "attn_v"):
                add(f"blk.{n}.{name}", WIDTH, WIDTH)
        else:
            add(f"blk.{n}.attn_qkv", 3 * WIDTH, WIDTH)
        add(f"blk.{n}.attn_output", WIDTH, WIDTH)
        add(f"blk.{n}.ffn_up", INNER, WIDTH)
        add(f"blk.{n}.ffn_down", WIDTH, INNER)
    return found


def metadata(kind: str, **more: Any) -> dict[str, Any]:
    """Metadata of an architecture."""
    tokens, merges, types = vocabulary()
    own = {
        "context_length": 256, "embedding_length": WIDTH, "block_count": LAYERS,
        "feed_forward_length": INNER, "attention.head_count": HEADS,
        "attention.head_count_kv": KV_HEADS, "attention.key_length": HEAD,
        "attention.value_length": HEAD, "attention.layer_norm_rms_epsilon": 1e-5,
        "rope.freq_base": 10000.0, **more,
    }  # fmt: skip
    return {
        "general.architecture": kind,
        **{f"{kind}.{key}": value for key, value in own.items()},
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "gpt-2",
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.token_type": types,
        "tokenizer.ggml.merges": merges,
        "tokenizer.ggml.eos_token_id": 2,
        "tokenizer.ggml.bos_token_id": 1,
        "tokenizer.chat_template": TEMPLATE,
    }


def file_of(bg: Any, tensors: dict[str, Any], about: dict[str, Any]) -> bytes:
    """The bytes of a GGUF file."""
    file = io.BytesIO()
    bg.llm.save_gguf(file, tensors, about)
    return file.getvalue()
