"""Run the forward pass of a small network on arrays in GPU memory with KernelExecutor.

Two layers turn pictures of 28 × 28 pixels into the probabilities of ten classes. The pictures and
weights are copied to the GPU, and only the probabilities are read back.
"""

import numpy as np

from browsergpu import KernelExecutor, WasmBackend

batch, pixels, hidden, classes = 32, 28 * 28, 64, 10
rng = np.random.default_rng(2)
pictures = rng.random((batch, pixels), dtype=np.float32)
w1 = rng.standard_normal((pixels, hidden), dtype=np.float32) / np.float32(np.sqrt(pixels))
b1 = rng.standard_normal(hidden, dtype=np.float32)
w2 = rng.standard_normal((hidden, classes), dtype=np.float32) / np.float32(np.sqrt(hidden))
b2 = rng.standard_normal(classes, dtype=np.float32)

with WasmBackend() as backend:
    backend.init()
    gpu = KernelExecutor(backend.device)
    weights = [gpu.from_numpy(array) for array in (w1, b1, w2, b2)]

    x = gpu.from_numpy(pictures)
    h = gpu.linear(x, weights[0], weights[1], activation="relu")  # relu(x w1 + b1), in one kernel
    logits = gpu.linear(h, weights[2], weights[3])
    probabilities = gpu.softmax(logits).numpy()  # waits; or: await (...).numpy_async()

# The same in NumPy
expected = np.maximum(pictures @ w1 + b1, 0) @ w2 + b2
expected = np.exp(expected - expected.max(axis=1, keepdims=True))
expected /= expected.sum(axis=1, keepdims=True)

np.testing.assert_allclose(probabilities, expected, rtol=1e-4, atol=1e-6)
print("classes of the first pictures:", probabilities.argmax(axis=1)[:8])
