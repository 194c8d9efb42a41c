"""Runs in the page's Python: rounds of mixed work, and the memory in use between them."""

import gc
import time

import js
import numpy as np
import pyodide_js

import browsergpu
from browsergpu import TensorBackend, WasmBackend
from browsergpu.errors import BackendError, DeviceLost

SECONDS_BETWEEN_LOSSES = 30  # each takes some seconds to compile

backend = WasmBackend()
await backend.init_async()  # noqa: F704 - the page's kernel allows it
tensors = TensorBackend(backend)
random = np.random.default_rng(1)
kept = backend.alloc(4096, keep=True, label="kept")
backend.copy_htod(kept, np.arange(1024, dtype=np.float32))
SIZES = random.integers(1, 5000, 40)  # few, since programs of a thousand problems are cached
data = random.random(20_000, np.float32)
result = np.zeros(20_000, np.float32)
rounds = 0
lost_at = time.monotonic()


def compute():
    """Call every operation of WasmBackend on new buffers."""
    n = int(random.choice(SIZES))
    x, y, z, w = (backend.alloc(4 * max(n, 256)) for _ in range(4))
    backend.copy_htod(x, data[:n])
    backend.copy_htod(y, data[: max(n, 256)])
    backend.copy_htod(z, data[:n].tobytes()[: 4 * n - 1])
    backend.unary("sqrt", x, x, n)
    backend.binary("mul", x, y, z, n)
    backend.reduce("mean", x, w, [n], 0)
    backend.gemm("no_trans", "no_trans", 8, 8, 8, 1.0, x if n > 63 else y, 8, y, 8, 0.0, z, 8)
    backend.gemm_f16(8, 8, 8, 1.0, y, kept, 0.0, w)
    backend.conv2d_forward(y, [1, 1, 8, 8], kept, [1, 1, 3, 3], w, [1, 1, 6, 6], 1, 0)
    backend.attention(y, kept, kept, w, 1, 2, 4, 4, 8, 0.5, True)
    backend.copy_dtoh(result[:n], x)
    backend.draw(y, 4, 4, 3, "gpu-canvas")
    for pointer in (y, w, x, z):
        backend.free(pointer)


def train():
    """Call tensor operations of every kind."""
    n = int(random.integers(1, 60))
    made = [tensors.alloc_tensor((n, 16), dtype) for dtype in ("f32", "f16", "f32", "f32")]
    for handle in made:
        dtype = tensors.tensor_meta(handle).dtype.numpy
        tensors.write_tensor(handle, data[: 16 * n].reshape(n, 16).astype(dtype))
    a, b, m, v = made
    tensors.softmax(a, b, -1)
    tensors.gelu(b, b)
    tensors.attention(a, b, a, b, None, None)
    tensors.adam_update(a, b, m, v, 0.1, 0.9, 0.99, 1e-8, 1)
    tensors.gaussian_blur(a, b, 1.5)
    tensors.read_numpy(b)
    for handle in made:
        tensors.free_tensor(handle)


def fail():
    """Make calls with invalid arguments."""
    for call in (
        lambda: backend.alloc(2**50),
        lambda: backend.unary("relu", kept, kept, 1025),
        lambda: backend.free(10**9),
        lambda: tensors.relu(10**9, 10**9),
        lambda: tensors.alloc_tensor((2**40,), "f32"),
    ):
        try:
            call()
        except BackendError:
            continue
        raise AssertionError("was not refused")


def measure():
    """Take a profile with each clock."""
    with browsergpu.profile(backend, timestamps=rounds % 2 == 0) as p:
        backend.unary("neg", kept, kept, 1024)
        backend.unary("neg", kept, kept, 1024)
    repr(p), p._repr_html_(), p.trace()


async def lose():
    """Lose the device and recover it with its contents."""
    global lost_at
    js.gpuWatch.devices.pop().destroy()
    try:
        backend.synchronize()
    except DeviceLost:
        await backend.recover()
    backend.copy_dtoh(result[:1024], kept)
    assert (result[:1024] == np.arange(1024)).all()
    lost_at = time.monotonic()


async def play(seconds):
    """Work for some seconds. Return the total number of rounds."""
    global rounds
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        rounds += 1
        compute()
        train()
        if rounds % 5 == 0:
            fail()
        if rounds % 20 == 0:
            measure()
        if time.monotonic() - lost_at > SECONDS_BETWEEN_LOSSES:
            await lose()
    return rounds


def held():
    """Return GPU bytes in use and pooled, and numbers of objects of each kind."""
    gc.collect()
    gc.collect()  # objects freed in cycles may have held others
    backend.synchronize()
    backend.device.memory.trim()
    memory, told = backend.device.memory, backend.device.recorder.counters
    return [
        memory.in_use / 1e3,
        memory.pooled / 1e3,
        js.gpuWatch.buffersAlive,
        told["buffers"] + told["bind_groups"] + told["staging"],
        told["waiting"],
        len(gc.get_objects()),
        pyodide_js._module.HEAP8.length / 2**20,
    ]
