"""Compute causal multi-head attention, as in a transformer, with KernelExecutor.attention.

The kernel computes the softmax along with the sums, so the full score matrix is never in memory.
"""

import numpy as np

from browsergpu import KernelExecutor, WasmBackend

batch, heads, length, head_dim = 2, 4, 48, 32
rng = np.random.default_rng(3)
q, k, v = (rng.standard_normal((batch, heads, length, head_dim), dtype=np.float32) for _ in "qkv")

with WasmBackend() as backend:
    backend.init()
    gpu = KernelExecutor(backend.device)
    queries, keys, values = (gpu.from_numpy(array) for array in (q, k, v))
    mixed = gpu.attention(queries, keys, values, causal=True).numpy()

# The same in NumPy: query i sees the first i + 1 keys.
scores = q @ k.swapaxes(-1, -2) / np.float32(np.sqrt(head_dim))
scores[..., np.triu(np.ones((length, length), bool), 1)] = -np.inf
weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
expected = weights / weights.sum(axis=-1, keepdims=True) @ v

np.testing.assert_allclose(mixed, expected, rtol=1e-4, atol=1e-5)
print(f"{batch * heads} heads of {length} × {length} scores: as in NumPy")
