"""Runs in the page's Python: times training steps and forward passes, called and replayed."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

from bench_networks import FORWARD, FULL, SMALL, Forward, Ours, Task, Training
from bench_rule import WORK, post, timed

import browsergpu as bg

ROW: dict[str, Any] = {"options": {}, "budget": 1.0}


async def run(names: str) -> None:
    """Measure the named networks, or all if there are no names. "forward" selects the models."""
    await bg.init_async(warm_up=False)
    lib = Ours()
    await post({"version": bg.__version__, "device": lib.device})
    for name, task in (SMALL if WORK["rule"]["warmMs"] == 0 else FULL).items():
        if not names or name in names.split(","):
            try:
                line = await steps_of(Training(lib, task, task.weights()), task)
            except Exception as error:
                line = {"error": f"{type(error).__name__}: {error}"[:600]}
            await post({"row": f"training: {name}", **line})

    for name in FORWARD if "forward" in names.split(",") else ():
        for dtype in ("f32", "f16"):
            try:
                line = await forward(Forward(lib, name, dtype == "f16"))
            except Exception as error:
                line = {"error": f"{type(error).__name__}: {error}"[:600]}
            await post({"row": f"forward: {name}, {dtype}", **line})


async def forward(model: Forward) -> dict[str, Any]:
    """Measure a model and return its line."""
    line: dict[str, Any] = {"ms": await measured(lambda: bg.eval(model.go()))}
    with bg.capture() as graph:
        model.go()
    line["replayed_ms"] = await measured(graph.replay)
    graph.close()
    go = model.compiled()
    line["jit_ms"] = await measured(go)
    return line | {"jit": str(go.explain().plain)}


async def steps_of(training: Training, task: Task) -> dict[str, Any]:
    """Measure a network and return its line."""
    x, y = (training.lib.array(part) for part in task.batches(1)[0])
    line: dict[str, Any] = {"ms": await measured(lambda: training.step(x, y))}
    with bg.capture() as graph:
        loss = training.step(x, y)
    line["replayed_ms"] = await measured(graph.replay)
    graph.close()
    step = bg.jit(training.step)
    line["jit_ms"] = await measured(lambda: step(x, y))
    line["jit"] = str(step.explain().plain)
    return line | {"loss": float(await loss.numpy_async())}


async def measured(step: Callable[[], Any]) -> float:
    """Return the milliseconds of a step, by the rule."""
    device = bg.init()

    async def once(k: int) -> float:
        start = perf_counter()
        for _ in range(k):
            step()
        await device.recorder.synchronize()
        return 1e3 * (perf_counter() - start)

    return float((await timed(once, ROW))["ms"])
