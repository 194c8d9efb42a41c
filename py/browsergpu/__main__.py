"""``python -m browsergpu``: list the GPUs and measure the speed of the first one."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator

import numpy as np

import browsergpu as bg
from browsergpu.engine.gpu.platform import block_on, engine_name
from browsergpu.errors import BackendError


def main() -> int:
    """Print a report. Return 1 if there is no GPU or its results are wrong, else 0."""
    try:
        adapters = bg.enumerate_adapters()
        bg.get_best_adapter()
    except BackendError as none:
        print(none, file=sys.stderr)
        return 1
    print(f"browsergpu {bg.__version__}, Python {sys.version.split()[0]}")
    for adapter in adapters:
        facts = [adapter.vendor, adapter.device_type]
        if adapter.memory:
            facts.append(f"{adapter.memory / 1e9:.0f} GB")
        print(f"  {adapter.index}: {adapter.name} ({', '.join(facts)})")
    device = bg.init()
    print(f"On {device.name}, by {engine_name()}:")
    for name, found in _abilities(device, adapters[0]):
        print(f"  {name}: {found}")
    rng = np.random.default_rng(0)
    x, y = (rng.random((512, 512), dtype=np.float32) for _ in range(2))
    error = float(np.abs(np.asarray(bg.asarray(x) @ bg.asarray(y)) - x @ y).max())
    print(f"  matrix product, 512 × 512: largest difference from NumPy's {error:.1e}")
    software = adapters[0].device_type == "cpu"
    n, size = (256, 1 << 20) if software else (4096, 1 << 26)
    a = bg.random.default_rng(0).uniform(size=(n, n))
    seconds = _best(lambda: a @ a)
    print(f"  matrix product, {n} × {n}: {2 * n**3 / seconds / 1e12:.3g} TFLOP/s")
    b = bg.zeros((size,))
    seconds = _best(lambda: b + 1)
    print(f"  b + 1, {4 * size >> 20} MiB: {8 * size / seconds / 1e9:.3g} GB/s")
    c = bg.zeros((64,))
    seconds = _best(lambda: _chain(c, 1000))
    print(
        f"  1,000 operations on 64 numbers, one after another: {1e6 * seconds / 1000:.3g} µs each"
    )
    return 0 if error < 1e-3 else 1


def _abilities(device: bg.Device, adapter: bg.AdapterInfo) -> Iterator[tuple[str, str]]:
    """Yield optional features of the GPU, and its largest array size."""
    for name, feature, without in (
        ("float16", "shader-f16", "stored as float16, computed in float32"),
        ("subgroups", "subgroups", "no"),
        ("kernel timestamps", "timestamp-query", "no: profiles use the host's clock"),
    ):
        yield name, "yes" if feature in device.features else without
    matrices = any(one.startswith("matrices") for one in adapter.abilities)
    yield "matrices in hardware", "yes" if matrices else "no"
    yield "largest array", f"{device.largest_buffer >> 20:,} MiB"


def _chain(x: bg.Array, length: int) -> bg.Array:
    for _ in range(length):
        x = x * 0.5 + 1
    return x


def _best(work: Callable[[], bg.Array], times: int = 5) -> float:
    """Return the seconds of the fastest run, after a warm-up. Each run waits for the GPU."""
    seconds = []
    for _ in range(times + 1):
        begin = time.perf_counter()
        block_on(work().ready(), "ready")
        seconds.append(time.perf_counter() - begin)
    return min(seconds[1:])


if __name__ == "__main__":
    sys.exit(main())
