"""Folders of tiny models in safetensors, as they are on hubs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from inside.llm import tiny

_ATTENTION = {
    "attn_q": "q_proj", "attn_k": "k_proj", "attn_v": "v_proj", "attn_output": "o_proj",
    "attn_q_norm": "q_norm", "attn_k_norm": "k_norm",
}  # fmt: skip
_DECODER = {
    "attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj",
    **{name: f"self_attn.{own}" for name, own in _ATTENTION.items()},
}  # fmt: skip
_BERT = {
    "attn_q": "attention.self.query", "attn_k": "attention.self.key",
    "attn_v": "attention.self.value", "attn_output": "attention.output.dense",
    "attn_output_norm": "attention.output.LayerNorm", "ffn_up": "intermediate.dense",
    "ffn_down": "output.dense", "layer_output_norm": "output.LayerNorm",
}  # fmt: skip
_WHOLE = {
    "token_embd.weight": "model.embed_tokens.weight", "output_norm.weight": "model.norm.weight",
}  # fmt: skip


def tokenizer() -> dict[str, Any]:
    """tokenizer.json of tiny.vocabulary()."""
    tokens, merges, _ = tiny.vocabulary()
    special = {"lstrip": False, "rstrip": False, "single_word": False, "normalized": False}
    return {
        "model": {
            "type": "BPE", "vocab": {token: n for n, token in enumerate(tokens)}, "merges": merges,
        },
        "added_tokens": [
            {"id": n, "content": token, "special": True, **special}
            for n, token in enumerate(tiny.SPECIAL)
        ],
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False},
        "decoder": {"type": "ByteLevel"},
    }  # fmt: skip


def decoder(bg: Any, folder: Path, weights: dict[str, np.ndarray], parts: int = 1) -> None:
    """Write a Qwen 3 in some parts, with an index if there are several."""
    tensors = {}
    for name, value in weights.items():
        own = _WHOLE.get(name)
        if own is None:
            _, layer, kind, ending = name.split(".")
            own = f"model.layers.{layer}.{_DECODER[kind]}.{ending}"
        tensors[own] = value
    folder.mkdir(exist_ok=True)
    config = {
        "model_type": "qwen3", "num_hidden_layers": tiny.LAYERS, "hidden_size": tiny.WIDTH,
        "intermediate_size": tiny.INNER, "num_attention_heads": tiny.HEADS,
        "num_key_value_heads": tiny.KV_HEADS, "head_dim": tiny.HEAD, "rms_norm_eps": 1e-5,
        "max_position_embeddings": 256, "rope_theta": 10000.0, "eos_token_id": 2,
        "use_sliding_window": False,
    }  # fmt: skip
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer()))
    if parts == 1:
        bg.io.save_safetensors(folder / "model.safetensors", tensors)
        return
    names = sorted(tensors)
    places = {name: f"model-{n % parts + 1}-of-{parts}.safetensors" for n, name in enumerate(names)}
    for file in set(places.values()):
        own = {name: tensors[name] for name in names if places[name] == file}
        bg.io.save_safetensors(folder / file, own)
    index = {"metadata": {}, "weight_map": places}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))


def encoder(bg: Any, folder: Path, weights: dict[str, np.ndarray]) -> None:
    """Write a MiniLM. Its words are letters."""
    whole = {
        "token_embd.weight": "word_embeddings.weight",
        "position_embd.weight": "position_embeddings.weight",
        "token_types.weight": "token_type_embeddings.weight",
        "token_embd_norm.weight": "LayerNorm.weight", "token_embd_norm.bias": "LayerNorm.bias",
    }  # fmt: skip
    tensors = {"pooler.dense.weight": np.zeros((2, 2), np.float32)}
    for name, value in weights.items():
        if name in whole:
            tensors[f"embeddings.{whole[name]}"] = value
        else:
            _, layer, kind, ending = name.split(".")
            tensors[f"encoder.layer.{layer}.{_BERT[kind]}.{ending}"] = value
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *"abcdefghijklmnopqrstuvwxyz"]
    words += [f"##{letter}" for letter in words[4:]]
    model = {
        "type": "WordPiece", "vocab": {word: n for n, word in enumerate(words)},
        "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100,
    }  # fmt: skip
    own = {
        "model": model, "normalizer": {"type": "BertNormalizer", "lowercase": True,
        "clean_text": True, "handle_chinese_chars": True, "strip_accents": None},
        "pre_tokenizer": {"type": "BertPreTokenizer"}, "decoder": {"type": "WordPiece"},
        "post_processor": {"type": "BertProcessing", "cls": ["[CLS]", 2], "sep": ["[SEP]", 3]},
    }  # fmt: skip
    config = {
        "model_type": "bert", "num_hidden_layers": tiny.LAYERS, "hidden_size": tiny.WIDTH,
        "intermediate_size": tiny.INNER, "num_attention_heads": tiny.HEADS,
        "layer_norm_eps": 1e-5, "max_position_embeddings": 256, "hidden_act": "gelu",
    }  # fmt: skip
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "tokenizer.json").write_text(json.dumps(own))
    bg.io.save_safetensors(folder / "model.safetensors", tensors)
