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
    """browsergpu's arrays. A sample records programs, submits them and waits for the GPU."""

    programs: ClassVar[dict[str, Any]] = {}  # replacements for some of programs.PROGRAMS
    options: ClassVar[dict[str, Any]] = {}  # additional options by program
    skips: ClassVar[dict[str, str]] = {}  # reasons for skipped programs
    last: tuple[str, ...] = ()  # programs to run last

    async def start(self) -> dict[str, Any]:
        """Open the GPU. Return the page's description."""
        import browsergpu

        # Kernels are compiled in the warm-up calls, so background compilation would only disturb.
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
        """Time a program by the rule and count its kernels. Return the line and the results."""

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
        """Time a captured program. Return {} if it reads values and cannot be captured."""
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
        self.xp.eval(*again)  # first, so that the comparison is not fused with it
        same = [self.xp.all(x == y) for x, y in zip(found, again, strict=True)]
        if not all([bool(await one.numpy_async()) for one in same]):
            return {"replayed": "another result"}
        return {"replayed_ms": line["ms"]}

    def clear(self) -> None:
        """Free the memory of the last row."""
        self.backend.device.recorder.flush()
        self.backend.device.memory.trim()


class NumPy:
    """NumPy in Pyodide, on the CPU. Slow programs run once."""

    xp = np
    programs: ClassVar[dict[str, Any]] = {}
    options: ClassVar[dict[str, Any]] = {"nbody": {"rows": 256}}  # all take 1 GiB per value
    skips: ClassVar[dict[str, str]] = {}
    #: Slow programs run last, so that the others are complete if time runs out.
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
        """Do nothing, since no memory is pooled."""


async def measure(library: Any, row: dict[str, Any]) -> dict[str, Any]:
    """Measure a row and return its line."""
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
    """Measure the selected rows with the named library."""
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
