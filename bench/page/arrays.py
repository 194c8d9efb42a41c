"""Runs in the page's Python: times programs.py on browsergpu's arrays, or on NumPy's."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any, ClassVar

import bench_programs as programs
import numpy as np
from bench_data import Input
from bench_rule import WORK, Skip, check, post, timed


class Browsergpu:
    """Arrays on the GPU: a program is recorded and sent, and its end waited for."""

    programs: ClassVar[dict[str, Any]] = {}  # its own words for some of programs.PROGRAMS
    options: ClassVar[dict[str, Any]] = {}  # more for some of them
    skips: ClassVar[dict[str, str]] = {}  # why it cannot do some of them
    last: tuple[str, ...] = ()  # what comes after the others

    async def start(self) -> dict[str, Any]:
        """Opens the GPU. Gives what the page says of itself."""
        import browsergpu

        # What is measured compiles by its warm-ups; nothing else is to be busy meanwhile.
        self.xp = browsergpu
        self.backend = browsergpu.WasmBackend(warm_up=False)
        await self.backend.init_async()
        browsergpu.use(self.backend)
        return {"version": browsergpu.__version__, "device": self.backend.device.info}

    def array(self, data: Any) -> Any:
        return self.xp.asarray(data)

    async def read(self, array: Any) -> Any:
        return await array.numpy_async()

    async def measure(self, call: Callable[[], Any], row: dict[str, Any]) -> tuple[Any, Any]:
        """Times a program by the rule, and counts its kernels. Gives the line and results."""

        async def once(k: int) -> float:
            start = perf_counter()
            for _ in range(k):
                self.xp.eval(*call())
            await self.backend.synchronize_async()
            return 1e3 * (perf_counter() - start)

        line = await timed(once, row)
        recorder, seen = self.backend.device.recorder, []
        observer = lambda pipeline, fields: seen.append(pipeline.label)  # noqa: E731
        recorder.observers.append(observer)
        await once(1)
        recorder.observers.remove(observer)
        line |= {"dispatches": len(seen), "kernels": sorted(set(seen))}
        return line | await self.replayed(call, row), call()

    async def replayed(self, call: Callable[[], Any], row: dict[str, Any]) -> dict[str, Any]:
        """Times a program that was captured. Nothing where it cannot be, as it reads values."""
        try:
            with self.xp.capture() as graph:
                found = call()
        except NotImplementedError:
            return {}

        async def once(k: int) -> float:
            start = perf_counter()
            for _ in range(k):
                graph.replay()
            await self.backend.synchronize_async()
            return 1e3 * (perf_counter() - start)

        line = await timed(once, {**row, "budget": row["budget"] / 2}, warm_ms=0)
        again = call()
        self.xp.eval(*again)  # by the same kernels, not by one that compares, too
        same = [self.xp.all(x == y) for x, y in zip(found, again, strict=True)]
        if not all([bool(await one.numpy_async()) for one in same]):
            return {"replayed": "another result"}
        return {"replayed_ms": line["ms"]}

    def clear(self) -> None:
        """Gives the last row's memory back."""
        self.backend.device.recorder.flush()
        self.backend.device.memory.trim()


class NumPy:
    """NumPy in Pyodide, on the CPU: a program that takes long is run once."""

    xp = np
    programs: ClassVar[dict[str, Any]] = {}
    options: ClassVar[dict[str, Any]] = {"nbody": {"rows": 256}}  # all at once are 1 GiB each
    skips: ClassVar[dict[str, str]] = {}
    #: What takes long comes last: where time ends, the others are there.
    last = ("sort", "argsort", "kmeans", "matmul_of_views")

    async def start(self) -> dict[str, Any]:
        return {"version": np.__version__}

    def array(self, data: Any) -> Any:
        return data

    async def read(self, array: Any) -> Any:
        return array

    async def measure(self, call: Callable[[], Any], row: dict[str, Any]) -> tuple[Any, Any]:
        times: list[float] = []
        results = None
        while len(times) < 3 and sum(times) < 1e3 * row["budget"]:
            start = perf_counter()
            results = call()
            times.append(1e3 * (perf_counter() - start))
        return {"ms": min(times), "repeats": len(times)}, results

    def clear(self) -> None:
        """There is nothing to give back."""


async def measure(library: Any, row: dict[str, Any]) -> dict[str, Any]:
    """A row's line."""
    op = row["op"]
    if op in library.skips:
        raise Skip(library.skips[op])
    program = library.programs.get(op, programs.PROGRAMS[op])
    data = {name: Input(**x).copy() for name, x in row["inputs"].items()}
    data, options = programs.prepared(op, data, row["options"], row["out"])
    options = options | library.options.get(op, {})
    arrays = {name: library.array(x) for name, x in data.items()}

    def call() -> Any:
        results = program(library.xp, **arrays, **options)
        return results if isinstance(results, (list, tuple)) else [results]

    line, found = await library.measure(call, row)
    results = [await library.read(result) for result in found]
    return line | {"check": check(row, programs.entries(op, results, data, row["check"]["at"]))}


async def run(name: str) -> None:
    """Measures every row that the page was asked for, with the library of that name."""
    if name == "wgpy":
        from bench_arrays_wgpy import WgPy

        library: Any = WgPy()
    else:
        library = {"ours": Browsergpu, "numpy": NumPy}[name]()
    await post(await library.start())
    for row in sorted(WORK["rows"], key=lambda row: row["op"] in library.last):
        try:
            line = await measure(library, row)
        except Skip as reason:
            line = {"skip": str(reason)}
        except Exception as error:
            line = {"error": f"{type(error).__name__}: {error}"[:600]}
        await post({"row": row["id"], **line})
        library.clear()
