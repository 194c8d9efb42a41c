"""Models with weights, from packages: the largest differences from onnxruntime on the host.

``python -m onnx_suite.models FOLDER [part of a name]``. FOLDER has the unpacked packages.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import browsergpu as bg

#: The largest difference of a result.
TOLERANCE = 1e-3
_RNG = np.random.default_rng(0)


def _floats(*shape: int) -> np.ndarray:
    return _RNG.standard_normal(shape, dtype=np.float32) * np.float32(0.1)


def cases() -> Iterator[tuple[str, dict[str, Any]]]:
    """Iterate over files of the packages, each with inputs by name."""
    speech = "silero_vad/data/silero_vad"
    for rate, samples, batch in ((16000, 576, 1), (8000, 288, 2)):
        state = _floats(2, batch, 128)
        own = {"input": _floats(batch, samples), "state": state, "sr": np.array(rate)}
        yield f"{speech}.onnx", own
        yield f"{speech}_op18_ifless.onnx", own
    own = {"input": _floats(1, 576), "state": _floats(2, 1, 128)}
    yield f"{speech}_16k_op15.onnx", own | {"sr": np.array(16000)}
    yield f"{speech}_half.onnx", own
    yield f"{speech}_openvino_16k.onnx", own
    cells = {"h": _floats(1, 1, 128), "c": _floats(1, 1, 128)}
    yield f"{speech}_16k_sequence.onnx", {"input": _floats(7, 576)} | cells
    tokens = _RNG.integers(0, 257, (2, 2048)).astype(np.int32)
    yield "magika/models/standard_v3_3/model.onnx", {"bytes": tokens}
    text = "rapidocr/models"
    for rows, columns in ((64, 96), (96, 64)):
        yield f"{text}/PP-OCRv6_det_small.onnx", {"x": _floats(1, 3, rows, columns)}
    for columns in (96, 160):
        yield f"{text}/PP-OCRv6_rec_small.onnx", {"x": _floats(1, 3, 48, columns)}
    yield f"{text}/ch_ppocr_mobile_v2.0_cls_mobile.onnx", {"x": _floats(1, 3, 48, 192)}
    melody = {"serving_default_input_2:0": _floats(1, 43844, 1)}
    yield "basic_pitch/saved_models/icassp_2022/nmp.onnx", melody


def compare(path: Path, inputs: dict[str, Any]) -> tuple[float, int]:
    """Return the largest difference of a model, plain and compiled, and the values it read."""
    import onnxruntime

    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    expected = session.run(None, inputs)
    # A number stays on the host, where models choose a branch by it.
    own = {name: x.item() if x.ndim == 0 else x for name, x in inputs.items()}
    model = bg.onnx.load(path)
    compiled = bg.jit(model)
    worst, reads = 0.0, 0
    for call in (model, compiled, compiled, compiled):
        found = call(**own)
        results = found if isinstance(found, tuple) else (found,)
        for got, want in zip(results, expected, strict=True):
            assert got.shape == want.shape, f"{got.shape} instead of {want.shape}"
            worst = max(worst, float(np.abs(got.numpy() - want).max()))
        reads = max(reads, model.explain().reads)
    return worst, reads


def main() -> int:
    """Print the differences. Returns the number of models whose difference is too large."""
    folder = Path(sys.argv[1])
    part = sys.argv[2] if len(sys.argv) > 2 else ""
    bg.set_fallback("error")  # nothing is computed by NumPy on the host
    warnings.simplefilter("error", bg.jit.__globals__["JitWarning"])
    failed = 0
    for name, inputs in cases():
        if part not in name:
            continue
        begin = time.perf_counter()
        worst, reads = compare(folder / name, inputs)
        failed += worst > TOLERANCE or reads > 0
        shapes = ", ".join(f"{key} {list(x.shape)}" for key, x in inputs.items())
        seconds = time.perf_counter() - begin
        print(f"{name} ({shapes}): {worst:.1e}, {reads} reads, {seconds:.1f} s", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(min(main(), 1))
