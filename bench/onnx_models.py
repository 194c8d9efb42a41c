"""Times of ONNX models with weights, natively: load, first result, and calls of ``bg.jit``.

    python bench/onnx_models.py FOLDER [float16]

FOLDER has the unpacked packages of tools/onnx_suite/requirements.txt. Every sample is a batch of
calls of at least 20 ms, and waits once. The median of 15 samples is printed.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

import browsergpu as bg

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))

from onnx_suite.models import cases

SAMPLE_S, SAMPLES = 0.02, 15


def wait(result: Any) -> None:
    """Wait for the last array of a result."""
    (result[-1] if isinstance(result, tuple) else result).numpy()


def batch_seconds(call: Any, given: dict[str, Any], count: int) -> float:
    """Return the seconds of some calls."""
    begin = time.perf_counter()
    for _ in range(count):
        result = call(**given)
    wait(result)
    return time.perf_counter() - begin


def measure(path: Path, inputs: dict[str, Any], dtype: str) -> tuple[float, float, float]:
    """Return the seconds of a load, of the first result from the load on, and of a call."""
    begin = time.perf_counter()
    model = bg.onnx.load(path)
    loaded = time.perf_counter() - begin
    if dtype:
        model.to(dtype=dtype)
    given = {name: x.item() if x.ndim == 0 else bg.asarray(x) for name, x in inputs.items()}
    wait(model(**given))
    first = time.perf_counter() - begin
    call = bg.jit(model)
    for _ in range(4):
        wait(call(**given))
    count = 1
    while batch_seconds(call, given, count) < SAMPLE_S:
        count *= 2
    return loaded, first, median(batch_seconds(call, given, count) for _ in range(SAMPLES)) / count


def main() -> None:
    """Print a table."""
    folder, dtype = Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else ""
    print(
        "| model | inputs | load ms | first result ms | call ms |\n| --- | --- | --- | --- | --- |"
    )
    for name, inputs in cases():
        times = measure(folder / name, inputs, dtype)
        shapes = ", ".join(str(list(x.shape)) for x in inputs.values())
        cells = " | ".join(f"{seconds * 1e3:.3g}" for seconds in times)
        print(f"| {name} | {shapes} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
