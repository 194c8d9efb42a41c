"""Models with weights, from packages: the largest differences from onnxruntime on the host.

``python -m onnx_suite.models FOLDER [part of a name]``. FOLDER has the unpacked packages.
``FOLDER --expected TARGET`` writes inputs and expected results instead, for a page.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import browsergpu as bg
from onnx_suite.agreement import compare

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


def expected(path: Path, inputs: dict[str, Any]) -> list[np.ndarray]:
    """Return the results of onnxruntime on the host."""
    import onnxruntime

    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    return list(session.run(None, inputs))


def write_expected(folder: Path, target: Path) -> None:
    """Write the inputs and the expected results of each case, for a page."""
    listed = []
    for at, (name, inputs) in enumerate(cases()):
        results = expected(folder / name, inputs)
        arrays: dict[str, Any] = {f"in{key}": x for key, x in inputs.items()}
        arrays |= {f"out{n}": x for n, x in enumerate(results)}
        np.savez(target / f"{at}.npz", **arrays)
        listed.append({"model": name, "arrays": f"{at}.npz", "results": len(results)})
    (target / "cases.json").write_text(json.dumps(listed), encoding="utf-8")


def main() -> int:
    """Print the differences. Returns the number of models whose difference is too large."""
    folder = Path(sys.argv[1])
    if sys.argv[2:3] == ["--expected"]:
        write_expected(folder, Path(sys.argv[3]))
        return 0
    part = sys.argv[2] if len(sys.argv) > 2 else ""
    failed = 0
    for name, inputs in cases():
        if part not in name:
            continue
        begin = time.perf_counter()
        model = bg.onnx.load(folder / name)
        worst, reads = compare(model, inputs, expected(folder / name, inputs))
        failed += worst > TOLERANCE or reads > 0
        shapes = ", ".join(f"{key} {list(x.shape)}" for key, x in inputs.items())
        seconds = time.perf_counter() - begin
        print(f"{name} ({shapes}): {worst:.1e}, {reads} reads, {seconds:.1f} s", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(min(main(), 1))
