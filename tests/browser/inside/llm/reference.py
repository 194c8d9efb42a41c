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


def shares_of(
    q: np.ndarray, k: np.ndarray, scale: float, window: int = 0, cap: float = 0.0
) -> np.ndarray:
    """The shares [H, T, T] of the tokens to which each token attends."""
    count, heads, _ = q.shape
    each = heads // k.shape[1]
    found = np.empty((heads, count, count), q.dtype)
    at = np.arange(count)
    hidden = at[None, :] > at[:, None]
    if window:
        hidden |= at[None, :] <= at[:, None] - window
    for h in range(heads):
        scores = (q[:, h] @ k[:, h // each].T) * F(scale)
        if cap:
            scores = F(cap) * np.tanh(scores / F(cap))
        scores[hidden] = -np.inf
        shares = np.exp(scores - scores.max(-1, keepdims=True))
        found[h] = shares / shares.sum(-1, keepdims=True)
    return found


def attend(shares: np.ndarray, v: np.ndarray) -> np.ndarray:
    each = len(shares) // v.shape[1]
    found = [own @ v[:, h // each] for h, own in enumerate(shares)]
    return np.concatenate(found, axis=1)


def silu(x: np.ndarray) -> np.ndarray:
    return x / (1 + np.exp(-x))


def gelu(x: np.ndarray) -> np.ndarray:
    inner = F(np.sqrt(2 / np.pi)) * (x + F(0.044715) * x**3)
    return F(0.5) * x * (1 + np.tanh(inner))


class Decoder:
    """The logits of Llama, Qwen 2 and 3, Gemma 2 and 3, and Phi-3.

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
        self.is_gemma = self.kind.startswith("gemma")
        self.softcap = own.get("attn_logit_softcapping", 0.0)
        self.final = own.get("final_logit_softcapping", 0.0)

    def logits(self, tokens: Any) -> np.ndarray:
        """The logits [T, vocabulary] of tokens. ``shares`` gets the attention of each layer."""
        w = self.w
        self.shares: list[np.ndarray] = []
        x = w["token_embd.weight"][np.asarray(tokens)]
        if self.is_gemma:
            x = x * F(np.sqrt(self.width))
        for n in range(self.layers):
            x = self.block(x, n)
        x = rms(x, w["output_norm.weight"], self.eps)
        found = x @ w.get("output.weight", w["token_embd.weight"]).T
        return F(self.final) * np.tanh(found / F(self.final)) if self.final else found

    def linear(self, x: np.ndarray, name: str) -> np.ndarray:
        found = x @ self.w[f"{name}.weight"].T
        return found + self.w[f"{name}.bias"] if f"{name}.bias" in self.w else found

    def block(self, x: np.ndarray, n: int) -> np.ndarray:
        at = f"blk.{n}"
        w, is_gemma = self.w, self.is_gemma
        a = rms(x, w[f"{at}.attn_norm.weight"], self.eps)
        sizes = [self.heads * self.head, self.kv_heads * self.head]
        if self.kind == "phi3":
            parts = np.split(self.linear(a, f"{at}.attn_qkv"), np.cumsum(sizes), axis=1)
        else:
            parts = [self.linear(a, f"{at}.attn_{name}") for name in ("q", "k", "v")]
        q, k, v = (one.reshape(len(a), -1, self.head) for one in parts)
        if f"{at}.attn_q_norm.weight" in w:
            q = rms(q, w[f"{at}.attn_q_norm.weight"], self.eps)
            k = rms(k, w[f"{at}.attn_k_norm.weight"], self.eps)
        base, window = self.base, self.window
        if self.kind == "gemma3":
            base, window = (self.base, 0) if n % 6 == 5 else (10000.0, window)
        if self.kind == "gemma2":
            window = 0 if n % 2 else window
        adjacent = self.kind == "llama"
        q, k = rotate(q, base, adjacent), rotate(k, base, adjacent)
        self.shares.append(shares_of(q, k, self.head**-0.5, window, self.softcap))
        a = attend(self.shares[-1], v)
        a = self.linear(a, f"{at}.attn_output")
        x = x + (rms(a, w[f"{at}.post_attention_norm.weight"], self.eps) if is_gemma else a)
        m = rms(x, w[f"{at}.ffn_norm.weight"], self.eps)
        if self.kind == "phi3":
            gate, up = np.split(self.linear(m, f"{at}.ffn_up"), 2, axis=1)
        else:
            gate, up = self.linear(m, f"{at}.ffn_gate"), self.linear(m, f"{at}.ffn_up")
        active = gelu if is_gemma else silu
        m = self.linear(active(gate) * up, f"{at}.ffn_down")
        return x + (rms(m, w[f"{at}.post_ffw_norm.weight"], self.eps) if is_gemma else m)


def layer_norm(x: np.ndarray, w: dict[str, np.ndarray], name: str, eps: float) -> np.ndarray:
    mean = x.mean(-1, keepdims=True)
    own = (x - mean) / np.sqrt(((x - mean) ** 2).mean(-1, keepdims=True) + F(eps))
    return (own * w[f"{name}.weight"] + w[f"{name}.bias"]).astype(F)


def of_gpt2(w: dict[str, np.ndarray], tokens: Any, heads: int, eps: float) -> np.ndarray:
    """The logits [T, vocabulary] of GPT-2."""

    def linear(x: np.ndarray, name: str) -> np.ndarray:
        return x @ w[f"{name}.weight"].T + w[f"{name}.bias"]

    count = len(tokens)
    x = w["token_embd.weight"][np.asarray(tokens)] + w["position_embd.weight"][:count]
    n = 0
    while f"blk.{n}.attn_norm.weight" in w:
        at = f"blk.{n}"
        a = linear(layer_norm(x, w, f"{at}.attn_norm", eps), f"{at}.attn_qkv")
        q, k, v = (one.reshape(count, heads, -1) for one in np.split(a, 3, axis=1))
        x = x + linear(attend(shares_of(q, k, q.shape[2] ** -0.5), v), f"{at}.attn_output")
        m = linear(layer_norm(x, w, f"{at}.ffn_norm", eps), f"{at}.ffn_up")
        x = x + linear(gelu(m), f"{at}.ffn_down")
        n += 1
    return layer_norm(x, w, "output_norm", eps) @ w["token_embd.weight"].T


def of_bert(w: dict[str, np.ndarray], tokens: Any, heads: int, eps: float) -> np.ndarray:
    """The mean of the last states of BERT, with length 1, in float64."""
    from math import erf

    def linear(x: np.ndarray, name: str) -> np.ndarray:
        return x @ w[f"{name}.weight"].T.astype(np.float64) + w[f"{name}.bias"]

    def norm(x: np.ndarray, name: str) -> np.ndarray:
        mean = x.mean(-1, keepdims=True)
        own = (x - mean) / np.sqrt(((x - mean) ** 2).mean(-1, keepdims=True) + eps)
        return own * w[f"{name}.weight"] + w[f"{name}.bias"]

    exact = np.vectorize(lambda v: 0.5 * v * (1 + erf(v / 2**0.5)))
    count = len(tokens)
    x = w["token_embd.weight"][np.asarray(tokens)].astype(np.float64)
    x = norm(x + w["position_embd.weight"][:count] + w["token_types.weight"][0], "token_embd_norm")
    n = 0
    while f"blk.{n}.attn_q.weight" in w:
        at = f"blk.{n}"
        q, k, v = (
            linear(x, f"{at}.attn_{name}").reshape(count, heads, -1) for name in ("q", "k", "v")
        )
        scores = np.einsum("qhd,khd->hqk", q, k) * q.shape[2] ** -0.5
        shares = np.exp(scores - scores.max(-1, keepdims=True))
        shares /= shares.sum(-1, keepdims=True)
        a = np.einsum("hqk,khd->qhd", shares, v).reshape(count, -1)
        x = norm(x + linear(a, f"{at}.attn_output"), f"{at}.attn_output_norm")
        m = exact(linear(x, f"{at}.ffn_up"))
        x = norm(x + linear(m, f"{at}.ffn_down"), f"{at}.layer_output_norm")
        n += 1
    found = x.mean(0)
    return found / np.linalg.norm(found)
