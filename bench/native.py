"""Measures the rows of docs/native.md on the machine's first GPU, and PyTorch on CUDA beside them.

    python3 bench/native.py

Needs ``pip install browsergpu[native]`` (or PYTHONPATH=py). ``BROWSERGPU_ENGINE`` selects the
engine. The column for PyTorch is missing if PyTorch or its GPU is. Each row is the median of its
repeats after some warm-up calls. Each repeat includes the wait for the GPU.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from statistics import median
from typing import Any

import numpy as np

import browsergpu as bg
from browsergpu.engine.gpu.platform import block_on

STEPS = 1000
MIB = 1 << 20
LASTS = 0.03  # seconds of work between two waits


def seconds_of(work: Callable[[], object], repeats: int = 9) -> float:
    """Return the median seconds of a call.

    Half a second of calls comes first, since an idle GPU lowers its clock.
    """
    until = time.perf_counter() + 0.5
    work()
    while time.perf_counter() < until:
        work()
    found = []
    for _ in range(repeats):
        begin = time.perf_counter()
        work()
        found.append(time.perf_counter() - begin)
    return median(found)


class Ours:
    """browsergpu's arrays."""

    def __init__(self) -> None:
        device = bg.init()
        self.name = f"browsergpu on {device.name}"
        self.rng = bg.random.default_rng(0)

    def wait(self, value: Any) -> None:
        block_on(value.ready(), "ready")

    def start(self, value: Any) -> None:
        bg.eval(value)  # an array that is deleted earlier is not computed

    def random(self, shape: tuple[int, ...], half: bool) -> Any:
        x = self.rng.uniform(-1, 1, size=shape)
        return x.astype(bg.float16) if half else x

    def upload(self, data: np.ndarray) -> Any:
        return bg.asarray(data, copy=True)

    def download(self, value: Any) -> np.ndarray:
        return np.asarray(value)

    def softmax(self, value: Any) -> Any:
        return bg.nn.softmax(value, dim=1)


class Torch:
    """PyTorch's tensors on CUDA, TF32 off."""

    def __init__(self) -> None:
        import torch

        if not torch.cuda.is_available():
            raise ImportError("PyTorch sees no GPU")
        torch.backends.cuda.matmul.allow_tf32 = False
        self.torch = torch
        self.name = f"PyTorch {torch.__version__} on {torch.cuda.get_device_name()}"

    def wait(self, value: Any) -> None:
        self.torch.cuda.synchronize()

    def start(self, value: Any) -> None:
        pass  # it has

    def random(self, shape: tuple[int, ...], half: bool) -> Any:
        dtype = self.torch.float16 if half else self.torch.float32
        return (self.torch.rand(shape, device="cuda") * 2 - 1).to(dtype)

    def upload(self, data: np.ndarray) -> Any:
        return self.torch.from_numpy(data).cuda()

    def download(self, value: Any) -> np.ndarray:
        return value.cpu().numpy()

    def softmax(self, value: Any) -> Any:
        return self.torch.softmax(value, 1)


def rows(library: Any) -> Iterator[tuple[str, float, str]]:
    """Print a name, a number and its unit."""

    def timed(work: Callable[[], Any], repeats: int = 9) -> float:
        return seconds_of(lambda: library.wait(work()), repeats)

    def each(work: Callable[[], Any]) -> float:
        """Return the seconds of one operation in a sequence that is long compared to a wait."""

        def run(times: int) -> Any:
            for _ in range(times):
                value = work()
                library.start(value)
            return value

        times = max(1, min(200, int(LASTS / timed(lambda: run(1), 3))))
        return timed(lambda: run(times)) / times

    small, other = (library.random((64,), False) for _ in range(2))

    def products() -> Any:
        z = small
        for _ in range(STEPS):
            z = z * other
        return z

    def affine() -> Any:
        z = small
        for _ in range(STEPS // 2):
            z = z * 0.5 + 1
        return z

    yield "chain of 1,000, z * y", 1e6 * timed(products) / STEPS, "µs an operation"
    yield "chain of 1,000, z * 0.5 + 1", 1e6 * timed(affine) / STEPS, "µs an operation"
    yield "float(x.sum()) of 64", 1e6 * seconds_of(lambda: float(small.sum()), 51), "µs"
    data = np.random.default_rng(0).random(64 * MIB, dtype=np.float32)
    up = timed(lambda: library.upload(data))
    yield "256 MiB to the GPU", data.nbytes / up / 1e9, "GB/s"
    there = library.upload(data)
    down = seconds_of(lambda: library.download(there))
    yield "256 MiB back", data.nbytes / down / 1e9, "GB/s"
    for half, sizes in ((False, (1024, 2048, 4096)), (True, (2048, 4096))):
        for n in sizes:
            a, b = (library.random((n, n), half) for _ in range(2))

            name = f"float{16 if half else 32} product {n}²"
            seconds = each(lambda a=a, b=b: a @ b)
            yield name, 2 * n**3 / seconds / 1e12, "TFLOP/s"
    wide = library.random((8192, 2048), False)

    moved = 2 * 4 * 8192 * 2048
    yield "x + x, 64 MiB", moved / each(lambda: wide + wide) / 1e12, "TB/s"
    yield "softmax, 64 MiB", moved / each(lambda: library.softmax(wide)) / 1e12, "TB/s"


def main() -> None:
    ours = Ours()
    print(ours.name)
    found = {name: (figure, unit) for name, figure, unit in rows(ours)}
    beside: dict[str, float] = {}
    try:
        torch = Torch()
    except ImportError as none:
        print(f"Without PyTorch: {none}")
    else:
        print(torch.name)
        beside = {name: figure for name, figure, _ in rows(torch)}
    for name, (figure, unit) in found.items():
        peer = f"{beside[name]:10.3g}" if name in beside else ""
        print(f"{name:32}{figure:10.3g}{peer} {unit}", flush=True)


if __name__ == "__main__":
    main()
