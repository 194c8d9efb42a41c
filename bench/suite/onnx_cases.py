"""The models of onnx.html: files of packages, and networks with random weights.

Results are checked against onnxruntime on the host, in float32.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np

from suite.data import Input
from suite.onnx_networks import bert, mobilenet_v2, yolo_v8
from suite.reference import entries
from suite.whole import Onnx, resnet50

#: Differences allowed for random weights, relative to the standard deviation of the output.
_TOLERANCES = {"f32": 5e-3, "f16": 0.1}
_NAMES = {"float32": "f32", "float16": "f16", "int32": "i32", "int64": "i64"}


@dataclass
class Case:
    """A model: its variants as files by name, the weights beside them, and its inputs."""

    id: str
    dtype: str
    files: dict[str, bytes]
    inputs: dict[str, Input | np.ndarray]
    weights: dict[str, Input] = field(default_factory=dict)
    layouts: bool = True


def cases(sizes: str, packages: Path) -> Iterator[Case]:
    """Iterate over the cases, small ones first."""
    yield from _of_packages(sizes == "small", packages)
    for dtype in ("f32", "f16"):
        yield from _networks(sizes == "small", dtype)


def _of_packages(small: bool, packages: Path) -> Iterator[Case]:
    def case(name: str, path: str, **inputs: Input | np.ndarray) -> Case:
        files = {"file": (packages / path).read_bytes()}
        named = {key.replace("__", ":"): x for key, x in inputs.items()}
        return Case(f"onnx: {name}", "f32", files, named)

    speech = "silero_vad/data/silero_vad"
    own = {"input": Input((1, 576), 1, scale=0.3), "state": Input((2, 1, 128), 2, scale=0.3)}
    rate = {"sr": np.array(16000)}
    yield case("silero-vad, with If", f"{speech}.onnx", **own, **rate)
    yield case("silero-vad, without If", f"{speech}_op18_ifless.onnx", **own, **rate)
    yield case("silero-vad, half", f"{speech}_half.onnx", **own)
    cells = {"h": Input((1, 1, 128), 2, scale=0.3), "c": Input((1, 1, 128), 3, scale=0.3)}
    steps = 7 if small else 32
    sequence = Input((steps, 576), 1, scale=0.3)
    yield case(f"silero-vad, {steps} steps", f"{speech}_16k_sequence.onnx", input=sequence, **cells)
    tokens = np.random.default_rng(0).integers(0, 257, (1, 2048)).astype(np.int32)
    yield case("magika", "magika/models/standard_v3_3/model.onnx", bytes=tokens)
    text = "rapidocr/models"
    extent = 96 if small else 640
    for what, file, shape in (
        ("detection", "PP-OCRv6_det_small", (1, 3, extent, extent)),
        ("recognition", "PP-OCRv6_rec_small", (1, 3, 48, 96 if small else 320)),
        ("orientation", "ch_ppocr_mobile_v2.0_cls_mobile", (1, 3, 48, 192)),
    ):
        x = Input(shape, 1, scale=2.0)
        yield case(f"rapidocr, {what}", f"{text}/{file}.onnx", x=x)
    melody = {"serving_default_input_2__0": Input((1, 43844, 1), 1, scale=0.6)}
    yield case("basic-pitch", "basic_pitch/saved_models/icassp_2022/nmp.onnx", **melody)


_RESNET = {True: (4, 32), False: (64, 224)}
_MOBILENET = {True: (0.25, 32), False: (1.0, 224)}
_YOLO = {True: ((8, 8, 16, 16, 32), 8, 64), False: ((16, 32, 64, 128, 256), 80, 640)}
_BERT = {True: (2, 32, 2, 64), False: (12, 768, 12, 30522)}


def _networks(small: bool, dtype: str) -> Iterator[Case]:
    def image(extent: int) -> dict[str, Input]:
        return {"x": Input((1, 3, extent, extent), 1, dtype, scale=sqrt(12))}

    width, extent = _RESNET[small]
    out: tuple[int, ...] = (1, 1000)
    yield _made("ResNet-50", dtype, image(extent), out, lambda lib: resnet50(lib, width))
    factor, extent = _MOBILENET[small]
    yield _made("MobileNetV2", dtype, image(extent), out, lambda lib: mobilenet_v2(lib, factor))
    widths, classes, extent = _YOLO[small]
    out = (1, 4 + classes, sum((extent // stride) ** 2 for stride in (8, 16, 32)))
    yield _made(
        "YOLOv8n", dtype, image(extent), out, lambda lib: yolo_v8(lib, widths, classes, extent)
    )
    layers, width, heads, words = _BERT[small]
    for length in (16, 32) if small else (128, 512):
        tokens = {"x": Input((1, length), 1, "i32")}
        yield _made(
            f"BERT-base, {length} tokens", dtype, tokens, (1, length, width),
            lambda lib, n=length: bert(lib, layers, width, heads, words, n), fused=True,
        )  # fmt: skip


def _made(
    name: str, dtype: str, inputs: dict[str, Input], out: tuple[int, ...],
    make: Callable[[Onnx], str], fused: bool = False,
) -> Case:  # fmt: skip
    files = {}
    for title in ("file", "fused operators") if fused else ("file",):
        lib = Onnx(inputs, dtype, title != "file")
        files[title] = lib.model(make(lib), out)
    return Case(
        f"onnx: {name}, {dtype}", dtype, files, dict(inputs), lib.weights, layouts=not fused
    )


def row_of(case: Case, index: int) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Return the row of a case for the page, and its files by name."""
    files = {f"onnx{index}-{at}.onnx": data for at, data in enumerate(case.files.values())}
    places = dict(zip(case.files, files, strict=True))
    outputs, shapes = expected(case)
    listed, at, values = [], [], []
    for name, x in outputs.items():
        here = entries(x.shape)
        kind = "f16" if case.dtype == "f16" else _NAMES[x.dtype.name]
        listed.append({"name": name, "dtype": kind, "shape": x.shape, "at": here})
        at += here
        values += [float(x.reshape(-1)[i]) for i in here]
    if case.weights:
        tolerance = _TOLERANCES[case.dtype] * max(
            float(x.std(dtype=np.float64)) for x in outputs.values()
        )
    else:
        tolerance = min(1e-3, 5e-3 * max(float(np.abs(x).max()) for x in outputs.values()))
    row = {
        "id": case.id,
        "first": False,
        "array": True,
        "ours_only": False,
        "dtype": case.dtype,
        "budget": 1.0,
        "options": {},
        "files": places,
        "layouts": ["NHWC", "NCHW"] if case.layouts else [],
        # onnxruntime-web 1.30.0 computes wrong results in its default layout, NHWC.
        "first_layout": "NCHW" if "silero" in case.id else None,
        "dimensions": shapes,
        "inputs": {name: _described(x) for name, x in case.inputs.items()},
        "weights": {name: asdict(x) for name, x in case.weights.items()},
        "outputs": listed,
        "check": {"at": at, "values": values, "tolerance": tolerance},
    }
    return row, files


