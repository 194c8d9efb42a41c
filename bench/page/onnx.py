"""Runs in the page's Python: times ONNX models of ``bg.onnx.load``, called through ``bg.jit``."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

import js
import numpy as np
from bench_rule import RULE, WORK, check, post, timed

import browsergpu as bg

_DTYPES = {"f32": np.float32, "f16": np.float16, "i32": np.int32, "i64": np.int64}


async def run() -> None:
    """Measure the rows."""
    await bg.init_async(warm_up=False)
    device = bg.init()
    await post({"version": bg.__version__, "rule": RULE})
    for row in WORK["rows"]:
        if row["dtype"] == "f16" and "shader-f16" not in device.features:
            await post({"row": row["id"], "skip": "the device has no shader-f16"})
            continue
        for at, title in enumerate(row["files"]):
            line: dict[str, Any] = {"row": row["id"], "way": title}
            try:
                model, given = await _loaded(row, title, told=at == 0)
                line |= await _calls(row, model, given, device)
            except Exception as error:
                line["error"] = f"{type(error).__name__}: {error}"[:600]
            await post(line)
            model = given = None


async def _loaded(row: dict[str, Any], title: str, told: bool) -> tuple[Any, dict[str, Any]]:
    """Load a file, and send the time from its bytes in JavaScript to the first result."""
    files = await js.benchBytes(row["id"], title)
    inputs = {name: _input(row["id"], name, one) for name, one in row["inputs"].items()}
    begin = perf_counter()
    beside = {name: getattr(files.weights, name).to_py() for name in row["weights"]}
    model = bg.onnx.load(files.model.to_bytes(), external=beside)
    loaded = perf_counter()
    results = await _values(model(**inputs))
    end = perf_counter()
    if told:
        times = {"first_ms": 1e3 * (end - begin), "load_ms": 1e3 * (loaded - begin)}
        await post({"row": row["id"], **times, "check": check(row, _picked(row, results))})
    return model, inputs


def _input(row: str, name: str, one: dict[str, Any]) -> Any:
    data = js.benchArray(row, name).to_bytes()
    x = np.frombuffer(data, _DTYPES[one["dtype"]]).reshape(one["shape"])
    return x.item() if x.ndim == 0 else x


async def _values(found: Any) -> list[np.ndarray]:
    listed = found if isinstance(found, tuple) else (found,)
    return [await x.numpy_async() for x in listed]


def _picked(row: dict[str, Any], results: list[np.ndarray]) -> np.ndarray:
    pairs = zip(row["outputs"], results, strict=True)
    return np.concatenate([x.reshape(-1)[one["at"]] for one, x in pairs])


async def _calls(
    row: dict[str, Any], model: Any, inputs: dict[str, Any], device: Any
) -> dict[str, Any]:
    call = bg.jit(model)
    given = {k: bg.asarray(x) if isinstance(x, np.ndarray) else x for k, x in inputs.items()}
    once = _once(lambda: call(**given), device)
    line = await timed(once, row)
    alone = await timed(once, row | {"options": {"single": True}})
    results = await _values(call(**given))
    return line | {
        "wait_ms": alone["ms"],
        "jit": str(call.explain().plain),
        "check": check(row, _picked(row, results)),
    }


def _once(call: Callable[[], Any], device: Any) -> Callable[[int], Any]:
    async def once(k: int) -> float:
        start = perf_counter()
        for _ in range(k):
            call()
        await device.recorder.synchronize()
        return 1e3 * (perf_counter() - start)

    return once
