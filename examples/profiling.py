"""Measure where GPU time goes, kernel by kernel, with profile."""

import numpy as np

from browsergpu import KernelExecutor, WasmBackend, profile

rows, columns = 128, 96
rng = np.random.default_rng(6)
a = rng.standard_normal((rows, columns), dtype=np.float32)

with WasmBackend() as backend:
    backend.init()
    gpu = KernelExecutor(backend.device)
    x = gpu.from_numpy(a)
    with profile(backend) as p:  # leaving waits; or: async with profile(backend) as p
        similarity = gpu.softmax(gpu.matmul(x, x, transpose_b=True))
        means = gpu.mean(similarity, axis=0)
    result = means.numpy()

print(p)  # a table; in a notebook, end a cell with p to show it
for event in p.events:
    print(f"{event.name:24} from {event.start_ns / 1e3:9.1f} µs, {event.duration_ns / 1e3:9.1f} µs")
p.save_trace("trace.json")  # opens in ui.perfetto.dev

# The same in NumPy
expected = a @ a.T
expected = np.exp(expected - expected.max(axis=1, keepdims=True))
expected = (expected / expected.sum(axis=1, keepdims=True)).mean(axis=0)

np.testing.assert_allclose(result, expected, rtol=1e-3, atol=1e-6)
assert len(p.events) >= 3, "a product, a softmax and a mean"
