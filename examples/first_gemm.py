"""Multiply two matrices with BLAS-style calls on pointers: WasmBackend."""

import numpy as np

from browsergpu import WasmBackend

m, n, k = 96, 80, 64
rng = np.random.default_rng(1)
a = rng.standard_normal((m, k), dtype=np.float32)
b = rng.standard_normal((k, n), dtype=np.float32)

with WasmBackend() as backend:
    backend.init()  # where Python cannot block: await backend.init_async()
    a_ptr, b_ptr = backend.alloc(a.nbytes), backend.alloc(b.nbytes)
    c_ptr = backend.alloc(4 * m * n)
    backend.copy_htod(a_ptr, a)
    backend.copy_htod(b_ptr, b)

    # C = 1.0 A B + 0.0 C. The leading dimension of a row-major matrix is the length of its rows.
    backend.gemm("no_trans", "no_trans", m, n, k, 1.0, a_ptr, k, b_ptr, n, 0.0, c_ptr, n)

    c = np.empty((m, n), np.float32)
    backend.copy_dtoh(c, c_ptr)  # waits; or: await backend.copy_dtoh_async(c, c_ptr)

np.testing.assert_allclose(c, a @ b, rtol=1e-4, atol=1e-4)
print(f"{m} × {k} times {k} × {n}: largest difference to NumPy {np.abs(c - a @ b).max():.1e}")
