"""Decoders in NumPy and float32, written from the papers and independent of the package."""

from __future__ import annotations

from typing import Any

import numpy as np

F = np.float32


def rms(x: np.ndarray, weight: np.ndarray, eps: float) -> np.ndarray:
    return (x / np.sqrt((x * x).mean(-1, keepdims=True) + F(eps)) * weight).astype(F)


def rotate(x: np.ndarray, base: float, adjacent: bool) -> np.ndarray:
    """Rotate [T, H, D] from position 0 on."""
    width = x.shape[-1]
    turns = np.arange(len(x))[:, None] * base ** -(np.arange(0, width, 2) / width)
    c, s = np.cos(turns).astype(F)[:, None], np.sin(turns).astype(F)[:, None]
    found = np.empty_like(x)
    if adjacent:
        a, b = x[..., 0::2], x[..., 1::2]
        found[..., 0::2], found[..., 1::2] = a * c - b * s, a * s + b * c
    else:
        a, b = x[..., : width // 2], x[..., width // 2 :]
        found[..., : width // 2], found[..., width // 2 :] = a * c - b * s, a * s + b * c
    return found


def attend(
    q: np.ndarray, k: np.ndarray, v: np.ndarray, scale: float, window: int = 0
) -> np.ndarray:
    count, heads, width = q.shape
    each = heads // k.shape[1]
    found = np.empty_like(q)
    at = np.arange(count)
    hidden = at[None, :] > at[:, None]
    if window:
        hidden |= at[None, :] <= at[:, None] - window
    for h in range(heads):
        scores = (q[:, h] @ k[:, h // each].T) * F(scale)
        scores[hidden] = -np.inf
        shares = np.exp(scores - scores.max(-1, keepdims=True))
        found[:, h] = (shares / shares.sum(-1, keepdims=True)) @ v[:, h // each]
    return found.reshape(count, heads * width)


def silu(x: np.ndarray) -> np.ndarray:
    return x / (1 + np.exp(-x))


def gelu(x: np.ndarray) -> np.ndarray:
    inner = F(np.sqrt(2 / np.pi)) * (x + F(0.044715) * x**3)
    return F(0.5) * x * (1 + np.tanh(inner))


class Decoder:
    """The logits of Llama's architecture and of Gemma 3.

    ``weights`` are float32 by GGUF's names, ``metadata`` that of the file.
    """

    def __init__(self, weights: dict[str, np.ndarray], metadata: dict[str, Any]) -> None:
        self.w = weights
        self.kind = metadata["general.architecture"]
        own = {
            key.partition(".")[2]: value
            for key, value in metadata.items()
            if key.startswith(self.kind + ".")
        }
        self.layers = own["block_count"]
        self.heads, self.kv_heads = own["attention.head_count"], own["attention.head_count_kv"]
        self.width = own["embedding_length"]
        self.head = own.get("attention.key_length", self.width // self.heads)
        self.eps = own["attention.layer_norm_rms_epsilon"]
        self.base = own.get("rope.freq_base", 10000.0)
        self.window = own.get("attention.sliding_window", 0)

    def logits(self, tokens: Any) -> np.ndarray:
        """The logits [T, vocabulary] of tokens."""
        w = self.w
        x = w["token_embd.weight"][np.asarray(tokens)]
        if self.kind == "gemma3":
            x = x * F(np.sqrt(self.width))
        for n in range(self.layers):
            x = self.block(x, n)
        x = rms(x, w["output_norm.weight"], self.eps)
        return x @ w.get("output.weight", w["token_embd.weight"]).T

    def block(self, x: np.ndarray, n: int) -> np.ndarray:
        is_gemma = self.kind == "gemma3"

        def of(name: str) -> np.ndarray:
            return self.w[f"blk.{n}.{name}.weight"]

        a = rms(x, of("attn_norm"), self.eps)
        q, k, v = (
            (a @ of(f"attn_{name}").T).reshape(len(a), -1, self.head) for name in ("q", "k", "v")
        )
        base, window = self.base, 0
        if is_gemma:
            q, k = rms(q, of("attn_q_norm"), self.eps), rms(k, of("attn_k_norm"), self.eps)
            if n % 6 != 5:
                base, window = 10000.0, self.window
        q, k = rotate(q, base, not is_gemma), rotate(k, base, not is_gemma)
        a = attend(q, k, v, self.head**-0.5, window) @ of("attn_output").T
        x = x + (rms(a, of("post_attention_norm"), self.eps) if is_gemma else a)
        m = rms(x, of("ffn_norm"), self.eps)
        active = gelu if is_gemma else silu
        m = (active(m @ of("ffn_gate").T) * (m @ of("ffn_up").T)) @ of("ffn_down").T
        return x + (rms(m, of("post_ffw_norm"), self.eps) if is_gemma else m)
