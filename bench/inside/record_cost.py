"""Runs in the kernel: times recording without waiting for the GPU, and returns the table's text.

"Python alone" drops recorded operations instead of passing them to the engine, so the GPU is idle.
Layers run under ``no_grad()``, recorded, and with the backward pass.
"""

from statistics import median
from time import perf_counter

import numpy as np

import browsergpu

CALLS, REPEATS = 100, 15

backend = browsergpu.WasmBackend()
await backend.init_async()  # noqa: F704 - the kernel allows it
a, b, c, d = (backend.alloc(4 * 1024) for _ in range(4))
for pointer in (a, b, c, d):
    backend.copy_htod(pointer, np.ones(1024, np.float32))
executor = browsergpu.KernelExecutor(backend.device)
x, y, z = (executor.full((8, 8), 1.0) for _ in range(3))
tensors = browsergpu.TensorBackend(backend)
browsergpu.use(backend)
v, w = (browsergpu.ones((8, 8)).reshape(64) for _ in range(2))
s, t = (tensors.alloc_tensor((8, 8), "f32") for _ in range(2))
layers = {
    "Linear": (browsergpu.nn.Linear(16, 16), (8, 16)),
    "Conv2d": (browsergpu.nn.Conv2d(8, 8, 3, padding=1), (1, 8, 8, 8)),
    "LayerNorm": (browsergpu.nn.LayerNorm(16), (8, 16)),
}


def layer_cases(layer, shape):
    """Return a layer's calls: without gradients, recorded, and with the backward pass."""
    g, x = browsergpu.ones(shape), browsergpu.ones(shape).requires_grad_()

    def without():
        with browsergpu.no_grad():
            layer(x)

    def forward_and_backward():
        layer(x).backward(g)
        layer.zero_grad()
        x.grad = None

    return {"no_grad": without, "recorded": lambda: layer(x), "backward": forward_and_backward}


def chain(x):
    """Compute ten small operations in a row, and record their kernel."""
    for _ in range(5):
        x = x * w + 1.0
    browsergpu.eval(x)


CASES = {
    "unary": lambda: backend.unary("relu", a, c, 64),
    "binary": lambda: backend.binary("add", a, b, c, 64),
    "reduce": lambda: backend.reduce("sum", a, c, (8, 8), 1),
    "gemm": lambda: backend.gemm("no_trans", "no_trans", 8, 8, 8, 1.0, a, 8, b, 8, 0.0, c, 8),
    "conv2d_forward": lambda: backend.conv2d_forward(
        a, (1, 2, 8, 8), b, (2, 2, 3, 3), c, (1, 2, 8, 8), 1, 1
    ),
    "attention": lambda: backend.attention(a, b, c, d, 1, 2, 4, 4, 8, 0.5, True),
    "x + y": lambda: executor.add(x, y),
    "x + y, out": lambda: executor.add(x, y, out=z),
    "x + 1.0": lambda: executor.add(x, 1.0),
    "x @ y": lambda: executor.matmul(x, y),
    "relu(x)": lambda: executor.relu(x),
    "layer_norm(x)": lambda: executor.layer_norm(x),
    "array v * w": lambda: v * w,
    "array v + 1.0": lambda: v + 1.0,
    "array sin(v)": lambda: browsergpu.sin(v),
    "array v[1:, None]": lambda: v[1:, None],
    "tensors.relu": lambda: tensors.relu(s, t),
    "tensors.softmax": lambda: tensors.softmax(s, t, -1),
    "chain of 10": lambda: chain(v),
    **{
        f"{name} {kind}": call
        for name, (layer, shape) in layers.items()
        for kind, call in layer_cases(layer, shape).items()
    },
}


async def cost(call):
    """Return the microseconds of a call: the median of the repeats."""
    times = []
    for _ in range(REPEATS):
        start = perf_counter()
        for _ in range(CALLS):
            call()
        times.append((perf_counter() - start) / CALLS * 1e6)
        await backend.synchronize_async()
    return median(times)


async def costs():
    """Return the cost of each case by name."""
    return {name: await cost(call) for name, call in CASES.items()}


everything = await costs()  # noqa: F704 - the kernel allows it
recorder = backend.device.recorder
# Natively the sender takes the commands, in a page the recorder itself.
owner, name = recorder, "_record"
if hasattr(recorder, "_sender"):
    owner, name = recorder._sender, "add"
setattr(owner, name, lambda command: False)
alone = await costs()  # noqa: F704
delattr(owner, name)
table = "\n".join(
    ["                            all   Python alone"]
    + [f"{name:20} {everything[name]:8.1f} µs {alone[name]:8.1f} µs" for name in CASES]
)
table  # noqa: B018 - the kernel shows it