def _described(x: Input | np.ndarray) -> dict[str, Any]:
    if isinstance(x, Input):
        return asdict(x)
    data = b64encode(x.tobytes()).decode()
    return {"shape": x.shape, "dtype": _NAMES[x.dtype.name], "base64": data}


def expected(case: Case) -> tuple[dict[str, np.ndarray], Mapping[str, int]]:
    """Return the results of onnxruntime on the host, and the extents of named dimensions."""
    import onnxruntime

    data = next(iter(case.files.values()))
    given = {k: x.copy() for k, x in case.inputs.items()}
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    if case.weights:
        names = list(case.weights)
        # onnxruntime keeps only the addresses.
        held = [case.weights[name].copy().tobytes() for name in names]
        options.add_external_initializers_from_files_in_memory(names, held, list(map(len, held)))
    session = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    seen: dict[str, set[int]] = {}
    for info in session.get_inputs():
        for name, extent in zip(info.shape, given[info.name].shape, strict=True):
            if isinstance(name, str):
                seen.setdefault(name, set()).add(extent)
    # A name such as "?" can stand for several extents.
    dimensions = {name: extents.pop() for name, extents in seen.items() if len(extents) == 1}
    found = session.run(None, given)
    names = [info.name for info in session.get_outputs()]
    return dict(zip(names, map(np.asarray, found), strict=True)), dimensions
